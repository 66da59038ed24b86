//! Dates and times: packing, parsing, formatting, arithmetic and time zones.
//!
//! All are small `Copy` values whose integer order is their order in time. Rounding and the legality
//! of zero or impossible dates depend on the SQL mode, which comes in as [`DateRules`].
//!
//! It must not know columns, warnings or sessions: parsers say what was wrong, [`crate::convert`] words it.

mod calendar;
mod format;
mod interval;
mod names;
mod parse;
mod str_to_date;
mod zone;

use std::fmt;

pub use calendar::{days_in_month, is_leap_year, period_add, period_diff, yearweek};
pub use format::{date_format, get_format, time_format};
pub use interval::{Interval, IntervalUnit, timestamp_diff};
pub use parse::{Cut, Kind, Parts};
pub use str_to_date::{StrToDate, str_to_date, str_to_date_kind};
pub use zone::{LocalTime, TIMESTAMP_MAX_MICROS, TimeZone};

use crate::SqlMode;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds in an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds in a day.
pub const DAY: i64 = 24 * HOUR;

/// A date: year 0–9999, month 0–12, day 0–31 (zero parts are legal in some SQL modes).
/// Packed as `year * 512 + month * 32 + day`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(pub u32);

/// A signed time of day or duration, in microseconds; at most ±838:59:59.999999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

/// A date with a time of day. Packed as `date << 37 | microseconds of the day`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime(pub u64);

/// Which dates are legal, and how surplus fractional digits go; from the SQL mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRules {
    /// `0000-00-00` is refused (NO_ZERO_DATE).
    pub no_zero_date: bool,
    /// A zero month or day is refused (NO_ZERO_IN_DATE).
    pub no_zero_in_date: bool,
    /// Days up to 31 are taken in every month (ALLOW_INVALID_DATES).
    pub allow_invalid: bool,
    /// Surplus fractional digits round half up, else they are cut (TIME_ROUND_FRACTIONAL).
    pub round: bool,
}

impl DateRules {
    /// The rules of an SQL mode.
    pub fn of(mode: SqlMode) -> DateRules {
        DateRules {
            no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid: mode.has(SqlMode::ALLOW_INVALID_DATES),
            round: mode.has(SqlMode::TIME_ROUND_FRACTIONAL),
        }
    }
}

impl Date {
    /// `0000-00-00`
    pub const ZERO: Date = Date(0);
    /// `9999-12-31`
    pub const MAX: Date = Date::new(9999, 12, 31);

    /// From parts, unchecked.
    pub const fn new(year: u32, month: u32, day: u32) -> Date {
        Date(year * 512 + month * 32 + day)
    }
    /// Year, 0 to 9999.
    pub const fn year(self) -> u32 {
        self.0 >> 9
    }
    /// Month, 0 to 12.
    pub const fn month(self) -> u32 {
        (self.0 >> 5) & 15
    }
    /// Day, 0 to 31.
    pub const fn day(self) -> u32 {
        self.0 & 31
    }
    /// `0000-00-00`
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// Whether month or day is zero.
    pub const fn has_zero_part(self) -> bool {
        self.month() == 0 || self.day() == 0
    }
    /// As a number: 20240102.
    pub const fn to_number(self) -> i64 {
        self.year() as i64 * 10_000 + self.month() as i64 * 100 + self.day() as i64
    }
    /// Whether the rules allow this date.
    pub fn is_valid(self, rules: DateRules) -> bool {
        if self.is_zero() {
            return !rules.no_zero_date;
        }
        if self.year() > 9999 || self.month() > 12 {
            return false;
        }
        if self.has_zero_part() {
            return !rules.no_zero_in_date;
        }
        rules.allow_invalid || self.day() <= days_in_month(self.year(), self.month())
    }
    /// Midnight of the date.
    pub const fn at_midnight(self) -> DateTime {
        DateTime::new(self, 0)
    }
    /// Appends `2024-01-02`.
    pub fn write_to(self, out: &mut Vec<u8>) {
        let mut b = *b"0000-00-00";
        put4(&mut b[0..4], self.year());
        put2(&mut b[5..7], self.month());
        put2(&mut b[8..10], self.day());
        out.extend_from_slice(&b);
    }
}

impl Time {
    /// `838:59:59.999999`
    pub const MAX: Time = Time(839 * HOUR - 1);
    /// `-838:59:59.999999`
    pub const MIN: Time = Time(-(839 * HOUR - 1));

