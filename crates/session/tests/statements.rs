//! Statements through a whole session, over the memory engine and without a socket.

mod common;

use common::{connect, make_table, open};

#[test]
fn rows_come_back_also_after_a_restart_from_the_log_alone() {
    let dir = tempfile::tempdir().unwrap();
    {
        let instance = open(dir.path());
        make_table(&instance, "t", false, true);
        make_table(&instance, "nopk", false, false);
        let mut c = connect(&instance);
        assert_eq!(c.run("INSERT INTO t (k, c) VALUES (1, 'one'), (2, 'two'), (3, NULL)"), "OK 3");
        assert_eq!(c.run("SELECT * FROM t WHERE id = 2"), "2,2,two");
        assert_eq!(c.run("SELECT id, c FROM t WHERE k >= 2"), "2,two | 3,NULL");
        assert_eq!(c.run("UPDATE t SET k = k + 10 WHERE id <= 2"), "OK 2");
        assert_eq!(c.run("DELETE FROM t WHERE c = 'ONE'"), "OK 1");
        assert_eq!(c.run("INSERT INTO t VALUES (2, 0, 'x')"), "Duplicate entry '2' for key 'PRIMARY'");
        assert_eq!(c.run("INSERT INTO nopk VALUES (1, 1, 'a'), (1, 1, 'a'), (2, 2, 'b')"), "OK 3");
        assert_eq!(c.run("DELETE FROM nopk WHERE id = 1 LIMIT 1"), "OK 1");
        assert_eq!(c.run("UPDATE nopk SET c = 'z' WHERE id = 2"), "OK 1");
        assert_eq!(c.run("BEGIN"), "OK 0");
        assert_eq!(c.run("INSERT INTO t VALUES (9, 9, 'gone')"), "OK 1");
        assert_eq!(c.run("SELECT COUNT(*) FROM t"), "3");
        // Dropped without COMMIT.
    }
    let instance = open(dir.path());
    let mut c = connect(&instance);
    assert_eq!(c.run("SELECT * FROM t ORDER BY id"), "2,12,two | 3,3,NULL");
    assert_eq!(c.run("SELECT * FROM nopk ORDER BY id"), "1,1,a | 2,2,z");
    assert_eq!(c.run("SELECT id FROM t WHERE k = 12"), "2");
    assert_eq!(c.run("INSERT INTO t (k) VALUES (5)"), "OK 1");
    assert_eq!(c.run("SELECT id FROM t WHERE k = 5"), "4");
}

#[test]
fn sessions_see_what_is_committed() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", true, true);
    let (mut a, mut b) = (connect(&instance), connect(&instance));
    a.run("BEGIN");
    assert_eq!(a.run("INSERT INTO t VALUES (1, 1, 'a')"), "OK 1");
    assert_eq!(b.run("SELECT * FROM t"), "");
    b.run("BEGIN");
    assert_eq!(b.run("SELECT COUNT(*) FROM t"), "0");
    assert_eq!(a.run("COMMIT"), "OK 0");
    assert_eq!(b.run("SELECT COUNT(*) FROM t"), "0");
    assert_eq!(
        b.run("UPDATE t SET c = 'b' WHERE id = 1"),
        "Record has changed since last read in table 't'; try restarting transaction"
    );
    assert_eq!(b.run("SELECT COUNT(*) FROM t"), "1");
    assert_eq!(b.run("INSERT INTO t VALUES (2, 1, 'dup')"), "Duplicate entry '1' for key 'k'");
    assert_eq!(b.run("REPLACE INTO t VALUES (2, 1, 'new')"), "OK 2");
    assert_eq!(b.run("SELECT * FROM t"), "2,1,new");
    assert_eq!(b.run("INSERT INTO t VALUES (3, 1, 'x') ON DUPLICATE KEY UPDATE c = CONCAT(c, '!'), k = 7"), "OK 2");
    assert_eq!(b.run("SELECT * FROM t WHERE k = 7"), "2,7,new!");
    assert_eq!(b.run("SELECT nothing FROM t"), "Unknown column 'nothing' in 'SELECT'");
}

#[test]
fn a_transaction_larger_than_an_engine_batch_commits_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    {
        let instance = open(dir.path());
        make_table(&instance, "t", false, true);
        let mut c = connect(&instance);
        let row: Vec<String> = (1..=2000).map(|i| format!("({i}, {i}, REPEAT('x', 20))")).collect();
        c.run("BEGIN");
        assert!(c.run(&format!("INSERT INTO t VALUES {}", row.join(","))).starts_with("OK"));
        for i in 1..16 {
            let n = i * 2000;
            let copy = format!("INSERT INTO t SELECT id + {n}, k, c FROM t WHERE id <= 2000");
            assert!(c.run(&copy).starts_with("OK"));
        }
        assert_eq!(c.run("COMMIT"), "OK 0");
        assert_eq!(c.run("SELECT COUNT(*), SUM(k) FROM t"), "32000,32016000");
    }
    let instance = open(dir.path());
    let mut c = connect(&instance);
    assert_eq!(c.run("SELECT COUNT(*), SUM(k) FROM t"), "32000,32016000");
}
