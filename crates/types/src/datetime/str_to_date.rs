//! STR_TO_DATE: reading a date by a format of DATE_FORMAT's letters.

use super::calendar::day_number;
use super::{Cut, Date, DateRules, Kind, Parts, names};

/// What STR_TO_DATE gives for one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrToDate {
    /// Whether results are dates, times or both.
    pub kind: Kind,
    /// Whether results have fractional digits.
    pub fraction: bool,
}

/// The result type of a constant format, by the letters in it.
pub fn str_to_date_kind(format: &str) -> StrToDate {
    let (mut date, mut time, mut fraction) = (false, false, false);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        match chars.next() {
            Some('f') => {
                fraction = true;
                time = true;
            }
            Some(c) if "HISThiklprs".contains(c) => time = true,
            Some(c) if "MVUXYWabcjmvuxyweDd".contains(c) => date = true,
            _ => {}
        }
    }
    let kind = match (date, time) {
        (true, true) => Kind::DateTime,
        (false, true) => Kind::Time,
        _ => Kind::Date,
    };
    StrToDate { kind, fraction }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        let n = self.rest.iter().take_while(|c| c.is_ascii_whitespace()).count();
        self.rest = &self.rest[n..];
    }

    /// A number of at most `max` digits, and how many it had.
    fn number(&mut self, max: usize) -> Option<(u32, usize)> {
        let n = self.rest.iter().take(max).take_while(|c| c.is_ascii_digit()).count();
        if n == 0 {
            return None;
        }
        let v = self.rest[..n].iter().fold(0u32, |v, c| v * 10 + (c - b'0') as u32);
        self.rest = &self.rest[n..];
        Some((v, n))
    }

    /// The index of the longest name that the text begins with.
    fn name<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Option<usize> {
        let letters = self.rest.iter().take_while(|c| c.is_ascii_alphabetic()).count();
        let word = &self.rest[..letters];
        let (i, n) = names
            .enumerate()
            .filter(|(_, n)| word.len() >= n.len() && word[..n.len()].eq_ignore_ascii_case(n.as_bytes()))
            .map(|(i, n)| (i, n.len()))
            .max_by_key(|(_, n)| *n)?;
        self.rest = &self.rest[n..];
        Some(i)
    }

    fn skip_while(&mut self, f: impl Fn(&u8) -> bool) {
        let n = self.rest.iter().take_while(|c| f(c)).count();
        self.rest = &self.rest[n..];
    }
}

#[derive(Default)]
struct Found {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanos: u32,
    hour12: bool,
    afternoon: Option<bool>,
    year_day: Option<u32>,
    week: Option<(u32, bool)>,
    strict_week: Option<bool>,
    strict_week_year: Option<(u32, bool)>,
    weekday: Option<u32>,
}

/// Reads `text` by `format`; `None` where it does not fit (warning 1411) or the rules forbid the date.
pub fn str_to_date(text: &[u8], format: &str, rules: DateRules) -> Option<Parts> {
    let mut r = Reader { rest: text };
    let mut f = Found::default();
    read(&mut r, &mut f, format)?;
    if f.hour12 {
        if f.hour > 12 || f.hour < 1 {
            return None;
        }
        f.hour = f.hour % 12 + if f.afternoon == Some(true) { 12 } else { 0 };
    }
    let mut date = Date::new(f.year, f.month, f.day);
    if let Some(n) = f.year_day {
        date = from_number(day_number(f.year, 1, 1) + n as i64 - 1)?;
    }
    if let (Some((week, sunday_first)), Some(weekday)) = (f.week, f.weekday) {
        date = from_week(&f, week, sunday_first, weekday)?;
    }
    if date.month() > 12 || date.day() > 31 || f.hour > 23 || f.minute > 59 || f.second > 59 {
        return None;
    }
    let what = str_to_date_kind(format);
    // Days past the month's end are let through, as MariaDB does.
    if what.kind != Kind::Time && !date.is_valid(DateRules { allow_invalid: true, ..rules }) {
        return None;
    }
    let cut = if r.rest.iter().all(u8::is_ascii_whitespace) { Cut::None } else { Cut::Text };
    Some(Parts {
        kind: what.kind,
        negative: false,
        date,
        hour: f.hour,
        minute: f.minute,
        second: f.second,
        nanos: f.nanos,
        cut,
    })
}

