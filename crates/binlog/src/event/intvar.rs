//! Intvar: LAST_INSERT_ID or INSERT_ID for the statement that follows.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader};

/// Intvar event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intvar {
    /// [`Intvar::LAST_INSERT_ID`] or [`Intvar::INSERT_ID`].
    pub variable: u8,
    /// The value.
    pub value: u64,
}

impl Intvar {
    /// What LAST_INSERT_ID() returns.
    pub const LAST_INSERT_ID: u8 = 1;
    /// The first AUTO_INCREMENT value that the statement takes.
    pub const INSERT_ID: u8 = 2;

    pub(super) fn decode(body: &Bytes) -> Result<Intvar, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(Intvar {
            variable: r.u8("Intvar type")?,
            value: r.u64("Intvar value")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.variable);
        out.put_u64(self.value);
    }
}
