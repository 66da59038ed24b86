//! A session: one client's state, and running its statements one after another.
//!
//! # The life of a statement
//!
//! 1. [`Session::query`] cuts the text into statements and parses each ([`selkie_parser::parse`]).
//! 2. [`Session::execute`] dispatches by kind: queries and data changes go to [`crate::dml`], DDL to
//!    [`crate::ddl`], SHOW to [`crate::show`], SET to [`crate::set`], the rest is short and stands here.
//! 3. A data statement is planned (or its cached plan is taken), takes metadata locks on its tables, and runs in the
//!    session's transaction; without an open transaction it commits by itself.
//! 4. The answer waits until all that it depends on is durable, and goes into the client's send buffer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use selkie_binlog::builder::EventContext;
use selkie_catalog::mdl::{HeldMdl, MdlError, MdlMode};
use selkie_executor::{Txn, txn_error};
use selkie_parser::ast::{self, Statement};
use selkie_parser::{ParseMode, ParseOptions, parse};
use selkie_protocol::{Capabilities, ServerStatus};
use selkie_protocol::response::Ok as OkPacket;
use selkie_txn::TxnError;
use selkie_types::{Diagnostics, Level, SqlError, SqlMode, SqlResult, codes, sql_err};

use crate::client::Client;
use crate::host::Host;
use crate::instance::{ConnectionState, Instance};
use crate::prepared::PreparedStatements;
use crate::rowlog::{LogMark, TxnLog};

/// How the answer to a statement is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Rows in the text or the binary form.
    pub format: crate::result::RowFormat,
    /// Another result follows.
    pub more: bool,
}

/// A savepoint.
pub struct Savepoint {
    name: String,
    txn: selkie_txn::Mark,
    log: LogMark,
}

/// What a statement answers with when it has no rows.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// Affected rows.
    pub affected: u64,
    /// AUTO_INCREMENT value for the client.
    pub insert_id: u64,
    /// Info text.
    pub info: String,
}

/// One client's session.
pub struct Session {
    /// The server (also in `host`, for expressions).
    pub instance: Arc<Instance>,
    /// What others see of this connection.
    pub connection: Arc<ConnectionState>,
    /// State that expressions can see.
    pub host: Host,
    /// The transaction.
    pub txn: Txn,
    /// Its events.
    pub log: TxnLog,
    /// Warnings of the present or last statement.
    pub diag: Diagnostics,
    /// Prepared statements.
    pub prepared: PreparedStatements,
    /// Plans of text statements by digest.
    pub plans: crate::plan_cache::PlanCache,
    /// What OK packets tell of the session's state.
    pub track: crate::track::Tracker,
    /// Metadata locks held.
    pub mdl: HeldMdl,
    /// BEGIN was given.
    pub explicit: bool,
    /// START TRANSACTION READ ONLY.
    pub read_only: bool,
    savepoints: Vec<Savepoint>,
    /// SET TRANSACTION for the next one only.
    pub next_isolation: Option<selkie_txn::Isolation>,
    /// The generation of accounts that `host.account` is of.
    pub account_generation: u64,
    /// SET TRANSACTION READ ONLY for the next one only.
    pub next_read_only: Option<bool>,
    /// CLIENT_MULTI_STATEMENTS is on.
    pub multi_statements: bool,
    /// The client wants matched instead of changed rows.
    pub found_rows: bool,
    /// The client asked to close after the answer (COMMIT RELEASE, KILL of itself).
    pub closing: bool,
    /// Whether a `txn` is open in the engine's sense (a statement of it has run).
    begun: bool,
}

impl Session {
    /// For a new connection.
    pub fn new(instance: Arc<Instance>, id: u64, host: &str) -> Session {
        let txn = instance.txns.transaction();
        let connection = ConnectionState::new(id, "unauthenticated user", host, txn.owner().clone());
        instance.register(connection.clone());
        let host = Host::new(instance.clone(), connection.clone());
        let log = TxnLog::new(event_context(&host));
        Session {
            instance,
            connection,
            host,
            txn,
            log,
            diag: Diagnostics::default(),
            prepared: PreparedStatements::default(),
            plans: crate::plan_cache::PlanCache::default(),
            track: crate::track::Tracker::default(),
            mdl: Vec::new(),
            explicit: false,
            read_only: false,
            savepoints: Vec::new(),
            next_isolation: None,
            account_generation: 0,
            next_read_only: None,
            multi_statements: false,
            found_rows: false,
            closing: false,
            begun: false,
        }
    }

