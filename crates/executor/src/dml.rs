//! INSERT, REPLACE, UPDATE and DELETE.

use hashbrown::HashSet;
use selkie_expr::EvalContext;
use selkie_planner::plan::{
    AssignedValue, DeletePlan, InsertPlan, InsertSource, Plan, SharedPlan, TargetTable, UpdatePlan,
};
use selkie_types::{SqlResult, Value, sql_err};
use std::sync::Arc;

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::build;
use crate::query;
use crate::row_build::{
    AutoIncrement, assigned, auto_increment, complete, default_value, ignore_or_fail, lacks_default, returning, store_value,
    zero_value,
};
use crate::row_store::RowStore;
use crate::store::{Written, delete_row, duplicate_error, insert_row, lock_and_read, lock_table_for_write, update_row};

/// What a data change did, for the OK packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DmlResult {
    /// Affected rows as clients without CLIENT_FOUND_ROWS see them.
    pub affected: u64,
    /// Rows matched by UPDATE (affected rows with CLIENT_FOUND_ROWS).
    pub matched: u64,
    /// Rows given to INSERT.
    pub records: u64,
    /// Rows that met a duplicate (IGNORE, REPLACE, ON DUPLICATE KEY UPDATE).
    pub duplicates: u64,
    /// First AUTO_INCREMENT value generated; 0: none.
    pub generated_id: u64,
    /// Last AUTO_INCREMENT value given explicitly, for the OK packet when none was generated.
    pub given_id: u64,
    /// Rows of RETURNING, flat.
    pub returning: Vec<Value>,
}

/// Runs an INSERT or REPLACE.
pub fn insert(cx: &mut ExecCtx<'_>, plan: &InsertPlan) -> SqlResult<DmlResult> {
    let mut result = DmlResult::default();
    lock_table_for_write(cx, &plan.target.table)?;
    cx.settings.ignore = plan.ignore;
    let width = plan.target.table.columns.len();
    let mut row = Vec::with_capacity(width);
    check_defaults(cx, &plan.target, &plan.columns)?;
    match &plan.source {
        InsertSource::Values(rows) => {
            // A single-row INSERT refuses NULL for a NOT NULL column; of several rows it warns unless strict.
            cx.null_is_warning = rows.len() > 1 && !cx.settings.sql_mode.strict();
            for values in rows {
                next_row(cx, &mut result)?;
                row.clear();
                row.resize(width, Value::Null);
                let mut given = vec![false; width];
                for (column, value) in plan.columns.iter().zip(values) {
                    row[*column] = match value {
                        AssignedValue::Default => default_value(cx, &plan.target, *column, &row)?,
                        value => assigned(cx, &plan.target, *column, value, &row)?,
                    };
                    given[*column] = true;
                }
                fill_defaults(cx, &plan.target, &given, &mut row)?;
                insert_one(cx, plan, &mut row, &mut result)?;
            }
        }
        InsertSource::Query(query) => {
            cx.null_is_warning = !cx.settings.sql_mode.strict();
            // The source is read whole first when it may read the target.
            let columns = query.columns.len();
            let mut rows = RowStore::new(columns);
            cx.diag.strict = cx.warnings_fail();
            let ran = query::run(cx, query, &mut |cx, row| rows.push(cx, row[..columns].iter().cloned()).map(|()| true));
            cx.diag.end_strict()?;
            ran?;
            let mut at = rows.cursor()?;
            let mut given = vec![false; width];
            for c in &plan.columns {
                given[*c] = true;
            }
            while rows.advance(&mut at)? {
                let source = rows.row(&at);
                next_row(cx, &mut result)?;
                row.clear();
                row.resize(width, Value::Null);
                for (i, column) in plan.columns.iter().enumerate() {
                    let null_for_id = source[i].is_null() && plan.target.table.columns[*column].auto_increment;
                    row[*column] = if null_for_id {
                        Value::Null
                    } else {
                        store_value(cx, &plan.target.table, *column, source[i].clone(), &query.columns[i].ty)?
                    };
                }
                fill_defaults(cx, &plan.target, &given, &mut row)?;
                insert_one(cx, plan, &mut row, &mut result)?;
            }
        }
    }
    Ok(result)
}

