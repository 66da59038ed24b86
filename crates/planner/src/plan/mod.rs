//! Physical plans: what the executor runs.
//!
//! Every operator produces rows of a fixed width; expressions address the current row by slot
//! ([`ExprKind::Column`](selkie_expr::ExprKind)). A scan produces the columns listed in its `columns`;
//! a join produces the left row's slots followed by the right row's; an aggregate produces its group
//! keys followed by its aggregate results; a window appends its results behind the input's slots.

pub mod display;
mod visit;

use std::sync::Arc;

use selkie_catalog::Table;
use selkie_expr::{AggregateCall, Expr, SortKey, WindowCall};
use selkie_types::SqlType;

pub use visit::visit_exprs;

/// Ids of subqueries whose result may differ from run to run (RAND(), assignments) begin here.
pub const VOLATILE_SUBQUERY: usize = 1 << 32;

/// A column of a result, as clients see it.
#[derive(Debug, Clone)]
pub struct OutputColumn {
    /// Alias or source text.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Where it comes from, when it is a plain column.
    pub origin: Option<ColumnOrigin>,
}

/// The column behind a result column (result-set metadata).
#[derive(Debug, Clone)]
pub struct ColumnOrigin {
    /// Database.
    pub db: String,
    /// Table alias.
    pub table: String,
    /// Table name.
    pub org_table: String,
    /// Column name.
    pub org_name: String,
    /// PRI_KEY, UNIQUE_KEY, MULTIPLE_KEY, AUTO_INCREMENT, … as the protocol's column flags.
    pub flags: u16,
}

/// A query: an operator tree whose rows are the result.
#[derive(Debug, Clone)]
pub struct QueryPlan {
    /// The tree.
    pub root: Plan,
    /// Result columns; the root's first slots in this order (further slots are not sent).
    pub columns: Vec<OutputColumn>,
    /// Common table expressions that are computed once and read by [`Plan::SharedScan`]: every query lists those that it
    /// reads itself, also as part of others of the list; position is [`SharedPlan::id`].
    pub shared: Vec<Arc<SharedPlan>>,
    /// Number of parameters.
    pub param_count: usize,
    /// Whether rows are sent while running without being stored, and whether FOUND_ROWS must count past LIMIT.
    pub calc_found_rows: bool,
}

/// A result computed once per execution (or once per set of correlated values) and read several times.
#[derive(Debug, Clone)]
pub struct SharedPlan {
    /// Index in [`QueryPlan::shared`].
    pub id: usize,
    /// Non-recursive part (seed).
    pub seed: Plan,
    /// Recursive part: run on the rows of the previous round (read by [`Plan::SharedScan`] of this id with
    /// `delta: true`) until it yields nothing new.
    pub recursive: Option<Plan>,
    /// Whether rounds remove duplicates (UNION) or not (UNION ALL).
    pub distinct: bool,
    /// Row types.
    pub types: Vec<SqlType>,
}

/// How rows that are read are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Consistent read, no lock (SERIALIZABLE turns it into `Share`).
    None,
    /// LOCK IN SHARE MODE
    Share,
    /// FOR UPDATE, and the rows that UPDATE and DELETE look at.
    Exclusive,
}

/// What to do about a row lock that is held by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Wait for `innodb_lock_wait_timeout`.
    Default,
    /// NOWAIT
    NoWait,
    /// SKIP LOCKED
    SkipLocked,
    /// WAIT n (seconds)
    Seconds(u32),
}

/// One bound of a key range: the values of the first key columns, in the order of the index's bytes: where a part is DESC,
/// `low` is the larger value.
///
/// **Types of key values.** A value whose type is not the column's is converted by the executor *without loss or not at
/// all*: a point whose value does not survive the way into the column's type and back (out of range, a
/// fraction, an unparsable text) matches nothing; a range bound of that kind may be widened to any superset.
/// A parameter is looked at as it came, before any cast to its declared type. The planner keeps the condition
/// in the scan's filter whenever such a conversion may happen in a range or between types that compare
/// differently, and drops it only where the access means exactly the condition.
#[derive(Debug, Clone)]
pub struct KeyBound {
    /// Values of a prefix of the key, constant in the current execution (constants, parameters, correlated or outer
    /// row values, uncorrelated subqueries).
    pub values: Vec<Expr>,
    /// Whether keys that begin with these values belong to the range.
    pub inclusive: bool,
}

