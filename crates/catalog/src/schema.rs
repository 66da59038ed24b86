//! The immutable description of everything that can be named in SQL.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use selkie_engine::IndexId;
use selkie_types::codec::{KeyPart, RowLayout};
use selkie_types::{Collation, SqlType};
use serde::{Deserialize, Serialize};

/// A table's number: unique for the life of the data directory, also the table id in Table_map events.
pub type TableId = u64;

/// One version of the whole dictionary. Cheap to clone: everything behind it is shared.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// Grows by one with each change; plans are cached against it.
    pub version: u64,
    /// By exact name (`lower_case_table_names=0`).
    pub databases: BTreeMap<String, Arc<Database>>,
    /// Every base table by id.
    pub tables_by_id: BTreeMap<TableId, Arc<Table>>,
    /// Accounts and everything else that is not a table: opaque records by key, kept by `session`.
    pub records: BTreeMap<String, Arc<Vec<u8>>>,
    /// The next free table and index number.
    pub next_id: u64,
    /// Which foreign keys refer to each table, once asked for.
    pub references: References,
}

/// The foreign keys of a schema by the table that they refer to: child tables and positions in their `foreign_keys`.
/// A clone begins empty, because it is about to change.
#[derive(Debug, Default)]
pub struct References(OnceLock<BTreeMap<TableId, Vec<(Arc<Table>, usize)>>>);

impl Clone for References {
    fn clone(&self) -> References {
        References::default()
    }
}

/// A database (schema).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Database {
    /// Name.
    pub name: String,
    /// Default collation of new tables.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
    /// Tables, views and sequences by exact name.
    #[serde(skip)]
    pub tables: BTreeMap<String, Arc<Table>>,
}

/// What a name in a FROM clause stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TableKind {
    /// A table with rows.
    Base,
    /// A view.
    View(ViewDef),
    /// A sequence: one row of state.
    Sequence,
}

/// A view's definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewDef {
    /// The SELECT in MariaDB's canonical text.
    pub query: String,
    /// Column names where the view lists them; else from the query.
    pub columns: Vec<String>,
    /// UNDEFINED, MERGE or TEMPTABLE.
    pub algorithm: String,
    /// `user@host`
    pub definer: String,
    /// SQL SECURITY DEFINER (else INVOKER).
    pub security_definer: bool,
    /// NONE, LOCAL or CASCADED.
    pub check_option: String,
    /// Character set and collation of the creating client.
    pub client_charset: String,
    /// `collation_connection` at creation.
    pub connection_collation: String,
}

/// A table, view or sequence.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Table {
    /// Number; a new one after each ALTER that rebuilds, and after TRUNCATE.
    pub id: TableId,
    /// Database name.
    pub db: String,
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// Whether only its session sees it (CREATE TEMPORARY TABLE).
    pub temporary: bool,
    /// ENGINE as declared and shown.
    pub engine: String,
    /// Default collation of its columns.
    pub collation: Collation,
    /// All columns in order of display.
    pub columns: Vec<Column>,
    /// Indexes; the primary key, if any, is first.
    pub indexes: Vec<Index>,
    /// CHECK constraints of the table (column checks too).
    pub checks: Vec<Check>,
    /// FOREIGN KEY constraints.
    pub foreign_keys: Vec<ForeignKey>,
    /// COMMENT.
    pub comment: String,
    /// Other table options as shown by SHOW CREATE TABLE, in order (`ROW_FORMAT`, `DYNAMIC`).
    pub options: Vec<(String, String)>,
    /// AUTO_INCREMENT= of the definition: the first value of a fresh table.
    pub auto_increment_start: u64,
    /// Where rows are; one entry for a table that is not partitioned. Empty for views.
    pub partitions: Vec<Partition>,
    /// PARTITION BY clause as SQL text, if any.
    pub partition_by: Option<String>,
    /// Version byte of rows written now; older rows lack the last columns (instant ADD COLUMN).
    pub row_version: u8,
    /// For each older row version, how many stored columns its rows have.
    pub row_versions: Vec<u16>,
    /// Seconds since 1970 UTC.
    pub create_time: u64,
    /// Computed once from `columns` and `indexes`; see [`Table::layout`] and [`Table::key_parts`].
    #[serde(skip)]
    pub derived: OnceLock<Arc<Derived>>,
}

/// What encoding rows and keys needs, computed once for each table version.
#[derive(Debug)]
pub struct Derived {
    /// How rows are laid out.
    pub layout: RowLayout,
    /// The key parts of each index, in the order of [`Table::indexes`].
    pub key_parts: Vec<Vec<KeyPart>>,
}

/// One partition's engine tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Name; empty for the only part of a table without partitions.
    pub name: String,
    /// The engine table of the rows: keyed by primary key or by hidden row id.
    pub rows: IndexIdDef,
    /// The engine tables of `Table::indexes`, same order; the primary key's is `rows`.
    pub indexes: Vec<IndexIdDef>,
}

/// An engine index id that can be serialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IndexIdDef(pub u64);

