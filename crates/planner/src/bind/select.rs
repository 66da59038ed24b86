//! One SELECT: from its clauses to `Filter → Aggregate → Filter → Window → Project → Distinct → Sort → Limit`.

use std::collections::BTreeSet;

use selkie_expr::{Expr, ExprKind, SortKey};
use selkie_parser::ast;
use selkie_types::{SqlMode, SqlResult, sql_err};

use super::query::Around;
use super::{Binder, Block, Clause, Item};
use crate::context::AccessKind;
use crate::exprs::{self, conjuncts, same};
use crate::logical::{ColId, LogicalQuery, Rel};

/// A select item before its place in the tree is known.
struct Output {
    name: String,
    expr: Expr,
}

/// What turns expressions over the FROM columns into expressions over a group's row.
struct Grouping {
    keys: Vec<(ColId, Expr)>,
    first_row: Vec<(ColId, Expr)>,
    /// Results of aggregates and windows, and columns of key expressions: stay as they are.
    results: BTreeSet<ColId>,
    /// Columns of the FROM clause.
    inputs: BTreeSet<ColId>,
    implicit: bool,
}

impl Binder<'_> {
    pub(super) fn select(&mut self, s: &ast::Select, around: &Around<'_>) -> SqlResult<LogicalQuery> {
        let mut lock = around.lock;
        if let Some(outer) = self.view_lock.take()
            && lock.0 == crate::plan::LockMode::None
        {
            lock = outer;
        }
        let block = self.block();
        *block = Block::new();
        (block.lock, block.wait) = lock;
        block.named_windows = s.windows.clone();
        self.check_windows()?;
        let mut rel = self.bind_from(&s.from)?;
        if s.options.straight_join {
            rel = straight(rel);
        }
        if s.items.is_empty() {
            return Err(sql_err!(ER_NO_TABLES_USED));
        }
        let mut conds = Vec::new();
        if let Some(w) = &s.where_clause {
            self.block().clause = Clause::Where;
            conjuncts(self.condition(w)?, &mut conds);
        }
        let conds_where = conds;
        self.select_items(s)?;
        if s.items.iter().any(|i| matches!(i, ast::SelectItem::Wildcard { .. })) && s.from.is_empty() {
            return Err(sql_err!(ER_NO_TABLES_USED));
        }
        let groups = self.group_terms(s)?;
        let having = self.having(s)?;
        let order = self.order_terms(s, around)?;
        let block = self.block();
        block.aggregates_allowed = false;
        block.windows_allowed = false;
        let calls = std::mem::take(&mut block.calls);
        let mut windows = std::mem::take(&mut block.windows);
        let items = block.items.clone();
        let mut outputs: Vec<Output> = items.into_iter().map(|i| Output { name: i.name, expr: i.expr }).collect();
        let mut keys: Vec<SortKey> = order;
        let mut having = having;

        let mut inputs = Vec::new();
        rel.columns(&mut inputs);
        rel = rel.filter(conds_where);
        let grouped = !s.group_by.is_empty() || !calls.is_empty();
        if grouped {
            let mut g = Grouping {
                keys: Vec::new(),
                first_row: Vec::new(),
                results: calls.iter().map(|(id, _)| *id).chain(windows.iter().map(|(id, _)| *id)).collect(),
                inputs: inputs.into_iter().collect(),
                implicit: s.group_by.is_empty(),
            };
            self.make_keys(&mut g, groups, s.with_rollup);
            for o in &mut outputs {
                o.expr = self.over_groups(&mut g, o.expr.clone())?;
            }
            for h in &mut having {
                *h = self.over_groups(&mut g, h.clone())?;
            }
            for k in &mut keys {
                k.expr = self.over_groups(&mut g, k.expr.clone())?;
            }
            let mut failed = None;
            windows = windows
                .into_iter()
                .map(|(id, w)| {
                    let w = exprs::map_window(w, &mut |e| match self.over_groups(&mut g, e.clone()) {
                        Ok(e) => e,
                        Err(err) => {
                            failed = Some(err);
                            e
                        }
                    });
                    (id, w)
                })
                .collect();
            if let Some(e) = failed {
                return Err(e);
            }
            if s.with_rollup && !around.order_by.is_empty() {
                return Err(sql_err!(ER_WRONG_USAGE, "CUBE/ROLLUP", "ORDER BY"));
            }
            // GROUP BY without ORDER BY gives its rows in the order of the keys.
            if around.order_by.is_empty() && around.ordered && !s.with_rollup {
                keys = g
                    .keys
                    .iter()
                    .zip(&s.group_by)
                    .map(|((id, _), i)| SortKey { expr: self.arena.column(*id), descending: i.desc.unwrap_or(false) })
                    .collect();
            }
            rel = Rel::Aggregate {
                input: Box::new(rel),
                keys: g.keys,
                calls,
                first_row: g.first_row,
                rollup: s.with_rollup && !s.group_by.is_empty(),
            };
        }
        rel = rel.filter(having);
        if !windows.is_empty() {
            rel = Rel::Window { input: Box::new(rel), calls: windows };
        }
        if !(around.ordered || around.limit.is_some()) {
            keys.clear();
        }
        self.finish_select(rel, outputs, keys, s, around)
    }

    /// Projection, DISTINCT, ORDER BY and LIMIT.
    fn finish_select(
        &mut self,
        mut rel: Rel,
        outputs: Vec<Output>,
        mut keys: Vec<SortKey>,
        s: &ast::Select,
        around: &Around<'_>,
    ) -> SqlResult<LogicalQuery> {
        let mut output: Vec<(String, ColId)> = Vec::with_capacity(outputs.len());
        let mut early: Vec<(ColId, Expr)> = Vec::new();
        let mut late: Vec<(ColId, Expr)> = Vec::new();
        for o in outputs {
            if let ExprKind::Column(id) = o.expr.kind {
                output.push((o.name, id));
                continue;
            }
            let id = self.arena.add_for(&o.name, &o.expr);
            let mut used = s.options.distinct;
            for k in keys.iter_mut().filter(|k| same(&k.expr, &o.expr)) {
                k.expr = self.arena.column(id);
                used = true;
            }
            output.push((o.name, id));
            if used || keys.is_empty() {
                early.push((id, o.expr));
            } else {
                late.push((id, o.expr));
            }
        }
        keys.retain(|k| !matches!(k.expr.kind, ExprKind::Const(_)));
        for k in &mut keys {
            if !matches!(k.expr.kind, ExprKind::Column(_)) {
                let id = self.arena.add_for("order", &k.expr);
                let e = std::mem::replace(&mut k.expr, self.arena.column(id));
                early.push((id, e));
            }
        }
        rel = rel.project(early);
        if s.options.distinct {
            let cols = output.iter().map(|(_, c)| *c).collect();
            rel = Rel::Distinct { input: Box::new(rel), cols };
        }
        if !keys.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys };
        }
        rel = self.limit(rel, around.limit)?;
        rel = rel.project(late);
        Ok(LogicalQuery { rel, output, params: Vec::new(), calc_found_rows: s.options.calc_found_rows })
    }

    /// Binds the select list into `Block::items`.
    fn select_items(&mut self, s: &ast::Select) -> SqlResult<()> {
        let block = self.block();
        block.clause = Clause::FieldList;
        block.aggregates_allowed = true;
        block.windows_allowed = true;
        let mut items: Vec<Item> = Vec::with_capacity(s.items.len());
        for item in &s.items {
            self.select_item(item, &mut items)?;
        }
        self.block().items = items;
        Ok(())
    }

    /// Binds one select item; a wildcard gives several.
    pub(super) fn select_item(&mut self, item: &ast::SelectItem, items: &mut Vec<Item>) -> SqlResult<()> {
        match item {
            ast::SelectItem::Wildcard { db, table: None } if db.is_none() => {
                let star = self.block().scope.star.clone();
                for c in star.iter().filter(|c| !c.invisible) {
                    let t = &self.block().scope.tables[c.table];
                    if let (Some(db), Some(name)) = (t.db.clone(), t.name.clone()) {
                        self.access(&db, &name, Some(&c.name), AccessKind::Select);
                    }
                    items.push(Item { name: c.name.clone(), expr: self.arena.column(c.id) });
                }
            }
            ast::SelectItem::Wildcard { db, table } => {
                let table = table.as_ref().map(|t| t.value.as_str()).unwrap_or_default();
                let db = db.as_ref().map(|d| d.value.as_str());
                let Some(t) = self.block().scope.table(db, table).cloned() else {
                    let db = db.or(self.current_db.as_deref());
                    let name = db.map_or_else(|| table.to_owned(), |d| format!("{d}.{table}"));
                    return Err(sql_err!(ER_BAD_TABLE_ERROR, name));
                };
                for c in t.columns.iter().filter(|c| !c.invisible) {
                    if let (Some(db), Some(name)) = (&t.db, &t.name) {
                        self.access(db, name, Some(&c.name), AccessKind::Select);
                    }
                    items.push(Item { name: c.name.clone(), expr: self.arena.column(c.id) });
                }
            }
            ast::SelectItem::Expr { expr, alias, text } => {
                let bound = self.expr(expr)?;
                let name = match alias {
                    Some(a) => a.value.clone(),
                    None => Self::item_name(expr, text),
                };
                items.push(Item { name, expr: bound });
            }
        }
        Ok(())
    }

    fn group_terms(&mut self, s: &ast::Select) -> SqlResult<Vec<Expr>> {
        let block = self.block();
        block.aggregates_allowed = false;
        block.windows_allowed = false;
        let mut groups: Vec<Expr> = Vec::with_capacity(s.group_by.len());
        for item in &s.group_by {
            groups.push(self.group_term(&item.expr)?);
        }
        self.block().groups = groups.clone();
        Ok(groups)
    }

    fn having(&mut self, s: &ast::Select) -> SqlResult<Vec<Expr>> {
        let mut having = Vec::new();
        if let Some(h) = &s.having {
            let block = self.block();
            block.clause = Clause::Having;
            block.aggregates_allowed = true;
            conjuncts(self.condition(h)?, &mut having);
            let windows: BTreeSet<ColId> = self.block().windows.iter().map(|(id, _)| *id).collect();
            if having.iter().any(|h| exprs::touches(h, &windows)) {
                return Err(sql_err!(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION));
            }
        }
        Ok(having)
    }

    fn order_terms(&mut self, s: &ast::Select, around: &Around<'_>) -> SqlResult<Vec<SortKey>> {
        let block = self.block();
        block.aggregates_allowed = true;
        block.windows_allowed = true;
        let mut keys: Vec<SortKey> = Vec::with_capacity(around.order_by.len());
        for item in around.order_by {
            if let Some(expr) = self.order_term(&item.expr)? {
                if keys.iter().any(|k| same(&k.expr, &expr)) {
                    continue;
                }
                keys.push(SortKey { expr, descending: item.desc.unwrap_or(false) });
            }
        }
        // One row needs no order.
        let implicit = s.group_by.is_empty() && !self.block().calls.is_empty() && self.block().windows.is_empty();
        if implicit {
            keys.clear();
        }
        Ok(keys)
    }

    fn make_keys(&mut self, g: &mut Grouping, groups: Vec<Expr>, rollup: bool) {
        for e in groups {
            if !rollup && g.keys.iter().any(|(_, k)| same(k, &e)) {
                continue;
            }
            let id = match e.kind {
                ExprKind::Column(c) if !rollup => c,
                _ => {
                    let name = match e.kind {
                        ExprKind::Column(c) => self.arena.info(c).name.clone(),
                        _ => String::from("group"),
                    };
                    let id = self.arena.add_for(&name, &e);
                    if rollup {
                        self.arena.info_mut(id).nullable = true;
                    }
                    id
                }
            };
            g.results.insert(id);
            g.keys.push((id, e));
        }
    }

    /// An expression over FROM columns as one over the group's row: group keys and aggregates stand for themselves,
    /// other columns have the value of the group's first row.
    fn over_groups(&mut self, g: &mut Grouping, e: Expr) -> SqlResult<Expr> {
        let mut failed = None;
        let strict = self.cx.sql_mode().has(SqlMode::ONLY_FULL_GROUP_BY);
        let new = exprs::replace(e, &mut |x| {
            if let Some((id, _)) = g.keys.iter().find(|(_, k)| same(k, x)) {
                return Some(self.arena.column(*id));
            }
            let ExprKind::Column(c) = x.kind else { return None };
            if g.results.contains(&c) || !g.inputs.contains(&c) {
                return None;
            }
            if strict {
                failed = Some(if g.implicit {
                    sql_err!(ER_MIX_OF_GROUP_FUNC_AND_FIELDS)
                } else {
                    sql_err!(ER_WRONG_FIELD_WITH_GROUP, self.column_name(x))
                });
            }
            let known = g.first_row.iter().find(|(_, k)| same(k, x)).map(|(id, _)| *id);
            let id = known.unwrap_or_else(|| {
                let id = self.arena.add_for(&self.arena.info(c).name.clone(), x);
                if g.implicit {
                    self.arena.info_mut(id).nullable = true;
                }
                g.first_row.push((id, x.clone()));
                id
            });
            Some(self.arena.column(id))
        });
        match failed {
            Some(e) => Err(e),
            None => Ok(new),
        }
    }
}

/// Every inner join of the tree keeps its order (SELECT STRAIGHT_JOIN).
fn straight(rel: Rel) -> Rel {
    match rel {
        Rel::Join { kind, left, right, on, null_aware, .. } => Rel::Join {
            kind,
            left: Box::new(straight(*left)),
            right: Box::new(straight(*right)),
            on,
            straight: true,
            null_aware,
        },
        other => other,
    }
}
