//! EOF: the end of column definitions or of rows, for clients without CLIENT_DEPRECATE_EOF.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::server_status::ServerStatus;

/// The EOF packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Eof {
    /// How many warnings SHOW WARNINGS has.
    pub warnings: u16,
    /// Status flags.
    pub status: ServerStatus,
}

impl Eof {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(0xFE);
        out.put_u16(self.warnings);
        out.put_u16(self.status.bits());
        out.end_packet();
    }

    /// Whether a packet among rows is EOF: a row may begin with 0xFE too, but is longer.
    pub fn is_eof(payload: &[u8]) -> bool {
        payload.first() == Some(&0xFE) && payload.len() < 9
    }

    /// Reads the packet.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 0xFE {
            return Err(DecodeError::Malformed("not an EOF packet"));
        }
        let warnings = fields.u16("warnings")?;
        let status = ServerStatus::from_bits(fields.u16("status")?);
        Ok(Self { warnings, status })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        let eof = Eof {
            warnings: 3,
            status: ServerStatus::SERVER_MORE_RESULTS_EXISTS,
        };
        let mut out = SendBuffer::new();
        eof.encode(&mut out);
        assert_eq!(out.pending(), [5, 0, 0, 0, 0xFE, 3, 0, 8, 0]);
        assert_eq!(Eof::decode(&out.pending()[4..]), Ok(eof));
    }
}
