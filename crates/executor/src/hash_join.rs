//! Hash joins: a hash table over the right side's keys, probed with each left row.
//!
//! When the right side grows past the operator's limit, both sides are written to temporary files, partitioned
//! by hash, and each pair of partitions is joined on its own (a grace join); a partition that is still too large is
//! divided again, up to [`LEVEL_MAX`] times. Without that, rows come in the left side's order.

use selkie_expr::Expr;
use selkie_planner::plan::{JoinKind, Plan};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::outer::uses_outer;
use crate::row_input::{RowInput, row_bytes};
use crate::row_key::RowKey;
use crate::row_set::{KeyTable, hash_of};
use crate::spill::{LEVEL_MAX, Partitions, SpillReader};

/// No right row.
const NONE: u32 = u32::MAX;

/// What a hash join is asked to do.
pub struct HashJoinPlan<'p> {
    /// Kind.
    pub kind: JoinKind,
    /// Keys over left slots.
    pub left_keys: &'p [Expr],
    /// Keys over right slots.
    pub right_keys: &'p [Expr],
    /// Number of right slots.
    pub right_width: usize,
    /// Whether NULL matches NULL, by key.
    pub null_safe: &'p [bool],
    /// Remaining condition.
    pub condition: Option<&'p Expr>,
    /// NOT IN.
    pub null_aware: bool,
    /// The right side's plan.
    pub right: &'p Plan,
}

/// A running hash join.
pub struct HashJoin<'p> {
    plan: HashJoinPlan<'p>,
    left: RowInput<'p>,
    right: RowInput<'p>,
    left_key: RowKey,
    right_key: RowKey,
    table: Table,
    state: State,
    /// Whether the table holds the whole right side, and whether that may change when this operator starts over.
    built: bool,
    changes: Option<bool>,
    /// Pairs of partitions still to join, with their level.
    pending: Vec<(Option<SpillReader>, SpillReader, u32)>,
    /// Where left rows come from: a partition, or the left side.
    probe: Option<SpillReader>,
    probe_row: Vec<Value>,
    /// The next right row to look at for the current left one.
    chain: u32,
    matched: bool,
    key: Vec<u8>,
    pair: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    /// Fetch a left row next.
    NextLeft,
    /// A left row is being joined.
    Joining,
    Done,
}

/// The right rows.
#[derive(Default)]
struct Table {
    keys: KeyTable,
    /// First and last row of each key.
    ends: Vec<(u32, u32)>,
    /// The next row with the same key.
    next: Vec<u32>,
    values: Vec<Value>,
    /// Rows with a NULL key, flat: only NOT IN asks for them.
    with_null: Vec<Value>,
    bytes: usize,
}

impl Table {
    fn row(&self, i: u32, width: usize) -> &[Value] {
        &self.values[i as usize * width..(i as usize + 1) * width]
    }

    fn add(&mut self, key: &[u8], row: impl Iterator<Item = Value>) -> usize {
        let start = self.values.len();
        self.values.extend(row);
        let (k, new) = self.keys.insert(hash_of(key), key);
        let i = self.next.len() as u32;
        self.next.push(NONE);
        let mut bytes = row_bytes(&self.values[start..]) + 4;
        if new {
            self.ends.push((i, i));
            bytes += KeyTable::entry_bytes(key) + 8;
        } else {
            let (_, last) = &mut self.ends[k as usize];
            self.next[*last as usize] = i;
            *last = i;
        }
        self.bytes += bytes;
        bytes
    }

    fn clear(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        cx.charge(-(self.bytes as isize))?;
        self.keys.clear();
        self.ends.clear();
        self.next.clear();
        self.values.clear();
        self.with_null.clear();
        self.bytes = 0;
        Ok(())
    }
}

