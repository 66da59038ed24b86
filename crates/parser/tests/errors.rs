//! The errors of bad statements are MariaDB's to the letter: the fixture was made by a server of 10.11.
//!
//! `fixtures/errors.txt`: paragraphs of a statement, `----`, and `number: text` as the server answered.

use selkie_parser::{ParseOptions, parse};

#[test]
fn errors_have_mariadbs_words() {
    let mut failures = Vec::new();
    let mut count = 0;
    for paragraph in include_str!("fixtures/errors.txt")
        .split("\n\n")
        .filter(|text| !text.trim().is_empty())
    {
        let (sql, answer) = paragraph
            .trim_matches('\n')
            .split_once("\n----\n")
            .expect("a statement and an answer");
        count += 1;
        let ours = match parse(sql.as_bytes(), &ParseOptions::default()) {
            Ok(_) => "taken".to_string(),
            Err(error) => format!("{}: {error}", error.code()),
        };
        if ours != answer {
            failures.push(format!("{sql}\n  server: {answer}\n  ours:   {ours}"));
        }
    }
    assert!(count > 90, "only {count} statements were looked at");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bytes_that_are_not_utf8_are_shown_as_question_marks() {
    let error =
        parse(b"SELECT a\xff b", &ParseOptions::default()).expect_err("no name has that byte");
    assert!(
        error.to_string().ends_with("near '? b' at line 1"),
        "{error}"
    );
}

#[test]
fn nothing_nests_too_deep() {
    let options = ParseOptions::default();
    for (open, middle, close) in [
        ("SELECT (", "1", ")"),
        ("SELECT abs(", "1", ")"),
        ("(", "SELECT 1", ")"),
        ("BEGIN NOT ATOMIC ", "SELECT 1;", "END;"),
    ] {
        let n = 50_000;
        let sql = format!(
            "{open}{}{middle}{}",
            open.trim_start_matches("SELECT ").repeat(n),
            close.repeat(n)
        );
        let error = parse(sql.as_bytes(), &options).expect_err("too deep");
        assert!(matches!(error.code(), 1436 | 1064), "{open}: {error}");
    }
    for repeated in [" + 1", " - 1", " = 1", " IS NULL", " COLLATE x"] {
        let sql = format!("SELECT 1{}", repeated.repeat(50_000));
        assert_eq!(
            parse(sql.as_bytes(), &options)
                .map_err(|e| e.code())
                .map(|_| ()),
            Err(1436),
            "{repeated}"
        );
    }
    for repeated in [" AND 1", " OR 1", " UNION SELECT 1", ", 1"] {
        let sql = format!("SELECT 1{}", repeated.repeat(50_000));
        assert!(parse(sql.as_bytes(), &options).is_ok(), "{repeated}");
    }
    let nested = format!("SELECT {}1{}", "(".repeat(250), ")".repeat(250));
    assert!(parse(nested.as_bytes(), &options).is_ok());
}
