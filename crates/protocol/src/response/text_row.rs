//! Rows of COM_QUERY: each value as text with its length.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Writes one row's packet straight into the send buffer. Dropped before
/// [`finish`](Self::finish), it takes the row back.
///
/// ```
/// # use selkie_protocol::{SendBuffer, response::TextRow};
/// let mut out = SendBuffer::new();
/// let mut row = TextRow::begin(&mut out);
/// row.put_i64(-7);
/// row.put_null();
/// row.put_bytes(b"abc");
/// row.finish();
/// assert_eq!(&out.pending()[4..], b"\x02-7\xFB\x03abc");
/// ```
#[derive(Debug)]
pub struct TextRow<'a> {
    out: &'a mut SendBuffer,
}

impl<'a> TextRow<'a> {
    /// Starts a row.
    #[inline]
    pub fn begin(out: &'a mut SendBuffer) -> Self {
        out.begin_packet();
        Self { out }
    }

    /// NULL.
    #[inline]
    pub fn put_null(&mut self) {
        self.out.put_null();
    }

    /// A value that is text already.
    #[inline]
    pub fn put_bytes(&mut self, text: &[u8]) {
        self.out.put_lenenc_bytes(text);
    }

    /// A signed integer in decimal.
    #[inline]
    pub fn put_i64(&mut self, value: i64) {
        self.out
            .put_lenenc_bytes(itoa::Buffer::new().format(value).as_bytes());
    }

    /// An unsigned integer in decimal.
    #[inline]
    pub fn put_u64(&mut self, value: u64) {
        self.out
            .put_lenenc_bytes(itoa::Buffer::new().format(value).as_bytes());
    }

    /// What `write` appends: for values whose text another crate makes. It must only append.
    #[inline]
    pub fn put_with<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.out.put_lenenc_with(write)
    }

    /// Length of the row so far.
    pub fn payload_bytes(&self) -> usize {
        self.out.payload_bytes()
    }

    /// Ends the row's packet.
    #[inline]
    pub fn finish(self) {
        self.out.end_packet();
    }
}

impl Drop for TextRow<'_> {
    fn drop(&mut self) {
        self.out.abort_packet();
    }
}

/// Reads a row's values in order; `None` is NULL. Ends after the first error.
#[derive(Debug, Clone)]
pub struct TextRowReader<'a> {
    values: Payload<'a>,
}

impl<'a> TextRowReader<'a> {
    /// Starts at the first column.
    pub fn new(payload: &'a [u8]) -> Self {
        Self {
            values: Payload::new(payload),
        }
    }
}

impl<'a> Iterator for TextRowReader<'a> {
    type Item = Result<Option<&'a [u8]>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.values.is_empty() {
            return None;
        }
        let value = self.values.lenenc_bytes_or_null("column of a text row");
        if value.is_err() {
            self.values.take_rest();
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let long = vec![b'x'; 1000];
        let mut out = SendBuffer::new();
        let mut row = TextRow::begin(&mut out);
        row.put_u64(u64::MAX);
        row.put_null();
        row.put_bytes(b"");
        row.put_with(|text| text.extend_from_slice(&long));
        row.finish();
        let values: Vec<_> = TextRowReader::new(&out.pending()[4..])
            .map(|value| value.unwrap())
            .collect();
        let expected: [Option<&[u8]>; 4] =
            [Some(b"18446744073709551615"), None, Some(b""), Some(&long)];
        assert_eq!(values, expected);
    }

    #[test]
    fn a_dropped_row_is_taken_back() {
        let mut out = SendBuffer::new();
        TextRow::begin(&mut out).put_i64(1);
        assert!(out.is_empty() && !out.in_packet());
    }
}
