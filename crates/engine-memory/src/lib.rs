//! Selkie's `engine-memory` crate.
