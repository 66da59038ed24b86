//! Builds the events of a transaction before its place in the log is known.
//!
//! [`TransactionEvents`] collects; [`EventBuffer`] is the finished group of events that
//! [`crate::log::Log::append`] numbers and writes.

mod buffer;
mod events;

pub use buffer::{EventBuffer, GtidChoice};
pub use events::{EventContext, Mark, TransactionEvents};
