//! Row and table locks: who may change what until its commit is ordered.
//!
//! A lock names a key of an index (a row, or a unique key that is about to exist), or with an empty
//! key the whole index (intention locks, LOCK TABLES, serializable scans). The table of locks is
//! sharded by the hash of that name; each resource has its granted locks and a FIFO queue.
//!
//! Rules
//! 1. A request is granted when it is compatible with all granted locks of *others* and nobody waits before it;
//!    a holder that asks for more goes to the front of the queue.
//! 2. Before a request sleeps it looks for a cycle of waits. The edges are read from the queues when they are
//!    needed, so that none can be stale: the last request that closes a cycle finds all others queued.
//! 3. The victim is the transaction of the cycle with the least weight (rows written); it gets
//!    [`TxnError::Deadlock`] whether it is the one asking or another that sleeps.
//! 4. Locks go when the commit is *ordered* in the log, before it is durable. The resource then keeps the
//!    commit's position until that is durable, so that whoever locks it next knows what its answer must wait for.
//!
//! The module knows nothing of SQL, engines or the log's contents.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashbrown::{Equivalent, HashMap};
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxBuildHasher;
use selkie_engine::{IndexId, Timestamp};
use smallvec::SmallVec;

use crate::error::{Result, TxnError};

/// Lock modes. Rows use `Shared` and `Exclusive`; whole indexes use all four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Somebody reads rows under shared locks.
    IntentionShared,
    /// Somebody changes rows.
    IntentionExclusive,
    /// Reads all.
    Shared,
    /// Changes.
    Exclusive,
}

impl Mode {
    fn compatible(self, other: Mode) -> bool {
        use Mode::*;
        match (self, other) {
            (Exclusive, _) | (_, Exclusive) => false,
            (IntentionShared, _) | (_, IntentionShared) => true,
            (IntentionExclusive, IntentionExclusive) => true,
            (Shared, Shared) => true,
            _ => false,
        }
    }

    /// Whether holding `self` makes asking for `other` unnecessary.
    fn covers(self, other: Mode) -> bool {
        use Mode::*;
        self == other || self == Exclusive || other == IntentionShared
    }
}

/// How long a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// At most so long.
    For(Duration),
    /// Not at all: [`TxnError::LockNotAvailable`].
    No,
}

/// A transaction as the lock table sees it.
#[derive(Debug)]
pub struct LockOwner {
    /// Unique number.
    pub id: u64,
    /// Rows written so far: what a deadlock victim would lose.
    pub weight: AtomicU64,
    /// Set by KILL.
    killed: AtomicBool,
    /// The request it sleeps on.
    sleeping: Mutex<Option<Arc<Request>>>,
}

impl LockOwner {
    /// A new owner. Ids must be unique among living owners.
    pub fn new(id: u64) -> Arc<LockOwner> {
        Arc::new(LockOwner { id, weight: AtomicU64::new(0), killed: AtomicBool::new(false), sleeping: Mutex::new(None) })
    }

    /// Makes a current or future wait fail with [`TxnError::Killed`].
    pub fn kill(&self) {
        self.killed.store(true, Ordering::SeqCst);
        if let Some(request) = self.sleeping.lock().as_ref() {
            request.decide(Decision::Killed);
        }
    }

