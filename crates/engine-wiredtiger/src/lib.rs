//! The default engine: [WiredTiger](https://source.wiredtiger.com/), embedded, without a log of its own.
//!
//! How the [engine's contract](selkie_engine) becomes WiredTiger's terms:
//!
//! | contract | WiredTiger |
//! |---|---|
//! | index | one file, `index-<id>.wt`, keys and values raw bytes |
//! | timestamp `t` | timestamp `t + 1` (0 means "none" there) |
//! | batch, `commit_ordered` | transaction with a commit timestamp ([`write`]) |
//! | [`ReadAt::At`] | transaction with a read timestamp ([`reader`]) |
//! | [`ReadAt::Latest`] | reads outside any transaction |
//! | durable | `stable_timestamp` |
//! | oldest | `oldest_timestamp` |
//! | checkpoint | checkpoint, which holds exactly what is stable; made by our call only |
//! | recovered | `query_timestamp(get=recovery)`, after WiredTiger has rolled back to it |
//!
//! * [`sys`]: the C interface; [`handle`]: the same with Rust's types, and nearly all `unsafe`.
//! * [`session`]: sessions and cursors, kept for the next use.
//! * [`reader`], [`write`], [`estimate`], [`backup`]: one part of the contract each.
//! * this file: opening, timestamps, checkpoints, indexes.

#![warn(missing_docs)]
// The code map above names the modules, which are private.
#![allow(rustdoc::private_intra_doc_links)]

mod backup;
mod error;
mod estimate;
mod handle;
mod reader;
mod session;
mod sys;
mod write;

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use selkie_engine::{
    Backup, BulkLoader, Engine, EngineError, IndexId, ReadAt, Reader, Result, Timestamp, WriteBatch,
};

use crate::backup::WiredTigerBackup;
use crate::estimate::Samples;
use crate::handle::{Connection, c_string, to_wiredtiger};
use crate::reader::WiredTigerReader;
use crate::session::{Hidden, Pool, Why, uri};
use crate::write::{Pressure, WiredTigerBatch, WiredTigerBulkLoader};

/// How the blocks of new indexes are compressed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// Fast, by about half for text.
    Lz4,
    /// Smaller and slower.
    Zstd,
}

/// Settings of the engine.
#[derive(Clone, Debug)]
pub struct Options {
    /// How much memory the cache may take, in bytes. At least 1 MiB.
    pub cache_bytes: u64,
    /// For indexes that are made from now on.
    pub compression: Compression,
    /// How large a page of rows is on its medium, in bytes, before compression; for indexes that are made from now on.
    pub leaf_page_bytes: u32,
    /// Whether keys are stored without what they share with the one before: smaller, slower to search. For indexes that
    /// are made from now on.
    pub prefix_compression: bool,
    /// How many readers, cursors at the latest state and batches there can be at once.
    pub sessions_max: u32,
    /// How many threads may work on emptying the cache.
    pub eviction_threads_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            cache_bytes: 256 << 20,
            compression: Compression::None,
            leaf_page_bytes: 16 << 10,
            prefix_compression: false,
            sessions_max: 4096,
            eviction_threads_max: 4,
        }
    }
}

impl Options {
    fn connection_config(&self) -> String {
        // Without `config_base` a setting of an earlier start could come back from a file.
        format!(
            "create,config_base=false,use_environment=false,log=(enabled=false),statistics=(fast),\
             cache_size={},session_max={},eviction=(threads_min=1,threads_max={}),\
             hash=(buckets=512,dhandle_buckets=4096),debug_mode=(corruption_abort=false),\
             file_manager=(close_handle_minimum=1000,close_idle_time=600,close_scan_interval=60)",
            self.cache_bytes.max(1 << 20),
            self.sessions_max.max(16),
            self.eviction_threads_max.clamp(1, 20),
        )
    }

    fn index_config(&self) -> String {
        let compressor = match self.compression {
            Compression::None => "none",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        };
        format!(
            "exclusive=true,key_format=u,value_format=u,block_compressor={compressor},\
             leaf_page_max={}B,internal_page_max=16KB,prefix_compression={}",
            self.leaf_page_bytes.clamp(4 << 10, 512 << 10) & !0xfff,
            self.prefix_compression,
        )
    }
}

