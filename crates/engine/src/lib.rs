//! What every storage engine offers: an ordered, multi-version key-value store that takes its timestamps
//! from outside. Nothing more: an engine knows nothing of SQL, rows, collations, locks, partitions or the
//! binlog, and holds nothing that the log could not make again.
//!
//! # The model
//!
//! * Data lives in **indexes**, each an ordered map from key bytes to value bytes, compared as unsigned bytes
//!   (a prefix sorts first). A key has at least one byte; a value may be empty. Index ids are handed out by the caller and are never used a second time.
//! * A **timestamp** is a position in the log. Each write belongs to the timestamp with which its batch was
//!   committed ([`WriteBatch::commit_ordered`]), and a reader sees the map as it was at one timestamp
//!   ([`ReadAt::At`]), or the newest commit ([`ReadAt::Latest`]).
//! * `oldest <= durable <= newest commit`. History before *oldest* may be forgotten. Nothing after *durable*
//!   may survive a crash, because the log that describes it might not.
//!
//! ```text
//!      0 ───────── oldest ───────── recovered/checkpoint ───── durable ───── newest commit ──▶ log position
//!       forgotten         readable by At(t)                              seen by Latest only
//! ```
//!
//! # Who calls what
//!
//! | call | by | may fail how |
//! |---|---|---|
//! | `begin_write`, `put`, `delete` | the transaction's own thread, **after** it holds the row locks of the whole write set | statement or transaction error; `abort` and, if [retryable](EngineError::is_retryable), start again |
//! | `commit_ordered` | the leader of the commit group, for every member, in ascending timestamp order | **fatal**: the log already says that the transaction is committed, so the server must stop and recover from the log |
//! | `set_durable` | the leader after the log's sync, once every `commit_ordered` up to there has returned | fatal |
//! | `set_oldest` | the keeper of snapshots, from time to time | logged |
//! | `read`, `get`, cursors | any thread; one reader belongs to one thread at a time | statement error |
//! | `checkpoint`, `drop_pending` | a background thread, and DDL before its log record | logged, or the DDL statement fails |
//! | `create_index`, `bulk_load`, `drop_index` | DDL, startup | statement error |
//!
//! ## No write-write conflicts
//!
//! An engine need not (and need not be able to) resolve conflicts between batches: the lock table above it
//! keeps two batches from holding the same key. Row locks are released only *after* `commit_ordered`, and
//! `begin_write` is called only *after* the locks were taken. So when a batch begins, every earlier writer of
//! its keys has been committed already, and the snapshot that an engine may take in `begin_write` includes them.
//!
//! ## Large transactions
//!
//! A transaction may be written as several batches, one after another or side by side, all committed with the
//! *same* timestamp. No key may be in two of them. [`ReadAt::Latest`] can then see the earlier ones first; a reader
//! [`At`](ReadAt::At) a timestamp cannot, as long as `set_durable` waits for the last of them.
//!
//! ## Creating and dropping is not versioned
//!
//! An index exists from `create_index` on for every timestamp, and is gone for good after `drop_index`. Both may
//! or may not survive a crash until the next [`checkpoint`](Engine::checkpoint) returns. Recovery must expect an index
//! that its dictionary does not name (a leftover: drop it), and one that the log's tail still writes to but that a
//! later record dropped ([`EngineError::NotFound`]: pass over it). An index that was made after the last checkpoint
//! may be found again, then without any of its committed writes.

#![warn(missing_docs)]

pub mod conformance;
mod error;

use std::fmt;
use std::path::PathBuf;

pub use error::{EngineError, Result};

/// A position in the log, counted in bytes since the log began. 0 lies before everything.
pub type Timestamp = u64;

/// Names one index of one engine. The caller hands the numbers out and never uses one twice.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u64);

impl fmt::Display for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which state of the data a [`Reader`] sees.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ReadAt {
    /// What was committed at or before this timestamp, and nothing else, however long the reader lives.
    /// Repeatable only for timestamps at or before the durable one.
    At(Timestamp),
    /// The newest commit, durable or not. Each [`get`](Reader::get) and each positioning of a cursor sees every
    /// commit whose `commit_ordered` returned before it; `next` and `prev` see a state that is at least
    /// as new as the cursor's last positioning. For locking reads: lock the key, then `get` it.
    Latest,
}

