//! Reading an index in order, the transaction's own writes merged in, a batch of rows at a time.
//!
//! A scan keeps only its bounds: each batch positions a cursor anew, so that between two batches the
//! transaction may write (UPDATE while scanning) and nothing in the engine is held.

use selkie_engine::{Cursor, IndexId};

use crate::error::TxnError;
use crate::write_set::Overlay;

/// Which state of the data an operation sees; the transaction's own writes are always on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// The transaction's snapshot.
    Snapshot,
    /// The newest commit: for locking reads and for whatever checks before it writes.
    Latest,
}

/// A scan in progress: what of its range is still to come.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The index.
    pub index: IndexId,
    /// Which state.
    pub read: Read,
    /// Inclusive lower bound.
    pub low: Vec<u8>,
    /// Exclusive upper bound; empty: none.
    pub high: Vec<u8>,
    /// From the high end down.
    pub reverse: bool,
    /// Nothing is left.
    pub done: bool,
}

impl Scan {
    /// A scan of `low..high` (`high` empty: to the end).
    pub fn new(index: IndexId, read: Read, low: Vec<u8>, high: Vec<u8>, reverse: bool) -> Scan {
        let done = !high.is_empty() && low >= high;
        Scan { index, read, low, high, reverse, done }
    }

    fn after(&mut self, key: &[u8]) {
        if self.reverse {
            self.high.clear();
            self.high.extend_from_slice(key);
            // An empty upper bound means none; nothing sorts before the empty key.
            self.done |= key.is_empty();
        } else {
            self.low.clear();
            self.low.extend_from_slice(key);
            self.low.push(0);
        }
    }
}

/// Receives rows; returns whether to go on.
pub type OnRow<'a, E> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<bool, E>;

/// Walks the rest of `scan` over a cursor and an overlay until `on_row` says stop, `max` rows were given, or the
/// range ends.
pub fn walk<E: From<TxnError>>(
    scan: &mut Scan,
    cursor: &mut dyn Cursor,
    overlay: Option<&Overlay>,
    max: usize,
    on_row: OnRow<'_, E>,
) -> Result<(), E> {
    if scan.done || max == 0 {
        return Ok(());
    }
    let in_range = |scan: &Scan, key: &[u8]| {
        if scan.reverse { key >= &scan.low[..] } else { scan.high.is_empty() || key < &scan.high[..] }
    };
    let mut at = if !scan.reverse {
        cursor.seek(&scan.low)
    } else if scan.high.is_empty() {
        cursor.last()
    } else {
        cursor.seek_before(&scan.high)
    }
    .map_err(TxnError::from)?;
    at = at && in_range(scan, cursor.key());
    let mut rows = 0;
    let mut own = overlay.map(|o| OverlayRange::new(o, scan));
    loop {
        let own_key = own.as_mut().and_then(|o| o.peek()).map(|(k, _)| k);
        let take_own = match (at, own_key) {
            (false, None) => {
                scan.done = true;
                return Ok(());
            }
            (false, Some(_)) => true,
            (true, None) => false,
            (true, Some(k)) => {
                let engine = cursor.key();
                if k == engine {
                    // The transaction's own version hides the engine's.
                    at = step(cursor, scan.reverse)? && in_range(scan, cursor.key());
                    true
                } else if scan.reverse {
                    k > engine
                } else {
                    k < engine
                }
            }
        };
        let go_on;
        if take_own {
            let Some((key, value)) = own.as_mut().and_then(OverlayRange::next) else { continue };
            let Some(value) = value else { continue };
            go_on = on_row(key, value)?;
            rows += 1;
            if !go_on || rows == max {
                scan.after(key);
                return Ok(());
            }
        } else {
            go_on = on_row(cursor.key(), cursor.value())?;
            rows += 1;
            if !go_on || rows == max {
                scan.after(cursor.key());
                return Ok(());
            }
            at = step(cursor, scan.reverse)? && in_range(scan, cursor.key());
        }
    }
}

fn step(cursor: &mut dyn Cursor, reverse: bool) -> Result<bool, TxnError> {
    Ok(if reverse { cursor.prev()? } else { cursor.next()? })
}

/// The overlay's entries within a scan's bounds, in its direction.
struct OverlayRange<'a> {
    range: std::collections::btree_map::Range<'a, Vec<u8>, Option<Vec<u8>>>,
    peeked: Option<(&'a [u8], Option<&'a [u8]>)>,
    reverse: bool,
}

impl<'a> OverlayRange<'a> {
    fn new(overlay: &'a Overlay, scan: &Scan) -> OverlayRange<'a> {
        use std::ops::Bound::*;
        let high = if scan.high.is_empty() { Unbounded } else { Excluded(&scan.high[..]) };
        let range = overlay.range::<[u8], _>((Included(&scan.low[..]), high));
        OverlayRange { range, peeked: None, reverse: scan.reverse }
    }

    fn peek(&mut self) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        if self.peeked.is_none() {
            let entry = if self.reverse { self.range.next_back() } else { self.range.next() };
            self.peeked = entry.map(|(k, v)| (k.as_slice(), v.as_deref()));
        }
        self.peeked
    }

    fn next(&mut self) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        self.peek();
        self.peeked.take()
    }
}
