//! Table references and joins.

use super::Parser;
use crate::ast::{
    Ident, IndexHint, IndexHintAction, IndexHintScope, Join, JoinCondition, JoinKind, JsonTable,
    JsonTableColumn, JsonTableOn, Literal, NamedTable, Portion, Query, StrLit, SystemTime,
    SystemTimePoint, TableRef,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

/// What stood behind an opened parenthesis in a `FROM`.
#[allow(clippy::large_enum_variant)] // Lives on the stack for a moment.
enum Content {
    Query(Query),
    Refs(Vec<TableRef>),
}

impl Parser<'_> {
    /// One member of a `FROM` list with its joins.
    pub(super) fn table_ref(&mut self) -> Res<TableRef> {
        let first = self.table_factor()?;
        self.joins(first)
    }

    fn at_join(&self) -> bool {
        self.at_any(&[
            Kw::JOIN,
            Kw::INNER,
            Kw::CROSS,
            Kw::STRAIGHT_JOIN,
            Kw::LEFT,
            Kw::RIGHT,
            Kw::NATURAL,
        ])
    }

    /// The joins behind a first operand.
    fn joins(&mut self, mut left: TableRef) -> Res<TableRef> {
        let mut count = 0;
        while self.at_join() {
            count += 1;
            if count > self.options.max_depth {
                return Err(crate::error::Failure::TooDeep);
            }
            left = self.join(left)?;
        }
        Ok(left)
    }

    fn join(&mut self, left: TableRef) -> Res<TableRef> {
        let natural = self.eat(Kw::NATURAL);
        let kind = match self.peek() {
            Tok::Kw(Kw::STRAIGHT_JOIN) => {
                self.bump();
                JoinKind::Straight
            }
            Tok::Kw(side @ (Kw::LEFT | Kw::RIGHT)) => {
                self.bump();
                self.eat(Kw::OUTER);
                self.expect(Kw::JOIN)?;
                if side == Kw::LEFT {
                    JoinKind::Left
                } else {
                    JoinKind::Right
                }
            }
            _ => {
                if !self.eat(Kw::INNER) && !natural {
                    self.eat(Kw::CROSS);
                }
                self.expect(Kw::JOIN)?;
                JoinKind::Inner
            }
        };
        let mut right = self.table_factor()?;
        if natural {
            return Ok(TableRef::Join(Box::new(Join {
                left,
                kind,
                natural,
                right,
                condition: None,
            })));
        }
        if !self.at_any(&[Kw::ON, Kw::USING]) && self.at_join() {
            // `a JOIN b JOIN c ON x ON y`: the first condition belongs to the second join.
            right = self.deeper(|p| p.joins(right))?;
            if !self.at_any(&[Kw::ON, Kw::USING])
                && matches!(kind, JoinKind::Inner | JoinKind::Straight)
            {
                return Ok(graft(left, kind, right));
            }
        }
        let condition = if self.eat(Kw::ON) {
            Some(JoinCondition::On(self.expr()?))
        } else if self.eat(Kw::USING) {
            Some(JoinCondition::Using(self.paren_list(Self::ident)?))
        } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
            return self.fail();
        } else {
            None
        };
        Ok(TableRef::Join(Box::new(Join {
            left,
            kind,
            natural,
            right,
            condition,
        })))
    }

    fn table_factor(&mut self) -> Res<TableRef> {
        match self.peek() {
            Tok::LParen => {
                self.bump();
                let content = self.deeper(Self::paren_refs)?;
                self.expect_tok(Tok::RParen)?;
                self.factor_of(content)
            }
            Tok::LBrace => {
                self.bump();
                self.ident()?;
                let inner = self.deeper(Self::table_ref)?;
                self.expect_tok(Tok::RBrace)?;
                Ok(inner)
            }
            Tok::Kw(Kw::JSON_TABLE) if self.peek_at(1) == Tok::LParen => self.json_table(),
            _ => Ok(TableRef::Table(Box::new(self.named_table()?))),
        }
    }

    /// The content of parentheses that were closed, and what belongs to it behind them.
    fn factor_of(&mut self, content: Content) -> Res<TableRef> {
        match content {
            Content::Query(query) => {
                let (alias, columns) = self.derived_alias()?;
                Ok(TableRef::Derived {
                    lateral: false,
                    query: Box::new(query),
                    alias,
                    columns,
                })
            }
            Content::Refs(mut refs) => match refs.len() {
                1 => refs.pop().map_or_else(|| self.fail(), Ok),
                _ => Ok(TableRef::Nested(refs)),
            },
        }
    }

    fn paren_refs(&mut self) -> Res<Content> {
        if self.at_any(&[Kw::SELECT, Kw::WITH, Kw::VALUES]) {
            return Ok(Content::Query(self.query()?));
        }
        if !self.at_tok(Tok::LParen) {
            return Ok(Content::Refs(self.list(Self::table_ref)?));
        }
        self.bump();
        let content = self.deeper(Self::paren_refs)?;
        self.expect_tok(Tok::RParen)?;
        let first = match content {
            Content::Query(query) if self.at_tok(Tok::RParen) => return Ok(Content::Query(query)),
            Content::Query(query) if self.at_query_tail() && !self.at(Kw::FOR) => {
                return Ok(Content::Query(self.query_from(query)?));
            }
            content => self.factor_of(content)?,
        };
        let mut refs = vec![self.joins(first)?];
        while self.eat_tok(Tok::Comma) {
            refs.push(self.table_ref()?);
        }
        Ok(Content::Refs(refs))
    }

    fn at_table_alias(&self) -> bool {
        self.at_ident() && !self.at(Kw::WINDOW)
    }

    pub(super) fn opt_table_alias(&mut self) -> Res<Option<Ident>> {
        if self.eat(Kw::AS) {
            return if self.at_table_alias() {
                Ok(Some(self.take_ident()))
            } else {
                self.fail()
            };
        }
        Ok(if self.at_table_alias() {
            Some(self.take_ident())
        } else {
            None
        })
    }

    fn derived_alias(&mut self) -> Res<(Option<Ident>, Vec<Ident>)> {
        if self.eat(Kw::FOR) {
            // System time of a derived table makes no sense, but the grammar has it.
            self.expect(Kw::SYSTEM_TIME)?;
            self.system_time()?;
        }
        let alias = self.opt_table_alias()?;
        if alias.is_none() {
            return self.fail();
        }
        let columns = if self.at_tok(Tok::LParen) {
            self.paren_list(Self::ident)?
        } else {
            Vec::new()
        };
        Ok((alias, columns))
    }

    /// A table by name, with whatever may follow.
    pub(super) fn named_table(&mut self) -> Res<NamedTable> {
        let start = self.pos;
        let mut table = self.unaliased_table()?;
        if table.portion.is_some() {
            // Only for what changes one table.
            self.pos = start;
            while !self.at(Kw::PORTION) {
                self.bump();
            }
            return self.fail();
        }
        table.alias = self.opt_table_alias()?;
        table.index_hints = self.index_hints()?;
        Ok(table)
    }

    /// A table by name, without alias and hints.
    pub(super) fn unaliased_table(&mut self) -> Res<NamedTable> {
        let mut table = NamedTable::plain(self.object_name()?);
        table.partitions = self.opt_partition_list()?;
        if self.at(Kw::FOR) {
            match self.peek_at(1) {
                Tok::Kw(Kw::SYSTEM_TIME) => {
                    self.bump();
                    self.bump();
                    table.system_time = Some(self.system_time()?);
                }
                Tok::Kw(Kw::PORTION) => {
                    self.bump();
                    self.bump();
                    self.expect(Kw::OF)?;
                    let period = self.ident()?;
                    self.expect(Kw::FROM)?;
                    let from = self.bit_expr()?;
                    self.expect(Kw::TO)?;
                    table.portion = Some(Portion {
                        period,
                        from,
                        to: self.bit_expr()?,
                    });
                }
                _ => {}
            }
        }
        Ok(table)
    }

    /// `PARTITION (p, …)`
    pub(super) fn opt_partition_list(&mut self) -> Res<Vec<Ident>> {
        if self.eat(Kw::PARTITION) {
            self.paren_list(Self::ident)
        } else {
            Ok(Vec::new())
        }
    }

    fn index_hints(&mut self) -> Res<Vec<IndexHint>> {
        let mut hints = Vec::new();
        while let Some(kw) = self.eat_any(&[Kw::USE, Kw::FORCE, Kw::IGNORE]) {
            let action = match kw {
                Kw::USE => IndexHintAction::Use,
                Kw::FORCE => IndexHintAction::Force,
                _ => IndexHintAction::Ignore,
            };
            self.expect_any(&[Kw::INDEX, Kw::KEY])?;
            let scope = if self.eat(Kw::FOR) {
                match self.expect_any(&[Kw::JOIN, Kw::ORDER, Kw::GROUP])? {
                    Kw::JOIN => IndexHintScope::Join,
                    Kw::ORDER => {
                        self.expect(Kw::BY)?;
                        IndexHintScope::OrderBy
                    }
                    _ => {
                        self.expect(Kw::BY)?;
                        IndexHintScope::GroupBy
                    }
                }
            } else {
                IndexHintScope::All
            };
            self.expect_tok(Tok::LParen)?;
            let indexes = if action == IndexHintAction::Use && self.at_tok(Tok::RParen) {
                Vec::new()
            } else {
                self.list(Self::index_name)?
            };
            self.expect_tok(Tok::RParen)?;
            hints.push(IndexHint {
                action,
                scope,
                indexes,
            });
        }
        Ok(hints)
    }

    /// An index's name, which may be `PRIMARY`.
    pub(super) fn index_name(&mut self) -> Res<Ident> {
        if self.at(Kw::PRIMARY) {
            Ok(self.take_ident())
        } else {
            self.ident()
        }
    }

    /// `FOR SYSTEM_TIME` was taken.
    fn system_time(&mut self) -> Res<SystemTime> {
        if self.eat(Kw::ALL) {
            return Ok(SystemTime::All);
        }
        if self.eat(Kw::AS) {
            self.expect(Kw::OF)?;
            return Ok(SystemTime::AsOf(self.system_time_point()?));
        }
        if self.eat(Kw::FROM) {
            let from = self.system_time_point()?;
            self.expect(Kw::TO)?;
            return Ok(SystemTime::FromTo(from, self.system_time_point()?));
        }
        self.expect(Kw::BETWEEN)?;
        let from = self.system_time_point()?;
        self.expect(Kw::AND)?;
        Ok(SystemTime::Between(from, self.system_time_point()?))
    }

    pub(super) fn system_time_point(&mut self) -> Res<SystemTimePoint> {
        let word = self.peek();
        let operand = matches!(
            self.peek_at(1),
            Tok::LParen | Tok::Dot | Tok::RParen | Tok::Semicolon | Tok::Eof
        );
        let mut transaction = false;
        if word == Tok::Kw(Kw::TRANSACTION) && !operand {
            self.bump();
            transaction = true;
        } else if word == Tok::Kw(Kw::TIMESTAMP) && !operand && self.peek_at(1) != Tok::Str {
            self.bump();
        }
        Ok(SystemTimePoint {
            transaction,
            expr: self.bit_expr()?,
        })
    }

    fn json_table(&mut self) -> Res<TableRef> {
        self.bump();
        self.expect_tok(Tok::LParen)?;
        let doc = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let path = StrLit::new(self.text_bytes()?);
        let columns = self.json_columns()?;
        self.expect_tok(Tok::RParen)?;
        self.eat(Kw::AS);
        let alias = self.ident()?;
        Ok(TableRef::JsonTable(Box::new(JsonTable {
            doc,
            path,
            columns,
            alias,
        })))
    }

    fn json_columns(&mut self) -> Res<Vec<JsonTableColumn>> {
        self.expect(Kw::COLUMNS)?;
        self.deeper(|p| p.paren_list(Self::json_column))
    }

    fn json_column(&mut self) -> Res<JsonTableColumn> {
        if self.at(Kw::NESTED) && matches!(self.peek_at(1), Tok::Kw(Kw::PATH) | Tok::Str) {
            self.bump();
            self.eat(Kw::PATH);
            let path = StrLit::new(self.text_bytes()?);
            return Ok(JsonTableColumn::Nested {
                path,
                columns: self.json_columns()?,
            });
        }
        let name = self.ident()?;
        if self.eat(Kw::FOR) {
            self.expect(Kw::ORDINALITY)?;
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let ty = self.data_type()?;
        let exists = self.eat(Kw::EXISTS);
        self.expect(Kw::PATH)?;
        let path = StrLit::new(self.text_bytes()?);
        let (mut on_empty, mut on_error) = (None, None);
        while !exists && on_error.is_none() && self.at_any(&[Kw::ERROR, Kw::NULL, Kw::DEFAULT]) {
            let response = match self.expect_any(&[Kw::ERROR, Kw::NULL, Kw::DEFAULT])? {
                Kw::ERROR => JsonTableOn::Error,
                Kw::NULL => JsonTableOn::Null,
                _ => JsonTableOn::Default(Literal::Str(StrLit::new(self.text_bytes()?))),
            };
            self.expect(Kw::ON)?;
            match self.expect_any(&[Kw::EMPTY, Kw::ERROR])? {
                Kw::EMPTY => on_empty = Some(response),
                _ => on_error = Some(response),
            }
        }
        Ok(JsonTableColumn::Path {
            name,
            ty,
            path,
            exists,
            on_empty,
            on_error,
        })
    }
}

/// Joins `left` to the leftmost operand of `right`: `a JOIN b JOIN c` is read from left to right.
fn graft(left: TableRef, kind: JoinKind, right: TableRef) -> TableRef {
    match right {
        TableRef::Join(mut join) => {
            join.left = graft(left, kind, join.left);
            TableRef::Join(join)
        }
        right => TableRef::Join(Box::new(Join {
            left,
            kind,
            natural: false,
            right,
            condition: None,
        })),
    }
}
