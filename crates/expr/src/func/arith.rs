//! Arithmetic and bit operators: result types and evaluation.

use selkie_types::{Decimal, SqlMode, SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg};
use super::{Build, Call};
use crate::bind::attr::{self, Family, NOT_FIXED};
use crate::bind::{BinaryOp, BindCtx, UnaryOp};
use crate::context::EvalContext;
use crate::describe::describe_with;
use crate::ir::Expr;

/// The family that an operand is computed in: ENUM and SET count as integers, dates as integers or,
/// with a fraction, decimals, NULL and text as doubles.
pub(crate) fn numeric_family(e: &Expr) -> Family {
    if args::hex_number(e).is_some() {
        return Family::Int;
    }
    match (&e.ty, attr::family(&e.ty)) {
        (SqlType::Enum(_) | SqlType::Set(_), _) => Family::Int,
        (_, Family::Text) => Family::Real,
        (t, Family::Temporal) => {
            if attr::decimals(t) == 0 {
                Family::Int
            } else {
                Family::Decimal
            }
        }
        (_, f) => f,
    }
}

/// The operand as a number of its own family.
pub(crate) fn to_number(e: Expr) -> Expr {
    if let Some(n) = args::hex_number(&e) {
        return n;
    }
    match numeric_family(&e) {
        Family::Int => match e.ty {
            SqlType::Enum(_) | SqlType::Set(_) => {
                let len = attr::char_len(&e.ty);
                e.cast_to(&attr::int_by_len(len.saturating_add(1), false))
            }
            SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
                let p = attr::precision(&e);
                e.cast_to(&attr::bigint(p + 1, false))
            }
            _ => e,
        },
        Family::Decimal => args::to_decimal(e),
        _ => args::to_double(e),
    }
}

fn joint_family(l: &Expr, r: &Expr) -> Family {
    match (numeric_family(l), numeric_family(r)) {
        (Family::Real, _) | (_, Family::Real) => Family::Real,
        (Family::Decimal, _) | (_, Family::Decimal) => Family::Decimal,
        _ => Family::Int,
    }
}

/// Binds an arithmetic or bit operator.
pub(crate) fn bind(cx: &BindCtx, op: BinaryOp, l: Expr, r: Expr) -> SqlResult<Expr> {
    use BinaryOp::*;
    // A hex literal takes part as a number.
    let l = args::hex_number(&l).unwrap_or(l);
    let r = args::hex_number(&r).unwrap_or(r);
    match op {
        Add | Sub | Mul => additive(cx, op, l, r),
        Div => divide(cx, l, r),
        IntDiv => int_divide(l, r),
        Mod => modulo(l, r),
        _ => bits(op, l, r),
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::IntDiv => "DIV",
        BinaryOp::Mod => "MOD",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Concat => "||",
    }
}

fn additive(cx: &BindCtx, op: BinaryOp, l: Expr, r: Expr) -> SqlResult<Expr> {
    let family = joint_family(&l, &r);
    let mul = op == BinaryOp::Mul;
    if family == Family::Real {
        let (dl, dr) = (attr::expr_decimals(&l), attr::expr_decimals(&r));
        let decimals = if mul { (dl + dr).min(NOT_FIXED) } else { dl.max(dr) };
        let decimals = if dl >= NOT_FIXED || dr >= NOT_FIXED { NOT_FIXED } else { decimals };
        let decimals = if mul { decimals_of_product(&l, &r, decimals) } else { decimals };
        let args = vec![args::to_double(l), args::to_double(r)];
        let eval = match op {
            BinaryOp::Add => real_add,
            BinaryOp::Sub => real_sub,
            _ => real_mul,
        };
        return Build::new(symbol(op), eval, args, attr::double(decimals)).ok();
    }
    let mut unsigned = if family == Family::Int {
        attr::is_unsigned(&l.ty) || attr::is_unsigned(&r.ty)
    } else {
        attr::is_unsigned(&l.ty) && attr::is_unsigned(&r.ty)
    };
    let (sl, sr) = (attr::scale(&l), attr::scale(&r));
    let (precision, scale) = if mul {
        ((attr::precision(&l) + attr::precision(&r)).min(attr::MAX_PRECISION), (sl + sr).min(attr::MAX_SCALE))
    } else {
        let scale = sl.max(sr);
        ((attr::int_part(&l).max(attr::int_part(&r)) + 1 + scale).min(attr::MAX_PRECISION), scale)
    };
    if op == BinaryOp::Sub && cx.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) {
        unsigned = false;
    }
    if family == Family::Int {
        let ty = attr::int_by_len(attr::precision_to_length(precision, 0, unsigned), unsigned);
        let args = vec![to_number(l), to_number(r)];
        let eval = match op {
            BinaryOp::Add => int_add,
            BinaryOp::Sub => int_sub,
            _ => int_mul,
        };
        return Build::new(symbol(op), eval, args, ty).ok();
    }
    let args = vec![args::to_decimal(l), args::to_decimal(r)];
    let eval = match op {
        BinaryOp::Add => dec_add,
        BinaryOp::Sub => dec_sub,
        _ => dec_mul,
    };
    Build::new(symbol(op), eval, args, attr::decimal(precision, scale, unsigned)).ok()
}

