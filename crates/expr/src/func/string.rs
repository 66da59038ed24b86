//! String functions that cut, join and search. Positions count characters, for binary texts bytes.

use selkie_types::{Collation, SqlResult, SqlType, Value, sql_err};

use super::args::{self, arg, bytes};
use super::{Build, Call, Def, EvalFn, MANY, def};
use crate::bind::{BindCtx, TrimSide, attr, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr, ExprKind};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("concat", 1, MANY, bind_concat),
    def("concat_ws", 2, MANY, bind_concat_ws),
    def("upper", 1, 1, |cx, _, a| same_length(cx, "ucase", upper, a)),
    def("ucase", 1, 1, |cx, n, a| same_length(cx, n, upper, a)),
    def("lower", 1, 1, |cx, _, a| same_length(cx, "lcase", lower, a)),
    def("lcase", 1, 1, |cx, n, a| same_length(cx, n, lower, a)),
    def("reverse", 1, 1, |cx, n, a| same_length(cx, n, reverse, a)),
    def("ltrim", 1, 1, |cx, _, a| trim_only(cx, TrimSide::Leading, a)),
    def("rtrim", 1, 1, |cx, _, a| trim_only(cx, TrimSide::Trailing, a)),
    def("trim", 1, 1, |cx, _, a| trim_only(cx, TrimSide::Both, a)),
    def("left", 2, 2, bind_left),
    def("right", 2, 2, bind_left),
    def("substring", 2, 3, bind_substr),
    def("substr", 2, 3, bind_substr),
    def("mid", 3, 3, bind_substr),
    def("substring_index", 3, 3, bind_substring_index),
    def("length", 1, 1, |cx, _, a| counted(cx, "octet_length", octet_length, a, attr::int4(10))),
    def("octet_length", 1, 1, |cx, n, a| counted(cx, n, octet_length, a, attr::int4(10))),
    def("lengthb", 1, 1, |cx, _, a| counted(cx, "octet_length", octet_length, a, attr::int4(10))),
    def("bit_length", 1, 1, |cx, n, a| counted(cx, n, bit_length, a, attr::bigint(11, false))),
    def("char_length", 1, 1, |cx, n, a| counted(cx, n, char_length, a, attr::int4(10))),
    def("character_length", 1, 1, |cx, _, a| counted(cx, "char_length", char_length, a, attr::int4(10))),
    def("ascii", 1, 1, |cx, n, a| counted(cx, n, ascii, a, attr::int4(3))),
    def("ord", 1, 1, |cx, n, a| counted(cx, n, ord, a, attr::int4(7))),
    def("instr", 2, 2, |cx, _, a| bind_locate(cx, "locate", a)),
    def("locate", 2, 3, |cx, n, mut a| {
        a.swap(0, 1);
        bind_locate(cx, n, a)
    }),
    def("position", 2, 2, |cx, _, mut a| {
        a.swap(0, 1);
        bind_locate(cx, "locate", a)
    }),
    def("replace", 3, 3, bind_replace),
    def("insert", 4, 4, bind_insert),
    def("repeat", 2, 2, bind_repeat),
    def("space", 1, 1, bind_space),
    def("lpad", 2, 3, bind_pad),
    def("rpad", 2, 3, bind_pad),
    def("strcmp", 2, 2, bind_strcmp),
    def("field", 2, MANY, bind_field),
    def("elt", 2, MANY, bind_elt),
    def("find_in_set", 2, 2, bind_find_in_set),
    def("make_set", 2, MANY, bind_make_set),
    def("export_set", 3, 5, bind_export_set),
    def("soundex", 1, 1, bind_soundex),
    def("quote", 1, 1, bind_quote),
    def("natural_sort_key", 1, 1, bind_natural_sort_key),
];

/// Arguments brought to one collation; the collation and its strength.
pub(super) fn texts(
    cx: &BindCtx,
    name: &str,
    args: Vec<Expr>,
    which: impl Fn(usize) -> bool,
    comparison: bool,
) -> SqlResult<(Vec<Expr>, Collation, Coercibility)> {
    let operands: Vec<&Expr> = args.iter().enumerate().filter(|(i, _)| which(*i)).map(|(_, e)| e).collect();
    let d = if comparison {
        collation::for_comparison(cx, name, &operands)?
    } else {
        collation::for_result(cx, name, &operands)?
    };
    let args = args
        .into_iter()
        .enumerate()
        .map(|(i, e)| if which(i) { collation::convert(cx, e, d.collation) } else { e })
        .collect();
    Ok((args, d.collation, d.strength))
}

