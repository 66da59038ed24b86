//! The operators that keep no more than the rows at hand.

use selkie_expr::Expr;
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};

/// Rows of expressions; also the one row without columns of `SELECT 1`.
pub struct ValuesOperator<'p> {
    rows: &'p [Vec<Expr>],
    width: usize,
    one_row: bool,
    next: usize,
}

impl<'p> ValuesOperator<'p> {
    /// Rows of expressions.
    pub fn new(rows: &'p [Vec<Expr>], width: usize) -> ValuesOperator<'p> {
        ValuesOperator { rows, width, one_row: false, next: 0 }
    }

    /// A single row of no columns.
    pub fn one_row() -> ValuesOperator<'p> {
        ValuesOperator { rows: &[], width: 0, one_row: true, next: 0 }
    }
}

impl Operator for ValuesOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width);
        if self.one_row {
            if self.next == 0 {
                self.next = 1;
                out.push([]);
            }
            return Ok(());
        }
        while !out.is_full() && self.next < self.rows.len() {
            let row = &self.rows[self.next];
            self.next += 1;
            out.push_with(|values| -> SqlResult<bool> {
                for e in row {
                    values.push(e.eval(&[], cx)?);
                }
                Ok(true)
            })?;
        }
        Ok(())
    }

    fn rewind(&mut self, _cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.next = 0;
        Ok(())
    }

    fn width(&self) -> usize {
        self.width
    }
}

/// Rows for which a condition is true.
pub struct FilterOperator<'p> {
    input: BoxOperator<'p>,
    condition: &'p Expr,
}

impl<'p> FilterOperator<'p> {
    /// Filters `input`.
    pub fn new(input: BoxOperator<'p>, condition: &'p Expr) -> FilterOperator<'p> {
        FilterOperator { input, condition }
    }
}

impl Operator for FilterOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        loop {
            self.input.next(cx, out)?;
            if out.is_empty() {
                return Ok(());
            }
            cx.tick()?;
            out.retain(|row| Ok::<_, selkie_types::SqlError>(self.condition.eval_bool(row, cx)? == Some(true)))?;
            if !out.is_empty() {
                return Ok(());
            }
        }
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width()
    }
}

/// Computed rows.
pub struct ProjectOperator<'p> {
    input: BoxOperator<'p>,
    exprs: &'p [Expr],
    batch: Batch,
}

impl<'p> ProjectOperator<'p> {
    /// Computes `exprs` on each row of `input`.
    pub fn new(input: BoxOperator<'p>, exprs: &'p [Expr]) -> ProjectOperator<'p> {
        let batch = Batch::new(input.width());
        ProjectOperator { input, exprs, batch }
    }
}

impl Operator for ProjectOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.exprs.len());
        self.batch.wanted = out.wanted;
        self.input.next(cx, &mut self.batch)?;
        for row in self.batch.rows() {
            out.push_with(|values| -> SqlResult<bool> {
                for e in self.exprs {
                    values.push(e.eval(row, cx)?);
                }
                Ok(true)
            })?;
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.exprs.len()
    }
}

/// `LIMIT count OFFSET offset`.
pub struct LimitOperator<'p> {
    input: BoxOperator<'p>,
    count: Option<&'p Expr>,
    offset: Option<&'p Expr>,
    /// Rows still to leave out, rows still to give; `None` before the first call.
    left: Option<(u64, u64)>,
    /// For SQL_CALC_FOUND_ROWS: rows seen so far. The input is read to its end.
    counted: Option<u64>,
}

impl<'p> LimitOperator<'p> {
    /// Limits `input`.
    pub fn new(input: BoxOperator<'p>, count: Option<&'p Expr>, offset: Option<&'p Expr>) -> LimitOperator<'p> {
        LimitOperator { input, count, offset, left: None, counted: None }
    }

    /// As [`Self::new`], and counts all rows of `input` in [`ExecCtx::found_rows`].
    pub fn counting(input: BoxOperator<'p>, count: Option<&'p Expr>, offset: Option<&'p Expr>) -> LimitOperator<'p> {
        LimitOperator { counted: Some(0), ..LimitOperator::new(input, count, offset) }
    }

    /// Counts the rows that nobody wants.
    fn count_rest(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let Some(counted) = &mut self.counted else { return Ok(()) };
        out.wanted = Batch::ROWS;
        loop {
            self.input.next(cx, out)?;
            if out.is_empty() {
                break;
            }
            cx.tick()?;
            *counted += out.len() as u64;
        }
        cx.found_rows = Some(*counted);
        Ok(())
    }
}

/// A LIMIT or OFFSET value as a number of rows.
pub fn row_count(cx: &mut ExecCtx<'_>, e: &Expr) -> SqlResult<u64> {
    Ok(match e.eval(&[], cx)? {
        Value::Int(v) => v.max(0) as u64,
        Value::UInt(v) => v,
        Value::Double(v) => v.max(0.0) as u64,
        Value::Decimal(d) => d.to_u64().0,
        Value::Bytes(b) => String::from_utf8_lossy(&b).trim().parse().unwrap_or(0),
        _ => 0,
    })
}

impl Operator for LimitOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let (mut skip, mut give) = match self.left {
            Some(left) => left,
            None => {
                let skip = self.offset.map_or(Ok(0), |e| row_count(cx, e))?;
                let give = self.count.map_or(Ok(u64::MAX), |e| row_count(cx, e))?;
                (skip, give)
            }
        };
        let wanted = out.wanted;
        loop {
            if give == 0 {
                self.count_rest(cx, out)?;
                out.reset(self.width());
                break;
            }
            out.wanted = wanted.min(skip.saturating_add(give).min(usize::MAX as u64) as usize).max(1);
            self.input.next(cx, out)?;
            if out.is_empty() {
                if self.counted.is_some() {
                    cx.found_rows = self.counted;
                }
                break;
            }
            if let Some(n) = &mut self.counted {
                *n += out.len() as u64;
            }
            let n = skip.min(out.len() as u64);
            out.drop_front(n as usize);
            skip -= n;
            out.truncate(give.min(out.len() as u64) as usize);
            give -= out.len() as u64;
            if !out.is_empty() {
                break;
            }
        }
        out.wanted = wanted;
        self.left = Some((skip, give));
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.left = None;
        self.counted = self.counted.map(|_| 0);
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width()
    }
}

/// All rows of several inputs, one after another.
pub struct UnionOperator<'p> {
    inputs: Vec<BoxOperator<'p>>,
    current: usize,
}

impl<'p> UnionOperator<'p> {
    /// Concatenates `inputs`.
    pub fn new(inputs: Vec<BoxOperator<'p>>) -> UnionOperator<'p> {
        UnionOperator { inputs, current: 0 }
    }
}

impl Operator for UnionOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width());
        while let Some(input) = self.inputs.get_mut(self.current) {
            input.next(cx, out)?;
            if !out.is_empty() {
                return Ok(());
            }
            self.current += 1;
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.current = 0;
        self.inputs.iter_mut().try_for_each(|i| i.rewind(cx))
    }

    fn width(&self) -> usize {
        self.inputs.first().map_or(0, |i| i.width())
    }
}
