//! Cursors and bulk load.

use super::{Subject, commit, get, get_from, put, rows, text};
use crate::{EngineError, IndexId, ReadAt};

const ONE: IndexId = IndexId(1);
const TWO: IndexId = IndexId(2);

/// Positioning, stepping and turning round, at the ends too.
pub fn cursor_walks_both_ways(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    commit(engine, ONE, 10, [("b", Some("1")), ("d", Some("2")), ("f", Some("3")), ("g", Some("gone"))]);
    commit(engine, ONE, 20, [("g", None), ("a", Some("later"))]);
    engine.set_durable(20).unwrap();
    put(engine, ONE, 30, "e", "not durable");
    let at_20 = ["a=later", "b=1", "d=2", "f=3"];
    let at_30 = ["a=later", "b=1", "d=2", "e=not durable", "f=3"];
    for (at, expected) in [(ReadAt::At(20), &at_20[..]), (ReadAt::Latest, &at_30[..])] {
        assert_eq!(rows(engine, at, ONE), expected);
        let reader = engine.read(at).unwrap();
        let mut cursor = reader.cursor(ONE).unwrap();
        assert!(cursor.key().is_empty() && cursor.value().is_empty());
        assert!(!cursor.next().unwrap());
        assert!(!cursor.prev().unwrap());
        let keys: Vec<&str> = expected.iter().map(|row| &row[..1]).collect();
        for target in ["", "a", "a\0", "b", "c", "d", "e", "f", "f\0", "g", "h", "zzz"] {
            let after = keys.iter().position(|key| *key >= target);
            assert_eq!(cursor.seek(target.as_bytes()).unwrap(), after.is_some(), "seek {target:?}");
            assert_eq!(text(cursor.key()), after.map_or("", |position| keys[position]));
            // From there forth to the end, and from there back to the beginning.
            let after = after.unwrap_or(keys.len());
            let mut position = after;
            while position < keys.len() {
                assert_eq!(text(cursor.key()), keys[position]);
                position += 1;
                assert_eq!(cursor.next().unwrap(), position < keys.len());
            }
            assert!(cursor.key().is_empty() && !cursor.next().unwrap() && !cursor.prev().unwrap());
            assert_eq!(cursor.seek_before(target.as_bytes()).unwrap(), after > 0, "seek_before {target:?}");
            for position in (0..after).rev() {
                assert_eq!(text(cursor.key()), keys[position]);
                assert_eq!(cursor.prev().unwrap(), position > 0);
            }
            assert!(cursor.key().is_empty() && !cursor.next().unwrap() && !cursor.prev().unwrap());
        }
        assert!(cursor.seek(b"d").unwrap());
        assert!(cursor.prev().unwrap());
        assert_eq!((cursor.key(), cursor.value()), (&b"b"[..], &b"1"[..]));
        assert!(cursor.next().unwrap());
        assert_eq!((cursor.key(), cursor.value()), (&b"d"[..], &b"2"[..]));
    }
}

/// There is nothing in an empty index, in any direction.
pub fn cursor_on_an_empty_index(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    engine.create_index(TWO).unwrap();
    put(engine, TWO, 10, "k", "v");
    put(engine, ONE, 20, "k", "v");
    commit(engine, ONE, 30, [("k", None)]);
    engine.set_durable(30).unwrap();
    for at in [ReadAt::At(10), ReadAt::At(30), ReadAt::Latest] {
        let reader = engine.read(at).unwrap();
        let mut cursor = reader.cursor(ONE).unwrap();
        assert!(!cursor.first().unwrap());
        assert!(!cursor.last().unwrap());
        assert!(!cursor.seek(b"").unwrap());
        assert!(!cursor.seek(b"k").unwrap());
        assert!(!cursor.seek_before(b"z").unwrap());
        assert!(!cursor.next().unwrap());
        assert!(cursor.key().is_empty());
    }
}

/// Commits made while a cursor walks do not change what it sees.
pub fn cursor_keeps_its_snapshot(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let mut batch = engine.begin_write().unwrap();
    for number in 0..2000u32 {
        batch.put(ONE, &(number * 2).to_be_bytes(), b"old").unwrap();
    }
    batch.commit_ordered(10).unwrap();
    engine.set_durable(10).unwrap();
    let reader = engine.read(ReadAt::At(10)).unwrap();
    let mut cursor = reader.cursor(ONE).unwrap();
    let mut more = cursor.first().unwrap();
    let mut expected = 0u32;
    let mut timestamp = 20;
    while more {
        assert_eq!(cursor.key(), (expected * 2).to_be_bytes());
        assert_eq!(cursor.value(), b"old");
        if expected.is_multiple_of(10) {
            // Before, at and after the place where the cursor stands.
            let mut batch = engine.begin_write().unwrap();
            batch.put(ONE, &(expected * 2).to_be_bytes(), b"changed").unwrap();
            batch.put(ONE, &(expected * 2 + 1).to_be_bytes(), b"new").unwrap();
            batch.delete(ONE, &(expected * 2 + 2).to_be_bytes()).unwrap();
            batch.delete(ONE, &(expected.saturating_sub(7) * 2).to_be_bytes()).unwrap();
            batch.commit_ordered(timestamp).unwrap();
            engine.set_durable(timestamp).unwrap();
            timestamp += 1;
        }
        if expected == 1000 {
            engine.checkpoint().unwrap();
        }
        assert_eq!(cursor.key(), (expected * 2).to_be_bytes(), "what a cursor shows stays until it moves");
        assert_eq!(cursor.value(), b"old");
        expected += 1;
        more = cursor.next().unwrap();
    }
    assert_eq!(expected, 2000);
    let mut more = cursor.last().unwrap();
    while more {
        expected -= 1;
        assert_eq!(cursor.key(), (expected * 2).to_be_bytes());
        more = cursor.prev().unwrap();
    }
    assert_eq!(expected, 0);
}

