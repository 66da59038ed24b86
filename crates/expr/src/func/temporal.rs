//! Parts of dates and times, their formatting and parsing, and the current time.

use selkie_types::datetime::{
    self, DateRules, IntervalUnit, Kind, date_format, str_to_date, str_to_date_kind, time_format,
};
use selkie_types::{Date, DateTime, SqlResult, SqlType, Time, Value, sql_err};

use super::args::{self, arg};
use super::temporal_parse::{self as parse, Zeros};
use super::{Build, Call, Def, EvalFn, def};
use crate::bind::{BindCtx, attr, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("year", 1, 1, |_, n, a| part(n, year, a, 5)),
    def("month", 1, 1, |_, n, a| part(n, month, a, 3)),
    def("day", 1, 1, |_, _, a| part("dayofmonth", day, a, 3)),
    def("dayofmonth", 1, 1, |_, n, a| part(n, day, a, 3)),
    def("dayofweek", 1, 1, |_, n, a| part(n, day_of_week, a, 1)),
    def("weekday", 1, 1, |_, n, a| part(n, weekday, a, 1)),
    def("dayofyear", 1, 1, |_, n, a| part(n, day_of_year, a, 4)),
    def("quarter", 1, 1, |_, n, a| part(n, quarter, a, 2)),
    def("week", 1, 2, bind_week),
    def("weekofyear", 1, 1, |_, n, a| part(n, week_of_year, a, 3)),
    def("yearweek", 1, 2, bind_week),
    def("hour", 1, 1, |_, n, a| part(n, hour, a, 3)),
    def("minute", 1, 1, |_, n, a| part(n, minute, a, 3)),
    def("second", 1, 1, |_, n, a| part(n, second, a, 3)),
    def("microsecond", 1, 1, |_, n, a| part(n, microsecond, a, 7)),
    def("to_days", 1, 1, |_, n, a| part(n, to_days, a, 7)),
    def("to_seconds", 1, 1, |_, n, a| Build::new(n, to_seconds, a, attr::bigint(12, false)).nullable(true).ok()),
    def("dayname", 1, 1, |cx, n, a| name_of(cx, n, day_name, a)),
    def("monthname", 1, 1, |cx, n, a| name_of(cx, n, month_name, a)),
    def("last_day", 1, 1, |_, n, a| Build::new(n, last_day, a, SqlType::Date).nullable(true).ok()),
    def("date", 1, 1, |_, _, a| only(a, "date").map(|e| cast_node(e, SqlType::Date))),
    def("time", 1, 1, bind_time),
    def("date_format", 2, 3, bind_date_format),
    def("time_format", 2, 2, bind_date_format),
    def("get_format", 2, 2, bind_get_format),
    def("str_to_date", 2, 2, bind_str_to_date),
    def("now", 0, 1, |_, _, a| current("current_timestamp", a)),
    def("current_timestamp", 0, 1, |_, _, a| current("current_timestamp", a)),
    def("localtime", 0, 1, |_, _, a| current("current_timestamp", a)),
    def("localtimestamp", 0, 1, |_, _, a| current("current_timestamp", a)),
    def("sysdate", 0, 1, |_, n, a| current(n, a)),
    def("curdate", 0, 0, |_, n, a| current(n, a)),
    def("current_date", 0, 0, |_, _, a| current("curdate", a)),
    def("curtime", 0, 1, |_, n, a| current(n, a)),
    def("current_time", 0, 1, |_, _, a| current("curtime", a)),
    def("utc_date", 0, 0, |_, n, a| current(n, a)),
    def("utc_time", 0, 1, |_, n, a| current(n, a)),
    def("utc_timestamp", 0, 1, |_, n, a| current(n, a)),
];

pub(super) fn only(args: Vec<Expr>, name: &str) -> SqlResult<Expr> {
    args.into_iter().next().ok_or_else(|| sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name))
}

pub(super) fn cast_node(e: Expr, ty: SqlType) -> Expr {
    Expr { kind: ExprKind::Cast(Box::new(e)), ty, nullable: true, coercibility: Coercibility::Numeric }
}

