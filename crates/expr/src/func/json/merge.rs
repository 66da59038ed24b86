//! JSON functions that make or join documents: ARRAY, OBJECT, MERGE_PRESERVE, MERGE_PATCH, QUOTE, UNQUOTE.

use std::sync::Arc;

use selkie_types::{Collation, SqlResult, Value, sql_err};

use super::scan::{self, Json, Kind, Node};
use super::{Ctx, EvalResult, Source, collation_of, loose, parse, text_args, warning};
use crate::bind::{BindCtx, attr, collation};
use crate::func::args::{self, arg, bytes};
use crate::func::{Build, Call};
use crate::ir::{Coercibility, Expr};

pub(super) fn bind_array(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let sources: Vec<Source> = args.iter().map(Source::of).collect();
    let len = 2 + args.iter().zip(&sources).map(|(e, s)| s.len(e)).sum::<u64>();
    let nullable = args.iter().any(|a| a.nullable);
    let c = joint_collation(cx, name, &args)?;
    Build::new(name, array, args, attr::text(len, c)).nullable(nullable).data(Arc::new(sources)).ok()
}

/// The collation of a document made from operands; binary ones do not make it binary.
fn joint_collation(cx: &BindCtx, name: &str, args: &[Expr]) -> SqlResult<Collation> {
    let operands: Vec<&Expr> = args.iter().collect();
    let c = collation::for_result(cx, name, &operands)?.collation;
    Ok(if c.is_binary() { cx.collation_connection } else { c })
}

fn sources(call: &Call) -> &[Source] {
    call.data.as_ref().and_then(|d| d.downcast_ref::<Vec<Source>>()).map_or(&[], Vec::as_slice)
}

fn array(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut out = vec![b'['];
    for (i, (a, s)) in args.iter().zip(sources(call)).enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        let v = a.eval(row, ctx)?;
        s.append(&v, &mut out);
    }
    out.push(b']');
    Ok(args::owned(out))
}

pub(super) fn bind_object(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    if args.len() % 2 == 1 {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    }
    let sources: Vec<Source> = args.iter().map(Source::of).collect();
    let len = 2 + args.iter().zip(&sources).map(|(e, s)| s.len(e)).sum::<u64>();
    let nullable = args.iter().any(|a| a.nullable);
    let c = joint_collation(cx, name, &args)?;
    let args =
        args.into_iter().enumerate().map(|(i, e)| if i % 2 == 0 { collation::to_text(cx, e) } else { e }).collect();
    Build::new(name, object, args, attr::text(len, c)).nullable(nullable).data(Arc::new(sources)).ok()
}

fn object(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut out = vec![b'{'];
    let sources = sources(call);
    for i in (0..args.len()).step_by(2) {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        let key = args[i].eval(row, ctx)?;
        scan::quote(bytes(&key), &mut out);
        out.extend_from_slice(b": ");
        let v = args[i + 1].eval(row, ctx)?;
        if let Some(s) = sources.get(i + 1) {
            s.append(&v, &mut out);
        }
    }
    out.push(b'}');
    Ok(args::owned(out))
}

pub(super) fn bind_merge(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let name = if name == "json_merge" { "json_merge_preserve" } else { name };
    let len = 2 + args.iter().map(|e| Source::of(e).len(e)).sum::<u64>();
    let nullable = args.iter().any(|a| a.nullable);
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    Build::new(name, merge, args, attr::text(len, c)).nullable(nullable).ok()
}

