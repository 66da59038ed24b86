//! A server small enough for tests: memory engines, a transaction manager over a simulated log, one session.

#![allow(dead_code)]

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use selkie_binlog::builder::{EventContext, GtidChoice};
use selkie_binlog::event::QueryEvent;
use selkie_binlog::fs::SimFs;
use selkie_binlog::{Log, LogOptions, TransactionEvents};
use selkie_catalog::dictionary::{DICTIONARY_INDEX, Dictionary, encode_changes, write_of};
use selkie_catalog::show_create::{self, ShowOptions};
use selkie_catalog::{Schema, Table};
use selkie_ddl::{AccountName, DdlDone, DdlHost, DdlRecord, DdlSettings, WriteRows};
use selkie_engine::{Engine, IndexId};
use selkie_engine_memory::MemoryEngine;
use selkie_executor::tables::TableRuntimes;
use selkie_executor::{ExecCtx, ExecLimits, RowLog, SessionHost, Txn, dml, query, txn_error};
use selkie_expr::{EvalSettings, SessionInfo, VarScope};
use selkie_parser::ast::{self, Statement};
use selkie_planner::{PlanContext, Planner, TemporaryTables};
use selkie_txn::{BinlogLog, Isolation, TxnManager, is_volatile};
use selkie_types::{Collation, Diagnostics, Level, SqlError, SqlMode, SqlResult, SqlType, Value, convert, sql_err};

struct NoLog;

impl RowLog for NoLog {
    fn insert(&mut self, _: &Table, _: &[Value], _: &[u8]) -> SqlResult<()> {
        Ok(())
    }
    fn update(&mut self, _: &Table, _: &[Value], _: &[Value], _: &[u8]) -> SqlResult<()> {
        Ok(())
    }
    fn delete(&mut self, _: &Table, _: &[Value], _: &[u8]) -> SqlResult<()> {
        Ok(())
    }
}

struct NoSession;

