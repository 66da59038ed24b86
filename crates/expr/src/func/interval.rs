//! Date arithmetic: intervals, differences, conversions between seconds, days and time zones.

use std::sync::Arc;

use selkie_types::datetime::{self, Interval, IntervalUnit, timestamp_diff};
use selkie_types::{Date, DateTime, Decimal, SqlResult, SqlType, Time, TimeZone, Value, convert, sql_err};

use super::args::{self, arg};
use super::temporal::only;
use super::temporal_parse::{self as parse, Moment, Zeros};
use super::{Build, Call, Def, def};
use crate::bind::attr::{self, Family};
use crate::bind::{BindCtx, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("adddate", 2, 2, |cx, _, a| days(cx, false, a, IntervalUnit::Day)),
    def("subdate", 2, 2, |cx, _, a| days(cx, true, a, IntervalUnit::Day)),
    def("add_months", 2, 2, |cx, _, a| days(cx, false, a, IntervalUnit::Month)),
    def("addtime", 2, 2, bind_addtime),
    def("subtime", 2, 2, bind_addtime),
    def("timediff", 2, 2, bind_timediff),
    def("datediff", 2, 2, |_, n, a| Build::new(n, datediff, a, attr::int4(8)).nullable(true).ok()),
    def("timestamp", 1, 2, bind_timestamp),
    def("makedate", 2, 2, |_, n, a| {
        Build::new(n, makedate, a.into_iter().map(args::to_int).collect(), SqlType::Date).nullable(true).ok()
    }),
    def("maketime", 3, 3, bind_maketime),
    def("from_days", 1, 1, |_, n, a| {
        Build::new(n, from_days, a.into_iter().map(args::to_int).collect(), SqlType::Date).nullable(true).ok()
    }),
    def("period_add", 2, 2, |_, n, a| period(n, period_add, a)),
    def("period_diff", 2, 2, |_, n, a| period(n, period_diff, a)),
    def("sec_to_time", 1, 1, bind_sec_to_time),
    def("time_to_sec", 1, 1, bind_time_to_sec),
    def("unix_timestamp", 0, 1, bind_unix_timestamp),
    def("from_unixtime", 1, 2, bind_from_unixtime),
    def("convert_tz", 3, 3, bind_convert_tz),
];

fn days(cx: &BindCtx, subtract: bool, args: Vec<Expr>, unit: IntervalUnit) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    match (it.next(), it.next()) {
        (Some(e), Some(n)) => bind(cx, subtract, e, n, unit),
        _ => Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "adddate")),
    }
}

#[derive(Debug)]
struct Add {
    unit: IntervalUnit,
    subtract: bool,
}

/// `e ± INTERVAL amount unit`
pub(crate) fn bind(cx: &BindCtx, subtract: bool, e: Expr, amount: Expr, unit: IntervalUnit) -> SqlResult<Expr> {
    use IntervalUnit as U;
    let frac = if unit.has_micros() {
        6
    } else if unit == U::Second {
        attr::seconds_decimals(&amount)
    } else {
        0
    };
    let fsp = attr::fsp(attr::decimals(&e.ty)).max(frac);
    let ty = match &e.ty {
        SqlType::Date if unit.is_days_or_more() => SqlType::Date,
        SqlType::Date => SqlType::DateTime { fsp },
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => SqlType::DateTime { fsp },
        SqlType::Time { .. } => SqlType::Time { fsp },
        _ => {
            let shown = attr::temporal_decimals(&e).max(frac);
            let len = 19 + if shown > 0 { shown as u64 + 1 } else { 0 };
            let len = if attr::family(&e.ty) == Family::Int { 19 } else { len };
            attr::text(len, cx.collation_connection)
        }
    };
    let amount = if unit.is_composite() {
        collation::to_text(cx, amount)
    } else if unit == U::Second {
        match attr::family(&amount.ty) {
            Family::Int => args::to_int(amount),
            _ => args::to_decimal(amount),
        }
    } else {
        args::to_int(amount)
    };
    let b = Build::new(if subtract { "date_sub" } else { "date_add" }, eval_add, vec![e, amount], ty);
    b.nullable(true).strength(Coercibility::Literal).data(Arc::new(Add { unit, subtract })).ok()
}

