//! Access paths of one table: which conditions an index can serve, and at what price.
//!
//! An index serves a prefix of its parts by points and at most one more part by ranges ([`Sarg`]s).

use std::collections::BTreeSet;

use selkie_catalog::{Index, IndexKind, Table};
use selkie_expr::{Expr, ExprKind};
use selkie_parser::ast;
use selkie_types::Value;
use selkie_types::codec::{KeyPart, key_part_is_reversible};

use super::cost;
use super::sarg::{Interval, RANGES_MAX, Sarg};
use crate::context::PlanContext;
use crate::exprs;
use crate::logical::{ColId, TableRel};
use crate::plan::{Access, KeyBound, KeyRange, LockMode};

/// One way to read a table.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub access: Access,
    /// Rows found by the access, before remaining conditions.
    pub rows: f64,
    /// Price of one execution.
    pub cost: f64,
    pub covering: bool,
    /// Conjuncts that the access implies.
    pub implied: BTreeSet<usize>,
    /// Conjuncts that the access used, exactly or not.
    pub used: BTreeSet<usize>,
    /// Columns fixed to a single value by the access.
    pub fixed: BTreeSet<usize>,
    /// Order of the rows: table columns with their directions.
    pub order: Vec<(usize, bool)>,
    /// Whether `order` tells rows apart completely.
    pub order_unique: bool,
    /// Key parts bounded by equality, for EXPLAIN and estimates.
    pub key_parts: usize,
}

/// Lower and upper bound of one key part: value and whether it belongs to the range.
type Span = (Option<(Expr, bool)>, Option<(Expr, bool)>);

/// What is asked of a table's paths.
pub(crate) struct Wanted<'a> {
    pub cx: &'a PlanContext<'a>,
    pub table: &'a TableRel,
    /// Positions of columns that must be produced.
    pub needed: &'a BTreeSet<usize>,
    /// Positions of columns that each conjunct reads, which an access that implies the conjunct need not produce.
    pub cond_columns: &'a [BTreeSet<usize>],
}

/// Which indexes hints allow: (allowed, forced).
pub(crate) fn allowed_indexes(t: &TableRel) -> (Vec<bool>, bool) {
    let table = &t.table;
    let mut allowed: Vec<bool> =
        table.indexes.iter().map(|i| !i.ignored && matches!(i.kind, IndexKind::BTree | IndexKind::Hash)).collect();
    let named = |h: &ast::IndexHint, i: &Index| h.indexes.iter().any(|n| n.value.eq_ignore_ascii_case(&i.name));
    let relevant = |h: &&ast::IndexHint| matches!(h.scope, ast::IndexHintScope::All | ast::IndexHintScope::Join);
    let uses: Vec<&ast::IndexHint> =
        t.hints.iter().filter(relevant).filter(|h| h.action != ast::IndexHintAction::Ignore).collect();
    let forced = uses.iter().any(|h| h.action == ast::IndexHintAction::Force);
    if !uses.is_empty() {
        for (a, i) in allowed.iter_mut().zip(&table.indexes) {
            *a &= uses.iter().any(|h| named(h, i));
        }
    }
    for h in t.hints.iter().filter(relevant).filter(|h| h.action == ast::IndexHintAction::Ignore) {
        for (a, i) in allowed.iter_mut().zip(&table.indexes) {
            *a &= !named(h, i);
        }
    }
    (allowed, forced)
}

/// The key part of an index as the codec sees it.
pub(crate) fn key_part(table: &Table, index: &Index, part: usize) -> KeyPart {
    let p = &index.parts[part];
    let c = &table.columns[p.column];
    KeyPart { ty: c.ty.clone(), nullable: c.nullable, descending: p.descending, prefix: p.prefix }
}

/// Columns that can be read back from an index's entries (those of the primary key stand behind the index's own).
fn readable_columns(table: &Table, index: &Index) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    let mut add = |i: &Index| {
        for (n, p) in i.parts.iter().enumerate() {
            if key_part_is_reversible(&key_part(table, i, n)) {
                out.insert(p.column);
            }
        }
    };
    add(index);
    if let Some(pk) = table.primary_key() {
        add(pk);
    }
    out
}

