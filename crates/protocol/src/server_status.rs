//! The status flags in OK and EOF.

use crate::flags::flag_set;

flag_set! {
    /// Server status, sent with every OK and EOF.
    pub struct ServerStatus: u16 {
        /// A transaction is open.
        SERVER_STATUS_IN_TRANS = 1;
        /// autocommit is on.
        SERVER_STATUS_AUTOCOMMIT = 1 << 1;
        /// A further result follows this one.
        SERVER_MORE_RESULTS_EXISTS = 1 << 3;
        /// The statement found no good index.
        SERVER_STATUS_NO_GOOD_INDEX_USED = 1 << 4;
        /// The statement used no index.
        SERVER_STATUS_NO_INDEX_USED = 1 << 5;
        /// A cursor was opened: rows come by COM_STMT_FETCH.
        SERVER_STATUS_CURSOR_EXISTS = 1 << 6;
        /// The cursor has no more rows.
        SERVER_STATUS_LAST_ROW_SENT = 1 << 7;
        /// The default database was dropped.
        SERVER_STATUS_DB_DROPPED = 1 << 8;
        /// sql_mode NO_BACKSLASH_ESCAPES is on.
        SERVER_STATUS_NO_BACKSLASH_ESCAPES = 1 << 9;
        /// The statement was prepared anew and has other columns now.
        SERVER_STATUS_METADATA_CHANGED = 1 << 10;
        /// The statement took longer than long_query_time.
        SERVER_QUERY_WAS_SLOW = 1 << 11;
        /// The result holds the OUT parameters of a procedure.
        SERVER_PS_OUT_PARAMS = 1 << 12;
        /// The open transaction is READ ONLY.
        SERVER_STATUS_IN_TRANS_READONLY = 1 << 13;
        /// The OK packet carries session state changes.
        SERVER_SESSION_STATE_CHANGED = 1 << 14;
        /// sql_mode ANSI_QUOTES is on.
        SERVER_STATUS_ANSI_QUOTES = 1 << 15;
    }
}
