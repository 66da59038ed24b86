//! Decimals: arithmetic, rounding, text and bytes.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::*;

fn d(s: &str) -> Decimal {
    Decimal::parse(s).unwrap_or_else(|| panic!("{s} is no number"))
}

fn hash_of(v: &Decimal) -> u64 {
    let mut h = DefaultHasher::new();
    v.hash(&mut h);
    h.finish()
}

#[test]
fn text_keeps_the_scale() {
    for s in [
        "0",
        "0.10",
        "-0.10",
        "123.456",
        "-1",
        "99999999999999999999999999999999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000001",
        "12345678901234567890123456789.123456789",
    ] {
        assert_eq!(d(s).to_string(), s);
    }
    assert_eq!(d("-0.00").to_string(), "0.00");
    assert_eq!(d("1e3").to_string(), "1000");
    assert_eq!(d("1.5e-3").to_string(), "0.0015");
    assert_eq!(d(".5").to_string(), "0.5");
    assert_eq!(d("5.").to_string(), "5");
    assert_eq!(Decimal::parse(""), None);
    assert_eq!(Decimal::parse("."), None);
    assert_eq!(Decimal::parse("1x"), None);
}

#[test]
fn prefixes() {
    let p = Decimal::parse_prefix(b" 12.3abc");
    assert_eq!((p.value.to_string().as_str(), p.used), ("12.3", 5));
    let p = Decimal::parse_prefix(b"1e");
    assert_eq!((p.value.to_string().as_str(), p.used), ("1", 1));
    assert_eq!(Decimal::parse_prefix(b"abc").used, 0);
    assert!(Decimal::parse_prefix(b"1e400").overflow);
    assert!(Decimal::parse_prefix(b"-1e999999999999999999999").overflow);
    assert!(Decimal::parse_prefix(b"1e-999999999999999999999").value.is_zero());
}

#[test]
fn results_as_mariadb_gives_them() {
    let div = |a: &str, b: &str| d(a).overflowing_div(&d(b), 4).map(|r| r.0);
    assert_eq!(div("1", "3").map(|r| r.round(4).to_string()).as_deref(), Some("0.3333"));
    assert_eq!(div("10.00", "3").map(|r| r.round(6).to_string()).as_deref(), Some("3.333333"));
    // The quotient keeps its whole last word: 1/3/7 is not 0.3333/7.
    let third = div("1", "3").unwrap_or_default();
    assert_eq!(third.overflowing_div(&d("7"), 4).map(|r| r.0.round(8).to_string()).as_deref(), Some("0.04761905"));
    assert_eq!(div("5", "0"), None);
    let a = d("12345678901234567890123456789.123456789").overflowing_mul(&d("98765432109876543210.123456789")).0;
    assert_eq!(a.to_string(), "1219326311370217952251181222111111111111126352689.891784789750190521");
    let b = d("1.23456789012345678901234567890123456789");
    assert_eq!(b.overflowing_mul(&b).0.round(38).to_string(), "1.52415787532388367504953515625666819230");
    assert_eq!(d("1.50").rem(&d("0.7")).map(|r| r.to_string()).as_deref(), Some("0.10"));
    assert_eq!(d("-7.5").rem(&d("2")).map(|r| r.to_string()).as_deref(), Some("-1.5"));
    assert_eq!(d("12345.6789").int_div(&d("0.001")).map(|r| r.to_string()).as_deref(), Some("12345678"));
    assert_eq!(d("2.55").round(1).to_string(), "2.6");
    assert_eq!(d("-2.5").round(0).to_string(), "-3");
    assert_eq!(d("125").round(-1).to_string(), "130");
    assert_eq!(d("155.5").round(-2).to_string(), "200");
    assert_eq!(d("1.5").round(5).to_string(), "1.50000");
    assert_eq!(d("-2.5").ceil().to_string(), "-2");
    assert_eq!(d("-2.5").floor().to_string(), "-3");
    assert_eq!(d("123456.789").to_column(5, 2).0.to_string(), "999.99");
    assert!(d("123456.789").to_column(5, 2).1);
    assert_eq!(d("0.1").overflowing_add(&d("0.20")).0.to_string(), "0.30");
    assert_eq!(d("1").round(i32::MIN).to_string(), "0");
}

