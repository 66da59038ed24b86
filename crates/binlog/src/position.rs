//! Positions in the log, counted in bytes since the log began.

use std::fmt;

/// A place in the log: the number of bytes of log before it, over all files ever written
/// (RESET MASTER starts new file names, never new numbers).
///
/// The end position of a transaction is its commit timestamp. A file knows the number of its first
/// byte, so that file and offset follow by arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LogPosition(pub u64);

impl LogPosition {
    /// Before everything.
    pub const ZERO: LogPosition = LogPosition(0);

    /// The position `bytes` further on.
    pub const fn plus(self, bytes: u64) -> LogPosition {
        LogPosition(self.0.saturating_add(bytes))
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
