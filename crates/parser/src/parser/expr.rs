//! Operators, by precedence climbing; operands and literals.

use super::Parser;
use crate::ast::{
    BinaryOp, ColumnRef, Expr, FunctionCall, Ident, IntervalUnit, Literal, Quantifier, Query,
    StrLit, SysVar, TruthValue, UnaryOp, VarScope,
};
use crate::error::{Failure, Res};
use crate::keywords::Kw;
use crate::lexer::Tok;
use crate::literal;

/// How tightly an operator binds, in the order of the manual's table; the operand to the right of an
/// operator takes only operators of the next level.
mod level {
    pub(super) const LOWEST: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const XOR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const NOT: u8 = 4;
    /// And `IS`.
    pub(super) const COMPARISON: u8 = 5;
    pub(super) const BETWEEN: u8 = 7;
    pub(super) const LIKE: u8 = 8;
    pub(super) const BIT_OR: u8 = 9;
    pub(super) const BIT_AND: u8 = 10;
    pub(super) const SHIFT: u8 = 11;
    pub(super) const ADD: u8 = 12;
    pub(super) const MUL: u8 = 13;
    pub(super) const BIT_XOR: u8 = 14;
    pub(super) const CONCAT: u8 = 15;
    pub(super) const UNARY: u8 = 16;
    pub(super) const COLLATE: u8 = 17;
    pub(super) const HIGHEST: u8 = u8::MAX;
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Res<Expr> {
        self.expr_at(level::LOWEST)
    }

    /// An expression that holds no comparison and nothing looser: what the manual calls bit_expr.
    pub(super) fn bit_expr(&mut self) -> Res<Expr> {
        self.expr_at(level::BIT_OR)
    }

    /// An operand of `LIKE` and the like: what the grammar calls predicate.
    fn predicate(&mut self) -> Res<Expr> {
        self.expr_at(level::BETWEEN)
    }

    /// An operand without operators, `COLLATE` apart.
    pub(super) fn simple_expr(&mut self) -> Res<Expr> {
        self.expr_at(level::UNARY)
    }

    /// Optional parentheses' content: `a, b` or nothing, up to `)`.
    pub(super) fn args_until_paren(&mut self) -> Res<Vec<Expr>> {
        if self.at_tok(Tok::RParen) {
            Ok(Vec::new())
        } else {
            self.list(Self::expr)
        }
    }

    /// Keeps the height of the tree that grows within the limit: dropping, printing and resolving it
    /// recurse.
    fn grow(&self, height: u32) -> Res<u32> {
        let height = height + 1;
        if height > self.options.max_depth {
            Err(Failure::TooDeep)
        } else {
            Ok(height)
        }
    }

    fn expr_at(&mut self, min: u8) -> Res<Expr> {
        let outer = std::mem::take(&mut self.tallest);
        self.deeper(|p| {
            let (left, max) = p.operand(min)?;
            p.operators(left, min, max, outer)
        })
    }

    /// Goes on behind an operand that was taken already.
    pub(super) fn expr_from(&mut self, left: Expr, min: u8) -> Res<Expr> {
        self.deeper(|p| p.operators(left, min, level::HIGHEST, 0))
    }

    /// The operators behind a first operand: those that bind as tightly as `min` says at least, and not more
    /// tightly than the one before them (`a IN (1) + 2` is an error, not a sum), which for the first is `max`.
    fn operators(&mut self, mut left: Expr, min: u8, mut max: u8, outer: u32) -> Res<Expr> {
        let mut height = self.grow(self.tallest)?;
        while let Some(level) = self.infix_level()
            && (min..=max).contains(&level)
        {
            self.tallest = 0;
            let dated = level == level::ADD && self.peek_at(1) == Tok::Kw(Kw::INTERVAL);
            left = self.infix(left, level)?;
            // A unit closes what is before it.
            max = if dated && matches!(left, Expr::DateArith { .. }) {
                level::HIGHEST
            } else {
                level
            };
            height = self.grow(height.max(self.tallest))?;
        }
        self.tallest = outer.max(height);
        Ok(left)
    }

