//! Events of one file, one after the other, as raw bytes.

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::DecodeError;
use crate::event::{
    ChecksumAlg, Event, EventBody, EventHeader, EventType, FormatDescription, HEADER_LEN, MAGIC,
    check_checksum,
};
use crate::fs::{LogFile, read_full_at};

const CHUNK_LEN: usize = 256 << 10;

/// Why no event could be read.
#[derive(Debug)]
pub(super) enum SourceError {
    Io(io::Error),
    /// The bytes at the offset are no event.
    Bad(u64, DecodeError),
}

/// A file's events from some offset on.
pub(super) struct EventSource {
    file: Arc<dyn LogFile>,
    /// Offset of the first byte in `buffer`.
    offset: u64,
    buffer: BytesMut,
    format: FormatDescription,
}

impl EventSource {
    /// Reads the file's head (magic, Format_description); stands behind it.
    pub(super) fn open(file: Arc<dyn LogFile>, limit: u64) -> Result<EventSource, SourceError> {
        let format = FormatDescription::new("", 0, ChecksumAlg::Off);
        let mut source = EventSource {
            file,
            offset: 0,
            buffer: BytesMut::new(),
            format,
        };
        source.fill(MAGIC.len(), limit)?;
        if !source.buffer.starts_with(&MAGIC) {
            return Err(SourceError::Bad(
                0,
                DecodeError::Malformed {
                    what: "binlog file: wrong magic number",
                },
            ));
        }
        source.seek(MAGIC.len() as u64);
        let bad = |e| SourceError::Bad(MAGIC.len() as u64, e);
        let raw = source.next(limit)?.ok_or_else(|| {
            bad(DecodeError::Malformed {
                what: "binlog file: no head",
            })
        })?;
        match Event::decode(&raw, &source.format).map_err(bad)?.body {
            EventBody::FormatDescription(f) => source.format = f,
            _ => {
                return Err(bad(DecodeError::Malformed {
                    what: "binlog file: no Format_description",
                }));
            }
        }
        Ok(source)
    }

    pub(super) fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Offset of the next event.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn seek(&mut self, offset: u64) {
        match usize::try_from(offset.wrapping_sub(self.offset)) {
            Ok(skip) if offset >= self.offset && skip <= self.buffer.len() => {
                let _ = self.buffer.split_to(skip);
            }
            _ => self.buffer.clear(),
        }
        self.offset = offset;
    }

    /// Has at least `need` bytes in the buffer unless the limit comes first.
    fn fill(&mut self, need: usize, limit: u64) -> Result<(), SourceError> {
        if self.buffer.len() >= need {
            return Ok(());
        }
        let start = self.buffer.len();
        let left = limit.saturating_sub(self.offset + start as u64);
        let want = (need.max(CHUNK_LEN) - start).min(usize::try_from(left).unwrap_or(usize::MAX));
        self.buffer.resize(start + want, 0);
        let read = read_full_at(
            &*self.file,
            &mut self.buffer[start..],
            self.offset + start as u64,
        );
        match read {
            Ok(n) => self.buffer.truncate(start + n),
            Err(e) => {
                self.buffer.truncate(start);
                return Err(SourceError::Io(e));
            }
        }
        Ok(())
    }

    /// The next event's bytes, `None` at the limit (an offset in the file). The checksum is verified.
    pub(super) fn next(&mut self, limit: u64) -> Result<Option<Bytes>, SourceError> {
        if self.offset >= limit {
            return Ok(None);
        }
        let left = limit - self.offset;
        let bad = |offset, e| SourceError::Bad(offset, e);
        self.fill(HEADER_LEN, limit)?;
        let header = EventHeader::decode(&self.buffer).map_err(|e| bad(self.offset, e))?;
        let length = header.event_length as usize;
        if length as u64 > left {
            let e = DecodeError::Truncated {
                what: "event",
                need: length,
                have: left as usize,
            };
            return Err(bad(self.offset, e));
        }
        self.fill(length, limit)?;
        if self.buffer.len() < length {
            let e = DecodeError::Truncated {
                what: "event",
                need: length,
                have: self.buffer.len(),
            };
            return Err(bad(self.offset, e));
        }
        if header.event_type != EventType::FORMAT_DESCRIPTION {
            check_checksum(&self.buffer[..length], self.format.checksum)
                .map_err(|e| bad(self.offset, e))?;
        }
        if header.event_type == EventType::START_ENCRYPTION {
            return Err(bad(
                self.offset,
                DecodeError::Unsupported("an encrypted binlog file"),
            ));
        }
        let raw = self.buffer.split_to(length).freeze();
        self.offset += length as u64;
        Ok(Some(raw))
    }
}
