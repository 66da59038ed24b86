//! Files written by a real MariaDB 10.11 (`tests/fixtures/capture.sh`): every event decodes, is
//! written back byte for byte, and says what MariaDB was told.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use selkie_binlog::event::{
    ChecksumAlg, EventHeader, EventType, FormatDescription, MAGIC, POST_HEADER_LENGTHS, QueryEvent,
    RowsEvent, StatusVar, TableMap, gtid_flags,
};
use selkie_binlog::log::{GroupStep, GroupTracker};
use selkie_binlog::row::{
    ColumnDescription, Image, RowColumn, RowMetadata, RowReader, TableDescription, put_image,
    table_map_columns,
};
use selkie_binlog::{Event, EventBody};
use selkie_types::{Charset, Collation, EnumDef, IntWidth, SqlType, TextKind, Value};

const FILES: [&str; 7] = [
    "rows",
    "statements",
    "metadata_full",
    "metadata_minimal",
    "compressed",
    "minimal_image",
    "no_checksum",
];

struct File {
    format: FormatDescription,
    raw: Vec<Bytes>,
    events: Vec<Event>,
}

fn read(name: &str) -> File {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(format!("{name}.binlog"));
    let mut rest = Bytes::from(std::fs::read(path).unwrap());
    assert_eq!(rest.split_to(4), MAGIC[..]);
    let mut file = File {
        format: FormatDescription::new("", 0, ChecksumAlg::Off),
        raw: Vec::new(),
        events: Vec::new(),
    };
    while !rest.is_empty() {
        let header = EventHeader::decode(&rest).unwrap();
        let raw = rest.split_to(header.event_length as usize);
        let event =
            Event::decode(&raw, &file.format).unwrap_or_else(|e| panic!("{name}: {header:?}: {e}"));
        if let EventBody::FormatDescription(f) = &event.body {
            file.format = f.clone();
        }
        file.raw.push(raw);
        file.events.push(event);
    }
    file
}

#[test]
fn every_event_is_written_back_byte_for_byte() {
    for name in FILES {
        let file = read(name);
        assert!(file.events.len() > 5);
        for (raw, event) in file.raw.iter().zip(&file.events) {
            let mut out = Vec::new();
            event.encode(file.format.checksum, &mut out);
            let compressed = matches!(
                &event.body,
                EventBody::Query(QueryEvent {
                    compressed: true,
                    ..
                })
            ) || matches!(
                &event.body,
                EventBody::Rows(RowsEvent {
                    compressed: true,
                    ..
                })
            );
            if compressed {
                // Another zlib gives other bytes; they say the same.
                let again = Event::decode(&out.into(), &file.format).unwrap();
                assert_eq!(again.body, event.body, "{name}");
            } else {
                assert_eq!(out, &raw[..], "{name}: {event:?}");
            }
        }
    }
}

#[test]
fn format_description_is_what_mariadb_writes() {
    let file = read("rows");
    assert!(file.format.server_version.starts_with("10.11."));
    assert_eq!(file.format.post_header_lengths, POST_HEADER_LENGTHS[..]);
    assert_eq!(file.format.checksum, ChecksumAlg::Crc32);
    assert_eq!(read("no_checksum").format.checksum, ChecksumAlg::Off);
}

#[test]
fn groups_begin_and_end() {
    for name in FILES {
        let file = read(name);
        let mut groups = GroupTracker::new();
        let mut open = 0;
        for raw in &file.raw {
            match groups.step(raw, &file.format).unwrap() {
                GroupStep::Begin(_) => open += 1,
                GroupStep::End => open -= 1,
                GroupStep::Inside => assert_eq!(open, 1),
                GroupStep::Outside => assert_eq!(open, 0),
            }
        }
        assert_eq!(open, 0, "{name}");
    }
}

/// Rows events with their tables.
fn rows_of(file: &File) -> Vec<(TableMap, RowsEvent)> {
    let mut maps = HashMap::new();
    let mut out = Vec::new();
    for event in &file.events {
        match &event.body {
            EventBody::TableMap(map) => {
                maps.insert(map.table_id, map.clone());
            }
            EventBody::Rows(rows) => out.push((maps[&rows.table_id].clone(), rows.clone())),
            _ => {}
        }
    }
    out
}

fn images(rows: &RowsEvent, columns: &[RowColumn]) -> Vec<Image> {
    let changes = RowReader::new(rows, columns).unwrap().map(Result::unwrap);
    changes
        .flat_map(|c| [c.before, c.after])
        .flatten()
        .collect()
}

