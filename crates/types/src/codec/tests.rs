//! Keys order as values do, rows give back what was put in, and no bytes make the readers panic.

use std::cmp::Ordering;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::Union;

use crate::codec::{
    KeyPart, RowLayout, ValueRef, decode_key, decode_key_part, encode_key, encode_key_part, encode_key_prefix,
    hash_key, key_len, key_part_is_reversible, key_part_len, key_part_width, prefix_successor,
};
use crate::{Collation, Date, DateTime, Decimal, EnumDef, IntWidth, SqlType, TextKind, Time, TimeZone, Value};

const UTC: TimeZone = TimeZone::Offset(0);

fn int(width: IntWidth, unsigned: bool) -> SqlType {
    SqlType::Int { width, unsigned, zerofill: false, display: 11 }
}

fn decimal(precision: u8, scale: u8) -> SqlType {
    SqlType::Decimal { precision, scale, unsigned: false, zerofill: false }
}

fn text(kind: TextKind, len: u32, collation: &str) -> SqlType {
    SqlType::Text { kind, len, collation: Collation::by_name(collation).expect("known collation") }
}

fn members(n: usize) -> Arc<EnumDef> {
    let members = (0..n).map(|i| format!("m{i}")).collect();
    Arc::new(EnumDef { members, collation: Collation::UTF8MB4_GENERAL_CI })
}

/// A type with values of it, NULL not among them.
fn typed_value(ty: SqlType) -> BoxedStrategy<Value> {
    match &ty {
        SqlType::Null => Just(Value::Null).boxed(),
        SqlType::Int { width, unsigned, .. } => {
            let bits = match width {
                IntWidth::Tiny => 8,
                IntWidth::Small => 16,
                IntWidth::Medium => 24,
                IntWidth::Int => 32,
                IntWidth::Big => 64,
            };
            if *unsigned {
                prop_oneof![any::<u64>(), 0u64..300].prop_map(move |v| Value::UInt(v >> (64 - bits))).boxed()
            } else {
                let near = (-300i64..300).prop_map(move |v| v << (64 - bits) >> (64 - bits));
                prop_oneof![any::<i64>().prop_map(move |v| v >> (64 - bits)), near].prop_map(Value::Int).boxed()
            }
        }
        SqlType::Bit(n) => {
            let n = *n as u32;
            any::<u64>().prop_map(move |v| Value::UInt(v >> (64 - n))).boxed()
        }
        SqlType::Year(_) => prop_oneof![Just(0i64), 1901i64..2156].prop_map(Value::Int).boxed(),
        SqlType::Float { .. } => any::<f32>().prop_map(|v| Value::Double(v as f64)).boxed(),
        SqlType::Double { .. } => prop_oneof![
            any::<f64>(),
            proptest::sample::select(vec![0.0, -0.0, 1.0, -1.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN])
        ]
        .prop_map(Value::Double)
        .boxed(),
        SqlType::Decimal { precision, scale, .. } => {
            let (precision, scale) = (*precision, *scale);
            let limit = 10i128.pow(precision.min(38) as u32);
            prop_oneof![(-1000i128..1000), any::<i128>()]
                .prop_map(move |v| Value::Decimal(Decimal::from_mantissa(v % limit, scale)))
                .boxed()
        }
        SqlType::Date => prop_oneof![Just(Date(0)), date()].prop_map(Value::Date).boxed(),
        SqlType::Time { .. } => {
            let most = ((838 * 60 + 59) * 60 + 59) * 1_000_000i64 + 999_999;
            (-most..=most).prop_map(|v| Value::Time(Time(v))).boxed()
        }
        SqlType::DateTime { .. } => {
            (date(), 0u64..86_400_000_000).prop_map(|(d, t)| Value::DateTime(DateTime::new(d, t))).boxed()
        }
        SqlType::Timestamp { .. } => prop_oneof![
            Just(Value::DateTime(DateTime(0))),
            (1i64..2_147_483_647_000_000).prop_map(|micros| Value::DateTime(UTC.to_local(micros)))
        ]
        .boxed(),
        SqlType::Text { kind, len, collation } if collation.is_binary() => {
            let len = *len as usize;
            let exact = *kind == TextKind::Char;
            let byte = prop_oneof![Just(0u8), Just(1), Just(0xFF), any::<u8>()];
            proptest::collection::vec(byte, if exact { len..=len } else { 0..=len.min(12) })
                .prop_map(|b| Value::bytes(&b))
                .boxed()
        }
        SqlType::Text { kind, .. } => {
            let char_type = *kind == TextKind::Char;
            let c = prop_oneof![
                3 => proptest::sample::select("  aAbBéß\t\0\u{1}日😀".chars().collect::<Vec<_>>()),
                1 => any::<char>()
            ];
            proptest::collection::vec(c, 0..8)
                .prop_map(move |v| {
                    let s: String = v.into_iter().collect();
                    Value::text(if char_type { s.trim_end_matches(' ') } else { &s })
                })
                .boxed()
        }
        SqlType::Enum(d) => (0..=d.members.len() as u64).prop_map(Value::UInt).boxed(),
        SqlType::Set(d) => {
            let n = d.members.len() as u32;
            any::<u64>().prop_map(move |v| Value::UInt(v >> (64 - n))).boxed()
        }
    }
}

