//! Types as users see them: in SHOW COLUMNS, in information_schema and on the wire.

use super::{EnumDef, IntWidth, SqlType, TextKind};
use crate::Charset;

/// How a column's type stands in a column definition packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireType {
    /// `MYSQL_TYPE_*`.
    pub number: u8,
    /// UNSIGNED (32), ZEROFILL (64), BINARY (128), BLOB (16), ENUM (256), SET (2048). Those of keys and
    /// nullability are the table's.
    pub flags: u16,
    /// Digits after the point; 31 where there is no fixed number. (MariaDB says 39 for text that is no
    /// column, and sets BINARY for numbers that are none.)
    pub decimals: u8,
}

impl IntWidth {
    /// Bytes in rows.
    pub const fn bytes(self) -> u8 {
        match self {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        }
    }

    /// MariaDB's name (`mediumint`).
    pub const fn name(self) -> &'static str {
        match self {
            IntWidth::Tiny => "tinyint",
            IntWidth::Small => "smallint",
            IntWidth::Medium => "mediumint",
            IntWidth::Int => "int",
            IntWidth::Big => "bigint",
        }
    }

    /// The display width that a column has where none was declared.
    pub const fn default_display(self, unsigned: bool) -> u8 {
        match (self, unsigned) {
            (IntWidth::Tiny, false) => 4,
            (IntWidth::Tiny, true) => 3,
            (IntWidth::Small, false) => 6,
            (IntWidth::Small, true) => 5,
            (IntWidth::Medium, false) => 9,
            (IntWidth::Medium, true) => 8,
            (IntWidth::Int, false) => 11,
            (IntWidth::Int, true) => 10,
            (IntWidth::Big, _) => 20,
        }
    }

    /// Decimal digits that hold every value.
    pub const fn digits(self, unsigned: bool) -> u8 {
        match (self, unsigned) {
            (IntWidth::Tiny, _) => 3,
            (IntWidth::Small, _) => 5,
            (IntWidth::Medium, false) => 7,
            (IntWidth::Medium, true) => 8,
            (IntWidth::Int, _) => 10,
            (IntWidth::Big, false) => 19,
            (IntWidth::Big, true) => 20,
        }
    }
}

impl TextKind {
    /// Most bytes of a TEXT or BLOB kind; `None` for CHAR and VARCHAR.
    pub const fn blob_limit(self) -> Option<u32> {
        match self {
            TextKind::Char | TextKind::VarChar => None,
            TextKind::TinyText => Some(255),
            TextKind::Text => Some(65_535),
            TextKind::MediumText => Some((1 << 24) - 1),
            TextKind::LongText => Some(u32::MAX),
        }
    }

    /// The smallest TEXT or BLOB kind that holds so many bytes.
    pub const fn for_bytes(bytes: u64) -> TextKind {
        match bytes {
            0..=255 => TextKind::TinyText,
            256..=65_535 => TextKind::Text,
            65_536..=16_777_215 => TextKind::MediumText,
            _ => TextKind::LongText,
        }
    }
}

impl EnumDef {
    /// Characters of the longest member.
    pub fn longest(&self) -> u32 {
        self.members.iter().map(|m| m.chars().count() as u32).max().unwrap_or(0)
    }

    /// Characters of all members and the commas between them.
    pub fn all_together(&self) -> u32 {
        let chars: u32 = self.members.iter().map(|m| m.chars().count() as u32).sum();
        chars + (self.members.len() as u32).saturating_sub(1)
    }

    fn write(&self, out: &mut String) {
        for (i, m) in self.members.iter().enumerate() {
            out.push_str(if i == 0 { "'" } else { ",'" });
            for c in m.chars() {
                match c {
                    '\0' => out.push_str("\\0"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\\' => out.push_str("\\\\"),
                    '\'' => out.push_str("''"),
                    c => out.push(c),
                }
            }
            out.push('\'');
        }
    }
}

impl SqlType {
    /// An integer type with its default display width.
    pub const fn int(width: IntWidth, unsigned: bool) -> SqlType {
        SqlType::Int { width, unsigned, zerofill: false, display: width.default_display(unsigned) }
    }

