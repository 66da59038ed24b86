//! Time zones: the server's own, fixed offsets, and those of the IANA database (which is built in, so
//! that none has to be installed).

use std::fmt;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset};

use super::{DAY, DateTime, SECOND};

/// The last TIMESTAMP: 2038-01-19 03:14:07.999999 UTC.
pub const TIMESTAMP_MAX_MICROS: i64 = (i32::MAX as i64 + 1) * SECOND - 1;

/// Day number of 1970-01-01.
const EPOCH_DAY: i64 = 719_528;

/// A session time zone: SYSTEM, a fixed offset, or a named zone.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeZone {
    /// The server's own zone.
    System,
    /// `+hh:mm`, in seconds east of UTC.
    Offset(i32),
    /// A zone of the IANA database.
    Named(Box<jiff::tz::TimeZone>),
}

/// What a local time is in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Microseconds since 1970.
    pub utc_micros: i64,
    /// The clocks skipped this local time; the end of the gap was taken.
    pub in_gap: bool,
}

fn system_zone() -> Option<&'static jiff::tz::TimeZone> {
    static ZONE: OnceLock<Option<jiff::tz::TimeZone>> = OnceLock::new();
    ZONE.get_or_init(|| jiff::tz::TimeZone::try_system().ok().filter(|z| *z != jiff::tz::TimeZone::UTC)).as_ref()
}

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone::Offset(0);

    /// `SYSTEM`, `+02:00` (from -12:59 to +13:00), `Europe/Berlin`.
    pub fn parse(s: &str) -> Option<TimeZone> {
        if s.eq_ignore_ascii_case("system") {
            return Some(TimeZone::System);
        }
        let (negative, rest) = match s.as_bytes().first()? {
            b'+' => (false, &s[1..]),
            b'-' => (true, &s[1..]),
            _ => return jiff::tz::TimeZone::get(s).ok().map(|z| TimeZone::Named(Box::new(z))),
        };
        let (hours, minutes) = rest.split_once(':')?;
        let number = |t: &str| -> Option<i32> {
            if t.is_empty() || t.len() > 2 || !t.bytes().all(|c| c.is_ascii_digit()) {
                return None;
            }
            t.parse().ok()
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if minutes > 59 {
            return None;
        }
        let seconds = hours * 3600 + minutes * 60;
        let limit = if negative { 12 * 3600 + 59 * 60 } else { 13 * 3600 };
        (seconds <= limit).then_some(TimeZone::Offset(if negative { -seconds } else { seconds }))
    }

    fn rules(&self) -> Result<&jiff::tz::TimeZone, i64> {
        match self {
            TimeZone::System => system_zone().ok_or(0),
            TimeZone::Offset(s) => Err(*s as i64),
            TimeZone::Named(z) => Ok(z),
        }
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(&self, utc_micros: i64) -> i64 {
        match self.rules() {
            Err(fixed) => fixed,
            Ok(zone) => match Timestamp::from_microsecond(utc_micros) {
                Ok(t) => zone.to_offset(t).seconds() as i64,
                Err(_) => 0,
            },
        }
    }

    /// UTC seconds and microseconds to local time.
    pub fn to_local(&self, utc_micros: i64) -> DateTime {
        let local = utc_micros.saturating_add(self.offset_at(utc_micros) * SECOND);
        DateTime::from_linear_micros(local.saturating_add(EPOCH_DAY * DAY)).unwrap_or(DateTime::ZERO)
    }

    /// Local time to UTC microseconds since 1970 (a time in a DST gap moves to the gap's end, one that
    /// comes twice is taken as the first, as MariaDB does). `None` outside TIMESTAMP's range.
    pub fn to_utc(&self, local: DateTime) -> Option<i64> {
        self.resolve(local).map(|r| r.utc_micros)
    }

    /// As [`TimeZone::to_utc`], telling of gaps.
    pub fn resolve(&self, local: DateTime) -> Option<LocalTime> {
        self.resolve_any(local).filter(|r| r.utc_micros > 0 && r.utc_micros <= TIMESTAMP_MAX_MICROS)
    }

    /// As [`TimeZone::resolve`] for every instant of the calendar; `None` for dates with zero parts.
    pub fn resolve_any(&self, local: DateTime) -> Option<LocalTime> {
        let date = local.date();
        if date.has_zero_part() {
            return None;
        }
        let linear = local.linear_micros() - EPOCH_DAY * DAY;
        let plain = |offset: i64| Some(LocalTime { utc_micros: linear - offset * SECOND, in_gap: false });
        let zone = match self.rules() {
            Err(fixed) => return plain(fixed),
            Ok(zone) => zone,
        };
        let t = local.time();
        let civil = civil::DateTime::new(
            date.year() as i16,
            date.month() as i8,
            date.day() as i8,
            t.hours() as i8,
            t.minutes() as i8,
            t.seconds() as i8,
            0,
        )
        .ok()?;
        match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => plain(offset.seconds() as i64),
            AmbiguousOffset::Fold { before, .. } => plain(before.seconds() as i64),
            AmbiguousOffset::Gap { before, after } => {
                let end = gap_end(zone, linear, before, after);
                Some(LocalTime { utc_micros: end + local.micros() as i64, in_gap: true })
            }
        }
    }
}

/// The instant at which the clocks jumped over a local time.
fn gap_end(zone: &jiff::tz::TimeZone, linear: i64, before: Offset, after: Offset) -> i64 {
    let earlier = linear - after.seconds() as i64 * SECOND;
    Timestamp::from_microsecond(earlier)
        .ok()
        .and_then(|t| zone.following(t).next())
        .map_or(linear - before.seconds() as i64 * SECOND, |t| t.timestamp().as_microsecond())
}

impl fmt::Display for TimeZone {
    /// As `@@time_zone` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeZone::System => f.write_str("SYSTEM"),
            TimeZone::Offset(s) => {
                let sign = if *s < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", s.abs() / 3600, s.abs() / 60 % 60)
            }
            TimeZone::Named(z) => f.write_str(z.iana_name().unwrap_or("UTC")),
        }
    }
}
