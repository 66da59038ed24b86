//! What the fixture tests need: a row of every type, a statement context without a server, and
//! ([`syntax`]) a small reader of SQL expressions that binds as it reads.

#![allow(dead_code)] // Each test uses its part.

pub mod syntax;

use std::sync::Arc;

use selkie_expr::{EvalContext, EvalSettings, SessionInfo, Subquery, VarScope};
use selkie_types::convert::{self, ConvertCtx};
use selkie_types::datetime::{DateRules, Parts};
use selkie_types::{
    Collation, Decimal, Diagnostics, EnumDef, IntWidth, SqlMode, SqlResult, SqlType, TextKind, TimeZone, Value, sql_err,
};

/// 2024-05-06 07:08:09.123456 UTC, the time of every fixture.
pub const NOW_UTC_MICROS: i64 = 1_714_979_289_123_456;

fn int(width: IntWidth, display: u8, unsigned: bool) -> SqlType {
    SqlType::Int { width, unsigned, zerofill: false, display }
}

fn text(kind: TextKind, len: u32, collation: Collation) -> SqlType {
    SqlType::Text { kind, len, collation }
}

fn datetime(s: &str) -> Value {
    let p = Parts::parse_datetime(s.as_bytes(), DateRules::default()).expect("a date");
    Value::DateTime(p.datetime(6, DateRules::default()))
}

fn time(s: &str) -> Value {
    Value::Time(Parts::parse_time(s.as_bytes(), DateRules::default()).expect("a time").time(6, DateRules::default()))
}

fn date(s: &str) -> Value {
    Value::Date(Parts::parse_datetime(s.as_bytes(), DateRules::default()).expect("a date").date)
}

fn decimal(s: &str) -> Value {
    Value::Decimal(Decimal::parse(s).expect("a number"))
}

/// A column of the test table: name, type, whether NULL is allowed, its value in the row.
pub type Column = (&'static str, SqlType, bool, Value);

/// The table `t1` of the capture script, and its row.
pub fn columns() -> Vec<Column> {
    let mb4 = Collation::UTF8MB4_GENERAL_CI;
    let members = |m: &[&str]| Arc::new(EnumDef { members: m.iter().map(|s| s.to_string()).collect(), collation: mb4 });
    let dec = SqlType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false };
    let d2 = SqlType::Double { unsigned: false, zerofill: false, digits: Some((10, 2)) };
    let float = SqlType::Float { unsigned: false, zerofill: false, digits: None };
    vec![
        ("i", int(IntWidth::Int, 11, false), true, Value::Int(42)),
        ("iu", int(IntWidth::Int, 10, true), true, Value::UInt(7)),
        ("b", int(IntWidth::Big, 20, false), true, Value::Int(-5)),
        ("bu", int(IntWidth::Big, 20, true), true, Value::UInt(9)),
        ("ti", int(IntWidth::Tiny, 4, false), true, Value::Int(-3)),
        ("si", int(IntWidth::Small, 6, false), true, Value::Int(300)),
        ("mi", int(IntWidth::Medium, 9, false), true, Value::Int(-70000)),
        ("d", dec, true, decimal("12.34")),
        ("dbl", SqlType::DOUBLE, true, Value::Double(2.5)),
        ("f", float, true, Value::Double(1.25)),
        ("d2", d2, true, Value::Double(3.75)),
        ("v", text(TextKind::VarChar, 10, mb4), true, Value::text("hello")),
        ("c", text(TextKind::Char, 5, mb4), true, Value::text("abc")),
        ("tx", text(TextKind::Text, 65535, mb4), true, Value::text("some text")),
        ("vb", text(TextKind::VarChar, 10, Collation::BINARY), true, Value::bytes(b"bytes")),
        ("bl", text(TextKind::Text, 65535, Collation::BINARY), true, Value::bytes(b"\x00\xffblob")),
        ("dt", SqlType::Date, true, date("2024-02-29")),
        ("tm", SqlType::Time { fsp: 0 }, true, time("10:11:12")),
        ("tm3", SqlType::Time { fsp: 3 }, true, time("-01:02:03.456")),
        ("dtm", SqlType::DateTime { fsp: 0 }, true, datetime("2024-02-29 13:14:15")),
        ("dtm6", SqlType::DateTime { fsp: 6 }, true, datetime("2024-02-29 13:14:15.123456")),
        ("ts", SqlType::Timestamp { fsp: 0 }, true, datetime("2024-02-29 13:14:15")),
        ("y", SqlType::Year(4), true, Value::Int(2024)),
        ("bt", SqlType::Bit(8), true, Value::UInt(5)),
        ("e", SqlType::Enum(members(&["a", "bb", "c"])), true, Value::UInt(2)),
        ("s", SqlType::Set(members(&["x", "y", "z"])), true, Value::UInt(5)),
        (
            "js",
            text(TextKind::LongText, u32::MAX, Collation::UTF8MB4_BIN),
            true,
            Value::text("{\"a\": [1, 2], \"b\": \"x\"}"),
        ),
        ("nn", int(IntWidth::Int, 11, false), false, Value::Int(5)),
        ("l1", text(TextKind::VarChar, 10, Collation::LATIN1_SWEDISH_CI), true, Value::text("latiné")),
        ("vbin", text(TextKind::VarChar, 10, Collation::UTF8MB4_BIN), true, Value::text("Bin")),
        ("n", int(IntWidth::Int, 11, false), true, Value::Null),
        (
            "vu",
            text(TextKind::VarChar, 10, Collation::by_name("utf8mb4_unicode_ci").expect("known")),
            true,
            Value::text("Uni"),
        ),
    ]
}

