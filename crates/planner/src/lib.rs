//! From syntax to a plan: name resolution, typing, rewriting, choice of access paths and join order.
//!
//! [`plan::Plan`] is the contract with the executor: immutable, shared between executions of a
//! prepared statement, free of parameter values and of session state. It must not know how operators
//! run, transactions, engines or sessions.

pub mod plan;