/// Members of both, arrays one after the other, everything else side by side in an array.
fn preserve(a: &Json<'_>, x: &Node, b: &Json<'_>, y: &Node, out: &mut Vec<u8>) {
    if let (Kind::Object, Kind::Object) = (a.kind(x), b.kind(y)) {
        out.push(b'{');
        let mut any = false;
        let mut taken: Vec<Vec<u8>> = Vec::new();
        for (k, v) in a.children(x) {
            let Some(k) = k else { continue };
            if any {
                out.push(b',');
            }
            any = true;
            out.extend_from_slice(a.bytes(&k));
            out.push(b':');
            let key = a.string(&k);
            match b.member(y, &key) {
                Some(w) => preserve(a, &v, b, &w, out),
                None => out.extend_from_slice(a.bytes(&v)),
            }
            taken.push(key);
        }
        for (k, v) in b.children(y) {
            let Some(k) = k else { continue };
            if taken.contains(&b.string(&k)) {
                continue;
            }
            if any {
                out.push(b',');
            }
            any = true;
            out.extend_from_slice(b.bytes(&k));
            out.push(b':');
            out.extend_from_slice(b.bytes(&v));
        }
        out.push(b'}');
        return;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for (j, n) in [(a, x), (b, y)] {
        if j.kind(n) == Kind::Array {
            parts.extend(j.elements(n).iter().map(|e| j.bytes(e)));
        } else {
            parts.push(j.bytes(n));
        }
    }
    out.push(b'[');
    out.extend(parts.join(&b','));
    out.push(b']');
}

/// A value without the members that are null.
fn without_nulls(j: &Json<'_>, n: &Node, out: &mut Vec<u8>) {
    if j.kind(n) != Kind::Object {
        out.extend_from_slice(j.bytes(n));
        return;
    }
    out.push(b'{');
    let mut any = false;
    for (k, v) in j.children(n) {
        let Some(k) = k else { continue };
        if j.kind(&v) == Kind::Null {
            continue;
        }
        if any {
            out.push(b',');
        }
        any = true;
        out.extend_from_slice(j.bytes(&k));
        out.push(b':');
        without_nulls(j, &v, out);
    }
    out.push(b'}');
}

/// RFC 7396: members of the patch replace, null removes.
fn patch(a: &Json<'_>, x: &Node, b: &Json<'_>, y: &Node, out: &mut Vec<u8>) {
    if b.kind(y) != Kind::Object {
        out.extend_from_slice(b.bytes(y));
        return;
    }
    if a.kind(x) != Kind::Object {
        without_nulls(b, y, out);
        return;
    }
    out.push(b'{');
    let mut any = false;
    let mut separate = |out: &mut Vec<u8>| {
        if any {
            out.push(b',');
        }
        any = true;
    };
    for (k, v) in a.children(x) {
        let Some(k) = k else { continue };
        let other = b.member(y, &a.string(&k));
        if other.as_ref().is_some_and(|w| b.kind(w) == Kind::Null) {
            continue;
        }
        separate(out);
        out.extend_from_slice(a.bytes(&k));
        out.push(b':');
        match other {
            Some(w) => patch(a, &v, b, &w, out),
            None => out.extend_from_slice(a.bytes(&v)),
        }
    }
    for (k, w) in b.children(y) {
        let Some(k) = k else { continue };
        if b.kind(&w) == Kind::Null || a.member(x, &b.string(&k)).is_some() {
            continue;
        }
        separate(out);
        out.extend_from_slice(b.bytes(&k));
        out.push(b':');
        without_nulls(b, &w, out);
    }
    out.push(b'}');
}

fn merge(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let is_patch = call.name == "json_merge_patch";
    let v = args[0].eval(row, ctx)?;
    let mut text: Option<Vec<u8>> = match &v {
        Value::Null => None,
        v => Some(bytes(v).to_vec()),
    };
    if let Some(t) = &text
        && parse(t, 1, call.name, ctx).is_none()
    {
        return Ok(Value::Null);
    }
    for (i, a) in args.iter().enumerate().skip(1) {
        let w = a.eval(row, ctx)?;
        let w = match &w {
            Value::Null => {
                text = None;
                continue;
            }
            w => bytes(w),
        };
        let Some((b, y)) = parse(w, i + 1, call.name, ctx) else { return Ok(Value::Null) };
        let Some(left) = &text else {
            // After a NULL a patch that is no object starts anew.
            if is_patch && b.kind(&y) != Kind::Object {
                text = Some(w.to_vec());
            }
            continue;
        };
        let Some((a, x)) = parse(left, 1, call.name, ctx) else { return Ok(Value::Null) };
        let mut out = Vec::new();
        if is_patch {
            patch(&a, &x, &b, &y, &mut out);
        } else {
            preserve(&a, &x, &b, &y, &mut out);
        }
        text = Some(out);
    }
    Ok(match text {
        Some(t) => loose(&t, ctx, call.name),
        None => Value::Null,
    })
}

pub(super) fn bind_quote(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let is_text = args[0].ty.collation().is_some();
    let len = attr::expr_char_len(&args[0]) as u64 * 12 + 2;
    let nullable = args.iter().any(|a| a.nullable);
    let args = text_args(cx, args);
    let ty = attr::text(len, Collation::UTF8MB4_BIN);
    Build::new(name, quote, args, ty).nullable(nullable).mode(is_text as i64).ok()
}

fn quote(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    if call.mode == 0 {
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    scan::quote(bytes(&v), &mut out);
    Ok(args::owned(out))
}

pub(super) fn bind_unquote(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let args = text_args(cx, args);
    Build::new(name, unquote, args, attr::text(len, Collation::UTF8MB4_BIN))
        .nullable(true)
        .strength(Coercibility::Implicit)
        .ok()
}

fn unquote(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    if b.first() != Some(&b'"') {
        return Ok(v);
    }
    Ok(match Json::parse(b) {
        Ok((j, n)) => args::owned(j.string(&n)),
        Err(f) => {
            ctx.diag().warn(warning(f, 1, call.name));
            v
        }
    })
}
