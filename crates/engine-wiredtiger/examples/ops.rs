//! Prints what the engine's operations cost.
//!
//! `cargo run --release -p selkie-engine-wiredtiger --example ops [rows]` (1 million rows of 16 + 200 bytes by default,
//! all in the cache, in a temporary folder).

use std::hint::black_box;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selkie_engine::{Engine, IndexId, ReadAt};
use selkie_engine_wiredtiger::{Options, WiredTigerEngine};

const INDEX: IndexId = IndexId(1);
const VALUE: [u8; 200] = [b'v'; 200];

/// Numbers in an order that no cache can foresee.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut key = *b"table---........";
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

fn report(what: &str, count: u64, took: Duration) {
    let nanoseconds = took.as_nanos() as f64 / count as f64;
    println!("{what:<52} {nanoseconds:>10.0} ns   {:>12.0} /s", 1e9 / nanoseconds);
}

fn measure(what: &str, count: u64, mut operation: impl FnMut(u64)) {
    let start = Instant::now();
    for number in 0..count {
        operation(number);
    }
    report(what, count, start.elapsed());
}

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let directory = tempfile::tempdir().expect("a temporary folder");
    let options = Options { cache_bytes: 4 << 30, ..Options::default() };
    let engine = WiredTigerEngine::open(directory.path(), &options).expect("a new engine");
    if let Err(error) = run(&engine, rows, directory.path()) {
        eprintln!("{error}");
    }
}

fn run(engine: &WiredTigerEngine, rows: u64, directory: &Path) -> selkie_engine::Result<()> {
    let mut loader = engine.bulk_load(INDEX)?;
    let start = Instant::now();
    for number in 0..rows {
        loader.append(&key(number), &VALUE)?;
    }
    loader.finish()?;
    report("bulk load, a row", rows, start.elapsed());
    engine.checkpoint()?;

    {
        let reader = engine.read(ReadAt::Latest)?;
        let mut cursor = reader.cursor(INDEX)?;
        for pass in ["full scan, first, a row", "full scan, a row"] {
            let start = Instant::now();
            let mut count = 0;
            let mut more = cursor.first()?;
            while more {
                black_box((cursor.key(), cursor.value()));
                count += 1;
                more = cursor.next()?;
            }
            report(pass, count, start.elapsed());
        }
    }
    reads(engine, rows, "")?;

    println!();
    let mut timestamp = 100;
    engine.set_durable(99)?;
    let mut random = Random(1);
    // As a server would: snapshots end, so that history need not grow.
    let forget = |timestamp: u64| {
        if timestamp.is_multiple_of(10_000) {
            engine.set_durable(timestamp).expect("set_durable");
            engine.set_oldest(timestamp - 10_000).expect("set_oldest");
        }
    };
    measure("begin, put at random, commit", 300_000, |_| {
        timestamp += 100;
        put(engine, timestamp, &[random.below(rows)]);
        forget(timestamp);
    });
    measure("the same, and set_durable after each", 300_000, |_| {
        timestamp += 100;
        put(engine, timestamp, &[random.below(rows)]);
        engine.set_durable(timestamp).expect("set_durable");
        forget(timestamp);
    });
    measure("begin, 3 puts at random, commit", 200_000, |_| {
        timestamp += 100;
        put(engine, timestamp, &[random.below(rows), random.below(rows), random.below(rows)]);
        forget(timestamp);
    });
    for group in [1, 16, 128] {
        let mut took = Duration::ZERO;
        for _ in 0..100 {
            let mut batches: Vec<_> = Vec::new();
            for number in 0..group {
                let mut batch = engine.begin_write()?;
                batch.put(INDEX, &key(random.below(rows / 128) * 128 + number), &VALUE)?;
                batches.push(batch);
            }
            let start = Instant::now();
            for batch in batches {
                timestamp += 100;
                batch.commit_ordered(timestamp)?;
            }
            took += start.elapsed();
            forget(timestamp);
        }
        report(&format!("commit_ordered alone, groups of {group}"), 100 * group, took);
    }
    measure("append at the end, commit", 300_000, |number| {
        timestamp += 100;
        put(engine, timestamp, &[rows + number]);
        forget(timestamp);
    });
    engine.set_durable(timestamp)?;
    println!();
    reads(engine, rows, ", after the writes")?;

    println!();
    two_writers(engine, rows, timestamp, directory)
}

