//! Numeric functions.

use selkie_types::{IntWidth, SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg};
use super::arith::{self, fit_real, numeric_family};
use super::{Build, Call, Def, def};
use crate::bind::attr::{self, Family, NOT_FIXED};
use crate::bind::{BinaryOp, BindCtx, bind_binary};
use crate::context::EvalContext;
use crate::ir::{Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("abs", 1, 1, bind_abs),
    def("ceil", 1, 1, bind_integral),
    def("ceiling", 1, 1, bind_integral),
    def("floor", 1, 1, bind_integral),
    def("round", 1, 2, bind_round),
    def("truncate", 2, 2, bind_round),
    def("mod", 2, 2, |cx, _, a| operator(cx, BinaryOp::Mod, a)),
    def("sign", 1, 1, |_, n, a| unary(n, sign, a, attr::int4(2), false)),
    def("sqrt", 1, 1, |_, n, a| unary(n, sqrt, a, SqlType::DOUBLE, true)),
    def("exp", 1, 1, |_, n, a| unary(n, exp, a, SqlType::DOUBLE, true)),
    def("ln", 1, 1, |_, n, a| unary(n, log, a, SqlType::DOUBLE, true)),
    def("log", 1, 2, |_, n, a| unary(n, log, a, SqlType::DOUBLE, true)),
    def("log2", 1, 1, |_, n, a| unary(n, log2, a, SqlType::DOUBLE, true)),
    def("log10", 1, 1, |_, n, a| unary(n, log10, a, SqlType::DOUBLE, true)),
    def("pow", 2, 2, |_, _, a| unary("pow", pow, a, SqlType::DOUBLE, true)),
    def("power", 2, 2, |_, _, a| unary("pow", pow, a, SqlType::DOUBLE, true)),
    def("sin", 1, 1, |_, n, a| unary(n, sin, a, SqlType::DOUBLE, true)),
    def("cos", 1, 1, |_, n, a| unary(n, cos, a, SqlType::DOUBLE, true)),
    def("tan", 1, 1, |_, n, a| unary(n, tan, a, SqlType::DOUBLE, true)),
    def("cot", 1, 1, |_, n, a| unary(n, cot, a, SqlType::DOUBLE, true)),
    def("asin", 1, 1, |_, n, a| unary(n, asin, a, SqlType::DOUBLE, true)),
    def("acos", 1, 1, |_, n, a| unary(n, acos, a, SqlType::DOUBLE, true)),
    def("atan", 1, 2, |_, n, a| unary(n, atan, a, SqlType::DOUBLE, true)),
    def("atan2", 1, 2, |_, n, a| unary(n, atan, a, SqlType::DOUBLE, true)),
    def("degrees", 1, 1, |_, n, a| unary(n, degrees, a, SqlType::DOUBLE, false)),
    def("radians", 1, 1, |_, n, a| unary(n, radians, a, SqlType::DOUBLE, false)),
    def("pi", 0, 0, |_, n, a| Build::new(n, pi, a, attr::double_len(8, 6)).ok()),
    def("rand", 0, 1, bind_rand),
    def("bit_count", 1, 1, |_, n, a| {
        let a = a.into_iter().map(arith::to_bits).collect();
        Build::new(n, bit_count, a, attr::int4(2)).ok()
    }),
    def("crc32", 1, 2, super::hash::bind_crc),
    def("crc32c", 1, 2, super::hash::bind_crc),
];

fn operator(cx: &BindCtx, op: BinaryOp, args: Vec<Expr>) -> SqlResult<Expr> {
    let [a, b]: [Expr; 2] = args.try_into().map_err(|_| sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "mod"))?;
    bind_binary(cx, op, a, b)
}

/// A function of doubles.
fn unary(name: &'static str, eval: super::EvalFn, args: Vec<Expr>, ty: SqlType, nullable: bool) -> SqlResult<Expr> {
    let nullable = nullable || args.iter().any(|a| a.nullable);
    let args = args.into_iter().map(args::to_double).collect();
    Build::new(name, eval, args, ty).nullable(nullable).ok()
}

fn only(args: Vec<Expr>, name: &str) -> SqlResult<Expr> {
    args.into_iter().next().ok_or_else(|| sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name))
}

