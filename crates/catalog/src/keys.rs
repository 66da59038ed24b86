//! Which keys a row has in the engine: its clustered key and its entry in each secondary index.
//!
//! * The **rows** are keyed by the primary key's parts or, without one, by a hidden row id of 8 bytes (big endian).
//! * A **non-unique** index entry is `parts ++ clustered key`; its value is the length of `parts` (u16, little endian),
//!   so that the clustered key is found without decoding.
//! * A **unique** index entry is `parts` alone and its value is the clustered key, so that a lookup is one get and two
//!   equal rows meet in one key. With a NULL among the parts, which never collides, it is `parts ++ clustered key`.

use selkie_types::codec::encode_key_part;
use selkie_types::{SqlResult, TimeZone, Value};

use crate::schema::{Index, Table};

/// A secondary index entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// Engine key.
    pub key: Vec<u8>,
    /// Engine value.
    pub value: Vec<u8>,
    /// Length of the index's own parts in `key`.
    pub parts_len: usize,
    /// Whether a part is NULL, so that uniqueness does not apply.
    pub has_null: bool,
}

/// Appends the clustered key of a row of a table that has a primary key.
pub fn primary_key(table: &Table, row: &[Value], tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
    let Some(pk) = table.primary_key() else { return Ok(()) };
    for (part, key_part) in pk.parts.iter().zip(table.key_parts(0)) {
        encode_key_part(&row[part.column], key_part, tz, out)?;
    }
    Ok(())
}

/// The engine entry that a row has in a secondary index.
pub fn index_entry(
    table: &Table,
    index: usize,
    row: &[Value],
    clustered: &[u8],
    tz: &TimeZone,
    entry: &mut IndexEntry,
) -> SqlResult<()> {
    let def: &Index = &table.indexes[index];
    entry.key.clear();
    entry.value.clear();
    entry.has_null = false;
    for (part, key_part) in def.parts.iter().zip(table.key_parts(index)) {
        let value = &row[part.column];
        entry.has_null |= value.is_null();
        encode_key_part(value, key_part, tz, &mut entry.key)?;
    }
    entry.parts_len = entry.key.len();
    if def.unique {
        if entry.has_null {
            entry.key.extend_from_slice(clustered);
        }
        entry.value.extend_from_slice(clustered);
    } else {
        entry.key.extend_from_slice(clustered);
        entry.value.extend_from_slice(&(entry.parts_len as u16).to_le_bytes());
    }
    Ok(())
}

/// The clustered key in a secondary index entry; `None` if the entry is malformed.
pub fn clustered_of<'a>(def: &Index, key: &'a [u8], value: &'a [u8]) -> Option<&'a [u8]> {
    if def.unique {
        return Some(value);
    }
    let len = u16::from_le_bytes(value.try_into().ok()?);
    key.get(len as usize..)
}

/// The hidden row id's key.
pub fn row_id_key(id: u64) -> [u8; 8] {
    id.to_be_bytes()
}
