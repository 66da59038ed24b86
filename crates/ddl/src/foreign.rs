//! FOREIGN KEY constraints as declared: their names, their columns, the index that they need on either side.

use selkie_catalog::{FkAction, ForeignKey, Schema, Table};
use selkie_parser::ast::{self, IndexPart, ReferenceAction};
use selkie_types::{Level, SqlError, SqlResult, SqlType, TextKind, sql_err};

use crate::column::DraftColumn;
use crate::host::DdlHost;
use crate::index::DraftIndex;
use crate::names;

/// A FOREIGN KEY of a table that is being defined.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftForeignKey {
    /// Constraint's name, if it has one yet.
    pub name: Option<String>,
    /// Columns by name.
    pub columns: Vec<String>,
    /// Referenced database.
    pub ref_db: String,
    /// Referenced table.
    pub ref_table: String,
    /// Referenced columns.
    pub ref_columns: Vec<String>,
    /// ON DELETE
    pub on_delete: FkAction,
    /// ON UPDATE
    pub on_update: FkAction,
    /// Whether the table had it before this statement.
    pub existing: bool,
}

impl DraftForeignKey {
    /// From a declaration, with the index that it brings along.
    pub fn declared(def: &ast::ForeignKeyDef, db: &str) -> SqlResult<(DraftForeignKey, DraftIndex)> {
        let name = def.constraint.as_ref().or(def.index_name.as_ref());
        if let Some(n) = name {
            names::check_index(n)?;
        }
        let columns: Vec<String> = def.columns.iter().map(|c| c.column.value.clone()).collect();
        let shown = def.index_name.as_ref().or(def.constraint.as_ref()).map(|n| n.as_str());
        let key = Self::of(name.map(|n| n.value.clone()), shown, columns.clone(), &def.references, db)?;
        let index_name = name.map(|n| n.value.clone());
        let index = DraftIndex { generated: true, ..DraftIndex::on(&columns, index_name) };
        Ok((key, index))
    }

    /// From a column's REFERENCES.
    pub fn of_column(
        column: &str,
        name: Option<String>,
        references: &ast::References,
        db: &str,
    ) -> SqlResult<(DraftForeignKey, DraftIndex)> {
        let columns = vec![column.to_owned()];
        let key = Self::of(name, None, columns.clone(), references, db)?;
        Ok((key, DraftIndex { generated: true, ..DraftIndex::on(&columns, None) }))
    }

    fn of(
        name: Option<String>,
        shown: Option<&str>,
        columns: Vec<String>,
        r: &ast::References,
        db: &str,
    ) -> SqlResult<DraftForeignKey> {
        let ref_columns: Vec<String> = r.columns.iter().map(|c: &IndexPart| c.column.value.clone()).collect();
        if ref_columns.len() != columns.len() {
            let shown = shown.unwrap_or("foreign key without name");
            return Err(sql_err!(ER_WRONG_FK_DEF, shown, "Key reference and table reference don't match"));
        }
        Ok(DraftForeignKey {
            name,
            columns,
            ref_db: r.table.db.as_ref().map_or(db, |d| d.as_str()).to_owned(),
            ref_table: r.table.name.value.clone(),
            ref_columns,
            on_delete: action(r.on_delete),
            on_update: action(r.on_update),
            existing: false,
        })
    }
}

fn action(a: Option<ReferenceAction>) -> FkAction {
    match a {
        // As in InnoDB, SET DEFAULT is taken and means nothing.
        None | Some(ReferenceAction::Restrict | ReferenceAction::SetDefault) => FkAction::Restrict,
        Some(ReferenceAction::NoAction) => FkAction::NoAction,
        Some(ReferenceAction::Cascade) => FkAction::Cascade,
        Some(ReferenceAction::SetNull) => FkAction::SetNull,
    }
}

