//! Walking syntax in place: [`children`] shows the direct operands of an expression, [`query`] gives its subquery.

use selkie_parser::ast::{Expr, FrameBound, OrderItem, Query, Window, WindowSpec};

/// Shows the direct operands of an expression, subqueries aside.
pub fn children(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match e {
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Param(_)
        | Expr::UserVar(_)
        | Expr::SysVar(_)
        | Expr::Default(_)
        | Expr::Ignore
        | Expr::InsertValue(_)
        | Expr::NextValue(_)
        | Expr::PreviousValue(_)
        | Expr::SetVal { .. }
        | Expr::Exists(_)
        | Expr::Subquery(_) => {}
        Expr::UserVarAssign { value: a, .. }
        | Expr::Unary { expr: a, .. }
        | Expr::IsNull { expr: a, .. }
        | Expr::IsTruth { expr: a, .. }
        | Expr::Cast { expr: a, .. }
        | Expr::ConvertUsing { expr: a, .. }
        | Expr::Collate { expr: a, .. }
        | Expr::Extract { expr: a, .. }
        | Expr::GetFormat { locale: a, .. }
        | Expr::InSubquery { expr: a, .. }
        | Expr::Quantified { left: a, .. } => f(a),
        Expr::Binary { left, right, .. } => {
            f(left);
            f(right);
        }
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => list.iter_mut().for_each(f),
        Expr::Like { expr, pattern, escape, .. } => {
            f(expr);
            f(pattern);
            if let Some(e) = escape {
                f(e);
            }
        }
        Expr::Regexp { expr, pattern, .. } => {
            f(expr);
            f(pattern);
        }
        Expr::Between { expr, low, high, .. } => {
            f(expr);
            f(low);
            f(high);
        }
        Expr::InList { expr, list, .. } => {
            f(expr);
            list.iter_mut().for_each(f);
        }
        Expr::Case { operand, branches, else_expr } => {
            if let Some(o) = operand {
                f(o);
            }
            for b in branches {
                f(&mut b.when);
                f(&mut b.then);
            }
            if let Some(e) = else_expr {
                f(e);
            }
        }
        Expr::Trim { what, expr, .. } => {
            if let Some(w) = what {
                f(w);
            }
            f(expr);
        }
        Expr::DateArith { date, value, .. } => {
            f(date);
            f(value);
        }
        Expr::TimestampDiff { from, to, .. } => {
            f(from);
            f(to);
        }
        Expr::Char { args, .. } => args.iter_mut().for_each(f),
        Expr::WeightString(w) => f(&mut w.expr),
        Expr::Match { columns, against, .. } => {
            columns.iter_mut().for_each(&mut *f);
            f(against);
        }
        Expr::Function(call) => {
            call.args.iter_mut().for_each(&mut *f);
            items(&mut call.order_by, f);
            items(&mut call.within_group, f);
            if let Some(Window::Spec(spec)) = &mut call.over {
                window(spec, f);
            }
        }
    }
}

fn items(list: &mut [OrderItem], f: &mut dyn FnMut(&mut Expr)) {
    list.iter_mut().for_each(|i| f(&mut i.expr));
}

/// Shows the expressions of a window.
pub fn window(spec: &mut WindowSpec, f: &mut dyn FnMut(&mut Expr)) {
    spec.partition_by.iter_mut().for_each(&mut *f);
    items(&mut spec.order_by, f);
    if let Some(frame) = &mut spec.frame {
        for bound in [Some(&mut frame.start), frame.end.as_mut()].into_iter().flatten() {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                f(e);
            }
        }
    }
}

/// The subquery that an expression itself has.
pub fn query(e: &mut Expr) -> Option<&mut Query> {
    match e {
        Expr::Exists(q) | Expr::Subquery(q) => Some(q),
        Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => Some(query),
        _ => None,
    }
}