/// Times as told from outside, with the lock under which WiredTiger is told.
struct Timestamps {
    durable: Timestamp,
    oldest: Timestamp,
}

/// What the engine, its readers and its batches share.
pub(crate) struct Shared {
    readers: Arc<Pool>,
    writers: Arc<Pool>,
    hidden: Arc<Hidden>,
    pressure: Pressure,
    samples: Samples,
    timestamps: Mutex<Timestamps>,
    /// The same as `timestamps.oldest`, read without the lock.
    oldest: AtomicU64,
    /// Held while a checkpoint is made.
    checkpoint: Mutex<()>,
    directory: PathBuf,
    index_config: std::ffi::CString,
    recovered: Timestamp,
    /// After all that holds sessions, though each of these keeps it open.
    connection: Arc<Connection>,
}

/// For how long [`retry_busy`] tries.
const BUSY_RETRIES: u32 = 2_000;
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// Tries again what fails because a checkpoint or an eviction has hold of the file just now.
fn retry_busy<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..BUSY_RETRIES {
        match attempt() {
            Err(EngineError::Io(error)) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return result,
        }
    }
    attempt()
}

impl Shared {
    fn oldest(&self) -> Timestamp {
        self.oldest.load(Ordering::Acquire)
    }

    /// Some numbers of a statistics cursor.
    fn statistics<const N: usize>(&self, name: &CStr, keys: [i32; N]) -> Result<[u64; N]> {
        let session = self.readers.get()?;
        let cursor = session.raw.open_cursor(name, Some(c"statistics=(fast)"))?;
        let cursor = cursor.ok_or(EngineError::Unsupported("statistics of what is not there"))?;
        let mut numbers = [0; N];
        let mut result = Ok(());
        for (key, number) in keys.into_iter().zip(&mut numbers) {
            match cursor.statistic(key) {
                Ok(value) => *number = value,
                Err(error) => result = Err(error),
            }
        }
        // SAFETY: the session is open, and this is the only copy of the cursor.
        session.raw.check(unsafe { cursor.close() })?;
        result.map(|()| numbers)
    }

    /// Whether there is such an index and it may be used.
    fn exists(&self, index: IndexId) -> Result<bool> {
        if self.hidden.contains(index) {
            return Ok(false);
        }
        let session = self.readers.get()?;
        let Some(cursor) = session.raw.open_cursor(c"metadata:", None)? else { return Ok(false) };
        let code = cursor.search_text(&uri(index)?);
        // SAFETY: the session is open, and this is the only copy of the cursor.
        session.raw.check(unsafe { cursor.close() })?;
        match code {
            sys::WT_NOTFOUND => Ok(false),
            code => session.raw.check(code).map(|()| true),
        }
    }

    fn drop_index(&self, index: IndexId) -> Result<()> {
        if !self.exists(index)? || !self.hidden.insert(index, Why::Dropped) {
            return Err(EngineError::NotFound(index));
        }
        self.samples.forget(index);
        self.try_drop(index)
    }

    /// Closes what sessions in the pools have open on an index.
    fn close_idle_cursors(&self, index: IndexId) {
        self.readers.close_cursors(index);
        self.writers.close_cursors(index);
    }

    /// Drops the file of a dropped index, unless somebody is using it.
    fn try_drop(&self, index: IndexId) -> Result<()> {
        self.close_idle_cursors(index);
        let session = self.readers.get()?;
        // `force` leaves out writing the file's changed pages first.
        match session.raw.drop(&uri(index)?, c"force=true,checkpoint_wait=false") {
            libc::EBUSY => Ok(()),
            code => {
                session.raw.check(code)?;
                self.hidden.remove(index);
                Ok(())
            }
        }
    }
}

/// The engine. Dropping the last handle, reader and batch closes it, with a checkpoint.
#[derive(Clone)]
pub struct WiredTigerEngine {
    shared: Arc<Shared>,
}

