//! The session as DDL sees it: locks, settings, binding, and the commit of its one record.

use std::path::PathBuf;
use std::sync::Arc;

use selkie_binlog::builder::GtidChoice;
use selkie_binlog::event::{QueryFlags2, QueryStatus, StatusVar};
use selkie_catalog::dictionary::Dictionary;
use selkie_catalog::mdl::MdlMode;
use selkie_catalog::{Schema, Table};
use selkie_ddl::{AccountName, DdlHost, DdlRecord, DdlSettings, WriteRows};
use selkie_engine::{Engine, IndexId};
use selkie_executor::tables::TableRuntimes;
use selkie_executor::{ExecCtx, txn_error};
use selkie_expr::EvalContext;
use selkie_parser::ast::{self, Statement};
use selkie_types::{Collation, Diagnostics, SqlResult, sql_err};

use crate::client::Client;
use crate::commit_dictionary::{self, DdlRecord as LogRecord};
use crate::dml::{HostView, plan_context};
use crate::host::Host;
use crate::session::{Answer, Done, Session};

impl Session {
    /// Runs a statement that changes the dictionary. The open transaction was committed.
    pub fn run_ddl(&mut self, statement: &Statement, text: &[u8]) -> SqlResult<Done> {
        let held = self.mdl.len();
        let result = selkie_ddl::execute(statement, text, &mut SessionDdl { session: self });
        self.txn.rollback();
        self.log.clear();
        if !self.prepared.pinned() {
            self.release_mdl(held);
        }
        let done = result?;
        self.host.row_count = done.affected as i64;
        Ok(Done { affected: done.affected, insert_id: 0, info: done.info })
    }

    /// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
    pub fn run_maintenance(&mut self, client: &mut Client, m: &ast::TableMaintenance, answer: Answer) -> SqlResult<()> {
        self.commit_implicitly()?;
        let held = self.mdl.len();
        let result = selkie_ddl::maintain(m, &mut SessionDdl { session: self });
        self.txn.rollback();
        if !self.prepared.pinned() {
            self.release_mdl(held);
        }
        let result = result?;
        let column = |(name, ty): &(&str, selkie_types::SqlType)| selkie_planner::plan::OutputColumn {
            name: (*name).to_owned(),
            ty: ty.clone(),
            nullable: true,
            origin: None,
        };
        let columns: Vec<_> = result.columns.iter().map(column).collect();
        let rows: Vec<_> = result.rows.into_iter().flatten().collect();
        self.write_result(client, &columns, &rows, answer)
    }

    /// Status variables that a replica needs to run a statement of this session alike.
    pub fn query_status(&self) -> QueryStatus {
        let host = &self.host;
        let collation = |name: &str| Collation::by_name(host.vars.get(name)).map_or(45, |c| c.0);
        let client = host.hot.character_set_client.default_collation().0;
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let flags2 = flag(!host.vars.on("foreign_key_checks"), QueryFlags2::NO_FOREIGN_KEY_CHECKS)
            | flag(!host.vars.on("unique_checks"), QueryFlags2::RELAXED_UNIQUE_CHECKS)
            | flag(!host.vars.on("check_constraint_checks"), QueryFlags2::NO_CHECK_CONSTRAINT_CHECKS)
            | flag(host.vars.on("explicit_defaults_for_timestamp"), QueryFlags2::EXPLICIT_DEFAULTS_FOR_TIMESTAMP)
            | flag(host.vars.on("sql_auto_is_null"), QueryFlags2::AUTO_IS_NULL)
            | flag(!host.vars.on("autocommit"), QueryFlags2::NOT_AUTOCOMMIT);
        QueryStatus::new()
            .with(StatusVar::Flags2(flags2))
            .with(StatusVar::SqlMode(host.hot.sql_mode.0))
            .with(StatusVar::Catalog("std".into()))
            .with(StatusVar::Charset {
                client,
                connection: collation("collation_connection"),
                server: collation("collation_server"),
            })
            // Always: readers keep the zone of the event before where one says none.
            .with(StatusVar::TimeZone(host.vars.get("time_zone").to_owned().into()))
    }

