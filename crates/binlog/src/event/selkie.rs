//! Selkie's own events: what only Selkie's recovery needs.
//!
//! They have type 28 (MySQL's Ignorable) and LOG_EVENT_IGNORABLE_F, so that every reader of binlogs
//! skips them; dump threads do not send them. The body begins with `SLK`, a kind and a byte of flags.
//! `docs/formats/binlog.md` has the byte tables.

use bytes::Bytes;

use super::{
    CHECKSUM_LEN, ChecksumAlg, Event, EventHeader, EventType, FormatDescription, HEADER_LEN,
    event_flags,
};
use crate::wire::{WirePut, WireReader, share};
use crate::{DecodeError, LogPosition, crc};

const MARK: [u8; 3] = *b"SLK";
const KIND_START: u8 = 1;
const KIND_DICTIONARY: u8 = 2;
const KIND_LOCAL: u8 = 3;
const KIND_FILLER: u8 = 4;
const KIND_DURABLE: u8 = 5;
const KIND_ROW_KEYS: u8 = 6;
const FLAG_ENDS_GROUP: u8 = 1;
const FLAG_AFTER_GAP: u8 = 2;

/// What one of Selkie's events says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelkieKind {
    /// Stands behind the Format_description.
    Start {
        /// Position of the file's first byte in the log.
        first: LogPosition,
        /// Positions before it may be missing: damage was cut off, or engines were ahead of the log.
        after_gap: bool,
    },
    /// A dictionary change for recovery; the bytes are the catalog's.
    Dictionary(Bytes),
    /// Events of a write made with `sql_log_bin=0`: whole ones, without checksums. See
    /// [`SelkieEvent::local_events`].
    Local(Bytes),
    /// Covers the space that was prepared behind the log's end.
    Filler,
    /// All before this position was synced when this was written: damage before it is no torn tail.
    Durable(LogPosition),
    /// Hidden row ids of the rows that a statement changed in tables without a primary key, in the order of its
    /// rows events, each as table id (u64, little endian) and key (8 bytes).
    RowKeys(Bytes),
}

/// An event of Selkie's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelkieEvent {
    /// What it says.
    pub kind: SelkieKind,
    /// In a group without Gtid event: this is its last event.
    pub ends_group: bool,
}

impl SelkieEvent {
    /// Inside a group, or outside of all.
    pub fn new(kind: SelkieKind) -> SelkieEvent {
        SelkieEvent {
            kind,
            ends_group: false,
        }
    }

    /// Whether a body of type 28 is Selkie's.
    pub fn is_own(body: &[u8]) -> bool {
        body.starts_with(&MARK)
    }

    /// The header of such an event.
    pub fn header(timestamp: u32, server_id: u32) -> EventHeader {
        EventHeader::new(
            EventType::SELKIE,
            timestamp,
            server_id,
            event_flags::IGNORABLE,
        )
    }

