//! Packets on the byte stream: a header of four bytes (payload length in three, little-endian; a
//! sequence number) and the payload. A payload of 0xFFFFFF bytes or more is sent as several
//! fragments, of which all but the last are 0xFFFFFF bytes long; so the last one may be empty.
//!
//! Nothing here knows what a payload means.

mod payload;
mod reader;
mod send_buffer;

pub use payload::Payload;
pub use reader::{Packet, PacketReader};
pub(crate) use send_buffer::lenenc_bytes_width;
pub use send_buffer::{Mark, SendBuffer};

/// Length of a packet header in bytes.
pub const HEADER_BYTES: usize = 4;

/// Payload length of every fragment but the last.
pub const MAX_FRAGMENT_BYTES: usize = 0xFF_FFFF;
