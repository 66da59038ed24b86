//! The public sqllogictest corpus: reading its files and checking a server against them, as engine `mysql`.
//!
//! The format is described at <https://www.sqlite.org/sqllogictest/doc/trunk/about.wiki>: records of a condition
//! (`skipif`, `onlyif`), a `statement ok|error` or a `query TYPES SORT`, the SQL and the values expected, one in a line,
//! or a count and the MD5 of them.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use crate::client::{Answer, Client, ClientError, Login, Row};
use crate::server::{ServerFailure, TestServer};

const ENGINE: &str = "mysql";
const DATABASE: &str = "slt";

/// How the values of a query are put in order before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Not at all.
    No,
    /// By rows.
    Rows,
    /// All values.
    Values,
}

/// One thing to check.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Record {
    Statement { line: usize, sql: String, ok: bool },
    Query { line: usize, sql: String, types: String, sort: Sort, expected: Vec<String> },
    Halt,
}

/// What came of a file.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Records that were as expected.
    pub passed: usize,
    /// Those that were not: the place, the SQL and the difference.
    pub failed: Vec<String>,
    /// Records beyond the limit, not run.
    pub left: usize,
}

/// Files below a folder whose names end with `.test` or `.test.gz`, in order.
///
/// # Errors
/// When the folder cannot be read.
pub fn find(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".test") || name.ends_with(".test.gz") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(path)?;
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    Ok(text)
}

fn parse(text: &str) -> Vec<Record> {
    let mut out = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    let mut skip = false;
    while let Some((n, line)) = lines.next() {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        let record = match words.as_slice() {
            ["skipif", engine, ..] => {
                skip |= *engine == ENGINE;
                continue;
            }
            ["onlyif", engine, ..] => {
                skip |= *engine != ENGINE;
                continue;
            }
            ["statement", ok, ..] => {
                let mut sql = Vec::new();
                while let Some((_, l)) = lines.next_if(|(_, l)| !l.trim().is_empty()) {
                    sql.push(l);
                }
                Record::Statement { line: n + 1, sql: sql.join("\n"), ok: *ok == "ok" }
            }
            ["query", rest @ ..] => {
                let (mut sql, mut expected, mut answers) = (Vec::new(), Vec::new(), false);
                while let Some((_, l)) = lines.next_if(|(_, l)| !l.trim().is_empty()) {
                    match (answers, l) {
                        (false, "----") => answers = true,
                        (false, l) => sql.push(l),
                        (true, l) => expected.push(l.to_owned()),
                    }
                }
                let sort = match rest.get(1) {
                    Some(&"rowsort") => Sort::Rows,
                    Some(&"valuesort") => Sort::Values,
                    _ => Sort::No,
                };
                let types = rest.first().copied().unwrap_or_default().to_owned();
                Record::Query { line: n + 1, sql: sql.join("\n"), types, sort, expected }
            }
            ["halt", ..] => Record::Halt,
            _ => continue,
        };
        if !std::mem::take(&mut skip) {
            out.push(record);
        }
    }
    out
}

/// The values of a row as the corpus writes them.
fn values(row: &Row, types: &str) -> Vec<String> {
    let mut kinds = types.chars();
    row.iter()
        .map(|value| {
            let kind = kinds.next().unwrap_or('T');
            let Some(bytes) = value else { return "NULL".to_owned() };
            let text = String::from_utf8_lossy(bytes).into_owned();
            match kind {
                // As C's atoi and printf do.
                'I' => {
                    let number: String = text.chars().enumerate().take_while(|(i, c)| c.is_ascii_digit() || (*i == 0 && *c == '-')).map(|(_, c)| c).collect();
                    number.parse::<i128>().map_or_else(|_| "0".to_owned(), |n| n.to_string())
                }
                'R' => text.parse::<f64>().map_or(text, |n| format!("{n:.3}")),
                _ if text.is_empty() => "(empty)".to_owned(),
                _ => text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '@' }).collect(),
            }
        })
        .collect()
}