/// The rows of table `g` of the capture script: i int, d decimal(10,2), dbl double, v varchar(10), dt date.
pub fn group_columns() -> Vec<(&'static str, SqlType)> {
    let dec = SqlType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false };
    vec![
        ("i", int(IntWidth::Int, 11, false)),
        ("d", dec),
        ("dbl", SqlType::DOUBLE),
        ("v", text(TextKind::VarChar, 10, Collation::UTF8MB4_GENERAL_CI)),
        ("dt", SqlType::Date),
    ]
}

/// The rows of table `g`.
pub fn group_rows() -> Vec<Vec<Value>> {
    vec![
        vec![Value::Int(3), decimal("1.10"), Value::Double(1.5), Value::text("b"), date("2024-01-02")],
        vec![Value::Int(-7), decimal("2.25"), Value::Double(2.25), Value::text("A"), date("2023-12-31")],
        vec![Value::Null, Value::Null, Value::Null, Value::Null, Value::Null],
        vec![Value::Int(3), decimal("-4.00"), Value::Double(-8.0), Value::text("c"), date("2024-02-29")],
        vec![Value::Int(12), decimal("0.33"), Value::Double(0.125), Value::text("a"), date("2024-01-02")],
    ]
}

/// A statement's context with a fixed time and no session behind it.
pub struct Context {
    settings: EvalSettings,
    pub diag: Diagnostics,
    session: Session,
    states: std::collections::HashMap<usize, [u64; 2]>,
}

impl Context {
    pub fn new() -> Context {
        Context::with_packet(16 << 20)
    }

    /// With `max_allowed_packet`, bytes.
    pub fn with_packet(max_allowed_packet: usize) -> Context {
        Context {
            settings: EvalSettings {
                sql_mode: SqlMode::DEFAULT,
                time_zone: TimeZone::Offset(0),
                now_utc_micros: NOW_UTC_MICROS,
                collation_connection: Collation::UTF8MB4_GENERAL_CI,
                div_precision_increment: 4,
                max_allowed_packet,
                group_concat_max_len: 1 << 20,
                default_week_format: 0,
                ignore: false,
            },
            diag: Diagnostics::default(),
            session: Session,
            states: Default::default(),
        }
    }
}

struct Session;

