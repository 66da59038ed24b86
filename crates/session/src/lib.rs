//! Selkie's `session` crate.
