//! Prepared statements: of the binary protocol and of PREPARE.

mod bulk;

use std::sync::Arc;
use std::time::Instant;

use hashbrown::HashMap;
use selkie_parser::ast::{self, Statement};
use selkie_parser::{ParseOptions, parse};
use selkie_planner::plan;
use selkie_protocol::response::{self, ColumnDefinition, Eof, Ok as OkPacket, PrepareOk};
use selkie_protocol::{CursorFlags, LAST_PREPARED, ParamType, ParamValue, ServerStatus, StmtExecute};
use selkie_types::{Charset, Collation, Date, DateTime, SqlError, SqlResult, SqlType, Time, Value, sql_err};

use crate::client::Client;
use crate::dml::Ready;
use crate::result::{RowFormat, RowWriter, definition};
use crate::session::{Answer, Session, parse_error};

/// A prepared statement.
pub struct Prepared {
    /// Number in the binary protocol.
    pub id: u32,
    /// Text, for logs and annotation.
    pub text: Arc<[u8]>,
    /// Syntax.
    pub statement: Arc<Statement>,
    /// How many `?` it has.
    pub param_count: usize,
    /// The last plan, the dictionary version it was made with and the types of the values it was made for.
    plan: Option<(u64, Vec<SqlType>, Arc<Ready>)>,
    wire_types: Vec<ParamType>,
    long_data: HashMap<u16, Vec<u8>>,
    cursor: Option<Cursor>,
}

/// An open cursor: the rest of a result.
struct Cursor {
    writer: RowWriter,
    rows: Arc<Vec<Value>>,
    width: usize,
    next: usize,
}

/// All prepared statements of a session.
#[derive(Default)]
pub struct PreparedStatements {
    by_id: HashMap<u32, Prepared>,
    by_name: HashMap<String, u32>,
    last_id: u32,
    /// LOCK TABLES is in force: metadata locks outlive transactions.
    tables_locked: bool,
}