impl Wanted<'_> {
    fn rows_in_table(&self) -> f64 {
        self.cx.statistics.rows(&self.table.table).max(1.0)
    }

    fn is_covering(&self, index: usize, implied: &BTreeSet<usize>) -> bool {
        let table = &self.table.table;
        let i = &table.indexes[index];
        if i.primary || self.table.lock != LockMode::None || self.table.row_key.is_some() {
            return false;
        }
        let readable = readable_columns(table, i);
        let conds = self.cond_columns.iter().enumerate().filter(|(n, _)| !implied.contains(n));
        self.needed.is_subset(&readable) && conds.into_iter().all(|(_, c)| c.is_subset(&readable))
    }

    /// The order that an index's entries have, primary key behind.
    fn index_order(&self, index: usize) -> (Vec<(usize, bool)>, bool) {
        let table = &self.table.table;
        let i = &table.indexes[index];
        let mut out: Vec<(usize, bool)> = Vec::new();
        let push = |i: &Index, out: &mut Vec<(usize, bool)>| {
            for p in &i.parts {
                if p.prefix.is_some() {
                    return false;
                }
                if !out.iter().any(|(c, _)| *c == p.column) {
                    out.push((p.column, p.descending));
                }
            }
            true
        };
        let whole = push(i, &mut out);
        let mut unique = whole && i.unique && i.parts.iter().all(|p| !table.columns[p.column].nullable);
        if let (true, Some(pk)) = (whole && !i.primary, table.primary_key()) {
            unique |= push(pk, &mut out);
        }
        (out, unique)
    }

    /// Rows for each combination of the first `parts` key parts.
    fn rec_per_key(&self, index: usize, parts: usize) -> f64 {
        let table = &self.table.table;
        let i = &table.indexes[index];
        let rows = self.rows_in_table();
        if i.unique && parts >= i.parts.len() {
            return 1.0;
        }
        if let Some(r) = self.cx.statistics.rec_per_key(table, index, parts) {
            return r.clamp(1.0, rows);
        }
        // Unknown: each part divides by ten, the last part of a unique index by what remains.
        let mut r = rows;
        for _ in 0..parts {
            r *= cost::EQ_SELECTIVITY;
        }
        r.max(1.0)
    }

    /// Price of reading rows through an index.
    fn index_cost(&self, index: usize, lookups: f64, rows: f64, covering: bool) -> f64 {
        let primary = self.table.table.indexes[index].primary;
        let each = if primary {
            cost::ROW
        } else if covering {
            cost::ENTRY
        } else {
            cost::ENTRY + cost::LOOKUP
        };
        lookups * cost::LOOKUP + rows * each
    }

    /// The full scan.
    pub fn full_scan(&self) -> Path {
        let rows = self.rows_in_table();
        let (order, unique) = match self.table.table.primary_key() {
            Some(_) => self.index_order(0),
            None => (Vec::new(), false),
        };
        Path {
            access: Access::Full,
            rows,
            cost: cost::LOOKUP + rows * cost::ROW,
            covering: false,
            implied: BTreeSet::new(),
            used: BTreeSet::new(),
            fixed: BTreeSet::new(),
            order,
            order_unique: unique,
            key_parts: 0,
        }
    }

    /// All entries of an index.
    fn index_scan(&self, index: usize) -> Path {
        let rows = self.rows_in_table();
        let covering = self.is_covering(index, &BTreeSet::new());
        let (order, unique) = self.index_order(index);
        Path {
            access: Access::IndexScan { index },
            rows,
            cost: self.index_cost(index, 1.0, rows, covering),
            covering,
            implied: BTreeSet::new(),
            used: BTreeSet::new(),
            fixed: BTreeSet::new(),
            order,
            order_unique: unique,
            key_parts: 0,
        }
    }

    /// All sensible paths, given which sargs can be used (their needs are met).
    pub fn paths(&self, sargs: &[&Sarg]) -> Vec<Path> {
        let (allowed, forced) = allowed_indexes(self.table);
        let mut out = Vec::new();
        for (i, index) in self.table.table.indexes.iter().enumerate().filter(|(i, _)| allowed[*i]) {
            if let Some(p) = self.range_path(i, index, sargs) {
                out.push(p);
            }
            if !index.primary {
                out.push(self.index_scan(i));
            }
        }
        let mut full = self.full_scan();
        if forced && out.iter().any(|p| !p.used.is_empty()) {
            // FORCE INDEX: a table scan only where no index can be used.
            full.cost *= 1e6;
            for p in out.iter_mut().filter(|p| p.used.is_empty()) {
                p.cost *= 1e3;
            }
        }
        out.push(full);
        out
    }

    /// Use of an index by the sargs on its first parts.
    fn range_path(&self, index: usize, def: &Index, sargs: &[&Sarg]) -> Option<Path> {
        let table = &self.table.table;
        // Value lists of the parts bounded by points so far.
        let mut prefix: Vec<Vec<(Expr, bool)>> = vec![Vec::new()];
        let mut used = BTreeSet::new();
        let mut implied = BTreeSet::new();
        let mut fixed = BTreeSet::new();
        let mut tail: Option<Vec<Span>> = None;
        let mut parts = 0;
        let mut whole_prefix = true;
        let mut single = true;
        let mut nulls = false;
        for p in &def.parts {
            let whole = p.prefix.is_none();
            let here: Vec<&&Sarg> = sargs.iter().filter(|s| s.column == p.column).collect();
            let points =
                here.iter().filter(|s| s.is_points()).min_by_key(|s| (s.intervals.len(), usize::from(!s.exact)));
            if let Some(s) = points
                && prefix.len() * s.intervals.len() <= RANGES_MAX
            {
                single &= s.is_single_point();
                let mut next = Vec::with_capacity(prefix.len() * s.intervals.len());
                for before in &prefix {
                    for i in &s.intervals {
                        if let Interval::Point { value, null_safe } = i {
                            let mut v = before.clone();
                            nulls |= *null_safe;
                            v.push((value.clone(), *null_safe));
                            next.push(v);
                        }
                    }
                }
                prefix = next;
                used.insert(s.cond);
                if s.exact && whole {
                    implied.insert(s.cond);
                }
                if s.is_single_point() {
                    fixed.insert(p.column);
                }
                parts += 1;
                whole_prefix &= whole;
                continue;
            }
            tail = self.tail(&here, whole, p.descending, &mut used, &mut implied);
            break;
        }
        if used.is_empty() {
            return None;
        }
        let covering = self.is_covering(index, &implied);
        let all = parts == def.parts.len();
        let (order, order_unique) = self.index_order(index);
        if all && def.unique && single && whole_prefix && !nulls {
            let key = prefix.pop()?.into_iter().map(|(e, _)| e).collect();
            let cost = if def.primary || covering { cost::LOOKUP } else { 2.0 * cost::LOOKUP };
            return Some(Path {
                access: Access::Point { index, key },
                rows: 1.0,
                cost,
                covering,
                implied,
                used,
                fixed: (0..table.columns.len()).collect(),
                order: Vec::new(),
                order_unique: true,
                key_parts: parts,
            });
        }
        let merge = prefix.len() > 1 || tail.as_ref().is_some_and(|t| t.len() > 1);
        let ranges = make_ranges(prefix, tail.as_deref(), def, table);
        if ranges.len() > RANGES_MAX {
            return None;
        }
        let rows = self.estimate(index, &ranges, parts, tail.is_some());
        let cost = self.index_cost(index, ranges.len() as f64, rows, covering);
        let constant =
            |b: &Option<KeyBound>| b.iter().all(|b| b.values.iter().all(|v| matches!(v.kind, ExprKind::Const(_))));
        let merge = merge && !ranges.iter().all(|r| constant(&r.low) && constant(&r.high));
        Some(Path {
            access: Access::Ranges { index, ranges, merge },
            rows,
            cost,
            covering,
            implied,
            used,
            fixed,
            order,
            order_unique,
            key_parts: parts,
        })
    }

    /// The ranges of the part behind the points.
    fn tail(
        &self,
        here: &[&&Sarg],
        whole: bool,
        descending: bool,
        used: &mut BTreeSet<usize>,
        implied: &mut BTreeSet<usize>,
    ) -> Option<Vec<Span>> {
        if here.is_empty() {
            return None;
        }
        let relax = |b: &Option<(Expr, bool)>| b.clone().map(|(e, inclusive)| (e, inclusive || !whole));
        // Several intervals (OR, a long IN list) stand alone; single ranges are intersected.
        let mut low = None;
        let mut high = None;
        let mut any = false;
        for s in here.iter().filter(|s| s.intervals.len() == 1) {
            if let Interval::Range { low: l, high: h } = &s.intervals[0] {
                let takes_low = l.as_ref().is_some_and(|l| tighter(&low, l, true));
                let takes_high = h.as_ref().is_some_and(|h| tighter(&high, h, false));
                let open = l.is_none() && h.is_none();
                if !(takes_low || takes_high || open) {
                    continue;
                }
                // The looser bound that this one replaces is implied by it; both are exact or neither is dropped.
                if takes_low {
                    low = relax(l);
                }
                if takes_high {
                    high = relax(h);
                }
                any = true;
                used.insert(s.cond);
                let all_of_it = (l.is_none() || takes_low) && (h.is_none() || takes_high);
                if s.exact && whole && all_of_it {
                    implied.insert(s.cond);
                }
            }
        }
        if any {
            return Some(vec![if descending { (high, low) } else { (low, high) }]);
        }
        let several = here.iter().find(|s| s.intervals.len() > 1)?;
        used.insert(several.cond);
        if several.exact && whole {
            implied.insert(several.cond);
        }
        let ranges = several
            .intervals
            .iter()
            .map(|i| match i {
                Interval::Point { value, .. } => (Some((value.clone(), true)), Some((value.clone(), true))),
                Interval::Range { low, high } if descending => (relax(high), relax(low)),
                Interval::Range { low, high } => (relax(low), relax(high)),
            })
            .collect();
        // A point for NULL among ranges would need its own null-safe mark.
        let has_null = several.intervals.iter().any(|i| matches!(i, Interval::Point { null_safe: true, .. }));
        if has_null {
            used.remove(&several.cond);
            implied.remove(&several.cond);
            return None;
        }
        Some(ranges)
    }

    fn estimate(&self, index: usize, ranges: &[KeyRange], parts: usize, tail: bool) -> f64 {
        let table = &self.table.table;
        let total = self.rows_in_table();
        let mut rows = 0.0;
        for r in ranges.iter().take(20) {
            let constant =
                |b: &Option<KeyBound>| b.iter().all(|b| b.values.iter().all(|v| matches!(v.kind, ExprKind::Const(_))));
            let known = if constant(&r.low) && constant(&r.high) {
                self.cx.statistics.range_rows(table, index, r)
            } else {
                None
            };
            rows += known.unwrap_or_else(|| {
                let base = if parts == 0 { total } else { self.rec_per_key(index, parts) };
                if !tail {
                    return base;
                }
                let bounded = |b: &Option<KeyBound>| {
                    b.as_ref().is_some_and(|b| {
                        b.values.get(parts).is_some_and(|v| !matches!(v.kind, ExprKind::Const(Value::Null)))
                    })
                };
                match (bounded(&r.low), bounded(&r.high)) {
                    // Between two parameters: whoever prepares such a statement looks for few rows.
                    (true, true) if !constant(&r.low) || !constant(&r.high) => base * cost::PARAMETER_RANGE_SELECTIVITY,
                    (true, true) => base * cost::BETWEEN_SELECTIVITY,
                    (false, false) => base * 0.9,
                    _ => base * cost::RANGE_SELECTIVITY,
                }
            });
        }
        if ranges.len() > 20 {
            rows *= ranges.len() as f64 / 20.0;
        }
        rows.clamp(1.0, total)
    }
}

