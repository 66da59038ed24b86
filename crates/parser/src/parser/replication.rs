//! `CHANGE MASTER`, `START` and `STOP SLAVE`, `PURGE BINARY LOGS`, `RESET`.

use super::Parser;
use crate::ast::{
    ChangeMaster, MasterOption, MasterOptionValue, PurgeLogs, ResetItem, SlaveUntil, StartSlave,
    Statement, StopSlave,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// A connection's name in quotes.
    fn opt_connection(&mut self) -> Res<Option<String>> {
        if self.at_tok(Tok::Str) {
            Ok(Some(self.string()?))
        } else {
            Ok(None)
        }
    }

    /// `FOR CHANNEL 'name'` at a statement's end, if no name was given before.
    fn opt_channel(&mut self, connection: &mut Option<String>) -> Res<()> {
        if self.eat(Kw::FOR) {
            self.expect(Kw::CHANNEL)?;
            *connection = Some(self.string()?);
        }
        Ok(())
    }

    pub(super) fn change_master(&mut self) -> Res<Statement> {
        self.expect_seq(&[Kw::CHANGE, Kw::MASTER])?;
        let mut connection = self.opt_connection()?;
        self.expect(Kw::TO)?;
        let options = self.list(Self::master_option)?;
        self.opt_channel(&mut connection)?;
        Ok(Statement::ChangeMaster(ChangeMaster {
            connection,
            options,
        }))
    }

    fn master_option(&mut self) -> Res<MasterOption> {
        let known = match self.peek() {
            Tok::Kw(
                Kw::RELAY_LOG_FILE
                | Kw::RELAY_LOG_POS
                | Kw::IGNORE_SERVER_IDS
                | Kw::DO_DOMAIN_IDS
                | Kw::IGNORE_DOMAIN_IDS,
            ) => true,
            Tok::Kw(kw) => kw.text().starts_with("MASTER_"),
            _ => false,
        };
        if !known {
            return self.fail();
        }
        let name = self.token_text().to_ascii_uppercase();
        self.bump();
        self.expect_tok(Tok::Eq)?;
        let value = match self.peek() {
            Tok::Str => MasterOptionValue::Str(self.str_lit()?),
            Tok::Int | Tok::Decimal | Tok::Float => {
                let text = self.token_text();
                self.bump();
                MasterOptionValue::Number(text)
            }
            Tok::LParen => {
                self.bump();
                let list = if self.at_tok(Tok::RParen) {
                    Vec::new()
                } else {
                    self.list(Self::number)?
                };
                self.expect_tok(Tok::RParen)?;
                MasterOptionValue::List(list)
            }
            Tok::Kw(Kw::DEFAULT) => MasterOptionValue::Word(self.take_ident()),
            _ => MasterOptionValue::Word(self.ident()?),
        };
        Ok(MasterOption { name, value })
    }

    /// `SLAVE ['name'] [threads]` or `ALL SLAVES [threads]`: all, name, IO thread, SQL thread.
    fn slave_threads(&mut self) -> Res<(bool, Option<String>, bool, bool)> {
        let all = self.eat(Kw::ALL);
        let mut connection = None;
        if all {
            self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
        } else {
            self.expect_any(&[Kw::SLAVE, Kw::REPLICA])?;
            connection = self.opt_connection()?;
        }
        let (mut io_thread, mut sql_thread) = (false, false);
        let words = [Kw::IO_THREAD, Kw::RELAY_THREAD, Kw::SQL_THREAD];
        if self.at_any(&words) {
            loop {
                match self.expect_any(&words)? {
                    Kw::SQL_THREAD => sql_thread = true,
                    _ => io_thread = true,
                }
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        Ok((all, connection, io_thread, sql_thread))
    }

    /// `START` was taken.
    pub(super) fn start_slave(&mut self) -> Res<Statement> {
        let (all, mut connection, io_thread, sql_thread) = self.slave_threads()?;
        let mut until = None;
        if self.eat(Kw::UNTIL) {
            until = Some(if self.eat(Kw::MASTER_GTID_POS) {
                self.expect_tok(Tok::Eq)?;
                SlaveUntil::Gtid(self.simple_expr()?)
            } else {
                SlaveUntil::Position(self.list(Self::master_option)?)
            });
        }
        self.opt_channel(&mut connection)?;
        Ok(Statement::StartSlave(StartSlave {
            all,
            connection,
            io_thread,
            sql_thread,
            until,
        }))
    }

    pub(super) fn stop_slave(&mut self) -> Res<Statement> {
        self.expect(Kw::STOP)?;
        let (all, mut connection, io_thread, sql_thread) = self.slave_threads()?;
        self.opt_channel(&mut connection)?;
        Ok(Statement::StopSlave(StopSlave {
            all,
            connection,
            io_thread,
            sql_thread,
        }))
    }

    pub(super) fn purge(&mut self) -> Res<Statement> {
        self.expect(Kw::PURGE)?;
        self.expect_any(&[Kw::BINARY, Kw::MASTER])?;
        self.expect(Kw::LOGS)?;
        Ok(Statement::PurgeLogs(
            match self.expect_any(&[Kw::TO, Kw::BEFORE])? {
                Kw::TO => PurgeLogs::To(self.simple_expr()?),
                _ => PurgeLogs::Before(self.expr()?),
            },
        ))
    }

    pub(super) fn reset_statement(&mut self) -> Res<Statement> {
        self.expect(Kw::RESET)?;
        let items = self.list(|p| match p.peek() {
            Tok::Kw(Kw::MASTER) => {
                p.bump();
                let to = if p.eat(Kw::TO) {
                    Some(p.number()?)
                } else {
                    None
                };
                Ok(ResetItem::Master { to })
            }
            Tok::Kw(Kw::SLAVE | Kw::REPLICA) => {
                p.bump();
                let mut connection = p.opt_connection()?;
                let all = p.eat(Kw::ALL);
                p.opt_channel(&mut connection)?;
                Ok(ResetItem::Slave { connection, all })
            }
            Tok::Kw(Kw::QUERY) => {
                p.bump();
                p.expect(Kw::CACHE)?;
                Ok(ResetItem::QueryCache)
            }
            _ => Ok(ResetItem::Named(p.ident()?)),
        })?;
        Ok(Statement::Reset(items))
    }
}
