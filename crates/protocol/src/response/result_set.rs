//! What surrounds the rows of a result set: the number of columns, the end of the definitions and
//! the end of the rows, each in the form that the client's capabilities ask for.

use super::eof::Eof;
use super::ok::Ok;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::server_status::ServerStatus;

/// A result set's first packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnCount {
    /// How many columns; at least one.
    pub columns: u64,
    /// Whether their definitions follow. Clients with MARIADB_CLIENT_CACHE_METADATA may keep those
    /// that came with an earlier answer; for all others this is true.
    pub metadata_follows: bool,
}

impl ColumnCount {
    /// Reads the packet.
    pub fn decode(payload: &[u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        let columns = fields.lenenc_int("number of columns")?;
        let metadata_follows = !capabilities.contains(Capabilities::MARIADB_CLIENT_CACHE_METADATA)
            || fields.u8("metadata follows")? != 0;
        Result::Ok(Self {
            columns,
            metadata_follows,
        })
    }
}

/// Starts a result set. `metadata_follows` may be false only for a client with
/// MARIADB_CLIENT_CACHE_METADATA that executes a prepared statement whose columns it was told
/// before; then no definitions are to be written, but their end is
/// ([`put_metadata_end`], in the form of the capabilities).
pub fn put_column_count(
    out: &mut SendBuffer,
    capabilities: Capabilities,
    columns: u64,
    metadata_follows: bool,
) {
    out.begin_packet();
    out.put_lenenc_int(columns);
    if capabilities.contains(Capabilities::MARIADB_CLIENT_CACHE_METADATA) {
        out.put_u8(metadata_follows.into());
    }
    out.end_packet();
}

/// Ends column or parameter definitions: EOF, or nothing for a client with CLIENT_DEPRECATE_EOF.
///
/// When a cursor was opened nothing stands between definitions and answer's end, so that end is
/// [`put_result_end`] alone, with SERVER_STATUS_CURSOR_EXISTS.
pub fn put_metadata_end(out: &mut SendBuffer, capabilities: Capabilities, eof: Eof) {
    if !capabilities.contains(Capabilities::CLIENT_DEPRECATE_EOF) {
        eof.encode(out);
    }
}

/// Ends rows: EOF, or OK in its place. SERVER_MORE_RESULTS_EXISTS in the status says that another
/// result follows. Session state changes and info reach only clients with CLIENT_DEPRECATE_EOF.
pub fn put_result_end(out: &mut SendBuffer, capabilities: Capabilities, end: &Ok<'_>) {
    if capabilities.contains(Capabilities::CLIENT_DEPRECATE_EOF) {
        end.encode_as_eof(out, capabilities);
    } else {
        let mut status = end.status;
        status.set(ServerStatus::SERVER_SESSION_STATE_CHANGED, false);
        Eof {
            warnings: end.warnings,
            status,
        }
        .encode(out);
    }
}

/// The answer to COM_STATISTICS: text and nothing else.
pub fn put_statistics(out: &mut SendBuffer, text: &[u8]) {
    out.put_packet(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_by_capability() {
        let end = Ok {
            warnings: 1,
            ..Ok::default()
        };
        let mut out = SendBuffer::new();
        put_metadata_end(&mut out, Capabilities::CLIENT_DEPRECATE_EOF, Eof::default());
        assert!(out.is_empty());
        put_result_end(&mut out, Capabilities::CLIENT_DEPRECATE_EOF, &end);
        assert_eq!(&out.pending()[4..], [0xFE, 0, 0, 0, 0, 1, 0]);
        out.clear();
        put_result_end(&mut out, Capabilities::EMPTY, &end);
        assert_eq!(&out.pending()[4..], [0xFE, 1, 0, 0, 0]);
    }

    #[test]
    fn column_count_by_capability() {
        for capabilities in [
            Capabilities::EMPTY,
            Capabilities::MARIADB_CLIENT_CACHE_METADATA,
        ] {
            let mut out = SendBuffer::new();
            put_column_count(&mut out, capabilities, 1000, true);
            let count = ColumnCount {
                columns: 1000,
                metadata_follows: true,
            };
            assert_eq!(
                ColumnCount::decode(&out.pending()[4..], capabilities),
                Result::Ok(count)
            );
        }
    }
}
