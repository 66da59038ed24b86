//! The one log: MariaDB's classic binlog files, written and read.
//!
//! A transaction, a DDL statement, a replica's position: each is committed exactly when its events
//! are in these files and the files are synced. Storage engines are caches of the log's past; after
//! a crash [`log::Log::open`] finds the log's intact prefix and [`log::TransactionReader`] hands its
//! transactions out again from any [`LogPosition`].
//!
//! The way of a transaction's events through this crate:
//!
//! 1. The transaction's own thread collects them in a [`builder::TransactionEvents`] (Annotate_rows,
//!    Table_map, rows events, queries, dictionary changes), positions and GTID still unknown.
//! 2. [`builder::TransactionEvents::finish`] gives an [`builder::EventBuffer`].
//! 3. The leader of a commit group passes the buffers of the whole group to [`log::Log::append`],
//!    which numbers the GTIDs, fixes each event's `end_log_pos` and checksum, and writes all with one call.
//! 4. [`log::LogSyncer::sync`] makes them durable with one `fdatasync` and wakes those who follow the log.
//!
//! What bytes are written is told in `docs/formats/binlog.md`.
//!
//! This crate knows bytes, events, files and positions. It must not know SQL execution, engines,
//! locks, or in which order threads commit.

pub mod builder;
pub mod error;
pub mod event;
pub mod fs;
pub mod gtid;
pub mod log;
pub mod position;
pub mod row;
pub mod wire;

mod crc;
mod fuzz;

pub use builder::{EventBuffer, TransactionEvents};
pub use error::{DecodeError, LogError};
pub use event::{Event, EventBody, EventHeader, EventType};
pub use fuzz::fuzz_read;
pub use gtid::{BinlogState, Gtid, GtidList};
pub use log::{Log, LogOptions, LogSyncer};
pub use position::LogPosition;
