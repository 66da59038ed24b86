//! Nested loop joins: for each left row, the right side is run again with the row's values, or read again from memory.

use selkie_expr::Expr;
use selkie_planner::plan::{JoinKind, Plan};
use selkie_types::{SqlResult, Value};

use crate::batch::Batch;
use crate::context::ExecCtx;
use crate::operator::{BoxOperator, Operator};
use crate::outer::uses_outer;
use crate::row_input::RowInput;
use crate::row_store::{RowStore, StoreCursor};

/// A running nested loop.
///
/// While the right side of a dependent loop runs, the left row's values are the correlated values from `base` on. They
/// are put there each time this operator goes on, because operators elsewhere in the tree use the same places in between.
pub struct NestedLoop<'p> {
    kind: JoinKind,
    left: RowInput<'p>,
    right: Right<'p>,
    base: usize,
    right_width: usize,
    condition: Option<&'p Expr>,
    /// Whether a left row is being joined, and whether it met a right one.
    active: bool,
    matched: bool,
    pair: Vec<Value>,
}

enum Right<'p> {
    Dependent(RowInput<'p>),
    /// Run once and kept. `store` is there once it was run.
    Kept {
        input: RowInput<'p>,
        store: Option<Box<(RowStore, StoreCursor)>>,
        plan: &'p Plan,
        changes: Option<bool>,
    },
}

impl<'p> NestedLoop<'p> {
    /// Joins `left` and `right`, the operator of `plan`.
    #[expect(clippy::too_many_arguments, reason = "the parts of a plan node")]
    pub fn new(
        kind: JoinKind,
        left: BoxOperator<'p>,
        right: BoxOperator<'p>,
        plan: &'p Plan,
        base: usize,
        right_width: usize,
        condition: Option<&'p Expr>,
        dependent: bool,
    ) -> NestedLoop<'p> {
        let input = RowInput::new(right);
        let right =
            if dependent { Right::Dependent(input) } else { Right::Kept { input, store: None, plan, changes: None } };
        NestedLoop {
            kind,
            left: RowInput::new(left),
            right,
            base,
            right_width,
            condition,
            active: false,
            matched: false,
            pair: Vec::new(),
        }
    }

    /// Makes the left row's values visible to the right side.
    fn bind_left(&self, cx: &mut ExecCtx<'_>) {
        if matches!(self.right, Right::Dependent(_)) {
            cx.correlated.resize(self.base, Value::Null);
            cx.correlated.extend_from_slice(self.left.row());
        }
    }

    /// Starts on the next left row; `false` when there is none.
    fn next_left(&mut self, cx: &mut ExecCtx<'_>, wanted: usize) -> SqlResult<bool> {
        self.left.want(wanted);
        if !self.left.advance(cx)? {
            return Ok(false);
        }
        self.bind_left(cx);
        match &mut self.right {
            Right::Dependent(input) => input.rewind(cx)?,
            Right::Kept { input, store, .. } => {
                if let Some(kept) = store {
                    let (rows, cursor) = &mut **kept;
                    rows.restart(cursor);
                } else {
                    let mut rows = RowStore::new(input.width());
                    while input.advance(cx)? {
                        rows.push(cx, input.take())?;
                    }
                    let cursor = rows.cursor()?;
                    *store = Some(Box::new((rows, cursor)));
                }
                if let (JoinKind::Inner | JoinKind::Semi, Some(kept)) = (self.kind, store)
                    && kept.0.is_empty()
                {
                    return Ok(false);
                }
            }
        }
        (self.active, self.matched) = (true, false);
        Ok(true)
    }

    /// Goes to the next right row; `false` when there is none.
    fn next_right(&mut self, cx: &mut ExecCtx<'_>, wanted: usize) -> SqlResult<bool> {
        match &mut self.right {
            Right::Dependent(input) => {
                input.want(wanted);
                input.advance(cx)
            }
            Right::Kept { store, .. } => match store {
                Some(kept) => {
                    cx.tick()?;
                    let (rows, cursor) = &mut **kept;
                    rows.advance(cursor)
                }
                None => Ok(false),
            },
        }
    }

    fn run(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        if self.active {
            self.bind_left(cx);
        }
        while !out.is_full() {
            let wanted = out.wanted - out.len();
            if !self.active && !self.next_left(cx, wanted)? {
                return Ok(());
            }
            let first_only = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
            let wanted = if first_only && self.condition.is_none() { 1 } else { wanted };
            if !self.next_right(cx, wanted)? {
                self.active = false;
                match self.kind {
                    JoinKind::Left if !self.matched => {
                        let nulls = std::iter::repeat_n(Value::Null, self.right_width);
                        out.push(self.left.take().chain(nulls));
                    }
                    JoinKind::Anti if !self.matched => out.push(self.left.take()),
                    _ => {}
                }
                continue;
            }
            let (left, condition) = (self.left.row(), self.condition);
            let right = match &self.right {
                Right::Dependent(input) => input.row(),
                Right::Kept { store: Some(kept), .. } => kept.0.row(&kept.1),
                Right::Kept { store: None, .. } => &[],
            };
            if first_only {
                if let Some(c) = condition {
                    self.pair.clear();
                    self.pair.extend_from_slice(left);
                    self.pair.extend_from_slice(right);
                    if c.eval_bool(&self.pair, cx)? != Some(true) {
                        continue;
                    }
                }
                self.active = false;
                if self.kind == JoinKind::Semi {
                    out.push(self.left.take());
                }
                continue;
            }
            self.matched |= out.push_with(|values| {
                let start = values.len();
                values.extend_from_slice(left);
                values.extend_from_slice(right);
                match condition {
                    Some(c) => Ok::<_, selkie_types::SqlError>(c.eval_bool(&values[start..], cx)? == Some(true)),
                    None => Ok(true),
                }
            })?;
        }
        Ok(())
    }
}

