//! The definition of a result's column or a statement's parameter.
//! See <https://mariadb.com/kb/en/result-set-packets/#column-definition-packet>.

use crate::capabilities::Capabilities;
use crate::column_type::{ColumnFlags, ColumnType};
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer, lenenc_bytes_width};

/// A column definition ("41": as since MySQL 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// The database.
    pub schema: &'a [u8],
    /// The table's alias.
    pub table: &'a [u8],
    /// The table's name.
    pub org_table: &'a [u8],
    /// The column's alias.
    pub name: &'a [u8],
    /// The column's name.
    pub org_name: &'a [u8],
    /// What a type number cannot say; sent with MARIADB_CLIENT_EXTENDED_METADATA.
    pub extended: ExtendedMetadata<'a>,
    /// Collation id of the text, 63 (binary) for everything else.
    pub collation: u16,
    /// Longest text form in bytes.
    pub length: u32,
    /// The type.
    pub column_type: ColumnType,
    /// Flags.
    pub flags: ColumnFlags,
    /// Digits behind the point. 31 for FLOAT and DOUBLE without a fixed number of them, 39 for the
    /// text of expressions, where there is no number.
    pub decimals: u8,
}

/// MariaDB's names for types that look like another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtendedMetadata<'a> {
    /// `inet6`, `uuid`, `point` …
    pub type_name: Option<&'a [u8]>,
    /// `json`.
    pub format: Option<&'a [u8]>,
}

const TYPE_NAME: u8 = 0;
const FORMAT: u8 = 1;

/// Length of the fields of fixed length.
const FIXED_BYTES: u8 = 12;

impl ColumnDefinition<'static> {
    /// How COM_STMT_PREPARE describes every parameter, whatever it is compared with.
    pub const PARAMETER: Self = Self {
        schema: b"",
        table: b"",
        org_table: b"",
        name: b"?",
        org_name: b"",
        extended: ExtendedMetadata {
            type_name: None,
            format: None,
        },
        collation: 63,
        length: 0,
        column_type: ColumnType::Null,
        flags: ColumnFlags::BINARY_FLAG,
        decimals: 0,
    };
}

impl<'a> ColumnDefinition<'a> {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        out.begin_packet();
        self.put(out, capabilities);
        out.end_packet();
    }

    pub(super) fn put(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        out.put_lenenc_bytes(b"def");
        for name in [
            self.schema,
            self.table,
            self.org_table,
            self.name,
            self.org_name,
        ] {
            out.put_lenenc_bytes(name);
        }
        if capabilities.contains(Capabilities::MARIADB_CLIENT_EXTENDED_METADATA) {
            self.extended.put(out);
        }
        out.put_u8(FIXED_BYTES);
        out.put_u16(self.collation);
        out.put_u32(self.length);
        out.put_u8(self.column_type.code());
        out.put_u16(self.flags.bits());
        out.put_u8(self.decimals);
        out.put_u16(0);
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        Self::take(&mut Payload::new(payload), capabilities)
    }

    pub(super) fn take(
        fields: &mut Payload<'a>,
        capabilities: Capabilities,
    ) -> Result<Self, DecodeError> {
        fields.lenenc_bytes("catalog")?;
        let schema = fields.lenenc_bytes("schema")?;
        let table = fields.lenenc_bytes("table")?;
        let org_table = fields.lenenc_bytes("org_table")?;
        let name = fields.lenenc_bytes("name")?;
        let org_name = fields.lenenc_bytes("org_name")?;
        let extended = if capabilities.contains(Capabilities::MARIADB_CLIENT_EXTENDED_METADATA) {
            ExtendedMetadata::take(fields)?
        } else {
            ExtendedMetadata::default()
        };
        let fixed = fields.lenenc_bytes("fields of fixed length")?;
        let mut fixed = Payload::new(fixed);
        Ok(Self {
            schema,
            table,
            org_table,
            name,
            org_name,
            extended,
            collation: fixed.u16("collation")?,
            length: fixed.u32("length")?,
            column_type: fixed.u8("type")?.try_into()?,
            flags: ColumnFlags::from_bits(fixed.u16("flags")?),
            decimals: fixed.u8("decimals")?,
        })
    }
}

impl<'a> ExtendedMetadata<'a> {
    fn put(&self, out: &mut SendBuffer) {
        let parts = [(TYPE_NAME, self.type_name), (FORMAT, self.format)];
        let present = || {
            parts
                .iter()
                .filter_map(|&(kind, value)| Some((kind, value?)))
        };
        out.put_lenenc_int(
            present()
                .map(|(_, value)| 1 + lenenc_bytes_width(value))
                .sum(),
        );
        for (kind, value) in present() {
            out.put_u8(kind);
            out.put_lenenc_bytes(value);
        }
    }

    fn take(fields: &mut Payload<'a>) -> Result<Self, DecodeError> {
        let mut parts = Payload::new(fields.lenenc_bytes("extended metadata")?);
        let mut extended = Self::default();
        while !parts.is_empty() {
            let kind = parts.u8("kind of extended metadata")?;
            let value = parts.lenenc_bytes("extended metadata value")?;
            match kind {
                TYPE_NAME => extended.type_name = Some(value),
                FORMAT => extended.format = Some(value),
                _ => {}
            }
        }
        Ok(extended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_metadata_only_when_agreed() {
        let column = ColumnDefinition {
            schema: b"test",
            table: b"t",
            org_table: b"t1",
            name: b"a",
            org_name: b"address",
            extended: ExtendedMetadata {
                type_name: Some(b"inet6"),
                format: None,
            },
            collation: 63,
            length: 39,
            column_type: ColumnType::String,
            flags: ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG,
            decimals: 0,
        };
        let agreed = Capabilities::MARIADB_CLIENT_EXTENDED_METADATA;
        let mut out = SendBuffer::new();
        column.encode(&mut out, agreed);
        assert_eq!(
            ColumnDefinition::decode(&out.pending()[4..], agreed),
            Ok(column)
        );
        let length_with = out.pending_bytes();
        out.clear();
        column.encode(&mut out, Capabilities::EMPTY);
        assert_eq!(length_with - out.pending_bytes(), 8);
        let plain = ColumnDefinition {
            extended: ExtendedMetadata::default(),
            ..column
        };
        assert_eq!(
            ColumnDefinition::decode(&out.pending()[4..], Capabilities::EMPTY),
            Ok(plain)
        );
    }
}
