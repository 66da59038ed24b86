//! How much of MariaDB's own test files the grammar takes.
//!
//! `cargo run --release -p selkie-parser --example coverage -- [--dump FILE] [--verdicts FILE] TEST…`
//!
//! The files are split into statements in a simple way: commands of the test language and statements with
//! its variables are left out. `--dump` writes the statements, each with a zero byte behind. `--verdicts`
//! reads what a real server said to each of them (a line each: an error's number, a tab and its text; 0 if
//! it took it), and only disagreements are reported.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::io::Write;

use selkie_parser::{ParseOptions, parse};

/// Words that begin a statement; what begins otherwise is the test language.
const STARTS: &str = " alter analyze backup begin binlog cache call change check checksum commit create deallocate delete \
 desc describe do drop execute explain flush get grant handler help insert install kill load lock optimize prepare \
 purge rename repair replace reset resignal revoke rollback savepoint release select set show shutdown signal start \
 stop truncate uninstall unlock update use values with xa ( ";

fn statements(text: &[u8], out: &mut Vec<Vec<u8>>) {
    let mut delimiter = b";".to_vec();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let line_end = text[at..]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(text.len(), |n| at + n);
        if byte.is_ascii_whitespace() || byte == b'}' || byte == b'{' {
            at += 1;
            continue;
        }
        if byte == b'#' || text[at..].starts_with(b"--") {
            at = line_end;
            continue;
        }
        let rest = &text[at..];
        let lower = rest[..rest.len().min(10)].to_ascii_lowercase();
        if delimiter == b";"
            && (lower.starts_with(b"if ")
                || lower.starts_with(b"if(")
                || lower.starts_with(b"while"))
        {
            at = line_end;
            continue;
        }
        let end = statement_end(rest, &delimiter);
        let statement = rest[..end].trim_ascii();
        at += end + delimiter.len();
        let word_len = statement
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let word = String::from_utf8_lossy(&statement[..word_len.max(1).min(statement.len())])
            .to_ascii_lowercase();
        if word == "delimiter" {
            delimiter = statement[word_len..].trim_ascii().to_vec();
            if delimiter.is_empty() {
                delimiter = b";".to_vec();
            }
            continue;
        }
        let vars = statement.contains(&b'$');
        if !vars && STARTS.split_ascii_whitespace().any(|start| start == word) {
            out.push(statement.to_vec());
        }
    }
}

/// Where the delimiter stands that is in no string or comment.
fn statement_end(text: &[u8], delimiter: &[u8]) -> usize {
    let mut at = 0;
    let mut quote = None;
    while at < text.len() {
        let byte = text[at];
        match quote {
            Some(open) => {
                if byte == b'\\' && open != b'`' {
                    at += 1;
                } else if byte == open {
                    quote = None;
                }
            }
            None if text[at..].starts_with(delimiter) => return at,
            None if matches!(byte, b'\'' | b'"' | b'`') => quote = Some(byte),
            None if byte == b'#' || text[at..].starts_with(b"-- ") => {
                at += text[at..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .unwrap_or(text.len() - at);
            }
            None if text[at..].starts_with(b"/*") && !text[at..].starts_with(b"/*!") => {
                at += text[at..]
                    .windows(2)
                    .position(|w| w == b"*/")
                    .map_or(1, |n| n + 1);
            }
            None => {}
        }
        at += 1;
    }
    text.len()
}

fn main() -> std::io::Result<()> {
    let (mut dump, mut verdicts, mut files) = (None, None, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dump" => dump = args.next(),
            "--verdicts" => verdicts = args.next(),
            _ => files.push(arg),
        }
    }
    let mut all = Vec::new();
    for file in &files {
        statements(&std::fs::read(file)?, &mut all);
    }
    let mut seen = HashSet::new();
    all.retain(|statement| seen.insert(statement.clone()));
    if let Some(path) = dump {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        for statement in &all {
            out.write_all(statement)?;
            out.write_all(&[0])?;
        }
    }
    let verdicts = verdicts.map(std::fs::read).transpose()?;
    let verdicts: Option<Vec<String>> = verdicts.map(|bytes| {
        String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_string)
            .collect()
    });
    let options = ParseOptions {
        params: true,
        ..ParseOptions::default()
    };
    let (mut taken, mut wrongly_taken, mut other_text, mut expected) = (0, 0, 0, 0);
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    for (n, statement) in all.iter().enumerate() {
        let result = parse(statement, &options);
        let verdict = verdicts.as_ref().and_then(|v| v.get(n));
        let server_takes = verdict.is_none_or(|v| !v.starts_with("1064\t"));
        expected += usize::from(server_takes);
        let shown =
            String::from_utf8_lossy(&statement[..statement.len().min(300)]).replace('\n', " ");
        match (result, server_takes) {
            (Ok(_), true) => taken += 1,
            (Err(error), true)
                if verdict.is_some_and(|v| v.starts_with(&format!("{}\t", error.code()))) =>
            {
                taken += 1;
            }
            (Ok(_), false) => {
                wrongly_taken += 1;
                println!("TAKEN {shown}\n   server: {}", verdict.map_or("", |v| v));
            }
            (Err(error), true) => {
                let first = statement
                    .iter()
                    .take_while(|b| !b.is_ascii_whitespace())
                    .copied()
                    .collect::<Vec<_>>();
                *causes
                    .entry(String::from_utf8_lossy(&first).to_ascii_uppercase())
                    .or_default() += 1;
                println!(
                    "REFUSED {shown}\n   {}",
                    error
                        .to_string()
                        .replace('\n', "\\n")
                        .rsplit("use near")
                        .next()
                        .unwrap_or_default()
                );
            }
            (Err(error), false) => {
                let text = format!("{}\t{error}", error.code()).replace('\n', "\\n");
                if verdict.is_some_and(|v| *v != text) {
                    other_text += 1;
                    let tail =
                        |t: &str| t.rsplit("use near").next().unwrap_or_default().to_string();
                    println!(
                        "TEXT {shown}\n   ours:   {}\n   server: {}",
                        tail(&text),
                        tail(verdict.map_or("", |v| v))
                    );
                }
            }
        }
    }
    println!("refused by first word: {causes:?}");
    println!(
        "{taken} of {expected} taken ({:.2} %), {wrongly_taken} wrongly taken, {other_text} errors with another text",
        taken as f64 * 100.0 / (expected as f64).max(1.0)
    );
    Ok(())
}
