//! COM_STMT_BULK_EXECUTE: a prepared INSERT, REPLACE, UPDATE or DELETE run for many rows of parameters.
//!
//! All rows are one statement: one commit, and an error at any of them undoes them all. A parameter that says DEFAULT or
//! IGNORE in place of a value changes the statement's syntax; there is a plan for each pattern of such parameters.

use std::sync::Arc;

use selkie_executor::{DmlResult, dml};
use selkie_parser::ast::{self, Expr, Statement};
use selkie_planner::plan::{self, OutputColumn};
use selkie_protocol::{BulkParam, StmtBulkExecute};
use selkie_types::{SqlResult, SqlType, Value, sql_err};

use super::{Prepared, malformed, param_value, same_family, unknown};
use crate::client::Client;
use crate::dml::Ready;
use crate::result::RowFormat;
use crate::session::{Answer, Done, Session};

/// What stands for a parameter in place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    Default,
    Ignore,
}

/// A plan for the rows with one pattern of DEFAULT and IGNORE.
struct PatternPlan {
    pattern: Vec<Option<Instead>>,
    types: Vec<SqlType>,
    ready: Arc<Ready>,
}

impl Session {
    /// COM_STMT_BULK_EXECUTE.
    pub fn stmt_bulk_execute(&mut self, client: &mut Client, e: &StmtBulkExecute<'_>) -> SqlResult<()> {
        let id = if e.statement_id == selkie_protocol::LAST_PREPARED { self.prepared.last_id } else { e.statement_id };
        let Some(mut p) = self.prepared.by_id.remove(&id) else { return Err(unknown(id, "mysqld_stmt_bulk_execute")) };
        let started = std::time::Instant::now();
        self.begin_command(&p.text.clone());
        let result = self.run_bulk(client, &mut p, e);
        let text = p.text.clone();
        self.prepared.by_id.insert(id, p);
        self.end_command(client, &text, started).map_err(|_| sql_err!(ER_NET_ERROR_ON_WRITE))?;
        result
    }

