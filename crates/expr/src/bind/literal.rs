//! Literals and parameters.

use std::sync::Arc;

use selkie_types::{Collation, Decimal, IntWidth, SqlResult, SqlType, TextKind, Value, sql_err};

use super::{BindCtx, attr};
use crate::func::args::HEX_HYBRID;
use crate::func::{Build, Call};
use crate::ir::{Coercibility, Expr, ExprKind};

/// A string literal in the connection's collation (or that of an introducer).
pub fn literal_text(cx: &BindCtx, text: &str, collation: Option<Collation>) -> Expr {
    let ty = attr::text(text.chars().count() as u64, collation.unwrap_or(cx.collation_connection));
    Expr::constant(Value::text(text), ty)
}

/// A number as it was written: `1`, `1.50`, `1e3`. Digits only; the sign is an operator.
pub fn literal_number(text: &str) -> SqlResult<Expr> {
    let invalid = || sql_err!(ER_ILLEGAL_VALUE_FOR_TYPE, "double", text);
    if text.contains(['e', 'E']) {
        let v: f64 = text.parse().map_err(|_| invalid())?;
        if v.is_infinite() {
            return Err(invalid());
        }
        return Ok(Expr::constant(Value::Double(v), SqlType::DOUBLE));
    }
    if !text.contains('.') {
        let len = text.len().min(255) as u32;
        if let Ok(i) = text.parse::<i64>() {
            return Ok(Expr::constant(Value::Int(i), int_literal_type(i, len)));
        }
        if let Ok(u) = text.parse::<u64>() {
            return Ok(Expr::constant(Value::UInt(u), attr::bigint(len, true)));
        }
    }
    let d = Decimal::parse(text).ok_or_else(invalid)?;
    let int_digits = text.split('.').next().map_or(0, str::len) as u32;
    let ty = attr::decimal(int_digits + d.scale() as u32, d.scale().into(), false);
    Ok(Expr::constant(Value::Decimal(d), ty))
}

fn int_literal_type(v: i64, len: u32) -> SqlType {
    let width = if i32::try_from(v).is_ok() && len < 10 { IntWidth::Int } else { IntWidth::Big };
    attr::int(width, len, false)
}

/// A literal with its sign turned, where the operand is a number literal.
pub(crate) fn negated(e: &Expr) -> Option<Expr> {
    let ExprKind::Const(v) = &e.kind else { return None };
    let display = attr::char_len(&e.ty);
    Some(match v {
        Value::Int(i) => match i.checked_neg() {
            Some(n) => {
                let len = match (n < 0, *i < 0) {
                    (true, _) => display + 1,
                    (false, true) => display.saturating_sub(1),
                    _ => display,
                };
                Expr::constant(Value::Int(n), int_literal_type(n, len))
            }
            None => Expr::constant(Value::UInt(1 << 63), attr::bigint(display.saturating_sub(1), true)),
        },
        Value::UInt(u) if *u == 1 << 63 => Expr::constant(Value::Int(i64::MIN), attr::bigint(display + 1, false)),
        Value::UInt(u) => {
            let d = Decimal::from(*u).neg();
            let ty = attr::decimal(d.precision().into(), 0, false);
            Expr::constant(Value::Decimal(d), ty)
        }
        Value::Decimal(d) => Expr::constant(Value::Decimal(d.neg()), e.ty.clone()),
        Value::Double(d) => Expr::constant(Value::Double(-d), e.ty.clone()),
        _ => return None,
    })
}

fn eval_hex(call: &Call, _: &[Expr], _: &[Value], _: &mut dyn crate::EvalContext) -> SqlResult<Value> {
    Ok(call.data.as_ref().and_then(|d| d.downcast_ref::<Value>()).cloned().unwrap_or_default())
}

/// `0x41`, `b'1'`: bytes where text is wanted, a number where a number is wanted.
pub fn literal_hex_hybrid(bytes: &[u8]) -> Expr {
    let ty = attr::text(bytes.len() as u64, Collation::BINARY);
    Build::new(HEX_HYBRID, eval_hex, Vec::new(), ty).data(Arc::new(Value::bytes(bytes))).build()
}

/// A hex or bit literal as the number that it is; `None` for anything else.
pub fn hex_as_number(e: &Expr) -> Option<Expr> {
    crate::func::args::hex_number(e)
}

