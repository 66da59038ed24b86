//! Which statement it is, and the statements of a few words.

use super::Parser;
use crate::ast::{
    Completion, Execute, ExecuteImmediate, Explain, ExplainFormat, Expr, Help, Install, Kill,
    KillTarget, LockTable, LockTableMode, LockTables, Prepare, StartTransaction, Statement, Xa,
    Xid,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;
use crate::literal;

impl Parser<'_> {
    /// A statement of its own, which may be empty.
    pub(super) fn top_statement(&mut self) -> Res<Statement> {
        if matches!(self.peek(), Tok::Eof | Tok::Semicolon) {
            return Ok(Statement::Empty);
        }
        self.statement()
    }

    /// A statement, of its own or inside a stored program.
    pub(super) fn statement(&mut self) -> Res<Statement> {
        self.deeper(Self::any_statement)
    }

    fn any_statement(&mut self) -> Res<Statement> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            Tok::LParen => return Ok(Statement::Query(Box::new(self.query_statement()?))),
            Tok::Ident | Tok::QuotedIdent if self.in_program => {
                return self.labelled();
            }
            _ => return self.fail(),
        };
        if self.in_program && self.peek_at(1) == Tok::Colon && (kw.is_label() || kw == Kw::UNLOCK) {
            return self.labelled();
        }
        match kw {
            Kw::SELECT | Kw::WITH | Kw::VALUES => {
                Ok(Statement::Query(Box::new(self.query_statement()?)))
            }
            Kw::INSERT | Kw::REPLACE => self.insert(),
            Kw::UPDATE => self.update(),
            Kw::DELETE => self.delete(),
            Kw::LOAD => {
                self.bump();
                if self.at(Kw::INDEX) {
                    self.load_index()
                } else {
                    self.load_data()
                }
            }
            Kw::CALL => self.call_statement(),
            Kw::DO => self.do_statement(),
            Kw::HANDLER => self.handler(),
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop_statement(),
            Kw::RENAME => self.rename(),
            Kw::TRUNCATE => self.truncate(),
            Kw::GRANT => self.grant(),
            Kw::REVOKE => self.revoke(),
            Kw::SET => self.set(),
            Kw::USE => {
                self.bump();
                Ok(Statement::Use(self.ident()?))
            }
            Kw::SHOW => self.show(),
            Kw::DESC | Kw::DESCRIBE | Kw::EXPLAIN => self.explain(),
            Kw::HELP if !self.in_program => {
                self.bump();
                Ok(Statement::Help(Help {
                    topic: self.ident_or_text()?.value,
                }))
            }
            Kw::START => self.start(),
            Kw::STOP => self.stop_slave(),
            Kw::BEGIN => self.begin(),
            Kw::COMMIT => {
                self.bump();
                self.eat(Kw::WORK);
                Ok(Statement::Commit(self.completion()?))
            }
            Kw::ROLLBACK => self.rollback(),
            Kw::SAVEPOINT => {
                self.bump();
                Ok(Statement::Savepoint(self.ident()?))
            }
            Kw::RELEASE => {
                self.bump();
                self.expect(Kw::SAVEPOINT)?;
                Ok(Statement::ReleaseSavepoint(self.ident()?))
            }
            Kw::XA => self.xa(),
            Kw::LOCK => self.lock_tables(),
            Kw::UNLOCK => {
                self.bump();
                self.expect_any(&[Kw::TABLES, Kw::TABLE])?;
                Ok(Statement::UnlockTables)
            }
            Kw::PREPARE => self.prepare(),
            Kw::EXECUTE => self.execute(),
            Kw::DEALLOCATE => {
                self.bump();
                self.expect(Kw::PREPARE)?;
                Ok(Statement::Deallocate(self.ident()?))
            }
            Kw::KILL => self.kill(),
            Kw::FLUSH => self.flush(),
            Kw::RESET => self.reset_statement(),
            Kw::PURGE => self.purge(),
            Kw::CHANGE => self.change_master(),
            Kw::ANALYZE => self.analyze(),
            Kw::CHECK | Kw::OPTIMIZE | Kw::REPAIR | Kw::CHECKSUM => self.table_maintenance(kw),
            Kw::CACHE => self.cache_index(),
            Kw::INSTALL | Kw::UNINSTALL => self.install(),
            Kw::SHUTDOWN => {
                self.bump();
                let wait = self.eat(Kw::WAIT);
                if wait {
                    self.expect_seq(&[Kw::FOR, Kw::ALL])?;
                    self.expect_any(&[Kw::SLAVES, Kw::REPLICAS])?;
                }
                Ok(Statement::Shutdown {
                    wait_for_all_slaves: wait,
                })
            }
            Kw::BACKUP => self.backup(),
            Kw::BINLOG => {
                self.bump();
                if !self.at_tok(Tok::UserVar) {
                    let text = Expr::Literal(crate::ast::Literal::Str(self.str_lit()?));
                    return Ok(Statement::Binlog(vec![text]));
                }
                let first = Expr::UserVar(self.user_var()?);
                self.expect_tok(Tok::Comma)?;
                Ok(Statement::Binlog(vec![
                    first,
                    Expr::UserVar(self.user_var()?),
                ]))
            }
            Kw::SIGNAL | Kw::RESIGNAL => self.signal(),
            Kw::GET => self.get_diagnostics(),
            Kw::IF
            | Kw::CASE
            | Kw::LOOP
            | Kw::WHILE
            | Kw::REPEAT
            | Kw::FOR
            | Kw::RETURN
            | Kw::LEAVE
            | Kw::ITERATE
            | Kw::OPEN
            | Kw::FETCH
            | Kw::CLOSE => self.compound(None),
            _ => self.fail(),
        }
    }

    fn explain(&mut self) -> Res<Statement> {
        self.bump();
        let mut explain = Explain {
            analyze: false,
            extended: false,
            partitions: false,
            format: ExplainFormat::Traditional,
            statement: Box::new(Statement::Empty),
        };
        let next = self.peek_at(1);
        // A table may be called `extended`.
        let word_is_table = matches!(next, Tok::Eof | Tok::Semicolon | Tok::Dot);
        if !word_is_table {
            match self.peek() {
                Tok::Kw(Kw::EXTENDED) => {
                    self.bump();
                    self.eat(Kw::ALL);
                    explain.extended = true;
                }
                Tok::Kw(Kw::PARTITIONS) => {
                    self.bump();
                    explain.partitions = true;
                }
                Tok::Kw(Kw::FORMAT) if next == Tok::Eq => {
                    self.bump();
                    self.bump();
                    explain.format = self.explain_format()?;
                }
                _ => {}
            }
        }
        if self.eat(Kw::FOR) {
            self.eat(Kw::CONNECTION);
            let id = self.expr()?;
            return Ok(Statement::Show(Box::new(crate::ast::Show {
                kind: crate::ast::ShowKind::ExplainFor {
                    analyze: false,
                    format: explain.format,
                    extended: explain.extended,
                    id,
                },
                filter: None,
            })));
        }
        if self.at_explainable() {
            *explain.statement = self.statement()?;
            return Ok(Statement::Explain(explain));
        }
        self.describe_table(explain.extended)
    }

    pub(super) fn explain_format(&mut self) -> Res<ExplainFormat> {
        let word = self.ident_or_text()?;
        if word.is("JSON") {
            return Ok(ExplainFormat::Json);
        }
        if word.is("TRADITIONAL") {
            return Ok(ExplainFormat::Traditional);
        }
        self.other(
            1791,
            format!("Unknown EXPLAIN format name: '{}'", word.value),
        )
    }

    fn at_explainable(&mut self) -> bool {
        if self.at_tok(Tok::LParen) {
            return true;
        }
        self.at_any(&[
            Kw::SELECT,
            Kw::WITH,
            Kw::VALUES,
            Kw::INSERT,
            Kw::REPLACE,
            Kw::UPDATE,
            Kw::DELETE,
        ])
    }

    fn analyze(&mut self) -> Res<Statement> {
        let next = self.peek_at(1);
        if matches!(
            next,
            Tok::Kw(Kw::TABLE | Kw::TABLES | Kw::NO_WRITE_TO_BINLOG | Kw::LOCAL)
        ) {
            return self.table_maintenance(Kw::ANALYZE);
        }
        self.bump();
        let mut format = ExplainFormat::Traditional;
        if self.at(Kw::FORMAT) {
            self.bump();
            self.expect_tok(Tok::Eq)?;
            format = self.explain_format()?;
        }
        if !self.at_explainable() {
            return self.fail();
        }
        let statement = Box::new(self.statement()?);
        Ok(Statement::Explain(Explain {
            analyze: true,
            extended: false,
            partitions: false,
            format,
            statement,
        }))
    }

    // Transactions.

    fn start(&mut self) -> Res<Statement> {
        self.bump();
        if !self.eat(Kw::TRANSACTION) {
            return self.start_slave();
        }
        let mut start = StartTransaction::default();
        loop {
            if self.eat(Kw::WITH) {
                self.expect_seq(&[Kw::CONSISTENT, Kw::SNAPSHOT])?;
                start.consistent_snapshot = true;
            } else if self.eat(Kw::READ) {
                let read_only = self.expect_any(&[Kw::ONLY, Kw::WRITE])? == Kw::ONLY;
                if start.read_only.is_some_and(|before| before != read_only) {
                    return self.fail();
                }
                start.read_only = Some(read_only);
            } else if self.at_tok(Tok::Comma) || start != StartTransaction::default() {
                return self.fail();
            } else {
                break;
            }
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        Ok(Statement::StartTransaction(start))
    }

    fn begin(&mut self) -> Res<Statement> {
        if self.in_program || self.peek_at(1) == Tok::Kw(Kw::NOT) {
            return self.compound(None);
        }
        self.bump();
        self.eat(Kw::WORK);
        Ok(Statement::Begin)
    }

    fn completion(&mut self) -> Res<Completion> {
        let mut completion = Completion::default();
        if self.eat(Kw::AND) {
            completion.chain = Some(!self.eat(Kw::NO));
            self.expect(Kw::CHAIN)?;
        }
        if self.eat(Kw::RELEASE) {
            if completion.chain == Some(true) {
                self.pos -= 1;
                return self.fail();
            }
            completion.release = Some(true);
        } else if self.eat(Kw::NO) {
            self.expect(Kw::RELEASE)?;
            completion.release = Some(false);
        }
        Ok(completion)
    }

    fn rollback(&mut self) -> Res<Statement> {
        self.bump();
        self.eat(Kw::WORK);
        if self.eat(Kw::TO) {
            self.eat(Kw::SAVEPOINT);
            return Ok(Statement::RollbackTo(self.ident()?));
        }
        Ok(Statement::Rollback(self.completion()?))
    }

    fn xa(&mut self) -> Res<Statement> {
        self.bump();
        let words = [
            Kw::START,
            Kw::BEGIN,
            Kw::END,
            Kw::PREPARE,
            Kw::COMMIT,
            Kw::ROLLBACK,
            Kw::RECOVER,
        ];
        let xa = match self.expect_any(&words)? {
            Kw::START | Kw::BEGIN => {
                let xid = self.xid()?;
                let word = self.eat_any(&[Kw::JOIN, Kw::RESUME]);
                Xa::Start {
                    xid,
                    join: word == Some(Kw::JOIN),
                    resume: word == Some(Kw::RESUME),
                }
            }
            Kw::END => {
                let xid = self.xid()?;
                let suspend = self.eat(Kw::SUSPEND);
                let for_migrate = suspend && self.eat(Kw::FOR);
                if for_migrate {
                    self.expect(Kw::MIGRATE)?;
                }
                Xa::End {
                    xid,
                    suspend,
                    for_migrate,
                }
            }
            Kw::PREPARE => Xa::Prepare(self.xid()?),
            Kw::COMMIT => {
                let xid = self.xid()?;
                let one_phase = self.eat(Kw::ONE);
                if one_phase {
                    self.expect(Kw::PHASE)?;
                }
                Xa::Commit { xid, one_phase }
            }
            Kw::ROLLBACK => Xa::Rollback(self.xid()?),
            _ => {
                let mut format = None;
                if self.eat(Kw::FORMAT) {
                    self.expect_tok(Tok::Eq)?;
                    format = Some(self.ident_or_text()?);
                }
                Xa::Recover { format }
            }
        };
        Ok(Statement::Xa(xa))
    }

    fn xid(&mut self) -> Res<Xid> {
        let gtrid = self.text_bytes()?;
        let (mut bqual, mut format_id) = (Vec::new(), 1);
        let mut last = self.pos;
        if self.eat_tok(Tok::Comma) {
            bqual = self.text_bytes()?;
            if self.eat_tok(Tok::Comma) {
                last = self.pos;
                format_id = self.number()?;
            } else {
                last = self.pos;
            }
        }
        if gtrid.len() > 64 || bqual.len() > 64 || format_id > i32::MAX as u64 {
            self.pos = last;
            return self.fail();
        }
        Ok(Xid {
            gtrid,
            bqual,
            format_id,
        })
    }

    fn lock_tables(&mut self) -> Res<Statement> {
        self.bump();
        self.expect_any(&[Kw::TABLES, Kw::TABLE])?;
        let tables = self.list(|p| {
            let name = p.object_name()?;
            let alias = p.opt_table_alias()?;
            let words = [Kw::READ, Kw::WRITE, Kw::LOW_PRIORITY];
            let mode = match p.expect_any(&words)? {
                Kw::READ if p.eat(Kw::LOCAL) => LockTableMode::ReadLocal,
                Kw::READ => LockTableMode::Read,
                Kw::WRITE if p.eat(Kw::CONCURRENT) => LockTableMode::WriteConcurrent,
                Kw::WRITE => LockTableMode::Write,
                _ => {
                    p.expect(Kw::WRITE)?;
                    LockTableMode::LowPriorityWrite
                }
            };
            Ok(LockTable { name, alias, mode })
        })?;
        Ok(Statement::LockTables(LockTables {
            tables,
            wait: self.ddl_wait()?,
        }))
    }

    // Prepared statements.

    fn prepare(&mut self) -> Res<Statement> {
        self.bump();
        let name = self.ident()?;
        self.expect(Kw::FROM)?;
        Ok(Statement::Prepare(Prepare {
            name,
            source: self.expr()?,
        }))
    }

    fn execute(&mut self) -> Res<Statement> {
        self.bump();
        if self.eat(Kw::IMMEDIATE) {
            let source = self.expr()?;
            return Ok(Statement::ExecuteImmediate(ExecuteImmediate {
                source,
                using: self.execute_using()?,
            }));
        }
        let name = self.ident()?;
        Ok(Statement::Execute(Execute {
            name,
            using: self.execute_using()?,
        }))
    }

    fn execute_using(&mut self) -> Res<Vec<Expr>> {
        if !self.eat(Kw::USING) {
            return Ok(Vec::new());
        }
        self.list(|p| {
            if p.at(Kw::DEFAULT) && p.peek_at(1) != Tok::LParen {
                p.bump();
                return Ok(Expr::Default(None));
            }
            if p.eat(Kw::IGNORE) {
                return Ok(Expr::Ignore);
            }
            p.expr()
        })
    }

    // The server.

    fn kill(&mut self) -> Res<Statement> {
        self.bump();
        let soft = self.eat_any(&[Kw::HARD, Kw::SOFT]) == Some(Kw::SOFT);
        let kind = self.eat_any(&[Kw::CONNECTION, Kw::QUERY]);
        let query = kind == Some(Kw::QUERY);
        let target = if query && self.at(Kw::ID) {
            self.bump();
            if self.eat(Kw::USER) {
                KillTarget::User {
                    query,
                    user: self.user_name()?,
                }
            } else {
                KillTarget::QueryId(self.expr()?)
            }
        } else if self.eat(Kw::USER) {
            KillTarget::User {
                query,
                user: self.user_name()?,
            }
        } else if query {
            KillTarget::Query(self.expr()?)
        } else {
            KillTarget::Connection(self.expr()?)
        };
        Ok(Statement::Kill(Kill { soft, target }))
    }

    fn install(&mut self) -> Res<Statement> {
        let install = self.expect_any(&[Kw::INSTALL, Kw::UNINSTALL])? == Kw::INSTALL;
        let plugin = self.expect_any(&[Kw::PLUGIN, Kw::SONAME])? == Kw::PLUGIN;
        Ok(Statement::Install(match (install, plugin) {
            (true, true) => {
                let if_not_exists = self.if_not_exists()?;
                let name = Some(self.ident()?);
                self.expect(Kw::SONAME)?;
                Install::Plugin {
                    if_not_exists,
                    name,
                    soname: self.string()?,
                }
            }
            (true, false) => Install::Plugin {
                if_not_exists: false,
                name: None,
                soname: self.string()?,
            },
            (false, true) => Install::UninstallPlugin {
                if_exists: self.if_exists()?,
                name: self.ident()?,
            },
            (false, false) => Install::UninstallSoname {
                if_exists: self.if_exists()?,
                soname: self.string()?,
            },
        }))
    }

    /// The bytes of the next token as text.
    pub(super) fn token_text(&self) -> String {
        literal::text(self.token_bytes(self.pos))
    }
}
