//! Comparisons: the type in which operands of different types meet.

use selkie_types::{Collation, SqlResult, SqlType, Value, sql_err};

use super::attr::{self, Family};
use super::{BindCtx, LogicalOp, collation};
use crate::describe::cmp_symbol;
use crate::func::{self, args};
use crate::ir::{CmpOp, Coercibility, Expr, ExprKind};

/// What values are compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Int,
    Decimal,
    Real,
    Text,
    Date,
    Time,
    DateTime,
}

fn own_class(e: &Expr) -> Option<Class> {
    Some(match &e.ty {
        SqlType::Null => return None,
        SqlType::Date => Class::Date,
        SqlType::Time { .. } => Class::Time,
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => Class::DateTime,
        SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) => Class::Text,
        t => match attr::family(t) {
            Family::Int => Class::Int,
            Family::Decimal => Class::Decimal,
            _ => Class::Real,
        },
    })
}

fn is_temporal(c: Class) -> bool {
    matches!(c, Class::Date | Class::Time | Class::DateTime)
}

/// The class in which two classes compare.
fn join(a: Class, b: Class) -> Class {
    use Class::*;
    if a == b {
        return a;
    }
    match (is_temporal(a), is_temporal(b)) {
        (true, true) => DateTime,
        // A date against text or a number: with its time of day.
        (true, false) => {
            if a == Time {
                Time
            } else {
                DateTime
            }
        }
        (false, true) => {
            if b == Time {
                Time
            } else {
                DateTime
            }
        }
        _ => match (a, b) {
            (Int | Decimal, Int | Decimal) => Decimal,
            (Int, Text) | (Text, Int) => Decimal,
            _ => Real,
        },
    }
}

fn is_hex(e: &Expr) -> bool {
    args::hex_number(e).is_some()
}

/// The class of several operands compared with one another; `None` if all are NULL.
pub(crate) fn class_of(operands: &[&Expr]) -> Option<Class> {
    let plain: Option<Class> = operands.iter().filter(|e| !is_hex(e)).filter_map(|e| own_class(e)).reduce(join);
    if !operands.iter().any(|e| is_hex(e)) {
        return plain;
    }
    // A hex literal is a number among numbers, else text.
    Some(match plain {
        None | Some(Class::Text) => Class::Text,
        Some(c) => join(c, Class::Int),
    })
}

/// Brings an operand to a class.
pub(crate) fn to_class(cx: &BindCtx, e: Expr, class: Class) -> Expr {
    if matches!(e.kind, ExprKind::Const(Value::Null)) {
        return e;
    }
    match class {
        Class::Int => args::to_int(e),
        Class::Decimal => args::to_decimal(e),
        Class::Real => args::to_double(e),
        Class::Text => collation::to_text(cx, e),
        Class::Date => e.cast_to(&SqlType::Date),
        Class::Time => match e.ty {
            SqlType::Time { .. } => e,
            SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
                e.cast_to(&SqlType::Time { fsp: 6 })
            }
            _ => func::temporal_parse::comparable(e, SqlType::Time { fsp: 6 }),
        },
        Class::DateTime => match e.ty {
            SqlType::DateTime { .. } | SqlType::Timestamp { .. } => e,
            SqlType::Date => e.cast_to(&SqlType::DateTime { fsp: 0 }),
            SqlType::Time { fsp } => e.cast_to(&SqlType::DateTime { fsp }),
            _ => func::temporal_parse::comparable(e, SqlType::DateTime { fsp: 6 }),
        },
    }
}

/// A constant that is exactly an integer as that integer, so that an integer column needs no conversion.
fn exact_int(e: &Expr) -> Option<Expr> {
    let ExprKind::Const(v) = &e.kind else { return None };
    let text = match v {
        Value::Decimal(d) if d.is_integer() => {
            d.mantissa().filter(|_| d.scale() == 0).map(|m| m.to_string()).or_else(|| {
                let (m, s) = d.normalized()?;
                (s == 0).then(|| m.to_string())
            })?
        }
        Value::Bytes(b) if !matches!(e.ty.collation(), Some(Collation::BINARY)) => {
            let s = std::str::from_utf8(b).ok()?.trim();
            let digits = s.strip_prefix('-').unwrap_or(s);
            if digits.is_empty() || digits.len() > 20 || !digits.bytes().all(|c| c.is_ascii_digit()) {
                return None;
            }
            s.to_string()
        }
        _ => return None,
    };
    let value = match text.parse::<i64>() {
        Ok(i) => Value::Int(i),
        Err(_) => Value::UInt(text.parse().ok()?),
    };
    let unsigned = matches!(value, Value::UInt(_));
    Some(Expr::constant(value, attr::int_by_len(text.len() as u32, unsigned)))
}

