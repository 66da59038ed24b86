//! From a column as declared to a column of the dictionary: type, nullability, default.

use selkie_catalog::show_create::now_text;
use selkie_catalog::{Column, ColumnDefault, Generated};
use selkie_parser::ast::{self, ColumnDef, DataType, Literal, UnaryOp};
use selkie_types::{
    Charset, Collation, Decimal, Diagnostics, IntWidth, SqlMode, SqlResult, SqlType, TextKind, Value, codes, convert,
    sql_err,
};

use crate::canonical;
use crate::host::{DdlHost, DdlSettings};
use crate::names;
use crate::types::{self, TypeContext};

/// A column of a table that is being defined.
#[derive(Debug, Clone)]
pub struct DraftColumn {
    /// The column so far.
    pub column: Column,
    /// Position in the table that it comes from (ALTER TABLE, CREATE TABLE … SELECT).
    pub origin: Option<usize>,
    /// The default's or generated column's syntax where it is new, to be checked by binding.
    pub new_expr: Option<ast::Expr>,
}

/// Longest comment of a column in characters.
const COMMENT_CHARS_MAX: usize = 1024;

/// Makes a column of a declaration; `first_timestamp` says whether an earlier column is a TIMESTAMP already.
pub fn column(
    def: &ColumnDef,
    table_collation: Collation,
    first_timestamp: &mut bool,
    host: &mut dyn DdlHost,
) -> SqlResult<DraftColumn> {
    let settings = host.settings();
    let name = def.name.as_str();
    names::check_column(name)?;
    let mut cx = TypeContext { collation: table_collation, sql_mode: settings.sql_mode, diag: host.diag() };
    let ty = types::column_type(name, &def.ty, &mut cx)?;
    let comment = comment(def.comment.as_deref(), name)?;
    if def.row_bound.is_some() || def.system_versioning.is_some() {
        return Err(sql_err!(ER_NOT_SUPPORTED_YET, "SYSTEM VERSIONING"));
    }
    let serial = matches!(def.ty, DataType::Serial);
    let auto_increment = def.auto_increment || serial;
    let mut nullable = def.nullable.unwrap_or(!serial && !def.primary && !auto_increment);
    let mut draft = DraftColumn {
        origin: None,
        new_expr: None,
        column: Column {
            name: name.to_owned(),
            nullable,
            default: ColumnDefault::None,
            on_update_now: false,
            auto_increment,
            generated: None,
            invisible: def.invisible,
            comment,
            declared: declared(def),
            ty,
        },
    };
    if let Some(g) = &def.generated {
        draft.column.generated = Some(Generated { expr: canonical::text(&g.expr), stored: g.stored });
        draft.column.nullable = true;
        draft.column.default = ColumnDefault::Null;
        draft.new_expr = Some(g.expr.clone());
        return Ok(draft);
    }
    let timestamp = matches!(draft.column.ty, SqlType::Timestamp { .. });
    let implicit = timestamp && !settings.explicit_defaults_for_timestamp;
    if implicit && def.nullable.is_none() {
        nullable = false;
        draft.column.nullable = false;
    }
    if auto_increment {
        if !matches!(draft.column.ty, SqlType::Int { .. } | SqlType::Float { .. } | SqlType::Double { .. }) {
            return Err(sql_err!(ER_WRONG_FIELD_SPEC, name));
        }
        if def.default.is_some() {
            return Err(sql_err!(ER_INVALID_DEFAULT, name));
        }
        draft.column.nullable = false;
        return Ok(draft);
    }
    if let Some(expr) = &def.on_update {
        let digits = canonical::now_digits(expr);
        match (&draft.column.ty, digits) {
            (SqlType::Timestamp { fsp } | SqlType::DateTime { fsp }, Some(n)) if n.is_none_or(|n| n >= *fsp as u64) => {
            }
            _ => return Err(sql_err!(ER_INVALID_ON_UPDATE, name)),
        }
        draft.column.on_update_now = true;
    }
    match &def.default {
        Some(d) => set_default(&mut draft, &d.expr, &settings, host.diag())?,
        None if nullable => draft.column.default = ColumnDefault::Null,
        None if implicit && def.nullable != Some(true) => {
            if *first_timestamp || def.on_update.is_some() {
                draft.column.default = zero_timestamp(&draft.column.ty);
            } else {
                draft.column.default = ColumnDefault::Expr(now_text(&draft.column.ty));
                draft.column.on_update_now = true;
            }
        }
        None => {}
    }
    *first_timestamp |= timestamp;
    if draft.column.invisible && !nullable && def.default.is_none() {
        return Err(sql_err!(ER_INVISIBLE_NOT_NULL_WITHOUT_DEFAULT, name));
    }
    Ok(draft)
}

