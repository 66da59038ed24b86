//! Expressions: operands, operators, calls, windows.

use super::{CastType, Ident, ObjectName, Query};

/// A value as written in the text. Numbers keep their digits: what type they get is the planner's matter.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    True,
    False,
    /// Digits only, fitting 64 bits unsigned.
    Int(u64),
    /// Digits with a point, or an integer beyond 64 bits.
    Decimal(String),
    /// With an exponent.
    Float(String),
    Str(StrLit),
    /// `x'4D'` (`quoted`: a binary string) or `0x4D` (a number where a number is wanted).
    Hex {
        bytes: Vec<u8>,
        quoted: bool,
    },
    /// `b'1010'` or `0b1010`, as big-endian bytes.
    Bit(Vec<u8>),
    /// `DATE '…'` or `{d '…'}`.
    Date(String),
    /// `TIME '…'` or `{t '…'}`.
    Time(String),
    /// `TIMESTAMP '…'` or `{ts '…'}`.
    Timestamp(String),
}

/// A string literal; adjacent ones are joined and escapes resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct StrLit {
    /// Raw bytes: not necessarily UTF-8 (binary data, or an introducer's character set).
    pub bytes: Vec<u8>,
    /// `_utf8mb4'…'`: the character set's name without the underscore, as written.
    pub charset: Option<String>,
    /// `N'…'`.
    pub national: bool,
}

impl StrLit {
    /// A plain literal of the connection's character set.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            charset: None,
            national: false,
        }
    }

    /// The text, with a replacement character where it is not UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// `col`, `tbl.col` or `db.tbl.col`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    pub db: Option<Ident>,
    pub table: Option<Ident>,
    pub name: Ident,
}

/// Where a system variable is read or set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VarScope {
    Global,
    /// `SESSION` or `LOCAL`.
    Session,
}

/// `@@[scope.][base.]name`; `base` is a key cache's or a replication connection's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SysVar {
    pub scope: Option<VarScope>,
    pub base: Option<Ident>,
    pub name: Ident,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `~x`
    BitNot,
    /// `NOT x` and `!x`
    Not,
    /// `BINARY x`
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Xor,
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>` and `!=`
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitAnd,
    BitXor,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    /// `/`
    Div,
    /// `DIV`
    IntDiv,
    /// `%` and `MOD`
    Mod,
    /// `||` under `PIPES_AS_CONCAT`
    Concat,
    /// `SOUNDS LIKE`
    SoundsLike,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `ANY` or `SOME`
    Any,
    All,
}

/// What `IS [NOT] …` tests for, `NULL` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TruthValue {
    True,
    False,
    Unknown,
}

/// The units of `INTERVAL`, `EXTRACT` and `TIMESTAMPADD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// `AGAINST (… mode)`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchMode {
    /// The default: `IN NATURAL LANGUAGE MODE`.
    NaturalLanguage,
    /// `[IN NATURAL LANGUAGE MODE] WITH QUERY EXPANSION`
    QueryExpansion,
    Boolean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GetFormatKind {
    Date,
    Time,
    /// `DATETIME` and `TIMESTAMP`
    DateTime,
}

