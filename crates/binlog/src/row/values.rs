//! The rows of a rows event.

use selkie_types::{Row, Value};

use super::{RowColumn, decode::read_value};
use crate::DecodeError;
use crate::event::{RowsEvent, RowsKind};
use crate::wire::WireReader;

/// The image of a row: `None` for columns that are not in it (`binlog_row_image` other than FULL).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// By column.
    pub values: Vec<Option<Value>>,
}

impl Image {
    /// The row, if the image has all columns.
    pub fn into_row(self) -> Option<Row> {
        self.values.into_iter().collect()
    }
}

/// What happened to one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowChange {
    /// Before; of updates and deletes.
    pub before: Option<Image>,
    /// After; of inserts and updates.
    pub after: Option<Image>,
}

/// Reads the rows of an event one after the other; an iterator that ends after an error.
pub struct RowReader<'a> {
    event: &'a RowsEvent,
    columns: &'a [RowColumn],
    rest: WireReader<'a>,
    failed: bool,
}

impl<'a> RowReader<'a> {
    /// The rows of an event whose table has these columns (of its Table_map, with
    /// [`RowColumn`]'s additions). Fails where their number differs.
    pub fn new(
        event: &'a RowsEvent,
        columns: &'a [RowColumn],
    ) -> Result<RowReader<'a>, DecodeError> {
        if event.width != columns.len() {
            return Err(DecodeError::Malformed {
                what: "rows event: it has not as many columns as its table",
            });
        }
        Ok(RowReader {
            event,
            columns,
            rest: WireReader::new(&event.rows),
            failed: false,
        })
    }

    fn read(&mut self) -> Result<RowChange, DecodeError> {
        let (columns, event) = (self.columns, self.event);
        let mut image = |present: &[u8]| read_image(&mut self.rest, columns, present).map(Some);
        Ok(match event.kind {
            RowsKind::Write => RowChange {
                before: None,
                after: image(&event.columns)?,
            },
            RowsKind::Delete => RowChange {
                before: image(&event.columns)?,
                after: None,
            },
            RowsKind::Update => RowChange {
                before: image(&event.columns)?,
                after: image(&event.columns_after)?,
            },
        })
    }
}

impl Iterator for RowReader<'_> {
    type Item = Result<RowChange, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let before = self.rest.remaining();
        let mut result = self.read();
        if self.rest.remaining() == before && result.is_ok() {
            // Images without any column would go on for ever.
            result = Err(DecodeError::Malformed { what: "row image" });
        }
        self.failed = result.is_err();
        Some(result)
    }
}

fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}

fn read_image(
    r: &mut WireReader<'_>,
    columns: &[RowColumn],
    present: &[u8],
) -> Result<Image, DecodeError> {
    let count = (0..columns.len()).filter(|i| bit(present, *i)).count();
    let nulls = r.take(count.div_ceil(8), "NULL bitmap")?;
    let mut values = Vec::with_capacity(columns.len());
    let mut nth = 0;
    for (i, column) in columns.iter().enumerate() {
        if !bit(present, i) {
            values.push(None);
            continue;
        }
        let value = if bit(nulls, nth) {
            Value::Null
        } else {
            read_value(r, column)?
        };
        nth += 1;
        values.push(Some(value));
    }
    Ok(Image { values })
}
