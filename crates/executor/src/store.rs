//! Writing rows: locks, uniqueness, index entries, the log.
//!
//! The order for each row is: lock every key that the row will own, check uniqueness at the newest commit, write, tell
//! the log. A duplicate is reported with the index and the clustered key of the row in the way, so that REPLACE and ON
//! DUPLICATE KEY UPDATE can go on from there.

use selkie_catalog::Table;
use selkie_catalog::keys::{IndexEntry, index_entry, primary_key, row_id_key};
use selkie_txn::{Mode, Read};
use selkie_types::{SqlError, SqlResult, Value, convert, sql_err};

use crate::context::ExecCtx;
use crate::foreign::{self, Cascade};
use crate::txn_api::txn_error;

/// The outcome of trying to write a row.
pub enum Written {
    /// It is written.
    Done,
    /// Another row has the same key.
    Duplicate {
        /// Position of the index in `Table::indexes`.
        index: usize,
        /// Clustered key of the other row.
        clustered: Vec<u8>,
    },
}

/// Takes the intention lock that a statement needs before it changes rows of a table.
pub fn lock_table_for_write(cx: &mut ExecCtx<'_>, table: &Table) -> SqlResult<()> {
    cx.txn.lock(table.rows_index(), b"", Mode::IntentionExclusive, None).map_err(txn_error)
}

/// Inserts a complete, checked row. Foreign keys are checked when its own keys are known to be free.
pub fn insert_row(cx: &mut ExecCtx<'_>, table: &Table, row: &[Value]) -> SqlResult<Written> {
    let tz = cx.settings.time_zone.clone();
    let rows = table.rows_index();
    let mut clustered = Vec::with_capacity(16);
    let mut scratch = Vec::new();
    if table.primary_key().is_some() {
        primary_key(table, row, &tz, &mut clustered)?;
        check_key_length(&clustered)?;
        cx.txn.lock(rows, &clustered, Mode::Exclusive, None).map_err(txn_error)?;
        if cx.txn.get(rows, &clustered, Read::Latest, &mut scratch).map_err(txn_error)? {
            return Ok(Written::Duplicate { index: 0, clustered });
        }
    } else {
        clustered.extend_from_slice(&row_id_key(cx.tables.get(table)?.row_id()));
    }
    let entries = entries_of(cx, table, row, &clustered)?;
    for (i, entry) in &entries {
        if let Some(other) = unique_conflict(cx, table, *i, entry, None)? {
            return Ok(Written::Duplicate { index: *i, clustered: other });
        }
    }
    foreign::check_parents(cx, table, None, row, None)?;
    let mut bytes = Vec::with_capacity(64);
    table.layout().encode(row, &tz, &mut bytes)?;
    cx.txn.put(rows, &clustered, bytes);
    for (i, entry) in entries {
        cx.txn.put(table.engine_index(i), &entry.key, entry.value);
    }
    cx.tables.get(table)?.count(1);
    if !table.temporary {
        cx.log.insert(table, row, &clustered)?;
    }
    Ok(Written::Done)
}

/// Replaces the row at `clustered` (locked by the caller) whose contents are `before` by `after`, and applies ON UPDATE
/// to the rows that refer to it.
pub fn update_row(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    before: &[Value],
    after: &[Value],
) -> SqlResult<Written> {
    replace_row(cx, table, clustered, before, after, &mut Cascade::default())
}

/// As [`update_row`], as part of a cascade.
pub(crate) fn replace_row(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    before: &[Value],
    after: &[Value],
    cascade: &mut Cascade,
) -> SqlResult<Written> {
    let through = cascade.through();
    let tz = cx.settings.time_zone.clone();
    let rows = table.rows_index();
    let mut new_clustered = Vec::with_capacity(clustered.len());
    let mut moved = false;
    if table.primary_key().is_some() {
        primary_key(table, after, &tz, &mut new_clustered)?;
        check_key_length(&new_clustered)?;
        moved = new_clustered != clustered;
    } else {
        new_clustered.extend_from_slice(clustered);
    }
    if moved {
        cx.txn.lock(rows, &new_clustered, Mode::Exclusive, None).map_err(txn_error)?;
        let mut scratch = Vec::new();
        if cx.txn.get(rows, &new_clustered, Read::Latest, &mut scratch).map_err(txn_error)? {
            return Ok(Written::Duplicate { index: 0, clustered: new_clustered });
        }
    }
    let mut changes = Vec::new();
    for i in secondary(table) {
        let touched = moved || table.indexes[i].parts.iter().any(|p| before[p.column] != after[p.column]);
        if !touched {
            continue;
        }
        let mut old = IndexEntry::default();
        let mut new = IndexEntry::default();
        index_entry(table, i, before, clustered, &tz, &mut old)?;
        index_entry(table, i, after, &new_clustered, &tz, &mut new)?;
        check_key_length(&new.key)?;
        if old == new {
            continue;
        }
        if old.key != new.key
            && let Some(other) = unique_conflict(cx, table, i, &new, Some(clustered))?
        {
            return Ok(Written::Duplicate { index: i, clustered: other });
        }
        changes.push((i, old, new));
    }
    foreign::check_parents(cx, table, Some(before), after, through.as_deref())?;
    foreign::before_update(cx, table, clustered, before, after, cascade)?;
    let mut bytes = Vec::with_capacity(64);
    table.layout().encode(after, &tz, &mut bytes)?;
    if moved {
        cx.txn.delete(rows, clustered);
    }
    cx.txn.put(rows, &new_clustered, bytes);
    for (i, old, new) in changes {
        let index = table.engine_index(i);
        if old.key != new.key {
            if table.indexes[i].unique && !old.has_null {
                // Whoever inserts the freed key must wait for this transaction.
                cx.txn.lock(index, &old.key, Mode::Exclusive, None).map_err(txn_error)?;
            }
            cx.txn.delete(index, &old.key);
        }
        cx.txn.put(index, &new.key, new.value);
    }
    if !table.temporary {
        cx.log.update(table, before, after, clustered)?;
    }
    cx.tables.get(table)?.count(0);
    Ok(Written::Done)
}

