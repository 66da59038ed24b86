//! INTERSECT [ALL] and EXCEPT [ALL]: the right side's rows are counted in a hash table, then the left side is read.

use selkie_types::{SqlResult, SqlType};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::row_input::RowInput;
use crate::row_set::RowSet;

/// A running INTERSECT or EXCEPT.
pub struct SetOperation<'p> {
    left: BoxOperator<'p>,
    right: RowInput<'p>,
    except: bool,
    all: bool,
    rows: RowSet,
    /// For each row of `rows`: how many times it is still there on the right (with ALL), or whether it counts at all.
    counts: Vec<u64>,
    started: bool,
}

impl<'p> SetOperation<'p> {
    /// `left` INTERSECT or EXCEPT `right`, whose rows have these types.
    pub fn new(
        left: BoxOperator<'p>,
        right: BoxOperator<'p>,
        except: bool,
        all: bool,
        types: &[SqlType],
    ) -> SetOperation<'p> {
        let right = RowInput::new(right);
        SetOperation { left, right, except, all, rows: RowSet::new(types), counts: Vec::new(), started: false }
    }

    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        while self.right.advance(cx)? {
            let (i, new) = self.rows.number(cx, self.right.row())?;
            if new {
                self.counts.push(0);
            }
            self.counts[i] += 1;
        }
        self.started = true;
        Ok(())
    }
}

impl Operator for SetOperation<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        if !self.started {
            self.start(cx)?;
        }
        loop {
            self.left.next(cx, out)?;
            if out.is_empty() {
                return Ok(());
            }
            cx.tick()?;
            let (rows, counts, except, all) = (&mut self.rows, &mut self.counts, self.except, self.all);
            out.retain(|row| {
                if except && !all {
                    // A row given once counts as if it were on the right.
                    let (_, new) = rows.number(cx, row)?;
                    if new {
                        counts.push(1);
                    }
                    return Ok::<_, selkie_types::SqlError>(new);
                }
                let there = match rows.find(row) {
                    Some(i) if counts[i] > 0 => {
                        counts[i] = if all { counts[i] - 1 } else { 0 };
                        true
                    }
                    _ => false,
                };
                Ok(there != except)
            })?;
            if !out.is_empty() {
                return Ok(());
            }
        }
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.started = false;
        self.rows.clear();
        self.counts.clear();
        self.left.rewind(cx)?;
        self.right.rewind(cx)
    }

    fn width(&self) -> usize {
        self.left.width()
    }
}

#[cfg(test)]
mod tests {
    use selkie_planner::plan::Plan;

    use crate::testing::{Fixture, ints};

    #[test]
    fn set_operations_count_rows_only_with_all() {
        let mut f = Fixture::default();
        let mut run = |except, all| {
            let left = Box::new(ints(&[&[1], &[2], &[1], &[3], &[1], &[3]]));
            let right = Box::new(ints(&[&[1], &[4], &[1], &[2]]));
            f.text(&Plan::SetOperation { left, right, except, all })
        };
        assert_eq!(run(false, false), ["1", "2"]);
        assert_eq!(run(false, true), ["1", "2", "1"]);
        assert_eq!(run(true, false), ["3"]);
        assert_eq!(run(true, true), ["3", "1", "3"]);
    }
}
