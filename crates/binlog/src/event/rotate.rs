//! Rotate: the log goes on in another file.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader, utf8};

/// Rotate event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotate {
    /// Offset in that file, 4.
    pub position: u64,
    /// Its name.
    pub file: String,
}

impl Rotate {
    pub(super) fn decode(body: &Bytes) -> Result<Rotate, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(Rotate {
            position: r.u64("Rotate position")?,
            file: utf8(r.take_rest(), "file name")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.position);
        out.put_slice(self.file.as_bytes());
    }
}