fn part(name: &'static str, eval: EvalFn, args: Vec<Expr>, len: u32) -> SqlResult<Expr> {
    Build::new(name, eval, args, attr::int4(len)).nullable(true).ok()
}

/// A function of one date.
macro_rules! of_date {
    ($name:ident, $zeros:expr, |$d:ident| $e:expr) => {
        fn $name(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let Some($d) = parse::date(&args[0], $zeros, row, ctx)? else { return Ok(Value::Null) };
            Ok($e)
        }
    };
}
of_date!(year, Zeros::Allowed, |d| Value::Int(d.year() as i64));
of_date!(month, Zeros::Allowed, |d| Value::Int(d.month() as i64));
of_date!(day, Zeros::Allowed, |d| Value::Int(d.day() as i64));
of_date!(quarter, Zeros::Allowed, |d| Value::Int(d.quarter() as i64));
of_date!(day_of_week, Zeros::Refused, |d| Value::Int((d.weekday() as i64 + 1) % 7 + 1));
of_date!(weekday, Zeros::Refused, |d| Value::Int(d.weekday() as i64));
of_date!(day_of_year, Zeros::Refused, |d| Value::Int(d.day_of_year() as i64));
of_date!(to_days, Zeros::Refused, |d| Value::Int(d.day_number()));
of_date!(week_of_year, Zeros::Refused, |d| Value::Int(d.week(3) as i64));
of_date!(day_name, Zeros::Refused, |d| Value::text(d.day_name()));
of_date!(month_name, Zeros::Allowed, |d| d.month_name().map_or(Value::Null, Value::text));
of_date!(last_day, Zeros::Allowed, |d| d.last_day().map_or(Value::Null, Value::Date));

/// A function of one time.
macro_rules! of_time {
    ($name:ident, |$t:ident| $e:expr) => {
        fn $name(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
            let Some($t) = parse::time(&args[0], row, ctx)? else { return Ok(Value::Null) };
            Ok(Value::Int($e as i64))
        }
    };
}
of_time!(hour, |t| t.hours());
of_time!(minute, |t| t.minutes());
of_time!(second, |t| t.seconds());
of_time!(microsecond, |t| t.micros());

fn to_seconds(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(d) = parse::datetime(&args[0], Zeros::Refused, row, ctx)? else { return Ok(Value::Null) };
    Ok(Value::Int(d.linear_micros() / 1_000_000))
}

fn name_of(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>) -> SqlResult<Expr> {
    let ty = attr::text(9, cx.collation_connection);
    Build::new(name, eval, args, ty).nullable(true).strength(Coercibility::Numeric).ok()
}

fn bind_week(_: &BindCtx, name: &'static str, mut args: Vec<Expr>) -> SqlResult<Expr> {
    if args.len() == 2 {
        let mode = args.remove(1);
        args.push(args::to_int(mode));
    }
    let (eval, ty): (EvalFn, _) = if name == "week" { (week, attr::int4(3)) } else { (yearweek, attr::int4(6)) };
    Build::new(name, eval, args, ty).nullable(true).ok()
}

fn week_args(args: &[Expr], default: u8, row: &[Value], ctx: Ctx<'_>) -> SqlResult<Option<(Date, u32)>> {
    let Some(d) = parse::date(&args[0], Zeros::Refused, row, ctx)? else { return Ok(None) };
    let mode = match args.get(1) {
        Some(m) => args::int(&m.eval(row, ctx)?) as u32 & 7,
        None => default as u32,
    };
    Ok(Some((d, mode)))
}

fn week(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let default = ctx.settings().default_week_format;
    Ok(week_args(args, default, row, ctx)?.map_or(Value::Null, |(d, m)| Value::Int(d.week(m) as i64)))
}

fn yearweek(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(week_args(args, 0, row, ctx)?.map_or(Value::Null, |(d, m)| Value::Int(datetime::yearweek(d, m) as i64)))
}

fn bind_time(_: &BindCtx, _: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let e = only(args, "time")?;
    let fsp = attr::temporal_decimals(&e);
    Ok(cast_node(e, SqlType::Time { fsp }))
}

