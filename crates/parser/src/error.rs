//! Why a text is no statement, in MariaDB's words.

use thiserror::Error;

/// A text could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// ER_PARSE_ERROR (1064). `near` begins at the first token that does not fit.
    #[error("{message} near '{near}' at line {line}")]
    Syntax {
        /// What is wrong; MariaDB's usual words as a rule.
        message: &'static str,
        /// What is left of the text from there, at most 80 bytes.
        near: String,
        /// Counted from 1.
        line: usize,
        /// Where the token begins, in bytes.
        offset: usize,
    },
    /// ER_STACK_OVERRUN_NEED_MORE (1436): it nests deeper than allowed.
    #[error("Thread stack overrun: the statement nests deeper than {limit} levels")]
    TooDeep {
        /// The limit from [`crate::ParseOptions`].
        limit: u32,
    },
    /// Another error that MariaDB raises while it parses.
    #[error("{message}")]
    Other {
        /// The ER_ number.
        code: u16,
        /// MariaDB's message.
        message: String,
    },
}

impl ParseError {
    /// The ER_ number.
    pub fn code(&self) -> u16 {
        match self {
            ParseError::Syntax { .. } => 1064,
            ParseError::TooDeep { .. } => 1436,
            ParseError::Other { code, .. } => *code,
        }
    }
}

/// The usual message of ER_PARSE_ERROR.
pub(crate) const SYNTAX: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB \
                                 server version for the right syntax to use";

/// What the grammar's functions fail with; turned into a [`ParseError`] at the end.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// The token of this index does not fit.
    At(u32),
    /// As `At`, with a message of its own.
    With(u32, &'static str),
    TooDeep,
    Other(Box<(u16, String)>),
}

/// What the grammar's functions return.
pub(crate) type Res<T> = Result<T, Failure>;
