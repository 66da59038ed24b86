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
    args: Vec<Value>,
    key: Vec<u8>,
    bytes: usize,
}

struct Call<'p> {
    call: &'p AggregateCall,
    /// Of the arguments, for DISTINCT.
    distinct: Option<(RowKey, KeyTable)>,
    /// Of the ORDER BY inside.
    order: Option<RowKey>,
    /// Whether the accumulator grows with its input.
    grows: bool,
    /// The only argument, where it is a plain slot.
    slot: Option<usize>,
}

struct CallState {
    accumulator: Box<dyn Accumulator>,
    /// Rows kept for ORDER BY: sort key and arguments.
    rows: Vec<(Vec<u8>, Vec<Value>)>,
}

impl<'p> GroupCalls<'p> {
    /// No groups yet.
    pub fn new(calls: &'p [AggregateCall]) -> GroupCalls<'p> {
        let calls = calls.iter().map(|call| Call {
            call,
            distinct: call
                .distinct
                .then(|| (RowKey::new([&selkie_types::SqlType::BIGINT].into_iter().chain(call.args.iter().map(|a| &a.ty))), KeyTable::default())),
            order: (!call.order_by.is_empty()).then(|| RowKey::of_sort_keys(&call.order_by)),
            grows: matches!(call.function.name(), "group_concat" | "json_arrayagg" | "json_objectagg"),
            slot: match call.args.as_slice() {
                [e] => if let ExprKind::Column(slot) = e.kind { Some(slot) } else { None },
                _ => None,
            },
        });
        GroupCalls {
            calls: calls.collect(),
            states: Vec::new(),
            groups: 0,
            args: Vec::new(),
            key: Vec::new(),
            bytes: 0,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a group; groups are numbered from 0.
    pub fn add_group(&mut self) {
        for c in &self.calls {
            self.states.push(CallState { accumulator: c.call.function.accumulator(), rows: Vec::new() });
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
            if let Some((key, seen)) = &mut call.distinct {
                self.key.clear();
                key.encode_one(0, &Value::UInt(group as u64), &mut self.key);
                for (i, v) in self.args.iter().enumerate() {
                    key.encode_one(i + 1, v, &mut self.key);
                }
                if !seen.insert(hash_of(&self.key), &self.key).1 {
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
            // Keys of other groups in the set are those of the levels of a ROLLUP, which it names.
            if let Some((_, seen)) = &mut call.distinct
                && self.groups == 1
            {
                seen.clear();
            }
        }
        if self.groups == 1 {
            cx.charge(-(std::mem::take(&mut self.bytes) as isize))?;
        }
        Ok(())
    }

    /// Forgets all groups.
    pub fn clear(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.states.clear();
        self.groups = 0;
        for c in &mut self.calls {
            if let Some((_, seen)) = &mut c.distinct {
                seen.clear();
            }
        }
        cx.charge(-(std::mem::take(&mut self.bytes) as isize))
    }
}