/// A two-digit year that a YEAR column is compared with.
fn full_year(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Const(Value::Int(y @ 1..=99)) => {
            let y = if *y < 70 { y + 2000 } else { y + 1900 };
            Some(Expr::constant(Value::Int(y), attr::int4(4)))
        }
        _ => None,
    }
}

/// Brings two operands to the type in which they compare.
pub(crate) fn pair(cx: &BindCtx, operation: &str, l: Expr, r: Expr) -> SqlResult<(Expr, Expr, Option<Collation>)> {
    let (mut l, mut r) = (l, r);
    // A parameter of unknown type takes the other side's.
    for (a, b) in [(0, 1), (1, 0)] {
        let pair = [&l, &r];
        if matches!(pair[a].kind, ExprKind::Param(_)) && pair[a].ty == SqlType::Null && pair[b].ty != SqlType::Null {
            let ty = pair[b].ty.clone();
            if a == 0 { l.ty = ty } else { r.ty = ty }
        }
    }
    if matches!(l.ty, SqlType::Year(_)) {
        r = full_year(&r).unwrap_or(r);
    } else if matches!(r.ty, SqlType::Year(_)) {
        l = full_year(&l).unwrap_or(l);
    }
    let is_int = |e: &Expr| own_class(e) == Some(Class::Int);
    if is_int(&l)
        && let Some(c) = exact_int(&r)
    {
        r = c;
    } else if is_int(&r)
        && let Some(c) = exact_int(&l)
    {
        l = c;
    }
    let Some(mut class) = class_of(&[&l, &r]) else { return Ok((l, r, None)) };
    if class == Class::Real {
        // A decimal that varies meets a text literal as a decimal.
        let varies = |e: &Expr| own_class(e) == Some(Class::Decimal) && !matches!(e.kind, ExprKind::Const(_));
        let literal = |e: &Expr| own_class(e) == Some(Class::Text) && matches!(e.kind, ExprKind::Const(_));
        if (varies(&l) && literal(&r)) || (varies(&r) && literal(&l)) {
            class = Class::Decimal;
        }
    }
    if class == Class::Text {
        let d = collation::for_comparison(cx, operation, &[&l, &r])?;
        return Ok((collation::convert(cx, l, d.collation), collation::convert(cx, r, d.collation), Some(d.collation)));
    }
    Ok((to_class(cx, l, class), to_class(cx, r, class), None))
}

/// A value of type `INT(1)`.
pub(crate) fn bool_expr(kind: ExprKind, nullable: bool) -> Expr {
    Expr { kind, ty: SqlType::BOOL, nullable, coercibility: Coercibility::Numeric }
}

/// Comparison.
pub fn bind_compare(cx: &BindCtx, op: CmpOp, l: Expr, r: Expr) -> SqlResult<Expr> {
    compare_as(cx, op, cmp_symbol(op), l, r)
}

/// Comparison on behalf of an operation that errors name.
pub(crate) fn compare_as(cx: &BindCtx, op: CmpOp, operation: &str, l: Expr, r: Expr) -> SqlResult<Expr> {
    let nullable = op != CmpOp::NullSafeEq && (l.nullable || r.nullable);
    let (left, right, collation) = pair(cx, operation, l, r)?;
    let kind = ExprKind::Compare { op, left: Box::new(left), right: Box::new(right), collation };
    let e = bool_expr(kind, nullable);
    Ok(crate::eval::date_constant(&e).unwrap_or(e))
}

/// Members compared with a DATE as days, where all of them are.
fn as_days(e: &Expr, members: Vec<Expr>) -> Vec<Expr> {
    if e.ty != SqlType::Date {
        return members;
    }
    let days: Option<Vec<Expr>> = members.iter().map(func::temporal_parse::day_literal).collect();
    days.unwrap_or(members)
}

