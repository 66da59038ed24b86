//! INSERT, UPDATE and DELETE: targets (tables and updatable views), assignments, RETURNING.

use std::sync::Arc;

use selkie_catalog::{Table, TableKind, ViewDef};
use selkie_expr::{Expr, ExprKind, SortKey, bind};
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::scope::{Found, Scope, ScopeColumn, ScopeTable};
use super::{Binder, Block, Clause, InsertedRow, Item};
use crate::context::AccessKind;
use crate::exprs::{conjunction, conjuncts};
use crate::logical::{ColId, ColumnInfo, LogicalQuery, Rel, TableRel};
use crate::plan::LockMode;

/// Where inserted rows come from; `None` is DEFAULT.
pub(crate) enum BoundInsertSource {
    Values(Vec<Vec<Option<Expr>>>),
    Query(LogicalQuery),
}

/// A bound INSERT or REPLACE. Columns of the target's full row are `row`.
pub(crate) struct BoundInsert {
    pub table: Arc<Table>,
    pub columns: Vec<usize>,
    pub source: BoundInsertSource,
    pub replace: bool,
    pub ignore: bool,
    /// The existing row in ON DUPLICATE KEY UPDATE, also the row being inserted in VALUES and RETURNING.
    pub row: Vec<ColId>,
    /// The row that could not be inserted.
    pub inserted: Vec<ColId>,
    pub on_duplicate: Vec<(usize, Option<Expr>)>,
    pub returning: Option<Vec<Item>>,
    /// Condition of a view with CHECK OPTION, over `row`, and the view's name.
    pub view_check: Option<(String, Expr)>,
}

/// One table that a bound UPDATE changes.
pub(crate) struct BoundUpdateTarget {
    pub table: Arc<Table>,
    pub cols: Vec<ColId>,
    pub row_key: ColId,
    pub assignments: Vec<(usize, Option<Expr>)>,
    pub view_check: Option<(String, Expr)>,
}

/// A bound UPDATE.
pub(crate) struct BoundUpdate {
    pub rel: Rel,
    pub targets: Vec<BoundUpdateTarget>,
    pub ignore: bool,
    pub multi: bool,
}

/// A bound DELETE: tables with the columns of their full rows and their row keys.
pub(crate) struct BoundDelete {
    pub rel: Rel,
    pub targets: Vec<(Arc<Table>, Vec<ColId>, ColId)>,
    pub ignore: bool,
    pub returning: Option<Vec<Item>>,
    pub multi: bool,
}

/// A table or updatable view that is inserted into.
struct InsertTarget {
    table: Arc<Table>,
    /// Name and position of each column that may be named.
    columns: Vec<(String, Option<usize>, bool)>,
    check: Option<(String, Vec<Expr>)>,
    /// Ids of the base table's columns in `check`.
    ids: Vec<ColId>,
    name: (String, String),
}

