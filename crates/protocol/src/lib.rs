//! Selkie's `protocol` crate.
