//! Tables of information_schema and the like, which the session computes.

use selkie_expr::Expr;
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::Operator;
use crate::row_input::row_bytes;

/// A scan of a computed table.
pub struct VirtualScan<'p> {
    db: &'p str,
    name: &'p str,
    columns: &'p [usize],
    lookups: &'p [(usize, Expr)],
    /// All columns of all rows, flat, and how many columns there are.
    rows: Option<(Vec<Value>, usize)>,
    next: usize,
}

impl<'p> VirtualScan<'p> {
    /// Reads `columns` of a table.
    pub fn new(db: &'p str, name: &'p str, columns: &'p [usize], lookups: &'p [(usize, Expr)]) -> VirtualScan<'p> {
        VirtualScan { db, name, columns, lookups, rows: None, next: 0 }
    }
}

impl Operator for VirtualScan<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.columns.len());
        let (rows, width) = match &self.rows {
            Some(r) => r,
            None => {
                let mut lookups = Vec::with_capacity(self.lookups.len());
                for (column, e) in self.lookups {
                    lookups.push((*column, e.eval(&[], cx)?));
                }
                let width = cx.session.virtual_width(self.db, self.name)?.max(1);
                let rows = cx.session.virtual_rows(self.db, self.name, &lookups)?;
                cx.rows_examined += (rows.len() / width) as u64;
                cx.charge(row_bytes(&rows) as isize)?;
                self.rows.insert((rows, width))
            }
        };
        while !out.is_full() && self.next < rows.len() {
            let row = &rows[self.next..(self.next + width).min(rows.len())];
            out.push(self.columns.iter().map(|&c| row.get(c).cloned().unwrap_or_default()));
            self.next += width;
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.next = 0;
        // Lookups may depend on an outer row.
        if !self.lookups.is_empty()
            && let Some((rows, _)) = self.rows.take()
        {
            cx.charge(-(row_bytes(&rows) as isize))?;
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.columns.len()
    }
}

#[cfg(test)]
mod tests {
    use selkie_planner::plan::Plan;

    use crate::testing::{Fixture, INT, int};

    #[test]
    fn columns_are_chosen_and_lookups_are_passed_on() {
        let scan = |columns: Vec<usize>, lookups| Plan::Virtual {
            db: "information_schema".into(),
            name: "v".into(),
            types: vec![INT; columns.len()],
            columns,
            lookups,
        };
        let mut f = Fixture::default();
        assert_eq!(f.text(&scan(vec![1, 0], vec![])), ["0,0", "10,1", "20,2"]);
        assert_eq!(f.text(&scan(vec![1], vec![(0, int(2))])), ["20"]);
    }
}