fn bind_abs(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let e = only(args, name)?;
    let e = args::hex_number(&e).unwrap_or(e);
    let len = attr::char_len(&e.ty);
    let decimals = attr::expr_decimals(&e);
    if e.ty.is_temporal() {
        let ty = attr::decimal(attr::precision(&e) + 1 + (decimals > 0) as u32 * 3, attr::scale(&e), false);
        return Build::new(name, abs_dec, vec![args::to_decimal(e)], ty).ok();
    }
    match numeric_family(&e) {
        Family::Int => {
            let unsigned = attr::is_unsigned(&e.ty);
            let ty = attr::int_by_len(len, unsigned);
            Build::new(name, abs_int, vec![arith::to_number(e)], ty).ok()
        }
        Family::Decimal => {
            let ty = attr::decimal(attr::precision(&e), attr::scale(&e), attr::is_unsigned(&e.ty));
            Build::new(name, abs_dec, vec![args::to_decimal(e)], ty).ok()
        }
        _ => {
            let ty = if decimals < NOT_FIXED { attr::double_len(17 + decimals, decimals) } else { SqlType::DOUBLE };
            Build::new(name, abs_real, vec![args::to_double(e)], ty).ok()
        }
    }
}

fn abs_int(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    arith::fit_int(call, args, args::wide(&v).abs(), ctx)
}

fn abs_dec(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Decimal(args::decimal(&arg!(args, 0, row, ctx)).abs()))
}

fn abs_real(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Double(args::double(&arg!(args, 0, row, ctx)).abs()))
}

fn bind_integral(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let e = only(args, name)?;
    let e = args::hex_number(&e).unwrap_or(e);
    let name = if name == "ceil" { "ceiling" } else { name };
    let up = (name == "ceiling") as i64;
    if e.ty.is_temporal() {
        let ty = e.ty.clone();
        return match ty {
            SqlType::Date => Ok(e.cast_to(&attr::int(IntWidth::Int, 8, true))),
            _ => super::temporal::integral(name, up != 0, e),
        };
    }
    match numeric_family(&e) {
        Family::Int => {
            let ty = match &e.ty {
                SqlType::Int { .. } => e.ty.clone(),
                t => attr::int_by_len(attr::char_len(t), attr::is_unsigned(t)),
            };
            let e = arith::to_number(e);
            Build::new(name, |_, a, row, ctx| a[0].eval(row, ctx), vec![e], ty).ok()
        }
        Family::Decimal => {
            let unsigned = attr::is_unsigned(&e.ty);
            let scale = attr::scale(&e);
            let digits = attr::int_part(&e) + (scale > 0) as u32;
            let len = digits.max(1) + !unsigned as u32;
            let ty = if digits <= 18 {
                if len > 10 { attr::bigint(len, unsigned) } else { attr::int(IntWidth::Int, len, unsigned) }
            } else {
                attr::decimal(digits.max(1), 0, unsigned)
            };
            Build::new(name, integral_dec, vec![args::to_decimal(e)], ty).mode(up).ok()
        }
        _ => Build::new(name, integral_real, vec![args::to_double(e)], attr::double(0)).mode(up).ok(),
    }
}

fn integral_dec(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let d = args::decimal(&arg!(args, 0, row, ctx));
    let d = if call.mode != 0 { d.ceil() } else { d.floor() };
    match (&call.ty, d.mantissa()) {
        (SqlType::Int { .. }, Some(m)) => arith::fit_int(call, args, m, ctx),
        _ => Ok(Value::Decimal(d)),
    }
}

fn integral_real(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let d = args::double(&arg!(args, 0, row, ctx));
    Ok(Value::Double(if call.mode != 0 { d.ceil() } else { d.floor() }))
}

const TRUNCATE: i64 = 1;

