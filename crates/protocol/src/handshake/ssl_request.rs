//! SSLRequest: the first half of a handshake response. The client goes on with TLS right behind it,
//! and sends the whole response through TLS.

use super::response::{HEAD_BYTES, Head};
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// The request to go on with TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SslRequest {
    /// What the client wants, CLIENT_SSL among them.
    pub capabilities: Capabilities,
    /// The longest packet the client takes.
    pub max_packet_bytes: u32,
    /// Collation id.
    pub collation: u16,
}

impl SslRequest {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        let Self {
            capabilities,
            max_packet_bytes,
            collation,
        } = *self;
        out.begin_packet();
        Head {
            capabilities,
            max_packet_bytes,
            collation,
        }
        .put(out);
        out.end_packet();
    }

    /// Whether the first packet of a client is an SSLRequest: it says CLIENT_SSL and ends where a
    /// response has the user.
    pub fn is_ssl_request(payload: &[u8]) -> bool {
        payload.len() == HEAD_BYTES
            && Self::decode(payload)
                .is_ok_and(|request| request.capabilities.contains(Capabilities::CLIENT_SSL))
    }

    /// Reads the packet.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let Head {
            capabilities,
            max_packet_bytes,
            collation,
        } = Head::take(&mut Payload::new(payload))?;
        Ok(Self {
            capabilities,
            max_packet_bytes,
            collation,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        let request = SslRequest {
            capabilities: Capabilities::CLIENT_SSL
                | Capabilities::CLIENT_PROTOCOL_41
                | Capabilities::MARIADB_CLIENT_PROGRESS,
            max_packet_bytes: 1 << 24,
            collation: 45,
        };
        let mut out = SendBuffer::new();
        request.encode(&mut out);
        assert!(SslRequest::is_ssl_request(&out.pending()[4..]));
        assert_eq!(SslRequest::decode(&out.pending()[4..]), Ok(request));
    }
}
