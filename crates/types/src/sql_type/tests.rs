//! Types: what results of operators and aggregates are, and how types are described.

use std::sync::Arc;

use super::*;
use crate::{Charset, Collation};

/// Reads a type as `column_type` writes it, with a collation or character set after it.
fn parse(text: &str) -> SqlType {
    let close = text.rfind(')').map_or(text.find(' ').unwrap_or(text.len()), |i| i + 1);
    let (head, tail) = text.split_at(close);
    let (unsigned, zerofill) = (tail.contains("unsigned"), tail.contains("zerofill"));
    let collation = tail
        .split(' ')
        .find_map(|w| Collation::by_name(w).or_else(|| Charset::by_name(w).map(Charset::default_collation)))
        .unwrap_or(Collation::UTF8MB4_GENERAL_CI);
    let (name, args) = head.split_once('(').unwrap_or((head, ""));
    let args = args.trim_end_matches(')');
    let numbers: Vec<u32> = args.split(',').filter_map(|a| a.parse().ok()).collect();
    let arg = |i: usize| numbers.get(i).copied().unwrap_or(0);
    let fsp = arg(0) as u8;
    let int = |width| SqlType::Int { width, unsigned, zerofill, display: arg(0) as u8 };
    let digits = (numbers.len() == 2).then(|| (arg(0) as u8, arg(1) as u8));
    let text = |kind: TextKind, collation| SqlType::Text { kind, len: kind.blob_limit().unwrap_or(arg(0)), collation };
    let members = || {
        let members = args.split("','").map(|m| m.trim_matches('\'').replace("''", "'")).collect();
        Arc::new(EnumDef { members, collation })
    };
    match name {
        "tinyint" => int(IntWidth::Tiny),
        "smallint" => int(IntWidth::Small),
        "mediumint" => int(IntWidth::Medium),
        "int" => int(IntWidth::Int),
        "bigint" => int(IntWidth::Big),
        "decimal" => SqlType::Decimal { precision: arg(0) as u8, scale: arg(1) as u8, unsigned, zerofill },
        "float" => SqlType::Float { unsigned, zerofill, digits },
        "double" => SqlType::Double { unsigned, zerofill, digits },
        "year" => SqlType::Year(4),
        "bit" => SqlType::Bit(arg(0) as u8),
        "date" => SqlType::Date,
        "time" => SqlType::Time { fsp },
        "datetime" => SqlType::DateTime { fsp },
        "timestamp" => SqlType::Timestamp { fsp },
        "char" => text(TextKind::Char, collation),
        "varchar" => text(TextKind::VarChar, collation),
        "tinytext" => text(TextKind::TinyText, collation),
        "text" => text(TextKind::Text, collation),
        "mediumtext" => text(TextKind::MediumText, collation),
        "longtext" => text(TextKind::LongText, collation),
        "binary" => text(TextKind::Char, Collation::BINARY),
        "varbinary" => text(TextKind::VarChar, Collation::BINARY),
        "tinyblob" => text(TextKind::TinyText, Collation::BINARY),
        "blob" => text(TextKind::Text, Collation::BINARY),
        "mediumblob" => text(TextKind::MediumText, Collation::BINARY),
        "longblob" => text(TextKind::LongText, Collation::BINARY),
        "enum" => SqlType::Enum(members()),
        "set" => SqlType::Set(members()),
        other => panic!("type {other}"),
    }
}

/// `fixtures/capture_types.py`
#[test]
fn columns_as_information_schema_shows_them() {
    let dash = |v: Option<String>| v.unwrap_or_else(|| "-".to_string());
    let mut ran = 0;
    for line in include_str!("../../tests/fixtures/columns.tsv").lines() {
        let ty = parse(line.split('\t').next().unwrap_or_default());
        let lengths = ty.character_lengths();
        let precision = ty.numeric_precision();
        let collation = ty.collation().filter(|c| !c.is_binary());
        let got = [
            line.split('\t').next().unwrap_or_default().to_string(),
            ty.column_type(),
            ty.data_type().to_string(),
            dash(lengths.map(|l| l.0.to_string())),
            dash(lengths.map(|l| l.1.to_string())),
            dash(precision.map(|p| p.0.to_string())),
            dash(precision.and_then(|p| p.1).map(|s| s.to_string())),
            dash(ty.datetime_precision().map(|p| p.to_string())),
            dash(collation.map(|c| c.charset().name().to_string())),
            dash(collation.map(|c| c.name().to_string())),
        ];
        assert_eq!(got.join("\t"), line);
        ran += 1;
    }
    assert!(ran > 50);
}

