//! LOAD DATA, and SELECT … INTO variables and files.
//!
//! A file goes through these steps: a [`Source`](reader::Source) gives pieces of bytes ([`files`]: the client's packets,
//! or a file of the server), the [`RowReader`] cuts them into fields by the statement's [`Format`], and each row takes
//! the way of INSERT from there on: the statement is planned as an INSERT of one row of defaults, whose plan brings
//! defaults, generated columns, checks and the target's names. Only one row and one piece are in memory, beside the
//! transaction's own changes.

mod files;
mod format;
mod into;
mod outfile;
mod reader;

use std::sync::Arc;

use selkie_executor::row_build::{assigned, default_value, store_value};
use selkie_executor::{DmlResult, ExecCtx, dml, zero_value};
use selkie_parser::ast::{self, Statement};
use selkie_planner::plan::{self, AssignedValue, InsertPlan, InsertSource};
use selkie_protocol::Capabilities;
use selkie_types::{Charset, Collation, SqlError, SqlResult, SqlType, Value, sql_err};

use crate::client::Client;
use crate::dml::Ready;
use crate::host::not_supported;
use crate::session::{Done, Session};
use files::{AnyFile, ClientFile};
use format::Format;
use reader::{Fields, RowReader};

/// Where a field goes.
enum Target {
    /// A column, by position.
    Column(usize),
    /// `@name`
    UserVar(String),
}

/// Everything about a LOAD DATA that does not change from row to row.
struct Load<'p> {
    plan: &'p InsertPlan,
    targets: Vec<Target>,
    /// SET, in order: column and value over the row.
    assignments: Vec<(usize, AssignedValue)>,
    /// Columns that get their default in each row.
    defaults: Vec<usize>,
    /// Columns without a default that nothing gives a value to.
    zeros: Vec<usize>,
    /// The file's character set.
    charset: Charset,
    types: FieldTypes,
    /// Widths of fields in bytes, in a file without separators.
    widths: Option<Vec<usize>>,
}

