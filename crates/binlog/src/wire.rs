//! Reading and writing of the little-endian integers, length-encoded numbers and strings that
//! events are made of.

use bytes::Bytes;

use crate::DecodeError;

/// A cursor over an event's bytes. Every method fails with [`DecodeError::Truncated`] when the
/// bytes end early; `what` names the field in that error.
#[derive(Debug, Clone)]
pub struct WireReader<'a> {
    rest: &'a [u8],
}

impl<'a> WireReader<'a> {
    /// A cursor at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        WireReader { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        if n > self.rest.len() {
            return Err(DecodeError::Truncated {
                what,
                need: n,
                have: self.rest.len(),
            });
        }
        let (head, tail) = self.rest.split_at(n);
        self.rest = tail;
        Ok(head)
    }

    /// All that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let have = self.rest.len();
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(DecodeError::Truncated {
                what,
                need: N,
                have,
            }),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Three bytes.
    #[inline]
    pub fn u24(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        let [a, b, c] = self.array(what)?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Six bytes (table ids).
    pub fn u48(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let [a, b, c, d, e, f] = self.array(what)?;
        Ok(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// `n` bytes (1 to 8), least significant first.
    pub fn uint_le(&mut self, n: usize, what: &'static str) -> Result<u64, DecodeError> {
        let mut word = [0u8; 8];
        let bytes = self.take(n, what)?;
        word.get_mut(..n)
            .ok_or(DecodeError::Malformed { what })?
            .copy_from_slice(bytes);
        Ok(u64::from_le_bytes(word))
    }

    /// `n` bytes (1 to 8), most significant first.
    pub fn uint_be(&mut self, n: usize, what: &'static str) -> Result<u64, DecodeError> {
        if n > 8 {
            return Err(DecodeError::Malformed { what });
        }
        Ok(self
            .take(n, what)?
            .iter()
            .fold(0, |acc, b| acc << 8 | u64::from(*b)))
    }

    /// A length-encoded integer: one byte up to 250, or a marker 252, 253, 254 and 2, 3, 8 bytes.
    pub fn lenenc(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        match self.u8(what)? {
            n @ 0..=250 => Ok(u64::from(n)),
            252 => Ok(u64::from(self.u16(what)?)),
            253 => Ok(u64::from(self.u24(what)?)),
            254 => self.u64(what),
            _ => Err(DecodeError::Malformed { what }),
        }
    }

    /// A length-encoded integer that counts things in memory.
    pub fn lenenc_usize(&mut self, what: &'static str) -> Result<usize, DecodeError> {
        usize::try_from(self.lenenc(what)?).map_err(|_| DecodeError::Malformed { what })
    }

    /// A length-encoded string.
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let n = self.lenenc_usize(what)?;
        self.take(n, what)
    }

    /// A string behind one byte of length.
    pub fn bytes_u8(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let n = self.u8(what)?;
        self.take(usize::from(n), what)
    }

    /// One byte that must be zero.
    pub fn zero(&mut self, what: &'static str) -> Result<(), DecodeError> {
        if self.u8(what)? == 0 {
            Ok(())
        } else {
            Err(DecodeError::Malformed { what })
        }
    }
}

/// UTF-8 text of a name.
pub(crate) fn utf8(bytes: &[u8], what: &'static str) -> Result<String, DecodeError> {
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| DecodeError::Malformed { what })
}

/// The part of `whole` that `part` (a slice of it) covers, sharing its memory.
pub(crate) fn share(whole: &Bytes, part: &[u8]) -> Bytes {
    if part.is_empty() {
        Bytes::new()
    } else {
        whole.slice_ref(part)
    }
}

/// Appending of the same shapes.
pub trait WirePut {
    /// One byte.
    fn put_u8(&mut self, v: u8);
    /// Bytes as they are.
    fn put_slice(&mut self, v: &[u8]);
    /// Two bytes.
    fn put_u16(&mut self, v: u16) {
        self.put_slice(&v.to_le_bytes());
    }
    /// Three bytes.
    fn put_u24(&mut self, v: u32) {
        self.put_slice(&v.to_le_bytes()[..3]);
    }
    /// Four bytes.
    fn put_u32(&mut self, v: u32) {
        self.put_slice(&v.to_le_bytes());
    }
    /// Six bytes.
    fn put_u48(&mut self, v: u64) {
        self.put_slice(&v.to_le_bytes()[..6]);
    }
    /// Eight bytes.
    fn put_u64(&mut self, v: u64) {
        self.put_slice(&v.to_le_bytes());
    }
    /// The low `n` bytes, most significant first.
    fn put_uint_be(&mut self, v: u64, n: usize) {
        self.put_slice(&v.to_be_bytes()[8 - n.min(8)..]);
    }
    /// The low `n` bytes, least significant first.
    fn put_uint_le(&mut self, v: u64, n: usize) {
        self.put_slice(&v.to_le_bytes()[..n.min(8)]);
    }
    /// A length-encoded integer.
    fn put_lenenc(&mut self, v: u64) {
        match v {
            0..=250 => self.put_u8(v as u8),
            251..=0xffff => {
                self.put_u8(252);
                self.put_u16(v as u16);
            }
            0x1_0000..=0xff_ffff => {
                self.put_u8(253);
                self.put_u24(v as u32);
            }
            _ => {
                self.put_u8(254);
                self.put_u64(v);
            }
        }
    }
    /// A string behind its length-encoded length.
    fn put_lenenc_bytes(&mut self, v: &[u8]) {
        self.put_lenenc(v.len() as u64);
        self.put_slice(v);
    }
}

impl WirePut for Vec<u8> {
    #[inline]
    fn put_u8(&mut self, v: u8) {
        self.push(v);
    }
    #[inline]
    fn put_slice(&mut self, v: &[u8]) {
        self.extend_from_slice(v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_round_trip() {
        for v in [
            0,
            250,
            251,
            0xffff,
            0x1_0000,
            0xff_ffff,
            0x100_0000,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            out.put_lenenc(v);
            let mut r = WireReader::new(&out);
            assert_eq!(r.lenenc("n"), Ok(v));
            assert!(r.is_empty());
        }
        assert!(WireReader::new(&[251]).lenenc("n").is_err());
        assert!(WireReader::new(&[252, 1]).lenenc("n").is_err());
    }
}
