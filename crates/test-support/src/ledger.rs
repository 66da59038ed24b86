//! The ledger test: clients move money and write down what the server acknowledged; the server is killed; afterwards
//! it must hold exactly that.
//!
//! What is checked after each restart:
//!
//! 1. The server accepts connections in time.
//! 2. Of each client: every acknowledged transfer is there, and beyond them at most the one whose COMMIT was under way.
//! 3. Nothing was applied in part: each account holds what the transfers in the ledger make of it.
//! 4. A secondary index tells the same as the table.
//! 5. Every acknowledged CREATE TABLE and DROP TABLE has happened, and each table that is there can be read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::client::{Client, ClientError, Endpoint, Login};
use crate::server::{ANSWER_TIMEOUT, ServerFailure, TestServer};

const DATABASE: &str = "ledger";
const ACCOUNTS: u64 = 100;
const START_BALANCE: i64 = 1_000_000;
/// Between two tables that are made: enough of them to be caught by a kill, few enough to leave work to the others.
const TABLE_INTERVAL: Duration = Duration::from_millis(10);
/// Errors that end a transaction which may be tried again: record changed, lock wait timeout, deadlock.
const TRY_AGAIN: &[u16] = &[1020, 1205, 1213];

/// A transfer of a client, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Transfer {
    from: u64,
    to: u64,
    amount: i64,
}

/// What a client knows of its own transfers, over all rounds.
#[derive(Debug, Default)]
struct Book {
    /// Acknowledged; the first one has number 1.
    acknowledged: Vec<Transfer>,
    /// COMMIT was sent, the answer did not come.
    under_way: Option<Transfer>,
}

/// What the client that makes tables knows.
#[derive(Debug, Default)]
struct Tables {
    /// Whether a table with this number exists; `None`: the answer did not come.
    exists: BTreeMap<u64, Option<bool>>,
}

/// Why a round failed.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The server or a connection.
    #[error("{0}")]
    Server(#[from] ServerFailure),
    /// A connection.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The database is not what it must be.
    #[error("{0}")]
    Wrong(String),
}

/// Numbers of a round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Transfers that were acknowledged in it.
    pub acknowledged: u64,
    /// From the start of the process until it accepted connections.
    pub restart: Duration,
}

/// The clients' books over all rounds.
pub struct Ledger {
    books: Vec<Book>,
    tables: Tables,
    seed: u64,
}

