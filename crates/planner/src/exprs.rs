//! Walking, comparing and taking apart bound expressions.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use selkie_expr::{
    AggregateCall, CmpOp, Expr, ExprKind, FrameBound, SortKey, SubqueryExpr, SubqueryKind, WindowCall, WindowFunction,
};
use selkie_types::{SqlType, Value};

use crate::logical::ColId;

/// Shows the direct operands of an expression. A subquery's operands are its left side and its correlated values.
pub fn visit_children(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    match &e.kind {
        ExprKind::Const(_)
        | ExprKind::Column(_)
        | ExprKind::Correlated(_)
        | ExprKind::Param(_)
        | ExprKind::UserVar(_)
        | ExprKind::SystemVar(..)
        | ExprKind::InsertedColumn(_) => {}
        ExprKind::SetUserVar(_, a) | ExprKind::Cast(a) | ExprKind::Not(a) => f(a),
        ExprKind::And(v) | ExprKind::Or(v) => v.iter().for_each(f),
        ExprKind::Compare { left, right, .. } => {
            f(left);
            f(right);
        }
        ExprKind::Between { expr, low, high, .. } => {
            f(expr);
            f(low);
            f(high);
        }
        ExprKind::InList { expr, list, .. } => {
            f(expr);
            list.iter().for_each(f);
        }
        ExprKind::IsNull { expr, .. } | ExprKind::IsBool { expr, .. } => f(expr),
        ExprKind::Like { expr, pattern, .. } => {
            f(expr);
            f(pattern);
        }
        ExprKind::Case { whens, otherwise } => {
            for (a, b) in whens {
                f(a);
                f(b);
            }
            if let Some(o) = otherwise {
                f(o);
            }
        }
        ExprKind::Call { args, .. } => args.iter().for_each(f),
        ExprKind::Subquery(s) => {
            s.correlated.iter().for_each(&mut *f);
            match &s.kind {
                SubqueryKind::RowCompare { left, .. } | SubqueryKind::In { left, .. } => left.iter().for_each(f),
                SubqueryKind::Quantified { left, .. } => f(left),
                SubqueryKind::Scalar | SubqueryKind::Exists { .. } => {}
            }
        }
    }
}

/// The same expression over changed operands.
pub fn map_children(e: Expr, f: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    let Expr { kind, ty, nullable, coercibility } = e;
    let mut b = |x: Box<Expr>| Box::new(f(*x));
    let kind = match kind {
        ExprKind::SetUserVar(n, a) => ExprKind::SetUserVar(n, b(a)),
        ExprKind::Cast(a) => ExprKind::Cast(b(a)),
        ExprKind::Not(a) => ExprKind::Not(b(a)),
        ExprKind::And(v) => ExprKind::And(v.into_iter().map(f).collect()),
        ExprKind::Or(v) => ExprKind::Or(v.into_iter().map(f).collect()),
        ExprKind::Compare { op, left, right, collation } => {
            ExprKind::Compare { op, left: b(left), right: b(right), collation }
        }
        ExprKind::Between { expr, low, high, negated, collation } => {
            ExprKind::Between { expr: b(expr), low: b(low), high: b(high), negated, collation }
        }
        ExprKind::InList { expr, list, negated, collation } => {
            let expr = b(expr);
            ExprKind::InList { expr, list: list.into_iter().map(f).collect(), negated, collation }
        }
        ExprKind::IsNull { expr, negated } => ExprKind::IsNull { expr: b(expr), negated },
        ExprKind::IsBool { expr, value, negated } => ExprKind::IsBool { expr: b(expr), value, negated },
        ExprKind::Like { expr, pattern, escape, negated, collation } => {
            ExprKind::Like { expr: b(expr), pattern: b(pattern), escape, negated, collation }
        }
        ExprKind::Case { whens, otherwise } => {
            let whens = whens.into_iter().map(|(a, c)| (f(a), f(c))).collect();
            ExprKind::Case { whens, otherwise: otherwise.map(|o| Box::new(f(*o))) }
        }
        ExprKind::Call { function, args } => ExprKind::Call { function, args: args.into_iter().map(f).collect() },
        ExprKind::Subquery(s) => {
            let SubqueryExpr { query, correlated, kind } = *s;
            let correlated = correlated.into_iter().map(&mut *f).collect();
            let kind = match kind {
                SubqueryKind::RowCompare { op, left, collations } => {
                    SubqueryKind::RowCompare { op, left: left.into_iter().map(f).collect(), collations }
                }
                SubqueryKind::In { left, collations, negated } => {
                    SubqueryKind::In { left: left.into_iter().map(f).collect(), collations, negated }
                }
                SubqueryKind::Quantified { op, all, left, collation } => {
                    SubqueryKind::Quantified { op, all, left: Box::new(f(*left)), collation }
                }
                other => other,
            };
            ExprKind::Subquery(Box::new(SubqueryExpr { query, correlated, kind }))
        }
        leaf => leaf,
    };
    Expr { kind, ty, nullable, coercibility }
}