/// All combinations of the points with the ranges behind them.
fn make_ranges(prefix: Vec<Vec<(Expr, bool)>>, tail: Option<&[Span]>, def: &Index, table: &Table) -> Vec<KeyRange> {
    let mut out = Vec::new();
    for points in prefix {
        let values: Vec<Expr> = points.iter().map(|(e, _)| e.clone()).collect();
        let mut null_safe: Vec<bool> = points.iter().map(|(_, n)| *n).collect();
        let Some(tail) = tail else {
            let bound = KeyBound { values, inclusive: true };
            out.push(KeyRange { low: Some(bound.clone()), high: Some(bound), null_safe });
            continue;
        };
        let part = &def.parts[values.len()];
        let column = &table.columns[part.column];
        null_safe.push(false);
        for (low, high) in tail {
            let with = |b: &Option<(Expr, bool)>| match b {
                Some((e, inclusive)) => {
                    let mut v = values.clone();
                    v.push(e.clone());
                    Some(KeyBound { values: v, inclusive: *inclusive })
                }
                None if values.is_empty() => None,
                None => Some(KeyBound { values: values.clone(), inclusive: true }),
            };
            let mut range = KeyRange { low: with(low), high: with(high), null_safe: null_safe.clone() };
            // A range never holds NULLs, which stand first (last in a descending part).
            if column.nullable {
                let mut v = values.clone();
                v.push(Expr::constant(Value::Null, column.ty.clone()));
                let past_nulls = Some(KeyBound { values: v, inclusive: false });
                if part.descending && high.is_none() {
                    range.high = past_nulls;
                    range.null_safe[values.len()] = true;
                } else if !part.descending && low.is_none() {
                    range.low = past_nulls;
                    range.null_safe[values.len()] = true;
                }
            }
            out.push(range);
        }
    }
    sort_constant(&mut out, def);
    out
}