impl Ledger {
    /// Makes the tables on a new server.
    pub fn create(server: &TestServer, clients: usize, seed: u64) -> Result<Ledger, LedgerError> {
        let mut admin = server.connect()?;
        admin.execute(&format!("CREATE DATABASE {DATABASE}"))?;
        admin.execute(&format!("USE {DATABASE}"))?;
        admin.execute("CREATE TABLE accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)")?;
        admin.execute(
            "CREATE TABLE transfers (client INT, seq INT, source INT, target INT, amount BIGINT, \
             PRIMARY KEY (client, seq), KEY by_amount (amount))",
        )?;
        let rows: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, {START_BALANCE})")).collect();
        admin.execute(&format!("INSERT INTO accounts VALUES {}", rows.join(", ")))?;
        Ok(Ledger { books: (0..clients).map(|_| Book::default()).collect(), tables: Tables::default(), seed })
    }

    /// Works for some time, kills the server, restarts it and checks.
    pub fn round(&mut self, server: &mut TestServer, work: Duration) -> Result<Round, LedgerError> {
        let stop = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicU64::new(0));
        let endpoint = server.endpoint();
        self.seed += 1;
        let mut threads: Vec<JoinHandle<Result<Book, String>>> = Vec::new();
        for (client, book) in std::mem::take(&mut self.books).into_iter().enumerate() {
            let worker = Worker {
                endpoint: endpoint.clone(),
                client,
                book,
                stop: stop.clone(),
                done: done.clone(),
                seed: self.seed,
            };
            threads.push(std::thread::spawn(move || worker.run()));
        }
        let tables = std::mem::take(&mut self.tables);
        let (table_endpoint, table_stop) = (endpoint, stop.clone());
        let table_thread = std::thread::spawn(move || make_tables(&table_endpoint, tables, &table_stop));
        std::thread::sleep(work);
        server.kill()?;
        stop.store(true, Ordering::SeqCst);
        let mut failures = Vec::new();
        for thread in threads {
            match thread.join() {
                Ok(Ok(book)) => self.books.push(book),
                Ok(Err(why)) => failures.push(why),
                Err(_) => failures.push("a client panicked".to_owned()),
            }
        }
        match table_thread.join() {
            Ok(Ok(tables)) => self.tables = tables,
            Ok(Err(why)) => failures.push(why),
            Err(_) => failures.push("the client of tables panicked".to_owned()),
        }
        if !failures.is_empty() {
            return Err(LedgerError::Wrong(failures.join("; ")));
        }
        let restart = server.restart()?;
        self.check(server)?;
        Ok(Round { acknowledged: done.load(Ordering::SeqCst), restart })
    }

    /// Compares the database with the books, which then take over what had been under way.
    fn check(&mut self, server: &TestServer) -> Result<(), LedgerError> {
        let login = Login { database: Some(DATABASE.to_owned()), ..Login::default() };
        let mut db = server.connect_as(&login)?;
        let mut balances: BTreeMap<u64, i64> = (0..ACCOUNTS).map(|id| (id, START_BALANCE)).collect();
        let mut total = 0;
        for (client, book) in self.books.iter_mut().enumerate() {
            let sql = format!("SELECT seq, source, target, amount FROM transfers WHERE client = {client} ORDER BY seq");
            let found = transfers(&mut db, &sql)?;
            total += found.len();
            let wrong = |what: String| Err(LedgerError::Wrong(format!("client {client}: {what}")));
            if found.len() < book.acknowledged.len() {
                return wrong(format!(
                    "{} transfers were acknowledged, {} are there",
                    book.acknowledged.len(),
                    found.len()
                ));
            }
            for (n, (seq, transfer)) in found.iter().enumerate() {
                let expected =
                    book.acknowledged.get(n).copied().or(book.under_way.filter(|_| n == book.acknowledged.len()));
                if *seq != n as u64 + 1 || Some(*transfer) != expected {
                    return wrong(format!("transfer {seq} is {transfer:?}, expected number {} {expected:?}", n + 1));
                }
                *balances.entry(transfer.from).or_default() -= transfer.amount;
                *balances.entry(transfer.to).or_default() += transfer.amount;
            }
            book.under_way = None;
            book.acknowledged = found.into_iter().map(|(_, t)| t).collect();
        }
        for row in db.rows("SELECT id, balance FROM accounts ORDER BY id")? {
            let (id, balance) = (number(&row, 0)? as u64, number(&row, 1)?);
            if balances.remove(&id) != Some(balance) {
                return Err(LedgerError::Wrong(format!(
                    "account {id} holds {balance}: not what the transfers make of it"
                )));
            }
        }
        if !balances.is_empty() {
            return Err(LedgerError::Wrong(format!("accounts are missing: {balances:?}")));
        }
        let by_index = db.rows("SELECT COUNT(*) FROM transfers FORCE INDEX (by_amount) WHERE amount > 0")?;
        let by_index = by_index.first().map_or(Ok(0), |r| number(r, 0))?;
        if by_index != total as i64 {
            return Err(LedgerError::Wrong(format!("the index has {by_index} transfers, the table {total}")));
        }
        self.check_tables(&mut db)
    }

    fn check_tables(&mut self, db: &mut Client) -> Result<(), LedgerError> {
        let listed = db.rows("SHOW TABLES LIKE 'd%'")?;
        let mut found: Vec<u64> = Vec::new();
        for row in &listed {
            let name = row.first().and_then(|v| v.as_deref()).map(String::from_utf8_lossy).unwrap_or_default();
            let n = name.trim_start_matches('d').parse();
            found.push(n.map_err(|_| LedgerError::Wrong(format!("a table nobody made: {name}")))?);
            db.rows(&format!("SELECT COUNT(*) FROM {name}"))?;
        }
        for (n, exists) in &mut self.tables.exists {
            let there = found.contains(n);
            if exists.is_some_and(|e| e != there) {
                let what = if there { "was dropped and is there" } else { "was made and is missing" };
                return Err(LedgerError::Wrong(format!("table d{n} {what}")));
            }
            *exists = Some(there);
        }
        match found.iter().find(|n| !self.tables.exists.contains_key(n)) {
            Some(n) => Err(LedgerError::Wrong(format!("table d{n} was never made"))),
            None => Ok(()),
        }
    }
}

