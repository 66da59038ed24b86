//! Rows: a header, a null bitmap, the fixed columns, then offsets and bytes of the others.

use super::key::{TIME_BIAS, check_date, check_datetime, check_utc, int_bytes, timestamp_from_utc, timestamp_to_utc};
use super::{CodecError, ValueRef, bits_width, enum_width, family};
use crate::{Decimal, SqlResult, SqlType, TextKind, Time, TimeZone, Value};

/// Bytes before the null bitmap: version, flags.
const HEADER: usize = 2;
/// Flag: offsets have four bytes instead of two.
const WIDE: u8 = 1;
/// BINARY(n) up to this length is a fixed column.
const FIXED_BINARY_MAX: u32 = 255;

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Nothing,
    Int { unsigned: bool },
    UInt,
    Year,
    Float,
    Double,
    Decimal { precision: u8, scale: u8 },
    Date,
    Time,
    DateTime,
    Timestamp,
    Fixed,
    Bytes,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// Offset from the fixed columns' start.
    Fixed(u32),
    /// Number among the columns of variable length.
    Variable(u32),
}

/// What a column is to be written from.
enum Cell<'a> {
    Null,
    /// A string's bytes.
    Bytes(&'a [u8]),
    /// A column as a row of this layout has it.
    Stored(&'a [u8]),
    Value(&'a Value),
}

impl<'a> Cell<'a> {
    fn of(v: &'a Value) -> Cell<'a> {
        match v {
            Value::Null => Cell::Null,
            Value::Bytes(b) => Cell::Bytes(b),
            v => Cell::Value(v),
        }
    }
}

#[derive(Debug, Clone)]
struct Column {
    kind: Kind,
    /// Bytes of a fixed column.
    width: u32,
    place: Place,
    /// Bit in the null bitmap, of nullable columns.
    null_bit: Option<u32>,
    name: &'static str,
}

/// How the rows of one table version are laid out: computed once from the column types.
#[derive(Debug, Clone)]
pub struct RowLayout {
    version: u8,
    columns: Vec<Column>,
    /// Where the fixed columns begin.
    fixed_start: usize,
    /// Where the offsets begin.
    offsets_start: usize,
    variable: usize,
}

fn kind_of(ty: &SqlType) -> (Kind, Option<usize>) {
    match ty {
        SqlType::Null => (Kind::Nothing, Some(0)),
        SqlType::Int { width, unsigned, .. } => (Kind::Int { unsigned: *unsigned }, Some(int_bytes(*width))),
        SqlType::Bit(n) => (Kind::UInt, Some(bits_width(*n as usize))),
        SqlType::Year(_) => (Kind::Year, Some(2)),
        SqlType::Float { .. } => (Kind::Float, Some(4)),
        SqlType::Double { .. } => (Kind::Double, Some(8)),
        SqlType::Decimal { precision, scale, .. } => {
            (Kind::Decimal { precision: *precision, scale: *scale }, Some(Decimal::binary_len(*precision, *scale)))
        }
        SqlType::Date => (Kind::Date, Some(3)),
        SqlType::Time { .. } => (Kind::Time, Some(6)),
        SqlType::DateTime { .. } => (Kind::DateTime, Some(8)),
        SqlType::Timestamp { .. } => (Kind::Timestamp, Some(8)),
        SqlType::Text { kind: TextKind::Char, len, collation } if collation.is_binary() && *len <= FIXED_BINARY_MAX => {
            (Kind::Fixed, Some(*len as usize))
        }
        SqlType::Text { .. } => (Kind::Bytes, None),
        SqlType::Enum(d) => (Kind::UInt, Some(enum_width(d.members.len()))),
        SqlType::Set(d) => (Kind::UInt, Some(bits_width(d.members.len()))),
    }
}

impl RowLayout {
    /// A layout for stored columns (type, whether NULL can occur) in order; `version` is the row version
    /// byte (instant ADD COLUMN).
    pub fn new(version: u8, columns: &[(SqlType, bool)]) -> RowLayout {
        let (mut fixed, mut variable, mut nulls) = (0, 0, 0);
        let columns: Vec<Column> = columns
            .iter()
            .map(|(ty, nullable)| {
                let (kind, width) = kind_of(ty);
                let place = match width {
                    Some(w) => {
                        fixed += w as u32;
                        Place::Fixed(fixed - w as u32)
                    }
                    None => {
                        variable += 1;
                        Place::Variable(variable - 1)
                    }
                };
                let null_bit = nullable.then(|| {
                    nulls += 1;
                    nulls - 1
                });
                Column { kind, width: width.unwrap_or(0) as u32, place, null_bit, name: family(ty) }
            })
            .collect();
        let fixed_start = HEADER + nulls.div_ceil(8) as usize;
        RowLayout {
            version,
            columns,
            fixed_start,
            offsets_start: fixed_start + fixed as usize,
            variable: variable as usize,
        }
    }

    /// The version byte of a row, which says whose layout it has.
    pub fn version_of(bytes: &[u8]) -> Option<u8> {
        bytes.first().copied()
    }

    /// This layout's version byte.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Appends a row's bytes. TIMESTAMP goes from the session's zone to UTC.
    ///
    /// # Errors
    /// Another number of values, or one that does not belong to its column's type.
    pub fn encode(&self, row: &[Value], tz: &TimeZone, out: &mut Vec<u8>) -> SqlResult<()> {
        Ok(self.write(row, tz, out)?)
    }

    fn write(&self, row: &[Value], tz: &TimeZone, out: &mut Vec<u8>) -> Result<(), CodecError> {
        if row.len() != self.columns.len() {
            return Err(CodecError::Layout);
        }
        self.write_cells(|i| Ok(Cell::of(&row[i])), tz, out)
    }

    /// Appends the bytes of a row with some columns changed: the others are copied as they are stored, so
    /// that they need no decoding and a TIMESTAMP in the hour that comes twice stays what it was.
    ///
    /// # Errors
    /// `old` is no row of this layout; a column that there is not; a value of another type.
    pub fn encode_changed(
        &self,
        old: &[u8],
        changes: &[(usize, Value)],
        tz: &TimeZone,
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        if changes.iter().any(|(i, _)| *i >= self.columns.len()) {
            return Err(CodecError::Layout.into());
        }
        let cell = |i: usize| match changes.iter().rev().find(|(at, _)| *at == i) {
            Some((_, v)) => Ok(Cell::of(v)),
            None => Ok(self.raw(old, i)?.map_or(Cell::Null, Cell::Stored)),
        };
        Ok(self.write_cells(cell, tz, out)?)
    }

    fn write_cells<'a>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'a>, CodecError>,
        tz: &TimeZone,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let mut total = 0usize;
        for (i, c) in self.columns.iter().enumerate() {
            if let (Place::Variable(_), Cell::Bytes(b) | Cell::Stored(b)) = (c.place, cell(i)?) {
                total += b.len();
            }
        }
        let wide = total > u16::MAX as usize;
        u32::try_from(total).map_err(|_| CodecError::Type("TEXT"))?;
        let start = out.len();
        let offset_width = if wide { 4 } else { 2 };
        out.reserve(self.offsets_start + self.variable * offset_width + total);
        out.push(self.version);
        out.push(if wide { WIDE } else { 0 });
        out.resize(start + self.fixed_start, 0);
        for (i, c) in self.columns.iter().enumerate() {
            match (cell(i)?, c.null_bit, c.place) {
                (Cell::Null, Some(bit), place) => {
                    out[start + HEADER + bit as usize / 8] |= 1 << (bit % 8);
                    if let Place::Fixed(_) = place {
                        out.resize(out.len() + c.width as usize, 0);
                    }
                }
                (Cell::Null, None, Place::Fixed(_)) if c.kind == Kind::Nothing => {}
                (Cell::Stored(b), _, Place::Fixed(_)) => out.extend_from_slice(b),
                (Cell::Bytes(b), _, Place::Fixed(_)) if c.kind == Kind::Fixed => {
                    let width = c.width as usize;
                    let used = b.len().min(width);
                    out.extend_from_slice(&b[..used]);
                    out.resize(out.len() + width - used, 0);
                }
                (Cell::Value(v), _, Place::Fixed(_)) => c.write_fixed(v, tz, out)?,
                (Cell::Bytes(_) | Cell::Stored(_), _, Place::Variable(_)) => {}
                _ => return Err(CodecError::Type(c.name)),
            }
        }
        let mut end = 0usize;
        for (i, c) in self.columns.iter().enumerate() {
            if let Place::Fixed(_) = c.place {
                continue;
            }
            if let Cell::Bytes(b) | Cell::Stored(b) = cell(i)? {
                end += b.len();
            }
            if wide {
                out.extend_from_slice(&(end as u32).to_le_bytes());
            } else {
                out.extend_from_slice(&(end as u16).to_le_bytes());
            }
        }
        for (i, c) in self.columns.iter().enumerate() {
            if let (Place::Variable(_), Cell::Bytes(b) | Cell::Stored(b)) = (c.place, cell(i)?) {
                out.extend_from_slice(b);
            }
        }
        Ok(())
    }

    /// Reads one column without decoding the others.
    ///
    /// # Errors
    /// Bytes that are no row of this layout; a column that there is not.
    pub fn column(&self, bytes: &[u8], index: usize, tz: &TimeZone) -> SqlResult<Value> {
        Ok(self.read(bytes, index, tz)?.to_value())
    }

    /// Sees one column in place: bytes are those of the row.
    ///
    /// # Errors
    /// As [`Self::column`].
    #[inline]
    pub fn column_ref<'a>(&self, bytes: &'a [u8], index: usize, tz: &TimeZone) -> SqlResult<ValueRef<'a>> {
        Ok(self.read(bytes, index, tz)?)
    }

    /// Whether a column is NULL.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn is_null(&self, bytes: &[u8], index: usize) -> SqlResult<bool> {
        Ok(self.raw(bytes, index)?.is_none())
    }

    /// A column's bytes as they are stored (equal bytes are equal values, unlike bytes may be equal ones);
    /// none for NULL.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn raw_column<'a>(&self, bytes: &'a [u8], index: usize) -> SqlResult<Option<&'a [u8]>> {
        Ok(self.raw(bytes, index)?)
    }

    /// Reads all columns, appending to `out`.
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn decode(&self, bytes: &[u8], tz: &TimeZone, out: &mut Vec<Value>) -> SqlResult<()> {
        out.reserve(self.columns.len());
        for index in 0..self.columns.len() {
            out.push(self.read(bytes, index, tz)?.to_value());
        }
        Ok(())
    }

    #[inline]
    fn raw<'a>(&self, bytes: &'a [u8], index: usize) -> Result<Option<&'a [u8]>, CodecError> {
        let (&version, &flags) = match (bytes.first(), bytes.get(1)) {
            (Some(v), Some(f)) => (v, f),
            _ => return Err(CodecError::Short("row")),
        };
        if version != self.version || flags & !WIDE != 0 {
            return Err(CodecError::Layout);
        }
        let column = self.columns.get(index).ok_or(CodecError::Layout)?;
        if let Some(bit) = column.null_bit {
            let byte = bytes.get(HEADER + bit as usize / 8).ok_or(CodecError::Short("row"))?;
            if byte >> (bit % 8) & 1 == 1 {
                return Ok(None);
            }
        }
        let (from, to) = match column.place {
            Place::Fixed(at) => {
                let from = self.fixed_start + at as usize;
                (from, from + column.width as usize)
            }
            Place::Variable(n) => self.variable_range(bytes, n as usize, flags & WIDE != 0)?,
        };
        bytes.get(from..to).map(Some).ok_or(CodecError::Short("row"))
    }

    #[inline]
    fn variable_range(&self, bytes: &[u8], n: usize, wide: bool) -> Result<(usize, usize), CodecError> {
        let width = if wide { 4 } else { 2 };
        let offset = |i: usize| {
            let at = self.offsets_start + i * width;
            let b = bytes.get(at..at + width).ok_or(CodecError::Short("row"))?;
            Ok(match *b {
                [a, b] => u16::from_le_bytes([a, b]) as usize,
                [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
                _ => 0,
            })
        };
        let data = self.offsets_start + self.variable * width;
        let from = if n == 0 { 0 } else { offset(n - 1)? };
        let to = offset(n)?;
        Ok((data + from, data + to))
    }

    #[inline]
    fn read<'a>(&self, bytes: &'a [u8], index: usize, tz: &TimeZone) -> Result<ValueRef<'a>, CodecError> {
        match self.raw(bytes, index)? {
            Some(raw) => self.columns[index].read(raw, tz),
            None => Ok(ValueRef::Null),
        }
    }
}

