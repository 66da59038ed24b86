//! Binding: from operators, names and already bound operands to typed expressions.
//!
//! Every function here takes bound operands, decides the result's type (length, decimals,
//! nullability, collation and its strength) as MariaDB does, and inserts every conversion that
//! evaluation needs as an explicit [`ExprKind::Cast`](crate::ExprKind::Cast) or picks a function
//! variant for the operand types. Nothing is evaluated here; [`fold`] does that afterwards.
//!
//! **Order:** bind a whole expression first, fold last. Result lengths depend on whether an operand is a literal
//! (`1 + 1` is `int(3)`), so that folding operands before their parent is bound would change types.
//!
//! It must not know syntax trees or name resolution.

use selkie_types::{Charset, Collation, SqlMode, SqlResult, SqlType, Value};

use crate::context::EvalContext;
use crate::ir::{
    AggregateCall, CmpOp, Coercibility, Expr, FrameBound, FrameUnit, SortKey, WindowCall,
};

/// The session settings that decide types. Made once per statement.
#[derive(Debug, Clone)]
pub struct BindCtx {
    /// `@@sql_mode`
    pub sql_mode: SqlMode,
    /// `@@collation_connection`: of string literals and of numbers turned to text.
    pub collation_connection: Collation,
    /// `@@div_precision_increment`
    pub div_precision_increment: u8,
    /// `@@max_allowed_packet`, bytes: limits result lengths.
    pub max_allowed_packet: u32,
    /// `@@group_concat_max_len`, bytes.
    pub group_concat_max_len: u32,
    /// The current database, named in error 1305.
    pub database: Option<String>,
}

