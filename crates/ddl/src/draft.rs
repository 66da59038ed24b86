//! A table that is being defined: what CREATE TABLE and ALTER TABLE put together, and its checks as a whole.

use std::sync::{Arc, OnceLock};

use selkie_catalog::{Check, Table, TableKind};
use selkie_parser::ast::{self, ColumnDef, DataType, TableElement};
use selkie_types::{Collation, SqlResult, SqlType, sql_err};

use crate::bind::{self, Forbidden};
use crate::canonical;
use crate::column::{self, DraftColumn, in_clause};
use crate::foreign::{self, Child, DraftForeignKey};
use crate::host::DdlHost;
use crate::index::{self, DraftIndex};
use crate::names;
use crate::types;

/// Most columns of a table.
const COLUMNS_MAX: usize = 4096;
/// Most columns of an InnoDB table.
const INNODB_COLUMNS_MAX: usize = 1017;

/// A CHECK of a table that is being defined.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftCheck {
    /// Name, if it has one yet.
    pub name: Option<String>,
    /// Canonical text.
    pub expr: String,
    /// Syntax where it is new.
    pub new_expr: Option<ast::Expr>,
    /// Name of the column that declares it.
    pub column: Option<String>,
}

/// A table that is being defined.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// CREATE TEMPORARY TABLE
    pub temporary: bool,
    /// Engine as shown.
    pub engine: String,
    /// Default collation of columns.
    pub collation: Collation,
    /// Columns.
    pub columns: Vec<DraftColumn>,
    /// Indexes.
    pub indexes: Vec<DraftIndex>,
    /// Checks.
    pub checks: Vec<DraftCheck>,
    /// Foreign keys.
    pub foreign_keys: Vec<DraftForeignKey>,
    /// COMMENT
    pub comment: String,
    /// Other options.
    pub options: Vec<(String, String)>,
    /// AUTO_INCREMENT=
    pub auto_increment_start: u64,
    /// PARTITION BY as text.
    pub partition_by: Option<String>,
    /// `Create` or `Alter`
    pub verb: &'static str,
    first_timestamp: bool,
}

impl Draft {
    /// Nothing but a name.
    pub fn new(db: &str, name: &str, engine: String, collation: Collation) -> Draft {
        Draft {
            db: db.to_owned(),
            name: name.to_owned(),
            temporary: false,
            engine,
            collation,
            columns: Vec::new(),
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            comment: String::new(),
            options: Vec::new(),
            auto_increment_start: 0,
            partition_by: None,
            verb: "Create",
            first_timestamp: false,
        }
    }

    /// A table as it is, to be changed.
    pub fn of(t: &Table) -> Draft {
        let name_of = |c: &usize| t.columns[*c].name.clone();
        Draft {
            db: t.db.clone(),
            name: t.name.clone(),
            temporary: t.temporary,
            engine: t.engine.clone(),
            collation: t.collation,
            columns: t
                .columns
                .iter()
                .enumerate()
                .map(|(i, c)| DraftColumn { column: c.clone(), origin: Some(i), new_expr: None })
                .collect(),
            indexes: t
                .indexes
                .iter()
                .enumerate()
                .map(|(i, x)| DraftIndex {
                    name: Some(x.name.clone()),
                    primary: x.primary,
                    unique: x.unique,
                    kind: x.kind,
                    parts: x
                        .parts
                        .iter()
                        .map(|p| index::DraftPart {
                            column: name_of(&p.column),
                            prefix: p.prefix.map(u64::from),
                            descending: p.descending,
                        })
                        .collect(),
                    comment: x.comment.clone(),
                    ignored: x.ignored,
                    using_shown: x.using_shown,
                    generated: x.generated,
                    key_block_size: x.key_block_size,
                    origin: Some(i),
                    had_null: Some(x.parts.iter().any(|p| t.columns[p.column].nullable)),
                })
                .collect(),
            checks: t
                .checks
                .iter()
                .map(|c| DraftCheck {
                    name: Some(c.name.clone()),
                    expr: c.expr.clone(),
                    new_expr: None,
                    column: c.column.as_ref().map(name_of),
                })
                .collect(),
            foreign_keys: t
                .foreign_keys
                .iter()
                .map(|f| DraftForeignKey {
                    name: Some(f.name.clone()),
                    columns: f.columns.iter().map(name_of).collect(),
                    ref_db: f.ref_db.clone(),
                    ref_table: f.ref_table.clone(),
                    ref_columns: f.ref_columns.clone(),
                    on_delete: f.on_delete,
                    on_update: f.on_update,
                    existing: true,
                })
                .collect(),
            comment: t.comment.clone(),
            options: t.options.clone(),
            auto_increment_start: t.auto_increment_start,
            partition_by: t.partition_by.clone(),
            verb: "Alter",
            first_timestamp: t.columns.iter().any(|c| matches!(c.ty, SqlType::Timestamp { .. })),
        }
    }

