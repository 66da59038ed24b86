//! One execution of one statement: everything that operators and expressions share.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hashbrown::HashMap;
use selkie_expr::{EvalContext, EvalSettings, SessionInfo, Subquery, VarScope};
use selkie_planner::plan::QueryPlan;
use selkie_types::convert::ConvertCtx;
use selkie_types::{Diagnostics, SqlResult, SqlType, Value, sql_err};

use selkie_catalog::Schema;

use crate::row_log::RowLog;
use crate::subquery::SubqueryCache;
use crate::tables::TableRuntimes;
use crate::txn_api::Txn;

/// What the executor needs of its session beyond [`SessionInfo`].
pub trait SessionHost: SessionInfo {
    /// `@name`
    fn user_var(&self, name: &str) -> Option<(Value, SqlType)>;
    /// `@name := value`
    fn set_user_var(&mut self, name: &str, value: Value, ty: SqlType);
    /// `@@scope.name`
    fn system_var(&mut self, scope: VarScope, name: &str) -> SqlResult<Value>;
    /// The rows of a virtual table (information_schema and the like), all columns, flat; `lookups` are
    /// `column = value` conditions that it may use.
    fn virtual_rows(&mut self, db: &str, name: &str, lookups: &[(usize, Value)]) -> SqlResult<Vec<Value>>;
    /// Column count of a virtual table.
    fn virtual_width(&mut self, db: &str, name: &str) -> SqlResult<usize>;
    /// Calls a stored function.
    fn call_function(&mut self, db: &str, name: &str, args: Vec<Value>) -> SqlResult<Value>;
    /// `tmpdir`: where operators put rows that they may not hold.
    fn tmpdir(&self) -> PathBuf {
        std::env::temp_dir()
    }
    /// For upcasts by the session itself.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// Limits and switches of one execution, copied from session variables.
#[derive(Debug, Clone)]
pub struct ExecLimits {
    /// Bytes that one statement's operators may hold before they spill or fail (`max_session_mem_used`-like).
    pub memory_max: usize,
    /// Bytes that one operator holds before it spills to a temporary file (`tmp_memory_table_size`).
    pub spill_bytes: usize,
    /// `cte_max_recursion_depth` / `max_recursive_iterations`
    pub max_recursive_iterations: u64,
    /// `max_statement_time`, as a deadline.
    pub deadline: Option<Instant>,
    /// `sql_select_limit`
    pub select_limit: u64,
    /// `foreign_key_checks`
    pub foreign_key_checks: bool,
    /// `unique_checks`
    pub unique_checks: bool,
    /// `check_constraint_checks`
    pub check_constraint_checks: bool,
    /// `auto_increment_increment`
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`
    pub auto_increment_offset: u64,
    /// `SET INSERT_ID`
    pub insert_id: Option<u64>,
}

/// One execution of a statement.
pub struct ExecCtx<'a> {
    /// The dictionary version that the statement was planned with.
    pub schema: Arc<Schema>,
    /// The session's transaction.
    pub txn: &'a mut Txn,
    /// Auto-increment counters and row counts of tables.
    pub tables: &'a TableRuntimes,
    /// Where changed rows are told to the log.
    pub log: &'a mut dyn RowLog,
    /// Whether NULL for a NOT NULL column is a warning (rows of a multi-row INSERT outside strict mode).
    pub null_is_warning: bool,
    /// Values of parameters.
    pub params: &'a [Value],
    /// Values of outer rows: those a subquery was started with, then those of enclosing nested loops.
    pub correlated: Vec<Value>,
    /// Settings.
    pub settings: EvalSettings,
    /// Limits.
    pub limits: ExecLimits,
    /// Warnings.
    pub diag: &'a mut Diagnostics,
    /// The session.
    pub session: &'a mut dyn SessionHost,
    /// KILL QUERY.
    pub killed: &'a AtomicBool,
    /// Results of subqueries.
    pub subqueries: SubqueryCache,
    /// Rows of [`SharedPlan`](selkie_planner::plan::SharedPlan)s computed so far, by the plan's address.
    pub shared: HashMap<usize, Arc<Vec<Value>>>,
    /// Rows of the last round of a recursive shared plan, while it is computed.
    pub deltas: HashMap<usize, Arc<Vec<Value>>>,
    /// The shared plans of the query being run.
    pub shared_plans: Vec<Arc<selkie_planner::plan::SharedPlan>>,
    /// Bytes held by operators now.
    pub memory: usize,
    /// Rows read from tables, for status and the slow log.
    pub rows_examined: u64,
    /// Countdown to the next look at the clock and the kill flag.
    pub checks: u32,
    /// What ANALYZE counts.
    pub analysis: Option<Box<crate::analysis::Analysis>>,
    /// What calls keep from row to row (RAND(n)), by their keys.
    pub call_states: HashMap<usize, [u64; 2]>,
    /// Rows that SQL_CALC_FOUND_ROWS counted.
    pub found_rows: Option<u64>,
}

impl<'a> ExecCtx<'a> {
    /// Whether what a value's computation warns of makes a data change fail.
    pub fn warnings_fail(&self) -> bool {
        self.settings.sql_mode.strict() && !self.settings.ignore
    }

    /// A fresh execution.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        schema: Arc<Schema>,
        txn: &'a mut Txn,
        tables: &'a TableRuntimes,
        log: &'a mut dyn RowLog,
        params: &'a [Value],
        settings: EvalSettings,
        limits: ExecLimits,
        diag: &'a mut Diagnostics,
        session: &'a mut dyn SessionHost,
        killed: &'a AtomicBool,
    ) -> ExecCtx<'a> {
        ExecCtx {
            schema,
            txn,
            tables,
            log,
            null_is_warning: false,
            params,
            correlated: Vec::new(),
            settings,
            limits,
            diag,
            session,
            killed,
            subqueries: SubqueryCache::default(),
            shared: HashMap::new(),
            deltas: HashMap::new(),
            shared_plans: Vec::new(),
            memory: 0,
            rows_examined: 0,
            checks: 0,
            analysis: None,
            call_states: HashMap::new(),
            found_rows: None,
        }
    }

    /// Accounts for memory that an operator takes (negative: gives back). Error 1041-like when the statement's limit is passed.
    pub fn charge(&mut self, bytes: isize) -> SqlResult<()> {
        self.memory = self.memory.saturating_add_signed(bytes);
        if self.memory > self.limits.memory_max {
            return Err(sql_err!(ER_OUT_OF_RESOURCES));
        }
        Ok(())
    }

    /// Cheap form of [`EvalContext::check_killed`] for loops: looks every 256th call.
    pub fn tick(&mut self) -> SqlResult<()> {
        self.checks = self.checks.wrapping_add(1);
        if self.checks & 255 == 0 { self.check_killed() } else { Ok(()) }
    }
}

impl EvalContext for ExecCtx<'_> {
    fn params(&self) -> &[Value] {
        self.params
    }
    fn correlated(&self) -> &[Value] {
        &self.correlated
    }
    fn settings(&self) -> &EvalSettings {
        &self.settings
    }
    fn diag(&mut self) -> &mut Diagnostics {
        self.diag
    }
    fn convert(&mut self) -> ConvertCtx<'_> {
        ConvertCtx {
            sql_mode: self.settings.sql_mode,
            time_zone: &self.settings.time_zone,
            now_utc_micros: self.settings.now_utc_micros,
            diag: self.diag,
            ignore: self.settings.ignore,
        }
    }
    fn run_subquery(&mut self, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
        crate::subquery::run(self, q, correlated, max_rows)
    }
    fn in_subquery(&mut self, q: &Subquery, correlated: Vec<Value>, needle: &[Value]) -> SqlResult<Option<bool>> {
        crate::subquery::contains(self, q, correlated, needle)
    }
    fn user_var(&self, name: &str) -> Option<(Value, SqlType)> {
        self.session.user_var(name)
    }
    fn set_user_var(&mut self, name: &str, value: Value, ty: SqlType) {
        self.session.set_user_var(name, value, ty);
    }
    fn system_var(&mut self, scope: VarScope, name: &str) -> SqlResult<Value> {
        self.session.system_var(scope, name)
    }
    fn session(&mut self) -> &mut dyn SessionInfo {
        self.session
    }
    fn call_state(&mut self, call: usize) -> Option<&mut [u64; 2]> {
        Some(self.call_states.entry(call).or_default())
    }
    fn check_killed(&mut self) -> SqlResult<()> {
        if self.killed.load(Ordering::Relaxed) {
            return Err(sql_err!(ER_QUERY_INTERRUPTED));
        }
        if self.limits.deadline.is_some_and(|d| Instant::now() >= d) {
            return Err(sql_err!(ER_STATEMENT_TIMEOUT));
        }
        Ok(())
    }
}

/// The plan behind a subquery expression.
pub(crate) fn plan_of(q: &Subquery) -> SqlResult<Arc<QueryPlan>> {
    q.plan.clone().downcast::<QueryPlan>().map_err(|_| sql_err!(ER_UNKNOWN_ERROR))
}
