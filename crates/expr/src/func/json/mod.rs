//! JSON functions. JSON is text here, as in MariaDB: values keep their source form, results that are made
//! or changed are laid out loosely (`{"a": 1}`).

mod edit;
mod merge;
pub(crate) mod path;
mod read;
pub(crate) mod scan;

use selkie_types::{Collation, SqlError, SqlResult, SqlType, TextKind, Value, convert, sql_err};

use self::path::{Path, PathFault};
use self::scan::{DEPTH_MAX, Fault, Json};
use super::args::{self, bytes};
use super::{Def, MANY, def};
use crate::bind::{BindCtx, attr, collation};
use crate::context::EvalContext;
use crate::ir::{Expr, ExprKind};

pub(super) const FUNCTIONS: &[Def] = &[
    def("json_array", 0, MANY, merge::bind_array),
    def("json_object", 0, MANY, merge::bind_object),
    def("json_merge", 2, MANY, merge::bind_merge),
    def("json_merge_preserve", 2, MANY, merge::bind_merge),
    def("json_merge_patch", 2, MANY, merge::bind_merge),
    def("json_quote", 1, 1, merge::bind_quote),
    def("json_unquote", 1, 1, merge::bind_unquote),
    def("json_extract", 2, MANY, read::bind_extract),
    def("json_value", 2, 2, read::bind_value),
    def("json_query", 2, 2, read::bind_value),
    def("json_valid", 1, 1, read::bind_valid),
    def("json_keys", 1, 2, read::bind_keys),
    def("json_contains", 2, 3, read::bind_number),
    def("json_contains_path", 3, MANY, read::bind_number),
    def("json_length", 1, 2, read::bind_number),
    def("json_depth", 1, 1, read::bind_number),
    def("json_exists", 2, 2, read::bind_number),
    def("json_equals", 2, 2, read::bind_number),
    def("json_overlaps", 2, 2, read::bind_number),
    def("json_type", 1, 1, read::bind_type),
    def("json_search", 3, MANY, read::bind_search),
    def("json_compact", 1, 1, read::bind_layout),
    def("json_loose", 1, 1, read::bind_layout),
    def("json_detailed", 1, 2, read::bind_layout),
    def("json_pretty", 1, 2, read::bind_layout),
    def("json_normalize", 1, 1, read::bind_normalize),
    def("json_set", 3, MANY, edit::bind),
    def("json_insert", 3, MANY, edit::bind),
    def("json_replace", 3, MANY, edit::bind),
    def("json_array_append", 3, MANY, edit::bind),
    def("json_array_insert", 3, MANY, edit::bind),
    def("json_remove", 2, MANY, edit::bind_remove),
];

/// Warning for a faulty JSON argument (1-based).
fn warning(fault: Fault, argument: usize, name: &str) -> SqlError {
    match fault {
        Fault::End => sql_err!(ER_JSON_EOS, argument, name),
        Fault::Syntax(at) => sql_err!(ER_JSON_SYNTAX, argument, name, at + 1),
        Fault::Depth(at) => sql_err!(ER_JSON_DEPTH, DEPTH_MAX, argument, name, at + 1),
    }
}

/// Parses a JSON argument; `None` with a warning where it is faulty.
fn parse<'a>(text: &'a [u8], argument: usize, name: &str, ctx: &mut dyn EvalContext) -> Option<(Json<'a>, scan::Node)> {
    match Json::parse(text) {
        Ok(found) => Some(found),
        Err(f) => {
            ctx.diag().warn(warning(f, argument, name));
            None
        }
    }
}

/// Parses a path argument; `None` with a warning where it is faulty, or wild where that is not allowed.
fn parse_path(v: &Value, argument: usize, name: &str, wild: bool, ctx: &mut dyn EvalContext) -> Option<Path> {
    let e = match Path::parse(bytes(v)) {
        Ok(p) if wild || !p.is_wild() => return Some(p),
        Ok(_) => sql_err!(ER_JSON_PATH_NO_WILDCARD, argument, name),
        Err(PathFault::End) => sql_err!(ER_JSON_PATH_EOS, argument, name),
        Err(PathFault::Syntax(at)) => sql_err!(ER_JSON_PATH_SYNTAX, argument, name, at + 1),
    };
    ctx.diag().warn(e);
    None
}

