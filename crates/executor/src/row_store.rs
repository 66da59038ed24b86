//! Rows kept to be read several times: in memory, and in a temporary file from where they pass the operator's limit.

use selkie_types::{SqlResult, Value};

use crate::context::ExecCtx;
use crate::row_input::row_bytes;
use crate::spill::{SpillFile, SpillReader};

/// Rows of equal width in the order in which they were added.
pub struct RowStore {
    width: usize,
    values: Vec<Value>,
    in_memory: usize,
    rows: usize,
    bytes: usize,
    file: Option<SpillFile>,
}

/// A place in a [`RowStore`].
pub struct StoreCursor {
    /// Number of the current row plus one.
    at: usize,
    reader: Option<SpillReader>,
    row: Vec<Value>,
}

impl RowStore {
    /// An empty store.
    pub fn new(width: usize) -> RowStore {
        RowStore { width, values: Vec::new(), in_memory: 0, rows: 0, bytes: 0, file: None }
    }

    /// Adds a row.
    pub fn push(&mut self, cx: &mut ExecCtx<'_>, row: impl Iterator<Item = Value>) -> SqlResult<()> {
        let start = self.values.len();
        self.values.extend(row);
        self.rows += 1;
        if let Some(file) = &mut self.file {
            file.write(&[], &self.values[start..])?;
            self.values.truncate(start);
            return Ok(());
        }
        self.in_memory += 1;
        let bytes = row_bytes(&self.values[start..]);
        self.bytes += bytes;
        cx.charge(bytes as isize)?;
        if self.bytes > cx.limits.spill_bytes {
            self.file = Some(SpillFile::create(cx)?);
        }
        Ok(())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// A place before the first row. No rows may be added afterwards.
    pub fn cursor(&mut self) -> SqlResult<StoreCursor> {
        let reader = match &mut self.file {
            Some(f) => {
                let end = f.end()?;
                Some(f.reader(0, end))
            }
            None => None,
        };
        Ok(StoreCursor { at: 0, reader, row: Vec::new() })
    }

    /// Goes back before the first row.
    pub fn restart(&self, cursor: &mut StoreCursor) {
        cursor.at = 0;
        if let Some(r) = &mut cursor.reader {
            r.seek(0);
        }
    }

    /// Goes to the next row; `false` at the end.
    pub fn advance(&self, cursor: &mut StoreCursor) -> SqlResult<bool> {
        if cursor.at >= self.rows {
            return Ok(false);
        }
        cursor.at += 1;
        if cursor.at > self.in_memory
            && let Some(reader) = &mut cursor.reader
        {
            cursor.row.clear();
            return reader.read(&mut cursor.row);
        }
        Ok(true)
    }

    /// The row that [`Self::advance`] went to.
    pub fn row<'a>(&'a self, cursor: &'a StoreCursor) -> &'a [Value] {
        match cursor.at {
            0 => &[],
            n if n > self.in_memory => &cursor.row,
            n => &self.values[(n - 1) * self.width..n * self.width],
        }
    }

    /// Gives the memory back.
    pub fn release(self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        cx.charge(-(self.bytes as isize))
    }
}