/// An ordered, multi-version key-value store. See the [crate's page](crate) for the contract as a whole.
///
/// All calls may be made from any thread at any time.
pub trait Engine: Send + Sync {
    /// The engine's name, as in error messages and statistics.
    fn name(&self) -> &'static str;

    /// Makes an empty index.
    ///
    /// # Errors
    /// [`EngineError::AlreadyExists`]; nothing is changed then.
    fn create_index(&self, index: IndexId) -> Result<()>;

    /// Drops an index. From now on [`indexes`](Self::indexes) does not name it and new uses answer
    /// [`EngineError::NotFound`]. A reader that is using it may still see it; its space is then given back by a
    /// later [`drop_pending`](Self::drop_pending).
    fn drop_index(&self, index: IndexId) -> Result<()>;

    /// Gives back the space of dropped indexes that were in use when they were dropped, as far as they are
    /// not any more. Returns how many are still waiting.
    fn drop_pending(&self) -> Result<usize> {
        Ok(0)
    }

    /// The indexes that exist, in ascending order. Startup compares them with the dictionary and drops the leftovers.
    fn indexes(&self) -> Result<Vec<IndexId>>;

    /// Makes an index and fills it with keys in strictly ascending order, much faster than by batches.
    ///
    /// The rows belong to timestamp 0: every reader that can name the index sees them. They are durable once a
    /// [`checkpoint`](Self::checkpoint) that began after [`BulkLoader::finish`] has returned.
    fn bulk_load(&self, index: IndexId) -> Result<Box<dyn BulkLoader>>;

    /// Begins a batch of writes that nobody sees before its [`commit_ordered`](WriteBatch::commit_ordered).
    /// To be called when the row locks of everything that it will write are held.
    fn begin_write(&self) -> Result<Box<dyn WriteBatch>>;

    /// Opens a reader.
    ///
    /// # Errors
    /// [`EngineError::SnapshotTooOld`] for a timestamp before the oldest that is kept.
    fn read(&self, at: ReadAt) -> Result<Box<dyn Reader>>;

    /// Tells that the log is synced up to `timestamp`, and that all commits up to it have been made.
    /// A value that is not greater than the last one changes nothing.
    fn set_durable(&self, timestamp: Timestamp) -> Result<()>;

    /// Tells that nobody will begin to read before `timestamp` any more. Readers at work keep what they see.
    /// A value that is not greater than the last one changes nothing; one past the durable timestamp counts as that.
    fn set_oldest(&self, timestamp: Timestamp) -> Result<()>;

    /// Writes a consistent state to stable storage and returns the timestamp that it belongs to: everything
    /// committed at or before it is in, nothing after it. It is at least what was durable at the call, and never
    /// past what is durable at the return. Reads and writes go on meanwhile.
    fn checkpoint(&self) -> Result<Timestamp>;

    /// The timestamp of the state that the engine held when it was opened; 0 for a new one. The log is to be
    /// replayed from here: each write after it is missing, none before it is.
    fn recovered(&self) -> Timestamp;

    /// At most `parts - 1` ascending keys strictly between `low` and `high` that cut `low..high` into pieces of about
    /// equal size, for parallel scans. Fewer (or none) for a small range. The keys need not exist.
    /// `low` is inclusive, `high` exclusive; an empty `high` means no upper end.
    fn split_points(&self, index: IndexId, low: &[u8], high: &[u8], parts: usize) -> Result<Vec<Vec<u8>>>;

    /// About how many rows the index has. Exact for small ones, cheap (some ten microseconds) for all.
    fn estimate_rows(&self, index: IndexId) -> Result<u64> {
        self.estimate_range(index, &[], &[])
    }

    /// About how many rows lie in `low..high`, with bounds as in [`split_points`](Self::split_points).
    /// Never 0 for a range that has a committed row.
    fn estimate_range(&self, index: IndexId, low: &[u8], high: &[u8]) -> Result<u64>;

    /// About how many bytes the index takes on its medium.
    fn estimate_bytes(&self, index: IndexId) -> Result<u64>;

    /// Reads all of an index and checks that it is sound.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] if it is not.
    fn verify(&self, index: IndexId) -> Result<()>;

