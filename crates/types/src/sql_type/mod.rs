//! The static type of a column or an expression.
//!
//! Lengths of text are in characters, lengths of binary types in bytes; `fsp` is the number of
//! fractional second digits (0 to 6).

mod aggregate;
mod describe;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Collation;

pub use aggregate::{Coercibility, ComparisonType, aggregate_collations};
pub use describe::WireType;

/// Storage width of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum IntWidth {
    /// TINYINT, 1 byte.
    Tiny,
    /// SMALLINT, 2 bytes.
    Small,
    /// MEDIUMINT, 3 bytes.
    Medium,
    /// INT, 4 bytes.
    Int,
    /// BIGINT, 8 bytes.
    Big,
}

/// Which of the text or binary families a string type belongs to. With [`Collation::BINARY`] they
/// are BINARY, VARBINARY, TINYBLOB, BLOB, MEDIUMBLOB and LONGBLOB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TextKind {
    /// CHAR(n): trailing spaces are not kept. BINARY(n): padded with zero bytes.
    Char,
    /// VARCHAR(n) or VARBINARY(n); also every string expression.
    VarChar,
    /// TINYTEXT or TINYBLOB: at most 255 bytes.
    TinyText,
    /// TEXT or BLOB: at most 65,535 bytes.
    Text,
    /// MEDIUMTEXT or MEDIUMBLOB: at most 16 MiB - 1.
    MediumText,
    /// LONGTEXT or LONGBLOB: at most 4 GiB - 1. JSON is LONGTEXT with utf8mb4_bin and a check.
    LongText,
}

/// The members of an ENUM or SET, in order of declaration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EnumDef {
    /// Member texts (UTF-8).
    pub members: Vec<String>,
    /// Character set and collation that members compare by.
    pub collation: Collation,
}

/// The type of a column or an expression, without nullability (which stands beside it).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SqlType {
    /// The type of a bare NULL.
    Null,
    /// TINYINT to BIGINT; BOOLEAN is `Tiny` with display width 1.
    Int {
        /// Storage width.
        width: IntWidth,
        /// Whether negative values are excluded.
        unsigned: bool,
        /// Whether results are padded with zeros to the display width.
        zerofill: bool,
        /// Display width in characters (as in `int(11)`).
        display: u8,
    },
    /// BIT(n), 1 to 64 bits.
    Bit(u8),
    /// YEAR(4) (or YEAR(2), kept for old dumps).
    Year(u8),
    /// FLOAT; `digits` is (total, decimals) of the non-standard FLOAT(m,d).
    Float {
        /// Whether negative values are excluded.
        unsigned: bool,
        /// Whether results are zero-padded.
        zerofill: bool,
        /// (m, d) where declared.
        digits: Option<(u8, u8)>,
    },
    /// DOUBLE, REAL.
    Double {
        /// Whether negative values are excluded.
        unsigned: bool,
        /// Whether results are zero-padded.
        zerofill: bool,
        /// (m, d) where declared.
        digits: Option<(u8, u8)>,
    },
    /// DECIMAL(precision, scale), at most (65, 38).
    Decimal {
        /// Total digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
        /// Whether negative values are excluded.
        unsigned: bool,
        /// Whether results are zero-padded.
        zerofill: bool,
    },
    /// DATE.
    Date,
    /// TIME(fsp).
    Time {
        /// Fractional digits.
        fsp: u8,
    },
    /// DATETIME(fsp).
    DateTime {
        /// Fractional digits.
        fsp: u8,
    },
    /// TIMESTAMP(fsp): stored in UTC, seen in the session's time zone.
    Timestamp {
        /// Fractional digits.
        fsp: u8,
    },
    /// Every text and binary string type.
    Text {
        /// Family.
        kind: TextKind,
        /// Maximum length: characters for text, bytes for binary and for the TEXT/BLOB kinds.
        len: u32,
        /// Collation, which implies the character set; `Collation::BINARY` makes it a binary type.
        collation: Collation,
    },
    /// ENUM.
    Enum(Arc<EnumDef>),
    /// SET.
    Set(Arc<EnumDef>),
}

impl SqlType {
    /// BIGINT, the type of integer expressions.
    pub const BIGINT: SqlType = SqlType::Int { width: IntWidth::Big, unsigned: false, zerofill: false, display: 20 };
    /// BIGINT UNSIGNED.
    pub const BIGINT_UNSIGNED: SqlType =
        SqlType::Int { width: IntWidth::Big, unsigned: true, zerofill: false, display: 20 };
    /// INT(1), the type of comparisons.
    pub const BOOL: SqlType = SqlType::Int { width: IntWidth::Int, unsigned: false, zerofill: false, display: 1 };
    /// DOUBLE, the type of approximate expressions.
    pub const DOUBLE: SqlType = SqlType::Double { unsigned: false, zerofill: false, digits: None };

    /// VARCHAR(len) with a collation.
    pub fn varchar(len: u32, collation: Collation) -> SqlType {
        SqlType::Text { kind: TextKind::VarChar, len, collation }
    }

    /// The collation of a text-like type (strings, ENUM, SET); `None` for others.
    pub fn collation(&self) -> Option<Collation> {
        match self {
            SqlType::Text { collation, .. } => Some(*collation),
            SqlType::Enum(d) | SqlType::Set(d) => Some(d.collation),
            _ => None,
        }
    }

    /// Whether values are numbers (integers, BIT, YEAR, floats, DECIMAL).
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            SqlType::Int { .. }
                | SqlType::Bit(_)
                | SqlType::Year(_)
                | SqlType::Float { .. }
                | SqlType::Double { .. }
                | SqlType::Decimal { .. }
        )
    }

    /// Whether values are dates or times.
    pub fn is_temporal(&self) -> bool {
        matches!(self, SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
    }

    /// Whether this is a text or binary string type.
    pub fn is_string(&self) -> bool {
        matches!(self, SqlType::Text { .. })
    }

    /// Whether the type is an unsigned number.
    pub fn is_unsigned(&self) -> bool {
        match self {
            SqlType::Int { unsigned, .. }
            | SqlType::Float { unsigned, .. }
            | SqlType::Double { unsigned, .. }
            | SqlType::Decimal { unsigned, .. } => *unsigned,
            SqlType::Bit(_) | SqlType::Year(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
