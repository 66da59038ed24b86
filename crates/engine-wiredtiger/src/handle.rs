//! WiredTiger's connection, session and cursor with Rust's types: lengths, errors, lifetimes of what is opened.
//!
//! All `unsafe` calls of the library are made here, save for none. What makes them sound, once for all:
//!
//! * A [`Connection`] lives until everything opened through it is closed: sessions hold an `Arc` of it.
//! * A session and its cursors are used by one thread at a time: [`RawSession`] is `Send` and not `Sync`, and a
//!   [`RawCursor`] is used only by whoever holds its session ([`crate::session`] sees to that).
//! * Method pointers come from the library itself and are never null; `sys/layout.c` checks where they are.
//! * A key or value handed to a cursor is borrowed only for the one call that uses it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use selkie_engine::{EngineError, Result, Timestamp};

use crate::error::{self, check, text_of};
use crate::sys;

/// A timestamp as WiredTiger has it: 0 means "none" there, so ours are shifted by one.
pub(crate) fn to_wiredtiger(timestamp: Timestamp) -> u64 {
    timestamp.saturating_add(1)
}

/// The reverse of [`to_wiredtiger`]; "none" is 0.
fn from_wiredtiger(timestamp: u64) -> Timestamp {
    timestamp.saturating_sub(1)
}

/// A string for the library. Ours are made of constants and numbers, and paths that came from the system.
pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(text).map_err(|error| EngineError::Other { code: libc::EINVAL, message: error.to_string() })
}

/// An open WiredTiger directory. Closed when dropped.
pub(crate) struct Connection {
    raw: NonNull<sys::WT_CONNECTION>,
    /// Used by the library as long as the connection is open.
    _handler: Box<sys::WT_EVENT_HANDLER>,
}

// SAFETY: WiredTiger's connection methods may be called from any thread at any time.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    pub(crate) fn open(directory: &Path, config: &str) -> Result<Arc<Self>> {
        use std::os::unix::ffi::OsStrExt;
        let directory = c_string(directory.as_os_str().as_bytes())?;
        let config = c_string(config)?;
        let mut handler = Box::new(error::event_handler());
        let mut raw = ptr::null_mut();
        // SAFETY: the strings live during the call, the handler as long as the connection.
        let code =
            unsafe { sys::wiredtiger_open(directory.as_ptr(), &raw mut *handler, config.as_ptr(), &raw mut raw) };
        check(code)?;
        let raw = NonNull::new(raw).ok_or(EngineError::Closed)?;
        Ok(Arc::new(Connection { raw, _handler: handler }))
    }

    pub(crate) fn open_session(self: &Arc<Self>, config: &CStr) -> Result<RawSession> {
        let mut raw = ptr::null_mut();
        // SAFETY: the connection is open.
        check(unsafe {
            (self.raw.as_ref().open_session)(self.raw.as_ptr(), ptr::null_mut(), config.as_ptr(), &raw mut raw)
        })?;
        let raw = NonNull::new(raw).ok_or(EngineError::Closed)?;
        Ok(RawSession { raw, _connection: self.clone() })
    }

    /// The timestamp that `config` asks for, 0 if there is none.
    pub(crate) fn query_timestamp(&self, config: &CStr) -> Result<Timestamp> {
        let mut hex: [c_char; 17] = [0; 17];
        // SAFETY: the library writes at most 16 hexadecimal digits and a zero byte.
        let code =
            unsafe { (self.raw.as_ref().query_timestamp)(self.raw.as_ptr(), hex.as_mut_ptr(), config.as_ptr()) };
        if code == sys::WT_NOTFOUND {
            return Ok(0);
        }
        check(code)?;
        // SAFETY: the array ends with a zero byte, whatever was written.
        let hex = unsafe { text_of(hex.as_ptr()) };
        let timestamp = u64::from_str_radix(&hex, 16)
            .map_err(|error| EngineError::Other { code: 0, message: format!("timestamp {hex}: {error}") })?;
        Ok(from_wiredtiger(timestamp))
    }

    pub(crate) fn set_timestamp(&self, config: &str) -> Result<()> {
        let config = c_string(config)?;
        // SAFETY: the connection is open.
        check(unsafe { (self.raw.as_ref().set_timestamp)(self.raw.as_ptr(), config.as_ptr()) })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: nothing that was opened through the connection is left: it would hold an `Arc` of it. Memory is left
        // to the system, as the process mostly ends now; pages are written all the same.
        let code = unsafe { (self.raw.as_ref().close)(self.raw.as_ptr(), c"leak_memory=true".as_ptr()) };
        if let Err(error) = check(code) {
            tracing::error!(%error, "closing the engine");
        }
    }
}

