//! What client and server tell each other that they can do.
//! See <https://mariadb.com/kb/en/connection/#capabilities>.

use crate::flags::flag_set;

flag_set! {
    /// Capability bits: MySQL's in the lower 32, MariaDB's extended ones in the upper 32.
    ///
    /// The server offers a set in its greeting; what both have is in force from the handshake
    /// response on. Packets are encoded and decoded by the set in force.
    pub struct Capabilities: u64 {
        /// Peer is MySQL (once CLIENT_LONG_PASSWORD). A MariaDB leaves it away, and only then the
        /// upper 32 bits are transferred.
        CLIENT_MYSQL = 1;
        /// OK's affected rows are the rows found, not the rows changed.
        CLIENT_FOUND_ROWS = 1 << 1;
        /// Column flags have two bytes.
        CLIENT_LONG_FLAG = 1 << 2;
        /// The handshake response names a database.
        CLIENT_CONNECT_WITH_DB = 1 << 3;
        /// `database.table.column` is not allowed.
        CLIENT_NO_SCHEMA = 1 << 4;
        /// Packets may travel in compressed frames (zlib).
        CLIENT_COMPRESS = 1 << 5;
        /// Client is ODBC. Means nothing.
        CLIENT_ODBC = 1 << 6;
        /// Client can answer LOAD DATA LOCAL INFILE.
        CLIENT_LOCAL_FILES = 1 << 7;
        /// Spaces before `(` are ignored: sql_mode IGNORE_SPACE.
        CLIENT_IGNORE_SPACE = 1 << 8;
        /// The protocol of MySQL 4.1 and later; there is no other here.
        CLIENT_PROTOCOL_41 = 1 << 9;
        /// interactive_timeout holds instead of wait_timeout.
        CLIENT_INTERACTIVE = 1 << 10;
        /// The client goes on with TLS after an SSLRequest.
        CLIENT_SSL = 1 << 11;
        /// Only for the client itself.
        CLIENT_IGNORE_SIGPIPE = 1 << 12;
        /// Status flags are sent and understood.
        CLIENT_TRANSACTIONS = 1 << 13;
        /// Once said that the protocol is 4.1's.
        CLIENT_RESERVED = 1 << 14;
        /// Passwords are scrambled as by 4.1 and later; the auth response has a length byte.
        CLIENT_SECURE_CONNECTION = 1 << 15;
        /// COM_QUERY may hold several statements.
        CLIENT_MULTI_STATEMENTS = 1 << 16;
        /// COM_QUERY may give several results.
        CLIENT_MULTI_RESULTS = 1 << 17;
        /// COM_STMT_EXECUTE may give several results.
        CLIENT_PS_MULTI_RESULTS = 1 << 18;
        /// Authentication plugins are named.
        CLIENT_PLUGIN_AUTH = 1 << 19;
        /// The handshake response has connection attributes.
        CLIENT_CONNECT_ATTRS = 1 << 20;
        /// The auth response has a length-encoded length.
        CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA = 1 << 21;
        /// Client can handle error 1820 after login.
        CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22;
        /// OK carries session state changes.
        CLIENT_SESSION_TRACK = 1 << 23;
        /// OK stands in place of EOF.
        CLIENT_DEPRECATE_EOF = 1 << 24;
        /// MySQL: result sets may come without column definitions.
        CLIENT_OPTIONAL_RESULTSET_METADATA = 1 << 25;
        /// Packets may travel in compressed frames (zstd).
        CLIENT_ZSTD_COMPRESSION = 1 << 26;
        /// MySQL: COM_QUERY and COM_STMT_EXECUTE carry attributes.
        CLIENT_QUERY_ATTRIBUTES = 1 << 27;
        /// MySQL: several authentication factors.
        CLIENT_MULTI_FACTOR_AUTHENTICATION = 1 << 28;
        /// Progress reports, as MariaDB before 10.2 asked for them.
        CLIENT_PROGRESS_OBSOLETE = 1 << 29;
        /// Only for the client itself.
        CLIENT_SSL_VERIFY_SERVER_CERT = 1 << 30;
        /// Only for the client itself.
        CLIENT_REMEMBER_OPTIONS = 1 << 31;
        /// Client wants progress reports.
        MARIADB_CLIENT_PROGRESS = 1 << 32;
        /// Once several commands in one packet; no longer used.
        MARIADB_CLIENT_COM_MULTI = 1 << 33;
        /// COM_STMT_BULK_EXECUTE.
        MARIADB_CLIENT_STMT_BULK_OPERATIONS = 1 << 34;
        /// Column definitions name types and formats that type numbers cannot.
        MARIADB_CLIENT_EXTENDED_METADATA = 1 << 35;
        /// Executing a statement sends column definitions only when they changed.
        MARIADB_CLIENT_CACHE_METADATA = 1 << 36;
        /// A bulk execution may answer with a result per row.
        MARIADB_CLIENT_BULK_UNIT_RESULTS = 1 << 37;
    }
}

