//! Upper and lower case, by MariaDB's tables: one character to one character.

use std::sync::LazyLock;

use super::table::{PageMap, Reader};
use super::utf8;

/// The two mappings of one family of collations.
pub(super) struct Case {
    upper: PageMap,
    lower: PageMap,
}

/// Families of Unicode collations with case tables of their own, in the file's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// General and 4.0.0: BMP only.
    General = 0,
    /// Turkish of 4.0.0: dotted and dotless i.
    Turkish = 1,
    /// 5.2.0.
    V520 = 2,
    /// 14.0.0.
    V1400 = 3,
    /// Turkish of 14.0.0.
    Turkish1400 = 4,
}

impl Family {
    /// The family of a Unicode collation, from its name without the character set.
    pub fn of(name: &str) -> Family {
        match name {
            n if n.starts_with("uca1400_turkish") => Family::Turkish1400,
            n if n.starts_with("uca1400") => Family::V1400,
            n if n.contains("520") || n.starts_with("myanmar") => Family::V520,
            n if n.starts_with("turkish") => Family::Turkish,
            _ => Family::General,
        }
    }
}

static UNICODE: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut r = Reader(include_bytes!("data/case.bin"));
    let tables = r.u8();
    (0..tables).map(|_| Case::read(&mut r)).collect()
});

/// The case tables of a family.
pub(super) fn unicode(family: Family) -> &'static Case {
    static NONE: LazyLock<Case> = LazyLock::new(|| Case { upper: PageMap::default(), lower: PageMap::default() });
    UNICODE.get(family as usize).unwrap_or(&NONE)
}

impl Case {
    /// Reads the pairs that differ, as the generated files have them.
    pub fn read(r: &mut Reader<'_>) -> Case {
        let mut side = || {
            let mut map = PageMap::filled(0, 0x20000);
            for _ in 0..r.u16() {
                let (from, to) = (r.u24(), r.u24());
                map.set(from, to.wrapping_sub(from) as u16);
            }
            map
        };
        Case { upper: side(), lower: side() }
    }

    /// From the bytes of an 8-bit set.
    pub fn of_bytes(to_unicode: &[u16; 256], upper: &[u8; 256], lower: &[u8; 256]) -> Case {
        let side = |bytes: &[u8; 256]| {
            let mut map = PageMap::filled(0, 0x10000);
            for (&from, &to) in to_unicode.iter().zip(bytes) {
                let to = to_unicode[to as usize];
                if from != 0xFFFF && to != 0xFFFF && from != to {
                    map.set(from as u32, to.wrapping_sub(from));
                }
            }
            map
        };
        Case { upper: side(upper), lower: side(lower) }
    }

    pub fn to_upper(&self, text: &[u8]) -> Vec<u8> {
        map(&self.upper, text, u8::to_ascii_uppercase)
    }

    pub fn to_lower(&self, text: &[u8]) -> Vec<u8> {
        map(&self.lower, text, u8::to_ascii_lowercase)
    }
}

fn map(pages: &PageMap, text: &[u8], ascii: fn(&u8) -> u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut pos = 0;
    while pos < text.len() {
        let b = text[pos];
        // i and I have other partners in Turkish, so those letters go through the table.
        let own = b | 0x20 == b'i' && pages.get(b as u32).is_some_and(|delta| delta != 0);
        if b < 0x80 && !own {
            out.push(ascii(&b));
            pos += 1;
            continue;
        }
        let (c, n) = utf8::decode(text, pos);
        match pages.get(c) {
            Some(delta) if delta != 0 => utf8::push(&mut out, c & !0xFFFF | (c as u16).wrapping_add(delta) as u32),
            _ => out.extend_from_slice(&text[pos..pos + n]),
        }
        pos += n;
    }
    out
}