impl PreparedStatements {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.by_id.clear();
        self.by_name.clear();
    }

    fn add(&mut self, mut p: Prepared) -> u32 {
        self.last_id = self.last_id.wrapping_add(1).clamp(1, LAST_PREPARED - 1);
        p.id = self.last_id;
        self.by_id.insert(self.last_id, p);
        self.last_id
    }

    /// DEALLOCATE PREPARE.
    pub fn deallocate(&mut self, name: &str) -> SqlResult<()> {
        match self.by_name.remove(&name.to_lowercase()) {
            Some(id) => {
                self.by_id.remove(&id);
                Ok(())
            }
            None => Err(sql_err!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE")),
        }
    }

    /// COM_STMT_CLOSE.
    pub fn close(&mut self, id: u32) {
        self.by_id.remove(&id);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// LOCK TABLES holds metadata locks.
    pub fn pin(&mut self) {
        self.tables_locked = true;
    }

    /// UNLOCK TABLES.
    pub fn unpin(&mut self) {
        self.tables_locked = false;
    }

    /// Whether metadata locks outlive transactions.
    pub fn pinned(&self) -> bool {
        self.tables_locked
    }
}

fn unknown(id: u32, command: &str) -> SqlError {
    let id = id.to_string();
    sql_err!(ER_UNKNOWN_STMT_HANDLER, id, command)
}

impl Session {
    fn prepare(&mut self, text: &[u8]) -> SqlResult<Prepared> {
        let max = self.instance.globals.read().u64("max_prepared_stmt_count") as usize;
        if self.prepared.len() >= max {
            return Err(sql_err!(ER_MAX_PREPARED_STMT_COUNT_REACHED, max));
        }
        let options = ParseOptions { params: true, ..self.parse_options() };
        let parsed = parse(text, &options).map_err(parse_error)?;
        let mut p = Prepared {
            id: 0,
            text: text.into(),
            statement: Arc::new(parsed.statement),
            param_count: parsed.param_count,
            plan: None,
            wire_types: Vec::new(),
            long_data: HashMap::new(),
            cursor: None,
        };
        if is_data_statement(&p.statement) {
            let schema = self.instance.dictionary.schema();
            let ready = self.plan_in(&schema, &p.statement, &[])?;
            let types = vec![SqlType::Null; p.param_count];
            p.plan = Some((schema.version, types, Arc::new(ready)));
        }
        Ok(p)
    }

    /// COM_STMT_PREPARE.
    pub fn stmt_prepare(&mut self, client: &mut Client, text: &[u8]) -> SqlResult<()> {
        self.diag.clear();
        let text = decode_text(self.host.hot.character_set_client, text);
        let p = self.prepare(&text)?;
        let results = self.host.hot.character_set_results;
        let columns = match p.plan.as_ref().map(|(_, _, r)| &r.planned.statement) {
            Some(plan::Statement::Query(q)) => q.columns.clone(),
            Some(plan::Statement::Insert(i)) => i.returning.as_ref().map_or(Vec::new(), |(_, c)| c.clone()),
            Some(plan::Statement::Delete(d)) => d.returning.as_ref().map_or(Vec::new(), |(_, c)| c.clone()),
            _ => Vec::new(),
        };
        let params = p.param_count;
        let id = self.prepared.add(p);
        let (caps, status) = (client.capabilities, self.status(false));
        PrepareOk {
            statement_id: id,
            column_count: columns.len() as u16,
            param_count: params as u16,
            warnings: self.warning_count(),
        }
        .encode(&mut client.out);
        if params > 0 {
            for _ in 0..params {
                ColumnDefinition::PARAMETER.encode(&mut client.out, caps);
            }
            response::put_metadata_end(&mut client.out, caps, Eof { warnings: 0, status });
        }
        if !columns.is_empty() {
            for c in &columns {
                definition(c, results).encode(&mut client.out, caps);
            }
            response::put_metadata_end(&mut client.out, caps, Eof { warnings: 0, status });
        }
        Ok(())
    }

    /// COM_STMT_EXECUTE.
    pub fn stmt_execute(&mut self, client: &mut Client, e: &StmtExecute<'_>) -> SqlResult<()> {
        let id = if e.statement_id == LAST_PREPARED { self.prepared.last_id } else { e.statement_id };
        let started = Instant::now();
        let Some(mut p) = self.prepared.by_id.remove(&id) else { return Err(unknown(id, "mysqld_stmt_execute")) };
        self.begin_command(&p.text.clone());
        let result = self.execute_binary(client, &mut p, e);
        p.long_data.clear();
        let text = p.text.clone();
        self.prepared.by_id.insert(id, p);
        self.end_command(client, &text, started).map_err(|_| sql_err!(ER_NET_ERROR_ON_WRITE))?;
        result
    }

    fn execute_binary(&mut self, client: &mut Client, p: &mut Prepared, e: &StmtExecute<'_>) -> SqlResult<()> {
        p.cursor = None;
        let charset = self.host.hot.character_set_client;
        let collation = self.host.hot.collation_connection;
        let long: Vec<bool> = (0..p.param_count as u16).map(|i| p.long_data.contains_key(&i)).collect();
        let mut values = Vec::with_capacity(p.param_count);
        let mut types = Vec::with_capacity(p.param_count);
        {
            let mut wire = std::mem::take(&mut p.wire_types);
            let params = e.params(p.param_count, &mut wire, &long).map_err(malformed)?;
            for (i, v) in params.enumerate() {
                let (value, ty) = match v.map_err(malformed)? {
                    ParamValue::LongData => {
                        let data = p.long_data.remove(&(i as u16)).unwrap_or_default();
                        (Value::bytes(&data), SqlType::varchar(data.len() as u32, collation))
                    }
                    v => param_value(v, charset, collation),
                };
                values.push(value);
                types.push(ty);
            }
            p.wire_types = wire;
        }
        let cursor = e.cursor.contains(CursorFlags::CURSOR_TYPE_READ_ONLY);
        self.run_prepared(client, p, &values, &types, RowFormat::Binary, cursor, false)
    }

    #[allow(clippy::too_many_arguments)]
    fn run_prepared(
        &mut self,
        client: &mut Client,
        p: &mut Prepared,
        values: &[Value],
        types: &[SqlType],
        format: RowFormat,
        cursor: bool,
        more: bool,
    ) -> SqlResult<()> {
        let answer = Answer { format, more };
        if !is_data_statement(&p.statement) || has_into(&p.statement) {
            let (statement, text) = (p.statement.clone(), p.text.clone());
            return self.execute(client, &statement, &text, answer);
        }
        self.begin_data_statement();
        let ready = self.prepared_plan(p, types)?;
        if cursor && let plan::Statement::Query(q) = &ready.planned.statement {
            let q = q.clone();
            return self.open_cursor(client, p, &q, values);
        }
        let text = p.text.clone();
        self.run_planned(client, &ready, values, &text, answer)
    }

    /// The statement's plan for values of these types, with metadata locks taken.
    fn prepared_plan(&mut self, p: &mut Prepared, types: &[SqlType]) -> SqlResult<Arc<Ready>> {
        if let Some((version, planned_for, ready)) = &p.plan {
            let schema = self.instance.dictionary.schema();
            let fits = planned_for.iter().zip(types).all(|(a, b)| same_family(a, b));
            if *version == schema.version && fits {
                let ready = ready.clone();
                if self.lock_planned(&schema, &ready)? {
                    return Ok(ready);
                }
            }
        }
        let ready = self.plan(&p.statement, types)?;
        p.plan = Some((ready.planned.schema_version, types.to_vec(), ready.clone()));
        Ok(ready)
    }

    fn open_cursor(
        &mut self,
        client: &mut Client,
        p: &mut Prepared,
        q: &plan::QueryPlan,
        values: &[Value],
    ) -> SqlResult<()> {
        self.begin_if_needed();
        let mark = self.txn.begin_statement();
        let rows = {
            let mut cx = self.exec(values);
            selkie_executor::query::collect(&mut cx, q, usize::MAX)
        };
        let rows = match rows {
            Ok(rows) => rows,
            Err(e) => {
                self.after_error(&e, mark);
                return Err(e);
            }
        };
        if self.in_transaction() { self.txn.end_statement() } else { self.commit()? }
        self.txn.wait_answerable().map_err(selkie_executor::txn_error)?;
        let results = self.host.hot.character_set_results;
        let definitions: Vec<_> = q.columns.iter().map(|c| definition(c, results)).collect();
        let mut status = self.status(false);
        status.set(ServerStatus::SERVER_STATUS_CURSOR_EXISTS, true);
        response::put_column_count(&mut client.out, client.capabilities, definitions.len() as u64, true);
        for d in &definitions {
            d.encode(&mut client.out, client.capabilities);
        }
        client.end_of_rows(&end_packet(status, self.warning_count()));
        let types = q.columns.iter().map(|c| c.ty.clone()).collect();
        let writer = RowWriter::new(RowFormat::Binary, types, results);
        p.cursor = Some(Cursor { writer, rows, width: q.columns.len().max(1), next: 0 });
        Ok(())
    }

    /// COM_STMT_FETCH.
    pub fn stmt_fetch(&mut self, client: &mut Client, id: u32, count: u32) -> SqlResult<()> {
        let mut status = self.status(false);
        let Some(p) = self.prepared.by_id.get_mut(&id) else { return Err(unknown(id, "mysqld_stmt_fetch")) };
        let Some(c) = &mut p.cursor else { return Err(sql_err!(ER_STMT_HAS_NO_OPEN_CURSOR, id)) };
        let total = c.rows.len() / c.width;
        let end = total.min(c.next + count as usize);
        for i in c.next..end {
            c.writer.write(&c.rows[i * c.width..(i + 1) * c.width], &mut client.out)?;
        }
        c.next = end;
        status.set(ServerStatus::SERVER_STATUS_CURSOR_EXISTS, true);
        if end == total {
            status.set(ServerStatus::SERVER_STATUS_CURSOR_EXISTS, false);
            status.set(ServerStatus::SERVER_STATUS_LAST_ROW_SENT, true);
            p.cursor = None;
        }
        client.end_of_rows(&end_packet(status, 0));
        Ok(())
    }

    /// COM_STMT_SEND_LONG_DATA: has no answer.
    pub fn stmt_long_data(&mut self, id: u32, param: u16, data: &[u8]) {
        let max = self.host.hot.max_allowed_packet;
        if let Some(p) = self.prepared.by_id.get_mut(&id) {
            let have = p.long_data.entry(param).or_default();
            if have.len() + data.len() <= max {
                have.extend_from_slice(data);
            }
        }
    }

    /// COM_STMT_RESET.
    pub fn stmt_reset(&mut self, id: u32) -> SqlResult<()> {
        let Some(p) = self.prepared.by_id.get_mut(&id) else { return Err(unknown(id, "mysqld_stmt_reset")) };
        p.long_data.clear();
        p.cursor = None;
        Ok(())
    }

    // ---- PREPARE, EXECUTE

    fn text_of(&mut self, e: &ast::Expr) -> SqlResult<Vec<u8>> {
        let (v, ty) = self.eval_expr(e)?;
        let mut text = Vec::new();
        selkie_types::convert::write_text(&v, &ty, &mut text);
        Ok(text)
    }

    /// PREPARE.
    pub fn run_prepare(&mut self, p: &ast::Prepare) -> SqlResult<()> {
        let text = self.text_of(&p.source)?;
        let name = p.name.value.to_lowercase();
        if let Some(old) = self.prepared.by_name.remove(&name) {
            self.prepared.by_id.remove(&old);
        }
        let prepared = self.prepare(&text)?;
        let id = self.prepared.add(prepared);
        self.prepared.by_name.insert(name, id);
        Ok(())
    }

    /// EXECUTE.
    pub fn run_execute(&mut self, client: &mut Client, e: &ast::Execute, answer: Answer) -> SqlResult<()> {
        let name = &e.name.value;
        let handler = || sql_err!(ER_UNKNOWN_STMT_HANDLER, name, "EXECUTE");
        let id = *self.prepared.by_name.get(&name.to_lowercase()).ok_or_else(handler)?;
        let (values, types) = self.using(&e.using)?;
        let mut p = self.prepared.by_id.remove(&id).ok_or_else(handler)?;
        let result = if values.len() == p.param_count {
            self.run_prepared(client, &mut p, &values, &types, answer.format, false, answer.more)
        } else {
            Err(sql_err!(ER_WRONG_ARGUMENTS, "EXECUTE"))
        };
        self.prepared.by_id.insert(id, p);
        result
    }

    /// EXECUTE IMMEDIATE.
    pub fn run_execute_immediate(
        &mut self,
        client: &mut Client,
        e: &ast::ExecuteImmediate,
        answer: Answer,
    ) -> SqlResult<()> {
        let text = self.text_of(&e.source)?;
        let (values, types) = self.using(&e.using)?;
        let mut p = self.prepare(&text)?;
        if values.len() != p.param_count {
            return Err(sql_err!(ER_WRONG_ARGUMENTS, "EXECUTE"));
        }
        self.run_prepared(client, &mut p, &values, &types, answer.format, false, answer.more)
    }

    fn using(&mut self, exprs: &[ast::Expr]) -> SqlResult<(Vec<Value>, Vec<SqlType>)> {
        let mut values = Vec::new();
        let mut types = Vec::new();
        for e in exprs {
            let (v, ty) = self.eval_expr(e)?;
            values.push(v);
            types.push(ty);
        }
        Ok((values, types))
    }
}

fn end_packet(status: ServerStatus, warnings: u16) -> OkPacket<'static> {
    OkPacket { affected_rows: 0, last_insert_id: 0, status, warnings, info: b"", session_state: &[] }
}

