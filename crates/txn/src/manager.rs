//! Everything that transactions share: engines, locks, snapshots, the pipeline, and upkeep of the engine's horizon.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selkie_engine::{Engine, IndexId, Timestamp};

use crate::error::Result;
use crate::locks::LockTable;
use crate::pipeline::{CommitLog, Pipeline};
use crate::snapshots::Snapshots;
use crate::transaction::Transaction;

/// Set in the ids of indexes that live in the volatile engine (temporary tables).
pub const VOLATILE: u64 = 1 << 63;

/// Whether an index lives in the volatile engine.
pub fn is_volatile(index: IndexId) -> bool {
    index.0 & VOLATILE != 0
}

/// The shared part of all transactions. One for a server.
pub struct TxnManager<L: CommitLog> {
    /// The engine whose contents the log can make again.
    pub engine: Arc<dyn Engine>,
    /// The engine of temporary tables: not logged, gone with the server.
    pub volatile: Arc<dyn Engine>,
    /// Row and table locks.
    pub locks: Arc<LockTable>,
    /// Snapshots in use and the durable position.
    pub snapshots: Arc<Snapshots>,
    /// The commit pipeline.
    pub pipeline: Pipeline<L>,
    next_owner: AtomicU64,
}

impl<L: CommitLog> TxnManager<L> {
    /// Puts the parts together. `end` is the log's end after recovery: everything before is in the engine.
    pub fn new(engine: Arc<dyn Engine>, volatile: Arc<dyn Engine>, log: L, end: Timestamp) -> Arc<TxnManager<L>> {
        let locks = Arc::new(LockTable::new());
        let snapshots = Arc::new(Snapshots::new(end));
        let pipeline = Pipeline::new(log, locks.clone(), snapshots.clone());
        Arc::new(TxnManager { engine, volatile, locks, snapshots, pipeline, next_owner: AtomicU64::new(1) })
    }

    /// A transaction for a session.
    pub fn transaction(self: &Arc<Self>) -> Transaction<L> {
        Transaction::new(self.clone())
    }

    pub(crate) fn next_owner_id(&self) -> u64 {
        self.next_owner.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets the engine forget what no snapshot can see any more. To be called a few times a second.
    pub fn advance_oldest(&self) -> Result<Timestamp> {
        let oldest = self.snapshots.advance();
        self.engine.set_durable(self.snapshots.durable())?;
        self.engine.set_oldest(oldest)?;
        Ok(oldest)
    }

    /// Writes an engine checkpoint that holds exactly what is durable in the log, and returns its position: the log
    /// before it is not needed for recovery any more.
    pub fn checkpoint(&self) -> Result<Timestamp> {
        // With sync_binlog other than 1 the visible end may not be on the medium yet.
        let safe = if self.pipeline.settings().sync_binlog == 1 {
            self.snapshots.durable()
        } else {
            self.pipeline.sync_now()?
        };
        self.engine.set_durable(safe)?;
        Ok(self.engine.checkpoint()?)
    }
}
