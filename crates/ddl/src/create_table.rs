//! CREATE TABLE: from elements, LIKE another table, or with the rows of a query.

use std::sync::Arc;

use selkie_catalog::dictionary::DictionaryChange;
use selkie_catalog::show_create::{self, ShowOptions};
use selkie_catalog::{Column, ColumnDefault, Table, TableKind};
use selkie_executor::dml;
use selkie_parser::ast::{CreateTable, ObjectName, OnDuplicateRow};
use selkie_planner::plan::{InsertPlan, InsertSource, OutputColumn, QueryPlan};
use selkie_types::{SqlResult, sql_err};

use crate::DdlDone;
use crate::bind;
use crate::column::{DraftColumn, column_of_type};
use crate::draft::{Draft, engine_indexes, with_ids};
use crate::engine_tables::NewEngineTables;
use crate::foreign;
use crate::host::{DdlHost, DdlRecord};
use crate::names::{self, FullName};
use crate::options::{self, Options};

/// CREATE TABLE.
pub fn create(s: &CreateTable, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = names::resolve(&s.name, host)?;
    let privilege = if s.temporary { "CREATE TEMPORARY TABLES" } else { "CREATE" };
    host.require(privilege, &name.db, if s.temporary { "" } else { &name.name })?;
    if s.or_replace && !s.temporary {
        host.require("DROP", &name.db, &name.name)?;
    }
    if names::is_virtual_database(&name.db) {
        let who = host.account();
        return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, who.user, who.host, name.db));
    }
    host.lock_metadata(&name.db, "", false, None)?;
    if !s.temporary {
        host.lock_metadata(&name.db, &name.name, true, None)?;
    }
    if !host.schema().databases.contains_key(&name.db) {
        return Err(sql_err!(ER_BAD_DB_ERROR, name.db));
    }
    let old = if s.temporary {
        host.temporary_table(&name.db, &name.name)
    } else {
        host.schema().table(&name.db, &name.name).cloned()
    };
    if let Some(old) = &old {
        if s.if_not_exists {
            host.diag().note(sql_err!(ER_TABLE_EXISTS_ERROR, name.name));
            return Ok(DdlDone::default());
        }
        if !s.or_replace {
            return Err(sql_err!(ER_TABLE_EXISTS_ERROR, name.name));
        }
        if matches!(old.kind, TableKind::View(_)) {
            return Err(sql_err!(ER_IT_IS_A_VIEW, name));
        }
        let schema = host.schema();
        if !s.temporary
            && host.settings().foreign_key_checks
            && foreign::referencing(&schema, &name.db, &name.name).any(|(child, _)| child.id != old.id)
        {
            return Err(crate::drop_table::referenced());
        }
    }
    let mut source = None;
    let table = match (&s.like, &s.query) {
        (Some(like), _) => like_table(like, &name, s, host)?,
        (None, Some(q)) => {
            let (plan, accessed) = bind::query(host, &q.query)?;
            for a in &accessed {
                if a.db == name.db && a.table == name.name && !s.temporary {
                    return Err(sql_err!(ER_UPDATE_TABLE_USED, name.name, "CREATE TABLE"));
                }
                host.require("SELECT", &a.db, &a.table)?;
            }
            let mut draft = draft_of(s, &name, host)?;
            merge_columns(&mut draft, &plan, host);
            let table = draft.finish(host)?;
            let columns: Vec<String> = plan.columns.iter().map(|c| c.name.clone()).collect();
            source = Some((plan, q.on_duplicate, columns));
            table
        }
        (None, None) => draft_of(s, &name, host)?.finish(host)?,
    };
    let (table, ids) = with_ids(table, host);
    let mut engine_tables = NewEngineTables::new(host);
    engine_tables.create(&ids)?;
    fail::fail_point!("ddl::create_table::engine_tables_made");
    let insert = match source {
        Some((plan, on_duplicate, columns)) => Some(insert_plan(&table, plan, on_duplicate, &columns, host)?),
        None => None,
    };
    let mut affected = 0;
    let mut records = None;
    if s.temporary {
        host.put_temporary(table.clone());
        if let Some(plan) = &insert {
            let filled = host.with_exec(&mut |cx| {
                let r = dml::insert(cx, plan)?;
                affected = r.affected;
                records = Some((r.records, r.duplicates));
                Ok(())
            });
            if let Err(e) = filled {
                host.remove_temporary(&table.db, &table.name);
                host.tables().forget(table.id);
                if let Some(old) = old {
                    host.drop_engine_indexes(engine_indexes(&old));
                }
                return Err(e);
            }
        }
    } else {
        let mut changes = Vec::new();
        if let Some(old) = &old {
            changes.push(DictionaryChange::RemoveTable(old.id));
        }
        changes.push(DictionaryChange::PutTable(Box::new((*table).clone())));
        changes.push(host.dictionary().next_id_change());
        let statement = match &insert {
            // Rows follow as row events: replicas must not run the query again.
            Some(_) => generated_create(&table, s, host).into_bytes(),
            None => like_statement(&table, s, text, host),
        };
        let default_db = host.current_db().unwrap_or("").to_owned();
        fail::fail_point!("ddl::create_table::before_commit");
        let record = DdlRecord { changes, default_db, statement };
        match &insert {
            None => host.commit_ddl(record, None)?,
            Some(plan) => host.commit_ddl(
                record,
                Some(&mut |cx| {
                    let r = dml::insert(cx, plan)?;
                    affected = r.affected;
                    records = Some((r.records, r.duplicates));
                    Ok(())
                }),
            )?,
        }
        fail::fail_point!("ddl::create_table::after_commit");
    }
    engine_tables.keep();
    if let Some(old) = old {
        host.tables().forget(old.id);
        host.drop_engine_indexes(engine_indexes(&old));
    }
    let mut done = DdlDone::affected(affected);
    if let Some((records, duplicates)) = records {
        done.info = DdlDone::info_text(records, duplicates, host.diag().total);
    }
    Ok(done)
}

