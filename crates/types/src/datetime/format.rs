//! DATE_FORMAT, TIME_FORMAT and GET_FORMAT.

use super::calendar::week_and_year_of_mode;
use super::{DateTime, Time, names};

/// DATE_FORMAT: appends the formatted date; `None` is SQL NULL (a name of a month that there is not).
pub fn date_format(value: DateTime, format: &str, out: &mut Vec<u8>) -> Option<()> {
    apply(value, value.time(), false, format, out)
}

/// TIME_FORMAT: as DATE_FORMAT; letters of dates make it NULL, hours may pass 23 in `%H` and `%k`.
pub fn time_format(value: Time, format: &str, out: &mut Vec<u8>) -> Option<()> {
    if value.is_negative() {
        out.push(b'-');
    }
    apply(DateTime::ZERO, value, true, format, out)
}

fn pad(n: u32, width: usize, out: &mut Vec<u8>) {
    let mut buf = itoa::Buffer::new();
    let s = buf.format(n);
    out.resize(out.len() + width.saturating_sub(s.len()), b'0');
    out.extend_from_slice(s.as_bytes());
}

fn apply(value: DateTime, time: Time, is_time: bool, format: &str, out: &mut Vec<u8>) -> Option<()> {
    let date = value.date();
    let hour = time.hours();
    let hour12 = (hour % 24 + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let weekday = || -> Option<u32> {
        // A date of nothing but zeros has no weekday.
        (!is_time && (date.month() != 0 || date.year() != 0)).then(|| date.weekday())
    };
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let spec = match c {
            '%' => match chars.next() {
                Some(s) => s,
                None => {
                    out.push(b'%');
                    break;
                }
            },
            _ => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        match spec {
            'M' => out.extend_from_slice(date.month_name()?.as_bytes()),
            'b' => out.extend_from_slice(names::short(date.month_name()?).as_bytes()),
            'W' => out.extend_from_slice(names::DAYS[weekday()? as usize].as_bytes()),
            'a' => out.extend_from_slice(names::short(names::DAYS[weekday()? as usize]).as_bytes()),
            'D' => {
                if is_time {
                    return None;
                }
                pad(date.day(), 1, out);
                let suffix = match date.day() {
                    11..=13 => "th",
                    d if d % 10 == 1 => "st",
                    d if d % 10 == 2 => "nd",
                    d if d % 10 == 3 => "rd",
                    _ => "th",
                };
                out.extend_from_slice(suffix.as_bytes());
            }
            'Y' | 'y' | 'm' | 'c' | 'd' | 'e' if is_time => return None,
            'Y' => pad(date.year(), 4, out),
            'y' => pad(date.year() % 100, 2, out),
            'm' => pad(date.month(), 2, out),
            'c' => pad(date.month(), 1, out),
            'd' => pad(date.day(), 2, out),
            'e' => pad(date.day(), 1, out),
            'f' => pad(time.micros(), 6, out),
            'H' => pad(hour, 2, out),
            'k' => pad(hour, 1, out),
            'h' | 'I' => pad(hour12, 2, out),
            'l' => pad(hour12, 1, out),
            'i' => pad(time.minutes(), 2, out),
            's' | 'S' => pad(time.seconds(), 2, out),
            'p' => out.extend_from_slice(half.as_bytes()),
            'r' | 'T' => {
                pad(if spec == 'r' { hour12 } else { hour }, 2, out);
                out.push(b':');
                pad(time.minutes(), 2, out);
                out.push(b':');
                pad(time.seconds(), 2, out);
                if spec == 'r' {
                    out.push(b' ');
                    out.extend_from_slice(half.as_bytes());
                }
            }
            'j' => {
                if date.year() == 0 || date.month() == 0 {
                    return None;
                }
                pad(date.day_of_year(), 3, out);
            }
            'w' => pad((weekday()? + 1) % 7, 1, out),
            'U' | 'u' | 'V' | 'v' | 'X' | 'x' => {
                if is_time {
                    return None;
                }
                let mode = match spec {
                    'U' => 0,
                    'u' => 1,
                    'V' | 'X' => 2,
                    _ => 3,
                };
                let (week, year) = week_and_year_of_mode(date, mode);
                if spec.eq_ignore_ascii_case(&'x') { pad(year, 4, out) } else { pad(week, 2, out) }
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Some(())
}

/// GET_FORMAT(DATE|TIME|DATETIME, region): `what` is the first argument's keyword.
pub fn get_format(what: &str, region: &str) -> Option<&'static str> {
    const FORMATS: [(&str, [&str; 3]); 5] = [
        ("USA", ["%m.%d.%Y", "%Y-%m-%d %H.%i.%s", "%h:%i:%s %p"]),
        ("JIS", ["%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"]),
        ("ISO", ["%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"]),
        ("EUR", ["%d.%m.%Y", "%Y-%m-%d %H.%i.%s", "%H.%i.%s"]),
        ("INTERNAL", ["%Y%m%d", "%Y%m%d%H%i%s", "%H%i%s"]),
    ];
    let column = match what.to_ascii_uppercase().as_str() {
        "DATE" => 0,
        "DATETIME" | "TIMESTAMP" => 1,
        "TIME" => 2,
        _ => return None,
    };
    FORMATS.iter().find(|(r, _)| r.eq_ignore_ascii_case(region)).map(|(_, f)| f[column])
}