/// EXTRACT of a unit.
pub(crate) fn bind_extract(unit: IntervalUnit, e: Expr) -> SqlResult<Expr> {
    use IntervalUnit::*;
    let len = match unit {
        Year => 5,
        Quarter => 2,
        Month | Week | Day | Hour | Minute | Second => 3,
        Microsecond | YearMonth | DayMinute | HourSecond => 7,
        DayHour | HourMinute | MinuteSecond => 5,
        DaySecond | SecondMicrosecond => 9,
        MinuteMicrosecond => 11,
        HourMicrosecond => 13,
        DayMicrosecond => 15,
    };
    // The days of a text may be those of a long duration.
    let days = matches!(unit, DayHour | DayMinute | DaySecond | DayMicrosecond);
    let len = if days && !e.ty.is_temporal() { len + 5 } else { len };
    let ty = if len <= 10 { attr::int4(len) } else { attr::bigint(len, false) };
    Build::new("extract", extract, vec![e], ty).mode(unit as i64).nullable(true).data(std::sync::Arc::new(unit)).ok()
}

fn extract(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    use IntervalUnit::*;
    let Some(unit) = call.data.as_ref().and_then(|d| d.downcast_ref::<IntervalUnit>()).copied() else {
        return Ok(Value::Null);
    };
    if matches!(unit, Year | Quarter | Month | Week | YearMonth) {
        let zeros = if unit == Week { Zeros::Refused } else { Zeros::Allowed };
        let Some(d) = parse::date(&args[0], zeros, row, ctx)? else { return Ok(Value::Null) };
        let default_week = ctx.settings().default_week_format as u32;
        return Ok(Value::Int(match unit {
            Year => d.year() as i64,
            Quarter => d.quarter() as i64,
            Month => d.month() as i64,
            Week => d.week(default_week) as i64,
            _ => d.year() as i64 * 100 + d.month() as i64,
        }));
    }
    // Days count from a date, or from the hours of a duration.
    let v = args[0].eval(row, ctx)?;
    let (day, t, negative) = match parse::moment(v, &args[0].ty, ctx)? {
        None => return Ok(Value::Null),
        Some(parse::Moment::DateTime(d)) => (d.date().day() as i64, d.time(), false),
        Some(parse::Moment::Time(t)) => {
            // Unlike HOUR(), which counts past a day.
            let hours = t.hours();
            let day = (hours / 24) as i64;
            (day, Time::new(false, hours % 24, t.minutes(), t.seconds(), t.micros()), t.is_negative())
        }
    };
    let (h, m, s, us) = (t.hours() as i64, t.minutes() as i64, t.seconds() as i64, t.micros() as i64);
    const M: i64 = 1_000_000;
    let n = match unit {
        Day => day,
        Hour => h,
        Minute => m,
        Second => s,
        Microsecond => us,
        DayHour => day * 100 + h,
        DayMinute => day * 10_000 + h * 100 + m,
        DaySecond => day * M + h * 10_000 + m * 100 + s,
        DayMicrosecond => (day * M + h * 10_000 + m * 100 + s) * M + us,
        HourMinute => h * 100 + m,
        HourSecond => h * 10_000 + m * 100 + s,
        HourMicrosecond => (h * 10_000 + m * 100 + s) * M + us,
        MinuteSecond => m * 100 + s,
        MinuteMicrosecond => (m * 100 + s) * M + us,
        SecondMicrosecond => s * M + us,
        _ => 0,
    };
    Ok(Value::Int(if negative { -n } else { n }))
}

/// The longest text that a format may give.
fn format_len(e: &Expr, time: bool) -> u32 {
    let ExprKind::Const(Value::Bytes(b)) = &e.kind else {
        return attr::byte_len(e).saturating_mul(10).min(u32::MAX as u64) as u32;
    };
    let text = args::str_of(b);
    let mut len = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            len += 1;
            continue;
        }
        len += match chars.next() {
            Some('M' | 'W') => 64,
            Some('D' | 'Y' | 'x' | 'X') => 4,
            Some('a' | 'b') => 32,
            Some('j') => 3,
            Some('H' | 'k') if time => 7,
            Some('u' | 'U' | 'v' | 'V' | 'd' | 'm' | 'y' | 's' | 'S' | 'i' | 'I' | 'h' | 'l' | 'p' | 'c' | 'e') => 2,
            Some('H' | 'k') => 7,
            Some('r') => 11,
            Some('T') => 8,
            Some('f') => 6,
            Some('w' | '%') => 1,
            _ => 1,
        };
    }
    len
}

