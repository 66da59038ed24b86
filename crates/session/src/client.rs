//! The client's end of a session: packets in, packets out, over any byte stream.

use std::io::{self, Read, Write};

use selkie_protocol::response::{self, ColumnDefinition, Eof, Err as ErrPacket, Ok as OkPacket};
use selkie_protocol::{Capabilities, FrameError, PacketReader, SendBuffer, ServerStatus};
use selkie_types::SqlError;

/// Bytes that are sent before a result is complete.
const FLUSH_BYTES: usize = 16 * 1024;
const READ_BYTES: usize = 16 * 1024;

/// A byte stream to a client.
pub trait Transport: Read + Write + Send {
    /// Seconds to wait for the client's next bytes; 0: for ever.
    fn set_read_timeout(&mut self, seconds: u64) -> io::Result<()>;
    /// Seconds to wait for the client to take bytes.
    fn set_write_timeout(&mut self, seconds: u64) -> io::Result<()>;
    /// Whether the other end is on this machine's socket.
    fn is_local(&self) -> bool;
}

/// Why reading a packet ended.
#[derive(Debug)]
pub enum ReadError {
    /// The client went away, or the wait was too long.
    Io(io::Error),
    /// Larger than max_allowed_packet; it was skipped, and the session goes on.
    TooLarge,
    /// Not the protocol.
    Broken(FrameError),
}

/// A connected client.
pub struct Client {
    transport: Box<dyn Transport>,
    reader: PacketReader,
    /// Packets to be sent.
    pub out: SendBuffer,
    /// What client and server agreed on.
    pub capabilities: Capabilities,
    payload: Vec<u8>,
    read_timeout: u64,
    /// Bytes received and sent, for status.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
}

impl Client {
    /// Over a stream.
    pub fn new(transport: Box<dyn Transport>, max_allowed_packet: usize) -> Client {
        Client {
            transport,
            reader: PacketReader::new(max_allowed_packet),
            out: SendBuffer::new(),
            capabilities: Capabilities::EMPTY,
            payload: Vec::new(),
            read_timeout: 0,
            received: 0,
            sent: 0,
        }
    }

    /// The stream.
    pub fn transport(&mut self) -> &mut dyn Transport {
        &mut *self.transport
    }

    /// `max_allowed_packet` for what follows.
    pub fn set_max_allowed_packet(&mut self, bytes: usize) {
        self.reader.set_max_allowed_packet(bytes);
    }

    /// Waits for a packet and returns its payload; the answer's sequence number is set. `command`: a new exchange begins.
    pub fn read_packet(&mut self, command: bool, timeout_seconds: u64) -> Result<Vec<u8>, ReadError> {
        if self.read_timeout != timeout_seconds {
            self.transport.set_read_timeout(timeout_seconds).map_err(ReadError::Io)?;
            self.read_timeout = timeout_seconds;
        }
        self.reader.expect_sequence(if command { 0 } else { self.out.sequence() });
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) => {
                    let mut payload = std::mem::take(&mut self.payload);
                    payload.clear();
                    payload.extend_from_slice(packet.payload);
                    self.out.set_sequence(packet.next_sequence());
                    return Ok(payload);
                }
                Ok(None) => self.fill().map_err(ReadError::Io)?,
                Err(FrameError::PacketTooLarge { .. }) => {
                    while !self.reader.skip_packet() {
                        self.fill().map_err(ReadError::Io)?;
                    }
                    return Err(ReadError::TooLarge);
                }
                Err(e) => return Err(ReadError::Broken(e)),
            }
        }
    }

    /// Gives a payload's memory back for the next packet.
    pub fn recycle(&mut self, payload: Vec<u8>) {
        if payload.capacity() <= 1 << 20 {
            self.payload = payload;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let want = self.reader.missing_bytes().max(READ_BYTES).min(1 << 20);
        let space = self.reader.space(want);
        loop {
            match self.transport.read(space) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.reader.filled(n);
                    self.received += n as u64;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether another packet was received already, so that an answer may wait for company.
    pub fn flush(&mut self) -> io::Result<()> {
        let n = self.out.pending().len();
        if n > 0 {
            self.transport.write_all(self.out.pending())?;
            self.out.consume(n);
            self.sent += n as u64;
        }
        self.out.shrink_to(1 << 20);
        Ok(())
    }

    /// Sends what is there if it is much.
    pub fn flush_if_large(&mut self) -> io::Result<()> {
        if self.out.pending_bytes() >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Whether [`Self::flush_if_large`] would send.
    pub fn is_large(&self) -> bool {
        self.out.pending_bytes() >= FLUSH_BYTES
    }

    /// Writes an OK packet.
    pub fn ok(&mut self, ok: &OkPacket<'_>) {
        ok.encode(&mut self.out, self.capabilities);
    }

    /// Writes an ERR packet.
    pub fn error(&mut self, e: &SqlError) {
        let mut state = *b"HY000";
        state.copy_from_slice(e.sqlstate().as_bytes());
        // The message field holds 512 bytes in clients.
        let mut message = e.message();
        if message.len() > 511 {
            let mut end = 511;
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message = &message[..end];
        }
        ErrPacket::new(e.code(), state, message.as_bytes()).encode(&mut self.out, self.capabilities);
    }

    /// Writes the head of a result set.
    pub fn columns(&mut self, columns: &[ColumnDefinition<'_>], warnings: u16, status: ServerStatus) {
        let caps = self.capabilities;
        response::put_column_count(&mut self.out, caps, columns.len() as u64, true);
        for c in columns {
            c.encode(&mut self.out, caps);
        }
        response::put_metadata_end(&mut self.out, caps, Eof { warnings, status });
    }

    /// Writes the end of a result set.
    pub fn end_of_rows(&mut self, end: &OkPacket<'_>) {
        response::put_result_end(&mut self.out, self.capabilities, end);
    }
}