    /// Forgets a KILL QUERY, for the next statement.
    pub fn reset_kill(&self) {
        self.killed.store(false, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Pending,
    Granted,
    Deadlock,
    Killed,
}

#[derive(Debug)]
struct Request {
    owner: Arc<LockOwner>,
    mode: Mode,
    resource: Resource,
    decision: Mutex<Decision>,
    woken: Condvar,
}

impl Request {
    /// The first decision stands.
    fn decide(&self, d: Decision) {
        let mut now = self.decision.lock();
        if *now == Decision::Pending {
            *now = d;
            self.woken.notify_one();
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Resource {
    index: u64,
    key: SmallVec<[u8; 24]>,
}

#[derive(Hash)]
struct ResourceRef<'a> {
    index: u64,
    key: &'a [u8],
}

impl Equivalent<Resource> for ResourceRef<'_> {
    fn equivalent(&self, r: &Resource) -> bool {
        self.index == r.index && self.key == &r.key[..]
    }
}

#[derive(Debug, Default)]
struct Queue {
    granted: SmallVec<[(Arc<LockOwner>, Mode); 1]>,
    waiting: VecDeque<Arc<Request>>,
    /// Position of the last commit that changed the resource, while that may not be durable.
    last_commit: Timestamp,
}

impl Queue {
    fn compatible_with_granted(&self, owner: u64, mode: Mode) -> bool {
        self.granted.iter().all(|(o, m)| o.id == owner || m.compatible(mode))
    }

    fn add(&mut self, owner: &Arc<LockOwner>, mode: Mode) {
        match self.granted.iter_mut().find(|(o, _)| o.id == owner.id) {
            // Shared and IntentionExclusive together are as good as nothing less than Exclusive.
            Some((_, m)) if *m != mode && !m.covers(mode) && !mode.covers(*m) => *m = Mode::Exclusive,
            Some((_, m)) => *m = (*m).max(mode),
            None => self.granted.push((owner.clone(), mode)),
        }
    }

    /// Grants from the front as long as it goes.
    fn grant_waiters(&mut self) {
        while let Some(first) = self.waiting.front() {
            if !self.compatible_with_granted(first.owner.id, self.effective(first.owner.id, first.mode)) {
                break;
            }
            let Some(request) = self.waiting.pop_front() else { break };
            let mut decision = request.decision.lock();
            if *decision == Decision::Pending {
                *decision = Decision::Granted;
                self.add(&request.owner, request.mode);
                request.woken.notify_one();
            }
        }
    }

    /// The mode that granting `mode` to `owner` would give it (Shared + IntentionExclusive = Exclusive).
    fn effective(&self, owner: u64, mode: Mode) -> Mode {
        match self.granted.iter().find(|(o, _)| o.id == owner) {
            Some((_, held)) if held.covers(mode) => *held,
            Some((_, held)) if !mode.covers(*held) => Mode::Exclusive,
            _ => mode,
        }
    }
}

#[derive(Debug, Default)]
struct Shard {
    queues: HashMap<Resource, Queue, FxBuildHasher>,
    /// Resources kept only for their `last_commit`, oldest first.
    recent: VecDeque<(Timestamp, Resource)>,
}

const SHARDS: usize = 64;

/// The lock table.
#[derive(Debug)]
pub struct LockTable {
    shards: Vec<Mutex<Shard>>,
    /// Up to here the log is durable; positions before need not be remembered.
    durable: AtomicU64,
    deadlocks: AtomicU64,
    waits: AtomicU64,
    timeouts: AtomicU64,
}

/// A held lock, kept by its transaction for the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    resource: Resource,
    mode: Mode,
}

/// Locks a transaction holds, in order of acquisition.
pub type HeldLocks = Vec<Held>;

impl Default for LockTable {
    fn default() -> Self {
        LockTable::new()
    }
}

impl LockTable {
    /// An empty table.
    pub fn new() -> LockTable {
        LockTable {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            durable: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
        }
    }

    /// (deadlocks, waits, timeouts) so far.
    pub fn counters(&self) -> (u64, u64, u64) {
        let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
        (get(&self.deadlocks), get(&self.waits), get(&self.timeouts))
    }

    /// Tells how far the log is durable.
    pub fn set_durable(&self, position: Timestamp) {
        self.durable.fetch_max(position, Ordering::Relaxed);
    }

    fn shard(&self, r: &ResourceRef<'_>) -> &Mutex<Shard> {
        let h = FxBuildHasher.hash_one(r);
        &self.shards[(h >> 32) as usize % SHARDS]
    }

    /// Takes a lock and records it in `held`. Returns the log position that an answer based on this
    /// resource's contents must wait for (0: none).
    pub fn acquire(
        &self,
        owner: &Arc<LockOwner>,
        held: &mut HeldLocks,
        index: IndexId,
        key: &[u8],
        mode: Mode,
        wait: Wait,
    ) -> Result<Timestamp> {
        let name = ResourceRef { index: index.0, key };
        let request = {
            let mut shard = self.shard(&name).lock();
            let make = || Resource { index: index.0, key: SmallVec::from_slice(key) };
            if !shard.queues.contains_key(&name) {
                shard.queues.insert(make(), Queue::default());
            }
            let Some(queue) = shard.queues.get_mut(&name) else { return Ok(0) };
            let mine = queue.granted.iter().find(|(o, _)| o.id == owner.id).map(|(_, m)| *m);
            if mine.is_some_and(|m| m.covers(mode)) {
                return Ok(queue.last_commit);
            }
            let target = queue.effective(owner.id, mode);
            let free = queue.compatible_with_granted(owner.id, target) && (mine.is_some() || queue.waiting.is_empty());
            if free {
                queue.add(owner, mode);
                let observed = queue.last_commit;
                held.push(Held { resource: make(), mode });
                return Ok(observed);
            }
            if wait == Wait::No || wait == Wait::For(Duration::ZERO) {
                if queue.granted.is_empty() && queue.waiting.is_empty() && queue.last_commit == 0 {
                    shard.queues.remove(&name);
                }
                return Err(match wait {
                    Wait::No => TxnError::LockNotAvailable,
                    Wait::For(_) => TxnError::LockWaitTimeout,
                });
            }
            let request = Arc::new(Request {
                owner: owner.clone(),
                mode,
                resource: make(),
                decision: Mutex::new(Decision::Pending),
                woken: Condvar::new(),
            });
            if mine.is_some() {
                queue.waiting.push_front(request.clone());
            } else {
                queue.waiting.push_back(request.clone());
            }
            request
        };
        let Wait::For(timeout) = wait else { return Err(TxnError::LockNotAvailable) };
        self.sleep(owner, &request, timeout)?;
        let observed = {
            let shard = self.shard(&name).lock();
            shard.queues.get(&name).map_or(0, |q| q.last_commit)
        };
        held.push(Held { resource: request.resource.clone(), mode });
        Ok(observed)
    }

    fn sleep(&self, owner: &Arc<LockOwner>, request: &Arc<Request>, timeout: Duration) -> Result<()> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let deadline = Instant::now() + timeout;
        *owner.sleeping.lock() = Some(request.clone());
        if owner.killed.load(Ordering::SeqCst) {
            request.decide(Decision::Killed);
        }
        while let Some(victim) = self.find_victim(request) {
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            victim.decide(Decision::Deadlock);
            if Arc::ptr_eq(&victim, request) {
                break;
            }
        }
        let mut decision = request.decision.lock();
        while *decision == Decision::Pending {
            if request.woken.wait_until(&mut decision, deadline).timed_out() {
                break;
            }
        }
        let mut outcome = *decision;
        drop(decision);
        *owner.sleeping.lock() = None;
        if outcome != Decision::Granted {
            outcome = self.withdraw(request, outcome);
        }
        match outcome {
            Decision::Granted => Ok(()),
            Decision::Deadlock => Err(TxnError::Deadlock),
            Decision::Killed => Err(TxnError::Killed),
            Decision::Pending => {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                Err(TxnError::LockWaitTimeout)
            }
        }
    }

    /// Takes an unsuccessful request out of its queue, unless it was granted in the last moment.
    fn withdraw(&self, request: &Arc<Request>, outcome: Decision) -> Decision {
        let name = ResourceRef { index: request.resource.index, key: &request.resource.key };
        let mut shard = self.shard(&name).lock();
        let decision = *request.decision.lock();
        if decision == Decision::Granted {
            return Decision::Granted;
        }
        if let Some(queue) = shard.queues.get_mut(&name) {
            queue.waiting.retain(|r| !Arc::ptr_eq(r, request));
            queue.grant_waiters();
        }
        if outcome == Decision::Pending { decision } else { outcome }
    }

    /// Who stands in the way of a request now.
    fn blockers(&self, request: &Arc<Request>) -> SmallVec<[Arc<LockOwner>; 4]> {
        let name = ResourceRef { index: request.resource.index, key: &request.resource.key };
        let shard = self.shard(&name).lock();
        let Some(queue) = shard.queues.get(&name) else { return SmallVec::new() };
        let mode = queue.effective(request.owner.id, request.mode);
        let mut out: SmallVec<[Arc<LockOwner>; 4]> = SmallVec::new();
        for (o, m) in &queue.granted {
            if o.id != request.owner.id && !m.compatible(mode) {
                out.push(o.clone());
            }
        }
        for r in &queue.waiting {
            if Arc::ptr_eq(r, request) {
                break;
            }
            if r.owner.id != request.owner.id {
                out.push(r.owner.clone());
            }
        }
        out
    }

    /// Looks for a cycle through `request` and returns the request of its lightest member.
    fn find_victim(&self, request: &Arc<Request>) -> Option<Arc<Request>> {
        if *request.decision.lock() != Decision::Pending {
            return None;
        }
        let mut path: Vec<(Arc<Request>, SmallVec<[Arc<LockOwner>; 4]>)> =
            vec![(request.clone(), self.blockers(request))];
        let mut seen: Vec<u64> = vec![request.owner.id];
        while let Some((_, next)) = path.last_mut() {
            let Some(owner) = next.pop() else {
                path.pop();
                continue;
            };
            if owner.id == request.owner.id {
                return path
                    .iter()
                    .map(|(r, _)| r)
                    .min_by_key(|r| (r.owner.weight.load(Ordering::Relaxed), !Arc::ptr_eq(r, request)))
                    .cloned();
            }
            if seen.contains(&owner.id) {
                continue;
            }
            seen.push(owner.id);
            let sleeping = owner.sleeping.lock().clone();
            if let Some(r) = sleeping
                && *r.decision.lock() == Decision::Pending
            {
                let blockers = self.blockers(&r);
                path.push((r, blockers));
            }
        }
        None
    }

    /// Gives back all locks. `committed` is the position of the commit whose changes they guarded.
    pub fn release_all(&self, owner: &Arc<LockOwner>, held: &mut HeldLocks, committed: Option<Timestamp>) {
        self.release_from(owner, held, 0, committed);
    }

    /// Gives back the locks taken after the first `keep` (rows that a statement looked at and did not want).
    pub fn release_from(
        &self,
        owner: &Arc<LockOwner>,
        held: &mut HeldLocks,
        keep: usize,
        committed: Option<Timestamp>,
    ) {
        let durable = self.durable.load(Ordering::Relaxed);
        for h in held.drain(keep..).rev() {
            let name = ResourceRef { index: h.resource.index, key: &h.resource.key };
            let mut guard = self.shard(&name).lock();
            let shard = &mut *guard;
            let Some(queue) = shard.queues.get_mut(&name) else { continue };
            queue.granted.retain(|(o, _)| o.id != owner.id);
            let writes = matches!(h.mode, Mode::Exclusive | Mode::IntentionExclusive);
            if let Some(position) = committed.filter(|p| writes && *p > durable)
                && position > queue.last_commit
            {
                queue.last_commit = position;
                shard.recent.push_back((position, h.resource.clone()));
            }
            queue.grant_waiters();
            let idle = queue.granted.is_empty() && queue.waiting.is_empty();
            if idle && (queue.last_commit == 0 || queue.last_commit <= durable) {
                shard.queues.remove(&name);
            }
            // Forget what has become durable; a few at a time keeps pace with what is added.
            for _ in 0..4 {
                match shard.recent.front() {
                    Some((p, _)) if *p <= durable => {}
                    _ => break,
                }
                let Some((p, r)) = shard.recent.pop_front() else { break };
                if let Some(q) = shard.queues.get_mut(&r)
                    && q.last_commit == p
                {
                    q.last_commit = 0;
                    if q.granted.is_empty() && q.waiting.is_empty() {
                        shard.queues.remove(&r);
                    }
                }
            }
        }
    }

    /// How many resources are known: for tests and status.
    pub fn resources(&self) -> usize {
        self.shards.iter().map(|s| s.lock().queues.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: IndexId = IndexId(7);

    struct T {
        owner: Arc<LockOwner>,
        held: HeldLocks,
    }

    fn t(id: u64) -> T {
        T { owner: LockOwner::new(id), held: Vec::new() }
    }

    fn get(l: &LockTable, t: &mut T, key: &[u8], mode: Mode, wait: Wait) -> Result<Timestamp> {
        l.acquire(&t.owner, &mut t.held, ROW, key, mode, wait)
    }

    const LONG: Wait = Wait::For(Duration::from_secs(30));

    fn until(what: impl Fn() -> bool) {
        while !what() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn shared_locks_share_and_exclusive_ones_do_not() {
        let l = LockTable::new();
        let (mut a, mut b) = (t(1), t(2));
        get(&l, &mut a, b"k", Mode::Shared, LONG).unwrap();
        get(&l, &mut b, b"k", Mode::Shared, LONG).unwrap();
        assert!(matches!(get(&l, &mut b, b"k", Mode::Exclusive, Wait::No), Err(TxnError::LockNotAvailable)));
        l.release_all(&a.owner, &mut a.held, None);
        get(&l, &mut b, b"k", Mode::Exclusive, Wait::No).unwrap();
        l.release_all(&b.owner, &mut b.held, None);
        assert_eq!(l.resources(), 0);
    }

    #[test]
    fn waiters_are_served_in_order() {
        let l = Arc::new(LockTable::new());
        let mut a = t(1);
        get(&l, &mut a, b"k", Mode::Exclusive, LONG).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut threads = Vec::new();
        for id in 2..6u64 {
            let (l2, order) = (l.clone(), order.clone());
            threads.push(std::thread::spawn(move || {
                let mut me = t(id);
                get(&l2, &mut me, b"k", Mode::Exclusive, LONG).unwrap();
                order.lock().push(id);
                l2.release_all(&me.owner, &mut me.held, None);
            }));
            until(|| l.counters().1 == id - 1);
        }
        l.release_all(&a.owner, &mut a.held, None);
        for t in threads {
            t.join().unwrap();
        }
        assert_eq!(*order.lock(), [2, 3, 4, 5]);
        assert_eq!(l.resources(), 0);
    }

    #[test]
    fn the_lighter_member_of_a_cycle_is_the_victim() {
        let l = Arc::new(LockTable::new());
        let (mut a, mut b) = (t(1), t(2));
        a.owner.weight.store(10, Ordering::Relaxed);
        get(&l, &mut a, b"x", Mode::Exclusive, LONG).unwrap();
        get(&l, &mut b, b"y", Mode::Exclusive, LONG).unwrap();
        let l2 = l.clone();
        let other = std::thread::spawn(move || {
            let r = get(&l2, &mut b, b"x", Mode::Exclusive, LONG);
            l2.release_all(&b.owner, &mut b.held, None);
            r
        });
        until(|| l.counters().1 == 1);
        get(&l, &mut a, b"y", Mode::Exclusive, LONG).unwrap();
        assert!(matches!(other.join().unwrap(), Err(TxnError::Deadlock)));
        assert_eq!(l.counters().0, 1);
    }

    #[test]
    fn two_upgrades_of_one_shared_lock_are_a_deadlock() {
        let l = Arc::new(LockTable::new());
        let (mut a, mut b) = (t(1), t(2));
        get(&l, &mut a, b"x", Mode::Shared, LONG).unwrap();
        get(&l, &mut b, b"x", Mode::Shared, LONG).unwrap();
        let l2 = l.clone();
        let other = std::thread::spawn(move || {
            let r = get(&l2, &mut b, b"x", Mode::Exclusive, LONG);
            l2.release_all(&b.owner, &mut b.held, None);
            r.is_ok()
        });
        until(|| l.counters().1 == 1);
        let mine = get(&l, &mut a, b"x", Mode::Exclusive, LONG);
        l.release_all(&a.owner, &mut a.held, None);
        assert!(mine.is_ok() != other.join().unwrap());
    }

    #[test]
    fn a_kill_ends_a_wait() {
        let l = Arc::new(LockTable::new());
        let (mut a, mut b) = (t(1), t(2));
        get(&l, &mut a, b"x", Mode::Exclusive, LONG).unwrap();
        let (l2, owner) = (l.clone(), b.owner.clone());
        let other = std::thread::spawn(move || get(&l2, &mut b, b"x", Mode::Shared, LONG));
        until(|| l.counters().1 == 1);
        owner.kill();
        assert!(matches!(other.join().unwrap(), Err(TxnError::Killed)));
        l.release_all(&a.owner, &mut a.held, None);
        assert_eq!(l.resources(), 0);
    }

    #[test]
    fn a_released_lock_tells_the_next_holder_what_is_not_durable() {
        let l = LockTable::new();
        let (mut a, mut b) = (t(1), t(2));
        get(&l, &mut a, b"x", Mode::Exclusive, LONG).unwrap();
        l.release_all(&a.owner, &mut a.held, Some(500));
        assert_eq!(get(&l, &mut b, b"x", Mode::Shared, LONG).unwrap(), 500);
        l.release_all(&b.owner, &mut b.held, None);
        l.set_durable(500);
        get(&l, &mut b, b"y", Mode::Shared, LONG).unwrap();
        l.release_all(&b.owner, &mut b.held, None);
        let mut c = t(3);
        get(&l, &mut c, b"x", Mode::Exclusive, LONG).unwrap();
        l.release_all(&c.owner, &mut c.held, None);
        assert_eq!(l.resources(), 0);
    }
}
