//! Selkie's `server` crate.