/// `fixtures/capture_types.py`
#[test]
fn common_types() {
    let mut failures = Vec::new();
    let mut ran = 0;
    for line in include_str!("../../tests/fixtures/common_types.tsv").lines() {
        let f: Vec<&str> = line.split('\t').collect();
        let (a, b) = (parse(f[0]), parse(f[1]));
        let fallback = Collation::UTF8MB4_GENERAL_CI;
        let show = |t: &SqlType| match t.collation() {
            Some(c) if c != Collation::UTF8MB4_GENERAL_CI && !c.is_binary() => {
                format!("{} {}", t.column_type(), c.name())
            }
            _ => t.column_type(),
        };
        for (x, y) in [(&a, &b), (&b, &a)] {
            // The charset of a union of collations of one set depends on their order only for names.
            let union = show(&x.union_type(y, fallback));
            let coalesce = show(&x.common_type(y, fallback));
            // Expressions of more than 512 characters become BLOBs only when a table is made of them.
            let coalesce_ok = coalesce == f[3] || coalesce == "varbinary(1200)" && f[3] == "blob";
            if union != f[2] || !coalesce_ok {
                failures.push(format!("{} + {}: {union} / {coalesce}, MariaDB {} / {}", f[0], f[1], f[2], f[3]));
            }
            ran += 1;
        }
    }
    assert!(ran > 1000);
    assert!(failures.is_empty(), "{} of {ran}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn collations_mix_by_strength() {
    use Coercibility::{Coercible, Explicit, Implicit};
    let general = Collation::UTF8MB4_GENERAL_CI;
    let bin = Collation::UTF8MB4_BIN;
    let latin = Collation::LATIN1_SWEDISH_CI;
    let mix = |ops: &[(Collation, Coercibility)]| {
        aggregate_collations(ops, "=", true).map(|r| r.0).map_err(|e| e.to_string())
    };
    assert_eq!(mix(&[(general, Implicit), (bin, Implicit)]), Ok(bin));
    assert_eq!(mix(&[(general, Coercible), (latin, Implicit)]), Ok(latin));
    assert_eq!(mix(&[(general, Implicit), (latin, Implicit)]), Ok(general));
    assert_eq!(mix(&[(bin, Explicit), (general, Implicit)]), Ok(bin));
    assert_eq!(
        mix(&[(bin, Explicit), (general, Explicit)]),
        Err("ERROR 1267 (HY000): Illegal mix of collations (utf8mb4_bin,EXPLICIT) and (utf8mb4_general_ci,EXPLICIT) for operation '='"
            .to_string())
    );
}

#[test]
fn comparisons() {
    let text = SqlType::varchar(10, Collation::UTF8MB4_BIN);
    let decimal = SqlType::Decimal { precision: 5, scale: 2, unsigned: false, zerofill: false };
    assert_eq!(text.comparison_type(&SqlType::BIGINT), ComparisonType::Decimal);
    assert_eq!(text.comparison_type(&decimal), ComparisonType::Double);
    assert_eq!(text.comparison_type(&SqlType::Date), ComparisonType::Date);
    assert_eq!(SqlType::Time { fsp: 0 }.comparison_type(&SqlType::Date), ComparisonType::DateTime);
    assert_eq!(SqlType::BIGINT.comparison_type(&SqlType::BIGINT_UNSIGNED), ComparisonType::Int);
    assert_eq!(SqlType::Null.comparison_type(&SqlType::BIGINT), ComparisonType::Int);
}

#[test]
fn column_definition_packets() {
    // As `mariadb --column-type-info` shows a column's type, length, decimals and flags.
    for (ty, number, length, decimals, flags) in [
        ("tinyint(4)", 1, 4, 0, 0),
        ("smallint(5) unsigned", 2, 5, 0, 32),
        ("int(10) unsigned zerofill", 3, 10, 0, 96),
        ("decimal(10,2)", 246, 12, 2, 0),
        ("decimal(10,0) unsigned", 246, 10, 0, 32),
        ("float", 4, 12, 31, 0),
        ("float(7,3)", 4, 7, 3, 0),
        ("year(4)", 13, 4, 0, 96),
        ("bit(10)", 16, 10, 0, 32),
        ("date", 10, 10, 0, 128),
        ("time(3)", 11, 14, 3, 128),
        ("timestamp(6)", 7, 26, 6, 160),
        ("char(5)", 254, 15, 0, 0),
        ("text", 252, 196_605, 0, 16),
        ("longtext", 252, u32::MAX, 0, 16),
        ("varbinary(20)", 253, 20, 0, 128),
        ("blob", 252, 65_535, 0, 144),
        ("enum('a','bb')", 254, 6, 0, 256),
        ("set('x','yy')", 254, 12, 0, 2048),
    ] {
        let t = parse(ty);
        assert_eq!(t.wire(), WireType { number, flags, decimals }, "{ty}");
        assert_eq!(t.wire_length(Charset::Utf8mb3), length, "{ty}");
    }
}
