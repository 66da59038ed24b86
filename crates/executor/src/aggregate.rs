//! GROUP BY: groups in a hash table, or one at a time where the input is sorted by the keys, with ROLLUP's totals.
//!
//! A hash table that grows past the operator's limit takes no new groups: rows of groups that are not in it are written
//! to temporary files, partitioned by hash, and each partition is grouped on its own after the groups in memory were
//! given out. Groups in memory come in the order in which they were first seen.

use selkie_expr::{AggregateCall, Expr};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::group_calls::GroupCalls;
use crate::operator::{BoxOperator, Operator};
use crate::row_input::{RowInput, row_bytes};
use crate::row_key::RowKey;
use crate::row_set::{KeyTable, hash_of};
use crate::spill::{LEVEL_MAX, Partitions, SpillReader};

/// A running aggregation.
pub struct Aggregate<'p> {
    input: RowInput<'p>,
    keys: &'p [Expr],
    first_row: &'p [Expr],
    rollup: bool,
    sorted: bool,
    row_key: RowKey,
    calls: GroupCalls<'p>,
    call_count: usize,
    groups: Groups,
    state: State,
    /// Partitions still to group, with their level.
    pending: Vec<(SpillReader, u32)>,
    charged: usize,
}

/// The groups in memory. Without hashing there is one for each level of ROLLUP.
#[derive(Default)]
struct Groups {
    table: KeyTable,
    /// Keys and first row expressions of each group.
    values: Vec<Value>,
    count: usize,
}

enum State {
    Start,
    /// Groups in memory are given out from the `next`th on.
    Emit {
        next: usize,
    },
    /// The input is in order; its current row begins a group, or there is none.
    Stream(Stream),
    Done,
}

/// Grouping of sorted rows: group `n` of the calls is the one of the first `n` keys.
#[derive(Default)]
struct Stream {
    /// Whether the input's current row waits to be added.
    pending: bool,
    ended: bool,
    /// Key values and bytes of the current groups; where each key's bytes end.
    values: Vec<Value>,
    key: Vec<u8>,
    ends: Vec<usize>,
    /// First row values of the most detailed group; totals show those of the last one.
    first: Vec<Value>,
    /// Levels to give out and reset: those from the first one up to all keys, the most detailed first.
    due: Option<(usize, usize)>,
    any: bool,
}

