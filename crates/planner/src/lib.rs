//! Selkie's `planner` crate.
