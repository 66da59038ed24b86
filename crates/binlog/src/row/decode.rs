//! One value of a row image, from bytes.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use selkie_types::{Charset, Decimal, Value};

use super::{RowColumn, temporal};
use crate::DecodeError;
use crate::event::column_type as t;
use crate::wire::WireReader;

/// Reads a value that is not NULL.
pub(super) fn read_value(r: &mut WireReader<'_>, column: &RowColumn) -> Result<Value, DecodeError> {
    let meta = column.meta.meta;
    let (low, high) = ((meta & 0xff) as u8, (meta >> 8) as u8);
    Ok(match column.meta.real_type() {
        t::TINY => int(r, 1, column)?,
        t::SHORT => int(r, 2, column)?,
        t::INT24 => int(r, 3, column)?,
        t::LONG => int(r, 4, column)?,
        t::LONGLONG => int(r, 8, column)?,
        t::YEAR => match r.u8("YEAR")? {
            0 => Value::Int(0),
            n => Value::Int(1900 + i64::from(n)),
        },
        t::FLOAT => Value::Double(f64::from(f32::from_le_bytes(r.array("FLOAT")?))),
        t::DOUBLE => Value::Double(f64::from_le_bytes(r.array("DOUBLE")?)),
        t::NEWDECIMAL => decimal(r, low, high)?,
        t::BIT => Value::UInt(r.uint_be(usize::from(high) + usize::from(low > 0), "BIT")?),
        t::ENUM | t::SET => Value::UInt(r.uint_le(usize::from(high), "ENUM or SET")?),
        t::DATE | t::NEWDATE => Value::Date(temporal::read_date(r)?),
        t::TIME2 => Value::Time(temporal::read_time2(r, low)?),
        t::DATETIME2 => Value::DateTime(temporal::read_datetime2(r, low)?),
        t::TIMESTAMP2 => Value::DateTime(temporal::read_timestamp2(r, low)?),
        t::TIME => Value::Time(temporal::read_old_time(r, column.old_fsp)?),
        t::DATETIME => Value::DateTime(temporal::read_old_datetime(r, column.old_fsp)?),
        t::TIMESTAMP => Value::DateTime(temporal::read_old_timestamp(r, column.old_fsp)?),
        t::VARCHAR | t::VAR_STRING => {
            let n = r.uint_le(if meta > 255 { 2 } else { 1 }, "VARCHAR length")? as usize;
            text(r.take(n, "VARCHAR")?, column.charset)?
        }
        t::STRING => {
            let length = column.meta.string_len();
            let n = r.uint_le(if length > 255 { 2 } else { 1 }, "CHAR length")? as usize;
            let bytes = r.take(n, "CHAR")?;
            if column.charset == Charset::Binary && n < usize::from(length) {
                // BINARY(n) is written without its trailing zero bytes.
                let mut padded = bytes.to_vec();
                padded.resize(usize::from(length), 0);
                Value::Bytes(padded.into())
            } else {
                text(bytes, column.charset)?
            }
        }
        t::TINY_BLOB..=t::BLOB | t::GEOMETRY | t::JSON => {
            let n = r.uint_le(usize::from(low), "BLOB length")?;
            text(r.take(n as usize, "BLOB")?, column.charset)?
        }
        t::VARCHAR_COMPRESSED => {
            let n = r.uint_le(if meta > 255 { 2 } else { 1 }, "VARCHAR length")? as usize;
            text(&uncompress(r.take(n, "VARCHAR")?)?, column.charset)?
        }
        t::BLOB_COMPRESSED => {
            let n = r.uint_le(usize::from(low), "BLOB length")?;
            text(&uncompress(r.take(n as usize, "BLOB")?)?, column.charset)?
        }
        t::NULL => Value::Null,
        other => return Err(DecodeError::UnknownColumnType(other)),
    })
}

fn int(r: &mut WireReader<'_>, bytes: usize, column: &RowColumn) -> Result<Value, DecodeError> {
    let v = r.uint_le(bytes, "integer")?;
    if column.unsigned {
        return Ok(Value::UInt(v));
    }
    let unused = 64 - 8 * bytes as u32;
    Ok(Value::Int((v << unused) as i64 >> unused))
}

fn decimal(r: &mut WireReader<'_>, precision: u8, scale: u8) -> Result<Value, DecodeError> {
    const MALFORMED: DecodeError = DecodeError::Malformed { what: "DECIMAL" };
    if precision == 0 || precision > 65 || scale > precision {
        return Err(MALFORMED);
    }
    let bytes = r.take(Decimal::binary_len(precision, scale), "DECIMAL")?;
    Decimal::read_binary(bytes, precision, scale)
        .map(Value::Decimal)
        .ok_or(MALFORMED)
}

fn text(bytes: &[u8], charset: Charset) -> Result<Value, DecodeError> {
    let invalid = |offset: usize| DecodeError::InvalidText {
        charset: charset.name(),
        offset,
    };
    match charset {
        Charset::Binary => Ok(Value::bytes(bytes)),
        Charset::Utf8mb4 | Charset::Utf8mb3 => match std::str::from_utf8(bytes) {
            Ok(_) => Ok(Value::bytes(bytes)),
            Err(e) => Err(invalid(e.valid_up_to())),
        },
        other => match other.decode(bytes) {
            Ok(utf8) => Ok(Value::bytes(&utf8)),
            Err(offset) => Err(invalid(offset)),
        },
    }
}

/// A value of a COMPRESSED column: nothing (the empty value), 0 and the bytes as they are, or `method << 4 | flag << 3 | n`, the
/// length in `n` bytes, and a deflate stream (with the flag set: without zlib's header).
fn uncompress(bytes: &[u8]) -> Result<Cow<'_, [u8]>, DecodeError> {
    const WHAT: &str = "compressed column";
    const METHOD_ZLIB: u8 = 8;
    const RAW: u8 = 8;
    const LENGTH_MAX: u64 = 1 << 30;
    let Some((head, rest)) = bytes.split_first() else {
        return Ok(Cow::Borrowed(bytes));
    };
    if head >> 4 == 0 {
        return Ok(Cow::Borrowed(rest));
    }
    let malformed = || DecodeError::Malformed { what: WHAT };
    if head >> 4 != METHOD_ZLIB {
        return Err(malformed());
    }
    let mut r = WireReader::new(rest);
    let length = r.uint_be(usize::from(head & 7), WHAT)?;
    if length > LENGTH_MAX {
        return Err(malformed());
    }
    let stream = r.take_rest();
    let mut out = Vec::new();
    let read = if head & RAW != 0 {
        DeflateDecoder::new(stream)
            .take(length + 1)
            .read_to_end(&mut out)
    } else {
        ZlibDecoder::new(stream)
            .take(length + 1)
            .read_to_end(&mut out)
    };
    match read {
        Ok(n) if n as u64 == length => Ok(Cow::Owned(out)),
        _ => Err(malformed()),
    }
}
