//! Name resolution and typing: from the syntax tree to the logical tree.
//!
//! A stack of [`Frame`]s, one for each query level that is being bound, holds what names can mean there. A name
//! found in an outer frame becomes a parameter column of every level between (see
//! [`LogicalQuery::params`](crate::logical::LogicalQuery)).
//!
//! It must not know access paths or operators.

mod aggregate;
mod cte;
mod dml;
mod expr;
mod from;
mod function;
mod names;
mod order;
mod query;
mod scope;
mod select;
mod subquery;
pub mod target;
mod view;
mod window;

use std::collections::BTreeSet;
use std::rc::Rc;

use selkie_expr::{AggregateCall, Expr, ExprKind, WindowCall};
use selkie_parser::ast;
use selkie_types::{SqlError, SqlResult, SqlType, sql_err};

use crate::context::{AccessKind, Accessed, PlanContext};
use crate::exprs::{columns, same};
use crate::logical::{Arena, ColId, LogicalQuery};
use crate::plan::{LockMode, LockWait};

use cte::CteDef;
pub(crate) use dml::{BoundDelete, BoundInsert, BoundInsertSource, BoundUpdate};
pub(crate) use from::is_mergeable;
use scope::Scope;

/// Which clause is being bound; decides what names mean and how errors call the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    FieldList,
    /// Values of INSERT.
    Values,
    /// Targets of INSERT.
    InsertInto,
    /// Targets of ON DUPLICATE KEY UPDATE.
    Update,
    /// Assignments of UPDATE.
    Set,
    Returning,
    Do,
    Where,
    On,
    Group,
    Having,
    Order,
    /// PARTITION BY, arguments and frames of a window.
    Window,
    /// ORDER BY of a window.
    WindowOrder,
}

impl Clause {
    /// The words of error messages.
    fn words(self) -> &'static str {
        match self {
            Clause::FieldList => "SELECT",
            Clause::Values => "VALUES",
            Clause::InsertInto => "INSERT INTO",
            Clause::Update => "UPDATE",
            Clause::Set => "SET",
            Clause::Returning => "RETURNING",
            Clause::Do => "DO",
            Clause::Where => "WHERE",
            Clause::On => "ON",
            Clause::Group | Clause::Window => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::Order | Clause::WindowOrder => "ORDER BY",
        }
    }
}

/// A bound select item.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub name: String,
    pub expr: Expr,
}

/// One SELECT while it is bound.
#[derive(Debug)]
pub(crate) struct Block {
    pub scope: Scope,
    pub clause: Clause,
    pub aggregates_allowed: bool,
    pub in_aggregate: bool,
    pub windows_allowed: bool,
    pub calls: Vec<(ColId, AggregateCall)>,
    pub windows: Vec<(ColId, WindowCall)>,
    pub named_windows: Vec<ast::NamedWindow>,
    pub items: Vec<Item>,
    pub groups: Vec<Expr>,
    pub lock: LockMode,
    pub wait: LockWait,
}

impl Block {
    fn new() -> Block {
        Block {
            scope: Scope::default(),
            clause: Clause::FieldList,
            aggregates_allowed: false,
            in_aggregate: false,
            windows_allowed: false,
            calls: Vec::new(),
            windows: Vec::new(),
            named_windows: Vec::new(),
            items: Vec::new(),
            groups: Vec::new(),
            lock: LockMode::None,
            wait: LockWait::Default,
        }
    }
}

/// One query level.
#[derive(Debug)]
pub(crate) struct Frame {
    pub block: Block,
    /// Expressions over the next outer frame's columns, with the parameter columns that stand for them here.
    pub outer_refs: Vec<(Expr, ColId)>,
    /// Names are not looked for further out (derived tables, views, common table expressions).
    pub barrier: bool,
}

impl Frame {
    fn new(barrier: bool) -> Frame {
        Frame { block: Block::new(), outer_refs: Vec::new(), barrier }
    }
}

/// What `VALUES(col)` means: the columns of the row that INSERT … ON DUPLICATE KEY UPDATE could not insert.
#[derive(Debug, Clone, Default)]
pub(crate) struct InsertedRow {
    pub columns: Vec<(String, ColId)>,
}

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub cx: &'a PlanContext<'a>,
    pub arena: Arena,
    pub accessed: BTreeSet<Accessed>,
    pub frames: Vec<Frame>,
    /// Parameters whose type is still to be inferred from their use.
    untyped_params: BTreeSet<usize>,
    param_count: usize,
    ctes: Vec<Rc<CteDef>>,
    /// Views that are being expanded.
    views: Vec<(String, String)>,
    definer: Option<String>,
    current_db: Option<String>,
    inserted: Option<InsertedRow>,
    /// Row locks that the view being expanded takes over from its reference.
    view_lock: Option<(LockMode, LockWait)>,
}

