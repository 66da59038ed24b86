//! The client's answer to the greeting ("HandshakeResponse41").
//! See <https://mariadb.com/kb/en/connection/#handshake-response-packet>.

use super::attributes::ConnectAttributes;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Who the client is and what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// What the client has of what the server offers: the set in force from here on.
    pub capabilities: Capabilities,
    /// The longest packet the client takes.
    pub max_packet_bytes: u32,
    /// Collation id, for character_set_client, _results and collation_connection.
    pub collation: u16,
    /// The account's user.
    pub user: &'a [u8],
    /// The plugin's answer to the greeting's auth data.
    pub auth_response: &'a [u8],
    /// The default database, when one is wanted.
    pub database: Option<&'a [u8]>,
    /// The plugin that made `auth_response`; when not named, mysql_native_password.
    pub auth_plugin: Option<&'a [u8]>,
    /// What the client tells about itself.
    pub attributes: ConnectAttributes<'a>,
    /// zstd's compression level, with CLIENT_ZSTD_COMPRESSION.
    pub zstd_level: Option<u8>,
}

/// The part that an SSLRequest has too.
pub(super) struct Head {
    pub(super) capabilities: Capabilities,
    pub(super) max_packet_bytes: u32,
    pub(super) collation: u16,
}

pub(super) const HEAD_BYTES: usize = 32;

impl Head {
    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_u32(self.capabilities.lower());
        out.put_u32(self.max_packet_bytes);
        out.put_u16(self.collation);
        out.put_zeros(18);
        let mariadb = !self.capabilities.contains(Capabilities::CLIENT_MYSQL);
        out.put_u32(if mariadb {
            self.capabilities.extended()
        } else {
            0
        });
    }

    pub(super) fn take(fields: &mut Payload<'_>) -> Result<Self, DecodeError> {
        // A client from before 4.1 sends 16 bits of capabilities and a shorter packet.
        let probe: u32 = fields.clone().u16("capabilities")?.into();
        if !Capabilities::from_bits(probe.into()).contains(Capabilities::CLIENT_PROTOCOL_41) {
            return Err(DecodeError::OldProtocol);
        }
        let lower = fields.u32("capabilities")?;
        let max_packet_bytes = fields.u32("max packet size")?;
        // One byte by the description; drivers that have larger ids use the filler's first byte.
        let collation = fields.u16("collation")?;
        fields.bytes(18, "filler")?;
        let capabilities = Capabilities::from_halves(lower, fields.u32("extended capabilities")?);
        Ok(Self {
            capabilities,
            max_packet_bytes,
            collation,
        })
    }
}

impl<'a> HandshakeResponse<'a> {
    /// Writes the packet.
    ///
    /// The parts go out that `capabilities` name; a database, plugin or attributes that are given
    /// without their capability are left away.
    pub fn encode(&self, out: &mut SendBuffer) {
        let Self {
            capabilities,
            max_packet_bytes,
            collation,
            ..
        } = *self;
        out.begin_packet();
        Head {
            capabilities,
            max_packet_bytes,
            collation,
        }
        .put(out);
        out.put_nul_terminated(self.user);
        if capabilities.contains(Capabilities::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            out.put_lenenc_bytes(self.auth_response);
        } else if capabilities.contains(Capabilities::CLIENT_SECURE_CONNECTION) {
            let response = &self.auth_response[..self.auth_response.len().min(255)];
            out.put_u8(response.len() as u8);
            out.put_bytes(response);
        } else {
            out.put_nul_terminated(self.auth_response);
        }
        if capabilities.contains(Capabilities::CLIENT_CONNECT_WITH_DB) {
            out.put_nul_terminated(self.database.unwrap_or_default());
        }
        if capabilities.contains(Capabilities::CLIENT_PLUGIN_AUTH) {
            out.put_nul_terminated(self.auth_plugin.unwrap_or_default());
        }
        if capabilities.contains(Capabilities::CLIENT_CONNECT_ATTRS) {
            self.attributes.put(out);
        }
        if capabilities.contains(Capabilities::CLIENT_ZSTD_COMPRESSION) {
            out.put_u8(self.zstd_level.unwrap_or_default());
        }
        out.end_packet();
    }

