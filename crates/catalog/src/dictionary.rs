//! Changing and storing the dictionary.
//!
//! A DDL statement makes a list of [`DictionaryChange`]s. The same list is (1) written into the log as part of the
//! statement's one record, (2) put into the dictionary's engine index with that record's position as timestamp, and
//! (3) applied to the current [`Schema`], whose new version is then published. Recovery does 2 and 3 from the log.
//!
//! Stored form: engine index [`DICTIONARY_INDEX`]; keys `d` + database name, `t` + table id (u64, big endian), `r` + record
//! key, `n` (the next free id); values are the structures in postcard's format behind one version byte.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use selkie_engine::IndexId;
use serde::{Deserialize, Serialize};

use crate::schema::{Database, Schema, Table, TableId};

/// The engine index that holds the dictionary.
pub const DICTIONARY_INDEX: IndexId = IndexId(1);

/// The first id for tables and indexes of users.
pub const FIRST_FREE_ID: u64 = 100;

const FORMAT: u8 = 1;

/// One primitive change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum DictionaryChange {
    /// Adds a database or replaces its properties; its tables stay.
    PutDatabase(Database),
    /// Removes a database, which has no tables any more.
    RemoveDatabase(String),
    /// Adds a table, or replaces the one with the same id (also under another name).
    PutTable(Box<Table>),
    /// Removes a table.
    RemoveTable(TableId),
    /// Adds or replaces an opaque record.
    PutRecord(String, Vec<u8>),
    /// Removes a record.
    RemoveRecord(String),
    /// Sets the next free id.
    NextId(u64),
}

/// What can be wrong with stored dictionary bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DictionaryError {
    /// Bytes that do not decode.
    #[error("the dictionary is damaged: {0}")]
    Corrupt(String),
    /// Written by a later version.
    #[error("the dictionary has format {0}, this server reads up to {FORMAT}")]
    Newer(u8),
}

/// Encodes the changes of one statement for the log.
pub fn encode_changes(changes: &[DictionaryChange]) -> Vec<u8> {
    encode(&changes)
}

/// Decodes what [`encode_changes`] made.
pub fn decode_changes(bytes: &[u8]) -> Result<Vec<DictionaryChange>, DictionaryError> {
    decode(bytes)
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // Serialising owned data into memory has no way to fail.
    postcard::to_extend(value, vec![FORMAT]).unwrap_or_default()
}

fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, DictionaryError> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => {
            postcard::from_bytes(rest).map_err(|e| DictionaryError::Corrupt(e.to_string()))
        }
        Some((&newer, _)) if newer > FORMAT => Err(DictionaryError::Newer(newer)),
        _ => Err(DictionaryError::Corrupt("no format byte".into())),
    }
}

/// A write to the dictionary's engine index: key, and value or deletion.
pub type DictionaryWrite = (Vec<u8>, Option<Vec<u8>>);

/// The engine writes that store a change.
pub fn write_of(change: &DictionaryChange) -> DictionaryWrite {
    let named = |tag: u8, name: &[u8]| [&[tag], name].concat();
    match change {
        DictionaryChange::PutDatabase(d) => (named(b'd', d.name.as_bytes()), Some(encode(d))),
        DictionaryChange::RemoveDatabase(name) => (named(b'd', name.as_bytes()), None),
        DictionaryChange::PutTable(t) => (named(b't', &t.id.to_be_bytes()), Some(encode(t))),
        DictionaryChange::RemoveTable(id) => (named(b't', &id.to_be_bytes()), None),
        DictionaryChange::PutRecord(key, v) => (named(b'r', key.as_bytes()), Some(encode(v))),
        DictionaryChange::RemoveRecord(key) => (named(b'r', key.as_bytes()), None),
        DictionaryChange::NextId(n) => (vec![b'n'], Some(encode(n))),
    }
}

/// Reads a stored entry back as the change that makes it.
pub fn read_entry(key: &[u8], value: &[u8]) -> Result<DictionaryChange, DictionaryError> {
    let Some((tag, name)) = key.split_first() else {
        return Err(DictionaryError::Corrupt("empty key".into()));
    };
    let text = || String::from_utf8(name.to_vec()).map_err(|e| DictionaryError::Corrupt(e.to_string()));
    Ok(match tag {
        b'd' => DictionaryChange::PutDatabase(decode(value)?),
        b't' => DictionaryChange::PutTable(decode(value)?),
        b'r' => DictionaryChange::PutRecord(text()?, decode(value)?),
        b'n' => DictionaryChange::NextId(decode(value)?),
        other => return Err(DictionaryError::Corrupt(format!("unknown kind {other}"))),
    })
}

impl Schema {
    /// The dictionary after some changes: one version later.
    pub fn apply(&self, changes: &[DictionaryChange]) -> Schema {
        let mut next = self.clone();
        next.version += 1;
        for c in changes {
            next.apply_one(c);
        }
        next
    }

