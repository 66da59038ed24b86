//! Subqueries in expressions: run, and remembered by the outer values that they were run with.
//!
//! EXISTS asks for one row and a scalar subquery for two, so that they stop early. `IN` over a subquery without outer
//! values hashes its rows once; with outer values it reads rows until one is equal, and remembers the answer.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_expr::Subquery;
use selkie_types::{SqlResult, Value};

use crate::context::{ExecCtx, plan_of};
use crate::query::{collect, run_wanting};
use crate::row_key::RowKey;
use crate::row_set::{KeyTable, hash_of};

/// How many results are remembered for one subquery.
const REMEMBERED_MAX: usize = 1024;
/// Rows that an IN subquery with outer values reads at a time.
const IN_ROWS: usize = 32;

/// Results of a statement's subqueries.
#[derive(Default)]
pub struct SubqueryCache {
    by_id: HashMap<usize, Remembered>,
    scratch: Vec<u8>,
}

/// Results of one subquery.
#[derive(Default)]
struct Remembered {
    /// Rows, by outer values and the number of rows asked for.
    rows: HashMap<Vec<u8>, Arc<Vec<Value>>>,
    /// The rows for IN without outer values.
    members: Option<Arc<Members>>,
    /// Answers of IN, by outer values and the value looked for.
    answers: HashMap<Vec<u8>, Option<bool>>,
}

/// The rows of an IN subquery, hashed.
struct Members {
    key: RowKey,
    table: KeyTable,
    rows: Arc<Vec<Value>>,
    /// Rows that have a NULL in them, by number.
    with_null: Vec<usize>,
}

impl SubqueryCache {
    /// Forgets all results.
    pub fn clear(&mut self) {
        self.by_id.clear();
    }
}

/// Distinguishes outer values: a cheap exact key, not SQL equality.
fn put_values(values: &[Value], key: &mut Vec<u8>) {
    for v in values {
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
}

/// Runs a subquery, or gives what it gave for the same outer values.
pub fn run(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
    if !is_cacheable(q) {
        return execute(cx, q, correlated, max_rows);
    }
    let mut key = std::mem::take(&mut cx.subqueries.scratch);
    key.clear();
    put_values(&correlated, &mut key);
    key.extend_from_slice(&(max_rows as u64).to_le_bytes());
    if let Some(rows) = cx.subqueries.by_id.get(&q.id).and_then(|r| r.rows.get(&key)) {
        let rows = rows.clone();
        cx.subqueries.scratch = key;
        return Ok(rows);
    }
    let rows = execute(cx, q, correlated, max_rows)?;
    let remembered = cx.subqueries.by_id.entry(q.id).or_default();
    if remembered.rows.len() < REMEMBERED_MAX {
        remembered.rows.insert(key, rows.clone());
    } else {
        cx.subqueries.scratch = key;
    }
    Ok(rows)
}

/// A subquery with RAND(), user variable assignments and the like must be run each time; the planner marks it by an id past this.
fn is_cacheable(q: &Subquery) -> bool {
    q.id < selkie_planner::plan::VOLATILE_SUBQUERY
}

/// Runs `f` with the subquery's correlated values in place of the outer query's.
fn inside<R>(cx: &mut ExecCtx<'_>, correlated: Vec<Value>, f: impl FnOnce(&mut ExecCtx<'_>) -> R) -> R {
    let outer = std::mem::replace(&mut cx.correlated, correlated);
    let result = f(cx);
    cx.correlated = outer;
    result
}

fn execute(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, max_rows: usize) -> SqlResult<Arc<Vec<Value>>> {
    let plan = plan_of(q)?;
    inside(cx, correlated, |cx| collect(cx, &plan, max_rows))
}

/// `needle IN (subquery)`, three-valued.
pub fn contains(
    cx: &mut ExecCtx<'_>,
    q: &Subquery,
    correlated: Vec<Value>,
    needle: &[Value],
) -> SqlResult<Option<bool>> {
    if !correlated.is_empty() || !is_cacheable(q) {
        return search(cx, q, correlated, needle);
    }
    let members = match cx.subqueries.by_id.get(&q.id).and_then(|r| r.members.clone()) {
        Some(m) => m,
        None => {
            let m = Arc::new(members(cx, q)?);
            cx.subqueries.by_id.entry(q.id).or_default().members = Some(m.clone());
            m
        }
    };
    let width = needle.len().max(1);
    if members.rows.is_empty() {
        return Ok(Some(false));
    }
    let unknown = |found: bool| if found { None } else { Some(false) };
    if needle.iter().any(Value::is_null) {
        // Unknown if any row agrees in all places where both sides are known.
        let found = width == 1 || members.rows.chunks(width).any(|row| agrees(&members.key, row, needle));
        return Ok(unknown(found));
    }
    let mut key = std::mem::take(&mut cx.subqueries.scratch);
    key.clear();
    members.key.encode(needle, &mut key);
    let found = members.table.find(hash_of(&key), &key).is_some();
    cx.subqueries.scratch = key;
    if found {
        return Ok(Some(true));
    }
    let row = |i: &usize| &members.rows[i * width..(i + 1) * width];
    Ok(unknown(members.with_null.iter().any(|i| agrees(&members.key, row(i), needle))))
}

fn members(cx: &mut ExecCtx<'_>, q: &Subquery) -> SqlResult<Members> {
    let rows = execute(cx, q, Vec::new(), usize::MAX)?;
    let width = q.columns.len().max(1);
    let key = RowKey::new(&q.columns);
    let mut m = Members { key, table: KeyTable::default(), rows: rows.clone(), with_null: Vec::new() };
    let mut scratch = Vec::new();
    for (i, row) in rows.chunks(width).enumerate() {
        if row.iter().any(Value::is_null) {
            m.with_null.push(i);
            continue;
        }
        scratch.clear();
        m.key.encode(row, &mut scratch);
        if m.table.insert(hash_of(&scratch), &scratch).1 {
            cx.charge(KeyTable::entry_bytes(&scratch) as isize)?;
        }
    }
    Ok(m)
}