/// The first table of a name: its rows, with columns told by `adjust`.
fn table(file: &str, name: &str, adjust: impl Fn(usize, &mut RowColumn)) -> Vec<Vec<Value>> {
    let file = read(file);
    let (map, rows) = rows_of(&file)
        .into_iter()
        .find(|(m, _)| m.table == name)
        .unwrap();
    let mut columns = table_map_columns(&map).unwrap();
    columns
        .iter_mut()
        .enumerate()
        .for_each(|(i, c)| adjust(i, c));
    images(&rows, &columns)
        .into_iter()
        .map(|i| i.into_row().unwrap())
        .collect()
}

#[test]
fn row_images_are_written_back_byte_for_byte() {
    let mut seen = 0;
    for name in FILES {
        for (map, rows) in rows_of(&read(name)) {
            // Formats that are only read.
            if ["oldtemporal", "other"].contains(&map.table.as_str()) {
                continue;
            }
            let columns = table_map_columns(&map).unwrap();
            let mut out = Vec::new();
            let mut full = true;
            for image in images(&rows, &columns) {
                match image.into_row() {
                    Some(row) => put_image(&mut out, &columns, &row)
                        .unwrap_or_else(|e| panic!("{}: {e}", map.table)),
                    None => full = false,
                }
            }
            if full {
                assert_eq!(out, &rows.rows[..], "{}", map.table);
                seen += 1;
            }
        }
    }
    assert!(seen > 20);
}

#[test]
fn integers() {
    let unsigned = [1, 3, 5, 7, 9];
    let rows = table("rows", "ints", |i, c| c.unsigned = unsigned.contains(&i));
    use Value::{Int, UInt};
    assert_eq!(
        rows[0][..10],
        [
            Int(-128),
            UInt(255),
            Int(-32768),
            UInt(65535),
            Int(-8388608),
            UInt(16777215),
            Int(-2147483648),
            UInt(4294967295),
            Int(i64::MIN),
            UInt(u64::MAX)
        ]
    );
    assert_eq!(
        rows[0][10..],
        [
            Int(1),
            Int(2024),
            UInt(1),
            UInt(0b1_0101_0101),
            UInt(1 << 63 | 1)
        ]
    );
    assert!(rows[2].iter().all(Value::is_null));
}

fn shown(value: &Value) -> String {
    match value {
        Value::Decimal(d) => {
            let mut out = Vec::new();
            d.write_to(&mut out);
            String::from_utf8(out).unwrap()
        }
        Value::Double(d) => d.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        Value::Date(d) => d.to_string(),
        Value::Time(t) => t.0.to_string(),
        Value::DateTime(d) => format!("{} {}", d.date(), d.micros_of_day()),
        other => format!("{other:?}"),
    }
}

fn show(rows: &[Vec<Value>]) -> Vec<Vec<String>> {
    rows.iter().map(|r| r.iter().map(shown).collect()).collect()
}

#[test]
fn numbers() {
    let rows = show(&table("rows", "nums", |_, _| {}));
    assert_eq!(
        rows[0][..5],
        [
            "-12345678.91",
            "12345678901234567890123456789012345.123456789012345678901234567890",
            "-99999",
            "0.123456789",
            "1.5000000000"
        ]
    );
    assert_eq!(rows[0][6].parse(), Ok(-2.25e300));
    assert_eq!(rows[3][1], "-0.000000000000000000000000000001");
    assert_eq!(rows[3][4], "9999999999999999999999999999.9999999999");
}

#[test]
fn text_in_latin1() {
    let rows = table("rows", "lat", |i, c| {
        if i < 3 {
            c.charset = Charset::Latin1;
        }
    });
    assert_eq!(
        rows[0],
        [
            Value::text("äöü"),
            Value::text("ÿ€"),
            Value::text("ñ"),
            Value::UInt(1),
            Value::UInt(3)
        ]
    );
}

#[test]
fn text_and_binary() {
    let rows = table("rows", "strs", |i, c| {
        if !(4..10).contains(&i) {
            c.charset = Charset::Utf8mb4;
        }
    });
    assert_eq!(rows[0][0], Value::text("abc"));
    assert_eq!(rows[0][1], Value::text("héllo"));
    assert_eq!(rows[0][3], Value::text(&"é".repeat(100)));
    assert_eq!(rows[0][4], Value::bytes(b"ab\0\0\0"));
    assert_eq!(rows[0][5], Value::bytes(&[0, 0xff].repeat(200)));
    assert_eq!(rows[0][9], Value::text(&"L".repeat(1000)));
    assert_eq!(rows[0][13], Value::text("lt€"));
    assert_eq!(rows[1][4], Value::bytes(&[0; 5]));
}