fn bind_date_format(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let time = name == "time_format";
    let mut it = args.into_iter();
    let (Some(e), Some(format)) = (it.next(), it.next()) else {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    };
    let ty = attr::text(format_len(&format, time) as u64, cx.collation_connection);
    let strength = Coercibility::Literal;
    let format = collation::to_text(cx, format);
    let mut args = vec![e, format];
    if let Some(locale) = it.next() {
        args.push(collation::to_text(cx, locale));
    }
    let eval = if time { eval_time_format } else { eval_date_format };
    Build::new(name, eval, args, ty).nullable(true).strength(strength).ok()
}

fn eval_date_format(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(d) = parse::datetime(&args[0], Zeros::Allowed, row, ctx)? else { return Ok(Value::Null) };
    format_datetime(d, &arg!(args, 1, row, ctx))
}

/// DATE_FORMAT of a moment; an empty format is NULL.
pub(super) fn format_datetime(d: DateTime, format: &Value) -> SqlResult<Value> {
    let format = args::str_of(args::bytes(format));
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    Ok(match date_format(d, format, &mut out) {
        Some(()) => args::owned(out),
        None => Value::Null,
    })
}

fn eval_time_format(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let Some(t) = parse::time(&args[0], row, ctx)? else { return Ok(Value::Null) };
    let format = arg!(args, 1, row, ctx);
    let format = args::str_of(args::bytes(&format));
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    Ok(match time_format(t, format, &mut out) {
        Some(()) => args::owned(out),
        None => Value::Null,
    })
}

fn bind_get_format(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let args = args.into_iter().map(|a| collation::to_text(cx, a)).collect();
    Build::new(name, get_format, args, attr::text(17, cx.collation_connection)).nullable(true).ok()
}

fn get_format(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (what, region) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let (what, region) = (args::str_of(args::bytes(&what)), args::str_of(args::bytes(&region)));
    Ok(datetime::get_format(what, region).map_or(Value::Null, Value::text))
}

fn bind_str_to_date(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let args: Vec<Expr> = args.into_iter().map(|a| collation::to_text(cx, a)).collect();
    let ty = match &args[1].kind {
        ExprKind::Const(Value::Bytes(f)) => {
            let k = str_to_date_kind(args::str_of(f));
            let fsp = if k.fraction { 6 } else { 0 };
            match k.kind {
                Kind::Date => SqlType::Date,
                Kind::DateTime => SqlType::DateTime { fsp },
                Kind::Time => SqlType::Time { fsp },
            }
        }
        _ => SqlType::DateTime { fsp: 6 },
    };
    Build::new(name, eval_str_to_date, args, ty).nullable(true).ok()
}

fn eval_str_to_date(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (text, format) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let (text, format) = (args::bytes(&text), args::str_of(args::bytes(&format)));
    let rules = DateRules::of(ctx.settings().sql_mode);
    let (what, fsp) = match call.ty {
        SqlType::Date => ("date", 0),
        SqlType::Time { fsp } => ("time", fsp),
        SqlType::DateTime { fsp } => ("datetime", fsp),
        _ => ("datetime", 6),
    };
    let Some(p) = str_to_date(text, format, rules) else {
        let shown = String::from_utf8_lossy(text).into_owned();
        ctx.diag().warn(sql_err!(ER_WRONG_VALUE_FOR_TYPE, "datetime", shown, "str_to_date"));
        return Ok(Value::Null);
    };
    if p.cut == datetime::Cut::Text {
        let shown = String::from_utf8_lossy(text).into_owned();
        ctx.diag().warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, what, shown));
    }
    Ok(match call.ty {
        SqlType::Date => Value::Date(p.date),
        SqlType::Time { .. } => Value::Time(p.time(fsp, rules)),
        _ => Value::DateTime(p.datetime(fsp, rules)),
    })
}

