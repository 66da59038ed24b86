//! No text makes the parser panic, and what it shows it reads back.

use proptest::prelude::*;
use selkie_parser::digest::Digest;
use selkie_parser::{ParseOptions, display, fuzz_parse, parse, parse_expr};

/// Words and signs that the grammar knows, so that random lists of them get somewhere.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "a",
    "b",
    "t",
    "1",
    "2.5",
    "1e3",
    "'x'",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "=",
    "<>",
    "AND",
    "OR",
    "NOT",
    "IN",
    "LIKE",
    "BETWEEN",
    "IS",
    "NULL",
    "CASE",
    "WHEN",
    "THEN",
    "END",
    "ELSE",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "CREATE",
    "TABLE",
    "INT",
    "VARCHAR",
    "PRIMARY",
    "KEY",
    "ALTER",
    "ADD",
    "DROP",
    "COLUMN",
    "JOIN",
    "LEFT",
    "ON",
    "USING",
    "UNION",
    "ALL",
    "ORDER",
    "BY",
    "GROUP",
    "LIMIT",
    "HAVING",
    "AS",
    "INTERVAL",
    "DAY",
    "BEGIN",
    "DECLARE",
    "IF",
    "LOOP",
    ";",
    "@x",
    ":=",
    "@@y",
    "?",
    ".",
    "PARTITION",
    "RANGE",
    "EXISTS",
    "WITH",
    "OVER",
    "count(",
    "cast(",
    "SHOW",
    "GRANT",
    "TO",
    "TRIGGER",
    "PROCEDURE",
    "FOR",
    "EACH",
    "ROW",
    "{",
    "}",
    "/*!",
    "*/",
    "`q`",
    "x'41'",
    "DEFAULT",
    "!",
    "~",
    "COLLATE",
    "BINARY",
    "EXPLAIN",
    "LOAD",
    "DATA",
    "CALL",
    "HANDLER",
    "XA",
    "START",
];

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "t.b", "1", "2.5", "1e3", "'x'", "NULL", "@v", "now()", "count(*)",
    ]);
    leaf.prop_map(str::to_string)
        .prop_recursive(5, 40, 3, |inner| {
            let operator = prop::sample::select(vec![
                "+", "-", "*", "/", "DIV", "%", "|", "&", "^", "<<", "=", "<=>", "<", "AND", "OR",
                "XOR", "LIKE", "REGEXP",
            ]);
            prop_oneof![
                (inner.clone(), operator, inner.clone())
                    .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
                (
                    inner.clone(),
                    prop::sample::select(vec!["-", "~", "!", "NOT ", "BINARY "])
                )
                    .prop_map(|(a, op)| format!("{op}({a})")),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(a, b, c)| format!("({a}) BETWEEN ({b}) AND ({c})")),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(a, b, c)| format!("({a}) NOT IN ({b}, {c})")),
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| format!("CASE {a} WHEN {b} THEN 1 END")),
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| format!("({a}) + INTERVAL {b} DAY")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("concat({a}, {b})")),
                inner.clone().prop_map(|a| format!("({a}) IS NOT NULL")),
                inner.prop_map(|a| format!("CAST({a} AS SIGNED)")),
            ]
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_parse(&bytes);
    }

    #[test]
    fn words_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        fuzz_parse(words.join(" ").as_bytes());
    }

    #[test]
    fn what_is_shown_is_read_back(sql in expression()) {
        let options = ParseOptions::default();
        let Ok(tree) = parse_expr(sql.as_bytes(), &options) else {
            return Err(TestCaseError::fail(format!("refused: {sql}")));
        };
        let shown = display::expr(&tree);
        let Ok(again) = parse_expr(shown.as_bytes(), &options) else {
            return Err(TestCaseError::fail(format!("refused: {shown}\nfrom {sql}")));
        };
        prop_assert_eq!(display::expr(&again), shown);
    }

    #[test]
    fn a_digest_parses_as_its_text_does(sql in expression()) {
        let sql = format!("SELECT a FROM t WHERE {sql}");
        let mut digest = Digest::default();
        prop_assert!(digest.fill(sql.as_bytes(), &ParseOptions::default()));
        let options = ParseOptions { params: true, ..ParseOptions::default() };
        let parsed = parse(digest.text(), &options);
        prop_assert_eq!(parsed.map(|p| p.param_count), Ok(digest.literals().len()));
    }
}
