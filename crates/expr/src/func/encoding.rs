//! Texts and numbers in other notations: hex, base64, number bases, FORMAT, character codes, network addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine;
use selkie_types::IntWidth;
use selkie_types::{Charset, Collation, SqlError, SqlResult, SqlType, Value, convert, sql_err};

use super::args::{self, arg, bytes};
use super::string::const_count;
use super::{Build, Call, Def, MANY, def};
use crate::bind::attr::{self, Family};
use crate::bind::{BindCtx, collation};
use crate::context::EvalContext;
use crate::ir::{Coercibility, Expr};

type Ctx<'a> = &'a mut dyn EvalContext;

pub(super) const FUNCTIONS: &[Def] = &[
    def("hex", 1, 1, bind_hex),
    def("unhex", 1, 1, bind_unhex),
    def("to_base64", 1, 1, bind_to_base64),
    def("from_base64", 1, 1, bind_from_base64),
    def("conv", 3, 3, |cx, n, a| bind_conv(cx, n, a, None)),
    def("bin", 1, 1, |cx, n, a| bind_conv(cx, n, a, Some(2))),
    def("oct", 1, 1, |cx, n, a| bind_conv(cx, n, a, Some(8))),
    def("format", 2, 3, bind_format),
    def("char", 1, MANY, |cx, _, a| bind_char(cx, a, None)),
    def("chr", 1, 1, |cx, _, a| bind_char(cx, a, Some(cx.collation_connection.charset()))),
    def("weight_string", 1, 1, |cx, _, mut a| match a.pop() {
        Some(e) => bind_weight_string(cx, e, None, false),
        None => Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "weight_string")),
    }),
    def("inet_aton", 1, 1, |cx, n, a| {
        Build::new(n, inet_aton, to_texts(cx, a), attr::bigint(21, true)).nullable(true).ok()
    }),
    def("inet_ntoa", 1, 1, |cx, n, a| {
        let ty = attr::text(31, cx.collation_connection);
        Build::new(n, inet_ntoa, a.into_iter().map(args::to_int).collect(), ty).nullable(true).ok()
    }),
    def("inet6_aton", 1, 1, |cx, n, a| {
        Build::new(n, inet6_aton, to_texts(cx, a), attr::text(16, Collation::BINARY)).nullable(true).ok()
    }),
    def("inet6_ntoa", 1, 1, |cx, n, a| {
        Build::new(n, inet6_ntoa, to_texts(cx, a), attr::text(39, cx.collation_connection)).nullable(true).ok()
    }),
    def("is_ipv4", 1, 1, |cx, n, a| is_address(cx, n, a, |b| parse_ipv4(b).is_some())),
    def("is_ipv6", 1, 1, |cx, n, a| is_address(cx, n, a, |b| args::str_of(b).parse::<Ipv6Addr>().is_ok())),
    def("is_ipv4_compat", 1, 1, |cx, n, a| {
        is_address(cx, n, a, |b| b.len() == 16 && b[..12].iter().all(|x| *x == 0) && (b[12] != 0 || b[13] != 0))
    }),
    def("is_ipv4_mapped", 1, 1, |cx, n, a| {
        is_address(cx, n, a, |b| b.len() == 16 && b[..10].iter().all(|x| *x == 0) && b[10] == 255 && b[11] == 255)
    }),
];

fn to_texts(cx: &BindCtx, args: Vec<Expr>) -> Vec<Expr> {
    args.into_iter().map(|e| collation::to_text(cx, e)).collect()
}

/// A text's bytes in its own character set.
pub(super) fn raw<'a>(b: &'a [u8], e: &Expr) -> std::borrow::Cow<'a, [u8]> {
    match e.ty.collation() {
        Some(c) if c.charset() == Charset::Latin1 && !b.is_ascii() => c.charset().encode(b).0,
        _ => b.into(),
    }
}

fn connection_text(cx: &BindCtx, len: u64) -> SqlType {
    attr::text(len, cx.collation_connection)
}

fn bind_hex(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let nullable = args.iter().any(|a| a.nullable);
    let is_number = |e: &Expr| matches!(attr::family(&e.ty), Family::Int | Family::Decimal | Family::Real);
    let len = if is_number(&args[0]) { 16 } else { byte_capacity(&args[0]) * 2 };
    let args: Vec<Expr> = args.into_iter().map(|e| if is_number(&e) { e } else { collation::to_text(cx, e) }).collect();
    Build::new(name, hex, args, connection_text(cx, len)).nullable(nullable).ok()
}