fn date() -> impl Strategy<Value = Date> {
    (0u32..=9999, 0u32..=12, 0u32..=31).prop_map(|(y, m, d)| Date::new(y, m, d))
}

fn some_types() -> Vec<SqlType> {
    let float = SqlType::Float { unsigned: false, zerofill: false, digits: None };
    let mut types = vec![
        SqlType::Bit(1),
        SqlType::Bit(17),
        SqlType::Bit(64),
        SqlType::Year(4),
        float,
        SqlType::DOUBLE,
        decimal(10, 2),
        decimal(38, 10),
        decimal(5, 5),
        decimal(65, 30),
        SqlType::Date,
        SqlType::Time { fsp: 6 },
        SqlType::DateTime { fsp: 6 },
        SqlType::Timestamp { fsp: 0 },
        text(TextKind::Char, 10, "utf8mb4_bin"),
        text(TextKind::VarChar, 10, "utf8mb4_bin"),
        text(TextKind::VarChar, 10, "utf8mb4_general_ci"),
        text(TextKind::VarChar, 10, "utf8mb4_nopad_bin"),
        text(TextKind::VarChar, 10, "utf8mb4_unicode_ci"),
        text(TextKind::VarChar, 10, "utf8mb4_uca1400_as_cs"),
        text(TextKind::VarChar, 10, "latin1_swedish_ci"),
        text(TextKind::Text, 65535, "latin1_bin"),
        text(TextKind::Char, 4, "binary"),
        text(TextKind::VarChar, 10, "binary"),
        text(TextKind::LongText, u32::MAX, "binary"),
        SqlType::Enum(members(3)),
        SqlType::Enum(members(300)),
        SqlType::Set(members(5)),
        SqlType::Set(members(64)),
    ];
    for width in [IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big] {
        types.push(int(width, false));
        types.push(int(width, true));
    }
    types
}

fn part(ty: SqlType, nullable: bool, descending: bool) -> KeyPart {
    KeyPart { ty, nullable, descending, prefix: None }
}

/// The order of two values of a type, NULL first.
fn compare(a: &Value, b: &Value, ty: &SqlType) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).expect("no NaN"),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => ty.collation().expect("a text").compare(a, b),
        _ => panic!("{a:?} {b:?}"),
    }
}

/// A part with three values of its type.
fn part_and_values() -> impl Strategy<Value = (KeyPart, Vec<Value>)> {
    let of = |ty: SqlType| {
        let value = typed_value(ty.clone());
        (any::<bool>(), any::<bool>()).prop_flat_map(move |(nullable, descending)| {
            let value = value.clone();
            let value = if nullable { prop_oneof![1 => Just(Value::Null), 6 => value].boxed() } else { value };
            (Just(part(ty.clone(), nullable, descending)), proptest::collection::vec(value, 3))
        })
    };
    Union::new(some_types().into_iter().map(of))
}

