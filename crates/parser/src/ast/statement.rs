//! The root of the tree.

use super::{
    AlterDatabase, AlterEvent, AlterRoutine, AlterSequence, AlterTable, AlterUser, Backup,
    CacheIndex, CacheIndexTable, Call, ChangeMaster, Completion, Compound, CreateDatabase,
    CreateEvent, CreateIndex, CreateRole, CreateRoutine, CreateSequence, CreateTable,
    CreateTrigger, CreateUdf, CreateUser, CreateView, Delete, DescribeTable, DropDatabase,
    DropIndex, DropRoles, DropSequences, DropTables, DropUsers, DropViews, Execute,
    ExecuteImmediate, Explain, Expr, Flush, GetDiagnostics, Grant, Handler, Help, Ident, Insert,
    Install, Kill, LoadData, LockTables, ObjectName, Prepare, PurgeLogs, Query, RenameTables,
    RenameUsers, ResetItem, Revoke, ServerDef, Set, SetStatementFor, Show, Signal, StartSlave,
    StartTransaction, StopSlave, TableMaintenance, TruncateTable, Update, Xa,
};

/// One statement of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing but blanks and comments.
    Empty,

    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    LoadData(Box<LoadData>),
    Do(Vec<Expr>),
    Call(Call),
    Handler(Box<Handler>),

    CreateDatabase(CreateDatabase),
    AlterDatabase(AlterDatabase),
    DropDatabase(DropDatabase),
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTables(DropTables),
    RenameTables(RenameTables),
    TruncateTable(TruncateTable),
    CreateIndex(Box<CreateIndex>),
    DropIndex(DropIndex),
    /// `CREATE VIEW` and `ALTER VIEW`
    CreateView(Box<CreateView>),
    DropViews(DropViews),
    CreateSequence(Box<CreateSequence>),
    AlterSequence(AlterSequence),
    DropSequences(DropSequences),
    /// `CREATE SERVER` and `ALTER SERVER`
    CreateServer(ServerDef),
    DropServer {
        if_exists: bool,
        name: Ident,
    },

    CreateTrigger(Box<CreateTrigger>),
    DropTrigger {
        if_exists: bool,
        name: ObjectName,
    },
    CreateProcedure(Box<CreateRoutine>),
    CreateFunction(Box<CreateRoutine>),
    CreateUdf(CreateUdf),
    AlterRoutine(AlterRoutine),
    DropProcedure {
        if_exists: bool,
        name: ObjectName,
    },
    DropFunction {
        if_exists: bool,
        name: ObjectName,
    },
    CreateEvent(Box<CreateEvent>),
    AlterEvent(Box<AlterEvent>),
    DropEvent {
        if_exists: bool,
        name: ObjectName,
    },
    /// Inside a stored program, or a block of its own.
    Compound(Box<Compound>),

    CreateUser(CreateUser),
    AlterUser(AlterUser),
    DropUsers(DropUsers),
    RenameUsers(RenameUsers),
    CreateRole(CreateRole),
    DropRoles(DropRoles),
    Grant(Box<Grant>),
    Revoke(Box<Revoke>),

    Set(Set),
    SetStatementFor(SetStatementFor),
    Use(Ident),
    Show(Box<Show>),
    DescribeTable(DescribeTable),
    Explain(Explain),
    Help(Help),

    StartTransaction(StartTransaction),
    /// `BEGIN [WORK]`
    Begin,
    Commit(Completion),
    Rollback(Completion),
    Savepoint(Ident),
    RollbackTo(Ident),
    ReleaseSavepoint(Ident),
    Xa(Xa),
    LockTables(LockTables),
    UnlockTables,

    Prepare(Prepare),
    Execute(Execute),
    ExecuteImmediate(ExecuteImmediate),
    /// `DEALLOCATE PREPARE` and `DROP PREPARE`
    Deallocate(Ident),

    Kill(Kill),
    Flush(Flush),
    Reset(Vec<ResetItem>),
    PurgeLogs(PurgeLogs),
    ChangeMaster(ChangeMaster),
    StartSlave(StartSlave),
    StopSlave(StopSlave),
    TableMaintenance(Box<TableMaintenance>),
    CacheIndex(CacheIndex),
    LoadIndex(Vec<CacheIndexTable>),
    Install(Install),
    Shutdown {
        wait_for_all_slaves: bool,
    },
    Backup(Backup),
    /// `BINLOG 'base64'`, or `BINLOG @a, @b`
    Binlog(Vec<Expr>),
    Signal(Signal),
    GetDiagnostics(GetDiagnostics),
}
