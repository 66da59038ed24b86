//! What dump tools rely on.

mod common;

use common::{connect, open};

#[test]
fn unlock_tables_without_locks_keeps_the_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("CREATE TABLE t (id INT PRIMARY KEY)");
    assert_eq!(c.run("START TRANSACTION WITH CONSISTENT SNAPSHOT"), "OK 0");
    assert_eq!(c.run("UNLOCK TABLES"), "OK 0");
    let mut other = connect(&instance);
    assert_eq!(other.run("INSERT INTO t VALUES (1)"), "OK 1");
    assert_eq!(c.run("SELECT COUNT(*) FROM t"), "0");
    assert_eq!(c.run("SAVEPOINT sp"), "OK 0");
    assert_eq!(c.run("ROLLBACK TO SAVEPOINT sp"), "OK 0");
    assert_eq!(c.run("RELEASE SAVEPOINT sp"), "OK 0");
    // With LOCK TABLES it commits.
    assert_eq!(c.run("LOCK TABLES t WRITE"), "OK 0");
    assert_eq!(c.run("UNLOCK TABLES"), "OK 0");
    assert_eq!(c.run("SELECT COUNT(*) FROM t"), "1");
}

#[test]
fn a_consistent_snapshot_knows_its_place_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("CREATE TABLE t (id INT PRIMARY KEY)");
    c.run("INSERT INTO t VALUES (1)");
    let at = c.run("SHOW MASTER STATUS");
    let mut reader = connect(&instance);
    reader.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    let gtid = c.run("SELECT @@gtid_binlog_pos");
    c.run("INSERT INTO t VALUES (2)");
    c.run("FLUSH LOGS");
    let snapshot = reader.run("SHOW STATUS LIKE 'binlog_snapshot_%'");
    let [file, position] = [0, 1].map(|i| at.split(',').nth(i).unwrap());
    assert!(snapshot.contains(file) && snapshot.contains(position), "{snapshot} is not {at}");
    assert_eq!(c.run(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")), gtid);
    assert_eq!(c.run(&format!("SELECT BINLOG_GTID_POS('{file}', '4')")), "");
    assert_eq!(c.run("SELECT BINLOG_GTID_POS('no_such_file', 4)"), "NULL");
    reader.run("COMMIT");
    assert!(!reader.run("SHOW STATUS LIKE 'binlog_snapshot_file'").contains(file));
}

#[test]
fn definitions_escape_what_statements_need_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run(r"CREATE TABLE t (e ENUM('it''s','x\\y') DEFAULT 'x\\y', b BINARY(3) DEFAULT 'a\0b')");
    let shown = c.run("SHOW CREATE TABLE t");
    assert!(shown.contains(r"enum('it''s','x\\y') DEFAULT 'x\\y'"), "{shown}");
    assert!(shown.contains(r"DEFAULT 'a\0b'"), "{shown}");
    let defaults = c.run("SELECT COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_NAME = 't' AND COLUMN_NAME = 'b'");
    assert_eq!(defaults, r"'a\0b'");
}

#[test]
fn myisam_numbers_in_a_later_part_of_a_key() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    assert_eq!(c.run("CREATE TABLE m (a INT NOT NULL, n INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (a, n)) ENGINE=MyISAM"), "OK 0");
    assert!(c.run("CREATE TABLE i (a INT NOT NULL, n INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (a, n)) ENGINE=InnoDB").contains("only one auto column"));
    assert_eq!(c.run("INSERT INTO m VALUES (1, 5), (2, 5)"), "OK 2");
    assert!(!c.run("SHOW CREATE TABLE m").contains("AUTO_INCREMENT="));
}

#[test]
fn altering_keeps_a_numbered_zero() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)");
    c.run("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'");
    c.run("INSERT INTO t VALUES (0, 1), (5, 2)");
    c.run("SET sql_mode = DEFAULT");
    assert_eq!(c.run("ALTER TABLE t MODIFY v BIGINT, ADD x INT DEFAULT 3 FIRST"), "OK 2");
    assert_eq!(c.run("SELECT * FROM t"), "3,0,1 | 3,5,2");
    // A column that becomes numbered gives zeros a number.
    c.run("CREATE TABLE n (id INT PRIMARY KEY)");
    c.run("INSERT INTO n VALUES (0), (5)");
    c.run("ALTER TABLE n MODIFY id INT AUTO_INCREMENT");
    assert_eq!(c.run("SELECT COUNT(*), MIN(id) > 0 FROM n"), "2,1");
}

#[test]
fn all_maps_of_a_statement_stand_before_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("CREATE TABLE p (id INT PRIMARY KEY)");
    c.run("CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)");
    c.run("INSERT INTO p VALUES (1), (2)");
    c.run("INSERT INTO c VALUES (1, 1), (2, 1), (3, 2)");
    assert_eq!(c.run("DELETE FROM p WHERE id = 1"), "OK 1");
    let events = c.run("SHOW BINLOG EVENTS");
    let kinds: Vec<&str> = events.split(" | ").filter_map(|e| e.split(',').nth(2)).collect();
    let tail: Vec<&str> = kinds.iter().rev().take(6).rev().copied().collect();
    assert_eq!(tail, ["Annotate_rows", "Table_map", "Table_map", "Delete_rows_v1", "Delete_rows_v1", "Xid"], "{events}");
    // Recovery reads the same.
    drop(c);
    drop(instance);
    let instance = open(dir.path());
    assert_eq!(connect(&instance).run("SELECT * FROM c"), "3,2");
    assert_eq!(connect(&instance).run("SELECT * FROM p"), "2");
}

#[test]
fn views_have_the_columns_of_what_they_read_now() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))");
    c.run("CREATE VIEW w AS SELECT NULL AS id, NULL AS v");
    c.run("CREATE VIEW a AS SELECT id, v FROM w");
    c.run("DROP VIEW w");
    c.run("CREATE VIEW w AS SELECT id, v FROM t");
    assert!(c.run("SHOW COLUMNS FROM a").contains("varchar(9)"));
    let types = "SELECT GROUP_CONCAT(COLUMN_TYPE ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'a'";
    assert_eq!(c.run(types), "int(11),varchar(9)");
}

#[test]
fn ddl_in_the_log_says_which_settings_it_ran_with() {
    use selkie_binlog::EventBody;
    use selkie_binlog::event::{QueryFlags2, StatusVar};
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    let mut c = connect(&instance);
    c.run("SET time_zone = '+05:30', foreign_key_checks = 0, timestamp = 1000000000");
    c.run("CREATE DATABASE made");
    let watch = instance.txns.pipeline.with_log(|l| l.log().watch());
    let file = watch.files()[0].name.to_string();
    let mut reader = selkie_binlog::log::EventReader::at_file(&watch, &file, 4).unwrap();
    let mut found = None;
    while let Some(raw) = reader.next_event().unwrap() {
        let event = raw.decode(reader.format()).unwrap();
        if let EventBody::Query(q) = event.body
            && q.query.starts_with(b"CREATE DATABASE made")
        {
            found = Some((event.header.timestamp, event.header.flags, q.status));
        }
    }
    let (timestamp, flags, status) = found.unwrap();
    assert_eq!(timestamp, 1_000_000_000);
    assert_ne!(flags & selkie_binlog::event::event_flags::SUPPRESS_USE, 0);
    let vars = format!("{status:?}");
    assert!(vars.contains("+05:30"), "{vars}");
    let checks = |v: &StatusVar| matches!(v, StatusVar::Flags2(f) if f & QueryFlags2::NO_FOREIGN_KEY_CHECKS != 0);
    assert!(status.vars.iter().any(checks), "{vars}");
}
