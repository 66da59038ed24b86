//! COM_CHANGE_USER: logs in anew on the same connection.
//! See <https://mariadb.com/kb/en/com_change_user/>.

use super::attributes::ConnectAttributes;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Who the client is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// The account's user.
    pub user: &'a [u8],
    /// The plugin's answer to the scramble sent last (that of the greeting, or of an
    /// AuthSwitchRequest). Up to 255 bytes.
    pub auth_response: &'a [u8],
    /// The default database, when one is wanted.
    pub database: Option<&'a [u8]>,
    /// Collation id; `None` keeps the server's default.
    pub collation: Option<u16>,
    /// The plugin that made `auth_response`.
    pub auth_plugin: Option<&'a [u8]>,
    /// What the client tells about itself.
    pub attributes: ConnectAttributes<'a>,
}

impl<'a> ChangeUser<'a> {
    /// Reads what stands behind the command's number.
    pub(crate) fn take(
        mut fields: Payload<'a>,
        capabilities: Capabilities,
    ) -> Result<Self, DecodeError> {
        let has = |flag| capabilities.contains(flag);
        let user = fields.nul_terminated("user")?;
        let auth_response = if has(Capabilities::CLIENT_SECURE_CONNECTION) {
            let length = fields.u8("length of auth response")?;
            fields.bytes(length.into(), "auth response")?
        } else {
            fields.nul_terminated("auth response")?
        };
        let database = fields.nul_terminated("database")?;
        // What follows came later: each part may be missing, with all that would follow it.
        let collation = if fields.is_empty() {
            None
        } else {
            Some(fields.u16("collation")?)
        };
        let auth_plugin = (has(Capabilities::CLIENT_PLUGIN_AUTH) && !fields.is_empty())
            .then(|| fields.nul_terminated_or_rest())
            .filter(|name| !name.is_empty());
        let attributes = if has(Capabilities::CLIENT_CONNECT_ATTRS) && !fields.is_empty() {
            ConnectAttributes::take(&mut fields)?
        } else {
            ConnectAttributes::default()
        };
        Ok(Self {
            user,
            auth_response,
            database: Some(database).filter(|name| !name.is_empty()),
            collation,
            auth_plugin,
            attributes,
        })
    }

    /// Writes what stands behind the command's number.
    pub(crate) fn put(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        out.put_nul_terminated(self.user);
        if capabilities.contains(Capabilities::CLIENT_SECURE_CONNECTION) {
            let response = &self.auth_response[..self.auth_response.len().min(255)];
            out.put_u8(response.len() as u8);
            out.put_bytes(response);
        } else {
            out.put_nul_terminated(self.auth_response);
        }
        out.put_nul_terminated(self.database.unwrap_or_default());
        let Some(collation) = self.collation else {
            return;
        };
        out.put_u16(collation);
        if capabilities.contains(Capabilities::CLIENT_PLUGIN_AUTH) {
            out.put_nul_terminated(self.auth_plugin.unwrap_or_default());
        }
        if capabilities.contains(Capabilities::CLIENT_CONNECT_ATTRS) {
            self.attributes.put(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;

    #[test]
    fn comes_back() {
        let attributes = ConnectAttributes::encode(&[(b"_os", b"Linux")]);
        let full = ChangeUser {
            user: b"app",
            auth_response: b"01234567890123456789",
            database: Some(b"test"),
            collation: Some(224),
            auth_plugin: Some(b"mysql_native_password"),
            attributes: ConnectAttributes::from_encoded(&attributes),
        };
        let least = ChangeUser {
            auth_response: b"",
            database: None,
            collation: None,
            auth_plugin: None,
            attributes: ConnectAttributes::default(),
            ..full
        };
        for change_user in [full, least] {
            let command = Command::ChangeUser(change_user);
            let mut out = SendBuffer::new();
            command.encode(&mut out, Capabilities::SERVER_DEFAULT);
            let read = Command::decode(&out.pending()[4..], Capabilities::SERVER_DEFAULT);
            assert_eq!(read, Ok(command));
        }
    }
}
