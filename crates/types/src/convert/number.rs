//! Numbers as text and back, as MariaDB prints and reads them.

use crate::Decimal;

/// Most digits before the point that a double is printed with, and most zeros after it less one,
/// before it takes an exponent.
const MAX_POINT: i32 = 15;

/// What was read at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefix<T> {
    /// The number; zero where there was none.
    pub value: T,
    /// Bytes that it took, leading blanks included; 0 where there was none.
    pub used: usize,
    /// Whether it was out of range (the limit is given).
    pub overflow: bool,
}

/// How far a text was a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// To its end.
    Nothing,
    /// Only blanks followed.
    Blanks,
    /// Something else followed.
    Other,
    /// There was no number.
    NoNumber,
}

pub(super) fn rest_of(text: &[u8], used: usize) -> Rest {
    if used == 0 {
        Rest::NoNumber
    } else if used >= text.len() {
        Rest::Nothing
    } else if text[used..].iter().all(|&c| is_blank(c)) {
        Rest::Blanks
    } else {
        Rest::Other
    }
}

pub(super) fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Where the number at the start of a text begins and ends, in the syntax of floating point literals.
fn float_span(text: &[u8]) -> Option<(usize, usize)> {
    let start = text.iter().take_while(|&&c| is_blank(c)).count();
    let mut i = start;
    if matches!(text.get(i), Some(b'-' | b'+')) {
        i += 1;
    }
    let digits = |i: usize| text[i..].iter().take_while(|c| c.is_ascii_digit()).count();
    let int = digits(i);
    i += int;
    let mut frac = 0;
    if text.get(i) == Some(&b'.') {
        frac = digits(i + 1);
        if int + frac > 0 {
            i += 1 + frac;
        }
    }
    if int + frac == 0 {
        return None;
    }
    if matches!(text.get(i), Some(b'e' | b'E')) {
        let sign = matches!(text.get(i + 1), Some(b'-' | b'+')) as usize;
        let n = digits((i + 1 + sign).min(text.len()));
        if n > 0 {
            i += 1 + sign + n;
        }
    }
    Some((start, i))
}

/// Reads a double from the start of a text.
pub fn parse_f64(text: &[u8]) -> Prefix<f64> {
    let Some((start, end)) = float_span(text) else {
        return Prefix { value: 0.0, used: 0, overflow: false };
    };
    let value: f64 = std::str::from_utf8(&text[start..end]).ok().and_then(|s| s.parse().ok()).unwrap_or(0.0);
    if value.is_infinite() {
        return Prefix { value: f64::MAX.copysign(value), used: end, overflow: true };
    }
    Prefix { value, used: end, overflow: false }
}

/// Reads digits with a sign from the start of a text, with no fraction or exponent, as CAST to an integer
/// does. The value is that of 128 bits, cut there.
pub fn parse_int(text: &[u8]) -> Prefix<i128> {
    let mut i = text.iter().take_while(|&&c| is_blank(c)).count();
    let negative = text.get(i) == Some(&b'-');
    if matches!(text.get(i), Some(b'-' | b'+')) {
        i += 1;
    }
    let n = text[i..].iter().take_while(|c| c.is_ascii_digit()).count();
    if n == 0 {
        return Prefix { value: 0, used: 0, overflow: false };
    }
    let v = text[i..i + n].iter().fold(0i128, |v, c| v.saturating_mul(10).saturating_add((c - b'0') as i128));
    Prefix { value: if negative { -v } else { v }, used: i + n, overflow: v == i128::MAX }
}

/// Digits and place of the point of a double: `0.d1d2… * 10^point`.
struct Digits {
    negative: bool,
    digits: [u8; 20],
    len: usize,
    point: i32,
}

impl Digits {
    /// From a form such as `1.5e-7`, `0.001` or `123.0`.
    fn read(text: &[u8]) -> Digits {
        let mut d = Digits { negative: false, digits: [0; 20], len: 0, point: 0 };
        let mut seen_point = false;
        let mut i = 0;
        while let Some(&c) = text.get(i) {
            i += 1;
            match c {
                b'-' => d.negative = true,
                b'.' => seen_point = true,
                b'0'..=b'9' => {
                    let leading_zero = c == b'0' && d.len == 0;
                    if !leading_zero && d.len < d.digits.len() {
                        d.digits[d.len] = c;
                        d.len += 1;
                    }
                    if !seen_point && !leading_zero {
                        d.point += 1;
                    } else if seen_point && leading_zero {
                        d.point -= 1;
                    }
                }
                b'e' => {
                    let e: i32 = std::str::from_utf8(&text[i..]).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
                    d.point += e;
                    break;
                }
                _ => {}
            }
        }
        while d.len > 0 && d.digits[d.len - 1] == b'0' {
            d.len -= 1;
        }
        d
    }

