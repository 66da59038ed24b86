//! Whether a plan with parameters does what the plan with the literals does.
//!
//! Literals are planned with regard to their value: `'5'` is a number beside an integer column, a two-digit year means
//! another beside a YEAR column. Where that shows, the plan with parameters is not taken, neither for this value nor for
//! others.

use selkie_expr::{Expr, ExprKind};
use selkie_planner::explain::{ExplainRow, explain};
use selkie_planner::plan::{self, OutputColumn, visit_exprs};
use selkie_types::SqlType;

use crate::dml::Ready;

/// Whether `planned` (with parameters) may stand for `own` (the text's own plan), whatever the literals' values.
pub fn does_the_same(planned: &Ready, own: &Ready) -> bool {
    let (a, b) = (&planned.planned, &own.planned);
    !planned.reads_user_vars
        && !has_years(planned)
        && a.accessed == b.accessed
        && same_result(&a.statement, &b.statement)
        && same_reads(&explain(&a.statement), &explain(&b.statement))
        && same_comparisons(&a.statement, &b.statement)
}

fn has_years(r: &Ready) -> bool {
    r.tables.iter().any(|t| t.columns.iter().any(|c| matches!(c.ty, SqlType::Year(_))))
}

/// Whether clients see the same columns.
fn same_result(a: &plan::Statement, b: &plan::Statement) -> bool {
    let columns = |s: &plan::Statement| -> Vec<OutputColumn> {
        match s {
            plan::Statement::Query(q) => q.columns.clone(),
            plan::Statement::Insert(i) => i.returning.as_ref().map(|(_, c)| c.clone()).unwrap_or_default(),
            plan::Statement::Delete(d) => d.returning.as_ref().map(|(_, c)| c.clone()).unwrap_or_default(),
            plan::Statement::Update(_) | plan::Statement::Do(_) => Vec::new(),
        }
    };
    let same_column = |x: &OutputColumn, y: &OutputColumn| {
        let origin = |c: &OutputColumn| c.origin.as_ref().map(|o| format!("{o:?}"));
        x.name == y.name && x.ty == y.ty && x.nullable == y.nullable && origin(x) == origin(y)
    };
    let (x, y) = (columns(a), columns(b));
    x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| same_column(x, y))
}

/// Whether tables are read in the same way, whatever the estimates.
fn same_reads(a: &[ExplainRow], b: &[ExplainRow]) -> bool {
    let comparable = |r: &ExplainRow| ExplainRow { rows: None, scan: None, ..r.clone() };
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| comparable(x) == comparable(y))
}

/// Whether columns are converted for comparison in the same way, and no parameter's text becomes a number.
fn same_comparisons(planned: &plan::Statement, own: &plan::Statement) -> bool {
    let mut text_as_number = false;
    let converted = |s: &plan::Statement, text_as_number: &mut bool| {
        let mut casts = Vec::new();
        visit_exprs(s, &mut |e| {
            let ExprKind::Cast(inner) = &e.kind else { return };
            match &inner.kind {
                ExprKind::Param(_) => *text_as_number |= inner.ty.is_string() && e.ty.is_numeric(),
                ExprKind::Const(_) => {}
                _ => casts.push((shown(inner), family(&e.ty))),
            }
        });
        casts.sort();
        casts
    };
    let same = converted(planned, &mut text_as_number) == converted(own, &mut false);
    same && !text_as_number
}

fn shown(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Column(slot) => format!("column {slot}"),
        ExprKind::Correlated(slot) => format!("outer {slot}"),
        _ => String::new(),
    }
}

/// The kind of a type, and for decimals and times how many digits count after the point.
fn family(ty: &SqlType) -> (u8, u8) {
    match ty {
        SqlType::Null => (0, 0),
        SqlType::Int { unsigned, .. } => (1, u8::from(*unsigned)),
        SqlType::Bit(_) => (2, 0),
        SqlType::Year(_) => (3, 0),
        SqlType::Float { .. } => (4, 0),
        SqlType::Double { .. } => (5, 0),
        SqlType::Decimal { scale, .. } => (6, *scale),
        SqlType::Date => (7, 0),
        SqlType::Time { fsp } => (8, *fsp),
        SqlType::DateTime { fsp } => (9, *fsp),
        SqlType::Timestamp { fsp } => (10, *fsp),
        SqlType::Text { .. } => (11, 0),
        SqlType::Enum(_) => (12, 0),
        SqlType::Set(_) => (13, 0),
    }
}
