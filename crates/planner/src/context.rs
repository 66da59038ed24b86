//! What planning may ask of the session and of the server: names, types, statistics.
//!
//! Everything comes in by reference or behind small traits, so that the planner runs in tests without a server.

use std::sync::Arc;

use selkie_catalog::{Schema, Table};
use selkie_expr::bind::BindCtx;
use selkie_expr::{ScalarFunction, VarScope};
use selkie_types::{SqlMode, SqlType};

use crate::plan::KeyRange;

/// Everything outside the statement that its plan depends on.
pub struct PlanContext<'a> {
    /// The dictionary version that names are resolved in.
    pub schema: &'a Arc<Schema>,
    /// `USE`d database.
    pub current_db: Option<&'a str>,
    /// The settings that decide types (`sql_mode`, `collation_connection`, …).
    pub bind: BindCtx,
    /// Which rewrites are on.
    pub switches: OptimizerSwitches,
    /// Types of user and system variables.
    pub variables: &'a dyn Variables,
    /// The session's temporary tables.
    pub temporary: &'a dyn TemporaryTables,
    /// information_schema and its like.
    pub virtuals: &'a dyn VirtualTables,
    /// Row counts and selectivities.
    pub statistics: &'a dyn Statistics,
    /// Types of the parameters' values where they are known (at EXECUTE); a missing or [`SqlType::Null`] entry is inferred
    /// from the parameter's use.
    pub param_types: &'a [SqlType],
}

impl<'a> PlanContext<'a> {
    /// A context with default settings and nothing beside the schema.
    pub fn new(schema: &'a Arc<Schema>, current_db: Option<&'a str>) -> PlanContext<'a> {
        let bind = BindCtx { database: current_db.map(str::to_owned), ..BindCtx::default() };
        PlanContext {
            schema,
            current_db,
            bind,
            switches: OptimizerSwitches::default(),
            variables: &Nothing,
            temporary: &Nothing,
            virtuals: &Nothing,
            statistics: &Nothing,
            param_types: &[],
        }
    }

    /// The session's SQL mode.
    pub fn sql_mode(&self) -> SqlMode {
        self.bind.sql_mode
    }
}

/// The parts of `@@optimizer_switch` that change plans, and the limits beside it.
#[derive(Debug, Clone, Copy)]
pub struct OptimizerSwitches {
    /// `derived_merge`: derived tables and views become part of the outer query.
    pub derived_merge: bool,
    /// `semijoin`: IN and EXISTS become joins.
    pub semijoin: bool,
    /// `condition_pushdown_for_derived`
    pub pushdown_derived: bool,
    /// `outer_join_with_cache`/`join_cache_hashed`: hash joins.
    pub hash_join: bool,
    /// Join orders are searched exhaustively up to this many tables, greedily beyond.
    pub exhaustive_tables: usize,
}

impl Default for OptimizerSwitches {
    fn default() -> Self {
        OptimizerSwitches {
            derived_merge: true,
            semijoin: true,
            pushdown_derived: true,
            hash_join: true,
            exhaustive_tables: 7,
        }
    }
}

/// Types of variables.
pub trait Variables {
    /// Type of `@name`'s present value; `None` when it was never set (NULL, LONGBLOB-like text).
    fn user_var_type(&self, name: &str) -> Option<SqlType>;
    /// Type of a system variable in a scope, or `None` if there is no such variable (error 1193).
    fn system_var_type(&self, scope: VarScope, name: &str) -> Option<SqlType>;
    /// A stored program's variable or parameter: the statement parameter that carries its value, and its type. It hides
    /// columns of that name.
    fn local(&self, _name: &str) -> Option<(usize, SqlType)> {
        None
    }
    /// A stored or loadable function, looked for where there is no built-in one of that name.
    fn stored_function(&self, _db: Option<&str>, _name: &str) -> Option<StoredFunction> {
        None
    }
}

/// A function that the session provides.
#[derive(Debug, Clone)]
pub struct StoredFunction {
    /// How it is called.
    pub function: Arc<dyn ScalarFunction>,
    /// Types of its parameters; arguments are cast to them.
    pub params: Vec<SqlType>,
    /// Type of its result.
    pub returns: SqlType,
    /// Database and name, for privilege checks.
    pub name: (String, String),
}

/// The temporary tables of the session, which hide others of the same name.
pub trait TemporaryTables {
    /// By exact database and table name.
    fn table(&self, db: &str, name: &str) -> Option<Arc<Table>>;
}

/// A column of a virtual table.
#[derive(Debug, Clone)]
pub struct VirtualColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// Tables that the session computes.
pub trait VirtualTables {
    /// The columns of a virtual table, any letter case; `None` if there is none of that name.
    fn columns(&self, db: &str, name: &str) -> Option<Vec<VirtualColumn>>;
}

/// What is known of the data. Estimates, never promises.
pub trait Statistics {
    /// Rows in the table.
    fn rows(&self, table: &Table) -> f64;
    /// Rows per distinct value of an index's first `parts` columns.
    fn rec_per_key(&self, table: &Table, index: usize, parts: usize) -> Option<f64>;
    /// Rows in a range whose bounds are constants.
    fn range_rows(&self, table: &Table, index: usize, range: &KeyRange) -> Option<f64>;
}

/// No variables, no temporary and virtual tables, no statistics.
pub struct Nothing;

impl Variables for Nothing {
    fn user_var_type(&self, _name: &str) -> Option<SqlType> {
        None
    }
    fn system_var_type(&self, _scope: VarScope, _name: &str) -> Option<SqlType> {
        None
    }
}

impl TemporaryTables for Nothing {
    fn table(&self, _db: &str, _name: &str) -> Option<Arc<Table>> {
        None
    }
}

impl VirtualTables for Nothing {
    fn columns(&self, _db: &str, _name: &str) -> Option<Vec<VirtualColumn>> {
        None
    }
}

impl Statistics for Nothing {
    fn rows(&self, _table: &Table) -> f64 {
        1000.0
    }
    fn rec_per_key(&self, _table: &Table, _index: usize, _parts: usize) -> Option<f64> {
        None
    }
    fn range_rows(&self, _table: &Table, _index: usize, _range: &KeyRange) -> Option<f64> {
        None
    }
}

/// What a statement does with a table or column, for privilege checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// SELECT
    Select,
    /// INSERT
    Insert,
    /// UPDATE
    Update,
    /// DELETE
    Delete,
    /// EXECUTE on a stored function.
    Execute,
}

/// One use of a table or column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Accessed {
    /// Database.
    pub db: String,
    /// Table or view.
    pub table: String,
    /// Column; `None` for the table as such (COUNT(*), DELETE).
    pub column: Option<String>,
    /// Use.
    pub kind: AccessKind,
    /// The account whose privileges count: the definer of the view through which the table is seen (innermost
    /// `SQL SECURITY DEFINER`), or `None` for the session's own.
    pub definer: Option<String>,
}
