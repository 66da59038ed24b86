//! Copying a table's rows into a new definition, checking them against new constraints, and building indexes.

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::keys::primary_key;
use selkie_catalog::{ColumnDefault, ForeignKey, Schema, Table};
use selkie_engine::{ReadAt, Reader};
use selkie_executor::{ExecCtx, zero_value};
use selkie_expr::EvalContext;
use selkie_planner::plan::TargetTable;
use selkie_types::codec::encode_key_part;
use selkie_types::{DateTime, SqlError, SqlMode, SqlResult, SqlType, TimeZone, Value, convert, sql_err};

use crate::build::{TableBuilder, UTC};
use crate::engine_tables::{NewEngineTables, engine_error};
use crate::foreign::index_for;
use crate::host::DdlSettings;

/// What a copy did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Rows read.
    pub records: u64,
    /// Rows left out because another has the same key (ALTER IGNORE).
    pub duplicates: u64,
}

/// What is to be done with each row.
pub struct CopyJob<'a> {
    /// The table as it was.
    pub old: &'a Table,
    /// What it becomes, ids and all.
    pub new: &'a TargetTable,
    /// For each new column the old one.
    pub origins: &'a [Option<usize>],
    /// ALTER IGNORE TABLE
    pub ignore: bool,
    /// Settings.
    pub settings: &'a DdlSettings,
    /// Whether rows must be checked against CHECK constraints.
    pub check: bool,
    /// Foreign keys (positions in the new table) whose parents must be there.
    pub new_foreign_keys: &'a [usize],
    /// The dictionary that parents are found in.
    pub schema: &'a Schema,
    /// Next AUTO_INCREMENT value for rows that get one.
    pub auto_increment_from: u64,
}

/// Receives a row: its clustered key, and its columns with TIMESTAMP in UTC.
pub type OnRow<'a> = &'a mut dyn FnMut(&mut ExecCtx<'_>, &[u8], &[Value]) -> SqlResult<()>;

/// Gives every row of a table to `f`.
pub fn scan(table: &Table, cx: &mut ExecCtx<'_>, engines: &NewEngineTables, f: OnRow<'_>) -> SqlResult<()> {
    let id = table.rows_index();
    let reader = engines.engine(id).read(ReadAt::Latest).map_err(engine_error)?;
    let mut cursor = reader.cursor(id).map_err(engine_error)?;
    let mut row = Vec::with_capacity(table.columns.len());
    let mut more = cursor.first().map_err(engine_error)?;
    while more {
        cx.tick()?;
        row.clear();
        table.layout().decode(cursor.value(), &UTC, &mut row)?;
        f(cx, cursor.key(), &row)?;
        more = cursor.next().map_err(engine_error)?;
    }
    Ok(())
}

/// Fills the engine tables of the new definition.
pub fn rebuild(job: &CopyJob<'_>, cx: &mut ExecCtx<'_>, engines: &mut NewEngineTables) -> SqlResult<Copied> {
    let table: &Arc<Table> = &job.new.table;
    let mut copied = Copied::default();
    let mut auto = job.auto_increment_from.max(1);
    let mut seen: Vec<HashSet<Vec<u8>>> = vec![HashSet::new(); if job.ignore { table.indexes.len() } else { 0 }];
    let mut builder = TableBuilder::whole(table, keeps_order(job), job.settings, engines)?;
    let mut converter = Converter::new(job);
    cx.settings.ignore = job.ignore;
    scan(job.old, cx, engines, &mut |cx, _, old| {
        copied.records += 1;
        cx.diag.current_row = copied.records;
        let Some(row) = converter.row(job, cx, old, &mut auto)? else { return Ok(()) };
        if job.ignore && repeats(table, &row, &mut seen)? {
            copied.duplicates += 1;
            return Ok(());
        }
        builder.add(&row)
    })?;
    builder.finish(cx, engines)?;
    Ok(copied)
}

/// Builds some indexes of a table whose rows stay, and checks the rows against new constraints. Returns how many there are.
pub fn add_indexes(
    job: &CopyJob<'_>,
    indexes: &[usize],
    cx: &mut ExecCtx<'_>,
    engines: &mut NewEngineTables,
) -> SqlResult<u64> {
    let table: &Arc<Table> = &job.new.table;
    let mut builder = TableBuilder::indexes_only(table, indexes, job.settings);
    let mut row_number = 0;
    let zone = cx.settings.time_zone.clone();
    scan(table, cx, engines, &mut |cx, clustered, row| {
        row_number += 1;
        cx.diag.current_row = row_number;
        if job.check {
            let local = to_zone(table, row, &zone);
            check(job.new, &local, cx)?;
        }
        builder.add_existing(clustered, row)
    })?;
    builder.finish(cx, engines)?;
    Ok(row_number)
}

/// Whether the copied rows come in the order of the new primary key.
fn keeps_order(job: &CopyJob<'_>) -> bool {
    let (old, new) = (job.old, &job.new.table);
    match (old.primary_key(), new.primary_key()) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(o), Some(n)) => {
            o.parts.len() == n.parts.len()
                && o.parts.iter().zip(&n.parts).all(|(a, b)| {
                    job.origins[b.column] == Some(a.column)
                        && a.prefix == b.prefix
                        && a.descending == b.descending
                        && old.columns[a.column].ty == new.columns[b.column].ty
                        // Rows may get new numbers.
                        && old.columns[a.column].auto_increment == new.columns[b.column].auto_increment
                })
        }
    }
}

