//! Queries and data changes: planned, locked against DDL, executed in the session's transaction, answered.

use std::cell::Cell;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use selkie_catalog::mdl::MdlMode;
use selkie_catalog::{Schema, Table};
use selkie_executor::context::{ExecCtx, ExecLimits};
use selkie_executor::{DmlResult, dml, query, statistics, txn_error};
use selkie_expr::bind::BindCtx;
use selkie_expr::{EvalSettings, VarScope};
use selkie_parser::ast::{self, Statement};
use selkie_planner::context::{
    OptimizerSwitches, PlanContext, Statistics, TemporaryTables, Variables, VirtualColumn, VirtualTables,
};
use selkie_planner::plan::{self, KeyRange, OutputColumn, QueryPlan};
use selkie_planner::{Planned, Planner};
use selkie_types::{Level, SqlResult, SqlType, Value, sql_err};

use crate::client::Client;
use crate::host::Host;
use crate::result::{ResultHead, RowWriter, definition};
use crate::session::{Answer, Done, Session};
use crate::status::bump;
use crate::variables;

/// A plan and the tables it uses.
#[derive(Debug)]
pub struct Ready {
    /// The plan.
    pub planned: Planned,
    /// Tables and views, each once.
    pub tables: Vec<Arc<Table>>,
    /// For each of them, whether its rows are changed.
    written: Vec<bool>,
    /// Whether the plan depends on the types of user variables, which any statement may change.
    pub reads_user_vars: bool,
    /// A query's result head as it was first sent.
    head: OnceLock<ResultHead>,
}

impl Ready {
    fn new(planned: Planned, schema: &Schema, view: &HostView<'_>) -> Ready {
        let host = view.host;
        let mut tables: Vec<Arc<Table>> = Vec::new();
        for a in &planned.accessed {
            let temporary = host.temporary_table(&a.db, &a.table);
            if let Some(t) = temporary.or_else(|| schema.table(&a.db, &a.table).cloned())
                && !tables.iter().any(|known| Arc::ptr_eq(known, &t))
            {
                tables.push(t);
            }
        }
        let changes = |t: &Table| {
            let here = |a: &&selkie_planner::Accessed| a.db == t.db && a.table == t.name;
            let reads = [selkie_planner::AccessKind::Select, selkie_planner::AccessKind::Execute];
            planned.accessed.iter().filter(here).any(|a| !reads.contains(&a.kind))
        };
        let written = tables.iter().map(|t| changes(t)).collect();
        Ready { planned, tables, written, reads_user_vars: view.user_vars_read.get(), head: OnceLock::new() }
    }
}

impl Session {
    /// Plans and runs a SELECT, INSERT, UPDATE, DELETE or DO.
    pub fn run_data_statement(
        &mut self,
        client: &mut Client,
        statement: &Statement,
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        if let Statement::Query(q) = statement
            && let Some(into) = &q.into
        {
            return self.run_select_into(client, statement, into, text, answer);
        }
        let planned = self.plan(statement, &[])?;
        self.run_planned(client, &planned, &[], text, answer)
    }

    /// Bookkeeping before a data statement whose plan is there already.
    pub(crate) fn begin_data_statement(&mut self) {
        self.host.counts = self.diagnostics_counts();
        self.diag.clear();
        self.diag.max_kept = self.host.hot.max_error_count;
        self.host.in_transaction = self.in_open_transaction();
    }

    /// Plans a statement in the present dictionary and takes metadata locks on its tables.
    pub fn plan(&mut self, statement: &Statement, param_types: &[SqlType]) -> SqlResult<Arc<Ready>> {
        loop {
            let schema = self.instance().dictionary.schema();
            let planned = self.plan_in(&schema, statement, param_types)?;
            if self.lock_planned(&schema, &planned)? {
                return Ok(Arc::new(planned));
            }
        }
    }

    /// Plans in a given dictionary version, without locks.
    pub fn plan_in(&self, schema: &Arc<Schema>, statement: &Statement, param_types: &[SqlType]) -> SqlResult<Ready> {
        bump(&self.instance().status.plan_misses);
        let host = &self.host;
        let view = HostView::new(host);
        let context = plan_context(host, schema, &view, param_types);
        let planned = Planner::plan_full(statement, &context)?;
        Ok(Ready::new(planned, schema, &view))
    }