    /// Reads the packet. `offered` are the greeting's capabilities: what the client claims beyond
    /// them has no effect on how its packet is read.
    ///
    /// # Errors
    /// [`DecodeError::OldProtocol`] for a client from before MySQL 4.1.
    pub fn decode(payload: &'a [u8], offered: Capabilities) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        let Head {
            capabilities,
            max_packet_bytes,
            collation,
        } = Head::take(&mut fields)?;
        let capabilities = capabilities & offered;
        let has = |flag| capabilities.contains(flag);
        let user = fields.nul_terminated("user")?;
        let auth_response = if has(Capabilities::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            fields.lenenc_bytes("auth response")?
        } else if has(Capabilities::CLIENT_SECURE_CONNECTION) {
            let length = fields.u8("length of auth response")?;
            fields.bytes(length.into(), "auth response")?
        } else {
            fields.nul_terminated_or_rest()
        };
        let database = (has(Capabilities::CLIENT_CONNECT_WITH_DB) && !fields.is_empty())
            .then(|| fields.nul_terminated_or_rest())
            .filter(|name| !name.is_empty());
        let auth_plugin = (has(Capabilities::CLIENT_PLUGIN_AUTH) && !fields.is_empty())
            .then(|| fields.nul_terminated_or_rest())
            .filter(|name| !name.is_empty());
        let attributes = if has(Capabilities::CLIENT_CONNECT_ATTRS) && !fields.is_empty() {
            ConnectAttributes::take(&mut fields)?
        } else {
            ConnectAttributes::default()
        };
        let zstd_level = if has(Capabilities::CLIENT_ZSTD_COMPRESSION) {
            Some(fields.u8("zstd level")?)
        } else {
            None
        };
        Ok(Self {
            capabilities,
            max_packet_bytes,
            collation,
            user,
            auth_response,
            database,
            auth_plugin,
            attributes,
            zstd_level,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(capabilities: Capabilities, encoded_attributes: &[u8]) -> HandshakeResponse<'_> {
        HandshakeResponse {
            capabilities,
            max_packet_bytes: 1 << 24,
            collation: 255,
            user: b"root",
            auth_response: b"01234567890123456789",
            database: Some(b"test"),
            auth_plugin: Some(b"mysql_native_password"),
            attributes: ConnectAttributes::from_encoded(encoded_attributes),
            zstd_level: None,
        }
    }

    #[test]
    fn comes_back() {
        let offered = Capabilities::SERVER_DEFAULT;
        let attributes = ConnectAttributes::encode(&[(b"_client_name", b"libmariadb")]);
        let mut out = SendBuffer::new();
        let full = response(offered, &attributes);
        full.encode(&mut out);
        assert_eq!(
            HandshakeResponse::decode(&out.pending()[4..], offered),
            Ok(full)
        );
    }

    #[test]
    fn the_least_response() {
        let least = Capabilities::CLIENT_PROTOCOL_41 | Capabilities::CLIENT_SECURE_CONNECTION;
        let mut out = SendBuffer::new();
        response(least, b"").encode(&mut out);
        let read =
            HandshakeResponse::decode(&out.pending()[4..], Capabilities::SERVER_DEFAULT).unwrap();
        assert_eq!(
            read,
            HandshakeResponse {
                database: None,
                auth_plugin: None,
                ..response(least, b"")
            }
        );
    }

    #[test]
    fn a_client_before_4_1_is_told_apart() {
        let payload = b"\x05\x00\xFF\xFF\xFFroot\0password";
        assert_eq!(
            HandshakeResponse::decode(payload, Capabilities::SERVER_DEFAULT),
            Err(DecodeError::OldProtocol)
        );
    }
}
