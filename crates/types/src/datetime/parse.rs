//! Dates and times from text and from numbers.
//!
//! Text may be delimited (any single punctuation, `T` or blanks before the time) or compact
//! (`20240102030405`). What was left over is reported by [`Cut`], what makes no date at all by `None`.

use super::{Date, DateRules, DateTime, Time};

/// What a text turned out to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only a date.
    Date,
    /// A date with a time of day.
    DateTime,
    /// A time or duration.
    Time,
}

impl Kind {
    /// The word in warning 1292.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Date => "date",
            Kind::DateTime => "datetime",
            Kind::Time => "time",
        }
    }
}

/// What was lost in parsing, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// Nothing.
    None,
    /// Only fractional digits past the sixth: a note.
    Fraction,
    /// Trailing text that does not belong, or a value cut at the limit: a warning.
    Text,
}

/// The parts of a date or time as they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// What was read.
    pub kind: Kind,
    /// Sign of a time.
    pub negative: bool,
    /// Date parts, zero for times.
    pub date: Date,
    /// Hour, or hours of a duration.
    pub hour: u32,
    /// Minute.
    pub minute: u32,
    /// Second.
    pub second: u32,
    /// Nanoseconds (so that the seventh digit can round).
    pub nanos: u32,
    /// What was lost.
    pub cut: Cut,
}

/// Why a text is no date.
enum Bad {
    /// It does not have the form of one.
    Form,
    /// A part is out of range.
    Range,
}

impl Parts {
    fn date_only(date: Date) -> Parts {
        Parts { kind: Kind::Date, negative: false, date, hour: 0, minute: 0, second: 0, nanos: 0, cut: Cut::None }
    }

    fn micros(&self) -> u32 {
        self.nanos / 1000
    }

    /// The seventh digit rounded into the sixth, where the rules want rounding. At the end of the
    /// calendar, or of a TIME's range, the value stays below it with [`Cut::Text`].
    fn round_nanos(self, rules: DateRules) -> Parts {
        let up = rules.round && self.nanos % 1000 >= 500;
        let below = Parts { nanos: self.nanos / 1000 * 1000, ..self };
        if !up {
            return below;
        }
        let stuck = Parts { cut: Cut::Text, ..below };
        if self.kind == Kind::Time {
            let t = Time::new(false, self.hour, self.minute, self.second, self.micros() + 1);
            if t > Time::MAX {
                return stuck;
            }
            return below.with_time(t);
        }
        let t = DateTime::from_parts(self.date, self.hour, self.minute, self.second, self.micros());
        match DateTime(t.0 + 1).round(6) {
            Some(t) => Parts { date: t.date(), ..below.with_time(t.time()) },
            None => stuck,
        }
    }

    fn with_time(self, t: Time) -> Parts {
        Parts { hour: t.hours(), minute: t.minutes(), second: t.seconds(), nanos: t.micros() * 1000, ..self }
    }

    /// The time of day or duration, rounded or cut to `fsp` digits.
    pub fn time(&self, fsp: u8, rules: DateRules) -> Time {
        let t = Time::new(self.negative, self.hour, self.minute, self.second, self.micros());
        if rules.round { t.round(fsp) } else { t.truncate(fsp) }
    }

    /// Date and time of day, rounded or cut to `fsp` digits (cut where rounding would leave the calendar).
    pub fn datetime(&self, fsp: u8, rules: DateRules) -> DateTime {
        let t = DateTime::from_parts(self.date, self.hour, self.minute, self.second, self.micros());
        let cut = t.truncate(fsp);
        if rules.round { t.round(fsp).unwrap_or(cut) } else { cut }
    }

    /// Reads a DATE, DATETIME or TIMESTAMP from text. `None`: incorrect.
    pub fn parse_datetime(text: &[u8], rules: DateRules) -> Option<Parts> {
        match read_datetime(text, true) {
            Ok(p) if p.date.is_valid(rules) => Some(p.round_nanos(rules)),
            _ => None,
        }
    }