/// A little-endian number of up to eight bytes.
#[inline]
fn read_le(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a as u64,
        [a, b] => u16::from_le_bytes([a, b]) as u64,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as u64,
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |v, &b| v << 8 | b as u64),
    }
}

impl Column {
    /// Appends exactly `width` bytes.
    fn write_fixed(&self, v: &Value, tz: &TimeZone, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let width = self.width as usize;
        let wrong = CodecError::Type(self.name);
        let mut put = |v: u64| out.extend_from_slice(&v.to_le_bytes()[..width]);
        match (self.kind, v) {
            (Kind::Int { unsigned: false }, v) => {
                let v = ValueRef::of(v).integer().ok_or(wrong.clone())?;
                let limit = 1i128 << (width * 8 - 1);
                if !(-limit..limit).contains(&v) {
                    return Err(wrong);
                }
                put(v as i64 as u64);
            }
            (Kind::Int { unsigned: true } | Kind::UInt | Kind::Year, v) => {
                let v = ValueRef::of(v).integer().and_then(|v| u64::try_from(v).ok()).ok_or(wrong.clone())?;
                if width < 8 && v >> (width * 8) != 0 {
                    return Err(wrong);
                }
                put(v);
            }
            (Kind::Float, Value::Double(v)) => put((*v as f32).to_bits() as u64),
            (Kind::Double, Value::Double(v)) => put(v.to_bits()),
            (Kind::Decimal { precision, scale }, Value::Decimal(v)) => v.write_binary(precision, scale, out),
            (Kind::Date, Value::Date(v)) => put(v.0 as u64),
            (Kind::Time, Value::Time(v)) => {
                let biased = v.0.checked_add(TIME_BIAS).filter(|v| (0..1 << 43).contains(v)).ok_or(wrong)?;
                put(biased as u64);
            }
            (Kind::DateTime, Value::DateTime(v)) => put(v.0),
            (Kind::Timestamp, Value::DateTime(v)) => put(timestamp_to_utc(*v, tz).ok_or(wrong)? as u64),
            _ => return Err(wrong),
        }
        Ok(())
    }

