//! CREATE and ALTER VIEW.

mod resolve;
mod walk;

use std::sync::OnceLock;

use selkie_catalog::dictionary::DictionaryChange;
use selkie_catalog::{Table, TableKind, ViewDef};
use selkie_parser::ast::{
    CreateView, Definer, Expr, Ident, Query, Select, SelectItem, SetExpr, SqlSecurity, TableRef, ViewAlgorithm,
    ViewCheckOption,
};
use selkie_parser::display;
use selkie_planner::plan::OutputColumn;
use selkie_types::{SqlError, SqlResult, codes, sql_err};

use self::resolve::Resolver;
use crate::DdlDone;
use crate::bind;
use crate::canonical;
use crate::column::column_of_type;
use crate::host::{AccountName, DdlHost, DdlRecord};
use crate::names::{self, FullName};

/// Whether a view still binds.
pub fn check(view: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
    columns_of(&view.db, &view.name, host).map(|_| ())
}

/// The columns of a table or view by name, as a query sees them.
fn columns_of(db: &str, name: &str, host: &mut dyn DdlHost) -> SqlResult<Vec<String>> {
    let quoted = display::quoted_ident;
    let query = canonical::parse_query(&format!("select * from {}.{}", quoted(db), quoted(name)))?;
    let (plan, _) = bind::query(host, &query)?;
    Ok(plan.columns.iter().map(|c| c.name.clone()).collect())
}

/// CREATE VIEW and ALTER VIEW.
pub fn create(s: &CreateView, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = names::resolve(&s.name, host)?;
    host.require("CREATE VIEW", &name.db, &name.name)?;
    if s.or_replace || s.alter {
        host.require("DROP", &name.db, &name.name)?;
    }
    host.lock_metadata(&name.db, "", false, None)?;
    host.lock_metadata(&name.db, &name.name, true, None)?;
    let schema = host.schema();
    if !schema.databases.contains_key(&name.db) {
        return Err(sql_err!(ER_BAD_DB_ERROR, name.db));
    }
    let old = schema.table(&name.db, &name.name).cloned();
    match &old {
        None if s.alter => return Err(sql_err!(ER_NO_SUCH_TABLE, name.db, name.name)),
        Some(_) if s.if_not_exists => {
            host.diag().note(sql_err!(ER_TABLE_EXISTS_ERROR, name.name));
            return Ok(DdlDone::default());
        }
        Some(_) if !s.alter && !s.or_replace => return Err(sql_err!(ER_TABLE_EXISTS_ERROR, name.name)),
        Some(t) if !matches!(t.kind, TableKind::View(_)) => {
            return Err(sql_err!(ER_WRONG_OBJECT, name.db, name.name, "VIEW"));
        }
        _ => {}
    }
    if s.query.into.is_some() {
        return Err(sql_err!(ER_VIEW_SELECT_CLAUSE, "INTO"));
    }
    if s.query.procedure.is_some() {
        return Err(sql_err!(ER_VIEW_SELECT_CLAUSE, "PROCEDURE"));
    }
    let definer = definer(s.definer.as_ref(), old.as_deref(), s.alter, host)?;
    let (query, columns) = canonical_query(s, &name, host)?;
    let algorithm = algorithm(s, &query, host);
    let check_option = check_option(s, &query, &name, algorithm)?;
    let settings = host.settings();
    let view = ViewDef {
        query: display::query(&query),
        columns: columns.iter().map(|c| c.name.clone()).collect(),
        algorithm: algorithm.into(),
        definer: format!("{}@{}", definer.user, definer.host),
        security_definer: s.security != Some(SqlSecurity::Invoker),
        check_option: check_option.into(),
        client_charset: settings.character_set_client.clone(),
        connection_collation: settings.collation_connection.name().to_owned(),
    };
    // What is stored must read back as what was asked for.
    let stored = canonical::parse_query(&view.query)?;
    bind::query(host, &stored)?;
    let table = Table {
        id: old.as_ref().map_or_else(|| host.dictionary().allocate_id(), |t| t.id),
        db: name.db.clone(),
        name: name.name.clone(),
        kind: TableKind::View(view),
        temporary: false,
        engine: String::new(),
        collation: schema.databases[&name.db].collation,
        columns: columns.iter().map(|c| column_of_type(&c.name, &c.ty, c.nullable)).collect(),
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        comment: "VIEW".into(),
        options: Vec::new(),
        auto_increment_start: 0,
        partitions: Vec::new(),
        partition_by: None,
        row_version: 0,
        row_versions: Vec::new(),
        create_time: settings.now_utc_micros.div_euclid(1_000_000).max(0) as u64,
        derived: OnceLock::new(),
    };
    let changes = vec![DictionaryChange::PutTable(Box::new(table)), host.dictionary().next_id_change()];
    let default_db = host.current_db().unwrap_or("").to_owned();
    fail::fail_point!("ddl::create_view::before_commit");
    host.commit_ddl(DdlRecord { changes, default_db, statement: text.to_vec() }, None)?;
    fail::fail_point!("ddl::create_view::after_commit");
    Ok(DdlDone::default())
}