/// At the latest state, positioning a cursor sees every commit before it, even while another cursor stands elsewhere.
pub fn cursor_at_latest_is_fresh_when_positioned(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    put(engine, ONE, 10, "a", "1");
    let reader = engine.read(ReadAt::Latest).unwrap();
    let mut standing = reader.cursor(ONE).unwrap();
    assert!(standing.first().unwrap());
    let mut cursor = reader.cursor(ONE).unwrap();
    assert!(!cursor.seek(b"b").unwrap());
    put(engine, ONE, 20, "b", "2");
    assert!(cursor.seek(b"b").unwrap());
    assert_eq!(cursor.value(), b"2");
    put(engine, ONE, 30, "b", "3");
    assert_eq!(cursor.value(), b"2", "what a cursor shows stays until it moves");
    assert!(cursor.seek(b"b").unwrap());
    assert_eq!(cursor.value(), b"3");
    put(engine, ONE, 40, "c", "4");
    assert!(cursor.last().unwrap());
    assert_eq!(cursor.key(), b"c");
    put(engine, ONE, 50, "0", "5");
    assert!(cursor.first().unwrap());
    assert_eq!(cursor.key(), b"0");
    assert!(cursor.seek_before(b"a").unwrap());
    assert_eq!(cursor.key(), b"0");
    assert_eq!(standing.key(), b"a");
}

/// Cursors on one reader, on the same index too, do not disturb each other or `get`.
pub fn many_cursors_on_one_reader(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    engine.create_index(TWO).unwrap();
    commit(engine, ONE, 10, [("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]);
    commit(engine, TWO, 11, [("a", Some("x")), ("b", Some("y"))]);
    engine.set_durable(11).unwrap();
    for at in [ReadAt::At(11), ReadAt::Latest] {
        let reader = engine.read(at).unwrap();
        let mut pairs = Vec::new();
        let mut outer = reader.cursor(ONE).unwrap();
        let mut more = outer.first().unwrap();
        while more {
            let mut inner = reader.cursor(TWO).unwrap();
            let mut again = reader.cursor(ONE).unwrap();
            assert!(again.last().unwrap());
            let mut inner_more = inner.first().unwrap();
            while inner_more {
                assert_eq!(get_from(&*reader, ONE, "b").as_deref(), Some("2"));
                pairs.push(format!("{}{}{}", text(outer.key()), text(inner.value()), text(again.value())));
                inner_more = inner.next().unwrap();
            }
            more = outer.next().unwrap();
        }
        assert_eq!(pairs, ["ax3", "ay3", "bx3", "by3", "cx3", "cy3"]);
    }
}

/// Bulk load takes ascending keys only; without `finish` there is no index.
pub fn bulk_load_fills_an_index(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    let mut loader = engine.bulk_load(ONE).unwrap();
    for number in 0..5000u32 {
        loader.append(format!("{number:06}").as_bytes(), number.to_string().as_bytes()).unwrap();
    }
    assert!(matches!(loader.append(b"004999", b""), Err(EngineError::KeyOrder)));
    assert!(matches!(loader.append(b"0", b""), Err(EngineError::KeyOrder)));
    loader.append(b"005000", b"after the errors").unwrap();
    loader.finish().unwrap();
    assert_eq!(rows(engine, ReadAt::Latest, ONE).len(), 5001);
    assert_eq!(get(engine, ReadAt::At(0), ONE, "000123").as_deref(), Some("123"));
    commit(engine, ONE, 10, [("000123", Some("new")), ("000124", None), ("000124a", Some("x"))]);
    engine.set_durable(10).unwrap();
    assert_eq!(get(engine, ReadAt::At(9), ONE, "000123").as_deref(), Some("123"));
    assert_eq!(get(engine, ReadAt::At(9), ONE, "000124").as_deref(), Some("124"));
    assert_eq!(get(engine, ReadAt::At(10), ONE, "000123").as_deref(), Some("new"));
    assert_eq!(get(engine, ReadAt::At(10), ONE, "000124"), None);

    let mut loader = engine.bulk_load(TWO).unwrap();
    loader.append(b"k", b"v").unwrap();
    drop(loader);
    assert_eq!(engine.indexes().unwrap(), [ONE]);
    assert!(matches!(engine.verify(TWO), Err(EngineError::NotFound(TWO))));

    engine.bulk_load(IndexId(3)).unwrap().finish().unwrap();
    assert!(rows(engine, ReadAt::Latest, IndexId(3)).is_empty());
    put(engine, IndexId(3), 20, "k", "v");
    assert_eq!(rows(engine, ReadAt::Latest, IndexId(3)), ["k=v"]);
}
