//! The columns of virtual tables and of SHOW's results, read once from `data/columns.tsv` and `data/show.tsv`.
//!
//! A line `@db.table` begins a table; each line behind it is a column: name, type, Y or N for nullable, default
//! (`-`: none), collation (`-`: the usual one), key (if any), separated by tabs.

use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use selkie_types::{Collation, EnumDef, IntWidth, SqlType, TextKind};

/// A virtual table's definition.
#[derive(Debug)]
pub struct Definition {
    /// Database.
    pub db: &'static str,
    /// Name as MariaDB writes it.
    pub name: &'static str,
    /// Columns.
    pub columns: Vec<ColumnDefinition>,
}

/// A column of a virtual table.
#[derive(Debug)]
pub struct ColumnDefinition {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// DEFAULT as information_schema shows it.
    pub default: Option<&'static str>,
    /// `PRI`, `MUL` or nothing.
    pub key: &'static str,
}

struct Definitions {
    all: Vec<Definition>,
    /// Position by lower-case `db.name`.
    by_name: HashMap<String, usize>,
}

fn parse(text: &'static str) -> Vec<Definition> {
    let mut all: Vec<Definition> = Vec::new();
    for line in text.lines() {
        if let Some((db, name)) = line.strip_prefix('@').and_then(|l| l.split_once('.')) {
            all.push(Definition { db, name, columns: Vec::new() });
        } else if let (Some(table), Some(column)) = (all.last_mut(), column(line)) {
            table.columns.push(column);
        }
    }
    all
}

static SHOW: LazyLock<Vec<Definition>> = LazyLock::new(|| parse(include_str!("../../data/show.tsv")));

/// The columns of a SHOW statement's result.
pub fn of_show(name: &str) -> &'static [ColumnDefinition] {
    SHOW.iter().find(|d| d.name == name).map_or(&[], |d| &d.columns)
}

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let mut all = parse(include_str!("../../data/columns.tsv"));
    all.sort_by_key(|d| (d.db, d.name.to_ascii_uppercase()));
    let by_name = all.iter().enumerate().map(|(i, d)| (format!("{}.{}", d.db, d.name).to_lowercase(), i)).collect();
    Definitions { all, by_name }
});

/// The databases that have virtual tables.
pub const DATABASES: [&str; 3] = ["information_schema", "mysql", "performance_schema"];

/// Every virtual table, by database and name.
pub fn all() -> &'static [Definition] {
    &DEFINITIONS.all
}

/// A virtual table by name. Only names in information_schema and performance_schema are found in any letter case.
pub fn find(db: &str, name: &str) -> Option<&'static Definition> {
    let d = &DEFINITIONS.all[*DEFINITIONS.by_name.get(&format!("{db}.{name}").to_lowercase())?];
    (d.db != "mysql" || (db == d.db && name == d.name)).then_some(d)
}

/// The virtual tables of a database (lower case), by name.
pub fn of_database(db: &str) -> &'static [Definition] {
    let all = &DEFINITIONS.all;
    let from = all.partition_point(|d| d.db < db);
    let to = all.partition_point(|d| d.db <= db);
    &all[from..to]
}

impl Definition {
    /// Position of a column by name in MariaDB's spelling.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(column))
    }

    /// Whether a column is a BLOB or TEXT, so that MariaDB shows another engine.
    pub fn has_blob(&self) -> bool {
        self.columns.iter().any(|c| matches!(&c.ty, SqlType::Text { kind, .. } if kind.blob_limit().is_some()))
    }
}

fn column(line: &'static str) -> Option<ColumnDefinition> {
    let mut fields = line.split('\t');
    let (name, ty, nullable) = (fields.next()?, fields.next()?, fields.next()?);
    let default = fields.next().filter(|d| *d != "-");
    let collation = fields.next().filter(|c| *c != "-").and_then(Collation::by_name);
    let key = fields.next().unwrap_or("");
    Some(ColumnDefinition {
        name,
        ty: parse_type(ty, collation.unwrap_or(Collation::UTF8MB3_GENERAL_CI)),
        nullable: nullable == "Y",
        default,
        key,
    })
}

const SQL_MODES: &str = "REAL_AS_FLOAT PIPES_AS_CONCAT ANSI_QUOTES IGNORE_SPACE IGNORE_BAD_TABLE_OPTIONS ONLY_FULL_GROUP_BY \
    NO_UNSIGNED_SUBTRACTION NO_DIR_IN_CREATE POSTGRESQL ORACLE MSSQL DB2 MAXDB NO_KEY_OPTIONS NO_TABLE_OPTIONS \
    NO_FIELD_OPTIONS MYSQL323 MYSQL40 ANSI NO_AUTO_VALUE_ON_ZERO NO_BACKSLASH_ESCAPES STRICT_TRANS_TABLES \
    STRICT_ALL_TABLES NO_ZERO_IN_DATE NO_ZERO_DATE INVALID_DATES ERROR_FOR_DIVISION_BY_ZERO TRADITIONAL \
    NO_AUTO_CREATE_USER HIGH_NOT_PRECEDENCE NO_ENGINE_SUBSTITUTION PAD_CHAR_TO_FULL_LENGTH EMPTY_STRING_IS_NULL \
    SIMULTANEOUS_ASSIGNMENT TIME_ROUND_FRACTIONAL";

