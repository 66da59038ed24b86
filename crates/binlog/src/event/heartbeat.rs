//! Heartbeat: a dump thread's sign of life; its position is the header's `end_log_pos`.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::utf8;

/// Heartbeat event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The file that the dump thread reads.
    pub file: String,
}

impl Heartbeat {
    pub(super) fn decode(body: &Bytes) -> Result<Heartbeat, DecodeError> {
        Ok(Heartbeat {
            file: utf8(body, "file name")?,
        })
    }
}
