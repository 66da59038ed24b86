//! Subqueries in expressions: run, and remembered by the outer values that they were run with.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_expr::Subquery;
use selkie_types::{SqlResult, Value};

use crate::context::{ExecCtx, plan_of};
use crate::query::collect;
use crate::row_key::RowKey;
use crate::row_set::RowSet;

/// How many different sets of outer values are remembered for one subquery.
const REMEMBERED_MAX: usize = 1024;

/// Results of a statement's subqueries.
#[derive(Default)]
pub struct SubqueryCache {
    rows: HashMap<(usize, Vec<u8>), Arc<Vec<Value>>>,
    sets: HashMap<(usize, Vec<u8>), Arc<Members>>,
    counts: HashMap<usize, usize>,
}

impl SubqueryCache {
    /// Forgets all results.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.sets.clear();
        self.counts.clear();
    }
}

/// The rows of an IN subquery, hashed.
struct Members {
    set: parking_lot::Mutex<RowSet>,
    /// Rows that have a NULL in them, flat.
    with_null: Vec<Value>,
    /// All rows, flat, where a needle may be NULL in part (rows of several columns).
    rows: Arc<Vec<Value>>,
    empty: bool,
}

/// Distinguishes outer values: a cheap exact key, not SQL equality.
fn cache_key(correlated: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    for v in correlated {
        match v {
            Value::Null => key.push(0),
            Value::Int(i) => {
                key.push(1);
                key.extend_from_slice(&i.to_le_bytes());
            }
            Value::UInt(u) => {
                key.push(2);
                key.extend_from_slice(&u.to_le_bytes());
            }
            Value::Double(d) => {
                key.push(3);
                key.extend_from_slice(&d.to_bits().to_le_bytes());
            }
            Value::Bytes(b) => {
                key.push(4);
                key.extend_from_slice(&(b.len() as u64).to_le_bytes());
                key.extend_from_slice(b);
            }
            Value::Decimal(d) => {
                let text = d.to_string();
                key.push(5);
                key.push(text.len() as u8);
                key.extend_from_slice(text.as_bytes());
            }
            Value::Date(d) => {
                key.push(6);
                key.extend_from_slice(&d.0.to_le_bytes());
            }
            Value::Time(t) => {
                key.push(7);
                key.extend_from_slice(&t.0.to_le_bytes());
            }
            Value::DateTime(t) => {
                key.push(8);
                key.extend_from_slice(&t.0.to_le_bytes());
            }
        }
    }
    key
}

/// Runs a subquery, or gives what it gave for the same outer values.
pub fn run(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
    let mut key = cache_key(&correlated);
    key.extend_from_slice(&(max_rows as u64).to_le_bytes());
    if let Some(rows) = cx.subqueries.rows.get(&(q.id, key.clone())) {
        return Ok(rows.clone());
    }
    let rows = execute(cx, q, correlated, max_rows)?;
    let count = cx.subqueries.counts.entry(q.id).or_default();
    if *count < REMEMBERED_MAX && is_cacheable(q) {
        *count += 1;
        cx.subqueries.rows.insert((q.id, key), rows.clone());
    }
    Ok(rows)
}

/// A subquery with RAND(), user variable assignments and the like must be run each time; the planner marks it by an id past this.
fn is_cacheable(q: &Subquery) -> bool {
    q.id < selkie_planner::plan::VOLATILE_SUBQUERY
}

fn execute(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
    let plan = plan_of(q)?;
    let outer = std::mem::replace(&mut cx.correlated, correlated);
    let rows = collect(cx, &plan, max_rows);
    cx.correlated = outer;
    rows
}

/// `needle IN (subquery)`, three-valued.
pub fn contains(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, needle: &[Value]) -> SqlResult<Option<bool>> {
    let key = (q.id, cache_key(&correlated));
    let members = match cx.subqueries.sets.get(&key) {
        Some(m) => m.clone(),
        None => {
            let rows = execute(cx, q, correlated, usize::MAX)?;
            let width = q.columns.len().max(1);
            let mut set = RowSet::new(&q.columns);
            let mut with_null = Vec::new();
            for row in rows.chunks(width) {
                if row.iter().any(Value::is_null) {
                    with_null.extend_from_slice(row);
                } else {
                    set.insert(cx, row)?;
                }
            }
            let empty = rows.is_empty();
            let rows = if width > 1 { rows } else { Arc::default() };
            let m = Arc::new(Members { set: parking_lot::Mutex::new(set), with_null, rows, empty });
            if cx.subqueries.sets.len() < REMEMBERED_MAX && is_cacheable(q) {
                cx.subqueries.sets.insert(key, m.clone());
            }
            m
        }
    };
    if members.empty {
        return Ok(Some(false));
    }
    let width = needle.len().max(1);
    if !needle.iter().any(Value::is_null) {
        if members.set.lock().contains(needle) {
            return Ok(Some(true));
        }
        return Ok(if may_match(q, &members.with_null, needle, width)? { None } else { Some(false) });
    }
    if width == 1 {
        return Ok(None);
    }
    // A row with NULLs on the left: unknown if any row agrees in all places where both sides are known.
    Ok(if may_match(q, &members.rows, needle, width)? { None } else { Some(false) })
}

/// Whether a row with NULLs agrees with the needle wherever both are known.
fn may_match(q: &Subquery, rows: &[Value], needle: &[Value], width: usize) -> SqlResult<bool> {
    for row in rows.chunks(width) {
        let mut agrees = true;
        for (i, (a, b)) in row.iter().zip(needle).enumerate() {
            if a.is_null() || b.is_null() {
                continue;
            }
            let key = RowKey::new([&q.columns[i]]);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            key.encode(std::slice::from_ref(a), &mut x);
            key.encode(std::slice::from_ref(b), &mut y);
            agrees &= x == y;
        }
        if agrees {
            return Ok(true);
        }
    }
    Ok(false)
}
