//! The SQL dialect of MariaDB 10.11: lexer, syntax tree and grammar.
//!
//! It turns the bytes of one statement into a [`ast::Statement`], and knows nothing of tables, types'
//! storage, privileges or sessions: whatever depends on those is decided by its users. What of a
//! session's state does bear on the grammar (parts of `sql_mode`) is handed in as [`ParseMode`].
//!
//! [`parse`] reads one statement and says where the next begins; [`ParseError`] has MariaDB's words.

pub mod ast;
pub mod digest;
pub mod display;
mod error;
mod keywords;
mod lexer;
mod literal;
mod options;
mod parser;

pub use error::ParseError;
pub use options::{ParseMode, ParseOptions, SERVER_VERSION};
pub use parser::{Parsed, parse, parse_expr};

/// Reads any bytes in every way that this crate knows: for fuzzing. It must neither panic nor run away.
pub fn fuzz_parse(data: &[u8]) {
    let modes = [
        ParseMode::default(),
        ParseMode {
            ansi_quotes: true,
            pipes_as_concat: true,
            ignore_space: true,
            ..ParseMode::default()
        },
        ParseMode {
            no_backslash_escapes: true,
            high_not_precedence: true,
            ..ParseMode::default()
        },
    ];
    for mode in modes {
        let options = ParseOptions {
            mode,
            params: true,
            multi_statements: true,
            ..ParseOptions::default()
        };
        let mut rest = data;
        while let Ok(parsed) = parse(rest, &options) {
            if let ast::Statement::Query(query) = &parsed.statement {
                display::query(query);
            }
            if parsed.end == 0 || parsed.end >= rest.len() {
                break;
            }
            rest = &rest[parsed.end..];
        }
        if let Ok(expr) = parse_expr(data, &options) {
            display::expr(&expr);
        }
        digest::Digest::default().fill(data, &options);
    }
}

#[cfg(test)]
mod tests {
    /// Long lists of values are most of what large statements consist of.
    #[test]
    fn expressions_are_small() {
        assert!(
            size_of::<crate::ast::Expr>() <= 112,
            "{}",
            size_of::<crate::ast::Expr>()
        );
    }
}
