//! One index: an ordered map from keys to version chains. Knows nothing of the engine around it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::RwLock;
use selkie_engine::{EngineError, IndexId, Result, Timestamp};

/// A value, or `None` for a deleted key.
pub(crate) type Value = Option<Arc<[u8]>>;

/// Up to where a read sees.
#[derive(Copy, Clone)]
pub(crate) enum Visible {
    Timestamp(Timestamp),
    Sequence(u64),
}

struct Version {
    timestamp: Timestamp,
    sequence: u64,
    value: Value,
}

/// The versions of one key, in the order of their commits. Never empty.
type Chain = Vec<Version>;

pub(crate) struct Index {
    id: IndexId,
    map: RwLock<BTreeMap<Vec<u8>, Chain>>,
}

fn visible(chain: &Chain, at: Visible) -> Option<&Arc<[u8]>> {
    let version = chain.iter().rev().find(|version| match at {
        Visible::Timestamp(timestamp) => version.timestamp <= timestamp,
        Visible::Sequence(sequence) => version.sequence <= sequence,
    })?;
    version.value.as_ref()
}

type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// `low..high` as bounds; an empty `high` means no upper end. `None` if nothing can lie in it.
fn bounds<'a>(low: &'a [u8], high: &'a [u8]) -> Option<Bounds<'a>> {
    match high {
        [] => Some((Bound::Included(low), Bound::Unbounded)),
        high if low < high => Some((Bound::Included(low), Bound::Excluded(high))),
        _ => None,
    }
}

impl Index {
    pub(crate) fn new(id: IndexId) -> Self {
        Index { id, map: RwLock::default() }
    }

    /// An index with these rows at timestamp 0.
    pub(crate) fn from_rows(id: IndexId, rows: impl IntoIterator<Item = (Vec<u8>, Value)>) -> Self {
        let map =
            rows.into_iter().map(|(key, value)| (key, vec![Version { timestamp: 0, sequence: 0, value }])).collect();
        Index { id, map: RwLock::new(map) }
    }

    /// Adds versions, and returns the keys that now have one that can go some day, with the timestamp from which on.
    pub(crate) fn apply(
        &self,
        keys: BTreeMap<Vec<u8>, Value>,
        timestamp: Timestamp,
        sequence: u64,
    ) -> Vec<(Box<[u8]>, Timestamp)> {
        let mut superseded = Vec::new();
        let mut map = self.map.write();
        for (key, value) in keys {
            if value.is_none() && !map.contains_key(&key) {
                continue;
            }
            let deleted = value.is_none();
            let chain = map.entry(key.clone()).or_default();
            chain.push(Version { timestamp, sequence, value });
            if deleted || chain.len() > 1 {
                superseded.push((key.into_boxed_slice(), timestamp));
            }
        }
        superseded
    }

    /// Forgets the versions of `key` that nobody who reads at `oldest` or later can see.
    pub(crate) fn prune(&self, key: &[u8], oldest: Timestamp) {
        let mut map = self.map.write();
        let Some(chain) = map.get_mut(key) else { return };
        if let Some(first) = chain.iter().rposition(|version| version.timestamp <= oldest) {
            // A deletion that everybody sees is as good as no version.
            let first = if chain[first].value.is_none() { first + 1 } else { first };
            chain.drain(..first);
        }
        if chain.is_empty() {
            map.remove(key);
        }
    }

    pub(crate) fn get(&self, key: &[u8], at: Visible) -> Value {
        visible(self.map.read().get(key)?, at).cloned()
    }

    /// The first visible row in the bounds.
    pub(crate) fn first_in(&self, low: Bound<&[u8]>, high: Bound<&[u8]>, at: Visible) -> Option<(Vec<u8>, Arc<[u8]>)> {
        let map = self.map.read();
        map.range::<[u8], _>((low, high)).find_map(|(key, chain)| Some((key.clone(), visible(chain, at)?.clone())))
    }

    /// The last visible row in the bounds.
    pub(crate) fn last_in(&self, low: Bound<&[u8]>, high: Bound<&[u8]>, at: Visible) -> Option<(Vec<u8>, Arc<[u8]>)> {
        let map = self.map.read();
        let mut rows = map.range::<[u8], _>((low, high)).rev();
        rows.find_map(|(key, chain)| Some((key.clone(), visible(chain, at)?.clone())))
    }

    pub(crate) fn rows_at(&self, timestamp: Timestamp) -> Vec<(Vec<u8>, Value)> {
        let map = self.map.read();
        let at = Visible::Timestamp(timestamp);
        map.iter().filter_map(|(key, chain)| Some((key.clone(), Some(visible(chain, at)?.clone())))).collect()
    }

    pub(crate) fn count(&self, low: &[u8], high: &[u8]) -> u64 {
        let map = self.map.read();
        let latest = Visible::Sequence(u64::MAX);
        bounds(low, high).map_or(0, |bounds| {
            map.range::<[u8], _>(bounds).filter(|(_, chain)| visible(chain, latest).is_some()).count() as u64
        })
    }

    pub(crate) fn split_points(&self, low: &[u8], high: &[u8], parts: usize) -> Vec<Vec<u8>> {
        let map = self.map.read();
        let Some(bounds) = bounds(low, high) else { return Vec::new() };
        let step = map.range::<[u8], _>(bounds).count() / parts.max(1);
        if step == 0 {
            return Vec::new();
        }
        let keys = map.range::<[u8], _>(bounds).map(|(key, _)| key);
        keys.step_by(step).skip(1).take(parts.saturating_sub(1)).cloned().collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        let value = |version: &Version| version.value.as_ref().map_or(0, |value| value.len()) + size_of::<Version>();
        let map = self.map.read();
        map.iter().map(|(key, chain)| (key.len() + chain.iter().map(value).sum::<usize>()) as u64).sum()
    }

    /// Checks what `apply` and `prune` promise to each other: chains are in order and not empty.
    pub(crate) fn verify(&self) -> Result<()> {
        let ordered = |chain: &Chain| {
            chain.windows(2).all(|pair| pair[0].timestamp <= pair[1].timestamp && pair[0].sequence < pair[1].sequence)
        };
        match self.map.read().values().all(|chain| !chain.is_empty() && ordered(chain)) {
            true => Ok(()),
            false => Err(EngineError::Corrupt(format!("index {}: version chain", self.id))),
        }
    }
}