    /// Takes shared metadata locks on a plan's tables. `false`: the dictionary changed meanwhile, plan again.
    pub fn lock_planned(&mut self, schema: &Arc<Schema>, planned: &Ready) -> SqlResult<bool> {
        for (t, written) in planned.tables.iter().zip(&planned.written) {
            if t.temporary {
                continue;
            }
            if *written && self.holds_read_lock(t) {
                return Err(sql_err!(ER_TABLE_NOT_LOCKED_FOR_WRITE, t.name));
            }
            let mode = if *written { MdlMode::SharedWrite } else { MdlMode::Shared };
            self.lock_metadata(&t.db, &t.name, mode)?;
        }
        let now = self.instance().dictionary.schema();
        if now.version == schema.version {
            return Ok(true);
        }
        Ok(planned.tables.iter().all(|t| {
            t.temporary || now.tables_by_id.get(&t.id).is_some_and(|n| Arc::ptr_eq(n, t))
        }))
    }

    /// Runs a plan and writes the answer.
    pub fn run_planned(
        &mut self,
        client: &mut Client,
        planned: &Ready,
        params: &[Value],
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        self.check_privileges(planned)?;
        let checked = match &planned.planned.statement {
            plan::Statement::Insert(p) => !p.ignore,
            plan::Statement::Update(p) => !p.ignore,
            _ => false,
        };
        for (level, e) in &planned.planned.warnings {
            if checked && *level == Level::Warning && self.host.hot.sql_mode.strict() {
                return Err(e.clone());
            }
            self.diag.push(*level, e.clone());
        }
        let writes = !matches!(planned.planned.statement, plan::Statement::Query(_) | plan::Statement::Do(_));
        if writes {
            self.check_writable(planned)?;
        }
        let ending = self.as_statement(writes, text, |s| match &planned.planned.statement {
            plan::Statement::Query(q) => {
                bump(&s.host.instance.status.com_select);
                s.run_query_plan(client, q, &planned.head, params, answer)
            }
            _ => s.run_change_plan(client, planned, params, answer),
        })?;
        match ending {
            Ending::Done(done) => self.write_ok(client, &done, answer.more),
            Ending::Rows => self.write_end(client, answer.more),
        }
        Ok(())
    }

    /// Runs `f` as one statement of the session's transaction: what it changed is kept if it succeeds (committed, outside
    /// of a transaction) and undone if it fails. Returns when all that it saw is durable. `text` annotates its events.
    pub(crate) fn as_statement<R>(
        &mut self,
        writes: bool,
        text: &[u8],
        f: impl FnOnce(&mut Session) -> SqlResult<R>,
    ) -> SqlResult<R> {
        self.begin_if_needed();
        let mark = self.txn.begin_statement();
        if writes {
            let now = self.host.now_micros();
            let annotation = self.host.hot.annotate_rows.then_some(text);
            let hot = &self.host.hot;
            self.log.set_checks(hot.unique_checks, hot.check_constraint_checks);
            self.log.begin_statement((now / 1_000_000) as u32, &self.host.hot.time_zone, annotation);
        }
        self.host.insert_id_set = false;
        self.track.statement(writes);
        match f(self) {
            Ok(result) => {
                if writes {
                    self.log.end_statement();
                }
                if self.in_transaction() {
                    self.txn.end_statement();
                } else {
                    self.commit()?;
                }
                self.txn.wait_answerable().map_err(txn_error)?;
                Ok(result)
            }
            Err(e) => {
                self.after_error(&e, mark);
                Err(e)
            }
        }
    }

