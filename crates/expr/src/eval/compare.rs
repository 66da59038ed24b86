//! Comparing values of one class.

use std::cmp::Ordering;

use selkie_types::{Collation, Decimal, Value};

use crate::ir::CmpOp;

/// Compares values that binding brought to one class: NULLs first, numbers by value, texts by the
/// collation (bytes without one), dates and times in time.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueCompare {
    /// Collation of texts.
    pub collation: Option<Collation>,
}

impl ValueCompare {
    /// By a collation, where texts are compared.
    pub fn new(collation: Option<Collation>) -> ValueCompare {
        ValueCompare { collation }
    }

    /// The order of two values; NULL is before everything.
    pub fn order(self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Bytes(a), Value::Bytes(b)) => match self.collation {
                Some(c) => c.compare(a, b),
                None => a.cmp(b),
            },
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) => Ordering::Less,
            (_, Value::Null) => Ordering::Greater,
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
            (Value::Time(a), Value::Time(b)) => a.cmp(b),
            _ => mixed(a, b),
        }
    }

    /// Whether two values are equal (NULL equals NULL).
    pub fn equal(self, a: &Value, b: &Value) -> bool {
        match (a, b, self.collation) {
            (Value::Bytes(a), Value::Bytes(b), Some(c)) => c.equal(a, b),
            _ => self.order(a, b) == Ordering::Equal,
        }
    }

    /// A comparison operator with three-valued logic.
    pub fn test(self, op: CmpOp, a: &Value, b: &Value) -> Option<bool> {
        if op == CmpOp::NullSafeEq {
            return Some(self.equal(a, b));
        }
        if a.is_null() || b.is_null() {
            return None;
        }
        Some(match op {
            CmpOp::Eq => self.equal(a, b),
            CmpOp::Ne => !self.equal(a, b),
            CmpOp::Lt => self.order(a, b).is_lt(),
            CmpOp::Le => self.order(a, b).is_le(),
            CmpOp::Gt => self.order(a, b).is_gt(),
            CmpOp::Ge => self.order(a, b).is_ge(),
            CmpOp::NullSafeEq => false,
        })
    }
}

/// Numbers of different variants, dates with dates of another kind; anything else by kind.
fn mixed(a: &Value, b: &Value) -> Ordering {
    use Value::*;
    match (a, b) {
        (Int(a), UInt(b)) => (*a as i128).cmp(&(*b as i128)),
        (UInt(a), Int(b)) => (*a as i128).cmp(&(*b as i128)),
        (Decimal(a), Int(b)) => a.cmp(&self::Decimal::from(*b)),
        (Decimal(a), UInt(b)) => a.cmp(&self::Decimal::from(*b)),
        (Int(a), Decimal(b)) => self::Decimal::from(*a).cmp(b),
        (UInt(a), Decimal(b)) => self::Decimal::from(*a).cmp(b),
        (Date(a), DateTime(b)) => selkie_types::DateTime::new(*a, 0).cmp(b),
        (DateTime(a), Date(b)) => a.cmp(&selkie_types::DateTime::new(*b, 0)),
        (Double(_) | Int(_) | UInt(_) | Decimal(_), Double(_) | Int(_) | UInt(_) | Decimal(_)) => {
            let (a, b) = (crate::func::args::double(a), crate::func::args::double(b));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(v: &Value) -> u8 {
    match v {
        Value::Null => 0,
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => 1,
        Value::Date(_) => 2,
        Value::Time(_) => 3,
        Value::DateTime(_) => 4,
        Value::Bytes(_) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_numbers_compare_by_value() {
        let c = ValueCompare::default();
        assert_eq!(c.order(&Value::Int(-1), &Value::UInt(u64::MAX)), Ordering::Less);
        assert_eq!(c.test(CmpOp::Eq, &Value::Int(2), &Value::Double(2.0)), Some(true));
        assert_eq!(c.test(CmpOp::Eq, &Value::Null, &Value::Int(1)), None);
        assert_eq!(c.test(CmpOp::NullSafeEq, &Value::Null, &Value::Null), Some(true));
    }
}
