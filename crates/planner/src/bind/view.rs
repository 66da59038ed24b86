//! Views: their stored text is parsed and bound in the view's database.

use std::sync::Arc;

use selkie_catalog::{Table, ViewDef};
use selkie_parser::ast;
use selkie_types::{SqlError, SqlResult, codes, sql_err};

use super::Binder;
use super::scope::Scope;
use crate::logical::{LogicalQuery, Rel};

/// Parses a view's text.
pub(super) fn parse_view(view: &ViewDef) -> SqlResult<ast::Query> {
    crate::text::parse_query(&view.query)
}

/// Errors inside a view that would tell of its insides are 1356 instead.
fn hide(e: SqlError, table: &Table) -> SqlError {
    match e.code() {
        codes::ER_NO_SUCH_TABLE
        | codes::ER_BAD_FIELD_ERROR
        | codes::ER_SP_DOES_NOT_EXIST
        | codes::ER_NO_SUCH_USER
        | codes::ER_NON_UNIQ_ERROR => sql_err!(ER_VIEW_INVALID, table.db, table.name),
        _ => e,
    }
}

impl Binder<'_> {
    /// Binds the query of a view with names as seen from inside.
    pub(super) fn view_query(&mut self, table: &Arc<Table>, view: &ViewDef) -> SqlResult<LogicalQuery> {
        let key = (table.db.clone(), table.name.clone());
        if self.views.contains(&key) {
            return Err(sql_err!(ER_VIEW_RECURSIVE, table.db, table.name));
        }
        let query = parse_view(view)?;
        self.views.push(key);
        let db = self.current_db.replace(table.db.clone());
        let definer = self.definer.clone();
        if view.security_definer {
            self.definer = Some(view.definer.clone());
        }
        let ctes = std::mem::take(&mut self.ctes);
        let (lock, wait) = (self.block().lock, self.block().wait);
        let bound = self.nested(true, |b| {
            b.view_lock = Some((lock, wait));
            b.query(&query, false)
        });
        self.view_lock = None;
        self.ctes = ctes;
        self.definer = definer;
        self.current_db = db;
        self.views.pop();
        let (mut q, _) = bound.map_err(|e| hide(e, table))?;
        if !view.columns.is_empty() {
            if view.columns.len() != q.output.len() {
                return Err(sql_err!(ER_VIEW_WRONG_LIST));
            }
            for (out, name) in q.output.iter_mut().zip(&view.columns) {
                out.0 = name.clone();
            }
        }
        Ok(q)
    }

    /// A view in FROM.
    pub(super) fn view(&mut self, table: &Arc<Table>, view: &ViewDef, alias: &str) -> SqlResult<(Rel, Scope)> {
        let q = self.view_query(table, view)?;
        let merge = !view.algorithm.eq_ignore_ascii_case("TEMPTABLE");
        self.as_table(q, Some((&table.db, &table.name)), alias, merge)
    }
}
