//! Aggregate calls of groups: one accumulator for each group and call, with DISTINCT and ORDER BY inside of calls.

use selkie_expr::{Accumulator, AggregateCall, ExprKind};
use selkie_types::{SqlResult, Value};

use crate::context::ExecCtx;
use crate::row_input::row_bytes;
use crate::row_key::RowKey;
use crate::row_set::{KeyTable, hash_of};

/// Bytes of an accumulator and its box, about.
const ACCUMULATOR_BYTES: usize = 96;

/// The calls of an aggregation and their state in each group.
pub struct GroupCalls<'p> {
    calls: Vec<Call<'p>>,
    /// For each group, one for each call.
    states: Vec<CallState>,
    groups: usize,
    /// Groups are reset one by one.
    streaming: bool,
    args: Vec<Value>,
    key: Vec<u8>,
    bytes: usize,
}

struct Call<'p> {
    call: &'p AggregateCall,
    /// Of the arguments, for DISTINCT.
    distinct: Option<Distinct>,
    /// Of the ORDER BY inside.
    order: Option<RowKey>,
    /// Whether the accumulator grows with its input.
    grows: bool,
    /// The only argument, where it is a plain slot.
    slot: Option<usize>,
}

/// Argument lists seen.
struct Distinct {
    key: RowKey,
    /// One for each group, or one for all, whose keys begin with the group's number.
    sets: Vec<KeyTable>,
}

struct CallState {
    accumulator: Box<dyn Accumulator>,
    /// Rows kept for ORDER BY: sort key and arguments.
    rows: Vec<(Vec<u8>, Vec<Value>)>,
}

impl<'p> GroupCalls<'p> {
    /// No groups yet; `streaming` if groups are few and [reset](Self::reset_group) one by one.
    pub fn new(calls: &'p [AggregateCall], streaming: bool) -> GroupCalls<'p> {
        let calls = calls.iter().map(|call| Call {
            call,
            distinct: call.distinct.then(|| Distinct { key: RowKey::of_exprs(&call.args), sets: Vec::new() }),
            order: (!call.order_by.is_empty()).then(|| RowKey::of_sort_keys(&call.order_by)),
            grows: matches!(call.function.name(), "group_concat" | "json_arrayagg" | "json_objectagg"),
            slot: match call.args.as_slice() {
                [e] => {
                    if let ExprKind::Column(slot) = e.kind {
                        Some(slot)
                    } else {
                        None
                    }
                }
                _ => None,
            },
        });
        GroupCalls {
            calls: calls.collect(),
            states: Vec::new(),
            groups: 0,
            streaming,
            args: Vec::new(),
            key: Vec::new(),
            bytes: 0,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that a group takes at least.
    pub fn group_bytes(&self) -> usize {
        self.calls.len() * ACCUMULATOR_BYTES
    }

    /// Adds a group; groups are numbered from 0.
    pub fn add_group(&mut self) {
        for c in &self.calls {
            self.states.push(CallState { accumulator: c.call.function.accumulator(), rows: Vec::new() });
        }
        for c in &mut self.calls {
            if let Some(d) = &mut c.distinct
                && (self.streaming || d.sets.is_empty())
            {
                d.sets.push(KeyTable::default());
            }
        }
        self.groups += 1;
    }

    /// Adds an input row to a group.
    pub fn update(&mut self, group: usize, row: &[Value], cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        let n = self.calls.len();
        for (call, state) in self.calls.iter_mut().zip(&mut self.states[group * n..(group + 1) * n]) {
            if let Some(slot) = call.slot
                && call.distinct.is_none()
                && call.order.is_none()
                && !call.grows
                && let Some(v) = row.get(slot)
            {
                state.accumulator.update(std::slice::from_ref(v), cx)?;
                continue;
            }
            self.args.clear();
            for a in &call.call.args {
                self.args.push(a.eval(row, cx)?);
            }
            let mut grown = 0;
            if let Some(d) = &mut call.distinct {
                self.key.clear();
                let set = if self.streaming { group } else { 0 };
                self.key.extend_from_slice(&(group as u32).to_be_bytes());
                d.key.encode(&self.args, &mut self.key);
                if !d.sets[set].insert(hash_of(&self.key), &self.key).1 {
                    continue;
                }
                grown += KeyTable::entry_bytes(&self.key);
            }
            if let Some(order) = &call.order {
                let mut key = Vec::new();
                order.encode_sort(&call.call.order_by, row, cx, &mut key)?;
                grown += key.len() + row_bytes(&self.args) + 48;
                state.rows.push((key, self.args.clone()));
            } else if call.grows {
                let before = state.accumulator.memory();
                state.accumulator.update(&self.args, cx)?;
                grown += state.accumulator.memory().saturating_sub(before);
            } else {
                state.accumulator.update(&self.args, cx)?;
            }
            if grown > 0 {
                self.bytes += grown;
                cx.charge(grown as isize)?;
            }
        }
        Ok(())
    }

    /// Appends a group's results.
    pub fn finish(&mut self, group: usize, cx: &mut ExecCtx<'_>, out: &mut Vec<Value>) -> SqlResult<()> {
        let n = self.calls.len();
        for state in &mut self.states[group * n..(group + 1) * n] {
            let mut rows = std::mem::take(&mut state.rows);
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            for (_, args) in &rows {
                state.accumulator.update(args, cx)?;
            }
            out.push(state.accumulator.finish(cx)?);
        }
        Ok(())
    }

    /// Makes a group empty again.
    pub fn reset_group(&mut self, group: usize, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        let n = self.calls.len();
        for (call, state) in self.calls.iter_mut().zip(&mut self.states[group * n..(group + 1) * n]) {
            state.accumulator = call.call.function.accumulator();
            state.rows.clear();
            if let Some(d) = &mut call.distinct
                && self.streaming
            {
                d.sets[group].clear();
            }
        }
        // What other groups hold is not told apart: they are given back with the last one.
        if group == 0 || self.groups == 1 {
            cx.charge(-(std::mem::take(&mut self.bytes) as isize))?;
        }
        Ok(())
    }

    /// Forgets all groups.
    pub fn clear(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.states.clear();
        self.groups = 0;
        for c in &mut self.calls {
            if let Some(d) = &mut c.distinct {
                d.sets.clear();
            }
        }
        cx.charge(-(std::mem::take(&mut self.bytes) as isize))
    }
}