fn definer(
    given: Option<&Definer>,
    old: Option<&Table>,
    alter: bool,
    host: &mut dyn DdlHost,
) -> SqlResult<AccountName> {
    let own = host.account();
    let definer = match given {
        Some(Definer::User { user, host }) => {
            AccountName { user: user.clone(), host: host.clone().unwrap_or_else(|| "%".into()) }
        }
        Some(_) => own.clone(),
        None => match old.map(|t| &t.kind) {
            Some(TableKind::View(v)) if alter => {
                let (user, host) = v.definer.rsplit_once('@').unwrap_or((&v.definer, "%"));
                AccountName { user: user.into(), host: host.into() }
            }
            _ => own.clone(),
        },
    };
    if definer != own {
        host.require("SET USER", "", "")?;
        if !host.account_exists(&definer) {
            host.diag().note(sql_err!(ER_NO_SUCH_USER, definer.user, definer.host));
        }
    }
    Ok(definer)
}

/// The view's query with resolved names, and the columns that it gives.
fn canonical_query(s: &CreateView, name: &FullName, host: &mut dyn DdlHost) -> SqlResult<(Query, Vec<OutputColumn>)> {
    refuse_temporary(&s.query, name, host)?;
    let mut query = (*s.query).clone();
    let settings = host.settings();
    // Variables and the view itself are found before the planner complains of something else.
    let mut lookup = |db: &str, table: &str| columns_of(db, table, host);
    Resolver::new(&name.db, &name.name, settings.collation_connection, &mut lookup).query(&mut query)?;
    let (plan, accessed) = bind::query(host, &s.query)?;
    for a in &accessed {
        if a.definer.is_none() {
            host.require("SELECT", &a.db, &a.table)?;
        }
        host.lock_metadata(&a.db, &a.table, false, None)?;
    }
    let mut columns = plan.columns.clone();
    if !s.columns.is_empty() {
        if s.columns.len() != columns.len() {
            return Err(sql_err!(ER_VIEW_WRONG_LIST));
        }
        for (c, n) in columns.iter_mut().zip(&s.columns) {
            names::check_column(n.as_str())?;
            c.name.clone_from(&n.value);
        }
        alias(&mut query.body, &s.columns);
    }
    for (i, c) in columns.iter().enumerate() {
        if columns[..i].iter().any(|o| names::same(&o.name, &c.name)) {
            return Err(sql_err!(ER_DUP_FIELDNAME, c.name));
        }
    }
    for (i, c) in columns.iter_mut().enumerate() {
        // A name that no column may have, of an expression without alias.
        if names::check_column(&c.name).is_err() {
            c.name = format!("Name_exp_{}", i + 1);
            alias_one(&mut query.body, i, &Ident::quoted(&*c.name));
        }
    }
    Ok((query, columns))
}

/// Gives the first SELECT's items the names that the view lists.
fn alias(body: &mut SetExpr, columns: &[Ident]) {
    for (i, name) in columns.iter().enumerate() {
        alias_one(body, i, name);
    }
}

fn alias_one(body: &mut SetExpr, position: usize, name: &Ident) {
    match body {
        SetExpr::Select(s) => {
            if let Some(SelectItem::Expr { alias, .. }) = s.items.get_mut(position) {
                *alias = Some(name.clone());
            }
        }
        SetExpr::Query(q) => alias_one(&mut q.body, position, name),
        SetExpr::SetOps { first, .. } => alias_one(first, position, name),
        SetExpr::Values(_) => {}
    }
}

/// Error 1352 for a temporary table anywhere in the query.
fn refuse_temporary(q: &Query, view: &FullName, host: &dyn DdlHost) -> SqlResult<()> {
    let mut tables = Vec::new();
    let mut copy = q.clone();
    collect_query(&mut copy, &mut tables);
    for (db, name) in tables {
        let db = db.unwrap_or_else(|| host.current_db().unwrap_or(&view.db).to_owned());
        if host.temporary_table(&db, &name).is_some() {
            return Err(sql_err!(ER_VIEW_SELECT_TMPTABLE, name));
        }
    }
    Ok(())
}

