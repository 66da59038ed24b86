//! Running plans: operators that exchange batches of rows, and the statements that change rows.
//!
//! [`query::run`] executes a [`QueryPlan`](selkie_planner::plan::QueryPlan); [`dml`] executes INSERT, UPDATE and DELETE.
//! [`context::ExecCtx`] is one execution: the transaction, parameters, limits, warnings and the session.
//!
//! It must not know SQL text, the wire protocol, accounts, or what the log's events look like.

mod aggregate;
pub mod analysis;
pub mod batch;
mod build;
pub mod context;
mod derived;
mod distinct;
pub mod dml;
mod foreign;
mod group_calls;
mod hash_join;
mod json_table;
pub mod key_value;
mod nested_loop;
pub mod operator;
mod outer;
mod plan_types;
pub mod query;
pub mod row_build;
mod row_input;
mod row_key;
pub mod row_log;
mod row_set;
mod row_store;
mod scan;
mod set_operation;
mod shared;
mod simple;
mod sort;
mod spill;
pub mod statistics;
pub mod store;
mod subquery;
pub mod tables;
#[cfg(test)]
mod testing;
mod txn_api;
mod virtual_scan;
mod window;

pub use context::{ExecCtx, ExecLimits, SessionHost};
pub use dml::DmlResult;
pub use row_build::zero_value;
pub use row_log::RowLog;
pub use txn_api::{Txn, txn_error};
