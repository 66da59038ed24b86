//! Common table expressions.
//!
//! A simple one is bound anew at each reference and merged there; any other is bound once and shared (one that turns
//! out to have a single reference is put back in place by the rewrites). A recursive one is a seed, bound first and
//! fixing the column types, and a recursive part that reads the rows of the previous round.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use selkie_expr::Coercibility;
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::Binder;
use super::from::{is_mergeable, strip_sort};
use super::scope::{Scope, ScopeColumn, ScopeTable};
use crate::logical::{ColId, ColumnInfo, LogicalQuery, Rel, SharedQuery};

/// What a reference needs to know of a shared result.
#[derive(Debug, Clone)]
struct SharedColumns {
    id: usize,
    columns: Vec<(String, SqlType, bool)>,
}

/// A definition in WITH.
#[derive(Debug)]
pub(super) struct CteDef {
    name: String,
    columns: Vec<String>,
    query: ast::Query,
    /// How many definitions are visible inside this one.
    visible: usize,
    recursive: bool,
    shared: RefCell<Option<SharedColumns>>,
    /// While its recursive part is bound.
    in_recursion: Cell<bool>,
    /// While its seed is bound.
    in_seed: Cell<bool>,
}

/// Whether a FROM clause anywhere in the query names the table (without a database).
fn mentions(q: &ast::Query, name: &str) -> bool {
    set_expr_mentions(&q.body, name) || q.with.as_ref().is_some_and(|w| w.ctes.iter().any(|c| mentions(&c.query, name)))
}

fn set_expr_mentions(e: &ast::SetExpr, name: &str) -> bool {
    match e {
        ast::SetExpr::Select(s) => {
            s.from.iter().any(|r| ref_mentions(r, name))
                || s.where_clause.as_ref().is_some_and(|w| expr_mentions(w, name))
        }
        ast::SetExpr::Values(_) => false,
        ast::SetExpr::Query(q) => mentions(q, name),
        ast::SetExpr::SetOps { first, rest } => {
            set_expr_mentions(first, name) || rest.iter().any(|t| set_expr_mentions(&t.term, name))
        }
    }
}

fn expr_mentions(e: &ast::Expr, name: &str) -> bool {
    match e {
        ast::Expr::Exists(q) | ast::Expr::Subquery(q) => mentions(q, name),
        ast::Expr::InSubquery { query, .. } | ast::Expr::Quantified { query, .. } => mentions(query, name),
        ast::Expr::And(v) | ast::Expr::Or(v) => v.iter().any(|x| expr_mentions(x, name)),
        ast::Expr::Unary { expr, .. } => expr_mentions(expr, name),
        ast::Expr::Binary { left, right, .. } => expr_mentions(left, name) || expr_mentions(right, name),
        _ => false,
    }
}

fn ref_mentions(r: &ast::TableRef, name: &str) -> bool {
    match r {
        ast::TableRef::Table(t) => t.name.db.is_none() && t.name.name.value.eq_ignore_ascii_case(name),
        ast::TableRef::Derived { query, .. } => mentions(query, name),
        ast::TableRef::JsonTable(_) => false,
        ast::TableRef::Join(j) => ref_mentions(&j.left, name) || ref_mentions(&j.right, name),
        ast::TableRef::Nested(v) => v.iter().any(|r| ref_mentions(r, name)),
    }
}

