//! JSON functions that read: EXTRACT, VALUE, QUERY, KEYS, CONTAINS, LENGTH, SEARCH, layouts.

use std::sync::Arc;

use selkie_types::{Collation, Level, SqlResult, SqlType, Value, sql_err};

use super::path::{Path, Step, walk};
use super::scan::{self, Json, Kind, Layout, Node};
use super::{Ctx, EvalResult, collation_of, first, parse, parse_path, text_args, warning};
use crate::bind::{BindCtx, attr, collation};
use crate::func::args::{self, arg, bytes};
use crate::func::{Build, Call, EvalFn};
use crate::ir::{Coercibility, Expr};

pub(super) fn bind_extract(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64 * args.len() as u64;
    let n = args.len() as u64 - 1;
    let len = if n == 1 { len } else { (len / (n + 1) + 1) * 2 * n };
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    Build::new(name, extract, args, attr::text(len, c)).nullable(true).strength(Coercibility::Implicit).ok()
}

fn extract(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let mut paths = Vec::with_capacity(args.len() - 1);
    for (i, a) in args.iter().enumerate().skip(1) {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            return Ok(Value::Null);
        }
        let Some(p) = parse_path(&v, i + 1, call.name, true, ctx) else { return Ok(Value::Null) };
        paths.push(p);
    }
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    let several = paths.len() > 1 || paths.iter().any(Path::is_wild);
    let mut found = Vec::new();
    for p in &paths {
        found.extend(p.find(&j, &root));
    }
    if found.is_empty() {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    if several {
        out.push(b'[');
    }
    for (i, n) in found.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        scan::write(&j, n, Layout::Loose, 0, &mut out);
    }
    if several {
        out.push(b']');
    }
    Ok(args::owned(out))
}

pub(super) fn bind_value(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    let eval: EvalFn = if name == "json_value" { value } else { query };
    Build::new(name, eval, args, attr::text(len, c)).nullable(true).ok()
}

/// Document and path of a call with both; `None` for NULL or a fault.
fn document_and_path<'a>(
    call: &Call,
    args: &[Expr],
    row: &[Value],
    ctx: Ctx<'_>,
    keep: &'a mut Value,
) -> SqlResult<Option<(Json<'a>, Node, Path)>> {
    let Some(text) = first(args, row, ctx, keep)? else { return Ok(None) };
    let v = args[1].eval(row, ctx)?;
    if v.is_null() {
        return Ok(None);
    }
    let Some(path) = parse_path(&v, 2, call.name, true, ctx) else { return Ok(None) };
    // A faulty document has no values: no warning.
    Ok(Json::parse(text).ok().map(|(j, root)| (j, root, path)))
}