fn bind_round(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let Some(e) = it.next() else { return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name)) };
    let places = it.next();
    let truncate = name == "truncate";
    let e = args::hex_number(&e).unwrap_or(e);
    let constant = match &places {
        None => Some(0),
        Some(Expr { kind: ExprKind::Const(v), .. }) if !v.is_null() => {
            Some(args::saturating_int(&numeric_const(v)).clamp(-100, 100))
        }
        _ => None,
    };
    let nullable = e.nullable || places.as_ref().is_some_and(|p| p.nullable);
    let mode = truncate as i64;
    let places = match places {
        Some(p) => args::to_int(p),
        None => Expr::constant(Value::Int(0), attr::int4(1)),
    };
    if e.ty.is_temporal() && places_is_zero_or_const(&constant) && !matches!(e.ty, SqlType::Date) {
        return super::temporal::round(name, truncate, constant.unwrap_or(6), e);
    }
    let unsigned = attr::is_unsigned(&e.ty);
    match numeric_family(&e) {
        Family::Int => {
            let int_len = attr::char_len(&e.ty);
            let ty = match (&e.ty, constant) {
                (SqlType::Int { .. }, Some(c)) if c >= 0 || truncate => e.ty.clone(),
                (t, Some(c)) if c >= 0 || truncate => attr::int_by_len(attr::char_len(t), unsigned),
                // One digit more may be one too many.
                (SqlType::Int { .. }, _) if int_len.saturating_add(1) > 20 => {
                    attr::decimal(20 + unsigned as u32, 0, unsigned)
                }
                _ => attr::int_by_len(int_len.saturating_add(1), unsigned),
            };
            let e = arith::to_number(e);
            Build::new(name, round_int, vec![e, places], ty).mode(mode).nullable(nullable).ok()
        }
        Family::Decimal => {
            let (p, s) = (attr::precision(&e), attr::scale(&e));
            let ty = match constant {
                None => attr::decimal(p, s, unsigned),
                Some(c) => {
                    let wanted = c.clamp(0, attr::MAX_SCALE as i64) as u32;
                    let shrinks = wanted < s;
                    let grow = (shrinks && !truncate) as u32;
                    let int = attr::int_part(&e);
                    attr::decimal((int + grow + wanted).max(1), wanted, unsigned)
                }
            };
            Build::new(name, round_dec, vec![args::to_decimal(e), places], ty).mode(mode).nullable(nullable).ok()
        }
        _ => {
            let ty = match constant {
                None => SqlType::DOUBLE,
                Some(c) => attr::double(c.clamp(0, attr::MAX_SCALE as i64) as u32),
            };
            Build::new(name, round_real, vec![args::to_double(e), places], ty).mode(mode).nullable(nullable).ok()
        }
    }
}

fn places_is_zero_or_const(c: &Option<i64>) -> bool {
    c.is_some()
}

fn numeric_const(v: &Value) -> Value {
    match v {
        Value::Bytes(b) => Value::Decimal(selkie_types::Decimal::parse_prefix(b).value),
        v => v.clone(),
    }
}

/// Places to round to: beyond any digits is as good as all.
fn places(v: &Value) -> i32 {
    args::wide(v).clamp(-400, 400) as i32
}

fn round_int(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let places = places(&arg!(args, 1, row, ctx));
    if places >= 0 {
        return Ok(match call.ty {
            SqlType::Decimal { .. } => Value::Decimal(args::decimal(&v)),
            _ => v,
        });
    }
    let v = args::wide(&v);
    let Some(unit) = 10i128.checked_pow(places.unsigned_abs().min(30)) else { return Ok(Value::Int(0)) };
    let cut = v - v % unit;
    let rounded = if call.mode != TRUNCATE && (v % unit).abs() * 2 >= unit { cut + unit * v.signum() } else { cut };
    match call.ty {
        SqlType::Decimal { .. } => Ok(Value::Decimal(selkie_types::Decimal::from_mantissa(rounded, 0))),
        _ => arith::fit_int(call, args, rounded, ctx),
    }
}

fn round_dec(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let d = args::decimal(&arg!(args, 0, row, ctx));
    let places = places(&arg!(args, 1, row, ctx)).clamp(-81, 38);
    let r = if call.mode == TRUNCATE { d.truncate(places) } else { d.round(places) };
    // The result's scale is that of its type, where the places are known only now.
    Ok(Value::Decimal(match call.ty {
        SqlType::Decimal { scale, .. } if r.scale() != scale => r.round(scale as i32),
        _ => r,
    }))
}

/// Rounds a double to decimal places, half away from zero by its decimal value as MariaDB does.
pub(crate) fn round_double(v: f64, places: i32, truncate: bool) -> f64 {
    if !v.is_finite() || places > 308 {
        return v;
    }
    let scale = 10f64.powi(places.abs());
    if places >= 0 && (scale.is_infinite() || (v * scale).is_infinite()) {
        return v;
    }
    if places < 0 && scale.is_infinite() {
        return 0.0;
    }
    let scaled = if places < 0 { v / scale } else { v * scale };
    let whole = if truncate { scaled.trunc() } else { scaled.round_ties_even() };
    if places < 0 { whole * scale } else { whole / scale }
}

fn round_real(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args::double(&arg!(args, 0, row, ctx));
    let places = places(&arg!(args, 1, row, ctx));
    Ok(Value::Double(round_double(v, places, call.mode == TRUNCATE)))
}

fn sign(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args::double(&arg!(args, 0, row, ctx));
    Ok(Value::Int(if v < 0.0 { -1 } else { (v > 0.0) as i64 }))
}

