//! The server behind all sessions: storage, dictionary, global variables, who is connected.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use selkie_catalog::dictionary::Dictionary;
use selkie_catalog::mdl::MetadataLocks;
use selkie_executor::tables::TableRuntimes;
use selkie_txn::{BinlogLog, LockOwner, TxnManager};

use crate::accounts::Accounts;
use crate::status::Status;
use crate::user_locks::UserLocks;
use crate::variables::Values;

/// Everything that sessions share. One for a server.
pub struct Instance {
    /// Transactions, engines and the log.
    pub txns: Arc<TxnManager<BinlogLog>>,
    /// Databases and tables.
    pub dictionary: Dictionary,
    /// Metadata locks.
    pub mdl: MetadataLocks,
    /// Run-time state of tables.
    pub tables: TableRuntimes,
    /// Global values of system variables.
    pub globals: RwLock<Values>,
    /// Accounts.
    pub accounts: Accounts,
    /// GET_LOCK.
    pub user_locks: UserLocks,
    /// Counters of SHOW STATUS.
    pub status: Status,
    /// The data directory.
    pub datadir: PathBuf,
    /// When the server started.
    pub started: Instant,
    connections: Mutex<HashMap<u64, Arc<ConnectionState>>>,
    next_connection: AtomicU64,
    next_xid: AtomicU64,
    /// Grows with whatever makes prepared plans stale beside the dictionary: sql_mode-like globals do not, statistics do.
    pub plan_epoch: AtomicU64,
    shutdown: AtomicBool,
    on_shutdown: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// What others can see and do of a connection.
pub struct ConnectionState {
    /// CONNECTION_ID()
    pub id: u64,
    /// User, host (with port), for SHOW PROCESSLIST.
    pub peer: Mutex<(String, String)>,
    /// Current database.
    pub database: Mutex<Option<String>>,
    /// Running statement and when it began.
    pub statement: Mutex<Option<(Arc<str>, Instant)>>,
    /// Command and state words of SHOW PROCESSLIST.
    pub command: Mutex<(&'static str, &'static str)>,
    /// When the present command began.
    pub since: Mutex<Instant>,
    /// KILL QUERY: the running statement ends.
    pub kill_query: AtomicBool,
    /// KILL: the connection ends.
    pub kill_connection: AtomicBool,
    /// The transaction's lock owner, to end a lock wait.
    pub lock_owner: Arc<LockOwner>,
    /// Closes the connection's socket for reading.
    pub wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// The storage that an [`Instance`] is made of.
pub struct Storage {
    /// Transactions.
    pub txns: Arc<TxnManager<BinlogLog>>,
    /// Dictionary as recovered.
    pub dictionary: Dictionary,
}

impl Instance {
    /// Puts an instance together.
    pub fn new(storage: Storage, globals: Values, datadir: PathBuf) -> Arc<Instance> {
        let tables = TableRuntimes::new(storage.txns.engine.clone(), storage.txns.volatile.clone());
        let accounts = Accounts::load(&storage.dictionary.schema());
        let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_secs());
        Arc::new(Instance {
            txns: storage.txns,
            dictionary: storage.dictionary,
            mdl: MetadataLocks::default(),
            tables,
            globals: RwLock::new(globals),
            accounts,
            user_locks: UserLocks::default(),
            status: Status::default(),
            datadir,
            started: Instant::now(),
            connections: Mutex::default(),
            next_connection: AtomicU64::new(1),
            next_xid: AtomicU64::new(seed << 20),
            plan_epoch: AtomicU64::new(0),
            shutdown: AtomicBool::new(false),
            on_shutdown: Mutex::new(None),
        })
    }

    /// The engine that a table's rows are in.
    pub fn engine_of(&self, table: &selkie_catalog::Table) -> &dyn selkie_engine::Engine {
        if selkie_txn::is_volatile(table.rows_index()) { &*self.txns.volatile } else { &*self.txns.engine }
    }

    /// A number for a new connection.
    pub fn next_connection_id(&self) -> u64 {
        self.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    /// A number for a transaction's Xid event.
    pub fn next_xid(&self) -> u64 {
        self.next_xid.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a connection to the process list.
    pub fn register(&self, c: Arc<ConnectionState>) {
        self.connections.lock().insert(c.id, c);
    }

    /// Removes a connection from the process list.
    pub fn unregister(&self, id: u64) {
        self.connections.lock().remove(&id);
    }

    /// The connections, by id.
    pub fn connections(&self) -> Vec<Arc<ConnectionState>> {
        let mut all: Vec<_> = self.connections.lock().values().cloned().collect();
        all.sort_by_key(|c| c.id);
        all
    }

    /// How many connections there are.
    pub fn connection_count(&self) -> usize {
        self.connections.lock().len()
    }

    /// Finds a connection.
    pub fn connection(&self, id: u64) -> Option<Arc<ConnectionState>> {
        self.connections.lock().get(&id).cloned()
    }

    /// What SHUTDOWN calls.
    pub fn set_shutdown_hook(&self, hook: impl Fn() + Send + 'static) {
        *self.on_shutdown.lock() = Some(Box::new(hook));
    }

    /// Begins to shut the server down.
    pub fn request_shutdown(&self) {
        self.shutdown.store(true, Ordering::SeqCst);
        if let Some(hook) = &*self.on_shutdown.lock() {
            hook();
        }
    }

    /// Whether the server is going down.
    pub fn is_shutting_down(&self) -> bool {
        self.shutdown.load(Ordering::SeqCst)
    }
}

impl ConnectionState {
    /// A new connection's state.
    pub fn new(id: u64, user: &str, host: &str, lock_owner: Arc<LockOwner>) -> Arc<ConnectionState> {
        Arc::new(ConnectionState {
            id,
            peer: Mutex::new((user.to_owned(), host.to_owned())),
            database: Mutex::new(None),
            statement: Mutex::new(None),
            command: Mutex::new(("Connect", "")),
            since: Mutex::new(Instant::now()),
            kill_query: AtomicBool::new(false),
            kill_connection: AtomicBool::new(false),
            lock_owner,
            wake: Mutex::new(None),
        })
    }

    /// KILL QUERY.
    pub fn kill_query(&self) {
        self.kill_query.store(true, Ordering::SeqCst);
        self.lock_owner.kill();
    }

    /// KILL CONNECTION.
    pub fn kill_connection(&self) {
        self.kill_connection.store(true, Ordering::SeqCst);
        self.kill_query();
        if let Some(wake) = &*self.wake.lock() {
            wake();
        }
    }
}
