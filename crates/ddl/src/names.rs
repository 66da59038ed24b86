//! Names in statements: which database they mean, and which of them are allowed.

use selkie_parser::ast::{Ident, ObjectName};
use selkie_types::{SqlResult, sql_err};

use crate::host::DdlHost;

/// Longest name in characters.
pub const NAME_CHARS_MAX: usize = 64;

/// A name with its database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FullName {
    /// Database.
    pub db: String,
    /// Table, view, ….
    pub name: String,
}

impl std::fmt::Display for FullName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.db, self.name)
    }
}

/// The database and table that a name means, checked for form only.
///
/// # Errors
/// 1046, 1059, 1102, 1103
pub fn resolve(name: &ObjectName, host: &dyn DdlHost) -> SqlResult<FullName> {
    let db = match &name.db {
        Some(db) => {
            check_database(db.as_str())?;
            db.value.clone()
        }
        None => host.current_db().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))?.to_owned(),
    };
    check_table(name.name.as_str())?;
    Ok(FullName { db, name: name.name.value.clone() })
}

/// Whether a database is computed by the server, so that nothing can be made in it.
pub fn is_virtual_database(db: &str) -> bool {
    db.eq_ignore_ascii_case("information_schema") || db.eq_ignore_ascii_case("performance_schema")
}

/// Refuses names of tables that MariaDB refuses.
pub fn check_table(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(sql_err!(ER_WRONG_TABLE_NAME, name));
    }
    too_long(name)
}

/// Refuses names of databases that MariaDB refuses.
pub fn check_database(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(sql_err!(ER_WRONG_DB_NAME, name));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(sql_err!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// Refuses names of columns that MariaDB refuses.
pub fn check_column(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || name.contains('\0') {
        return Err(sql_err!(ER_WRONG_COLUMN_NAME, name));
    }
    too_long(name)
}

/// Refuses names of indexes and constraints that MariaDB refuses.
pub fn check_index(name: &Ident) -> SqlResult<()> {
    let n = name.as_str();
    if n.is_empty() || n.ends_with(' ') || name.is("PRIMARY") {
        return Err(sql_err!(ER_WRONG_NAME_FOR_INDEX, n));
    }
    too_long(n)
}

/// Error 1059 for a name of more than 64 characters.
pub fn too_long(name: &str) -> SqlResult<()> {
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(sql_err!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// Names compare without regard to letter case.
pub fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}
