//! Sessions with their cursors, and the pools that keep them between uses.
//!
//! Opening a session or a cursor costs more than the operation that it is for, so both are kept: a session has its open
//! cursors by index, and goes back to its pool when its reader or batch ends.
//!
//! An open cursor keeps WiredTiger from dropping its index. So dropping puts the index into [`Hidden`] first, from when on
//! nobody opens or keeps a cursor on it, and closes those of the sessions in the pools. Sessions in use notice by the
//! *epoch*, one atomic load per operation.

use std::collections::hash_map::Entry;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use rustc_hash::{FxHashMap};
use selkie_engine::{EngineError, IndexId, Result};

use crate::handle::{Connection, RawCursor, RawSession, c_string};

/// A session in a pool with more cursors than this closes them all: each holds memory, and an open file.
const CURSORS_KEPT_MAX: usize = 512;
/// How many idle sessions a pool keeps.
const SESSIONS_KEPT_MAX: usize = 256;

/// The name by which WiredTiger knows an index.
pub(crate) fn uri(index: IndexId) -> Result<CString> {
    c_string(format!("file:{}", file_name(index)))
}

/// The name of an index's file in the engine's directory.
pub(crate) fn file_name(index: IndexId) -> String {
    format!("index-{index}.wt")
}

/// The reverse of [`uri`].
pub(crate) fn index_of_uri(uri: &str) -> Option<IndexId> {
    uri.strip_prefix("file:index-")?.strip_suffix(".wt")?.parse().ok().map(IndexId)
}

/// Why nobody may use an index although its file is there.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was dropped, but WiredTiger could not drop the file yet.
    Dropped,
    /// It is being bulk loaded, which needs the file for itself.
    Loading,
}

/// The indexes that nobody may use.
#[derive(Default)]
pub(crate) struct Hidden {
    indexes: Mutex<FxHashMap<IndexId, Why>>,
    /// How many there are; read without the lock.
    count: AtomicUsize,
    /// Raised whenever one is added.
    epoch: AtomicU64,
}

impl Hidden {
    /// Hides an index; false if it was already.
    pub(crate) fn insert(&self, index: IndexId, why: Why) -> bool {
        let mut indexes = self.indexes.lock();
        match indexes.entry(index) {
            Entry::Occupied(_) => return false,
            Entry::Vacant(entry) => entry.insert(why),
        };
        self.count.store(indexes.len(), Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        true
    }

    pub(crate) fn remove(&self, index: IndexId) {
        let mut indexes = self.indexes.lock();
        indexes.remove(&index);
        self.count.store(indexes.len(), Ordering::Release);
    }

    pub(crate) fn contains(&self, index: IndexId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.indexes.lock().contains_key(&index)
    }

    /// Those that were dropped.
    pub(crate) fn dropped(&self) -> Vec<IndexId> {
        let indexes = self.indexes.lock();
        indexes.iter().filter(|(_, why)| **why == Why::Dropped).map(|(index, _)| *index).collect()
    }

    fn all(&self) -> Vec<IndexId> {
        self.indexes.lock().keys().copied().collect()
    }
}

/// The cursors of one session on one index.
#[derive(Default)]
struct Cursors {
    /// For `get`, `put` and `delete`: used within one call only.
    point: Option<RawCursor>,
    /// Not in use by any [`Cursor`](selkie_engine::Cursor).
    free: Vec<RawCursor>,
}

/// A session with its cursors.
pub(crate) struct Session {
    pub(crate) raw: RawSession,
    cursors: FxHashMap<IndexId, Cursors>,
    open: usize,
    hidden: Arc<Hidden>,
    epoch: u64,
}

// SAFETY: the cursors move together with their session, and are used only by who has it.
unsafe impl Send for Session {}

impl Session {
    fn new(raw: RawSession, hidden: Arc<Hidden>) -> Self {
        let epoch = hidden.epoch.load(Ordering::Acquire);
        Session { raw, cursors: FxHashMap::default(), open: 0, hidden, epoch }
    }

    /// Closes what it has on indexes that were hidden meanwhile.
    #[inline]
    fn notice_hidden(&mut self) {
        let epoch = self.hidden.epoch.load(Ordering::Acquire);
        if epoch != self.epoch {
            self.epoch = epoch;
            for index in self.hidden.all() {
                self.close_cursors(index);
            }
        }
    }

    /// Closes the cursors on an index that are not in use.
    fn close_cursors(&mut self, index: IndexId) {
        if let Some(cursors) = self.cursors.remove(&index) {
            for cursor in cursors.point.into_iter().chain(cursors.free) {
                self.close(cursor);
            }
        }
    }

