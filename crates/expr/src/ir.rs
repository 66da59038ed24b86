//! The typed expression tree.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use selkie_types::{Collation, SqlResult, SqlType, Value};

use crate::context::{EvalContext, VarScope};

/// How strongly an operand's collation binds when two collations meet (lower wins), as COERCIBILITY() numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercibility {
    /// COLLATE clause.
    Explicit = 0,
    /// Two collations met that do not mix; an error only where a collation is needed.
    None = 1,
    /// Column, stored routine parameter.
    Implicit = 2,
    /// USER(), VERSION() and such constants.
    SysConst = 3,
    /// Literal.
    Literal = 4,
    /// Number or date turned to text.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// A typed expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Static type of the result.
    pub ty: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// Collation strength, where `ty` has a collation.
    pub coercibility: Coercibility,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CmpOp {
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CmpOp {
    /// The operator with its operands swapped.
    pub fn swapped(self) -> CmpOp {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            other => other,
        }
    }
}

/// What an [`Expr`] computes. Operands of comparisons, lists and CASE branches were brought to one
/// type by binding; a comparison of texts names its collation.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A constant.
    Const(Value),
    /// A slot of the current row.
    Column(usize),
    /// A value of an outer row, by index into [`EvalContext::correlated`].
    Correlated(usize),
    /// A parameter, by index into [`EvalContext::params`]; cast to `ty` when its value's type differs.
    Param(usize),
    /// `@name`
    UserVar(Arc<str>),
    /// `@name := expr`
    SetUserVar(Arc<str>, Box<Expr>),
    /// `@@scope.name`
    SystemVar(VarScope, Arc<str>),
    /// Conversion of the operand to this expression's type (CAST and implicit conversions).
    Cast(Box<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// Conjunction of two or more.
    And(Vec<Expr>),
    /// Disjunction of two or more.
    Or(Vec<Expr>),
    /// Comparison of two operands of one type.
    Compare {
        /// Operator.
        op: CmpOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
        /// Collation where texts are compared.
        collation: Option<Collation>,
    },
    /// `e BETWEEN low AND high`
    Between {
        /// Tested value.
        expr: Box<Expr>,
        /// Lower bound, inclusive.
        low: Box<Expr>,
        /// Upper bound, inclusive.
        high: Box<Expr>,
        /// NOT BETWEEN.
        negated: bool,
        /// Collation where texts are compared.
        collation: Option<Collation>,
    },
    /// `e IN (list)`
    InList {
        /// Tested value.
        expr: Box<Expr>,
        /// Members, of the same comparison type.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
        /// Collation where texts are compared.
        collation: Option<Collation>,
    },
    /// `e IS [NOT] NULL`
    IsNull {
        /// Tested value.
        expr: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `e IS [NOT] TRUE|FALSE`
    IsBool {
        /// Tested value.
        expr: Box<Expr>,
        /// TRUE or FALSE.
        value: bool,
        /// IS NOT.
        negated: bool,
    },
    /// `text LIKE pattern ESCAPE c`
    Like {
        /// Tested text.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// Escape character, if any.
        escape: Option<char>,
        /// NOT LIKE.
        negated: bool,
        /// Collation.
        collation: Collation,
    },
    /// Searched CASE (the simple form is bound to comparisons); also IF, IFNULL, NULLIF, COALESCE where it fits.
    Case {
        /// Conditions and results.
        whens: Vec<(Expr, Expr)>,
        /// ELSE result; NULL when absent.
        otherwise: Option<Box<Expr>>,
    },
    /// A scalar function applied to arguments of the types it was bound to.
    Call {
        /// Bound function.
        function: Arc<dyn ScalarFunction>,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// A subquery used as a value or a condition.
    Subquery(Box<SubqueryExpr>),
    /// The new row's value of a column in ON DUPLICATE KEY UPDATE: `VALUES(col)`; slot of the inserted row, which the
    /// executor appends behind the current row. Bound by the planner as a plain `Column` of that slot; kept for display.
    InsertedColumn(usize),
}

/// A scalar function bound to its argument types. Stateless between rows.
pub trait ScalarFunction: fmt::Debug + Send + Sync {
    /// Name in lower case, as SHOW CREATE VIEW prints it.
    fn name(&self) -> &str;
    /// Evaluates the function; arguments are unevaluated so that it may be lazy.
    fn eval(&self, args: &[Expr], row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value>;
    /// Whether equal arguments always give an equal result within one statement, so that it may be
    /// folded when all arguments are constant (NOW() is; RAND(), SLEEP(), UUID() are not).
    fn is_foldable(&self) -> bool {
        true
    }
    /// The value of a literal that is a function only to keep its two natures (`0x41`).
    fn literal(&self) -> Option<Value> {
        None
    }
}

/// A plan of a subquery, opaque here.
#[derive(Clone)]
pub struct Subquery {
    /// Unique within the statement's plan; keys the executor's cache.
    pub id: usize,
    /// The planner's plan.
    pub plan: Arc<dyn Any + Send + Sync>,
    /// Types of the columns it returns.
    pub columns: Vec<SqlType>,
}

impl fmt::Debug for Subquery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subquery#{}", self.id)
    }
}

/// How a subquery's rows become a value.
#[derive(Debug, Clone)]
pub enum SubqueryKind {
    /// The single value of the single row; NULL without a row; error 1242 with more than one.
    Scalar,
    /// `(a, b) = (SELECT …)`: the row compared with these operands.
    RowCompare {
        /// Operator.
        op: CmpOp,
        /// Left operands.
        left: Vec<Expr>,
        /// Collations by column.
        collations: Vec<Option<Collation>>,
    },
    /// EXISTS
    Exists {
        /// NOT EXISTS.
        negated: bool,
    },
    /// `left IN (SELECT …)`, three-valued.
    In {
        /// Left operands, cast to the comparison types.
        left: Vec<Expr>,
        /// Collations by column.
        collations: Vec<Option<Collation>>,
        /// NOT IN.
        negated: bool,
    },
    /// `left op ANY|ALL (SELECT …)`
    Quantified {
        /// Operator.
        op: CmpOp,
        /// ALL instead of ANY.
        all: bool,
        /// Left operand.
        left: Box<Expr>,
        /// Collation.
        collation: Option<Collation>,
    },
}

/// A subquery with its use and the outer values that it needs.
#[derive(Debug, Clone)]
pub struct SubqueryExpr {
    /// The plan.
    pub query: Subquery,
    /// Evaluated in the outer row; they become the subquery's [`EvalContext::correlated`] values.
    pub correlated: Vec<Expr>,
    /// Use.
    pub kind: SubqueryKind,
}

/// Sort direction of one key.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// Sort expression.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}

/// An aggregate function bound to its argument types.
pub trait AggregateFunction: fmt::Debug + Send + Sync {
    /// Name in lower case.
    fn name(&self) -> &str;
    /// A new, empty accumulator.
    fn accumulator(&self) -> Box<dyn Accumulator>;
}

/// The state of one aggregate over one group.
pub trait Accumulator: Send {
    /// Adds a row's argument values. Rows are fed after DISTINCT and in the call's ORDER BY.
    fn update(&mut self, args: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<()>;
    /// Takes a row back (sliding window frames). `false`: not supported, recompute.
    fn retract(&mut self, _args: &[Value], _ctx: &mut dyn EvalContext) -> SqlResult<bool> {
        Ok(false)
    }
    /// The result so far.
    fn finish(&mut self, ctx: &mut dyn EvalContext) -> SqlResult<Value>;
    /// Memory held, bytes, beside the box itself.
    fn memory(&self) -> usize {
        0
    }
}

/// One aggregate call of a query.
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// Bound function.
    pub function: Arc<dyn AggregateFunction>,
    /// Arguments, evaluated on the input row. COUNT(*) has none.
    pub args: Vec<Expr>,
    /// Whether equal argument tuples count once.
    pub distinct: bool,
    /// ORDER BY inside the call (GROUP_CONCAT, JSON_ARRAYAGG).
    pub order_by: Vec<SortKey>,
    /// Result type.
    pub ty: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}

/// Functions that exist only with OVER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankFunction {
    /// ROW_NUMBER()
    RowNumber,
    /// RANK()
    Rank,
    /// DENSE_RANK()
    DenseRank,
    /// PERCENT_RANK()
    PercentRank,
    /// CUME_DIST()
    CumeDist,
    /// NTILE(n)
    Ntile,
    /// LAG(e, n)
    Lag,
    /// LEAD(e, n)
    Lead,
    /// FIRST_VALUE(e)
    FirstValue,
    /// LAST_VALUE(e)
    LastValue,
    /// NTH_VALUE(e, n)
    NthValue,
    /// MEDIAN(e) OVER
    Median,
    /// PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY e) OVER
    PercentileCont,
    /// PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY e) OVER
    PercentileDisc,
}

