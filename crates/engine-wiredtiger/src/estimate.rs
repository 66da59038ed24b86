//! Estimates of sizes, and split points, from random samples of an index's keys.
//!
//! WiredTiger does not count rows. Small ranges are counted by walking them; for larger ones, a sample of keys tells
//! which part of the index a range is, and the file's size with the mean size of a row tells how much that is. Samples
//! are kept for a while, so that asking again costs a binary search.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use selkie_engine::{IndexId, ReadAt, Reader, Result};

use crate::reader::WiredTigerReader;
use crate::session::uri;
use crate::{Shared, sys};

/// Ranges with fewer rows than this are counted.
const ROWS_COUNTED_MAX: u64 = 128;
/// How many keys are drawn for estimates.
const SAMPLE_KEYS: usize = 256;
/// For split points: how many keys are drawn for each part, and at most.
const SPLIT_KEYS_PER_PART: usize = 64;
const SPLIT_KEYS_MAX: usize = 8192;
/// How long a sample is used.
const SAMPLE_AGE_MAX: Duration = Duration::from_secs(20);
/// What a row takes in a page besides its bytes.
const ROW_OVERHEAD_BYTES: usize = 4;
/// What a row that has not been written yet takes in the cache besides its bytes.
const UPDATE_OVERHEAD_BYTES: u64 = 120;

struct Sample {
    taken: Instant,
    /// In ascending order; the same key may have been drawn more than once.
    keys: Vec<Vec<u8>>,
    rows: u64,
}

/// The samples that are kept, by index.
#[derive(Default)]
pub(crate) struct Samples(Mutex<FxHashMap<IndexId, Arc<Sample>>>);

impl Samples {
    pub(crate) fn forget(&self, index: IndexId) {
        self.0.lock().remove(&index);
    }

    fn get(&self, shared: &Shared, index: IndexId) -> Result<Arc<Sample>> {
        let kept = self.0.lock().get(&index).cloned();
        if let Some(sample) = kept.filter(|sample| sample.taken.elapsed() < SAMPLE_AGE_MAX) {
            return Ok(sample);
        }
        let (keys, row_bytes) = draw(shared, index, SAMPLE_KEYS)?;
        let rows = rows_by_size(shared, index, row_bytes)?;
        let sample = Arc::new(Sample { taken: Instant::now(), keys, rows });
        self.0.lock().insert(index, sample.clone());
        Ok(sample)
    }
}

/// Draws keys at random, and returns them in ascending order, with the mean size of a row.
fn draw(shared: &Shared, index: IndexId, count: usize) -> Result<(Vec<Vec<u8>>, u64)> {
    let session = shared.connection.open_session(c"")?;
    let Some(cursor) = session.open_cursor(&uri(index)?, Some(c"next_random=true"))? else {
        return Ok((Vec::new(), 1));
    };
    let mut keys = Vec::with_capacity(count);
    let mut bytes = 0;
    for _ in 0..count {
        match cursor.next() {
            0 => {
                let row = cursor.row()?;
                // SAFETY: the cursor does not move before the slices are used up.
                let (key, value) = unsafe { (row.key(), row.value()) };
                bytes += key.len() + value.len() + ROW_OVERHEAD_BYTES;
                keys.push(key.to_vec());
            }
            sys::WT_NOTFOUND => break,
            code => session.check(code)?,
        }
    }
    keys.sort_unstable();
    let row_bytes = (bytes / keys.len().max(1)).max(1) as u64;
    Ok((keys, row_bytes))
}

fn rows_by_size(shared: &Shared, index: IndexId, row_bytes: u64) -> Result<u64> {
    let [file, reusable, dirty] = file_sizes(shared, index)?;
    let written = file.saturating_sub(reusable) / row_bytes;
    let unwritten = dirty / (row_bytes + UPDATE_OVERHEAD_BYTES);
    // Not the sum: what is unwritten is mostly newer versions of what is written.
    Ok(written.max(unwritten))
}

