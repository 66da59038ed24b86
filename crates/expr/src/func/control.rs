//! Control flow and choice: IF, IFNULL, NULLIF, COALESCE, GREATEST, LEAST, INTERVAL; XOR and padded binary casts.

use std::cmp::Ordering;

use selkie_types::{SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg};
use super::{Build, Call, Def, MANY, def};
use crate::bind::attr::{self, Family};
use crate::bind::compare::{Class, class_of, compare_as, to_class};
use crate::bind::hybrid::{Lengths, result_type, to_result};
use crate::bind::{BindCtx, collation};
use crate::context::EvalContext;
use crate::eval::ValueCompare;
use crate::ir::{CmpOp, Coercibility, Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("if", 3, 3, bind_if),
    def("ifnull", 2, 2, bind_coalesce),
    def("nvl", 2, 2, bind_coalesce),
    def("nvl2", 3, 3, bind_nvl2),
    def("nullif", 2, 2, bind_nullif),
    def("coalesce", 1, MANY, bind_coalesce),
    def("greatest", 2, MANY, bind_extreme),
    def("least", 2, MANY, bind_extreme),
    def("interval", 2, MANY, bind_interval_index),
    def("isnull", 1, 1, bind_isnull),
];

/// XOR of two conditions.
pub(crate) fn xor(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(a) = args[0].eval_bool(row, ctx)? else { return Ok(Value::Null) };
    let Some(b) = args[1].eval_bool(row, ctx)? else { return Ok(Value::Null) };
    Ok(Value::bool(a != b))
}

fn case(whens: Vec<(Expr, Expr)>, otherwise: Expr, ty: SqlType, nullable: bool, strength: Coercibility) -> Expr {
    Expr { kind: ExprKind::Case { whens, otherwise: Some(Box::new(otherwise)) }, ty, nullable, coercibility: strength }
}

fn three(args: Vec<Expr>, name: &str) -> SqlResult<[Expr; 3]> {
    args.try_into().map_err(|_| sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name))
}

fn two(args: Vec<Expr>, name: &str) -> SqlResult<[Expr; 2]> {
    args.try_into().map_err(|_| sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name))
}

fn bind_if(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let [condition, a, b] = three(args, name)?;
    let lengths = if a.ty == SqlType::Null || b.ty == SqlType::Null { Lengths::Longest } else { Lengths::Digits };
    let (ty, strength) = result_type(cx, name, &[&a, &b], lengths)?;
    let nullable = condition.nullable || a.nullable || b.nullable;
    let (a, b) = (to_result(cx, a, &ty), to_result(cx, b, &ty));
    Ok(case(vec![(condition, a)], b, ty, nullable, strength))
}

fn bind_nvl2(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let [tested, a, b] = three(args, name)?;
    let nullable = tested.nullable || a.nullable || b.nullable;
    let condition = crate::bind::bind_is_null(cx, tested, true)?;
    let mut e = bind_if(cx, name, vec![condition, a, b])?;
    e.nullable = nullable;
    Ok(e)
}

fn bind_isnull(cx: &BindCtx, _: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    match args.into_iter().next() {
        Some(e) => crate::bind::bind_is_null(cx, e, false),
        None => Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "isnull")),
    }
}

fn bind_coalesce(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let operands: Vec<&Expr> = args.iter().collect();
    let (ty, strength) = result_type(cx, name, &operands, Lengths::Digits)?;
    let nullable =
        if args.len() == 2 && name != "coalesce" { args[1].nullable } else { args.iter().all(|a| a.nullable) };
    let args = args.into_iter().map(|a| to_result(cx, a, &ty)).collect();
    Build::new(name, coalesce, args, ty).nullable(nullable).strength(strength).ok()
}

fn coalesce(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    for a in args {
        let v = a.eval(row, ctx)?;
        if !v.is_null() {
            return Ok(v);
        }
    }
    Ok(Value::Null)
}

fn bind_nullif(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let [a, b] = two(args, name)?;
    let equal = compare_as(cx, CmpOp::Eq, name, a.clone(), b)?;
    let (ty, strength) = match a.ty {
        SqlType::Enum(_) | SqlType::Set(_) => result_type(cx, name, &[&a], Lengths::Longest)?,
        _ => (a.ty.clone(), a.coercibility),
    };
    let a = to_result(cx, a, &ty);
    let null = Expr::constant(Value::Null, SqlType::Null);
    Ok(case(vec![(equal, null)], a, ty, true, strength))
}

