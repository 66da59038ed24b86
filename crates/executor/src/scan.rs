//! Reading a table: key ranges from a plan's access path, rows from the transaction, locks where asked.
//!
//! A plain scan reads at the transaction's snapshot. A locking scan finds candidates first, then locks each row, reads
//! its newest version and checks the condition again, so that rows that do not match are never locked. Once the
//! transaction has a snapshot from an earlier statement (REPEATABLE READ) candidates come from that snapshot, and a row
//! that changed since is a conflict.

use selkie_catalog::keys::{IndexEntry, clustered_of, index_entry};
use selkie_engine::IndexId;
use selkie_expr::Expr;
use selkie_planner::plan::{Access, KeyBound, KeyRange, LockMode, LockWait, TableScan};
use selkie_txn::{Mode, Read, Scan, TxnError, Wait};
use selkie_types::codec::{decode_key_part, encode_key_part};
use selkie_types::{SqlResult, SqlType, Value, sql_err};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::key_value::{KeyValue, int_range, key_value};
use crate::operator::Operator;
use crate::txn_api::ExecError;

/// One key range, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByteRange {
    low: Vec<u8>,
    /// Exclusive; empty: no end.
    high: Vec<u8>,
}

/// A running table scan.
pub struct ScanOperator<'p> {
    plan: &'p TableScan,
    width: usize,
    state: State,
    /// Position in `Table::indexes` of the index walked; `None`: the rows themselves.
    index: Option<usize>,
    row: Vec<u8>,
    candidates: Vec<(Vec<u8>, Vec<u8>)>,
    scratch: Vec<Value>,
}

enum State {
    Start,
    /// Ranges still to walk (the next one last), and the one being walked.
    Walking { ranges: Vec<ByteRange>, current: Option<Scan> },
    Point { key: Vec<u8> },
    Done,
}