/// Whether a row has a unique key that an earlier one has; remembers its keys if not.
fn repeats(table: &Table, row: &[Value], seen: &mut [HashSet<Vec<u8>>]) -> SqlResult<bool> {
    let mut keys = Vec::new();
    for (i, index) in table.indexes.iter().enumerate().filter(|(_, i)| i.unique) {
        let mut key = Vec::new();
        if index.primary {
            primary_key(table, row, &UTC, &mut key)?;
        } else {
            if index.parts.iter().any(|p| row[p.column].is_null()) {
                continue;
            }
            for (p, part) in index.parts.iter().zip(table.key_parts(i)) {
                encode_key_part(&row[p.column], part, &UTC, &mut key)?;
            }
        }
        if seen[i].contains(&key) {
            return Ok(true);
        }
        keys.push((i, key));
    }
    for (i, key) in keys {
        seen[i].insert(key);
    }
    Ok(false)
}

/// Turns old rows into new ones.
struct Converter {
    zone: TimeZone,
    /// A default that is the same for all rows, by new column.
    constants: Vec<Option<Value>>,
}

impl Converter {
    fn new(job: &CopyJob<'_>) -> Converter {
        Converter { zone: job.settings.time_zone.clone(), constants: vec![None; job.origins.len()] }
    }

    /// The new row with TIMESTAMP in UTC; `None` if an IGNORE statement leaves it out.
    fn row(
        &mut self,
        job: &CopyJob<'_>,
        cx: &mut ExecCtx<'_>,
        old: &[Value],
        auto: &mut u64,
    ) -> SqlResult<Option<Vec<Value>>> {
        let target = job.new;
        let table = &target.table;
        // The row as the session sees it: expressions work on this one.
        let mut local = vec![Value::Null; table.columns.len()];
        let mut added = Vec::new();
        for (i, origin) in job.origins.iter().enumerate() {
            let c = &table.columns[i];
            match origin {
                _ if c.generated.is_some() => {}
                Some(o) => {
                    let from = &job.old.columns[*o].ty;
                    let v = in_zone(&old[*o], from, &self.zone);
                    local[i] = self.convert(job, cx, v, from, i)?;
                }
                None => added.push(i),
            }
        }
        for i in added {
            local[i] = self.default(target, cx, i, &local)?;
        }
        // A column that was numbered before keeps its zeros.
        if let Some(i) = table.auto_increment_column()
            && !job.origins[i].is_some_and(|o| job.old.columns[o].auto_increment && !local[i].is_null())
        {
            number(cx, table, i, &mut local[i], auto)?;
        }
        for (i, e) in &target.generated {
            let v = e.eval(&local, cx)?;
            local[*i] = self.convert(job, cx, v, &e.ty, *i)?;
        }
        if job.check
            && let Err(e) = check(target, &local, cx)
        {
            if !job.ignore {
                return Err(e);
            }
            cx.diag.warn(e);
            return Ok(None);
        }
        // Back to UTC; what was not converted is taken as it was, so that no hour is lost that comes twice.
        let mut row = local;
        for (i, c) in table.columns.iter().enumerate() {
            if !matches!(c.ty, SqlType::Timestamp { .. }) {
                continue;
            }
            let kept = job.origins[i].filter(|o| c.generated.is_none() && job.old.columns[*o].ty == c.ty);
            row[i] = match kept {
                Some(o) if !old[o].is_null() => old[o].clone(),
                _ => to_utc(&row[i], &self.zone),
            };
        }
        Ok(Some(row))
    }