fn len_of(e: &Expr) -> u64 {
    attr::expr_char_len(e) as u64
}

fn result(name: &'static str, eval: EvalFn, args: Vec<Expr>, len: u64, c: Collation, s: Coercibility) -> Build {
    Build::new(name, eval, args, attr::text(len, c)).strength(s)
}

/// NULL with warning 1301 where a result would be longer than max_allowed_packet.
pub(super) fn too_long(len: u64, name: &str, ctx: Ctx<'_>) -> bool {
    let max = ctx.settings().max_allowed_packet;
    if len <= max as u64 {
        return false;
    }
    ctx.diag().warn(sql_err!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, name, max));
    true
}

/// How many positions a text has. A text held in UTF-8 counts characters even if its set has one byte each.
pub(super) fn count(b: &[u8], c: Collation) -> usize {
    if c.is_binary() { b.len() } else { b.iter().filter(|x| (**x as i8) >= -64).count() }
}

/// Byte offset of a position (0-based), at most the length.
pub(super) fn offset(b: &[u8], c: Collation, position: usize) -> usize {
    if c.is_binary() || b.is_ascii() {
        return position.min(b.len());
    }
    let mut seen = 0;
    for (i, x) in b.iter().enumerate() {
        if (*x as i8) >= -64 {
            if seen == position {
                return i;
            }
            seen += 1;
        }
    }
    b.len()
}

fn bind_concat(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = args.iter().map(len_of).sum();
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, concat, args, len, c, s).ok()
}

fn concat(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let first = arg!(args, 0, row, ctx);
    if args.len() == 1 {
        return Ok(first);
    }
    let mut out = bytes(&first).to_vec();
    for a in &args[1..] {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            return Ok(v);
        }
        out.extend_from_slice(bytes(&v));
        if out.len() > ctx.settings().max_allowed_packet && too_long(out.len() as u64, call.name, ctx) {
            return Ok(Value::Null);
        }
    }
    Ok(args::owned(out))
}

fn bind_concat_ws(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = args.iter().skip(1).map(len_of).sum::<u64>() + len_of(&args[0]) * (args.len() as u64 - 2);
    let nullable = args[0].nullable;
    let n = args.len();
    let nullable = if n > 1 { nullable || args.iter().any(|a| a.nullable) } else { nullable };
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, concat_ws, args, len, c, s).nullable(nullable).ok()
}

fn concat_ws(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let separator = arg!(args, 0, row, ctx);
    let mut out = Vec::new();
    let mut any = false;
    for a in &args[1..] {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            continue;
        }
        if any {
            out.extend_from_slice(bytes(&separator));
        }
        any = true;
        out.extend_from_slice(bytes(&v));
    }
    if too_long(out.len() as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(out))
}

/// A function of one text whose result is no longer than it.
fn same_length(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = len_of(&args[0]);
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, eval, args, len, c, s).ok()
}

fn upper(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(if call.collation.is_binary() { v } else { args::owned(call.collation.upper(bytes(&v))) })
}

fn lower(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(if call.collation.is_binary() { v } else { args::owned(call.collation.lower(bytes(&v))) })
}

fn reverse(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    if call.collation.is_binary() || b.is_ascii() {
        return Ok(args::owned(b.iter().rev().copied().collect()));
    }
    Ok(args::owned(args::str_of(b).chars().rev().collect::<String>().into_bytes()))
}

/// TRIM
pub(crate) fn bind_trim(cx: &BindCtx, side: TrimSide, what: Option<Expr>, e: Expr) -> SqlResult<Expr> {
    let len = len_of(&e);
    let name = match side {
        TrimSide::Both => "trim",
        TrimSide::Leading => "ltrim",
        TrimSide::Trailing => "rtrim",
    };
    let mut args: Vec<Expr> = what.into_iter().collect();
    args.push(e);
    let (mut args, c, s) = texts(cx, name, args, |_| true, true)?;
    args.reverse();
    let mode = match side {
        TrimSide::Both => 3,
        TrimSide::Leading => 1,
        TrimSide::Trailing => 2,
    };
    result(name, trim, args, len, c, s).mode(mode).ok()
}

