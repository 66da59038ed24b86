//! Folding: what is constant is evaluated once, before execution.

use selkie_types::{DateTime, SqlResult, SqlType, Value};

use crate::context::EvalContext;
use crate::ir::{CmpOp, Expr, ExprKind, SubqueryExpr, SubqueryKind};

/// Evaluates the constant parts of a fully bound expression. A constant part with an error or a warning is left as it
/// is, so that it is raised when (and only if) a row evaluates it; only conversions of literals warn here, once.
pub fn fold(e: Expr, ctx: &mut dyn EvalContext) -> SqlResult<Expr> {
    let Expr { kind, ty, nullable, coercibility } = e;
    let kind = children(kind, ctx)?;
    let e = Expr { kind, ty, nullable, coercibility };
    if let Some(e) = date_constant(&e) {
        return Ok(e);
    }
    if !is_foldable(&e) {
        return Ok(e);
    }
    let before = (ctx.diag().conditions.len(), ctx.diag().total);
    let result = e.eval(&[], ctx);
    let quiet = ctx.diag().total == before.1;
    match result {
        Ok(v) if quiet || is_conversion(&e) => {
            Ok(Expr { kind: ExprKind::Const(v), ty: e.ty, nullable: e.nullable, coercibility: e.coercibility })
        }
        _ => {
            let diag = ctx.diag();
            diag.conditions.truncate(before.0);
            diag.total = before.1;
            Ok(e)
        }
    }
}

/// Whether this brings a literal to the type that it is compared or stored in: done once, with its warnings.
fn is_conversion(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(_) => true,
        ExprKind::Call { function, .. } => function.name() == crate::func::temporal_parse::COMPARABLE,
        _ => false,
    }
}

#[allow(clippy::boxed_local)] // The box is what the callers have.
fn boxed(e: Box<Expr>, ctx: &mut dyn EvalContext) -> SqlResult<Box<Expr>> {
    Ok(Box::new(fold(*e, ctx)?))
}

fn all(es: Vec<Expr>, ctx: &mut dyn EvalContext) -> SqlResult<Vec<Expr>> {
    es.into_iter().map(|e| fold(e, ctx)).collect()
}

fn children(kind: ExprKind, ctx: &mut dyn EvalContext) -> SqlResult<ExprKind> {
    Ok(match kind {
        ExprKind::Cast(e) => ExprKind::Cast(boxed(e, ctx)?),
        ExprKind::Not(e) => ExprKind::Not(boxed(e, ctx)?),
        ExprKind::SetUserVar(n, e) => ExprKind::SetUserVar(n, boxed(e, ctx)?),
        ExprKind::And(es) => ExprKind::And(all(es, ctx)?),
        ExprKind::Or(es) => ExprKind::Or(all(es, ctx)?),
        ExprKind::Compare { op, left, right, collation } => {
            ExprKind::Compare { op, left: boxed(left, ctx)?, right: boxed(right, ctx)?, collation }
        }
        ExprKind::Between { expr, low, high, negated, collation } => ExprKind::Between {
            expr: boxed(expr, ctx)?,
            low: boxed(low, ctx)?,
            high: boxed(high, ctx)?,
            negated,
            collation,
        },
        ExprKind::InList { expr, list, negated, collation } => {
            ExprKind::InList { expr: boxed(expr, ctx)?, list: all(list, ctx)?, negated, collation }
        }
        ExprKind::IsNull { expr, negated } => ExprKind::IsNull { expr: boxed(expr, ctx)?, negated },
        ExprKind::IsBool { expr, value, negated } => ExprKind::IsBool { expr: boxed(expr, ctx)?, value, negated },
        ExprKind::Like { expr, pattern, escape, negated, collation } => {
            ExprKind::Like { expr: boxed(expr, ctx)?, pattern: boxed(pattern, ctx)?, escape, negated, collation }
        }
        ExprKind::Case { whens, otherwise } => ExprKind::Case {
            whens: whens.into_iter().map(|(a, b)| Ok((fold(a, ctx)?, fold(b, ctx)?))).collect::<SqlResult<Vec<_>>>()?,
            otherwise: otherwise.map(|e| boxed(e, ctx)).transpose()?,
        },
        // What a function makes of its arguments may depend on their being evaluated lazily, but folding a
        // constant argument only moves its warnings.
        ExprKind::Call { function, args } if function.is_foldable() => {
            ExprKind::Call { function, args: all(args, ctx)? }
        }
        ExprKind::Subquery(s) => {
            let SubqueryExpr { query, correlated, kind } = *s;
            let kind = match kind {
                SubqueryKind::In { left, collations, negated } => {
                    SubqueryKind::In { left: all(left, ctx)?, collations, negated }
                }
                other => other,
            };
            ExprKind::Subquery(Box::new(SubqueryExpr { query, correlated: all(correlated, ctx)?, kind }))
        }
        other => other,
    })
}

