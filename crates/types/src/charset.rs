//! Character sets and collations.
//!
//! In memory all text is UTF-8; a character set matters where bytes come in or go out (client,
//! files, the log, functions that look at bytes) and for which characters a column can hold.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Charset {
    /// Bytes without meaning as characters.
    Binary,
    /// 7-bit.
    Ascii,
    /// cp1252 as MariaDB's latin1.
    Latin1,
    /// UTF-8 of at most three bytes a character.
    Utf8mb3,
    /// UTF-8.
    Utf8mb4,
}

/// A collation, by MariaDB's id (as in column definitions on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Collation(pub u16);

impl Charset {
    /// MariaDB's name (`utf8mb4`).
    pub fn name(self) -> &'static str {
        todo!()
    }
    /// By name or alias (`utf8` is utf8mb3), any case.
    pub fn by_name(_name: &str) -> Option<Charset> {
        todo!()
    }
    /// The collation used where only the character set was named (`utf8mb4_general_ci`).
    pub fn default_collation(self) -> Collation {
        todo!()
    }
    /// The set's `_bin` collation (`binary` for binary).
    pub fn bin_collation(self) -> Collation {
        todo!()
    }
    /// The most bytes one character takes.
    pub fn max_len(self) -> u32 {
        todo!()
    }
    /// Encodes UTF-8 text into this set; characters it lacks become `?` and are counted.
    pub fn encode<'a>(self, _utf8: &'a [u8]) -> (std::borrow::Cow<'a, [u8]>, usize) {
        todo!()
    }
    /// Decodes bytes of this set into UTF-8; `Err(offset)` at the first invalid byte.
    pub fn decode<'a>(self, _bytes: &'a [u8]) -> Result<std::borrow::Cow<'a, [u8]>, usize> {
        todo!()
    }
    /// Whether the set has every character of the UTF-8 text.
    pub fn can_hold(self, _utf8: &[u8]) -> bool {
        todo!()
    }
    /// Length in bytes that the UTF-8 text has in this set.
    pub fn byte_len(self, _utf8: &[u8]) -> usize {
        todo!()
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

    /// By MariaDB's name (`utf8mb4_unicode_ci`; the `utf8_` prefix means utf8mb3), any case.
    pub fn by_name(_name: &str) -> Option<Collation> {
        todo!()
    }
    /// Whether the id is one that this server has.
    pub fn is_known(self) -> bool {
        todo!()
    }
    /// All collations, for SHOW COLLATION, sorted by id.
    pub fn all() -> &'static [Collation] {
        todo!()
    }
    /// MariaDB's name.
    pub fn name(self) -> &'static str {
        todo!()
    }
    /// The character set.
    pub fn charset(self) -> Charset {
        todo!()
    }
    /// Whether this is `binary`.
    pub fn is_binary(self) -> bool {
        self == Collation::BINARY
    }
    /// Whether it compares code points (`_bin`, `_nopad_bin`, `binary`).
    pub fn is_bin(self) -> bool {
        todo!()
    }
    /// Whether trailing spaces count in comparisons (NO PAD).
    pub fn no_pad(self) -> bool {
        todo!()
    }
    /// Compares two texts (UTF-8; raw bytes for `binary`), trailing spaces per the pad attribute.
    pub fn compare(self, _a: &[u8], _b: &[u8]) -> Ordering {
        todo!()
    }
    /// Whether two texts are equal under this collation (a fast path of [`Self::compare`]).
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Equal
    }
    /// Appends the text's sort weights: `memcmp` of two such strings, each closed by the key
    /// encoding's terminator, orders as [`Self::compare`] does.
    pub fn weights(self, _text: &[u8], _out: &mut Vec<u8>) {
        todo!()
    }
    /// Feeds a hash that is equal for texts that compare equal.
    pub fn hash(self, _text: &[u8], _state: &mut dyn std::hash::Hasher) {
        todo!()
    }
    /// LIKE with the collation's case rules; `escape` is a character or none.
    pub fn like(self, _text: &[u8], _pattern: &[u8], _escape: Option<char>) -> bool {
        todo!()
    }
    /// Upper-cases text.
    pub fn upper(self, _text: &[u8]) -> Vec<u8> {
        todo!()
    }
    /// Lower-cases text.
    pub fn lower(self, _text: &[u8]) -> Vec<u8> {
        todo!()
    }
}
