//! The numbers of the commands.

/// Declares the commands with their names as SHOW PROCESSLIST and the protocol have them.
macro_rules! command_codes {
    ($($(#[$meta:meta])* $name:ident = $value:literal, $com:literal;)*) => {
        /// COM_* numbers: the first byte of a command's packet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum CommandCode {
            $($(#[$meta])* $name = $value,)*
        }

        impl CommandCode {
            /// The command with this number, `None` when there is none.
            pub const fn from_u8(code: u8) -> Option<Self> {
                match code {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Its name, like `COM_QUERY`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $com,)*
                }
            }
        }
    };
}

command_codes! {
    /// Inside the server: a connection waits for a command.
    Sleep = 0, "COM_SLEEP";
    /// The client goes. No answer.
    Quit = 1, "COM_QUIT";
    /// Sets the default database.
    InitDb = 2, "COM_INIT_DB";
    /// Statements as text.
    Query = 3, "COM_QUERY";
    /// Columns of a table.
    FieldList = 4, "COM_FIELD_LIST";
    /// Creates a database (deprecated).
    CreateDb = 5, "COM_CREATE_DB";
    /// Drops a database (deprecated).
    DropDb = 6, "COM_DROP_DB";
    /// FLUSH by bits.
    Refresh = 7, "COM_REFRESH";
    /// Stops the server.
    Shutdown = 8, "COM_SHUTDOWN";
    /// A line about the server.
    Statistics = 9, "COM_STATISTICS";
    /// SHOW PROCESSLIST.
    ProcessInfo = 10, "COM_PROCESS_INFO";
    /// Inside the server: a connection is being set up.
    Connect = 11, "COM_CONNECT";
    /// KILL.
    ProcessKill = 12, "COM_PROCESS_KILL";
    /// Writes debug information to the error log.
    Debug = 13, "COM_DEBUG";
    /// Answers OK.
    Ping = 14, "COM_PING";
    /// Inside the server.
    Time = 15, "COM_TIME";
    /// Inside the server.
    DelayedInsert = 16, "COM_DELAYED_INSERT";
    /// Logs in anew.
    ChangeUser = 17, "COM_CHANGE_USER";
    /// Sends the binary log.
    BinlogDump = 18, "COM_BINLOG_DUMP";
    /// Once sent a table.
    TableDump = 19, "COM_TABLE_DUMP";
    /// Inside the server: a replica connects to its primary.
    ConnectOut = 20, "COM_CONNECT_OUT";
    /// A replica tells who it is.
    RegisterSlave = 21, "COM_REGISTER_SLAVE";
    /// Prepares a statement.
    StmtPrepare = 22, "COM_STMT_PREPARE";
    /// Executes a prepared statement.
    StmtExecute = 23, "COM_STMT_EXECUTE";
    /// A piece of a parameter's value. No answer.
    StmtSendLongData = 24, "COM_STMT_SEND_LONG_DATA";
    /// Forgets a prepared statement. No answer.
    StmtClose = 25, "COM_STMT_CLOSE";
    /// Forgets long data and closes the cursor.
    StmtReset = 26, "COM_STMT_RESET";
    /// Multi-statements on or off.
    SetOption = 27, "COM_SET_OPTION";
    /// Rows of a cursor.
    StmtFetch = 28, "COM_STMT_FETCH";
    /// Inside the server.
    Daemon = 29, "COM_DAEMON";
    /// MySQL: sends the binary log from a set of GTIDs.
    BinlogDumpGtid = 30, "COM_BINLOG_DUMP_GTID";
    /// Resets the session without a new login.
    ResetConnection = 31, "COM_RESET_CONNECTION";
    /// Executes a prepared statement for many rows of parameters.
    StmtBulkExecute = 0xFA, "COM_STMT_BULK_EXECUTE";
    /// Inside the server: a replica's worker.
    SlaveWorker = 0xFB, "COM_SLAVE_WORKER";
    /// Inside the server: a replica's reader.
    SlaveIo = 0xFC, "COM_SLAVE_IO";
    /// Inside the server: a replica's applier.
    SlaveSql = 0xFD, "COM_SLAVE_SQL";
    /// Once several commands in one packet.
    Multi = 0xFE, "COM_MULTI";
}
