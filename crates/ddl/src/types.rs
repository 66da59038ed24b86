//! From a type as declared to a column type, with MariaDB's limits and errors.

use std::sync::Arc;

use selkie_parser::ast::{CharsetClause, DataType, IntSize, LobSize, NumericAttrs};
use selkie_types::{
    Charset, Collation, Diagnostics, EnumDef, IntWidth, SqlMode, SqlResult, SqlType, TextKind, sql_err,
};

/// Longest row, and so the longest VARCHAR, in bytes.
pub const ROW_BYTES_MAX: u32 = 65_535;
/// Bytes that a VARCHAR may take at the most: the row's less length bytes and null bit.
const VARCHAR_BYTES_MAX: u32 = 65_532;

/// What types depend on beside themselves.
pub struct TypeContext<'a> {
    /// Of columns without one.
    pub collation: Collation,
    /// Whether too long a VARCHAR is an error rather than a TEXT.
    pub sql_mode: SqlMode,
    /// For notes.
    pub diag: &'a mut Diagnostics,
}

/// A character set by name.
///
/// # Errors
/// 1115
pub fn charset(name: &str) -> SqlResult<Charset> {
    Charset::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, name))
}

/// A collation by name, which must belong to the character set if one is given.
///
/// # Errors
/// 1273, 1253
pub fn collation(name: &str, charset: Option<Charset>) -> SqlResult<Collation> {
    let found = match charset {
        Some(cs) => Collation::by_name_in(cs, name).or_else(|| Collation::by_name(name)),
        None => Collation::by_name(name),
    };
    let found = found.ok_or_else(|| sql_err!(ER_UNKNOWN_COLLATION, name))?;
    match charset {
        Some(cs) if found.charset() != cs => Err(sql_err!(ER_COLLATION_CHARSET_MISMATCH, name, cs.name())),
        _ => Ok(found),
    }
}

/// The collation that `CHARACTER SET … COLLATE …` stands for; `default` where neither is given. `DEFAULT` as the character
/// set's name is the default's.
pub fn resolve_collation(cs: Option<&str>, coll: Option<&str>, default: Collation) -> SqlResult<Collation> {
    let is_default = |n: &str| n.eq_ignore_ascii_case("default");
    match (cs.filter(|n| !is_default(n)), coll.filter(|n| !is_default(n))) {
        (None, None) => Ok(default),
        (Some(cs), None) => Ok(charset(cs)?.default_collation()),
        (None, Some(c)) => {
            // A name without its character set (`uca1400_ai_ci`) belongs to the default's.
            match Collation::by_name_in(default.charset(), c) {
                Some(found) if Collation::by_name(c).is_none() => Ok(found),
                _ => collation(c, None),
            }
        }
        (Some(cs), Some(c)) => collation(c, Some(charset(cs)?)),
    }
}

fn clause_collation(clause: &CharsetClause, default: Collation) -> SqlResult<Collation> {
    let mut base = default;
    if let Some(cs) = &clause.charset {
        base = charset(cs)?.default_collation();
    }
    if clause.binary {
        base = base.charset().bin_collation();
    }
    match (&clause.charset, &clause.collation) {
        (Some(_), Some(c)) => collation(c, Some(base.charset())),
        (None, Some(c)) => resolve_collation(None, Some(c), base),
        _ => Ok(base),
    }
}

