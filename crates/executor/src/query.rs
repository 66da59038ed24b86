//! Running a query plan: rows are handed to a sink as they come.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_planner::plan::QueryPlan;
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::build;
use crate::row_input::row_bytes;

/// Receives result rows; the slices have at least as many values as the plan has columns. Returns whether to go on.
pub type RowSink<'a> = &'a mut dyn FnMut(&mut ExecCtx<'_>, &[Value]) -> SqlResult<bool>;

/// Runs a query to its end or until the sink has enough. Returns how many rows it gave.
pub fn run(cx: &mut ExecCtx<'_>, plan: &QueryPlan, sink: RowSink<'_>) -> SqlResult<u64> {
    let outer_plans = if plan.shared.is_empty() {
        None
    } else {
        Some(std::mem::replace(&mut cx.shared_plans, plan.shared.clone()))
    };
    let before = cx.memory;
    let result = run_inner(cx, plan, sink);
    // The operators are gone, and what they held.
    cx.memory = before;
    if let Some(plans) = outer_plans {
        cx.shared_plans = plans;
    }
    result
}

fn run_inner(cx: &mut ExecCtx<'_>, plan: &QueryPlan, sink: RowSink<'_>) -> SqlResult<u64> {
    let mut operator = build(&plan.root)?;
    let mut batch = Batch::new(operator.width());
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
    run(cx, plan, &mut |cx, row| {
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
