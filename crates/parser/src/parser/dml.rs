//! Statements that change rows, `LOAD DATA`, `CALL`, `DO`, `HANDLER`.

use super::Parser;
use crate::ast::{
    Assignment, BinaryOp, Call, ColumnRef, Delete, DeleteTarget, Expr, Handler, HandlerMove,
    HandlerScan, Insert, InsertSource, LoadData, LoadDuplicates, LoadTarget, ObjectName, Statement,
    SystemTime, TableRef, Update, WritePriority,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// An expression, `DEFAULT` or `IGNORE` as a value to store.
    fn value(&mut self) -> Res<Expr> {
        if self.at(Kw::DEFAULT) && self.peek_at(1) != Tok::LParen {
            self.bump();
            return Ok(Expr::Default(None));
        }
        if self.eat(Kw::IGNORE) {
            return Ok(Expr::Ignore);
        }
        self.expr()
    }

    /// `(1, DEFAULT, …)` or `()`
    pub(super) fn value_row(&mut self) -> Res<Vec<Expr>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let row = self.list(Self::value)?;
        self.expect_tok(Tok::RParen)?;
        Ok(row)
    }

    fn assignment(&mut self) -> Res<Assignment> {
        let column = self.column_ref()?;
        if !self.eat_tok(Tok::Eq) {
            self.expect_tok(Tok::Assign)?;
        }
        Ok(Assignment {
            column,
            value: self.value()?,
        })
    }

    /// `INSERT` and `REPLACE`
    pub(super) fn insert(&mut self) -> Res<Statement> {
        let replace = self.expect_any(&[Kw::INSERT, Kw::REPLACE])? == Kw::REPLACE;
        let words: &[Kw] = if replace {
            &[Kw::LOW_PRIORITY, Kw::DELAYED]
        } else {
            &[Kw::LOW_PRIORITY, Kw::DELAYED, Kw::HIGH_PRIORITY]
        };
        let priority = match self.eat_any(words) {
            Some(Kw::LOW_PRIORITY) => WritePriority::Low,
            Some(Kw::DELAYED) => WritePriority::Delayed,
            Some(_) => WritePriority::High,
            None => WritePriority::Normal,
        };
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.eat(Kw::INTO);
        let table = self.object_name()?;
        let partitions = self.opt_partition_list()?;
        let mut columns = None;
        let source = if self.eat(Kw::SET) {
            let (names, values) = self
                .list(Self::assignment)?
                .into_iter()
                .map(|a| (a.column, a.value))
                .unzip::<_, _, Vec<_>, Vec<_>>();
            columns = Some(names);
            InsertSource::Set(values)
        } else {
            if self.at_tok(Tok::LParen) && !self.at_query() {
                columns = Some(self.column_list()?);
            }
            self.insert_source()?
        };
        let mut on_duplicate = Vec::new();
        if !replace && self.eat(Kw::ON) {
            self.expect_seq(&[Kw::DUPLICATE, Kw::KEY, Kw::UPDATE])?;
            on_duplicate = self.list(Self::assignment)?;
        }
        let returning = self.opt_returning()?;
        Ok(Statement::Insert(Box::new(Insert {
            replace,
            priority,
            ignore,
            table,
            partitions,
            columns,
            source,
            on_duplicate,
            returning,
        })))
    }

    fn column_list(&mut self) -> Res<Vec<ColumnRef>> {
        self.expect_tok(Tok::LParen)?;
        let columns = if self.at_tok(Tok::RParen) {
            Vec::new()
        } else {
            self.list(Self::column_ref)?
        };
        self.expect_tok(Tok::RParen)?;
        Ok(columns)
    }

    fn insert_source(&mut self) -> Res<InsertSource> {
        if self.eat_any(&[Kw::VALUES, Kw::VALUE]).is_some() {
            return Ok(InsertSource::Values(self.list(Self::value_row)?));
        }
        if !self.at_query() {
            return self.fail();
        }
        Ok(InsertSource::Query(Box::new(self.query()?)))
    }

    /// Table references, or one table with the portion of a period.
    fn update_tables(&mut self) -> Res<Vec<TableRef>> {
        let mark = self.mark();
        if self.at_ident() {
            let mut table = self.unaliased_table()?;
            if table.portion.is_some() {
                table.alias = self.opt_table_alias()?;
                return Ok(vec![TableRef::Table(Box::new(table))]);
            }
            self.reset(mark);
        }
        self.list(Self::table_ref)
    }

    pub(super) fn update(&mut self) -> Res<Statement> {
        self.expect(Kw::UPDATE)?;
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let ignore = self.eat(Kw::IGNORE);
        let tables = self.update_tables()?;
        self.expect(Kw::SET)?;
        let assignments = self.list(Self::assignment)?;
        let where_clause = self.opt_where()?;
        let order_by = self.opt_order_by()?;
        let limit = self.simple_limit()?;
        Ok(Statement::Update(Box::new(Update {
            low_priority,
            ignore,
            tables,
            assignments,
            where_clause,
            order_by,
            limit,
        })))
    }

    pub(super) fn delete(&mut self) -> Res<Statement> {
        self.expect(Kw::DELETE)?;
        let mut delete = Delete {
            low_priority: false,
            quick: false,
            ignore: false,
            target: DeleteTarget::Multi {
                tables: Vec::new(),
                from: Vec::new(),
            },
            where_clause: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        if self.at(Kw::HISTORY) && self.peek_at(1) == Tok::Kw(Kw::FROM) {
            self.bump();
            self.bump();
            delete.target = self.delete_history()?;
            return Ok(Statement::Delete(Box::new(delete)));
        }
        loop {
            match self.peek() {
                Tok::Kw(Kw::LOW_PRIORITY) => delete.low_priority = true,
                Tok::Kw(Kw::QUICK) if !matches!(self.peek_at(1), Tok::Comma | Tok::Dot) => {
                    delete.quick = true
                }
                Tok::Kw(Kw::IGNORE) => delete.ignore = true,
                _ => break,
            }
            self.bump();
        }
        if !self.eat(Kw::FROM) {
            let tables = self.list(Self::table_wild)?;
            self.expect(Kw::FROM)?;
            let from = self.list(Self::table_ref)?;
            delete.target = DeleteTarget::Multi { tables, from };
            delete.where_clause = self.opt_where()?;
            return Ok(Statement::Delete(Box::new(delete)));
        }
        let mark = self.mark();
        self.table_wild()?;
        if self.at_tok(Tok::Comma) || self.at(Kw::USING) {
            self.reset(mark);
            let tables = self.list(Self::table_wild)?;
            self.expect(Kw::USING)?;
            let from = self.list(Self::table_ref)?;
            delete.target = DeleteTarget::Multi { tables, from };
            delete.where_clause = self.opt_where()?;
            return Ok(Statement::Delete(Box::new(delete)));
        }
        self.reset(mark);
        delete.target = DeleteTarget::Single(Box::new(self.unaliased_table()?));
        delete.where_clause = self.opt_where()?;
        delete.order_by = self.opt_order_by()?;
        delete.limit = self.simple_limit()?;
        delete.returning = self.opt_returning()?;
        Ok(Statement::Delete(Box::new(delete)))
    }

    fn delete_history(&mut self) -> Res<DeleteTarget> {
        let table = self.object_name()?;
        let partitions = self.opt_partition_list()?;
        let mut before = None;
        if self.eat(Kw::BEFORE) {
            self.expect(Kw::SYSTEM_TIME)?;
            before = Some(SystemTime::Before(self.system_time_point()?));
        }
        Ok(DeleteTarget::History {
            table,
            partitions,
            before,
        })
    }

    /// `t`, `t.*`, `db.t`, `db.t.*`
    fn table_wild(&mut self) -> Res<ObjectName> {
        let first = self.ident()?;
        let mut name = ObjectName::bare(first);
        if self.at_tok(Tok::Dot) && self.peek_at(1) != Tok::Star {
            self.bump();
            let second = self.ident()?;
            name = ObjectName {
                db: Some(name.name),
                name: second,
            };
        }
        if self.eat_tok(Tok::Dot) {
            self.expect_tok(Tok::Star)?;
        }
        Ok(name)
    }

    /// `LOAD` was taken.
    pub(super) fn load_data(&mut self) -> Res<Statement> {
        let xml = self.expect_any(&[Kw::DATA, Kw::XML])? == Kw::XML;
        let priority = self.eat_any(&[Kw::LOW_PRIORITY, Kw::CONCURRENT]);
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let path = self.str_lit()?;
        let on_duplicate = match self.eat_any(&[Kw::REPLACE, Kw::IGNORE]) {
            Some(Kw::REPLACE) => LoadDuplicates::Replace,
            Some(_) => LoadDuplicates::Ignore,
            None => LoadDuplicates::Error,
        };
        self.expect_seq(&[Kw::INTO, Kw::TABLE])?;
        let table = self.object_name()?;
        let partitions = self.opt_partition_list()?;
        let charset = self.opt_file_charset()?;
        let mut rows_identified_by = None;
        if xml && self.eat_seq(&[Kw::ROWS, Kw::IDENTIFIED]) {
            self.expect(Kw::BY)?;
            rows_identified_by = Some(self.text_bytes()?);
        }
        let fields = self.fields_clause()?;
        let lines = self.lines_clause()?;
        let mut ignore_lines = 0;
        if self.eat(Kw::IGNORE) {
            ignore_lines = self.number()?;
            self.expect_any(&[Kw::LINES, Kw::ROWS])?;
        }
        let mut targets = Vec::new();
        if self.eat_tok(Tok::LParen) && !self.eat_tok(Tok::RParen) {
            targets = self.list(|p| {
                if p.at_tok(Tok::UserVar) {
                    return Ok(LoadTarget::UserVar(p.user_var()?));
                }
                Ok(LoadTarget::Column(p.column_ref()?))
            })?;
            self.expect_tok(Tok::RParen)?;
        }
        let set = if self.eat(Kw::SET) {
            self.list(Self::assignment)?
        } else {
            Vec::new()
        };
        Ok(Statement::LoadData(Box::new(LoadData {
            xml,
            low_priority: priority == Some(Kw::LOW_PRIORITY),
            concurrent: priority == Some(Kw::CONCURRENT),
            local,
            path,
            on_duplicate,
            table,
            partitions,
            charset,
            rows_identified_by,
            fields,
            lines,
            ignore_lines,
            targets,
            set,
        })))
    }

    pub(super) fn call_statement(&mut self) -> Res<Statement> {
        self.expect(Kw::CALL)?;
        let first = self.ident()?;
        let mut name = ObjectName::bare(first);
        if self.eat_tok(Tok::Dot) {
            name = ObjectName {
                db: Some(name.name),
                name: self.ident()?,
            };
        }
        let args = if self.at_tok(Tok::LParen) {
            self.parens(Self::args_until_paren)?
        } else {
            Vec::new()
        };
        Ok(Statement::Call(Call { name, args }))
    }

    pub(super) fn do_statement(&mut self) -> Res<Statement> {
        self.expect(Kw::DO)?;
        let exprs = self.list(|p| {
            let expr = p.expr()?;
            if p.eat(Kw::AS) || p.at_ident() || p.at_tok(Tok::Str) {
                p.ident_or_text()?;
            }
            Ok(expr)
        })?;
        Ok(Statement::Do(exprs))
    }

    pub(super) fn handler(&mut self) -> Res<Statement> {
        self.expect(Kw::HANDLER)?;
        let table = self.object_name()?;
        if table.db.is_some() && !self.at(Kw::OPEN) {
            return self.fail();
        }
        let handler = match self.expect_any(&[Kw::OPEN, Kw::CLOSE, Kw::READ])? {
            Kw::OPEN => Handler::Open {
                table,
                alias: self.opt_table_alias()?,
            },
            Kw::CLOSE => Handler::Close(table),
            _ => {
                let scan = self.handler_scan()?;
                let where_clause = self.opt_where()?;
                Handler::Read {
                    table,
                    scan,
                    where_clause,
                    limit: self.limit()?,
                }
            }
        };
        Ok(Statement::Handler(Box::new(handler)))
    }

    fn handler_scan(&mut self) -> Res<HandlerScan> {
        // `FIRST` and `NEXT` may be indexes' names too.
        let next = self.peek_at(1);
        let named = matches!(
            next,
            Tok::Eq
                | Tok::Lt
                | Tok::Le
                | Tok::Gt
                | Tok::Ge
                | Tok::Kw(Kw::FIRST | Kw::NEXT | Kw::PREV | Kw::LAST)
        );
        if !named && let Some(kw) = self.eat_any(&[Kw::FIRST, Kw::NEXT]) {
            return Ok(HandlerScan::Table(if kw == Kw::FIRST {
                HandlerMove::First
            } else {
                HandlerMove::Next
            }));
        }
        let index = self.ident()?;
        let op = match self.peek() {
            Tok::Eq => BinaryOp::Eq,
            Tok::Lt => BinaryOp::Lt,
            Tok::Le => BinaryOp::Le,
            Tok::Gt => BinaryOp::Gt,
            Tok::Ge => BinaryOp::Ge,
            _ => {
                let step = match self.expect_any(&[Kw::FIRST, Kw::NEXT, Kw::PREV, Kw::LAST])? {
                    Kw::FIRST => HandlerMove::First,
                    Kw::NEXT => HandlerMove::Next,
                    Kw::PREV => HandlerMove::Prev,
                    _ => HandlerMove::Last,
                };
                return Ok(HandlerScan::Index { index, step });
            }
        };
        self.bump();
        Ok(HandlerScan::Key {
            index,
            op,
            values: self.value_row()?,
        })
    }
}
