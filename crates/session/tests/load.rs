//! LOAD DATA, SELECT … INTO, EXPLAIN.

mod common;

use common::{connect, make_table, open};

#[test]
fn files_of_the_client() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    let load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY ',' ";
    let file = b"1,10,one\n2,20,\\N\n3,30,three";
    for piece in [1, 7, 1000] {
        assert_eq!(c.run_with_file(load, file, piece), "OK 3: Records: 3  Deleted: 0  Skipped: 0  Warnings: 0");
        assert_eq!(c.run("SELECT * FROM t"), "1,10,one | 2,20,NULL | 3,30,three");
        c.run("DELETE FROM t");
    }
    // LOCAL implies IGNORE: what does not fit is a warning.
    let bad = b"1,x,one,more\n1,2,dup\n\\N,7\n5,\\N,five\n";
    assert_eq!(c.run_with_file(load, bad, 5), "OK 3: Records: 4  Deleted: 0  Skipped: 1  Warnings: 5");
    assert_eq!(
        c.warnings(),
        [
            "Warning 1366 Incorrect integer value: 'x' for column `test`.`t`.`k` at row 1",
            "Warning 1262 Row 1 was truncated; it contained more data than there were input columns",
            "Warning 1062 Duplicate entry '1' for key 'PRIMARY'",
            "Warning 1261 Row 3 doesn't contain data for all columns",
            "Warning 1263 Column set to default value; NULL supplied to NOT NULL column 'k' at row 4",
        ]
    );
    assert_eq!(c.run("SELECT * FROM t WHERE id < 5"), "1,0,one | 4,7,NULL");
    // With REPLACE errors stay errors; the file is read to its end all the same.
    let replace = "LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE t FIELDS TERMINATED BY ','";
    let file = b"1,1,new\n6,x,bad\n7,7,never read\n";
    let error = "Incorrect integer value: 'x' for column `test`.`t`.`k` at row 2";
    assert_eq!(c.run_with_file(replace, file, 3), error);
    assert_eq!(c.run("SELECT COUNT(*) FROM t"), "3");
    assert_eq!(
        c.run_with_file(replace, b"1,1,new\n6,6,six\n", 100),
        "OK 3: Records: 2  Deleted: 1  Skipped: 0  Warnings: 0"
    );
    assert_eq!(c.run("SELECT * FROM t WHERE id IN (1, 6)"), "1,1,new | 6,6,six");
    // Nothing is asked for where the statement is wrong.
    assert_eq!(c.run("LOAD DATA LOCAL INFILE 'f' INTO TABLE nosuch"), "Table 'test.nosuch' doesn't exist");
    assert_eq!(c.run_with_file(load, b"", 1), "OK 0: Records: 0  Deleted: 0  Skipped: 0  Warnings: 0");
    instance.globals.write().set_named("local_infile", "OFF");
    assert!(c.run(load).starts_with("The used command is not allowed because"));
}

#[test]
fn columns_variables_and_values() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    std::fs::write(dir.path().join("f.csv"), "id;name\n'10';'a;b'\n'20';'c''d'\n").unwrap();
    let load = "LOAD DATA INFILE 'f.csv' INTO TABLE t FIELDS TERMINATED BY ';' ENCLOSED BY '''' IGNORE 1 LINES";
    assert_eq!(
        c.run_info(&format!("{load} (@n, c) SET k = @n + 1, id = @n / 10")),
        "OK 2: Records: 2  Deleted: 0  Skipped: 0  Warnings: 0"
    );
    assert_eq!(c.run("SELECT * FROM t"), "1,11,a;b | 2,21,c'd");
    assert_eq!(c.run("SELECT @n"), "20");
    assert_eq!(c.run(&format!("{load} (k, nosuch)")), "Unknown column 'nosuch' in 'SELECT'");
    assert_eq!(c.run(&format!("{load} (id, c)")), "OK 2");
    assert_eq!(c.warnings(), ["Warning 1364 Field 'k' doesn't have a default value"]);
    assert_eq!(c.run("DELETE FROM t WHERE id >= 10"), "OK 2");
    assert_eq!(c.run(&format!("{load} (id, c) SET k = NULL")), "Column 'k' cannot be null");
    assert_eq!(c.run(&format!("{load} (k, c) SET k = k * 2, c = UPPER(c)")), "OK 2");
    assert_eq!(c.run("SELECT k, c FROM t WHERE id > 20"), "20,A;B | 40,C'D");
    let none = dir.path().join("none");
    assert_eq!(
        c.run("LOAD DATA INFILE 'none' INTO TABLE t"),
        format!("Can't get stat of '{}' (Errcode: 2 \"No such file or directory\")", none.display())
    );
    instance.globals.write().set_named("secure_file_priv", "/nowhere");
    assert!(c.run(load).contains("--secure-file-priv option"));
    assert!(c.run("SELECT 1 INTO OUTFILE 'x'").contains("--secure-file-priv option"));
}

