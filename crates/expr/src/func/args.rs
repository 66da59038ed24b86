//! Arguments: converting them at binding, reading them at evaluation.

use std::sync::Arc;

use selkie_types::{Decimal, SqlType, Value};

use crate::bind::attr::{self, Family};
use crate::ir::{Expr, ExprKind};

/// Evaluates an argument; returns NULL from the calling evaluator where it is NULL.
macro_rules! arg {
    ($args:expr, $i:expr, $row:expr, $ctx:expr) => {
        match $args[$i].eval($row, $ctx)? {
            selkie_types::Value::Null => return Ok(selkie_types::Value::Null),
            v => v,
        }
    };
}
pub(crate) use arg;

/// The operand as an integer.
pub(crate) fn to_int(e: Expr) -> Expr {
    if let Some(n) = hex_number(&e) {
        return n;
    }
    match e.ty {
        SqlType::Int { .. } | SqlType::Bit(_) | SqlType::Year(_) => e,
        SqlType::Enum(_) | SqlType::Set(_) => e.cast_to(&SqlType::BIGINT_UNSIGNED),
        _ => e.cast_to(&SqlType::BIGINT),
    }
}

/// The operand as an unsigned 64-bit pattern, as bit operators take it.
pub(crate) fn to_double(e: Expr) -> Expr {
    if let Some(n) = hex_number(&e) {
        return n.cast_to(&SqlType::DOUBLE);
    }
    match e.ty {
        SqlType::Float { .. } | SqlType::Double { .. } => e,
        _ => e.cast_to(&SqlType::DOUBLE),
    }
}

/// The operand as a DECIMAL with the digits that its type has.
pub(crate) fn to_decimal(e: Expr) -> Expr {
    if let Some(n) = hex_number(&e) {
        return to_decimal(n);
    }
    match &e.ty {
        SqlType::Decimal { .. } => e,
        _ => {
            let ty = decimal_type(&e);
            e.cast_to(&ty)
        }
    }
}

/// The DECIMAL type that holds an operand.
pub(crate) fn decimal_type(e: &Expr) -> SqlType {
    match attr::family(&e.ty) {
        Family::Int | Family::Decimal | Family::Temporal => {
            // A literal's display length may be less than its digits.
            let p = attr::precision(e).max(match e.ty {
                SqlType::Int { .. } => 20,
                _ => 1,
            });
            attr::decimal(p.max(attr::precision(e)), attr::scale(e), attr::is_unsigned(&e.ty))
        }
        // Any decimal: conversion keeps the digits that there are.
        _ => attr::decimal(attr::MAX_PRECISION, attr::MAX_SCALE, false),
    }
}

/// A hex or bit literal as the number that it is.
pub(crate) fn hex_number(e: &Expr) -> Option<Expr> {
    let ExprKind::Call { function, .. } = &e.kind else { return None };
    if function.name() != HEX_HYBRID {
        return None;
    }
    let SqlType::Text { len, .. } = e.ty else { return None };
    let v = crate::bind::literal::hex_value(e)?;
    let digits = ((len as f64) * 8.0 * std::f64::consts::LOG10_2).ceil() as u32;
    Some(Expr::constant(Value::UInt(v), attr::int_by_len(digits.clamp(1, 20), true)))
}

/// The name under which a hex literal is called.
pub(crate) const HEX_HYBRID: &str = "0x";

/// Reads an integer.
pub(crate) fn int(v: &Value) -> i64 {
    match v {
        Value::Int(i) => *i,
        Value::UInt(u) => *u as i64,
        Value::Double(d) => d.round_ties_even() as i64,
        Value::Decimal(d) => d.to_i64().0,
        _ => 0,
    }
}

/// Reads an integer as the wider type that holds both signs.
pub(crate) fn wide(v: &Value) -> i128 {
    match v {
        Value::Int(i) => *i as i128,
        Value::UInt(u) => *u as i128,
        other => int(other) as i128,
    }
}

/// An integer as a small count or position: limits instead of wrapping.
pub(crate) fn saturating_int(v: &Value) -> i64 {
    wide(v).clamp(i64::MIN as i128, i64::MAX as i128) as i64
}

/// Reads a double.
pub(crate) fn double(v: &Value) -> f64 {
    match v {
        Value::Double(d) => *d,
        Value::Int(i) => *i as f64,
        Value::UInt(u) => *u as f64,
        Value::Decimal(d) => d.to_f64(),
        _ => 0.0,
    }
}

/// Reads a decimal.
pub(crate) fn decimal(v: &Value) -> Decimal {
    match v {
        Value::Decimal(d) => d.clone(),
        Value::Int(i) => Decimal::from(*i),
        Value::UInt(u) => Decimal::from(*u),
        Value::Double(d) => Decimal::from_f64(*d).0,
        _ => Decimal::ZERO,
    }
}

/// Reads a text.
pub(crate) fn bytes(v: &Value) -> &[u8] {
    match v {
        Value::Bytes(b) => b,
        _ => b"",
    }
}

/// A text as `str`; where it is not UTF-8, the part before the fault.
pub(crate) fn str_of(b: &[u8]) -> &str {
    match std::str::from_utf8(b) {
        Ok(s) => s,
        Err(e) => std::str::from_utf8(&b[..e.valid_up_to()]).unwrap_or(""),
    }
}

/// A text value from an owned buffer.
pub(crate) fn owned(b: Vec<u8>) -> Value {
    Value::Bytes(Arc::from(b))
}
