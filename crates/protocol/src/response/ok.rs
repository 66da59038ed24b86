//! OK: a statement without rows succeeded. Also the end of rows for clients with
//! CLIENT_DEPRECATE_EOF. See <https://mariadb.com/kb/en/ok_packet/>.

use super::session_track::{SessionTrack, StateChanges};
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::server_status::ServerStatus;

/// The OK packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ok<'a> {
    /// Rows changed (with CLIENT_FOUND_ROWS: found).
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value, or 0.
    pub last_insert_id: u64,
    /// SERVER_SESSION_STATE_CHANGED is set and cleared by the encoder.
    pub status: ServerStatus,
    /// How many warnings SHOW WARNINGS has; 65535 when there are more.
    pub warnings: u16,
    /// Text for people, like `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a [u8],
    /// The encoded session state changes; see [`state_changes`](Self::state_changes).
    pub session_state: &'a [u8],
}

impl<'a> Ok<'a> {
    /// The same OK with `track`'s changes.
    pub fn with_session_track(self, track: &'a SessionTrack) -> Self {
        Self {
            session_state: track.encoded(),
            ..self
        }
    }

    /// The session state changes.
    pub fn state_changes(&self) -> StateChanges<'a> {
        StateChanges::new(self.session_state)
    }

    /// Writes the packet with header 0x00.
    pub fn encode(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        self.encode_with_header(out, capabilities, 0x00);
    }

    /// Writes the packet with the header of EOF, 0xFE: the end of rows with CLIENT_DEPRECATE_EOF.
    pub fn encode_as_eof(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        self.encode_with_header(out, capabilities, 0xFE);
    }

    fn encode_with_header(&self, out: &mut SendBuffer, capabilities: Capabilities, header: u8) {
        let tracks = capabilities.contains(Capabilities::CLIENT_SESSION_TRACK);
        let changed = tracks && !self.session_state.is_empty();
        let mut status = self.status;
        status.set(ServerStatus::SERVER_SESSION_STATE_CHANGED, changed);
        out.begin_packet();
        out.put_u8(header);
        out.put_lenenc_int(self.affected_rows);
        out.put_lenenc_int(self.last_insert_id);
        out.put_u16(status.bits());
        out.put_u16(self.warnings);
        if changed || !self.info.is_empty() {
            out.put_lenenc_bytes(self.info);
        }
        if changed {
            out.put_lenenc_bytes(self.session_state);
        }
        out.end_packet();
    }

    /// Reads the packet, with either header.
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if !matches!(fields.u8("header")?, 0x00 | 0xFE) {
            return Err(DecodeError::Malformed("not an OK packet"));
        }
        let affected_rows = fields.lenenc_int("affected rows")?;
        let last_insert_id = fields.lenenc_int("last insert id")?;
        let status = ServerStatus::from_bits(fields.u16("status")?);
        let warnings = fields.u16("warnings")?;
        let info = if fields.is_empty() {
            &[]
        } else {
            fields.lenenc_bytes("info")?
        };
        let tracks = capabilities.contains(Capabilities::CLIENT_SESSION_TRACK)
            && status.contains(ServerStatus::SERVER_SESSION_STATE_CHANGED);
        let session_state = if tracks {
            fields.lenenc_bytes("session state")?
        } else {
            &[]
        };
        Result::Ok(Self {
            affected_rows,
            last_insert_id,
            status,
            warnings,
            info,
            session_state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ok() {
        let mut out = SendBuffer::new();
        out.set_sequence(1);
        let ok = Ok {
            status: ServerStatus::SERVER_STATUS_AUTOCOMMIT,
            ..Ok::default()
        };
        ok.encode(&mut out, Capabilities::EMPTY);
        assert_eq!(out.pending(), [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn changes_only_for_clients_that_track() {
        let mut track = SessionTrack::new();
        track.schema(b"db");
        let ok = Ok {
            affected_rows: 300,
            info: b"hi",
            ..Ok::default()
        }
        .with_session_track(&track);
        for capabilities in [Capabilities::EMPTY, Capabilities::CLIENT_SESSION_TRACK] {
            let mut out = SendBuffer::new();
            ok.encode(&mut out, capabilities);
            let read = Ok::decode(&out.pending()[4..], capabilities).unwrap();
            assert_eq!((read.affected_rows, read.info), (300, &b"hi"[..]));
            let tracked = !capabilities.is_empty();
            assert_eq!(read.state_changes().count(), usize::from(tracked));
            assert_eq!(
                read.status
                    .contains(ServerStatus::SERVER_SESSION_STATE_CHANGED),
                tracked
            );
        }
    }
}
