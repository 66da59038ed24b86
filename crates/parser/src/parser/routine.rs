//! Routines and the compound statements of stored programs.

use super::Parser;
use crate::ast::{
    AlterRoutine, Block, Compound, ConditionValue, CreateRoutine, CreateUdf, DataAccess,
    Declaration, Definer, Expr, HandlerKind, Ident, IfBranch, ParamMode, RoutineCharacteristics,
    RoutineParam, Statement, UdfType, VarType,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

fn compound(compound: Compound) -> Statement {
    Statement::Compound(Box::new(compound))
}

impl Parser<'_> {
    /// A stored program's body and its text.
    pub(super) fn program_body(&mut self) -> Res<(Box<Statement>, String)> {
        let start = self.next_start();
        let body = self.inside_program(Self::statement)?;
        Ok((Box::new(body), self.text_from(start)))
    }

    fn inside_program<T>(&mut self, rule: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let outer = std::mem::replace(&mut self.in_program, true);
        let result = rule(self);
        self.in_program = outer;
        result
    }

    // Routines.

    /// `PROCEDURE` was taken.
    pub(super) fn create_procedure(
        &mut self,
        or_replace: bool,
        definer: Option<Definer>,
    ) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let (params, params_text) = self.routine_params()?;
        let characteristics = self.characteristics()?;
        let (body, body_text) = self.program_body()?;
        Ok(Statement::CreateProcedure(Box::new(CreateRoutine {
            or_replace,
            if_not_exists,
            definer,
            name,
            aggregate: false,
            params,
            params_text,
            returns: None,
            returns_text: String::new(),
            characteristics,
            body,
            body_text,
        })))
    }

    /// `[AGGREGATE] FUNCTION` was taken.
    pub(super) fn create_function(
        &mut self,
        or_replace: bool,
        definer: Option<Definer>,
        aggregate: bool,
    ) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        if definer.is_none() && name.db.is_none() && self.at(Kw::RETURNS) {
            return self.create_udf(or_replace, if_not_exists, aggregate, name.name);
        }
        let (params, params_text) = self.routine_params()?;
        self.expect(Kw::RETURNS)?;
        let start = self.next_start();
        if self.at(Kw::ROW) && self.peek_at(1) == Tok::LParen {
            return self.fail();
        }
        let returns = Some(self.var_type()?);
        let returns_text = self.text_from(start);
        let characteristics = self.characteristics()?;
        let (body, body_text) = self.program_body()?;
        Ok(Statement::CreateFunction(Box::new(CreateRoutine {
            or_replace,
            if_not_exists,
            definer,
            name,
            aggregate,
            params,
            params_text,
            returns,
            returns_text,
            characteristics,
            body,
            body_text,
        })))
    }

    fn create_udf(
        &mut self,
        or_replace: bool,
        if_not_exists: bool,
        aggregate: bool,
        name: Ident,
    ) -> Res<Statement> {
        self.expect(Kw::RETURNS)?;
        let words = [Kw::STRING, Kw::REAL, Kw::INT, Kw::INTEGER, Kw::DECIMAL];
        let returns = match self.expect_any(&words)? {
            Kw::STRING => UdfType::String,
            Kw::REAL => UdfType::Real,
            Kw::DECIMAL => UdfType::Decimal,
            _ => UdfType::Int,
        };
        self.expect(Kw::SONAME)?;
        let soname = self.string()?;
        Ok(Statement::CreateUdf(CreateUdf {
            or_replace,
            if_not_exists,
            aggregate,
            name,
            returns,
            soname,
        }))
    }

    pub(super) fn alter_routine(&mut self) -> Res<Statement> {
        let function = self.expect_any(&[Kw::PROCEDURE, Kw::FUNCTION])? == Kw::FUNCTION;
        let name = self.object_name()?;
        let characteristics = self.characteristics()?;
        Ok(Statement::AlterRoutine(AlterRoutine {
            function,
            name,
            characteristics,
        }))
    }

    /// `(…)` and its text.
    fn routine_params(&mut self) -> Res<(Vec<RoutineParam>, String)> {
        self.expect_tok(Tok::LParen)?;
        let start = self.tokens[self.pos - 1].end as usize;
        let params = if self.at_tok(Tok::RParen) {
            Vec::new()
        } else {
            self.list(Self::routine_param)?
        };
        let end = self.next_start();
        self.expect_tok(Tok::RParen)?;
        Ok((params, crate::literal::text(&self.src[start..end])))
    }

    fn routine_param(&mut self) -> Res<RoutineParam> {
        let mode = match self.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]) {
            Some(Kw::OUT) => ParamMode::Out,
            Some(Kw::INOUT) => ParamMode::InOut,
            _ => ParamMode::In,
        };
        let name = self.ident()?;
        Ok(RoutineParam {
            mode,
            name,
            ty: self.var_type()?,
        })
    }

    fn var_type(&mut self) -> Res<VarType> {
        if self.at_seq(&[Kw::TYPE, Kw::OF]) {
            self.bump();
            self.bump();
            let column = self.column_ref()?;
            return Ok(match column.table {
                Some(table) => VarType::TypeOf {
                    db: column.db,
                    table,
                    column: column.name,
                },
                None => VarType::TypeOfVar(column.name),
            });
        }
        if self.at_seq(&[Kw::ROW, Kw::TYPE]) {
            self.bump();
            self.bump();
            self.expect(Kw::OF)?;
            return Ok(VarType::RowTypeOf(self.object_name()?));
        }
        if self.at(Kw::ROW) && self.peek_at(1) == Tok::LParen {
            self.bump();
            let fields = self.paren_list(|p| {
                let name = p.ident()?;
                if p.at(Kw::ROW) {
                    return p.fail();
                }
                Ok((name, p.var_type()?))
            })?;
            return Ok(VarType::Row(fields));
        }
        if self.at(Kw::SERIAL) {
            return self.fail();
        }
        let mut ty = self.data_type()?;
        if self.eat(Kw::COLLATE) {
            let collation = self.charset_or_default_name()?;
            super::create_table::set_collation(&mut ty, collation);
        }
        Ok(VarType::Data(ty))
    }

    fn characteristics(&mut self) -> Res<RoutineCharacteristics> {
        let mut characteristics = RoutineCharacteristics::default();
        loop {
            let next = self.peek_at(1);
            match self.peek() {
                Tok::Kw(Kw::COMMENT) => {
                    self.bump();
                    characteristics.comment = Some(self.string()?);
                }
                Tok::Kw(Kw::LANGUAGE) => {
                    self.bump();
                    self.expect(Kw::SQL)?;
                }
                Tok::Kw(Kw::DETERMINISTIC) => {
                    self.bump();
                    characteristics.deterministic = Some(true);
                }
                Tok::Kw(Kw::NOT) if next == Tok::Kw(Kw::DETERMINISTIC) => {
                    self.bump();
                    self.bump();
                    characteristics.deterministic = Some(false);
                }
                Tok::Kw(Kw::CONTAINS) => {
                    self.bump();
                    self.expect(Kw::SQL)?;
                    characteristics.data_access = Some(DataAccess::ContainsSql);
                }
                Tok::Kw(Kw::NO) => {
                    self.bump();
                    self.expect(Kw::SQL)?;
                    characteristics.data_access = Some(DataAccess::NoSql);
                }
                Tok::Kw(Kw::READS) => {
                    self.bump();
                    self.expect_seq(&[Kw::SQL, Kw::DATA])?;
                    characteristics.data_access = Some(DataAccess::ReadsSqlData);
                }
                Tok::Kw(Kw::MODIFIES) => {
                    self.bump();
                    self.expect_seq(&[Kw::SQL, Kw::DATA])?;
                    characteristics.data_access = Some(DataAccess::ModifiesSqlData);
                }
                Tok::Kw(Kw::SQL) => {
                    let security = self.opt_sql_security()?;
                    if security.is_none() {
                        self.bump();
                        return self.fail();
                    }
                    characteristics.security = security;
                }
                _ => return Ok(characteristics),
            }
        }
    }

    // Compound statements.

    /// `label: …`
    pub(super) fn labelled(&mut self) -> Res<Statement> {
        let label = self.take_ident();
        self.expect_tok(Tok::Colon)?;
        if !self.at_any(&[Kw::BEGIN, Kw::LOOP, Kw::WHILE, Kw::REPEAT, Kw::FOR]) {
            return self.fail();
        }
        self.compound(Some(label))
    }

    /// A compound statement; it begins with the word that decides which.
    pub(super) fn compound(&mut self, label: Option<Ident>) -> Res<Statement> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.fail(),
        };
        let only_inside = matches!(
            kw,
            Kw::RETURN | Kw::LEAVE | Kw::ITERATE | Kw::OPEN | Kw::FETCH | Kw::CLOSE
        );
        if only_inside && !self.in_program {
            return self.fail();
        }
        self.inside_program_of(kw, label)
    }

    fn inside_program_of(&mut self, kw: Kw, label: Option<Ident>) -> Res<Statement> {
        let top = !self.in_program;
        self.inside_program(|p| {
            p.bump();
            match kw {
                Kw::BEGIN => p.block(label, top),
                Kw::IF => p.if_statement(),
                Kw::CASE => p.case_statement(),
                Kw::LOOP => {
                    let body = p.statements(&[Kw::END])?;
                    p.expect_seq(&[Kw::END, Kw::LOOP])?;
                    p.end_label(&label)?;
                    Ok(compound(Compound::Loop { label, body }))
                }
                Kw::WHILE => {
                    let condition = p.expr()?;
                    p.expect(Kw::DO)?;
                    let body = p.statements(&[Kw::END])?;
                    p.expect_seq(&[Kw::END, Kw::WHILE])?;
                    p.end_label(&label)?;
                    Ok(compound(Compound::While {
                        label,
                        condition,
                        body,
                    }))
                }
                Kw::REPEAT => {
                    let body = p.statements(&[Kw::UNTIL])?;
                    p.expect(Kw::UNTIL)?;
                    let until = p.expr()?;
                    p.expect_seq(&[Kw::END, Kw::REPEAT])?;
                    p.end_label(&label)?;
                    Ok(compound(Compound::Repeat { label, body, until }))
                }
                Kw::FOR => p.for_loop(label),
                Kw::RETURN => Ok(compound(Compound::Return(p.expr()?))),
                Kw::LEAVE => Ok(compound(Compound::Leave(p.ident()?))),
                Kw::ITERATE => Ok(compound(Compound::Iterate(p.ident()?))),
                Kw::OPEN => {
                    let name = p.ident()?;
                    let args = if p.at_tok(Tok::LParen) {
                        p.parens(Self::args_until_paren)?
                    } else {
                        Vec::new()
                    };
                    Ok(compound(Compound::OpenCursor { name, args }))
                }
                Kw::FETCH => p.fetch(),
                Kw::CLOSE => Ok(compound(Compound::CloseCursor(p.ident()?))),
                _ => p.fail(),
            }
        })
    }

    /// The label behind an `END`, which has to be that at the beginning.
    fn end_label(&mut self, label: &Option<Ident>) -> Res<()> {
        let Some(label) = label else {
            return Ok(());
        };
        match self.opt_ident() {
            Some(end) if !label.is(&end.value) => {
                self.other(1310, format!("End-label {} without match", end.value))
            }
            _ => Ok(()),
        }
    }

    /// Statements, each with its `;`, up to one of these words.
    fn statements(&mut self, until: &[Kw]) -> Res<Vec<Statement>> {
        let mut list = Vec::new();
        loop {
            list.push(self.statement()?);
            self.expect_tok(Tok::Semicolon)?;
            if self.at_any(until) {
                return Ok(list);
            }
        }
    }

    /// `BEGIN` was taken.
    fn block(&mut self, label: Option<Ident>, top: bool) -> Res<Statement> {
        let not_atomic = if top {
            self.expect_seq(&[Kw::NOT, Kw::ATOMIC])?;
            true
        } else {
            let found = self.eat(Kw::NOT);
            if found {
                self.expect(Kw::ATOMIC)?;
            }
            found
        };
        let mut declarations = Vec::new();
        while self.eat(Kw::DECLARE) {
            declarations.push(self.declaration()?);
            self.expect_tok(Tok::Semicolon)?;
        }
        let body = if self.at(Kw::END) {
            Vec::new()
        } else {
            self.statements(&[Kw::END])?
        };
        self.expect(Kw::END)?;
        self.end_label(&label)?;
        Ok(compound(Compound::Block(Block {
            label,
            not_atomic,
            declarations,
            body,
        })))
    }

    fn declaration(&mut self) -> Res<Declaration> {
        if let Some(kw) = self.eat_any(&[Kw::CONTINUE, Kw::EXIT]) {
            let kind = if kw == Kw::CONTINUE {
                HandlerKind::Continue
            } else {
                HandlerKind::Exit
            };
            self.expect_seq(&[Kw::HANDLER, Kw::FOR])?;
            let conditions = self.list(Self::condition_value)?;
            let body = Box::new(self.statement()?);
            return Ok(Declaration::Handler {
                kind,
                conditions,
                body,
            });
        }
        let name = self.ident()?;
        if self.eat(Kw::CONDITION) {
            self.expect(Kw::FOR)?;
            let value = match self.peek() {
                Tok::Int | Tok::HexNum => ConditionValue::Code(self.number()?),
                _ => ConditionValue::SqlState(self.sqlstate()?),
            };
            return Ok(Declaration::Condition { name, value });
        }
        if self.eat(Kw::CURSOR) {
            let mut params = Vec::new();
            if self.eat_tok(Tok::LParen) {
                params = self.list(Self::routine_param)?;
                self.expect_tok(Tok::RParen)?;
            }
            self.expect(Kw::FOR)?;
            if !self.at_query() {
                return self.fail();
            }
            return Ok(Declaration::Cursor {
                name,
                params,
                query: Box::new(self.query_statement()?),
            });
        }
        let mut names = vec![name];
        while self.eat_tok(Tok::Comma) {
            names.push(self.ident()?);
        }
        let ty = self.var_type()?;
        let default = if self.eat(Kw::DEFAULT) || self.eat_tok(Tok::Assign) {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(Declaration::Vars { names, ty, default })
    }

    fn condition_value(&mut self) -> Res<ConditionValue> {
        match self.peek() {
            Tok::Int | Tok::HexNum => Ok(ConditionValue::Code(self.number()?)),
            Tok::Kw(Kw::SQLSTATE) => Ok(ConditionValue::SqlState(self.sqlstate()?)),
            Tok::Kw(Kw::SQLWARNING) => {
                self.bump();
                Ok(ConditionValue::SqlWarning)
            }
            Tok::Kw(Kw::SQLEXCEPTION) => {
                self.bump();
                Ok(ConditionValue::SqlException)
            }
            Tok::Kw(Kw::NOT) => {
                self.bump();
                self.expect(Kw::FOUND)?;
                Ok(ConditionValue::NotFound)
            }
            _ => Ok(ConditionValue::Named(self.ident()?)),
        }
    }

    /// `IF` was taken.
    fn if_statement(&mut self) -> Res<Statement> {
        let mut branches = Vec::new();
        let mut else_body = None;
        loop {
            let when = self.expr()?;
            self.expect(Kw::THEN)?;
            let then = self.statements(&[Kw::ELSEIF, Kw::ELSE, Kw::END])?;
            branches.push(IfBranch { when, then });
            if !self.eat(Kw::ELSEIF) {
                break;
            }
        }
        if self.eat(Kw::ELSE) {
            else_body = Some(self.statements(&[Kw::END])?);
        }
        self.expect_seq(&[Kw::END, Kw::IF])?;
        Ok(compound(Compound::If {
            branches,
            else_body,
        }))
    }

    /// `CASE` was taken.
    fn case_statement(&mut self) -> Res<Statement> {
        let operand = if self.at(Kw::WHEN) {
            None
        } else {
            Some(self.expr()?)
        };
        let mut branches = Vec::new();
        let mut else_body = None;
        self.expect(Kw::WHEN)?;
        loop {
            let when = self.expr()?;
            self.expect(Kw::THEN)?;
            let then = self.statements(&[Kw::WHEN, Kw::ELSE, Kw::END])?;
            branches.push(IfBranch { when, then });
            if !self.eat(Kw::WHEN) {
                break;
            }
        }
        if self.eat(Kw::ELSE) {
            else_body = Some(self.statements(&[Kw::END])?);
        }
        self.expect_seq(&[Kw::END, Kw::CASE])?;
        Ok(compound(Compound::Case {
            operand,
            branches,
            else_body,
        }))
    }

    /// `FOR` was taken.
    fn for_loop(&mut self, label: Option<Ident>) -> Res<Statement> {
        let var = self.ident()?;
        self.expect(Kw::IN)?;
        if self.at_query() {
            let query = Box::new(self.subquery()?);
            let body = self.loop_body(&label)?;
            return Ok(compound(Compound::ForQuery {
                label,
                var,
                query,
                body,
            }));
        }
        let reverse = self.eat(Kw::REVERSE);
        let low = self.expr()?;
        if self.eat_tok(Tok::DotDot) {
            let high = self.expr()?;
            let body = self.loop_body(&label)?;
            return Ok(compound(Compound::ForRange {
                label,
                var,
                reverse,
                low,
                high,
                body,
            }));
        }
        let (cursor, args) = match low {
            Expr::Column(column) if column.table.is_none() && !reverse => (column.name, Vec::new()),
            Expr::Function(call) if call.db.is_none() && !reverse => (call.name, call.args),
            _ => return self.fail(),
        };
        let body = self.loop_body(&label)?;
        Ok(compound(Compound::ForCursor {
            label,
            var,
            cursor,
            args,
            body,
        }))
    }

    /// `DO … END FOR`
    fn loop_body(&mut self, label: &Option<Ident>) -> Res<Vec<Statement>> {
        self.expect(Kw::DO)?;
        let body = self.statements(&[Kw::END])?;
        self.expect_seq(&[Kw::END, Kw::FOR])?;
        self.end_label(label)?;
        Ok(body)
    }

    /// `FETCH` was taken.
    fn fetch(&mut self) -> Res<Statement> {
        if self.eat(Kw::GROUP) {
            self.expect_seq(&[Kw::NEXT, Kw::ROW])?;
            return Ok(compound(Compound::FetchGroupNextRow));
        }
        if self.at(Kw::NEXT) && self.peek_at(1) == Tok::Kw(Kw::FROM) {
            self.bump();
        }
        self.eat(Kw::FROM);
        let name = self.ident()?;
        self.expect(Kw::INTO)?;
        let into = self.list(Self::target_var)?;
        Ok(compound(Compound::FetchCursor { name, into }))
    }
}
