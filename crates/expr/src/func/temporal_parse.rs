//! Dates and times as arguments: reading them from any type, with MariaDB's warnings.

use selkie_types::datetime::{Cut, DateRules, Kind, Parts};
use selkie_types::{Date, DateTime, SqlError, SqlMode, SqlResult, SqlType, Time, Value, convert};

use crate::bind::attr;
use crate::context::EvalContext;
use crate::func::{Build, Call};
use crate::ir::{Expr, ExprKind};

/// Which dates a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zeros {
    /// Zero parts are fine (YEAR, MONTH, …).
    Allowed,
    /// A date must be a day of the calendar (DAYNAME, TO_DAYS, …).
    Refused,
    /// As the SQL mode says.
    Mode,
}

/// The value and type of a temporal literal; `None` where the text is not one.
pub(crate) fn literal(ty: &SqlType, text: &str) -> Option<(Value, SqlType)> {
    let bytes = text.as_bytes();
    let rules = DateRules::default();
    let fsp = attr::literal_fraction(bytes);
    match ty {
        SqlType::Date => {
            let p = Parts::parse_datetime(bytes, rules)?;
            (p.cut == Cut::None && p.kind == Kind::Date).then_some((Value::Date(p.date), SqlType::Date))
        }
        SqlType::Time { .. } => {
            let p = Parts::parse_time(bytes, rules)?;
            (p.cut != Cut::Text && p.kind == Kind::Time)
                .then(|| (Value::Time(p.time(fsp, rules)), SqlType::Time { fsp }))
        }
        _ => {
            let p = Parts::parse_datetime(bytes, rules)?;
            if p.cut == Cut::Text || p.kind == Kind::Date {
                return None;
            }
            Some((Value::DateTime(p.datetime(fsp, rules)), SqlType::DateTime { fsp }))
        }
    }
}

/// Warning 1292 for a value that is no date, time or datetime.
pub(crate) fn incorrect(ctx: &mut dyn EvalContext, what: &str, text: &str) {
    ctx.diag().warn(SqlError::raw(1292, "22007", format!("Incorrect {what} value: '{text}'")));
}

fn cast_with(v: Value, from: &SqlType, to: &SqlType, zeros: Zeros, ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    let mut c = ctx.convert();
    let bits = SqlMode::NO_ZERO_DATE | SqlMode::NO_ZERO_IN_DATE;
    match zeros {
        Zeros::Allowed => c.sql_mode = SqlMode(c.sql_mode.0 & !bits),
        Zeros::Refused => c.sql_mode = SqlMode(c.sql_mode.0 | bits),
        Zeros::Mode => {}
    }
    convert::cast(v, from, to, &mut c)
}

/// The name of the conversion that [`comparable`] makes.
pub(crate) const COMPARABLE: &str = "cmp";

/// A text or number compared with a date or time: what is none counts as zero, with a warning.
pub(crate) fn comparable(e: Expr, ty: SqlType) -> Expr {
    if let ExprKind::Const(v) = &e.kind {
        let time = matches!(ty, SqlType::Time { .. });
        if let Some(p) = comparable_parts(v, time).filter(|p| p.cut == Cut::None) {
            return Expr::constant(comparable_value(&p, time), ty);
        }
    }
    let constant = crate::bind::is_constant(&e) as i64;
    Build::new(COMPARABLE, eval_comparable, vec![e], ty).mode(constant).build()
}

fn eval_comparable(call: &Call, args: &[Expr], row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    let v = args[0].eval(row, ctx)?;
    if v.is_null() {
        return Ok(v);
    }
    let time = matches!(call.ty, SqlType::Time { .. });
    let parts = comparable_parts(&v, time);
    let what = if time { "time" } else { "datetime" };
    let cut = parts.as_ref().is_none_or(|p| p.cut == Cut::Text);
    if cut {
        let shown = String::from_utf8_lossy(&convert::text_of(&v, &args[0].ty)).into_owned();
        if call.mode != 0 || parts.is_some() {
            ctx.diag().warn(selkie_types::sql_err!(ER_TRUNCATED_WRONG_VALUE, what, shown));
        } else {
            incorrect(ctx, what, &shown);
        }
    }
    Ok(match parts {
        Some(p) => comparable_value(&p, time),
        None if time => Value::Time(Time(0)),
        None => Value::DateTime(DateTime::new(Date(0), 0)),
    })
}

/// Days past a month's end are compared as they stand.
const COMPARED: DateRules =
    DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid: true, round: false };

fn comparable_value(p: &Parts, time: bool) -> Value {
    if time { Value::Time(p.time(6, COMPARED)) } else { Value::DateTime(p.datetime(6, COMPARED)) }
}

/// The date or time that a text or number is.
fn comparable_parts(v: &Value, time: bool) -> Option<Parts> {
    let rules = COMPARED;
    match v {
        Value::Bytes(b) if time => Parts::parse_time(b, rules),
        Value::Bytes(b) => Parts::parse_datetime(b, rules),
        v => {
            let d = super::args::decimal(v).truncate(9);
            let whole = d.truncate(0).to_i64().0;
            let nanos = d.overflowing_sub(&d.truncate(0)).0.abs().mantissa().unwrap_or(0);
            let nanos = (nanos * 10i128.pow(9 - d.scale().min(9) as u32)) as u32;
            if time {
                Parts::time_from_number(whole, d.is_negative(), nanos, rules)
            } else {
                Parts::datetime_from_number(whole, nanos, rules)
            }
        }
    }
}

