//! How collations of several operands become one: coercibility, supersets, errors 1267, 1270 and 1271.

use selkie_types::{Charset, Collation, SqlResult, SqlType, TextKind, Value, sql_err};

use super::{BindCtx, attr};
use crate::ir::{Coercibility, Expr, ExprKind};

/// A collation with what decides who wins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Derived {
    pub collation: Collation,
    pub strength: Coercibility,
    pub ascii: bool,
}

/// The collation that an operand brings along: numbers and dates have the connection's.
pub(crate) fn of(cx: &BindCtx, e: &Expr) -> Derived {
    match e.ty.collation() {
        Some(collation) => Derived { collation, strength: e.coercibility, ascii: attr::is_ascii_only(e) },
        None if matches!(e.ty, SqlType::Null) => {
            Derived { collation: Collation::BINARY, strength: Coercibility::Ignorable, ascii: true }
        }
        None if matches!(e.ty, SqlType::Bit(_)) => {
            Derived { collation: Collation::BINARY, strength: Coercibility::Implicit, ascii: false }
        }
        None => Derived { collation: cx.collation_connection, strength: Coercibility::Numeric, ascii: true },
    }
}

fn is_unicode(c: Charset) -> bool {
    matches!(c, Charset::Utf8mb3 | Charset::Utf8mb4)
}

fn is_superset(left: &Derived, right: &Derived) -> bool {
    let (lc, rc) = (left.collation.charset(), right.collation.charset());
    let stronger = left.strength < right.strength;
    let same = left.strength == right.strength;
    if is_unicode(lc) && (stronger || (same && (!is_unicode(rc) || (lc == Charset::Utf8mb4 && rc == Charset::Utf8mb3))))
    {
        return true;
    }
    right.ascii && (stronger || (same && !left.ascii))
}

/// Merges two; `Err` where they do not mix.
fn merge(a: Derived, b: Derived) -> Result<Derived, ()> {
    let ascii = a.ascii && b.ascii;
    let keep = |d: Derived| Ok(Derived { ascii, ..d });
    if a.collation.charset() != b.collation.charset() {
        return if a.collation.is_binary() {
            keep(if a.strength <= b.strength { a } else { b })
        } else if b.collation.is_binary() {
            keep(if b.strength <= a.strength { b } else { a })
        } else if is_superset(&a, &b) {
            keep(a)
        } else if is_superset(&b, &a) {
            keep(b)
        } else if a.strength < b.strength && b.strength >= Coercibility::SysConst {
            keep(a)
        } else if b.strength < a.strength && a.strength >= Coercibility::SysConst {
            keep(b)
        } else {
            Err(())
        };
    }
    if a.strength < b.strength || a.collation == b.collation && a.strength == b.strength {
        keep(a)
    } else if b.strength < a.strength {
        keep(b)
    } else if a.strength == Coercibility::Explicit {
        Err(())
    } else if a.collation.is_bin() {
        keep(a)
    } else if b.collation.is_bin() {
        keep(b)
    } else {
        Ok(Derived { collation: a.collation.charset().bin_collation(), strength: Coercibility::None, ascii })
    }
}

fn strength_name(s: Coercibility) -> &'static str {
    match s {
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::None => "NONE",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SysConst => "SYSCONST",
        Coercibility::Literal => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Ignorable => "IGNORABLE",
    }
}

fn mix_error<T>(all: &[Derived], operation: &str) -> SqlResult<T> {
    let n = |i: usize| all[i].collation.name();
    let s = |i: usize| strength_name(all[i].strength);
    Err(match all.len() {
        2 => sql_err!(ER_CANT_AGGREGATE_2COLLATIONS, n(0), s(0), n(1), s(1), operation),
        3 => sql_err!(ER_CANT_AGGREGATE_3COLLATIONS, n(0), s(0), n(1), s(1), n(2), s(2), operation),
        _ => sql_err!(ER_CANT_AGGREGATE_NCOLLATIONS, operation),
    })
}

fn aggregate(all: &[Derived], operation: &str, allow_none: bool) -> SqlResult<Derived> {
    let Some((first, rest)) = all.split_first() else {
        return Ok(Derived { collation: Collation::BINARY, strength: Coercibility::Ignorable, ascii: true });
    };
    let mut at = *first;
    let mut unknown = false;
    for d in rest {
        match merge(at, *d) {
            Ok(m) => at = m,
            Err(()) => {
                // A stronger operand may come yet.
                unknown = true;
                at = Derived { collation: Collation::BINARY, strength: Coercibility::None, ascii: false };
            }
        }
    }
    if (unknown && at.strength >= Coercibility::None) || (!allow_none && at.strength == Coercibility::None) {
        return mix_error(all, operation);
    }
    Ok(at)
}

/// Literals are converted to the character set that wins: all their characters must be in it.
fn check_literals(to: &Derived, all: &[Derived], operands: &[&Expr], operation: &str) -> SqlResult<()> {
    let charset = to.collation.charset();
    if charset == Charset::Binary || is_unicode(charset) {
        return Ok(());
    }
    for (d, e) in all.iter().zip(operands) {
        if let ExprKind::Const(Value::Bytes(text)) = &e.kind
            && is_unicode(d.collation.charset())
            && charset.encode(text).1 > 0
        {
            return mix_error(all, operation);
        }
    }
    Ok(())
}

/// The collation of a text made from several operands.
pub(crate) fn for_result(cx: &BindCtx, operation: &str, operands: &[&Expr]) -> SqlResult<Derived> {
    let all: Vec<Derived> = operands.iter().map(|e| of(cx, e)).collect();
    let derived = aggregate(&all, operation, true)?;
    check_literals(&derived, &all, operands, operation)?;
    Ok(derived)
}

/// The collation in which several operands are compared.
pub(crate) fn for_comparison(cx: &BindCtx, operation: &str, operands: &[&Expr]) -> SqlResult<Derived> {
    let all: Vec<Derived> = operands.iter().map(|e| of(cx, e)).collect();
    let derived = aggregate(&all, operation, false)?;
    check_literals(&derived, &all, operands, operation)?;
    Ok(derived)
}

/// The operand as a text: numbers and dates are converted, texts stay.
pub(crate) fn to_text(cx: &BindCtx, e: Expr) -> Expr {
    if let SqlType::Text { .. } = e.ty {
        return e;
    }
    let d = of(cx, &e);
    let ty = SqlType::Text { kind: TextKind::VarChar, len: attr::expr_char_len(&e), collation: d.collation };
    let mut e = e.cast_to(&ty);
    e.coercibility = d.strength;
    e
}

/// A text operand in the form that a result or comparison of `collation` needs: only going between
/// binary and another character set changes bytes, as all text is held in UTF-8.
pub(crate) fn convert(cx: &BindCtx, e: Expr, collation: Collation) -> Expr {
    let e = to_text(cx, e);
    let Some(own) = e.ty.collation() else { return e };
    let (from, to) = (own.charset(), collation.charset());
    if from == to || !(from == Charset::Binary || to == Charset::Binary) {
        return e;
    }
    if to == Charset::Binary && (is_unicode(from) || from == Charset::Ascii) {
        return e;
    }
    if matches!(e.kind, ExprKind::Const(selkie_types::Value::Null)) {
        return e;
    }
    let len = attr::char_len(&e.ty) as u64;
    let strength = e.coercibility;
    let mut e = e.cast_to(&attr::text(len, collation));
    e.coercibility = strength;
    e
}
