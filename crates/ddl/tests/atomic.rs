//! A statement that fails leaves nothing behind, whenever it fails; one that succeeds leaves no engine table over.

mod support;

use selkie_catalog::dictionary::{DICTIONARY_INDEX, DictionaryChange, read_entry};
use selkie_engine::ReadAt;
use support::Server;

fn prepared() -> Server {
    let mut s = Server::new();
    for sql in [
        "create database other",
        "create table p (id int primary key, v varchar(10), key (v))",
        "insert into p values (1,'a'),(2,'b'),(3,'b')",
        "create table c (id int primary key, p int, foreign key (p) references p (id))",
        "insert into c values (10,1)",
        "create table n (a int, b varchar(20))",
        "insert into n values (5,'x'),(4,'y'),(5,'z')",
        "create view w as select id from p",
        "create temporary table tmp (a int primary key)",
        "insert into tmp values (1)",
    ] {
        let answer = s.run(sql);
        assert!(!answer.starts_with("ERROR"), "{sql}: {answer}");
    }
    s
}

/// Everything that a client can see.
fn state(s: &mut Server) -> String {
    let mut out = String::new();
    for t in ["p", "c", "n", "w", "tmp"] {
        out.push_str(&s.run(&format!("show create table {t}")));
        out.push_str(&s.run(&format!("select * from {t}")));
    }
    let schema = s.dictionary.schema();
    out.push_str(&format!("{:?}", schema.databases.keys().collect::<Vec<_>>()));
    for d in schema.databases.values() {
        out.push_str(&format!("{:?}", d.tables.keys().collect::<Vec<_>>()));
    }
    out
}

const STATEMENTS: [&str; 26] = [
    "create database d",
    "alter database other comment 'x'",
    "drop database other",
    "drop database test",
    "create table x (a int primary key, b int unique)",
    "create table x like p",
    "create table x as select * from n",
    "create or replace table n (z int)",
    "create or replace table n select 1 as z",
    "drop table n",
    "drop table p, c",
    "truncate table n",
    "rename table n to m, p to n",
    "alter table n add c int default 5",
    "alter table n add unique (b)",
    "alter table p add key (v, id)",
    "alter table p drop index v",
    "alter table p modify v varchar(30)",
    "alter table p change id ident int",
    "alter table n rename to other.n",
    "alter table n add primary key (b)",
    "create index i on n (a)",
    "drop index v on p",
    "create view w2 as select * from p",
    "create or replace view w as select v from p",
    "drop view w",
];

#[test]
fn a_statement_whose_commit_fails_changes_nothing() {
    for sql in STATEMENTS {
        let mut s = prepared();
        let before = state(&mut s);
        s.fail_commits = true;
        let answer = s.run(sql);
        assert!(answer.contains("ERROR 1180"), "{sql}: {answer}");
        s.fail_commits = false;
        assert_eq!(state(&mut s), before, "{sql}");
        assert_eq!(s.engine_tables(), s.referenced_tables(), "{sql}: engine tables");
        assert!(!s.run(sql).starts_with("ERROR"), "{sql}: a second try succeeds");
        assert_eq!(s.engine_tables(), s.referenced_tables(), "{sql}: engine tables after success");
    }
}

#[test]
fn a_statement_that_fails_while_it_builds_changes_nothing() {
    for sql in [
        "alter table n add primary key (a)",
        "alter table n add unique (a)",
        "alter table n modify b int",
        "alter table n add check (a > 4)",
        "alter table c add foreign key (id) references p (id)",
        "create table x (a int primary key) select a from n",
        "create temporary table x (a int primary key) select a from n",
        "alter table tmp add foreign key (a) references nope (a), add key (nocol)",
    ] {
        let mut s = prepared();
        let before = state(&mut s);
        let answer = s.run(sql);
        assert!(answer.starts_with("ERROR"), "{sql}: {answer}");
        assert_eq!(state(&mut s), before, "{sql}");
        assert_eq!(s.engine_tables(), s.referenced_tables(), "{sql}: engine tables");
    }
}

#[test]
fn the_stored_dictionary_is_the_published_one() {
    let mut s = prepared();
    for sql in STATEMENTS {
        s.run(sql);
    }
    let reader = s.txns.engine.read(ReadAt::Latest).unwrap();
    let mut cursor = reader.cursor(DICTIONARY_INDEX).unwrap();
    let mut changes = Vec::new();
    let mut more = cursor.first().unwrap();
    while more {
        changes.push(read_entry(cursor.key(), cursor.value()).unwrap());
        more = cursor.next().unwrap();
    }
    changes.sort_by_key(|c| !matches!(c, DictionaryChange::PutDatabase(_)));
    let stored = selkie_catalog::Schema::default().apply(&changes);
    let published = s.dictionary.schema();
    assert_eq!(stored.databases.keys().collect::<Vec<_>>(), published.databases.keys().collect::<Vec<_>>());
    for (name, d) in &published.databases {
        let tables = &stored.databases[name].tables;
        assert_eq!(tables.keys().collect::<Vec<_>>(), d.tables.keys().collect::<Vec<_>>());
        for (name, t) in &d.tables {
            assert_eq!(tables[name].id, t.id);
            assert_eq!(tables[name].partitions, t.partitions);
        }
    }
    assert_eq!(stored.tables_by_id.len(), published.tables_by_id.len());
}

#[test]
fn large_tables_are_sorted_through_files() {
    let mut s = Server::new();
    s.run("create table t (id int, v varchar(30))");
    for chunk in 0..20 {
        let rows: Vec<String> =
            (0..200).map(|i| (chunk * 200 + i) * 7919 % 4001).map(|n| format!("({n}, 'value {}')", n % 97)).collect();
        let answer = s.run(&format!("insert into t values {}", rows.join(",")));
        assert_eq!(answer, "");
    }
    assert_eq!(
        s.run("alter table t add primary key (id), add key (v), add n int default 3"),
        "Records: 0  Duplicates: 0  Warnings: 0\n"
    );
    assert_eq!(s.run("check table t"), "test.t\tcheck\tstatus\tOK\n");
    assert_eq!(s.run("select count(*), min(id), sum(n) from t"), "4000\t0\t12000\n");
    assert!(s.run("alter table t add unique (v)").starts_with("ERROR 1062: Duplicate entry 'value 0' for key 'v_2'"));
}