    /// What this session's events have in common.
    pub fn event_context(&self) -> EventContext {
        event_context(&self.host)
    }

    /// The server.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.host.instance
    }

    /// Brings everything back to what it is after login (COM_RESET_CONNECTION, COM_CHANGE_USER).
    pub fn reset(&mut self) {
        self.rollback();
        self.prepared.clear();
        self.host.user_vars.clear();
        self.host.drop_temporary();
        self.instance().user_locks.release_all(self.host.connection.id);
        let globals = self.instance.globals.read().clone();
        self.host.vars = globals;
        self.host.set_var("pseudo_thread_id", &self.host.connection.id.to_string());
        self.host.last_insert_id = 0;
        self.diag = Diagnostics::default();
        self.next_isolation = None;
        self.next_read_only = None;
        self.plans.clear();
    }

    /// Status flags for OK and EOF.
    pub fn status(&self, more: bool) -> ServerStatus {
        let mut s = ServerStatus::EMPTY;
        s.set(ServerStatus::SERVER_STATUS_AUTOCOMMIT, self.host.hot.autocommit);
        s.set(ServerStatus::SERVER_STATUS_IN_TRANS, self.in_open_transaction());
        s.set(ServerStatus::SERVER_STATUS_NO_BACKSLASH_ESCAPES, self.host.hot.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES));
        s.set(ServerStatus::SERVER_STATUS_ANSI_QUOTES, self.host.hot.sql_mode.has(SqlMode::ANSI_QUOTES));
        s.set(ServerStatus::SERVER_MORE_RESULTS_EXISTS, more);
        s
    }

    /// Whether statements belong to a transaction that goes on after them, and that has begun.
    pub(crate) fn in_open_transaction(&self) -> bool {
        self.in_transaction() && (self.explicit || self.begun)
    }

    /// Whether statements belong to a transaction that goes on after them.
    pub fn in_transaction(&self) -> bool {
        self.explicit || !self.host.hot.autocommit
    }

    /// How the parser is to read statements.
    pub fn parse_options(&self) -> ParseOptions {
        let m = self.host.hot.sql_mode;
        ParseOptions {
            mode: ParseMode {
                ansi_quotes: m.has(SqlMode::ANSI_QUOTES),
                pipes_as_concat: m.has(SqlMode::PIPES_AS_CONCAT),
                no_backslash_escapes: m.has(SqlMode::NO_BACKSLASH_ESCAPES),
                ignore_space: m.has(SqlMode::IGNORE_SPACE),
                high_not_precedence: m.has(SqlMode::HIGH_NOT_PRECEDENCE),
                ..ParseMode::default()
            },
            ..ParseOptions::default()
        }
    }

    /// Runs the text of a COM_QUERY: one statement, or several. Answers are written to the client.
    pub fn query(&mut self, client: &mut Client, text: &[u8]) -> std::io::Result<()> {
        let decoded;
        let charset = self.host.hot.character_set_client;
        let text: &[u8] = match charset.decode(text) {
            Ok(t) => {
                decoded = t;
                &decoded
            }
            Err(_) => text,
        };
        let mut rest = text;
        loop {
            let started = Instant::now();
            self.begin_command(rest);
            let (more, consumed) = match self.one(client, rest) {
                Ok(r) => r,
                Err(e) => {
                    self.fail(client, e);
                    (false, rest.len())
                }
            };
            self.end_command(client, &rest[..consumed.min(rest.len())], started)?;
            if !more {
                return Ok(());
            }
            rest = &rest[consumed..];
        }
    }

    /// Bookkeeping before a statement.
    pub fn begin_command(&mut self, text: &[u8]) {
        let c = &self.host.connection;
        c.kill_query.store(false, Ordering::SeqCst);
        let text = &text[..text.len().min(64 * 1024)];
        let shown = std::str::from_utf8(text).map_or_else(|_| Arc::from(&*String::from_utf8_lossy(text)), Arc::from);
        *c.statement.lock() = Some((shown, Instant::now()));
        crate::status::bump(&self.instance().status.questions);
        if self.account_generation != self.instance.accounts.generation() {
            self.refresh_account();
        }
    }

    /// Bookkeeping after a statement: slow log, counters.
    pub fn end_command(&mut self, client: &mut Client, text: &[u8], started: Instant) -> std::io::Result<()> {
        *self.host.connection.statement.lock() = None;
        let elapsed = started.elapsed();
        if elapsed.as_micros() as u64 >= self.host.hot.long_query_micros {
            crate::status::bump(&self.instance().status.slow_queries);
            crate::slow_log::note(&self.host, text, elapsed);
        }
        client.flush_if_large()
    }

    /// Parses and runs the first statement of `text`; whether another follows, and where.
    fn one(&mut self, client: &mut Client, text: &[u8]) -> SqlResult<(bool, usize)> {
        let answer = Answer { format: crate::result::RowFormat::Text, more: false };
        if !(self.multi_statements && text.contains(&b';')) && self.try_cached(client, text, answer)? {
            return Ok((false, text.len()));
        }
        let options = ParseOptions { multi_statements: self.multi_statements, ..self.parse_options() };
        let parsed = parse(text, &options).map_err(parse_error)?;
        let rest = &text[parsed.end.min(text.len())..];
        let more = self.multi_statements && has_statement(rest);
        let answer = Answer { more, ..answer };
        let own = &text[..parsed.end.min(text.len())];
        self.execute(client, &parsed.statement, own.trim_ascii().trim_suffix_semicolon(), answer)?;
        Ok((more, parsed.end))
    }

    /// Runs a parsed statement and writes its answer.
    pub fn execute(
        &mut self,
        client: &mut Client,
        statement: &Statement,
        text: &[u8],
        answer: Answer,
    ) -> SqlResult<()> {
        if !keeps_diagnostics(statement) {
            self.begin_data_statement();
        }
        self.host.in_transaction = self.in_open_transaction();
        self.check_statement(statement)?;
        crate::status::count_statement(&self.instance().status, statement);
        let done = match statement {
            Statement::Empty => return Err(sql_err!(ER_EMPTY_QUERY)),
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_) => {
                return self.run_data_statement(client, statement, text, answer);
            }
            Statement::LoadData(l) => self.load_data(client, l, text)?,
            Statement::Set(s) => {
                self.run_set(s)?;
                Done::default()
            }
            Statement::SetStatementFor(s) => return self.run_set_statement(client, s, text, answer),
            Statement::Use(db) => {
                self.use_database(&db.value)?;
                Done::default()
            }
            Statement::Begin => {
                self.start_transaction(false, None)?;
                Done::default()
            }
            Statement::StartTransaction(s) => {
                self.start_transaction(s.consistent_snapshot, s.read_only)?;
                Done::default()
            }
            Statement::Commit(c) => {
                crate::status::bump(&self.instance().status.com_commit);
                self.commit()?;
                self.complete(c)?;
                Done::default()
            }
            Statement::Rollback(c) => {
                crate::status::bump(&self.instance().status.com_rollback);
                self.rollback();
                self.complete(c)?;
                Done::default()
            }
            Statement::Savepoint(name) => {
                self.savepoint(&name.value);
                Done::default()
            }
            Statement::RollbackTo(name) => {
                self.rollback_to_savepoint(&name.value)?;
                Done::default()
            }
            Statement::ReleaseSavepoint(name) => {
                let at = self.find_savepoint(&name.value)?;
                self.savepoints.truncate(at);
                Done::default()
            }
            Statement::Show(s) => return self.run_show(client, s, answer),
            Statement::DescribeTable(d) => return self.run_describe(client, d, answer),
            Statement::Explain(e) => return self.run_explain(client, e, text, answer),
            Statement::Kill(k) => {
                self.run_kill(k)?;
                Done::default()
            }
            Statement::LockTables(l) => {
                self.lock_tables(l)?;
                Done::default()
            }
            Statement::UnlockTables => {
                // A transaction goes on where no LOCK TABLES is to be undone: dump tools open a snapshot, then unlock.
                if self.mdl_pinned() {
                    self.commit()?;
                    self.release_mdl(0);
                }
                Done::default()
            }
            Statement::Prepare(p) => {
                self.run_prepare(p)?;
                Done { info: "Statement prepared".into(), ..Done::default() }
            }
            Statement::Execute(e) => return self.run_execute(client, e, answer),
            Statement::ExecuteImmediate(e) => return self.run_execute_immediate(client, e, answer),
            Statement::Deallocate(name) => {
                self.prepared.deallocate(&name.value)?;
                Done::default()
            }
            Statement::Flush(f) => {
                self.run_flush(f)?;
                Done::default()
            }
            Statement::TableMaintenance(m) => return self.run_maintenance(client, m, answer),
            Statement::Shutdown { .. } => {
                self.require("SHUTDOWN")?;
                self.instance().request_shutdown();
                Done::default()
            }
            accounts if crate::grants::is_account_statement(accounts) => {
                self.commit_implicitly()?;
                self.run_account_statement(accounts, text)?
            }
            other => {
                self.commit_implicitly()?;
                self.run_ddl(other, text)?
            }
        };
        self.txn.wait_answerable().map_err(txn_error)?;
        self.write_ok(client, &done, answer.more);
        Ok(())
    }

    /// Writes an OK packet.
    pub fn write_ok(&mut self, client: &mut Client, done: &Done, more: bool) {
        let status = self.status(more);
        let ok = OkPacket {
            affected_rows: done.affected,
            last_insert_id: done.insert_id,
            status,
            warnings: self.warning_count(),
            info: done.info.as_bytes(),
            session_state: &[],
        };
        client.ok(&self.with_changes(client, ok));
    }

    /// Ends a result set.
    pub fn write_end(&mut self, client: &mut Client, more: bool) {
        let (status, warnings) = (self.status(more), self.warning_count());
        let end = OkPacket { status, warnings, ..OkPacket::default() };
        client.end_of_rows(&self.with_changes(client, end));
    }

    /// The packet with what changed in the session, for clients that want to know.
    fn with_changes<'a>(&'a mut self, client: &Client, ok: OkPacket<'a>) -> OkPacket<'a> {
        if !client.capabilities.contains(Capabilities::CLIENT_SESSION_TRACK) {
            return ok;
        }
        self.track_changes();
        ok.with_session_track(self.track.changes())
    }

    /// Number of warnings for packets.
    pub fn warning_count(&self) -> u16 {
        self.diag.total.min(u16::MAX.into()) as u16
    }

    pub(crate) fn diagnostics_counts(&self) -> (u64, u64) {
        let errors = self.diag.conditions.iter().filter(|(l, _)| *l == Level::Error).count() as u64;
        (self.diag.total, errors)
    }

    /// Answers with an error, which also becomes the last condition of the diagnostics area.
    pub fn fail(&mut self, client: &mut Client, e: SqlError) {
        // An error tells something too (a duplicate key): it waits like any answer.
        let e = match self.txn.wait_answerable() {
            Ok(()) => e,
            Err(poisoned) => txn_error(poisoned),
        };
        self.diag.push(Level::Error, e.clone());
        self.host.row_count = -1;
        client.error(&e);
    }

    // ---- transactions

    /// Begins the transaction's part for a statement, if none is open.
    pub fn begin_if_needed(&mut self) {
        if !self.begun {
            let isolation = self.next_isolation.take().unwrap_or(self.host.hot.isolation);
            self.txn.lock_wait_timeout = Duration::from_secs(self.host.hot.lock_wait_timeout_secs);
            self.txn.begin(isolation, self.in_transaction());
            self.begun = true;
        }
    }

    fn start_transaction(&mut self, consistent_snapshot: bool, read_only: Option<bool>) -> SqlResult<()> {
        self.commit()?;
        self.release_mdl(0);
        self.explicit = true;
        self.read_only = read_only.or(self.next_read_only.take()).unwrap_or(self.host.hot.read_only);
        if consistent_snapshot {
            self.begin_if_needed();
            self.host.consistent_snapshot = Some(self.txn.snapshot());
        }
        Ok(())
    }

    /// Ends a statement outside of a transaction, or a whole transaction, by committing.
    pub fn commit(&mut self) -> SqlResult<()> {
        let result = self.commit_inner();
        self.savepoints.clear();
        self.host.consistent_snapshot = None;
        self.explicit = false;
        self.read_only = false;
        self.begun = false;
        self.track.transaction_ended();
        if !self.mdl_pinned() {
            self.release_mdl(0);
        }
        result
    }

    fn commit_inner(&mut self) -> SqlResult<()> {
        if !self.txn.has_writes() {
            self.log.clear();
            self.txn.rollback();
            return Ok(());
        }
        let xid = self.instance().next_xid();
        let choice = self.gtid_choice();
        let events = self.log.finish(xid, choice, self.host.hot.sql_log_bin);
        self.log.clear();
        match self.txn.commit(events) {
            Ok(Some((_, events))) => {
                if let Some(gtid) = events.gtid() {
                    self.host.last_gtid = gtid.to_string();
                }
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(e) => Err(txn_error(e)),
        }
    }

    /// Rolls the transaction back.
    pub fn rollback(&mut self) {
        self.txn.rollback();
        self.log.clear();
        self.savepoints.clear();
        self.host.consistent_snapshot = None;
        self.explicit = false;
        self.read_only = false;
        self.begun = false;
        self.track.transaction_ended();
        if !self.mdl_pinned() {
            self.release_mdl(0);
        }
    }

    /// The commit that DDL and the like imply.
    pub fn commit_implicitly(&mut self) -> SqlResult<()> {
        self.commit()
    }

    fn complete(&mut self, c: &ast::Completion) -> SqlResult<()> {
        let default = self.host.vars.get("completion_type").to_owned();
        if c.chain.unwrap_or(default == "CHAIN") {
            self.explicit = true;
        }
        if c.release.unwrap_or(default == "RELEASE") {
            self.closing = true;
        }
        Ok(())
    }

    fn savepoint(&mut self, name: &str) {
        if !self.in_transaction() {
            return;
        }
        self.begin_if_needed();
        self.savepoints.retain(|s| !s.name.eq_ignore_ascii_case(name));
        let (txn, log) = (self.txn.mark(), self.log.mark());
        self.savepoints.push(Savepoint { name: name.to_owned(), txn, log });
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        let found = self.savepoints.iter().position(|s| s.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| sql_err!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
    }

    fn rollback_to_savepoint(&mut self, name: &str) -> SqlResult<()> {
        let at = self.find_savepoint(name)?;
        let s = &self.savepoints[at];
        self.txn.rollback_to(s.txn);
        self.log.rollback_to(s.log);
        self.savepoints.truncate(at + 1);
        Ok(())
    }

    /// What a failed statement does to its transaction: a deadlock or a snapshot conflict ends it all.
    pub fn after_error(&mut self, e: &SqlError, mark: selkie_txn::Mark) {
        let whole = matches!(e.code(), codes::ER_LOCK_DEADLOCK | codes::ER_CHECKREAD)
            || (e.code() == codes::ER_LOCK_WAIT_TIMEOUT && self.host.vars.on("innodb_rollback_on_timeout"));
        if whole || !self.in_transaction() {
            self.rollback();
        } else {
            self.txn.rollback_to(mark);
            self.log.rollback_statement();
            self.txn.end_statement();
        }
    }

    // ---- metadata locks

    /// Takes a metadata lock for the present transaction.
    pub fn lock_metadata(&mut self, db: &str, table: &str, mode: MdlMode) -> SqlResult<()> {
        self.lock_metadata_for(db, table, mode, None)
    }

    /// Takes a metadata lock, waiting so many seconds at the most (`lock_wait_timeout` if not said).
    pub fn lock_metadata_for(&mut self, db: &str, table: &str, mode: MdlMode, wait: Option<u64>) -> SqlResult<()> {
        let instance = self.host.instance.clone();
        let c = self.host.connection.clone();
        let timeout = Duration::from_secs(wait.unwrap_or(self.host.hot.metadata_lock_timeout_secs));
        let killed = || c.kill_query.load(Ordering::Relaxed);
        instance.mdl.acquire(c.id, &mut self.mdl, db, table, mode, timeout, &killed).map_err(|e| match e {
            MdlError::Timeout => sql_err!(ER_LOCK_WAIT_TIMEOUT),
            MdlError::Killed => sql_err!(ER_QUERY_INTERRUPTED),
            MdlError::Deadlock => sql_err!(ER_LOCK_DEADLOCK),
        })
    }

    /// Gives metadata locks back.
    pub fn release_mdl(&mut self, keep: usize) {
        let instance = self.host.instance.clone();
        instance.mdl.release_from(self.host.connection.id, &mut self.mdl, keep);
        if keep == 0 {
            self.prepared.unpin();
        }
    }

    fn mdl_pinned(&self) -> bool {
        self.prepared.pinned()
    }

    fn lock_tables(&mut self, l: &ast::LockTables) -> SqlResult<()> {
        self.commit_implicitly()?;
        self.release_mdl(0);
        for t in &l.tables {
            let db = self.database_of(&t.name)?;
            let schema = self.instance().dictionary.schema();
            if crate::virtual_tables::is_database(&db) {
                // Computed when read: there is nothing to lock.
                continue;
            }
            if schema.table(&db, &t.name.name.value).is_none() && self.host.temporary_table(&db, &t.name.name.value).is_none() {
                return Err(sql_err!(ER_NO_SUCH_TABLE, db, t.name.name.value));
            }
            let write = !matches!(t.mode, ast::LockTableMode::Read | ast::LockTableMode::ReadLocal);
            let mode = if write { MdlMode::Exclusive } else { MdlMode::SharedNoWrite };
            self.lock_metadata(&db, &t.name.name.value, mode)?;
        }
        self.prepared.pin();
        Ok(())
    }

    /// Whether LOCK TABLES … READ of this session holds a table.
    pub fn holds_read_lock(&self, t: &selkie_catalog::Table) -> bool {
        let here = |((db, name), mode): &(selkie_catalog::mdl::MdlName, MdlMode)| {
            *mode == MdlMode::SharedNoWrite && **db == *t.db && **name == *t.name
        };
        self.mdl.iter().any(here)
    }

    // ---- names and privileges

    /// The database of a name, or the current one.
    pub fn database_of(&self, name: &ast::ObjectName) -> SqlResult<String> {
        match &name.db {
            Some(db) => Ok(db.value.clone()),
            None => self.host.database.clone().ok_or_else(|| sql_err!(ER_NO_DB_ERROR)),
        }
    }

    /// USE.
    pub fn use_database(&mut self, db: &str) -> SqlResult<()> {
        self.check_use(db)?;
        let known = self.instance().dictionary.schema().databases.contains_key(db)
            || crate::virtual_tables::is_database(db);
        if !known {
            return Err(sql_err!(ER_BAD_DB_ERROR, db));
        }
        let db = if crate::virtual_tables::is_database(db) { db.to_lowercase() } else { db.to_owned() };
        self.host.set_database(Some(db));
        self.track.schema_changed();
        Ok(())
    }

    /// Fails unless the account has a global privilege.
    pub fn require(&self, privilege: &str) -> SqlResult<()> {
        if self.host.account.allows(privilege, "", "") {
            Ok(())
        } else {
            Err(sql_err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, privilege))
        }
    }

    /// COM_FIELD_LIST: definitions of a table's columns.
    pub fn field_list(&mut self, client: &mut Client, table: &str, wildcard: &str) -> SqlResult<()> {
        let db = self.host.database.clone().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))?;
        let quoted = table.replace('`', "``");
        // Invisible columns are listed too.
        let schema = self.instance().dictionary.schema();
        let columns = match self.host.temporary_table(&db, table).or_else(|| schema.table(&db, table).cloned()) {
            Some(t) if t.columns.iter().any(|c| c.invisible) => {
                let names: Vec<_> = t.columns.iter().map(|c| format!("`{}`", c.name.replace('`', "``"))).collect();
                names.join(", ")
            }
            _ => "*".to_owned(),
        };
        let text = format!("SELECT {columns} FROM `{quoted}` LIMIT 0");
        let parsed = parse(text.as_bytes(), &self.parse_options()).map_err(parse_error)?;
        let planned = self.plan(&parsed.statement, &[])?;
        let results = self.host.hot.character_set_results;
        let status = self.status(false);
        if let selkie_planner::plan::Statement::Query(q) = &planned.planned.statement {
            for c in &q.columns {
                if wildcard.is_empty() || crate::accounts::like(&c.name.to_lowercase(), &wildcard.to_lowercase()) {
                    let d = crate::result::definition(c, results);
                    selkie_protocol::response::put_field_list_column(&mut client.out, client.capabilities, &d, None);
                }
            }
        }
        if !self.in_transaction() {
            self.commit()?;
        }
        selkie_protocol::response::Eof { warnings: 0, status }.encode(&mut client.out);
        Ok(())
    }

    fn run_kill(&mut self, k: &ast::Kill) -> SqlResult<()> {
        let (expr, query) = match &k.target {
            ast::KillTarget::Connection(e) => (e, false),
            ast::KillTarget::Query(e) => (e, true),
            _ => return Err(crate::host::not_supported("KILL USER and KILL QUERY ID")),
        };
        let id = self.eval_number(expr)?;
        let target = self.instance().connection(id).ok_or_else(|| sql_err!(ER_NO_SUCH_THREAD, id))?;
        let own = target.peer.lock().0 == self.host.user;
        if !own && !self.host.account.allows("SUPER", "", "") {
            return Err(sql_err!(ER_KILL_DENIED_ERROR, id));
        }
        if query {
            target.kill_query();
        } else {
            target.kill_connection();
        }
        if id == self.host.connection.id {
            return Err(sql_err!(ER_QUERY_INTERRUPTED));
        }
        Ok(())
    }

    fn run_flush(&mut self, f: &ast::Flush) -> SqlResult<()> {
        self.require("RELOAD")?;
        for item in &f.items {
            if let ast::FlushItem::BinaryLogs { .. } | ast::FlushItem::Logs = item {
                let rotated = self.instance().txns.pipeline.with_log(|l| l.log().rotate());
                rotated.map_err(|e| txn_error(TxnError::Log(e.to_string())))?;
            }
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.rollback();
        self.release_mdl(0);
        self.host.drop_temporary();
        let id = self.host.connection.id;
        self.instance().user_locks.release_all(id);
        self.instance().unregister(id);
    }
}

