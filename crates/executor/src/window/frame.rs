//! Frames: which rows of its partition a row's function looks at.

use std::cmp::Ordering;
use std::ops::Range;

use selkie_expr::{FrameBound, FrameUnit, SortKey, WindowCall};
use selkie_types::convert::compare;
use selkie_types::{Collation, Decimal, SqlResult, SqlType, Value, sql_err};

use super::Partition;
use crate::context::ExecCtx;
use crate::row_key::RowKey;

/// For each row of a partition, the rows that are equal to it by ORDER BY.
pub(super) struct Peers {
    /// First row of each group of peers, and the partition's end.
    starts: Vec<usize>,
    /// The group of each row.
    group: Vec<u32>,
}

impl Peers {
    /// Compares neighbours. Without ORDER BY all rows are peers.
    pub fn new(p: &Partition<'_>, order_by: &[SortKey], cx: &mut ExecCtx<'_>) -> SqlResult<Peers> {
        let mut starts = vec![0];
        let mut group = vec![0; p.count];
        if !order_by.is_empty() {
            let key = RowKey::of_sort_keys(order_by);
            let (mut last, mut this) = (Vec::new(), Vec::new());
            for (i, own) in group.iter_mut().enumerate() {
                this.clear();
                key.encode_sort(order_by, p.row(i), cx, &mut this)?;
                if i > 0 && this != last {
                    starts.push(i);
                }
                *own = starts.len() as u32 - 1;
                std::mem::swap(&mut last, &mut this);
            }
        }
        starts.push(p.count);
        Ok(Peers { starts, group })
    }

    /// The number of a row's group, from 0.
    pub fn group(&self, row: usize) -> usize {
        self.group[row] as usize
    }

    /// A row's peers, itself included.
    pub fn of(&self, row: usize) -> Range<usize> {
        let g = self.group(row);
        self.starts[g]..self.starts[g + 1]
    }
}

/// One end of a frame, its offset evaluated.
enum Bound {
    UnboundedPreceding,
    Preceding(Value),
    CurrentRow,
    Following(Value),
    UnboundedFollowing,
}

fn bound(b: &FrameBound, cx: &mut ExecCtx<'_>) -> SqlResult<Bound> {
    Ok(match b {
        FrameBound::UnboundedPreceding => Bound::UnboundedPreceding,
        FrameBound::Preceding(e) => Bound::Preceding(e.eval(&[], cx)?),
        FrameBound::CurrentRow => Bound::CurrentRow,
        FrameBound::Following(e) => Bound::Following(e.eval(&[], cx)?),
        FrameBound::UnboundedFollowing => Bound::UnboundedFollowing,
    })
}

/// The frame of each row, within the partition; possibly empty.
pub(super) fn frames(
    call: &WindowCall,
    p: &Partition<'_>,
    peers: &Peers,
    cx: &mut ExecCtx<'_>,
) -> SqlResult<Vec<Range<usize>>> {
    let (unit, start, end) = &call.frame;
    let (start, end) = (bound(start, cx)?, bound(end, cx)?);
    match unit {
        FrameUnit::Rows => rows_frames(&start, &end, p.count),
        FrameUnit::Range => range_frames(call, &start, &end, p, peers, cx),
    }
}

fn rows_frames(start: &Bound, end: &Bound, count: usize) -> SqlResult<Vec<Range<usize>>> {
    let offset = |v: &Value| match v {
        Value::Int(i) if *i >= 0 => Ok((*i).min(isize::MAX as i64) as usize),
        Value::UInt(u) => Ok((*u).min(isize::MAX as u64) as usize),
        _ => Err(sql_err!(ER_WRONG_TYPE_FOR_ROWS_FRAME)),
    };
    // Places relative to the row: (how many back, how many forth).
    let place = |b: &Bound| -> SqlResult<(usize, usize)> {
        Ok(match b {
            Bound::UnboundedPreceding => (count, 0),
            Bound::Preceding(v) => (offset(v)?, 0),
            Bound::CurrentRow => (0, 0),
            Bound::Following(v) => (0, offset(v)?),
            Bound::UnboundedFollowing => (0, count),
        })
    };
    let ((start_back, start_forth), (end_back, end_forth)) = (place(start)?, place(end)?);
    let frame = |i: usize| {
        let from = i.saturating_sub(start_back) + start_forth;
        let to = (i + end_forth + 1).saturating_sub(end_back).min(count);
        from.min(to)..to
    };
    Ok((0..count).map(frame).collect())
}

