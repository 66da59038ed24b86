//! Results that are computed once and read in several places: common table expressions, recursive ones too.
//!
//! A shared plan depends on no outer row, so its rows are kept for the whole execution, across subqueries and derived
//! tables: the same plan object always has the same rows.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_planner::plan::{Plan, SharedPlan};
use selkie_types::{SqlResult, Value, sql_err};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{Operator, build};
use crate::row_input::row_bytes;
use crate::row_set::RowSet;

/// Reads a shared result, or its last round.
pub struct SharedScan {
    id: usize,
    delta: bool,
    width: usize,
    rows: Option<Arc<Vec<Value>>>,
    next: usize,
}

impl SharedScan {
    /// Reads the shared plan `id`.
    pub fn new(id: usize, delta: bool, width: usize) -> SharedScan {
        SharedScan { id, delta, width, rows: None, next: 0 }
    }
}

impl Operator for SharedScan {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width);
        let rows = match &self.rows {
            Some(r) => r,
            None => {
                let rows = if self.delta { cx.deltas.get(&self.id).cloned() } else { Some(rows_of(cx, self.id)?) };
                let rows =
                    rows.ok_or_else(|| sql_err!(ER_INTERNAL_ERROR, "a recursive table is read outside of itself"))?;
                self.rows.insert(rows)
            }
        };
        while !out.is_full() && self.next < rows.len() {
            out.push_slice(&rows[self.next..self.next + self.width]);
            self.next += self.width;
        }
        Ok(())
    }

    fn rewind(&mut self, _cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        if self.delta {
            self.rows = None;
        }
        self.next = 0;
        Ok(())
    }

    fn width(&self) -> usize {
        self.width
    }
}

/// The rows of a shared plan of the query being run, flat.
pub fn rows_of(cx: &mut ExecCtx<'_>, id: usize) -> SqlResult<Arc<Vec<Value>>> {
    let Some(plan) = cx.shared_plans.get(id).cloned() else {
        return Err(sql_err!(ER_INTERNAL_ERROR, "a shared result without a plan"));
    };
    let key = Arc::as_ptr(&plan) as usize;
    if let Some(rows) = cx.shared.get(&key) {
        return Ok(rows.clone());
    }
    let outer = std::mem::take(&mut cx.correlated);
    let rows = compute(cx, &plan);
    cx.correlated = outer;
    cx.deltas.remove(&id);
    let rows = Arc::new(rows?);
    cx.shared.insert(key, rows.clone());
    Ok(rows)
}

fn compute(cx: &mut ExecCtx<'_>, plan: &SharedPlan) -> SqlResult<Vec<Value>> {
    let mut seen = plan.distinct.then(|| RowSet::new(&plan.types));
    let width = plan.types.len();
    let mut all = Vec::new();
    run(cx, &plan.seed, width, seen.as_mut(), &mut all)?;
    let Some(recursive) = &plan.recursive else { return Ok(all) };
    let mut start = 0;
    let mut rounds = 0;
    while start < all.len() {
        if rounds >= cx.limits.max_recursive_iterations {
            cx.diag.warn(sql_err!(ER_QUERY_RESULT_INCOMPLETE, "max_recursive_iterations =", rounds));
            break;
        }
        rounds += 1;
        let delta = all[start..].to_vec();
        start = all.len();
        cx.deltas.insert(plan.id, Arc::new(delta));
        // What a subquery gave may have come from the last round.
        cx.subqueries.clear();
        run(cx, recursive, width, seen.as_mut(), &mut all)?;
    }
    Ok(all)
}

/// Runs a part and appends its rows, those not seen before if there is a set.
fn run(
    cx: &mut ExecCtx<'_>,
    plan: &Plan,
    width: usize,
    mut seen: Option<&mut RowSet>,
    all: &mut Vec<Value>,
) -> SqlResult<()> {
    let mut operator = build(plan)?;
    let mut batch = Batch::new(operator.width());
    loop {
        operator.next(cx, &mut batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        cx.check_killed()?;
        for i in 0..batch.len() {
            let row = &mut batch.row_mut(i)[..width];
            if let Some(set) = seen.as_deref_mut()
                && !set.insert(cx, row)?
            {
                continue;
            }
            cx.charge(row_bytes(row) as isize)?;
            all.extend(row.iter_mut().map(std::mem::take));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selkie_expr::CmpOp;
    use selkie_planner::plan::{JoinKind, Plan, SharedPlan};

    use crate::query::collect;
    use crate::testing::{Fixture, INT, add, compare, correlated, int, ints, query, shown, slot};

    fn scan(delta: bool) -> Plan {
        Plan::SharedScan { id: 0, delta, types: vec![INT] }
    }

    /// `WITH RECURSIVE r AS (SELECT 1 UNION [ALL] SELECT n + 1 … WHERE n < last)`
    fn counting(distinct: bool, last: i64) -> Arc<SharedPlan> {
        let below = Plan::Filter { input: Box::new(scan(true)), condition: compare(CmpOp::Lt, slot(0), int(last)) };
        let recursive = Plan::Project { input: Box::new(below), exprs: vec![add(slot(0), int(1))] };
        Arc::new(SharedPlan {
            id: 0,
            seed: ints(&[&[1], &[1]]),
            recursive: Some(recursive),
            distinct,
            types: vec![INT],
        })
    }

    fn rows(f: &mut Fixture, root: Plan, columns: usize, shared: Arc<SharedPlan>) -> Vec<String> {
        let mut plan = query(root, columns);
        plan.shared = vec![shared];
        let rows = f.run(|cx| collect(cx, &plan, usize::MAX)).unwrap();
        rows.chunks(columns).map(shown).collect()
    }

    #[test]
    fn recursion_ends_when_a_round_gives_nothing_new() {
        let mut f = Fixture::default();
        assert_eq!(rows(&mut f, scan(false), 1, counting(true, 3)), ["1", "2", "3"]);
        assert_eq!(rows(&mut f, scan(false), 1, counting(false, 2)), ["1", "1", "2", "2"]);
        assert_eq!(f.diag.total, 0);
    }

    #[test]
    fn too_many_rounds_end_with_a_warning() {
        let mut f = Fixture::default();
        f.max_recursive_iterations = 3;
        assert_eq!(rows(&mut f, scan(false), 1, counting(true, 1000)), ["1", "2", "3", "4"]);
        assert_eq!(
            f.diag.conditions[0].1.message(),
            "Query execution was interrupted. The query exceeded max_recursive_iterations = 3. The query result may be incomplete"
        );
    }

    #[test]
    fn a_shared_result_is_read_inside_of_derived_tables_and_loops() {
        let shared = counting(true, 2);
        let mut inner = query(
            Plan::Filter { input: Box::new(scan(false)), condition: compare(CmpOp::Ge, slot(0), correlated(0)) },
            1,
        );
        inner.shared = vec![shared.clone()];
        let plan = Plan::NestedLoop {
            kind: JoinKind::Inner,
            left: Box::new(scan(false)),
            right: Box::new(Plan::Derived { plan: Arc::new(inner), correlated: vec![correlated(0)] }),
            base: 0,
            right_width: 1,
            condition: None,
            dependent: true,
        };
        assert_eq!(rows(&mut Fixture::default(), plan, 2, shared), ["1,1", "1,2", "2,2"]);
    }
}
