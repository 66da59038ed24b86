//! GET_LOCK: named locks of sessions, which may be taken several times.

use std::time::{Duration, Instant};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

/// All user locks of a server.
#[derive(Default)]
pub struct UserLocks {
    /// Name (lower case) → owner's connection id and count.
    held: Mutex<HashMap<String, (u64, u64)>>,
    released: Condvar,
}

impl UserLocks {
    /// Takes a lock; `false` when the time is over or `stop` says so.
    pub fn get(&self, name: &str, owner: u64, timeout: Duration, stop: &dyn Fn() -> bool) -> bool {
        let name = name.to_lowercase();
        let deadline = Instant::now() + timeout;
        let mut held = self.held.lock();
        loop {
            match held.get_mut(&name) {
                None => {
                    held.insert(name, (owner, 1));
                    return true;
                }
                Some((o, count)) if *o == owner => {
                    *count += 1;
                    return true;
                }
                Some(_) => {}
            }
            if Instant::now() >= deadline || stop() {
                return false;
            }
            let slice = deadline.min(Instant::now() + Duration::from_millis(100));
            self.released.wait_until(&mut held, slice);
        }
    }

    /// Gives a lock back: `Some(true)` done, `Some(false)` another's, `None` nobody has it.
    pub fn release(&self, name: &str, owner: u64) -> Option<bool> {
        let name = name.to_lowercase();
        let mut held = self.held.lock();
        let (o, count) = held.get_mut(&name)?;
        if *o != owner {
            return Some(false);
        }
        *count -= 1;
        if *count == 0 {
            held.remove(&name);
            self.released.notify_all();
        }
        Some(true)
    }

    /// Gives all of an owner's locks back; how many there were.
    pub fn release_all(&self, owner: u64) -> u64 {
        let mut held = self.held.lock();
        let mut n = 0;
        held.retain(|_, (o, count)| {
            let keep = *o != owner;
            if !keep {
                n += *count;
            }
            keep
        });
        if n > 0 {
            self.released.notify_all();
        }
        n
    }

    /// Who has a lock.
    pub fn owner(&self, name: &str) -> Option<u64> {
        self.held.lock().get(&name.to_lowercase()).map(|(o, _)| *o)
    }
}