fn interval_of(add: &Add, v: &Value) -> Option<Interval> {
    let i = match v {
        Value::Bytes(b) => Interval::from_text(add.unit, b)?,
        Value::Decimal(d) => Interval::from_seconds(d)?,
        v => Interval::from_int(add.unit, i64::try_from(args::wide(v)).ok()?)?,
    };
    Some(if add.subtract { i.negated() } else { i })
}

fn overflow(ctx: Ctx<'_>, what: &str) -> SqlResult<Value> {
    ctx.diag().warn(sql_err!(ER_DATETIME_FUNCTION_OVERFLOW, what));
    Ok(Value::Null)
}

fn eval_add(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(add) = call.data.as_ref().and_then(|d| d.downcast_ref::<Add>()) else { return Ok(Value::Null) };
    let v = arg!(args, 0, row, ctx);
    let amount = arg!(args, 1, row, ctx);
    let interval = interval_of(add, &amount);
    if let SqlType::Time { .. } = call.ty {
        let Value::Time(t) = v else { return Ok(Value::Null) };
        return match interval.and_then(|i| t.plus(i)) {
            Some(t) => Ok(Value::Time(t)),
            None => overflow(ctx, "time"),
        };
    }
    let is_text = matches!(call.ty, SqlType::Text { .. });
    // Text keeps the form that it came in: a date stays a date where only days are added.
    let only_date = is_text
        && add.unit.is_days_or_more()
        && match &v {
            Value::Bytes(b) => datetime::Parts::parse_datetime(b, datetime::DateRules::default())
                .is_some_and(|p| p.kind == datetime::Kind::Date),
            Value::Int(i) => (*i as u64) < 1_000_000_000,
            _ => false,
        };
    let zeros = if add.unit.is_days_or_more()
        && matches!(
            add.unit,
            IntervalUnit::Year | IntervalUnit::Month | IntervalUnit::Quarter | IntervalUnit::YearMonth
        ) {
        Zeros::Mode
    } else {
        Zeros::Refused
    };
    let Some(d) = parse::datetime_of(v, &args[0].ty, zeros, ctx)? else { return Ok(Value::Null) };
    let Some(d) = interval.and_then(|i| d.plus(i)) else { return overflow(ctx, "datetime") };
    Ok(match call.ty {
        SqlType::Date => Value::Date(d.date()),
        SqlType::Text { .. } => {
            let mut out = Vec::with_capacity(26);
            if only_date {
                d.date().write_to(&mut out);
            } else {
                let fsp = attr::char_len(&call.ty).saturating_sub(20) as u8;
                let fsp = if fsp == 6 && d.micros() == 0 { 0 } else { fsp };
                d.write_to(fsp, &mut out);
            }
            args::owned(out)
        }
        _ => Value::DateTime(d),
    })
}

/// TIMESTAMPDIFF
pub(crate) fn bind_timestampdiff(unit: IntervalUnit, from: Expr, to: Expr) -> SqlResult<Expr> {
    Build::new("timestampdiff", timestampdiff, vec![from, to], attr::bigint(21, false))
        .nullable(true)
        .data(Arc::new(unit))
        .ok()
}

fn timestampdiff(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(unit) = call.data.as_ref().and_then(|d| d.downcast_ref::<IntervalUnit>()) else { return Ok(Value::Null) };
    let Some(a) = parse::datetime(&args[0], Zeros::Refused, row, ctx)? else { return Ok(Value::Null) };
    let Some(b) = parse::datetime(&args[1], Zeros::Refused, row, ctx)? else { return Ok(Value::Null) };
    Ok(Value::Int(timestamp_diff(*unit, a, b)))
}

fn joint_fsp(args: &[Expr]) -> u8 {
    args.iter().map(attr::temporal_decimals).max().unwrap_or(0)
}