fn hex(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    Ok(match arg!(args, 0, row, ctx) {
        Value::Bytes(b) => args::owned(hex::encode_upper(raw(&b, &args[0])).into_bytes()),
        Value::Double(d) => {
            let n = if d <= -9.2e18 {
                i64::MIN as u64
            } else if d >= 1.8446744073709552e19 {
                u64::MAX
            } else {
                d.round() as i128 as u64
            };
            Value::text(&format!("{n:X}"))
        }
        v => Value::text(&format!("{:X}", super::arith::pattern(&v))),
    })
}

fn bind_unhex(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = byte_capacity(&args[0]).div_ceil(2);
    Build::new(name, unhex, to_texts(cx, args), attr::text(len, Collation::BINARY)).nullable(true).ok()
}

/// The most bytes that an operand's text takes in its character set.
pub(super) fn byte_capacity(e: &Expr) -> u64 {
    let len = attr::expr_char_len(e) as u64;
    match e.ty.collation() {
        Some(c) => len * c.charset().max_len() as u64,
        None => len,
    }
}

fn unhex(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    let mut digits = Vec::with_capacity(b.len() + 1);
    if b.len() % 2 == 1 {
        digits.push(b'0');
    }
    digits.extend_from_slice(b);
    Ok(hex::decode(digits).map_or(Value::Null, args::owned))
}

fn bind_to_base64(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let n = byte_capacity(&args[0]);
    let plain = n.div_ceil(3) * 4;
    let len = plain + plain.saturating_sub(1) / 76;
    Build::new(name, to_base64, to_texts(cx, args), connection_text(cx, len)).ok()
}

fn to_base64(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let plain = base64::engine::general_purpose::STANDARD.encode(raw(bytes(&v), &args[0]));
    let lines: Vec<&[u8]> = plain.as_bytes().chunks(76).collect();
    Ok(args::owned(lines.join(&b'\n')))
}

fn bind_from_base64(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let len = byte_capacity(&args[0]) / 4 * 3;
    Build::new(name, from_base64, to_texts(cx, args), attr::text(len, Collation::BINARY)).nullable(true).ok()
}

fn from_base64(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let clean: Vec<u8> = bytes(&v).iter().copied().filter(|c| !c.is_ascii_whitespace()).collect();
    match base64::engine::general_purpose::STANDARD.decode(&clean) {
        Ok(b) => Ok(args::owned(b)),
        Err(e) => {
            use base64::DecodeError as E;
            let at = match e {
                E::InvalidByte(at, _) => at,
                _ => clean.len(),
            };
            ctx.diag().warn(SqlError::raw(1958, "HY000", format!("Bad base64 data as position {at}")));
            Ok(Value::Null)
        }
    }
}

fn bind_conv(cx: &BindCtx, _: &'static str, args: Vec<Expr>, to: Option<i64>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let Some(e) = it.next() else { return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "conv")) };
    let int = |n: i64| Expr::constant(Value::Int(n), attr::int4(2));
    let (from, to) = match to {
        Some(to) => (int(10), int(to)),
        None => match (it.next(), it.next()) {
            (Some(a), Some(b)) => (args::to_int(a), args::to_int(b)),
            _ => return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "conv")),
        },
    };
    let e = match e.ty {
        SqlType::Bit(_) => args::to_int(e),
        _ => collation::to_text(cx, e),
    };
    Build::new("conv", conv, vec![e, from, to], connection_text(cx, 65)).nullable(true).ok()
}

/// Reads an unsigned number in a base; over- and underflow as strtoull: the limit.
fn parse_base(b: &[u8], base: u32) -> (u64, bool) {
    let b = b.trim_ascii_start();
    let (negative, digits) = match b {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, b),
    };
    let mut n: u64 = 0;
    for c in digits {
        let Some(d) = (*c as char).to_digit(base) else { break };
        n = match n.checked_mul(base as u64).and_then(|n| n.checked_add(d as u64)) {
            Some(n) => n,
            None => return (u64::MAX, false),
        };
    }
    (n, negative)
}

fn write_base(mut n: u64, base: u32) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let d = (n % base as u64) as u32;
        out.push(char::from_digit(d, base).unwrap_or('0').to_ascii_uppercase() as u8);
        n /= base as u64;
        if n == 0 {
            break;
        }
    }
    out.reverse();
    out
}

