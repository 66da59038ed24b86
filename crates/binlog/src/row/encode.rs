//! Row images, to bytes. Only the formats that MariaDB writes today.

use selkie_types::{Charset, Value};

use super::{RowColumn, temporal};
use crate::event::column_type as t;
use crate::wire::WirePut;

/// A value that its column cannot hold. The executor has converted values to their columns' types
/// before, so that this is a programmer's error, or a damaged table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value of column {column} does not fit the log's column type {type_number}")]
pub struct EncodeError {
    /// Zero-based column.
    pub column: usize,
    /// See [`column_type`](crate::event::column_type).
    pub type_number: u8,
}

/// Appends the full image of a row. `values` and `columns` are of one length. On failure the
/// buffer has more bytes than before; [`crate::TransactionEvents::row`] takes them back.
pub fn put_image(
    out: &mut Vec<u8>,
    columns: &[RowColumn],
    values: &[Value],
) -> Result<(), EncodeError> {
    debug_assert_eq!(columns.len(), values.len());
    let nulls = out.len();
    // Bits of columns that do not exist are set, as MariaDB has them.
    out.resize(nulls + columns.len().div_ceil(8), 0xff);
    for (i, (column, value)) in columns.iter().zip(values).enumerate() {
        if value.is_null() {
            continue;
        }
        out[nulls + i / 8] &= !(1 << (i % 8));
        put_value(out, column, value).ok_or(EncodeError {
            column: i,
            type_number: column.meta.type_number,
        })?;
    }
    Ok(())
}

fn put_value(out: &mut Vec<u8>, column: &RowColumn, value: &Value) -> Option<()> {
    let meta = column.meta.meta;
    let (low, high) = ((meta & 0xff) as u8, (meta >> 8) as u8);
    match (column.meta.real_type(), value) {
        (t::TINY, v) => put_int(out, 1, column.unsigned, v)?,
        (t::SHORT, v) => put_int(out, 2, column.unsigned, v)?,
        (t::INT24, v) => put_int(out, 3, column.unsigned, v)?,
        (t::LONG, v) => put_int(out, 4, column.unsigned, v)?,
        (t::LONGLONG, v) => put_int(out, 8, column.unsigned, v)?,
        (t::YEAR, v) => out.put_u8(match as_u64(v)? {
            0 => 0,
            year => u8::try_from(year.checked_sub(1900)?).ok()?,
        }),
        (t::FLOAT, Value::Double(v)) => out.put_slice(&(*v as f32).to_le_bytes()),
        (t::DOUBLE, Value::Double(v)) => out.put_slice(&v.to_le_bytes()),
        (t::NEWDECIMAL, Value::Decimal(v)) => v.write_binary(low, high, out),
        (t::BIT, v) => {
            let v = as_u64(v)?;
            let bits = u32::from(high) * 8 + u32::from(low);
            if bits < 64 && v >> bits != 0 {
                return None;
            }
            out.put_uint_be(v, usize::from(high) + usize::from(low > 0));
        }
        (t::ENUM | t::SET, v) => out.put_uint_le(as_u64(v)?, usize::from(high)),
        (t::DATE, Value::Date(v)) => temporal::put_date(out, *v),
        (t::TIME2, Value::Time(v)) => temporal::put_time2(out, *v, low),
        (t::DATETIME2, Value::DateTime(v)) => temporal::put_datetime2(out, *v, low),
        (t::TIMESTAMP2, Value::DateTime(v)) => temporal::put_timestamp2(out, *v, low)?,
        (t::VARCHAR | t::VAR_STRING, Value::Bytes(v)) => {
            put_text(out, column.charset, v, usize::from(meta))?
        }
        (t::STRING, Value::Bytes(v)) => {
            // CHAR and BINARY are written without their padding.
            let pad = if column.charset == Charset::Binary {
                0
            } else {
                b' '
            };
            let kept = v.iter().rposition(|b| *b != pad).map_or(0, |last| last + 1);
            put_text(
                out,
                column.charset,
                &v[..kept],
                usize::from(column.meta.string_len()),
            )?;
        }
        (t::TINY_BLOB..=t::BLOB | t::GEOMETRY, Value::Bytes(v)) => {
            put_blob(out, column.charset, v, usize::from(low))?
        }
        _ => return None,
    }
    Some(())
}

fn as_u64(value: &Value) -> Option<u64> {
    match value {
        Value::Int(v) => u64::try_from(*v).ok(),
        Value::UInt(v) => Some(*v),
        _ => None,
    }
}

fn put_int(out: &mut Vec<u8>, bytes: usize, unsigned: bool, value: &Value) -> Option<()> {
    let unused = 64 - 8 * bytes as u32;
    let raw = if unsigned {
        let v = as_u64(value)?;
        (v << unused >> unused == v).then_some(v)?
    } else {
        let v = match value {
            Value::Int(v) => *v,
            Value::UInt(v) => i64::try_from(*v).ok()?,
            _ => return None,
        };
        (v << unused >> unused == v).then_some(v as u64)?
    };
    out.put_uint_le(raw, bytes);
    Some(())
}

/// UTF-8 text in a character set; bytes as they are.
pub(super) fn in_charset(charset: Charset, utf8: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match charset {
        Charset::Binary | Charset::Utf8mb4 | Charset::Utf8mb3 => utf8.into(),
        other => other.encode(utf8).0,
    }
}

/// A string behind one byte of length, or two if the column holds more than 255 bytes.
fn put_text(out: &mut Vec<u8>, charset: Charset, utf8: &[u8], len_max: usize) -> Option<()> {
    let bytes = in_charset(charset, utf8);
    if bytes.len() > len_max {
        return None;
    }
    out.put_uint_le(bytes.len() as u64, if len_max > 255 { 2 } else { 1 });
    out.put_slice(&bytes);
    Some(())
}

fn put_blob(out: &mut Vec<u8>, charset: Charset, utf8: &[u8], length_bytes: usize) -> Option<()> {
    let bytes = in_charset(charset, utf8);
    let length = bytes.len() as u64;
    if !(1..=4).contains(&length_bytes) || length >> (8 * length_bytes) != 0 {
        return None;
    }
    out.put_uint_le(length, length_bytes);
    out.put_slice(&bytes);
    Some(())
}
