//! System variables, user variables and status counters as tables.

use selkie_expr::VarScope;
use selkie_types::{SqlResult, convert};

use super::context::Context;
use super::rows::Rows;
use crate::show::status;
use crate::variables::{Kind, Scope, TABLE, VarDef};

/// information_schema.GLOBAL_VARIABLES
pub fn global_variables(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    variables(cx, VarScope::Global, out)
}

/// information_schema.SESSION_VARIABLES
pub fn session_variables(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    variables(cx, VarScope::Session, out)
}

fn variables(cx: &Context<'_>, scope: VarScope, out: &mut Rows) -> SqlResult<()> {
    for (def, value) in values(cx, scope) {
        out.text(&def.name.to_ascii_uppercase()).text(&value);
    }
    Ok(())
}

/// Every variable of a scope with its value, by name.
pub fn values(cx: &Context<'_>, scope: VarScope) -> Vec<(&'static VarDef, String)> {
    let globals = cx.host.instance.globals.read().clone();
    let shown = TABLE.iter().enumerate().filter(|(_, d)| scope != VarScope::Global || d.scope != Scope::SessionOnly);
    shown.map(|(i, d)| (d, value(cx, &globals, i, scope))).collect()
}

fn value(cx: &Context<'_>, globals: &crate::variables::Values, i: usize, scope: VarScope) -> String {
    let def = &TABLE[i];
    if let Some(v) = cx.host.computed(def.name) {
        let ty = def.sql_type();
        return match &v {
            // The clock is shown with all its digits.
            selkie_types::Value::Double(d) if def.name == "timestamp" => format!("{d:.6}"),
            v if def.kind == Kind::Bool => if *v == selkie_types::Value::Int(0) { "OFF" } else { "ON" }.to_owned(),
            v => String::from_utf8_lossy(&convert::text_of(v, &ty)).into_owned(),
        };
    }
    let i = if def.name == "storage_engine" { crate::variables::find("default_storage_engine").unwrap_or(i) } else { i };
    match (scope, def.scope) {
        (VarScope::Global, _) | (_, Scope::Global) => globals.at(i).to_owned(),
        _ => cx.host.vars.at(i).to_owned(),
    }
}

/// information_schema.GLOBAL_STATUS and SESSION_STATUS
pub fn status_values(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for (name, value) in status::values(cx.host) {
        out.text(&name.to_ascii_uppercase()).text(&value);
    }
    Ok(())
}

/// information_schema.SYSTEM_VARIABLES
pub fn system_variables(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let globals = cx.host.instance.globals.read().clone();
    for (i, d) in TABLE.iter().enumerate() {
        let session = (d.scope != Scope::Global).then(|| value(cx, &globals, i, VarScope::Session));
        let global = (d.scope != Scope::SessionOnly).then(|| value(cx, &globals, i, VarScope::Global));
        let default = (!d.read_only || d.kind != Kind::Text).then_some(d.default);
        let origin = match &global {
            Some(g) if g != d.default => "CONFIG",
            _ => "COMPILE-TIME",
        };
        out.text(&d.name.to_ascii_uppercase()).text_or_null(session.as_deref()).text_or_null(global.as_deref());
        out.text(origin).text_or_null(default);
        out.text(match d.scope {
            Scope::Global => "GLOBAL",
            Scope::Session => "SESSION",
            Scope::SessionOnly => "SESSION ONLY",
        });
        out.text(match d.kind {
            Kind::Bool => "BOOLEAN",
            Kind::Int => "BIGINT",
            Kind::UInt => "BIGINT UNSIGNED",
            Kind::Double => "DOUBLE",
            Kind::Text => "VARCHAR",
            Kind::Enum => "ENUM",
            Kind::Set => "SET",
            Kind::FlagSet => "FLAGSET",
        });
        let is_number = matches!(d.kind, Kind::Int | Kind::UInt | Kind::Double);
        out.text("").text_or_null(d.min.filter(|_| is_number)).text_or_null(d.max.filter(|_| is_number));
        out.text_or_null(matches!(d.kind, Kind::Int | Kind::UInt).then_some("1"));
        out.text_or_null(Some(d.members).filter(|m| !m.is_empty())).yes_no(d.read_only).nulls(2);
    }
    Ok(())
}

/// information_schema.USER_VARIABLES
pub fn user_variables(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let mut names: Vec<_> = cx.host.user_vars.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    for (name, (value, ty)) in names {
        out.text(name);
        if value.is_null() {
            out.null();
        } else {
            out.text(&String::from_utf8_lossy(&convert::text_of(value, ty)));
        }
        let kind = match ty {
            t if t.is_numeric() && t.is_unsigned() && matches!(t, selkie_types::SqlType::Int { .. }) => "INT UNSIGNED",
            selkie_types::SqlType::Int { .. } => "INT",
            selkie_types::SqlType::Double { .. } | selkie_types::SqlType::Float { .. } => "DOUBLE",
            selkie_types::SqlType::Decimal { .. } => "DECIMAL",
            _ => "VARCHAR",
        };
        out.text(kind).text(match ty.collation() {
            _ if value.is_null() => "binary",
            Some(c) => c.charset().name(),
            None => "latin1",
        });
    }
    Ok(())
}
