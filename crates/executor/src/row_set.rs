//! Keys of rows for hashing: equal bytes exactly where SQL says that values are equal (or both NULL).

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use selkie_types::codec::{KeyPart, encode_key_part};
use selkie_types::{SqlResult, SqlType, TimeZone, Value};

use crate::context::ExecCtx;

/// How to turn values of given types into comparable bytes: order and equality of the bytes are those of the values.
#[derive(Debug, Clone)]
pub struct RowKey {
    parts: Vec<KeyPart>,
}

impl RowKey {
    /// For values of these types, each possibly NULL.
    pub fn new<'a>(types: impl IntoIterator<Item = &'a SqlType>) -> RowKey {
        let part = |ty: &SqlType| KeyPart { ty: ty.clone(), nullable: true, descending: false, prefix: None };
        RowKey { parts: types.into_iter().map(part).collect() }
    }

    /// Appends the key of some values.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> SqlResult<()> {
        // A fixed zone: TIMESTAMP values of one statement are all local times of one zone.
        const UTC: TimeZone = TimeZone::Offset(0);
        for (v, part) in values.iter().zip(&self.parts) {
            encode_key_part(v, part, &UTC, out)?;
        }
        Ok(())
    }
}

/// The rows seen so far.
pub struct RowSet {
    key: RowKey,
    seen: HashSet<Box<[u8]>, FxBuildHasher>,
    scratch: Vec<u8>,
}

impl RowSet {
    /// An empty set of rows of these types.
    pub fn new(types: &[SqlType]) -> RowSet {
        RowSet { key: RowKey::new(types), seen: HashSet::default(), scratch: Vec::new() }
    }

    /// Adds a row; `false` if an equal one is there.
    pub fn insert(&mut self, cx: &mut ExecCtx<'_>, row: &[Value]) -> SqlResult<bool> {
        self.scratch.clear();
        self.key.encode(row, &mut self.scratch)?;
        if self.seen.contains(&self.scratch[..]) {
            return Ok(false);
        }
        cx.charge((self.scratch.len() + 48) as isize)?;
        self.seen.insert(self.scratch[..].into());
        Ok(true)
    }

    /// Whether an equal row is there.
    pub fn contains(&mut self, row: &[Value]) -> SqlResult<bool> {
        self.scratch.clear();
        self.key.encode(row, &mut self.scratch)?;
        Ok(self.seen.contains(&self.scratch[..]))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.seen.clear();
    }
}
