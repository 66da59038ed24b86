//! From a chosen sequence of items to scans, nested loops and hash joins.

use std::collections::BTreeSet;

use selkie_expr::{CmpOp, Expr, ExprKind};
use selkie_types::{Collation, SqlResult, SqlType};

use super::access::Path;
use super::group::{Group, Mask, Source};
use super::steps::{Method, Search, Sequence, Step};
use super::{Env, Lowering, Phys, Want, cost, internal};
use crate::exprs;
use crate::logical::{ColId, Rel, TableRel};
use crate::plan::{Access, JoinKind, Plan, TableScan};

/// A key as the comparison sees it: texts by its collation, not by the column's own.
fn compared_in(mut e: Expr, comparison: Option<Collation>) -> Expr {
    if let (SqlType::Text { collation, .. }, Some(c)) = (&mut e.ty, comparison) {
        *collation = c;
    }
    e
}

impl Lowering<'_> {
    /// Chooses a sequence for the group and builds it.
    pub(super) fn plan_group(&mut self, g: Group, need: &BTreeSet<ColId>, env: &Env, want: &Want) -> SqlResult<Phys> {
        let search = self.search(&g, need);
        let Some(plain) = self.sequence(&search, None) else {
            return Err(internal("no join order fits the dependencies"));
        };
        let mut chosen = plain;
        if want.order.is_empty() {
            chosen.ordered = true;
        } else if let Some(ordered) = self.sequence(&search, Some(want)) {
            let instead = if want.for_groups { chosen.rows * cost::HASH_BUILD } else { cost::sort(chosen.rows) };
            // Reading stops early when few rows are wanted.
            let share = want.limit.map_or(1.0, |l| (l / ordered.rows.max(1.0)).clamp(0.0, 1.0));
            if ordered.cost * share <= chosen.cost + instead {
                chosen = ordered;
            }
        }
        let used = self.needed_columns(&g, need, &chosen);
        drop(search);
        self.build(&g, &chosen, need, &used, env)
    }

    fn search<'s>(&self, g: &'s Group, need: &BTreeSet<ColId>) -> Search<'s> {
        let mut base = need.clone();
        for c in &g.late {
            exprs::columns_of(c, &mut base);
        }
        for (id, e) in &g.computed {
            if need.contains(id) {
                exprs::columns_of(e, &mut base);
            }
        }
        for item in &g.items {
            if let (Source::Other(r), true) = (&item.source, item.lateral) {
                base.extend(r.free_columns());
            }
        }
        let mut needed = Vec::with_capacity(g.items.len());
        let mut cond_columns = Vec::with_capacity(g.items.len());
        for (i, item) in g.items.iter().enumerate() {
            let Source::Table(t) = &item.source else {
                needed.push(BTreeSet::new());
                cond_columns.push(Vec::new());
                continue;
            };
            let position = |c: &ColId| t.cols.iter().position(|x| x == c);
            let mut here: BTreeSet<usize> = base.iter().filter_map(position).collect();
            // Conditions of other items (ON of outer joins) read this one's columns too.
            for (j, other) in g.items.iter().enumerate() {
                if j != i {
                    for c in &other.on {
                        here.extend(exprs::columns(c).iter().filter_map(position));
                    }
                }
            }
            if item.kind != JoinKind::Inner {
                for c in &g.conds {
                    here.extend(exprs::columns(c).iter().filter_map(position));
                }
            }
            needed.push(here);
            cond_columns
                .push(g.conds_of(i).iter().map(|c| exprs::columns(c).iter().filter_map(position).collect()).collect());
        }
        Search { g, needed, cond_columns, fixed: self.fixed_columns(g), hash: self.cx.switches.hash_join }
    }

    /// Columns that scans must produce: what is asked for, and what conditions read that no access implies.
    fn needed_columns(&self, g: &Group, need: &BTreeSet<ColId>, seq: &Sequence) -> BTreeSet<ColId> {
        let mut out = need.clone();
        for c in &g.late {
            exprs::columns_of(c, &mut out);
        }
        for (id, e) in &g.computed {
            if need.contains(id) {
                exprs::columns_of(e, &mut out);
            }
        }
        let mut implied_conds: BTreeSet<usize> = BTreeSet::new();
        for step in &seq.steps {
            let item = &g.items[step.item];
            let implied = step.path().map(|p| p.implied.clone()).unwrap_or_default();
            if item.kind == JoinKind::Inner {
                implied_conds.extend(&implied);
            } else {
                for (n, c) in item.on.iter().enumerate() {
                    if !implied.contains(&n) {
                        exprs::columns_of(c, &mut out);
                    }
                }
            }
            // Key bounds are computed from the columns of items before.
            if let Some(p) = step.path() {
                for a in item.sargs.iter().filter(|a| p.used.contains(&a.cond)) {
                    out.extend(&a.needs);
                }
            }
            if let Source::Other(r) = &item.source {
                out.extend(r.free_columns());
                for c in item.on.iter().chain(&g.conds) {
                    exprs::columns_of(c, &mut out);
                }
            }
        }
        for (n, c) in g.conds.iter().enumerate() {
            if !implied_conds.contains(&n) {
                exprs::columns_of(c, &mut out);
            }
        }
        out
    }

    fn build(
        &mut self,
        g: &Group,
        seq: &Sequence,
        need: &BTreeSet<ColId>,
        used: &BTreeSet<ColId>,
        env: &Env,
    ) -> SqlResult<Phys> {
        let mut done: BTreeSet<usize> = BTreeSet::new();
        let mut before: Mask = 0;
        let mut current: Option<Phys> = None;
        for (n, step) in seq.steps.iter().enumerate() {
            let reverse = n == 0 && seq.reverse;
            current = Some(match current {
                None => {
                    let conds = self.local_conds(g, step, &mut done);
                    self.read(g, step, reverse, &conds, used, env)?
                }
                Some(left) => self.join_step(g, step, left, before, &mut done, used, env)?,
            });
            before |= 1 << step.item;
            // WHERE conditions on what an outer join made.
            if let Some(p) = &mut current {
                let ready: Vec<usize> =
                    (0..g.conds.len()).filter(|c| !done.contains(c) && g.cond_masks[*c].all & !before == 0).collect();
                self.filter_on_top(p, ready.iter().map(|c| &g.conds[*c]).collect(), env)?;
                done.extend(ready);
            }
        }
        let Some(mut p) = current else {
            return Err(internal("a join of nothing"));
        };
        self.filter_on_top(&mut p, g.late.iter().collect(), env)?;
        let computed: Vec<&(ColId, Expr)> = g.computed.iter().filter(|(c, _)| need.contains(c)).collect();
        if !computed.is_empty() {
            let mut out = Vec::new();
            let mut layout = Vec::new();
            for (i, c) in p.layout.iter().enumerate() {
                if need.contains(c) {
                    let mut e = self.arena.column(*c);
                    e.kind = ExprKind::Column(i);
                    out.push(e);
                    layout.push(*c);
                }
            }
            for (c, e) in computed {
                out.push(self.expr(e, &p.layout, env)?);
                layout.push(*c);
            }
            p.plan = Plan::Project { input: Box::new(p.plan), exprs: out };
            p.layout = layout;
        }
        p.rows = seq.rows;
        p.cost = seq.cost;
        p.ordered = seq.ordered;
        Ok(p)
    }

    fn filter_on_top(&mut self, p: &mut Phys, conds: Vec<&Expr>, env: &Env) -> SqlResult<()> {
        if let Some(condition) = self.condition(&conds, &p.layout, env)? {
            let input = std::mem::replace(&mut p.plan, Plan::OneRow);
            p.plan = match input {
                Plan::Scan(mut s) if s.filter.is_none() && !s.with_row_key => {
                    s.filter = Some(condition);
                    Plan::Scan(s)
                }
                input => Plan::Filter { input: Box::new(input), condition },
            };
        }
        Ok(())
    }

    /// Conjuncts that the item alone decides and its access does not imply. They are done then.
    fn local_conds(&self, g: &Group, step: &Step, done: &mut BTreeSet<usize>) -> Vec<Expr> {
        let item = &g.items[step.item];
        let here: Mask = 1 << step.item;
        let implied = step.path().map(|p| p.implied.clone()).unwrap_or_default();
        let mut out = Vec::new();
        if item.kind == JoinKind::Inner {
            for (n, c) in g.conds.iter().enumerate() {
                let m = g.cond_masks[n].all;
                if m & !here == 0 && (m != 0 || done.is_empty()) && done.insert(n) && !implied.contains(&n) {
                    out.push(c.clone());
                }
            }
        } else {
            for (n, c) in item.on.iter().enumerate() {
                if g.mask(c) == here && !implied.contains(&n) {
                    out.push(c.clone());
                }
            }
        }
        out
    }

    /// Reads one item; `conds` over its own columns (and outer values) are checked there.
    fn read(
        &mut self,
        g: &Group,
        step: &Step,
        reverse: bool,
        conds: &[Expr],
        used: &BTreeSet<ColId>,
        env: &Env,
    ) -> SqlResult<Phys> {
        match &g.items[step.item].source {
            Source::Table(t) => {
                let Some(path) = step.path() else { return Err(internal("a table without an access path")) };
                let (allowed, _) = super::access::allowed_indexes(t);
                let sargs = &g.items[step.item].sargs;
                let possible_keys = (0..t.table.indexes.len())
                    .filter(|i| allowed[*i])
                    .filter(|i| {
                        let first = t.table.indexes[*i].parts.first();
                        first.is_some_and(|p| sargs.iter().any(|s| s.column == p.column))
                    })
                    .collect();
                self.scan(t, path, reverse, conds, used, env, step.rows, possible_keys)
            }
            Source::Other(Rel::Virtual(v)) => {
                let mut layout = Vec::new();
                let mut columns = Vec::new();
                for (i, c) in v.cols.iter().enumerate() {
                    if used.contains(c) {
                        columns.push(i);
                        layout.push(*c);
                    }
                }
                let types = self.types(&layout);
                let lookups = self.virtual_lookups(&v.cols, conds, env)?;
                let plan = Plan::Virtual { db: v.db.clone(), name: v.name.clone(), columns, lookups, types };
                let mut p = Phys { plan, layout, rows: 100.0, cost: 1000.0, ordered: false };
                self.filter_on_top(&mut p, conds.iter().collect(), env)?;
                Ok(p)
            }
            Source::Other(rel) => {
                let cols: BTreeSet<ColId> =
                    used.iter().copied().filter(|c| g.items[step.item].cols.contains(c)).collect();
                let rel = if super::group::is_pushable(rel) {
                    rel.clone().filter(conds.to_vec())
                } else {
                    let mut p = self.rel(rel, &cols, env, &Want::default())?;
                    self.filter_on_top(&mut p, conds.iter().collect(), env)?;
                    return Ok(p);
                };
                self.rel(&rel, &cols, env, &Want::default())
            }
        }
    }

    /// `column = constant` conditions that narrow what a virtual table computes.
    fn virtual_lookups(&mut self, cols: &[ColId], conds: &[Expr], env: &Env) -> SqlResult<Vec<(usize, Expr)>> {
        let mut out = Vec::new();
        for c in conds {
            let ExprKind::Compare { op: CmpOp::Eq, left, right, .. } = &c.kind else { continue };
            for (a, b) in [(left, right), (right, left)] {
                let mut column = a;
                while let ExprKind::Cast(x) = &column.kind {
                    column = x;
                }
                if let ExprKind::Column(id) = column.kind
                    && let Some(p) = cols.iter().position(|x| *x == id)
                    && exprs::columns(b).iter().all(|c| env.has(*c))
                {
                    out.push((p, self.expr(b, &[], env)?));
                }
            }
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    fn scan(
        &mut self,
        t: &TableRel,
        path: &Path,
        reverse: bool,
        conds: &[Expr],
        used: &BTreeSet<ColId>,
        env: &Env,
        rows: f64,
        possible_keys: Vec<usize>,
    ) -> SqlResult<Phys> {
        let mut layout = Vec::new();
        let mut columns = Vec::new();
        for (i, c) in t.cols.iter().enumerate() {
            // A changed table is read whole.
            if used.contains(c) || t.row_key.is_some() {
                columns.push(i);
                layout.push(*c);
            }
        }
        let filter = self.condition(&conds.iter().collect::<Vec<_>>(), &layout, env)?;
        let access = self.access(&path.access, env)?;
        if let Some(k) = t.row_key {
            layout.push(k);
        }
        let scan = TableScan {
            table: t.table.clone(),
            alias: t.alias.clone(),
            columns,
            access,
            covering: path.covering,
            reverse,
            filter,
            lock: t.lock,
            wait: t.wait,
            with_row_key: t.row_key.is_some(),
            partitions: t.partitions.clone(),
            possible_keys,
            rows: path.rows,
        };
        Ok(Phys { plan: Plan::Scan(Box::new(scan)), layout, rows, cost: path.cost, ordered: false })
    }

    fn access(&mut self, a: &Access, env: &Env) -> SqlResult<Access> {
        Ok(match a {
            Access::Point { index, key } => Access::Point { index: *index, key: self.exprs(key, &[], env)? },
            Access::Ranges { index, ranges, merge } => {
                let mut out = ranges.clone();
                for r in &mut out {
                    for b in [&mut r.low, &mut r.high].into_iter().flatten() {
                        b.values = self.exprs(&b.values, &[], env)?;
                    }
                }
                Access::Ranges { index: *index, ranges: out, merge: *merge }
            }
            other => other.clone(),
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn join_step(
        &mut self,
        g: &Group,
        step: &Step,
        left: Phys,
        before: Mask,
        done: &mut BTreeSet<usize>,
        used: &BTreeSet<ColId>,
        env: &Env,
    ) -> SqlResult<Phys> {
        let item = &g.items[step.item];
        let here: Mask = 1 << step.item;
        let dependent = matches!(step.method, Method::Dependent(_));
        let base = env.next;
        let inner_env = env.with_row(&left.layout);
        let mut local = self.local_conds(g, step, done);
        let implied = step.path().map(|p| p.implied.clone()).unwrap_or_default();
        // Conjuncts over both sides.
        let mut across: Vec<(usize, Expr)> = Vec::new();
        if item.kind == JoinKind::Inner {
            for (n, c) in g.conds.iter().enumerate() {
                if g.cond_masks[n].all & !(before | here) == 0 && done.insert(n) && !(dependent && implied.contains(&n))
                {
                    across.push((n, c.clone()));
                }
            }
        } else {
            for (n, c) in item.on.iter().enumerate() {
                if g.mask(c) != here && !(dependent && implied.contains(&n)) {
                    across.push((n, c.clone()));
                }
            }
        }
        let pushed = dependent && matches!(&item.source, Source::Other(r) if super::group::is_pushable(r));
        if pushed {
            // Everything is checked inside, where indexes can serve it.
            let touching = |c: &Expr| g.mask(c) & here != 0;
            local.extend(across.iter().filter(|(_, c)| touching(c)).map(|(_, c)| c.clone()));
            across.retain(|(_, c)| !touching(c));
        }
        let right_env = if dependent { &inner_env } else { env };
        let right = self.read(g, step, false, &local, used, right_env)?;
        let mut both = left.layout.clone();
        both.extend(&right.layout);
        let right_width = right.layout.len();
        let keeps_right = matches!(item.kind, JoinKind::Inner | JoinKind::Left);
        let layout = if keeps_right { both.clone() } else { left.layout.clone() };
        let plan = match &step.method {
            Method::Hash { keys, .. } => {
                let mut left_keys = Vec::new();
                let mut right_keys = Vec::new();
                let mut null_safe = Vec::new();
                for (_, c) in across.iter().filter(|(n, _)| keys.contains(n)) {
                    let ExprKind::Compare { op, left: a, right: b, collation } = &c.kind else { continue };
                    let (l, r) = if g.mask(b) == here { (a, b) } else { (b, a) };
                    left_keys.push(compared_in(self.expr(l, &left.layout, env)?, *collation));
                    right_keys.push(compared_in(self.expr(r, &right.layout, env)?, *collation));
                    null_safe.push(*op == CmpOp::NullSafeEq);
                }
                let rest: Vec<&Expr> = across.iter().filter(|(n, _)| !keys.contains(n)).map(|(_, c)| c).collect();
                let condition = self.condition(&rest, &both, env)?;
                Plan::HashJoin {
                    kind: item.kind,
                    left: Box::new(left.plan),
                    right: Box::new(right.plan),
                    left_keys,
                    right_keys,
                    right_width,
                    null_safe,
                    condition,
                    null_aware: item.null_aware,
                }
            }
            _ => {
                let rest: Vec<&Expr> = across.iter().map(|(_, c)| c).collect();
                let condition = self.condition(&rest, &both, env)?;
                Plan::NestedLoop {
                    kind: item.kind,
                    left: Box::new(left.plan),
                    right: Box::new(right.plan),
                    base,
                    right_width,
                    condition,
                    dependent,
                }
            }
        };
        Ok(Phys { plan, layout, rows: step.rows, cost: left.cost + step.cost, ordered: false })
    }
}

impl Step {
    /// The table path of the step.
    pub fn path(&self) -> Option<&Path> {
        match &self.method {
            Method::Alone(p) | Method::Dependent(p) => p.as_ref(),
            Method::Hash { path, .. } => path.as_ref(),
        }
    }
}
