//! The type that two types have in common: for UNION, CASE and COALESCE, and for comparisons.

use super::{IntWidth, SqlType, TextKind};
use crate::{Charset, Collation, SqlResult, sql_err};

/// How strongly an expression insists on its collation; the lower, the stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coercibility {
    /// An explicit COLLATE.
    Explicit,
    /// Two collations that clash.
    None,
    /// A column, a stored routine's variable.
    Implicit,
    /// USER(), VERSION() and the like.
    SysConst,
    /// A literal.
    Coercible,
    /// A number or a date.
    Numeric,
    /// NULL, or what came from it.
    Ignorable,
}

impl Coercibility {
    /// As messages name it (`IMPLICIT`).
    pub fn name(self) -> &'static str {
        match self {
            Coercibility::Explicit => "EXPLICIT",
            Coercibility::None => "NONE",
            Coercibility::Implicit => "IMPLICIT",
            Coercibility::SysConst => "SYSCONST",
            Coercibility::Coercible => "COERCIBLE",
            Coercibility::Numeric => "NUMERIC",
            Coercibility::Ignorable => "IGNORABLE",
        }
    }
}

/// Whether every text of one character set can be converted to another without loss.
fn widens_to(from: Charset, to: Charset) -> bool {
    use Charset::{Ascii, Latin1, Utf8mb3, Utf8mb4};
    matches!((from, to), (Ascii, Latin1 | Utf8mb3 | Utf8mb4) | (Latin1, Utf8mb3 | Utf8mb4) | (Utf8mb3, Utf8mb4))
}

fn merge(a: (Collation, Coercibility), b: (Collation, Coercibility)) -> Result<(Collation, Coercibility), ()> {
    if a.0 == b.0 {
        return Ok((a.0, a.1.min(b.1)));
    }
    let (strong, weak) = if a.1 <= b.1 { (a, b) } else { (b, a) };
    let (strong_set, weak_set) = (strong.0.charset(), weak.0.charset());
    if strong_set == weak_set {
        if strong.1 < weak.1 {
            return Ok(strong);
        }
        if strong.1 == Coercibility::Explicit {
            return Err(());
        }
        // The `_bin` collation of the set wins among equals.
        if a.0.is_bin() {
            return Ok(a);
        }
        if b.0.is_bin() {
            return Ok(b);
        }
        return Ok((strong_set.bin_collation(), Coercibility::None));
    }
    // Bytes are above all text of the same strength.
    if strong.0.is_binary() || weak.0.is_binary() {
        if strong.1 < weak.1 {
            return Ok(strong);
        }
        return Ok(if a.0.is_binary() { a } else { b });
    }
    if strong.1 < weak.1 {
        // A weaker literal is converted to the stronger one's set, or the other way where only that is possible.
        if widens_to(weak_set, strong_set) || weak.1 >= Coercibility::SysConst {
            return Ok(strong);
        }
        if widens_to(strong_set, weak_set) && strong.1 != Coercibility::Explicit {
            return Ok(weak);
        }
        return Err(());
    }
    if strong.1 == Coercibility::Explicit {
        return Err(());
    }
    if widens_to(b.0.charset(), a.0.charset()) {
        return Ok(a);
    }
    if widens_to(a.0.charset(), b.0.charset()) {
        return Ok(b);
    }
    Err(())
}

/// The collation of an operation on several texts; error 1267, 1270 or 1271 where they cannot be mixed.
/// `for_comparison`: the operation compares, so that no clash may remain. `operation` is the word in
/// messages (`=`, `concat`).
pub fn aggregate_collations(
    operands: &[(Collation, Coercibility)],
    operation: &str,
    for_comparison: bool,
) -> SqlResult<(Collation, Coercibility)> {
    let mut result = match operands.first() {
        Some(first) => *first,
        None => (Collation::BINARY, Coercibility::Ignorable),
    };
    let mut clash = false;
    for next in operands.iter().skip(1) {
        match merge(result, *next) {
            Ok(r) => result = r,
            Err(()) => clash = true,
        }
    }
    // An explicit COLLATE anywhere settles a clash of columns.
    let explicit: Vec<_> = operands.iter().filter(|o| o.1 == Coercibility::Explicit).collect();
    if let Some(first) = explicit.first()
        && explicit.iter().all(|o| o.0 == first.0)
        && !clash
    {
        return Ok(**first);
    }
    if !(clash || for_comparison && result.1 == Coercibility::None) {
        return Ok(result);
    }
    Err(match operands {
        [a, b] => {
            sql_err!(ER_CANT_AGGREGATE_2COLLATIONS, a.0.name(), a.1.name(), b.0.name(), b.1.name(), operation)
        }
        [a, b, c] => sql_err!(
            ER_CANT_AGGREGATE_3COLLATIONS,
            a.0.name(),
            a.1.name(),
            b.0.name(),
            b.1.name(),
            c.0.name(),
            c.1.name(),
            operation
        ),
        _ => sql_err!(ER_CANT_AGGREGATE_NCOLLATIONS, operation),
    })
}

