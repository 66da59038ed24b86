//! Query: a statement as text, with the session state that it depends on.

use bytes::Bytes;

use super::{QueryStatus, compress, decompress};
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share, utf8};

/// Query event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryEvent {
    /// The connection that ran it (names temporary tables).
    pub thread_id: u32,
    /// Seconds it ran.
    pub exec_time: u32,
    /// Error that it ended with; a replica must get the same.
    pub error_code: u16,
    /// Session state.
    pub status: QueryStatus,
    /// Default database.
    pub database: String,
    /// The statement, in the client's character set of the status. Uncompressed.
    pub query: Bytes,
    /// Read from, or to be written as, a compressed event.
    pub compressed: bool,
}

impl QueryEvent {
    pub(crate) fn decode(body: &Bytes, compressed: bool) -> Result<QueryEvent, DecodeError> {
        QueryEvent::decode_with(body, compressed, &mut [])
    }

    /// Decodes; the bytes that a derived event has behind the common fixed part go to `own`.
    pub(super) fn decode_with(
        body: &Bytes,
        compressed: bool,
        own: &mut [u8],
    ) -> Result<QueryEvent, DecodeError> {
        let mut r = WireReader::new(body);
        let thread_id = r.u32("thread id")?;
        let exec_time = r.u32("execution time")?;
        let database_len = usize::from(r.u8("database length")?);
        let error_code = r.u16("error code")?;
        let status_len = usize::from(r.u16("status variables length")?);
        own.copy_from_slice(r.take(own.len(), "fixed part")?);
        let status = QueryStatus::decode(&share(body, r.take(status_len, "status variables")?))?;
        let database = utf8(r.take(database_len, "database name")?, "database name")?;
        r.zero("database name")?;
        let text = r.take_rest();
        let query = if compressed {
            Bytes::from(decompress(text)?)
        } else {
            share(body, text)
        };
        Ok(QueryEvent {
            thread_id,
            exec_time,
            error_code,
            status,
            database,
            query,
            compressed,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        self.encode_with(&[], out);
    }

    pub(super) fn encode_with(&self, own: &[u8], out: &mut Vec<u8>) {
        // A name has at most 64 characters, 192 bytes; what is longer is no database.
        let database = &self.database.as_bytes()[..self.database.len().min(255)];
        out.put_u32(self.thread_id);
        out.put_u32(self.exec_time);
        out.put_u8(database.len() as u8);
        out.put_u16(self.error_code);
        let length_at = out.len();
        out.put_u16(0);
        out.put_slice(own);
        let status_at = out.len();
        self.status.encode(out);
        let status_len = (out.len() - status_at) as u16;
        out[length_at..length_at + 2].copy_from_slice(&status_len.to_le_bytes());
        out.put_slice(database);
        out.put_u8(0);
        if self.compressed {
            compress(&self.query, out);
        } else {
            out.put_slice(&self.query);
        }
    }

    /// Whether the statement is exactly this word, in any case (`COMMIT`, `BEGIN`).
    pub fn is(&self, word: &str) -> bool {
        self.query.eq_ignore_ascii_case(word.as_bytes())
    }
}
