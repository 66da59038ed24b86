//! Conjuncts in the form that an index understands: intervals of one column, with bounds that are known before the
//! table is read (constants, parameters, outer values, columns of tables joined earlier).

use std::collections::BTreeSet;

use selkie_catalog::Column;
use selkie_expr::{CmpOp, Expr, ExprKind};
use selkie_types::{Collation, SqlType, Value, convert};

use crate::exprs;
use crate::logical::{ColId, TableRel};

/// The most ranges that one access is split into.
pub(super) const RANGES_MAX: usize = 1000;

/// Values of one column.
#[derive(Debug, Clone)]
pub(crate) enum Interval {
    /// Equal to a value; `null_safe`: NULL selects NULLs.
    Point { value: Expr, null_safe: bool },
    /// Between bounds (value, inclusive). NULLs are in it only where `nulls` says so.
    Range { low: Option<(Expr, bool)>, high: Option<(Expr, bool)> },
}

/// A condition as intervals of a column.
#[derive(Debug, Clone)]
pub(crate) struct Sarg {
    /// Position of the column in the table.
    pub column: usize,
    pub intervals: Vec<Interval>,
    /// Columns of other tables that the bounds read.
    pub needs: BTreeSet<ColId>,
    /// The items of the join group that make them; filled in by the group.
    pub items: u64,
    /// Index of the conjunct.
    pub cond: usize,
    /// Whether the intervals mean exactly the conjunct.
    pub exact: bool,
}

impl Sarg {
    pub fn is_points(&self) -> bool {
        self.intervals.iter().all(|i| matches!(i, Interval::Point { .. }))
    }

    pub fn is_single_point(&self) -> bool {
        self.intervals.len() == 1 && self.is_points()
    }
}

/// Whether values of a column of type `col`, cast to `ty`, keep their order and stay apart.
fn monotone(col: &SqlType, ty: &SqlType) -> bool {
    use SqlType as T;
    match (col, ty) {
        (a, b) if a == b => true,
        (T::Int { .. } | T::Year(_) | T::Bit(_), T::Int { .. } | T::Decimal { .. } | T::Double { .. }) => true,
        (T::Decimal { scale: a, .. }, T::Decimal { scale: b, .. }) => b >= a,
        (T::Decimal { .. }, T::Double { .. }) => true,
        (T::Float { .. } | T::Double { .. }, T::Double { .. }) => true,
        (T::Text { collation: a, .. }, T::Text { collation: b, .. }) => a == b,
        (T::Date, T::DateTime { .. } | T::Timestamp { .. }) => true,
        (T::DateTime { fsp: a } | T::Timestamp { fsp: a }, T::DateTime { fsp: b } | T::Timestamp { fsp: b }) => b >= a,
        (T::Time { fsp: a }, T::Time { fsp: b }) => b >= a,
        _ => false,
    }
}

/// The column of the table behind a compared expression, and whether only points may use it.
fn indexed_column(e: &Expr, t: &TableRel) -> Option<(usize, bool)> {
    match &e.kind {
        ExprKind::Column(c) => t.cols.iter().position(|x| x == c).map(|p| (p, false)),
        ExprKind::Cast(inner) => {
            let ExprKind::Column(c) = inner.kind else { return None };
            let p = t.cols.iter().position(|x| *x == c)?;
            if monotone(&inner.ty, &e.ty) {
                return Some((p, false));
            }
            // A member's text finds its number, but texts and numbers are ordered differently.
            (matches!(inner.ty, SqlType::Enum(_)) && e.ty.is_string()).then_some((p, true))
        }
        _ => None,
    }
}

/// Whether a bound of this type is compared with the column without loss.
fn same_family(column: &SqlType, value: &SqlType) -> bool {
    use SqlType as T;
    match (column, value) {
        (T::Int { .. }, T::Int { .. }) => true,
        (T::Decimal { .. }, T::Int { .. }) => false,
        // In which collation they compare was checked before.
        (T::Text { collation: a, .. }, T::Text { collation: b, .. }) => a.is_binary() == b.is_binary(),
        (T::DateTime { fsp: a }, T::DateTime { fsp: b }) => a >= b,
        (T::Double { .. }, T::Double { .. }) => true,
        (a, b) => a == b,
    }
}

