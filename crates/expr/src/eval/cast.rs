//! Conversions: the common ones and those between character sets here, everything else by
//! [`selkie_types::convert`].

use selkie_types::{Charset, Collation, Decimal, SqlResult, SqlType, Value, convert, sql_err};

use crate::context::EvalContext;
use crate::describe::describe_with;
use crate::func::args;
use crate::ir::Expr;

/// The value of CAST(e AS to).
pub(super) fn eval(e: &Expr, to: &SqlType, row: &[Value], ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    let v = e.eval(row, ctx)?;
    if let SqlType::Decimal { precision, scale, .. } = to
        && (*precision, *scale) != (65, 38)
        && !v.is_null()
    {
        let wide = convert::to_decimal(&v, &e.ty, &mut ctx.convert());
        let (d, cut) = wide.to_column(*precision, *scale);
        if cut {
            let shown = describe_with(e, &|slot| ctx.column_name(slot));
            let column = format!("cast({shown} as decimal({precision},{scale}))");
            let row_number = ctx.diag().current_row;
            ctx.diag().warn(sql_err!(ER_WARN_DATA_OUT_OF_RANGE, column, row_number));
        }
        return Ok(Value::Decimal(d));
    }
    cast(v, &e.ty, to, ctx)
}

/// Converts a value of type `from` to type `to`.
pub(crate) fn cast(v: Value, from: &SqlType, to: &SqlType, ctx: &mut dyn EvalContext) -> SqlResult<Value> {
    Ok(match (v, to) {
        (Value::Null, _) => Value::Null,
        (v, SqlType::Null) => v,
        (Value::Int(i), SqlType::Double { digits: None, .. })
            if !matches!(from, SqlType::Enum(_) | SqlType::Set(_)) =>
        {
            Value::Double(i as f64)
        }
        (Value::Int(i), SqlType::Decimal { scale: 0, precision: 20.., .. }) => Value::Decimal(Decimal::from(i)),
        // The display width of an expression's integer type does not bound it.
        (v, SqlType::Int { unsigned, .. }) => {
            let wide = if *unsigned { &SqlType::BIGINT_UNSIGNED } else { &SqlType::BIGINT };
            return convert::cast(v, from, wide, &mut ctx.convert());
        }
        (v, SqlType::Decimal { precision: 65, scale: 38, .. }) => {
            Value::Decimal(convert::to_decimal(&v, from, &mut ctx.convert()))
        }
        // A number's text is never cut: only texts are.
        (v, SqlType::Text { .. }) if from.is_numeric() && !matches!(from, SqlType::Bit(_)) => {
            let mut out = Vec::new();
            convert::write_text(&v, from, &mut out);
            args::owned(out)
        }
        (Value::Bytes(b), SqlType::Text { collation, .. }) => {
            let own = from.collation().map_or(collation.charset(), Collation::charset);
            let v = match recode(&b, own, collation.charset(), ctx) {
                Some(changed) => args::owned(changed),
                None => Value::Bytes(b),
            };
            // What is left is the length.
            let same = match from {
                SqlType::Text { kind, len, .. } => SqlType::Text { kind: *kind, len: *len, collation: *collation },
                other => other.clone(),
            };
            return convert::cast(v, &same, to, &mut ctx.convert());
        }
        (v, to) => return convert::cast(v, from, to, &mut ctx.convert()),
    })
}

/// A text in another character set: in memory all are UTF-8, so that only binary differs, and characters that
/// the set lacks become `?`. `None`: nothing changes.
fn recode(b: &[u8], from: Charset, to: Charset, ctx: &mut dyn EvalContext) -> Option<Vec<u8>> {
    if from == to || (b.is_ascii() && from != Charset::Binary) {
        return None;
    }
    if to == Charset::Binary {
        return Some(from.encode(b).0.into_owned());
    }
    if from == Charset::Binary {
        return Some(decode_lossy(b, to, ctx));
    }
    if to.can_hold(b) {
        return None;
    }
    let text = args::str_of(b);
    let mut out = String::with_capacity(b.len());
    let mut warned = false;
    for c in text.chars() {
        let mut buf = [0; 4];
        let utf8 = c.encode_utf8(&mut buf).as_bytes();
        if to.can_hold(utf8) {
            out.push(c);
            continue;
        }
        out.push('?');
        if !warned {
            let shown: String = utf8.iter().map(|b| format!("{b:02X}")).collect();
            ctx.diag().warn(sql_err!(ER_CANNOT_CONVERT_CHARACTER, from.name(), shown, to.name()));
            warned = true;
        }
    }
    Some(out.into_bytes())
}

/// Bytes as text of a character set; those that are none become `?`, with a warning.
fn decode_lossy(b: &[u8], to: Charset, ctx: &mut dyn EvalContext) -> Vec<u8> {
    let mut out = Vec::with_capacity(b.len());
    let mut rest = b;
    let mut warned = false;
    loop {
        match to.decode(rest) {
            Ok(text) => {
                out.extend_from_slice(&text);
                return out;
            }
            Err(at) => {
                let at = at.min(rest.len().saturating_sub(1));
                if !warned {
                    let shown: String = rest[at..].iter().take(6).map(|b| format!("\\x{b:02X}")).collect();
                    ctx.diag().warn(sql_err!(ER_INVALID_CHARACTER_STRING, to.name(), shown));
                    warned = true;
                }
                if let Ok(text) = to.decode(&rest[..at]) {
                    out.extend_from_slice(&text);
                }
                out.push(b'?');
                rest = &rest[(at + 1).min(rest.len())..];
            }
        }
    }
}