fn trim_only(cx: &BindCtx, side: TrimSide, args: Vec<Expr>) -> SqlResult<Expr> {
    match args.into_iter().next() {
        Some(e) => {
            let nullable = e.nullable;
            let mut e = bind_trim(cx, side, None, e)?;
            e.nullable = nullable;
            Ok(e)
        }
        None => Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "trim")),
    }
}

fn trim(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let what = match args.get(1) {
        Some(w) => match w.eval(row, ctx)? {
            Value::Null => return Ok(Value::Null),
            w => w,
        },
        None => Value::bytes(b" "),
    };
    let what = bytes(&what);
    let mut b = bytes(&v);
    if what.is_empty() {
        return Ok(v);
    }
    if call.mode & 1 != 0 {
        while let Some(rest) = b.strip_prefix(what) {
            b = rest;
        }
    }
    if call.mode & 2 != 0 {
        while let Some(rest) = b.strip_suffix(what) {
            b = rest;
        }
    }
    Ok(Value::bytes(b))
}

/// A constant count, where the argument is a literal.
pub(super) fn const_count(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Const(v) if !v.is_null() => Some(args::saturating_int(v)),
        _ => None,
    }
}

fn bind_left(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let full = len_of(&args[0]);
    let len = const_count(&args[1]).map_or(full, |n| full.min(n.max(0) as u64));
    let (mut args, c, s) = texts(cx, name, args, |i| i == 0, false)?;
    if let Some(n) = args.pop() {
        args.push(args::to_int(n));
    }
    result(name, left_right, args, len, c, s).mode((name == "right") as i64).ok()
}

fn left_right(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let n = args::wide(&arg!(args, 1, row, ctx)).clamp(0, i64::MAX as i128) as usize;
    let b = bytes(&v);
    if n >= b.len() {
        return Ok(v);
    }
    if call.mode == 0 {
        return Ok(Value::bytes(&b[..offset(b, call.collation, n)]));
    }
    let total = count(b, call.collation);
    Ok(Value::bytes(&b[offset(b, call.collation, total.saturating_sub(n))..]))
}

fn bind_substr(cx: &BindCtx, _: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let full = len_of(&args[0]);
    let bytes_per_char = args[0].ty.collation().map_or(1, |c| c.charset().max_len()) as u64;
    let mut len = full;
    if let Some(start) = const_count(&args[1]) {
        // Measured in bytes less the positions skipped, as MariaDB counts it.
        let total = full * bytes_per_char;
        len = match start {
            0 => 0,
            s if s > 0 => total.saturating_sub(s as u64 - 1),
            s => total.min(s.unsigned_abs()),
        };
    }
    if let Some(n) = args.get(2).and_then(const_count) {
        len = len.min(n.max(0) as u64);
    }
    let len = len.min(full * bytes_per_char);
    let (args, c, s) = texts(cx, "substr", args, |i| i == 0, false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 0 { a } else { args::to_int(a) }).collect();
    result("substr", substr, args, len, c, s).ok()
}

fn substr(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let start = args::wide(&arg!(args, 1, row, ctx));
    let n = match args.get(2) {
        Some(n) => match n.eval(row, ctx)? {
            Value::Null => return Ok(Value::Null),
            n => args::wide(&n),
        },
        None => i128::MAX,
    };
    let b = bytes(&v);
    let c = call.collation;
    let total = count(b, c) as i128;
    let first = if start > 0 { start - 1 } else { total + start };
    if start == 0 || n <= 0 || first < 0 || first >= total {
        return Ok(Value::bytes(b""));
    }
    let end = first.saturating_add(n).min(total);
    let from = offset(b, c, first as usize);
    let to = from + offset(&b[from..], c, (end - first) as usize);
    Ok(Value::bytes(&b[from..to]))
}

fn bind_substring_index(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = len_of(&args[0]);
    let (mut args, c, s) = texts(cx, name, args, |i| i < 2, true)?;
    if let Some(n) = args.pop() {
        args.push(args::to_int(n));
    }
    result(name, substring_index, args, len, c, s).ok()
}