impl WiredTigerEngine {
    /// Opens the engine in this directory, which must exist; makes a new one if it is empty.
    ///
    /// # Errors
    /// [`EngineError::Io`] with "resource busy" if another process has it open.
    pub fn open(directory: &Path, options: &Options) -> Result<Self> {
        let connection = Connection::open(directory, &options.connection_config())?;
        let recovered = connection.query_timestamp(c"get=recovery")?;
        let oldest = connection.query_timestamp(c"get=oldest_timestamp")?;
        let hidden = Arc::new(Hidden::default());
        let shared = Shared {
            readers: Pool::new(connection.clone(), c"", hidden.clone()),
            writers: Pool::new(connection.clone(), c"ignore_cache_size=true", hidden.clone()),
            hidden,
            pressure: Pressure::new(),
            samples: Samples::default(),
            timestamps: Mutex::new(Timestamps { durable: recovered, oldest }),
            oldest: AtomicU64::new(oldest),
            checkpoint: Mutex::new(()),
            directory: directory.to_path_buf(),
            index_config: c_string(options.index_config())?,
            recovered,
            connection,
        };
        // Without a stable timestamp, a checkpoint would hold everything.
        let stable = to_wiredtiger(recovered);
        shared.connection.set_timestamp(&format!("stable_timestamp={stable:x}"))?;
        Ok(WiredTigerEngine { shared: Arc::new(shared) })
    }
}

