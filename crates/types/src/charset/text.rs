//! Strings by characters: lengths, parts, reversal, trimming; and LIKE patterns known beforehand.
//!
//! Positions and lengths are in characters of the collation's set: bytes for `binary`, characters of
//! UTF-8 for all others.

use super::{Collation, like, utf8};

impl Collation {
    /// CHAR_LENGTH.
    pub fn char_length(self, text: &[u8]) -> usize {
        if self.is_binary() { text.len() } else { utf8::count(text) }
    }

    /// Byte offset of character number `n` (0-based), or the text's length where there are fewer.
    pub fn offset_of(self, text: &[u8], n: usize) -> usize {
        if self.is_binary() { n.min(text.len()) } else { utf8::offset_of(text, n) }
    }

    /// The part of at most `len` characters from character `start` (0-based).
    pub fn substring(self, text: &[u8], start: usize, len: usize) -> &[u8] {
        let rest = &text[self.offset_of(text, start)..];
        &rest[..self.offset_of(rest, len)]
    }

    /// The first `len` characters, as in prefix indexes.
    pub fn prefix(self, text: &[u8], len: usize) -> &[u8] {
        &text[..self.offset_of(text, len)]
    }

    /// REVERSE: the characters in the other order.
    pub fn reverse(self, text: &[u8]) -> Vec<u8> {
        if self.is_binary() || text.is_ascii() {
            return text.iter().rev().copied().collect();
        }
        let mut out = vec![0; text.len()];
        let (mut pos, mut end) = (0, text.len());
        while pos < text.len() {
            let n = utf8::len_at(text, pos);
            out[end - n..end].copy_from_slice(&text[pos..pos + n]);
            pos += n;
            end -= n;
        }
        out
    }

    /// Byte offset at which `needle` occurs in `text` at or after byte `from`, under the collation's rules
    /// (LOCATE, INSTR). Compared character by character.
    pub fn find(self, text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        if self.sorts_by_bytes() || needle.is_empty() {
            return memchr::memmem::find(rest, needle).map(|at| from + at);
        }
        let needle: Vec<u32> = utf8::chars(needle).collect();
        let mut pos = from;
        while pos < text.len() {
            let mut here = utf8::chars(&text[pos..]);
            if needle.iter().all(|&c| here.next().is_some_and(|d| self.same_char(c, d))) {
                return Some(pos);
            }
            pos += utf8::len_at(text, pos);
        }
        None
    }

    /// Whether two characters compare equal.
    pub fn same_char(self, a: u32, b: u32) -> bool {
        use super::registry::Order;
        a == b
            || match self.info().order() {
                Order::Bytes => false,
                Order::Single(t) => t.weight(a) == t.weight(b),
                Order::Many(levels) => levels.iter().enumerate().all(|(i, t)| t.same(a, b, i > 0)),
            }
    }

    /// The text without trailing spaces.
    pub fn trim_end(self, text: &[u8]) -> &[u8] {
        super::order::trim_spaces(text)
    }
}

/// A LIKE pattern prepared once for many texts.
#[derive(Debug, Clone)]
pub struct LikePattern {
    collation: Collation,
    pattern: Vec<u8>,
    escape: Option<char>,
    shape: Shape,
}

/// Patterns that need no walking by characters: of collations that compare bytes.
#[derive(Debug, Clone)]
enum Shape {
    Exact(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Box<memchr::memmem::Finder<'static>>),
    General,
}

impl LikePattern {
    /// Prepares a pattern.
    pub fn new(collation: Collation, pattern: &[u8], escape: Option<char>) -> LikePattern {
        let shape = if collation.sorts_by_bytes() { Shape::of(pattern, collation, escape) } else { Shape::General };
        LikePattern { collation, pattern: pattern.to_vec(), escape, shape }
    }

    /// Whether the text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        match &self.shape {
            Shape::Exact(s) => text == s.as_slice(),
            Shape::Prefix(s) => text.starts_with(s),
            Shape::Suffix(s) => text.ends_with(s),
            Shape::Contains(f) => f.find(text).is_some(),
            Shape::General => self.collation.like(text, &self.pattern, self.escape),
        }
    }

    /// The text that every match begins with (under the collation's rules), and whether the pattern is
    /// nothing more: for index ranges, with [`Collation::weights_prefix`].
    pub fn literal_prefix(&self) -> (Vec<u8>, bool) {
        like::literal_prefix(&self.pattern, self.collation.is_binary(), self.escape)
    }
}

impl Shape {
    fn of(pattern: &[u8], collation: Collation, escape: Option<char>) -> Shape {
        let (prefix, whole) = like::literal_prefix(pattern, collation.is_binary(), escape);
        if whole {
            return Shape::Exact(prefix);
        }
        let special = |b: &u8| *b == b'%' || *b == b'_' || escape.is_some_and(|e| !e.is_ascii() || *b == e as u8);
        let plain = |s: &[u8]| !s.iter().any(special);
        match pattern {
            [head @ .., b'%'] if plain(head) => Shape::Prefix(prefix),
            [b'%', tail @ ..] if plain(tail) => Shape::Suffix(tail.to_vec()),
            [b'%', inner @ .., b'%'] if plain(inner) => {
                Shape::Contains(Box::new(memchr::memmem::Finder::new(inner).into_owned()))
            }
            _ => Shape::General,
        }
    }
}
