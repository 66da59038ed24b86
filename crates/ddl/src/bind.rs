//! Binding and planning with the session's settings.

use std::sync::Arc;

use selkie_catalog::Table;
use selkie_expr::{Expr, ExprKind};
use selkie_parser::ast;
use selkie_planner::plan::{QueryPlan, Statement, TargetTable};
use selkie_planner::{Accessed, Planner};
use selkie_types::{SqlResult, sql_err};

use crate::host::DdlHost;

/// Binds an expression over a table's columns: slot i is column i.
pub fn column_expr(host: &mut dyn DdlHost, expr: &ast::Expr, table: &Table) -> SqlResult<Expr> {
    let mut out = None;
    host.with_plan(&mut |cx| {
        out = Some(selkie_planner::bind_column_syntax(expr, table, cx)?);
        Ok(())
    })?;
    out.ok_or_else(|| sql_err!(ER_UNKNOWN_ERROR))
}

/// Binds what rows of a table must satisfy.
pub fn target(host: &mut dyn DdlHost, table: &Arc<Table>) -> SqlResult<TargetTable> {
    let mut out = None;
    host.with_plan(&mut |cx| {
        out = Some(selkie_planner::bind_target(table, cx)?);
        Ok(())
    })?;
    out.ok_or_else(|| sql_err!(ER_UNKNOWN_ERROR))
}

/// Plans a query; also which tables and columns it uses.
pub fn query(host: &mut dyn DdlHost, query: &ast::Query) -> SqlResult<(Arc<QueryPlan>, Vec<Accessed>)> {
    let statement = ast::Statement::Query(Box::new(query.clone()));
    let mut out = None;
    host.with_plan(&mut |cx| {
        let planned = Planner::plan_full(&statement, cx)?;
        if let Statement::Query(plan) = planned.statement {
            out = Some((plan, planned.accessed));
        }
        Ok(())
    })?;
    out.ok_or_else(|| sql_err!(ER_UNKNOWN_ERROR))
}

/// What an expression may not have where it is computed from a row alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forbidden {
    /// A subquery.
    Subquery,
    /// A function whose value is not determined by its arguments, or a variable: its text.
    Volatile(String),
}

/// Looks for subqueries and, where `deterministic`, for functions and variables that change by themselves.
pub fn forbidden(e: &Expr, deterministic: bool) -> Option<Forbidden> {
    let own = match &e.kind {
        ExprKind::Subquery(_) => Some(Forbidden::Subquery),
        ExprKind::UserVar(name) | ExprKind::SetUserVar(name, _) => Some(Forbidden::Volatile(format!("@`{name}`"))),
        ExprKind::SystemVar(_, name) => Some(Forbidden::Volatile(format!("@@{name}"))),
        ExprKind::Param(_) => Some(Forbidden::Volatile("?".into())),
        ExprKind::Call { function, .. } if deterministic && !function.is_foldable() => {
            Some(Forbidden::Volatile(format!("{}()", function.name())))
        }
        _ => None,
    };
    if own.is_some() {
        return own;
    }
    let mut found = None;
    selkie_planner::exprs::visit_children(e, &mut |child| {
        if found.is_none() {
            found = forbidden(child, deterministic);
        }
    });
    found
}

/// The columns (slots) that an expression reads.
pub fn columns(e: &Expr, out: &mut std::collections::BTreeSet<usize>) {
    if let ExprKind::Column(slot) = e.kind {
        out.insert(slot);
    }
    selkie_planner::exprs::visit_children(e, &mut |child| columns(child, out));
}
