//! Typed expressions: what they are, how functions are bound to arguments, how they are evaluated.
//!
//! The planner turns syntax into [`Expr`] by calling the `bind_*` functions of [`bind`], which insert every
//! implicit conversion as an explicit cast: evaluation never guesses types. The executor evaluates
//! with [`Expr::eval`] against the current row and an [`EvalContext`].
//!
//! It must not know syntax trees, tables, engines, plans (a subquery is an opaque handle) or sessions
//! (what it needs of one stands in [`EvalContext`]).

mod agg;
pub mod bind;
pub mod context;
mod describe;
mod eval;
mod func;
pub mod ir;

/// JSON texts and paths, for JSON_TABLE.
pub mod json {
    pub use crate::func::json::path::{Path, PathFault};
    pub use crate::func::json::scan::{DEPTH_MAX, Fault, Json, Kind, Node};
}

pub use context::{EvalContext, EvalSettings, SessionInfo, VarScope};
pub use eval::ValueCompare;
pub use ir::*;
