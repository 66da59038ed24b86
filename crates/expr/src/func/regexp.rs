//! REGEXP, REGEXP_INSTR, REGEXP_SUBSTR, REGEXP_REPLACE.
//!
//! Patterns are those of PCRE as far as the `regex` crate knows them; what it does not (back references,
//! look-around) is error 1139 with its explanation. Matching ignores case unless the collation compares by code.

use std::sync::{Arc, Mutex};

use regex::bytes::{Regex, RegexBuilder};
use selkie_types::{Collation, SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg, bytes};
use super::string::{count, texts};
use super::{Build, Call, Def, def};
use crate::bind::{BindCtx, attr};
use crate::context::EvalContext;
use crate::ir::{Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("regexp_instr", 2, 2, bind_instr),
    def("regexp_substr", 2, 2, bind_substr),
    def("regexp_replace", 3, 3, bind_replace),
];

fn compile(pattern: &[u8], c: Collation) -> SqlResult<Regex> {
    let text = String::from_utf8_lossy(pattern);
    let text = if c.is_binary() { text } else { unicode_classes(text) };
    let mut b = RegexBuilder::new(&text);
    b.case_insensitive(!c.is_bin()).unicode(!c.is_binary()).size_limit(16 << 20);
    b.build().map_err(|e| {
        let why = match e {
            regex::Error::Syntax(s) => {
                let last = s.lines().rev().find_map(|l| l.strip_prefix("error: ")).unwrap_or("syntax error");
                last.to_string()
            }
            other => other.to_string(),
        };
        sql_err!(ER_REGEXP_ERROR, why)
    })
}

/// Named classes are of all letters and digits there are, not of ASCII's alone.
fn unicode_classes(pattern: std::borrow::Cow<'_, str>) -> std::borrow::Cow<'_, str> {
    const CLASSES: &[(&str, &str)] = &[
        ("[:alpha:]", r"\p{L}"),
        ("[:digit:]", r"\p{Nd}"),
        ("[:alnum:]", r"\p{L}\p{N}"),
        ("[:upper:]", r"\p{Lu}"),
        ("[:lower:]", r"\p{Ll}"),
        ("[:space:]", r"\s"),
        ("[:word:]", r"\p{L}\p{N}_"),
    ];
    if !pattern.contains("[:") {
        return pattern;
    }
    CLASSES.iter().fold(pattern.into_owned(), |p, (class, unicode)| p.replace(class, unicode)).into()
}

/// The pattern last used, or the constant one.
#[derive(Debug, Default)]
struct Cache {
    constant: Option<Regex>,
    last: Mutex<Option<(Vec<u8>, Regex)>>,
}

fn cache_for(pattern: &Expr, c: Collation) -> SqlResult<Arc<Cache>> {
    let constant = match &pattern.kind {
        ExprKind::Const(Value::Bytes(p)) => Some(compile(p, c)?),
        _ => None,
    };
    Ok(Arc::new(Cache { constant, last: Mutex::new(None) }))
}

/// Calls `f` with the compiled pattern.
fn with_regex<T>(call: &Call, pattern: &[u8], f: impl FnOnce(&Regex) -> T) -> SqlResult<T> {
    let Some(cache) = call.data.as_ref().and_then(|d| d.downcast_ref::<Cache>()) else {
        return Ok(f(&compile(pattern, call.collation)?));
    };
    if let Some(r) = &cache.constant {
        return Ok(f(r));
    }
    let mut last = cache.last.lock().unwrap_or_else(|e| e.into_inner());
    match &*last {
        Some((p, r)) if p == pattern => Ok(f(r)),
        _ => {
            let r = compile(pattern, call.collation)?;
            let out = f(&r);
            *last = Some((pattern.to_vec(), r));
            Ok(out)
        }
    }
}

/// `e REGEXP pattern`
pub(crate) fn bind_match(cx: &BindCtx, e: Expr, pattern: Expr) -> SqlResult<Expr> {
    let nullable = e.nullable || pattern.nullable;
    let (args, c, _) = texts(cx, "regexp", vec![e, pattern], |_| true, true)?;
    let cache = cache_for(&args[1], c)?;
    let nullable = nullable || !matches!(args[1].kind, ExprKind::Const(_));
    Build::new("regexp", matches, args, SqlType::BOOL).collation(c).data(cache).nullable(nullable).ok()
}

fn matches(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, p) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    with_regex(call, bytes(&p), |r| Value::bool(r.is_match(bytes(&v))))
}

fn bind_instr(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (args, c, _) = texts(cx, name, args, |_| true, true)?;
    let cache = cache_for(&args[1], c)?;
    Build::new(name, instr, args, attr::int(selkie_types::IntWidth::Int, 11, false)).collation(c).data(cache).ok()
}

fn instr(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, p) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let b = bytes(&v);
    let at = with_regex(call, bytes(&p), |r| r.find(b).map(|m| m.start()))?;
    Ok(Value::Int(at.map_or(0, |i| count(&b[..i], call.collation) as i64 + 1)))
}

fn bind_substr(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let nullable = args.iter().any(|a| a.nullable);
    let (args, c, s) = texts(cx, name, args, |_| true, true)?;
    let cache = cache_for(&args[1], c)?;
    Build::new(name, substr, args, attr::text(len, c)).strength(s).data(cache).nullable(nullable).ok()
}

fn substr(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, p) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let b = bytes(&v);
    with_regex(call, bytes(&p), |r| r.find(b).map_or(Value::bytes(b""), |m| Value::bytes(m.as_bytes())))
}

fn bind_replace(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (args, c, s) = texts(cx, name, args, |_| true, true)?;
    let cache = cache_for(&args[1], c)?;
    Build::new(name, replace, args, attr::text(u32::MAX as u64, c)).strength(s).data(cache).ok()
}

/// Appends the replacement: `\1` is a group, `\\` a backslash.
fn expand(template: &[u8], captures: &regex::bytes::Captures<'_>, out: &mut Vec<u8>) {
    let mut i = 0;
    while i < template.len() {
        match (template[i], template.get(i + 1)) {
            (b'\\', Some(d @ b'0'..=b'9')) => {
                if let Some(m) = captures.get((d - b'0') as usize) {
                    out.extend_from_slice(m.as_bytes());
                }
                i += 2;
            }
            (b'\\', Some(c)) => {
                out.push(*c);
                i += 2;
            }
            (c, _) => {
                out.push(c);
                i += 1;
            }
        }
    }
}

fn replace(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let (v, p) = (arg!(args, 0, row, ctx), arg!(args, 1, row, ctx));
    let with = arg!(args, 2, row, ctx);
    let (b, with) = (bytes(&v), bytes(&with));
    let max = ctx.settings().max_allowed_packet;
    let out = with_regex(call, bytes(&p), |r| {
        let mut out = Vec::with_capacity(b.len());
        let mut at = 0;
        for captures in r.captures_iter(b) {
            let Some(m) = captures.get(0) else { continue };
            out.extend_from_slice(&b[at..m.start()]);
            expand(with, &captures, &mut out);
            at = m.end();
            if out.len() > max {
                break;
            }
        }
        out.extend_from_slice(&b[at..]);
        out
    })?;
    if super::string::too_long(out.len() as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_supported_is_explained() {
        let e = compile(b"(a)\\1", Collation::UTF8MB4_GENERAL_CI).unwrap_err();
        assert_eq!(e.code(), 1139);
        assert!(e.message().contains("backreferences"), "{}", e.message());
    }
}