fn from_number(n: i64) -> Option<Date> {
    Some(Date::from_day_number(n)).filter(|d| !d.is_zero())
}

/// The date of a weekday (Monday is 1) in a week of a year.
fn from_week(f: &Found, week: u32, sunday_first: bool, weekday: u32) -> Option<Date> {
    let year = match (f.strict_week, f.strict_week_year) {
        (Some(strict), Some((year, year_sunday))) if strict && year_sunday == sunday_first => year,
        (Some(true), _) | (_, Some(_)) => return None,
        _ => f.year,
    };
    if week > 53 || (week == 0 && f.strict_week == Some(true)) {
        return None;
    }
    let first = day_number(year, 1, 1);
    let first_weekday = (first + 5 + sunday_first as i64).rem_euclid(7);
    let n = if sunday_first {
        first + if first_weekday == 0 { 0 } else { 7 } - first_weekday + (week as i64 - 1) * 7 + (weekday % 7) as i64
    } else {
        first + if first_weekday <= 3 { 0 } else { 7 } - first_weekday + (week as i64 - 1) * 7 + weekday as i64 - 1
    };
    from_number(n)
}

fn read(r: &mut Reader<'_>, f: &mut Found, format: &str) -> Option<()> {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        r.skip_spaces();
        if r.rest.is_empty() {
            break;
        }
        if c != '%' {
            if c.is_ascii_whitespace() {
                continue;
            }
            let mut buf = [0; 4];
            r.rest = r.rest.strip_prefix(c.encode_utf8(&mut buf).as_bytes())?;
            continue;
        }
        let Some(spec) = chars.next() else { break };
        match spec {
            'Y' => {
                let (v, n) = r.number(4)?;
                f.year = if n <= 2 { two_digit_year(v) } else { v };
            }
            'y' => f.year = two_digit_year(r.number(2)?.0),
            'm' | 'c' => f.month = r.number(2)?.0,
            'M' => f.month = r.name(names::MONTHS.into_iter())? as u32 + 1,
            'b' => f.month = r.name(names::MONTHS.into_iter().map(names::short))? as u32 + 1,
            'd' | 'e' => f.day = r.number(2)?.0,
            'D' => {
                f.day = r.number(2)?.0;
                let n = r.rest.len().min(2);
                r.rest = &r.rest[n..];
            }
            'h' | 'I' | 'l' => {
                f.hour12 = true;
                f.hour = r.number(2)?.0;
            }
            'k' | 'H' => f.hour = r.number(2)?.0,
            'i' => f.minute = r.number(2)?.0,
            's' | 'S' => f.second = r.number(2)?.0,
            'f' => {
                let (v, n) = r.number(6)?;
                f.nanos = v * 10u32.pow(6 - n as u32) * 1000;
            }
            'p' => {
                if !f.hour12 {
                    return None;
                }
                f.afternoon = Some(r.name(["AM", "PM"].into_iter())? == 1);
            }
            'W' => f.weekday = Some(r.name(names::DAYS.into_iter())? as u32 + 1),
            'a' => f.weekday = Some(r.name(names::DAYS.into_iter().map(names::short))? as u32 + 1),
            'w' => {
                let (v, _) = r.number(1)?;
                if v > 6 {
                    return None;
                }
                f.weekday = Some(if v == 0 { 7 } else { v });
            }
            'j' => f.year_day = Some(r.number(3)?.0),
            'V' | 'U' | 'v' | 'u' => {
                f.week = Some((r.number(2)?.0, spec.is_ascii_uppercase()));
                f.strict_week = Some(spec.eq_ignore_ascii_case(&'v'));
            }
            'X' | 'x' => {
                let (v, n) = r.number(4)?;
                f.strict_week_year = Some((if n <= 2 { two_digit_year(v) } else { v }, spec == 'X'));
            }
            'r' => read(r, f, "%I:%i:%S %p")?,
            'T' => read(r, f, "%H:%i:%S")?,
            '.' => r.skip_while(u8::is_ascii_punctuation),
            '@' => r.skip_while(u8::is_ascii_alphabetic),
            '#' => r.skip_while(u8::is_ascii_digit),
            _ => return None,
        }
    }
    Some(())
}

fn two_digit_year(v: u32) -> u32 {
    if v < 70 { v + 2000 } else { v + 1900 }
}