#[test]
fn dates_and_times() {
    let rows = show(&table("rows", "temporal", |_, _| {}));
    let day = 86_400_000_000u64;
    assert_eq!(
        rows[0],
        [
            "2024-02-29".to_owned(),
            "-3020399000000".to_owned(),
            "45296789000".to_owned(),
            "-1".to_owned(),
            format!("2024-02-29 {}", day - 1_000_000),
            "1000-01-01 100000".to_owned(),
            format!("9999-12-31 {}", day - 100),
            "2024-01-02 11045678901".to_owned(),
            "1970-01-01 1000000".to_owned(),
            "2038-01-19 11647990000".to_owned(),
            "2024-01-02 11045678901".to_owned(),
        ]
    );
    assert_eq!(
        rows[1][..6],
        [
            "0000-00-00",
            "0",
            "-1500000",
            "3020399999999",
            "0000-00-00 0",
            "2020-00-00 0"
        ]
    );
}

#[test]
fn dates_and_times_in_old_formats() {
    let fsp = [0, 3, 6, 0, 1, 6, 0, 2, 6];
    let rows = show(&table("rows", "oldtemporal", |i, c| c.old_fsp = fsp[i]));
    assert_eq!(
        rows[0],
        [
            "-3020399000000",
            "45296789000",
            "-1",
            "2024-02-29 86399000000",
            "1000-01-01 100000",
            "2024-01-02 11045678901",
            "1970-01-01 1000000",
            "2038-01-19 11647990000",
            "2024-01-02 11045678901",
        ]
    );
    assert_eq!(
        rows[2][..6],
        [
            "0",
            "-3723004000",
            "3020399999999",
            "2024-01-01 0",
            "2024-01-01 900000",
            "0000-00-00 0"
        ]
    );
}

