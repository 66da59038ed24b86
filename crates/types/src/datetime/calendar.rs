//! Day numbers, weekdays and weeks.
//!
//! Day numbers are MariaDB's: 1 is `0000-01-01`, 719528 is `1970-01-01` (proleptic Gregorian
//! calendar whose year 0 is, as in MariaDB, no leap year).

use super::{DAY, Date, DateTime};

/// The greatest legal day number: 9999-12-31.
const MAX_DAY_NUMBER: i64 = 3_652_424;

/// Whether a year has a 29 February (year 0 has none).
pub const fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) && year != 0
}

/// Days of a month, 1 to 12; 31 for any other number.
pub const fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + is_leap_year(year) as u32,
        _ => 31,
    }
}

const fn days_in_year(year: u32) -> u32 {
    365 + is_leap_year(year) as u32
}

/// Day number of any year, month and day, zero parts included, as TO_DAYS counts it.
pub(super) fn day_number(year: u32, month: u32, day: u32) -> i64 {
    if year == 0 && month == 0 {
        return 0;
    }
    let (mut y, month, day) = (year as i64, month as i64, day as i64);
    let mut n = 365 * y + 31 * (month - 1) + day;
    if month <= 2 {
        y -= 1;
    } else {
        n -= (month * 4 + 23) / 10;
    }
    let century_leaps = ((y / 100 + 1) * 3) / 4;
    n + y / 4 - century_leaps
}

/// The date of a day number, 1 to 3652424; zero outside (as FROM_DAYS, which also gives zero below 366).
fn date_of(n: i64) -> Option<Date> {
    if n <= 365 || n > MAX_DAY_NUMBER {
        return None;
    }
    let mut year = (n * 100 / 36525) as u32;
    let century_leaps = (((year as i64).saturating_sub(1) / 100 + 1) * 3) / 4;
    let mut day_of_year = n - year as i64 * 365 - (year as i64 - 1) / 4 + century_leaps;
    loop {
        let days = days_in_year(year) as i64;
        if day_of_year <= days {
            break;
        }
        day_of_year -= days;
        year += 1;
    }
    let mut month = 1;
    let mut day = day_of_year as u32;
    while day > days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    Some(Date::new(year, month, day))
}

impl Date {
    /// TO_DAYS: days since year 0.
    pub fn day_number(self) -> i64 {
        day_number(self.year(), self.month(), self.day())
    }

    /// FROM_DAYS: `0000-00-00` outside of 366 to 3652424.
    pub fn from_day_number(n: i64) -> Date {
        date_of(n).unwrap_or(Date::ZERO)
    }

    /// 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u32 {
        ((self.day_number() + 5).rem_euclid(7)) as u32
    }

    /// 1 to 366.
    pub fn day_of_year(self) -> u32 {
        (self.day_number() - day_number(self.year(), 1, 1) + 1) as u32
    }

    /// Quarter, 0 where the month is zero.
    pub fn quarter(self) -> u32 {
        self.month().div_ceil(3)
    }

    /// The last day of the month; `None` for a zero month.
    pub fn last_day(self) -> Option<Date> {
        (self.month() != 0).then(|| Date::new(self.year(), self.month(), days_in_month(self.year(), self.month())))
    }

    /// WEEK(date, mode) for modes 0 to 7.
    pub fn week(self, mode: u32) -> u32 {
        let mode = week_flags(mode);
        week_and_year(self, mode).0
    }

    /// The date some days on; `None` outside of the calendar.
    pub fn plus_days(self, days: i64) -> Option<Date> {
        date_of(self.day_number().checked_add(days)?)
    }
}

impl DateTime {
    /// The same time of day some days on; `None` outside of the calendar.
    pub fn plus_days(self, days: i64) -> Option<DateTime> {
        self.date().plus_days(days).map(|d| DateTime::new(d, self.micros_of_day()))
    }

