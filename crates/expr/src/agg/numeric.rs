//! SUM, AVG, and the variances.

use selkie_types::{Decimal, SqlResult, Value, sql_err};

use crate::context::EvalContext;
use crate::func::args;
use crate::ir::{Accumulator, AggregateFunction};

type Ctx<'a> = &'a mut dyn EvalContext;

fn some(args: &[Value]) -> Option<&Value> {
    args.first().filter(|v| !v.is_null())
}

/// A sum that is exact: integers in 128 bits as long as they fit, decimals beside them.
#[derive(Default)]
struct Exact {
    int: i128,
    decimal: Option<Decimal>,
    count: u64,
}

impl Exact {
    fn add(&mut self, v: &Value, sign: i128) {
        match v {
            Value::Decimal(d) => {
                let d = if sign < 0 { d.neg() } else { d.clone() };
                self.decimal = Some(match self.decimal.take() {
                    Some(s) => s.overflowing_add(&d).0,
                    None => d,
                });
            }
            v => self.int += args::wide(v) * sign,
        }
        self.count = self.count.wrapping_add_signed(sign as i64);
    }

    fn total(&self) -> Decimal {
        let int = Decimal::from_mantissa(self.int, 0);
        match &self.decimal {
            Some(d) if self.int == 0 => d.clone(),
            Some(d) => d.overflowing_add(&int).0,
            None => int,
        }
    }
}

/// SUM of integers.
#[derive(Debug)]
pub(super) struct SumInt;

/// SUM of decimals.
#[derive(Debug)]
pub(super) struct SumDecimal {
    pub scale: u8,
}

struct SumState {
    sum: Exact,
    scale: u8,
}

impl AggregateFunction for SumInt {
    fn name(&self) -> &str {
        "sum"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(SumState { sum: Exact::default(), scale: 0 })
    }
}

impl AggregateFunction for SumDecimal {
    fn name(&self) -> &str {
        "sum"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(SumState { sum: Exact::default(), scale: self.scale })
    }
}

impl Accumulator for SumState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = some(args) {
            self.sum.add(v, 1);
        }
        Ok(())
    }
    fn retract(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<bool> {
        if let Some(v) = some(args) {
            self.sum.add(v, -1);
        }
        Ok(true)
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        if self.sum.count == 0 {
            return Ok(Value::Null);
        }
        let t = self.sum.total();
        Ok(Value::Decimal(if t.scale() == self.scale { t } else { t.round(self.scale as i32) }))
    }
}

/// SUM of doubles.
#[derive(Debug)]
pub(super) struct SumReal;

struct SumRealState {
    sum: f64,
    any: bool,
}

impl AggregateFunction for SumReal {
    fn name(&self) -> &str {
        "sum"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(SumRealState { sum: 0.0, any: false })
    }
}

impl Accumulator for SumRealState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = some(args) {
            self.sum += args::double(v);
            self.any = true;
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        if !self.any {
            return Ok(Value::Null);
        }
        if !self.sum.is_finite() {
            return Err(sql_err!(ER_DATA_OUT_OF_RANGE, "DOUBLE", "sum"));
        }
        Ok(Value::Double(self.sum))
    }
}

/// AVG of integers and decimals.
#[derive(Debug)]
pub(super) struct AvgExact {
    pub scale: u8,
    pub increment: u8,
}

struct AvgState {
    sum: Exact,
    scale: u8,
    increment: u8,
}

impl AggregateFunction for AvgExact {
    fn name(&self) -> &str {
        "avg"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(AvgState { sum: Exact::default(), scale: self.scale, increment: self.increment })
    }
}

impl Accumulator for AvgState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = some(args) {
            self.sum.add(v, 1);
        }
        Ok(())
    }
    fn retract(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<bool> {
        if let Some(v) = some(args) {
            self.sum.add(v, -1);
        }
        Ok(true)
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        let n = Decimal::from(self.sum.count);
        Ok(match self.sum.total().overflowing_div(&n, self.increment) {
            Some((q, _)) => Value::Decimal(q.round(self.scale as i32)),
            None => Value::Null,
        })
    }
}

/// AVG of doubles.
#[derive(Debug)]
pub(super) struct AvgReal;

struct AvgRealState {
    sum: f64,
    count: u64,
}

impl AggregateFunction for AvgReal {
    fn name(&self) -> &str {
        "avg"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(AvgRealState { sum: 0.0, count: 0 })
    }
}

impl Accumulator for AvgRealState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = some(args) {
            self.sum += args::double(v);
            self.count += 1;
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(if self.count == 0 { Value::Null } else { Value::Double(self.sum / self.count as f64) })
    }
}

/// VARIANCE, VAR_POP, VAR_SAMP and their roots, by Welford's running sums.
#[derive(Debug)]
pub(super) struct Variance {
    pub root: bool,
    pub sample: bool,
}

struct VarianceState {
    root: bool,
    sample: bool,
    count: u64,
    mean: f64,
    squares: f64,
}

impl AggregateFunction for Variance {
    fn name(&self) -> &str {
        match (self.root, self.sample) {
            (true, true) => "stddev_samp",
            (true, false) => "std",
            (false, true) => "var_samp",
            (false, false) => "variance",
        }
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(VarianceState { root: self.root, sample: self.sample, count: 0, mean: 0.0, squares: 0.0 })
    }
}

impl Accumulator for VarianceState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = some(args) {
            let x = args::double(v);
            self.count += 1;
            if self.count == 1 {
                self.mean = x;
            } else {
                let before = self.mean;
                self.mean = before + (x - before) / self.count as f64;
                self.squares += (x - before) * (x - self.mean);
            }
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        let least = if self.sample { 2 } else { 1 };
        if self.count < least {
            return Ok(Value::Null);
        }
        let variance = if self.count == 1 { 0.0 } else { self.squares / (self.count - self.sample as u64) as f64 };
        Ok(Value::Double(if self.root { variance.sqrt() } else { variance }))
    }
}
