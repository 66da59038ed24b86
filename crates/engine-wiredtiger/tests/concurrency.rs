//! What only shows when much goes on at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use selkie_engine::{Engine, EngineError, IndexId, ReadAt};
use selkie_engine_wiredtiger::{Options, WiredTigerEngine};

fn open(cache_bytes: u64) -> (WiredTigerEngine, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let engine = WiredTigerEngine::open(directory.path(), &Options { cache_bytes, ..Options::default() }).unwrap();
    (engine, directory)
}

/// Indexes are made, loaded, written, read and dropped by several threads, with checkpoints all the time.
#[test]
fn indexes_come_and_go() {
    const THREADS: u64 = 3;
    const ROUNDS: u64 = 40;
    let (engine, directory) = open(16 << 20);
    let engine = &engine;
    let order = Mutex::new(0u64);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let order = &order;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let index = IndexId(1 + thread + THREADS * round);
                        if round % 2 == 0 {
                            engine.create_index(index).unwrap();
                        } else {
                            let mut loader = engine.bulk_load(index).unwrap();
                            for row in 0..200u32 {
                                loader.append(format!("row{row:05}").as_bytes(), b"loaded").unwrap();
                            }
                            loader.finish().unwrap();
                        }
                        let mut batch = engine.begin_write().unwrap();
                        batch.put(index, b"key", b"value").unwrap();
                        {
                            let mut order = order.lock().unwrap();
                            *order += 1;
                            batch.commit_ordered(*order).unwrap();
                            engine.set_durable(*order).unwrap();
                        }
                        let reader = engine.read(ReadAt::Latest).unwrap();
                        let mut cursor = reader.cursor(index).unwrap();
                        assert!(cursor.seek(b"key").unwrap());
                        engine.drop_index(index).unwrap();
                        assert_eq!(cursor.value(), b"value");
                        assert!(matches!(reader.cursor(index).map(drop), Err(EngineError::NotFound(_))));
                        // The index before, of another thread, is gone or still there, and nothing else.
                        let other = IndexId(index.0.saturating_sub(1).max(1));
                        match reader.get(other, b"key", &mut Vec::new()) {
                            Ok(_) | Err(EngineError::NotFound(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                engine.checkpoint().unwrap();
                engine.drop_pending().unwrap();
            }
        });
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        stop.store(true, Ordering::Release);
        for result in results {
            result.unwrap();
        }
    });
    assert!(engine.indexes().unwrap().is_empty());
    engine.checkpoint().unwrap();
    assert_eq!(engine.drop_pending().unwrap(), 0);
    let left = std::fs::read_dir(directory.path()).unwrap();
    let left: Vec<_> = left.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("index-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// With far more data than cache, writers wait for the cache, the cache stays within its bounds, and everything arrives.
#[test]
fn small_cache_is_no_failure() {
    const THREADS: u64 = 2;
    const EACH: u64 = 6_000;
    const CACHE_BYTES: u64 = 4 << 20;
    let (engine, _directory) = open(CACHE_BYTES);
    let engine = &engine;
    let index = IndexId(1);
    engine.create_index(index).unwrap();
    let order = Mutex::new(0u64);
    let value = [b'v'; 1000];
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (order, value) = (&order, &value);
            scope.spawn(move || {
                for number in 0..EACH {
                    let mut batch = engine.begin_write().unwrap();
                    // Scattered over the index.
                    let key = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !1) | thread;
                    batch.put(index, &key.to_be_bytes(), value).unwrap();
                    let mut order = order.lock().unwrap();
                    *order += 1;
                    batch.commit_ordered(*order).unwrap();
                    engine.set_durable(*order).unwrap();
                    engine.set_oldest(order.saturating_sub(100)).unwrap();
                }
            });
        }
    });
    let stats = engine.stats();
    let stat = |name: &str| stats.iter().find(|(other, _)| *other == name).unwrap().1;
    assert!(stat("cache_used_bytes") < 3 * CACHE_BYTES, "{stats:?}");
    assert_eq!(stat("conflicts"), 0);
    let reader = engine.read(ReadAt::Latest).unwrap();
    let mut cursor = reader.cursor(index).unwrap();
    let mut rows = 0;
    let mut more = cursor.first().unwrap();
    while more {
        assert_eq!(cursor.value(), value);
        rows += 1;
        more = cursor.next().unwrap();
    }
    assert_eq!(rows, THREADS * EACH);
}
