//! `CREATE TABLE`: columns, indexes, constraints, options.

use super::Parser;
use crate::ast::{
    CheckDef, ColumnDef, CreateTable, CreateTableQuery, DataType, DefaultValue, ForeignKeyDef,
    GeneratedColumn, Ident, IndexAlgorithm, IndexDef, IndexKind, IndexOptions, IndexPart,
    InsertMethod, MatchKind, NamedOption, OnDuplicateRow, OptionValue, PeriodDef, ReferenceAction,
    References, RowBound, RowFormat, Statement, TableElement, TableOption,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// `CREATE [OR REPLACE] [TEMPORARY] TABLE` was taken.
    pub(super) fn create_table(&mut self, or_replace: bool, temporary: bool) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let mut table = CreateTable {
            or_replace,
            temporary,
            if_not_exists,
            name,
            like: None,
            elements: Vec::new(),
            options: Vec::new(),
            partition_by: None,
            query: None,
        };
        if self.eat(Kw::LIKE) {
            table.like = Some(self.object_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.at_tok(Tok::LParen) && self.peek_at(1) == Tok::Kw(Kw::LIKE) {
            self.bump();
            self.bump();
            table.like = Some(self.object_name()?);
            self.expect_tok(Tok::RParen)?;
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.at_tok(Tok::LParen) && !self.at_query() {
            table.elements = self.paren_list(Self::table_element)?;
        }
        table.options = self.table_options()?;
        if self.at(Kw::PARTITION) {
            table.partition_by = Some(Box::new(self.partition_by()?));
        }
        let on_duplicate = match self.eat_any(&[Kw::IGNORE, Kw::REPLACE]) {
            Some(Kw::IGNORE) => OnDuplicateRow::Ignore,
            Some(_) => OnDuplicateRow::Replace,
            None => OnDuplicateRow::Error,
        };
        let wanted = self.eat(Kw::AS) || on_duplicate != OnDuplicateRow::Error;
        if self.at_query() {
            let query = self.query()?;
            table.query = Some(Box::new(CreateTableQuery {
                on_duplicate,
                query,
            }));
        } else if wanted {
            return self.fail();
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    pub(super) fn table_element(&mut self) -> Res<TableElement> {
        if let Some(element) = self.constraint_or_index()? {
            return Ok(element);
        }
        Ok(TableElement::Column(Box::new(self.column_def()?)))
    }

    /// Whatever of a table's definition is not a column.
    pub(super) fn constraint_or_index(&mut self) -> Res<Option<TableElement>> {
        if self.at(Kw::PERIOD) && matches!(self.peek_at(1), Tok::Kw(Kw::FOR | Kw::IF)) {
            self.bump();
            return Ok(Some(TableElement::Period(self.period()?)));
        }
        let mut constraint = None;
        let mut if_not_exists = false;
        let has_constraint = self.eat(Kw::CONSTRAINT);
        if has_constraint {
            if_not_exists = self.if_not_exists()?;
            if !self.at_any(&[Kw::PRIMARY, Kw::UNIQUE, Kw::FOREIGN, Kw::CHECK]) {
                constraint = Some(self.ident()?);
            }
        }
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ if has_constraint => return self.fail(),
            _ => return Ok(None),
        };
        let kind = match kw {
            Kw::PRIMARY => {
                self.bump();
                self.expect(Kw::KEY)?;
                IndexKind::Primary
            }
            Kw::UNIQUE => {
                self.bump();
                self.eat_any(&[Kw::KEY, Kw::INDEX]);
                IndexKind::Unique
            }
            Kw::FOREIGN => {
                self.bump();
                self.expect(Kw::KEY)?;
                let foreign = self.foreign_key(constraint, if_not_exists)?;
                return Ok(Some(TableElement::ForeignKey(Box::new(foreign))));
            }
            Kw::CHECK => {
                return Ok(Some(TableElement::Check(
                    self.check(constraint, if_not_exists)?,
                )));
            }
            _ if has_constraint => return self.fail(),
            Kw::KEY | Kw::INDEX => {
                self.bump();
                IndexKind::Index
            }
            Kw::FULLTEXT | Kw::SPATIAL => {
                self.bump();
                self.eat_any(&[Kw::KEY, Kw::INDEX]);
                if kw == Kw::FULLTEXT {
                    IndexKind::FullText
                } else {
                    IndexKind::Spatial
                }
            }
            _ => return Ok(None),
        };
        let if_not_exists = self.if_not_exists()? || if_not_exists;
        let name = if self.at_tok(Tok::LParen) {
            None
        } else {
            self.opt_ident()
        };
        let mut index = IndexDef {
            kind,
            if_not_exists,
            constraint,
            name,
            parts: Vec::new(),
            options: IndexOptions::default(),
        };
        if !matches!(kind, IndexKind::FullText | IndexKind::Spatial) {
            self.opt_index_algorithm(&mut index.options)?;
        }
        index.parts = self.index_parts(matches!(kind, IndexKind::Primary | IndexKind::Unique))?;
        self.index_options(kind, &mut index.options)?;
        Ok(Some(TableElement::Index(Box::new(index))))
    }

    /// `CHECK (expr)`
    fn check(&mut self, name: Option<Ident>, if_not_exists: bool) -> Res<CheckDef> {
        self.expect(Kw::CHECK)?;
        self.expect_tok(Tok::LParen)?;
        let start = self.next_start();
        let expr = self.expr()?;
        let text = self.text_from(start);
        self.expect_tok(Tok::RParen)?;
        Ok(CheckDef {
            if_not_exists,
            name,
            expr,
            text,
        })
    }

    /// `PERIOD` was taken.
    pub(super) fn period(&mut self) -> Res<PeriodDef> {
        let if_not_exists = self.if_not_exists()?;
        self.expect(Kw::FOR)?;
        let name = if self.at(Kw::SYSTEM_TIME) {
            self.take_ident()
        } else {
            self.ident()?
        };
        self.expect_tok(Tok::LParen)?;
        let start = self.ident()?;
        self.expect_tok(Tok::Comma)?;
        let end = self.ident()?;
        self.expect_tok(Tok::RParen)?;
        Ok(PeriodDef {
            if_not_exists,
            name,
            start,
            end,
        })
    }

    // Indexes.

    /// The columns of an index; a period `WITHOUT OVERLAPS` may be the last of a unique one's.
    pub(super) fn index_parts(&mut self, unique: bool) -> Res<Vec<IndexPart>> {
        self.expect_tok(Tok::LParen)?;
        let mut parts: Vec<IndexPart> = Vec::new();
        loop {
            let column = self.ident()?;
            if unique && !parts.is_empty() && self.eat(Kw::WITHOUT) {
                self.expect(Kw::OVERLAPS)?;
                parts.push(IndexPart {
                    column,
                    length: None,
                    desc: false,
                    without_overlaps: true,
                });
                break;
            }
            let length = if self.at_tok(Tok::LParen) {
                Some(self.parens(Self::number)?)
            } else {
                None
            };
            let desc = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
            parts.push(IndexPart {
                column,
                length,
                desc,
                without_overlaps: false,
            });
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(parts)
    }

    /// `USING BTREE`
    pub(super) fn opt_index_algorithm(&mut self, options: &mut IndexOptions) -> Res<()> {
        if self.eat_any(&[Kw::USING, Kw::TYPE]).is_some() {
            options.algorithm = Some(match self.expect_any(&[Kw::BTREE, Kw::HASH, Kw::RTREE])? {
                Kw::BTREE => IndexAlgorithm::BTree,
                Kw::HASH => IndexAlgorithm::Hash,
                _ => IndexAlgorithm::RTree,
            });
        }
        Ok(())
    }

    pub(super) fn index_options(&mut self, kind: IndexKind, options: &mut IndexOptions) -> Res<()> {
        let plain = !matches!(kind, IndexKind::FullText | IndexKind::Spatial);
        loop {
            match self.peek() {
                Tok::Kw(Kw::USING | Kw::TYPE) if plain => self.opt_index_algorithm(options)?,
                Tok::Kw(Kw::KEY_BLOCK_SIZE) => {
                    self.bump();
                    self.eat_eq();
                    options.key_block_size = Some(self.number()?);
                }
                Tok::Kw(Kw::COMMENT) => {
                    self.bump();
                    options.comment = Some(self.string()?);
                }
                Tok::Kw(Kw::WITH) if self.peek_at(1) == Tok::Kw(Kw::PARSER) => {
                    self.bump();
                    self.bump();
                    options.parser = Some(self.ident()?);
                }
                Tok::Kw(Kw::VISIBLE) => {
                    self.bump();
                }
                Tok::Kw(Kw::IGNORED) => {
                    self.bump();
                    options.ignored = Some(true);
                }
                Tok::Kw(Kw::NOT) if self.peek_at(1) == Tok::Kw(Kw::IGNORED) => {
                    self.bump();
                    self.bump();
                    options.ignored = Some(false);
                }
                _ if self.at_word("CLUSTERING") && self.peek_at(1) == Tok::Eq => {
                    let option = self.named_option()?;
                    let yes = matches!(&option.value, OptionValue::Ident(word) if word.is("YES"))
                        || matches!(&option.value, OptionValue::Str(word) if word.eq_ignore_ascii_case("YES"));
                    options.clustering = Some(yes);
                }
                Tok::Ident | Tok::QuotedIdent => {
                    let option = self.named_option()?;
                    options.options.push(option);
                }
                _ => return Ok(()),
            }
        }
    }

    /// `FOREIGN KEY` was taken.
    fn foreign_key(
        &mut self,
        constraint: Option<Ident>,
        if_not_exists: bool,
    ) -> Res<ForeignKeyDef> {
        let if_not_exists = self.if_not_exists()? || if_not_exists;
        let index_name = if self.at_tok(Tok::LParen) {
            None
        } else {
            Some(self.ident()?)
        };
        let columns = self.index_parts(false)?;
        let references = self.references()?;
        Ok(ForeignKeyDef {
            if_not_exists,
            constraint,
            index_name,
            columns,
            references,
        })
    }

    fn references(&mut self) -> Res<References> {
        self.expect(Kw::REFERENCES)?;
        let table = self.object_name()?;
        let columns = if self.at_tok(Tok::LParen) {
            self.index_parts(false)?
        } else {
            Vec::new()
        };
        let mut references = References {
            table,
            columns,
            match_kind: None,
            on_delete: None,
            on_update: None,
        };
        if self.eat(Kw::MATCH) {
            references.match_kind = Some(
                match self.expect_any(&[Kw::FULL, Kw::PARTIAL, Kw::SIMPLE])? {
                    Kw::FULL => MatchKind::Full,
                    Kw::PARTIAL => MatchKind::Partial,
                    _ => MatchKind::Simple,
                },
            );
        }
        while self.at(Kw::ON) {
            match self.peek_at(1) {
                Tok::Kw(Kw::DELETE) if references.on_delete.is_none() => {
                    self.bump();
                    self.bump();
                    references.on_delete = Some(self.reference_action()?);
                }
                Tok::Kw(Kw::UPDATE) if references.on_update.is_none() => {
                    self.bump();
                    self.bump();
                    references.on_update = Some(self.reference_action()?);
                }
                _ if references.on_delete.is_none() || references.on_update.is_none() => {
                    // `ON` was taken for the other action's.
                    self.bump();
                    return self.fail();
                }
                _ => break,
            }
        }
        Ok(references)
    }

    fn reference_action(&mut self) -> Res<ReferenceAction> {
        Ok(
            match self.expect_any(&[Kw::RESTRICT, Kw::CASCADE, Kw::SET, Kw::NO])? {
                Kw::RESTRICT => ReferenceAction::Restrict,
                Kw::CASCADE => ReferenceAction::Cascade,
                Kw::SET => match self.expect_any(&[Kw::NULL, Kw::DEFAULT])? {
                    Kw::NULL => ReferenceAction::SetNull,
                    _ => ReferenceAction::SetDefault,
                },
                _ => {
                    self.expect(Kw::ACTION)?;
                    ReferenceAction::NoAction
                }
            },
        )
    }

    // Columns.

    pub(super) fn column_def(&mut self) -> Res<ColumnDef> {
        // The table's name may stand before it.
        let name = self.column_ref()?.name;
        self.column_rest(name)
    }

    /// A column's type and attributes.
    pub(super) fn column_rest(&mut self, name: Ident) -> Res<ColumnDef> {
        let ty = self.data_type()?;
        let mut column = ColumnDef::plain(name, ty);
        column.compressed = self.compressed.take();
        while self.column_attribute(&mut column)? {}
        Ok(column)
    }

    fn column_attribute(&mut self, column: &mut ColumnDef) -> Res<bool> {
        let next = self.peek_at(1);
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            Tok::Ident | Tok::QuotedIdent => {
                let option = self.named_option()?;
                column.options.push(option);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        match kw {
            Kw::NULL => {
                self.bump();
                column.nullable = Some(true);
            }
            Kw::NOT if next == Tok::Kw(Kw::NULL) => {
                self.bump();
                self.bump();
                column.nullable = Some(false);
            }
            Kw::NOT => {
                self.bump();
                return self.fail();
            }
            Kw::DEFAULT => {
                self.bump();
                column.default = Some(self.default_value()?);
            }
            Kw::ON if next == Tok::Kw(Kw::UPDATE) => {
                self.bump();
                self.bump();
                column.on_update = Some(self.operand_alone()?);
            }
            Kw::AUTO_INCREMENT => {
                self.bump();
                column.auto_increment = true;
            }
            Kw::SERIAL => {
                self.bump();
                self.expect_seq(&[Kw::DEFAULT, Kw::VALUE])?;
                column.auto_increment = true;
                column.nullable = Some(false);
                column.unique = true;
            }
            Kw::PRIMARY | Kw::KEY => {
                self.bump();
                if kw == Kw::PRIMARY {
                    self.eat(Kw::KEY);
                }
                column.primary = true;
            }
            Kw::UNIQUE => {
                self.bump();
                self.eat(Kw::KEY);
                column.unique = true;
            }
            Kw::COMMENT => {
                self.bump();
                column.comment = Some(self.string()?);
            }
            Kw::COLLATE => {
                self.bump();
                let collation = self.charset_or_default_name()?;
                set_collation(&mut column.ty, collation);
            }
            Kw::INVISIBLE => {
                self.bump();
                column.invisible = true;
            }
            Kw::COMPRESSED => {
                let text = matches!(
                    column.ty,
                    DataType::VarChar { .. }
                        | DataType::VarBinary(_)
                        | DataType::Text { .. }
                        | DataType::Blob { .. }
                        | DataType::Json { .. }
                );
                if !text || column.compressed.is_some() {
                    return self.fail();
                }
                self.bump();
                column.compressed = Some(if self.eat_eq() {
                    Some(self.ident()?)
                } else {
                    None
                });
            }
            Kw::WITH | Kw::WITHOUT if next == Tok::Kw(Kw::SYSTEM) => {
                self.bump();
                self.bump();
                self.expect(Kw::VERSIONING)?;
                column.system_versioning = Some(kw == Kw::WITH);
            }
            Kw::CHECK => column.check = Some(Box::new(self.check(None, false)?)),
            Kw::CONSTRAINT => {
                self.bump();
                let name = if self.at_any(&[Kw::CHECK, Kw::REFERENCES]) {
                    None
                } else {
                    Some(self.ident()?)
                };
                if self.at(Kw::REFERENCES) {
                    column.references = Some(Box::new(self.references()?));
                } else {
                    column.check = Some(Box::new(self.check(name, false)?));
                }
            }
            Kw::REFERENCES => column.references = Some(Box::new(self.references()?)),
            Kw::GENERATED | Kw::AS => {
                if self.eat(Kw::GENERATED) {
                    self.expect(Kw::ALWAYS)?;
                }
                self.expect(Kw::AS)?;
                self.generated(column)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `AS` was taken.
    fn generated(&mut self, column: &mut ColumnDef) -> Res<()> {
        if self.eat(Kw::ROW) {
            let end = self.expect_any(&[Kw::START, Kw::END])? == Kw::END;
            column.row_bound = Some(if end { RowBound::End } else { RowBound::Start });
            return Ok(());
        }
        self.expect_tok(Tok::LParen)?;
        let start = self.next_start();
        let expr = self.expr()?;
        let text = self.text_from(start);
        self.expect_tok(Tok::RParen)?;
        let word = self.eat_any(&[Kw::VIRTUAL, Kw::STORED, Kw::PERSISTENT]);
        let stored = matches!(word, Some(Kw::STORED | Kw::PERSISTENT));
        column.generated = Some(GeneratedColumn { expr, text, stored });
        Ok(())
    }

    /// What follows `DEFAULT`.
    pub(super) fn default_value(&mut self) -> Res<DefaultValue> {
        let start = self.next_start();
        let expr = self.operand_alone()?;
        Ok(DefaultValue {
            expr,
            text: self.text_from(start),
        })
    }

    // Options.

    /// `name = value`
    pub(super) fn named_option(&mut self) -> Res<NamedOption> {
        let name = self.ident()?;
        self.expect_tok(Tok::Eq)?;
        let value = match self.peek() {
            Tok::Str => OptionValue::Str(self.string()?),
            Tok::Int | Tok::HexNum => OptionValue::Number(self.number()?.to_string()),
            Tok::Decimal | Tok::Float => return self.fail_with(ONLY_INTEGERS),
            Tok::Kw(Kw::DEFAULT) => {
                self.bump();
                OptionValue::Default
            }
            _ => OptionValue::Ident(self.ident()?),
        };
        Ok(NamedOption { name, value })
    }

    /// Options with or without commas between.
    pub(super) fn table_options(&mut self) -> Res<Vec<TableOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.table_option()? {
            options.push(option);
            if self.at_tok(Tok::Comma) {
                let mark = self.mark();
                self.bump();
                if !self.at_table_option() {
                    self.reset(mark);
                    break;
                }
            }
        }
        Ok(options)
    }

    /// Whether a table's option comes next.
    pub(super) fn at_table_option(&mut self) -> bool {
        let next = self.peek_at(1);
        match self.peek() {
            Tok::Kw(Kw::DEFAULT) => matches!(
                next,
                Tok::Kw(Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE)
            ),
            Tok::Kw(Kw::CHARACTER | Kw::CHAR) => next == Tok::Kw(Kw::SET),
            Tok::Kw(Kw::WITH) => next == Tok::Kw(Kw::SYSTEM),
            Tok::Kw(Kw::DATA | Kw::INDEX) => next == Tok::Kw(Kw::DIRECTORY),
            Tok::Kw(
                Kw::ENGINE
                | Kw::AUTO_INCREMENT
                | Kw::AVG_ROW_LENGTH
                | Kw::CHARSET
                | Kw::COLLATE
                | Kw::CHECKSUM
                | Kw::TABLE_CHECKSUM
                | Kw::COMMENT
                | Kw::CONNECTION
                | Kw::DELAY_KEY_WRITE
                | Kw::INSERT_METHOD
                | Kw::KEY_BLOCK_SIZE
                | Kw::MAX_ROWS
                | Kw::MIN_ROWS
                | Kw::PACK_KEYS
                | Kw::PAGE_CHECKSUM
                | Kw::PASSWORD
                | Kw::ROW_FORMAT
                | Kw::SEQUENCE
                | Kw::STATS_AUTO_RECALC
                | Kw::STATS_PERSISTENT
                | Kw::STATS_SAMPLE_PAGES
                | Kw::STORAGE
                | Kw::TABLESPACE
                | Kw::TRANSACTIONAL
                | Kw::UNION,
            ) => true,
            // Whatever an engine may define.
            Tok::Ident | Tok::QuotedIdent => true,
            _ => false,
        }
    }

    fn table_option(&mut self) -> Res<Option<TableOption>> {
        if !self.at_table_option() {
            return Ok(None);
        }
        self.eat(Kw::DEFAULT);
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return Ok(Some(TableOption::Other(self.named_option()?))),
        };
        if matches!(kw, Kw::CHARSET | Kw::CHARACTER | Kw::CHAR) {
            self.eat_charset_words();
            self.eat_eq();
            let name = if self.eat(Kw::DEFAULT) {
                "DEFAULT".into()
            } else {
                self.charset_name()?
            };
            return Ok(Some(TableOption::Charset(name)));
        }
        self.bump();
        if kw == Kw::WITH {
            self.expect_seq(&[Kw::SYSTEM, Kw::VERSIONING])?;
            return Ok(Some(TableOption::WithSystemVersioning));
        }
        if matches!(kw, Kw::DATA | Kw::INDEX) {
            self.expect(Kw::DIRECTORY)?;
        }
        if kw == Kw::STORAGE {
            let disk = self.expect_any(&[Kw::DISK, Kw::MEMORY])? == Kw::DISK;
            return Ok(Some(if disk {
                TableOption::StorageDisk
            } else {
                TableOption::StorageMemory
            }));
        }
        self.eat_eq();
        Ok(Some(match kw {
            Kw::ENGINE => TableOption::Engine(self.ident_or_text()?),
            Kw::AUTO_INCREMENT => TableOption::AutoIncrement(self.number()?),
            Kw::AVG_ROW_LENGTH => TableOption::AvgRowLength(self.number()?),
            Kw::COLLATE => TableOption::Collate(self.charset_or_default_name()?),
            Kw::CHECKSUM | Kw::TABLE_CHECKSUM => TableOption::Checksum(self.number()?),
            Kw::COMMENT => TableOption::Comment(self.string()?),
            Kw::CONNECTION => TableOption::Connection(self.string()?),
            Kw::DATA => TableOption::DataDirectory(self.string()?),
            Kw::INDEX => TableOption::IndexDirectory(self.string()?),
            Kw::DELAY_KEY_WRITE => TableOption::DelayKeyWrite(self.number()?),
            Kw::INSERT_METHOD => TableOption::InsertMethod(
                match self.expect_any(&[Kw::NO, Kw::FIRST, Kw::LAST])? {
                    Kw::NO => InsertMethod::No,
                    Kw::FIRST => InsertMethod::First,
                    _ => InsertMethod::Last,
                },
            ),
            Kw::KEY_BLOCK_SIZE => TableOption::KeyBlockSize(self.number()?),
            Kw::MAX_ROWS => TableOption::MaxRows(self.number()?),
            Kw::MIN_ROWS => TableOption::MinRows(self.number()?),
            Kw::PACK_KEYS => TableOption::PackKeys(self.ternary()?),
            Kw::PAGE_CHECKSUM => TableOption::PageChecksum(self.number()?),
            Kw::PASSWORD => TableOption::Password(self.string()?),
            Kw::ROW_FORMAT => TableOption::RowFormat(self.row_format()?),
            Kw::SEQUENCE => TableOption::Sequence(self.number()?),
            Kw::STATS_AUTO_RECALC => TableOption::StatsAutoRecalc(self.ternary()?),
            Kw::STATS_PERSISTENT => TableOption::StatsPersistent(self.ternary()?),
            Kw::STATS_SAMPLE_PAGES => {
                let pages = if self.eat(Kw::DEFAULT) {
                    None
                } else {
                    Some(self.number()?)
                };
                if pages.is_some_and(|pages| !(1..=0xffff).contains(&pages)) {
                    self.pos -= 1;
                    return self.fail();
                }
                TableOption::StatsSamplePages(pages)
            }
            Kw::TABLESPACE => TableOption::Tablespace(self.ident_or_text()?),
            Kw::TRANSACTIONAL => TableOption::Transactional(self.ternary()?),
            Kw::UNION => {
                self.expect_tok(Tok::LParen)?;
                let tables = if self.at_tok(Tok::RParen) {
                    Vec::new()
                } else {
                    self.list(Self::object_name)?
                };
                self.expect_tok(Tok::RParen)?;
                TableOption::Union(tables)
            }
            _ => {
                // `word = value`, the sign of which was taken.
                self.pos -= 2;
                TableOption::Other(self.named_option()?)
            }
        }))
    }

    /// 0 or 1, or `None` for `DEFAULT`.
    fn ternary(&mut self) -> Res<Option<u64>> {
        if self.eat(Kw::DEFAULT) {
            return Ok(None);
        }
        match self.number()? {
            number @ (0 | 1) => Ok(Some(number)),
            _ => {
                self.pos -= 1;
                self.fail()
            }
        }
    }

    fn row_format(&mut self) -> Res<RowFormat> {
        let words = [
            Kw::DEFAULT,
            Kw::FIXED,
            Kw::DYNAMIC,
            Kw::COMPRESSED,
            Kw::REDUNDANT,
            Kw::COMPACT,
            Kw::PAGE,
        ];
        Ok(match self.expect_any(&words)? {
            Kw::DEFAULT => RowFormat::Default,
            Kw::FIXED => RowFormat::Fixed,
            Kw::DYNAMIC => RowFormat::Dynamic,
            Kw::COMPRESSED => RowFormat::Compressed,
            Kw::REDUNDANT => RowFormat::Redundant,
            Kw::COMPACT => RowFormat::Compact,
            _ => RowFormat::Page,
        })
    }
}

/// What is said of a number with a point where none may be.
pub(super) const ONLY_INTEGERS: &str = "Only integers allowed as number here";

/// `COLLATE` among a column's attributes belongs to its type.
pub(super) fn set_collation(ty: &mut DataType, collation: String) {
    match ty {
        DataType::Char { charset, .. }
        | DataType::VarChar { charset, .. }
        | DataType::Text { charset, .. }
        | DataType::Enum { charset, .. }
        | DataType::Set { charset, .. }
        | DataType::Json { charset } => charset.collation = Some(collation),
        _ => {}
    }
}
