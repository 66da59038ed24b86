//! CAST and implicit conversion in expressions.

use std::sync::Arc;

use super::number::{Rest, f64_to_decimal, f64_to_i128, parse_f64, parse_int, rest_of};
use super::text::{text_of, write_text};
use super::{ConvertCtx, is_binary, temporal};
use crate::error::Level;
use crate::{Collation, Decimal, IntWidth, SqlError, SqlResult, SqlType, TextKind, Value, codes, sql_err};

/// CAST and implicit conversion in expressions: never fails on data, warns (1292) and goes on.
pub fn cast(v: Value, from: &SqlType, to: &SqlType, ctx: &mut ConvertCtx<'_>) -> SqlResult<Value> {
    if v.is_null() {
        return Ok(v);
    }
    Ok(match to {
        SqlType::Null => v,
        SqlType::Int { unsigned, width, .. } => cast_int(&v, from, *width, *unsigned, ctx),
        SqlType::Bit(_) => Value::UInt(to_u64(&v, from, ctx)),
        SqlType::Year(_) => Value::Int(to_i64(&v, from, ctx)),
        SqlType::Double { digits, .. } => {
            let d = to_f64(&v, from, ctx);
            Value::Double(digits.map_or(d, |(_, decimals)| super::round_f64(d, decimals)))
        }
        SqlType::Float { .. } => cast_float(to_f64(&v, from, ctx), ctx),
        SqlType::Decimal { precision, scale, .. } => cast_decimal(&v, from, *precision, *scale, ctx),
        SqlType::Date => temporal::to_date(&v, from, ctx).map_or(Value::Null, Value::Date),
        SqlType::Time { fsp } => temporal::to_time(&v, from, *fsp, ctx).map_or(Value::Null, Value::Time),
        SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => {
            temporal::to_datetime(&v, from, *fsp, ctx).map_or(Value::Null, Value::DateTime)
        }
        SqlType::Text { kind, len, collation } => cast_text(v, from, *kind, *len, *collation, ctx),
        SqlType::Enum(_) | SqlType::Set(_) => match v {
            Value::UInt(_) => v,
            _ => super::store(v, from, to, "", ctx)?,
        },
    })
}

fn overflow(level: Level, value: &dyn std::fmt::Display, what: &str, ctx: &mut ConvertCtx<'_>) {
    ctx.diag.push(level, sql_err!(ER_DATA_OVERFLOW, value, what));
}