    fn apply_one(&mut self, change: &DictionaryChange) {
        match change {
            DictionaryChange::PutDatabase(d) => {
                let mut d = d.clone();
                if let Some(old) = self.databases.get(&d.name) {
                    d.tables = old.tables.clone();
                }
                self.databases.insert(d.name.clone(), Arc::new(d));
            }
            DictionaryChange::RemoveDatabase(name) => {
                if let Some(d) = self.databases.remove(name) {
                    for t in d.tables.values() {
                        self.tables_by_id.remove(&t.id);
                    }
                }
            }
            DictionaryChange::PutTable(t) => {
                self.remove_table(t.id);
                let t = Arc::new((**t).clone());
                if let Some(d) = self.databases.get_mut(&t.db) {
                    Arc::make_mut(d).tables.insert(t.name.clone(), t.clone());
                }
                self.tables_by_id.insert(t.id, t);
            }
            DictionaryChange::RemoveTable(id) => self.remove_table(*id),
            DictionaryChange::PutRecord(key, v) => {
                self.records.insert(key.clone(), Arc::new(v.clone()));
            }
            DictionaryChange::RemoveRecord(key) => {
                self.records.remove(key);
            }
            DictionaryChange::NextId(n) => self.next_id = self.next_id.max(*n),
        }
    }

    fn remove_table(&mut self, id: TableId) {
        let Some(old) = self.tables_by_id.remove(&id) else { return };
        if let Some(d) = self.databases.get_mut(&old.db)
            && d.tables.get(&old.name).is_some_and(|t| t.id == id)
        {
            Arc::make_mut(d).tables.remove(&old.name);
        }
    }

    /// Every engine index that the dictionary refers to, its own included.
    pub fn engine_indexes(&self) -> std::collections::BTreeSet<IndexId> {
        let mut out = std::collections::BTreeSet::from([DICTIONARY_INDEX]);
        for t in self.tables_by_id.values() {
            for p in &t.partitions {
                out.insert(p.rows.into());
                out.extend(p.indexes.iter().map(|i| IndexId::from(*i)));
            }
        }
        out
    }
}

/// The current dictionary: read without locks, replaced by one DDL statement at a time.
pub struct Dictionary {
    current: ArcSwap<Schema>,
    changing: Mutex<()>,
    next_id: std::sync::atomic::AtomicU64,
}

impl Dictionary {
    /// Starts from a schema.
    pub fn new(schema: Schema) -> Dictionary {
        let next = schema.next_id.max(FIRST_FREE_ID);
        Dictionary {
            current: ArcSwap::from_pointee(schema),
            changing: Mutex::new(()),
            next_id: std::sync::atomic::AtomicU64::new(next),
        }
    }

    /// The current version.
    pub fn schema(&self) -> Arc<Schema> {
        self.current.load_full()
    }

    /// The current version's number.
    pub fn version(&self) -> u64 {
        self.current.load().version
    }

    /// A fresh id for a table or an engine index; never used twice as long as the statement logs
    /// [`DictionaryChange::NextId`] with [`Self::next_id_change`].
    pub fn allocate_id(&self) -> u64 {
        self.next_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// The change that records which ids were handed out.
    pub fn next_id_change(&self) -> DictionaryChange {
        DictionaryChange::NextId(self.next_id.load(std::sync::atomic::Ordering::Relaxed))
    }

    /// Runs `commit` (which makes the changes durable) and publishes the new version if it succeeds. One at a time, so that log order
    /// and version order agree.
    pub fn change<T, E>(
        &self,
        changes: &[DictionaryChange],
        commit: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let _one_at_a_time = self.changing.lock();
        let result = commit()?;
        self.publish(changes);
        Ok(result)
    }

    /// Applies changes that are durable already (recovery).
    pub fn publish(&self, changes: &[DictionaryChange]) {
        let next = self.current.load().apply(changes);
        self.next_id.fetch_max(next.next_id, std::sync::atomic::Ordering::Relaxed);
        self.current.store(Arc::new(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::Collation;

    fn database(name: &str) -> Database {
        Database {
            name: name.into(),
            collation: Collation::UTF8MB4_GENERAL_CI,
            comment: String::new(),
            tables: Default::default(),
        }
    }

    #[test]
    fn changes_survive_the_log_and_the_engine() {
        let changes = vec![
            DictionaryChange::PutDatabase(database("d")),
            DictionaryChange::PutRecord("user/root".into(), vec![1, 2]),
            DictionaryChange::NextId(120),
        ];
        let back = decode_changes(&encode_changes(&changes)).unwrap();
        let schema = Schema::default().apply(&back);
        assert!(schema.databases.contains_key("d"));
        assert_eq!(schema.next_id, 120);
        for c in &changes {
            let (key, value) = write_of(c);
            let again = read_entry(&key, &value.unwrap()).unwrap();
            assert_eq!(write_of(&again).0, key);
        }
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        assert!(matches!(decode_changes(&[]), Err(DictionaryError::Corrupt(_))));
        assert!(matches!(decode_changes(&[9, 1]), Err(DictionaryError::Newer(9))));
        assert!(matches!(decode_changes(&[1, 0xFF]), Err(DictionaryError::Corrupt(_))));
    }
}
