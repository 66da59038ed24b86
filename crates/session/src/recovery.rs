//! Replaying the log into the engine after a start: the log's intact prefix is the database.
//!
//! The engine comes back at a checkpoint, which belongs to a log position; every transaction that ends behind it is
//! applied again with its end position as timestamp, dictionary changes included, in log order. Row events are decoded
//! with the dictionary as it was at their place in the log. A write to an engine index that is not there belongs to a
//! table that a later record dropped, and is passed over.

use std::sync::Arc;
use std::time::Instant;

use hashbrown::HashMap;
use selkie_binlog::event::{EventBody, RowsKind, SelkieEvent, SelkieKind};
use selkie_binlog::log::LoggedTransaction;
use selkie_binlog::row::{RowColumn, RowReader};
use selkie_binlog::{LogError, LogPosition};
use selkie_catalog::dictionary::{DICTIONARY_INDEX, DictionaryChange, decode_changes, read_entry, write_of};
use selkie_catalog::keys::{IndexEntry, index_entry, primary_key};
use selkie_catalog::{Schema, Table};
use selkie_engine::{Engine, EngineError, IndexId, ReadAt};
use selkie_txn::write_set::WriteSet;
use selkie_types::{SqlError, TimeZone, Value};

/// Why the database cannot be brought back.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// The log.
    #[error("{0}")]
    Log(#[from] LogError),
    /// The engine.
    #[error("storage engine: {0}")]
    Engine(#[from] EngineError),
    /// Log and dictionary do not agree.
    #[error("log position {position}: {what}")]
    Inconsistent {
        /// End of the transaction.
        position: u64,
        /// What is wrong.
        what: String,
    },
    /// The stored dictionary.
    #[error("{0}")]
    Dictionary(#[from] selkie_catalog::dictionary::DictionaryError),
}

type Result<T> = std::result::Result<T, RecoveryError>;

const UTC: TimeZone = TimeZone::Offset(0);

/// Reads the dictionary that the engine holds.
pub fn load_dictionary(engine: &dyn Engine) -> Result<Schema> {
    let mut changes = Vec::new();
    if engine.indexes()?.contains(&DICTIONARY_INDEX) {
        let reader = engine.read(ReadAt::Latest)?;
        let mut cursor = reader.cursor(DICTIONARY_INDEX)?;
        let mut more = cursor.first()?;
        while more {
            changes.push(read_entry(cursor.key(), cursor.value())?);
            more = cursor.next()?;
        }
    } else {
        engine.create_index(DICTIONARY_INDEX)?;
    }
    // Databases before their tables.
    changes.sort_by_key(|c| !matches!(c, DictionaryChange::PutDatabase(_)));
    Ok(Schema::default().apply(&changes))
}

/// What replaying did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replayed {
    /// Transactions applied.
    pub transactions: u64,
    /// Rows changed.
    pub rows: u64,
}

/// Applies the log's transactions that end behind `from`.
pub struct Replay<'a> {
    engine: &'a Arc<dyn Engine>,
    schema: Schema,
    indexes: std::collections::BTreeSet<IndexId>,
    columns: HashMap<u64, Vec<RowColumn>>,
    replayed: Replayed,
    told: Instant,
}

