//! Character sets and collations.
//!
//! In memory all text is UTF-8; a character set matters where bytes come in or go out (client,
//! files, the log, functions that look at bytes) and for which characters a column can hold.
//! Collations work on the UTF-8 text, whatever their character set: their weights are kept by code
//! point. Names, ids and weights are MariaDB 10.11's; the data files were asked from one
//! (`data/README.md`).
//!
//! This module must not know SQL types, columns or sessions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

mod case;
mod coding;
mod like;
mod multi_byte;
pub(crate) mod order;
mod registry;
#[rustfmt::skip]
mod registry_data;
mod single_byte;
mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod utf8;

use coding::Coding;
use order::Sink;
use registry::{Info, Order};

pub use text::LikePattern;

/// A character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Charset {
    /// ARMSCII-8 Armenian.
    Armscii8,
    /// US ASCII.
    Ascii,
    /// Big5 Traditional Chinese.
    Big5,
    /// Binary pseudo charset.
    Binary,
    /// Windows Central European.
    Cp1250,
    /// Windows Cyrillic.
    Cp1251,
    /// Windows Arabic.
    Cp1256,
    /// Windows Baltic.
    Cp1257,
    /// DOS West European.
    Cp850,
    /// DOS Central European.
    Cp852,
    /// DOS Russian.
    Cp866,
    /// SJIS for Windows Japanese.
    Cp932,
    /// DEC West European.
    Dec8,
    /// UJIS for Windows Japanese.
    Eucjpms,
    /// EUC-KR Korean.
    Euckr,
    /// GB2312 Simplified Chinese.
    Gb2312,
    /// GBK Simplified Chinese.
    Gbk,
    /// GEOSTD8 Georgian.
    Geostd8,
    /// ISO 8859-7 Greek.
    Greek,
    /// ISO 8859-8 Hebrew.
    Hebrew,
    /// HP West European.
    Hp8,
    /// DOS Kamenicky Czech-Slovak.
    Keybcs2,
    /// KOI8-R Relcom Russian.
    Koi8r,
    /// KOI8-U Ukrainian.
    Koi8u,
    /// cp1252 West European.
    Latin1,
    /// ISO 8859-2 Central European.
    Latin2,
    /// ISO 8859-9 Turkish.
    Latin5,
    /// ISO 8859-13 Baltic.
    Latin7,
    /// Mac Central European.
    Macce,
    /// Mac West European.
    Macroman,
    /// Shift-JIS Japanese.
    Sjis,
    /// 7bit Swedish.
    Swe7,
    /// TIS620 Thai.
    Tis620,
    /// UCS-2 Unicode.
    Ucs2,
    /// EUC-JP Japanese.
    Ujis,
    /// UTF-16 Unicode.
    Utf16,
    /// UTF-16LE Unicode.
    Utf16le,
    /// UTF-32 Unicode.
    Utf32,
    /// UTF-8 Unicode.
    Utf8mb3,
    /// UTF-8 Unicode.
    Utf8mb4,
}

