//! FOREIGN KEY constraints.

use selkie_catalog::Table;
use selkie_types::{SqlResult, Value};

use crate::context::ExecCtx;

/// Checks that the rows which `row` refers to exist; `before` is the row it replaces.
pub fn check_parents(_cx: &mut ExecCtx<'_>, _table: &Table, _before: Option<&[Value]>, _row: &[Value]) -> SqlResult<()> {
    Ok(())
}

/// Applies ON DELETE before a row goes.
pub fn before_delete(_cx: &mut ExecCtx<'_>, _table: &Table, _row: &[Value]) -> SqlResult<()> {
    Ok(())
}

/// Applies ON UPDATE before referenced columns of a row change.
pub fn before_update(_cx: &mut ExecCtx<'_>, _table: &Table, _before: &[Value], _after: &[Value]) -> SqlResult<()> {
    Ok(())
}
