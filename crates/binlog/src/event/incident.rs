//! Incident: the log lacks something; a replica stops here.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Incident event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    /// 1: events were lost.
    pub incident: u16,
    /// What happened.
    pub message: Bytes,
}

impl Incident {
    pub(super) fn decode(body: &Bytes) -> Result<Incident, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(Incident {
            incident: r.u16("incident number")?,
            message: share(body, r.bytes_u8("incident message")?),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let message = &self.message[..self.message.len().min(255)];
        out.put_u16(self.incident);
        out.put_u8(message.len() as u8);
        out.put_slice(message);
    }
}