fn value(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some((j, root, path)) = document_and_path(call, args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    for n in path.find(&j, &root) {
        match j.kind(&n) {
            Kind::Object | Kind::Array => continue,
            Kind::Null => return Ok(Value::Null),
            Kind::String => return Ok(args::owned(j.string(&n))),
            Kind::True => return Ok(Value::bytes(b"1")),
            Kind::False => return Ok(Value::bytes(b"0")),
            Kind::Number => return Ok(Value::bytes(j.bytes(&n))),
        }
    }
    Ok(Value::Null)
}

fn query(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some((j, root, path)) = document_and_path(call, args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let found = path.find(&j, &root).into_iter().find(|n| matches!(j.kind(n), Kind::Object | Kind::Array));
    Ok(found.map_or(Value::Null, |n| Value::bytes(j.bytes(&n))))
}

pub(super) fn bind_valid(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    Build::new(name, valid, text_args(cx, args), SqlType::BOOL).nullable(true).ok()
}

fn valid(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    Ok(match Json::parse(bytes(&v)) {
        Ok(_) => Value::Int(1),
        Err(f) => {
            ctx.diag().push(Level::Note, warning(f, 1, call.name));
            Value::Int(0)
        }
    })
}

pub(super) fn bind_keys(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    Build::new(name, keys, args, attr::text(len, c)).nullable(true).ok()
}

/// The node that an optional path argument names.
fn at_path(
    j: &Json<'_>,
    root: Node,
    call: &Call,
    args: &[Expr],
    i: usize,
    row: &[Value],
    ctx: Ctx<'_>,
) -> SqlResult<Option<Node>> {
    let Some(a) = args.get(i) else { return Ok(Some(root)) };
    let v = a.eval(row, ctx)?;
    if v.is_null() {
        return Ok(None);
    }
    Ok(parse_path(&v, i + 1, call.name, false, ctx).and_then(|p| p.first(j, &root)))
}

fn keys(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    let Some(n) = at_path(&j, root, call, args, 1, row, ctx)? else { return Ok(Value::Null) };
    if j.kind(&n) != Kind::Object {
        return Ok(Value::Null);
    }
    let mut seen: Vec<&[u8]> = Vec::new();
    for (k, _) in j.children(&n) {
        let Some(k) = k else { continue };
        let k = j.bytes(&k);
        if !seen.contains(&k) {
            seen.push(k);
        }
    }
    let mut out = vec![b'['];
    out.extend(seen.join(&b", "[..]));
    out.push(b']');
    Ok(args::owned(out))
}

/// Functions with a number or a truth value as result.
pub(super) fn bind_number(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (eval, ty): (EvalFn, SqlType) = match name {
        "json_length" => (length, attr::int4(10)),
        "json_depth" => (depth, attr::int4(10)),
        "json_contains" => (contains, SqlType::BOOL),
        "json_contains_path" => (contains_path, SqlType::BOOL),
        "json_exists" => (exists, SqlType::BOOL),
        "json_equals" => (equals, SqlType::BOOL),
        _ => (overlaps, SqlType::BOOL),
    };
    let nullable = name != "json_depth" || args.iter().any(|a| a.nullable);
    Build::new(name, eval, text_args(cx, args), ty).nullable(nullable).ok()
}

fn length(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    let Some(n) = at_path(&j, root, call, args, 1, row, ctx)? else { return Ok(Value::Null) };
    Ok(Value::Int(match j.kind(&n) {
        Kind::Object | Kind::Array => j.children(&n).len() as i64,
        _ => 1,
    }))
}

fn depth(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    Ok(parse(text, 1, call.name, ctx).map_or(Value::Null, |(j, root)| Value::Int(scan::depth(&j, &root) as i64)))
}

/// Whether `y` is contained in `x`: every element or member of it is.
fn is_contained(a: &Json<'_>, x: &Node, b: &Json<'_>, y: &Node) -> bool {
    match (a.kind(x), b.kind(y)) {
        (Kind::Array, Kind::Array) => {
            let xs = a.elements(x);
            b.elements(y).iter().all(|w| xs.iter().any(|v| is_contained(a, v, b, w)))
        }
        (Kind::Array, _) => a.elements(x).iter().any(|v| is_contained(a, v, b, y)),
        (Kind::Object, Kind::Object) => b.children(y).iter().all(|(k, w)| {
            k.as_ref().is_some_and(|k| a.member(x, &b.string(k)).is_some_and(|v| is_contained(a, &v, b, w)))
        }),
        (Kind::Object, _) | (_, Kind::Object | Kind::Array) => false,
        _ => scan::equal(a, x, b, y),
    }
}

fn contains(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let wanted = arg!(args, 1, row, ctx);
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    let Some((k, other)) = parse(bytes(&wanted), 2, call.name, ctx) else { return Ok(Value::Null) };
    let Some(n) = at_path(&j, root, call, args, 2, row, ctx)? else { return Ok(Value::Null) };
    Ok(Value::bool(is_contained(&j, &n, &k, &other)))
}

/// `one` or `all`, by the second argument.
fn one_or_all(v: &Value, call: &Call, ctx: Ctx<'_>) -> Option<bool> {
    let b = bytes(v);
    if b.eq_ignore_ascii_case(b"one") {
        return Some(false);
    }
    if b.eq_ignore_ascii_case(b"all") {
        return Some(true);
    }
    ctx.diag().warn(sql_err!(ER_JSON_ONE_OR_ALL, call.name));
    None
}

fn contains_path(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let mode = arg!(args, 1, row, ctx);
    let Some(all) = one_or_all(&mode, call, ctx) else { return Ok(Value::Null) };
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    for (i, a) in args.iter().enumerate().skip(2) {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            return Ok(v);
        }
        let Some(p) = parse_path(&v, i + 1, call.name, true, ctx) else { return Ok(Value::Null) };
        let found = p.first(&j, &root).is_some();
        if found != all {
            return Ok(Value::bool(found));
        }
    }
    Ok(Value::bool(all))
}

fn exists(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    Ok(match document_and_path(call, args, row, ctx, &mut keep)? {
        Some((j, root, path)) => Value::bool(path.first(&j, &root).is_some()),
        None => Value::Null,
    })
}

fn two_documents<'a>(
    call: &Call,
    a: &'a Value,
    b: &'a Value,
    ctx: Ctx<'_>,
) -> Option<(Json<'a>, Node, Json<'a>, Node)> {
    let (j, x) = parse(bytes(a), 1, call.name, ctx)?;
    let (k, y) = parse(bytes(b), 2, call.name, ctx)?;
    Some((j, x, k, y))
}

fn equals(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let (a, b) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    Ok(two_documents(call, &a, &b, ctx).map_or(Value::Null, |(j, x, k, y)| Value::bool(scan::equal(&j, &x, &k, &y))))
}

