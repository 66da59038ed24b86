//! `FLUSH`, `BACKUP`, `SIGNAL`, `GET DIAGNOSTICS`.

use super::Parser;
use crate::ast::{
    Backup, BackupStage, Expr, Flush, FlushItem, FlushTablesMode, GetDiagnostics, Signal,
    SignalCondition, Statement,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    pub(super) fn flush(&mut self) -> Res<Statement> {
        self.expect(Kw::FLUSH)?;
        let no_write_to_binlog = self.no_write_to_binlog();
        if self.eat_any(&[Kw::TABLES, Kw::TABLE]).is_some() {
            let items = vec![self.flush_tables()?];
            return Ok(Statement::Flush(Flush {
                no_write_to_binlog,
                items,
            }));
        }
        let items = self.list(Self::flush_item)?;
        Ok(Statement::Flush(Flush {
            no_write_to_binlog,
            items,
        }))
    }

    fn flush_tables(&mut self) -> Res<FlushItem> {
        let at_end =
            self.at_any(&[Kw::WITH, Kw::FOR]) || matches!(self.peek(), Tok::Eof | Tok::Semicolon);
        let tables = if at_end {
            Vec::new()
        } else {
            self.list(Self::object_name)?
        };
        if tables.is_empty() && self.at(Kw::FOR) {
            return self.fail_with("No tables used");
        }
        let mut mode = FlushTablesMode::Plain;
        if self.eat(Kw::WITH) {
            self.expect_seq(&[Kw::READ, Kw::LOCK])?;
            mode = FlushTablesMode::WithReadLock;
            if self.eat(Kw::AND) {
                self.expect_seq(&[Kw::DISABLE, Kw::CHECKPOINT])?;
                mode = FlushTablesMode::WithReadLockDisableCheckpoint;
            }
        } else if self.eat(Kw::FOR) {
            self.expect(Kw::EXPORT)?;
            mode = FlushTablesMode::ForExport;
        }
        Ok(FlushItem::Tables {
            tables,
            mode,
            wait: self.ddl_wait()?,
        })
    }

    fn flush_item(&mut self) -> Res<FlushItem> {
        let next = self.peek_at(1);
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return Ok(FlushItem::Named(self.ident()?)),
        };
        let logs = next == Tok::Kw(Kw::LOGS);
        let item = match kw {
            Kw::ERROR if logs => FlushItem::ErrorLogs,
            Kw::ENGINE if logs => FlushItem::EngineLogs,
            Kw::GENERAL if logs => FlushItem::GeneralLogs,
            Kw::SLOW if logs => FlushItem::SlowLogs,
            Kw::BINARY if logs => {
                self.bump();
                self.bump();
                let mut delete_domain_ids = None;
                if self.eat(Kw::DELETE_DOMAIN_ID) {
                    self.expect_tok(Tok::Eq)?;
                    self.expect_tok(Tok::LParen)?;
                    let ids = if self.at_tok(Tok::RParen) {
                        Vec::new()
                    } else {
                        self.list(Self::number)?
                    };
                    self.expect_tok(Tok::RParen)?;
                    delete_domain_ids = Some(ids);
                }
                return Ok(FlushItem::BinaryLogs { delete_domain_ids });
            }
            Kw::RELAY if logs => {
                self.bump();
                self.bump();
                let mut channel = if self.at_tok(Tok::Str) {
                    Some(self.string()?)
                } else {
                    None
                };
                if self.eat(Kw::FOR) {
                    self.expect(Kw::CHANNEL)?;
                    channel = Some(self.string()?);
                }
                return Ok(FlushItem::RelayLogs { channel });
            }
            Kw::QUERY if next == Tok::Kw(Kw::CACHE) => FlushItem::QueryCache,
            Kw::GLOBAL | Kw::SESSION if next == Tok::Kw(Kw::STATUS) => FlushItem::Status {
                global: Some(kw == Kw::GLOBAL),
            },
            Kw::SLAVE | Kw::REPLICA => {
                self.bump();
                let mut connection = if self.at_tok(Tok::Str) {
                    Some(self.string()?)
                } else {
                    None
                };
                if self.eat(Kw::FOR) {
                    self.expect(Kw::CHANNEL)?;
                    connection = Some(self.string()?);
                }
                return Ok(FlushItem::Slave { connection });
            }
            _ => {
                let item = match kw {
                    Kw::HOSTS => FlushItem::Hosts,
                    Kw::LOGS => FlushItem::Logs,
                    Kw::PRIVILEGES => FlushItem::Privileges,
                    Kw::STATUS => FlushItem::Status { global: None },
                    Kw::DES_KEY_FILE => FlushItem::DesKeyFile,
                    Kw::USER_RESOURCES => FlushItem::UserResources,
                    Kw::SSL => FlushItem::Ssl,
                    Kw::MASTER => FlushItem::Master,
                    Kw::TABLES | Kw::TABLE => return self.fail(),
                    _ => return Ok(FlushItem::Named(self.ident()?)),
                };
                self.bump();
                return Ok(item);
            }
        };
        self.bump();
        self.bump();
        Ok(item)
    }

    pub(super) fn backup(&mut self) -> Res<Statement> {
        self.expect(Kw::BACKUP)?;
        Ok(Statement::Backup(
            match self.expect_any(&[Kw::STAGE, Kw::LOCK, Kw::UNLOCK])? {
                Kw::LOCK => Backup::Lock(self.object_name()?),
                Kw::UNLOCK => Backup::Unlock,
                _ => {
                    let word = self.ident()?;
                    Backup::Stage(match word.value.to_ascii_uppercase().as_str() {
                    "START" => BackupStage::Start,
                    "FLUSH" => BackupStage::Flush,
                    "BLOCK_DDL" => BackupStage::BlockDdl,
                    "BLOCK_COMMIT" => BackupStage::BlockCommit,
                    "END" => BackupStage::End,
                    _ => return self.other(4162, format!("Unknown backup stage: '{}'. Stage should be one of START, FLUSH, BLOCK_DDL, BLOCK_COMMIT or END", word.value)),
                })
                }
            },
        ))
    }

    /// `SQLSTATE [VALUE] 'x'`, which comes next.
    pub(super) fn sqlstate(&mut self) -> Res<String> {
        self.expect(Kw::SQLSTATE)?;
        self.eat(Kw::VALUE);
        let text = self.string()?;
        let valid = text.len() == 5
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
            && !text.starts_with("00");
        if !valid {
            return self.other(1407, format!("Bad SQLSTATE: '{text}'"));
        }
        Ok(text)
    }

    /// The name of an item of the diagnostics area, in upper case.
    fn condition_item(&mut self) -> Res<String> {
        let words = [
            Kw::CLASS_ORIGIN,
            Kw::SUBCLASS_ORIGIN,
            Kw::CONSTRAINT_CATALOG,
            Kw::CONSTRAINT_SCHEMA,
            Kw::CONSTRAINT_NAME,
            Kw::CATALOG_NAME,
            Kw::SCHEMA_NAME,
            Kw::TABLE_NAME,
            Kw::COLUMN_NAME,
            Kw::CURSOR_NAME,
            Kw::MESSAGE_TEXT,
            Kw::MYSQL_ERRNO,
            Kw::ROW_NUMBER,
        ];
        Ok(self.expect_any(&words)?.text().to_string())
    }

    /// A literal or a variable.
    fn plain_value(&mut self) -> Res<Expr> {
        match self.peek() {
            Tok::Int
            | Tok::Decimal
            | Tok::Float
            | Tok::Str
            | Tok::NationalStr
            | Tok::Introducer => {}
            Tok::HexNum | Tok::HexStr | Tok::BitNum | Tok::BitStr | Tok::NullEscape => {}
            Tok::AtAt | Tok::Ident | Tok::QuotedIdent => {}
            Tok::UserVar if self.peek_at(1) == Tok::Assign => {
                self.bump();
                return self.fail();
            }
            Tok::UserVar | Tok::Kw(Kw::NULL | Kw::TRUE | Kw::FALSE) => {}
            Tok::Kw(kw) if !kw.is_reserved() => {}
            _ => return self.fail(),
        }
        self.simple_expr()
    }

    pub(super) fn signal(&mut self) -> Res<Statement> {
        let resignal = self.expect_any(&[Kw::SIGNAL, Kw::RESIGNAL])? == Kw::RESIGNAL;
        let condition = if self.at(Kw::SQLSTATE) {
            Some(SignalCondition::SqlState(self.sqlstate()?))
        } else if resignal && !self.at_ident() {
            None
        } else {
            Some(SignalCondition::Named(self.ident()?))
        };
        let mut items = Vec::new();
        if self.eat(Kw::SET) {
            items = self.list(|p| {
                let name = p.condition_item()?;
                p.expect_tok(Tok::Eq)?;
                Ok((name, p.plain_value()?))
            })?;
        }
        Ok(Statement::Signal(Signal {
            resignal,
            condition,
            items,
        }))
    }

    pub(super) fn get_diagnostics(&mut self) -> Res<Statement> {
        self.expect(Kw::GET)?;
        self.eat(Kw::CURRENT);
        self.expect(Kw::DIAGNOSTICS)?;
        let condition = if self.eat(Kw::CONDITION) {
            Some(self.plain_value()?)
        } else {
            None
        };
        let of_condition = condition.is_some();
        let items = self.list(|p| {
            let target = p.target_var()?;
            p.expect_tok(Tok::Eq)?;
            let item = if !of_condition {
                p.expect_any(&[Kw::NUMBER, Kw::ROW_COUNT])?
                    .text()
                    .to_string()
            } else if p.eat(Kw::RETURNED_SQLSTATE) {
                Kw::RETURNED_SQLSTATE.text().to_string()
            } else {
                p.condition_item()?
            };
            Ok((target, item))
        })?;
        Ok(Statement::GetDiagnostics(GetDiagnostics {
            condition,
            items,
        }))
    }
}