    /// The type's name, as information_schema's DATA_TYPE has it.
    pub fn data_type(&self) -> &'static str {
        let binary = self.is_binary_string();
        match self {
            SqlType::Null => "null",
            SqlType::Int { width, .. } => width.name(),
            SqlType::Bit(_) => "bit",
            SqlType::Year(_) => "year",
            SqlType::Float { .. } => "float",
            SqlType::Double { .. } => "double",
            SqlType::Decimal { .. } => "decimal",
            SqlType::Date => "date",
            SqlType::Time { .. } => "time",
            SqlType::DateTime { .. } => "datetime",
            SqlType::Timestamp { .. } => "timestamp",
            SqlType::Text { kind, .. } => match (kind, binary) {
                (TextKind::Char, false) => "char",
                (TextKind::Char, true) => "binary",
                (TextKind::VarChar, false) => "varchar",
                (TextKind::VarChar, true) => "varbinary",
                (TextKind::TinyText, false) => "tinytext",
                (TextKind::TinyText, true) => "tinyblob",
                (TextKind::Text, false) => "text",
                (TextKind::Text, true) => "blob",
                (TextKind::MediumText, false) => "mediumtext",
                (TextKind::MediumText, true) => "mediumblob",
                (TextKind::LongText, false) => "longtext",
                (TextKind::LongText, true) => "longblob",
            },
            SqlType::Enum(_) => "enum",
            SqlType::Set(_) => "set",
        }
    }

