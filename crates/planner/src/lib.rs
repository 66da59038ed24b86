//! From syntax to a plan: name resolution, typing, rewriting, choice of access paths and join order.
//!
//! A statement goes through these steps:
//!
//! 1. `bind` resolves names and types into a logical tree ([`logical`]) whose columns have statement-wide numbers;
//! 2. `rewrite` simplifies the tree: constants, predicates, outer joins, subqueries;
//! 3. `physical` orders joins, chooses access paths and assigns slots.
//!
//! [`plan::Plan`] is the contract with the executor: immutable, shared between executions of a
//! prepared statement, free of parameter values and of session state. It must not know how operators
//! run, transactions, engines or sessions.

mod bind;
pub mod context;
pub mod explain;
pub mod exprs;
pub mod logical;
mod physical;
pub mod plan;
mod rewrite;
pub mod text;

use std::sync::Arc;

use selkie_parser::ast;
use selkie_types::{Level, SqlError, SqlResult, SqlType, sql_err};

pub use bind::target::{bind_column_expr, bind_column_syntax, bind_default, bind_target, is_literal_default};
pub use context::{
    AccessKind, Accessed, Nothing, OptimizerSwitches, PlanContext, Statistics, StoredFunction, TemporaryTables,
    Variables, VirtualColumn, VirtualTables,
};

/// A planned statement with what the session wants to know beside it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The plan.
    pub statement: plan::Statement,
    /// Tables and columns used, for privilege checks.
    pub accessed: Vec<Accessed>,
    /// Types of the parameters, known or inferred ([`SqlType::Null`] where nothing tells).
    pub param_types: Vec<SqlType>,
    /// Dictionary version that the plan was made against.
    pub schema_version: u64,
    /// Warnings that each execution gives, of constants that the plan has converted.
    pub warnings: Vec<(Level, SqlError)>,
}

/// Plans statements.
pub struct Planner;

impl Planner {
    /// Plans SELECT, INSERT, REPLACE, UPDATE, DELETE and DO.
    pub fn plan(statement: &ast::Statement, cx: &PlanContext<'_>) -> SqlResult<plan::Statement> {
        Ok(Self::plan_full(statement, cx)?.statement)
    }

    /// Plans a statement and reports what it uses.
    pub fn plan_full(statement: &ast::Statement, cx: &PlanContext<'_>) -> SqlResult<Planned> {
        let mut b = bind::Binder::new(cx);
        let bound = match statement {
            ast::Statement::Query(q) => Bound::Query(b.top_query(q)?),
            ast::Statement::Insert(s) => Bound::Insert(Box::new(b.insert(s)?)),
            ast::Statement::Update(s) => Bound::Update(b.update(s)?),
            ast::Statement::Delete(s) => Bound::Delete(b.delete(s)?),
            ast::Statement::Do(list) => Bound::Do(b.do_list(list)?),
            _ => return Err(sql_err!(ER_INTERNAL_ERROR, "this statement has no plan")),
        };
        let params = b.param_count();
        let mut param_types = b.arena.param_types.clone();
        param_types.resize(params.max(param_types.len()), SqlType::Null);
        let accessed = b.accessed.iter().cloned().collect();
        let mut arena = std::mem::take(&mut b.arena);
        drop(b);
        let (bound, warnings) = bound.rewritten(cx, &mut arena)?;
        let mut l = physical::Lowering::new(cx, arena);
        let statement = match bound {
            Bound::Query(q) => plan::Statement::Query(Arc::new(l.query(&q, params)?)),
            Bound::Insert(s) => plan::Statement::Insert(Arc::new(l.insert(*s, params)?)),
            Bound::Update(s) => plan::Statement::Update(Arc::new(l.update(s)?)),
            Bound::Delete(s) => plan::Statement::Delete(Arc::new(l.delete(s)?)),
            Bound::Do(list) => {
                let list = l.exprs(&list, &[], &physical::Env::default())?;
                plan::Statement::Do(Arc::new(list))
            }
        };
        Ok(Planned { statement, accessed, param_types, schema_version: cx.schema.version, warnings })
    }
}

/// A bound statement.
enum Bound {
    Query(logical::LogicalQuery),
    Insert(Box<bind::BoundInsert>),
    Update(bind::BoundUpdate),
    Delete(bind::BoundDelete),
    Do(Vec<selkie_expr::Expr>),
}

impl Bound {
    fn rewritten(self, cx: &PlanContext<'_>, arena: &mut logical::Arena) -> SqlResult<(Bound, Vec<(Level, SqlError)>)> {
        let mut r = rewrite::Rewriter::new(cx, arena);
        let bound = match self {
            Bound::Query(q) => Bound::Query(r.query(q)?),
            Bound::Insert(mut s) => {
                s.source = match s.source {
                    bind::BoundInsertSource::Query(q) => bind::BoundInsertSource::Query(r.query(q)?),
                    bind::BoundInsertSource::Values(rows) => bind::BoundInsertSource::Values(
                        rows.into_iter().map(|row| row.into_iter().map(|v| v.map(|e| r.expr(e))).collect()).collect(),
                    ),
                };
                s.on_duplicate = s.on_duplicate.into_iter().map(|(c, v)| (c, v.map(|e| r.expr(e)))).collect();
                Bound::Insert(s)
            }
            Bound::Update(mut s) => {
                s.rel = r.changed(s.rel)?;
                for t in &mut s.targets {
                    let list = std::mem::take(&mut t.assignments);
                    t.assignments = list.into_iter().map(|(c, v)| (c, v.map(|e| r.expr(e)))).collect();
                }
                Bound::Update(s)
            }
            Bound::Delete(mut s) => {
                s.rel = r.changed(s.rel)?;
                Bound::Delete(s)
            }
            Bound::Do(list) => Bound::Do(list.into_iter().map(|e| r.expr(e)).collect()),
        };
        Ok((bound, r.into_warnings()))
    }
}
