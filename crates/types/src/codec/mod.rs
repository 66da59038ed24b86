//! Bytes in engines: order-preserving keys and rows.
//!
//! Formats stand in `docs/formats/keys-and-rows.md`.

use crate::{SqlResult, SqlType, TimeZone, Value};

/// One column of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The column's type.
    pub ty: SqlType,
    /// Whether NULL can occur (adds a tag byte).
    pub nullable: bool,
    /// DESC: the bytes are inverted.
    pub descending: bool,
    /// Prefix length in characters (bytes for binary), for prefix indexes.
    pub prefix: Option<u32>,
}

/// Appends the order-preserving form of one value: `memcmp` order equals SQL order (NULL first).
pub fn encode_key_part(_v: &Value, _part: &KeyPart, _tz: &TimeZone, _out: &mut Vec<u8>) -> SqlResult<()> {
    todo!()
}

/// Reads one part back and returns how many bytes it took. Only for types whose key form is reversible
/// (everything but text under a collation that is not `_bin` or `binary`, and prefixes).
pub fn decode_key_part(_bytes: &[u8], _part: &KeyPart, _tz: &TimeZone) -> SqlResult<(Value, usize)> {
    todo!()
}

/// Whether [`decode_key_part`] gives the value back, so that an index covers the column.
pub fn key_part_is_reversible(_part: &KeyPart) -> bool {
    todo!()
}

/// How the rows of one table version are laid out: computed once from the column types.
#[derive(Debug, Clone)]
pub struct RowLayout {}

impl RowLayout {
    /// A layout for stored columns in order; `version` is the row version byte (instant ADD COLUMN).
    pub fn new(_version: u8, _columns: &[(SqlType, bool)]) -> RowLayout {
        todo!()
    }
    /// Appends a row's bytes. TIMESTAMP goes from the session's zone to UTC.
    pub fn encode(&self, _row: &[Value], _tz: &TimeZone, _out: &mut Vec<u8>) -> SqlResult<()> {
        todo!()
    }
    /// Reads one column without decoding the others.
    pub fn column(&self, _bytes: &[u8], _index: usize, _tz: &TimeZone) -> SqlResult<Value> {
        todo!()
    }
    /// Reads all columns, appending to `out`.
    pub fn decode(&self, _bytes: &[u8], _tz: &TimeZone, _out: &mut Vec<Value>) -> SqlResult<()> {
        todo!()
    }
}
