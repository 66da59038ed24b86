//! AuthMoreData: a further packet from a plugin of the server to its client's half.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// The plugin's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthMoreData<'a> {
    /// What the plugin sends.
    pub data: &'a [u8],
}

impl<'a> AuthMoreData<'a> {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(1);
        out.put_bytes(self.data);
        out.end_packet();
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 1 {
            return Err(DecodeError::Malformed("not an AuthMoreData packet"));
        }
        Ok(Self {
            data: fields.take_rest(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        let more = AuthMoreData { data: &[4] };
        let mut out = SendBuffer::new();
        more.encode(&mut out);
        assert_eq!(out.pending(), [2, 0, 0, 0, 1, 4]);
        assert_eq!(AuthMoreData::decode(&out.pending()[4..]), Ok(more));
    }
}
