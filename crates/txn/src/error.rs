//! What can go wrong in a transaction, before it has a MariaDB error number (given in `session`).

use selkie_engine::EngineError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, TxnError>;

/// Errors of locking, reading, writing and committing.
#[derive(Debug, thiserror::Error)]
pub enum TxnError {
    /// `innodb_lock_wait_timeout` passed.
    #[error("lock wait timeout exceeded")]
    LockWaitTimeout,
    /// NOWAIT and the lock is taken.
    #[error("lock is held by another transaction")]
    LockNotAvailable,
    /// This transaction was chosen to end a cycle of waits.
    #[error("deadlock found when trying to get lock")]
    Deadlock,
    /// The row changed since the transaction's snapshot.
    #[error("record has changed since last read")]
    SnapshotConflict,
    /// KILL.
    #[error("interrupted")]
    Killed,
    /// The engine failed.
    #[error("engine: {0}")]
    Engine(#[from] EngineError),
    /// The log failed before anything of the transaction was in it: the transaction is rolled back.
    #[error("log: {0}")]
    Log(String),
    /// A write or sync of the log failed before: the server takes no more writes until it is restarted.
    #[error("the log has failed, no more writes are taken: {0}")]
    LogPoisoned(String),
    /// The log's sync failed after the transaction's events were written: only recovery can tell whether it is committed.
    #[error("the log could not be synced: {0}")]
    CommitUnknown(String),
    /// The log takes nothing more now: medium full.
    #[error("the log's disk is full: {0}")]
    DiskFull(String),
}
