//! A column's value seen in place, in the bytes of a row.

use crate::{Date, DateTime, Decimal, Time, Value};

/// One value, borrowed where it is bytes. Becomes a [`Value`] by [`ValueRef::to_value`].
#[derive(Debug, Clone, PartialEq)]
pub enum ValueRef<'a> {
    /// SQL NULL.
    Null,
    /// Signed integer, YEAR.
    Int(i64),
    /// Unsigned integer, BIT, ENUM index, SET bitmap.
    UInt(u64),
    /// FLOAT or DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// Text (UTF-8) or binary bytes.
    Bytes(&'a [u8]),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME, and TIMESTAMP in the session's time zone.
    DateTime(DateTime),
}

impl<'a> ValueRef<'a> {
    /// A value seen where it is.
    #[inline]
    pub fn of(v: &'a Value) -> ValueRef<'a> {
        match v {
            Value::Null => ValueRef::Null,
            Value::Int(v) => ValueRef::Int(*v),
            Value::UInt(v) => ValueRef::UInt(*v),
            Value::Double(v) => ValueRef::Double(*v),
            Value::Decimal(v) => ValueRef::Decimal(v.clone()),
            Value::Bytes(b) => ValueRef::Bytes(b),
            Value::Date(v) => ValueRef::Date(*v),
            Value::Time(v) => ValueRef::Time(*v),
            Value::DateTime(v) => ValueRef::DateTime(*v),
        }
    }

    /// An integer's value, whichever variant holds it.
    pub(super) fn integer(&self) -> Option<i128> {
        match self {
            ValueRef::Int(v) => Some(*v as i128),
            ValueRef::UInt(v) => Some(*v as i128),
            _ => None,
        }
    }

    /// The value with bytes of its own.
    pub fn to_value(&self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(v) => Value::Int(*v),
            ValueRef::UInt(v) => Value::UInt(*v),
            ValueRef::Double(v) => Value::Double(*v),
            ValueRef::Decimal(v) => Value::Decimal(v.clone()),
            ValueRef::Bytes(b) => Value::bytes(b),
            ValueRef::Date(v) => Value::Date(*v),
            ValueRef::Time(v) => Value::Time(*v),
            ValueRef::DateTime(v) => Value::DateTime(*v),
        }
    }

    /// Whether this is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, ValueRef::Null)
    }
}