/// Shows an expression and everything in it, outside in.
pub fn walk(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(e);
    visit_children(e, &mut |c| walk(c, f));
}

/// Rewrites bottom up.
pub fn rewrite(e: Expr, f: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    let e = map_children(e, &mut |c| rewrite(c, f));
    f(e)
}

/// Rewrites top down: where `f` gives an expression it is taken as it is, elsewhere operands are visited.
pub fn replace(e: Expr, f: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    match f(&e) {
        Some(new) => new,
        None => map_children(e, &mut |c| replace(c, f)),
    }
}

/// Changes the expressions of an aggregate call.
pub fn map_aggregate(mut a: AggregateCall, f: &mut dyn FnMut(Expr) -> Expr) -> AggregateCall {
    a.args = a.args.into_iter().map(&mut *f).collect();
    a.order_by = map_sort_keys(a.order_by, f);
    a
}

/// Changes sort keys.
pub fn map_sort_keys(keys: Vec<SortKey>, f: &mut dyn FnMut(Expr) -> Expr) -> Vec<SortKey> {
    keys.into_iter().map(|k| SortKey { expr: f(k.expr), descending: k.descending }).collect()
}

/// Changes the expressions of a window call.
pub fn map_window(w: WindowCall, f: &mut dyn FnMut(Expr) -> Expr) -> WindowCall {
    let function = match w.function {
        WindowFunction::Aggregate(a) => WindowFunction::Aggregate(map_aggregate(a, f)),
        WindowFunction::Rank(r, args) => WindowFunction::Rank(r, args.into_iter().map(&mut *f).collect()),
    };
    let mut bound = |b: FrameBound| match b {
        FrameBound::Preceding(e) => FrameBound::Preceding(f(e)),
        FrameBound::Following(e) => FrameBound::Following(f(e)),
        other => other,
    };
    let frame = (w.frame.0, bound(w.frame.1), bound(w.frame.2));
    WindowCall {
        function,
        partition_by: w.partition_by.into_iter().map(&mut *f).collect(),
        order_by: map_sort_keys(w.order_by, f),
        frame,
        ty: w.ty,
        nullable: w.nullable,
    }
}

/// Shows the expressions of an aggregate call.
pub fn visit_aggregate(a: &AggregateCall, f: &mut dyn FnMut(&Expr)) {
    a.args.iter().for_each(&mut *f);
    a.order_by.iter().for_each(|k| f(&k.expr));
}

/// Shows the expressions of a window call.
pub fn visit_window(w: &WindowCall, f: &mut dyn FnMut(&Expr)) {
    match &w.function {
        WindowFunction::Aggregate(a) => visit_aggregate(a, f),
        WindowFunction::Rank(_, args) => args.iter().for_each(&mut *f),
    }
    w.partition_by.iter().for_each(&mut *f);
    w.order_by.iter().for_each(|k| f(&k.expr));
    for b in [&w.frame.1, &w.frame.2] {
        if let FrameBound::Preceding(e) | FrameBound::Following(e) = b {
            f(e);
        }
    }
}

/// Adds the columns that an expression reads.
pub fn columns_of(e: &Expr, out: &mut BTreeSet<ColId>) {
    walk(e, &mut |x| {
        if let ExprKind::Column(c) = x.kind {
            out.insert(c);
        }
    });
}

/// The columns that an expression reads.
pub fn columns(e: &Expr) -> BTreeSet<ColId> {
    let mut s = BTreeSet::new();
    columns_of(e, &mut s);
    s
}

/// Whether the expression reads a column of the set.
pub fn touches(e: &Expr, set: &BTreeSet<ColId>) -> bool {
    let mut hit = false;
    walk(e, &mut |x| {
        if let ExprKind::Column(c) = x.kind {
            hit |= set.contains(&c);
        }
    });
    hit
}

/// Whether evaluating the expression twice, or not at all, makes no difference: no user variables, RAND(), SLEEP(), …
pub fn is_pure(e: &Expr) -> bool {
    let mut pure = true;
    walk(e, &mut |x| match &x.kind {
        ExprKind::SetUserVar(..) | ExprKind::UserVar(_) => pure = false,
        ExprKind::Call { function, .. } => pure &= function.is_foldable(),
        _ => {}
    });
    pure
}

