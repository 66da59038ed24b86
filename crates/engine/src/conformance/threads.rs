//! Writers, readers and checkpoints at the same time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Random, Subject};
use crate::{Engine, IndexId, ReadAt};

const ONE: IndexId = IndexId(1);
const ACCOUNTS: u64 = 64;
const START: u64 = 1000;

fn balance(engine: &dyn Engine, account: u64) -> u64 {
    let reader = engine.read(ReadAt::Latest).unwrap();
    let mut value = Vec::new();
    assert!(reader.get(ONE, &account.to_be_bytes(), &mut value).unwrap());
    u64::from_be_bytes(value.try_into().unwrap())
}

fn sum(engine: &dyn Engine, at: ReadAt) -> u64 {
    let reader = engine.read(at).unwrap();
    let mut cursor = reader.cursor(ONE).unwrap();
    let mut sum = 0;
    let mut more = cursor.first().unwrap();
    while more {
        sum += u64::from_be_bytes(cursor.value().try_into().unwrap());
        more = cursor.next().unwrap();
    }
    sum
}

/// Transfers between accounts, under row locks that are released right after `commit_ordered`, made durable later by
/// somebody else: the sum is the same at every durable timestamp, also after a crash.
pub fn transfers_keep_the_sum(subject: Box<dyn Subject>) {
    let engine = subject.engine();
    engine.create_index(ONE).unwrap();
    let mut batch = engine.begin_write().unwrap();
    for account in 0..ACCOUNTS {
        batch.put(ONE, &account.to_be_bytes(), &START.to_be_bytes()).unwrap();
    }
    batch.commit_ordered(1).unwrap();
    engine.set_durable(1).unwrap();

    let locks: Vec<Mutex<()>> = (0..ACCOUNTS).map(|_| Mutex::new(())).collect();
    // The commit order, as the leader of a group sees to it.
    let order = Mutex::new(1u64);
    let durable = AtomicU64::new(1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (locks, order, durable) = (&locks, &order, &durable);
                scope.spawn(move || {
                    let mut random = Random(writer);
                    for _ in 0..1500 {
                        let (mut from, mut to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
                        if from == to {
                            continue;
                        }
                        if from > to {
                            std::mem::swap(&mut from, &mut to);
                        }
                        let first = locks[from as usize].lock().unwrap();
                        let second = locks[to as usize].lock().unwrap();
                        let (from_balance, to_balance) = (balance(engine, from), balance(engine, to));
                        let amount = random.below(from_balance + 1);
                        let mut batch = engine.begin_write().unwrap();
                        batch.put(ONE, &from.to_be_bytes(), &(from_balance - amount).to_be_bytes()).unwrap();
                        batch.put(ONE, &to.to_be_bytes(), &(to_balance + amount).to_be_bytes()).unwrap();
                        let mut order = order.lock().unwrap();
                        *order += 1 + random.below(3);
                        batch.commit_ordered(*order).unwrap();
                        drop((first, second));
                        if random.below(4) == 0 {
                            engine.set_durable(*order).unwrap();
                            durable.store(*order, Ordering::Release);
                        }
                    }
                })
            })
            .collect();
        let (durable, stop) = (&durable, &stop);
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                let timestamp = durable.load(Ordering::Acquire);
                assert_eq!(sum(engine, ReadAt::At(timestamp)), ACCOUNTS * START, "at {timestamp}");
            }
        });
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                let before = durable.load(Ordering::Acquire);
                assert!(engine.checkpoint().unwrap() >= before);
            }
        });
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        stop.store(true, Ordering::Release);
        for result in results {
            result.unwrap();
        }
    });
    assert_eq!(sum(engine, ReadAt::Latest), ACCOUNTS * START);
    let held = engine.checkpoint().unwrap();
    let subject = subject.crash();
    assert_eq!(subject.engine().recovered(), held);
    assert_eq!(sum(subject.engine(), ReadAt::Latest), ACCOUNTS * START);
}