    /// Keeps `n` digits, rounding half up.
    fn round_to(&mut self, n: usize) {
        if n >= self.len {
            return;
        }
        let up = self.digits[n] >= b'5';
        self.len = n;
        if up {
            let mut i = n;
            loop {
                if i == 0 {
                    self.digits[0] = b'1';
                    self.len = 1;
                    self.point += 1;
                    break;
                }
                i -= 1;
                if self.digits[i] == b'9' {
                    self.len = i;
                } else {
                    self.digits[i] += 1;
                    break;
                }
            }
        }
        while self.len > 0 && self.digits[self.len - 1] == b'0' {
            self.len -= 1;
        }
    }

    fn write(&self, exponent: bool, out: &mut Vec<u8>) {
        if self.len == 0 {
            out.push(b'0');
            return;
        }
        if self.negative {
            out.push(b'-');
        }
        let digits = &self.digits[..self.len];
        if exponent {
            out.push(digits[0]);
            if self.len > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.push(b'e');
            out.extend_from_slice(itoa::Buffer::new().format(self.point - 1).as_bytes());
        } else if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + (-self.point) as usize, b'0');
            out.extend_from_slice(digits);
        } else {
            let int = self.point as usize;
            if self.len <= int {
                out.extend_from_slice(digits);
                out.resize(out.len() + int - self.len, b'0');
            } else {
                out.extend_from_slice(&digits[..int]);
                out.push(b'.');
                out.extend_from_slice(&digits[int..]);
            }
        }
    }

    fn needs_exponent(&self) -> bool {
        // Great numbers with digits after the point are no shorter with an exponent.
        self.point < -MAX_POINT + 1 || (self.point > MAX_POINT && self.len as i32 <= self.point)
    }

    /// Bytes that [`Digits::write`] gives.
    fn width(&self, exponent: bool) -> usize {
        if self.len == 0 {
            return 1;
        }
        let sign = self.negative as usize;
        if exponent {
            let e = itoa::Buffer::new().format(self.point - 1).len();
            return sign + self.len + (self.len > 1) as usize + 1 + e;
        }
        if self.point <= 0 {
            sign + 2 + (-self.point) as usize + self.len
        } else {
            let int = self.point as usize;
            sign + if self.len <= int { int } else { self.len + 1 }
        }
    }
}

fn shortest(v: f64) -> Digits {
    Digits::read(ryu::Buffer::new().format(v).as_bytes())
}

/// Appends a double in MariaDB's shortest form: digits up to 10^15 and down to 10^-15, else `1.5e16`.
pub fn write_f64(v: f64, out: &mut Vec<u8>) {
    if !v.is_finite() {
        out.extend_from_slice(if v.is_nan() {
            b"nan"
        } else if v > 0.0 {
            b"inf"
        } else {
            b"-inf"
        });
        return;
    }
    if v == v.trunc() && v.abs() < 1e15 {
        out.extend_from_slice(itoa::Buffer::new().format(v as i64).as_bytes());
        return;
    }
    let d = shortest(v);
    d.write(d.needs_exponent(), out);
}

/// Appends a double in at most `width` bytes, rounding where it must; `false` where its size was lost
/// with that or the text was cut.
pub fn write_f64_in(v: f64, width: usize, out: &mut Vec<u8>) -> bool {
    let mut d = shortest(v);
    let exponent = d.needs_exponent();
    if d.width(exponent) <= width {
        d.write(exponent, out);
        return true;
    }
    // The form that keeps more digits.
    let overhead = |d: &Digits, exponent: bool| {
        let one = Digits { len: d.len.min(2), ..*d };
        one.width(exponent) as i64 - one.len as i64
    };
    let fixed_digits = if d.point > 0 && d.point as usize + d.negative as usize > width {
        0
    } else if d.point > 0 {
        // All digits before the point have to stand; the point itself only with some after it.
        let room = width as i64 - d.negative as i64;
        if room > d.point as i64 + 1 { room - 1 } else { d.point as i64 }
    } else {
        width as i64 - overhead(&d, false)
    };
    let exponent_room = width as i64 - d.negative as i64 - 1 - itoa::Buffer::new().format(d.point - 1).len() as i64;
    let exponent_digits = if exponent_room >= 3 { exponent_room - 1 } else { exponent_room.min(1) };
    let use_exponent = exponent || exponent_digits > fixed_digits;
    let use_exponent = use_exponent || fixed_digits <= 0;
    let n = if use_exponent { exponent_digits } else { fixed_digits };
    // With an exponent there must have been room for a point, where there are digits for it.
    let point_fits = d.len == 1 || exponent_room >= 2;
    d.round_to(n.max(1) as usize);
    let fits = d.width(use_exponent) <= width;
    let start = out.len();
    d.write(use_exponent, out);
    out.truncate(start + width);
    fits && (!use_exponent || point_fits)
}

