//! Join groups: a tree of filters and joins as a list of items and conjuncts, free to be put in any order that the
//! outer joins, STRAIGHT_JOIN and LATERAL allow.

use std::collections::BTreeSet;

use selkie_expr::{CmpOp, Expr, ExprKind};
use selkie_types::SqlResult;

use super::sarg::{Interval, Sarg, SargFinder};
use super::{Env, Lowering, Phys, Want, cost};
use crate::exprs::{self, Substitution};
use crate::logical::{ColId, Rel, TableRel};
use crate::plan::JoinKind;

/// Items as a bit set.
pub(super) type Mask = u64;

/// The items that a conjunct reads: in all, and on both sides of an equality.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CondMasks {
    pub all: Mask,
    pub sides: Option<(Mask, Mask)>,
}

/// What an item reads.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Table(TableRel),
    Other(Rel),
}

/// One member of a join group.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub kind: JoinKind,
    pub null_aware: bool,
    pub source: Source,
    /// Columns that it makes.
    pub cols: BTreeSet<ColId>,
    /// Conjuncts of its ON (Left, Semi, Anti); inner ones stand in the group.
    pub on: Vec<Expr>,
    /// Items that each of them touches.
    pub on_masks: Vec<CondMasks>,
    /// Items that must come before.
    pub deps: Mask,
    /// Whether its tree itself reads columns of `deps` (LATERAL, correlated semi-join).
    pub lateral: bool,
    /// How indexes can serve its conditions (conjunct numbers are those of `conds_of`).
    pub sargs: Vec<Sarg>,
    /// Independent plan of a source that is no table, for its estimates.
    pub estimate: (f64, f64),
    /// Estimates when its conditions are pushed into its tree.
    pub dependent: Option<(f64, f64)>,
}

/// A group of items and what joins them.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub items: Vec<Item>,
    /// Inner and WHERE conjuncts.
    pub conds: Vec<Expr>,
    /// Items that each conjunct touches.
    pub cond_masks: Vec<CondMasks>,
    /// Computed columns hoisted from merged derived tables.
    pub computed: Vec<(ColId, Expr)>,
    /// Conjuncts with effects: evaluated last.
    pub late: Vec<Expr>,
}

impl Group {
    /// The items whose columns an expression reads.
    pub fn mask(&self, e: &Expr) -> Mask {
        let cols = exprs::columns(e);
        let mut m = 0;
        for (i, item) in self.items.iter().enumerate() {
            if cols.iter().any(|c| item.cols.contains(c)) {
                m |= 1 << i;
            }
        }
        m
    }

    /// The conjuncts that an item's access may use: its own ON, or those of the group.
    pub fn conds_of(&self, i: usize) -> &[Expr] {
        if self.items[i].kind == JoinKind::Inner { &self.conds } else { &self.items[i].on }
    }

    /// Their items.
    pub fn cond_mask_of(&self, i: usize, cond: usize) -> Mask {
        if self.items[i].kind == JoinKind::Inner {
            self.cond_masks[cond].all
        } else {
            self.items[i].on_masks[cond].all | 1 << i
        }
    }

    /// The items on both sides of an equality among them.
    pub fn sides_of(&self, i: usize, cond: usize) -> Option<(Mask, Mask)> {
        if self.items[i].kind == JoinKind::Inner {
            self.cond_masks[cond].sides
        } else {
            self.items[i].on_masks[cond].sides
        }
    }

    fn masks(&self, e: &Expr) -> CondMasks {
        let sides = match &e.kind {
            ExprKind::Compare { op: CmpOp::Eq | CmpOp::NullSafeEq, left, right, .. } if !exprs::has_subquery(e) => {
                Some((self.mask(left), self.mask(right)))
            }
            _ => None,
        };
        CondMasks { all: self.mask(e), sides }
    }

    /// Columns made by the items of a mask.
    pub fn cols(&self, mask: Mask) -> BTreeSet<ColId> {
        let mut out = BTreeSet::new();
        for (i, item) in self.items.iter().enumerate() {
            if mask & 1 << i != 0 {
                out.extend(&item.cols);
            }
        }
        out
    }
}

