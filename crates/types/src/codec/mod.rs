//! Bytes in engines: order-preserving keys and rows.
//!
//! Formats stand in `docs/formats/keys-and-rows.md`. `key` writes values so that `memcmp` of two keys
//! is the SQL order of their values; `row` lays a row out so that one column can be read without the
//! others. [`ValueRef`] is a column seen in place.
//!
//! This module must not know which tables or indexes there are, nor engines: only types and bytes.

mod key;
mod row;
#[cfg(test)]
mod tests;
mod value_ref;

pub use key::{
    KeyPart, decode_key, decode_key_part, encode_key, encode_key_part, encode_key_part_ref, encode_key_prefix, hash_key, key_len,
    key_part_is_reversible, key_part_len, key_part_width, prefix_successor,
};
pub use row::RowLayout;
pub use value_ref::ValueRef;

use crate::{SqlError, SqlType};

/// What can be wrong with bytes that are read, or with values given to be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The bytes end before the part or column does.
    #[error("bytes end inside of a {0}")]
    Short(&'static str),
    /// Bytes that no value of the type has.
    #[error("bytes are no {0}")]
    Corrupt(&'static str),
    /// A value of another kind than the column's type, or out of its range.
    #[error("value does not belong to a column of type {0}")]
    Type(&'static str),
    /// A key form that does not give its value back.
    #[error("key part cannot be read back")]
    NotReversible,
    /// A row of another layout, or with another number of columns.
    #[error("row of another layout")]
    Layout,
}

impl From<CodecError> for SqlError {
    fn from(e: CodecError) -> SqlError {
        crate::sql_err!(ER_INTERNAL_ERROR, e)
    }
}

/// A type's name in errors.
fn family(ty: &SqlType) -> &'static str {
    match ty {
        SqlType::Null => "NULL",
        SqlType::Int { .. } => "INT",
        SqlType::Bit(_) => "BIT",
        SqlType::Year(_) => "YEAR",
        SqlType::Float { .. } => "FLOAT",
        SqlType::Double { .. } => "DOUBLE",
        SqlType::Decimal { .. } => "DECIMAL",
        SqlType::Date => "DATE",
        SqlType::Time { .. } => "TIME",
        SqlType::DateTime { .. } => "DATETIME",
        SqlType::Timestamp { .. } => "TIMESTAMP",
        SqlType::Text { .. } => "TEXT",
        SqlType::Enum(_) => "ENUM",
        SqlType::Set(_) => "SET",
    }
}

/// Bytes of an ENUM's index.
fn enum_width(members: usize) -> usize {
    if members < 256 { 1 } else { 2 }
}

/// Bytes of a bitmap of `n` bits, at most 8.
fn bits_width(n: usize) -> usize {
    n.clamp(1, 64).div_ceil(8)
}
