//! Tables that are computed: information_schema, performance_schema, the `mysql` database, and what SHOW reads.
//!
//! [`definitions`] knows names and columns; each other module makes the rows of one family of tables from a
//! [`Context`], and leaves out what the account may not see. `column = value` conditions come in as lookups, so that
//! asking for one table does not cost a look at all of them. A table without a maker is empty.
//!
//! It must not know plans or the wire.

pub mod columns;
pub mod context;
pub mod definitions;
pub mod indexes;
mod mysql;
pub mod partition_clause;
mod privileges;
pub mod process;
pub mod rows;
pub mod server;
pub mod tables;
pub mod variables;

use selkie_planner::context::VirtualColumn;
use selkie_types::{SqlResult, Value, sql_err};

use crate::host::Host;
pub use context::{Context, Db, Relation};
pub use rows::Rows;

/// The database of what SHOW … WHERE filters; no name that a client can write means it by chance.
pub const SHOW_DATABASE: &str = "#show";

/// Whether a database consists of computed tables only.
pub fn is_database(name: &str) -> bool {
    definitions::DATABASES.iter().any(|d| if *d == "mysql" { name == *d } else { name.eq_ignore_ascii_case(d) })
}

/// Whether every account may read the tables of a virtual database; rows that it may not see are left out.
pub fn is_open_to_all(name: &str) -> bool {
    name == SHOW_DATABASE || (is_database(name) && name != "mysql")
}

/// The names of a database's virtual tables.
pub fn tables(db: &str) -> Vec<&'static str> {
    definitions::of_database(&db.to_lowercase()).iter().map(|d| d.name).collect()
}

/// Columns of a virtual table, any letter case.
pub fn columns(db: &str, name: &str) -> Option<Vec<VirtualColumn>> {
    let def = definitions::find(db, name)?;
    let column = |c: &definitions::ColumnDefinition| VirtualColumn {
        name: c.name.to_owned(),
        ty: c.ty.clone(),
        nullable: c.nullable,
    };
    Some(def.columns.iter().map(column).collect())
}

/// As [`columns`], and the result that a SHOW of this session filters.
pub fn columns_for(host: &Host, db: &str, name: &str) -> Option<Vec<VirtualColumn>> {
    if db == SHOW_DATABASE {
        return host.show_result.as_ref().map(|r| r.columns.clone());
    }
    columns(db, name)
}

/// The columns and rows of a SHOW whose WHERE is about to be evaluated.
#[derive(Debug, Clone, Default)]
pub struct ShowResult {
    /// Columns.
    pub columns: Vec<VirtualColumn>,
    /// Rows, flat.
    pub rows: Vec<Value>,
}

/// What makes a table's rows.
type Maker = fn(&Context<'_>, &mut Rows) -> SqlResult<()>;

/// All rows of a virtual table, flat; `lookups` are `column = value` conditions that may be used to compute fewer.
pub fn rows(host: &mut Host, db: &str, name: &str, lookups: &[(usize, Value)]) -> SqlResult<Vec<Value>> {
    if db == SHOW_DATABASE {
        return Ok(host.show_result.take().map(|r| r.rows).unwrap_or_default());
    }
    let def = definitions::find(db, name).ok_or_else(|| sql_err!(ER_UNKNOWN_TABLE, name, db))?;
    let Some(make) = maker(def) else { return Ok(Vec::new()) };
    let cx = Context::new(host, lookups);
    let mut out = Rows::new();
    make(&cx, &mut out)?;
    debug_assert_eq!(out.cells() % def.columns.len(), 0, "{} has {} columns", def.name, def.columns.len());
    Ok(out.into_values())
}

fn maker(def: &definitions::Definition) -> Option<Maker> {
    let make: Maker = match (def.db, def.name) {
        ("information_schema", name) => match name {
            "SCHEMATA" => tables::schemata,
            "TABLES" => tables::tables,
            "VIEWS" => tables::views,
            "PARTITIONS" => tables::partitions,
            "COLUMNS" => columns::columns,
            "STATISTICS" => indexes::statistics,
            "KEY_COLUMN_USAGE" => indexes::key_column_usage,
            "TABLE_CONSTRAINTS" => indexes::table_constraints,
            "REFERENTIAL_CONSTRAINTS" => indexes::referential_constraints,
            "CHECK_CONSTRAINTS" => indexes::check_constraints,
            "INNODB_SYS_FOREIGN" => indexes::innodb_sys_foreign,
            "ENGINES" => server::engines,
            "CHARACTER_SETS" => server::character_sets,
            "COLLATIONS" => server::collations,
            "COLLATION_CHARACTER_SET_APPLICABILITY" => server::collation_applicability,
            "PLUGINS" | "ALL_PLUGINS" => server::plugins,
            "KEYWORDS" => server::keywords,
            "SQL_FUNCTIONS" => server::sql_functions,
            "KEY_CACHES" => server::key_caches,
            "PROCESSLIST" => process::processlist,
            "INNODB_TRX" => process::innodb_trx,
            "GLOBAL_VARIABLES" => variables::global_variables,
            "SESSION_VARIABLES" => variables::session_variables,
            "GLOBAL_STATUS" | "SESSION_STATUS" => variables::status_values,
            "SYSTEM_VARIABLES" => variables::system_variables,
            "user_variables" => variables::user_variables,
            "USER_PRIVILEGES" => privileges::user_privileges,
            "SCHEMA_PRIVILEGES" => privileges::schema_privileges,
            "TABLE_PRIVILEGES" => privileges::table_privileges,
            "COLUMN_PRIVILEGES" => privileges::column_privileges,
            "APPLICABLE_ROLES" => privileges::applicable_roles,
            "ENABLED_ROLES" => privileges::enabled_roles,
            _ => return None,
        },
        ("mysql", name) => match name {
            "user" => mysql::user,
            "db" => mysql::db,
            "global_priv" => mysql::global_priv,
            "tables_priv" => mysql::tables_priv,
            "columns_priv" => mysql::columns_priv,
            "procs_priv" => mysql::procs_priv,
            "roles_mapping" => mysql::roles_mapping,
            "proxies_priv" => mysql::proxies_priv,
            "innodb_table_stats" => mysql::innodb_table_stats,
            "time_zone_name" => server::time_zone_names,
            _ => return None,
        },
        _ => return None,
    };
    Some(make)
}