/// A range of keys of an index.
#[derive(Debug, Clone)]
pub struct KeyRange {
    /// Lower bound; none = from the start.
    pub low: Option<KeyBound>,
    /// Upper bound; none = to the end.
    pub high: Option<KeyBound>,
    /// Whether NULL of an equality value selects NULLs (`<=>`, IS NULL) rather than nothing, by position.
    pub null_safe: Vec<bool>,
}

/// How a scan finds its rows.
#[derive(Debug, Clone)]
pub enum Access {
    /// All rows, in order of the clustered key.
    Full,
    /// All entries of an index, in its order. `index` is the position in `Table::indexes`.
    IndexScan {
        /// Index.
        index: usize,
    },
    /// At most one row: all columns of a unique index by equality (no NULLs).
    Point {
        /// Index (0 is the primary key where there is one).
        index: usize,
        /// One value for each key column.
        key: Vec<Expr>,
    },
    /// Ranges of an index. The executor sorts and merges them by their bytes where there are several; `merge` says that
    /// values known only at execution decide whether they overlap.
    Ranges {
        /// Index.
        index: usize,
        /// Ranges.
        ranges: Vec<KeyRange>,
        /// Whether the ranges come from an IN list or OR of non-constant values and may overlap.
        merge: bool,
    },
    /// Rows known to be none (impossible WHERE).
    Empty,
}

/// A read of one table.
#[derive(Debug, Clone)]
pub struct TableScan {
    /// The table (its version in the plan's schema).
    pub table: Arc<Table>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// Columns produced, positions in `Table::columns`; slot i of the row is `columns[i]`.
    pub columns: Vec<usize>,
    /// Access path.
    pub access: Access,
    /// Whether the index alone has every column in `columns` (reversible key parts).
    pub covering: bool,
    /// Backwards.
    pub reverse: bool,
    /// Condition on this table's own slots (slot numbers of this scan's row), also correlated values and parameters.
    pub filter: Option<Expr>,
    /// Row locks.
    pub lock: LockMode,
    /// Waiting for them.
    pub wait: LockWait,
    /// Append the clustered key's bytes as one more slot (Bytes) behind `columns`: what UPDATE and DELETE need.
    pub with_row_key: bool,
    /// Only these partitions, by position (`PARTITION (…)`, pruning); `None` is all.
    pub partitions: Option<Vec<usize>>,
    /// Indexes that conditions could use, for EXPLAIN.
    pub possible_keys: Vec<usize>,
    /// Estimated rows, for EXPLAIN.
    pub rows: f64,
}

/// Join kinds. RIGHT joins were turned into LEFT ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// INNER, CROSS.
    Inner,
    /// LEFT OUTER: right slots NULL when nothing matches.
    Left,
    /// Left rows with at least one match, right slots absent.
    Semi,
    /// Left rows without a match, right slots absent.
    Anti,
}

