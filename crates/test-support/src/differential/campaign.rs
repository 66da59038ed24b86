//! A run of random statements on a real MariaDB and on Selkie.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::reduce::reduce;
use super::{Difference, Exceptions, Generator, Statement, Verdict, compare};
use crate::client::{Client, ClientError, Login};
use crate::server::{Kind, ServerFailure, TestServer};
use crate::suite::MARIADB_OPTIONS;

/// New tables after so many statements.
const STATEMENTS_PER_SCHEMA: usize = 200;
const DATABASE: &str = "differential";

/// What to run.
pub struct Settings {
    /// The `selkie` program.
    pub selkie: PathBuf,
    /// COMPAT.md with the exceptions.
    pub compat: PathBuf,
    /// The first statement's seed.
    pub seed: u64,
    /// How many statements.
    pub statements: usize,
    /// Further options of Selkie.
    pub options: Vec<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Statements that ran on both.
    pub run: usize,
    /// Statements that COMPAT.md excepts.
    pub excepted: usize,
    /// Of those that ran, how many ended with an error on both.
    pub errors: usize,
    /// Differences that count, by kind.
    pub differences: BTreeMap<String, Vec<Difference>>,
    /// Differences in the texts of errors and in what columns tell of themselves, by kind: told, not counted.
    pub minor: BTreeMap<String, Vec<Difference>>,
    /// Why the run ended early.
    pub broken: Option<String>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty() && self.broken.is_none()
    }

    /// How many differences count.
    pub fn count(&self) -> usize {
        self.differences.values().map(Vec::len).sum()
    }
}

fn connect(server: &TestServer) -> Result<Client, ServerFailure> {
    server.connect()?.execute(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
    let mut client = server.connect_as(&Login { database: Some(DATABASE.into()), ..Login::default() })?;
    // The same words on both: versions differ in what they default to.
    for sql in ["SET time_zone = '+00:00'", "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET @@timestamp = 1717243200"] {
        client.execute(sql)?;
    }
    Ok(client)
}

/// Runs all.
///
/// # Errors
/// When a server cannot be started.
pub fn run(s: &Settings) -> Result<Report, ServerFailure> {
    let exceptions = Exceptions::read(&s.compat).unwrap_or_default();
    let mariadb = TestServer::start(Kind::MariaDb, MARIADB_OPTIONS)?;
    let mut options = vec!["--sync-binlog=0"];
    options.extend(s.options.iter().map(String::as_str));
    let selkie = TestServer::start(Kind::Selkie(s.selkie.clone()), &options)?;
    let mut both = Both { mariadb: connect(&mariadb)?, selkie: connect(&selkie)? };
    let mut report = Report::default();
    let mut generator = Generator::new(s.seed);
    let mut left = 0;
    while report.run < s.statements {
        let statements = if left == 0 {
            left = STATEMENTS_PER_SCHEMA;
            generator.setup()
        } else {
            left -= 1;
            vec![generator.next_statement()]
        };
        for statement in statements {
            if exceptions.cover(&statement.sql) {
                report.excepted += 1;
                continue;
            }
            report.run += 1;
            match both.check(&statement, &mut report) {
                Ok(true) => {}
                // The tables are no longer the same: new ones.
                Ok(false) => {
                    left = 0;
                    break;
                }
                Err(e) => {
                    report.broken = Some(format!("{};\n  {e}; Selkie's log ends with:\n{}", statement.sql, end_of(&selkie.log())));
                    return Ok(report);
                }
            }
        }
    }
    Ok(report)
}

fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

struct Both {
    mariadb: Client,
    selkie: Client,
}

impl Both {
    /// Runs a statement; false: the tables are not the same afterwards.
    fn check(&mut self, statement: &Statement, report: &mut Report) -> Result<bool, ClientError> {
        let verdict = compare(&mut self.mariadb, &mut self.selkie, statement)?;
        let mut same = true;
        match verdict {
            Verdict::Same { error } => report.errors += usize::from(error),
            Verdict::Minor(d) => {
                report.minor.entry(kind_of(&d)).or_default().push(d);
            }
            Verdict::Different(d) => {
                let kind = kind_of(&d);
                let known = report.differences.get(&kind).map_or(0, Vec::len);
                let d = if statement.changes.is_none() && known < 3 { self.reduced(statement, d, &kind) } else { d };
                report.differences.entry(kind).or_default().push(d);
                same = statement.changes.is_none();
            }
        }
        if let Some(table) = &statement.changes
            && same
        {
            let look = Statement::ordered(format!("SELECT * FROM {table} ORDER BY id"));
            if let Verdict::Different(mut d) = compare(&mut self.mariadb, &mut self.selkie, &look)? {
                d.sql = format!("{}; {}", statement.sql, d.sql);
                d.keep_different_lines();
                report.differences.entry(format!("rows after {}", first_word(&d.sql))).or_default().push(d);
                same = false;
            }
        }
        Ok(same)
    }

    /// The difference with a shorter statement.
    fn reduced(&mut self, statement: &Statement, difference: Difference, kind: &str) -> Difference {
        let mut best = difference;
        let whole = statement.sql.clone();
        let order = |sql: &str| sql.matches(" ORDER BY ").count();
        reduce(&whole, |sql| {
            // Without its order an answer may differ for that alone.
            if order(sql) < order(&whole) && (statement.ordered || sql.contains(" LIMIT ")) {
                return false;
            }
            let shorter = Statement { sql: sql.to_owned(), ..statement.clone() };
            match compare(&mut self.mariadb, &mut self.selkie, &shorter) {
                Ok(Verdict::Different(d)) if kind_of(&d) == kind => {
                    best = d;
                    true
                }
                _ => false,
            }
        });
        best.keep_different_lines();
        best
    }
}

fn first_word(sql: &str) -> &str {
    sql.split(' ').next().unwrap_or_default()
}

/// Differences of one kind have likely one cause: what the errors say, or which part of the answer differs.
fn kind_of(d: &Difference) -> String {
    let error = |lines: &[String]| lines.iter().find(|l| l.starts_with("ERROR ")).map(|l| l.chars().take(60).collect::<String>());
    match (error(&d.mariadb), error(&d.selkie)) {
        (Some(a), Some(b)) => format!("MariaDB: {a}; Selkie: {b}"),
        (None, Some(e)) => format!("Selkie only: {e}"),
        (Some(e), None) => format!("MariaDB only: {e}"),
        (None, None) => {
            let is_warnings = |lines: &[String]| lines.iter().all(|l| l.ends_with(" warnings"));
            let types = d.mariadb.iter().chain(&d.selkie).all(|l| l.contains(" decimals "));
            let same = |lines: &[String], others: &[String]| is_warnings(&lines.iter().filter(|l| !others.contains(l)).cloned().collect::<Vec<_>>());
            let what = match types {
                true => "types",
                false if same(&d.mariadb, &d.selkie) && same(&d.selkie, &d.mariadb) => "warnings",
                false => "rows",
            };
            format!("{what} of {}", first_word(&d.sql))
        }
    }
}
