//! COUNT, MIN, MAX, ANY_VALUE and the bit aggregates.

use std::cmp::Ordering;

use selkie_types::{Collation, SqlResult, SqlType, Value, convert};

use crate::context::EvalContext;
use crate::eval::ValueCompare;
use crate::func::arith::pattern;
use crate::ir::{Accumulator, AggregateFunction};

type Ctx<'a> = &'a mut dyn EvalContext;

/// COUNT(*), COUNT(e), COUNT(DISTINCT a, b).
#[derive(Debug)]
pub(super) struct Count;

impl AggregateFunction for Count {
    fn name(&self) -> &str {
        "count"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(CountState(0))
    }
}

struct CountState(i64);

impl Accumulator for CountState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        self.0 += !args.iter().any(Value::is_null) as i64;
        Ok(())
    }
    fn retract(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<bool> {
        self.0 -= !args.iter().any(Value::is_null) as i64;
        Ok(true)
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(Value::Int(self.0))
    }
}

/// MIN and MAX. ENUM and SET compare by their text.
#[derive(Debug)]
pub(super) struct Extreme {
    pub max: bool,
    pub collation: Option<Collation>,
    pub by_text: Option<SqlType>,
}

impl AggregateFunction for Extreme {
    fn name(&self) -> &str {
        if self.max { "max" } else { "min" }
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        let wanted = if self.max { Ordering::Greater } else { Ordering::Less };
        Box::new(ExtremeState {
            wanted,
            by: ValueCompare::new(self.collation),
            by_text: self.by_text.clone(),
            best: Value::Null,
        })
    }
}

struct ExtremeState {
    wanted: Ordering,
    by: ValueCompare,
    by_text: Option<SqlType>,
    best: Value,
}

impl Accumulator for ExtremeState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        let Some(v) = args.first().filter(|v| !v.is_null()) else { return Ok(()) };
        if self.best.is_null() {
            self.best = v.clone();
            return Ok(());
        }
        let order = match &self.by_text {
            Some(ty) => {
                let (a, b) = (convert::text_of(v, ty), convert::text_of(&self.best, ty));
                self.by.collation.unwrap_or(Collation::BINARY).compare(&a, &b)
            }
            None => self.by.order(v, &self.best),
        };
        if order == self.wanted {
            self.best = v.clone();
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(self.best.clone())
    }
    fn memory(&self) -> usize {
        match &self.best {
            Value::Bytes(b) => b.len(),
            _ => 0,
        }
    }
}

/// ANY_VALUE: the first one.
#[derive(Debug)]
pub(super) struct AnyValue;

impl AggregateFunction for AnyValue {
    fn name(&self) -> &str {
        "any_value"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(AnyState(None))
    }
}

struct AnyState(Option<Value>);

impl Accumulator for AnyState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if self.0.is_none() {
            self.0 = args.first().cloned();
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(self.0.clone().unwrap_or_default())
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum BitOp {
    And,
    Or,
    Xor,
}

/// BIT_AND, BIT_OR, BIT_XOR: of no rows all ones or zero.
#[derive(Debug)]
pub(super) struct Bits(pub BitOp);

impl AggregateFunction for Bits {
    fn name(&self) -> &str {
        match self.0 {
            BitOp::And => "bit_and",
            BitOp::Or => "bit_or",
            BitOp::Xor => "bit_xor",
        }
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(BitsState(self.0, if matches!(self.0, BitOp::And) { u64::MAX } else { 0 }))
    }
}

struct BitsState(BitOp, u64);

impl Accumulator for BitsState {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if let Some(v) = args.first().filter(|v| !v.is_null()) {
            let b = pattern(v);
            match self.0 {
                BitOp::And => self.1 &= b,
                BitOp::Or => self.1 |= b,
                BitOp::Xor => self.1 ^= b,
            }
        }
        Ok(())
    }
    fn retract(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<bool> {
        match (self.0, args.first()) {
            (BitOp::Xor, Some(v)) => {
                if !v.is_null() {
                    self.1 ^= pattern(v);
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(Value::UInt(self.1))
    }
}
