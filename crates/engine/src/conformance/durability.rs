//! What a checkpoint holds and what a crash leaves.

use super::{Subject, commit, get, put, rows};
use crate::{IndexId, ReadAt};

const ONE: IndexId = IndexId(1);
const TWO: IndexId = IndexId(2);

/// Rows `k<timestamp>` committed at each of the timestamps.
fn write_rows(subject: &dyn Subject, timestamps: std::ops::Range<u64>) {
    for timestamp in timestamps {
        put(subject.engine(), ONE, timestamp, &format!("k{timestamp:06}"), &timestamp.to_string());
    }
}

fn timestamps_found(subject: &dyn Subject, at: ReadAt) -> Vec<u64> {
    let found = rows(subject.engine(), at, ONE);
    found.iter().map(|row| row.split_once('=').unwrap().1.parse().unwrap()).collect()
}

/// After a crash there is what was durable at the last checkpoint: no commit more, none less.
pub fn checkpoint_holds_what_is_durable(subject: Box<dyn Subject>) {
    subject.engine().create_index(ONE).unwrap();
    write_rows(&*subject, 100..1000);
    subject.engine().set_durable(700).unwrap();
    assert_eq!(subject.engine().checkpoint().unwrap(), 700);
    write_rows(&*subject, 1000..1100);
    subject.engine().set_durable(1099).unwrap();
    let subject = subject.crash();
    assert_eq!(subject.engine().recovered(), 700);
    assert_eq!(timestamps_found(&*subject, ReadAt::Latest), (100..=700).collect::<Vec<_>>());
    assert_eq!(timestamps_found(&*subject, ReadAt::At(700)), (100..=700).collect::<Vec<_>>());

    // A durable timestamp that is no commit's, and a checkpoint with nothing new but that.
    subject.engine().set_durable(800).unwrap();
    assert_eq!(subject.engine().checkpoint().unwrap(), 800);
    assert_eq!(subject.engine().checkpoint().unwrap(), 800);
    let subject = subject.crash();
    assert_eq!(subject.engine().recovered(), 800);
    assert_eq!(timestamps_found(&*subject, ReadAt::Latest), (100..=700).collect::<Vec<_>>());

    // A checkpoint while a batch is open, and one at a timestamp between two overwrites of a key.
    put(subject.engine(), ONE, 900, "k000100", "900");
    put(subject.engine(), ONE, 901, "k000100", "901");
    let mut batch = subject.engine().begin_write().unwrap();
    batch.put(ONE, b"k000101", b"902").unwrap();
    subject.engine().set_durable(900).unwrap();
    assert_eq!(subject.engine().checkpoint().unwrap(), 900);
    batch.commit_ordered(902).unwrap();
    let subject = subject.crash();
    assert_eq!(get(subject.engine(), ReadAt::Latest, ONE, "k000100").as_deref(), Some("900"));
    assert_eq!(get(subject.engine(), ReadAt::Latest, ONE, "k000101").as_deref(), Some("101"));
}

/// Nothing is durable before `set_durable`, whatever is checkpointed.
pub fn crash_before_any_checkpoint(subject: Box<dyn Subject>) {
    subject.engine().create_index(ONE).unwrap();
    assert_eq!(subject.engine().checkpoint().unwrap(), 0);
    write_rows(&*subject, 5..50);
    assert_eq!(subject.engine().checkpoint().unwrap(), 0);
    let subject = subject.crash();
    assert_eq!(subject.engine().recovered(), 0);
    assert_eq!(subject.engine().indexes().unwrap(), [ONE], "it was there when a checkpoint was made");
    assert!(timestamps_found(&*subject, ReadAt::Latest).is_empty());
    write_rows(&*subject, 5..50);
    subject.engine().set_durable(49).unwrap();
    let subject = subject.crash();
    assert_eq!(subject.engine().recovered(), 0);
    assert!(timestamps_found(&*subject, ReadAt::Latest).is_empty());
}

/// Replaying the log's tail after a crash, with its old timestamps, gives the same state again.
pub fn replay_after_a_crash(mut subject: Box<dyn Subject>) {
    subject.engine().create_index(ONE).unwrap();
    let mut end = 10;
    for round in 1..=5 {
        let recovered = subject.engine().recovered();
        // The tail, and some more.
        write_rows(&*subject, (recovered + 1).max(10)..end + 100);
        end += 100;
        subject.engine().set_durable(end - 1).unwrap();
        assert_eq!(timestamps_found(&*subject, ReadAt::At(end - 1)), (10..end).collect::<Vec<_>>(), "round {round}");
        if round % 2 == 0 {
            subject.engine().set_oldest(end - 50).unwrap();
        }
        subject.engine().checkpoint().unwrap();
        write_rows(&*subject, end..end + 30);
        subject.engine().set_durable(end + 20).unwrap();
        subject = subject.crash();
        assert_eq!(subject.engine().recovered(), end - 1);
        assert_eq!(timestamps_found(&*subject, ReadAt::Latest), (10..end).collect::<Vec<_>>(), "round {round}");
    }
    subject.engine().verify(ONE).unwrap();
}

/// Deletions are undone by a crash, or not, by the same rule.
pub fn deletes_survive_a_crash_like_puts(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    commit(engine, ONE, 10, [("a", Some("1")), ("b", Some("1")), ("c", Some("1"))]);
    engine.set_durable(10).unwrap();
    engine.checkpoint().unwrap();
    commit(engine, ONE, 20, [("a", None)]);
    commit(engine, ONE, 30, [("b", None), ("d", Some("1"))]);
    engine.set_durable(20).unwrap();
    engine.checkpoint().unwrap();
    let subject = subject.crash();
    assert_eq!(rows(subject.engine(), ReadAt::Latest, ONE), ["b=1", "c=1"]);
    commit(subject.engine(), ONE, 30, [("b", None), ("d", Some("1"))]);
    assert_eq!(rows(subject.engine(), ReadAt::Latest, ONE), ["c=1", "d=1"]);
}

/// What was bulk loaded before a checkpoint is there after a crash, with and without commits on top.
pub fn bulk_load_survives_after_a_checkpoint(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    for index in [ONE, TWO] {
        let mut loader = engine.bulk_load(index).unwrap();
        for number in 0..3000 {
            loader.append(format!("{number:06}").as_bytes(), b"loaded").unwrap();
        }
        loader.finish().unwrap();
    }
    engine.checkpoint().unwrap();
    put(engine, ONE, 10, "000000", "10");
    put(engine, ONE, 20, "000000", "20");
    engine.set_durable(10).unwrap();
    engine.checkpoint().unwrap();
    let subject = subject.crash();
    let engine = subject.engine();
    assert_eq!(engine.indexes().unwrap(), [ONE, TWO]);
    assert_eq!(rows(engine, ReadAt::Latest, TWO).len(), 3000);
    assert_eq!(rows(engine, ReadAt::Latest, ONE).len(), 3000);
    assert_eq!(get(engine, ReadAt::Latest, ONE, "000000").as_deref(), Some("10"));
}
