//! Statements and what MariaDB 10.11 answers to them, captured by `tests/golden/capture.py`. See there for the form.
//!
//! What answers differ in on purpose stands in the script as `#`-lines: `# selkie:` replaces the captured answer.

mod support;

use std::path::Path;

use support::Server;

/// One statement with the answer that is expected.
struct Case {
    sql: String,
    expected: String,
}

fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut own = false;
    for line in text.lines() {
        if let Some(sql) = line.strip_prefix("> ") {
            cases.push(Case { sql: sql.to_owned(), expected: String::new() });
            own = false;
        } else if let Some(ours) = line.strip_prefix("# selkie:") {
            let Some(c) = cases.last_mut() else { continue };
            if !own {
                c.expected.clear();
                own = true;
            }
            let ours = ours.strip_prefix(' ').unwrap_or(ours);
            if !ours.is_empty() {
                c.expected.push_str(ours);
                c.expected.push('\n');
            }
        } else if line.starts_with('#') || line.is_empty() {
            continue;
        } else if let Some(c) = cases.last_mut()
            && !own
        {
            c.expected.push_str(line);
            c.expected.push('\n');
        }
    }
    cases
}

#[test]
fn answers_as_mariadb_does() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "test"));
    files.sort();
    assert!(!files.is_empty());
    let only = std::env::var("GOLDEN").ok();
    let mut failures = String::new();
    let (mut count, mut failed) = (0, 0);
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|o| *o != name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let mut server = Server::new();
        for case in read(&text) {
            count += 1;
            let answer = server.run(&case.sql);
            if answer != case.expected {
                failed += 1;
                failures.push_str(&format!("{name}> {}\n--- expected\n{}--- got\n{answer}\n", case.sql, case.expected));
            }
        }
        assert_eq!(server.engine_tables(), server.referenced_tables(), "{name}: engine tables left over");
    }
    assert!(failed == 0, "{failed} of {count} answers differ:\n{failures}");
}
