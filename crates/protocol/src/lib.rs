//! The client/server protocol of MariaDB and MySQL, without IO.
//!
//! Bytes from a client become packets ([`PacketReader`]) and packets become commands
//! ([`Command`]); answers are encoded straight into the connection's [`SendBuffer`]
//! ([`response`]). The connection phase has its own packets and order ([`handshake`]). The client's
//! half is here too: replicas are clients, and so are tests.
//!
//! This crate knows bytes and packets. It must not know SQL, sessions, accounts, sockets, threads
//! or the values of the engine: rows come in by primitive types.

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
    BinlogDump, BulkParam, Command, CommandCode, CursorFlags, LAST_PREPARED, RegisterSlave,
    StmtBulkExecute, StmtExecute,
};
pub use error::{DecodeError, FrameError};
pub use framing::{
    HEADER_BYTES, MAX_FRAGMENT_BYTES, Mark, Packet, PacketReader, Payload, SendBuffer,
};
pub use server_status::ServerStatus;
pub use temporal::{Date, DateTime, Time};
