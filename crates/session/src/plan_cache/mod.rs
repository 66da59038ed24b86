//! Plans of text statements, found by the statement's text with its literals taken out.
//!
//! A text that is seen for the second time gets a plan with parameters in the place of its literals
//! ([`selkie_parser::digest`]), if that plan is sure to do what the text's own plan does:
//!
//! * every literal taken out stands where only its value counts ([`params::all_plain`]);
//! * both plans have the same result columns, read tables in the same way and compare in the same types
//!   ([`same::does_the_same`]).
//!
//! From then on the text is neither parsed nor planned. A plan is good as long as the dictionary has the version that it
//! was made with, for the session's settings that decide names and types, and for literals of the same types. Texts that
//! cannot have such a plan are remembered as well.

mod params;
mod same;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::{FxBuildHasher, FxHasher};
use selkie_catalog::Schema;
use selkie_parser::ast::{Literal, Statement};
use selkie_parser::digest::{Digest, LiteralKind, LiteralToken};
use selkie_parser::{ParseMode, ParseOptions, parse};
use selkie_types::{Collation, SqlResult, SqlType, Value};

use crate::client::Client;
use crate::dml::Ready;
use crate::session::{Answer, Session};
use crate::status::bump;

/// Plans kept for one session.
const ENTRIES_MAX: usize = 256;
/// Texts remembered that were seen once.
const SEEN_MAX: usize = 4096;
/// Longer texts, and those with more literals, are not worth their memory.
const TEXT_BYTES_MAX: usize = 16 * 1024;
const LITERALS_MAX: usize = 256;

struct Entry {
    /// The digest's key, compared so that a collision of hashes does no harm.
    key: Box<[u8]>,
    settings: u64,
    /// The dictionary version it was made with.
    version: u64,
    /// Types of the literals.
    types: Vec<SqlType>,
    plan: CachedPlan,
}

#[derive(Clone)]
enum CachedPlan {
    /// Is good for all values.
    Ready(Arc<Ready>),
    /// The values seen so far are planned differently; tried again with so many others.
    NotYet(u8),
    /// The text is to be planned each time.
    Never,
}

/// How many values are tried.
const TRIES: u8 = 4;

/// The cache of a session.
#[derive(Default)]
pub struct PlanCache {
    entries: HashMap<u64, Entry, FxBuildHasher>,
    seen: HashSet<u64, FxBuildHasher>,
    /// Working memory, kept from statement to statement.
    digest: Digest,
    values: Vec<Value>,
}

impl PlanCache {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.seen.clear();
    }

    /// How many texts have a plan.
    pub fn len(&self) -> usize {
        self.entries.values().filter(|e| matches!(e.plan, CachedPlan::Ready(_))).count()
    }

    /// Whether no text has a plan.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Notes that a text was seen; whether it was before.
    fn note_seen(&mut self, id: u64) -> bool {
        if self.seen.len() >= SEEN_MAX {
            self.seen.clear();
        }
        !self.seen.insert(id)
    }

    fn put(&mut self, id: u64, entry: Entry) {
        if self.entries.len() >= ENTRIES_MAX {
            self.entries.clear();
        }
        self.entries.insert(id, entry);
    }
}

impl Session {
    /// Answers a text statement with a cached plan. `false`: there is none, nothing was done.
    pub(crate) fn try_cached(&mut self, client: &mut Client, text: &[u8], answer: Answer) -> SqlResult<bool> {
        if text.len() > TEXT_BYTES_MAX || !self.host.temporary.is_empty() {
            return Ok(false);
        }
        let mut digest = std::mem::take(&mut self.plans.digest);
        let mut values = std::mem::take(&mut self.plans.values);
        values.clear();
        let found = self.cached_plan(text, &mut digest, &mut values);
        self.plans.digest = digest;
        let done = match found {
            Ok(Some(ready)) => {
                bump(&self.host.instance.status.plan_hits);
                self.begin_data_statement();
                let text = text.trim_ascii();
                let own = text.strip_suffix(b";").map_or(text, <[u8]>::trim_ascii_end);
                self.run_planned(client, &ready, &values, own, answer).map(|()| true)
            }
            Ok(None) => Ok(false),
            Err(e) => Err(e),
        };
        values.clear();
        self.plans.values = values;
        done
    }

