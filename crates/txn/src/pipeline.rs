//! The commit pipeline: how many transactions become durable with one write and one sync.
//!
//! # Steps of a commit
//!
//! 1. The transaction's own thread, still holding its row locks, has written its write set into engine
//!    batches (in memory, visible to nobody) and its events into a buffer. It hands both to [`Pipeline::commit`] and
//!    enters the queue. Whoever finds the queue empty leads the next group.
//! 2. The leader takes the stage lock (so it waits until the group before is through), possibly waits for company
//!    (`binlog_commit_wait_count`, `binlog_commit_wait_usec`), and takes the whole queue.
//! 3. **Append**: all events with one write; the log numbers the transactions. The end position of a
//!    transaction's events is its commit timestamp.
//! 4. **Order**: for each transaction in log order `commit_ordered` of its batches, then its row locks go.
//!    From here on [`ReadAt::Latest`](selkie_engine::ReadAt) sees it; snapshots do not.
//! 5. **Sync**: one `fdatasync` (none or fewer when `sync_binlog` is not 1).
//! 6. **Durable**: the durable position moves to the group's end. New snapshots see the group; whoever waits in
//!    [`Pipeline::wait_durable`] for a position up to there is woken.
//! 7. Each follower is woken through its own parker with its own result.
//!
//! # Ordering rules
//!
//! * Positions within and across groups ascend, and `commit_ordered` is called in that order: the stage lock is held from 2 to 6.
//! * Locks go after `commit_ordered`: a later writer of a row finds the earlier one's value, and its events stand later in the log.
//! * The durable position moves only after the sync of everything before it, and never after a failure.
//!
//! # Failure
//!
//! * The append fails: nobody was told anything. The group's batches are aborted, its locks released.
//! * A sync fails: what is on the medium is unknown. The pipeline is *poisoned*: the group and everybody after it
//!   gets an error, the sync is never tried again, recovery decides at the next start.
//! * `commit_ordered` fails: the log says committed and the engine does not; poisoned as well.
//!
//! # Locks
//!
//! | lock | guards | held while |
//! |---|---|---|
//! | `queue` | the waiting members | pushing and taking, never during I/O |
//! | `stage` | the log | a whole group |
//! | `waiters` | who waits for durability | registering and waking |
//!
//! # Rejected
//!
//! A chain in which each thread does its own part and signals the next costs a wake-up per transaction on the
//! serial path; one broadcast for all followers wakes everybody to find out whose turn it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::sync::{Parker, Unparker};
use parking_lot::{Condvar, Mutex, RwLock};
use selkie_engine::{EngineError, Timestamp, WriteBatch};

use crate::error::{Result, TxnError};
use crate::locks::{HeldLocks, LockOwner, LockTable};
use crate::snapshots::Snapshots;

/// Why an append failed.
#[derive(Debug)]
pub enum AppendError {
    /// Nothing was written, and the log can go on (a full disk, a transaction too large).
    Refused(TxnError),
    /// The log is in an unknown state.
    Broken(String),
}

/// The log as the pipeline sees it: called by one leader at a time.
pub trait CommitLog: Send {
    /// A transaction's prepared events.
    type Events: Send;
    /// Appends the events of all members with one write. Returns the end position of each, ascending.
    fn append(&mut self, group: &mut [&mut Self::Events]) -> std::result::Result<Vec<Timestamp>, AppendError>;
    /// Makes everything appended durable. Called again only after success.
    fn sync(&mut self) -> std::result::Result<(), String>;
    /// Called instead of [`Self::sync`] for a group that `sync_binlog` leaves unsynced.
    fn leave_unsynced(&mut self) -> std::result::Result<(), String> {
        Ok(())
    }
    /// Called after each group: the place for rotation. An error poisons.
    fn after_group(&mut self) -> std::result::Result<(), String> {
        Ok(())
    }
}

/// Writes and commits a transaction's changes at a timestamp.
pub type LateWrites = Box<dyn FnOnce(Timestamp) -> std::result::Result<(), EngineError> + Send>;

/// A transaction ready to commit.
pub struct Member<E> {
    /// Its events.
    pub events: E,
    /// Its writes.
    pub batches: Vec<Box<dyn WriteBatch>>,
    /// The writes of a transaction too large to be held in engine batches: made by the leader once the timestamp is
    /// known, each part committed before the next begins, so that the engine's cache is never pinned by all of it.
    pub late: Option<LateWrites>,
    /// Its identity in the lock table.
    pub owner: Arc<LockOwner>,
    /// The locks to release.
    pub held: HeldLocks,
}

