//! Aggregate calls: which query level one belongs to, and its registration there.

use selkie_expr::bind;
use selkie_expr::{AggregateCall, Expr, SortKey};
use selkie_parser::ast;
use selkie_types::{SqlResult, sql_err};

use super::{Binder, Clause};
use crate::exprs::same;
use crate::logical::ColumnInfo;

fn same_call(a: &AggregateCall, b: &AggregateCall) -> bool {
    a.distinct == b.distinct
        && a.ty == b.ty
        && format!("{:?}", a.function) == format!("{:?}", b.function)
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(|(x, y)| same(x, y))
        && a.order_by.len() == b.order_by.len()
        && a.order_by.iter().zip(&b.order_by).all(|(x, y)| x.descending == y.descending && same(&x.expr, &y.expr))
}

impl Binder<'_> {
    /// The level that an aggregate over these arguments belongs to: the innermost whose columns it reads.
    fn aggregate_level(&mut self, f: &ast::FunctionCall) -> SqlResult<usize> {
        let top = self.frames.len() - 1;
        let mut refs = Vec::new();
        for a in &f.args {
            super::order::column_refs(a, &mut refs);
        }
        let mut level: Option<usize> = None;
        for c in refs {
            if let Some(l) = self.level_of(c) {
                level = Some(level.map_or(l, |x| x.max(l)));
            }
        }
        let level = level.unwrap_or(top);
        let block = &self.frames[level].block;
        if !block.aggregates_allowed || block.in_aggregate {
            return Err(sql_err!(ER_INVALID_GROUP_FUNC_USE));
        }
        Ok(level)
    }

    /// Binds an aggregate call: a reference to the group's result.
    pub(super) fn aggregate_call(&mut self, name: &str, f: &ast::FunctionCall) -> SqlResult<Expr> {
        let level = self.aggregate_level(f)?;
        let inner = self.frames.split_off(level + 1);
        let outer_windows = std::mem::replace(&mut self.block().windows_allowed, false);
        self.block().in_aggregate = true;
        let call = self.aggregate_parts(name, f);
        self.block().in_aggregate = false;
        self.block().windows_allowed = outer_windows;
        let call = match call {
            Ok(c) => c,
            Err(e) => {
                self.frames.extend(inner);
                return Err(e);
            }
        };
        let known = self.block().calls.iter().find(|(_, c)| same_call(c, &call)).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| {
            let id = self.arena.add(ColumnInfo {
                name: format!("{name}()"),
                ty: call.ty.clone(),
                nullable: call.nullable,
                coercibility: selkie_expr::Coercibility::Implicit,
                origin: None,
            });
            self.block().calls.push((id, call));
            id
        });
        self.frames.extend(inner);
        let e = self.arena.column(id);
        Ok(self.import(level, e))
    }

    /// Binds arguments and modifiers; also for aggregates with OVER.
    fn aggregate_parts(&mut self, name: &str, f: &ast::FunctionCall) -> SqlResult<AggregateCall> {
        let args = self.exprs(&f.args)?;
        let order_by = self.sort_keys(&f.order_by)?;
        let separator = f.separator.as_ref().map(|s| String::from_utf8_lossy(s).into_owned());
        let limit = match &f.limit {
            Some(l) => {
                let number = |e: &Option<ast::Expr>| match e {
                    Some(ast::Expr::Literal(ast::Literal::Int(n))) => Ok(Some(*n)),
                    None => Ok(None),
                    Some(_) => Err(sql_err!(ER_NOT_SUPPORTED_YET, "parameters in the LIMIT of an aggregate")),
                };
                Some((number(&l.offset)?.unwrap_or(0), number(&l.count)?.unwrap_or(u64::MAX)))
            }
            None => None,
        };
        bind::bind_aggregate(&self.cx.bind, name, f.distinct, args, order_by, separator.as_deref(), limit)
    }

    /// Sort keys of an aggregate or a window.
    pub(super) fn sort_keys(&mut self, items: &[ast::OrderItem]) -> SqlResult<Vec<SortKey>> {
        items.iter().map(|i| Ok(SortKey { expr: self.expr(&i.expr)?, descending: i.desc.unwrap_or(false) })).collect()
    }

    /// Runs `f` with names meaning what they do inside a window specification.
    pub(super) fn in_window<T>(&mut self, part: Clause, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        let block = self.block();
        let clause = std::mem::replace(&mut block.clause, part);
        let windows = std::mem::replace(&mut block.windows_allowed, false);
        let r = f(self);
        let block = self.block();
        block.clause = clause;
        block.windows_allowed = windows;
        r
    }
}