    fn convert(
        &self,
        job: &CopyJob<'_>,
        cx: &mut ExecCtx<'_>,
        v: Value,
        from: &SqlType,
        column: usize,
    ) -> SqlResult<Value> {
        let table = &job.new.table;
        let c = &table.columns[column];
        if v.is_null() {
            if c.nullable || c.auto_increment {
                return Ok(Value::Null);
            }
            let e = sql_err!(WARN_DATA_TRUNCATED, c.name, cx.diag.current_row);
            if cx.settings.sql_mode.strict() && !cx.settings.ignore {
                return Err(e);
            }
            cx.diag.warn(e);
            return Ok(zero_value(&c.ty));
        }
        if *from == c.ty {
            return Ok(v);
        }
        // Members of ENUM and SET that stay where they were keep their numbers.
        if let (SqlType::Enum(a), SqlType::Enum(b)) | (SqlType::Set(a), SqlType::Set(b)) = (from, &c.ty)
            && b.members.starts_with(&a.members)
        {
            return Ok(v);
        }
        let column = convert::ColumnRef { db: &table.db, table: &table.name, column: &c.name };
        convert::store(v, from, &c.ty, column, &mut cx.convert())
    }

    /// The value of a column that is new.
    fn default(&mut self, target: &TargetTable, cx: &mut ExecCtx<'_>, i: usize, row: &[Value]) -> SqlResult<Value> {
        let table = &target.table;
        let c = &table.columns[i];
        if let Some(v) = &self.constants[i] {
            return Ok(v.clone());
        }
        let v = match &target.defaults[i] {
            Some(e) => {
                let v = e.eval(row, cx)?;
                let column = convert::ColumnRef { db: &table.db, table: &table.name, column: &c.name };
                match v {
                    Value::Null if c.nullable => v,
                    Value::Null => zero_value(&c.ty),
                    v => convert::store(v, &e.ty, &c.ty, column, &mut cx.convert())?,
                }
            }
            None if c.nullable || c.auto_increment => Value::Null,
            None => zero_value(&c.ty),
        };
        if !matches!(c.default, ColumnDefault::Expr(_)) {
            self.constants[i] = Some(v.clone());
        }
        Ok(v)
    }
}

/// Gives an AUTO_INCREMENT column its value where it has none.
fn number(cx: &ExecCtx<'_>, table: &Table, column: usize, v: &mut Value, next: &mut u64) -> SqlResult<()> {
    let zero_generates = !cx.settings.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
    let given = match v {
        Value::Null => None,
        Value::Int(0) | Value::UInt(0) if zero_generates => None,
        Value::Int(n) => Some((*n).max(0) as u64),
        Value::UInt(n) => Some(*n),
        Value::Double(d) if *d == 0.0 && zero_generates => None,
        Value::Double(d) => Some(d.max(0.0) as u64),
        _ => Some(0),
    };
    if let Some(n) = given {
        *next = (*next).max(n.saturating_add(1));
        return Ok(());
    }
    let ty = &table.columns[column].ty;
    let id = *next;
    let max = match ty {
        SqlType::Int { width, unsigned, .. } => {
            let bits = width.bytes() as u32 * 8 - !*unsigned as u32;
            if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
        }
        _ => 1 << 53,
    };
    if id > max {
        return Err(sql_err!(ER_AUTOINC_READ_FAILED));
    }
    *v = match ty {
        SqlType::Int { unsigned: true, .. } => Value::UInt(id),
        SqlType::Int { .. } => Value::Int(id as i64),
        _ => Value::Double(id as f64),
    };
    *next = id.saturating_add(1);
    Ok(())
}