/// Every set with name, description and the most bytes a character takes, in the order of variants.
static CHARSETS: [(Charset, &str, &str, u8); 40] = [
    (Charset::Armscii8, "armscii8", "ARMSCII-8 Armenian", 1),
    (Charset::Ascii, "ascii", "US ASCII", 1),
    (Charset::Big5, "big5", "Big5 Traditional Chinese", 2),
    (Charset::Binary, "binary", "Binary pseudo charset", 1),
    (Charset::Cp1250, "cp1250", "Windows Central European", 1),
    (Charset::Cp1251, "cp1251", "Windows Cyrillic", 1),
    (Charset::Cp1256, "cp1256", "Windows Arabic", 1),
    (Charset::Cp1257, "cp1257", "Windows Baltic", 1),
    (Charset::Cp850, "cp850", "DOS West European", 1),
    (Charset::Cp852, "cp852", "DOS Central European", 1),
    (Charset::Cp866, "cp866", "DOS Russian", 1),
    (Charset::Cp932, "cp932", "SJIS for Windows Japanese", 2),
    (Charset::Dec8, "dec8", "DEC West European", 1),
    (Charset::Eucjpms, "eucjpms", "UJIS for Windows Japanese", 3),
    (Charset::Euckr, "euckr", "EUC-KR Korean", 2),
    (Charset::Gb2312, "gb2312", "GB2312 Simplified Chinese", 2),
    (Charset::Gbk, "gbk", "GBK Simplified Chinese", 2),
    (Charset::Geostd8, "geostd8", "GEOSTD8 Georgian", 1),
    (Charset::Greek, "greek", "ISO 8859-7 Greek", 1),
    (Charset::Hebrew, "hebrew", "ISO 8859-8 Hebrew", 1),
    (Charset::Hp8, "hp8", "HP West European", 1),
    (Charset::Keybcs2, "keybcs2", "DOS Kamenicky Czech-Slovak", 1),
    (Charset::Koi8r, "koi8r", "KOI8-R Relcom Russian", 1),
    (Charset::Koi8u, "koi8u", "KOI8-U Ukrainian", 1),
    (Charset::Latin1, "latin1", "cp1252 West European", 1),
    (Charset::Latin2, "latin2", "ISO 8859-2 Central European", 1),
    (Charset::Latin5, "latin5", "ISO 8859-9 Turkish", 1),
    (Charset::Latin7, "latin7", "ISO 8859-13 Baltic", 1),
    (Charset::Macce, "macce", "Mac Central European", 1),
    (Charset::Macroman, "macroman", "Mac West European", 1),
    (Charset::Sjis, "sjis", "Shift-JIS Japanese", 2),
    (Charset::Swe7, "swe7", "7bit Swedish", 1),
    (Charset::Tis620, "tis620", "TIS620 Thai", 1),
    (Charset::Ucs2, "ucs2", "UCS-2 Unicode", 2),
    (Charset::Ujis, "ujis", "EUC-JP Japanese", 3),
    (Charset::Utf16, "utf16", "UTF-16 Unicode", 4),
    (Charset::Utf16le, "utf16le", "UTF-16LE Unicode", 4),
    (Charset::Utf32, "utf32", "UTF-32 Unicode", 4),
    (Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", 3),
    (Charset::Utf8mb4, "utf8mb4", "UTF-8 Unicode", 4),
];

/// A collation, by MariaDB's id (as in column definitions on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Collation(pub u16);

impl Charset {
    /// Every character set, for SHOW CHARACTER SET, sorted by name.
    pub fn all() -> impl Iterator<Item = Charset> {
        CHARSETS.iter().map(|row| row.0)
    }
    /// MariaDB's name (`utf8mb4`).
    pub fn name(self) -> &'static str {
        CHARSETS[self as usize].1
    }
    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        CHARSETS[self as usize].2
    }
    /// By name or alias (`utf8` is utf8mb3), any case.
    pub fn by_name(name: &str) -> Option<Charset> {
        let name = name.to_ascii_lowercase();
        let name = if name == "utf8" { "utf8mb3" } else { &name };
        Charset::all().find(|c| c.name() == name)
    }
    /// Whether the set's collations sort by code points and tables of Unicode (ASCII included).
    pub fn is_unicode(self) -> bool {
        use Charset::*;
        matches!(self, Utf8mb4 | Utf8mb3 | Ucs2 | Utf16 | Utf16le | Utf32 | Ascii)
    }
    /// Whether ASCII text has the same bytes in this set, so that it can be a client's.
    pub fn is_ascii_superset(self) -> bool {
        use Charset::*;
        !matches!(self, Ucs2 | Utf16 | Utf16le | Utf32 | Swe7)
    }
    /// The collation used where only the character set was named (`utf8mb4_general_ci`).
    pub fn default_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::UTF8MB4_GENERAL_CI,
            Charset::Utf8mb3 => Collation::UTF8MB3_GENERAL_CI,
            other => registry::default_of(other, false),
        }
    }
    /// The set's `_bin` collation (`binary` for binary).
    pub fn bin_collation(self) -> Collation {
        registry::default_of(self, true)
    }
    /// The most bytes one character takes.
    pub fn max_len(self) -> u32 {
        CHARSETS[self as usize].3 as u32
    }
    /// The fewest bytes one character takes.
    pub fn min_len(self) -> u32 {
        match self {
            Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le => 2,
            Charset::Utf32 => 4,
            _ => 1,
        }
    }
    /// Encodes UTF-8 text into this set; characters it lacks become `?` and are counted.
    pub fn encode<'a>(self, utf8: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        Coding::of(self).encode(utf8)
    }
    /// Decodes bytes of this set into UTF-8; `Err(offset)` at the first invalid byte.
    pub fn decode<'a>(self, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, usize> {
        Coding::of(self).decode(bytes)
    }
    /// Whether the set has every character of the UTF-8 text.
    pub fn can_hold(self, utf8: &[u8]) -> bool {
        Coding::of(self).can_hold(utf8)
    }
    /// The text with characters that the set lacks made `?`, as storing into such a column does, and
    /// how many there were.
    pub fn restrict<'a>(self, utf8: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
        let coding = Coding::of(self);
        if coding.can_hold(utf8) {
            return (Cow::Borrowed(utf8), 0);
        }
        let (mut out, mut lost) = (Vec::with_capacity(utf8.len()), 0);
        for c in utf8::chars(utf8) {
            let held = coding.holds(c);
            utf8::push(&mut out, if held { c } else { '?' as u32 });
            lost += !held as usize;
        }
        (Cow::Owned(out), lost)
    }
    /// Length in bytes that the UTF-8 text has in this set.
    pub fn byte_len(self, utf8: &[u8]) -> usize {
        Coding::of(self).byte_len(utf8)
    }
}