/// The definition that a statement's own elements give.
fn draft_of(s: &CreateTable, name: &FullName, host: &mut dyn DdlHost) -> SqlResult<Draft> {
    let o = Options::of(&s.options)?;
    let settings = host.settings();
    let schema = host.schema();
    let db_collation = schema.databases.get(&name.db).map_or(settings.collation_server, |d| d.collation);
    let engine = options::engine(o.engine.as_deref(), s.temporary, &name.name, &settings, host.diag())?;
    let mut draft = Draft::new(&name.db, &name.name, engine, o.collation(None, db_collation)?);
    draft.temporary = s.temporary;
    draft.comment = o.comment(&name.name)?.unwrap_or_default();
    draft.options = o.merged(&[]);
    draft.auto_increment_start = o.auto_increment.unwrap_or(0);
    if let Some(p) = &s.partition_by {
        if s.temporary {
            return Err(sql_err!(ER_PARTITION_NO_TEMPORARY));
        }
        draft.partition_by = Some(crate::partition::text(p, &draft.engine));
    }
    for e in &s.elements {
        draft.add_element(e, host)?;
    }
    if s.temporary && !draft.foreign_keys.is_empty() {
        // A temporary table cannot be the child of anything.
        draft.foreign_keys.clear();
    }
    Ok(draft)
}

/// CREATE TABLE … LIKE.
fn like_table(like: &ObjectName, name: &FullName, s: &CreateTable, host: &mut dyn DdlHost) -> SqlResult<Table> {
    let from = names::resolve(like, host)?;
    if from == *name && !s.temporary {
        return Err(sql_err!(ER_NONUNIQ_TABLE, name.name));
    }
    host.require("SELECT", &from.db, &from.name)?;
    let source = match host.temporary_table(&from.db, &from.name) {
        Some(t) => t,
        None => {
            host.lock_metadata(&from.db, &from.name, false, None)?;
            let schema = host.schema();
            let found = schema.table(&from.db, &from.name).cloned();
            found.ok_or_else(|| sql_err!(ER_NO_SUCH_TABLE, from.db, from.name))?
        }
    };
    if matches!(source.kind, TableKind::View(_)) {
        return Err(sql_err!(ER_WRONG_OBJECT, from.db, from.name, "BASE TABLE"));
    }
    if s.temporary && source.partition_by.is_some() {
        return Err(sql_err!(ER_PARTITION_NO_TEMPORARY));
    }
    let mut table = (*source).clone();
    table.db.clone_from(&name.db);
    table.name.clone_from(&name.name);
    table.temporary = s.temporary;
    table.foreign_keys.clear();
    table.auto_increment_start = 0;
    table.row_version = 0;
    table.row_versions.clear();
    table.options.retain(|(n, _)| n != "DATA DIRECTORY" && n != "INDEX DIRECTORY");
    table.create_time = host.settings().now_utc_micros.div_euclid(1_000_000).max(0) as u64;
    Ok(table)
}

