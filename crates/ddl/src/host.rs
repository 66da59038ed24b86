//! What DDL needs of its session and server: names, settings, locks, engines, and the commit.

use std::sync::Arc;

use selkie_catalog::dictionary::{Dictionary, DictionaryChange};
use selkie_catalog::{Schema, Table};
use selkie_engine::{Engine, IndexId};
use selkie_executor::ExecCtx;
use selkie_executor::tables::TableRuntimes;
use selkie_planner::PlanContext;
use selkie_types::{Collation, Diagnostics, SqlMode, SqlResult, TimeZone};

/// Session settings that definitions depend on.
#[derive(Debug, Clone)]
pub struct DdlSettings {
    /// `@@sql_mode`
    pub sql_mode: SqlMode,
    /// `@@collation_server`: of new databases.
    pub collation_server: Collation,
    /// `@@default_storage_engine`
    pub default_storage_engine: String,
    /// `@@default_tmp_storage_engine`; empty: as the other.
    pub default_tmp_storage_engine: String,
    /// `@@explicit_defaults_for_timestamp`
    pub explicit_defaults_for_timestamp: bool,
    /// `@@foreign_key_checks`
    pub foreign_key_checks: bool,
    /// `@@time_zone`
    pub time_zone: TimeZone,
    /// Statement's time, microseconds since 1970 UTC.
    pub now_utc_micros: i64,
    /// `@@character_set_client`, kept with views.
    pub character_set_client: String,
    /// `@@collation_connection`
    pub collation_connection: Collation,
    /// Bytes of rows and keys that building an index holds in memory before it sorts through files
    /// (`aria_sort_buffer_size`-like).
    pub sort_buffer_bytes: usize,
    /// Folder for those files.
    pub temporary_directory: std::path::PathBuf,
}

impl Default for DdlSettings {
    fn default() -> Self {
        DdlSettings {
            sql_mode: SqlMode::DEFAULT,
            collation_server: Collation::UTF8MB4_GENERAL_CI,
            default_storage_engine: "InnoDB".into(),
            default_tmp_storage_engine: String::new(),
            explicit_defaults_for_timestamp: true,
            foreign_key_checks: true,
            time_zone: TimeZone::UTC,
            now_utc_micros: 0,
            character_set_client: "utf8mb4".into(),
            collation_connection: Collation::UTF8MB4_GENERAL_CI,
            sort_buffer_bytes: 64 << 20,
            temporary_directory: std::env::temp_dir(),
        }
    }
}

/// The account that runs the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountName {
    /// User.
    pub user: String,
    /// Host part of the account.
    pub host: String,
}

/// What [`DdlHost::commit_ddl`] writes as one record.
#[derive(Debug, Clone)]
pub struct DdlRecord {
    /// The dictionary's changes.
    pub changes: Vec<DictionaryChange>,
    /// Database in which replicas run the statement.
    pub default_db: String,
    /// The statement for replicas.
    pub statement: Vec<u8>,
}

/// Writes the rows that belong to a record (CREATE TABLE … SELECT).
pub type WriteRows<'a> = &'a mut dyn FnMut(&mut ExecCtx<'_>) -> SqlResult<()>;

/// The session, as DDL sees it.
///
/// The session has committed the open transaction before (implicit commit), except for CREATE, DROP and CREATE … SELECT of
/// TEMPORARY tables, which leave it open; and it releases the metadata locks afterwards.
pub trait DdlHost {
    /// The dictionary's current version. Read anew after each metadata lock.
    fn schema(&self) -> Arc<Schema>;
    /// The dictionary, for fresh ids.
    fn dictionary(&self) -> &Dictionary;
    /// `USE`d database.
    fn current_db(&self) -> Option<&str>;
    /// The current database was dropped.
    fn forget_current_db(&mut self);
    /// Settings.
    fn settings(&self) -> DdlSettings;
    /// Warnings and notes of the statement.
    fn diag(&mut self) -> &mut Diagnostics;
    /// Who runs the statement: definer of what it makes.
    fn account(&self) -> AccountName;
    /// Whether an account is known (a view's definer).
    fn account_exists(&self, account: &AccountName) -> bool;
    /// Error 1044 or 1142 unless the session has the privilege (`CREATE`, `CREATE TEMPORARY TABLES`, …) on a database (empty
    /// table) or table.
    fn require(&mut self, privilege: &str, db: &str, table: &str) -> SqlResult<()>;

    /// Takes a metadata lock until the statement ends; an empty table is the database itself. `wait_seconds`: WAIT n or NOWAIT
    /// (0), else `lock_wait_timeout`.
    fn lock_metadata(&mut self, db: &str, table: &str, exclusive: bool, wait_seconds: Option<u64>) -> SqlResult<()>;

    /// A temporary table of the session.
    fn temporary_table(&self, db: &str, name: &str) -> Option<Arc<Table>>;
    /// Adds a temporary table, or replaces the one of that name.
    fn put_temporary(&mut self, table: Arc<Table>);
    /// Forgets a temporary table.
    fn remove_temporary(&mut self, db: &str, name: &str);

    /// The engine of tables (`volatile`: of temporary ones).
    fn engine(&self, volatile: bool) -> Arc<dyn Engine>;
    /// Run-time state of tables.
    fn tables(&self) -> &TableRuntimes;
    /// Drops engine indexes that nothing refers to any more, now or when no snapshot needs them any longer.
    fn drop_engine_indexes(&mut self, indexes: Vec<IndexId>);
    /// Makes everything that was bulk-loaded durable: an engine checkpoint. Before [`Self::commit_ddl`].
    fn make_durable(&mut self) -> SqlResult<()>;
    /// Writes the record: Gtid (standalone, DDL), Dictionary, Query, or with `rows` the transaction Gtid, Dictionary, Query,
    /// rows, Xid. Puts the changes' writes into the dictionary's engine index at the same position, and publishes the new
    /// version. After an error nothing is changed.
    fn commit_ddl(&mut self, record: DdlRecord, rows: Option<WriteRows<'_>>) -> SqlResult<()>;

    /// Runs something with a context for planning in the dictionary's current version.
    fn with_plan(&mut self, f: &mut dyn FnMut(&PlanContext<'_>) -> SqlResult<()>) -> SqlResult<()>;
    /// Runs something in an execution context of the session. Rows that it writes (of temporary tables only) belong to the
    /// session's transaction; after an error those of this call are taken back.
    fn with_exec(&mut self, f: &mut dyn FnMut(&mut ExecCtx<'_>) -> SqlResult<()>) -> SqlResult<()>;
    /// Error 1317 or 1969 when the statement was killed or is too late.
    fn check_killed(&mut self) -> SqlResult<()>;
}