/// Error 4025 for a row that breaks a CHECK.
fn check(target: &TargetTable, row: &[Value], cx: &mut ExecCtx<'_>) -> SqlResult<()> {
    for (name, e) in &target.checks {
        if e.eval_bool(row, cx)? == Some(false) {
            return Err(sql_err!(ER_CONSTRAINT_FAILED, name, target.table.db, target.table.name));
        }
    }
    Ok(())
}

fn in_zone(v: &Value, ty: &SqlType, zone: &TimeZone) -> Value {
    match (ty, v) {
        (SqlType::Timestamp { .. }, Value::DateTime(d)) if *d != DateTime::default() => {
            Value::DateTime(UTC.resolve_any(*d).map_or(*d, |t| zone.to_local(t.utc_micros)))
        }
        (_, v) => v.clone(),
    }
}

fn to_utc(v: &Value, zone: &TimeZone) -> Value {
    match v {
        Value::DateTime(d) if *d != DateTime::default() => {
            Value::DateTime(zone.resolve_any(*d).map_or(*d, |t| UTC.to_local(t.utc_micros)))
        }
        v => v.clone(),
    }
}

/// A row with TIMESTAMP in UTC as the session sees it.
pub fn to_zone(table: &Table, row: &[Value], zone: &TimeZone) -> Vec<Value> {
    table.columns.iter().zip(row).map(|(c, v)| in_zone(v, &c.ty, zone)).collect()
}

/// Checks that the rows which new foreign keys refer to exist. Error 1452 for the first that is missing.
pub fn check_parents(job: &CopyJob<'_>, cx: &mut ExecCtx<'_>, engines: &NewEngineTables) -> SqlResult<()> {
    let table = &job.new.table;
    let mut keys = Vec::with_capacity(job.new_foreign_keys.len());
    for i in job.new_foreign_keys {
        keys.push(ParentKey::new(&table.foreign_keys[*i], job, engines)?);
    }
    if keys.is_empty() {
        return Ok(());
    }
    scan(table, cx, engines, &mut |_, _, row| keys.iter().try_for_each(|k| k.check(row)))
}

/// A foreign key with a view of its parent.
struct ParentKey<'a> {
    key: &'a ForeignKey,
    child: &'a Table,
    /// The parent, the position of the index by which rows are found, and its reader; none if there is no parent.
    parent: Option<(Arc<Table>, usize, Box<dyn Reader>)>,
}

impl<'a> ParentKey<'a> {
    fn new(key: &'a ForeignKey, job: &'a CopyJob<'_>, engines: &NewEngineTables) -> SqlResult<ParentKey<'a>> {
        let own = key.ref_db == job.old.db && key.ref_table == job.old.name;
        let table = if own { Some(&job.new.table) } else { job.schema.table(&key.ref_db, &key.ref_table) };
        let parent = match table.and_then(|t| Some((t.clone(), index_for(t, &key.ref_columns)?))) {
            Some((t, index)) => {
                let reader = engines.engine(t.engine_index(index)).read(ReadAt::Latest).map_err(engine_error)?;
                Some((t, index, reader))
            }
            None => None,
        };
        Ok(ParentKey { key, child: &job.new.table, parent })
    }

    fn check(&self, row: &[Value]) -> SqlResult<()> {
        if self.key.columns.iter().any(|c| row[*c].is_null()) {
            return Ok(());
        }
        let Some((parent, index, reader)) = &self.parent else { return Err(self.missing()) };
        let mut key = Vec::new();
        for (c, part) in self.key.columns.iter().zip(parent.key_parts(*index)) {
            encode_key_part(&row[*c], part, &UTC, &mut key)?;
        }
        let mut cursor = reader.cursor(parent.engine_index(*index)).map_err(engine_error)?;
        let found = cursor.seek(&key).map_err(engine_error)? && cursor.key().starts_with(&key);
        if found { Ok(()) } else { Err(self.missing()) }
    }

    fn missing(&self) -> SqlError {
        let text = format!(
            "`{}`.`{}`, {}",
            self.child.db,
            self.child.name,
            selkie_catalog::show_create::foreign_key(self.child, self.key, SqlMode::default())
        );
        sql_err!(ER_NO_REFERENCED_ROW_2, text)
    }
}
