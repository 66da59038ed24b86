//! Random tables.

use super::expression::{Expressions, Kind, Name};

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type with attributes, as in CREATE TABLE.
    pub definition: String,
    /// What its values are.
    pub kind: Kind,
    /// Texts that it takes, where only some are.
    members: &'static [&'static str],
    /// It takes NULL.
    nullable: bool,
}

/// A table; its primary key is the column `id`.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Columns behind `id`.
    pub columns: Vec<Column>,
    keys: Vec<String>,
}

const MEMBERS: &[&str] = &["a", "b", "hello", "x y"];

const TYPES: &[(&str, Kind)] = &[
    ("TINYINT", Kind::Integer),
    ("SMALLINT", Kind::Integer),
    ("MEDIUMINT", Kind::Integer),
    ("INT", Kind::Integer),
    ("INT", Kind::Integer),
    ("BIGINT", Kind::Integer),
    ("INT UNSIGNED", Kind::Integer),
    ("BIGINT UNSIGNED", Kind::Integer),
    ("TINYINT(1)", Kind::Integer),
    ("DECIMAL(12,3)", Kind::Decimal),
    ("DECIMAL(5,1)", Kind::Decimal),
    ("DECIMAL(30,10)", Kind::Decimal),
    ("DECIMAL(8,2) UNSIGNED", Kind::Decimal),
    ("DOUBLE", Kind::Float),
    ("FLOAT", Kind::Float),
    ("VARCHAR(20)", Kind::Text),
    ("VARCHAR(20) COLLATE utf8mb4_bin", Kind::Text),
    ("VARCHAR(12) COLLATE utf8mb4_unicode_ci", Kind::Text),
    ("CHAR(6)", Kind::Text),
    ("CHAR(10) COLLATE utf8mb4_bin", Kind::Text),
    ("TEXT", Kind::Text),
    ("VARBINARY(20)", Kind::Text),
    ("BLOB", Kind::Text),
    ("ENUM('a','b','hello','x y')", Kind::Text),
    ("SET('a','b','hello','x y')", Kind::Text),
    ("DATE", Kind::Date),
    ("DATETIME", Kind::DateTime),
    ("DATETIME(3)", Kind::DateTime),
    ("TIMESTAMP NULL", Kind::DateTime),
    ("TIME", Kind::Time),
    ("TIME(2)", Kind::Time),
];

impl Table {
    /// A table with a column of each kind and a few more.
    pub fn random(name: &str, make: &mut Expressions) -> Table {
        let mut columns = Vec::new();
        for (n, kind) in Kind::ALL.iter().chain(&[Kind::Integer, Kind::Text, Kind::Text]).enumerate() {
            let fitting: Vec<&(&str, Kind)> = TYPES.iter().filter(|t| t.1 == *kind).collect();
            let Some((sql, kind)) = make.draw.of(&fitting).copied().copied() else { continue };
            let nullable = !make.draw.chance(15);
            let mut definition = sql.to_owned();
            if !nullable {
                definition = definition.replace(" NULL", "");
                definition.push_str(" NOT NULL");
            } else if make.draw.chance(15) && !sql.contains("TEXT") && !sql.contains("BLOB") {
                let default = match kind {
                    Kind::Integer => "7",
                    Kind::Decimal => "1.5",
                    Kind::Float => "2.5",
                    Kind::Text => "'a'",
                    Kind::Date | Kind::DateTime => "'2020-02-02'",
                    Kind::Time => "'10:00:00'",
                };
                definition.push_str(&format!(" DEFAULT {default}"));
            }
            let members = if sql.starts_with("ENUM") || sql.starts_with("SET") { MEMBERS } else { &[] };
            columns.push(Column { name: format!("c{n}"), definition, kind, members, nullable });
        }
        let mut keys = Vec::new();
        for _ in 0..make.draw.below(4) {
            let parts: Vec<String> = (0..1 + make.draw.below(2)).filter_map(|_| make.draw.of(&columns).map(Column::key_part)).collect();
            let distinct = parts.len() < 2 || parts[0] != parts[1];
            if distinct {
                let unique = if make.draw.chance(12) { "UNIQUE " } else { "" };
                keys.push(format!("{unique}KEY ({})", parts.join(", ")));
            }
        }
        Table { name: name.to_owned(), columns, keys }
    }

    /// Its CREATE TABLE.
    pub fn create(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| format!("{} {}", c.name, c.definition)).collect();
        let keys: String = self.keys.iter().map(|k| format!(", {k}")).collect();
        format!("CREATE TABLE {} (id INT PRIMARY KEY, {}{keys})", self.name, columns.join(", "))
    }

    /// Its columns under an alias; `prefix` is empty or ends with a dot.
    pub fn names(&self, prefix: &str) -> Vec<Name> {
        let id = Name { text: format!("{prefix}id"), kind: Kind::Integer };
        let others = self.columns.iter().map(|c| Name { text: format!("{prefix}{}", c.name), kind: c.kind });
        std::iter::once(id).chain(others).collect()
    }

    /// Values of a row.
    pub fn row(&self, id: i64, make: &mut Expressions) -> String {
        let mut values = vec![id.to_string()];
        values.extend(self.columns.iter().map(|c| c.value(make)));
        values.join(", ")
    }
}

impl Column {
    fn key_part(&self) -> String {
        let long = self.definition.starts_with("TEXT") || self.definition.starts_with("BLOB");
        if long { format!("{}(8)", self.name) } else { self.name.clone() }
    }

    /// A value that mostly fits.
    pub fn value(&self, make: &mut Expressions) -> String {
        if self.nullable && make.draw.chance(8) {
            return "NULL".to_owned();
        }
        if make.draw.chance(2) {
            // Does it fit?
            let kind = make.plain_kind();
            let literal = make.literal(kind);
            return if make.draw.chance(20) { make.draw.pick(&["0x10", "b'101'", "x'31'"]).to_owned() } else { literal };
        }
        if !self.members.is_empty() {
            return format!("'{}'", make.draw.pick(self.members));
        }
        let small = self.definition.starts_with("TINYINT") || self.definition.contains("UNSIGNED") || self.definition.contains("(5,1)");
        if small && make.draw.chance(95) {
            let n = make.draw.range(0, 100);
            return if self.kind == Kind::Decimal { format!("{n}.5") } else { n.to_string() };
        }
        loop {
            let literal = make.literal(self.kind);
            if literal != "NULL" {
                return literal;
            }
        }
    }
}
