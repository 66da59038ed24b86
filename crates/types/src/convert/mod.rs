//! Conversions between values of different types, with MariaDB's rules and warnings.
//!
//! Two families: *expression* conversions ([`to_i64`], [`to_f64`], [`write_text`], … and [`cast`]) which
//! warn and go on, and *storage* conversions ([`store`]) which put a value into a column and fail in
//! strict mode. Comparing and hashing of values of like types stands in [`compare`].
//!
//! It must not know tables or statements: where a value goes is named by a [`ColumnRef`].

mod cast;
mod compare;
mod number;
mod store;
mod temporal;
mod text;

use std::borrow::Cow;
use std::fmt;

use crate::error::Level;
use crate::{Diagnostics, SqlError, SqlMode, SqlType, TimeZone, codes, sql_err};

pub use cast::{cast, to_bool, to_decimal, to_f64, to_i64, to_u64};
pub use compare::{compare, hash_value};
pub use number::{Prefix, parse_f64, parse_int, round_f64, write_f32, write_f64, write_f64_in, write_fixed};
pub use store::store;
pub use temporal::{to_date, to_datetime, to_time};
pub use text::{text_of, write_text};

/// What a conversion may need to know of its session.
pub struct ConvertCtx<'a> {
    /// The session's SQL mode.
    pub sql_mode: SqlMode,
    /// The session's time zone.
    pub time_zone: &'a TimeZone,
    /// Microseconds since 1970 UTC at the statement's start (`NOW()`).
    pub now_utc_micros: i64,
    /// Where warnings go.
    pub diag: &'a mut Diagnostics,
    /// Whether the statement turns errors into warnings (`INSERT IGNORE`, non-strict).
    pub ignore: bool,
}

impl ConvertCtx<'_> {
    /// Whether values that do not fit are errors.
    pub fn strict(&self) -> bool {
        self.sql_mode.strict() && !self.ignore
    }

    /// Warning 1292: `Truncated incorrect DOUBLE value: 'abc'`.
    pub(crate) fn truncated(&mut self, level: Level, what: &str, value: &[u8], binary: bool) {
        let shown = shown(value, binary);
        self.diag.push(level, sql_err!(ER_TRUNCATED_WRONG_VALUE, what, shown));
    }

    /// Warning 1292: `Incorrect datetime value: 'abc'`.
    pub(crate) fn incorrect(&mut self, what: &str, value: &[u8], binary: bool) {
        let message = sql_err!(ER_WRONG_VALUE, what, shown(value, binary));
        self.diag.warn(SqlError::raw(codes::ER_TRUNCATED_WRONG_VALUE, "22007", message.message().to_string()));
    }
}

/// The column that a value is stored into, as messages name it. A plain `&str` makes one with no
/// table, as variables of stored programs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnRef<'a> {
    /// Database.
    pub db: &'a str,
    /// Table.
    pub table: &'a str,
    /// Column.
    pub column: &'a str,
}

impl<'a> From<&'a str> for ColumnRef<'a> {
    fn from(column: &'a str) -> ColumnRef<'a> {
        ColumnRef { db: "", table: "", column }
    }
}

impl<'a> From<&'a String> for ColumnRef<'a> {
    fn from(column: &'a String) -> ColumnRef<'a> {
        ColumnRef::from(column.as_str())
    }
}

/// A value's text as it stands in messages: bytes that are no text show as `\xHH`.
pub(crate) fn shown(value: &[u8], binary: bool) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(s) if !binary || value.iter().all(|c| (0x20..0x7f).contains(c)) => Cow::Borrowed(s),
        _ => Cow::Owned(Escaped { bytes: value, binary }.to_string()),
    }
}

struct Escaped<'a> {
    bytes: &'a [u8],
    binary: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                if self.binary && !(' '..='~').contains(&c) {
                    for b in c.encode_utf8(&mut [0; 4]).bytes() {
                        write!(f, "\\x{b:02X}")?;
                    }
                } else {
                    fmt::Write::write_char(f, c)?;
                }
            }
            for b in chunk.invalid() {
                write!(f, "\\x{b:02X}")?;
            }
        }
        Ok(())
    }
}

/// Text of bytes that are not valid UTF-8: `?` for each byte that is not.
pub(crate) fn repaired(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    out
}

/// Whether values of a type are bytes without meaning as characters.
pub(crate) fn is_binary(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Text { collation, .. } if collation.is_binary())
}
