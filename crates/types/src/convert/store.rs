//! Assignment of values to columns.
//!
//! What does not fit is adjusted with a warning, or refused with an error in strict mode. What a column
//! merely has no room for (fractional digits, trailing spaces, a time of day) is adjusted with a note.

use std::borrow::Cow;
use std::sync::Arc;

use super::cast::{int_range, int_value, prefix_len, temporal_decimal};
use super::number::{Rest, f64_to_decimal, f64_to_i128, parse_f64, rest_of, round_f64, write_f64_in};
use super::temporal::{split_number, time_on_today};
use super::text::{text_of, write_text};
use super::{ColumnRef, ConvertCtx, is_binary, repaired, shown};
use crate::datetime::{Cut, DateRules, Kind, Parts};
use crate::{
    Collation, Date, DateTime, Decimal, EnumDef, IntWidth, SqlError, SqlResult, SqlType, TextKind, Time, Value, codes,
    sql_err,
};

/// Puts a value of type `from` into a column of type `to`, named `column` in messages. In strict mode
/// (and without IGNORE) what does not fit is an error (1264, 1265, 1292, 1366, 1406), else it is
/// adjusted with a warning. NULL passes through.
pub fn store<'a>(
    v: Value,
    from: &SqlType,
    to: &SqlType,
    column: impl Into<ColumnRef<'a>>,
    ctx: &mut ConvertCtx<'_>,
) -> SqlResult<Value> {
    if v.is_null() {
        return Ok(v);
    }
    let mut s = Store { from, to, column: column.into(), ctx };
    match to {
        SqlType::Null => Ok(v),
        SqlType::Int { width, unsigned, .. } => s.int(v, *width, *unsigned),
        SqlType::Bit(bits) => s.bit(&v, *bits),
        SqlType::Year(_) => s.year(&v),
        SqlType::Float { unsigned, digits, .. } => s.double(&v, true, *unsigned, *digits),
        SqlType::Double { unsigned, digits, .. } => s.double(&v, false, *unsigned, *digits),
        SqlType::Decimal { precision, scale, unsigned, .. } => s.decimal(v, *precision, *scale, *unsigned),
        SqlType::Date => s.date(&v),
        SqlType::Time { fsp } => s.time(&v, *fsp),
        SqlType::DateTime { fsp } => s.datetime(&v, *fsp),
        SqlType::Timestamp { fsp } => s.timestamp(&v, *fsp),
        SqlType::Text { kind, len, collation } => s.text(v, *kind, *len, *collation),
        SqlType::Enum(def) => s.enumeration(&v, def),
        SqlType::Set(def) => s.set(&v, def),
    }
}

struct Store<'a, 'c, 's> {
    from: &'a SqlType,
    to: &'a SqlType,
    column: ColumnRef<'a>,
    ctx: &'c mut ConvertCtx<'s>,
}

