//! Order-preserving ("memcomparable") keys.

use std::hash::Hasher;

use super::{CodecError, ValueRef, bits_width, enum_width, family};
use crate::charset::order::{END, RUN_THEN_LESS, RUN_THEN_MORE, ZERO_ESCAPE};
use crate::{Collation, Date, DateTime, Decimal, IntWidth, SqlResult, SqlType, TextKind, Time, TimeZone, Value};

/// One column of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The column's type.
    pub ty: SqlType,
    /// Whether NULL can occur (adds a tag byte).
    pub nullable: bool,
    /// DESC: the bytes are inverted.
    pub descending: bool,
    /// Prefix length in characters (bytes for binary), for prefix indexes.
    pub prefix: Option<u32>,
}

/// Tag of NULL, below that of any value.
const TAG_NULL: u8 = 0;
/// Tag of a value in a nullable part.
const TAG_VALUE: u8 = 1;

/// Added to a TIME so that it is never negative: more than 838:59:59.999999 in microseconds.
pub(super) const TIME_BIAS: i64 = 1 << 42;
/// Bytes of a TIME.
const TIME_BYTES: usize = 6;
/// Bytes of a DATE.
const DATE_BYTES: usize = 3;

/// BINARY(n) up to this length keeps its n bytes as they are.
const FIXED_BINARY_MAX: u32 = 255;

/// How a part's values are written.
enum Form {
    /// Nothing: the type of a bare NULL.
    Nothing,
    Int {
        bytes: usize,
        unsigned: bool,
    },
    /// A number without sign.
    UInt {
        bytes: usize,
    },
    Year,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Time,
    DateTime,
    Timestamp,
    /// Exactly so many bytes.
    Fixed(usize),
    /// Bytes with an end.
    Binary,
    /// A collation's sort key.
    Text(Collation),
}

pub(super) fn int_bytes(width: IntWidth) -> usize {
    match width {
        IntWidth::Tiny => 1,
        IntWidth::Small => 2,
        IntWidth::Medium => 3,
        IntWidth::Int => 4,
        IntWidth::Big => 8,
    }
}

fn form(part: &KeyPart) -> Form {
    match &part.ty {
        SqlType::Null => Form::Nothing,
        SqlType::Int { width, unsigned, .. } => Form::Int { bytes: int_bytes(*width), unsigned: *unsigned },
        SqlType::Bit(n) => Form::UInt { bytes: bits_width(*n as usize) },
        SqlType::Year(_) => Form::Year,
        SqlType::Float { .. } => Form::Float,
        SqlType::Double { .. } => Form::Double,
        SqlType::Decimal { precision, scale, .. } => Form::Decimal { precision: *precision, scale: *scale },
        SqlType::Date => Form::Date,
        SqlType::Time { .. } => Form::Time,
        SqlType::DateTime { .. } => Form::DateTime,
        SqlType::Timestamp { .. } => Form::Timestamp,
        SqlType::Text { kind: TextKind::Char, len, collation } if collation.is_binary() && *len <= FIXED_BINARY_MAX => {
            Form::Fixed(part.prefix.map_or(*len, |p| p.min(*len)) as usize)
        }
        SqlType::Text { collation, .. } if collation.is_binary() => Form::Binary,
        SqlType::Text { collation, .. } => Form::Text(*collation),
        SqlType::Enum(d) => Form::UInt { bytes: enum_width(d.members.len()) },
        SqlType::Set(d) => Form::UInt { bytes: bits_width(d.members.len()) },
    }
}

impl Form {
    /// Bytes of every value, where they are the same number.
    fn width(&self) -> Option<usize> {
        Some(match self {
            Form::Nothing => 0,
            Form::Int { bytes, .. } | Form::UInt { bytes } => *bytes,
            Form::Year => 2,
            Form::Float => 4,
            Form::Double | Form::DateTime | Form::Timestamp => 8,
            Form::Decimal { precision, scale } => Decimal::binary_len(*precision, *scale),
            Form::Date => DATE_BYTES,
            Form::Time => TIME_BYTES,
            Form::Fixed(n) => *n,
            Form::Binary | Form::Text(_) => return None,
        })
    }
}

/// The last `n` bytes of a big-endian number.
fn put_be(v: u64, n: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&v.to_be_bytes()[8 - n..]);
}

fn read_be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |v, &b| v << 8 | b as u64)
}

/// UTC microseconds of a TIMESTAMP; the zero date is 0, as in MariaDB.
pub(super) fn timestamp_to_utc(v: DateTime, tz: &TimeZone) -> Option<i64> {
    if v.0 == 0 { Some(0) } else { tz.to_utc(v) }
}