    fn run_query_plan(
        &mut self,
        client: &mut Client,
        q: &QueryPlan,
        head: &OnceLock<ResultHead>,
        params: &[Value],
        answer: Answer,
    ) -> SqlResult<Ending> {
        let (results, capabilities) = (self.host.hot.character_set_results, client.capabilities);
        let fresh;
        let head = match head.get_or_init(|| ResultHead::new(&q.columns, results, capabilities)) {
            head if head.fits(results, capabilities) => head,
            _ => {
                fresh = ResultHead::new(&q.columns, results, capabilities);
                &fresh
            }
        };
        let mark = client.out.mark();
        head.write(&mut client.out, self.status(false));
        let writer = head.rows(answer.format);
        let width = q.columns.len();
        let mut rows = 0u64;
        let limit = self.host.hot.select_limit;
        let ran = {
            let mut cx = self.exec(params);
            let ran = query::run(&mut cx, q, &mut |cx, row| {
                if rows >= limit {
                    return Ok(false);
                }
                rows += 1;
                writer.write(&row[..width], &mut client.out)?;
                if client.is_large() {
                    // What leaves the server must not be taken back by a crash.
                    cx.txn.wait_answerable().map_err(txn_error)?;
                    client.flush().map_err(|_| sql_err!(ER_NET_ERROR_ON_WRITE))?;
                }
                Ok(true)
            });
            let found = cx.found_rows.take();
            ran.map(|n| found.unwrap_or(n))
        };
        match ran {
            Ok(found) => {
                self.host.found_rows = found;
                self.host.row_count = -1;
                Ok(Ending::Rows)
            }
            Err(e) => {
                // Nothing was sent yet: the error stands alone. Else it ends the rows.
                client.out.rollback(mark);
                Err(e)
            }
        }
    }

    fn run_change_plan(
        &mut self,
        client: &mut Client,
        planned: &Ready,
        params: &[Value],
        answer: Answer,
    ) -> SqlResult<Ending> {
        let status = &self.host.instance.status;
        match &planned.planned.statement {
            plan::Statement::Insert(_) => bump(&status.com_insert),
            plan::Statement::Update(_) => bump(&status.com_update),
            plan::Statement::Delete(_) => bump(&status.com_delete),
            _ => {}
        }
        let mut cx = self.exec(params);
        let (result, kind, returning) = match &planned.planned.statement {
            plan::Statement::Insert(p) => (dml::insert(&mut cx, p)?, Kind::Insert(p), p.returning.as_ref()),
            plan::Statement::Update(p) => (dml::update(&mut cx, p)?, Kind::Update, None),
            plan::Statement::Delete(p) => (dml::delete(&mut cx, p)?, Kind::Delete, p.returning.as_ref()),
            plan::Statement::Do(exprs) => {
                for e in exprs.iter() {
                    e.eval(&[], &mut cx)?;
                }
                (DmlResult::default(), Kind::Do, None)
            }
            plan::Statement::Query(_) => return Err(sql_err!(ER_UNKNOWN_ERROR)),
        };
        drop(cx);
        if result.generated_id != 0 {
            self.host.last_insert_id = result.generated_id;
        }
        if let Some((_, columns)) = returning {
            self.write_rows(client, columns, &result.returning, answer)?;
            self.host.row_count = result.affected as i64;
            return Ok(Ending::Rows);
        }
        let done = self.done_of(&result, &kind);
        self.host.row_count = if matches!(kind, Kind::Do) { 0 } else { done.affected as i64 };
        Ok(Ending::Done(done))
    }

    /// Writes the head and the rows of a result that is in memory; the end is the caller's.
    pub fn write_rows(
        &mut self,
        client: &mut Client,
        columns: &[OutputColumn],
        rows: &[Value],
        answer: Answer,
    ) -> SqlResult<()> {
        let results = self.host.hot.character_set_results;
        let definitions: Vec<_> = columns.iter().map(|c| definition(c, results)).collect();
        client.columns(&definitions, 0, self.status(false));
        let writer = RowWriter::new(answer.format, columns.iter().map(|c| c.ty.clone()).collect(), results);
        for row in rows.chunks(columns.len().max(1)) {
            writer.write(row, &mut client.out)?;
        }
        Ok(())
    }

    /// Writes a whole result that is in memory.
    pub fn write_result(
        &mut self,
        client: &mut Client,
        columns: &[OutputColumn],
        rows: &[Value],
        answer: Answer,
    ) -> SqlResult<()> {
        self.write_rows(client, columns, rows, answer)?;
        self.host.found_rows = (rows.len() / columns.len().max(1)) as u64;
        self.host.row_count = -1;
        self.write_end(client, answer.more);
        Ok(())
    }

