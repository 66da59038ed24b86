//! Metadata locks: statements keep the tables that they use from being changed under them until their transaction ends.
//!
//! A statement that reads a table holds it *shared*, one that changes rows holds it for *shared write*; LOCK TABLES … READ
//! holds it against writers (*shared, no write*); DDL takes it *exclusive*. Waiting DDL goes before later shared
//! requests, so that it does not starve; DDL of one table never concerns another. A holder may ask again for what it has, and a
//! sole shared holder may upgrade.
//!
//! It knows names only, not what they stand for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxBuildHasher;

/// Who asks: a connection's id.
pub type MdlOwner = u64;

/// Strength of a metadata lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MdlMode {
    /// Queries.
    Shared,
    /// Statements that change rows: not beside [`MdlMode::SharedNoWrite`] of others.
    SharedWrite,
    /// LOCK TABLES … READ: others read, nobody writes.
    SharedNoWrite,
    /// DDL.
    Exclusive,
}

/// Why a lock was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MdlError {
    /// `lock_wait_timeout` passed (error 1205).
    Timeout,
    /// KILL.
    Killed,
    /// Two owners wait for each other (error 1213).
    Deadlock,
}

/// `(database, table)`; an empty table name is the database itself.
pub type MdlName = (Arc<str>, Arc<str>);

#[derive(Default)]
struct Entry {
    shared: Vec<(MdlOwner, MdlMode)>,
    exclusive: Option<MdlOwner>,
    /// Exclusive requests waiting, in order.
    waiting: Vec<MdlOwner>,
}

impl Entry {
    fn idle(&self) -> bool {
        self.shared.is_empty() && self.exclusive.is_none() && self.waiting.is_empty()
    }

    fn blockers(&self, owner: MdlOwner, mode: MdlMode) -> Vec<MdlOwner> {
        let mut out: Vec<MdlOwner> = self.exclusive.iter().copied().filter(|o| *o != owner).collect();
        let against = |held: MdlMode| match mode {
            MdlMode::Exclusive => true,
            MdlMode::SharedWrite => held == MdlMode::SharedNoWrite,
            MdlMode::SharedNoWrite => held == MdlMode::SharedWrite,
            MdlMode::Shared => false,
        };
        out.extend(self.shared.iter().filter(|(o, held)| *o != owner && against(*held)).map(|(o, _)| *o));
        if mode != MdlMode::Exclusive && !self.shared.iter().any(|(o, _)| *o == owner) {
            out.extend(self.waiting.iter().copied().filter(|o| *o != owner));
        }
        out
    }
}

#[derive(Default)]
struct State {
    entries: HashMap<MdlName, Entry, FxBuildHasher>,
    /// Who sleeps on what.
    sleeping: HashMap<MdlOwner, (MdlName, MdlMode), FxBuildHasher>,
}

/// All metadata locks of a server.
#[derive(Default)]
pub struct MetadataLocks {
    state: Mutex<State>,
    changed: Condvar,
}

/// The metadata locks of one session, kept for their release.
pub type HeldMdl = Vec<(MdlName, MdlMode)>;

impl MetadataLocks {
    /// Takes a lock; records it in `held`.
    pub fn acquire(
        &self,
        owner: MdlOwner,
        held: &mut HeldMdl,
        db: &str,
        table: &str,
        mode: MdlMode,
        timeout: Duration,
        killed: &dyn Fn() -> bool,
    ) -> Result<(), MdlError> {
        let serves = |m: MdlMode| m == mode || m == MdlMode::Exclusive || mode == MdlMode::Shared;
        if held.iter().any(|((d, t), m)| &**d == db && &**t == table && serves(*m)) {
            return Ok(());
        }
        let name: MdlName = (db.into(), table.into());
        let deadline = Instant::now() + timeout;
        let mut state = self.state.lock();
        let mut queued = false;
        let result = loop {
            let entry = state.entries.entry(name.clone()).or_default();
            if entry.blockers(owner, mode).is_empty() && (mode != MdlMode::Exclusive || first_in_line(entry, owner)) {
                match mode {
                    MdlMode::Exclusive => entry.exclusive = Some(owner),
                    shared => entry.shared.push((owner, shared)),
                }
                break Ok(());
            }
            if mode == MdlMode::Exclusive && !queued {
                entry.waiting.push(owner);
                queued = true;
            }
            state.sleeping.insert(owner, (name.clone(), mode));
            if killed() {
                break Err(MdlError::Killed);
            }
            if in_cycle(&state, owner) {
                break Err(MdlError::Deadlock);
            }
            let slice = deadline.min(Instant::now() + Duration::from_millis(100));
            self.changed.wait_until(&mut state, slice);
            if Instant::now() >= deadline {
                break Err(MdlError::Timeout);
            }
        };
        state.sleeping.remove(&owner);
        if let Some(entry) = state.entries.get_mut(&name) {
            if queued {
                entry.waiting.retain(|o| *o != owner);
            }
            if entry.idle() {
                state.entries.remove(&name);
            }
        }
        drop(state);
        if result.is_ok() {
            held.push((name, mode));
        } else {
            self.changed.notify_all();
        }
        result
    }

