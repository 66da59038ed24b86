//! Batches and bulk load.
//!
//! # Why no conflicts
//!
//! WiredTiger takes a batch's snapshot when it begins, and refuses to write a key that was changed since. As the
//! [contract](selkie_engine#no-write-write-conflicts) has it, everybody who has written a key of this batch has
//! committed before the batch began. So the check never strikes.
//!
//! # Why a commit never waits
//!
//! WiredTiger makes threads help with eviction when the cache fills, in `commit` as well; but `commit_ordered` is run by
//! the leader of a group, for all of them. So batches use sessions that need not help (`ignore_cache_size`), and when
//! [`Pressure`] is seen, the first `put` of a batch is done twice: first on a session that does have to help, in a transaction
//! that is then undone. So it is the transaction's own thread that waits for the cache, before it joins the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use selkie_engine::{BulkLoader, Engine, EngineError, IndexId, Result, Timestamp, WriteBatch};

use crate::handle::{RawCursor, RawSession};
use crate::session::{PooledSession, Why, uri};
use crate::{Shared, WiredTigerEngine, sys};

pub(crate) struct WiredTigerBatch {
    shared: Arc<Shared>,
    session: PooledSession,
    in_transaction: bool,
    /// A write has failed, so that what the transaction holds is not what the caller meant.
    failed: bool,
    /// Whether the next put must see to it that there is room in the cache.
    must_help: bool,
}

impl WiredTigerBatch {
    pub(crate) fn begin(shared: Arc<Shared>) -> Result<Self> {
        let session = shared.writers.get()?;
        session.raw.begin()?;
        let must_help = shared.pressure.look(&shared);
        Ok(WiredTigerBatch { shared, session, in_transaction: true, failed: false, must_help })
    }

    /// Writes on a session that has to help with eviction, and undoes it. Errors mean that the cache is in distress; the
    /// batch itself can still do its work.
    fn help_evict(&mut self, index: IndexId, key: &[u8], value: &[u8]) -> Result<()> {
        self.must_help = false;
        let mut session = self.shared.readers.get()?;
        session.raw.begin()?;
        if let Ok(cursor) = session.point_cursor(index) {
            let code = cursor.insert(key, value);
            tracing::trace!(code, "helped with eviction");
        }
        session.raw.rollback();
        Ok(())
    }

    fn wrote(&mut self, result: Result<()>) -> Result<()> {
        self.failed |= result.is_err();
        result
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.in_transaction) {
            self.session.raw.rollback();
        }
    }
}

impl WriteBatch for WiredTigerBatch {
    fn put(&mut self, index: IndexId, key: &[u8], value: &[u8]) -> Result<()> {
        let cursor = self.session.point_cursor(index)?;
        if key.is_empty() {
            return self.wrote(Err(EngineError::EmptyKey));
        }
        if self.must_help {
            self.help_evict(index, key, value)?;
        }
        let code = cursor.insert(key, value);
        let result = self.session.raw.check(code);
        self.wrote(result)
    }

    fn delete(&mut self, index: IndexId, key: &[u8]) -> Result<()> {
        let cursor = self.session.point_cursor(index)?;
        if key.is_empty() {
            return Ok(());
        }
        let result = match cursor.remove(key) {
            sys::WT_NOTFOUND => Ok(()),
            code => self.session.raw.check(code),
        };
        // Unlike a put, it may leave the cursor at the row; the leader should not have to let go of the page.
        let result = result.and_then(|()| self.session.raw.check(cursor.reset()));
        self.wrote(result)
    }

    fn commit_ordered(mut self: Box<Self>, timestamp: Timestamp) -> Result<()> {
        if self.failed {
            return Err(EngineError::Other { code: libc::EINVAL, message: "commit after a failed write".into() });
        }
        self.in_transaction = false;
        self.session.raw.commit_at(timestamp)
    }

    fn abort(mut self: Box<Self>) {
        self.end();
    }
}

impl Drop for WiredTigerBatch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether the cache is so full that writers should help to empty it, looked at from time to time.
pub(crate) struct Pressure {
    began: Instant,
    /// When it was looked at last, in milliseconds.
    looked_ms: AtomicU64,
    high: AtomicBool,
}

impl Pressure {
    /// How long a look is good for.
    const PERIOD_MS: u64 = 20;
    /// Parts of the cache, in percent, that make for pressure: just below WiredTiger's triggers of 95, 20 and 10.
    const USED_PERCENT: u64 = 93;
    const DIRTY_PERCENT: u64 = 18;
    const UPDATES_PERCENT: u64 = 9;