/// A replica has no temporary tables, so that LIKE of one is logged as the definition.
fn like_statement(table: &Table, s: &CreateTable, text: &[u8], host: &dyn DdlHost) -> Vec<u8> {
    let of_temporary = s
        .like
        .as_ref()
        .is_some_and(|like| names::resolve(like, host).is_ok_and(|n| host.temporary_table(&n.db, &n.name).is_some()));
    if of_temporary { generated_create(table, s, host).into_bytes() } else { text.to_vec() }
}

/// The statement that makes the table without its rows.
fn generated_create(table: &Table, s: &CreateTable, host: &dyn DdlHost) -> String {
    let mut text = show_create::table(table, &ShowOptions::default());
    if let Some(rest) = text.strip_prefix("CREATE TABLE ") {
        let or_replace = if s.or_replace { "OR REPLACE " } else { "" };
        let db = match host.current_db() {
            Some(db) if db == table.db => String::new(),
            _ => format!("{}.", selkie_parser::display::quoted_ident(&table.db)),
        };
        text = format!("CREATE {or_replace}TABLE {db}{rest}");
    }
    text
}

/// CREATE TABLE … SELECT: declared columns that the query does not give come first, then the query's in its order.
fn merge_columns(draft: &mut Draft, plan: &QueryPlan, host: &dyn DdlHost) {
    let mut declared = std::mem::take(&mut draft.columns);
    let mut of_query = Vec::with_capacity(plan.columns.len());
    for (i, c) in plan.columns.iter().enumerate() {
        match declared.iter().position(|d| names::same(&d.column.name, &c.name)) {
            Some(at) => {
                let mut d = declared.remove(at);
                d.origin = Some(i);
                of_query.push(d);
            }
            None => of_query.push(DraftColumn { column: column_of_query(c, host), origin: Some(i), new_expr: None }),
        }
    }
    draft.columns = declared;
    draft.columns.append(&mut of_query);
}

/// A column for a result column: a plain column keeps what it can of its definition.
fn column_of_query(c: &OutputColumn, host: &dyn DdlHost) -> Column {
    let mut column = column_of_type(&c.name, &c.ty, c.nullable);
    let Some(origin) = &c.origin else { return column };
    let schema = host.schema();
    let table = host
        .temporary_table(&origin.db, &origin.org_table)
        .or_else(|| schema.table(&origin.db, &origin.org_table).cloned());
    let Some(table) = table else { return column };
    let Some(i) = table.column_index(&origin.org_name) else { return column };
    let from = &table.columns[i];
    if from.ty.data_type() != c.ty.data_type() {
        return column;
    }
    column.ty = from.ty.clone();
    column.comment.clone_from(&from.comment);
    column.on_update_now = from.on_update_now;
    column.default = match &from.default {
        _ if from.auto_increment => ColumnDefault::Literal("0".into()),
        // Another table's columns mean nothing here.
        ColumnDefault::Expr(e) if e.contains('`') => column.default,
        ColumnDefault::None if column.nullable => ColumnDefault::Null,
        d => d.clone(),
    };
    if column.default == ColumnDefault::Null && !column.nullable {
        column.default = ColumnDefault::None;
    }
    column
}

fn insert_plan(
    table: &Arc<Table>,
    plan: Arc<QueryPlan>,
    on_duplicate: OnDuplicateRow,
    columns: &[String],
    host: &mut dyn DdlHost,
) -> SqlResult<InsertPlan> {
    let target = bind::target(host, table)?;
    let positions = columns.iter().filter_map(|c| table.column_index(c)).collect();
    Ok(InsertPlan {
        target,
        columns: positions,
        source: InsertSource::Query(Box::new((*plan).clone())),
        replace: on_duplicate == OnDuplicateRow::Replace,
        ignore: on_duplicate == OnDuplicateRow::Ignore,
        on_duplicate: Vec::new(),
        returning: None,
    })
}
