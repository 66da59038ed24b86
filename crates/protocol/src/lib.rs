//! The client/server protocol of MariaDB and MySQL, without IO.
//!
//! Bytes from a client become packets ([`PacketReader`]) and packets become commands
//! ([`Command`]); answers are encoded straight into the connection's [`SendBuffer`]
//! ([`response`]). The connection phase has its own packets and order ([`handshake`]). The client's
//! half is here too: replicas are clients, and so are tests.
//!
//! This crate knows bytes and packets. It must not know SQL, sessions, accounts, sockets, threads
//! or the values of the engine: rows come in by primitive types.
//!
//! # The order of packets
//!
//! Sequence numbers count on within an exchange, over both directions, and start at 0 again with
//! every command: [`PacketReader::expect_sequence`]`(0)` before a command is read, then
//! [`SendBuffer::set_sequence`]`(`[`Packet::next_sequence`]`)` before it is answered.
//!
//! ## Connection phase
//!
//! | step | server sends | client sends |
//! |---|---|---|
//! | 1 | [`Greeting`](handshake::Greeting), or ERR (too many connections, host blocked) | |
//! | 2, with CLIENT_SSL | | [`SslRequest`](handshake::SslRequest), then TLS; sequence numbers go on |
//! | 3 | | [`HandshakeResponse`](handshake::HandshakeResponse) |
//! | 4, when the account has another plugin | [`AuthSwitchRequest`](handshake::AuthSwitchRequest) | [`AuthSwitchResponse`](handshake::AuthSwitchResponse) |
//! | 5, any number of times, as the plugin wants | [`AuthMoreData`](handshake::AuthMoreData) | the plugin's data |
//! | 6 | OK, or ERR and the end | |
//!
//! [`ServerHandshake`](handshake::ServerHandshake) walks through it. COM_CHANGE_USER enters at
//! step 4; MariaDB then always switches, so that the password is proven against a new scramble.
//!
//! ## Command phase
//!
//! | command | answer |
//! |---|---|
//! | COM_QUERY | results (below) |
//! | COM_INIT_DB, COM_PING, COM_CREATE_DB, COM_DROP_DB, COM_REFRESH, COM_PROCESS_KILL, COM_RESET_CONNECTION, COM_REGISTER_SLAVE, COM_STMT_RESET | OK or ERR |
//! | COM_SET_OPTION, COM_DEBUG, COM_SHUTDOWN | end of rows, or ERR |
//! | COM_STATISTICS | a packet of text |
//! | COM_PROCESS_INFO | a result set |
//! | COM_FIELD_LIST | columns with default values, end of rows; or ERR |
//! | COM_CHANGE_USER | as from step 4 above |
//! | COM_STMT_PREPARE | [`PrepareOk`](response::PrepareOk); with parameters: their definitions, end of definitions; with columns: likewise; or ERR |
//! | COM_STMT_EXECUTE, COM_STMT_BULK_EXECUTE | results, rows in binary form |
//! | COM_STMT_FETCH | binary rows, end of rows with CURSOR_EXISTS or LAST_ROW_SENT; or ERR |
//! | COM_STMT_SEND_LONG_DATA, COM_STMT_CLOSE, COM_QUIT | nothing |
//! | COM_BINLOG_DUMP | packets of a zero byte and an event, without end, or end of rows, or ERR |
//! | unknown | ERR 1047 |
//!
//! Any number of [`Progress`](response::Progress) reports may come before each result of a client
//! with MARIADB_CLIENT_PROGRESS. A result is one of
//!
//! | result | packets |
//! |---|---|
//! | without rows | [`Ok`](response::Ok) |
//! | error | [`Err`](response::Err); no result follows it |
//! | rows | [`put_column_count`](response::put_column_count); definitions ([`ColumnDefinition`](response::ColumnDefinition)), unless the client has them cached; end of definitions; rows ([`TextRow`](response::TextRow), [`BinaryRow`](response::BinaryRow)); end of rows, or ERR |
//! | opened cursor | column count; definitions; end of rows with CURSOR_EXISTS, alone |
//! | local file | [`LocalInfileRequest`](response::LocalInfileRequest); the client sends [`InfileData`](response::InfileData) up to an empty packet; then OK or ERR |
//!
//! SERVER_MORE_RESULTS_EXISTS in OK or in the end of rows says that another result follows.
//! The two ends differ by the client's capabilities:
//!
//! | end | without CLIENT_DEPRECATE_EOF | with it |
//! |---|---|---|
//! | of definitions: [`put_metadata_end`](response::put_metadata_end) | EOF | nothing |
//! | of rows: [`put_result_end`](response::put_result_end) | EOF | OK with header 0xFE |

#![warn(missing_docs)]

mod binary_value;
mod capabilities;
mod column_type;
pub mod command;
mod error;
mod flags;
mod framing;
#[doc(hidden)]
pub mod fuzz;
pub mod handshake;
pub mod response;
mod server_status;
mod temporal;

pub use binary_value::{ParamType, ParamValue};
pub use capabilities::Capabilities;
pub use column_type::{ColumnFlags, ColumnType};
pub use command::{
    BinlogDump, BulkFlags, BulkParam, Command, CommandCode, CursorFlags, LAST_PREPARED, RegisterSlave,
    StmtBulkExecute, StmtExecute,
};
pub use error::{DecodeError, FrameError};
pub use framing::{
    HEADER_BYTES, MAX_FRAGMENT_BYTES, Mark, Packet, PacketReader, Payload, SendBuffer,
};
pub use server_status::ServerStatus;
pub use temporal::{Date, DateTime, Time};