#[test]
fn rows_into_variables_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    c.run("INSERT INTO t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 30, 'a\tb')");
    assert_eq!(c.run("SELECT k, c INTO @k, @c FROM t WHERE id = 1"), "OK 1");
    assert_eq!(c.run("SELECT @k, @c"), "10,one");
    assert_eq!(c.run("SELECT k INTO @k FROM t WHERE id = 7"), "OK 0");
    assert_eq!(c.warnings(), ["Warning 1329 No data - zero rows fetched, selected, or processed"]);
    assert_eq!(c.run("SELECT @k"), "10");
    assert_eq!(c.run("SELECT k INTO @k FROM t"), "Result consisted of more than one row");
    assert_eq!(c.run("SELECT 1 INTO @a, @b"), "The used SELECT statements have a different number of columns");
    assert_eq!(c.run("SELECT * FROM t INTO OUTFILE 'out'"), "OK 3");
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("out"), "1\t10\tone\n2\t20\t\\N\n3\t30\ta\\\tb\n");
    assert_eq!(c.run("SELECT * FROM t INTO OUTFILE 'out'"), "File 'out' already exists");
    c.run("DELETE FROM t");
    assert_eq!(c.run("LOAD DATA INFILE 'out' INTO TABLE t"), "OK 3");
    assert_eq!(c.run("SELECT c FROM t WHERE id = 3"), "a\tb");
    assert_eq!(c.run("SELECT c INTO DUMPFILE 'dump' FROM t WHERE id = 3"), "OK 1");
    assert_eq!(read("dump"), "a\tb");
    // What fails leaves no file.
    assert_eq!(c.run("SELECT c INTO DUMPFILE 'two' FROM t"), "Result consisted of more than one row");
    assert!(!dir.path().join("two").exists());
}

#[test]
fn plans_and_what_they_read() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    c.run("INSERT INTO t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 30, 'three')");
    assert_eq!(c.run("EXPLAIN SELECT * FROM t WHERE id = 1"), "1,SIMPLE,t,const,PRIMARY,PRIMARY,4,const,1,");
    assert_eq!(
        c.run("ANALYZE SELECT * FROM t WHERE c = 'one'"),
        "1,SIMPLE,t,ALL,NULL,NULL,NULL,NULL,3,3.00,100.00,33.33,Using where"
    );
    assert_eq!(
        c.run("EXPLAIN PARTITIONS SELECT 1"),
        "1,SIMPLE,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,No tables used"
    );
    let json = c.run_raw("EXPLAIN FORMAT=JSON SELECT * FROM t");
    assert!(String::from_utf8_lossy(&json).contains("\"table_name\": \"t\""));
    assert!(c.run("EXPLAIN UPDATE t SET c = 'x'").starts_with("1,SIMPLE,t,ALL"));
    assert_eq!(c.run("SELECT COUNT(*) FROM t WHERE c = 'x'"), "0");
    assert!(c.run("ANALYZE UPDATE t SET c = 'x'").starts_with("1,SIMPLE,t,ALL"));
    assert_eq!(c.run("SELECT COUNT(*) FROM t WHERE c = 'x'"), "3");
}