fn bits(from: usize, to: usize) -> Mask {
    let upto = |n: usize| if n >= 64 { Mask::MAX } else { (1 << n) - 1 };
    upto(to) & !upto(from)
}

/// Takes filters off a tree, as conjuncts.
fn unwrap_filters(rel: &Rel, conds: &mut Vec<Expr>) -> Rel {
    match rel {
        Rel::Filter { input, conds: c } if c.iter().all(exprs::is_pure) => {
            conds.extend(c.iter().cloned());
            unwrap_filters(input, conds)
        }
        other => other.clone(),
    }
}

impl Lowering<'_> {
    fn flatten(&mut self, rel: &Rel, g: &mut Group) {
        match rel {
            Rel::Filter { input, conds } => {
                self.flatten(input, g);
                g.conds.extend(conds.iter().cloned());
            }
            Rel::Project { input, exprs } if exprs.iter().all(|(_, e)| exprs::is_pure(e)) && g.items.len() < 50 => {
                self.flatten(input, g);
                g.computed.extend(exprs.iter().cloned());
            }
            Rel::Join { kind: JoinKind::Inner, left, right, on, straight, .. } if g.items.len() < 55 => {
                let a = g.items.len();
                self.flatten(left, g);
                let b = g.items.len();
                self.flatten(right, g);
                let c = g.items.len();
                if *straight {
                    for i in b..c {
                        g.items[i].deps |= bits(a, b);
                    }
                }
                g.conds.extend(on.iter().cloned());
            }
            Rel::Join { kind, left, right, on, null_aware, .. } if *kind != JoinKind::Inner && g.items.len() < 55 => {
                let a = g.items.len();
                self.flatten(left, g);
                let b = g.items.len();
                let mut conds = on.clone();
                let source = unwrap_filters(right, &mut conds);
                self.leaf(&source, *kind, *null_aware, conds, g);
                g.items[b].deps |= bits(a, b);
            }
            other => self.leaf(other, JoinKind::Inner, false, Vec::new(), g),
        }
    }

    fn leaf(&mut self, rel: &Rel, kind: JoinKind, null_aware: bool, on: Vec<Expr>, g: &mut Group) {
        let mut cols = Vec::new();
        rel.columns(&mut cols);
        let source = match rel {
            Rel::Table(t) => Source::Table((**t).clone()),
            other => Source::Other(other.clone()),
        };
        g.items.push(Item {
            kind,
            null_aware,
            source,
            cols: cols.into_iter().collect(),
            on,
            on_masks: Vec::new(),
            deps: 0,
            lateral: false,
            sargs: Vec::new(),
            estimate: (0.0, 0.0),
            dependent: None,
        });
    }

    /// Plans filters, joins and tables.
    pub(super) fn group(&mut self, r: &Rel, need: &BTreeSet<ColId>, env: &Env, want: &Want) -> SqlResult<Phys> {
        let mut g = Group::default();
        self.flatten(r, &mut g);
        self.substitute_computed(&mut g);
        if g.conds.iter().any(|c| exprs::constant_truth(c) == Some(false)) {
            return Ok(self.nothing(need, env));
        }
        g.conds.retain(|c| exprs::constant_truth(c) != Some(true));
        let (pure, late) = std::mem::take(&mut g.conds).into_iter().partition(exprs::is_pure);
        g.conds = pure;
        g.late = late;
        self.analyse(&mut g, need, env)?;
        self.plan_group(g, need, env, want)
    }

    /// Conditions over hoisted computed columns become conditions over what these are computed from.
    fn substitute_computed(&mut self, g: &mut Group) {
        if g.computed.is_empty() {
            return;
        }
        let mut map = Substitution::default();
        for (c, e) in &g.computed {
            let e = map.apply(e.clone());
            map.0.insert(*c, e);
        }
        g.conds = std::mem::take(&mut g.conds).into_iter().map(|c| map.apply(c)).collect();
        for item in &mut g.items {
            item.on = std::mem::take(&mut item.on).into_iter().map(|c| map.apply(c)).collect();
            if let Source::Other(rel) = &mut item.source {
                let free = rel.free_columns();
                if free.iter().any(|c| map.0.contains_key(c)) {
                    *rel = rel.clone().substitute(&map);
                }
            }
        }
        g.computed = g.computed.iter().map(|(c, _)| (*c, map.0[c].clone())).collect();
    }

    fn analyse(&mut self, g: &mut Group, need: &BTreeSet<ColId>, env: &Env) -> SqlResult<()> {
        for i in 0..g.items.len() {
            self.turn_semi_join(g, i, env)?;
        }
        g.cond_masks = g.conds.iter().map(|c| g.masks(c)).collect();
        for i in 0..g.items.len() {
            let own = 1u64 << i;
            g.items[i].on_masks = g.items[i].on.iter().map(|c| g.masks(c)).collect();
            // An outer-joined item needs what its ON condition reads; without that, everything to its left.
            if g.items[i].kind != JoinKind::Inner {
                let on: Mask = g.items[i].on_masks.iter().fold(0, |a, m| a | m.all) & !own;
                if on != 0 && g.items[i].kind == JoinKind::Left {
                    g.items[i].deps = on;
                } else if on != 0 {
                    g.items[i].deps = on | (g.items[i].deps & !self.independent(g, i));
                }
            }
            let mut sargs = match &g.items[i].source {
                Source::Table(t) => SargFinder::new(t).find(g.conds_of(i)),
                Source::Other(_) => Vec::new(),
            };
            if g.items[i].kind == JoinKind::Inner {
                through_equalities(&mut sargs, &g.conds, &g.items[i].cols);
            }
            for s in &mut sargs {
                for (j, other) in g.items.iter().enumerate() {
                    if s.needs.iter().any(|c| other.cols.contains(c)) {
                        s.items |= 1 << j;
                    }
                }
            }
            g.items[i].sargs = sargs;
            let Source::Other(rel) = &g.items[i].source else { continue };
            let rel = rel.clone();
            let outside: BTreeSet<ColId> = rel.free_columns().into_iter().filter(|c| !env.has(*c)).collect();
            if !outside.is_empty() {
                let mut deps = 0;
                for (j, other) in g.items.iter().enumerate() {
                    if j != i && outside.iter().any(|c| other.cols.contains(c)) {
                        deps |= 1 << j;
                    }
                }
                g.items[i].deps |= deps;
                g.items[i].lateral = true;
            }
            self.estimate_other(g, i, &rel, need, env)?;
        }
        Ok(())
    }

    /// A semi-join with few rows on its right is better read from there: its distinct rows joined to the left by an
    /// index.
    fn turn_semi_join(&mut self, g: &mut Group, i: usize, env: &Env) -> SqlResult<()> {
        let item = &g.items[i];
        if item.kind != JoinKind::Semi {
            return Ok(());
        }
        let own = |c: &Expr| exprs::columns(c).iter().all(|x| item.cols.contains(x) || env.has(*x));
        let (local, across): (Vec<Expr>, Vec<Expr>) =
            item.on.iter().cloned().partition(|c| own(c) && exprs::is_pure(c));
        let mut keys: Vec<ColId> = Vec::new();
        let mut left: Option<usize> = None;
        for c in &across {
            let ExprKind::Compare { op: CmpOp::Eq, left: a, right: b, .. } = &c.kind else { return Ok(()) };
            let (outer, inner) = if own(b) { (a, b) } else { (b, a) };
            let (ExprKind::Column(o), ExprKind::Column(k)) = (&outer.kind, &inner.kind) else { return Ok(()) };
            if !item.cols.contains(k) || item.cols.contains(o) {
                return Ok(());
            }
            keys.push(*k);
            left = left.or_else(|| g.items.iter().position(|x| x.cols.contains(o)));
        }
        let Some(Item { source: Source::Table(t), .. }) = left.map(|l| &g.items[l]) else { return Ok(()) };
        let finder = SargFinder::new(t);
        let indexed = finder.find(&across).iter().any(|s| {
            t.table.indexes.iter().any(|x| x.parts.first().is_some_and(|p| p.column == s.column) && !x.ignored)
        });
        let left_rows = self.cx.statistics.rows(&t.table);
        let right = match &item.source {
            Source::Table(t) => Rel::Table(Box::new(t.clone())),
            Source::Other(r) => r.clone(),
        }
        .filter(local);
        if !indexed || right.free_columns().iter().any(|c| !env.has(*c)) {
            return Ok(());
        }
        let need: BTreeSet<ColId> = keys.iter().copied().collect();
        let used = self.shared_used;
        let pushed = 1000;
        let (_, right_rows) = self.estimate(&right, &need, env, pushed)?;
        self.shared_used = used;
        if right_rows * 2.0 * cost::LOOKUP > left_rows * cost::ROW {
            return Ok(());
        }
        let item = &mut g.items[i];
        item.kind = JoinKind::Inner;
        item.deps = 0;
        item.on = Vec::new();
        item.cols = need;
        item.source = Source::Other(Rel::Distinct { input: Box::new(right), cols: keys });
        g.conds.extend(across);
        Ok(())
    }

    /// Semi and anti joins may move ahead of everything that their condition does not read.
    fn independent(&self, g: &Group, i: usize) -> Mask {
        if g.items[i].kind == JoinKind::Left { 0 } else { g.items[i].deps }
    }

    fn estimate_other(
        &mut self,
        g: &mut Group,
        i: usize,
        rel: &Rel,
        need: &BTreeSet<ColId>,
        env: &Env,
    ) -> SqlResult<()> {
        if matches!(rel, Rel::Virtual(_)) {
            // Computed by the session: dear, whatever is asked of it.
            g.items[i].estimate = (1000.0, 100.0);
            return Ok(());
        }
        let mut cols: BTreeSet<ColId> = need.iter().copied().filter(|c| g.items[i].cols.contains(c)).collect();
        for c in g.conds.iter().chain(&g.items[i].on) {
            exprs::columns_of(c, &mut cols);
        }
        cols.retain(|c| g.items[i].cols.contains(c));
        // Costs do not depend on where outer values stand.
        let outer: Vec<ColId> = g.cols(!(1 << i)).into_iter().collect();
        let inner_env = env.with_row(&outer);
        let used = self.shared_used;
        let here = if g.items[i].lateral { &inner_env } else { env };
        let (price, rows) = self.estimate(rel, &cols, here, 0)?;
        g.items[i].estimate = (price, rows.max(0.5));
        if is_pushable(rel) {
            let conds: Vec<Expr> = (0..g.conds_of(i).len())
                .filter(|n| g.cond_mask_of(i, *n) & 1 << i != 0)
                .map(|n| g.conds_of(i)[n].clone())
                .filter(|c| exprs::columns(c).iter().any(|c| g.items[i].cols.contains(c)))
                .collect();
            if !conds.is_empty() {
                let pushed = conds.len();
                let (price, rows) = self.estimate(&rel.clone().filter(conds), &cols, &inner_env, pushed)?;
                g.items[i].dependent = Some((price, rows.max(0.1)));
            }
        }
        self.shared_used = used;
        Ok(())
    }

    /// Cost and rows of a tree, planned once for each number of conditions pushed into it.
    fn estimate(&mut self, rel: &Rel, cols: &BTreeSet<ColId>, env: &Env, pushed: usize) -> SqlResult<(f64, f64)> {
        let mut made = Vec::new();
        rel.columns(&mut made);
        let key = (made, pushed);
        if let Some(known) = self.estimates.get(&key) {
            return Ok(*known);
        }
        let p = self.rel(rel, cols, env, &Want::default())?;
        self.estimates.insert(key, (p.cost, p.rows));
        Ok((p.cost, p.rows))
    }

    /// Share of rows that a conjunct keeps, for estimates.
    pub(super) fn selectivity(&self, g: &Group, c: &Expr) -> f64 {
        match &c.kind {
            ExprKind::Compare { op: CmpOp::Eq | CmpOp::NullSafeEq, left, right, .. } => {
                let known = [left, right].into_iter().filter_map(|e| self.distinct_values(g, e)).fold(0.0, f64::max);
                if known > 1.0 { 1.0 / known } else { cost::EQ_SELECTIVITY }
            }
            ExprKind::Compare { op: CmpOp::Ne, .. } => 0.9,
            ExprKind::Compare { .. } => cost::RANGE_SELECTIVITY,
            ExprKind::Between { negated: false, .. } => cost::BETWEEN_SELECTIVITY,
            ExprKind::InList { expr, list, negated: false, .. } => {
                let one = self.distinct_values(g, expr).map_or(cost::EQ_SELECTIVITY, |d| 1.0 / d.max(1.0));
                (one * list.len() as f64).min(0.9)
            }
            ExprKind::IsNull { negated, .. } => {
                if *negated {
                    0.9
                } else {
                    cost::EQ_SELECTIVITY
                }
            }
            ExprKind::Like { negated: false, .. } => 0.2,
            ExprKind::Or(v) => v.iter().map(|x| self.selectivity(g, x)).sum::<f64>().min(1.0),
            ExprKind::And(v) => v.iter().map(|x| self.selectivity(g, x)).product(),
            _ => cost::OTHER_SELECTIVITY,
        }
    }

    /// Distinct values of a column that begins an index.
    fn distinct_values(&self, g: &Group, e: &Expr) -> Option<f64> {
        let mut e = e;
        while let ExprKind::Cast(inner) = &e.kind {
            e = inner;
        }
        let ExprKind::Column(c) = e.kind else { return None };
        for item in &g.items {
            let Source::Table(t) = &item.source else { continue };
            let Some(p) = t.cols.iter().position(|x| *x == c) else { continue };
            let rows = self.cx.statistics.rows(&t.table).max(1.0);
            for (n, i) in t.table.indexes.iter().enumerate() {
                if i.parts.first().is_some_and(|x| x.column == p) {
                    if i.unique && i.parts.len() == 1 {
                        return Some(rows);
                    }
                    if let Some(r) = self.cx.statistics.rec_per_key(&t.table, n, 1) {
                        return Some(rows / r.max(1.0));
                    }
                }
            }
        }
        None
    }
}

