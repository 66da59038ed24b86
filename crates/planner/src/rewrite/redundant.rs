//! DISTINCT over rows that are unique already, ORDER BY of a single row, sorts below what forgets order.

use std::collections::BTreeSet;

use crate::logical::{ColId, Rel};

/// Removes what changes nothing.
pub(super) fn remove(rel: Rel) -> Rel {
    let rel = rel.map_inputs(&mut remove);
    match rel {
        Rel::Distinct { input, cols } => {
            let set: BTreeSet<ColId> = cols.iter().copied().collect();
            if is_unique(&input, &set) { *input } else { Rel::Distinct { input, cols } }
        }
        Rel::Sort { input, keys } => {
            if at_most_one(&input) {
                *input
            } else {
                Rel::Sort { input, keys }
            }
        }
        Rel::Derived { input, alias, output } => {
            let input = match *input {
                Rel::Sort { input, .. } => input,
                other => Box::new(other),
            };
            Rel::Derived { input, alias, output }
        }
        other => other,
    }
}

/// Whether no two rows agree in all columns of the set.
fn is_unique(rel: &Rel, set: &BTreeSet<ColId>) -> bool {
    match rel {
        Rel::Table(t) => t.table.indexes.iter().any(|i| {
            i.unique
                && i.parts.iter().all(|p| {
                    p.prefix.is_none() && !t.table.columns[p.column].nullable && set.contains(&t.cols[p.column])
                })
        }),
        Rel::Aggregate { keys, rollup: false, .. } => keys.iter().all(|(c, _)| set.contains(c)),
        Rel::Distinct { cols, .. } => cols.iter().all(|c| set.contains(c)),
        Rel::Filter { input, .. }
        | Rel::Project { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Window { input, .. } => is_unique(input, set),
        other => at_most_one(other),
    }
}

fn at_most_one(rel: &Rel) -> bool {
    match rel {
        Rel::OneRow | Rel::Empty => true,
        Rel::Aggregate { keys, rollup, .. } => keys.is_empty() && !*rollup,
        Rel::Values { rows, .. } => rows.len() <= 1,
        Rel::Filter { input, .. }
        | Rel::Project { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Derived { input, .. } => at_most_one(input),
        _ => false,
    }
}
