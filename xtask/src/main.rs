//! Repository tasks: tidy checks and code generation.

mod collations;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["codegen", "collations", socket] => collations::generate(socket),
        _ => Err("usage: cargo run -p xtask -- codegen collations SOCKET".to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e}");
            ExitCode::FAILURE
        }
    }
}
