//! Writes, point reads, timestamps, creating and dropping.

use super::{Subject, commit, get, get_from, put, rows};
use crate::{EngineError, IndexId, ReadAt};

const ONE: IndexId = IndexId(1);
const TWO: IndexId = IndexId(2);

/// What was put is got; keys and values are any bytes; indexes are apart.
pub fn put_get_delete(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    engine.create_index(TWO).unwrap();
    let long = "x".repeat(200_000);
    commit(engine, ONE, 10, [("a", Some("1")), ("b", Some("")), ("\0", Some("zero")), ("a\0", Some(long.as_str()))]);
    commit(engine, TWO, 11, [("a", Some("other"))]);
    let reader = engine.read(ReadAt::Latest).unwrap();
    assert_eq!(get_from(&*reader, ONE, "a").as_deref(), Some("1"));
    assert_eq!(get_from(&*reader, ONE, "b").as_deref(), Some(""));
    assert_eq!(get_from(&*reader, ONE, "\0").as_deref(), Some("zero"));
    assert_eq!(get_from(&*reader, ONE, "a\0"), Some(long));
    assert_eq!(get_from(&*reader, ONE, "c"), None);
    assert_eq!(get_from(&*reader, TWO, "a").as_deref(), Some("other"));
    assert_eq!(get_from(&*reader, TWO, "b"), None);
    commit(engine, ONE, 12, [("a", None), ("never there", None), ("b", Some("two"))]);
    assert_eq!(get_from(&*reader, ONE, "a"), None);
    assert_eq!(get_from(&*reader, ONE, "b").as_deref(), Some("two"));
    // Within one batch the last write of a key counts.
    commit(engine, ONE, 13, [("a", Some("x")), ("a", None), ("b", None), ("b", Some("three"))]);
    assert_eq!(get_from(&*reader, ONE, "a"), None);
    assert_eq!(get_from(&*reader, ONE, "b").as_deref(), Some("three"));
    engine.verify(ONE).unwrap();

    let mut batch = engine.begin_write().unwrap();
    batch.delete(ONE, b"").unwrap();
    assert!(matches!(batch.put(ONE, b"", b"value"), Err(EngineError::EmptyKey)));
    batch.abort();
    assert_eq!(get_from(&*reader, ONE, ""), None);
    assert!(matches!(engine.bulk_load(IndexId(3)).unwrap().append(b"", b"value"), Err(EngineError::EmptyKey)));
}

/// Every use of an index that does not exist says so, and one that exists is not made again.
pub fn missing_indexes_are_not_found(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    let reader = engine.read(ReadAt::Latest).unwrap();
    assert!(matches!(reader.get(ONE, b"k", &mut Vec::new()), Err(EngineError::NotFound(ONE))));
    assert!(matches!(reader.cursor(ONE).map(drop), Err(EngineError::NotFound(ONE))));
    let mut batch = engine.begin_write().unwrap();
    assert!(matches!(batch.put(ONE, b"k", b"v"), Err(EngineError::NotFound(ONE))));
    assert!(matches!(batch.delete(ONE, b"k"), Err(EngineError::NotFound(ONE))));
    batch.abort();
    assert!(matches!(engine.drop_index(ONE), Err(EngineError::NotFound(ONE))));
    assert!(matches!(engine.verify(ONE), Err(EngineError::NotFound(ONE))));
    assert!(matches!(engine.estimate_rows(ONE), Err(EngineError::NotFound(ONE))));
    assert!(engine.indexes().unwrap().is_empty());

    engine.create_index(ONE).unwrap();
    put(engine, ONE, 10, "k", "v");
    assert!(matches!(engine.create_index(ONE), Err(EngineError::AlreadyExists(ONE))));
    assert!(matches!(engine.bulk_load(ONE).map(drop), Err(EngineError::AlreadyExists(ONE))));
    assert_eq!(get_from(&*reader, ONE, "k").as_deref(), Some("v"), "nothing was changed");
    assert_eq!(engine.indexes().unwrap(), [ONE]);
}

/// Nobody sees a batch before its commit, or ever if it is aborted or dropped.
pub fn batches_are_invisible_until_committed(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let mut batch = engine.begin_write().unwrap();
    batch.put(ONE, b"a", b"1").unwrap();
    assert_eq!(get(engine, ReadAt::Latest, ONE, "a"), None);
    assert!(rows(engine, ReadAt::Latest, ONE).is_empty());
    batch.commit_ordered(10).unwrap();
    assert_eq!(get(engine, ReadAt::Latest, ONE, "a").as_deref(), Some("1"));

    let mut batch = engine.begin_write().unwrap();
    batch.put(ONE, b"a", b"2").unwrap();
    batch.delete(ONE, b"b").unwrap();
    batch.abort();
    let mut batch = engine.begin_write().unwrap();
    batch.delete(ONE, b"a").unwrap();
    drop(batch);
    assert_eq!(rows(engine, ReadAt::Latest, ONE), ["a=1"]);

    engine.begin_write().unwrap().commit_ordered(11).unwrap();
}