/// As what two operands are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonType {
    /// As text, under the collation that [`aggregate_collations`] gives.
    Text,
    /// As integers (signed and unsigned mixed exactly).
    Int,
    /// As exact numbers.
    Decimal,
    /// As doubles.
    Double,
    /// As dates.
    Date,
    /// As times.
    Time,
    /// As dates with times (a TIME counts from today).
    DateTime,
}

/// Where a common type is wanted; they differ in small things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Union,
    Expression,
}

impl SqlType {
    /// The type of COALESCE, CASE, IF, LEAST and the like over two types. `fallback` is the collation of
    /// text made from numbers and dates alone (the connection's).
    pub fn common_type(&self, other: &SqlType, fallback: Collation) -> SqlType {
        common(self, other, fallback, Purpose::Expression)
    }

    /// The type of a UNION's column over two types.
    pub fn union_type(&self, other: &SqlType, fallback: Collation) -> SqlType {
        common(self, other, fallback, Purpose::Union)
    }

    /// As what this and another type compare.
    pub fn comparison_type(&self, other: &SqlType) -> ComparisonType {
        use ComparisonType as C;
        let class = |t: &SqlType| match t {
            SqlType::Date => Some(C::Date),
            SqlType::Time { .. } => Some(C::Time),
            SqlType::DateTime { .. } | SqlType::Timestamp { .. } => Some(C::DateTime),
            _ => None,
        };
        match (class(self), class(other)) {
            (Some(a), Some(b)) if a == b => return a,
            (Some(_), Some(_)) => return C::DateTime,
            (Some(a), None) | (None, Some(a)) => return a,
            (None, None) => {}
        }
        let textual = |t: &SqlType| matches!(t, SqlType::Text { .. } | SqlType::Null);
        let number = |t: &SqlType| match t {
            SqlType::Float { .. } | SqlType::Double { .. } => C::Double,
            SqlType::Decimal { .. } => C::Decimal,
            _ => C::Int,
        };
        let member = |t: &SqlType| matches!(t, SqlType::Enum(_) | SqlType::Set(_));
        if matches!(self, SqlType::Null) || matches!(other, SqlType::Null) {
            let t = if matches!(self, SqlType::Null) { other } else { self };
            return if textual(t) || member(t) { C::Text } else { number(t) };
        }
        match (textual(self) || member(self), textual(other) || member(other)) {
            (true, true) => C::Text,
            (false, false) => match (number(self), number(other)) {
                (C::Double, _) | (_, C::Double) => C::Double,
                (C::Decimal, _) | (_, C::Decimal) => C::Decimal,
                _ => C::Int,
            },
            (text_first, _) => {
                let (text, num) = if text_first { (self, other) } else { (other, self) };
                match (member(text), number(num)) {
                    (true, n) => n,
                    // Integers are compared with text as exact numbers, everything else as doubles.
                    (false, C::Int) => C::Decimal,
                    (false, _) => C::Double,
                }
            }
        }
    }
}

fn common(a: &SqlType, b: &SqlType, fallback: Collation, purpose: Purpose) -> SqlType {
    match (a, b) {
        (SqlType::Null, SqlType::Null) => return SqlType::Null,
        (SqlType::Null, t) | (t, SqlType::Null) if !matches!(t, SqlType::Enum(_) | SqlType::Set(_)) => {
            return t.clone();
        }
        _ => {}
    }
    if a == b && !matches!(a, SqlType::Text { .. } | SqlType::Enum(_) | SqlType::Set(_) | SqlType::Int { .. }) {
        return match a {
            SqlType::Float { digits, .. } => SqlType::Float { unsigned: false, zerofill: false, digits: *digits },
            SqlType::Double { digits, .. } => SqlType::Double { unsigned: false, zerofill: false, digits: *digits },
            SqlType::Decimal { precision, scale, unsigned, .. } => {
                SqlType::Decimal { precision: *precision, scale: *scale, unsigned: *unsigned, zerofill: false }
            }
            other => other.clone(),
        };
    }
    if a.is_temporal() && b.is_temporal() {
        return common_temporal(a, b);
    }
    if a.is_numeric() && b.is_numeric() {
        let bits = matches!(a, SqlType::Bit(_)) as u8 + matches!(b, SqlType::Bit(_)) as u8;
        if bits == 2 {
            return SqlType::Bit(a.display_length().max(b.display_length()) as u8);
        }
        if bits == 0 || purpose == Purpose::Expression {
            return common_number(a, b);
        }
    }
    common_text(a, b, fallback, purpose)
}