fn bind_addtime(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let fsp = joint_fsp(&args);
    let ty = match args[0].ty {
        SqlType::Time { .. } => SqlType::Time { fsp },
        SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => SqlType::DateTime { fsp },
        _ => attr::text(26, cx.collation_connection),
    };
    let mode = if name == "subtime" { -1 } else { 1 };
    Build::new(name, addtime, args, ty).nullable(true).mode(mode).ok()
}

fn addtime(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let Some(a) = parse::moment(v, &args[0].ty, ctx)? else { return Ok(Value::Null) };
    let w = arg!(args, 1, row, ctx);
    let b = match parse::moment(w.clone(), &args[1].ty, ctx)? {
        Some(Moment::Time(t)) => t,
        Some(Moment::DateTime(_)) => {
            let shown = String::from_utf8_lossy(&convert::text_of(&w, &args[1].ty)).into_owned();
            parse::incorrect(ctx, "INTERVAL DAY TO SECOND", &shown);
            return Ok(Value::Null);
        }
        None => return Ok(Value::Null),
    };
    let delta = b.0 * call.mode;
    let text = matches!(call.ty, SqlType::Text { .. });
    Ok(match a {
        Moment::Time(t) => {
            let (sum, cut) = Time::clamped(t.0 + delta);
            if cut {
                let mut shown = Vec::new();
                Time(t.0 + delta).write_to(0, &mut shown);
                ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, "time", String::from_utf8_lossy(&shown)));
            }
            if text {
                let mut out = Vec::new();
                sum.write_to(if sum.micros() != 0 { 6 } else { 0 }, &mut out);
                args::owned(out)
            } else {
                Value::Time(sum)
            }
        }
        Moment::DateTime(d) => {
            let Some(sum) = DateTime::from_linear_micros(d.linear_micros() + delta) else {
                return overflow(ctx, "datetime");
            };
            if text {
                let mut out = Vec::new();
                sum.write_to(if sum.micros() != 0 { 6 } else { 0 }, &mut out);
                args::owned(out)
            } else {
                Value::DateTime(sum)
            }
        }
    })
}

fn bind_timediff(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let fsp = joint_fsp(&args);
    Build::new(name, timediff, args, SqlType::Time { fsp }).nullable(true).ok()
}

fn timediff(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let Some(a) = parse::moment(v, &args[0].ty, ctx)? else { return Ok(Value::Null) };
    let w = arg!(args, 1, row, ctx);
    let Some(b) = parse::moment(w, &args[1].ty, ctx)? else { return Ok(Value::Null) };
    let micros = match (a, b) {
        (Moment::Time(a), Moment::Time(b)) => a.0 - b.0,
        (Moment::DateTime(a), Moment::DateTime(b)) => a.linear_micros() - b.linear_micros(),
        _ => return Ok(Value::Null),
    };
    let (t, cut) = Time::clamped(micros);
    if cut {
        let mut shown = Vec::new();
        Time(micros).write_to(0, &mut shown);
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, "time", String::from_utf8_lossy(&shown)));
    }
    Ok(Value::Time(t))
}

fn datediff(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let a = parse::date(&args[0], Zeros::Refused, row, ctx)?;
    let b = parse::date(&args[1], Zeros::Refused, row, ctx)?;
    Ok(match (a, b) {
        (Some(a), Some(b)) => Value::Int(a.day_number() - b.day_number()),
        _ => Value::Null,
    })
}

fn bind_timestamp(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let fsp = joint_fsp(&args);
    if args.len() == 1 {
        let e = only(args, name)?;
        return Ok(super::temporal::cast_node(e, SqlType::DateTime { fsp }));
    }
    let _ = cx;
    Build::new(name, timestamp2, args, SqlType::DateTime { fsp }).nullable(true).ok()
}

fn timestamp2(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(d) = parse::datetime(&args[0], Zeros::Refused, row, ctx)? else { return Ok(Value::Null) };
    let Some(t) = parse::time(&args[1], row, ctx)? else { return Ok(Value::Null) };
    match DateTime::from_linear_micros(d.linear_micros() + t.0) {
        Some(d) => Ok(Value::DateTime(d)),
        None => overflow(ctx, "datetime"),
    }
}

