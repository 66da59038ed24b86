//! An engine that keeps everything in memory: a versioned ordered map. For tests, simulation and MEMORY tables.
//!
//! * [`index`]: one index, its version chains and how they are pruned.
//! * this file: the engine around them: commits, timestamps, checkpoints.
//! * [`reader`]: readers and cursors.
//!
//! # How a commit becomes visible
//!
//! Every commit gets a sequence number, and its versions carry that and its timestamp. [`ReadAt::Latest`] reads up to the
//! *published* sequence number, which advances only when all of a batch's versions are in place; [`ReadAt::At`] compares
//! timestamps. So both see a batch whole or not at all, without one lock around everything. Commits themselves
//! are made one at a time.
//!
//! # Checkpoints
//!
//! There is nothing to keep them on, but an engine made by [`MemoryEngine::with_checkpoints`] remembers an image of its
//! last checkpoint, and [`MemoryEngine::crash`] gives an engine that holds just that: a crash test without a disk.

#![warn(missing_docs)]
// The code map above names the modules, which are private.
#![allow(rustdoc::private_intra_doc_links)]

mod index;
mod reader;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use selkie_engine::{
    Backup, BulkLoader, Engine, EngineError, IndexId, ReadAt, Reader, Result, Timestamp, WriteBatch,
};

use crate::index::{Index, Value};
use crate::reader::MemoryReader;

/// A checkpoint's content.
#[derive(Default)]
struct Image {
    timestamp: Timestamp,
    indexes: BTreeMap<IndexId, Vec<(Vec<u8>, Value)>>,
}

/// What the engine, its readers and its batches share.
///
/// Lock order: `commit`, `indexes`, an index's map, `readers`, `image`.
struct Shared {
    indexes: RwLock<HashMap<IndexId, Arc<Index>>>,
    /// Held while a batch is applied, and while timestamps move.
    commit: Mutex<CommitState>,
    /// The sequence number up to which `Latest` sees.
    published: AtomicU64,
    durable: AtomicU64,
    oldest: AtomicU64,
    /// How many readers are at work at each timestamp: pruning must leave them what they see.
    readers: Mutex<BTreeMap<Timestamp, usize>>,
    keeps_images: bool,
    image: Mutex<Arc<Image>>,
    recovered: Timestamp,
    commits: AtomicU64,
    checkpoints: AtomicU64,
}

#[derive(Default)]
struct CommitState {
    sequence: u64,
    newest: Timestamp,
    /// Keys with a version that can go once `oldest` has reached the timestamp, in the order of timestamps.
    garbage: std::collections::VecDeque<(Timestamp, Arc<Index>, Box<[u8]>)>,
}

impl Shared {
    fn index(&self, index: IndexId) -> Result<Arc<Index>> {
        self.indexes.read().get(&index).cloned().ok_or(EngineError::NotFound(index))
    }

    /// Lets a reader begin at `timestamp`, or tells that it is too late for that.
    fn register(&self, timestamp: Timestamp) -> Result<()> {
        let mut readers = self.readers.lock();
        let oldest = self.oldest.load(Ordering::Acquire);
        if timestamp < oldest {
            return Err(EngineError::SnapshotTooOld { requested: timestamp, oldest });
        }
        *readers.entry(timestamp).or_default() += 1;
        Ok(())
    }

    fn unregister(&self, timestamp: Timestamp) {
        let mut readers = self.readers.lock();
        if let Some(count) = readers.get_mut(&timestamp) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&timestamp);
            }
        }
    }
}

/// The engine. Clones are handles to the same data.
#[derive(Clone)]
pub struct MemoryEngine {
    shared: Arc<Shared>,
}

impl Default for MemoryEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryEngine {
    /// An empty engine whose checkpoints keep nothing.
    pub fn new() -> Self {
        Self::from_image(Arc::new(Image::default()), false)
    }

    /// An empty engine that remembers its last checkpoint for [`crash`](Self::crash). Each checkpoint copies everything.
    pub fn with_checkpoints() -> Self {
        Self::from_image(Arc::new(Image::default()), true)
    }

