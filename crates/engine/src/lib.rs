//! Selkie's `engine` crate.
