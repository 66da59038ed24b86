//! `a = 1 OR a = 2 OR a IN (3, 4)` becomes `a IN (1, 2, 3, 4)`: one hashed or sorted test, one set of index ranges.

use selkie_expr::{CmpOp, Expr, ExprKind};
use selkie_types::Collation;

use crate::exprs::{is_pure, same};

/// Applies the rewrite everywhere in an expression.
pub(super) fn from_disjunction(e: Expr) -> Expr {
    crate::exprs::rewrite(e, &mut merge)
}

type Member<'e> = (&'e Expr, Vec<&'e Expr>, &'e Option<Collation>);

/// The tested expression and the values of an equality or IN list.
fn members(e: &Expr) -> Option<Member<'_>> {
    let constant = |x: &Expr| matches!(x.kind, ExprKind::Const(_) | ExprKind::Param(_));
    match &e.kind {
        ExprKind::Compare { op: CmpOp::Eq, left, right, collation } if constant(right) && !constant(left) => {
            Some((&**left, vec![&**right], collation))
        }
        ExprKind::Compare { op: CmpOp::Eq, left, right, collation } if constant(left) && !constant(right) => {
            Some((&**right, vec![&**left], collation))
        }
        ExprKind::InList { expr, list, negated: false, collation } if list.iter().all(constant) => {
            Some((&**expr, list.iter().collect(), collation))
        }
        _ => None,
    }
}

fn merge(e: Expr) -> Expr {
    let ExprKind::Or(terms) = &e.kind else { return e };
    let Some((tested, _, collation)) = members(&terms[0]) else { return e };
    let mut list: Vec<Expr> = Vec::new();
    for t in terms {
        match members(t) {
            Some((x, values, c)) if same(x, tested) && c == collation && is_pure(x) => {
                // All members must compare in one type.
                if values.iter().any(|v| v.ty != tested.ty && !both_integers(v, tested)) {
                    return e;
                }
                for v in values {
                    if !list.iter().any(|l| same(l, v)) {
                        list.push(v.clone());
                    }
                }
            }
            _ => return e,
        }
    }
    let kind = ExprKind::InList { expr: Box::new(tested.clone()), list, negated: false, collation: *collation };
    Expr { kind, ty: e.ty, nullable: e.nullable, coercibility: e.coercibility }
}

fn both_integers(a: &Expr, b: &Expr) -> bool {
    use selkie_types::SqlType;
    let text = |x: &Expr, y: &Expr| match (&x.ty, &y.ty) {
        (SqlType::Text { collation: a, .. }, SqlType::Text { collation: b, .. }) => a == b,
        _ => false,
    };
    matches!((&a.ty, &b.ty), (SqlType::Int { .. }, SqlType::Int { .. })) || text(a, b)
}