/// A product of doubles keeps the greater number of decimals, as sums do.
fn decimals_of_product(l: &Expr, r: &Expr, decimals: u32) -> u32 {
    if decimals >= NOT_FIXED { decimals } else { attr::expr_decimals(l).max(attr::expr_decimals(r)) }
}

fn divide(cx: &BindCtx, l: Expr, r: Expr) -> SqlResult<Expr> {
    let increment = cx.div_precision_increment as u32;
    if joint_family(&l, &r) == Family::Real {
        let (dl, dr) = (attr::expr_decimals(&l), attr::expr_decimals(&r));
        let decimals = if dl.max(dr) >= NOT_FIXED { NOT_FIXED } else { dl.max(dr) + increment };
        let full = 17 + decimals;
        let len = attr::char_len(&l.ty).saturating_add(decimals).saturating_sub(dl.min(NOT_FIXED)).min(full);
        let ty = attr::double_len(len, decimals);
        let args = vec![args::to_double(l), args::to_double(r)];
        return Build::new("/", real_div, args, ty).nullable(true).ok();
    }
    let scale = (attr::scale(&l) + increment).min(attr::MAX_SCALE);
    let precision = (attr::precision(&l) + attr::scale(&r) + increment).min(attr::MAX_PRECISION);
    let unsigned = attr::is_unsigned(&l.ty) && attr::is_unsigned(&r.ty);
    let args = vec![args::to_decimal(l), args::to_decimal(r)];
    Build::new("/", dec_div, args, attr::decimal(precision, scale, unsigned)).mode(increment as i64).nullable(true).ok()
}

fn int_divide(l: Expr, r: Expr) -> SqlResult<Expr> {
    let unsigned = attr::is_unsigned(&l.ty) || attr::is_unsigned(&r.ty);
    let len = match attr::family(&l.ty) {
        Family::Real => 21,
        Family::Text if !matches!(l.ty, SqlType::Null) => attr::char_len(&l.ty),
        _ => attr::int_part(&l).max(1),
    };
    let ty = attr::int_by_len(len, unsigned);
    let (args, eval): (Vec<Expr>, super::EvalFn) = if joint_family(&l, &r) == Family::Int {
        (vec![to_number(l), to_number(r)], int_int_div)
    } else {
        (vec![args::to_decimal(l), args::to_decimal(r)], dec_int_div)
    };
    Build::new("DIV", eval, args, ty).nullable(true).ok()
}

fn modulo(l: Expr, r: Expr) -> SqlResult<Expr> {
    let unsigned = attr::is_unsigned(&l.ty);
    let len = attr::precision_to_length(attr::precision(&l).max(attr::precision(&r)), 0, unsigned);
    match joint_family(&l, &r) {
        Family::Real => {
            let decimals = attr::expr_decimals(&l).max(attr::expr_decimals(&r));
            let args = vec![args::to_double(l), args::to_double(r)];
            Build::new("MOD", real_mod, args, attr::double(decimals)).nullable(true).ok()
        }
        Family::Int => {
            let len = if l.ty.is_temporal() || r.ty.is_temporal() {
                attr::precision(&l).max(attr::precision(&r)) + 1
            } else {
                len
            };
            let ty = attr::int_by_len(len, unsigned);
            Build::new("MOD", int_mod, vec![to_number(l), to_number(r)], ty).nullable(true).ok()
        }
        _ => {
            let scale = attr::scale(&l).max(attr::scale(&r));
            let precision = attr::precision(&l).max(attr::precision(&r));
            let ty = attr::decimal(precision, scale, unsigned);
            Build::new("MOD", dec_mod, vec![args::to_decimal(l), args::to_decimal(r)], ty).nullable(true).ok()
        }
    }
}

fn bits(op: BinaryOp, l: Expr, r: Expr) -> SqlResult<Expr> {
    let eval = match op {
        BinaryOp::BitAnd => bit_and,
        BinaryOp::BitOr => bit_or,
        BinaryOp::BitXor => bit_xor,
        BinaryOp::ShiftLeft => shift_left,
        _ => shift_right,
    };
    Build::new(symbol(op), eval, vec![to_bits(l), to_bits(r)], attr::bigint(21, true)).ok()
}

