//! Random operations, compared with a simple model.

use std::collections::BTreeMap;

use super::{Random, Subject};
use crate::{IndexId, ReadAt, Reader, Timestamp};

const INDEXES: [IndexId; 2] = [IndexId(1), IndexId(2)];

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// Every state that there was, by timestamp.
#[derive(Default)]
struct Model {
    states: BTreeMap<Timestamp, [Rows; 2]>,
    oldest: Timestamp,
    durable: Timestamp,
    newest: Timestamp,
    checkpoint: Timestamp,
}

impl Model {
    fn at(&self, timestamp: Timestamp) -> [Rows; 2] {
        self.states.range(..=timestamp).next_back().map(|(_, state)| state.clone()).unwrap_or_default()
    }
}

fn random_key(random: &mut Random) -> Vec<u8> {
    let mut key = format!("{:03}", random.below(300)).into_bytes();
    key.extend(std::iter::repeat_n(b'x', random.below(3) as usize * 20));
    key
}

fn random_value(random: &mut Random) -> Vec<u8> {
    let length = if random.below(50) == 0 { 20_000 } else { random.below(200) };
    (0..length).map(|_| random.next() as u8).collect()
}

fn write(subject: &dyn Subject, model: &mut Model, random: &mut Random) {
    let mut state = model.at(model.newest);
    let mut batch = subject.engine().begin_write().unwrap();
    let aborts = random.below(10) == 0;
    for _ in 0..random.below(8) {
        let which = random.below(2) as usize;
        let key = random_key(random);
        if random.below(3) == 0 {
            batch.delete(INDEXES[which], &key).unwrap();
            state[which].remove(&key);
        } else {
            let value = random_value(random);
            batch.put(INDEXES[which], &key, &value).unwrap();
            state[which].insert(key, value);
        }
    }
    if aborts {
        batch.abort();
        return;
    }
    model.newest += 1 + random.below(20);
    batch.commit_ordered(model.newest).unwrap();
    model.states.insert(model.newest, state);
}

fn check_reader(reader: &dyn Reader, state: &[Rows; 2], random: &mut Random) {
    for (which, rows) in state.iter().enumerate() {
        let index = INDEXES[which];
        for _ in 0..5 {
            let key = random_key(random);
            let mut value = Vec::new();
            let found = reader.get(index, &key, &mut value).unwrap();
            assert_eq!(found.then_some(&value), rows.get(&key), "get {}", String::from_utf8_lossy(&key));
        }
        let mut cursor = reader.cursor(index).unwrap();
        // A walk with turns.
        for _ in 0..3 {
            let start = random_key(random);
            let mut expected = rows.range(start.clone()..).next();
            let mut found = cursor.seek(&start).unwrap();
            for _ in 0..random.below(20) {
                assert_eq!(found.then(|| (cursor.key(), cursor.value())), expected.map(|(k, v)| (&k[..], &v[..])));
                let Some((at, _)) = expected else { break };
                if random.below(3) > 0 {
                    found = cursor.next().unwrap();
                    expected = rows.range((std::ops::Bound::Excluded(at.clone()), std::ops::Bound::Unbounded)).next();
                } else {
                    found = cursor.prev().unwrap();
                    expected = rows.range(..at.clone()).next_back();
                }
            }
            let found = cursor.seek_before(&start).unwrap();
            assert_eq!(found.then(|| cursor.key()), rows.range(..start).next_back().map(|(key, _)| &key[..]));
        }
    }
}

fn check_all(subject: &dyn Subject, at: ReadAt, state: &[Rows; 2]) {
    let reader = subject.engine().read(at).unwrap();
    for (which, rows) in state.iter().enumerate() {
        let mut cursor = reader.cursor(INDEXES[which]).unwrap();
        let mut found = Rows::new();
        let mut more = cursor.first().unwrap();
        while more {
            found.insert(cursor.key().to_vec(), cursor.value().to_vec());
            more = cursor.next().unwrap();
        }
        assert!(found == *rows, "{at:?}, index {which}: {} rows, expected {}", found.len(), rows.len());
    }
}

/// Commits, aborts, reads at all timestamps, moving timestamps, checkpoints and crashes, against a model.
pub fn random_operations_follow_the_model(mut subject: Box<dyn Subject>) {
    let mut random = Random(20_240_607);
    let mut model = Model::default();
    for index in INDEXES {
        subject.engine().create_index(index).unwrap();
    }
    subject.engine().checkpoint().unwrap();
    let mut crashes = 0;
    for _ in 0..4000 {
        match random.below(100) {
            0..60 => write(&*subject, &mut model, &mut random),
            60..80 => {
                let timestamp = model.oldest + random.below(model.newest - model.oldest + 1);
                let reader = subject.engine().read(ReadAt::At(timestamp)).unwrap();
                check_reader(&*reader, &model.at(timestamp), &mut random);
            }
            80..85 => {
                let reader = subject.engine().read(ReadAt::Latest).unwrap();
                check_reader(&*reader, &model.at(model.newest), &mut random);
            }
            85..94 => {
                model.durable += random.below(model.newest - model.durable + 1);
                subject.engine().set_durable(model.durable).unwrap();
            }
            94..97 => {
                model.oldest += random.below(model.durable - model.oldest + 1);
                subject.engine().set_oldest(model.oldest).unwrap();
                model.oldest = model.oldest.min(model.durable);
            }
            97..99 => {
                model.checkpoint = subject.engine().checkpoint().unwrap();
                assert_eq!(model.checkpoint, model.durable);
            }
            _ if random.below(4) == 0 => {
                crashes += 1;
                subject = subject.crash();
                assert_eq!(subject.engine().recovered(), model.checkpoint);
                model.states.retain(|timestamp, _| *timestamp <= model.checkpoint);
                model.newest = model.checkpoint;
                model.durable = model.checkpoint;
                model.oldest = model.checkpoint;
                check_all(&*subject, ReadAt::Latest, &model.at(model.newest));
            }
            _ => check_all(&*subject, ReadAt::Latest, &model.at(model.newest)),
        }
    }
    assert!(crashes > 3, "the random walk has met what it should");
    check_all(&*subject, ReadAt::At(model.durable), &model.at(model.durable));
    for index in INDEXES {
        subject.engine().verify(index).unwrap();
    }
}
