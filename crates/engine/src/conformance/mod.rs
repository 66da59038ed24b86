//! Tests that every engine must pass.
//!
//! An engine's own tests say how to open one and how it crashes ([`Subject`]), and
//! [`conformance_tests!`](crate::conformance_tests) makes one test of each [case](cases). Everything here panics where
//! the engine is wrong, as tests do; nothing here is for a running server.

mod basic;
mod cursors;
mod durability;
mod random;
mod threads;

use crate::{Engine, IndexId, ReadAt, Reader, Timestamp};

/// An open engine under test.
pub trait Subject {
    /// The engine.
    fn engine(&self) -> &dyn Engine;

    /// Stops the engine as a crash would, and opens what is left.
    fn crash(self: Box<Self>) -> Box<dyn Subject>;
}

/// All the cases; each takes an engine that is new and empty.
pub mod cases {
    pub use super::basic::*;
    pub use super::cursors::*;
    pub use super::durability::*;
    pub use super::random::*;
    pub use super::threads::*;
}

/// Makes a `#[test]` of each conformance case. The argument is something that can be called to get a
/// `Box<dyn Subject>` of a new, empty engine.
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance_tests!(@ $make;
            put_get_delete missing_indexes_are_not_found batches_are_invisible_until_committed
            snapshots_see_their_timestamp latest_sees_each_commit one_reader_for_many_states
            batches_on_one_key_follow_each_other batches_may_share_a_timestamp commit_from_another_thread
            history_before_oldest_is_gone dropped_index_is_gone estimates_and_split_points statistics_and_names
            cursor_walks_both_ways cursor_on_an_empty_index cursor_keeps_its_snapshot cursor_at_latest_is_fresh_when_positioned
            many_cursors_on_one_reader
            bulk_load_fills_an_index bulk_load_survives_after_a_checkpoint
            checkpoint_holds_what_is_durable crash_before_any_checkpoint replay_after_a_crash
            deletes_survive_a_crash_like_puts
            random_operations_follow_the_model transfers_keep_the_sum
        );
    };
    (@ $make:expr; $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $crate::conformance::cases::$case(($make)());
            }
        )*
    };
}

/// Commits these writes (`None` deletes) as one batch.
fn commit<'a>(
    engine: &dyn Engine,
    index: IndexId,
    timestamp: Timestamp,
    writes: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) {
    let mut batch = engine.begin_write().unwrap();
    for (key, value) in writes {
        match value {
            Some(value) => batch.put(index, key.as_bytes(), value.as_bytes()).unwrap(),
            None => batch.delete(index, key.as_bytes()).unwrap(),
        }
    }
    batch.commit_ordered(timestamp).unwrap();
}

fn put(engine: &dyn Engine, index: IndexId, timestamp: Timestamp, key: &str, value: &str) {
    commit(engine, index, timestamp, [(key, Some(value))]);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn get_from(reader: &dyn Reader, index: IndexId, key: &str) -> Option<String> {
    let mut value = b"left over".to_vec();
    let found = reader.get(index, key.as_bytes(), &mut value).unwrap();
    assert!(found || value.is_empty());
    found.then(|| text(&value))
}

fn get(engine: &dyn Engine, at: ReadAt, index: IndexId, key: &str) -> Option<String> {
    get_from(&*engine.read(at).unwrap(), index, key)
}

/// All rows as `key=value`, in order, read forwards; and read backwards, which must be the same.
fn rows(engine: &dyn Engine, at: ReadAt, index: IndexId) -> Vec<String> {
    let reader = engine.read(at).unwrap();
    let mut cursor = reader.cursor(index).unwrap();
    let mut forwards = Vec::new();
    let mut more = cursor.first().unwrap();
    while more {
        forwards.push(format!("{}={}", text(cursor.key()), text(cursor.value())));
        more = cursor.next().unwrap();
    }
    let mut backwards = Vec::new();
    let mut more = cursor.last().unwrap();
    while more {
        backwards.push(format!("{}={}", text(cursor.key()), text(cursor.value())));
        more = cursor.prev().unwrap();
    }
    backwards.reverse();
    assert_eq!(forwards, backwards, "a scan back differs from a scan forth");
    forwards
}

/// A small random number generator (splitmix64), so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
