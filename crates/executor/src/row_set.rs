//! Hash tables of row keys.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use selkie_types::{SqlResult, SqlType, Value};

use crate::context::ExecCtx;
use crate::row_key::RowKey;

/// Hash of a key.
pub fn hash_of(key: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(key);
    h.finish()
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    start: usize,
    len: u32,
}

/// Distinct keys, numbered from 0 in the order in which they were first seen; their bytes stand in one buffer.
#[derive(Debug, Default)]
pub struct KeyTable {
    table: HashTable<u32>,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl KeyTable {
    /// The number of a key, if it is there.
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<u32> {
        self.table
            .find(hash, |&i| {
                let e = &self.entries[i as usize];
                e.hash == hash && self.bytes[e.start..e.start + e.len as usize] == *key
            })
            .copied()
    }

    /// The number of a key, and whether it is new.
    pub fn insert(&mut self, hash: u64, key: &[u8]) -> (u32, bool) {
        if let Some(i) = self.find(hash, key) {
            return (i, false);
        }
        let i = self.entries.len() as u32;
        self.entries.push(Entry { hash, start: self.bytes.len(), len: key.len() as u32 });
        self.bytes.extend_from_slice(key);
        let entries = &self.entries;
        self.table.insert_unique(hash, i, |&i| entries[i as usize].hash);
        (i, true)
    }

    /// Bytes of a key.
    pub fn key(&self, i: u32) -> &[u8] {
        let e = &self.entries[i as usize];
        &self.bytes[e.start..e.start + e.len as usize]
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that a key of this length takes in memory.
    pub fn entry_bytes(key: &[u8]) -> usize {
        key.len() + size_of::<Entry>() + 8
    }

    /// Forgets all keys, keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.entries.clear();
        self.bytes.clear();
    }
}

/// The rows seen so far.
pub struct RowSet {
    key: RowKey,
    seen: KeyTable,
    scratch: Vec<u8>,
}

impl RowSet {
    /// An empty set of rows of these types.
    pub fn new(types: &[SqlType]) -> RowSet {
        RowSet { key: RowKey::new(types), seen: KeyTable::default(), scratch: Vec::new() }
    }

    /// Adds a row; `false` if an equal one is there.
    pub fn insert(&mut self, cx: &mut ExecCtx<'_>, row: &[Value]) -> SqlResult<bool> {
        self.scratch.clear();
        self.key.encode(row, &mut self.scratch);
        let (_, new) = self.seen.insert(hash_of(&self.scratch), &self.scratch);
        if new {
            cx.charge(KeyTable::entry_bytes(&self.scratch) as isize)?;
        }
        Ok(new)
    }

    /// The number of a row, in order of first appearance, and whether it is new.
    pub fn number(&mut self, cx: &mut ExecCtx<'_>, row: &[Value]) -> SqlResult<(usize, bool)> {
        self.scratch.clear();
        self.key.encode(row, &mut self.scratch);
        let (i, new) = self.seen.insert(hash_of(&self.scratch), &self.scratch);
        if new {
            cx.charge(KeyTable::entry_bytes(&self.scratch) as isize)?;
        }
        Ok((i as usize, new))
    }

    /// The number of an equal row.
    pub fn find(&mut self, row: &[Value]) -> Option<usize> {
        self.scratch.clear();
        self.key.encode(row, &mut self.scratch);
        self.seen.find(hash_of(&self.scratch), &self.scratch).map(|i| i as usize)
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_in_order_of_appearance() {
        let mut t = KeyTable::default();
        for (key, expected) in
            [("a", (0, true)), ("bc", (1, true)), ("a", (0, false)), ("", (2, true)), ("bc", (1, false))]
        {
            assert_eq!(t.insert(hash_of(key.as_bytes()), key.as_bytes()), expected);
        }
        assert_eq!((t.len(), t.key(1)), (3, &b"bc"[..]));
        assert_eq!(t.find(hash_of(b"x"), b"x"), None);
    }
}
