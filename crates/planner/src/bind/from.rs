//! FROM clauses: tables, joins, derived tables, JSON_TABLE.

use std::sync::Arc;

use selkie_catalog::{Table, TableKind};
use selkie_expr::{Coercibility, Expr, bind};
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::scope::{Scope, ScopeColumn, ScopeTable, StarColumn};
use super::{Binder, Clause};
use crate::context::AccessKind;
use crate::exprs::{Substitution, conjuncts};
use crate::logical::{ColumnInfo, JsonTableRel, LogicalQuery, Rel, TableRel, VirtualRel};
use crate::plan::{ColumnOrigin, JoinKind, JsonTableColumn};

/// Column flags of the protocol.
mod flags {
    pub const NOT_NULL: u16 = 1;
    pub const PRI_KEY: u16 = 2;
    pub const UNIQUE_KEY: u16 = 4;
    pub const MULTIPLE_KEY: u16 = 8;
    pub const BLOB: u16 = 16;
    pub const UNSIGNED: u16 = 32;
    pub const ZEROFILL: u16 = 64;
    pub const BINARY: u16 = 128;
    pub const ENUM: u16 = 256;
    pub const AUTO_INCREMENT: u16 = 512;
    pub const TIMESTAMP: u16 = 1024;
    pub const SET: u16 = 2048;
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    pub const ON_UPDATE_NOW: u16 = 8192;
    pub const PART_KEY: u16 = 16384;
}

/// The protocol's flags of a column of a base table.
pub(crate) fn column_flags(table: &Table, position: usize) -> u16 {
    use selkie_types::TextKind;
    let c = &table.columns[position];
    let mut f = 0;
    let mut set = |on: bool, flag: u16| {
        if on {
            f |= flag;
        }
    };
    set(!c.nullable, flags::NOT_NULL);
    set(!c.nullable && c.default == selkie_catalog::ColumnDefault::None && !c.auto_increment, flags::NO_DEFAULT_VALUE);
    for i in &table.indexes {
        let at = i.parts.iter().position(|p| p.column == position);
        set(at.is_some(), flags::PART_KEY);
        match at {
            Some(_) if i.primary => set(true, flags::PRI_KEY),
            Some(0) if i.unique && i.parts.len() == 1 => set(true, flags::UNIQUE_KEY),
            Some(0) => set(true, flags::MULTIPLE_KEY),
            _ => {}
        }
    }
    set(c.auto_increment, flags::AUTO_INCREMENT);
    set(c.on_update_now, flags::ON_UPDATE_NOW);
    set(c.ty.is_unsigned() && c.ty.is_numeric(), flags::UNSIGNED);
    match &c.ty {
        SqlType::Int { zerofill, .. }
        | SqlType::Float { zerofill, .. }
        | SqlType::Double { zerofill, .. }
        | SqlType::Decimal { zerofill, .. } => set(*zerofill, flags::ZEROFILL),
        SqlType::Year(_) => set(true, flags::ZEROFILL),
        SqlType::Text { kind, collation, .. } => {
            set(!matches!(kind, TextKind::Char | TextKind::VarChar), flags::BLOB);
            set(collation.is_bin(), flags::BINARY);
        }
        SqlType::Enum(_) => set(true, flags::ENUM),
        SqlType::Set(_) => set(true, flags::SET),
        SqlType::Timestamp { .. } => set(true, flags::TIMESTAMP | flags::BINARY),
        SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } => set(true, flags::BINARY),
        _ => {}
    }
    f
}

