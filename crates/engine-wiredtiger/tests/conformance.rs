//! The WiredTiger engine passes every test that an engine must pass.

use std::path::Path;

use selkie_engine::Engine;
use selkie_engine::conformance::Subject;
use selkie_engine_wiredtiger::{Options, WiredTigerEngine};
use tempfile::TempDir;

/// Fields are dropped in this order: the engine before its directory.
struct WiredTiger {
    engine: WiredTigerEngine,
    directory: TempDir,
}

fn open(directory: TempDir) -> Box<dyn Subject> {
    let options = Options { cache_bytes: 32 << 20, ..Options::default() };
    let engine = WiredTigerEngine::open(directory.path(), &options).unwrap();
    Box::new(WiredTiger { engine, directory })
}

fn copy_files(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        // Another process's lock would not be in the way after a crash either.
        if entry.file_name() != "WiredTiger.lock" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

impl Subject for WiredTiger {
    fn engine(&self) -> &dyn Engine {
        &self.engine
    }

    /// What is in the files while the engine is at work is what a killed process leaves.
    fn crash(self: Box<Self>) -> Box<dyn Subject> {
        let after = TempDir::new().unwrap();
        copy_files(self.directory.path(), after.path());
        open(after)
    }
}

selkie_engine::conformance_tests!(|| open(TempDir::new().unwrap()));