/// Whether there is a subquery in the expression.
pub fn has_subquery(e: &Expr) -> bool {
    let mut found = false;
    walk(e, &mut |x| found |= matches!(x.kind, ExprKind::Subquery(_)));
    found
}

/// Columns to be replaced by expressions.
#[derive(Debug, Clone, Default)]
pub struct Substitution(pub HashMap<ColId, Expr>);

impl Substitution {
    /// From pairs.
    pub fn new(pairs: impl IntoIterator<Item = (ColId, Expr)>) -> Substitution {
        Substitution(pairs.into_iter().collect())
    }

    /// The expression with its columns replaced.
    pub fn apply(&self, e: Expr) -> Expr {
        if self.0.is_empty() {
            return e;
        }
        replace(e, &mut |x| match x.kind {
            ExprKind::Column(c) => self.0.get(&c).cloned(),
            _ => None,
        })
    }
}

/// Splits a condition into its conjuncts.
pub fn conjuncts(e: Expr, out: &mut Vec<Expr>) {
    match e.kind {
        ExprKind::And(v) => v.into_iter().for_each(|x| conjuncts(x, out)),
        _ => out.push(e),
    }
}

/// The conjunction of conditions; `None` for none.
pub fn conjunction(mut conds: Vec<Expr>) -> Option<Expr> {
    match conds.len() {
        0 => None,
        1 => conds.pop(),
        _ => {
            let nullable = conds.iter().any(|c| c.nullable);
            let mut e = Expr::constant(Value::bool(true), SqlType::BOOL);
            e.kind = ExprKind::And(conds);
            e.nullable = nullable;
            Some(e)
        }
    }
}

/// A constant truth value of a condition: `Some(true)` is TRUE, `Some(false)` is FALSE or UNKNOWN.
pub fn constant_truth(e: &Expr) -> Option<bool> {
    match &e.kind {
        ExprKind::Const(Value::Null) => Some(false),
        ExprKind::Const(Value::Int(i)) => Some(*i != 0),
        ExprKind::Const(Value::UInt(i)) => Some(*i != 0),
        ExprKind::Const(Value::Double(d)) => Some(*d != 0.0),
        _ => None,
    }
}

/// The FALSE condition.
pub fn false_condition() -> Expr {
    Expr::constant(Value::bool(false), SqlType::BOOL)
}

/// `left = right` of one type.
pub fn equality(left: Expr, right: Expr, collation: Option<selkie_types::Collation>) -> Expr {
    let nullable = left.nullable || right.nullable;
    let kind = ExprKind::Compare { op: CmpOp::Eq, left: Box::new(left), right: Box::new(right), collation };
    Expr { kind, ty: SqlType::BOOL, nullable, coercibility: selkie_expr::Coercibility::Numeric }
}