    /// Microseconds since day number 0, for differences.
    pub fn linear_micros(self) -> i64 {
        self.date().day_number() * DAY + self.micros_of_day() as i64
    }

    /// Reverse of [`DateTime::linear_micros`]; `None` outside of the calendar.
    pub fn from_linear_micros(micros: i64) -> Option<DateTime> {
        date_of(micros.div_euclid(DAY)).map(|d| DateTime::new(d, micros.rem_euclid(DAY) as u64))
    }
}

/// Weeks begin on Monday.
const MONDAY_FIRST: u32 = 1;
/// Weeks belong to the year that most of them lies in (1–53), else 0–53.
const WEEK_YEAR: u32 = 2;
/// The first week is the one with the first Sunday or Monday in it (else the one with four days).
const FIRST_WEEKDAY: u32 = 4;

/// The flags of a `default_week_format` number.
fn week_flags(mode: u32) -> u32 {
    let mode = mode & 7;
    if mode & MONDAY_FIRST == 0 { mode ^ FIRST_WEEKDAY } else { mode }
}

/// YEARWEEK(date, mode): year * 100 + week.
pub fn yearweek(date: Date, mode: u32) -> u32 {
    let (week, year) = week_and_year(date, week_flags(mode) | WEEK_YEAR);
    year * 100 + week
}

/// Week for DATE_FORMAT: mode numbers as of WEEK.
pub(super) fn week_and_year_of_mode(date: Date, mode: u32) -> (u32, u32) {
    week_and_year(date, week_flags(mode))
}

fn week_and_year(date: Date, flags: u32) -> (u32, u32) {
    let (monday, first_weekday) = (flags & MONDAY_FIRST != 0, flags & FIRST_WEEKDAY != 0);
    let mut week_year = flags & WEEK_YEAR != 0;
    let day = date.day_number();
    let mut first = day_number(date.year(), 1, 1);
    let weekday_of = |n: i64| ((n + 5 + !monday as i64).rem_euclid(7)) as u32;
    let mut weekday = weekday_of(first);
    let mut year = date.year();
    if date.month() == 1 && date.day() <= 7 - weekday {
        if !week_year && ((first_weekday && weekday != 0) || (!first_weekday && weekday >= 4)) {
            return (0, year);
        }
        week_year = true;
        year = year.wrapping_sub(1);
        let days = days_in_year(if year == u32::MAX { 1 } else { year });
        first -= days as i64;
        weekday = (weekday + 53 * 7 - days) % 7;
    }
    let days = if (first_weekday && weekday != 0) || (!first_weekday && weekday >= 4) {
        day - (first + 7 - weekday as i64)
    } else {
        day - (first - weekday as i64)
    };
    if week_year && days >= 52 * 7 {
        let weekday = (weekday + days_in_year(if year == u32::MAX { 1 } else { year })) % 7;
        if (!first_weekday && weekday < 4) || (first_weekday && weekday == 0) {
            return (1, year.wrapping_add(1));
        }
    }
    ((days / 7 + 1) as u32, if year == u32::MAX { 0 } else { year })
}

/// A period YYMM or YYYYMM as months since year 0.
fn period_months(period: u64) -> u64 {
    if period == 0 {
        return 0;
    }
    let year = period / 100;
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    (year * 12 + period % 100).saturating_sub(1)
}

/// PERIOD_ADD: a period (YYMM or YYYYMM) some months on, as YYYYMM.
pub fn period_add(period: u64, months: i64) -> u64 {
    if period == 0 {
        return 0;
    }
    let m = (period_months(period) as i64).saturating_add(months).max(0) as u64;
    if m == 0 {
        return 0;
    }
    let year = m / 12;
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    year.saturating_mul(100).saturating_add(m % 12 + 1)
}

/// PERIOD_DIFF: months between two periods.
pub fn period_diff(a: u64, b: u64) -> i64 {
    period_months(a) as i64 - period_months(b) as i64
}
