//! COM_REGISTER_SLAVE: a replica tells its primary who it is, for SHOW REPLICA HOSTS.
//! See <https://mariadb.com/kb/en/com_register_slave/>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Who the replica is. The texts are what report_host, report_user and report_password say, up to
/// 255 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterSlave<'a> {
    /// Its server_id.
    pub server_id: u32,
    /// report_host.
    pub host: &'a [u8],
    /// report_user.
    pub user: &'a [u8],
    /// report_password.
    pub password: &'a [u8],
    /// report_port.
    pub port: u16,
    /// Means nothing; 0.
    pub rank: u32,
    /// The primary's server_id as the replica believes; 0.
    pub master_id: u32,
}

impl<'a> RegisterSlave<'a> {
    pub(super) fn take(mut fields: Payload<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            server_id: fields.u32("server id")?,
            host: short_text(&mut fields, "host")?,
            user: short_text(&mut fields, "user")?,
            password: short_text(&mut fields, "password")?,
            port: fields.u16("port")?,
            rank: fields.u32("rank")?,
            master_id: fields.u32("master id")?,
        })
    }

    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_u32(self.server_id);
        for text in [self.host, self.user, self.password] {
            let text = &text[..text.len().min(255)];
            out.put_u8(text.len() as u8);
            out.put_bytes(text);
        }
        out.put_u16(self.port);
        out.put_u32(self.rank);
        out.put_u32(self.master_id);
    }
}

/// Bytes behind a one-byte length.
fn short_text<'a>(fields: &mut Payload<'a>, field: &'static str) -> Result<&'a [u8], DecodeError> {
    let length = fields.u8(field)?;
    fields.bytes(length.into(), field)
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::*;
    use crate::{BinlogDump, Capabilities};

    #[test]
    fn replica_commands_come_back() {
        for command in [
            Command::RegisterSlave(RegisterSlave {
                server_id: 2,
                host: b"replica",
                user: b"",
                password: b"",
                port: 3306,
                rank: 0,
                master_id: 0,
            }),
            Command::BinlogDump(BinlogDump {
                position: 4,
                flags: BinlogDump::BINLOG_SEND_ANNOTATE_ROWS_EVENT,
                server_id: 2,
                file_name: b"binlog.000001",
            }),
        ] {
            let mut out = SendBuffer::new();
            command.encode(&mut out, Capabilities::EMPTY);
            assert_eq!(
                Command::decode(&out.pending()[4..], Capabilities::EMPTY),
                Ok(command)
            );
        }
    }
}
