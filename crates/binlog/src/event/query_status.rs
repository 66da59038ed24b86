//! Status variables of a Query event: the session state that its statement depends on.

use bytes::Bytes;
use smallvec::SmallVec;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Bits of [`StatusVar::Flags2`] (session options; a set bit means what its name says).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryFlags2;

impl QueryFlags2 {
    /// `sql_auto_is_null=1`
    pub const AUTO_IS_NULL: u32 = 1 << 14;
    /// `autocommit=0`
    pub const NOT_AUTOCOMMIT: u32 = 1 << 19;
    /// `foreign_key_checks=0`
    pub const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
    /// `unique_checks=0`
    pub const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;
    /// `check_constraint_checks=0`
    pub const NO_CHECK_CONSTRAINT_CHECKS: u32 = 1 << 25;
    /// `explicit_defaults_for_timestamp=1`
    pub const EXPLICIT_DEFAULTS_FOR_TIMESTAMP: u32 = 1 << 24;
}

/// One status variable. Those of servers later than this one are kept as bytes
/// ([`StatusVar::Rest`]): their length is unknown, so that nothing behind them can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusVar {
    /// 0: session options, see [`QueryFlags2`].
    Flags2(u32),
    /// 1: `sql_mode` as bits.
    SqlMode(u64),
    /// 2: catalog, closed by a zero byte (MySQL before 5.0.4).
    CatalogZ(Bytes),
    /// 3: `auto_increment_increment`, `auto_increment_offset`.
    AutoIncrement(u16, u16),
    /// 4: collation ids `character_set_client`, `collation_connection`, `collation_server`.
    Charset {
        /// `character_set_client`, by its default collation.
        client: u16,
        /// `collation_connection`
        connection: u16,
        /// `collation_server`
        server: u16,
    },
    /// 5: `time_zone`.
    TimeZone(Bytes),
    /// 6: catalog (`std`).
    Catalog(Bytes),
    /// 7: number of `lc_time_names`.
    LcTimeNames(u16),
    /// 8: `collation_database`.
    CharsetDatabase(u16),
    /// 9: bitmap of tables that a multi-table UPDATE changes.
    TableMapForUpdate(u64),
    /// 10: bytes that the first primary wrote.
    MasterDataWritten(u32),
    /// 11: the definer of what the statement creates.
    Invoker {
        /// User name.
        user: Bytes,
        /// Host name.
        host: Bytes,
    },
    /// 13: microseconds of the statement's time, as MySQL writes them.
    Microseconds(u32),
    /// 128: microseconds of the statement's time, as MariaDB writes them.
    HrNow(u32),
    /// 129: the DDL statement's number for crash recovery.
    Xid(u64),
    /// 130: the extra flags of its GTID, and the sequence number of START ALTER.
    GtidFlags3(u16, Option<u64>),
    /// 131: `character_set_collations`: pairs of collation ids.
    CharacterSetCollations(SmallVec<[(u16, u16); 2]>),
    /// An unknown code and all that follows.
    Rest(Bytes),
}

/// The status variables in the order they were (or are to be) written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryStatus {
    /// In order.
    pub vars: SmallVec<[StatusVar; 8]>,
}

impl QueryStatus {
    /// None.
    pub fn new() -> QueryStatus {
        QueryStatus::default()
    }

    /// With one more.
    pub fn with(mut self, var: StatusVar) -> QueryStatus {
        self.vars.push(var);
        self
    }

