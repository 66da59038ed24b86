//! Golden scripts: statements and the plans they get.

mod common;

use std::path::PathBuf;

fn script(name: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "scripts", name].iter().collect();
    common::run_script(&path);
}

#[test]
fn simple() {
    script("simple.plan");
}

#[test]
fn joins() {
    script("joins.plan");
}

#[test]
fn subqueries() {
    script("subqueries.plan");
}

#[test]
fn groups() {
    script("groups.plan");
}

#[test]
fn errors() {
    script("errors.plan");
}

#[test]
fn changes() {
    script("changes.plan");
}

#[test]
fn access() {
    script("access.plan");
}

#[test]
fn explain() {
    script("explain.plan");
}

#[test]
fn columns() {
    script("columns.plan");
}
