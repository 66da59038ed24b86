//! Rand: the seeds of RAND() for the statement that follows.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader};

/// Rand event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rand {
    /// `rand_seed1`
    pub seed1: u64,
    /// `rand_seed2`
    pub seed2: u64,
}

impl Rand {
    pub(super) fn decode(body: &Bytes) -> Result<Rand, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(Rand {
            seed1: r.u64("RAND seed")?,
            seed2: r.u64("RAND seed")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.seed1);
        out.put_u64(self.seed2);
    }
}
