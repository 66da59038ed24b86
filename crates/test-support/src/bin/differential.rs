//! `differential --selkie PROGRAM [--seed N] [--statements N] [--report N] [--minor 1]`: random statements on a real MariaDB and on
//! Selkie; prints the first differences of each kind and ends with status 1 if there are any.

use std::path::Path;
use std::process::ExitCode;

use selkie_test_support::differential::campaign::{self, Report};
use selkie_test_support::differential::Difference;

struct Settings {
    selkie: String,
    seed: u64,
    statements: usize,
    report: usize,
    minor: bool,
}

fn settings() -> Result<Settings, String> {
    let mut s = Settings { selkie: "./selkie".into(), seed: 1, statements: 20_000, report: 20, minor: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name}: {value} is no number"));
        match name.as_str() {
            "--selkie" => s.selkie = value,
            "--seed" => s.seed = number()?,
            "--statements" => s.statements = number()? as usize,
            "--minor" => s.minor = value == "1",
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

/// Runs all; true: no differences.
fn run(s: &Settings) -> Result<bool, selkie_test_support::server::ServerFailure> {
    let report = campaign::run(&campaign::Settings {
        selkie: (&s.selkie).into(),
        compat: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md"),
        seed: s.seed,
        statements: s.statements,
        options: Vec::new(),
    })?;
    if s.minor {
        print_kinds("texts of errors, types of columns", &report.minor, s.report);
    }
    print_kinds("differences", &report.differences, s.report);
    if let Some(why) = &report.broken {
        println!("{why}");
    }
    summary(s.seed, &report);
    Ok(report.is_clean())
}

fn print_kinds(title: &str, kinds: &std::collections::BTreeMap<String, Vec<Difference>>, most: usize) {
    let mut all: Vec<_> = kinds.iter().collect();
    all.sort_by_key(|(_, d)| std::cmp::Reverse(d.len()));
    for (kind, differences) in all.into_iter().take(most) {
        println!("{title}: {} x {kind}, such as:", differences.len());
        differences.iter().take(3).for_each(|d| println!("{d}"));
    }
}

fn summary(seed: u64, report: &Report) {
    let minor: usize = report.minor.values().map(Vec::len).sum();
    println!(
        "seed {seed}: {} statements ({} errors on both, {} excepted), {} differences of {} kinds; {minor} answers with other \
         texts of errors or types of columns",
        report.run,
        report.errors,
        report.excepted,
        report.count(),
        report.differences.len(),
    );
}
