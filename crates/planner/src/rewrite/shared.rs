//! A common table expression that is read once is planned in its place, where conditions can be pushed into it.

use selkie_expr::ExprKind;

use crate::exprs;
use crate::logical::{Arena, LogicalQuery, Rel};

fn count(rel: &Rel, counts: &mut [usize]) {
    if let Rel::Shared { id, .. } = rel {
        counts[*id] += 1;
    }
    rel.visit_exprs(&mut |e| {
        exprs::walk(e, &mut |x| {
            if let ExprKind::Subquery(s) = &x.kind
                && let Some(q) = s.query.plan.downcast_ref::<LogicalQuery>()
            {
                // Read again for each outer row, perhaps: better kept.
                count(&q.rel, counts);
                count(&q.rel, counts);
            }
        });
    });
    for i in rel.inputs() {
        count(i, counts);
    }
}

/// Replaces single references.
pub(super) fn inline_single(rel: Rel, arena: &mut Arena) -> Rel {
    if arena.shared.is_empty() {
        return rel;
    }
    let mut counts = vec![0; arena.shared.len()];
    count(&rel, &mut counts);
    for s in arena.shared.iter().flatten() {
        count(&s.seed.rel, &mut counts);
        if let Some(r) = &s.recursive {
            // Every round reads it.
            count(&r.rel, &mut counts);
            count(&r.rel, &mut counts);
        }
    }
    replace(rel, arena, &counts)
}

fn replace(rel: Rel, arena: &mut Arena, counts: &[usize]) -> Rel {
    let rel = rel.map_inputs(&mut |r| replace(r, arena, counts));
    let Rel::Shared { id, delta: false, cols, alias } = rel else { return rel };
    let single = counts[id] == 1 && arena.shared[id].as_ref().is_some_and(|s| s.recursive.is_none());
    if !single {
        return Rel::Shared { id, delta: false, cols, alias };
    }
    let Some(s) = arena.shared[id].clone() else { return Rel::Shared { id, delta: false, cols, alias } };
    let inner = replace(s.seed.rel, arena, counts);
    let output: Vec<_> = s.seed.output.iter().map(|(_, c)| *c).collect();
    let renamed = cols.iter().zip(&output).map(|(c, o)| (*c, arena.column(*o))).collect();
    Rel::Derived { input: Box::new(inner), alias, output }.project(renamed)
}
