//! The 19 bytes before every event, and the checksum behind it.

use crate::wire::WireReader;
use crate::{DecodeError, EventType};

/// First bytes of every binlog file.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];
/// Length of [`EventHeader`] in bytes.
pub const HEADER_LEN: usize = 19;
/// Length of a CRC32 behind an event.
pub const CHECKSUM_LEN: usize = 4;

const LENGTH_AT: usize = 9;
const END_LOG_POS_AT: usize = 13;
const FLAGS_AT: usize = 17;

/// Bits of [`EventHeader::flags`].
pub mod event_flags {
    /// In a Format_description: the file is open, or its server crashed. Not part of the checksum.
    pub const BINLOG_IN_USE: u16 = 0x1;
    /// The statement depends on its thread (temporary tables).
    pub const THREAD_SPECIFIC: u16 = 0x4;
    /// No USE is needed before the statement.
    pub const SUPPRESS_USE: u16 = 0x8;
    /// Made up by a dump thread; stands in no file.
    pub const ARTIFICIAL: u16 = 0x20;
    /// Written by a replica's I/O thread.
    pub const RELAY_LOG: u16 = 0x40;
    /// Readers that do not know the type skip the event.
    pub const IGNORABLE: u16 = 0x80;
    /// Made with `skip_replication=1`.
    pub const SKIP_REPLICATION: u16 = 0x8000;
}

/// Which checksum stands behind events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumAlg {
    /// None.
    Off,
    /// CRC32 of all bytes before it.
    #[default]
    Crc32,
}

impl ChecksumAlg {
    /// Bytes that the checksum takes.
    pub const fn len(self) -> usize {
        match self {
            ChecksumAlg::Off => 0,
            ChecksumAlg::Crc32 => CHECKSUM_LEN,
        }
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        matches!(self, ChecksumAlg::Off)
    }
}

/// What stands before every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHeader {
    /// When the statement began, in seconds since 1970.
    pub timestamp: u32,
    /// What the body is.
    pub event_type: EventType,
    /// The server that made it first.
    pub server_id: u32,
    /// Bytes of header, body and checksum together.
    pub event_length: u32,
    /// Offset in the file of the event's end; 0 while unknown.
    pub end_log_pos: u32,
    /// See [`event_flags`].
    pub flags: u16,
}

impl EventHeader {
    /// A header for an event whose length and position are not known yet.
    pub const fn new(
        event_type: EventType,
        timestamp: u32,
        server_id: u32,
        flags: u16,
    ) -> EventHeader {
        EventHeader {
            timestamp,
            event_type,
            server_id,
            event_length: 0,
            end_log_pos: 0,
            flags,
        }
    }

    /// Reads the first 19 bytes; refuses a length too short for them.
    pub fn decode(bytes: &[u8]) -> Result<EventHeader, DecodeError> {
        let mut r = WireReader::new(bytes);
        let header = EventHeader {
            timestamp: r.u32("event header")?,
            event_type: EventType(r.u8("event header")?),
            server_id: r.u32("event header")?,
            event_length: r.u32("event header")?,
            end_log_pos: r.u32("event header")?,
            flags: r.u16("event header")?,
        };
        if (header.event_length as usize) < HEADER_LEN {
            return Err(DecodeError::Malformed {
                what: "event length",
            });
        }
        Ok(header)
    }

    /// The 19 bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[..4].copy_from_slice(&self.timestamp.to_le_bytes());
        out[4] = self.event_type.0;
        out[5..9].copy_from_slice(&self.server_id.to_le_bytes());
        out[LENGTH_AT..13].copy_from_slice(&self.event_length.to_le_bytes());
        out[END_LOG_POS_AT..17].copy_from_slice(&self.end_log_pos.to_le_bytes());
        out[FLAGS_AT..19].copy_from_slice(&self.flags.to_le_bytes());
        out
    }
}

/// CRC32 of an event's bytes before the checksum. The in-use flag of a Format_description counts as clear.
pub(crate) fn crc_of(event: &[u8]) -> u32 {
    let in_use = event_flags::BINLOG_IN_USE as u8;
    if event.len() > FLAGS_AT
        && event[4] == EventType::FORMAT_DESCRIPTION.0
        && event[FLAGS_AT] & in_use != 0
    {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&event[..FLAGS_AT]);
        hasher.update(&[event[FLAGS_AT] & !in_use]);
        hasher.update(&event[FLAGS_AT + 1..]);
        return hasher.finalize();
    }
    crc32fast::hash(event)
}

/// Verifies the checksum at the end of a whole event.
pub fn check_checksum(event: &[u8], checksum: ChecksumAlg) -> Result<(), DecodeError> {
    if event.len() < HEADER_LEN + checksum.len() {
        return Err(DecodeError::Truncated {
            what: "event",
            need: HEADER_LEN + checksum.len(),
            have: event.len(),
        });
    }
    if checksum == ChecksumAlg::Off {
        return Ok(());
    }
    let (body, stored) = event.split_at(event.len() - CHECKSUM_LEN);
    let stored = WireReader::new(stored).u32("checksum")?;
    let computed = crc_of(body);
    if stored == computed {
        Ok(())
    } else {
        Err(DecodeError::Checksum { stored, computed })
    }
}

pub(crate) fn set_length(event: &mut [u8], length: u32) {
    event[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
}

/// Starts an event in a buffer; the body is appended behind it. Gives the event's start for [`end_event`].
pub fn begin_event(out: &mut Vec<u8>, header: &EventHeader) -> usize {
    let start = out.len();
    out.extend_from_slice(&header.encode());
    start
}

/// Ends the event that starts at `start`: sets its length, appends its checksum.
pub fn end_event(out: &mut Vec<u8>, start: usize, checksum: ChecksumAlg) {
    let length = out.len() - start + checksum.len();
    set_length(&mut out[start..], u32::try_from(length).unwrap_or(u32::MAX));
    if checksum == ChecksumAlg::Crc32 {
        let crc = crc_of(&out[start..]);
        out.extend_from_slice(&crc.to_le_bytes());
    }
}

/// Ends the event that starts at `start` but leaves its checksum zero, for [`set_position`] to fill in.
pub fn end_event_unplaced(out: &mut Vec<u8>, start: usize, checksum: ChecksumAlg) {
    out.resize(out.len() + checksum.len(), 0);
    let length = out.len() - start;
    set_length(&mut out[start..], u32::try_from(length).unwrap_or(u32::MAX));
}

/// Gives a whole event its place in the file: sets `end_log_pos` and computes the checksum anew.
pub fn set_position(event: &mut [u8], end_log_pos: u32, checksum: ChecksumAlg) {
    event[END_LOG_POS_AT..END_LOG_POS_AT + 4].copy_from_slice(&end_log_pos.to_le_bytes());
    if checksum == ChecksumAlg::Crc32 {
        let (body, stored) = event.split_at_mut(event.len() - CHECKSUM_LEN);
        stored.copy_from_slice(&crc_of(body).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip() {
        let mut h = EventHeader::new(EventType::XID, 1, 2, 3);
        h.event_length = 19;
        h.end_log_pos = 5;
        assert_eq!(EventHeader::decode(&h.encode()), Ok(h));
        assert!(EventHeader::decode(&h.encode()[..18]).is_err());
        h.event_length = 18;
        assert!(EventHeader::decode(&h.encode()).is_err());
    }
}
