//! GROUP_CONCAT.

use std::sync::Arc;

use selkie_types::{Collation, SqlResult, Value, sql_err};

use super::{Bound, text_args};
use crate::bind::{BindCtx, attr};
use crate::context::EvalContext;
use crate::func::args::bytes;
use crate::ir::{Accumulator, AggregateFunction, Expr};

type Ctx<'a> = &'a mut dyn EvalContext;

#[derive(Debug)]
struct GroupConcat {
    separator: Arc<[u8]>,
    limit: Option<(u64, u64)>,
    collation: Collation,
}

pub(super) fn bind(cx: &BindCtx, args: Vec<Expr>, separator: &str, limit: Option<(u64, u64)>) -> SqlResult<Bound> {
    let (args, collation) = text_args(cx, "group_concat", args)?;
    let ty = attr::text(cx.group_concat_max_len as u64, collation);
    let f = GroupConcat { separator: Arc::from(separator.as_bytes()), limit, collation };
    Ok((Arc::new(f), args, ty, true))
}

impl AggregateFunction for GroupConcat {
    fn name(&self) -> &str {
        "group_concat"
    }
    fn accumulator(&self) -> Box<dyn Accumulator> {
        Box::new(State {
            separator: self.separator.clone(),
            skip: self.limit.map_or(0, |l| l.0),
            left: self.limit.map_or(u64::MAX, |l| l.1),
            binary: self.collation.is_binary(),
            out: None,
            row: 0,
            cut: false,
        })
    }
}

struct State {
    separator: Arc<[u8]>,
    skip: u64,
    left: u64,
    binary: bool,
    out: Option<Vec<u8>>,
    row: u64,
    cut: bool,
}

impl Accumulator for State {
    fn update(&mut self, args: &[Value], ctx: Ctx<'_>) -> SqlResult<()> {
        if args.iter().any(Value::is_null) {
            return Ok(());
        }
        self.row += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if self.left == 0 || self.cut {
            return Ok(());
        }
        self.left -= 1;
        match &mut self.out {
            Some(out) => out.extend_from_slice(&self.separator),
            None => self.out = Some(Vec::new()),
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        for a in args {
            out.extend_from_slice(bytes(a));
        }
        let max = ctx.settings().group_concat_max_len;
        if out.len() > max {
            let mut end = max;
            while !self.binary && end > 0 && (out[end] as i8) < -64 {
                end -= 1;
            }
            out.truncate(end);
            self.cut = true;
            ctx.diag().warn(sql_err!(ER_CUT_VALUE_GROUP_CONCAT, self.row, "group_concat("));
        }
        Ok(())
    }
    fn finish(&mut self, _: Ctx<'_>) -> SqlResult<Value> {
        Ok(match &self.out {
            Some(out) => Value::bytes(out),
            None => Value::Null,
        })
    }
    fn memory(&self) -> usize {
        self.out.as_ref().map_or(0, Vec::capacity)
    }
}
