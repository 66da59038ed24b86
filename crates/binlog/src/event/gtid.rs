//! Gtid: the head of every transaction.

use bytes::Bytes;

use crate::wire::{WirePut, WireReader, share};
use crate::{DecodeError, Gtid};

/// Bits of [`GtidEvent::flags2`].
pub mod gtid_flags {
    /// The group is one event (DDL), without COMMIT at its end.
    pub const STANDALONE: u8 = 1;
    /// A commit id follows: transactions with the same one committed together.
    pub const GROUP_COMMIT_ID: u8 = 2;
    /// Can be rolled back.
    pub const TRANSACTIONAL: u8 = 4;
    /// Optimistic parallel replication may try it.
    pub const ALLOW_PARALLEL: u8 = 8;
    /// Waited for a row lock of another transaction.
    pub const WAITED: u8 = 16;
    /// DDL.
    pub const DDL: u8 = 32;
    /// XA PREPARE.
    pub const PREPARED_XA: u8 = 64;
    /// XA COMMIT or XA ROLLBACK.
    pub const COMPLETED_XA: u8 = 128;
}

/// Bits of [`GtidEvent::flags_extra`].
pub mod gtid_extra_flags {
    /// A count of engines follows.
    pub const MULTI_ENGINE: u8 = 1;
    /// START ALTER.
    pub const START_ALTER: u8 = 2;
    /// COMMIT ALTER; the sequence number of its START ALTER follows.
    pub const COMMIT_ALTER: u8 = 4;
    /// ROLLBACK ALTER; as above.
    pub const ROLLBACK_ALTER: u8 = 8;
    /// A thread id follows (MariaDB 11.5).
    pub const THREAD_ID: u8 = 16;
}

/// Fewest bytes of the body.
const GTID_LEN_MIN: usize = 19;

/// An XA transaction's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct XaId {
    /// Format id.
    pub format_id: u32,
    /// Global part, at most 64 bytes.
    pub gtrid: Bytes,
    /// Branch qualifier, at most 64 bytes.
    pub bqual: Bytes,
}

/// What the extra flags of MariaDB 10.8 and later carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StartAlter {
    /// How many engines beyond the first took part.
    pub extra_engines: Option<u8>,
    /// Sequence number of the START ALTER that this completes.
    pub start_alter_seq_no: Option<u64>,
    /// The thread that ran it.
    pub thread_id: Option<u32>,
}

/// Gtid event. The server id of the GTID is that of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtidEvent {
    /// The id.
    pub gtid: Gtid,
    /// See [`gtid_flags`]. `GROUP_COMMIT_ID` is set on writing where there is a commit id, and the
    /// XA bits must agree with `xid`.
    pub flags2: u8,
    /// Shared by the transactions of one commit group.
    pub commit_id: Option<u64>,
    /// With `PREPARED_XA` or `COMPLETED_XA`.
    pub xid: Option<XaId>,
    /// See [`gtid_extra_flags`]; 0 = none written.
    pub flags_extra: u8,
    /// What those announce.
    pub extra: StartAlter,
    /// Bytes of later versions, kept.
    pub rest: Bytes,
}

impl GtidEvent {
    /// With flags, without commit id and extras.
    pub fn new(gtid: Gtid, flags2: u8) -> GtidEvent {
        GtidEvent {
            gtid,
            flags2,
            commit_id: None,
            xid: None,
            flags_extra: 0,
            extra: StartAlter::default(),
            rest: Bytes::new(),
        }
    }

    /// Whether one event follows that ends the group by itself.
    pub fn is_standalone(&self) -> bool {
        self.flags2 & gtid_flags::STANDALONE != 0
    }

    pub(super) fn decode(body: &Bytes, server_id: u32) -> Result<GtidEvent, DecodeError> {
        use gtid_extra_flags as x;
        if body.len() < GTID_LEN_MIN {
            return Err(DecodeError::Truncated {
                what: "Gtid event",
                need: GTID_LEN_MIN,
                have: body.len(),
            });
        }
        let mut r = WireReader::new(body);
        let seq_no = r.u64("sequence number")?;
        let domain_id = r.u32("domain id")?;
        let flags2 = r.u8("GTID flags")?;
        let mut event = GtidEvent::new(
            Gtid {
                domain_id,
                server_id,
                seq_no,
            },
            flags2,
        );
        if flags2 & gtid_flags::GROUP_COMMIT_ID != 0 {
            event.commit_id = Some(r.u64("commit id")?);
        }
        if flags2 & (gtid_flags::PREPARED_XA | gtid_flags::COMPLETED_XA) != 0 {
            let format_id = r.u32("XA format id")?;
            let gtrid_len = usize::from(r.u8("XA gtrid length")?);
            let bqual_len = usize::from(r.u8("XA bqual length")?);
            event.xid = Some(XaId {
                format_id,
                gtrid: share(body, r.take(gtrid_len, "XA gtrid")?),
                bqual: share(body, r.take(bqual_len, "XA bqual")?),
            });
        }
        if !r.is_empty() {
            event.flags_extra = r.u8("GTID extra flags")?;
            if event.flags_extra & x::MULTI_ENGINE != 0 {
                event.extra.extra_engines = Some(r.u8("extra engines")?);
            }
            if event.flags_extra & (x::COMMIT_ALTER | x::ROLLBACK_ALTER) != 0 {
                event.extra.start_alter_seq_no = Some(r.u64("START ALTER sequence number")?);
            }
            if event.flags_extra & x::THREAD_ID != 0 && r.remaining() >= 4 {
                event.extra.thread_id = Some(r.u32("thread id")?);
            }
        }
        let rest = r.take_rest();
        let padding_only = body.len() == GTID_LEN_MIN && rest.iter().all(|b| *b == 0);
        if !padding_only {
            event.rest = share(body, rest);
        }
        Ok(event)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let mut flags2 = self.flags2 & !gtid_flags::GROUP_COMMIT_ID;
        if self.commit_id.is_some() {
            flags2 |= gtid_flags::GROUP_COMMIT_ID;
        }
        out.put_u64(self.gtid.seq_no);
        out.put_u32(self.gtid.domain_id);
        out.put_u8(flags2);
        if let Some(id) = self.commit_id {
            out.put_u64(id);
        }
        if let Some(xid) = &self.xid {
            out.put_u32(xid.format_id);
            out.put_u8(xid.gtrid.len() as u8);
            out.put_u8(xid.bqual.len() as u8);
            out.put_slice(&xid.gtrid);
            out.put_slice(&xid.bqual);
        }
        if self.flags_extra != 0 {
            out.put_u8(self.flags_extra);
            if let Some(n) = self.extra.extra_engines {
                out.put_u8(n);
            }
            if let Some(n) = self.extra.start_alter_seq_no {
                out.put_u64(n);
            }
            if let Some(n) = self.extra.thread_id {
                out.put_u32(n);
            }
        } else if !self.rest.is_empty() {
            out.put_u8(0);
        }
        out.put_slice(&self.rest);
        if out.len() - start < GTID_LEN_MIN {
            out.resize(start + GTID_LEN_MIN, 0);
        }
    }
}
