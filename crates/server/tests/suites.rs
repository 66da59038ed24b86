//! The scripts of tests/suites, on both storage engines.

use std::path::Path;
use std::process::ExitCode;

use selkie_test_support::suite::Suites;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suites");
    Suites { selkie: env!("CARGO_BIN_EXE_selkie").into(), folder }.main()
}
