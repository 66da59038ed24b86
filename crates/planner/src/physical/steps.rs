//! Join order: what each next item costs after a set of others, and the search for the cheapest sequence.

use std::collections::{BTreeSet, HashMap};

use selkie_expr::{CmpOp, Expr, ExprKind};

use super::access::{Path, Wanted, order_matches};
use super::group::{Group, Mask, Source};
use super::sarg::Sarg;
use super::{Lowering, Want, cost};
use crate::exprs;
use crate::logical::ColId;
use crate::plan::JoinKind;

/// From how many first items the greedy search tries.
const GREEDY_STARTS: usize = 4;

/// How an item is joined to what stands before it.
#[derive(Debug, Clone)]
pub(super) enum Method {
    /// First of the sequence, or read once and kept.
    Alone(Option<Path>),
    /// Read anew for each row before it.
    Dependent(Option<Path>),
    /// Hash join by these conjuncts.
    Hash { path: Option<Path>, keys: Vec<usize> },
}

/// One item in its place.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub item: usize,
    pub method: Method,
    pub rows: f64,
    pub cost: f64,
}

/// A sequence of items.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    pub steps: Vec<Step>,
    pub rows: f64,
    pub cost: f64,
    /// Whether rows come in the wanted order; `reverse` of the first item's path.
    pub ordered: bool,
    pub reverse: bool,
}

/// What is known of each item before the search.
pub(super) struct Search<'s> {
    pub g: &'s Group,
    /// For each table item, columns that must be produced whatever the access implies.
    pub needed: Vec<BTreeSet<usize>>,
    /// For each table item and conjunct, the table's columns that it reads.
    pub cond_columns: Vec<Vec<BTreeSet<usize>>>,
    /// Columns fixed by equality with a constant.
    pub fixed: BTreeSet<ColId>,
    pub hash: bool,
}

