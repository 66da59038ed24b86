//! Counters behind SHOW STATUS.

use std::sync::atomic::{AtomicU64, Ordering};

use selkie_parser::ast::{self, ShowKind, Statement};

/// Server-wide counters. Relaxed: they are read for people.
#[derive(Debug, Default)]
pub struct Status {
    /// Statements from clients.
    pub questions: AtomicU64,
    /// Statements slower than long_query_time.
    pub slow_queries: AtomicU64,
    /// Connection attempts.
    pub connections: AtomicU64,
    /// Connections that failed to log in.
    pub aborted_connects: AtomicU64,
    /// Connections that broke.
    pub aborted_clients: AtomicU64,
    /// Largest number of connections at a time.
    pub max_used_connections: AtomicU64,
    /// Bytes received.
    pub bytes_received: AtomicU64,
    /// Bytes sent.
    pub bytes_sent: AtomicU64,
    /// `Com_*` of the statements that have no counter of their own below, in the order of [`COM_NAMES`].
    pub com: ComCounters,
    /// `Com_select`
    pub com_select: AtomicU64,
    /// INSERT and REPLACE.
    pub com_insert: AtomicU64,
    /// UPDATE.
    pub com_update: AtomicU64,
    /// DELETE.
    pub com_delete: AtomicU64,
    /// COMMIT.
    pub com_commit: AtomicU64,
    /// ROLLBACK.
    pub com_rollback: AtomicU64,
    /// Plan cache hits.
    pub plan_hits: AtomicU64,
    /// Plan cache misses.
    pub plan_misses: AtomicU64,
}

/// The kinds of statements that are counted by [`count_statement`], as the names of `Com_*` end.
pub const COM_NAMES: [&str; 112] = [
    "alter_db", "alter_event", "alter_function", "alter_procedure", "alter_sequence", "alter_server", "alter_table",
    "alter_user", "analyze", "assign_to_keycache", "backup", "begin", "binlog", "call_procedure", "change_db",
    "change_master", "check", "checksum", "compound_sql", "create_db", "create_event", "create_function",
    "create_index", "create_procedure", "create_role", "create_sequence", "create_server", "create_table",
    "create_temporary_table", "create_trigger", "create_udf", "create_user", "create_view", "dealloc_sql", "do",
    "drop_db", "drop_event", "drop_function", "drop_index", "drop_procedure", "drop_role", "drop_sequence",
    "drop_server", "drop_table", "drop_temporary_table", "drop_trigger", "drop_user", "drop_view", "empty_query",
    "execute_immediate", "execute_sql", "flush", "get_diagnostics", "grant", "grant_role", "ha_read", "help",
    "install_plugin", "kill", "load", "lock_tables", "optimize", "preload_keys", "prepare_sql", "purge",
    "release_savepoint", "rename_table", "rename_user", "repair", "reset", "revoke", "revoke_all", "revoke_role",
    "rollback_to_savepoint", "savepoint", "set_option", "show_binlog_events", "show_binlog_status", "show_binlogs",
    "show_charsets", "show_collations", "show_create_db", "show_create_table", "show_create_user", "show_databases",
    "show_engine_status", "show_errors", "show_events", "show_fields", "show_function_status", "show_generic",
    "show_grants", "show_keys", "show_open_tables", "show_plugins", "show_privileges", "show_procedure_status",
    "show_processlist", "show_slave_hosts", "show_slave_status", "show_status", "show_storage_engines",
    "show_table_status", "show_tables", "show_triggers", "show_variables", "show_warnings", "shutdown", "signal",
    "start_slave", "truncate", "unlock_tables",
];

/// One counter for each of [`COM_NAMES`].
#[derive(Debug)]
pub struct ComCounters([AtomicU64; COM_NAMES.len()]);

impl Default for ComCounters {
    fn default() -> Self {
        ComCounters([const { AtomicU64::new(0) }; COM_NAMES.len()])
    }
}

impl std::ops::Deref for ComCounters {
    type Target = [AtomicU64];
    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}

/// Counts a statement for `Com_*`. Queries, data changes, COMMIT and ROLLBACK are counted where they run.
pub fn count_statement(status: &Status, s: &Statement) {
    if let Some(name) = com_name(s)
        && let Ok(i) = COM_NAMES.binary_search(&name)
    {
        bump(&status.com[i]);
    }
}