impl<'p> ScanOperator<'p> {
    /// A scan that has not begun.
    pub fn new(plan: &'p TableScan) -> ScanOperator<'p> {
        let width = plan.columns.len() + plan.with_row_key as usize;
        ScanOperator {
            plan,
            width,
            state: State::Start,
            index: None,
            row: Vec::new(),
            candidates: Vec::new(),
            scratch: Vec::new(),
        }
    }

    fn engine_index(&self) -> IndexId {
        match self.index {
            Some(i) => self.plan.table.engine_index(i),
            None => self.plan.table.rows_index(),
        }
    }

    /// Whether the index walked is the clustered one.
    fn clustered(&self) -> bool {
        self.index.is_none_or(|i| self.plan.table.indexes[i].primary)
    }

    fn start(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        if self.effective_lock(cx) != LockMode::None && self.plan.table.id != 0 {
            let mode = match self.effective_lock(cx) {
                LockMode::Exclusive => Mode::IntentionExclusive,
                _ => Mode::IntentionShared,
            };
            let whole = cx.txn.reads_lock() && !matches!(self.plan.access, Access::Point { .. });
            let mode = if whole && mode == Mode::IntentionShared { Mode::Shared } else { mode };
            cx.txn.lock(self.plan.table.rows_index(), b"", mode, self.wait()).map_err(to_sql)?;
        }
        let everything = || vec![ByteRange { low: Vec::new(), high: Vec::new() }];
        self.state = match &self.plan.access {
            Access::Empty => State::Done,
            Access::Full => {
                self.index = None;
                State::Walking { ranges: everything(), current: None }
            }
            Access::IndexScan { index } => {
                self.index = Some(*index);
                State::Walking { ranges: everything(), current: None }
            }
            Access::Point { index, key } => {
                self.index = Some(*index);
                match self.point_key(cx, *index, key)? {
                    Some(key) => State::Point { key },
                    None => State::Done,
                }
            }
            Access::Ranges { index, ranges, merge } => {
                self.index = Some(*index);
                let mut bytes = Vec::with_capacity(ranges.len());
                for r in ranges {
                    if let Some(b) = self.byte_range(cx, *index, r)? {
                        bytes.push(b);
                    }
                }
                if *merge || bytes.len() > 1 {
                    bytes = merged(bytes);
                }
                // The next range to walk is taken from the end.
                if !self.plan.reverse {
                    bytes.reverse();
                }
                State::Walking { ranges: bytes, current: None }
            }
        };
        Ok(())
    }

    /// Encodes the key of a point lookup; `None` when a value cannot be in the index (NULL, out of range).
    fn point_key(&self, cx: &mut ExecCtx<'_>, index: usize, key: &[Expr]) -> SqlResult<Option<Vec<u8>>> {
        let table = &self.plan.table;
        let mut out = Vec::with_capacity(16);
        for (expr, part) in key.iter().zip(table.key_parts(index)) {
            match key_value(cx, expr, &part.ty)? {
                KeyValue::Exact(v) if !v.is_null() => {
                    encode_key_part(&v, part, &cx.settings.time_zone, &mut out)?;
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// Encodes a range; `None` when it is empty.
    fn byte_range(&self, cx: &mut ExecCtx<'_>, index: usize, range: &KeyRange) -> SqlResult<Option<ByteRange>> {
        let equal_prefix = match (&range.low, &range.high) {
            (Some(l), Some(h)) => l.values.len().min(h.values.len()),
            _ => 0,
        };
        let mut low = Vec::new();
        let mut high = Vec::new();
        if let Some(b) = &range.low {
            match self.bound(cx, index, b, range, equal_prefix)? {
                Bound::Nothing => return Ok(None),
                Bound::Key { bytes, inclusive } => {
                    low = bytes;
                    if !inclusive && !successor(&mut low) {
                        return Ok(None);
                    }
                }
            }
        }
        if let Some(b) = &range.high {
            match self.bound(cx, index, b, range, equal_prefix)? {
                Bound::Nothing => return Ok(None),
                Bound::Key { bytes, inclusive } => {
                    high = bytes;
                    if inclusive && !high.is_empty() && !successor(&mut high) {
                        high.clear();
                    } else if !inclusive && high.is_empty() {
                        return Ok(None);
                    }
                }
            }
        }
        if range.low.is_none() && range.high.is_some() {
            low = self.after_nulls(index);
        }
        Ok((high.is_empty() || low < high).then_some(ByteRange { low, high }))
    }

    /// Where the values that are not NULL begin in the first key column: a range without lower bound excludes NULL.
    fn after_nulls(&self, index: usize) -> Vec<u8> {
        let part = &self.plan.table.key_parts(index)[0];
        if !part.nullable || part.descending {
            return Vec::new();
        }
        let mut null = Vec::new();
        match encode_key_part(&Value::Null, part, &selkie_types::TimeZone::Offset(0), &mut null) {
            Ok(()) if successor(&mut null) => null,
            _ => Vec::new(),
        }
    }

    fn bound(
        &self,
        cx: &mut ExecCtx<'_>,
        index: usize,
        bound: &KeyBound,
        range: &KeyRange,
        equal_prefix: usize,
    ) -> SqlResult<Bound> {
        let table = &self.plan.table;
        let mut bytes = Vec::with_capacity(24);
        for (i, (expr, part)) in bound.values.iter().zip(table.key_parts(index)).enumerate() {
            match key_value(cx, expr, &part.ty)? {
                KeyValue::Exact(v) => {
                    if v.is_null() && !range.null_safe.get(i).copied().unwrap_or(false) {
                        return Ok(Bound::Nothing);
                    }
                    encode_key_part(&v, part, &cx.settings.time_zone, &mut bytes)?;
                }
                KeyValue::NoMatch if i + 1 < equal_prefix.max(1) && equal_prefix > 1 => return Ok(Bound::Nothing),
                // No key is equal to this value, and only those that are were wanted: the filter need not check that again.
                KeyValue::NoMatch if is_point(cx, range, i)? => return Ok(Bound::Nothing),
                KeyValue::NoMatch if matches!(part.ty, SqlType::Int { .. }) => {
                    let SqlType::Int { width, unsigned, .. } = &part.ty else { return Ok(Bound::Nothing) };
                    let is_low = range.low.as_ref().is_some_and(|l| std::ptr::eq(l, bound));
                    let Some(wanted) = number(&expr.eval(&[], cx)?) else {
                        return Ok(Bound::Key { bytes, inclusive: true });
                    };
                    let (min, max) = int_range(*width, *unsigned);
                    if if is_low { wanted > max as f64 } else { wanted < min as f64 } {
                        return Ok(Bound::Nothing);
                    }
                    let below = wanted.floor() as i128;
                    let key = match (is_low, below < min, below > max) {
                        // All that is not NULL.
                        (true, true, _) if part.nullable => Value::Null,
                        (true, true, _) | (false, _, true) => return Ok(Bound::Key { bytes, inclusive: true }),
                        _ if *unsigned => Value::UInt(below as u64),
                        _ => Value::Int(below as i64),
                    };
                    encode_key_part(&key, part, &cx.settings.time_zone, &mut bytes)?;
                    return Ok(Bound::Key { bytes, inclusive: !is_low });
                }
                // A bound between two keys: the range up to here is a superset, the filter checks the rest.
                KeyValue::NoMatch => return Ok(Bound::Key { bytes, inclusive: true }),
            }
        }
        Ok(Bound::Key { bytes, inclusive: bound.inclusive })
    }

    fn effective_lock(&self, cx: &ExecCtx<'_>) -> LockMode {
        match self.plan.lock {
            LockMode::None if cx.txn.reads_lock() => LockMode::Share,
            lock => lock,
        }
    }

    fn wait(&self) -> Option<Wait> {
        match self.plan.wait {
            LockWait::Default => None,
            LockWait::NoWait | LockWait::SkipLocked => Some(Wait::No),
            LockWait::Seconds(s) => Some(Wait::For(std::time::Duration::from_secs(s as u64))),
        }
    }

    fn next_point(&mut self, cx: &mut ExecCtx<'_>, key: Vec<u8>, out: &mut Batch) -> SqlResult<()> {
        cx.rows_examined += 1;
        let lock = self.effective_lock(cx);
        if lock == LockMode::None {
            let mut row = std::mem::take(&mut self.row);
            let mut found = cx.txn.get(self.engine_index(), &key, Read::Snapshot, &mut row).map_err(to_sql)?;
            if found && !self.clustered() {
                let clustered = std::mem::take(&mut row);
                if self.plan.covering {
                    self.emit_index(cx, &key, &clustered, out)?;
                    self.row = row;
                    return Ok(());
                }
                found = cx.txn.get(self.plan.table.rows_index(), &clustered, Read::Snapshot, &mut row).map_err(to_sql)?;
                if found {
                    self.emit_row(cx, &clustered, &row, out)?;
                }
            } else if found {
                self.emit_row(cx, &key, &row, out)?;
            }
            self.row = row;
            return Ok(());
        }
        if self.clustered() {
            return self.lock_and_emit(cx, lock, key, None, out);
        }
        let mut clustered = Vec::new();
        let read = self.candidate_read(cx);
        if cx.txn.get(self.engine_index(), &key, read, &mut clustered).map_err(to_sql)? {
            self.lock_and_emit(cx, lock, clustered, Some(key), out)?;
        }
        Ok(())
    }

    fn candidate_read(&self, cx: &ExecCtx<'_>) -> Read {
        if cx.txn.writes_at_snapshot() { Read::Snapshot } else { Read::Latest }
    }

    /// Locks a row, reads it again and emits it if it still matches. `entry`: the index key that it was found by.
    fn lock_and_emit(
        &mut self,
        cx: &mut ExecCtx<'_>,
        lock: LockMode,
        clustered: Vec<u8>,
        entry: Option<Vec<u8>>,
        out: &mut Batch,
    ) -> SqlResult<()> {
        let mode = if lock == LockMode::Exclusive { Mode::Exclusive } else { Mode::Shared };
        let mut row = std::mem::take(&mut self.row);
        let index = self.plan.table.rows_index();
        let there = match cx.txn.lock_and_get(index, &clustered, mode, self.wait(), &mut row) {
            Ok(there) => there,
            Err(TxnError::LockNotAvailable) if self.plan.wait == LockWait::SkipLocked => false,
            Err(TxnError::SnapshotConflict) => return Err(sql_err!(ER_CHECKREAD, self.plan.table.name)),
            Err(e) => return Err(to_sql(e)),
        };
        if there && (entry.is_none() || self.still_in_index(cx, &row, &clustered, entry.as_deref())?) {
            self.emit_row(cx, &clustered, &row, out)?;
        }
        self.row = row;
        Ok(())
    }

    /// Whether a row read after locking still has the index entry that led to it.
    fn still_in_index(
        &self,
        cx: &ExecCtx<'_>,
        row: &[u8],
        clustered: &[u8],
        entry_key: Option<&[u8]>,
    ) -> SqlResult<bool> {
        let (Some(index), Some(entry_key)) = (self.index, entry_key) else { return Ok(true) };
        let table = &self.plan.table;
        let mut values = Vec::with_capacity(table.columns.len());
        table.layout().decode(row, &cx.settings.time_zone, &mut values)?;
        let mut entry = IndexEntry::default();
        index_entry(table, index, &values, clustered, &cx.settings.time_zone, &mut entry)?;
        Ok(entry.key == entry_key)
    }

    fn passes(&self, cx: &mut ExecCtx<'_>, row: &[Value]) -> SqlResult<bool> {
        match &self.plan.filter {
            None => Ok(true),
            Some(f) => Ok(f.eval_bool(row, cx)? == Some(true)),
        }
    }

    fn emit_row(&mut self, cx: &mut ExecCtx<'_>, clustered: &[u8], row: &[u8], out: &mut Batch) -> SqlResult<()> {
        let layout = self.plan.table.layout();
        let mut values = std::mem::take(&mut self.scratch);
        values.clear();
        for &c in &self.plan.columns {
            values.push(layout.column(row, c, &cx.settings.time_zone)?);
        }
        self.finish_row(cx, clustered, values, out)
    }

    /// Emits a row from an index entry that covers all columns.
    fn emit_index(&mut self, cx: &mut ExecCtx<'_>, key: &[u8], value: &[u8], out: &mut Batch) -> SqlResult<()> {
        let Some(index) = self.index else { return Ok(()) };
        let table = &self.plan.table;
        let def = &table.indexes[index];
        let Some(clustered) = clustered_of(def, key, value) else {
            return Err(sql_err!(ER_NOT_KEYFILE, table.name));
        };
        let mut values = std::mem::take(&mut self.scratch);
        values.clear();
        values.resize(self.plan.columns.len(), Value::Null);
        self.decode_parts(cx, index, key, &mut values)?;
        if table.primary_key().is_some() {
            self.decode_parts(cx, 0, clustered, &mut values)?;
        }
        self.finish_row(cx, clustered, values, out)
    }

    fn decode_parts(&self, cx: &ExecCtx<'_>, index: usize, key: &[u8], values: &mut [Value]) -> SqlResult<()> {
        let table = &self.plan.table;
        let mut rest = key;
        for (part, key_part) in table.indexes[index].parts.iter().zip(table.key_parts(index)) {
            if !selkie_types::codec::key_part_is_reversible(key_part) {
                let len = selkie_types::codec::key_part_len(rest, key_part)?;
                rest = &rest[len..];
                continue;
            }
            let (value, len) = decode_key_part(rest, key_part, &cx.settings.time_zone)?;
            rest = &rest[len..];
            if let Some(slot) = self.plan.columns.iter().position(|&c| c == part.column) {
                values[slot] = value;
            }
        }
        Ok(())
    }

    fn finish_row(&mut self, cx: &mut ExecCtx<'_>, clustered: &[u8], mut values: Vec<Value>, out: &mut Batch) -> SqlResult<()> {
        if self.passes(cx, &values)? {
            if self.plan.with_row_key {
                values.push(Value::bytes(clustered));
            }
            out.push(values.drain(..));
        }
        self.scratch = values;
        Ok(())
    }

    fn next_walk(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let lock = self.effective_lock(cx);
        let read = if lock == LockMode::None { Read::Snapshot } else { self.candidate_read(cx) };
        while out.is_empty() {
            cx.tick()?;
            let engine_index = self.engine_index();
            let reverse = self.plan.reverse;
            let mut scan = match &mut self.state {
                State::Walking { ranges, current } => match current.take() {
                    Some(s) => s,
                    None => match ranges.pop() {
                        Some(r) => Scan::new(engine_index, read, r.low, r.high, reverse),
                        None => {
                            self.state = State::Done;
                            return Ok(());
                        }
                    },
                },
                _ => return Ok(()),
            };
            self.walk_batch(cx, lock, &mut scan, out)?;
            if !scan.done
                && let State::Walking { current, .. } = &mut self.state
            {
                *current = Some(scan);
            }
        }
        Ok(())
    }

    fn walk_batch(&mut self, cx: &mut ExecCtx<'_>, lock: LockMode, scan: &mut Scan, out: &mut Batch) -> SqlResult<()> {
        let max = out.wanted.clamp(1, Batch::ROWS);
        let direct = lock == LockMode::None && self.clustered() && self.plan.filter.is_none() && !self.plan.with_row_key;
        if direct {
            // Rows go from the engine's memory into the batch.
            let plan = self.plan;
            let (layout, tz) = (plan.table.layout(), &cx.settings.time_zone);
            let mut rows = 0;
            cx.txn
                .scan::<ExecError>(scan, max, &mut |_, row| {
                    out.push_with(|values| -> SqlResult<bool> {
                        for &c in &plan.columns {
                            values.push(layout.column(row, c, tz)?);
                        }
                        Ok(true)
                    })?;
                    rows += 1;
                    Ok(true)
                })
                .map_err(selkie_types::SqlError::from)?;
            cx.rows_examined += rows;
            return Ok(());
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut n = 0;
        cx.txn
            .scan::<ExecError>(scan, max, &mut |key, value| {
                match candidates.get_mut(n) {
                    Some((k, v)) => {
                        k.clear();
                        k.extend_from_slice(key);
                        v.clear();
                        v.extend_from_slice(value);
                    }
                    None => candidates.push((key.to_vec(), value.to_vec())),
                }
                n += 1;
                Ok(true)
            })
            .map_err(selkie_types::SqlError::from)?;
        cx.rows_examined += n as u64;
        let result = candidates[..n].iter().try_for_each(|(key, value)| self.candidate(cx, lock, key, value, out));
        self.candidates = candidates;
        result
    }

    fn candidate(&mut self, cx: &mut ExecCtx<'_>, lock: LockMode, key: &[u8], value: &[u8], out: &mut Batch) -> SqlResult<()> {
        if self.clustered() {
            if lock == LockMode::None {
                return self.emit_row(cx, key, value, out);
            }
            if !self.matches_unlocked(cx, value)? {
                return Ok(());
            }
            return self.lock_and_emit(cx, lock, key.to_vec(), None, out);
        }
        if lock == LockMode::None && self.plan.covering {
            return self.emit_index(cx, key, value, out);
        }
        let Some(index) = self.index else { return Ok(()) };
        let Some(clustered) = clustered_of(&self.plan.table.indexes[index], key, value) else {
            return Err(sql_err!(ER_NOT_KEYFILE, self.plan.table.name));
        };
        let read = if lock == LockMode::None { Read::Snapshot } else { self.candidate_read(cx) };
        let mut row = std::mem::take(&mut self.row);
        let there = cx.txn.get(self.plan.table.rows_index(), clustered, read, &mut row).map_err(to_sql)?;
        if there && lock == LockMode::None {
            self.emit_row(cx, clustered, &row, out)?;
        } else if there && self.matches_unlocked(cx, &row)? {
            self.row = row;
            return self.lock_and_emit(cx, lock, clustered.to_vec(), Some(key.to_vec()), out);
        }
        self.row = row;
        Ok(())
    }

    /// Whether a row that is not locked yet satisfies the filter, so that locking it is worth while.
    fn matches_unlocked(&mut self, cx: &mut ExecCtx<'_>, row: &[u8]) -> SqlResult<bool> {
        if self.plan.filter.is_none() {
            return Ok(true);
        }
        let layout = self.plan.table.layout();
        let mut values = std::mem::take(&mut self.scratch);
        values.clear();
        for &c in &self.plan.columns {
            values.push(layout.column(row, c, &cx.settings.time_zone)?);
        }
        let passes = self.passes(cx, &values);
        self.scratch = values;
        passes
    }
}

/// A number that may lie between or beyond the values of a column.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) => Some(*v as f64),
        Value::UInt(v) => Some(*v as f64),
        Value::Double(v) => Some(*v),
        Value::Decimal(v) => v.to_string().parse().ok(),
        _ => None,
    }
}

/// Whether both bounds of a range have the same value at a position: an equality.
fn is_point(cx: &mut ExecCtx<'_>, range: &KeyRange, position: usize) -> SqlResult<bool> {
    let (Some(low), Some(high)) = (&range.low, &range.high) else { return Ok(false) };
    let (Some(l), Some(h)) = (low.values.get(position), high.values.get(position)) else { return Ok(false) };
    Ok(l.eval(&[], cx)? == h.eval(&[], cx)?)
}

impl ScanOperator<'_> {
    fn next_rows(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width);
        if matches!(self.state, State::Start) {
            self.start(cx)?;
        }
        match std::mem::replace(&mut self.state, State::Done) {
            State::Point { key } => self.next_point(cx, key, out),
            State::Walking { ranges, current } => {
                self.state = State::Walking { ranges, current };
                self.next_walk(cx, out)
            }
            State::Start | State::Done => Ok(()),
        }
    }
}

impl Operator for ScanOperator<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        if cx.analysis.is_none() {
            return self.next_rows(cx, out);
        }
        let begins = matches!(self.state, State::Start);
        let before = cx.rows_examined;
        let result = self.next_rows(cx, out);
        let read = cx.rows_examined - before;
        if let Some(analysis) = &mut cx.analysis {
            analysis.note(self.plan, begins, read, out.len() as u64);
        }
        result
    }