impl<'p> HashJoin<'p> {
    /// Joins `left` and `right`.
    pub fn new(plan: HashJoinPlan<'p>, left: BoxOperator<'p>, right: BoxOperator<'p>) -> HashJoin<'p> {
        HashJoin {
            left_key: RowKey::of_exprs(plan.left_keys),
            right_key: RowKey::of_exprs(plan.right_keys),
            plan,
            left: RowInput::new(left),
            right: RowInput::new(right),
            table: Table::default(),
            state: State::Start,
            built: false,
            changes: None,
            pending: Vec::new(),
            probe: None,
            probe_row: Vec::new(),
            chain: NONE,
            matched: false,
            key: Vec::new(),
            pair: Vec::new(),
        }
    }

    /// Reads the right side into memory, or both sides into partitions. `false`: the result is empty.
    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<bool> {
        let mut spilled: Option<Partitions> = None;
        while !self.built && self.right.advance(cx)? {
            self.key.clear();
            let null = encode(
                &self.right_key,
                self.plan.right_keys,
                self.plan.null_safe,
                self.right.row(),
                cx,
                &mut self.key,
            )?;
            if null {
                if self.plan.null_aware {
                    let bytes = row_bytes(self.right.row());
                    cx.charge(bytes as isize)?;
                    self.table.bytes += bytes;
                    self.table.with_null.extend(self.right.take());
                }
                continue;
            }
            if let Some(files) = &mut spilled {
                files.write(cx, hash_of(&self.key), &self.key, self.right.row())?;
                continue;
            }
            let bytes = self.table.add(&self.key, self.right.take());
            cx.charge(bytes as isize)?;
            // The answer of NOT IN needs all right rows in one place.
            if self.table.bytes > cx.limits.spill_bytes && !self.plan.null_aware {
                spilled = Some(self.spill_table(cx, 0)?);
            }
        }
        match spilled {
            Some(right) => {
                let mut left = Partitions::new(0);
                while self.left.advance(cx)? {
                    self.key.clear();
                    let row = self.left.row();
                    let null =
                        encode(&self.left_key, self.plan.left_keys, self.plan.null_safe, row, cx, &mut self.key)?;
                    if null {
                        // Meets nothing, wherever it is; an empty key says so.
                        if matches!(self.plan.kind, JoinKind::Left | JoinKind::Anti) {
                            left.write(cx, 0, &[], row)?;
                        }
                        continue;
                    }
                    left.write(cx, hash_of(&self.key), &self.key, row)?;
                }
                self.push_partitions(right, left, 1)?;
                self.next_partition(cx)
            }
            None => {
                self.built = true;
                let nothing = self.table.next.is_empty() && matches!(self.plan.kind, JoinKind::Inner | JoinKind::Semi);
                Ok(!nothing)
            }
        }
    }

    fn push_partitions(&mut self, right: Partitions, left: Partitions, level: u32) -> SqlResult<()> {
        // The first partition is taken from the end.
        for (r, l) in right.into_readers()?.into_iter().zip(left.into_readers()?).rev() {
            if let Some(l) = l {
                self.pending.push((r, l, level));
            }
        }
        Ok(())
    }

    /// Writes the table to partitions and empties it.
    fn spill_table(&mut self, cx: &mut ExecCtx<'_>, level: u32) -> SqlResult<Partitions> {
        let mut files = Partitions::new(level);
        let width = self.right.width();
        for (k, (first, _)) in self.table.ends.iter().enumerate() {
            let key = self.table.keys.key(k as u32);
            let mut i = *first;
            while i != NONE {
                files.write(cx, hash_of(key), key, self.table.row(i, width))?;
                i = self.table.next[i as usize];
            }
        }
        self.table.clear(cx)?;
        Ok(files)
    }

    /// Reads the right side of the next partition into memory; `false` if there is none left.
    fn next_partition(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<bool> {
        let mut row = Vec::new();
        'next: while let Some((right, mut left, level)) = self.pending.pop() {
            self.table.clear(cx)?;
            let Some(mut right) = right else {
                self.probe = Some(left);
                return Ok(true);
            };
            while right.read(&mut row)? {
                cx.tick()?;
                let bytes = self.table.add(right.key(), row.drain(..));
                cx.charge(bytes as isize)?;
                if self.table.bytes > cx.limits.spill_bytes && level < LEVEL_MAX && self.table.keys.len() > 1 {
                    let mut files = self.spill_table(cx, level)?;
                    while right.read(&mut row)? {
                        files.write(cx, hash_of(right.key()), right.key(), &row)?;
                        row.clear();
                    }
                    let mut left_files = Partitions::new(level);
                    while left.read(&mut row)? {
                        cx.tick()?;
                        left_files.write(cx, hash_of(left.key()), left.key(), &row)?;
                        row.clear();
                    }
                    self.push_partitions(files, left_files, level + 1)?;
                    continue 'next;
                }
            }
            self.probe = Some(left);
            return Ok(true);
        }
        Ok(false)
    }

    /// Fetches a left row and finds its right rows; `false` at the end.
    fn next_left(&mut self, cx: &mut ExecCtx<'_>, wanted: usize) -> SqlResult<bool> {
        let null = loop {
            self.key.clear();
            match &mut self.probe {
                Some(reader) => {
                    cx.tick()?;
                    self.probe_row.clear();
                    if reader.read(&mut self.probe_row)? {
                        self.key.extend_from_slice(reader.key());
                        break self.key.is_empty() && !self.plan.left_keys.is_empty();
                    }
                    if !self.next_partition(cx)? {
                        return Ok(false);
                    }
                }
                None => {
                    self.left.want(wanted);
                    if !self.left.advance(cx)? {
                        return Ok(false);
                    }
                    let row = self.left.row();
                    break encode(&self.left_key, self.plan.left_keys, self.plan.null_safe, row, cx, &mut self.key)?;
                }
            }
        };
        self.matched = false;
        self.chain = match self.table.keys.find(hash_of(&self.key), &self.key) {
            Some(k) if !null => self.table.ends[k as usize].0,
            _ => NONE,
        };
        if self.plan.null_aware {
            self.matched = self.unknown(cx, null)?;
        }
        Ok(true)
    }

    /// For NOT IN: whether a NULL makes the answer unknown for the current left row.
    fn unknown(&mut self, cx: &mut ExecCtx<'_>, left_null: bool) -> SqlResult<bool> {
        let width = self.right.width();
        let everything: &[Value] = if left_null { &self.table.values } else { &[] };
        let rows = self.table.with_null.chunks(width.max(1)).chain(everything.chunks(width.max(1)));
        let left = self.left.row();
        for right in rows {
            cx.tick()?;
            let mut agrees = true;
            for (i, (l, r)) in self.plan.left_keys.iter().zip(self.plan.right_keys).enumerate() {
                let (l, r) = (l.eval(left, cx)?, r.eval(right, cx)?);
                agrees &= l.is_null() || r.is_null() || self.left_key.same(i, &l, &r);
            }
            if !agrees {
                continue;
            }
            let Some(c) = self.plan.condition else { return Ok(true) };
            self.pair.clear();
            self.pair.extend_from_slice(left);
            self.pair.extend_from_slice(right);
            if c.eval_bool(&self.pair, cx)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Joins the current left row with the rest of its right rows.
    fn join(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let width = self.right.width();
        let left = if self.probe.is_some() { &self.probe_row[..] } else { self.left.row() };
        let condition = self.plan.condition;
        while self.chain != NONE && !out.is_full() {
            let right = self.table.row(self.chain, width);
            self.chain = self.table.next[self.chain as usize];
            match self.plan.kind {
                JoinKind::Inner | JoinKind::Left => {
                    self.matched |= out.push_with(|values| {
                        let start = values.len();
                        values.extend_from_slice(left);
                        values.extend_from_slice(right);
                        match condition {
                            Some(c) => {
                                Ok::<_, selkie_types::SqlError>(c.eval_bool(&values[start..], cx)? == Some(true))
                            }
                            None => Ok(true),
                        }
                    })?;
                }
                JoinKind::Semi | JoinKind::Anti => {
                    let met = match condition {
                        None => true,
                        Some(c) => {
                            self.pair.clear();
                            self.pair.extend_from_slice(left);
                            self.pair.extend_from_slice(right);
                            c.eval_bool(&self.pair, cx)? == Some(true)
                        }
                    };
                    if met {
                        self.matched = true;
                        self.chain = NONE;
                    }
                }
            }
        }
        if self.chain != NONE || (out.is_full() && !matches!(self.plan.kind, JoinKind::Inner)) {
            // A row that may be due at the end of the chain comes next time.
            return Ok(());
        }
        self.state = State::NextLeft;
        match self.plan.kind {
            JoinKind::Left if !self.matched => {
                let nulls = std::iter::repeat_n(Value::Null, self.plan.right_width);
                out.push(left.iter().cloned().chain(nulls));
            }
            JoinKind::Semi if self.matched => out.push_slice(left),
            JoinKind::Anti if !self.matched => out.push_slice(left),
            _ => {}
        }
        Ok(())
    }
}

/// Encodes a row's key. Returns whether a NULL keeps it from matching anything.
fn encode(
    key: &RowKey,
    exprs: &[Expr],
    null_safe: &[bool],
    row: &[Value],
    cx: &mut ExecCtx<'_>,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    if !null_safe.contains(&true) {
        return key.encode_exprs(exprs, row, cx, out);
    }
    let mut null = false;
    for (i, e) in exprs.iter().enumerate() {
        let v = e.eval(row, cx)?;
        null |= v.is_null() && !null_safe.get(i).copied().unwrap_or(false);
        key.encode_one(i, &v, out);
    }
    Ok(null)
}

impl Operator for HashJoin<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width());
        while !out.is_full() {
            match self.state {
                State::Start => self.state = if self.start(cx)? { State::NextLeft } else { State::Done },
                State::NextLeft => {
                    let wanted = out.wanted - out.len();
                    self.state = if self.next_left(cx, wanted)? { State::Joining } else { State::Done };
                }
                State::Joining => self.join(cx, out)?,
                State::Done => break,
            }
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.pending.clear();
        self.probe = None;
        self.chain = NONE;
        self.state = State::Start;
        self.left.rewind(cx)?;
        if self.built && !*self.changes.get_or_insert_with(|| uses_outer(self.plan.right, usize::MAX)) {
            return Ok(());
        }
        self.built = false;
        self.table.clear(cx)?;
        self.right.rewind(cx)
    }

