//! Running plans: operators that exchange batches of rows, and the statements that change rows.
//!
//! [`query::run`] executes a [`QueryPlan`](selkie_planner::plan::QueryPlan); [`dml`] executes INSERT, UPDATE and DELETE.
//! [`context::ExecCtx`] is one execution: the transaction, parameters, limits, warnings and the session.
//!
//! It must not know SQL text, the wire protocol, accounts, or what the log's events look like.

pub mod batch;
mod build;
pub mod context;
pub mod dml;
mod foreign;
pub mod key_value;
pub mod operator;
mod plan_types;
pub mod query;
mod row_build;
pub mod row_log;
mod row_set;
mod scan;
mod simple;
pub mod store;
mod subquery;
pub mod tables;
mod txn_api;

pub use context::{ExecCtx, ExecLimits, SessionHost};
pub use dml::DmlResult;
pub use row_build::zero_value;
pub use row_log::RowLog;
pub use txn_api::{Txn, txn_error};