fn conv(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let from = args::wide(&arg!(args, 1, row, ctx));
    let to = args::wide(&arg!(args, 2, row, ctx));
    if !(2..=36).contains(&from.abs()) || !(2..=36).contains(&to.abs()) {
        return Ok(Value::Null);
    }
    let n = match &v {
        Value::Bytes(b) => {
            if b.is_empty() {
                return Ok(Value::Null);
            }
            let (n, negative) = parse_base(b, from.unsigned_abs() as u32);
            if from < 0 {
                let n = n.min(i64::MAX as u64 + negative as u64);
                if negative { n.wrapping_neg() } else { n }
            } else if negative {
                n.wrapping_neg()
            } else {
                n
            }
        }
        v => args::int(v) as u64,
    };
    Ok(if to < 0 && (n as i64) < 0 {
        let mut out = vec![b'-'];
        out.extend(write_base(n.wrapping_neg(), to.unsigned_abs() as u32));
        args::owned(out)
    } else {
        args::owned(write_base(n, to.unsigned_abs() as u32))
    })
}

fn bind_format(cx: &BindCtx, name: &'static str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut it = args.into_iter();
    let (Some(e), Some(places)) = (it.next(), it.next()) else {
        return Err(sql_err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name));
    };
    let nullable = e.nullable || places.nullable;
    let digits = match &e.ty {
        SqlType::Int { width: IntWidth::Big, unsigned, .. } => 19 + *unsigned as u64,
        SqlType::Int { .. } => 10,
        SqlType::Bit(_) => 20,
        SqlType::Year(_) => 4,
        SqlType::Decimal { .. } => attr::int_part(&e) as u64,
        SqlType::Float { .. } => 39,
        t if t.is_temporal() => attr::int_part(&e) as u64,
        _ => 309,
    };
    let decimals = attr::decimals(&e.ty) as u64;
    let (dec, rounds) = match const_count(&places) {
        Some(n) => {
            let n = n.clamp(0, attr::MAX_SCALE as i64) as u64;
            (n, n < decimals)
        }
        None => (attr::MAX_SCALE as u64, decimals > 0),
    };
    let digits = digits + rounds as u64;
    let len = digits + digits / 3 + (dec > 0) as u64 + 1 + dec;
    let e = match attr::family(&e.ty) {
        Family::Int | Family::Decimal => args::to_decimal(e),
        _ => args::to_double(e),
    };
    let mut args = vec![e, args::to_int(places)];
    if let Some(locale) = it.next() {
        args.push(collation::to_text(cx, locale));
    }
    Build::new(name, format_number, args, connection_text(cx, len)).nullable(nullable).ok()
}

/// Thousands separator, decimal point and grouping of a locale.
fn separators(locale: &str) -> Option<(&'static str, &'static str)> {
    let l = locale.to_ascii_lowercase();
    Some(match l.as_str() {
        "en_us" | "en_gb" | "en_au" | "en_ca" | "en_nz" | "en_ph" | "en_za" | "en_zw" | "ja_jp" | "zh_cn" | "zh_tw"
        | "zh_hk" | "ko_kr" | "th_th" | "he_il" | "es_us" | "es_mx" => (",", "."),
        "en_in" | "hi_in" | "ta_in" | "te_in" | "gu_in" => (",", "."),
        "de_de" | "de_be" | "de_lu" | "da_dk" | "nl_nl" | "nl_be" | "id_id" | "it_it" | "es_ar" | "es_bo" | "es_cl"
        | "es_co" | "es_cr" | "es_ec" | "es_py" | "es_uy" | "es_ve" | "tr_tr" | "is_is" | "vi_vn" | "ro_ro"
        | "mn_mn" | "eu_es" | "nb_no" | "no_no" | "be_by" | "ca_es" | "fo_fo" => (".", ","),
        "de_ch" | "it_ch" | "rm_ch" => ("'", "."),
        "de_at" | "es_es" | "fr_fr" | "fr_be" | "fr_ch" | "fr_ca" | "fr_lu" | "pt_pt" | "gl_es" | "hr_hr" | "lv_lv"
        | "pl_pl" | "sl_si" | "el_gr" | "bg_bg" => ("", ","),
        "pt_br" => (".", ","),
        "sv_se" | "sv_fi" | "fi_fi" | "cs_cz" | "sk_sk" => (" ", ","),
        "ru_ru" | "ru_ua" | "uk_ua" => (".", ","),
        "lt_lt" | "et_ee" | "hu_hu" => (".", ","),
        _ => return None,
    })
}

