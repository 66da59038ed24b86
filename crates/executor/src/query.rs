//! Running a query plan: rows are handed to a sink as they come.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_planner::plan::QueryPlan;
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::build::{build, build_counting};
use crate::context::ExecCtx;
use crate::row_input::row_bytes;

/// Receives result rows; the slices have at least as many values as the plan has columns. Returns whether to go on.
pub type RowSink<'a> = &'a mut dyn FnMut(&mut ExecCtx<'_>, &[Value]) -> SqlResult<bool>;

/// Runs a query to its end or until the sink has enough. Returns how many rows it gave; with SQL_CALC_FOUND_ROWS the
/// rows without LIMIT are in [`ExecCtx::found_rows`] then.
pub fn run(cx: &mut ExecCtx<'_>, plan: &QueryPlan, sink: RowSink<'_>) -> SqlResult<u64> {
    run_wanting(cx, plan, Batch::ROWS, sink)
}

/// As [`run`] for a sink that will have enough after about `wanted` rows.
pub(crate) fn run_wanting(cx: &mut ExecCtx<'_>, plan: &QueryPlan, wanted: usize, sink: RowSink<'_>) -> SqlResult<u64> {
    let outer_plans =
        if plan.shared.is_empty() { None } else { Some(std::mem::replace(&mut cx.shared_plans, plan.shared.clone())) };
    let before = cx.memory;
    let result = run_inner(cx, plan, wanted, sink);
    // The operators are gone, and what they held.
    cx.memory = before;
    if let Some(plans) = outer_plans {
        cx.shared_plans = plans;
    }
    result
}

fn run_inner(cx: &mut ExecCtx<'_>, plan: &QueryPlan, wanted: usize, sink: RowSink<'_>) -> SqlResult<u64> {
    let mut operator = if plan.calc_found_rows { build_counting(&plan.root)? } else { build(&plan.root)? };
    let mut batch = Batch::new(operator.width());
    batch.wanted = wanted.clamp(1, Batch::ROWS);
    let mut rows = 0;
    loop {
        operator.next(cx, &mut batch)?;
        if batch.is_empty() {
            return Ok(rows);
        }
        cx.check_killed()?;
        for row in batch.rows() {
            rows += 1;
            if !sink(cx, row)? {
                return Ok(rows);
            }
        }
    }
}

/// Runs a query and keeps its first `max_rows` rows, flat, exactly the plan's columns (of a query without columns: one
/// value for each row, so that rows can be counted).
pub fn collect(cx: &mut ExecCtx<'_>, plan: &QueryPlan, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
    let width = plan.columns.len();
    let mut rows: Vec<Value> = Vec::new();
    let mut n = 0;
    let mut bytes = 0;
    if max_rows == 0 {
        return Ok(Arc::new(rows));
    }
    run_wanting(cx, plan, max_rows, &mut |cx, row| {
        let row = if width == 0 { &[Value::Int(1)] } else { &row[..width] };
        let more = row_bytes(row);
        bytes += more;
        cx.charge(more as isize)?;
        rows.extend_from_slice(row);
        n += 1;
        Ok(n < max_rows)
    })?;
    cx.charge(bytes as isize)?;
    Ok(Arc::new(rows))
}

#[cfg(test)]
mod tests {
    use selkie_planner::plan::Plan;

    use super::*;
    use crate::testing::{Fixture, asc, int, ints, query, slot};

    #[test]
    fn found_rows_count_past_the_limit() {
        let mut f = Fixture::default();
        let rows = || Box::new(ints(&[&[3], &[1], &[2], &[5], &[4]]));
        let sorted = || Box::new(Plan::Sort { input: rows(), keys: vec![asc(slot(0))], limit: Some(int(3)) });
        let mut check = |input: Box<Plan>, count, offset, expected: &[i64]| {
            let limit = Plan::Limit { input, count: Some(int(count)), offset: Some(int(offset)) };
            let mut plan = query(Plan::Project { input: Box::new(limit), exprs: vec![slot(0)] }, 1);
            plan.calc_found_rows = true;
            let (got, found) = f.run(|cx| (collect(cx, &plan, usize::MAX).unwrap(), cx.found_rows));
            assert_eq!(*got, expected.iter().map(|i| Value::Int(*i)).collect::<Vec<_>>());
            assert_eq!(found, Some(5));
        };
        check(rows(), 2, 0, &[3, 1]);
        check(rows(), 9, 3, &[5, 4]);
        check(rows(), 0, 0, &[]);
        check(rows(), 1, 9, &[]);
        check(sorted(), 2, 1, &[2, 3]);
    }
}