impl Session {
    /// LOAD DATA.
    pub fn load_data(&mut self, client: &mut Client, l: &ast::LoadData, text: &[u8]) -> SqlResult<Done> {
        if l.xml {
            return Err(not_supported("LOAD XML"));
        }
        if l.local {
            let allowed = self.instance.globals.read().on("local_infile");
            if !allowed || !client.capabilities.contains(Capabilities::CLIENT_LOCAL_FILES) {
                return Err(sql_err!(ER_LOAD_INFILE_CAPABILITY_DISABLED));
            }
        } else {
            self.require("FILE")?;
        }
        let charset = match &l.charset {
            Some(name) => Charset::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, name))?,
            None => Charset::by_name(self.host.vars.get("character_set_database")).unwrap_or(Charset::Utf8mb4),
        };
        if !charset.is_ascii_superset() {
            return Err(not_supported(&format!("LOAD DATA in character set {}", charset.name())));
        }
        let format = Format::new(&l.fields, &l.lines, charset)?;
        let (ready, assignments) = self.plan_load(l)?;
        let plan::Statement::Insert(plan) = &ready.planned.statement else { return Err(sql_err!(ER_UNKNOWN_ERROR)) };
        if format.has_non_ascii() {
            self.diag.warn(sql_err!(WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED));
        }
        let load = Load::new(plan, l, assignments, &format)?;
        self.check_privileges(&ready)?;
        self.check_writable(&ready)?;
        let name = l.path.to_text();
        let source = if l.local {
            let timeout = self.host.vars.u64("net_read_timeout");
            AnyFile::Client(ClientFile::request(client, &l.path.bytes, timeout)?)
        } else {
            AnyFile::Server(files::open(&self.host, &name)?)
        };
        let mut reader = RowReader::new(source, format);
        let ran = self.as_statement(true, text, |s| {
            let result = {
                let mut cx = s.exec(&[]);
                load.run(&mut cx, &mut reader, l.ignore_lines)?
            };
            if result.generated_id != 0 {
                s.host.last_insert_id = result.generated_id;
            }
            Ok(result)
        });
        if let AnyFile::Client(mut file) = reader.into_source() {
            file.drain()?;
        }
        let r = ran?;
        let deleted = if plan.replace { r.duplicates } else { 0 };
        let copied = r.affected - deleted;
        let info = format!(
            "Records: {}  Deleted: {deleted}  Skipped: {}  Warnings: {}",
            r.records,
            r.records - copied,
            self.diag.total
        );
        self.host.row_count = r.affected as i64;
        Ok(Done { affected: r.affected, insert_id: 0, info })
    }

    /// Plans the INSERT that stands behind a LOAD DATA, and the values of SET.
    fn plan_load(&mut self, l: &ast::LoadData) -> SqlResult<(Arc<Ready>, Vec<(usize, AssignedValue)>)> {
        let insert = |columns: Vec<ast::ColumnRef>, values: Vec<ast::Expr>| {
            Statement::Insert(Box::new(ast::Insert {
                replace: l.on_duplicate == ast::LoadDuplicates::Replace,
                priority: ast::WritePriority::Normal,
                ignore: l.on_duplicate == ast::LoadDuplicates::Ignore
                    || (l.local && l.on_duplicate == ast::LoadDuplicates::Error),
                table: l.table.clone(),
                partitions: l.partitions.clone(),
                columns: Some(columns),
                source: ast::InsertSource::Values(vec![values]),
                on_duplicate: Vec::new(),
                returning: Vec::new(),
            }))
        };
        let mut columns: Vec<ast::ColumnRef> = Vec::new();
        let mut add = |c: &ast::ColumnRef| {
            if !columns.iter().any(|known| known.name.is(&c.name.value)) {
                columns.push(c.clone());
            }
        };
        for t in &l.targets {
            if let ast::LoadTarget::Column(c) = t {
                add(c);
            }
        }
        l.set.iter().for_each(|a| add(&a.column));
        if l.targets.is_empty() {
            self.columns_of(&l.table, false)?.iter().for_each(add);
        }
        let known = self.columns_of(&l.table, true)?;
        if let Some(c) = columns.iter().find(|c| !known.iter().any(|k| k.name.is(&c.name.value))) {
            return Err(unknown_column(&c.name.value));
        }
        let defaults = vec![ast::Expr::Default(None); columns.len()];
        let ready = self.plan(&insert(columns, defaults), &[])?;
        let mut assignments = Vec::with_capacity(l.set.len());
        for a in &l.set {
            // One by one: SET may give a column a value twice.
            let one = self.plan(&insert(vec![a.column.clone()], vec![a.value.clone()]), &[])?;
            self.check_privileges(&one)?;
            if let plan::Statement::Insert(p) = &one.planned.statement
                && let InsertSource::Values(rows) = &p.source
                && let (Some(column), Some(value)) = (p.columns.first(), rows.first().and_then(|r| r.first()))
            {
                assignments.push((*column, value.clone()));
            }
        }
        Ok((ready, assignments))
    }

    fn columns_of(&self, name: &ast::ObjectName, invisible: bool) -> SqlResult<Vec<ast::ColumnRef>> {
        let db = self.database_of(name)?;
        let table = &name.name.value;
        let found = self.host.temporary_table(&db, table);
        let found = found.or_else(|| self.instance.dictionary.schema().table(&db, table).cloned());
        let found = found.ok_or_else(|| sql_err!(ER_NO_SUCH_TABLE, db, table))?;
        let columns = found.columns.iter().filter(|c| invisible || !c.invisible);
        Ok(columns.map(|c| ast::ColumnRef { db: None, table: None, name: ast::Ident::quoted(&*c.name) }).collect())
    }
}

