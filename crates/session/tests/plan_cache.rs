//! Text statements with cached plans.

mod common;

use std::sync::atomic::Ordering;

use common::{Conn, connect, make_table, open};

fn hits(c: &Conn) -> u64 {
    c.session.instance.status.plan_hits.load(Ordering::Relaxed)
}

/// Runs a statement; its answer and whether its plan was cached.
fn run(c: &mut Conn, sql: &str) -> (String, bool) {
    let before = hits(c);
    let answer = c.run(sql);
    (answer, hits(c) > before)
}

#[test]
fn the_second_text_has_a_plan() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    let cached = |text: &str| (text.to_owned(), true);
    assert_eq!(run(&mut c, "INSERT INTO t VALUES (1, 10, 'one')"), ("OK 1".into(), false));
    assert_eq!(run(&mut c, "INSERT INTO t VALUES (2, 20, 'it''s')"), cached("OK 1"));
    assert_eq!(run(&mut c, "INSERT INTO t VALUES (3, 30, '')"), cached("OK 1"));
    assert_eq!(run(&mut c, "INSERT INTO t VALUES (3, 30, '')"), cached("Duplicate entry '3' for key 'PRIMARY'"));
    assert_eq!(run(&mut c, "SELECT * FROM t WHERE id = 1"), ("1,10,one".into(), false));
    assert_eq!(run(&mut c, "SELECT * FROM t WHERE id = 2"), cached("2,20,it's"));
    assert_eq!(run(&mut c, "SELECT * FROM t  WHERE id = 3;"), cached("3,30,"));
    assert_eq!(run(&mut c, "SELECT * FROM t WHERE id = '3'").0, "3,30,");
    assert_eq!(run(&mut c, "UPDATE t SET k = k + 1 WHERE id = 1"), ("OK 1".into(), false));
    assert_eq!(run(&mut c, "UPDATE t SET k = k + 5 WHERE id = 2"), cached("OK 1"));
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id IN (1, 2) ORDER BY 1 DESC").0, "25 | 11");
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id IN (2, 3) ORDER BY 1 DESC"), cached("30 | 25"));
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id IN (2, 3) ORDER BY 1"), ("25 | 30".into(), false));
    assert_eq!(run(&mut c, "SELECT id FROM t LIMIT 1").0, "1");
    assert_eq!(run(&mut c, "SELECT id FROM t LIMIT 2"), cached("1 | 2"));
    assert_eq!(run(&mut c, "DELETE FROM t WHERE id = 1"), ("OK 1".into(), false));
    assert_eq!(run(&mut c, "DELETE FROM t WHERE id = 2"), cached("OK 1"));
}

#[test]
fn a_plan_is_dropped_with_what_it_was_made_for() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    c.run("INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two')");
    for _ in 0..2 {
        c.run("SELECT k FROM t WHERE id = 1");
    }
    assert!(run(&mut c, "SELECT k FROM t WHERE id = 2").1);
    // Another dictionary.
    make_table(&instance, "other", false, true);
    assert_eq!(c.run("SELECT k FROM t WHERE id = 2"), "20");
    assert!(run(&mut c, "SELECT k FROM t WHERE id = 2").1);
    // Another sql_mode reads another text.
    c.session.host.set_var("sql_mode", "ANSI_QUOTES");
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id = 2"), ("20".into(), false));
    // Literals of other types.
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id = 2.0"), ("20".into(), false));
    assert_eq!(run(&mut c, "SELECT k FROM t WHERE id = 2.5"), ("".into(), true));
    // Variables have the type of their last value.
    c.run("SET @a = 1");
    for _ in 0..3 {
        assert!(!run(&mut c, "SELECT @a + k FROM t WHERE id = 2").1);
    }
    // The warnings of the statement before are gone.
    c.run("SELECT k FROM t WHERE id = 'x'");
    c.run("SELECT k FROM t WHERE id = 2");
    assert!(c.warnings().is_empty());
}
