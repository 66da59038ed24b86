//! Statements about the session, transactions and the server itself.

use super::{
    Expr, Ident, IntoVar, ObjectName, RoleChoice, SetPassword, Statement, StrLit, UserName,
    VarScope,
};

/// `SET …`, in the order written.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    pub items: Vec<SetItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// `@x = …` and `@x := …`
    UserVar {
        name: Ident,
        value: Expr,
    },
    /// A system variable, or (without `scope` and `at`) a stored program's variable, or with
    /// `base` `NEW.col`, a row's field or a key cache's variable.
    Variable {
        scope: Option<VarScope>,
        /// `@@` was written.
        at: bool,
        base: Option<Ident>,
        name: Ident,
        value: SetValue,
    },
    /// `NAMES …`; a `charset` of `None` is `DEFAULT`.
    Names {
        charset: Option<String>,
        collation: Option<String>,
    },
    /// `CHARACTER SET …`; `None` is `DEFAULT`.
    CharacterSet(Option<String>),
    /// `[GLOBAL|SESSION] TRANSACTION …`; no scope: for the next transaction only
    Transaction {
        scope: Option<VarScope>,
        isolation: Option<IsolationLevel>,
        read_only: Option<bool>,
    },
    Password(SetPassword),
    Role(RoleChoice),
    DefaultRole {
        role: RoleChoice,
        user: Option<UserName>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    Default,
    /// Bare words that are no expression (`ON`, `ALL`, `BINARY`, `ROW`, `SYSTEM`) are given as strings;
    /// other bare words are columns.
    Expr(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// `SET STATEMENT a = 1, … FOR statement`
#[derive(Debug, Clone, PartialEq)]
pub struct SetStatementFor {
    pub items: Vec<SetItem>,
    pub statement: Box<Statement>,
}

/// `START TRANSACTION …` and `BEGIN [WORK]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StartTransaction {
    pub consistent_snapshot: bool,
    pub read_only: Option<bool>,
}

/// `[AND [NO] CHAIN] [[NO] RELEASE]`; `None` leaves it to `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xid {
    pub gtrid: Vec<u8>,
    pub bqual: Vec<u8>,
    pub format_id: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Xa {
    /// `XA START|BEGIN`
    Start {
        xid: Xid,
        join: bool,
        resume: bool,
    },
    End {
        xid: Xid,
        suspend: bool,
        for_migrate: bool,
    },
    Prepare(Xid),
    Commit {
        xid: Xid,
        one_phase: bool,
    },
    Rollback(Xid),
    /// `FORMAT='SQL'` or `'RAW'`
    Recover {
        format: Option<Ident>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prepare {
    pub name: Ident,
    /// A string literal, a user variable or any expression.
    pub source: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    pub name: Ident,
    pub using: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExecuteImmediate {
    pub source: Expr,
    pub using: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    pub soft: bool,
    pub target: KillTarget,
}

#[derive(Debug, Clone, PartialEq)]
pub enum KillTarget {
    Connection(Expr),
    Query(Expr),
    QueryId(Expr),
    User { query: bool, user: UserName },
}

#[derive(Debug, Clone, PartialEq)]
pub struct LockTables {
    pub tables: Vec<LockTable>,
    pub wait: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LockTable {
    pub name: ObjectName,
    pub alias: Option<Ident>,
    pub mode: LockTableMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockTableMode {
    Read,
    ReadLocal,
    Write,
    WriteConcurrent,
    LowPriorityWrite,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Flush {
    /// `NO_WRITE_TO_BINLOG` or `LOCAL`
    pub no_write_to_binlog: bool,
    pub items: Vec<FlushItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FlushItem {
    Tables {
        tables: Vec<ObjectName>,
        mode: FlushTablesMode,
        wait: Option<u64>,
    },
    BinaryLogs {
        delete_domain_ids: Option<Vec<u64>>,
    },
    DesKeyFile,
    EngineLogs,
    ErrorLogs,
    GeneralLogs,
    Hosts,
    /// `LOGS`
    Logs,
    Privileges,
    QueryCache,
    RelayLogs {
        channel: Option<String>,
    },
    SlowLogs,
    Ssl,
    Status {
        global: Option<bool>,
    },
    UserResources,
    Master,
    Slave {
        connection: Option<String>,
    },
    /// `FLUSH USER_STATISTICS`, `INDEX_STATISTICS`, … and what plugins add.
    Named(Ident),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlushTablesMode {
    Plain,
    WithReadLock,
    WithReadLockDisableCheckpoint,
    ForExport,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ResetItem {
    Master {
        to: Option<u64>,
    },
    Slave {
        connection: Option<String>,
        all: bool,
    },
    QueryCache,
    /// `RESET SESSION VARIABLES` and what plugins add.
    Named(Ident),
}

#[derive(Debug, Clone, PartialEq)]
pub enum PurgeLogs {
    /// `TO 'file'`
    To(Expr),
    /// `BEFORE datetime`
    Before(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChangeMaster {
    pub connection: Option<String>,
    pub options: Vec<MasterOption>,
}

/// `name = value` of `CHANGE MASTER TO`; the name in upper case.
#[derive(Debug, Clone, PartialEq)]
pub struct MasterOption {
    pub name: String,
    pub value: MasterOptionValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MasterOptionValue {
    Str(StrLit),
    /// Digits, as written.
    Number(String),
    /// `CURRENT_POS`, `SLAVE_POS`, `NO`, `DEFAULT`, …
    Word(Ident),
    /// `(1, 2)`, as for `IGNORE_SERVER_IDS`
    List(Vec<u64>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StartSlave {
    /// `ALL SLAVES`
    pub all: bool,
    pub connection: Option<String>,
    pub io_thread: bool,
    pub sql_thread: bool,
    pub until: Option<SlaveUntil>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SlaveUntil {
    /// `MASTER_LOG_FILE = …, MASTER_LOG_POS = …` or the relay log's
    Position(Vec<MasterOption>),
    /// `MASTER_GTID_POS = …`
    Gtid(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StopSlave {
    pub all: bool,
    pub connection: Option<String>,
    pub io_thread: bool,
    pub sql_thread: bool,
}

/// `ANALYZE|CHECK|OPTIMIZE|REPAIR|CHECKSUM TABLE …`
#[derive(Debug, Clone, PartialEq)]
pub struct TableMaintenance {
    pub no_write_to_binlog: bool,
    pub kind: MaintenanceKind,
    /// `VIEW` rather than `TABLE` (`CHECK`, `REPAIR`)
    pub view: bool,
    pub tables: Vec<ObjectName>,
    pub wait: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MaintenanceKind {
    Analyze {
        persistent: Option<PersistentStats>,
    },
    Check(CheckOptions),
    Optimize,
    Repair(RepairOptions),
    /// `QUICK` (`Some(true)`), `EXTENDED`
    Checksum {
        quick: Option<bool>,
    },
}

/// `PERSISTENT FOR ALL`, or `FOR COLUMNS (…) INDEXES (…)`; `None` is `ALL`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersistentStats {
    pub columns: Option<Vec<Ident>>,
    pub indexes: Option<Vec<Ident>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CheckOptions {
    pub quick: bool,
    pub fast: bool,
    pub medium: bool,
    pub extended: bool,
    pub changed: bool,
    pub for_upgrade: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RepairOptions {
    pub quick: bool,
    pub extended: bool,
    pub use_frm: bool,
    pub force: bool,
    /// `FROM MYSQL` of `REPAIR VIEW`
    pub from_mysql: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CacheIndex {
    pub tables: Vec<CacheIndexTable>,
    /// `None`: `DEFAULT`
    pub cache: Option<Ident>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CacheIndexTable {
    pub table: ObjectName,
    pub partitions: Option<super::PartitionNames>,
    /// Empty: all
    pub indexes: Vec<Ident>,
    pub ignore_leaves: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Install {
    /// `INSTALL PLUGIN p SONAME '…'`; without a name `INSTALL SONAME '…'`
    Plugin {
        if_not_exists: bool,
        name: Option<Ident>,
        soname: String,
    },
    UninstallPlugin {
        if_exists: bool,
        name: Ident,
    },
    UninstallSoname {
        if_exists: bool,
        soname: String,
    },
}

/// `BACKUP …`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    Stage(BackupStage),
    Lock(ObjectName),
    Unlock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackupStage {
    Start,
    Flush,
    BlockDdl,
    BlockCommit,
    End,
}

/// `GET [CURRENT|STACKED] DIAGNOSTICS …`
#[derive(Debug, Clone, PartialEq)]
pub struct GetDiagnostics {
    pub condition: Option<Expr>,
    /// Item names in upper case (`NUMBER`, `MESSAGE_TEXT`, …).
    pub items: Vec<(IntoVar, String)>,
}

/// `SIGNAL`, and `RESIGNAL` (whose condition may be absent)
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub resignal: bool,
    pub condition: Option<SignalCondition>,
    /// Item names in upper case.
    pub items: Vec<(String, Expr)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalCondition {
    SqlState(String),
    Named(Ident),
}