/// The column type of a declared type; `name` is the column's, for messages.
///
/// # Errors
/// 1063, 1074, 1097, 1115, 1253, 1273, 1291, 1367, 1425, 1426, 1427, 1439, 4161, and 1235 for types that there are not yet.
pub fn column_type(name: &str, ty: &DataType, cx: &mut TypeContext<'_>) -> SqlResult<SqlType> {
    Ok(match ty {
        DataType::Int { size, width, attrs } => int(name, *size, *width, attrs)?,
        DataType::Serial => SqlType::int(IntWidth::Big, true),
        DataType::Decimal { precision, scale, attrs } => decimal(name, *precision, *scale, attrs)?,
        DataType::Float { precision, scale: None, attrs } => match precision {
            Some(p) if *p > 53 => return Err(sql_err!(ER_WRONG_FIELD_SPEC, name)),
            Some(p) if *p > 24 => SqlType::Double { unsigned: unsigned(attrs), zerofill: attrs.zerofill, digits: None },
            _ => SqlType::Float { unsigned: unsigned(attrs), zerofill: attrs.zerofill, digits: None },
        },
        DataType::Float { precision, scale, attrs } => SqlType::Float {
            unsigned: unsigned(attrs),
            zerofill: attrs.zerofill,
            digits: digits(name, *precision, *scale)?,
        },
        DataType::Double { precision, scale, attrs } => SqlType::Double {
            unsigned: unsigned(attrs),
            zerofill: attrs.zerofill,
            digits: digits(name, *precision, *scale)?,
        },
        DataType::Bit(n) => match n.unwrap_or(1) {
            0 => SqlType::Bit(1),
            n if n <= 64 => SqlType::Bit(n as u8),
            _ => return Err(sql_err!(ER_TOO_BIG_DISPLAYWIDTH, name, 64)),
        },
        DataType::Date => SqlType::Date,
        DataType::Time(n) => SqlType::Time { fsp: fsp(name, *n)? },
        DataType::DateTime(n) => SqlType::DateTime { fsp: fsp(name, *n)? },
        DataType::Timestamp(n) => SqlType::Timestamp { fsp: fsp(name, *n)? },
        DataType::Year(n) => match n.unwrap_or(4) {
            4 => SqlType::Year(4),
            n => {
                cx.diag.note(sql_err!(ER_WARN_DEPRECATED_SYNTAX, format!("YEAR({n})"), "YEAR(4)"));
                SqlType::Year(if n == 2 { 2 } else { 4 })
            }
        },
        DataType::Char { length, charset } => {
            let collation = clause_collation(charset, cx.collation)?;
            let len = length.unwrap_or(1);
            if len > 255 {
                return Err(sql_err!(ER_TOO_BIG_FIELDLENGTH, name, 255));
            }
            SqlType::Text { kind: TextKind::Char, len: len as u32, collation }
        }
        DataType::Binary(n) => {
            let len = n.unwrap_or(1);
            if len > 255 {
                return Err(sql_err!(ER_TOO_BIG_FIELDLENGTH, name, 255));
            }
            SqlType::Text { kind: TextKind::Char, len: len as u32, collation: Collation::BINARY }
        }
        DataType::VarChar { length, charset } => varchar(name, *length, clause_collation(charset, cx.collation)?, cx)?,
        DataType::VarBinary(n) => varchar(name, *n, Collation::BINARY, cx)?,
        DataType::Text { size, length, charset } => {
            let collation = clause_collation(charset, cx.collation)?;
            lob(name, *size, *length, collation)?
        }
        DataType::Blob { size, length } => lob(name, *size, *length, Collation::BINARY)?,
        DataType::Json { charset } => {
            let collation = clause_collation(charset, Collation::UTF8MB4_BIN)?;
            lob(name, LobSize::Long, None, collation)?
        }
        DataType::Enum { values, charset } => {
            let collation = clause_collation(charset, cx.collation)?;
            if values.len() > 65_535 {
                return Err(sql_err!(ER_TOO_MANY_FIELDS));
            }
            SqlType::Enum(members(name, values, collation, "ENUM", cx)?)
        }
        DataType::Set { values, charset } => {
            let collation = clause_collation(charset, cx.collation)?;
            if values.len() > 64 {
                return Err(sql_err!(ER_TOO_BIG_SET, name));
            }
            if let Some(v) = values.iter().find(|v| v.contains(&b',')) {
                return Err(sql_err!(ER_ILLEGAL_VALUE_FOR_TYPE, "set", String::from_utf8_lossy(v)));
            }
            SqlType::Set(members(name, values, collation, "SET", cx)?)
        }
        DataType::Uuid => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "UUID")),
        DataType::Inet4 => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "INET4")),
        DataType::Inet6 => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "INET6")),
        DataType::Geometry { .. } => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "GEOMETRY")),
        DataType::Named(n) => return Err(sql_err!(ER_UNKNOWN_DATA_TYPE, n)),
    })
}

fn unsigned(attrs: &NumericAttrs) -> bool {
    attrs.unsigned || attrs.zerofill
}

fn int(name: &str, size: IntSize, display: Option<u64>, attrs: &NumericAttrs) -> SqlResult<SqlType> {
    let width = match size {
        IntSize::Tiny => IntWidth::Tiny,
        IntSize::Small => IntWidth::Small,
        IntSize::Medium => IntWidth::Medium,
        IntSize::Int => IntWidth::Int,
        IntSize::Big => IntWidth::Big,
    };
    let unsigned = unsigned(attrs);
    let display = match display {
        None | Some(0) => width.default_display(unsigned),
        Some(d) => u8::try_from(d).map_err(|_| sql_err!(ER_TOO_BIG_DISPLAYWIDTH, name, 255))?,
    };
    Ok(SqlType::Int { width, unsigned, zerofill: attrs.zerofill, display })
}

fn decimal(name: &str, precision: Option<u64>, scale: Option<u64>, attrs: &NumericAttrs) -> SqlResult<SqlType> {
    let scale = scale.unwrap_or(0);
    let precision = match precision.unwrap_or(0) {
        0 if scale == 0 => 10,
        p => p,
    };
    if scale > 38 {
        return Err(sql_err!(ER_TOO_BIG_SCALE, name, 38));
    }
    if precision > 65 {
        return Err(sql_err!(ER_TOO_BIG_PRECISION, name, 65));
    }
    if scale > precision {
        return Err(sql_err!(ER_M_BIGGER_THAN_D, name));
    }
    Ok(SqlType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
        unsigned: unsigned(attrs),
        zerofill: attrs.zerofill,
    })
}

fn digits(name: &str, m: Option<u64>, d: Option<u64>) -> SqlResult<Option<(u8, u8)>> {
    let (Some(m), Some(d)) = (m, d) else { return Ok(None) };
    if d > 30 {
        return Err(sql_err!(ER_TOO_BIG_SCALE, name, 30));
    }
    let m = u8::try_from(m).map_err(|_| sql_err!(ER_TOO_BIG_DISPLAYWIDTH, name, 255))?;
    if d > m as u64 {
        return Err(sql_err!(ER_M_BIGGER_THAN_D, name));
    }
    Ok(Some((m, d as u8)))
}