    /// An operand with a sign at most, and nothing behind it: a default's value without parentheses.
    pub(super) fn operand_alone(&mut self) -> Res<Expr> {
        let signed = matches!(self.peek(), Tok::Minus | Tok::Plus);
        if signed && !matches!(self.peek_at(1), Tok::Int | Tok::Decimal | Tok::Float) {
            self.bump();
            return self.fail();
        }
        self.deeper(|p| p.operand(level::UNARY))
            .map(|(expr, _)| expr)
    }

    /// The level of the operator that comes next, if one does.
    fn infix_level(&mut self) -> Option<u8> {
        Some(match self.peek() {
            Tok::Kw(Kw::OR) => level::OR,
            Tok::PipePipe if self.options.mode.pipes_as_concat => level::CONCAT,
            Tok::PipePipe => level::OR,
            Tok::Kw(Kw::XOR) => level::XOR,
            Tok::Kw(Kw::AND) | Tok::AmpAmp => level::AND,
            Tok::Eq
            | Tok::NullSafeEq
            | Tok::Ne
            | Tok::Lt
            | Tok::Le
            | Tok::Gt
            | Tok::Ge
            | Tok::Kw(Kw::IS) => level::COMPARISON,
            Tok::Kw(Kw::BETWEEN) => level::BETWEEN,
            Tok::Kw(Kw::IN | Kw::LIKE | Kw::REGEXP | Kw::RLIKE) => level::LIKE,
            Tok::Kw(Kw::NOT) => match self.peek_at(1) {
                Tok::Kw(Kw::BETWEEN) => level::BETWEEN,
                _ => level::LIKE,
            },
            Tok::Kw(Kw::SOUNDS) if self.peek_at(1) == Tok::Kw(Kw::LIKE) => level::LIKE,
            Tok::Pipe => level::BIT_OR,
            Tok::Amp => level::BIT_AND,
            Tok::Shl | Tok::Shr => level::SHIFT,
            Tok::Plus | Tok::Minus => level::ADD,
            Tok::Star | Tok::Slash | Tok::Percent | Tok::Kw(Kw::DIV | Kw::MOD) => level::MUL,
            Tok::Caret => level::BIT_XOR,
            Tok::Kw(Kw::COLLATE) => level::COLLATE,
            _ => return None,
        })
    }

