//! From a command's packet to what it asks for, and back for the client's side.

use super::binlog_dump::BinlogDump;
use super::bulk_execute::StmtBulkExecute;
use super::code::CommandCode;
use super::register_slave::RegisterSlave;
use super::stmt_execute::StmtExecute;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};
use crate::handshake::ChangeUser;

/// A command, borrowed from its packet. Names and statements are in the connection's
/// character_set_client.
#[derive(Debug, Clone, PartialEq)]
pub enum Command<'a> {
    /// COM_QUIT: close without an answer.
    Quit,
    /// COM_INIT_DB: USE this database.
    InitDb(&'a [u8]),
    /// COM_QUERY: one statement, or several with CLIENT_MULTI_STATEMENTS.
    Query(&'a [u8]),
    /// COM_FIELD_LIST.
    FieldList {
        /// The table.
        table: &'a [u8],
        /// A LIKE pattern for its columns; empty for all.
        wildcard: &'a [u8],
    },
    /// COM_CREATE_DB (deprecated).
    CreateDb(&'a [u8]),
    /// COM_DROP_DB (deprecated).
    DropDb(&'a [u8]),
    /// COM_REFRESH: REFRESH_* bits.
    Refresh(u8),
    /// COM_SHUTDOWN: the level, 0 by default.
    Shutdown(u8),
    /// COM_STATISTICS.
    Statistics,
    /// COM_PROCESS_INFO.
    ProcessInfo,
    /// COM_PROCESS_KILL: a connection id.
    ProcessKill(u32),
    /// COM_DEBUG.
    Debug,
    /// COM_PING.
    Ping,
    /// COM_CHANGE_USER.
    ChangeUser(ChangeUser<'a>),
    /// COM_BINLOG_DUMP.
    BinlogDump(BinlogDump<'a>),
    /// COM_REGISTER_SLAVE.
    RegisterSlave(RegisterSlave<'a>),
    /// COM_STMT_PREPARE: the statement.
    StmtPrepare(&'a [u8]),
    /// COM_STMT_EXECUTE.
    StmtExecute(StmtExecute<'a>),
    /// COM_STMT_SEND_LONG_DATA. No answer, not even an error: that comes with the execution.
    StmtSendLongData {
        /// The statement.
        statement_id: u32,
        /// The parameter, from 0.
        param: u16,
        /// What is to be appended to its value.
        data: &'a [u8],
    },
    /// COM_STMT_CLOSE: a statement. No answer.
    StmtClose(u32),
    /// COM_STMT_RESET: a statement.
    StmtReset(u32),
    /// COM_SET_OPTION: 0 switches multi-statements on, 1 off. The answer is EOF.
    SetOption(u16),
    /// COM_STMT_FETCH.
    StmtFetch {
        /// The statement whose cursor is meant.
        statement_id: u32,
        /// How many rows at most.
        rows: u32,
    },
    /// COM_RESET_CONNECTION.
    ResetConnection,
    /// COM_STMT_BULK_EXECUTE.
    StmtBulkExecute(StmtBulkExecute<'a>),
    /// A number that no client may send (ER_UNKNOWN_COM_ERROR, 1047).
    Unknown {
        /// The number.
        code: u8,
        /// What came behind it.
        payload: &'a [u8],
    },
}

impl<'a> Command<'a> {
    /// Reads a command. `capabilities` are those in force. An empty packet is COM_SLEEP, so unknown.
    ///
    /// # Errors
    /// When fields are missing (ER_MALFORMED_PACKET, 1835; the connection lives on).
    pub fn decode(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        let code = if fields.is_empty() {
            CommandCode::Sleep as u8
        } else {
            fields.u8("command")?
        };
        let unknown = Self::Unknown {
            code,
            payload: fields.rest(),
        };
        let Some(code) = CommandCode::from_u8(code) else {
            return Ok(unknown);
        };
        Ok(match code {
            CommandCode::Quit => Self::Quit,
            CommandCode::InitDb => Self::InitDb(name(fields.take_rest())),
            CommandCode::Query => Self::Query(fields.take_rest()),
            CommandCode::FieldList => Self::FieldList {
                table: fields.nul_terminated("table")?,
                wildcard: name(fields.take_rest()),
            },
            CommandCode::CreateDb => Self::CreateDb(name(fields.take_rest())),
            CommandCode::DropDb => Self::DropDb(name(fields.take_rest())),
            CommandCode::Refresh => Self::Refresh(fields.u8("REFRESH_* bits")?),
            CommandCode::Shutdown => Self::Shutdown(fields.rest().first().copied().unwrap_or(0)),
            CommandCode::Statistics => Self::Statistics,
            CommandCode::ProcessInfo => Self::ProcessInfo,
            CommandCode::ProcessKill => Self::ProcessKill(fields.u32("connection id")?),
            CommandCode::Debug => Self::Debug,
            CommandCode::Ping => Self::Ping,
            CommandCode::ChangeUser => Self::ChangeUser(ChangeUser::take(fields, capabilities)?),
            CommandCode::BinlogDump => Self::BinlogDump(BinlogDump::take(fields)?),
            CommandCode::RegisterSlave => Self::RegisterSlave(RegisterSlave::take(fields)?),
            CommandCode::StmtPrepare => Self::StmtPrepare(fields.take_rest()),
            CommandCode::StmtExecute => Self::StmtExecute(StmtExecute::take(fields)?),
            CommandCode::StmtSendLongData => Self::StmtSendLongData {
                statement_id: fields.u32("statement id")?,
                param: fields.u16("parameter")?,
                data: fields.take_rest(),
            },
            CommandCode::StmtClose => Self::StmtClose(fields.u32("statement id")?),
            CommandCode::StmtReset => Self::StmtReset(fields.u32("statement id")?),
            CommandCode::SetOption => Self::SetOption(fields.u16("option")?),
            CommandCode::StmtFetch => Self::StmtFetch {
                statement_id: fields.u32("statement id")?,
                rows: fields.u32("number of rows")?,
            },
            CommandCode::ResetConnection => Self::ResetConnection,
            CommandCode::StmtBulkExecute => Self::StmtBulkExecute(StmtBulkExecute::take(fields)?),
            CommandCode::Sleep
            | CommandCode::Connect
            | CommandCode::Time
            | CommandCode::DelayedInsert
            | CommandCode::TableDump
            | CommandCode::ConnectOut
            | CommandCode::Daemon
            | CommandCode::BinlogDumpGtid
            | CommandCode::SlaveWorker
            | CommandCode::SlaveIo
            | CommandCode::SlaveSql
            | CommandCode::Multi => unknown,
        })
    }

    /// Writes the command's packet as a client does. The caller sets the buffer's sequence to 0.
    pub fn encode(&self, out: &mut SendBuffer, capabilities: Capabilities) {
        out.begin_packet();
        out.put_u8(self.code());
        match self {
            Self::Quit
            | Self::Statistics
            | Self::ProcessInfo
            | Self::Debug
            | Self::Ping
            | Self::ResetConnection => {}
            Self::InitDb(text)
            | Self::Query(text)
            | Self::CreateDb(text)
            | Self::DropDb(text)
            | Self::StmtPrepare(text) => out.put_bytes(text),
            Self::FieldList { table, wildcard } => {
                out.put_nul_terminated(table);
                out.put_bytes(wildcard);
            }
            Self::Refresh(byte) | Self::Shutdown(byte) => out.put_u8(*byte),
            Self::ProcessKill(id) | Self::StmtClose(id) | Self::StmtReset(id) => out.put_u32(*id),
            Self::ChangeUser(change_user) => change_user.put(out, capabilities),
            Self::BinlogDump(dump) => dump.put(out),
            Self::RegisterSlave(register) => register.put(out),
            Self::StmtExecute(execute) => execute.put(out),
            Self::StmtSendLongData {
                statement_id,
                param,
                data,
            } => {
                out.put_u32(*statement_id);
                out.put_u16(*param);
                out.put_bytes(data);
            }
            Self::SetOption(option) => out.put_u16(*option),
            Self::StmtFetch { statement_id, rows } => {
                out.put_u32(*statement_id);
                out.put_u32(*rows);
            }
            Self::StmtBulkExecute(execute) => execute.put(out),
            Self::Unknown { payload, .. } => out.put_bytes(payload),
        }
        out.end_packet();
    }

    /// The command's number.
    pub fn code(&self) -> u8 {
        let code = match self {
            Self::Quit => CommandCode::Quit,
            Self::InitDb(_) => CommandCode::InitDb,
            Self::Query(_) => CommandCode::Query,
            Self::FieldList { .. } => CommandCode::FieldList,
            Self::CreateDb(_) => CommandCode::CreateDb,
            Self::DropDb(_) => CommandCode::DropDb,
            Self::Refresh(_) => CommandCode::Refresh,
            Self::Shutdown(_) => CommandCode::Shutdown,
            Self::Statistics => CommandCode::Statistics,
            Self::ProcessInfo => CommandCode::ProcessInfo,
            Self::ProcessKill(_) => CommandCode::ProcessKill,
            Self::Debug => CommandCode::Debug,
            Self::Ping => CommandCode::Ping,
            Self::ChangeUser(_) => CommandCode::ChangeUser,
            Self::BinlogDump(_) => CommandCode::BinlogDump,
            Self::RegisterSlave(_) => CommandCode::RegisterSlave,
            Self::StmtPrepare(_) => CommandCode::StmtPrepare,
            Self::StmtExecute(_) => CommandCode::StmtExecute,
            Self::StmtSendLongData { .. } => CommandCode::StmtSendLongData,
            Self::StmtClose(_) => CommandCode::StmtClose,
            Self::StmtReset(_) => CommandCode::StmtReset,
            Self::SetOption(_) => CommandCode::SetOption,
            Self::StmtFetch { .. } => CommandCode::StmtFetch,
            Self::ResetConnection => CommandCode::ResetConnection,
            Self::StmtBulkExecute(_) => CommandCode::StmtBulkExecute,
            Self::Unknown { code, .. } => return *code,
        };
        code as u8
    }
}

/// A name that ends the packet: some clients put a NUL behind it.
fn name(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(&[0]).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(payload: &[u8]) -> Result<Command<'_>, DecodeError> {
        Command::decode(payload, Capabilities::SERVER_DEFAULT)
    }

    #[test]
    fn commands_come_back() {
        for command in [
            Command::Quit,
            Command::InitDb(b"test"),
            Command::Query(b"SELECT 1"),
            Command::FieldList {
                table: b"t",
                wildcard: b"a%",
            },
            Command::CreateDb(b"a"),
            Command::DropDb(b"a"),
            Command::Refresh(4),
            Command::Shutdown(0),
            Command::Statistics,
            Command::ProcessInfo,
            Command::ProcessKill(12),
            Command::Debug,
            Command::Ping,
            Command::StmtPrepare(b"SELECT ?"),
            Command::StmtSendLongData {
                statement_id: 1,
                param: 0,
                data: b"xyz",
            },
            Command::StmtClose(1),
            Command::StmtReset(1),
            Command::SetOption(1),
            Command::StmtFetch {
                statement_id: 1,
                rows: 100,
            },
            Command::ResetConnection,
            Command::Unknown {
                code: 30,
                payload: b"\x01",
            },
            Command::Unknown {
                code: 99,
                payload: b"",
            },
        ] {
            let mut out = SendBuffer::new();
            command.encode(&mut out, Capabilities::SERVER_DEFAULT);
            assert_eq!(decode(&out.pending()[4..]), Ok(command));
        }
    }

    #[test]
    fn missing_fields() {
        assert_eq!(
            decode(&[]),
            Ok(Command::Unknown {
                code: 0,
                payload: b""
            })
        );
        for code in [4, 7, 12, 17, 18, 21, 23, 24, 25, 26, 27, 28, 0xFA] {
            assert!(decode(&[code]).is_err(), "command {code}");
        }
        assert_eq!(decode(&[8]), Ok(Command::Shutdown(0)));
    }

    #[test]
    fn a_nul_behind_a_name_is_dropped() {
        assert_eq!(decode(b"\x02test\0"), Ok(Command::InitDb(b"test")));
        assert_eq!(
            decode(b"\x04t\0\0"),
            Ok(Command::FieldList {
                table: b"t",
                wildcard: b""
            })
        );
    }
}
