//! What a session's statements read and change of their session: variables, ids, locks.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use selkie_catalog::Table;
use selkie_executor::SessionHost;
use selkie_expr::{SessionInfo, VarScope};
use selkie_types::{SqlError, SqlResult, SqlType, Value, sql_err};

use crate::accounts::Account;
use crate::instance::{ConnectionState, Instance};
use crate::variables::{self, Hot, Values};

/// A session's state outside of its transaction.
pub struct Host {
    /// The server.
    pub instance: Arc<Instance>,
    /// What others see of this connection.
    pub connection: Arc<ConnectionState>,
    /// Session values of system variables.
    pub vars: Values,
    /// Those that statements need often.
    pub hot: Hot,
    /// `@name`, by lower-case name.
    pub user_vars: HashMap<String, (Value, SqlType)>,
    /// Temporary tables by database and name.
    pub temporary: HashMap<(String, String), Arc<Table>>,
    /// Current database.
    pub database: Option<String>,
    /// User name given at login.
    pub user: String,
    /// Client's host.
    pub host: String,
    /// The account logged in to.
    pub account: Arc<Account>,
    /// LAST_INSERT_ID()
    pub last_insert_id: u64,
    /// The id for the OK packet of the running statement, if LAST_INSERT_ID(expr) set it.
    pub insert_id_set: bool,
    /// ROW_COUNT()
    pub row_count: i64,
    /// FOUND_ROWS()
    pub found_rows: u64,
    /// `@@last_gtid`
    pub last_gtid: String,
    /// `@@warning_count` and `@@error_count` of the statement before.
    pub counts: (u64, u64),
    /// Whether a transaction is open.
    pub in_transaction: bool,
    /// The log position that START TRANSACTION WITH CONSISTENT SNAPSHOT read from, while it is open.
    pub consistent_snapshot: Option<u64>,
    /// What a SHOW … WHERE is about to filter.
    pub show_result: Option<crate::virtual_tables::ShowResult>,
    rng: SmallRng,
}

impl Host {
    /// For a connection that has not logged in yet.
    pub fn new(instance: Arc<Instance>, connection: Arc<ConnectionState>) -> Host {
        let vars = instance.globals.read().clone();
        let hot = Hot::of(&vars);
        Host {
            instance,
            connection,
            vars,
            hot,
            user_vars: HashMap::new(),
            temporary: HashMap::new(),
            database: None,
            user: String::new(),
            host: String::new(),
            account: Arc::new(Account::root()),
            last_insert_id: 0,
            insert_id_set: false,
            row_count: 0,
            found_rows: 0,
            last_gtid: String::new(),
            counts: (0, 0),
            in_transaction: false,
            consistent_snapshot: None,
            show_result: None,
            rng: SmallRng::seed_from_u64(rand::random()),
        }
    }

    /// Sets a session variable by name and refreshes what depends on it.
    pub fn set_var(&mut self, name: &str, value: &str) {
        self.vars.set_named(name, value);
        self.refresh_hot();
    }

    /// Reads [`Self::hot`] anew after a change of variables.
    pub fn refresh_hot(&mut self) {
        self.hot = Hot::of(&self.vars);
    }

    /// Changes the current database.
    pub fn set_database(&mut self, db: Option<String>) {
        if let Some(d) = db.as_deref().and_then(|d| self.instance.dictionary.schema().databases.get(d).cloned()) {
            self.vars.set_named("collation_database", d.collation.name());
            self.vars.set_named("character_set_database", d.collation.charset().name());
        }
        *self.connection.database.lock() = db.clone();
        self.database = db;
    }

    /// Microseconds since 1970 for a statement that starts now.
    pub fn now_micros(&self) -> i64 {
        self.hot.fixed_timestamp_micros.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0, |d| d.as_micros() as i64)
        })
    }

    /// A temporary table of this session.
    pub fn temporary_table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        if self.temporary.is_empty() {
            return None;
        }
        self.temporary.get(&(db.to_owned(), name.to_owned())).cloned()
    }

    /// Drops all temporary tables.
    pub fn drop_temporary(&mut self) {
        for (_, t) in self.temporary.drain() {
            for p in &t.partitions {
                for id in std::iter::once(&p.rows).chain(&p.indexes) {
                    // Indexes of one table may share an id (rows and primary key): the second drop finds nothing.
                    let _ = self.instance.txns.volatile.drop_index((*id).into());
                }
            }
            self.instance.tables.forget(t.id);
        }
    }

    fn killed(&self) -> bool {
        self.connection.kill_query.load(Ordering::Relaxed)
    }

    /// Variables whose value is computed when read.
    pub(crate) fn computed(&self, name: &str) -> Option<Value> {
        let text = |s: &str| Some(Value::text(s));
        match name {
            "last_insert_id" | "identity" => Some(Value::UInt(self.last_insert_id)),
            "warning_count" => Some(Value::UInt(self.counts.0)),
            "error_count" => Some(Value::UInt(self.counts.1)),
            "timestamp" => Some(Value::Double(self.now_micros() as f64 / 1e6)),
            "last_gtid" => text(&self.last_gtid),
            "pseudo_thread_id" if self.vars.get("pseudo_thread_id") == "0" => Some(Value::UInt(self.connection.id)),
            "in_transaction" => Some(Value::Int(self.in_transaction as i64)),
            "gtid_binlog_pos" | "gtid_current_pos" => {
                let pos = self.instance.txns.pipeline.with_log(|l| l.log().state().position().to_string());
                text(&pos)
            }
            "gtid_binlog_state" => {
                let gtids = self.instance.txns.pipeline.with_log(|l| l.log().state().gtids());
                let all: Vec<String> = gtids.iter().map(|g| g.to_string()).collect();
                text(&all.join(","))
            }
            _ => None,
        }
    }
}