/// A type as `column_type` prints it; what is not known is a long text.
fn parse_type(text: &str, collation: Collation) -> SqlType {
    let (word, rest) = text.split_once('(').unwrap_or((text, ""));
    let (inner, attributes) = rest.rsplit_once(')').unwrap_or(("", rest));
    let unsigned = attributes.contains("unsigned");
    let number = || inner.parse::<u32>().ok();
    let int = |width: IntWidth| SqlType::Int {
        width,
        unsigned,
        zerofill: false,
        display: number().map_or(width.default_display(unsigned), |n| n as u8),
    };
    let string = |kind, len, collation| SqlType::Text { kind, len, collation };
    let long = |kind: TextKind, collation| SqlType::Text { kind, len: kind.blob_limit().unwrap_or(0), collation };
    let members = || {
        let members = if inner == "$SQL_MODES" {
            SQL_MODES.split_whitespace().map(str::to_owned).collect()
        } else {
            inner.split("','").map(|m| m.trim_matches('\'').to_owned()).collect()
        };
        Arc::new(EnumDef { members, collation })
    };
    match word {
        "tinyint" => int(IntWidth::Tiny),
        "smallint" => int(IntWidth::Small),
        "mediumint" => int(IntWidth::Medium),
        "int" => int(IntWidth::Int),
        w if w.starts_with("bigint") => SqlType::Int {
            width: IntWidth::Big,
            unsigned: text.contains("unsigned"),
            zerofill: false,
            display: number().unwrap_or(20) as u8,
        },
        "float" => SqlType::Float { unsigned, zerofill: false, digits: None },
        "double" => {
            let digits = inner.split_once(',').and_then(|(m, d)| Some((m.parse().ok()?, d.parse().ok()?)));
            SqlType::Double { unsigned, zerofill: false, digits }
        }
        "decimal" => {
            let (p, s) = inner.split_once(',').unwrap_or((inner, "0"));
            SqlType::Decimal {
                precision: p.parse().unwrap_or(10),
                scale: s.parse().unwrap_or(0),
                unsigned,
                zerofill: false,
            }
        }
        "date" => SqlType::Date,
        "time" => SqlType::Time { fsp: number().unwrap_or(0) as u8 },
        "datetime" => SqlType::DateTime { fsp: number().unwrap_or(0) as u8 },
        "timestamp" => SqlType::Timestamp { fsp: number().unwrap_or(0) as u8 },
        "char" => string(TextKind::Char, number().unwrap_or(1), collation),
        "varchar" => string(TextKind::VarChar, number().unwrap_or(64), collation),
        "binary" => string(TextKind::Char, number().unwrap_or(1), Collation::BINARY),
        "varbinary" => string(TextKind::VarChar, number().unwrap_or(64), Collation::BINARY),
        "enum" => SqlType::Enum(members()),
        "set" => SqlType::Set(members()),
        "tinytext" => long(TextKind::TinyText, collation),
        "text" => long(TextKind::Text, collation),
        "mediumtext" => long(TextKind::MediumText, collation),
        "blob" => long(TextKind::Text, Collation::BINARY),
        "mediumblob" => long(TextKind::MediumText, Collation::BINARY),
        "longblob" => long(TextKind::LongText, Collation::BINARY),
        _ => long(TextKind::LongText, collation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_understood() {
        let mut columns = 0;
        for line in include_str!("../../data/columns.tsv").lines().filter(|l| !l.starts_with('@')) {
            let c = column(line).expect(line);
            let shown = line.split('\t').nth(1).unwrap();
            if !shown.contains("$SQL_MODES") {
                assert_eq!(c.ty.column_type(), shown, "{line}");
            }
            columns += 1;
        }
        assert!(columns > 2000);
    }

    #[test]
    fn names_are_found() {
        assert_eq!(find("INFORMATION_SCHEMA", "tables").unwrap().columns.len(), 23);
        assert!(find("mysql", "user").is_some() && find("MYSQL", "user").is_none());
        assert!(find("information_schema", "nothing").is_none());
        assert!(of_database("mysql").iter().all(|d| d.db == "mysql") && of_database("mysql").len() == 31);
    }
}
