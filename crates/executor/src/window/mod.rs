//! Window functions.
//!
//! Rows first get a NULL slot for each call. Then the calls that share PARTITION BY and ORDER BY are computed together by
//! a [`Stage`]: its input is sorted by partition and order, it holds one partition at a time, fills its calls' slots and
//! hands the rows on, to the next stage's sort if there is one.
//!
//! [`frame`] finds the rows of each row's frame; [`functions`] computes the functions.

mod frame;
mod functions;

use std::borrow::Cow;

use selkie_expr::{Expr, ExprKind, SortKey, WindowCall};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::row_input::{RowInput, row_bytes};
use crate::row_key::RowKey;
use crate::sort::Sort;

use frame::Peers;

/// Makes the operators for some calls over `input`.
pub fn build<'p>(input: BoxOperator<'p>, calls: &'p [WindowCall]) -> BoxOperator<'p> {
    let first = input.width();
    let mut operator: BoxOperator<'p> = Box::new(Widen { input, by: calls.len(), batch: None });
    let mut done = vec![false; calls.len()];
    for i in 0..calls.len() {
        if done[i] {
            continue;
        }
        let spec = &calls[i];
        let mut together = Vec::new();
        for (j, c) in calls.iter().enumerate().skip(i) {
            if !done[j] && (j == i || same_spec(spec, c)) {
                done[j] = true;
                together.push((first + j, c));
            }
        }
        let partition = spec.partition_by.iter().map(|e| SortKey { expr: e.clone(), descending: false });
        let keys: Vec<SortKey> = partition.chain(spec.order_by.iter().cloned()).collect();
        if !keys.is_empty() {
            operator = Box::new(Sort::new(operator, Cow::Owned(keys), None));
        }
        operator = Box::new(Stage::new(operator, &spec.partition_by, &spec.order_by, together));
    }
    operator
}

/// Whether two calls are computed over rows in the same order. Only plain slots are compared; others count as different.
fn same_spec(a: &WindowCall, b: &WindowCall) -> bool {
    let same = |x: &Expr, y: &Expr| matches!((&x.kind, &y.kind), (ExprKind::Column(i), ExprKind::Column(j)) if i == j);
    a.partition_by.len() == b.partition_by.len()
        && a.order_by.len() == b.order_by.len()
        && a.partition_by.iter().zip(&b.partition_by).all(|(x, y)| same(x, y))
        && a.order_by.iter().zip(&b.order_by).all(|(x, y)| x.descending == y.descending && same(&x.expr, &y.expr))
}

/// Adds slots to rows, for the results.
struct Widen<'p> {
    input: BoxOperator<'p>,
    by: usize,
    batch: Option<Batch>,
}

impl Operator for Widen<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width());
        let batch = self.batch.get_or_insert_with(|| Batch::new(self.input.width()));
        batch.wanted = out.wanted;
        self.input.next(cx, batch)?;
        for i in 0..batch.len() {
            let row = batch.row_mut(i).iter_mut().map(std::mem::take);
            out.push(row.chain(std::iter::repeat_n(Value::Null, self.by)));
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width() + self.by
    }
}

/// The rows of one partition in order.
pub(crate) struct Partition<'a> {
    rows: &'a [Value],
    width: usize,
    /// How many rows.
    pub count: usize,
}

impl<'a> Partition<'a> {
    /// A row.
    pub fn row(&self, i: usize) -> &'a [Value] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }
}

/// Computes the calls of one specification.
struct Stage<'p> {
    input: RowInput<'p>,
    partition_by: &'p [Expr],
    order_by: &'p [SortKey],
    calls: Vec<(usize, &'p WindowCall)>,
    key: RowKey,
    /// The partition at hand, flat, and how many of its rows were given.
    rows: Vec<Value>,
    given: usize,
    count: usize,
    /// Whether the input's current row begins the next partition.
    pending: bool,
    ended: bool,
    charged: usize,
}

impl<'p> Stage<'p> {
    fn new(
        input: BoxOperator<'p>,
        partition_by: &'p [Expr],
        order_by: &'p [SortKey],
        calls: Vec<(usize, &'p WindowCall)>,
    ) -> Stage<'p> {
        Stage {
            input: RowInput::new(input),
            partition_by,
            order_by,
            calls,
            key: RowKey::of_exprs(partition_by),
            rows: Vec::new(),
            given: 0,
            count: 0,
            pending: false,
            ended: false,
            charged: 0,
        }
    }

