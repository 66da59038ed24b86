//! What must hold for any value and any type: nothing panics, what is stored belongs to its type, and
//! storing it again changes nothing.

use std::sync::Arc;

use proptest::prelude::*;
use selkie_types::convert::{self, ConvertCtx};
use selkie_types::{
    Collation, Date, DateTime, Decimal, Diagnostics, EnumDef, IntWidth, SqlMode, SqlType, TextKind, Time, TimeZone,
    Value,
};

fn width() -> impl Strategy<Value = IntWidth> {
    prop::sample::select(vec![IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big])
}

fn kind() -> impl Strategy<Value = TextKind> {
    prop::sample::select(vec![TextKind::Char, TextKind::VarChar, TextKind::TinyText, TextKind::Text])
}

fn collation() -> impl Strategy<Value = Collation> {
    prop::sample::select(vec![
        Collation::BINARY,
        Collation::UTF8MB4_GENERAL_CI,
        Collation::LATIN1_SWEDISH_CI,
        Collation::ASCII_GENERAL_CI,
    ])
}

fn members() -> Arc<EnumDef> {
    let members = ["a", "bb", "ccc", "1"].map(String::from).to_vec();
    Arc::new(EnumDef { members, collation: Collation::UTF8MB4_GENERAL_CI })
}

fn sql_type() -> impl Strategy<Value = SqlType> {
    let flags = (any::<bool>(), any::<bool>());
    let fsp = 0u8..=6;
    let digits = prop::option::of((5u8..20, 0u8..5));
    prop_oneof![
        (width(), any::<bool>()).prop_map(|(w, u)| SqlType::int(w, u)),
        (1u8..=64).prop_map(SqlType::Bit),
        Just(SqlType::Year(4)),
        (flags, digits.clone()).prop_map(|((unsigned, zerofill), digits)| SqlType::Float {
            unsigned,
            zerofill,
            digits
        }),
        (flags, digits).prop_map(|((unsigned, zerofill), digits)| SqlType::Double { unsigned, zerofill, digits }),
        (flags, 1u8..=65, 0u8..=38).prop_map(|((unsigned, zerofill), precision, scale)| SqlType::Decimal {
            precision,
            scale: scale.min(precision),
            unsigned,
            zerofill
        }),
        Just(SqlType::Date),
        fsp.clone().prop_map(|fsp| SqlType::Time { fsp }),
        fsp.clone().prop_map(|fsp| SqlType::DateTime { fsp }),
        fsp.prop_map(|fsp| SqlType::Timestamp { fsp }),
        (kind(), 0u32..40, collation()).prop_map(|(kind, len, collation)| SqlType::Text {
            kind,
            len: kind.blob_limit().unwrap_or(len),
            collation
        }),
        Just(SqlType::Enum(members())),
        Just(SqlType::Set(members())),
    ]
}

/// A value with a type that it may have.
fn value() -> impl Strategy<Value = (Value, SqlType)> {
    let text = SqlType::varchar(100, Collation::UTF8MB4_GENERAL_CI);
    let text2 = text.clone();
    let date = (0u32..10_000, 0u32..13, 0u32..32).prop_map(|(y, m, d)| Date::new(y, m, d));
    let any_date = date.clone();
    prop_oneof![
        any::<i64>().prop_map(|i| (Value::Int(i), SqlType::BIGINT)),
        (-200i64..3000).prop_map(|i| (Value::Int(i), SqlType::BIGINT)),
        any::<u64>().prop_map(|u| (Value::UInt(u), SqlType::BIGINT_UNSIGNED)),
        any::<f64>().prop_map(|d| (Value::Double(d), SqlType::DOUBLE)),
        (-1000.0f64..1000.0).prop_map(|d| (Value::Double(d), SqlType::DOUBLE)),
        ("-?[0-9]{1,66}", 0u8..38).prop_map(|(digits, scale)| {
            let (head, tail) =
                digits.split_at(digits.len() - (scale as usize).min(digits.trim_start_matches('-').len() - 1));
            let d: Decimal = format!("{head}.{tail}0").parse().unwrap_or_default();
            let (precision, scale) = (d.precision().min(65), d.scale());
            (Value::Decimal(d), SqlType::Decimal { precision, scale, unsigned: false, zerofill: false })
        }),
        ".{0,20}".prop_map(move |s| (Value::text(&s), text.clone())),
        "[-+0-9.:eT ,]{0,24}".prop_map(move |s| (Value::text(&s), text2.clone())),
        prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|b| (Value::bytes(&b), SqlType::varchar(20, Collation::BINARY))),
        any_date.prop_map(|d| (Value::Date(d), SqlType::Date)),
        (-Time::MAX.0..=Time::MAX.0).prop_map(|t| (Value::Time(Time(t)), SqlType::Time { fsp: 6 })),
        (date, 0u64..86_400_000_000)
            .prop_map(|(d, t)| (Value::DateTime(DateTime::new(d, t)), SqlType::DateTime { fsp: 6 })),
        (0u64..4).prop_map(|i| (Value::UInt(i), SqlType::Enum(members()))),
        (0u64..16).prop_map(|i| (Value::UInt(i), SqlType::Set(members()))),
    ]
}