fn common_temporal(a: &SqlType, b: &SqlType) -> SqlType {
    let fsp = a.decimals().unwrap_or(0).max(b.decimals().unwrap_or(0));
    match (a, b) {
        (SqlType::Date, SqlType::Date) => SqlType::Date,
        (SqlType::Time { .. }, SqlType::Time { .. }) => SqlType::Time { fsp },
        (SqlType::Timestamp { .. }, SqlType::Timestamp { .. }) => SqlType::Timestamp { fsp },
        _ => SqlType::DateTime { fsp },
    }
}

/// Digits before the point of an exact number.
fn int_digits(t: &SqlType) -> u32 {
    match t {
        SqlType::Int { width, unsigned, .. } => width.digits(*unsigned) as u32,
        SqlType::Decimal { precision, scale, .. } => precision.saturating_sub(*scale) as u32,
        SqlType::Bit(n) | SqlType::Year(n) => *n as u32,
        _ => 0,
    }
}

fn common_number(a: &SqlType, b: &SqlType) -> SqlType {
    let approximate = |t: &SqlType| matches!(t, SqlType::Float { .. } | SqlType::Double { .. });
    if approximate(a) || approximate(b) {
        return common_approximate(a, b);
    }
    let unsigned = a.is_unsigned() && b.is_unsigned();
    let decimal = matches!(a, SqlType::Decimal { .. }) || matches!(b, SqlType::Decimal { .. });
    if decimal || a.is_unsigned() != b.is_unsigned() {
        let scale = a.decimals().unwrap_or(0).max(b.decimals().unwrap_or(0));
        let int = int_digits(a).max(int_digits(b));
        let precision = (int + scale as u32).clamp(1, crate::decimal::MAX_PRECISION as u32) as u8;
        return SqlType::Decimal { precision, scale, unsigned, zerofill: false };
    }
    let width = |t: &SqlType| match t {
        SqlType::Int { width, .. } => *width,
        _ => IntWidth::Tiny,
    };
    let display = a.display_length().max(b.display_length()) as u8;
    let width = if matches!(a, SqlType::Bit(_)) || matches!(b, SqlType::Bit(_)) {
        if display <= 10 { IntWidth::Int } else { IntWidth::Big }
    } else {
        width(a).max(width(b))
    };
    SqlType::Int { width, unsigned, zerofill: false, display }
}

fn common_approximate(a: &SqlType, b: &SqlType) -> SqlType {
    // FLOAT holds what has no more than 24 bits.
    let fits_float = |t: &SqlType| {
        matches!(t, SqlType::Float { .. } | SqlType::Year(_))
            || matches!(t, SqlType::Int { width, .. } if *width <= IntWidth::Medium)
    };
    let digits = match (a.decimals(), b.decimals()) {
        (Some(da), Some(db)) => {
            let decimals = da.max(db);
            let whole = |t: &SqlType, d: u8| t.display_length().saturating_sub(d as u32);
            let m = whole(a, da).max(whole(b, db)) + decimals as u32;
            Some((m.min(255) as u8, decimals))
        }
        _ => None,
    };
    if fits_float(a) && fits_float(b) {
        SqlType::Float { unsigned: false, zerofill: false, digits }
    } else {
        SqlType::Double { unsigned: false, zerofill: false, digits }
    }
}

fn common_text(a: &SqlType, b: &SqlType, fallback: Collation, purpose: Purpose) -> SqlType {
    let own = |t: &SqlType| match t {
        SqlType::Bit(_) => Some(Collation::BINARY),
        t => t.collation(),
    };
    let collation = match (own(a), own(b)) {
        (Some(x), Some(y)) => merge((x, Coercibility::Implicit), (y, Coercibility::Implicit)).map_or(x, |r| r.0),
        (Some(x), None) | (None, Some(x)) => x,
        (None, None) => fallback,
    };
    let kind = |t: &SqlType| match t {
        SqlType::Text { kind, .. } => Some(*kind),
        _ => None,
    };
    let blob = |t: &SqlType| kind(t).is_some_and(|k| k.blob_limit().is_some());
    let length = |t: &SqlType| if collation.is_binary() { t.octet_length() } else { t.display_length() };
    let len = length(a).max(length(b));
    if blob(a) || blob(b) {
        let bytes = if collation.is_binary() { len as u64 } else { len as u64 * collation.charset().max_len() as u64 };
        let kind = TextKind::for_bytes(bytes);
        return SqlType::Text { kind, len: kind.blob_limit().unwrap_or(u32::MAX), collation };
    }
    let any_char = kind(a) == Some(TextKind::Char) || kind(b) == Some(TextKind::Char);
    let any_varchar = kind(a) == Some(TextKind::VarChar) || kind(b) == Some(TextKind::VarChar);
    let kind = if purpose == Purpose::Union && any_char && !any_varchar { TextKind::Char } else { TextKind::VarChar };
    SqlType::Text { kind, len, collation }
}