impl Lowering<'_> {
    /// The cheapest path of a table when the items of `before` are in place; `ordered` restricts to those in order.
    pub(super) fn best_path(
        &self,
        s: &Search<'_>,
        item: usize,
        before: Mask,
        want: Option<&Want>,
    ) -> Option<(Path, f64, bool)> {
        let g = s.g;
        let Source::Table(t) = &g.items[item].source else { return None };
        let after = !before & !(1 << item);
        let usable: Vec<&Sarg> = g.items[item].sargs.iter().filter(|a| a.items & after == 0).collect();
        let wanted = Wanted { cx: self.cx, table: t, needed: &s.needed[item], cond_columns: &s.cond_columns[item] };
        let mut best: Option<(Path, f64, bool, f64)> = None;
        for p in wanted.paths(&usable) {
            let reverse = match want {
                Some(w) => match order_matches(&p, t, &w.order, &s.fixed) {
                    Some(r) => r,
                    None => continue,
                },
                None => false,
            };
            let rows = self.rows_after(g, item, before, &p);
            let mut price = p.cost + p.rows * cost::FILTER;
            // Few rows are wanted in this order: only as much is read as gives them.
            if let Some(limit) = want.and_then(|w| w.limit) {
                price *= (limit / rows.max(1.0)).clamp(0.0, 1.0);
                price += cost::LOOKUP;
            }
            // A tie goes to the path that bounds more key parts, then to the one that covers.
            let tie = p.key_parts as f64 * 1e-3 + if p.covering { 1e-4 } else { 0.0 };
            if best.as_ref().is_none_or(|(.., b)| price - tie < *b) {
                best = Some((p, rows, reverse, price - tie));
            }
        }
        best.map(|(p, rows, reverse, _)| (p, rows, reverse))
    }

    /// Rows of a path after all conjuncts that can be checked with `before` in place.
    fn rows_after(&self, g: &Group, item: usize, before: Mask, p: &Path) -> f64 {
        let mut rows = p.rows;
        let here = 1 << item;
        for (n, c) in g.conds_of(item).iter().enumerate() {
            let m = g.cond_mask_of(item, n);
            if m & here != 0 && m & !(before | here) == 0 && !p.used.contains(&n) {
                rows *= self.selectivity(g, c);
            }
        }
        rows.max(0.01)
    }

    /// Equalities between the item and those before it.
    fn hash_keys(&self, g: &Group, item: usize, before: Mask) -> Vec<usize> {
        let here = 1 << item;
        let mut out = Vec::new();
        for n in 0..g.conds_of(item).len() {
            let Some((l, r)) = g.sides_of(item, n) else { continue };
            if (l == here && r != 0 && r & !before == 0) || (r == here && l != 0 && l & !before == 0) {
                out.push(n);
            }
        }
        out
    }

    /// The cheapest way to join an item to `before`, which gives `left` rows.
    pub(super) fn step(&self, s: &Search<'_>, item: usize, before: Mask, left: f64) -> Step {
        let g = s.g;
        let it = &g.items[item];
        let (mut best, out) = match &it.source {
            Source::Table(_) => self.table_step(s, item, before, left),
            Source::Other(_) => self.other_step(g, item, before, left),
        };
        let rows = match it.kind {
            JoinKind::Inner => left * out,
            JoinKind::Left => (left * out).max(left),
            JoinKind::Semi => (left * out.min(1.0)).min(left * 0.9).max(0.01),
            JoinKind::Anti => (left * 0.5).max(0.01),
        };
        let keys = if s.hash && !it.lateral { self.hash_keys(g, item, before) } else { Vec::new() };
        if it.null_aware && !keys.is_empty() || !keys.is_empty() {
            let (path, price, build) = match &it.source {
                Source::Table(_) => match self.best_path(s, item, 0, None) {
                    Some((p, rows, _)) => {
                        let price = p.cost + p.rows * cost::FILTER;
                        (Some(p), price, rows)
                    }
                    None => (None, f64::INFINITY, 0.0),
                },
                Source::Other(_) => (None, it.estimate.0, it.estimate.1),
            };
            let total = price + build * cost::HASH_BUILD + left * cost::HASH_PROBE + rows * cost::EMIT;
            if total < best.cost || it.null_aware {
                best = Step { item, method: Method::Hash { path, keys }, rows, cost: total };
            }
        }
        best.rows = rows;
        best
    }

    fn table_step(&self, s: &Search<'_>, item: usize, before: Mask, left: f64) -> (Step, f64) {
        let dependent = self.best_path(s, item, before, None);
        let alone = self.best_path(s, item, 0, None);
        let mut out = 1.0;
        let mut best = Step { item, method: Method::Alone(None), rows: 0.0, cost: f64::INFINITY };
        if let Some((p, rows, _)) = alone {
            // Read once, kept, and gone through for each row before it.
            let price = p.cost + p.rows * cost::FILTER + left * (cost::LOOP + rows * (cost::FILTER + cost::EMIT));
            best.cost = price;
            best.method = Method::Alone(Some(p));
            out = rows;
        }
        if let Some((p, rows, _)) = dependent {
            let uses_outer = s.g.items[item].sargs.iter().any(|a| p.used.contains(&a.cond) && a.items & before != 0);
            out = rows;
            let price = left * (cost::LOOP + p.cost + p.rows * cost::FILTER);
            if uses_outer && price < best.cost {
                best.cost = price;
                best.method = Method::Dependent(Some(p));
            }
        }
        (best, out)
    }

    fn other_step(&self, g: &Group, item: usize, before: Mask, left: f64) -> (Step, f64) {
        let it = &g.items[item];
        let (price, rows) = it.estimate;
        if it.lateral {
            let step = Step { item, method: Method::Dependent(None), rows: 0.0, cost: left * (cost::LOOP + price) };
            return (step, rows);
        }
        let mut out = rows;
        for (n, c) in g.conds_of(item).iter().enumerate() {
            let m = g.cond_mask_of(item, n);
            if m & 1 << item != 0 && m & !(before | 1 << item) == 0 && m & before != 0 {
                out *= self.selectivity(g, c);
            }
        }
        let mut best = Step {
            item,
            method: Method::Alone(None),
            rows: 0.0,
            cost: price + left * (cost::LOOP + rows * (cost::FILTER + cost::EMIT)),
        };
        if let Some((price, rows)) = it.dependent {
            let all_there = g
                .conds_of(item)
                .iter()
                .enumerate()
                .all(|(n, c)| g.mask(c) & 1 << item == 0 || g.cond_mask_of(item, n) & !(before | 1 << item) == 0);
            let dependent = left * (cost::LOOP + price);
            if all_there && before != 0 && dependent < best.cost {
                best.cost = dependent;
                best.method = Method::Dependent(None);
                out = rows;
            }
        }
        (best, out.max(0.01))
    }

    /// The first item of a sequence; in the wanted order if asked for.
    fn first(&self, s: &Search<'_>, item: usize, want: Option<&Want>) -> Option<(Step, bool)> {
        let it = &s.g.items[item];
        if it.kind != JoinKind::Inner || it.deps != 0 || it.lateral {
            return None;
        }
        match &it.source {
            Source::Table(_) => {
                let (p, rows, reverse) = self.best_path(s, item, 0, want)?;
                let price = p.cost + p.rows * cost::FILTER;
                Some((Step { item, method: Method::Alone(Some(p)), rows, cost: price }, reverse))
            }
            Source::Other(_) if want.is_none() => {
                let (price, rows) = it.estimate;
                Some((Step { item, method: Method::Alone(None), rows, cost: price }, false))
            }
            Source::Other(_) => None,
        }
    }

    /// The cheapest sequence. `want`: only those whose first item gives the order and whose joins keep it.
    pub(super) fn sequence(&self, s: &Search<'_>, want: Option<&Want>) -> Option<Sequence> {
        let n = s.g.items.len();
        if n <= self.cx.switches.exhaustive_tables { self.exhaustive(s, want) } else { self.greedy(s, want) }
    }

    fn exhaustive(&self, s: &Search<'_>, want: Option<&Want>) -> Option<Sequence> {
        let n = s.g.items.len();
        let mut best: HashMap<Mask, Sequence> = HashMap::new();
        for i in 0..n {
            if let Some((step, reverse)) = self.first(s, i, want) {
                let seq =
                    Sequence { rows: step.rows, cost: step.cost, steps: vec![step], ordered: want.is_some(), reverse };
                best.insert(1 << i, seq);
            }
        }
        let all: Mask = (1 << n) - 1;
        // Masks in ascending order: every subset comes before its supersets.
        for mask in 1..all {
            let Some(seq) = best.get(&mask).cloned() else { continue };
            for i in 0..n {
                let Some(next) = self.extend(s, &seq, mask, i, want) else { continue };
                let key = mask | 1 << i;
                if best.get(&key).is_none_or(|b| next.cost < b.cost) {
                    best.insert(key, next);
                }
            }
        }
        best.remove(&all)
    }

    fn extend(&self, s: &Search<'_>, seq: &Sequence, mask: Mask, i: usize, want: Option<&Want>) -> Option<Sequence> {
        if mask & 1 << i != 0 || s.g.items[i].deps & !mask != 0 {
            return None;
        }
        let step = self.step(s, i, mask, seq.rows);
        // A hash join gives rows in no order that can be relied on.
        if want.is_some() && matches!(step.method, Method::Hash { .. }) {
            return None;
        }
        let mut next = seq.clone();
        next.cost += step.cost;
        next.rows = step.rows;
        next.steps.push(step);
        Some(next)
    }

    fn greedy(&self, s: &Search<'_>, want: Option<&Want>) -> Option<Sequence> {
        let n = s.g.items.len();
        let mut overall: Option<Sequence> = None;
        let mut starts: Vec<(usize, Step, bool)> =
            (0..n).filter_map(|i| self.first(s, i, want).map(|(step, reverse)| (i, step, reverse))).collect();
        // A sequence is tried from the few items that give the fewest rows.
        starts.sort_by(|a, b| (a.1.rows + a.1.cost).total_cmp(&(b.1.rows + b.1.cost)));
        starts.truncate(GREEDY_STARTS);
        for (start, step, reverse) in starts {
            let mut seq =
                Sequence { rows: step.rows, cost: step.cost, steps: vec![step], ordered: want.is_some(), reverse };
            let mut mask: Mask = 1 << start;
            while seq.steps.len() < n {
                let mut best: Option<(Sequence, usize)> = None;
                for i in 0..n {
                    let Some(next) = self.extend(s, &seq, mask, i, want) else { continue };
                    // Few rows now make everything after cheap.
                    let weight = |q: &Sequence| q.cost + q.rows * cost::LOOKUP;
                    if best.as_ref().is_none_or(|(b, _)| weight(&next) < weight(b)) {
                        best = Some((next, i));
                    }
                }
                let Some((next, i)) = best else { break };
                mask |= 1 << i;
                seq = next;
            }
            if seq.steps.len() == n && overall.as_ref().is_none_or(|o| seq.cost < o.cost) {
                overall = Some(seq);
            }
        }
        overall
    }

    /// Columns that conjuncts fix to one value.
    pub(super) fn fixed_columns(&self, g: &Group) -> BTreeSet<ColId> {
        let mut out = BTreeSet::new();
        for c in &g.conds {
            if let ExprKind::Compare { op: CmpOp::Eq, left, right, .. } = &c.kind {
                for (a, b) in [(left, right), (right, left)] {
                    if let ExprKind::Column(c) = a.kind
                        && exprs::columns(b).is_empty()
                        && is_plain(b)
                    {
                        out.insert(c);
                    }
                }
            }
        }
        out
    }
}

fn is_plain(e: &Expr) -> bool {
    !exprs::has_subquery(e)
}
