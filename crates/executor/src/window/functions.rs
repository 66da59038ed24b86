//! What window functions compute, for all rows of a partition at a time.

use std::ops::Range;

use selkie_expr::{Accumulator, AggregateCall, Expr, RankFunction, WindowCall, WindowFunction};
use selkie_types::{SqlResult, Value, sql_err};

use super::Partition;
use super::frame::{Peers, frames};
use crate::context::ExecCtx;

/// Appends the call's result for each row of the partition.
pub(super) fn compute(
    call: &WindowCall,
    p: &Partition<'_>,
    peers: &Peers,
    cx: &mut ExecCtx<'_>,
    out: &mut Vec<Value>,
) -> SqlResult<()> {
    match &call.function {
        WindowFunction::Aggregate(a) => {
            let frames = frames(call, p, peers, cx)?;
            aggregate(a, p, &frames, cx, out)
        }
        WindowFunction::Rank(function, args) => rank(*function, args, call, p, peers, cx, out),
    }
}

fn rank(
    function: RankFunction,
    args: &[Expr],
    call: &WindowCall,
    p: &Partition<'_>,
    peers: &Peers,
    cx: &mut ExecCtx<'_>,
    out: &mut Vec<Value>,
) -> SqlResult<()> {
    let n = p.count;
    match function {
        RankFunction::RowNumber => out.extend((1..=n as i64).map(Value::Int)),
        RankFunction::Rank => out.extend((0..n).map(|i| Value::Int(peers.of(i).start as i64 + 1))),
        RankFunction::DenseRank => out.extend((0..n).map(|i| Value::Int(peers.group(i) as i64 + 1))),
        RankFunction::PercentRank => out.extend((0..n).map(|i| {
            let before = peers.of(i).start as f64;
            Value::Double(if n > 1 { before / (n - 1) as f64 } else { 0.0 })
        })),
        RankFunction::CumeDist => out.extend((0..n).map(|i| Value::Double(peers.of(i).end as f64 / n as f64))),
        RankFunction::Ntile => {
            for i in 0..n {
                let buckets = match number(args.first(), p.row(i), cx)? {
                    Some(b) if b > 0 => b as u64,
                    _ => return Err(sql_err!(ER_INVALID_NTILE_ARGUMENT)),
                };
                // The first `larger` buckets have one row more.
                let (size, larger) = (n as u64 / buckets, n as u64 % buckets);
                let in_larger = larger * (size + 1);
                let i = i as u64;
                let bucket = if i < in_larger { i / (size + 1) } else { larger + (i - in_larger) / size.max(1) };
                out.push(Value::Int(bucket as i64 + 1));
            }
        }
        RankFunction::Lag | RankFunction::Lead => {
            for i in 0..n {
                let by = match args.get(1) {
                    Some(_) => number(args.get(1), p.row(i), cx)?.unwrap_or(0),
                    None => 1,
                };
                let by = if function == RankFunction::Lag { by.checked_neg() } else { Some(by) };
                let other = by.and_then(|by| (i as i64).checked_add(by)).filter(|o| (0..n as i64).contains(o));
                out.push(match (other, args.get(2)) {
                    (Some(o), _) => value(args.first(), p.row(o as usize), cx)?,
                    (None, Some(default)) => default.eval(p.row(i), cx)?,
                    (None, None) => Value::Null,
                });
            }
        }
        RankFunction::FirstValue | RankFunction::LastValue | RankFunction::NthValue => {
            for (i, frame) in frames(call, p, peers, cx)?.into_iter().enumerate() {
                let row = match function {
                    RankFunction::FirstValue => Some(frame.start),
                    RankFunction::LastValue => frame.end.checked_sub(1),
                    _ => match number(args.get(1), p.row(i), cx)? {
                        Some(k) if k > 0 => frame.start.checked_add(k as usize - 1),
                        _ => None,
                    },
                };
                out.push(match row.filter(|r| frame.contains(r)) {
                    Some(r) => value(args.first(), p.row(r), cx)?,
                    None => Value::Null,
                });
            }
        }
        RankFunction::Median | RankFunction::PercentileCont | RankFunction::PercentileDisc => {
            let v = percentile(function, args, call, p, cx)?;
            out.extend(std::iter::repeat_n(v, n));
        }
    }
    Ok(())
}

fn value(e: Option<&Expr>, row: &[Value], cx: &mut ExecCtx<'_>) -> SqlResult<Value> {
    e.map_or(Ok(Value::Null), |e| e.eval(row, cx))
}

fn number(e: Option<&Expr>, row: &[Value], cx: &mut ExecCtx<'_>) -> SqlResult<Option<i64>> {
    Ok(match value(e, row, cx)? {
        Value::Int(i) => Some(i),
        Value::UInt(u) => Some(i64::try_from(u).unwrap_or(i64::MAX)),
        _ => None,
    })
}

