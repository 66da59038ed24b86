//! WiredTiger's C interface, as much of it as this crate uses: the method tables of `wiredtiger.h` 11.3.1, written down
//! by hand. `layout.c`, compiled with every build, refuses a header that differs.
//!
//! Knows nothing of this crate. What the calls mean stands in WiredTiger's manual,
//! <https://source.wiredtiger.com/11.3.1/>.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};

/// A method that is not used here.
type Unused = *const c_void;

#[repr(C)]
pub(crate) struct WT_ITEM {
    pub(crate) data: *const c_void,
    pub(crate) size: usize,
    mem: *mut c_void,
    memsize: usize,
    flags: u32,
}

impl WT_ITEM {
    /// The item for these bytes. It must not be used for longer than they live.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        WT_ITEM {
            data: bytes.as_ptr().cast(),
            size: bytes.len(),
            mem: std::ptr::null_mut(),
            memsize: 0,
            flags: 0,
        }
    }
}

#[repr(C)]
pub(crate) struct WT_CURSOR {
    session: *mut WT_SESSION,
    uri: *const c_char,
    key_format: *const c_char,
    value_format: *const c_char,
    pub(crate) get_key: unsafe extern "C" fn(*mut WT_CURSOR, ...) -> c_int,
    pub(crate) get_value: unsafe extern "C" fn(*mut WT_CURSOR, ...) -> c_int,
    pub(crate) get_raw_key_value: unsafe extern "C" fn(*mut WT_CURSOR, *mut WT_ITEM, *mut WT_ITEM) -> c_int,
    pub(crate) set_key: unsafe extern "C" fn(*mut WT_CURSOR, ...),
    pub(crate) set_value: unsafe extern "C" fn(*mut WT_CURSOR, ...),
    compare: Unused,
    equals: Unused,
    pub(crate) next: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    pub(crate) prev: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    pub(crate) reset: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    pub(crate) search: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    pub(crate) search_near: unsafe extern "C" fn(*mut WT_CURSOR, *mut c_int) -> c_int,
    pub(crate) insert: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    modify: Unused,
    update: Unused,
    pub(crate) remove: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    reserve: Unused,
    checkpoint_id: Unused,
    pub(crate) close: unsafe extern "C" fn(*mut WT_CURSOR) -> c_int,
    // Not the whole structure: the library makes it, and what follows is its own.
}

#[repr(C)]
pub(crate) struct WT_SESSION {
    connection: *mut WT_CONNECTION,
    app_private: *mut c_void,
    pub(crate) close: unsafe extern "C" fn(*mut WT_SESSION, *const c_char) -> c_int,
    reconfigure: Unused,
    pub(crate) strerror: unsafe extern "C" fn(*mut WT_SESSION, c_int) -> *const c_char,
    pub(crate) open_cursor: unsafe extern "C" fn(
        *mut WT_SESSION,
        *const c_char,
        *mut WT_CURSOR,
        *const c_char,
        *mut *mut WT_CURSOR,
    ) -> c_int,
    alter: Unused,
    bind_configuration: Unused,
    pub(crate) create: unsafe extern "C" fn(*mut WT_SESSION, *const c_char, *const c_char) -> c_int,
    compact: Unused,
    pub(crate) drop: unsafe extern "C" fn(*mut WT_SESSION, *const c_char, *const c_char) -> c_int,
    join: Unused,
    log_flush: Unused,
    log_printf: Unused,
    rename: Unused,
    reset: Unused,
    salvage: Unused,
    truncate: Unused,
    pub(crate) verify: unsafe extern "C" fn(*mut WT_SESSION, *const c_char, *const c_char) -> c_int,
    pub(crate) begin_transaction: unsafe extern "C" fn(*mut WT_SESSION, *const c_char) -> c_int,
    pub(crate) commit_transaction: unsafe extern "C" fn(*mut WT_SESSION, *const c_char) -> c_int,
    prepare_transaction: Unused,
    pub(crate) rollback_transaction: unsafe extern "C" fn(*mut WT_SESSION, *const c_char) -> c_int,
    query_timestamp: Unused,
    timestamp_transaction: Unused,
    pub(crate) timestamp_transaction_uint: unsafe extern "C" fn(*mut WT_SESSION, c_int, u64) -> c_int,
    pub(crate) checkpoint: unsafe extern "C" fn(*mut WT_SESSION, *const c_char) -> c_int,
    reset_snapshot: Unused,
    transaction_pinned_range: Unused,
    pub(crate) get_rollback_reason: unsafe extern "C" fn(*mut WT_SESSION) -> *const c_char,
}

