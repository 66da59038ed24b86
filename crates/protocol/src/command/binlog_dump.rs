//! COM_BINLOG_DUMP: a replica asks for the binary log from a position, or, with the session
//! variable `@slave_connect_state` set before, from a GTID position.
//! See <https://mariadb.com/kb/en/com_binlog_dump/>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Where and how to send the binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    /// Position within the file.
    pub position: u32,
    /// [`BINLOG_DUMP_NON_BLOCK`](Self::BINLOG_DUMP_NON_BLOCK) and
    /// [`BINLOG_SEND_ANNOTATE_ROWS_EVENT`](Self::BINLOG_SEND_ANNOTATE_ROWS_EVENT).
    pub flags: u16,
    /// The replica's server_id.
    pub server_id: u32,
    /// The file; empty for the first one.
    pub file_name: &'a [u8],
}

impl<'a> BinlogDump<'a> {
    /// Ends with EOF at the end of the log instead of waiting for more.
    pub const BINLOG_DUMP_NON_BLOCK: u16 = 1;
    /// Annotate_rows events are wanted.
    pub const BINLOG_SEND_ANNOTATE_ROWS_EVENT: u16 = 2;

    pub(super) fn take(mut fields: Payload<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            position: fields.u32("position")?,
            flags: fields.u16("flags")?,
            server_id: fields.u32("server id")?,
            file_name: fields.take_rest(),
        })
    }

    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_u32(self.position);
        out.put_u16(self.flags);
        out.put_u32(self.server_id);
        out.put_bytes(self.file_name);
    }
}