impl Store<'_, '_, '_> {
    /// An error in strict mode, else a warning.
    fn bad(&mut self, e: SqlError) -> SqlResult<()> {
        if self.ctx.strict() {
            return Err(e);
        }
        self.ctx.diag.warn(e);
        Ok(())
    }

    fn row(&self) -> u64 {
        self.ctx.diag.current_row
    }

    fn out_of_range(&mut self) -> SqlResult<()> {
        let e = sql_err!(ER_WARN_DATA_OUT_OF_RANGE, self.column.column, self.row());
        self.bad(e)
    }

    fn truncated(&mut self) -> SqlResult<()> {
        let e = sql_err!(WARN_DATA_TRUNCATED, self.column.column, self.row());
        self.bad(e)
    }

    fn truncated_note(&mut self) {
        let e = sql_err!(WARN_DATA_TRUNCATED, self.column.column, self.row());
        self.ctx.diag.note(e);
    }

    /// 1406 in strict mode, else 1265.
    fn too_long(&mut self) -> SqlResult<()> {
        if self.ctx.strict() {
            return Err(sql_err!(ER_DATA_TOO_LONG, self.column.column, self.row()));
        }
        self.truncated()
    }

    /// 1366: `Incorrect integer value: 'abc' for column …`.
    fn incorrect_error(&self, what: &str, value: &[u8], binary: bool) -> SqlError {
        let c = &self.column;
        sql_err!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, what, shown(value, binary), c.db, c.table, c.column, self.row())
    }

    /// What was left of a text after its number.
    fn number_rest(&mut self, what: &str, text: &[u8], used: usize) -> SqlResult<()> {
        match rest_of(text, used) {
            Rest::Nothing => Ok(()),
            Rest::Blanks => {
                self.truncated_note();
                Ok(())
            }
            Rest::Other => self.truncated(),
            Rest::NoNumber => {
                let e = self.incorrect_error(what, text, is_binary(self.from));
                self.bad(e)
            }
        }
    }

    fn int(&mut self, v: Value, width: IntWidth, unsigned: bool) -> SqlResult<Value> {
        match (&v, width, unsigned) {
            (Value::Int(_), IntWidth::Big, false) | (Value::UInt(_), IntWidth::Big, true) => return Ok(v),
            _ => {}
        }
        let (min, max) = int_range(width, unsigned);
        let mut text = None;
        // Numbers beyond 128 bits are out of range all the same.
        let decimal =
            |d: &Decimal| d.round(0).mantissa().unwrap_or(if d.is_negative() { i128::MIN } else { i128::MAX });
        let n = match &v {
            Value::Null => return Ok(v),
            Value::Int(i) => *i as i128,
            Value::UInt(u) => *u as i128,
            Value::Double(d) => f64_to_i128(*d),
            Value::Decimal(d) => decimal(d),
            Value::Bytes(b) => {
                let p = Decimal::parse_prefix(b);
                text = Some((b, p.used));
                decimal(&p.value)
            }
            Value::Date(d) => d.to_number() as i128,
            Value::Time(_) | Value::DateTime(_) => self.temporal_int(&v),
        };
        let negative_fraction = unsigned && matches!(&v, Value::Decimal(d) if d.is_negative());
        if n < min || n > max || negative_fraction {
            self.out_of_range()?;
            return Ok(int_value(n.clamp(min, max), unsigned));
        }
        if let Some((b, used)) = text {
            self.number_rest("integer", b, used)?;
        }
        Ok(int_value(n, unsigned))
    }

    fn temporal_int(&self, v: &Value) -> i128 {
        let rules = DateRules::of(self.ctx.sql_mode);
        match v {
            Value::Time(t) if rules.round => t.round(0).to_number() as i128,
            Value::DateTime(t) if rules.round => t.round(0).unwrap_or(*t).to_number() as i128,
            Value::Time(t) => t.to_number() as i128,
            Value::DateTime(t) => t.to_number() as i128,
            _ => 0,
        }
    }

    fn bit(&mut self, v: &Value, bits: u8) -> SqlResult<Value> {
        let max = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let n = match v {
            Value::Bytes(b) => {
                let b = &b[b.iter().take_while(|c| **c == 0).count()..];
                if b.len() > 8 { None } else { Some(b.iter().fold(0u64, |n, c| n << 8 | *c as u64)) }
            }
            Value::Int(i) => Some(*i as u64),
            Value::UInt(u) => Some(*u),
            Value::Double(d) => match f64_to_i128(*d) {
                i if i < i64::MIN as i128 || i > u64::MAX as i128 => None,
                i => Some(i as u64),
            },
            Value::Decimal(d) => {
                let (u, over) = d.to_u64();
                if over || d.is_negative() {
                    self.out_of_range()?;
                }
                Some(u)
            }
            _ => Some(self.temporal_int(v).max(match v {
                Value::Date(d) => d.to_number() as i128,
                _ => i128::MIN,
            }) as u64),
        };
        match n {
            Some(n) if n <= max => Ok(Value::UInt(n)),
            _ => {
                if self.ctx.strict() {
                    return Err(sql_err!(ER_DATA_TOO_LONG, self.column.column, self.row()));
                }
                self.out_of_range()?;
                Ok(Value::UInt(max))
            }
        }
    }

    fn year(&mut self, v: &Value) -> SqlResult<Value> {
        if self.from.is_temporal() {
            let name = match v {
                Value::Date(_) => "date",
                Value::Time(_) => "time",
                _ => "datetime",
            };
            return self.bad_temporal_in_year(v, name);
        }
        let mut rest = None;
        let mut zero_is_2000 = false;
        let n = match v {
            Value::Int(i) => *i as i128,
            Value::UInt(u) => *u as i128,
            Value::Double(d) => f64_to_i128(*d),
            Value::Decimal(d) => {
                if d.is_negative() {
                    -1
                } else {
                    d.round(0).mantissa().unwrap_or(i128::MAX)
                }
            }
            Value::Bytes(b) => {
                let p = Decimal::parse_prefix(b);
                rest = Some((b, p.used));
                zero_is_2000 = p.used > 0 && b.len() != 4;
                p.value.round(0).mantissa().unwrap_or(i128::MAX)
            }
            _ => 0,
        };
        let year = match n {
            0 if zero_is_2000 => 2000,
            0 => 0,
            1..70 => n + 2000,
            70..100 => n + 1900,
            1901..2156 => n,
            _ => {
                self.out_of_range()?;
                return Ok(Value::Int(0));
            }
        };
        if let Some((b, used)) = rest {
            self.number_rest("integer", b, used)?;
            if matches!(rest_of(b, used), Rest::NoNumber) {
                return Ok(Value::Int(0));
            }
        }
        Ok(Value::Int(year as i64))
    }

    fn bad_temporal_in_year(&mut self, v: &Value, name: &str) -> SqlResult<Value> {
        if self.ctx.strict() {
            let text = temporal_text(v);
            return Err(self.incorrect_temporal(name, &text));
        }
        self.truncated()?;
        let year = match v {
            Value::Date(d) => d.year(),
            Value::DateTime(t) => t.date().year(),
            _ => 0,
        };
        Ok(Value::Int(if (1901..2156).contains(&year) { year as i64 } else { 0 }))
    }

    fn double(&mut self, v: &Value, float: bool, unsigned: bool, digits: Option<(u8, u8)>) -> SqlResult<Value> {
        let d = match v {
            Value::Double(d) => *d,
            Value::Int(i) => *i as f64,
            Value::UInt(u) => *u as f64,
            Value::Decimal(d) => d.to_f64(),
            Value::Bytes(b) => {
                let p = parse_f64(b);
                if p.overflow {
                    self.out_of_range()?;
                }
                self.number_rest("double", b, p.used)?;
                p.value
            }
            _ => temporal_decimal(v, self.from).to_f64(),
        };
        if d.is_nan() {
            self.out_of_range()?;
            return Ok(Value::Double(0.0));
        }
        if unsigned && d < 0.0 {
            self.out_of_range()?;
            return Ok(Value::Double(0.0));
        }
        let mut max = if float { f32::MAX as f64 } else { f64::MAX };
        let mut r = d;
        if let Some((m, decimals)) = digits {
            r = round_f64(d, decimals);
            let p = 10f64.powi(decimals as i32);
            max = max.min((10f64.powi(m as i32) - 1.0) / p);
        }
        if r.abs() > max {
            self.out_of_range()?;
            r = max.copysign(r);
        }
        Ok(Value::Double(if float { r as f32 as f64 } else { r }))
    }

    fn decimal(&mut self, v: Value, precision: u8, scale: u8, unsigned: bool) -> SqlResult<Value> {
        let mut parse_overflow = false;
        let d = match v {
            Value::Decimal(d) => d,
            Value::Int(i) => Decimal::from(i),
            Value::UInt(u) => Decimal::from(u),
            Value::Double(d) => {
                let (d, over) = f64_to_decimal(d);
                parse_overflow = over;
                d
            }
            Value::Bytes(ref b) => {
                let p = Decimal::parse_prefix(b);
                self.number_rest("decimal", b, p.used)?;
                parse_overflow = p.overflow;
                p.value
            }
            ref t => temporal_decimal(t, self.from),
        };
        if unsigned && d.is_negative() {
            self.out_of_range()?;
            return Ok(Value::Decimal(Decimal::from_mantissa(0, scale)));
        }
        let (stored, over) = d.to_column(precision, scale);
        if over || parse_overflow {
            self.out_of_range()?;
        } else if d.scale() > scale && d != stored {
            self.truncated_note();
        }
        Ok(Value::Decimal(stored))
    }

    /// 1292: `Incorrect datetime value: '…' for column …`.
    fn incorrect_temporal(&self, what: &str, text: &[u8]) -> SqlError {
        let e = self.incorrect_error(what, text, is_binary(self.from));
        SqlError::raw(codes::ER_TRUNCATED_WRONG_VALUE, "22007", e.message().to_string())
    }

    /// A value that is no date or time, or only in part: 1292 in strict mode, else 1265.
    fn bad_temporal(&mut self, what: &str, v: &Value) -> SqlResult<()> {
        if self.ctx.strict() {
            return Err(self.incorrect_temporal(what, &message_text(v, self.from)));
        }
        self.truncated()
    }

    /// As [`Self::bad_temporal`] for values out of range: 1264 when not strict.
    fn temporal_out_of_range(&mut self, what: &str, v: &Value) -> SqlResult<()> {
        if self.ctx.strict() {
            return Err(self.incorrect_temporal(what, &message_text(v, self.from)));
        }
        self.out_of_range()
    }

    /// Date and time parts of a value, with what was lost on the way; `None`: incorrect (warned).
    fn datetime_parts(&mut self, v: &Value, what: &str, rules: DateRules) -> SqlResult<Option<Parts>> {
        let of = |date: Date, t: Time, kind| Parts {
            kind,
            negative: false,
            date,
            hour: t.hours(),
            minute: t.minutes(),
            second: t.seconds(),
            nanos: t.micros() * 1000,
            cut: Cut::None,
        };
        let parts = match v {
            Value::Date(d) => d.is_valid(rules).then(|| of(*d, Time(0), Kind::Date)),
            Value::DateTime(t) => t.date().is_valid(rules).then(|| of(t.date(), t.time(), Kind::DateTime)),
            Value::Time(t) => time_on_today(*t, self.ctx).map(|d| of(d.date(), d.time(), Kind::DateTime)),
            Value::Bytes(b) => Parts::parse_datetime(b, rules),
            _ => split_number(v)
                .filter(|n| !n.overflow && !n.negative)
                .and_then(|n| Parts::datetime_from_number(n.whole, n.nanos, rules)),
        };
        let Some(p) = parts else {
            if rules.no_zero_date && is_zero_date(v) && !matches!(self.to, SqlType::Timestamp { .. }) {
                self.temporal_out_of_range(what, v)?;
            } else {
                self.bad_temporal(what, v)?;
            }
            return Ok(None);
        };
        match p.cut {
            Cut::Text => self.bad_temporal(what, v)?,
            Cut::Fraction => self.truncated_note(),
            Cut::None => {}
        }
        Ok(Some(p))
    }

    fn date(&mut self, v: &Value) -> SqlResult<Value> {
        let rules = DateRules::of(self.ctx.sql_mode);
        let Some(p) = self.datetime_parts(v, "date", rules)? else {
            return Ok(Value::Date(Date::ZERO));
        };
        let t = p.datetime(0, rules);
        let lost = p.hour != 0 || p.minute != 0 || p.second != 0 || p.nanos != 0;
        if lost && p.cut == Cut::None && !matches!(v, Value::Decimal(_) | Value::Double(_) if p.date.is_zero()) {
            self.truncated_note();
        }
        Ok(Value::Date(t.date()))
    }

    fn datetime(&mut self, v: &Value, fsp: u8) -> SqlResult<Value> {
        let rules = DateRules::of(self.ctx.sql_mode);
        Ok(Value::DateTime(self.datetime_by(v, fsp, rules)?.unwrap_or(DateTime::ZERO)))
    }

    /// Date and time by some rules; `None` where there is none (warned).
    fn datetime_by(&mut self, v: &Value, fsp: u8, rules: DateRules) -> SqlResult<Option<DateTime>> {
        let what = "datetime";
        // The usual case: nothing to convert.
        if let Value::DateTime(t) = v
            && t.date().is_valid(rules)
            && t.truncate(fsp) == *t
        {
            return Ok(Some(*t));
        }
        let Some(p) = self.datetime_parts(v, what, rules)? else {
            return Ok(None);
        };
        Ok(Some(p.datetime(fsp, rules)))
    }

    fn timestamp(&mut self, v: &Value, fsp: u8) -> SqlResult<Value> {
        let rules = DateRules { no_zero_in_date: true, allow_invalid: false, ..DateRules::of(self.ctx.sql_mode) };
        let Some(t) = self.datetime_by(v, fsp, rules)? else {
            return Ok(Value::DateTime(DateTime::ZERO));
        };
        if t.date().is_zero() {
            if split_number(v).is_some_and(|n| n.nanos != 0) || t != DateTime::ZERO {
                self.bad_temporal("datetime", v)?;
            }
            return Ok(Value::DateTime(DateTime::ZERO));
        }
        match self.ctx.time_zone.resolve(t) {
            Some(r) if !r.in_gap => Ok(Value::DateTime(t)),
            Some(r) => {
                if self.ctx.strict() {
                    return Err(self.incorrect_temporal("datetime", &message_text(v, self.from)));
                }
                let e = sql_err!(ER_WARN_INVALID_TIMESTAMP, self.column.column, self.row());
                self.ctx.diag.warn(e);
                Ok(Value::DateTime(self.ctx.time_zone.to_local(r.utc_micros)))
            }
            None => {
                self.temporal_out_of_range("datetime", v)?;
                Ok(Value::DateTime(DateTime::ZERO))
            }
        }
    }

    fn time(&mut self, v: &Value, fsp: u8) -> SqlResult<Value> {
        let rules = DateRules::of(self.ctx.sql_mode);
        let fit = |t: Time| if rules.round { t.round(fsp) } else { t.truncate(fsp) };
        let parts = match v {
            Value::Time(t) => return Ok(Value::Time(fit(*t))),
            Value::Date(_) => {
                self.truncated_note();
                return Ok(Value::Time(Time(0)));
            }
            Value::DateTime(t) => {
                self.truncated_note();
                return Ok(Value::Time(fit(t.time())));
            }
            Value::Bytes(b) => Parts::parse_time(b, rules),
            _ => split_number(v).and_then(|n| {
                Parts::time_from_number(if n.overflow { i64::MAX } else { n.whole }, n.negative, n.nanos, rules)
            }),
        };
        let Some(p) = parts else {
            self.bad_temporal("time", v)?;
            return Ok(Value::Time(Time(0)));
        };
        let t = p.time(fsp, rules);
        let at_limit = p.kind == Kind::Time && p.hour == 838 && p.nanos == 999_999_000;
        match p.cut {
            Cut::Text if at_limit => self.temporal_out_of_range("time", v)?,
            Cut::Text => self.bad_temporal("time", v)?,
            Cut::Fraction => self.truncated_note(),
            Cut::None if p.kind != Kind::Time && !p.date.is_zero() => self.truncated_note(),
            Cut::None => {}
        }
        Ok(Value::Time(t))
    }

    fn text(&mut self, v: Value, kind: TextKind, len: u32, collation: Collation) -> SqlResult<Value> {
        let binary = collation.is_binary();
        let bytes: Arc<[u8]> = match v {
            Value::Bytes(b) => b,
            Value::Double(d) if matches!(self.from, SqlType::Double { digits: None, .. }) => {
                let width = if is_blob(kind) { 400 } else { len as usize };
                let mut out = Vec::new();
                if !write_f64_in(d, width, &mut out) {
                    self.too_long()?;
                }
                Arc::from(out)
            }
            other => {
                let mut out = Vec::new();
                write_text(&other, self.from, &mut out);
                Arc::from(out)
            }
        };
        let mut bytes = bytes;
        if !binary {
            bytes = self.encodable(bytes, collation)?;
        }
        let keep = match kind {
            TextKind::Char | TextKind::VarChar => prefix_len(&bytes, len as usize, binary),
            _ => byte_prefix_len(&bytes, len as usize, collation),
        };
        if keep < bytes.len() {
            if !binary && bytes[keep..].iter().all(|c| super::number::is_blank(*c)) {
                if kind != TextKind::Char {
                    self.truncated_note();
                }
            } else {
                self.too_long()?;
            }
        }
        let mut end = keep;
        if kind == TextKind::Char && !binary {
            end -= bytes[..end].iter().rev().take_while(|c| **c == b' ').count();
        }
        if kind == TextKind::Char && binary && end < len as usize {
            let mut padded = bytes[..end].to_vec();
            padded.resize(len as usize, 0);
            return Ok(Value::Bytes(Arc::from(padded)));
        }
        Ok(Value::Bytes(if end == bytes.len() { bytes } else { Arc::from(&bytes[..end]) }))
    }

    /// Text that the column's character set can hold; 1366 for what it cannot, `?` in its place.
    fn encodable(&mut self, bytes: Arc<[u8]>, collation: Collation) -> SqlResult<Arc<[u8]>> {
        if bytes.is_ascii() {
            return Ok(bytes);
        }
        let charset = collation.charset();
        let (text, first_invalid) = match std::str::from_utf8(&bytes) {
            Ok(_) if charset.can_hold(&bytes) => return Ok(bytes),
            Ok(text) => (Cow::Borrowed(text), None),
            Err(e) => (Cow::Owned(repaired(&bytes)), Some(e.valid_up_to())),
        };
        let mut out = String::with_capacity(text.len());
        let mut first_bad = None;
        for (i, c) in text.char_indices() {
            if charset.can_hold(c.encode_utf8(&mut [0; 4]).as_bytes()) {
                out.push(c);
            } else {
                first_bad.get_or_insert(i);
                out.push('?');
            }
        }
        // Up to the first invalid byte both texts are the same.
        let at = first_bad.into_iter().chain(first_invalid).min().unwrap_or(0);
        self.bad_string(&bytes[at..])?;
        Ok(Arc::from(out.as_bytes()))
    }

    /// 1366: `Incorrect string value: '\xE6\x97…'`, from the first bad byte on.
    fn bad_string(&mut self, from: &[u8]) -> SqlResult<()> {
        use std::fmt::Write;
        let mut text = String::new();
        for b in from.iter().take(6) {
            if (0x20..0x7f).contains(b) {
                text.push(*b as char);
            } else {
                let _ = write!(text, "\\x{b:02X}");
            }
        }
        if from.len() > 6 {
            text.push_str("...");
        }
        let e = self.incorrect_error("string", text.as_bytes(), false);
        self.bad(e)
    }

    fn enumeration(&mut self, v: &Value, def: &EnumDef) -> SqlResult<Value> {
        let count = def.members.len() as i128;
        let n = match v {
            Value::Bytes(b) => return self.enum_text(b, def),
            Value::UInt(u) if matches!(self.from, SqlType::Enum(_) | SqlType::Set(_)) => {
                if let SqlType::Enum(d) = self.from
                    && d.members == def.members
                {
                    return Ok(Value::UInt(*u));
                }
                let text = text_of(v, self.from);
                return self.enum_text(&text, def);
            }
            _ => self.plain_integer(v),
        };
        if n < 1 || n > count {
            self.truncated()?;
            return Ok(Value::UInt(0));
        }
        Ok(Value::UInt(n as u64))
    }

    /// A number that stands for a member or a bitmap.
    fn plain_integer(&self, v: &Value) -> i128 {
        match v {
            Value::Int(i) => *i as i128,
            Value::UInt(u) => *u as i128,
            Value::Double(d) => whole_or_lowest(*d),
            Value::Decimal(d) => whole_or_lowest(d.to_f64()),
            Value::Date(d) => d.to_number() as i128,
            Value::Time(_) | Value::DateTime(_) => self.temporal_int(v),
            _ => 0,
        }
    }

    fn enum_text(&mut self, text: &[u8], def: &EnumDef) -> SqlResult<Value> {
        let text = trim_end(text);
        if let Some(i) = find_member(text, def) {
            return Ok(Value::UInt(i as u64 + 1));
        }
        if let Some(n) = whole_number(text)
            && n >= 1
            && n <= def.members.len() as u64
        {
            return Ok(Value::UInt(n));
        }
        self.truncated()?;
        Ok(Value::UInt(0))
    }

    fn set(&mut self, v: &Value, def: &EnumDef) -> SqlResult<Value> {
        let all = if def.members.len() >= 64 { u64::MAX } else { (1 << def.members.len()) - 1 };
        let text = match v {
            Value::Bytes(b) => b.to_vec(),
            Value::UInt(u) if matches!(self.from, SqlType::Enum(_) | SqlType::Set(_)) => {
                if let SqlType::Set(d) = self.from
                    && d.members == def.members
                {
                    return Ok(Value::UInt(*u));
                }
                text_of(v, self.from).into_owned()
            }
            Value::Date(_) | Value::Time(_) | Value::DateTime(_) => text_of(v, self.from).into_owned(),
            _ => {
                let n = self.plain_integer(v);
                let bits = n.clamp(i64::MIN as i128, u64::MAX as i128) as u64;
                if bits & !all != 0 {
                    self.truncated()?;
                }
                return Ok(Value::UInt(bits & all));
            }
        };
        let mut bits = 0;
        let mut unknown = false;
        if !text.is_empty() {
            for part in trim_end(&text).split(|c| *c == b',') {
                match find_member(part, def) {
                    Some(i) if i < 64 => bits |= 1 << i,
                    _ => unknown = true,
                }
            }
        }
        if unknown {
            if let Some(n) = whole_number(&text) {
                if n & !all != 0 {
                    self.truncated()?;
                }
                return Ok(Value::UInt(n & all));
            }
            self.truncated()?;
        }
        Ok(Value::UInt(bits))
    }
}

