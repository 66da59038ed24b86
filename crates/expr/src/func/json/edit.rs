//! JSON functions that change a document: SET, INSERT, REPLACE, REMOVE, ARRAY_APPEND, ARRAY_INSERT.
//!
//! Each change replaces a range of the text; the result is laid out loosely at the end.

use std::sync::Arc;

use selkie_types::{SqlResult, Value, sql_err};

use super::path::{Position, Step};
use super::read::matches;
use super::scan::{self, Json, Kind, Node};
use super::{Ctx, EvalResult, Source, collation_of, first, loose, parse, parse_path, text_args};
use crate::bind::{BindCtx, attr, collation};
use crate::func::{Build, Call};
use crate::ir::Expr;

pub(super) fn bind(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    if args.len().is_multiple_of(2) {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    }
    let sources: Vec<Source> = args.iter().map(Source::of).collect();
    let char_len = |i: usize| attr::expr_char_len(&args[i]) as u64;
    let pairs = args.len() / 2;
    let added = if name.starts_with("json_array") {
        (1..=pairs).map(|k| char_len(2 * k) + 4).sum::<u64>()
    } else {
        // MariaDB looks at the arguments of half the index here.
        (0..pairs).map(|k| char_len(k) + 6 + char_len(k + 1) + 4).sum::<u64>()
    };
    let len = char_len(0) + added;
    let args: Vec<Expr> = args
        .into_iter()
        .enumerate()
        .map(|(i, e)| if i == 0 || i % 2 == 1 { collation::to_text(cx, e) } else { e })
        .collect();
    let c = collation_of(cx, args.first());
    Build::new(name, edit, args, attr::text(len, c)).nullable(true).data(Arc::new(sources)).ok()
}

