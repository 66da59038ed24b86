//! `sql_mode` as a bit set, with MariaDB's names and bits.

/// The flags of `@@sql_mode`. Bit values are those that the binary log carries in Query events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(pub u64);

impl SqlMode {
    /// REAL_AS_FLOAT
    pub const REAL_AS_FLOAT: u64 = 1 << 0;
    /// PIPES_AS_CONCAT
    pub const PIPES_AS_CONCAT: u64 = 1 << 1;
    /// ANSI_QUOTES
    pub const ANSI_QUOTES: u64 = 1 << 2;
    /// IGNORE_SPACE
    pub const IGNORE_SPACE: u64 = 1 << 3;
    /// IGNORE_BAD_TABLE_OPTIONS
    pub const IGNORE_BAD_TABLE_OPTIONS: u64 = 1 << 4;
    /// ONLY_FULL_GROUP_BY
    pub const ONLY_FULL_GROUP_BY: u64 = 1 << 5;
    /// NO_UNSIGNED_SUBTRACTION
    pub const NO_UNSIGNED_SUBTRACTION: u64 = 1 << 6;
    /// NO_DIR_IN_CREATE
    pub const NO_DIR_IN_CREATE: u64 = 1 << 7;
    /// POSTGRESQL
    pub const POSTGRESQL: u64 = 1 << 8;
    /// ORACLE
    pub const ORACLE: u64 = 1 << 9;
    /// MSSQL
    pub const MSSQL: u64 = 1 << 10;
    /// DB2
    pub const DB2: u64 = 1 << 11;
    /// MAXDB
    pub const MAXDB: u64 = 1 << 12;
    /// NO_KEY_OPTIONS
    pub const NO_KEY_OPTIONS: u64 = 1 << 13;
    /// NO_TABLE_OPTIONS
    pub const NO_TABLE_OPTIONS: u64 = 1 << 14;
    /// NO_FIELD_OPTIONS
    pub const NO_FIELD_OPTIONS: u64 = 1 << 15;
    /// MYSQL323
    pub const MYSQL323: u64 = 1 << 16;
    /// MYSQL40
    pub const MYSQL40: u64 = 1 << 17;
    /// ANSI
    pub const ANSI: u64 = 1 << 18;
    /// NO_AUTO_VALUE_ON_ZERO
    pub const NO_AUTO_VALUE_ON_ZERO: u64 = 1 << 19;
    /// NO_BACKSLASH_ESCAPES
    pub const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;
    /// STRICT_TRANS_TABLES
    pub const STRICT_TRANS_TABLES: u64 = 1 << 21;
    /// STRICT_ALL_TABLES
    pub const STRICT_ALL_TABLES: u64 = 1 << 22;
    /// NO_ZERO_IN_DATE
    pub const NO_ZERO_IN_DATE: u64 = 1 << 23;
    /// NO_ZERO_DATE
    pub const NO_ZERO_DATE: u64 = 1 << 24;
    /// ALLOW_INVALID_DATES
    pub const ALLOW_INVALID_DATES: u64 = 1 << 25;
    /// ERROR_FOR_DIVISION_BY_ZERO
    pub const ERROR_FOR_DIVISION_BY_ZERO: u64 = 1 << 26;
    /// TRADITIONAL
    pub const TRADITIONAL: u64 = 1 << 27;
    /// NO_AUTO_CREATE_USER
    pub const NO_AUTO_CREATE_USER: u64 = 1 << 28;
    /// HIGH_NOT_PRECEDENCE
    pub const HIGH_NOT_PRECEDENCE: u64 = 1 << 29;
    /// NO_ENGINE_SUBSTITUTION
    pub const NO_ENGINE_SUBSTITUTION: u64 = 1 << 30;
    /// PAD_CHAR_TO_FULL_LENGTH
    pub const PAD_CHAR_TO_FULL_LENGTH: u64 = 1 << 31;
    /// EMPTY_STRING_IS_NULL
    pub const EMPTY_STRING_IS_NULL: u64 = 1 << 32;
    /// SIMULTANEOUS_ASSIGNMENT
    pub const SIMULTANEOUS_ASSIGNMENT: u64 = 1 << 33;
    /// TIME_ROUND_FRACTIONAL
    pub const TIME_ROUND_FRACTIONAL: u64 = 1 << 34;

    /// MariaDB 10.11's default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::STRICT_TRANS_TABLES
            | Self::ERROR_FOR_DIVISION_BY_ZERO
            | Self::NO_AUTO_CREATE_USER
            | Self::NO_ENGINE_SUBSTITUTION,
    );

    /// Whether all bits of `flag` are set.
    pub fn has(self, flag: u64) -> bool {
        self.0 & flag == flag
    }

    /// Whether either strict mode is set.
    pub fn strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES | Self::STRICT_ALL_TABLES) != 0
    }
}
