//! The logical tree between resolution and physical planning.
//!
//! Columns have numbers ([`ColId`]) that are unique in the statement, so that a column means the same wherever it
//! stands and operators may be moved freely. In this stage [`ExprKind::Column`](selkie_expr::ExprKind) holds a
//! [`ColId`], not a slot; slots are assigned when physical operators are made. A subquery is a closed
//! [`LogicalQuery`]: what it needs of its outer row are its `params`, fed by `SubqueryExpr::correlated`.

use std::sync::Arc;

use selkie_catalog::Table;
use selkie_expr::{AggregateCall, Coercibility, Expr, ExprKind, SortKey, WindowCall};
use selkie_parser::ast;
use selkie_types::SqlType;

use crate::plan::{ColumnOrigin, JoinKind, JsonTableColumn, LockMode, LockWait};

/// A column's number, unique in the statement.
pub type ColId = usize;

/// What is known of a column.
#[derive(Debug, Clone)]
pub struct ColumnInfo {
    /// Name, for errors and display.
    pub name: String,
    /// Type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Collation strength.
    pub coercibility: Coercibility,
    /// Base column behind it.
    pub origin: Option<ColumnOrigin>,
}

/// A result that is computed once and read by [`Rel::Shared`].
#[derive(Debug, Clone)]
pub struct SharedQuery {
    /// Name of the common table expression.
    pub name: String,
    /// Seed, or the whole.
    pub seed: LogicalQuery,
    /// Recursive part.
    pub recursive: Option<LogicalQuery>,
    /// Whether rounds remove duplicates.
    pub distinct: bool,
    /// Row types.
    pub types: Vec<SqlType>,
}

/// Statement-wide numbering and what several queries share.
#[derive(Debug, Default)]
pub struct Arena {
    columns: Vec<ColumnInfo>,
    next_subquery: usize,
    /// Shared results by id; `None` while the query of that id is being bound.
    pub shared: Vec<Option<SharedQuery>>,
    /// Inferred types of parameters by index.
    pub param_types: Vec<SqlType>,
}

impl Arena {
    /// A new column.
    pub fn add(&mut self, info: ColumnInfo) -> ColId {
        self.columns.push(info);
        self.columns.len() - 1
    }

    /// A new column that holds an expression's value.
    pub fn add_for(&mut self, name: &str, e: &Expr) -> ColId {
        let origin = match e.kind {
            ExprKind::Column(id) => self.columns[id].origin.clone(),
            _ => None,
        };
        self.add(ColumnInfo {
            name: name.to_owned(),
            ty: e.ty.clone(),
            nullable: e.nullable,
            coercibility: e.coercibility,
            origin,
        })
    }

    /// What is known of a column.
    pub fn info(&self, id: ColId) -> &ColumnInfo {
        &self.columns[id]
    }

    /// The same, to be changed (an outer join makes columns nullable).
    pub fn info_mut(&mut self, id: ColId) -> &mut ColumnInfo {
        &mut self.columns[id]
    }

    /// A reference to a column.
    pub fn column(&self, id: ColId) -> Expr {
        let c = &self.columns[id];
        Expr { kind: ExprKind::Column(id), ty: c.ty.clone(), nullable: c.nullable, coercibility: c.coercibility }
    }

    /// A fresh subquery number.
    pub fn next_subquery(&mut self) -> usize {
        self.next_subquery += 1;
        self.next_subquery
    }
}

/// A closed query.
#[derive(Debug, Clone)]
pub struct LogicalQuery {
    /// The tree.
    pub rel: Rel,
    /// Result columns in order, with the names that clients see.
    pub output: Vec<(String, ColId)>,
    /// Columns that stand for values of the outer row, in the order of `Correlated` indexes.
    pub params: Vec<ColId>,
    /// SQL_CALC_FOUND_ROWS
    pub calc_found_rows: bool,
}

/// A base table in FROM.
#[derive(Debug, Clone)]
pub struct TableRel {
    /// The table.
    pub table: Arc<Table>,
    /// Alias.
    pub alias: String,
    /// One id for each of the table's columns.
    pub cols: Vec<ColId>,
    /// Id of the row key slot where a statement changes the table.
    pub row_key: Option<ColId>,
    /// USE/FORCE/IGNORE INDEX.
    pub hints: Vec<ast::IndexHint>,
    /// Row locks.
    pub lock: LockMode,
    /// Waiting for them.
    pub wait: LockWait,
    /// `PARTITION (…)`, positions.
    pub partitions: Option<Vec<usize>>,
}

