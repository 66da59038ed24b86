//! What tables have at run time beside their rows: the AUTO_INCREMENT counter, the hidden row id counter, row counts.
//!
//! All of it is derived from the rows when a table is first used after a start, and lives in memory only.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxBuildHasher;
use selkie_catalog::{Table, TableId};

use crate::statistics::Sampled;
use selkie_engine::{Engine, ReadAt};
use selkie_txn::is_volatile;
use selkie_types::codec::{decode_key_part, key_part_is_reversible};
use selkie_types::{SqlResult, TimeZone, Value, sql_err};

/// Run-time state of one table.
#[derive(Debug)]
pub struct TableRuntime {
    /// The next AUTO_INCREMENT value that is free.
    auto_increment: Mutex<u64>,
    next_row_id: AtomicU64,
    /// Committed and uncommitted row changes since the start, added to the engine's estimate at the start.
    rows: AtomicI64,
    /// Rows changed since the start.
    pub modified: AtomicU64,
    /// What sampling found of each index.
    pub(crate) sampled: Mutex<HashMap<usize, Sampled, FxBuildHasher>>,
}

impl TableRuntime {
    /// Reserves `count` AUTO_INCREMENT values `first, first + increment, …` with `first ≡ offset (mod increment)`.
    /// `None` when the column type's `max` is passed.
    pub fn reserve(&self, count: u64, increment: u64, offset: u64, max: u64) -> Option<u64> {
        let increment = increment.max(1);
        let offset = if offset > increment { 1 } else { offset.max(1) };
        let mut next = self.auto_increment.lock();
        let from = (*next).max(1);
        let first = if from <= offset {
            offset
        } else {
            let steps = (from - offset).div_ceil(increment);
            offset.checked_add(steps.checked_mul(increment)?)?
        };
        let last = first.checked_add((count - 1).checked_mul(increment)?)?;
        if first > max {
            return None;
        }
        *next = last.saturating_add(1);
        Some(first)
    }

    /// Notes a value that was given explicitly.
    pub fn note(&self, value: u64) {
        let mut next = self.auto_increment.lock();
        if value >= *next {
            *next = value.saturating_add(1);
        }
    }

    /// The next free value, as SHOW TABLE STATUS shows it.
    pub fn auto_increment(&self) -> u64 {
        (*self.auto_increment.lock()).max(1)
    }

    /// ALTER TABLE … AUTO_INCREMENT: never below what is in use.
    pub fn set_auto_increment(&self, value: u64) {
        let mut next = self.auto_increment.lock();
        *next = value.max(*next);
    }

    /// A new hidden row id.
    pub fn row_id(&self) -> u64 {
        self.next_row_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts rows added (negative: removed).
    pub fn count(&self, rows: i64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.modified.fetch_add(rows.unsigned_abs().max(1), Ordering::Relaxed);
    }

    /// About how many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed).max(0) as u64
    }
}

/// The run-time state of all tables in use.
pub struct TableRuntimes {
    engine: Arc<dyn Engine>,
    volatile: Arc<dyn Engine>,
    tables: RwLock<HashMap<TableId, Arc<TableRuntime>, FxBuildHasher>>,
}

impl TableRuntimes {
    /// For tables of these engines.
    pub fn new(engine: Arc<dyn Engine>, volatile: Arc<dyn Engine>) -> TableRuntimes {
        TableRuntimes { engine, volatile, tables: RwLock::default() }
    }

    /// The state of a table; read from its rows on first use.
    pub fn get(&self, table: &Table) -> SqlResult<Arc<TableRuntime>> {
        if let Some(t) = self.tables.read().get(&table.id) {
            return Ok(t.clone());
        }
        let fresh = Arc::new(self.load(table)?);
        Ok(self.tables.write().entry(table.id).or_insert(fresh).clone())
    }

    /// Forgets a table that was dropped or whose rows were replaced.
    pub fn forget(&self, id: TableId) {
        self.tables.write().remove(&id);
    }

    fn load(&self, table: &Table) -> SqlResult<TableRuntime> {
        let rows_index = table.rows_index();
        let engine = if is_volatile(rows_index) { &self.volatile } else { &self.engine };
        let failed = |e: selkie_engine::EngineError| sql_err!(ER_GET_ERRNO, 1877, e.to_string());
        let reader = engine.read(ReadAt::Latest).map_err(failed)?;
        let mut next = table.auto_increment_start.max(1);
        if let Some(column) = table.auto_increment_column() {
            let number = |value: &Value| match value {
                Value::Int(v) => (*v).max(0) as u64,
                Value::UInt(v) => *v,
                Value::Double(d) => d.max(0.0) as u64,
                _ => 0,
            };
            let first = |i: usize| {
                let parts = &table.indexes[i].parts;
                parts.first().is_some_and(|p| p.column == column) && key_part_is_reversible(&table.key_parts(i)[0])
            };
            let mut last = 0;
            if let Some(i) = (0..table.indexes.len()).find(|i| first(*i)) {
                let mut cursor = reader.cursor(table.engine_index(i)).map_err(failed)?;
                let descending = table.indexes[i].parts[0].descending;
                let found = if descending { cursor.first() } else { cursor.last() }.map_err(failed)?;
                if found {
                    let (value, _) = decode_key_part(cursor.key(), &table.key_parts(i)[0], &TimeZone::Offset(0))?;
                    last = number(&value);
                }
            } else {
                // No index begins with it, or one that does not give the value back (FLOAT): the rows tell.
                let mut cursor = reader.cursor(rows_index).map_err(failed)?;
                let mut more = cursor.first().map_err(failed)?;
                while more {
                    let value = table.layout().column(cursor.value(), column, &TimeZone::Offset(0))?;
                    last = last.max(number(&value));
                    more = cursor.next().map_err(failed)?;
                }
            }
            next = next.max(last.saturating_add(1));
        }
        let mut next_row_id = 1;
        if table.primary_key().is_none() {
            let mut cursor = reader.cursor(rows_index).map_err(failed)?;
            if cursor.last().map_err(failed)?
                && let Ok(id) = <[u8; 8]>::try_from(cursor.key())
            {
                next_row_id = u64::from_be_bytes(id) + 1;
            }
        }
        let rows = engine.estimate_rows(rows_index).unwrap_or(0);
        Ok(TableRuntime {
            auto_increment: Mutex::new(next),
            next_row_id: AtomicU64::new(next_row_id),
            rows: AtomicI64::new(rows as i64),
            modified: AtomicU64::new(0),
            sampled: Mutex::default(),
        })
    }
}
