//! Expressions and queries as MariaDB 10.11 showed them (`SHOW CREATE VIEW`), and that what is shown reads back.

use selkie_parser::ast::Statement;
use selkie_parser::{ParseOptions, display, parse, parse_expr};

/// Pairs of lines: what was written and what was shown.
fn pairs(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

fn query_text(sql: &str) -> Result<String, String> {
    match parse(sql.as_bytes(), &ParseOptions::default()) {
        Ok(parsed) => match parsed.statement {
            Statement::Query(query) => Ok(display::query(&query)),
            other => Err(format!("no query: {other:?}")),
        },
        Err(error) => Err(error.to_string()),
    }
}

fn expr_text(sql: &str) -> Result<String, String> {
    parse_expr(sql.as_bytes(), &ParseOptions::default())
        .map(|expr| display::expr(&expr))
        .map_err(|error| error.to_string())
}

#[test]
fn expressions_are_shown_as_mariadb_shows_them() {
    let mut failures = Vec::new();
    for (written, shown) in pairs(include_str!("fixtures/exprs.txt")) {
        let ours = expr_text(written);
        if ours.as_deref() != Ok(shown) {
            failures.push(format!("{written}\n  shown: {shown}\n  ours:  {ours:?}"));
        }
        // And again, from what was shown.
        let again = expr_text(shown);
        if again != ours {
            failures.push(format!("{shown}\n  again: {again:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn queries_are_shown_as_mariadb_shows_them() {
    let mut failures = Vec::new();
    for (written, shown) in pairs(include_str!("fixtures/queries.txt")) {
        let ours = query_text(written);
        if ours.as_deref() != Ok(shown) {
            failures.push(format!("{written}\n  shown: {shown}\n  ours:  {ours:?}"));
        }
        let again = query_text(shown);
        if again != ours {
            failures.push(format!("{shown}\n  again: {again:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