impl SessionInfo for Host {
    fn connection_id(&self) -> u64 {
        self.connection.id
    }
    fn user(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }
    fn current_user(&self) -> String {
        format!("{}@{}", self.account.user, self.account.host)
    }
    fn current_role(&self) -> Option<String> {
        self.account.active_role.clone()
    }
    fn database(&self) -> Option<String> {
        self.database.clone()
    }
    fn version(&self) -> String {
        self.vars.get("version").to_owned()
    }
    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }
    fn set_last_insert_id(&mut self, id: u64) {
        self.last_insert_id = id;
        self.insert_id_set = true;
    }
    fn row_count(&self) -> i64 {
        self.row_count
    }
    fn found_rows(&self) -> u64 {
        self.found_rows
    }
    fn get_lock(&mut self, name: &str, timeout_seconds: f64) -> SqlResult<Value> {
        let year = 365.0 * 86400.0;
        let timeout = if timeout_seconds < 0.0 { year } else { timeout_seconds.min(year) };
        let c = self.connection.clone();
        let got = self.instance.user_locks.get(name, c.id, Duration::from_secs_f64(timeout), &|| {
            c.kill_query.load(Ordering::Relaxed)
        });
        if !got && self.killed() {
            return Err(sql_err!(ER_QUERY_INTERRUPTED));
        }
        Ok(Value::Int(got as i64))
    }
    fn release_lock(&mut self, name: &str) -> SqlResult<Value> {
        let released = self.instance.user_locks.release(name, self.connection.id);
        Ok(released.map_or(Value::Null, |r| Value::Int(r as i64)))
    }
    fn release_all_locks(&mut self) -> SqlResult<Value> {
        Ok(Value::Int(self.instance.user_locks.release_all(self.connection.id) as i64))
    }
    fn used_lock(&mut self, name: &str) -> Option<u64> {
        self.instance.user_locks.owner(name)
    }
    fn sleep(&mut self, seconds: f64) -> SqlResult<bool> {
        let deadline = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        loop {
            if self.killed() {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }
    fn rand(&mut self) -> f64 {
        self.rng.random::<f64>()
    }
    fn uuid_short(&mut self) -> u64 {
        let server_id = self.vars.u64("server_id") & 255;
        (server_id << 56) | (self.instance.next_xid() & ((1 << 56) - 1))
    }
    fn sequence_next(&mut self, db: &str, name: &str) -> SqlResult<Value> {
        Err(sql_err!(ER_NOT_SEQUENCE, db, name))
    }
    fn sequence_last(&mut self, db: &str, name: &str) -> SqlResult<Value> {
        Err(sql_err!(ER_NOT_SEQUENCE, db, name))
    }
    fn sequence_set(&mut self, db: &str, name: &str, _value: i64) -> SqlResult<Value> {
        Err(sql_err!(ER_NOT_SEQUENCE, db, name))
    }
    fn load_file(&mut self, path: &str) -> Option<Vec<u8>> {
        let allowed = self.instance.globals.read().get("secure_file_priv").to_owned();
        if !self.account.allows("FILE", "", "") || (!allowed.is_empty() && !path.starts_with(&allowed)) {
            return None;
        }
        std::fs::read(path).ok()
    }
    fn replication_function(&mut self, name: &str, args: &[Value]) -> SqlResult<Value> {
        match name {
            "binlog_gtid_pos" => Ok(crate::gtid_pos::binlog_gtid_pos(&self.instance, args)),
            _ => Ok(Value::Null),
        }
    }
}

impl SessionHost for Host {
    fn user_var(&self, name: &str) -> Option<(Value, SqlType)> {
        self.user_vars.get(&name.to_lowercase()).cloned()
    }
    fn set_user_var(&mut self, name: &str, value: Value, ty: SqlType) {
        self.user_vars.insert(name.to_lowercase(), (value, ty));
    }
    fn system_var(&mut self, scope: VarScope, name: &str) -> SqlResult<Value> {
        let session_only = variables::find(name).is_some_and(|i| variables::TABLE[i].scope == variables::Scope::SessionOnly);
        if !(session_only && scope == VarScope::Global)
            && let Some(v) = self.computed(&name.to_ascii_lowercase())
        {
            return Ok(v);
        }
        let globals = self.instance.globals.read().clone();
        variables::read(&globals, &self.vars, scope, name).map(|(_, v)| v)
    }
    fn virtual_rows(&mut self, db: &str, name: &str, lookups: &[(usize, Value)]) -> SqlResult<Vec<Value>> {
        crate::virtual_tables::rows(self, db, name, lookups)
    }
    fn virtual_width(&mut self, db: &str, name: &str) -> SqlResult<usize> {
        crate::virtual_tables::columns_for(self, db, name)
            .map(|c| c.len())
            .ok_or_else(|| sql_err!(ER_UNKNOWN_TABLE, name, db))
    }
    fn call_function(&mut self, db: &str, name: &str, _args: Vec<Value>) -> SqlResult<Value> {
        Err(sql_err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{db}.{name}")))
    }
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// An error for what a client asked that this version does not do.
pub fn not_supported(what: &str) -> SqlError {
    sql_err!(ER_NOT_SUPPORTED_YET, what)
}