fn overlaps(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let (a, b) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let Some((j, x, k, y)) = two_documents(call, &a, &b, ctx) else { return Ok(Value::Int(0)) };
    let hit = match (j.kind(&x), k.kind(&y)) {
        (Kind::Object, Kind::Object) => j.children(&x).iter().any(|(key, v)| {
            key.as_ref().is_some_and(|key| k.member(&y, &j.string(key)).is_some_and(|w| scan::equal(&j, v, &k, &w)))
        }),
        (Kind::Array, Kind::Array) => {
            let ys = k.elements(&y);
            j.elements(&x).iter().any(|v| ys.iter().any(|w| scan::equal(&j, v, &k, w)))
        }
        (Kind::Array, _) => j.elements(&x).iter().any(|v| scan::equal(&j, v, &k, &y)),
        (_, Kind::Array) => k.elements(&y).iter().any(|w| scan::equal(&j, &x, &k, w)),
        _ => scan::equal(&j, &x, &k, &y),
    };
    Ok(Value::bool(hit))
}

pub(super) fn bind_type(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    Build::new(name, type_of, text_args(cx, args), attr::text(12, Collation::UTF8MB3_GENERAL_CI)).nullable(true).ok()
}

fn type_of(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    let Some((j, root)) = parse(bytes(&v), 1, call.name, ctx) else { return Ok(Value::Null) };
    Ok(Value::text(match j.kind(&root) {
        Kind::Object => "OBJECT",
        Kind::Array => "ARRAY",
        Kind::String => "STRING",
        Kind::True | Kind::False => "BOOLEAN",
        Kind::Null => "NULL",
        Kind::Number if j.bytes(&root).contains(&b'.') => "DOUBLE",
        Kind::Number => "INTEGER",
    }))
}

pub(super) fn bind_search(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    let n = attr::char_len(&args[0].ty) as u64;
    let len = (n * n).saturating_mul(c.charset().max_len() as u64);
    let operands: Vec<&Expr> = [&args[0], &args[2]].to_vec();
    let by = collation::for_comparison(cx, name, &operands)?.collation;
    Build::new(name, search, args, attr::text(len, c)).nullable(true).data(Arc::new(by)).ok()
}

/// Appends every path below `n` whose string matches.
fn search_below(j: &Json<'_>, n: &Node, at: &mut Vec<u8>, test: &dyn Fn(&[u8]) -> bool, out: &mut Vec<Vec<u8>>) {
    match j.kind(n) {
        Kind::String if test(&j.string(n)) => out.push(at.clone()),
        Kind::Object | Kind::Array => {
            for (i, (key, v)) in j.children(n).into_iter().enumerate() {
                let len = at.len();
                match key {
                    Some(k) => {
                        let body = j.string_body(&k);
                        at.push(b'.');
                        at.extend_from_slice(body);
                    }
                    None => at.extend_from_slice(format!("[{i}]").as_bytes()),
                }
                search_below(j, &v, at, test, out);
                at.truncate(len);
            }
        }
        _ => {}
    }
}

/// The path by which a node is reached.
fn path_to(j: &Json<'_>, root: &Node, target: &Node) -> Option<Vec<u8>> {
    if root == target {
        return Some(b"$".to_vec());
    }
    fn go(j: &Json<'_>, n: &Node, target: &Node, at: &mut Vec<u8>) -> bool {
        if n == target {
            return true;
        }
        for (i, (key, v)) in j.children(n).into_iter().enumerate() {
            if v.start > target.start || v.end < target.end {
                continue;
            }
            let len = at.len();
            match key {
                Some(k) => {
                    at.push(b'.');
                    at.extend_from_slice(j.string_body(&k));
                }
                None => at.extend_from_slice(format!("[{i}]").as_bytes()),
            }
            if go(j, &v, target, at) {
                return true;
            }
            at.truncate(len);
        }
        false
    }
    let mut at = b"$".to_vec();
    go(j, root, target, &mut at).then_some(at)
}

