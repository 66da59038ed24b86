//! From plan nodes to operators.

use selkie_planner::plan::Plan;
use selkie_types::SqlResult;

use crate::aggregate::Aggregate;
use crate::derived::Derived;
use crate::distinct::Distinct;
use crate::hash_join::{HashJoin, HashJoinPlan};
use crate::json_table::JsonTableScan;
use crate::nested_loop::NestedLoop;
use crate::operator::BoxOperator;
use crate::plan_types::types_of;
use crate::scan::ScanOperator;
use crate::set_operation::SetOperation;
use crate::shared::SharedScan;
use crate::simple::{FilterOperator, LimitOperator, ProjectOperator, UnionOperator, ValuesOperator};
use crate::sort::Sort;
use crate::virtual_scan::VirtualScan;
use crate::window;

/// Makes the operator of a plan node and of all below it.
pub fn build<'p>(plan: &'p Plan) -> SqlResult<BoxOperator<'p>> {
    Ok(match plan {
        Plan::OneRow => Box::new(ValuesOperator::one_row()),
        Plan::Values { rows, types } => Box::new(ValuesOperator::new(rows, types.len())),
        Plan::Scan(scan) => Box::new(ScanOperator::new(scan)),
        Plan::Virtual { db, name, columns, lookups, .. } => Box::new(VirtualScan::new(db, name, columns, lookups)),
        Plan::SharedScan { id, delta, types } => Box::new(SharedScan::new(*id, *delta, types.len())),
        Plan::Derived { plan, correlated } => Box::new(Derived::new(plan, correlated, build(&plan.root)?)),
        Plan::Filter { input, condition } => Box::new(FilterOperator::new(build(input)?, condition)),
        Plan::Project { input, exprs } => Box::new(ProjectOperator::new(build(input)?, exprs)),
        Plan::NestedLoop { kind, left, right, base, right_width, condition, dependent } => Box::new(NestedLoop::new(
            *kind,
            build(left)?,
            build(right)?,
            right,
            *base,
            *right_width,
            condition.as_ref(),
            *dependent,
        )),
        Plan::HashJoin { kind, left, right, left_keys, right_keys, right_width, null_safe, condition, null_aware } => {
            let join = HashJoinPlan {
                kind: *kind,
                left_keys,
                right_keys,
                right_width: *right_width,
                null_safe,
                condition: condition.as_ref(),
                null_aware: *null_aware,
                right,
            };
            Box::new(HashJoin::new(join, build(left)?, build(right)?))
        }
        Plan::Aggregate { input, keys, calls, rollup, sorted, first_row } => {
            Box::new(Aggregate::new(build(input)?, keys, calls, *rollup, *sorted, first_row))
        }
        Plan::Sort { input, keys, limit } => Box::new(Sort::new(build(input)?, keys.into(), limit.as_ref())),
        Plan::Limit { input, count, offset } => {
            Box::new(LimitOperator::new(build(input)?, count.as_ref(), offset.as_ref()))
        }
        Plan::Distinct { input, width } => Box::new(Distinct::new(build(input)?, *width, &types_of(input))),
        Plan::Union { inputs } => {
            let inputs = inputs.iter().map(build).collect::<SqlResult<Vec<_>>>()?;
            Box::new(UnionOperator::new(inputs))
        }
        Plan::SetOperation { left, right, except, all } => {
            Box::new(SetOperation::new(build(left)?, build(right)?, *except, *all, &types_of(left)))
        }
        Plan::Window { input, calls } => window::build(build(input)?, calls),
        Plan::JsonTable(table) => Box::new(JsonTableScan::new(table, types_of(plan).len())),
    })
}

/// As [`build`], for SQL_CALC_FOUND_ROWS: the outermost LIMIT counts all rows that it could have given.
pub fn build_counting<'p>(plan: &'p Plan) -> SqlResult<BoxOperator<'p>> {
    Ok(match plan {
        Plan::Project { input, exprs } => Box::new(ProjectOperator::new(build_counting(input)?, exprs)),
        Plan::Limit { input, count, offset } => {
            Box::new(LimitOperator::counting(build_unlimited(input)?, count.as_ref(), offset.as_ref()))
        }
        other => build(other)?,
    })
}

/// As [`build`], but a sort gives all rows.
fn build_unlimited<'p>(plan: &'p Plan) -> SqlResult<BoxOperator<'p>> {
    Ok(match plan {
        Plan::Project { input, exprs } => Box::new(ProjectOperator::new(build_unlimited(input)?, exprs)),
        Plan::Sort { input, keys, .. } => Box::new(Sort::new(build(input)?, keys.into(), None)),
        other => build(other)?,
    })
}