/// Replaces a range of the text.
fn splice(text: &[u8], range: Node, with: &[u8]) -> Vec<u8> {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// The text with a member or an element put at the end of a container.
fn push_child(j: &Json<'_>, n: &Node, child: &[u8]) -> Vec<u8> {
    let at = n.end - 1;
    let comma: &[u8] = if j.children(n).is_empty() { b"" } else { b"," };
    splice(j.text, at..at, &[comma, child].concat())
}

/// SET, INSERT and REPLACE at one path; `None` where nothing is to be done.
fn put(j: &Json<'_>, root: &Node, steps: &[Step], value: &[u8], insert: bool, replace: bool) -> Option<Vec<u8>> {
    if let Some(n) = matches(j, root, steps).into_iter().next() {
        return replace.then(|| splice(j.text, n, value));
    }
    if !insert {
        return None;
    }
    let (last, head) = steps.split_last()?;
    let parent = matches(j, root, head).into_iter().next()?;
    match (last, j.kind(&parent)) {
        (Step::Key(k), Kind::Object) => {
            let mut member = Vec::new();
            scan::quote(k, &mut member);
            member.push(b':');
            member.extend_from_slice(value);
            Some(push_child(j, &parent, &member))
        }
        (Step::Index(Position::First(_)), Kind::Array) => Some(push_child(j, &parent, value)),
        (Step::Index(Position::Last(_)), Kind::Array) => {
            let at = parent.start + 1;
            let comma: &[u8] = if j.children(&parent).is_empty() { b"" } else { b"," };
            Some(splice(j.text, at..at, &[value, comma].concat()))
        }
        (Step::Index(_), _) => {
            let wrapped = [b"[", j.bytes(&parent), b",", value, b"]"].concat();
            Some(splice(j.text, parent, &wrapped))
        }
        _ => None,
    }
}

/// ARRAY_APPEND: to the array at the path, or to an array made of what is there.
fn append(j: &Json<'_>, root: &Node, steps: &[Step], value: &[u8]) -> Option<Vec<u8>> {
    let n = matches(j, root, steps).into_iter().next()?;
    Some(if j.kind(&n) == Kind::Array {
        push_child(j, &n, value)
    } else {
        let wrapped = [b"[", j.bytes(&n), b",", value, b"]"].concat();
        splice(j.text, n, &wrapped)
    })
}

/// ARRAY_INSERT: before the element at the path.
fn insert(j: &Json<'_>, root: &Node, steps: &[Step], value: &[u8]) -> Option<Vec<u8>> {
    let (last, head) = steps.split_last()?;
    let Step::Index(position) = last else { return None };
    let parent = matches(j, root, head).into_iter().next()?;
    if j.kind(&parent) != Kind::Array {
        return None;
    }
    let all = j.elements(&parent);
    let at = match position {
        Position::First(n) => *n,
        Position::Last(n) => all.len().saturating_sub(*n),
    };
    Some(match all.get(at) {
        Some(e) => splice(j.text, e.start..e.start, &[value, b","].concat()),
        None => push_child(j, &parent, value),
    })
}

fn edit(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let mut text = text.to_vec();
    let Some(sources) = call.data.as_ref().and_then(|d| d.downcast_ref::<Vec<Source>>()) else {
        return Ok(Value::Null);
    };
    for i in (1..args.len()).step_by(2) {
        let path = args[i].eval(row, ctx)?;
        if path.is_null() {
            return Ok(Value::Null);
        }
        let Some(path) = parse_path(&path, i + 1, call.name, false, ctx) else { return Ok(Value::Null) };
        let v = args[i + 1].eval(row, ctx)?;
        let mut value = Vec::new();
        sources[i + 1].append(&v, &mut value);
        let Some((j, root)) = parse(&text, 1, call.name, ctx) else { return Ok(Value::Null) };
        if call.name == "json_array_insert" && !matches!(path.steps.last(), Some(Step::Index(_))) {
            return Ok(Value::Null);
        }
        let changed = match call.name {
            "json_set" => put(&j, &root, &path.steps, &value, true, true),
            "json_insert" => put(&j, &root, &path.steps, &value, true, false),
            "json_replace" => put(&j, &root, &path.steps, &value, false, true),
            "json_array_append" => match append(&j, &root, &path.steps, &value) {
                None => return Ok(Value::Null),
                some => some,
            },
            _ => insert(&j, &root, &path.steps, &value),
        };
        if let Some(t) = changed {
            text = t;
        }
    }
    Ok(loose(&text, ctx, call.name))
}

pub(super) fn bind_remove(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = attr::expr_char_len(&args[0]) as u64;
    let args = text_args(cx, args);
    let c = collation_of(cx, args.first());
    Build::new(name, remove, args, attr::text(len, c)).nullable(true).ok()
}

fn remove(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> EvalResult {
    let mut keep = Value::Null;
    let Some(text) = first(args, row, ctx, &mut keep)? else { return Ok(Value::Null) };
    let mut text = text.to_vec();
    for (i, a) in args.iter().enumerate().skip(1) {
        let path = a.eval(row, ctx)?;
        if path.is_null() {
            return Ok(Value::Null);
        }
        let Some(p) = parse_path(&path, i + 1, call.name, false, ctx) else { return Ok(Value::Null) };
        if p.steps.is_empty() {
            ctx.diag().warn(sql_err!(ER_JSON_PATH_EMPTY, i + 1, call.name));
            return Ok(Value::Null);
        }
        let Some((j, root)) = parse(&text, 1, call.name, ctx) else { return Ok(Value::Null) };
        let Some((_, head)) = p.steps.split_last() else { continue };
        let Some(n) = p.first(&j, &root) else { continue };
        let Some(parent) = matches(&j, &root, head).into_iter().next() else { continue };
        let children = j.children(&parent);
        let Some(at) = children.iter().position(|(_, v)| *v == n) else { continue };
        let start = |k: usize| children[k].0.as_ref().map_or(children[k].1.start, |key| key.start);
        // With the comma after it, or the one before it if it is the last.
        let range = if at + 1 < children.len() {
            start(at)..start(at + 1)
        } else if at > 0 {
            children[at - 1].1.end..children[at].1.end
        } else {
            start(at)..children[at].1.end
        };
        text = splice(j.text, range, b"");
    }
    Ok(loose(&text, ctx, call.name))
}
