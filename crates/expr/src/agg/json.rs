//! JSON_ARRAYAGG and JSON_OBJECTAGG.

use std::sync::Arc;

use selkie_types::{SqlResult, Value};

use super::Bound;
use crate::bind::{BindCtx, attr, collation};
use crate::context::EvalContext;
use crate::func::args::bytes;
use crate::func::json::{Source, scan};
use crate::ir::{Accumulator, AggregateFunction, Expr};

type Ctx<'a> = &'a mut dyn EvalContext;

#[derive(Debug)]
struct JsonAgg {
    source: Source,
    object: bool,
    limit: Option<(u64, u64)>,
}

pub(super) fn bind_array(cx: &BindCtx, e: Expr, limit: Option<(u64, u64)>) -> SqlResult<Bound> {
    let f = JsonAgg { source: Source::of(&e), object: false, limit };
    let ty = attr::text(cx.group_concat_max_len as u64, cx.collation_connection);
    Ok((Arc::new(f), vec![e], ty, true))
}

pub(super) fn bind_object(cx: &BindCtx, key: Expr, value: Expr) -> SqlResult<Bound> {
    let f = JsonAgg { source: Source::of(&value), object: true, limit: None };
    let ty = attr::text(cx.group_concat_max_len as u64, cx.collation_connection);
    Ok((Arc::new(f), vec![collation::to_text(cx, key), value], ty, true))
}

impl AggregateFunction for JsonAgg {
    fn name(&self) -> &str {
        if self.object { "json_objectagg" } else { "json_arrayagg" }
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(State {
            source: self.source.clone(),
            object: self.object,
            skip: self.limit.map_or(0, |l| l.0),
            left: self.limit.map_or(u64::MAX, |l| l.1),
            out: Vec::new(),
        })
    }
}

struct State {
    source: Source,
    object: bool,
    skip: u64,
    left: u64,
    out: Vec<u8>,
}

impl Accumulator for State {
    fn update(&mut self, args: &[Value], _: Ctx<'_>) -> SqlResult<()> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if self.left == 0 {
            return Ok(());
        }
        let value = if self.object {
            let Some(key) = args.first().filter(|k| !k.is_null()) else { return Ok(()) };
            if !self.out.is_empty() {
                self.out.extend_from_slice(b", ");
            }
            scan::quote(bytes(key), &mut self.out);
            self.out.push(b':');
            args.get(1)
        } else {
            if !self.out.is_empty() {
                self.out.push(b',');
            }
            args.first()
        };
        self.left -= 1;
        self.source.append(value.unwrap_or(&Value::Null), &mut self.out);
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        if self.out.is_empty() {
            return Ok(Value::Null);
        }
        let (open, close): (&[u8], &[u8]) = if self.object { (b"{", b"}") } else { (b"[", b"]") };
        Ok(crate::func::args::owned([open, &self.out, close].concat()))
    }
    fn memory(&self) -> usize {
        self.out.capacity()
    }
}
