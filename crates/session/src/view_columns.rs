//! The columns that a view has now: what it reads from may have changed since it was made (a dump makes views over
//! stand-ins that it replaces later).

use std::sync::Arc;

use selkie_catalog::{Column, Table, TableKind};
use selkie_parser::parse;
use selkie_planner::Planner;
use selkie_planner::plan::Statement;

use crate::dml::{HostView, plan_context};
use crate::host::Host;

/// The table with its view's columns as they are now; tables and views that no longer bind are given back as they are.
pub fn current(host: &Host, table: &Arc<Table>) -> Arc<Table> {
    if !matches!(table.kind, TableKind::View(_)) {
        return table.clone();
    }
    let Some(columns) = bound(host, table) else { return table.clone() };
    let same = columns.len() == table.columns.len()
        && columns.iter().zip(&table.columns).all(|(a, b)| a.ty == b.ty && a.nullable == b.nullable && a.name == b.name);
    if same { table.clone() } else { Arc::new(Table { columns, ..(**table).clone() }) }
}

fn bound(host: &Host, table: &Table) -> Option<Vec<Column>> {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let text = format!("SELECT * FROM {}.{}", quoted(&table.db), quoted(&table.name));
    let parsed = parse(text.as_bytes(), &Default::default()).ok()?;
    let schema = host.instance.dictionary.schema();
    let view = HostView::new(host);
    let planned = Planner::plan_full(&parsed.statement, &plan_context(host, &schema, &view, &[])).ok()?;
    let Statement::Query(plan) = planned.statement else { return None };
    Some(plan.columns.iter().map(|c| selkie_ddl::column_of_type(&c.name, &c.ty, c.nullable)).collect())
}