impl Binder<'_> {
    /// Binds a FROM list; the block's scope is what it offers.
    pub(super) fn bind_from(&mut self, refs: &[ast::TableRef]) -> SqlResult<Rel> {
        let mut rel: Option<Rel> = None;
        let mut scope = Scope::default();
        for r in refs {
            let (next, s) = self.table_ref(r, &scope)?;
            scope = join_scopes(scope, s)?;
            rel = Some(match rel {
                None => next,
                Some(left) => left.join(next, Vec::new()),
            });
        }
        self.block().scope = scope;
        Ok(rel.unwrap_or(Rel::OneRow))
    }

    /// Binds one reference; `before` is what stands to its left, for LATERAL and JSON_TABLE.
    fn table_ref(&mut self, r: &ast::TableRef, before: &Scope) -> SqlResult<(Rel, Scope)> {
        match r {
            ast::TableRef::Table(t) => self.named_table(t),
            ast::TableRef::Derived { lateral, query, alias, columns } => {
                let Some(alias) = alias else { return Err(sql_err!(ER_DERIVED_MUST_HAVE_ALIAS)) };
                self.derived(*lateral, query, &alias.value, columns, before)
            }
            ast::TableRef::JsonTable(t) => self.json_table(t, before),
            ast::TableRef::Join(j) => self.join(j, before),
            ast::TableRef::Nested(list) => {
                let mut rel: Option<Rel> = None;
                let mut scope = Scope::default();
                for r in list {
                    let visible = join_scopes(before.clone(), scope.clone())?;
                    let (next, s) = self.table_ref(r, &visible)?;
                    scope = join_scopes(scope, s)?;
                    rel = Some(match rel {
                        None => next,
                        Some(left) => left.join(next, Vec::new()),
                    });
                }
                Ok((rel.unwrap_or(Rel::OneRow), scope))
            }
        }
    }

    fn named_table(&mut self, t: &ast::NamedTable) -> SqlResult<(Rel, Scope)> {
        let alias = t.alias.as_ref().unwrap_or(&t.name.name).value.clone();
        if t.name.db.is_none()
            && let Some(found) = self.cte_reference(&t.name.name.value, &alias)?
        {
            return Ok(found);
        }
        let db = match &t.name.db {
            Some(d) => d.value.clone(),
            None => self.default_db()?.to_owned(),
        };
        let name = t.name.name.value.clone();
        if let Some(found) = self.virtual_table(&db, &name, &alias) {
            return Ok(found);
        }
        let table = self.open_table(&db, &name)?;
        match &table.kind {
            TableKind::View(view) => {
                self.access(&db, &name, None, AccessKind::Select);
                let view = view.clone();
                self.view(&table, &view, &alias)
            }
            TableKind::Base | TableKind::Sequence => {
                self.access(&db, &name, None, AccessKind::Select);
                self.base_table(table, alias, t)
            }
        }
    }

    /// The table of that name, temporary ones first. Error 1146, or 1049 without such a database.
    pub(super) fn open_table(&self, db: &str, name: &str) -> SqlResult<Arc<Table>> {
        if let Some(t) = self.cx.temporary.table(db, name) {
            return Ok(t);
        }
        let missing = || match db.eq_ignore_ascii_case("information_schema") {
            true => sql_err!(ER_UNKNOWN_TABLE, name, "information_schema"),
            false => sql_err!(ER_NO_SUCH_TABLE, db, name),
        };
        self.cx.schema.table(db, name).cloned().ok_or_else(missing)
    }

    fn virtual_table(&mut self, db: &str, name: &str, alias: &str) -> Option<(Rel, Scope)> {
        let columns = self.cx.virtuals.columns(db, name)?;
        let (db, name) = (db.to_lowercase(), name.to_lowercase());
        let mut cols = Vec::with_capacity(columns.len());
        let mut scope = Vec::with_capacity(columns.len());
        for c in columns {
            let id = self.arena.add(ColumnInfo {
                name: c.name.clone(),
                ty: c.ty,
                nullable: c.nullable,
                coercibility: Coercibility::Implicit,
                origin: Some(ColumnOrigin {
                    db: db.clone(),
                    table: alias.to_owned(),
                    org_table: name.clone(),
                    org_name: c.name.clone(),
                    flags: 0,
                }),
            });
            cols.push(id);
            scope.push(ScopeColumn { name: c.name, id, invisible: false });
        }
        let table =
            ScopeTable { db: Some(db.clone()), alias: alias.to_owned(), name: Some(name.clone()), columns: scope };
        let rel = Rel::Virtual(Box::new(VirtualRel { db, name, alias: alias.to_owned(), cols }));
        Some((rel, Scope::of(table)))
    }

    /// Makes columns for a base table.
    pub(super) fn base_table(
        &mut self,
        table: Arc<Table>,
        alias: String,
        t: &ast::NamedTable,
    ) -> SqlResult<(Rel, Scope)> {
        for hint in &t.index_hints {
            for name in &hint.indexes {
                if !table.indexes.iter().any(|i| i.name.eq_ignore_ascii_case(&name.value)) {
                    return Err(sql_err!(ER_KEY_DOES_NOT_EXISTS, name.value, alias));
                }
            }
        }
        let mut partitions = None;
        if !t.partitions.is_empty() {
            if table.partition_by.is_none() {
                return Err(sql_err!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
            }
            let mut list = Vec::new();
            for p in &t.partitions {
                match table.partitions.iter().position(|x| x.name.eq_ignore_ascii_case(&p.value)) {
                    Some(i) => list.push(i),
                    None => return Err(sql_err!(ER_UNKNOWN_PARTITION, p.value, table.name)),
                }
            }
            list.sort_unstable();
            list.dedup();
            partitions = Some(list);
        }
        let mut cols = Vec::with_capacity(table.columns.len());
        let mut scope = Vec::with_capacity(table.columns.len());
        for (i, c) in table.columns.iter().enumerate() {
            let id = self.arena.add(ColumnInfo {
                name: c.name.clone(),
                ty: c.ty.clone(),
                nullable: c.nullable,
                coercibility: Coercibility::Implicit,
                origin: Some(ColumnOrigin {
                    db: table.db.clone(),
                    table: alias.clone(),
                    org_table: table.name.clone(),
                    org_name: c.name.clone(),
                    flags: column_flags(&table, i),
                }),
            });
            cols.push(id);
            scope.push(ScopeColumn { name: c.name.clone(), id, invisible: c.invisible });
        }
        let scope = Scope::of(ScopeTable {
            db: Some(table.db.clone()),
            alias: alias.clone(),
            name: Some(table.name.clone()),
            columns: scope,
        });
        let (lock, wait) = (self.block().lock, self.block().wait);
        let rel = TableRel { table, alias, cols, row_key: None, hints: t.index_hints.clone(), lock, wait, partitions };
        Ok((Rel::Table(Box::new(rel)), scope))
    }

    fn derived(
        &mut self,
        lateral: bool,
        query: &ast::Query,
        alias: &str,
        columns: &[ast::Ident],
        before: &Scope,
    ) -> SqlResult<(Rel, Scope)> {
        let mut bound = if lateral {
            let outer = std::mem::replace(&mut self.block().scope, before.clone());
            let r = self.nested(false, |b| b.query(query, false));
            self.block().scope = outer;
            let (mut q, refs) = r?;
            // The left side's columns stand for themselves in a lateral derived table.
            let map = Substitution::new(refs.into_iter().map(|(e, id)| (id, e)));
            q.rel = q.rel.substitute(&map);
            q
        } else {
            self.nested(true, |b| b.query(query, false))?.0
        };
        if !columns.is_empty() {
            if columns.len() != bound.output.len() {
                return Err(sql_err!(ER_WITH_COL_WRONG_LIST));
            }
            for (out, name) in bound.output.iter_mut().zip(columns) {
                out.0 = name.value.clone();
            }
        }
        let merge = self.cx.switches.derived_merge && !lateral;
        self.as_table(bound, None, alias, merge)
    }

    /// A bound query as an item of FROM: merged where allowed and simple, else a derived table.
    pub(super) fn as_table(
        &mut self,
        mut q: LogicalQuery,
        name: Option<(&str, &str)>,
        alias: &str,
        merge: bool,
    ) -> SqlResult<(Rel, Scope)> {
        let mut columns: Vec<ScopeColumn> = Vec::with_capacity(q.output.len());
        for (n, id) in &q.output {
            if columns.iter().any(|c| c.name.eq_ignore_ascii_case(n)) {
                return Err(sql_err!(ER_DUP_FIELDNAME, n));
            }
            columns.push(ScopeColumn { name: n.clone(), id: *id, invisible: false });
        }
        q.rel = strip_sort(q.rel);
        let merge = merge && is_mergeable(&q.rel);
        // Result columns carry the alias of the derived table; a column may stand twice in it.
        let mut renamed = Vec::new();
        let mut seen = Vec::new();
        for c in &mut columns {
            let e = self.arena.column(c.id);
            let repeated = seen.contains(&c.id);
            seen.push(c.id);
            let target = if repeated && merge {
                let new = self.arena.add_for(&c.name, &e);
                renamed.push((new, e));
                new
            } else {
                c.id
            };
            let info = self.arena.info_mut(target);
            if let Some((db, view)) = name {
                let flags = info.origin.as_ref().map_or(0, |o| o.flags);
                info.origin = Some(ColumnOrigin {
                    db: db.to_owned(),
                    table: alias.to_owned(),
                    org_table: view.to_owned(),
                    org_name: c.name.clone(),
                    flags,
                });
            } else {
                let (db, flags) = info.origin.as_ref().map_or((String::new(), 0), |o| (o.db.clone(), o.flags));
                let org_table = if info.origin.is_some() { alias.to_owned() } else { String::new() };
                info.origin =
                    Some(ColumnOrigin { db, table: alias.to_owned(), org_table, org_name: c.name.clone(), flags });
            }
            c.id = target;
        }
        let rel = if merge {
            q.rel.project(renamed)
        } else {
            let output = columns.iter().map(|c| c.id).collect();
            Rel::Derived { input: Box::new(q.rel), alias: alias.to_owned(), output }
        };
        let table = ScopeTable {
            db: name.map(|(db, _)| db.to_owned()),
            alias: alias.to_owned(),
            name: name.map(|(_, n)| n.to_owned()),
            columns,
        };
        Ok((rel, Scope::of(table)))
    }

    fn json_table(&mut self, t: &ast::JsonTable, before: &Scope) -> SqlResult<(Rel, Scope)> {
        let outer = std::mem::replace(&mut self.block().scope, before.clone());
        let document = self.expr(&t.doc);
        self.block().scope = outer;
        let document = document?;
        let mut cols = Vec::new();
        let mut scope = Vec::new();
        let columns = self.json_columns(&t.columns, &mut cols, &mut scope)?;
        let rel = JsonTableRel { document, path: t.path.to_text(), columns, cols, alias: t.alias.value.clone() };
        let table = ScopeTable { db: None, alias: t.alias.value.clone(), name: None, columns: scope };
        Ok((Rel::JsonTable(Box::new(rel)), Scope::of(table)))
    }

    fn json_columns(
        &mut self,
        list: &[ast::JsonTableColumn],
        cols: &mut Vec<usize>,
        scope: &mut Vec<ScopeColumn>,
    ) -> SqlResult<Vec<JsonTableColumn>> {
        let mut out = Vec::with_capacity(list.len());
        for c in list {
            let (name, ty, column) = match c {
                ast::JsonTableColumn::Ordinality(name) => (name, SqlType::BIGINT_UNSIGNED, JsonTableColumn::Ordinality),
                ast::JsonTableColumn::Path { name, ty, path, exists, on_empty, on_error } => {
                    let ty = super::target::column_type(ty, self.cx.bind.collation_connection)?;
                    let on = |o: &Option<ast::JsonTableOn>| match o {
                        None | Some(ast::JsonTableOn::Null) => Some(None),
                        Some(ast::JsonTableOn::Error) => None,
                        Some(ast::JsonTableOn::Default(l)) => Some(Some(literal_text(l))),
                    };
                    let column = JsonTableColumn::Path {
                        name: name.value.clone(),
                        ty: ty.clone(),
                        path: path.to_text(),
                        exists: *exists,
                        on_empty: on(on_empty),
                        on_error: on(on_error),
                    };
                    (name, ty, column)
                }
                ast::JsonTableColumn::Nested { path, columns } => {
                    let columns = self.json_columns(columns, cols, scope)?;
                    out.push(JsonTableColumn::Nested { path: path.to_text(), columns });
                    continue;
                }
            };
            if scope.iter().any(|s| s.name.eq_ignore_ascii_case(&name.value)) {
                return Err(sql_err!(ER_DUP_FIELDNAME, name.value));
            }
            let id = self.arena.add(ColumnInfo {
                name: name.value.clone(),
                ty,
                nullable: true,
                coercibility: Coercibility::Implicit,
                origin: None,
            });
            cols.push(id);
            scope.push(ScopeColumn { name: name.value.clone(), id, invisible: false });
            out.push(column);
        }
        Ok(out)
    }

    fn join(&mut self, j: &ast::Join, before: &Scope) -> SqlResult<(Rel, Scope)> {
        let (left, left_scope) = self.table_ref(&j.left, before)?;
        let visible = join_scopes(before.clone(), left_scope.clone())?;
        let (right, right_scope) = self.table_ref(&j.right, &visible)?;
        let mut on = Vec::new();
        let mut scope;
        let using = match (&j.condition, j.natural) {
            (Some(ast::JoinCondition::Using(names)), _) => names.iter().map(|n| n.value.clone()).collect(),
            (_, true) => common_columns(&left_scope, &right_scope),
            _ => Vec::new(),
        };
        if using.is_empty() {
            scope = join_scopes(left_scope, right_scope)?;
            if let Some(ast::JoinCondition::On(e)) = &j.condition {
                let block = self.block();
                let outer = std::mem::replace(&mut block.scope, scope.clone());
                let clause = std::mem::replace(&mut block.clause, Clause::On);
                let bound = self.condition(e);
                let block = self.block();
                block.scope = outer;
                block.clause = clause;
                conjuncts(bound?, &mut on);
            }
        } else {
            scope = self.join_using(&using, j, left_scope, right_scope, &mut on)?;
        }
        let (kind, left, right) = match j.kind {
            ast::JoinKind::Inner | ast::JoinKind::Straight => (JoinKind::Inner, left, right),
            ast::JoinKind::Left => (JoinKind::Left, left, right),
            ast::JoinKind::Right => (JoinKind::Left, right, left),
        };
        if kind == JoinKind::Left {
            let mut ids = Vec::new();
            right.columns(&mut ids);
            for id in ids {
                self.arena.info_mut(id).nullable = true;
            }
        }
        let straight = j.kind == ast::JoinKind::Straight;
        scope.star.shrink_to_fit();
        let rel = Rel::Join { kind, left: Box::new(left), right: Box::new(right), on, straight, null_aware: false };
        Ok((rel, scope))
    }

    /// Equality of same-named columns, which then stand once, first, in `*`: those of the side that is kept whole.
    fn join_using(
        &mut self,
        names: &[String],
        j: &ast::Join,
        left: Scope,
        right: Scope,
        on: &mut Vec<Expr>,
    ) -> SqlResult<Scope> {
        use super::scope::Found;
        let right_side = j.kind == ast::JoinKind::Right;
        let mut merged = Vec::with_capacity(names.len());
        for name in names {
            let mut find = |s: &Scope| match s.find(None, None, name) {
                Found::One { id, .. } => {
                    let access = s.star.iter().find(|c| c.id == id).and_then(|c| {
                        let t = &s.tables[c.table];
                        Some((t.db.clone()?, t.name.clone()?))
                    });
                    if let Some((db, t)) = access {
                        self.access(&db, &t, Some(name), AccessKind::Select);
                    }
                    Ok(id)
                }
                Found::None => Err(sql_err!(ER_BAD_FIELD_ERROR, name, "FROM")),
                Found::Ambiguous => Err(sql_err!(ER_NON_UNIQ_ERROR, name, "FROM")),
            };
            let (l, r) = (find(&left)?, find(&right)?);
            let (le, re) = (self.arena.column(l), self.arena.column(r));
            on.push(bind::bind_compare(&self.cx.bind, selkie_expr::CmpOp::Eq, le, re)?);
            merged.push((l, r, if right_side { r } else { l }));
        }
        let left_len = left.tables.len();
        let mut scope = join_scopes(left, right)?;
        let is_merged = |c: &StarColumn| merged.iter().any(|(l, r, _)| c.id == *l || c.id == *r);
        let mut star: Vec<StarColumn> = Vec::with_capacity(scope.star.len());
        for (_, _, keep) in &merged {
            if let Some(c) = scope.star.iter().find(|c| c.id == *keep) {
                star.push(c.clone());
            }
        }
        let (first, second): (Vec<&StarColumn>, Vec<&StarColumn>) =
            scope.star.iter().filter(|c| !is_merged(c)).partition(|c| (c.table < left_len) != right_side);
        // RIGHT JOIN lists the right table's columns first when columns are merged.
        star.extend(first.into_iter().chain(second).cloned());
        scope.star = star;
        Ok(scope)
    }
}