/// MEDIAN, PERCENTILE_CONT and PERCENTILE_DISC: a place among the partition's values that are not NULL, in order.
fn percentile(
    function: RankFunction,
    args: &[Expr],
    call: &WindowCall,
    p: &Partition<'_>,
    cx: &mut ExecCtx<'_>,
) -> SqlResult<Value> {
    let name = if function == RankFunction::PercentileDisc { "percentile_disc" } else { "percentile_cont" };
    let fraction = match function {
        RankFunction::Median => 0.5,
        _ => {
            let first = value(args.first(), p.row(0), cx)?;
            for i in 1..p.count {
                if value(args.first(), p.row(i), cx)? != first {
                    return Err(sql_err!(ER_ARGUMENT_NOT_CONSTANT, name));
                }
            }
            match first {
                Value::Double(f) if (0.0..=1.0).contains(&f) => f,
                _ => return Err(sql_err!(ER_ARGUMENT_OUT_OF_RANGE, name)),
            }
        }
    };
    let Some(key) = call.order_by.first() else { return Ok(Value::Null) };
    let mut values = Vec::with_capacity(p.count);
    for i in 0..p.count {
        let v = key.expr.eval(p.row(i), cx)?;
        if !v.is_null() {
            values.push(v);
        }
    }
    if values.is_empty() {
        return Ok(Value::Null);
    }
    if function == RankFunction::PercentileDisc {
        let place = (fraction * values.len() as f64).ceil() as usize;
        return Ok(values.swap_remove(place.clamp(1, values.len()) - 1));
    }
    let place = fraction * (values.len() - 1) as f64;
    let double = |v: &Value| if let Value::Double(d) = v { *d } else { 0.0 };
    let (low, high) = (double(&values[place.floor() as usize]), double(&values[place.ceil() as usize]));
    Ok(Value::Double(low + (high - low) * (place - place.floor())))
}

/// An aggregate over each row's frame, going from one frame to the next by the rows that came and went.
fn aggregate(
    call: &AggregateCall,
    p: &Partition<'_>,
    frames: &[Range<usize>],
    cx: &mut ExecCtx<'_>,
    out: &mut Vec<Value>,
) -> SqlResult<()> {
    let mut run = Run { call, args: Vec::new(), state: call.function.accumulator(), covers: 0..0, retracts: true };
    let to_the_end = frames.iter().all(|f| f.end == p.count || f.is_empty());
    let moving = frames.windows(2).any(|w| w[0].start < w[1].start);
    if to_the_end && moving && matches!(call.function.name(), "min" | "max" | "bit_and" | "bit_or" | "bit_xor") {
        // These do not care about the order of rows: from the back, frames only grow.
        let from = out.len();
        run.covers = p.count..p.count;
        for f in frames.iter().rev() {
            cx.tick()?;
            let f = if f.is_empty() { p.count..p.count } else { f.clone() };
            let result = if f.start <= run.covers.start {
                for i in (f.start..run.covers.start).rev() {
                    run.add(p, i, cx)?;
                }
                run.covers = f;
                run.state.finish(cx)?
            } else {
                // An empty frame before one that is not.
                call.function.accumulator().finish(cx)?
            };
            out.push(result);
        }
        out[from..].reverse();
        return Ok(());
    }
    let mut last = None;
    for f in frames {
        cx.tick()?;
        if let Some(v) = last.as_ref().filter(|_| *f == run.covers) {
            out.push(Value::clone(v));
            continue;
        }
        run.go_to(p, f, cx)?;
        let v = run.state.finish(cx)?;
        last = Some(v.clone());
        out.push(v);
    }
    Ok(())
}

/// An accumulator and the rows that it holds.
struct Run<'a> {
    call: &'a AggregateCall,
    args: Vec<Value>,
    state: Box<dyn Accumulator>,
    covers: Range<usize>,
    /// Whether rows can be taken back, as far as is known.
    retracts: bool,
}

impl Run<'_> {
    fn eval(&mut self, row: &[Value], cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.args.clear();
        for a in &self.call.args {
            self.args.push(a.eval(row, cx)?);
        }
        Ok(())
    }

    fn add(&mut self, p: &Partition<'_>, i: usize, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.eval(p.row(i), cx)?;
        self.state.update(&self.args, cx)
    }

    fn start_over(&mut self, at: usize) {
        self.state = self.call.function.accumulator();
        self.covers = at..at;
    }

    fn go_to(&mut self, p: &Partition<'_>, f: &Range<usize>, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        let overlap = f.start >= self.covers.start && f.end >= self.covers.end && f.start < self.covers.end;
        if !overlap && self.covers != (f.start..f.start) {
            self.start_over(f.start);
        }
        while self.covers.start < f.start {
            self.eval(p.row(self.covers.start), cx)?;
            if !self.retracts || !self.state.retract(&self.args, cx)? {
                self.retracts = false;
                self.start_over(f.start);
                break;
            }
            self.covers.start += 1;
        }
        while self.covers.end < f.end {
            self.add(p, self.covers.end, cx)?;
            self.covers.end += 1;
        }
        Ok(())
    }
}
