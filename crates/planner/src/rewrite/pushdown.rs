//! Predicate pushdown and the conversion of outer joins.
//!
//! A condition moves down as far as its columns allow: to one side of a join, below sorts, computed columns, groups
//! (on keys), windows (on partition columns), distinct, into every input of a set operation, into derived tables. An
//! outer join whose NULL-filled rows some condition above rejects is an inner join.

use std::collections::BTreeSet;

use selkie_expr::{Expr, ExprKind, WindowCall};

use crate::exprs::{self, Substitution};
use crate::logical::{Arena, ColId, Rel};
use crate::plan::JoinKind;

/// Pushes all filters of the tree down.
pub(super) fn push_down(rel: Rel, arena: &Arena, into_derived: bool) -> Rel {
    Pusher { arena, into_derived }.push(rel, Vec::new())
}

struct Pusher<'a> {
    #[allow(dead_code)]
    arena: &'a Arena,
    into_derived: bool,
}

fn columns(rel: &Rel) -> BTreeSet<ColId> {
    let mut v = Vec::new();
    rel.columns(&mut v);
    v.into_iter().collect()
}

/// Whether a condition may be evaluated elsewhere, and more or less often.
fn movable(c: &Expr) -> bool {
    exprs::is_pure(c)
}

/// Conditions in two: those that may go below by the test, the others.
fn split(conds: Vec<Expr>, test: impl Fn(&Expr) -> bool) -> (Vec<Expr>, Vec<Expr>) {
    conds.into_iter().partition(|c| movable(c) && test(c))
}