/// Deletes the row at `clustered` (locked by the caller), after applying ON DELETE to the rows that refer to it.
pub fn delete_row(cx: &mut ExecCtx<'_>, table: &Table, clustered: &[u8], row: &[Value]) -> SqlResult<()> {
    remove_row(cx, table, clustered, row, &mut Cascade::default())
}

/// As [`delete_row`], as part of a cascade.
pub(crate) fn remove_row(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    row: &[Value],
    cascade: &mut Cascade,
) -> SqlResult<()> {
    foreign::before_delete(cx, table, clustered, row, cascade)?;
    let entries = entries_of(cx, table, row, clustered)?;
    for (i, entry) in entries {
        let index = table.engine_index(i);
        if table.indexes[i].unique && !entry.has_null {
            cx.txn.lock(index, &entry.key, Mode::Exclusive, None).map_err(txn_error)?;
        }
        cx.txn.delete(index, &entry.key);
    }
    cx.txn.delete(table.rows_index(), clustered);
    cx.tables.get(table)?.count(-1);
    if !table.temporary {
        cx.log.delete(table, row, clustered)?;
    }
    Ok(())
}

/// Locks and reads the row at a clustered key, all columns. `None` if it is gone.
pub fn lock_and_read(cx: &mut ExecCtx<'_>, table: &Table, clustered: &[u8]) -> SqlResult<Option<Vec<Value>>> {
    let mut bytes = Vec::new();
    let there = cx
        .txn
        .lock_and_get(table.rows_index(), clustered, Mode::Exclusive, None, &mut bytes)
        .map_err(|e| conflict_in(table, e))?;
    if !there {
        return Ok(None);
    }
    let mut row = Vec::with_capacity(table.columns.len());
    table.layout().decode(&bytes, &cx.settings.time_zone, &mut row)?;
    Ok(Some(row))
}

/// A transaction error, with the table's name in a snapshot conflict.
pub fn conflict_in(table: &Table, e: selkie_txn::TxnError) -> SqlError {
    match e {
        selkie_txn::TxnError::SnapshotConflict => sql_err!(ER_CHECKREAD, table.name),
        e => txn_error(e),
    }
}

/// Error 1062 for a row that met another in a unique index.
pub fn duplicate_error(cx: &ExecCtx<'_>, table: &Table, index: usize, row: &[Value]) -> SqlError {
    let _ = cx;
    let def = &table.indexes[index];
    let mut entry = Vec::new();
    for (i, part) in def.parts.iter().enumerate() {
        if i > 0 {
            entry.push(b'-');
        }
        match &row[part.column] {
            Value::Null => entry.extend_from_slice(b"NULL"),
            v => convert::write_text(v, &table.columns[part.column].ty, &mut entry),
        }
    }
    sql_err!(ER_DUP_ENTRY, String::from_utf8_lossy(&entry), def.name)
}

/// The engine's longest key: as InnoDB's, 3072 bytes of parts, and a clustered key behind it.
const KEY_BYTES_MAX: usize = 16 * 1024;

fn check_key_length(key: &[u8]) -> SqlResult<()> {
    if key.len() > KEY_BYTES_MAX {
        return Err(sql_err!(ER_TOO_LONG_KEY, 3072));
    }
    Ok(())
}

fn secondary(table: &Table) -> std::ops::Range<usize> {
    table.primary_key().is_some() as usize..table.indexes.len()
}

fn entries_of(cx: &ExecCtx<'_>, table: &Table, row: &[Value], clustered: &[u8]) -> SqlResult<Vec<(usize, IndexEntry)>> {
    let mut entries = Vec::with_capacity(table.indexes.len());
    for i in secondary(table) {
        let mut entry = IndexEntry::default();
        index_entry(table, i, row, clustered, &cx.settings.time_zone, &mut entry)?;
        check_key_length(&entry.key)?;
        entries.push((i, entry));
    }
    Ok(entries)
}

/// Locks a unique key and returns the clustered key of another row that has it.
fn unique_conflict(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    index: usize,
    entry: &IndexEntry,
    own: Option<&[u8]>,
) -> SqlResult<Option<Vec<u8>>> {
    if !table.indexes[index].unique || entry.has_null {
        return Ok(None);
    }
    let engine_index = table.engine_index(index);
    cx.txn.lock(engine_index, &entry.key, Mode::Exclusive, None).map_err(txn_error)?;
    let mut other = Vec::new();
    let there = cx.txn.get(engine_index, &entry.key, Read::Latest, &mut other).map_err(txn_error)?;
    Ok((there && own != Some(&other[..])).then_some(other))
}
