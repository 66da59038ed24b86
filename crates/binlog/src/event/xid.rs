//! Xid and XA_prepare: the ends of transactions of transactional engines.

use bytes::Bytes;

use super::XaId;
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Xid event: COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xid {
    /// The transaction's number on the server that wrote it first.
    pub xid: u64,
}

impl Xid {
    pub(super) fn decode(body: &Bytes) -> Result<Xid, DecodeError> {
        Ok(Xid {
            xid: WireReader::new(body).u64("Xid")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.xid);
    }
}

/// XA_prepare event: the end of a transaction that is prepared, or committed in one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XaPrepare {
    /// XA COMMIT ... ONE PHASE.
    pub one_phase: bool,
    /// Name of the transaction.
    pub xid: XaId,
}

impl XaPrepare {
    pub(super) fn decode(body: &Bytes) -> Result<XaPrepare, DecodeError> {
        let mut r = WireReader::new(body);
        let one_phase = match r.u8("one-phase flag")? {
            0 => false,
            1 => true,
            _ => {
                return Err(DecodeError::Malformed {
                    what: "one-phase flag",
                });
            }
        };
        let format_id = r.u32("XA format id")?;
        let gtrid_len = r.u32("XA gtrid length")? as usize;
        let bqual_len = r.u32("XA bqual length")? as usize;
        let gtrid = share(body, r.take(gtrid_len, "XA gtrid")?);
        let bqual = share(body, r.take(bqual_len, "XA bqual")?);
        Ok(XaPrepare {
            one_phase,
            xid: XaId {
                format_id,
                gtrid,
                bqual,
            },
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.one_phase.into());
        out.put_u32(self.xid.format_id);
        out.put_u32(self.xid.gtrid.len() as u32);
        out.put_u32(self.xid.bqual.len() as u32);
        out.put_slice(&self.xid.gtrid);
        out.put_slice(&self.xid.bqual);
    }
}