    /// Reads the next partition and computes the calls on it; `false` at the end.
    fn next_partition(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<bool> {
        cx.charge(-(std::mem::take(&mut self.charged) as isize))?;
        self.rows.clear();
        (self.given, self.count) = (0, 0);
        let mut first = Vec::new();
        let mut key = Vec::new();
        loop {
            if !std::mem::take(&mut self.pending) && (self.ended || !self.input.advance(cx)?) {
                self.ended = true;
                break;
            }
            if !self.partition_by.is_empty() {
                key.clear();
                self.key.encode_exprs(self.partition_by, self.input.row(), cx, &mut key)?;
                if self.count == 0 {
                    first.clone_from(&key);
                } else if key != first {
                    self.pending = true;
                    break;
                }
            }
            let bytes = row_bytes(self.input.row());
            self.charged += bytes;
            cx.charge(bytes as isize)?;
            self.rows.extend(self.input.take());
            self.count += 1;
        }
        if self.count == 0 {
            return Ok(false);
        }
        let width = self.width();
        let peers = Peers::new(&Partition { rows: &self.rows, width, count: self.count }, self.order_by, cx)?;
        let mut results = Vec::new();
        for (slot, call) in &self.calls {
            results.clear();
            let partition = Partition { rows: &self.rows, width, count: self.count };
            functions::compute(call, &partition, &peers, cx, &mut results)?;
            for (i, v) in results.drain(..).enumerate() {
                self.rows[i * width + slot] = v;
            }
        }
        Ok(true)
    }
}

impl Operator for Stage<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        let width = self.width();
        out.reset(width);
        while !out.is_full() {
            if self.given == self.count && !self.next_partition(cx)? {
                break;
            }
            while !out.is_full() && self.given < self.count {
                let row = &mut self.rows[self.given * width..(self.given + 1) * width];
                out.push(row.iter_mut().map(std::mem::take));
                self.given += 1;
            }
        }
        Ok(())
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        cx.charge(-(std::mem::take(&mut self.charged) as isize))?;
        self.rows.clear();
        (self.given, self.count) = (0, 0);
        (self.pending, self.ended) = (false, false);
        self.input.rewind(cx)
    }

    fn width(&self) -> usize {
        self.input.width()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_expr::{FrameBound, FrameUnit, RankFunction, SortKey, WindowCall, WindowFunction};
    use selkie_planner::plan::Plan;
    use selkie_types::{SqlType, Value};

    use crate::testing::{Fixture, aggregate, asc, desc, int, ints, shown, slot, values};

    type Frame = (FrameUnit, FrameBound, FrameBound);

    fn call(function: WindowFunction, partition: usize, order_by: Vec<SortKey>, frame: Frame) -> WindowCall {
        let ty = match &function {
            WindowFunction::Aggregate(a) => a.ty.clone(),
            WindowFunction::Rank(..) => SqlType::BIGINT,
        };
        WindowCall { function, partition_by: (0..partition).map(slot).collect(), order_by, frame, ty, nullable: true }
    }

    fn whole() -> Frame {
        (FrameUnit::Rows, FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing)
    }

    fn until_now() -> Frame {
        (FrameUnit::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)
    }

    fn rank(f: RankFunction, args: Vec<selkie_expr::Expr>) -> WindowFunction {
        WindowFunction::Rank(f, args)
    }

    fn window(input: Plan, calls: Vec<WindowCall>) -> Plan {
        Plan::Window { input: Box::new(input), calls }
    }

    #[test]
    fn ranks_within_partitions() {
        let input = ints(&[&[1, 4], &[2, 1], &[1, 1], &[1, 2], &[2, 3], &[1, 2]]);
        let c = |f, args| call(rank(f, args), 1, vec![asc(slot(1))], until_now());
        let calls = vec![
            c(RankFunction::RowNumber, vec![]),
            c(RankFunction::Rank, vec![]),
            c(RankFunction::DenseRank, vec![]),
            c(RankFunction::Ntile, vec![int(3)]),
            c(RankFunction::CumeDist, vec![]),
        ];
        let expected = [
            "1,1,1,1,1,1,0.25",
            "1,2,2,2,2,1,0.75",
            "1,2,3,2,2,2,0.75",
            "1,4,4,4,3,3,1",
            "2,1,1,1,1,1,0.5",
            "2,3,2,2,2,2,1",
        ];
        assert_eq!(Fixture::default().text(&window(input, calls)), expected);
    }

    #[test]
    fn navigation_looks_at_other_rows() {
        let rows: Vec<Vec<Option<i64>>> = vec![
            vec![Some(1), Some(1), Some(10)],
            vec![Some(1), Some(2), Some(20)],
            vec![Some(1), Some(2), None],
            vec![Some(1), Some(4), Some(40)],
        ];
        let c = |f, args, frame| call(rank(f, args), 1, vec![asc(slot(1))], frame);
        let following = (FrameUnit::Rows, FrameBound::Following(int(1)), FrameBound::Following(int(2)));
        let calls = vec![
            c(RankFunction::Lag, vec![slot(2)], until_now()),
            c(RankFunction::Lag, vec![slot(2), int(-1)], until_now()),
            c(RankFunction::Lead, vec![slot(2), int(2), int(-7)], until_now()),
            c(RankFunction::FirstValue, vec![slot(2)], following.clone()),
            c(RankFunction::LastValue, vec![slot(2)], until_now()),
            c(RankFunction::NthValue, vec![slot(2), int(2)], until_now()),
        ];
        let expected = [
            "1,1,10,NULL,20,NULL,20,10,NULL",
            "1,2,20,10,NULL,40,NULL,NULL,20",
            "1,2,NULL,20,40,-7,40,NULL,20",
            "1,4,40,NULL,NULL,-7,NULL,40,20",
        ];
        assert_eq!(Fixture::default().text(&window(values(&rows, 3), calls)), expected);
    }

    #[test]
    fn range_frames_go_by_the_order_key() {
        let rows: Vec<Vec<Option<i64>>> =
            [(1, None, 5), (1, Some(1), 6), (1, Some(2), 7), (1, Some(2), 8), (1, Some(4), 9)]
                .iter()
                .map(|(p, k, v)| vec![Some(*p), *k, Some(*v)])
                .collect();
        let sum = || WindowFunction::Aggregate(aggregate("sum", vec![slot(2)]));
        let near = || (FrameUnit::Range, FrameBound::Preceding(int(1)), FrameBound::Following(int(1)));
        let plan = window(
            values(&rows, 3),
            vec![call(sum(), 1, vec![asc(slot(1))], near()), call(sum(), 1, vec![desc(slot(1))], near())],
        );
        let expected = ["1,4,9,9,9", "1,2,7,21,21", "1,2,8,21,21", "1,1,6,21,21", "1,NULL,5,5,5"];
        assert_eq!(Fixture::default().text(&plan), expected);
    }

    #[test]
    fn percentiles_interpolate_or_pick() {
        let input = values(&[vec![Some(10)], vec![None], vec![Some(40)], vec![Some(20)]], 1);
        let double = |e: selkie_expr::Expr| e.cast_to(&SqlType::DOUBLE);
        let half = selkie_expr::Expr::constant(Value::Double(0.25), SqlType::DOUBLE);
        let order = || vec![asc(double(slot(0)))];
        let plan = window(
            input,
            vec![
                call(rank(RankFunction::Median, vec![double(slot(0))]), 0, order(), whole()),
                call(rank(RankFunction::PercentileCont, vec![half.clone()]), 0, order(), whole()),
                call(rank(RankFunction::PercentileDisc, vec![half]), 0, vec![asc(slot(0))], whole()),
            ],
        );
        assert_eq!(Fixture::default().text(&plan), ["NULL,20,15,10", "10,20,15,10", "20,20,15,10", "40,20,15,10"]);
    }

    #[test]
    fn a_wrong_number_of_buckets_is_refused() {
        let plan = window(ints(&[&[1]]), vec![call(rank(RankFunction::Ntile, vec![int(0)]), 0, vec![], whole())]);
        let e = Fixture::default().rows(&plan).unwrap_err();
        assert_eq!(e.message(), "Argument of NTILE must be greater than 0");
    }

    fn bound(i: i64) -> FrameBound {
        match i {
            -9 => FrameBound::UnboundedPreceding,
            9 => FrameBound::UnboundedFollowing,
            0 => FrameBound::CurrentRow,
            n if n < 0 => FrameBound::Preceding(int(-n)),
            n => FrameBound::Following(int(n)),
        }
    }

    proptest! {
        #[test]
        fn aggregates_over_frames_are_those_of_the_frames_rows(
            rows in prop::collection::vec((0i64..3, 0i64..6, prop::option::weighted(0.8, -5i64..5)), 0..40),
            start in prop::sample::select(vec![-9i64, -2, -1, 0, 1, 2]),
            end in prop::sample::select(vec![-2i64, -1, 0, 1, 2, 9]),
            range in any::<bool>(),
            name in prop::sample::select(vec!["sum", "count", "min", "max"]),
        ) {
            prop_assume!(start <= end);
            let mut sorted = rows.clone();
            sorted.sort_by_key(|r| (r.0, r.1));
            let unit = if range { FrameUnit::Range } else { FrameUnit::Rows };
            let frame = (unit, bound(start), bound(end));
            let input: Vec<Vec<Option<i64>>> = rows.iter().map(|r| vec![Some(r.0), Some(r.1), r.2]).collect();
            let function = WindowFunction::Aggregate(aggregate(name, vec![slot(2)]));
            let plan = window(values(&input, 3), vec![call(function, 1, vec![asc(slot(1))], frame)]);
            let expected: Vec<String> = sorted
                .iter()
                .enumerate()
                .map(|(i, r)| {
                    let inside = sorted.iter().enumerate().filter(|(j, o)| {
                        let distance = if range { o.1 - r.1 } else { *j as i64 - i as i64 };
                        o.0 == r.0 && (start == -9 || distance >= start) && (end == 9 || distance <= end)
                    });
                    let values: Vec<i64> = inside.filter_map(|(_, o)| o.2).collect();
                    let result = match name {
                        "count" => Some(values.len() as i64),
                        "sum" if values.is_empty() => None,
                        "sum" => Some(values.iter().sum()),
                        "min" => values.iter().min().copied(),
                        _ => values.iter().max().copied(),
                    };
                    let v = |v: Option<i64>| v.map_or(Value::Null, Value::Int);
                    shown(&[Value::Int(r.0), Value::Int(r.1), v(r.2), v(result)])
                })
                .collect();
            prop_assert_eq!(Fixture::tiny().text(&plan), expected);
        }
    }
}
