//! `SELECT MIN(a) FROM t` of a column that an index orders: the first entry that is not NULL is the answer.

use selkie_expr::bind;
use selkie_expr::{CmpOp, Expr, ExprKind, SortKey};
use selkie_types::Value;

use crate::exprs;
use crate::logical::{Arena, ColId, Rel, TableRel};

/// Applies the rewrite in the whole tree.
pub(super) fn one_entry(rel: Rel, arena: &mut Arena) -> Rel {
    let rel = rel.map_inputs(&mut |r| one_entry(r, arena));
    let Rel::Aggregate { input, keys, calls, first_row, rollup } = rel else { return rel };
    let limited = match calls.as_slice() {
        [(_, call)] if keys.is_empty() && first_row.is_empty() && call.args.len() == 1 => {
            let descending = match call.function.name() {
                "min" => Some(false),
                "max" => Some(true),
                _ => None,
            };
            match (descending, &call.args[0].kind) {
                (Some(d), ExprKind::Column(c)) if ordered_by(&input, *c) => Some((d, *c)),
                _ => None,
            }
        }
        _ => None,
    };
    let input = match limited {
        Some((descending, c)) => Box::new(first_of(*input, arena.column(c), descending)),
        None => input,
    };
    Rel::Aggregate { input, keys, calls, first_row, rollup }
}

fn first_of(input: Rel, column: Expr, descending: bool) -> Rel {
    let mut conds = Vec::new();
    if column.nullable {
        let mut e = exprs::false_condition();
        e.kind = ExprKind::IsNull { expr: Box::new(column.clone()), negated: true };
        conds.push(e);
    }
    let sorted = Rel::Sort { input: Box::new(input.filter(conds)), keys: vec![SortKey { expr: column, descending }] };
    let one = Expr::constant(Value::Int(1), selkie_types::SqlType::BIGINT);
    Rel::Limit { input: Box::new(sorted), count: Some(one), offset: None }
}

/// Whether an index gives the column's order once equalities have fixed the parts before it.
fn ordered_by(rel: &Rel, column: ColId) -> bool {
    let mut conds: Vec<&Expr> = Vec::new();
    let Some(t) = single_table(rel, &mut conds) else { return false };
    let position = |c: ColId| t.cols.iter().position(|x| *x == c);
    let Some(target) = position(column) else { return false };
    let fixed: Vec<usize> = conds
        .iter()
        .filter_map(|c| match &c.kind {
            ExprKind::Compare { op: CmpOp::Eq, left, right, .. } => match (&left.kind, &right.kind) {
                (ExprKind::Column(c), _) if bind::is_constant(right) => position(*c),
                (_, ExprKind::Column(c)) if bind::is_constant(left) => position(*c),
                _ => None,
            },
            _ => None,
        })
        .collect();
    t.table.indexes.iter().filter(|i| !i.ignored).any(|i| {
        let next = i.parts.iter().find(|p| !fixed.contains(&p.column));
        next.is_some_and(|p| p.column == target && p.prefix.is_none())
    })
}

fn single_table<'r>(rel: &'r Rel, conds: &mut Vec<&'r Expr>) -> Option<&'r TableRel> {
    match rel {
        Rel::Table(t) => Some(t),
        Rel::Filter { input, conds: c } => {
            conds.extend(c);
            single_table(input, conds)
        }
        _ => None,
    }
}
