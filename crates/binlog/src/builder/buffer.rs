//! A finished group of events, ready to be appended.

use bytes::Bytes;

use crate::event::{
    CHECKSUM_LEN, ChecksumAlg, EventHeader, EventType, GtidEvent, HEADER_LEN, begin_event,
    end_event_unplaced, event_flags, set_position,
};
use crate::{Gtid, LogPosition};

/// How a group gets its GTID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GtidChoice {
    /// The next number of the domain, taken when the group is appended.
    Next {
        /// `gtid_domain_id`
        domain_id: u32,
        /// `server_id`
        server_id: u32,
    },
    /// A replicated transaction keeps its own.
    Given(Gtid),
}

/// The events of one transaction or DDL statement, each with room for its position and checksum.
///
/// The Gtid event is made only when the group is appended; without one (`gtid == None`) the group
/// must consist of Selkie events, the last of which ends it.
#[derive(Debug, Clone)]
pub struct EventBuffer {
    gtid: Option<(GtidChoice, GtidEvent)>,
    timestamp: u32,
    checksum: ChecksumAlg,
    /// The Gtid event as written.
    head: Vec<u8>,
    body: Vec<u8>,
    begin: LogPosition,
    end: LogPosition,
}

/// Most bytes that a Gtid event takes.
const GTID_EVENT_LEN_MAX: u64 = 256;

impl EventBuffer {
    /// From whole events one behind the other, each with a checksum (any) if `checksum` says so.
    pub fn new(
        gtid: Option<(GtidChoice, GtidEvent)>,
        timestamp: u32,
        checksum: ChecksumAlg,
        events: Vec<u8>,
    ) -> EventBuffer {
        EventBuffer {
            gtid,
            timestamp,
            checksum,
            head: Vec::new(),
            body: events,
            begin: LogPosition::ZERO,
            end: LogPosition::ZERO,
        }
    }

    /// At most so many bytes will it take in a file.
    pub fn len_max(&self) -> u64 {
        self.body.len() as u64 + GTID_EVENT_LEN_MAX
    }

    /// The GTID: after [`crate::log::Log::append`] the one it got.
    pub fn gtid(&self) -> Option<Gtid> {
        self.gtid.as_ref().map(|(_, event)| event.gtid)
    }

    /// Sets bits of [`crate::event::gtid_flags`] in the Gtid event (`WAITED`, once that is known).
    pub fn add_gtid_flags(&mut self, flags2: u8) {
        if let Some((_, event)) = &mut self.gtid {
            event.flags2 |= flags2;
        }
    }

    /// Where it begins in the log; known after [`crate::log::Log::append`].
    pub fn begin(&self) -> LogPosition {
        self.begin
    }

    /// Its end position, which is its commit timestamp; known after [`crate::log::Log::append`].
    pub fn end(&self) -> LogPosition {
        self.end
    }

    /// How its GTID is to be chosen.
    pub(crate) fn choice(&self) -> Option<GtidChoice> {
        self.gtid.as_ref().map(|(choice, _)| *choice)
    }

    /// Gives the events their place: the first one at `offset` of a file whose first byte has position `first`.
    /// Returns the offset behind the last one. The caller has seen to it that offsets fit in 32 bits.
    pub(crate) fn place(
        &mut self,
        gtid: Option<Gtid>,
        commit_id: Option<u64>,
        first: LogPosition,
        offset: u64,
        checksum: ChecksumAlg,
    ) -> u64 {
        if self.checksum != checksum {
            // `binlog_checksum` was changed meanwhile.
            let body = std::mem::take(&mut self.body);
            self.body = reframe(body, self.checksum, checksum);
            self.checksum = checksum;
        }
        self.begin = first.plus(offset);
        self.head.clear();
        let mut at = offset;
        if let (Some((_, event)), Some(gtid)) = (&mut self.gtid, gtid) {
            event.gtid = gtid;
            event.commit_id = commit_id;
            // No database is needed to run a Gtid event, says MariaDB with this flag.
            let flags = event_flags::SUPPRESS_USE;
            let header = EventHeader::new(EventType::GTID, self.timestamp, gtid.server_id, flags);
            let start = begin_event(&mut self.head, &header);
            event.encode(&mut self.head);
            end_event_unplaced(&mut self.head, start, checksum);
            at += self.head.len() as u64;
            set_position(&mut self.head, at as u32, checksum);
        }
        let mut rest = self.body.as_mut_slice();
        while let Some(length) = event_length(rest) {
            let (event, tail) = rest.split_at_mut(length);
            at += length as u64;
            set_position(event, at as u32, checksum);
            rest = tail;
        }
        self.end = first.plus(at);
        at
    }

    /// The bytes to be written, in two parts.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [&self.head, &self.body]
    }

    /// The events' bytes as they stand, for tests and for what reads a transaction before it is logged.
    pub fn events(&self) -> Bytes {
        Bytes::copy_from_slice(&self.body)
    }
}

/// Adds the room for checksums to events, or removes it.
pub(super) fn reframe(events: Vec<u8>, from: ChecksumAlg, to: ChecksumAlg) -> Vec<u8> {
    if from == to {
        return events;
    }
    let mut out = Vec::with_capacity(events.len());
    let mut rest = events.as_slice();
    while let Some(length) = event_length(rest) {
        let (event, tail) = rest.split_at(length);
        let start = out.len();
        out.extend_from_slice(&event[..length - from.len().min(length - HEADER_LEN)]);
        end_event_unplaced(&mut out, start, to);
        rest = tail;
    }
    out
}

/// Length of the event at the head of the bytes; `None` at the end.
fn event_length(bytes: &[u8]) -> Option<usize> {
    let header = EventHeader::decode(bytes).ok()?;
    let length = header.event_length as usize;
    let valid =
        length <= bytes.len() && length >= HEADER_LEN + CHECKSUM_LEN.min(length - HEADER_LEN);
    debug_assert!(valid, "an event buffer holds whole events");
    valid.then_some(length)
}
