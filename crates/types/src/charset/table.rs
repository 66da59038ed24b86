//! Sort weights and case mappings by code point, read from the generated files.
//!
//! A [`PageMap`] maps code points to 16-bit entries over pages of 256, equal pages stored once.
//! A [`Table`] gives them the meaning of weights. Formats stand in `data/README.md`.

use std::collections::BTreeMap;

use super::utf8;

/// First entry that stands for several weights.
const EXPANSION: u16 = 0xE000;
/// First entry of characters that begin contractions.
const CONTRACTION: u16 = 0xF000;
/// First entry that stands for a computed pair of weights.
const IMPLICIT: u16 = 0xFFFA;
/// Weight of characters that a table does not know.
pub(super) const UNKNOWN: u16 = 0xFFFD;

/// Reads little-endian numbers from a generated file; past the end come zeros.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        head
    }
    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }
    pub fn u16(&mut self) -> u16 {
        let b = self.bytes(2);
        if let [a, b] = b { u16::from_le_bytes([*a, *b]) } else { 0 }
    }
    pub fn u32(&mut self) -> u32 {
        self.u16() as u32 | (self.u16() as u32) << 16
    }
    pub fn u24(&mut self) -> u32 {
        let b = self.bytes(3);
        if let [a, b, c] = b { u32::from_le_bytes([*a, *b, *c, 0]) } else { 0 }
    }
    pub fn u16s(&mut self, n: usize) -> Vec<u16> {
        (0..n).map(|_| self.u16()).collect()
    }
    pub fn text(&mut self) -> &'a str {
        let n = self.u8() as usize;
        std::str::from_utf8(self.bytes(n)).unwrap_or("")
    }
}

/// Code points to 16-bit entries.
#[derive(Clone, Default)]
pub(super) struct PageMap {
    index: Vec<u16>,
    pages: Vec<u16>,
    /// How often the index names each page.
    uses: Vec<u16>,
}

impl PageMap {
    /// All entries are `entry`, over code points below `limit`.
    pub fn filled(entry: u16, limit: usize) -> PageMap {
        PageMap::new(vec![0; limit.div_ceil(256)], vec![entry; 256])
    }

    fn new(index: Vec<u16>, pages: Vec<u16>) -> PageMap {
        let mut uses = vec![0; pages.len() / 256];
        for &page in &index {
            if let Some(n) = uses.get_mut(page as usize) {
                *n += 1;
            }
        }
        PageMap { index, pages, uses }
    }

    /// The entry of a code point, or none past the map's end.
    #[inline]
    pub fn get(&self, cp: u32) -> Option<u16> {
        let page = *self.index.get((cp >> 8) as usize)? as usize;
        self.pages.get(page << 8 | (cp & 0xFF) as usize).copied()
    }

    /// Whether all entries of a code point's page are the same.
    pub fn is_uniform(&self, cp: u32) -> bool {
        let page = self.index.get((cp >> 8) as usize).copied().unwrap_or(0) as usize;
        self.pages.get(page << 8..(page + 1) << 8).is_none_or(|p| p.iter().all(|e| *e == p[0]))
    }

    /// Changes one entry, giving its page a copy of its own if it is shared.
    pub fn set(&mut self, cp: u32, entry: u16) {
        let at = (cp >> 8) as usize;
        let Some(&page) = self.index.get(at) else { return };
        let mut page = page as usize;
        if self.uses[page] > 1 {
            self.uses[page] -= 1;
            self.uses.push(1);
            self.pages.extend_from_within(page << 8..(page + 1) << 8);
            page = self.uses.len() - 1;
            self.index[at] = page as u16;
        }
        self.pages[page << 8 | (cp & 0xFF) as usize] = entry;
    }
}

/// Further characters and the weights of the whole, at a character that begins contractions.
#[derive(Clone)]
struct Contraction {
    tail: Vec<u8>,
    weights: Vec<u16>,
}

#[derive(Clone, Default)]
struct Head {
    /// Weights of the character alone.
    own: Vec<u16>,
    /// Longest first.
    longer: Vec<Contraction>,
}

/// One level of weights: what each character sorts by.
#[derive(Clone)]
pub(super) struct Table {
    ascii: [u16; 128],
    map: PageMap,
    /// `0xFFFF` where entries are differences to the code point, else 0.
    delta: u16,
    /// Entry past the map's end.
    beyond: u16,
    /// Every character has exactly one weight, which is its entry.
    pub single: bool,
    /// ASCII has weights below 128: keys write them in the manner of UTF-8.
    pub compact: bool,
    /// ASCII characters but NUL and space have one weight each, below 128, and not that of space.
    pub ascii_bytes: bool,
    /// The weight of a space.
    pub space: u16,
    expansions: Vec<Vec<u16>>,
    heads: Vec<Head>,
}

/// A change that a tailoring makes: a sequence of characters and its weights.
pub(super) type Change<'a> = (&'a [u32], &'a [u16]);

