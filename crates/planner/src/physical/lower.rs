//! Operators one by one; scans and joins stand in `group`.

use std::collections::BTreeSet;
use std::sync::Arc;

use selkie_expr::{Expr, ExprKind, SortKey};
use selkie_types::{SqlResult, SqlType, Value};

use super::{Env, Lowering, Phys, Want, cost, internal};
use crate::exprs;
use crate::logical::{ColId, Rel, SetOpKind};
use crate::plan::{JsonTable, Plan};

/// The value of a constant LIMIT.
fn limit_number(e: &Option<Expr>) -> Option<f64> {
    match e.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Const(Value::Int(i))) => Some(*i as f64),
        Some(ExprKind::Const(Value::UInt(i))) => Some(*i as f64),
        _ => None,
    }
}

impl Lowering<'_> {
    /// Plans a tree so that it produces the columns of `need`.
    pub(super) fn rel(&mut self, r: &Rel, need: &BTreeSet<ColId>, env: &Env, want: &Want) -> SqlResult<Phys> {
        match r {
            Rel::OneRow => Ok(Phys { plan: Plan::OneRow, layout: Vec::new(), rows: 1.0, cost: 0.0, ordered: true }),
            Rel::Empty => Ok(self.nothing(need, env)),
            Rel::Values { rows, cols } => {
                let mut out = Vec::with_capacity(rows.len());
                for r in rows {
                    out.push(self.exprs(r, &[], env)?);
                }
                let types = self.types(cols);
                let n = out.len() as f64;
                let ordered = want.order.is_empty();
                Ok(Phys { plan: Plan::Values { rows: out, types }, layout: cols.clone(), rows: n, cost: n, ordered })
            }
            Rel::Table(_) | Rel::Join { .. } | Rel::Filter { .. } | Rel::Virtual(_) => self.group(r, need, env, want),
            Rel::Shared { id, delta, cols, .. } => {
                self.shared_used = Some(self.shared_used.map_or(*id, |u| u.max(*id)));
                let types = self.types(cols);
                let ordered = want.order.is_empty();
                let plan = Plan::SharedScan { id: *id, delta: *delta, types };
                Ok(Phys { plan, layout: cols.clone(), rows: 100.0, cost: 100.0, ordered })
            }
            Rel::JsonTable(t) => {
                let document = self.expr(&t.document, &[], env)?;
                let plan = Plan::JsonTable(Box::new(JsonTable {
                    document,
                    path: t.path.clone(),
                    columns: t.columns.clone(),
                    alias: t.alias.clone(),
                }));
                let ordered = want.order.is_empty();
                Ok(Phys { plan, layout: t.cols.clone(), rows: 10.0, cost: 10.0, ordered })
            }
            Rel::Derived { input, output, .. } => self.derived(input, output, need, env, want),
            Rel::Project { input, exprs } => self.project(input, exprs, need, env, want),
            Rel::Aggregate { .. } => self.aggregate(r, need, env, want),
            Rel::Window { input, calls } => {
                let mut below = need.clone();
                for (id, w) in calls {
                    below.remove(id);
                    exprs::visit_window(w, &mut |e| exprs::columns_of(e, &mut below));
                }
                let p = self.rel(input, &below, env, &Want::default())?;
                let mut layout = p.layout.clone();
                let mut out = Vec::with_capacity(calls.len());
                for (id, w) in calls {
                    let mut failed = None;
                    let w = exprs::map_window(w.clone(), &mut |e| match self.expr(&e, &p.layout, env) {
                        Ok(e) => e,
                        Err(err) => {
                            failed = Some(err);
                            e
                        }
                    });
                    if let Some(e) = failed {
                        return Err(e);
                    }
                    out.push(w);
                    layout.push(*id);
                }
                let cost = p.cost + cost::sort(p.rows) * calls.len() as f64;
                Ok(Phys {
                    plan: Plan::Window { input: Box::new(p.plan), calls: out },
                    layout,
                    rows: p.rows,
                    cost,
                    ordered: want.order.is_empty(),
                })
            }
            Rel::Sort { input, keys } => self.sort(input, keys, need, env, want),
            Rel::Limit { input, count, offset } => self.limit(input, count, offset, need, env, want),
            Rel::Distinct { input, cols } => {
                let mut below = need.clone();
                below.extend(cols);
                let p = self.rel(input, &below, env, &Want::default())?;
                let mut front: Vec<ColId> = Vec::new();
                for c in cols {
                    if !front.contains(c) {
                        front.push(*c);
                    }
                }
                let width = front.len();
                front.extend(below.iter().filter(|c| !cols.contains(c) && p.layout.contains(c)));
                let p = self.arrange(p, &front, env)?;
                let layout = p.layout.clone();
                Ok(Phys {
                    plan: Plan::Distinct { input: Box::new(p.plan), width },
                    layout,
                    rows: (p.rows * 0.5).max(1.0),
                    cost: p.cost + p.rows * cost::HASH_BUILD,
                    ordered: want.order.is_empty(),
                })
            }
            Rel::SetOp { op, all, inputs, cols } => self.set_operation(*op, *all, inputs, cols, env, want),
        }
    }

    pub(super) fn types(&self, cols: &[ColId]) -> Vec<SqlType> {
        cols.iter().map(|c| self.arena.info(*c).ty.clone()).collect()
    }

    /// No rows, of the columns needed.
    pub(super) fn nothing(&self, need: &BTreeSet<ColId>, env: &Env) -> Phys {
        let layout: Vec<ColId> = need.iter().copied().filter(|c| !env.has(*c)).collect();
        let types = self.types(&layout);
        Phys { plan: Plan::Values { rows: Vec::new(), types }, layout, rows: 0.0, cost: 0.0, ordered: true }
    }

    fn derived(
        &mut self,
        input: &Rel,
        output: &[ColId],
        need: &BTreeSet<ColId>,
        env: &Env,
        want: &Want,
    ) -> SqlResult<Phys> {
        let mut cols: Vec<ColId> = Vec::new();
        for c in output.iter().filter(|c| need.contains(c)) {
            if !cols.contains(c) {
                cols.push(*c);
            }
        }
        let free: Vec<ColId> = input.free_columns().into_iter().collect();
        let inner = Env::of_params(&free);
        let names: Vec<String> = cols.iter().map(|c| self.arena.info(*c).name.clone()).collect();
        let mut correlated = Vec::with_capacity(free.len());
        for c in &free {
            let e = self.arena.column(*c);
            correlated.push(self.expr(&e, &[], env)?);
        }
        let (plan, cost, rows) = self.query_in(input, &cols, &names, &inner)?;
        Ok(Phys {
            plan: Plan::Derived { plan: Arc::new(plan), correlated },
            layout: cols,
            rows,
            cost,
            ordered: want.order.is_empty(),
        })
    }

    fn project(
        &mut self,
        input: &Rel,
        list: &[(ColId, Expr)],
        need: &BTreeSet<ColId>,
        env: &Env,
        want: &Want,
    ) -> SqlResult<Phys> {
        let used: Vec<&(ColId, Expr)> = list.iter().filter(|(c, e)| need.contains(c) || !exprs::is_pure(e)).collect();
        // One list may use columns that it makes itself (merged views): those are put below.
        let made: BTreeSet<ColId> = list.iter().map(|(c, _)| *c).collect();
        if let Some(split) = list.iter().position(|(_, e)| exprs::touches(e, &made)) {
            let (first, rest) = list.split_at(split.max(1));
            let below = Rel::Project { input: Box::new(input.clone()), exprs: first.to_vec() };
            return self.project(&below, rest, need, env, want);
        }
        let mut below: BTreeSet<ColId> = need.iter().copied().filter(|c| !made.contains(c)).collect();
        for (_, e) in &used {
            exprs::columns_of(e, &mut below);
        }
        let pass = want.order.iter().all(|(c, _)| !made.contains(c));
        let inner_want = if pass { want.clone() } else { Want::default() };
        let p = self.rel(input, &below, env, &inner_want)?;
        if used.is_empty() {
            return Ok(p);
        }
        let mut out = Vec::new();
        let mut layout = Vec::new();
        for (i, c) in p.layout.iter().enumerate() {
            if need.contains(c) && !layout.contains(c) {
                let mut e = self.arena.column(*c);
                e.kind = ExprKind::Column(i);
                out.push(e);
                layout.push(*c);
            }
        }
        for (c, e) in used {
            out.push(self.expr(e, &p.layout, env)?);
            layout.push(*c);
        }
        Ok(Phys {
            plan: Plan::Project { input: Box::new(p.plan), exprs: out },
            layout,
            rows: p.rows,
            cost: p.cost + p.rows * cost::EMIT,
            ordered: want.order.is_empty() || (pass && p.ordered),
        })
    }

    fn aggregate(&mut self, r: &Rel, need: &BTreeSet<ColId>, env: &Env, want: &Want) -> SqlResult<Phys> {
        let Rel::Aggregate { input, keys, calls, first_row, rollup } = r else {
            return Err(internal("not an aggregate"));
        };
        let calls: Vec<_> = calls.iter().filter(|(c, _)| need.contains(c)).collect();
        let first_row: Vec<_> = first_row.iter().filter(|(c, _)| need.contains(c)).collect();
        let mut below = BTreeSet::new();
        keys.iter().for_each(|(_, e)| exprs::columns_of(e, &mut below));
        first_row.iter().for_each(|(_, e)| exprs::columns_of(e, &mut below));
        calls.iter().for_each(|(_, a)| exprs::visit_aggregate(a, &mut |e| exprs::columns_of(e, &mut below)));
        // Rows sorted by the keys, in the directions wanted above where it wants just that.
        let direction = |id: &ColId| want.order.iter().find(|(c, _)| c == id).is_some_and(|(_, d)| *d);
        let mut order = Vec::with_capacity(keys.len());
        for (id, e) in keys {
            match e.kind {
                ExprKind::Column(c) if !order.iter().any(|(x, _)| *x == c) => order.push((c, direction(id))),
                ExprKind::Column(_) => {}
                _ => {
                    order.clear();
                    break;
                }
            }
        }
        let inner_want = Want { order, for_groups: !*rollup, ..Want::default() };
        let useful = !inner_want.order.is_empty();
        let mut p = self.rel(input, &below, env, &inner_want)?;
        let mut sorted = useful && p.ordered;
        if *rollup && !sorted {
            let mut sort_keys = Vec::with_capacity(keys.len());
            for (_, e) in keys {
                sort_keys.push(SortKey { expr: self.expr(e, &p.layout, env)?, descending: false });
            }
            p.cost += cost::sort(p.rows);
            p.plan = Plan::Sort { input: Box::new(p.plan), keys: sort_keys, limit: None };
            sorted = true;
        }
        let mut layout = Vec::new();
        let mut key_exprs = Vec::with_capacity(keys.len());
        for (c, e) in keys {
            key_exprs.push(self.expr(e, &p.layout, env)?);
            layout.push(*c);
        }
        let mut call_list = Vec::with_capacity(calls.len());
        for (c, a) in calls {
            let mut failed = None;
            let a = exprs::map_aggregate(a.clone(), &mut |e| match self.expr(&e, &p.layout, env) {
                Ok(e) => e,
                Err(err) => {
                    failed = Some(err);
                    e
                }
            });
            if let Some(e) = failed {
                return Err(e);
            }
            call_list.push(a);
            layout.push(*c);
        }
        let mut firsts = Vec::with_capacity(first_row.len());
        for (c, e) in first_row {
            firsts.push(self.expr(e, &p.layout, env)?);
            layout.push(*c);
        }
        let rows = if keys.is_empty() { 1.0 } else { (p.rows * 0.1).max(1.0) };
        let group_cost = if sorted || keys.is_empty() { cost::FILTER } else { cost::HASH_BUILD };
        // A sorted aggregate keeps the order of its keys.
        let key_order: Vec<ColId> = keys.iter().map(|(c, _)| *c).collect();
        let in_order =
            want.order.len() <= key_order.len() && want.order.iter().zip(&key_order).all(|((c, _), k)| c == k);
        let ordered = want.order.is_empty() || keys.is_empty() || (sorted && !*rollup && in_order);
        Ok(Phys {
            plan: Plan::Aggregate {
                input: Box::new(p.plan),
                keys: key_exprs,
                calls: call_list,
                rollup: *rollup,
                sorted,
                first_row: firsts,
            },
            layout,
            rows,
            cost: p.cost + p.rows * group_cost,
            ordered,
        })
    }

    fn sort(
        &mut self,
        input: &Rel,
        keys: &[SortKey],
        need: &BTreeSet<ColId>,
        env: &Env,
        want: &Want,
    ) -> SqlResult<Phys> {
        let mut below = need.clone();
        for k in keys {
            exprs::columns_of(&k.expr, &mut below);
        }
        let order: Option<Vec<(ColId, bool)>> = keys
            .iter()
            .map(|k| match k.expr.kind {
                ExprKind::Column(c) => Some((c, k.descending)),
                _ => None,
            })
            .collect();
        let plain = order.is_some();
        let inner = Want { order: order.unwrap_or_default(), limit: want.limit, sort_limit: None, for_groups: false };
        let p = self.rel(input, &below, env, &inner)?;
        if plain && p.ordered {
            return Ok(p);
        }
        let mut sort_keys = Vec::with_capacity(keys.len());
        for k in keys {
            sort_keys.push(SortKey { expr: self.expr(&k.expr, &p.layout, env)?, descending: k.descending });
        }
        Ok(Phys {
            plan: Plan::Sort { input: Box::new(p.plan), keys: sort_keys, limit: want.sort_limit.clone() },
            layout: p.layout,
            rows: p.rows,
            cost: p.cost + cost::sort(p.rows),
            ordered: true,
        })
    }

    fn limit(
        &mut self,
        input: &Rel,
        count: &Option<Expr>,
        offset: &Option<Expr>,
        need: &BTreeSet<ColId>,
        env: &Env,
        want: &Want,
    ) -> SqlResult<Phys> {
        let n = limit_number(count);
        if n == Some(0.0) {
            return Ok(self.nothing(need, env));
        }
        let skipped = if offset.is_none() { Some(0.0) } else { limit_number(offset) };
        let total = match (n, skipped) {
            (Some(n), Some(s)) => Some(n + s),
            _ => None,
        };
        let count_expr = count.as_ref().map(|c| self.expr(c, &[], env)).transpose()?;
        let offset_expr = offset.as_ref().map(|c| self.expr(c, &[], env)).transpose()?;
        let sort_limit = match (&count_expr, &offset_expr, total) {
            (Some(c), None, _) => Some(c.clone()),
            (Some(_), Some(_), Some(t)) if t < 1e15 => {
                Some(Expr::constant(Value::UInt(t as u64), SqlType::BIGINT_UNSIGNED))
            }
            _ => None,
        };
        let inner = Want {
            order: want.order.clone(),
            limit: total.or(Some(100.0).filter(|_| count.is_some())),
            sort_limit,
            for_groups: false,
        };
        let p = self.rel(input, need, env, &inner)?;
        Ok(Phys {
            plan: Plan::Limit { input: Box::new(p.plan), count: count_expr, offset: offset_expr },
            layout: p.layout,
            rows: p.rows.min(n.unwrap_or(p.rows)),
            cost: p.cost,
            ordered: p.ordered,
        })
    }

    fn set_operation(
        &mut self,
        op: SetOpKind,
        all: bool,
        inputs: &[(Rel, Vec<ColId>)],
        cols: &[ColId],
        env: &Env,
        want: &Want,
    ) -> SqlResult<Phys> {
        let mut plans = Vec::with_capacity(inputs.len());
        let (mut rows, mut total) = (0.0, 0.0);
        for (r, c) in inputs {
            let need = c.iter().copied().collect();
            let p = self.rel(r, &need, env, &Want::default())?;
            let mut p = self.arrange(p, c, env)?;
            if p.layout.len() > c.len() {
                // Inputs have equal widths.
                let exprs = c
                    .iter()
                    .enumerate()
                    .map(|(i, id)| {
                        let mut e = self.arena.column(*id);
                        e.kind = ExprKind::Column(i);
                        e
                    })
                    .collect();
                p.plan = Plan::Project { input: Box::new(p.plan), exprs };
            }
            rows += p.rows;
            total += p.cost;
            plans.push(p.plan);
        }
        let plan = match op {
            SetOpKind::Union => {
                let union = Plan::Union { inputs: plans };
                if all { union } else { Plan::Distinct { input: Box::new(union), width: cols.len() } }
            }
            SetOpKind::Intersect | SetOpKind::Except => {
                let mut plans = plans.into_iter();
                let (Some(mut left), rest) = (plans.next(), plans) else {
                    return Err(internal("a set operation without inputs"));
                };
                for right in rest {
                    left = Plan::SetOperation {
                        left: Box::new(left),
                        right: Box::new(right),
                        except: op == SetOpKind::Except,
                        all,
                    };
                }
                left
            }
        };
        Ok(Phys {
            plan,
            layout: cols.to_vec(),
            rows,
            cost: total + rows * cost::HASH_BUILD,
            ordered: want.order.is_empty(),
        })
    }
}
