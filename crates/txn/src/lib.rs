//! Transactions: row locks, snapshots, write sets, and the commit pipeline.
//!
//! The life of a write: a statement locks a row ([`Transaction::lock_and_get`]), writes its new version into the
//! transaction's [overlay](write_set::WriteSet) ([`Transaction::put`]), and [`Transaction::commit`] takes all of
//! it through the [commit pipeline](pipeline), which appends the events to the log, orders the engine commits, releases the
//! locks and syncs, once for a whole group. A read sees the engine at the transaction's
//! [snapshot](snapshots::Snapshots), which is a position of the log, with the overlay on top.
//!
//! It must not know SQL, tables, rows, or what the log's events say.

pub mod binlog_log;
pub mod error;
pub mod locks;
pub mod manager;
pub mod pipeline;
pub mod scan;
pub mod snapshots;
pub mod transaction;
pub mod write_set;

pub use binlog_log::BinlogLog;
pub use error::{Result, TxnError};
pub use locks::{LockOwner, Mode, Wait};
pub use manager::{TxnManager, VOLATILE, is_volatile};
pub use pipeline::{AppendError, CommitLog, CommitSettings, Pipeline};
pub use scan::{Read, Scan};
pub use transaction::{Isolation, Mark, Transaction};

/// A session's transaction over the server's log.
pub type Txn = Transaction<BinlogLog>;