/// A constant as a value of the column's type, where nothing is lost by that.
fn lossless(e: Expr, column: &SqlType) -> Expr {
    let ExprKind::Const(v) = &e.kind else { return e };
    let text_pair = e.ty.is_string() != column.is_string();
    if e.ty == *column || v.is_null() || text_pair || matches!(column, SqlType::Timestamp { .. }) {
        return e;
    }
    let mut diag = selkie_types::Diagnostics::default();
    let zone = selkie_types::TimeZone::Offset(0);
    let mut ctx = convert::ConvertCtx {
        sql_mode: selkie_types::SqlMode::default(),
        time_zone: &zone,
        now_utc_micros: 0,
        diag: &mut diag,
        ignore: false,
    };
    let Ok(there) = convert::cast(v.clone(), &e.ty, column, &mut ctx) else { return e };
    let Ok(back) = convert::cast(there.clone(), column, &e.ty, &mut ctx) else { return e };
    let fits = match (&there, column) {
        (Value::Int(i), SqlType::Int { .. }) => fits_integer(i128::from(*i), column),
        (Value::UInt(i), SqlType::Int { .. }) => fits_integer(i128::from(*i), column),
        _ => true,
    };
    if fits && ctx.diag.total == 0 && convert::compare(v, &back, Collation::BINARY) == std::cmp::Ordering::Equal {
        return Expr { kind: ExprKind::Const(there), ty: column.clone(), ..e };
    }
    e
}

/// Whether an integer column can hold the value.
fn fits_integer(v: i128, column: &SqlType) -> bool {
    let SqlType::Int { width, unsigned, .. } = column else { return true };
    let bits = match width {
        selkie_types::IntWidth::Tiny => 8,
        selkie_types::IntWidth::Small => 16,
        selkie_types::IntWidth::Medium => 24,
        selkie_types::IntWidth::Int => 32,
        selkie_types::IntWidth::Big => 64,
    };
    if *unsigned { (0..1i128 << bits).contains(&v) } else { (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&v) }
}

/// Shared state while conjuncts are turned into sargs.
pub(crate) struct SargFinder<'a> {
    pub table: &'a TableRel,
    own: BTreeSet<ColId>,
}