fn format_number(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let places = args::wide(&arg!(args, 1, row, ctx)).clamp(0, attr::MAX_SCALE as i128) as u8;
    let locale = match args.get(2) {
        Some(l) => match l.eval(row, ctx)? {
            Value::Null => String::new(),
            l => args::str_of(bytes(&l)).to_string(),
        },
        None => "en_US".into(),
    };
    let (thousands, point) = match separators(&locale) {
        Some(s) => s,
        None => {
            ctx.diag().warn(sql_err!(ER_UNKNOWN_LOCALE, if locale.is_empty() { "NULL" } else { &locale }));
            (",", ".")
        }
    };
    let mut digits = Vec::new();
    match &v {
        Value::Decimal(d) => d.round(places as i32).write_scaled(places, &mut digits),
        v => {
            let d = super::math::round_double(args::double(v), places as i32, false);
            convert::write_fixed(d, places, &mut digits);
        }
    }
    let text = String::from_utf8_lossy(&digits).into_owned();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(r) => ("-", r),
        None => ("", text.as_str()),
    };
    let (int, frac) = rest.split_once('.').unwrap_or((rest, ""));
    let mut out = String::from(sign);
    for (i, c) in int.chars().enumerate() {
        if i > 0 && (int.len() - i) % 3 == 0 {
            out.push_str(thousands);
        }
        out.push(c);
    }
    if places > 0 {
        out.push_str(point);
        out.push_str(frac);
    }
    Ok(Value::text(&out))
}

/// CHAR(codes [USING charset])
pub(crate) fn bind_char(_cx: &BindCtx, codes: Vec<Expr>, charset: Option<Charset>) -> SqlResult<Expr> {
    let c = charset.map_or(Collation::BINARY, Charset::default_collation);
    let len = if c.is_binary() {
        codes.len() as u64 * 4
    } else {
        (codes.len() as u64 * 4).div_ceil(c.charset().max_len() as u64)
    };
    let nullable = codes.iter().any(|e| e.nullable);
    let args = codes.into_iter().map(args::to_int).collect();
    Build::new("char", char_codes, args, attr::text(len, c)).nullable(nullable).strength(Coercibility::Literal).ok()
}

fn char_codes(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let mut out = Vec::with_capacity(args.len());
    for a in args {
        let v = a.eval(row, ctx)?;
        if v.is_null() {
            continue;
        }
        let n = args::int(&v) as u32;
        let be = n.to_be_bytes();
        let skip = be.iter().take(3).take_while(|b| **b == 0).count();
        out.extend_from_slice(&be[skip..]);
    }
    let cs = call.collation.charset();
    if cs == Charset::Binary {
        return Ok(args::owned(out));
    }
    match cs.decode(&out) {
        Ok(text) => Ok(args::owned(text.into_owned())),
        Err(at) => {
            let shown: String = out[at..].iter().take(6).map(|b| format!("{b:02X}")).collect();
            ctx.diag().warn(sql_err!(ER_INVALID_CHARACTER_STRING, cs.name(), shown));
            if ctx.settings().sql_mode.strict() {
                return Ok(Value::Null);
            }
            out.truncate(at);
            Ok(cs.decode(&out).map_or(Value::Null, |t| args::owned(t.into_owned())))
        }
    }
}

/// WEIGHT_STRING
pub(crate) fn bind_weight_string(cx: &BindCtx, e: Expr, length: Option<u32>, binary: bool) -> SqlResult<Expr> {
    let e = collation::to_text(cx, e);
    let c = if binary { Collation::BINARY } else { e.ty.collation().unwrap_or(Collation::BINARY) };
    let chars = length.unwrap_or_else(|| attr::char_len(&e.ty)) as u64;
    let per = if c.is_binary() {
        1
    } else if c.is_bin() && c.charset() == Charset::Utf8mb4 {
        3
    } else if c.charset().max_len() == 1 {
        1
    } else {
        2
    };
    let ty = attr::text(chars * per, Collation::BINARY);
    let mode = length.map_or(-1, |n| n as i64);
    Build::new("weight_string", weight_string, vec![e], ty).collation(c).mode(mode).nullable(true).ok()
}

fn weight_string(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    let mut out = Vec::new();
    let c = call.collation;
    if call.mode < 0 {
        weigh(b, c, &mut out);
        return Ok(args::owned(out));
    }
    let n = call.mode as usize;
    let cut = &b[..super::string::offset(b, c, n)];
    let mut padded = cut.to_vec();
    let have = super::string::count(cut, c);
    padded.resize(padded.len() + n - have.min(n), if c.is_binary() { 0 } else { b' ' });
    weigh(&padded, c, &mut out);
    Ok(args::owned(out))
}