impl Operator for NestedLoop<'_> {
    fn next(&mut self, cx: &mut ExecCtx<'_>, out: &mut Batch) -> SqlResult<()> {
        out.reset(self.width());
        let done = self.run(cx, out);
        if matches!(self.right, Right::Dependent(_)) {
            cx.correlated.truncate(self.base);
        }
        done
    }

    fn rewind(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<()> {
        self.active = false;
        self.left.rewind(cx)?;
        if let Right::Kept { input, store, plan, changes } = &mut self.right {
            // Within an enclosing loop the rows may be the same as before.
            if store.is_some() && !*changes.get_or_insert_with(|| uses_outer(plan, self.base)) {
                return Ok(());
            }
            if let Some(kept) = store.take() {
                kept.0.release(cx)?;
            }
            input.rewind(cx)?;
        }
        Ok(())
    }

    fn width(&self) -> usize {
        match self.kind {
            JoinKind::Inner | JoinKind::Left => self.left.width() + self.right_width,
            JoinKind::Semi | JoinKind::Anti => self.left.width(),
        }
    }
}

#[cfg(test)]
mod tests {
    use selkie_expr::CmpOp;
    use selkie_planner::plan::{JoinKind, Plan};

    use crate::testing::{Fixture, add, compare, correlated, ints, slot};

    /// A right side that has the left row's first value and twice it.
    fn dependent(base: usize) -> Plan {
        let types = vec![crate::testing::INT];
        Plan::Values { rows: vec![vec![correlated(base)], vec![add(correlated(base), correlated(base))]], types }
    }

    fn join(kind: JoinKind, left: Plan, right: Plan, base: usize, condition: Option<selkie_expr::Expr>) -> Plan {
        let (left, right) = (Box::new(left), Box::new(right));
        Plan::NestedLoop { kind, left, right, base, right_width: 1, condition, dependent: true }
    }

    #[test]
    fn the_right_side_sees_the_left_row() {
        let mut f = Fixture::default();
        let plan = join(JoinKind::Inner, ints(&[&[1], &[2], &[3]]), dependent(0), 0, None);
        assert_eq!(f.text(&plan), ["1,1", "1,2", "2,2", "2,4", "3,3", "3,6"]);
        let more_than_3 = Some(compare(CmpOp::Gt, slot(1), crate::testing::int(3)));
        let plan = join(JoinKind::Left, ints(&[&[1], &[2], &[3]]), dependent(0), 0, more_than_3.clone());
        assert_eq!(f.text(&plan), ["1,NULL", "2,4", "3,6"]);
        let plan = join(JoinKind::Anti, ints(&[&[1], &[2], &[3]]), dependent(0), 0, more_than_3.clone());
        assert_eq!(f.text(&plan), ["1"]);
        let plan = join(JoinKind::Semi, ints(&[&[1], &[2], &[3]]), dependent(0), 0, more_than_3);
        assert_eq!(f.text(&plan), ["2", "3"]);
    }

    #[test]
    fn loops_on_either_side_of_a_loop_use_the_same_places() {
        let mut f = Fixture::default();
        // Both loops put their left row at 0.
        let first = join(JoinKind::Inner, ints(&[&[1], &[2]]), dependent(0), 0, None);
        let plan = join(JoinKind::Inner, first, dependent(0), 0, None);
        assert_eq!(f.text(&plan), ["1,1,1", "1,1,2", "1,2,1", "1,2,2", "2,2,2", "2,2,4", "2,4,2", "2,4,4"]);
        // The inner loop's left row stands behind the outer one's.
        let inner = join(JoinKind::Inner, dependent(0), dependent(1), 1, None);
        let plan = Plan::NestedLoop {
            kind: JoinKind::Inner,
            left: Box::new(ints(&[&[1], &[2]])),
            right: Box::new(inner),
            base: 0,
            right_width: 2,
            condition: None,
            dependent: true,
        };
        assert_eq!(f.text(&plan), ["1,1,1", "1,1,2", "1,2,2", "1,2,4", "2,2,2", "2,2,4", "2,4,4", "2,4,8"]);
    }
}
