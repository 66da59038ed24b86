//! Subqueries as values and conditions; running them is the executor's.

use selkie_types::{SqlResult, Value, sql_err};

use super::{ValueCompare, truth};
use crate::context::EvalContext;
use crate::ir::{CmpOp, Expr, SubqueryExpr, SubqueryKind};

fn eval_all(es: &[Expr], row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Vec<Value>> {
    es.iter().map(|e| e.eval(row, ctx)).collect()
}

/// The value of a subquery in its use.
pub(super) fn eval(s: &SubqueryExpr, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    let correlated = eval_all(&s.correlated, row, ctx)?;
    let width = s.query.columns.len().max(1);
    match &s.kind {
        SubqueryKind::Scalar => {
            let rows = ctx.run_subquery(&s.query, correlated, 2)?;
            if rows.len() > width {
                return Err(sql_err!(ER_SUBQUERY_NO_1_ROW));
            }
            Ok(rows.first().cloned().unwrap_or_default())
        }
        SubqueryKind::Exists { negated } => {
            let rows = ctx.run_subquery(&s.query, correlated, 1)?;
            Ok(Value::bool(rows.is_empty() == *negated))
        }
        SubqueryKind::In { left, negated, .. } => {
            let needle = eval_all(left, row, ctx)?;
            let found = ctx.in_subquery(&s.query, correlated, &needle)?;
            Ok(truth(found.map(|f| f != *negated)))
        }
        SubqueryKind::RowCompare { op, left, collations } => {
            let needle = eval_all(left, row, ctx)?;
            let rows = ctx.run_subquery(&s.query, correlated, 2)?;
            if rows.len() > width {
                return Err(sql_err!(ER_SUBQUERY_NO_1_ROW));
            }
            if rows.is_empty() {
                return Ok(truth(if *op == CmpOp::NullSafeEq {
                    Some(needle.iter().all(Value::is_null))
                } else {
                    None
                }));
            }
            let by: Vec<ValueCompare> =
                (0..width).map(|i| ValueCompare::new(collations.get(i).copied().flatten())).collect();
            Ok(truth(compare_rows(*op, &needle, &rows, &by)))
        }
        SubqueryKind::Quantified { op, all, left, collation } => {
            let needle = left.eval(row, ctx)?;
            let rows = ctx.run_subquery(&s.query, correlated, usize::MAX)?;
            let by = ValueCompare::new(*collation);
            // ANY is a disjunction, ALL a conjunction over the rows.
            let mut result = Some(*all);
            for v in rows.iter().step_by(width) {
                match by.test(*op, &needle, v) {
                    Some(b) if b != *all => return Ok(Value::bool(b)),
                    Some(_) => {}
                    None => result = None,
                }
            }
            Ok(truth(result))
        }
    }
}

/// Row comparison, column by column, with three-valued logic.
fn compare_rows(op: CmpOp, a: &[Value], b: &[Value], by: &[ValueCompare]) -> Option<bool> {
    let columns = a.iter().zip(b).zip(by);
    match op {
        CmpOp::NullSafeEq => Some(columns.into_iter().all(|((a, b), by)| by.equal(a, b))),
        CmpOp::Eq | CmpOp::Ne => {
            let mut unknown = false;
            for ((a, b), by) in columns {
                match by.test(CmpOp::Eq, a, b) {
                    Some(true) => {}
                    Some(false) => return Some(op == CmpOp::Ne),
                    None => unknown = true,
                }
            }
            if unknown { None } else { Some(op == CmpOp::Eq) }
        }
        _ => {
            for ((a, b), by) in columns {
                if a.is_null() || b.is_null() {
                    return None;
                }
                match by.order(a, b) {
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Less => return Some(matches!(op, CmpOp::Lt | CmpOp::Le)),
                    std::cmp::Ordering::Greater => return Some(matches!(op, CmpOp::Gt | CmpOp::Ge)),
                }
            }
            Some(matches!(op, CmpOp::Le | CmpOp::Ge))
        }
    }
}