/// An operand of a bit operator: an integer whose 64 bits count.
pub(crate) fn to_bits(e: Expr) -> Expr {
    match numeric_family(&e) {
        Family::Int => to_number(e),
        Family::Decimal => args::to_decimal(e),
        _ => args::to_int(e),
    }
}

/// Binds a unary operator.
pub(crate) fn bind_unary(_cx: &BindCtx, op: UnaryOp, e: Expr) -> SqlResult<Expr> {
    match op {
        UnaryOp::Plus => Ok(e),
        UnaryOp::BitNot => Build::new("~", bit_not, vec![to_bits(e)], attr::bigint(21, true)).ok(),
        UnaryOp::Neg => {
            if let Some(n) = crate::bind::literal::negated(&e) {
                return Ok(n);
            }
            let len = attr::char_len(&e.ty);
            if e.ty.is_temporal() {
                let p = if attr::decimals(&e.ty) > 0 { attr::precision(&e) } else { 10.max(attr::precision(&e)) };
                let ty = attr::decimal(p, attr::scale(&e), false);
                return Build::new("-", dec_neg, vec![args::to_decimal(e)], ty).ok();
            }
            match numeric_family(&e) {
                Family::Int => {
                    let len = match &e.ty {
                        SqlType::Enum(d) | SqlType::Set(d) => len.saturating_mul(d.collation.charset().max_len()),
                        _ => len,
                    };
                    Build::new("-", int_neg, vec![to_number(e)], attr::int_by_len(len.saturating_add(1), false)).ok()
                }
                Family::Decimal => {
                    let ty = attr::decimal(attr::precision(&e), attr::scale(&e), false);
                    Build::new("-", dec_neg, vec![args::to_decimal(e)], ty).ok()
                }
                _ => {
                    let ty = attr::double_len(len.saturating_add(1), attr::expr_decimals(&e));
                    Build::new("-", real_neg, vec![args::to_double(e)], ty).ok()
                }
            }
        }
    }
}

/// Whether a call is written as a function.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
}

fn operands(call: &Call, args: &[Expr], names: &dyn EvalContext) -> String {
    let describe = |e: &Expr| describe_with(e, &|slot| names.column_name(slot));
    match args {
        [a] if !is_word(call.name) => format!("{}{}", call.name, describe(a)),
        [a, b] if !is_word(call.name) => format!("{} {} {}", describe(a), call.name, describe(b)),
        _ => format!("{}({})", call.name, args.iter().map(describe).collect::<Vec<_>>().join(",")),
    }
}

/// Error 1690 for a call whose result does not fit.
#[cold]
pub(crate) fn out_of_range(call: &Call, args: &[Expr], what: &str, ctx: &dyn EvalContext) -> SqlResult<Value> {
    Err(sql_err!(ER_DATA_OUT_OF_RANGE, what, operands(call, args, ctx)))
}

/// An integer result within the call's type.
#[inline]
pub(crate) fn fit_int(call: &Call, args: &[Expr], v: i128, ctx: &dyn EvalContext) -> SqlResult<Value> {
    if call.ty.is_unsigned() {
        match u64::try_from(v) {
            Ok(u) => Ok(Value::UInt(u)),
            Err(_) => out_of_range(call, args, "BIGINT UNSIGNED", ctx),
        }
    } else {
        match i64::try_from(v) {
            Ok(i) => Ok(Value::Int(i)),
            Err(_) => out_of_range(call, args, "BIGINT", ctx),
        }
    }
}

pub(crate) fn fit_real(call: &Call, args: &[Expr], v: f64, ctx: &dyn EvalContext) -> SqlResult<Value> {
    if v.is_finite() { Ok(Value::Double(v)) } else { out_of_range(call, args, "DOUBLE", ctx) }
}

fn fit_dec(call: &Call, args: &[Expr], (v, overflow): (Decimal, bool), ctx: &dyn EvalContext) -> SqlResult<Value> {
    if overflow || v.int_digits() as u32 > attr::MAX_PRECISION {
        return out_of_range(call, args, "DECIMAL", ctx);
    }
    // More digits than the type shows are kept until the value is shown or stored.
    Ok(Value::Decimal(v))
}

/// NULL for a division by zero, with its warning.
pub(crate) fn division_by_zero(ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    if ctx.settings().sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        ctx.diag().warn(sql_err!(ER_DIVISION_BY_ZERO));
    }
    Ok(Value::Null)
}

type Ctx<'a> = &'a mut dyn EvalContext;

macro_rules! both {
    ($args:ident, $row:ident, $ctx:ident) => {
        (arg!($args, 0, $row, $ctx), arg!($args, 1, $row, $ctx))
    };
}