    /// GTID domain and server of this session's events.
    pub fn gtid_choice(&self) -> GtidChoice {
        GtidChoice::Next {
            domain_id: self.host.vars.u64("gtid_domain_id") as u32,
            server_id: self.host.vars.u64("server_id") as u32,
        }
    }

    /// Commits dictionary changes that a statement made (accounts).
    pub fn commit_dictionary(
        &mut self,
        changes: &[selkie_catalog::dictionary::DictionaryChange],
        statement: &[u8],
    ) -> SqlResult<()> {
        let record = LogRecord {
            context: self.event_context(),
            choice: self.gtid_choice(),
            thread_id: self.connection.id as u32,
            database: self.host.database.as_deref().unwrap_or(""),
            status: self.query_status(),
            statement,
            local: !self.host.hot.sql_log_bin,
        };
        let events = commit_dictionary::commit(&self.instance, changes, record)?;
        if let Some(gtid) = events.gtid() {
            self.host.last_gtid = gtid.to_string();
        }
        self.instance.accounts.reload(&self.instance.dictionary.schema());
        Ok(())
    }
}

struct SessionDdl<'a> {
    session: &'a mut Session,
}

impl SessionDdl<'_> {
    fn host(&self) -> &Host {
        &self.session.host
    }

    /// Lets `f` plan with the session's settings in the current dictionary.
    fn planning<T>(&self, f: impl FnOnce(&selkie_planner::PlanContext<'_>) -> SqlResult<T>) -> SqlResult<T> {
        let schema = self.session.instance.dictionary.schema();
        let view = HostView::new(&self.session.host);
        f(&plan_context(&self.session.host, &schema, &view, &[]))
    }
}