    fn close(&mut self, cursor: RawCursor) {
        self.open -= 1;
        // SAFETY: the cursor is this session's, which is open, and was taken out of where it was kept.
        let code = unsafe { cursor.close() };
        if let Err(error) = self.raw.check(code) {
            tracing::warn!(%error, "closing an engine cursor");
        }
    }

    fn open(raw: &RawSession, hidden: &Hidden, index: IndexId) -> Result<RawCursor> {
        // Verifying needs the file for itself, for a while; so do dropping and loading, which hide the index first.
        crate::retry_busy(|| match hidden.contains(index) {
            true => Err(EngineError::NotFound(index)),
            false => raw.open_cursor(&uri(index)?, None)?.ok_or(EngineError::NotFound(index)),
        })
    }

    /// The cursor for point operations. It is at no row, or at the one of the last operation.
    #[inline]
    pub(crate) fn point_cursor(&mut self, index: IndexId) -> Result<RawCursor> {
        self.notice_hidden();
        let cursors = match self.cursors.entry(index) {
            Entry::Occupied(entry) => entry.into_mut(),
            // First see whether it exists, so that asking for what does not leaves nothing behind.
            Entry::Vacant(entry) => {
                let cursor = Self::open(&self.raw, &self.hidden, index)?;
                self.open += 1;
                entry.insert(Cursors { point: Some(cursor), free: Vec::new() })
            }
        };
        match cursors.point {
            Some(cursor) => Ok(cursor),
            None => {
                let cursor = Self::open(&self.raw, &self.hidden, index)?;
                self.open += 1;
                cursors.point = Some(cursor);
                Ok(cursor)
            }
        }
    }

    /// A cursor of its own, to be given back by [`give_back`](Self::give_back).
    pub(crate) fn take_cursor(&mut self, index: IndexId) -> Result<RawCursor> {
        self.notice_hidden();
        if let Some(cursor) = self.cursors.get_mut(&index).and_then(|cursors| cursors.free.pop()) {
            return Ok(cursor);
        }
        let cursor = Self::open(&self.raw, &self.hidden, index)?;
        self.open += 1;
        Ok(cursor)
    }

    /// Takes back what [`take_cursor`](Self::take_cursor) gave.
    pub(crate) fn give_back(&mut self, index: IndexId, cursor: RawCursor) {
        if cursor.reset() != 0 || self.hidden.contains(index) {
            self.close(cursor);
        } else {
            self.cursors.entry(index).or_default().free.push(cursor);
        }
    }

    fn prepare_for_pool(&mut self) {
        self.notice_hidden();
        if self.open > CURSORS_KEPT_MAX {
            let indexes: Vec<IndexId> = self.cursors.keys().copied().collect();
            for index in indexes {
                self.close_cursors(index);
            }
        }
    }
}

/// Idle sessions of one kind.
pub(crate) struct Pool {
    connection: Arc<Connection>,
    config: &'static CStr,
    hidden: Arc<Hidden>,
    idle: Mutex<Vec<Session>>,
}

impl Pool {
    pub(crate) fn new(connection: Arc<Connection>, config: &'static CStr, hidden: Arc<Hidden>) -> Arc<Self> {
        Arc::new(Pool { connection, config, hidden, idle: Mutex::default() })
    }

    /// The session used last, or a new one.
    pub(crate) fn get(self: &Arc<Self>) -> Result<PooledSession> {
        let idle = self.idle.lock().pop();
        let session = match idle {
            Some(session) => session,
            None => Session::new(self.connection.open_session(self.config)?, self.hidden.clone()),
        };
        Ok(PooledSession { session: Some(session), pool: self.clone() })
    }

    /// Closes what idle sessions have open on an index.
    pub(crate) fn close_cursors(&self, index: IndexId) {
        for session in self.idle.lock().iter_mut() {
            session.close_cursors(index);
        }
    }

    fn put(&self, mut session: Session) {
        session.prepare_for_pool();
        let mut idle = self.idle.lock();
        if idle.len() < SESSIONS_KEPT_MAX {
            idle.push(session);
        } else {
            drop(idle);
            drop(session);
        }
    }
}

/// A session that goes back to its pool when dropped. It must be in no transaction then.
pub(crate) struct PooledSession {
    /// `None` only while it is being dropped.
    session: Option<Session>,
    pool: Arc<Pool>,
}

impl std::ops::Deref for PooledSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        match &self.session {
            Some(session) => session,
            None => unreachable!("taken only by drop"),
        }
    }
}

impl std::ops::DerefMut for PooledSession {
    fn deref_mut(&mut self) -> &mut Session {
        match &mut self.session {
            Some(session) => session,
            None => unreachable!("taken only by drop"),
        }
    }
}

impl Drop for PooledSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.pool.put(session);
        }
    }
}