/// Whether two rows agree wherever both are known.
fn agrees(key: &RowKey, a: &[Value], b: &[Value]) -> bool {
    a.iter().zip(b).enumerate().all(|(i, (a, b))| a.is_null() || b.is_null() || key.same(i, a, b))
}

/// Reads the subquery's rows until one is equal to the needle.
fn search(cx: &mut ExecCtx<'_>, q: &Subquery, correlated: Vec<Value>, needle: &[Value]) -> SqlResult<Option<bool>> {
    let mut key = Vec::new();
    if is_cacheable(q) {
        put_values(&correlated, &mut key);
        put_values(needle, &mut key);
        if let Some(answer) = cx.subqueries.by_id.get(&q.id).and_then(|r| r.answers.get(&key)) {
            return Ok(*answer);
        }
    }
    let plan = plan_of(q)?;
    let types = RowKey::new(&q.columns);
    let needle_known = !needle.iter().any(Value::is_null);
    let mut answer = Some(false);
    inside(cx, correlated, |cx| {
        run_wanting(cx, &plan, IN_ROWS, &mut |_, row| {
            let row = &row[..needle.len()];
            if agrees(&types, row, needle) {
                let known = needle_known && !row.iter().any(Value::is_null);
                answer = known.then_some(true);
            }
            Ok(answer != Some(true))
        })
    })?;
    if is_cacheable(q) {
        let answers = &mut cx.subqueries.by_id.entry(q.id).or_default().answers;
        if answers.len() < REMEMBERED_MAX {
            answers.insert(key, answer);
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use selkie_expr::{CmpOp, EvalContext};
    use selkie_planner::plan::{Plan, VOLATILE_SUBQUERY};

    use super::*;
    use crate::testing::{Fixture, INT, compare, correlated, query, slot, values};

    fn subquery(id: usize, root: Plan, columns: usize) -> Subquery {
        Subquery { id, plan: Arc::new(query(root, columns)), columns: vec![INT; columns] }
    }

    fn rows(list: &[&[Option<i64>]]) -> Plan {
        values(&list.iter().map(|r| r.to_vec()).collect::<Vec<_>>(), list.first().map_or(1, |r| r.len()))
    }

    fn int(v: Option<i64>) -> Value {
        v.map_or(Value::Null, Value::Int)
    }

    /// Rows, the row looked for, the answer.
    type Case = (&'static [&'static [Option<i64>]], &'static [Option<i64>], Option<bool>);

    #[test]
    fn in_is_three_valued() {
        let two: &'static [&'static [Option<i64>]] = &[&[Some(1), Some(2)], &[Some(3), None]];
        let cases: &[Case] = &[
            (&[], &[Some(1)], Some(false)),
            (&[], &[None], Some(false)),
            (&[&[Some(1)], &[Some(2)]], &[Some(2)], Some(true)),
            (&[&[Some(1)], &[Some(2)]], &[Some(3)], Some(false)),
            (&[&[Some(1)], &[Some(2)]], &[None], None),
            (&[&[Some(1)], &[None]], &[Some(3)], None),
            (&[&[Some(1)], &[None]], &[Some(1)], Some(true)),
            (two, &[Some(1), Some(2)], Some(true)),
            (two, &[Some(1), Some(3)], Some(false)),
            (two, &[Some(3), Some(3)], None),
            (two, &[Some(2), None], Some(false)),
            (two, &[Some(1), None], None),
            (two, &[None, Some(2)], None),
            (two, &[None, Some(9)], None),
        ];
        for (i, (list, needle, expected)) in cases.iter().enumerate() {
            let needle: Vec<Value> = needle.iter().map(|v| int(*v)).collect();
            // Hashed once, and read row by row because of an outer value.
            for (id, outer) in [(i, vec![]), (100 + i, vec![Value::Int(7)]), (VOLATILE_SUBQUERY + i, vec![])] {
                let q = subquery(id, rows(list), needle.len());
                Fixture::default().run(|cx| {
                    for _ in 0..2 {
                        assert_eq!(cx.in_subquery(&q, outer.clone(), &needle).unwrap(), *expected, "case {i}");
                    }
                });
            }
        }
    }

    #[test]
    fn outer_values_decide_and_are_given_back() {
        let filtered = Plan::Filter {
            input: Box::new(rows(&[&[Some(1)], &[Some(2)], &[Some(3)]])),
            condition: compare(CmpOp::Gt, slot(0), correlated(0)),
        };
        let q = subquery(1, filtered, 1);
        Fixture::default().run(|cx| {
            cx.correlated = vec![Value::Int(99)];
            for _ in 0..2 {
                assert_eq!(*cx.run_subquery(&q, vec![Value::Int(1)], 9).unwrap(), [Value::Int(2), Value::Int(3)]);
                assert_eq!(*cx.run_subquery(&q, vec![Value::Int(1)], 1).unwrap(), [Value::Int(2)]);
                assert!(cx.run_subquery(&q, vec![Value::Int(3)], 1).unwrap().is_empty());
                assert_eq!(cx.in_subquery(&q, vec![Value::Int(2)], &[Value::Int(3)]).unwrap(), Some(true));
                assert_eq!(cx.in_subquery(&q, vec![Value::Int(3)], &[Value::Int(3)]).unwrap(), Some(false));
            }
            assert_eq!(cx.correlated, [Value::Int(99)]);
        });
    }
}
