//! ORDER BY: a heap of the first rows where a small LIMIT is known, else a sort in memory, else sorted runs in a temporary
//! file that are merged. Rows with equal keys keep the input's order in all three.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use selkie_expr::{Expr, SortKey};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::row_input::{RowInput, row_bytes};
use crate::row_key::RowKey;
use crate::simple::row_count;
use crate::spill::{SpillFile, SpillReader};

/// Largest LIMIT that is kept in a heap.
const HEAP_ROWS_MAX: u64 = 16 * 1024;
/// How many runs are merged at a time.
const MERGE_WIDTH: usize = 64;

/// A running sort.
pub struct Sort<'p> {
    input: RowInput<'p>,
    keys: Cow<'p, [SortKey]>,
    limit: Option<&'p Expr>,
    key: RowKey,
    state: State,
    /// Rows still to give.
    left: u64,
    charged: usize,
}

enum State {
    Start,
    Memory { rows: Buffer, next: usize },
    Heap { rows: Vec<Kept>, next: usize },
    Merge(Merge),
}

/// Rows and their keys, to be sorted.
#[derive(Default)]
struct Buffer {
    entries: Vec<Entry>,
    keys: Vec<u8>,
    values: Vec<Value>,
}

/// One row of a [`Buffer`]: the beginning of its key, to compare without following pointers, and where the rest is.
struct Entry {
    prefix: u128,
    start: usize,
    len: u32,
    row: u32,
}

/// Bytes of a key in an [`Entry`].
const PREFIX: usize = 16;

impl Buffer {
    fn key(&self, e: &Entry) -> &[u8] {
        &self.keys[e.start..e.start + e.len as usize]
    }

    /// Adds a row whose key was put at the end of `keys`, from `start` on. Returns the bytes that it takes.
    fn add(&mut self, start: usize, row: impl Iterator<Item = Value>) -> usize {
        let first = self.values.len();
        self.values.extend(row);
        let key = &self.keys[start..];
        let mut prefix = [0; PREFIX];
        let n = key.len().min(PREFIX);
        prefix[..n].copy_from_slice(&key[..n]);
        let bytes = key.len() + size_of::<Entry>() + row_bytes(&self.values[first..]);
        self.entries.push(Entry {
            prefix: u128::from_be_bytes(prefix),
            start,
            len: key.len() as u32,
            row: self.entries.len() as u32,
        });
        bytes
    }

    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| {
            // The number makes equal keys keep their order.
            a.prefix.cmp(&b.prefix).then_with(|| self.key(a).cmp(self.key(b))).then(a.row.cmp(&b.row))
        });
        self.entries = entries;
    }

    fn row_mut(&mut self, entry: usize, width: usize) -> &mut [Value] {
        let row = self.entries[entry].row as usize;
        &mut self.values[row * width..(row + 1) * width]
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
        self.values.clear();
    }
}

/// A row in the heap of the first ones; the greatest is on top.
struct Kept {
    key: Vec<u8>,
    number: u64,
    row: Vec<Value>,
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kept {}

/// A merge of sorted runs.
struct Merge {
    runs: Vec<SpillReader>,
    /// The next key of each run that has one, with the run's number: the smallest is on top, of equal ones the earliest run's.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    rows: Vec<Vec<Value>>,
}

impl Merge {
    fn new(runs: Vec<SpillReader>) -> SqlResult<Merge> {
        let rows = runs.iter().map(|_| Vec::new()).collect();
        let mut merge = Merge { runs, heads: BinaryHeap::new(), rows };
        for i in 0..merge.runs.len() {
            if merge.runs[i].read(&mut merge.rows[i])? {
                merge.heads.push(Reverse((merge.runs[i].key().to_vec(), i)));
            }
        }
        Ok(merge)
    }

    /// Gives the next row to `f` with its key; `false` at the end.
    fn next(&mut self, f: impl FnOnce(&[u8], &mut Vec<Value>) -> SqlResult<()>) -> SqlResult<bool> {
        let Some(mut top) = self.heads.peek_mut() else { return Ok(false) };
        let Reverse((key, i)) = &mut *top;
        let (run, row) = (&mut self.runs[*i], &mut self.rows[*i]);
        f(key, row)?;
        row.clear();
        if run.read(row)? {
            key.clear();
            key.extend_from_slice(run.key());
        } else {
            PeekMut::pop(top);
        }
        Ok(true)
    }
}

impl<'p> Sort<'p> {
    /// Sorts `input`; of `limit` rows at the most the first ones are needed.
    pub fn new(input: BoxOperator<'p>, keys: Cow<'p, [SortKey]>, limit: Option<&'p Expr>) -> Sort<'p> {
        Sort {
            input: RowInput::new(input),
            key: RowKey::of_sort_keys(&keys),
            keys,
            limit,
            state: State::Start,
            left: u64::MAX,
            charged: 0,
        }
    }

    fn charge(&mut self, cx: &mut ExecCtx<'_>, bytes: usize) -> SqlResult<()> {
        self.charged += bytes;
        cx.charge(bytes as isize)
    }

    fn release(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        cx.charge(-(std::mem::take(&mut self.charged) as isize))
    }

    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.left = match self.limit {
            Some(e) => row_count(cx, e)?,
            None => u64::MAX,
        };
        let mut rows = Buffer::default();
        if self.left <= HEAP_ROWS_MAX && self.fill_heap(cx, self.left as usize, &mut rows)? {
            return Ok(());
        }
        let mut runs: Option<(SpillFile, Vec<u64>)> = None;
        while self.input.advance(cx)? {
            let start = rows.keys.len();
            self.key.encode_sort(&self.keys, self.input.row(), cx, &mut rows.keys)?;
            let bytes = rows.add(start, self.input.take());
            self.charge(cx, bytes)?;
            if self.charged > cx.limits.spill_bytes {
                let (file, ends) = match &mut runs {
                    Some(r) => r,
                    None => runs.insert((SpillFile::create(cx)?, vec![0])),
                };
                write_run(&mut rows, self.input.width(), file, ends)?;
                self.release(cx)?;
            }
        }
        let Some((mut file, mut ends)) = runs else {
            rows.sort();
            self.state = State::Memory { rows, next: 0 };
            return Ok(());
        };
        write_run(&mut rows, self.input.width(), &mut file, &mut ends)?;
        drop(rows);
        self.release(cx)?;
        let mut runs: Vec<SpillReader> = ends.windows(2).map(|w| file.reader(w[0], w[1])).collect();
        while runs.len() > MERGE_WIDTH {
            let mut wider = SpillFile::create(cx)?;
            let mut ends = vec![0];
            let mut rest = runs.into_iter().peekable();
            while rest.peek().is_some() {
                let mut merge = Merge::new(rest.by_ref().take(MERGE_WIDTH).collect())?;
                while merge.next(|key, row| wider.write(key, row))? {
                    cx.tick()?;
                }
                ends.push(wider.end()?);
            }
            runs = ends.windows(2).map(|w| wider.reader(w[0], w[1])).collect();
        }
        self.state = State::Merge(Merge::new(runs)?);
        Ok(())
    }