    #[inline]
    fn read<'a>(&self, raw: &'a [u8], tz: &TimeZone) -> Result<ValueRef<'a>, CodecError> {
        Ok(match self.kind {
            Kind::Bytes | Kind::Fixed => ValueRef::Bytes(raw),
            Kind::Int { unsigned: false } => {
                let unused = 64 - 8 * raw.len() as u32;
                ValueRef::Int((read_le(raw) << (unused & 63)) as i64 >> (unused & 63))
            }
            Kind::Int { unsigned: true } | Kind::UInt => ValueRef::UInt(read_le(raw)),
            Kind::Year => ValueRef::Int(read_le(raw) as i64),
            Kind::Float => ValueRef::Double(f32::from_bits(read_le(raw) as u32) as f64),
            Kind::Double => ValueRef::Double(f64::from_bits(read_le(raw))),
            Kind::Decimal { precision, scale } => {
                ValueRef::Decimal(Decimal::read_binary(raw, precision, scale).ok_or(CodecError::Corrupt("DECIMAL"))?)
            }
            Kind::Date => ValueRef::Date(check_date(read_le(raw))?),
            Kind::Time => match read_le(raw) as i64 {
                v if v < 1 << 43 => ValueRef::Time(Time(v - TIME_BIAS)),
                _ => return Err(CodecError::Corrupt("TIME")),
            },
            Kind::DateTime => ValueRef::DateTime(check_datetime(read_le(raw))?),
            Kind::Timestamp => ValueRef::DateTime(timestamp_from_utc(check_utc(read_le(raw) as i64)?, tz)),
            Kind::Nothing => ValueRef::Null,
        })
    }
}