/// A reader at a timestamp sees what was committed at or before it, however long it lives.
pub fn snapshots_see_their_timestamp(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let before = engine.read(ReadAt::At(0)).unwrap();
    put(engine, ONE, 1, "k", "v1");
    put(engine, ONE, 20, "k", "v20");
    commit(engine, ONE, 30, [("k", None), ("l", Some("l30"))]);
    put(engine, ONE, 40, "k", "v40");
    engine.set_durable(40).unwrap();
    let expected = [
        (0, vec![]),
        (1, vec!["k=v1"]),
        (19, vec!["k=v1"]),
        (20, vec!["k=v20"]),
        (29, vec!["k=v20"]),
        (30, vec!["l=l30"]),
        (39, vec!["l=l30"]),
        (40, vec!["k=v40", "l=l30"]),
        (1 << 50, vec!["k=v40", "l=l30"]),
    ];
    for (timestamp, rows_then) in &expected {
        assert_eq!(&rows(engine, ReadAt::At(*timestamp), ONE), rows_then, "at {timestamp}");
    }
    assert_eq!(get_from(&*before, ONE, "k"), None);
    engine.checkpoint().unwrap();
    for (timestamp, rows_then) in &expected {
        assert_eq!(&rows(engine, ReadAt::At(*timestamp), ONE), rows_then, "at {timestamp}, after a checkpoint");
    }
    let reader = engine.read(ReadAt::At(40)).unwrap();
    put(engine, ONE, 50, "k", "v50");
    engine.set_durable(50).unwrap();
    assert_eq!(get_from(&*reader, ONE, "k").as_deref(), Some("v40"));
    assert_eq!(get_from(&*before, ONE, "k"), None);
}

/// One reader at the latest state sees each commit at once, durable or not.
pub fn latest_sees_each_commit(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let reader = engine.read(ReadAt::Latest).unwrap();
    // A cursor that stands somewhere must not hold what `get` sees.
    put(engine, ONE, 5, "a", "first");
    let mut cursor = reader.cursor(ONE).unwrap();
    assert!(cursor.first().unwrap());
    for timestamp in 10..20 {
        put(engine, ONE, timestamp, "k", &timestamp.to_string());
        assert_eq!(get_from(&*reader, ONE, "k"), Some(timestamp.to_string()));
    }
    assert_eq!(cursor.key(), b"a");
    assert_eq!(cursor.value(), b"first");
    assert_eq!(rows(engine, ReadAt::At(0), ONE), Vec::<String>::new());
}

/// A reader can be given one state after another.
pub fn one_reader_for_many_states(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    for timestamp in [10, 20, 30] {
        put(engine, ONE, timestamp, "k", &timestamp.to_string());
    }
    engine.set_durable(30).unwrap();
    let mut reader = engine.read(ReadAt::At(20)).unwrap();
    for (at, expected) in [
        (ReadAt::At(20), Some("20")),
        (ReadAt::At(10), Some("10")),
        (ReadAt::Latest, Some("30")),
        (ReadAt::At(9), None),
        (ReadAt::At(30), Some("30")),
        (ReadAt::Latest, Some("30")),
        (ReadAt::Latest, Some("30")),
    ] {
        reader.set_read_at(at).unwrap();
        assert_eq!(reader.read_at(), at);
        assert_eq!(get_from(&*reader, ONE, "k").as_deref(), expected, "{at:?}");
        let mut cursor = reader.cursor(ONE).unwrap();
        assert_eq!(cursor.seek(b"k").unwrap(), expected.is_some());
    }
}

