//! Values as text.

use std::borrow::Cow;

use super::number::{write_f32, write_f64, write_fixed};
use crate::{SqlType, Value};

/// The value's text as a result set or CONCAT shows it (UTF-8; raw bytes for binary types), appended to
/// `out`. NULL appends nothing.
pub fn write_text(v: &Value, ty: &SqlType, out: &mut Vec<u8>) {
    match v {
        Value::Null => {}
        Value::Bytes(b) => out.extend_from_slice(b),
        Value::Int(i) => write_int(*i, ty, out),
        Value::UInt(u) => write_uint(*u, ty, out),
        Value::Double(d) => write_double(*d, ty, out),
        Value::Decimal(d) => match ty {
            SqlType::Decimal { precision, scale, zerofill, .. } => {
                let start = out.len();
                d.write_scaled(*scale, out);
                if *zerofill {
                    pad_zeros(out, start, *precision as usize + (*scale > 0) as usize);
                }
            }
            _ => d.write_to(out),
        },
        Value::Date(d) => match ty {
            SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => d.at_midnight().write_to(*fsp, out),
            _ => d.write_to(out),
        },
        Value::Time(t) => match ty {
            SqlType::Time { fsp } => t.write_to(*fsp, out),
            _ => t.write_to(if t.micros() == 0 { 0 } else { 6 }, out),
        },
        Value::DateTime(t) => match ty {
            SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => t.write_to(*fsp, out),
            SqlType::Date => t.date().write_to(out),
            _ => t.write_to(if t.micros() == 0 { 0 } else { 6 }, out),
        },
    }
}

/// The value's text; that of string values is borrowed.
pub fn text_of<'a>(v: &'a Value, ty: &SqlType) -> Cow<'a, [u8]> {
    match v {
        Value::Bytes(b) => Cow::Borrowed(b),
        _ => {
            let mut out = Vec::new();
            write_text(v, ty, &mut out);
            Cow::Owned(out)
        }
    }
}

/// Pads what was written since `start` with zeros on the left.
fn pad_zeros(out: &mut Vec<u8>, start: usize, width: usize) {
    let len = out.len() - start;
    if len < width {
        out.splice(start..start, std::iter::repeat_n(b'0', width - len));
    }
}

fn write_int(i: i64, ty: &SqlType, out: &mut Vec<u8>) {
    let start = out.len();
    match ty {
        SqlType::Year(digits) => {
            let shown = if *digits == 2 { i % 100 } else { i };
            out.extend_from_slice(itoa::Buffer::new().format(shown).as_bytes());
            pad_zeros(out, start, *digits as usize);
        }
        SqlType::Bit(_) if i >= 0 => write_uint(i as u64, ty, out),
        SqlType::Enum(_) | SqlType::Set(_) if i >= 0 => write_uint(i as u64, ty, out),
        _ => {
            out.extend_from_slice(itoa::Buffer::new().format(i).as_bytes());
            if let SqlType::Int { zerofill: true, display, .. } = ty {
                pad_zeros(out, start, *display as usize);
            }
        }
    }
}

fn write_uint(u: u64, ty: &SqlType, out: &mut Vec<u8>) {
    match ty {
        SqlType::Bit(bits) => out.extend_from_slice(&u.to_be_bytes()[8 - (*bits as usize).div_ceil(8).clamp(1, 8)..]),
        SqlType::Enum(def) => {
            if let Some(m) = (u as usize).checked_sub(1).and_then(|i| def.members.get(i)) {
                out.extend_from_slice(m.as_bytes());
            }
        }
        SqlType::Set(def) => {
            let mut first = true;
            for (i, m) in def.members.iter().enumerate().take(64) {
                if u >> i & 1 == 1 {
                    if !first {
                        out.push(b',');
                    }
                    first = false;
                    out.extend_from_slice(m.as_bytes());
                }
            }
        }
        _ => {
            let start = out.len();
            out.extend_from_slice(itoa::Buffer::new().format(u).as_bytes());
            if let SqlType::Int { zerofill: true, display, .. } = ty {
                pad_zeros(out, start, *display as usize);
            }
        }
    }
}

fn write_double(d: f64, ty: &SqlType, out: &mut Vec<u8>) {
    let start = out.len();
    match ty {
        SqlType::Float { digits: Some((m, decimals)), zerofill, .. }
        | SqlType::Double { digits: Some((m, decimals)), zerofill, .. } => {
            write_fixed(d, *decimals, out);
            if *zerofill {
                pad_zeros(out, start, *m as usize);
            }
        }
        SqlType::Float { zerofill, .. } => {
            write_f32(d as f32, out);
            if *zerofill {
                pad_zeros(out, start, 12);
            }
        }
        SqlType::Double { zerofill: true, .. } => {
            write_f64(d, out);
            pad_zeros(out, start, 22);
        }
        _ => write_f64(d, out),
    }
}
