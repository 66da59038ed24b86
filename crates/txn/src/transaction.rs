//! One session's transaction: what it reads, locks and writes until it commits or rolls back.
//!
//! A [`Transaction`] lives as long as its session and is used again for each transaction, so that readers,
//! buffers and its snapshot slot are made once. The session decides when a transaction begins and ends
//! (autocommit); this module knows nothing of statements but their beginning and end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_engine::{Engine, IndexId, ReadAt, Reader, Timestamp, WriteBatch};

use crate::error::{Result, TxnError};
use crate::locks::{HeldLocks, LockOwner, Mode, Wait};
use crate::manager::{TxnManager, is_volatile};
use crate::pipeline::{CommitLog, LateWrites, Member};
use crate::scan::{OnRow, Read, Scan, walk};
use crate::snapshots::SnapshotSlot;
use crate::write_set::WriteSet;

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// READ UNCOMMITTED: served as READ COMMITTED, which is no weaker.
    ReadUncommitted,
    /// A snapshot for each statement.
    ReadCommitted,
    /// One snapshot; writing a row that changed since is an error (1020).
    RepeatableRead,
    /// Repeatable read in which plain reads take shared locks, the scanned tables included.
    Serializable,
}

/// What a statement may be rolled back to.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    writes: usize,
}

/// About how large one engine batch of a transaction gets: batches are held in the engine's cache whole.
pub const BATCH_BYTES: usize = 4 << 20;

/// Writes a write set to the engine and commits it at `at`, in parts of about [`BATCH_BYTES`]. With `pass_missing`, writes to
/// indexes that are not there are passed over (replay of a log whose later part drops them).
pub fn write_in_parts(
    engine: &dyn Engine,
    writes: &WriteSet,
    at: Timestamp,
    pass_missing: bool,
) -> std::result::Result<(), selkie_engine::EngineError> {
    let mut batch: Option<Box<dyn WriteBatch>> = None;
    let mut bytes = 0;
    for (index, key, value) in writes.iter().filter(|(index, ..)| !is_volatile(*index)) {
        let open = match &mut batch {
            Some(b) => b,
            none => none.insert(engine.begin_write()?),
        };
        let written = match value {
            Some(v) => open.put(index, key, v),
            None => open.delete(index, key),
        };
        match written {
            Ok(()) => {}
            Err(selkie_engine::EngineError::NotFound(_)) if pass_missing => {}
            Err(e) => return Err(e),
        }
        bytes += key.len() + value.map_or(0, <[u8]>::len) + 64;
        if bytes >= BATCH_BYTES
            && let Some(full) = batch.take()
        {
            full.commit_ordered(at)?;
            bytes = 0;
        }
    }
    match batch {
        Some(b) => b.commit_ordered(at),
        None => Ok(()),
    }
}

/// A session's transaction.
pub struct Transaction<L: CommitLog> {
    manager: Arc<TxnManager<L>>,
    owner: Arc<LockOwner>,
    held: HeldLocks,
    writes: WriteSet,
    slot: Arc<SnapshotSlot>,
    snapshot: Option<Timestamp>,
    isolation: Isolation,
    /// Whether the snapshot outlives the statement.
    multi_statement: bool,
    /// Whether the snapshot was taken by an earlier statement of this transaction.
    snapshot_is_old: bool,
    observed: Timestamp,
    snapshot_reader: Option<Box<dyn Reader>>,
    latest_reader: Option<Box<dyn Reader>>,
    volatile_reader: Option<Box<dyn Reader>>,
    /// `innodb_lock_wait_timeout`
    pub lock_wait_timeout: Duration,
    compare: Vec<u8>,
}

impl<L: CommitLog> Transaction<L> {
    pub(crate) fn new(manager: Arc<TxnManager<L>>) -> Transaction<L> {
        let owner = LockOwner::new(manager.next_owner_id());
        let slot = manager.snapshots.register();
        Transaction {
            manager,
            owner,
            held: Vec::new(),
            writes: WriteSet::default(),
            slot,
            snapshot: None,
            isolation: Isolation::RepeatableRead,
            multi_statement: false,
            snapshot_is_old: false,
            observed: 0,
            snapshot_reader: None,
            latest_reader: None,
            volatile_reader: None,
            lock_wait_timeout: Duration::from_secs(50),
            compare: Vec::new(),
        }
    }

    /// The manager behind it.
    pub fn manager(&self) -> &Arc<TxnManager<L>> {
        &self.manager
    }

    /// Its identity in the lock table; `kill` on it ends a wait.
    pub fn owner(&self) -> &Arc<LockOwner> {
        &self.owner
    }

    /// Begins: `multi_statement` when BEGIN was given or autocommit is off.
    pub fn begin(&mut self, isolation: Isolation, multi_statement: bool) {
        self.isolation = isolation;
        self.multi_statement = multi_statement;
    }

    /// The isolation level in force.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Whether plain reads must lock.
    pub fn reads_lock(&self) -> bool {
        self.isolation == Isolation::Serializable && self.multi_statement
    }