impl Collation {
    /// `binary`: bytes.
    pub const BINARY: Collation = Collation(63);
    /// `utf8mb4_general_ci`, the default.
    pub const UTF8MB4_GENERAL_CI: Collation = Collation(45);
    /// `utf8mb4_bin`
    pub const UTF8MB4_BIN: Collation = Collation(46);
    /// `utf8mb3_general_ci`, that of identifiers and of information_schema.
    pub const UTF8MB3_GENERAL_CI: Collation = Collation(33);
    /// `utf8mb3_bin`
    pub const UTF8MB3_BIN: Collation = Collation(83);
    /// `latin1_swedish_ci`
    pub const LATIN1_SWEDISH_CI: Collation = Collation(8);
    /// `ascii_general_ci`
    pub const ASCII_GENERAL_CI: Collation = Collation(11);

    #[inline]
    fn info(self) -> &'static Info {
        registry::info(self.0)
    }

    /// By MariaDB's name (`utf8mb4_unicode_ci`; the `utf8_` prefix means utf8mb3; MySQL's
    /// `utf8mb4_0900_ai_ci` and its like mean the uca1400 ones), any case.
    pub fn by_name(name: &str) -> Option<Collation> {
        registry::by_name(&name.to_ascii_lowercase())
    }
    /// By a name that may lack its character set (`uca1400_ai_ci`), as where a set is declared beside it.
    pub fn by_name_in(charset: Charset, name: &str) -> Option<Collation> {
        Collation::by_name(name).or_else(|| Collation::by_name(&format!("{}_{name}", charset.name())))
    }
    /// Whether the id is one that this server has.
    pub fn is_known(self) -> bool {
        registry::is_known(self.0)
    }
    /// All collations, for SHOW COLLATION, sorted by id.
    pub fn all() -> &'static [Collation] {
        registry::all()
    }
    /// MariaDB's name.
    pub fn name(self) -> &'static str {
        self.info().name
    }
    /// The character set.
    pub fn charset(self) -> Charset {
        self.info().charset
    }
    /// Whether it is its character set's default.
    pub fn is_default(self) -> bool {
        self.info().is_default
    }
    /// The Sortlen column of SHOW COLLATION.
    pub fn sortlen(self) -> u8 {
        self.info().sortlen
    }
    /// Whether this is `binary`.
    pub fn is_binary(self) -> bool {
        self == Collation::BINARY
    }
    /// Whether it compares code points (`_bin`, `_nopad_bin`, `binary`).
    pub fn is_bin(self) -> bool {
        self.info().is_bin
    }
    /// Whether trailing spaces count in comparisons (NO PAD).
    pub fn no_pad(self) -> bool {
        !self.info().pad
    }
    /// Whether texts that compare equal (but for trailing spaces under PAD SPACE) are the same bytes, so
    /// that keys can be read back.
    pub(crate) fn sorts_by_bytes(self) -> bool {
        matches!(self.info().order(), Order::Bytes)
    }

    /// Compares two texts (UTF-8; raw bytes for `binary`), trailing spaces per the pad attribute.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let info = self.info();
        match info.order() {
            Order::Bytes => order::compare_bytes(a, b, info.pad),
            Order::Single(t) => order::compare_single(t, a, b, info.pad),
            Order::Many(_) if a == b => Ordering::Equal,
            Order::Many(levels) => levels
                .iter()
                .enumerate()
                .map(|(i, t)| order::compare_many(t, a, b, info.pad_at(i)))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal),
        }
    }

    /// Whether two texts are equal under this collation (a fast path of [`Self::compare`]).
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        if a == b {
            return true;
        }
        let info = self.info();
        match info.order() {
            Order::Bytes if info.pad => order::trim_spaces(a) == order::trim_spaces(b),
            Order::Bytes => false,
            _ => self.compare(a, b) == Ordering::Equal,
        }
    }

    /// Appends the text's sort key: `memcmp` of two keys orders as [`Self::compare`] does, and no key is
    /// the beginning of another, so that more may follow.
    pub fn weights(self, text: &[u8], out: &mut Vec<u8>) {
        self.key(text, true, out);
    }

    /// Appends what the sort keys of all texts beginning with `prefix` begin with (without an end; trailing
    /// spaces left off), for the ranges of `LIKE 'abc%'`. Some other texts may share it.
    pub fn weights_prefix(self, prefix: &[u8], out: &mut Vec<u8>) {
        let info = self.info();
        let prefix = if info.pad { order::trim_spaces(prefix) } else { prefix };
        match info.order() {
            Order::Bytes => order::key_of_bytes(prefix, info.pad, false, out),
            Order::Single(t) => order::key_of(t, prefix, info.pad, false, out),
            Order::Many(levels) => {
                if let Some(t) = levels.first() {
                    order::key_of(t, &prefix[..t.settled(prefix)], info.pad, false, out);
                }
            }
        }
    }

    #[inline]
    fn key(self, text: &[u8], ended: bool, out: &mut impl Sink) {
        let info = self.info();
        match info.order() {
            Order::Bytes => order::key_of_bytes(text, info.pad, ended, out),
            Order::Single(t) => order::key_of(t, text, info.pad, ended, out),
            Order::Many(levels) => {
                levels.iter().enumerate().for_each(|(i, t)| order::key_of(t, text, info.pad_at(i), ended, out));
            }
        }
    }

    /// Length of the sort key that `bytes` begin with; `invert` (0 or 0xFF) is xored onto each byte
    /// first. `None` if there is no whole key.
    pub(crate) fn key_len(self, bytes: &[u8], invert: u8) -> Option<usize> {
        let info = self.info();
        match info.order() {
            Order::Bytes => order::key_len(bytes, b' ' as u16, true, info.pad, invert),
            Order::Single(t) => order::key_len(bytes, t.space, t.compact, info.pad, invert),
            Order::Many(levels) => levels.iter().enumerate().try_fold(0, |at, (i, t)| {
                Some(at + order::key_len(bytes.get(at..)?, t.space, t.compact, info.pad_at(i), invert)?)
            }),
        }
    }

    /// Feeds a hash that is equal for texts that compare equal.
    pub fn hash(self, text: &[u8], state: &mut dyn Hasher) {
        let info = self.info();
        match info.order() {
            Order::Bytes if info.pad => state.write(order::trim_spaces(text)),
            Order::Bytes => state.write(text),
            _ => {
                let mut key: SmallVec<[u8; 256]> = SmallVec::new();
                self.key(text, true, &mut key);
                state.write(&key);
            }
        }
    }

    /// LIKE with the collation's case rules; `escape` is a character or none.
    pub fn like(self, text: &[u8], pattern: &[u8], escape: Option<char>) -> bool {
        let info = self.info();
        if self.is_binary() {
            return like::matches(&like::Bytes, text, pattern, escape);
        }
        match info.order() {
            Order::Bytes => like::matches(&like::Utf8(|_, _| false), text, pattern, escape),
            Order::Single(t) => like::matches(&like::Utf8(|a, b| t.weight(a) == t.weight(b)), text, pattern, escape),
            Order::Many(levels) => {
                let same = |a, b| levels.iter().enumerate().all(|(i, t)| t.same(a, b, i > 0));
                like::matches(&like::Utf8(same), text, pattern, escape)
            }
        }
    }

    /// Upper-cases text (binary strings stay as they are).
    pub fn upper(self, text: &[u8]) -> Vec<u8> {
        if self.is_binary() { text.to_vec() } else { self.info().case().to_upper(text) }
    }
    /// Lower-cases text (binary strings stay as they are).
    pub fn lower(self, text: &[u8]) -> Vec<u8> {
        if self.is_binary() { text.to_vec() } else { self.info().case().to_lower(text) }
    }
}