impl<'p> Aggregate<'p> {
    /// Groups `input`.
    pub fn new(
        input: BoxOperator<'p>,
        keys: &'p [Expr],
        calls: &'p [AggregateCall],
        rollup: bool,
        sorted: bool,
        first_row: &'p [Expr],
    ) -> Aggregate<'p> {
        Aggregate {
            input: RowInput::new(input),
            keys,
            first_row,
            rollup,
            sorted,
            row_key: RowKey::of_exprs(keys),
            calls: GroupCalls::new(calls, rollup || sorted),
            call_count: calls.len(),
            groups: Groups::default(),
            state: State::Start,
            pending: Vec::new(),
            charged: 0,
        }
    }

    fn charge(&mut self, cx: &mut ExecCtx<'_>, bytes: usize) -> SqlResult<()> {
        self.charged += bytes;
        cx.charge(bytes as isize)
    }

    fn reset(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        cx.charge(-(std::mem::take(&mut self.charged) as isize))?;
        self.calls.clear(cx)?;
        self.groups.table.clear();
        self.groups.values.clear();
        self.groups.count = 0;
        Ok(())
    }

    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        if self.rollup || (self.sorted && !self.keys.is_empty()) {
            let levels = self.keys.len() + 1;
            for _ in 0..levels {
                self.calls.add_group();
            }
            self.state = State::Stream(Stream::default());
            return Ok(());
        }
        if self.keys.is_empty() {
            return self.single_group(cx);
        }
        let mut spilled: Option<Partitions> = None;
        let mut key = Vec::new();
        while self.input.advance(cx)? {
            key.clear();
            self.row_key.encode_exprs(self.keys, self.input.row(), cx, &mut key)?;
            let row = self.input.row();
            let hash = hash_of(&key);
            let group = match (self.groups.table.find(hash, &key), &mut spilled) {
                (Some(g), _) => g,
                (None, Some(files)) => {
                    files.write(cx, hash, &key, row)?;
                    continue;
                }
                (None, None) => {
                    let bytes =
                        new_group(&mut self.groups, &mut self.calls, self.keys, self.first_row, hash, &key, row, cx)?;
                    self.charge(cx, bytes)?;
                    self.groups.count as u32 - 1
                }
            };
            self.calls.update(group as usize, self.input.row(), cx)?;
            if spilled.is_none() && self.charged + self.calls.bytes() > cx.limits.spill_bytes {
                spilled = Some(Partitions::new(0));
            }
        }
        self.push_partitions(spilled, 1)?;
        self.state = State::Emit { next: 0 };
        Ok(())
    }

    fn push_partitions(&mut self, files: Option<Partitions>, level: u32) -> SqlResult<()> {
        if let Some(files) = files {
            // The first partition is taken from the end.
            let readers = files.into_readers()?.into_iter().rev().flatten();
            self.pending.extend(readers.map(|r| (r, level)));
        }
        Ok(())
    }

    /// Groups the next partition; `false` if there is none.
    fn next_partition(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<bool> {
        let Some((mut reader, level)) = self.pending.pop() else { return Ok(false) };
        self.reset(cx)?;
        let mut spilled: Option<Partitions> = None;
        let mut row = Vec::new();
        while reader.read(&mut row)? {
            cx.tick()?;
            let hash = hash_of(reader.key());
            let group = match (self.groups.table.find(hash, reader.key()), &mut spilled) {
                (Some(g), _) => Some(g),
                (None, Some(files)) => {
                    files.write(cx, hash, reader.key(), &row)?;
                    None
                }
                (None, None) => {
                    let key = reader.key();
                    let bytes =
                        new_group(&mut self.groups, &mut self.calls, self.keys, self.first_row, hash, key, &row, cx)?;
                    self.charge(cx, bytes)?;
                    Some(self.groups.count as u32 - 1)
                }
            };
            if let Some(g) = group {
                self.calls.update(g as usize, &row, cx)?;
            }
            row.clear();
            if spilled.is_none() && level < LEVEL_MAX && self.charged + self.calls.bytes() > cx.limits.spill_bytes {
                spilled = Some(Partitions::new(level));
            }
        }
        self.push_partitions(spilled, level + 1)?;
        Ok(true)
    }

    /// Without keys there is exactly one group, even of no rows.
    fn single_group(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.calls.add_group();
        let mut first = true;
        while self.input.advance(cx)? {
            let row = self.input.row();
            if first {
                first = false;
                for e in self.first_row {
                    self.groups.values.push(e.eval(row, cx)?);
                }
            }
            self.calls.update(0, row, cx)?;
        }
        if first {
            let nulls = vec![Value::Null; self.input.width()];
            for e in self.first_row {
                self.groups.values.push(e.eval(&nulls, cx)?);
            }
        }
        self.groups.count = 1;
        self.state = State::Emit { next: 0 };
        Ok(())
    }

    /// Gives out groups in memory; `false` when there are no more.
    fn emit(&mut self, cx: &mut ExecCtx<'_>, mut next: usize, out: &mut Batch) -> SqlResult<bool> {
        let (keys, first) = (self.keys.len(), self.first_row.len());
        while !out.is_full() && next < self.groups.count {
            let start = next * (keys + first);
            let values = &mut self.groups.values[start..start + keys + first];
            let calls = &mut self.calls;
            out.push_with(|row| -> SqlResult<bool> {
                row.extend(values[..keys].iter_mut().map(std::mem::take));
                calls.finish(next, cx, row)?;
                row.extend(values[keys..].iter_mut().map(std::mem::take));
                Ok(true)
            })?;
            next += 1;
        }
        self.state = State::Emit { next };
        Ok(next < self.groups.count)
    }

    /// Goes on with sorted input until `out` is full; `false` at the end.
    fn stream(&mut self, cx: &mut ExecCtx<'_>, s: &mut Stream, out: &mut Batch) -> SqlResult<bool> {
        let keys = self.keys.len();
        let lowest = if self.rollup { 0 } else { keys };
        let mut key = Vec::new();
        let mut ends = Vec::with_capacity(keys);
        loop {
            while let Some((level, until)) = s.due {
                if out.is_full() {
                    return Ok(true);
                }
                let calls = &mut self.calls;
                out.push_with(|row| -> SqlResult<bool> {
                    row.extend_from_slice(&s.values[..level]);
                    row.extend(std::iter::repeat_n(Value::Null, keys - level));
                    calls.finish(level, cx, row)?;
                    row.extend_from_slice(&s.first);
                    Ok(true)
                })?;
                self.calls.reset_group(level, cx)?;
                s.due = (level > until).then(|| (level - 1, until));
            }
            if s.ended {
                return Ok(false);
            }
            if !s.pending {
                if !self.input.advance(cx)? {
                    s.ended = true;
                    s.due = s.any.then_some((keys, lowest));
                    continue;
                }
                s.pending = true;
            }
            let row = self.input.row();
            key.clear();
            ends.clear();
            let mut changed = None;
            for (i, e) in self.keys.iter().enumerate() {
                let from = key.len();
                self.row_key.encode_part(i, e, row, cx, &mut key)?;
                ends.push(key.len());
                if s.any && changed.is_none() {
                    let old_from = if i == 0 { 0 } else { s.ends[i - 1] };
                    changed = (s.key[old_from..s.ends[i]] != key[from..]).then_some(i);
                }
            }
            if let Some(i) = changed {
                // The groups of more than `i` keys end here.
                s.due = Some((keys, (i + 1).max(lowest)));
                s.any = false;
                continue;
            }
            if !s.any {
                s.any = true;
                s.key.clone_from(&key);
                s.ends.clone_from(&ends);
                s.values.clear();
                for e in self.keys {
                    s.values.push(e.eval(row, cx)?);
                }
                s.first.clear();
                for e in self.first_row {
                    s.first.push(e.eval(row, cx)?);
                }
            }
            for level in lowest..=keys {
                self.calls.update(level, row, cx)?;
            }
            s.pending = false;
        }
    }
}