fn zero_timestamp(ty: &SqlType) -> ColumnDefault {
    let fsp = match ty {
        SqlType::Timestamp { fsp } => *fsp as usize,
        _ => 0,
    };
    let point = if fsp > 0 { "." } else { "" };
    ColumnDefault::Literal(format!("0000-00-00 00:00:00{point}{}", "0".repeat(fsp)))
}

fn declared(def: &ColumnDef) -> Option<String> {
    match (&def.compressed, &def.ty) {
        (Some(_), _) => Some("COMPRESSED".into()),
        (None, DataType::Json { .. }) => Some("json".into()),
        _ => None,
    }
}

fn comment(text: Option<&str>, column: &str) -> SqlResult<String> {
    let text = text.unwrap_or("");
    if text.chars().count() > COMMENT_CHARS_MAX {
        return Err(sql_err!(ER_TOO_LONG_FIELD_COMMENT, column, COMMENT_CHARS_MAX));
    }
    Ok(text.to_owned())
}

/// Gives a column a DEFAULT.
///
/// # Errors
/// 1067 for what does not fit the column.
pub fn set_default(
    draft: &mut DraftColumn,
    expr: &ast::Expr,
    settings: &DdlSettings,
    diag: &mut Diagnostics,
) -> SqlResult<()> {
    let c = &mut draft.column;
    let invalid = || sql_err!(ER_INVALID_DEFAULT, c.name);
    if let Some(value) = literal_value(expr) {
        let (value, from) = value?;
        if value.is_null() {
            if !c.nullable {
                return Err(invalid());
            }
            c.default = ColumnDefault::Null;
            return Ok(());
        }
        c.default = literal_default(value, &from, c, settings, diag).ok_or_else(invalid)?;
        return Ok(());
    }
    if canonical::now_digits(expr).is_some() {
        c.default = match &c.ty {
            ty @ (SqlType::Timestamp { .. } | SqlType::DateTime { .. }) => ColumnDefault::Expr(now_text(ty)),
            _ => ColumnDefault::Expr(canonical::text(expr)),
        };
        return Ok(());
    }
    let text = canonical::text(expr);
    c.default = ColumnDefault::Expr(if canonical::needs_parentheses(expr) { format!("({text})") } else { text });
    draft.new_expr = Some(expr.clone());
    Ok(())
}

/// A literal converted to the column's type and written as SHOW COLUMNS shows it. `None` where it does not fit.
fn literal_default(
    value: Value,
    from: &SqlType,
    c: &Column,
    settings: &DdlSettings,
    diag: &mut Diagnostics,
) -> Option<ColumnDefault> {
    let ty = &c.ty;
    let mut own = Diagnostics::default();
    own.current_row = 0;
    let mut cx = convert::ConvertCtx {
        sql_mode: SqlMode(settings.sql_mode.0 & !(SqlMode::STRICT_ALL_TABLES | SqlMode::STRICT_TRANS_TABLES)),
        time_zone: &settings.time_zone,
        now_utc_micros: settings.now_utc_micros,
        diag: &mut own,
        ignore: true,
    };
    if let (SqlType::Enum(_), Value::Int(_) | Value::UInt(_)) = (ty, &value) {
        return None;
    }
    let stored = convert::store(value, from, ty, c.name.as_str(), &mut cx).ok()?;
    let mut fits = true;
    for (level, e) in own.conditions {
        let note = level == selkie_types::Level::Note;
        fits &= note;
        // Digits that are rounded off are nobody's loss.
        let quiet = matches!(ty, SqlType::Enum(_)) || note && matches!(ty, SqlType::Decimal { .. });
        if !quiet {
            diag.push(level, e);
        }
    }
    if !fits {
        return None;
    }
    if let (SqlType::Bit(_), Value::UInt(n)) = (ty, &stored) {
        return Some(ColumnDefault::Literal(format!("b'{n:b}'")));
    }
    let mut text = Vec::new();
    convert::write_text(&stored, ty, &mut text);
    Some(match String::from_utf8(text) {
        Ok(t) => ColumnDefault::Literal(t),
        Err(e) => {
            let hex: String = e.as_bytes().iter().map(|b| format!("{b:02x}")).collect();
            ColumnDefault::Expr(format!("x'{hex}'"))
        }
    })
}

