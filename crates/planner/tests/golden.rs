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
