//! The sets of East Asia whose characters take one to three bytes.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use super::case::Case;
use super::table::{PageMap, Reader, Table};

/// First byte of codes of three bytes.
const THREE: u8 = 0x8F;

/// One such set.
pub(super) struct MultiSet {
    /// Codes of one byte above 127 and of two bytes to characters, 0 where none.
    short: PageMap,
    /// The last two bytes of codes of three to characters.
    three: PageMap,
    /// Characters to codes of one or two bytes, 0 where none.
    to_short: PageMap,
    /// Characters to the last two bytes of codes of three.
    to_three: PageMap,
    pub case: Case,
    /// Every character above ASCII with its code.
    codes: BTreeMap<u16, u32>,
    /// Weights of ASCII.
    ascii: [u8; 128],
    /// Weights of the characters of `codes`, unless they sort by code.
    weights: Option<Vec<u16>>,
}

/// Sets are read when first used.
struct Lazy {
    name: &'static str,
    data: &'static [u8],
    set: OnceLock<MultiSet>,
}

static SETS: LazyLock<Vec<Lazy>> = LazyLock::new(|| {
    let mut r = Reader(include_bytes!("data/multi_byte.bin"));
    let sets = r.u8();
    (0..sets)
        .map(|_| {
            let name = r.text();
            let len = r.u32() as usize;
            Lazy { name, data: r.bytes(len), set: OnceLock::new() }
        })
        .collect()
});

/// The set of that name.
pub(super) fn get(name: &str) -> Option<&'static MultiSet> {
    let lazy = SETS.iter().find(|l| l.name == name)?;
    Some(lazy.set.get_or_init(|| MultiSet::read(&mut Reader(lazy.data))))
}

impl MultiSet {
    fn read(r: &mut Reader<'_>) -> MultiSet {
        let map = || PageMap::filled(0, 0x10000);
        let (mut short, mut three, mut to_short, mut to_three) = (map(), map(), map(), map());
        let mut codes = BTreeMap::new();
        for _ in 0..r.u16() {
            let (start, n) = (r.u24(), r.u16() as u32);
            for code in start..start + n {
                let c = r.u16();
                if code < 0x10000 { &mut short } else { &mut three }.set(code & 0xFFFF, c);
                codes.entry(c).or_insert(code);
            }
        }
        for _ in 0..r.u16() {
            match (r.u16(), r.u24()) {
                (c, 0) => codes.remove(&c),
                (c, code) => codes.insert(c, code),
            };
        }
        for (&c, &code) in &codes {
            if code < 0x10000 { &mut to_short } else { &mut to_three }.set(c as u32, code as u16);
        }
        let case = Case::read(r);
        let mut ascii = [0; 128];
        ascii.copy_from_slice(r.bytes(128));
        let weights = (r.u8() == 1).then(|| r.u16s(codes.len()));
        MultiSet { short, three, to_short, to_three, case, codes, ascii, weights }
    }

    /// The table of the set's `_ci` or `_bin` collation. Weights are ranks, since all that matters is order.
    pub fn table(&self, bin: bool) -> Table {
        let ascii = (0..128u32).map(|c| (c, if bin { c as u16 } else { self.ascii[c as usize] as u16 }));
        match &self.weights {
            Some(w) if !bin => {
                let listed = self.codes.keys().zip(w).map(|(&c, &w)| (c as u32, w));
                Table::of_weights(ascii.chain(listed))
            }
            _ => {
                let mut by_code: Vec<(&[u8], u32)> = Vec::with_capacity(self.codes.len());
                let bytes: Vec<([u8; 4], u16)> = self.codes.iter().map(|(&c, &code)| (code.to_be_bytes(), c)).collect();
                by_code.extend(bytes.iter().map(|(b, c)| (&b[b.iter().take_while(|b| **b == 0).count()..], *c as u32)));
                by_code.sort_unstable();
                let ranked = by_code.iter().enumerate().map(|(i, (_, c))| (*c, 128 + i as u16));
                Table::of_weights(ascii.chain(ranked))
            }
        }
    }

    /// Appends a character's bytes; false if the set lacks it.
    pub fn put(&self, c: u32, out: &mut Vec<u8>) -> bool {
        let code = |map: &PageMap| map.get(c).filter(|&code| code != 0);
        if c < 0x80 {
            out.push(c as u8);
        } else if let Some(code) = code(&self.to_short) {
            if code >= 0x100 {
                out.push((code >> 8) as u8);
            }
            out.push(code as u8);
        } else if let Some(code) = code(&self.to_three) {
            out.push(THREE);
            out.extend(code.to_be_bytes());
        } else {
            return false;
        }
        true
    }

    /// The first character of non-empty bytes and its length.
    pub fn take(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let &first = bytes.first()?;
        if first < 0x80 {
            return Some((first as u32, 1));
        }
        let found = |map: &PageMap, code: u32, n: usize| map.get(code).filter(|&c| c != 0).map(|c| (c as u32, n));
        let pair = |i: usize| Some(u16::from_be_bytes([*bytes.get(i)?, *bytes.get(i + 1)?]) as u32);
        if first == THREE
            && let Some(c) = pair(1).and_then(|code| found(&self.three, code, 3))
        {
            return Some(c);
        }
        pair(0).and_then(|code| found(&self.short, code, 2)).or_else(|| found(&self.short, first as u32, 1))
    }
}
