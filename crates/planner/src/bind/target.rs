//! What the rows of a table must satisfy: its defaults, generated columns and checks, bound from their stored text.
//!
//! Everything is bound over the table's full row: slot i is column i. The result depends on the table version only (and on
//! the settings under which stored text is read, which are fixed), so that callers may cache it by table id.

use std::collections::BTreeSet;
use std::sync::Arc;

use selkie_catalog::{ColumnDefault, Table};
use selkie_expr::bind::BindCtx;
use selkie_expr::{Coercibility, Expr, ExprKind};
use selkie_parser::ast;
use selkie_types::{
    Collation, Diagnostics, EnumDef, IntWidth, SqlMode, SqlResult, SqlType, TextKind, TimeZone, Value, convert, sql_err,
};

use super::scope::{Scope, ScopeColumn, ScopeTable};
use super::{Binder, Clause};
use crate::context::PlanContext;
use crate::logical::ColumnInfo;
use crate::plan::TargetTable;

/// The settings under which stored expressions are read, whatever the session's are.
fn stored_settings(cx: &PlanContext<'_>) -> BindCtx {
    BindCtx { sql_mode: SqlMode::DEFAULT, database: cx.bind.database.clone(), ..BindCtx::default() }
}

/// Binds everything that INSERT and UPDATE need to know of a table.
pub fn bind_target(table: &Arc<Table>, cx: &PlanContext<'_>) -> SqlResult<TargetTable> {
    let mut defaults = Vec::with_capacity(table.columns.len());
    for i in 0..table.columns.len() {
        defaults.push(bind_default(table, i, cx)?);
    }
    let mut generated = Vec::new();
    for (i, c) in table.columns.iter().enumerate() {
        if let Some(g) = &c.generated {
            generated.push((i, bind_column_expr(&g.expr, table, cx)?));
        }
    }
    let generated = by_dependency(generated);
    let mut checks = Vec::with_capacity(table.checks.len());
    for c in &table.checks {
        // In errors a column's own check goes by table and column.
        let name = if c.column.is_some() { format!("{}.{}", table.name, c.name) } else { c.name.clone() };
        checks.push((name, bind_column_expr(&c.expr, table, cx)?));
    }
    let on_update_now = table.columns.iter().enumerate().filter(|(_, c)| c.on_update_now).map(|(i, _)| i).collect();
    Ok(TargetTable { table: Arc::clone(table), defaults, generated, checks, on_update_now, view_check: None })
}

/// Generated columns after those that they read.
fn by_dependency(mut list: Vec<(usize, Expr)>) -> Vec<(usize, Expr)> {
    let mut out: Vec<(usize, Expr)> = Vec::with_capacity(list.len());
    while !list.is_empty() {
        let waiting: BTreeSet<usize> = list.iter().map(|(i, _)| *i).collect();
        let ready =
            list.iter().position(|(i, e)| crate::exprs::columns(e).iter().all(|c| c == i || !waiting.contains(c)));
        // A cycle cannot be declared; were there one, declaration order is as good as any.
        out.push(list.remove(ready.unwrap_or(0)));
    }
    out
}

/// Binds the SQL text of a default, generated column, check or partition expression over the table's full row: slot i is
/// column i.
pub fn bind_column_expr(text: &str, table: &Table, cx: &PlanContext<'_>) -> SqlResult<Expr> {
    let e = crate::text::parse_expr(text)?;
    bind_column_syntax(&e, table, cx)
}

/// As [`bind_column_expr`], from syntax (CREATE TABLE and ALTER TABLE check their expressions this way).
pub fn bind_column_syntax(e: &ast::Expr, table: &Table, cx: &PlanContext<'_>) -> SqlResult<Expr> {
    let inner = PlanContext { bind: stored_settings(cx), param_types: &[], ..*cx };
    let mut b = Binder::new(&inner);
    let columns = table
        .columns
        .iter()
        .map(|c| {
            let id = b.arena.add(ColumnInfo {
                name: c.name.clone(),
                ty: c.ty.clone(),
                nullable: c.nullable,
                coercibility: Coercibility::Implicit,
                origin: Some(crate::plan::ColumnOrigin {
                    db: table.db.clone(),
                    table: table.name.clone(),
                    org_table: table.name.clone(),
                    org_name: c.name.clone(),
                    flags: 0,
                }),
            });
            ScopeColumn { name: c.name.clone(), id, invisible: false }
        })
        .collect();
    let block = b.block();
    block.clause = Clause::FieldList;
    block.scope = Scope::of(ScopeTable { db: Some(table.db.clone()), alias: table.name.clone(), name: None, columns });
    b.expr(e)
}

/// The default value of a column as an expression of the column's type; `None` where it has none.
pub fn bind_default(table: &Table, position: usize, cx: &PlanContext<'_>) -> SqlResult<Option<Expr>> {
    let c = &table.columns[position];
    Ok(match &c.default {
        ColumnDefault::None => None,
        ColumnDefault::Null => Some(null_of(&c.ty)),
        ColumnDefault::Literal(text) => Some(literal_default(text, &c.ty, &c.name)),
        ColumnDefault::Expr(text) => Some(bind_column_expr(text, table, cx)?),
    })
}

fn null_of(ty: &SqlType) -> Expr {
    let mut e = Expr::constant(Value::Null, ty.clone());
    e.nullable = true;
    e
}

