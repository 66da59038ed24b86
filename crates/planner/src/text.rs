//! Stored SQL text (views, defaults, generated columns, checks) back to syntax.

use selkie_parser::{ParseError, ParseOptions, ast};
use selkie_types::{SqlError, SqlResult, codes, sql_err};

/// The parser's error as users see it.
pub fn syntax_error(e: &ParseError) -> SqlError {
    let state = match e.code() {
        codes::ER_PARSE_ERROR => "42000",
        _ => "HY000",
    };
    SqlError::raw(e.code(), state, e.to_string())
}

/// Parses a SELECT.
pub(crate) fn parse_query(text: &str) -> SqlResult<ast::Query> {
    let parsed = selkie_parser::parse(text.as_bytes(), &ParseOptions::default()).map_err(|e| syntax_error(&e))?;
    match parsed.statement {
        ast::Statement::Query(q) => Ok(*q),
        _ => Err(sql_err!(ER_INTERNAL_ERROR, "a view's text is no query")),
    }
}

/// Parses an expression.
pub(crate) fn parse_expr(text: &str) -> SqlResult<ast::Expr> {
    selkie_parser::parse_expr(text.as_bytes(), &ParseOptions::default()).map_err(|e| syntax_error(&e))
}
