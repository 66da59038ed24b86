//! Sessions: from a client's packets to executed statements and their answers.
//!
//! [`connection::serve`] runs one connection: login, then a command at a time. [`session::Session`] is what a client
//! has on the server; its documentation tells the life of a statement. [`boot`] opens a data directory and recovers it.
//!
//! It must not know sockets, threads of listeners, or the command line.

pub mod accounts;
pub mod boot;
pub mod client;
pub mod commit_dictionary;
pub mod connection;
mod ddl_host;
pub mod dml;
mod explain;
mod grants;
mod gtid_pos;
pub mod host;
pub mod instance;
mod load;
pub mod plan_cache;
pub mod prepared;
pub mod recovery;
pub mod result;
mod row_image;
pub mod rowlog;
pub mod session;
mod set;
pub mod show;
mod slow_log;
pub mod status;
pub mod track;
pub mod user_locks;
pub mod variables;
mod view_columns;
pub mod virtual_tables;

pub use client::Transport;
pub use instance::Instance;

/// `@@version`: names MariaDB, so that clients and replicas take their MariaDB paths.
pub const VERSION: &str = concat!("11.8.0-MariaDB-selkie-", env!("CARGO_PKG_VERSION"));
