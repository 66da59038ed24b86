//! ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE: a result row or two for each table.

use selkie_catalog::keys::{IndexEntry, clustered_of, index_entry};
use selkie_catalog::{Table, TableKind};
use selkie_engine::{EngineError, ReadAt};
use selkie_executor::ExecCtx;
use selkie_parser::ast::{AlterAction, AlterTable, MaintenanceKind, ObjectName, TableMaintenance};
use selkie_types::{Collation, IntWidth, SqlResult, SqlType, Value, codes, convert, sql_err};

use crate::alter;
use crate::build::UTC;
use crate::engine_tables::{NewEngineTables, engine_error};
use crate::host::DdlHost;
use crate::names::{self, FullName};

/// The rows that a maintenance statement returns.
#[derive(Debug, Clone, PartialEq)]
pub struct MaintenanceResult {
    /// Names and types of the columns.
    pub columns: Vec<(&'static str, SqlType)>,
    /// Rows.
    pub rows: Vec<Vec<Value>>,
}

/// Runs a maintenance statement. Errors of single tables become rows; only KILL ends it.
pub fn maintain(s: &TableMaintenance, host: &mut dyn DdlHost) -> SqlResult<MaintenanceResult> {
    let text = |len| SqlType::varchar(len, Collation::UTF8MB3_GENERAL_CI);
    let mut result = match s.kind {
        MaintenanceKind::Checksum { .. } => MaintenanceResult {
            columns: vec![("Table", text(128)), ("Checksum", SqlType::int(IntWidth::Big, true))],
            rows: Vec::new(),
        },
        _ => MaintenanceResult {
            columns: vec![("Table", text(128)), ("Op", text(10)), ("Msg_type", text(10)), ("Msg_text", text(512))],
            rows: Vec::new(),
        },
    };
    for t in &s.tables {
        let name = names::resolve(t, host)?;
        if let MaintenanceKind::Checksum { .. } = s.kind {
            let sum = checksum(&name, host)?;
            result.rows.push(vec![Value::text(&name.to_string()), sum.map_or(Value::Null, Value::UInt)]);
            continue;
        }
        let op = match s.kind {
            MaintenanceKind::Analyze { .. } => "analyze",
            MaintenanceKind::Check(_) => "check",
            MaintenanceKind::Optimize => "optimize",
            _ => "repair",
        };
        for (kind, message) in one(s, t, &name, host)? {
            let row = [&name.to_string(), op, kind, &message].map(Value::text);
            result.rows.push(row.into());
        }
    }
    Ok(result)
}

type Messages = Vec<(&'static str, String)>;

fn failed(e: &selkie_types::SqlError) -> Messages {
    vec![("Error", e.message().to_owned()), ("status", "Operation failed".into())]
}

fn find(name: &FullName, host: &mut dyn DdlHost) -> SqlResult<std::sync::Arc<Table>> {
    if let Some(t) = host.temporary_table(&name.db, &name.name) {
        return Ok(t);
    }
    host.require("SELECT", &name.db, &name.name)?;
    host.lock_metadata(&name.db, &name.name, false, None)?;
    let schema = host.schema();
    schema.table(&name.db, &name.name).cloned().ok_or_else(|| sql_err!(ER_NO_SUCH_TABLE, name.db, name.name))
}

fn one(s: &TableMaintenance, object: &ObjectName, name: &FullName, host: &mut dyn DdlHost) -> SqlResult<Messages> {
    let table = match find(name, host) {
        Ok(t) => t,
        Err(e) if e.code() == codes::ER_QUERY_INTERRUPTED => return Err(e),
        Err(e) => return Ok(failed(&e)),
    };
    let ok = || vec![("status", "OK".to_owned())];
    if let TableKind::View(_) = table.kind {
        return Ok(match s.kind {
            MaintenanceKind::Check(_) => match crate::view::check(&table, host) {
                Ok(()) => ok(),
                Err(e) => vec![("Error", e.message().to_owned()), ("error", "Corrupt".into())],
            },
            MaintenanceKind::Repair(_) => ok(),
            _ => failed(&sql_err!(ER_WRONG_OBJECT, name.db, name.name, "BASE TABLE")),
        });
    }
    Ok(match &s.kind {
        MaintenanceKind::Analyze { persistent: None } => ok(),
        MaintenanceKind::Analyze { .. } => {
            vec![("status", "Engine-independent statistics collected".to_owned()), ("status", "OK".to_owned())]
        }
        MaintenanceKind::Check(_) => match check(&table, host) {
            Ok(None) => ok(),
            Ok(Some(what)) => vec![("error", what), ("error", "Corrupt".into())],
            Err(e) if e.code() == codes::ER_QUERY_INTERRUPTED => return Err(e),
            Err(e) => failed(&e),
        },
        MaintenanceKind::Optimize => {
            let note = "Table does not support optimize, doing recreate + analyze instead".to_owned();
            match recreate(object, name, host) {
                Ok(()) => vec![("note", note), ("status", "OK".into())],
                Err(e) if e.code() == codes::ER_QUERY_INTERRUPTED => return Err(e),
                Err(e) => failed(&e),
            }
        }
        _ => vec![("note", "The storage engine for the table doesn't support repair".into())],
    })
}

/// Writes a table anew.
fn recreate(object: &ObjectName, name: &FullName, host: &mut dyn DdlHost) -> SqlResult<()> {
    let s = AlterTable {
        online: false,
        ignore: false,
        if_exists: false,
        name: object.clone(),
        wait: None,
        actions: vec![AlterAction::Force],
    };
    let quoted = selkie_parser::display::quoted_ident;
    let text = format!("OPTIMIZE TABLE {}.{}", quoted(&name.db), quoted(&name.name));
    alter::alter(&s, text.as_bytes(), host).map(|_| ())
}

/// Verifies the engine tables of a table and that rows and index entries match. What is wrong, if anything.
fn check(table: &Table, host: &mut dyn DdlHost) -> SqlResult<Option<String>> {
    let engines = NewEngineTables::new(host);
    for id in crate::draft::engine_indexes(table) {
        match engines.engine(id).verify(id) {
            Ok(()) => {}
            Err(EngineError::Corrupt(what)) => return Ok(Some(what)),
            Err(e) => return Err(engine_error(e)),
        }
    }
    let mut wrong = None;
    host.with_exec(&mut |cx| {
        wrong = check_entries(table, cx, &engines)?;
        Ok(())
    })?;
    Ok(wrong)
}

/// A reader that sees all engine tables at one time: writers go on meanwhile.
fn check_entries(table: &Table, cx: &mut ExecCtx<'_>, engines: &NewEngineTables) -> SqlResult<Option<String>> {
    let rows_id = table.rows_index();
    let at = if table.temporary { ReadAt::Latest } else { ReadAt::At(cx.txn.snapshot()) };
    let reader = engines.engine(rows_id).read(at).map_err(engine_error)?;
    let secondary: Vec<usize> = (0..table.indexes.len()).filter(|i| !table.indexes[*i].primary).collect();
    let mut rows = 0u64;
    let mut row = Vec::new();
    let mut entry = IndexEntry::default();
    let mut stored = Vec::new();
    let mut cursor = reader.cursor(rows_id).map_err(engine_error)?;
    let mut more = cursor.first().map_err(engine_error)?;
    while more {
        cx.tick()?;
        rows += 1;
        row.clear();
        if table.layout().decode(cursor.value(), &UTC, &mut row).is_err() {
            return Ok(Some(format!("row {rows} cannot be read")));
        }
        for i in &secondary {
            index_entry(table, *i, &row, cursor.key(), &UTC, &mut entry)?;
            let there = reader.get(table.engine_index(*i), &entry.key, &mut stored).map_err(engine_error)?;
            if !there || stored != entry.value {
                return Ok(Some(format!("row {rows} has no entry in index '{}'", table.indexes[*i].name)));
            }
        }
        more = cursor.next().map_err(engine_error)?;
    }
    for i in secondary {
        let def = &table.indexes[i];
        let mut entries = 0u64;
        let mut cursor = reader.cursor(table.engine_index(i)).map_err(engine_error)?;
        let mut more = cursor.first().map_err(engine_error)?;
        while more {
            cx.tick()?;
            entries += 1;
            if clustered_of(def, cursor.key(), cursor.value()).is_none() {
                return Ok(Some(format!("an entry of index '{}' cannot be read", def.name)));
            }
            more = cursor.next().map_err(engine_error)?;
        }
        if entries != rows {
            return Ok(Some(format!("index '{}' has {entries} entries, table has {rows} rows", def.name)));
        }
    }
    Ok(None)
}

/// A sum over all rows that does not depend on their order; none for what is no table.
fn checksum(name: &FullName, host: &mut dyn DdlHost) -> SqlResult<Option<u64>> {
    let table = match find(name, host) {
        Ok(t) if matches!(t.kind, TableKind::Base) => t,
        Err(e) if e.code() == codes::ER_QUERY_INTERRUPTED => return Err(e),
        Ok(_) => {
            host.diag().push(selkie_types::Level::Error, sql_err!(ER_WRONG_OBJECT, name.db, name.name, "BASE TABLE"));
            return Ok(None);
        }
        Err(e) => {
            host.diag().push(selkie_types::Level::Error, e);
            return Ok(None);
        }
    };
    let engines = NewEngineTables::new(host);
    let mut sum = 0u32;
    host.with_exec(&mut |cx| {
        let mut bytes = Vec::new();
        alter::scan(&table, cx, &engines, &mut |_, _, row| {
            bytes.clear();
            for (v, c) in row.iter().zip(&table.columns) {
                bytes.push(v.is_null() as u8);
                convert::write_text(v, &c.ty, &mut bytes);
                bytes.push(0);
            }
            sum = sum.wrapping_add(crc32fast::hash(&bytes));
            Ok(())
        })
    })?;
    Ok(Some(sum as u64))
}