impl Binder<'_> {
    fn target_name(&self, name: &ast::ObjectName) -> SqlResult<(String, String)> {
        let db = match &name.db {
            Some(d) => d.value.clone(),
            None => self.default_db()?.to_owned(),
        };
        Ok((db, name.name.value.clone()))
    }

    /// Columns of a table's row that is no row of FROM.
    fn row_columns(&mut self, table: &Table, alias: &str) -> Vec<ColId> {
        let mut cols = Vec::with_capacity(table.columns.len());
        for (i, c) in table.columns.iter().enumerate() {
            cols.push(self.arena.add(ColumnInfo {
                name: c.name.clone(),
                ty: c.ty.clone(),
                nullable: c.nullable,
                coercibility: selkie_expr::Coercibility::Implicit,
                origin: Some(crate::plan::ColumnOrigin {
                    db: table.db.clone(),
                    table: alias.to_owned(),
                    org_table: table.name.clone(),
                    org_name: c.name.clone(),
                    flags: super::from::column_flags(table, i),
                }),
            }));
        }
        cols
    }

    fn insert_target(&mut self, name: &ast::ObjectName) -> SqlResult<InsertTarget> {
        let (db, name) = self.target_name(name)?;
        let table = self.open_table(&db, &name)?;
        match &table.kind {
            TableKind::View(view) => {
                let view = view.clone();
                self.view_insert_target(&table, &view)
            }
            TableKind::Base | TableKind::Sequence => {
                let columns =
                    table.columns.iter().enumerate().map(|(i, c)| (c.name.clone(), Some(i), c.invisible)).collect();
                Ok(InsertTarget { table, columns, check: None, ids: Vec::new(), name: (db, name) })
            }
        }
    }

    fn view_insert_target(&mut self, view_table: &Arc<Table>, view: &ViewDef) -> SqlResult<InsertTarget> {
        let full = (view_table.db.clone(), view_table.name.clone());
        let q = self.view_query(view_table, view)?;
        let mut tables = Vec::new();
        tables_of(&q.rel, &mut tables);
        let [base] = tables.as_slice() else {
            return Err(sql_err!(ER_NON_INSERTABLE_TABLE, view_table.name, "INSERT"));
        };
        if !super::from::is_mergeable(&q.rel) || view.algorithm.eq_ignore_ascii_case("TEMPTABLE") {
            return Err(sql_err!(ER_NON_INSERTABLE_TABLE, view_table.name, "INSERT"));
        }
        let columns: Vec<_> =
            q.output.iter().map(|(n, id)| (n.clone(), base.cols.iter().position(|c| c == id), false)).collect();
        if columns.iter().any(|(_, p, _)| p.is_none()) {
            return Err(sql_err!(ER_NON_INSERTABLE_TABLE, view_table.name, "INSERT"));
        }
        let check = if view.check_option.eq_ignore_ascii_case("NONE") || view.check_option.is_empty() {
            None
        } else {
            let mut conds = Vec::new();
            filters_of(&q.rel, &mut conds);
            Some((format!("{}.{}", full.0, full.1), conds))
        };
        Ok(InsertTarget { table: Arc::clone(&base.table), columns, check, ids: base.cols.clone(), name: full })
    }

    /// Binds INSERT and REPLACE.
    pub fn insert(&mut self, s: &ast::Insert) -> SqlResult<BoundInsert> {
        let target = self.insert_target(&s.table)?;
        let table = Arc::clone(&target.table);
        let statement = if s.replace { "REPLACE" } else { "INSERT" };
        let (db, name) = target.name.clone();
        self.access(&db, &name, None, AccessKind::Insert);
        if s.replace {
            self.access(&db, &name, None, AccessKind::Delete);
        }
        let listed: Vec<(String, Option<usize>)> = match &s.columns {
            Some(list) => {
                let mut out = Vec::with_capacity(list.len());
                for c in list {
                    let known_table = c.table.as_ref().is_none_or(|t| t.value == name);
                    let found = target.columns.iter().find(|(n, ..)| n.eq_ignore_ascii_case(&c.name.value));
                    match found {
                        Some((n, p, _)) if known_table => out.push((n.clone(), *p)),
                        _ => {
                            return Err(sql_err!(
                                ER_BAD_FIELD_ERROR,
                                super::names::written(c),
                                Clause::InsertInto.words()
                            ));
                        }
                    }
                }
                out
            }
            None => target.columns.iter().filter(|(.., hidden)| !hidden).map(|(n, p, _)| (n.clone(), *p)).collect(),
        };
        let mut columns = Vec::with_capacity(listed.len());
        for (n, p) in &listed {
            let Some(p) = p else { return Err(sql_err!(ER_NONUPDATEABLE_COLUMN, n)) };
            if columns.contains(p) {
                return Err(sql_err!(ER_FIELD_SPECIFIED_TWICE, n));
            }
            columns.push(*p);
        }
        for p in &columns {
            self.access(&db, &name, Some(&table.columns[*p].name), AccessKind::Insert);
        }
        let row = self.row_columns(&table, &name);
        let row_scope = Scope::of(ScopeTable {
            db: Some(db.clone()),
            alias: name.clone(),
            name: Some(name.clone()),
            columns: scope_columns(&target.columns, &row),
        });
        let mut query_scope = Scope::default();
        let source = match &s.source {
            ast::InsertSource::Values(rows) => {
                self.insert_rows(rows.iter().map(Vec::as_slice), s, &mut columns, &table, &row_scope)?
            }
            ast::InsertSource::Set(row) => {
                self.insert_rows([row.as_slice()].into_iter(), s, &mut columns, &table, &row_scope)?
            }
            ast::InsertSource::Query(q) => {
                let bound = self.query(q, true)?;
                query_scope = std::mem::take(&mut self.block().scope);
                if bound.output.len() != columns.len() {
                    return Err(sql_err!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
                }
                for p in &columns {
                    self.check_generated(&table, *p, false)?;
                }
                BoundInsertSource::Query(bound)
            }
        };
        let inserted = self.row_columns(&table, &name);
        let on_duplicate = self.on_duplicate(s, &target, &row_scope, query_scope, &inserted)?;
        let view_check = match target.check {
            Some((view, conds)) if !conds.is_empty() => {
                let map = crate::exprs::Substitution::new(
                    target.ids.iter().zip(&row).map(|(a, b)| (*a, self.arena.column(*b))),
                );
                conjunction(conds.into_iter().map(|c| map.apply(c)).collect()).map(|c| (view, c))
            }
            _ => None,
        };
        let returning = self.returning(&s.returning, row_scope)?;
        let _ = statement;
        Ok(BoundInsert {
            table,
            columns,
            source,
            replace: s.replace,
            ignore: s.ignore,
            row,
            inserted,
            on_duplicate,
            returning,
            view_check,
        })
    }

    /// A generated column takes DEFAULT only (error 1906 in strict mode). Whether the value is to be used.
    fn check_generated(&self, table: &Table, column: usize, is_default: bool) -> SqlResult<()> {
        let c = &table.columns[column];
        if c.generated.is_some() && !is_default && self.cx.sql_mode().strict() {
            return Err(sql_err!(ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, c.name, table.name));
        }
        Ok(())
    }

    fn insert_rows<'r>(
        &mut self,
        rows: impl Iterator<Item = &'r [ast::Expr]>,
        s: &ast::Insert,
        columns: &mut Vec<usize>,
        table: &Table,
        scope: &Scope,
    ) -> SqlResult<BoundInsertSource> {
        let block = self.block();
        *block = Block::new();
        block.scope = scope.clone();
        block.clause = Clause::Values;
        let mut out = Vec::new();
        for (n, r) in rows.enumerate() {
            // `VALUES ()` gives every column its default, whatever is listed.
            if r.is_empty() && (s.columns.is_none() || columns.is_empty()) && (n == 0 || columns.is_empty()) {
                columns.clear();
                out.push(Vec::new());
                continue;
            }
            if r.len() != columns.len() {
                return Err(sql_err!(ER_WRONG_VALUE_COUNT_ON_ROW, n + 1));
            }
            let mut row = Vec::with_capacity(r.len());
            for (e, p) in r.iter().zip(columns.iter()) {
                let value = self.assigned(e, &table.columns[*p].ty)?;
                self.check_generated(table, *p, value.is_none())?;
                row.push(value);
            }
            out.push(row);
        }
        Ok(BoundInsertSource::Values(out))
    }

    /// A value to be stored; `None` for DEFAULT (and IGNORE).
    fn assigned(&mut self, e: &ast::Expr, ty: &selkie_types::SqlType) -> SqlResult<Option<Expr>> {
        match e {
            ast::Expr::Default(None) | ast::Expr::Ignore => Ok(None),
            e => {
                let mut bound = self.expr(e)?;
                self.infer(&mut bound, ty);
                let is_number = matches!(
                    ty,
                    SqlType::Int { .. } | SqlType::Decimal { .. } | SqlType::Float { .. } | SqlType::Double { .. } | SqlType::Year(_)
                );
                Ok(Some(if is_number { bind::hex_as_number(&bound).unwrap_or(bound) } else { bound }))
            }
        }
    }

    fn on_duplicate(
        &mut self,
        s: &ast::Insert,
        target: &InsertTarget,
        row_scope: &Scope,
        query_scope: Scope,
        inserted: &[ColId],
    ) -> SqlResult<Vec<(usize, Option<Expr>)>> {
        if s.on_duplicate.is_empty() {
            return Ok(Vec::new());
        }
        let columns: Vec<(String, ColId)> =
            target.columns.iter().filter_map(|(n, p, _)| Some((n.clone(), inserted[(*p)?]))).collect();
        let block = self.block();
        *block = Block::new();
        block.clause = Clause::FieldList;
        block.scope = match row_scope.clone().concat(query_scope) {
            Ok(s) => s,
            Err(_) => row_scope.clone(),
        };
        self.inserted = Some(InsertedRow { columns });
        let mut out = Vec::with_capacity(s.on_duplicate.len());
        for a in &s.on_duplicate {
            let found = target.columns.iter().find(|(n, ..)| n.eq_ignore_ascii_case(&a.column.name.value));
            let Some((name, position, _)) = found else {
                return Err(sql_err!(ER_BAD_FIELD_ERROR, super::names::written(&a.column), Clause::Update.words()));
            };
            let Some(p) = *position else { return Err(sql_err!(ER_NONUPDATEABLE_COLUMN, name)) };
            let (db, table) = target.name.clone();
            self.access(&db, &table, Some(name), AccessKind::Update);
            let value = self.assigned(&a.value, &target.table.columns[p].ty)?;
            self.check_generated(&target.table, p, value.is_none())?;
            if target.table.columns[p].generated.is_none() {
                out.push((p, value));
            }
        }
        self.inserted = None;
        Ok(out)
    }

    fn returning(&mut self, items: &[ast::SelectItem], scope: Scope) -> SqlResult<Option<Vec<Item>>> {
        if items.is_empty() {
            return Ok(None);
        }
        let block = self.block();
        *block = Block::new();
        block.clause = Clause::Returning;
        block.scope = scope;
        let mut out = Vec::new();
        for i in items {
            self.select_item(i, &mut out)?;
        }
        Ok(Some(out))
    }

    /// Binds UPDATE.
    pub fn update(&mut self, s: &ast::Update) -> SqlResult<BoundUpdate> {
        let multi = s.tables.len() > 1 || !matches!(s.tables[0], ast::TableRef::Table(_));
        *self.block() = Block::new();
        let rel = self.bind_from(&s.tables)?;
        let mut tables = Vec::new();
        tables_of(&rel, &mut tables);
        let mut targets: Vec<BoundUpdateTarget> = Vec::new();
        for a in &s.assignments {
            self.block().clause = Clause::Set;
            let (id, view) = self.assigned_column(&a.column)?;
            let found = tables.iter().find_map(|t| Some((t, t.cols.iter().position(|c| *c == id)?)));
            let Some((t, position)) = found else {
                let table = view.map_or_else(|| a.column.name.value.clone(), |(_, t)| t);
                return Err(if tables.is_empty() || self.is_derived(&rel, id) {
                    sql_err!(ER_NON_UPDATABLE_TABLE, table, "UPDATE")
                } else {
                    sql_err!(ER_NONUPDATEABLE_COLUMN, a.column.name.value)
                });
            };
            let value = match &a.value {
                ast::Expr::Ignore => continue,
                e => self.assigned(e, &t.table.columns[position].ty)?,
            };
            self.check_generated(&t.table, position, value.is_none())?;
            if t.table.columns[position].generated.is_some() {
                continue;
            }
            match targets.iter_mut().find(|x| x.cols == t.cols) {
                Some(x) => x.assignments.push((position, value)),
                None => {
                    let row_key = self.row_key(&t.alias);
                    targets.push(BoundUpdateTarget {
                        table: Arc::clone(&t.table),
                        cols: t.cols.clone(),
                        row_key,
                        assignments: vec![(position, value)],
                        view_check: None,
                    });
                }
            }
        }
        let names: Vec<_> = self
            .block()
            .scope
            .tables
            .iter()
            .filter(|t| targets.iter().any(|x| t.columns.iter().any(|c| x.cols.contains(&c.id))))
            .filter_map(|t| Some((t.db.clone()?, t.name.clone()?)))
            .collect();
        self.only_written(&names);
        let rel = self.changed_rows(
            rel,
            &s.where_clause,
            &s.order_by,
            s.limit.as_ref(),
            &targets.iter().map(|t| (t.cols[0], t.row_key)).collect::<Vec<_>>(),
        )?;
        self.view_checks(s, &mut targets)?;
        Ok(BoundUpdate { rel, targets, ignore: s.ignore, multi })
    }

    /// WITH CHECK OPTION of an updated view: its condition must hold after the change.
    fn view_checks(&mut self, s: &ast::Update, targets: &mut [BoundUpdateTarget]) -> SqlResult<()> {
        let [ast::TableRef::Table(t)] = s.tables.as_slice() else { return Ok(()) };
        let (db, name) = self.target_name(&t.name)?;
        let Ok(table) = self.open_table(&db, &name) else { return Ok(()) };
        let TableKind::View(view) = &table.kind else { return Ok(()) };
        if view.check_option.eq_ignore_ascii_case("NONE") || view.check_option.is_empty() {
            return Ok(());
        }
        let q = self.view_query(&table, &view.clone())?;
        let mut tables = Vec::new();
        tables_of(&q.rel, &mut tables);
        let mut conds = Vec::new();
        filters_of(&q.rel, &mut conds);
        for target in targets {
            let Some(t) = tables.iter().find(|t| t.table.id == target.table.id) else { continue };
            let map = crate::exprs::Substitution::new(
                t.cols.iter().zip(&target.cols).map(|(a, b)| (*a, self.arena.column(*b))),
            );
            target.view_check =
                conjunction(conds.iter().cloned().map(|c| map.apply(c)).collect()).map(|c| (format!("{db}.{name}"), c));
        }
        Ok(())
    }

    fn is_derived(&self, rel: &Rel, id: ColId) -> bool {
        match rel {
            Rel::Derived { output, .. } => output.contains(&id),
            Rel::Shared { cols, .. } => cols.contains(&id),
            Rel::Virtual(t) => t.cols.contains(&id),
            other => other.inputs().into_iter().any(|r| self.is_derived(r, id)),
        }
    }

    /// The column that an assignment changes, with the table or view that it was named by.
    fn assigned_column(&mut self, c: &ast::ColumnRef) -> SqlResult<(ColId, Option<(String, String)>)> {
        let top = self.frames.len() - 1;
        let scope = &self.frames[top].block.scope;
        let db = c.db.as_ref().map(|d| d.value.as_str());
        let table = c.table.as_ref().map(|d| d.value.as_str());
        let (id, named, column) = match scope.find(db, table, &c.name.value) {
            Found::One { table, name, id } => {
                let named = table.and_then(|t| Some((t.db.clone()?, t.name.clone()?)));
                let alias = table.map(|t| t.alias.clone()).unwrap_or_default();
                (id, named.ok_or(alias), name.to_owned())
            }
            Found::None => return Err(sql_err!(ER_BAD_FIELD_ERROR, super::names::written(c), Clause::Set.words())),
            Found::Ambiguous => {
                return Err(sql_err!(ER_NON_UNIQ_ERROR, super::names::written(c), Clause::Set.words()));
            }
        };
        match named {
            Ok((db, table)) => {
                self.access(&db, &table, Some(&column), AccessKind::Update);
                Ok((id, Some((db, table))))
            }
            Err(alias) => Ok((id, Some((String::new(), alias)))),
        }
    }

    /// Changing a table's rows asks for no privilege to read it; reading its columns does.
    fn only_written(&mut self, tables: &[(String, String)]) {
        self.accessed.retain(|a| {
            let whole = a.column.is_none() && a.kind == AccessKind::Select;
            !(whole && tables.iter().any(|(db, t)| a.db == *db && a.table == *t))
        });
    }

    fn row_key(&mut self, alias: &str) -> ColId {
        self.arena.add(ColumnInfo {
            name: format!("{alias}.row key"),
            ty: selkie_types::SqlType::varchar(3072, selkie_types::Collation::BINARY),
            nullable: true,
            coercibility: selkie_expr::Coercibility::Implicit,
            origin: None,
        })
    }

    /// WHERE, ORDER BY and LIMIT of UPDATE and DELETE over locked tables. `keys`: first column of each changed table
    /// with its row key.
    fn changed_rows(
        &mut self,
        rel: Rel,
        where_clause: &Option<ast::Expr>,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
        keys: &[(ColId, ColId)],
    ) -> SqlResult<Rel> {
        let mut rel = lock_tables(rel, keys);
        if let Some(w) = where_clause {
            self.block().clause = Clause::Where;
            let mut conds = Vec::new();
            conjuncts(self.condition(w)?, &mut conds);
            rel = rel.filter(conds);
        }
        let mut sort = Vec::new();
        for o in order_by {
            if let Some(expr) = self.order_term(&o.expr)? {
                sort.push(SortKey { expr, descending: o.desc.unwrap_or(false) });
            }
        }
        if !sort.is_empty() {
            let mut computed = Vec::new();
            for k in &mut sort {
                if !matches!(k.expr.kind, ExprKind::Column(_)) {
                    let id = self.arena.add_for("order", &k.expr);
                    let e = std::mem::replace(&mut k.expr, self.arena.column(id));
                    computed.push((id, e));
                }
            }
            rel = Rel::Sort { input: Box::new(rel.project(computed)), keys: sort };
        }
        self.limit(rel, limit)
    }

    /// Binds DELETE.
    pub fn delete(&mut self, s: &ast::Delete) -> SqlResult<BoundDelete> {
        *self.block() = Block::new();
        let (rel, names, multi): (Rel, Vec<ast::ObjectName>, bool) = match &s.target {
            ast::DeleteTarget::Single(t) => {
                let rel = self.bind_from(&[ast::TableRef::Table(t.clone())])?;
                let alias = t.alias.as_ref().unwrap_or(&t.name.name).clone();
                (rel, vec![ast::ObjectName::bare(alias)], false)
            }
            ast::DeleteTarget::Multi { tables, from } => {
                if !s.order_by.is_empty() || s.limit.is_some() {
                    let clause = if s.order_by.is_empty() { "LIMIT" } else { "ORDER BY" };
                    return Err(sql_err!(ER_WRONG_USAGE, "DELETE", clause));
                }
                (self.bind_from(from)?, tables.clone(), true)
            }
            ast::DeleteTarget::History { .. } => {
                return Err(sql_err!(ER_NOT_SUPPORTED_YET, "DELETE HISTORY"));
            }
        };
        let mut tables = Vec::new();
        tables_of(&rel, &mut tables);
        let scope = self.block().scope.clone();
        let mut targets: Vec<(Arc<Table>, Vec<ColId>, ColId)> = Vec::new();
        for n in &names {
            let db = n.db.as_ref().map(|d| d.value.as_str());
            let by_name = || {
                // A target may be given by its table name where FROM gives it an alias of the same name only.
                scope.table(db, &n.name.value)
            };
            let Some(t) = by_name() else {
                return Err(sql_err!(ER_UNKNOWN_TABLE, n.name.value, "MULTI DELETE"));
            };
            let found = t.columns.first().and_then(|c| tables.iter().find(|x| x.cols.contains(&c.id)));
            let merged = tables.iter().filter(|x| t.columns.iter().any(|c| x.cols.contains(&c.id))).count();
            let Some(base) = found else {
                return Err(sql_err!(ER_NON_UPDATABLE_TABLE, n.name.value, "DELETE"));
            };
            if merged > 1 {
                let (db, name) = (t.db.clone().unwrap_or_default(), t.alias.clone());
                return Err(sql_err!(ER_VIEW_DELETE_MERGE_VIEW, db, name));
            }
            if targets.iter().any(|(_, cols, _)| *cols == base.cols) {
                return Err(sql_err!(ER_NONUNIQ_TABLE, n.name.value));
            }
            if let (Some(db), Some(name)) = (t.db.clone(), t.name.clone()) {
                self.only_written(&[(db.clone(), name.clone())]);
                self.access(&db, &name, None, AccessKind::Delete);
            }
            let key = self.row_key(&t.alias);
            targets.push((Arc::clone(&base.table), base.cols.clone(), key));
        }
        let keys: Vec<(ColId, ColId)> = targets.iter().map(|(_, c, k)| (c[0], *k)).collect();
        let rel = self.changed_rows(rel, &s.where_clause, &s.order_by, s.limit.as_ref(), &keys)?;
        let returning = self.returning(&s.returning, scope)?;
        Ok(BoundDelete { rel, targets, ignore: s.ignore, returning, multi })
    }

    /// Binds DO.
    pub fn do_list(&mut self, list: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        *self.block() = Block::new();
        self.block().clause = Clause::Do;
        self.exprs(list)
    }
}

