//! Real input both ways, with the real client programs (tests/roundtrip), on little data.

use std::path::Path;
use std::process::Command;

/// What tests/roundtrip/run.py ends with when nothing could be looked at.
const EXIT_SKIPPED: i32 = 77;

fn run(cases: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/roundtrip/run.py");
    let done = Command::new("python3")
        .arg(script)
        .args(["--quick", "--selkie", env!("CARGO_BIN_EXE_selkie")])
        .args(cases)
        .output()
        .unwrap_or_else(|e| panic!("python3 does not start: {e} (scripts/install-deps.sh test)"));
    let told = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    match done.status.code() {
        Some(0) => println!("{told}"),
        Some(EXIT_SKIPPED) => println!("SKIPPED: {told}"),
        code => panic!("run.py {cases:?} ended with {code:?}:\n{told}"),
    }
}

#[test]
fn dumps_of_every_column_type() {
    run(&["zoo", "options", "tab"]);
}

#[test]
fn dumps_of_real_applications() {
    run(&["sysbench", "zabbix"]);
}

#[test]
fn client_programs_and_drivers() {
    run(&["tools", "pymysql"]);
}

#[test]
fn memory_while_restoring() {
    run(&["memory"]);
}

#[test]
fn the_log_replayed_by_mariadb_makes_the_same_tables() {
    run(&["binlog"]);
}