/// Appends a FLOAT: six significant digits.
pub fn write_f32(v: f32, out: &mut Vec<u8>) {
    if !v.is_finite() || v == 0.0 {
        write_f64(v as f64, out);
        return;
    }
    // `{:.5e}` is correctly rounded; it goes through the stack.
    let mut buf = StackText::default();
    let _ = std::fmt::Write::write_fmt(&mut buf, format_args!("{:.5e}", v as f64));
    let d = Digits::read(buf.bytes());
    d.write(d.needs_exponent(), out);
}

/// Appends a double with exactly `decimals` digits after the point.
pub fn write_fixed(v: f64, decimals: u8, out: &mut Vec<u8>) {
    let start = out.len();
    // Digits past those that tell the number from others are zeros.
    let d = shortest(v);
    let after_point = (d.len as i32 - d.point).max(0);
    if v.is_finite() && d.len > 0 && after_point <= decimals as i32 {
        d.write(false, out);
        if after_point == 0 && decimals > 0 {
            out.push(b'.');
        }
        out.resize(out.len() + decimals as usize - after_point as usize, b'0');
    } else {
        let _ = std::io::Write::write_fmt(out, format_args!("{:.*}", decimals as usize, v));
    }
    if out[start..].first() == Some(&b'-') && out[start + 1..].iter().all(|c| matches!(c, b'0' | b'.')) {
        out.remove(start);
    }
}

/// Rounds as columns with (m, d) do: to the nearest multiple of 10^-d.
pub fn round_f64(v: f64, decimals: u8) -> f64 {
    let p = 10f64.powi(decimals as i32);
    let whole = v.floor();
    let scaled = (v - whole) * p;
    if !scaled.is_finite() || v.abs() >= 9.0e15 { v } else { whole + scaled.round_ties_even() / p }
}

/// A double as an integer of 128 bits, rounded half to even, cut at its limits.
pub(super) fn f64_to_i128(v: f64) -> i128 {
    v.round_ties_even() as i128
}

/// The nearest decimal number of a double, for MariaDB's `double2decimal`.
pub(super) fn f64_to_decimal(v: f64) -> (Decimal, bool) {
    Decimal::from_f64(v)
}

/// A few bytes of text without the heap.
#[derive(Default)]
struct StackText {
    buf: [u8; 32],
    len: usize,
}

impl StackText {
    fn bytes(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

impl std::fmt::Write for StackText {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let to = self.buf.get_mut(self.len..self.len + s.len()).ok_or(std::fmt::Error)?;
        to.copy_from_slice(s.as_bytes());
        self.len += s.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{write_f32, write_f64, write_f64_in};

    fn text(v: f64) -> String {
        let mut out = Vec::new();
        write_f64(v, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn doubles_as_mariadb_prints_them() {
        for (v, s) in [
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123456789012345678.0, "1.2345678901234568e17"),
            (1e-4, "0.0001"),
            (1.5e-15, "0.0000000000000015"),
            (1e-16, "1e-16"),
            (1e300, "1e300"),
            (-1e15, "-1e15"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.0 / 3.0, "0.3333333333333333"),
            (-0.0, "0"),
            (1e-15, "0.000000000000001"),
            (999999999999999.0, "999999999999999"),
            (9999999999999998.0, "9.999999999999998e15"),
            (1.7976931348623157e308, "1.7976931348623157e308"),
            (4.9e-324, "5e-324"),
            (123456789e10, "1.23456789e18"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (20240102030405.68, "20240102030405.68"),
        ] {
            assert_eq!(text(v), s);
        }
    }

    #[test]
    fn floats_have_six_digits() {
        for (v, s) in [
            (1.1f32, "1.1"),
            (1234567.0, "1234570"),
            (1e10, "10000000000"),
            (0.000012345678, "0.0000123457"),
            (16777216.0, "16777200"),
            (3.4e38, "3.4e38"),
            (999999.5, "1000000"),
            (1e-45, "1.4013e-45"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123456e9, "123456000000000"),
            (0.0, "0"),
        ] {
            let mut out = Vec::new();
            write_f32(v, &mut out);
            assert_eq!(String::from_utf8(out).unwrap_or_default(), s);
        }
    }

    #[test]
    fn narrow_doubles() {
        let narrow = |v: f64, w: usize| {
            let mut out = Vec::new();
            let ok = write_f64_in(v, w, &mut out);
            (String::from_utf8(out).unwrap_or_default(), ok)
        };
        for (v, width, s, ok) in [
            (1234.5678, 6, "1234.6", true),
            (1234.5678, 5, "1235", true),
            (1234.5678, 4, "1235", true),
            (1234.5678, 3, "1e3", false),
            (1e300, 5, "1e300", true),
            (1.5e300, 5, "2e300", false),
            (1.5e300, 3, "2e3", false),
            (1e10, 5, "1e10", true),
            (1e10, 3, "1e1", false),
        ] {
            assert_eq!(narrow(v, width), (s.to_string(), ok), "{v} in {width}");
        }
    }
}
