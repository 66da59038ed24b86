//! Queries: `WITH`, set operations, `SELECT`, what follows them.

use super::Parser;
use crate::ast::{
    Cte, Expr, FieldsClause, IntoVar, Limit, LinesClause, LockStrength, LockWait, Locking,
    NamedWindow, ProcedureClause, Query, Select, SelectInto, SelectItem, SelectOptions, SetExpr,
    SetOp, SetTerm, With,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// Whether a query or an opening parenthesis, in which one may stand, comes next.
    pub(super) fn at_query_or_paren(&mut self) -> bool {
        match self.peek() {
            Tok::LParen => true,
            Tok::Kw(Kw::SELECT | Kw::WITH) => true,
            // Not `VALUES(col)`.
            Tok::Kw(Kw::VALUES) => !self.at_values_call(),
            _ => false,
        }
    }

    /// `VALUES(col)` or `VALUES(t.col)`, with no further row behind.
    fn at_values_call(&mut self) -> bool {
        if self.peek_at(1) != Tok::LParen {
            return false;
        }
        let mut n = 2;
        loop {
            match self.peek_at(n) {
                Tok::Ident | Tok::QuotedIdent => {}
                Tok::Kw(kw) if !kw.is_reserved() => {}
                _ => return false,
            }
            match self.peek_at(n + 1) {
                Tok::Dot => n += 2,
                Tok::RParen => return self.peek_at(n + 2) != Tok::Comma,
                _ => return false,
            }
        }
    }

    /// Whether a query comes next, in any number of parentheses.
    pub(super) fn at_query(&mut self) -> bool {
        let mut n = 0;
        while self.peek_at(n) == Tok::LParen {
            n += 1;
        }
        match self.peek_at(n) {
            Tok::Kw(Kw::SELECT | Kw::WITH) => true,
            Tok::Kw(Kw::VALUES) => {
                n == 0 || !matches!(self.peek_at(n + 2), Tok::Ident | Tok::QuotedIdent)
            }
            _ => false,
        }
    }

    /// `(query)`
    pub(super) fn subquery(&mut self) -> Res<Query> {
        if !self.at_tok(Tok::LParen) {
            return self.fail();
        }
        self.bump();
        let query = self.deeper(Self::query)?;
        self.expect_tok(Tok::RParen)?;
        Ok(query)
    }

    /// A query inside another statement.
    pub(super) fn query(&mut self) -> Res<Query> {
        let with = self.opt_with()?;
        let first = self.query_term(None)?;
        self.query_rest(with, first, Outer::No)
    }

    /// A query that is a statement: it may have `INTO` and `PROCEDURE`.
    pub(super) fn query_statement(&mut self) -> Res<Query> {
        let with = self.opt_with()?;
        let mut into = None;
        let first = self.query_term(Some(&mut into))?;
        self.query_rest(with, first, Outer::Yes(into))
    }

    /// Goes on behind a query in parentheses, the first of several or the only one with something behind it.
    pub(super) fn query_from(&mut self, first: Query) -> Res<Query> {
        self.query_rest(None, SetExpr::Query(Box::new(first)), Outer::No)
    }

    /// Whether what comes next goes on with a query that stood in parentheses.
    pub(super) fn at_query_tail(&self) -> bool {
        self.at_any(&[
            Kw::UNION,
            Kw::EXCEPT,
            Kw::INTERSECT,
            Kw::ORDER,
            Kw::LIMIT,
            Kw::OFFSET,
            Kw::FETCH,
            Kw::FOR,
            Kw::LOCK,
            Kw::INTO,
            Kw::PROCEDURE,
        ])
    }

    fn query_rest(&mut self, with: Option<With>, first: SetExpr, outer: Outer) -> Res<Query> {
        let (is_statement, mut into) = match outer {
            Outer::Yes(into) => (true, into),
            Outer::No => (false, None),
        };
        let body = if into.is_some() {
            first
        } else {
            self.set_operations(first)?
        };
        let order_by = self.opt_order_by()?;
        let limit = self.limit()?;
        let mut procedure = None;
        if is_statement && into.is_none() && self.eat(Kw::PROCEDURE) {
            let name = self.ident()?;
            let args = self.parens(Self::args_until_paren)?;
            procedure = Some(ProcedureClause { name, args });
        }
        let may_have_into = is_statement && procedure.is_none();
        if may_have_into && into.is_none() {
            into = self.opt_into()?;
        }
        let locking = self.opt_locking()?;
        if may_have_into && into.is_none() {
            into = self.opt_into()?;
        }
        // `((SELECT 1))` is `(SELECT 1)`.
        if with.is_none()
            && order_by.is_empty()
            && limit.is_none()
            && locking.is_none()
            && into.is_none()
            && procedure.is_none()
            && let SetExpr::Query(inner) = body
        {
            return Ok(*inner);
        }
        Ok(Query {
            with,
            body,
            order_by,
            limit,
            locking,
            into,
            procedure,
        })
    }

    fn opt_with(&mut self) -> Res<Option<With>> {
        if !self.eat(Kw::WITH) {
            return Ok(None);
        }
        let recursive = self.eat(Kw::RECURSIVE);
        let ctes = self.list(|p| {
            let name = p.ident()?;
            let columns = if p.at_tok(Tok::LParen) {
                p.paren_list(Self::ident)?
            } else {
                Vec::new()
            };
            p.expect(Kw::AS)?;
            let query = Box::new(p.subquery()?);
            let mut cycle = Vec::new();
            if recursive && p.eat(Kw::CYCLE) {
                cycle = p.list(Self::ident)?;
                p.expect(Kw::RESTRICT)?;
            }
            Ok(Cte {
                name,
                columns,
                query,
                cycle,
            })
        })?;
        Ok(Some(With { recursive, ctes }))
    }

    /// A `SELECT`, `VALUES` or query in parentheses.
    fn query_term(&mut self, into: Option<&mut Option<SelectInto>>) -> Res<SetExpr> {
        match self.peek() {
            Tok::Kw(Kw::SELECT) => Ok(SetExpr::Select(Box::new(self.select(into)?))),
            Tok::Kw(Kw::VALUES) => {
                self.bump();
                Ok(SetExpr::Values(self.list(Self::value_row)?))
            }
            Tok::LParen => Ok(SetExpr::Query(Box::new(self.subquery()?))),
            _ => self.fail(),
        }
    }

    fn set_operations(&mut self, first: SetExpr) -> Res<SetExpr> {
        let mut rest: Vec<SetTerm> = Vec::new();
        loop {
            let op = match self.eat_any(&[Kw::UNION, Kw::EXCEPT, Kw::INTERSECT]) {
                Some(Kw::UNION) => SetOp::Union,
                Some(Kw::EXCEPT) => SetOp::Except,
                Some(_) => SetOp::Intersect,
                None => break,
            };
            let all = self.eat_any(&[Kw::ALL, Kw::DISTINCT]) == Some(Kw::ALL);
            let term = self.query_term(None)?;
            rest.push(SetTerm { op, all, term });
        }
        Ok(group_intersections(first, rest))
    }

    fn select(&mut self, into: Option<&mut Option<SelectInto>>) -> Res<Select> {
        self.expect(Kw::SELECT)?;
        let mut select = Select {
            options: self.select_options(),
            ..Select::default()
        };
        select.items = self.list(Self::select_item)?;
        if let Some(into) = into {
            *into = self.opt_into()?;
        }
        if self.eat(Kw::FROM) {
            if self.eat(Kw::DUAL) {
                select.from_dual = true;
            } else {
                select.from = self.list(Self::table_ref)?;
            }
        }
        select.where_clause = self.opt_where()?;
        if self.eat(Kw::GROUP) {
            self.expect(Kw::BY)?;
            select.group_by = self.list(Self::order_item)?;
            if self.at(Kw::WITH) && self.peek_at(1) == Tok::Kw(Kw::ROLLUP) {
                self.bump();
                self.bump();
                select.with_rollup = true;
            } else if self.at(Kw::WITH) && self.peek_at(1) == Tok::Kw(Kw::CUBE) {
                return self.other(1235, "This version of MariaDB doesn't yet support 'CUBE'");
            }
        }
        if self.eat(Kw::HAVING) {
            select.having = Some(self.expr()?);
        }
        if self.eat(Kw::WINDOW) {
            select.windows = self.list(|p| {
                let name = p.ident()?;
                p.expect(Kw::AS)?;
                Ok(NamedWindow {
                    name,
                    spec: p.parens(Self::window_spec)?,
                })
            })?;
        }
        Ok(select)
    }

    pub(super) fn opt_where(&mut self) -> Res<Option<Expr>> {
        if self.eat(Kw::WHERE) {
            Ok(Some(self.expr()?))
        } else {
            Ok(None)
        }
    }

    fn select_options(&mut self) -> SelectOptions {
        let mut options = SelectOptions::default();
        while let Tok::Kw(kw) = self.peek() {
            match kw {
                Kw::DISTINCT | Kw::DISTINCTROW => options.distinct = true,
                Kw::ALL => options.all = true,
                Kw::STRAIGHT_JOIN => options.straight_join = true,
                Kw::HIGH_PRIORITY => options.high_priority = true,
                Kw::SQL_SMALL_RESULT => options.small_result = true,
                Kw::SQL_BIG_RESULT => options.big_result = true,
                Kw::SQL_BUFFER_RESULT => options.buffer_result = true,
                Kw::SQL_CALC_FOUND_ROWS => options.calc_found_rows = true,
                Kw::SQL_CACHE => options.cache = Some(true),
                Kw::SQL_NO_CACHE => options.cache = Some(false),
                _ => break,
            }
            self.bump();
        }
        options
    }

    /// `*`, `t.*` or an expression with its alias.
    pub(super) fn select_item(&mut self) -> Res<SelectItem> {
        if self.eat_tok(Tok::Star) {
            return Ok(SelectItem::Wildcard {
                db: None,
                table: None,
            });
        }
        if self.at_ident() && self.peek_at(1) == Tok::Dot {
            if self.peek_at(2) == Tok::Star {
                let table = Some(self.ident()?);
                self.bump();
                self.bump();
                return Ok(SelectItem::Wildcard { db: None, table });
            }
            if self.peek_at(3) == Tok::Dot && self.peek_at(4) == Tok::Star {
                let db = Some(self.ident()?);
                self.bump();
                let table = Some(self.ident()?);
                self.bump();
                self.bump();
                return Ok(SelectItem::Wildcard { db, table });
            }
        }
        let start = self.next_start();
        let expr = self.expr()?;
        let text = self.text_from(start);
        let named =
            self.eat(Kw::AS) || (self.at_ident() && !self.at(Kw::SOUNDS)) || self.at_tok(Tok::Str);
        let alias = if named {
            Some(self.ident_or_text()?)
        } else {
            None
        };
        Ok(SelectItem::Expr { expr, alias, text })
    }

    /// `RETURNING …`; empty without.
    pub(super) fn opt_returning(&mut self) -> Res<Vec<SelectItem>> {
        if self.eat(Kw::RETURNING) {
            self.list(Self::select_item)
        } else {
            Ok(Vec::new())
        }
    }

    /// A number, parameter or variable of a `LIMIT`.
    fn limit_value(&mut self) -> Res<Expr> {
        match self.peek() {
            Tok::Int | Tok::HexNum => Ok(Expr::Literal(crate::ast::Literal::Int(self.number()?))),
            Tok::Question => Ok(Expr::Param(self.param()?)),
            _ if self.at_ident() => Ok(Expr::Column(self.column_ref()?)),
            _ => self.fail(),
        }
    }

    pub(super) fn limit(&mut self) -> Res<Option<Limit>> {
        if self.eat(Kw::LIMIT) {
            let mut limit = Limit {
                count: None,
                offset: None,
                with_ties: false,
                rows_examined: None,
            };
            if self.eat_seq(&[Kw::ROWS, Kw::EXAMINED]) {
                limit.rows_examined = Some(self.limit_value()?);
                return Ok(Some(limit));
            }
            let first = self.limit_value()?;
            if self.eat_tok(Tok::Comma) {
                limit.offset = Some(first);
                limit.count = Some(self.limit_value()?);
            } else if self.eat(Kw::OFFSET) {
                limit.count = Some(first);
                limit.offset = Some(self.limit_value()?);
            } else {
                limit.count = Some(first);
            }
            if self.eat(Kw::ROWS) {
                self.expect(Kw::EXAMINED)?;
                limit.rows_examined = Some(self.limit_value()?);
            }
            return Ok(Some(limit));
        }
        self.offset_fetch()
    }

    /// `LIMIT n` and nothing else.
    pub(super) fn simple_limit(&mut self) -> Res<Option<Limit>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        if self.eat(Kw::ROWS) {
            return self.fail();
        }
        let count = Some(self.limit_value()?);
        if self.eat(Kw::ROWS) {
            return self.fail();
        }
        Ok(Some(Limit {
            count,
            offset: None,
            with_ties: false,
            rows_examined: None,
        }))
    }

    /// `[OFFSET n ROWS] [FETCH FIRST n ROWS ONLY]`
    fn offset_fetch(&mut self) -> Res<Option<Limit>> {
        if !self.at_any(&[Kw::OFFSET, Kw::FETCH]) {
            return Ok(None);
        }
        let mut limit = Limit {
            count: None,
            offset: None,
            with_ties: false,
            rows_examined: None,
        };
        if self.eat(Kw::OFFSET) {
            limit.offset = Some(self.limit_value()?);
            self.expect_any(&[Kw::ROW, Kw::ROWS])?;
        }
        if self.eat(Kw::FETCH) {
            self.expect_any(&[Kw::FIRST, Kw::NEXT])?;
            limit.count = Some(if self.at_any(&[Kw::ROW, Kw::ROWS]) {
                Expr::Literal(crate::ast::Literal::Int(1))
            } else {
                self.limit_value()?
            });
            self.expect_any(&[Kw::ROW, Kw::ROWS])?;
            if self.eat(Kw::WITH) {
                self.expect(Kw::TIES)?;
                limit.with_ties = true;
            } else {
                self.expect(Kw::ONLY)?;
            }
        }
        Ok(Some(limit))
    }

    fn opt_locking(&mut self) -> Res<Option<Locking>> {
        let strength = if self.eat(Kw::FOR) {
            self.expect(Kw::UPDATE)?;
            LockStrength::Update
        } else if self.eat(Kw::LOCK) {
            self.expect_seq(&[Kw::IN, Kw::SHARE, Kw::MODE])?;
            LockStrength::Share
        } else {
            return Ok(None);
        };
        let wait = if self.eat(Kw::NOWAIT) {
            Some(LockWait::NoWait)
        } else if self.eat(Kw::WAIT) {
            Some(LockWait::Wait(self.number()?))
        } else if self.eat(Kw::SKIP) {
            self.expect(Kw::LOCKED)?;
            Some(LockWait::SkipLocked)
        } else {
            None
        };
        Ok(Some(Locking { strength, wait }))
    }

    fn opt_into(&mut self) -> Res<Option<SelectInto>> {
        if !self.eat(Kw::INTO) {
            return Ok(None);
        }
        if self.eat(Kw::OUTFILE) {
            let path = self.str_lit()?;
            let charset = self.opt_file_charset()?;
            let fields = self.fields_clause()?;
            let lines = self.lines_clause()?;
            return Ok(Some(SelectInto::Outfile {
                path,
                charset,
                fields,
                lines,
            }));
        }
        if self.eat(Kw::DUMPFILE) {
            return Ok(Some(SelectInto::Dumpfile(self.str_lit()?)));
        }
        Ok(Some(SelectInto::Vars(self.list(Self::target_var)?)))
    }

    /// `CHARACTER SET x` of a file.
    pub(super) fn opt_file_charset(&mut self) -> Res<Option<String>> {
        if self.eat_charset_words() {
            Ok(Some(self.charset_name()?))
        } else {
            Ok(None)
        }
    }

    pub(super) fn target_var(&mut self) -> Res<IntoVar> {
        if self.eat_tok(Tok::At) {
            return self.fail();
        }
        if self.at_tok(Tok::UserVar) {
            return Ok(IntoVar::User(self.user_var()?));
        }
        let name = self.ident()?;
        let field = if self.eat_tok(Tok::Dot) {
            Some(self.ident()?)
        } else {
            None
        };
        Ok(IntoVar::Local { name, field })
    }

    pub(super) fn fields_clause(&mut self) -> Res<FieldsClause> {
        let mut fields = FieldsClause::default();
        if self.eat_any(&[Kw::FIELDS, Kw::COLUMNS]).is_none() {
            return Ok(fields);
        }
        let mut any = false;
        loop {
            if self.eat_seq(&[Kw::TERMINATED, Kw::BY]) {
                fields.terminated_by = Some(self.text_bytes()?);
            } else if self.eat_seq(&[Kw::OPTIONALLY, Kw::ENCLOSED, Kw::BY]) {
                fields.optionally_enclosed = true;
                fields.enclosed_by = Some(self.text_bytes()?);
            } else if self.eat_seq(&[Kw::ENCLOSED, Kw::BY]) {
                fields.enclosed_by = Some(self.text_bytes()?);
            } else if self.eat_seq(&[Kw::ESCAPED, Kw::BY]) {
                fields.escaped_by = Some(self.text_bytes()?);
            } else {
                return if any { Ok(fields) } else { self.fail() };
            }
            any = true;
        }
    }

    pub(super) fn lines_clause(&mut self) -> Res<LinesClause> {
        let mut lines = LinesClause::default();
        if !self.eat(Kw::LINES) {
            return Ok(lines);
        }
        let mut any = false;
        loop {
            if self.eat_seq(&[Kw::TERMINATED, Kw::BY]) {
                lines.terminated_by = Some(self.text_bytes()?);
            } else if self.eat_seq(&[Kw::STARTING, Kw::BY]) {
                lines.starting_by = Some(self.text_bytes()?);
            } else {
                return if any { Ok(lines) } else { self.fail() };
            }
            any = true;
        }
    }
}

