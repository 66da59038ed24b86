//! The SQL dialect of MariaDB 10.11: lexer, syntax tree and grammar.
//!
//! It turns the bytes of one statement into a [`ast::Statement`], and knows nothing of tables, types'
//! storage, privileges or sessions: whatever depends on those is decided by its users. What of a
//! session's state does bear on the grammar (parts of `sql_mode`) is handed in.

pub mod ast;