fn answer_of(rows: &[Row], types: &str, sort: Sort, hashed: bool) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = rows.iter().map(|r| values(r, types)).collect();
    if sort == Sort::Rows {
        rows.sort();
    }
    let mut all: Vec<String> = rows.into_iter().flatten().collect();
    if sort == Sort::Values {
        all.sort();
    }
    if hashed {
        let mut hash = Md5::new();
        for value in &all {
            hash.update(value.as_bytes());
            hash.update(b"\n");
        }
        let digest = hash.finalize().iter().fold(String::new(), |mut s, b| {
            // Writing to a String does not fail.
            let _ = write!(s, "{b:02x}");
            s
        });
        return vec![format!("{} values hashing to {digest}", all.len())];
    }
    all
}

/// Runs the first `most` records of a file in a new database.
///
/// # Errors
/// When the file cannot be read or the server is gone.
pub fn run_file(server: &TestServer, path: &Path, most: usize) -> Result<Outcome, ServerFailure> {
    let text = read(path).map_err(|e| ServerFailure::Io(path.display().to_string(), e))?;
    let mut client = server.connect()?;
    client.execute(&format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
    client.execute(&format!("CREATE DATABASE {DATABASE}"))?;
    let mut client = server.connect_as(&Login { database: Some(DATABASE.into()), ..Login::default() })?;
    let mut outcome = Outcome::default();
    for (n, record) in parse(&text).iter().enumerate() {
        if n >= most {
            outcome.left += 1;
            continue;
        }
        match record {
            Record::Halt => break,
            _ => match check(&mut client, record)? {
                None => outcome.passed += 1,
                Some(why) => outcome.failed.push(format!("{}:{why}", path.display())),
            },
        }
    }
    Ok(outcome)
}

/// Checks a record; gives what is wrong.
fn check(client: &mut Client, record: &Record) -> Result<Option<String>, ClientError> {
    match record {
        Record::Statement { line, sql, ok } => {
            let answer = client.query(sql)?;
            Ok(match (&answer, ok) {
                (Answer::Error(e), true) => Some(format!("{line}: {sql}\n  {e}")),
                (Answer::Rows { .. } | Answer::Done { .. }, false) => Some(format!("{line}: {sql}\n  no error")),
                _ => None,
            })
        }
        Record::Query { line, sql, types, sort, expected } => {
            let rows = match client.query(sql)? {
                Answer::Rows { rows, .. } => rows,
                Answer::Error(e) => return Ok(Some(format!("{line}: {sql}\n  {e}"))),
                Answer::Done { .. } => return Ok(Some(format!("{line}: {sql}\n  no rows"))),
            };
            // A file need not say its threshold: the record shows whether it is of values or of their hash.
            let hashed = matches!(expected.as_slice(), [only] if only.contains(" values hashing to "));
            let actual = answer_of(&rows, types, *sort, hashed);
            if actual == *expected {
                return Ok(None);
            }
            Ok(Some(format!("{line}: {sql}\n  expected {expected:?}\n  got      {actual:?}")))
        }
        Record::Halt => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_for_mysql() {
        let text = "onlyif sqlite\nstatement ok\nA\n\nskipif mysql # why\nstatement ok\nB\n\nonlyif mysql\n# x\nstatement error\nC\nD\n\nquery IT rowsort x\nSELECT 1\n----\n1\nz\n";
        let records = parse(text);
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!(records[0], Record::Statement { line: 11, sql: "C\nD".into(), ok: false });
    }

    #[test]
    fn values_look_as_the_corpus_writes_them() {
        let row: Row = vec![Some(b"12.7".to_vec()), Some(b"1.0006".to_vec()), Some(b"".to_vec()), None];
        assert_eq!(values(&row, "IRTI"), ["12", "1.001", "(empty)", "NULL"]);
        assert_eq!(answer_of(&[vec![Some(b"2".to_vec())], vec![Some(b"1".to_vec())]], "I", Sort::Rows, false), ["1", "2"]);
    }
}