fn scope_columns(columns: &[(String, Option<usize>, bool)], row: &[ColId]) -> Vec<ScopeColumn> {
    columns
        .iter()
        .filter_map(|(n, p, hidden)| Some(ScopeColumn { name: n.clone(), id: row[(*p)?], invisible: *hidden }))
        .collect()
}

/// The base tables that can be written through the tree.
pub(crate) fn tables_of(rel: &Rel, out: &mut Vec<TableRel>) {
    match rel {
        Rel::Table(t) => out.push((**t).clone()),
        Rel::Join { left, right, .. } => {
            tables_of(left, out);
            tables_of(right, out);
        }
        Rel::Filter { input, .. } | Rel::Project { input, .. } => tables_of(input, out),
        _ => {}
    }
}

/// The conditions of a mergeable tree.
fn filters_of(rel: &Rel, out: &mut Vec<Expr>) {
    if let Rel::Filter { conds, .. } = rel {
        out.extend(conds.iter().cloned());
    }
    for i in rel.inputs() {
        filters_of(i, out);
    }
}

/// Row locks and row keys on the tables that are changed; the others are locked as MariaDB does, shared.
fn lock_tables(rel: Rel, keys: &[(ColId, ColId)]) -> Rel {
    match rel {
        Rel::Table(mut t) => {
            t.row_key = keys.iter().find(|(c, _)| t.cols.first() == Some(c)).map(|(_, k)| *k);
            t.lock = if t.row_key.is_some() { LockMode::Exclusive } else { LockMode::None };
            Rel::Table(t)
        }
        other @ (Rel::Derived { .. } | Rel::SetOp { .. } | Rel::Aggregate { .. }) => other,
        other => other.map_inputs(&mut |r| lock_tables(r, keys)),
    }
}