fn current(name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let fsp = match args.first().map(|a| &a.kind) {
        None => 0,
        Some(ExprKind::Const(v)) => args::wide(v).clamp(0, 255) as u8,
        Some(_) => return Err(sql_err!(ER_PARSE_ERROR, "syntax error", name, 1)),
    };
    if fsp > 6 {
        return Err(sql_err!(ER_TOO_BIG_PRECISION, name, 6));
    }
    let (eval, ty): (EvalFn, SqlType) = match name {
        "curdate" => (curdate, SqlType::Date),
        "utc_date" => (curdate, SqlType::Date),
        "curtime" | "utc_time" => (curtime, SqlType::Time { fsp }),
        _ => (now, SqlType::DateTime { fsp }),
    };
    let utc = name.starts_with("utc_") as i64;
    let b = Build::new(name, eval, Vec::new(), ty).nullable(false).mode(if name == "sysdate" { SYSDATE } else { utc });
    if name == "sysdate" { b.volatile().ok() } else { b.ok() }
}

const SYSDATE: i64 = 2;

fn moment_of(call: &Call, ctx: Ctx<'_>) -> DateTime {
    let s = ctx.settings();
    let micros = if call.mode == SYSDATE {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(s.now_utc_micros, |d| d.as_micros() as i64)
    } else {
        s.now_utc_micros
    };
    if call.mode == 1 { selkie_types::TimeZone::Offset(0).to_local(micros) } else { s.time_zone.to_local(micros) }
}

fn now(call: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let fsp = attr::fsp(attr::decimals(&call.ty));
    Ok(Value::DateTime(moment_of(call, ctx).truncate(fsp)))
}

fn curdate(call: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(Value::Date(moment_of(call, ctx).date()))
}

fn curtime(call: &Call, _: &[Expr], _: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let fsp = attr::fsp(attr::decimals(&call.ty));
    Ok(Value::Time(moment_of(call, ctx).time().truncate(fsp)))
}

/// ROUND and TRUNCATE of a time or datetime to so many fractional digits.
pub(super) fn round(name: &'static str, truncate: bool, places: i64, e: Expr) -> SqlResult<Expr> {
    let fsp = places.clamp(0, attr::decimals(&e.ty) as i64) as u8;
    let ty = match e.ty {
        SqlType::Time { .. } => SqlType::Time { fsp },
        _ => SqlType::DateTime { fsp },
    };
    let mode = if truncate { 0 } else { 1 };
    Build::new(name, round_moment, vec![e], ty).mode(mode).nullable(true).ok()
}

/// FLOOR and CEILING of a time or datetime.
pub(super) fn integral(name: &'static str, up: bool, e: Expr) -> SqlResult<Expr> {
    let ty = match e.ty {
        SqlType::Time { .. } => SqlType::Time { fsp: 0 },
        _ => SqlType::DateTime { fsp: 0 },
    };
    Build::new(name, round_moment, vec![e], ty).mode(if up { 2 } else { 0 }).nullable(true).ok()
}

fn round_moment(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let fsp = attr::fsp(attr::decimals(&call.ty));
    Ok(match arg!(args, 0, row, ctx) {
        Value::Time(t) => Value::Time(match call.mode {
            1 => t.round(fsp),
            2 if t.truncate(fsp) != t && !t.is_negative() => Time(t.truncate(0).0 + 1_000_000),
            0 if t.truncate(fsp) != t && t.is_negative() && call.name == "floor" => Time(t.truncate(0).0 - 1_000_000),
            _ => t.truncate(fsp),
        }),
        Value::DateTime(d) => match call.mode {
            1 => d.round(fsp).map_or(Value::Null, Value::DateTime),
            2 if d.truncate(fsp) != d => DateTime::from_linear_micros(d.truncate(0).linear_micros() + 1_000_000)
                .map_or(Value::Null, Value::DateTime),
            _ => Value::DateTime(d.truncate(fsp)),
        },
        v => v,
    })
}
