//! Exact decimal numbers with MariaDB's precision and scale rules.
//!
//! A [`Decimal`] is a sign, an integer mantissa and a scale (digits after the point): `-1.50` is
//! `-150` with scale 2. Values of up to 28 digits stand inline (16 bytes in all); longer ones are boxed.
//! The scale is part of the value for printing, not for comparing: `1.0 == 1.00`.
//!
//! MariaDB computes in groups ("words") of nine digits, nine of them at the most: 81 digits. What is
//! kept of a long product or quotient follows from that, so the rule is applied here too.
//! Results of expressions may therefore carry more digits than their SQL type shows (a quotient ends
//! at a word boundary): whoever prints or stores them rounds to the type's scale.
//!
//! It must not know SQL types or warnings: operations report overflow as a flag.

mod arith;
mod binary;
mod text;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use bnum::cast::As;
use bnum::types::{U512, U1024};

pub use text::Parsed;

/// Most digits that a DECIMAL column can have.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point that a DECIMAL column can have.
pub const MAX_SCALE: u8 = 38;
/// How many digits division adds to the dividend's scale (`div_precision_increment`).
pub const DIV_PRECISION_INCREMENT: u8 = 4;

/// Digits in one of MariaDB's words.
const WORD_DIGITS: u32 = 9;
/// Words in one of MariaDB's decimal buffers.
const MAX_WORDS: u32 = 9;
/// Most digits of any intermediate result.
const MAX_DIGITS: u32 = WORD_DIGITS * MAX_WORDS;

const fn wide(v: u8) -> U1024 {
    let mut bytes = [0; 128];
    bytes[0] = v;
    U1024::from_bytes(bytes)
}

const WIDE_ZERO: U1024 = wide(0);
const WIDE_ONE: U1024 = wide(1);
const WIDE_TEN: U1024 = wide(10);

/// An exact decimal number. Arithmetic follows MariaDB's rules for scale and precision.
#[derive(Debug, Clone)]
pub struct Decimal(Repr);

#[derive(Debug, Clone)]
enum Repr {
    /// A mantissa of 96 bits: `hi * 2^64 + lo`.
    Small { scale: u8, hi: i32, lo: u64 },
    /// A mantissa that needs more than 96 bits.
    Big(Box<Big>),
}

#[derive(Debug, Clone)]
struct Big {
    negative: bool,
    scale: u8,
    magnitude: U512,
}

const _: () = assert!(size_of::<Decimal>() == 16);

const SMALL_MAX: i128 = (1 << 95) - 1;

const fn pow10_table() -> [i128; 39] {
    let mut t = [1i128; 39];
    let mut i = 1;
    while i < 39 {
        t[i] = t[i - 1] * 10;
        i += 1;
    }
    t
}

static POW10: [i128; 39] = pow10_table();

/// 10^n as a wide number.
fn pow10_wide(n: u32) -> U1024 {
    if n <= 38 { POW10[n as usize].as_() } else { WIDE_TEN.pow(n) }
}

/// Decimal digits of a magnitude (0 has none).
fn digit_count(m: &U1024) -> u32 {
    if m.is_zero() { 0 } else { m.ilog10() + 1 }
}

fn words(digits: u32) -> u32 {
    digits.div_ceil(WORD_DIGITS)
}

impl Decimal {
    /// Zero, with no digits after the point.
    pub const ZERO: Decimal = Decimal(Repr::Small { scale: 0, hi: 0, lo: 0 });
    /// One.
    pub const ONE: Decimal = Decimal(Repr::Small { scale: 0, hi: 0, lo: 1 });

    /// From an integer mantissa: `from_mantissa(-150, 2)` is `-1.50`.
    pub fn from_mantissa(mantissa: i128, scale: u8) -> Decimal {
        if (-SMALL_MAX..=SMALL_MAX).contains(&mantissa) {
            Decimal(Repr::Small { scale, hi: (mantissa >> 64) as i32, lo: mantissa as u64 })
        } else {
            Decimal(Repr::Big(Box::new(Big {
                negative: mantissa < 0,
                scale,
                magnitude: mantissa.unsigned_abs().as_(),
            })))
        }
    }

