//! Engine tables that a statement makes: built off to the side, gone again if the statement fails.

use std::sync::Arc;

use selkie_engine::{Engine, EngineError, IndexId};
use selkie_executor::txn_error;
use selkie_txn::is_volatile;
use selkie_types::{SqlError, SqlResult};

use crate::host::DdlHost;

/// An engine's error as users see it.
pub fn engine_error(e: EngineError) -> SqlError {
    txn_error(e.into())
}

/// Engine tables that were made for a statement. They are dropped again unless it succeeds ([`Self::keep`]).
pub struct NewEngineTables {
    durable: Arc<dyn Engine>,
    volatile: Arc<dyn Engine>,
    ids: Vec<IndexId>,
}

impl NewEngineTables {
    /// None yet.
    pub fn new(host: &dyn DdlHost) -> NewEngineTables {
        NewEngineTables { durable: host.engine(false), volatile: host.engine(true), ids: Vec::new() }
    }

    /// The engine that an index belongs to.
    pub fn engine(&self, id: IndexId) -> &Arc<dyn Engine> {
        if is_volatile(id) { &self.volatile } else { &self.durable }
    }

    /// Makes empty engine tables.
    pub fn create(&mut self, ids: &[IndexId]) -> SqlResult<()> {
        for id in ids {
            self.engine(*id).create_index(*id).map_err(engine_error)?;
            self.ids.push(*id);
        }
        Ok(())
    }

    /// Takes over an engine table that was made by a bulk load.
    pub fn adopt(&mut self, id: IndexId) {
        self.ids.push(id);
    }

    /// The statement succeeded.
    pub fn keep(mut self) {
        self.ids.clear();
    }
}

impl Drop for NewEngineTables {
    fn drop(&mut self) {
        for id in &self.ids {
            if let Err(e) = self.engine(*id).drop_index(*id) {
                tracing::warn!("engine table {id} of a statement that failed is left over until the next start: {e}");
            }
        }
    }
}