/// A session. Closed, with its cursors, when dropped.
pub(crate) struct RawSession {
    raw: NonNull<sys::WT_SESSION>,
    _connection: Arc<Connection>,
}

// SAFETY: WiredTiger's sessions may move between threads, as long as one at a time uses them.
unsafe impl Send for RawSession {}

impl RawSession {
    fn methods(&self) -> &sys::WT_SESSION {
        // SAFETY: the session is open as long as this value lives.
        unsafe { self.raw.as_ref() }
    }

    /// Opens a cursor; `None` if what it names does not exist.
    pub(crate) fn open_cursor(&self, uri: &CStr, config: Option<&CStr>) -> Result<Option<RawCursor>> {
        let config = config.map_or(ptr::null(), CStr::as_ptr);
        let mut cursor = ptr::null_mut();
        // SAFETY: the strings live during the call.
        let code = unsafe {
            (self.methods().open_cursor)(self.raw.as_ptr(), uri.as_ptr(), ptr::null_mut(), config, &raw mut cursor)
        };
        if code == libc::ENOENT {
            return Ok(None);
        }
        check(code)?;
        NonNull::new(cursor).map(|raw| Some(RawCursor(raw))).ok_or(EngineError::Closed)
    }

    pub(crate) fn create(&self, uri: &CStr, config: &CStr) -> c_int {
        // SAFETY: the strings live during the call.
        unsafe { (self.methods().create)(self.raw.as_ptr(), uri.as_ptr(), config.as_ptr()) }
    }

    pub(crate) fn drop(&self, uri: &CStr, config: &CStr) -> c_int {
        // SAFETY: the strings live during the call.
        unsafe { (self.methods().drop)(self.raw.as_ptr(), uri.as_ptr(), config.as_ptr()) }
    }

    pub(crate) fn verify(&self, uri: &CStr) -> c_int {
        // SAFETY: the string lives during the call.
        unsafe { (self.methods().verify)(self.raw.as_ptr(), uri.as_ptr(), ptr::null()) }
    }

    pub(crate) fn checkpoint(&self, config: &CStr) -> Result<()> {
        // SAFETY: the string lives during the call.
        check(unsafe { (self.methods().checkpoint)(self.raw.as_ptr(), config.as_ptr()) })
    }

    /// Begins a transaction with snapshot isolation; the snapshot is taken now.
    pub(crate) fn begin(&self) -> Result<()> {
        // SAFETY: the session is open.
        check(unsafe { (self.methods().begin_transaction)(self.raw.as_ptr(), ptr::null()) })
    }

    /// Commits the transaction. It is over after an error, too.
    pub(crate) fn commit_at(&self, timestamp: Timestamp) -> Result<()> {
        let timestamp = to_wiredtiger(timestamp);
        // SAFETY: the session is open.
        let code = unsafe {
            (self.methods().timestamp_transaction_uint)(self.raw.as_ptr(), sys::WT_TS_TXN_TYPE_COMMIT, timestamp)
        };
        if let Err(error) = self.check(code) {
            self.rollback();
            return Err(error);
        }
        // SAFETY: the session is open.
        self.check(unsafe { (self.methods().commit_transaction)(self.raw.as_ptr(), ptr::null()) })
    }