    /// Keeps the first `max` rows. `false` if even these are too much for memory: then they are in `rows`, and the input
    /// goes on behind them.
    fn fill_heap(&mut self, cx: &mut ExecCtx<'_>, max: usize, rows: &mut Buffer) -> SqlResult<bool> {
        let mut heap: BinaryHeap<Kept> = BinaryHeap::new();
        let mut key = Vec::new();
        let mut number = 0;
        while max > 0 && self.input.advance(cx)? {
            number += 1;
            key.clear();
            self.key.encode_sort(&self.keys, self.input.row(), cx, &mut key)?;
            if heap.len() < max {
                let row: Vec<Value> = self.input.take().collect();
                self.charge(cx, row_bytes(&row) + key.len() + size_of::<Kept>())?;
                heap.push(Kept { key: key.clone(), number, row });
                if self.charged > cx.limits.spill_bytes {
                    let mut kept = heap.into_vec();
                    kept.sort_unstable_by_key(|k| k.number);
                    for k in kept {
                        let start = rows.keys.len();
                        rows.keys.extend_from_slice(&k.key);
                        rows.add(start, k.row.into_iter());
                    }
                    return Ok(false);
                }
            } else if let Some(mut last) = heap.peek_mut()
                && key < last.key
            {
                last.key.clear();
                last.key.extend_from_slice(&key);
                last.number = number;
                last.row.clear();
                last.row.extend(self.input.take());
            }
        }
        self.state = State::Heap { rows: heap.into_sorted_vec(), next: 0 };
        Ok(true)
    }
}

/// Sorts the rows and appends them to the file as one run.
fn write_run(rows: &mut Buffer, width: usize, file: &mut SpillFile, ends: &mut Vec<u64>) -> SqlResult<()> {
    rows.sort();
    for e in &rows.entries {
        file.write(rows.key(e), &rows.values[e.row as usize * width..(e.row as usize + 1) * width])?;
    }
    ends.push(file.end()?);
    rows.clear();
    Ok(())
}

impl Operator for Sort<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let width = self.width();
        out.reset(width);
        if matches!(self.state, State::Start) {
            self.start(cx)?;
        }
        while !out.is_full() && self.left > 0 {
            match &mut self.state {
                State::Memory { rows, next } if *next < rows.entries.len() => {
                    out.push(rows.row_mut(*next, width).iter_mut().map(std::mem::take));
                    *next += 1;
                }
                State::Heap { rows, next } if *next < rows.len() => {
                    out.push(rows[*next].row.drain(..));
                    *next += 1;
                }
                State::Merge(merge) => {
                    let more = merge.next(|_, row| {
                        out.push(row.drain(..));
                        Ok(())
                    })?;
                    if !more {
                        break;
                    }
                }
                _ => break,
            }
            self.left -= 1;
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.state = State::Start;
        self.release(cx)?;
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_planner::plan::Plan;

    use crate::testing::{Fixture, asc, desc, int, shown, slot, values};

    proptest! {
        #[test]
        fn sorts_are_stable_in_memory_in_a_heap_and_on_disk(
            rows in prop::collection::vec((prop::option::weighted(0.9, 0i64..5), prop::option::weighted(0.9, 0i64..5)), 0..200),
            limit in prop::option::of(0usize..30),
        ) {
            // The third column tells the input's order.
            let rows: Vec<_> = rows.iter().enumerate().map(|(i, (a, b))| vec![*a, *b, Some(i as i64)]).collect();
            let plan = Plan::Sort {
                input: Box::new(values(&rows, 3)),
                keys: vec![desc(slot(0)), asc(slot(1))],
                limit: limit.map(|n| int(n as i64)),
            };
            let mut expected = rows;
            expected.sort_by_key(|r| (std::cmp::Reverse(r[0]), r[1]));
            expected.truncate(limit.unwrap_or(usize::MAX));
            let expected: Vec<String> = expected
                .iter()
                .map(|r| shown(&r.iter().map(|v| v.map_or(selkie_types::Value::Null, selkie_types::Value::Int)).collect::<Vec<_>>()))
                .collect();
            prop_assert_eq!(&Fixture::default().text(&plan), &expected);
            prop_assert_eq!(&Fixture::tiny().text(&plan), &expected);
        }
    }
}
