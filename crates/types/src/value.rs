//! A single SQL value in memory, and a row of them.
//!
//! A value does not carry its SQL type: the static type stands in the plan or the table definition
//! beside it. What type a variant belongs to:
//!
//! | variant | types |
//! |---|---|
//! | `Int` | signed integers, YEAR, BOOLEAN |
//! | `UInt` | unsigned integers, BIT (numeric value), ENUM (1-based index, 0 = the empty error value), SET (bitmap) |
//! | `Double` | FLOAT (rounded to f32 when stored) and DOUBLE |
//! | `Decimal` | DECIMAL |
//! | `Bytes` | every text type (valid UTF-8 whatever the declared character set) and every binary type (raw bytes) |
//! | `Date`, `Time`, `DateTime` | DATE, TIME, DATETIME and TIMESTAMP (the latter in the session's time zone; UTC only in storage) |

use std::sync::Arc;

use crate::{Date, DateTime, Decimal, Time};

/// One SQL value. See the module's table for which type uses which variant.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// Signed integer.
    Int(i64),
    /// Unsigned integer, bit string, enum index or set bitmap.
    UInt(u64),
    /// Floating point.
    Double(f64),
    /// Exact number.
    Decimal(Decimal),
    /// Text (UTF-8) or binary bytes.
    Bytes(Arc<[u8]>),
    /// Calendar date; zero and partly zero dates exist.
    Date(Date),
    /// Signed duration of at most 838:59:59.999999.
    Time(Time),
    /// Date and time of day with microseconds.
    DateTime(DateTime),
}

const _: () = assert!(size_of::<Value>() <= 24);

/// The values of one row, in the order of its columns.
pub type Row = Vec<Value>;

impl Value {
    /// A text value.
    pub fn text(s: &str) -> Value {
        Value::Bytes(Arc::from(s.as_bytes()))
    }

    /// A binary or text value from raw bytes.
    pub fn bytes(b: &[u8]) -> Value {
        Value::Bytes(Arc::from(b))
    }

    /// TRUE and FALSE as MariaDB has them: 1 and 0.
    pub fn bool(b: bool) -> Value {
        Value::Int(b as i64)
    }

    /// Whether this is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}
