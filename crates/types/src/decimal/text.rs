//! Decimal numbers as text.

use std::fmt;

use bnum::cast::As;
use bnum::types::U1024;

use super::{Decimal, MAX_DIGITS, POW10, WIDE_TEN, WIDE_ZERO, fit, pow10_wide};

/// What [`Decimal::parse_prefix`] read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The number; zero where there was none.
    pub value: Decimal,
    /// Bytes taken, leading blanks included; 0 where there was no number.
    pub used: usize,
    /// Whether the number was too great for 81 digits (the greatest value is given).
    pub overflow: bool,
}

impl Decimal {
    /// Reads a number from the start of `text`: blanks, sign, digits, point, digits, exponent. As many
    /// digits as MariaDB's buffers hold are kept, further ones after the point are cut off.
    pub fn parse_prefix(text: &[u8]) -> Parsed {
        let mut i = text.iter().take_while(|c| c.is_ascii_whitespace()).count();
        let negative = match text.get(i) {
            Some(b'-') => {
                i += 1;
                true
            }
            Some(b'+') => {
                i += 1;
                false
            }
            _ => false,
        };
        let digits_at = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
        let int_len = digits_at(i);
        let int = &text[i..i + int_len];
        i += int_len;
        let mut frac: &[u8] = &[];
        if text.get(i) == Some(&b'.') {
            let n = digits_at(i + 1);
            if int_len + n > 0 {
                frac = &text[i + 1..i + 1 + n];
                i += 1 + n;
            }
        }
        if int.is_empty() && frac.is_empty() {
            return Parsed { value: Decimal::ZERO, used: 0, overflow: false };
        }
        let mut exponent = 0i64;
        if matches!(text.get(i), Some(b'e' | b'E')) {
            let mut j = i + 1;
            let negative_exponent = text.get(j) == Some(&b'-');
            if matches!(text.get(j), Some(b'-' | b'+')) {
                j += 1;
            }
            let n = digits_at(j);
            if n > 0 {
                for c in &text[j..j + n] {
                    exponent = (exponent * 10 + (c - b'0') as i64).min(100_000);
                }
                if negative_exponent {
                    exponent = -exponent;
                }
                i = j + n;
            }
        }
        let (value, overflow) = assemble(negative, int, frac, exponent);
        Parsed { value, used: i, overflow }
    }

    /// Reads text that is a number and nothing else (blanks around it are allowed).
    pub fn parse(text: &str) -> Option<Decimal> {
        let text = text.trim_end_matches(|c: char| c.is_ascii_whitespace()).as_bytes();
        let p = Decimal::parse_prefix(text);
        (p.used == text.len() && p.used > 0 && !p.overflow).then_some(p.value)
    }

    /// Appends the value as text with all digits of its scale: `-0.10`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let scale = self.scale() as usize;
        if let Some(m) = self.mantissa()
            && let Ok(m) = i64::try_from(m)
        {
            let mut buf = itoa::Buffer::new();
            write_digits(m < 0, buf.format(m.unsigned_abs()).as_bytes(), scale, out);
            return;
        }
        // Longest: 154 digits.
        let mut digits = [0u8; 171];
        let mut at = digits.len();
        let mut rest = self.magnitude();
        let chunk: U1024 = POW10[18].as_();
        while !rest.is_zero() {
            let mut low: u64 = (rest % chunk).as_();
            rest /= chunk;
            for _ in 0..18 {
                if low == 0 && rest.is_zero() {
                    break;
                }
                at -= 1;
                digits[at] = b'0' + (low % 10) as u8;
                low /= 10;
            }
        }
        write_digits(self.is_negative(), &digits[at..], scale, out);
    }

    /// Appends the value rounded to `scale` digits after the point.
    pub fn write_scaled(&self, scale: u8, out: &mut Vec<u8>) {
        if self.scale() == scale { self.write_to(out) } else { self.round(scale as i32).write_to(out) }
    }
}

/// Sign, digits of the mantissa and the point among them.
fn write_digits(negative: bool, digits: &[u8], scale: usize, out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    if scale == 0 {
        out.extend_from_slice(if digits.is_empty() { b"0" } else { digits });
        return;
    }
    if digits.len() > scale {
        let (int, frac) = digits.split_at(digits.len() - scale);
        out.extend_from_slice(int);
        out.push(b'.');
        out.extend_from_slice(frac);
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + scale - digits.len(), b'0');
        out.extend_from_slice(digits);
    }
}

fn assemble(negative: bool, int: &[u8], frac: &[u8], exponent: i64) -> (Decimal, bool) {
    let int = &int[int.iter().take_while(|&&c| c == b'0').count()..];
    if exponent == 0 && int.len() + frac.len() <= 38 {
        let m = int.iter().chain(frac).fold(0i128, |m, c| m * 10 + (c - b'0') as i128);
        return (Decimal::from_mantissa(if negative { -m } else { m }, frac.len() as u8), false);
    }
    // More digits than two buffers hold cannot matter, but where the point stands does.
    const KEEP: usize = 2 * MAX_DIGITS as usize;
    let mut m = WIDE_ZERO;
    let mut taken = 0;
    let mut skipped = 0i64;
    for c in int.iter().chain(frac) {
        if taken == 0 && *c == b'0' || taken < KEEP {
            m = m * WIDE_TEN + ((c - b'0') as u64).as_::<U1024>();
            taken += (!m.is_zero()) as usize;
        } else {
            skipped += 1;
        }
    }
    if m.is_zero() {
        let scale = (frac.len() as i64 - exponent).clamp(0, MAX_DIGITS as i64);
        return (Decimal::from_mantissa(0, scale as u8), false);
    }
    let mut scale = frac.len() as i64 - exponent - skipped;
    if scale < 0 {
        if -scale > MAX_DIGITS as i64 {
            return (Decimal::max_value(MAX_DIGITS as u8, 0, negative), true);
        }
        m *= pow10_wide((-scale) as u32);
        scale = 0;
    }
    if scale > 300 {
        return (Decimal::from_mantissa(0, MAX_DIGITS as u8), false);
    }
    fit(negative, m, scale as u32)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buf = Vec::with_capacity(40);
        self.write_to(&mut buf);
        f.pad(std::str::from_utf8(&buf).unwrap_or("0"))
    }
}

impl std::str::FromStr for Decimal {
    type Err = ();
    fn from_str(s: &str) -> Result<Decimal, ()> {
        Decimal::parse(s).ok_or(())
    }
}
