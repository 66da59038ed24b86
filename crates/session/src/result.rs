//! Result sets: column definitions, and rows in the text or binary form.

use std::sync::Arc;

use selkie_planner::plan::OutputColumn;
use selkie_protocol::response::{self, BinaryRow, ColumnDefinition, Eof, ExtendedMetadata, TextRow};
use selkie_protocol::{Capabilities, ColumnFlags, ColumnType, SendBuffer, ServerStatus};
use selkie_types::{Charset, Collation, SqlResult, SqlType, Value, convert, sql_err, TextKind};

/// The form that rows are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// COM_QUERY.
    Text,
    /// COM_STMT_EXECUTE.
    Binary,
}

/// The types of a result's columns.
#[derive(Debug)]
pub struct RowShape {
    types: Vec<SqlType>,
    wire: Vec<ColumnType>,
}

impl RowShape {
    /// For columns of these types.
    pub fn new(types: Vec<SqlType>) -> RowShape {
        let wire = types.iter().map(wire_type).collect();
        RowShape { types, wire }
    }
}

/// The head of a result set in its encoded form, kept with a plan that runs again and again.
#[derive(Debug)]
pub struct ResultHead {
    /// What the encoding depends on.
    results: Option<Charset>,
    capabilities: Capabilities,
    /// The payloads of the column definitions, one after the other, and where each ends.
    definitions: Vec<u8>,
    ends: Vec<usize>,
    shape: Arc<RowShape>,
}

impl ResultHead {
    /// Encodes the definitions.
    pub fn new(columns: &[OutputColumn], results: Option<Charset>, capabilities: Capabilities) -> ResultHead {
        let mut definitions = Vec::new();
        let mut ends = Vec::with_capacity(columns.len());
        for c in columns {
            let mut packet = SendBuffer::new();
            definition(c, results).encode(&mut packet, capabilities);
            definitions.extend_from_slice(&packet.pending()[selkie_protocol::HEADER_BYTES..]);
            ends.push(definitions.len());
        }
        let shape = Arc::new(RowShape::new(columns.iter().map(|c| c.ty.clone()).collect()));
        ResultHead { results, capabilities, definitions, ends, shape }
    }

    /// Whether it was made for a client and session like these.
    pub fn fits(&self, results: Option<Charset>, capabilities: Capabilities) -> bool {
        self.results == results && self.capabilities == capabilities
    }

    /// Writes the head.
    pub fn write(&self, out: &mut SendBuffer, status: ServerStatus) {
        response::put_column_count(out, self.capabilities, self.ends.len() as u64, true);
        let mut start = 0;
        for end in &self.ends {
            out.begin_packet();
            out.put_bytes(&self.definitions[start..*end]);
            out.end_packet();
            start = *end;
        }
        response::put_metadata_end(out, self.capabilities, Eof { warnings: 0, status });
    }

    /// The writer of the result's rows.
    pub fn rows(&self, format: RowFormat) -> RowWriter {
        RowWriter { format, shape: self.shape.clone(), sent: Sent::new(self.results) }
    }
}

/// The character set that text is sent in; values are UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// As it is.
    Utf8,
    /// One set for all columns.
    In(Charset),
    /// Each column's own (`character_set_results` NULL or binary: nothing is converted).
    Own,
}

impl Sent {
    fn new(results: Option<Charset>) -> Sent {
        match results {
            Some(Charset::Utf8mb4 | Charset::Utf8mb3) => Sent::Utf8,
            None | Some(Charset::Binary) => Sent::Own,
            Some(c) => Sent::In(c),
        }
    }

    /// What a column's values are to be encoded in, if they are not sent as they are.
    fn encoding(self, ty: &SqlType) -> Option<Charset> {
        let own = || ty.collation().map(Collation::charset).filter(|c| *c != Charset::Binary);
        match self {
            Sent::Utf8 => None,
            Sent::In(c) => own().map(|_| c),
            Sent::Own => own().filter(|c| !matches!(c, Charset::Utf8mb4 | Charset::Utf8mb3)),
        }
    }
}

/// How a result's rows are written; made once for each result.
pub struct RowWriter {
    format: RowFormat,
    shape: Arc<RowShape>,
    sent: Sent,
}

impl RowWriter {
    /// For columns of these types. `results` is `character_set_results`.
    pub fn new(format: RowFormat, types: Vec<SqlType>, results: Option<Charset>) -> RowWriter {
        RowWriter { format, shape: Arc::new(RowShape::new(types)), sent: Sent::new(results) }
    }

