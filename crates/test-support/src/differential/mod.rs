//! The same statements on a real MariaDB and on Selkie, and where the answers differ.
//!
//! [`Generator`] makes statements from a seed; [`compare`] runs one on both servers. Differences on purpose stand in
//! COMPAT.md ([`Exceptions`]).

mod expression;
mod generator;

use std::path::Path;

use selkie_protocol::ColumnType;

use crate::client::{Answer, Client, ClientError, Column, Row};
use crate::script::{line_difference, show};

pub use generator::{Generator, Statement};

/// Statements whose answers may differ.
#[derive(Debug, Default)]
pub struct Exceptions(Vec<String>);

/// The heading in COMPAT.md below which the exceptions stand.
const HEADING: &str = "## Exceptions of the differential test";

impl Exceptions {
    /// Reads them from COMPAT.md: lines "* `part of a statement`: reason" below the heading.
    pub fn read(path: &Path) -> std::io::Result<Exceptions> {
        Ok(Self::parse(&std::fs::read_to_string(path)?))
    }

    fn parse(text: &str) -> Exceptions {
        let below = text.split_once(HEADING).map_or("", |(_, rest)| rest);
        let section = below.split("\n## ").next().unwrap_or_default();
        let parts = section.lines().filter_map(|l| Some(l.strip_prefix("* `")?.split_once('`')?.0.to_owned()));
        Exceptions(parts.collect())
    }

    /// Whether a statement is excepted.
    pub fn cover(&self, sql: &str) -> bool {
        self.0.iter().any(|part| sql.contains(part.as_str()))
    }
}

/// Lines of a difference that are shown.
const LINES_SHOWN_MAX: usize = 16;

/// Two answers that are not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The statement.
    pub sql: String,
    /// MariaDB's answer.
    pub mariadb: Vec<String>,
    /// Selkie's answer.
    pub selkie: Vec<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{};", self.sql)?;
        let lines = line_difference(&self.mariadb, &self.selkie);
        let mut shown = 0;
        for (n, (mark, line)) in lines.iter().enumerate() {
            let near = lines[n.saturating_sub(1)..(n + 2).min(lines.len())].iter().any(|l| l.0 != ' ');
            // The first line names the columns.
            if n > 0 && !near {
                continue;
            }
            shown += 1;
            if shown > LINES_SHOWN_MAX {
                return writeln!(f, "    ...");
            }
            writeln!(f, "  {mark} {line}")?;
        }
        Ok(())
    }
}

/// Runs a statement on both servers. What changes data is taken back if the answers differ, so that the data stays the
/// same.
pub fn compare(
    mariadb: &mut Client,
    selkie: &mut Client,
    statement: &Statement,
) -> Result<Option<Difference>, ClientError> {
    let changes = ["INSERT", "UPDATE", "DELETE"].iter().any(|word| statement.sql.starts_with(word));
    if changes {
        mariadb.execute("BEGIN")?;
        selkie.execute("BEGIN")?;
    }
    let theirs = answer(mariadb, statement)?;
    let ours = answer(selkie, statement)?;
    if changes {
        let end = if theirs == ours { "COMMIT" } else { "ROLLBACK" };
        mariadb.execute(end)?;
        selkie.execute(end)?;
    }
    if theirs == ours {
        return Ok(None);
    }
    Ok(Some(Difference { sql: statement.sql.clone(), mariadb: theirs, selkie: ours }))
}

/// An answer in the form that is compared: columns, rows (in order if the statement says it), error, warnings.
fn answer(client: &mut Client, statement: &Statement) -> Result<Vec<String>, ClientError> {
    let mut answer = client.query(&statement.sql)?;
    if let Answer::Rows { columns, rows, .. } = &mut answer {
        rows.iter_mut().for_each(|row| round_floats(columns, row));
    }
    let mut lines = show(&answer, !statement.ordered, false);
    lines.push(format!("{} warnings", answer.warnings()));
    Ok(lines)
}

/// Sums of floating-point numbers depend on the order of rows: 12 digits are compared.
fn round_floats(columns: &[Column], row: &mut Row) {
    for (column, value) in columns.iter().zip(row) {
        let is_float = matches!(column.column_type, ColumnType::Double | ColumnType::Float);
        let number = value.as_deref().and_then(|v| std::str::from_utf8(v).ok()?.parse::<f64>().ok());
        if let Some(number) = number.filter(|_| is_float) {
            *value = Some(format!("{number:.11e}").into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_read_from_their_section_only() {
        let text =
            format!("# C\n* `no`: x\n\n{HEADING}\n\nText.\n\n* `UUID()`: random\n* not one\n\n## Other\n* `no`: y\n");
        let exceptions = Exceptions::parse(&text);
        assert!(exceptions.cover("SELECT UUID()"));
        assert!(!exceptions.cover("SELECT no"));
    }

    #[test]
    fn a_seed_gives_the_same_statements() {
        let make = |seed| {
            let mut g = Generator::new(seed);
            let mut all: Vec<String> = g.setup();
            all.extend((0..200).map(|_| g.next_statement().sql));
            all
        };
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
    }
}
