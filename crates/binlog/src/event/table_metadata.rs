//! Optional metadata of a Table_map (`binlog_row_metadata`): signs, character sets, names, keys.
//!
//! A sequence of fields: type byte, length-encoded length, bytes. Numeric columns count as those of
//! types TINY, SHORT, INT24, LONG, LONGLONG, NEWDECIMAL, FLOAT, DOUBLE (and YEAR, which MariaDB marks unsigned); character
//! columns as STRING, VAR_STRING, VARCHAR, GEOMETRY and the BLOBs.

use bytes::Bytes;

use super::{ColumnMeta, column_type as t};
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Type bytes of the fields.
#[allow(missing_docs)]
pub mod metadata_type {
    pub const SIGNEDNESS: u8 = 1;
    pub const DEFAULT_CHARSET: u8 = 2;
    pub const COLUMN_CHARSET: u8 = 3;
    pub const COLUMN_NAME: u8 = 4;
    pub const SET_STR_VALUE: u8 = 5;
    pub const ENUM_STR_VALUE: u8 = 6;
    pub const GEOMETRY_TYPE: u8 = 7;
    pub const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
}

/// GEOMETRY_TYPE value of POINT.
pub const GEOMETRY_POINT: u64 = 1;

/// Decoded optional metadata; what was not sent is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableMetadata {
    /// For each column: `Some(unsigned)` of numeric columns, if sent.
    pub unsigned: Vec<Option<bool>>,
    /// For each column: collation id of text, ENUM and SET columns, if sent.
    pub collation: Vec<Option<u32>>,
    /// Names of all columns.
    pub names: Vec<Bytes>,
    /// Members of each SET column, in its order among the SET columns.
    pub set_values: Vec<Vec<Bytes>>,
    /// Members of each ENUM column, likewise.
    pub enum_values: Vec<Vec<Bytes>>,
    /// Type of each GEOMETRY column, likewise.
    pub geometry_types: Vec<u64>,
    /// Columns of the primary key, with the prefix length in bytes (0 = whole).
    pub primary_key: Vec<(u64, u64)>,
    /// Fields of types not known here, as (type, bytes).
    pub unknown: Vec<(u8, Bytes)>,
}

impl TableMetadata {
    /// Whether a column has a sign bit in the SIGNEDNESS field.
    pub fn is_numeric(column: ColumnMeta) -> bool {
        matches!(
            column.type_number,
            t::TINY
                | t::SHORT
                | t::INT24
                | t::LONG
                | t::LONGLONG
                | t::NEWDECIMAL
                | t::FLOAT
                | t::DOUBLE
                | t::YEAR
        )
    }

    /// Whether a column has a character set in the CHARSET fields.
    pub fn is_character(column: ColumnMeta) -> bool {
        match column.real_type() {
            t::ENUM | t::SET => false,
            _ => matches!(
                column.type_number,
                t::STRING | t::VAR_STRING | t::VARCHAR | t::GEOMETRY | t::TINY_BLOB
                    ..=t::BLOB | t::VARCHAR_COMPRESSED | t::BLOB_COMPRESSED
            ),
        }
    }

    fn is_enum_or_set(column: ColumnMeta) -> bool {
        matches!(column.real_type(), t::ENUM | t::SET)
    }

    /// Decodes the fields of a table of these columns.
    pub fn decode(bytes: &Bytes, columns: &[ColumnMeta]) -> Result<TableMetadata, DecodeError> {
        use metadata_type as m;
        let mut out = TableMetadata {
            unsigned: vec![None; columns.len()],
            collation: vec![None; columns.len()],
            ..TableMetadata::default()
        };
        let mut fields = WireReader::new(bytes);
        while !fields.is_empty() {
            let kind = fields.u8("metadata type")?;
            let field = fields.lenenc_bytes("metadata field")?;
            let mut r = WireReader::new(field);
            match kind {
                m::SIGNEDNESS => {
                    let numeric = (0..columns.len()).filter(|c| Self::is_numeric(columns[*c]));
                    for (bit, column) in numeric.enumerate() {
                        let byte = field
                            .get(bit / 8)
                            .ok_or(DecodeError::Malformed { what: "signedness" })?;
                        out.unsigned[column] = Some(byte >> (7 - bit % 8) & 1 != 0);
                    }
                }
                m::DEFAULT_CHARSET | m::ENUM_AND_SET_DEFAULT_CHARSET => {
                    let default = r.lenenc("collation")? as u32;
                    let listed = Self::with_charset(columns, kind == m::DEFAULT_CHARSET);
                    for column in &listed {
                        out.collation[*column] = Some(default);
                    }
                    while !r.is_empty() {
                        let nth = r.lenenc_usize("column")?;
                        let collation = r.lenenc("collation")? as u32;
                        let column = *listed.get(nth).ok_or(DecodeError::Malformed {
                            what: "column charset",
                        })?;
                        out.collation[column] = Some(collation);
                    }
                }
                m::COLUMN_CHARSET | m::ENUM_AND_SET_COLUMN_CHARSET => {
                    for column in Self::with_charset(columns, kind == m::COLUMN_CHARSET) {
                        out.collation[column] = Some(r.lenenc("collation")? as u32);
                    }
                }
                m::COLUMN_NAME => {
                    while !r.is_empty() {
                        out.names.push(share(bytes, r.lenenc_bytes("column name")?));
                    }
                }
                m::SET_STR_VALUE | m::ENUM_STR_VALUE => {
                    while !r.is_empty() {
                        let count = r.lenenc_usize("member count")?;
                        let mut members = Vec::with_capacity(count.min(field.len()));
                        for _ in 0..count {
                            members.push(share(bytes, r.lenenc_bytes("member")?));
                        }
                        let list = if kind == m::SET_STR_VALUE {
                            &mut out.set_values
                        } else {
                            &mut out.enum_values
                        };
                        list.push(members);
                    }
                }
                m::GEOMETRY_TYPE => {
                    while !r.is_empty() {
                        out.geometry_types.push(r.lenenc("geometry type")?);
                    }
                }
                m::SIMPLE_PRIMARY_KEY => {
                    while !r.is_empty() {
                        out.primary_key.push((r.lenenc("key column")?, 0));
                    }
                }
                m::PRIMARY_KEY_WITH_PREFIX => {
                    while !r.is_empty() {
                        out.primary_key
                            .push((r.lenenc("key column")?, r.lenenc("key prefix")?));
                    }
                }
                _ => out.unknown.push((kind, share(bytes, field))),
            }
        }
        Ok(out)
    }

