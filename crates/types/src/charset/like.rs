//! LIKE: `%` any text, `_` any character, everything else itself under the collation's rules.
//!
//! Characters are compared one by one, so that one `%` needs going back at most to the last one: time
//! is bounded by text times pattern, whatever the pattern.

use super::utf8;

/// What a pattern has at one place.
enum Token {
    Any,
    One,
    Char(u32),
    End,
}

/// How characters are read and compared.
pub(super) trait Chars {
    /// The character at `pos`, and its length.
    fn at(&self, text: &[u8], pos: usize) -> (u32, usize);
    /// Whether two characters match.
    fn same(&self, a: u32, b: u32) -> bool;
}

/// Bytes are characters.
pub(super) struct Bytes;

impl Chars for Bytes {
    fn at(&self, text: &[u8], pos: usize) -> (u32, usize) {
        (text[pos] as u32, 1)
    }
    fn same(&self, a: u32, b: u32) -> bool {
        a == b
    }
}

/// UTF-8, compared by a function.
pub(super) struct Utf8<F: Fn(u32, u32) -> bool>(pub F);

impl<F: Fn(u32, u32) -> bool> Chars for Utf8<F> {
    #[inline]
    fn at(&self, text: &[u8], pos: usize) -> (u32, usize) {
        utf8::decode(text, pos)
    }
    #[inline]
    fn same(&self, a: u32, b: u32) -> bool {
        a == b || (self.0)(a, b)
    }
}

fn token(chars: &impl Chars, pattern: &[u8], pos: usize, escape: Option<u32>) -> (Token, usize) {
    if pos >= pattern.len() {
        return (Token::End, pos);
    }
    let (c, n) = chars.at(pattern, pos);
    let next = pos + n;
    if Some(c) == escape && next < pattern.len() {
        let (c, n) = chars.at(pattern, next);
        return (Token::Char(c), next + n);
    }
    match c {
        0x25 => (Token::Any, next),
        0x5F => (Token::One, next),
        _ => (Token::Char(c), next),
    }
}

/// Whether the text matches the pattern.
pub(super) fn matches(chars: &impl Chars, text: &[u8], pattern: &[u8], escape: Option<char>) -> bool {
    let escape = escape.map(u32::from);
    let (mut t, mut p) = (0, 0);
    // Behind the last `%`: the pattern's place, and where in the text it is tried next.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let (tok, next) = token(chars, pattern, p, escape);
        let step = match tok {
            Token::Any => {
                if next == pattern.len() {
                    return true;
                }
                retry = Some((next, t));
                p = next;
                continue;
            }
            Token::End if t == text.len() => return true,
            Token::End => None,
            _ if t >= text.len() => return false,
            Token::One => Some(chars.at(text, t).1),
            Token::Char(c) => {
                let (d, n) = chars.at(text, t);
                Some(n).filter(|_| chars.same(c, d))
            }
        };
        match (step, retry) {
            (Some(n), _) => {
                t += n;
                p = next;
            }
            (None, Some((behind, from))) if from < text.len() => {
                t = from + chars.at(text, from).1;
                retry = Some((behind, t));
                p = behind;
            }
            (None, _) => return false,
        }
    }
}

/// The literal text that every match begins with, and whether the pattern is nothing else.
pub(super) fn literal_prefix(pattern: &[u8], binary: bool, escape: Option<char>) -> (Vec<u8>, bool) {
    let escape = escape.map(u32::from);
    let mut out = Vec::new();
    let mut p = 0;
    loop {
        let (tok, next) =
            if binary { token(&Bytes, pattern, p, escape) } else { token(&Utf8(|_, _| false), pattern, p, escape) };
        match tok {
            Token::End => return (out, true),
            Token::Char(c) if binary => out.push(c as u8),
            Token::Char(c) => utf8::push(&mut out, c),
            Token::Any | Token::One => return (out, false),
        }
        p = next;
    }
}
