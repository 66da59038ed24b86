//! The same statements on a real MariaDB and on Selkie, and where the answers differ.
//!
//! [`Generator`] makes statements from a seed; [`compare`] runs one on both servers. Differences on purpose stand in
//! COMPAT.md ([`Exceptions`]).

mod expression;
mod generator;

use std::path::Path;

use crate::client::{Answer, Client, ClientError, Row};
use crate::script::show;

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
        for (name, lines) in [("MariaDB", &self.mariadb), ("Selkie", &self.selkie)] {
            writeln!(f, "  {name}:")?;
            for line in lines.iter().take(12) {
                writeln!(f, "    {line}")?;
            }
            if lines.len() > 12 {
                writeln!(f, "    ... {} more", lines.len() - 12)?;
            }
        }
        Ok(())
    }
}

/// Runs a statement on both servers.
pub fn compare(
    mariadb: &mut Client,
    selkie: &mut Client,
    statement: &Statement,
) -> Result<Option<Difference>, ClientError> {
    let theirs = answer(mariadb, statement)?;
    let ours = answer(selkie, statement)?;
    if theirs == ours {
        return Ok(None);
    }
    Ok(Some(Difference { sql: statement.sql.clone(), mariadb: theirs, selkie: ours }))
}

/// An answer in the form that is compared: columns, rows (in order if the statement says it), error, warnings.
fn answer(client: &mut Client, statement: &Statement) -> Result<Vec<String>, ClientError> {
    let mut answer = client.query(&statement.sql)?;
    if let Answer::Rows { rows, .. } = &mut answer {
        rows.iter_mut().for_each(round_floats);
    }
    let mut lines = show(&answer, !statement.ordered, false);
    lines.push(format!("{} warnings", answer.warnings()));
    Ok(lines)
}

/// Sums of floating-point numbers depend on the order of rows: 12 digits are compared.
fn round_floats(row: &mut Row) {
    for value in row.iter_mut().flatten() {
        let Ok(text) = std::str::from_utf8(value) else { continue };
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if digits > 12 && (text.contains('e') || text.contains('.')) && digits < 20 {
            if let Ok(number) = text.parse::<f64>() {
                *value = format!("{number:.11e}").into_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_read_from_their_section_only() {
        let text = format!("# C\n* `no`: x\n\n{HEADING}\n\nText.\n\n* `UUID()`: random\n* not one\n\n## Other\n* `no`: y\n");
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