macro_rules! int_op {
    ($name:ident, $checked:ident, $op:tt) => {
        fn $name(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let (a, b) = both!(args, row, ctx);
            if let (Value::Int(a), Value::Int(b)) = (&a, &b)
                && let Some(v) = a.$checked(*b)
                && (v >= 0 || !call.ty.is_unsigned())
            {
                return Ok(if call.ty.is_unsigned() { Value::UInt(v as u64) } else { Value::Int(v) });
            }
            match args::wide(&a).$checked(args::wide(&b)) {
                Some(v) => fit_int(call, args, v, ctx),
                None => out_of_range(call, args, "BIGINT", ctx),
            }
        }
    };
}
int_op!(int_add, checked_add, +);
int_op!(int_sub, checked_sub, -);
int_op!(int_mul, checked_mul, *);

macro_rules! real_op {
    ($name:ident, $op:tt) => {
        fn $name(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let (a, b) = both!(args, row, ctx);
            fit_real(call, args, args::double(&a) $op args::double(&b), ctx)
        }
    };
}
real_op!(real_add, +);
real_op!(real_sub, -);
real_op!(real_mul, *);

macro_rules! dec_op {
    ($name:ident, $op:ident) => {
        fn $name(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let (a, b) = both!(args, row, ctx);
            let r = match (&a, &b) {
                (Value::Decimal(a), Value::Decimal(b)) => a.$op(b),
                _ => args::decimal(&a).$op(&args::decimal(&b)),
            };
            fit_dec(call, args, r, ctx)
        }
    };
}
dec_op!(dec_add, overflowing_add);
dec_op!(dec_sub, overflowing_sub);
dec_op!(dec_mul, overflowing_mul);

fn real_div(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    let b = args::double(&b);
    if b == 0.0 {
        return division_by_zero(ctx);
    }
    fit_real(call, args, args::double(&a) / b, ctx)
}

fn dec_div(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    match args::decimal(&a).overflowing_div(&args::decimal(&b), call.mode as u8) {
        Some(r) => fit_dec(call, args, r, ctx),
        None => division_by_zero(ctx),
    }
}

fn int_int_div(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    let b = args::wide(&b);
    if b == 0 {
        return division_by_zero(ctx);
    }
    fit_int(call, args, args::wide(&a) / b, ctx)
}

fn dec_int_div(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    let Some(q) = args::decimal(&a).int_div(&args::decimal(&b)) else { return division_by_zero(ctx) };
    match q.mantissa() {
        Some(m) if q.scale() == 0 => fit_int(call, args, m, ctx),
        _ => out_of_range(call, args, if call.ty.is_unsigned() { "BIGINT UNSIGNED" } else { "BIGINT" }, ctx),
    }
}

fn int_mod(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    let b = args::wide(&b);
    if b == 0 {
        return division_by_zero(ctx);
    }
    fit_int(call, args, args::wide(&a) % b, ctx)
}

fn real_mod(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    let b = args::double(&b);
    if b == 0.0 {
        return division_by_zero(ctx);
    }
    fit_real(call, args, args::double(&a) % b, ctx)
}

fn dec_mod(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (a, b) = both!(args, row, ctx);
    match args::decimal(&a).rem(&args::decimal(&b)) {
        Some(r) => fit_dec(call, args, (r, false), ctx),
        None => division_by_zero(ctx),
    }
}

fn int_neg(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    fit_int(call, args, -args::wide(&v), ctx)
}

fn real_neg(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Double(-args::double(&arg!(args, 0, row, ctx))))
}

fn dec_neg(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Decimal(args::decimal(&arg!(args, 0, row, ctx)).neg()))
}

/// The 64 bits of an operand.
pub(crate) fn pattern(v: &Value) -> u64 {
    match v {
        Value::Decimal(d) if d.is_negative() => d.to_i64().0 as u64,
        Value::Decimal(d) => d.to_u64().0,
        other => args::int(other) as u64,
    }
}

macro_rules! bit_op {
    ($name:ident, |$a:ident, $b:ident| $e:expr) => {
        fn $name(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let (a, b) = both!(args, row, ctx);
            let ($a, $b) = (pattern(&a), pattern(&b));
            Ok(Value::UInt($e))
        }
    };
}
bit_op!(bit_and, |a, b| a & b);
bit_op!(bit_or, |a, b| a | b);
bit_op!(bit_xor, |a, b| a ^ b);
bit_op!(shift_left, |a, b| if b < 64 { a << b } else { 0 });
bit_op!(shift_right, |a, b| if b < 64 { a >> b } else { 0 });

fn bit_not(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::UInt(!pattern(&arg!(args, 0, row, ctx))))
}
