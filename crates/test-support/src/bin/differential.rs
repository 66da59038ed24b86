//! `differential --selkie PROGRAM [--seed N] [--statements N] [--report N]`: random statements on a real MariaDB and on
//! Selkie; prints the first differences of each kind and ends with status 1 if there are any.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use selkie_test_support::client::{Client, Login};
use selkie_test_support::differential::{Difference, Exceptions, Generator, Statement, compare};
use selkie_test_support::server::{Kind, ServerFailure, TestServer};
use selkie_test_support::suite::MARIADB_OPTIONS;

struct Settings {
    selkie: String,
    seed: u64,
    statements: usize,
    report: usize,
}

fn settings() -> Result<Settings, String> {
    let mut s = Settings { selkie: "./selkie".into(), seed: 1, statements: 20_000, report: 20 };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name}: {value} is no number"));
        match name.as_str() {
            "--selkie" => s.selkie = value,
            "--seed" => s.seed = number()?,
            "--statements" => s.statements = number()? as usize,
            "--report" => s.report = number()? as usize,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(s)
}

fn main() -> ExitCode {
    match settings().and_then(|s| run(&s).map_err(|e| e.to_string())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("differential: {e}");
            ExitCode::FAILURE
        }
    }
}

fn connect(server: &TestServer) -> Result<Client, ServerFailure> {
    server.connect()?.execute("CREATE DATABASE IF NOT EXISTS differential")?;
    server.connect_as(&Login { database: Some("differential".into()), ..Login::default() })
}

/// Runs all; true: no differences.
fn run(s: &Settings) -> Result<bool, ServerFailure> {
    let compat = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md");
    let exceptions = Exceptions::read(&compat).unwrap_or_default();
    let mariadb = TestServer::start(Kind::MariaDb, MARIADB_OPTIONS)?;
    let selkie = TestServer::start(Kind::Selkie((&s.selkie).into()), &["--sync-binlog=0"])?;
    let (mut theirs, mut ours) = (connect(&mariadb)?, connect(&selkie)?);
    let mut generator = Generator::new(s.seed);
    let mut found: BTreeMap<String, Vec<Difference>> = BTreeMap::new();
    let setup: Vec<_> = generator.setup().into_iter().map(|sql| Statement { sql, ordered: true }).collect();
    let (mut run, mut skipped) = (0, 0);
    let mut random = (0..s.statements).map(|_| generator.next_statement());
    for statement in setup.into_iter().chain(&mut random) {
        if exceptions.cover(&statement.sql) {
            skipped += 1;
            continue;
        }
        run += 1;
        match compare(&mut theirs, &mut ours, &statement) {
            Ok(None) => {}
            Ok(Some(d)) => found.entry(kind_of(&d)).or_default().push(d),
            Err(e) => {
                println!("{};\n  {e}; Selkie's log ends with:\n{}", statement.sql, selkie.log());
                return Ok(false);
            }
        }
    }
    let differences: usize = found.values().map(Vec::len).sum();
    for (kind, all) in found.iter().take(s.report) {
        println!("{} x {kind}, such as:\n{}", all.len(), all[0]);
    }
    println!("seed {}: {run} statements, {skipped} excepted, {differences} differences of {} kinds", s.seed, found.len());
    Ok(differences == 0)
}

/// Differences of one kind have likely one cause: what Selkie's error says, or the first words of the statement.
fn kind_of(d: &Difference) -> String {
    let error = |lines: &[String]| lines.iter().find(|l| l.starts_with("ERROR ")).map(|l| l.chars().take(60).collect::<String>());
    match (error(&d.mariadb), error(&d.selkie)) {
        (_, Some(e)) => format!("Selkie: {e}"),
        (Some(e), None) => format!("MariaDB only: {e}"),
        (None, None) => {
            let warnings = |lines: &[String]| lines.last().cloned();
            let what = if warnings(&d.mariadb) == warnings(&d.selkie) { "rows" } else { "warnings" };
            format!("{what} of {}", d.sql.split(' ').next().unwrap_or_default())
        }
    }
}