fn fsp(name: &str, n: Option<u64>) -> SqlResult<u8> {
    match n.unwrap_or(0) {
        n @ 0..=6 => Ok(n as u8),
        _ => Err(sql_err!(ER_TOO_BIG_PRECISION, name, 6)),
    }
}

fn varchar(name: &str, len: u64, collation: Collation, cx: &mut TypeContext<'_>) -> SqlResult<SqlType> {
    let max_len = collation.charset().max_len();
    let max = VARCHAR_BYTES_MAX / max_len;
    if len <= max as u64 {
        return Ok(SqlType::varchar(len as u32, collation));
    }
    if cx.sql_mode.strict() {
        return Err(sql_err!(ER_TOO_BIG_FIELDLENGTH, name, max));
    }
    let (from, to) = if collation.is_binary() { ("VARBINARY", "BLOB") } else { ("VARCHAR", "TEXT") };
    cx.diag.note(sql_err!(ER_AUTO_CONVERT, name, from, to));
    Ok(lob_of_bytes(len.saturating_mul(max_len as u64), collation))
}

fn lob(name: &str, size: LobSize, length: Option<u64>, collation: Collation) -> SqlResult<SqlType> {
    let kind = match (size, length) {
        (LobSize::Normal, Some(n)) if n > 0 => {
            let bytes = n.saturating_mul(collation.charset().max_len() as u64);
            if n > u32::MAX as u64 {
                return Err(sql_err!(ER_TOO_BIG_DISPLAYWIDTH, name, u32::MAX));
            }
            return Ok(lob_of_bytes(bytes, collation));
        }
        (LobSize::Tiny, _) => TextKind::TinyText,
        (LobSize::Normal, _) => TextKind::Text,
        (LobSize::Medium, _) => TextKind::MediumText,
        (LobSize::Long, _) => TextKind::LongText,
    };
    Ok(lob_type(kind, collation))
}

fn lob_of_bytes(bytes: u64, collation: Collation) -> SqlType {
    lob_type(TextKind::for_bytes(bytes), collation)
}

fn lob_type(kind: TextKind, collation: Collation) -> SqlType {
    SqlType::Text { kind, len: kind.blob_limit().unwrap_or(u32::MAX), collation }
}

fn members(
    column: &str,
    values: &[Vec<u8>],
    collation: Collation,
    what: &str,
    cx: &mut TypeContext<'_>,
) -> SqlResult<Arc<EnumDef>> {
    let members: Vec<String> =
        values.iter().map(|v| String::from_utf8_lossy(v).trim_end_matches(' ').to_owned()).collect();
    for (i, m) in members.iter().enumerate() {
        if members[..i].iter().any(|o| collation.equal(o.as_bytes(), m.as_bytes())) {
            let first = members[..i].iter().find(|o| collation.equal(o.as_bytes(), m.as_bytes())).unwrap_or(m);
            let e = sql_err!(ER_DUPLICATED_VALUE_IN_TYPE, column, first, what);
            if cx.sql_mode.strict() {
                return Err(e);
            }
            cx.diag.note(e);
        }
    }
    Ok(Arc::new(EnumDef { members, collation }))
}

/// Bytes that a column takes of MariaDB's row size limit (error 1118), BLOBs not counted beyond their pointer.
pub fn row_bytes(ty: &SqlType) -> u32 {
    match ty {
        SqlType::Null => 0,
        SqlType::Int { width, .. } => width.bytes() as u32,
        SqlType::Bit(n) => (*n as u32).div_ceil(8),
        SqlType::Year(_) => 1,
        SqlType::Float { .. } => 4,
        SqlType::Double { .. } => 8,
        SqlType::Decimal { precision, scale, .. } => selkie_types::Decimal::binary_len(*precision, *scale) as u32,
        SqlType::Date => 3,
        SqlType::Time { fsp } => 3 + (*fsp as u32).div_ceil(2),
        SqlType::DateTime { fsp } => 5 + (*fsp as u32).div_ceil(2),
        SqlType::Timestamp { fsp } => 4 + (*fsp as u32).div_ceil(2),
        SqlType::Text { kind: TextKind::Char, len, collation } => len * collation.charset().max_len(),
        SqlType::Text { kind: TextKind::VarChar, len, collation } => {
            let bytes = len * collation.charset().max_len();
            bytes + if bytes > 255 { 2 } else { 1 }
        }
        SqlType::Text { kind, .. } => match kind {
            TextKind::TinyText => 9,
            TextKind::Text => 10,
            TextKind::MediumText => 11,
            _ => 12,
        },
        SqlType::Enum(d) => {
            if d.members.len() > 255 {
                2
            } else {
                1
            }
        }
        SqlType::Set(d) => match d.members.len().div_ceil(8) {
            n @ 0..=4 => n.max(1) as u32,
            _ => 8,
        },
    }
}
