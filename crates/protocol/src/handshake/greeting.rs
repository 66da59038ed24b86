//! The server's first packet (handshake version 10).
//! See <https://mariadb.com/kb/en/connection/#initial-handshake-packet>.

use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::server_status::ServerStatus;

/// The greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting<'a> {
    /// `@@version`.
    pub server_version: &'a [u8],
    /// Whether `5.5.5-` goes before the version. MariaDB 10 did that, because replicas of old read
    /// only one digit before the first point; MariaDB 11 no longer does.
    pub version_prefix: bool,
    /// The connection's id; the lower 32 bits of `CONNECTION_ID()`.
    pub connection_id: u32,
    /// Random bytes for the plugin, at least eight; a [`Scramble`](super::Scramble)'s 20 for
    /// mysql_native_password.
    pub auth_data: &'a [u8],
    /// What the server offers.
    pub capabilities: Capabilities,
    /// Lower byte of the server's default collation id.
    pub collation: u8,
    /// Status flags.
    pub status: ServerStatus,
    /// The plugin that `auth_data` is for.
    pub auth_plugin: &'a [u8],
}

const PROTOCOL_VERSION: u8 = 10;
const VERSION_PREFIX: &[u8] = b"5.5.5-";
const AUTH_DATA_FIRST_PART: usize = 8;
/// Clients read at least this much of the second part.
const AUTH_DATA_SECOND_PART_MIN: usize = 12;

impl<'a> Greeting<'a> {
    /// Writes the packet; CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH must be offered.
    ///
    /// # Panics
    /// When the auth data are not 8 to 254 bytes.
    pub fn encode(&self, out: &mut SendBuffer) {
        let (first, second) = self.auth_data.split_at(AUTH_DATA_FIRST_PART);
        let length = u8::try_from(self.auth_data.len() + 1).expect("auth data over 254 bytes");
        let lower = self.capabilities.lower();
        out.begin_packet();
        out.put_u8(PROTOCOL_VERSION);
        if self.version_prefix {
            out.put_bytes(VERSION_PREFIX);
        }
        out.put_nul_terminated(self.server_version);
        out.put_u32(self.connection_id);
        out.put_bytes(first);
        out.put_u8(0);
        out.put_u16(lower as u16);
        out.put_u8(self.collation);
        out.put_u16(self.status.bits());
        out.put_u16((lower >> 16) as u16);
        out.put_u8(length);
        out.put_zeros(6);
        let mariadb = !self.capabilities.contains(Capabilities::CLIENT_MYSQL);
        out.put_u32(if mariadb {
            self.capabilities.extended()
        } else {
            0
        });
        out.put_bytes(second);
        out.put_zeros(AUTH_DATA_SECOND_PART_MIN.saturating_sub(second.len()));
        out.put_u8(0);
        out.put_nul_terminated(self.auth_plugin);
        out.end_packet();
    }

    /// Reads the packet. `auth_data` becomes what `buffer` gets: its two parts joined.
    pub fn decode(payload: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("protocol version")? != PROTOCOL_VERSION {
            return Err(DecodeError::Malformed("protocol version is not 10"));
        }
        let version = fields.nul_terminated("server version")?;
        let connection_id = fields.u32("connection id")?;
        buffer.clear();
        buffer.extend_from_slice(fields.bytes(AUTH_DATA_FIRST_PART, "auth data")?);
        fields.u8("filler")?;
        let mut lower: u32 = fields.u16("capabilities")?.into();
        let collation = fields.u8("collation")?;
        let status = ServerStatus::from_bits(fields.u16("status")?);
        lower |= u32::from(fields.u16("capabilities")?) << 16;
        let length: usize = fields.u8("length of auth data")?.into();
        fields.bytes(6, "filler")?;
        let capabilities = Capabilities::from_halves(lower, fields.u32("extended capabilities")?);
        if capabilities.contains(Capabilities::CLIENT_SECURE_CONNECTION) {
            let rest = length.saturating_sub(AUTH_DATA_FIRST_PART + 1);
            let second = fields.bytes(rest.max(AUTH_DATA_SECOND_PART_MIN), "auth data")?;
            buffer.extend_from_slice(&second[..rest.min(second.len())]);
            fields.u8("end of auth data")?;
        }
        let plugged = capabilities.contains(Capabilities::CLIENT_PLUGIN_AUTH);
        let auth_plugin = if plugged {
            fields.nul_terminated_or_rest()
        } else {
            &[]
        };
        let unprefixed = version.strip_prefix(VERSION_PREFIX);
        Ok(Self {
            server_version: unprefixed.unwrap_or(version),
            version_prefix: unprefixed.is_some(),
            connection_id,
            auth_data: buffer,
            capabilities,
            collation,
            status,
            auth_plugin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        for version_prefix in [false, true] {
            let greeting = Greeting {
                server_version: b"11.8.0-MariaDB",
                version_prefix,
                connection_id: 77,
                auth_data: b"abcdefghijklmnopqrst",
                capabilities: Capabilities::SERVER_DEFAULT,
                collation: 45,
                status: ServerStatus::SERVER_STATUS_AUTOCOMMIT,
                auth_plugin: b"mysql_native_password",
            };
            let mut out = SendBuffer::new();
            greeting.encode(&mut out);
            let mut buffer = Vec::new();
            assert_eq!(
                Greeting::decode(&out.pending()[4..], &mut buffer),
                Ok(greeting)
            );
        }
    }
}