/// A table of information_schema and its like.
#[derive(Debug, Clone)]
pub struct VirtualRel {
    /// Database, lower case.
    pub db: String,
    /// Name, lower case.
    pub name: String,
    /// Alias.
    pub alias: String,
    /// One id for each column.
    pub cols: Vec<ColId>,
}

/// JSON_TABLE.
#[derive(Debug, Clone)]
pub struct JsonTableRel {
    /// Document.
    pub document: Expr,
    /// Row path.
    pub path: String,
    /// Columns.
    pub columns: Vec<JsonTableColumn>,
    /// One id for each column, nested ones in order.
    pub cols: Vec<ColId>,
    /// Alias.
    pub alias: String,
}

/// Set operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOpKind {
    /// UNION
    Union,
    /// INTERSECT
    Intersect,
    /// EXCEPT
    Except,
}

/// A logical operator. Every operator but the listed exceptions passes its input's columns through.
#[derive(Debug, Clone)]
pub enum Rel {
    /// One row, no columns.
    OneRow,
    /// No row at all (impossible WHERE); columns are whatever is asked for.
    Empty,
    /// Rows of expressions.
    Values {
        /// Rows.
        rows: Vec<Vec<Expr>>,
        /// Ids.
        cols: Vec<ColId>,
    },
    /// A base table.
    Table(Box<TableRel>),
    /// A virtual table.
    Virtual(Box<VirtualRel>),
    /// A shared result.
    Shared {
        /// Index in [`Arena::shared`].
        id: usize,
        /// Only the last round.
        delta: bool,
        /// Ids.
        cols: Vec<ColId>,
        /// Alias.
        alias: String,
    },
    /// JSON_TABLE over columns to its left.
    JsonTable(Box<JsonTableRel>),
    /// A derived table or view that stays one; produces only `output`.
    Derived {
        /// Its query.
        input: Box<Rel>,
        /// Alias.
        alias: String,
        /// Its columns.
        output: Vec<ColId>,
    },
    /// A join. Semi and Anti produce the left columns only.
    Join {
        /// Kind.
        kind: JoinKind,
        /// Left.
        left: Box<Rel>,
        /// Right.
        right: Box<Rel>,
        /// Conjuncts.
        on: Vec<Expr>,
        /// STRAIGHT_JOIN: left before right.
        straight: bool,
        /// Anti join made of NOT IN over nullable operands.
        null_aware: bool,
    },
    /// Rows for which all conjuncts are true.
    Filter {
        /// Input.
        input: Box<Rel>,
        /// Conjuncts.
        conds: Vec<Expr>,
    },
    /// Adds computed columns to the input's.
    Project {
        /// Input.
        input: Box<Rel>,
        /// New columns.
        exprs: Vec<(ColId, Expr)>,
    },
    /// Grouping; produces keys, calls and first-row columns only.
    Aggregate {
        /// Input.
        input: Box<Rel>,
        /// Keys.
        keys: Vec<(ColId, Expr)>,
        /// Aggregates.
        calls: Vec<(ColId, AggregateCall)>,
        /// Values of a group's first row.
        first_row: Vec<(ColId, Expr)>,
        /// WITH ROLLUP
        rollup: bool,
    },
    /// Window functions, added to the input's columns.
    Window {
        /// Input.
        input: Box<Rel>,
        /// Calls.
        calls: Vec<(ColId, WindowCall)>,
    },
    /// Sort.
    Sort {
        /// Input.
        input: Box<Rel>,
        /// Keys.
        keys: Vec<SortKey>,
    },
    /// OFFSET and LIMIT.
    Limit {
        /// Input.
        input: Box<Rel>,
        /// Count.
        count: Option<Expr>,
        /// Offset.
        offset: Option<Expr>,
    },
    /// Rows that differ in `cols`; passes other columns of the first such row through.
    Distinct {
        /// Input.
        input: Box<Rel>,
        /// Columns that count.
        cols: Vec<ColId>,
    },
    /// A set operation; produces `cols` only.
    SetOp {
        /// Which.
        op: SetOpKind,
        /// ALL.
        all: bool,
        /// Inputs with their columns, in the order of `cols`.
        inputs: Vec<(Rel, Vec<ColId>)>,
        /// Ids.
        cols: Vec<ColId>,
    },
}

impl Rel {
    /// With a filter on top; no filter for no condition.
    pub fn filter(self, mut conds: Vec<Expr>) -> Rel {
        if conds.is_empty() {
            return self;
        }
        match self {
            Rel::Filter { input, conds: mut below } => {
                below.append(&mut conds);
                Rel::Filter { input, conds: below }
            }
            other => Rel::Filter { input: Box::new(other), conds },
        }
    }