    /// Writes one row: the first values of `row`.
    pub fn write(&self, row: &[Value], out: &mut SendBuffer) -> SqlResult<()> {
        let shape = &*self.shape;
        match self.format {
            RowFormat::Text => {
                let mut w = TextRow::begin(out);
                for (v, ty) in row.iter().zip(&shape.types) {
                    match v {
                        Value::Null => w.put_null(),
                        Value::Int(i) if !is_zerofill(ty) && !matches!(ty, SqlType::Year(_)) => w.put_i64(*i),
                        Value::Bytes(b) if self.sent == Sent::Utf8 => w.put_bytes(b),
                        v => w.put_with(|bytes| self.text(v, ty, bytes)),
                    }
                }
                w.finish();
            }
            RowFormat::Binary => {
                let mut w = BinaryRow::begin(out, shape.types.len());
                for ((v, ty), wire) in row.iter().zip(&shape.types).zip(&shape.wire) {
                    match (v, ty) {
                        (Value::Null, _) => w.put_null(),
                        (Value::Int(i), SqlType::Int { .. } | SqlType::Year(_)) => w.put_int(*wire, *i),
                        (Value::UInt(u), SqlType::Int { .. } | SqlType::Year(_)) => w.put_int(*wire, *u as i64),
                        (Value::Double(d), SqlType::Float { .. }) => w.put_f32(*d as f32),
                        (Value::Double(d), SqlType::Double { .. }) => w.put_f64(*d),
                        (Value::Date(d), SqlType::Date) => w.put_date(temporal_date(*d)),
                        (Value::DateTime(t), SqlType::DateTime { .. } | SqlType::Timestamp { .. }) => {
                            w.put_datetime(temporal_datetime(*t))
                        }
                        (Value::Time(t), SqlType::Time { .. }) => w.put_time(temporal_time(*t)),
                        (Value::Bytes(b), _) if self.sent == Sent::Utf8 => w.put_bytes(b),
                        (v, ty) => w.put_with(|bytes| self.text(v, ty, bytes)),
                    }
                }
                w.finish();
            }
        }
        if out.pending_bytes() > usize::MAX / 2 {
            return Err(sql_err!(ER_OUT_OF_RESOURCES));
        }
        Ok(())
    }

    fn text(&self, v: &Value, ty: &SqlType, out: &mut Vec<u8>) {
        match self.sent.encoding(ty) {
            Some(charset) => {
                let text = convert::text_of(v, ty);
                out.extend_from_slice(&charset.encode(&text).0);
            }
            None => convert::write_text(v, ty, out),
        }
    }
}

fn is_zerofill(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Int { zerofill: true, .. })
}

fn temporal_date(d: selkie_types::Date) -> selkie_protocol::Date {
    selkie_protocol::Date { year: d.year() as u16, month: d.month() as u8, day: d.day() as u8 }
}

fn temporal_datetime(t: selkie_types::DateTime) -> selkie_protocol::DateTime {
    let (hour, minute, second, micros) = clock(t.micros_of_day());
    selkie_protocol::DateTime { date: temporal_date(t.date()), hour: hour as u8, minute, second, micros }
}

fn temporal_time(t: selkie_types::Time) -> selkie_protocol::Time {
    let (hours, minutes, seconds, micros) = clock(t.0.unsigned_abs());
    selkie_protocol::Time {
        negative: t.0 < 0,
        days: (hours / 24) as u32,
        hours: (hours % 24) as u8,
        minutes,
        seconds,
        micros,
    }
}

fn clock(micros: u64) -> (u64, u8, u8, u32) {
    let seconds = micros / 1_000_000;
    (seconds / 3600, (seconds / 60 % 60) as u8, (seconds % 60) as u8, (micros % 1_000_000) as u32)
}

/// The type number of a column in results.
pub fn wire_type(ty: &SqlType) -> ColumnType {
    ColumnType::try_from(ty.wire().number).unwrap_or(ColumnType::VarString)
}

/// The definition of a result column as clients get it.
pub fn definition<'a>(c: &'a OutputColumn, results: Option<Charset>) -> ColumnDefinition<'a> {
    let collation = match c.ty.collation() {
        Some(cl) if cl.is_binary() => Collation::BINARY,
        Some(cl) => results.map_or(cl, |r| if r == Charset::Binary { cl } else { r.default_collation() }),
        None => Collation::BINARY,
    };
    let wire = c.ty.wire();
    let mut flags = ColumnFlags::from_bits(wire.flags);
    let mut decimals = wire.decimals;
    if c.origin.is_none() {
        // What is no column says so: BINARY for numbers, 39 decimals for text.
        if c.ty.is_numeric() {
            flags = flags | ColumnFlags::BINARY_FLAG;
        } else if matches!(&c.ty, SqlType::Text { kind: TextKind::VarChar, collation, .. } if !collation.is_binary()) {
            decimals = 39;
        }
    }
    if !c.nullable {
        flags = flags | ColumnFlags::NOT_NULL_FLAG;
    }
    let origin = c.origin.as_ref();
    if let Some(o) = origin {
        flags = flags | ColumnFlags::from_bits(o.flags);
    }
    ColumnDefinition {
        schema: origin.map_or(b"", |o| o.db.as_bytes()),
        table: origin.map_or(b"", |o| o.table.as_bytes()),
        org_table: origin.map_or(b"", |o| o.org_table.as_bytes()),
        name: c.name.as_bytes(),
        org_name: origin.map_or(b"", |o| o.org_name.as_bytes()),
        extended: ExtendedMetadata::default(),
        collation: collation.0,
        length: c.ty.wire_length(collation.charset()),
        column_type: wire_type(&c.ty),
        flags,
        decimals,
    }
}
