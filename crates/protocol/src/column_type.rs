//! Type numbers and flags of columns and parameters.

use crate::error::DecodeError;
use crate::flags::flag_set;

/// Declares the type numbers with their conversion from a byte.
macro_rules! column_types {
    ($($(#[$meta:meta])* $name:ident = $value:literal,)*) => {
        /// MYSQL_TYPE_* numbers, as column definitions and bound parameters have them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ColumnType {
            $($(#[$meta])* $name = $value,)*
        }

        impl TryFrom<u8> for ColumnType {
            type Error = DecodeError;

            fn try_from(code: u8) -> Result<Self, DecodeError> {
                match code {
                    $($value => Ok(Self::$name),)*
                    _ => Err(DecodeError::UnknownColumnType(code)),
                }
            }
        }
    };
}

column_types! {
    /// DECIMAL before 5.0; never sent.
    Decimal = 0,
    /// TINYINT.
    Tiny = 1,
    /// SMALLINT.
    Short = 2,
    /// INT.
    Long = 3,
    /// FLOAT.
    Float = 4,
    /// DOUBLE.
    Double = 5,
    /// NULL.
    Null = 6,
    /// TIMESTAMP.
    Timestamp = 7,
    /// BIGINT.
    LongLong = 8,
    /// MEDIUMINT.
    Int24 = 9,
    /// DATE.
    Date = 10,
    /// TIME.
    Time = 11,
    /// DATETIME.
    DateTime = 12,
    /// YEAR.
    Year = 13,
    /// DATE within tables; never sent.
    NewDate = 14,
    /// VARCHAR within tables; sent by clients.
    VarChar = 15,
    /// BIT.
    Bit = 16,
    /// TIMESTAMP within tables; never sent.
    Timestamp2 = 17,
    /// DATETIME within tables; never sent.
    DateTime2 = 18,
    /// TIME within tables; never sent.
    Time2 = 19,
    /// Compressed BLOB within tables; never sent.
    BlobCompressed = 140,
    /// Compressed VARCHAR within tables; never sent.
    VarCharCompressed = 141,
    /// MySQL's JSON.
    Json = 245,
    /// DECIMAL.
    NewDecimal = 246,
    /// ENUM within tables; sent as String with a flag.
    Enum = 247,
    /// SET within tables; sent as String with a flag.
    Set = 248,
    /// TINYBLOB; sent as Blob.
    TinyBlob = 249,
    /// MEDIUMBLOB; sent as Blob.
    MediumBlob = 250,
    /// LONGBLOB; sent as Blob.
    LongBlob = 251,
    /// BLOB and TEXT of any length.
    Blob = 252,
    /// VARCHAR, VARBINARY.
    VarString = 253,
    /// CHAR, BINARY, ENUM, SET.
    String = 254,
    /// GEOMETRY.
    Geometry = 255,
}

impl ColumnType {
    /// The type's number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

flag_set! {
    /// Flags of a column definition.
    pub struct ColumnFlags: u16 {
        /// NOT NULL.
        NOT_NULL_FLAG = 1;
        /// Part of the primary key.
        PRI_KEY_FLAG = 1 << 1;
        /// Part of a unique key.
        UNIQUE_KEY_FLAG = 1 << 2;
        /// First column of a key that is not unique, or of a unique key of several columns.
        MULTIPLE_KEY_FLAG = 1 << 3;
        /// BLOB or TEXT.
        BLOB_FLAG = 1 << 4;
        /// UNSIGNED.
        UNSIGNED_FLAG = 1 << 5;
        /// ZEROFILL.
        ZEROFILL_FLAG = 1 << 6;
        /// Binary collation.
        BINARY_FLAG = 1 << 7;
        /// ENUM.
        ENUM_FLAG = 1 << 8;
        /// AUTO_INCREMENT.
        AUTO_INCREMENT_FLAG = 1 << 9;
        /// TIMESTAMP.
        TIMESTAMP_FLAG = 1 << 10;
        /// SET.
        SET_FLAG = 1 << 11;
        /// Has no default value.
        NO_DEFAULT_VALUE_FLAG = 1 << 12;
        /// ON UPDATE CURRENT_TIMESTAMP.
        ON_UPDATE_NOW_FLAG = 1 << 13;
        /// Part of a key (inside the server).
        PART_KEY_FLAG = 1 << 14;
        /// A number.
        NUM_FLAG = 1 << 15;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        let known = (0..=255u8).filter_map(|code| ColumnType::try_from(code).ok());
        assert_eq!(known.clone().count(), 33);
        for column_type in known {
            assert_eq!(ColumnType::try_from(column_type.code()), Ok(column_type));
        }
        assert_eq!(
            ColumnType::try_from(20),
            Err(DecodeError::UnknownColumnType(20))
        );
    }
}
