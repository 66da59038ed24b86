//! Gtid_list: the binlog state at the head of a file.

use bytes::Bytes;

use crate::wire::{WirePut, WireReader};
use crate::{DecodeError, Gtid};

const COUNT_MASK: u32 = (1 << 28) - 1;
const EMPTY_PADDING: usize = 2;

/// Gtid_list event: the last GTID of each domain and server in all files before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GtidListEvent {
    /// High four bits of the count: what a dump thread tells (`1`: UNTIL reached, `2`: ignore the list).
    pub flags: u8,
    /// By domain; the last one of each domain is the last that was written.
    pub gtids: Vec<Gtid>,
}

impl GtidListEvent {
    pub(super) fn decode(body: &Bytes) -> Result<GtidListEvent, DecodeError> {
        let mut r = WireReader::new(body);
        let word = r.u32("GTID count")?;
        let count = (word & COUNT_MASK) as usize;
        if count
            .checked_mul(16)
            .is_none_or(|need| need > r.remaining())
        {
            return Err(DecodeError::Truncated {
                what: "GTID list",
                need: count,
                have: r.remaining() / 16,
            });
        }
        let mut gtids = Vec::with_capacity(count);
        for _ in 0..count {
            let domain_id = r.u32("domain id")?;
            let server_id = r.u32("server id")?;
            gtids.push(Gtid {
                domain_id,
                server_id,
                seq_no: r.u64("sequence number")?,
            });
        }
        Ok(GtidListEvent {
            flags: (word >> 28) as u8,
            gtids,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.gtids.len() as u32 & COUNT_MASK | u32::from(self.flags) << 28);
        for g in &self.gtids {
            out.put_u32(g.domain_id);
            out.put_u32(g.server_id);
            out.put_u64(g.seq_no);
        }
        if self.gtids.is_empty() {
            out.put_slice(&[0; EMPTY_PADDING]);
        }
    }
}