    /// With computed columns on top; unchanged for none.
    pub fn project(self, exprs: Vec<(ColId, Expr)>) -> Rel {
        if exprs.is_empty() { self } else { Rel::Project { input: Box::new(self), exprs } }
    }

    /// An inner join.
    pub fn join(self, right: Rel, on: Vec<Expr>) -> Rel {
        Rel::Join {
            kind: JoinKind::Inner,
            left: Box::new(self),
            right: Box::new(right),
            on,
            straight: false,
            null_aware: false,
        }
    }

    /// The columns that the operator produces.
    pub fn columns(&self, out: &mut Vec<ColId>) {
        match self {
            Rel::OneRow | Rel::Empty => {}
            Rel::Values { cols, .. } | Rel::Shared { cols, .. } | Rel::SetOp { cols, .. } => out.extend(cols),
            Rel::Table(t) => {
                out.extend(&t.cols);
                out.extend(t.row_key);
            }
            Rel::Virtual(t) => out.extend(&t.cols),
            Rel::JsonTable(t) => out.extend(&t.cols),
            Rel::Derived { output, .. } => out.extend(output),
            Rel::Join { kind, left, right, .. } => {
                left.columns(out);
                if matches!(kind, JoinKind::Inner | JoinKind::Left) {
                    right.columns(out);
                }
            }
            Rel::Project { input, exprs } => {
                input.columns(out);
                out.extend(exprs.iter().map(|(c, _)| *c));
            }
            Rel::Window { input, calls } => {
                input.columns(out);
                out.extend(calls.iter().map(|(c, _)| *c));
            }
            Rel::Aggregate { keys, calls, first_row, .. } => {
                out.extend(keys.iter().map(|(c, _)| *c));
                out.extend(calls.iter().map(|(c, _)| *c));
                out.extend(first_row.iter().map(|(c, _)| *c));
            }
            Rel::Filter { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Limit { input, .. }
            | Rel::Distinct { input, .. } => input.columns(out),
        }
    }

    /// The inputs.
    pub fn inputs(&self) -> Vec<&Rel> {
        match self {
            Rel::Join { left, right, .. } => vec![left, right],
            Rel::SetOp { inputs, .. } => inputs.iter().map(|(r, _)| r).collect(),
            Rel::Derived { input, .. }
            | Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Aggregate { input, .. }
            | Rel::Window { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Limit { input, .. }
            | Rel::Distinct { input, .. } => vec![input],
            _ => Vec::new(),
        }
    }

    /// The same operator over changed inputs.
    pub fn map_inputs(self, f: &mut dyn FnMut(Rel) -> Rel) -> Rel {
        let mut b = |r: Box<Rel>| Box::new(f(*r));
        match self {
            Rel::Join { kind, left, right, on, straight, null_aware } => {
                let left = b(left);
                let right = b(right);
                Rel::Join { kind, left, right, on, straight, null_aware }
            }
            Rel::SetOp { op, all, inputs, cols } => {
                let inputs = inputs.into_iter().map(|(r, c)| (f(r), c)).collect();
                Rel::SetOp { op, all, inputs, cols }
            }
            Rel::Derived { input, alias, output } => Rel::Derived { input: b(input), alias, output },
            Rel::Filter { input, conds } => Rel::Filter { input: b(input), conds },
            Rel::Project { input, exprs } => Rel::Project { input: b(input), exprs },
            Rel::Aggregate { input, keys, calls, first_row, rollup } => {
                Rel::Aggregate { input: b(input), keys, calls, first_row, rollup }
            }
            Rel::Window { input, calls } => Rel::Window { input: b(input), calls },
            Rel::Sort { input, keys } => Rel::Sort { input: b(input), keys },
            Rel::Limit { input, count, offset } => Rel::Limit { input: b(input), count, offset },
            Rel::Distinct { input, cols } => Rel::Distinct { input: b(input), cols },
            leaf => leaf,
        }
    }

    /// Changes every expression of this operator (not of its inputs).
    pub fn map_exprs(self, f: &mut dyn FnMut(Expr) -> Expr) -> Rel {
        use crate::exprs::{map_aggregate, map_sort_keys, map_window};
        match self {
            Rel::Values { rows, cols } => {
                Rel::Values { rows: rows.into_iter().map(|r| r.into_iter().map(&mut *f).collect()).collect(), cols }
            }
            Rel::JsonTable(mut t) => {
                t.document = f(t.document);
                Rel::JsonTable(t)
            }
            Rel::Join { kind, left, right, on, straight, null_aware } => {
                Rel::Join { kind, left, right, on: on.into_iter().map(f).collect(), straight, null_aware }
            }
            Rel::Filter { input, conds } => Rel::Filter { input, conds: conds.into_iter().map(f).collect() },
            Rel::Project { input, exprs } => {
                Rel::Project { input, exprs: exprs.into_iter().map(|(c, e)| (c, f(e))).collect() }
            }
            Rel::Aggregate { input, keys, calls, first_row, rollup } => Rel::Aggregate {
                input,
                keys: keys.into_iter().map(|(c, e)| (c, f(e))).collect(),
                calls: calls.into_iter().map(|(c, a)| (c, map_aggregate(a, f))).collect(),
                first_row: first_row.into_iter().map(|(c, e)| (c, f(e))).collect(),
                rollup,
            },
            Rel::Window { input, calls } => {
                Rel::Window { input, calls: calls.into_iter().map(|(c, w)| (c, map_window(w, f))).collect() }
            }
            Rel::Sort { input, keys } => Rel::Sort { input, keys: map_sort_keys(keys, f) },
            Rel::Limit { input, count, offset } => {
                Rel::Limit { input, count: count.map(&mut *f), offset: offset.map(f) }
            }
            other => other,
        }
    }

    /// Shows every expression of this operator (not of its inputs).
    pub fn visit_exprs(&self, f: &mut dyn FnMut(&Expr)) {
        use crate::exprs::{visit_aggregate, visit_window};
        match self {
            Rel::Values { rows, .. } => rows.iter().flatten().for_each(f),
            Rel::JsonTable(t) => f(&t.document),
            Rel::Join { on, .. } => on.iter().for_each(f),
            Rel::Filter { conds, .. } => conds.iter().for_each(f),
            Rel::Project { exprs, .. } => exprs.iter().for_each(|(_, e)| f(e)),
            Rel::Aggregate { keys, calls, first_row, .. } => {
                keys.iter().for_each(|(_, e)| f(e));
                calls.iter().for_each(|(_, a)| visit_aggregate(a, f));
                first_row.iter().for_each(|(_, e)| f(e));
            }
            Rel::Window { calls, .. } => calls.iter().for_each(|(_, w)| visit_window(w, f)),
            Rel::Sort { keys, .. } => keys.iter().for_each(|k| f(&k.expr)),
            Rel::Limit { count, offset, .. } => count.iter().chain(offset).for_each(f),
            _ => {}
        }
    }

    /// Replaces columns by expressions in the whole tree.
    pub fn substitute(self, map: &crate::exprs::Substitution) -> Rel {
        let r = self.map_exprs(&mut |e| map.apply(e));
        r.map_inputs(&mut |i| i.substitute(map))
    }

    /// Columns that the tree uses but does not produce (LATERAL, an unnested correlated subquery).
    pub fn free_columns(&self) -> std::collections::BTreeSet<ColId> {
        let mut used = std::collections::BTreeSet::new();
        let mut made = Vec::new();
        fn walk(r: &Rel, used: &mut std::collections::BTreeSet<ColId>, made: &mut Vec<ColId>) {
            r.visit_exprs(&mut |e| crate::exprs::columns_of(e, used));
            match r {
                // What Semi and Anti joins and groups hide is made all the same.
                Rel::Derived { output, .. } => used.extend(output),
                Rel::SetOp { inputs, .. } => inputs.iter().for_each(|(_, c)| used.extend(c)),
                Rel::Distinct { cols, .. } => used.extend(cols),
                _ => {}
            }
            let own = match r {
                Rel::Values { .. }
                | Rel::Shared { .. }
                | Rel::SetOp { .. }
                | Rel::Table(_)
                | Rel::Virtual(_)
                | Rel::JsonTable(_)
                | Rel::Aggregate { .. } => true,
                Rel::Project { exprs, .. } => {
                    made.extend(exprs.iter().map(|(c, _)| *c));
                    false
                }
                Rel::Window { calls, .. } => {
                    made.extend(calls.iter().map(|(c, _)| *c));
                    false
                }
                _ => false,
            };
            if own {
                r.columns(made);
            }
            for i in r.inputs() {
                walk(i, used, made);
            }
        }
        walk(self, &mut used, &mut made);
        for c in made {
            used.remove(&c);
        }
        used
    }
}
