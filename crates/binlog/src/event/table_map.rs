//! Table_map: gives a number to a table and tells its columns' types, for the rows events that follow.

use bytes::Bytes;

use super::TableMetadata;
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share, utf8};

/// MariaDB's column type numbers as they stand in Table_map events.
#[allow(missing_docs)]
pub mod column_type {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const NEWDATE: u8 = 14;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const TIMESTAMP2: u8 = 17;
    pub const DATETIME2: u8 = 18;
    pub const TIME2: u8 = 19;
    pub const BLOB_COMPRESSED: u8 = 140;
    pub const VARCHAR_COMPRESSED: u8 = 141;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// Bits of [`TableMap::flags`].
pub mod table_map_flags {
    /// Lengths of string metadata are exact (always set).
    pub const BIT_LEN_EXACT: u16 = 1;
    /// The statement ran with `foreign_key_checks=0`... on the replica too.
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    /// ... or with `unique_checks=0`.
    pub const RELAXED_UNIQUE_CHECKS: u16 = 4;
}

/// Type of one column, as far as a Table_map tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColumnMeta {
    /// Type byte, see [`column_type`].
    pub type_number: u8,
    /// The type's metadata bytes, the first one lowest; their number depends on the type.
    pub meta: u16,
}

impl ColumnMeta {
    /// Bytes of metadata that a type has; `None` where the type is unknown.
    pub const fn meta_len(type_number: u8) -> Option<usize> {
        use column_type as t;
        Some(match type_number {
            t::DECIMAL..=t::LONG | t::NULL..=t::NEWDATE => 0,
            t::FLOAT | t::DOUBLE => 1,
            t::VARCHAR | t::BIT | t::NEWDECIMAL | t::ENUM | t::SET | t::VAR_STRING | t::STRING => 2,
            t::VARCHAR_COMPRESSED => 2,
            t::TIMESTAMP2 | t::DATETIME2 | t::TIME2 => 1,
            t::TINY_BLOB..=t::BLOB | t::GEOMETRY | t::JSON | t::BLOB_COMPRESSED => 1,
            _ => return None,
        })
    }

    /// The type that a column really has: STRING covers ENUM and SET, which its metadata tells.
    pub const fn real_type(self) -> u8 {
        use column_type as t;
        if self.type_number == t::STRING {
            let first = (self.meta & 0xff) as u8;
            match first {
                t::ENUM | t::SET => first,
                _ => t::STRING,
            }
        } else {
            self.type_number
        }
    }

    /// The length in bytes of a STRING column. Lengths above 255 put their bits 8 and 9, inverted,
    /// into bits 4 and 5 of the type byte.
    pub const fn string_len(self) -> u16 {
        let first = self.meta & 0xff;
        let second = self.meta >> 8;
        if first & 0x30 != 0x30 {
            second | ((first & 0x30) ^ 0x30) << 4
        } else {
            second
        }
    }

    /// Metadata of a STRING column of so many bytes (below 1,024).
    pub const fn string(len: u16) -> ColumnMeta {
        let first = column_type::STRING as u16 ^ (len & 0x300) >> 4;
        ColumnMeta {
            type_number: column_type::STRING,
            meta: first | (len & 0xff) << 8,
        }
    }
}

/// Table_map event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMap {
    /// Number that the rows events use; 48 bits.
    pub table_id: u64,
    /// See [`table_map_flags`].
    pub flags: u16,
    /// Database.
    pub database: String,
    /// Table.
    pub table: String,
    /// Types of the columns.
    pub columns: Vec<ColumnMeta>,
    /// Bit n is set where column n may be NULL; lowest bit of the first byte first.
    pub nullable: Bytes,
    /// Names, signs, character sets (`binlog_row_metadata`): the bytes, read by [`TableMap::metadata`].
    pub optional_metadata: Bytes,
}

impl TableMap {
    /// Decodes the optional metadata.
    pub fn metadata(&self) -> Result<TableMetadata, DecodeError> {
        TableMetadata::decode(&self.optional_metadata, &self.columns)
    }

    /// Whether a column may be NULL.
    pub fn is_nullable(&self, column: usize) -> bool {
        self.nullable
            .get(column / 8)
            .is_some_and(|b| b >> (column % 8) & 1 != 0)
    }

    pub(super) fn decode(body: &Bytes) -> Result<TableMap, DecodeError> {
        let mut r = WireReader::new(body);
        let table_id = r.u48("table id")?;
        let flags = r.u16("Table_map flags")?;
        let database = utf8(r.bytes_u8("database name")?, "database name")?;
        r.zero("database name")?;
        let table = utf8(r.bytes_u8("table name")?, "table name")?;
        r.zero("table name")?;
        let count = r.lenenc_usize("column count")?;
        let types = r.take(count, "column types")?;
        let mut meta = WireReader::new(r.lenenc_bytes("column metadata")?);
        let mut columns = Vec::with_capacity(count);
        for &type_number in types {
            let n = ColumnMeta::meta_len(type_number)
                .ok_or(DecodeError::UnknownColumnType(type_number))?;
            let meta = meta.uint_le(n, "column metadata")? as u16;
            columns.push(ColumnMeta { type_number, meta });
        }
        if !meta.is_empty() {
            return Err(DecodeError::Malformed {
                what: "column metadata",
            });
        }
        let nullable = share(body, r.take(count.div_ceil(8), "nullable columns")?);
        let optional_metadata = share(body, r.take_rest());
        Ok(TableMap {
            table_id,
            flags,
            database,
            table,
            columns,
            nullable,
            optional_metadata,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u48(self.table_id);
        out.put_u16(self.flags);
        for name in [&self.database, &self.table] {
            let name = &name.as_bytes()[..name.len().min(255)];
            out.put_u8(name.len() as u8);
            out.put_slice(name);
            out.put_u8(0);
        }
        out.put_lenenc(self.columns.len() as u64);
        out.extend(self.columns.iter().map(|c| c.type_number));
        let meta_len = |c: &ColumnMeta| ColumnMeta::meta_len(c.type_number).unwrap_or(0);
        out.put_lenenc(self.columns.iter().map(|c| meta_len(c) as u64).sum());
        for c in &self.columns {
            out.put_uint_le(u64::from(c.meta), meta_len(c));
        }
        out.put_slice(&self.nullable);
        out.put_slice(&self.optional_metadata);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_lengths() {
        for len in [0, 1, 255, 256, 511, 512, 1020, 1023] {
            assert_eq!(ColumnMeta::string(len).string_len(), len);
            assert_eq!(ColumnMeta::string(len).real_type(), column_type::STRING);
        }
        // CHAR(255) CHARACTER SET utf8mb4 as MariaDB writes it.
        assert_eq!(ColumnMeta::string(1020).meta.to_le_bytes(), [0xce, 0xfc]);
    }
}
