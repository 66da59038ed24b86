//! Selkie's `binlog` crate.