/// The number that a hex literal is: its last eight bytes.
pub(crate) fn hex_value(e: &Expr) -> Option<u64> {
    let bytes = hex_bytes(e)?;
    Some(bytes.iter().fold(0u64, |n, b| n << 8 | *b as u64))
}

fn hex_bytes(e: &Expr) -> Option<Arc<[u8]>> {
    let ExprKind::Call { function, .. } = &e.kind else { return None };
    if function.name() != HEX_HYBRID {
        return None;
    }
    match function.literal() {
        Some(Value::Bytes(b)) => Some(b),
        _ => None,
    }
}

/// `x'41'`: always bytes.
pub fn literal_binary(bytes: &[u8]) -> Expr {
    Expr::constant(Value::bytes(bytes), attr::text(bytes.len() as u64, Collation::BINARY))
}

/// The type of `TRUE` and `FALSE`: a length that tells them from 1 and 0, and MariaDB's.
pub(crate) const BOOL_LITERAL: SqlType =
    SqlType::Int { width: IntWidth::Int, unsigned: false, zerofill: false, display: 5 };

/// `TRUE`, `FALSE`
pub fn literal_bool(value: bool) -> Expr {
    Expr::constant(Value::bool(value), BOOL_LITERAL)
}

/// `NULL`
pub fn literal_null() -> Expr {
    let mut e = Expr::constant(Value::Null, SqlType::Null);
    e.coercibility = Coercibility::Ignorable;
    e
}

/// A temporal literal's value and fsp; `None` where the text is not one.
fn parse_temporal(ty: &SqlType, text: &str) -> Option<(Value, SqlType)> {
    crate::func::temporal_parse::literal(ty, text)
}

/// `DATE'…'`, `TIME'…'`, `TIMESTAMP'…'`: `ty` is Date, Time or DateTime of any fsp (that of the text is taken). Error 1525.
pub fn literal_temporal(_cx: &BindCtx, ty: &SqlType, text: &str) -> SqlResult<Expr> {
    match parse_temporal(ty, text) {
        Some((v, ty)) => Ok(Expr::constant(v, ty)),
        None => {
            let name = match ty {
                SqlType::Date => "DATE",
                SqlType::Time { .. } => "TIME",
                _ => "DATETIME",
            };
            Err(sql_err!(ER_WRONG_VALUE, name, text))
        }
    }
}

impl Expr {
    /// A parameter with the type of the value supplied (or [`SqlType::Null`] when not known yet).
    pub fn param(index: usize, ty: SqlType) -> Expr {
        Expr { kind: ExprKind::Param(index), ty, nullable: true, coercibility: Coercibility::Literal }
    }

    /// Converted to `ty`; unchanged if the types match. Text keeps its collation strength.
    pub fn cast_to(self, ty: &SqlType) -> Expr {
        if self.ty == *ty {
            return self;
        }
        if same_values(&self.ty, ty) {
            return self.retyped(ty);
        }
        let nullable = self.nullable || (ty.is_temporal() && !self.ty.is_temporal());
        let coercibility = if self.ty.collation().is_some() || matches!(self.ty, SqlType::Null) {
            self.coercibility
        } else {
            Coercibility::Numeric
        };
        let inner = match crate::func::args::hex_number(&self) {
            Some(n) if ty.is_numeric() => n,
            _ => self,
        };
        if inner.ty == *ty {
            return inner;
        }
        Expr { kind: ExprKind::Cast(Box::new(inner)), ty: ty.clone(), nullable, coercibility }
    }

    /// The same expression under a type whose values are the same.
    fn retyped(mut self, ty: &SqlType) -> Expr {
        self.ty = ty.clone();
        self
    }
}

/// Whether every value of `from` is the same value of `to`, so that no conversion is needed, only for
/// integers of equal or greater width and text that becomes longer.
fn same_values(from: &SqlType, to: &SqlType) -> bool {
    match (from, to) {
        (
            SqlType::Int { width: a, unsigned: ua, zerofill: za, .. },
            SqlType::Int { width: b, unsigned: ub, zerofill: zb, .. },
        ) => ua == ub && a <= b && !za && !zb,
        (
            SqlType::Double { digits: None, unsigned: false, .. },
            SqlType::Double { digits: None, unsigned: false, .. },
        ) => true,
        (SqlType::Text { kind: ka, len: a, collation: ca }, SqlType::Text { kind: kb, len: b, collation: cb }) => {
            ca == cb && a <= b && *ka != TextKind::Char && *kb != TextKind::Char
        }
        _ => false,
    }
}
