//! What can go wrong in an engine, in terms that the layers above can act on.
//!
//! The mapping to error numbers and messages that clients see is made in `session`, not here.

use crate::{IndexId, Timestamp};

/// The result of an engine call.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Why an engine call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no such index (never made, or dropped).
    #[error("index {0} does not exist")]
    NotFound(IndexId),
    /// The index to be made is there already, or was dropped and its space not yet reclaimed.
    #[error("index {0} already exists")]
    AlreadyExists(IndexId),
    /// What is stored contradicts itself. Nothing read from the index can be trusted.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// No space is left on the device or in the quota.
    #[error("no space left for the engine's files")]
    DiskFull,
    /// The operating system refused something else.
    #[error("input/output error: {0}")]
    Io(#[from] std::io::Error),
    /// The engine gave this batch or reader up, mostly for want of cache: drop it and try again with a new
    /// one. Never returned by [`commit_ordered`](crate::WriteBatch::commit_ordered).
    #[error("the engine rolled the operation back ({0})")]
    Rollback(String),
    /// The engine was closed, or has failed so badly that only a restart helps.
    #[error("the engine is closed")]
    Closed,
    /// A read at a timestamp before the oldest that is kept ([`set_oldest`](crate::Engine::set_oldest)).
    #[error("cannot read at {requested}: history is kept from {oldest}")]
    SnapshotTooOld {
        /// The timestamp asked for.
        requested: Timestamp,
        /// The oldest timestamp that can still be read.
        oldest: Timestamp,
    },
    /// Bulk load takes its keys in strictly ascending order.
    #[error("bulk load: a key is not greater than the one before it")]
    KeyOrder,
    /// Keys have at least one byte.
    #[error("a key is empty")]
    EmptyKey,
    /// This engine cannot do that at all.
    #[error("the engine does not support {0}")]
    Unsupported(&'static str),
    /// Anything else, in the engine's own words.
    #[error("engine error {code}: {message}")]
    Other {
        /// The engine's own error number.
        code: i32,
        /// The engine's own message.
        message: String,
    },
}

impl EngineError {
    /// Whether doing the same again, from the start of the batch or read, may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, EngineError::Rollback(_))
    }
}