fn is_const(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Const(_))
}

/// Whether evaluating the expression now gives what evaluating it for any row would.
fn is_foldable(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(e) | ExprKind::Not(e) => is_const(e),
        ExprKind::And(es) | ExprKind::Or(es) => es.iter().all(is_const),
        ExprKind::Compare { left, right, .. } => is_const(left) && is_const(right),
        ExprKind::Between { expr, low, high, .. } => is_const(expr) && is_const(low) && is_const(high),
        ExprKind::InList { expr, list, .. } => is_const(expr) && list.iter().all(is_const),
        ExprKind::IsNull { expr, .. } | ExprKind::IsBool { expr, .. } => is_const(expr),
        ExprKind::Like { expr, pattern, .. } => is_const(expr) && is_const(pattern),
        ExprKind::Case { whens, otherwise } => {
            whens.iter().all(|(a, b)| is_const(a) && is_const(b)) && otherwise.iter().all(|e| is_const(e))
        }
        ExprKind::Call { function, args } => function.is_foldable() && args.iter().all(is_const),
        _ => false,
    }
}

/// A DATE column compared with a constant at midnight: compared as dates, so that the column stays bare.
pub(crate) fn date_constant(e: &Expr) -> Option<Expr> {
    let ExprKind::Compare { op, left, right, collation } = &e.kind else { return None };
    let bare = |cast: &Expr| match &cast.kind {
        ExprKind::Cast(inner) if inner.ty == SqlType::Date && matches!(cast.ty, SqlType::DateTime { .. }) => {
            Some((**inner).clone())
        }
        _ => None,
    };
    let midnight = |c: &Expr| match &c.kind {
        ExprKind::Const(Value::DateTime(d)) => Some(*d),
        _ => None,
    };
    let (column, at, op, swapped) = match (bare(left), midnight(right), bare(right), midnight(left)) {
        (Some(c), Some(d), ..) => (c, d, *op, false),
        (_, _, Some(c), Some(d)) => (c, d, op.swapped(), true),
        _ => return None,
    };
    if is_const(&column) {
        return None;
    }
    let op = day_op(op, at)?;
    let constant = Expr::constant(Value::Date(at.date()), SqlType::Date);
    let (op, l, r) = if swapped { (op.swapped(), constant, column) } else { (op, column, constant) };
    Some(Expr {
        kind: ExprKind::Compare { op, left: Box::new(l), right: Box::new(r), collation: *collation },
        ..e.clone()
    })
}

/// The comparison of a date with the day of `at` that says the same as comparing with `at`.
fn day_op(op: CmpOp, at: DateTime) -> Option<CmpOp> {
    if at.micros_of_day() == 0 {
        return Some(op);
    }
    // Later than midnight: the day itself lies before it.
    match op {
        CmpOp::Lt | CmpOp::Le => Some(CmpOp::Le),
        CmpOp::Gt | CmpOp::Ge => Some(CmpOp::Gt),
        _ => None,
    }
}

/// Whether the expression has one value throughout the statement (constants, parameters, foldable functions of them).
pub fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Correlated(_) => true,
        ExprKind::Cast(e) | ExprKind::Not(e) => is_constant(e),
        ExprKind::And(es) | ExprKind::Or(es) => es.iter().all(is_constant),
        ExprKind::Compare { left, right, .. } => is_constant(left) && is_constant(right),
        ExprKind::Between { expr, low, high, .. } => is_constant(expr) && is_constant(low) && is_constant(high),
        ExprKind::InList { expr, list, .. } => is_constant(expr) && list.iter().all(is_constant),
        ExprKind::IsNull { expr, .. } | ExprKind::IsBool { expr, .. } => is_constant(expr),
        ExprKind::Like { expr, pattern, .. } => is_constant(expr) && is_constant(pattern),
        ExprKind::Case { whens, otherwise } => {
            whens.iter().all(|(a, b)| is_constant(a) && is_constant(b)) && otherwise.iter().all(|e| is_constant(e))
        }
        ExprKind::Call { function, args } => function.is_foldable() && args.iter().all(is_constant),
        ExprKind::SystemVar(..) => true,
        _ => false,
    }
}