impl Default for BindCtx {
    fn default() -> Self {
        BindCtx {
            sql_mode: SqlMode::DEFAULT,
            collation_connection: Collation::UTF8MB4_GENERAL_CI,
            div_precision_increment: 4,
            max_allowed_packet: 16 << 20,
            group_concat_max_len: 1 << 20,
            database: None,
        }
    }
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-e`
    Neg,
    /// `+e`
    Plus,
    /// `~e`
    BitNot,
}

/// Arithmetic, bit and concatenation operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `DIV`
    IntDiv,
    /// `MOD`, `%`
    Mod,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `||` under PIPES_AS_CONCAT.
    Concat,
}

/// Logical operators of two or more operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogicalOp {
    /// AND
    And,
    /// OR
    Or,
    /// XOR
    Xor,
}

/// Target of CAST and CONVERT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastTarget {
    /// `BINARY[(n)]`
    Binary(Option<u32>),
    /// `CHAR[(n)] [CHARACTER SET cs | COLLATE c]`; without a collation, that of the connection.
    Char(Option<u32>, Option<Collation>),
    /// `SIGNED [INTEGER]`
    Signed,
    /// `UNSIGNED [INTEGER]`
    Unsigned,
    /// `DECIMAL(p, s)`; `DECIMAL` is (10, 0).
    Decimal(u8, u8),
    /// `DOUBLE[(m, d)]`
    Double(Option<(u8, u8)>),
    /// `FLOAT`
    Float,
    /// `DATE`
    Date,
    /// `TIME(fsp)`
    Time(u8),
    /// `DATETIME(fsp)`
    DateTime(u8),
}

/// Units of INTERVAL, EXTRACT, TIMESTAMPADD and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    YearMonth,
    DayHour,
    DayMinute,
    DaySecond,
    HourMinute,
    HourSecond,
    MinuteSecond,
    DayMicrosecond,
    HourMicrosecond,
    MinuteMicrosecond,
    SecondMicrosecond,
}

/// Which ends TRIM works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrimSide {
    /// Both ends.
    Both,
    /// LEADING
    Leading,
    /// TRAILING
    Trailing,
}

/// The OVER clause, bound.
#[derive(Debug, Clone)]
pub struct WindowSpec {
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY
    pub order_by: Vec<SortKey>,
    /// Frame as written; `None` for the default one.
    pub frame: Option<(FrameUnit, FrameBound, FrameBound)>,
}

/// A string literal in the connection's collation (or that of an introducer).
pub fn literal_text(_cx: &BindCtx, _text: &str, _collation: Option<Collation>) -> Expr {
    todo!()
}
/// A number as it was written: `1`, `1.50`, `1e3`. Digits only; the sign is an operator.
pub fn literal_number(_text: &str) -> SqlResult<Expr> {
    todo!()
}
/// `0x41`, `b'1'`: bytes where text is wanted, a number where a number is wanted.
pub fn literal_hex_hybrid(_bytes: &[u8]) -> Expr {
    todo!()
}
/// `x'41'`: always bytes.
pub fn literal_binary(_bytes: &[u8]) -> Expr {
    todo!()
}
/// `TRUE`, `FALSE`
pub fn literal_bool(_value: bool) -> Expr {
    todo!()
}
/// `NULL`
pub fn literal_null() -> Expr {
    todo!()
}
/// `DATE'…'`, `TIME'…'`, `TIMESTAMP'…'`: `ty` is Date, Time or DateTime of any fsp (that of the text is taken). Error 1525.
pub fn literal_temporal(_cx: &BindCtx, _ty: &SqlType, _text: &str) -> SqlResult<Expr> {
    todo!()
}
/// Unary operator.
pub fn bind_unary(_cx: &BindCtx, _op: UnaryOp, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// Arithmetic, bit operator or concatenation.
pub fn bind_binary(_cx: &BindCtx, _op: BinaryOp, _l: Expr, _r: Expr) -> SqlResult<Expr> {
    todo!()
}
/// Comparison.
pub fn bind_compare(_cx: &BindCtx, _op: CmpOp, _l: Expr, _r: Expr) -> SqlResult<Expr> {
    todo!()
}
/// Comparison of two rows of equal width (error 1241 otherwise), as a tree of plain comparisons.
pub fn bind_row_compare(_cx: &BindCtx, _op: CmpOp, _l: Vec<Expr>, _r: Vec<Expr>) -> SqlResult<Expr> {
    todo!()
}
/// The type in which two operands compare, and the collation if it is text: for joins, IN (subquery), quantified comparison.
/// Both sides must then be brought there with [`Expr::cast_to`].
pub fn comparison_type(_cx: &BindCtx, _op: CmpOp, _l: &Expr, _r: &Expr) -> SqlResult<(SqlType, Option<Collation>)> {
    todo!()
}
/// `NOT e`
pub fn bind_not(_cx: &BindCtx, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// AND, OR, XOR over two or more operands (flattened).
pub fn bind_logical(_cx: &BindCtx, _op: LogicalOp, _operands: Vec<Expr>) -> SqlResult<Expr> {
    todo!()
}
/// `e IS [NOT] NULL`
pub fn bind_is_null(_cx: &BindCtx, _e: Expr, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `e IS [NOT] TRUE|FALSE` (UNKNOWN is IS NULL).
pub fn bind_is_bool(_cx: &BindCtx, _e: Expr, _value: bool, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `e [NOT] BETWEEN low AND high`
pub fn bind_between(_cx: &BindCtx, _e: Expr, _low: Expr, _high: Expr, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `e [NOT] IN (list)`
pub fn bind_in_list(_cx: &BindCtx, _e: Expr, _list: Vec<Expr>, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `(a, b) [NOT] IN ((1, 2), …)`
pub fn bind_row_in_list(_cx: &BindCtx, _row: Vec<Expr>, _list: Vec<Vec<Expr>>, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `e [NOT] LIKE pattern [ESCAPE x]`; `escape` is a constant of at most one character (error 1210).
pub fn bind_like(_cx: &BindCtx, _e: Expr, _pattern: Expr, _escape: Option<Expr>, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// `e [NOT] REGEXP pattern`
pub fn bind_regexp(_cx: &BindCtx, _e: Expr, _pattern: Expr, _negated: bool) -> SqlResult<Expr> {
    todo!()
}
/// CASE, simple (with `operand`) or searched.
pub fn bind_case(
    _cx: &BindCtx,
    _operand: Option<Expr>,
    _whens: Vec<(Expr, Expr)>,
    _otherwise: Option<Expr>,
) -> SqlResult<Expr> {
    todo!()
}
/// CAST(e AS target), CONVERT(e, target)
pub fn bind_cast(_cx: &BindCtx, _e: Expr, _target: CastTarget) -> SqlResult<Expr> {
    todo!()
}
/// CONVERT(e USING charset)
pub fn bind_convert_using(_cx: &BindCtx, _e: Expr, _charset: Charset) -> SqlResult<Expr> {
    todo!()
}
/// `e COLLATE c` (error 1253 where the character set differs).
pub fn bind_collate(_cx: &BindCtx, _e: Expr, _collation: Collation) -> SqlResult<Expr> {
    todo!()
}
/// `BINARY e`
pub fn bind_binary_operator(_cx: &BindCtx, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// `e + INTERVAL amount unit` and DATE_ADD; `subtract` for `-` and DATE_SUB.
pub fn bind_interval(
    _cx: &BindCtx,
    _subtract: bool,
    _e: Expr,
    _amount: Expr,
    _unit: IntervalUnit,
) -> SqlResult<Expr> {
    todo!()
}
/// EXTRACT(unit FROM e)
pub fn bind_extract(_cx: &BindCtx, _unit: IntervalUnit, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// TIMESTAMPDIFF(unit, from, to)
pub fn bind_timestampdiff(_cx: &BindCtx, _unit: IntervalUnit, _from: Expr, _to: Expr) -> SqlResult<Expr> {
    todo!()
}
/// TRIM([side] [what] FROM e)
pub fn bind_trim(_cx: &BindCtx, _side: TrimSide, _what: Option<Expr>, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// CHAR(codes [USING charset])
pub fn bind_char(_cx: &BindCtx, _codes: Vec<Expr>, _charset: Option<Charset>) -> SqlResult<Expr> {
    todo!()
}
/// WEIGHT_STRING(e [AS CHAR(n) | AS BINARY(n)])
pub fn bind_weight_string(_cx: &BindCtx, _e: Expr, _length: Option<u32>, _binary: bool) -> SqlResult<Expr> {
    todo!()
}
/// `@name := e`
pub fn bind_set_user_var(_cx: &BindCtx, _name: &str, _e: Expr) -> SqlResult<Expr> {
    todo!()
}
/// A function by its name (any case). Errors: 1582 wrong number of arguments, 1305 no such function.
pub fn bind_function(_cx: &BindCtx, _name: &str, _args: Vec<Expr>) -> SqlResult<Expr> {
    todo!()
}
/// Whether a name (any case) is a scalar function that [`bind_function`] knows.
pub fn is_function_name(_name: &str) -> bool {
    todo!()
}
/// Whether a name (any case) is an aggregate function.
pub fn is_aggregate_name(_name: &str) -> bool {
    todo!()
}
/// Whether a name (any case) is a function that exists only with OVER.
pub fn is_window_only_name(_name: &str) -> bool {
    todo!()
}
/// An aggregate call. COUNT(*) has no arguments. `separator` is GROUP_CONCAT's (default `,`); `limit` is (offset, count) of
/// GROUP_CONCAT and JSON_ARRAYAGG.
pub fn bind_aggregate(
    _cx: &BindCtx,
    _name: &str,
    _distinct: bool,
    _args: Vec<Expr>,
    _order_by: Vec<SortKey>,
    _separator: Option<&str>,
    _limit: Option<(u64, u64)>,
) -> SqlResult<AggregateCall> {
    todo!()
}
/// A ranking or navigation function or an aggregate with OVER. `within_group` is that of PERCENTILE_CONT and _DISC.
pub fn bind_window(
    _cx: &BindCtx,
    _name: &str,
    _distinct: bool,
    _args: Vec<Expr>,
    _within_group: Option<SortKey>,
    _spec: WindowSpec,
) -> SqlResult<WindowCall> {
    todo!()
}
/// The type, nullability and collation strength that UNION, CASE and COALESCE give to these operands (error 1271 where their collations do not mix,
/// named by `operation`).
pub fn common_type(_cx: &BindCtx, _operation: &str, _operands: &[&Expr]) -> SqlResult<(SqlType, bool, Coercibility)> {
    todo!()
}
/// Evaluates the constant parts of a fully bound expression.
pub fn fold(e: Expr, _ctx: &mut dyn EvalContext) -> SqlResult<Expr> {
    Ok(e)
}
/// Whether the expression has one value throughout the statement (constants, parameters, foldable functions of them).
pub fn is_constant(_e: &Expr) -> bool {
    todo!()
}
/// The value of a literal.
pub fn const_value(_e: &Expr) -> Option<&Value> {
    todo!()
}
impl Expr {
    /// Converted to `ty`; unchanged if the types match. Text keeps its collation strength.
    pub fn cast_to(self, _ty: &SqlType) -> Expr {
        todo!()
    }
    /// The value for one row.
    pub fn eval(&self, _row: &[Value], _ctx: &mut dyn EvalContext) -> SqlResult<Value> {
        todo!()
    }
    /// The truth value for one row; `None` is UNKNOWN.
    pub fn eval_bool(&self, _row: &[Value], _ctx: &mut dyn EvalContext) -> SqlResult<Option<bool>> {
        todo!()
    }
    /// A parameter with the type of the value supplied (or [`SqlType::Null`] when not known yet).
    pub fn param(_index: usize, _ty: SqlType) -> Expr {
        todo!()
    }
}
