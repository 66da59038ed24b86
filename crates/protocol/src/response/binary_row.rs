//! Rows of prepared statements: a zero byte, a bitmap of NULLs that begins at its third bit, and
//! the values that are not NULL in the form of their type.
//! See <https://mariadb.com/kb/en/resultset-row/#binary-resultset-row>.

use crate::binary_value::{ParamType, ParamValue, put_int};
use crate::column_type::ColumnType;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::temporal::{Date, DateTime, Time};

/// The bitmap's first bits that belong to no column.
const BITMAP_OFFSET: usize = 2;

/// Writes one row's packet straight into the send buffer: one `put_*` a column, in order, each of
/// the width of the column's type. Dropped before [`finish`](Self::finish), it takes the row back.
#[derive(Debug)]
pub struct BinaryRow<'a> {
    out: &'a mut SendBuffer,
    bitmap: usize,
    column: usize,
    column_count: usize,
}

impl<'a> BinaryRow<'a> {
    /// Starts a row of `column_count` columns.
    #[inline]
    pub fn begin(out: &'a mut SendBuffer, column_count: usize) -> Self {
        out.begin_packet();
        out.put_u8(0);
        let bitmap = out.reserve_zeros((column_count + BITMAP_OFFSET).div_ceil(8));
        Self {
            out,
            bitmap,
            column: 0,
            column_count,
        }
    }

    /// NULL, in a column of any type.
    ///
    /// # Panics
    /// When all columns were written.
    #[inline]
    pub fn put_null(&mut self) {
        assert!(self.column < self.column_count, "a value too many in a row");
        self.out.set_bit(self.bitmap, self.column + BITMAP_OFFSET);
        self.column += 1;
    }

    /// An integer in the width of `column_type`, cut to it (Tiny 1 byte, Short and Year 2, Long and
    /// Int24 4, all others 8). The sign is not stored, so `u64` values come in by `as`.
    #[inline]
    pub fn put_int(&mut self, column_type: ColumnType, value: i64) {
        put_int(self.out, column_type, value as u64);
        self.column += 1;
    }

    /// FLOAT.
    #[inline]
    pub fn put_f32(&mut self, value: f32) {
        self.out.put_f32(value);
        self.column += 1;
    }

    /// DOUBLE.
    #[inline]
    pub fn put_f64(&mut self, value: f64) {
        self.out.put_f64(value);
        self.column += 1;
    }

    /// Text, blobs, DECIMAL as text, BIT as big-endian bytes.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        self.out.put_lenenc_bytes(bytes);
        self.column += 1;
    }

    /// As [`put_bytes`](Self::put_bytes) with what `write` appends. It must only append.
    #[inline]
    pub fn put_with<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let result = self.out.put_lenenc_with(write);
        self.column += 1;
        result
    }

    /// DATE.
    pub fn put_date(&mut self, value: Date) {
        self.put_datetime(value.into());
    }

    /// DATETIME or TIMESTAMP.
    pub fn put_datetime(&mut self, value: DateTime) {
        value.put(self.out);
        self.column += 1;
    }

    /// TIME.
    pub fn put_time(&mut self, value: Time) {
        value.put(self.out);
        self.column += 1;
    }

    /// Any value, in a column of type `column_type`.
    pub fn put_value(&mut self, column_type: ColumnType, value: ParamValue<'_>) {
        if value == ParamValue::Null {
            self.put_null();
        } else {
            value.put(self.out, column_type);
            self.column += 1;
        }
    }

    /// Length of the row so far.
    pub fn payload_bytes(&self) -> usize {
        self.out.payload_bytes()
    }

    /// Ends the row's packet.
    ///
    /// # Panics
    /// When not all columns were written.
    #[inline]
    pub fn finish(self) {
        assert_eq!(
            self.column, self.column_count,
            "not as many values in a row as columns"
        );
        self.out.end_packet();
    }
}

impl Drop for BinaryRow<'_> {
    fn drop(&mut self) {
        self.out.abort_packet();
    }
}

/// Reads a row's values in order.
#[derive(Debug, Clone)]
pub struct BinaryRowReader<'a> {
    bitmap: &'a [u8],
    values: Payload<'a>,
    column: usize,
}

impl<'a> BinaryRowReader<'a> {
    /// Starts at the first of `column_count` columns.
    pub fn new(payload: &'a [u8], column_count: usize) -> Result<Self, DecodeError> {
        let mut values = Payload::new(payload);
        if values.u8("header of a binary row")? != 0 {
            return Err(DecodeError::Malformed("not a binary row"));
        }
        let bitmap = values.bytes(
            (column_count + BITMAP_OFFSET).div_ceil(8),
            "bitmap of NULLs",
        )?;
        Ok(Self {
            bitmap,
            values,
            column: 0,
        })
    }

    /// The next column's value; its type is that of the column definition.
    pub fn next_value(&mut self, column_type: ParamType) -> Result<ParamValue<'a>, DecodeError> {
        let bit = self.column + BITMAP_OFFSET;
        let byte = self
            .bitmap
            .get(bit / 8)
            .ok_or(DecodeError::Truncated { field: "row" })?;
        self.column += 1;
        if byte & (1 << (bit % 8)) != 0 {
            return Ok(ParamValue::Null);
        }
        ParamValue::take(&mut self.values, column_type)
    }

    /// Whether bytes are left behind the values that were read.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_beyond_the_first_byte() {
        let mut out = SendBuffer::new();
        let mut row = BinaryRow::begin(&mut out, 9);
        for column in 0..9 {
            if column % 2 == 0 {
                row.put_null();
            } else {
                row.put_int(ColumnType::Tiny, column);
            }
        }
        row.finish();
        assert_eq!(&out.pending()[4..], [0, 0b0101_0100, 0b101, 1, 3, 5, 7]);
        let mut reader = BinaryRowReader::new(&out.pending()[4..], 9).unwrap();
        for column in 0..9 {
            let value = reader
                .next_value(ParamType::signed(ColumnType::Tiny))
                .unwrap();
            let expected = if column % 2 == 0 {
                ParamValue::Null
            } else {
                ParamValue::Int(column)
            };
            assert_eq!(value, expected);
        }
        assert!(reader.is_empty());
    }

    #[test]
    fn a_dropped_row_is_taken_back() {
        let mut out = SendBuffer::new();
        BinaryRow::begin(&mut out, 2).put_f64(1.0);
        assert!(out.is_empty() && !out.in_packet());
    }
}
