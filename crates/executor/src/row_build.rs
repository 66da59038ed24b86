//! Making a complete row out of what a statement gives: conversion, defaults, AUTO_INCREMENT, generated columns, checks.

use selkie_catalog::Table;
use selkie_expr::Expr;
use selkie_planner::plan::{AssignedValue, TargetTable};
use selkie_types::{Level, SqlMode, SqlResult, SqlType, Value, codes, convert, sql_err};

use crate::context::ExecCtx;
use crate::key_value::int_range;
use selkie_expr::EvalContext;

/// Stores a value into a column: NULL check and conversion.
pub fn store_value(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    column: usize,
    value: Value,
    from: &SqlType,
) -> SqlResult<Value> {
    let def = &table.columns[column];
    if value.is_null() {
        return store_null(cx, table, column);
    }
    if let Some(v) = already_fits(&value, from, &def.ty) {
        return Ok(v);
    }
    let column = convert::ColumnRef { db: &table.db, table: &table.name, column: &def.name };
    convert::store(value, from, &def.ty, column, &mut cx.convert())
}

/// The common cases that need no conversion.
fn already_fits(value: &Value, from: &SqlType, to: &SqlType) -> Option<Value> {
    match (value, to) {
        (Value::Int(v), SqlType::Int { width, unsigned, .. }) => {
            let (min, max) = int_range(*width, *unsigned);
            let wide = i128::from(*v);
            (wide >= min && wide <= max).then_some(if *unsigned { Value::UInt(*v as u64) } else { Value::Int(*v) })
        }
        (Value::Bytes(b), SqlType::Text { kind: selkie_types::TextKind::VarChar, len, collation }) => {
            // Bytes bound the number of characters from above.
            let same_kind = from.collation().is_some_and(|c| c.charset() == collation.charset());
            (same_kind && b.len() <= *len as usize).then(|| value.clone())
        }
        _ => None,
    }
}

fn store_null(cx: &mut ExecCtx<'_>, table: &Table, column: usize) -> SqlResult<Value> {
    let def = &table.columns[column];
    if def.nullable {
        return Ok(Value::Null);
    }
    if matches!(def.ty, SqlType::Timestamp { .. }) {
        // NULL stands for now.
        let local = cx.settings.time_zone.to_local(cx.settings.now_utc_micros);
        return store_value(cx, table, column, Value::DateTime(local), &SqlType::DateTime { fsp: 6 });
    }
    let e = sql_err!(ER_BAD_NULL_ERROR, def.name);
    if cx.settings.ignore || cx.null_is_warning {
        cx.diag.warn(e);
        return Ok(zero_value(&def.ty));
    }
    Err(e)
}

/// What a NOT NULL column without a default holds when nothing was given: zero, empty, the zero date, the first member.
pub fn zero_value(ty: &SqlType) -> Value {
    use selkie_types::{Date, DateTime, Time};
    match ty {
        SqlType::Int { unsigned: false, .. } | SqlType::Year(_) => Value::Int(0),
        SqlType::Int { .. } | SqlType::Bit(_) | SqlType::Set(_) => Value::UInt(0),
        SqlType::Enum(_) => Value::UInt(1),
        SqlType::Float { .. } | SqlType::Double { .. } => Value::Double(0.0),
        SqlType::Decimal { scale, .. } => Value::Decimal(selkie_types::Decimal::from_mantissa(0, *scale)),
        SqlType::Date => Value::Date(Date::default()),
        SqlType::Time { .. } => Value::Time(Time::default()),
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => Value::DateTime(DateTime::default()),
        SqlType::Text { .. } | SqlType::Null => Value::bytes(b""),
    }
}

/// Whether a column must be given a value.
pub fn lacks_default(target: &TargetTable, column: usize) -> bool {
    let def = &target.table.columns[column];
    target.defaults[column].is_none()
        && !(def.nullable || def.auto_increment || def.generated.is_some() || matches!(def.ty, SqlType::Enum(_)))
}

/// The default of a column for a row in the making.
pub fn default_value(cx: &mut ExecCtx<'_>, target: &TargetTable, column: usize, row: &[Value]) -> SqlResult<Value> {
    let def = &target.table.columns[column];
    match &target.defaults[column] {
        Some(e) => {
            let v = e.eval(row, cx)?;
            if v.is_null() && def.nullable {
                return Ok(v);
            }
            store_value(cx, &target.table, column, v, &e.ty)
        }
        None if def.auto_increment => Ok(Value::Null),
        None if def.nullable => Ok(Value::Null),
        None => {
            if lacks_default(target, column) {
                let e = sql_err!(ER_NO_DEFAULT_FOR_FIELD, def.name);
                if cx.warnings_fail() {
                    return Err(e);
                }
                cx.diag.warn(e);
            }
            Ok(zero_value(&def.ty))
        }
    }
}

