//! Physical planning: from the logical tree to operators.
//!
//! Columns get slots here. `Env` says which columns are values of outer rows (of the query around a subquery, or of
//! the left side of a nested loop); everything else an operator reads must be in its input's layout.

pub(crate) mod access;
pub(crate) mod cost;
mod dml;
mod group;
mod join;
mod lower;
mod sarg;
mod steps;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use selkie_expr::{Expr, ExprKind, Subquery, SubqueryExpr};
use selkie_types::{SqlResult, sql_err};

use crate::context::PlanContext;
use crate::exprs;
use crate::logical::{Arena, ColId, LogicalQuery, Rel};
use crate::plan::{OutputColumn, Plan, QueryPlan, SharedPlan, VOLATILE_SUBQUERY};

/// Columns that are values of outer rows, by their index in the correlated values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    map: HashMap<ColId, usize>,
    /// How many correlated values there are.
    next: usize,
}

impl Env {
    /// The environment of a closed query.
    pub fn of_params(params: &[ColId]) -> Env {
        Env { map: params.iter().enumerate().map(|(i, c)| (*c, i)).collect(), next: params.len() }
    }

    /// With a left row's slots behind.
    pub fn with_row(&self, layout: &[ColId]) -> Env {
        let mut e = self.clone();
        for (i, c) in layout.iter().enumerate() {
            e.map.insert(*c, e.next + i);
        }
        e.next += layout.len();
        e
    }

    pub fn has(&self, c: ColId) -> bool {
        self.map.contains_key(&c)
    }
}

/// A planned operator.
#[derive(Debug, Clone)]
pub(crate) struct Phys {
    pub plan: Plan,
    /// The column in each slot.
    pub layout: Vec<ColId>,
    pub rows: f64,
    pub cost: f64,
    /// Whether rows come in the order that was wanted.
    pub ordered: bool,
}

/// What the operator above would like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Want {
    /// Order by columns (descending).
    pub order: Vec<(ColId, bool)>,
    /// Rows that will be read, if few.
    pub limit: Option<f64>,
    /// The same as an expression, for a sort below.
    pub sort_limit: Option<Expr>,
    /// The order serves grouping, for which the alternative is a hash table and not a sort.
    pub for_groups: bool,
}

/// Plans one statement's queries.
pub(crate) struct Lowering<'a> {
    pub cx: &'a PlanContext<'a>,
    pub arena: Arena,
    subqueries: HashMap<usize, Arc<QueryPlan>>,
    shared: Vec<Option<Arc<SharedPlan>>>,
    /// Highest shared result used by the query that is being planned.
    shared_used: Option<usize>,
    /// Cost and rows of trees that were planned for their estimates: by their columns and how many conditions were
    /// pushed into them. Without it, nested trees would be planned anew at each level.
    estimates: HashMap<(Vec<ColId>, usize), (f64, f64)>,
}

