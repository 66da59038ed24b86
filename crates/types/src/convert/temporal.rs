//! Any value as a date or time, in expressions.

use super::ConvertCtx;
use super::number::f64_to_i128;
use super::text::text_of;
use crate::datetime::{Cut, DateRules, Parts};
use crate::error::Level;
use crate::{Date, DateTime, Decimal, SqlType, Time, Value};

/// A number's integer part, sign and nanoseconds.
pub(super) struct Split {
    pub whole: i64,
    pub negative: bool,
    pub nanos: u32,
    /// The integer part does not fit.
    pub overflow: bool,
}

/// A number taken apart for reading it as a date or time; `None` for what is no number.
pub(super) fn split_number(v: &Value) -> Option<Split> {
    match v {
        Value::Int(i) => Some(Split { whole: *i, negative: *i < 0, nanos: 0, overflow: false }),
        Value::UInt(u) => {
            let whole = i64::try_from(*u);
            Some(Split { overflow: whole.is_err(), whole: whole.unwrap_or(i64::MAX), negative: false, nanos: 0 })
        }
        Value::Double(d) => {
            let whole = f64_to_i128(d.trunc());
            let nanos = ((d.abs() - d.abs().trunc()) * 1e9) as u32;
            let fits = i64::try_from(whole);
            Some(Split { overflow: fits.is_err(), whole: fits.unwrap_or(i64::MAX), negative: *d < 0.0, nanos })
        }
        Value::Decimal(d) => Some(split_decimal(d)),
        _ => None,
    }
}

fn split_decimal(d: &Decimal) -> Split {
    let truncated = d.truncate(9);
    let (whole, overflow) = truncated.truncate(0).to_i64();
    let nanos = match truncated.round(9).mantissa() {
        Some(m) => (m.unsigned_abs() % 1_000_000_000) as u32,
        None => 0,
    };
    Split { whole, negative: d.is_negative(), nanos, overflow }
}

/// Messages about dates show all that is not ASCII as bytes.
fn warn_cut(p: &Parts, text: &[u8], ctx: &mut ConvertCtx<'_>) {
    match p.cut {
        Cut::None => {}
        Cut::Fraction => ctx.truncated(Level::Note, p.kind.name(), text, true),
        Cut::Text => ctx.truncated(Level::Warning, p.kind.name(), text, true),
    }
}

/// Date and time parts of any value but times and dates; warns. `None`: incorrect (warned) or NULL.
fn parse_datetime(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> Option<Parts> {
    let rules = DateRules::of(ctx.sql_mode);
    let parsed = match v {
        Value::Bytes(b) => Parts::parse_datetime(b, rules),
        _ => {
            let n = split_number(v)?;
            (!n.overflow && !n.negative).then(|| Parts::datetime_from_number(n.whole, n.nanos, rules)).flatten()
        }
    };
    match parsed {
        Some(p) => {
            if p.cut != Cut::None {
                warn_cut(&p, &text_of(v, from), ctx);
            }
            Some(p)
        }
        None => {
            ctx.incorrect("datetime", &text_of(v, from), true);
            None
        }
    }
}

/// Today in the session's time zone.
pub(super) fn today(ctx: &ConvertCtx<'_>) -> Date {
    ctx.time_zone.to_local(ctx.now_utc_micros).date()
}

/// A time of day or duration, counted from the start of today.
pub(super) fn time_on_today(t: Time, ctx: &ConvertCtx<'_>) -> Option<DateTime> {
    DateTime::from_linear_micros(today(ctx).at_midnight().linear_micros() + t.0)
}

fn checked(d: Date, v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> bool {
    if d.is_valid(DateRules::of(ctx.sql_mode)) {
        return true;
    }
    ctx.incorrect("datetime", &text_of(v, from), false);
    false
}

/// The value as a date and time with `fsp` digits; `None` for NULL and for what is none (warning 1292).
pub fn to_datetime(v: &Value, from: &SqlType, fsp: u8, ctx: &mut ConvertCtx<'_>) -> Option<DateTime> {
    let rules = DateRules::of(ctx.sql_mode);
    match v {
        Value::Null => None,
        Value::DateTime(t) => {
            if !checked(t.date(), v, from, ctx) {
                return None;
            }
            if rules.round { t.round(fsp) } else { Some(t.truncate(fsp)) }
        }
        Value::Date(d) => checked(*d, v, from, ctx).then(|| d.at_midnight()),
        Value::Time(t) => {
            let t = if rules.round { t.round(fsp) } else { t.truncate(fsp) };
            time_on_today(t, ctx)
        }
        _ => {
            let p = parse_datetime(v, from, ctx)?;
            Some(p.datetime(fsp, rules))
        }
    }
}

/// The value as a date; `None` for NULL and for what is none (warning 1292).
pub fn to_date(v: &Value, from: &SqlType, ctx: &mut ConvertCtx<'_>) -> Option<Date> {
    let rules = DateRules::of(ctx.sql_mode);
    match v {
        Value::Null => None,
        Value::Date(d) => checked(*d, v, from, ctx).then_some(*d),
        Value::DateTime(t) => {
            if !checked(t.date(), v, from, ctx) {
                return None;
            }
            if rules.round { t.round(0).map(DateTime::date) } else { Some(t.date()) }
        }
        Value::Time(t) => time_on_today(*t, ctx).map(DateTime::date),
        _ => {
            let p = parse_datetime(v, from, ctx)?;
            Some(p.datetime(0, rules).date())
        }
    }
}

/// The value as a time or duration with `fsp` digits; `None` for NULL and for what is none (warning 1292).
pub fn to_time(v: &Value, from: &SqlType, fsp: u8, ctx: &mut ConvertCtx<'_>) -> Option<Time> {
    let rules = DateRules::of(ctx.sql_mode);
    let fit = |t: Time| if rules.round { t.round(fsp) } else { t.truncate(fsp) };
    let parsed = match v {
        Value::Null => return None,
        Value::Time(t) => return Some(fit(*t)),
        Value::Date(_) => return Some(Time(0)),
        Value::DateTime(t) => return Some(fit(t.time())).map(|t| Time(t.0 % crate::datetime::DAY)),
        Value::Bytes(b) => Parts::parse_time(b, rules),
        _ => {
            let n = split_number(v)?;
            let whole = if n.overflow { i64::MAX } else { n.whole };
            Parts::time_from_number(whole, n.negative, n.nanos, rules)
        }
    };
    let Some(p) = parsed else {
        ctx.incorrect("time", &text_of(v, from), true);
        return None;
    };
    if p.cut != Cut::None {
        warn_cut(&p, &text_of(v, from), ctx);
    }
    Some(p.time(fsp, rules))
}
