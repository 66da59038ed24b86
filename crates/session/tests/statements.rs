//! Statements through a whole session, over the memory engine and without a socket.

use std::io::{self, Read, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use selkie_catalog::dictionary::DictionaryChange;
use selkie_catalog::*;
use selkie_engine_memory::MemoryEngine;
use selkie_protocol::Capabilities;
use selkie_session::boot::{self, BootOptions};
use selkie_session::client::{Client, Transport};
use selkie_session::session::Session;
use selkie_session::variables::Values;
use selkie_session::{Instance, commit_dictionary};
use selkie_types::{Collation, IntWidth, SqlType};

/// A client that keeps what it is sent.
struct Sent(Arc<Mutex<Vec<u8>>>);

impl Read for Sent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}
impl Write for Sent {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(b);
        Ok(b.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Transport for Sent {
    fn set_read_timeout(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn set_write_timeout(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn is_local(&self) -> bool {
        true
    }
}

fn open(dir: &std::path::Path) -> Arc<Instance> {
    let options =
        BootOptions { datadir: dir.to_owned(), globals: Values::defaults(), log_recovery: Default::default() };
    boot::open(options, &|_, _| Ok(Arc::new(MemoryEngine::new())), Arc::new(MemoryEngine::new())).unwrap()
}

struct Conn {
    session: Session,
    client: Client,
    sent: Arc<Mutex<Vec<u8>>>,
}

fn connect(instance: &Arc<Instance>) -> Conn {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let mut client = Client::new(Box::new(Sent(sent.clone())), 1 << 24);
    client.capabilities = Capabilities::SERVER_DEFAULT;
    let mut session = Session::new(instance.clone(), instance.next_connection_id(), "localhost");
    session.use_database("test").unwrap();
    Conn { session, client, sent }
}

impl Conn {
    /// Runs a statement; the answer's rows as text, or OK with the affected rows, or the error.
    fn run(&mut self, sql: &str) -> String {
        self.client.out.set_sequence(1);
        self.session.query(&mut self.client, sql.as_bytes()).unwrap();
        self.client.flush().unwrap();
        let bytes = std::mem::take(&mut *self.sent.lock());
        answer(&bytes)
    }
}

fn packets(mut b: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    while b.len() >= 4 {
        let n = u32::from_le_bytes([b[0], b[1], b[2], 0]) as usize;
        out.push(&b[4..4 + n]);
        b = &b[4 + n..];
    }
    out
}

fn answer(bytes: &[u8]) -> String {
    let p = packets(bytes);
    match p[0][0] {
        0 => format!("OK {}", p[0][1]),
        0xFF => String::from_utf8_lossy(&p[0][9..]).into_owned(),
        columns => {
            let mut rows = Vec::new();
            for row in &p[1 + columns as usize..p.len() - 1] {
                let mut cells = Vec::new();
                let mut i = 0;
                while i < row.len() {
                    if row[i] == 0xFB {
                        cells.push("NULL".to_owned());
                        i += 1;
                    } else {
                        let n = row[i] as usize;
                        cells.push(String::from_utf8_lossy(&row[i + 1..i + 1 + n]).into_owned());
                        i += 1 + n;
                    }
                }
                rows.push(cells.join(","));
            }
            let error = p.last().filter(|l| l[0] == 0xFF).map(|l| String::from_utf8_lossy(&l[9..]).into_owned());
            rows.extend(error);
            rows.join(" | ")
        }
    }
}

fn column(name: &str, ty: SqlType, nullable: bool) -> Column {
    Column {
        name: name.into(),
        ty,
        nullable,
        default: if nullable { ColumnDefault::Null } else { ColumnDefault::None },
        on_update_now: false,
        auto_increment: false,
        generated: None,
        invisible: false,
        comment: String::new(),
        declared: None,
    }
}

/// `t (id INT AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c VARCHAR(20), UNIQUE? KEY (k))`
fn make_table(instance: &Arc<Instance>, name: &str, unique: bool, primary: bool) {
    let int = SqlType::Int { width: IntWidth::Int, unsigned: false, zerofill: false, display: 11 };
    let index = |name: &str, primary: bool, unique: bool, column: usize| Index {
        name: name.into(),
        primary,
        unique,
        kind: IndexKind::BTree,
        parts: vec![IndexPart { column, prefix: None, descending: false }],
        comment: String::new(),
        ignored: false,
        using_shown: false, generated: false, key_block_size: 0
    };
    let mut id = column("id", int.clone(), false);
    id.auto_increment = primary;
    let d = &instance.dictionary;
    let rows = IndexIdDef(d.allocate_id());
    let second = IndexIdDef(d.allocate_id());
    let mut indexes = vec![index("k", false, unique, 1)];
    let mut ids = vec![second];
    if primary {
        indexes.insert(0, index("PRIMARY", true, true, 0));
        ids.insert(0, rows);
    }
    let table = Table {
        id: d.allocate_id(),
        db: "test".into(),
        name: name.into(),
        kind: TableKind::Base,
        temporary: false,
        engine: "InnoDB".into(),
        collation: Collation::UTF8MB4_GENERAL_CI,
        columns: vec![
            id,
            column("k", int, false),
            column("c", SqlType::varchar(20, Collation::UTF8MB4_GENERAL_CI), true),
        ],
        indexes,
        checks: vec![],
        foreign_keys: vec![],
        comment: String::new(),
        options: vec![],
        auto_increment_start: 1,
        partitions: vec![Partition { name: String::new(), rows, indexes: ids }],
        partition_by: None,
        row_version: 0,
        row_versions: vec![],
        create_time: 0,
        derived: Default::default(),
    };
    instance.txns.engine.create_index(rows.into()).unwrap();
    instance.txns.engine.create_index(second.into()).unwrap();
    let changes = [DictionaryChange::PutTable(Box::new(table)), d.next_id_change()];
    commit_dictionary::commit_local(instance, &changes).unwrap();
}

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
    assert_eq!(b.run("SELECT nothing FROM t"), "Unknown column 'nothing' in 'field list'");
}
