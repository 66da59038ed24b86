//! Rewrites of the logical tree.

use selkie_types::SqlResult;

use crate::context::PlanContext;
use crate::logical::{Arena, LogicalQuery, Rel};

/// Applies all rewrites to a statement's queries.
pub(crate) struct Rewriter<'a, 'c> {
    #[allow(dead_code)]
    cx: &'a PlanContext<'c>,
    #[allow(dead_code)]
    arena: &'a mut Arena,
}

impl<'a, 'c> Rewriter<'a, 'c> {
    pub fn new(cx: &'a PlanContext<'c>, arena: &'a mut Arena) -> Self {
        Rewriter { cx, arena }
    }

    /// Rewrites a query.
    pub fn query(&mut self, q: LogicalQuery) -> SqlResult<LogicalQuery> {
        Ok(q)
    }

    /// Rewrites the rows that UPDATE or DELETE look at.
    pub fn changed(&mut self, rel: Rel) -> SqlResult<Rel> {
        Ok(rel)
    }
}
