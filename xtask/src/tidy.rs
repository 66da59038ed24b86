//! Checks of the tree that the compiler does not make: layers, module heads, leftovers, sizes.
//!
//! Each finding names the file and how to mend it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The crates by layer: a crate may use only those of the layers before its own. ARCHITECTURE.md says why.
const LAYERS: &[&[&str]] = &[
    &["selkie-types"],
    &["selkie-protocol", "selkie-parser", "selkie-expr", "selkie-engine", "selkie-binlog"],
    &["selkie-engine-wiredtiger", "selkie-engine-memory", "selkie-txn"],
    &["selkie-catalog"],
    &["selkie-planner"],
    &["selkie-executor"],
    &["selkie-ddl"],
    &["selkie-session"],
    &["selkie-replication"],
    &["selkie-server"],
];
/// Knows the wire protocol only, as any client does.
const TEST_SUPPORT: &str = "selkie-test-support";
const TEST_SUPPORT_MAY_USE: &[&str] = &["selkie-types", "selkie-protocol"];

const LINES_MAX: usize = 1000;
/// Tables that a program wrote, with the reason to be long.
const GENERATED: &[&str] = &["crates/types/src/charset/registry_data.rs", "crates/types/src/error_table.rs"];

/// This file has the words that it looks for.
const SELF: &str = "xtask/src/tidy.rs";
/// What does not belong into a source file, in lower case: how it came about.
const FOREIGN_WORDS: &[&str] = &[
    "/work/",
    "worktree",
    "brief.md",
    "helper session",
    "claude",
    "anthropic",
    "this issue",
    "issue #",
    "the issue says",
    "as the issue",
];

/// Runs all checks; the error is the list of findings.
pub fn check() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask stands in no folder")?;
    let mut findings = layers(root)?;
    let files = tracked_files(root)?;
    if files.is_empty() {
        return Err("no files were found: is this a git checkout?".to_owned());
    }
    for file in &files {
        if file.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(root.join(file)).map_err(|e| format!("{}: {e}", file.display()))?;
            check_source(&file.to_string_lossy(), &text, &mut findings);
        }
    }
    if findings.is_empty() {
        println!("tidy: {} files, no findings", files.len());
        return Ok(());
    }
    Err(format!("tidy:\n  {}", findings.join("\n  ")))
}

fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let out = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if out.status.success() { Ok(out.stdout) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// Files that git knows, or would add, relative to the root.
fn tracked_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = output(&mut git)?;
    let names = list.split(|b| *b == 0).filter(|n| !n.is_empty());
    Ok(names
        .map(|n| PathBuf::from(String::from_utf8_lossy(n).into_owned()))
        .filter(|p| root.join(p).is_file())
        .collect())
}

/// The direction of dependencies between crates.
fn layers(root: &Path) -> Result<Vec<String>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args(["metadata", "--format-version=1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_slice(&output(&mut cargo)?).map_err(|e| e.to_string())?;
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().ok_or("cargo metadata has no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let used = package["dependencies"].as_array().into_iter().flatten().filter(|d| d["kind"] != "dev");
        let used: Vec<&str> = used.filter_map(|d| d["name"].as_str()).filter(|d| d.starts_with("selkie-")).collect();
        findings.extend(check_layer(name, &used));
    }
    Ok(findings)
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|crates| crates.contains(&name))
}

fn check_layer(name: &str, used: &[&str]) -> Vec<String> {
    let mut findings = Vec::new();
    if name == "xtask" {
        return findings;
    }
    if name == TEST_SUPPORT {
        for other in used.iter().filter(|u| !TEST_SUPPORT_MAY_USE.contains(*u)) {
            findings
                .push(format!("{name} uses {other}: it may know the protocol only; move what it needs into the test"));
        }
        return findings;
    }
    let Some(own) = layer(name) else {
        return vec![format!("crate {name} has no layer: add it to LAYERS in {SELF} and to ARCHITECTURE.md")];
    };
    for other in used {
        match layer(other) {
            Some(theirs) if theirs < own => {}
            _ => findings.push(format!(
                "{name} must not use {other}, which is of its own or a later layer: turn the dependency round, or pass \
                 what is needed through a trait of the lower crate"
            )),
        }
    }
    findings
}

fn check_source(file: &str, text: &str, findings: &mut Vec<String>) {
    let mut find = |line: usize, what: &str| findings.push(format!("{file}:{line}: {what}"));
    if !text.lines().find(|l| !l.starts_with("#!")).is_some_and(|l| l.starts_with("//!")) {
        find(1, "begin with //! and say what the module is for and what it must not know");
    }
    let lines = text.lines().count();
    if lines > LINES_MAX && !GENERATED.contains(&file) {
        find(lines, &format!("longer than {LINES_MAX} lines: find the seam and split it (generated tables: {SELF})"));
    }
    if file == SELF || GENERATED.contains(&file) {
        return;
    }
    let mut in_tests = file.split('/').any(|part| matches!(part, "tests" | "tests.rs"));
    for (n, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("#[cfg(test)]") {
            in_tests = true;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(word) = FOREIGN_WORDS.iter().find(|w| lower.contains(**w)) {
            find(n + 1, &format!("'{word}' tells how the code came about: say why it is as it is, without that"));
        }
        if line.starts_with("//") {
            continue;
        }
        for leftover in ["todo!(", "unimplemented!(", "dbg!("] {
            if has_macro(line, leftover) {
                find(n + 1, &format!("{leftover}) is a leftover: finish it, or return an error that says so"));
            }
        }
        if in_tests && line.contains("thread::sleep") {
            find(n + 1, "a test that sleeps is slow or wrong: wait for the condition itself");
        }
    }
}

/// Whether a line calls a macro, and not one whose name only ends alike.
fn has_macro(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(file: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check_source(file, text, &mut findings);
        findings
    }

    #[test]
    fn each_rule_finds() {
        assert!(findings("a.rs", "//! Fine.\nfn f() {}\n").is_empty());
        for (file, text, found) in [
            ("a.rs", "fn f() {}\n", "a.rs:1: begin with //!"),
            ("a.rs", "//! A\nfn f() { todo!() }\n", "a.rs:2: todo!() is a leftover"),
            ("a.rs", "//! A\n#[cfg(test)]\nmod t { fn f() { std::thread::sleep(x) } }\n", "a.rs:3: a test that sleeps"),
            ("tests/a.rs", "//! A\nfn f() { thread::sleep(x) }\n", "tests/a.rs:2: a test that sleeps"),
            ("a.rs", "//! A\n// see /work/x\n", "a.rs:2: '/work/' tells"),
        ] {
            let all = findings(file, text);
            assert!(all.len() == 1 && all[0].starts_with(found), "{all:?}");
        }
        assert!(findings("a.rs", "//! A\nfn f() { my_dbg!(1); // dbg\n}\n").is_empty());
        let long = format!("//! A\n{}", "\n".repeat(1000));
        assert!(findings("a.rs", &long)[0].contains("find the seam"));
    }

    #[test]
    fn layers_go_one_way() {
        assert!(check_layer("selkie-session", &["selkie-txn", "selkie-types"]).is_empty());
        assert_eq!(check_layer("selkie-txn", &["selkie-session"]).len(), 1);
        assert_eq!(check_layer("selkie-parser", &["selkie-protocol"]).len(), 1);
        assert_eq!(check_layer("selkie-new", &[]).len(), 1);
        assert_eq!(check_layer("selkie-test-support", &["selkie-protocol", "selkie-session"]).len(), 1);
    }
}