    /// Makes the transaction that has begun see the state at `timestamp`. Returns the library's error number.
    pub(crate) fn read_at(&self, timestamp: Timestamp) -> c_int {
        let timestamp = to_wiredtiger(timestamp);
        // SAFETY: the session is open.
        unsafe { (self.methods().timestamp_transaction_uint)(self.raw.as_ptr(), sys::WT_TS_TXN_TYPE_READ, timestamp) }
    }

    /// Ends the transaction and undoes it. All cursors of the session are at no row then.
    pub(crate) fn rollback(&self) {
        // SAFETY: the session is open.
        let code = unsafe { (self.methods().rollback_transaction)(self.raw.as_ptr(), ptr::null()) };
        if let Err(error) = check(code) {
            tracing::error!(%error, "rolling an engine transaction back");
        }
    }

    /// The result of a call on this session or a cursor of it, with the reason if it is that of a rollback.
    pub(crate) fn check(&self, code: c_int) -> Result<()> {
        if code == sys::WT_ROLLBACK {
            // SAFETY: the session is open; the library returns null or a constant string.
            let reason = unsafe { text_of((self.methods().get_rollback_reason)(self.raw.as_ptr())) };
            return Err(EngineError::Rollback(reason));
        }
        check(code)
    }
}

impl Drop for RawSession {
    fn drop(&mut self) {
        // SAFETY: the session is open and is not used after this. Its cursors are closed with it, and whoever kept one has
        // kept it next to the session.
        let code = unsafe { (self.methods().close)(self.raw.as_ptr(), ptr::null()) };
        if let Err(error) = check(code) {
            tracing::error!(%error, "closing an engine session");
        }
    }
}

/// Key and value of the row a cursor is at, valid until it moves.
#[derive(Copy, Clone)]
pub(crate) struct RawRow {
    key: (*const u8, usize),
    value: (*const u8, usize),
}

fn slice_parts(item: &sys::WT_ITEM) -> (*const u8, usize) {
    match item.size {
        0 => (NonNull::dangling().as_ptr(), 0),
        size => (item.data.cast(), size),
    }
}

impl RawRow {
    pub(crate) const NONE: RawRow =
        RawRow { key: (NonNull::dangling().as_ptr(), 0), value: (NonNull::dangling().as_ptr(), 0) };

    /// # Safety
    /// The cursor that the row came from has neither moved nor been closed since, and does not while the slice lives.
    pub(crate) unsafe fn key<'a>(self) -> &'a [u8] {
        // SAFETY: the library keeps these bytes until the cursor moves, as the caller promises it does not.
        unsafe { std::slice::from_raw_parts(self.key.0, self.key.1) }
    }

    /// # Safety
    /// As for [`key`](Self::key).
    pub(crate) unsafe fn value<'a>(self) -> &'a [u8] {
        // SAFETY: as for `key`.
        unsafe { std::slice::from_raw_parts(self.value.0, self.value.1) }
    }
}

/// A cursor. Whoever has it must hold its session while using it, and hand it back to that or close it.
#[derive(Copy, Clone)]
pub(crate) struct RawCursor(NonNull<sys::WT_CURSOR>);

impl RawCursor {
    fn methods(&self) -> &sys::WT_CURSOR {
        // SAFETY: the cursor is open: closing takes it by value, and its holder has the session.
        unsafe { self.0.as_ref() }
    }

    fn set_key(self, key: &sys::WT_ITEM) {
        // SAFETY: indexes have the key format `u`, for which this takes a pointer to an item.
        unsafe { (self.methods().set_key)(self.0.as_ptr(), ptr::from_ref(key)) }
    }

    /// Finds exactly this key.
    pub(crate) fn search(self, key: &[u8]) -> c_int {
        let item = sys::WT_ITEM::new(key);
        self.set_key(&item);
        // SAFETY: the key lives during the call.
        unsafe { (self.methods().search)(self.0.as_ptr()) }
    }

    /// Finds a neighbour of this key, and how it compares with the key.
    pub(crate) fn search_near(self, key: &[u8], exact: &mut c_int) -> c_int {
        let item = sys::WT_ITEM::new(key);
        self.set_key(&item);
        // SAFETY: the key lives during the call.
        unsafe { (self.methods().search_near)(self.0.as_ptr(), exact) }
    }

