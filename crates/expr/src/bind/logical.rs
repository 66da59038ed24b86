//! Conditions: AND, OR, XOR, NOT, IS, LIKE.

use selkie_types::{SqlMode, SqlResult, SqlType, Value, sql_err};

use super::compare::bool_expr;
use super::{BindCtx, LogicalOp, attr, collation};
use crate::ir::{CmpOp, Expr, ExprKind};

/// The operand as something whose truth can be told: numbers stay, everything else becomes a double.
fn condition(e: Expr) -> Expr {
    match attr::family(&e.ty) {
        attr::Family::Text if !matches!(e.ty, SqlType::Null | SqlType::Enum(_) | SqlType::Set(_)) => {
            crate::func::args::to_double(e)
        }
        _ => e,
    }
}

/// `NOT e`
pub fn bind_not(_cx: &BindCtx, e: Expr) -> SqlResult<Expr> {
    let nullable = e.nullable;
    let turned = match &e.kind {
        ExprKind::Compare { op, left, right, collation } => {
            let op = match op {
                CmpOp::Eq => Some(CmpOp::Ne),
                CmpOp::Ne => Some(CmpOp::Eq),
                CmpOp::Lt => Some(CmpOp::Ge),
                CmpOp::Le => Some(CmpOp::Gt),
                CmpOp::Gt => Some(CmpOp::Le),
                CmpOp::Ge => Some(CmpOp::Lt),
                CmpOp::NullSafeEq => None,
            };
            op.map(|op| ExprKind::Compare { op, left: left.clone(), right: right.clone(), collation: *collation })
        }
        ExprKind::IsNull { expr, negated } => Some(ExprKind::IsNull { expr: expr.clone(), negated: !negated }),
        _ => None,
    };
    Ok(bool_expr(turned.unwrap_or_else(|| ExprKind::Not(Box::new(condition(e)))), nullable))
}

/// AND, OR, XOR over two or more operands (flattened).
pub fn bind_logical(_cx: &BindCtx, op: LogicalOp, operands: Vec<Expr>) -> SqlResult<Expr> {
    let nullable = operands.iter().any(|e| e.nullable);
    if op == LogicalOp::Xor {
        let mut operands = operands.into_iter().map(condition);
        let mut at = operands.next().ok_or_else(|| sql_err!(ER_PARSE_ERROR, "", "", 1))?;
        for e in operands {
            let nullable = at.nullable || e.nullable;
            at = crate::func::Build::new("xor", crate::func::control::xor, vec![at, e], SqlType::BOOL)
                .nullable(nullable)
                .build();
        }
        return Ok(at);
    }
    let mut flat = Vec::with_capacity(operands.len());
    for e in operands {
        match (op, e.kind) {
            (LogicalOp::And, ExprKind::And(inner)) | (LogicalOp::Or, ExprKind::Or(inner)) => flat.extend(inner),
            (_, kind) => {
                flat.push(condition(Expr { kind, ty: e.ty, nullable: e.nullable, coercibility: e.coercibility }))
            }
        }
    }
    if flat.len() == 1
        && let Some(e) = flat.pop()
    {
        return Ok(e);
    }
    let kind = if op == LogicalOp::And { ExprKind::And(flat) } else { ExprKind::Or(flat) };
    Ok(bool_expr(kind, nullable))
}

/// `e IS [NOT] NULL`
pub fn bind_is_null(_cx: &BindCtx, e: Expr, negated: bool) -> SqlResult<Expr> {
    Ok(bool_expr(ExprKind::IsNull { expr: Box::new(e), negated }, false))
}

/// `e IS [NOT] TRUE|FALSE` (UNKNOWN is IS NULL).
pub fn bind_is_bool(_cx: &BindCtx, e: Expr, value: bool, negated: bool) -> SqlResult<Expr> {
    Ok(bool_expr(ExprKind::IsBool { expr: Box::new(condition(e)), value, negated }, false))
}

/// `e [NOT] LIKE pattern [ESCAPE x]`; `escape` is a constant of at most one character (error 1210).
pub fn bind_like(cx: &BindCtx, e: Expr, pattern: Expr, escape: Option<Expr>, negated: bool) -> SqlResult<Expr> {
    let nullable = e.nullable || pattern.nullable;
    let escape = match escape {
        None if cx.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) => None,
        None => Some('\\'),
        Some(x) => {
            let wrong = || sql_err!(ER_WRONG_ARGUMENTS, "ESCAPE");
            match &x.kind {
                ExprKind::Const(Value::Bytes(b)) => {
                    let s = std::str::from_utf8(b).map_err(|_| wrong())?;
                    let mut chars = s.chars();
                    match (chars.next(), chars.next()) {
                        (c, None) => c,
                        _ => return Err(wrong()),
                    }
                }
                ExprKind::Const(Value::Null) => Some('\\'),
                _ => return Err(wrong()),
            }
        }
    };
    let c = collation::for_comparison(cx, "like", &[&e, &pattern])?.collation;
    let kind = ExprKind::Like {
        expr: Box::new(collation::convert(cx, e, c)),
        pattern: Box::new(collation::convert(cx, pattern, c)),
        escape,
        negated,
        collation: c,
    };
    Ok(bool_expr(kind, nullable))
}