    fn run_bulk(&mut self, client: &mut Client, p: &mut Prepared, e: &StmtBulkExecute<'_>) -> SqlResult<()> {
        let changes_rows = matches!(&*p.statement, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_));
        if !changes_rows {
            return Err(sql_err!(ER_UNSUPPORTED_PS));
        }
        self.begin_data_statement();
        let text = p.text.clone();
        let mut wire = std::mem::take(&mut p.wire_types);
        let ran = self.as_statement(true, &text, |s| s.bulk_rows(p, e, &mut wire));
        p.wire_types = wire;
        let (total, returning) = ran?;
        if total.generated_id != 0 {
            self.host.last_insert_id = total.generated_id;
        }
        self.host.row_count = total.affected as i64;
        if let Some(columns) = returning {
            let answer = Answer { format: RowFormat::Binary, more: false };
            return self.write_result(client, &columns, &total.returning, answer);
        }
        let warnings = self.diag.total;
        let info = match &*p.statement {
            Statement::Insert(_) => {
                format!("Records: {}  Duplicates: {}  Warnings: {warnings}", total.records, total.duplicates)
            }
            Statement::Update(_) => {
                format!("Rows matched: {}  Changed: {}  Warnings: {warnings}", total.matched, total.affected)
            }
            _ => String::new(),
        };
        let affected = match &*p.statement {
            Statement::Update(_) if self.found_rows => total.matched,
            _ => total.affected,
        };
        let insert_id = if total.generated_id != 0 { total.generated_id } else { total.given_id };
        self.write_ok(client, &Done { affected, insert_id, info }, false);
        Ok(())
    }

    /// Runs the statement for each row. Also the columns of RETURNING.
    fn bulk_rows(
        &mut self,
        p: &Prepared,
        e: &StmtBulkExecute<'_>,
        wire: &mut Vec<selkie_protocol::ParamType>,
    ) -> SqlResult<(DmlResult, Option<Vec<OutputColumn>>)> {
        let charset = self.host.hot.character_set_client;
        let collation = self.host.hot.collation_connection;
        let mut rows = e.rows(p.param_count, wire).map_err(malformed)?;
        let mut row = Vec::new();
        let mut plans: Vec<PatternPlan> = Vec::new();
        let mut total = DmlResult::default();
        let mut returning = None;
        while rows.next_row(&mut row).map_err(malformed)? {
            if row.contains(&BulkParam::IgnoreRow) {
                continue;
            }
            let mut values = Vec::with_capacity(row.len());
            let mut types = Vec::with_capacity(row.len());
            let mut pattern = Vec::with_capacity(row.len());
            for param in &row {
                let (instead, (value, ty)) = match param {
                    BulkParam::Value(v) => (None, param_value(*v, charset, collation)),
                    BulkParam::Default => (Some(Instead::Default), (Value::Null, SqlType::Null)),
                    BulkParam::Ignore | BulkParam::IgnoreRow => (Some(Instead::Ignore), (Value::Null, SqlType::Null)),
                };
                values.push(value);
                types.push(ty);
                pattern.push(instead);
            }
            let ready = self.pattern_plan(p, &mut plans, pattern, &types)?;
            let result = {
                let mut cx = self.exec(&values);
                match &ready.planned.statement {
                    plan::Statement::Insert(i) => dml::insert(&mut cx, i)?,
                    plan::Statement::Update(u) => dml::update(&mut cx, u)?,
                    plan::Statement::Delete(d) => dml::delete(&mut cx, d)?,
                    _ => return Err(sql_err!(ER_UNSUPPORTED_PS)),
                }
            };
            if returning.is_none() {
                returning = match &ready.planned.statement {
                    plan::Statement::Insert(i) => i.returning.as_ref().map(|(_, c)| c.clone()),
                    plan::Statement::Delete(d) => d.returning.as_ref().map(|(_, c)| c.clone()),
                    _ => None,
                };
            }
            add(&mut total, result);
        }
        Ok((total, returning))
    }

    /// The plan for a row: made anew where its types are not those of the rows before.
    fn pattern_plan(
        &mut self,
        p: &Prepared,
        plans: &mut Vec<PatternPlan>,
        pattern: Vec<Option<Instead>>,
        types: &[SqlType],
    ) -> SqlResult<Arc<Ready>> {
        let at = plans.iter().position(|known| known.pattern == pattern);
        if let Some(known) = at.map(|i| &plans[i])
            && known.types.iter().zip(types).all(|(a, b)| same_family(a, b))
        {
            return Ok(known.ready.clone());
        }
        let ready = if pattern.iter().all(Option::is_none) {
            self.plan(&p.statement, types)?
        } else {
            self.plan(&substituted(&p.statement, &pattern)?, types)?
        };
        self.check_privileges(&ready)?;
        self.check_writable(&ready)?;
        let fresh = PatternPlan { pattern, types: types.to_vec(), ready: ready.clone() };
        match at {
            Some(i) => plans[i] = fresh,
            None => plans.push(fresh),
        }
        Ok(ready)
    }
}

fn add(total: &mut DmlResult, mut row: DmlResult) {
    total.affected += row.affected;
    total.matched += row.matched;
    total.records += row.records;
    total.duplicates += row.duplicates;
    if total.generated_id == 0 {
        total.generated_id = row.generated_id;
    }
    if row.given_id != 0 {
        total.given_id = row.given_id;
    }
    total.returning.append(&mut row.returning);
}

/// The statement with DEFAULT and IGNORE in the place of parameters. Error 4032 where they are no values to be stored.
fn substituted(s: &Statement, pattern: &[Option<Instead>]) -> SqlResult<Statement> {
    let mut s = s.clone();
    let mut left = pattern.iter().filter(|p| p.is_some()).count();
    let mut put = |e: &mut Expr| {
        if let Expr::Param(i) = e
            && let Some(instead) = pattern.get(*i).copied().flatten()
        {
            left -= 1;
            *e = match instead {
                Instead::Default => Expr::Default(None),
                Instead::Ignore => Expr::Ignore,
            };
        }
    };
    match &mut s {
        Statement::Insert(i) => {
            match &mut i.source {
                ast::InsertSource::Values(rows) => rows.iter_mut().flatten().for_each(&mut put),
                ast::InsertSource::Set(row) => row.iter_mut().for_each(&mut put),
                ast::InsertSource::Query(_) => {}
            }
            i.on_duplicate.iter_mut().for_each(|a| put(&mut a.value));
        }
        Statement::Update(u) => u.assignments.iter_mut().for_each(|a| put(&mut a.value)),
        _ => {}
    }
    if left > 0 {
        return Err(sql_err!(ER_INVALID_DEFAULT_PARAM));
    }
    Ok(s)
}