/// A literal that is a day without a time, as a DATE: so that a DATE column needs no conversion.
pub(crate) fn day_literal(e: &Expr) -> Option<Expr> {
    let ExprKind::Const(v) = &e.kind else { return None };
    let day = match v {
        Value::Date(d) => *d,
        Value::DateTime(d) if d.micros_of_day() == 0 => d.date(),
        Value::Bytes(_) | Value::Int(_) | Value::UInt(_) => {
            let p = comparable_parts(v, false).filter(|p| p.cut == Cut::None)?;
            let d = p.datetime(6, COMPARED);
            (d.micros_of_day() == 0).then(|| d.date())?
        }
        _ => return None,
    };
    Some(Expr::constant(Value::Date(day), SqlType::Date))
}

/// An argument as a date and time; `None` for NULL and for what is none (with a warning).
pub(crate) fn datetime(
    e: &Expr,
    zeros: Zeros,
    row: &[Value],
    ctx: &mut dyn EvalContext,
) -> SqlResult<Option<DateTime>> {
    let v = e.eval(row, ctx)?;
    datetime_of(v, &e.ty, zeros, ctx)
}

/// A value as a date and time.
pub(crate) fn datetime_of(
    v: Value,
    ty: &SqlType,
    zeros: Zeros,
    ctx: &mut dyn EvalContext,
) -> SqlResult<Option<DateTime>> {
    let d = match v {
        Value::Null => return Ok(None),
        Value::Date(d) => d.at_midnight(),
        Value::DateTime(d) => d,
        Value::Int(y @ 0..=9999) if matches!(ty, SqlType::Year(_)) => Date::new(y as u32, 0, 0).at_midnight(),
        v => match cast_with(v, ty, &SqlType::DateTime { fsp: 6 }, zeros, ctx)? {
            Value::DateTime(d) => return Ok(Some(d)),
            _ => return Ok(None),
        },
    };
    if zeros == Zeros::Refused && d.date().has_zero_part() {
        let mut text = Vec::new();
        match ty {
            SqlType::Date => d.date().write_to(&mut text),
            _ => d.write_to(attr::fsp(attr::decimals(ty)), &mut text),
        }
        incorrect(ctx, "datetime", &String::from_utf8_lossy(&text));
        return Ok(None);
    }
    Ok(Some(d))
}

/// An argument as a date.
pub(crate) fn date(e: &Expr, zeros: Zeros, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Option<Date>> {
    Ok(datetime(e, zeros, row, ctx)?.map(DateTime::date))
}

/// An argument as a time or duration (of a datetime, its time of day).
pub(crate) fn time(e: &Expr, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Option<Time>> {
    let v = e.eval(row, ctx)?;
    time_of(v, &e.ty, ctx)
}

/// A value as a time or duration.
pub(crate) fn time_of(v: Value, ty: &SqlType, ctx: &mut dyn EvalContext) -> SqlResult<Option<Time>> {
    Ok(match v {
        Value::Null => None,
        Value::Time(t) => Some(t),
        Value::DateTime(d) => Some(d.time()),
        Value::Date(_) => Some(Time(0)),
        v => match cast_with(v, ty, &SqlType::Time { fsp: 6 }, Zeros::Mode, ctx)? {
            Value::Time(t) => Some(t),
            _ => None,
        },
    })
}

/// A time or a datetime, as a text or number may be either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Time(Time),
    DateTime(DateTime),
}

/// A value as whichever of time and datetime it is.
pub(crate) fn moment(v: Value, ty: &SqlType, ctx: &mut dyn EvalContext) -> SqlResult<Option<Moment>> {
    Ok(match v {
        Value::Null => None,
        Value::Time(t) => Some(Moment::Time(t)),
        Value::DateTime(d) => Some(Moment::DateTime(d)),
        Value::Date(d) => Some(Moment::DateTime(d.at_midnight())),
        Value::Bytes(ref b) => {
            let rules = DateRules::of(ctx.settings().sql_mode);
            let Some(p) = Parts::parse_time(b, rules) else {
                incorrect(ctx, "time", &String::from_utf8_lossy(b));
                return Ok(None);
            };
            if p.cut == Cut::Text {
                let text = String::from_utf8_lossy(b).into_owned();
                ctx.diag().warn(selkie_types::sql_err!(ER_TRUNCATED_WRONG_VALUE, "time", text));
            }
            if p.kind == Kind::Time {
                Some(Moment::Time(p.time(6, rules)))
            } else {
                Some(Moment::DateTime(p.datetime(6, rules)))
            }
        }
        v => {
            let v = cast_with(v, ty, &SqlType::Time { fsp: 6 }, Zeros::Mode, ctx)?;
            match v {
                Value::Time(t) => Some(Moment::Time(t)),
                _ => None,
            }
        }
    })
}