impl SessionInfo for NoSession {
    fn connection_id(&self) -> u64 {
        1
    }
    fn user(&self) -> String {
        "root@localhost".into()
    }
    fn current_user(&self) -> String {
        "root@localhost".into()
    }
    fn current_role(&self) -> Option<String> {
        None
    }
    fn database(&self) -> Option<String> {
        None
    }
    fn version(&self) -> String {
        String::new()
    }
    fn last_insert_id(&self) -> u64 {
        0
    }
    fn set_last_insert_id(&mut self, _: u64) {}
    fn row_count(&self) -> i64 {
        0
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn get_lock(&mut self, _: &str, _: f64) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn release_lock(&mut self, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn release_all_locks(&mut self) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn used_lock(&mut self, _: &str) -> Option<u64> {
        None
    }
    fn sleep(&mut self, _: f64) -> SqlResult<bool> {
        Ok(false)
    }
    fn rand(&mut self) -> f64 {
        0.5
    }
    fn uuid_short(&mut self) -> u64 {
        0
    }
    fn sequence_next(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_last(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_set(&mut self, _: &str, _: &str, _: i64) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn load_file(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn replication_function(&mut self, _: &str, _: &[Value]) -> SqlResult<Value> {
        Ok(Value::Null)
    }
}

impl SessionHost for NoSession {
    fn user_var(&self, _: &str) -> Option<(Value, SqlType)> {
        None
    }
    fn set_user_var(&mut self, _: &str, _: Value, _: SqlType) {}
    fn system_var(&mut self, _: VarScope, name: &str) -> SqlResult<Value> {
        Err(sql_err!(ER_UNKNOWN_SYSTEM_VARIABLE, name))
    }
    fn virtual_rows(&mut self, _: &str, _: &str, _: &[(usize, Value)]) -> SqlResult<Vec<Value>> {
        Ok(Vec::new())
    }
    fn virtual_width(&mut self, _: &str, _: &str) -> SqlResult<usize> {
        Ok(0)
    }
    fn call_function(&mut self, _: &str, _: &str, _: Vec<Value>) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

type Temporary = BTreeMap<(String, String), Arc<Table>>;

struct TemporaryOf<'a>(&'a Temporary);

impl TemporaryTables for TemporaryOf<'_> {
    fn table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.0.get(&(db.to_owned(), name.to_owned())).cloned()
    }
}

/// The server and its session.
pub struct Server {
    pub txns: Arc<TxnManager<BinlogLog>>,
    pub dictionary: Dictionary,
    pub tables: TableRuntimes,
    pub settings: DdlSettings,
    pub diag: Diagnostics,
    pub current_db: Option<String>,
    /// Statements that were logged.
    pub logged: Vec<String>,
    /// Metadata locks taken by the statement.
    pub locks: Vec<(String, String, bool)>,
    /// The log takes nothing: every commit fails.
    pub fail_commits: bool,
    temporary: Temporary,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    pub fn new() -> Server {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let volatile: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        engine.create_index(DICTIONARY_INDEX).unwrap();
        let (log, _) = Log::open(Arc::new(SimFs::new()), LogOptions::default()).unwrap();
        let end = log.end().0;
        let txns = TxnManager::new(engine.clone(), volatile.clone(), BinlogLog::new(log), end);
        let mut server = Server {
            txns,
            dictionary: Dictionary::new(Schema::default()),
            tables: TableRuntimes::new(engine, volatile),
            settings: DdlSettings { sort_buffer_bytes: 4096, ..DdlSettings::default() },
            diag: Diagnostics::default(),
            current_db: Some("test".into()),
            logged: Vec::new(),
            locks: Vec::new(),
            fail_commits: false,
            temporary: BTreeMap::new(),
        };
        let changes = selkie_ddl::bootstrap(Collation::UTF8MB4_GENERAL_CI);
        let record = DdlRecord { changes, default_db: String::new(), statement: Vec::new() };
        server.commit_ddl(record, None).unwrap();
        server.logged.clear();
        server
    }

    fn exec<R>(&mut self, f: impl FnOnce(&mut ExecCtx<'_>) -> R) -> (R, Txn) {
        let mut txn = self.txns.transaction();
        txn.begin(Isolation::RepeatableRead, true);
        txn.begin_statement();
        let settings = EvalSettings {
            sql_mode: self.settings.sql_mode,
            time_zone: self.settings.time_zone.clone(),
            now_utc_micros: self.settings.now_utc_micros,
            collation_connection: self.settings.collation_connection,
            div_precision_increment: 4,
            max_allowed_packet: 1 << 24,
            group_concat_max_len: 1 << 20,
            default_week_format: 0,
            ignore: false,
        };
        let limits = ExecLimits {
            memory_max: 1 << 30,
            spill_bytes: 1 << 30,
            max_recursive_iterations: 1000,
            deadline: None,
            select_limit: u64::MAX,
            foreign_key_checks: self.settings.foreign_key_checks,
            unique_checks: true,
            check_constraint_checks: true,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            insert_id: None,
        };
        let killed = AtomicBool::new(false);
        let schema = self.dictionary.schema();
        let (mut log, mut session) = (NoLog, NoSession);
        let result = {
            let mut cx = ExecCtx::new(
                schema,
                &mut txn,
                &self.tables,
                &mut log,
                &[],
                settings,
                limits,
                &mut self.diag,
                &mut session,
                &killed,
            );
            f(&mut cx)
        };
        (result, txn)
    }

    fn events(record: &DdlRecord) -> selkie_binlog::EventBuffer {
        let mut events = TransactionEvents::new(EventContext::default());
        events.dictionary(encode_changes(&record.changes).into());
        events.query(QueryEvent {
            database: record.default_db.clone(),
            query: record.statement.clone().into(),
            ..QueryEvent::default()
        });
        events.finish_ddl(GtidChoice::Next { domain_id: 0, server_id: 1 })
    }

    /// Runs one statement. The answer is text: what DDL tells, or the rows, or the error; then the warnings.
    pub fn run(&mut self, sql: &str) -> String {
        self.diag.clear();
        self.locks.clear();
        let mut out = match self.statement(sql) {
            Ok(text) => text,
            Err(e) => {
                self.diag.push(Level::Error, e.clone());
                format!("ERROR {}: {}\n", e.code(), e.message())
            }
        };
        for (level, e) in &self.diag.conditions {
            if *level != Level::Error {
                out.push_str(&format!("{} {}: {}\n", level.name(), e.code(), e.message()));
            }
        }
        out
    }

    fn statement(&mut self, sql: &str) -> SqlResult<String> {
        let mut options = selkie_parser::ParseOptions::default();
        options.mode.ansi_quotes = self.settings.sql_mode.has(SqlMode::ANSI_QUOTES);
        let parsed = selkie_parser::parse(sql.as_bytes(), &options)
            .map_err(|e| SqlError::with_message(e.code(), e.to_string()))?;
        match &parsed.statement {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.data(&parsed.statement)
            }
            Statement::Show(_) => self.show(sql),
            Statement::Set(_) => self.set(sql),
            Statement::TableMaintenance(m) => {
                let result = selkie_ddl::maintain(m, self)?;
                let mut out = String::new();
                for row in &result.rows {
                    let one = |(v, c): (&Value, &(&str, SqlType))| match v {
                        Value::Null => "NULL".into(),
                        v => String::from_utf8_lossy(&convert::text_of(v, &c.1)).into_owned(),
                    };
                    let line: Vec<String> = row.iter().zip(&result.columns).map(one).collect();
                    out.push_str(&line.join("\t"));
                    out.push('\n');
                }
                Ok(out)
            }
            Statement::Use(db) => {
                self.current_db = Some(db.value.clone());
                Ok(String::new())
            }
            s => {
                let done: DdlDone = selkie_ddl::execute(s, sql.as_bytes(), self)?;
                Ok(if done.info.is_empty() { String::new() } else { format!("{}\n", done.info) })
            }
        }
    }

    /// `SET name = value` for the settings that definitions depend on.
    fn set(&mut self, sql: &str) -> SqlResult<String> {
        let rest = sql.trim()[3..].trim();
        let (name, value) = rest.split_once('=').ok_or_else(|| sql_err!(ER_SYNTAX_ERROR))?;
        let on = value.trim() != "0";
        match name.trim().to_lowercase().as_str() {
            "sql_mode" if value.trim().eq_ignore_ascii_case("default") => self.settings.sql_mode = SqlMode::DEFAULT,
            "sql_mode" if value.trim() == "''" => self.settings.sql_mode = SqlMode(0),
            "sql_mode" if value.contains("ANSI_QUOTES") => self.settings.sql_mode = SqlMode(SqlMode::ANSI_QUOTES),
            "foreign_key_checks" => self.settings.foreign_key_checks = on,
            "explicit_defaults_for_timestamp" => self.settings.explicit_defaults_for_timestamp = on,
            other => return Err(sql_err!(ER_UNKNOWN_SYSTEM_VARIABLE, other)),
        }
        Ok(String::new())
    }

    fn show(&mut self, sql: &str) -> SqlResult<String> {
        let words: Vec<&str> = sql.split_whitespace().collect();
        let name = words.last().copied().unwrap_or("").trim_matches('`').to_owned();
        let sql_mode = self.settings.sql_mode;
        if words.iter().any(|w| w.eq_ignore_ascii_case("database")) {
            let schema = self.dictionary.schema();
            let db = schema.databases.get(&name).ok_or_else(|| sql_err!(ER_BAD_DB_ERROR, name))?;
            return Ok(show_create::database(db, sql.to_lowercase().contains("exists"), sql_mode) + "\n");
        }
        let db = self.current_db.clone().unwrap_or_default();
        let (db, name) = match name.split_once('.') {
            Some((d, n)) => (d.to_owned(), n.to_owned()),
            None => (db, name),
        };
        let schema = self.dictionary.schema();
        let table = self.temporary_table(&db, &name).or_else(|| schema.table(&db, &name).cloned());
        let table = table.ok_or_else(|| sql_err!(ER_NO_SUCH_TABLE, db, name))?;
        let auto_increment = match table.auto_increment_column() {
            Some(_) => self.tables.get(&table)?.auto_increment(),
            None => 0,
        };
        let options = ShowOptions { sql_mode, auto_increment, qualify: false };
        Ok(show_create::any(&table, &options) + "\n")
    }

    fn data(&mut self, statement: &ast::Statement) -> SqlResult<String> {
        let schema = self.dictionary.schema();
        let db = self.current_db.clone();
        let temporary = self.temporary.clone();
        let temporary = TemporaryOf(&temporary);
        let mut cx = PlanContext::new(&schema, db.as_deref());
        cx.temporary = &temporary;
        let plan = Planner::plan(statement, &cx)?;
        use selkie_planner::plan::Statement as P;
        let (result, mut txn) = self.exec(|cx| match &plan {
            P::Query(q) => {
                let rows = query::collect(cx, q, usize::MAX)?;
                let mut out = String::new();
                for row in rows.chunks(q.columns.len().max(1)) {
                    let one = |(v, c): (&Value, &selkie_planner::plan::OutputColumn)| match v {
                        Value::Null => "NULL".into(),
                        v => String::from_utf8_lossy(&convert::text_of(v, &c.ty)).into_owned(),
                    };
                    let line: Vec<String> = row.iter().zip(&q.columns).map(one).collect();
                    out.push_str(&line.join("\t"));
                    out.push('\n');
                }
                Ok(out)
            }
            P::Insert(p) => dml::insert(cx, p).map(|_| String::new()),
            P::Update(p) => dml::update(cx, p).map(|_| String::new()),
            P::Delete(p) => dml::delete(cx, p).map(|_| String::new()),
            P::Do(_) => Ok(String::new()),
        });
        let text = match result {
            Ok(text) => text,
            Err(e) => {
                txn.rollback();
                return Err(e);
            }
        };
        if txn.has_writes() {
            let record = DdlRecord { changes: Vec::new(), default_db: String::new(), statement: b"rows".to_vec() };
            txn.commit(Some(Self::events(&record))).map_err(txn_error)?;
        } else {
            txn.rollback();
        }
        Ok(text)
    }

    /// The engine tables of users that exist.
    pub fn engine_tables(&self) -> Vec<IndexId> {
        let mut all = self.txns.engine.indexes().unwrap();
        all.retain(|i| *i != DICTIONARY_INDEX);
        all.extend(self.txns.volatile.indexes().unwrap());
        all
    }

    /// The engine tables that the dictionary and the session refer to.
    pub fn referenced_tables(&self) -> Vec<IndexId> {
        let mut all: Vec<IndexId> = self.dictionary.schema().engine_indexes().into_iter().collect();
        all.retain(|i| *i != DICTIONARY_INDEX);
        for t in self.temporary.values() {
            all.extend(selkie_ddl::draft::engine_indexes(t));
        }
        all.sort();
        all
    }
}

impl DdlHost for Server {
    fn schema(&self) -> Arc<Schema> {
        self.dictionary.schema()
    }
    fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }
    fn current_db(&self) -> Option<&str> {
        self.current_db.as_deref()
    }
    fn forget_current_db(&mut self) {
        self.current_db = None;
    }
    fn settings(&self) -> DdlSettings {
        self.settings.clone()
    }
    fn diag(&mut self) -> &mut Diagnostics {
        &mut self.diag
    }
    fn account(&self) -> AccountName {
        AccountName { user: "root".into(), host: "localhost".into() }
    }
    fn account_exists(&self, account: &AccountName) -> bool {
        account.user == "root"
    }
    fn require(&mut self, _: &str, _: &str, _: &str) -> SqlResult<()> {
        Ok(())
    }
    fn lock_metadata(&mut self, db: &str, table: &str, exclusive: bool, _: Option<u64>) -> SqlResult<()> {
        self.locks.push((db.to_owned(), table.to_owned(), exclusive));
        Ok(())
    }
    fn temporary_table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.temporary.get(&(db.to_owned(), name.to_owned())).cloned()
    }
    fn put_temporary(&mut self, table: Arc<Table>) {
        self.temporary.insert((table.db.clone(), table.name.clone()), table);
    }
    fn remove_temporary(&mut self, db: &str, name: &str) {
        self.temporary.remove(&(db.to_owned(), name.to_owned()));
    }
    fn engine(&self, volatile: bool) -> Arc<dyn Engine> {
        if volatile { self.txns.volatile.clone() } else { self.txns.engine.clone() }
    }
    fn tables(&self) -> &TableRuntimes {
        &self.tables
    }
    fn drop_engine_indexes(&mut self, indexes: Vec<IndexId>) {
        for i in indexes {
            self.engine(is_volatile(i)).drop_index(i).unwrap();
        }
    }
    fn make_durable(&mut self) -> SqlResult<()> {
        self.txns.checkpoint().map(|_| ()).map_err(txn_error)
    }
    fn commit_ddl(&mut self, record: DdlRecord, rows: Option<WriteRows<'_>>) -> SqlResult<()> {
        let (result, mut txn) = self.exec(|cx| match rows {
            Some(rows) => rows(cx),
            None => Ok(()),
        });
        result?;
        if self.fail_commits {
            return Err(sql_err!(ER_ERROR_DURING_COMMIT, 5, "the log is full"));
        }
        for c in &record.changes {
            let (key, value) = write_of(c);
            match value {
                Some(v) => txn.put(DICTIONARY_INDEX, &key, v),
                None => txn.delete(DICTIONARY_INDEX, &key),
            }
        }
        let events = Self::events(&record);
        self.dictionary.change(&record.changes, || txn.commit(Some(events)).map_err(txn_error))?;
        self.logged.push(String::from_utf8_lossy(&record.statement).into_owned());
        Ok(())
    }
    fn with_plan(&mut self, f: &mut dyn FnMut(&PlanContext<'_>) -> SqlResult<()>) -> SqlResult<()> {
        let schema = self.dictionary.schema();
        let temporary = TemporaryOf(&self.temporary);
        let mut cx = PlanContext::new(&schema, self.current_db.as_deref());
        cx.temporary = &temporary;
        f(&cx)
    }
    fn with_exec(&mut self, f: &mut dyn FnMut(&mut ExecCtx<'_>) -> SqlResult<()>) -> SqlResult<()> {
        let (result, mut txn) = self.exec(|cx| f(cx));
        result?;
        if txn.has_writes() {
            txn.commit(None).map_err(txn_error)?;
        }
        Ok(())
    }
    fn check_killed(&mut self) -> SqlResult<()> {
        Ok(())
    }
}