    fn with_charset(columns: &[ColumnMeta], text: bool) -> Vec<usize> {
        let is = if text {
            Self::is_character
        } else {
            Self::is_enum_or_set
        };
        (0..columns.len()).filter(|c| is(columns[*c])).collect()
    }

    /// The character sets of text columns, or of ENUM and SET columns: of each column, or shorter where
    /// most have the same, that one and the exceptions.
    fn put_charsets(
        &self,
        columns: &[ColumnMeta],
        text: bool,
        field: &mut Vec<u8>,
        flush: &mut impl FnMut(u8, &mut Vec<u8>),
    ) {
        use metadata_type as m;
        let listed = Self::with_charset(columns, text);
        let of = |column: &usize| self.collation.get(*column).copied().flatten();
        let Some(collations) = listed.iter().map(of).collect::<Option<Vec<u32>>>() else {
            return;
        };
        let count = |c: &u32| collations.iter().filter(|other| *other == c).count();
        let Some(most) = collations.iter().copied().max_by_key(count) else {
            return;
        };
        if count(&most) * 2 > collations.len() {
            field.put_lenenc(u64::from(most));
            for (nth, collation) in collations.iter().enumerate().filter(|(_, c)| **c != most) {
                field.put_lenenc(nth as u64);
                field.put_lenenc(u64::from(*collation));
            }
            flush(
                if text {
                    m::DEFAULT_CHARSET
                } else {
                    m::ENUM_AND_SET_DEFAULT_CHARSET
                },
                field,
            );
        } else {
            for collation in &collations {
                field.put_lenenc(u64::from(*collation));
            }
            flush(
                if text {
                    m::COLUMN_CHARSET
                } else {
                    m::ENUM_AND_SET_COLUMN_CHARSET
                },
                field,
            );
        }
    }

    /// The fields' bytes, in MariaDB's order. What is empty is not written.
    pub fn encode(&self, columns: &[ColumnMeta]) -> Bytes {
        use metadata_type as m;
        let mut out = Vec::new();
        let mut field = Vec::new();
        let mut flush = |kind: u8, field: &mut Vec<u8>| {
            if !field.is_empty() {
                out.put_u8(kind);
                out.put_lenenc_bytes(field);
                field.clear();
            }
        };
        let of = |c: usize| self.unsigned.get(c).copied().flatten();
        let numeric = (0..columns.len()).filter(|c| Self::is_numeric(columns[*c]));
        if self.unsigned.iter().any(Option::is_some) {
            for (bit, column) in numeric.enumerate() {
                if bit % 8 == 0 {
                    field.put_u8(0);
                }
                if of(column) == Some(true) {
                    field[bit / 8] |= 0x80 >> (bit % 8);
                }
            }
        }
        flush(m::SIGNEDNESS, &mut field);
        self.put_charsets(columns, true, &mut field, &mut flush);
        for kind in &self.geometry_types {
            field.put_lenenc(*kind);
        }
        flush(m::GEOMETRY_TYPE, &mut field);
        for name in &self.names {
            field.put_lenenc_bytes(name);
        }
        flush(m::COLUMN_NAME, &mut field);
        self.put_charsets(columns, false, &mut field, &mut flush);
        for (kind, list) in [
            (m::SET_STR_VALUE, &self.set_values),
            (m::ENUM_STR_VALUE, &self.enum_values),
        ] {
            for members in list {
                field.put_lenenc(members.len() as u64);
                for member in members {
                    field.put_lenenc_bytes(member);
                }
            }
            flush(kind, &mut field);
        }
        let whole = self.primary_key.iter().all(|(_, prefix)| *prefix == 0);
        for (column, prefix) in &self.primary_key {
            field.put_lenenc(*column);
            if !whole {
                field.put_lenenc(*prefix);
            }
        }
        flush(
            if whole {
                m::SIMPLE_PRIMARY_KEY
            } else {
                m::PRIMARY_KEY_WITH_PREFIX
            },
            &mut field,
        );
        for (kind, bytes) in &self.unknown {
            out.put_u8(*kind);
            out.put_lenenc_bytes(bytes);
        }
        out.into()
    }
}