/// Sort weights as MariaDB shows them: bytes, code points of three bytes for `_bin`, upper-cased units of two bytes (one
/// in single-byte sets). Not what keys are made of.
fn weigh(b: &[u8], c: Collation, out: &mut Vec<u8>) {
    if c.is_binary() {
        out.extend_from_slice(b);
        return;
    }
    let folded = if c.is_bin() { b.to_vec() } else { c.upper(b) };
    if c.charset().max_len() == 1 {
        out.extend_from_slice(&c.charset().encode(&folded).0);
        return;
    }
    for ch in args::str_of(&folded).chars() {
        let code = (ch as u32).to_be_bytes();
        if c.is_bin() && c.charset() == Charset::Utf8mb4 {
            out.extend_from_slice(&code[1..]);
        } else if code[1] != 0 {
            out.extend_from_slice(&[0xFF, 0xFD]);
        } else {
            out.extend_from_slice(&code[2..]);
        }
    }
}

/// A dotted address of one to four parts; the last part fills the rest, as in inet_aton(3) of MariaDB (`a.b` is `a.0.0.b`).
fn parse_inet(b: &[u8]) -> Option<u64> {
    let mut result: u64 = 0;
    let mut part: u64 = 0;
    let mut dots = 0;
    let mut last = b'.';
    for c in b {
        last = *c;
        match c {
            b'0'..=b'9' => {
                part = part * 10 + (*c - b'0') as u64;
                if part > 255 {
                    return None;
                }
            }
            b'.' => {
                dots += 1;
                result = (result << 8) + part;
                part = 0;
            }
            _ => return None,
        }
    }
    if last == b'.' || dots > 7 {
        return None;
    }
    if dots == 1 {
        result <<= 16;
    } else if dots == 2 {
        result <<= 8;
    }
    Some((result << 8) + part)
}

fn inet_aton(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    Ok(parse_inet(bytes(&v)).map_or(Value::Null, Value::UInt))
}

fn inet_ntoa(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let n = args::wide(&arg!(args, 0, row, ctx));
    Ok(u32::try_from(n).map_or(Value::Null, |n| Value::text(&Ipv4Addr::from(n).to_string())))
}

fn parse_ipv4(b: &[u8]) -> Option<Ipv4Addr> {
    // Leading zeros are allowed.
    let s = args::str_of(b);
    let parts: Vec<&str> = s.split('.').collect();
    if parts.len() != 4 || parts.iter().any(|p| p.is_empty() || p.len() > 3 || !p.bytes().all(|c| c.is_ascii_digit())) {
        return None;
    }
    let n: Vec<u8> = parts.iter().map_while(|p| p.parse().ok()).collect();
    <[u8; 4]>::try_from(n).ok().map(Ipv4Addr::from)
}

fn inet6_aton(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    Ok(match (parse_ipv4(b), args::str_of(b).parse::<Ipv6Addr>()) {
        (Some(a), _) => Value::bytes(&a.octets()),
        (None, Ok(a)) => Value::bytes(&a.octets()),
        _ => Value::Null,
    })
}

fn inet6_ntoa(_: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = arg!(args, 0, row, ctx);
    let b = bytes(&v);
    Ok(if let Ok(a) = <[u8; 4]>::try_from(b) {
        Value::text(&Ipv4Addr::from(a).to_string())
    } else if let Ok(a) = <[u8; 16]>::try_from(b) {
        Value::text(&Ipv6Addr::from(a).to_string())
    } else {
        Value::Null
    })
}

type Test = fn(&[u8]) -> bool;

fn is_address(cx: &BindCtx, name: &'static str, args: Vec<Expr>, test: Test) -> SqlResult<Expr> {
    let nullable = args.iter().any(|a| a.nullable);
    Build::new(name, eval_is_address, to_texts(cx, args), SqlType::BOOL)
        .nullable(nullable)
        .data(std::sync::Arc::new(test))
        .ok()
}

fn eval_is_address(call: &Call, args: &[Expr], row: &[Value], ctx: Ctx<'_>) -> SqlResult<Value> {
    let v = args[0].eval(row, ctx)?;
    let test = call.data.as_ref().and_then(|d| d.downcast_ref::<Test>());
    Ok(Value::bool(!v.is_null() && test.is_some_and(|t| t(bytes(&v)))))
}
