//! Plans of INSERT, UPDATE and DELETE.

use std::collections::BTreeSet;
use std::sync::Arc;

use selkie_expr::Expr;
use selkie_types::{SqlResult, sql_err};

use super::{Env, Lowering, Want, internal};
use crate::bind::target::bind_target;
use crate::bind::{BoundDelete, BoundInsert, BoundInsertSource, BoundUpdate, Item};
use crate::exprs;
use crate::logical::{ColId, Rel};
use crate::plan::{
    Access, AssignedValue, DeletePlan, InsertPlan, InsertSource, OutputColumn, Plan, UpdatePlan, UpdateTarget,
};

impl Lowering<'_> {
    fn assigned(&mut self, v: &Option<Expr>, layout: &[ColId], env: &Env) -> SqlResult<AssignedValue> {
        Ok(match v {
            Some(e) => AssignedValue::Expr(self.expr(e, layout, env)?),
            None => AssignedValue::Default,
        })
    }

    fn returning(
        &mut self,
        items: &Option<Vec<Item>>,
        row: &[ColId],
    ) -> SqlResult<Option<(Vec<Expr>, Vec<OutputColumn>)>> {
        let Some(items) = items else { return Ok(None) };
        let env = Env::default();
        let mut list = Vec::with_capacity(items.len());
        let mut columns = Vec::with_capacity(items.len());
        for i in items {
            let origin = match i.expr.kind {
                selkie_expr::ExprKind::Column(c) => self.arena.info(c).origin.clone(),
                _ => None,
            };
            columns.push(OutputColumn {
                name: i.name.clone(),
                ty: i.expr.ty.clone(),
                nullable: i.expr.nullable,
                origin,
            });
            list.push(self.expr(&i.expr, row, &env)?);
        }
        Ok(Some((list, columns)))
    }

    /// INSERT and REPLACE.
    pub(crate) fn insert(&mut self, b: BoundInsert, params: usize) -> SqlResult<InsertPlan> {
        let env = Env::default();
        let mut target = bind_target(&b.table, self.cx)?;
        if let Some((view, cond)) = &b.view_check {
            target.view_check = Some((view.clone(), self.expr(cond, &b.row, &env)?));
        }
        let mut source_cols: Vec<ColId> = Vec::new();
        let source = match &b.source {
            BoundInsertSource::Values(rows) => {
                let mut out = Vec::with_capacity(rows.len());
                for r in rows {
                    let mut row = Vec::with_capacity(r.len());
                    for v in r {
                        row.push(self.assigned(v, &b.row, &env)?);
                    }
                    out.push(row);
                }
                InsertSource::Values(out)
            }
            BoundInsertSource::Query(q) => {
                source_cols = q.output.iter().map(|(_, c)| *c).collect();
                InsertSource::Query(Box::new(self.query(q, params)?))
            }
        };
        let mut layout = b.row.clone();
        layout.extend(&b.inserted);
        // A column of the source query has the value that the row to be inserted got from it.
        let from_source = exprs::Substitution::new(
            source_cols.iter().zip(&b.columns).map(|(s, c)| (*s, self.arena.column(b.inserted[*c]))),
        );
        let mut on_duplicate = Vec::with_capacity(b.on_duplicate.len());
        for (c, v) in &b.on_duplicate {
            let v = v.clone().map(|e| from_source.apply(e));
            let known = |x: &ColId| layout.contains(x);
            if let Some(other) = v.iter().flat_map(exprs::columns).find(|x| !known(x)) {
                return Err(sql_err!(ER_BAD_FIELD_ERROR, self.arena.info(other).name, "SELECT"));
            }
            on_duplicate.push((*c, self.assigned(&v, &layout, &env)?));
        }
        let returning = self.returning(&b.returning, &b.row)?;
        Ok(InsertPlan {
            target,
            columns: b.columns,
            source,
            replace: b.replace,
            ignore: b.ignore,
            on_duplicate,
            returning,
        })
    }

    /// Whether a tree reads a table other than as the target itself (or in a subquery).
    fn reads_elsewhere(rel: &Rel, table: u64, count: &mut usize) {
        if let Rel::Table(t) = rel
            && t.table.id == table
        {
            *count += 1;
        }
        rel.visit_exprs(&mut |e| {
            exprs::walk(e, &mut |x| {
                if let selkie_expr::ExprKind::Subquery(s) = &x.kind
                    && let Some(q) = s.query.plan.downcast_ref::<crate::logical::LogicalQuery>()
                {
                    *count += 1;
                    Self::reads_elsewhere(&q.rel, table, count);
                }
            });
        });
        for i in rel.inputs() {
            Self::reads_elsewhere(i, table, count);
        }
    }

    /// UPDATE.
    pub(crate) fn update(&mut self, b: BoundUpdate) -> SqlResult<UpdatePlan> {
        let env = Env::default();
        let mut need = BTreeSet::new();
        for t in &b.targets {
            need.extend(&t.cols);
            need.insert(t.row_key);
            for (_, v) in &t.assignments {
                v.iter().for_each(|e| exprs::columns_of(e, &mut need));
            }
        }
        let p = self.rel(&b.rel, &need, &env, &Want::default())?;
        let slot = |c: ColId| p.layout.iter().position(|x| *x == c);
        let mut materialize = b.multi;
        let mut targets = Vec::with_capacity(b.targets.len());
        for t in &b.targets {
            let mut target = bind_target(&t.table, self.cx)?;
            if let Some((view, cond)) = &t.view_check {
                target.view_check = Some((view.clone(), self.expr(cond, &t.cols, &env)?));
            }
            let (Some(row_slot), Some(key_slot)) = (slot(t.cols[0]), slot(t.row_key)) else {
                return Err(internal("an updated row is missing from its plan"));
            };
            if p.layout.get(row_slot..row_slot + t.cols.len()) != Some(&t.cols[..]) {
                return Err(internal("an updated row is not in one piece"));
            }
            let mut count = 0;
            Self::reads_elsewhere(&b.rel, t.table.id, &mut count);
            materialize |= count > 1;
            materialize |= walks_changed_index(&p.plan, t.table.id, &|c| {
                t.assignments.iter().any(|(a, _)| *a == c)
                    || t.table.columns[c].on_update_now
                    || t.table.columns[c].generated.is_some()
            });
            let mut assignments = Vec::with_capacity(t.assignments.len());
            for (c, v) in &t.assignments {
                assignments.push((*c, self.assigned(v, &p.layout, &env)?));
            }
            targets.push(UpdateTarget { target, key_slot, row_slot, assignments });
        }
        let shared = self.shared_list()?;
        Ok(UpdatePlan { input: p.plan, shared, targets, ignore: b.ignore, materialize })
    }

    /// DELETE.
    pub(crate) fn delete(&mut self, b: BoundDelete) -> SqlResult<DeletePlan> {
        let env = Env::default();
        let mut need = BTreeSet::new();
        for (_, cols, key) in &b.targets {
            need.extend(cols);
            need.insert(*key);
        }
        let p = self.rel(&b.rel, &need, &env, &Want::default())?;
        let slot = |c: ColId| p.layout.iter().position(|x| *x == c);
        let mut materialize = b.multi;
        let mut targets = Vec::with_capacity(b.targets.len());
        for (table, cols, key) in &b.targets {
            let (Some(row_slot), Some(key_slot)) = (slot(cols[0]), slot(*key)) else {
                return Err(internal("a deleted row is missing from its plan"));
            };
            let mut count = 0;
            Self::reads_elsewhere(&b.rel, table.id, &mut count);
            materialize |= count > 1;
            targets.push((Arc::clone(table), key_slot, row_slot));
        }
        let row = b.targets.first().map(|(_, c, _)| c.clone()).unwrap_or_default();
        let returning = self.returning(&b.returning, &row)?;
        let shared = self.shared_list()?;
        Ok(DeletePlan { input: p.plan, shared, targets, ignore: b.ignore, returning, materialize })
    }
}

/// Whether the plan walks an index of the table by a column that the statement changes (it might meet a row again).
fn walks_changed_index(p: &Plan, table: u64, changed: &dyn Fn(usize) -> bool) -> bool {
    match p {
        Plan::Scan(s) if s.table.id == table => {
            let index = match &s.access {
                Access::Full => s.table.primary_key().map(|_| 0),
                Access::IndexScan { index } | Access::Ranges { index, .. } => Some(*index),
                Access::Point { .. } | Access::Empty => None,
            };
            index.is_some_and(|i| s.table.indexes[i].parts.iter().any(|p| changed(p.column)))
        }
        Plan::Filter { input, .. } | Plan::Project { input, .. } | Plan::Limit { input, .. } => {
            walks_changed_index(input, table, changed)
        }
        // A sort has read everything before it gives the first row.
        _ => false,
    }
}