fn com_name(s: &Statement) -> Option<&'static str> {
    use Statement as S;
    Some(match s {
        S::Empty => "empty_query",
        S::Query(_) | S::Insert(_) | S::Update(_) | S::Delete(_) | S::Commit(_) | S::Rollback(_) => return None,
        S::LoadData(_) => "load",
        S::Do(_) => "do",
        S::Call(_) => "call_procedure",
        S::Handler(_) => "ha_read",
        S::CreateDatabase(_) => "create_db",
        S::AlterDatabase(_) => "alter_db",
        S::DropDatabase(_) => "drop_db",
        S::CreateTable(c) => if c.temporary { "create_temporary_table" } else { "create_table" },
        S::AlterTable(_) => "alter_table",
        S::DropTables(d) => if d.temporary { "drop_temporary_table" } else { "drop_table" },
        S::RenameTables(_) => "rename_table",
        S::TruncateTable(_) => "truncate",
        S::CreateIndex(_) => "create_index",
        S::DropIndex(_) => "drop_index",
        S::CreateView(_) => "create_view",
        S::DropViews(_) => "drop_view",
        S::CreateSequence(_) => "create_sequence",
        S::AlterSequence(_) => "alter_sequence",
        S::DropSequences(_) => "drop_sequence",
        S::CreateServer(_) => "create_server",
        S::DropServer { .. } => "drop_server",
        S::CreateTrigger(_) => "create_trigger",
        S::DropTrigger { .. } => "drop_trigger",
        S::CreateProcedure(_) => "create_procedure",
        S::CreateFunction(_) => "create_function",
        S::CreateUdf(_) => "create_udf",
        S::AlterRoutine(_) => "alter_procedure",
        S::DropProcedure { .. } => "drop_procedure",
        S::DropFunction { .. } => "drop_function",
        S::CreateEvent(_) => "create_event",
        S::AlterEvent(_) => "alter_event",
        S::DropEvent { .. } => "drop_event",
        S::Compound(_) => "compound_sql",
        S::CreateUser(_) => "create_user",
        S::AlterUser(_) => "alter_user",
        S::DropUsers(_) => "drop_user",
        S::RenameUsers(_) => "rename_user",
        S::CreateRole(_) => "create_role",
        S::DropRoles(_) => "drop_role",
        S::Grant(g) => match **g {
            ast::Grant::Roles { .. } => "grant_role",
            _ => "grant",
        },
        S::Revoke(r) => match **r {
            ast::Revoke::All { .. } => "revoke_all",
            ast::Revoke::Roles { .. } => "revoke_role",
            _ => "revoke",
        },
        S::Set(_) | S::SetStatementFor(_) => "set_option",
        S::Use(_) => "change_db",
        S::Show(show) => show_name(&show.kind),
        S::DescribeTable(_) => "show_fields",
        S::Explain(_) => return None,
        S::Help(_) => "help",
        S::StartTransaction(_) | S::Begin => "begin",
        S::Savepoint(_) => "savepoint",
        S::RollbackTo(_) => "rollback_to_savepoint",
        S::ReleaseSavepoint(_) => "release_savepoint",
        S::Xa(_) => return None,
        S::LockTables(_) => "lock_tables",
        S::UnlockTables => "unlock_tables",
        S::Prepare(_) => "prepare_sql",
        S::Execute(_) => "execute_sql",
        S::ExecuteImmediate(_) => "execute_immediate",
        S::Deallocate(_) => "dealloc_sql",
        S::Kill(_) => "kill",
        S::Flush(_) => "flush",
        S::Reset(_) => "reset",
        S::PurgeLogs(_) => "purge",
        S::ChangeMaster(_) => "change_master",
        S::StartSlave(_) => "start_slave",
        S::StopSlave(_) => return None,
        S::TableMaintenance(m) => match m.kind {
            ast::MaintenanceKind::Analyze { .. } => "analyze",
            ast::MaintenanceKind::Check(_) => "check",
            ast::MaintenanceKind::Optimize => "optimize",
            ast::MaintenanceKind::Repair(_) => "repair",
            ast::MaintenanceKind::Checksum { .. } => "checksum",
        },
        S::CacheIndex(_) => "assign_to_keycache",
        S::LoadIndex(_) => "preload_keys",
        S::Install(_) => "install_plugin",
        S::Shutdown { .. } => "shutdown",
        S::Backup(_) => "backup",
        S::Binlog(_) => "binlog",
        S::Signal(_) => "signal",
        S::GetDiagnostics(_) => "get_diagnostics",
    })
}

fn show_name(kind: &ShowKind) -> &'static str {
    use ShowKind as K;
    match kind {
        K::BinaryLogs => "show_binlogs",
        K::BinlogEvents { .. } => "show_binlog_events",
        K::BinlogStatus => "show_binlog_status",
        K::CharacterSet => "show_charsets",
        K::Collation => "show_collations",
        K::Columns { .. } => "show_fields",
        K::CreateDatabase { .. } => "show_create_db",
        K::CreateTable(_) | K::CreateView(_) | K::CreateSequence(_) => "show_create_table",
        K::CreateUser(_) => "show_create_user",
        K::Databases => "show_databases",
        K::Engine { .. } => "show_engine_status",
        K::Engines => "show_storage_engines",
        K::ErrorCount | K::Errors { .. } => "show_errors",
        K::Events { .. } => "show_events",
        K::FunctionStatus => "show_function_status",
        K::Grants(_) => "show_grants",
        K::Index { .. } => "show_keys",
        K::OpenTables { .. } => "show_open_tables",
        K::Plugins | K::PluginsSoname { .. } => "show_plugins",
        K::Privileges => "show_privileges",
        K::ProcedureStatus => "show_procedure_status",
        K::ProcessList { .. } => "show_processlist",
        K::SlaveHosts => "show_slave_hosts",
        K::SlaveStatus { .. } => "show_slave_status",
        K::Status { .. } => "show_status",
        K::TableStatus { .. } => "show_table_status",
        K::Tables { .. } => "show_tables",
        K::Triggers { .. } => "show_triggers",
        K::Variables { .. } => "show_variables",
        K::WarningCount | K::Warnings { .. } => "show_warnings",
        _ => "show_generic",
    }
}

/// Adds one.
pub fn bump(c: &AtomicU64) {
    c.fetch_add(1, Ordering::Relaxed);
}

/// The line of COM_STATISTICS.
pub fn statistics(instance: &crate::Instance) -> String {
    let uptime = instance.started.elapsed().as_secs().max(1);
    let questions = instance.status.questions.load(Ordering::Relaxed);
    format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: 0  Open tables: 0  Queries per second avg: {:.3}",
        instance.connection_count(),
        instance.status.slow_queries.load(Ordering::Relaxed),
        questions as f64 / uptime as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_counted() {
        assert!(COM_NAMES.is_sorted());
        let status = Status::default();
        count_statement(&status, &Statement::UnlockTables);
        let at = COM_NAMES.iter().position(|n| *n == "unlock_tables").unwrap();
        assert_eq!(status.com[at].load(Ordering::Relaxed), 1);
    }
}
