//! Walking over UTF-8 that should be valid but need not be.
//!
//! Text comes from columns and clients that were checked once; a byte that is not part of a
//! well-formed character still must not panic: it counts as one character, U+FFFD.

/// What a byte stands for that belongs to no well-formed character.
pub const REPLACEMENT: u32 = 0xFFFD;

/// Reads the character at `pos` and its length in bytes. `pos` must be inside of `text`.
#[inline]
pub fn decode(text: &[u8], pos: usize) -> (u32, usize) {
    let b0 = text[pos];
    if b0 < 0x80 {
        return (b0 as u32, 1);
    }
    decode_long(&text[pos..], b0)
}

fn decode_long(s: &[u8], b0: u8) -> (u32, usize) {
    let tail = |i: usize| s.get(i).filter(|&&b| b & 0xC0 == 0x80).map(|&b| (b & 0x3F) as u32);
    let lead = b0 as u32;
    let read = match b0 {
        0xC2..=0xDF => tail(1).map(|a| ((lead & 0x1F) << 6 | a, 2)),
        0xE0..=0xEF => match (tail(1), tail(2)) {
            (Some(a), Some(b)) => Some(((lead & 0x0F) << 12 | a << 6 | b, 3))
                .filter(|(c, _)| *c >= 0x800 && !(0xD800..0xE000).contains(c)),
            _ => None,
        },
        0xF0..=0xF4 => match (tail(1), tail(2), tail(3)) {
            (Some(a), Some(b), Some(c)) => {
                Some(((lead & 0x07) << 18 | a << 12 | b << 6 | c, 4)).filter(|(c, _)| (0x10000..0x110000).contains(c))
            }
            _ => None,
        },
        _ => None,
    };
    read.unwrap_or((REPLACEMENT, 1))
}

/// Length in bytes of the character at `pos`.
#[inline]
pub fn len_at(text: &[u8], pos: usize) -> usize {
    decode(text, pos).1
}

/// Appends a code point as UTF-8 (U+FFFD for what is none).
#[inline]
pub fn push(out: &mut Vec<u8>, cp: u32) {
    if cp < 0x80 {
        out.push(cp as u8);
    } else {
        let c = char::from_u32(cp).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The characters of a text as code points.
pub fn chars(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut pos = 0;
    std::iter::from_fn(move || {
        if pos >= text.len() {
            return None;
        }
        let (c, n) = decode(text, pos);
        pos += n;
        Some(c)
    })
}

/// Number of characters.
pub fn count(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        // Bytes that begin a character; the compiler turns this into vector code.
        Ok(_) => text.iter().filter(|&&b| b & 0xC0 != 0x80).count(),
        Err(_) => chars(text).count(),
    }
}

/// Byte offset of character number `n` (0-based), or the text's length where there are fewer.
pub fn offset_of(text: &[u8], n: usize) -> usize {
    let ascii = text.len().min(n);
    if text[..ascii].is_ascii() {
        // All characters before the wanted one take a byte.
        return ascii;
    }
    let mut pos = 0;
    for _ in 0..n {
        if pos >= text.len() {
            break;
        }
        pos += len_at(text, pos);
    }
    pos
}

/// Bytes that two texts have in common at the start, cut back to whole characters of both.
#[inline]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let n = a.len().min(b.len());
    let mut i = 0;
    while i + 8 <= n && a[i..i + 8] == b[i..i + 8] {
        i += 8;
    }
    while i < n && a[i] == b[i] {
        i += 1;
    }
    let inside = |s: &[u8]| s.get(i).is_some_and(|&b| b & 0xC0 == 0x80);
    if inside(a) || inside(b) {
        // Back to the character's first byte, of which there are at most three before.
        let before = a[..i].iter().rev().take(3).position(|&b| b & 0xC0 != 0x80);
        return match before {
            Some(back) if a[i - 1 - back] >= 0xC0 => i - 1 - back,
            // Bytes of no character, each for itself.
            _ => i,
        };
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_the_standard_library_does() {
        for c in ['\0', 'a', '\u{7f}', '\u{80}', 'é', '\u{7ff}', '\u{800}', '€', '\u{ffff}', '😀', '\u{10ffff}'] {
            let s = c.to_string();
            assert_eq!(decode(s.as_bytes(), 0), (c as u32, s.len()));
        }
        for bad in [&b"\x80"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xff"] {
            assert_eq!(decode(bad, 0), (REPLACEMENT, 1), "{bad:?}");
        }
    }

    #[test]
    fn prefixes_end_at_characters() {
        assert_eq!(common_prefix("aé".as_bytes(), "aè".as_bytes()), 1);
        assert_eq!(common_prefix("日本".as_bytes(), "日木".as_bytes()), 3);
        assert_eq!(common_prefix(b"abcdefghij", b"abcdefghik"), 9);
        assert_eq!(common_prefix("é".as_bytes(), b""), 0);
        assert_eq!(common_prefix("aéb".as_bytes(), "aé".as_bytes()), 3);
        assert_eq!(offset_of("aéb".as_bytes(), 2), 3);
        assert_eq!(offset_of("abc".as_bytes(), 2), 2);
        assert_eq!(offset_of("é".as_bytes(), 5), 2);
    }
}