impl Engine for WiredTigerEngine {
    fn name(&self) -> &'static str {
        "wiredtiger"
    }

    fn create_index(&self, index: IndexId) -> Result<()> {
        let uri = uri(index)?;
        let session = self.shared.readers.get()?;
        match session.raw.create(&uri, &self.shared.index_config) {
            libc::EEXIST => Err(EngineError::AlreadyExists(index)),
            code => session.raw.check(code),
        }
    }

    fn drop_index(&self, index: IndexId) -> Result<()> {
        self.shared.drop_index(index)
    }

    fn drop_pending(&self) -> Result<usize> {
        for index in self.shared.hidden.dropped() {
            self.shared.try_drop(index)?;
        }
        Ok(self.shared.hidden.dropped().len())
    }

    fn indexes(&self) -> Result<Vec<IndexId>> {
        let session = self.shared.readers.get()?;
        let Some(cursor) = session.raw.open_cursor(c"metadata:", None)? else { return Ok(Vec::new()) };
        let mut indexes = Vec::new();
        let result = loop {
            match cursor.next() {
                0 => match cursor.text_key() {
                    Ok(uri) => indexes.extend(session::index_of_uri(&uri)),
                    Err(error) => break Err(error),
                },
                sys::WT_NOTFOUND => break Ok(()),
                code => break session.raw.check(code),
            }
        };
        // SAFETY: the session is open, and this is the only copy of the cursor.
        session.raw.check(unsafe { cursor.close() })?;
        result?;
        let dropped = self.shared.hidden.dropped();
        indexes.retain(|index| !dropped.contains(index));
        indexes.sort_unstable();
        Ok(indexes)
    }

    fn bulk_load(&self, index: IndexId) -> Result<Box<dyn BulkLoader>> {
        Ok(Box::new(WiredTigerBulkLoader::begin(self, index)?))
    }

    fn begin_write(&self) -> Result<Box<dyn WriteBatch>> {
        Ok(Box::new(WiredTigerBatch::begin(self.shared.clone())?))
    }

    fn read(&self, at: ReadAt) -> Result<Box<dyn Reader>> {
        Ok(Box::new(WiredTigerReader::new(self.shared.clone(), at)?))
    }

    fn set_durable(&self, timestamp: Timestamp) -> Result<()> {
        let mut timestamps = self.shared.timestamps.lock();
        if timestamp > timestamps.durable {
            let stable = to_wiredtiger(timestamp);
            self.shared.connection.set_timestamp(&format!("stable_timestamp={stable:x}"))?;
            timestamps.durable = timestamp;
        }
        Ok(())
    }

    fn set_oldest(&self, timestamp: Timestamp) -> Result<()> {
        let mut timestamps = self.shared.timestamps.lock();
        let timestamp = timestamp.min(timestamps.durable);
        if timestamp > timestamps.oldest {
            // First, so that a reader refused by WiredTiger finds the reason here.
            self.shared.oldest.store(timestamp, Ordering::Release);
            let oldest = to_wiredtiger(timestamp);
            self.shared.connection.set_timestamp(&format!("oldest_timestamp={oldest:x}"))?;
            timestamps.oldest = timestamp;
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<Timestamp> {
        let _one_at_a_time = self.shared.checkpoint.lock();
        let session = self.shared.readers.get()?;
        session.raw.checkpoint(c"use_timestamp=true")?;
        self.shared.connection.query_timestamp(c"get=last_checkpoint")
    }

    fn recovered(&self) -> Timestamp {
        self.shared.recovered
    }

    fn split_points(&self, index: IndexId, low: &[u8], high: &[u8], parts: usize) -> Result<Vec<Vec<u8>>> {
        estimate::split_points(&self.shared, index, low, high, parts)
    }

    fn estimate_range(&self, index: IndexId, low: &[u8], high: &[u8]) -> Result<u64> {
        estimate::range(&self.shared, index, low, high)
    }

    fn estimate_bytes(&self, index: IndexId) -> Result<u64> {
        estimate::bytes(&self.shared, index)
    }

    fn verify(&self, index: IndexId) -> Result<()> {
        if !self.shared.exists(index)? {
            return Err(EngineError::NotFound(index));
        }
        // WiredTiger verifies a file that nobody uses and that has no changes since the last checkpoint.
        self.checkpoint()?;
        self.shared.close_idle_cursors(index);
        let session = self.shared.readers.get()?;
        match session.raw.verify(&uri(index)?) {
            0 => Ok(()),
            libc::EBUSY => self.verify_by_reading(index),
            code => Err(EngineError::Corrupt(format!("index {index}: verification ended with {code}, see the log"))),
        }
    }

    fn backup(&self) -> Result<Box<dyn Backup>> {
        Ok(Box::new(WiredTigerBackup::begin(&self.shared)?))
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        use sys::stat;
        const NAMES: [&str; 18] = [
            "block_read_bytes",
            "block_write_bytes",
            "cache_updates_bytes",
            "cache_used_bytes",
            "cache_max_bytes",
            "cache_pages_read",
            "cache_pages_requested",
            "cache_pages_written",
            "cache_dirty_bytes",
            "checkpoint_recent_ms",
            "checkpoints",
            "files_open",
            "cursors_open",
            "sessions_open",
            "cache_wait_us",
            "commits",
            "rollbacks",
            "conflicts",
        ];
        let keys = [
            stat::BLOCK_BYTE_READ,
            stat::BLOCK_BYTE_WRITE,
            stat::CACHE_BYTES_UPDATES,
            stat::CACHE_BYTES_INUSE,
            stat::CACHE_BYTES_MAX,
            stat::CACHE_READ,
            stat::CACHE_PAGES_REQUESTED,
            stat::CACHE_WRITE,
            stat::CACHE_BYTES_DIRTY,
            stat::CHECKPOINT_TIME_RECENT,
            stat::CHECKPOINTS_TOTAL_SUCCEED,
            stat::FILE_OPEN,
            stat::CURSOR_OPEN_COUNT,
            stat::SESSION_OPEN,
            stat::APPLICATION_CACHE_TIME,
            stat::TXN_COMMIT,
            stat::TXN_ROLLBACK,
            stat::TXN_UPDATE_CONFLICT,
        ];
        let mut stats: Vec<_> = match self.shared.statistics(c"statistics:", keys) {
            Ok(numbers) => NAMES.into_iter().zip(numbers).collect(),
            Err(error) => {
                tracing::warn!(%error, "cannot read the engine's statistics");
                Vec::new()
            }
        };
        stats.push(("drops_pending", self.shared.hidden.dropped().len() as u64));
        stats
    }
}

impl WiredTigerEngine {
    /// Reads all of an index, which checks every page's checksum, and looks at the order of its keys.
    fn verify_by_reading(&self, index: IndexId) -> Result<()> {
        let reader = self.read(ReadAt::Latest)?;
        let mut cursor = reader.cursor(index)?;
        let mut last = Vec::new();
        let mut more = cursor.first()?;
        let mut rows = 0u64;
        while more {
            if rows > 0 && cursor.key() <= last.as_slice() {
                return Err(EngineError::Corrupt(format!("index {index}: keys are out of order")));
            }
            last.clear();
            last.extend_from_slice(cursor.key());
            rows += 1;
            more = cursor.next()?;
        }
        Ok(())
    }
}
