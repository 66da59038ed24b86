//! Queries: `SELECT`, set operations, `VALUES`, table references.

use super::{Expr, Ident, Literal, ObjectName, OrderItem, StrLit, WindowSpec};

/// A whole query with what stands around its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub with: Option<With>,
    pub body: SetExpr,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locking: Option<Locking>,
    pub into: Option<SelectInto>,
    /// `PROCEDURE ANALYSE(…)`
    pub procedure: Option<ProcedureClause>,
}

impl Query {
    /// A query of nothing but a body.
    pub fn plain(body: SetExpr) -> Self {
        Self {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            locking: None,
            into: None,
            procedure: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct With {
    pub recursive: bool,
    pub ctes: Vec<Cte>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cte {
    pub name: Ident,
    pub columns: Vec<Ident>,
    pub query: Box<Query>,
    /// `CYCLE col, … RESTRICT`
    pub cycle: Vec<Ident>,
}

/// What a query consists of.
#[derive(Debug, Clone, PartialEq)]
pub enum SetExpr {
    Select(Box<Select>),
    /// `VALUES (…), (…)`
    Values(Vec<Vec<Expr>>),
    /// In parentheses, with an `ORDER BY`, `LIMIT`, … of its own perhaps.
    Query(Box<Query>),
    /// `first op term op term …`, all from left to right: `INTERSECT`, which binds more tightly, is
    /// nested inside a `first` or a `term`, except where all operators are `INTERSECT`.
    SetOps {
        first: Box<SetExpr>,
        rest: Vec<SetTerm>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct SetTerm {
    pub op: SetOp,
    pub all: bool,
    pub term: SetExpr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOp {
    Union,
    /// `EXCEPT` and `MINUS`
    Except,
    Intersect,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    pub options: SelectOptions,
    pub items: Vec<SelectItem>,
    /// Comma-separated references; empty without `FROM` (and for `FROM DUAL`, see `from_dual`).
    pub from: Vec<TableRef>,
    pub from_dual: bool,
    pub where_clause: Option<Expr>,
    pub group_by: Vec<OrderItem>,
    pub with_rollup: bool,
    pub having: Option<Expr>,
    /// `WINDOW name AS (…)`
    pub windows: Vec<NamedWindow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SelectOptions {
    pub distinct: bool,
    /// An explicit `ALL`.
    pub all: bool,
    pub straight_join: bool,
    pub high_priority: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
    pub calc_found_rows: bool,
    /// `SQL_CACHE` (`Some(true)`) or `SQL_NO_CACHE`
    pub cache: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`, `t.*`, `db.t.*`
    Wildcard {
        db: Option<Ident>,
        table: Option<Ident>,
    },
    /// `text` is the expression as written: it names the column where there is no alias, see
    /// [`SelectItem::column_name`].
    Expr {
        expr: Expr,
        alias: Option<Ident>,
        text: String,
    },
}

impl SelectItem {
    /// The name of the result's column: the alias, a column's own name, a string's content, or the text.
    /// `None` for a wildcard.
    pub fn column_name(&self) -> Option<String> {
        let SelectItem::Expr { expr, alias, text } = self else {
            return None;
        };
        if let Some(alias) = alias {
            return Some(alias.value.clone());
        }
        Some(match expr {
            Expr::Column(column) => column.name.value.clone(),
            Expr::Literal(Literal::Str(literal)) => literal.to_text().trim_start().to_string(),
            Expr::Literal(Literal::Null) => "NULL".to_string(),
            Expr::Literal(Literal::True) => "TRUE".to_string(),
            Expr::Literal(Literal::False) => "FALSE".to_string(),
            Expr::Literal(_) => text
                .trim_matches(|c: char| c == '(' || c == ')' || c.is_whitespace())
                .to_string(),
            _ => text.clone(),
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct NamedWindow {
    pub name: Ident,
    pub spec: WindowSpec,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// `None` only for `LIMIT ROWS EXAMINED n` and `OFFSET n ROWS` alone.
    pub count: Option<Expr>,
    pub offset: Option<Expr>,
    /// `FETCH … WITH TIES`
    pub with_ties: bool,
    pub rows_examined: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locking {
    pub strength: LockStrength,
    pub wait: Option<LockWait>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockStrength {
    /// `FOR UPDATE`
    Update,
    /// `LOCK IN SHARE MODE`
    Share,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockWait {
    NoWait,
    /// `WAIT n`, in seconds
    Wait(u64),
    SkipLocked,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    Outfile {
        path: StrLit,
        charset: Option<String>,
        fields: FieldsClause,
        lines: LinesClause,
    },
    Dumpfile(StrLit),
    Vars(Vec<IntoVar>),
}

/// A target of `SELECT … INTO`, `EXECUTE … USING`, `LOAD DATA`.
#[derive(Debug, Clone, PartialEq)]
pub enum IntoVar {
    /// `@x`
    User(Ident),
    /// A stored program's variable, or its row's field.
    Local { name: Ident, field: Option<Ident> },
}

/// `FIELDS TERMINATED BY … [OPTIONALLY] ENCLOSED BY … ESCAPED BY …`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldsClause {
    pub terminated_by: Option<Vec<u8>>,
    pub enclosed_by: Option<Vec<u8>>,
    pub optionally_enclosed: bool,
    pub escaped_by: Option<Vec<u8>>,
}

/// `LINES STARTING BY … TERMINATED BY …`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinesClause {
    pub starting_by: Option<Vec<u8>>,
    pub terminated_by: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureClause {
    pub name: Ident,
    pub args: Vec<Expr>,
}

/// One reference of a `FROM` list.
#[derive(Debug, Clone, PartialEq)]
pub enum TableRef {
    Table(Box<NamedTable>),
    /// `(SELECT …) [AS] alias [(columns)]`
    Derived {
        lateral: bool,
        query: Box<Query>,
        alias: Option<Ident>,
        columns: Vec<Ident>,
    },
    JsonTable(Box<JsonTable>),
    Join(Box<Join>),
    /// `(a, b)` as an operand of a join: a cross join of its members, which bind as one.
    Nested(Vec<TableRef>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct NamedTable {
    pub name: ObjectName,
    pub alias: Option<Ident>,
    /// `PARTITION (p0, p1)`
    pub partitions: Vec<Ident>,
    pub index_hints: Vec<IndexHint>,
    pub system_time: Option<SystemTime>,
    /// `FOR PORTION OF period FROM a TO b` (`UPDATE`, `DELETE`)
    pub portion: Option<Portion>,
}

impl NamedTable {
    /// A table without any clause.
    pub fn plain(name: ObjectName) -> Self {
        Self {
            name,
            alias: None,
            partitions: Vec::new(),
            index_hints: Vec::new(),
            system_time: None,
            portion: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Portion {
    pub period: Ident,
    pub from: Expr,
    pub to: Expr,
}

/// `FOR SYSTEM_TIME …`
#[derive(Debug, Clone, PartialEq)]
pub enum SystemTime {
    All,
    AsOf(SystemTimePoint),
    /// `FROM a TO b`: `b` excluded
    FromTo(SystemTimePoint, SystemTimePoint),
    Between(SystemTimePoint, SystemTimePoint),
    /// `BEFORE SYSTEM_TIME x` of `DELETE HISTORY`
    Before(SystemTimePoint),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SystemTimePoint {
    /// `TRANSACTION id` rather than a timestamp
    pub transaction: bool,
    pub expr: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IndexHint {
    pub action: IndexHintAction,
    pub scope: IndexHintScope,
    /// Names, `PRIMARY` among them; empty for `USE INDEX ()`.
    pub indexes: Vec<Ident>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexHintAction {
    Use,
    Force,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexHintScope {
    /// No `FOR` clause.
    All,
    Join,
    OrderBy,
    GroupBy,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    pub left: TableRef,
    pub kind: JoinKind,
    pub natural: bool,
    pub right: TableRef,
    pub condition: Option<JoinCondition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// `JOIN`, `INNER JOIN`, `CROSS JOIN`
    Inner,
    Straight,
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub enum JoinCondition {
    On(Expr),
    Using(Vec<Ident>),
}

/// `JSON_TABLE(doc, path COLUMNS (…)) [AS] alias`
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTable {
    pub doc: Expr,
    pub path: StrLit,
    pub columns: Vec<JsonTableColumn>,
    pub alias: Ident,
}

#[derive(Debug, Clone, PartialEq)]
pub enum JsonTableColumn {
    /// `name FOR ORDINALITY`
    Ordinality(Ident),
    /// `name type PATH '…' [… ON EMPTY] [… ON ERROR]`
    Path {
        name: Ident,
        ty: super::DataType,
        path: StrLit,
        exists: bool,
        on_empty: Option<JsonTableOn>,
        on_error: Option<JsonTableOn>,
    },
    /// `NESTED PATH '…' COLUMNS (…)`
    Nested {
        path: StrLit,
        columns: Vec<JsonTableColumn>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum JsonTableOn {
    Error,
    Null,
    Default(Literal),
}