impl<'a> Replay<'a> {
    /// Begins with the dictionary as the engine holds it.
    pub fn new(engine: &'a Arc<dyn Engine>, schema: Schema) -> Result<Replay<'a>> {
        let indexes = engine.indexes()?.into_iter().collect();
        Ok(Replay { engine, schema, indexes, columns: HashMap::new(), replayed: Replayed::default(), told: Instant::now() })
    }

    /// Applies one transaction.
    pub fn apply(&mut self, t: &LoggedTransaction) -> Result<()> {
        let end = t.end.0;
        let wrong = |what: String| RecoveryError::Inconsistent { position: end, what };
        let mut writes = WriteSet::default();
        let mut map: HashMap<u64, Arc<Table>> = HashMap::new();
        // Rows of tables without primary key wait for their hidden ids, which follow the statement's rows.
        let mut waiting: Vec<(Arc<Table>, Change)> = Vec::new();
        for event in t.replay_events() {
            match event?.body {
                EventBody::Selkie(SelkieEvent { kind: SelkieKind::Dictionary(bytes), .. }) => {
                    let changes = decode_changes(&bytes)?;
                    self.change_dictionary(&changes, &mut writes)?;
                }
                EventBody::Selkie(SelkieEvent { kind: SelkieKind::RowKeys(keys), .. }) => {
                    let mut rows = std::mem::take(&mut waiting).into_iter();
                    for key in keys.chunks_exact(16) {
                        let (table, change) =
                            rows.next().ok_or_else(|| wrong("more hidden row ids than rows".into()))?;
                        write_change(&mut writes, &table, &change, Some(&key[8..])).map_err(|e| wrong(e.to_string()))?;
                    }
                }
                EventBody::TableMap(m) => {
                    let table = self.schema.tables_by_id.get(&m.table_id).cloned();
                    let table = table.or_else(|| self.schema.table(&m.database, &m.table).cloned());
                    let table = table.ok_or_else(|| wrong(format!("table {}.{} is unknown", m.database, m.table)))?;
                    if table.columns.len() != m.columns.len() {
                        return Err(wrong(format!("table {}.{} has other columns", m.database, m.table)));
                    }
                    let columns = || table.columns.iter().map(|c| RowColumn::of(&c.ty)).collect();
                    self.columns.entry(table.id).or_insert_with(columns);
                    map.insert(m.table_id, table);
                }
                EventBody::Rows(rows) => {
                    let table = map.get(&rows.table_id).ok_or_else(|| wrong("rows without Table_map".into()))?;
                    let columns = &self.columns[&table.id];
                    let reader = RowReader::new(&rows, columns).map_err(|e| wrong(e.to_string()))?;
                    for row in reader {
                        let row = row.map_err(|e| wrong(e.to_string()))?;
                        let image = |i: Option<selkie_binlog::row::Image>| i.and_then(|i| i.into_row());
                        let change = match rows.kind {
                            RowsKind::Write => (None, image(row.after)),
                            RowsKind::Delete => (image(row.before), None),
                            RowsKind::Update => (image(row.before), image(row.after)),
                        };
                        self.replayed.rows += 1;
                        if table.primary_key().is_none() {
                            waiting.push((table.clone(), change));
                        } else {
                            write_change(&mut writes, table, &change, None).map_err(|e| wrong(e.to_string()))?;
                        }
                    }
                }
                _ => {}
            }
        }
        if !waiting.is_empty() {
            return Err(wrong("rows of a table without primary key lack their hidden ids".into()));
        }
        self.write(&writes, end)?;
        self.replayed.transactions += 1;
        if self.told.elapsed().as_secs() >= 5 {
            tracing::info!("recovery: {} transactions applied, at log position {end}", self.replayed.transactions);
            self.told = Instant::now();
        }
        Ok(())
    }

    /// The dictionary at the end, and what was done.
    pub fn finish(self) -> (Schema, Replayed) {
        (self.schema, self.replayed)
    }

    fn change_dictionary(&mut self, changes: &[DictionaryChange], writes: &mut WriteSet) -> Result<()> {
        self.schema = self.schema.apply(changes);
        self.columns.clear();
        for id in self.schema.engine_indexes() {
            if self.indexes.insert(id) {
                match self.engine.create_index(id) {
                    Ok(()) | Err(EngineError::AlreadyExists(_)) => {}
                    Err(e) => return Err(e.into()),
                }
            }
        }
        for c in changes {
            let (key, value) = write_of(c);
            writes.set(DICTIONARY_INDEX, &key, value);
        }
        Ok(())
    }

    fn write(&self, writes: &WriteSet, end: u64) -> Result<()> {
        Ok(selkie_txn::transaction::write_in_parts(&**self.engine, writes, end, true)?)
    }
}

/// A row before and after.
type Change = (Option<Vec<Value>>, Option<Vec<Value>>);

fn write_change(
    writes: &mut WriteSet,
    table: &Table,
    (before, after): &Change,
    row_id: Option<&[u8]>,
) -> std::result::Result<(), SqlError> {
    let clustered = |row: &[Value]| -> std::result::Result<Vec<u8>, SqlError> {
        let mut key = row_id.map(<[u8]>::to_vec).unwrap_or_default();
        if row_id.is_none() {
            primary_key(table, row, &UTC, &mut key)?;
        }
        Ok(key)
    };
    let mut entry = IndexEntry::default();
    let secondary = table.primary_key().is_some() as usize..table.indexes.len();
    if let Some(row) = before {
        let key = clustered(row)?;
        for i in secondary.clone() {
            index_entry(table, i, row, &key, &UTC, &mut entry)?;
            writes.set(table.engine_index(i), &entry.key, None);
        }
        writes.set(table.rows_index(), &key, None);
    }
    if let Some(row) = after {
        let key = clustered(row)?;
        for i in secondary {
            index_entry(table, i, row, &key, &UTC, &mut entry)?;
            writes.set(table.engine_index(i), &entry.key, Some(entry.value.clone()));
        }
        let mut bytes = Vec::new();
        table.layout().encode(row, &UTC, &mut bytes)?;
        writes.set(table.rows_index(), &key, Some(bytes));
    }
    Ok(())
}

/// Drops engine indexes that the dictionary does not know: what unfinished DDL left. Returns how many.
pub fn drop_leftovers(engine: &dyn Engine, schema: &Schema) -> Result<usize> {
    let known = schema.engine_indexes();
    let mut dropped = 0;
    for id in engine.indexes()? {
        if !known.contains(&id) {
            engine.drop_index(id)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

/// The position from which the log must be replayed.
pub fn replay_from(engine: &dyn Engine) -> LogPosition {
    LogPosition(engine.recovered())
}
