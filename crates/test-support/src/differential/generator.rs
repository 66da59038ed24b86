//! Random statements on a few tables with columns of many types.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::expression::{Expressions, Kind};

/// A statement, and what of its answer is certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// The order of its rows is certain.
    pub ordered: bool,
}

/// A table's columns, by kind; `id` is the primary key.
pub(super) const COLUMNS: &[(&str, &str, Kind)] = &[
    ("i", "INT", Kind::Integer),
    ("u", "BIGINT UNSIGNED", Kind::Integer),
    ("d", "DECIMAL(12,3)", Kind::Decimal),
    ("f", "DOUBLE", Kind::Float),
    ("s", "VARCHAR(20)", Kind::Text),
    ("c", "CHAR(6) COLLATE utf8mb4_bin", Kind::Text),
    ("dt", "DATETIME(2)", Kind::Temporal),
    ("da", "DATE", Kind::Temporal),
];
const TABLES: &[&str] = &["t1", "t2", "t3"];
const ROWS_AT_START: usize = 40;

/// Makes statements. The same seed makes the same ones.
pub struct Generator {
    expressions: Expressions,
    next_id: i64,
}

impl Generator {
    /// From a seed.
    pub fn new(seed: u64) -> Generator {
        Generator { expressions: Expressions::new(StdRng::seed_from_u64(seed)), next_id: 1 }
    }

    fn rng(&mut self) -> &mut StdRng {
        &mut self.expressions.rng
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng().random_range(0..100) < percent
    }