/// Settings that can change while the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitSettings {
    /// `sync_binlog`: 1 = every group, 0 = never, N = every Nth group.
    pub sync_binlog: u64,
    /// `binlog_commit_wait_count`
    pub wait_count: usize,
    /// `binlog_commit_wait_usec`
    pub wait_usec: u64,
}

impl Default for CommitSettings {
    fn default() -> Self {
        CommitSettings { sync_binlog: 1, wait_count: 0, wait_usec: 100_000 }
    }
}

/// Counters of the pipeline.
#[derive(Debug, Default)]
pub struct CommitCounters {
    /// `Binlog_commits`
    pub commits: AtomicU64,
    /// `Binlog_group_commits`
    pub groups: AtomicU64,
    /// `Binlog_group_commit_trigger_count`
    pub trigger_count: AtomicU64,
    /// `Binlog_group_commit_trigger_timeout`
    pub trigger_timeout: AtomicU64,
    /// Syncs done.
    pub syncs: AtomicU64,
    /// Groups by size: 1, 2, 3–4, 5–8, … members.
    pub group_sizes: [AtomicU64; 12],
}

struct Waiting<E> {
    member: Mutex<Option<Member<E>>>,
    result: Mutex<Option<Result<(Timestamp, E)>>>,
    done: AtomicBool,
    unparker: Unparker,
}

struct Stage<L> {
    log: L,
    groups_since_sync: u64,
}

/// The pipeline. One for a server.
pub struct Pipeline<L: CommitLog> {
    queue: Mutex<Vec<Arc<Waiting<L::Events>>>>,
    company: Condvar,
    stage: Mutex<Stage<L>>,
    settings: RwLock<CommitSettings>,
    poisoned: RwLock<Option<String>>,
    /// Why commits are refused for now: nearly full disk.
    refusing: RwLock<Option<String>>,
    waiters: Mutex<BTreeMap<(Timestamp, u64), Unparker>>,
    next_waiter: AtomicU64,
    /// End of the last ordered transaction, durable or not.
    ordered: AtomicU64,
    locks: Arc<LockTable>,
    snapshots: Arc<Snapshots>,
    /// Counters.
    pub counters: CommitCounters,
}

thread_local! {
    static PARKER: Parker = Parker::new();
}

impl<L: CommitLog> Pipeline<L> {
    /// A pipeline over an open log. The snapshots' durable position is the log's end.
    pub fn new(log: L, locks: Arc<LockTable>, snapshots: Arc<Snapshots>) -> Pipeline<L> {
        let end = snapshots.durable();
        locks.set_durable(end);
        Pipeline {
            queue: Mutex::default(),
            company: Condvar::new(),
            stage: Mutex::new(Stage { log, groups_since_sync: 0 }),
            settings: RwLock::default(),
            poisoned: RwLock::default(),
            refusing: RwLock::default(),
            waiters: Mutex::default(),
            next_waiter: AtomicU64::new(0),
            ordered: AtomicU64::new(end),
            locks,
            snapshots,
            counters: CommitCounters::default(),
        }
    }

    /// Changes the settings.
    pub fn configure(&self, settings: CommitSettings) {
        *self.settings.write() = settings;
        self.company.notify_all();
    }

    /// The settings.
    pub fn settings(&self) -> CommitSettings {
        *self.settings.read()
    }

    /// The end of the last transaction that [`ReadAt::Latest`](selkie_engine::ReadAt) can see.
    pub fn ordered(&self) -> Timestamp {
        self.ordered.load(Ordering::Acquire)
    }

    /// Why no more writes are taken, if so.
    pub fn poisoned(&self) -> Option<String> {
        self.poisoned.read().clone()
    }

    /// Stops taking writes.
    pub fn poison(&self, why: String) {
        let mut p = self.poisoned.write();
        if p.is_none() {
            tracing::error!("no more writes are taken: {why}");
            *p = Some(why);
        }
        drop(p);
        for (_, u) in std::mem::take(&mut *self.waiters.lock()) {
            u.unpark();
        }
    }

    /// Refuses commits with [`TxnError::DiskFull`] until called with `None`: while there is still room for what the engine
    /// must write of the commits before.
    pub fn refuse(&self, why: Option<String>) {
        *self.refusing.write() = why;
    }

    /// Runs `f` on the log between two groups (rotation, SHOW MASTER STATUS, purge, a DDL-free moment).
    pub fn with_log<R>(&self, f: impl FnOnce(&mut L) -> R) -> R {
        f(&mut self.stage.lock().log)
    }

