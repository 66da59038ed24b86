//! Statements that change rows, and `CALL`, `DO`, `HANDLER`.

use super::{
    ColumnRef, Expr, FieldsClause, Ident, Limit, LinesClause, NamedTable, ObjectName, OrderItem,
    Query, SelectItem, StrLit, SystemTime, TableRef,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WritePriority {
    #[default]
    Normal,
    Low,
    Delayed,
    High,
}

/// `INSERT` and `REPLACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub replace: bool,
    pub priority: WritePriority,
    pub ignore: bool,
    pub table: ObjectName,
    pub partitions: Vec<Ident>,
    /// `None` where no list was written; `Some` of nothing for `()`.
    pub columns: Option<Vec<ColumnRef>>,
    pub source: InsertSource,
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING …`; empty without
    pub returning: Vec<SelectItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// A row may hold [`Expr::Default`] and [`Expr::Ignore`].
    Values(Vec<Vec<Expr>>),
    /// `SET a = 1, …`: the columns stand in `Insert::columns` too, so that this is one row of values.
    Set(Vec<Expr>),
    Query(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub column: ColumnRef,
    /// [`Expr::Default`]`(None)` for `= DEFAULT`.
    pub value: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub low_priority: bool,
    pub ignore: bool,
    /// More than one reference, or a join, makes it a multi-table update.
    pub tables: Vec<TableRef>,
    pub assignments: Vec<Assignment>,
    pub where_clause: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    pub low_priority: bool,
    pub quick: bool,
    pub ignore: bool,
    pub target: DeleteTarget,
    pub where_clause: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub returning: Vec<SelectItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DeleteTarget {
    /// `DELETE FROM t …`
    Single(Box<NamedTable>),
    /// `DELETE t1, t2 FROM refs` and `DELETE FROM t1, t2 USING refs`
    Multi {
        tables: Vec<ObjectName>,
        from: Vec<TableRef>,
    },
    /// `DELETE HISTORY FROM t [BEFORE SYSTEM_TIME x]`
    History {
        table: ObjectName,
        partitions: Vec<Ident>,
        before: Option<SystemTime>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// `LOAD XML`
    pub xml: bool,
    pub low_priority: bool,
    pub concurrent: bool,
    pub local: bool,
    pub path: StrLit,
    pub on_duplicate: LoadDuplicates,
    pub table: ObjectName,
    pub partitions: Vec<Ident>,
    pub charset: Option<String>,
    /// `ROWS IDENTIFIED BY '<row>'`
    pub rows_identified_by: Option<Vec<u8>>,
    pub fields: FieldsClause,
    pub lines: LinesClause,
    /// `IGNORE n LINES`
    pub ignore_lines: u64,
    pub targets: Vec<LoadTarget>,
    pub set: Vec<Assignment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LoadDuplicates {
    #[default]
    Error,
    Replace,
    Ignore,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoadTarget {
    Column(ColumnRef),
    UserVar(Ident),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub name: ObjectName,
    pub args: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Handler {
    Open {
        table: ObjectName,
        alias: Option<Ident>,
    },
    Close(ObjectName),
    Read {
        table: ObjectName,
        scan: HandlerScan,
        where_clause: Option<Expr>,
        limit: Option<Limit>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum HandlerScan {
    /// Table order: `FIRST` or `NEXT`
    Table(HandlerMove),
    Index {
        index: Ident,
        step: HandlerMove,
    },
    /// `READ idx = (1, 2)`
    Key {
        index: Ident,
        op: super::BinaryOp,
        values: Vec<Expr>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlerMove {
    First,
    Next,
    Prev,
    Last,
}