    fn width(&self) -> usize {
        match self.plan.kind {
            JoinKind::Inner | JoinKind::Left => self.left.width() + self.plan.right_width,
            JoinKind::Semi | JoinKind::Anti => self.left.width(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_expr::CmpOp;
    use selkie_planner::plan::{JoinKind, Plan};
    use selkie_types::Value;

    use crate::testing::{Fixture, compare, slot, values};

    type Rows = Vec<Vec<Option<i64>>>;

    fn rows(width: usize) -> impl Strategy<Value = Rows> {
        let value = prop_oneof![1 => Just(None), 6 => (0i64..6).prop_map(Some)];
        prop::collection::vec(prop::collection::vec(value, width), 0..40)
    }

    fn kind() -> impl Strategy<Value = JoinKind> {
        prop_oneof![Just(JoinKind::Inner), Just(JoinKind::Left), Just(JoinKind::Semi), Just(JoinKind::Anti)]
    }

    /// What the join must give, by the definition.
    fn naive(
        kind: JoinKind,
        left: &Rows,
        right: &Rows,
        on: impl Fn(&[Option<i64>], &[Option<i64>]) -> Option<bool>,
    ) -> Rows {
        let mut out = Vec::new();
        for l in left {
            let matches: Vec<_> = right.iter().filter(|r| on(l, r) == Some(true)).collect();
            match kind {
                JoinKind::Inner | JoinKind::Left => {
                    out.extend(matches.iter().map(|r| [l.clone(), (*r).clone()].concat()));
                    if matches.is_empty() && kind == JoinKind::Left {
                        out.push([l.clone(), vec![None; 2]].concat());
                    }
                }
                JoinKind::Semi if !matches.is_empty() => out.push(l.clone()),
                JoinKind::Anti if matches.is_empty() => out.push(l.clone()),
                _ => {}
            }
        }
        out
    }

    fn as_rows(rows: Vec<Vec<Value>>) -> Rows {
        let one = |v| match v {
            Value::Int(i) => Some(i),
            _ => None,
        };
        rows.into_iter().map(|r| r.into_iter().map(one).collect()).collect()
    }

    fn sorted(mut rows: Rows) -> Rows {
        rows.sort();
        rows
    }

    fn eq(a: Option<i64>, b: Option<i64>) -> Option<bool> {
        Some(a? == b?)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn joins_give_what_the_definition_says(
            kind in kind(),
            left in rows(2),
            right in rows(2),
            null_safe in any::<bool>(),
            residual in any::<bool>(),
        ) {
            // l.0 = r.0 and (maybe) l.1 < r.1
            let expected = naive(kind, &left, &right, |l, r| {
                let key = if null_safe { Some(l[0] == r[0]) } else { eq(l[0], r[0]) };
                let rest = if residual { l[1].zip(r[1]).map(|(a, b)| a < b) } else { Some(true) };
                Some(key? && rest?)
            });
            let condition = residual.then(|| compare(CmpOp::Lt, slot(1), slot(3)));
            let hash = Plan::HashJoin {
                kind,
                left: Box::new(values(&left, 2)),
                right: Box::new(values(&right, 2)),
                left_keys: vec![slot(0)],
                right_keys: vec![slot(0)],
                right_width: 2,
                null_safe: vec![null_safe],
                condition: condition.clone(),
                null_aware: false,
            };
            prop_assert_eq!(&as_rows(Fixture::default().rows(&hash).unwrap()), &expected);
            let spilled = as_rows(Fixture::tiny().rows(&hash).unwrap());
            prop_assert_eq!(sorted(spilled), sorted(expected.clone()));

            let op = if null_safe { CmpOp::NullSafeEq } else { CmpOp::Eq };
            let mut both = vec![compare(op, slot(0), slot(2))];
            both.extend(condition);
            let both = if both.len() == 1 {
                both.remove(0)
            } else {
                let cx = selkie_expr::bind::BindCtx::default();
                selkie_expr::bind::bind_logical(&cx, selkie_expr::bind::LogicalOp::And, both).unwrap()
            };
            let nested = Plan::NestedLoop {
                kind,
                left: Box::new(values(&left, 2)),
                right: Box::new(values(&right, 2)),
                base: 0,
                right_width: 2,
                condition: Some(both),
                dependent: false,
            };
            prop_assert_eq!(&as_rows(Fixture::default().rows(&nested).unwrap()), &expected);
            prop_assert_eq!(&as_rows(Fixture::tiny().rows(&nested).unwrap()), &expected);
        }

        #[test]
        fn not_in_is_unknown_where_a_null_may_be_equal(left in rows(2), right in rows(2), residual in any::<bool>()) {
            // (l.0, l.1) NOT IN (SELECT r.0, r.1 [WHERE l.0 < r.1])
            let expected: Rows = left
                .iter()
                .filter(|l| {
                    right.iter().filter(|r| !residual || l[0].zip(r[1]).is_some_and(|(a, b)| a < b)).all(|r| {
                        let (a, b) = (eq(l[0], r[0]), eq(l[1], r[1]));
                        a == Some(false) || b == Some(false)
                    })
                })
                .cloned()
                .collect();
            let plan = Plan::HashJoin {
                kind: JoinKind::Anti,
                left: Box::new(values(&left, 2)),
                right: Box::new(values(&right, 2)),
                left_keys: vec![slot(0), slot(1)],
                right_keys: vec![slot(0), slot(1)],
                right_width: 2,
                null_safe: vec![false, false],
                condition: residual.then(|| compare(CmpOp::Lt, slot(0), slot(3))),
                null_aware: true,
            };
            prop_assert_eq!(&as_rows(Fixture::default().rows(&plan).unwrap()), &expected);
            prop_assert_eq!(&as_rows(Fixture::tiny().rows(&plan).unwrap()), &expected);
        }
    }
}
