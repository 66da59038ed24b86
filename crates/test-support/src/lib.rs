//! What tests and comparisons share: starting servers (Selkie's and real MariaDB's), a small client, scripts with
//! recorded answers, random statements, and the ledger of acknowledged commits.
//!
//! It speaks to servers as any client does, and must not know any crate behind the protocol.

pub mod client;
pub mod differential;
pub mod ledger;
pub mod script;
pub mod server;
pub mod slt;
pub mod suite;