fn encoded(v: &Value, p: &KeyPart) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key_part(v, p, &UTC, &mut out).expect("a value of the type");
    out
}

fn row_of_all_types() -> impl Strategy<Value = (Vec<(SqlType, bool)>, Vec<Value>)> {
    let column = Union::new(some_types().into_iter().map(|ty| {
        let value = typed_value(ty.clone());
        (Just(ty), any::<bool>(), value, any::<bool>())
    }));
    proptest::collection::vec(column, 0..12).prop_map(|columns| {
        let types = columns.iter().map(|(ty, nullable, ..)| (ty.clone(), *nullable)).collect();
        let null = |(_, nullable, v, is_null)| if nullable && is_null { Value::Null } else { v };
        (types, columns.into_iter().map(null).collect())
    })
}

proptest! {
    #[test]
    fn keys_order_as_values((p, v) in part_and_values()) {
        let expected = compare(&v[0], &v[1], &p.ty);
        let expected = if p.descending { expected.reverse() } else { expected };
        let (a, b) = (encoded(&v[0], &p), encoded(&v[1], &p));
        prop_assert_eq!(a.cmp(&b), expected, "{:?} {:?}", v[0], v[1]);
        // What follows must not matter unless they are equal.
        let follow = |k: &[u8], x: u8| [k, &[x]].concat();
        if expected.is_ne() {
            prop_assert_eq!(follow(&a, 0xFF).cmp(&follow(&b, 0)), expected);
            prop_assert_eq!(follow(&a, 0).cmp(&follow(&b, 0xFF)), expected);
        } else {
            prop_assert_eq!(hash_key(&a), hash_key(&b));
        }
    }

    #[test]
    fn keys_are_measured_and_read_back((p, v) in part_and_values()) {
        let whole: Vec<u8> = v.iter().flat_map(|v| encoded(v, &p)).collect();
        let first = encoded(&v[0], &p);
        prop_assert_eq!(key_part_len(&whole, &p), Ok(first.len()));
        if let Some(width) = key_part_width(&p) && !v[0].is_null() {
            prop_assert_eq!(width, first.len());
        }
        let parts = vec![p.clone(); 3];
        prop_assert_eq!(key_len(&whole, &parts), Ok(whole.len()));
        if key_part_is_reversible(&p) {
            let mut back = Vec::new();
            prop_assert_eq!(decode_key(&whole, &parts, &UTC, &mut back), Ok(whole.len()));
            prop_assert_eq!(back, v);
        } else {
            prop_assert!(decode_key_part(&whole, &p, &UTC).is_err());
        }
        for cut in 0..first.len() {
            prop_assert!(key_part_len(&first[..cut], &p).is_err());
        }
    }

    #[test]
    fn prefixes_hold_all_that_begin_with_them(c in 0usize..6, prefix in "[aA b%é\t]{0,4}", rest in "[aA b%é\t]{0,4}") {
        let names = ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_nopad_bin", "utf8mb4_unicode_ci", "latin1_bin", "binary"];
        let p = part(text(TextKind::VarChar, 20, names[c]), true, false);
        let key = encoded(&Value::text(&(prefix.clone() + &rest)), &p);
        let mut from = Vec::new();
        encode_key_prefix(prefix.as_bytes(), &p, &mut from).expect("a text");
        let mut to = from.clone();
        prop_assert!(prefix_successor(&mut to));
        prop_assert!(key >= from && key < to);
    }

    #[test]
    fn rows_give_back_their_values((types, row) in row_of_all_types(), version: u8) {
        let layout = RowLayout::new(version, &types);
        let mut bytes = vec![];
        layout.encode(&row, &UTC, &mut bytes).expect("values of the types");
        prop_assert_eq!(RowLayout::version_of(&bytes), Some(version));
        let mut back = Vec::new();
        layout.decode(&bytes, &UTC, &mut back).expect("a row");
        prop_assert_eq!(&back, &row);
        for (i, v) in row.iter().enumerate() {
            prop_assert_eq!(&layout.column(&bytes, i, &UTC).expect("a column"), v);
            prop_assert_eq!(layout.is_null(&bytes, i), Ok(v.is_null()));
        }
        prop_assert!(layout.column(&bytes, row.len(), &UTC).is_err());
        let other = RowLayout::new(version.wrapping_add(1), &types);
        prop_assert!(row.is_empty() || other.column(&bytes, 0, &UTC).is_err());
        // Changing columns copies the others.
        let changes: Vec<(usize, Value)> = row.iter().cloned().enumerate().filter(|(i, _)| i % 3 == 1).collect();
        let mut same = Vec::new();
        layout.encode_changed(&bytes, &changes, &UTC, &mut same).expect("a row");
        prop_assert_eq!(&same, &bytes);
        // Cut off anywhere, reading fails or gives some value, and never panics.
        for cut in 0..bytes.len() {
            back.clear();
            let read = layout.decode(&bytes[..cut], &UTC, &mut back);
            prop_assert!(read.is_err() || cut >= 2 || row.is_empty());
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic((types, _) in row_of_all_types(), bytes: Vec<u8>) {
        let mut with_header = vec![7, 0];
        with_header.extend(&bytes);
        let layout = RowLayout::new(7, &types);
        for b in [&bytes, &with_header] {
            let _ = layout.decode(b, &UTC, &mut Vec::new());
        }
        for (ty, nullable) in types {
            let p = part(ty, nullable, bytes.len() % 2 == 0);
            let _ = decode_key_part(&bytes, &p, &UTC);
            let _ = key_part_len(&bytes, &p);
        }
    }
}

#[test]
fn long_rows_have_wide_offsets() {
    let ty = text(TextKind::LongText, u32::MAX, "utf8mb4_general_ci");
    let layout = RowLayout::new(0, &[(ty.clone(), false), (ty.clone(), true), (ty, false)]);
    let long = "x".repeat(70_000);
    let row = [Value::text(&long), Value::Null, Value::text("end")];
    let mut bytes = Vec::new();
    layout.encode(&row, &UTC, &mut bytes).expect("a row");
    assert_eq!(bytes.len(), 2 + 1 + 3 * 4 + 70_003);
    assert_eq!(layout.column_ref(&bytes, 2, &UTC), Ok(ValueRef::Bytes(b"end")));
    assert_eq!(layout.raw_column(&bytes, 1), Ok(None));
    assert_eq!(layout.column(&bytes, 0, &UTC), Ok(row[0].clone()));
}

/// The bytes of `docs/formats/keys-and-rows.md`.
#[test]
fn bytes_are_as_documented() {
    let key = |v: Value, ty: SqlType, nullable, descending| encoded(&v, &part(ty, nullable, descending));
    assert_eq!(key(Value::Int(-2), int(IntWidth::Int, false), false, false), b"\x7f\xff\xff\xfe");
    assert_eq!(key(Value::Int(1), int(IntWidth::Small, false), true, false), b"\x01\x80\x01");
    assert_eq!(key(Value::Null, int(IntWidth::Small, false), true, true), b"\xff");
    assert_eq!(key(Value::Double(-0.0), SqlType::DOUBLE, false, false), b"\x80\0\0\0\0\0\0\0");
    let varchar = |c| text(TextKind::VarChar, 20, c);
    assert_eq!(key(Value::text("Ab c "), varchar("utf8mb4_general_ci"), false, false), b"AB\x20\x03C\x20\x02");
    assert_eq!(key(Value::text("a\tb"), varchar("utf8mb4_bin"), false, false), b"a\tb\x20\x02");
    assert_eq!(key(Value::text("a \t"), varchar("utf8mb4_bin"), false, false), b"a\x20\x01\t\x20\x02");
    assert_eq!(key(Value::bytes(b"a\0b"), varchar("binary"), false, false), b"a\0\xffb\0\0");
    assert_eq!(key(Value::text("ab"), varchar("utf8mb4_unicode_ci"), false, false), b"\x0e\x33\x0e\x4a\x02\x09\x02");
    let layout = RowLayout::new(
        3,
        &[
            (int(IntWidth::Int, false), false),
            (varchar("utf8mb4_general_ci"), true),
            (SqlType::Date, true),
            (varchar("utf8mb4_general_ci"), false),
        ],
    );
    let row = [Value::Int(258), Value::text("hi"), Value::Null, Value::text("you")];
    let mut bytes = Vec::new();
    layout.encode(&row, &UTC, &mut bytes).expect("a row");
    assert_eq!(bytes, b"\x03\x00\x02\x02\x01\0\0\0\0\0\x02\0\x05\0hiyou");
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut out = Vec::new();
    let tiny = part(int(IntWidth::Tiny, false), false, false);
    for v in [Value::Int(128), Value::Int(-129), Value::text("1"), Value::Null] {
        assert!(encode_key_part(&v, &tiny, &UTC, &mut out).is_err(), "{v:?}");
    }
    let layout = RowLayout::new(0, &[(int(IntWidth::Tiny, true), false)]);
    for row in [
        &[Value::Int(-1)][..],
        &[Value::UInt(256)],
        &[Value::text("x")],
        &[Value::Null],
        &[],
        &[Value::Int(1), Value::Int(2)],
    ] {
        assert!(layout.encode(row, &UTC, &mut out).is_err(), "{row:?}");
    }
    assert_eq!(prefix_successor(&mut vec![0xFF, 0xFF]), false);
    let mut key = vec![1, 0xFF];
    assert!(prefix_successor(&mut key));
    assert_eq!(key, [2]);
}

/// In October, 02:30 comes twice in Berlin: unchanged columns keep the second one.
#[test]
fn timestamps_are_stored_in_utc() {
    let berlin = TimeZone::parse("Europe/Berlin").expect("a zone");
    let second = Value::DateTime(UTC.to_local(1_761_442_200_000_000));
    let ty = SqlType::Timestamp { fsp: 0 };
    let layout = RowLayout::new(0, &[(ty.clone(), false), (int(IntWidth::Int, false), false)]);
    let (mut bytes, mut changed) = (Vec::new(), Vec::new());
    layout.encode(&[second.clone(), Value::Int(1)], &UTC, &mut bytes).expect("a row");
    let seen = layout.column(&bytes, 0, &berlin).expect("a column");
    assert_eq!(seen, Value::DateTime(DateTime::new(Date::new(2025, 10, 26), 9_000_000_000)));
    layout.encode_changed(&bytes, &[(1, Value::Int(2))], &berlin, &mut changed).expect("a row");
    assert_eq!(layout.column(&changed, 0, &UTC), Ok(second));
    assert_eq!(layout.column(&changed, 1, &UTC), Ok(Value::Int(2)));
    assert_eq!(encoded(&Value::DateTime(DateTime(0)), &part(ty, false, false)), [0; 8]);
}

#[test]
fn several_parts_make_a_key() {
    let parts = [part(int(IntWidth::Int, true), false, false), part(SqlType::Date, true, true)];
    let mut key = Vec::new();
    encode_key(&[Value::UInt(5), Value::Null], &parts, &UTC, &mut key).expect("values");
    assert_eq!(key, b"\0\0\0\x05\xff");
    let prefix = KeyPart { prefix: Some(2), ..part(text(TextKind::VarChar, 9, "utf8mb4_general_ci"), false, false) };
    assert_eq!(encoded(&Value::text("éab"), &prefix), b"EA\x20\x02");
    assert!(!key_part_is_reversible(&prefix));
}