    /// The plan for a text, with metadata locks taken, and the values of its literals.
    fn cached_plan(&mut self, text: &[u8], digest: &mut Digest, values: &mut Vec<Value>) -> SqlResult<Option<Arc<Ready>>> {
        let options = self.parse_options();
        if !digest.fill(text, &options) || digest.literals().len() > LITERALS_MAX {
            return Ok(None);
        }
        let settings = self.plan_settings();
        let collation = self.host.hot.collation_connection;
        let mut id = FxHasher::default();
        (digest.hash(), settings).hash(&mut id);
        for token in digest.literals() {
            let Some((value, ty)) = literal_value(token, text, &options.mode, collation) else { return Ok(None) };
            type_code(&ty).hash(&mut id);
            values.push(value);
        }
        let id = id.finish();
        let schema = self.instance.dictionary.schema();
        let mut tries = TRIES;
        if let Some(e) = self.plans.entries.get(&id)
            && e.version == schema.version
        {
            let fits = e.settings == settings && *e.key == *digest.key();
            if !fits || !e.types.iter().zip(values.iter()).all(|(t, v)| has_type(v, t)) {
                return Ok(None);
            }
            match e.plan.clone() {
                CachedPlan::Ready(ready) => return Ok(self.lock_planned(&schema, &ready)?.then_some(ready)),
                CachedPlan::NotYet(left) => tries = left,
                CachedPlan::Never => return Ok(None),
            }
        } else if !self.plans.note_seen(id) {
            return Ok(None);
        }
        let types: Vec<SqlType> =
            digest.literals().iter().zip(values.iter()).map(|(t, v)| type_of(t.kind, v, collation)).collect();
        let plan = match self.parameterized(&schema, text, digest, &types, &options) {
            CachedPlan::NotYet(_) if tries > 1 => CachedPlan::NotYet(tries - 1),
            CachedPlan::NotYet(_) => CachedPlan::Never,
            other => other,
        };
        let entry =
            Entry { key: digest.key().into(), settings, version: schema.version, types, plan: plan.clone() };
        self.plans.put(id, entry);
        match plan {
            CachedPlan::Ready(ready) => Ok(self.lock_planned(&schema, &ready)?.then_some(ready)),
            _ => Ok(None),
        }
    }

    /// The plan with parameters in the place of literals, if it is sure to do the same. What does not parse or plan gets
    /// its error on the way of all statements.
    fn parameterized(
        &self,
        schema: &Arc<Schema>,
        text: &[u8],
        digest: &Digest,
        types: &[SqlType],
        options: &ParseOptions,
    ) -> CachedPlan {
        let Ok(with_params) = parse(digest.text(), &ParseOptions { params: true, ..*options }) else {
            return CachedPlan::Never;
        };
        if with_params.param_count != types.len() || !params::all_plain(&with_params.statement, types.len()) {
            return CachedPlan::Never;
        }
        let Ok(own) = parse(text, options) else { return CachedPlan::Never };
        let planned = self.plan_in(schema, &with_params.statement, types);
        let own = self.plan_in(schema, &own.statement, &[]);
        match (planned, own) {
            (Ok(planned), Ok(own)) if same::does_the_same(&planned, &own) => CachedPlan::Ready(Arc::new(planned)),
            (Ok(_), Ok(_)) => CachedPlan::NotYet(TRIES),
            _ => CachedPlan::Never,
        }
    }

    /// A hash of the settings that decide names and types in plans.
    fn plan_settings(&self) -> u64 {
        let (host, hot) = (&self.host, &self.host.hot);
        let mut h = FxHasher::default();
        host.database.hash(&mut h);
        (hot.sql_mode.0, hot.collation_connection.0, hot.div_precision_increment).hash(&mut h);
        host.instance.plan_epoch.load(std::sync::atomic::Ordering::Relaxed).hash(&mut h);
        h.finish()
    }
}