/// Whether a value is the date `0000-00-00`, which the SQL mode may refuse.
fn is_zero_date(v: &Value) -> bool {
    match v {
        Value::Int(0) | Value::UInt(0) => true,
        Value::Date(d) => d.is_zero(),
        Value::DateTime(t) => t.date().is_zero(),
        Value::Bytes(b) => Parts::parse_datetime(b, DateRules::default()).is_some_and(|p| p.date.is_zero()),
        _ => false,
    }
}

fn trim_end(text: &[u8]) -> &[u8] {
    &text[..text.len() - text.iter().rev().take_while(|c| **c == b' ').count()]
}

fn find_member(text: &[u8], def: &EnumDef) -> Option<usize> {
    // An exact match is the usual case and needs no collation.
    def.members
        .iter()
        .position(|m| m.as_bytes() == text)
        .or_else(|| def.members.iter().position(|m| def.collation.equal(m.as_bytes(), text)))
}

/// A double cut to an integer; what is beyond 64 bits is the lowest number, as processors convert it.
fn whole_or_lowest(d: f64) -> i128 {
    if d.abs() < 9_223_372_036_854_775_808.0 { d.trunc() as i128 } else { i64::MIN as i128 }
}

/// Text that is an unsigned integer and nothing else.
fn whole_number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim_start();
    text.strip_prefix('+').unwrap_or(text).parse().ok()
}

