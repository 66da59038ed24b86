//! Row images written by a real MariaDB, and values at the edges of their types.

use selkie_types::{
    Charset, Date, DateTime, Decimal, EnumDef, IntWidth, SqlType, TextKind, Time, Value,
};

use super::*;
use crate::event::{ColumnMeta, RowsEvent, RowsKind, column_type as t};

fn event(columns: usize, rows: Vec<u8>) -> RowsEvent {
    RowsEvent {
        kind: RowsKind::Write,
        v2: false,
        compressed: false,
        table_id: 1,
        flags: 0,
        extra: Default::default(),
        width: columns,
        columns: vec![0xff; columns.div_ceil(8)].into(),
        columns_after: Default::default(),
        rows: rows.into(),
    }
}

fn round_trip(sql_type: &SqlType, values: &[Value]) {
    let columns = [RowColumn::of(sql_type)];
    for value in values {
        let mut bytes = Vec::new();
        put_image(&mut bytes, &columns, std::slice::from_ref(value))
            .unwrap_or_else(|e| panic!("{value:?}: {e}"));
        let event = event(1, bytes);
        let read: Vec<_> = RowReader::new(&event, &columns)
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let row = read
            .into_iter()
            .next()
            .unwrap()
            .after
            .unwrap()
            .into_row()
            .unwrap();
        assert_eq!(row, std::slice::from_ref(value), "{sql_type:?}");
    }
}

#[test]
fn integers() {
    for (width, bits) in [
        (IntWidth::Tiny, 8),
        (IntWidth::Small, 16),
        (IntWidth::Medium, 24),
        (IntWidth::Int, 32),
        (IntWidth::Big, 64),
    ] {
        let signed = SqlType::Int {
            width,
            unsigned: false,
            zerofill: false,
            display: 11,
        };
        let min = i64::MIN >> (64 - bits);
        round_trip(
            &signed,
            &[
                Value::Int(min),
                Value::Int(-1),
                Value::Int(0),
                Value::Int(!min),
                Value::Null,
            ],
        );
        let unsigned = SqlType::Int {
            width,
            unsigned: true,
            zerofill: false,
            display: 11,
        };
        round_trip(
            &unsigned,
            &[Value::UInt(0), Value::UInt(u64::MAX >> (64 - bits))],
        );
        if bits < 64 {
            let mut out = Vec::new();
            assert!(
                put_image(&mut out, &[RowColumn::of(&signed)], &[Value::Int(!min + 1)]).is_err()
            );
            assert!(
                put_image(
                    &mut out,
                    &[RowColumn::of(&unsigned)],
                    &[Value::UInt(1 << bits)]
                )
                .is_err()
            );
            assert!(put_image(&mut out, &[RowColumn::of(&unsigned)], &[Value::Int(-1)]).is_err());
        }
    }
}

#[test]
fn other_numbers() {
    for bits in [1, 8, 9, 63, 64] {
        round_trip(
            &SqlType::Bit(bits),
            &[Value::UInt(0), Value::UInt(u64::MAX >> (64 - bits))],
        );
    }
    round_trip(
        &SqlType::Year(4),
        &[Value::Int(0), Value::Int(1901), Value::Int(2155)],
    );
    round_trip(
        &SqlType::DOUBLE,
        &[Value::Double(-2.25e300), Value::Double(0.0)],
    );
    let float = SqlType::Float {
        unsigned: false,
        zerofill: false,
        digits: None,
    };
    round_trip(
        &float,
        &[Value::Double(1.5), Value::Double(f64::from(3.4e38f32))],
    );
    let decimal = SqlType::Decimal {
        precision: 65,
        scale: 30,
        unsigned: false,
        zerofill: false,
    };
    let texts = [
        "12345678901234567890123456789012345.123456789012345678901234567890",
        "0",
        "-0.000000000000000000000000000001",
    ];
    for text in texts {
        let value = Decimal::parse(text).unwrap().to_column(65, 30).0;
        round_trip(&decimal, &[Value::Decimal(value)]);
    }
}