    pub(crate) fn new() -> Self {
        Pressure { began: Instant::now(), looked_ms: AtomicU64::new(0), high: AtomicBool::new(false) }
    }

    fn look(&self, shared: &Shared) -> bool {
        let now = self.began.elapsed().as_millis() as u64;
        let looked = self.looked_ms.load(Ordering::Relaxed);
        let due = now.saturating_sub(looked) >= Self::PERIOD_MS;
        if due && self.looked_ms.compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let high = self.measure(shared).unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot read the engine's statistics");
                true
            });
            self.high.store(high, Ordering::Relaxed);
        }
        self.high.load(Ordering::Relaxed)
    }

    fn measure(&self, shared: &Shared) -> Result<bool> {
        use sys::stat;
        let keys =
            [stat::CACHE_BYTES_MAX, stat::CACHE_BYTES_INUSE, stat::CACHE_BYTES_DIRTY, stat::CACHE_BYTES_UPDATES];
        let [max, used, dirty, updates] = shared.statistics(c"statistics:", keys)?;
        let over = |bytes: u64, percent: u64| bytes > max / 100 * percent;
        Ok(over(used, Self::USED_PERCENT)
            || over(dirty, Self::DIRTY_PERCENT)
            || over(updates, Self::UPDATES_PERCENT))
    }
}

pub(crate) struct WiredTigerBulkLoader {
    /// Before the session, so that it is closed before it.
    cursor: Option<RawCursor>,
    session: RawSession,
    shared: Arc<Shared>,
    index: IndexId,
    last_key: Option<Vec<u8>>,
}

// SAFETY: the cursor moves together with its session.
unsafe impl Send for WiredTigerBulkLoader {}

impl WiredTigerBulkLoader {
    /// Makes the index and begins to fill it. It is hidden until the end, as WiredTiger needs the file for itself.
    pub(crate) fn begin(engine: &WiredTigerEngine, index: IndexId) -> Result<Self> {
        engine.create_index(index)?;
        let shared = engine.shared.clone();
        shared.hidden.insert(index, Why::Loading);
        match Self::open(&shared, index) {
            Ok((session, cursor)) => {
                Ok(WiredTigerBulkLoader { cursor: Some(cursor), session, shared, index, last_key: None })
            }
            Err(error) => {
                shared.hidden.remove(index);
                shared.drop_index(index)?;
                Err(error)
            }
        }
    }

    fn open(shared: &Shared, index: IndexId) -> Result<(RawSession, RawCursor)> {
        let session = shared.connection.open_session(c"")?;
        let uri = uri(index)?;
        // A checkpoint may have hold of the file for a moment.
        let cursor = crate::retry_busy(|| {
            shared.close_idle_cursors(index);
            session.open_cursor(&uri, Some(c"bulk=true,skip_sort_check=true,checkpoint_wait=false"))
        })?;
        Ok((session, cursor.ok_or(EngineError::NotFound(index))?))
    }

    /// Ends the load and lets the index be seen.
    fn close(&mut self) -> Result<()> {
        match self.cursor.take() {
            Some(cursor) => {
                // SAFETY: the session is open, and the cursor was taken out of the only place where it is kept.
                let code = unsafe { cursor.close() };
                self.shared.hidden.remove(self.index);
                self.session.check(code)
            }
            None => Ok(()),
        }
    }
}

impl BulkLoader for WiredTigerBulkLoader {
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let Some(cursor) = self.cursor else { return Err(EngineError::Closed) };
        if key.is_empty() {
            return Err(EngineError::EmptyKey);
        }
        match &mut self.last_key {
            Some(last) if last.as_slice() >= key => return Err(EngineError::KeyOrder),
            Some(last) => {
                last.clear();
                last.extend_from_slice(key);
            }
            None => self.last_key = Some(key.to_vec()),
        }
        self.session.check(cursor.insert(key, value))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let closed = self.close();
        if closed.is_err() {
            let _ = self.shared.drop_index(self.index);
        }
        closed
    }
}

impl Drop for WiredTigerBulkLoader {
    fn drop(&mut self) {
        if self.cursor.is_some() {
            let dropped = self.close().and_then(|()| self.shared.drop_index(self.index));
            if let Err(error) = dropped {
                tracing::warn!(%error, index = %self.index, "dropping an index that was not loaded to its end");
            }
        }
    }
}