/// Functions whose results are JSON rather than text that looks like it.
const JSON_RESULTS: &[&str] = &[
    "json_array",
    "json_array_append",
    "json_array_insert",
    "json_compact",
    "json_detailed",
    "json_extract",
    "json_insert",
    "json_keys",
    "json_loose",
    "json_merge_patch",
    "json_merge_preserve",
    "json_object",
    "json_query",
    "json_remove",
    "json_replace",
    "json_search",
    "json_set",
];

/// How a value becomes JSON.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    ty: SqlType,
    json: bool,
    boolean: bool,
}

/// Whether an expression gives TRUE and FALSE rather than numbers.
fn is_boolean(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(Value::Int(0 | 1)) => e.ty == crate::bind::literal::BOOL_LITERAL,
        ExprKind::Not(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Compare { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::IsBool { .. }
        | ExprKind::Like { .. } => true,
        ExprKind::Call { function, .. } => matches!(function.name(), "xor" | "regexp"),
        _ => false,
    }
}

impl Source {
    pub fn of(e: &Expr) -> Source {
        let json = match &e.kind {
            ExprKind::Call { function, .. } => JSON_RESULTS.contains(&function.name()),
            // A JSON column is LONGTEXT in utf8mb4_bin with a check.
            ExprKind::Column(_) | ExprKind::Correlated(_) => {
                matches!(e.ty, SqlType::Text { kind: TextKind::LongText, collation: Collation::UTF8MB4_BIN, .. })
            }
            _ => false,
        };
        Source { ty: e.ty.clone(), json, boolean: is_boolean(e) }
    }

    /// Appends a value as JSON.
    pub fn append(&self, v: &Value, out: &mut Vec<u8>) {
        match v {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bytes(b) if self.json && Json::parse(b).is_ok() => out.extend_from_slice(b),
            v if self.boolean => {
                let t = crate::eval::is_true(v) == Some(true);
                out.extend_from_slice(if t { b"true" } else { b"false" });
            }
            v if self.ty.is_numeric() => convert::write_text(v, &self.ty, out),
            v => scan::quote(&convert::text_of(v, &self.ty), out),
        }
    }

    /// The greatest length in characters of the JSON text.
    pub fn len(&self, e: &Expr) -> u64 {
        let n = attr::expr_char_len(e) as u64;
        let n = if self.boolean { n.max(5) } else { n };
        (if self.ty.is_numeric() || self.json { n } else { n * 2 }).max(4) + 4
    }
}

/// The operand as text; JSON arguments keep their own collation.
fn text_args(cx: &BindCtx, args: Vec<Expr>) -> Vec<Expr> {
    args.into_iter().map(|e| collation::to_text(cx, e)).collect()
}

/// Collation of a JSON result: that of its first argument.
fn collation_of(cx: &BindCtx, e: Option<&Expr>) -> Collation {
    e.and_then(|e| e.ty.collation()).filter(|c| !c.is_binary()).unwrap_or(cx.collation_connection)
}

/// A result laid out loosely.
fn loose(text: &[u8], ctx: &mut dyn EvalContext, name: &str) -> Value {
    match scan::laid_out(text, scan::Layout::Loose) {
        Ok(t) => args::owned(t),
        Err(f) => {
            ctx.diag().warn(warning(f, 1, name));
            Value::Null
        }
    }
}

type EvalResult = SqlResult<Value>;
type Ctx<'a> = &'a mut dyn EvalContext;

/// The first argument's text, or NULL.
fn first<'a>(args: &[Expr], row: &[Value], ctx: Ctx<'_>, keep: &'a mut Value) -> SqlResult<Option<&'a [u8]>> {
    *keep = args[0].eval(row, ctx)?;
    Ok(match keep {
        Value::Bytes(b) => Some(b),
        _ => None,
    })
}
