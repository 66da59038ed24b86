//! Comparing, hashing and sort keys, given a collation's tables.
//!
//! Under PAD SPACE the shorter text counts as followed by endless spaces, so `'a\t' < 'a'`: the end of
//! a text sorts where a space does, not before everything. Sort keys keep that under `memcmp`: each
//! space weight is followed by one byte that says what comes after the run of spaces that it belongs
//! to, and the end of the text is written as a space weight with a byte of its own in the middle:
//!
//! | bytes | meaning |
//! |---|---|
//! | space, [`RUN_THEN_LESS`] | a space; after the run comes a weight below space |
//! | space, [`END`] | the end, after any number of spaces (none of which are written) |
//! | space, [`RUN_THEN_MORE`] | a space; after the run comes a weight above space |
//!
//! Where one key has its end, another has either a weight unlike space, which decides as `compare`
//! does; or a space in a run, whose byte decides by the first weight that is not a space. Two runs
//! with the same byte meet a weight unlike space first where the shorter run stops. No key is the
//! beginning of another.

use std::cmp::Ordering;

use super::table::{Table, Weights};
use super::utf8;

/// After a space: the run of spaces is followed by a lower weight.
pub(crate) const RUN_THEN_LESS: u8 = 1;
/// After a space: the text ends here.
pub(crate) const END: u8 = 2;
/// After a space: the run of spaces is followed by a higher weight.
pub(crate) const RUN_THEN_MORE: u8 = 3;
/// NO PAD: what follows a zero byte that belongs to the text; a zero ends it.
pub(crate) const ZERO_ESCAPE: u8 = 0xFF;

/// Compares bytes; with `pad` as if the shorter went on with spaces.
pub(super) fn compare_bytes(a: &[u8], b: &[u8], pad: bool) -> Ordering {
    if !pad {
        return a.cmp(b);
    }
    let n = a.len().min(b.len());
    let tail_against_spaces = |tail: &[u8]| tail.iter().find(|&&x| x != b' ').map_or(Ordering::Equal, |x| x.cmp(&b' '));
    a[..n].cmp(&b[..n]).then_with(|| tail_against_spaces(&a[n..])).then_with(|| tail_against_spaces(&b[n..]).reverse())
}

/// Compares where every character has one weight.
pub(super) fn compare_single(t: &Table, a: &[u8], b: &[u8], pad: bool) -> Ordering {
    let start = utf8::common_prefix(a, b);
    let (mut i, mut j) = (start, start);
    while i < a.len() && j < b.len() {
        let (ca, na) = utf8::decode(a, i);
        let (cb, nb) = utf8::decode(b, j);
        let order = t.weight(ca).cmp(&t.weight(cb));
        if order.is_ne() {
            return order;
        }
        i += na;
        j += nb;
    }
    let against_spaces = |text: &[u8]| {
        if !pad && !text.is_empty() {
            return Ordering::Greater;
        }
        utf8::chars(text).map(|c| t.weight(c).cmp(&t.space)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    };
    against_spaces(&a[i..]).then_with(|| against_spaces(&b[j..]).reverse())
}

/// Compares one level where characters have any number of weights.
pub(super) fn compare_many(t: &Table, a: &[u8], b: &[u8], pad: bool) -> Ordering {
    let end = if pad { t.space } else { 0 };
    let (mut wa, mut wb) = (Weights::new(t, a), Weights::new(t, b));
    loop {
        let (x, y) = (wa.next_weight(), wb.next_weight());
        if x == 0 && y == 0 {
            return Ordering::Equal;
        }
        let order = (if x == 0 { end } else { x }).cmp(&if y == 0 { end } else { y });
        if order.is_ne() {
            return order;
        }
    }
}

/// Where sort keys are written: a vector, or a hash's buffer.
pub(super) trait Sink {
    fn put(&mut self, b: u8);
    fn put_all(&mut self, b: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, b: u8) {
        self.push(b);
    }
    #[inline]
    fn put_all(&mut self, b: &[u8]) {
        self.extend_from_slice(b);
    }
}

impl Sink for smallvec::SmallVec<[u8; 256]> {
    #[inline]
    fn put(&mut self, b: u8) {
        self.push(b);
    }
    #[inline]
    fn put_all(&mut self, b: &[u8]) {
        self.extend_from_slice(b);
    }
}

/// Writes weights: compact ones in the manner of UTF-8 (order-preserving, one byte for ASCII), the
/// others as two bytes, big-endian.
#[inline]
fn put_weight(w: u16, compact: bool, out: &mut impl Sink) {
    if !compact {
        out.put_all(&w.to_be_bytes());
    } else if w < 0x80 {
        out.put(w as u8);
    } else if w < 0x800 {
        out.put_all(&[0xC0 | (w >> 6) as u8, 0x80 | (w & 0x3F) as u8]);
    } else {
        out.put_all(&[0xE0 | (w >> 12) as u8, 0x80 | (w >> 6 & 0x3F) as u8, 0x80 | (w & 0x3F) as u8]);
    }
}

/// The state between the weights of one text.
struct KeyWriter<'o, S: Sink> {
    out: &'o mut S,
    space: u16,
    compact: bool,
    pad: bool,
    /// Spaces that wait for what follows them.
    run: usize,
}

