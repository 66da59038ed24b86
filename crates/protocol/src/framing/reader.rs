//! From the bytes of a connection to whole packets.

use super::{HEADER_BYTES, MAX_FRAGMENT_BYTES};
use crate::error::FrameError;

/// Joins fed bytes to packets, checks their sequence numbers and the length limit.
///
/// ```
/// # use selkie_protocol::PacketReader;
/// let mut reader = PacketReader::new(16 << 20);
/// reader.feed(&[1, 0, 0, 0]);
/// assert!(reader.next_packet()?.is_none());
/// reader.feed(&[0x0E]); // COM_PING
/// assert_eq!(reader.next_packet()?.map(|packet| packet.payload), Some(&[0x0E][..]));
/// # Ok::<(), selkie_protocol::FrameError>(())
/// ```
///
/// Of the buffer's bytes `consumed..payload_end` is the payload joined so far (the headers between
/// fragments already squeezed out) and `unread..filled` is what was not looked at yet.
#[derive(Debug)]
pub struct PacketReader {
    /// All of it is initialised; only `..filled` came from the peer.
    buffer: Vec<u8>,
    /// Where the payload being joined starts.
    payload_start: usize,
    /// Where the payload joined so far ends.
    payload_end: usize,
    unread: usize,
    filled: usize,
    state: State,
    expected_sequence: u8,
    max_allowed_packet: usize,
}

/// What the next bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The header of a packet's first fragment.
    Header,
    /// The header of a further fragment.
    NextHeader,
    /// A fragment of `length` bytes.
    Fragment {
        length: usize,
    },
    /// A fragment, of which `left` bytes are to be discarded; `last` when the packet ends with it.
    Skipping {
        left: usize,
        last: bool,
    },
    /// The header of a further fragment of a packet that is being discarded.
    SkippingHeader,
    /// The header of a packet over the limit was read; the packet was not skipped yet.
    TooLarge {
        length: usize,
        total: usize,
    },
    OutOfOrder {
        got: u8,
    },
}

/// A whole packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The number of its last fragment.
    pub sequence: u8,
    /// The joined payload, without any header.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// The sequence number of the packet that answers this one.
    pub fn next_sequence(&self) -> u8 {
        self.sequence.wrapping_add(1)
    }
}

impl PacketReader {
    /// A reader at the start of a connection, which expects sequence number 0. Payloads must be
    /// shorter than `max_allowed_packet` bytes. Memory is taken by what a header says, so give a
    /// peer that has not logged in yet a small limit.
    pub fn new(max_allowed_packet: usize) -> Self {
        Self {
            buffer: Vec::new(),
            payload_start: 0,
            payload_end: 0,
            unread: 0,
            filled: 0,
            state: State::Header,
            expected_sequence: 0,
            max_allowed_packet,
        }
    }

    /// The limit: a payload must be shorter.
    pub fn max_allowed_packet(&self) -> usize {
        self.max_allowed_packet
    }

    /// Changes the limit from the next header on.
    pub fn set_max_allowed_packet(&mut self, bytes: usize) {
        self.max_allowed_packet = bytes;
    }