impl<'a> Binder<'a> {
    pub fn new(cx: &'a PlanContext<'a>) -> Binder<'a> {
        Binder {
            cx,
            arena: Arena::default(),
            accessed: BTreeSet::new(),
            frames: vec![Frame::new(true)],
            untyped_params: BTreeSet::new(),
            param_count: 0,
            ctes: Vec::new(),
            views: Vec::new(),
            definer: None,
            current_db: cx.current_db.map(str::to_owned),
            inserted: None,
            view_lock: None,
        }
    }

    /// Number of parameters seen.
    pub fn param_count(&self) -> usize {
        self.param_count
    }

    /// The innermost block.
    pub fn block(&mut self) -> &mut Block {
        let top = self.frames.len() - 1;
        &mut self.frames[top].block
    }

    /// Binds a top-level query.
    pub fn top_query(&mut self, q: &ast::Query) -> SqlResult<LogicalQuery> {
        self.query(q, true)
    }

    /// Runs `f` one query level further in and returns what it needed of this level.
    fn nested<T>(
        &mut self,
        barrier: bool,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<(T, Vec<(Expr, ColId)>)> {
        if self.frames.len() > 100 {
            return Err(sql_err!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT));
        }
        self.frames.push(Frame::new(barrier));
        let r = f(self);
        let frame = self.frames.pop().unwrap_or_else(|| Frame::new(true));
        Ok((r?, frame.outer_refs))
    }

    /// The expression of frame `from` as the innermost frame sees it.
    fn import(&mut self, from: usize, e: Expr) -> Expr {
        let mut e = e;
        for level in from + 1..self.frames.len() {
            if columns(&e).is_empty() && !matches!(e.kind, ExprKind::Subquery(_)) {
                return e;
            }
            let known = self.frames[level].outer_refs.iter().find(|(o, _)| same(o, &e)).map(|(_, id)| *id);
            let id = known.unwrap_or_else(|| {
                let name = match e.kind {
                    ExprKind::Column(c) => self.arena.info(c).name.clone(),
                    _ => String::from("expr"),
                };
                let id = self.arena.add_for(&name, &e);
                self.frames[level].outer_refs.push((e, id));
                id
            });
            e = self.arena.column(id);
        }
        e
    }

    /// Notes a use of a table or column.
    fn access(&mut self, db: &str, table: &str, column: Option<&str>, kind: AccessKind) {
        self.accessed.insert(Accessed {
            db: db.to_owned(),
            table: table.to_owned(),
            column: column.map(str::to_owned),
            kind,
            definer: self.definer.clone(),
        });
    }

    /// The database that an unqualified table is looked for in.
    fn default_db(&self) -> SqlResult<&str> {
        self.current_db.as_deref().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))
    }

    /// Gives an untyped parameter the type of what it is compared or combined with.
    fn infer(&mut self, e: &mut Expr, ty: &SqlType) {
        if let ExprKind::Param(i) = e.kind
            && self.untyped_params.remove(&i)
        {
            let ty = match ty {
                SqlType::Null => return,
                SqlType::Enum(d) | SqlType::Set(d) => SqlType::varchar(255, d.collation),
                other => other.clone(),
            };
            e.ty = ty.clone();
            if self.arena.param_types.len() <= i {
                self.arena.param_types.resize(i + 1, SqlType::Null);
            }
            self.arena.param_types[i] = ty;
        }
    }

    /// Infers in both directions.
    fn infer_pair(&mut self, a: &mut Expr, b: &mut Expr) {
        let (ta, tb) = (a.ty.clone(), b.ty.clone());
        self.infer(a, &tb);
        self.infer(b, &ta);
    }
}

/// Error 4078: a row where a value is wanted, or the other way round. `None` is a row.
pub(crate) fn illegal_types(left: Option<&SqlType>, right: Option<&SqlType>, operation: &str) -> SqlError {
    let name = |t: Option<&SqlType>| t.map_or("row", type_name);
    sql_err!(ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, name(left), name(right), operation)
}

/// The type's plain name.
fn type_name(t: &SqlType) -> &'static str {
    use selkie_types::{IntWidth, TextKind};
    match t {
        SqlType::Null => "null",
        SqlType::Int { width, unsigned, .. } => match (width, unsigned) {
            (IntWidth::Tiny, false) => "tinyint",
            (IntWidth::Tiny, true) => "tinyint unsigned",
            (IntWidth::Small, false) => "smallint",
            (IntWidth::Small, true) => "smallint unsigned",
            (IntWidth::Medium, false) => "mediumint",
            (IntWidth::Medium, true) => "mediumint unsigned",
            (IntWidth::Int, false) => "int",
            (IntWidth::Int, true) => "int unsigned",
            (IntWidth::Big, false) => "bigint",
            (IntWidth::Big, true) => "bigint unsigned",
        },
        SqlType::Bit(_) => "bit",
        SqlType::Year(_) => "year",
        SqlType::Float { .. } => "float",
        SqlType::Double { .. } => "double",
        SqlType::Decimal { .. } => "decimal",
        SqlType::Date => "date",
        SqlType::Time { .. } => "time",
        SqlType::DateTime { .. } => "datetime",
        SqlType::Timestamp { .. } => "timestamp",
        SqlType::Enum(_) => "enum",
        SqlType::Set(_) => "set",
        SqlType::Text { kind, collation, .. } => match (kind, collation.is_binary()) {
            (TextKind::Char, false) => "char",
            (TextKind::VarChar, false) => "varchar",
            (TextKind::Char, true) => "binary",
            (TextKind::VarChar, true) => "varbinary",
            (TextKind::TinyText, false) => "tinytext",
            (TextKind::Text, false) => "text",
            (TextKind::MediumText, false) => "mediumtext",
            (TextKind::LongText, false) => "longtext",
            (TextKind::TinyText, true) => "tinyblob",
            (TextKind::Text, true) => "blob",
            (TextKind::MediumText, true) => "mediumblob",
            (TextKind::LongText, true) => "longblob",
        },
    }
}

/// Error 1241.
pub(crate) fn operand_columns(n: usize) -> SqlError {
    sql_err!(ER_OPERAND_COLUMNS, n)
}