/// Evaluates an assigned value and stores it into a column's form. `slots` is what its expression refers to.
pub fn assigned(
    cx: &mut ExecCtx<'_>,
    target: &TargetTable,
    column: usize,
    value: &AssignedValue,
    slots: &[Value],
) -> SqlResult<Value> {
    match value {
        AssignedValue::Default => default_value(cx, target, column, slots),
        AssignedValue::Expr(e) => {
            cx.diag.strict = cx.warnings_fail();
            let v = e.eval(slots, cx);
            cx.diag.end_strict()?;
            let v = v?;
            if v.is_null() && target.table.columns[column].auto_increment {
                return Ok(Value::Null);
            }
            store_value(cx, &target.table, column, v, &e.ty)
        }
    }
}

/// What AUTO_INCREMENT did for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoIncrement {
    /// The table has none, or the value was given.
    Given(Option<u64>),
    /// A value was generated.
    Generated(u64),
}

/// Fills the AUTO_INCREMENT column where the row has NULL or 0 in it.
pub fn auto_increment(cx: &mut ExecCtx<'_>, table: &Table, row: &mut [Value]) -> SqlResult<AutoIncrement> {
    let Some(column) = table.auto_increment_column() else { return Ok(AutoIncrement::Given(None)) };
    let zero_generates = !cx.settings.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
    let runtime = cx.tables.get(table)?;
    let given = match &row[column] {
        Value::Null => None,
        Value::Int(0) | Value::UInt(0) if zero_generates => None,
        Value::Double(d) if *d == 0.0 && zero_generates => None,
        Value::Int(v) => Some((*v).max(0) as u64),
        Value::UInt(v) => Some(*v),
        Value::Double(d) => Some(d.max(0.0) as u64),
        _ => Some(0),
    };
    if let Some(v) = given {
        runtime.note(v);
        return Ok(AutoIncrement::Given(Some(v)));
    }
    let ty = &table.columns[column].ty;
    let max = match ty {
        SqlType::Int { width, unsigned, .. } => int_range(*width, *unsigned).1 as u64,
        _ => 1 << 53,
    };
    let id = match cx.limits.insert_id.take() {
        Some(id) => {
            runtime.note(id);
            id
        }
        None => runtime
            .reserve(1, cx.limits.auto_increment_increment, cx.limits.auto_increment_offset, max)
            .ok_or_else(|| sql_err!(ER_AUTOINC_READ_FAILED))?,
    };
    row[column] = match ty {
        SqlType::Int { unsigned: true, .. } => Value::UInt(id),
        SqlType::Int { .. } => Value::Int(id as i64),
        _ => Value::Double(id as f64),
    };
    Ok(AutoIncrement::Generated(id))
}

/// Computes generated columns and tests CHECK constraints and the view's check option. `false`: an IGNORE statement
/// leaves the row out (a warning was given).
pub fn complete(cx: &mut ExecCtx<'_>, target: &TargetTable, row: &mut [Value]) -> SqlResult<bool> {
    for (column, expr) in &target.generated {
        let v = expr.eval(row, cx)?;
        row[*column] = if v.is_null() && target.table.columns[*column].nullable {
            Value::Null
        } else {
            store_value(cx, &target.table, *column, v, &expr.ty)?
        };
    }
    if cx.limits.check_constraint_checks {
        for (name, check) in &target.checks {
            if check.eval_bool(row, cx)? == Some(false) {
                let e = sql_err!(ER_CONSTRAINT_FAILED, name, target.table.db, target.table.name);
                return ignore_or_fail(cx, e);
            }
        }
    }
    if let Some((view, check)) = &target.view_check
        && check.eval_bool(row, cx)? != Some(true)
    {
        let (db, name) = view.split_once('.').unwrap_or((&target.table.db, view));
        return ignore_or_fail(cx, sql_err!(ER_VIEW_CHECK_FAILED, db, name));
    }
    Ok(true)
}

/// In an IGNORE statement the error becomes a warning and the row is left out.
pub fn ignore_or_fail(cx: &mut ExecCtx<'_>, e: selkie_types::SqlError) -> SqlResult<bool> {
    let ignorable = matches!(
        e.code(),
        codes::ER_DUP_ENTRY
            | codes::ER_CONSTRAINT_FAILED
            | codes::ER_VIEW_CHECK_FAILED
            | codes::ER_NO_REFERENCED_ROW_2
            | codes::ER_ROW_IS_REFERENCED_2
            | codes::ER_NO_PARTITION_FOR_GIVEN_VALUE
    );
    if cx.settings.ignore && ignorable {
        cx.diag.push(Level::Warning, e);
        return Ok(false);
    }
    Err(e)
}

/// Evaluates the RETURNING list over a full row.
pub fn returning(cx: &mut ExecCtx<'_>, exprs: &[Expr], row: &[Value], out: &mut Vec<Value>) -> SqlResult<()> {
    for e in exprs {
        let v = e.eval(row, cx)?;
        out.push(v);
    }
    Ok(())
}
