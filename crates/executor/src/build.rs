//! From plan nodes to operators.

use selkie_planner::plan::Plan;
use selkie_types::SqlResult;

use crate::operator::BoxOperator;
use crate::plan_types::types_of;
use crate::scan::ScanOperator;
use crate::simple::{DistinctOperator, FilterOperator, LimitOperator, ProjectOperator, UnionOperator, ValuesOperator};

/// Makes the operator of a plan node and of all below it.
pub fn build<'p>(plan: &'p Plan) -> SqlResult<BoxOperator<'p>> {
    Ok(match plan {
        Plan::OneRow => Box::new(ValuesOperator::one_row()),
        Plan::Values { rows, types } => Box::new(ValuesOperator::new(rows, types.len())),
        Plan::Scan(scan) => Box::new(ScanOperator::new(scan)),
        Plan::Filter { input, condition } => Box::new(FilterOperator::new(build(input)?, condition)),
        Plan::Project { input, exprs } => Box::new(ProjectOperator::new(build(input)?, exprs)),
        Plan::Limit { input, count, offset } => {
            Box::new(LimitOperator::new(build(input)?, count.as_ref(), offset.as_ref()))
        }
        Plan::Distinct { input, width } => Box::new(DistinctOperator::new(build(input)?, *width, &types_of(input))),
        Plan::Union { inputs } => {
            let inputs = inputs.iter().map(build).collect::<SqlResult<Vec<_>>>()?;
            Box::new(UnionOperator::new(inputs))
        }
        other => return Err(selkie_types::sql_err!(ER_NOT_SUPPORTED_YET, format!("{other:?}"))),
    })
}
