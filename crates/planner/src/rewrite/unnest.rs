//! IN and EXISTS subqueries in WHERE become semi- and anti-joins, so that their tables take part in the join order.
//!
//! Only a subquery that is a plain join (no grouping, no LIMIT, no union) is unnested; the others are run once, or once
//! for each set of outer values, and remembered. Conditions of the subquery that read outer columns become part of the
//! join's condition.

use std::collections::BTreeSet;
use std::sync::Arc;

use selkie_expr::{Expr, ExprKind, SubqueryKind};
use selkie_types::Value;

use crate::context::PlanContext;
use crate::exprs::{self, Substitution};
use crate::logical::{Arena, ColId, LogicalQuery, Rel};
use crate::plan::JoinKind;

/// Unnests in all filters of the tree.
pub(super) fn unnest(rel: Rel, arena: &mut Arena, cx: &PlanContext<'_>) -> Rel {
    let rel = rel.map_inputs(&mut |r| unnest(r, arena, cx));
    let Rel::Filter { input, conds } = rel else { return rel };
    let mut rest = Vec::new();
    let mut input = *input;
    for c in conds {
        match semi_join(input, c, arena, cx) {
            Ok(joined) => input = joined,
            Err((unchanged, c)) => {
                input = unchanged;
                rest.push(c);
            }
        }
    }
    input.filter(rest)
}

/// `NOT (subquery condition)` and the condition itself, with whether it is negated.
fn subquery_condition(c: &Expr) -> Option<(&selkie_expr::SubqueryExpr, bool)> {
    match &c.kind {
        ExprKind::Subquery(s) => Some((s, false)),
        ExprKind::Not(x) => match &x.kind {
            ExprKind::Subquery(s) => Some((s, true)),
            _ => None,
        },
        _ => None,
    }
}

#[allow(clippy::result_large_err)]
fn semi_join(left: Rel, cond: Expr, arena: &mut Arena, cx: &PlanContext<'_>) -> Result<Rel, (Rel, Expr)> {
    let Some((s, outer_not)) = subquery_condition(&cond) else { return Err((left, cond)) };
    let Ok(q) = Arc::clone(&s.query.plan).downcast::<LogicalQuery>() else { return Err((left, cond)) };
    let plain = |e: &Expr| exprs::is_pure(e) && !exprs::has_subquery(e);
    if !s.correlated.iter().all(plain) {
        return Err((left, cond));
    }
    let (negated, operands) = match &s.kind {
        SubqueryKind::Exists { negated } if !s.correlated.is_empty() => (*negated != outer_not, Vec::new()),
        SubqueryKind::In { left: l, collations, negated } if l.iter().all(plain) => {
            // NOT of a three-valued IN is NOT IN.
            let ops: Vec<_> = l.iter().cloned().zip(collations.iter().copied()).collect();
            (*negated != outer_not, ops)
        }
        _ => return Err((left, cond)),
    };
    let exists = operands.is_empty();
    let Some(inner) = plain_join(&q.rel, exists) else { return Err((left, cond)) };
    let mut outer = Vec::new();
    left.columns(&mut outer);
    let outer: BTreeSet<ColId> = outer.into_iter().collect();
    // Operands of a subquery condition in ON may read other tables than these.
    if !operands.iter().all(|(e, _)| exprs::touches(e, &outer)) {
        return Err((left, cond));
    }
    let map = Substitution::new(q.params.iter().copied().zip(s.correlated.iter().cloned()));
    let inner = inner.substitute(&map);
    let mut on = Vec::new();
    let right = hoist(inner, &outer, &mut on);
    if right.free_columns().iter().any(|c| outer.contains(c)) {
        return Err((left, cond));
    }
    let correlated = !on.is_empty();
    let mut null_aware = false;
    for ((e, collation), (_, id)) in operands.into_iter().zip(&q.output) {
        let column = arena.column(*id);
        if negated && (e.nullable || column.nullable) {
            null_aware = true;
        }
        on.push(exprs::equality(e, column, collation));
    }
    // An unknown comparison makes NOT IN unknown: only a hash join over the whole of one column knows about that.
    if null_aware && (correlated || on.len() != 1 || !cx.switches.hash_join) {
        return Err((left, cond));
    }
    let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
    Ok(Rel::Join { kind, left: Box::new(left), right: Box::new(right), on, straight: false, null_aware })
}

/// The subquery without what does not matter to IN and EXISTS; `None` if it is no plain join.
fn plain_join(rel: &Rel, exists: bool) -> Option<Rel> {
    match rel {
        Rel::Sort { input, .. } | Rel::Distinct { input, .. } => plain_join(input, exists),
        Rel::Project { input, .. } if exists => plain_join(input, exists),
        Rel::Limit { input, count, offset: None } if exists => {
            let some =
                matches!(count.as_ref().map(|c| &c.kind), Some(ExprKind::Const(Value::Int(1..) | Value::UInt(1..))));
            if some { plain_join(input, exists) } else { None }
        }
        r if crate::bind::is_mergeable(r) && !matches!(r, Rel::OneRow) => Some(r.clone()),
        _ => None,
    }
}

/// Takes conditions that read outer columns out of the tree's filters and inner joins.
fn hoist(rel: Rel, outer: &BTreeSet<ColId>, on: &mut Vec<Expr>) -> Rel {
    let mut split = |conds: Vec<Expr>| {
        let (out, keep): (Vec<Expr>, Vec<Expr>) = conds.into_iter().partition(|c| exprs::touches(c, outer));
        on.extend(out);
        keep
    };
    match rel {
        Rel::Filter { input, conds } => {
            let keep = split(conds);
            hoist(*input, outer, on).filter(keep)
        }
        Rel::Join { kind: JoinKind::Inner, left, right, on: cs, straight, null_aware } => {
            let keep = split(cs);
            let left = Box::new(hoist(*left, outer, on));
            let right = Box::new(hoist(*right, outer, on));
            Rel::Join { kind: JoinKind::Inner, left, right, on: keep, straight, null_aware }
        }
        // Filters on the kept side of an outer or semi-join may be checked after it.
        Rel::Join { kind, left, right, on: cs, straight, null_aware } => {
            let left = Box::new(hoist(*left, outer, on));
            Rel::Join { kind, left, right, on: cs, straight, null_aware }
        }
        Rel::Project { input, exprs: list } => {
            let input = Box::new(hoist(*input, outer, on));
            Rel::Project { input, exprs: list }
        }
        other => other,
    }
}
