//! Whole queries: WITH, set operations, VALUES, and the ORDER BY and LIMIT around them.

use selkie_expr::bind;
use selkie_expr::{Coercibility, Expr, SortKey};
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::from::strip_sort;
use super::scope::{Scope, ScopeColumn, ScopeTable};
use super::{Binder, Clause};
use crate::logical::{ColId, ColumnInfo, LogicalQuery, Rel, SetOpKind};
use crate::plan::{LockMode, LockWait};

/// What stands around a SELECT.
pub(super) struct Around<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub lock: (LockMode, LockWait),
    /// Whether anybody sees the order of the rows.
    pub ordered: bool,
}

fn locking(l: &Option<ast::Locking>) -> (LockMode, LockWait) {
    let Some(l) = l else { return (LockMode::None, LockWait::Default) };
    let mode = match l.strength {
        ast::LockStrength::Update => LockMode::Exclusive,
        ast::LockStrength::Share => LockMode::Share,
    };
    let wait = match l.wait {
        None => LockWait::Default,
        Some(ast::LockWait::NoWait) => LockWait::NoWait,
        Some(ast::LockWait::SkipLocked) => LockWait::SkipLocked,
        Some(ast::LockWait::Wait(n)) => LockWait::Seconds(n.min(u32::MAX as u64) as u32),
    };
    (mode, wait)
}