/// A physical operator.
#[derive(Debug, Clone)]
pub enum Plan {
    /// One row without columns (SELECT 1).
    OneRow,
    /// Rows of expressions (VALUES, INSERT … VALUES).
    Values {
        /// Rows.
        rows: Vec<Vec<Expr>>,
        /// Row types.
        types: Vec<SqlType>,
    },
    /// A table.
    Scan(Box<TableScan>),
    /// A table of information_schema, performance_schema or SHOW, computed by the session.
    Virtual {
        /// Database (lower case).
        db: String,
        /// Table (lower case).
        name: String,
        /// Columns produced, positions in the virtual table's own columns.
        columns: Vec<usize>,
        /// `column = constant` conditions that the provider may use to look up less; still checked by a filter.
        lookups: Vec<(usize, Expr)>,
        /// Row types.
        types: Vec<SqlType>,
    },
    /// A shared result.
    SharedScan {
        /// Index in [`QueryPlan::shared`].
        id: usize,
        /// Only the last round's rows (inside its own recursive part).
        delta: bool,
        /// Row types.
        types: Vec<SqlType>,
    },
    /// A subquery in FROM that is not merged: `plan` runs with exactly the values of `correlated`, which are evaluated
    /// over the correlated values in force here (LATERAL: those that the enclosing nested loop added).
    Derived {
        /// Its plan.
        plan: Arc<QueryPlan>,
        /// LATERAL's values from the left row.
        correlated: Vec<Expr>,
    },
    /// JSON_TABLE.
    JsonTable(Box<JsonTable>),
    /// Rows for which the condition is true.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Condition.
        condition: Expr,
    },
    /// Computed rows.
    Project {
        /// Input.
        input: Box<Plan>,
        /// One expression for each slot produced.
        exprs: Vec<Expr>,
    },
    /// For each left row, runs the right side, whose key bounds and filters may use the left row's slots: in `right`,
    /// the left row's slots come as [`ExprKind::Correlated`](selkie_expr::ExprKind) values numbered from `base`.
    NestedLoop {
        /// Kind.
        kind: JoinKind,
        /// Outer side.
        left: Box<Plan>,
        /// Inner side.
        right: Box<Plan>,
        /// First index, in the correlated values, of the left row's slots while `right` runs.
        base: usize,
        /// Number of right slots.
        right_width: usize,
        /// Remaining condition over left ++ right slots.
        condition: Option<Expr>,
        /// Whether the right side uses the left row at all (else it is run once and kept).
        dependent: bool,
    },
    /// Equality join by a hash table over the right side.
    HashJoin {
        /// Kind.
        kind: JoinKind,
        /// Probe side.
        left: Box<Plan>,
        /// Build side.
        right: Box<Plan>,
        /// Key expressions over left slots.
        left_keys: Vec<Expr>,
        /// Key expressions over right slots (numbered from 0), same types.
        right_keys: Vec<Expr>,
        /// Number of right slots.
        right_width: usize,
        /// Whether NULL keys match each other (`<=>`), by key.
        null_safe: Vec<bool>,
        /// Remaining condition over left ++ right slots.
        condition: Option<Expr>,
        /// For `Anti` made of NOT IN: a NULL on either side makes the answer unknown (the row is dropped).
        null_aware: bool,
    },
    /// Grouping by hash, or in order when the input is sorted by the keys.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// Group keys; none and no `rollup`: exactly one row, even of no input.
        keys: Vec<Expr>,
        /// Aggregates.
        calls: Vec<AggregateCall>,
        /// WITH ROLLUP: input is sorted by the keys; super-aggregate rows have NULL keys.
        rollup: bool,
        /// Input comes sorted by the keys.
        sorted: bool,
        /// Expressions of the group's first row (columns outside GROUP BY without ONLY_FULL_GROUP_BY), appended last.
        first_row: Vec<Expr>,
    },
    /// Window functions: input is sorted here as each call needs.
    Window {
        /// Input.
        input: Box<Plan>,
        /// Calls, in order; each appends one slot.
        calls: Vec<WindowCall>,
    },
    /// Sort, or the first `limit` of a sort.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// Keys.
        keys: Vec<SortKey>,
        /// Rows needed at the most (offset + count), when known.
        limit: Option<Expr>,
    },
    /// Rows `offset..offset + count`.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// How many; none = all.
        count: Option<Expr>,
        /// How many to leave out first.
        offset: Option<Expr>,
    },
    /// Rows without repetition of their first `width` slots.
    Distinct {
        /// Input.
        input: Box<Plan>,
        /// How many slots count.
        width: usize,
    },
    /// UNION [ALL]: inputs have equal widths and types.
    Union {
        /// Inputs.
        inputs: Vec<Plan>,
    },
    /// INTERSECT [ALL] or EXCEPT [ALL].
    SetOperation {
        /// Left input.
        left: Box<Plan>,
        /// Right input.
        right: Box<Plan>,
        /// EXCEPT instead of INTERSECT.
        except: bool,
        /// ALL: multiset semantics.
        all: bool,
    },
}

/// JSON_TABLE(doc, path COLUMNS …).
#[derive(Debug, Clone)]
pub struct JsonTable {
    /// Document, over correlated values.
    pub document: Expr,
    /// Row path.
    pub path: String,
    /// Columns.
    pub columns: Vec<JsonTableColumn>,
    /// Alias, for messages.
    pub alias: String,
}

/// One column of JSON_TABLE.
#[derive(Debug, Clone)]
pub enum JsonTableColumn {
    /// FOR ORDINALITY
    Ordinality,
    /// A value at a path.
    Path {
        /// Name, for messages.
        name: String,
        /// Type.
        ty: SqlType,
        /// Path.
        path: String,
        /// EXISTS PATH
        exists: bool,
        /// DEFAULT … ON EMPTY: `Some(None)` is NULL, `None` is ERROR.
        on_empty: Option<Option<String>>,
        /// DEFAULT … ON ERROR
        on_error: Option<Option<String>>,
    },
    /// NESTED PATH
    Nested {
        /// Path.
        path: String,
        /// Columns.
        columns: Vec<JsonTableColumn>,
    },
}