    fn table(&mut self) -> &'static str {
        TABLES.choose(self.rng()).copied().unwrap_or("t1")
    }

    /// Statements that make the tables and fill them.
    pub fn setup(&mut self) -> Vec<String> {
        let columns: Vec<String> = COLUMNS.iter().map(|(name, sql, _)| format!("{name} {sql}")).collect();
        let keys = [", KEY (i), KEY (s, d)", ", KEY (d), KEY (dt, i)", ", UNIQUE KEY (u), KEY (c)"];
        let mut out = Vec::new();
        for (table, keys) in TABLES.iter().zip(keys) {
            out.push(format!("CREATE TABLE {table} (id INT PRIMARY KEY, {}{keys})", columns.join(", ")));
            for _ in 0..ROWS_AT_START {
                let row = self.row();
                out.push(format!("INSERT INTO {table} VALUES ({row})"));
            }
        }
        out
    }

    /// An id that some row has had.
    fn old_id(&mut self) -> i64 {
        let next = self.next_id.max(2);
        self.rng().random_range(1..next)
    }

    /// Values for all columns of a row, with a new id.
    fn row(&mut self) -> String {
        let id = self.next_id;
        self.next_id += 1;
        let mut values = vec![id.to_string()];
        for (name, _, kind) in COLUMNS {
            // Unique: mostly the id's own number, so that most inserts succeed.
            values.push(if *name == "u" { (id * 3).to_string() } else { self.expressions.literal(*kind) });
        }
        values.join(", ")
    }

    /// The next statement.
    pub fn next_statement(&mut self) -> Statement {
        let kind = self.rng().random_range(0..100);
        match kind {
            0..30 => self.select(),
            30..45 => self.grouped(),
            45..55 => self.joined(),
            55..62 => self.subquery(),
            62..75 => self.scalar(),
            75..83 => self.insert(),
            83..92 => self.update(),
            92..97 => self.delete(),
            _ => self.union(),
        }
    }

    fn any_kind(&mut self) -> Kind {
        [Kind::Integer, Kind::Decimal, Kind::Float, Kind::Text, Kind::Temporal]
            .choose(self.rng())
            .copied()
            .unwrap_or(Kind::Integer)
    }

    fn items(&mut self, scope: &[&str]) -> String {
        let count = self.rng().random_range(1..4);
        let items: Vec<String> = (0..count)
            .map(|n| {
                let kind = self.any_kind();
                format!("{} AS x{n}", self.expressions.value(kind, scope, 2))
            })
            .collect();
        items.join(", ")
    }

    fn where_clause(&mut self, scope: &[&str]) -> String {
        if self.chance(15) { String::new() } else { format!(" WHERE {}", self.expressions.condition(scope, 3)) }
    }

    fn select(&mut self) -> Statement {
        let table = self.table();
        let items = self.items(&[""]);
        let mut sql = format!("SELECT id, {items} FROM {table}{}", self.where_clause(&[""]));
        let ordered = self.chance(60);
        if ordered {
            let column = COLUMNS.choose(self.rng()).map_or("i", |c| c.0);
            let direction = if self.chance(50) { " DESC" } else { "" };
            sql.push_str(&format!(" ORDER BY {column}{direction}, id"));
            if self.chance(40) {
                let (limit, offset) = (self.rng().random_range(0..20), self.rng().random_range(0..10));
                sql.push_str(&format!(" LIMIT {limit} OFFSET {offset}"));
            }
        } else if self.chance(20) {
            let kind = self.any_kind();
            let value = self.expressions.value(kind, &[""], 1);
            sql = format!("SELECT DISTINCT {value} AS x FROM {table}{}", self.where_clause(&[""]));
        }
        Statement { sql, ordered }
    }

    fn aggregate(&mut self) -> String {
        let kind = self.any_kind();
        let value = self.expressions.value(kind, &[""], 1);
        let number_kind = if self.chance(50) { Kind::Integer } else { Kind::Decimal };
        let number = self.expressions.value(number_kind, &[""], 1);
        match self.rng().random_range(0..9) {
            0 => "COUNT(*)".to_owned(),
            1 => format!("COUNT({value})"),
            2 => format!("COUNT(DISTINCT {value})"),
            3 => format!("SUM({number})"),
            4 => format!("AVG({number})"),
            5 => format!("MIN({value})"),
            6 => format!("MAX({value})"),
            7 => format!("SUM(DISTINCT {number})"),
            _ => "GROUP_CONCAT(id ORDER BY id)".to_owned(),
        }
    }

    fn grouped(&mut self) -> Statement {
        let table = self.table();
        let aggregates: Vec<String> =
            (0..self.rng().random_range(1..4)).map(|n| format!("{} AS a{n}", self.aggregate())).collect();
        let aggregates = aggregates.join(", ");
        let condition = self.where_clause(&[""]);
        if self.chance(30) {
            return Statement { sql: format!("SELECT {aggregates} FROM {table}{condition}"), ordered: false };
        }
        let by = ["i", "d", "da", "i % 4", "c", "YEAR(dt)"].choose(self.rng()).copied().unwrap_or("i");
        let having = if self.chance(30) { " HAVING COUNT(*) > 1" } else { "" };
        let sql = format!("SELECT {by} AS g, {aggregates} FROM {table}{condition} GROUP BY {by}{having}");
        Statement { sql, ordered: false }
    }

    fn joined(&mut self) -> Statement {
        let (left, right) = (self.table(), self.table());
        let kind = ["JOIN", "LEFT JOIN", "RIGHT JOIN"].choose(self.rng()).copied().unwrap_or("JOIN");
        let on = ["a.i = b.i", "a.id = b.id", "a.s = b.s", "a.u = b.u", "a.d < b.d AND a.i = b.i", "a.da = b.da"]
            .choose(self.rng())
            .copied()
            .unwrap_or("a.i = b.i");
        let items = self.items(&["a.", "b."]);
        let condition = self.where_clause(&["a.", "b."]);
        let sql = format!(
            "SELECT a.id, b.id AS id2, {items} FROM {left} a {kind} {right} b ON {on}{condition} ORDER BY a.id, b.id"
        );
        Statement { sql, ordered: true }
    }

    fn subquery(&mut self) -> Statement {
        let (outer, inner) = (self.table(), self.table());
        let condition = self.expressions.condition(&["y."], 2);
        let predicate = match self.rng().random_range(0..5) {
            0 => format!("EXISTS (SELECT 1 FROM {inner} y WHERE y.i = x.i AND {condition})"),
            1 => format!("x.i IN (SELECT y.i FROM {inner} y WHERE {condition})"),
            2 => format!("x.i NOT IN (SELECT y.i FROM {inner} y WHERE {condition})"),
            3 => format!("x.d > (SELECT AVG(y.d) FROM {inner} y WHERE {condition})"),
            _ => format!("x.d <= ALL (SELECT y.d FROM {inner} y WHERE {condition})"),
        };
        Statement { sql: format!("SELECT id FROM {outer} x WHERE {predicate} ORDER BY id"), ordered: true }
    }

    fn scalar(&mut self) -> Statement {
        let items: Vec<String> = (0..self.rng().random_range(1..4))
            .map(|n| {
                let kind = self.any_kind();
                format!("{} AS x{n}", self.expressions.value(kind, &[], 3))
            })
            .collect();
        Statement { sql: format!("SELECT {}", items.join(", ")), ordered: true }
    }

    fn insert(&mut self) -> Statement {
        let table = self.table();
        let ignore = if self.chance(15) { "IGNORE " } else { "" };
        let mut row = self.row();
        if self.chance(15) {
            // A key that is there already.
            let id = self.old_id();
            row = row.split_once(", ").map(|(_, rest)| format!("{id}, {rest}")).unwrap_or(row);
        }
        let tail = if self.chance(20) { " ON DUPLICATE KEY UPDATE i = i + 1, s = 'dup'" } else { "" };
        Statement { sql: format!("INSERT {ignore}INTO {table} VALUES ({row}){tail}"), ordered: true }
    }

    fn update(&mut self) -> Statement {
        let table = self.table();
        let (name, kind) = COLUMNS.choose(self.rng()).map_or(("i", Kind::Integer), |(n, _, k)| (*n, *k));
        let value = self.expressions.value(kind, &[""], 2);
        let condition = self.narrow_condition();
        Statement { sql: format!("UPDATE {table} SET {name} = {value} WHERE {condition} ORDER BY id"), ordered: true }
    }

    fn delete(&mut self) -> Statement {
        let table = self.table();
        let id = self.old_id();
        Statement { sql: format!("DELETE FROM {table} WHERE id = {id}"), ordered: true }
    }

    /// A condition that leaves most rows alone, so that data does not wear out.
    fn narrow_condition(&mut self) -> String {
        let from = self.old_id();
        format!("id BETWEEN {from} AND {}", from + 2)
    }

    fn union(&mut self) -> Statement {
        let (left, right) = (self.table(), self.table());
        let word = ["UNION", "UNION ALL", "EXCEPT", "INTERSECT"].choose(self.rng()).copied().unwrap_or("UNION");
        let (a, b) = (self.where_clause(&[""]), self.where_clause(&[""]));
        let sql = format!("SELECT i, s FROM {left}{a} {word} SELECT i, s FROM {right}{b}");
        Statement { sql, ordered: false }
    }
}
