//! Errors and warnings as users see them: MariaDB's number, SQLSTATE and message.
//!
//! An error is made from a code of [`codes`] and the arguments of its template:
//! `sql_err!(ER_NO_SUCH_TABLE, db, table)`. Layers below SQL (engines, the log, the protocol) have
//! enums of their own, which `session` maps to these once.

use std::fmt;

use crate::error_table::{ERROR_TABLE, ErrorRow, codes};

/// Result of everything that can fail with an SQL error.
pub type SqlResult<T> = Result<T, SqlError>;

/// An SQL error: number, SQLSTATE, finished message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: u16,
    sqlstate: [u8; 5],
    message: String,
}

/// Makes an [`SqlError`] from a code's name and its template's arguments.
///
/// `sql_err!(ER_BAD_FIELD_ERROR, name, "field list")`
#[macro_export]
macro_rules! sql_err {
    ($code:ident $(, $arg:expr)* $(,)?) => {
        $crate::SqlError::new($crate::codes::$code, &[$(&$arg as &dyn ::std::fmt::Display),*])
    };
}

fn row_of(code: u16) -> Option<&'static ErrorRow> {
    ERROR_TABLE.binary_search_by_key(&code, |r| r.code).ok().map(|i| &ERROR_TABLE[i])
}

impl SqlError {
    /// An error from its number and the arguments of its template, in the template's order.
    pub fn new(code: u16, args: &[&dyn fmt::Display]) -> SqlError {
        let row = row_of(code).or_else(|| row_of(codes::ER_UNKNOWN_ERROR));
        let (state, template) = row.map_or(("HY000", "Unknown error"), |r| (r.sqlstate, r.template));
        // MariaDB reports duplicate keys under 1062 with the text of 1586, which names the key.
        let template = if code == codes::ER_DUP_ENTRY && args.len() == 2 {
            "Duplicate entry '%-.192s' for key '%-.192s'"
        } else {
            template
        };
        SqlError::raw(code, state, render(template, args))
    }

    /// An error with a free message, as SIGNAL and replication make them.
    pub fn raw(code: u16, sqlstate: &str, message: String) -> SqlError {
        let mut s = *b"HY000";
        if sqlstate.len() == 5 {
            s.copy_from_slice(sqlstate.as_bytes());
        }
        SqlError(Box::new(Inner { code, sqlstate: s, message }))
    }

    /// An error with a finished message and the number's own SQLSTATE.
    pub fn with_message(code: u16, message: String) -> SqlError {
        SqlError::raw(code, row_of(code).map_or("HY000", |r| r.sqlstate), message)
    }

    /// MariaDB's error number.
    pub fn code(&self) -> u16 {
        self.0.code
    }

    /// The five-character SQLSTATE.
    pub fn sqlstate(&self) -> &str {
        std::str::from_utf8(&self.0.sqlstate).unwrap_or("HY000")
    }

    /// The finished message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code(), self.sqlstate(), self.message())
    }
}

impl std::error::Error for SqlError {}

/// Fills MariaDB's printf-like templates: `%s %d %ld %u %llu %-.192s %.*s`, and its own
/// `` %`s `` (a quoted identifier), `%T` (text), `%M` (an operating system error).
fn render(template: &str, args: &[&dyn fmt::Display]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut args = args.iter();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut quoted = false;
        let mut max: Option<usize> = None;
        let mut in_precision = false;
        while let Some(&f) = chars.peek() {
            match f {
                '`' => quoted = true,
                '.' => {
                    in_precision = true;
                    max = Some(0);
                }
                '0'..='9' if in_precision => {
                    max = max.map(|m| m * 10 + f as usize - '0' as usize);
                }
                '-' | '0'..='9' | 'l' | 'z' | '*' => {}
                _ => break,
            }
            chars.next();
        }
        let conversion = chars.next();
        let text = args.next().map(|a| a.to_string()).unwrap_or_default();
        let text = match max {
            Some(m) if m > 0 && text.len() > m => shorten(text, m, conversion == Some('T')),
            _ => text,
        };
        if quoted {
            out.push('`');
            out.push_str(&text.replace('`', "``"));
            out.push('`');
        } else {
            out.push_str(&text);
        }
    }
    out
}

/// At most `max` bytes of a text, whole characters of it; with `dots` the last three show that it was cut.
fn shorten(mut text: String, max: usize, dots: bool) -> String {
    let mut end = if dots { max.saturating_sub(3) } else { max };
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    if dots {
        text.push_str("...");
    }
    text
}

/// Severity of a condition in the diagnostics area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `Note`
    Note,
    /// `Warning`
    Warning,
    /// `Error`
    Error,
}

impl Level {
    /// The word that SHOW WARNINGS prints.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// The warnings of one statement (SHOW WARNINGS): at most `max_error_count` kept, all counted.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// Conditions kept, in order.
    pub conditions: Vec<(Level, SqlError)>,
    /// How many there were in all.
    pub total: u64,
    /// How many are kept at the most (`max_error_count`).
    pub max_kept: usize,
    /// Row number that messages like "at row N" name (1-based).
    pub current_row: u64,
    /// A warning is a failure: a value is being computed for a data change in strict mode.
    pub strict: bool,
    /// The first failure since it was last taken.
    failure: Option<SqlError>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { conditions: Vec::new(), total: 0, max_kept: 64, current_row: 1, strict: false, failure: None }
    }
}

impl Diagnostics {
    /// Records a condition.
    pub fn push(&mut self, level: Level, e: SqlError) {
        if self.strict && level == Level::Warning {
            self.failure.get_or_insert(e);
            return;
        }
        self.total += 1;
        if self.conditions.len() < self.max_kept {
            self.conditions.push((level, e));
        }
    }

    /// Ends a computation under [`Self::strict`].
    ///
    /// # Errors
    /// The first warning that it gave.
    pub fn end_strict(&mut self) -> SqlResult<()> {
        self.strict = false;
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Records a warning.
    pub fn warn(&mut self, e: SqlError) {
        self.push(Level::Warning, e);
    }

    /// Records a note.
    pub fn note(&mut self, e: SqlError) {
        self.push(Level::Note, e);
    }

    /// Forgets everything, for the next statement.
    pub fn clear(&mut self) {
        self.conditions.clear();
        self.total = 0;
        self.current_row = 1;
        self.strict = false;
        self.failure = None;
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn templates_are_filled_as_mariadb_does() {
        let e = sql_err!(ER_NO_SUCH_TABLE, "test", "t1");
        assert_eq!(e.to_string(), "ERROR 1146 (42S02): Table 'test.t1' doesn't exist");
        let e = sql_err!(ER_DUP_ENTRY, "1", "PRIMARY");
        assert_eq!(e.to_string(), "ERROR 1062 (23000): Duplicate entry '1' for key 'PRIMARY'");
        let e = sql_err!(ER_TRUNCATED_WRONG_VALUE, "INTEGER", "x".repeat(129));
        assert_eq!(e.message(), format!("Truncated incorrect INTEGER value: '{}...'", "x".repeat(125)));
        let e = sql_err!(ER_TRUNCATED_WRONG_VALUE, "INTEGER", "日".repeat(130));
        assert_eq!(e.message(), format!("Truncated incorrect INTEGER value: '{}...'", "日".repeat(41)));
        let e = sql_err!(ER_CONSTRAINT_FAILED, "c`1", "db", "t");
        assert_eq!(e.message(), "CONSTRAINT `c``1` failed for `db`.`t`");
    }
}
