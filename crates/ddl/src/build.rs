//! Filling engine tables: rows and index entries are sorted by key and bulk-loaded, and uniqueness is checked on the way.

use selkie_catalog::Table;
use selkie_catalog::keys::{IndexEntry, clustered_of, index_entry, primary_key, row_id_key};
use selkie_engine::{BulkLoader, IndexId, ReadAt};
use selkie_executor::ExecCtx;
use selkie_types::{SqlError, SqlResult, TimeZone, Value, convert, sql_err};

use crate::engine_tables::{NewEngineTables, engine_error};
use crate::host::DdlSettings;
use crate::sorter::EntrySorter;

/// Keys are built in UTC, as they are stored.
pub const UTC: TimeZone = TimeZone::Offset(0);
/// Longest engine key.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// A temporary file's error as users see it.
pub fn file_error(e: std::io::Error, settings: &DdlSettings) -> SqlError {
    const ENOSPC: i32 = 28;
    let code = e.raw_os_error().unwrap_or(5);
    let name = settings.temporary_directory.join("#sql-index").display().to_string();
    let errno = format!("{code} \"{e}\"");
    if code == ENOSPC {
        return sql_err!(ER_DISK_FULL, name, errno);
    }
    sql_err!(ER_ERROR_ON_WRITE, name, errno)
}

/// Where the rows of a table go.
enum Rows {
    /// They come in the order of their keys.
    Ordered { loader: Option<Box<dyn BulkLoader>>, last: Vec<u8> },
    /// They are sorted first.
    Sorted(EntrySorter),
    /// They are there already: only indexes are built.
    There,
}

/// Fills the engine tables of a table, or only those of some of its indexes.
pub struct TableBuilder<'a> {
    table: &'a Table,
    settings: &'a DdlSettings,
    rows: Rows,
    /// Position in `Table::indexes`, its entries.
    indexes: Vec<(usize, EntrySorter)>,
    next_row_id: u64,
    clustered: Vec<u8>,
    bytes: Vec<u8>,
    entry: IndexEntry,
    /// Rows taken.
    pub count: u64,
}