    /// Gives back the locks taken after the first `keep`.
    pub fn release_from(&self, owner: MdlOwner, held: &mut HeldMdl, keep: usize) {
        if held.len() <= keep {
            return;
        }
        let mut state = self.state.lock();
        for (name, mode) in held.drain(keep..) {
            let Some(entry) = state.entries.get_mut(&name) else { continue };
            match mode {
                MdlMode::Exclusive => entry.exclusive = None,
                shared => {
                    if let Some(i) = entry.shared.iter().position(|h| *h == (owner, shared)) {
                        entry.shared.swap_remove(i);
                    }
                }
            }
            if entry.idle() {
                state.entries.remove(&name);
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

fn first_in_line(entry: &Entry, owner: MdlOwner) -> bool {
    entry.waiting.first().is_none_or(|o| *o == owner)
}

fn in_cycle(state: &State, start: MdlOwner) -> bool {
    let mut seen = vec![];
    let mut todo = vec![start];
    while let Some(o) = todo.pop() {
        let Some((name, mode)) = state.sleeping.get(&o) else { continue };
        let Some(entry) = state.entries.get(name) else { continue };
        for b in entry.blockers(o, *mode) {
            if b == start {
                return true;
            }
            if !seen.contains(&b) {
                seen.push(b);
                todo.push(b);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn take(l: &MetadataLocks, o: MdlOwner, h: &mut HeldMdl, mode: MdlMode, t: Duration) -> Result<(), MdlError> {
        l.acquire(o, h, "d", "t", mode, t, &|| false)
    }

    #[test]
    fn ddl_waits_for_users_and_later_users_wait_for_ddl() {
        let l = Arc::new(MetadataLocks::default());
        let mut user = Vec::new();
        take(&l, 1, &mut user, MdlMode::Shared, LONG).unwrap();
        let l2 = l.clone();
        let ddl = std::thread::spawn(move || {
            let mut h = Vec::new();
            take(&l2, 2, &mut h, MdlMode::Exclusive, LONG).unwrap();
            l2.release_from(2, &mut h, 0);
        });
        while l.state.lock().sleeping.is_empty() {
            std::thread::yield_now();
        }
        let mut later = Vec::new();
        assert_eq!(take(&l, 3, &mut later, MdlMode::Shared, Duration::ZERO), Err(MdlError::Timeout));
        l.release_from(1, &mut user, 0);
        ddl.join().unwrap();
        take(&l, 3, &mut later, MdlMode::Shared, LONG).unwrap();
        l.release_from(3, &mut later, 0);
        assert!(l.state.lock().entries.is_empty());
    }

    #[test]
    fn a_lock_against_writers_lets_readers_in() {
        let l = MetadataLocks::default();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        take(&l, 1, &mut a, MdlMode::SharedNoWrite, LONG).unwrap();
        take(&l, 2, &mut b, MdlMode::Shared, LONG).unwrap();
        assert_eq!(take(&l, 2, &mut b, MdlMode::SharedWrite, Duration::ZERO), Err(MdlError::Timeout));
        l.release_from(1, &mut a, 0);
        take(&l, 2, &mut b, MdlMode::SharedWrite, LONG).unwrap();
        assert_eq!(take(&l, 1, &mut a, MdlMode::SharedNoWrite, Duration::ZERO), Err(MdlError::Timeout));
        l.release_from(2, &mut b, 0);
        assert!(l.state.lock().entries.is_empty());
    }

    #[test]
    fn two_upgrades_are_a_deadlock() {
        let l = Arc::new(MetadataLocks::default());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        take(&l, 1, &mut a, MdlMode::Shared, LONG).unwrap();
        take(&l, 2, &mut b, MdlMode::Shared, LONG).unwrap();
        let l2 = l.clone();
        let other = std::thread::spawn(move || {
            let r = take(&l2, 2, &mut b, MdlMode::Exclusive, LONG);
            l2.release_from(2, &mut b, 0);
            r
        });
        while l.state.lock().sleeping.is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(take(&l, 1, &mut a, MdlMode::Exclusive, LONG), Err(MdlError::Deadlock));
        l.release_from(1, &mut a, 0);
        assert_eq!(other.join().unwrap(), Ok(()));
    }
}