    /// Syncs the log now, whatever `sync_binlog` says, and returns the position that is then safe on the medium.
    pub fn sync_now(&self) -> Result<Timestamp> {
        let mut stage = self.stage.lock();
        self.check_poison()?;
        let end = self.ordered();
        if let Err(why) = stage.log.sync() {
            drop(stage);
            self.poison(why.clone());
            return Err(TxnError::LogPoisoned(why));
        }
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        stage.groups_since_sync = 0;
        Ok(end)
    }

    fn check_poison(&self) -> Result<()> {
        match &*self.poisoned.read() {
            None => Ok(()),
            Some(why) => Err(TxnError::LogPoisoned(why.clone())),
        }
    }

    /// Commits. Returns the commit timestamp and the events (for their assigned GTID) once the log is durable up
    /// to there.
    pub fn commit(&self, member: Member<L::Events>) -> Result<(Timestamp, L::Events)> {
        let unparker = PARKER.with(|p| p.unparker().clone());
        let waiting = Arc::new(Waiting {
            member: Mutex::new(Some(member)),
            result: Mutex::new(None),
            done: AtomicBool::new(false),
            unparker,
        });
        let leads = {
            let mut queue = self.queue.lock();
            queue.push(waiting.clone());
            queue.len() == 1
        };
        if leads {
            self.lead();
        } else {
            self.company.notify_one();
            PARKER.with(|p| {
                while !waiting.done.load(Ordering::Acquire) {
                    p.park();
                }
            });
        }
        let result = waiting.result.lock().take();
        result.unwrap_or_else(|| Err(TxnError::Log("the commit was lost by its leader".into())))
    }

    fn lead(&self) {
        let mut stage = self.stage.lock();
        let group = self.gather();
        let mut members: Vec<Member<L::Events>> = group.iter().filter_map(|w| w.member.lock().take()).collect();
        let outcome = self.run_group(&mut stage, &mut members);
        drop(stage);
        match outcome {
            Ok(ends) => {
                for ((w, m), end) in group.iter().zip(members).zip(ends) {
                    Self::finish(w, Ok((end, m.events)));
                }
            }
            Err(make_error) => {
                for w in &group {
                    Self::finish(w, Err(make_error()));
                }
            }
        }
    }

    fn finish(w: &Waiting<L::Events>, result: Result<(Timestamp, L::Events)>) {
        *w.result.lock() = Some(result);
        w.done.store(true, Ordering::Release);
        w.unparker.unpark();
    }

