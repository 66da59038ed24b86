//! The log's files: written by one, synced by another, followed by many.
//!
//! # Parts
//!
//! * [`Log`] owns the active file and appends groups of transactions to it. There is one, used by
//!   whoever leads the commit queue.
//! * [`LogSyncer`] makes what was appended durable. Any thread may sync while another appends.
//! * [`EventReader`] and [`TransactionReader`] read up to the durable position and can wait for more.
//!
//! # Invariants
//!
//! 1. Every file is, at every moment, a well-formed sequence of events: space prepared ahead of the
//!    end is covered by a filler event, so that `mariadb-binlog` reads the active file too.
//! 2. A file enters the index only when its head is synced, and a file's successor is created only
//!    when all of the file is synced. So only the last indexed file can have a torn tail.
//! 3. LOG_EVENT_BINLOG_IN_USE_F is cleared only after all else in the file is synced. So damage in a
//!    file without the flag is never a torn tail.
//! 4. Positions never go back: `first + size` of a file is `first` of the next (more only where
//!    the next one says that a damaged part was cut off).
//! 5. After a failed write or sync nothing is written any more; a failed fsync is never retried,
//!    because the kernel may have dropped the pages that it could not write.
//!
//! # Why space is prepared
//!
//! An `fdatasync` of a file that grew writes the file system's journal too. With zeros written ahead
//! the median of append and sync fell from 200 to 140 µs, the 99th percentile further; keeping the size
//! with `FALLOC_FL_KEEP_SIZE` gained nothing (`docs/formats/binlog.md` has the numbers and the command
//! that repeats them). So one write in a few hundred carries zeros behind its events.

mod append;
mod group;
mod index;
mod purge;
mod reader;
mod recovery;
mod shared;
mod source;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use append::Log;
pub use group::{GroupStep, GroupTracker};
pub use reader::{EventReader, LoggedTransaction, RawEvent, TransactionReader, state_before};
pub use recovery::{Cut, Recovered};
pub use shared::{LogFileInfo, LogSyncer, LogWatch};

use crate::LogPosition;
use crate::event::ChecksumAlg;

/// What to do about damage that is not a torn tail (`--log-recovery`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogRecovery {
    /// `refuse`: do not open; the error names file and offset.
    #[default]
    Refuse,
    /// `truncate`: look through all files and cut the log at the first damage. What follows is kept
    /// aside and lost to the database.
    Truncate,
}

/// How the log is written.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// Base of the files' names (`log_basename`): `binlog` gives `binlog.000001` and `binlog.index`.
    pub basename: String,
    /// A file that has reached so many bytes is followed by another (`max_binlog_size`, at most 1 GiB).
    pub max_binlog_size: u64,
    /// In the headers of the log's own events.
    pub server_id: u32,
    /// In Format_description: `11.8.0-MariaDB-selkie-0.1.0-log`.
    pub server_version: String,
    /// `binlog_checksum`
    pub checksum: ChecksumAlg,
    /// Zeros are written ahead in steps of so many bytes; 0 = never.
    pub preallocate_bytes: u32,
    /// What to do about damage.
    pub recovery: LogRecovery,
    /// The log goes on at this position at least (the last one that a storage engine holds: more than the log
    /// holds if a machine crashed with `sync_binlog=0`).
    pub position_min: LogPosition,
    /// Seconds since 1970, for the log's own events.
    pub now: fn() -> u32,
}

/// Largest value of `max_binlog_size`, MariaDB's.
pub const MAX_BINLOG_SIZE: u64 = 1 << 30;
/// Smallest value of `max_binlog_size`, MariaDB's.
pub const MIN_BINLOG_SIZE: u64 = 4096;

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            basename: "binlog".to_owned(),
            max_binlog_size: MAX_BINLOG_SIZE,
            server_id: 1,
            server_version: "11.8.0-MariaDB-selkie-0.1.0-log".to_owned(),
            checksum: ChecksumAlg::Crc32,
            preallocate_bytes: 256 << 10,
            recovery: LogRecovery::Refuse,
            position_min: LogPosition::ZERO,
            now: unix_seconds,
        }
    }
}

fn unix_seconds() -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |d| d.as_secs() as u32)
}

/// Names the `number`th file.
pub(crate) fn file_name(basename: &str, number: u64) -> String {
    format!("{basename}.{number:06}")
}

/// The number in a file's name.
pub(crate) fn file_number(basename: &str, name: &str) -> Option<u64> {
    let digits = name.strip_prefix(basename)?.strip_prefix('.')?;
    if digits.len() < 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

pub(crate) type SharedName = Arc<str>;
