//! Keys of rows, for hashing, grouping and sorting: the bytes of two keys compare as SQL compares the values (NULL first),
//! and are equal exactly where the values are equal (or both NULL).
//!
//! Unlike index keys these do not depend on a type's width, precision or length, which the value of an expression may
//! exceed: only its family and collation count. No key is the beginning of another, so that keys can be put together.

use selkie_expr::{Expr, ExprKind, SortKey};
use selkie_types::{Collation, Decimal, SqlResult, SqlType, Value};

use crate::context::ExecCtx;

/// First byte of NULL, below that of any value.
const NULL: u8 = 0;
/// First byte of a value (of a negative number where the number does not say so itself).
const VALUE: u8 = 1;
/// First byte of a non-negative integer or of a decimal zero.
const ZERO_UP: u8 = 2;
/// First byte of a positive decimal.
const POSITIVE: u8 = 3;

/// How the values of one type compare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    Int,
    Double,
    Decimal,
    Temporal,
    Text(Collation),
}

impl Family {
    fn of(ty: &SqlType) -> Family {
        match ty {
            SqlType::Float { .. } | SqlType::Double { .. } => Family::Double,
            SqlType::Decimal { .. } => Family::Decimal,
            SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
                Family::Temporal
            }
            SqlType::Text { collation, .. } => Family::Text(*collation),
            _ => Family::Int,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Part {
    family: Family,
    descending: bool,
}

/// How to turn values of given types into comparable bytes.
#[derive(Debug, Clone)]
pub struct RowKey {
    parts: Vec<Part>,
}

impl RowKey {
    /// For values of these types, each possibly NULL.
    pub fn new<'a>(types: impl IntoIterator<Item = &'a SqlType>) -> RowKey {
        let part = |ty| Part { family: Family::of(ty), descending: false };
        RowKey { parts: types.into_iter().map(part).collect() }
    }

    /// For the values of expressions.
    pub fn of_exprs(exprs: &[Expr]) -> RowKey {
        RowKey::new(exprs.iter().map(|e| &e.ty))
    }

    /// For the values of sort keys, in their directions.
    pub fn of_sort_keys(keys: &[SortKey]) -> RowKey {
        let part = |k: &SortKey| Part { family: Family::of(&k.expr.ty), descending: k.descending };
        RowKey { parts: keys.iter().map(part).collect() }
    }

    /// Appends the key of some values.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) {
        for (v, part) in values.iter().zip(&self.parts) {
            put(v, *part, out);
        }
    }

    /// Appends the key of the `i`th value.
    pub fn encode_one(&self, i: usize, value: &Value, out: &mut Vec<u8>) {
        put(value, self.parts[i], out);
    }

    /// Appends the key of the values of `exprs` on a row. Returns whether a value is NULL.
    pub fn encode_exprs(
        &self,
        exprs: &[Expr],
        row: &[Value],
        cx: &mut ExecCtx<'_>,
        out: &mut Vec<u8>,
    ) -> SqlResult<bool> {
        let mut has_null = false;
        for (e, part) in exprs.iter().zip(&self.parts) {
            has_null |= put_expr(e, *part, row, cx, out)?;
        }
        Ok(has_null)
    }

    /// Appends the `i`th part: the value of `e` on a row.
    pub fn encode_part(
        &self,
        i: usize,
        e: &Expr,
        row: &[Value],
        cx: &mut ExecCtx<'_>,
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        put_expr(e, self.parts[i], row, cx, out).map(|_| ())
    }

    /// Appends the key of the values of sort keys on a row.
    pub fn encode_sort(
        &self,
        keys: &[SortKey],
        row: &[Value],
        cx: &mut ExecCtx<'_>,
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        for (k, part) in keys.iter().zip(&self.parts) {
            put_expr(&k.expr, *part, row, cx, out)?;
        }
        Ok(())
    }

    /// Whether two values for the `i`th place are equal (NULL to NULL too).
    pub fn same(&self, i: usize, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => x == y,
            (Value::Null, other) | (other, Value::Null) => other.is_null(),
            _ => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                self.encode_one(i, a, &mut x);
                self.encode_one(i, b, &mut y);
                x == y
            }
        }
    }
}

fn put_expr(e: &Expr, part: Part, row: &[Value], cx: &mut ExecCtx<'_>, out: &mut Vec<u8>) -> SqlResult<bool> {
    // A plain slot needs no copy of its value.
    if let ExprKind::Column(slot) = e.kind
        && let Some(v) = row.get(slot)
    {
        put(v, part, out);
        return Ok(v.is_null());
    }
    let v = e.eval(row, cx)?;
    put(&v, part, out);
    Ok(v.is_null())
}