    /// The engine as it would be found after a crash now: what the last checkpoint held, nothing else. This one goes on.
    pub fn crash(&self) -> MemoryEngine {
        let image = self.shared.image.lock().clone();
        Self::from_image(image, self.shared.keeps_images)
    }

    fn from_image(image: Arc<Image>, keeps_images: bool) -> Self {
        let timestamp = image.timestamp;
        let indexes = image
            .indexes
            .iter()
            .map(|(&id, rows)| (id, Arc::new(Index::from_rows(id, rows.iter().cloned()))))
            .collect();
        MemoryEngine {
            shared: Arc::new(Shared {
                indexes: RwLock::new(indexes),
                commit: Mutex::new(CommitState { newest: timestamp, ..CommitState::default() }),
                published: AtomicU64::new(0),
                durable: AtomicU64::new(timestamp),
                oldest: AtomicU64::new(timestamp),
                readers: Mutex::default(),
                keeps_images,
                image: Mutex::new(image),
                recovered: timestamp,
                commits: AtomicU64::new(0),
                checkpoints: AtomicU64::new(0),
            }),
        }
    }
}

impl Engine for MemoryEngine {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn create_index(&self, index: IndexId) -> Result<()> {
        use std::collections::hash_map::Entry;
        match self.shared.indexes.write().entry(index) {
            Entry::Occupied(_) => Err(EngineError::AlreadyExists(index)),
            Entry::Vacant(entry) => {
                entry.insert(Arc::new(Index::new(index)));
                Ok(())
            }
        }
    }

    fn drop_index(&self, index: IndexId) -> Result<()> {
        self.shared.indexes.write().remove(&index).map(drop).ok_or(EngineError::NotFound(index))
    }