/// Comparison of two rows of equal width (error 1241 otherwise), as a tree of plain comparisons.
pub fn bind_row_compare(cx: &BindCtx, op: CmpOp, l: Vec<Expr>, r: Vec<Expr>) -> SqlResult<Expr> {
    if l.len() != r.len() || l.is_empty() {
        return Err(sql_err!(ER_OPERAND_COLUMNS, l.len()));
    }
    if l.len() == 1 {
        let (Some(a), Some(b)) = (l.into_iter().next(), r.into_iter().next()) else {
            return Err(sql_err!(ER_OPERAND_COLUMNS, 1));
        };
        return bind_compare(cx, op, a, b);
    }
    let pairs = l.into_iter().zip(r);
    match op {
        CmpOp::Eq | CmpOp::NullSafeEq => {
            let parts = pairs.map(|(a, b)| bind_compare(cx, op, a, b)).collect::<SqlResult<Vec<_>>>()?;
            super::bind_logical(cx, LogicalOp::And, parts)
        }
        CmpOp::Ne => {
            let parts = pairs.map(|(a, b)| bind_compare(cx, op, a, b)).collect::<SqlResult<Vec<_>>>()?;
            super::bind_logical(cx, LogicalOp::Or, parts)
        }
        _ => {
            // (a, b) < (c, d): a < c OR (a = c AND b < d).
            let strict = match op {
                CmpOp::Le => CmpOp::Lt,
                CmpOp::Ge => CmpOp::Gt,
                other => other,
            };
            let mut pairs: Vec<(Expr, Expr)> = pairs.collect();
            let Some((a, b)) = pairs.pop() else { return Err(sql_err!(ER_OPERAND_COLUMNS, 1)) };
            let mut at = bind_compare(cx, op, a, b)?;
            while let Some((a, b)) = pairs.pop() {
                let equal = bind_compare(cx, CmpOp::Eq, a.clone(), b.clone())?;
                let rest = super::bind_logical(cx, LogicalOp::And, vec![equal, at])?;
                at = super::bind_logical(cx, LogicalOp::Or, vec![bind_compare(cx, strict, a, b)?, rest])?;
            }
            Ok(at)
        }
    }
}

/// The type in which two operands compare, and the collation if it is text: for joins, IN (subquery), quantified
/// comparison. Both sides must then be brought there with [`Expr::cast_to`].
pub fn comparison_type(cx: &BindCtx, op: CmpOp, l: &Expr, r: &Expr) -> SqlResult<(SqlType, Option<Collation>)> {
    let operands = [l, r];
    Ok(match class_of(&operands) {
        None => (SqlType::Null, None),
        Some(Class::Int) => match (l.ty.is_unsigned(), r.ty.is_unsigned()) {
            (true, true) => (SqlType::BIGINT_UNSIGNED, None),
            (false, false) => (SqlType::BIGINT, None),
            _ => (attr::decimal(20, 0, false), None),
        },
        Some(Class::Decimal) => {
            let scale = attr::scale(l).max(attr::scale(r));
            let int = attr::int_part(l).max(attr::int_part(r)).max(20);
            (attr::decimal(int + scale, scale, false), None)
        }
        Some(Class::Real) => (SqlType::DOUBLE, None),
        Some(Class::Date) => (SqlType::Date, None),
        Some(Class::Time) => (SqlType::Time { fsp: 6 }, None),
        Some(Class::DateTime) => (SqlType::DateTime { fsp: 6 }, None),
        Some(Class::Text) => {
            let d = collation::for_comparison(cx, cmp_symbol(op), &operands)?;
            let len = attr::char_len(&l.ty).max(attr::char_len(&r.ty));
            (attr::text(len as u64, d.collation), Some(d.collation))
        }
    })
}

/// `e [NOT] BETWEEN low AND high`
pub fn bind_between(cx: &BindCtx, e: Expr, low: Expr, high: Expr, negated: bool) -> SqlResult<Expr> {
    let nullable = e.nullable || low.nullable || high.nullable;
    let (mut low, mut high) = (low, high);
    if own_class(&e) == Some(Class::Int) {
        low = exact_int(&low).unwrap_or(low);
        high = exact_int(&high).unwrap_or(high);
    }
    if let Ok([l, h]) = <[Expr; 2]>::try_from(as_days(&e, vec![low.clone(), high.clone()])) {
        (low, high) = (l, h);
    }
    let (expr, low, high, collation) = match class_of(&[&e, &low, &high]) {
        None => (e, low, high, None),
        Some(Class::Text) => {
            let c = collation::for_comparison(cx, "between", &[&e, &low, &high])?.collation;
            (collation::convert(cx, e, c), collation::convert(cx, low, c), collation::convert(cx, high, c), Some(c))
        }
        Some(class) => (to_class(cx, e, class), to_class(cx, low, class), to_class(cx, high, class), None),
    };
    let kind = ExprKind::Between { expr: Box::new(expr), low: Box::new(low), high: Box::new(high), negated, collation };
    Ok(bool_expr(kind, nullable))
}