#[test]
fn temporal_values() {
    round_trip(
        &SqlType::Date,
        &[
            Value::Date(Date::new(2024, 2, 29)),
            Value::Date(Date(0)),
            Value::Date(Date::new(9999, 12, 0)),
        ],
    );
    for (fsp, unit) in [
        (0, 1_000_000),
        (1, 100_000),
        (2, 10_000),
        (3, 1000),
        (4, 100),
        (5, 10),
        (6, 1),
    ] {
        let longest = 3_020_399_000_000 + (1_000_000 - unit);
        for micros in [0, unit, -unit, 1_500_000, 3_020_399_000_000, longest] {
            let micros = micros / unit * unit;
            round_trip(
                &SqlType::Time { fsp },
                &[Value::Time(Time(micros)), Value::Time(Time(-micros))],
            );
        }
        let dates = [
            (0, 0),
            (1000 * 512 + 33, 0),
            (9999 * 512 + 12 * 32 + 31, 86_400_000_000 - unit as u64),
        ];
        for (date, micros) in dates {
            round_trip(
                &SqlType::DateTime { fsp },
                &[Value::DateTime(DateTime::new(Date(date), micros))],
            );
        }
        for (y, m, d, micros) in [
            (1970, 1, 1, 1_000_000),
            (2106, 2, 7, 23_295_000_000 - unit as u64),
            (2024, 1, 2, 0),
        ] {
            let v = DateTime::new(Date::new(y, m, d), micros / unit as u64 * unit as u64);
            round_trip(
                &SqlType::Timestamp { fsp },
                &[Value::DateTime(v), Value::DateTime(DateTime(0))],
            );
        }
    }
    let mut out = Vec::new();
    let too_early = Value::DateTime(DateTime::new(Date::new(1969, 12, 31), 0));
    assert!(
        put_image(
            &mut out,
            &[RowColumn::of(&SqlType::Timestamp { fsp: 0 })],
            &[too_early]
        )
        .is_err()
    );
}

#[test]
fn strings() {
    let raw = |kind, len| SqlType::Text {
        kind,
        len,
        collation: selkie_types::Collation::BINARY,
    };
    round_trip(
        &raw(TextKind::VarChar, 255),
        &[Value::text(""), Value::bytes(&[7; 255])],
    );
    round_trip(
        &raw(TextKind::VarChar, 256),
        &[Value::text(""), Value::bytes(&[7; 256])],
    );
    round_trip(
        &raw(TextKind::Char, 5),
        &[Value::bytes(b"ab\0\0\0"), Value::bytes(b"abcde")],
    );
    for kind in [
        TextKind::TinyText,
        TextKind::Text,
        TextKind::MediumText,
        TextKind::LongText,
    ] {
        round_trip(&raw(kind, 255), &[Value::text(""), Value::bytes(&[1; 255])]);
    }
    let mut out = Vec::new();
    let columns = [RowColumn::of(&raw(TextKind::TinyText, 255))];
    assert!(put_image(&mut out, &columns, &[Value::bytes(&[1; 256])]).is_err());
    let columns = [RowColumn::of(&raw(TextKind::VarChar, 3))];
    assert!(put_image(&mut out, &columns, &[Value::bytes(b"abcd")]).is_err());
    assert!(put_image(&mut out, &columns, &[Value::Int(1)]).is_err());
}

#[test]
fn enums_and_sets() {
    let def = |n: usize| {
        std::sync::Arc::new(EnumDef {
            members: (0..n).map(|i| i.to_string()).collect(),
            collation: selkie_types::Collation::UTF8MB4_GENERAL_CI,
        })
    };
    round_trip(
        &SqlType::Enum(def(255)),
        &[Value::UInt(0), Value::UInt(255)],
    );
    round_trip(
        &SqlType::Enum(def(256)),
        &[Value::UInt(0), Value::UInt(256)],
    );
    for n in [1, 8, 9, 24, 25, 33, 64] {
        round_trip(
            &SqlType::Set(def(n)),
            &[Value::UInt(0), Value::UInt(u64::MAX >> (64 - n))],
        );
    }
}

#[test]
fn invalid_text_is_refused() {
    let column = RowColumn {
        charset: Charset::Utf8mb4,
        ..RowColumn::bare(ColumnMeta {
            type_number: t::VARCHAR,
            meta: 10,
        })
    };
    let event = event(1, vec![0xfe, 2, b'a', 0xff]);
    let result = RowReader::new(&event, &[column]).map(|mut r| r.next());
    assert!(
        matches!(
            result,
            Ok(Some(Err(crate::DecodeError::InvalidText { offset: 1, .. })))
        ),
        "{result:?}"
    );
}

#[test]
fn images_without_columns_end() {
    let mut event = event(1, vec![1, 2, 3]);
    event.columns = vec![0].into();
    let columns = [RowColumn::bare(ColumnMeta {
        type_number: t::TINY,
        meta: 0,
    })];
    assert_eq!(
        RowReader::new(&event, &columns)
            .unwrap()
            .filter(Result::is_err)
            .count(),
        1
    );
}