impl Table {
    /// Reads a page file. `single`: entries are one weight each, as differences to the code point.
    pub fn load(data: &[u8], single: bool) -> Table {
        let mut r = Reader(data);
        let (index, pages, expansions) = (r.u16() as usize, r.u16() as usize, r.u16() as usize);
        let map = PageMap::new(r.u16s(index), r.u16s(pages * 256));
        let expansions = (0..expansions)
            .map(|_| {
                let n = r.u16() as usize;
                r.u16s(n)
            })
            .collect();
        Table::new(map, single, single, expansions)
    }

    fn new(map: PageMap, delta: bool, single: bool, expansions: Vec<Vec<u16>>) -> Table {
        let mut t = Table {
            ascii: [0; 128],
            map,
            delta: if delta { 0xFFFF } else { 0 },
            beyond: UNKNOWN,
            single,
            compact: true,
            ascii_bytes: false,
            space: 0,
            expansions,
            heads: Vec::new(),
        };
        if !single {
            t.beyond = t.expansion(&[UNKNOWN]);
        }
        t.refresh();
        t
    }

    /// From the bytes of an 8-bit set: the characters that bytes stand for, and the bytes' weights.
    pub fn of_bytes(to_unicode: &[u16; 256], weights: &[Vec<u8>]) -> Table {
        let single = weights.iter().all(|w| w.len() == 1);
        let mut t = Table::new(PageMap::filled(0, 0x10000), false, single, Vec::new());
        t.map = PageMap::filled(t.beyond, 0x10000);
        for (cp, w) in to_unicode.iter().zip(weights) {
            // Zero means "no weight" where there may be several, so those are shifted by one.
            let w: Vec<u16> = w.iter().map(|&w| w as u16 + !single as u16).collect();
            let entry = if w.len() == 1 { w[0] } else { t.expansion(&w) };
            if *cp != 0xFFFF {
                t.map.set(*cp as u32, entry);
            }
        }
        t.refresh();
        t
    }

    /// One weight for each of some characters of the BMP.
    pub fn of_weights(weights: impl Iterator<Item = (u32, u16)>) -> Table {
        let mut t = Table::new(PageMap::filled(UNKNOWN, 0x10000), false, true, Vec::new());
        weights.for_each(|(c, w)| t.map.set(c, w));
        t.refresh();
        t
    }

    fn expansion(&mut self, weights: &[u16]) -> u16 {
        let at = self.expansions.iter().position(|e| e == weights).unwrap_or_else(|| {
            self.expansions.push(weights.to_vec());
            self.expansions.len() - 1
        });
        EXPANSION + at as u16
    }

    /// Derived fields, after the map has changed.
    fn refresh(&mut self) {
        for b in 0..128 {
            self.ascii[b as usize] = self.map.get(b).unwrap_or(self.beyond).wrapping_add(b as u16 & self.delta);
        }
        self.space = self.ascii[32];
        self.compact = (1..0x80).contains(&self.space);
        let plain = |b: usize| b == 0 || b == 32 || (1..0x80).contains(&self.ascii[b]) && self.ascii[b] != self.space;
        self.ascii_bytes = self.single && (0..128).all(plain);
    }

