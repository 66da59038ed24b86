//! Parses the statements on standard input, one after the other, and prints the tree or the error of each.
//!
//! `echo 'SELECT 1' | cargo run -p selkie-parser --example parse`

use std::io::Read;

use selkie_parser::{ParseOptions, parse};

fn main() -> std::io::Result<()> {
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let options = ParseOptions {
        multi_statements: true,
        params: true,
        ..ParseOptions::default()
    };
    let mut rest = &text[..];
    while !rest.is_empty() {
        match parse(rest, &options) {
            Ok(parsed) => {
                println!("{:#?}", parsed.statement);
                rest = &rest[parsed.end..];
            }
            Err(error) => {
                println!("ERROR {}: {error}", error.code());
                break;
            }
        }
    }
    Ok(())
}
