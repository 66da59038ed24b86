//! Write_rows, Update_rows, Delete_rows: row images, in all versions and compressed.

use bytes::Bytes;

use super::{EventType, compress, decompress};
use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share};

/// Bits of [`RowsEvent::flags`].
pub mod rows_flags {
    /// The last rows event of its statement.
    pub const STMT_END: u16 = 1;
    /// `foreign_key_checks=0`
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    /// `unique_checks=0`
    pub const RELAXED_UNIQUE_CHECKS: u16 = 4;
    /// Images hold all columns.
    pub const COMPLETE_ROWS: u16 = 8;
    /// `check_constraint_checks=0`
    pub const NO_CHECK_CONSTRAINT_CHECKS: u16 = 128;
}

/// What is done to the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// After images.
    Write,
    /// Pairs of before and after images.
    Update,
    /// Before images.
    Delete,
}

impl RowsKind {
    /// Of an event type, `None` where it is no rows event.
    pub const fn of(t: EventType) -> Option<RowsKind> {
        Some(match t {
            EventType::WRITE_ROWS_V1
            | EventType::WRITE_ROWS
            | EventType::WRITE_ROWS_COMPRESSED_V1
            | EventType::WRITE_ROWS_COMPRESSED => RowsKind::Write,
            EventType::UPDATE_ROWS_V1
            | EventType::UPDATE_ROWS
            | EventType::UPDATE_ROWS_COMPRESSED_V1
            | EventType::UPDATE_ROWS_COMPRESSED => RowsKind::Update,
            EventType::DELETE_ROWS_V1
            | EventType::DELETE_ROWS
            | EventType::DELETE_ROWS_COMPRESSED_V1
            | EventType::DELETE_ROWS_COMPRESSED => RowsKind::Delete,
            _ => return None,
        })
    }

    const fn index(self) -> u8 {
        match self {
            RowsKind::Write => 0,
            RowsKind::Update => 1,
            RowsKind::Delete => 2,
        }
    }

    /// The type that MariaDB (and Selkie) writes.
    pub const fn event_type_v1(self) -> EventType {
        EventType(EventType::WRITE_ROWS_V1.0 + self.index())
    }
}

/// A rows event. Read its images with [`crate::row::RowReader`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsEvent {
    /// What is done.
    pub kind: RowsKind,
    /// Version 2 (MySQL 5.6 and later): has `extra`.
    pub v2: bool,
    /// Read from, or to be written as, a compressed event.
    pub compressed: bool,
    /// The Table_map's number.
    pub table_id: u64,
    /// See [`rows_flags`].
    pub flags: u16,
    /// Extra data of version 2.
    pub extra: Bytes,
    /// Number of columns.
    pub width: usize,
    /// Which columns the (before) images hold; lowest bit of the first byte first.
    pub columns: Bytes,
    /// Which columns the after images of an update hold.
    pub columns_after: Bytes,
    /// The images, one after the other. Uncompressed.
    pub rows: Bytes,
}

impl RowsEvent {
    /// The type byte it is written under.
    pub fn event_type(&self) -> EventType {
        let base = match (self.v2, self.compressed) {
            (false, false) => EventType::WRITE_ROWS_V1,
            (true, false) => EventType::WRITE_ROWS,
            (false, true) => EventType::WRITE_ROWS_COMPRESSED_V1,
            (true, true) => EventType::WRITE_ROWS_COMPRESSED,
        };
        EventType(base.0 + self.kind.index())
    }

    pub(super) fn decode(t: EventType, body: &Bytes) -> Result<RowsEvent, DecodeError> {
        let kind = RowsKind::of(t).ok_or(DecodeError::UnknownType(t.0))?;
        let compressed = t.0 >= EventType::WRITE_ROWS_COMPRESSED_V1.0;
        let v2 = (EventType::WRITE_ROWS.0..=EventType::DELETE_ROWS.0).contains(&t.0)
            || t.0 >= EventType::WRITE_ROWS_COMPRESSED.0;
        let mut r = WireReader::new(body);
        let table_id = r.u48("table id")?;
        let flags = r.u16("rows event flags")?;
        let mut extra = Bytes::new();
        if v2 {
            let n = usize::from(r.u16("extra data length")?);
            let n = n.checked_sub(2).ok_or(DecodeError::Malformed {
                what: "extra data length",
            })?;
            extra = share(body, r.take(n, "extra data")?);
        }
        let width = r.lenenc_usize("column count")?;
        let columns = share(body, r.take(width.div_ceil(8), "column bitmap")?);
        let columns_after = match kind {
            RowsKind::Update => share(body, r.take(width.div_ceil(8), "column bitmap")?),
            _ => Bytes::new(),
        };
        let rows = r.take_rest();
        let rows = if compressed {
            Bytes::from(decompress(rows)?)
        } else {
            share(body, rows)
        };
        Ok(RowsEvent {
            kind,
            v2,
            compressed,
            table_id,
            flags,
            extra,
            width,
            columns,
            columns_after,
            rows,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u48(self.table_id);
        out.put_u16(self.flags);
        if self.v2 {
            out.put_u16(self.extra.len() as u16 + 2);
            out.put_slice(&self.extra);
        }
        out.put_lenenc(self.width as u64);
        out.put_slice(&self.columns);
        out.put_slice(&self.columns_after);
        if self.compressed {
            compress(&self.rows, out);
        } else {
            out.put_slice(&self.rows);
        }
    }
}
