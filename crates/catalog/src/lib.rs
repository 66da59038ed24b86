//! Selkie's `catalog` crate.