    /// The sequence number of the next packet: 0 for a command (call this before each one), that of
    /// [`SendBuffer::sequence`](super::SendBuffer::sequence) for the peer's answer to what was sent.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.expected_sequence = sequence;
    }

    /// Appends a copy of what came from the peer.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Room of at least `bytes_min` to read from the socket into, without a copy;
    /// [`filled`](Self::filled) tells how much of it was used.
    pub fn space(&mut self, bytes_min: usize) -> &mut [u8] {
        self.compact();
        let needed = self.filled + bytes_min;
        if self.buffer.len() < needed {
            self.buffer.resize(needed.next_power_of_two(), 0);
        }
        &mut self.buffer[self.filled..]
    }

    /// The first `count` bytes of [`space`](Self::space) came from the peer.
    ///
    /// # Panics
    /// When `count` is more than the space was.
    pub fn filled(&mut self, count: usize) {
        assert!(
            count <= self.buffer.len() - self.filled,
            "more bytes filled than there was space"
        );
        self.filled += count;
    }

    /// How many bytes are still missing before [`next_packet`](Self::next_packet) can get further:
    /// a good least size for [`space`](Self::space). At least 1.
    pub fn missing_bytes(&self) -> usize {
        let needed = match self.state {
            State::Fragment { length } => length,
            State::Skipping { left, .. } => left.min(1 << 16),
            _ => HEADER_BYTES,
        };
        needed.saturating_sub(self.filled - self.unread).max(1)
    }

    /// Whether the peer was cut off within a packet: something came that is no whole packet.
    pub fn in_packet(&self) -> bool {
        self.unread < self.filled || self.state != State::Header
    }

    /// Takes what was fed and not read. After an SSLRequest these bytes belong to TLS.
    pub fn take_unread(&mut self) -> Vec<u8> {
        let unread = self.buffer[self.unread..self.filled].to_vec();
        self.filled = self.unread;
        unread
    }

    /// Gives memory beyond `capacity_bytes` back, as far as it is unused.
    pub fn shrink_to(&mut self, capacity_bytes: usize) {
        self.compact();
        if self.buffer.len() > capacity_bytes {
            self.buffer.truncate(capacity_bytes.max(self.filled));
            self.buffer.shrink_to_fit();
        }
    }

    /// The next whole packet, or `None` when more bytes must be fed first.
    ///
    /// # Errors
    /// [`FrameError::PacketTooLarge`] as soon as a header says so, before its payload came, and
    /// until [`skip_packet`](Self::skip_packet) is called; [`FrameError::OutOfOrder`] for good.
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>, FrameError> {
        loop {
            match self.state {
                State::Header | State::NextHeader => {
                    let Some((length, sequence)) = self.header() else {
                        return Ok(None);
                    };
                    if self.state == State::Header {
                        self.payload_start = self.unread;
                        self.payload_end = self.unread;
                    }
                    if sequence != self.expected_sequence {
                        self.state = State::OutOfOrder { got: sequence };
                        continue;
                    }
                    self.expected_sequence = sequence.wrapping_add(1);
                    let total = self.payload_end - self.payload_start + length;
                    self.state = if total >= self.max_allowed_packet {
                        State::TooLarge { length, total }
                    } else {
                        State::Fragment { length }
                    };
                }
                State::Fragment { length } => {
                    if self.filled - self.unread < length {
                        return Ok(None);
                    }
                    self.join(length);
                    if length == MAX_FRAGMENT_BYTES {
                        self.state = State::NextHeader;
                        continue;
                    }
                    self.state = State::Header;
                    return Ok(Some(Packet {
                        sequence: self.expected_sequence.wrapping_sub(1),
                        payload: &self.buffer[self.payload_start..self.payload_end],
                    }));
                }
                State::TooLarge { total, .. } => {
                    return Err(FrameError::PacketTooLarge {
                        length_bytes: total,
                        max_allowed_packet: self.max_allowed_packet,
                    });
                }
                State::OutOfOrder { got } => {
                    return Err(FrameError::OutOfOrder {
                        expected: self.expected_sequence,
                        got,
                    });
                }
                State::Skipping { left, last } => {
                    let now = left.min(self.filled - self.unread);
                    self.unread += now;
                    if now < left {
                        self.state = State::Skipping {
                            left: left - now,
                            last,
                        };
                        return Ok(None);
                    }
                    self.state = if last {
                        State::Header
                    } else {
                        State::SkippingHeader
                    };
                    if last {
                        return Ok(Some(Packet {
                            sequence: self.expected_sequence.wrapping_sub(1),
                            payload: &[],
                        }));
                    }
                }
                State::SkippingHeader => {
                    let Some((length, sequence)) = self.header() else {
                        return Ok(None);
                    };
                    self.expected_sequence = sequence.wrapping_add(1);
                    self.skip_fragment(length);
                }
            }
        }
    }

    /// After [`FrameError::PacketTooLarge`]: discards the packet, whatever its length, without
    /// buffering it. [`next_packet`](Self::next_packet) returns it with an empty payload once all
    /// of it has come, so that it can be answered with its sequence number.
    ///
    /// Returns false, with nothing changed, in any other state.
    pub fn skip_packet(&mut self) -> bool {
        let State::TooLarge { length, .. } = self.state else {
            return false;
        };
        self.payload_start = self.unread;
        self.payload_end = self.unread;
        self.skip_fragment(length);
        true
    }

    fn skip_fragment(&mut self, length: usize) {
        self.state = State::Skipping {
            left: length,
            last: length < MAX_FRAGMENT_BYTES,
        };
    }

    /// Reads a header: length and sequence number.
    fn header(&mut self) -> Option<(usize, u8)> {
        let [a, b, c, sequence] =
            *self.buffer[self.unread..self.filled].first_chunk::<HEADER_BYTES>()?;
        self.unread += HEADER_BYTES;
        Some((u32::from_le_bytes([a, b, c, 0]) as usize, sequence))
    }

    /// Moves the next `length` bytes to the payload joined so far.
    fn join(&mut self, length: usize) {
        if self.payload_end != self.unread {
            self.buffer
                .copy_within(self.unread..self.unread + length, self.payload_end);
        }
        self.unread += length;
        self.payload_end += length;
    }

    /// Makes the front of the buffer free, which read packets took.
    fn compact(&mut self) {
        let joining = matches!(
            self.state,
            State::NextHeader | State::Fragment { .. } | State::TooLarge { .. }
        );
        let keep_from = if joining {
            self.payload_start
        } else {
            self.unread
        };
        if self.unread == self.filled && !joining {
            self.unread = 0;
            self.filled = 0;
        } else if keep_from > 0 {
            self.buffer.copy_within(keep_from..self.filled, 0);
            self.unread -= keep_from;
            self.filled -= keep_from;
        }
        if joining {
            self.payload_end -= keep_from;
        } else {
            self.payload_end = 0;
        }
        self.payload_start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SendBuffer;

    const LIMIT: usize = 64 << 20;

    fn frames(payloads: &[&[u8]]) -> Vec<u8> {
        let mut out = SendBuffer::new();
        for payload in payloads {
            out.put_packet(payload);
        }
        out.pending().to_vec()
    }

    #[test]
    fn any_chopping_gives_the_same_packets() {
        let stream = frames(&[b"one", b"", b"three is longer", b"4"]);
        for step in 1..stream.len() {
            let mut reader = PacketReader::new(LIMIT);
            let mut seen = Vec::new();
            for piece in stream.chunks(step) {
                reader.feed(piece);
                while let Some(packet) = reader.next_packet().unwrap() {
                    seen.push((packet.sequence, packet.payload.to_vec()));
                }
            }
            assert!(!reader.in_packet());
            assert_eq!(
                seen,
                [
                    (0, b"one".to_vec()),
                    (1, b"".to_vec()),
                    (2, b"three is longer".to_vec()),
                    (3, b"4".to_vec())
                ]
            );
        }
    }

    #[test]
    fn fragments_are_joined() {
        let big: Vec<u8> = (0..2 * MAX_FRAGMENT_BYTES)
            .map(|i| (i % 253) as u8)
            .collect();
        let stream = frames(&[&big, b"next"]);
        for step in [stream.len(), 1 << 20, 7 << 20] {
            let mut reader = PacketReader::new(LIMIT);
            let mut seen = Vec::new();
            for piece in stream.chunks(step) {
                reader.feed(piece);
                while let Some(packet) = reader.next_packet().unwrap() {
                    seen.push((packet.sequence, packet.payload.to_vec()));
                }
            }
            assert_eq!(seen.len(), 2);
            assert_eq!(seen[0].0, 2);
            assert!(seen[0].1 == big);
            assert_eq!(seen[1], (3, b"next".to_vec()));
        }
    }

    #[test]
    fn too_large_is_told_by_the_header_and_can_be_skipped() {
        let mut reader = PacketReader::new(10);
        reader.feed(&frames(&[b"123456789"]));
        assert!(reader.next_packet().unwrap().is_some());
        reader.expect_sequence(0);
        let stream = frames(&[b"1234567890", b"ok"]);
        reader.feed(&stream[..4]);
        let error = FrameError::PacketTooLarge {
            length_bytes: 10,
            max_allowed_packet: 10,
        };
        assert_eq!(reader.next_packet(), Err(error));
        assert!(reader.skip_packet());
        assert_eq!(reader.next_packet(), Ok(None));
        reader.feed(&stream[4..6]);
        assert_eq!(reader.next_packet(), Ok(None));
        reader.feed(&stream[6..]);
        assert_eq!(
            reader.next_packet(),
            Ok(Some(Packet {
                sequence: 0,
                payload: b""
            }))
        );
        assert_eq!(
            reader.next_packet(),
            Ok(Some(Packet {
                sequence: 1,
                payload: b"ok"
            }))
        );
    }

    #[test]
    fn too_large_in_a_later_fragment() {
        let big = vec![1; MAX_FRAGMENT_BYTES + 100];
        let stream = frames(&[&big, b"ok"]);
        let mut reader = PacketReader::new(MAX_FRAGMENT_BYTES + 10);
        let mut outcome = Vec::new();
        for piece in stream.chunks(1 << 22) {
            reader.feed(piece);
            loop {
                match reader.next_packet() {
                    Ok(None) => break,
                    Ok(Some(packet)) => {
                        outcome.push((packet.sequence, packet.payload.to_vec()));
                    }
                    Err(FrameError::PacketTooLarge { length_bytes, .. }) => {
                        assert_eq!(length_bytes, big.len());
                        assert!(reader.skip_packet());
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        assert_eq!(outcome, [(1, vec![]), (2, b"ok".to_vec())]);
    }

    #[test]
    fn sequence_numbers_are_checked() {
        let mut reader = PacketReader::new(LIMIT);
        reader.feed(&[0, 0, 0, 1]);
        let error = Err(FrameError::OutOfOrder {
            expected: 0,
            got: 1,
        });
        assert_eq!(reader.next_packet(), error);
        assert_eq!(reader.next_packet(), error);
    }

    #[test]
    fn bytes_behind_an_ssl_request_can_be_taken() {
        let mut reader = PacketReader::new(LIMIT);
        reader.feed(&[0, 0, 0, 0, 0x16, 0x03]);
        assert!(reader.next_packet().unwrap().is_some());
        assert_eq!(reader.take_unread(), [0x16, 0x03]);
        assert!(!reader.in_packet());
    }
}