fn makedate(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let year = args::saturating_int(&arg!(args, 0, row, ctx));
    let day = args::saturating_int(&arg!(args, 1, row, ctx));
    if !(0..=9999).contains(&year) || day <= 0 || day > 4_000_000 {
        return Ok(Value::Null);
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        y => y,
    };
    Ok(Date::new(year as u32, 1, 1).plus_days(day - 1).map_or(Value::Null, Value::Date))
}

fn bind_maketime(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let fsp = args.get(2).map_or(0, attr::seconds_decimals);
    let args =
        args.into_iter().enumerate().map(|(i, a)| if i < 2 { args::to_int(a) } else { args::to_decimal(a) }).collect();
    Build::new(name, maketime, args, SqlType::Time { fsp }).nullable(true).ok()
}

fn maketime(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let hour = args::saturating_int(&arg!(args, 0, row, ctx));
    let minute = args::saturating_int(&arg!(args, 1, row, ctx));
    let seconds = args::decimal(&arg!(args, 2, row, ctx));
    let fsp = attr::fsp(attr::decimals(&call.ty));
    let micros = match seconds.truncate(6).mantissa() {
        Some(m) if (0..60_000_000).contains(&m) => m as u64,
        _ => return Ok(Value::Null),
    };
    if !(0..60).contains(&minute) {
        return Ok(Value::Null);
    }
    let negative = hour < 0;
    let h = hour.unsigned_abs();
    if h > 838 {
        let shown = format!("{hour:02}:{minute:02}:{:02}", micros / 1_000_000);
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, "time", shown));
        return Ok(Value::Time(Time::limit(negative, fsp)));
    }
    let t = Time::new(negative, h as u32, minute as u32, (micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
    Ok(Value::Time(t.truncate(fsp)))
}

fn from_days(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::saturating_int(&arg!(args, 0, row, ctx));
    if n <= 365 || n > 3_652_499 {
        return Ok(if (0..=365).contains(&n) { Value::Date(Date::default()) } else { Value::Null });
    }
    Ok(Value::Date(Date::from_day_number(n)))
}

fn period(name: &'static str, eval: super::EvalFn, args: Vec<Expr>) -> SqlResult<Expr> {
    let nullable = args.iter().any(|a| a.nullable);
    Build::new(name, eval, args.into_iter().map(args::to_int).collect(), attr::int4(6)).nullable(nullable).ok()
}

fn valid_period(p: i64, name: &str) -> SqlResult<u64> {
    u64::try_from(p).map_err(|_| sql_err!(ER_WRONG_ARGUMENTS, name))
}

fn period_add(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let p = args::int(&arg!(args, 0, row, ctx));
    let n = args::int(&arg!(args, 1, row, ctx));
    let p = valid_period(p, call.name)?;
    Ok(Value::Int(datetime::period_add(p, n) as i64))
}

fn period_diff(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let a = args::int(&arg!(args, 0, row, ctx));
    let b = args::int(&arg!(args, 1, row, ctx));
    let (a, b) = (valid_period(a, call.name)?, valid_period(b, call.name)?);
    Ok(Value::Int(datetime::period_diff(a, b)))
}

fn bind_sec_to_time(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let e = only(args, name)?;
    let fsp = attr::seconds_decimals(&e);
    Build::new(name, sec_to_time, vec![args::to_decimal(e)], SqlType::Time { fsp }).nullable(true).ok()
}

/// A decimal number of seconds in microseconds, clamped.
fn micros_of(d: &Decimal) -> i128 {
    d.truncate(6).mantissa().map_or(i128::MAX, |m| m * 10i128.pow(6 - d.truncate(6).scale().min(6) as u32))
}

fn sec_to_time(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let d = args::decimal(&arg!(args, 0, row, ctx));
    let fsp = attr::fsp(attr::decimals(&call.ty));
    let micros = micros_of(&d).clamp(-(1 << 60), 1 << 60) as i64;
    let (t, cut) = Time::clamped(micros);
    if cut {
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, "seconds", d.to_string()));
        return Ok(Value::Time(Time::limit(micros < 0, fsp)));
    }
    Ok(Value::Time(t.truncate(fsp)))
}