impl<'a> SargFinder<'a> {
    pub fn new(table: &'a TableRel) -> SargFinder<'a> {
        SargFinder { table, own: table.cols.iter().copied().chain(table.row_key).collect() }
    }

    /// The sargs of all conjuncts.
    pub fn find(&self, conds: &[Expr]) -> Vec<Sarg> {
        let mut out = Vec::new();
        for (i, c) in conds.iter().enumerate() {
            self.conjunct(c, i, &mut out);
        }
        out
    }

    /// A bound may not read the table itself, nor anything with an effect or a changing value.
    fn is_bound(&self, e: &Expr) -> bool {
        !exprs::touches(e, &self.own) && exprs::is_pure(e) && !exprs::has_subquery_with(e, &self.own)
    }

    fn collation_fits(&self, column: usize, collation: &Option<Collation>) -> bool {
        match (&self.table.table.columns[column].ty, collation) {
            (SqlType::Text { collation: c, .. }, Some(x)) => c == x,
            (SqlType::Text { .. }, None) => false,
            (SqlType::Enum(d) | SqlType::Set(d), Some(x)) => d.collation == *x,
            _ => true,
        }
    }

    fn conjunct(&self, c: &Expr, cond: usize, out: &mut Vec<Sarg>) {
        if let Some(s) = self.comparison(c, cond) {
            out.extend(s);
            return;
        }
        if let ExprKind::Or(terms) = &c.kind {
            out.extend(self.disjunction(terms, cond));
        }
    }

    /// OR of conditions that all bound some column: all their intervals, for each such column.
    fn disjunction(&self, terms: &[Expr], cond: usize) -> Vec<Sarg> {
        let mut all: Option<Vec<Sarg>> = None;
        for t in terms {
            let here = self.term(t, cond);
            all = Some(match all {
                None => here,
                Some(before) => before
                    .into_iter()
                    .filter_map(|mut a| {
                        let s = here.iter().find(|s| s.column == a.column)?;
                        a.intervals.extend(s.intervals.iter().cloned());
                        a.needs.extend(&s.needs);
                        a.exact &= s.exact;
                        (a.intervals.len() <= RANGES_MAX).then_some(a)
                    })
                    .collect(),
            });
        }
        all.unwrap_or_default()
    }

    /// The sargs of one operand of OR. Of a conjunction each conjunct bounds the rows, none alone means the whole.
    fn term(&self, t: &Expr, cond: usize) -> Vec<Sarg> {
        match &t.kind {
            ExprKind::And(v) => {
                let mut out: Vec<Sarg> = v.iter().filter_map(|x| self.comparison(x, cond)).flatten().collect();
                out.iter_mut().for_each(|s| s.exact = false);
                out.sort_by_key(|s| !s.is_points());
                out
            }
            _ => self.comparison(t, cond).unwrap_or_default(),
        }
    }

    fn sarg(&self, column: usize, intervals: Vec<Interval>, cond: usize) -> Sarg {
        let Column { ty, nullable, .. } = &self.table.table.columns[column];
        let nullable = *nullable;
        let mut needs = BTreeSet::new();
        let mut exact = true;
        let mut bound = |e: Expr| {
            exprs::columns_of(&e, &mut needs);
            let e = lossless(e, ty);
            exact &= same_family(ty, &e.ty) || matches!(&e.kind, ExprKind::Const(Value::Null));
            e
        };
        let intervals = intervals
            .into_iter()
            .map(|i| match i {
                // A column without NULLs has no entries for one: nothing is equal to it.
                Interval::Point { value, null_safe } => {
                    Interval::Point { value: bound(value), null_safe: null_safe && nullable }
                }
                Interval::Range { low, high } => Interval::Range {
                    low: low.map(|(e, inclusive)| (bound(e), inclusive)),
                    high: high.map(|(e, inclusive)| (bound(e), inclusive)),
                },
            })
            .collect();
        Sarg { column, intervals, needs, items: 0, cond, exact }
    }

    /// A single comparison, both ways where both sides are columns.
    fn comparison(&self, c: &Expr, cond: usize) -> Option<Vec<Sarg>> {
        match &c.kind {
            ExprKind::Compare { op, left, right, collation } => {
                let mut out = Vec::new();
                for (op, col, value) in [(*op, left, right), (op.swapped(), right, left)] {
                    let Some((p, points_only)) = indexed_column(col, self.table) else { continue };
                    if !self.is_bound(value) || !self.collation_fits(p, collation) {
                        continue;
                    }
                    let value = &**value;
                    let interval = match op {
                        CmpOp::Eq => Interval::Point { value: value.clone(), null_safe: false },
                        CmpOp::NullSafeEq => Interval::Point { value: value.clone(), null_safe: true },
                        _ if points_only => continue,
                        CmpOp::Lt => Interval::Range { low: None, high: Some((value.clone(), false)) },
                        CmpOp::Le => Interval::Range { low: None, high: Some((value.clone(), true)) },
                        CmpOp::Gt => Interval::Range { low: Some((value.clone(), false)), high: None },
                        CmpOp::Ge => Interval::Range { low: Some((value.clone(), true)), high: None },
                        CmpOp::Ne => continue,
                    };
                    out.push(self.sarg(p, vec![interval], cond));
                }
                (!out.is_empty()).then_some(out)
            }
            ExprKind::Between { expr, low, high, negated: false, collation } => {
                let (p, points_only) = indexed_column(expr, self.table)?;
                if points_only || !self.is_bound(low) || !self.is_bound(high) || !self.collation_fits(p, collation) {
                    return None;
                }
                let (low, high) = (&**low, &**high);
                let i = Interval::Range { low: Some((low.clone(), true)), high: Some((high.clone(), true)) };
                Some(vec![self.sarg(p, vec![i], cond)])
            }
            ExprKind::InList { expr, list, negated: false, collation } => {
                let (p, _) = indexed_column(expr, self.table)?;
                if !self.collation_fits(p, collation) || list.len() > RANGES_MAX {
                    return None;
                }
                let bounds: Vec<&Expr> = list.iter().collect();
                if !bounds.iter().all(|v| self.is_bound(v)) {
                    return None;
                }
                let points = bounds.iter().map(|v| Interval::Point { value: (*v).clone(), null_safe: false }).collect();
                Some(vec![self.sarg(p, points, cond)])
            }
            ExprKind::IsNull { expr, negated } => {
                let ExprKind::Column(_) = expr.kind else { return None };
                let (p, _) = indexed_column(expr, self.table)?;
                // The zero date of a NOT NULL column is NULL to IS NULL.
                if expr.ty.is_temporal() && !self.table.table.columns[p].nullable {
                    return None;
                }
                let null = Expr::constant(Value::Null, expr.ty.clone());
                let i = if *negated {
                    Interval::Range { low: None, high: None }
                } else {
                    Interval::Point { value: null, null_safe: true }
                };
                Some(vec![self.sarg(p, vec![i], cond)])
            }
            ExprKind::Like { expr, pattern, escape, negated: false, collation } => {
                let ExprKind::Column(_) = expr.kind else { return None };
                let (p, _) = indexed_column(expr, self.table)?;
                let SqlType::Text { collation: c, .. } = &expr.ty else { return None };
                if c != collation {
                    return None;
                }
                let interval = like_interval(&expr.ty, pattern, *escape, *c)?;
                let mut s = self.sarg(p, vec![interval], cond);
                s.exact = false;
                Some(vec![s])
            }
            _ => None,
        }
    }
}

/// `LIKE 'abc%'`: from the prefix up to the prefix followed by the largest character. Only for collations that compare
/// code point by code point, or fold ASCII case: others may contract or ignore characters.
fn like_interval(ty: &SqlType, pattern: &Expr, escape: Option<char>, collation: Collation) -> Option<Interval> {
    let ExprKind::Const(Value::Bytes(p)) = &pattern.kind else { return None };
    let text = std::str::from_utf8(p).ok()?;
    let mut prefix = String::new();
    let mut chars = text.chars();
    let mut whole = true;
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            prefix.push(chars.next().unwrap_or(c));
        } else if c == '%' || c == '_' {
            whole = false;
            break;
        } else {
            prefix.push(c);
        }
    }
    let simple =
        collation.is_bin() || collation.name().contains("general") || collation == Collation::LATIN1_SWEDISH_CI;
    if prefix.is_empty() || !simple {
        return None;
    }
    // Trailing spaces may be cut from stored CHARs and do not count under PAD SPACE.
    let low = prefix.trim_end_matches(' ');
    if low.is_empty() {
        return None;
    }
    let constant = |s: &str| Expr::constant(Value::text(s), ty.clone());
    if !collation.is_bin() || collation.charset() == selkie_types::Charset::Binary {
        // The order of weights need not be that of code points: bounded below only by the prefix, above by nothing.
        return Some(Interval::Range { low: Some((constant(low), true)), high: None });
    }
    if whole && low.len() == prefix.len() {
        return Some(Interval::Range { low: Some((constant(low), true)), high: Some((constant(low), true)) });
    }
    let mut high = low.to_owned();
    high.extend(std::iter::repeat_n('\u{10ffff}', 16));
    Some(Interval::Range { low: Some((constant(low), true)), high: Some((constant(&high), true)) })
}
