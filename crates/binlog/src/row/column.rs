//! What must be known of a column to read and write its values.

use selkie_types::{Charset, Collation, IntWidth, SqlType, TextKind};

use crate::DecodeError;
use crate::event::{ColumnMeta, TableMap, TableMetadata, column_type as t};

/// A column of a row image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowColumn {
    /// Type and metadata of the Table_map.
    pub meta: ColumnMeta,
    /// Whether an integer type is unsigned.
    pub unsigned: bool,
    /// Character set of text; [`Charset::Binary`] leaves bytes as they are.
    pub charset: Charset,
    /// Fractional digits of a TIME, DATETIME or TIMESTAMP in the format before MariaDB 10.1, which no
    /// Table_map tells: it must be taken from the table's definition.
    pub old_fsp: u8,
}

impl RowColumn {
    /// As a Table_map tells it, where nothing else is known: signed, bytes.
    pub fn bare(meta: ColumnMeta) -> RowColumn {
        RowColumn {
            meta,
            unsigned: false,
            charset: Charset::Binary,
            old_fsp: 0,
        }
    }

    /// How Selkie writes a column of a type.
    pub fn of(sql_type: &SqlType) -> RowColumn {
        let simple = |type_number: u8| ColumnMeta {
            type_number,
            meta: 0,
        };
        let with = |type_number: u8, meta: u16| ColumnMeta { type_number, meta };
        let mut charset = Charset::Binary;
        let meta = match sql_type {
            SqlType::Null => simple(t::NULL),
            SqlType::Int { width, .. } => simple(match width {
                IntWidth::Tiny => t::TINY,
                IntWidth::Small => t::SHORT,
                IntWidth::Medium => t::INT24,
                IntWidth::Int => t::LONG,
                IntWidth::Big => t::LONGLONG,
            }),
            SqlType::Bit(bits) => with(t::BIT, u16::from(bits % 8) | u16::from(bits / 8) << 8),
            SqlType::Year(_) => simple(t::YEAR),
            SqlType::Float { .. } => with(t::FLOAT, 4),
            SqlType::Double { .. } => with(t::DOUBLE, 8),
            SqlType::Decimal {
                precision, scale, ..
            } => with(
                t::NEWDECIMAL,
                u16::from(*precision) | u16::from(*scale) << 8,
            ),
            SqlType::Date => simple(t::DATE),
            SqlType::Time { fsp } => with(t::TIME2, u16::from(*fsp)),
            SqlType::DateTime { fsp } => with(t::DATETIME2, u16::from(*fsp)),
            SqlType::Timestamp { fsp } => with(t::TIMESTAMP2, u16::from(*fsp)),
            SqlType::Text {
                kind,
                len,
                collation,
            } => {
                charset = charset_of(*collation);
                let bytes = || len.saturating_mul(max_len(charset));
                match kind {
                    TextKind::Char => ColumnMeta::string(bytes().min(1023) as u16),
                    TextKind::VarChar => with(t::VARCHAR, bytes().min(0xffff) as u16),
                    TextKind::TinyText => with(t::BLOB, 1),
                    TextKind::Text => with(t::BLOB, 2),
                    TextKind::MediumText => with(t::BLOB, 3),
                    TextKind::LongText => with(t::BLOB, 4),
                }
            }
            SqlType::Enum(def) => {
                charset = charset_of(def.collation);
                let bytes = if def.members.len() < 256 { 1 } else { 2 };
                with(t::STRING, u16::from(t::ENUM) | bytes << 8)
            }
            SqlType::Set(def) => {
                charset = charset_of(def.collation);
                let bytes = match def.members.len().div_ceil(8) {
                    0 | 1 => 1,
                    n @ 2..=4 => n as u16,
                    _ => 8,
                };
                with(t::STRING, u16::from(t::SET) | bytes << 8)
            }
        };
        RowColumn {
            meta,
            unsigned: sql_type.is_unsigned(),
            charset,
            old_fsp: 0,
        }
    }
}

fn charset_of(collation: Collation) -> Charset {
    if collation.is_binary() {
        Charset::Binary
    } else {
        collation.charset()
    }
}

fn max_len(charset: Charset) -> u32 {
    if charset == Charset::Binary {
        1
    } else {
        charset.max_len()
    }
}

/// The columns of a table as Selkie writes it.
pub fn columns_of<'a>(types: impl IntoIterator<Item = &'a SqlType>) -> Vec<RowColumn> {
    types.into_iter().map(RowColumn::of).collect()
}

/// The columns of a Table_map, with sign and character set where its optional metadata tell them.
pub fn table_map_columns(map: &TableMap) -> Result<Vec<RowColumn>, DecodeError> {
    let metadata: TableMetadata = map.metadata()?;
    let columns = map.columns.iter().enumerate().map(|(i, meta)| {
        let collation = metadata.collation.get(i).copied().flatten();
        let collation = collation.and_then(|c| u16::try_from(c).ok()).map(Collation);
        let known = collation.filter(|c| c.is_binary() || c.is_known());
        RowColumn {
            meta: *meta,
            unsigned: metadata.unsigned.get(i).copied().flatten().unwrap_or(false),
            charset: known.map_or(Charset::Binary, charset_of),
            old_fsp: 0,
        }
    });
    Ok(columns.collect())
}
