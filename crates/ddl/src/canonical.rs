//! The text in which expressions are kept in the dictionary.

use selkie_parser::ast::{Expr, Literal, Query, Statement, UnaryOp};
use selkie_parser::{ParseOptions, parse_expr};
use selkie_types::{SqlError, SqlResult, codes, sql_err};

/// An expression's canonical text.
pub fn text(expr: &Expr) -> String {
    selkie_parser::display::expr(expr)
}

/// Reads back what [`text`] made.
pub fn parse(text: &str) -> SqlResult<Expr> {
    parse_expr(text.as_bytes(), &ParseOptions::default())
        .map_err(|e| SqlError::with_message(codes::ER_PARSE_ERROR, e.to_string()))
}

/// Reads a query.
pub fn parse_query(text: &str) -> SqlResult<Query> {
    let parsed = selkie_parser::parse(text.as_bytes(), &ParseOptions::default())
        .map_err(|e| SqlError::with_message(codes::ER_PARSE_ERROR, e.to_string()))?;
    match parsed.statement {
        Statement::Query(q) => Ok(*q),
        _ => Err(sql_err!(ER_INTERNAL_ERROR, "a view's text is no query")),
    }
}

/// Whether a default stands in parentheses in SHOW CREATE TABLE: operators do, calls and names do not.
pub fn needs_parentheses(expr: &Expr) -> bool {
    !matches!(
        expr,
        Expr::Literal(_)
            | Expr::Column(_)
            | Expr::Function(_)
            | Expr::Cast { .. }
            | Expr::ConvertUsing { .. }
            | Expr::Extract { .. }
            | Expr::Trim { .. }
            | Expr::TimestampDiff { .. }
            | Expr::GetFormat { .. }
            | Expr::Char { .. }
            | Expr::WeightString(_)
            | Expr::Default(_)
            | Expr::NextValue(_)
            | Expr::PreviousValue(_)
            | Expr::SetVal { .. }
            | Expr::Row(_)
    )
}

/// Whether an expression is a literal, a sign before a number included.
pub fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Unary { op: UnaryOp::Neg, expr } => {
            matches!(&**expr, Expr::Literal(Literal::Int(_) | Literal::Decimal(_) | Literal::Float(_)))
        }
        _ => false,
    }
}

/// Whether an expression is `CURRENT_TIMESTAMP[(n)]` or a synonym, and the digits that it asks for.
pub fn now_digits(expr: &Expr) -> Option<Option<u64>> {
    let Expr::Function(call) = expr else { return None };
    let now = ["current_timestamp", "now", "localtime", "localtimestamp"].iter().any(|n| call.name.is(n));
    if !now || call.db.is_some() {
        return None;
    }
    match &call.args[..] {
        [] => Some(None),
        [Expr::Literal(Literal::Int(n))] => Some(Some(*n)),
        _ => None,
    }
}