/// Adds a group. Returns the bytes that it takes.
#[expect(clippy::too_many_arguments, reason = "the operator's parts, borrowed one by one")]
fn new_group(
    groups: &mut Groups,
    calls: &mut GroupCalls<'_>,
    keys: &[Expr],
    first_row: &[Expr],
    hash: u64,
    key: &[u8],
    row: &[Value],
    cx: &mut ExecCtx<'_>,
) -> SqlResult<usize> {
    groups.table.insert(hash, key);
    let start = groups.values.len();
    for e in keys.iter().chain(first_row) {
        groups.values.push(e.eval(row, cx)?);
    }
    groups.count += 1;
    calls.add_group();
    Ok(KeyTable::entry_bytes(key) + row_bytes(&groups.values[start..]) + calls.group_bytes())
}

impl Operator for Aggregate<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width());
        if matches!(self.state, State::Start) {
            self.start(cx)?;
        }
        while !out.is_full() {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Emit { next } => {
                    if self.emit(cx, next, out)? {
                        break;
                    }
                    self.state = if self.next_partition(cx)? { State::Emit { next: 0 } } else { State::Done };
                }
                State::Stream(mut s) => {
                    if self.stream(cx, &mut s, out)? {
                        self.state = State::Stream(s);
                    }
                    break;
                }
                State::Start | State::Done => break,
            }
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.reset(cx)?;
        self.pending.clear();
        self.state = State::Start;
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.keys.len() + self.call_count + self.first_row.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use selkie_planner::plan::Plan;

    use crate::testing::{Fixture, aggregate, asc, desc, ints, slot, values};

    fn grouped(input: Plan, keys: usize, rollup: bool, sorted: bool) -> Plan {
        let mut distinct = aggregate("count", vec![slot(1)]);
        distinct.distinct = true;
        Plan::Aggregate {
            input: Box::new(input),
            keys: (0..keys).map(slot).collect(),
            calls: vec![aggregate("count", vec![]), aggregate("sum", vec![slot(1)]), distinct],
            rollup,
            sorted,
            first_row: vec![slot(1)],
        }
    }

    #[test]
    fn without_keys_there_is_one_group() {
        let mut f = Fixture::default();
        assert_eq!(f.text(&grouped(ints(&[&[1, 5], &[2, 5], &[3, 7]]), 0, false, false)), ["3,17,2,5"]);
        assert_eq!(f.text(&grouped(values(&[], 2), 0, false, false)), ["0,NULL,0,NULL"]);
        assert_eq!(f.text(&grouped(values(&[], 2), 1, false, false)), Vec::<String>::new());
        assert_eq!(f.text(&grouped(values(&[], 2), 1, true, true)), Vec::<String>::new());
    }

    #[test]
    fn rollup_gives_totals_behind_each_group() {
        let rows = ints(&[&[1, 10], &[1, 20], &[1, 20], &[2, 5]]);
        let got = Fixture::default().text(&grouped(rows, 2, true, true));
        let expected = [
            "1,10,1,10,1,10",
            "1,20,2,40,1,20",
            "1,NULL,3,50,2,20",
            "2,5,1,5,1,5",
            "2,NULL,1,5,1,5",
            "NULL,NULL,4,55,3,5",
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn order_by_inside_of_a_call() {
        let mut concat = aggregate("group_concat", vec![slot(1)]);
        concat.order_by = vec![desc(slot(1))];
        let plan = Plan::Aggregate {
            input: Box::new(ints(&[&[1, 10], &[2, 5], &[1, 20], &[1, 15]])),
            keys: vec![slot(0)],
            calls: vec![concat],
            rollup: false,
            sorted: false,
            first_row: vec![],
        };
        assert_eq!(Fixture::default().text(&plan), ["1,20,15,10", "2,5"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn groups_are_the_same_hashed_spilled_and_streamed(
            rows in prop::collection::vec((prop::option::weighted(0.9, 0i64..40), 0i64..5), 0..200),
        ) {
            let mut expected: BTreeMap<Option<i64>, (usize, i64, std::collections::BTreeSet<i64>, i64)> = BTreeMap::new();
            for (k, v) in &rows {
                let g = expected.entry(*k).or_insert((0, 0, Default::default(), *v));
                g.0 += 1;
                g.1 += v;
                g.2.insert(*v);
            }
            let expected: Vec<String> = expected
                .iter()
                .map(|(k, g)| format!("{},{},{},{},{}", k.map_or("NULL".into(), |k| k.to_string()), g.0, g.1, g.2.len(), g.3))
                .collect();
            let input = values(&rows.iter().map(|(k, v)| vec![*k, Some(*v)]).collect::<Vec<_>>(), 2);
            let ordered = |p| Plan::Sort { input: Box::new(p), keys: vec![asc(slot(0))], limit: None };
            let hashed = ordered(grouped(input.clone(), 1, false, false));
            prop_assert_eq!(&Fixture::default().text(&hashed), &expected);
            prop_assert_eq!(&Fixture::tiny().text(&hashed), &expected);
            let streamed = grouped(ordered(input), 1, false, true);
            prop_assert_eq!(&Fixture::default().text(&streamed), &expected);
        }
    }
}