/// `x.a = y.b AND y.b = z.c`: `x.a` can be looked up by `z.c` too. The conjunct itself is still checked when `y` comes.
fn through_equalities(sargs: &mut Vec<Sarg>, conds: &[Expr], own: &BTreeSet<ColId>) {
    let mut pairs: Vec<(&Expr, &Expr)> = Vec::new();
    for c in conds {
        if let ExprKind::Compare { op: CmpOp::Eq, left, right, .. } = &c.kind
            && matches!((&left.kind, &right.kind), (ExprKind::Column(_), ExprKind::Column(_)))
            && left.ty == right.ty
        {
            pairs.push((left, right));
            pairs.push((right, left));
        }
    }
    let mut more = Vec::new();
    for s in sargs.iter() {
        let [Interval::Point { value, null_safe: false }] = s.intervals.as_slice() else { continue };
        let ExprKind::Column(v) = value.kind else { continue };
        let mut seen = BTreeSet::from([v]);
        let mut queue = vec![v];
        while let Some(x) = queue.pop() {
            for (a, b) in &pairs {
                let (ExprKind::Column(from), ExprKind::Column(to)) = (&a.kind, &b.kind) else { continue };
                if *from != x || own.contains(to) || !seen.insert(*to) {
                    continue;
                }
                queue.push(*to);
                more.push(Sarg {
                    column: s.column,
                    intervals: vec![Interval::Point { value: (*b).clone(), null_safe: false }],
                    needs: BTreeSet::from([*to]),
                    items: 0,
                    cond: s.cond,
                    exact: false,
                });
            }
        }
    }
    sargs.extend(more);
}

/// Whether conditions with outer values can usefully be pushed into the tree.
pub(super) fn is_pushable(rel: &Rel) -> bool {
    match rel {
        Rel::Table(_) => true,
        Rel::Join { left, right, .. } => is_pushable(left) || is_pushable(right),
        Rel::Filter { input, .. } | Rel::Project { input, .. } => is_pushable(input),
        _ => false,
    }
}