    /// Reads a TIME from text, which may be a full date and time. `None`: incorrect. Too great a time
    /// is cut at the limit, with [`Cut::Text`].
    pub fn parse_time(text: &[u8], rules: DateRules) -> Option<Parts> {
        Parts::read_time_or_datetime(text).map(|p| p.round_nanos(rules))
    }

    fn read_time_or_datetime(text: &[u8]) -> Option<Parts> {
        let text = trim_start(text);
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, trim_start(rest)),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let significant = rest
            .iter()
            .rposition(|b| b.is_ascii_digit() || b.is_ascii_punctuation() || *b == b'T')
            .map_or(0, |i| i + 1);
        if significant >= 12 || rest[..significant].iter().any(|b| *b == b'T' || is_space(*b)) {
            match read_datetime(rest, false) {
                Ok(p) if !negative => return Some(p),
                Ok(_) | Err(Bad::Range) => return None,
                Err(Bad::Form) => {}
            }
        }
        read_time(rest, negative)
    }

    /// A date and time from a number (`20240102`, `240102030405`); `None`: incorrect.
    pub fn datetime_from_number(number: i64, nanos: u32, rules: DateRules) -> Option<Parts> {
        let p = number_parts(number, nanos)?.round_nanos(rules);
        p.date.is_valid(rules).then_some(p)
    }

    /// A time from a number (`-101112`, or a full date and time); `None`: incorrect.
    pub fn time_from_number(number: i64, negative: bool, nanos: u32, rules: DateRules) -> Option<Parts> {
        let negative = negative || number < 0;
        let n = number.unsigned_abs();
        if (10_000_000..100_000_000_000_000).contains(&n) {
            return number_parts(i64::try_from(n).ok()?, nanos).map(|p| Parts { negative, ..p }.round_nanos(rules));
        }
        let (minute, second) = ((n / 100 % 100) as u32, (n % 100) as u32);
        if n > 8_385_959 {
            // What is beyond 64 bits has no minutes to look at.
            return (n >= i64::MAX as u64 || minute <= 59 && second <= 59).then(|| limit(negative));
        }
        if minute > 59 || second > 59 {
            return None;
        }
        let hour = (n / 10_000) as u32;
        let p = Parts { kind: Kind::Time, negative, hour, minute, second, nanos, ..Parts::date_only(Date::ZERO) };
        Some(p.round_nanos(rules))
    }
}

fn limit(negative: bool) -> Parts {
    Parts {
        kind: Kind::Time,
        negative,
        hour: 838,
        minute: 59,
        second: 59,
        nanos: 999_999_000,
        cut: Cut::Text,
        ..Parts::date_only(Date::ZERO)
    }
}

fn number_parts(n: i64, nanos: u32) -> Option<Parts> {
    let was_date = (1..101_000_000).contains(&n);
    let n = match n {
        0 => 0,
        101..=691_231 => (n + 20_000_000) * 1_000_000,
        700_101..=991_231 => (n + 19_000_000) * 1_000_000,
        10_000_101..=99_991_231 => n * 1_000_000,
        101_000_000..=691_231_235_959 => n + 20_000_000_000_000,
        700_101_000_000..=991_231_235_959 => n + 19_000_000_000_000,
        10_000_101_000_000..=99_991_231_235_959 => n,
        _ => return None,
    };
    let (day, clock) = ((n / 1_000_000) as u32, (n % 1_000_000) as u32);
    let date = Date::new(day / 10_000, day / 100 % 100, day % 100);
    if day / 100 % 100 > 12 || day % 100 > 31 {
        return None;
    }
    let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let p = Parts { kind: Kind::DateTime, hour, minute, second, nanos, ..Parts::date_only(date) };
    // A date as a number has no room for a fraction; `0.5` is the zero date and half a second.
    let date_only = clock == 0 && was_date;
    Some(if nanos != 0 && date_only { Parts { nanos: 0, cut: Cut::Fraction, kind: Kind::Date, ..p } } else { p })
}

fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn trim_start(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&c| is_space(c)).count()..]
}

