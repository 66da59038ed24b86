//! ERR: a command failed. See <https://mariadb.com/kb/en/err_packet/>.

use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// The ERR packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Err<'a> {
    /// The error's number; 0xFFFF is taken by [`Progress`](super::Progress).
    pub code: u16,
    /// Five characters. `None` for a client without CLIENT_PROTOCOL_41.
    pub sqlstate: Option<[u8; 5]>,
    /// In the connection's character_set_results. Sent up to 511 bytes.
    pub message: &'a [u8],
}

/// MYSQL_ERRMSG_SIZE less the closing NUL: clients have no room for more.
const MESSAGE_BYTES_MAX: usize = 511;

impl<'a> Err<'a> {
    /// An error with its SQLSTATE.
    pub fn new(code: u16, sqlstate: [u8; 5], message: &'a [u8]) -> Self {
        Self {
            code,
            sqlstate: Some(sqlstate),
            message,
        }
    }

    /// Writes the packet. The SQLSTATE goes out only with CLIENT_PROTOCOL_41, so before the
    /// handshake response pass what the server offers.
    pub fn encode(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        out.begin_packet();
        out.put_u8(0xFF);
        out.put_u16(self.code);
        if let Some(sqlstate) = self.sqlstate
            && capabilities.contains(Capabilities::CLIENT_PROTOCOL_41)
        {
            out.put_u8(b'#');
            out.put_bytes(&sqlstate);
        }
        out.put_bytes(cut(self.message));
        out.end_packet();
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 0xFF {
            return Err(DecodeError::Malformed("not an ERR packet"));
        }
        let code = fields.u16("error number")?;
        let sqlstate = if fields.rest().first() == Some(&b'#') && fields.rest().len() >= 6 {
            fields.u8("SQLSTATE marker")?;
            Some(fields.array("SQLSTATE")?)
        } else {
            None
        };
        Ok(Self {
            code,
            sqlstate,
            message: fields.take_rest(),
        })
    }
}

/// The message's longest head that can be sent, not ending within a UTF-8 character.
fn cut(message: &[u8]) -> &[u8] {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message;
    }
    let is_continuation = |&at: &usize| message[at] & 0xC0 == 0x80;
    let end = (MESSAGE_BYTES_MAX - 3..=MESSAGE_BYTES_MAX)
        .rev()
        .find(|at| !is_continuation(at))
        .unwrap_or(MESSAGE_BYTES_MAX);
    &message[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_sqlstate() {
        let err = Err::new(1045, *b"28000", b"no");
        let mut out = SendBuffer::new();
        err.encode(&mut out, Capabilities::CLIENT_PROTOCOL_41);
        assert_eq!(&out.pending()[4..], b"\xFF\x15\x04#28000no");
        assert_eq!(Err::decode(&out.pending()[4..]), Ok(err));
        out.clear();
        err.encode(&mut out, Capabilities::EMPTY);
        assert_eq!(&out.pending()[4..], b"\xFF\x15\x04no");
        assert_eq!(
            Err::decode(&out.pending()[4..]),
            Ok(Err {
                sqlstate: None,
                ..err
            })
        );
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let message = format!("{}äää", "x".repeat(508));
        let err = Err::new(1064, *b"42000", message.as_bytes());
        let mut out = SendBuffer::new();
        err.encode(&mut out, Capabilities::CLIENT_PROTOCOL_41);
        let sent = Err::decode(&out.pending()[4..]).unwrap().message.to_vec();
        assert_eq!(
            String::from_utf8(sent).unwrap(),
            format!("{}ä", "x".repeat(508))
        );
    }
}