impl<'p> Load<'p> {
    fn new(
        plan: &'p InsertPlan,
        l: &ast::LoadData,
        assignments: Vec<(usize, AssignedValue)>,
        format: &Format,
    ) -> SqlResult<Load<'p>> {
        let columns = &plan.target.table.columns;
        let position = |name: &str| {
            let named = |p: &usize| columns[*p].name.eq_ignore_ascii_case(name);
            plan.columns.iter().copied().find(named).ok_or_else(|| unknown_column(name))
        };
        let mut targets = Vec::new();
        for t in &l.targets {
            targets.push(match t {
                ast::LoadTarget::Column(c) => Target::Column(position(&c.name.value)?),
                ast::LoadTarget::UserVar(v) => Target::UserVar(v.value.clone()),
            });
        }
        if l.targets.is_empty() {
            targets.extend((0..columns.len()).filter(|c| !columns[*c].invisible).map(Target::Column));
        }
        let widths = if format.is_fixed() { Some(fixed_widths(&targets, plan, format)?) } else { None };
        let given = |c: usize| {
            targets.iter().any(|t| matches!(t, Target::Column(x) if *x == c)) || assignments.iter().any(|(x, _)| *x == c)
        };
        let absent = |c: &usize| !given(*c) && columns[*c].generated.is_none();
        let has_default = |c: &usize| {
            plan.target.defaults[*c].is_some() || columns[*c].nullable || columns[*c].auto_increment
        };
        let (defaults, zeros) = (0..columns.len()).filter(absent).partition(has_default);
        Ok(Load { plan, targets, assignments, defaults, zeros, charset: format.charset, types: FieldTypes::new(), widths })
    }

    /// Reads and inserts all rows.
    fn run<S: reader::Source>(
        &self,
        cx: &mut ExecCtx<'_>,
        reader: &mut RowReader<S>,
        ignore_lines: u64,
    ) -> SqlResult<DmlResult> {
        let mut result = DmlResult::default();
        selkie_executor::store::lock_table_for_write(cx, &self.plan.target.table)?;
        cx.settings.ignore = self.plan.ignore;
        let strict = cx.settings.sql_mode.strict() && !self.plan.ignore;
        cx.null_is_warning = !strict;
        for c in &self.zeros {
            cx.diag.warn(sql_err!(ER_NO_DEFAULT_FOR_FIELD, self.plan.target.table.columns[*c].name));
        }
        for _ in 0..ignore_lines {
            reader.skip_row()?;
        }
        let mut fields = Fields::default();
        let mut row = Vec::new();
        loop {
            let more = match &self.widths {
                Some(widths) => reader.next_fixed_row(widths, &mut fields)?,
                None => reader.next_row(self.targets.len(), &mut fields)?,
            };
            if !more {
                return Ok(result);
            }
            dml::next_row(cx, &mut result)?;
            self.fill(cx, strict, &fields, &mut row)?;
            dml::insert_one(cx, self.plan, &mut row, &mut result)?;
            if reader.finish_row()? {
                self.complain(cx, strict, sql_err!(ER_WARN_TOO_MANY_RECORDS, result.records))?;
            }
        }
    }

    fn complain(&self, cx: &mut ExecCtx<'_>, strict: bool, e: SqlError) -> SqlResult<()> {
        if strict {
            return Err(e);
        }
        cx.diag.warn(e);
        Ok(())
    }

    /// Makes the row of a line's fields, of defaults and of SET.
    fn fill(&self, cx: &mut ExecCtx<'_>, strict: bool, fields: &Fields, row: &mut Vec<Value>) -> SqlResult<()> {
        let target = &self.plan.target;
        row.clear();
        row.resize(target.table.columns.len(), Value::Null);
        for c in &self.zeros {
            row[*c] = zero_value(&target.table.columns[*c].ty);
        }
        for c in &self.defaults {
            row[*c] = default_value(cx, target, *c, row)?;
        }
        for (i, t) in self.targets.iter().enumerate() {
            if i >= fields.len() && matches!(t, Target::Column(_)) {
                let row_number = cx.diag.current_row;
                self.complain(cx, strict, sql_err!(ER_WARN_TOO_FEW_RECORDS, row_number))?;
            }
            let field = if i < fields.len() { fields.get(i) } else { None };
            match t {
                Target::UserVar(name) => {
                    let (value, ty) = match field {
                        Some(f) => self.types.value(self.charset, f),
                        None => (Value::Null, &self.types.text),
                    };
                    cx.session.set_user_var(name, value, ty.clone());
                }
                Target::Column(c) if i >= fields.len() => {
                    let def = &target.table.columns[*c];
                    let has_default = target.defaults[*c].is_some() || def.nullable || def.auto_increment;
                    row[*c] = if has_default && def.generated.is_none() {
                        default_value(cx, target, *c, row)?
                    } else {
                        zero_value(&def.ty)
                    };
                }
                Target::Column(c) => row[*c] = self.column_value(cx, strict, *c, field)?,
            }
        }
        for (c, value) in &self.assignments {
            row[*c] = assigned(cx, target, *c, value, row)?;
        }
        Ok(())
    }

    /// A field's value for a column.
    fn column_value(&self, cx: &mut ExecCtx<'_>, strict: bool, c: usize, field: Option<&[u8]>) -> SqlResult<Value> {
        let table = &self.plan.target.table;
        let def = &table.columns[c];
        match field {
            // Computed, whatever the file says.
            _ if def.generated.is_some() => Ok(Value::Null),
            None if def.nullable || def.auto_increment => Ok(Value::Null),
            None => {
                let row = cx.diag.current_row;
                self.complain(cx, strict, sql_err!(ER_WARN_NULL_TO_NOTNULL, def.name, row))?;
                Ok(zero_value(&def.ty))
            }
            Some(field) => match (&def.ty, small_int(field)) {
                (SqlType::Int { .. }, Some(n)) => store_value(cx, table, c, Value::Int(n), &SqlType::BIGINT),
                (ty, _) => {
                    // Bytes as they are: in a text column they are in the column's own set.
                    let own = ty.collation().filter(|_| self.charset == Charset::Binary).map(Collation::charset);
                    let (value, from) = self.types.value(own.unwrap_or(self.charset), field);
                    store_value(cx, table, c, value, from)
                }
            },
        }
    }
}