    /// This table with a tailoring's changes.
    pub fn tailored<'a>(mut self, changes: impl Iterator<Item = Change<'a>>) -> Table {
        let mut heads: BTreeMap<u32, Head> = BTreeMap::new();
        for (chars, weights) in changes {
            let Some((&first, tail)) = chars.split_first() else { continue };
            if tail.is_empty() {
                if let Some(e) = self.head_of(first) {
                    self.heads[e].own = weights.to_vec();
                    continue;
                }
                let entry = match weights {
                    [] => 0,
                    [w] if *w < EXPANSION => *w,
                    _ => self.expansion(weights),
                };
                self.map.set(first, entry);
            } else {
                let mut bytes = Vec::new();
                tail.iter().for_each(|&c| utf8::push(&mut bytes, c));
                let head = heads.entry(first).or_default();
                head.longer.push(Contraction { tail: bytes, weights: weights.to_vec() });
            }
        }
        for (first, head) in heads {
            let at = self.head_of(first).unwrap_or_else(|| {
                let own = self.weights_of(first);
                self.heads.push(Head { own, longer: Vec::new() });
                self.map.set(first, CONTRACTION + (self.heads.len() - 1) as u16);
                self.heads.len() - 1
            });
            let longer = &mut self.heads[at].longer;
            longer.retain(|old| !head.longer.iter().any(|new| new.tail == old.tail));
            longer.extend(head.longer);
            longer.sort_by_key(|c| std::cmp::Reverse(c.tail.len()));
        }
        self.refresh();
        self
    }

    /// Length of the part of `text` whose weights do not depend on what may follow the text: not those of
    /// a contraction's beginning at its end.
    pub fn settled(&self, text: &[u8]) -> usize {
        if self.heads.is_empty() {
            return text.len();
        }
        let mut pos = 0;
        while pos < text.len() {
            let (cp, n) = utf8::decode(text, pos);
            let mut next = pos + n;
            if let Some(head) = self.head_of(cp) {
                let rest = &text[next..];
                let longer = &self.heads[head].longer;
                if longer.iter().any(|c| c.tail.len() > rest.len() && c.tail.starts_with(rest)) {
                    return pos;
                }
                next += longer.iter().find(|c| rest.starts_with(&c.tail)).map_or(0, |c| c.tail.len());
            }
            pos = next;
        }
        text.len()
    }

    fn head_of(&self, cp: u32) -> Option<usize> {
        let e = self.map.get(cp)?;
        (CONTRACTION..IMPLICIT).contains(&e).then(|| (e - CONTRACTION) as usize)
    }

    /// The weight of an ASCII character, where [`Self::ascii_bytes`].
    #[inline]
    pub fn ascii_weight(&self, b: u8) -> u8 {
        self.ascii[(b & 0x7F) as usize] as u8
    }

    /// The weight of a character, where every character has one.
    #[inline]
    pub fn weight(&self, cp: u32) -> u16 {
        match self.ascii.get(cp as usize) {
            Some(&w) => w,
            None => match self.map.get(cp) {
                Some(e) => e.wrapping_add(cp as u16 & self.delta),
                None => self.beyond,
            },
        }
    }

    /// The weights of a character standing alone.
    pub fn weights_of(&self, cp: u32) -> Vec<u16> {
        if self.single {
            return vec![self.weight(cp)];
        }
        let mut text = Vec::new();
        utf8::push(&mut text, cp);
        let mut w = Weights::new(self, &text);
        std::iter::from_fn(move || Some(w.next_weight()).filter(|&w| w != 0)).collect()
    }

    /// Whether LIKE takes two characters as the same: those with the same weights. As in MariaDB,
    /// characters that a table knows only by default are the same as themselves only: those past its
    /// end, and (`secondary` levels) those of blocks where all have the default weight.
    pub fn same(&self, a: u32, b: u32, secondary: bool) -> bool {
        if a == b {
            return true;
        }
        if secondary && (self.map.is_uniform(a) || self.map.is_uniform(b)) {
            return false;
        }
        if !self.single && (self.map.get(a).is_none() || self.map.get(b).is_none()) {
            return false;
        }
        if self.single {
            return self.weight(a) == self.weight(b);
        }
        let entry = |c: u32| self.map.get(c).unwrap_or(self.beyond);
        let (ea, eb) = (entry(a), entry(b));
        if ea < CONTRACTION && eb < CONTRACTION {
            // Expansions are stored once, so equal weights have equal entries.
            return ea == eb;
        }
        self.weights_of(a) == self.weights_of(b)
    }
}

/// The computed pair of weights of a character (UTS #10, "Implicit Weights").
fn implicit(entry: u16, cp: u32) -> [u16; 2] {
    let (base, from) = match entry {
        0xFFFF => (0xFBC0, 0),
        0xFFFE => (0xFB80, 0),
        0xFFFD => (0xFB40, 0),
        0xFFFC => (0xFB00, 0x17000),
        0xFFFB => (0xFB01, 0x1B170),
        _ => (0xFB02, 0x18B00),
    };
    if from == 0 {
        [base + (cp >> 15) as u16, (cp & 0x7FFF) as u16 | 0x8000]
    } else {
        [base, cp.wrapping_sub(from) as u16 | 0x8000]
    }
}

/// The weights of a text under a table whose characters may have none or several.
pub(super) struct Weights<'a> {
    table: &'a Table,
    text: &'a [u8],
    pos: usize,
    rest: &'a [u16],
    second: u16,
}

impl<'a> Weights<'a> {
    pub fn new(table: &'a Table, text: &'a [u8]) -> Weights<'a> {
        Weights { table, text, pos: 0, rest: &[], second: 0 }
    }

    /// The next weight, or 0 at the end (no character has that weight).
    #[inline]
    pub fn next_weight(&mut self) -> u16 {
        loop {
            if let Some((&w, rest)) = self.rest.split_first() {
                self.rest = rest;
                return w;
            }
            if self.second != 0 {
                return std::mem::take(&mut self.second);
            }
            let Some(&b) = self.text.get(self.pos) else { return 0 };
            let (cp, n, entry) = if b < 0x80 {
                (b as u32, 1, self.table.ascii[b as usize])
            } else {
                let (cp, n) = utf8::decode(self.text, self.pos);
                (cp, n, self.table.map.get(cp).unwrap_or(self.table.beyond))
            };
            self.pos += n;
            if entry < EXPANSION {
                if entry != 0 {
                    return entry;
                }
            } else if entry < CONTRACTION {
                self.rest = self.table.expansions.get((entry - EXPANSION) as usize).map_or(&[], |e| e);
            } else if entry < IMPLICIT {
                self.contract((entry - CONTRACTION) as usize);
            } else {
                let [first, second] = implicit(entry, cp);
                self.second = second;
                return first;
            }
        }
    }

    fn contract(&mut self, head: usize) {
        let Some(head) = self.table.heads.get(head) else { return };
        let text = &self.text[self.pos..];
        match head.longer.iter().find(|c| text.starts_with(&c.tail)) {
            Some(c) => {
                self.pos += c.tail.len();
                self.rest = &c.weights;
            }
            None => self.rest = &head.own,
        }
    }
}