/// The value and type of a literal; `None` for other expressions.
fn literal_value(expr: &ast::Expr) -> Option<SqlResult<(Value, SqlType)>> {
    if !canonical::is_literal(expr) {
        return None;
    }
    let literal = match expr {
        ast::Expr::Literal(l) => l,
        ast::Expr::Unary { op: UnaryOp::Neg, expr } => match &**expr {
            ast::Expr::Literal(Literal::Int(n)) => {
                return Some(Ok(match i64::try_from(-(*n as i128)) {
                    Ok(v) => (Value::Int(v), SqlType::BIGINT),
                    Err(_) => decimal(&format!("-{n}")),
                }));
            }
            ast::Expr::Literal(Literal::Decimal(d)) => return Some(Ok(decimal(&format!("-{d}")))),
            ast::Expr::Literal(Literal::Float(d)) => return Some(Ok(double(&format!("-{d}")))),
            _ => return None,
        },
        _ => return None,
    };
    let text = |s: &str| (Value::text(s), SqlType::varchar(s.chars().count() as u32, Collation::UTF8MB4_GENERAL_CI));
    let binary = |b: &[u8]| (Value::bytes(b), SqlType::varchar(b.len() as u32, Collation::BINARY));
    Some(Ok(match literal {
        Literal::Null => (Value::Null, SqlType::Null),
        Literal::True => (Value::Int(1), SqlType::BOOL),
        Literal::False => (Value::Int(0), SqlType::BOOL),
        Literal::Int(n) => match i64::try_from(*n) {
            Ok(v) => (Value::Int(v), SqlType::BIGINT),
            Err(_) => (Value::UInt(*n), SqlType::BIGINT_UNSIGNED),
        },
        Literal::Decimal(d) => decimal(d),
        Literal::Float(d) => double(d),
        Literal::Str(s) => {
            let charset = match &s.charset {
                Some(name) => match types::charset(name) {
                    Ok(cs) => Some(cs),
                    Err(e) => return Some(Err(e)),
                },
                None => None,
            };
            match charset {
                Some(Charset::Binary) => binary(&s.bytes),
                Some(cs) => match cs.decode(&s.bytes) {
                    Ok(utf8) => text(&String::from_utf8_lossy(&utf8)),
                    Err(_) => binary(&s.bytes),
                },
                None => match std::str::from_utf8(&s.bytes) {
                    Ok(t) => text(t),
                    Err(_) => binary(&s.bytes),
                },
            }
        }
        Literal::Hex { bytes, quoted: false } if bytes.len() <= 8 => {
            let n = bytes.iter().fold(0u64, |n, b| n << 8 | *b as u64);
            (Value::UInt(n), SqlType::Int { width: IntWidth::Big, unsigned: true, zerofill: false, display: 20 })
        }
        Literal::Hex { bytes, .. } => binary(bytes),
        Literal::Bit(bytes) if bytes.len() <= 8 => {
            (Value::UInt(bytes.iter().fold(0u64, |n, b| n << 8 | *b as u64)), SqlType::BIGINT_UNSIGNED)
        }
        Literal::Bit(bytes) => binary(bytes),
        Literal::Date(s) | Literal::Time(s) | Literal::Timestamp(s) => text(s),
    }))
}

fn decimal(text: &str) -> (Value, SqlType) {
    let v = Decimal::parse_prefix(text.as_bytes()).value;
    let ty = SqlType::Decimal { precision: v.precision().max(1), scale: v.scale(), unsigned: false, zerofill: false };
    (Value::Decimal(v), ty)
}

fn double(text: &str) -> (Value, SqlType) {
    (Value::Double(text.parse().unwrap_or(0.0)), SqlType::DOUBLE)
}

/// A column for a value of an expression's type, as CREATE TABLE … SELECT makes it.
pub fn column_of_type(name: &str, ty: &SqlType, nullable: bool) -> Column {
    let ty = match ty {
        SqlType::Null => SqlType::Text { kind: TextKind::Char, len: 0, collation: Collation::BINARY },
        SqlType::Text { kind: TextKind::VarChar, len, collation } if len * collation.charset().max_len() > 65_532 => {
            let kind = TextKind::for_bytes(*len as u64 * collation.charset().max_len() as u64);
            SqlType::Text { kind, len: kind.blob_limit().unwrap_or(u32::MAX), collation: *collation }
        }
        SqlType::Int { width, unsigned, zerofill, display } => {
            SqlType::Int { width: *width, unsigned: *unsigned, zerofill: *zerofill, display: (*display).max(1) }
        }
        ty => ty.clone(),
    };
    Column {
        name: name.to_owned(),
        ty,
        nullable,
        default: if nullable { ColumnDefault::Null } else { ColumnDefault::None },
        on_update_now: false,
        auto_increment: false,
        generated: None,
        invisible: false,
        comment: String::new(),
        declared: None,
    }
}

/// Error 1054 names the clause that the expression stands in.
pub fn in_clause(e: selkie_types::SqlError, clause: &str) -> selkie_types::SqlError {
    if e.code() == codes::ER_BAD_FIELD_ERROR
        && let Some((head, _)) = e.message().rsplit_once(" in '")
    {
        return selkie_types::SqlError::with_message(codes::ER_BAD_FIELD_ERROR, format!("{head} in '{clause}'"));
    }
    e
}
