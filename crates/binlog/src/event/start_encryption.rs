//! Start_encryption: everything behind it in the file is encrypted. Recognised in order to be
//! refused with a clear error; Selkie neither writes nor reads encrypted logs.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader};

/// Start_encryption event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartEncryption {
    /// 1.
    pub scheme: u8,
    /// Version of the key.
    pub key_version: u32,
    /// Start value of the cipher.
    pub nonce: [u8; 12],
}

impl StartEncryption {
    pub(super) fn decode(body: &Bytes) -> Result<StartEncryption, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(StartEncryption {
            scheme: r.u8("encryption scheme")?,
            key_version: r.u32("key version")?,
            nonce: r.array("nonce")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.scheme);
        out.put_u32(self.key_version);
        out.put_slice(&self.nonce);
    }
}
