//! The cost model: how many rows, and how long they take.
//!
//! A unit is the time to read one row of a sequential scan. The numbers were chosen from the relative prices of an
//! ordered store (a lookup by key is some three sequential rows), not fitted; what matters is which plan wins.

/// Reading the next row of a scan.
pub const ROW: f64 = 1.0;
/// Reading the next entry of an index, without its row.
pub const ENTRY: f64 = 0.7;
/// Finding a position by key.
pub const LOOKUP: f64 = 3.0;
/// Evaluating conditions on a row.
pub const FILTER: f64 = 0.1;
/// Putting a row into a hash table.
pub const HASH_BUILD: f64 = 1.0;
/// Asking a hash table.
pub const HASH_PROBE: f64 = 0.4;
/// Starting the inner side of a nested loop once.
pub const LOOP: f64 = 0.5;
/// Handing out a joined row.
pub const EMIT: f64 = 0.1;

/// Sorting so many rows.
pub fn sort(rows: f64) -> f64 {
    let n = rows.max(2.0);
    n * n.log2() * 0.15
}

/// Share of rows that an equality keeps when nothing is known of the column.
pub const EQ_SELECTIVITY: f64 = 0.1;
/// Share of rows that a one-sided range keeps.
pub const RANGE_SELECTIVITY: f64 = 0.33;
/// Share of rows that a two-sided range keeps.
pub const BETWEEN_SELECTIVITY: f64 = 0.11;
/// Share of rows between two parameters.
pub(crate) const PARAMETER_RANGE_SELECTIVITY: f64 = 0.005;
/// Share of rows that any other condition keeps.
pub const OTHER_SELECTIVITY: f64 = 0.5;