    /// The type as SHOW COLUMNS prints it: `int(11) unsigned zerofill`, `enum('a','b')`, `datetime(6)`.
    pub fn column_type(&self) -> String {
        let mut s = self.data_type().to_string();
        let mut attributes = (false, false);
        match self {
            SqlType::Int { unsigned, zerofill, display, .. } => {
                s.push_str(&format!("({display})"));
                attributes = (*unsigned, *zerofill);
            }
            SqlType::Bit(n) | SqlType::Year(n) => s.push_str(&format!("({n})")),
            SqlType::Float { unsigned, zerofill, digits } | SqlType::Double { unsigned, zerofill, digits } => {
                if let Some((m, d)) = digits {
                    s.push_str(&format!("({m},{d})"));
                }
                attributes = (*unsigned, *zerofill);
            }
            SqlType::Decimal { precision, scale, unsigned, zerofill } => {
                s.push_str(&format!("({precision},{scale})"));
                attributes = (*unsigned, *zerofill);
            }
            SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } if *fsp > 0 => {
                s.push_str(&format!("({fsp})"));
            }
            SqlType::Text { kind: TextKind::Char | TextKind::VarChar, len, .. } => s.push_str(&format!("({len})")),
            SqlType::Enum(def) | SqlType::Set(def) => {
                s.push('(');
                def.write(&mut s);
                s.push(')');
            }
            _ => {}
        }
        if attributes.0 {
            s.push_str(" unsigned");
        }
        if attributes.1 {
            s.push_str(" zerofill");
        }
        s
    }

    /// Whether this is BINARY, VARBINARY or a BLOB.
    pub fn is_binary_string(&self) -> bool {
        matches!(self, SqlType::Text { collation, .. } if collation.is_binary())
    }

    /// Most characters that a value's text has (bytes for binary types; of TEXT kinds, their limit in
    /// bytes taken as characters). Times the character set's longest character, the length on the wire.
    pub fn display_length(&self) -> u32 {
        let fraction = |fsp: &u8| if *fsp > 0 { *fsp as u32 + 1 } else { 0 };
        match self {
            SqlType::Null => 0,
            SqlType::Int { width, unsigned, display, .. } => (*display).max(width.default_display(*unsigned)) as u32,
            SqlType::Bit(n) | SqlType::Year(n) => *n as u32,
            SqlType::Float { digits, .. } => digits.map_or(12, |d| d.0 as u32),
            SqlType::Double { digits, .. } => digits.map_or(22, |d| d.0 as u32),
            SqlType::Decimal { precision, scale, unsigned, .. } => {
                *precision as u32 + (*scale > 0) as u32 + !*unsigned as u32
            }
            SqlType::Date => 10,
            SqlType::Time { fsp } => 10 + fraction(fsp),
            SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => 19 + fraction(fsp),
            SqlType::Text { kind, len, .. } => kind.blob_limit().unwrap_or(*len),
            SqlType::Enum(def) => def.longest(),
            SqlType::Set(def) => def.all_together(),
        }
    }

    /// The length in a column definition packet, in bytes of the result set's character set.
    pub fn wire_length(&self, results: Charset) -> u32 {
        match self.collation() {
            Some(c) if !c.is_binary() => self.display_length().saturating_mul(results.max_len()),
            _ => self.display_length(),
        }
    }

    /// Digits after the point of numbers and seconds; `None` where there is no fixed number of them
    /// (FLOAT and DOUBLE without digits) and for text.
    pub fn decimals(&self) -> Option<u8> {
        match self {
            SqlType::Decimal { scale, .. } => Some(*scale),
            SqlType::Float { digits, .. } | SqlType::Double { digits, .. } => digits.map(|d| d.1),
            SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => Some(*fsp),
            SqlType::Int { .. } | SqlType::Bit(_) | SqlType::Year(_) | SqlType::Date | SqlType::Null => Some(0),
            SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) => None,
        }
    }

    /// Most bytes that a value's text takes in the type's own character set.
    pub fn octet_length(&self) -> u32 {
        match self {
            SqlType::Text { kind, len, collation } => {
                kind.blob_limit().unwrap_or_else(|| len.saturating_mul(collation.charset().max_len()))
            }
            SqlType::Enum(def) | SqlType::Set(def) => self.display_length() * def.collation.charset().max_len(),
            SqlType::Int { display, .. } => *display as u32,
            _ => self.display_length(),
        }
    }

    /// information_schema's CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH.
    pub fn character_lengths(&self) -> Option<(u32, u32)> {
        match self {
            SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) => {
                Some((self.display_length(), self.octet_length()))
            }
            _ => None,
        }
    }

    /// information_schema's NUMERIC_PRECISION and NUMERIC_SCALE.
    pub fn numeric_precision(&self) -> Option<(u8, Option<u8>)> {
        match self {
            SqlType::Int { width, unsigned, .. } => Some((width.digits(*unsigned), Some(0))),
            SqlType::Bit(n) => Some((*n, None)),
            SqlType::Float { digits, .. } => Some((digits.map_or(12, |d| d.0), digits.map(|d| d.1))),
            SqlType::Double { digits, .. } => Some((digits.map_or(22, |d| d.0), digits.map(|d| d.1))),
            SqlType::Decimal { precision, scale, .. } => Some((*precision, Some(*scale))),
            _ => None,
        }
    }

    /// information_schema's DATETIME_PRECISION.
    pub fn datetime_precision(&self) -> Option<u8> {
        match self {
            SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => Some(*fsp),
            _ => None,
        }
    }

    /// Number, flags and decimals of a column definition packet.
    pub fn wire(&self) -> WireType {
        const BLOB: u16 = 16;
        const UNSIGNED: u16 = 32;
        const ZEROFILL: u16 = 64;
        const BINARY: u16 = 128;
        const ENUM: u16 = 256;
        const SET: u16 = 2048;
        /// No fixed number of digits.
        const NOT_FIXED: u8 = 31;
        let numeric = |unsigned: bool, zerofill: bool| {
            let mut flags = 0;
            if unsigned {
                flags |= UNSIGNED;
            }
            if zerofill {
                flags |= ZEROFILL;
            }
            flags
        };
        let of = |number, flags, decimals| WireType { number, flags, decimals };
        let binary_flag = match self.collation() {
            Some(c) if c.is_bin() => BINARY,
            _ => 0,
        };
        match self {
            SqlType::Null => of(6, BINARY, 0),
            SqlType::Int { width, unsigned, zerofill, .. } => {
                let number = match width {
                    IntWidth::Tiny => 1,
                    IntWidth::Small => 2,
                    IntWidth::Medium => 9,
                    IntWidth::Int => 3,
                    IntWidth::Big => 8,
                };
                of(number, numeric(*unsigned, *zerofill), 0)
            }
            SqlType::Bit(_) => of(16, UNSIGNED, 0),
            SqlType::Year(_) => of(13, UNSIGNED | ZEROFILL, 0),
            SqlType::Float { unsigned, zerofill, digits } => {
                of(4, numeric(*unsigned, *zerofill), digits.map_or(NOT_FIXED, |d| d.1))
            }
            SqlType::Double { unsigned, zerofill, digits } => {
                of(5, numeric(*unsigned, *zerofill), digits.map_or(NOT_FIXED, |d| d.1))
            }
            SqlType::Decimal { scale, unsigned, zerofill, .. } => of(246, numeric(*unsigned, *zerofill), *scale),
            SqlType::Date => of(10, BINARY, 0),
            SqlType::Time { fsp } => of(11, BINARY, *fsp),
            SqlType::DateTime { fsp } => of(12, BINARY, *fsp),
            SqlType::Timestamp { fsp } => of(7, UNSIGNED | BINARY, *fsp),
            SqlType::Text { kind, .. } => match kind {
                TextKind::Char => of(254, binary_flag, 0),
                TextKind::VarChar => of(253, binary_flag, 0),
                _ => of(252, BLOB | binary_flag, 0),
            },
            SqlType::Enum(_) => of(254, ENUM | binary_flag, 0),
            SqlType::Set(_) => of(254, SET | binary_flag, 0),
        }
    }
}