/// The other way round.
pub(super) fn timestamp_from_utc(micros: i64, tz: &TimeZone) -> DateTime {
    if micros == 0 { DateTime(0) } else { tz.to_local(micros) }
}

/// Largest DATE value: 9999-15-31, all bits of its fields.
const DATE_MAX: u32 = 9999 << 9 | 0x1FF;
/// Microseconds of a day.
const DAY_MICROS: u64 = 86_400_000_000;

pub(super) fn check_date(v: u64) -> Result<Date, CodecError> {
    u32::try_from(v).ok().filter(|v| *v <= DATE_MAX).map(Date).ok_or(CodecError::Corrupt("DATE"))
}

pub(super) fn check_datetime(v: u64) -> Result<DateTime, CodecError> {
    let d = DateTime(v);
    let good = v >> 37 <= DATE_MAX as u64 && d.micros_of_day() < DAY_MICROS;
    if good { Ok(d) } else { Err(CodecError::Corrupt("DATETIME")) }
}

/// UTC microseconds that a TIMESTAMP can have: 0 to 2106.
pub(super) fn check_utc(v: i64) -> Result<i64, CodecError> {
    if (0..=(u32::MAX as i64 + 1) * 1_000_000).contains(&v) { Ok(v) } else { Err(CodecError::Corrupt("TIMESTAMP")) }
}

/// Appends the order-preserving form of one value: `memcmp` order equals SQL order (NULL first).
///
/// # Errors
/// A value that does not belong to the part's type.
#[inline]
pub fn encode_key_part(v: &Value, part: &KeyPart, tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
    encode_key_part_ref(&ValueRef::of(v), part, tz, out)
}

/// As [`encode_key_part`], from a column seen in a row's bytes.
///
/// # Errors
/// As [`encode_key_part`].
pub fn encode_key_part_ref(v: &ValueRef<'_>, part: &KeyPart, tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
    let start = out.len();
    encode_ascending(v, part, tz, out)?;
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    Ok(())
}

fn encode_ascending(v: &ValueRef<'_>, part: &KeyPart, tz: &TimeZone, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if part.nullable {
        if v.is_null() {
            out.push(TAG_NULL);
            return Ok(());
        }
        out.push(TAG_VALUE);
    }
    match (form(part), v) {
        (Form::Nothing, ValueRef::Null) => {}
        (Form::Int { bytes, unsigned }, v) => {
            let v = v.integer().ok_or(CodecError::Type("INT"))?;
            let bias = if unsigned { 0 } else { 1i128 << (bytes * 8 - 1) };
            let biased = v + bias;
            if biased < 0 || biased >> (bytes * 8) != 0 {
                return Err(CodecError::Type("INT"));
            }
            put_be(biased as u64, bytes, out);
        }
        (Form::UInt { bytes }, v) => {
            let v = v.integer().and_then(|v| u64::try_from(v).ok());
            let v = v.filter(|v| bytes == 8 || v >> (bytes * 8) == 0).ok_or(CodecError::Type("BIT"))?;
            put_be(v, bytes, out);
        }
        (Form::Year, v) => {
            let v = v.integer().and_then(|v| u16::try_from(v).ok()).ok_or(CodecError::Type("YEAR"))?;
            out.extend(v.to_be_bytes());
        }
        (Form::Float, ValueRef::Double(v)) => {
            let bits = (*v as f32 + 0.0).to_bits();
            out.extend((if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }).to_be_bytes());
        }
        (Form::Double, ValueRef::Double(v)) => {
            // Adding a positive zero makes the negative one positive.
            let bits = (*v + 0.0).to_bits();
            out.extend((if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }).to_be_bytes());
        }
        (Form::Decimal { precision, scale }, ValueRef::Decimal(v)) => v.write_binary(precision, scale, out),
        (Form::Date, ValueRef::Date(v)) => put_be(v.0 as u64, DATE_BYTES, out),
        (Form::Time, ValueRef::Time(v)) => {
            let biased = v.0.checked_add(TIME_BIAS).filter(|v| (0..1 << 43).contains(v));
            put_be(biased.ok_or(CodecError::Type("TIME"))? as u64, TIME_BYTES, out);
        }
        (Form::DateTime, ValueRef::DateTime(v)) => out.extend(v.0.to_be_bytes()),
        (Form::Timestamp, ValueRef::DateTime(v)) => {
            let utc = timestamp_to_utc(*v, tz).ok_or(CodecError::Type("TIMESTAMP"))?;
            out.extend((utc as u64).to_be_bytes());
        }
        (Form::Fixed(n), ValueRef::Bytes(b)) => {
            let used = b.len().min(n);
            out.extend_from_slice(&b[..used]);
            out.resize(out.len() + n - used, 0);
        }
        (Form::Binary, ValueRef::Bytes(b)) => Collation::BINARY.weights(cut(b, part, Collation::BINARY), out),
        (Form::Text(collation), ValueRef::Bytes(b)) => collation.weights(cut(b, part, collation), out),
        (_, _) => return Err(CodecError::Type(family(&part.ty))),
    }
    Ok(())
}