    fn from_wide(negative: bool, magnitude: U1024, scale: u8) -> Decimal {
        if magnitude <= SMALL_MAX.as_::<U1024>() {
            let m: i128 = magnitude.as_();
            return Decimal::from_mantissa(if negative { -m } else { m }, scale);
        }
        debug_assert!(digit_count(&magnitude) <= 154);
        Decimal(Repr::Big(Box::new(Big { negative, scale, magnitude: magnitude.as_() })))
    }

    /// The greatest value of `precision` digits with `scale` of them after the point: `999.99`.
    pub fn max_value(precision: u8, scale: u8, negative: bool) -> Decimal {
        let m = pow10_wide(precision.min(MAX_DIGITS as u8) as u32) - WIDE_ONE;
        Decimal::from_wide(negative, m, scale)
    }

    /// The mantissa where it fits in 128 bits.
    pub fn mantissa(&self) -> Option<i128> {
        match &self.0 {
            Repr::Small { hi, lo, .. } => Some(((*hi as i128) << 64) | *lo as i128),
            Repr::Big(b) => {
                if b.magnitude <= i128::MAX.as_::<U512>() {
                    let m: i128 = b.magnitude.as_();
                    Some(if b.negative { -m } else { m })
                } else {
                    None
                }
            }
        }
    }

    /// The mantissa without its sign.
    fn magnitude(&self) -> U1024 {
        match &self.0 {
            Repr::Small { .. } => self.mantissa().unwrap_or(0).unsigned_abs().as_(),
            Repr::Big(b) => b.magnitude.as_(),
        }
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        match &self.0 {
            Repr::Small { scale, .. } => *scale,
            Repr::Big(b) => b.scale,
        }
    }

    /// Digits before the point, leading zeros not counted (`0.5` has none).
    pub fn int_digits(&self) -> u8 {
        let all = match self.mantissa() {
            Some(0) => 0,
            Some(m) => m.unsigned_abs().ilog10() + 1,
            None => digit_count(&self.magnitude()),
        };
        all.saturating_sub(self.scale() as u32) as u8
    }

    /// Digits in all as MariaDB counts the precision of a literal: those before the point plus the
    /// scale, at least one.
    pub fn precision(&self) -> u8 {
        (self.int_digits() + self.scale()).max(1)
    }

    /// Whether the value is zero (of any scale).
    pub fn is_zero(&self) -> bool {
        matches!(&self.0, Repr::Small { hi: 0, lo: 0, .. })
    }

    /// Whether the value is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small { hi, .. } => *hi < 0,
            Repr::Big(b) => b.negative,
        }
    }

    /// Whether there are no digits but zeros after the point.
    pub fn is_integer(&self) -> bool {
        let scale = self.scale();
        match self.mantissa() {
            Some(m) if scale <= 38 => m % POW10[scale as usize] == 0,
            Some(m) => m == 0,
            None => (self.magnitude() % pow10_wide(scale as u32)).is_zero(),
        }
    }

    /// The value with trailing zeros after the point taken off, as mantissa and scale, where that fits
    /// in 128 bits. Equal values give equal results.
    pub fn normalized(&self) -> Option<(i128, u8)> {
        let (d, scale) = self.strip();
        d.mantissa().map(|m| (m, scale))
    }

    fn strip(&self) -> (Decimal, u8) {
        let mut scale = self.scale();
        match self.mantissa() {
            Some(0) => (Decimal::ZERO, 0),
            Some(mut m) => {
                while scale > 0 && m % 10 == 0 {
                    m /= 10;
                    scale -= 1;
                }
                (Decimal::from_mantissa(m, scale), scale)
            }
            None => {
                let mut m = self.magnitude();
                while scale > 0 && (m % WIDE_TEN).is_zero() {
                    m /= WIDE_TEN;
                    scale -= 1;
                }
                (Decimal::from_wide(self.is_negative(), m, scale), scale)
            }
        }
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        let scale = self.scale();
        if let Some(m) = self.mantissa()
            && m.unsigned_abs() < 1 << 53
            && scale <= 22
        {
            return m as f64 / POW10[scale as usize] as f64;
        }
        let mut buf = Vec::with_capacity(96);
        self.write_to(&mut buf);
        std::str::from_utf8(&buf).ok().and_then(|s| s.parse().ok()).unwrap_or(0.0)
    }

    /// From a double by its shortest decimal form; `true` where it did not fit in 81 digits (the
    /// greatest value is given) or is not a number.
    pub fn from_f64(v: f64) -> (Decimal, bool) {
        if !v.is_finite() {
            return (if v.is_nan() { Decimal::ZERO } else { Decimal::max_value(MAX_PRECISION, 0, v < 0.0) }, true);
        }
        if v == v.trunc() && v.abs() < 9.0e15 {
            return (Decimal::from(v as i64), false);
        }
        let mut buf = ryu::Buffer::new();
        let p = Decimal::parse_prefix(buf.format_finite(v).as_bytes());
        (p.value, p.overflow)
    }

    /// The nearest signed integer (half away from zero); `true` where it was out of range (then the limit is given).
    pub fn to_i64(&self) -> (i64, bool) {
        match self.rounded_i128() {
            Some(m) => match i64::try_from(m) {
                Ok(v) => (v, false),
                Err(_) => (if m < 0 { i64::MIN } else { i64::MAX }, true),
            },
            None => (if self.is_negative() { i64::MIN } else { i64::MAX }, true),
        }
    }

    /// The nearest unsigned integer; `true` where it was out of range (then the limit is given, 0 for negatives).
    pub fn to_u64(&self) -> (u64, bool) {
        match self.rounded_i128() {
            Some(m) => match u64::try_from(m) {
                Ok(v) => (v, false),
                Err(_) => (if m < 0 { 0 } else { u64::MAX }, true),
            },
            None => (if self.is_negative() { 0 } else { u64::MAX }, true),
        }
    }

    fn rounded_i128(&self) -> Option<i128> {
        if self.scale() == 0 { self.mantissa() } else { self.round(0).mantissa() }
    }
}