fn number(row: &crate::client::Row, column: usize) -> Result<i64, LedgerError> {
    let text = row.get(column).and_then(|v| v.as_deref()).map(String::from_utf8_lossy).unwrap_or_default();
    text.parse().map_err(|_| LedgerError::Wrong(format!("'{text}' is no number")))
}

fn transfers(db: &mut Client, sql: &str) -> Result<Vec<(u64, Transfer)>, LedgerError> {
    let rows = db.rows(sql)?;
    let read = |row: &crate::client::Row| {
        let transfer = Transfer { from: number(row, 1)? as u64, to: number(row, 2)? as u64, amount: number(row, 3)? };
        Ok((number(row, 0)? as u64, transfer))
    };
    rows.iter().map(read).collect()
}

/// A client that moves money.
struct Worker {
    endpoint: Endpoint,
    client: usize,
    book: Book,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    seed: u64,
}

impl Worker {
    /// Until the server is gone. An error: the server said something that it must not.
    fn run(mut self) -> Result<Book, String> {
        let mut rng = StdRng::seed_from_u64(self.seed.wrapping_mul(1000) + self.client as u64);
        let login = Login { database: Some(DATABASE.to_owned()), ..Login::default() };
        let Ok(mut db) = Client::connect(&self.endpoint, &login, ANSWER_TIMEOUT) else { return Ok(self.book) };
        while !self.stop.load(Ordering::SeqCst) {
            let from = rng.random_range(0..ACCOUNTS);
            let to = (from + rng.random_range(1..ACCOUNTS)) % ACCOUNTS;
            let transfer = Transfer { from, to, amount: rng.random_range(1..100) };
            match self.transfer(&mut db, transfer) {
                Ok(true) => {
                    self.book.under_way = None;
                    self.book.acknowledged.push(transfer);
                    self.done.fetch_add(1, Ordering::SeqCst);
                }
                // Taken back; another one is tried.
                Ok(false) => self.book.under_way = None,
                Err(ClientError::Refused(e)) => return Err(format!("client {}: {e}", self.client)),
                // The server is gone.
                Err(_) => break,
            }
        }
        Ok(self.book)
    }

    /// One transaction; false: it was rolled back.
    fn transfer(&mut self, db: &mut Client, t: Transfer) -> Result<bool, ClientError> {
        let seq = self.book.acknowledged.len() + 1;
        let (client, amount) = (self.client, t.amount);
        let statements = [
            "BEGIN".to_owned(),
            format!("UPDATE accounts SET balance = balance - {amount} WHERE id = {}", t.from),
            format!("UPDATE accounts SET balance = balance + {amount} WHERE id = {}", t.to),
            format!("INSERT INTO transfers VALUES ({client}, {seq}, {}, {}, {amount})", t.from, t.to),
        ];
        for sql in &statements {
            match db.execute(sql) {
                Err(ClientError::Refused(e)) if TRY_AGAIN.contains(&e.code) => {
                    db.execute("ROLLBACK")?;
                    return Ok(false);
                }
                other => other?,
            };
        }
        self.book.under_way = Some(t);
        db.execute("COMMIT")?;
        Ok(true)
    }
}

/// Makes and drops tables until the server is gone.
fn make_tables(endpoint: &Endpoint, mut tables: Tables, stop: &AtomicBool) -> Result<Tables, String> {
    let login = Login { database: Some(DATABASE.to_owned()), ..Login::default() };
    let Ok(mut db) = Client::connect(endpoint, &login, ANSWER_TIMEOUT) else { return Ok(tables) };
    let mut n = tables.exists.keys().next_back().map_or(0, |n| n + 1);
    while !stop.load(Ordering::SeqCst) {
        let drop = n.checked_sub(3).filter(|old| tables.exists.get(old) == Some(&Some(true)));
        let steps = [(n, format!("CREATE TABLE d{n} (id INT PRIMARY KEY, v INT, KEY (v))"), true)]
            .into_iter()
            .chain(drop.map(|old| (old, format!("DROP TABLE d{old}"), false)));
        for (table, sql, exists) in steps {
            tables.exists.insert(table, None);
            match db.execute(&sql) {
                Ok(_) => tables.exists.insert(table, Some(exists)),
                Err(ClientError::Refused(e)) => return Err(format!("{sql}: {e}")),
                Err(_) => return Ok(tables),
            };
        }
        n += 1;
        std::thread::sleep(TABLE_INTERVAL);
    }
    Ok(tables)
}