fn put(v: &Value, part: Part, out: &mut Vec<u8>) {
    let start = out.len();
    put_ascending(v, part.family, out);
    if part.descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn put_ascending(v: &Value, family: Family, out: &mut Vec<u8>) {
    match (v, family) {
        (Value::Null, _) => out.push(NULL),
        (Value::Int(i), Family::Double) => put_double(*i as f64, out),
        (Value::UInt(u), Family::Double) => put_double(*u as f64, out),
        (Value::Decimal(d), Family::Double) => put_double(d.to_f64(), out),
        (Value::Int(i), Family::Decimal) => put_decimal(&Decimal::from(*i), out),
        (Value::UInt(u), Family::Decimal) => put_decimal(&Decimal::from(*u), out),
        (Value::Int(i), _) => put_int(if *i < 0 { VALUE } else { ZERO_UP }, *i as u64, out),
        (Value::UInt(u), _) => put_int(ZERO_UP, *u, out),
        (Value::Double(d), _) => put_double(*d, out),
        (Value::Decimal(d), _) => put_decimal(d, out),
        (Value::Bytes(b), Family::Text(collation)) => {
            out.push(VALUE);
            collation.weights(b, out);
        }
        (Value::Bytes(b), _) => {
            out.push(VALUE);
            Collation::BINARY.weights(b, out);
        }
        (Value::Date(d), _) => put_int(VALUE, d.at_midnight().0, out),
        (Value::DateTime(d), _) => put_int(VALUE, d.0, out),
        (Value::Time(t), _) => put_int(VALUE, t.0 as u64 ^ 1 << 63, out),
    }
}

fn put_int(tag: u8, bits: u64, out: &mut Vec<u8>) {
    let mut bytes = [tag; 9];
    bytes[1..].copy_from_slice(&bits.to_be_bytes());
    out.extend_from_slice(&bytes);
}

fn put_double(v: f64, out: &mut Vec<u8>) {
    // Adding a positive zero makes the negative one positive.
    let bits = (v + 0.0).to_bits();
    put_int(VALUE, if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }, out);
}

/// Decimals of any scale: sign, decimal exponent, pairs of significant digits, an end; inverted below zero.
fn put_decimal(d: &Decimal, out: &mut Vec<u8>) {
    if d.is_zero() {
        out.push(ZERO_UP);
        return;
    }
    let mut text = [0u8; 20];
    let mut long = Vec::new();
    let (digits, scale): (&[u8], usize) = match d.mantissa().map(i128::unsigned_abs).and_then(|m| u64::try_from(m).ok())
    {
        Some(mut m) => {
            let mut at = text.len();
            while m > 0 {
                at -= 1;
                text[at] = (m % 10) as u8;
                m /= 10;
            }
            (&text[at..], d.scale() as usize)
        }
        None => {
            d.write_to(&mut long);
            let point = long.iter().position(|&b| b == b'.');
            let scale = point.map_or(0, |p| long.len() - p - 1);
            long.retain(u8::is_ascii_digit);
            long.iter_mut().for_each(|b| *b -= b'0');
            let zeros = long.iter().take_while(|&&b| b == 0).count();
            (&long[zeros..], scale)
        }
    };
    let negative = d.is_negative();
    out.push(if negative { VALUE } else { POSITIVE });
    let start = out.len();
    // 0.d1d2d3… × 10^exponent
    out.push((digits.len() as i32 - scale as i32 + 128).clamp(0, 255) as u8);
    let kept = digits.len() - digits.iter().rev().take_while(|&&b| b == 0).count();
    for pair in digits[..kept].chunks(2) {
        out.push(pair[0] * 10 + pair.get(1).copied().unwrap_or(0) + 1);
    }
    out.push(0);
    if negative {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selkie_types::convert::compare;
    use selkie_types::{DateTime, Time};

    fn key(ty: &SqlType, v: &Value, descending: bool) -> Vec<u8> {
        let mut out = Vec::new();
        put(v, Part { family: Family::of(ty), descending }, &mut out);
        out
    }

    fn check(ty: &SqlType, a: Value, b: Value) -> Result<(), TestCaseError> {
        let order = compare(&a, &b, ty.collation().unwrap_or(Collation::BINARY));
        prop_assert_eq!(key(ty, &a, false).cmp(&key(ty, &b, false)), order, "{:?} {:?}", &a, &b);
        prop_assert_eq!(key(ty, &a, true).cmp(&key(ty, &b, true)), order.reverse(), "{:?} {:?}", &a, &b);
        Ok(())
    }

    fn integer() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Int),
            (-3i64..3).prop_map(Value::Int),
            any::<u64>().prop_map(Value::UInt)
        ]
    }

    fn decimal() -> impl Strategy<Value = Value> {
        let text = |t: String| Value::Decimal(Decimal::parse_prefix(t.as_bytes()).value);
        prop_oneof![
            Just(Value::Null),
            "-?[0-9]{1,3}(\\.[0-9]{1,3})?".prop_map(text),
            "-?[0-9]{20,40}(\\.[0-9]{1,30})?".prop_map(text),
            "-?0?\\.0{0,5}[0-9]{1,4}".prop_map(text),
        ]
    }

    proptest! {
        #[test]
        fn integers_order(a in integer(), b in integer()) {
            check(&SqlType::BIGINT, a, b)?;
        }

        #[test]
        fn decimals_order(a in decimal(), b in decimal()) {
            let ty = SqlType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false };
            check(&ty, a, b)?;
        }

        #[test]
        fn doubles_order(a in any::<i32>(), b in any::<i32>(), c in -3i32..3, d in -3i32..3) {
            check(&SqlType::DOUBLE, Value::Double(a as f64 / 3.0), Value::Double(b as f64 / 3.0))?;
            check(&SqlType::DOUBLE, Value::Double(c as f64), Value::Double(d as f64))?;
        }

        #[test]
        fn texts_order(a in "[ab \\x00\\t]{0,4}", b in "[AB \\x00\\t]{0,4}") {
            for collation in [Collation::BINARY, Collation::UTF8MB4_GENERAL_CI] {
                check(&SqlType::varchar(2, collation), Value::text(&a), Value::text(&b))?;
            }
        }

        #[test]
        fn times_order(a in any::<i32>(), b in any::<i32>()) {
            check(&SqlType::Time { fsp: 6 }, Value::Time(Time(a as i64)), Value::Time(Time(b as i64)))?;
            let at = |v: i32| Value::DateTime(DateTime(v as u32 as u64));
            check(&SqlType::DateTime { fsp: 6 }, at(a), at(b))?;
        }
    }
}
