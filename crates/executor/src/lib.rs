//! Selkie's `executor` crate.
