//! An operator's rows one at a time, and what they weigh in memory.

use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::BoxOperator;

/// About how many bytes a row takes in memory.
pub fn row_bytes(row: &[Value]) -> usize {
    let text: usize = row.iter().map(|v| if let Value::Bytes(b) = v { b.len() + 16 } else { 0 }).sum();
    size_of_val(row) + text
}

/// An operator with the batch that is being read from it.
pub struct RowInput<'p> {
    operator: BoxOperator<'p>,
    batch: Batch,
    next: usize,
}

impl<'p> RowInput<'p> {
    /// Nothing is read yet.
    pub fn new(operator: BoxOperator<'p>) -> RowInput<'p> {
        let batch = Batch::new(operator.width());
        RowInput { operator, batch, next: 0 }
    }

    /// Values in a row.
    pub fn width(&self) -> usize {
        self.operator.width()
    }

    /// How many rows are wanted at a time from now on.
    pub fn want(&mut self, rows: usize) {
        self.batch.wanted = rows.clamp(1, Batch::ROWS);
    }

    /// Goes to the next row, which is [`Self::row`] then; `false` at the end.
    pub fn advance(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<bool> {
        if self.next < self.batch.len() {
            self.next += 1;
            return Ok(true);
        }
        cx.tick()?;
        self.operator.next(cx, &mut self.batch)?;
        self.next = 1;
        Ok(!self.batch.is_empty())
    }

    /// The row that [`Self::advance`] went to.
    pub fn row(&self) -> &[Value] {
        self.batch.row(self.next - 1)
    }

    /// Moves the row's values out.
    pub fn take(&mut self) -> impl Iterator<Item = Value> + '_ {
        self.batch.row_mut(self.next - 1).iter_mut().map(std::mem::take)
    }

    /// Starts over.
    pub fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.batch.clear();
        self.next = 0;
        self.operator.rewind(cx)
    }
}