fn malformed(e: selkie_protocol::DecodeError) -> SqlError {
    let _ = e;
    sql_err!(ER_MALFORMED_PACKET)
}

fn is_data_statement(s: &Statement) -> bool {
    matches!(
        s,
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_)
    )
}

fn has_into(s: &Statement) -> bool {
    matches!(s, Statement::Query(q) if q.into.is_some())
}

/// Whether a plan made for values of type `a` serves values of type `b`: lengths do not matter.
fn same_family(a: &SqlType, b: &SqlType) -> bool {
    match (a, b) {
        (_, SqlType::Null) => true,
        (SqlType::Text { collation: x, .. }, SqlType::Text { collation: y, .. }) => x == y,
        (SqlType::Int { unsigned: x, .. }, SqlType::Int { unsigned: y, .. }) => x == y,
        (SqlType::Decimal { .. }, SqlType::Decimal { .. }) => false,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Text from a client in its character set, as UTF-8.
pub fn decode_text(charset: Charset, text: &[u8]) -> Vec<u8> {
    charset.decode(text).map_or_else(|_| text.to_vec(), |t| t.into_owned())
}

fn param_value(v: ParamValue<'_>, charset: Charset, collation: Collation) -> (Value, SqlType) {
    match v {
        ParamValue::Null | ParamValue::LongData => (Value::Null, SqlType::Null),
        ParamValue::Int(i) => (Value::Int(i), SqlType::BIGINT),
        ParamValue::UInt(u) => (Value::UInt(u), SqlType::BIGINT_UNSIGNED),
        ParamValue::Float(f) => (Value::Double(f64::from(f)), SqlType::DOUBLE),
        ParamValue::Double(d) => (Value::Double(d), SqlType::DOUBLE),
        ParamValue::Bytes(b) => match charset.decode(b) {
            Ok(text) => {
                let ty = SqlType::varchar(text.len() as u32, collation);
                (Value::bytes(&text), ty)
            }
            Err(_) => (Value::bytes(b), SqlType::varchar(b.len() as u32, Collation::BINARY)),
        },
        ParamValue::Date(d) => (Value::Date(date(d)), SqlType::Date),
        ParamValue::DateTime(t) => {
            let seconds = (u64::from(t.hour) * 60 + u64::from(t.minute)) * 60 + u64::from(t.second);
            let micros = seconds * 1_000_000 + u64::from(t.micros);
            (Value::DateTime(DateTime::new(date(t.date), micros)), SqlType::DateTime { fsp: 6 })
        }
        ParamValue::Time(t) => {
            let hours = i64::from(t.days) * 24 + i64::from(t.hours);
            let seconds = (hours * 60 + i64::from(t.minutes)) * 60 + i64::from(t.seconds);
            let micros = seconds * 1_000_000 + i64::from(t.micros);
            (Value::Time(Time(if t.negative { -micros } else { micros })), SqlType::Time { fsp: 6 })
        }
    }
}

fn date(d: selkie_protocol::Date) -> Date {
    Date::new(u32::from(d.year), u32::from(d.month), u32::from(d.day))
}