impl Binder<'_> {
    /// Makes a WITH clause's names visible; returns how many were visible before.
    pub(super) fn push_with(&mut self, with: &ast::With) -> SqlResult<usize> {
        let before = self.ctes.len();
        for (i, c) in with.ctes.iter().enumerate() {
            if with.ctes[..i].iter().any(|o| o.name.value.eq_ignore_ascii_case(&c.name.value)) {
                return Err(sql_err!(ER_DUP_QUERY_NAME, c.name.value));
            }
            self.ctes.push(Rc::new(CteDef {
                name: c.name.value.clone(),
                columns: c.columns.iter().map(|n| n.value.clone()).collect(),
                query: (*c.query).clone(),
                visible: self.ctes.len(),
                recursive: with.recursive && mentions(&c.query, &c.name.value),
                shared: RefCell::new(None),
                in_recursion: Cell::new(false),
                in_seed: Cell::new(false),
            }));
        }
        Ok(before)
    }

    /// Ends the visibility of what [`Self::push_with`] added.
    pub(super) fn pop_with(&mut self, before: usize) {
        self.ctes.truncate(before);
    }

    /// A reference to a common table expression, if one of that name is visible.
    pub(super) fn cte_reference(&mut self, name: &str, alias: &str) -> SqlResult<Option<(Rel, Scope)>> {
        let Some(position) = self.ctes.iter().rposition(|c| c.name.eq_ignore_ascii_case(name)) else {
            return Ok(None);
        };
        let def = Rc::clone(&self.ctes[position]);
        if def.in_seed.get() {
            return Err(sql_err!(ER_RECURSIVE_WITHOUT_ANCHORS, def.name));
        }
        let shared = def.shared.borrow().clone();
        if let Some(s) = shared {
            return Ok(Some(self.shared_reference(&s, alias, def.in_recursion.get())));
        }
        if def.recursive {
            let s = self.bind_recursive(&def, position)?;
            return Ok(Some(self.shared_reference(&s, alias, false)));
        }
        let hidden = self.ctes.split_off(def.visible);
        let bound = self.nested(true, |b| b.query(&def.query, false));
        self.ctes.truncate(def.visible);
        self.ctes.extend(hidden);
        let mut q = bound?.0;
        rename(&mut q, &def.columns)?;
        q.rel = strip_sort(q.rel);
        if is_mergeable(&q.rel) && self.cx.switches.derived_merge {
            return self.as_table(q, None, alias, true).map(Some);
        }
        let columns = q
            .output
            .iter()
            .map(|(n, c)| {
                let i = self.arena.info(*c);
                (n.clone(), i.ty.clone(), i.nullable)
            })
            .collect::<Vec<_>>();
        let types = columns.iter().map(|(_, t, _)| t.clone()).collect();
        let id = self.arena.shared.len();
        self.arena.shared.push(Some(SharedQuery {
            name: def.name.clone(),
            seed: q,
            recursive: None,
            distinct: false,
            types,
        }));
        let s = SharedColumns { id, columns };
        *def.shared.borrow_mut() = Some(s.clone());
        Ok(Some(self.shared_reference(&s, alias, false)))
    }

    fn shared_reference(&mut self, s: &SharedColumns, alias: &str, delta: bool) -> (Rel, Scope) {
        let mut cols: Vec<ColId> = Vec::with_capacity(s.columns.len());
        let mut columns = Vec::with_capacity(s.columns.len());
        for (name, ty, nullable) in &s.columns {
            let id = self.arena.add(ColumnInfo {
                name: name.clone(),
                ty: ty.clone(),
                nullable: *nullable,
                coercibility: Coercibility::Implicit,
                origin: Some(crate::plan::ColumnOrigin {
                    db: String::new(),
                    table: alias.to_owned(),
                    org_table: alias.to_owned(),
                    org_name: name.clone(),
                    flags: 0,
                }),
            });
            cols.push(id);
            columns.push(ScopeColumn { name: name.clone(), id, invisible: false });
        }
        let scope = Scope::of(ScopeTable { db: None, alias: alias.to_owned(), name: None, columns });
        (Rel::Shared { id: s.id, delta, cols, alias: alias.to_owned() }, scope)
    }

    fn bind_recursive(&mut self, def: &Rc<CteDef>, position: usize) -> SqlResult<SharedColumns> {
        let ast::SetExpr::SetOps { first, rest } = &def.query.body else {
            return Err(sql_err!(ER_RECURSIVE_WITHOUT_ANCHORS, def.name));
        };
        // Seed: all leading terms that do not mention the table.
        let split = rest.iter().position(|t| set_expr_mentions(&t.term, &def.name));
        let (Some(split), false) = (split, set_expr_mentions(first, &def.name)) else {
            return Err(sql_err!(ER_RECURSIVE_WITHOUT_ANCHORS, def.name));
        };
        if rest[split..].iter().any(|t| t.op != ast::SetOp::Union) {
            return Err(sql_err!(ER_NOT_STANDARD_COMPLIANT_RECURSIVE, def.name));
        }
        let body = |first: &ast::SetExpr, rest: &[ast::SetTerm]| {
            let body = if rest.is_empty() {
                first.clone()
            } else {
                ast::SetExpr::SetOps { first: Box::new(first.clone()), rest: rest.to_vec() }
            };
            ast::Query { with: def.query.with.clone(), ..ast::Query::plain(body) }
        };
        let seed = body(first, &rest[..split]);
        let recursive = body(&rest[split].term, &rest[split + 1..]);
        let distinct = rest[split..].iter().any(|t| !t.all);
        let hidden = self.ctes.split_off(position + 1);
        let outcome = self.bind_rounds(def, &seed, &recursive, distinct);
        self.ctes.truncate(position + 1);
        self.ctes.extend(hidden);
        def.in_seed.set(false);
        def.in_recursion.set(false);
        outcome
    }

    fn bind_rounds(
        &mut self,
        def: &Rc<CteDef>,
        seed: &ast::Query,
        recursive: &ast::Query,
        distinct: bool,
    ) -> SqlResult<SharedColumns> {
        def.in_seed.set(true);
        let mut seed = self.nested(true, |b| b.query(seed, false))?.0;
        def.in_seed.set(false);
        rename(&mut seed, &def.columns)?;
        let columns: Vec<_> =
            seed.output.iter().map(|(n, c)| (n.clone(), self.arena.info(*c).ty.clone(), true)).collect();
        let id = self.arena.shared.len();
        self.arena.shared.push(None);
        let s = SharedColumns { id, columns };
        *def.shared.borrow_mut() = Some(s.clone());
        def.in_recursion.set(true);
        let mut rec = self.nested(true, |b| b.query(recursive, false))?.0;
        def.in_recursion.set(false);
        if rec.output.len() != s.columns.len() {
            return Err(sql_err!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        // The seed decides the types.
        let mut casts = Vec::new();
        for ((name, id), (_, ty, _)) in rec.output.iter_mut().zip(&s.columns) {
            if self.arena.info(*id).ty != *ty {
                let e = self.arena.column(*id).cast_to(ty);
                if matches!(e.kind, selkie_expr::ExprKind::Column(_)) {
                    continue;
                }
                let new = self.arena.add_for(name, &e);
                casts.push((new, e));
                *id = new;
            }
        }
        rec.rel = rec.rel.project(casts);
        let types = s.columns.iter().map(|(_, t, _)| t.clone()).collect();
        self.arena.shared[id] =
            Some(SharedQuery { name: def.name.clone(), seed, recursive: Some(rec), distinct, types });
        Ok(s)
    }
}

/// Gives the query's columns the names of a WITH element's list.
fn rename(q: &mut LogicalQuery, names: &[String]) -> SqlResult<()> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != q.output.len() {
        return Err(sql_err!(ER_WITH_COL_WRONG_LIST));
    }
    for (out, n) in q.output.iter_mut().zip(names) {
        out.0 = n.clone();
    }
    Ok(())
}