/// Begins a row of an INSERT or LOAD DATA: counts it.
pub fn next_row(cx: &mut ExecCtx<'_>, result: &mut DmlResult) -> SqlResult<()> {
    cx.tick()?;
    result.records += 1;
    cx.diag.current_row = result.records;
    Ok(())
}

/// Columns that are neither given nor have a default: an error in strict mode, else one warning each for the statement.
fn check_defaults(cx: &mut ExecCtx<'_>, target: &TargetTable, given: &[usize]) -> SqlResult<()> {
    for (column, def) in target.table.columns.iter().enumerate() {
        if !given.contains(&column) && lacks_default(target, column) {
            let e = sql_err!(ER_NO_DEFAULT_FOR_FIELD, def.name);
            if cx.warnings_fail() {
                return Err(e);
            }
            cx.diag.warn(e);
        }
    }
    Ok(())
}

fn fill_defaults(cx: &mut ExecCtx<'_>, target: &TargetTable, given: &[bool], row: &mut [Value]) -> SqlResult<()> {
    for column in 0..row.len() {
        if given[column] || target.table.columns[column].generated.is_some() {
            continue;
        }
        row[column] = if lacks_default(target, column) {
            zero_value(&target.table.columns[column].ty)
        } else {
            default_value(cx, target, column, row)?
        };
    }
    Ok(())
}

/// Inserts a row that has its given values and defaults, AUTO_INCREMENT aside.
pub fn insert_one(cx: &mut ExecCtx<'_>, plan: &InsertPlan, row: &mut [Value], result: &mut DmlResult) -> SqlResult<()> {
    let table = &plan.target.table;
    let generated = match auto_increment(cx, table, row)? {
        AutoIncrement::Generated(id) => Some(id),
        AutoIncrement::Given(Some(id)) => {
            result.given_id = id;
            None
        }
        AutoIncrement::Given(None) => None,
    };
    let inserted = insert_built(cx, plan, row, result)?;
    // A row that was changed instead, or left out, takes no new number.
    if let Some(id) = generated
        && inserted
        && result.generated_id == 0
    {
        result.generated_id = id;
    }
    Ok(())
}

/// Inserts a row whose values are all known. Returns whether it is a new row.
fn insert_built(cx: &mut ExecCtx<'_>, plan: &InsertPlan, row: &mut [Value], result: &mut DmlResult) -> SqlResult<bool> {
    let table = &plan.target.table;
    if !complete(cx, &plan.target, row)? {
        return Ok(false);
    }
    loop {
        let written = match insert_row(cx, table, row) {
            Ok(w) => w,
            Err(e) => {
                ignore_or_fail(cx, e)?;
                return Ok(false);
            }
        };
        match written {
            Written::Done => {
                result.affected += 1;
                if let Some((exprs, _)) = &plan.returning {
                    returning(cx, exprs, row, &mut result.returning)?;
                }
                return Ok(true);
            }
            Written::Duplicate { index, clustered } => {
                if plan.replace {
                    let old = lock_and_read(cx, table, &clustered)?;
                    let last_unique = !table.indexes[index + 1..].iter().any(|i| i.unique);
                    if last_unique && old.as_deref() == Some(row) {
                        // The row is there as it is to be: that counts as inserted, and nothing is written.
                        result.affected += 1;
                        return Ok(false);
                    }
                    result.duplicates += 1;
                    if let Some(old) = old {
                        delete_row(cx, table, &clustered, &old)?;
                        result.affected += 1;
                    }
                    continue;
                }
                if !plan.on_duplicate.is_empty() {
                    update_duplicate(cx, plan, &clustered, row, result)?;
                    return Ok(false);
                }
                let e = duplicate_error(cx, table, index, row);
                if plan.ignore {
                    result.duplicates += 1;
                }
                ignore_or_fail(cx, e)?;
                return Ok(false);
            }
        }
    }
}

