//! Bytes of a character set to and from UTF-8.

use std::borrow::Cow;

use super::multi_byte::{self, MultiSet};
use super::single_byte::{self, ByteSet};
use super::{Charset, utf8};

/// How a set writes its characters.
pub(super) enum Coding {
    Binary,
    /// UTF-8 of characters below a limit.
    Utf8 {
        limit: u32,
    },
    Single(&'static ByteSet),
    Multi(&'static MultiSet),
    /// Two bytes, big-endian, no surrogates.
    Ucs2,
    Utf16 {
        little: bool,
    },
    Utf32,
}

impl Coding {
    pub fn of(set: Charset) -> Coding {
        match set {
            Charset::Binary => Coding::Binary,
            Charset::Utf8mb4 => Coding::Utf8 { limit: 0x110000 },
            Charset::Utf8mb3 => Coding::Utf8 { limit: 0x10000 },
            Charset::Ascii => Coding::Utf8 { limit: 0x80 },
            Charset::Ucs2 => Coding::Ucs2,
            Charset::Utf16 => Coding::Utf16 { little: false },
            Charset::Utf16le => Coding::Utf16 { little: true },
            Charset::Utf32 => Coding::Utf32,
            other => match (single_byte::get(other.name()), multi_byte::get(other.name())) {
                (Some(s), _) => Coding::Single(s),
                (_, Some(m)) => Coding::Multi(m),
                // The sets' data is part of the program; a test looks at every set.
                _ => Coding::Binary,
            },
        }
    }

    /// Whether ASCII text has the same bytes.
    fn keeps_ascii(&self) -> bool {
        match self {
            Coding::Binary | Coding::Utf8 { .. } | Coding::Multi(_) => true,
            Coding::Single(s) => s.ascii,
            _ => false,
        }
    }

    /// Appends a character's bytes; false (and nothing) if the set lacks it.
    fn put(&self, c: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Coding::Binary => utf8::push(out, c),
            Coding::Utf8 { limit } if c < *limit => utf8::push(out, c),
            Coding::Utf8 { .. } => return false,
            Coding::Single(s) => match s.byte_of(c) {
                Some(b) => out.push(b),
                None => return false,
            },
            Coding::Multi(m) => return m.put(c, out),
            Coding::Ucs2 if c < 0x10000 => out.extend((c as u16).to_be_bytes()),
            Coding::Ucs2 => return false,
            Coding::Utf16 { little } => {
                let mut units = [0u16; 2];
                let c = char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER);
                for u in c.encode_utf16(&mut units) {
                    out.extend(if *little { u.to_le_bytes() } else { u.to_be_bytes() });
                }
            }
            Coding::Utf32 => out.extend(c.to_be_bytes()),
        }
        true
    }

    /// Whether the set has a character.
    pub fn holds(&self, c: u32) -> bool {
        self.put(c, &mut Vec::with_capacity(4))
    }

    /// UTF-8 to this set; how many characters became `?`.
    pub fn encode<'a>(&self, text: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        if matches!(self, Coding::Binary | Coding::Utf8 { limit: 0x110000 }) || self.keeps_ascii() && text.is_ascii() {
            return (Cow::Borrowed(text), 0);
        }
        if let Coding::Utf8 { limit: 0x10000 } = self
            && !text.iter().any(|&b| b >= 0xF0)
        {
            return (Cow::Borrowed(text), 0);
        }
        let mut out = Vec::with_capacity(text.len());
        let mut lost = 0;
        for c in utf8::chars(text) {
            if !self.put(c, &mut out) {
                self.put('?' as u32, &mut out);
                lost += 1;
            }
        }
        (Cow::Owned(out), lost)
    }

    /// How many characters [`Self::encode`] would lose is zero.
    pub fn can_hold(&self, text: &[u8]) -> bool {
        match self {
            Coding::Binary => true,
            Coding::Utf8 { limit: 0x110000 } => true,
            Coding::Utf8 { limit: 0x10000 } => !text.iter().any(|&b| b >= 0xF0),
            _ if self.keeps_ascii() && text.is_ascii() => true,
            _ => utf8::chars(text).all(|c| self.holds(c)),
        }
    }

    /// Bytes that the text takes in this set (a lost character as its `?`).
    pub fn byte_len(&self, text: &[u8]) -> usize {
        match self {
            Coding::Binary | Coding::Utf8 { limit: 0x110000 } => text.len(),
            Coding::Utf8 { limit: 0x10000 } if self.can_hold(text) => text.len(),
            Coding::Single(_) | Coding::Utf8 { limit: 0x80 } => utf8::count(text),
            Coding::Ucs2 => 2 * utf8::count(text),
            Coding::Utf32 => 4 * utf8::count(text),
            Coding::Utf16 { .. } => utf8::chars(text).map(|c| if c < 0x10000 { 2 } else { 4 }).sum(),
            _ => self.encode(text).0.len(),
        }
    }

    /// Bytes of this set to UTF-8; the offset of the first that are no character.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, usize> {
        match self {
            Coding::Binary => return Ok(Cow::Borrowed(bytes)),
            Coding::Utf8 { limit } => {
                let valid = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), |_| bytes.len());
                let too_long = match limit {
                    0x80 => bytes[..valid].iter().position(|&b| b >= 0x80),
                    0x10000 => bytes[..valid].iter().position(|&b| b >= 0xF0),
                    _ => None,
                };
                return match too_long {
                    Some(at) => Err(at),
                    None if valid < bytes.len() => Err(valid),
                    None => Ok(Cow::Borrowed(bytes)),
                };
            }
            _ if self.keeps_ascii() && bytes.is_ascii() => return Ok(Cow::Borrowed(bytes)),
            _ => {}
        }
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 2);
        let mut pos = 0;
        while pos < bytes.len() {
            let (c, n) = self.take(&bytes[pos..]).ok_or(pos)?;
            utf8::push(&mut out, c);
            pos += n;
        }
        Ok(Cow::Owned(out))
    }

    /// The first character of non-empty bytes and its length.
    fn take(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let unit = |i: usize, little: bool| {
            let b = [*bytes.get(i)?, *bytes.get(i + 1)?];
            Some(if little { u16::from_le_bytes(b) } else { u16::from_be_bytes(b) } as u32)
        };
        match self {
            Coding::Single(s) => Some((s.char_of(*bytes.first()?)?, 1)),
            Coding::Multi(m) => m.take(bytes),
            Coding::Ucs2 => unit(0, false).filter(|c| !(0xD800..0xE000).contains(c)).map(|c| (c, 2)),
            Coding::Utf16 { little } => match unit(0, *little)? {
                high @ 0xD800..0xDC00 => {
                    let low = unit(2, *little).filter(|c| (0xDC00..0xE000).contains(c))?;
                    Some((0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), 4))
                }
                0xDC00..0xE000 => None,
                c => Some((c, 2)),
            },
            Coding::Utf32 => {
                let b: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
                let c = u32::from_be_bytes(b);
                char::from_u32(c).map(|c| (c as u32, 4))
            }
            Coding::Binary | Coding::Utf8 { .. } => Some(utf8::decode(bytes, 0)),
        }
    }
}
