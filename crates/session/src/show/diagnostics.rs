//! SHOW WARNINGS and SHOW ERRORS.

use selkie_parser::ast::Expr;
use selkie_types::{Level, SqlResult};

use super::Listing;
use crate::session::Session;

impl Session {
    pub(super) fn show_conditions(
        &mut self,
        errors_only: bool,
        offset: Option<&Expr>,
        count: Option<&Expr>,
    ) -> SqlResult<Listing> {
        let skip = self.row_limit(offset)?.unwrap_or(0);
        let take = self.row_limit(count)?.unwrap_or(usize::MAX);
        let mut listing = Listing::of("warnings");
        let shown = self.diag.conditions.iter().filter(|(l, _)| !errors_only || *l == Level::Error);
        for (level, e) in shown.skip(skip).take(take) {
            listing.rows.text(level.name()).uint(e.code().into()).text(e.message());
        }
        Ok(listing)
    }

    /// The number in a LIMIT clause.
    pub(super) fn row_limit(&mut self, e: Option<&Expr>) -> SqlResult<Option<usize>> {
        match e {
            Some(Expr::Literal(selkie_parser::ast::Literal::Int(n))) => Ok(Some(*n as usize)),
            Some(e) => Ok(Some(self.eval_number(e)? as usize)),
            None => Ok(None),
        }
    }

    pub(super) fn show_condition_count(&self, errors: bool) -> Listing {
        let name = if errors { "@@session.error_count" } else { "@@session.warning_count" };
        let mut listing = Listing::text(&[(name, 21)]);
        listing.columns[0].ty = selkie_types::SqlType::BIGINT;
        let count = match errors {
            true => self.diag.conditions.iter().filter(|(l, _)| *l == Level::Error).count() as u64,
            false => self.diag.total,
        };
        listing.rows.int(count as i64);
        listing
    }
}