/// A place in a text.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip(&mut self, n: usize) {
        self.rest = &self.rest[n..];
    }

    /// A number of any length (saturating); `None` where there is no digit.
    fn number(&mut self) -> Option<u32> {
        let n = self.rest.iter().take_while(|c| c.is_ascii_digit()).count();
        if n == 0 {
            return None;
        }
        let v = self.rest[..n].iter().fold(0u32, |v, c| v.saturating_mul(10).saturating_add((c - b'0') as u32));
        self.skip(n);
        Some(v)
    }

    /// A number of at most `n` digits.
    fn digits(&mut self, n: usize) -> Option<u32> {
        let n = self.rest.iter().take(n).take_while(|c| c.is_ascii_digit()).count();
        if n == 0 {
            return None;
        }
        let d = &self.rest[..n];
        let v = d.iter().fold(0u32, |v, c| v * 10 + (c - b'0') as u32);
        self.skip(n);
        Some(v)
    }

    fn punct(&mut self) -> Option<()> {
        self.peek().filter(u8::is_ascii_punctuation)?;
        self.skip(1);
        Some(())
    }

    /// `.` and digits, in nanoseconds; [`Cut::Fraction`] where non-zero or any digits passed the sixth.
    fn fraction(&mut self) -> (u32, Cut) {
        if self.peek() != Some(b'.') {
            return (0, Cut::None);
        }
        self.skip(1);
        let n = self.rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let mut nanos = 0;
        for i in 0..9 {
            nanos = nanos * 10 + self.rest[..n].get(i).map_or(0, |c| (c - b'0') as u32);
        }
        self.skip(n);
        (nanos, if n > 6 { Cut::Fraction } else { Cut::None })
    }

    /// What is left, blanks aside, was lost.
    fn finish(&self, cut: Cut) -> Cut {
        if self.rest.iter().all(|&c| is_space(c)) { cut } else { Cut::Text }
    }
}

/// `punct_before_time`: whether date and time may be parted by punctuation, which in a TIME means more digits.
fn read_datetime(text: &[u8], punct_before_time: bool) -> Result<Parts, Bad> {
    let mut c = Cursor { rest: trim_start(text) };
    if c.peek() == Some(b'+') {
        c.skip(1);
    }
    if !c.peek().is_some_and(|b| b.is_ascii_digit()) {
        return Err(Bad::Form);
    }
    let mut digits = c.rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'T').count();
    let after = &c.rest[digits..];
    let dotted = after.first() == Some(&b'.');
    let trailing = !after.iter().any(|b| b.is_ascii_digit() || b.is_ascii_punctuation());
    let compact = (dotted || trailing).then(|| {
        // A `T` at the end is none of the digits.
        while trailing && digits > 0 && c.rest[digits - 1] == b'T' {
            digits -= 1;
        }
        read_compact(c.rest, digits)
    });
    let fields = match compact {
        Some(f) if f.count >= 3 && (!dotted || f.count == 6) => f,
        Some(_) if !dotted => return Err(Bad::Form),
        _ => read_delimited(c.rest, punct_before_time)?,
    };
    c.rest = fields.rest;
    let Fields { mut v, year_digits, count, .. } = fields;
    if year_digits == 2 && v.iter().any(|n| *n != 0) {
        v[0] += if v[0] < 70 { 2000 } else { 1900 };
    }
    let (nanos, cut) = if count == 6 { c.fraction() } else { (0, Cut::None) };
    let [year, month, day, hour, minute, second] = v;
    if year > 9999 {
        return Err(Bad::Form);
    }
    if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return Err(Bad::Range);
    }
    let kind = if count > 3 { Kind::DateTime } else { Kind::Date };
    let date = Date::new(year, month, day);
    Ok(Parts { kind, negative: false, date, hour, minute, second, nanos, cut: c.finish(cut) })
}

/// Numbers of a date and time in their order, and what follows them.
struct Fields<'a> {
    v: [u32; 6],
    count: usize,
    year_digits: usize,
    rest: &'a [u8],
}