impl SessionInfo for Session {
    fn connection_id(&self) -> u64 {
        3
    }
    fn user(&self) -> String {
        "root@localhost".into()
    }
    fn current_user(&self) -> String {
        "root@localhost".into()
    }
    fn current_role(&self) -> Option<String> {
        None
    }
    fn database(&self) -> Option<String> {
        Some("fx".into())
    }
    fn version(&self) -> String {
        "10.11.19-MariaDB-0+deb12u1".into()
    }
    fn last_insert_id(&self) -> u64 {
        0
    }
    fn set_last_insert_id(&mut self, _: u64) {}
    fn row_count(&self) -> i64 {
        -1
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn get_lock(&mut self, _: &str, _: f64) -> SqlResult<Value> {
        Ok(Value::Int(1))
    }
    fn release_lock(&mut self, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn release_all_locks(&mut self) -> SqlResult<Value> {
        Ok(Value::Int(0))
    }
    fn used_lock(&mut self, _: &str) -> Option<u64> {
        None
    }
    fn sleep(&mut self, _: f64) -> SqlResult<bool> {
        Ok(false)
    }
    fn rand(&mut self) -> f64 {
        0.5
    }
    fn uuid_short(&mut self) -> u64 {
        1
    }
    fn sequence_next(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_last(&mut self, _: &str, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn sequence_set(&mut self, _: &str, _: &str, _: i64) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn load_file(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn replication_function(&mut self, _: &str, _: &[Value]) -> SqlResult<Value> {
        Ok(Value::Null)
    }
}

impl EvalContext for Context {
    fn params(&self) -> &[Value] {
        &[]
    }
    fn correlated(&self) -> &[Value] {
        &[]
    }
    fn settings(&self) -> &EvalSettings {
        &self.settings
    }
    fn diag(&mut self) -> &mut Diagnostics {
        &mut self.diag
    }
    fn convert(&mut self) -> ConvertCtx<'_> {
        ConvertCtx {
            sql_mode: self.settings.sql_mode,
            time_zone: &self.settings.time_zone,
            now_utc_micros: self.settings.now_utc_micros,
            diag: &mut self.diag,
            ignore: false,
        }
    }
    fn run_subquery(&mut self, _: &Subquery, _: Vec<Value>, _: usize) -> SqlResult<Arc<Vec<Value>>> {
        Err(sql_err!(ER_UNKNOWN_ERROR))
    }
    fn in_subquery(&mut self, _: &Subquery, _: Vec<Value>, _: &[Value]) -> SqlResult<Option<bool>> {
        Err(sql_err!(ER_UNKNOWN_ERROR))
    }
    fn user_var(&self, _: &str) -> Option<(Value, SqlType)> {
        None
    }
    fn set_user_var(&mut self, _: &str, _: Value, _: SqlType) {}
    fn system_var(&mut self, _: VarScope, _: &str) -> SqlResult<Value> {
        Ok(Value::Null)
    }
    fn session(&mut self) -> &mut dyn SessionInfo {
        &mut self.session
    }
    fn check_killed(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn column_name(&self, slot: usize) -> Option<String> {
        columns().get(slot).map(|c| format!("`fx`.`t1`.`{}`", c.0))
    }
    fn call_state(&mut self, call: usize) -> Option<&mut [u64; 2]> {
        Some(self.states.entry(call).or_default())
    }
}

/// A type as SHOW CREATE TABLE of a table made from the expression prints it; the default collation is left out.
pub fn show_type(ty: &SqlType, nullable: bool) -> String {
    let sign = |u: &bool| if *u { " unsigned" } else { "" };
    let digits = |d: &Option<(u8, u8)>| d.map_or(String::new(), |(m, d)| format!("({m},{d})"));
    let fsp = |f: &u8| if *f > 0 { format!("({f})") } else { String::new() };
    let mut s = match ty {
        SqlType::Null => "binary(0)".to_string(),
        SqlType::Int { width, unsigned, display, .. } => {
            let name = match width {
                IntWidth::Tiny => "tinyint",
                IntWidth::Small => "smallint",
                IntWidth::Medium => "mediumint",
                IntWidth::Int => "int",
                IntWidth::Big => "bigint",
            };
            format!("{name}({display}){}", sign(unsigned))
        }
        SqlType::Bit(n) => format!("bit({n})"),
        SqlType::Year(n) => format!("year({n})"),
        SqlType::Float { unsigned, digits: d, .. } => format!("float{}{}", digits(d), sign(unsigned)),
        SqlType::Double { unsigned, digits: d, .. } => format!("double{}{}", digits(d), sign(unsigned)),
        SqlType::Decimal { precision, scale, unsigned, .. } => {
            format!("decimal({precision},{scale}){}", sign(unsigned))
        }
        SqlType::Date => "date".into(),
        SqlType::Time { fsp: f } => format!("time{}", fsp(f)),
        SqlType::DateTime { fsp: f } => format!("datetime{}", fsp(f)),
        SqlType::Timestamp { fsp: f } => format!("timestamp{}", fsp(f)),
        SqlType::Enum(d) | SqlType::Set(d) => {
            let name = if matches!(ty, SqlType::Enum(_)) { "enum" } else { "set" };
            let members: Vec<String> = d.members.iter().map(|m| format!("'{m}'")).collect();
            format!("{name}({})", members.join(","))
        }
        SqlType::Text { kind, len, collation } => {
            let binary = collation.is_binary();
            match (kind, binary) {
                (TextKind::Char, false) => format!("char({len})"),
                (TextKind::Char, true) => format!("binary({len})"),
                (TextKind::VarChar, false) if *len == 0 => "char(0)".into(),
                (TextKind::VarChar, true) if *len == 0 => "binary(0)".into(),
                (TextKind::VarChar, false) => format!("varchar({len})"),
                (TextKind::VarChar, true) => format!("varbinary({len})"),
                (TextKind::TinyText, false) => "tinytext".into(),
                (TextKind::TinyText, true) => "tinyblob".into(),
                (TextKind::Text, false) => "text".into(),
                (TextKind::Text, true) => "blob".into(),
                (TextKind::MediumText, false) => "mediumtext".into(),
                (TextKind::MediumText, true) => "mediumblob".into(),
                (TextKind::LongText, false) => "longtext".into(),
                (TextKind::LongText, true) => "longblob".into(),
            }
        }
    };
    if let Some(c) = ty.collation()
        && !c.is_binary()
        && c != Collation::UTF8MB4_GENERAL_CI
    {
        s += &format!(" CHARACTER SET {} COLLATE {}", c.charset().name(), c.name());
    }
    if !nullable {
        s += " NOT NULL";
    }
    s
}

/// A value as the capture script writes it: `NULL`, text with escapes, binary as hex.
pub fn show_value(v: &Value, ty: &SqlType) -> String {
    if v.is_null() {
        return "NULL".into();
    }
    let mut out = Vec::new();
    convert::write_text(v, ty, &mut out);
    let binary =
        matches!(ty, SqlType::Bit(_)) || matches!(ty, SqlType::Text { collation, .. } if collation.is_binary());
    if binary {
        let mut s = String::from("0x");
        for b in out {
            s += &format!("{b:02X}");
        }
        return s;
    }
    String::from_utf8_lossy(&out).replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\0', "\\0")
}
