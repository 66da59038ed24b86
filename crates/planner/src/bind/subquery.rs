//! Subqueries in expressions.

use std::sync::Arc;

use selkie_expr::bind;
use selkie_expr::{CmpOp, Coercibility, Expr, ExprKind, Subquery, SubqueryExpr, SubqueryKind};
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::expr::{Operand, compare_op};
use super::{Binder, operand_columns};
use crate::logical::{LogicalQuery, Rel};

/// A bound subquery and the outer values that it needs.
pub(super) struct BoundSubquery {
    pub query: LogicalQuery,
    pub correlated: Vec<Expr>,
}

impl Binder<'_> {
    /// Binds a subquery one level further in.
    pub(super) fn bind_subquery(&mut self, q: &ast::Query) -> SqlResult<BoundSubquery> {
        let (mut query, refs) = self.nested(false, |b| b.query(q, false))?;
        query.params = refs.iter().map(|(_, id)| *id).collect();
        Ok(BoundSubquery { query, correlated: refs.into_iter().map(|(e, _)| e).collect() })
    }

    fn types(&self, q: &LogicalQuery) -> Vec<SqlType> {
        q.output.iter().map(|(_, id)| self.arena.info(*id).ty.clone()).collect()
    }

    fn subquery_expr(&mut self, q: BoundSubquery, kind: SubqueryKind, ty: SqlType, nullable: bool) -> Expr {
        let columns = self.types(&q.query);
        let coercibility = match &kind {
            SubqueryKind::Scalar => self.arena.info(q.query.output[0].1).coercibility,
            _ => Coercibility::Numeric,
        };
        let query = Subquery { id: self.arena.next_subquery(), plan: Arc::new(q.query), columns };
        let kind = ExprKind::Subquery(Box::new(SubqueryExpr { query, correlated: q.correlated, kind }));
        Expr { kind, ty, nullable, coercibility }
    }

    /// A one-column subquery as a value.
    pub(super) fn scalar_of(&mut self, q: BoundSubquery) -> Expr {
        let info = self.arena.info(q.query.output[0].1);
        let (ty, nullable) = (info.ty.clone(), info.nullable || !is_one_row(&q.query.rel));
        self.subquery_expr(q, SubqueryKind::Scalar, ty, nullable)
    }

    pub(super) fn scalar_subquery(&mut self, q: &ast::Query) -> SqlResult<Expr> {
        let q = self.bind_subquery(q)?;
        if q.query.output.len() != 1 {
            return Err(operand_columns(1));
        }
        Ok(self.scalar_of(q))
    }

    pub(super) fn exists(&mut self, q: &ast::Query) -> SqlResult<Expr> {
        let q = self.bind_subquery(q)?;
        Ok(self.subquery_expr(q, SubqueryKind::Exists { negated: false }, SqlType::BOOL, false))
    }

    /// Casts an output column of the subquery.
    fn cast_output(&mut self, q: &mut LogicalQuery, i: usize, ty: &SqlType) {
        let (name, id) = q.output[i].clone();
        if self.arena.info(id).ty == *ty {
            return;
        }
        let cast = self.arena.column(id).cast_to(ty);
        if matches!(cast.kind, ExprKind::Column(_)) {
            return;
        }
        let new = self.arena.add_for(&name, &cast);
        let rel = std::mem::replace(&mut q.rel, Rel::OneRow);
        q.rel = rel.project(vec![(new, cast)]);
        q.output[i].1 = new;
    }

    /// Brings left operands and the subquery's columns to their comparison types.
    fn match_types(
        &mut self,
        op: CmpOp,
        left: Vec<Expr>,
        q: &mut BoundSubquery,
    ) -> SqlResult<(Vec<Expr>, Vec<Option<selkie_types::Collation>>)> {
        if left.len() != q.query.output.len() {
            return Err(operand_columns(left.len()));
        }
        let mut operands = Vec::with_capacity(left.len());
        let mut collations = Vec::with_capacity(left.len());
        for (i, mut l) in left.into_iter().enumerate() {
            let r = self.arena.column(q.query.output[i].1);
            self.infer(&mut l, &r.ty);
            let (ty, collation) = bind::comparison_type(&self.cx.bind, op, &l, &r)?;
            self.cast_output(&mut q.query, i, &ty);
            operands.push(l.cast_to(&ty));
            collations.push(collation);
        }
        Ok((operands, collations))
    }

    pub(super) fn in_subquery(&mut self, negated: bool, expr: &ast::Expr, q: &ast::Query) -> SqlResult<Expr> {
        let left = self.row_operand(expr)?;
        let q = self.bind_subquery(q)?;
        self.in_of(left, q, negated)
    }

    fn row_operand(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Expr>> {
        match self.operand(expr)? {
            Operand::Value(e) => Ok(vec![e]),
            Operand::Row(r) => Ok(r),
            Operand::Query(q) => Err(operand_columns(q.query.output.len().min(1))),
        }
    }

    fn in_of(&mut self, left: Vec<Expr>, mut q: BoundSubquery, negated: bool) -> SqlResult<Expr> {
        if matches!(q.query.rel, Rel::Limit { .. }) {
            return Err(sql_err!(ER_NOT_SUPPORTED_YET, "LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        let (left, collations) = self.match_types(CmpOp::Eq, left, &mut q)?;
        let nullable =
            left.iter().any(|l| l.nullable) || q.query.output.iter().any(|(_, c)| self.arena.info(*c).nullable);
        Ok(self.subquery_expr(q, SubqueryKind::In { left, collations, negated }, SqlType::BOOL, nullable))
    }

    pub(super) fn row_subquery(&mut self, op: CmpOp, left: Vec<Expr>, mut q: BoundSubquery) -> SqlResult<Expr> {
        let (left, collations) = self.match_types(op, left, &mut q)?;
        let nullable = op != CmpOp::NullSafeEq;
        Ok(self.subquery_expr(q, SubqueryKind::RowCompare { op, left, collations }, SqlType::BOOL, nullable))
    }

    pub(super) fn quantified(
        &mut self,
        op: ast::BinaryOp,
        quantifier: ast::Quantifier,
        left: &ast::Expr,
        q: &ast::Query,
    ) -> SqlResult<Expr> {
        let Some(op) = compare_op(op) else { return Err(sql_err!(ER_NOT_SUPPORTED_YET, "this quantifier")) };
        let all = quantifier == ast::Quantifier::All;
        let left = self.row_operand(left)?;
        let mut q = self.bind_subquery(q)?;
        match (op, all) {
            (CmpOp::Eq, false) => return self.in_of(left, q, false),
            (CmpOp::Ne, true) => return self.in_of(left, q, true),
            _ => {}
        }
        if left.len() != 1 || q.query.output.len() != 1 {
            return Err(operand_columns(1));
        }
        if matches!(q.query.rel, Rel::Limit { .. }) {
            return Err(sql_err!(ER_NOT_SUPPORTED_YET, "LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        let (mut left, mut collations) = self.match_types(op, left, &mut q)?;
        let (Some(left), Some(collation)) = (left.pop(), collations.pop()) else { return Err(operand_columns(1)) };
        let kind = SubqueryKind::Quantified { op, all, left: Box::new(left), collation };
        Ok(self.subquery_expr(q, kind, SqlType::BOOL, true))
    }
}

/// A query without tables and conditions: always one row.
fn is_one_row(rel: &Rel) -> bool {
    match rel {
        Rel::OneRow => true,
        Rel::Project { input, .. } => is_one_row(input),
        _ => false,
    }
}