    /// The events in a [`SelkieKind::Local`]; the last item may be an error.
    pub fn local_events(local: &Bytes) -> impl Iterator<Item = Result<Event, DecodeError>> + use<> {
        let format = FormatDescription::new("", 0, ChecksumAlg::Off);
        let mut rest = local.clone();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let length = EventHeader::decode(&rest).map(|h| h.event_length as usize);
            let event = match length {
                Ok(n) if n <= rest.len() => Event::decode(&rest.split_to(n), &format),
                Ok(n) => Err(DecodeError::Truncated {
                    what: "local event",
                    need: n,
                    have: rest.len(),
                }),
                Err(e) => Err(e),
            };
            if event.is_err() {
                rest.clear();
            }
            Some(event)
        })
    }

    pub(super) fn decode(body: &Bytes) -> Result<SelkieEvent, DecodeError> {
        let mut r = WireReader::new(body);
        if r.array("Selkie event")? != MARK {
            return Err(DecodeError::Malformed {
                what: "Selkie event",
            });
        }
        let kind = r.u8("Selkie event kind")?;
        let flags = r.u8("Selkie event flags")?;
        let kind = match kind {
            KIND_START => {
                let first = LogPosition(r.u64("log position")?);
                SelkieKind::Start {
                    first,
                    after_gap: flags & FLAG_AFTER_GAP != 0,
                }
            }
            KIND_DICTIONARY => SelkieKind::Dictionary(share(body, r.take_rest())),
            KIND_LOCAL => SelkieKind::Local(share(body, r.take_rest())),
            KIND_FILLER => SelkieKind::Filler,
            KIND_ROW_KEYS => SelkieKind::RowKeys(share(body, r.take_rest())),
            KIND_DURABLE => SelkieKind::Durable(LogPosition(r.u64("log position")?)),
            _ => {
                return Err(DecodeError::Unsupported(
                    "this kind of Selkie event (of a later version)",
                ));
            }
        };
        Ok(SelkieEvent {
            kind,
            ends_group: flags & FLAG_ENDS_GROUP != 0,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&MARK);
        let mut flags = if self.ends_group { FLAG_ENDS_GROUP } else { 0 };
        if let SelkieKind::Start {
            after_gap: true, ..
        } = self.kind
        {
            flags |= FLAG_AFTER_GAP;
        }
        let (kind, position, bytes): (u8, Option<LogPosition>, &[u8]) = match &self.kind {
            SelkieKind::Start { first, .. } => (KIND_START, Some(*first), &[]),
            SelkieKind::Dictionary(b) => (KIND_DICTIONARY, None, b),
            SelkieKind::Local(b) => (KIND_LOCAL, None, b),
            SelkieKind::Filler => (KIND_FILLER, None, &[]),
            SelkieKind::Durable(p) => (KIND_DURABLE, Some(*p), &[]),
            SelkieKind::RowKeys(b) => (KIND_ROW_KEYS, None, b),
        };
        out.put_u8(kind);
        out.put_u8(flags);
        if let Some(p) = position {
            out.put_u64(p.0);
        }
        out.put_slice(bytes);
    }
}

const FILLER_HEAD_LEN: usize = HEADER_LEN + 5 + 4;
/// Fewest bytes that a filler event takes.
pub const FILLER_LEN_MIN: u64 = (FILLER_HEAD_LEN + CHECKSUM_LEN) as u64;

/// The first bytes of a filler event that reaches from `offset` to `end` in a file and whose other
/// bytes are zero, its checksum among them: four bytes of the head are chosen such that the CRC32
/// comes out as zero.
///
/// `end - offset` must be at least [`FILLER_LEN_MIN`].
pub fn filler_head(
    offset: u64,
    end: u64,
    server_id: u32,
    checksum: ChecksumAlg,
) -> [u8; FILLER_HEAD_LEN] {
    debug_assert!(end >= offset + FILLER_LEN_MIN);
    let length = end.saturating_sub(offset).max(FILLER_LEN_MIN);
    let mut header = SelkieEvent::header(0, server_id);
    header.event_length = length as u32;
    header.end_log_pos = end as u32;
    let mut out = [0; FILLER_HEAD_LEN];
    out[..HEADER_LEN].copy_from_slice(&header.encode());
    out[HEADER_LEN..HEADER_LEN + 3].copy_from_slice(&MARK);
    out[HEADER_LEN + 3] = KIND_FILLER;
    if checksum == ChecksumAlg::Crc32 {
        let (head, preset) = out.split_at_mut(FILLER_HEAD_LEN - 4);
        let zeros = length - FILLER_LEN_MIN;
        preset.copy_from_slice(&crc::preset(crc32fast::hash(head), zeros));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventBody;

    #[test]
    fn filler_is_a_valid_event() {
        for length in [FILLER_LEN_MIN, FILLER_LEN_MIN + 1, 5000] {
            let mut bytes = filler_head(100, 100 + length, 1, ChecksumAlg::Crc32).to_vec();
            bytes.resize(length as usize, 0);
            let format = FormatDescription::new("x", 0, ChecksumAlg::Crc32);
            let event = Event::decode(&bytes.into(), &format).unwrap();
            assert!(matches!(
                event.body,
                EventBody::Selkie(SelkieEvent {
                    kind: SelkieKind::Filler,
                    ..
                })
            ));
        }
    }
}