    /// The operator that comes next and what stands to its right.
    fn infix(&mut self, left: Expr, level: u8) -> Res<Expr> {
        let op = match self.peek() {
            Tok::Kw(Kw::OR) => return self.chain(left, level, Expr::Or),
            Tok::PipePipe if level == level::OR => return self.chain(left, level, Expr::Or),
            Tok::PipePipe => BinaryOp::Concat,
            Tok::Kw(Kw::AND) | Tok::AmpAmp => return self.chain(left, level, Expr::And),
            Tok::Kw(Kw::IS) => return self.is(left),
            Tok::Kw(Kw::BETWEEN | Kw::IN | Kw::LIKE | Kw::REGEXP | Kw::RLIKE | Kw::NOT) => {
                return self.matching(left);
            }
            Tok::Kw(Kw::COLLATE) => {
                self.bump();
                let collation = self.charset_name()?;
                return Ok(Expr::Collate {
                    expr: Box::new(left),
                    collation,
                });
            }
            Tok::Kw(Kw::SOUNDS) => {
                self.bump();
                BinaryOp::SoundsLike
            }
            Tok::Kw(Kw::XOR) => BinaryOp::Xor,
            Tok::Pipe => BinaryOp::BitOr,
            Tok::Amp => BinaryOp::BitAnd,
            Tok::Shl => BinaryOp::Shl,
            Tok::Shr => BinaryOp::Shr,
            Tok::Plus => BinaryOp::Add,
            Tok::Minus => BinaryOp::Sub,
            Tok::Star => BinaryOp::Mul,
            Tok::Slash => BinaryOp::Div,
            Tok::Kw(Kw::DIV) => BinaryOp::IntDiv,
            Tok::Percent | Tok::Kw(Kw::MOD) => BinaryOp::Mod,
            Tok::Caret => BinaryOp::BitXor,
            tok => return self.comparison(left, tok),
        };
        self.bump();
        if level == level::ADD && self.at(Kw::INTERVAL) {
            return self.plus_interval(left, op == BinaryOp::Sub);
        }
        let right = if level == level::LIKE {
            self.pattern()?
        } else {
            self.expr_at(level + 1)?
        };
        Ok(Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        })
    }

    /// `d + INTERVAL 1 DAY`, or a sum with the function of that name; the word comes next.
    fn plus_interval(&mut self, left: Expr, subtract: bool) -> Res<Expr> {
        let name = self.take_ident();
        match self.after_interval()? {
            Interval::Unit(value, unit) => Ok(Expr::DateArith {
                subtract,
                date: Box::new(left),
                value: Box::new(value),
                unit,
            }),
            Interval::Call(args) => {
                let call = Expr::Function(Box::new(FunctionCall::new(name, args)));
                let right = Box::new(self.expr_from(call, level::ADD + 1)?);
                let op = if subtract {
                    BinaryOp::Sub
                } else {
                    BinaryOp::Add
                };
                Ok(Expr::Binary {
                    op,
                    left: Box::new(left),
                    right,
                })
            }
        }
    }

    /// `a AND b AND c` as one node.
    fn chain(&mut self, left: Expr, level: u8, node: fn(Vec<Expr>) -> Expr) -> Res<Expr> {
        let mut terms = Vec::new();
        absorb(&mut terms, left, level);
        loop {
            let again = match self.peek() {
                Tok::Kw(Kw::OR) => level == level::OR,
                Tok::PipePipe => level == level::OR && !self.options.mode.pipes_as_concat,
                Tok::Kw(Kw::AND) | Tok::AmpAmp => level == level::AND,
                _ => false,
            };
            if !again {
                return Ok(node(terms));
            }
            self.bump();
            let term = self.expr_at(level + 1)?;
            absorb(&mut terms, term, level);
        }
    }

    fn comparison(&mut self, left: Expr, tok: Tok) -> Res<Expr> {
        let op = match tok {
            Tok::Eq => BinaryOp::Eq,
            Tok::NullSafeEq => BinaryOp::NullSafeEq,
            Tok::Ne => BinaryOp::Ne,
            Tok::Lt => BinaryOp::Lt,
            Tok::Le => BinaryOp::Le,
            Tok::Gt => BinaryOp::Gt,
            _ => BinaryOp::Ge,
        };
        self.bump();
        let quantified =
            self.at_any(&[Kw::ALL, Kw::ANY, Kw::SOME]) && self.peek_at(1) == Tok::LParen;
        if op != BinaryOp::NullSafeEq && quantified {
            let quantifier = if self.at(Kw::ALL) {
                Quantifier::All
            } else {
                Quantifier::Any
            };
            self.bump();
            let query = Box::new(self.subquery()?);
            return Ok(Expr::Quantified {
                op,
                quantifier,
                left: Box::new(left),
                query,
            });
        }
        let right = self.predicate()?;
        Ok(Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        })
    }

    fn is(&mut self, left: Expr) -> Res<Expr> {
        self.expect(Kw::IS)?;
        let negated = self.eat(Kw::NOT);
        let expr = Box::new(left);
        if self.eat(Kw::NULL) || self.eat_tok(Tok::NullEscape) {
            return Ok(Expr::IsNull { negated, expr });
        }
        let value = match self.expect_any(&[Kw::TRUE, Kw::FALSE, Kw::UNKNOWN])? {
            Kw::TRUE => TruthValue::True,
            Kw::FALSE => TruthValue::False,
            _ => TruthValue::Unknown,
        };
        Ok(Expr::IsTruth {
            negated,
            expr,
            value,
        })
    }

    /// `[NOT] BETWEEN`, `IN`, `LIKE`, `REGEXP`
    fn matching(&mut self, left: Expr) -> Res<Expr> {
        let negated = self.eat(Kw::NOT);
        let expr = Box::new(left);
        let words = [Kw::BETWEEN, Kw::IN, Kw::LIKE, Kw::REGEXP, Kw::RLIKE];
        Ok(match self.expect_any(&words)? {
            Kw::BETWEEN => {
                let low = Box::new(self.predicate()?);
                self.expect(Kw::AND)?;
                let high = Box::new(self.predicate()?);
                Expr::Between {
                    negated,
                    expr,
                    low,
                    high,
                }
            }
            Kw::IN => self.in_list(negated, expr)?,
            Kw::LIKE => {
                let pattern = Box::new(self.pattern()?);
                let escape = if self.eat(Kw::ESCAPE) {
                    Some(Box::new(self.pattern()?))
                } else {
                    None
                };
                Expr::Like {
                    negated,
                    expr,
                    pattern,
                    escape,
                }
            }
            _ => Expr::Regexp {
                negated,
                expr,
                pattern: Box::new(self.pattern()?),
            },
        })
    }

    /// What stands to the right of `LIKE` and `REGEXP`: these take what is on their left first, but a `NOT`
    /// behind belongs to the right (`a LIKE b NOT IN (c)` is `a LIKE (b NOT IN (c))`).
    fn pattern(&mut self) -> Res<Expr> {
        let mut pattern = self.expr_at(level::BIT_OR)?;
        while self.at(Kw::NOT) {
            pattern = self.deeper(|p| p.matching(pattern))?;
            self.tallest = self.grow(self.tallest)?;
        }
        Ok(pattern)
    }

    fn in_list(&mut self, negated: bool, expr: Box<Expr>) -> Res<Expr> {
        self.expect_tok(Tok::LParen)?;
        let mut list = match self.paren_content()? {
            ParenContent::Query(query) => {
                self.expect_tok(Tok::RParen)?;
                return Ok(Expr::InSubquery {
                    negated,
                    expr,
                    query: Box::new(query),
                });
            }
            ParenContent::Expr(first) => vec![first],
        };
        while self.eat_tok(Tok::Comma) {
            list.push(self.expr()?);
        }
        self.expect_tok(Tok::RParen)?;
        Ok(Expr::InList {
            negated,
            expr,
            list,
        })
    }

    /// An operand with its prefixes, and how tightly an operator behind it may bind.
    fn operand(&mut self, min: u8) -> Res<(Expr, u8)> {
        let expr = match self.peek() {
            Tok::Kw(Kw::NOT) if !self.options.mode.high_not_precedence => {
                if min > level::NOT {
                    return self.fail();
                }
                self.bump();
                let expr = Box::new(self.expr_at(level::NOT)?);
                return Ok((
                    Expr::Unary {
                        op: UnaryOp::Not,
                        expr,
                    },
                    level::NOT,
                ));
            }
            Tok::Kw(Kw::NOT) | Tok::Bang => self.prefix(UnaryOp::Not)?,
            Tok::Minus => self.prefix(UnaryOp::Neg)?,
            Tok::Plus => {
                self.bump();
                self.simple_expr()?
            }
            Tok::Tilde => self.prefix(UnaryOp::BitNot)?,
            Tok::Kw(Kw::BINARY) => self.prefix(UnaryOp::Binary)?,
            Tok::UserVar => {
                let name = self.user_var()?;
                if self.eat_tok(Tok::Assign) {
                    let value = Box::new(self.expr()?);
                    return Ok((Expr::UserVarAssign { name, value }, level::LOWEST));
                }
                Expr::UserVar(name)
            }
            _ => self.primary()?,
        };
        Ok((expr, level::HIGHEST))
    }

    fn prefix(&mut self, op: UnaryOp) -> Res<Expr> {
        self.bump();
        let expr = Box::new(self.simple_expr()?);
        Ok(Expr::Unary { op, expr })
    }

    fn primary(&mut self) -> Res<Expr> {
        match self.peek() {
            Tok::Int => Ok(Expr::Literal(self.integer())),
            Tok::Decimal => Ok(Expr::Literal(Literal::Decimal(self.digits()))),
            Tok::Float => Ok(Expr::Literal(Literal::Float(self.digits()))),
            Tok::Str => Ok(Expr::Literal(Literal::Str(StrLit::new(
                self.string_bytes()?,
            )))),
            Tok::NationalStr => {
                let text = &self.token_bytes(self.pos)[1..];
                let mut bytes = literal::unquote(text, !self.options.mode.no_backslash_escapes);
                self.bump();
                if self.at_tok(Tok::Str) {
                    bytes.extend(self.string_bytes()?);
                }
                Ok(Expr::Literal(Literal::Str(StrLit {
                    bytes,
                    charset: None,
                    national: true,
                })))
            }
            Tok::HexStr => Ok(Expr::Literal(Literal::Hex {
                bytes: self.number_string_bytes(),
                quoted: true,
            })),
            Tok::HexNum => Ok(Expr::Literal(Literal::Hex {
                bytes: self.number_string_bytes(),
                quoted: false,
            })),
            Tok::BitStr | Tok::BitNum => {
                Ok(Expr::Literal(Literal::Bit(self.number_string_bytes())))
            }
            Tok::Introducer => self.introduced(),
            Tok::NullEscape => {
                self.bump();
                Ok(Expr::Literal(Literal::Null))
            }
            Tok::Question => self.param().map(Expr::Param),
            Tok::AtAt => self.sys_var().map(Expr::SysVar),
            Tok::At => {
                // A name has to follow directly.
                self.bump();
                self.fail()
            }
            Tok::LParen => self.in_parens(),
            Tok::LBrace => self.odbc_escape(),
            Tok::Ident | Tok::QuotedIdent | Tok::Func => self.named(),
            Tok::Dot => self.column_ref().map(Expr::Column),
            Tok::Kw(kw) => self.keyword_operand(kw),
            _ => self.fail(),
        }
    }

    /// `?`
    pub(super) fn param(&mut self) -> Res<usize> {
        if !self.options.params || !self.at_tok(Tok::Question) {
            return self.fail();
        }
        self.bump();
        self.params += 1;
        Ok(self.params - 1)
    }

    fn digits(&mut self) -> String {
        let text = literal::text(self.token_bytes(self.pos));
        self.bump();
        text
    }

    fn integer(&mut self) -> Literal {
        let text = self.digits();
        match text.parse() {
            Ok(value) => Literal::Int(value),
            Err(_) => Literal::Decimal(text),
        }
    }

    fn introduced(&mut self) -> Res<Expr> {
        let charset = literal::text(&self.token_bytes(self.pos)[1..]);
        self.bump();
        let bytes = match self.peek() {
            Tok::Str => self.string_bytes()?,
            Tok::HexStr | Tok::HexNum | Tok::BitNum | Tok::BitStr => self.number_string_bytes(),
            _ => return self.fail(),
        };
        Ok(Expr::Literal(Literal::Str(StrLit {
            bytes,
            charset: Some(charset),
            national: false,
        })))
    }

    /// `@name`, the next token.
    pub(super) fn user_var(&mut self) -> Res<Ident> {
        if !self.at_tok(Tok::UserVar) {
            return self.fail();
        }
        let text = &self.token_bytes(self.pos)[1..];
        self.bump();
        Ok(match text.first() {
            Some(b'`') => Ident::quoted(literal::text(&literal::unquote(text, false))),
            Some(b'\'' | b'"') => {
                let escapes = !self.options.mode.no_backslash_escapes;
                Ident::quoted(literal::text(&literal::unquote(text, escapes)))
            }
            _ => Ident::new(literal::text(text)),
        })
    }

    /// `@@[scope.][base.]name`
    pub(super) fn sys_var(&mut self) -> Res<SysVar> {
        self.expect_tok(Tok::AtAt)?;
        let scope = self.var_scope_dot()?;
        if self.at(Kw::DEFAULT) {
            return self.fail();
        }
        let (base, name) = self.sys_var_name(scope.is_some())?;
        Ok(SysVar { scope, base, name })
    }

    /// `GLOBAL.`, `SESSION.` or `LOCAL.`, which come next or not.
    pub(super) fn var_scope_dot(&mut self) -> Res<Option<VarScope>> {
        let word = if self.at_tok(Tok::Ident) {
            self.token_bytes(self.pos)
        } else {
            &[]
        };
        let scope = if self.at(Kw::GLOBAL) || word.eq_ignore_ascii_case(b"global") {
            Some(VarScope::Global)
        } else if self.at_any(&[Kw::SESSION, Kw::LOCAL])
            || word.eq_ignore_ascii_case(b"session")
            || word.eq_ignore_ascii_case(b"local")
        {
            Some(VarScope::Session)
        } else {
            None
        };
        if scope.is_some() {
            self.bump();
            self.expect_tok(Tok::Dot)?;
        }
        Ok(scope)
    }

    /// `name` or `base.name`; `DEFAULT.name` is the default key cache's.
    pub(super) fn sys_var_name(&mut self, scoped: bool) -> Res<(Option<Ident>, Ident)> {
        // A replication connection's name may stand in quotes.
        if scoped && self.at_tok(Tok::Str) {
            let base = self.ident_or_text()?;
            self.expect_tok(Tok::Dot)?;
            return Ok((Some(base), self.ident()?));
        }
        if self.at(Kw::DEFAULT) && self.peek_at(1) == Tok::Dot {
            let base = self.take_ident();
            self.bump();
            return Ok((Some(base), self.ident()?));
        }
        let first = self.ident()?;
        if self.eat_tok(Tok::Dot) {
            return Ok((Some(first), self.ident()?));
        }
        Ok((None, first))
    }

    /// `(`: a subquery, a row or an expression.
    fn in_parens(&mut self) -> Res<Expr> {
        self.expect_tok(Tok::LParen)?;
        let first = match self.paren_content()? {
            ParenContent::Query(query) => {
                self.expect_tok(Tok::RParen)?;
                return Ok(Expr::Subquery(Box::new(query)));
            }
            ParenContent::Expr(first) => first,
        };
        if self.at_tok(Tok::Comma) {
            let mut row = vec![first];
            while self.eat_tok(Tok::Comma) {
                row.push(self.expr()?);
            }
            self.expect_tok(Tok::RParen)?;
            return Ok(Expr::Row(row));
        }
        self.expect_tok(Tok::RParen)?;
        Ok(first)
    }

    /// What follows an opened parenthesis, up to a comma or the closing one: a query, or an expression
    /// that may begin with one in parentheses of its own.
    pub(super) fn paren_content(&mut self) -> Res<ParenContent> {
        if !self.at_query_or_paren() {
            return Ok(ParenContent::Expr(self.expr()?));
        }
        if !self.at_tok(Tok::LParen) {
            return Ok(ParenContent::Query(self.deeper(Self::query)?));
        }
        self.bump();
        let inner = self.deeper(Self::paren_content)?;
        let left = match inner {
            ParenContent::Query(query) => {
                self.expect_tok(Tok::RParen)?;
                if self.at_tok(Tok::RParen) {
                    return Ok(ParenContent::Query(query));
                }
                if self.at_query_tail() {
                    return Ok(ParenContent::Query(self.query_from(query)?));
                }
                Expr::Subquery(Box::new(query))
            }
            ParenContent::Expr(first) if self.at_tok(Tok::Comma) => {
                let mut row = vec![first];
                while self.eat_tok(Tok::Comma) {
                    row.push(self.expr()?);
                }
                self.expect_tok(Tok::RParen)?;
                Expr::Row(row)
            }
            ParenContent::Expr(inner) => {
                self.expect_tok(Tok::RParen)?;
                inner
            }
        };
        Ok(ParenContent::Expr(self.expr_from(left, level::LOWEST)?))
    }

    /// `INTERVAL` was taken: its value and unit, or the rest of a call of the function of that name.
    pub(super) fn after_interval(&mut self) -> Res<Interval> {
        if !self.at_tok(Tok::LParen) {
            let value = self.expr()?;
            return Ok(Interval::Unit(value, self.interval_unit()?));
        }
        self.bump();
        let first = match self.paren_content()? {
            ParenContent::Query(query) => Expr::Subquery(Box::new(query)),
            ParenContent::Expr(expr) => expr,
        };
        if self.at_tok(Tok::Comma) {
            let mut args = vec![first];
            while self.eat_tok(Tok::Comma) {
                args.push(self.expr()?);
            }
            self.expect_tok(Tok::RParen)?;
            return Ok(Interval::Call(args));
        }
        self.expect_tok(Tok::RParen)?;
        let value = self.expr_from(first, level::LOWEST)?;
        Ok(Interval::Unit(value, self.interval_unit()?))
    }

    /// `INTERVAL …` as an operand: `INTERVAL 1 DAY + d`, or the function.
    pub(super) fn interval_operand(&mut self) -> Res<Expr> {
        let name = self.take_ident();
        match self.after_interval()? {
            Interval::Call(args) => Ok(Expr::Function(Box::new(FunctionCall::new(name, args)))),
            Interval::Unit(value, unit) => {
                self.expect_tok(Tok::Plus)?;
                let date = Box::new(self.expr_at(level::ADD + 1)?);
                Ok(Expr::DateArith {
                    subtract: false,
                    date,
                    value: Box::new(value),
                    unit,
                })
            }
        }
    }

    /// `{d '…'}`, `{fn f(x)}`
    fn odbc_escape(&mut self) -> Res<Expr> {
        self.expect_tok(Tok::LBrace)?;
        let kind = self.ident()?;
        let inner = self.expr()?;
        self.expect_tok(Tok::RBrace)?;
        let text = match &inner {
            Expr::Literal(Literal::Str(lit)) => lit.to_text(),
            _ => return Ok(inner),
        };
        Ok(match kind.value.to_ascii_lowercase().as_str() {
            "d" => Expr::Literal(Literal::Date(text)),
            "t" => Expr::Literal(Literal::Time(text)),
            "ts" => Expr::Literal(Literal::Timestamp(text)),
            _ => inner,
        })
    }

    /// `a`, `t.a`, `db.t.a` or `.t.a`, of names that come next.
    pub(super) fn column_ref(&mut self) -> Res<ColumnRef> {
        if self.eat_tok(Tok::Dot) {
            let table = self.ident()?;
            self.expect_tok(Tok::Dot)?;
            return Ok(ColumnRef {
                db: None,
                table: Some(table),
                name: self.ident()?,
            });
        }
        let first = self.ident()?;
        if !self.eat_tok(Tok::Dot) {
            return Ok(ColumnRef {
                db: None,
                table: None,
                name: first,
            });
        }
        let second = self.ident()?;
        if !self.eat_tok(Tok::Dot) {
            return Ok(ColumnRef {
                db: None,
                table: Some(first),
                name: second,
            });
        }
        Ok(ColumnRef {
            db: Some(first),
            table: Some(second),
            name: self.ident()?,
        })
    }
}

/// Adds a term to a chain; a chain in parentheses becomes part of it.
fn absorb(terms: &mut Vec<Expr>, term: Expr, level: u8) {
    match term {
        Expr::And(inner) if level == level::AND => terms.extend(inner),
        Expr::Or(inner) if level == level::OR => terms.extend(inner),
        term => terms.push(term),
    }
}

/// What stood behind an opened parenthesis.
#[allow(clippy::large_enum_variant)] // Lives on the stack for a moment.
pub(super) enum ParenContent {
    Query(Query),
    Expr(Expr),
}

/// What stood behind `INTERVAL`.
pub(super) enum Interval {
    Unit(Expr, IntervalUnit),
    Call(Vec<Expr>),
}