impl<S: Sink> KeyWriter<'_, S> {
    #[inline]
    fn weight(&mut self, w: u16) {
        if self.pad {
            if w == self.space {
                self.run += 1;
                return;
            }
            if self.run > 0 {
                self.flush(if w < self.space { RUN_THEN_LESS } else { RUN_THEN_MORE });
            }
            put_weight(w, self.compact, self.out);
        } else {
            put_weight(w, self.compact, self.out);
            if w == 0 {
                self.out.put(ZERO_ESCAPE);
            }
        }
    }

    /// Takes the ASCII characters at the start of `text` up to a space or a zero, whose weights are bytes;
    /// returns how many there were.
    #[inline]
    fn ascii_run(&mut self, t: &Table, text: &[u8]) -> usize {
        let mut done = 0;
        let mut block = [0u8; 64];
        loop {
            let mut n = 0;
            for (to, &b) in block.iter_mut().zip(&text[done..]) {
                if !(1..0x80).contains(&b) || b == b' ' {
                    break;
                }
                *to = t.ascii_weight(b);
                n += 1;
            }
            if n == 0 {
                return done;
            }
            if self.run > 0 {
                let below = (block[0] as u16) < self.space;
                self.flush(if below { RUN_THEN_LESS } else { RUN_THEN_MORE });
            }
            self.out.put_all(&block[..n]);
            done += n;
            if n < block.len() {
                return done;
            }
        }
    }

    fn flush(&mut self, mark: u8) {
        for _ in 0..std::mem::take(&mut self.run) {
            put_weight(self.space, self.compact, self.out);
            self.out.put(mark);
        }
    }

    fn end(self) {
        if self.pad {
            put_weight(self.space, self.compact, self.out);
            self.out.put(END);
        } else {
            self.out.put_all(&[0, 0]);
        }
    }
}

/// Appends the sort key of one level; `ended`: with its terminator.
pub(super) fn key_of(t: &Table, text: &[u8], pad: bool, ended: bool, out: &mut impl Sink) {
    let mut key = KeyWriter { out, space: t.space, compact: t.compact, pad, run: 0 };
    if t.single {
        let mut i = 0;
        loop {
            if t.ascii_bytes {
                i += key.ascii_run(t, &text[i..]);
            }
            if i >= text.len() {
                break;
            }
            let (c, n) = utf8::decode(text, i);
            key.weight(t.weight(c));
            i += n;
        }
    } else {
        let mut weights = Weights::new(t, text);
        loop {
            match weights.next_weight() {
                0 => break,
                w => key.weight(w),
            }
        }
    }
    if ended {
        key.end();
    }
}

/// Appends the sort key of a text that sorts by its bytes.
pub(super) fn key_of_bytes(text: &[u8], pad: bool, ended: bool, out: &mut impl Sink) {
    if pad {
        let mut rest = trim_spaces(text);
        while let Some(at) = memchr::memchr(b' ', rest) {
            out.put_all(&rest[..at]);
            let run = rest[at..].iter().take_while(|&&b| b == b' ').count();
            // A space run that is not at the end is followed by something else.
            let next = rest.get(at + run).copied().unwrap_or(0);
            let mark = if next < b' ' { RUN_THEN_LESS } else { RUN_THEN_MORE };
            (0..run).for_each(|_| out.put_all(&[b' ', mark]));
            rest = &rest[at + run..];
        }
        out.put_all(rest);
        if ended {
            out.put_all(&[b' ', END]);
        }
    } else {
        let mut rest = text;
        while let Some(at) = memchr::memchr(0, rest) {
            out.put_all(&rest[..=at]);
            out.put(ZERO_ESCAPE);
            rest = &rest[at + 1..];
        }
        out.put_all(rest);
        if ended {
            out.put_all(&[0, 0]);
        }
    }
}

/// The text without trailing spaces.
pub(crate) fn trim_spaces(text: &[u8]) -> &[u8] {
    let n = text.iter().rev().take_while(|&&b| b == b' ').count();
    &text[..text.len() - n]
}

/// Length of the sort key at the start of `bytes`, terminator included, without reading weights.
/// `invert` is xored onto each byte (0xFF under DESC). `None` if it has no end.
pub(super) fn key_len(bytes: &[u8], space: u16, compact: bool, pad: bool, invert: u8) -> Option<usize> {
    let mut at = 0;
    if !pad && compact {
        loop {
            at += memchr::memchr(invert, &bytes[at..])?;
            at += 2;
            if *bytes.get(at - 1)? ^ invert == 0 {
                return Some(at);
            }
        }
    }
    if compact {
        let mark = space as u8 ^ invert;
        loop {
            at += memchr::memchr(mark, &bytes[at..])?;
            at += 2;
            if *bytes.get(at - 1)? ^ invert == END {
                return Some(at);
            }
        }
    }
    let space = space.to_be_bytes().map(|b| b ^ invert);
    loop {
        let pair = bytes.get(at..at + 2)?;
        at += 2;
        if !pad && pair == [invert, invert] {
            return Some(at);
        }
        if pad && pair == space {
            at += 1;
            if *bytes.get(at - 1)? ^ invert == END {
                return Some(at);
            }
        }
    }
}
