//! Resolution of column names at any depth.

use selkie_expr::{Expr, ExprKind};
use selkie_parser::ast;
use selkie_types::{SqlResult, sql_err};

use super::scope::Found;
use super::{Binder, Clause};
use crate::context::AccessKind;
use crate::exprs::same;

/// The name as messages show it.
pub(super) fn written(c: &ast::ColumnRef) -> String {
    let mut s = String::new();
    for part in [&c.db, &c.table].into_iter().flatten() {
        s.push_str(&part.value);
        s.push('.');
    }
    s.push_str(&c.name.value);
    s
}

impl Binder<'_> {
    /// Binds a column reference.
    pub(super) fn column_ref(&mut self, c: &ast::ColumnRef) -> SqlResult<Expr> {
        if c.table.is_none()
            && let Some((index, ty)) = self.cx.variables.local(&c.name.value)
        {
            return Ok(Expr::param(index, ty));
        }
        for level in (0..self.frames.len()).rev() {
            if let Some(e) = self.resolve_at(level, c)? {
                return Ok(self.import(level, e));
            }
            if self.frames[level].barrier {
                break;
            }
        }
        let clause = self.block().clause.words();
        Err(sql_err!(ER_BAD_FIELD_ERROR, written(c), clause))
    }

    /// The level whose FROM clause an aggregate's argument belongs to.
    pub(super) fn level_of(&mut self, c: &ast::ColumnRef) -> Option<usize> {
        for level in (0..self.frames.len()).rev() {
            if !matches!(self.look_up(level, c), Found::None) {
                return Some(level);
            }
            if self.frames[level].barrier {
                break;
            }
        }
        None
    }

    fn look_up(&self, level: usize, c: &ast::ColumnRef) -> Found<'_> {
        let db = c.db.as_ref().map(|i| i.value.as_str());
        let table = c.table.as_ref().map(|i| i.value.as_str());
        self.frames[level].block.scope.find(db, table, &c.name.value)
    }

    /// A column of the level's FROM clause.
    pub(super) fn resolve_from(&mut self, level: usize, c: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        let (id, access) = match self.look_up(level, c) {
            Found::None => return Ok(None),
            Found::Ambiguous => {
                let clause = self.block().clause.words();
                return Err(sql_err!(ER_NON_UNIQ_ERROR, written(c), clause));
            }
            Found::One { table, name, id } => {
                let access = table.and_then(|t| Some((t.db.clone()?, t.name.clone()?, name.to_owned())));
                (id, access)
            }
        };
        if let Some((db, table, column)) = access {
            self.access(&db, &table, Some(&column), AccessKind::Select);
        }
        Ok(Some(self.arena.column(id)))
    }

    /// A select item by its alias or name. Several different ones are ambiguous.
    pub(super) fn resolve_item(&mut self, level: usize, c: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        // A qualified name may stand for an item that is that very column.
        if c.table.is_some() {
            let Some(column) = self.resolve_from(level, c)? else { return Ok(None) };
            let found = self.frames[level].block.items.iter().any(|i| same(&i.expr, &column));
            return Ok(found.then_some(column));
        }
        let items = &self.frames[level].block.items;
        let mut found: Option<&Expr> = None;
        for item in items.iter().filter(|i| i.name.eq_ignore_ascii_case(&c.name.value)) {
            match found {
                Some(f) if !same(f, &item.expr) => {
                    let clause = self.block().clause.words();
                    return Err(sql_err!(ER_NON_UNIQ_ERROR, written(c), clause));
                }
                _ => found = Some(&item.expr),
            }
        }
        Ok(found.cloned())
    }

    fn resolve_at(&mut self, level: usize, c: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        let block = &self.frames[level].block;
        if block.in_aggregate {
            return self.resolve_from(level, c);
        }
        match block.clause {
            Clause::Group | Clause::Order => match self.resolve_from(level, c)? {
                Some(e) => Ok(Some(e)),
                None => self.resolve_item(level, c),
            },
            Clause::Having => {
                // GROUP BY columns win over aliases.
                let column = match self.look_up(level, c) {
                    Found::One { id, .. } => Some(self.arena.column(id)),
                    _ => None,
                };
                if let Some(column) = column
                    && self.frames[level].block.groups.iter().any(|g| same(g, &column))
                {
                    return self.resolve_from(level, c);
                }
                self.resolve_item(level, c)
            }
            _ => self.resolve_from(level, c),
        }
    }

    /// The name that an unaliased select item gets.
    pub(super) fn item_name(expr: &ast::Expr, text: &str) -> String {
        match expr {
            ast::Expr::Column(c) => c.name.value.clone(),
            ast::Expr::Literal(ast::Literal::Str(s)) => s.to_text(),
            ast::Expr::Literal(ast::Literal::Null | ast::Literal::True | ast::Literal::False) => text.to_uppercase(),
            _ => text.to_owned(),
        }
    }

    /// Whether the expression is an untouched column, for messages.
    pub(super) fn column_name(&self, e: &Expr) -> String {
        match e.kind {
            ExprKind::Column(id) => {
                let info = self.arena.info(id);
                match &info.origin {
                    Some(o) => format!("{}.{}.{}", o.db, o.table, o.org_name),
                    None => info.name.clone(),
                }
            }
            _ => String::from("expression"),
        }
    }
}
