//! Arithmetic on [`Decimal`].

use super::{Decimal, MAX_SCALE, MAX_WORDS, POW10, WIDE_ONE, WORD_DIGITS, digit_count, fit, pow10_wide, words};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    HalfUp,
    Truncate,
    Ceil,
    Floor,
}

impl Rounding {
    /// Whether the magnitude grows by one, given what was cut off.
    fn up(self, negative: bool, cut_nonzero: bool, cut_at_least_half: bool) -> bool {
        match self {
            Rounding::HalfUp => cut_at_least_half,
            Rounding::Truncate => false,
            Rounding::Ceil => cut_nonzero && !negative,
            Rounding::Floor => cut_nonzero && negative,
        }
    }
}

impl Decimal {
    /// The value with its sign turned.
    pub fn neg(&self) -> Decimal {
        match self.mantissa() {
            Some(m) => Decimal::from_mantissa(-m, self.scale()),
            None => Decimal::from_wide(!self.is_negative(), self.magnitude(), self.scale()),
        }
    }

    /// The value without its sign.
    pub fn abs(&self) -> Decimal {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// Sum, with the greater of both scales; `true` on overflow of 81 digits.
    pub fn overflowing_add(&self, other: &Decimal) -> (Decimal, bool) {
        self.add_signed(other, false)
    }

    /// Difference, with the greater of both scales; `true` on overflow of 81 digits.
    pub fn overflowing_sub(&self, other: &Decimal) -> (Decimal, bool) {
        self.add_signed(other, true)
    }

    fn add_signed(&self, other: &Decimal, subtract: bool) -> (Decimal, bool) {
        let (sa, sb) = (self.scale(), other.scale());
        let scale = sa.max(sb);
        if let (Some(a), Some(b)) = (self.mantissa(), other.mantissa()) {
            let up = |m: i128, by: u8| if by == 0 { Some(m) } else { m.checked_mul(*POW10.get(by as usize)?) };
            if let (Some(a), Some(b)) = (up(a, scale - sa), up(b, scale - sb))
                && let Some(r) = if subtract { a.checked_sub(b) } else { a.checked_add(b) }
                && scale <= MAX_SCALE
            {
                return (Decimal::from_mantissa(r, scale), false);
            }
        }
        let a = self.magnitude() * pow10_wide((scale - sa) as u32);
        let b = other.magnitude() * pow10_wide((scale - sb) as u32);
        let (na, nb) = (self.is_negative(), other.is_negative() != subtract);
        if na == nb {
            fit(na, a + b, scale as u32)
        } else if a >= b {
            fit(na, a - b, scale as u32)
        } else {
            fit(nb, b - a, scale as u32)
        }
    }

    /// Product; its scale is the sum of both, as far as 81 digits go (the SQL type shows 38 of them at
    /// the most). `true` on overflow of 81 digits.
    pub fn overflowing_mul(&self, other: &Decimal) -> (Decimal, bool) {
        let scale = self.scale() as u32 + other.scale() as u32;
        if scale <= MAX_SCALE as u32
            && let (Some(a), Some(b)) = (self.mantissa(), other.mantissa())
            && let Some(r) = a.checked_mul(b)
        {
            return (Decimal::from_mantissa(r, scale as u8), false);
        }
        let negative = self.is_negative() != other.is_negative();
        let (mut fa, mut fb) = (words(self.scale() as u32), words(other.scale() as u32));
        let int_words = words(self.int_digits() as u32 + other.int_digits() as u32);
        if int_words > MAX_WORDS {
            let r = self.magnitude() * other.magnitude();
            return fit(negative, r, scale);
        }
        // Too long a product loses digits of its factors first, word by word from the one that has more.
        // (MariaDB chooses among equals by a rule of its own; it shows in products of more than 72 digits.)
        let mut excess = (int_words + fa + fb).saturating_sub(MAX_WORDS);
        while excess > 0 && fa + fb > 0 {
            if fa > fb {
                fa -= 1
            } else {
                fb -= 1
            }
            excess -= 1;
        }
        let (a, b) = (self.truncate_to_words(fa), other.truncate_to_words(fb));
        fit(negative, a.magnitude() * b.magnitude(), a.scale() as u32 + b.scale() as u32)
    }

    fn truncate_to_words(&self, frac_words: u32) -> Decimal {
        let max = frac_words * WORD_DIGITS;
        if self.scale() as u32 > max { self.truncate(max as i32) } else { self.clone() }
    }

    /// Quotient, truncated at the first word boundary that holds the dividend's and the divisor's digits
    /// and `increment` more (`div_precision_increment`); round it to the result type's scale for
    /// showing. `None` for a zero divisor; `true` on overflow.
    pub fn overflowing_div(&self, other: &Decimal, increment: u8) -> Option<(Decimal, bool)> {
        if other.is_zero() {
            return None;
        }
        let (sa, sb) = (self.scale() as u32, other.scale() as u32);
        let (fa, fb) = (words(sa) * WORD_DIGITS, words(sb) * WORD_DIGITS);
        let more = (increment as u32).saturating_sub(fa - sa + fb - sb);
        let mut frac = words(fa + fb + more) * WORD_DIGITS;
        if frac <= 36
            && let Some(by @ 0..=38) = (frac + sb).checked_sub(sa)
            && let (Some(a), Some(b)) = (self.mantissa(), other.mantissa())
            && let Some(n) = a.checked_mul(POW10[by as usize])
        {
            return Some((Decimal::from_mantissa(n / b, frac as u8), false));
        }
        let int_words = words((self.int_digits() as u32 + sb).saturating_sub(digit_count(&other.magnitude())) + 1);
        frac = frac.min(MAX_WORDS.saturating_sub(int_words) * WORD_DIGITS);
        let (mut n, mut d) = (self.magnitude(), other.magnitude());
        if frac + sb >= sa {
            n *= pow10_wide(frac + sb - sa);
        } else {
            d *= pow10_wide(sa - frac - sb);
        }
        Some(fit(self.is_negative() != other.is_negative(), n / d, frac))
    }

    /// Scale of the type of a quotient.
    pub fn div_scale(dividend_scale: u8, increment: u8) -> u8 {
        (dividend_scale + increment).min(MAX_SCALE)
    }

    /// Quotient cut to an integer (DIV). `None` for a zero divisor.
    pub fn int_div(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let (sa, sb) = (self.scale() as u32, other.scale() as u32);
        let scale = sa.max(sb);
        let n = self.magnitude() * pow10_wide(scale - sa);
        let d = other.magnitude() * pow10_wide(scale - sb);
        Some(fit(self.is_negative() != other.is_negative(), n / d, 0).0)
    }

    /// Remainder with the dividend's sign and the greater of both scales. `None` for a zero divisor.
    pub fn rem(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let (sa, sb) = (self.scale(), other.scale());
        let scale = sa.max(sb);
        if sa == sb
            && let (Some(a), Some(b)) = (self.mantissa(), other.mantissa())
        {
            return Some(Decimal::from_mantissa(a % b, scale));
        }
        let n = self.magnitude() * pow10_wide((scale - sa) as u32);
        let d = other.magnitude() * pow10_wide((scale - sb) as u32);
        Some(Decimal::from_wide(self.is_negative(), n % d, scale))
    }

    /// Rounded half away from zero to `scale` digits after the point (negative: before it). The result has
    /// exactly that scale (0 for negative ones).
    pub fn round(&self, scale: i32) -> Decimal {
        self.rescale(scale, Rounding::HalfUp)
    }

    /// Cut to `scale` digits after the point (negative: before it).
    pub fn truncate(&self, scale: i32) -> Decimal {
        self.rescale(scale, Rounding::Truncate)
    }

    /// The least integer not below the value.
    pub fn ceil(&self) -> Decimal {
        self.rescale(0, Rounding::Ceil)
    }

    /// The greatest integer not above the value.
    pub fn floor(&self) -> Decimal {
        self.rescale(0, Rounding::Floor)
    }

    fn rescale(&self, to: i32, mode: Rounding) -> Decimal {
        let scale = self.scale() as i32;
        let to = to.clamp(-200, super::MAX_DIGITS as i32);
        if to == scale {
            return self.clone();
        }
        if to > scale {
            let by = (to - scale) as u32;
            if by <= 38
                && let Some(m) = self.mantissa().and_then(|m| m.checked_mul(POW10[by as usize]))
            {
                return Decimal::from_mantissa(m, to as u8);
            }
            return fit(self.is_negative(), self.magnitude() * pow10_wide(by), to as u32).0;
        }
        let by = (scale - to) as u32;
        let negative = self.is_negative();
        if by <= 38
            && let Some(m) = self.mantissa()
        {
            let p = POW10[by as usize];
            let (mut q, r) = (m / p, (m % p).abs());
            if mode.up(negative, r != 0, r >= p / 2 && r != 0) {
                q += if negative { -1 } else { 1 };
            }
            if to >= 0 {
                return Decimal::from_mantissa(q, to as u8);
            }
            if -to <= 38
                && let Some(q) = q.checked_mul(POW10[(-to) as usize])
            {
                return Decimal::from_mantissa(q, 0);
            }
        }
        let p = pow10_wide(by);
        let m = self.magnitude();
        let (mut q, r) = (m / p, m % p);
        if mode.up(negative, !r.is_zero(), !r.is_zero() && r >= p / (WIDE_ONE + WIDE_ONE)) {
            q += WIDE_ONE;
        }
        if to >= 0 { fit(negative, q, to as u32).0 } else { fit(negative, q * pow10_wide(-to as u32), 0).0 }
    }

    /// The value as a column of (`precision`, `scale`) holds it: rounded, and cut to the greatest
    /// value where it does not fit (then `true`).
    pub fn to_column(&self, precision: u8, scale: u8) -> (Decimal, bool) {
        let r = self.round(scale as i32);
        if r.int_digits() > precision.saturating_sub(scale) {
            return (Decimal::max_value(precision, scale, self.is_negative()), true);
        }
        (r, false)
    }
}
