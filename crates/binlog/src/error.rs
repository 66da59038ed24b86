//! What can go wrong with events and with the log's files.

use std::io;

/// Bytes that are not the event they claim to be, or one that this server does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end before the event does.
    #[error("event ends early: {what} needs {need} bytes, {have} are left")]
    Truncated {
        /// The field that was being read.
        what: &'static str,
        /// Bytes it needs.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// A field has a value that no server writes.
    #[error("malformed {what}")]
    Malformed {
        /// The field.
        what: &'static str,
    },
    /// CRC32 of the bytes and the checksum stored behind them differ.
    #[error("event checksum mismatch: stored {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// As stored.
        stored: u32,
        /// As computed.
        computed: u32,
    },
    /// An event type that must not be skipped and that this server does not know.
    #[error("unknown event type {0}, not marked as ignorable")]
    UnknownType(u8),
    /// Known, but not read here.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// A column type number that no server writes in row events.
    #[error("unknown column type {0} in a Table_map event")]
    UnknownColumnType(u8),
    /// Text that its character set does not contain.
    #[error("invalid {charset} text at byte {offset}")]
    InvalidText {
        /// The character set's name.
        charset: &'static str,
        /// Offset of the first bad byte in the value.
        offset: usize,
    },
    /// A value that does not fit the column it is written to.
    #[error("value does not fit column {column} of type {type_number}")]
    ValueType {
        /// Zero-based column.
        column: usize,
        /// MariaDB's type number.
        type_number: u8,
    },
}

/// A failure of the log's files.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The operating system refused an operation.
    #[error("{operation} of log file '{file}' failed: {source}")]
    Io {
        /// What was tried (`write`, `fdatasync`, `open`, ...).
        operation: &'static str,
        /// The file's name.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// An earlier write or sync failed; what is on disk is uncertain, so that nothing more is written.
    #[error("the log takes no more writes after an earlier failure: {0}")]
    Poisoned(String),
    /// The disk is full. Nothing of the group was kept, and the log can go on.
    #[error("disk is full writing log file '{file}'")]
    Full {
        /// The file's name.
        file: String,
    },
    /// Bytes in the middle of the log (or in a file that was closed cleanly) are damaged.
    #[error(
        "log file '{file}' is corrupt at offset {offset}: {reason}; restore it, or start with --log-recovery=truncate to cut the log there"
    )]
    Corrupt {
        /// The file's name.
        file: String,
        /// Offset of the damaged event.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// Index and files do not belong together.
    #[error("log index: {0}")]
    Index(String),
    /// One transaction is larger than a file can address (offsets have 32 bits).
    #[error("transaction of {bytes} bytes is too large for the log (4 GiB)")]
    TransactionTooLarge {
        /// Its size.
        bytes: u64,
    },
    /// No indexed file holds this position: it was purged, or lies past the end.
    #[error("log position {position} is not in the log ({from} to {to})")]
    NotInLog {
        /// What was asked for.
        position: u64,
        /// First position that exists.
        from: u64,
        /// End of the log.
        to: u64,
    },
    /// There is no such file in the index.
    #[error("target log '{0}' not found in log index")]
    UnknownFile(String),
    /// The file is still needed: it is active, or an engine's last checkpoint lies in it or before it.
    #[error("log file '{0}' is in use and cannot be purged")]
    InUse(String),
    /// The server was closed while somebody waited for the log to grow.
    #[error("the log was closed")]
    Closed,
    /// An event in a file could not be decoded.
    #[error("log file '{file}', offset {offset}: {source}")]
    Decode {
        /// The file's name.
        file: String,
        /// Offset of the event.
        offset: u64,
        /// What is wrong.
        source: DecodeError,
    },
}

impl LogError {
    pub(crate) fn io(operation: &'static str, file: &str) -> impl FnOnce(io::Error) -> LogError {
        let file = file.to_owned();
        move |source| LogError::Io {
            operation,
            file,
            source,
        }
    }
}