fn update_duplicate(
    cx: &mut ExecCtx<'_>,
    plan: &InsertPlan,
    clustered: &[u8],
    inserted: &[Value],
    result: &mut DmlResult,
) -> SqlResult<()> {
    let table = &plan.target.table;
    let Some(before) = lock_and_read(cx, table, clustered)? else { return Ok(()) };
    let width = before.len();
    // Slots: the row as it is being changed, then the row that was to be inserted.
    let mut slots = before.clone();
    slots.extend_from_slice(inserted);
    for (column, value) in &plan.on_duplicate {
        slots[*column] = assigned(cx, &plan.target, *column, value, &slots)?;
    }
    let mut after = slots;
    after.truncate(width);
    let changed = change_row(cx, &plan.target, clustered, &before, &mut after)?;
    // A row that stays as it is gives no id.
    if changed
        && let Some(id) = table.auto_increment_column().and_then(|c| match &after[c] {
        Value::Int(v) => Some(*v as u64),
        Value::UInt(v) => Some(*v),
        _ => None,
    }) {
        result.given_id = id;
    }
    result.matched += 1;
    if changed {
        result.affected += 2;
    }
    // With IGNORE only rows that are neither inserted nor changed count.
    result.duplicates += u64::from(!(plan.ignore && changed));
    if let Some((exprs, _)) = &plan.returning {
        returning(cx, exprs, &after, &mut result.returning)?;
    }
    Ok(())
}

/// Completes a changed row and writes it if it differs. Returns whether it did.
fn change_row(
    cx: &mut ExecCtx<'_>,
    target: &TargetTable,
    clustered: &[u8],
    before: &[Value],
    after: &mut [Value],
) -> SqlResult<bool> {
    let table = &target.table;
    if before[..] != after[..] {
        let now = cx.settings.now_utc_micros;
        for &column in &target.on_update_now {
            if before[column] == after[column] {
                let local = cx.settings.time_zone.to_local(now);
                let ty = selkie_types::SqlType::DateTime { fsp: 6 };
                after[column] = store_value(cx, table, column, Value::DateTime(local), &ty)?;
            }
        }
    }
    if !complete(cx, target, after)? {
        return Ok(false);
    }
    if before[..] == after[..] {
        return Ok(false);
    }
    match update_row(cx, table, clustered, before, after) {
        Ok(Written::Done) => Ok(true),
        Err(e) => ignore_or_fail(cx, e),
        // UPDATE IGNORE leaves the row as it is, without a word.
        Ok(Written::Duplicate { .. }) if cx.settings.ignore => Ok(false),
        Ok(Written::Duplicate { index, .. }) => {
            let e = duplicate_error(cx, table, index, after);
            ignore_or_fail(cx, e)
        }
    }
}

/// Runs an UPDATE.
pub fn update(cx: &mut ExecCtx<'_>, plan: &UpdatePlan) -> SqlResult<DmlResult> {
    let mut result = DmlResult::default();
    cx.settings.ignore = plan.ignore;
    for t in &plan.targets {
        lock_table_for_write(cx, &t.target.table)?;
        // Unlike INSERT's, this DEFAULT stands for a value that there must be.
        let of_none = t.assignments.iter().find(|(c, v)| {
            let def = &t.target.table.columns[*c];
            let is_enum = matches!(def.ty, selkie_types::SqlType::Enum(_)) && !def.nullable && t.target.defaults[*c].is_none();
            matches!(v, AssignedValue::Default) && (lacks_default(&t.target, *c) || is_enum)
        });
        if let Some((column, _)) = of_none {
            return Err(sql_err!(ER_NO_DEFAULT_FOR_FIELD, t.target.table.columns[*column].name));
        }
    }
    let mut seen: Vec<HashSet<Vec<u8>>> = vec![HashSet::new(); plan.targets.len()];
    let several = plan.targets.len() > 1 || plan.materialize;
    for_each_row(cx, &plan.input, &plan.shared, plan.materialize, true, &mut |cx, slots| {
        for (i, t) in plan.targets.iter().enumerate() {
            let Value::Bytes(key) = &slots[t.key_slot] else { continue };
            if several && !seen[i].insert(key.to_vec()) {
                continue;
            }
            let key = key.clone();
            let width = t.target.table.columns.len();
            let before: Vec<Value> = slots[t.row_slot..t.row_slot + width].to_vec();
            result.matched += 1;
            cx.diag.current_row = result.matched;
            for (column, value) in &t.assignments {
                slots[t.row_slot + column] = match value {
                    AssignedValue::Default => default_value(cx, &t.target, *column, &before)?,
                    value => assigned(cx, &t.target, *column, value, slots)?,
                };
            }
            let mut after: Vec<Value> = slots[t.row_slot..t.row_slot + width].to_vec();
            if let Some(c) = t.target.table.auto_increment_column()
                && before[c] != after[c]
                && let Value::Int(v) = after[c]
            {
                cx.tables.get(&t.target.table)?.note(v.max(0) as u64);
            }
            if change_row(cx, &t.target, &key, &before, &mut after)? {
                result.affected += 1;
            }
        }
        Ok(())
    })?;
    Ok(result)
}