impl From<IndexIdDef> for IndexId {
    fn from(id: IndexIdDef) -> IndexId {
        IndexId(id.0)
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// DEFAULT.
    pub default: ColumnDefault,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// GENERATED ALWAYS AS.
    pub generated: Option<Generated>,
    /// INVISIBLE.
    pub invisible: bool,
    /// COMMENT.
    pub comment: String,
    /// Name as the user declared the type where it differs from the type's own text (`json`).
    pub declared: Option<String>,
}

/// What an omitted column gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnDefault {
    /// No DEFAULT clause and NOT NULL: error 1364 in strict mode, else the type's zero value.
    None,
    /// DEFAULT NULL, also by leaving it out of a nullable column.
    Null,
    /// A literal, as its SQL text value (as SHOW COLUMNS prints it), converted to the column's type when used.
    Literal(String),
    /// An expression's canonical SQL text, `current_timestamp()` included.
    Expr(String),
}

/// A generated column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generated {
    /// Canonical SQL text.
    pub expr: String,
    /// STORED (PERSISTENT) instead of VIRTUAL. Both are written into the row; VIRTUAL is only shown differently.
    pub stored: bool,
}

/// Kind of an index as SHOW INDEX names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKind {
    /// BTREE.
    BTree,
    /// Declared HASH; kept ordered all the same.
    Hash,
    /// FULLTEXT.
    FullText,
    /// SPATIAL.
    Spatial,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Name; `PRIMARY` for the primary key.
    pub name: String,
    /// Whether this is the primary key.
    pub primary: bool,
    /// Whether two rows may not have the same (non-NULL) key.
    pub unique: bool,
    /// Kind.
    pub kind: IndexKind,
    /// Key columns in order.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// IGNORED: kept up to date, not used by the planner.
    pub ignored: bool,
    /// Whether USING was written, so that SHOW CREATE TABLE shows it.
    pub using_shown: bool,
    /// Made for a FOREIGN KEY rather than declared: gives way to another index that serves.
    pub generated: bool,
    /// KEY_BLOCK_SIZE; 0: not declared.
    pub key_block_size: u32,
}

/// One column of an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexPart {
    /// Position in `Table::columns`.
    pub column: usize,
    /// Prefix length in characters (bytes for binary).
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Name; for a column's own check the column's name.
    pub name: String,
    /// Canonical SQL text.
    pub expr: String,
    /// Position of the column that declares it, if it is a column's own check.
    pub column: Option<usize>,
}

/// Action of a FOREIGN KEY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FkAction {
    /// RESTRICT (the default).
    Restrict,
    /// NO ACTION
    NoAction,
    /// CASCADE
    Cascade,
    /// SET NULL
    SetNull,
    /// SET DEFAULT
    SetDefault,
}

/// A FOREIGN KEY constraint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Constraint name.
    pub name: String,
    /// Referencing columns, positions in `Table::columns`.
    pub columns: Vec<usize>,
    /// Referenced database.
    pub ref_db: String,
    /// Referenced table.
    pub ref_table: String,
    /// Referenced column names.
    pub ref_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: FkAction,
    /// ON UPDATE.
    pub on_update: FkAction,
}

impl Schema {
    /// The table, view or sequence of that name.
    pub fn table(&self, db: &str, name: &str) -> Option<&Arc<Table>> {
        self.databases.get(db)?.tables.get(name)
    }

    /// The foreign keys that refer to a table: child tables and positions in their `foreign_keys`, by the children's
    /// databases and the constraints' names.
    pub fn references_to(&self, table: TableId) -> &[(Arc<Table>, usize)] {
        let all = self.references.0.get_or_init(|| {
            let mut all: BTreeMap<TableId, Vec<(Arc<Table>, usize)>> = BTreeMap::new();
            for child in self.tables_by_id.values() {
                for (i, fk) in child.foreign_keys.iter().enumerate() {
                    if let Some(parent) = self.table(&fk.ref_db, &fk.ref_table) {
                        all.entry(parent.id).or_default().push((child.clone(), i));
                    }
                }
            }
            for children in all.values_mut() {
                children.sort_by(|(a, i), (b, j)| {
                    (&a.db, &a.foreign_keys[*i].name).cmp(&(&b.db, &b.foreign_keys[*j].name))
                });
            }
            all
        });
        all.get(&table).map_or(&[], Vec::as_slice)
    }
}

impl Table {
    /// The primary key, if it has one.
    pub fn primary_key(&self) -> Option<&Index> {
        self.indexes.first().filter(|i| i.primary)
    }

    /// Position of a column by name, any case.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))
    }

    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            let columns: Vec<_> = self.columns.iter().map(|c| (c.ty.clone(), c.nullable)).collect();
            let part = |p: &IndexPart| KeyPart {
                ty: self.columns[p.column].ty.clone(),
                nullable: self.columns[p.column].nullable,
                descending: p.descending,
                prefix: p.prefix,
            };
            Arc::new(Derived {
                layout: RowLayout::new(self.row_version, &columns),
                key_parts: self.indexes.iter().map(|i| i.parts.iter().map(part).collect()).collect(),
            })
        })
    }

    /// How rows are laid out.
    pub fn layout(&self) -> &RowLayout {
        &self.derived().layout
    }

    /// The key parts of an index.
    pub fn key_parts(&self, index: usize) -> &[KeyPart] {
        &self.derived().key_parts[index]
    }

    /// Where the rows of the only partition are.
    pub fn rows_index(&self) -> IndexId {
        self.partitions.first().map_or(IndexId(0), |p| p.rows.into())
    }

    /// Where the entries of an index are. The primary key's are the rows.
    pub fn engine_index(&self, index: usize) -> IndexId {
        self.partitions.first().and_then(|p| p.indexes.get(index)).map_or(IndexId(0), |i| (*i).into())
    }

    /// The AUTO_INCREMENT column's position.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.auto_increment)
    }
}
