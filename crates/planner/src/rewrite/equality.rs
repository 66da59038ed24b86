//! Equality propagation: columns that are equal to a column that is equal to a constant are equal to that constant.
//!
//! Works on the conjuncts of one inner-join group. Equality of values of one type (and one collation) is transitive;
//! others are left alone. A column equality between columns that both got the constant is dropped.

use selkie_expr::{CmpOp, Expr, ExprKind};
use selkie_types::{Collation, SqlType};

use crate::exprs;
use crate::logical::{ColId, Rel};
use crate::plan::JoinKind;

/// Columns that are equal, with the constant that they are equal to.
#[derive(Default)]
struct Class {
    members: Vec<Expr>,
    constant: Option<(Expr, Option<Collation>)>,
}

/// Propagates in every group of the tree.
pub(super) fn propagate(rel: Rel) -> Rel {
    if is_group(&rel) {
        let mut conds = Vec::new();
        collect(&rel, &mut conds);
        let (derived, dropped) = derive(&conds);
        let rel = below_group(rel);
        let rel = if dropped.is_empty() { rel } else { drop_conds(rel, &dropped) };
        return rel.filter(derived);
    }
    rel.map_inputs(&mut propagate)
}

fn is_group(rel: &Rel) -> bool {
    matches!(rel, Rel::Filter { .. } | Rel::Join { kind: JoinKind::Inner, .. })
}

/// Conjuncts that hold for every row of the group.
fn collect<'r>(rel: &'r Rel, out: &mut Vec<&'r Expr>) {
    match rel {
        Rel::Filter { input, conds } => {
            out.extend(conds);
            collect(input, out);
        }
        Rel::Join { kind: JoinKind::Inner, left, right, on, .. } => {
            out.extend(on);
            collect(left, out);
            collect(right, out);
        }
        // The kept side of other joins keeps its conditions.
        Rel::Join { left, .. } => collect(left, out),
        _ => {}
    }
}

/// Goes on with what lies under the group.
fn below_group(rel: Rel) -> Rel {
    match rel {
        Rel::Filter { input, conds } => Rel::Filter { input: Box::new(below_group(*input)), conds },
        Rel::Join { kind: JoinKind::Inner, left, right, on, straight, null_aware } => Rel::Join {
            kind: JoinKind::Inner,
            left: Box::new(below_group(*left)),
            right: Box::new(below_group(*right)),
            on,
            straight,
            null_aware,
        },
        Rel::Join { kind, left, right, on, straight, null_aware } => Rel::Join {
            kind,
            left: Box::new(below_group(*left)),
            right: Box::new(propagate(*right)),
            on,
            straight,
            null_aware,
        },
        other => other.map_inputs(&mut propagate),
    }
}

fn transitive(a: &SqlType, b: &SqlType) -> bool {
    match (a, b) {
        (SqlType::Int { .. }, SqlType::Int { .. }) => true,
        (SqlType::Text { collation: x, .. }, SqlType::Text { collation: y, .. }) => x == y,
        (SqlType::DateTime { .. }, SqlType::DateTime { .. }) | (SqlType::Date, SqlType::Date) => true,
        _ => false,
    }
}

fn column(e: &Expr) -> Option<ColId> {
    match e.kind {
        ExprKind::Column(c) => Some(c),
        _ => None,
    }
}

fn is_value(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_))
}

/// Conditions that follow, and column equalities that are no longer needed.
fn derive(conds: &[&Expr]) -> (Vec<Expr>, Vec<(ColId, ColId)>) {
    let mut classes: Vec<Class> = Vec::new();
    let find =
        |classes: &[Class], c: ColId| classes.iter().position(|k| k.members.iter().any(|m| column(m) == Some(c)));
    let mut values = Vec::new();
    for c in conds {
        let ExprKind::Compare { op: CmpOp::Eq, left, right, collation } = &c.kind else { continue };
        match (column(left), column(right)) {
            (Some(a), Some(b)) if a != b && transitive(&left.ty, &right.ty) => {
                match (find(&classes, a), find(&classes, b)) {
                    (None, None) => {
                        classes.push(Class { members: vec![(**left).clone(), (**right).clone()], constant: None });
                    }
                    (Some(i), None) => classes[i].members.push((**right).clone()),
                    (None, Some(i)) => classes[i].members.push((**left).clone()),
                    (Some(i), Some(j)) if i != j => {
                        let other = classes.remove(i.max(j));
                        classes[i.min(j)].members.extend(other.members);
                    }
                    _ => {}
                }
            }
            (Some(a), None) if is_value(right) && transitive(&left.ty, &right.ty) => {
                values.push((a, (**right).clone(), *collation));
            }
            (None, Some(b)) if is_value(left) && transitive(&left.ty, &right.ty) => {
                values.push((b, (**left).clone(), *collation));
            }
            _ => {}
        }
    }
    let has_value = |c: ColId| values.iter().any(|(x, ..)| *x == c);
    for (c, value, collation) in &values {
        if let Some(i) = find(&classes, *c)
            && classes[i].constant.is_none()
        {
            classes[i].constant = Some((value.clone(), *collation));
        }
    }
    let mut derived = Vec::new();
    let mut dropped = Vec::new();
    for k in &classes {
        let Some((value, collation)) = &k.constant else { continue };
        // Members with several constants contradict each other or repeat; both are left to the filters.
        for m in &k.members {
            if let Some(c) = column(m)
                && !has_value(c)
            {
                derived.push(exprs::equality(m.clone(), value.clone(), *collation));
            }
        }
        let ids: Vec<ColId> = k.members.iter().filter_map(column).collect();
        let several = values.iter().filter(|(c, ..)| ids.contains(c)).count() > 1;
        if !several {
            for (i, a) in ids.iter().enumerate() {
                for b in &ids[i + 1..] {
                    dropped.push((*a, *b));
                }
            }
        }
    }
    (derived, dropped)
}

fn drop_conds(rel: Rel, dropped: &[(ColId, ColId)]) -> Rel {
    let keep = |conds: Vec<Expr>| -> Vec<Expr> {
        conds
            .into_iter()
            .filter(|c| {
                let ExprKind::Compare { op: CmpOp::Eq, left, right, .. } = &c.kind else { return true };
                let (Some(a), Some(b)) = (column(left), column(right)) else { return true };
                !dropped.iter().any(|(x, y)| (*x, *y) == (a, b) || (*y, *x) == (a, b))
            })
            .collect()
    };
    match rel {
        Rel::Filter { input, conds } => drop_conds(*input, dropped).filter(keep(conds)),
        Rel::Join { kind: JoinKind::Inner, left, right, on, straight, null_aware } => Rel::Join {
            kind: JoinKind::Inner,
            left: Box::new(drop_conds(*left, dropped)),
            right: Box::new(drop_conds(*right, dropped)),
            on: keep(on),
            straight,
            null_aware,
        },
        Rel::Join { kind, left, right, on, straight, null_aware } => {
            Rel::Join { kind, left: Box::new(drop_conds(*left, dropped)), right, on, straight, null_aware }
        }
        other => other,
    }
}
