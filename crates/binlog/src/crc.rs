//! Arithmetic on CRC32 values beyond plain hashing.
//!
//! CRC32 is a remainder modulo a polynomial over GF(2), so that appending zero bytes multiplies the
//! register by a power of `x`. The polynomial is primitive: `x` has order 2³² − 1, and going *back*
//! over zero bytes is a multiplication too. That lets [`preset`] choose four bytes near the head of
//! a long run of zeros such that the checksum of the whole becomes zero, without looking at the run.

/// The CRC-32 polynomial, bits reflected (bit 31 is the coefficient of x⁰).
const POLYNOMIAL: u32 = 0xedb8_8320;
/// `x^(2^k)` for each k.
const SQUARES: [u32; 32] = squares();

const fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = 1u32 << 31;
    while bit != 0 {
        if a & bit != 0 {
            product ^= b;
        }
        b = if b & 1 != 0 {
            (b >> 1) ^ POLYNOMIAL
        } else {
            b >> 1
        };
        bit >>= 1;
    }
    product
}

const fn squares() -> [u32; 32] {
    let mut table = [0; 32];
    let mut power = 1u32 << 30; // x
    let mut k = 0;
    while k < 32 {
        table[k] = power;
        power = multiply(power, power);
        k += 1;
    }
    table
}

/// The register that becomes `register` after `zeros` zero bytes were fed.
fn before_zeros(register: u32, zeros: u64) -> u32 {
    const ORDER: u64 = u32::MAX as u64;
    let mut exponent = ORDER - (zeros % ORDER * 8) % ORDER;
    let mut result = register;
    let mut k = 0;
    while exponent != 0 {
        if exponent & 1 != 0 {
            result = multiply(result, SQUARES[k]);
        }
        exponent >>= 1;
        k += 1;
    }
    result
}

/// The four bytes that, between a head whose CRC32 is `head_crc` and `zeros` zero bytes, make the
/// CRC32 of the whole equal to zero.
pub fn preset(head_crc: u32, zeros: u64) -> [u8; 4] {
    let wanted = before_zeros(u32::MAX, zeros.saturating_add(4));
    (!head_crc ^ wanted).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preset_makes_the_checksum_zero() {
        for zeros in [0usize, 1, 3, 4, 5, 100, 4095, 1 << 20] {
            let head = b"some header bytes";
            let mut all = head.to_vec();
            all.extend(preset(crc32fast::hash(head), zeros as u64));
            all.resize(all.len() + zeros, 0);
            assert_eq!(crc32fast::hash(&all), 0, "{zeros}");
        }
    }
}
