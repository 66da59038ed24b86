//! The 8-bit character sets: bytes to characters, case and sort weights.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::case::Case;
use super::table::{PageMap, Reader, Table};

/// A byte that stands for no character.
const NONE: u16 = 0xFFFF;

/// One 8-bit character set.
pub(super) struct ByteSet {
    /// Code point of each byte, [`NONE`] where unassigned.
    to_unicode: [u16; 256],
    /// Byte of each character, plus one; 0 where the set lacks it.
    from_unicode: PageMap,
    /// Whether bytes below 128 are ASCII.
    pub ascii: bool,
    pub case: Case,
    /// Weights of each byte, by collation.
    collations: HashMap<&'static str, Vec<Vec<u8>>>,
}

static SETS: LazyLock<HashMap<&'static str, ByteSet>> = LazyLock::new(|| {
    let mut r = Reader(include_bytes!("data/single_byte.bin"));
    let sets = r.u8();
    (0..sets).map(|_| ByteSet::read(&mut r)).collect()
});

/// The set of that name.
pub(super) fn get(name: &str) -> Option<&'static ByteSet> {
    SETS.get(name)
}

impl ByteSet {
    fn read(r: &mut Reader<'static>) -> (&'static str, ByteSet) {
        let name = r.text();
        let mut to_unicode = [NONE; 256];
        to_unicode.iter_mut().for_each(|c| *c = r.u16());
        let mut from_unicode = PageMap::filled(0, 0x10000);
        // Where two bytes stand for one character, the first is its byte.
        for (b, &c) in to_unicode.iter().enumerate().rev() {
            if c != NONE {
                from_unicode.set(c as u32, b as u16 + 1);
            }
        }
        let mut bytes = || {
            let mut a = [0; 256];
            a.copy_from_slice(r.bytes(256));
            a
        };
        let case = Case::of_bytes(&to_unicode, &bytes(), &bytes());
        let ascii = to_unicode[..128].iter().enumerate().all(|(b, &c)| b == c as usize);
        let collations = (0..r.u8())
            .map(|_| {
                let name = r.text();
                let weights = (0..256)
                    .map(|_| {
                        let n = r.u8() as usize;
                        r.bytes(n).to_vec()
                    })
                    .collect();
                (name, weights)
            })
            .collect();
        (name, ByteSet { to_unicode, from_unicode, ascii, case, collations })
    }

    /// The table of a collation (named without `nopad_`).
    pub fn table(&self, collation: &str) -> Option<Table> {
        let weights = self.collations.get(collation)?;
        if collation.ends_with("_czech_cs") {
            // These sort in several passes over the text, which tables by character do not say. Order by
            // bytes keeps apart what they keep apart.
            let bytes: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).collect();
            return Some(Table::of_bytes(&self.to_unicode, &bytes));
        }
        Some(Table::of_bytes(&self.to_unicode, weights))
    }

    /// The character of a byte.
    #[inline]
    pub fn char_of(&self, b: u8) -> Option<u32> {
        Some(self.to_unicode[b as usize]).filter(|&c| c != NONE).map(u32::from)
    }

    /// The byte of a character.
    #[inline]
    pub fn byte_of(&self, c: u32) -> Option<u8> {
        let b = self.from_unicode.get(c)?;
        b.checked_sub(1).map(|b| b as u8)
    }
}