fn join_scopes(a: Scope, b: Scope) -> SqlResult<Scope> {
    a.concat(b).map_err(|name| sql_err!(ER_NONUNIQ_TABLE, name))
}

fn common_columns(left: &Scope, right: &Scope) -> Vec<String> {
    let visible = left.star.iter().filter(|c| !c.invisible);
    visible
        .filter(|l| right.star.iter().any(|r| !r.invisible && r.name.eq_ignore_ascii_case(&l.name)))
        .map(|c| c.name.clone())
        .collect()
}

fn literal_text(l: &ast::Literal) -> String {
    match l {
        ast::Literal::Null => String::from("NULL"),
        ast::Literal::True => String::from("1"),
        ast::Literal::False => String::from("0"),
        ast::Literal::Int(n) => n.to_string(),
        ast::Literal::Decimal(t)
        | ast::Literal::Float(t)
        | ast::Literal::Date(t)
        | ast::Literal::Time(t)
        | ast::Literal::Timestamp(t) => t.clone(),
        ast::Literal::Str(s) => s.to_text(),
        ast::Literal::Hex { bytes, .. } | ast::Literal::Bit(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Without a sort that nothing depends on (the order of a derived table is not kept).
pub(super) fn strip_sort(rel: Rel) -> Rel {
    match rel {
        Rel::Sort { input, .. } => *input,
        Rel::Project { input, exprs } => Rel::Project { input: Box::new(strip_sort(*input)), exprs },
        other => other,
    }
}

/// Whether the tree may become part of the query around it.
pub(crate) fn is_mergeable(rel: &Rel) -> bool {
    match rel {
        Rel::Table(_) | Rel::Virtual(_) | Rel::Shared { .. } | Rel::Derived { .. } | Rel::JsonTable(_) => true,
        Rel::Join { left, right, .. } => is_mergeable(left) && is_mergeable(right),
        Rel::Filter { input, .. } => is_mergeable(input),
        Rel::Project { input, exprs } => is_mergeable(input) && exprs.iter().all(|(_, e)| crate::exprs::is_pure(e)),
        _ => false,
    }
}
