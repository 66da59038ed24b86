//! `CREATE`, `DROP`, `RENAME`, `TRUNCATE` of all but columns: databases, indexes, views, sequences, servers.

use super::Parser;
use crate::ast::{
    AlterDatabase, AlterSequence, CreateDatabase, CreateIndex, CreateSequence, CreateView,
    DatabaseOptions, Definer, DropDatabase, DropIndex, DropSequences, DropTables, DropViews,
    IndexDef, IndexKind, IndexOptions, ObjectName, RenameTables, SequenceOption, ServerDef,
    SqlSecurity, Statement, TableRename, TruncateTable, UserName, ViewAlgorithm, ViewCheckOption,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

/// What may stand between `CREATE` and the kind of a view or stored program.
#[derive(Default)]
struct Head {
    algorithm: Option<ViewAlgorithm>,
    definer: Option<Definer>,
    security: Option<SqlSecurity>,
}

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Res<Statement> {
        self.expect(Kw::CREATE)?;
        let or_replace = self.eat(Kw::OR);
        if or_replace {
            self.expect(Kw::REPLACE)?;
        }
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.fail(),
        };
        match kw {
            Kw::TABLE => {
                self.bump();
                self.create_table(or_replace, false)
            }
            Kw::TEMPORARY => {
                self.bump();
                if self.eat(Kw::SEQUENCE) {
                    return self.create_sequence(or_replace, true);
                }
                self.expect(Kw::TABLE)?;
                self.create_table(or_replace, true)
            }
            Kw::SEQUENCE => {
                self.bump();
                self.create_sequence(or_replace, false)
            }
            Kw::INDEX | Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL => self.create_index(or_replace),
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                let if_not_exists = self.if_not_exists()?;
                let name = self.ident()?;
                let options = self.database_options()?;
                Ok(Statement::CreateDatabase(CreateDatabase {
                    or_replace,
                    if_not_exists,
                    name,
                    options,
                }))
            }
            Kw::USER => self.create_user(or_replace),
            Kw::ROLE => self.create_role(or_replace),
            Kw::SERVER => {
                self.bump();
                self.server_def(false, or_replace)
            }
            _ => self.create_with_head(or_replace),
        }
    }

    /// A view or a stored program.
    fn create_with_head(&mut self, or_replace: bool) -> Res<Statement> {
        let head = self.head()?;
        let view_only = head.algorithm.is_some() || head.security.is_some();
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.fail(),
        };
        if view_only && kw != Kw::VIEW {
            return self.fail();
        }
        self.bump();
        match kw {
            Kw::VIEW => self.create_view(false, or_replace, head),
            Kw::TRIGGER => self.create_trigger(or_replace, head.definer),
            Kw::PROCEDURE => self.create_procedure(or_replace, head.definer),
            Kw::AGGREGATE => {
                self.expect(Kw::FUNCTION)?;
                self.create_function(or_replace, head.definer, true)
            }
            Kw::FUNCTION => self.create_function(or_replace, head.definer, false),
            Kw::EVENT => self.create_event(or_replace, head.definer),
            _ => {
                self.pos -= 1;
                self.fail()
            }
        }
    }

    fn head(&mut self) -> Res<Head> {
        let mut head = Head::default();
        if self.eat(Kw::ALGORITHM) {
            self.expect_tok(Tok::Eq)?;
            head.algorithm = Some(
                match self.expect_any(&[Kw::UNDEFINED, Kw::MERGE, Kw::TEMPTABLE])? {
                    Kw::UNDEFINED => ViewAlgorithm::Undefined,
                    Kw::MERGE => ViewAlgorithm::Merge,
                    _ => ViewAlgorithm::Temptable,
                },
            );
        }
        if self.eat(Kw::DEFINER) {
            self.expect_tok(Tok::Eq)?;
            head.definer = Some(match self.user_name()? {
                UserName::CurrentUser => Definer::CurrentUser,
                UserName::CurrentRole => Definer::CurrentRole,
                UserName::Named { user, host } => Definer::User { user, host },
                UserName::Public => Definer::User {
                    user: "PUBLIC".into(),
                    host: None,
                },
            });
        }
        head.security = self.opt_sql_security()?;
        Ok(head)
    }

    /// `SQL SECURITY …`
    pub(super) fn opt_sql_security(&mut self) -> Res<Option<SqlSecurity>> {
        if !self.at_seq(&[Kw::SQL, Kw::SECURITY]) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        let definer = self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? == Kw::DEFINER;
        Ok(Some(if definer {
            SqlSecurity::Definer
        } else {
            SqlSecurity::Invoker
        }))
    }

    pub(super) fn alter_view_or_event(&mut self) -> Res<Statement> {
        let head = self.head()?;
        if head.algorithm.is_none() && head.security.is_none() && self.eat(Kw::EVENT) {
            return self.alter_event(head.definer);
        }
        self.expect(Kw::VIEW)?;
        self.create_view(true, false, head)
    }

    /// `VIEW` was taken.
    fn create_view(&mut self, alter: bool, or_replace: bool, head: Head) -> Res<Statement> {
        let if_not_exists = !alter && self.if_not_exists()?;
        let name = self.object_name()?;
        let columns = if self.at_tok(Tok::LParen) {
            self.paren_list(Self::ident)?
        } else {
            Vec::new()
        };
        self.expect(Kw::AS)?;
        let start = self.next_start();
        if !self.at_query() {
            return self.fail();
        }
        let query = Box::new(self.query()?);
        let query_text = self.text_from(start);
        let mut check_option = None;
        if self.eat(Kw::WITH) {
            let local = self.eat_any(&[Kw::LOCAL, Kw::CASCADED]) == Some(Kw::LOCAL);
            self.expect_seq(&[Kw::CHECK, Kw::OPTION])?;
            check_option = Some(if local {
                ViewCheckOption::Local
            } else {
                ViewCheckOption::Cascaded
            });
        }
        Ok(Statement::CreateView(Box::new(CreateView {
            alter,
            or_replace,
            if_not_exists,
            algorithm: head.algorithm,
            definer: head.definer,
            security: head.security,
            name,
            columns,
            query,
            query_text,
            check_option,
        })))
    }

    // Databases.

    fn database_options(&mut self) -> Res<DatabaseOptions> {
        let mut options = DatabaseOptions::default();
        loop {
            let had_default = self.at(Kw::DEFAULT);
            if had_default {
                self.bump();
            }
            if self.eat_charset_words() {
                self.eat_eq();
                options.charset = Some(if self.eat(Kw::DEFAULT) {
                    "DEFAULT".into()
                } else {
                    self.charset_name()?
                });
            } else if self.eat(Kw::COLLATE) {
                self.eat_eq();
                options.collation = Some(if self.eat(Kw::DEFAULT) {
                    "DEFAULT".into()
                } else {
                    self.charset_name()?
                });
            } else if !had_default && self.eat(Kw::COMMENT) {
                self.eat_eq();
                options.comment = Some(self.string()?);
            } else if had_default {
                return self.fail();
            } else {
                return Ok(options);
            }
        }
    }

    pub(super) fn alter_database(&mut self) -> Res<Statement> {
        self.bump();
        let is_option = match self.peek() {
            Tok::Kw(Kw::DEFAULT | Kw::COLLATE | Kw::CHARACTER | Kw::CHAR) => true,
            Tok::Kw(Kw::CHARSET | Kw::COMMENT) => {
                matches!(
                    self.peek_at(1),
                    Tok::Eq | Tok::Str | Tok::Ident | Tok::QuotedIdent
                )
            }
            _ => false,
        };
        let name = if is_option { None } else { Some(self.ident()?) };
        if name.is_some() && self.eat(Kw::UPGRADE) {
            self.expect_seq(&[Kw::DATA, Kw::DIRECTORY, Kw::NAME])?;
            return Ok(Statement::AlterDatabase(AlterDatabase {
                name,
                options: DatabaseOptions::default(),
                upgrade_data_directory_name: true,
            }));
        }
        let options = self.database_options()?;
        if options == DatabaseOptions::default() {
            return self.fail();
        }
        Ok(Statement::AlterDatabase(AlterDatabase {
            name,
            options,
            upgrade_data_directory_name: false,
        }))
    }

    // Indexes.

    fn create_index(&mut self, or_replace: bool) -> Res<Statement> {
        let kind = match self.eat_any(&[Kw::UNIQUE, Kw::FULLTEXT, Kw::SPATIAL]) {
            Some(Kw::UNIQUE) => IndexKind::Unique,
            Some(Kw::FULLTEXT) => IndexKind::FullText,
            Some(_) => IndexKind::Spatial,
            None => IndexKind::Index,
        };
        self.expect(Kw::INDEX)?;
        let if_not_exists = self.if_not_exists()?;
        let name = Some(self.ident()?);
        let mut options = IndexOptions::default();
        self.opt_index_algorithm(&mut options)?;
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        let mut wait = None;
        if self.at_any(&[Kw::WAIT, Kw::NOWAIT]) {
            wait = self.ddl_wait()?;
        }
        let parts = self.index_parts(kind == IndexKind::Unique)?;
        self.index_options(kind, &mut options)?;
        if wait.is_none() {
            wait = self.ddl_wait()?;
        }
        let (mut algorithm, mut lock) = (None, None);
        loop {
            if self.at(Kw::ALGORITHM) {
                algorithm = Some(self.alter_algorithm()?);
            } else if self.at(Kw::LOCK) {
                lock = Some(self.alter_lock()?);
            } else {
                break;
            }
        }
        let index = IndexDef {
            kind,
            if_not_exists,
            constraint: None,
            name,
            parts,
            options,
        };
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            or_replace,
            table,
            index,
            wait,
            algorithm,
            lock,
        })))
    }

    fn drop_index(&mut self) -> Res<Statement> {
        let if_exists = self.if_exists()?;
        let name = self.index_name()?;
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        let wait = self.ddl_wait()?;
        let (mut algorithm, mut lock) = (None, None);
        loop {
            if self.at(Kw::ALGORITHM) {
                algorithm = Some(self.alter_algorithm()?);
            } else if self.at(Kw::LOCK) {
                lock = Some(self.alter_lock()?);
            } else {
                break;
            }
        }
        Ok(Statement::DropIndex(DropIndex {
            if_exists,
            name,
            table,
            wait,
            algorithm,
            lock,
        }))
    }

    // Sequences.

    fn create_sequence(&mut self, or_replace: bool, temporary: bool) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let options = self.sequence_options(false)?;
        let table_options = self.table_options()?;
        Ok(Statement::CreateSequence(Box::new(CreateSequence {
            or_replace,
            temporary,
            if_not_exists,
            name,
            options,
            table_options,
        })))
    }

    pub(super) fn alter_sequence(&mut self) -> Res<Statement> {
        self.expect(Kw::SEQUENCE)?;
        let if_exists = self.if_exists()?;
        let name = self.object_name()?;
        let options = self.sequence_options(true)?;
        if options.is_empty() {
            return self.fail();
        }
        Ok(Statement::AlterSequence(AlterSequence {
            if_exists,
            name,
            options,
        }))
    }

    fn sequence_options(&mut self, alter: bool) -> Res<Vec<SequenceOption>> {
        let mut options = Vec::new();
        loop {
            let kw = match self.peek() {
                Tok::Kw(kw) => kw,
                _ => return Ok(options),
            };
            let option = match kw {
                Kw::START => {
                    self.bump();
                    if !self.eat(Kw::WITH) {
                        self.eat_eq();
                    }
                    SequenceOption::Start(self.signed_number()?)
                }
                Kw::INCREMENT => {
                    self.bump();
                    if !self.eat(Kw::BY) {
                        self.eat_eq();
                    }
                    SequenceOption::Increment(self.signed_number()?)
                }
                Kw::MINVALUE => {
                    self.bump();
                    self.eat_eq();
                    SequenceOption::MinValue(self.signed_number()?)
                }
                Kw::MAXVALUE => {
                    self.bump();
                    self.eat_eq();
                    SequenceOption::MaxValue(self.signed_number()?)
                }
                Kw::CACHE => {
                    self.bump();
                    self.eat_eq();
                    SequenceOption::Cache(self.signed_number()?)
                }
                Kw::CYCLE => {
                    self.bump();
                    SequenceOption::Cycle
                }
                Kw::NOMINVALUE | Kw::NOMAXVALUE | Kw::NOCACHE | Kw::NOCYCLE => {
                    self.bump();
                    match kw {
                        Kw::NOMINVALUE => SequenceOption::NoMinValue,
                        Kw::NOMAXVALUE => SequenceOption::NoMaxValue,
                        Kw::NOCACHE => SequenceOption::NoCache,
                        _ => SequenceOption::NoCycle,
                    }
                }
                Kw::NO => {
                    self.bump();
                    match self.expect_any(&[Kw::MINVALUE, Kw::MAXVALUE, Kw::CACHE, Kw::CYCLE])? {
                        Kw::MINVALUE => SequenceOption::NoMinValue,
                        Kw::MAXVALUE => SequenceOption::NoMaxValue,
                        Kw::CACHE => SequenceOption::NoCache,
                        _ => SequenceOption::NoCycle,
                    }
                }
                Kw::RESTART if alter => {
                    self.bump();
                    let value = if self.eat(Kw::WITH)
                        || self.eat_eq()
                        || matches!(self.peek(), Tok::Int | Tok::Minus)
                    {
                        Some(self.signed_number()?)
                    } else {
                        None
                    };
                    SequenceOption::Restart(value)
                }
                _ => return Ok(options),
            };
            options.push(option);
        }
    }

    // Servers.

    /// `CREATE SERVER` or `ALTER SERVER` was taken.
    pub(super) fn server_def(&mut self, alter: bool, or_replace: bool) -> Res<Statement> {
        let if_not_exists = !alter && self.if_not_exists()?;
        let name = self.ident_or_text()?;
        let mut wrapper = None;
        if !alter {
            self.expect_seq(&[Kw::FOREIGN, Kw::DATA, Kw::WRAPPER])?;
            wrapper = Some(self.ident_or_text()?);
        }
        self.expect(Kw::OPTIONS)?;
        let options = self.paren_list(|p| {
            let name = p.ident()?;
            let value = match p.peek() {
                Tok::Int => crate::ast::StrLit::new(p.number()?.to_string()),
                _ => p.str_lit()?,
            };
            Ok((name, value))
        })?;
        Ok(Statement::CreateServer(ServerDef {
            alter,
            or_replace,
            if_not_exists,
            name,
            wrapper,
            options,
        }))
    }

    // Dropping and renaming.

    pub(super) fn drop_statement(&mut self) -> Res<Statement> {
        self.expect(Kw::DROP)?;
        let temporary = self.eat(Kw::TEMPORARY);
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.fail(),
        };
        if temporary && !matches!(kw, Kw::TABLE | Kw::TABLES | Kw::SEQUENCE) {
            return self.fail();
        }
        self.bump();
        Ok(match kw {
            Kw::TABLE | Kw::TABLES => {
                let if_exists = self.if_exists()?;
                let names = self.list(Self::object_name)?;
                let wait = self.ddl_wait()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Statement::DropTables(DropTables {
                    temporary,
                    if_exists,
                    names,
                    wait,
                })
            }
            Kw::SEQUENCE => {
                let if_exists = self.if_exists()?;
                let names = self.list(Self::object_name)?;
                Statement::DropSequences(DropSequences {
                    temporary,
                    if_exists,
                    names,
                })
            }
            Kw::VIEW => {
                let if_exists = self.if_exists()?;
                let names = self.list(Self::object_name)?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Statement::DropViews(DropViews { if_exists, names })
            }
            Kw::DATABASE | Kw::SCHEMA => {
                let if_exists = self.if_exists()?;
                Statement::DropDatabase(DropDatabase {
                    if_exists,
                    name: self.ident()?,
                })
            }
            Kw::INDEX => self.drop_index()?,
            Kw::TRIGGER => {
                let if_exists = self.if_exists()?;
                Statement::DropTrigger {
                    if_exists,
                    name: self.object_name()?,
                }
            }
            Kw::PROCEDURE => {
                let if_exists = self.if_exists()?;
                Statement::DropProcedure {
                    if_exists,
                    name: self.object_name()?,
                }
            }
            Kw::FUNCTION => {
                let if_exists = self.if_exists()?;
                Statement::DropFunction {
                    if_exists,
                    name: self.object_name()?,
                }
            }
            Kw::EVENT => {
                let if_exists = self.if_exists()?;
                Statement::DropEvent {
                    if_exists,
                    name: self.object_name()?,
                }
            }
            Kw::SERVER => {
                let if_exists = self.if_exists()?;
                Statement::DropServer {
                    if_exists,
                    name: self.ident_or_text()?,
                }
            }
            Kw::USER => self.drop_users()?,
            Kw::ROLE => self.drop_roles()?,
            Kw::PREPARE => Statement::Deallocate(self.ident()?),
            _ => {
                self.pos -= 1;
                return self.fail();
            }
        })
    }

    pub(super) fn rename(&mut self) -> Res<Statement> {
        self.expect(Kw::RENAME)?;
        if self.eat(Kw::USER) {
            return self.rename_users();
        }
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let if_exists = self.if_exists()?;
        let renames = self.list(|p| {
            let from: ObjectName = p.object_name()?;
            let wait = p.ddl_wait()?;
            p.expect(Kw::TO)?;
            Ok(TableRename {
                from,
                wait,
                to: p.object_name()?,
            })
        })?;
        Ok(Statement::RenameTables(RenameTables { if_exists, renames }))
    }

    pub(super) fn truncate(&mut self) -> Res<Statement> {
        self.expect(Kw::TRUNCATE)?;
        self.eat(Kw::TABLE);
        let name = self.object_name()?;
        let wait = self.ddl_wait()?;
        self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
        Ok(Statement::TruncateTable(TruncateTable { name, wait }))
    }
}
