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

/// Each group: texts that differ in literals, and whether they get a plan.
const TEXTS: &[(bool, &[&str])] = &[
    (true, &["SELECT id FROM v WHERE s = 'b'", "SELECT id FROM v WHERE s = 'A'", "SELECT id FROM v WHERE s = 'zz'"]),
    (true, &["SELECT id FROM v WHERE s IN ('a', 'c')", "SELECT id FROM v WHERE s IN ('b', 'no')"]),
    (true, &["SELECT id FROM v WHERE n > 1.25", "SELECT id FROM v WHERE n > 2.50"]),
    (true, &["SELECT id FROM v WHERE f > 1e0", "SELECT id FROM v WHERE f > 25e-1"]),
    (true, &["SELECT COUNT(*), SUM(n) FROM v WHERE id < 3", "SELECT COUNT(*), SUM(n) FROM v WHERE id < 100"]),
    (true, &["SELECT s FROM v WHERE id > 1 ORDER BY n DESC LIMIT 1", "SELECT s FROM v WHERE id > 0 ORDER BY n DESC LIMIT 2"]),
    (true, &["SELECT a.s FROM v a JOIN v b ON a.id = b.id + 1 WHERE b.s = 'a'", "SELECT a.s FROM v a JOIN v b ON a.id = b.id + 1 WHERE b.s = 'b'"]),
    (true, &["SELECT id FROM v WHERE id = -1 OR n * 2 = 3", "SELECT id FROM v WHERE id = -2 OR n * 2 = 5"]),
    // An index of times is read only where the text's value is known.
    (false, &["SELECT id FROM v WHERE d = '2024-01-02'", "SELECT id FROM v WHERE d = '2024-01-03'"]),
    (false, &["SELECT id FROM v WHERE d BETWEEN '2024-01-01' AND '2024-01-02'", "SELECT id FROM v WHERE d BETWEEN '2024-01-02' AND '2025-01-02'"]),
    (true, &["SELECT id FROM v WHERE dt >= '2024-01-02 10:00:00'", "SELECT id FROM v WHERE dt >= '2024-01-03'"]),
    // Texts beside numbers, years, patterns, arguments: what they mean depends on more than the value.
    (false, &["SELECT id FROM v WHERE id = '2'", "SELECT id FROM v WHERE id = 'x'"]),
    (false, &["SELECT id FROM v WHERE big = '9007199254740993'", "SELECT id FROM v WHERE big = 'x'"]),
    (false, &["SELECT id FROM v WHERE n = '1.5'", "SELECT id FROM v WHERE n = '2.5'"]),
    (false, &["SELECT id FROM y WHERE y = 24", "SELECT id FROM y WHERE y = 99"]),
    (false, &["SELECT id FROM v WHERE s LIKE 'a%'", "SELECT id FROM v WHERE s LIKE '%'"]),
    (false, &["SELECT id FROM v WHERE ROUND(n, 1) = 1.5", "SELECT id FROM v WHERE ROUND(n, 0) = 2.0"]),
];

#[test]
fn answers_are_those_of_plans_made_for_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    for sql in [
        "CREATE TABLE v (id INT PRIMARY KEY, s VARCHAR(20), d DATE, dt DATETIME, n DECIMAL(10, 2), f DOUBLE, \
         big BIGINT, KEY (s), KEY (d), KEY (dt), KEY (n))",
        "INSERT INTO v VALUES (1, 'a', '2024-01-01', '2024-01-01', 1.50, 1, 9007199254740992), \
         (2, 'b', '2024-01-02', '2024-01-02 12:00:00', 2.50, 2, 9007199254740993), \
         (3, 'c', '2024-01-03', '2024-01-03', 3.50, 3, 0)",
        "CREATE TABLE y (id INT PRIMARY KEY, y YEAR)",
        "INSERT INTO y VALUES (1, 2024), (2, 1999)",
    ] {
        let answer = c.run(sql);
        assert!(answer.starts_with("OK"), "{answer}");
    }
    for (cached, texts) in TEXTS {
        let mut own = Vec::new();
        for sql in *texts {
            c.session.plans.clear();
            own.push(c.run(sql));
        }
        c.session.plans.clear();
        for _ in 0..3 {
            for (sql, own) in texts.iter().zip(&own) {
                assert_eq!(c.run(sql), *own, "{sql}");
            }
        }
        let (answer, was_cached) = run(&mut c, texts[0]);
        assert_eq!((&answer, was_cached), (&own[0], *cached), "{}", texts[0]);
    }
}
