//! Window functions: specifications, named windows, frames.

use selkie_expr::bind;
use selkie_expr::{Expr, FrameBound, FrameUnit, SortKey};
use selkie_parser::ast;
use selkie_types::{SqlResult, sql_err};

use super::{Binder, Clause};
use crate::logical::ColumnInfo;

impl Binder<'_> {
    /// Binds a call with OVER: a reference to the window's result.
    pub(super) fn window_call(&mut self, name: &str, f: &ast::FunctionCall) -> SqlResult<Expr> {
        if self.block().in_aggregate {
            return Err(sql_err!(ER_INVALID_GROUP_FUNC_USE));
        }
        if matches!(self.block().clause, Clause::Window | Clause::WindowOrder) {
            return Err(sql_err!(ER_WINDOW_FUNCTION_IN_WINDOW_SPEC));
        }
        if !self.block().windows_allowed {
            return Err(sql_err!(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION));
        }
        let spec = match &f.over {
            Some(ast::Window::Named(n)) => self.named_window(&n.value)?,
            Some(ast::Window::Spec(s)) => self.extended(s)?,
            None => return Err(sql_err!(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION)),
        };
        let args = self.in_window(Clause::Window, |b| b.exprs(&f.args))?;
        let within = self.in_window(Clause::WindowOrder, |b| b.sort_keys(&f.within_group))?.into_iter().next();
        let partition_by = self.in_window(Clause::Window, |b| b.exprs(&spec.partition_by))?;
        let order_by: Vec<SortKey> = self.in_window(Clause::WindowOrder, |b| b.sort_keys(&spec.order_by))?;
        let keys = order_by.len();
        let frame = match &spec.frame {
            Some(fr) => Some(self.in_window(Clause::Window, |b| b.frame(fr, keys))?),
            None => None,
        };
        let spec = bind::WindowSpec { partition_by, order_by, frame };
        let call = bind::bind_window(&self.cx.bind, name, f.distinct, args, within, spec)?;
        let id = self.arena.add(ColumnInfo {
            name: format!("{name}() over"),
            ty: call.ty.clone(),
            nullable: call.nullable,
            coercibility: selkie_expr::Coercibility::Implicit,
            origin: None,
        });
        self.block().windows.push((id, call));
        Ok(self.arena.column(id))
    }

    fn named_window(&mut self, name: &str) -> SqlResult<ast::WindowSpec> {
        let found =
            self.block().named_windows.iter().find(|w| w.name.value.eq_ignore_ascii_case(name)).map(|w| w.spec.clone());
        match found {
            Some(spec) => self.extended(&spec),
            None => Err(sql_err!(ER_WRONG_WINDOW_SPEC_NAME, name)),
        }
    }

    /// The specification with what the named window that it extends says.
    fn extended(&mut self, spec: &ast::WindowSpec) -> SqlResult<ast::WindowSpec> {
        let Some(base) = &spec.base else { return Ok(spec.clone()) };
        let base_spec = self.named_window(&base.value)?;
        if !spec.partition_by.is_empty() {
            return Err(sql_err!(ER_PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC, base.value));
        }
        if !spec.order_by.is_empty() && !base_spec.order_by.is_empty() {
            return Err(sql_err!(ER_ORDER_LIST_IN_REFERENCING_WINDOW_SPEC, base.value));
        }
        if base_spec.frame.is_some() {
            return Err(sql_err!(ER_WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC, base.value));
        }
        Ok(ast::WindowSpec {
            base: None,
            partition_by: base_spec.partition_by,
            order_by: if spec.order_by.is_empty() { base_spec.order_by } else { spec.order_by.clone() },
            frame: spec.frame.clone(),
        })
    }

    /// Checks a WINDOW clause: names once each, referenced ones defined.
    pub(super) fn check_windows(&mut self) -> SqlResult<()> {
        let windows = self.block().named_windows.clone();
        for (i, w) in windows.iter().enumerate() {
            if windows[..i].iter().any(|x| x.name.value.eq_ignore_ascii_case(&w.name.value)) {
                return Err(sql_err!(ER_DUP_WINDOW_NAME, w.name.value));
            }
            if let Some(base) = &w.spec.base
                && !windows[..i].iter().any(|x| x.name.value.eq_ignore_ascii_case(&base.value))
            {
                return Err(sql_err!(ER_WRONG_WINDOW_SPEC_NAME, base.value));
            }
        }
        Ok(())
    }

    fn frame(&mut self, f: &ast::WindowFrame, order_keys: usize) -> SqlResult<(FrameUnit, FrameBound, FrameBound)> {
        if f.exclude != ast::FrameExclude::NoOthers {
            return Err(sql_err!(ER_FRAME_EXCLUSION_NOT_SUPPORTED));
        }
        let unit = match f.units {
            ast::FrameUnits::Rows => FrameUnit::Rows,
            ast::FrameUnits::Range => FrameUnit::Range,
        };
        let offset = |b: &ast::FrameBound| matches!(b, ast::FrameBound::Preceding(_) | ast::FrameBound::Following(_));
        let end = f.end.as_ref().unwrap_or(&ast::FrameBound::CurrentRow);
        if unit == FrameUnit::Range && (offset(&f.start) || offset(end)) && order_keys != 1 {
            return Err(sql_err!(ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY));
        }
        let rank = |b: &ast::FrameBound| match b {
            ast::FrameBound::UnboundedPreceding => 0,
            ast::FrameBound::Preceding(_) => 1,
            ast::FrameBound::CurrentRow => 2,
            ast::FrameBound::Following(_) => 3,
            ast::FrameBound::UnboundedFollowing => 4,
        };
        if rank(&f.start) > rank(end) || rank(&f.start) == 4 || rank(end) == 0 {
            return Err(sql_err!(ER_BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS));
        }
        Ok((unit, self.frame_bound(&f.start)?, self.frame_bound(end)?))
    }

    fn frame_bound(&mut self, b: &ast::FrameBound) -> SqlResult<FrameBound> {
        Ok(match b {
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            ast::FrameBound::Preceding(e) => FrameBound::Preceding(self.expr(e)?),
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::Following(e) => FrameBound::Following(self.expr(e)?),
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
        })
    }
}