fn put(engine: &WiredTigerEngine, timestamp: u64, numbers: &[u64]) {
    let mut batch = engine.begin_write().expect("begin");
    for &number in numbers {
        batch.put(INDEX, &key(number), &VALUE).expect("put");
    }
    batch.commit_ordered(timestamp).expect("commit");
}

fn reads(engine: &WiredTigerEngine, rows: u64, when: &str) -> selkie_engine::Result<()> {
    let mut random = Random(7);
    let mut value = Vec::new();
    let durable = engine.checkpoint()?;
    for (name, at) in [("At", ReadAt::At(durable)), ("Latest", ReadAt::Latest)] {
        let mut reader = engine.read(at)?;
        measure(&format!("get, {name}, one reader{when}"), 500_000, |_| {
            assert!(reader.get(INDEX, &key(random.below(rows)), &mut value).expect("get"));
        });
        measure(&format!("get, {name}, set_read_at before each{when}"), 500_000, |_| {
            // Two states in turn, so that none is found to be there already.
            reader.set_read_at(ReadAt::Latest).expect("set_read_at");
            reader.set_read_at(at).expect("set_read_at");
            assert!(reader.get(INDEX, &key(random.below(rows)), &mut value).expect("get"));
        });
        measure(&format!("get, {name}, a new reader each{when}"), 500_000, |_| {
            let reader = engine.read(at).expect("read");
            assert!(reader.get(INDEX, &key(random.below(rows)), &mut value).expect("get"));
        });
        let reader = engine.read(at)?;
        measure(&format!("100-row scan, {name}, a new cursor each{when}"), 50_000, |_| {
            let mut cursor = reader.cursor(INDEX).expect("cursor");
            let mut more = cursor.seek(&key(random.below(rows - 100))).expect("seek");
            for _ in 0..99 {
                black_box((cursor.key(), cursor.value()));
                more &= cursor.next().expect("next");
            }
            assert!(more);
        });
    }
    Ok(())
}

/// Two threads of 3-put transactions, undisturbed and during a checkpoint, committed in order as a leader would.
fn two_writers(engine: &WiredTigerEngine, rows: u64, timestamp: u64, directory: &Path) -> selkie_engine::Result<()> {
    const EACH: u64 = 150_000;
    let order = parking_lot::Mutex::new(timestamp);
    for with_checkpoint in [false, true] {
        let barrier = Barrier::new(3);
        let longest = AtomicU64::new(0);
        let start = std::thread::scope(|scope| {
            for seed in 1..=2 {
                let (barrier, order, longest) = (&barrier, &order, &longest);
                scope.spawn(move || {
                    let mut random = Random(seed);
                    barrier.wait();
                    for _ in 0..EACH {
                        let start = Instant::now();
                        let mut batch = engine.begin_write().expect("begin");
                        for _ in 0..3 {
                            // Each its own keys: there is no lock table here.
                            let number = random.below(rows / 2) * 2 + seed - 1;
                            batch.put(INDEX, &key(number), &VALUE).expect("put");
                        }
                        let mut order = order.lock();
                        *order += 100;
                        batch.commit_ordered(*order).expect("commit");
                        if order.is_multiple_of(1000) {
                            engine.set_durable(*order).expect("set_durable");
                            engine.set_oldest(order.saturating_sub(100_000)).expect("set_oldest");
                        }
                        drop(order);
                        longest.fetch_max(start.elapsed().as_micros() as u64, Ordering::Relaxed);
                    }
                });
            }
            barrier.wait();
            let start = Instant::now();
            if with_checkpoint {
                let result = engine.checkpoint();
                println!("checkpoint meanwhile: {:?}, {:?}", start.elapsed(), result);
            }
            start
        });
        let what = if with_checkpoint { "3-put transaction, 2 threads, with checkpoint" } else { "3-put transaction, 2 threads" };
        report(what, 2 * EACH, start.elapsed());
        println!("{:<52} {:>10} us", "  the longest", longest.load(Ordering::Relaxed));
    }
    let bytes: u64 = std::fs::read_dir(directory)?.flatten().filter_map(|entry| Some(entry.metadata().ok()?.len())).sum();
    println!("{} MB in files, {} rows by estimate", bytes >> 20, engine.estimate_rows(INDEX)?);
    measure("estimate_range", 10_000, |number| {
        black_box(engine.estimate_range(INDEX, &key(number), &[]).expect("estimate"));
    });
    measure("stats", 1_000, |_| {
        black_box(engine.stats());
    });
    Ok(())
}
