//! Definition of databases, tables, indexes, views, sequences.

use super::{
    DataType, Definer, Expr, Ident, ObjectName, OrderItem, PartitionAction, PartitionBy, Query,
    StrLit,
};

/// `DEFAULT CHARACTER SET …`, `COLLATE …`, `COMMENT …` of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseOptions {
    /// `DEFAULT` as a name means the server's.
    pub charset: Option<String>,
    pub collation: Option<String>,
    pub comment: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateDatabase {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub name: Ident,
    pub options: DatabaseOptions,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterDatabase {
    /// `None`: the current one.
    pub name: Option<Ident>,
    pub options: DatabaseOptions,
    /// `UPGRADE DATA DIRECTORY NAME`
    pub upgrade_data_directory_name: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropDatabase {
    pub if_exists: bool,
    pub name: Ident,
}

/// What to do with a duplicate while `CREATE TABLE … SELECT` fills the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDuplicateRow {
    #[default]
    Error,
    Ignore,
    Replace,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub or_replace: bool,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    /// `LIKE t`: everything below is empty then.
    pub like: Option<ObjectName>,
    /// In the order written, which decides generated names.
    pub elements: Vec<TableElement>,
    pub options: Vec<TableOption>,
    pub partition_by: Option<Box<PartitionBy>>,
    pub query: Option<Box<CreateTableQuery>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTableQuery {
    pub on_duplicate: OnDuplicateRow,
    pub query: Query,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableElement {
    Column(Box<ColumnDef>),
    Index(Box<IndexDef>),
    ForeignKey(Box<ForeignKeyDef>),
    Check(CheckDef),
    Period(PeriodDef),
}

/// `PERIOD FOR name (start, end)`; the name is `SYSTEM_TIME` for system versioning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodDef {
    pub if_not_exists: bool,
    pub name: Ident,
    pub start: Ident,
    pub end: Ident,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CheckDef {
    pub if_not_exists: bool,
    pub name: Option<Ident>,
    pub expr: Expr,
    /// The expression as written.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDef {
    pub name: Ident,
    pub ty: DataType,
    /// `NULL` (`Some(true)`), `NOT NULL` (`Some(false)`), or neither.
    pub nullable: Option<bool>,
    pub default: Option<DefaultValue>,
    /// `ON UPDATE CURRENT_TIMESTAMP(n)`
    pub on_update: Option<Expr>,
    pub auto_increment: bool,
    /// `[PRIMARY] KEY` among the attributes
    pub primary: bool,
    /// `UNIQUE [KEY]` among the attributes
    pub unique: bool,
    pub comment: Option<String>,
    pub generated: Option<GeneratedColumn>,
    pub check: Option<Box<CheckDef>>,
    /// `REFERENCES t (…)` among the attributes
    pub references: Option<Box<References>>,
    pub invisible: bool,
    /// `COMPRESSED[=method]`
    pub compressed: Option<Option<Ident>>,
    /// `WITH SYSTEM VERSIONING` (`Some(true)`), `WITHOUT SYSTEM VERSIONING`
    pub system_versioning: Option<bool>,
    /// `GENERATED ALWAYS AS ROW START|END`
    pub row_bound: Option<RowBound>,
    /// Engine-defined attributes.
    pub options: Vec<NamedOption>,
}

impl ColumnDef {
    /// A column without any attribute.
    pub fn plain(name: Ident, ty: DataType) -> Self {
        Self {
            name,
            ty,
            nullable: None,
            default: None,
            on_update: None,
            auto_increment: false,
            primary: false,
            unique: false,
            comment: None,
            generated: None,
            check: None,
            references: None,
            invisible: false,
            compressed: None,
            system_versioning: None,
            row_bound: None,
            options: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowBound {
    Start,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DefaultValue {
    pub expr: Expr,
    /// The expression as written.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedColumn {
    pub expr: Expr,
    /// The expression as written.
    pub text: String,
    /// `STORED`/`PERSISTENT` rather than `VIRTUAL`, the default
    pub stored: bool,
}

/// `name = value` of an engine or plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedOption {
    pub name: Ident,
    pub value: OptionValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    Str(String),
    Ident(Ident),
    Number(String),
    Default,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexKind {
    Primary,
    Unique,
    Index,
    FullText,
    Spatial,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IndexDef {
    pub kind: IndexKind,
    pub if_not_exists: bool,
    /// `CONSTRAINT name` before the kind
    pub constraint: Option<Ident>,
    pub name: Option<Ident>,
    pub parts: Vec<IndexPart>,
    pub options: IndexOptions,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IndexPart {
    pub column: Ident,
    /// Prefix length.
    pub length: Option<u64>,
    pub desc: bool,
    /// `period WITHOUT OVERLAPS`
    pub without_overlaps: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexOptions {
    pub algorithm: Option<IndexAlgorithm>,
    pub key_block_size: Option<u64>,
    pub comment: Option<String>,
    /// `WITH PARSER name`
    pub parser: Option<Ident>,
    /// `IGNORED` (`Some(true)`), `NOT IGNORED`
    pub ignored: Option<bool>,
    /// `CLUSTERING=YES|NO`
    pub clustering: Option<bool>,
    pub options: Vec<NamedOption>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexAlgorithm {
    BTree,
    Hash,
    RTree,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ForeignKeyDef {
    pub if_not_exists: bool,
    pub constraint: Option<Ident>,
    /// The name after `FOREIGN KEY`.
    pub index_name: Option<Ident>,
    pub columns: Vec<IndexPart>,
    pub references: References,
}

#[derive(Debug, Clone, PartialEq)]
pub struct References {
    pub table: ObjectName,
    pub columns: Vec<IndexPart>,
    pub match_kind: Option<MatchKind>,
    pub on_delete: Option<ReferenceAction>,
    pub on_update: Option<ReferenceAction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchKind {
    Full,
    Partial,
    Simple,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableOption {
    /// `ENGINE` or `TYPE`
    Engine(Ident),
    AutoIncrement(u64),
    AvgRowLength(u64),
    /// `[DEFAULT] CHARACTER SET`; `DEFAULT` as a name means the database's
    Charset(String),
    Collate(String),
    Checksum(u64),
    Comment(String),
    Connection(String),
    DataDirectory(String),
    IndexDirectory(String),
    DelayKeyWrite(u64),
    InsertMethod(InsertMethod),
    KeyBlockSize(u64),
    MaxRows(u64),
    MinRows(u64),
    /// `None` for `DEFAULT`
    PackKeys(Option<u64>),
    PageChecksum(u64),
    Password(String),
    RowFormat(RowFormat),
    /// `None` for `DEFAULT`
    StatsAutoRecalc(Option<u64>),
    /// `None` for `DEFAULT`
    StatsPersistent(Option<u64>),
    /// `None` for `DEFAULT`
    StatsSamplePages(Option<u64>),
    Sequence(u64),
    Tablespace(Ident),
    StorageDisk,
    StorageMemory,
    /// `None` for `DEFAULT`
    Transactional(Option<u64>),
    Union(Vec<ObjectName>),
    WithSystemVersioning,
    /// Engine-defined.
    Other(NamedOption),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InsertMethod {
    No,
    First,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowFormat {
    Default,
    Fixed,
    Dynamic,
    Compressed,
    Redundant,
    Compact,
    Page,
}

/// `WAIT n` or `NOWAIT` of DDL, in seconds (`NOWAIT` is 0).
pub type DdlWait = Option<u64>;

#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    pub online: bool,
    pub ignore: bool,
    pub if_exists: bool,
    pub name: ObjectName,
    pub wait: DdlWait,
    pub actions: Vec<AlterAction>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ColumnPosition {
    First,
    After(Ident),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterAction {
    AddColumn {
        if_not_exists: bool,
        column: Box<ColumnDef>,
        position: Option<ColumnPosition>,
    },
    /// `ADD (a INT, KEY (a), …)`
    AddElements {
        if_not_exists: bool,
        elements: Vec<TableElement>,
    },
    AddIndex(Box<IndexDef>),
    AddForeignKey(Box<ForeignKeyDef>),
    AddCheck(Box<CheckDef>),
    AddPeriod(PeriodDef),
    AddSystemVersioning,
    ChangeColumn {
        if_exists: bool,
        name: Ident,
        column: Box<ColumnDef>,
        position: Option<ColumnPosition>,
    },
    ModifyColumn {
        if_exists: bool,
        column: Box<ColumnDef>,
        position: Option<ColumnPosition>,
    },
    RenameColumn {
        if_exists: bool,
        from: Ident,
        to: Ident,
    },
    AlterColumnDefault {
        if_exists: bool,
        name: Ident,
        default: Option<DefaultValue>,
    },
    DropColumn {
        if_exists: bool,
        name: Ident,
    },
    DropPrimaryKey,
    DropIndex {
        if_exists: bool,
        name: Ident,
    },
    DropForeignKey {
        if_exists: bool,
        name: Ident,
    },
    DropConstraint {
        if_exists: bool,
        name: Ident,
    },
    DropPeriod {
        if_exists: bool,
        name: Ident,
    },
    DropSystemVersioning,
    RenameTable(ObjectName),
    RenameIndex {
        if_exists: bool,
        from: Ident,
        to: Ident,
    },
    /// `ALTER INDEX i [NOT] IGNORED`
    AlterIndex {
        if_exists: bool,
        name: Ident,
        ignored: bool,
    },
    /// A charset of `None` is `DEFAULT`.
    ConvertCharset {
        charset: Option<String>,
        collation: Option<String>,
    },
    OrderBy(Vec<OrderItem>),
    Options(Vec<TableOption>),
    EnableKeys,
    DisableKeys,
    Force,
    Algorithm(AlterAlgorithm),
    Lock(AlterLock),
    DiscardTablespace,
    ImportTablespace,
    /// `PARTITION BY …` (repartitions the table)
    PartitionBy(Box<PartitionBy>),
    Partition(Box<PartitionAction>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlterAlgorithm {
    Default,
    Copy,
    Inplace,
    NoCopy,
    Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlterLock {
    Default,
    None,
    Shared,
    Exclusive,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    pub or_replace: bool,
    pub table: ObjectName,
    /// Its name is always there.
    pub index: IndexDef,
    pub wait: DdlWait,
    pub algorithm: Option<AlterAlgorithm>,
    pub lock: Option<AlterLock>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropIndex {
    pub if_exists: bool,
    pub name: Ident,
    pub table: ObjectName,
    pub wait: DdlWait,
    pub algorithm: Option<AlterAlgorithm>,
    pub lock: Option<AlterLock>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropTables {
    pub temporary: bool,
    pub if_exists: bool,
    pub names: Vec<ObjectName>,
    pub wait: DdlWait,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RenameTables {
    pub if_exists: bool,
    pub renames: Vec<TableRename>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableRename {
    pub from: ObjectName,
    pub wait: DdlWait,
    pub to: ObjectName,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TruncateTable {
    pub name: ObjectName,
    pub wait: DdlWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    Temptable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SqlSecurity {
    Definer,
    Invoker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewCheckOption {
    Local,
    Cascaded,
}

/// `CREATE VIEW` and `ALTER VIEW`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    pub alter: bool,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub algorithm: Option<ViewAlgorithm>,
    pub definer: Option<Definer>,
    pub security: Option<SqlSecurity>,
    pub name: ObjectName,
    pub columns: Vec<Ident>,
    pub query: Box<Query>,
    /// The query as written.
    pub query_text: String,
    pub check_option: Option<ViewCheckOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropViews {
    pub if_exists: bool,
    pub names: Vec<ObjectName>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateSequence {
    pub or_replace: bool,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    pub options: Vec<SequenceOption>,
    /// `ENGINE=…`, `COMMENT=…`, …
    pub table_options: Vec<TableOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterSequence {
    pub if_exists: bool,
    pub name: ObjectName,
    pub options: Vec<SequenceOption>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SequenceOption {
    Start(i128),
    Increment(i128),
    MinValue(i128),
    NoMinValue,
    MaxValue(i128),
    NoMaxValue,
    Cache(i128),
    NoCache,
    Cycle,
    NoCycle,
    /// `None`: from the start value
    Restart(Option<i128>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropSequences {
    pub temporary: bool,
    pub if_exists: bool,
    pub names: Vec<ObjectName>,
}

/// `CREATE SERVER` and `ALTER SERVER`.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerDef {
    pub alter: bool,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub name: Ident,
    /// `FOREIGN DATA WRAPPER`
    pub wrapper: Option<Ident>,
    pub options: Vec<(Ident, StrLit)>,
}
