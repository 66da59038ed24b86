//! Reading the fields of a payload. Every read is checked; nothing panics on short input.

use crate::error::DecodeError;

/// What is left of a payload. Reads take from the front; each names its field for the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload<'a> {
    rest: &'a [u8],
}

impl<'a> Payload<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads everything that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Reads `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(*head)
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Reads two bytes, little-endian as everything here.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    /// Reads three bytes.
    #[inline]
    pub fn u24(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let [a, b, c] = self.array(field)?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Reads four bytes.
    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// Reads eight bytes.
    #[inline]
    pub fn u64(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// Reads a length-encoded integer. 0xFB (NULL) and 0xFF start none.
    #[inline]
    pub fn lenenc_int(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        match self.u8(field)? {
            short @ 0..=250 => Ok(short.into()),
            0xFC => Ok(self.u16(field)?.into()),
            0xFD => Ok(self.u24(field)?.into()),
            0xFE => self.u64(field),
            _ => Err(DecodeError::Malformed(
                "length-encoded integer starts with 0xFB or 0xFF",
            )),
        }
    }

    /// Reads bytes with their length before them.
    #[inline]
    pub fn lenenc_bytes(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let length = self.lenenc_int(field)?;
        let length = usize::try_from(length).map_err(|_| DecodeError::Truncated { field })?;
        self.bytes(length, field)
    }

    /// As [`lenenc_bytes`](Self::lenenc_bytes), with 0xFB for NULL (`None`).
    #[inline]
    pub fn lenenc_bytes_or_null(
        &mut self,
        field: &'static str,
    ) -> Result<Option<&'a [u8]>, DecodeError> {
        if self.rest.first() == Some(&0xFB) {
            self.rest = &self.rest[1..];
            return Ok(None);
        }
        self.lenenc_bytes(field).map(Some)
    }

    /// Reads up to a NUL, and the NUL.
    pub fn nul_terminated(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self
            .rest
            .iter()
            .position(|&b| b == 0)
            .ok_or(DecodeError::Truncated { field })?;
        let value = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(value)
    }

    /// Reads up to a NUL, and the NUL, or else everything: some clients leave the last NUL away.
    pub fn nul_terminated_or_rest(&mut self) -> &'a [u8] {
        match self.nul_terminated("") {
            Ok(value) => value,
            Err(_) => self.take_rest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_send_buffer_writes() {
        let mut out = crate::SendBuffer::new();
        out.put_u8(1);
        out.put_u16(0x0302);
        out.put_u24(0x06_0504);
        out.put_u64(u64::MAX - 1);
        out.put_nul_terminated(b"name");
        for value in [
            0,
            250,
            251,
            0xFFFF,
            0x1_0000,
            0xFF_FFFF,
            0x100_0000,
            u64::MAX,
        ] {
            out.put_lenenc_int(value);
        }
        out.put_null();
        let mut payload = Payload::new(out.pending());
        assert_eq!(payload.u8("").unwrap(), 1);
        assert_eq!(payload.u16("").unwrap(), 0x0302);
        assert_eq!(payload.u24("").unwrap(), 0x06_0504);
        assert_eq!(payload.u64("").unwrap(), u64::MAX - 1);
        assert_eq!(payload.nul_terminated("").unwrap(), b"name");
        for value in [
            0,
            250,
            251,
            0xFFFF,
            0x1_0000,
            0xFF_FFFF,
            0x100_0000,
            u64::MAX,
        ] {
            assert_eq!(payload.lenenc_int("").unwrap(), value);
        }
        assert_eq!(payload.lenenc_bytes_or_null("").unwrap(), None);
        assert!(payload.is_empty());
    }

    #[test]
    fn short_input_names_the_field() {
        let mut payload = Payload::new(&[0xFE, 0xFF, 0xFF]);
        assert_eq!(
            payload.lenenc_bytes("password"),
            Err(DecodeError::Truncated { field: "password" })
        );
        let huge = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, b'x'];
        assert!(Payload::new(&huge).lenenc_bytes("password").is_err());
    }
}
