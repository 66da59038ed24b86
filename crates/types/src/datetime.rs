//! Dates and times: packing, parsing, formatting, arithmetic and time zones.
//!
//! All are small `Copy` values whose integer order is their order in time.

use std::fmt;

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

impl Date {
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
}

impl DateTime {
    /// From a date and microseconds since midnight.
    pub const fn new(date: Date, micros_of_day: u64) -> DateTime {
        DateTime((date.0 as u64) << 37 | micros_of_day)
    }
    /// The date part.
    pub const fn date(self) -> Date {
        Date((self.0 >> 37) as u32)
    }
    /// Microseconds since midnight.
    pub const fn micros_of_day(self) -> u64 {
        self.0 & ((1 << 37) - 1)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year(), self.month(), self.day())
    }
}

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

impl TimeZone {
    /// `SYSTEM`, `+02:00`, `Europe/Berlin`.
    pub fn parse(_s: &str) -> Option<TimeZone> {
        todo!()
    }
    /// UTC seconds and microseconds to local time.
    pub fn to_local(&self, _utc_micros: i64) -> DateTime {
        todo!()
    }
    /// Local time to UTC microseconds since 1970 (a time in a DST gap moves to the gap's end, as MariaDB does).
    /// `None` outside TIMESTAMP's range.
    pub fn to_utc(&self, _local: DateTime) -> Option<i64> {
        todo!()
    }
}
