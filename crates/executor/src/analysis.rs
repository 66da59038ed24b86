//! What ANALYZE counts while a statement runs: rows that each scan read and kept.

use hashbrown::HashMap;
use selkie_planner::plan::TableScan;

/// Counts of one scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// How often it was begun.
    pub loops: u64,
    /// Rows and index entries read.
    pub rows_read: u64,
    /// Rows that satisfied its condition.
    pub rows_kept: u64,
}

impl ScanCounts {
    /// Rows read each time.
    pub fn rows_each(&self) -> f64 {
        self.rows_read as f64 / self.loops.max(1) as f64
    }

    /// Percentage of rows kept.
    pub fn filtered(&self) -> f64 {
        if self.rows_read == 0 { 100.0 } else { self.rows_kept as f64 * 100.0 / self.rows_read as f64 }
    }
}

/// Counts of all scans of a statement. A scan is known by its address in the plan, which outlives the run.
#[derive(Debug, Default)]
pub struct Analysis {
    scans: HashMap<usize, ScanCounts>,
}

impl Analysis {
    /// The counts of the scan at an address; `None` if it never ran.
    pub fn of(&self, scan: usize) -> Option<ScanCounts> {
        self.scans.get(&scan).copied()
    }

    /// Adds to a scan's counts.
    pub fn note(&mut self, scan: &TableScan, begins: bool, rows_read: u64, rows_kept: u64) {
        let c = self.scans.entry(std::ptr::from_ref(scan) as usize).or_default();
        c.loops += u64::from(begins);
        c.rows_read += rows_read;
        c.rows_kept += rows_kept;
    }
}
