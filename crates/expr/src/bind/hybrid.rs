//! Results that take their type from several operands: CASE, IF, COALESCE, UNION.

use selkie_types::{Collation, SqlResult, SqlType};

use super::attr::{self, Family};
use super::{BindCtx, collation, compare};
use crate::ir::{CmpOp, Coercibility, Expr, ExprKind};

/// Which rule gives integers their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// By digits and sign, as CASE and COALESCE.
    Digits,
    /// The longest operand's, as IF and UNION.
    Longest,
}

fn temporal_join(a: &SqlType, b: &SqlType) -> SqlType {
    let fsp = attr::fsp(attr::decimals(a).max(attr::decimals(b)));
    match (a, b) {
        (SqlType::Date, SqlType::Date) => SqlType::Date,
        (SqlType::Time { .. }, SqlType::Time { .. }) => SqlType::Time { fsp },
        (SqlType::Timestamp { .. }, SqlType::Timestamp { .. }) => SqlType::Timestamp { fsp },
        _ => SqlType::DateTime { fsp },
    }
}

/// The result type of several operands.
pub(crate) fn result_type(
    cx: &BindCtx,
    operation: &str,
    operands: &[&Expr],
    lengths: Lengths,
) -> SqlResult<(SqlType, Coercibility)> {
    let real: Vec<&Expr> = operands.iter().copied().filter(|e| e.ty != SqlType::Null).collect();
    let Some(first) = real.first() else { return Ok((SqlType::Null, Coercibility::Ignorable)) };
    let numeric = Coercibility::Numeric;
    if real.iter().all(|e| e.ty.is_temporal()) {
        let ty = real.iter().skip(1).fold(first.ty.clone(), |t, e| temporal_join(&t, &e.ty));
        return Ok((ty, numeric));
    }
    if real.iter().all(|e| matches!(e.ty, SqlType::Bit(_))) {
        let bits = real.iter().map(|e| attr::char_len(&e.ty)).max().unwrap_or(1);
        return Ok((SqlType::Bit(bits as u8), numeric));
    }
    if real.iter().all(|e| matches!(e.ty, SqlType::Year(_))) {
        return Ok((SqlType::Year(4), numeric));
    }
    if real.iter().all(|e| e.ty.is_numeric()) {
        return Ok((numeric_type(&real, lengths), numeric));
    }
    let d = collation::for_result(cx, operation, operands)?;
    let len = if d.collation.is_binary() {
        real.iter().map(|e| attr::byte_len(e)).max().unwrap_or(0)
    } else {
        real.iter().map(|e| attr::expr_char_len(e) as u64).max().unwrap_or(0)
    };
    Ok((attr::text(len, d.collation), d.strength))
}

fn numeric_type(real: &[&Expr], lengths: Lengths) -> SqlType {
    let families: Vec<Family> = real.iter().map(|e| attr::family(&e.ty)).collect();
    let unsigned = real.iter().all(|e| attr::is_unsigned(&e.ty));
    if families.contains(&Family::Real) {
        if real.iter().all(|e| matches!(e.ty, SqlType::Float { .. })) {
            return real[0].ty.clone();
        }
        let decimals = real.iter().map(|e| attr::decimals(&e.ty)).max().unwrap_or(0);
        let len = real.iter().map(|e| attr::char_len(&e.ty)).max().unwrap_or(0);
        return attr::double_len(len, decimals);
    }
    let mixed_signs = !unsigned && real.iter().any(|e| attr::is_unsigned(&e.ty));
    let scale = real.iter().map(|e| attr::scale(e)).max().unwrap_or(0);
    let int_part = real.iter().map(|e| attr::int_part(e)).max().unwrap_or(0);
    if families.contains(&Family::Decimal) || mixed_signs {
        return attr::decimal(int_part + scale, scale, unsigned);
    }
    let len = match lengths {
        Lengths::Digits => attr::precision_to_length(int_part, 0, unsigned),
        Lengths::Longest => real.iter().map(|e| attr::char_len(&e.ty)).max().unwrap_or(0),
    };
    let width = real
        .iter()
        .map(|e| match e.ty {
            SqlType::Int { width, .. } => width,
            SqlType::Year(_) => selkie_types::IntWidth::Small,
            _ => selkie_types::IntWidth::Big,
        })
        .reduce(attr::wider)
        .unwrap_or(selkie_types::IntWidth::Int);
    attr::int(width, len, unsigned)
}

/// Brings an operand to a result type.
pub(crate) fn to_result(cx: &BindCtx, e: Expr, ty: &SqlType) -> Expr {
    if matches!(e.kind, ExprKind::Const(selkie_types::Value::Null)) {
        return e;
    }
    match ty {
        SqlType::Text { collation: c, .. } => collation::convert(cx, e, *c),
        SqlType::DateTime { .. } | SqlType::Timestamp { .. }
            if matches!(e.ty, SqlType::DateTime { .. } | SqlType::Timestamp { .. }) =>
        {
            e
        }
        SqlType::Time { .. } if matches!(e.ty, SqlType::Time { .. }) => e,
        SqlType::Double { .. } => crate::func::args::to_double(e),
        SqlType::Decimal { scale, .. } => match &e.ty {
            SqlType::Decimal { scale: s, .. } if s == scale => e,
            _ => {
                let nullable = e.nullable;
                let mut e = e.cast_to(ty);
                e.nullable = nullable;
                e
            }
        },
        SqlType::Int { .. } => crate::func::args::to_int(e),
        SqlType::Null => e,
        _ => e.cast_to(ty),
    }
}

/// CASE, simple (with `operand`) or searched.
pub fn bind_case(
    cx: &BindCtx,
    operand: Option<Expr>,
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
) -> SqlResult<Expr> {
    let mut results: Vec<&Expr> = whens.iter().map(|(_, r)| r).collect();
    results.extend(otherwise.iter());
    let (ty, strength) = result_type(cx, "case", &results, Lengths::Digits)?;
    let nullable = otherwise.as_ref().is_none_or(|e| e.nullable)
        || whens.iter().any(|(c, r)| c.nullable || r.nullable)
        || operand.as_ref().is_some_and(|o| o.nullable);
    let whens = whens
        .into_iter()
        .map(|(when, result)| {
            let condition = match &operand {
                Some(o) => compare::compare_as(cx, CmpOp::Eq, "case", o.clone(), when)?,
                None => when,
            };
            Ok((condition, to_result(cx, result, &ty)))
        })
        .collect::<SqlResult<Vec<_>>>()?;
    let otherwise = otherwise.map(|e| Box::new(to_result(cx, e, &ty)));
    Ok(Expr { kind: ExprKind::Case { whens, otherwise }, ty, nullable, coercibility: strength })
}

/// The type, nullability and collation strength that UNION, CASE and COALESCE give to these operands (error 1271 where
/// their collations do not mix, named by `operation`).
pub fn common_type(cx: &BindCtx, operation: &str, operands: &[&Expr]) -> SqlResult<(SqlType, bool, Coercibility)> {
    let (ty, strength) = result_type(cx, operation, operands, Lengths::Longest)?;
    let ty = match ty {
        SqlType::Null => SqlType::Text { kind: selkie_types::TextKind::Char, len: 0, collation: Collation::BINARY },
        t => t,
    };
    Ok((ty, operands.iter().any(|e| e.nullable), strength))
}
