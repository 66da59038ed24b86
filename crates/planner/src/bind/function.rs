//! Calls of scalar functions, and the expressions that look like one.

use selkie_expr::bind;
use selkie_expr::{Expr, ExprKind};
use selkie_parser::ast;
use selkie_types::{SqlResult, SqlType, sql_err};

use super::Binder;
use crate::context::AccessKind;

impl Binder<'_> {
    pub(super) fn function_call(&mut self, f: &ast::FunctionCall) -> SqlResult<Expr> {
        let name = f.name.value.to_ascii_lowercase();
        if f.db.is_none() {
            if f.over.is_some() || bind::is_window_only_name(&name) {
                return self.window_call(&name, f);
            }
            if bind::is_aggregate_name(&name) {
                return self.aggregate_call(&name, f);
            }
        }
        let mut args = self.exprs(&f.args)?;
        if f.db.is_none() && bind::is_function_name(&name) {
            self.infer_arguments(&name, &mut args);
            return bind::bind_function(&self.cx.bind, &name, args);
        }
        let db = f.db.as_ref().map(|d| d.value.as_str()).or(self.current_db.as_deref());
        match self.cx.variables.stored_function(db, &f.name.value) {
            Some(s) => {
                if s.params.len() != args.len() {
                    let full = format!("{}.{}", s.name.0, s.name.1);
                    return Err(sql_err!(ER_SP_WRONG_NO_OF_ARGS, "FUNCTION", full, s.params.len(), args.len()));
                }
                self.access(&s.name.0.clone(), &s.name.1.clone(), None, AccessKind::Execute);
                let args = args.into_iter().zip(&s.params).map(|(a, t)| a.cast_to(t)).collect();
                let kind = ExprKind::Call { function: s.function, args };
                Ok(Expr { kind, ty: s.returns, nullable: true, coercibility: selkie_expr::Coercibility::Implicit })
            }
            None => match db {
                Some(db) => Err(sql_err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{db}.{}", f.name.value))),
                None => bind::bind_function(&self.cx.bind, &name, args),
            },
        }
    }

    /// Parameters of IF, COALESCE and the like take the type of their siblings.
    fn infer_arguments(&mut self, name: &str, args: &mut [Expr]) {
        let skip = usize::from(name == "if");
        if !matches!(name, "if" | "ifnull" | "coalesce" | "nullif" | "greatest" | "least" | "nvl") {
            return;
        }
        let known = args
            .iter()
            .skip(skip)
            .find(|a| !matches!(a.kind, ExprKind::Param(_)) && a.ty != SqlType::Null)
            .map(|a| a.ty.clone());
        if let Some(ty) = known {
            for a in args.iter_mut().skip(skip) {
                self.infer(a, &ty);
            }
        }
    }

    /// `MATCH (…) AGAINST (…)`: the columns' texts and the query, with the mode's name.
    pub(super) fn match_against(
        &mut self,
        columns: &[ast::Expr],
        against: &ast::Expr,
        mode: ast::MatchMode,
    ) -> SqlResult<Expr> {
        let cx = &self.cx.bind;
        let mode = match mode {
            ast::MatchMode::NaturalLanguage => "natural",
            ast::MatchMode::QueryExpansion => "expansion",
            ast::MatchMode::Boolean => "boolean",
        };
        let mut args = vec![bind::literal_text(cx, mode, None), self.expr(against)?];
        args.extend(self.exprs(columns)?);
        if !bind::is_function_name("match_against") {
            return Err(sql_err!(ER_NOT_SUPPORTED_YET, "MATCH ... AGAINST"));
        }
        bind::bind_function(&self.cx.bind, "match_against", args)
    }

    /// NEXTVAL and its like: the sequence is named by two text arguments.
    pub(super) fn sequence_function(
        &mut self,
        function: &str,
        name: &ast::ObjectName,
        rest: Vec<Expr>,
    ) -> SqlResult<Expr> {
        let db = match &name.db {
            Some(d) => d.value.clone(),
            None => self.default_db()?.to_owned(),
        };
        let seq = name.name.value.clone();
        let found = self.cx.temporary.table(&db, &seq).or_else(|| self.cx.schema.table(&db, &seq).cloned());
        match found {
            None => return Err(sql_err!(ER_NO_SUCH_TABLE, db, seq)),
            Some(t) if t.kind != selkie_catalog::TableKind::Sequence => {
                return Err(sql_err!(ER_NOT_SEQUENCE, db, seq));
            }
            Some(_) => {}
        }
        let kind = if function == "lastval" { AccessKind::Select } else { AccessKind::Insert };
        self.access(&db, &seq, None, kind);
        let cx = &self.cx.bind;
        let mut args = vec![bind::literal_text(cx, &db, None), bind::literal_text(cx, &seq, None)];
        args.extend(rest);
        bind::bind_function(cx, function, args)
    }

    /// `DEFAULT(col)`: the column's default expression.
    pub(super) fn default_of(&mut self, c: &ast::ColumnRef) -> SqlResult<Expr> {
        let e = self.column_ref(c)?;
        let origin = match e.kind {
            ExprKind::Column(id) => self.arena.info(id).origin.clone(),
            _ => None,
        };
        let Some(origin) = origin else { return Err(sql_err!(ER_NO_DEFAULT_FOR_FIELD, c.name.value)) };
        let table = self
            .cx
            .temporary
            .table(&origin.db, &origin.org_table)
            .or_else(|| self.cx.schema.table(&origin.db, &origin.org_table).cloned());
        let Some(table) = table else { return Err(sql_err!(ER_NO_SUCH_TABLE, origin.db, origin.org_table)) };
        let position = table.column_index(&origin.org_name);
        let default = match position {
            Some(p) => super::target::bind_default(&table, p, self.cx)?,
            None => None,
        };
        match default {
            Some(d) => Ok(d),
            None => Err(sql_err!(ER_NO_DEFAULT_FOR_FIELD, c.name.value)),
        }
    }

    /// `VALUES(col)` in ON DUPLICATE KEY UPDATE; NULL elsewhere, as MariaDB has it.
    pub(super) fn inserted_value(&mut self, c: &ast::ColumnRef) -> SqlResult<Expr> {
        let Some(row) = &self.inserted else {
            let e = self.column_ref(c)?;
            let mut null = bind::literal_null();
            null.ty = e.ty;
            return Ok(null);
        };
        let found = row.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(&c.name.value)).map(|(_, id)| *id);
        match found {
            Some(id) => Ok(self.arena.column(id)),
            None => Err(sql_err!(ER_BAD_FIELD_ERROR, c.name.value, "SELECT")),
        }
    }
}