/// Whether a value is one that its type can hold.
fn belongs(v: &Value, ty: &SqlType) -> bool {
    match (v, ty) {
        (Value::Int(i), SqlType::Int { width, unsigned: false, .. }) => {
            let limit = 1i128 << (width.bytes() * 8 - 1);
            (-limit..limit).contains(&(*i as i128))
        }
        (Value::UInt(u), SqlType::Int { width, unsigned: true, .. }) => (*u as u128) < 1 << (width.bytes() * 8),
        (Value::UInt(u), SqlType::Bit(n)) => *n == 64 || *u < 1 << *n,
        (Value::Int(y), SqlType::Year(_)) => *y == 0 || (1901..=2155).contains(y),
        (Value::Double(d), SqlType::Float { unsigned, .. }) => {
            d.is_finite() && *d == *d as f32 as f64 && (!unsigned || *d >= 0.0)
        }
        (Value::Double(d), SqlType::Double { unsigned, .. }) => d.is_finite() && (!unsigned || *d >= 0.0),
        (Value::Decimal(d), SqlType::Decimal { precision, scale, unsigned, .. }) => {
            d.scale() == *scale && d.int_digits() <= precision - scale && !(*unsigned && d.is_negative())
        }
        (Value::Date(_), SqlType::Date) => true,
        (Value::Time(t), SqlType::Time { fsp }) => t.truncate(*fsp) == *t && t.0.abs() <= Time::MAX.0,
        (Value::DateTime(t), SqlType::DateTime { fsp } | SqlType::Timestamp { fsp }) => t.truncate(*fsp) == *t,
        (Value::Bytes(b), SqlType::Text { kind, len, collation }) => {
            let text = std::str::from_utf8(b);
            match (collation.is_binary(), kind) {
                (true, TextKind::Char) => b.len() == *len as usize,
                (true, _) => b.len() <= *len as usize,
                (false, TextKind::Char | TextKind::VarChar) => text.is_ok_and(|t| t.chars().count() <= *len as usize),
                (false, _) => text.is_ok() && collation.charset().byte_len(b) <= *len as usize,
            }
        }
        (Value::UInt(i), SqlType::Enum(def)) => *i <= def.members.len() as u64,
        (Value::UInt(i), SqlType::Set(def)) => *i < 1 << def.members.len(),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn stored_values_belong_to_their_type((v, from) in value(), to in sql_type(), mode in any::<u64>(), ignore in any::<bool>()) {
        let zone = TimeZone::parse("Europe/Berlin").unwrap();
        let mut diag = Diagnostics::default();
        let mut ctx = ConvertCtx {
            sql_mode: SqlMode(mode & SqlMode::ALL),
            time_zone: &zone,
            now_utc_micros: 1_700_000_000_000_000,
            diag: &mut diag,
            ignore,
        };
        let mut text = Vec::new();
        convert::write_text(&v, &from, &mut text);
        if let Ok(stored) = convert::store(v.clone(), &from, &to, "c", &mut ctx) {
            prop_assert!(belongs(&stored, &to), "{v:?} became {stored:?} in {to:?}");
            text.clear();
            convert::write_text(&stored, &to, &mut text);
            // What a column holds, it takes back unchanged (a refused zero date is an error instead).
            ctx.diag.clear();
            if let Ok(again) = convert::store(stored.clone(), &to, &to, "c", &mut ctx) {
                prop_assert_eq!(again, stored);
            }
        }
    }

    #[test]
    fn casts_never_panic((v, from) in value(), to in sql_type(), mode in any::<u64>()) {
        let zone = TimeZone::System;
        let mut diag = Diagnostics::default();
        let mut ctx = ConvertCtx {
            sql_mode: SqlMode(mode & SqlMode::ALL & !(SqlMode::STRICT_ALL_TABLES | SqlMode::STRICT_TRANS_TABLES)),
            time_zone: &zone,
            now_utc_micros: 1_700_000_000_000_000,
            diag: &mut diag,
            ignore: false,
        };
        let done = convert::cast(v.clone(), &from, &to, &mut ctx);
        prop_assert!(done.is_ok());
        convert::to_i64(&v, &from, &mut ctx);
        convert::to_u64(&v, &from, &mut ctx);
        convert::to_f64(&v, &from, &mut ctx);
        convert::to_decimal(&v, &from, &mut ctx);
        convert::to_bool(&v, &from, &mut ctx);
    }

    #[test]
    fn types_in_common_hold_both(a in sql_type(), b in sql_type()) {
        let fallback = Collation::UTF8MB4_GENERAL_CI;
        for t in [a.common_type(&b, fallback), a.union_type(&b, fallback)] {
            let _ = (t.column_type(), t.wire(), t.octet_length(), t.numeric_precision());
            if let SqlType::Decimal { precision, scale, .. } = t {
                prop_assert!((1..=65).contains(&precision) && scale <= 38 && scale <= precision);
            }
        }
        prop_assert_eq!(a.common_type(&b, fallback).column_type(), b.common_type(&a, fallback).column_type());
        let _ = a.comparison_type(&b);
    }
}