impl Pusher<'_> {
    fn push(&self, rel: Rel, mut conds: Vec<Expr>) -> Rel {
        match rel {
            Rel::Filter { input, conds: own } => {
                // Conditions with effects stay where they are, those above stay above them.
                if own.iter().all(movable) {
                    conds.extend(own);
                    self.push(*input, conds)
                } else {
                    self.push(*input, Vec::new()).filter(own).filter(conds)
                }
            }
            Rel::Join { kind, left, right, on, straight, null_aware } => {
                self.join(kind, *left, *right, on, straight, null_aware, conds)
            }
            Rel::Project { input, exprs: list } => {
                let pure = list.iter().all(|(_, e)| exprs::is_pure(e));
                let heavy: BTreeSet<ColId> =
                    list.iter().filter(|(_, e)| exprs::has_subquery(e)).map(|(c, _)| *c).collect();
                let (down, stay) = split(conds, |c| pure && !exprs::touches(c, &heavy));
                let mut map = Substitution::default();
                for (c, e) in &list {
                    let e = map.apply(e.clone());
                    map.0.insert(*c, e);
                }
                let down = down.into_iter().map(|c| map.apply(c)).collect();
                Rel::Project { input: Box::new(self.push(*input, down)), exprs: list }.filter(stay)
            }
            Rel::Aggregate { input, keys, calls, first_row, rollup } => {
                let made: BTreeSet<ColId> =
                    calls.iter().map(|(c, _)| *c).chain(first_row.iter().map(|(c, _)| *c)).collect();
                let key_set: BTreeSet<ColId> = keys.iter().map(|(c, _)| *c).collect();
                let (down, stay) = split(conds, |c| {
                    !rollup && !keys.is_empty() && !exprs::touches(c, &made) && exprs::touches(c, &key_set)
                });
                let map = Substitution::new(keys.iter().cloned());
                let down = down.into_iter().map(|c| map.apply(c)).collect();
                Rel::Aggregate { input: Box::new(self.push(*input, down)), keys, calls, first_row, rollup }.filter(stay)
            }
            Rel::Window { input, calls } => {
                let common = partition_columns(&calls);
                let (down, stay) = split(conds, |c| {
                    let used = exprs::columns(c);
                    !used.is_empty() && used.iter().all(|u| common.contains(u))
                });
                Rel::Window { input: Box::new(self.push(*input, down)), calls }.filter(stay)
            }
            Rel::Sort { input, keys } => {
                let (down, stay) = split(conds, |_| true);
                Rel::Sort { input: Box::new(self.push(*input, down)), keys }.filter(stay)
            }
            Rel::Distinct { input, cols } => {
                let set: BTreeSet<ColId> = cols.iter().copied().collect();
                let inside = columns(&input);
                let (down, stay) =
                    split(conds, |c| exprs::columns(c).iter().all(|x| set.contains(x) || !inside.contains(x)));
                Rel::Distinct { input: Box::new(self.push(*input, down)), cols }.filter(stay)
            }
            Rel::Derived { input, alias, output } => {
                let (down, stay) = split(conds, |_| self.into_derived);
                Rel::Derived { input: Box::new(self.push(*input, down)), alias, output }.filter(stay)
            }
            Rel::SetOp { op, all, inputs, cols } => {
                let (down, stay) = split(conds, |c| !exprs::has_subquery(c));
                let inputs = inputs
                    .into_iter()
                    .map(|(r, c)| {
                        let map =
                            Substitution::new(cols.iter().zip(&c).map(|(from, to)| (*from, self.arena.column(*to))));
                        let own = down.iter().cloned().map(|x| map.apply(x)).collect();
                        (self.push(r, own), c)
                    })
                    .collect();
                Rel::SetOp { op, all, inputs, cols }.filter(stay)
            }
            Rel::Limit { input, count, offset } => {
                Rel::Limit { input: Box::new(self.push(*input, Vec::new())), count, offset }.filter(conds)
            }
            leaf => leaf.filter(conds),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn join(
        &self,
        mut kind: JoinKind,
        left: Rel,
        right: Rel,
        mut on: Vec<Expr>,
        straight: bool,
        null_aware: bool,
        mut conds: Vec<Expr>,
    ) -> Rel {
        let (lc, rc) = (columns(&left), columns(&right));
        if kind == JoinKind::Left && conds.iter().any(|c| exprs::rejects_nulls(c, &rc)) {
            kind = JoinKind::Inner;
        }
        if null_aware {
            let (down, stay) = split(conds, |_| true);
            return Rel::Join {
                kind,
                left: Box::new(self.push(left, down)),
                right: Box::new(self.push(right, Vec::new())),
                on,
                straight,
                null_aware,
            }
            .filter(stay);
        }
        match kind {
            JoinKind::Inner => {
                on.append(&mut conds);
                let (to_left, rest) = split(on, |c| !exprs::touches(c, &rc) && exprs::touches(c, &lc));
                let (to_right, rest) = split(rest, |c| !exprs::touches(c, &lc) && exprs::touches(c, &rc));
                // A nested outer join on either side may become inner by a condition over both sides.
                let left = self.push(self.reject(left, &rest), to_left);
                let right = self.push(self.reject(right, &rest), to_right);
                Rel::Join { kind, left: Box::new(left), right: Box::new(right), on: rest, straight, null_aware }
            }
            JoinKind::Left | JoinKind::Semi | JoinKind::Anti => {
                let (to_left, stay) = split(conds, |c| !exprs::touches(c, &rc));
                let (to_right, mut rest) = split(on, |c| !exprs::touches(c, &lc) && exprs::touches(c, &rc));
                let mut left_conds = to_left;
                if kind == JoinKind::Semi {
                    // What a semi-join asks of the left side alone is a plain filter.
                    let (own, others) = split(rest, |c| !exprs::touches(c, &rc));
                    left_conds.extend(own);
                    rest = others;
                }
                let left = self.push(left, left_conds);
                let right = self.push(self.reject(right, &rest), to_right);
                Rel::Join { kind, left: Box::new(left), right: Box::new(right), on: rest, straight, null_aware }
                    .filter(stay)
            }
        }
    }

    /// Outer joins in `rel` that conditions above (which stay above) turn into inner ones.
    fn reject(&self, rel: Rel, conds: &[Expr]) -> Rel {
        match rel {
            Rel::Join { kind: JoinKind::Left, left, right, on, straight, null_aware } => {
                let rc = columns(&right);
                let kind =
                    if conds.iter().any(|c| exprs::rejects_nulls(c, &rc)) { JoinKind::Inner } else { JoinKind::Left };
                let left = Box::new(self.reject(*left, conds));
                Rel::Join { kind, left, right, on, straight, null_aware }
            }
            Rel::Join { kind: JoinKind::Inner, left, right, on, straight, null_aware } => {
                let left = Box::new(self.reject(*left, conds));
                let right = Box::new(self.reject(*right, conds));
                Rel::Join { kind: JoinKind::Inner, left, right, on, straight, null_aware }
            }
            Rel::Filter { input, conds: own } => {
                Rel::Filter { input: Box::new(self.reject(*input, conds)), conds: own }
            }
            other => other,
        }
    }
}

/// Columns by which every window partitions its rows.
fn partition_columns(calls: &[(ColId, WindowCall)]) -> BTreeSet<ColId> {
    let mut common: Option<BTreeSet<ColId>> = None;
    for (_, w) in calls {
        let here: BTreeSet<ColId> = w
            .partition_by
            .iter()
            .filter_map(|e| match e.kind {
                ExprKind::Column(c) => Some(c),
                _ => None,
            })
            .collect();
        common = Some(match common {
            None => here,
            Some(c) => c.intersection(&here).copied().collect(),
        });
    }
    common.unwrap_or_default()
}
