//! Selkie's `engine-wiredtiger` crate.
