//! Rows between operators: a flat vector of values, reused from batch to batch.

use selkie_types::Value;

/// Rows of equal width.
#[derive(Debug, Clone)]
pub struct Batch {
    width: usize,
    values: Vec<Value>,
    rows: usize,
    /// How many rows the reader of this batch would like at the most.
    pub wanted: usize,
}

impl Batch {
    /// Rows a batch holds when nobody wants fewer.
    pub const ROWS: usize = 256;

    /// An empty batch for rows of `width` values.
    pub fn new(width: usize) -> Batch {
        Batch { width, values: Vec::new(), rows: 0, wanted: Batch::ROWS }
    }

    /// Values in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether no more rows are wanted.
    pub fn is_full(&self) -> bool {
        self.rows >= self.wanted
    }

    /// Drops all rows, keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.rows = 0;
    }

    /// Changes the width of an empty batch.
    pub fn reset(&mut self, width: usize) {
        self.clear();
        self.width = width;
    }

    /// A row.
    pub fn row(&self, i: usize) -> &[Value] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// A row to change in place.
    pub fn row_mut(&mut self, i: usize) -> &mut [Value] {
        &mut self.values[i * self.width..(i + 1) * self.width]
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.rows).map(|i| self.row(i))
    }

    /// Appends a row by moving its values; the iterator yields exactly `width` of them.
    pub fn push(&mut self, row: impl IntoIterator<Item = Value>) {
        self.values.extend(row);
        self.rows += 1;
        debug_assert_eq!(self.values.len(), self.rows * self.width);
    }

    /// Appends a copy of a row.
    pub fn push_slice(&mut self, row: &[Value]) {
        self.values.extend_from_slice(row);
        self.rows += 1;
        debug_assert_eq!(self.values.len(), self.rows * self.width);
    }

    /// Appends a row whose values `fill` pushes; if it returns `false` or fails, the row is not kept.
    pub fn push_with<E>(&mut self, fill: impl FnOnce(&mut Vec<Value>) -> Result<bool, E>) -> Result<bool, E> {
        let start = self.values.len();
        let kept = fill(&mut self.values);
        if matches!(kept, Ok(true)) {
            self.rows += 1;
            debug_assert_eq!(self.values.len(), self.rows * self.width);
        } else {
            self.values.truncate(start);
        }
        kept
    }

    /// Keeps the rows for which `keep` is true.
    pub fn retain<E>(&mut self, mut keep: impl FnMut(&[Value]) -> Result<bool, E>) -> Result<(), E> {
        let mut kept = 0;
        for i in 0..self.rows {
            if keep(self.row(i))? {
                if kept != i {
                    for c in 0..self.width {
                        self.values.swap(kept * self.width + c, i * self.width + c);
                    }
                }
                kept += 1;
            }
        }
        self.values.truncate(kept * self.width);
        self.rows = kept;
        Ok(())
    }

    /// Keeps the first `n` rows.
    pub fn truncate(&mut self, n: usize) {
        if n < self.rows {
            self.values.truncate(n * self.width);
            self.rows = n;
        }
    }

    /// Removes the first `n` rows.
    pub fn drop_front(&mut self, n: usize) {
        let n = n.min(self.rows);
        self.values.drain(..n * self.width);
        self.rows -= n;
    }
}