fn file_sizes(shared: &Shared, index: IndexId) -> Result<[u64; 3]> {
    use sys::stat::file::{BLOCK_REUSE_BYTES, BLOCK_SIZE, CACHE_BYTES_DIRTY};
    let name = crate::handle::c_string(format!("statistics:file:{}", crate::session::file_name(index)))?;
    shared.statistics(&name, [BLOCK_SIZE, BLOCK_REUSE_BYTES, CACHE_BYTES_DIRTY])
}

pub(crate) fn bytes(shared: &Shared, index: IndexId) -> Result<u64> {
    let [file, reusable, dirty] = file_sizes(shared, index)?;
    Ok(file.saturating_sub(reusable) + dirty)
}

fn is_before(key: &[u8], high: &[u8]) -> bool {
    high.is_empty() || key < high
}

/// Which of the sorted `keys` lie in `low..high`.
fn positions(keys: &[Vec<u8>], low: &[u8], high: &[u8]) -> std::ops::Range<usize> {
    let start = keys.partition_point(|key| key.as_slice() < low);
    let end = keys.partition_point(|key| is_before(key, high));
    start..end.max(start)
}

pub(crate) fn range(shared: &Arc<Shared>, index: IndexId, low: &[u8], high: &[u8]) -> Result<u64> {
    if !high.is_empty() && low >= high {
        // The index must exist all the same.
        WiredTigerReader::new(shared.clone(), ReadAt::Latest)?.cursor(index)?;
        return Ok(0);
    }
    let counted = {
        let reader = WiredTigerReader::new(shared.clone(), ReadAt::Latest)?;
        let mut cursor = reader.cursor(index)?;
        let mut counted = 0;
        let mut more = cursor.seek(low)?;
        while more && is_before(cursor.key(), high) && counted < ROWS_COUNTED_MAX {
            counted += 1;
            more = cursor.next()?;
        }
        counted
    };
    if counted < ROWS_COUNTED_MAX {
        return Ok(counted);
    }
    let sample = shared.samples.get(shared, index)?;
    let part = positions(&sample.keys, low, high).len() as u64;
    let estimate = sample.rows * part / sample.keys.len().max(1) as u64;
    Ok(estimate.max(ROWS_COUNTED_MAX))
}

pub(crate) fn split_points(
    shared: &Shared,
    index: IndexId,
    low: &[u8],
    high: &[u8],
    parts: usize,
) -> Result<Vec<Vec<u8>>> {
    if parts < 2 || !high.is_empty() && low >= high {
        return Ok(Vec::new());
    }
    let enough = (parts * SPLIT_KEYS_PER_PART).min(SPLIT_KEYS_MAX);
    let mut count = enough;
    let mut drawn;
    let mut inside;
    loop {
        (drawn, _) = draw(shared, index, count)?;
        inside = positions(&drawn, low, high);
        // A small part of the index gets few of the keys: draw more.
        if inside.len() >= enough / 2 || count >= SPLIT_KEYS_MAX || drawn.is_empty() {
            break;
        }
        count = (count * 4).min(SPLIT_KEYS_MAX);
    }
    let inside = &drawn[inside];
    let mut points: Vec<Vec<u8>> = Vec::new();
    for part in 1..parts {
        if let Some(key) = inside.get(inside.len() * part / parts) {
            let last = points.last().map_or(low, Vec::as_slice);
            if key.as_slice() > last {
                points.push(key.clone());
            }
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_ranges() {
        let keys: Vec<Vec<u8>> = [b"b", b"d", b"d", b"f"].iter().map(|key| key.to_vec()).collect();
        assert_eq!(positions(&keys, b"", b""), 0..4);
        assert_eq!(positions(&keys, b"b", b"d"), 0..1);
        assert_eq!(positions(&keys, b"c", b"e"), 1..3);
        assert_eq!(positions(&keys, b"d", b""), 1..4);
        assert_eq!(positions(&keys, b"g", b""), 4..4);
        assert_eq!(positions(&keys, b"e", b"c"), 3..3);
    }
}
