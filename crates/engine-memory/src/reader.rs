//! Readers and cursors of the memory engine.
//!
//! A cursor keeps a copy of the row that it is at and finds the next one from its key, so that it holds no lock between
//! steps.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use selkie_engine::{Cursor, IndexId, ReadAt, Reader, Result};

use crate::Shared;
use crate::index::{Index, Visible};

pub(crate) struct MemoryReader {
    shared: Arc<Shared>,
    at: ReadAt,
}

impl MemoryReader {
    pub(crate) fn new(shared: Arc<Shared>, at: ReadAt) -> Result<Self> {
        if let ReadAt::At(timestamp) = at {
            shared.register(timestamp)?;
        }
        Ok(MemoryReader { shared, at })
    }

    fn visible(&self) -> Visible {
        match self.at {
            ReadAt::At(timestamp) => Visible::Timestamp(timestamp),
            ReadAt::Latest => Visible::Sequence(self.shared.published.load(Ordering::Acquire)),
        }
    }
}

impl Drop for MemoryReader {
    fn drop(&mut self) {
        if let ReadAt::At(timestamp) = self.at {
            self.shared.unregister(timestamp);
        }
    }
}

impl Reader for MemoryReader {
    fn get_with(&self, index: IndexId, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.shared.index(index)?.get(key, self.visible());
        if let Some(value) = &value {
            found(value);
        }
        Ok(value.is_some())
    }

    fn cursor(&self, index: IndexId) -> Result<Box<dyn Cursor + '_>> {
        let index = self.shared.index(index)?;
        Ok(Box::new(MemoryCursor { reader: self, index, row: None }))
    }

    fn read_at(&self) -> ReadAt {
        self.at
    }

    fn set_read_at(&mut self, at: ReadAt) -> Result<()> {
        if at == self.at {
            return Ok(());
        }
        if let ReadAt::At(timestamp) = at {
            self.shared.register(timestamp)?;
        }
        if let ReadAt::At(timestamp) = std::mem::replace(&mut self.at, at) {
            self.shared.unregister(timestamp);
        }
        Ok(())
    }
}

struct MemoryCursor<'r> {
    reader: &'r MemoryReader,
    index: Arc<Index>,
    row: Option<(Vec<u8>, Arc<[u8]>)>,
}

impl MemoryCursor<'_> {
    fn go_forward(&mut self, low: Bound<&[u8]>) -> Result<bool> {
        self.row = self.index.first_in(low, Bound::Unbounded, self.reader.visible());
        Ok(self.row.is_some())
    }

    fn go_back(&mut self, high: Bound<&[u8]>) -> Result<bool> {
        self.row = self.index.last_in(Bound::Unbounded, high, self.reader.visible());
        Ok(self.row.is_some())
    }
}

impl Cursor for MemoryCursor<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.go_forward(Bound::Included(key))
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.go_back(Bound::Excluded(key))
    }

    fn first(&mut self) -> Result<bool> {
        self.go_forward(Bound::Unbounded)
    }

    fn last(&mut self) -> Result<bool> {
        self.go_back(Bound::Unbounded)
    }

    fn next(&mut self) -> Result<bool> {
        match self.row.take() {
            Some((key, _)) => self.go_forward(Bound::Excluded(&key)),
            None => Ok(false),
        }
    }

    fn prev(&mut self) -> Result<bool> {
        match self.row.take() {
            Some((key, _)) => self.go_back(Bound::Excluded(&key)),
            None => Ok(false),
        }
    }

    fn key(&self) -> &[u8] {
        self.row.as_ref().map_or(&[], |(key, _)| key)
    }

    fn value(&self) -> &[u8] {
        self.row.as_ref().map_or(&[], |(_, value)| value)
    }
}