    /// Takes the queue, having waited for company as configured.
    fn gather(&self) -> Vec<Arc<Waiting<L::Events>>> {
        let settings = self.settings();
        let mut queue = self.queue.lock();
        if settings.wait_count > queue.len() && settings.wait_usec > 0 {
            let deadline = Instant::now() + Duration::from_micros(settings.wait_usec);
            loop {
                let timed_out = self.company.wait_until(&mut queue, deadline).timed_out();
                if queue.len() >= settings.wait_count {
                    self.counters.trigger_count.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                if timed_out {
                    self.counters.trigger_timeout.fetch_add(1, Ordering::Relaxed);
                    break;
                }
            }
        }
        std::mem::take(&mut *queue)
    }

    /// Steps 3 to 6. The error is a maker, since every member gets its own.
    #[allow(clippy::type_complexity)]
    fn run_group(
        &self,
        stage: &mut Stage<L>,
        members: &mut [Member<L::Events>],
    ) -> std::result::Result<Vec<Timestamp>, Box<dyn Fn() -> TxnError>> {
        if let Some(why) = self.poisoned() {
            self.roll_back(members);
            return Err(Box::new(move || TxnError::LogPoisoned(why.clone())));
        }
        if let Some(why) = self.refusing.read().clone() {
            self.roll_back(members);
            return Err(Box::new(move || TxnError::DiskFull(why.clone())));
        }
        let mut events: Vec<&mut L::Events> = members.iter_mut().map(|m| &mut m.events).collect();
        let ends = match stage.log.append(&mut events) {
            Ok(ends) => ends,
            Err(AppendError::Refused(e)) => {
                self.roll_back(members);
                let text = e.to_string();
                return Err(Box::new(move || match &e {
                    TxnError::DiskFull(t) => TxnError::DiskFull(t.clone()),
                    _ => TxnError::Log(text.clone()),
                }));
            }
            Err(AppendError::Broken(why)) => {
                self.poison(why.clone());
                self.roll_back(members);
                return Err(Box::new(move || TxnError::Log(why.clone())));
            }
        };
        for (m, end) in members.iter_mut().zip(&ends) {
            if let Some(late) = m.late.take()
                && let Err(e) = late(*end)
            {
                self.poison(format!("the engine could not write what the log has: {e}"));
            }
            for batch in m.batches.drain(..) {
                if let Err(e) = batch.commit_ordered(*end) {
                    self.poison(format!("the engine could not commit what the log has: {e}"));
                }
            }
            self.ordered.store(*end, Ordering::Release);
            self.locks.release_all(&m.owner, &mut m.held, Some(*end));
        }
        self.counters.commits.fetch_add(members.len() as u64, Ordering::Relaxed);
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        let class = (usize::BITS - members.len().saturating_sub(1).leading_zeros()) as usize;
        self.counters.group_sizes[class.min(11)].fetch_add(1, Ordering::Relaxed);

        stage.groups_since_sync += 1;
        let n = self.settings().sync_binlog;
        if n > 0 && stage.groups_since_sync >= n {
            if let Err(why) = stage.log.sync() {
                self.poison(why.clone());
                return Err(Box::new(move || TxnError::CommitUnknown(why.clone())));
            }
            self.counters.syncs.fetch_add(1, Ordering::Relaxed);
            stage.groups_since_sync = 0;
        } else if let Err(why) = stage.log.leave_unsynced() {
            self.poison(why);
        }
        if let Some(why) = self.poisoned() {
            return Err(Box::new(move || TxnError::CommitUnknown(why.clone())));
        }
        if let Some(end) = ends.last() {
            self.publish_durable(*end);
        }
        if let Err(why) = stage.log.after_group() {
            self.poison(why);
        }
        Ok(ends)
    }

    fn roll_back(&self, members: &mut [Member<L::Events>]) {
        for m in members {
            for b in m.batches.drain(..) {
                b.abort();
            }
            self.locks.release_all(&m.owner, &mut m.held, None);
        }
    }

    fn publish_durable(&self, end: Timestamp) {
        self.snapshots.set_durable(end);
        self.locks.set_durable(end);
        let mut waiters = self.waiters.lock();
        if waiters.is_empty() {
            return;
        }
        let later = waiters.split_off(&(end + 1, 0));
        let due = std::mem::replace(&mut *waiters, later);
        drop(waiters);
        for (_, u) in due {
            u.unpark();
        }
    }

    /// Waits until everything up to `position` is durable: what an answer that may depend on it has to do.
    pub fn wait_durable(&self, position: Timestamp) -> Result<()> {
        if position <= self.snapshots.durable() {
            return Ok(());
        }
        let id = self.next_waiter.fetch_add(1, Ordering::Relaxed);
        let unparker = PARKER.with(|p| p.unparker().clone());
        self.waiters.lock().insert((position, id), unparker);
        PARKER.with(|p| {
            while position > self.snapshots.durable() {
                if let Err(e) = self.check_poison() {
                    self.waiters.lock().remove(&(position, id));
                    return Err(e);
                }
                p.park_timeout(Duration::from_secs(1));
            }
            self.waiters.lock().remove(&(position, id));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::{Mode, Wait};
    use selkie_engine::IndexId;

    #[derive(Default)]
    struct Shared {
        appended: Mutex<Vec<u64>>,
        syncs: AtomicU64,
        gate: Mutex<bool>,
        opened: Condvar,
        fail_sync: AtomicBool,
        fail_append: AtomicBool,
    }

    struct FakeLog(Arc<Shared>, u64);

    impl CommitLog for FakeLog {
        type Events = u64;
        fn append(&mut self, group: &mut [&mut u64]) -> std::result::Result<Vec<Timestamp>, AppendError> {
            if self.0.fail_append.load(Ordering::SeqCst) {
                return Err(AppendError::Refused(TxnError::DiskFull("full".into())));
            }
            let mut ends = Vec::new();
            for e in group {
                self.1 += 10;
                ends.push(self.1);
                self.0.appended.lock().push(**e);
            }
            Ok(ends)
        }
        fn sync(&mut self) -> std::result::Result<(), String> {
            let mut open = self.0.gate.lock();
            while !*open {
                self.0.opened.wait(&mut open);
            }
            self.0.syncs.fetch_add(1, Ordering::SeqCst);
            if self.0.fail_sync.load(Ordering::SeqCst) { Err("sync failed".into()) } else { Ok(()) }
        }
    }

    fn open(s: &Shared) {
        *s.gate.lock() = true;
        s.opened.notify_all();
    }

    fn pipeline() -> (Arc<Shared>, Arc<Pipeline<FakeLog>>, Arc<LockTable>) {
        let shared = Arc::new(Shared::default());
        let locks = Arc::new(LockTable::new());
        let p = Pipeline::new(FakeLog(shared.clone(), 100), locks.clone(), Arc::new(Snapshots::new(100)));
        (shared, Arc::new(p), locks)
    }

    fn member(id: u64) -> Member<u64> {
        Member { events: id, batches: Vec::new(), late: None, owner: LockOwner::new(id), held: Vec::new() }
    }

    #[test]
    fn those_who_come_during_a_sync_share_the_next_one() {
        let (shared, p, _) = pipeline();
        let first = { let p = p.clone(); std::thread::spawn(move || p.commit(member(1)).unwrap().0) };
        while shared.appended.lock().is_empty() {
            std::thread::yield_now();
        }
        let rest: Vec<_> = (2..10)
            .map(|i| { let p = p.clone(); std::thread::spawn(move || p.commit(member(i)).unwrap().0) })
            .collect();
        while p.queue.lock().len() < 8 {
            std::thread::yield_now();
        }
        open(&shared);
        assert_eq!(first.join().unwrap(), 110);
        let mut ends: Vec<_> = rest.into_iter().map(|t| t.join().unwrap()).collect();
        ends.sort();
        assert_eq!(ends, (12..20).map(|i| i * 10).collect::<Vec<_>>());
        assert_eq!(shared.syncs.load(Ordering::SeqCst), 2);
        assert_eq!(p.counters.groups.load(Ordering::SeqCst), 2);
        assert_eq!(p.snapshots.durable(), 190);
    }

    #[test]
    fn locks_go_before_the_sync_and_tell_what_to_wait_for() {
        let (shared, p, locks) = pipeline();
        let mut m = member(1);
        locks.acquire(&m.owner, &mut m.held, IndexId(1), b"k", Mode::Exclusive, Wait::No).unwrap();
        let t = { let p = p.clone(); std::thread::spawn(move || p.commit(m).map(|r| r.0)) };
        let other = LockOwner::new(2);
        let mut held = Vec::new();
        let observed = locks
            .acquire(&other, &mut held, IndexId(1), b"k", Mode::Exclusive, Wait::For(Duration::from_secs(30)))
            .unwrap();
        assert_eq!(observed, 110);
        assert_eq!(p.snapshots.durable(), 100);
        let waiter = { let p = p.clone(); std::thread::spawn(move || p.wait_durable(observed).is_ok()) };
        open(&shared);
        assert!(waiter.join().unwrap());
        assert_eq!(t.join().unwrap().unwrap(), 110);
    }

    #[test]
    fn a_failed_sync_is_never_tried_again() {
        let (shared, p, _) = pipeline();
        open(&shared);
        shared.fail_sync.store(true, Ordering::SeqCst);
        assert!(matches!(p.commit(member(1)), Err(TxnError::CommitUnknown(_))));
        shared.fail_sync.store(false, Ordering::SeqCst);
        assert!(matches!(p.commit(member(2)), Err(TxnError::LogPoisoned(_))));
        assert!(matches!(p.wait_durable(110), Err(TxnError::LogPoisoned(_))));
        assert_eq!(shared.syncs.load(Ordering::SeqCst), 1);
        assert_eq!(p.snapshots.durable(), 100);
    }

    #[test]
    fn commits_are_refused_while_the_disk_is_nearly_full() {
        let (shared, p, locks) = pipeline();
        open(&shared);
        p.refuse(Some("/data".into()));
        let mut m = member(1);
        locks.acquire(&m.owner, &mut m.held, IndexId(1), b"k", Mode::Exclusive, Wait::No).unwrap();
        assert!(matches!(p.commit(m), Err(TxnError::DiskFull(_))));
        assert_eq!((locks.resources(), shared.appended.lock().len()), (0, 0));
        p.refuse(None);
        assert_eq!(p.commit(member(2)).unwrap().0, 110);
    }

    #[test]
    fn a_refused_append_leaves_the_pipeline_usable() {
        let (shared, p, locks) = pipeline();
        open(&shared);
        shared.fail_append.store(true, Ordering::SeqCst);
        let mut m = member(1);
        locks.acquire(&m.owner, &mut m.held, IndexId(1), b"k", Mode::Exclusive, Wait::No).unwrap();
        assert!(matches!(p.commit(m), Err(TxnError::DiskFull(_))));
        assert_eq!(locks.resources(), 0);
        shared.fail_append.store(false, Ordering::SeqCst);
        assert_eq!(p.commit(member(2)).unwrap().0, 110);
    }
}
