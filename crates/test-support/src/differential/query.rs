//! Random queries.

use super::expression::{Expressions, Inner, Kind, Name};
use super::generator::Statement;
use super::schema::Table;

/// Rows to select from.
struct From {
    /// The text behind FROM.
    text: String,
    /// The columns that can be named.
    names: Vec<Name>,
    /// Columns that order the rows completely, if there are any.
    key: Option<String>,
}

/// Makes queries over the tables.
pub(super) struct Queries<'a> {
    pub make: &'a mut Expressions,
    pub tables: &'a [Table],
}

const JOINS: &[&str] = &["JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "STRAIGHT_JOIN"];

impl Queries<'_> {
    /// A query of any form.
    pub fn query(&mut self) -> Statement {
        match self.make.draw.below(100) {
            0..22 => self.scalar(),
            22..44 => self.simple(),
            44..60 => self.joined(),
            60..75 => self.grouped(),
            75..83 => self.windowed(),
            83..91 => self.set_operation(),
            91..95 => self.distinct(),
            95..97 => self.recursive(),
            _ => self.subquery_in_items(),
        }
    }

    fn table(&mut self) -> Option<&Table> {
        self.make.draw.of(self.tables)
    }

    /// A table under an alias, or now and then a derived table.
    fn source(&mut self, alias: &str) -> From {
        let Some(table) = self.make.draw.of(self.tables) else {
            return From { text: "DUAL".into(), names: Vec::new(), key: None };
        };
        if self.make.draw.chance(12) {
            let all = table.names("");
            let chosen: Vec<Name> = all.iter().filter(|n| n.text == "id" || self.make.draw.chance(60)).cloned().collect();
            let items: Vec<&str> = chosen.iter().map(|n| n.text.as_str()).collect();
            let condition = self.make.condition(&all, 1);
            let text = format!("(SELECT {} FROM {} WHERE {condition}) {alias}", items.join(", "), table.name);
            let names = chosen.iter().map(|n| Name { text: format!("{alias}.{}", n.text), kind: n.kind }).collect();
            return From { text, names, key: Some(format!("{alias}.id")) };
        }
        From { text: format!("{} {alias}", table.name), names: table.names(&format!("{alias}.")), key: Some(format!("{alias}.id")) }
    }

    fn items(&mut self, scope: &[Name], depth: u32) -> String {
        let count = 1 + self.make.draw.below(3);
        let items: Vec<String> = (0..count)
            .map(|n| {
                let kind = self.make.kind();
                format!("{} AS x{n}", self.make.value(kind, scope, depth))
            })
            .collect();
        items.join(", ")
    }

    fn where_clause(&mut self, scope: &[Name]) -> String {
        if self.make.draw.chance(20) { String::new() } else { format!(" WHERE {}", self.make.condition(scope, 2)) }
    }

    fn scalar(&mut self) -> Statement {
        Statement::ordered(format!("SELECT {}", self.items(&[], 3)))
    }

    /// ORDER BY something and the key, often with LIMIT.
    fn order(&mut self, scope: &[Name], key: &str) -> String {
        let first = match self.make.draw.below(3) {
            0 => String::new(),
            1 => self.make.draw.of(scope).map_or_else(String::new, |n| format!("{}, ", n.text)),
            _ => {
                let column = self.make.draw.of(scope).map_or("1", |n| n.text.as_str()).to_owned();
                format!("{column} DESC, ")
            }
        };
        let mut sql = format!(" ORDER BY {first}{key}");
        if self.make.draw.chance(35) {
            sql.push_str(&format!(" LIMIT {}", self.make.draw.below(20)));
            if self.make.draw.chance(40) {
                sql.push_str(&format!(" OFFSET {}", self.make.draw.below(8)));
            }
        }
        sql
    }

    fn simple(&mut self) -> Statement {
        let Some(table) = self.table() else { return self.scalar() };
        let (name, names) = (table.name.clone(), table.names(""));
        let items = if self.make.draw.chance(10) { "*".to_owned() } else { format!("id, {}", self.items(&names, 2)) };
        let mut sql = format!("SELECT {items} FROM {name}{}", self.where_clause(&names));
        if self.make.draw.chance(60) {
            sql.push_str(&self.order(&names, "id"));
            return Statement::ordered(sql);
        }
        Statement::unordered(sql)
    }

    fn join(&mut self) -> From {
        let mut from = self.source("a");
        let count = if self.make.draw.chance(25) { 2 } else { 1 };
        for alias in ["b", "c"].into_iter().take(count) {
            let right = self.source(alias);
            let kind = self.make.draw.pick(JOINS);
            let (left_key, right_key) = (from.key.clone(), right.key.clone());
            if self.make.draw.chance(8) && count == 1 {
                let natural = self.make.draw.pick(&["", "LEFT ", "RIGHT "]);
                from.text = format!("{} {natural}JOIN {} USING (id)", from.text, right.text);
            } else {
                let on = match self.make.draw.below(6) {
                    0 | 1 => format!("{alias}.id = a.id"),
                    2 | 3 => {
                        let kind = self.make.kind();
                        let (l, r) = (self.make.value(kind, &from.names, 0), self.make.value(kind, &right.names, 0));
                        format!("{l} = {r}")
                    }
                    4 => {
                        let mut both = from.names.clone();
                        both.extend_from_slice(&right.names);
                        format!("a.id = {alias}.id AND {}", self.make.condition(&both, 1))
                    }
                    _ => {
                        let (n, m) = (self.make.draw.range(2, 9), self.make.draw.range(0, 4));
                        format!("a.id % {n} = {alias}.id % {n} AND {alias}.id > {m}")
                    }
                };
                from.text = format!("{} {kind} {} ON {on}", from.text, right.text);
            }
            from.names.extend(right.names);
            from.key = left_key.zip(right_key).map(|(l, r)| format!("{l}, {r}"));
        }
        from
    }

    fn joined(&mut self) -> Statement {
        let from = self.join();
        let key = from.key.clone().unwrap_or_default();
        let items = self.items(&from.names, 1);
        let condition = self.where_clause(&from.names);
        let with = if self.make.draw.chance(10) {
            self.table().map(|t| format!("WITH unused AS (SELECT * FROM {}) ", t.name)).unwrap_or_default()
        } else {
            String::new()
        };
        let mut sql = format!("{with}SELECT {key}, {items} FROM {}{condition}", from.text);
        if self.make.draw.chance(70) && !key.is_empty() {
            sql.push_str(&self.order(&from.names, &key));
            return Statement::ordered(sql).many_tables();
        }
        Statement::unordered(sql).many_tables()
    }

    fn aggregate(&mut self, scope: &[Name], id: &str) -> String {
        let kind = self.make.kind();
        let value = self.make.value(kind, scope, 1);
        let number_kind = if self.make.draw.chance(50) { Kind::Integer } else { Kind::Decimal };
        // How many of a quotient's digits a sum takes in depends on the plan in MariaDB.
        let number = self.make.value(number_kind, scope, 1).replace(" / ", " * ");
        match self.make.draw.below(17) {
            0 => "COUNT(*)".to_owned(),
            1 => format!("COUNT({value})"),
            2 => format!("COUNT(DISTINCT {value})"),
            3 => format!("SUM({number})"),
            4 => format!("AVG({number})"),
            5 => format!("MIN({value})"),
            6 => format!("MAX({value})"),
            7 => format!("SUM(DISTINCT {number})"),
            8 => format!("AVG(DISTINCT {number})"),
            9 => format!("BIT_OR({})", self.make.value(Kind::Integer, scope, 0)),
            10 => format!("BIT_AND({})", self.make.value(Kind::Integer, scope, 0)),
            11 => format!("BIT_XOR({})", self.make.value(Kind::Integer, scope, 0)),
            12 => format!("ROUND(STDDEV_POP({}), 6)", self.make.value(Kind::Integer, scope, 0)),
            13 => format!("ROUND(VAR_SAMP({}), 6)", self.make.value(Kind::Integer, scope, 0)),
            14 => format!("GROUP_CONCAT({value} ORDER BY {id} SEPARATOR '|')"),
            15 => format!("SUM({})", self.make.value(Kind::Float, scope, 0)),
            _ => format!("GROUP_CONCAT({id} ORDER BY {id} DESC)"),
        }
    }

    fn grouped(&mut self) -> Statement {
        // Of DISTINCT values MariaDB's super-aggregate rows count some twice (COMPAT.md).
        let rollup = if self.make.draw.chance(20) { " WITH ROLLUP" } else { "" };
        let from = if self.make.draw.chance(25) { self.join() } else { self.source("a") };
        let id = from.key.clone().unwrap_or_else(|| "1".into());
        let aggregates: Vec<String> =
            (0..1 + self.make.draw.below(3)).map(|n| format!("{} AS g{n}", self.aggregate(&from.names, &id))).collect();
        let mut aggregates = aggregates.join(", ");
        if !rollup.is_empty() {
            aggregates = aggregates.replace("(DISTINCT ", "(");
        }
        let condition = self.where_clause(&from.names);
        if self.make.draw.chance(30) {
            return Statement::unordered(format!("SELECT {aggregates} FROM {}{condition}", from.text)).folded().many_tables();
        }
        let mut by = Vec::new();
        for _ in 0..1 + self.make.draw.below(2) {
            let kind = self.make.kind();
            let depth = u32::from(self.make.draw.chance(30));
            let value = self.make.value(kind, &from.names, depth);
            // A number alone would be a position.
            let value = if value.contains("a.") { value } else { "a.id % 5".to_owned() };
            if !by.contains(&value) {
                by.push(value);
            }
        }
        let items: Vec<String> = by.iter().enumerate().map(|(n, b)| format!("{b} AS b{n}")).collect();
        let having = match self.make.draw.below(6) {
            0 => " HAVING COUNT(*) > 1".to_owned(),
            1 => format!(" HAVING {} IS NOT NULL", self.aggregate(&from.names, &id)),
            2 => " HAVING g0 > 2".to_owned(),
            _ => String::new(),
        };
        let names: Vec<String> = (0..by.len()).map(|n| format!("b{n}")).collect();
        let group = if self.make.draw.chance(50) { names.join(", ") } else { by.join(", ") };
        let order = if rollup.is_empty() && self.make.draw.chance(30) { format!(" ORDER BY {}", names.join(", ")) } else { String::new() };
        let ordered = !order.is_empty();
        let sql = format!(
            "SELECT {}, {aggregates} FROM {}{condition} GROUP BY {group}{rollup}{having}{order}",
            items.join(", "),
            from.text
        );
        let statement = if ordered { Statement::ordered(sql) } else { Statement::unordered(sql) };
        statement.folded().many_tables()
    }

    fn windowed(&mut self) -> Statement {
        let from = self.source("a");
        let kind = self.make.kind();
        let value = self.make.value(kind, &from.names, 1);
        let number = self.make.value(Kind::Integer, &from.names, 0);
        let exact = self.make.value(Kind::Decimal, &from.names, 0);
        let partition = if self.make.draw.chance(60) {
            let kind = self.make.kind();
            format!("PARTITION BY {} ", self.make.value(kind, &from.names, 1))
        } else {
            String::new()
        };
        let column = self.make.draw.of(&from.names).map_or("a.id", |n| n.text.as_str()).to_owned();
        let direction = self.make.draw.pick(&["", " DESC"]);
        let n = 1 + self.make.draw.below(4);
        let total = format!("{partition}ORDER BY {column}{direction}, a.id");
        let partial = format!("{partition}ORDER BY {column}{direction}");
        let frame = self.make.draw.pick(&[
            "",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " ROWS UNBOUNDED PRECEDING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        ]);
        let call = match self.make.draw.below(14) {
            0 => format!("ROW_NUMBER() OVER ({total})"),
            1 => format!("RANK() OVER ({partial})"),
            2 => format!("DENSE_RANK() OVER ({partial})"),
            3 => format!("NTILE({n}) OVER ({total})"),
            4 => format!("LAG({value}, {n}) OVER ({total})"),
            5 => format!("LEAD({value}) OVER ({total})"),
            6 => format!("FIRST_VALUE({value}) OVER ({total}{frame})"),
            7 => format!("LAST_VALUE({value}) OVER ({total}{frame})"),
            8 => format!("NTH_VALUE({value}, {n}) OVER ({total}{frame})"),
            9 => format!("SUM({exact}) OVER ({total}{frame})"),
            10 => format!("COUNT({value}) OVER ({total}{frame})"),
            11 => format!("AVG({number}) OVER ({total}{frame})"),
            12 => format!("{}({number}) OVER ({partial})", self.make.draw.pick(&["MIN", "MAX", "SUM", "COUNT"])),
            _ => format!("{}() OVER ({partial})", self.make.draw.pick(&["PERCENT_RANK", "CUME_DIST"])),
        };
        let condition = self.where_clause(&from.names);
        Statement::ordered(format!("SELECT a.id, {call} AS w FROM {}{condition} ORDER BY a.id", from.text)).many_tables()
    }

    fn set_operation(&mut self) -> Statement {
        let kinds: Vec<Kind> = (0..1 + self.make.draw.below(2)).map(|_| self.make.kind()).collect();
        let text = kinds.contains(&Kind::Text);
        self.make.mixing = false;
        let mut parts = Vec::new();
        for _ in 0..2 + usize::from(self.make.draw.chance(20)) {
            let from = self.source("a");
            let items: Vec<String> = kinds
                .iter()
                .enumerate()
                .map(|(n, kind)| {
                    let numbers = [Kind::Integer, Kind::Decimal];
                    let mixed = numbers.contains(kind) && self.make.draw.chance(30);
                    let kind = if mixed { self.make.draw.of(&numbers).unwrap_or(kind) } else { kind };
                    format!("{} AS x{n}", self.make.value(*kind, &from.names, 1))
                })
                .collect();
            let condition = self.where_clause(&from.names);
            parts.push(format!("SELECT {} FROM {}{condition}", items.join(", "), from.text));
        }
        self.make.mixing = true;
        let mut sql = String::new();
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                let word = self.make.draw.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT", "UNION DISTINCT"]);
                sql.push_str(&format!(" {word} "));
            }
            sql.push_str(part);
        }
        let columns: Vec<String> = (1..=kinds.len()).map(|n| n.to_string()).collect();
        if !text && self.make.draw.chance(40) {
            sql.push_str(&format!(" ORDER BY {}", columns.join(", ")));
        }
        if self.make.draw.chance(25) {
            sql = match self.make.draw.below(2) {
                0 => format!("SELECT COUNT(*), MIN(x0) FROM ({sql}) u"),
                _ => format!("WITH u AS ({sql}) SELECT x0, COUNT(*) FROM u GROUP BY x0"),
            };
        }
        Statement::unordered(sql).folded().many_tables()
    }

    fn distinct(&mut self) -> Statement {
        let from = if self.make.draw.chance(30) { self.join() } else { self.source("a") };
        let items = self.items(&from.names, 1);
        let condition = self.where_clause(&from.names);
        Statement::unordered(format!("SELECT DISTINCT {items} FROM {}{condition}", from.text)).folded().many_tables()
    }

    fn recursive(&mut self) -> Statement {
        let count = self.make.draw.range(2, 12);
        let step = self.make.draw.range(1, 4);
        let from = self.source("a");
        let item = self.items(&from.names, 1);
        Statement::unordered(format!(
            "WITH RECURSIVE r AS (SELECT 1 AS n, CAST('x' AS CHAR(40)) AS p UNION ALL SELECT n + {step}, CONCAT(p, n) FROM r \
             WHERE n < {count}) SELECT r.n, r.p, {item} FROM r LEFT JOIN {} ON a.id = r.n",
            from.text
        ))
        .many_tables()
    }

    fn subquery_in_items(&mut self) -> Statement {
        let from = self.source("a");
        let Some(table) = self.table() else { return self.scalar() };
        let (inner, names) = (table.name.clone(), table.names("y."));
        let kind = self.make.kind();
        let value = self.make.value(kind, &names, 1);
        let (left, right) = (self.make.value(Kind::Integer, &names, 0), self.make.value(Kind::Integer, &from.names, 0));
        let aggregate = self.make.draw.pick(&["COUNT", "MIN", "MAX"]);
        let condition = self.where_clause(&from.names);
        Statement::ordered(format!(
            "SELECT a.id, (SELECT {aggregate}({value}) FROM {inner} y WHERE {left} = {right}) AS s FROM {}{condition} ORDER BY a.id",
            from.text
        ))
        .folded()
        .many_tables()
    }
}

/// What subqueries may read.
pub(super) fn inner_sources(tables: &[Table]) -> Vec<Inner> {
    tables.iter().map(|t| Inner { from: t.name.clone(), names: t.names("") }).collect()
}
