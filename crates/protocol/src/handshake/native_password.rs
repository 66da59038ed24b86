//! mysql_native_password. The server knows `SHA1(SHA1(password))`; the client proves that it knows
//! `SHA1(password)` by sending it XORed with `SHA1(scramble, SHA1(SHA1(password)))`.
//! See <https://mariadb.com/kb/en/connection/#mysql_native_password-plugin>.

use sha1::{Digest, Sha1};
use std::fmt;
use subtle::ConstantTimeEq;

/// Length of the scramble, of the hash and of the response.
pub const SCRAMBLE_BYTES: usize = 20;

/// The random bytes that a server sends for mysql_native_password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scramble([u8; SCRAMBLE_BYTES]);

impl Scramble {
    /// Makes a scramble of 20 random bytes: seven bits each, never NUL (which ends strings for
    /// some clients) and never `$` (which ends the parts of stored hashes).
    pub fn from_random(mut random: [u8; SCRAMBLE_BYTES]) -> Self {
        for byte in &mut random {
            *byte &= 0x7F;
            if matches!(*byte, 0 | b'$') {
                *byte += 1;
            }
        }
        Self(random)
    }

    /// The bytes as the greeting has them.
    pub fn as_bytes(&self) -> &[u8; SCRAMBLE_BYTES] {
        &self.0
    }

    /// The bytes with a NUL behind, as an AuthSwitchRequest has them.
    pub fn with_nul(&self) -> [u8; SCRAMBLE_BYTES + 1] {
        let mut bytes = [0; SCRAMBLE_BYTES + 1];
        bytes[..SCRAMBLE_BYTES].copy_from_slice(&self.0);
        bytes
    }
}

/// A stored password: `SHA1(SHA1(password))`, shown as `*` and 40 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NativePasswordHash([u8; SCRAMBLE_BYTES]);

impl NativePasswordHash {
    /// The hash of a password; an empty password has none.
    pub fn of_password(password: &[u8]) -> Option<Self> {
        (!password.is_empty()).then(|| Self(sha1(&[&sha1(&[password])])))
    }

    /// Reads `*` and 40 hexadecimal digits, as mysql.global_priv has them.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('*')?.as_bytes();
        if digits.len() != 2 * SCRAMBLE_BYTES {
            return None;
        }
        let mut hash = [0; SCRAMBLE_BYTES];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |d: u8| char::from(d).to_digit(16);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Some(Self(hash))
    }

    /// Whether a client's response proves that it knows the password. Takes the same time for
    /// every response of the right length.
    ///
    /// An account without a password has no hash: there the response must be empty.
    pub fn check(&self, scramble: &[u8], response: &[u8]) -> bool {
        let Ok(mut proof) = <[u8; SCRAMBLE_BYTES]>::try_from(response) else {
            return false;
        };
        xor(&mut proof, &sha1(&[scramble, &self.0]));
        sha1(&[&proof]).ct_eq(&self.0).into()
    }
}

impl fmt::Display for NativePasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("*")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for NativePasswordHash {
    /// Hashes do not belong in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NativePasswordHash(..)")
    }
}

/// The client's half: its response to a scramble. Empty for an empty password.
pub fn native_password_response(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let mut response = sha1(&[password]);
    let stored = sha1(&[&response]);
    xor(&mut response, &sha1(&[scramble, &stored]));
    response.to_vec()
}

fn sha1(parts: &[&[u8]]) -> [u8; SCRAMBLE_BYTES] {
    let mut hasher = Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

fn xor(bytes: &mut [u8; SCRAMBLE_BYTES], with: &[u8; SCRAMBLE_BYTES]) {
    bytes
        .iter_mut()
        .zip(with)
        .for_each(|(byte, other)| *byte ^= other);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `SELECT PASSWORD('secret')` gives.
    const SECRET: &str = "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7";

    #[test]
    fn stored_form() {
        let hash = NativePasswordHash::of_password(b"secret").unwrap();
        assert_eq!(hash.to_string(), SECRET);
        assert_eq!(NativePasswordHash::parse(SECRET), Some(hash));
        assert_eq!(
            NativePasswordHash::parse(&SECRET.to_lowercase()),
            Some(hash)
        );
        assert_eq!(NativePasswordHash::parse(&SECRET[..40]), None);
        assert_eq!(NativePasswordHash::parse(&SECRET.replace('E', "G")), None);
        assert_eq!(NativePasswordHash::of_password(b""), None);
    }

    #[test]
    fn only_the_right_password_passes() {
        let scramble = Scramble::from_random(*b"01234567890123456789");
        let hash = NativePasswordHash::of_password(b"secret").unwrap();
        let response = native_password_response(b"secret", scramble.as_bytes());
        assert!(hash.check(scramble.as_bytes(), &response));
        assert!(!hash.check(b"another scramble....", &response));
        assert!(!hash.check(scramble.as_bytes(), &response[..19]));
        assert!(!hash.check(scramble.as_bytes(), b""));
        let wrong = native_password_response(b"Secret", scramble.as_bytes());
        assert!(!hash.check(scramble.as_bytes(), &wrong));
    }

    #[test]
    fn scrambles_have_no_special_bytes() {
        let mut random = [0; SCRAMBLE_BYTES];
        random[..4].copy_from_slice(&[0, 0x80, b'$', b'$' | 0x80]);
        let scramble = Scramble::from_random(random);
        assert!(
            scramble
                .as_bytes()
                .iter()
                .all(|&b| b < 0x80 && b != 0 && b != b'$')
        );
    }
}