    fn indexes(&self) -> Result<Vec<IndexId>> {
        let mut ids: Vec<IndexId> = self.shared.indexes.read().keys().copied().collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn bulk_load(&self, index: IndexId) -> Result<Box<dyn BulkLoader>> {
        self.create_index(index)?;
        Ok(Box::new(MemoryBulkLoader { shared: self.shared.clone(), index, rows: Vec::new(), finished: false }))
    }

    fn begin_write(&self) -> Result<Box<dyn WriteBatch>> {
        Ok(Box::new(MemoryBatch { shared: self.shared.clone(), writes: HashMap::new() }))
    }

    fn read(&self, at: ReadAt) -> Result<Box<dyn Reader>> {
        Ok(Box::new(MemoryReader::new(self.shared.clone(), at)?))
    }

    fn set_durable(&self, timestamp: Timestamp) -> Result<()> {
        self.shared.durable.fetch_max(timestamp, Ordering::AcqRel);
        Ok(())
    }

    fn set_oldest(&self, timestamp: Timestamp) -> Result<()> {
        let shared = &self.shared;
        let mut state = shared.commit.lock();
        let keep = {
            // Under the readers' lock, so that no reader begins before the new oldest after this.
            let readers = shared.readers.lock();
            let oldest = timestamp.min(shared.durable.load(Ordering::Acquire));
            let oldest = oldest.max(shared.oldest.fetch_max(oldest, Ordering::AcqRel));
            readers.keys().next().map_or(oldest, |&first| oldest.min(first))
        };
        while state.garbage.front().is_some_and(|(superseded, ..)| *superseded <= keep) {
            if let Some((_, index, key)) = state.garbage.pop_front() {
                index.prune(&key, keep);
            }
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<Timestamp> {
        let shared = &self.shared;
        // Held, so that timestamp and content agree, and so that nothing of the content is pruned.
        let _commit = shared.commit.lock();
        let timestamp = shared.durable.load(Ordering::Acquire);
        if shared.keeps_images {
            let indexes = shared.indexes.read();
            let indexes = indexes.iter().map(|(&id, index)| (id, index.rows_at(timestamp))).collect();
            *shared.image.lock() = Arc::new(Image { timestamp, indexes });
        }
        shared.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(timestamp)
    }

    fn recovered(&self) -> Timestamp {
        self.shared.recovered
    }

    fn split_points(&self, index: IndexId, low: &[u8], high: &[u8], parts: usize) -> Result<Vec<Vec<u8>>> {
        Ok(self.shared.index(index)?.split_points(low, high, parts))
    }

    fn estimate_range(&self, index: IndexId, low: &[u8], high: &[u8]) -> Result<u64> {
        Ok(self.shared.index(index)?.count(low, high))
    }

    fn estimate_bytes(&self, index: IndexId) -> Result<u64> {
        Ok(self.shared.index(index)?.bytes())
    }

    fn verify(&self, index: IndexId) -> Result<()> {
        self.shared.index(index)?.verify()
    }

    fn backup(&self) -> Result<Box<dyn Backup>> {
        Err(EngineError::Unsupported("backup"))
    }

    fn stats(&self) -> Vec<(&'static str, u64)> {
        let shared = &self.shared;
        vec![
            ("indexes", shared.indexes.read().len() as u64),
            ("commits", shared.commits.load(Ordering::Relaxed)),
            ("checkpoints", shared.checkpoints.load(Ordering::Relaxed)),
            ("durable", shared.durable.load(Ordering::Relaxed)),
            ("oldest", shared.oldest.load(Ordering::Relaxed)),
            ("superseded_keys", shared.commit.lock().garbage.len() as u64),
        ]
    }
}

struct MemoryBatch {
    shared: Arc<Shared>,
    writes: HashMap<IndexId, IndexWrites>,
}

/// An index, and the last write of each key.
type IndexWrites = (Arc<Index>, BTreeMap<Vec<u8>, Value>);

impl MemoryBatch {
    fn write(&mut self, index: IndexId, key: &[u8], value: Value) -> Result<()> {
        use std::collections::hash_map::Entry;
        let (_, keys) = match self.writes.entry(index) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert((self.shared.index(index)?, BTreeMap::new())),
        };
        keys.insert(key.to_vec(), value);
        Ok(())
    }
}

impl WriteBatch for MemoryBatch {
    fn put(&mut self, index: IndexId, key: &[u8], value: &[u8]) -> Result<()> {
        if key.is_empty() {
            return Err(EngineError::EmptyKey);
        }
        self.write(index, key, Some(value.into()))
    }

    fn delete(&mut self, index: IndexId, key: &[u8]) -> Result<()> {
        self.write(index, key, None)
    }

    fn commit_ordered(self: Box<Self>, timestamp: Timestamp) -> Result<()> {
        let shared = &self.shared;
        let mut state = shared.commit.lock();
        if timestamp < state.newest || timestamp <= shared.durable.load(Ordering::Acquire) {
            return Err(EngineError::Other {
                code: 0,
                message: format!("commit at {timestamp} after one at {}, or not after the durable one", state.newest),
            });
        }
        state.newest = timestamp;
        state.sequence += 1;
        let sequence = state.sequence;
        for (index, keys) in self.writes.into_values() {
            for (key, superseded) in index.apply(keys, timestamp, sequence) {
                debug_assert!(superseded == timestamp);
                state.garbage.push_back((superseded, index.clone(), key));
            }
        }
        shared.published.store(sequence, Ordering::Release);
        shared.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn abort(self: Box<Self>) {}
}

struct MemoryBulkLoader {
    shared: Arc<Shared>,
    index: IndexId,
    rows: Vec<(Vec<u8>, Value)>,
    finished: bool,
}

impl BulkLoader for MemoryBulkLoader {
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.is_empty() {
            return Err(EngineError::EmptyKey);
        }
        if self.rows.last().is_some_and(|(last, _)| last.as_slice() >= key) {
            return Err(EngineError::KeyOrder);
        }
        self.rows.push((key.to_vec(), Some(value.into())));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.finished = true;
        let index = Arc::new(Index::from_rows(self.index, std::mem::take(&mut self.rows)));
        match self.shared.indexes.write().get_mut(&self.index) {
            Some(place) => {
                *place = index;
                Ok(())
            }
            None => Err(EngineError::NotFound(self.index)),
        }
    }
}

impl Drop for MemoryBulkLoader {
    fn drop(&mut self) {
        if !self.finished {
            self.shared.indexes.write().remove(&self.index);
        }
    }
}
