//! Random statements on random tables.

use super::change::Changes;
use super::draw::Draw;
use super::expression::Expressions;
use super::query::{Queries, inner_sources};
use super::schema::Table;

/// A statement, and what of its answer is certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// The order of its rows is certain.
    pub ordered: bool,
    /// Of texts that are equal in their collation, any may be answered.
    pub folded: bool,
    /// How often a value is computed, hence the number of its warnings, is for the plan to choose.
    pub many_tables: bool,
    /// The table that it changes.
    pub changes: Option<String>,
}

impl Statement {
    /// With rows in a certain order, or without rows.
    pub fn ordered(sql: String) -> Statement {
        Statement { sql, ordered: true, folded: false, many_tables: false, changes: None }
    }

    /// With rows in any order.
    pub fn unordered(sql: String) -> Statement {
        Statement { ordered: false, ..Statement::ordered(sql) }
    }

    /// Whether the number of warnings depends on the plan.
    pub fn by_plan(&self) -> bool {
        self.many_tables || ["WHERE", "HAVING", "GROUP BY", "ORDER BY", "CASE", "IF(", " AND ", " OR ", " XOR ", " IS "].iter().any(|w| self.sql.contains(w))
    }

    pub(super) fn folded(self) -> Statement {
        Statement { folded: true, ..self }
    }

    pub(super) fn many_tables(self) -> Statement {
        Statement { many_tables: true, ..self }
    }

    pub(super) fn change_of(self, table: &str) -> Statement {
        Statement { changes: Some(table.to_owned()), ..self }
    }
}

const TABLES: &[&str] = &["t1", "t2", "t3"];
const ROWS_AT_START: usize = 24;

/// Makes statements. The same seed makes the same ones.
pub struct Generator {
    make: Expressions,
    tables: Vec<Table>,
    next_id: i64,
}

impl Generator {
    /// From a seed.
    pub fn new(seed: u64) -> Generator {
        Generator { make: Expressions::new(Draw::new(seed)), tables: Vec::new(), next_id: 0 }
    }

    /// Statements that make new tables and fill them, in place of those that were.
    pub fn setup(&mut self) -> Vec<Statement> {
        self.tables = TABLES.iter().map(|name| Table::random(name, &mut self.make)).collect();
        self.make.inner = inner_sources(&self.tables);
        self.next_id = 0;
        let strict = if self.make.draw.chance(25) { "SET sql_mode = ''" } else { "SET sql_mode = DEFAULT" };
        let mut out = vec![Statement::ordered(strict.to_owned())];
        for table in &self.tables {
            out.push(Statement::ordered(format!("DROP TABLE IF EXISTS {}", table.name)));
            out.push(Statement::ordered(table.create()));
        }
        for n in 0..ROWS_AT_START * self.tables.len() {
            let Some(table) = self.tables.get(n % self.tables.len()) else { continue };
            self.next_id += 1;
            let row = table.row(1 + (n / self.tables.len()) as i64, &mut self.make);
            let sql = format!("INSERT INTO {} VALUES ({row})", table.name);
            out.push(Statement::ordered(sql).change_of(&table.name));
        }
        self.next_id = ROWS_AT_START as i64;
        out
    }

    /// The next statement.
    pub fn next_statement(&mut self) -> Statement {
        if self.make.draw.chance(20) {
            let mut changes = Changes { make: &mut self.make, tables: &self.tables, next_id: &mut self.next_id };
            if let Some(statement) = changes.change() {
                return statement;
            }
        }
        Queries { make: &mut self.make, tables: &self.tables }.query()
    }
}
