//! `SET` in all its forms.

use super::Parser;
use crate::ast::{
    Expr, IsolationLevel, PasswordValue, RoleChoice, Set, SetItem, SetPassword, SetStatementFor,
    SetValue, Statement, VarScope,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Res<Statement> {
        self.expect(Kw::SET)?;
        if self.at(Kw::STATEMENT) && !matches!(self.peek_at(1), Tok::Eq | Tok::Assign | Tok::Dot) {
            self.bump();
            let items = self.list(|p| {
                if p.at_tok(Tok::AtAt) {
                    p.fail()
                } else {
                    p.set_variable(None)
                }
            })?;
            self.expect(Kw::FOR)?;
            let statement = Box::new(self.statement()?);
            return Ok(Statement::SetStatementFor(SetStatementFor {
                items,
                statement,
            }));
        }
        let mut scope = None;
        let items = self.list(|p| {
            if let Some(word) = p.opt_scope() {
                scope = Some(word);
                if p.at_tok(Tok::UserVar) {
                    return p.fail();
                }
            }
            p.set_item(scope)
        })?;
        Ok(Statement::Set(Set { items }))
    }

    /// `GLOBAL`, `SESSION` or `LOCAL` before a name.
    fn opt_scope(&mut self) -> Option<VarScope> {
        if matches!(self.peek_at(1), Tok::Eq | Tok::Assign | Tok::Dot) {
            return None;
        }
        self.eat_any(&[Kw::GLOBAL, Kw::SESSION, Kw::LOCAL])
            .map(|kw| {
                if kw == Kw::GLOBAL {
                    VarScope::Global
                } else {
                    VarScope::Session
                }
            })
    }

    fn set_item(&mut self, scope: Option<VarScope>) -> Res<SetItem> {
        let assigned = matches!(self.peek_at(1), Tok::Eq | Tok::Assign | Tok::Dot);
        match self.peek() {
            Tok::UserVar => {
                let name = self.user_var()?;
                self.assign_sign()?;
                Ok(SetItem::UserVar {
                    name,
                    value: self.expr()?,
                })
            }
            Tok::At => {
                self.bump();
                self.fail()
            }
            Tok::Kw(Kw::NAMES) if assigned => {
                // Never right, but only found out at the end.
                self.bump();
                self.bump();
                self.expr()?;
                self.fail()
            }
            Tok::Kw(Kw::NAMES) => {
                self.bump();
                let charset = self.charset_or_default()?;
                let collation = if self.eat(Kw::COLLATE) {
                    Some(self.charset_or_default()?)
                } else {
                    None
                };
                Ok(SetItem::Names {
                    charset,
                    collation: collation.flatten(),
                })
            }
            Tok::Kw(Kw::CHARACTER | Kw::CHAR) if self.peek_at(1) == Tok::Kw(Kw::SET) => {
                self.bump();
                self.bump();
                Ok(SetItem::CharacterSet(self.charset_or_default()?))
            }
            Tok::Kw(Kw::CHARSET) if !assigned => {
                self.bump();
                Ok(SetItem::CharacterSet(self.charset_or_default()?))
            }
            Tok::Kw(Kw::TRANSACTION) if !assigned => {
                self.bump();
                self.set_transaction(scope)
            }
            Tok::Kw(Kw::PASSWORD) => {
                self.bump();
                self.set_password()
            }
            Tok::Kw(Kw::ROLE) if !assigned => {
                self.bump();
                Ok(SetItem::Role(self.role_choice()?))
            }
            Tok::Kw(Kw::DEFAULT) if self.peek_at(1) == Tok::Kw(Kw::ROLE) => {
                self.bump();
                self.bump();
                let role = self.role_choice()?;
                let user = if self.eat(Kw::FOR) {
                    Some(self.user_name()?)
                } else {
                    None
                };
                Ok(SetItem::DefaultRole { role, user })
            }
            _ => self.set_variable(scope),
        }
    }

    fn charset_or_default(&mut self) -> Res<Option<String>> {
        if self.eat(Kw::DEFAULT) {
            Ok(None)
        } else {
            Ok(Some(self.charset_name()?))
        }
    }

    fn assign_sign(&mut self) -> Res<()> {
        if self.eat_tok(Tok::Assign) {
            Ok(())
        } else {
            self.expect_tok(Tok::Eq)
        }
    }

    /// `[@@[scope.]][base.]name = value`
    fn set_variable(&mut self, mut scope: Option<VarScope>) -> Res<SetItem> {
        let at = self.eat_tok(Tok::AtAt);
        if at && let Some(word) = self.var_scope_dot()? {
            scope = Some(word);
        }
        let (base, name) = self.sys_var_name(at && scope.is_some())?;
        self.assign_sign()?;
        Ok(SetItem::Variable {
            scope,
            at,
            base,
            name,
            value: self.set_value()?,
        })
    }

    fn set_value(&mut self) -> Res<SetValue> {
        let next = self.peek_at(1);
        let alone = matches!(
            next,
            Tok::Eof | Tok::Semicolon | Tok::Comma | Tok::Kw(Kw::FOR)
        );
        if self.at(Kw::DEFAULT) && next != Tok::LParen {
            self.bump();
            return Ok(SetValue::Default);
        }
        if alone && self.at_any(&[Kw::ON, Kw::ALL, Kw::BINARY, Kw::ROW, Kw::SYSTEM]) {
            let text = self.token_text();
            self.bump();
            return Ok(SetValue::Expr(Expr::string(text)));
        }
        Ok(SetValue::Expr(self.expr()?))
    }

    /// `TRANSACTION` was taken.
    fn set_transaction(&mut self, scope: Option<VarScope>) -> Res<SetItem> {
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if isolation.is_none() && self.eat(Kw::ISOLATION) {
                self.expect(Kw::LEVEL)?;
                isolation = Some(self.isolation_level()?);
            } else if read_only.is_none() && self.eat(Kw::READ) {
                read_only = Some(self.expect_any(&[Kw::ONLY, Kw::WRITE])? == Kw::ONLY);
            } else {
                return self.fail();
            }
            if !self.eat_tok(Tok::Comma) {
                return Ok(SetItem::Transaction {
                    scope,
                    isolation,
                    read_only,
                });
            }
        }
    }

    fn isolation_level(&mut self) -> Res<IsolationLevel> {
        Ok(
            match self.expect_any(&[Kw::READ, Kw::REPEATABLE, Kw::SERIALIZABLE])? {
                Kw::READ => match self.expect_any(&[Kw::UNCOMMITTED, Kw::COMMITTED])? {
                    Kw::UNCOMMITTED => IsolationLevel::ReadUncommitted,
                    _ => IsolationLevel::ReadCommitted,
                },
                Kw::REPEATABLE => {
                    self.expect(Kw::READ)?;
                    IsolationLevel::RepeatableRead
                }
                _ => IsolationLevel::Serializable,
            },
        )
    }

    /// `PASSWORD` was taken.
    fn set_password(&mut self) -> Res<SetItem> {
        let user = if self.eat(Kw::FOR) {
            Some(self.user_name()?)
        } else {
            None
        };
        self.assign_sign()?;
        let password = match self.peek() {
            Tok::Kw(Kw::PASSWORD) => {
                self.bump();
                PasswordValue::Text(self.parens(Self::string)?)
            }
            Tok::Kw(Kw::OLD_PASSWORD) => {
                self.bump();
                PasswordValue::OldText(self.parens(Self::string)?)
            }
            _ => PasswordValue::Hash(self.string()?),
        };
        Ok(SetItem::Password(SetPassword { user, password }))
    }

    fn role_choice(&mut self) -> Res<RoleChoice> {
        if self.eat(Kw::NONE) {
            return Ok(RoleChoice::None);
        }
        if self.at_tok(Tok::Str) || (self.at_ident() && self.peek_at(1) != Tok::LParen) {
            return Ok(RoleChoice::Role(self.ident_or_text()?.value));
        }
        if self.eat(Kw::CURRENT_ROLE) {
            return Ok(RoleChoice::Role("CURRENT_ROLE".into()));
        }
        Ok(RoleChoice::Expr(self.expr()?))
    }
}