impl Default for Decimal {
    fn default() -> Decimal {
        Decimal::ZERO
    }
}

impl From<i64> for Decimal {
    fn from(v: i64) -> Decimal {
        Decimal::from_mantissa(v as i128, 0)
    }
}

impl From<u64> for Decimal {
    fn from(v: u64) -> Decimal {
        Decimal::from_mantissa(v as i128, 0)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let (sa, sb) = (self.scale(), other.scale());
        if let (Some(a), Some(b)) = (self.mantissa(), other.mantissa()) {
            let diff = sa.abs_diff(sb) as usize;
            if diff == 0 {
                return a.cmp(&b);
            }
            if diff <= 38 {
                if sa < sb {
                    if let Some(a) = a.checked_mul(POW10[diff]) {
                        return a.cmp(&b);
                    }
                } else if let Some(b) = b.checked_mul(POW10[diff]) {
                    return a.cmp(&b);
                }
            }
        }
        match (self.is_negative(), other.is_negative()) {
            (false, true) => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            _ => {}
        }
        let scale = sa.max(sb);
        let a = self.magnitude() * pow10_wide((scale - sa) as u32);
        let b = other.magnitude() * pow10_wide((scale - sb) as u32);
        if self.is_negative() { b.cmp(&a) } else { a.cmp(&b) }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (d, scale) = self.strip();
        match d.mantissa() {
            Some(m) => (m, scale).hash(state),
            None => {
                state.write_u8(scale);
                let mut buf = Vec::with_capacity(96);
                d.write_to(&mut buf);
                state.write(&buf);
            }
        }
    }
}

/// Cuts a result to what nine words of nine digits hold: digits after the point go first; digits
/// before it that do not fit make the greatest value and the overflow flag.
fn fit(negative: bool, magnitude: U1024, scale: u32) -> (Decimal, bool) {
    let digits = digit_count(&magnitude);
    let int_words = words(digits.saturating_sub(scale));
    if int_words > MAX_WORDS {
        return (Decimal::max_value(MAX_DIGITS as u8, 0, negative), true);
    }
    let room = (MAX_WORDS - int_words) * WORD_DIGITS;
    if words(scale) + int_words > MAX_WORDS && scale > room {
        return (Decimal::from_wide(negative, magnitude / pow10_wide(scale - room), room as u8), false);
    }
    (Decimal::from_wide(negative, magnitude, scale as u8), false)
}

#[cfg(test)]
mod tests;