/// What a window call computes.
#[derive(Debug, Clone)]
pub enum WindowFunction {
    /// An aggregate over the frame.
    Aggregate(AggregateCall),
    /// A ranking or navigation function with its arguments.
    Rank(RankFunction, Vec<Expr>),
}

/// Unit of a window frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameUnit {
    /// ROWS
    Rows,
    /// RANGE
    Range,
}

/// One end of a window frame.
#[derive(Debug, Clone)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING
    UnboundedPreceding,
    /// n PRECEDING
    Preceding(Expr),
    /// CURRENT ROW
    CurrentRow,
    /// n FOLLOWING
    Following(Expr),
    /// UNBOUNDED FOLLOWING
    UnboundedFollowing,
}

/// One window call: its result is appended as a slot behind the input row.
#[derive(Debug, Clone)]
pub struct WindowCall {
    /// Function.
    pub function: WindowFunction,
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY
    pub order_by: Vec<SortKey>,
    /// Unit, start, end.
    pub frame: (FrameUnit, FrameBound, FrameBound),
    /// Result type.
    pub ty: SqlType,
    /// Whether the result may be NULL.
    pub nullable: bool,
}

impl Expr {
    /// A constant.
    pub fn constant(value: Value, ty: SqlType) -> Expr {
        let nullable = value.is_null();
        Expr { kind: ExprKind::Const(value), ty, nullable, coercibility: Coercibility::Literal }
    }

    /// A slot of the current row.
    pub fn column(slot: usize, ty: SqlType, nullable: bool) -> Expr {
        Expr { kind: ExprKind::Column(slot), ty, nullable, coercibility: Coercibility::Implicit }
    }
}