/// The table that foreign keys are resolved for.
pub struct Child<'a> {
    /// Database.
    pub db: &'a str,
    /// Name.
    pub table: &'a str,
    /// Columns.
    pub columns: &'a [DraftColumn],
    /// Indexes.
    pub indexes: &'a [DraftIndex],
    /// `Create`, `Alter`: for warnings.
    pub verb: &'a str,
}

/// Names the constraints and checks what they refer to. The result is in order of names, as MariaDB shows it.
pub fn resolve(drafts: &[DraftForeignKey], child: &Child<'_>, host: &mut dyn DdlHost) -> SqlResult<Vec<ForeignKey>> {
    let schema = host.schema();
    let checks = host.settings().foreign_key_checks;
    let mut out: Vec<ForeignKey> = Vec::with_capacity(drafts.len());
    let prefix = format!("{}_ibfk_", child.table);
    let number = |name: &str| name.strip_prefix(&prefix).and_then(|n| n.parse::<u64>().ok());
    let mut next = drafts.iter().filter_map(|d| d.name.as_deref().and_then(number)).max().unwrap_or(0) + 1;
    for d in drafts {
        let name = match &d.name {
            Some(n) => n.clone(),
            None => {
                next += 1;
                format!("{prefix}{}", next - 1)
            }
        };
        let mut columns = Vec::with_capacity(d.columns.len());
        for c in &d.columns {
            let position = child.columns.iter().position(|o| names::same(&o.column.name, c));
            columns.push(position.ok_or_else(|| sql_err!(ER_KEY_COLUMN_DOES_NOT_EXIST, c))?);
        }
        if !d.existing {
            if let Err(why) = check(d, &columns, child, &schema, checks) {
                return Err(refused(&why, d, child, host));
            }
            let twice = |o: &ForeignKey| names::same(&o.name, &name);
            if out.iter().any(twice) || name_taken(&schema, child, &name) {
                let errno = "121 \"Duplicate key on write or update\"";
                return Err(sql_err!(ER_CANT_CREATE_TABLE, child.db, child.table, errno));
            }
        }
        out.push(ForeignKey {
            name,
            columns,
            ref_db: d.ref_db.clone(),
            ref_table: d.ref_table.clone(),
            ref_columns: d.ref_columns.clone(),
            on_delete: d.on_delete,
            on_update: d.on_update,
        });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

/// Names of foreign keys are unique in a database.
fn name_taken(schema: &Schema, child: &Child<'_>, name: &str) -> bool {
    let Some(db) = schema.databases.get(child.db) else { return false };
    db.tables.values().any(|t| t.name != child.table && t.foreign_keys.iter().any(|f| names::same(&f.name, name)))
}

/// Why a foreign key cannot be: the end of warning 150's sentence.
fn check(
    d: &DraftForeignKey,
    columns: &[usize],
    child: &Child<'_>,
    schema: &Schema,
    checks: bool,
) -> Result<(), String> {
    for action in [d.on_delete, d.on_update] {
        if action == FkAction::SetNull
            && let Some(c) = columns.iter().map(|c| &child.columns[*c].column).find(|c| !c.nullable)
        {
            return Err(format!(
                "You have defined a SET NULL condition but column '{}' is defined as NOT NULL.",
                c.name
            ));
        }
    }
    let own = d.ref_db == child.db && d.ref_table == child.table;
    if own {
        return check_columns(
            d,
            columns,
            child,
            |name| child.columns.iter().find(|c| names::same(&c.column.name, name)).map(|c| c.column.ty.clone()),
            || child.indexes.iter().any(|i| i.begins_with(&d.ref_columns)),
        );
    }
    let Some(parent) = schema.table(&d.ref_db, &d.ref_table) else {
        if !checks {
            return Ok(());
        }
        return Err(format!("Referenced table `{}`.`{}` not found in the data dictionary.", d.ref_db, d.ref_table));
    };
    check_columns(
        d,
        columns,
        child,
        |name| parent.column_index(name).map(|i| parent.columns[i].ty.clone()),
        || index_for(parent, &d.ref_columns).is_some(),
    )
}

fn check_columns(
    d: &DraftForeignKey,
    columns: &[usize],
    child: &Child<'_>,
    parent_type: impl Fn(&str) -> Option<SqlType>,
    has_index: impl Fn() -> bool,
) -> Result<(), String> {
    let no_index = || {
        "There is no index in the referenced table where the referenced columns appear as the first columns."
            .to_string()
    };
    for (c, r) in columns.iter().zip(&d.ref_columns) {
        let column = &child.columns[*c].column;
        let Some(ty) = parent_type(r) else { return Err(no_index()) };
        if !comparable(&column.ty, &ty) {
            return Err(format!(
                "Field type or character set for column '{}' does not match referenced column '{r}'.",
                column.name
            ));
        }
    }
    if has_index() { Ok(()) } else { Err(no_index()) }
}

/// Position of an index of a table whose first columns are these, in order.
pub fn index_for(table: &Table, columns: &[String]) -> Option<usize> {
    table.indexes.iter().position(|i| {
        i.kind != selkie_catalog::IndexKind::FullText
            && i.parts.len() >= columns.len()
            && columns
                .iter()
                .zip(&i.parts)
                .all(|(c, p)| names::same(&table.columns[p.column].name, c) && p.prefix.is_none())
    })
}

/// Whether two columns may be the two sides of a foreign key: the same type, lengths of text apart.
fn comparable(a: &SqlType, b: &SqlType) -> bool {
    match (a, b) {
        (SqlType::Int { width: w1, unsigned: u1, .. }, SqlType::Int { width: w2, unsigned: u2, .. }) => {
            w1 == w2 && u1 == u2
        }
        (
            SqlType::Decimal { precision: p1, scale: s1, unsigned: u1, .. },
            SqlType::Decimal { precision: p2, scale: s2, unsigned: u2, .. },
        ) => p1 == p2 && s1 == s2 && u1 == u2,
        (SqlType::Text { kind: k1, collation: c1, .. }, SqlType::Text { kind: k2, collation: c2, .. }) => {
            let short = |k: &TextKind| matches!(k, TextKind::Char | TextKind::VarChar);
            c1 == c2 && short(k1) == short(k2)
        }
        (SqlType::Float { .. }, SqlType::Float { .. }) | (SqlType::Double { .. }, SqlType::Double { .. }) => true,
        (SqlType::Enum(a), SqlType::Enum(b)) | (SqlType::Set(a), SqlType::Set(b)) => {
            a.members.len().div_ceil(8) == b.members.len().div_ceil(8)
        }
        (a, b) => a == b,
    }
}

fn refused(why: &str, d: &DraftForeignKey, child: &Child<'_>, host: &mut dyn DdlHost) -> SqlError {
    let text = format!(
        "{}  table `{}`.`{}` with foreign key ({}) constraint failed. {why}",
        child.verb,
        child.db,
        child.table,
        d.columns.join(", ")
    );
    let e =
        sql_err!(ER_CANT_CREATE_TABLE, child.db, child.table, "150 \"Foreign key constraint is incorrectly formed\"");
    let diag = host.diag();
    diag.push(Level::Warning, SqlError::raw(150, "HY000", text));
    let text = format!("Cannot add foreign key constraint for `{}`", child.table);
    diag.push(Level::Warning, SqlError::with_message(selkie_types::codes::ER_CANNOT_ADD_FOREIGN, text));
    e
}

/// Foreign keys of other tables that refer to a table: the table that has one, and its position there.
pub fn referencing<'s>(
    schema: &'s Schema,
    db: &str,
    table: &str,
) -> impl Iterator<Item = (&'s std::sync::Arc<Table>, &'s ForeignKey)> {
    let (db, table) = (db.to_owned(), table.to_owned());
    schema.tables_by_id.values().flat_map(move |t| {
        let (db, table) = (db.clone(), table.clone());
        t.foreign_keys.iter().filter(move |f| f.ref_db == db && f.ref_table == table).map(move |f| (t, f))
    })
}
