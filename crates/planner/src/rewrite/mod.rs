//! Rewrites of the logical tree: each in a file of its own, none knows another.
//!
//! | file | what it does |
//! |---|---|
//! | `fold` | evaluates constant parts of expressions, simplifies AND, OR, NOT |
//! | `in_list` | OR of equalities on one column becomes IN |
//! | `shared` | a common table expression with a single reference is put in its place |
//! | `unnest` | IN and EXISTS subqueries become semi- and anti-joins |
//! | `equality` | `a = b AND b = 5` gives `a = 5` |
//! | `pushdown` | moves conditions to where they can be checked first; outer joins become inner ones |
//! | `minmax` | MIN or MAX of an indexed column reads one entry |
//! | `redundant` | removes DISTINCT and ORDER BY that change nothing |

mod equality;
mod fold;
mod in_list;
mod minmax;
mod pushdown;
mod redundant;
mod shared;
mod unnest;

use std::sync::Arc;

use selkie_expr::{Expr, ExprKind, Subquery};
use selkie_types::{Level, SqlError, SqlResult};

use crate::context::PlanContext;
use crate::exprs;
use crate::logical::{Arena, LogicalQuery, Rel};

pub(crate) use fold::Folder;

/// Applies all rewrites to a statement's queries.
pub(crate) struct Rewriter<'a, 'c> {
    cx: &'a PlanContext<'c>,
    arena: &'a mut Arena,
    folder: Folder,
}

impl<'a, 'c> Rewriter<'a, 'c> {
    pub fn new(cx: &'a PlanContext<'c>, arena: &'a mut Arena) -> Self {
        let folder = Folder::new(&cx.bind);
        Rewriter { cx, arena, folder }
    }

    /// What evaluating constants has warned of.
    pub fn into_warnings(self) -> Vec<(Level, SqlError)> {
        self.folder.warnings
    }

    /// Rewrites the statement's main query.
    pub fn query(&mut self, mut q: LogicalQuery) -> SqlResult<LogicalQuery> {
        q.rel = self.statement(q.rel)?;
        Ok(q)
    }

    /// Rewrites the rows that UPDATE or DELETE look at.
    pub fn changed(&mut self, rel: Rel) -> SqlResult<Rel> {
        self.statement(rel)
    }

    fn statement(&mut self, rel: Rel) -> SqlResult<Rel> {
        let rel = shared::inline_single(rel, self.arena);
        for i in 0..self.arena.shared.len() {
            if let Some(mut s) = self.arena.shared[i].take() {
                s.seed.rel = self.tree(s.seed.rel);
                if let Some(r) = &mut s.recursive {
                    let rel = std::mem::replace(&mut r.rel, Rel::OneRow);
                    r.rel = self.tree(rel);
                }
                self.arena.shared[i] = Some(s);
            }
        }
        Ok(self.tree(rel))
    }

    /// Folds and simplifies a stand-alone expression, its subqueries included.
    pub fn expr(&mut self, e: Expr) -> Expr {
        let e = self.subqueries(e);
        in_list::from_disjunction(self.folder.fold(e))
    }

    /// All rewrites of one tree.
    fn tree(&mut self, rel: Rel) -> Rel {
        let rel = self.each_expr(rel);
        let rel = if self.cx.switches.semijoin { unnest::unnest(rel, self.arena, self.cx) } else { rel };
        let rel = equality::propagate(rel);
        let rel = pushdown::push_down(rel, self.arena, self.cx.switches.pushdown_derived);
        // What pushing has put together may say more.
        let rel = equality::propagate(rel);
        let rel = pushdown::push_down(rel, self.arena, self.cx.switches.pushdown_derived);
        let rel = minmax::one_entry(rel, self.arena);
        redundant::remove(rel)
    }

    fn each_expr(&mut self, rel: Rel) -> Rel {
        let rel = rel.map_inputs(&mut |r| self.each_expr(r));
        let rel = rel.map_exprs(&mut |e| self.expr(e));
        // Conditions that have become conjunctions are taken apart.
        match rel {
            Rel::Filter { input, conds } => {
                let mut out = Vec::with_capacity(conds.len());
                conds.into_iter().for_each(|c| exprs::conjuncts(c, &mut out));
                Rel::Filter { input, conds: out }
            }
            other => other,
        }
    }

    /// Rewrites the queries inside an expression.
    fn subqueries(&mut self, e: Expr) -> Expr {
        if !exprs::has_subquery(&e) {
            return e;
        }
        exprs::rewrite(e, &mut |mut x| {
            if let ExprKind::Subquery(s) = &mut x.kind
                && let Ok(q) = Arc::clone(&s.query.plan).downcast::<LogicalQuery>()
            {
                let mut q = (*q).clone();
                q.rel = self.tree(q.rel);
                s.query = Subquery { id: s.query.id, plan: Arc::new(q), columns: s.query.columns.clone() };
            }
            x
        })
    }
}