    pub(crate) fn next(self) -> c_int {
        // SAFETY: the cursor is open.
        unsafe { (self.methods().next)(self.0.as_ptr()) }
    }

    pub(crate) fn prev(self) -> c_int {
        // SAFETY: the cursor is open.
        unsafe { (self.methods().prev)(self.0.as_ptr()) }
    }

    /// Leaves the row, which lets go of the page in the cache, and outside a transaction of the snapshot.
    pub(crate) fn reset(self) -> c_int {
        // SAFETY: the cursor is open.
        unsafe { (self.methods().reset)(self.0.as_ptr()) }
    }

    pub(crate) fn insert(self, key: &[u8], value: &[u8]) -> c_int {
        let (key, value) = (sys::WT_ITEM::new(key), sys::WT_ITEM::new(value));
        self.set_key(&key);
        // SAFETY: indexes have the value format `u`, for which this takes a pointer to an item. Both live during the calls.
        unsafe {
            (self.methods().set_value)(self.0.as_ptr(), &raw const value);
            (self.methods().insert)(self.0.as_ptr())
        }
    }

    pub(crate) fn remove(self, key: &[u8]) -> c_int {
        let item = sys::WT_ITEM::new(key);
        self.set_key(&item);
        // SAFETY: the key lives during the call.
        unsafe { (self.methods().remove)(self.0.as_ptr()) }
    }

    /// The row that the cursor is at.
    pub(crate) fn row(self) -> Result<RawRow> {
        let (mut key, mut value) = (sys::WT_ITEM::new(&[]), sys::WT_ITEM::new(&[]));
        // SAFETY: the library fills the two items in.
        check(unsafe { (self.methods().get_raw_key_value)(self.0.as_ptr(), &raw mut key, &raw mut value) })?;
        Ok(RawRow { key: slice_parts(&key), value: slice_parts(&value) })
    }

    /// Like [`row`](Self::row), but the value only.
    pub(crate) fn row_value(self) -> Result<RawRow> {
        let mut value = sys::WT_ITEM::new(&[]);
        // SAFETY: for the value format `u`, this takes a pointer to an item and fills it in.
        check(unsafe { (self.methods().get_value)(self.0.as_ptr(), &raw mut value) })?;
        Ok(RawRow { value: slice_parts(&value), ..RawRow::NONE })
    }

    /// The key as text, for cursors with the key format `S` (metadata, backup).
    pub(crate) fn text_key(self) -> Result<String> {
        let mut text: *const c_char = ptr::null();
        // SAFETY: for the key format `S`, this takes a pointer to a pointer to a string, which stays until the cursor moves.
        unsafe {
            check((self.methods().get_key)(self.0.as_ptr(), &raw mut text))?;
            Ok(text_of(text))
        }
    }

    /// Finds a text key, for cursors with the key format `S`.
    pub(crate) fn search_text(self, key: &CStr) -> c_int {
        // SAFETY: for the key format `S`, this takes a string; it lives during the calls.
        unsafe {
            (self.methods().set_key)(self.0.as_ptr(), key.as_ptr());
            (self.methods().search)(self.0.as_ptr())
        }
    }

    /// The number that a statistics cursor has for this key.
    pub(crate) fn statistic(self, key: c_int) -> Result<u64> {
        let (mut name, mut text): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
        let mut number = 0u64;
        // SAFETY: statistics cursors have the key format `i` and the value format `SSq`.
        unsafe {
            (self.methods().set_key)(self.0.as_ptr(), key);
            check((self.methods().search)(self.0.as_ptr()))?;
            check((self.methods().get_value)(self.0.as_ptr(), &raw mut name, &raw mut text, &raw mut number))?;
        }
        Ok(number)
    }

    /// Ends the cursor.
    ///
    /// # Safety
    /// Its session is open, and no copy of this is used any more.
    pub(crate) unsafe fn close(self) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { (self.methods().close)(self.0.as_ptr()) }
    }
}
