//! CAST, CONVERT, COLLATE, BINARY.

use selkie_types::{Charset, Collation, SqlResult, SqlType, sql_err};

use super::{BindCtx, CastTarget, attr, collation};
use crate::ir::{Coercibility, Expr, ExprKind};

fn node(e: Expr, ty: SqlType, nullable: bool, strength: Coercibility) -> Expr {
    let e = match crate::func::args::hex_number(&e) {
        Some(n) if ty.is_numeric() => n,
        _ => e,
    };
    Expr { kind: ExprKind::Cast(Box::new(e)), ty, nullable, coercibility: strength }
}

/// CAST(e AS target), CONVERT(e, target)
pub fn bind_cast(cx: &BindCtx, e: Expr, target: CastTarget) -> SqlResult<Expr> {
    let nullable = e.nullable;
    let numeric = Coercibility::Numeric;
    Ok(match target {
        CastTarget::Signed => {
            let ty = match attr::family(&e.ty) {
                attr::Family::Real => attr::bigint(20, false),
                attr::Family::Text if matches!(e.ty, SqlType::Text { .. }) => {
                    attr::int_by_len(attr::char_len(&e.ty).clamp(2, 20), false)
                }
                _ => attr::int_by_len(int_cast_len(&e), false),
            };
            node(e, ty, nullable, numeric)
        }
        CastTarget::Unsigned => {
            let e = crate::func::args::hex_number(&e).unwrap_or(e);
            let len = if attr::is_unsigned(&e.ty) { attr::char_len(&e.ty).min(20) } else { 20 };
            node(e, attr::int_by_len(len, true), nullable, numeric)
        }
        CastTarget::Decimal(p, s) => {
            if s as u32 > attr::MAX_SCALE {
                return Err(sql_err!(ER_TOO_BIG_SCALE, crate::describe::describe(&e), attr::MAX_SCALE));
            }
            if p as u32 > attr::MAX_PRECISION {
                return Err(sql_err!(ER_TOO_BIG_PRECISION, crate::describe::describe(&e), attr::MAX_PRECISION));
            }
            if p < s {
                return Err(sql_err!(ER_M_BIGGER_THAN_D, ""));
            }
            let ty = SqlType::Decimal { precision: p.max(1), scale: s, unsigned: false, zerofill: false };
            node(e, ty, nullable, numeric)
        }
        CastTarget::Double(digits) => {
            node(e, SqlType::Double { unsigned: false, zerofill: false, digits }, true, numeric)
        }
        CastTarget::Float => node(e, SqlType::Float { unsigned: false, zerofill: false, digits: None }, true, numeric),
        CastTarget::Date => node(e, SqlType::Date, true, numeric),
        CastTarget::Time(fsp) => {
            let fsp = checked_fsp(fsp, &e)?;
            node(e, SqlType::Time { fsp }, true, numeric)
        }
        CastTarget::DateTime(fsp) => {
            let fsp = checked_fsp(fsp, &e)?;
            node(e, SqlType::DateTime { fsp }, true, numeric)
        }
        CastTarget::Binary(len) => to_binary(e, len),
        CastTarget::Char(len, collation) => {
            let collation = collation.unwrap_or(cx.collation_connection);
            let e = collation::to_text(cx, e);
            let n = len.unwrap_or_else(|| attr::char_len(&e.ty));
            let ty = attr::text(n as u64, collation);
            node(e, ty, nullable, Coercibility::Implicit)
        }
    })
}

fn int_cast_len(e: &Expr) -> u32 {
    match &e.ty {
        SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
            attr::char_len(&e.ty)
        }
        other => attr::char_len(other).max(2),
    }
}

/// Error 1426 for more than six fractional digits.
fn checked_fsp(fsp: u8, e: &Expr) -> SqlResult<u8> {
    if fsp > 6 { Err(sql_err!(ER_TOO_BIG_PRECISION, crate::describe::describe(e), 6)) } else { Ok(fsp) }
}

fn to_binary(e: Expr, len: Option<u32>) -> Expr {
    let nullable = e.nullable;
    let bytes = match &e.ty {
        SqlType::Text { len, collation, kind } => match kind {
            selkie_types::TextKind::Char | selkie_types::TextKind::VarChar => {
                *len as u64 * collation.charset().max_len() as u64
            }
            _ => *len as u64 * collation.charset().max_len() as u64,
        },
        _ => attr::expr_char_len(&e) as u64,
    };
    let padded = len.is_some();
    let ty = match len {
        Some(n) if padded => {
            let SqlType::Text { kind, len, collation } = attr::text(n as u64, Collation::BINARY) else {
                return e;
            };
            SqlType::Text { kind, len, collation }
        }
        _ => attr::text(bytes, Collation::BINARY),
    };
    if padded {
        return crate::func::control::cast_binary(e, ty, nullable);
    }
    node(e, ty, nullable, Coercibility::Implicit)
}

/// CONVERT(e USING charset)
pub fn bind_convert_using(cx: &BindCtx, e: Expr, charset: Charset) -> SqlResult<Expr> {
    let e = collation::to_text(cx, e);
    let nullable = e.nullable;
    let len = match &e.kind {
        ExprKind::Const(selkie_types::Value::Bytes(b)) if charset == Charset::Binary => b.len() as u64,
        _ if charset == Charset::Binary => attr::byte_len(&e),
        _ => attr::char_len(&e.ty) as u64,
    };
    let ty = attr::text(len, charset.default_collation());
    let strength = match e.kind {
        ExprKind::Const(_) => Coercibility::Literal,
        _ => Coercibility::Implicit,
    };
    let strength = if e.coercibility == Coercibility::Explicit { Coercibility::Implicit } else { strength };
    Ok(node(e, ty, nullable, strength))
}

/// `e COLLATE c` (error 1253 where the character set differs).
pub fn bind_collate(cx: &BindCtx, e: Expr, c: Collation) -> SqlResult<Expr> {
    let mut e = collation::to_text(cx, e);
    if matches!(e.ty, SqlType::Null) {
        e.coercibility = Coercibility::Explicit;
        return Ok(e);
    }
    let own = e.ty.collation().map(|c| c.charset());
    if own.is_some_and(|own| own != c.charset()) {
        let name = own.map_or("", |o| o.name());
        return Err(sql_err!(ER_COLLATION_CHARSET_MISMATCH, c.name(), name));
    }
    // The values stay as they are: only the type says how they compare.
    if let SqlType::Text { kind, len, .. } = e.ty {
        e.ty = SqlType::Text { kind, len, collation: c };
    }
    e.coercibility = Coercibility::Explicit;
    Ok(e)
}

/// `BINARY e`
pub fn bind_binary_operator(_cx: &BindCtx, e: Expr) -> SqlResult<Expr> {
    Ok(to_binary(e, None))
}