fn substring_index(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let d = arg!(args, 1, row, ctx);
    let n = args::wide(&arg!(args, 2, row, ctx));
    let (b, d) = (bytes(&v), bytes(&d));
    if n == 0 || b.is_empty() || d.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let finder = memchr::memmem::Finder::new(d);
    if n > 0 {
        let nth = usize::try_from(n - 1).unwrap_or(usize::MAX);
        return Ok(match finder.find_iter(b).nth(nth) {
            Some(at) => Value::bytes(&b[..at]),
            None => v,
        });
    }
    let mut end = b.len();
    let mut left = n.unsigned_abs();
    while let Some(at) = memchr::memmem::rfind(&b[..end], d) {
        left -= 1;
        if left == 0 {
            return Ok(Value::bytes(&b[at + d.len()..]));
        }
        end = at;
    }
    Ok(v)
}

/// A number made from one text; the text keeps its own collation.
fn counted(cx: &BindCtx, name: &'static str, eval: EvalFn, args: Vec<Expr>, ty: SqlType) -> SqlResult<Expr> {
    let args: Vec<Expr> = args.into_iter().map(|e| collation::to_text(cx, e)).collect();
    let c = args.first().and_then(|e| e.ty.collation()).unwrap_or(Collation::BINARY);
    Build::new(name, eval, args, ty).collation(c).ok()
}

fn octet_length(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::Int(byte_len(bytes(&v), call.collation) as i64))
}

/// Length of a text in its own character set.
pub(super) fn byte_len(b: &[u8], c: Collation) -> usize {
    if c.is_binary() || b.is_ascii() { b.len() } else { c.charset().byte_len(b) }
}

fn bit_length(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::Int(byte_len(bytes(&v), call.collation) as i64 * 8))
}

fn char_length(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::Int(count(bytes(&v), call.collation) as i64))
}

fn encoded(b: &[u8], c: Collation) -> std::borrow::Cow<'_, [u8]> {
    if c.is_binary() { b.into() } else { c.charset().encode(b).0 }
}

fn ascii(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(Value::Int(encoded(bytes(&v), call.collation).first().copied().unwrap_or(0) as i64))
}

fn ord(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    let end = offset(b, call.collation, 1);
    Ok(Value::Int(encoded(&b[..end], call.collation).iter().fold(0, |n, x| n << 8 | *x as i64)))
}

/// The text searched comes first.
fn bind_locate(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (args, c, _) = texts(cx, name, args, |i| i < 2, true)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i < 2 { a } else { args::to_int(a) }).collect();
    Build::new(name, locate, args, attr::int(selkie_types::IntWidth::Int, 11, false)).collation(c).ok()
}

/// First place (character position, 0-based) of `needle` in `b` from a byte offset on, by the collation.
fn find(b: &[u8], needle: &[u8], from: usize, c: Collation) -> Option<usize> {
    if needle.is_empty() {
        return Some(from);
    }
    if c.is_bin() {
        return memchr::memmem::find(&b[from..], needle).map(|i| i + from);
    }
    let text = args::str_of(&b[from..]);
    let want = count(needle, c);
    let starts: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
    starts
        .windows(1)
        .enumerate()
        .take_while(|(k, _)| k + want < starts.len())
        .find(|(k, w)| c.equal(&b[from + w[0]..from + starts[k + want]], needle))
        .map(|(_, w)| from + w[0])
}

fn locate(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let hay = arg!(args, 0, row, ctx);
    let needle = arg!(args, 1, row, ctx);
    let b = bytes(&hay);
    let c = call.collation;
    let mut from = 0;
    if let Some(p) = args.get(2) {
        let p = match p.eval(row, ctx)? {
            Value::Null => return Ok(Value::Null),
            p => args::wide(&p),
        };
        if p < 1 || p > count(b, c) as i128 {
            return Ok(Value::Int(0));
        }
        from = offset(b, c, (p - 1) as usize);
    }
    Ok(Value::Int(find(b, bytes(&needle), from, c).map_or(0, |at| count(&b[..at], c) as i64 + 1)))
}

fn bind_replace(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let full = len_of(&args[0]);
    let (search, with) = (len_of(&args[1]), len_of(&args[2]));
    let len = if matches!(args[1].kind, ExprKind::Const(_)) {
        if with > search && search > 0 { full / search * with + full % search } else { full }
    } else {
        full * with.max(1)
    };
    let (args, c, s) = texts(cx, name, args, |_| true, true)?;
    result(name, replace, args, len, c, s).ok()
}

