//! Selkie's `parser` crate.
