//! Opening a data directory: engine, log, recovery, dictionary; and closing it again.
//!
//! Layout: `engine/` is the storage engine's; `binlog.NNNNNN` and `binlog.index` are the log. There is nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_binlog::fs::RealFs;
use selkie_binlog::log::{LogOptions, LogRecovery};
use selkie_binlog::{Log, LogPosition};
use selkie_catalog::dictionary::Dictionary;
use selkie_catalog::Schema;
use selkie_engine::Engine;
use selkie_txn::pipeline::CommitSettings;
use selkie_txn::{BinlogLog, CommitLog, TxnManager};
use selkie_types::Collation;

use crate::instance::{Instance, Storage};
use crate::recovery::{RecoveryError, Replay, drop_leftovers, load_dictionary, replay_from};
use crate::variables::Values;

/// Makes the storage engine of a data directory: given the engine's own folder and the cache size in bytes.
pub type EngineFactory<'a> = &'a dyn Fn(&Path, u64) -> Result<Arc<dyn Engine>, String>;

/// How to open a server.
pub struct BootOptions {
    /// The data directory; it exists and is locked by the caller.
    pub datadir: PathBuf,
    /// Global values of system variables, options applied.
    pub globals: Values,
    /// What to do about a damaged log.
    pub log_recovery: LogRecovery,
}

/// Why a server could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The operating system.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// The engine could not be opened.
    #[error("cannot open the storage engine: {0}")]
    Engine(String),
    /// The log or recovery.
    #[error("{0}")]
    Recovery(#[from] RecoveryError),
}

impl From<selkie_binlog::LogError> for BootError {
    fn from(e: selkie_binlog::LogError) -> Self {
        BootError::Recovery(e.into())
    }
}

impl From<selkie_engine::EngineError> for BootError {
    fn from(e: selkie_engine::EngineError) -> Self {
        BootError::Recovery(e.into())
    }
}

/// Opens or creates a data directory and recovers it.
pub fn open(
    options: BootOptions,
    durable_engine: EngineFactory<'_>,
    volatile: Arc<dyn Engine>,
) -> Result<Arc<Instance>, BootError> {
    let BootOptions { datadir, mut globals, log_recovery } = options;
    let engine_dir = datadir.join("engine");
    std::fs::create_dir_all(&engine_dir).map_err(|e| BootError::Io(format!("cannot create {}", engine_dir.display()), e))?;
    let cache = globals.u64("innodb_buffer_pool_size");
    let engine = durable_engine(&engine_dir, cache).map_err(BootError::Engine)?;
    let from = replay_from(&*engine);
    let log_options = LogOptions {
        basename: "binlog".into(),
        max_binlog_size: globals.u64("max_binlog_size"),
        server_id: globals.u64("server_id") as u32,
        server_version: format!("{}-log", crate::VERSION),
        recovery: log_recovery,
        position_min: from,
        ..LogOptions::default()
    };
    let (log, recovered) = Log::open(Arc::new(RealFs::new(&datadir)), log_options)?;
    if let Some(cut) = &recovered.cut {
        tracing::warn!("log file '{}' was cut at {}: {}", cut.file, cut.offset, cut.reason);
    }
    let schema = load_dictionary(&*engine)?;
    let mut replay = Replay::new(&engine, schema)?;
    if recovered.end > from {
        tracing::info!("recovery: replaying the log from position {} to {}", from.0, recovered.end.0);
        for t in log.transactions_from(from)? {
            replay.apply(&t?)?;
        }
    }
    let (schema, replayed) = replay.finish();
    if replayed.transactions > 0 {
        tracing::info!("recovery: {} transactions, {} rows", replayed.transactions, replayed.rows);
    }
    let end = log.end();
    engine.set_durable(end.0)?;
    let dropped = drop_leftovers(&*engine, &schema)?;
    if dropped > 0 {
        tracing::info!("recovery: {dropped} unreferenced engine tables removed");
    }
    let fresh = schema.databases.is_empty();
    globals.set_named("log_bin_basename", &datadir.join("binlog").to_string_lossy());
    globals.set_named("log_bin_index", &datadir.join("binlog.index").to_string_lossy());
    globals.set_named("datadir", &format!("{}/", datadir.display()));
    let settings = CommitSettings {
        sync_binlog: globals.u64("sync_binlog"),
        wait_count: globals.u64("binlog_commit_wait_count") as usize,
        wait_usec: globals.u64("binlog_commit_wait_usec"),
    };
    let txns = TxnManager::new(engine, volatile, BinlogLog::new(log), end.0);
    txns.pipeline.configure(settings);
    let instance = Instance::new(Storage { txns, dictionary: Dictionary::new(schema) }, globals, datadir);
    if fresh {
        bootstrap(&instance).map_err(|e| BootError::Engine(e.to_string()))?;
    }
    Ok(instance)
}

/// Databases of a new server.
fn bootstrap(instance: &Arc<Instance>) -> selkie_types::SqlResult<()> {
    let mut changes = selkie_ddl::bootstrap(Collation::UTF8MB4_GENERAL_CI);
    changes.push(instance.dictionary.next_id_change());
    crate::commit_dictionary::commit_local(instance, &changes)
}

/// Writes a final checkpoint and closes the log. Sessions must have ended.
pub fn close(instance: &Instance) -> Result<(), BootError> {
    if instance.txns.pipeline.poisoned().is_none() {
        instance.txns.pipeline.sync_now().map_err(|e| BootError::Engine(e.to_string()))?;
        let at = instance.txns.checkpoint().map_err(|e| BootError::Engine(e.to_string()))?;
        let closed: Result<(), selkie_binlog::LogError> = instance.txns.pipeline.with_log(|l| {
            l.log().note_checkpoint(LogPosition(at))?;
            l.sync().map_err(selkie_binlog::LogError::Poisoned)?;
            l.log().close()
        });
        closed?;
    }
    Ok(())
}

/// The dictionary of a new, empty server: for tools and tests.
pub fn empty_schema() -> Schema {
    Schema::default()
}
