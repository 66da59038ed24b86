//! The server program around the sessions: options, files and folders, listeners, upkeep, signals.
//!
//! 1. [`options::parse`] makes [`options::ServerOptions`] of the command line and option files.
//! 2. [`serve::run`] locks the data directory ([`datadir`]), opens listeners ([`listener`]), opens and recovers the
//!    database (`selkie_session::boot`), starts upkeep ([`maintenance`]) and waits for the end ([`signals`]).
//! 3. Each connection is a thread that runs `selkie_session::connection::serve` over a [`transport`].
//!
//! It must not know SQL; it knows variables only by name, as options and to read settings.

#[doc = include_str!("../../../ARCHITECTURE.md")]
pub mod architecture {}

pub mod connections;
pub mod datadir;
pub mod error_log;
pub mod listener;
pub mod maintenance;
pub mod options;
pub mod serve;
pub mod signals;
pub mod transport;
pub mod user;