    fn rewind(&mut self, _cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.state = State::Start;
        Ok(())
    }

    fn width(&self) -> usize {
        self.width
    }
}

enum Bound {
    /// The range holds nothing.
    Nothing,
    Key { bytes: Vec<u8>, inclusive: bool },
}

fn to_sql(e: TxnError) -> selkie_types::SqlError {
    crate::txn_api::txn_error(e)
}

/// Turns `key` into the first key after all that begin with it. `false` if there is none (all bytes 0xFF).
fn successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xFF {
            key.push(last + 1);
            return true;
        }
    }
    false
}

/// Sorts ranges and joins those that touch.
fn merged(mut ranges: Vec<ByteRange>) -> Vec<ByteRange> {
    ranges.sort_by(|a, b| a.low.cmp(&b.low));
    let mut out: Vec<ByteRange> = Vec::with_capacity(ranges.len());
    for r in ranges {
        match out.last_mut() {
            Some(last) if last.high.is_empty() || r.low <= last.high => {
                if r.high.is_empty() {
                    last.high.clear();
                } else if !last.high.is_empty() && r.high > last.high {
                    last.high = r.high;
                }
            }
            _ => out.push(r),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(low: &str, high: &str) -> ByteRange {
        ByteRange { low: low.into(), high: high.into() }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let got = merged(vec![r("k", "m"), r("a", "c"), r("b", "d"), r("d", "e"), r("x", ""), r("y", "z")]);
        assert_eq!(got, [r("a", "e"), r("k", "m"), r("x", "")]);
    }

    #[test]
    fn the_successor_of_a_prefix_skips_all_that_begin_with_it() {
        let mut k = vec![1, 0xFF, 0xFF];
        assert!(successor(&mut k));
        assert_eq!(k, [2]);
        let mut k = vec![0xFF];
        assert!(!successor(&mut k));
    }
}
