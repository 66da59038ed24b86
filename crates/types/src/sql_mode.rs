//! `sql_mode` as a bit set, with MariaDB's names and bits.

use std::fmt;

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

    /// All modes that there are.
    pub const ALL: u64 = (Self::TIME_ROUND_FRACTIONAL << 1) - 1;

    /// MariaDB 10.11's default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::STRICT_TRANS_TABLES
            | Self::ERROR_FOR_DIVISION_BY_ZERO
            | Self::NO_AUTO_CREATE_USER
            | Self::NO_ENGINE_SUBSTITUTION,
    );

    /// Reads a comma-separated list of names, any case (`@@sql_mode`); `Err` is the first name that is
    /// none. Names of whole dialects (ANSI, TRADITIONAL, ORACLE, …) bring their modes with them.
    pub fn parse(list: &str) -> Result<SqlMode, String> {
        let mut bits = 0;
        for name in list.split(',').filter(|n| !n.is_empty()) {
            let Some(i) = NAMES.iter().position(|n| n.eq_ignore_ascii_case(name)) else {
                return Err(name.to_string());
            };
            bits |= 1 << i;
        }
        Ok(SqlMode(bits).expanded())
    }

    /// With the modes that a dialect's name stands for.
    pub fn expanded(self) -> SqlMode {
        const DIALECT: u64 = SqlMode::PIPES_AS_CONCAT | SqlMode::ANSI_QUOTES | SqlMode::IGNORE_SPACE;
        const NO_OPTIONS: u64 = SqlMode::NO_KEY_OPTIONS | SqlMode::NO_TABLE_OPTIONS | SqlMode::NO_FIELD_OPTIONS;
        const EXPANSIONS: [(u64, u64); 9] = [
            (SqlMode::ANSI, DIALECT | SqlMode::REAL_AS_FLOAT),
            (SqlMode::ORACLE, DIALECT | NO_OPTIONS | SqlMode::NO_AUTO_CREATE_USER | SqlMode::SIMULTANEOUS_ASSIGNMENT),
            (SqlMode::MSSQL, DIALECT | NO_OPTIONS),
            (SqlMode::POSTGRESQL, DIALECT | NO_OPTIONS),
            (SqlMode::DB2, DIALECT | NO_OPTIONS),
            (SqlMode::MAXDB, DIALECT | NO_OPTIONS | SqlMode::NO_AUTO_CREATE_USER),
            (SqlMode::MYSQL323, SqlMode::HIGH_NOT_PRECEDENCE),
            (SqlMode::MYSQL40, SqlMode::HIGH_NOT_PRECEDENCE),
            (
                SqlMode::TRADITIONAL,
                SqlMode::STRICT_TRANS_TABLES
                    | SqlMode::STRICT_ALL_TABLES
                    | SqlMode::NO_ZERO_IN_DATE
                    | SqlMode::NO_ZERO_DATE
                    | SqlMode::ERROR_FOR_DIVISION_BY_ZERO
                    | SqlMode::NO_AUTO_CREATE_USER
                    | SqlMode::NO_ENGINE_SUBSTITUTION,
            ),
        ];
        let mut bits = self.0;
        for (name, modes) in EXPANSIONS {
            if bits & name != 0 {
                bits |= modes;
            }
        }
        SqlMode(bits)
    }

    /// From `SET sql_mode = <number>`; `None` where bits are set that mean nothing.
    pub fn from_bits(bits: u64) -> Option<SqlMode> {
        (bits & !Self::ALL == 0).then(|| SqlMode(bits).expanded())
    }

    /// Whether all bits of `flag` are set.
    pub fn has(self, flag: u64) -> bool {
        self.0 & flag == flag
    }

    /// Whether either strict mode is set.
    pub fn strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES | Self::STRICT_ALL_TABLES) != 0
    }
}

/// Names by bit number.
const NAMES: [&str; 35] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "IGNORE_BAD_TABLE_OPTIONS",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "POSTGRESQL",
    "ORACLE",
    "MSSQL",
    "DB2",
    "MAXDB",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    "MYSQL323",
    "MYSQL40",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NO_AUTO_CREATE_USER",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "EMPTY_STRING_IS_NULL",
    "SIMULTANEOUS_ASSIGNMENT",
    "TIME_ROUND_FRACTIONAL",
];

/// As `@@sql_mode` shows it.
impl fmt::Display for SqlMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = NAMES.iter().enumerate().filter(|(i, _)| self.0 >> i & 1 == 1);
        for (n, (_, name)) in set.enumerate() {
            if n > 0 {
                f.write_str(",")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::SqlMode;

    #[test]
    fn names_both_ways() {
        let shown = |s: &str| SqlMode::parse(s).map(|m| m.to_string());
        assert_eq!(shown("ansi").as_deref(), Ok("REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"));
        assert_eq!(
            shown("Traditional").as_deref(),
            Ok("STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
                TRADITIONAL,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION")
        );
        assert_eq!(shown("ANSI_QUOTES,").as_deref(), Ok("ANSI_QUOTES"));
        assert_eq!(shown("ansi_quotes,,foo"), Err("foo".to_string()));
        assert_eq!(shown(" ansi_quotes"), Err(" ansi_quotes".to_string()));
        assert_eq!(
            SqlMode::DEFAULT.to_string(),
            "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
        );
        for i in 0..35 {
            assert!(SqlMode::parse(&SqlMode(1 << i).to_string()).is_ok_and(|m| m.has(1 << i)));
        }
        assert_eq!(SqlMode::from_bits(1 << 35), None);
    }
}