fn replace(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let from = arg!(args, 1, row, ctx);
    let to = arg!(args, 2, row, ctx);
    let (b, from, to) = (bytes(&v), bytes(&from), bytes(&to));
    if from.is_empty() {
        return Ok(v);
    }
    let mut out = Vec::with_capacity(b.len());
    let mut at = 0;
    for i in memchr::memmem::find_iter(b, from) {
        out.extend_from_slice(&b[at..i]);
        out.extend_from_slice(to);
        at = i + from.len();
        if out.len() > ctx.settings().max_allowed_packet {
            break;
        }
    }
    if too_long(out.len() as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    if at == 0 {
        return Ok(v);
    }
    out.extend_from_slice(&b[at..]);
    Ok(args::owned(out))
}

fn bind_insert(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = len_of(&args[0]) + len_of(&args[3]);
    let (args, c, s) = texts(cx, name, args, |i| i == 0 || i == 3, false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 1 || i == 2 { args::to_int(a) } else { a }).collect();
    result(name, insert, args, len, c, s).ok()
}

fn insert(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let start = args::wide(&arg!(args, 1, row, ctx));
    let n = args::wide(&arg!(args, 2, row, ctx));
    let new = arg!(args, 3, row, ctx);
    let b = bytes(&v);
    let c = call.collation;
    let total = count(b, c) as i128;
    if start < 1 || start > total {
        return Ok(v);
    }
    let n = if n < 0 || n > total - (start - 1) { total - (start - 1) } else { n };
    let from = offset(b, c, (start - 1) as usize);
    let to = from + offset(&b[from..], c, n as usize);
    let out = [&b[..from], bytes(&new), &b[to..]].concat();
    if too_long(out.len() as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(out))
}

fn bind_repeat(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = match const_count(&args[1]) {
        Some(n) => len_of(&args[0]).saturating_mul(n.clamp(0, i32::MAX as i64) as u64),
        None => u32::MAX as u64,
    };
    let nullable = args.iter().any(|a| a.nullable) || len > cx.max_allowed_packet as u64;
    let (mut args, c, s) = texts(cx, name, args, |i| i == 0, false)?;
    if let Some(n) = args.pop() {
        args.push(args::to_int(n));
    }
    result(name, repeat, args, len, c, s).nullable(nullable).ok()
}

fn repeat(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let n = args::wide(&arg!(args, 1, row, ctx));
    let b = bytes(&v);
    if n <= 0 || b.is_empty() {
        return Ok(Value::bytes(b""));
    }
    let n = n.min(i32::MAX as i128) as usize;
    if too_long(b.len() as u64 * n as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(b.repeat(n)))
}

fn bind_space(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = const_count(&args[0]).map_or(u32::MAX as u64, |n| n.max(0) as u64);
    let args = args.into_iter().map(args::to_int).collect();
    result(name, space, args, len, cx.collation_connection, Coercibility::Literal).ok()
}

fn space(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::wide(&arg!(args, 0, row, ctx)).clamp(0, i64::MAX as i128);
    if too_long(n as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(vec![b' '; n as usize]))
}

fn bind_pad(cx: &BindCtx, name: &'static str, mut args: Vec<Expr>) -> SqlResult<Expr> {
    if args.len() == 2 {
        args.push(crate::bind::literal_text(cx, " ", None));
    }
    let wanted = const_count(&args[1]);
    let len = wanted.map_or(u32::MAX as u64, |n| n.max(0) as u64);
    let fills = matches!(&args[2].kind, ExprKind::Const(Value::Bytes(b)) if !b.is_empty());
    let nullable = !fills || wanted.is_none_or(|n| n < 0) || args.iter().any(|a| a.nullable);
    let (args, c, s) = texts(cx, name, args, |i| i != 1, false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 1 { args::to_int(a) } else { a }).collect();
    result(name, pad, args, len, c, s).mode((name == "lpad") as i64).nullable(nullable).ok()
}

fn pad(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let want = args::wide(&arg!(args, 1, row, ctx));
    let fill = arg!(args, 2, row, ctx);
    let (b, fill, c) = (bytes(&v), bytes(&fill), call.collation);
    if want < 0 {
        return Ok(Value::Null);
    }
    let have = count(b, c) as i128;
    if want <= have {
        return Ok(Value::bytes(&b[..offset(b, c, want as usize)]));
    }
    let per = count(fill, c) as i128;
    if per == 0 {
        return Ok(Value::Null);
    }
    let missing = want - have;
    let whole = missing / per;
    let bytes_wanted = whole.saturating_mul(fill.len() as i128).min(u64::MAX as i128) as u64 + b.len() as u64;
    if too_long(bytes_wanted, call.name, ctx) {
        return Ok(Value::Null);
    }
    let mut filler = fill.repeat(whole as usize);
    filler.extend_from_slice(&fill[..offset(fill, c, (missing % per) as usize)]);
    Ok(args::owned(if call.mode == 1 { [&filler, b].concat() } else { [b, &filler].concat() }))
}

fn bind_strcmp(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (args, c, _) = texts(cx, name, args, |_| true, true)?;
    Build::new(name, strcmp, args, attr::int4(2)).collation(c).ok()
}

fn strcmp(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let a = arg!(args, 0, row, ctx);
    let b = arg!(args, 1, row, ctx);
    Ok(Value::Int(call.collation.compare(bytes(&a), bytes(&b)) as i64))
}

fn bind_field(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    use attr::Family;
    let families: Vec<Family> = args.iter().map(|a| attr::family(&a.ty)).collect();
    let ty = attr::int4(3);
    if families.iter().all(|f| *f == Family::Text) {
        let (args, c, _) = texts(cx, name, args, |_| true, true)?;
        return Build::new(name, field, args, ty).collation(c).nullable(false).ok();
    }
    let args = if families.iter().all(|f| *f == Family::Int) {
        args.into_iter().map(args::to_int).collect()
    } else if families.iter().all(|f| matches!(f, Family::Int | Family::Decimal)) {
        args.into_iter().map(args::to_decimal).collect()
    } else {
        args.into_iter().map(args::to_double).collect()
    };
    Build::new(name, field, args, ty).nullable(false).ok()
}

fn field(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let by = crate::eval::ValueCompare::new(Some(call.collation));
    let v = args[0].eval(row, ctx)?;
    if v.is_null() {
        return Ok(Value::Int(0));
    }
    for (i, a) in args.iter().enumerate().skip(1) {
        let w = a.eval(row, ctx)?;
        if !w.is_null() && by.equal(&v, &w) {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}

fn bind_elt(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = args.iter().skip(1).map(len_of).max().unwrap_or(0);
    let (args, c, s) = texts(cx, name, args, |i| i > 0, false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 0 { args::to_int(a) } else { a }).collect();
    result(name, elt, args, len, c, s).nullable(true).ok()
}

fn elt(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::wide(&arg!(args, 0, row, ctx));
    if n < 1 || n >= args.len() as i128 {
        return Ok(Value::Null);
    }
    args[n as usize].eval(row, ctx)
}

fn bind_find_in_set(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let (args, c, _) = texts(cx, name, args, |_| true, true)?;
    Build::new(name, find_in_set, args, attr::int4(3)).collation(c).ok()
}

fn find_in_set(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let needle = arg!(args, 0, row, ctx);
    let set = arg!(args, 1, row, ctx);
    let (needle, set) = (bytes(&needle), bytes(&set));
    if set.is_empty() || needle.contains(&b',') {
        return Ok(Value::Int(0));
    }
    let at = set.split(|c| *c == b',').position(|m| call.collation.equal(m, needle));
    Ok(Value::Int(at.map_or(0, |i| i as i64 + 1)))
}

fn bind_make_set(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = args.iter().skip(1).map(len_of).sum::<u64>() + args.len() as u64 - 2;
    let (args, c, s) = texts(cx, name, args, |i| i > 0, false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 0 { args::to_int(a) } else { a }).collect();
    result(name, make_set, args, len, c, s).ok()
}

fn make_set(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let bits = args::int(&arg!(args, 0, row, ctx)) as u64;
    let mut out = Vec::new();
    let mut any = false;
    for (i, a) in args[1..].iter().enumerate().take(64) {
        if bits >> i & 1 == 0 {
            continue;
        }
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            continue;
        }
        if any {
            out.push(b',');
        }
        any = true;
        out.extend_from_slice(bytes(&v));
    }
    Ok(args::owned(out))
}

fn bind_export_set(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let each = len_of(&args[1]).max(len_of(&args[2]));
    let separator = args.get(3).map_or(1, len_of);
    let len = each * 64 + separator * 63;
    let (args, c, s) = texts(cx, name, args, |i| (1..=3).contains(&i), false)?;
    let args = args.into_iter().enumerate().map(|(i, a)| if i == 0 || i == 4 { args::to_int(a) } else { a }).collect();
    result(name, export_set, args, len, c, s).ok()
}

fn export_set(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let bits = args::int(&arg!(args, 0, row, ctx)) as u64;
    let on = arg!(args, 1, row, ctx);
    let off = arg!(args, 2, row, ctx);
    let separator = if args.len() > 3 { arg!(args, 3, row, ctx) } else { Value::bytes(b",") };
    let mut n = 64;
    if args.len() > 4 {
        let wanted = args::wide(&arg!(args, 4, row, ctx));
        n = if (0..=64).contains(&wanted) { wanted as usize } else { 64 };
    }
    let mut out = Vec::new();
    for i in 0..n {
        if i > 0 {
            out.extend_from_slice(bytes(&separator));
        }
        out.extend_from_slice(bytes(if bits >> i & 1 == 1 { &on } else { &off }));
    }
    if too_long(out.len() as u64, call.name, ctx) {
        return Ok(Value::Null);
    }
    Ok(args::owned(out))
}

fn bind_soundex(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = len_of(&args[0]).max(4);
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, soundex, args, len, c, s).ok()
}

fn soundex_code(c: char) -> Option<u8> {
    match c.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => Some(b'1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some(b'2'),
        'D' | 'T' => Some(b'3'),
        'L' => Some(b'4'),
        'M' | 'N' => Some(b'5'),
        'R' => Some(b'6'),
        _ => None,
    }
}

fn soundex(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let mut letters = args::str_of(bytes(&v)).chars().filter(|c| c.is_alphabetic());
    let Some(first) = letters.next() else { return Ok(Value::bytes(b"")) };
    let mut out: String = first.to_uppercase().collect();
    let mut last = soundex_code(first);
    for c in letters {
        match c.to_ascii_uppercase() {
            // These do not part equal codes.
            'H' | 'W' => continue,
            _ => {}
        }
        let code = soundex_code(c);
        match code {
            Some(d) if code != last => out.push(d as char),
            _ => {}
        }
        if code.is_some() {
            last = code;
        }
    }
    while out.chars().count() < 4 {
        out.push('0');
    }
    Ok(Value::text(&out))
}

fn bind_quote(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = len_of(&args[0]) * 2 + 2;
    let len = if args[0].nullable { len.max(4) } else { len };
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, quote, args, len, c, s).ok()
}

