//! A short run of random statements on a real MariaDB and on Selkie; `make differential` is the long one.

use std::path::Path;

use selkie_test_support::differential::campaign::{Settings, run};

const SEED: u64 = 7;
const STATEMENTS: usize = 1_000;
/// Differences that are known and not fixed yet. To be lowered with each fix, never raised.
const KNOWN_DIFFERENCES: usize = 8;

#[test]
fn random_statements_answer_as_mariadb_does() {
    if std::process::Command::new("mariadbd").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no mariadbd here (scripts/install-deps.sh test)");
        return;
    }
    let report = run(&Settings {
        selkie: env!("CARGO_BIN_EXE_selkie").into(),
        compat: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../COMPAT.md"),
        seed: SEED,
        statements: STATEMENTS,
        options: Vec::new(),
    })
    .expect("both servers start");
    assert!(report.run >= STATEMENTS, "{} statements ran", report.run);
    // A generator that makes nothing but errors would find no difference either.
    assert!(report.errors * 4 < report.run, "{} errors of {}", report.errors, report.run);
    let shown: Vec<String> = report.differences.values().flatten().map(ToString::to_string).collect();
    eprintln!("{} differences in {} statements (known: {KNOWN_DIFFERENCES})", shown.len(), report.run);
    assert!(report.broken.is_none(), "{}", report.broken.unwrap_or_default());
    assert!(shown.len() <= KNOWN_DIFFERENCES, "{}", shown.join("\n"));
}