    /// Position of a column.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| names::same(&c.column.name, name))
    }

    /// Makes a column of a declaration; its key, check and reference are added to the table.
    pub fn declare(&mut self, def: &ColumnDef, host: &mut dyn DdlHost) -> SqlResult<DraftColumn> {
        let draft = column::column(def, self.collation, &mut self.first_timestamp, host)?;
        let name = def.name.value.clone();
        if def.primary {
            self.indexes.push(DraftIndex {
                primary: true,
                unique: true,
                ..DraftIndex::on(std::slice::from_ref(&name), Some("PRIMARY".into()))
            });
        }
        if def.unique || matches!(def.ty, DataType::Serial) {
            self.indexes.push(DraftIndex { unique: true, ..DraftIndex::on(std::slice::from_ref(&name), None) });
        }
        if let Some(c) = &def.check {
            self.checks.push(DraftCheck {
                name: Some(name.clone()),
                expr: canonical::text(&c.expr),
                new_expr: Some(c.expr.clone()),
                column: Some(name.clone()),
            });
        } else if matches!(def.ty, DataType::Json { .. }) {
            self.checks.push(DraftCheck {
                name: Some(name.clone()),
                expr: format!("json_valid({})", selkie_parser::display::quoted_ident(&name)),
                new_expr: None,
                column: Some(name.clone()),
            });
        }
        if let Some(r) = &def.references {
            let (key, index) = DraftForeignKey::of_column(&name, None, r, &self.db)?;
            self.foreign_keys.push(key);
            self.indexes.push(index);
        }
        Ok(draft)
    }

    /// Adds an element of CREATE TABLE or of `ADD (…)`.
    pub fn add_element(&mut self, element: &TableElement, host: &mut dyn DdlHost) -> SqlResult<()> {
        match element {
            TableElement::Column(def) => {
                let c = self.declare(def, host)?;
                self.columns.push(c);
            }
            TableElement::Index(def) => self.indexes.push(DraftIndex::declared(def)?),
            TableElement::ForeignKey(def) => self.add_foreign_key(def)?,
            TableElement::Check(def) => self.add_check(def)?,
            TableElement::Period(_) => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "PERIOD")),
        }
        Ok(())
    }

    /// Adds a FOREIGN KEY.
    pub fn add_foreign_key(&mut self, def: &ast::ForeignKeyDef) -> SqlResult<()> {
        let (key, index) = DraftForeignKey::declared(def, &self.db)?;
        self.foreign_keys.push(key);
        self.indexes.push(index);
        Ok(())
    }

    /// Adds a CHECK of the table.
    pub fn add_check(&mut self, def: &ast::CheckDef) -> SqlResult<()> {
        if let Some(n) = &def.name {
            names::check_index(n)?;
        }
        self.checks.push(DraftCheck {
            name: def.name.as_ref().map(|n| n.value.clone()),
            expr: canonical::text(&def.expr),
            new_expr: Some(def.expr.clone()),
            column: None,
        });
        Ok(())
    }

    /// Checks the whole and makes the table of it, without ids and partitions.
    pub fn finish(&mut self, host: &mut dyn DdlHost) -> SqlResult<Table> {
        self.check_columns()?;
        let indexes = index::resolve(&mut self.indexes, &mut self.columns, host.diag())?;
        self.check_auto_increment(&indexes)?;
        let child =
            Child { db: &self.db, table: &self.name, columns: &self.columns, indexes: &self.indexes, verb: self.verb };
        let foreign_keys = foreign::resolve(&self.foreign_keys, &child, host)?;
        let checks = self.resolve_checks()?;
        let table = Table {
            id: 0,
            db: self.db.clone(),
            name: self.name.clone(),
            kind: TableKind::Base,
            temporary: self.temporary,
            engine: self.engine.clone(),
            collation: self.collation,
            columns: self.columns.iter().map(|c| c.column.clone()).collect(),
            indexes,
            checks,
            foreign_keys,
            comment: self.comment.clone(),
            options: self.options.clone(),
            auto_increment_start: self.auto_increment_start,
            partitions: Vec::new(),
            partition_by: self.partition_by.clone(),
            row_version: 0,
            row_versions: Vec::new(),
            create_time: host.settings().now_utc_micros.div_euclid(1_000_000).max(0) as u64,
            derived: OnceLock::new(),
        };
        self.check_expressions(&table, host)?;
        Ok(table)
    }

    fn check_columns(&self) -> SqlResult<()> {
        if !self.columns.iter().any(|c| !c.column.invisible) {
            return Err(sql_err!(ER_TABLE_MUST_HAVE_COLUMNS));
        }
        if self.columns.len() > COLUMNS_MAX || self.columns.len() > INNODB_COLUMNS_MAX && self.engine == "InnoDB" {
            return Err(sql_err!(ER_TOO_MANY_FIELDS));
        }
        let mut seen = std::collections::HashSet::with_capacity(self.columns.len());
        for c in &self.columns {
            if !seen.insert(c.column.name.to_lowercase()) {
                return Err(sql_err!(ER_DUP_FIELDNAME, c.column.name));
            }
        }
        let nulls = self.columns.iter().filter(|c| c.column.nullable).count().div_ceil(8) as u64;
        let bytes: u64 = self.columns.iter().map(|c| types::row_bytes(&c.column.ty) as u64).sum();
        if bytes + nulls > types::ROW_BYTES_MAX as u64 {
            return Err(sql_err!(ER_TOO_BIG_ROWSIZE, types::ROW_BYTES_MAX));
        }
        Ok(())
    }

    fn check_auto_increment(&self, indexes: &[selkie_catalog::Index]) -> SqlResult<()> {
        let auto: Vec<usize> =
            self.columns.iter().enumerate().filter(|(_, c)| c.column.auto_increment).map(|(i, _)| i).collect();
        // MyISAM and Aria number within the columns before; dumps of such tables bring their numbers along.
        let later = ["MyISAM", "Aria"].contains(&self.engine.as_str());
        let keyed = |c: usize| {
            indexes.iter().any(|i| match later {
                false => i.parts.first().is_some_and(|p| p.column == c),
                true => i.parts.iter().any(|p| p.column == c),
            })
        };
        match auto[..] {
            [] => Ok(()),
            [c] if keyed(c) => Ok(()),
            _ => Err(sql_err!(ER_WRONG_AUTO_KEY)),
        }
    }

    fn resolve_checks(&mut self) -> SqlResult<Vec<Check>> {
        let mut out: Vec<Check> = Vec::with_capacity(self.checks.len());
        let taken: Vec<String> = self.checks.iter().filter_map(|c| c.name.clone()).collect();
        let mut number = 1;
        for c in &self.checks {
            let name = match &c.name {
                Some(n) => n.clone(),
                None => {
                    let mut name = format!("CONSTRAINT_{number}");
                    while taken.iter().any(|t| names::same(t, &name)) {
                        number += 1;
                        name = format!("CONSTRAINT_{number}");
                    }
                    number += 1;
                    name
                }
            };
            let column = c.column.as_ref().and_then(|n| self.column_position(n));
            if column.is_none() && out.iter().any(|o| o.column.is_none() && names::same(&o.name, &name)) {
                return Err(sql_err!(ER_DUP_CONSTRAINT_NAME, "CHECK", name));
            }
            out.push(Check { name, expr: c.expr.clone(), column });
        }
        Ok(out)
    }

    /// Binds every new expression, so that a definition that cannot work is refused.
    fn check_expressions(&self, table: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
        for (i, c) in self.columns.iter().enumerate() {
            let Some(expr) = &c.new_expr else { continue };
            let generated = c.column.generated.as_ref();
            let clause = if generated.is_some() { "GENERATED ALWAYS AS" } else { "DEFAULT" };
            let bound = bind::column_expr(host, expr, table).map_err(|e| in_clause(e, clause))?;
            let deterministic = generated
                .is_some_and(|g| g.stored || table.indexes.iter().any(|x| x.parts.iter().any(|p| p.column == i)));
            self.refuse_forbidden(&bound, deterministic, clause, &c.column.name)?;
            let mut used = std::collections::BTreeSet::new();
            bind::columns(&bound, &mut used);
            for u in used {
                let other = &self.columns[u].column;
                if generated.is_none_or(|g| g.stored) && other.auto_increment {
                    let what = "AUTO_INCREMENT";
                    return Err(sql_err!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, what, clause, other.name));
                }
                let later_default = generated.is_none()
                    && u >= i
                    && matches!(other.default, selkie_catalog::ColumnDefault::Expr(_))
                    && self.columns[u].new_expr.is_some();
                let later_generated = other.generated.is_some() && u >= i;
                if later_default || later_generated || (generated.is_none() && u == i) {
                    return Err(sql_err!(ER_EXPRESSION_REFERS_TO_UNINIT_FIELD, c.column.name, other.name));
                }
            }
        }
        for c in &self.checks {
            let Some(expr) = &c.new_expr else { continue };
            let bound = bind::column_expr(host, expr, table).map_err(|e| in_clause(e, "CHECK"))?;
            let name = c.name.as_deref().unwrap_or("");
            self.refuse_forbidden(&bound, false, "CHECK", name)?;
            let mut used = std::collections::BTreeSet::new();
            bind::columns(&bound, &mut used);
            if let Some(auto) = used.iter().map(|u| &self.columns[*u].column).find(|c| c.auto_increment) {
                let what = "AUTO_INCREMENT";
                return Err(sql_err!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, what, "CHECK", auto.name));
            }
        }
        Ok(())
    }

    fn refuse_forbidden(&self, e: &selkie_expr::Expr, deterministic: bool, clause: &str, name: &str) -> SqlResult<()> {
        let what = match bind::forbidden(e, deterministic) {
            None => return Ok(()),
            Some(Forbidden::Subquery) => "select ...".to_string(),
            Some(Forbidden::Volatile(what)) => what,
        };
        Err(sql_err!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, what, clause, name))
    }
}

/// A table made of a definition with its ids and engine tables' ids, and the list of those.
pub fn with_ids(mut table: Table, host: &dyn DdlHost) -> (Arc<Table>, Vec<selkie_engine::IndexId>) {
    table.id = host.dictionary().allocate_id();
    let bit = if table.temporary { selkie_txn::VOLATILE } else { 0 };
    let fresh = || selkie_catalog::IndexIdDef(host.dictionary().allocate_id() | bit);
    let rows = fresh();
    let indexes: Vec<_> = table.indexes.iter().map(|i| if i.primary { rows } else { fresh() }).collect();
    table.partitions = vec![selkie_catalog::Partition { name: String::new(), rows, indexes }];
    table.derived = OnceLock::new();
    let ids = engine_indexes(&table);
    (Arc::new(table), ids)
}

/// The engine tables of a table, each once.
pub fn engine_indexes(table: &Table) -> Vec<selkie_engine::IndexId> {
    let mut ids: Vec<selkie_engine::IndexId> = Vec::new();
    for p in &table.partitions {
        for id in std::iter::once(&p.rows).chain(&p.indexes) {
            let id = selkie_engine::IndexId::from(*id);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}