/// The part of a text that a prefix index holds.
fn cut<'a>(text: &'a [u8], part: &KeyPart, collation: Collation) -> &'a [u8] {
    match part.prefix {
        Some(n) => collation.prefix(text, n as usize),
        None => text,
    }
}

/// Appends what the keys of all texts that begin with `prefix` begin with, for `LIKE 'abc%'`. The range
/// ends at [`prefix_successor`] (of the ascending form; DESC inverts).
///
/// # Errors
/// A part that is no text.
pub fn encode_key_prefix(prefix: &[u8], part: &KeyPart, out: &mut Vec<u8>) -> SqlResult<()> {
    let start = out.len();
    if part.nullable {
        out.push(TAG_VALUE);
    }
    match form(part) {
        Form::Fixed(n) => out.extend_from_slice(&prefix[..prefix.len().min(n)]),
        Form::Binary => Collation::BINARY.weights_prefix(cut(prefix, part, Collation::BINARY), out),
        Form::Text(collation) => collation.weights_prefix(cut(prefix, part, collation), out),
        _ => return Err(CodecError::Type(family(&part.ty)).into()),
    }
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    Ok(())
}

/// Appends the keys of several values, one after the other; fewer values than parts make a prefix.
///
/// # Errors
/// As [`encode_key_part`].
pub fn encode_key(values: &[Value], parts: &[KeyPart], tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
    values.iter().zip(parts).try_for_each(|(v, part)| encode_key_part(v, part, tz, out))
}

/// Bytes that the part's key has, tag included, where it is the same for all values but NULL.
pub fn key_part_width(part: &KeyPart) -> Option<usize> {
    form(part).width().map(|w| w + part.nullable as usize)
}

/// How many bytes of `bytes` are the part's, without reading the value.
///
/// # Errors
/// Bytes that end too soon.
pub fn key_part_len(bytes: &[u8], part: &KeyPart) -> SqlResult<usize> {
    Ok(part_len(bytes, part)?)
}

fn part_len(bytes: &[u8], part: &KeyPart) -> Result<usize, CodecError> {
    let invert = if part.descending { 0xFF } else { 0 };
    let mut at = 0;
    if part.nullable {
        match bytes.first().map(|b| b ^ invert) {
            Some(TAG_NULL) => return Ok(1),
            Some(TAG_VALUE) => at = 1,
            Some(_) => return Err(CodecError::Corrupt("NULL tag")),
            None => return Err(CodecError::Short("key")),
        }
    }
    let form = form(part);
    let rest = bytes.get(at..).unwrap_or(&[]);
    let len = match (form.width(), form) {
        (Some(width), _) => Some(width).filter(|w| *w <= rest.len()),
        (None, Form::Text(collation)) => collation.key_len(rest, invert),
        (None, _) => Collation::BINARY.key_len(rest, invert),
    };
    len.map(|n| at + n).ok_or(CodecError::Short("key"))
}

/// How many bytes of `bytes` the parts take together: where a secondary key's primary key begins.
///
/// # Errors
/// Bytes that end too soon.
pub fn key_len(bytes: &[u8], parts: &[KeyPart]) -> SqlResult<usize> {
    let mut at = 0;
    for part in parts {
        at += part_len(bytes.get(at..).unwrap_or(&[]), part)?;
    }
    Ok(at)
}

/// Reads one part back and returns how many bytes it took. Only for types whose key form is reversible
/// ([`key_part_is_reversible`]).
///
/// # Errors
/// Bytes that end too soon or that no value has; a part that is not reversible.
pub fn decode_key_part(bytes: &[u8], part: &KeyPart, tz: &TimeZone) -> SqlResult<(Value, usize)> {
    let len = part_len(bytes, part)?;
    if !key_part_is_reversible(part) {
        return Err(CodecError::NotReversible.into());
    }
    let bytes = &bytes[..len];
    let value = if part.descending {
        let turned: Vec<u8> = bytes.iter().map(|b| !b).collect();
        decode_ascending(&turned, part, tz)?
    } else {
        decode_ascending(bytes, part, tz)?
    };
    Ok((value, len))
}