impl<'a> TableBuilder<'a> {
    /// Fills everything. `ordered`: rows come in ascending order of their clustered keys, or the table has no primary key.
    pub fn whole(
        table: &'a Table,
        ordered: bool,
        settings: &'a DdlSettings,
        engines: &mut NewEngineTables,
    ) -> SqlResult<TableBuilder<'a>> {
        let secondary: Vec<usize> = (0..table.indexes.len()).filter(|i| !table.indexes[*i].primary).collect();
        let share = settings.sort_buffer_bytes / (secondary.len() + 1);
        let rows = if ordered || table.primary_key().is_none() {
            let id = table.rows_index();
            let loader = engines.engine(id).bulk_load(id).map_err(engine_error)?;
            Rows::Ordered { loader: Some(loader), last: Vec::new() }
        } else {
            Rows::Sorted(EntrySorter::new(share, &settings.temporary_directory))
        };
        Ok(Self::new(table, rows, &secondary, share, settings))
    }

    /// Fills some indexes from rows that are where they were.
    pub fn indexes_only(table: &'a Table, indexes: &[usize], settings: &'a DdlSettings) -> TableBuilder<'a> {
        let share = settings.sort_buffer_bytes / indexes.len().max(1);
        Self::new(table, Rows::There, indexes, share, settings)
    }

    fn new(
        table: &'a Table,
        rows: Rows,
        indexes: &[usize],
        share: usize,
        settings: &'a DdlSettings,
    ) -> TableBuilder<'a> {
        let sorter = |i: &usize| (*i, EntrySorter::new(share, &settings.temporary_directory));
        TableBuilder {
            table,
            settings,
            rows,
            indexes: indexes.iter().map(sorter).collect(),
            next_row_id: 1,
            clustered: Vec::new(),
            bytes: Vec::new(),
            entry: IndexEntry::default(),
            count: 0,
        }
    }

    /// Adds a row of the whole table. TIMESTAMP values are in UTC.
    pub fn add(&mut self, row: &[Value]) -> SqlResult<()> {
        self.clustered.clear();
        if self.table.primary_key().is_some() {
            primary_key(self.table, row, &UTC, &mut self.clustered)?;
            check_len(&self.clustered)?;
        } else {
            self.clustered.extend_from_slice(&row_id_key(self.next_row_id));
            self.next_row_id += 1;
        }
        self.bytes.clear();
        self.table.layout().encode(row, &UTC, &mut self.bytes)?;
        match &mut self.rows {
            Rows::Ordered { loader, last } => {
                if *last == self.clustered {
                    return Err(duplicate_of(self.table, 0, row));
                }
                if let Some(l) = loader {
                    l.append(&self.clustered, &self.bytes).map_err(engine_error)?;
                }
                last.clone_from(&self.clustered);
            }
            Rows::Sorted(s) => s.push(&self.clustered, &self.bytes).map_err(|e| file_error(e, self.settings))?,
            Rows::There => {}
        }
        self.add_entries(row)
    }

    /// Adds the index entries of a row that is there already.
    pub fn add_existing(&mut self, clustered: &[u8], row: &[Value]) -> SqlResult<()> {
        self.clustered.clear();
        self.clustered.extend_from_slice(clustered);
        self.add_entries(row)
    }

    fn add_entries(&mut self, row: &[Value]) -> SqlResult<()> {
        self.count += 1;
        for (i, sorter) in &mut self.indexes {
            index_entry(self.table, *i, row, &self.clustered, &UTC, &mut self.entry)?;
            check_len(&self.entry.key)?;
            sorter.push(&self.entry.key, &self.entry.value).map_err(|e| file_error(e, self.settings))?;
        }
        Ok(())
    }

    /// Loads everything that was sorted. Error 1062 names the first duplicate.
    pub fn finish(self, cx: &mut ExecCtx<'_>, engines: &mut NewEngineTables) -> SqlResult<()> {
        let TableBuilder { table, settings, rows, indexes, .. } = self;
        let rows_id = table.rows_index();
        match rows {
            Rows::Ordered { loader, .. } => {
                if let Some(l) = loader {
                    l.finish().map_err(engine_error)?;
                    engines.adopt(rows_id);
                }
            }
            Rows::Sorted(s) => {
                let duplicate = |_: &[u8], bytes: &[u8]| {
                    let mut row = Vec::new();
                    match table.layout().decode(bytes, &UTC, &mut row) {
                        Ok(()) => duplicate_of(table, 0, &row),
                        Err(e) => e,
                    }
                };
                load(s, rows_id, cx, engines, settings, true, &duplicate)?;
            }
            Rows::There => {}
        }
        for (i, sorter) in indexes {
            let def = &table.indexes[i];
            let engine = engines.engine(rows_id).clone();
            let duplicate = |key: &[u8], value: &[u8]| {
                let row = clustered_of(def, key, value).and_then(|clustered| {
                    let reader = engine.read(ReadAt::Latest).ok()?;
                    let mut bytes = Vec::new();
                    let mut row = Vec::new();
                    (reader.get(rows_id, clustered, &mut bytes).ok()?).then_some(())?;
                    table.layout().decode(&bytes, &UTC, &mut row).ok()?;
                    Some(row)
                });
                match row {
                    Some(row) => duplicate_of(table, i, &row),
                    None => sql_err!(ER_DUP_UNKNOWN_IN_INDEX, def.name),
                }
            };
            load(sorter, table.engine_index(i), cx, engines, settings, def.unique, &duplicate)?;
        }
        Ok(())
    }
}

fn check_len(key: &[u8]) -> SqlResult<()> {
    if key.len() > KEY_BYTES_MAX {
        return Err(sql_err!(ER_TOO_LONG_KEY, crate::index::KEY_BYTES_MAX));
    }
    Ok(())
}

fn load(
    sorter: EntrySorter,
    id: IndexId,
    cx: &mut ExecCtx<'_>,
    engines: &mut NewEngineTables,
    settings: &DdlSettings,
    unique: bool,
    duplicate: &dyn Fn(&[u8], &[u8]) -> SqlError,
) -> SqlResult<()> {
    let mut sorted = sorter.finish().map_err(|e| file_error(e, settings))?;
    let mut loader = engines.engine(id).bulk_load(id).map_err(engine_error)?;
    let (mut key, mut value, mut last) = (Vec::new(), Vec::new(), Vec::new());
    while sorted.next(&mut key, &mut value).map_err(|e| file_error(e, settings))? {
        cx.tick()?;
        if key == last && unique {
            return Err(duplicate(&key, &value));
        }
        loader.append(&key, &value).map_err(engine_error)?;
        std::mem::swap(&mut key, &mut last);
    }
    loader.finish().map_err(engine_error)?;
    engines.adopt(id);
    Ok(())
}

/// Error 1062 for a row that met another in a unique index.
fn duplicate_of(table: &Table, index: usize, row: &[Value]) -> SqlError {
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