fn is_blob(kind: TextKind) -> bool {
    !matches!(kind, TextKind::Char | TextKind::VarChar)
}

/// Bytes of UTF-8 that take at most `len` bytes in the column's character set.
fn byte_prefix_len(bytes: &[u8], len: usize, collation: Collation) -> usize {
    if collation.is_binary() || bytes.is_ascii() {
        return bytes.len().min(len);
    }
    let charset = collation.charset();
    if charset.byte_len(bytes) <= len {
        return bytes.len();
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.len().min(len) };
    let mut used = 0;
    for (i, c) in text.char_indices() {
        used += charset.byte_len(c.encode_utf8(&mut [0; 4]).as_bytes());
        if used > len {
            return i;
        }
    }
    bytes.len()
}

/// A date or time with all of its digits.
fn temporal_text(v: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    match v {
        Value::Date(d) => d.write_to(&mut out),
        Value::Time(t) => t.write_to(if t.micros() == 0 { 0 } else { 6 }, &mut out),
        Value::DateTime(t) => t.write_to(if t.micros() == 0 { 0 } else { 6 }, &mut out),
        _ => {}
    }
    out
}

fn message_text(v: &Value, from: &SqlType) -> Vec<u8> {
    match v {
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => temporal_text(v),
        _ => text_of(v, from).into_owned(),
    }
}