/// An expression. Redundant parentheses are gone.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    Column(ColumnRef),
    /// The n-th `?` of the statement, from 0.
    Param(usize),
    /// `@name`
    UserVar(Ident),
    /// `@name := value`
    UserVarAssign {
        name: Ident,
        value: Box<Expr>,
    },
    SysVar(SysVar),
    Unary {
        op: UnaryOp,
        expr: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a AND b AND c`: always two or more terms, none of them an `And`.
    And(Vec<Expr>),
    /// `a OR b OR c`, as `And`.
    Or(Vec<Expr>),
    Like {
        negated: bool,
        expr: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
    },
    /// `REGEXP` and `RLIKE`
    Regexp {
        negated: bool,
        expr: Box<Expr>,
        pattern: Box<Expr>,
    },
    Between {
        negated: bool,
        expr: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    InList {
        negated: bool,
        expr: Box<Expr>,
        list: Vec<Expr>,
    },
    InSubquery {
        negated: bool,
        expr: Box<Expr>,
        query: Box<Query>,
    },
    /// `left op ANY|ALL (query)`
    Quantified {
        op: BinaryOp,
        quantifier: Quantifier,
        left: Box<Expr>,
        query: Box<Query>,
    },
    IsNull {
        negated: bool,
        expr: Box<Expr>,
    },
    IsTruth {
        negated: bool,
        expr: Box<Expr>,
        value: TruthValue,
    },
    Exists(Box<Query>),
    /// `(SELECT …)` as an operand
    Subquery(Box<Query>),
    /// `(a, b)` and `ROW(a, b)`
    Row(Vec<Expr>),
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<CaseBranch>,
        else_expr: Option<Box<Expr>>,
    },
    /// `CAST(x AS t)` and `CONVERT(x, t)`
    Cast {
        expr: Box<Expr>,
        ty: CastType,
    },
    /// `CONVERT(x USING charset)`
    ConvertUsing {
        expr: Box<Expr>,
        charset: String,
    },
    Collate {
        expr: Box<Expr>,
        collation: String,
    },
    /// `EXTRACT(unit FROM x)`
    Extract {
        unit: IntervalUnit,
        expr: Box<Expr>,
    },
    /// `TRIM([side] [what FROM] x)`
    Trim {
        side: Option<TrimSide>,
        what: Option<Box<Expr>>,
        expr: Box<Expr>,
    },
    /// `date ± INTERVAL value unit`, `DATE_ADD`, `DATE_SUB`, `ADDDATE`, `SUBDATE`, `TIMESTAMPADD`
    DateArith {
        subtract: bool,
        date: Box<Expr>,
        value: Box<Expr>,
        unit: IntervalUnit,
    },
    /// `TIMESTAMPDIFF(unit, from, to)`
    TimestampDiff {
        unit: IntervalUnit,
        from: Box<Expr>,
        to: Box<Expr>,
    },
    /// `GET_FORMAT(kind, locale)`
    GetFormat {
        kind: GetFormatKind,
        locale: Box<Expr>,
    },
    /// `CHAR(1, 2 USING charset)`
    Char {
        args: Vec<Expr>,
        charset: Option<String>,
    },
    /// `WEIGHT_STRING(x [AS CHAR(n)|BINARY(n)] [LEVEL …])`
    WeightString(Box<WeightString>),
    /// `MATCH (cols) AGAINST (x mode)`
    Match {
        columns: Vec<Expr>,
        against: Box<Expr>,
        mode: MatchMode,
    },
    /// `DEFAULT(col)`, or a bare `DEFAULT` as a value to insert
    Default(Option<ColumnRef>),
    /// A bare `IGNORE` as a value to insert
    Ignore,
    /// `VALUES(col)` and `VALUE(col)` in `ON DUPLICATE KEY UPDATE`
    InsertValue(ColumnRef),
    /// `NEXT VALUE FOR s` and `NEXTVAL(s)`
    NextValue(ObjectName),
    /// `PREVIOUS VALUE FOR s` and `LASTVAL(s)`
    PreviousValue(ObjectName),
    /// `SETVAL(s, value[, is_used[, round]])`
    SetVal {
        sequence: Box<ObjectName>,
        value: i128,
        is_used: bool,
        round: u64,
    },
    Function(Box<FunctionCall>),
}

impl Expr {
    /// A column without a table.
    pub fn column(name: Ident) -> Self {
        Expr::Column(ColumnRef {
            db: None,
            table: None,
            name,
        })
    }

    /// A string literal of the connection's character set.
    pub fn string(bytes: impl Into<Vec<u8>>) -> Self {
        Expr::Literal(Literal::Str(StrLit::new(bytes)))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CaseBranch {
    pub when: Expr,
    pub then: Expr,
}

/// A call of a built-in, aggregate, window, loadable or stored function.
///
/// Spellings with a syntax of their own that mean a plain call are given as that call:
/// `SUBSTRING(x FROM 2 FOR 3)` as `substr`, `POSITION(a IN b)` as `locate`, `CURRENT_TIMESTAMP` as `now`, ….
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// `db.f(…)`: a stored function for certain.
    pub db: Option<Ident>,
    /// As written; built-ins compare without regard to letter case.
    pub name: Ident,
    pub args: Vec<Expr>,
    /// `COUNT(*)`
    pub star: bool,
    pub distinct: bool,
    /// Inside the parentheses (`GROUP_CONCAT`, `JSON_ARRAYAGG`).
    pub order_by: Vec<OrderItem>,
    /// `SEPARATOR '…'`
    pub separator: Option<Vec<u8>>,
    /// Inside the parentheses (`GROUP_CONCAT(… LIMIT 1)`).
    pub limit: Option<Box<super::Limit>>,
    /// `WITHIN GROUP (ORDER BY …)`
    pub within_group: Vec<OrderItem>,
    pub over: Option<Window>,
}

impl FunctionCall {
    /// A plain call.
    pub fn new(name: Ident, args: Vec<Expr>) -> Self {
        Self {
            db: None,
            name,
            args,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
            limit: None,
            within_group: Vec::new(),
            over: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct WeightString {
    pub expr: Expr,
    /// `AS CHAR(n)`
    pub char_length: Option<u64>,
    /// `AS BINARY(n)`
    pub binary_length: Option<u64>,
    pub levels: Vec<WeightLevel>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WeightLevel {
    pub first: u64,
    pub last: u64,
    pub desc: bool,
    pub reverse: bool,
}

/// One term of `ORDER BY` or `GROUP BY`.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    pub expr: Expr,
    /// `None` where neither `ASC` nor `DESC` was written.
    pub desc: Option<bool>,
}

/// `OVER …`
#[derive(Debug, Clone, PartialEq)]
pub enum Window {
    Named(Ident),
    Spec(Box<WindowSpec>),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowSpec {
    /// The named window that this one extends.
    pub base: Option<Ident>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<WindowFrame>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    pub units: FrameUnits,
    pub start: FrameBound,
    /// `None` for the short form, which ends at the current row.
    pub end: Option<FrameBound>,
    pub exclude: FrameExclude,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnits {
    Rows,
    Range,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FrameExclude {
    #[default]
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}
