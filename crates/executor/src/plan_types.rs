//! The types of an operator's slots, derived from its plan.

use selkie_planner::plan::{JoinKind, JsonTable, JsonTableColumn, Plan};
use selkie_types::{Collation, SqlType};

/// Types of the slots that a plan node produces.
pub fn types_of(plan: &Plan) -> Vec<SqlType> {
    match plan {
        Plan::OneRow => Vec::new(),
        Plan::Values { types, .. } | Plan::Virtual { types, .. } | Plan::SharedScan { types, .. } => types.clone(),
        Plan::Scan(s) => {
            let mut types: Vec<_> = s.columns.iter().map(|&c| s.table.columns[c].ty.clone()).collect();
            if s.with_row_key {
                types.push(SqlType::varchar(u16::MAX as u32, Collation::BINARY));
            }
            types
        }
        Plan::Derived { plan, .. } => plan.columns.iter().map(|c| c.ty.clone()).collect(),
        Plan::JsonTable(j) => json_types(j),
        Plan::Filter { input, .. } | Plan::Sort { input, .. } | Plan::Limit { input, .. } | Plan::Distinct { input, .. } => {
            types_of(input)
        }
        Plan::Project { exprs, .. } => exprs.iter().map(|e| e.ty.clone()).collect(),
        Plan::NestedLoop { kind, left, right, .. } | Plan::HashJoin { kind, left, right, .. } => {
            let mut types = types_of(left);
            if matches!(kind, JoinKind::Inner | JoinKind::Left) {
                types.extend(types_of(right));
            }
            types
        }
        Plan::Aggregate { keys, calls, first_row, .. } => keys
            .iter()
            .map(|e| e.ty.clone())
            .chain(calls.iter().map(|c| c.ty.clone()))
            .chain(first_row.iter().map(|e| e.ty.clone()))
            .collect(),
        Plan::Window { input, calls } => {
            let mut types = types_of(input);
            types.extend(calls.iter().map(|c| c.ty.clone()));
            types
        }
        Plan::Union { inputs } => inputs.first().map(types_of).unwrap_or_default(),
        Plan::SetOperation { left, .. } => types_of(left),
    }
}

fn json_types(j: &JsonTable) -> Vec<SqlType> {
    fn walk(columns: &[JsonTableColumn], out: &mut Vec<SqlType>) {
        for c in columns {
            match c {
                JsonTableColumn::Ordinality => out.push(SqlType::BIGINT),
                JsonTableColumn::Path { ty, .. } => out.push(ty.clone()),
                JsonTableColumn::Nested { columns, .. } => walk(columns, out),
            }
        }
    }
    let mut out = Vec::new();
    walk(&j.columns, &mut out);
    out
}
