//! What the type rules ask of an operand: length in characters, decimals, digits, and how types meet.
//!
//! These are the attributes by which MariaDB computes result types; here they are derived from the
//! [`SqlType`] and, for literals, from the value.

use selkie_types::datetime::{DateRules, Parts};
use selkie_types::{Charset, Collation, IntWidth, SqlType, TextKind, Value};

use crate::ir::{Expr, ExprKind};

/// The scale of doubles and texts: as many digits as needed.
pub(crate) const NOT_FIXED: u32 = 39;
/// The most digits after the point of a DECIMAL.
pub(crate) const MAX_SCALE: u32 = 38;
/// The most digits of a DECIMAL.
pub(crate) const MAX_PRECISION: u32 = 65;
/// Results longer than this many characters are of a TEXT type when stored.
const VARCHAR_RESULT_MAX: u64 = 512;

/// The family in which an operand is computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Integers, BIT, YEAR.
    Int,
    /// DECIMAL.
    Decimal,
    /// FLOAT, DOUBLE.
    Real,
    /// Text, binary, ENUM, SET, NULL.
    Text,
    /// Dates and times.
    Temporal,
}

pub(crate) fn family(ty: &SqlType) -> Family {
    match ty {
        SqlType::Int { .. } | SqlType::Bit(_) | SqlType::Year(_) => Family::Int,
        SqlType::Decimal { .. } => Family::Decimal,
        SqlType::Float { .. } | SqlType::Double { .. } => Family::Real,
        SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => Family::Temporal,
        SqlType::Null | SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) => Family::Text,
    }
}

/// The longest text of a value, in characters (bytes for binary types).
pub(crate) fn char_len(ty: &SqlType) -> u32 {
    let frac = |fsp: u8| if fsp > 0 { fsp as u32 + 1 } else { 0 };
    match ty {
        SqlType::Null => 0,
        SqlType::Int { display, .. } => *display as u32,
        SqlType::Bit(n) => *n as u32,
        SqlType::Year(n) => *n as u32,
        SqlType::Float { digits, .. } => digits.map_or(12, |d| d.0 as u32),
        SqlType::Double { digits, .. } => digits.map_or(22, |d| d.0 as u32),
        SqlType::Decimal { precision, scale, unsigned, .. } => {
            precision_to_length(*precision as u32, *scale as u32, *unsigned)
        }
        SqlType::Date => 10,
        SqlType::Time { fsp } => 10 + frac(*fsp),
        SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => 19 + frac(*fsp),
        SqlType::Text { len, .. } => *len,
        SqlType::Enum(d) => d.members.iter().map(|m| m.chars().count()).max().unwrap_or(0) as u32,
        SqlType::Set(d) => {
            let n = d.members.len().saturating_sub(1);
            (d.members.iter().map(|m| m.chars().count()).sum::<usize>() + n) as u32
        }
    }
}

/// Like [`char_len`], but a double literal counts as long as it was written (shortest form).
pub(crate) fn expr_char_len(e: &Expr) -> u32 {
    if let ExprKind::Const(Value::Double(d)) = &e.kind
        && let SqlType::Double { digits: None, .. } = e.ty
    {
        let mut buf = ryu_len(*d);
        buf = buf.max(1);
        return buf;
    }
    char_len(&e.ty)
}

fn ryu_len(d: f64) -> u32 {
    let s = format!("{d:e}");
    // `1e0`, `1.5e0`
    s.len() as u32
}

/// Digits after the point; [`NOT_FIXED`] where they vary.
pub(crate) fn decimals(ty: &SqlType) -> u32 {
    match ty {
        SqlType::Float { digits, .. } | SqlType::Double { digits, .. } => digits.map_or(NOT_FIXED, |d| d.1 as u32),
        SqlType::Decimal { scale, .. } => *scale as u32,
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => *fsp as u32,
        SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) => NOT_FIXED,
        _ => 0,
    }
}

/// Decimals of an operand: those of a binary literal `x'…'` are 0.
pub(crate) fn expr_decimals(e: &Expr) -> u32 {
    if let (ExprKind::Const(_), Some(Collation::BINARY)) = (&e.kind, e.ty.collation()) {
        return 0;
    }
    decimals(&e.ty)
}

pub(crate) fn is_unsigned(ty: &SqlType) -> bool {
    ty.is_unsigned()
}

/// Digits of an operand counted as a DECIMAL.
pub(crate) fn precision(e: &Expr) -> u32 {
    let p = match &e.ty {
        // A literal has as many digits as were written, the sign not counted.
        SqlType::Int { display, .. } if let ExprKind::Const(v) = &e.kind => {
            *display as u32 - matches!(v, Value::Int(i) if *i < 0) as u32
        }
        // A column may hold more digits than its display length says: `TINYINT(1)`, a derived table's of a literal.
        SqlType::Int { width, display, unsigned, .. } if matches!(e.kind, ExprKind::Column(_)) => {
            (*display as u32).saturating_sub(!*unsigned as u32).max(digits_of(*width))
        }
        SqlType::Int { display, unsigned, .. } => (*display as u32).saturating_sub(!*unsigned as u32),
        SqlType::Decimal { precision, .. } => *precision as u32,
        SqlType::Date => 8,
        SqlType::Time { fsp } => 7 + *fsp as u32,
        SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => 14 + *fsp as u32,
        SqlType::Year(_) => 4,
        other => char_len(other),
    };
    p.clamp(if matches!(e.ty, SqlType::Null) { 0 } else { 1 }, MAX_PRECISION)
}

