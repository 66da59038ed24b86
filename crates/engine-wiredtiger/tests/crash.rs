//! A process that is killed in the middle of its work leaves exactly what its last checkpoint held.
//!
//! The child is this test binary itself, started again for one test with a directory in the environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use selkie_engine::{Engine, IndexId, ReadAt};
use selkie_engine_wiredtiger::{Options, WiredTigerEngine};

const DIRECTORY: &str = "SELKIE_TEST_CRASH_DIRECTORY";
const INDEX: IndexId = IndexId(7);
const STEP: u64 = 100;

fn open(directory: &Path) -> WiredTigerEngine {
    // Small, so that pages past the checkpoint are evicted to the file before the crash.
    let options = Options { cache_bytes: 4 << 20, ..Options::default() };
    WiredTigerEngine::open(directory, &options).unwrap()
}

/// The transaction with the number `n` is committed at `n * STEP`. It writes row `n` and changes the rows that divide it
/// and end in a zero.
fn commit(engine: &WiredTigerEngine, n: u64) {
    let mut batch = engine.begin_write().unwrap();
    let value = format!("{n}:{}", "v".repeat(300));
    batch.put(INDEX, format!("row{n:08}").as_bytes(), value.as_bytes()).unwrap();
    if n.is_multiple_of(10) {
        batch.put(INDEX, b"the last ten", n.to_string().as_bytes()).unwrap();
        batch.delete(INDEX, format!("row{:08}", n / 2).as_bytes()).unwrap();
    }
    batch.commit_ordered(n * STEP).unwrap();
}

/// What there must be after the transactions up to `last`.
fn expected(last: u64) -> Vec<String> {
    let mut rows: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    for n in 1..=last {
        rows.insert(n);
        if n.is_multiple_of(10) {
            rows.remove(&(n / 2));
        }
    }
    let mut rows: Vec<String> = rows.into_iter().map(|n| format!("row{n:08}={n}")).collect();
    rows.push(format!("the last ten={}", last / 10 * 10));
    rows
}

fn rows(engine: &WiredTigerEngine) -> Vec<String> {
    let reader = engine.read(ReadAt::Latest).unwrap();
    let mut cursor = reader.cursor(INDEX).unwrap();
    let mut rows = Vec::new();
    let mut more = cursor.first().unwrap();
    while more {
        let value = String::from_utf8(cursor.value().to_vec()).unwrap();
        let key = String::from_utf8(cursor.key().to_vec()).unwrap();
        rows.push(format!("{key}={}", value.split(':').next().unwrap()));
        more = cursor.next().unwrap();
    }
    rows
}

/// Goes on from where the directory is, makes a checkpoint in the middle, and dies.
fn child(directory: &Path) -> ! {
    let engine = open(directory);
    let start = engine.recovered() / STEP;
    if start == 0 {
        engine.create_index(INDEX).unwrap();
    }
    for n in start + 1..=start + 20_000 {
        commit(&engine, n);
        if n == start + 9_000 {
            // Half a step past a commit, and behind the newest one.
            engine.set_durable((n - 1_000) * STEP + STEP / 2).unwrap();
            engine.set_oldest((n - 2_000) * STEP).unwrap();
        }
        if n == start + 12_000 {
            engine.checkpoint().unwrap();
        }
        if n == start + 15_000 {
            engine.set_durable(n * STEP).unwrap();
        }
    }
    std::process::abort();
}

#[test]
fn killed_process_leaves_its_last_checkpoint() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        child(&PathBuf::from(directory));
    }
    let directory = tempfile::tempdir().unwrap();
    for round in 1..=2u64 {
        let last = round * 8_000;
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed_process_leaves_its_last_checkpoint", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && !errors.contains("panicked"), "the child aborts: {errors}");
        let copy = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        let engine = open(copy.path());
        assert_eq!(engine.recovered(), last * STEP + STEP / 2, "round {round}");
        assert_eq!(rows(&engine), expected(last), "round {round}");
        engine.verify(INDEX).unwrap();
    }
}

#[test]
fn clean_close_holds_what_is_durable() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path());
    engine.create_index(INDEX).unwrap();
    for n in 1..=100 {
        commit(&engine, n);
    }
    engine.set_durable(50 * STEP).unwrap();
    drop(engine);
    let engine = open(directory.path());
    assert_eq!(engine.recovered(), 50 * STEP);
    assert_eq!(rows(&engine), expected(50));
}

#[test]
fn backup_is_an_engine_directory() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path());
    engine.create_index(INDEX).unwrap();
    for n in 1..=2_000 {
        commit(&engine, n);
    }
    engine.set_durable(1_000 * STEP).unwrap();
    engine.checkpoint().unwrap();
    let copy = tempfile::tempdir().unwrap();
    {
        let backup = engine.backup().unwrap();
        assert_eq!(backup.timestamp(), 1_000 * STEP);
        // Work goes on meanwhile, with a checkpoint that frees the blocks of the old one.
        for n in 2_001..=4_000 {
            commit(&engine, n);
        }
        engine.set_durable(4_000 * STEP).unwrap();
        engine.checkpoint().unwrap();
        assert!(backup.files().len() > 2);
        for file in backup.files() {
            std::fs::copy(&file.source, copy.path().join(&file.name)).unwrap();
        }
    }
    let restored = open(copy.path());
    assert_eq!(restored.recovered(), 1_000 * STEP);
    assert_eq!(rows(&restored), expected(1_000));
    assert_eq!(rows(&engine), expected(4_000));
}

#[test]
fn a_second_process_is_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let _engine = open(directory.path());
    assert!(WiredTigerEngine::open(directory.path(), &Options::default()).is_err());
    assert!(WiredTigerEngine::open(Path::new("/nonexistent/folder"), &Options::default()).is_err());
}
