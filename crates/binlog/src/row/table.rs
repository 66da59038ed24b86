//! The Table_map of a table as Selkie defines it.

use bytes::Bytes;
use selkie_types::SqlType;

use super::RowColumn;
use super::encode::in_charset;
use crate::event::{TableMap, TableMetadata, column_type as t, table_map_flags};

/// `binlog_row_metadata`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowMetadata {
    /// `NO_LOG`: types only; MariaDB's default.
    #[default]
    NoLog,
    /// `MINIMAL`: signs, character sets of text, geometry types.
    Minimal,
    /// `FULL`: also names, members of ENUM and SET, and the primary key.
    Full,
}

/// One column of a [`TableDescription`].
#[derive(Debug, Clone, Copy)]
pub struct ColumnDescription<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub sql_type: &'a SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A table, as far as the log tells it.
#[derive(Debug, Clone, Copy)]
pub struct TableDescription<'a> {
    /// Database.
    pub database: &'a str,
    /// Table.
    pub table: &'a str,
    /// All columns, in order.
    pub columns: &'a [ColumnDescription<'a>],
    /// Columns of the primary key, each with the characters of its prefix (0 = whole).
    pub primary_key: &'a [(usize, u32)],
}

impl TableDescription<'_> {
    /// The columns of the table's row images.
    pub fn row_columns(&self) -> Vec<RowColumn> {
        self.columns
            .iter()
            .map(|c| RowColumn::of(c.sql_type))
            .collect()
    }

    /// The table's Table_map under a number (48 bits, any that no other table of the statement has).
    pub fn table_map(&self, table_id: u64, metadata: RowMetadata) -> TableMap {
        let columns = self.row_columns();
        let mut nullable = vec![0u8; columns.len().div_ceil(8)];
        for (i, c) in self.columns.iter().enumerate() {
            nullable[i / 8] |= u8::from(c.nullable) << (i % 8);
        }
        let metas: Vec<_> = columns.iter().map(|c| c.meta).collect();
        let optional_metadata = match metadata {
            RowMetadata::NoLog => Bytes::new(),
            _ => self
                .metadata(&columns, metadata == RowMetadata::Full)
                .encode(&metas),
        };
        TableMap {
            table_id,
            flags: table_map_flags::BIT_LEN_EXACT,
            database: self.database.to_owned(),
            table: self.table.to_owned(),
            columns: metas,
            nullable: nullable.into(),
            optional_metadata,
        }
    }

    fn metadata(&self, columns: &[RowColumn], full: bool) -> TableMetadata {
        let mut out = TableMetadata::default();
        for (described, column) in self.columns.iter().zip(columns) {
            let numeric = TableMetadata::is_numeric(column.meta);
            // MariaDB tells YEAR as unsigned.
            let unsigned = column.unsigned || column.meta.type_number == t::YEAR;
            out.unsigned.push(numeric.then_some(unsigned));
            let collation = described.sql_type.collation().map(|c| u32::from(c.0));
            let wanted = full || TableMetadata::is_character(column.meta);
            out.collation.push(collation.filter(|_| wanted));
            if !full {
                continue;
            }
            out.names
                .push(Bytes::copy_from_slice(described.name.as_bytes()));
            if let SqlType::Enum(def) | SqlType::Set(def) = described.sql_type {
                let member =
                    |m: &String| Bytes::copy_from_slice(&in_charset(column.charset, m.as_bytes()));
                let members = def.members.iter().map(member).collect();
                match described.sql_type {
                    SqlType::Enum(_) => out.enum_values.push(members),
                    _ => out.set_values.push(members),
                }
            }
        }
        if full {
            let key = self
                .primary_key
                .iter()
                .map(|(column, prefix)| (*column as u64, u64::from(*prefix)));
            out.primary_key = key.collect();
        }
        out
    }
}
