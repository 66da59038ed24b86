//! Looking at every expression of a plan, those of its subqueries and shared parts among them.

use selkie_expr::{Expr, ExprKind, FrameBound, SortKey, WindowFunction};

use super::{Access, AssignedValue, InsertSource, Plan, QueryPlan, SharedPlan, Statement, TableScan, TargetTable};
use crate::exprs;

/// Shows every expression that a statement evaluates, and everything inside each, to `f`. Defaults, generated columns and
/// checks of changed tables, which no statement's text decides, are left out.
pub fn visit_exprs(s: &Statement, f: &mut dyn FnMut(&Expr)) {
    let mut v = Visitor { f };
    match s {
        Statement::Query(q) => v.query(q),
        Statement::Insert(i) => {
            match &i.source {
                InsertSource::Values(rows) => rows.iter().flatten().for_each(|a| v.assigned(a)),
                InsertSource::Query(q) => v.query(q),
            }
            i.on_duplicate.iter().for_each(|(_, a)| v.assigned(a));
            i.returning.iter().flat_map(|(exprs, _)| exprs).for_each(|e| v.expr(e));
            v.target(&i.target);
        }
        Statement::Update(u) => {
            v.plan(&u.input);
            u.shared.iter().for_each(|s| v.shared(s));
            for t in &u.targets {
                t.assignments.iter().for_each(|(_, a)| v.assigned(a));
                v.target(&t.target);
            }
        }
        Statement::Delete(d) => {
            v.plan(&d.input);
            d.shared.iter().for_each(|s| v.shared(s));
            d.returning.iter().flat_map(|(exprs, _)| exprs).for_each(|e| v.expr(e));
        }
        Statement::Do(list) => list.iter().for_each(|e| v.expr(e)),
    }
}

struct Visitor<'f> {
    f: &'f mut dyn FnMut(&Expr),
}

impl Visitor<'_> {
    fn expr(&mut self, e: &Expr) {
        let mut subqueries = Vec::new();
        exprs::walk(e, &mut |x| {
            (self.f)(x);
            if let ExprKind::Subquery(s) = &x.kind
                && let Ok(q) = s.query.plan.clone().downcast::<QueryPlan>()
            {
                subqueries.push(q);
            }
        });
        subqueries.iter().for_each(|q| self.query(q));
    }

    fn assigned(&mut self, a: &AssignedValue) {
        if let AssignedValue::Expr(e) = a {
            self.expr(e);
        }
    }

    fn target(&mut self, t: &TargetTable) {
        t.view_check.iter().for_each(|(_, e)| self.expr(e));
    }

    fn query(&mut self, q: &QueryPlan) {
        self.plan(&q.root);
        q.shared.iter().for_each(|s| self.shared(s));
    }

    fn shared(&mut self, s: &SharedPlan) {
        self.plan(&s.seed);
        s.recursive.iter().for_each(|p| self.plan(p));
    }

    fn sort(&mut self, keys: &[SortKey]) {
        keys.iter().for_each(|k| self.expr(&k.expr));
    }

    fn scan(&mut self, s: &TableScan) {
        match &s.access {
            Access::Point { key, .. } => key.iter().for_each(|e| self.expr(e)),
            Access::Ranges { ranges, .. } => {
                ranges.iter().flat_map(|r| r.low.iter().chain(&r.high)).flat_map(|b| &b.values).for_each(|e| self.expr(e));
            }
            Access::Full | Access::IndexScan { .. } | Access::Empty => {}
        }
        s.filter.iter().for_each(|e| self.expr(e));
    }

    fn plan(&mut self, p: &Plan) {
        match p {
            Plan::OneRow | Plan::SharedScan { .. } => {}
            Plan::Values { rows, .. } => rows.iter().flatten().for_each(|e| self.expr(e)),
            Plan::Scan(s) => self.scan(s),
            Plan::Virtual { lookups, .. } => lookups.iter().for_each(|(_, e)| self.expr(e)),
            Plan::Derived { plan, correlated } => {
                self.query(plan);
                correlated.iter().for_each(|e| self.expr(e));
            }
            Plan::JsonTable(j) => self.expr(&j.document),
            Plan::Filter { input, condition } => {
                self.plan(input);
                self.expr(condition);
            }
            Plan::Project { input, exprs } => {
                self.plan(input);
                exprs.iter().for_each(|e| self.expr(e));
            }
            Plan::NestedLoop { left, right, condition, .. } => {
                self.plan(left);
                self.plan(right);
                condition.iter().for_each(|e| self.expr(e));
            }
            Plan::HashJoin { left, right, left_keys, right_keys, condition, .. } => {
                self.plan(left);
                self.plan(right);
                left_keys.iter().chain(right_keys).chain(condition).for_each(|e| self.expr(e));
            }
            Plan::Aggregate { input, keys, calls, first_row, .. } => {
                self.plan(input);
                keys.iter().chain(first_row).for_each(|e| self.expr(e));
                for c in calls {
                    c.args.iter().for_each(|e| self.expr(e));
                    self.sort(&c.order_by);
                }
            }
            Plan::Window { input, calls } => {
                self.plan(input);
                for c in calls {
                    match &c.function {
                        WindowFunction::Aggregate(a) => {
                            a.args.iter().for_each(|e| self.expr(e));
                            self.sort(&a.order_by);
                        }
                        WindowFunction::Rank(_, args) => args.iter().for_each(|e| self.expr(e)),
                    }
                    c.partition_by.iter().for_each(|e| self.expr(e));
                    self.sort(&c.order_by);
                    for bound in [&c.frame.1, &c.frame.2] {
                        if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                            self.expr(e);
                        }
                    }
                }
            }
            Plan::Sort { input, keys, limit } => {
                self.plan(input);
                self.sort(keys);
                limit.iter().for_each(|e| self.expr(e));
            }
            Plan::Limit { input, count, offset } => {
                self.plan(input);
                count.iter().chain(offset).for_each(|e| self.expr(e));
            }
            Plan::Distinct { input, .. } => self.plan(input),
            Plan::Union { inputs } => inputs.iter().for_each(|p| self.plan(p)),
            Plan::SetOperation { left, right, .. } => {
                self.plan(left);
                self.plan(right);
            }
        }
    }
}
