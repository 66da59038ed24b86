//! Conversions between values of different types, with MariaDB's rules and warnings.
//!
//! Two families: *expression* conversions (`to_i64`, `to_f64`, `to_text`, … and [`cast`]) which
//! warn and go on, and *storage* conversions ([`store`]) which put a value into a column and fail in
//! strict mode.

use crate::{Diagnostics, SqlMode, SqlResult, SqlType, TimeZone, Value};

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

/// Puts a value of type `from` into a column of type `to`, named `column` in messages. In strict mode
/// (and without IGNORE) what does not fit is an error (1264, 1265, 1292, 1366, 1406), else it is
/// adjusted with a warning. NULL passes through.
pub fn store(_v: Value, _from: &SqlType, _to: &SqlType, _column: &str, _ctx: &mut ConvertCtx<'_>) -> SqlResult<Value> {
    todo!()
}

/// CAST and implicit conversion in expressions: never fails on data, warns (1292) and goes on.
pub fn cast(_v: Value, _from: &SqlType, _to: &SqlType, _ctx: &mut ConvertCtx<'_>) -> SqlResult<Value> {
    todo!()
}

/// The value as an integer (rounding; text by its numeric prefix with warning 1292).
pub fn to_i64(_v: &Value, _from: &SqlType, _ctx: &mut ConvertCtx<'_>) -> i64 {
    todo!()
}

/// The value as a double.
pub fn to_f64(_v: &Value, _from: &SqlType, _ctx: &mut ConvertCtx<'_>) -> f64 {
    todo!()
}

/// The value's text as a result set or CONCAT shows it (UTF-8; raw bytes for binary types), appended to `out`.
pub fn write_text(_v: &Value, _ty: &SqlType, _out: &mut Vec<u8>) {
    todo!()
}
