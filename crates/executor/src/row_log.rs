//! Where changed rows are told to the log.

use selkie_catalog::Table;
use selkie_types::{SqlResult, Value};

/// Collects the row changes of a transaction as log events. `key` is the clustered key, which the log needs only
/// where the table has no primary key to find the row by.
pub trait RowLog {
    /// A row was inserted.
    fn insert(&mut self, table: &Table, row: &[Value], key: &[u8]) -> SqlResult<()>;
    /// A row was changed; `key` is the key before.
    fn update(&mut self, table: &Table, before: &[Value], after: &[Value], key: &[u8]) -> SqlResult<()>;
    /// A row was deleted.
    fn delete(&mut self, table: &Table, row: &[Value], key: &[u8]) -> SqlResult<()>;
}
