//! Estimates for the planner: how many rows share a key prefix, how many lie in a range.
//!
//! Both come from the engine's cheap range estimates. Rows per key prefix are sampled at places spread over the
//! index and remembered until a tenth of the table has changed. Nothing here is exact, and nothing depends on it
//! but the choice of a plan.

use std::sync::atomic::Ordering;

use selkie_catalog::Table;
use selkie_engine::{Engine, ReadAt};
use selkie_expr::ExprKind;
use selkie_planner::plan::{KeyBound, KeyRange};
use selkie_types::TimeZone;
use selkie_types::codec::{encode_key_part, key_part_len, prefix_successor};

use crate::tables::TableRuntime;

/// Places of an index that are looked at.
const SAMPLES: usize = 12;
/// Changes after which a small table is sampled anew.
const MODIFIED_MIN: u64 = 500;

/// What sampling found of one index.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// [`TableRuntime::modified`] at the time.
    modified: u64,
    /// Rows per distinct value of the first 1, 2, … key parts.
    rec_per_key: Vec<f64>,
}

/// Rows for each distinct value of an index's first `parts` columns.
pub fn rec_per_key(
    runtime: &TableRuntime,
    engine: &dyn Engine,
    table: &Table,
    index: usize,
    parts: usize,
) -> Option<f64> {
    if parts == 0 {
        return None;
    }
    let modified = runtime.modified.load(Ordering::Relaxed);
    let fresh = |s: &Sampled| modified - s.modified.min(modified) <= (runtime.rows() / 10).max(MODIFIED_MIN);
    if let Some(s) = runtime.sampled.lock().get(&index)
        && fresh(s)
    {
        return s.rec_per_key.get(parts - 1).copied();
    }
    let rec_per_key = sample(engine, table, index)?;
    let answer = rec_per_key.get(parts - 1).copied();
    runtime.sampled.lock().insert(index, Sampled { modified, rec_per_key });
    answer
}

fn sample(engine: &dyn Engine, table: &Table, index: usize) -> Option<Vec<f64>> {
    let engine_index = table.engine_index(index);
    let key_parts = table.key_parts(index);
    let mut places = engine.split_points(engine_index, &[], &[], SAMPLES).ok()?;
    places.push(Vec::new());
    let reader = engine.read(ReadAt::Latest).ok()?;
    let mut cursor = reader.cursor(engine_index).ok()?;
    let mut sums = vec![0.0; key_parts.len()];
    let mut samples = 0.0;
    for place in places {
        let there = if place.is_empty() { cursor.first() } else { cursor.seek(&place) };
        if !there.ok()? {
            continue;
        }
        let key = cursor.key();
        let mut end = 0;
        for (i, part) in key_parts.iter().enumerate() {
            end += key_part_len(&key[end..], part).ok()?;
            let low = key[..end].to_vec();
            let mut high = low.clone();
            if !prefix_successor(&mut high) {
                high.clear();
            }
            sums[i] += engine.estimate_range(engine_index, &low, &high).ok()?.max(1) as f64;
        }
        samples += 1.0;
    }
    if samples == 0.0 {
        return None;
    }
    Some(sums.into_iter().map(|s| s / samples).collect())
}

/// Rows in a range whose bounds are constants of the key columns' types.
pub fn range_rows(engine: &dyn Engine, table: &Table, index: usize, range: &KeyRange, tz: &TimeZone) -> Option<f64> {
    let encode = |b: &KeyBound| -> Option<Vec<u8>> {
        let mut key = Vec::new();
        for (e, part) in b.values.iter().zip(table.key_parts(index)) {
            let ExprKind::Const(v) = &e.kind else { return None };
            encode_key_part(v, part, tz, &mut key).ok()?;
        }
        Some(key)
    };
    let mut low = match &range.low {
        Some(b) => encode(b)?,
        None => Vec::new(),
    };
    if range.low.as_ref().is_some_and(|b| !b.inclusive) && !prefix_successor(&mut low) {
        return Some(1.0);
    }
    let mut high = match &range.high {
        Some(b) => encode(b)?,
        None => Vec::new(),
    };
    if range.high.as_ref().is_some_and(|b| b.inclusive) && !prefix_successor(&mut high) {
        high.clear();
    }
    if !high.is_empty() && low >= high {
        return Some(1.0);
    }
    engine.estimate_range(table.engine_index(index), &low, &high).ok().map(|r| r as f64)
}