/// Puts ranges with constant bounds in ascending order, without repeated ones.
fn sort_constant(ranges: &mut Vec<KeyRange>, def: &Index) {
    if ranges.len() < 2 || def.parts.iter().any(|p| p.descending) {
        return;
    }
    fn ints(r: &KeyRange) -> Option<Vec<i128>> {
        let b = r.low.as_ref()?;
        b.values
            .iter()
            .map(|v| match &v.kind {
                ExprKind::Const(Value::Int(i)) => Some(i128::from(*i)),
                ExprKind::Const(Value::UInt(i)) => Some(i128::from(*i)),
                _ => None,
            })
            .collect()
    }
    let keys: Option<Vec<Vec<i128>>> = ranges.iter().map(ints).collect();
    if let Some(keys) = keys {
        let points = ranges.iter().all(|r| r.high.as_ref().is_some_and(|h| h.inclusive));
        let mut all: Vec<(Vec<i128>, KeyRange)> = keys.into_iter().zip(std::mem::take(ranges)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        if points {
            all.dedup_by(|a, b| a.0 == b.0 && same_bounds(&a.1, &b.1));
        }
        ranges.extend(all.into_iter().map(|(_, r)| r));
    }
}

fn same_bounds(a: &KeyRange, b: &KeyRange) -> bool {
    let eq = |x: &Option<KeyBound>, y: &Option<KeyBound>| match (x, y) {
        (Some(x), Some(y)) => {
            x.inclusive == y.inclusive
                && x.values.len() == y.values.len()
                && x.values.iter().zip(&y.values).all(|(p, q)| exprs::same(p, q))
        }
        (None, None) => true,
        _ => false,
    };
    eq(&a.low, &b.low) && eq(&a.high, &b.high)
}

/// Whether a bound narrows the range more than the one chosen so far; known only of integer constants.
fn tighter(chosen: &Option<(Expr, bool)>, new: &(Expr, bool), low: bool) -> bool {
    let Some((old, _)) = chosen else { return true };
    let int = |e: &Expr| match &e.kind {
        ExprKind::Const(Value::Int(i)) => Some(i128::from(*i)),
        ExprKind::Const(Value::UInt(i)) => Some(i128::from(*i)),
        _ => None,
    };
    match (int(old), int(&new.0)) {
        (Some(a), Some(b)) => {
            if low {
                b > a
            } else {
                b < a
            }
        }
        _ => false,
    }
}

/// Whether a path's rows come in the wanted order: `Some(backwards)` if so. Columns fixed to one value do not count.
pub(crate) fn order_matches(
    path: &Path,
    t: &TableRel,
    want: &[(ColId, bool)],
    fixed: &BTreeSet<ColId>,
) -> Option<bool> {
    if matches!(path.access, Access::Point { .. }) {
        return want.iter().all(|(c, _)| t.cols.contains(c)).then_some(false);
    }
    let is_fixed = |c: usize| path.fixed.contains(&c) || fixed.contains(&t.cols[c]);
    let mut reverse: Option<bool> = None;
    let mut order = path.order.iter();
    let mut exhausted = false;
    for (c, desc) in want {
        let Some(column) = t.cols.iter().position(|x| x == c) else {
            if fixed.contains(c) {
                continue;
            }
            return None;
        };
        if is_fixed(column) || exhausted {
            continue;
        }
        loop {
            match order.next() {
                None if path.order_unique => {
                    exhausted = true;
                    break;
                }
                None => return None,
                Some((p, _)) if is_fixed(*p) && *p != column => continue,
                Some((p, d)) if *p == column => {
                    let r = d != desc;
                    if reverse.is_some_and(|x| x != r) {
                        return None;
                    }
                    reverse = Some(r);
                    break;
                }
                Some(_) => return None,
            }
        }
    }
    Some(reverse.unwrap_or(false))
}
