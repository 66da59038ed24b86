//! The same statements on a real MariaDB and on Selkie, and where the answers differ.
//!
//! [`Generator`] makes statements from a seed; [`compare`] runs one on both servers. Differences on purpose stand in
//! COMPAT.md ([`Exceptions`]).

pub mod campaign;
mod change;
mod draw;
mod expression;
mod generator;
mod query;
mod reduce;
mod schema;
mod templates;

use std::path::Path;

use crate::client::{Answer, Client, ClientError, Column, Row};
use crate::script::show;

pub use generator::{Generator, Statement};

/// Statements whose answers may differ.
#[derive(Debug, Default)]
pub struct Exceptions(Vec<String>);

/// The heading in COMPAT.md below which the exceptions stand.
const HEADING: &str = "## Exceptions of the differential test";
/// The bit of a column's flags for UNSIGNED.
const UNSIGNED_FLAG: u16 = 0x20;
/// What an UPDATE of no row tells.
const NOTHING_MATCHED: &str = "Rows matched: 0  Changed: 0";

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

impl Difference {
    /// Leaves out what both answer.
    pub fn keep_different_lines(&mut self) {
        let (theirs, ours) = (self.mariadb.clone(), self.selkie.clone());
        self.mariadb.retain(|l| !ours.contains(l));
        self.selkie.retain(|l| !theirs.contains(l));
    }
}

/// How two answers compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Equal.
    Same {
        /// Both are errors.
        error: bool,
    },
    /// Equal but for the text of an error, or what columns tell of themselves.
    Minor(Difference),
    /// Not equal.
    Different(Difference),
}

/// Runs a statement on both servers.
///
/// # Errors
/// When a connection fails.
pub fn compare(mariadb: &mut Client, selkie: &mut Client, statement: &Statement) -> Result<Verdict, ClientError> {
    let theirs = mariadb.query(&statement.sql)?;
    let ours = selkie.query(&statement.sql)?;
    let make = |mariadb, selkie| Difference { sql: statement.sql.clone(), mariadb, selkie };
    if let (Answer::Error(a), Answer::Error(b)) = (&theirs, &ours)
        && (a.code, &a.sqlstate) == (b.code, &b.sqlstate)
    {
        if a.message == b.message {
            return Ok(Verdict::Same { error: true });
        }
        return Ok(Verdict::Minor(make(vec![a.to_string()], vec![b.to_string()])));
    }
    let (types_of_theirs, types_of_ours) = (types(&theirs), types(&ours));
    let (theirs, ours) = (lines(theirs, statement), lines(ours, statement));
    if theirs != ours {
        return Ok(Verdict::Different(make(theirs, ours)));
    }
    if types_of_theirs != types_of_ours {
        let mut d = make(types_of_theirs, types_of_ours);
        d.keep_different_lines();
        return Ok(Verdict::Minor(d));
    }
    Ok(Verdict::Same { error: false })
}

/// What columns tell of themselves, lengths and hints aside.
fn types(answer: &Answer) -> Vec<String> {
    let Answer::Rows { columns, .. } = answer else { return Vec::new() };
    let one = |c: &Column| {
        let unsigned = if c.flags & UNSIGNED_FLAG != 0 { " UNSIGNED" } else { "" };
        format!("{}: {:?}{unsigned} decimals {} collation {}", c.name, c.column_type, c.decimals, c.collation)
    };
    columns.iter().map(one).collect()
}

/// An answer in the form that is compared: columns, rows (in order if the statement says it), error, warnings.
fn lines(mut answer: Answer, statement: &Statement) -> Vec<String> {
    if let Answer::Rows { rows, .. } = &mut answer {
        rows.iter_mut().for_each(round_floats);
        if statement.folded {
            rows.iter_mut().for_each(fold);
        }
    }
    if let Answer::Done { info, .. } = &mut answer
        && info.starts_with(NOTHING_MATCHED)
    {
        // Where the plan sees that nothing can match, MariaDB says nothing.
        info.clear();
    }
    if let Answer::Done { info, .. } = &mut answer
        && statement.by_plan()
        && let Some((rest, _)) = info.split_once("  Warnings: ")
    {
        *info = rest.to_owned();
    }
    let mut lines = show(&answer, !statement.ordered, false);
    // Plans differ in how often, and in which order, they compute the values that conditions need.
    if !statement.by_plan() {
        lines.push(format!("{} warnings", answer.warnings()));
    }
    lines
}

/// Of texts that are equal in their collation, any may stand for all.
fn fold(row: &mut Row) {
    for value in row.iter_mut().flatten() {
        if let Ok(text) = std::str::from_utf8(value) {
            *value = text.trim_end_matches(' ').to_lowercase().into_bytes();
        }
    }
}

/// Sums of floating-point numbers depend on the order of rows: 12 digits are compared.
fn round_floats(row: &mut Row) {
    for value in row.iter_mut().flatten() {
        let Ok(text) = std::str::from_utf8(value) else { continue };
        // Exact numbers have no negative zero in Selkie.
        if text.starts_with("-0") && !text.contains(|c: char| c.is_ascii_digit() && c != '0') {
            *value = text.trim_start_matches('-').as_bytes().to_vec();
            continue;
        }
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
            let mut all: Vec<String> = g.setup().into_iter().map(|s| s.sql).collect();
            all.extend((0..200).map(|_| g.next_statement().sql));
            all
        };
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
    }
}
