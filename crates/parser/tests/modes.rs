//! What `sql_mode`, comments, parameters and semicolons change.

use selkie_parser::ast::Statement;
use selkie_parser::{ParseMode, ParseOptions, display, parse, parse_expr};

fn with(mode: ParseMode) -> ParseOptions {
    ParseOptions {
        mode,
        ..ParseOptions::default()
    }
}

fn shown(sql: &str, options: &ParseOptions) -> String {
    match parse_expr(sql.as_bytes(), options) {
        Ok(expr) => display::expr(&expr),
        Err(error) => format!("ERROR {}", error.code()),
    }
}

#[test]
fn sql_modes() {
    let plain = ParseOptions::default();
    let ansi = with(ParseMode {
        ansi_quotes: true,
        ..ParseMode::default()
    });
    assert_eq!(shown("\"a\" + 'b'", &plain), "'a' + 'b'");
    assert_eq!(shown("\"a\"\"c\" + 'b'", &ansi), "`a\"c` + 'b'");

    let pipes = with(ParseMode {
        pipes_as_concat: true,
        ..ParseMode::default()
    });
    assert_eq!(
        shown("a || b || c", &plain),
        "`a` <> 0 or `b` <> 0 or `c` <> 0"
    );
    assert_eq!(shown("a || b + 1", &pipes), "concat(`a`,`b`) + 1");

    let no_escapes = with(ParseMode {
        no_backslash_escapes: true,
        ..ParseMode::default()
    });
    assert_eq!(shown(r"'a\n'", &plain), r"'a\n'");
    assert_eq!(shown(r"'a\'", &no_escapes), r"'a\\'");

    let high_not = with(ParseMode {
        high_not_precedence: true,
        ..ParseMode::default()
    });
    assert_eq!(
        shown("NOT a BETWEEN 1 AND 2", &plain),
        "`a` not between 1 and 2"
    );
    assert_eq!(
        shown("NOT a BETWEEN 1 AND 2", &high_not),
        "(`a` = 0) between 1 and 2"
    );

    let ignore_space = with(ParseMode {
        ignore_space: true,
        ..ParseMode::default()
    });
    assert_eq!(shown("count (*)", &plain), "ERROR 1064");
    assert_eq!(shown("count (*)", &ignore_space), "count(0)");
}

#[test]
fn executable_comments() {
    let items =
        |sql: &str| match parse(sql.as_bytes(), &ParseOptions::default()).map(|p| p.statement) {
            Ok(Statement::Query(query)) => display::query(&query),
            other => format!("{other:?}"),
        };
    assert_eq!(items("SELECT /*! 1, */ 2"), "select 1 AS `1`,2 AS `2`");
    assert_eq!(items("SELECT /*!50600 1, */ 2"), "select 1 AS `1`,2 AS `2`");
    assert_eq!(items("SELECT /*!50700 1, */ 2"), "select 2 AS `2`");
    assert_eq!(
        items("SELECT /*M!50700 1, */ 2"),
        "select 1 AS `1`,2 AS `2`"
    );
    assert_eq!(
        items("SELECT /*!101100 1, */ 2"),
        "select 1 AS `1`,2 AS `2`"
    );
    assert_eq!(
        items("SELECT /*!101200 1 /* nested */ , */ 2"),
        "select 2 AS `2`"
    );
    assert_eq!(
        items("SELECT 1 -- x\n, 2 # y\n, 3 /* z */"),
        "select 1 AS `1`,2 AS `2`,3 AS `3`"
    );
    assert_eq!(items("SELECT 5--3"), "select 5 - -3 AS `5--3`");
}

#[test]
fn statements_one_after_the_other() {
    let options = ParseOptions {
        multi_statements: true,
        ..ParseOptions::default()
    };
    let text = b"SELECT 1; ; BEGIN NOT ATOMIC SELECT 1; END; SELECT ';' ;;  ";
    let mut rest = &text[..];
    let mut kinds = Vec::new();
    while !rest.is_empty() {
        let parsed = parse(rest, &options).expect("it is SQL");
        rest = &rest[parsed.end..];
        kinds.push(match parsed.statement {
            Statement::Query(_) => 'q',
            Statement::Empty => '-',
            Statement::Compound(_) => 'c',
            _ => '?',
        });
    }
    assert_eq!(kinds, ['q', '-', 'c', 'q']);
    assert!(parse(b"SELECT 1;", &ParseOptions::default()).is_ok());
    assert!(parse(b"SELECT 1; SELECT 2", &ParseOptions::default()).is_err());
}

#[test]
fn parameters_are_counted_in_the_order_of_the_text() {
    let options = ParseOptions {
        params: true,
        ..ParseOptions::default()
    };
    let parsed = parse(
        b"SELECT ?, (SELECT ?) FROM t WHERE ((SELECT ?) + ?) > 1 LIMIT ?",
        &options,
    );
    assert_eq!(parsed.map(|p| p.param_count), Ok(5));
    assert!(parse(b"SELECT ?", &ParseOptions::default()).is_err());
}

#[test]
fn names() {
    let plain = ParseOptions::default();
    // Behind a dot every word is a name, and so is a word before one.
    assert_eq!(shown("t.select", &plain), "`t`.`select`");
    assert_eq!(shown("select.a", &plain), "`select`.`a`");
    assert_eq!(shown("t.1a", &plain), "`t`.`1a`");
    assert_eq!(shown("1a", &plain), "`1a`");
    assert_eq!(shown("0xZ", &plain), "`0xZ`");
    assert_eq!(shown("`a``b`", &plain), "`a``b`");
    assert_eq!(shown("@a.b + @`c d`", &plain), "@`a.b` + @`c d`");
    assert_eq!(shown("date + year", &plain), "`date` + `year`");
    assert_eq!(shown("интервал", &plain), "`интервал`");
}