/// `e [NOT] IN (list)`
pub fn bind_in_list(cx: &BindCtx, e: Expr, list: Vec<Expr>, negated: bool) -> SqlResult<Expr> {
    if list.len() == 1 {
        let op = if negated { CmpOp::Ne } else { CmpOp::Eq };
        return match list.into_iter().next() {
            Some(only) => bind_compare(cx, op, e, only),
            None => Err(sql_err!(ER_PARSE_ERROR, "", "", 1)),
        };
    }
    let nullable = e.nullable || list.iter().any(|m| m.nullable);
    let list: Vec<Expr> = if own_class(&e) == Some(Class::Int) {
        list.into_iter().map(|m| exact_int(&m).unwrap_or(m)).collect()
    } else {
        list
    };
    let list = as_days(&e, list);
    let classes: Vec<Class> =
        list.iter().filter_map(|m| class_of(&[&e, m]).filter(|_| m.ty != SqlType::Null)).collect();
    let one = classes.first().copied();
    if one.is_some_and(|c| classes.iter().any(|o| *o != c)) {
        let parts =
            list.into_iter().map(|m| bind_compare(cx, CmpOp::Eq, e.clone(), m)).collect::<SqlResult<Vec<_>>>()?;
        let any = super::bind_logical(cx, LogicalOp::Or, parts)?;
        return if negated { super::bind_not(cx, any) } else { Ok(any) };
    }
    let (expr, list, collation) = match one {
        None => (e, list, None),
        Some(Class::Text) => {
            let mut all = vec![&e];
            all.extend(list.iter());
            let c = collation::for_comparison(cx, "in", &all)?.collation;
            (collation::convert(cx, e, c), list.into_iter().map(|m| collation::convert(cx, m, c)).collect(), Some(c))
        }
        Some(class) => (to_class(cx, e, class), list.into_iter().map(|m| to_class(cx, m, class)).collect(), None),
    };
    Ok(bool_expr(ExprKind::InList { expr: Box::new(expr), list, negated, collation }, nullable))
}

/// `(a, b) [NOT] IN ((1, 2), …)`
pub fn bind_row_in_list(cx: &BindCtx, row: Vec<Expr>, list: Vec<Vec<Expr>>, negated: bool) -> SqlResult<Expr> {
    let parts =
        list.into_iter().map(|m| bind_row_compare(cx, CmpOp::Eq, row.clone(), m)).collect::<SqlResult<Vec<_>>>()?;
    let any = super::bind_logical(cx, LogicalOp::Or, parts)?;
    if negated { super::bind_not(cx, any) } else { Ok(any) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{literal_number, literal_text};
    use selkie_types::Date;

    fn date_column() -> Expr {
        Expr::column(0, SqlType::Date, true)
    }

    fn sides(e: &Expr) -> (CmpOp, &Expr, &Expr) {
        match &e.kind {
            ExprKind::Compare { op, left, right, .. } => (*op, left, right),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_date_column_stays_bare_beside_a_literal() {
        let cx = BindCtx::default();
        let e = bind_compare(&cx, CmpOp::Lt, date_column(), literal_text(&cx, "2024-02-29 10:00:00", None)).unwrap();
        let (op, l, r) = sides(&e);
        assert!(matches!(l.kind, ExprKind::Column(0)));
        assert_eq!(op, CmpOp::Le);
        assert!(matches!(r.kind, ExprKind::Const(Value::Date(d)) if d == Date::new(2024, 2, 29)));
        let list = vec![literal_text(&cx, "2024-01-01", None), literal_text(&cx, "2024-01-02", None)];
        let e = bind_in_list(&cx, date_column(), list, false).unwrap();
        assert!(matches!(&e.kind, ExprKind::InList { expr, .. } if matches!(expr.kind, ExprKind::Column(0))));
    }

    #[test]
    fn an_integer_column_stays_bare_beside_a_numeric_text() {
        let cx = BindCtx::default();
        let e = bind_compare(&cx, CmpOp::Eq, Expr::column(0, SqlType::BIGINT, true), literal_text(&cx, "42", None))
            .unwrap();
        let (_, l, r) = sides(&e);
        assert!(matches!(l.kind, ExprKind::Column(0)));
        assert!(matches!(r.kind, ExprKind::Const(Value::Int(42))));
    }

    #[test]
    fn rows_need_equal_width() {
        let cx = BindCtx::default();
        let n = || literal_number("1").unwrap();
        let e = bind_row_compare(&cx, CmpOp::Eq, vec![n(), n()], vec![n()]).unwrap_err();
        assert_eq!(e.code(), 1241);
    }
}
