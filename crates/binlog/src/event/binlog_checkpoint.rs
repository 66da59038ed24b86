//! Binlog_checkpoint: the oldest file that crash recovery needs.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader, utf8};

/// Binlog_checkpoint event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinlogCheckpoint {
    /// The file's name.
    pub file: String,
}

impl BinlogCheckpoint {
    pub(super) fn decode(body: &Bytes) -> Result<BinlogCheckpoint, DecodeError> {
        let mut r = WireReader::new(body);
        let n = r.u32("file name length")? as usize;
        Ok(BinlogCheckpoint {
            file: utf8(r.take(n, "file name")?, "file name")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.file.len() as u32);
        out.put_slice(self.file.as_bytes());
    }
}