/// Scale of an operand counted as a DECIMAL.
pub(crate) fn scale(e: &Expr) -> u32 {
    match e.ty {
        SqlType::Enum(_) | SqlType::Set(_) => 0,
        _ => expr_decimals(e).min(MAX_SCALE),
    }
}

/// Digits that an integer of a width may need.
fn digits_of(width: selkie_types::IntWidth) -> u32 {
    use selkie_types::IntWidth::{Big, Int, Medium, Small, Tiny};
    match width {
        Tiny => 3,
        Small => 5,
        Medium => 7,
        Int => 10,
        Big => 19,
    }
}

/// Digits before the point of an operand counted as a DECIMAL.
pub(crate) fn int_part(e: &Expr) -> u32 {
    precision(e).saturating_sub(scale(e))
}

/// Text length of a DECIMAL: digits, point, sign.
pub(crate) fn precision_to_length(precision: u32, scale: u32, unsigned: bool) -> u32 {
    precision + (scale > 0) as u32 + (!unsigned && precision > 0) as u32
}

/// DECIMAL, its precision cut to 65.
pub(crate) fn decimal(precision: u32, scale: u32, unsigned: bool) -> SqlType {
    let scale = scale.min(MAX_SCALE);
    SqlType::Decimal {
        precision: precision.clamp(scale.max(1), MAX_PRECISION) as u8,
        scale: scale as u8,
        unsigned,
        zerofill: false,
    }
}

/// INT or BIGINT by the number of characters, as integer expressions have it.
pub(crate) fn int_by_len(len: u32, unsigned: bool) -> SqlType {
    let width = if len >= 10 { IntWidth::Big } else { IntWidth::Int };
    SqlType::Int { width, unsigned, zerofill: false, display: len.min(255) as u8 }
}

/// An integer type of a given width and display length.
pub(crate) fn int(width: IntWidth, display: u32, unsigned: bool) -> SqlType {
    SqlType::Int { width, unsigned, zerofill: false, display: display.min(255) as u8 }
}

/// BIGINT(len).
pub(crate) fn bigint(display: u32, unsigned: bool) -> SqlType {
    int(IntWidth::Big, display, unsigned)
}

/// INT(len).
pub(crate) fn int4(display: u32) -> SqlType {
    int(IntWidth::Int, display, false)
}

/// DOUBLE with so many decimals; the display length follows.
pub(crate) fn double(decimals: u32) -> SqlType {
    double_len(17 + decimals, decimals)
}

/// DOUBLE(len, decimals).
pub(crate) fn double_len(len: u32, decimals: u32) -> SqlType {
    let digits = (decimals < NOT_FIXED).then(|| (len.min(255) as u8, decimals.min(MAX_SCALE) as u8));
    SqlType::Double { unsigned: false, zerofill: false, digits }
}

/// The string type of an expression of at most `len` characters.
pub(crate) fn text(len: u64, collation: Collation) -> SqlType {
    let len = len.min(u32::MAX as u64);
    let bytes = len * collation.charset().max_len() as u64;
    let kind = if len <= VARCHAR_RESULT_MAX {
        TextKind::VarChar
    } else if bytes < 1 << 16 {
        TextKind::Text
    } else if bytes < 1 << 24 {
        TextKind::MediumText
    } else {
        TextKind::LongText
    };
    SqlType::Text { kind, len: len as u32, collation }
}

/// TIME, DATETIME with at most 6 decimals.
pub(crate) fn fsp(decimals: u32) -> u8 {
    decimals.min(6) as u8
}

/// Decimals of an operand as fractional seconds; texts have six, but a literal that is a date or time as many as it shows.
pub(crate) fn temporal_decimals(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Const(Value::Bytes(b)) => {
            let rules = DateRules::default();
            if Parts::parse_datetime(b, rules).or_else(|| Parts::parse_time(b, rules)).is_some() {
                literal_fraction(b)
            } else {
                6
            }
        }
        _ => fsp(decimals(&e.ty)),
    }
}

/// Decimals of an operand as a number of seconds; texts have six.
pub(crate) fn seconds_decimals(e: &Expr) -> u8 {
    fsp(decimals(&e.ty))
}

/// The longest text of an operand in bytes of its character set; numbers and dates have one byte a character.
pub(crate) fn byte_len(e: &Expr) -> u64 {
    // The length of a TEXT column is one in bytes.
    if let (ExprKind::Column(_), SqlType::Text { kind, len, .. }) = (&e.kind, &e.ty)
        && !matches!(kind, TextKind::Char | TextKind::VarChar)
    {
        return *len as u64;
    }
    expr_char_len(e) as u64 * e.ty.collation().map_or(1, |c| c.charset().max_len()) as u64
}

/// Digits after the last point of a temporal literal.
pub(crate) fn literal_fraction(text: &[u8]) -> u8 {
    match text.iter().rposition(|c| *c == b'.') {
        Some(at) => text[at + 1..].iter().take_while(|c| c.is_ascii_digit()).count().min(6) as u8,
        None => 0,
    }
}

/// Whether all of an operand's possible texts are ASCII.
pub(crate) fn is_ascii_only(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(Value::Bytes(b)) => b.is_ascii(),
        ExprKind::Const(_) => true,
        _ => match e.ty.collation() {
            None => true,
            Some(c) if c.charset() == Charset::Ascii => true,
            Some(_) => matches!(&e.kind, ExprKind::Cast(inner) if inner.ty.collation().is_none()),
        },
    }
}

/// The wider of two integer widths.
pub(crate) fn wider(a: IntWidth, b: IntWidth) -> IntWidth {
    a.max(b)
}