/// A batch that begins after the commit of another may write the same keys, whatever else goes on.
pub fn batches_on_one_key_follow_each_other(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    put(engine, ONE, 10, "k", "0");
    engine.set_durable(10).unwrap();
    let old = engine.read(ReadAt::At(10)).unwrap();
    let mut old_cursor = old.cursor(ONE).unwrap();
    assert!(old_cursor.seek(b"k").unwrap());
    let latest = engine.read(ReadAt::Latest).unwrap();
    let mut latest_cursor = latest.cursor(ONE).unwrap();
    assert!(latest_cursor.first().unwrap());
    // Began long before, stays open, and writes another key at the end.
    let mut bystander = engine.begin_write().unwrap();
    bystander.put(ONE, b"bystander", b"1").unwrap();
    for round in 0..50u64 {
        let timestamp = 100 + round * 10;
        let mut first = engine.begin_write().unwrap();
        first.put(ONE, b"k", format!("{round} first").as_bytes()).unwrap();
        let mut other = engine.begin_write().unwrap();
        other.put(ONE, format!("other{round}").as_bytes(), b"x").unwrap();
        first.commit_ordered(timestamp).unwrap();
        let mut second = engine.begin_write().unwrap();
        match round % 2 {
            0 => second.put(ONE, b"k", format!("{round} second").as_bytes()).unwrap(),
            _ => second.delete(ONE, b"k").unwrap(),
        }
        other.commit_ordered(timestamp + 1).unwrap();
        second.commit_ordered(timestamp + 2).unwrap();
        let expected = (round % 2 == 0).then(|| format!("{round} second"));
        assert_eq!(get_from(&*latest, ONE, "k"), expected);
        if round == 20 {
            engine.set_durable(timestamp + 2).unwrap();
            engine.checkpoint().unwrap();
        }
    }
    bystander.put(ONE, b"bystander 2", b"2").unwrap();
    bystander.commit_ordered(1000).unwrap();
    assert_eq!(get_from(&*latest, ONE, "bystander").as_deref(), Some("1"));
    assert_eq!(old_cursor.value(), b"0");
    assert!(!old_cursor.next().unwrap());
    assert_eq!(get_from(&*old, ONE, "k").as_deref(), Some("0"));
}

/// A large transaction is several batches with one timestamp.
pub fn batches_may_share_a_timestamp(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    put(engine, ONE, 10, "a", "old");
    engine.set_durable(10).unwrap();
    let mut side_by_side = engine.begin_write().unwrap();
    side_by_side.put(ONE, b"c", b"new").unwrap();
    commit(engine, ONE, 20, [("a", Some("new"))]);
    commit(engine, ONE, 20, [("b", Some("new"))]);
    assert_eq!(rows(engine, ReadAt::At(10), ONE), ["a=old"]);
    assert_eq!(rows(engine, ReadAt::At(19), ONE), ["a=old"]);
    side_by_side.commit_ordered(20).unwrap();
    engine.set_durable(20).unwrap();
    assert_eq!(rows(engine, ReadAt::At(19), ONE), ["a=old"]);
    assert_eq!(rows(engine, ReadAt::At(20), ONE), ["a=new", "b=new", "c=new"]);
}