/// A table that a statement changes, with everything its rows must satisfy.
#[derive(Debug, Clone)]
pub struct TargetTable {
    /// The table.
    pub table: Arc<Table>,
    /// Default value expression of each column (constant or `current_timestamp()` …, over earlier columns' slots); `None`:
    /// no default (error 1364 / zero value).
    pub defaults: Vec<Option<Expr>>,
    /// Generated columns in order of dependency: position and expression over the full row's slots.
    pub generated: Vec<(usize, Expr)>,
    /// CHECK constraints over the full row's slots: name and condition.
    pub checks: Vec<(String, Expr)>,
    /// Columns set to the statement's time by ON UPDATE CURRENT_TIMESTAMP when another column changes.
    pub on_update_now: Vec<usize>,
    /// WITH CHECK OPTION of the view that was written through: its `db.name`, and the condition over the full row.
    pub view_check: Option<(String, Expr)>,
}

/// A value assigned to a column.
#[derive(Debug, Clone)]
pub enum AssignedValue {
    /// An expression, stored with conversion to the column's type.
    Expr(Expr),
    /// DEFAULT
    Default,
}

/// INSERT and REPLACE.
#[derive(Debug, Clone)]
pub struct InsertPlan {
    /// Target.
    pub target: TargetTable,
    /// Columns given, positions in the table, in the order of the source's slots.
    pub columns: Vec<usize>,
    /// Where rows come from.
    pub source: InsertSource,
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// ON DUPLICATE KEY UPDATE: over existing row's slots (full row) followed by the inserted row's (full row), in order.
    pub on_duplicate: Vec<(usize, AssignedValue)>,
    /// RETURNING over the full inserted row.
    pub returning: Option<(Vec<Expr>, Vec<OutputColumn>)>,
}

/// Where inserted rows come from.
#[derive(Debug, Clone)]
pub enum InsertSource {
    /// VALUES lists; an expression may use columns assigned before it (slots of the full row).
    Values(Vec<Vec<AssignedValue>>),
    /// A query.
    Query(Box<QueryPlan>),
}

/// One table of an UPDATE.
#[derive(Debug, Clone)]
pub struct UpdateTarget {
    /// Target.
    pub target: TargetTable,
    /// Slot of the row key in the input row; the table's full row starts at `row_slot`.
    pub key_slot: usize,
    /// First slot of the table's full row (all columns in table order).
    pub row_slot: usize,
    /// Assignments in order: column and value over the input's slots (earlier assignments to this table are visible).
    pub assignments: Vec<(usize, AssignedValue)>,
}

/// UPDATE of one or several tables.
#[derive(Debug, Clone)]
pub struct UpdatePlan {
    /// Rows to look at: locked scans with row keys; ORDER BY and LIMIT inside.
    pub input: Plan,
    /// Shared results used by `input`.
    pub shared: Vec<Arc<SharedPlan>>,
    /// Tables.
    pub targets: Vec<UpdateTarget>,
    /// IGNORE.
    pub ignore: bool,
    /// Whether the input must be read whole before anything is written (a join, or a scan by an index that is changed).
    pub materialize: bool,
}

/// DELETE from one or several tables.
#[derive(Debug, Clone)]
pub struct DeletePlan {
    /// Rows to look at.
    pub input: Plan,
    /// Shared results used by `input`.
    pub shared: Vec<Arc<SharedPlan>>,
    /// Tables with the slots of row key and of the full row.
    pub targets: Vec<(Arc<Table>, usize, usize)>,
    /// IGNORE.
    pub ignore: bool,
    /// RETURNING over the full row of the only target.
    pub returning: Option<(Vec<Expr>, Vec<OutputColumn>)>,
    /// Whether the input must be read whole first.
    pub materialize: bool,
}

/// A planned statement.
#[derive(Debug, Clone)]
pub enum Statement {
    /// Returns rows.
    Query(Arc<QueryPlan>),
    /// INSERT or REPLACE.
    Insert(Arc<InsertPlan>),
    /// UPDATE.
    Update(Arc<UpdatePlan>),
    /// DELETE.
    Delete(Arc<DeletePlan>),
    /// DO.
    Do(Arc<Vec<Expr>>),
}