fn range_frames(
    call: &WindowCall,
    start: &Bound,
    end: &Bound,
    p: &Partition<'_>,
    peers: &Peers,
    cx: &mut ExecCtx<'_>,
) -> SqlResult<Vec<Range<usize>>> {
    let offsets = matches!(start, Bound::Preceding(_) | Bound::Following(_))
        || matches!(end, Bound::Preceding(_) | Bound::Following(_));
    let mut keys = vec![Value::Null; p.count];
    let mut descending = false;
    if offsets {
        let [key] = call.order_by.as_slice() else { return Err(sql_err!(ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY)) };
        if !key.expr.ty.is_numeric() && key.expr.ty != SqlType::Null {
            return Err(sql_err!(ER_WRONG_TYPE_FOR_RANGE_FRAME));
        }
        descending = key.descending;
        for (i, k) in keys.iter_mut().enumerate() {
            *k = key.expr.eval(p.row(i), cx)?;
        }
    }
    let mut first = Walker { keys: &keys, descending, at: 0 };
    let mut last = Walker { keys: &keys, descending, at: 0 };
    let mut frames = Vec::with_capacity(p.count);
    for (i, key) in keys.iter().enumerate() {
        let own = peers.of(i);
        let from = match start {
            Bound::UnboundedPreceding => 0,
            Bound::UnboundedFollowing => p.count,
            Bound::CurrentRow => own.start,
            Bound::Preceding(_) | Bound::Following(_) if key.is_null() => own.start,
            Bound::Preceding(v) => first.skip(&moved(key, v, !descending)?, false),
            Bound::Following(v) => first.skip(&moved(key, v, descending)?, false),
        };
        let to = match end {
            Bound::UnboundedPreceding => 0,
            Bound::UnboundedFollowing => p.count,
            Bound::CurrentRow => own.end,
            Bound::Preceding(_) | Bound::Following(_) if key.is_null() => own.end,
            Bound::Preceding(v) => last.skip(&moved(key, v, !descending)?, true),
            Bound::Following(v) => last.skip(&moved(key, v, descending)?, true),
        };
        frames.push(from.min(to)..to);
    }
    Ok(frames)
}

/// Finds where keys in order pass a limit that only moves forward.
struct Walker<'a> {
    keys: &'a [Value],
    descending: bool,
    at: usize,
}

impl Walker<'_> {
    /// Skips keys before `limit` (and equal ones if `equal`). NULL comes before all in ascending order.
    fn skip(&mut self, limit: &Value, equal: bool) -> usize {
        while let Some(key) = self.keys.get(self.at) {
            let order = if key.is_null() { Ordering::Less } else { compare(key, limit, Collation::BINARY) };
            let order = if self.descending { order.reverse() } else { order };
            if order.is_gt() || (order.is_eq() && !equal) {
                break;
            }
            self.at += 1;
        }
        self.at
    }
}

/// `key - offset`, or `key + offset`.
fn moved(key: &Value, offset: &Value, subtract: bool) -> SqlResult<Value> {
    let whole = |v: &Value| match v {
        Value::Int(i) => Some(*i as i128),
        Value::UInt(u) => Some(*u as i128),
        _ => None,
    };
    if let (Some(k), Some(o)) = (whole(key), whole(offset)) {
        let sum = if subtract { k - o } else { k + o };
        return Ok(match i64::try_from(sum) {
            Ok(i) => Value::Int(i),
            Err(_) => Value::Decimal(Decimal::from_mantissa(sum, 0)),
        });
    }
    let wrong = || sql_err!(ER_WRONG_TYPE_FOR_RANGE_FRAME);
    if matches!(key, Value::Double(_)) || matches!(offset, Value::Double(_)) {
        let (k, o) = (double(key).ok_or_else(wrong)?, double(offset).ok_or_else(wrong)?);
        return Ok(Value::Double(if subtract { k - o } else { k + o }));
    }
    let (k, o) = (decimal(key).ok_or_else(wrong)?, decimal(offset).ok_or_else(wrong)?);
    let (sum, _) = if subtract { k.overflowing_sub(&o) } else { k.overflowing_add(&o) };
    Ok(Value::Decimal(sum))
}

fn double(v: &Value) -> Option<f64> {
    match v {
        Value::Int(i) => Some(*i as f64),
        Value::UInt(u) => Some(*u as f64),
        Value::Double(d) => Some(*d),
        Value::Decimal(d) => Some(d.to_f64()),
        _ => None,
    }
}

fn decimal(v: &Value) -> Option<Decimal> {
    match v {
        Value::Int(i) => Some(Decimal::from(*i)),
        Value::UInt(u) => Some(Decimal::from(*u)),
        Value::Decimal(d) => Some(d.clone()),
        _ => None,
    }
}