/// Runs a DELETE.
pub fn delete(cx: &mut ExecCtx<'_>, plan: &DeletePlan) -> SqlResult<DmlResult> {
    let mut result = DmlResult::default();
    cx.settings.ignore = plan.ignore;
    for (table, ..) in &plan.targets {
        lock_table_for_write(cx, table)?;
    }
    let mut seen: Vec<HashSet<Vec<u8>>> = vec![HashSet::new(); plan.targets.len()];
    let several = plan.targets.len() > 1 || plan.materialize;
    for_each_row(cx, &plan.input, &plan.shared, plan.materialize, false, &mut |cx, slots| {
        for (i, (table, key_slot, row_slot)) in plan.targets.iter().enumerate() {
            let Value::Bytes(key) = &slots[*key_slot] else { continue };
            if several && !seen[i].insert(key.to_vec()) {
                continue;
            }
            let key = key.clone();
            let row: Vec<Value> = slots[*row_slot..*row_slot + table.columns.len()].to_vec();
            if let Err(e) = delete_row(cx, table, &key, &row) {
                ignore_or_fail(cx, e)?;
                continue;
            }
            result.affected += 1;
            if let Some((exprs, _)) = &plan.returning {
                returning(cx, exprs, &row, &mut result.returning)?;
            }
        }
        Ok(())
    })?;
    Ok(result)
}

type OnSlots<'a> = &'a mut dyn FnMut(&mut ExecCtx<'_>, &mut [Value]) -> SqlResult<()>;

/// Gives each row of the input to `f`, read whole first if `materialize`. With `strict`, a warning while reading is an
/// error in strict mode.
fn for_each_row(
    cx: &mut ExecCtx<'_>,
    input: &Plan,
    shared: &[Arc<SharedPlan>],
    materialize: bool,
    strict: bool,
    f: OnSlots<'_>,
) -> SqlResult<()> {
    let strict = strict && cx.warnings_fail();
    cx.shared_plans = shared.to_vec();
    let mut operator = build(input)?;
    let width = operator.width();
    let mut batch = Batch::new(width);
    if materialize {
        let mut rows = RowStore::new(width);
        loop {
            cx.diag.strict = strict;
            operator.next(cx, &mut batch)?;
            cx.diag.end_strict()?;
            if batch.is_empty() {
                break;
            }
            for i in 0..batch.len() {
                rows.push(cx, batch.row_mut(i).iter_mut().map(std::mem::take))?;
            }
        }
        drop(operator);
        let mut at = rows.cursor()?;
        let mut slots = Vec::with_capacity(width);
        while rows.advance(&mut at)? {
            cx.tick()?;
            slots.clear();
            slots.extend_from_slice(rows.row(&at));
            f(cx, &mut slots)?;
        }
        return rows.release(cx);
    }
    loop {
        cx.diag.strict = strict;
        operator.next(cx, &mut batch)?;
        cx.diag.end_strict()?;
        if batch.is_empty() {
            return Ok(());
        }
        cx.check_killed()?;
        for i in 0..batch.len() {
            f(cx, batch.row_mut(i))?;
        }
    }
}
