//! Which log positions are being read: taking a snapshot, and how old the oldest one is.
//!
//! Each session owns a [`SnapshotSlot`]. Taking a snapshot writes the durable position into the slot
//! and checks that the floor has not passed it meanwhile; advancing raises the floor first and looks
//! at the slots after. Both orders are sequentially consistent, so either the taker sees the raised
//! floor and tries again, or the advancer sees the slot. No lock is taken by readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;
use selkie_engine::Timestamp;

const FREE: u64 = u64::MAX;

/// One session's place to say what it reads.
#[derive(Debug)]
pub struct SnapshotSlot {
    at: CachePadded<AtomicU64>,
}

/// All slots and the durable position.
#[derive(Debug, Default)]
pub struct Snapshots {
    durable: CachePadded<AtomicU64>,
    floor: CachePadded<AtomicU64>,
    slots: Mutex<Vec<Arc<SnapshotSlot>>>,
}

impl Snapshots {
    /// Starts with `durable` as the durable position.
    pub fn new(durable: Timestamp) -> Snapshots {
        let s = Snapshots::default();
        s.durable.store(durable, SeqCst);
        s
    }

    /// The durable position: what a new snapshot sees.
    pub fn durable(&self) -> Timestamp {
        self.durable.load(SeqCst)
    }

    /// Moves the durable position forward.
    pub fn set_durable(&self, position: Timestamp) {
        self.durable.fetch_max(position, SeqCst);
    }

    /// A slot for a session.
    pub fn register(&self) -> Arc<SnapshotSlot> {
        let slot = Arc::new(SnapshotSlot { at: CachePadded::new(AtomicU64::new(FREE)) });
        self.slots.lock().push(slot.clone());
        slot
    }

    /// Takes a snapshot at the durable position.
    pub fn take(&self, slot: &SnapshotSlot) -> Timestamp {
        loop {
            let at = self.durable.load(SeqCst);
            slot.at.store(at, SeqCst);
            if self.floor.load(SeqCst) <= at {
                return at;
            }
        }
    }

    /// Takes a snapshot at an earlier position. `false` if its past is gone.
    pub fn take_at(&self, slot: &SnapshotSlot, at: Timestamp) -> bool {
        slot.at.store(at, SeqCst);
        let kept = self.floor.load(SeqCst) <= at && at <= self.durable.load(SeqCst);
        if !kept {
            slot.at.store(FREE, SeqCst);
        }
        kept
    }

    /// Gives a snapshot back.
    pub fn release(&self, slot: &SnapshotSlot) {
        slot.at.store(FREE, SeqCst);
    }

    /// Raises the floor to the durable position and returns the oldest position that anybody may still read.
    pub fn advance(&self) -> Timestamp {
        let floor = self.durable.load(SeqCst);
        let mut slots = self.slots.lock();
        self.floor.fetch_max(floor, SeqCst);
        let oldest = slots.iter().map(|s| s.at.load(SeqCst)).filter(|at| *at != FREE).min();
        slots.retain(|s| Arc::strong_count(s) > 1);
        oldest.map_or(floor, |o| o.min(floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_snapshot_holds_the_past() {
        let s = Snapshots::new(100);
        let (a, b) = (s.register(), s.register());
        assert_eq!(s.take(&a), 100);
        s.set_durable(200);
        assert_eq!(s.take(&b), 200);
        assert_eq!(s.advance(), 100);
        s.release(&a);
        assert_eq!(s.advance(), 200);
        assert!(!s.take_at(&a, 150));
    }

    #[test]
    fn no_snapshot_is_ever_older_than_what_was_announced() {
        let s = Arc::new(Snapshots::new(1));
        let oldest = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicU64::new(0));
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (s, oldest, stop) = (s.clone(), oldest.clone(), stop.clone());
                std::thread::spawn(move || {
                    let slot = s.register();
                    while stop.load(SeqCst) == 0 {
                        let at = s.take(&slot);
                        assert!(oldest.load(SeqCst) <= at);
                        s.release(&slot);
                    }
                })
            })
            .collect();
        for d in 2..20_000 {
            s.set_durable(d);
            if d % 3 == 0 {
                oldest.fetch_max(s.advance(), SeqCst);
            }
        }
        stop.store(1, SeqCst);
        for r in readers {
            r.join().unwrap();
        }
    }
}
