//! Whether a plan's rows may change with the row of an enclosing loop.

use selkie_expr::{Expr, ExprKind};
use selkie_planner::exprs;
use selkie_planner::plan::{Access, Plan};

/// Whether a plan uses correlated values below `base`: those of loops and queries around it. (From `base` on stand the
/// rows of loops inside.) Something that gives another value each time it is asked counts too.
pub fn uses_outer(plan: &Plan, base: usize) -> bool {
    let mut found = false;
    visit(plan, &mut |e| {
        found = found || !exprs::is_pure(e);
        exprs::walk(e, &mut |x| found |= matches!(x.kind, ExprKind::Correlated(i) if i < base));
    });
    found
}

/// Shows all expressions of a plan that are evaluated with its own correlated values.
fn visit(plan: &Plan, f: &mut dyn FnMut(&Expr)) {
    match plan {
        Plan::OneRow | Plan::SharedScan { .. } => {}
        Plan::Values { rows, .. } => rows.iter().flatten().for_each(f),
        Plan::Scan(s) => {
            s.filter.iter().for_each(&mut *f);
            match &s.access {
                Access::Point { key, .. } => key.iter().for_each(f),
                Access::Ranges { ranges, .. } => {
                    ranges.iter().flat_map(|r| r.low.iter().chain(&r.high)).flat_map(|b| &b.values).for_each(f);
                }
                Access::Full | Access::IndexScan { .. } | Access::Empty => {}
            }
        }
        Plan::Virtual { lookups, .. } => lookups.iter().for_each(|(_, e)| f(e)),
        Plan::Derived { correlated, .. } => correlated.iter().for_each(f),
        Plan::JsonTable(t) => f(&t.document),
        Plan::Filter { input, condition } => {
            f(condition);
            visit(input, f);
        }
        Plan::Project { input, exprs } => {
            exprs.iter().for_each(&mut *f);
            visit(input, f);
        }
        Plan::NestedLoop { left, right, condition, .. } => {
            condition.iter().for_each(&mut *f);
            visit(left, f);
            visit(right, f);
        }
        Plan::HashJoin { left, right, left_keys, right_keys, condition, .. } => {
            left_keys.iter().chain(right_keys).chain(condition).for_each(&mut *f);
            visit(left, f);
            visit(right, f);
        }
        Plan::Aggregate { input, keys, calls, first_row, .. } => {
            keys.iter().chain(first_row).for_each(&mut *f);
            calls.iter().for_each(|c| exprs::visit_aggregate(c, f));
            visit(input, f);
        }
        Plan::Window { input, calls } => {
            calls.iter().for_each(|c| exprs::visit_window(c, f));
            visit(input, f);
        }
        Plan::Sort { input, keys, limit } => {
            keys.iter().map(|k| &k.expr).chain(limit).for_each(&mut *f);
            visit(input, f);
        }
        Plan::Limit { input, count, offset } => {
            count.iter().chain(offset).for_each(&mut *f);
            visit(input, f);
        }
        Plan::Distinct { input, .. } => visit(input, f),
        Plan::Union { inputs } => inputs.iter().for_each(|i| visit(i, f)),
        Plan::SetOperation { left, right, .. } => {
            visit(left, f);
            visit(right, f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{correlated, int, ints, slot};

    #[test]
    fn only_values_from_outside_count() {
        let plan = |e| Plan::Project { input: Box::new(ints(&[&[1]])), exprs: vec![e] };
        assert!(!uses_outer(&plan(slot(0)), 2));
        assert!(uses_outer(&plan(correlated(1)), 2));
        assert!(!uses_outer(&plan(correlated(2)), 2));
        let sorted = Plan::Sort { input: Box::new(plan(slot(0))), keys: vec![], limit: Some(int(1)) };
        assert!(!uses_outer(&sorted, usize::MAX));
    }
}
