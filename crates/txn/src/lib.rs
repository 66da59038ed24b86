//! Selkie's `txn` crate.
