//! Dates and times in row images: today's formats (big-endian, fractions at the end) and the ones
//! before MariaDB 10.1.

use selkie_types::{Date, DateTime, Time};

use crate::DecodeError;
use crate::wire::{WirePut, WireReader};

const MICROS: u64 = 1_000_000;
/// What stands for 00:00:00 in TIME: negative values lie below.
const TIME_ZERO: u64 = 0x80_0000;
/// The same for DATETIME.
const DATETIME_ZERO: u64 = 0x80_0000_0000;
/// 839 hours in microseconds: what stands for 00:00:00 in the old TIME with a fraction.
const OLD_TIME_ZERO: i64 = 839 * 3600 * MICROS as i64;
const MALFORMED: DecodeError = DecodeError::Malformed {
    what: "date or time",
};

/// Bytes of the fraction, and microseconds that one of its units stands for.
fn fraction(fsp: u8) -> Result<(usize, u64), DecodeError> {
    match fsp {
        0 => Ok((0, MICROS)),
        1 | 2 => Ok((1, 10_000)),
        3 | 4 => Ok((2, 100)),
        5 | 6 => Ok((3, 1)),
        _ => Err(DecodeError::Malformed {
            what: "fractional digits",
        }),
    }
}

fn micros_of_day(hour: u64, minute: u64, second: u64, micros: u64) -> Result<u64, DecodeError> {
    if hour > 23 || minute > 59 || second > 59 || micros >= MICROS {
        return Err(MALFORMED);
    }
    Ok(((hour * 60 + minute) * 60 + second) * MICROS + micros)
}

fn date(year: u64, month: u64, day: u64) -> Result<Date, DecodeError> {
    if year > 9999 || month > 12 || day > 31 {
        return Err(MALFORMED);
    }
    Ok(Date::new(year as u32, month as u32, day as u32))
}

/// DATE: three bytes, day in the lowest 5 bits, month in 4, year above.
pub(super) fn read_date(r: &mut WireReader<'_>) -> Result<Date, DecodeError> {
    let v = u64::from(r.u24("DATE")?);
    date(v >> 9, v >> 5 & 15, v & 31)
}

pub(super) fn put_date(out: &mut Vec<u8>, d: Date) {
    out.put_u24(d.year() << 9 | d.month() << 5 | d.day());
}

/// TIME(fsp).
pub(super) fn read_time2(r: &mut WireReader<'_>, fsp: u8) -> Result<Time, DecodeError> {
    let (n, unit) = fraction(fsp)?;
    let raw = r.uint_be(3 + n, "TIME")? as i64 - ((TIME_ZERO << (8 * n)) as i64);
    let v = raw.unsigned_abs();
    let hms = v >> (8 * n);
    let (hour, minute, second) = (hms >> 12 & 0x3ff, hms >> 6 & 63, hms & 63);
    let micros = (v & ((1 << (8 * n)) - 1)) * unit;
    if hour > 838 || minute > 59 || second > 59 || micros >= MICROS {
        return Err(MALFORMED);
    }
    let micros = (((hour * 60 + minute) * 60 + second) * MICROS + micros) as i64;
    Ok(Time(if raw < 0 { -micros } else { micros }))
}

pub(super) fn put_time2(out: &mut Vec<u8>, time: Time, fsp: u8) {
    let (n, unit) = fraction(fsp).unwrap_or((0, MICROS));
    let total = time.0.unsigned_abs();
    let seconds = total / MICROS;
    let hms = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    let v = (hms << (8 * n)) + if n == 0 { 0 } else { total % MICROS / unit };
    let zero = TIME_ZERO << (8 * n);
    out.put_uint_be(if time.0 < 0 { zero - v } else { zero + v }, 3 + n);
}

/// DATETIME(fsp).
pub(super) fn read_datetime2(r: &mut WireReader<'_>, fsp: u8) -> Result<DateTime, DecodeError> {
    let (n, unit) = fraction(fsp)?;
    let v = r
        .uint_be(5, "DATETIME")?
        .checked_sub(DATETIME_ZERO)
        .ok_or(MALFORMED)?;
    let micros = r.uint_be(n, "DATETIME")? * unit;
    let micros = if n == 0 { 0 } else { micros };
    let months = v >> 22;
    let date = date(months / 13, months % 13, v >> 17 & 31)?;
    Ok(DateTime::new(
        date,
        micros_of_day(v >> 12 & 31, v >> 6 & 63, v & 63, micros)?,
    ))
}

pub(super) fn put_datetime2(out: &mut Vec<u8>, value: DateTime, fsp: u8) {
    let (n, unit) = fraction(fsp).unwrap_or((0, MICROS));
    let (d, micros) = (value.date(), value.micros_of_day());
    let seconds = micros / MICROS;
    let days = (u64::from(d.year()) * 13 + u64::from(d.month())) << 5 | u64::from(d.day());
    let hms = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    out.put_uint_be(DATETIME_ZERO + (days << 17 | hms), 5);
    if n > 0 {
        out.put_uint_be(micros % MICROS / unit, n);
    }
}

