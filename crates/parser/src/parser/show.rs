//! `SHOW` and `DESCRIBE`.

use super::Parser;
use crate::ast::{
    DescribeTable, ExplainFormat, Expr, Ident, ObjectName, ProfileType, Show, ShowEngineWhat,
    ShowFilter, ShowKind, Statement, VarScope,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

/// `LIMIT [offset,] count` of a `SHOW`: offset, count.
type ShowLimit = (Option<Expr>, Option<Expr>);

impl Parser<'_> {
    /// `DESCRIBE t [column]`
    pub(super) fn describe_table(&mut self, full: bool) -> Res<Statement> {
        let table = self.object_name()?;
        let column = match self.peek() {
            Tok::Str => Some(self.text_bytes()?),
            _ => self.opt_ident().map(|ident| ident.value.into_bytes()),
        };
        Ok(Statement::DescribeTable(DescribeTable {
            table,
            column,
            full,
        }))
    }

    pub(super) fn show(&mut self) -> Res<Statement> {
        self.expect(Kw::SHOW)?;
        let (kind, filtered) = self.show_kind()?;
        let filter = if filtered { self.show_filter()? } else { None };
        Ok(Statement::Show(Box::new(Show { kind, filter })))
    }

    fn show_filter(&mut self) -> Res<Option<ShowFilter>> {
        if self.eat(Kw::LIKE) {
            return Ok(Some(ShowFilter::Like(self.text_bytes()?)));
        }
        Ok(self.opt_where()?.map(ShowFilter::Where))
    }

    fn opt_from_db(&mut self) -> Res<Option<Ident>> {
        if self.eat_any(&[Kw::FROM, Kw::IN]).is_some() {
            Ok(Some(self.ident()?))
        } else {
            Ok(None)
        }
    }

    /// `FROM t [FROM db]`
    fn shown_table(&mut self) -> Res<ObjectName> {
        self.expect_any(&[Kw::FROM, Kw::IN])?;
        let mut table = self.object_name()?;
        if let Some(db) = self.opt_from_db()? {
            table.db = Some(db);
        }
        Ok(table)
    }

    fn show_limit(&mut self) -> Res<ShowLimit> {
        Ok(match self.limit()? {
            Some(limit) => (limit.offset, limit.count),
            None => (None, None),
        })
    }

    /// What is to be shown, and whether `LIKE` or `WHERE` may follow.
    fn show_kind(&mut self) -> Res<(ShowKind, bool)> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            Tok::Func if self.token_bytes(self.pos).eq_ignore_ascii_case(b"COUNT") => {
                self.bump();
                self.bump();
                self.expect_tok(Tok::Star)?;
                self.expect_tok(Tok::RParen)?;
                return Ok(match self.expect_any(&[Kw::WARNINGS, Kw::ERRORS])? {
                    Kw::WARNINGS => (ShowKind::WarningCount, false),
                    _ => (ShowKind::ErrorCount, false),
                });
            }
            Tok::Ident => return self.show_named(),
            _ => return self.fail(),
        };
        self.bump();
        Ok(match kw {
            Kw::AUTHORS => (ShowKind::Authors, false),
            Kw::CONTRIBUTORS => (ShowKind::Contributors, false),
            Kw::PRIVILEGES => (ShowKind::Privileges, false),
            Kw::PROFILES => (ShowKind::Profiles, false),
            Kw::BINARY => {
                self.expect(Kw::LOGS)?;
                (ShowKind::BinaryLogs, false)
            }
            Kw::MASTER => match self.expect_any(&[Kw::LOGS, Kw::STATUS])? {
                Kw::LOGS => (ShowKind::BinaryLogs, false),
                _ => (ShowKind::BinlogStatus, false),
            },
            Kw::BINLOG => match self.expect_any(&[Kw::STATUS, Kw::EVENTS])? {
                Kw::STATUS => (ShowKind::BinlogStatus, false),
                _ => {
                    let (file, position) = self.log_place()?;
                    let (offset, count) = self.show_limit()?;
                    (
                        ShowKind::BinlogEvents {
                            file,
                            position,
                            offset,
                            count,
                        },
                        false,
                    )
                }
            },
            Kw::RELAYLOG => {
                let connection = self.opt_string()?;
                self.expect(Kw::EVENTS)?;
                let (file, position) = self.log_place()?;
                let (offset, count) = self.show_limit()?;
                let connection = match self.eat(Kw::FOR) {
                    true => {
                        self.expect(Kw::CHANNEL)?;
                        Some(self.string()?)
                    }
                    false => connection,
                };
                (
                    ShowKind::RelaylogEvents {
                        connection,
                        file,
                        position,
                        offset,
                        count,
                    },
                    false,
                )
            }
            Kw::CHARSET => (ShowKind::CharacterSet, true),
            Kw::CHARACTER | Kw::CHAR => {
                self.expect(Kw::SET)?;
                (ShowKind::CharacterSet, true)
            }
            Kw::COLLATION => (ShowKind::Collation, true),
            Kw::FULL => {
                match self.expect_any(&[Kw::COLUMNS, Kw::FIELDS, Kw::TABLES, Kw::PROCESSLIST])? {
                    Kw::TABLES => (
                        ShowKind::Tables {
                            full: true,
                            db: self.opt_from_db()?,
                        },
                        true,
                    ),
                    Kw::PROCESSLIST => (ShowKind::ProcessList { full: true }, false),
                    _ => (
                        ShowKind::Columns {
                            full: true,
                            table: self.shown_table()?,
                        },
                        true,
                    ),
                }
            }
            Kw::COLUMNS | Kw::FIELDS => (
                ShowKind::Columns {
                    full: false,
                    table: self.shown_table()?,
                },
                true,
            ),
            Kw::TABLES => (
                ShowKind::Tables {
                    full: false,
                    db: self.opt_from_db()?,
                },
                true,
            ),
            Kw::PROCESSLIST => (ShowKind::ProcessList { full: false }, false),
            Kw::CREATE => (self.show_create()?, false),
            Kw::DATABASES | Kw::SCHEMAS => (ShowKind::Databases, true),
            Kw::ENGINE => {
                let engine = if self.eat(Kw::ALL) {
                    None
                } else {
                    Some(self.ident_or_text()?)
                };
                let what = match self.expect_any(&[Kw::STATUS, Kw::MUTEX, Kw::LOGS])? {
                    Kw::STATUS => ShowEngineWhat::Status,
                    Kw::MUTEX => ShowEngineWhat::Mutex,
                    _ => ShowEngineWhat::Logs,
                };
                (ShowKind::Engine { engine, what }, false)
            }
            Kw::ENGINES => (ShowKind::Engines, false),
            Kw::STORAGE => {
                self.expect(Kw::ENGINES)?;
                (ShowKind::Engines, false)
            }
            Kw::ERRORS => {
                let (offset, count) = self.show_limit()?;
                (ShowKind::Errors { offset, count }, false)
            }
            Kw::WARNINGS => {
                let (offset, count) = self.show_limit()?;
                (ShowKind::Warnings { offset, count }, false)
            }
            Kw::EVENTS => (
                ShowKind::Events {
                    db: self.opt_from_db()?,
                },
                true,
            ),
            Kw::EXPLAIN | Kw::ANALYZE => (self.show_explain(kw == Kw::ANALYZE)?, false),
            Kw::FUNCTION => match self.expect_any(&[Kw::STATUS, Kw::CODE])? {
                Kw::STATUS => (ShowKind::FunctionStatus, true),
                _ => (ShowKind::FunctionCode(self.object_name()?), false),
            },
            Kw::PROCEDURE => match self.expect_any(&[Kw::STATUS, Kw::CODE])? {
                Kw::STATUS => (ShowKind::ProcedureStatus, true),
                _ => (ShowKind::ProcedureCode(self.object_name()?), false),
            },
            Kw::PACKAGE => {
                let body = self.eat(Kw::BODY);
                self.expect(Kw::STATUS)?;
                (
                    if body {
                        ShowKind::PackageBodyStatus
                    } else {
                        ShowKind::PackageStatus
                    },
                    true,
                )
            }
            Kw::GRANTS => {
                let user = if self.eat(Kw::FOR) {
                    Some(self.user_name()?)
                } else {
                    None
                };
                (ShowKind::Grants(user), false)
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => {
                let table = self.shown_table()?;
                (ShowKind::Index { table }, true)
            }
            Kw::OPEN => {
                self.expect(Kw::TABLES)?;
                (
                    ShowKind::OpenTables {
                        db: self.opt_from_db()?,
                    },
                    true,
                )
            }
            Kw::PLUGINS => {
                if self.eat(Kw::SONAME) {
                    let soname = self.opt_string()?;
                    (ShowKind::PluginsSoname { soname }, true)
                } else {
                    (ShowKind::Plugins, false)
                }
            }
            Kw::PROFILE => (self.show_profile()?, false),
            Kw::SLAVE | Kw::REPLICA => {
                if self.eat(Kw::HOSTS) {
                    return Ok((ShowKind::SlaveHosts, false));
                }
                let mut connection = self.opt_string()?;
                self.expect(Kw::STATUS)?;
                if self.eat(Kw::FOR) {
                    self.expect(Kw::CHANNEL)?;
                    connection = Some(self.string()?);
                }
                (
                    ShowKind::SlaveStatus {
                        all: false,
                        connection,
                    },
                    false,
                )
            }
            Kw::REPLICAS => {
                self.expect(Kw::HOSTS)?;
                (ShowKind::SlaveHosts, false)
            }
            Kw::ALL => {
                self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
                self.expect(Kw::STATUS)?;
                (
                    ShowKind::SlaveStatus {
                        all: true,
                        connection: None,
                    },
                    false,
                )
            }
            Kw::STATUS => (ShowKind::Status { scope: None }, true),
            Kw::VARIABLES => (ShowKind::Variables { scope: None }, true),
            Kw::GLOBAL | Kw::SESSION | Kw::LOCAL => {
                let scope = Some(if kw == Kw::GLOBAL {
                    VarScope::Global
                } else {
                    VarScope::Session
                });
                match self.expect_any(&[Kw::STATUS, Kw::VARIABLES])? {
                    Kw::STATUS => (ShowKind::Status { scope }, true),
                    _ => (ShowKind::Variables { scope }, true),
                }
            }
            Kw::TABLE => {
                self.expect(Kw::STATUS)?;
                (
                    ShowKind::TableStatus {
                        db: self.opt_from_db()?,
                    },
                    true,
                )
            }
            Kw::TRIGGERS => (
                ShowKind::Triggers {
                    db: self.opt_from_db()?,
                },
                true,
            ),
            _ => {
                self.pos -= 1;
                return self.show_named();
            }
        })
    }

    /// A table of the information schema that has a `SHOW` of its own.
    fn show_named(&mut self) -> Res<(ShowKind, bool)> {
        const NAMES: &[&str] = &[
            "CLIENT_STATISTICS",
            "INDEX_STATISTICS",
            "LOCALES",
            "METADATA_LOCK_INFO",
            "QUERY_CACHE_INFO",
            "QUERY_RESPONSE_TIME",
            "TABLE_STATISTICS",
            "USER_STATISTICS",
            "USER_VARIABLES",
        ];
        if !NAMES.iter().any(|name| self.at_word(name)) {
            return self.fail();
        }
        Ok((ShowKind::Named(self.ident()?), true))
    }

    fn opt_string(&mut self) -> Res<Option<String>> {
        if self.at_tok(Tok::Str) {
            Ok(Some(self.string()?))
        } else {
            Ok(None)
        }
    }

    /// `IN 'file' FROM position`
    fn log_place(&mut self) -> Res<(Option<String>, Option<u64>)> {
        let file = if self.eat(Kw::IN) {
            Some(self.string()?)
        } else {
            None
        };
        let position = if self.eat(Kw::FROM) {
            Some(self.number()?)
        } else {
            None
        };
        Ok((file, position))
    }

    fn show_create(&mut self) -> Res<ShowKind> {
        let words = [
            Kw::DATABASE,
            Kw::SCHEMA,
            Kw::TABLE,
            Kw::VIEW,
            Kw::SEQUENCE,
            Kw::TRIGGER,
            Kw::PROCEDURE,
            Kw::FUNCTION,
            Kw::EVENT,
            Kw::PACKAGE,
            Kw::USER,
            Kw::SERVER,
        ];
        Ok(match self.expect_any(&words)? {
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.if_not_exists()?;
                ShowKind::CreateDatabase {
                    if_not_exists,
                    name: self.ident()?,
                }
            }
            Kw::TABLE => ShowKind::CreateTable(self.object_name()?),
            Kw::VIEW => ShowKind::CreateView(self.object_name()?),
            Kw::SEQUENCE => ShowKind::CreateSequence(self.object_name()?),
            Kw::TRIGGER => ShowKind::CreateTrigger(self.object_name()?),
            Kw::PROCEDURE => ShowKind::CreateProcedure(self.object_name()?),
            Kw::FUNCTION => ShowKind::CreateFunction(self.object_name()?),
            Kw::EVENT => ShowKind::CreateEvent(self.object_name()?),
            Kw::PACKAGE if self.eat(Kw::BODY) => ShowKind::CreatePackageBody(self.object_name()?),
            Kw::PACKAGE => ShowKind::CreatePackage(self.object_name()?),
            Kw::SERVER => ShowKind::CreateServer(self.ident_or_text()?),
            _ => {
                let alone = matches!(self.peek(), Tok::Eof | Tok::Semicolon);
                ShowKind::CreateUser(if alone { None } else { Some(self.user_name()?) })
            }
        })
    }

    fn show_explain(&mut self, analyze: bool) -> Res<ShowKind> {
        let mut format = ExplainFormat::Traditional;
        let mut extended = false;
        if self.eat(Kw::FORMAT) {
            self.expect_tok(Tok::Eq)?;
            format = self.explain_format()?;
        } else if !analyze && self.eat_any(&[Kw::EXTENDED, Kw::PARTITIONS]).is_some() {
            extended = true;
        }
        self.expect(Kw::FOR)?;
        Ok(ShowKind::ExplainFor {
            analyze,
            format,
            extended,
            id: self.expr()?,
        })
    }

    fn show_profile(&mut self) -> Res<ShowKind> {
        let mut types = Vec::new();
        let words = [
            Kw::ALL,
            Kw::BLOCK,
            Kw::CONTEXT,
            Kw::CPU,
            Kw::IPC,
            Kw::MEMORY,
            Kw::PAGE,
            Kw::SOURCE,
            Kw::SWAPS,
        ];
        if self.at_any(&words) {
            types = self.list(|p| {
                Ok(match p.expect_any(&words)? {
                    Kw::ALL => ProfileType::All,
                    Kw::BLOCK => {
                        p.expect(Kw::IO)?;
                        ProfileType::BlockIo
                    }
                    Kw::CONTEXT => {
                        p.expect(Kw::SWITCHES)?;
                        ProfileType::ContextSwitches
                    }
                    Kw::CPU => ProfileType::Cpu,
                    Kw::IPC => ProfileType::Ipc,
                    Kw::MEMORY => ProfileType::Memory,
                    Kw::PAGE => {
                        p.expect(Kw::FAULTS)?;
                        ProfileType::PageFaults
                    }
                    Kw::SOURCE => ProfileType::Source,
                    _ => ProfileType::Swaps,
                })
            })?;
        }
        let query = if self.eat(Kw::FOR) {
            self.expect(Kw::QUERY)?;
            Some(self.number()?)
        } else {
            None
        };
        let (offset, count) = self.show_limit()?;
        Ok(ShowKind::Profile {
            types,
            query,
            offset,
            count,
        })
    }
}
