//! LOAD DATA LOCAL INFILE: the server asks for a file, the client sends it in packets, the last of
//! which is empty. See <https://mariadb.com/kb/en/packet_local_infile/>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// The server's request, which stands where OK or a result set would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalInfileRequest<'a> {
    /// The name as the statement has it.
    pub file_name: &'a [u8],
}

impl<'a> LocalInfileRequest<'a> {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(0xFB);
        out.put_bytes(self.file_name);
        out.end_packet();
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 0xFB {
            return Err(DecodeError::Malformed("not a request for a local file"));
        }
        Ok(Self {
            file_name: fields.take_rest(),
        })
    }
}

/// One packet of the client's answer. All of them must be read, even when the statement failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfileData<'a> {
    /// A piece of the file.
    Piece(&'a [u8]),
    /// The file's end. A client that cannot read the file sends this at once.
    End,
}

impl<'a> InfileData<'a> {
    /// Reads a packet.
    pub fn decode(payload: &'a [u8]) -> Self {
        if payload.is_empty() {
            Self::End
        } else {
            Self::Piece(payload)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_comes_back() {
        let request = LocalInfileRequest {
            file_name: b"/tmp/t.csv",
        };
        let mut out = SendBuffer::new();
        request.encode(&mut out);
        assert_eq!(LocalInfileRequest::decode(&out.pending()[4..]), Ok(request));
    }

    #[test]
    fn an_empty_packet_ends_the_file() {
        assert_eq!(InfileData::decode(b""), InfileData::End);
        assert_eq!(InfileData::decode(b"1\t2\n"), InfileData::Piece(b"1\t2\n"));
    }
}
