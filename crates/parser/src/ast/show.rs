//! `SHOW`, `DESCRIBE`, `EXPLAIN`.

use super::{Expr, Ident, ObjectName, Statement, UserName, VarScope};

/// `LIKE '…'` or `WHERE …` behind a `SHOW`
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    Like(Vec<u8>),
    Where(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    pub kind: ShowKind,
    pub filter: Option<ShowFilter>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ShowKind {
    Authors,
    BinaryLogs,
    BinlogEvents {
        file: Option<String>,
        position: Option<u64>,
        offset: Option<Expr>,
        count: Option<Expr>,
    },
    /// `SHOW MASTER STATUS` and `SHOW BINLOG STATUS`
    BinlogStatus,
    CharacterSet,
    Collation,
    Columns {
        full: bool,
        table: ObjectName,
    },
    Contributors,
    CreateDatabase {
        if_not_exists: bool,
        name: Ident,
    },
    CreateTable(ObjectName),
    CreateView(ObjectName),
    CreateSequence(ObjectName),
    CreateTrigger(ObjectName),
    CreateProcedure(ObjectName),
    CreateFunction(ObjectName),
    CreateEvent(ObjectName),
    CreatePackage(ObjectName),
    CreatePackageBody(ObjectName),
    CreateUser(Option<UserName>),
    CreateServer(Ident),
    Databases,
    /// An engine of `None` is `ALL`.
    Engine {
        engine: Option<Ident>,
        what: ShowEngineWhat,
    },
    Engines,
    /// `SHOW COUNT(*) ERRORS`
    ErrorCount,
    Errors {
        offset: Option<Expr>,
        count: Option<Expr>,
    },
    Events {
        db: Option<Ident>,
    },
    /// `SHOW EXPLAIN|ANALYZE [FORMAT=…] FOR id`
    ExplainFor {
        analyze: bool,
        format: ExplainFormat,
        extended: bool,
        id: Expr,
    },
    FunctionCode(ObjectName),
    FunctionStatus,
    /// `None`: for oneself
    Grants(Option<UserName>),
    Index {
        table: ObjectName,
    },
    OpenTables {
        db: Option<Ident>,
    },
    PackageStatus,
    PackageBodyStatus,
    Plugins,
    /// `SHOW PLUGINS SONAME …`
    PluginsSoname {
        soname: Option<String>,
    },
    Privileges,
    ProcedureCode(ObjectName),
    ProcedureStatus,
    ProcessList {
        full: bool,
    },
    Profile {
        types: Vec<ProfileType>,
        query: Option<u64>,
        offset: Option<Expr>,
        count: Option<Expr>,
    },
    Profiles,
    RelaylogEvents {
        connection: Option<String>,
        file: Option<String>,
        position: Option<u64>,
        offset: Option<Expr>,
        count: Option<Expr>,
    },
    SlaveHosts,
    /// `SHOW ALL SLAVES STATUS`, `SHOW SLAVE ['name'] STATUS`, the `REPLICA` spellings
    SlaveStatus {
        all: bool,
        connection: Option<String>,
    },
    Status {
        scope: Option<VarScope>,
    },
    TableStatus {
        db: Option<Ident>,
    },
    Tables {
        full: bool,
        db: Option<Ident>,
    },
    Triggers {
        db: Option<Ident>,
    },
    Variables {
        scope: Option<VarScope>,
    },
    /// `SHOW COUNT(*) WARNINGS`
    WarningCount,
    Warnings {
        offset: Option<Expr>,
        count: Option<Expr>,
    },
    /// `USER_STATISTICS`, `CLIENT_STATISTICS`, `INDEX_STATISTICS`, `TABLE_STATISTICS`,
    /// `QUERY_CACHE_INFO`, `LOCALES` and other tables that plugins show.
    Named(Ident),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShowEngineWhat {
    Status,
    Mutex,
    Logs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileType {
    All,
    BlockIo,
    ContextSwitches,
    Cpu,
    Ipc,
    Memory,
    PageFaults,
    Source,
    Swaps,
}

/// `DESCRIBE t [column or pattern]`
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeTable {
    pub table: ObjectName,
    /// A column's name or a pattern.
    pub column: Option<Vec<u8>>,
    /// `EXPLAIN EXTENDED t` shows what `SHOW FULL COLUMNS` does.
    pub full: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExplainFormat {
    #[default]
    Traditional,
    Json,
}

/// `EXPLAIN [EXTENDED|PARTITIONS] [FORMAT=…] statement`, `ANALYZE [FORMAT=…] statement`
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    pub analyze: bool,
    pub extended: bool,
    pub partitions: bool,
    pub format: ExplainFormat,
    pub statement: Box<Statement>,
}

/// `HELP 'topic'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    pub topic: String,
}