    /// The microseconds of the statement's time.
    pub fn microseconds(&self) -> Option<u32> {
        self.vars.iter().find_map(|v| match v {
            StatusVar::HrNow(us) | StatusVar::Microseconds(us) => Some(*us),
            _ => None,
        })
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<QueryStatus, DecodeError> {
        let mut r = WireReader::new(bytes);
        let mut vars = SmallVec::new();
        while !r.is_empty() {
            let before = bytes.len() - r.remaining();
            let var = match r.u8("status variable")? {
                0 => StatusVar::Flags2(r.u32("flags2")?),
                1 => StatusVar::SqlMode(r.u64("sql_mode")?),
                2 => {
                    let catalog = share(bytes, r.bytes_u8("catalog")?);
                    r.zero("catalog")?;
                    StatusVar::CatalogZ(catalog)
                }
                3 => StatusVar::AutoIncrement(r.u16("auto_increment")?, r.u16("auto_increment")?),
                4 => StatusVar::Charset {
                    client: r.u16("charset")?,
                    connection: r.u16("charset")?,
                    server: r.u16("charset")?,
                },
                5 => StatusVar::TimeZone(share(bytes, r.bytes_u8("time_zone")?)),
                6 => StatusVar::Catalog(share(bytes, r.bytes_u8("catalog")?)),
                7 => StatusVar::LcTimeNames(r.u16("lc_time_names")?),
                8 => StatusVar::CharsetDatabase(r.u16("charset_database")?),
                9 => StatusVar::TableMapForUpdate(r.u64("table map")?),
                10 => StatusVar::MasterDataWritten(r.u32("master data written")?),
                11 => StatusVar::Invoker {
                    user: share(bytes, r.bytes_u8("invoker")?),
                    host: share(bytes, r.bytes_u8("invoker")?),
                },
                13 => StatusVar::Microseconds(r.u24("microseconds")?),
                128 => StatusVar::HrNow(r.u24("hrnow")?),
                129 => StatusVar::Xid(r.u64("xid")?),
                130 => {
                    let flags = r.u16("GTID flags")?;
                    let completes = u16::from(
                        super::gtid_extra_flags::COMMIT_ALTER
                            | super::gtid_extra_flags::ROLLBACK_ALTER,
                    );
                    let start = if flags & completes != 0 {
                        Some(r.u64("START ALTER")?)
                    } else {
                        None
                    };
                    StatusVar::GtidFlags3(flags, start)
                }
                131 => {
                    let count = r.u8("character_set_collations")?;
                    let mut pairs = SmallVec::new();
                    for _ in 0..count {
                        pairs.push((
                            r.u16("character_set_collations")?,
                            r.u16("character_set_collations")?,
                        ));
                    }
                    StatusVar::CharacterSetCollations(pairs)
                }
                _ => {
                    r.take_rest();
                    StatusVar::Rest(bytes.slice(before..))
                }
            };
            vars.push(var);
        }
        Ok(QueryStatus { vars })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        fn string(out: &mut Vec<u8>, s: &[u8]) {
            let s = &s[..s.len().min(255)];
            out.put_u8(s.len() as u8);
            out.put_slice(s);
        }
        for var in &self.vars {
            match var {
                StatusVar::Flags2(v) => {
                    out.put_u8(0);
                    out.put_u32(*v);
                }
                StatusVar::SqlMode(v) => {
                    out.put_u8(1);
                    out.put_u64(*v);
                }
                StatusVar::CatalogZ(v) => {
                    out.put_u8(2);
                    string(out, v);
                    out.put_u8(0);
                }
                StatusVar::AutoIncrement(increment, offset) => {
                    out.put_u8(3);
                    out.put_u16(*increment);
                    out.put_u16(*offset);
                }
                StatusVar::Charset {
                    client,
                    connection,
                    server,
                } => {
                    out.put_u8(4);
                    out.put_u16(*client);
                    out.put_u16(*connection);
                    out.put_u16(*server);
                }
                StatusVar::TimeZone(v) => {
                    out.put_u8(5);
                    string(out, v);
                }
                StatusVar::Catalog(v) => {
                    out.put_u8(6);
                    string(out, v);
                }
                StatusVar::LcTimeNames(v) => {
                    out.put_u8(7);
                    out.put_u16(*v);
                }
                StatusVar::CharsetDatabase(v) => {
                    out.put_u8(8);
                    out.put_u16(*v);
                }
                StatusVar::TableMapForUpdate(v) => {
                    out.put_u8(9);
                    out.put_u64(*v);
                }
                StatusVar::MasterDataWritten(v) => {
                    out.put_u8(10);
                    out.put_u32(*v);
                }
                StatusVar::Invoker { user, host } => {
                    out.put_u8(11);
                    string(out, user);
                    string(out, host);
                }
                StatusVar::Microseconds(v) => {
                    out.put_u8(13);
                    out.put_u24(*v);
                }
                StatusVar::HrNow(v) => {
                    out.put_u8(128);
                    out.put_u24(*v);
                }
                StatusVar::Xid(v) => {
                    out.put_u8(129);
                    out.put_u64(*v);
                }
                StatusVar::GtidFlags3(flags, start) => {
                    out.put_u8(130);
                    out.put_u16(*flags);
                    if let Some(seq_no) = start {
                        out.put_u64(*seq_no);
                    }
                }
                StatusVar::CharacterSetCollations(pairs) => {
                    out.put_u8(131);
                    out.put_u8(pairs.len() as u8);
                    for (charset, collation) in pairs {
                        out.put_u16(*charset);
                        out.put_u16(*collation);
                    }
                }
                StatusVar::Rest(bytes) => out.put_slice(bytes),
            }
        }
    }
}
