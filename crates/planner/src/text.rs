//! Stored SQL text (views, defaults, generated columns, checks) back to syntax.

use selkie_parser::ast;
use selkie_types::{SqlResult, sql_err};

/// Parses a SELECT.
pub(crate) fn parse_query(text: &str) -> SqlResult<ast::Query> {
    let _ = text;
    Err(sql_err!(ER_INTERNAL_ERROR, "no parser yet"))
}

/// Parses an expression.
pub(crate) fn parse_expr(text: &str) -> SqlResult<ast::Expr> {
    let _ = text;
    Err(sql_err!(ER_INTERNAL_ERROR, "no parser yet"))
}
