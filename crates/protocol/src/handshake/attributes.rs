//! Connection attributes: what a client tells about itself, as pairs of texts.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// A list of attributes in its encoded form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectAttributes<'a> {
    encoded: &'a [u8],
}

impl<'a> ConnectAttributes<'a> {
    /// The names and values in the client's order. Ends before the first pair that is cut off:
    /// attributes are for information, so a login does not fail by them.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut list = Payload::new(self.encoded);
        std::iter::from_fn(move || {
            let name = list.lenenc_bytes("attribute's name").ok()?;
            let value = list.lenenc_bytes("attribute's value").ok()?;
            Some((name, value))
        })
    }

    /// Encodes a list, to be borrowed by [`from_encoded`](Self::from_encoded).
    pub fn encode(pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = SendBuffer::new();
        for (name, value) in pairs {
            out.put_lenenc_bytes(name);
            out.put_lenenc_bytes(value);
        }
        out.pending().to_vec()
    }

    /// The list that [`encode`](Self::encode) made.
    pub fn from_encoded(encoded: &'a [u8]) -> Self {
        Self { encoded }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.encoded.is_empty()
    }

    /// Length of the encoded list, for performance_schema_session_connect_attrs_size.
    pub fn encoded_bytes(&self) -> usize {
        self.encoded.len()
    }

    pub(super) fn take(fields: &mut Payload<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            encoded: fields.lenenc_bytes("connection attributes")?,
        })
    }

    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_lenenc_bytes(self.encoded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_pair_is_left_out() {
        let encoded = ConnectAttributes::encode(&[(b"_os", b"Linux"), (b"_pid", b"77")]);
        let all: Vec<_> = ConnectAttributes::from_encoded(&encoded).iter().collect();
        assert_eq!(all, [(&b"_os"[..], &b"Linux"[..]), (b"_pid", b"77")]);
        let cut = ConnectAttributes::from_encoded(&encoded[..encoded.len() - 1]);
        assert_eq!(cut.iter().count(), 1);
    }
}
