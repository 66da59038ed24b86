//! Dates and times in binary rows and binary parameters: a length byte, then as many of the fields
//! as are not zero. Ranges are not checked here; what `2023-02-31` means is not the protocol's.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// A date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 1 to 12, or 0.
    pub month: u8,
    /// 1 to 31, or 0.
    pub day: u8,
}

/// A DATETIME or TIMESTAMP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Microseconds, 0 to 999,999.
    pub micros: u32,
}

/// A TIME: a signed span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Time {
    /// Whether the span is negative.
    pub negative: bool,
    /// Whole days.
    pub days: u32,
    /// 0 to 23.
    pub hours: u8,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// Microseconds, 0 to 999,999.
    pub micros: u32,
}

impl DateTime {
    /// Writes length and fields: 0, 4, 7 or 11 bytes.
    pub(crate) fn put(&self, out: &mut SendBuffer) {
        let length = if self.micros != 0 {
            11
        } else if (self.hour, self.minute, self.second) != (0, 0, 0) {
            7
        } else if self.date != Date::default() {
            4
        } else {
            0
        };
        out.put_u8(length);
        if length >= 4 {
            out.put_u16(self.date.year);
            out.put_bytes(&[self.date.month, self.date.day]);
        }
        if length >= 7 {
            out.put_bytes(&[self.hour, self.minute, self.second]);
        }
        if length == 11 {
            out.put_u32(self.micros);
        }
    }

    /// Reads length and fields.
    pub(crate) fn take(fields: &mut Payload<'_>) -> Result<Self, DecodeError> {
        let length = fields.u8("length of a date")?;
        if !matches!(length, 0 | 4 | 7 | 11) {
            return Err(DecodeError::Malformed(
                "length of a date is not 0, 4, 7 or 11",
            ));
        }
        let mut value = Self::default();
        if length >= 4 {
            value.date.year = fields.u16("year")?;
            [value.date.month, value.date.day] = fields.array("month and day")?;
        }
        if length >= 7 {
            [value.hour, value.minute, value.second] = fields.array("time of day")?;
        }
        if length == 11 {
            value.micros = fields.u32("microseconds")?;
        }
        Ok(value)
    }
}

impl From<Date> for DateTime {
    fn from(date: Date) -> Self {
        Self {
            date,
            ..Self::default()
        }
    }
}

impl Time {
    /// Writes length and fields: 0, 8 or 12 bytes.
    pub(crate) fn put(&self, out: &mut SendBuffer) {
        let length = if self.micros != 0 {
            12
        } else if (self.days, self.hours, self.minutes, self.seconds) != (0, 0, 0, 0) {
            8
        } else {
            0
        };
        out.put_u8(length);
        if length >= 8 {
            out.put_u8(self.negative.into());
            out.put_u32(self.days);
            out.put_bytes(&[self.hours, self.minutes, self.seconds]);
        }
        if length == 12 {
            out.put_u32(self.micros);
        }
    }

    /// Reads length and fields.
    pub(crate) fn take(fields: &mut Payload<'_>) -> Result<Self, DecodeError> {
        let length = fields.u8("length of a time")?;
        if !matches!(length, 0 | 8 | 12) {
            return Err(DecodeError::Malformed("length of a time is not 0, 8 or 12"));
        }
        let mut value = Self::default();
        if length >= 8 {
            value.negative = fields.u8("sign of a time")? != 0;
            value.days = fields.u32("days")?;
            [value.hours, value.minutes, value.seconds] = fields.array("hours and less")?;
        }
        if length == 12 {
            value.micros = fields.u32("microseconds")?;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_as_short_as_they_can_be() {
        let date = Date {
            year: 2024,
            month: 2,
            day: 29,
        };
        for (value, length) in [
            (DateTime::default(), 0),
            (DateTime::from(date), 4),
            (
                DateTime {
                    second: 1,
                    ..date.into()
                },
                7,
            ),
            (
                DateTime {
                    micros: 1,
                    ..date.into()
                },
                11,
            ),
        ] {
            let mut out = SendBuffer::new();
            value.put(&mut out);
            assert_eq!(out.pending()[0], length);
            assert_eq!(out.pending_bytes(), usize::from(length) + 1);
            assert_eq!(DateTime::take(&mut Payload::new(out.pending())), Ok(value));
        }
        assert!(DateTime::take(&mut Payload::new(&[5, 1, 1, 1, 1, 1])).is_err());
    }

    #[test]
    fn times_are_as_short_as_they_can_be() {
        for (value, length) in [
            (Time::default(), 0),
            (
                Time {
                    negative: true,
                    days: 34,
                    hours: 22,
                    ..Time::default()
                },
                8,
            ),
            (
                Time {
                    micros: 5,
                    ..Time::default()
                },
                12,
            ),
        ] {
            let mut out = SendBuffer::new();
            value.put(&mut out);
            assert_eq!(out.pending()[0], length);
            assert_eq!(Time::take(&mut Payload::new(out.pending())), Ok(value));
        }
    }
}
