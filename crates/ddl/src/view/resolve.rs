//! Puts resolved names into a view's query: every column with its table, every table with its database where that is not the
//! view's own, `*` as the list of columns, NATURAL and USING as conditions. So the text means the same wherever it is read,
//! and later columns do not appear in old views.
//!
//! The planner has accepted the query before: names that cannot be resolved here are left as they are.

use selkie_parser::ast::{
    BinaryOp, CastType, ColumnRef, Cte, Expr, Ident, Join, JoinCondition, JoinKind, Literal, NamedTable, OrderItem,
    Query, Select, SelectItem, SetExpr, TableRef, Window, WindowSpec,
};
use selkie_types::{Collation, SqlResult, sql_err};

use super::walk;
use crate::names::same;

/// Names of the columns of a table or view; error 1146 if there is none.
pub type ColumnsOf<'a> = &'a mut dyn FnMut(&str, &str) -> SqlResult<Vec<String>>;

/// A column that a FROM clause gives.
#[derive(Debug, Clone)]
struct Column {
    /// How it is named from now on.
    db: Option<String>,
    table: String,
    name: String,
    /// Joined by NATURAL or USING to an earlier column of that name: only reached by its table's name.
    hidden: bool,
}

impl Column {
    fn expr(&self) -> Expr {
        Expr::Column(ColumnRef {
            db: self.db.as_deref().map(Ident::quoted),
            table: Some(Ident::quoted(&*self.table)),
            name: Ident::quoted(&*self.name),
        })
    }
}

/// The columns of one SELECT's FROM clause, and the aliases of its list.
#[derive(Default)]
struct Scope {
    columns: Vec<Column>,
}

/// Resolves one view's query.
pub struct Resolver<'a> {
    /// The view's database, in which names without one are looked up.
    pub db: &'a str,
    /// The view's own name, which it may not use.
    pub view: &'a str,
    /// Of texts made by CAST.
    pub collation_connection: Collation,
    /// Looks tables up.
    pub columns_of: ColumnsOf<'a>,
    ctes: Vec<(String, Vec<String>)>,
    scopes: Vec<Scope>,
}