    fn done_of(&self, r: &DmlResult, kind: &Kind<'_>) -> Done {
        let warnings = self.diag.total;
        match kind {
            Kind::Insert(p) => {
                let several = matches!(&p.source, plan::InsertSource::Values(v) if v.len() > 1)
                    || matches!(&p.source, plan::InsertSource::Query(_));
                let info = if several {
                    format!("Records: {}  Duplicates: {}  Warnings: {warnings}", r.records, r.duplicates)
                } else {
                    String::new()
                };
                let insert_id = if r.generated_id != 0 {
                    r.generated_id
                } else if self.host.insert_id_set {
                    self.host.last_insert_id
                } else {
                    r.given_id
                };
                let affected = if self.found_rows && !p.on_duplicate.is_empty() {
                    // With CLIENT_FOUND_ROWS a matched row that stays as it is counts as one.
                    r.affected.max(r.matched)
                } else {
                    r.affected
                };
                Done { affected, insert_id, info }
            }
            Kind::Update => Done {
                affected: if self.found_rows { r.matched } else { r.affected },
                insert_id: if self.host.insert_id_set { self.host.last_insert_id } else { 0 },
                info: format!("Rows matched: {}  Changed: {}  Warnings: {warnings}", r.matched, r.affected),
            },
            Kind::Delete => Done { affected: r.affected, ..Done::default() },
            Kind::Do => Done::default(),
        }
    }

    /// An execution context over this session.
    pub fn exec<'a>(&'a mut self, params: &'a [Value]) -> ExecCtx<'a> {
        let host = &mut self.host;
        let hot = host.hot.clone();
        let settings = EvalSettings {
            sql_mode: hot.sql_mode,
            time_zone: hot.time_zone.clone(),
            now_utc_micros: host.now_micros(),
            collation_connection: hot.collation_connection,
            div_precision_increment: hot.div_precision_increment,
            max_allowed_packet: hot.max_allowed_packet,
            group_concat_max_len: hot.group_concat_max_len,
            default_week_format: hot.default_week_format,
            ignore: false,
        };
        let limits = exec_limits(host);
        ExecCtx::new(
            self.instance.dictionary.schema(),
            &mut self.txn,
            &self.instance.tables,
            &mut self.log,
            params,
            settings,
            limits,
            &mut self.diag,
            &mut self.host,
            &self.connection.kill_query,
        )
    }

    pub(crate) fn check_privileges(&self, planned: &Ready) -> SqlResult<()> {
        self.check_accessed(&planned.planned.accessed)
    }

    pub(crate) fn check_writable(&self, planned: &Ready) -> SqlResult<()> {
        if self.read_only && planned.tables.iter().any(|t| !t.temporary) {
            return Err(sql_err!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION));
        }
        static READ_ONLY: LazyLock<Option<usize>> = LazyLock::new(|| variables::find("read_only"));
        let read_only = READ_ONLY.is_some_and(|i| self.host.instance.globals.read().is_on(i));
        if read_only && !self.host.account.allows("READ_ONLY ADMIN", "", "") {
            return Err(sql_err!(ER_OPTION_PREVENTS_STATEMENT, "--read-only"));
        }
        Ok(())
    }

    /// Evaluates an expression that refers to no table.
    pub fn eval_expr(&mut self, e: &ast::Expr) -> SqlResult<(Value, SqlType)> {
        let statement = Statement::Do(vec![e.clone()]);
        let planned = self.plan(&statement, &[])?;
        let plan::Statement::Do(exprs) = &planned.planned.statement else { return Err(sql_err!(ER_UNKNOWN_ERROR)) };
        self.begin_if_needed();
        self.txn.begin_statement();
        let result = {
            let mut cx = self.exec(&[]);
            exprs[0].eval(&[], &mut cx).map(|v| (v, exprs[0].ty.clone()))
        };
        if !self.in_transaction() {
            self.commit()?;
        } else {
            self.txn.end_statement();
        }
        result
    }

    /// Evaluates an expression as an unsigned number.
    pub fn eval_number(&mut self, e: &ast::Expr) -> SqlResult<u64> {
        let (v, ty) = self.eval_expr(e)?;
        let mut text = Vec::new();
        selkie_types::convert::write_text(&v, &ty, &mut text);
        Ok(String::from_utf8_lossy(&text).parse().unwrap_or(0))
    }
}