fn bind_extreme(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let operands: Vec<&Expr> = args.iter().collect();
    // Numbers among texts are doubles here, not decimals as in comparisons.
    let class = class_of(&operands).map(|c| {
        let text = operands.iter().any(|e| matches!(e.ty, SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_)));
        if c == Class::Decimal && text { Class::Real } else { c }
    });
    let mode = if name == "greatest" { 1 } else { -1 };
    let nullable = args.iter().any(|a| a.nullable);
    if args.iter().any(|a| a.ty == SqlType::Null)
        && !matches!(class, Some(Class::Text | Class::DateTime | Class::Date | Class::Time))
    {
        let args = args.into_iter().map(args::to_double).collect();
        return Build::new(name, extreme, args, attr::double(0)).mode(mode).nullable(true).ok();
    }
    let (ty, collation, strength) = match class {
        None => (SqlType::Null, None, Coercibility::Ignorable),
        Some(Class::Text) => {
            let d = collation::for_result(cx, name, &operands)?;
            let len = if d.collation.is_binary() {
                operands.iter().map(|e| attr::byte_len(e)).max().unwrap_or(0)
            } else {
                operands.iter().map(|e| attr::expr_char_len(e) as u64).max().unwrap_or(0)
            };
            (attr::text(len, d.collation), Some(d.collation), d.strength)
        }
        Some(Class::Real) => {
            let decimals = operands.iter().map(|e| attr::expr_decimals(e)).max().unwrap_or(0);
            (attr::double(decimals), None, Coercibility::Numeric)
        }
        Some(Class::Int | Class::Decimal) => {
            let (ty, s) = result_type(cx, name, &operands, Lengths::Digits)?;
            (ty, None, s)
        }
        Some(temporal) => {
            let fsp = operands.iter().map(|e| attr::temporal_decimals(e)).max().unwrap_or(0);
            let only_date = operands.iter().all(|e| !e.ty.is_temporal() || e.ty == SqlType::Date);
            let ty = match temporal {
                Class::Date => SqlType::Date,
                Class::Time => SqlType::Time { fsp },
                _ if only_date => SqlType::Date,
                _ => SqlType::DateTime { fsp },
            };
            (ty, None, Coercibility::Numeric)
        }
    };
    let args = args
        .into_iter()
        .map(|a| match (&ty, class) {
            (SqlType::Text { collation: c, .. }, _) => collation::convert(cx, a, *c),
            (SqlType::Date, Some(class)) => to_class(cx, a, class).cast_to(&SqlType::Date),
            (_, Some(class)) => to_class(cx, a, class),
            _ => a,
        })
        .collect();
    let b = Build::new(name, extreme, args, ty).mode(mode).nullable(nullable).strength(strength);
    match collation {
        Some(c) => b.collation(c),
        None => b,
    }
    .ok()
}

fn extreme(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let by = ValueCompare::new(Some(call.collation));
    let want = if call.mode > 0 { Ordering::Greater } else { Ordering::Less };
    let mut best = arg!(args, 0, row, ctx);
    for a in &args[1..] {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            return Ok(v);
        }
        if by.order(&v, &best) == want {
            best = v;
        }
    }
    Ok(best)
}

fn bind_interval_index(_cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let exact = args.iter().all(|a| matches!(attr::family(&a.ty), Family::Int));
    let args = args.into_iter().map(if exact { args::to_int } else { args::to_double }).collect();
    Build::new(name, interval_index, args, attr::int4(2)).nullable(false).ok()
}

fn interval_index(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let by = ValueCompare::default();
    let v = args[0].eval(row, ctx)?;
    if v.is_null() {
        return Ok(Value::Int(-1));
    }
    for (i, a) in args.iter().enumerate().skip(1) {
        let bound = a.eval(row, ctx)?;
        if !bound.is_null() && by.order(&v, &bound).is_lt() {
            return Ok(Value::Int(i as i64 - 1));
        }
    }
    Ok(Value::Int(args.len() as i64 - 1))
}

/// CAST(e AS BINARY(n)): cut, or padded with zero bytes.
pub(crate) fn cast_binary(e: Expr, ty: SqlType, nullable: bool) -> Expr {
    let bytes = match &e.ty {
        SqlType::Text { len, collation, .. } => *len as u64 * collation.charset().max_len() as u64,
        _ => attr::expr_char_len(&e) as u64,
    };
    let inner = e.cast_to(&attr::text(bytes, selkie_types::Collation::BINARY));
    Build::new("cast_as_binary", pad_binary, vec![inner], ty)
        .nullable(nullable)
        .strength(Coercibility::Implicit)
        .build()
}

fn pad_binary(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let SqlType::Text { len, .. } = call.ty else { return Ok(v) };
    let b = args::bytes(&v);
    let n = len as usize;
    if n > ctx.settings().max_allowed_packet {
        let max = ctx.settings().max_allowed_packet;
        ctx.diag().warn(sql_err!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, "cast_as_binary", max));
        return Ok(Value::Null);
    }
    if b.len() > n {
        let shown = String::from_utf8_lossy(b).into_owned();
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, format!("BINARY({n})"), shown));
    }
    let mut out = b[..b.len().min(n)].to_vec();
    out.resize(n, 0);
    Ok(args::owned(out))
}
