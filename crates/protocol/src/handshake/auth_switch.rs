//! AuthSwitchRequest: the account's plugin is another one than the client answered for.
//! See <https://mariadb.com/kb/en/connection/#authentication-switch-request>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// The request to answer anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSwitchRequest<'a> {
    /// The plugin that is to answer. Empty, without data, it asks for the password hash from
    /// before MySQL 4.1.
    pub plugin: &'a [u8],
    /// Random bytes for it. mysql_native_password wants a NUL behind its 20.
    pub auth_data: &'a [u8],
}

impl<'a> AuthSwitchRequest<'a> {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(0xFE);
        if !self.plugin.is_empty() {
            out.put_nul_terminated(self.plugin);
            out.put_bytes(self.auth_data);
        }
        out.end_packet();
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 0xFE {
            return Err(DecodeError::Malformed("not an AuthSwitchRequest"));
        }
        if fields.is_empty() {
            return Ok(Self {
                plugin: &[],
                auth_data: &[],
            });
        }
        let plugin = fields.nul_terminated("plugin")?;
        Ok(Self {
            plugin,
            auth_data: fields.take_rest(),
        })
    }
}

/// The client's answer, and any further packet of a plugin's client: nothing but its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSwitchResponse<'a> {
    /// What the plugin made.
    pub auth_response: &'a [u8],
}

impl<'a> AuthSwitchResponse<'a> {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.put_packet(self.auth_response);
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Self {
        Self {
            auth_response: payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        for request in [
            AuthSwitchRequest {
                plugin: b"client_ed25519",
                auth_data: &[7; 32],
            },
            AuthSwitchRequest {
                plugin: b"",
                auth_data: b"",
            },
        ] {
            let mut out = SendBuffer::new();
            request.encode(&mut out);
            assert_eq!(AuthSwitchRequest::decode(&out.pending()[4..]), Ok(request));
        }
    }
}
