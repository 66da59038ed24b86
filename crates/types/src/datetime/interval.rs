//! INTERVAL arithmetic and TIMESTAMPDIFF.

use super::{DAY, Date, DateTime, HOUR, MINUTE, SECOND, Time, days_in_month};
use crate::Decimal;

/// The unit of an INTERVAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

use IntervalUnit as U;

const NAMES: [(&str, IntervalUnit); 20] = [
    ("MICROSECOND", U::Microsecond),
    ("SECOND", U::Second),
    ("MINUTE", U::Minute),
    ("HOUR", U::Hour),
    ("DAY", U::Day),
    ("WEEK", U::Week),
    ("MONTH", U::Month),
    ("QUARTER", U::Quarter),
    ("YEAR", U::Year),
    ("SECOND_MICROSECOND", U::SecondMicrosecond),
    ("MINUTE_MICROSECOND", U::MinuteMicrosecond),
    ("MINUTE_SECOND", U::MinuteSecond),
    ("HOUR_MICROSECOND", U::HourMicrosecond),
    ("HOUR_SECOND", U::HourSecond),
    ("HOUR_MINUTE", U::HourMinute),
    ("DAY_MICROSECOND", U::DayMicrosecond),
    ("DAY_SECOND", U::DaySecond),
    ("DAY_MINUTE", U::DayMinute),
    ("DAY_HOUR", U::DayHour),
    ("YEAR_MONTH", U::YearMonth),
];

/// Microseconds of the parts of composite units, from days down.
const PART_MICROS: [i64; 5] = [DAY, HOUR, MINUTE, SECOND, 1];

impl IntervalUnit {
    /// By keyword, any case; `SQL_TSI_` before it is allowed.
    pub fn by_name(name: &str) -> Option<IntervalUnit> {
        let bare = match name.get(..8) {
            Some(p) if p.eq_ignore_ascii_case("SQL_TSI_") => &name[8..],
            _ => name,
        };
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(bare)).map(|(_, u)| *u)
    }

    /// The keyword.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, u)| *u == self).map_or("", |(n, _)| n)
    }

    /// Whether values are text of several numbers (`'1:30'`).
    pub fn is_composite(self) -> bool {
        self.parts().is_some() || self == U::YearMonth
    }

    /// Whether adding it to a DATE leaves a DATE.
    pub fn is_days_or_more(self) -> bool {
        matches!(self, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth)
    }

    /// Whether results have six fractional digits.
    pub fn has_micros(self) -> bool {
        self.name().ends_with("MICROSECOND")
    }

    /// First and last part (indexes of [`PART_MICROS`]) of a composite unit.
    fn parts(self) -> Option<(usize, usize)> {
        Some(match self {
            U::DayHour => (0, 1),
            U::DayMinute => (0, 2),
            U::DaySecond => (0, 3),
            U::DayMicrosecond => (0, 4),
            U::HourMinute => (1, 2),
            U::HourSecond => (1, 3),
            U::HourMicrosecond => (1, 4),
            U::MinuteSecond => (2, 3),
            U::MinuteMicrosecond => (2, 4),
            U::SecondMicrosecond => (3, 4),
            _ => return None,
        })
    }

    /// Months of one of the unit, or its microseconds.
    fn measure(self) -> Measure {
        match self {
            U::Microsecond => Measure::Micros(1),
            U::Second => Measure::Micros(SECOND),
            U::Minute => Measure::Micros(MINUTE),
            U::Hour => Measure::Micros(HOUR),
            U::Day => Measure::Micros(DAY),
            U::Week => Measure::Micros(7 * DAY),
            U::Quarter => Measure::Months(3),
            U::Year => Measure::Months(12),
            U::Month | U::YearMonth => Measure::Months(1),
            _ => Measure::Micros(1),
        }
    }
}

enum Measure {
    Micros(i64),
    Months(i64),
}

/// An amount of time: months and microseconds (one of them is zero).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Calendar months.
    pub months: i64,
    /// Microseconds.
    pub micros: i64,
}

impl Interval {
    /// So many of a simple unit; `None` where that is beyond any calendar.
    pub fn from_int(unit: IntervalUnit, n: i64) -> Option<Interval> {
        match unit.measure() {
            Measure::Micros(m) => n.checked_mul(m).map(|micros| Interval { months: 0, micros }),
            Measure::Months(m) => n.checked_mul(m).map(|months| Interval { months, micros: 0 }),
        }
    }

