//! The bytes that wait to be sent: packets are written in place, one behind the other, into one
//! growing buffer, so that encoding a row allocates nothing.

use super::{HEADER_BYTES, MAX_FRAGMENT_BYTES};

/// A growing buffer of whole packets.
///
/// [`begin_packet`](Self::begin_packet) reserves a header, the `put_*` methods append to the
/// payload, [`end_packet`](Self::end_packet) patches the header (and splits a payload of 16 MB or
/// more). The owner writes [`pending`](Self::pending) to the socket and reports what was taken with
/// [`consume`](Self::consume).
#[derive(Debug, Default)]
pub struct SendBuffer {
    bytes: Vec<u8>,
    /// How many bytes at the front the peer already has.
    consumed: usize,
    /// How many bytes were removed from the front so far: what makes a [`Mark`] lasting.
    removed: u64,
    /// Where the header of the packet being written stands.
    open_packet: Option<usize>,
    sequence: u8,
}

/// A place between two packets, to which [`SendBuffer::rollback`] returns.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// Counted from the first byte that the buffer ever held.
    position: u64,
    sequence: u8,
}

/// From how many consumed bytes on the rest is moved to the front, if it is no longer than they are.
const COMPACT_BYTES_MIN: usize = 1 << 16;

impl SendBuffer {
    /// An empty buffer; the first packet gets sequence number 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`new`](Self::new), with room for `capacity_bytes`.
    pub fn with_capacity(capacity_bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity_bytes),
            ..Self::default()
        }
    }

    /// The sequence number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet: that of the packet being answered plus one
    /// ([`Packet::next_sequence`](super::Packet::next_sequence)).
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The whole packets that wait to be sent.
    pub fn pending(&self) -> &[u8] {
        let end = self.open_packet.unwrap_or(self.bytes.len());
        &self.bytes[self.consumed..end]
    }

    /// How many bytes wait to be sent, those of an unfinished packet not counted.
    pub fn pending_bytes(&self) -> usize {
        self.pending().len()
    }

    /// Whether nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.pending().is_empty()
    }

    /// Drops the first `count` pending bytes: they were handed to the socket. May be called within
    /// a packet.
    ///
    /// # Panics
    /// When `count` is more than [`pending_bytes`](Self::pending_bytes).
    pub fn consume(&mut self, count: usize) {
        assert!(
            count <= self.pending_bytes(),
            "more bytes consumed than were pending"
        );
        self.consumed += count;
        let kept = self.bytes.len() - self.consumed;
        let worthwhile = self.consumed >= COMPACT_BYTES_MIN && kept <= self.consumed;
        if worthwhile || self.pending().is_empty() {
            self.bytes.drain(..self.consumed);
            self.open_packet = self.open_packet.map(|start| start - self.consumed);
            self.removed += self.consumed as u64;
            self.consumed = 0;
        }
    }

    /// Gives memory beyond `capacity_bytes` back, as far as it is unused.
    pub fn shrink_to(&mut self, capacity_bytes: usize) {
        self.bytes.shrink_to(capacity_bytes);
    }

    /// Removes everything and starts again at sequence number 0. Keeps the memory.
    pub fn clear(&mut self) {
        self.removed += self.bytes.len() as u64;
        self.bytes.clear();
        self.consumed = 0;
        self.open_packet = None;
        self.sequence = 0;
    }

    /// The place behind the last whole packet.
    ///
    /// # Panics
    /// Within a packet.
    pub fn mark(&self) -> Mark {
        assert!(self.open_packet.is_none(), "a mark within a packet");
        Mark {
            position: self.removed + self.bytes.len() as u64,
            sequence: self.sequence,
        }
    }

    /// Takes back every packet since `mark`, the unfinished one included. Returns false, with
    /// nothing changed, when that is impossible because some of them were consumed.
    pub fn rollback(&mut self, mark: Mark) -> bool {
        let offset = mark
            .position
            .checked_sub(self.removed)
            .map(|offset| offset as usize);
        let Some(offset) = offset.filter(|o| (self.consumed..=self.bytes.len()).contains(o)) else {
            return false;
        };
        self.bytes.truncate(offset);
        self.open_packet = None;
        self.sequence = mark.sequence;
        true
    }

    /// Starts a packet.
    ///
    /// # Panics
    /// When a packet is open.
    pub fn begin_packet(&mut self) {
        assert!(
            self.open_packet.is_none(),
            "the packet before was not ended"
        );
        self.open_packet = Some(self.bytes.len());
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
    }

    /// Ends the packet: its header gets length and sequence number.
    ///
    /// # Panics
    /// When no packet is open.
    pub fn end_packet(&mut self) {
        let start = self.open_packet.take().expect("no packet was begun");
        let length = self.bytes.len() - start - HEADER_BYTES;
        if length < MAX_FRAGMENT_BYTES {
            self.patch_header(start, length);
        } else {
            self.split(start, length);
        }
    }

    /// Takes back the packet being written. Nothing happens when none is open.
    pub fn abort_packet(&mut self) {
        if let Some(start) = self.open_packet.take() {
            self.bytes.truncate(start);
        }
    }

    /// Whether a packet is being written.
    pub fn in_packet(&self) -> bool {
        self.open_packet.is_some()
    }

    /// Length of the unfinished packet's payload.
    pub fn payload_bytes(&self) -> usize {
        self.open_packet
            .map_or(0, |start| self.bytes.len() - start - HEADER_BYTES)
    }

    /// Writes one packet with `payload`.
    pub fn put_packet(&mut self, payload: &[u8]) {
        self.begin_packet();
        self.put_bytes(payload);
        self.end_packet();
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends `count` zero bytes.
    pub fn put_zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Appends one byte.
    #[inline]
    pub fn put_u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends two bytes, little-endian as everything here.
    #[inline]
    pub fn put_u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends the lower three bytes.
    #[inline]
    pub fn put_u24(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes()[..3]);
    }

    /// Appends four bytes.
    #[inline]
    pub fn put_u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends eight bytes.
    #[inline]
    pub fn put_u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends an IEEE 754 single.
    #[inline]
    pub fn put_f32(&mut self, value: f32) {
        self.put_u32(value.to_bits());
    }

    /// Appends an IEEE 754 double.
    #[inline]
    pub fn put_f64(&mut self, value: f64) {
        self.put_u64(value.to_bits());
    }

    /// Appends a length-encoded integer: one byte up to 250, else 0xFC, 0xFD or 0xFE and two,
    /// three or eight bytes.
    #[inline]
    pub fn put_lenenc_int(&mut self, value: u64) {
        let (prefix, length) = lenenc(value);
        self.bytes.extend_from_slice(&prefix[..length]);
    }

    /// Appends bytes with their length before them.
    #[inline]
    pub fn put_lenenc_bytes(&mut self, bytes: &[u8]) {
        self.put_lenenc_int(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends the NULL of text rows: the byte 0xFB.
    #[inline]
    pub fn put_null(&mut self) {
        self.bytes.push(0xFB);
    }

    /// Appends bytes and a closing NUL. The caller makes sure that there is none among the bytes.
    pub fn put_nul_terminated(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(0);
    }

    /// Appends what `write` appends, with its length before it. `write` must only append.
    ///
    /// One byte is reserved for the length; only a value longer than 250 bytes is moved.
    #[inline]
    pub fn put_lenenc_with<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let start = self.bytes.len();
        self.bytes.push(0);
        let result = write(&mut self.bytes);
        assert!(
            self.bytes.len() > start,
            "the writer of a value removed bytes"
        );
        let length = self.bytes.len() - start - 1;
        if length <= 250 {
            self.bytes[start] = length as u8;
        } else {
            let (prefix, prefix_length) = lenenc(length as u64);
            self.bytes
                .splice(start..=start, prefix[..prefix_length].iter().copied());
        }
        result
    }

    /// Reserves a zeroed stretch within the payload, to be changed later with
    /// [`set_bit`](Self::set_bit). Returns its place, valid until the next
    /// [`consume`](Self::consume) or [`end_packet`](Self::end_packet).
    pub(crate) fn reserve_zeros(&mut self, count: usize) -> usize {
        let place = self.bytes.len();
        self.put_zeros(count);
        place
    }

    /// Sets bit `bit` of the stretch at `place`.
    #[inline]
    pub(crate) fn set_bit(&mut self, place: usize, bit: usize) {
        self.bytes[place + bit / 8] |= 1 << (bit % 8);
    }

    fn patch_header(&mut self, start: usize, length: usize) {
        let [a, b, c, _] = (length as u32).to_le_bytes();
        self.bytes[start..start + HEADER_BYTES].copy_from_slice(&[a, b, c, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Turns the payload behind `start` into fragments, the last fragment being moved first.
    fn split(&mut self, start: usize, length: usize) {
        let last = length / MAX_FRAGMENT_BYTES;
        self.put_zeros(last * HEADER_BYTES);
        let payload = start + HEADER_BYTES;
        for fragment in (1..=last).rev() {
            let from = payload + fragment * MAX_FRAGMENT_BYTES;
            let until = (from + MAX_FRAGMENT_BYTES).min(payload + length);
            self.bytes
                .copy_within(from..until, from + fragment * HEADER_BYTES);
        }
        for fragment in 0..=last {
            let header = start + fragment * (HEADER_BYTES + MAX_FRAGMENT_BYTES);
            let left = length - fragment * MAX_FRAGMENT_BYTES;
            self.patch_header(header, left.min(MAX_FRAGMENT_BYTES));
        }
    }
}

/// The bytes of a length-encoded integer, and how many of them count.
#[inline]
fn lenenc(value: u64) -> ([u8; 9], usize) {
    let bytes = value.to_le_bytes();
    let mut out = [0; 9];
    let (tag, width) = match value {
        0..=250 => {
            out[0] = bytes[0];
            return (out, 1);
        }
        251..=0xFFFF => (0xFC, 2),
        0x1_0000..=0xFF_FFFF => (0xFD, 3),
        _ => (0xFE, 8),
    };
    out[0] = tag;
    out[1..=width].copy_from_slice(&bytes[..width]);
    (out, width + 1)
}

/// How many bytes [`SendBuffer::put_lenenc_bytes`] writes.
pub(crate) fn lenenc_bytes_width(bytes: &[u8]) -> u64 {
    let length = bytes.len() as u64;
    length + lenenc(length).1 as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_patched_in_place() {
        let mut out = SendBuffer::new();
        out.set_sequence(255);
        out.put_packet(b"ab");
        out.put_packet(b"");
        assert_eq!(out.pending(), [2, 0, 0, 255, b'a', b'b', 0, 0, 0, 0]);
        assert_eq!(out.sequence(), 1);
    }

    #[test]
    fn length_encoded_integers() {
        for (value, expected) in [
            (250, &[250][..]),
            (251, &[0xFC, 251, 0]),
            (0xFFFF, &[0xFC, 0xFF, 0xFF]),
            (0x1_0000, &[0xFD, 0, 0, 1]),
            (0xFF_FFFF, &[0xFD, 0xFF, 0xFF, 0xFF]),
            (0x100_0000, &[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]),
        ] {
            let mut out = SendBuffer::new();
            out.put_lenenc_int(value);
            assert_eq!(out.pending(), expected);
        }
    }

    #[test]
    fn long_value_written_in_place_gets_a_long_prefix() {
        for length in [0, 250, 251, 70_000] {
            let value = vec![b'x'; length];
            let mut in_place = SendBuffer::new();
            in_place.put_lenenc_with(|bytes| bytes.extend_from_slice(&value));
            let mut copied = SendBuffer::new();
            copied.put_lenenc_bytes(&value);
            assert_eq!(in_place.pending(), copied.pending());
        }
    }

    #[test]
    fn fragments_of_16_mb() {
        let payload: Vec<u8> = (0..2 * MAX_FRAGMENT_BYTES + 5)
            .map(|i| (i % 251) as u8)
            .collect();
        for (length, fragments) in [
            (MAX_FRAGMENT_BYTES - 1, &[MAX_FRAGMENT_BYTES - 1][..]),
            (MAX_FRAGMENT_BYTES, &[MAX_FRAGMENT_BYTES, 0]),
            (MAX_FRAGMENT_BYTES + 1, &[MAX_FRAGMENT_BYTES, 1]),
            (
                2 * MAX_FRAGMENT_BYTES + 5,
                &[MAX_FRAGMENT_BYTES, MAX_FRAGMENT_BYTES, 5],
            ),
        ] {
            let mut out = SendBuffer::new();
            out.put_packet(&payload[..length]);
            let mut rest = out.pending();
            let mut joined = Vec::new();
            for (sequence, &fragment) in fragments.iter().enumerate() {
                assert_eq!(rest[3], sequence as u8);
                assert_eq!(
                    u32::from_le_bytes([rest[0], rest[1], rest[2], 0]) as usize,
                    fragment
                );
                joined.extend_from_slice(&rest[4..4 + fragment]);
                rest = &rest[4 + fragment..];
            }
            assert!(rest.is_empty());
            assert!(joined == payload[..length]);
        }
    }

    #[test]
    fn aborted_and_rolled_back_packets_leave_no_trace() {
        let mut out = SendBuffer::new();
        out.put_packet(b"kept");
        let mark = out.mark();
        out.put_packet(b"gone");
        out.begin_packet();
        out.put_u8(1);
        out.abort_packet();
        assert_eq!(out.sequence(), 2);
        assert!(out.rollback(mark));
        assert_eq!((out.sequence(), out.pending_bytes()), (1, 8));
        out.put_packet(b"x");
        out.consume(8);
        assert!(out.rollback(mark));
        out.put_packet(b"x");
        out.consume(1);
        assert!(!out.rollback(mark));
        out.consume(out.pending_bytes());
        out.put_packet(b"longer than what was removed");
        assert!(!out.rollback(mark));
    }

    #[test]
    fn consuming_within_a_packet_keeps_the_packet() {
        let mut out = SendBuffer::new();
        out.put_packet(b"one");
        out.begin_packet();
        out.put_bytes(b"tw");
        out.consume(3);
        out.consume(4);
        out.put_u8(b'o');
        out.end_packet();
        assert_eq!(out.pending(), [3, 0, 0, 1, b't', b'w', b'o']);
    }

    #[test]
    fn a_slow_peer_does_not_keep_what_it_has() {
        let mut out = SendBuffer::new();
        for _ in 0..100 {
            out.put_packet(&[7; 10_000]);
            out.begin_packet();
            out.put_u8(8);
            out.consume(out.pending_bytes().min(10_000));
            out.end_packet();
        }
        assert!(out.bytes.len() < 3 * COMPACT_BYTES_MIN);
        assert_eq!(out.pending_bytes(), 100 * (10_004 + 5 - 10_000));
    }
}