    /// Whether statements that write must find their rows in the transaction's snapshot (it has one from an earlier
    /// statement), so that a row changed since is noticed.
    pub fn writes_at_snapshot(&self) -> bool {
        self.snapshot_is_old && self.isolation >= Isolation::RepeatableRead
    }

    /// Begins a statement and returns the mark to roll it back to.
    pub fn begin_statement(&mut self) -> Mark {
        self.owner.reset_kill();
        if self.snapshot.is_some() {
            if self.isolation <= Isolation::ReadCommitted || !self.multi_statement {
                self.drop_snapshot();
            } else {
                self.snapshot_is_old = true;
            }
        }
        self.mark()
    }

    /// A mark (savepoint).
    pub fn mark(&self) -> Mark {
        Mark { writes: self.writes.mark() }
    }

    /// Takes back what was written since the mark; locks stay, as in InnoDB.
    pub fn rollback_to(&mut self, mark: Mark) {
        self.writes.rollback_to(mark.writes);
    }

    /// Ends a statement that read only: releases its snapshot unless the transaction keeps it.
    pub fn end_statement(&mut self) {
        if self.isolation <= Isolation::ReadCommitted || !self.multi_statement {
            self.drop_snapshot();
        }
    }

    /// Whether anything was written (volatile tables included).
    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Bytes of the write set.
    pub fn write_bytes(&self) -> usize {
        self.writes.bytes()
    }

    /// Number of locks held.
    pub fn locks_held(&self) -> usize {
        self.held.len()
    }

    /// The snapshot's position; taken now if there is none.
    pub fn snapshot(&mut self) -> Timestamp {
        match self.snapshot {
            Some(at) => at,
            None => {
                let at = self.manager.snapshots.take(&self.slot);
                self.snapshot = Some(at);
                self.snapshot_is_old = false;
                at
            }
        }
    }

    fn drop_snapshot(&mut self) {
        if self.snapshot.take().is_some() {
            // The reader goes first: it must not outlive what the slot protects.
            self.snapshot_reader = None;
            self.manager.snapshots.release(&self.slot);
        }
        self.snapshot_is_old = false;
    }

    fn reader(&mut self, index: IndexId, read: Read) -> Result<&dyn Reader> {
        if is_volatile(index) {
            if self.volatile_reader.is_none() {
                self.volatile_reader = Some(self.manager.volatile.read(ReadAt::Latest)?);
            }
            return self.volatile_reader.as_deref().ok_or(TxnError::Log("no reader".into()));
        }
        let engine = &self.manager.engine;
        match read {
            Read::Latest => {
                if self.latest_reader.is_none() {
                    self.latest_reader = Some(engine.read(ReadAt::Latest)?);
                }
                self.latest_reader.as_deref().ok_or(TxnError::Log("no reader".into()))
            }
            Read::Snapshot => {
                let at = match self.snapshot {
                    Some(at) => at,
                    None => {
                        let at = self.manager.snapshots.take(&self.slot);
                        self.snapshot = Some(at);
                        self.snapshot_is_old = false;
                        at
                    }
                };
                match &mut self.snapshot_reader {
                    Some(r) if r.read_at() == ReadAt::At(at) => {}
                    Some(r) => r.set_read_at(ReadAt::At(at))?,
                    none => *none = Some(engine.read(ReadAt::At(at))?),
                }
                self.snapshot_reader.as_deref().ok_or(TxnError::Log("no reader".into()))
            }
        }
    }

    /// Looks a key up and hands its value to `found`, the transaction's own writes first. Returns whether it is there.
    pub fn get_with(&mut self, index: IndexId, key: &[u8], read: Read, found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        match self.writes.get(index, key) {
            Some(Some(value)) => {
                found(value);
                Ok(true)
            }
            Some(None) => Ok(false),
            None => Ok(self.reader(index, read)?.get_with(index, key, found)?),
        }
    }

    /// Looks a key up; its value replaces what `out` holds.
    pub fn get(&mut self, index: IndexId, key: &[u8], read: Read, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        self.get_with(index, key, read, &mut |v| out.extend_from_slice(v))
    }

    /// Gives the next rows of a scan, at most `max`, to `on_row`, which returns whether to go on.
    pub fn scan<E: From<TxnError>>(
        &mut self,
        scan: &mut Scan,
        max: usize,
        on_row: OnRow<'_, E>,
    ) -> std::result::Result<(), E> {
        if scan.done {
            return Ok(());
        }
        self.reader(scan.index, scan.read)?;
        let reader = if is_volatile(scan.index) {
            self.volatile_reader.as_deref()
        } else if scan.read == Read::Latest {
            self.latest_reader.as_deref()
        } else {
            self.snapshot_reader.as_deref()
        };
        let Some(reader) = reader else { return Err(TxnError::Log("no reader".into()).into()) };
        let mut cursor = reader.cursor(scan.index).map_err(TxnError::from)?;
        walk(scan, &mut *cursor, self.writes.overlay(scan.index), max, on_row)
    }

