//! A whole session over the memory engine and without a socket.

#![allow(dead_code)]

use std::collections::VecDeque;
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

/// A client that keeps what it is sent, and sends what it was given beforehand.
#[derive(Clone, Default)]
struct Wire {
    sent: Arc<Mutex<Vec<u8>>>,
    to_send: Arc<Mutex<VecDeque<u8>>>,
}

impl Read for Wire {
    fn read(&mut self, b: &mut [u8]) -> io::Result<usize> {
        self.to_send.lock().read(b)
    }
}
impl Write for Wire {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        self.sent.lock().extend_from_slice(b);
        Ok(b.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Transport for Wire {
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

pub fn open(dir: &std::path::Path) -> Arc<Instance> {
    let options =
        BootOptions { datadir: dir.to_owned(), globals: Values::defaults(), log_recovery: Default::default() };
    boot::open(options, &|_, _| Ok(Arc::new(MemoryEngine::new())), Arc::new(MemoryEngine::new())).unwrap()
}

pub struct Conn {
    pub session: Session,
    pub client: Client,
    wire: Wire,
}

pub fn connect(instance: &Arc<Instance>) -> Conn {
    let wire = Wire::default();
    let mut client = Client::new(Box::new(wire.clone()), 1 << 24);
    client.capabilities = Capabilities::SERVER_DEFAULT;
    let mut session = Session::new(instance.clone(), instance.next_connection_id(), "localhost");
    session.use_database("test").unwrap();
    Conn { session, client, wire }
}

impl Conn {
    /// Runs a statement; the answer's rows as text, or OK with the affected rows, or the error.
    pub fn run(&mut self, sql: &str) -> String {
        answer(&self.run_raw(sql))
    }

    /// Runs a statement; the bytes of the answer.
    pub fn run_raw(&mut self, sql: &str) -> Vec<u8> {
        self.client.out.set_sequence(1);
        self.session.query(&mut self.client, sql.as_bytes()).unwrap();
        self.sent()
    }

    /// What was sent since the last look.
    pub fn sent(&mut self) -> Vec<u8> {
        self.client.flush().unwrap();
        std::mem::take(&mut *self.wire.sent.lock())
    }

    /// Runs a statement, with the info text of its OK behind the answer.
    pub fn run_info(&mut self, sql: &str) -> String {
        let bytes = self.run_raw(sql);
        with_info(&bytes)
    }

    /// Runs a statement that asks for a file, which is sent in pieces of a size.
    pub fn run_with_file(&mut self, sql: &str, file: &[u8], piece: usize) -> String {
        let mut sequence = 2;
        let mut wire = self.wire.to_send.lock();
        for p in file.chunks(piece).chain([&b""[..]]) {
            wire.extend((p.len() as u32).to_le_bytes()[..3].iter());
            wire.push_back(sequence);
            wire.extend(p);
            sequence = sequence.wrapping_add(1);
        }
        drop(wire);
        let bytes = self.run_raw(sql);
        let asked = packets(&bytes)[0];
        assert_eq!(asked[0], 0xFB, "{}", answer(&bytes));
        let rest = &bytes[4 + asked.len()..];
        assert_eq!(rest[3], sequence);
        assert_eq!(self.wire.to_send.lock().len(), 0);
        with_info(rest)
    }

    /// The warnings of the last statement.
    pub fn warnings(&self) -> Vec<String> {
        self.session.diag.conditions.iter().map(|(l, e)| format!("{} {} {}", l.name(), e.code(), e.message())).collect()
    }
}

pub fn packets(mut b: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    while b.len() >= 4 {
        let n = u32::from_le_bytes([b[0], b[1], b[2], 0]) as usize;
        out.push(&b[4..4 + n]);
        b = &b[4 + n..];
    }
    out
}

fn with_info(bytes: &[u8]) -> String {
    let text = answer(bytes);
    match packets(bytes).last() {
        Some(ok) if ok[0] == 0 && ok.len() > 8 => format!("{text}: {}", String::from_utf8_lossy(&ok[8..])),
        _ => text,
    }
}

pub fn answer(bytes: &[u8]) -> String {
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

pub fn column(name: &str, ty: SqlType, nullable: bool) -> Column {
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
pub fn make_table(instance: &Arc<Instance>, name: &str, unique: bool, primary: bool) {
    let int = SqlType::Int { width: IntWidth::Int, unsigned: false, zerofill: false, display: 11 };
    let index = |name: &str, primary: bool, unique: bool, column: usize| Index {
        name: name.into(),
        primary,
        unique,
        kind: IndexKind::BTree,
        parts: vec![IndexPart { column, prefix: None, descending: false }],
        comment: String::new(),
        ignored: false,
        using_shown: false,
        generated: false,
        key_block_size: 0,
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

