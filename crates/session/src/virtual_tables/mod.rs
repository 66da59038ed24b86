//! Tables that are computed: information_schema, performance_schema and what SHOW reads.

use selkie_planner::context::VirtualColumn;
use selkie_types::{SqlResult, Value, sql_err};

use crate::host::Host;

/// Columns of a virtual table, any letter case.
pub fn columns(_db: &str, _name: &str) -> Option<Vec<VirtualColumn>> {
    None
}

/// All rows of a virtual table, flat; `lookups` are `column = value` conditions that may be used to compute fewer.
pub fn rows(_host: &mut Host, db: &str, name: &str, _lookups: &[(usize, Value)]) -> SqlResult<Vec<Value>> {
    Err(sql_err!(ER_UNKNOWN_TABLE, name, db))
}

/// Whether a database is virtual.
pub fn is_database(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema") || name.eq_ignore_ascii_case("performance_schema")
}
