//! ORDER BY and GROUP BY terms: ordinals, aliases, expressions; and a walk over syntax for column names.

use selkie_expr::{Expr, ExprKind};
use selkie_parser::ast;
use selkie_types::{SqlResult, sql_err};

use super::{Binder, Clause};

/// Collects the column references of an expression, not those inside its subqueries.
pub(super) fn column_refs<'e>(e: &'e ast::Expr, out: &mut Vec<&'e ast::ColumnRef>) {
    use ast::Expr as A;
    match e {
        A::Column(c) => out.push(c),
        A::Literal(_)
        | A::Param(_)
        | A::UserVar(_)
        | A::SysVar(_)
        | A::Exists(_)
        | A::Subquery(_)
        | A::Default(_)
        | A::Ignore
        | A::InsertValue(_)
        | A::NextValue(_)
        | A::PreviousValue(_)
        | A::SetVal { .. } => {}
        A::UserVarAssign { value: x, .. }
        | A::Unary { expr: x, .. }
        | A::InSubquery { expr: x, .. }
        | A::Quantified { left: x, .. }
        | A::IsNull { expr: x, .. }
        | A::IsTruth { expr: x, .. }
        | A::Cast { expr: x, .. }
        | A::ConvertUsing { expr: x, .. }
        | A::Collate { expr: x, .. }
        | A::Extract { expr: x, .. }
        | A::GetFormat { locale: x, .. } => column_refs(x, out),
        A::Binary { left: a, right: b, .. }
        | A::Regexp { expr: a, pattern: b, .. }
        | A::DateArith { date: a, value: b, .. }
        | A::TimestampDiff { from: a, to: b, .. } => {
            column_refs(a, out);
            column_refs(b, out);
        }
        A::And(v) | A::Or(v) | A::Row(v) | A::Char { args: v, .. } => v.iter().for_each(|x| column_refs(x, out)),
        A::Like { expr, pattern, escape, .. } => {
            column_refs(expr, out);
            column_refs(pattern, out);
            if let Some(x) = escape {
                column_refs(x, out);
            }
        }
        A::Between { expr, low, high, .. } => {
            column_refs(expr, out);
            column_refs(low, out);
            column_refs(high, out);
        }
        A::InList { expr, list, .. } => {
            column_refs(expr, out);
            list.iter().for_each(|x| column_refs(x, out));
        }
        A::Case { operand, branches, else_expr } => {
            for x in operand.iter().chain(else_expr) {
                column_refs(x, out);
            }
            for b in branches {
                column_refs(&b.when, out);
                column_refs(&b.then, out);
            }
        }
        A::Trim { what, expr, .. } => {
            if let Some(w) = what {
                column_refs(w, out);
            }
            column_refs(expr, out);
        }
        A::WeightString(w) => column_refs(&w.expr, out),
        A::Match { columns, against, .. } => {
            columns.iter().for_each(|x| column_refs(x, out));
            column_refs(against, out);
        }
        A::Function(f) => {
            f.args.iter().for_each(|x| column_refs(x, out));
            f.order_by.iter().for_each(|x| column_refs(&x.expr, out));
        }
    }
}

impl Binder<'_> {
    /// The select item that an ordinal means.
    fn ordinal(&mut self, e: &ast::Expr) -> SqlResult<Option<Expr>> {
        let ast::Expr::Literal(ast::Literal::Int(n)) = e else { return Ok(None) };
        let items = &self.block().items;
        match usize::try_from(*n).ok().and_then(|n| n.checked_sub(1)).and_then(|i| items.get(i)) {
            Some(item) => Ok(Some(item.expr.clone())),
            None => {
                let words = self.block().clause.words();
                Err(sql_err!(ER_BAD_FIELD_ERROR, n, words))
            }
        }
    }

    /// Binds one GROUP BY term.
    pub(super) fn group_term(&mut self, e: &ast::Expr) -> SqlResult<Expr> {
        self.block().clause = Clause::Group;
        let bound = match self.ordinal(e)? {
            Some(item) => item,
            None => self.expr(e)?,
        };
        // Aliases and ordinals may name what cannot be grouped by.
        let block = self.block();
        let mut bad = false;
        crate::exprs::walk(&bound, &mut |x| {
            if let ExprKind::Column(c) = x.kind {
                bad |= block.calls.iter().any(|(id, _)| *id == c) || block.windows.iter().any(|(id, _)| *id == c);
            }
        });
        if bad {
            let name = match e {
                ast::Expr::Column(c) => c.name.value.clone(),
                _ => {
                    let found = self.block().items.iter().find(|i| crate::exprs::same(&i.expr, &bound));
                    found.map(|i| i.name.clone()).unwrap_or_default()
                }
            };
            return Err(sql_err!(ER_WRONG_GROUP_FIELD, name));
        }
        Ok(bound)
    }

    /// Binds one ORDER BY term; `None` for a constant, which orders nothing.
    pub(super) fn order_term(&mut self, e: &ast::Expr) -> SqlResult<Option<Expr>> {
        self.block().clause = Clause::Order;
        if let Some(item) = self.ordinal(e)? {
            return Ok(Some(item));
        }
        if let ast::Expr::Literal(_) = e {
            return Ok(None);
        }
        // A plain name means the select item of that name before the column.
        if let ast::Expr::Column(c) = e {
            let top = self.frames.len() - 1;
            if let Some(item) = self.resolve_item(top, c)? {
                return Ok(Some(item));
            }
        }
        Ok(Some(self.expr(e)?))
    }
}