    /// Locks a key (a row, a unique key) or with an empty key the whole index.
    pub fn lock(&mut self, index: IndexId, key: &[u8], mode: Mode, wait: Option<Wait>) -> Result<()> {
        if is_volatile(index) {
            return Ok(());
        }
        let wait = wait.unwrap_or(Wait::For(self.lock_wait_timeout));
        let locks = &self.manager.locks;
        let observed = locks.acquire(&self.owner, &mut self.held, index, key, mode, wait)?;
        self.observed = self.observed.max(observed);
        Ok(())
    }

    /// Locks a row and reads its newest version. Under REPEATABLE READ a row that changed since an earlier
    /// statement's snapshot is [`TxnError::SnapshotConflict`] (it does not apply to the transaction's own changes).
    pub fn lock_and_get(
        &mut self,
        index: IndexId,
        key: &[u8],
        mode: Mode,
        wait: Option<Wait>,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        self.lock(index, key, mode, wait)?;
        let own = self.writes.get(index, key).is_some();
        let there = self.get(index, key, Read::Latest, out)?;
        if self.snapshot_is_old && !own && !is_volatile(index) && self.isolation >= Isolation::RepeatableRead {
            let mut before = std::mem::take(&mut self.compare);
            let was = self.get(index, key, Read::Snapshot, &mut before);
            let changed = was.as_ref().is_ok_and(|w| *w != there || before != *out);
            self.compare = before;
            was?;
            if changed {
                return Err(TxnError::SnapshotConflict);
            }
        }
        Ok(there)
    }

    /// Gives back locks taken since the mark: rows that a statement looked at and did not change, where the isolation
    /// level allows it.
    pub fn unlock_since(&mut self, locks_held: usize) {
        let manager = self.manager.clone();
        manager.locks.release_from(&self.owner, &mut self.held, locks_held, None);
    }

    /// Writes a key. The caller holds its lock.
    pub fn put(&mut self, index: IndexId, key: &[u8], value: Vec<u8>) {
        self.owner.weight.fetch_add(1, Ordering::Relaxed);
        self.writes.set(index, key, Some(value));
    }

    /// Deletes a key. The caller holds its lock.
    pub fn delete(&mut self, index: IndexId, key: &[u8]) {
        self.owner.weight.fetch_add(1, Ordering::Relaxed);
        self.writes.set(index, key, None);
    }

    /// The log position that an answer given now must wait for: see [`Self::wait_answerable`].
    pub fn observed(&self) -> Timestamp {
        self.observed
    }

    /// Waits until everything that locking reads of this statement saw is durable. To be called before an
    /// answer, an error included, is sent.
    pub fn wait_answerable(&mut self) -> Result<()> {
        let observed = std::mem::take(&mut self.observed);
        if observed == 0 { Ok(()) } else { self.manager.pipeline.wait_durable(observed) }
    }

    /// Commits. `events` is what the log gets; `None` when nothing durable was changed (volatile tables only).
    /// Returns the commit's position and the events with what the log assigned. Afterwards the transaction is over, whatever the result.
    pub fn commit(&mut self, events: Option<L::Events>) -> Result<Option<(Timestamp, L::Events)>> {
        self.drop_snapshot();
        let result = self.commit_writes(events);
        self.finish();
        result
    }

    fn commit_writes(&mut self, events: Option<L::Events>) -> Result<Option<(Timestamp, L::Events)>> {
        let manager = self.manager.clone();
        let mut volatile = None;
        let mut durable: Option<Box<dyn WriteBatch>> = None;
        let large = self.writes.bytes() > BATCH_BYTES;
        for (index, key, value) in self.writes.iter() {
            let batch = if is_volatile(index) {
                volatile.get_or_insert(manager.volatile.begin_write()?)
            } else if large {
                continue;
            } else {
                match &mut durable {
                    Some(b) => b,
                    none => none.insert(manager.engine.begin_write()?),
                }
            };
            match value {
                Some(v) => batch.put(index, key, v)?,
                None => batch.delete(index, key)?,
            }
        }
        let Some(events) = events else {
            debug_assert!(durable.is_none() && !large, "durable writes need events");
            if let Some(b) = volatile {
                b.commit_ordered(manager.pipeline.ordered().max(1) + 1)?;
            }
            return Ok(None);
        };
        let late = large.then(|| {
            let (engine, writes) = (manager.engine.clone(), std::mem::take(&mut self.writes));
            Box::new(move |at| write_in_parts(&*engine, &writes, at, false)) as LateWrites
        });
        let member = Member {
            events,
            late,
            batches: durable.into_iter().chain(volatile).collect(),
            owner: self.owner.clone(),
            held: std::mem::take(&mut self.held),
        };
        // An answer to a commit waits for the commit itself, which lies behind all that was observed.
        manager.pipeline.commit(member).map(Some)
    }

    /// Rolls back.
    pub fn rollback(&mut self) {
        self.drop_snapshot();
        self.finish();
    }

    fn finish(&mut self) {
        self.writes.clear();
        let manager = self.manager.clone();
        manager.locks.release_all(&self.owner, &mut self.held, None);
        self.owner.weight.store(0, Ordering::Relaxed);
        self.multi_statement = false;
        self.latest_reader = None;
        self.volatile_reader = None;
    }
}

impl<L: CommitLog> Drop for Transaction<L> {
    fn drop(&mut self) {
        self.rollback();
    }
}
