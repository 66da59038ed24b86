//! `ALTER …`, of tables above all.

use super::Parser;
use crate::ast::{
    AlterAction, AlterAlgorithm, AlterLock, AlterTable, ColumnPosition, Expr, Ident, OrderItem,
    PartitionAction, Statement, TableElement,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Res<Statement> {
        self.expect(Kw::ALTER)?;
        match self.peek() {
            Tok::Kw(Kw::TABLE | Kw::ONLINE | Kw::IGNORE) => self.alter_table(),
            Tok::Kw(Kw::DATABASE | Kw::SCHEMA) => self.alter_database(),
            Tok::Kw(Kw::VIEW | Kw::ALGORITHM | Kw::DEFINER | Kw::SQL) => self.alter_view_or_event(),
            Tok::Kw(Kw::EVENT) => {
                self.bump();
                self.alter_event(None)
            }
            Tok::Kw(Kw::PROCEDURE | Kw::FUNCTION) => self.alter_routine(),
            Tok::Kw(Kw::USER) => self.alter_user(),
            Tok::Kw(Kw::SEQUENCE) => self.alter_sequence(),
            Tok::Kw(Kw::SERVER) => {
                self.bump();
                self.server_def(true, false)
            }
            _ => self.fail(),
        }
    }

    fn alter_table(&mut self) -> Res<Statement> {
        let online = self.eat(Kw::ONLINE);
        let ignore = self.eat(Kw::IGNORE);
        self.expect(Kw::TABLE)?;
        let if_exists = self.if_exists()?;
        let name = self.object_name()?;
        let wait = self.ddl_wait()?;
        let mut table = AlterTable {
            online,
            ignore,
            if_exists,
            name,
            wait,
            actions: Vec::new(),
        };
        if matches!(self.peek(), Tok::Eof | Tok::Semicolon) {
            return Ok(Statement::AlterTable(Box::new(table)));
        }
        if let Some(action) = self.lone_action()? {
            table.actions.push(action);
            return Ok(Statement::AlterTable(Box::new(table)));
        }
        if !self.at_partitioning() {
            table.actions = self.list(Self::alter_action)?;
        }
        // Without a comma, and last.
        if self.at_seq(&[Kw::REMOVE, Kw::PARTITIONING]) {
            self.bump();
            self.bump();
            table
                .actions
                .push(AlterAction::Partition(Box::new(PartitionAction::Remove)));
        } else if self.at_partitioning() {
            table
                .actions
                .push(AlterAction::PartitionBy(Box::new(self.partition_by()?)));
        }
        Ok(Statement::AlterTable(Box::new(table)))
    }

    fn at_partitioning(&mut self) -> bool {
        self.at_seq(&[Kw::PARTITION, Kw::BY]) || self.at_seq(&[Kw::REMOVE, Kw::PARTITIONING])
    }

    /// An action that stands alone: on partitions and tablespaces.
    fn lone_action(&mut self) -> Res<Option<AlterAction>> {
        if let Some(action) = self.partition_action()? {
            return Ok(Some(AlterAction::Partition(Box::new(action))));
        }
        if self.eat_seq(&[Kw::ADD, Kw::PARTITION]) {
            return Ok(Some(AlterAction::Partition(Box::new(
                self.add_partition()?,
            ))));
        }
        if self.eat_seq(&[Kw::DROP, Kw::PARTITION]) {
            return Ok(Some(AlterAction::Partition(Box::new(
                self.drop_partition()?,
            ))));
        }
        if self.eat_seq(&[Kw::DISCARD, Kw::TABLESPACE]) {
            return Ok(Some(AlterAction::DiscardTablespace));
        }
        if self.eat_seq(&[Kw::IMPORT, Kw::TABLESPACE]) {
            return Ok(Some(AlterAction::ImportTablespace));
        }
        Ok(None)
    }

    fn alter_action(&mut self) -> Res<AlterAction> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.alter_options(),
        };
        match kw {
            Kw::ADD => {
                self.bump();
                self.alter_add()
            }
            Kw::DROP => {
                self.bump();
                self.alter_drop()
            }
            Kw::CHANGE => {
                self.bump();
                self.eat(Kw::COLUMN);
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                let column = Box::new(self.column_def()?);
                Ok(AlterAction::ChangeColumn {
                    if_exists,
                    name,
                    column,
                    position: self.position()?,
                })
            }
            Kw::MODIFY => {
                self.bump();
                self.eat(Kw::COLUMN);
                let if_exists = self.if_exists()?;
                let column = Box::new(self.column_def()?);
                Ok(AlterAction::ModifyColumn {
                    if_exists,
                    column,
                    position: self.position()?,
                })
            }
            Kw::RENAME => {
                self.bump();
                self.alter_rename()
            }
            Kw::ALTER => {
                self.bump();
                self.alter_alter()
            }
            Kw::CONVERT => {
                self.bump();
                self.expect(Kw::TO)?;
                if !self.eat_charset_words() {
                    return self.fail();
                }
                let charset = if self.eat(Kw::DEFAULT) {
                    None
                } else {
                    Some(self.charset_name()?)
                };
                let collation = if self.eat(Kw::COLLATE) {
                    Some(self.charset_or_default_name()?)
                } else {
                    None
                };
                Ok(AlterAction::ConvertCharset { charset, collation })
            }
            Kw::ORDER => {
                self.bump();
                self.expect(Kw::BY)?;
                Ok(AlterAction::OrderBy(self.list(|p| {
                    let expr = Expr::Column(p.column_ref()?);
                    let desc = p.eat_any(&[Kw::ASC, Kw::DESC]).map(|kw| kw == Kw::DESC);
                    Ok(OrderItem { expr, desc })
                })?))
            }
            Kw::ENABLE => {
                self.bump();
                self.expect(Kw::KEYS)?;
                Ok(AlterAction::EnableKeys)
            }
            Kw::DISABLE => {
                self.bump();
                self.expect(Kw::KEYS)?;
                Ok(AlterAction::DisableKeys)
            }
            Kw::FORCE => {
                self.bump();
                Ok(AlterAction::Force)
            }
            Kw::ALGORITHM => Ok(AlterAction::Algorithm(self.alter_algorithm()?)),
            Kw::LOCK => Ok(AlterAction::Lock(self.alter_lock()?)),

            _ => self.alter_options(),
        }
    }

    fn alter_options(&mut self) -> Res<AlterAction> {
        let options = self.table_options()?;
        if options.is_empty() {
            self.fail()
        } else {
            Ok(AlterAction::Options(options))
        }
    }

    /// `ALGORITHM [=] x`
    pub(super) fn alter_algorithm(&mut self) -> Res<AlterAlgorithm> {
        self.expect(Kw::ALGORITHM)?;
        self.eat_eq();
        if self.eat(Kw::DEFAULT) {
            return Ok(AlterAlgorithm::Default);
        }
        let word = self.ident()?;
        Ok(match word.value.to_ascii_uppercase().as_str() {
            "COPY" => AlterAlgorithm::Copy,
            "INPLACE" => AlterAlgorithm::Inplace,
            "NOCOPY" => AlterAlgorithm::NoCopy,
            "INSTANT" => AlterAlgorithm::Instant,
            "DEFAULT" => AlterAlgorithm::Default,
            _ => return self.other(1800, format!("Unknown ALGORITHM '{}'", word.value)),
        })
    }

    /// `LOCK [=] x`
    pub(super) fn alter_lock(&mut self) -> Res<AlterLock> {
        self.expect(Kw::LOCK)?;
        self.eat_eq();
        if self.eat(Kw::DEFAULT) {
            return Ok(AlterLock::Default);
        }
        let word = self.ident()?;
        Ok(match word.value.to_ascii_uppercase().as_str() {
            "NONE" => AlterLock::None,
            "SHARED" => AlterLock::Shared,
            "EXCLUSIVE" => AlterLock::Exclusive,
            "DEFAULT" => AlterLock::Default,
            _ => return self.other(1801, format!("Unknown LOCK type '{}'", word.value)),
        })
    }

    fn position(&mut self) -> Res<Option<ColumnPosition>> {
        if self.eat(Kw::FIRST) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.eat(Kw::AFTER) {
            return Ok(Some(ColumnPosition::After(self.ident()?)));
        }
        Ok(None)
    }

    /// `ADD` was taken.
    fn alter_add(&mut self) -> Res<AlterAction> {
        if self.eat_seq(&[Kw::SYSTEM, Kw::VERSIONING]) {
            return Ok(AlterAction::AddSystemVersioning);
        }
        if !self.eat(Kw::COLUMN) {
            match self.constraint_or_index()? {
                Some(TableElement::Index(index)) => return Ok(AlterAction::AddIndex(index)),
                Some(TableElement::ForeignKey(foreign)) => {
                    return Ok(AlterAction::AddForeignKey(foreign));
                }
                Some(TableElement::Check(check)) => {
                    return Ok(AlterAction::AddCheck(Box::new(check)));
                }
                Some(TableElement::Period(period)) => return Ok(AlterAction::AddPeriod(period)),
                _ => {}
            }
        }
        let if_not_exists = self.if_not_exists()?;
        if self.at_tok(Tok::LParen) {
            let elements = self.paren_list(Self::table_element)?;
            return Ok(AlterAction::AddElements {
                if_not_exists,
                elements,
            });
        }
        let column = Box::new(self.column_def()?);
        Ok(AlterAction::AddColumn {
            if_not_exists,
            column,
            position: self.position()?,
        })
    }

    /// `DROP` was taken.
    fn alter_drop(&mut self) -> Res<AlterAction> {
        if self.eat_seq(&[Kw::SYSTEM, Kw::VERSIONING]) {
            return Ok(AlterAction::DropSystemVersioning);
        }
        if self.at(Kw::PERIOD) && matches!(self.peek_at(1), Tok::Kw(Kw::FOR | Kw::IF)) {
            self.bump();
            let if_exists = self.if_exists()?;
            self.expect(Kw::FOR)?;
            return Ok(AlterAction::DropPeriod {
                if_exists,
                name: self.ident()?,
            });
        }
        match self.peek() {
            Tok::Kw(Kw::PRIMARY) => {
                self.bump();
                self.expect(Kw::KEY)?;
                Ok(AlterAction::DropPrimaryKey)
            }
            Tok::Kw(Kw::INDEX | Kw::KEY) => {
                self.bump();
                let if_exists = self.if_exists()?;
                Ok(AlterAction::DropIndex {
                    if_exists,
                    name: self.index_name()?,
                })
            }
            Tok::Kw(Kw::FOREIGN) => {
                self.bump();
                self.expect(Kw::KEY)?;
                let if_exists = self.if_exists()?;
                Ok(AlterAction::DropForeignKey {
                    if_exists,
                    name: self.ident()?,
                })
            }
            Tok::Kw(Kw::CONSTRAINT) => {
                self.bump();
                let if_exists = self.if_exists()?;
                if self.eat_seq(&[Kw::PRIMARY, Kw::KEY]) {
                    return Ok(AlterAction::DropPrimaryKey);
                }
                Ok(AlterAction::DropConstraint {
                    if_exists,
                    name: self.ident()?,
                })
            }
            _ => {
                self.eat(Kw::COLUMN);
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(AlterAction::DropColumn { if_exists, name })
            }
        }
    }

    /// `a TO b`
    fn two_names(&mut self) -> Res<(Ident, Ident)> {
        let from = self.ident()?;
        self.expect(Kw::TO)?;
        Ok((from, self.ident()?))
    }

    /// `RENAME` was taken.
    fn alter_rename(&mut self) -> Res<AlterAction> {
        if self.eat(Kw::COLUMN) {
            let if_exists = self.if_exists()?;
            let (from, to) = self.two_names()?;
            return Ok(AlterAction::RenameColumn {
                if_exists,
                from,
                to,
            });
        }
        if self.eat_any(&[Kw::INDEX, Kw::KEY]).is_some() {
            let if_exists = self.if_exists()?;
            let (from, to) = self.two_names()?;
            return Ok(AlterAction::RenameIndex {
                if_exists,
                from,
                to,
            });
        }
        if self.eat_any(&[Kw::TO, Kw::AS]).is_none() {
            self.eat_eq();
        }
        Ok(AlterAction::RenameTable(self.object_name()?))
    }

    /// The second `ALTER` was taken.
    fn alter_alter(&mut self) -> Res<AlterAction> {
        if self.eat_any(&[Kw::INDEX, Kw::KEY]).is_some() {
            let if_exists = self.if_exists()?;
            let name = self.ident()?;
            let ignored = !self.eat(Kw::NOT);
            self.expect(Kw::IGNORED)?;
            return Ok(AlterAction::AlterIndex {
                if_exists,
                name,
                ignored,
            });
        }
        self.eat(Kw::COLUMN);
        let if_exists = self.if_exists()?;
        let name = self.ident()?;
        let default = if self.eat(Kw::SET) {
            self.expect(Kw::DEFAULT)?;
            Some(self.default_value()?)
        } else {
            self.expect_seq(&[Kw::DROP, Kw::DEFAULT])?;
            None
        };
        Ok(AlterAction::AlterColumnDefault {
            if_exists,
            name,
            default,
        })
    }
}
