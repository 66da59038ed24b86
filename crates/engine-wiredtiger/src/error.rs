//! WiredTiger's error numbers as [`EngineError`]s, and its messages as log lines.

use std::ffi::{CStr, c_char, c_int};

use selkie_engine::{EngineError, Result};

use crate::sys;

/// The result of a call that returned `code`.
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error_of(code)) }
}

fn error_of(code: c_int) -> EngineError {
    match code {
        sys::WT_ROLLBACK => EngineError::Rollback("conflict or cache pressure".into()),
        sys::WT_CACHE_FULL => EngineError::Rollback("the cache is full".into()),
        sys::WT_PANIC => EngineError::Closed,
        sys::WT_TRY_SALVAGE => EngineError::Corrupt("a file of the engine cannot be read".into()),
        sys::WT_RUN_RECOVERY => EngineError::Corrupt("the engine's directory needs recovery".into()),
        libc::ENOSPC | libc::EDQUOT => EngineError::DiskFull,
        code if code > 0 => EngineError::Io(std::io::Error::from_raw_os_error(code)),
        code => EngineError::Other { code, message: "see the error log".into() },
    }
}

/// The text that C gave, empty for null.
///
/// # Safety
/// `text` is null or points to a string that ends with a zero byte.
pub(crate) unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// What hands the library's messages to the log.
pub(crate) fn event_handler() -> sys::WT_EVENT_HANDLER {
    sys::WT_EVENT_HANDLER {
        handle_error,
        handle_message,
        handle_progress: None,
        handle_close: None,
        handle_general: None,
    }
}

unsafe extern "C" fn handle_error(
    _: *mut sys::WT_EVENT_HANDLER,
    _: *mut sys::WT_SESSION,
    code: c_int,
    message: *const c_char,
) -> c_int {
    // SAFETY: the library hands over a string.
    let message = unsafe { text_of(message) };
    tracing::error!(code, "wiredtiger: {message}");
    0
}

unsafe extern "C" fn handle_message(
    _: *mut sys::WT_EVENT_HANDLER,
    _: *mut sys::WT_SESSION,
    message: *const c_char,
) -> c_int {
    // SAFETY: the library hands over a string.
    let message = unsafe { text_of(message) };
    tracing::debug!("wiredtiger: {message}");
    0
}
