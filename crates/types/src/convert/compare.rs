//! Order, equality and hashes of values.
//!
//! Numbers of different variants compare by value. Integers are exact against everything; a decimal
//! number with a fraction is compared with a double that has one as a double. NULL comes first.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::{Collation, Decimal, Value};

/// 2^53: doubles from here on are integers, below are exact in `i64`.
const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Compares two values of like types; text by the collation. Values of unlike kinds (which a plan does
/// not compare) have some fixed order.
pub fn compare(a: &Value, b: &Value, collation: Collation) -> Ordering {
    use Value::*;
    match (a, b) {
        (Int(x), Int(y)) => x.cmp(y),
        (Bytes(x), Bytes(y)) => {
            if collation.is_binary() {
                x.cmp(y)
            } else {
                collation.compare(x, y)
            }
        }
        (UInt(x), UInt(y)) => x.cmp(y),
        (Int(x), UInt(y)) => (*x as i128).cmp(&(*y as i128)),
        (UInt(x), Int(y)) => (*x as i128).cmp(&(*y as i128)),
        (Double(x), Double(y)) => compare_f64(*x, *y),
        (Decimal(x), Decimal(y)) => x.cmp(y),
        (Date(x), Date(y)) => x.cmp(y),
        (Time(x), Time(y)) => x.cmp(y),
        (DateTime(x), DateTime(y)) => x.cmp(y),
        (Date(x), DateTime(y)) => x.at_midnight().cmp(y),
        (DateTime(x), Date(y)) => x.cmp(&y.at_midnight()),
        (Decimal(x), Int(y)) => x.cmp(&(*y).into()),
        (Decimal(x), UInt(y)) => x.cmp(&(*y).into()),
        (Int(x), Decimal(y)) => crate::Decimal::from(*x).cmp(y),
        (UInt(x), Decimal(y)) => crate::Decimal::from(*x).cmp(y),
        (Double(x), Int(y)) => compare_f64_int(*x, *y as i128),
        (Double(x), UInt(y)) => compare_f64_int(*x, *y as i128),
        (Int(x), Double(y)) => compare_f64_int(*y, *x as i128).reverse(),
        (UInt(x), Double(y)) => compare_f64_int(*y, *x as i128).reverse(),
        (Double(x), Decimal(y)) => compare_f64_decimal(*x, y),
        (Decimal(x), Double(y)) => compare_f64_decimal(*y, x).reverse(),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(v: &Value) -> u8 {
    match v {
        Value::Null => 0,
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => 1,
        Value::Time(_) => 2,
        Value::Date(_) | Value::DateTime(_) => 3,
        Value::Bytes(_) => 4,
    }
}

fn compare_f64(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()).reverse())
}

fn compare_f64_int(x: f64, y: i128) -> Ordering {
    if x.is_nan() {
        return Ordering::Less;
    }
    // The cast cuts at the limits of i128, which no SQL integer reaches.
    let whole = x.trunc();
    (whole as i128).cmp(&y).then_with(|| compare_f64(x, whole))
}

fn compare_f64_decimal(x: f64, y: &Decimal) -> Ordering {
    if x == x.trunc() && x.abs() < 1e38 {
        return Decimal::from_mantissa(x as i128, 0).cmp(y);
    }
    compare_f64(x, y.to_f64())
}

/// Feeds a hash that is equal for values that [`compare`] equal.
pub fn hash_value(v: &Value, collation: Collation, state: &mut dyn Hasher) {
    match v {
        Value::Null => state.write_u8(0),
        Value::Int(i) => state.write_i64(*i),
        Value::UInt(u) => hash_integer(*u as i128, state),
        Value::Double(d) => {
            if *d == d.trunc() && d.abs() < 1e38 {
                hash_integer(*d as i128, state);
            } else {
                state.write_u64(d.to_bits());
            }
        }
        Value::Decimal(d) => match d.normalized() {
            Some((m, 0)) => hash_integer(m, state),
            _ => {
                let f = d.to_f64();
                // A fraction lost in the double must not make it look like an integer's hash.
                if f == f.trunc() && f.abs() < EXACT_LIMIT { state.write_u8(1) } else { state.write_u64(f.to_bits()) }
            }
        },
        Value::Date(d) => state.write_u64(d.at_midnight().0),
        Value::DateTime(d) => state.write_u64(d.0),
        Value::Time(t) => state.write_i64(t.0),
        Value::Bytes(b) => {
            if collation.is_binary() {
                state.write(b);
                state.write_u8(0xff);
            } else {
                collation.hash(b, state);
            }
        }
    }
}

fn hash_integer(i: i128, state: &mut dyn Hasher) {
    match i64::try_from(i) {
        Ok(small) => state.write_i64(small),
        Err(_) => state.write_i128(i),
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use proptest::prelude::*;

    use super::{compare, hash_value};
    use crate::{Collation, Decimal, Value};

    fn hash(v: &Value) -> u64 {
        let mut h = DefaultHasher::new();
        hash_value(v, Collation::BINARY, &mut h);
        h.finish()
    }

    fn number() -> impl Strategy<Value = Value> {
        let small = -5i64..5;
        prop_oneof![
            any::<i64>().prop_map(Value::Int),
            small.clone().prop_map(Value::Int),
            any::<u64>().prop_map(Value::UInt),
            small.clone().prop_map(|v| Value::Double(v as f64 / 2.0)),
            any::<i64>().prop_map(|v| Value::Double(v as f64)),
            (any::<i64>(), 0u8..20).prop_map(|(m, s)| Value::Decimal(Decimal::from_mantissa(m as i128, s))),
            small.prop_map(|v| Value::Decimal(Decimal::from_mantissa(v as i128 * 50, 2))),
        ]
    }

    proptest! {
        #[test]
        fn numbers_have_one_order(a in number(), b in number(), c in number()) {
            let by = |x: &Value, y: &Value| compare(x, y, Collation::BINARY);
            prop_assert_eq!(by(&a, &b), by(&b, &a).reverse());
            if by(&a, &b).is_le() && by(&b, &c).is_le() {
                prop_assert!(by(&a, &c).is_le());
            }
            if by(&a, &b).is_eq() {
                prop_assert_eq!(hash(&a), hash(&b));
            }
        }
    }

    #[test]
    fn big_integers_are_exact_against_doubles() {
        let d = Value::Double(9_007_199_254_740_992.0);
        assert!(compare(&Value::Int(9_007_199_254_740_993), &d, Collation::BINARY).is_gt());
        assert!(compare(&Value::UInt(u64::MAX), &Value::Double(1.8446744073709552e19), Collation::BINARY).is_lt());
    }
}
