//! Values for key lookups: an expression's value as the column's type, if it can be equal to any value of it.

use selkie_expr::Expr;
use selkie_types::convert::{self, ConvertCtx};
use selkie_types::{Diagnostics, IntWidth, SqlResult, SqlType, Value};

use crate::context::ExecCtx;

/// A value for a key.
pub enum KeyValue {
    /// Equal to the expression's value, in the column's type (NULL stays NULL).
    Exact(Value),
    /// No value of the column's type equals it.
    NoMatch,
}

/// Evaluates `expr` (which refers to no row) for comparison with a column of type `column`.
pub fn key_value(cx: &mut ExecCtx<'_>, expr: &Expr, column: &SqlType) -> SqlResult<KeyValue> {
    let value = expr.eval(&[], cx)?;
    if let Some(v) = fits(&value, column) {
        return Ok(KeyValue::Exact(v));
    }
    // The general way: store it and see whether anything was lost.
    let mut lost = Diagnostics::default();
    let mut convert = ConvertCtx {
        sql_mode: cx.settings.sql_mode,
        time_zone: &cx.settings.time_zone,
        now_utc_micros: cx.settings.now_utc_micros,
        diag: &mut lost,
        ignore: true,
    };
    let Ok(stored) = convert::store(value.clone(), &expr.ty, column, "", &mut convert) else {
        return Ok(KeyValue::NoMatch);
    };
    let exact = lost.total == 0 && numbers_equal(&value, &stored);
    Ok(if exact { KeyValue::Exact(stored) } else { KeyValue::NoMatch })
}

/// The value itself when its variant is already the column's and it is in range.
fn fits(value: &Value, column: &SqlType) -> Option<Value> {
    match (value, column) {
        (Value::Null, _) => Some(Value::Null),
        (Value::Int(v), SqlType::Int { width, unsigned, .. }) => {
            let (min, max) = int_range(*width, *unsigned);
            let v128 = i128::from(*v);
            (v128 >= min && v128 <= max).then_some(if *unsigned { Value::UInt(*v as u64) } else { Value::Int(*v) })
        }
        (Value::UInt(v), SqlType::Int { width, unsigned, .. }) => {
            let (_, max) = int_range(*width, *unsigned);
            (i128::from(*v) <= max).then_some(if *unsigned { Value::UInt(*v) } else { Value::Int(*v as i64) })
        }
        (Value::Bytes(_), SqlType::Text { .. }) => Some(value.clone()),
        (Value::Date(_), SqlType::Date) | (Value::Time(_), SqlType::Time { .. }) => Some(value.clone()),
        (Value::DateTime(_), SqlType::DateTime { .. } | SqlType::Timestamp { .. }) => Some(value.clone()),
        (Value::Double(_), SqlType::Double { .. }) => Some(value.clone()),
        (Value::UInt(_), SqlType::Enum(_) | SqlType::Set(_) | SqlType::Bit(_)) => Some(value.clone()),
        _ => None,
    }
}

/// Smallest and largest value of an integer type.
pub fn int_range(width: IntWidth, unsigned: bool) -> (i128, i128) {
    let bits = match width {
        IntWidth::Tiny => 8,
        IntWidth::Small => 16,
        IntWidth::Medium => 24,
        IntWidth::Int => 32,
        IntWidth::Big => 64,
    };
    if unsigned { (0, (1i128 << bits) - 1) } else { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) }
}

/// Whether rounding changed a number (2.5 stored into an integer gives no warning but is not equal).
fn numbers_equal(before: &Value, after: &Value) -> bool {
    let as_f64 = |v: &Value| match v {
        Value::Int(i) => Some(*i as f64),
        Value::UInt(u) => Some(*u as f64),
        Value::Double(d) => Some(*d),
        Value::Decimal(d) => d.to_string().parse().ok(),
        _ => None,
    };
    match (as_f64(before), as_f64(after)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