/// A function of one double that is NULL where it has no finite value.
macro_rules! real_fn {
    ($name:ident, |$x:ident| $e:expr) => {
        fn $name(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let $x = args::double(&arg!(args, 0, row, ctx));
            fit_real(call, args, $e, ctx)
        }
    };
}
real_fn!(exp, |x| x.exp());
real_fn!(sin, |x| x.sin());
real_fn!(cos, |x| x.cos());
real_fn!(tan, |x| x.tan());
real_fn!(cot, |x| 1.0 / x.tan());
real_fn!(degrees, |x| x * (180.0 / std::f64::consts::PI));
real_fn!(radians, |x| x * (std::f64::consts::PI / 180.0));

fn sqrt(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    Ok(if x < 0.0 { Value::Null } else { Value::Double(x.sqrt()) })
}

fn asin(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    Ok(if x.abs() > 1.0 { Value::Null } else { Value::Double(x.asin()) })
}

fn acos(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    Ok(if x.abs() > 1.0 { Value::Null } else { Value::Double(x.acos()) })
}

fn atan(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let y = args::double(&arg!(args, 0, row, ctx));
    if args.len() == 1 {
        return Ok(Value::Double(y.atan()));
    }
    let x = args::double(&arg!(args, 1, row, ctx));
    fit_real(call, args, y.atan2(x), ctx)
}

fn pow(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    let y = args::double(&arg!(args, 1, row, ctx));
    fit_real(call, args, x.powf(y), ctx)
}

fn log_of(x: f64, ctx: Ctx<'_>) -> SqlResult<Option<f64>> {
    if x > 0.0 {
        return Ok(Some(x.ln()));
    }
    arith::division_by_zero(ctx)?;
    Ok(None)
}

fn log(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    if args.len() == 1 {
        return Ok(log_of(x, ctx)?.map_or(Value::Null, Value::Double));
    }
    let y = args::double(&arg!(args, 1, row, ctx));
    if x <= 0.0 || y <= 0.0 || x == 1.0 {
        return arith::division_by_zero(ctx);
    }
    fit_real(call, args, y.ln() / x.ln(), ctx)
}

fn log2(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    Ok(log_of(x, ctx)?.map_or(Value::Null, |l| Value::Double(l / std::f64::consts::LN_2)))
}

fn log10(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let x = args::double(&arg!(args, 0, row, ctx));
    Ok(log_of(x, ctx)?.map_or(Value::Null, |_| Value::Double(x.log10())))
}

fn pi(_: &Call, _: &[Expr], _: &[Value], _: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Double(std::f64::consts::PI))
}

fn bit_count(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Int(arith::pattern(&arg!(args, 0, row, ctx)).count_ones() as i64))
}

/// The generator of RAND(n): two linear congruences modulo 2^30 - 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Generator {
    seed1: u64,
    seed2: u64,
}

const RAND_MAX: u64 = 0x3FFF_FFFF;

impl Generator {
    fn new(seed: u32) -> Generator {
        let seed1 = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
        let seed2 = seed.wrapping_mul(0x1000_0001);
        Generator { seed1: seed1 as u64 % RAND_MAX, seed2: seed2 as u64 % RAND_MAX }
    }

    /// From both seeds.
    pub fn from_seeds(seed1: u64, seed2: u64) -> Generator {
        Generator { seed1: seed1 % RAND_MAX, seed2: seed2 % RAND_MAX }
    }

    pub fn next(&mut self) -> f64 {
        self.seed1 = (self.seed1 * 3 + self.seed2) % RAND_MAX;
        self.seed2 = (self.seed1 + self.seed2 + 33) % RAND_MAX;
        self.seed1 as f64 / RAND_MAX as f64
    }
}

fn bind_rand(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    // With a constant seed the sequence runs on from row to row.
    let constant = args.first().is_some_and(crate::bind::is_constant);
    let args: Vec<Expr> = args.into_iter().map(args::to_int).collect();
    let b = Build::new(name, rand, args, SqlType::DOUBLE).nullable(false).volatile();
    // The key of the sequence is where this lies.
    if constant { b.data(std::sync::Arc::new(0u8)).ok() } else { b.ok() }
}

fn rand(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(seed) = args.first() else { return Ok(Value::Double(ctx.session().rand())) };
    let seed = args::int(&seed.eval(row, ctx)?) as u32;
    let key = call.data.as_ref().map(|d| std::sync::Arc::as_ptr(d) as *const u8 as usize);
    let Some(state) = key.and_then(|k| ctx.call_state(k)) else {
        return Ok(Value::Double(Generator::new(seed).next()));
    };
    let mut g = match *state {
        [0, 0] => Generator::new(seed),
        [seed1, seed2] => Generator { seed1, seed2 },
    };
    let v = g.next();
    *state = [g.seed1, g.seed2];
    Ok(Value::Double(v))
}