/// The types of fields.
struct FieldTypes {
    text: SqlType,
    bytes: SqlType,
}

impl FieldTypes {
    fn new() -> FieldTypes {
        let of = |collation| SqlType::varchar(u32::MAX, collation);
        FieldTypes { text: of(Charset::Utf8mb4.default_collation()), bytes: of(Collation::BINARY) }
    }

    /// A field's value and type. What is no text in the character set stays bytes, for the column to complain about.
    fn value(&self, charset: Charset, field: &[u8]) -> (Value, &SqlType) {
        let text = match charset {
            Charset::Binary => return (Value::bytes(field), &self.bytes),
            Charset::Utf8mb4 | Charset::Utf8mb3 if std::str::from_utf8(field).is_ok() => return (Value::bytes(field), &self.text),
            Charset::Utf8mb4 | Charset::Utf8mb3 => Err(0),
            other => other.decode(field),
        };
        match text {
            Ok(text) => (Value::bytes(&text), &self.text),
            Err(_) => (Value::bytes(field), &self.bytes),
        }
    }
}

fn unknown_column(name: &str) -> SqlError {
    sql_err!(ER_BAD_FIELD_ERROR, name, "SELECT")
}

/// The number that a field is, when it is nothing but a few digits: the common case of integer columns.
fn small_int(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n = digits.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'));
    Some(if negative { -n } else { n })
}

/// Widths of fields in a file without separators: errors 1084 and 1409 for what has none.
fn fixed_widths(targets: &[Target], plan: &InsertPlan, format: &Format) -> SqlResult<Vec<usize>> {
    let width = |t: &Target| match t {
        Target::UserVar(_) => Err(sql_err!(ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR)),
        Target::Column(c) => {
            let ty = &plan.target.table.columns[*c].ty;
            if into::is_blob(ty) && format.line_end.is_empty() {
                return Err(sql_err!(ER_BLOBS_AND_NO_TERMINATED));
            }
            let charset = ty.collation().map_or(Charset::Binary, Collation::charset);
            Ok(match ty {
                SqlType::Int { display, .. } => usize::from(*display),
                _ => ty.wire_length(charset) as usize,
            })
        }
    };
    targets.iter().map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::small_int;

    #[test]
    fn integers_of_digits_only() {
        assert_eq!(small_int(b"0012"), Some(12));
        assert_eq!(small_int(b"-7"), Some(-7));
        for other in [&b""[..], b"-", b"1.5", b" 1", b"1e3", b"1234567890123456789", b"+1"] {
            assert_eq!(small_int(other), None);
        }
    }
}
