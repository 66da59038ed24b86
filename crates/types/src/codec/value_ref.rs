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

impl ValueRef<'_> {
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