fn search(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let mode = arg!(args, 1, row, ctx);
    let Some(all) = one_or_all(&mode, call, ctx) else { return Ok(Value::Null) };
    let pattern = arg!(args, 2, row, ctx);
    let mut escape = Some('\\');
    if let Some(e) = args.get(3) {
        let v = e.eval(row, ctx)?;
        let mut chars = args::str_of(bytes(&v)).chars();
        match (chars.next(), chars.next()) {
            (None, _) => {}
            (c, None) => escape = c,
            _ => return Err(sql_err!(ER_WRONG_ARGUMENTS, "ESCAPE")),
        }
    }
    let Some((j, root)) = parse(text, 1, call.name, ctx) else { return Ok(Value::Null) };
    let by = call.data.as_ref().and_then(|d| d.downcast_ref::<Collation>()).copied().unwrap_or(Collation::BINARY);
    let test = |s: &[u8]| by.like(s, bytes(&pattern), escape);
    let mut found = Vec::new();
    if args.len() <= 4 {
        search_below(&j, &root, &mut b"$".to_vec(), &test, &mut found);
    }
    for (i, a) in args.iter().enumerate().skip(4) {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            return Ok(v);
        }
        let Some(p) = parse_path(&v, i + 1, call.name, true, ctx) else { return Ok(Value::Null) };
        for n in p.find(&j, &root) {
            if let Some(mut at) = path_to(&j, &root, &n) {
                search_below(&j, &n, &mut at, &test, &mut found);
            }
        }
    }
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for f in found {
        if !seen.contains(&f) {
            seen.push(f);
        }
    }
    if !all {
        seen.truncate(1);
    }
    let quoted: Vec<Vec<u8>> = seen.into_iter().map(|p| [&b"\""[..], &p, b"\""].concat()).collect();
    Ok(match quoted.len() {
        0 => Value::Null,
        1 => Value::bytes(&quoted[0]),
        _ => {
            let mut out = vec![b'['];
            out.extend(quoted.join(&b", "[..]));
            out.push(b']');
            args::owned(out)
        }
    })
}

pub(super) fn bind_layout(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let (len, name) = match name {
        "json_compact" => (len, name),
        "json_loose" => (len * 2, name),
        _ => (u32::MAX as u64, "json_detailed"),
    };
    let mut it = args.into_iter();
    let mut bound: Vec<Expr> = it.next().map(|e| collation::to_text(cx, e)).into_iter().collect();
    bound.extend(it.map(args::to_int));
    let c = collation_of(cx, bound.first());
    Build::new(name, layout, bound, attr::text(len, c)).nullable(true).ok()
}

fn layout(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    let layout = match call.name {
        "json_compact" => Layout::Compact,
        "json_loose" => Layout::Loose,
        _ => {
            let tab = if args.len() > 1 { args::wide(&arg!(args, 1, row, ctx)) } else { 4 };
            Layout::Detailed(tab.clamp(0, 16) as usize)
        }
    };
    Ok(match scan::laid_out(bytes(&v), layout) {
        Ok(t) => args::owned(t),
        Err(f) => {
            ctx.diag().warn(warning(f, 1, call.name));
            Value::Null
        }
    })
}

pub(super) fn bind_normalize(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64 * 5;
    Build::new(name, normalize, text_args(cx, args), attr::text(len, Collation::UTF8MB4_BIN)).nullable(true).ok()
}

/// A number as sign, one digit, fraction and exponent: `1.5E0`.
fn normal_number(text: &[u8], out: &mut Vec<u8>) {
    let text = args::str_of(text);
    let (negative, rest) = match text.strip_prefix('-') {
        Some(r) => (true, r),
        None => (false, text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i64>().unwrap_or(0)),
        None => (rest, 0),
    };
    let (int, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = format!("{int}{frac}");
    let significant = all.trim_start_matches('0');
    let leading = all.len() - significant.len();
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        out.extend_from_slice(b"0.0E0");
        return;
    }
    let exponent = exponent + int.len() as i64 - leading as i64 - 1;
    if negative {
        out.push(b'-');
    }
    let (head, tail) = digits.split_at(1);
    let tail = if tail.is_empty() { "0" } else { tail };
    out.extend_from_slice(format!("{head}.{tail}E{exponent}").as_bytes());
}

fn write_normal(j: &Json<'_>, n: &Node, out: &mut Vec<u8>) {
    match j.kind(n) {
        Kind::Number => normal_number(j.bytes(n), out),
        Kind::Array => {
            out.push(b'[');
            for (i, e) in j.elements(n).iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_normal(j, e, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            let mut members: Vec<(&[u8], Node)> =
                j.children(n).into_iter().filter_map(|(k, v)| Some((j.bytes(&k?), v))).collect();
            members.sort_by(|a, b| a.0.cmp(b.0));
            out.push(b'{');
            for (i, (k, v)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(k);
                out.push(b':');
                write_normal(j, v, out);
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(j.bytes(n)),
    }
}

fn normalize(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    let Some((j, root)) = parse(bytes(&v), 1, call.name, ctx) else { return Ok(Value::Null) };
    let mut out = Vec::new();
    write_normal(&j, &root, &mut out);
    Ok(args::owned(out))
}

/// Nodes that a tail of steps matches.
pub(super) fn matches(j: &Json<'_>, n: &Node, steps: &[Step]) -> Vec<Node> {
    let mut out = Vec::new();
    walk(j, n, steps, &mut out);
    out
}