impl<'a> Resolver<'a> {
    /// For a view.
    pub fn new(db: &'a str, view: &'a str, collation_connection: Collation, columns_of: ColumnsOf<'a>) -> Resolver<'a> {
        Resolver { db, view, collation_connection, columns_of, ctes: Vec::new(), scopes: Vec::new() }
    }

    /// Resolves a query in place. Returns the names of its columns.
    pub fn query(&mut self, q: &mut Query) -> SqlResult<Vec<String>> {
        let ctes = self.ctes.len();
        if let Some(with) = &mut q.with {
            for cte in &mut with.ctes {
                self.cte(cte, with.recursive)?;
            }
        }
        let Query { body, order_by, limit, .. } = q;
        let names = self.body(body, Some(order_by))?;
        if let Some(l) = limit {
            for e in [&mut l.count, &mut l.offset].into_iter().flatten() {
                self.expr(e)?;
            }
        }
        self.ctes.truncate(ctes);
        Ok(names)
    }

    fn cte(&mut self, cte: &mut Cte, recursive: bool) -> SqlResult<()> {
        let declared: Vec<String> = cte.columns.iter().map(|c| c.value.clone()).collect();
        if recursive {
            // Its own name means what its first part gives.
            let own = match &cte.query.body {
                _ if !declared.is_empty() => declared.clone(),
                SetExpr::SetOps { first, .. } => {
                    let mut first = (**first).clone();
                    self.body(&mut first, None)?
                }
                _ => Vec::new(),
            };
            self.ctes.push((cte.name.value.clone(), own));
            self.query(&mut cte.query)?;
            return Ok(());
        }
        let names = self.query(&mut cte.query)?;
        self.ctes.push((cte.name.value.clone(), if declared.is_empty() { names } else { declared }));
        Ok(())
    }

    fn body(&mut self, body: &mut SetExpr, order_by: Option<&mut Vec<OrderItem>>) -> SqlResult<Vec<String>> {
        match body {
            SetExpr::Select(s) => self.select(s, order_by),
            SetExpr::Values(rows) => {
                let mut names = Vec::new();
                for (i, row) in rows.iter_mut().enumerate() {
                    for e in row {
                        if i == 0 {
                            names.push(selkie_parser::display::expr(e));
                        }
                        self.expr(e)?;
                    }
                }
                Ok(names)
            }
            SetExpr::Query(q) => self.query(q),
            SetExpr::SetOps { first, rest } => {
                let names = self.body(first, None)?;
                for t in rest {
                    self.body(&mut t.term, None)?;
                }
                Ok(names)
            }
        }
    }

    fn select(&mut self, s: &mut Select, order_by: Option<&mut Vec<OrderItem>>) -> SqlResult<Vec<String>> {
        self.scopes.push(Scope::default());
        let result = self.select_inner(s, order_by);
        self.scopes.pop();
        result
    }

    fn select_inner(&mut self, s: &mut Select, order_by: Option<&mut Vec<OrderItem>>) -> SqlResult<Vec<String>> {
        for t in &mut s.from {
            let columns = self.table_ref(t)?;
            self.scope().columns.extend(columns);
        }
        self.expand(&mut s.items);
        let windows = std::mem::take(&mut s.windows);
        let windows: Vec<(String, WindowSpec)> = windows.into_iter().map(|w| (w.name.value, w.spec)).collect();
        for item in &mut s.items {
            if let SelectItem::Expr { expr, .. } = item {
                inline_windows(expr, &windows);
                self.expr(expr)?;
            }
        }
        let items: Vec<(String, Expr)> = s.items.iter().filter_map(named).collect();
        if let Some(e) = &mut s.where_clause {
            self.expr(e)?;
        }
        for g in &mut s.group_by {
            self.expr_or_alias(&mut g.expr, &items, Prefer::Columns)?;
        }
        if let Some(e) = &mut s.having {
            self.having(e, &items)?;
        }
        for o in order_by.into_iter().flatten() {
            inline_windows(&mut o.expr, &windows);
            self.expr_or_alias(&mut o.expr, &items, Prefer::Aliases)?;
        }
        Ok(items.into_iter().map(|(n, _)| n).collect())
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    // FROM.

    fn table_ref(&mut self, t: &mut TableRef) -> SqlResult<Vec<Column>> {
        match t {
            TableRef::Table(t) => self.named_table(t),
            TableRef::Derived { query, alias, columns, .. } => {
                let names = self.query(query)?;
                let names = if columns.is_empty() { names } else { columns.iter().map(|c| c.value.clone()).collect() };
                let table = alias.as_ref().map_or("", |a| a.as_str()).to_owned();
                Ok(columns_named(None, &table, names))
            }
            TableRef::JsonTable(j) => {
                self.expr(&mut j.doc)?;
                let mut names = Vec::new();
                json_columns(&j.columns, &mut names);
                Ok(columns_named(None, j.alias.as_str(), names))
            }
            TableRef::Nested(list) => {
                let mut all = Vec::new();
                for t in list {
                    all.extend(self.table_ref(t)?);
                }
                Ok(all)
            }
            TableRef::Join(j) => self.join(j),
        }
    }

    fn named_table(&mut self, t: &mut NamedTable) -> SqlResult<Vec<Column>> {
        let name = t.name.name.value.clone();
        let shown = t.alias.as_ref().map_or(&*name, |a| a.as_str()).to_owned();
        if t.name.db.is_none()
            && let Some((_, names)) = self.ctes.iter().rev().find(|(n, _)| same(n, &name))
        {
            return Ok(columns_named(None, &shown, names.clone()));
        }
        let db = t.name.db.as_ref().map_or(self.db, |d| d.as_str()).to_owned();
        if db == self.db && name == self.view {
            return Err(sql_err!(ER_NO_SUCH_TABLE, db, name));
        }
        let names = (self.columns_of)(&db, &name)?;
        let foreign = db != self.db;
        t.name.db = foreign.then(|| Ident::quoted(&*db));
        let qualifier = (foreign && t.alias.is_none()).then_some(db);
        Ok(columns_named(qualifier, &shown, names))
    }

    fn join(&mut self, j: &mut Join) -> SqlResult<Vec<Column>> {
        let mut left = self.table_ref(&mut j.left)?;
        let mut right = self.table_ref(&mut j.right)?;
        let common: Vec<String> = match &j.condition {
            Some(JoinCondition::Using(list)) => list.iter().map(|c| c.value.clone()).collect(),
            _ if j.natural => {
                let shown = |c: &&Column| !c.hidden;
                let there = |c: &Column| right.iter().filter(shown).any(|r| same(&r.name, &c.name));
                left.iter().filter(shown).filter(|c| there(c)).map(|c| c.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        if common.is_empty() {
            if j.natural || matches!(j.condition, Some(JoinCondition::Using(_))) {
                j.natural = false;
                j.condition = None;
            }
            let before = self.scope().columns.len();
            let both: Vec<Column> = left.iter().chain(&right).cloned().collect();
            self.scope().columns.extend(both);
            let result = match &mut j.condition {
                Some(JoinCondition::On(e)) => self.expr(e),
                _ => Ok(()),
            };
            self.scope().columns.truncate(before);
            result?;
            left.append(&mut right);
            return Ok(left);
        }
        let mut equalities = Vec::with_capacity(common.len());
        let mut merged = Vec::with_capacity(common.len());
        for name in &common {
            let find = |list: &[Column]| list.iter().position(|c| !c.hidden && same(&c.name, name));
            let (Some(l), Some(r)) = (find(&left), find(&right)) else { continue };
            equalities.push(Expr::Binary {
                op: BinaryOp::Eq,
                left: Box::new(left[l].expr()),
                right: Box::new(right[r].expr()),
            });
            let outer_right = j.kind == JoinKind::Right;
            merged.push(if outer_right { right[r].clone() } else { left[l].clone() });
            left[l].hidden = true;
            right[r].hidden = true;
        }
        j.natural = false;
        j.condition = Some(JoinCondition::On(match equalities.len() {
            1 => equalities.remove(0),
            _ => Expr::And(equalities),
        }));
        merged.append(&mut left);
        merged.append(&mut right);
        Ok(merged)
    }

    /// Replaces `*` and `t.*` by columns.
    fn expand(&mut self, items: &mut Vec<SelectItem>) {
        let columns = self.scope().columns.clone();
        let mut out = Vec::with_capacity(items.len());
        for item in items.drain(..) {
            let SelectItem::Wildcard { db, table } = item else {
                out.push(item);
                continue;
            };
            let wanted = |c: &&Column| match &table {
                None => !c.hidden,
                Some(t) => {
                    same(&c.table, t.as_str())
                        && db.as_ref().is_none_or(|d| c.db.as_deref().unwrap_or(self.db) == d.as_str())
                }
            };
            let mut seen: Vec<&str> = Vec::new();
            for c in columns.iter().filter(wanted) {
                // A joined column stands twice in the list: once merged, once for its table.
                if table.is_some() && seen.contains(&c.name.as_str()) {
                    continue;
                }
                seen.push(&c.name);
                out.push(SelectItem::Expr { expr: c.expr(), alias: None, text: c.name.clone() });
            }
        }
        *items = out;
    }

    // Expressions.

    fn expr(&mut self, e: &mut Expr) -> SqlResult<()> {
        if let Expr::Column(c) = e
            && let Some(found) = self.find(c)
        {
            *e = found.expr();
            return Ok(());
        }
        match e {
            Expr::UserVar(_) | Expr::UserVarAssign { .. } | Expr::SysVar(_) | Expr::Param(_) => {
                return Err(sql_err!(ER_VIEW_SELECT_VARIABLE));
            }
            Expr::Cast { ty: CastType::Char { charset, .. }, .. } if charset.charset.is_none() && !charset.binary => {
                charset.charset = Some(self.collation_connection.charset().name().to_owned());
            }
            _ => {}
        }
        let mut result = Ok(());
        walk::children(e, &mut |child| {
            if result.is_ok() {
                result = self.expr(child);
            }
        });
        result?;
        match walk::query(e) {
            Some(q) => self.query(q).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The column that a reference means, from the innermost SELECT outwards.
    fn find(&self, c: &ColumnRef) -> Option<Column> {
        self.scopes.iter().rev().find_map(|s| s.find(c, self.db)).cloned()
    }

    /// A term of GROUP BY or ORDER BY, which may be an alias.
    fn expr_or_alias(&mut self, e: &mut Expr, items: &[(String, Expr)], prefer: Prefer) -> SqlResult<()> {
        if let Expr::Column(c) = e
            && c.table.is_none()
        {
            let own = self.scopes.last().and_then(|s| s.find(c, self.db)).cloned();
            let alias = items.iter().find(|(n, _)| same(n, c.name.as_str())).map(|(_, e)| e.clone());
            let found = match prefer {
                Prefer::Columns => own.map(|c| c.expr()).or(alias),
                Prefer::Aliases => alias.or_else(|| own.map(|c| c.expr())),
            };
            if let Some(found) = found {
                *e = found;
                return Ok(());
            }
        }
        if matches!(e, Expr::Literal(Literal::Int(_))) {
            return Ok(());
        }
        self.expr(e)
    }

    /// HAVING refers to the list by aliases, which stay unless they are plain columns.
    fn having(&mut self, e: &mut Expr, items: &[(String, Expr)]) -> SqlResult<()> {
        if let Expr::Column(c) = e
            && c.table.is_none()
            && let Some((name, item)) = items.iter().find(|(n, _)| same(n, c.name.as_str()))
        {
            *e = match item {
                Expr::Column(_) => item.clone(),
                _ => Expr::column(Ident::quoted(&**name)),
            };
            return Ok(());
        }
        if walk::query(e).is_some() || matches!(e, Expr::Column(_)) {
            return self.expr(e);
        }
        let mut result = Ok(());
        walk::children(e, &mut |child| {
            if result.is_ok() {
                result = self.having(child, items);
            }
        });
        result
    }
}

#[derive(Clone, Copy)]
enum Prefer {
    Columns,
    Aliases,
}

impl Scope {
    fn find(&self, c: &ColumnRef, view_db: &str) -> Option<&Column> {
        self.columns.iter().find(|o| {
            same(&o.name, c.name.as_str())
                && match &c.table {
                    None => !o.hidden,
                    Some(t) => {
                        same(&o.table, t.as_str())
                            && c.db.as_ref().is_none_or(|d| o.db.as_deref().unwrap_or(view_db) == d.as_str())
                    }
                }
        })
    }
}

fn columns_named(db: Option<String>, table: &str, names: Vec<String>) -> Vec<Column> {
    names.into_iter().map(|name| Column { db: db.clone(), table: table.to_owned(), name, hidden: false }).collect()
}

fn json_columns(list: &[selkie_parser::ast::JsonTableColumn], out: &mut Vec<String>) {
    use selkie_parser::ast::JsonTableColumn as C;
    for c in list {
        match c {
            C::Ordinality(name) | C::Path { name, .. } => out.push(name.value.clone()),
            C::Nested { columns, .. } => json_columns(columns, out),
        }
    }
}

/// The name of a list item and its expression.
fn named(item: &SelectItem) -> Option<(String, Expr)> {
    let SelectItem::Expr { expr, alias, text } = item else { return None };
    let name = match (alias, expr) {
        (Some(a), _) => a.value.clone(),
        (None, Expr::Column(c)) => c.name.value.clone(),
        (None, Expr::Literal(Literal::Str(s))) => s.to_text(),
        (None, _) => text.clone(),
    };
    Some((name, expr.clone()))
}

/// `OVER w` becomes the window itself.
fn inline_windows(e: &mut Expr, windows: &[(String, WindowSpec)]) {
    if let Expr::Function(call) = e {
        match &mut call.over {
            Some(Window::Named(n)) => {
                if let Some(spec) = window(n.as_str(), windows) {
                    call.over = Some(Window::Spec(Box::new(spec)));
                }
            }
            Some(Window::Spec(spec)) => {
                if let Some(base) = spec.base.take().and_then(|b| window(b.as_str(), windows)) {
                    extend(spec, base);
                }
            }
            None => {}
        }
    }
    walk::children(e, &mut |child| inline_windows(child, windows));
}

fn window(name: &str, windows: &[(String, WindowSpec)]) -> Option<WindowSpec> {
    let (at, (_, spec)) = windows.iter().enumerate().find(|(_, (n, _))| same(n, name))?;
    let mut spec = spec.clone();
    if let Some(base) = spec.base.take().and_then(|b| window(b.as_str(), &windows[..at])) {
        extend(&mut spec, base);
    }
    Some(spec)
}

fn extend(spec: &mut WindowSpec, base: WindowSpec) {
    if spec.partition_by.is_empty() {
        spec.partition_by = base.partition_by;
    }
    if spec.order_by.is_empty() {
        spec.order_by = base.order_by;
    }
    if spec.frame.is_none() {
        spec.frame = base.frame;
    }
}
