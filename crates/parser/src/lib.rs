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