/// Least and greatest value of an integer type.
pub(super) fn int_range(width: IntWidth, unsigned: bool) -> (i128, i128) {
    let bits = match width {
        IntWidth::Tiny => 8,
        IntWidth::Small => 16,
        IntWidth::Medium => 24,
        IntWidth::Int => 32,
        IntWidth::Big => 64,
    };
    if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// An integer's variant by its type.
pub(super) fn int_value(v: i128, unsigned: bool) -> Value {
    if unsigned { Value::UInt(v as u64) } else { Value::Int(v as i64) }
}

fn cast_int(v: &Value, from: &SqlType, width: IntWidth, unsigned: bool, ctx: &mut ConvertCtx<'_>) -> Value {
    if width != IntWidth::Big {
        let (min, max) = int_range(width, unsigned);
        let n = match to_number(v, from, ctx) {
            Number::Int(i) => i,
            Number::Double(d) => f64_to_i128(d),
            Number::Decimal(d) => d.round(0).mantissa().unwrap_or(if d.is_negative() { min } else { max }),
        };
        return int_value(n.clamp(min, max), unsigned);
    }
    if unsigned { Value::UInt(to_u64(v, from, ctx)) } else { Value::Int(to_i64(v, from, ctx)) }
}

enum Number {
    Int(i128),
    Double(f64),
    Decimal(Decimal),
}

/// Any value as a number: text by CAST's rules for integers.
fn to_number(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> Number {
    match v {
        Value::Null => Number::Int(0),
        Value::Int(i) => Number::Int(*i as i128),
        Value::UInt(u) => Number::Int(*u as i128),
        Value::Double(d) => Number::Double(*d),
        Value::Decimal(d) => Number::Decimal(d.clone()),
        Value::Bytes(b) => Number::Int(text_to_int(b, is_binary(from), ctx)),
        Value::Date(d) => Number::Int(d.to_number() as i128),
        Value::Time(t) => Number::Int(t.to_number() as i128),
        Value::DateTime(t) => Number::Int(t.to_number() as i128),
    }
}

/// Digits at the start of a text, cut to what 64 bits hold, with the warnings of CAST to an integer.
fn text_to_int(b: &[u8], binary: bool, ctx: &mut ConvertCtx<'_>) -> i128 {
    let p = parse_int(b);
    let out = p.value > u64::MAX as i128 || p.value < i64::MIN as i128;
    match rest_of(b, p.used) {
        _ if out => ctx.truncated(Level::Warning, "INTEGER", b, binary),
        Rest::Nothing => {}
        Rest::Blanks => ctx.truncated(Level::Note, "INTEGER", b, binary),
        Rest::Other | Rest::NoNumber => ctx.truncated(Level::Warning, "INTEGER", b, binary),
    }
    p.value.clamp(i64::MIN as i128, u64::MAX as i128)
}

/// The value as an integer (rounding; text by its numeric prefix with warning 1292).
pub fn to_i64(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> i64 {
    match v {
        Value::Int(i) => return *i,
        Value::Bytes(b) => {
            let i = text_to_int(b, is_binary(from), ctx);
            let out = i == u64::MAX as i128 && parse_int(b).value > i;
            if i > i64::MAX as i128 && !out {
                let note = "Cast to signed converted positive out-of-range integer to it's negative complement";
                ctx.diag.note(SqlError::raw(codes::ER_UNKNOWN_ERROR, "HY000", note.to_string()));
            }
            return i as u64 as i64;
        }
        _ => {}
    }
    match to_number(v, from, ctx) {
        Number::Int(i) => i as i64,
        Number::Double(d) => {
            let i = f64_to_i128(d);
            i64::try_from(i).unwrap_or_else(|_| {
                overflow(Level::Note, &double_text(d), "SIGNED BIGINT", ctx);
                if d < 0.0 { i64::MIN } else { i64::MAX }
            })
        }
        Number::Decimal(d) => {
            let (i, over) = d.to_i64();
            if over {
                overflow(Level::Warning, &d, "INT", ctx);
            }
            i
        }
    }
}

/// The value as an unsigned integer; negative integers as their two's complement with note 1105.
pub fn to_u64(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> u64 {
    match to_number(v, from, ctx) {
        Number::Int(i) => {
            let temporal = from.is_temporal();
            if i < 0 && temporal {
                let text = text_of(v, from);
                overflow(Level::Note, &String::from_utf8_lossy(&text), "UNSIGNED BIGINT", ctx);
                return 0;
            }
            let negative_text =
                matches!(v, Value::Bytes(b) if parse_int(b).used > 0 && b.trim_ascii_start().starts_with(b"-"));
            let out = matches!(v, Value::Bytes(b) if parse_int(b).value < i64::MIN as i128);
            if (i < 0 || negative_text) && !out {
                let note = "Cast to unsigned converted negative integer to it's positive complement";
                ctx.diag.note(SqlError::raw(codes::ER_UNKNOWN_ERROR, "HY000", note.to_string()));
            }
            i as u64
        }
        Number::Double(d) => {
            let i = f64_to_i128(d);
            if i < 0 || i > u64::MAX as i128 {
                overflow(Level::Note, &double_text(d), "UNSIGNED BIGINT", ctx);
            }
            i.clamp(0, u64::MAX as i128) as u64
        }
        Number::Decimal(d) => {
            let (u, over) = d.to_u64();
            if over {
                overflow(Level::Warning, &d, "UNSIGNED INT", ctx);
            }
            u
        }
    }
}

fn double_text(d: f64) -> String {
    let mut out = Vec::new();
    super::write_f64(d, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The value as a double.
pub fn to_f64(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> f64 {
    match v {
        Value::Null => 0.0,
        Value::Int(i) => *i as f64,
        Value::UInt(u) => *u as f64,
        Value::Double(d) => *d,
        Value::Decimal(d) => d.to_f64(),
        Value::Bytes(b) => {
            let p = parse_f64(b);
            let binary = is_binary(from);
            match rest_of(b, p.used) {
                Rest::Nothing if !p.overflow => {}
                Rest::Blanks if !p.overflow => ctx.truncated(Level::Note, "DOUBLE", b, binary),
                _ => ctx.truncated(Level::Warning, "DOUBLE", b, binary),
            }
            p.value
        }
        Value::Date(d) => d.to_number() as f64,
        Value::Time(t) => {
            let whole = t.to_number() as f64;
            let fraction = t.micros() as f64 / 1e6;
            if t.is_negative() { whole - fraction } else { whole + fraction }
        }
        Value::DateTime(t) => t.to_number() as f64 + t.micros() as f64 / 1e6,
    }
}

/// The value as a decimal number with all of its digits.
pub fn to_decimal(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> Decimal {
    match v {
        Value::Null => Decimal::ZERO,
        Value::Int(i) => Decimal::from(*i),
        Value::UInt(u) => Decimal::from(*u),
        Value::Decimal(d) => d.clone(),
        Value::Double(d) => {
            let (d, over) = f64_to_decimal(*d);
            if over {
                overflow(Level::Warning, &"", "DECIMAL", ctx);
            }
            d
        }
        Value::Bytes(b) => {
            let p = Decimal::parse_prefix(b);
            let binary = is_binary(from);
            if p.overflow {
                overflow(Level::Warning, &"", "DECIMAL", ctx);
            }
            match rest_of(b, p.used) {
                _ if p.overflow => ctx.truncated(Level::Warning, "DECIMAL", b, binary),
                Rest::Nothing => {}
                Rest::Blanks => ctx.truncated(Level::Note, "DECIMAL", b, binary),
                Rest::Other | Rest::NoNumber => ctx.truncated(Level::Warning, "DECIMAL", b, binary),
            }
            p.value
        }
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => temporal_decimal(v, from),
    }
}

/// A date or time as a number: `20240102030405.678`.
pub(super) fn temporal_decimal(v: &Value, from: &SqlType) -> Decimal {
    let fsp = match from {
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => (*fsp).min(6),
        SqlType::Date => 0,
        _ => 6,
    };
    let (whole, micros) = match v {
        Value::Date(d) => (d.to_number(), 0),
        Value::Time(t) => (t.to_number(), if t.is_negative() { -(t.micros() as i128) } else { t.micros() as i128 }),
        Value::DateTime(t) => (t.to_number(), t.micros() as i128),
        _ => (0, 0),
    };
    Decimal::from_mantissa(whole as i128 * 1_000_000 + micros, 6).truncate(fsp as i32)
}

/// The value as a condition: NULL is `None`, text by its numeric prefix.
pub fn to_bool(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> Option<bool> {
    Some(match v {
        Value::Null => return None,
        Value::Int(i) => *i != 0,
        Value::UInt(u) => *u != 0,
        Value::Decimal(d) => !d.is_zero(),
        Value::Date(d) => d.0 != 0,
        Value::Time(t) => t.0 != 0,
        Value::DateTime(t) => t.0 != 0,
        Value::Double(_) | Value::Bytes(_) => to_f64(v, from, ctx) != 0.0,
    })
}

fn cast_float(d: f64, ctx: &mut ConvertCtx<'_>) -> Value {
    let max = f32::MAX as f64;
    if d.abs() > max {
        let row = ctx.diag.current_row;
        ctx.diag.note(sql_err!(ER_WARN_DATA_OUT_OF_RANGE, "cast", row));
        return Value::Double(max.copysign(d));
    }
    Value::Double(d as f32 as f64)
}

fn cast_decimal(v: &Value, from: &SqlType, precision: u8, scale: u8, ctx: &mut ConvertCtx<'_>) -> Value {
    let d = to_decimal(v, from, ctx);
    let (d, over) = d.to_column(precision, scale);
    if over {
        let row = ctx.diag.current_row;
        ctx.diag.warn(sql_err!(ER_WARN_DATA_OUT_OF_RANGE, "cast", row));
    }
    Value::Decimal(d)
}

fn cast_text(
    v: Value,
    from: &SqlType,
    kind: TextKind,
    len: u32,
    collation: Collation,
    ctx: &mut ConvertCtx<'_>,
) -> Value {
    let bytes: Arc<[u8]> = match v {
        Value::Bytes(b) => b,
        other => {
            let mut out = Vec::new();
            write_text(&other, from, &mut out);
            Arc::from(out)
        }
    };
    let binary = collation.is_binary();
    let bytes = if !binary && std::str::from_utf8(&bytes).is_err() {
        ctx.incorrect("string", &bytes, true);
        Arc::from(super::repaired(&bytes).as_bytes())
    } else {
        bytes
    };
    let keep = prefix_len(&bytes, len as usize, binary);
    if keep < bytes.len() {
        let what = format!("{}({len})", if binary { "BINARY" } else { "CHAR" });
        ctx.truncated(Level::Warning, &what, &bytes, is_binary(from));
        return Value::Bytes(Arc::from(&bytes[..keep]));
    }
    if binary && kind == TextKind::Char && bytes.len() < len as usize {
        let mut padded = bytes.to_vec();
        padded.resize(len as usize, 0);
        return Value::Bytes(Arc::from(padded));
    }
    Value::Bytes(bytes)
}

/// Bytes that the first `len` characters (bytes for binary) take.
pub(super) fn prefix_len(bytes: &[u8], len: usize, binary: bool) -> usize {
    if bytes.len() <= len {
        return bytes.len();
    }
    if binary {
        return len;
    }
    let mut seen = 0;
    for (i, b) in bytes.iter().enumerate() {
        if b & 0xc0 != 0x80 {
            if seen == len {
                return i;
            }
            seen += 1;
        }
    }
    bytes.len()
}