#[test]
fn packed_form() {
    let mut out = Vec::new();
    d("1234567890.1234").write_binary(14, 4, &mut out);
    assert_eq!(out, [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
    out.clear();
    d("-1234567890.1234").write_binary(14, 4, &mut out);
    assert_eq!(out, [0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]);
    assert_eq!(Decimal::read_binary(&out, 14, 4), Some(d("-1234567890.1234")));
    assert_eq!(Decimal::read_binary(&[0xff; 7], 14, 4), None);
    assert_eq!(Decimal::read_binary(&[], 14, 4), None);
    assert_eq!(Decimal::read_binary(&[0x80; 200], 255, 4), None);
    assert_eq!(Decimal::read_binary(&[0x80; 200], 4, 200), None);
}

fn number() -> impl Strategy<Value = String> {
    ("-?[0-9]{1,30}", "[0-9]{0,20}").prop_map(|(a, b)| if b.is_empty() { a } else { format!("{a}.{b}") })
}

fn short_number() -> impl Strategy<Value = String> {
    ("-?[0-9]{1,9}", "[0-9]{1,6}").prop_map(|(a, b)| format!("{a}.{b}"))
}

proptest! {
    #[test]
    fn text_goes_both_ways(s in number()) {
        let v = d(&s);
        prop_assert_eq!(&d(&v.to_string()), &v);
        prop_assert_eq!(v.to_f64(), s.parse::<f64>().unwrap_or(f64::NAN));
    }

    #[test]
    fn sums_undo(a in number(), b in number()) {
        let (a, b) = (d(&a), d(&b));
        let sum = a.overflowing_add(&b).0;
        prop_assert_eq!(sum.overflowing_sub(&b).0, a.clone());
        prop_assert_eq!(b.overflowing_add(&a).0, sum);
        prop_assert_eq!(a.cmp(&b), a.overflowing_sub(&b).0.cmp(&Decimal::ZERO));
    }

    #[test]
    fn products_and_quotients_against_integers(a in short_number(), b in short_number()) {
        let (x, y) = (d(&a), d(&b));
        let (mx, my) = (x.mantissa().unwrap_or(0), y.mantissa().unwrap_or(0));
        let (p, overflow) = x.overflowing_mul(&y);
        prop_assert!(!overflow);
        prop_assert_eq!(p.mantissa(), Some(mx * my));
        prop_assert_eq!(p.scale(), x.scale() + y.scale());
        if my != 0 {
            let q = x.overflowing_div(&y, 4).map(|r| r.0).unwrap_or_default();
            let shift = POW10[(q.scale() + y.scale() - x.scale()) as usize];
            prop_assert_eq!(q.mantissa(), Some(mx * shift / my));
            let r = x.rem(&y).unwrap_or_default();
            let whole = x.int_div(&y).unwrap_or_default();
            prop_assert_eq!(whole.overflowing_mul(&y).0.overflowing_add(&r).0, x);
        }
    }

    #[test]
    fn equal_values_hash_alike(a in number(), zeros in 0u8..20) {
        let a = d(&a);
        let b = a.round(a.scale() as i32 + zeros as i32);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(hash_of(&a), hash_of(&b));
    }

    #[test]
    fn packed_form_orders_and_goes_both_ways(a in number(), b in number()) {
        let (a, b) = (d(&a), d(&b));
        let (mut pa, mut pb) = (Vec::new(), Vec::new());
        a.write_binary(55, 20, &mut pa);
        b.write_binary(55, 20, &mut pb);
        prop_assert_eq!(pa.cmp(&pb), a.cmp(&b));
        prop_assert_eq!(pa.len(), Decimal::binary_len(55, 20));
        prop_assert_eq!(Decimal::read_binary(&pa, 55, 20), Some(a));
    }

    #[test]
    fn long_and_short_ways_agree(a in short_number(), b in short_number(), up in 20u8..38) {
        // The same numbers with so many zeros that the wide path is taken.
        let (x, y) = (d(&a), d(&b));
        let (wx, wy) = (x.round(up as i32 + 20), y.round(up as i32 + 20));
        prop_assert_eq!(wx.overflowing_add(&wy).0, x.overflowing_add(&y).0);
        prop_assert_eq!(wx.cmp(&wy), x.cmp(&y));
        prop_assert_eq!(wx.round(2), x.round(2));
        prop_assert_eq!(wx.floor(), x.floor());
        prop_assert_eq!(wx.rem(&wy), x.rem(&y));
    }

    #[test]
    fn any_bytes_parse_without_panic(b in proptest::collection::vec(any::<u8>(), 0..40)) {
        let p = Decimal::parse_prefix(&b);
        prop_assert!(p.used <= b.len());
    }
}
