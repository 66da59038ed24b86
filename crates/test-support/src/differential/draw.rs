//! Choices from one seeded source of randomness.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The source; the same seed makes the same choices.
pub struct Draw(StdRng);

impl Draw {
    /// From a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(StdRng::seed_from_u64(seed))
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n.max(1))
    }

    /// A number in `from..to`.
    pub fn range(&mut self, from: i64, to: i64) -> i64 {
        self.0.random_range(from..to)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some texts.
    pub fn pick(&mut self, from: &[&'static str]) -> &'static str {
        let n = self.below(from.len());
        from.get(n).copied().unwrap_or_default()
    }

    /// One of some things.
    pub fn of<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let n = self.below(from.len());
        from.get(n)
    }
}
