//! Repository tasks: tidy checks and code generation.

mod collation_fixtures;
mod collations;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::check(),
        ["codegen", "collations", socket] => collations::generate(socket),
        ["codegen", "collation-fixtures", socket, file, pairs, pattern] => match pairs.parse() {
            Ok(pairs) => collation_fixtures::generate(socket, file, pairs, pattern),
            Err(_) => Err(format!("{pairs} is no number")),
        },
        _ => Err("usage: cargo run -p xtask -- tidy\n       \
                  cargo run -p xtask -- codegen collations SOCKET\n       \
                  cargo run -p xtask -- codegen collation-fixtures SOCKET FILE PAIRS NAME-PATTERN"
            .to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e}");
            ExitCode::FAILURE
        }
    }
}