fn event_context(host: &Host) -> EventContext {
    EventContext {
        server_id: host.vars.u64("server_id") as u32,
        timestamp: (host.now_micros() / 1_000_000) as u32,
        row_event_max_size: host.vars.u64("binlog_row_event_max_size").max(256) as usize,
        ..EventContext::default()
    }
}

/// A syntax error as clients see it.
pub fn parse_error(e: selkie_parser::ParseError) -> SqlError {
    SqlError::with_message(e.code(), e.to_string())
}

/// Statements that look at the diagnostics of the one before and leave them.
fn keeps_diagnostics(s: &Statement) -> bool {
    match s {
        Statement::Show(show) => {
            matches!(
                show.kind,
                ast::ShowKind::Warnings { .. } | ast::ShowKind::Errors { .. } | ast::ShowKind::WarningCount | ast::ShowKind::ErrorCount
            )
        }
        Statement::GetDiagnostics(_) => true,
        _ => false,
    }
}

/// Whether anything but blanks and semicolons is left.
fn has_statement(text: &[u8]) -> bool {
    text.iter().any(|b| !b.is_ascii_whitespace() && *b != b';')
}

trait TrimSemicolon {
    fn trim_suffix_semicolon(&self) -> &Self;
}

impl TrimSemicolon for [u8] {
    fn trim_suffix_semicolon(&self) -> &[u8] {
        self.strip_suffix(b";").unwrap_or(self).trim_ascii_end()
    }
}
