//! CREATE and ALTER VIEW.

use selkie_catalog::{Table, TableKind};
use selkie_types::{SqlResult, sql_err};

use crate::bind;
use crate::canonical;
use crate::host::DdlHost;

/// Whether a view still binds.
pub fn check(view: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
    let TableKind::View(_) = &view.kind else { return Err(sql_err!(ER_WRONG_OBJECT, view.db, view.name, "VIEW")) };
    let quoted = selkie_parser::display::quoted_ident;
    let query = canonical::parse_query(&format!("select 1 from {}.{}", quoted(&view.db), quoted(&view.name)))?;
    bind::query(host, &query).map(|_| ())
}