/// A literal default: its text, stored into the column's type once and for all.
fn literal_default(text: &str, ty: &SqlType, name: &str) -> Expr {
    let mut diag = Diagnostics::default();
    let zone = TimeZone::Offset(0);
    let mut ctx = convert::ConvertCtx {
        sql_mode: SqlMode(SqlMode::ALLOW_INVALID_DATES),
        time_zone: &zone,
        now_utc_micros: 0,
        diag: &mut diag,
        ignore: true,
    };
    let bits = text.strip_prefix("b'").and_then(|t| t.strip_suffix('\''));
    if let (SqlType::Bit(_), Some(bits)) = (ty, bits) {
        let n = bits.bytes().fold(0u64, |n, b| n << 1 | u64::from(b == b'1'));
        return Expr::constant(Value::UInt(n), ty.clone());
    }
    let from = SqlType::varchar(text.len() as u32, Collation::UTF8MB4_GENERAL_CI);
    match convert::store(Value::text(text), &from, ty, name, &mut ctx) {
        Ok(v) => Expr::constant(v, ty.clone()),
        Err(_) => Expr::constant(Value::text(text), from),
    }
}

/// Whether an expression needs the session's time or state: such a default is evaluated for each statement.
pub fn is_literal_default(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Const(_))
}

/// The type of a column of JSON_TABLE.
pub(super) fn column_type(ty: &ast::DataType, collation: Collation) -> SqlResult<SqlType> {
    use ast::DataType as D;
    let int = |width, display: u8, attrs: &ast::NumericAttrs, w: &Option<u64>| SqlType::Int {
        width,
        unsigned: attrs.unsigned || attrs.zerofill,
        zerofill: attrs.zerofill,
        display: w.map_or(display, |w| w.min(255) as u8),
    };
    let fsp = |n: &Option<u64>| n.unwrap_or(0).min(6) as u8;
    let text_collation = |c: &ast::CharsetClause| -> SqlResult<Collation> {
        match (&c.collation, &c.charset) {
            (Some(name), _) => super::expr::collation(name),
            (None, Some(cs)) => {
                let cs = super::expr::charset(cs)?;
                Ok(if c.binary { cs.bin_collation() } else { cs.default_collation() })
            }
            (None, None) if c.binary => Ok(collation.charset().bin_collation()),
            (None, None) => Ok(collation),
        }
    };
    let text = |kind, len: u64, collation| SqlType::Text { kind, len: len.min(u32::MAX as u64) as u32, collation };
    Ok(match ty {
        D::Int { size, width, attrs } => match size {
            ast::IntSize::Tiny => int(IntWidth::Tiny, 4, attrs, width),
            ast::IntSize::Small => int(IntWidth::Small, 6, attrs, width),
            ast::IntSize::Medium => int(IntWidth::Medium, 9, attrs, width),
            ast::IntSize::Int => int(IntWidth::Int, 11, attrs, width),
            ast::IntSize::Big => int(IntWidth::Big, 20, attrs, width),
        },
        D::Decimal { precision, scale, attrs } => SqlType::Decimal {
            precision: precision.unwrap_or(10).clamp(1, 65) as u8,
            scale: scale.unwrap_or(0).min(38) as u8,
            unsigned: attrs.unsigned,
            zerofill: attrs.zerofill,
        },
        D::Float { attrs, .. } => SqlType::Float { unsigned: attrs.unsigned, zerofill: attrs.zerofill, digits: None },
        D::Double { attrs, .. } => SqlType::Double { unsigned: attrs.unsigned, zerofill: attrs.zerofill, digits: None },
        D::Bit(n) => SqlType::Bit(n.unwrap_or(1).clamp(1, 64) as u8),
        D::Serial => SqlType::BIGINT_UNSIGNED,
        D::Date => SqlType::Date,
        D::Time(n) => SqlType::Time { fsp: fsp(n) },
        D::DateTime(n) => SqlType::DateTime { fsp: fsp(n) },
        D::Timestamp(n) => SqlType::Timestamp { fsp: fsp(n) },
        D::Year(_) => SqlType::Year(4),
        D::Char { length, charset } => text(TextKind::Char, length.unwrap_or(1), text_collation(charset)?),
        D::VarChar { length, charset } => text(TextKind::VarChar, *length, text_collation(charset)?),
        D::Binary(n) => text(TextKind::Char, n.unwrap_or(1), Collation::BINARY),
        D::VarBinary(n) => text(TextKind::VarChar, *n, Collation::BINARY),
        D::Text { size, charset, .. } => lob(*size, text_collation(charset)?),
        D::Blob { size, .. } => lob(*size, Collation::BINARY),
        D::Json { .. } => lob(ast::LobSize::Long, Collation::UTF8MB4_BIN),
        D::Enum { values, charset } => SqlType::Enum(members(values, text_collation(charset)?)),
        D::Set { values, charset } => SqlType::Set(members(values, text_collation(charset)?)),
        D::Uuid | D::Inet4 | D::Inet6 | D::Geometry { .. } | D::Named(_) => {
            return Err(sql_err!(ER_NOT_SUPPORTED_YET, "this column type"));
        }
    })
}

fn lob(size: ast::LobSize, collation: Collation) -> SqlType {
    let (kind, len) = match size {
        ast::LobSize::Tiny => (TextKind::TinyText, 255),
        ast::LobSize::Normal => (TextKind::Text, 65_535),
        ast::LobSize::Medium => (TextKind::MediumText, 16_777_215),
        ast::LobSize::Long => (TextKind::LongText, u32::MAX),
    };
    SqlType::Text { kind, len, collation }
}

fn members(values: &[Vec<u8>], collation: Collation) -> Arc<EnumDef> {
    let members = values.iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
    Arc::new(EnumDef { members, collation })
}