#[repr(C)]
pub(crate) struct WT_CONNECTION {
    pub(crate) close: unsafe extern "C" fn(*mut WT_CONNECTION, *const c_char) -> c_int,
    debug_info: Unused,
    reconfigure: Unused,
    get_home: Unused,
    compile_configuration: Unused,
    configure_method: Unused,
    is_new: Unused,
    pub(crate) open_session: unsafe extern "C" fn(
        *mut WT_CONNECTION,
        *mut WT_EVENT_HANDLER,
        *const c_char,
        *mut *mut WT_SESSION,
    ) -> c_int,
    pub(crate) query_timestamp: unsafe extern "C" fn(*mut WT_CONNECTION, *mut c_char, *const c_char) -> c_int,
    pub(crate) set_timestamp: unsafe extern "C" fn(*mut WT_CONNECTION, *const c_char) -> c_int,
}

#[repr(C)]
pub(crate) struct WT_EVENT_HANDLER {
    pub(crate) handle_error:
        unsafe extern "C" fn(*mut WT_EVENT_HANDLER, *mut WT_SESSION, c_int, *const c_char) -> c_int,
    pub(crate) handle_message: unsafe extern "C" fn(*mut WT_EVENT_HANDLER, *mut WT_SESSION, *const c_char) -> c_int,
    pub(crate) handle_progress:
        Option<unsafe extern "C" fn(*mut WT_EVENT_HANDLER, *mut WT_SESSION, *const c_char, u64) -> c_int>,
    pub(crate) handle_close:
        Option<unsafe extern "C" fn(*mut WT_EVENT_HANDLER, *mut WT_SESSION, *mut WT_CURSOR) -> c_int>,
    pub(crate) handle_general: Option<
        unsafe extern "C" fn(*mut WT_EVENT_HANDLER, *mut WT_CONNECTION, *mut WT_SESSION, c_int, *mut c_void) -> c_int,
    >,
}

unsafe extern "C" {
    pub(crate) fn wiredtiger_open(
        home: *const c_char,
        handler: *mut WT_EVENT_HANDLER,
        config: *const c_char,
        connection: *mut *mut WT_CONNECTION,
    ) -> c_int;
}

pub(crate) const WT_TS_TXN_TYPE_COMMIT: c_int = 0;
pub(crate) const WT_TS_TXN_TYPE_READ: c_int = 3;

pub(crate) const WT_ROLLBACK: c_int = -31800;
pub(crate) const WT_NOTFOUND: c_int = -31803;
pub(crate) const WT_PANIC: c_int = -31804;
pub(crate) const WT_RUN_RECOVERY: c_int = -31806;
pub(crate) const WT_CACHE_FULL: c_int = -31807;
pub(crate) const WT_TRY_SALVAGE: c_int = -31809;

/// Keys of statistics cursors over the connection.
pub(crate) mod stat {
    use std::ffi::c_int;

    pub(crate) const BLOCK_BYTE_READ: c_int = 1057;
    pub(crate) const BLOCK_BYTE_WRITE: c_int = 1060;
    pub(crate) const CACHE_BYTES_UPDATES: c_int = 1074;
    pub(crate) const CACHE_BYTES_INUSE: c_int = 1077;
    pub(crate) const CACHE_BYTES_MAX: c_int = 1185;
    pub(crate) const CACHE_READ: c_int = 1209;
    pub(crate) const CACHE_PAGES_REQUESTED: c_int = 1214;
    pub(crate) const CACHE_WRITE: c_int = 1223;
    pub(crate) const CACHE_BYTES_DIRTY: c_int = 1234;
    pub(crate) const CHECKPOINT_TIME_RECENT: c_int = 1276;
    pub(crate) const CHECKPOINTS_TOTAL_SUCCEED: c_int = 1306;
    pub(crate) const FILE_OPEN: c_int = 1336;
    pub(crate) const CURSOR_OPEN_COUNT: c_int = 1425;
    pub(crate) const SESSION_OPEN: c_int = 1601;
    pub(crate) const APPLICATION_CACHE_TIME: c_int = 1641;
    pub(crate) const TXN_COMMIT: c_int = 1709;
    pub(crate) const TXN_ROLLBACK: c_int = 1710;
    pub(crate) const TXN_UPDATE_CONFLICT: c_int = 1711;

    /// Keys of statistics cursors over one file.
    pub(crate) mod file {
        use std::ffi::c_int;

        pub(crate) const BLOCK_REUSE_BYTES: c_int = 2021;
        pub(crate) const BLOCK_SIZE: c_int = 2024;
        pub(crate) const CACHE_BYTES_DIRTY: c_int = 2118;
    }
}