#[test]
fn compressed_columns_and_other_types() {
    let rows = table("rows", "other", |_, _| {});
    assert_eq!(rows[0][0], Value::text(r#"{"a":1}"#));
    assert_eq!(rows[0][2], Value::bytes(&[10, 0, 0, 1]));
    assert_eq!(rows[0][6], Value::text("aaaa"));
    assert_eq!(rows[0][7], Value::text(&"b".repeat(500)));
}

#[test]
fn compressed_events() {
    let file = read("compressed");
    let queries = file.events.iter().filter_map(|e| match &e.body {
        EventBody::Query(q) if q.compressed => Some(q.query.clone()),
        _ => None,
    });
    let queries: Vec<Bytes> = queries.collect();
    assert_eq!(queries[0], "create table comp(a int, t text)");
    let rows = rows_of(&file);
    assert!(rows[0].1.compressed);
    let columns = table_map_columns(&rows[0].0).unwrap();
    let row = images(&rows[0].1, &columns)[0].clone().into_row().unwrap();
    assert_eq!(row, [Value::Int(1), Value::text(&"a".repeat(500))]);
}

#[test]
fn optional_metadata() {
    for name in ["metadata_full", "metadata_minimal"] {
        let file = read(name);
        for (map, _) in rows_of(&file) {
            let metadata = map.metadata().unwrap();
            assert_eq!(
                metadata.encode(&map.columns),
                map.optional_metadata,
                "{name} {}",
                map.table
            );
            assert!(metadata.unknown.is_empty());
        }
        let map = &rows_of(&file)[0].0;
        let columns = table_map_columns(map).unwrap();
        let charsets: Vec<Charset> = columns.iter().map(|c| c.charset).collect();
        let expected = [Charset::Latin1, Charset::Utf8mb4];
        assert_eq!(charsets[2..4], expected, "{name}");
        assert_eq!(
            (columns[7].charset, columns[8].charset),
            (Charset::Binary, Charset::Utf8mb4)
        );
        assert!(columns[0].unsigned && !columns[1].unsigned);
    }
    let map = &rows_of(&read("metadata_full"))[0].0;
    let metadata = map.metadata().unwrap();
    assert_eq!(metadata.names[..3], ["id", "a", "c"]);
    assert_eq!(metadata.primary_key, [(0, 0)]);
    assert_eq!(metadata.set_values, [["p", "q"]]);
}

#[test]
fn partial_images() {
    let rows = rows_of(&read("minimal_image"));
    let all: Vec<Image> = rows
        .iter()
        .flat_map(|(m, r)| images(r, &table_map_columns(m).unwrap()))
        .collect();
    assert!(
        all.iter()
            .any(|i| i.values == [Some(Value::Int(2)), None, None, None]),
        "{all:?}"
    );
    assert!(
        all.iter()
            .any(|i| i.values == [None, None, None, Some(Value::Int(5))]),
        "{all:?}"
    );
}

#[test]
fn statements_and_their_settings() {
    let file = read("statements");
    let mut zones = Vec::new();
    let mut flags = Vec::new();
    let mut increments = Vec::new();
    for event in &file.events {
        if let EventBody::Query(q) = &event.body {
            assert!(
                !q.status
                    .vars
                    .iter()
                    .any(|v| matches!(v, StatusVar::Rest(_)))
            );
            for var in &q.status.vars {
                match var {
                    StatusVar::TimeZone(z) => zones.push(z.clone()),
                    StatusVar::Flags2(f) => flags.push(*f),
                    StatusVar::AutoIncrement(increment, offset) => {
                        increments.push((*increment, *offset))
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(zones.contains(&Bytes::from_static(b"+01:00")));
    assert!(increments.contains(&(10, 3)));
    let unchecked = selkie_binlog::event::QueryFlags2::NO_FOREIGN_KEY_CHECKS
        | selkie_binlog::event::QueryFlags2::RELAXED_UNIQUE_CHECKS;
    assert!(flags.iter().any(|f| f & unchecked == unchecked));
    assert!(flags.iter().any(|f| f & unchecked == 0));
    let has = |t: EventType| file.events.iter().any(|e| e.header.event_type == t);
    for t in [
        EventType::RAND,
        EventType::USER_VAR,
        EventType::INTVAR,
        EventType::EXECUTE_LOAD_QUERY,
    ] {
        assert!(has(t), "{}", t.name());
    }
    let load = file.events.iter().find_map(|e| match &e.body {
        EventBody::ExecuteLoadQuery(l) => Some(l),
        _ => None,
    });
    let load = load.unwrap();
    assert!(
        load.query.query.starts_with(b"LOAD DATA") || load.query.query.starts_with(b"load data")
    );
}

#[test]
fn xa_transactions() {
    let file = read("rows");
    let gtids: Vec<_> = file
        .events
        .iter()
        .filter_map(|e| match &e.body {
            EventBody::Gtid(g) if g.xid.is_some() => Some(g),
            _ => None,
        })
        .collect();
    assert_eq!(gtids.len(), 4);
    let xid = gtids[0].xid.as_ref().unwrap();
    assert_eq!(
        (xid.format_id, &xid.gtrid[..], &xid.bqual[..]),
        (7, &b"x1"[..], &b"bq"[..])
    );
    assert!(
        gtids[0].flags2 & gtid_flags::PREPARED_XA != 0
            && gtids[1].flags2 & gtid_flags::COMPLETED_XA != 0
    );
    assert!(gtids.iter().all(|g| g.rest.is_empty()));
}

/// Name, type, nullability.
type Columns = Vec<(&'static str, SqlType, bool)>;

/// The types of the tables of `rows.sql` and `metadata.sql` whose Table_maps Selkie writes alike.
fn definitions() -> Vec<(&'static str, &'static str, Columns)> {
    let int = |width, unsigned| SqlType::Int {
        width,
        unsigned,
        zerofill: false,
        display: 11,
    };
    let decimal = |precision, scale, unsigned| SqlType::Decimal {
        precision,
        scale,
        unsigned,
        zerofill: false,
    };
    let float = || SqlType::Float {
        unsigned: false,
        zerofill: false,
        digits: None,
    };
    let utf8 = Collation::UTF8MB4_GENERAL_CI;
    let latin1 = Collation::LATIN1_SWEDISH_CI;
    let text = |kind, len, collation| SqlType::Text {
        kind,
        len,
        collation,
    };
    let members = |collation, m: &[&str]| {
        Arc::new(EnumDef {
            members: m.iter().map(|m| m.to_string()).collect(),
            collation,
        })
    };
    use IntWidth::{Big, Int, Medium, Small, Tiny};
    use TextKind::{Char, LongText, MediumText, Text, TinyText, VarChar};
    let mut ints: Vec<SqlType> = [Tiny, Small, Medium, Int, Big]
        .map(|w| [int(w, false), int(w, true)])
        .concat();
    ints.extend([
        int(Tiny, false),
        SqlType::Year(4),
        SqlType::Bit(1),
        SqlType::Bit(9),
        SqlType::Bit(64),
    ]);
    let nums = vec![
        decimal(10, 2, false),
        decimal(65, 30, false),
        decimal(5, 0, false),
        decimal(9, 9, false),
        decimal(38, 10, true),
        float(),
        SqlType::DOUBLE,
        float(),
        int(Int, true),
    ];
    let binary = Collation::BINARY;
    let strs = vec![
        text(Char, 10, utf8),
        text(VarChar, 20, utf8),
        text(VarChar, 300, utf8),
        text(Char, 255, utf8),
        text(Char, 5, binary),
        text(VarChar, 400, binary),
        text(TinyText, 255, binary),
        text(Text, 65535, binary),
        text(MediumText, 1 << 24, binary),
        text(LongText, u32::MAX, binary),
        text(TinyText, 255, utf8),
        text(Text, 65535, utf8),
        text(MediumText, 1 << 24, utf8),
        text(LongText, u32::MAX, utf8),
    ];
    let lat = vec![
        text(Char, 10, latin1),
        text(VarChar, 300, latin1),
        text(Text, 65535, latin1),
        SqlType::Enum(members(latin1, &["ä", "b"])),
        SqlType::Set(members(latin1, &["ö", "p", "q"])),
    ];
    let many: Vec<String> = (1..=17).map(|i| i.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let es = vec![
        SqlType::Enum(members(utf8, &["a", "b", "c"])),
        SqlType::Set(members(utf8, &["x", "y", "z"])),
        SqlType::Set(members(utf8, &many)),
    ];
    let temporal = vec![
        SqlType::Date,
        SqlType::Time { fsp: 0 },
        SqlType::Time { fsp: 3 },
        SqlType::Time { fsp: 6 },
        SqlType::DateTime { fsp: 0 },
        SqlType::DateTime { fsp: 1 },
        SqlType::DateTime { fsp: 4 },
        SqlType::DateTime { fsp: 6 },
        SqlType::Timestamp { fsp: 0 },
        SqlType::Timestamp { fsp: 2 },
        SqlType::Timestamp { fsp: 6 },
    ];
    let unnamed = |types: Vec<SqlType>| types.into_iter().map(|t| ("", t, true)).collect();
    vec![
        ("rows", "ints", unnamed(ints)),
        ("rows", "nums", unnamed(nums)),
        ("rows", "strs", unnamed(strs)),
        ("rows", "lat", unnamed(lat)),
        ("rows", "es", unnamed(es)),
        ("rows", "temporal", unnamed(temporal)),
        (
            "metadata_full",
            "metapfx",
            vec![
                ("v", text(VarChar, 50, latin1), false),
                ("t", text(Text, 65535, latin1), false),
            ],
        ),
        (
            "metadata_minimal",
            "metapfx",
            vec![
                ("v", text(VarChar, 50, latin1), false),
                ("t", text(Text, 65535, latin1), false),
            ],
        ),
    ]
}

#[test]
fn table_maps_are_made_as_mariadb_makes_them() {
    for (file, table, columns) in definitions() {
        let (map, rows) = rows_of(&read(file))
            .into_iter()
            .find(|(m, _)| m.table == table)
            .unwrap();
        let metadata = match file {
            "metadata_full" => RowMetadata::Full,
            "metadata_minimal" => RowMetadata::Minimal,
            _ => RowMetadata::NoLog,
        };
        let described: Vec<ColumnDescription<'_>> = columns
            .iter()
            .map(|(name, sql_type, nullable)| ColumnDescription {
                name,
                sql_type,
                nullable: *nullable,
            })
            .collect();
        let table = TableDescription {
            database: "fx",
            table,
            columns: &described,
            primary_key: if metadata == RowMetadata::NoLog {
                &[]
            } else {
                &[(0, 10), (1, 5)]
            },
        };
        assert_eq!(table.table_map(map.table_id, metadata), map);
        // The rows, too, by the columns' definitions.
        let row_columns = table.row_columns();
        let mut out = Vec::new();
        for image in images(&rows, &row_columns) {
            put_image(&mut out, &row_columns, &image.into_row().unwrap()).unwrap();
        }
        assert_eq!(out, &rows.rows[..], "{}", map.table);
    }
}