impl<'a> Lowering<'a> {
    pub fn new(cx: &'a PlanContext<'a>, arena: Arena) -> Lowering<'a> {
        let shared = vec![None; arena.shared.len()];
        Lowering { cx, arena, subqueries: HashMap::new(), shared, shared_used: None, estimates: HashMap::new() }
    }

    /// Plans a closed query.
    pub fn query(&mut self, q: &LogicalQuery, param_count: usize) -> SqlResult<QueryPlan> {
        let env = Env::of_params(&q.params);
        let cols: Vec<ColId> = q.output.iter().map(|(_, c)| *c).collect();
        let names: Vec<String> = q.output.iter().map(|(n, _)| n.clone()).collect();
        let (mut plan, ..) = self.query_in(&q.rel, &cols, &names, &env)?;
        plan.param_count = param_count;
        plan.calc_found_rows = q.calc_found_rows;
        Ok(plan)
    }

    /// Plans a tree as a query of its own. Also gives its cost and rows.
    fn query_in(&mut self, rel: &Rel, cols: &[ColId], names: &[String], env: &Env) -> SqlResult<(QueryPlan, f64, f64)> {
        let outer_shared = self.shared_used.take();
        let need: BTreeSet<ColId> = cols.iter().copied().collect();
        let phys = self.rel(rel, &need, env, &Want::default())?;
        let phys = self.arrange(phys, cols, env)?;
        let columns = cols
            .iter()
            .zip(names)
            .map(|(c, name)| {
                let i = self.arena.info(*c);
                let mut origin = i.origin.clone();
                if let (Some(o), true) = (&mut origin, i.nullable) {
                    // An outer join took the column's NOT NULL away.
                    o.flags &= !1;
                }
                OutputColumn { name: name.clone(), ty: i.ty.clone(), nullable: i.nullable, origin }
            })
            .collect();
        let shared = self.shared_list()?;
        self.shared_used = outer_shared;
        let plan = QueryPlan { root: phys.plan, columns, shared, param_count: 0, calc_found_rows: false };
        Ok((plan, phys.cost, phys.rows))
    }

    /// The shared results that the query planned last reads, by id.
    pub(crate) fn shared_list(&mut self) -> SqlResult<Vec<Arc<SharedPlan>>> {
        let Some(last) = self.shared_used.take() else { return Ok(Vec::new()) };
        let mut out = Vec::with_capacity(last + 1);
        let mut i = 0;
        let mut last = last;
        while i <= last {
            let (plan, used) = self.shared_plan(i)?;
            last = last.max(used);
            out.push(plan);
            i += 1;
        }
        Ok(out)
    }

    /// A shared result's plan, and the highest id that it reads itself.
    fn shared_plan(&mut self, id: usize) -> SqlResult<(Arc<SharedPlan>, usize)> {
        if let Some(p) = &self.shared[id] {
            return Ok((Arc::clone(p), id));
        }
        let Some(q) = self.arena.shared[id].clone() else {
            return Err(internal("a recursive table is read while it is being defined"));
        };
        let outer = self.shared_used.take();
        let env = Env::default();
        let part = |l: &mut Self, q: &LogicalQuery| -> SqlResult<Plan> {
            let cols: Vec<ColId> = q.output.iter().map(|(_, c)| *c).collect();
            let need = cols.iter().copied().collect();
            let p = l.rel(&q.rel, &need, &env, &Want::default())?;
            Ok(l.arrange(p, &cols, &env)?.plan)
        };
        let seed = part(self, &q.seed)?;
        let recursive = q.recursive.as_ref().map(|r| part(self, r)).transpose()?;
        let used = self.shared_used.unwrap_or(id);
        self.shared_used = outer;
        let plan = Arc::new(SharedPlan { id, seed, recursive, distinct: q.distinct, types: q.types });
        self.shared[id] = Some(Arc::clone(&plan));
        Ok((plan, used))
    }

    /// Puts `cols` into the first slots, in this order and nothing else in between.
    pub(crate) fn arrange(&mut self, phys: Phys, cols: &[ColId], env: &Env) -> SqlResult<Phys> {
        if phys.layout.len() == cols.len() && phys.layout == cols {
            return Ok(phys);
        }
        // Further slots behind are not sent.
        if phys.layout.len() > cols.len() && phys.layout[..cols.len()] == *cols && !cols.is_empty() {
            return Ok(phys);
        }
        let Phys { plan, layout, rows, cost, ordered } = phys;
        let mut seen = BTreeSet::new();
        let plain = cols.iter().all(|c| layout.contains(c) && seen.insert(*c));
        let plan = match plan {
            Plan::Project { input, exprs } if plain => {
                let slot = |c: &ColId| layout.iter().position(|x| x == c);
                Plan::Project { input, exprs: cols.iter().filter_map(slot).map(|s| exprs[s].clone()).collect() }
            }
            input => {
                let mut exprs = Vec::with_capacity(cols.len());
                for c in cols {
                    let e = self.arena.column(*c);
                    exprs.push(self.expr(&e, &layout, env)?);
                }
                Plan::Project { input: Box::new(input), exprs }
            }
        };
        Ok(Phys { plan, layout: cols.to_vec(), rows, cost, ordered })
    }

    /// An expression over columns as one over slots and correlated values.
    pub(crate) fn expr(&mut self, e: &Expr, layout: &[ColId], env: &Env) -> SqlResult<Expr> {
        let mut failed = None;
        let out = exprs::rewrite(e.clone(), &mut |mut x| match x.kind {
            ExprKind::Column(c) => {
                x.kind = match layout.iter().position(|l| *l == c) {
                    Some(slot) => ExprKind::Column(slot),
                    None => match env.map.get(&c) {
                        Some(i) => ExprKind::Correlated(*i),
                        None => {
                            let name = &self.arena.info(c).name;
                            failed = Some(internal(&format!("column {name} is out of reach in its plan")));
                            return x;
                        }
                    },
                };
                x
            }
            ExprKind::Subquery(s) => match self.subquery(*s) {
                Ok(s) => {
                    x.kind = ExprKind::Subquery(Box::new(s));
                    x
                }
                Err(e) => {
                    failed = Some(e);
                    x.kind = ExprKind::Const(selkie_types::Value::Null);
                    x
                }
            },
            other => {
                x.kind = other;
                x
            }
        });
        match failed {
            Some(e) => Err(e),
            None => Ok(out),
        }
    }

    fn subquery(&mut self, mut s: SubqueryExpr) -> SqlResult<SubqueryExpr> {
        if s.query.plan.downcast_ref::<QueryPlan>().is_some() {
            return Ok(s);
        }
        let plan = match self.subqueries.get(&s.query.id) {
            Some(p) => Arc::clone(p),
            None => {
                let Ok(q) = Arc::clone(&s.query.plan).downcast::<LogicalQuery>() else {
                    return Err(internal("a subquery without a plan"));
                };
                let plan = Arc::new(self.query(&q, 0)?);
                self.subqueries.insert(s.query.id, Arc::clone(&plan));
                plan
            }
        };
        let volatile = self.is_volatile(&s.query);
        let id = if volatile { VOLATILE_SUBQUERY + s.query.id } else { s.query.id };
        s.query = Subquery { id, plan, columns: s.query.columns };
        Ok(s)
    }

    fn is_volatile(&self, s: &Subquery) -> bool {
        fn walk(r: &Rel) -> bool {
            let mut impure = false;
            r.visit_exprs(&mut |e| impure |= !exprs::is_pure(e));
            impure || r.inputs().into_iter().any(walk)
        }
        s.plan.downcast_ref::<LogicalQuery>().is_some_and(|q| walk(&q.rel))
    }

    /// Lowers several expressions.
    pub(crate) fn exprs(&mut self, list: &[Expr], layout: &[ColId], env: &Env) -> SqlResult<Vec<Expr>> {
        list.iter().map(|e| self.expr(e, layout, env)).collect()
    }

    /// Lowers conjuncts into one condition, those with subqueries last.
    pub(crate) fn condition(&mut self, conds: &[&Expr], layout: &[ColId], env: &Env) -> SqlResult<Option<Expr>> {
        let mut list: Vec<&Expr> = conds.to_vec();
        list.sort_by_key(|e| exprs::has_subquery(e));
        let mut out = Vec::with_capacity(list.len());
        for e in list {
            out.push(self.expr(e, layout, env)?);
        }
        Ok(exprs::conjunction(out))
    }
}

/// A state that only a mistake in the planner can lead to.
pub(crate) fn internal(what: &str) -> selkie_types::SqlError {
    sql_err!(ER_INTERNAL_ERROR, what)
}