impl Binder<'_> {
    /// Binds a query in the innermost frame. `ordered`: whether the order of its rows is seen.
    pub(super) fn query(&mut self, q: &ast::Query, ordered: bool) -> SqlResult<LogicalQuery> {
        let with = match &q.with {
            Some(w) => Some(self.push_with(w)?),
            None => None,
        };
        let bound = self.query_body(q, ordered);
        if let Some(before) = with {
            self.pop_with(before);
        }
        bound
    }

    fn query_body(&mut self, q: &ast::Query, ordered: bool) -> SqlResult<LogicalQuery> {
        let around = Around { order_by: &q.order_by, limit: q.limit.as_ref(), lock: locking(&q.locking), ordered };
        let inner_ordered = ordered && q.order_by.is_empty();
        match &q.body {
            ast::SetExpr::Select(s) => self.select(s, &around),
            ast::SetExpr::Values(rows) => {
                let bound = self.values(rows)?;
                self.order_result(bound, &around)
            }
            ast::SetExpr::Query(inner) => {
                let keep = inner_ordered || inner.limit.is_some();
                let bound = self.query(inner, keep)?;
                self.order_result(bound, &around)
            }
            ast::SetExpr::SetOps { first, rest } => {
                let bound = self.set_operations(first, rest)?;
                self.order_result(bound, &around)
            }
        }
    }

    fn term(&mut self, e: &ast::SetExpr) -> SqlResult<LogicalQuery> {
        match e {
            ast::SetExpr::Select(s) => {
                let around =
                    Around { order_by: &[], limit: None, lock: (LockMode::None, LockWait::Default), ordered: false };
                self.select(s, &around)
            }
            ast::SetExpr::Values(rows) => self.values(rows),
            ast::SetExpr::Query(q) => {
                let mut bound = self.query(q, q.limit.is_some())?;
                bound.rel = strip_sort(bound.rel);
                Ok(bound)
            }
            ast::SetExpr::SetOps { first, rest } => self.set_operations(first, rest),
        }
    }

    fn values(&mut self, rows: &[Vec<ast::Expr>]) -> SqlResult<LogicalQuery> {
        *self.block() = super::Block::new();
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        for r in rows {
            let mut refs = Vec::new();
            r.iter().for_each(|e| super::order::column_refs(e, &mut refs));
            if let Some(c) = refs.first() {
                return Err(sql_err!(ER_FIELD_REFERENCE_IN_TVC, c.name.value));
            }
            let r = self.exprs(r)?;
            if bound.first().is_some_and(|f| f.len() != r.len()) {
                return Err(sql_err!(ER_WRONG_NUMBER_OF_VALUES_IN_TVC));
            }
            bound.push(r);
        }
        let width = bound.first().map_or(0, Vec::len);
        let mut output = Vec::with_capacity(width);
        let mut types = Vec::with_capacity(width);
        for i in 0..width {
            let operands: Vec<&Expr> = bound.iter().map(|r| &r[i]).collect();
            let (ty, nullable, coercibility) = bind::common_type(&self.cx.bind, "VALUES", &operands)?;
            let name = match &rows[0][i] {
                ast::Expr::Literal(ast::Literal::Int(n)) => n.to_string(),
                ast::Expr::Literal(ast::Literal::Str(s)) => s.to_text(),
                _ => format!("column_{i}"),
            };
            let id =
                self.arena.add(ColumnInfo { name: name.clone(), ty: ty.clone(), nullable, coercibility, origin: None });
            output.push((name, id));
            types.push(ty);
        }
        let rows = bound.into_iter().map(|r| r.into_iter().zip(&types).map(|(e, t)| e.cast_to(t)).collect()).collect();
        let cols = output.iter().map(|(_, id)| *id).collect();
        Ok(LogicalQuery { rel: Rel::Values { rows, cols }, output, params: Vec::new(), calc_found_rows: false })
    }

    /// All terms, brought to common column types, combined from left to right.
    fn set_operations(&mut self, first: &ast::SetExpr, rest: &[ast::SetTerm]) -> SqlResult<LogicalQuery> {
        let mut terms = vec![self.term(first)?];
        for t in rest {
            terms.push(self.term(&t.term)?);
        }
        let width = terms[0].output.len();
        if terms.iter().any(|t| t.output.len() != width) {
            return Err(sql_err!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        let calc_found_rows = terms[0].calc_found_rows;
        let names: Vec<String> = terms[0].output.iter().map(|(n, _)| n.clone()).collect();
        let mut infos: Vec<(SqlType, bool, Coercibility)> = Vec::with_capacity(width);
        for i in 0..width {
            let operands: Vec<Expr> = terms.iter().map(|t| self.arena.column(t.output[i].1)).collect();
            let operands: Vec<&Expr> = operands.iter().collect();
            infos.push(bind::common_type(&self.cx.bind, "UNION", &operands)?);
        }
        let mut inputs = Vec::with_capacity(terms.len());
        for t in terms {
            let mut casts = Vec::new();
            let mut cols: Vec<ColId> = Vec::with_capacity(width);
            for ((name, id), (ty, _, _)) in t.output.iter().zip(&infos) {
                if self.arena.info(*id).ty == *ty {
                    cols.push(*id);
                } else {
                    let e = self.arena.column(*id).cast_to(ty);
                    if matches!(e.kind, selkie_expr::ExprKind::Column(_)) {
                        cols.push(*id);
                        continue;
                    }
                    let new = self.arena.add_for(name, &e);
                    casts.push((new, e));
                    cols.push(new);
                }
            }
            inputs.push((t.rel.project(casts), cols));
        }
        let fresh = |b: &mut Self| -> Vec<ColId> {
            names
                .iter()
                .zip(&infos)
                .map(|(name, (ty, nullable, coercibility))| {
                    b.arena.add(ColumnInfo {
                        name: name.clone(),
                        ty: ty.clone(),
                        nullable: *nullable,
                        coercibility: *coercibility,
                        origin: None,
                    })
                })
                .collect()
        };
        let mut inputs = inputs.into_iter();
        let Some(mut acc) = inputs.next() else { return Err(sql_err!(ER_NO_TABLES_USED)) };
        for (t, input) in rest.iter().zip(inputs) {
            let op = match t.op {
                ast::SetOp::Union => SetOpKind::Union,
                ast::SetOp::Except => SetOpKind::Except,
                ast::SetOp::Intersect => SetOpKind::Intersect,
            };
            acc = match acc {
                // Neighbouring unions are one; the last UNION DISTINCT removes the repetitions of all before it.
                (Rel::SetOp { op: SetOpKind::Union, all, mut inputs, cols }, _)
                    if op == SetOpKind::Union && (all == t.all || !t.all) =>
                {
                    inputs.push(input);
                    let c = cols.clone();
                    (Rel::SetOp { op, all: t.all, inputs, cols }, c)
                }
                other => {
                    let cols = fresh(self);
                    (Rel::SetOp { op, all: t.all, inputs: vec![other, input], cols: cols.clone() }, cols)
                }
            };
        }
        let output = names.into_iter().zip(acc.1).collect();
        Ok(LogicalQuery { rel: acc.0, output, params: Vec::new(), calc_found_rows })
    }

    /// ORDER BY and LIMIT around something that is not a plain SELECT: only its result columns can be named.
    fn order_result(&mut self, mut q: LogicalQuery, around: &Around<'_>) -> SqlResult<LogicalQuery> {
        if !around.order_by.is_empty() {
            let columns = q
                .output
                .iter()
                .map(|(n, id)| ScopeColumn { name: n.clone(), id: *id, invisible: false })
                .collect::<Vec<_>>();
            let items =
                q.output.iter().map(|(n, id)| super::Item { name: n.clone(), expr: self.arena.column(*id) }).collect();
            let block = self.block();
            *block = super::Block::new();
            block.scope = Scope::of(ScopeTable { db: None, alias: String::new(), name: None, columns });
            block.items = items;
            block.clause = Clause::Order;
            let mut keys = Vec::new();
            let mut computed = Vec::new();
            for item in around.order_by {
                if let ast::Expr::Column(ast::ColumnRef { table: Some(t), .. }) = &item.expr {
                    return Err(sql_err!(ER_TABLENAME_NOT_ALLOWED_HERE, t.value, "ORDER BY"));
                }
                let Some(mut expr) = self.order_term(&item.expr)? else { continue };
                if !matches!(expr.kind, selkie_expr::ExprKind::Column(_)) {
                    let id = self.arena.add_for("order", &expr);
                    computed.push((id, expr));
                    expr = self.arena.column(id);
                }
                keys.push(SortKey { expr, descending: item.desc.unwrap_or(false) });
            }
            if !keys.is_empty() && (around.ordered || around.limit.is_some()) {
                q.rel = Rel::Sort { input: Box::new(q.rel.project(computed)), keys };
            }
        }
        q.rel = self.limit(q.rel, around.limit)?;
        Ok(q)
    }

    /// Puts LIMIT on top.
    pub(super) fn limit(&mut self, rel: Rel, limit: Option<&ast::Limit>) -> SqlResult<Rel> {
        let Some(l) = limit else { return Ok(rel) };
        let count = l.count.as_ref().map(|e| self.limit_value(e)).transpose()?;
        let offset = l.offset.as_ref().map(|e| self.limit_value(e)).transpose()?;
        if count.is_none() && offset.is_none() {
            return Ok(rel);
        }
        if let (true, Some(count)) = (l.with_ties, &count) {
            return self.with_ties(rel, count.clone(), offset);
        }
        Ok(Rel::Limit { input: Box::new(rel), count, offset })
    }

    /// `FETCH FIRST n ROWS WITH TIES`: the rows whose rank is at most `n`, but for the first `offset`.
    fn with_ties(&mut self, rel: Rel, count: Expr, offset: Option<Expr>) -> SqlResult<Rel> {
        let Rel::Sort { input, keys } = rel else { return Err(sql_err!(ER_WITH_TIES_NEEDS_ORDER)) };
        let cx = &self.cx.bind;
        let mut calls = Vec::new();
        let mut number = |b: &mut Self, function: &str| -> SqlResult<Expr> {
            let spec = bind::WindowSpec { partition_by: Vec::new(), order_by: keys.clone(), frame: None };
            let call = bind::bind_window(&b.cx.bind, function, false, Vec::new(), None, spec)?;
            let id = b.arena.add(ColumnInfo {
                name: function.to_owned(),
                ty: call.ty.clone(),
                nullable: false,
                coercibility: Coercibility::Implicit,
                origin: None,
            });
            calls.push((id, call));
            Ok(b.arena.column(id))
        };
        let rank = number(self, "rank")?;
        let mut conds = Vec::new();
        let last = match offset {
            Some(offset) => {
                let row = number(self, "row_number")?;
                conds.push(bind::bind_compare(cx, selkie_expr::CmpOp::Gt, row, offset.clone())?);
                bind::bind_binary(cx, bind::BinaryOp::Add, count, offset)?
            }
            None => count,
        };
        conds.push(bind::bind_compare(cx, selkie_expr::CmpOp::Le, rank, last)?);
        let ranked = Rel::Window { input, calls }.filter(conds);
        Ok(Rel::Sort { input: Box::new(ranked), keys })
    }

    fn limit_value(&mut self, e: &ast::Expr) -> SqlResult<Expr> {
        let mut bound = self.expr(e)?;
        self.infer(&mut bound, &SqlType::BIGINT_UNSIGNED);
        Ok(bound)
    }
}