    /// From a sign and parts, unchecked.
    pub const fn new(negative: bool, hours: u32, minutes: u32, seconds: u32, micros: u32) -> Time {
        let t = hours as i64 * HOUR + minutes as i64 * MINUTE + seconds as i64 * SECOND + micros as i64;
        Time(if negative { -t } else { t })
    }
    /// The greatest value of a column with `fsp` digits: `838:59:59.9` for 1.
    pub fn limit(negative: bool, fsp: u8) -> Time {
        let t = Time::MAX.truncate(fsp);
        if negative { Time(-t.0) } else { t }
    }
    /// From microseconds, cut at the limits; `true` where it was cut.
    pub fn clamped(micros: i64) -> (Time, bool) {
        if micros > Time::MAX.0 {
            (Time::MAX, true)
        } else if micros < Time::MIN.0 {
            (Time::MIN, true)
        } else {
            (Time(micros), false)
        }
    }
    /// Below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
    /// Hours, without sign (up to 838).
    pub const fn hours(self) -> u32 {
        (self.0.unsigned_abs() / HOUR as u64) as u32
    }
    /// Minutes of the hour.
    pub const fn minutes(self) -> u32 {
        (self.0.unsigned_abs() / MINUTE as u64 % 60) as u32
    }
    /// Seconds of the minute.
    pub const fn seconds(self) -> u32 {
        (self.0.unsigned_abs() / SECOND as u64 % 60) as u32
    }
    /// Microseconds of the second.
    pub const fn micros(self) -> u32 {
        (self.0.unsigned_abs() % SECOND as u64) as u32
    }
    /// As a number without the fraction: -101112.
    pub const fn to_number(self) -> i64 {
        let n = self.hours() as i64 * 10_000 + self.minutes() as i64 * 100 + self.seconds() as i64;
        if self.0 < 0 { -n } else { n }
    }
    /// Cut to `fsp` fractional digits.
    pub fn truncate(self, fsp: u8) -> Time {
        Time(self.0 - self.0 % unit(fsp))
    }
    /// Rounded half away from zero to `fsp` fractional digits, cut at the limit.
    pub fn round(self, fsp: u8) -> Time {
        let u = unit(fsp);
        let t = Time((self.0 + self.0.signum() * (u / 2)) / u * u);
        if t.0.abs() > Time::MAX.0 { Time::limit(t.0 < 0, fsp) } else { t }
    }
    /// Appends `-10:11:12.500` with `fsp` fractional digits.
    pub fn write_to(self, fsp: u8, out: &mut Vec<u8>) {
        if self.0 < 0 {
            out.push(b'-');
        }
        let hours = self.hours();
        if hours > 99 {
            out.push(b'0' + (hours / 100 % 10) as u8);
        }
        let mut b = *b"00:00:00";
        put2(&mut b[0..2], hours % 100);
        put2(&mut b[3..5], self.minutes());
        put2(&mut b[6..8], self.seconds());
        out.extend_from_slice(&b);
        write_fraction(self.micros(), fsp, out);
    }
}

impl DateTime {
    /// `0000-00-00 00:00:00`
    pub const ZERO: DateTime = DateTime(0);

    /// From a date and microseconds since midnight.
    pub const fn new(date: Date, micros_of_day: u64) -> DateTime {
        DateTime((date.0 as u64) << 37 | micros_of_day)
    }
    /// From parts, unchecked.
    pub const fn from_parts(date: Date, hour: u32, minute: u32, second: u32, micros: u32) -> DateTime {
        DateTime::new(date, Time::new(false, hour, minute, second, micros).0 as u64)
    }
    /// The date part.
    pub const fn date(self) -> Date {
        Date((self.0 >> 37) as u32)
    }
    /// Microseconds since midnight.
    pub const fn micros_of_day(self) -> u64 {
        self.0 & ((1 << 37) - 1)
    }
    /// The time of day.
    pub const fn time(self) -> Time {
        Time(self.micros_of_day() as i64)
    }
    /// As a number without the fraction: 20240102030405.
    pub const fn to_number(self) -> i64 {
        self.date().to_number() * 1_000_000 + self.time().to_number()
    }
    /// Microseconds of the second.
    pub const fn micros(self) -> u32 {
        (self.micros_of_day() % SECOND as u64) as u32
    }
    /// Cut to `fsp` fractional digits.
    pub fn truncate(self, fsp: u8) -> DateTime {
        DateTime(self.0 - self.micros_of_day() % unit(fsp) as u64)
    }
    /// Rounded half up to `fsp` fractional digits; `None` past the year 9999 and where a day would
    /// have to be added to a date that is none.
    pub fn round(self, fsp: u8) -> Option<DateTime> {
        let u = unit(fsp) as u64;
        let micros = (self.micros_of_day() + u / 2) / u * u;
        if micros < DAY as u64 {
            return Some(DateTime::new(self.date(), micros));
        }
        self.plus_days(1).map(|d| DateTime::new(d.date(), 0))
    }
    /// Appends `2024-01-02 03:04:05.678` with `fsp` fractional digits.
    pub fn write_to(self, fsp: u8, out: &mut Vec<u8>) {
        self.date().write_to(out);
        out.push(b' ');
        self.time().write_to(fsp, out);
    }
}

/// Microseconds that the last of `fsp` digits counts.
fn unit(fsp: u8) -> i64 {
    10i64.pow(6 - fsp.min(6) as u32)
}

fn put2(to: &mut [u8], v: u32) {
    to[0] = b'0' + (v / 10 % 10) as u8;
    to[1] = b'0' + (v % 10) as u8;
}

fn put4(to: &mut [u8], v: u32) {
    put2(&mut to[0..2], v / 100);
    put2(&mut to[2..4], v % 100);
}

fn write_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    let mut b = *b".000000";
    let mut v = micros;
    for c in b[1..].iter_mut().rev() {
        *c = b'0' + (v % 10) as u8;
        v /= 10;
    }
    out.extend_from_slice(&b[..1 + fsp.min(6) as usize]);
}

fn show(f: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut out = Vec::with_capacity(26);
    write(&mut out);
    f.pad(std::str::from_utf8(&out).unwrap_or_default())
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, |out| self.write_to(out))
    }
}

/// With six fractional digits where the fraction is not zero, else with none.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, |out| self.write_to(if self.micros() == 0 { 0 } else { 6 }, out))
    }
}

/// With six fractional digits where the fraction is not zero, else with none.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, |out| self.write_to(if self.micros() == 0 { 0 } else { 6 }, out))
    }
}

#[cfg(test)]
mod tests;
