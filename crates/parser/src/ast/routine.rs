//! Stored programs: triggers, routines, events, and the compound statements in them.

use super::{
    DataType, Definer, Expr, Ident, IntervalUnit, IntoVar, ObjectName, Query, SqlSecurity,
    Statement,
};

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTrigger {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<Definer>,
    pub name: ObjectName,
    pub timing: TriggerTiming,
    pub event: TriggerEvent,
    pub table: ObjectName,
    /// `FOLLOWS t` / `PRECEDES t`
    pub order: Option<TriggerOrder>,
    pub body: Box<Statement>,
    pub body_text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerTiming {
    Before,
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerOrder {
    Follows(Ident),
    Precedes(Ident),
}

/// `CREATE PROCEDURE` and `CREATE [AGGREGATE] FUNCTION`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateRoutine {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<Definer>,
    pub name: ObjectName,
    pub aggregate: bool,
    pub params: Vec<RoutineParam>,
    /// Text of what stands between the parentheses.
    pub params_text: String,
    /// Set for a function.
    pub returns: Option<VarType>,
    /// Text of the type after `RETURNS`.
    pub returns_text: String,
    pub characteristics: RoutineCharacteristics,
    pub body: Box<Statement>,
    pub body_text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RoutineParam {
    pub mode: ParamMode,
    pub name: Ident,
    pub ty: VarType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ParamMode {
    #[default]
    In,
    Out,
    InOut,
}

/// The type of a parameter or a local variable.
#[derive(Debug, Clone, PartialEq)]
pub enum VarType {
    Data(DataType),
    /// `TYPE OF t.col`
    TypeOf {
        db: Option<Ident>,
        table: Ident,
        column: Ident,
    },
    /// `TYPE OF v`, another variable
    TypeOfVar(Ident),
    /// `ROW TYPE OF t` (a table or a cursor)
    RowTypeOf(ObjectName),
    /// `ROW (a INT, …)`
    Row(Vec<(Ident, VarType)>),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoutineCharacteristics {
    pub deterministic: Option<bool>,
    pub data_access: Option<DataAccess>,
    pub security: Option<SqlSecurity>,
    pub comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataAccess {
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
}

/// `CREATE [AGGREGATE] FUNCTION f RETURNS type SONAME '…'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateUdf {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub aggregate: bool,
    pub name: Ident,
    pub returns: UdfType,
    pub soname: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UdfType {
    String,
    Real,
    Int,
    Decimal,
}

/// `ALTER PROCEDURE` and `ALTER FUNCTION`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterRoutine {
    pub function: bool,
    pub name: ObjectName,
    pub characteristics: RoutineCharacteristics,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateEvent {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<Definer>,
    pub name: ObjectName,
    pub schedule: EventSchedule,
    /// `ON COMPLETION [NOT] PRESERVE`
    pub preserve: Option<bool>,
    pub status: Option<EventStatus>,
    pub comment: Option<String>,
    pub body: Box<Statement>,
    pub body_text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterEvent {
    pub definer: Option<Definer>,
    pub name: ObjectName,
    pub schedule: Option<EventSchedule>,
    pub preserve: Option<bool>,
    pub rename_to: Option<ObjectName>,
    pub status: Option<EventStatus>,
    pub comment: Option<String>,
    pub body: Option<Box<Statement>>,
    pub body_text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EventSchedule {
    At(Expr),
    Every {
        value: Expr,
        unit: IntervalUnit,
        starts: Option<Expr>,
        ends: Option<Expr>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventStatus {
    Enabled,
    Disabled,
    DisabledOnSlave,
}

/// Statements that only a stored program (or a `BEGIN NOT ATOMIC` block) holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Compound {
    Block(Block),
    If {
        branches: Vec<IfBranch>,
        else_body: Option<Vec<Statement>>,
    },
    Case {
        operand: Option<Expr>,
        branches: Vec<IfBranch>,
        else_body: Option<Vec<Statement>>,
    },
    Loop {
        label: Option<Ident>,
        body: Vec<Statement>,
    },
    While {
        label: Option<Ident>,
        condition: Expr,
        body: Vec<Statement>,
    },
    Repeat {
        label: Option<Ident>,
        body: Vec<Statement>,
        until: Expr,
    },
    /// `FOR i IN [REVERSE] a .. b DO`
    ForRange {
        label: Option<Ident>,
        var: Ident,
        reverse: bool,
        low: Expr,
        high: Expr,
        body: Vec<Statement>,
    },
    /// `FOR r IN cursor[(args)] DO`
    ForCursor {
        label: Option<Ident>,
        var: Ident,
        cursor: Ident,
        args: Vec<Expr>,
        body: Vec<Statement>,
    },
    /// `FOR r IN (SELECT …) DO`
    ForQuery {
        label: Option<Ident>,
        var: Ident,
        query: Box<Query>,
        body: Vec<Statement>,
    },
    Leave(Ident),
    Iterate(Ident),
    Return(Expr),
    OpenCursor {
        name: Ident,
        args: Vec<Expr>,
    },
    /// No targets: `FETCH GROUP NEXT ROW`
    FetchCursor {
        name: Ident,
        into: Vec<IntoVar>,
    },
    FetchGroupNextRow,
    CloseCursor(Ident),
}

#[derive(Debug, Clone, PartialEq)]
pub struct IfBranch {
    pub when: Expr,
    pub then: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub label: Option<Ident>,
    /// `BEGIN NOT ATOMIC`, outside of a stored program
    pub not_atomic: bool,
    pub declarations: Vec<Declaration>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Declaration {
    Vars {
        names: Vec<Ident>,
        ty: VarType,
        default: Option<Expr>,
    },
    Condition {
        name: Ident,
        value: ConditionValue,
    },
    Cursor {
        name: Ident,
        params: Vec<RoutineParam>,
        query: Box<Query>,
    },
    Handler {
        kind: HandlerKind,
        conditions: Vec<ConditionValue>,
        body: Box<Statement>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlerKind {
    Continue,
    Exit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionValue {
    /// An error's number.
    Code(u64),
    SqlState(String),
    Named(Ident),
    SqlWarning,
    NotFound,
    SqlException,
}
