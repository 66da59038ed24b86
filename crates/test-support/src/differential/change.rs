//! Random data changes.

use super::expression::{Expressions, Name};
use super::generator::Statement;
use super::schema::Table;

/// Makes data changes over the tables.
pub(super) struct Changes<'a> {
    pub make: &'a mut Expressions,
    pub tables: &'a [Table],
    /// The next unused id.
    pub next_id: &'a mut i64,
}

impl Changes<'_> {
    /// A change of any form.
    pub fn change(&mut self) -> Option<Statement> {
        let table = self.make.draw.of(self.tables)?;
        let sql = match self.make.draw.below(100) {
            0..30 => self.insert(table),
            30..38 => self.insert_select(table)?,
            38..46 => self.replace(table),
            46..76 => self.update(table),
            76..82 => self.update_joined(table)?,
            82..96 => self.delete(table),
            _ => self.delete_joined(table)?,
        };
        Some(Statement::ordered(sql).change_of(&table.name))
    }

    fn new_id(&mut self) -> i64 {
        *self.next_id += 1;
        *self.next_id
    }

    /// An id that some row has had, rather a late one.
    fn old_id(&mut self) -> i64 {
        let next = *self.next_id;
        self.make.draw.range((next - 60).max(1), next.max(2))
    }

    fn any_id(&mut self) -> i64 {
        if self.make.draw.chance(15) { self.old_id() } else { self.new_id() }
    }

    fn rows(&mut self, table: &Table) -> String {
        let rows: Vec<String> = (0..1 + self.make.draw.below(3))
            .map(|_| {
                let id = self.any_id();
                format!("({})", table.row(id, self.make))
            })
            .collect();
        rows.join(", ")
    }

    fn assignment(&mut self, table: &Table, scope: &[Name]) -> String {
        let Some(column) = self.make.draw.of(&table.columns) else { return "id = id".to_owned() };
        let value = match self.make.draw.below(6) {
            0..3 => column.value(self.make),
            3 => "DEFAULT".to_owned(),
            _ => self.make.value(column.kind, scope, 1),
        };
        format!("{} = {value}", column.name)
    }

    fn insert(&mut self, table: &Table) -> String {
        let ignore = if self.make.draw.chance(20) { "IGNORE " } else { "" };
        let name = &table.name;
        if self.make.draw.chance(15) {
            let id = self.any_id();
            let (a, b) = (self.assignment(table, &[]), self.assignment(table, &[]));
            return format!("INSERT {ignore}INTO {name} SET id = {id}, {a}, {b}");
        }
        if self.make.draw.chance(15) {
            let (id, column) = (self.any_id(), self.make.draw.of(&table.columns).cloned());
            if let Some(column) = column {
                let value = column.value(self.make);
                return format!("INSERT {ignore}INTO {name} ({}, id) VALUES ({value}, {id})", column.name);
            }
        }
        let rows = self.rows(table);
        let tail = if self.make.draw.chance(25) {
            let assignment = if self.make.draw.chance(40) {
                self.make.draw.of(&table.columns).map_or_else(|| "id = id".to_owned(), |c| format!("{0} = VALUES({0})", c.name))
            } else {
                self.assignment(table, &table.names(""))
            };
            format!(" ON DUPLICATE KEY UPDATE {assignment}")
        } else {
            String::new()
        };
        format!("INSERT {ignore}INTO {name} VALUES {rows}{tail}")
    }

    fn insert_select(&mut self, table: &Table) -> Option<String> {
        let from = self.make.draw.of(self.tables)?;
        let names = from.names("");
        let ignore = if self.make.draw.chance(30) { "IGNORE " } else { "" };
        let base = self.new_id();
        *self.next_id += 200;
        let column = self.make.draw.of(&table.columns)?;
        let value = self.make.value(column.kind, &names, 1);
        let limit = 1 + self.make.draw.below(4);
        Some(format!(
            "INSERT {ignore}INTO {} (id, {}) SELECT {base} + id % 100, {value} FROM {} ORDER BY id DESC LIMIT {limit}",
            table.name, column.name, from.name
        ))
    }

    fn replace(&mut self, table: &Table) -> String {
        format!("REPLACE INTO {} VALUES {}", table.name, self.rows(table))
    }

    /// A condition that leaves most rows alone, so that the data does not wear out.
    fn narrow(&mut self, scope: &[Name], prefix: &str) -> String {
        let from = self.old_id();
        // In strict mode a conversion may fail: on which rows it is tried is for the plan to choose.
        self.make.mixing = false;
        let range = format!("{prefix}id BETWEEN {from} AND {}", from + 3);
        let condition =
            if self.make.draw.chance(40) { format!("{range} AND {}", self.make.condition(scope, 1)) } else { range };
        self.make.mixing = true;
        condition
    }

    fn update(&mut self, table: &Table) -> String {
        let names = table.names("");
        let ignore = if self.make.draw.chance(15) { "IGNORE " } else { "" };
        let mut set = self.assignment(table, &names);
        if self.make.draw.chance(30) {
            set = format!("{set}, {}", self.assignment(table, &names));
        }
        let condition = self.narrow(&names, "");
        let limit = if self.make.draw.chance(20) { " LIMIT 2" } else { "" };
        format!("UPDATE {ignore}{} SET {set} WHERE {condition} ORDER BY id{limit}", table.name)
    }

    fn update_joined(&mut self, table: &Table) -> Option<String> {
        let other = self.make.draw.of(self.tables)?;
        let column = self.make.draw.of(&table.columns)?;
        let mut names = table.names("a.");
        names.extend(other.names("b."));
        let inner = std::mem::take(&mut self.make.inner);
        let value = self.make.value(column.kind, &names, 1);
        let condition = self.narrow(&names, "a.");
        self.make.inner = inner;
        let join = self.make.draw.pick(&["JOIN", "LEFT JOIN"]);
        Some(format!(
            "UPDATE {} a {join} {} b ON a.id = b.id SET a.{} = {value} WHERE {condition}",
            table.name, other.name, column.name
        ))
    }

    fn delete(&mut self, table: &Table) -> String {
        let names = table.names("");
        let condition = self.narrow(&names, "");
        let tail = if self.make.draw.chance(20) { " ORDER BY id LIMIT 1" } else { "" };
        format!("DELETE FROM {} WHERE {condition}{tail}", table.name)
    }

    fn delete_joined(&mut self, table: &Table) -> Option<String> {
        let other = self.make.draw.of(self.tables)?;
        let mut names = table.names("a.");
        names.extend(other.names("b."));
        // MariaDB refuses to read a target in a subquery here (COMPAT.md).
        let inner = std::mem::take(&mut self.make.inner);
        let condition = self.narrow(&names, "a.");
        self.make.inner = inner;
        Some(format!("DELETE a FROM {} a JOIN {} b ON a.id = b.id WHERE {condition}", table.name, other.name))
    }
}