/// Whether a query is a statement, and the `INTO` that it had before its `FROM`.
#[allow(clippy::large_enum_variant)] // Lives on the stack for a moment.
enum Outer {
    No,
    Yes(Option<SelectInto>),
}

/// Gives `INTERSECT` its higher precedence.
fn group_intersections(first: SetExpr, rest: Vec<SetTerm>) -> SetExpr {
    if rest.is_empty() {
        return first;
    }
    if rest.iter().all(|term| term.op == SetOp::Intersect)
        || rest.iter().all(|term| term.op != SetOp::Intersect)
    {
        return SetExpr::SetOps {
            first: Box::new(first),
            rest,
        };
    }
    let mut operands = vec![(None, first, Vec::new())];
    for term in rest {
        match operands.last_mut() {
            Some((_, _, intersected)) if term.op == SetOp::Intersect => intersected.push(term),
            _ => operands.push((Some((term.op, term.all)), term.term, Vec::new())),
        }
    }
    let mut operands = operands.into_iter().map(|(op, first, rest)| {
        let expr = if rest.is_empty() {
            first
        } else {
            SetExpr::SetOps {
                first: Box::new(first),
                rest,
            }
        };
        (op, expr)
    });
    let Some((_, first)) = operands.next() else {
        return SetExpr::Values(Vec::new());
    };
    let rest: Vec<SetTerm> = operands
        .filter_map(|(op, term)| op.map(|(op, all)| SetTerm { op, all, term }))
        .collect();
    if rest.is_empty() {
        first
    } else {
        SetExpr::SetOps {
            first: Box::new(first),
            rest,
        }
    }
}
