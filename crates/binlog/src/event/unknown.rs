//! Events of types not known here that carry LOG_EVENT_IGNORABLE_F: kept as bytes.

use bytes::Bytes;

use super::EventType;

/// An event that may be ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Its type.
    pub event_type: EventType,
    /// Its bytes behind the header, without checksum.
    pub body: Bytes,
}