impl DdlHost for SessionDdl<'_> {
    fn schema(&self) -> Arc<Schema> {
        self.session.instance.dictionary.schema()
    }
    fn dictionary(&self) -> &Dictionary {
        &self.session.instance.dictionary
    }
    fn current_db(&self) -> Option<&str> {
        self.session.host.database.as_deref()
    }
    fn forget_current_db(&mut self) {
        self.session.host.set_database(None);
    }
    fn settings(&self) -> DdlSettings {
        let host = self.host();
        let vars = &host.vars;
        let tmpdir = vars.get("tmpdir");
        DdlSettings {
            sql_mode: host.hot.sql_mode,
            collation_server: Collation::by_name(vars.get("collation_server")).unwrap_or(Collation::UTF8MB4_GENERAL_CI),
            default_storage_engine: vars.get("default_storage_engine").to_owned(),
            default_tmp_storage_engine: vars.get("default_tmp_storage_engine").to_owned(),
            explicit_defaults_for_timestamp: vars.on("explicit_defaults_for_timestamp"),
            foreign_key_checks: vars.on("foreign_key_checks"),
            time_zone: host.hot.time_zone.clone(),
            now_utc_micros: host.now_micros(),
            character_set_client: vars.get("character_set_client").to_owned(),
            collation_connection: host.hot.collation_connection,
            sort_buffer_bytes: 64 << 20,
            temporary_directory: if tmpdir.is_empty() { std::env::temp_dir() } else { PathBuf::from(tmpdir) },
        }
    }
    fn diag(&mut self) -> &mut Diagnostics {
        &mut self.session.diag
    }
    fn account(&self) -> AccountName {
        let a = &self.host().account;
        AccountName { user: a.user.clone(), host: a.host.clone() }
    }
    fn account_exists(&self, account: &AccountName) -> bool {
        self.session.instance.accounts.exact(&account.user, &account.host).is_some()
    }
    fn require(&mut self, privilege: &str, db: &str, table: &str) -> SqlResult<()> {
        let account = &self.host().account;
        if account.allows(privilege, db, table) {
            return Ok(());
        }
        Err(if table.is_empty() {
            sql_err!(ER_DBACCESS_DENIED_ERROR, account.user, self.host().host, db)
        } else {
            sql_err!(ER_TABLEACCESS_DENIED_ERROR, privilege, account.user, self.host().host, db, table)
        })
    }
    fn lock_metadata(&mut self, db: &str, table: &str, exclusive: bool, wait_seconds: Option<u64>) -> SqlResult<()> {
        let mode = if exclusive { MdlMode::Exclusive } else { MdlMode::Shared };
        self.session.lock_metadata_for(db, table, mode, wait_seconds)
    }
    fn temporary_table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.host().temporary_table(db, name)
    }
    fn put_temporary(&mut self, table: Arc<Table>) {
        self.session.host.temporary.insert((table.db.clone(), table.name.clone()), table);
    }
    fn remove_temporary(&mut self, db: &str, name: &str) {
        self.session.host.temporary.remove(&(db.to_owned(), name.to_owned()));
    }
    fn engine(&self, volatile: bool) -> Arc<dyn Engine> {
        let txns = &self.session.instance.txns;
        if volatile { txns.volatile.clone() } else { txns.engine.clone() }
    }
    fn tables(&self) -> &TableRuntimes {
        &self.session.instance.tables
    }
    fn drop_engine_indexes(&mut self, indexes: Vec<IndexId>) {
        for id in indexes {
            let engine = self.engine(selkie_txn::is_volatile(id));
            if let Err(e) = engine.drop_index(id) {
                // What stays behind is unreferenced; the next start removes it.
                tracing::warn!("engine table {id} could not be dropped: {e}");
            }
        }
    }
    fn make_durable(&mut self) -> SqlResult<()> {
        self.session.instance.txns.checkpoint().map(|_| ()).map_err(txn_error)
    }
    fn commit_ddl(&mut self, record: DdlRecord, rows: Option<WriteRows<'_>>) -> SqlResult<()> {
        let session = &mut *self.session;
        match rows {
            None => {
                let log = LogRecord {
                    context: session.event_context(),
                    choice: session.gtid_choice(),
                    thread_id: session.connection.id as u32,
                    database: &record.default_db,
                    status: session.query_status(),
                    statement: &record.statement,
                    local: !session.host.hot.sql_log_bin,
                };
                let events = commit_dictionary::commit(&session.instance, &record.changes, log)?;
                if let Some(gtid) = events.gtid() {
                    session.host.last_gtid = gtid.to_string();
                }
                Ok(())
            }
            Some(write) => session.commit_ddl_with_rows(record, write),
        }
    }
    fn with_plan(&mut self, f: &mut dyn FnMut(&selkie_planner::PlanContext<'_>) -> SqlResult<()>) -> SqlResult<()> {
        self.planning(f)
    }
    fn with_exec(&mut self, f: &mut dyn FnMut(&mut ExecCtx<'_>) -> SqlResult<()>) -> SqlResult<()> {
        self.session.begin_if_needed();
        self.session.txn.begin_statement();
        let mut cx = self.session.exec(&[]);
        f(&mut cx)
    }
    fn check_killed(&mut self) -> SqlResult<()> {
        self.session.exec(&[]).check_killed()
    }
}

impl Session {
    /// CREATE TABLE … SELECT: dictionary change and rows are one transaction in the log.
    fn commit_ddl_with_rows(&mut self, record: DdlRecord, write: WriteRows<'_>) -> SqlResult<()> {
        use selkie_catalog::dictionary::{DICTIONARY_INDEX, encode_changes, write_of};
        self.begin_if_needed();
        self.txn.begin_statement();
        let now = (self.host.now_micros() / 1_000_000) as u32;
        let zone = self.host.hot.time_zone.clone();
        let hot = &self.host.hot;
        self.log.set_checks(hot.unique_checks, hot.check_constraint_checks);
        self.log.begin_statement(now, &zone, None);
        self.log.dictionary(encode_changes(&record.changes).into());
        let query = selkie_binlog::event::QueryEvent {
            thread_id: self.connection.id as u32,
            database: record.default_db.clone(),
            status: self.query_status(),
            query: record.statement.clone().into(),
            ..Default::default()
        };
        self.log.query(query);
        write(&mut self.exec(&[]))?;
        self.log.end_statement();
        for c in &record.changes {
            let (key, value) = write_of(c);
            match value {
                Some(v) => self.txn.put(DICTIONARY_INDEX, &key, v),
                None => self.txn.delete(DICTIONARY_INDEX, &key),
            }
        }
        let instance = self.instance.clone();
        instance.dictionary.change(&record.changes, || self.commit())
    }
}