impl Capabilities {
    /// What the packets of this crate can serve without help: all that a MariaDB 10.11 offers
    /// but TLS and compression, for which the transport must be able to.
    pub const SERVER_DEFAULT: Self = Self::CLIENT_FOUND_ROWS
        .union(Self::CLIENT_LONG_FLAG)
        .union(Self::CLIENT_CONNECT_WITH_DB)
        .union(Self::CLIENT_NO_SCHEMA)
        .union(Self::CLIENT_ODBC)
        .union(Self::CLIENT_LOCAL_FILES)
        .union(Self::CLIENT_IGNORE_SPACE)
        .union(Self::CLIENT_PROTOCOL_41)
        .union(Self::CLIENT_INTERACTIVE)
        .union(Self::CLIENT_IGNORE_SIGPIPE)
        .union(Self::CLIENT_TRANSACTIONS)
        .union(Self::CLIENT_RESERVED)
        .union(Self::CLIENT_SECURE_CONNECTION)
        .union(Self::CLIENT_MULTI_STATEMENTS)
        .union(Self::CLIENT_MULTI_RESULTS)
        .union(Self::CLIENT_PS_MULTI_RESULTS)
        .union(Self::CLIENT_PLUGIN_AUTH)
        .union(Self::CLIENT_CONNECT_ATTRS)
        .union(Self::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
        .union(Self::CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS)
        .union(Self::CLIENT_SESSION_TRACK)
        .union(Self::CLIENT_DEPRECATE_EOF)
        .union(Self::CLIENT_REMEMBER_OPTIONS)
        .union(Self::MARIADB_CLIENT_PROGRESS)
        .union(Self::MARIADB_CLIENT_STMT_BULK_OPERATIONS)
        .union(Self::MARIADB_CLIENT_EXTENDED_METADATA)
        .union(Self::MARIADB_CLIENT_CACHE_METADATA);

    /// The lower 32 bits, as MySQL knows them.
    pub const fn lower(self) -> u32 {
        self.bits() as u32
    }

    /// MariaDB's extended capabilities.
    pub const fn extended(self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Puts both halves together. The upper one counts only without CLIENT_MYSQL.
    pub const fn from_halves(lower: u32, extended: u32) -> Self {
        let set = Self::from_bits(lower as u64);
        if set.contains(Self::CLIENT_MYSQL) {
            set
        } else {
            Self::from_bits(set.bits() | (extended as u64) << 32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_bits_are_for_mariadb_only() {
        let lower = Capabilities::CLIENT_PROTOCOL_41.lower();
        assert_eq!(
            Capabilities::from_halves(lower, 1),
            Capabilities::CLIENT_PROTOCOL_41 | Capabilities::MARIADB_CLIENT_PROGRESS
        );
        assert_eq!(Capabilities::from_halves(lower | 1, 1).extended(), 0);
    }

    #[test]
    fn debug_names_the_bits() {
        let set = Capabilities::CLIENT_SSL | Capabilities::from_bits(1 << 63);
        assert_eq!(format!("{set:?}"), "CLIENT_SSL|0x8000000000000000");
        assert_eq!(format!("{:?}", Capabilities::EMPTY), "0x0");
    }
}
