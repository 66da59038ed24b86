//! A query in FROM that runs as a query of its own: with its own correlated values and shared results.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_planner::plan::{QueryPlan, SharedPlan};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};

/// A running derived table. While its input runs, the context holds what belongs to it, and gets the outer query's back.
pub struct Derived<'p> {
    plan: &'p QueryPlan,
    correlated: &'p [Expr],
    input: BoxOperator<'p>,
    started: bool,
    /// Correlated values of the inner query.
    values: Vec<Value>,
    shared: Vec<Arc<SharedPlan>>,
    batch: Batch,
}

impl<'p> Derived<'p> {
    /// Runs `plan`, whose tree is `input`, with the values of `correlated`.
    pub fn new(plan: &'p QueryPlan, correlated: &'p [Expr], input: BoxOperator<'p>) -> Derived<'p> {
        let batch = Batch::new(input.width());
        Derived { plan, correlated, input, started: false, values: Vec::new(), shared: Vec::new(), batch }
    }

    fn swap(&mut self, cx: &mut ExecCtx<'_>) {
        std::mem::swap(&mut cx.correlated, &mut self.values);
        if !self.plan.shared.is_empty() {
            std::mem::swap(&mut cx.shared_plans, &mut self.shared);
        }
    }
}

impl Operator for Derived<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        if !self.started {
            self.started = true;
            self.values.clear();
            for e in self.correlated {
                let v = e.eval(&[], cx)?;
                self.values.push(v);
            }
            self.shared.clone_from(&self.plan.shared);
        }
        let width = self.plan.columns.len();
        let whole = self.input.width() == width;
        self.swap(cx);
        let result = if whole {
            self.input.next(cx, out)
        } else {
            self.batch.wanted = out.wanted;
            self.input.next(cx, &mut self.batch)
        };
        self.swap(cx);
        result?;
        if !whole {
            out.reset(width);
            for i in 0..self.batch.len() {
                out.push(self.batch.row_mut(i)[..width].iter_mut().map(std::mem::take));
            }
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.started = false;
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.plan.columns.len()
    }
}
