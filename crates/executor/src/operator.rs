//! The operators' common interface, and building them from a plan.

use selkie_planner::plan::Plan;
use selkie_types::SqlResult;

use crate::batch::Batch;
use crate::context::ExecCtx;

/// A running operator. It borrows its plan.
pub trait Operator {
    /// Replaces the contents of `out` (which has the operator's width) with the next rows, at most about `out.wanted`.
    /// An empty batch means the end.
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()>;

    /// Starts over, for the next row of an enclosing nested loop (correlated values may have changed).
    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()>;

    /// Values in each row it produces.
    fn width(&self) -> usize;
}

/// An operator of a plan with lifetime `'p`.
pub type BoxOperator<'p> = Box<dyn Operator + 'p>;

/// Makes the operator tree of a plan.
pub fn build<'p>(plan: &'p Plan) -> SqlResult<BoxOperator<'p>> {
    crate::build::build(plan)
}
