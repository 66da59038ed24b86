//! What a transaction has written and nobody else sees yet: an ordered overlay over each index,
//! with an undo list so that a statement or a savepoint can be taken back.

use std::collections::BTreeMap;
use std::ops::Bound;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use selkie_engine::IndexId;

/// The overlay of one index: key to new value, or `None` for a deleted key.
pub type Overlay = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Writes of a transaction, by index.
#[derive(Debug, Default)]
pub struct WriteSet {
    indexes: HashMap<IndexId, Overlay, FxBuildHasher>,
    undo: Vec<Undo>,
    bytes: usize,
}

#[derive(Debug)]
struct Undo {
    index: IndexId,
    key: Vec<u8>,
    /// What the overlay had for the key: nothing, a deletion, or a value.
    before: Option<Option<Vec<u8>>>,
}

impl WriteSet {
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.undo.is_empty()
    }

    /// Bytes of keys and values held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The overlay of an index, if it has entries.
    pub fn overlay(&self, index: IndexId) -> Option<&Overlay> {
        self.indexes.get(&index).filter(|o| !o.is_empty())
    }

    /// What the overlay says of a key: `None` nothing, `Some(None)` deleted, `Some(Some(v))` written.
    pub fn get(&self, index: IndexId, key: &[u8]) -> Option<Option<&[u8]>> {
        self.indexes.get(&index)?.get(key).map(|v| v.as_deref())
    }

    /// Writes (`Some`) or deletes (`None`) a key.
    pub fn set(&mut self, index: IndexId, key: &[u8], value: Option<Vec<u8>>) {
        self.bytes += key.len() + value.as_ref().map_or(0, Vec::len) + 48;
        let before = self.indexes.entry(index).or_default().insert(key.to_vec(), value);
        self.undo.push(Undo { index, key: key.to_vec(), before });
    }

    /// A mark to come back to.
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Takes back everything written since the mark.
    pub fn rollback_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some(u) = self.undo.pop() else { return };
            let Some(overlay) = self.indexes.get_mut(&u.index) else { continue };
            self.bytes = self.bytes.saturating_sub(u.key.len() + 48);
            match u.before {
                Some(value) => {
                    overlay.insert(u.key, value);
                }
                None => {
                    if let Some(Some(v)) = overlay.remove(&u.key) {
                        self.bytes = self.bytes.saturating_sub(v.len());
                    }
                }
            }
        }
    }

    /// All writes: index, key, new value or deletion; keys of an index in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (IndexId, &[u8], Option<&[u8]>)> {
        self.indexes.iter().flat_map(|(i, o)| o.iter().map(|(k, v)| (*i, k.as_slice(), v.as_deref())))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.indexes.clear();
        self.undo.clear();
        self.bytes = 0;
    }
}

/// The first overlay entry in `low..high` (`high` empty: no end).
pub fn first_in<'a>(o: &'a Overlay, low: &[u8], high: &[u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
    let upper = if high.is_empty() { Bound::Unbounded } else { Bound::Excluded(high) };
    if !high.is_empty() && low >= high {
        return None;
    }
    o.range::<[u8], _>((Bound::Included(low), upper)).next().map(|(k, v)| (k.as_slice(), v.as_deref()))
}

/// The last overlay entry in `low..high`.
pub fn last_in<'a>(o: &'a Overlay, low: &[u8], high: &[u8]) -> Option<(&'a [u8], Option<&'a [u8]>)> {
    let upper = if high.is_empty() { Bound::Unbounded } else { Bound::Excluded(high) };
    if !high.is_empty() && low >= high {
        return None;
    }
    o.range::<[u8], _>((Bound::Included(low), upper)).next_back().map(|(k, v)| (k.as_slice(), v.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rollback_restores_what_was_written_before_the_mark() {
        let mut w = WriteSet::default();
        let i = IndexId(1);
        w.set(i, b"a", Some(b"1".to_vec()));
        let mark = w.mark();
        w.set(i, b"a", None);
        w.set(i, b"b", Some(b"2".to_vec()));
        w.set(i, b"a", Some(b"3".to_vec()));
        w.rollback_to(mark);
        assert_eq!(w.get(i, b"a"), Some(Some(&b"1"[..])));
        assert_eq!(w.get(i, b"b"), None);
        w.rollback_to(0);
        assert!(w.is_empty() && w.overlay(i).is_none());
    }
}
