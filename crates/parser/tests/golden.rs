//! The tree of statements of every family, in a short form: what is absent, false or empty is left out.
//!
//! Each file has a statement per paragraph: its text, `----`, its tree (or the error).
//! `UPDATE_GOLDEN=1 cargo test -p selkie-parser --test golden` writes what the parser makes of them now.

use std::fmt::Write;
use std::path::Path;

use selkie_parser::{ParseOptions, parse};

/// Takes the fields that say nothing out of a `{:?}` text.
fn compact(debug: &str) -> String {
    let mut out = names(debug);
    out = texts(&out);
    loop {
        let before = out.len();
        for empty in ["None", "false", "[]", "\"\"", "{}"] {
            out = without_fields(&out, empty);
        }
        // What has no fields left.
        for name in [
            "SelectOptions",
            "FieldsClause",
            "LinesClause",
            "CharsetClause",
            "NumericAttrs",
            "IndexOptions",
            "PartitionOptions",
            "RoutineCharacteristics",
            "Completion",
            "AccountOptions",
            "DatabaseOptions",
            "CheckOptions",
            "RepairOptions",
        ] {
            out = without_fields(&out, name);
            out = out
                .replace(&format!("{name} {{ }}"), name)
                .replace(&format!("{name} {{  }}"), name);
        }
        out = out
            .replace("{ }", "")
            .replace("{  }", "")
            .replace(" )", ")")
            .replace(" ,", ",");
        if out.len() == before {
            break;
        }
    }
    out
}

/// `Ident { value: "a", quoted: false }` as `a` in backticks.
fn names(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(at) = rest.find("Ident { value: \"") {
        let from = at + "Ident { value: \"".len();
        let Some(len) = rest[from..].find("\", quoted: ") else {
            break;
        };
        let Some(end) = rest[from + len..].find('}') else {
            break;
        };
        out.push_str(&rest[..at]);
        write!(out, "`{}`", &rest[from..from + len]).expect("strings take all");
        rest = &rest[from + len + end + 1..];
    }
    out + rest
}

/// `bytes: [97]` as `bytes: 'a'`.
fn texts(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(at) = rest.find("bytes: [") {
        let from = at + "bytes: [".len();
        let Some(len) = rest[from..].find(']') else {
            break;
        };
        let bytes: Vec<u8> = rest[from..from + len]
            .split(", ")
            .filter_map(|byte| byte.parse().ok())
            .collect();
        out.push_str(&rest[..at]);
        write!(out, "bytes: '{}'", bytes.escape_ascii()).expect("strings take all");
        rest = &rest[from + len + 1..];
    }
    out + rest
}

/// Removes every `field: value` with this value.
fn without_fields(text: &str, value: &str) -> String {
    let needle = format!(": {value}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&needle) {
        let after = &rest[at + needle.len()..];
        let field = rest[..at]
            .bytes()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let ends = after.starts_with(", ") || after.starts_with(" }");
        if field == 0 || !ends {
            out.push_str(&rest[..at + needle.len()]);
            rest = after;
            continue;
        }
        out.push_str(&rest[..at - field]);
        rest = after.strip_prefix(", ").unwrap_or(after);
        if rest.starts_with(" }") && out.ends_with(", ") {
            out.truncate(out.len() - 2);
        }
    }
    out.push_str(rest);
    out
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(file);
    let text = std::fs::read_to_string(&path).expect("the golden file is there");
    let options = ParseOptions {
        params: true,
        ..ParseOptions::default()
    };
    let mut now = String::new();
    let mut count = 0;
    for paragraph in text
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
    {
        let sql = paragraph.split("\n----").next().unwrap_or_default().trim();
        let tree = match parse(sql.as_bytes(), &options) {
            Ok(parsed) => compact(&format!("{:?}", parsed.statement)),
            Err(error) => format!("ERROR {}: {error}", error.code()),
        };
        write!(now, "{sql}\n----\n{tree}\n\n").expect("strings take all");
        count += 1;
    }
    assert!(count > 3, "{file} has next to nothing in it");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, now).expect("the golden file can be written");
        return;
    }
    for (written, read) in text.split("\n\n").zip(now.split("\n\n")) {
        assert_eq!(written.trim(), read.trim(), "in {file}");
    }
}

macro_rules! goldens {
    ($($name:ident)*) => { $(#[test] fn $name() { check(concat!(stringify!($name), ".txt")); })* };
}

goldens!(select dml ddl alter partition routine account admin show);