fn quote(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = match args[0].eval(row, ctx)? {
        Value::Null => return Ok(Value::bytes(b"NULL")),
        v => v,
    };
    let b = bytes(&v);
    let mut out = Vec::with_capacity(b.len() + 2);
    out.push(b'\'');
    for c in b {
        match c {
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *c]),
            0 => out.extend_from_slice(b"\\0"),
            0x1A => out.extend_from_slice(b"\\Z"),
            c => out.push(*c),
        }
    }
    out.push(b'\'');
    Ok(args::owned(out))
}

fn bind_natural_sort_key(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = (len_of(&args[0]) * 3).div_ceil(2);
    let (args, c, s) = texts(cx, name, args, |_| true, false)?;
    result(name, natural_sort_key, args, len, c, s).ok()
}

/// Numbers in a text get their length before them, so that they sort by value.
fn natural_sort_key(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    let mut out = Vec::with_capacity(b.len() + 8);
    let mut rest = b;
    while let Some(first) = rest.first() {
        if !first.is_ascii_digit() {
            out.push(*first);
            rest = &rest[1..];
            continue;
        }
        let end = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (run, tail) = rest.split_at(end);
        let zeros = run.iter().take_while(|c| **c == b'0').count().min(run.len() - 1);
        let digits = &run[zeros..];
        // One digit for lengths up to 9, a 9 and the next one for more.
        let mut n = digits.len() - 1;
        while n >= 9 {
            out.push(b'9');
            n -= 9;
        }
        out.push(b'0' + n as u8);
        out.extend_from_slice(digits);
        rest = tail;
    }
    Ok(args::owned(out))
}