/// The leader commits what other threads have written.
pub fn commit_from_another_thread(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let batches: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                scope.spawn(move || {
                    let mut batch = engine.begin_write().unwrap();
                    batch.put(ONE, format!("k{writer}").as_bytes(), b"v").unwrap();
                    batch
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    for (batch, timestamp) in batches.into_iter().zip(10..) {
        batch.commit_ordered(timestamp).unwrap();
    }
    assert_eq!(rows(engine, ReadAt::Latest, ONE).len(), 8);
    assert_eq!(rows(engine, ReadAt::At(13), ONE).len(), 4);
}

/// Reads begin at `oldest` or later; readers at work are not disturbed.
pub fn history_before_oldest_is_gone(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    for timestamp in [10, 20, 30, 40] {
        put(engine, ONE, timestamp, "k", &timestamp.to_string());
    }
    engine.set_durable(30).unwrap();
    let mut reader = engine.read(ReadAt::At(10)).unwrap();
    engine.set_oldest(25).unwrap();
    engine.set_oldest(7).unwrap();
    assert!(matches!(
        engine.read(ReadAt::At(24)).map(drop),
        Err(EngineError::SnapshotTooOld { requested: 24, oldest: 25 })
    ));
    assert_eq!(get(engine, ReadAt::At(25), ONE, "k").as_deref(), Some("20"));
    engine.checkpoint().unwrap();
    assert_eq!(get_from(&*reader, ONE, "k").as_deref(), Some("10"));
    assert!(matches!(reader.set_read_at(ReadAt::At(3)), Err(EngineError::SnapshotTooOld { .. })));
    reader.set_read_at(ReadAt::At(30)).unwrap();
    assert_eq!(get_from(&*reader, ONE, "k").as_deref(), Some("30"));
    // Counts as the durable one.
    engine.set_oldest(1000).unwrap();
    assert_eq!(get(engine, ReadAt::At(30), ONE, "k").as_deref(), Some("30"));
    assert!(engine.read(ReadAt::At(29)).is_err());
    put(engine, ONE, 50, "k", "50");
    assert_eq!(get(engine, ReadAt::Latest, ONE, "k").as_deref(), Some("50"));
}

/// A dropped index is gone for new uses at once, and its space comes back when its last user has left.
pub fn dropped_index_is_gone(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    for index in [ONE, TWO] {
        engine.create_index(index).unwrap();
        commit(engine, index, 10 + index.0, [("k", Some("v")), ("l", Some("v"))]);
    }
    engine.set_durable(12).unwrap();
    let reader = engine.read(ReadAt::At(12)).unwrap();
    let mut cursor = reader.cursor(ONE).unwrap();
    assert!(cursor.first().unwrap());
    // Another one that has used it, and keeps nothing.
    assert_eq!(get(engine, ReadAt::Latest, ONE, "k").as_deref(), Some("v"));
    engine.drop_index(ONE).unwrap();
    assert_eq!(engine.indexes().unwrap(), [TWO]);
    assert!(matches!(engine.drop_index(ONE), Err(EngineError::NotFound(ONE))));
    let other = engine.read(ReadAt::Latest).unwrap();
    assert!(matches!(other.get(ONE, b"k", &mut Vec::new()), Err(EngineError::NotFound(ONE))));
    assert!(matches!(engine.begin_write().unwrap().put(ONE, b"k", b"v"), Err(EngineError::NotFound(ONE))));
    assert_eq!(get_from(&*other, TWO, "k").as_deref(), Some("v"));
    assert_eq!(cursor.key(), b"k");
    drop(cursor);
    drop(reader);
    drop(other);
    engine.checkpoint().unwrap();
    assert_eq!(engine.drop_pending().unwrap(), 0);
    assert_eq!(engine.indexes().unwrap(), [TWO]);
    // One that nobody has used since it was written.
    engine.create_index(IndexId(3)).unwrap();
    put(engine, IndexId(3), 30, "k", "v");
    engine.drop_index(IndexId(3)).unwrap();
    engine.set_durable(30).unwrap();
    engine.checkpoint().unwrap();
    assert_eq!(engine.drop_pending().unwrap(), 0);

    let subject = subject.crash();
    assert_eq!(subject.engine().indexes().unwrap(), [TWO]);
    assert_eq!(rows(subject.engine(), ReadAt::Latest, TWO), ["k=v", "l=v"]);
}

/// Estimates are exact for little and near enough for much; split points cut about evenly.
pub fn estimates_and_split_points(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    assert_eq!(engine.estimate_rows(ONE).unwrap(), 0);
    assert!(engine.split_points(ONE, &[], &[], 4).unwrap().is_empty());
    commit(engine, ONE, 10, [("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]);
    assert_eq!(engine.estimate_rows(ONE).unwrap(), 3);
    assert_eq!(engine.estimate_range(ONE, b"a", b"c").unwrap(), 2);
    assert_eq!(engine.estimate_range(ONE, b"b", b"").unwrap(), 2);
    assert_eq!(engine.estimate_range(ONE, b"c", b"a").unwrap(), 0);
    assert!(engine.split_points(ONE, b"c", b"a", 4).unwrap().is_empty());
    assert!(engine.split_points(ONE, &[], &[], 1).unwrap().is_empty());
    assert!(engine.split_points(ONE, &[], &[], 0).unwrap().is_empty());

    let count = 60_000u64;
    let mut loader = engine.bulk_load(TWO).unwrap();
    for number in 0..count {
        loader.append(&number.to_be_bytes(), format!("some value of about {number} bytes").as_bytes()).unwrap();
    }
    loader.finish().unwrap();
    let near = |estimate: u64, truth: u64| {
        assert!(estimate > truth / 3 && estimate < truth * 3, "estimated {estimate}, in truth {truth}");
    };
    near(engine.estimate_rows(TWO).unwrap(), count);
    near(engine.estimate_range(TWO, &(count / 2).to_be_bytes(), &[]).unwrap(), count / 2);
    let point = 777u64;
    assert_eq!(engine.estimate_range(TWO, &point.to_be_bytes(), &(point + 1).to_be_bytes()).unwrap(), 1);
    assert!(engine.estimate_bytes(TWO).unwrap() > count);

    let (low, high) = (10_000u64, 50_000u64);
    let points = engine.split_points(TWO, &low.to_be_bytes(), &high.to_be_bytes(), 4).unwrap();
    assert!(!points.is_empty() && points.len() <= 3, "{} points", points.len());
    let mut numbers = vec![low];
    numbers.extend(points.iter().map(|point| {
        let mut bytes = [0; 8];
        bytes[..point.len().min(8)].copy_from_slice(&point[..point.len().min(8)]);
        u64::from_be_bytes(bytes)
    }));
    numbers.push(high);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] < (high - low) * 2 / 3), "uneven: {numbers:?}");
}

/// The engine tells about itself.
pub fn statistics_and_names(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    assert!(!engine.name().is_empty());
    assert!(!engine.stats().is_empty());
    assert_eq!(engine.recovered(), 0);
}