/// `20240102030405`, `240102`, `20240102T030405`; `digits` are those of the text with its `T`s.
fn read_compact(text: &[u8], digits: usize) -> Fields<'_> {
    let year_digits = if digits == 4 || digits == 8 || digits >= 14 { 4 } else { 2 };
    let mut c = Cursor { rest: text };
    let mut f = Fields { v: [0; 6], count: 0, year_digits, rest: text };
    for i in 0..6 {
        if i == 3 && c.peek() == Some(b'T') {
            c.skip(1);
        }
        match c.digits(if i == 0 { year_digits } else { 2 }) {
            Some(n) => f.v[i] = n,
            None => break,
        }
        f.count += 1;
    }
    f.rest = c.rest;
    f
}

/// Numbers with one punctuation between them; blanks, a `T` or (in a datetime) punctuation before the time.
fn read_delimited(text: &[u8], punct_before_time: bool) -> Result<Fields<'_>, Bad> {
    let mut c = Cursor { rest: text };
    let mut v = [0u32; 6];
    v[0] = c.number().ok_or(Bad::Form)?;
    let year_digits = text.len() - c.rest.len();
    c.punct().ok_or(Bad::Form)?;
    v[1] = c.number().ok_or(Bad::Form)?;
    c.punct().ok_or(Bad::Form)?;
    v[2] = c.number().ok_or(Bad::Form)?;
    let mut count = 3;
    let separated = match c.peek() {
        Some(b'T') => {
            c.skip(1);
            true
        }
        Some(b) if is_space(b) => {
            c.rest = trim_start(c.rest);
            true
        }
        _ if c.punct().is_some() => {
            if !punct_before_time {
                return Err(Bad::Form);
            }
            true
        }
        _ => false,
    };
    while separated && count < 6 {
        if count > 3 && c.punct().is_none() {
            break;
        }
        match c.number() {
            Some(n) => v[count] = n,
            None => break,
        }
        count += 1;
    }
    Ok(Fields { v, count, year_digits, rest: c.rest })
}

fn read_time(text: &[u8], negative: bool) -> Option<Parts> {
    let mut c = Cursor { rest: text };
    let first = c.number()?;
    let after_first = c.rest;
    c.rest = trim_start(c.rest);
    let days_follow = c.rest.len() > 1 && c.rest.len() < after_first.len() && c.rest[0].is_ascii_digit();
    let colon = |c: &Cursor<'_>| c.peek() == Some(b':') && c.rest.get(1).is_some_and(u8::is_ascii_digit);
    let hour;
    let (mut minute, mut second) = (0, 0);
    let mut days = 0u32;
    if days_follow || colon(&c) {
        if days_follow {
            days = first;
            hour = c.number()?;
        } else {
            hour = first;
        }
        if colon(&c) {
            c.skip(1);
            minute = c.number()?;
            if colon(&c) {
                c.skip(1);
                second = c.number()?;
            }
        }
    } else {
        c.rest = after_first;
        if first == u32::MAX {
            // So many digits that the parts cannot be told; the last ones decide whether they are legal.
            let digits = &text[..text.len() - c.rest.len()];
            let tail: Vec<u32> = digits[digits.len() - 4..].iter().map(|d| (d - b'0') as u32).collect();
            (minute, second) = (tail[0] * 10 + tail[1], tail[2] * 10 + tail[3]);
            hour = u32::MAX;
        } else {
            (hour, minute, second) = (first / 10_000, first / 100 % 100, first % 100);
        }
    }
    let (nanos, cut) = c.fraction();
    if let [b'e' | b'E', rest @ ..] = c.rest
        && matches!(rest, [b'0'..=b'9', ..] | [b'+' | b'-', b'0'..=b'9', ..])
    {
        return None;
    }
    if minute > 59 || second > 59 {
        return None;
    }
    let hours = days.saturating_mul(24).saturating_add(hour);
    if hours > 838 {
        return Some(limit(negative));
    }
    Some(Parts { kind: Kind::Time, negative, date: Date::ZERO, hour: hours, minute, second, nanos, cut: c.finish(cut) })
}
