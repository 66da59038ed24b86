//! Where transactions begin and end in a sequence of events.
//!
//! A group is a Gtid event and what follows until its end: Xid, XA_prepare, `COMMIT` or `ROLLBACK`;
//! in a standalone group the first event that is not merely a setting for it. Groups without Gtid
//! consist of Selkie events only, the last of which says so.

use bytes::Bytes;

use crate::DecodeError;
use crate::event::GtidEvent;
use crate::event::{
    ChecksumAlg, Event, EventBody, EventHeader, EventType, FormatDescription, HEADER_LEN,
    QueryEvent, SelkieEvent, SelkieKind,
};

/// What an event is to the groups.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupStep {
    /// Stands between groups.
    Outside,
    /// Begins a group with a GTID.
    Begin(Box<GtidEvent>),
    /// Belongs to a group; the first event of one without GTID too.
    Inside,
    /// Is the last one of its group.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Transaction,
    Standalone,
    Local,
}

/// Follows events and tells where groups begin and end.
#[derive(Debug, Clone)]
pub struct GroupTracker {
    state: State,
}

impl Default for GroupTracker {
    fn default() -> Self {
        GroupTracker::new()
    }
}

impl GroupTracker {
    /// Outside of any group.
    pub fn new() -> GroupTracker {
        GroupTracker {
            state: State::Outside,
        }
    }

    /// Whether a group has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.state != State::Outside
    }

    /// Takes the next event, whole. Only those kinds are decoded that make a difference.
    pub fn step(
        &mut self,
        raw: &Bytes,
        format: &FormatDescription,
    ) -> Result<GroupStep, DecodeError> {
        let header = EventHeader::decode(raw)?;
        let event_type = header.event_type;
        let ends = match event_type {
            EventType::GTID => {
                if self.is_inside() {
                    return Err(DecodeError::Malformed {
                        what: "transaction: it has no end",
                    });
                }
                let EventBody::Gtid(gtid) = Event::decode(raw, format)?.body else {
                    return Err(DecodeError::Malformed { what: "Gtid event" });
                };
                self.state = if gtid.is_standalone() {
                    State::Standalone
                } else {
                    State::Transaction
                };
                return Ok(GroupStep::Begin(Box::new(gtid)));
            }
            EventType::FORMAT_DESCRIPTION
            | EventType::GTID_LIST
            | EventType::BINLOG_CHECKPOINT
            | EventType::ROTATE
            | EventType::STOP
            | EventType::HEARTBEAT
            | EventType::START_ENCRYPTION => {
                return if self.is_inside() {
                    Err(DecodeError::Malformed {
                        what: "transaction: it has no end",
                    })
                } else {
                    Ok(GroupStep::Outside)
                };
            }
            EventType::SELKIE => return self.step_selkie(raw, format),
            EventType::XID | EventType::XA_PREPARE => true,
            EventType::QUERY => {
                self.state == State::Standalone || is_transaction_end(raw, format.checksum)?
            }
            EventType::INTVAR
            | EventType::RAND
            | EventType::USER_VAR
            | EventType::TABLE_MAP
            | EventType::ANNOTATE_ROWS
            | EventType::APPEND_BLOCK
            | EventType::BEGIN_LOAD_QUERY => false,
            _ => self.state == State::Standalone,
        };
        match self.state {
            // Events of servers without GTIDs, and Incident.
            State::Outside => Ok(GroupStep::Outside),
            _ if ends => {
                self.state = State::Outside;
                Ok(GroupStep::End)
            }
            _ => Ok(GroupStep::Inside),
        }
    }

    fn step_selkie(
        &mut self,
        raw: &Bytes,
        format: &FormatDescription,
    ) -> Result<GroupStep, DecodeError> {
        let body = raw.get(HEADER_LEN..).unwrap_or_default();
        if !SelkieEvent::is_own(body) {
            return Ok(if self.is_inside() {
                GroupStep::Inside
            } else {
                GroupStep::Outside
            });
        }
        let EventBody::Selkie(event) = Event::decode(raw, format)?.body else {
            return Err(DecodeError::Malformed {
                what: "Selkie event",
            });
        };
        match event.kind {
            SelkieKind::Dictionary(_) | SelkieKind::Local(_) | SelkieKind::RowKeys(_) => {}
            SelkieKind::Start { .. } | SelkieKind::Filler | SelkieKind::Durable(_) => {
                return if self.is_inside() {
                    Err(DecodeError::Malformed {
                        what: "transaction: it has no end",
                    })
                } else {
                    Ok(GroupStep::Outside)
                };
            }
        }
        match self.state {
            State::Outside | State::Local if event.ends_group => {
                self.state = State::Outside;
                Ok(GroupStep::End)
            }
            State::Outside => {
                self.state = State::Local;
                Ok(GroupStep::Inside)
            }
            _ => Ok(GroupStep::Inside),
        }
    }
}

/// Whether a Query event is COMMIT or ROLLBACK. Long ones are not decoded.
fn is_transaction_end(raw: &Bytes, checksum: ChecksumAlg) -> Result<bool, DecodeError> {
    let end = raw.len().saturating_sub(checksum.len());
    let Some(body) = raw.get(HEADER_LEN..end) else {
        return Err(DecodeError::Malformed {
            what: "Query event",
        });
    };
    let ends_with = |word: &str| {
        body.len() > word.len()
            && body[body.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
    };
    if !ends_with("COMMIT") && !ends_with("ROLLBACK") {
        return Ok(false);
    }
    let query = QueryEvent::decode(&raw.slice(HEADER_LEN..end), false)?;
    Ok(query.is("COMMIT") || query.is("ROLLBACK"))
}