    /// Seconds with a fraction (`INTERVAL 1.5 SECOND`), cut at microseconds.
    pub fn from_seconds(seconds: &Decimal) -> Option<Interval> {
        let micros = seconds.overflowing_mul(&Decimal::from(SECOND)).0.truncate(0).to_i64();
        (!micros.1).then_some(Interval { months: 0, micros: micros.0 })
    }

    /// A composite value: numbers parted by anything, a sign before them. Where there are fewer than the
    /// unit has, the first ones are missing. `None` where there are too many or they are too great.
    pub fn from_text(unit: IntervalUnit, text: &[u8]) -> Option<Interval> {
        let start = text.iter().take_while(|c| c.is_ascii_whitespace()).count();
        let text = &text[start..];
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (first, last) = unit.parts().unwrap_or((0, if unit == U::YearMonth { 1 } else { 0 }));
        let want = last - first + 1;
        let mut values = [0i64; 5];
        let mut count = 0;
        let mut last_digits = 0;
        let mut rest = text;
        loop {
            let skip = rest.iter().take_while(|c| !c.is_ascii_digit()).count();
            rest = &rest[skip..];
            let n = rest.iter().take_while(|c| c.is_ascii_digit()).count();
            if n == 0 {
                break;
            }
            if count == want {
                return None;
            }
            values[count] = std::str::from_utf8(&rest[..n]).ok()?.parse().ok()?;
            last_digits = n;
            count += 1;
            rest = &rest[n..];
        }
        if unit.has_micros() && count > 0 {
            // The last number is a fraction: `1.5` is 500,000 microseconds.
            let v = &mut values[count - 1];
            *v = match last_digits {
                0..=6 => *v * 10i64.pow(6 - last_digits as u32),
                n => *v / 10i64.checked_pow(n as u32 - 6)?,
            };
        }
        let missing = want - count;
        let mut result = Interval::default();
        for (i, v) in values[..count].iter().enumerate() {
            if unit == U::YearMonth {
                result.months = result.months.checked_add(v.checked_mul([12, 1][missing + i])?)?;
            } else if unit.parts().is_some() {
                result.micros = result.micros.checked_add(v.checked_mul(PART_MICROS[first + missing + i])?)?;
            } else {
                result = Interval::from_int(unit, *v)?;
            }
        }
        Some(if negative { result.negated() } else { result })
    }

    /// The other direction.
    pub fn negated(self) -> Interval {
        Interval { months: self.months.saturating_neg(), micros: self.micros.saturating_neg() }
    }
}

impl DateTime {
    /// Date and time an interval on; `None` outside of years 0 to 9999 or for a date with
    /// zero parts.
    pub fn plus(self, by: Interval) -> Option<DateTime> {
        if self.date().has_zero_part() {
            return None;
        }
        let mut t = self;
        if by.months != 0 {
            let date = self.date();
            let months = (date.year() as i64 * 12 + date.month() as i64 - 1).checked_add(by.months)?;
            if !(0..120_000).contains(&months) {
                return None;
            }
            let (year, month) = ((months / 12) as u32, (months % 12) as u32 + 1);
            let day = date.day().min(days_in_month(year, month));
            t = DateTime::new(Date::new(year, month, day), self.micros_of_day());
        }
        if by.micros != 0 {
            t = DateTime::from_linear_micros(t.linear_micros().checked_add(by.micros)?)?;
        }
        Some(t)
    }
}

impl Time {
    /// A duration an interval on; `None` past the limits and for months.
    pub fn plus(self, by: Interval) -> Option<Time> {
        let t = self.0.checked_add(by.micros)?;
        (by.months == 0 && t.abs() <= Time::MAX.0).then_some(Time(t))
    }
}

/// TIMESTAMPDIFF(unit, from, to): whole units.
pub fn timestamp_diff(unit: IntervalUnit, from: DateTime, to: DateTime) -> i64 {
    match unit.measure() {
        Measure::Micros(m) => (to.linear_micros() - from.linear_micros()) / m,
        Measure::Months(m) => {
            let (early, late, sign) = if from <= to { (from, to, 1) } else { (to, from, -1) };
            let (a, b) = (early.date(), late.date());
            let mut months = (b.year() as i64 - a.year() as i64) * 12 + b.month() as i64 - a.month() as i64;
            if (b.day(), late.micros_of_day()) < (a.day(), early.micros_of_day()) {
                months -= 1;
            }
            sign * (months / m)
        }
    }
}