fn same_all(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

/// Whether two expressions are the same computation.
pub fn same(a: &Expr, b: &Expr) -> bool {
    use ExprKind::*;
    if a.ty != b.ty {
        return false;
    }
    match (&a.kind, &b.kind) {
        (Const(x), Const(y)) => x == y,
        (Column(x), Column(y)) | (Correlated(x), Correlated(y)) | (Param(x), Param(y)) => x == y,
        (InsertedColumn(x), InsertedColumn(y)) => x == y,
        (UserVar(x), UserVar(y)) => x == y,
        (SystemVar(s, x), SystemVar(t, y)) => s == t && x == y,
        (SetUserVar(n, x), SetUserVar(m, y)) => n == m && same(x, y),
        (Cast(x), Cast(y)) | (Not(x), Not(y)) => same(x, y),
        (And(x), And(y)) | (Or(x), Or(y)) => same_all(x, y),
        (
            Compare { op, left, right, collation },
            Compare { op: op2, left: left2, right: right2, collation: collation2 },
        ) => op == op2 && collation == collation2 && same(left, left2) && same(right, right2),
        (
            Between { expr, low, high, negated, collation },
            Between { expr: e2, low: l2, high: h2, negated: n2, collation: c2 },
        ) => negated == n2 && collation == c2 && same(expr, e2) && same(low, l2) && same(high, h2),
        (InList { expr, list, negated, collation }, InList { expr: e2, list: l2, negated: n2, collation: c2 }) => {
            negated == n2 && collation == c2 && same(expr, e2) && same_all(list, l2)
        }
        (IsNull { expr, negated }, IsNull { expr: e2, negated: n2 }) => negated == n2 && same(expr, e2),
        (IsBool { expr, value, negated }, IsBool { expr: e2, value: v2, negated: n2 }) => {
            value == v2 && negated == n2 && same(expr, e2)
        }
        (
            Like { expr, pattern, escape, negated, collation },
            Like { expr: e2, pattern: p2, escape: x2, negated: n2, collation: c2 },
        ) => escape == x2 && negated == n2 && collation == c2 && same(expr, e2) && same(pattern, p2),
        (Case { whens, otherwise }, Case { whens: w2, otherwise: o2 }) => {
            whens.len() == w2.len()
                && whens.iter().zip(w2).all(|((a, b), (c, d))| same(a, c) && same(b, d))
                && match (otherwise, o2) {
                    (Some(x), Some(y)) => same(x, y),
                    (None, None) => true,
                    _ => false,
                }
        }
        (Call { function, args }, Call { function: f2, args: a2 }) => {
            // Variants of one function differ in their debug form.
            function.is_foldable()
                && function.name() == f2.name()
                && (Arc::ptr_eq(function, f2) || format!("{function:?}") == format!("{f2:?}"))
                && same_all(args, a2)
        }
        (Subquery(x), Subquery(y)) => x.query.id == y.query.id && same_all(&x.correlated, &y.correlated),
        _ => false,
    }
}

/// Whether the condition is not TRUE whenever every column of `set` is NULL, so that an outer join that makes them
/// NULL is an inner one.
pub fn rejects_nulls(e: &Expr, set: &BTreeSet<ColId>) -> bool {
    match &e.kind {
        ExprKind::And(v) => v.iter().any(|x| rejects_nulls(x, set)),
        ExprKind::Or(v) => v.iter().all(|x| rejects_nulls(x, set)),
        ExprKind::Compare { op: CmpOp::NullSafeEq, left, right, .. } => {
            let constant = |x: &Expr| matches!(&x.kind, ExprKind::Const(v) if !v.is_null());
            (constant(left) && null_if_null(right, set)) || (constant(right) && null_if_null(left, set))
        }
        ExprKind::IsNull { expr, negated } => *negated && null_if_null(expr, set),
        ExprKind::IsBool { expr, negated, .. } => !*negated && null_if_null(expr, set),
        ExprKind::Not(x) => null_if_null(x, set),
        _ => null_if_null(e, set),
    }
}

/// Whether the value is NULL whenever every column of `set` is.
pub fn null_if_null(e: &Expr, set: &BTreeSet<ColId>) -> bool {
    match &e.kind {
        ExprKind::Const(v) => v.is_null(),
        ExprKind::Column(c) => set.contains(c),
        ExprKind::Cast(x) | ExprKind::Not(x) => null_if_null(x, set),
        ExprKind::Compare { op, left, right, .. } => {
            *op != CmpOp::NullSafeEq && (null_if_null(left, set) || null_if_null(right, set))
        }
        // `x BETWEEN NULL AND 1` may be FALSE, which is no worse for a filter, but not NULL under NOT.
        ExprKind::Between { expr, .. } => null_if_null(expr, set),
        ExprKind::InList { expr, .. } => null_if_null(expr, set),
        ExprKind::Like { expr, pattern, .. } => null_if_null(expr, set) || null_if_null(pattern, set),
        ExprKind::Call { function, args } => {
            STRICT_FUNCTIONS.contains(&function.name()) && args.iter().any(|a| null_if_null(a, set))
        }
        _ => false,
    }
}

/// Functions and operators that give NULL whenever an argument is NULL.
const STRICT_FUNCTIONS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "div",
    "%",
    "mod",
    "neg",
    "abs",
    "lower",
    "upper",
    "lcase",
    "ucase",
    "length",
    "char_length",
    "concat",
    "substr",
    "left",
    "right",
    "trim",
    "ltrim",
    "rtrim",
    "year",
    "month",
    "day",
    "date",
    "round",
    "floor",
    "ceiling",
    "regexp",
    "add",
    "sub",
    "mul",
    "&",
    "|",
    "^",
];

/// Whether there is a subquery in the expression that is fed by columns of the set.
pub fn has_subquery_with(e: &Expr, set: &BTreeSet<ColId>) -> bool {
    let mut found = false;
    walk(e, &mut |x| {
        if let ExprKind::Subquery(s) = &x.kind {
            found |= s.correlated.iter().any(|c| touches(c, set));
        }
    });
    found
}
