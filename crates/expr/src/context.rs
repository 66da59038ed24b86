//! What an expression may ask of the statement and the session it runs in.

use std::sync::Arc;

use selkie_types::convert::ConvertCtx;
use selkie_types::{Collation, Diagnostics, SqlMode, SqlResult, SqlType, TimeZone, Value};

use crate::ir::Subquery;

/// Scope of a system variable reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VarScope {
    /// `@@global.x`
    Global,
    /// `@@session.x`, `@@local.x`
    Session,
    /// `@@x`: the session's value, or the global one where there is none.
    Default,
}

/// The statement's settings: copied from the session when the statement starts.
#[derive(Debug, Clone)]
pub struct EvalSettings {
    /// `@@sql_mode`
    pub sql_mode: SqlMode,
    /// `@@time_zone`
    pub time_zone: TimeZone,
    /// Microseconds since 1970 UTC at the statement's start, or what `SET timestamp` fixed.
    pub now_utc_micros: i64,
    /// `@@collation_connection`: the collation of literals and of numbers turned to text.
    pub collation_connection: Collation,
    /// `@@div_precision_increment`
    pub div_precision_increment: u8,
    /// `@@max_allowed_packet`, bytes.
    pub max_allowed_packet: usize,
    /// `@@group_concat_max_len`, bytes.
    pub group_concat_max_len: usize,
    /// `@@default_week_format`
    pub default_week_format: u8,
    /// Whether the statement is INSERT/UPDATE/… IGNORE.
    pub ignore: bool,
}

/// What information functions read and change in their session.
pub trait SessionInfo {
    /// CONNECTION_ID()
    fn connection_id(&self) -> u64;
    /// USER(), as `user@host`.
    fn user(&self) -> String;
    /// CURRENT_USER(), the account that was matched.
    fn current_user(&self) -> String;
    /// CURRENT_ROLE()
    fn current_role(&self) -> Option<String>;
    /// DATABASE()
    fn database(&self) -> Option<String>;
    /// VERSION()
    fn version(&self) -> String;
    /// LAST_INSERT_ID()
    fn last_insert_id(&self) -> u64;
    /// LAST_INSERT_ID(expr)
    fn set_last_insert_id(&mut self, id: u64);
    /// ROW_COUNT()
    fn row_count(&self) -> i64;
    /// FOUND_ROWS()
    fn found_rows(&self) -> u64;
    /// GET_LOCK: 1 got, 0 timed out, NULL on error.
    fn get_lock(&mut self, name: &str, timeout_seconds: f64) -> SqlResult<Value>;
    /// RELEASE_LOCK: 1 released, 0 another's, NULL no such lock.
    fn release_lock(&mut self, name: &str) -> SqlResult<Value>;
    /// RELEASE_ALL_LOCKS: how many.
    fn release_all_locks(&mut self) -> SqlResult<Value>;
    /// IS_USED_LOCK: the owner's connection id, or NULL.
    fn used_lock(&mut self, name: &str) -> Option<u64>;
    /// SLEEP: true if it was interrupted.
    fn sleep(&mut self, seconds: f64) -> SqlResult<bool>;
    /// RAND() without a seed: a number in [0, 1).
    fn rand(&mut self) -> f64;
    /// UUID_SHORT()
    fn uuid_short(&mut self) -> u64;
    /// NEXT VALUE FOR / NEXTVAL of a sequence.
    fn sequence_next(&mut self, db: &str, name: &str) -> SqlResult<Value>;
    /// LASTVAL
    fn sequence_last(&mut self, db: &str, name: &str) -> SqlResult<Value>;
    /// SETVAL
    fn sequence_set(&mut self, db: &str, name: &str, value: i64) -> SqlResult<Value>;
    /// LOAD_FILE: NULL where not allowed.
    fn load_file(&mut self, path: &str) -> Option<Vec<u8>>;
    /// MASTER_GTID_WAIT, MASTER_POS_WAIT and the like, by name.
    fn replication_function(&mut self, name: &str, args: &[Value]) -> SqlResult<Value>;
}

/// The statement in which an expression is evaluated. Implemented by the executor.
pub trait EvalContext {
    /// Values of `?` markers (and of literals lifted out by the plan cache).
    fn params(&self) -> &[Value];
    /// Values of the outer row that the current subquery was started with.
    fn correlated(&self) -> &[Value];
    /// The statement's settings.
    fn settings(&self) -> &EvalSettings;
    /// Where warnings go.
    fn diag(&mut self) -> &mut Diagnostics;
    /// The settings and the diagnostics as conversions want them.
    fn convert(&mut self) -> ConvertCtx<'_>;
    /// Runs a subquery with its correlated values; the executor caches what does not depend on them.
    /// Returns at most `max_rows` rows, flat, `width` values each.
    fn run_subquery(&mut self, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>>;
    /// `expr IN (subquery)` and quantified comparison over a cached, hashed result: the three-valued
    /// answer for one needle. `needle` has the subquery's comparison types already.
    fn in_subquery(&mut self, q: &Subquery, correlated: Vec<Value>, needle: &[Value]) -> SqlResult<Option<bool>>;
    /// `@name`
    fn user_var(&self, name: &str) -> Option<(Value, SqlType)>;
    /// `@name := value`
    fn set_user_var(&mut self, name: &str, value: Value, ty: SqlType);
    /// `@@scope.name`, typed as [`crate::Expr`] was bound.
    fn system_var(&mut self, scope: VarScope, name: &str) -> SqlResult<Value>;
    /// The session behind the statement.
    fn session(&mut self) -> &mut dyn SessionInfo;
    /// Fails with 1317 when the statement was killed, or 1969 when `max_statement_time` is over.
    /// Called by everything that loops long.
    fn check_killed(&mut self) -> SqlResult<()>;
    /// The full name of a column of the current row, as errors quote it: `` `db`.`t`.`c` ``.
    fn column_name(&self, _slot: usize) -> Option<String> {
        None
    }
    /// What a call keeps from row to row of one statement (RAND(n)'s sequence), by a key that is unique within the
    /// statement; zeros at first. `None` where the executor keeps nothing: then every row starts anew.
    fn call_state(&mut self, _call: usize) -> Option<&mut [u64; 2]> {
        None
    }
}
