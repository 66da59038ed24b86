//! LOAD DATA in statement format: blocks of the file, then the statement.

use bytes::Bytes;

use super::{EventType, QueryEvent};
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Begin_load_query (the first block of a file), Append_block (a further one) or Delete_file (none follows:
/// forget it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadBlock {
    /// Which of the three.
    pub event_type: EventType,
    /// Which file, unique among those in flight.
    pub file_id: u32,
    /// Bytes of the file.
    pub data: Bytes,
}

impl LoadBlock {
    pub(super) fn decode(event_type: EventType, body: &Bytes) -> Result<LoadBlock, DecodeError> {
        let mut r = WireReader::new(body);
        Ok(LoadBlock {
            event_type,
            file_id: r.u32("file id")?,
            data: share(body, r.take_rest()),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.file_id);
        out.put_slice(&self.data);
    }
}

/// Execute_load_query event: the statement, and where in it the file's name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecuteLoadQuery {
    /// The statement.
    pub query: QueryEvent,
    /// The file that blocks were sent of.
    pub file_id: u32,
    /// Offset of the file's name in the statement (of the word LOCAL or INFILE before it).
    pub file_name_start: u32,
    /// Offset behind it.
    pub file_name_end: u32,
    /// 0 error, 1 IGNORE, 2 REPLACE.
    pub duplicate_handling: u8,
}

impl ExecuteLoadQuery {
    pub(super) fn decode(body: &Bytes) -> Result<ExecuteLoadQuery, DecodeError> {
        let mut own = [0u8; 13];
        let query = QueryEvent::decode_with(body, false, &mut own)?;
        let mut r = WireReader::new(&own);
        Ok(ExecuteLoadQuery {
            query,
            file_id: r.u32("file id")?,
            file_name_start: r.u32("file name offset")?,
            file_name_end: r.u32("file name offset")?,
            duplicate_handling: r.u8("duplicate handling")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut own = Vec::with_capacity(13);
        own.put_u32(self.file_id);
        own.put_u32(self.file_name_start);
        own.put_u32(self.file_name_end);
        own.put_u8(self.duplicate_handling);
        self.query.encode_with(&own, out);
    }
}