/// Reads parts back, one after the other, appending to `out`; returns how many bytes they took.
///
/// # Errors
/// As [`decode_key_part`].
pub fn decode_key(bytes: &[u8], parts: &[KeyPart], tz: &TimeZone, out: &mut Vec<Value>) -> SqlResult<usize> {
    let mut at = 0;
    for part in parts {
        let (v, n) = decode_key_part(bytes.get(at..).unwrap_or(&[]), part, tz)?;
        out.push(v);
        at += n;
    }
    Ok(at)
}

/// `bytes` are exactly the part's.
fn decode_ascending(bytes: &[u8], part: &KeyPart, tz: &TimeZone) -> Result<Value, CodecError> {
    let mut rest = bytes;
    if part.nullable {
        match rest.split_first() {
            Some((&TAG_NULL, _)) => return Ok(Value::Null),
            Some((_, r)) => rest = r,
            None => return Err(CodecError::Short("key")),
        }
    }
    Ok(match form(part) {
        Form::Nothing => Value::Null,
        Form::Int { unsigned: true, .. } => Value::UInt(read_be(rest)),
        Form::Int { bytes, .. } => {
            Value::Int((read_be(rest) as i64).wrapping_sub(1i64.wrapping_shl(bytes as u32 * 8 - 1)))
        }
        Form::UInt { .. } => Value::UInt(read_be(rest)),
        Form::Year => Value::Int(read_be(rest) as i64),
        Form::Float => {
            let bits = read_be(rest) as u32;
            Value::Double(f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits }) as f64)
        }
        Form::Double => {
            let bits = read_be(rest);
            Value::Double(f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits }))
        }
        Form::Decimal { precision, scale } => {
            Value::Decimal(Decimal::read_binary(rest, precision, scale).ok_or(CodecError::Corrupt("DECIMAL"))?)
        }
        Form::Date => Value::Date(check_date(read_be(rest))?),
        Form::Time => match read_be(rest) as i64 {
            v if v < 1 << 43 => Value::Time(Time(v - TIME_BIAS)),
            _ => return Err(CodecError::Corrupt("TIME")),
        },
        Form::DateTime => Value::DateTime(check_datetime(read_be(rest))?),
        Form::Timestamp => Value::DateTime(timestamp_from_utc(check_utc(read_be(rest) as i64)?, tz)),
        Form::Fixed(_) => Value::bytes(rest),
        Form::Binary => Value::Bytes(unescape_zeros(rest)?.into()),
        Form::Text(collation) => {
            let text = if collation.no_pad() { unescape_zeros(rest)? } else { unescape_spaces(rest)? };
            if std::str::from_utf8(&text).is_err() {
                return Err(CodecError::Corrupt("text"));
            }
            Value::Bytes(text.into())
        }
    })
}

fn unescape_zeros(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let at = memchr::memchr(0, rest).ok_or(CodecError::Short("key"))?;
        out.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(0) => return Ok(out),
            Some(&ZERO_ESCAPE) => out.push(0),
            _ => return Err(CodecError::Corrupt("key")),
        }
        rest = &rest[at + 2..];
    }
}

fn unescape_spaces(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let at = memchr::memchr(b' ', rest).ok_or(CodecError::Short("key"))?;
        out.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(&END) => return Ok(out),
            Some(&(RUN_THEN_LESS | RUN_THEN_MORE)) => out.push(b' '),
            _ => return Err(CodecError::Corrupt("key")),
        }
        rest = &rest[at + 2..];
    }
}

/// Whether [`decode_key_part`] gives the value back, so that an index covers the column. Not so: prefixes;
/// text whose collation has weights unlike its bytes, or (PAD SPACE) may have had trailing spaces, which
/// only CHAR has not; floating point numbers, whose zero loses its sign.
pub fn key_part_is_reversible(part: &KeyPart) -> bool {
    if part.prefix.is_some() {
        return false;
    }
    match &part.ty {
        SqlType::Float { .. } | SqlType::Double { .. } => false,
        SqlType::Text { kind, collation, .. } if !collation.is_binary() => {
            collation.sorts_by_bytes() && (collation.no_pad() || *kind == TextKind::Char)
        }
        _ => true,
    }
}

/// Makes a key the smallest one above all that begin with it; false if there is none (all bytes 0xFF).
pub fn prefix_successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xFF {
            key.push(last + 1);
            return true;
        }
    }
    false
}

/// A fast hash of key bytes, for lock tables and joins (not against adversaries, not stable on disk).
pub fn hash_key(key: &[u8]) -> u64 {
    let mut h = rustc_hash::FxHasher::default();
    h.write(key);
    h.finish()
}
