//! The packed form of DECIMAL columns in row events (and in InnoDB): digits in groups of nine, four
//! bytes each, big-endian, the first bit turned, all bits turned for negative numbers. For one
//! precision and scale it orders as bytes.

use bnum::cast::As;
use bnum::types::U1024;

use super::{Decimal, MAX_PRECISION, MAX_SCALE, WIDE_TEN, WIDE_ZERO, pow10_wide};

/// Bytes that 0 to 9 digits take.
const GROUP_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl Decimal {
    /// Bytes that a column of (`precision`, `scale`) takes.
    pub fn binary_len(precision: u8, scale: u8) -> usize {
        let int = precision.saturating_sub(scale) as usize;
        let scale = scale as usize;
        int / 9 * 4 + GROUP_BYTES[int % 9] + scale / 9 * 4 + GROUP_BYTES[scale % 9]
    }

    /// Appends the packed form; the value is first made to fit (`precision`, `scale`).
    pub fn write_binary(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let (value, _) = self.to_column(precision, scale);
        let negative = value.is_negative();
        let start = out.len();
        // Digits, the first one first, padded to the column's width.
        let width = precision as usize;
        let mut digits = [0u8; 256];
        if let Some(m) = value.mantissa() {
            let mut m = m.unsigned_abs();
            for d in digits[..width].iter_mut().rev() {
                if m == 0 {
                    break;
                }
                *d = (m % 10) as u8;
                m /= 10;
            }
        } else {
            let mut m = value.magnitude();
            for d in digits[..width].iter_mut().rev() {
                *d = (m % WIDE_TEN).as_();
                m /= WIDE_TEN;
            }
        }
        let int = precision.saturating_sub(scale) as usize;
        let mut at = 0;
        let mut put = |n: usize| {
            let v = digits[at..at + n].iter().fold(0u32, |v, d| v * 10 + *d as u32);
            at += n;
            out.extend_from_slice(&v.to_be_bytes()[4 - GROUP_BYTES[n]..]);
        };
        put(int % 9);
        for _ in 0..int / 9 {
            put(9);
        }
        for _ in 0..scale / 9 {
            put(9);
        }
        put((scale % 9) as usize);
        if negative {
            out[start..].iter_mut().for_each(|b| *b = !*b);
        }
        if let Some(first) = out.get_mut(start) {
            *first ^= 0x80;
        }
    }

    /// Reads the packed form; `None` where the bytes are too few or are no digits, and for
    /// a precision or scale that no column has.
    pub fn read_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        if precision > MAX_PRECISION || scale > MAX_SCALE || scale > precision {
            return None;
        }
        let len = Decimal::binary_len(precision, scale);
        let bytes = bytes.get(..len)?;
        let negative = *bytes.first()? & 0x80 == 0;
        let mut small = 0i128;
        let mut wide = WIDE_ZERO;
        let narrow = precision <= 38;
        let mut at = 0;
        let mut get = |n: usize| -> Option<()> {
            let mut v = 0u32;
            for _ in 0..GROUP_BYTES[n] {
                let mut b = bytes[at];
                if at == 0 {
                    b ^= 0x80;
                }
                if negative {
                    b = !b;
                }
                v = v << 8 | b as u32;
                at += 1;
            }
            if v as u64 >= 10u64.pow(n as u32) {
                return None;
            }
            if narrow {
                small = small * 10i128.pow(n as u32) + v as i128;
            } else {
                wide = wide * pow10_wide(n as u32) + v.as_::<U1024>();
            }
            Some(())
        };
        let int = precision.saturating_sub(scale) as usize;
        get(int % 9)?;
        for _ in 0..int / 9 {
            get(9)?;
        }
        for _ in 0..scale / 9 {
            get(9)?;
        }
        get((scale % 9) as usize)?;
        Some(if narrow {
            Decimal::from_mantissa(if negative { -small } else { small }, scale)
        } else {
            Decimal::from_wide(negative, wide, scale)
        })
    }
}
