//! Binding: from operators, names and already bound operands to typed expressions.
//!
//! Every function here takes bound operands, decides the result's type (length, decimals,
//! nullability, collation and its strength) as MariaDB does, and inserts every conversion that
//! evaluation needs as an explicit [`ExprKind::Cast`] or picks a function
//! variant for the operand types. Nothing is evaluated here; [`fold`] does that afterwards.
//!
//! **Order:** bind a whole expression first, fold last. Result lengths depend on whether an operand is a literal
//! (`1 + 1` is `int(3)`), so that folding operands before their parent is bound would change types.
//!
//! It must not know syntax trees or name resolution.

use selkie_types::{Charset, Collation, SqlMode, SqlResult, Value};

use crate::func;
use crate::ir::{Expr, ExprKind, FrameBound, FrameUnit, SortKey};

pub(crate) mod attr;
mod cast;
pub(crate) mod collation;
pub(crate) mod compare;
pub(crate) mod hybrid;
pub(crate) mod literal;
mod logical;

pub use cast::{bind_binary_operator, bind_cast, bind_collate, bind_convert_using};
pub use compare::{bind_between, bind_compare, bind_in_list, bind_row_compare, bind_row_in_list, comparison_type};
pub use hybrid::{bind_case, common_type};
pub use literal::{
    hex_as_number, literal_binary, literal_bool, literal_hex_hybrid, literal_null, literal_number, literal_temporal, literal_text,
};
pub use logical::{bind_is_bool, bind_is_null, bind_like, bind_logical, bind_not};
pub use selkie_types::datetime::IntervalUnit;

pub use crate::agg::{bind_aggregate, bind_window, is_aggregate_name, is_window_only_name};
pub use crate::eval::{fold, is_constant};

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

/// Unary operator.
pub fn bind_unary(cx: &BindCtx, op: UnaryOp, e: Expr) -> SqlResult<Expr> {
    func::arith::bind_unary(cx, op, e)
}

/// Arithmetic, bit operator or concatenation.
pub fn bind_binary(cx: &BindCtx, op: BinaryOp, l: Expr, r: Expr) -> SqlResult<Expr> {
    match op {
        BinaryOp::Concat => func::bind(cx, "concat", vec![l, r]),
        _ => func::arith::bind(cx, op, l, r),
    }
}

/// `e [NOT] REGEXP pattern`
pub fn bind_regexp(cx: &BindCtx, e: Expr, pattern: Expr, negated: bool) -> SqlResult<Expr> {
    let matched = func::regexp::bind_match(cx, e, pattern)?;
    if negated { bind_not(cx, matched) } else { Ok(matched) }
}

/// `e + INTERVAL amount unit` and DATE_ADD, TIMESTAMPADD; `subtract` for `-` and DATE_SUB.
pub fn bind_interval(cx: &BindCtx, subtract: bool, e: Expr, amount: Expr, unit: IntervalUnit) -> SqlResult<Expr> {
    func::interval::bind(cx, subtract, e, amount, unit)
}

/// EXTRACT(unit FROM e)
pub fn bind_extract(_cx: &BindCtx, unit: IntervalUnit, e: Expr) -> SqlResult<Expr> {
    func::temporal::bind_extract(unit, e)
}

/// TIMESTAMPDIFF(unit, from, to)
pub fn bind_timestampdiff(_cx: &BindCtx, unit: IntervalUnit, from: Expr, to: Expr) -> SqlResult<Expr> {
    func::interval::bind_timestampdiff(unit, from, to)
}

/// `TRIM([side] [what] FROM e)`
pub fn bind_trim(cx: &BindCtx, side: TrimSide, what: Option<Expr>, e: Expr) -> SqlResult<Expr> {
    func::string::bind_trim(cx, side, what, e)
}

/// CHAR(codes [USING charset])
pub fn bind_char(cx: &BindCtx, codes: Vec<Expr>, charset: Option<Charset>) -> SqlResult<Expr> {
    func::encoding::bind_char(cx, codes, charset)
}

/// WEIGHT_STRING(e [AS CHAR(n) | AS BINARY(n)])
pub fn bind_weight_string(cx: &BindCtx, e: Expr, length: Option<u32>, binary: bool) -> SqlResult<Expr> {
    func::encoding::bind_weight_string(cx, e, length, binary)
}

/// `@name := e`
pub fn bind_set_user_var(_cx: &BindCtx, name: &str, e: Expr) -> SqlResult<Expr> {
    let (ty, nullable, coercibility) = (e.ty.clone(), e.nullable, e.coercibility);
    Ok(Expr { kind: ExprKind::SetUserVar(name.into(), Box::new(e)), ty, nullable, coercibility })
}

/// A function by its name (any case). Errors: 1582 wrong number of arguments, 1305 no such function.
pub fn bind_function(cx: &BindCtx, name: &str, args: Vec<Expr>) -> SqlResult<Expr> {
    func::bind(cx, name, args)
}

/// Whether a name (any case) is a scalar function that [`bind_function`] knows.
pub fn is_function_name(name: &str) -> bool {
    func::find(name).is_some()
}

/// The names of all functions that [`bind_function`] knows, sorted.
pub fn function_names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = func::names().collect();
    names.sort_unstable();
    names
}

/// The value of a literal.
pub fn const_value(e: &Expr) -> Option<&Value> {
    match &e.kind {
        ExprKind::Const(v) => Some(v),
        _ => None,
    }
}