    /// Begins a hot backup of the last checkpoint: while the returned value lives, the files it lists may be
    /// copied with any tool, and the copies together are an engine directory.
    fn backup(&self) -> Result<Box<dyn Backup>>;

    /// Counters and gauges by name, for status commands and metrics.
    fn stats(&self) -> Vec<(&'static str, u64)>;
}

/// Fills a new index; made by [`Engine::bulk_load`]. Dropped without `finish`, it drops the index.
pub trait BulkLoader: Send {
    /// Adds a row.
    ///
    /// # Errors
    /// [`EngineError::KeyOrder`] unless `key` is greater than the one before it.
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Ends the load. Only now can the index be read and written.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Writes that become visible together; made by [`Engine::begin_write`]. Dropped without `commit_ordered`, it is
/// aborted.
pub trait WriteBatch: Send {
    /// Sets the value of a key, whether or not it was there.
    fn put(&mut self, index: IndexId, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes a key. It is no error if it is not there.
    fn delete(&mut self, index: IndexId, key: &[u8]) -> Result<()>;

    /// Makes the writes visible to [`ReadAt::Latest`] and to readers at `timestamp` or later. May be called from another
    /// thread than the writes, takes about a microsecond and never waits for input or output.
    ///
    /// `timestamp` is greater than the durable one, and not less than that of any commit made before.
    ///
    /// # Errors
    /// Any error is fatal for the server: see the [table](crate#who-calls-what). It must not happen if all puts and
    /// deletes before it have succeeded, save for a defect or a broken machine.
    fn commit_ordered(self: Box<Self>, timestamp: Timestamp) -> Result<()>;

    /// Forgets the writes.
    fn abort(self: Box<Self>);
}

/// Reads one state of the data; made by [`Engine::read`].
///
/// Many cursors may be open on one reader, and `get` may be called between their steps. It may move to
/// another thread while no cursor is open; parallel scans use one reader each (the same [`ReadAt::At`] gives the same state).
pub trait Reader: Send {
    /// Looks a key up and hands its value to `found` without a copy. Returns whether the key is there.
    fn get_with(&self, index: IndexId, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Looks a key up. Its value replaces what `out` holds. Returns whether the key is there; if not, `out` is empty.
    fn get(&self, index: IndexId, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        self.get_with(index, key, &mut |value| out.extend_from_slice(value))
    }

    /// Opens a cursor, which is not yet at any row.
    fn cursor(&self, index: IndexId) -> Result<Box<dyn Cursor + '_>>;

    /// Which state this reader sees.
    fn read_at(&self) -> ReadAt;

    /// Makes the reader see another state: cheaper than a new reader, for the next statement. After an error the reader
    /// can only be given another state or be dropped.
    fn set_read_at(&mut self, at: ReadAt) -> Result<()>;
}

/// Walks an index in key order.
///
/// A cursor is at a row or at none. Every positioning and every step returns whether it is at a row now. At none,
/// `key` and `value` are empty, and `next` and `prev` stay there.
pub trait Cursor {
    /// Goes to the first key at or after `key`.
    fn seek(&mut self, key: &[u8]) -> Result<bool>;

    /// Goes to the last key before `key`.
    fn seek_before(&mut self, key: &[u8]) -> Result<bool>;

    /// Goes to the first key of the index.
    fn first(&mut self) -> Result<bool>;

    /// Goes to the last key of the index.
    fn last(&mut self) -> Result<bool>;

    /// Goes to the following key.
    fn next(&mut self) -> Result<bool>;

    /// Goes to the preceding key.
    fn prev(&mut self) -> Result<bool>;

    /// The key that the cursor is at. Gone with the next move.
    fn key(&self) -> &[u8];

    /// The value that the cursor is at. Gone with the next move.
    fn value(&self) -> &[u8];
}

/// A backup in progress; made by [`Engine::backup`]. The files stay as they are until it is dropped.
pub trait Backup: Send {
    /// The timestamp of the state in the files: the log is to be replayed from here.
    fn timestamp(&self) -> Timestamp;

    /// What must be copied.
    fn files(&self) -> &[BackupFile];
}

/// One file of a [`Backup`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupFile {
    /// Where it is now.
    pub source: PathBuf,
    /// Where it belongs, relative to the new engine directory.
    pub name: PathBuf,
}