/// Microseconds from day number 0 to 1970.
fn epoch() -> i64 {
    DateTime::new(Date::new(1970, 1, 1), 0).linear_micros()
}

fn utc(seconds: u32, micros: u64) -> Result<DateTime, DecodeError> {
    if micros >= MICROS {
        return Err(MALFORMED);
    }
    if seconds == 0 && micros == 0 {
        return Ok(DateTime(0));
    }
    let total = i64::from(seconds) * MICROS as i64 + micros as i64;
    DateTime::from_linear_micros(epoch() + total).ok_or(MALFORMED)
}

/// TIMESTAMP(fsp), UTC. Zero is `0000-00-00 00:00:00`.
pub(super) fn read_timestamp2(r: &mut WireReader<'_>, fsp: u8) -> Result<DateTime, DecodeError> {
    let (n, unit) = fraction(fsp)?;
    let seconds = r.uint_be(4, "TIMESTAMP")? as u32;
    let micros = if n == 0 {
        0
    } else {
        r.uint_be(n, "TIMESTAMP")? * unit
    };
    utc(seconds, micros)
}

/// `None` where the time is outside of what 32 bits of seconds hold.
pub(super) fn put_timestamp2(out: &mut Vec<u8>, value: DateTime, fsp: u8) -> Option<()> {
    let (n, unit) = fraction(fsp).ok()?;
    let micros = if value.date().is_zero() {
        0
    } else {
        value.linear_micros() - epoch()
    };
    let seconds = u32::try_from(micros.div_euclid(MICROS as i64)).ok()?;
    out.put_uint_be(u64::from(seconds), 4);
    if n > 0 {
        out.put_uint_be(micros.rem_euclid(MICROS as i64) as u64 / unit, n);
    }
    Some(())
}

/// TIME before 10.1: three bytes `hhmmss` in decimal, or with a fraction microseconds from -839 hours on.
pub(super) fn read_old_time(r: &mut WireReader<'_>, fsp: u8) -> Result<Time, DecodeError> {
    const BYTES: [usize; 7] = [3, 4, 4, 5, 5, 5, 6];
    let n = *BYTES.get(usize::from(fsp)).ok_or(MALFORMED)?;
    if fsp == 0 {
        let raw = (r.u24("TIME")? << 8) as i32 >> 8;
        let v = u64::from(raw.unsigned_abs());
        let (hour, minute, second) = (v / 10_000, v / 100 % 100, v % 100);
        if hour > 838 || minute > 59 || second > 59 {
            return Err(MALFORMED);
        }
        let micros = (((hour * 60 + minute) * 60 + second) * MICROS) as i64;
        return Ok(Time(if raw < 0 { -micros } else { micros }));
    }
    let micros = r.uint_be(n, "TIME")? as i64 * unit_of(fsp) - OLD_TIME_ZERO;
    if micros.abs() >= OLD_TIME_ZERO {
        Err(MALFORMED)
    } else {
        Ok(Time(micros))
    }
}

/// DATETIME before 10.1: eight bytes `YYYYMMDDhhmmss` in decimal, or packed with a fraction.
pub(super) fn read_old_datetime(r: &mut WireReader<'_>, fsp: u8) -> Result<DateTime, DecodeError> {
    const BYTES: [usize; 7] = [8, 6, 6, 7, 7, 7, 8];
    let n = *BYTES.get(usize::from(fsp)).ok_or(MALFORMED)?;
    if fsp == 0 {
        let v = r.u64("DATETIME")?;
        let (d, time) = (v / 1_000_000, v % 1_000_000);
        let date = date(d / 10_000, d / 100 % 100, d % 100)?;
        return Ok(DateTime::new(
            date,
            micros_of_day(time / 10_000, time / 100 % 100, time % 100, 0)?,
        ));
    }
    let raw = r.uint_be(n, "DATETIME")?;
    let per_second = MICROS / unit_of(fsp) as u64;
    let (seconds, micros) = (raw / per_second, raw % per_second * unit_of(fsp) as u64);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let date = date(days / 32 / 13, days / 32 % 13, days % 32)?;
    Ok(DateTime::new(date, second_of_day * MICROS + micros))
}

/// TIMESTAMP before 10.1: four bytes, little-endian; with a fraction as today but with fewer bytes of it.
pub(super) fn read_old_timestamp(r: &mut WireReader<'_>, fsp: u8) -> Result<DateTime, DecodeError> {
    const BYTES: [usize; 7] = [0, 1, 1, 2, 2, 3, 3];
    let n = *BYTES.get(usize::from(fsp)).ok_or(MALFORMED)?;
    if fsp == 0 {
        return utc(r.u32("TIMESTAMP")?, 0);
    }
    let seconds = r.uint_be(4, "TIMESTAMP")? as u32;
    utc(seconds, r.uint_be(n, "TIMESTAMP")? * unit_of(fsp) as u64)
}

/// Microseconds of the last fractional digit.
fn unit_of(fsp: u8) -> i64 {
    10i64.pow(6 - u32::from(fsp.min(6)))
}