enum Ending {
    Done(Done),
    Rows,
}

enum Kind<'a> {
    Insert(&'a plan::InsertPlan),
    Update,
    Delete,
    Do,
}

fn exec_limits(host: &Host) -> ExecLimits {
    let micros = host.hot.max_statement_micros;
    ExecLimits {
        memory_max: 4 << 30,
        spill_bytes: host.hot.spill_bytes,
        max_recursive_iterations: host.hot.max_recursive_iterations,
        deadline: (micros > 0).then(|| Instant::now() + Duration::from_micros(micros)),
        select_limit: host.hot.select_limit,
        foreign_key_checks: host.hot.foreign_key_checks,
        unique_checks: host.hot.unique_checks,
        check_constraint_checks: host.hot.check_constraint_checks,
        auto_increment_increment: host.hot.auto_increment_increment,
        auto_increment_offset: host.hot.auto_increment_offset,
        insert_id: Some(host.hot.insert_id).filter(|id| *id != 0),
    }
}

/// The settings that decide names and types in plans.
pub fn bind_context(host: &Host) -> BindCtx {
    BindCtx {
        sql_mode: host.hot.sql_mode,
        collation_connection: host.hot.collation_connection,
        div_precision_increment: host.hot.div_precision_increment,
        database: host.database.clone(),
        ..BindCtx::default()
    }
}

/// Everything outside a statement that its plan depends on.
pub fn plan_context<'a>(
    host: &'a Host,
    schema: &'a Arc<Schema>,
    view: &'a HostView<'a>,
    param_types: &'a [SqlType],
) -> PlanContext<'a> {
    PlanContext {
        schema,
        current_db: host.database.as_deref(),
        bind: bind_context(host),
        switches: OptimizerSwitches::default(),
        variables: view,
        temporary: view,
        virtuals: view,
        statistics: view,
        param_types,
    }
}

/// The session as the planner sees it.
pub struct HostView<'a> {
    host: &'a Host,
    user_vars_read: Cell<bool>,
}

impl<'a> HostView<'a> {
    /// Of a session's state.
    pub fn new(host: &'a Host) -> HostView<'a> {
        HostView { host, user_vars_read: Cell::new(false) }
    }
}

impl Variables for HostView<'_> {
    fn user_var_type(&self, name: &str) -> Option<SqlType> {
        self.user_vars_read.set(true);
        self.host.user_vars.get(&name.to_lowercase()).map(|(_, t)| t.clone())
    }
    fn system_var_type(&self, _scope: VarScope, name: &str) -> Option<SqlType> {
        variables::find(name).map(|i| variables::TABLE[i].sql_type())
    }
}

impl TemporaryTables for HostView<'_> {
    fn table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.host.temporary_table(db, name)
    }
}

impl VirtualTables for HostView<'_> {
    fn columns(&self, db: &str, name: &str) -> Option<Vec<VirtualColumn>> {
        crate::virtual_tables::columns_for(self.host, db, name)
    }
}

impl Statistics for HostView<'_> {
    fn rows(&self, table: &Table) -> f64 {
        self.host.instance.tables.get(table).map_or(1000.0, |t| t.rows() as f64)
    }
    fn rec_per_key(&self, table: &Table, index: usize, parts: usize) -> Option<f64> {
        let i = &self.host.instance;
        let runtime = i.tables.get(table).ok()?;
        statistics::rec_per_key(&runtime, i.engine_of(table), table, index, parts)
    }
    fn range_rows(&self, table: &Table, index: usize, range: &KeyRange) -> Option<f64> {
        let engine = self.host.instance.engine_of(table);
        statistics::range_rows(engine, table, index, range, &self.host.hot.time_zone)
    }
}
