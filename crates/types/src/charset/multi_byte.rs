//! The sets of East Asia whose characters take one to three bytes.

use super::table::PageMap;

/// One such set.
pub(super) struct MultiSet {
    /// Two-byte codes to characters, 0 where none.
    two: PageMap,
    /// Codes of three bytes, the first of which is 0x8F: the other two to characters.
    three: PageMap,
    /// Single bytes above 127 to characters.
    one: PageMap,
    /// Characters to codes, without 0x8F for those of three bytes.
    codes: PageMap,
}

/// The set of that name.
pub(super) fn get(_name: &str) -> Option<&'static MultiSet> {
    None
}

impl MultiSet {
    /// Appends a character's bytes; false if the set lacks it.
    pub fn put(&self, c: u32, out: &mut Vec<u8>) -> bool {
        if c < 0x80 {
            out.push(c as u8);
            return true;
        }
        match self.codes.get(c) {
            None | Some(0) => false,
            Some(code) if code < 0x100 => {
                out.push(code as u8);
                true
            }
            Some(code) => {
                // A code that is none of two bytes is one of three.
                if self.two.get(code as u32).unwrap_or(0) as u32 != c && self.three.get(code as u32).is_some_and(|x| x != 0) {
                    out.push(0x8F);
                }
                out.extend(code.to_be_bytes());
                true
            }
        }
    }

    /// The first character of non-empty bytes and its length.
    pub fn take(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let &first = bytes.first()?;
        if first < 0x80 {
            return Some((first as u32, 1));
        }
        let found = |map: &PageMap, code: u32, n: usize| map.get(code).filter(|&c| c != 0).map(|c| (c as u32, n));
        let pair = |i: usize| Some(u16::from_be_bytes([*bytes.get(i)?, *bytes.get(i + 1)?]) as u32);
        if first == 0x8F
            && let Some(c) = pair(1).and_then(|code| found(&self.three, code, 3))
        {
            return Some(c);
        }
        pair(0).and_then(|code| found(&self.two, code, 2)).or_else(|| found(&self.one, first as u32, 1))
    }
}
