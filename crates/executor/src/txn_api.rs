//! The transaction type that the executor works with, and its errors in MariaDB's words.

use selkie_txn::TxnError;
use selkie_types::{SqlError, sql_err};

/// The session's transaction.
pub type Txn = selkie_txn::Txn;

/// Result of operations on the transaction that also pass SQL errors through.
#[derive(Debug)]
pub enum ExecError {
    /// From the transaction layer.
    Txn(TxnError),
    /// From evaluation.
    Sql(SqlError),
}

impl From<TxnError> for ExecError {
    fn from(e: TxnError) -> Self {
        ExecError::Txn(e)
    }
}

impl From<SqlError> for ExecError {
    fn from(e: SqlError) -> Self {
        ExecError::Sql(e)
    }
}

impl From<ExecError> for SqlError {
    fn from(e: ExecError) -> SqlError {
        match e {
            ExecError::Txn(t) => txn_error(t),
            ExecError::Sql(e) => e,
        }
    }
}

/// A transaction error as clients see it. The one place where these meet MariaDB's numbers.
pub fn txn_error(e: TxnError) -> SqlError {
    match e {
        TxnError::LockWaitTimeout | TxnError::LockNotAvailable => sql_err!(ER_LOCK_WAIT_TIMEOUT),
        TxnError::Deadlock => sql_err!(ER_LOCK_DEADLOCK),
        TxnError::SnapshotConflict => sql_err!(ER_CHECKREAD, ""),
        TxnError::Killed => sql_err!(ER_QUERY_INTERRUPTED),
        TxnError::DiskFull(what) => sql_err!(ER_DISK_FULL, what, 28),
        TxnError::Engine(e) => sql_err!(ER_GET_ERRNO, 1877, e.to_string()),
        TxnError::Log(m) | TxnError::CommitUnknown(m) => sql_err!(ER_ERROR_DURING_COMMIT, 5, m),
        TxnError::LogPoisoned(m) => SqlError::raw(
            selkie_types::codes::ER_OPTION_PREVENTS_STATEMENT,
            "HY000",
            format!("The server takes no more writes until it is restarted: {m}"),
        ),
    }
}
