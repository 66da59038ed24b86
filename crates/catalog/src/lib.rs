//! The dictionary: databases, tables, columns, indexes, views, as immutable versions.
//!
//! A statement takes one [`Schema`] (`Arc`, published by atomic swap) and keeps it: opening a table
//! takes no lock. The dictionary is stored in the engine itself, under one index, and changed only by
//! [`DictionaryChange`]s that travel through the log.
//!
//! It must not know plans, sessions, or how statements are executed.

pub mod dictionary;
pub mod keys;
pub mod mdl;
pub mod schema;
pub mod show_create;

pub use schema::*;