/// A literal's value and the type that it has as a parameter. `None` for what is better planned each time.
fn literal_value(token: &LiteralToken, sql: &[u8], mode: &ParseMode, collation: Collation) -> Option<(Value, SqlType)> {
    let text = sql.get(token.start as usize..token.end as usize)?;
    let value = match token.kind {
        LiteralKind::Int if text.len() <= 18 => Value::Int(text.iter().try_fold(0i64, |n, d| {
            d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0'))
        })?),
        LiteralKind::Str if text.len() >= 2 && !text.contains(&b'\\') && !text[1..text.len() - 1].contains(&text[0]) => {
            utf8(&text[1..text.len() - 1])?
        }
        _ => match token.value(sql, mode) {
            Literal::Str(s) => utf8(&s.bytes)?,
            Literal::Int(n) => i64::try_from(n).map_or(Value::UInt(n), Value::Int),
            Literal::Decimal(t) | Literal::Float(t) => {
                let e = selkie_expr::bind::literal_number(&t).ok()?;
                let selkie_expr::ExprKind::Const(v) = e.kind else { return None };
                v
            }
            _ => return None,
        },
    };
    let ty = type_of(token.kind, &value, collation);
    Some((value, ty))
}

fn utf8(bytes: &[u8]) -> Option<Value> {
    std::str::from_utf8(bytes).ok().map(|_| Value::bytes(bytes))
}

/// The type of a parameter that holds a literal: one for many lengths.
fn type_of(kind: LiteralKind, v: &Value, collation: Collation) -> SqlType {
    match (kind, v) {
        (_, Value::Int(_)) => SqlType::BIGINT,
        (_, Value::UInt(_)) => SqlType::BIGINT_UNSIGNED,
        (_, Value::Decimal(d)) => {
            SqlType::Decimal { precision: d.precision().max(1), scale: d.scale(), unsigned: false, zerofill: false }
        }
        (_, Value::Bytes(b)) => SqlType::varchar(text_room(b.len()), collation),
        _ => SqlType::DOUBLE,
    }
}

/// Characters that a parameter for a text of so many bytes has room for.
fn text_room(bytes: usize) -> u32 {
    (bytes.max(255) + 1).next_power_of_two() as u32 - 1
}

/// What tells the types of literals apart.
fn type_code(ty: &SqlType) -> u32 {
    match ty {
        SqlType::Int { unsigned, .. } => u32::from(*unsigned),
        SqlType::Decimal { precision, scale, .. } => 0x1_0000 | u32::from(*precision) << 8 | u32::from(*scale),
        SqlType::Text { len, .. } => 0x2_0000 | len.ilog2(),
        _ => 0x3_0000,
    }
}

fn has_type(v: &Value, ty: &SqlType) -> bool {
    match (v, ty) {
        (Value::Int(_), SqlType::Int { unsigned, .. }) => !unsigned,
        (Value::UInt(_), SqlType::Int { unsigned, .. }) => *unsigned,
        (Value::Decimal(d), SqlType::Decimal { precision, scale, .. }) => {
            d.precision().max(1) == *precision && d.scale() == *scale
        }
        (Value::Bytes(b), SqlType::Text { len, .. }) => text_room(b.len()) == *len,
        (Value::Double(_), SqlType::Double { .. }) => true,
        _ => false,
    }
}

/// Whether a statement is of a kind whose plans are cached.
fn is_cacheable(s: &Statement) -> bool {
    match s {
        Statement::Query(q) => q.into.is_none(),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(sql: &str) -> Vec<(Value, SqlType)> {
        let mut digest = Digest::default();
        assert!(digest.fill(sql.as_bytes(), &ParseOptions::default()));
        let collation = Collation::UTF8MB4_GENERAL_CI;
        let mode = ParseMode::default();
        digest.literals().iter().map(|t| literal_value(t, sql.as_bytes(), &mode, collation).unwrap()).collect()
    }

    #[test]
    fn literals_become_values() {
        let v = values("INSERT INTO t VALUES (1, 9223372036854775808, 'it''s', 'a\\nb', \"x\", 1.50, 1e2, '')");
        let only: Vec<Value> = v.iter().map(|(v, _)| v.clone()).collect();
        assert_eq!(only[..5], [
            Value::Int(1),
            Value::UInt(9223372036854775808),
            Value::text("it's"),
            Value::text("a\nb"),
            Value::text("x"),
        ]);
        assert_eq!(only[6..], [Value::Double(100.0), Value::text("")]);
        assert!(v.iter().all(|(v, t)| has_type(v, t)));
        assert!(matches!(v[5].1, SqlType::Decimal { precision: 3, scale: 2, .. }));
    }
}
