//! DISTINCT: rows are given when their like is seen for the first time.
//!
//! When the keys seen pass the operator's limit, rows that are not among them go to temporary files, partitioned by hash,
//! which are read when the input is at its end, each with the keys of its own.

use selkie_types::{SqlResult, SqlType};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::row_key::RowKey;
use crate::row_set::{KeyTable, hash_of};
use crate::spill::{LEVEL_MAX, Partitions, SpillReader};

/// Rows whose first slots were not seen before.
pub struct Distinct<'p> {
    input: BoxOperator<'p>,
    /// How many slots count.
    width: usize,
    key: RowKey,
    seen: Seen,
    state: State,
    /// Partitions still to read, with their level.
    pending: Vec<(SpillReader, u32)>,
    scratch: Vec<u8>,
}

enum State {
    Input,
    Partition(SpillReader, u32),
    Done,
}

#[derive(Default)]
struct Seen {
    keys: KeyTable,
    bytes: usize,
    /// Where rows with further keys go.
    spilled: Option<Partitions>,
}

impl Seen {
    /// Whether a row is to be given now.
    fn is_new(&mut self, cx: &mut ExecCtx<'_>, key: &[u8], row: &[selkie_types::Value], level: u32) -> SqlResult<bool> {
        let hash = hash_of(key);
        if let Some(files) = &mut self.spilled {
            if self.keys.find(hash, key).is_none() {
                files.write(cx, hash, key, row)?;
            }
            return Ok(false);
        }
        let (_, new) = self.keys.insert(hash, key);
        if new {
            let bytes = KeyTable::entry_bytes(key);
            self.bytes += bytes;
            cx.charge(bytes as isize)?;
            if self.bytes > cx.limits.spill_bytes && level < LEVEL_MAX {
                self.spilled = Some(Partitions::new(level));
            }
        }
        Ok(new)
    }

    fn clear(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.keys.clear();
        self.spilled = None;
        cx.charge(-(std::mem::take(&mut self.bytes) as isize))
    }
}

impl<'p> Distinct<'p> {
    /// Removes repetitions of the first `width` slots, whose types begin `types`.
    pub fn new(input: BoxOperator<'p>, width: usize, types: &[SqlType]) -> Distinct<'p> {
        Distinct {
            input,
            width,
            key: RowKey::new(types.iter().take(width)),
            seen: Seen::default(),
            state: State::Input,
            pending: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Goes on with the next partition, after one of `level` (0: the input) was read to its end.
    fn next_partition(&mut self, cx: &mut ExecCtx<'_>, level: u32) -> SqlResult<()> {
        if let Some(files) = self.seen.spilled.take() {
            let readers = files.into_readers()?.into_iter().rev().flatten();
            self.pending.extend(readers.map(|r| (r, level + 1)));
        }
        self.seen.clear(cx)?;
        self.state = match self.pending.pop() {
            Some((reader, level)) => State::Partition(reader, level),
            None => State::Done,
        };
        Ok(())
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        loop {
            cx.tick()?;
            match &mut self.state {
                State::Done => {
                    out.reset(self.width());
                    return Ok(());
                }
                State::Input => {
                    self.input.next(cx, out)?;
                    if out.is_empty() {
                        self.next_partition(cx, 0)?;
                        continue;
                    }
                    let (width, key, scratch, seen) = (self.width, &self.key, &mut self.scratch, &mut self.seen);
                    out.retain(|row| {
                        scratch.clear();
                        key.encode(&row[..width], scratch);
                        seen.is_new(cx, scratch, row, 0)
                    })?;
                }
                State::Partition(reader, level) => {
                    out.reset(self.input.width());
                    let (level, seen) = (*level, &mut self.seen);
                    let mut more = true;
                    while more && !out.is_full() {
                        out.push_with(|row| -> SqlResult<bool> {
                            let start = row.len();
                            more = reader.read(row)?;
                            Ok(more && seen.is_new(cx, reader.key(), &row[start..], level)?)
                        })?;
                    }
                    if !more && out.is_empty() {
                        self.next_partition(cx, level)?;
                    }
                }
            }
            if !out.is_empty() {
                return Ok(());
            }
        }
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.seen.clear(cx)?;
        self.pending.clear();
        self.state = State::Input;
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use selkie_planner::plan::Plan;

    use crate::testing::{Fixture, ints};

    #[test]
    fn the_first_of_equal_rows_is_given() {
        let input = ints(&[&[1, 1], &[2, 2], &[1, 3], &[2, 4], &[3, 5]]);
        let plan = Plan::Distinct { input: Box::new(input), width: 1 };
        assert_eq!(Fixture::default().text(&plan), ["1,1", "2,2", "3,5"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn distinct_rows_are_a_set(rows in prop::collection::vec(0i64..60, 0..300)) {
            let list: Vec<[i64; 1]> = rows.iter().map(|r| [*r]).collect();
            let list: Vec<&[i64]> = list.iter().map(|r| r.as_slice()).collect();
            let plan = Plan::Distinct { input: Box::new(ints(&list)), width: 1 };
            let mut got = Fixture::tiny().text(&plan);
            got.sort();
            let set: BTreeSet<String> = rows.iter().map(i64::to_string).collect();
            prop_assert_eq!(got, set.into_iter().collect::<Vec<_>>());
        }
    }
}
