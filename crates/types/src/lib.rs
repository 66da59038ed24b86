//! Selkie's `types` crate.
#[rustfmt::skip]
pub mod error_table;
