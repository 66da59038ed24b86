//! Selkie's `test-support` crate.