type TableNames = Vec<(Option<String>, String)>;

fn collect_query(q: &mut Query, out: &mut TableNames) {
    for cte in q.with.iter_mut().flat_map(|w| &mut w.ctes) {
        collect_query(&mut cte.query, out);
    }
    collect_body(&mut q.body, out);
}

fn collect_body(body: &mut SetExpr, out: &mut TableNames) {
    match body {
        SetExpr::Select(s) => collect_select(s, out),
        SetExpr::Query(q) => collect_query(q, out),
        SetExpr::SetOps { first, rest } => {
            collect_body(first, out);
            rest.iter_mut().for_each(|t| collect_body(&mut t.term, out));
        }
        SetExpr::Values(_) => {}
    }
}

fn collect_select(s: &mut Select, out: &mut TableNames) {
    s.from.iter_mut().for_each(|t| collect_table(t, out));
    for item in &mut s.items {
        if let SelectItem::Expr { expr, .. } = item {
            collect_expr(expr, out);
        }
    }
    for e in s.where_clause.iter_mut().chain(s.having.iter_mut()) {
        collect_expr(e, out);
    }
}

fn collect_expr(e: &mut Expr, out: &mut TableNames) {
    if let Some(q) = walk::query(e) {
        collect_query(q, out);
    }
    walk::children(e, &mut |c| collect_expr(c, out));
}

fn collect_table(t: &mut TableRef, out: &mut TableNames) {
    match t {
        TableRef::Table(t) => out.push((t.name.db.as_ref().map(|d| d.value.clone()), t.name.name.value.clone())),
        TableRef::Derived { query, .. } => collect_query(query, out),
        TableRef::JsonTable(_) => {}
        TableRef::Join(j) => {
            collect_table(&mut j.left, out);
            collect_table(&mut j.right, out);
        }
        TableRef::Nested(list) => list.iter_mut().for_each(|t| collect_table(t, out)),
    }
}

/// Whether each row of the view is a row of its tables, so that it can be merged and changed through.
fn is_mergeable(q: &Query) -> bool {
    let SetExpr::Select(s) = &q.body else { return false };
    let aggregates = s.items.iter().any(|i| match i {
        SelectItem::Expr { expr, .. } => has_aggregate(&mut expr.clone()),
        SelectItem::Wildcard { .. } => false,
    });
    q.with.is_none()
        && q.limit.is_none()
        && !s.options.distinct
        && s.group_by.is_empty()
        && s.having.is_none()
        && !s.from.is_empty()
        && !aggregates
}

fn has_aggregate(e: &mut Expr) -> bool {
    const AGGREGATES: [&str; 21] = [
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "group_concat",
        "std",
        "stddev",
        "stddev_pop",
        "stddev_samp",
        "variance",
        "var_pop",
        "var_samp",
        "bit_and",
        "bit_or",
        "bit_xor",
        "json_arrayagg",
        "json_objectagg",
        "percentile_cont",
        "percentile_disc",
        "median",
    ];
    if let Expr::Function(call) = e
        && (call.over.is_some() || call.star || AGGREGATES.iter().any(|a| call.name.is(a)))
    {
        return true;
    }
    let mut found = false;
    walk::children(e, &mut |c| found |= has_aggregate(c));
    found
}

fn algorithm(s: &CreateView, query: &Query, host: &mut dyn DdlHost) -> &'static str {
    match s.algorithm {
        Some(ViewAlgorithm::Merge) if !is_mergeable(query) => {
            host.diag().warn(sql_err!(ER_WARN_VIEW_MERGE));
            "UNDEFINED"
        }
        Some(ViewAlgorithm::Merge) => "MERGE",
        Some(ViewAlgorithm::Temptable) => "TEMPTABLE",
        Some(ViewAlgorithm::Undefined) | None => "UNDEFINED",
    }
}

fn check_option(s: &CreateView, query: &Query, name: &FullName, algorithm: &str) -> SqlResult<&'static str> {
    let option = match s.check_option {
        None => return Ok("NONE"),
        Some(ViewCheckOption::Local) => "LOCAL",
        Some(ViewCheckOption::Cascaded) => "CASCADED",
    };
    if !is_mergeable(query) || algorithm == "TEMPTABLE" {
        let text = format!("CHECK OPTION on non-updatable view `{}`.`{}`", name.db, name.name);
        return Err(SqlError::with_message(codes::ER_VIEW_NONUPD_CHECK, text));
    }
    Ok(option)
}