fn bind_time_to_sec(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let e = only(args, name)?;
    let fsp = attr::temporal_decimals(&e);
    let ty = if fsp > 0 { attr::decimal(16 + fsp as u32, fsp as u32, false) } else { attr::bigint(17, false) };
    Build::new(name, time_to_sec, vec![e], ty).nullable(true).ok()
}

fn seconds_value(micros: i64, ty: &SqlType) -> Value {
    match ty {
        SqlType::Decimal { scale, .. } => {
            Value::Decimal(Decimal::from_mantissa(micros as i128, 6).truncate(*scale as i32))
        }
        _ => Value::Int(micros / 1_000_000),
    }
}

fn time_to_sec(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(t) = parse::time(&args[0], row, ctx)? else { return Ok(Value::Null) };
    Ok(seconds_value(t.0, &call.ty))
}

fn bind_unix_timestamp(_: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let Some(e) = args.into_iter().next() else {
        return Build::new(name, unix_now, Vec::new(), attr::bigint(17, false)).nullable(true).ok();
    };
    let fsp = attr::temporal_decimals(&e);
    let ty = if fsp > 0 { attr::decimal(16 + fsp as u32, fsp as u32, false) } else { attr::bigint(17, false) };
    Build::new(name, unix_timestamp, vec![e], ty).nullable(true).ok()
}

fn unix_now(_: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Int(ctx.settings().now_utc_micros.div_euclid(1_000_000)))
}

fn unix_timestamp(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(d) = parse::datetime(&args[0], Zeros::Mode, row, ctx)? else { return Ok(Value::Null) };
    let micros = ctx.settings().time_zone.to_utc(d);
    match micros {
        Some(m) => Ok(seconds_value(m, &call.ty)),
        None => Ok(Value::Null),
    }
}

fn bind_from_unixtime(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let Some(e) = it.next() else { return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name)) };
    let fsp = match attr::family(&e.ty) {
        Family::Text => 6,
        _ => attr::seconds_decimals(&e),
    };
    let e = match attr::family(&e.ty) {
        Family::Int => args::to_int(e),
        _ => args::to_decimal(e),
    };
    let moment = Build::new(name, from_unixtime, vec![e], SqlType::DateTime { fsp }).nullable(true).build();
    match it.next() {
        None => Ok(moment),
        Some(format) => super::bind(cx, "date_format", vec![moment, format]),
    }
}

fn from_unixtime(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let micros = match &v {
        Value::Decimal(d) => micros_of(d),
        v => args::wide(v) * 1_000_000,
    };
    let shown = args::decimal(&v).to_string();
    const LIMIT: i128 = 2_147_483_647_999_999;
    if micros < 0 {
        return Ok(Value::Null);
    }
    if micros > LIMIT {
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, "unixtime", shown));
        return Ok(Value::Null);
    }
    let fsp = attr::fsp(attr::decimals(&call.ty));
    Ok(Value::DateTime(ctx.settings().time_zone.to_local(micros as i64).truncate(fsp)))
}

fn bind_convert_tz(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let (Some(e), Some(from), Some(to)) = (it.next(), it.next(), it.next()) else {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    };
    let fsp = match e.kind {
        ExprKind::Const(_) => attr::temporal_decimals(&e),
        _ => attr::fsp(attr::decimals(&e.ty)),
    };
    let args = vec![e, collation::to_text(cx, from), collation::to_text(cx, to)];
    Build::new(name, convert_tz, args, SqlType::DateTime { fsp }).nullable(true).ok()
}

fn convert_tz(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(d) = parse::datetime(&args[0], Zeros::Refused, row, ctx)? else { return Ok(Value::Null) };
    let (from, to) = (arg!(args, 1, row, ctx), arg!(args, 2, row, ctx));
    let zone = |v: &Value| TimeZone::parse(args::str_of(args::bytes(v)));
    let (Some(from), Some(to)) = (zone(&from), zone(&to)) else { return Ok(Value::Null) };
    // What TIMESTAMP cannot hold is given back as it came.
    Ok(Value::DateTime(match from.to_utc(d) {
        Some(utc) => to.to_local(utc),
        None => d,
    }))
}
