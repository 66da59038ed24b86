//! Selkie's `expr` crate.
