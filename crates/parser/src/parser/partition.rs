//! Partitioning clauses.

use super::Parser;
use crate::ast::{
    Expr, Ident, PartitionAction, PartitionBy, PartitionDef, PartitionMethod, PartitionNames,
    PartitionOptions, PartitionValue, PartitionValues, SubpartitionBy, SubpartitionDef,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// `PARTITION BY …`
    pub(super) fn partition_by(&mut self) -> Res<PartitionBy> {
        self.expect_seq(&[Kw::PARTITION, Kw::BY])?;
        let method = self.partition_method()?;
        let count = if self.eat(Kw::PARTITIONS) {
            Some(self.partition_count()?)
        } else {
            None
        };
        let mut subpartition_by = None;
        if self.eat(Kw::SUBPARTITION) {
            self.expect(Kw::BY)?;
            if !self.at_any(&[Kw::LINEAR, Kw::HASH, Kw::KEY]) {
                return self.fail();
            }
            let method = self.partition_method()?;
            let count = if self.eat(Kw::SUBPARTITIONS) {
                Some(self.partition_count()?)
            } else {
                None
            };
            subpartition_by = Some(SubpartitionBy { method, count });
        }
        let partitions = if self.at_tok(Tok::LParen) {
            self.paren_list(Self::partition_def)?
        } else {
            Vec::new()
        };
        Ok(PartitionBy {
            method,
            count,
            subpartition_by,
            partitions,
        })
    }

    fn partition_count(&mut self) -> Res<u64> {
        if matches!(self.peek(), Tok::Decimal | Tok::Float) {
            return self.fail_with(super::create_table::ONLY_INTEGERS);
        }
        self.number()
    }

    fn partition_method(&mut self) -> Res<PartitionMethod> {
        let linear = self.eat(Kw::LINEAR);
        let words: &[Kw] = if linear {
            &[Kw::HASH, Kw::KEY]
        } else {
            &[Kw::HASH, Kw::KEY, Kw::RANGE, Kw::LIST, Kw::SYSTEM_TIME]
        };
        Ok(match self.expect_any(words)? {
            Kw::HASH => PartitionMethod::Hash {
                linear,
                expr: self.parens(Self::expr)?,
            },
            Kw::KEY => {
                let algorithm = if self.eat(Kw::ALGORITHM) {
                    self.expect_tok(Tok::Eq)?;
                    Some(self.number()?)
                } else {
                    None
                };
                self.expect_tok(Tok::LParen)?;
                let columns = if self.at_tok(Tok::RParen) {
                    Vec::new()
                } else {
                    self.list(Self::ident)?
                };
                self.expect_tok(Tok::RParen)?;
                PartitionMethod::Key {
                    linear,
                    algorithm,
                    columns,
                }
            }
            Kw::RANGE if self.eat(Kw::COLUMNS) => {
                PartitionMethod::RangeColumns(self.paren_list(Self::ident)?)
            }
            Kw::RANGE => PartitionMethod::Range(self.parens(Self::expr)?),
            Kw::LIST if self.eat(Kw::COLUMNS) => {
                PartitionMethod::ListColumns(self.paren_list(Self::ident)?)
            }
            Kw::LIST => PartitionMethod::List(self.parens(Self::expr)?),
            _ => self.system_time_method()?,
        })
    }

    fn system_time_method(&mut self) -> Res<PartitionMethod> {
        let (mut interval, mut starts, mut limit) = (None, None, None);
        if self.eat(Kw::INTERVAL) {
            let value = self.expr()?;
            interval = Some((value, self.interval_unit()?));
            if self.eat(Kw::STARTS) {
                starts = Some(self.expr()?);
            }
        } else if self.eat(Kw::LIMIT) {
            limit = Some(self.number()?);
        }
        let auto = self.eat(Kw::AUTO);
        Ok(PartitionMethod::SystemTime {
            interval,
            starts,
            limit,
            auto,
        })
    }

    /// `PARTITION p …`
    pub(super) fn partition_def(&mut self) -> Res<PartitionDef> {
        // The word may be left out.
        self.eat(Kw::PARTITION);
        let name = self.ident()?;
        self.partition_rest(name)
    }

    fn partition_rest(&mut self, name: Ident) -> Res<PartitionDef> {
        let values = self.partition_values()?;
        let options = self.partition_options()?;
        let subpartitions = if self.at_tok(Tok::LParen) {
            self.paren_list(|p| {
                p.expect(Kw::SUBPARTITION)?;
                let name = p.ident_or_text()?;
                Ok(SubpartitionDef {
                    name,
                    options: p.partition_options()?,
                })
            })?
        } else {
            Vec::new()
        };
        Ok(PartitionDef {
            name,
            values,
            options,
            subpartitions,
        })
    }

    fn partition_values(&mut self) -> Res<Option<PartitionValues>> {
        match self.eat_any(&[Kw::DEFAULT, Kw::HISTORY, Kw::CURRENT]) {
            Some(Kw::DEFAULT) => return Ok(Some(PartitionValues::Default)),
            Some(Kw::HISTORY) => return Ok(Some(PartitionValues::History)),
            Some(_) => return Ok(Some(PartitionValues::Current)),
            None => {}
        }
        if !self.eat(Kw::VALUES) {
            return Ok(None);
        }
        if self.eat(Kw::LESS) {
            self.expect(Kw::THAN)?;
            if self.eat(Kw::MAXVALUE) {
                return Ok(Some(PartitionValues::LessThan(vec![
                    PartitionValue::MaxValue,
                ])));
            }
            return Ok(Some(PartitionValues::LessThan(
                self.paren_list(Self::partition_value)?,
            )));
        }
        self.expect(Kw::IN)?;
        if self.at_tok(Tok::LParen)
            && self.peek_at(1) == Tok::Kw(Kw::DEFAULT)
            && self.peek_at(2) == Tok::RParen
        {
            for _ in 0..3 {
                self.bump();
            }
            return Ok(Some(PartitionValues::Default));
        }
        let rows = self.paren_list(|p| {
            if p.at(Kw::MAXVALUE)
                || (p.at_tok(Tok::LParen) && p.peek_at(1) == Tok::Kw(Kw::MAXVALUE))
            {
                p.eat_tok(Tok::LParen);
                return p.fail_with("Cannot use MAXVALUE as value in VALUES IN");
            }
            Ok(match p.expr()? {
                Expr::Row(values) => values.into_iter().map(PartitionValue::Expr).collect(),
                value => vec![PartitionValue::Expr(value)],
            })
        })?;
        Ok(Some(PartitionValues::In(rows)))
    }

    fn partition_value(&mut self) -> Res<PartitionValue> {
        if self.eat(Kw::MAXVALUE) {
            Ok(PartitionValue::MaxValue)
        } else {
            Ok(PartitionValue::Expr(self.expr()?))
        }
    }

    fn partition_options(&mut self) -> Res<PartitionOptions> {
        let mut options = PartitionOptions::default();
        loop {
            let next = self.peek_at(1);
            let kw = match self.peek() {
                Tok::Kw(kw) => kw,
                Tok::Ident | Tok::QuotedIdent => {
                    let option = self.named_option()?;
                    options.other.push(option);
                    continue;
                }
                _ => return Ok(options),
            };
            match kw {
                Kw::STORAGE if next == Tok::Kw(Kw::ENGINE) => {
                    self.bump();
                }
                Kw::ENGINE => {
                    self.bump();
                    self.eat_eq();
                    options.engine = Some(self.ident_or_text()?);
                }
                Kw::COMMENT => {
                    self.bump();
                    self.eat_eq();
                    options.comment = Some(self.string()?);
                }
                Kw::DATA | Kw::INDEX if next == Tok::Kw(Kw::DIRECTORY) => {
                    self.bump();
                    self.bump();
                    self.eat_eq();
                    let path = Some(self.string()?);
                    if kw == Kw::DATA {
                        options.data_directory = path
                    } else {
                        options.index_directory = path
                    }
                }
                Kw::MAX_ROWS | Kw::MIN_ROWS | Kw::NODEGROUP => {
                    self.bump();
                    self.eat_eq();
                    let number = Some(self.number()?);
                    match kw {
                        Kw::MAX_ROWS => options.max_rows = number,
                        Kw::MIN_ROWS => options.min_rows = number,
                        _ => options.nodegroup = number,
                    }
                }
                Kw::TABLESPACE => {
                    self.bump();
                    self.eat_eq();
                    options.tablespace = Some(self.ident_or_text()?);
                }
                _ => return Ok(options),
            }
        }
    }

    fn partition_names(&mut self) -> Res<PartitionNames> {
        if self.eat(Kw::ALL) {
            return Ok(PartitionNames::All);
        }
        Ok(PartitionNames::Names(self.list(Self::ident)?))
    }

    /// An action of `ALTER TABLE` on partitions, if one comes next. `ADD` and `DROP` are seen to there.
    pub(super) fn partition_action(&mut self) -> Res<Option<PartitionAction>> {
        let next = self.peek_at(1);
        let kw = match self.peek() {
            Tok::Kw(Kw::CONVERT) if next == Tok::Kw(Kw::TABLE) => {
                return self.convert_from_table().map(Some);
            }
            Tok::Kw(kw) if next == Tok::Kw(Kw::PARTITION) => kw,
            _ => return Ok(None),
        };
        let known = [
            Kw::REORGANIZE,
            Kw::COALESCE,
            Kw::TRUNCATE,
            Kw::ANALYZE,
            Kw::CHECK,
            Kw::OPTIMIZE,
            Kw::REPAIR,
            Kw::REBUILD,
            Kw::EXCHANGE,
            Kw::CONVERT,
            Kw::DISCARD,
            Kw::IMPORT,
        ];
        if !known.contains(&kw) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        let quiet =
            !matches!(kw, Kw::TRUNCATE | Kw::EXCHANGE | Kw::CONVERT) && self.no_write_to_binlog();
        let no_write_to_binlog = quiet;
        Ok(Some(match kw {
            Kw::REORGANIZE => {
                if !self.at_ident() {
                    return Ok(Some(PartitionAction::Reorganize {
                        no_write_to_binlog,
                        names: Vec::new(),
                        into: Vec::new(),
                    }));
                }
                let names = self.list(Self::ident)?;
                self.expect(Kw::INTO)?;
                let into = self.paren_list(Self::partition_def)?;
                PartitionAction::Reorganize {
                    no_write_to_binlog,
                    names,
                    into,
                }
            }
            Kw::COALESCE => PartitionAction::Coalesce {
                no_write_to_binlog,
                count: self.number()?,
            },
            Kw::TRUNCATE => PartitionAction::Truncate(self.partition_names()?),
            Kw::ANALYZE => PartitionAction::Analyze {
                no_write_to_binlog,
                names: self.partition_names()?,
            },
            Kw::OPTIMIZE => PartitionAction::Optimize {
                no_write_to_binlog,
                names: self.partition_names()?,
            },
            Kw::REBUILD => PartitionAction::Rebuild {
                no_write_to_binlog,
                names: self.partition_names()?,
            },
            Kw::CHECK => {
                let names = self.partition_names()?;
                PartitionAction::Check {
                    names,
                    options: self.check_options()?,
                }
            }
            Kw::REPAIR => {
                let names = self.partition_names()?;
                PartitionAction::Repair {
                    no_write_to_binlog,
                    names,
                    options: self.repair_options(),
                }
            }
            Kw::EXCHANGE => {
                let partition = self.ident()?;
                self.expect_seq(&[Kw::WITH, Kw::TABLE])?;
                let table = self.object_name()?;
                PartitionAction::Exchange {
                    partition,
                    table,
                    validation: self.opt_validation()?,
                }
            }
            Kw::CONVERT => {
                let partition = self.ident()?;
                self.expect_seq(&[Kw::TO, Kw::TABLE])?;
                PartitionAction::ConvertToTable {
                    partition,
                    table: self.object_name()?,
                }
            }
            Kw::DISCARD => {
                let names = self.partition_names()?;
                self.expect(Kw::TABLESPACE)?;
                PartitionAction::DiscardTablespace(names)
            }
            _ => {
                let names = self.partition_names()?;
                self.expect(Kw::TABLESPACE)?;
                PartitionAction::ImportTablespace(names)
            }
        }))
    }

    fn convert_from_table(&mut self) -> Res<PartitionAction> {
        self.expect_seq(&[Kw::CONVERT, Kw::TABLE])?;
        let table = self.object_name()?;
        self.expect_seq(&[Kw::TO, Kw::PARTITION])?;
        let name = self.ident()?;
        let partition = self.partition_rest(name)?;
        Ok(PartitionAction::ConvertFromTable {
            table,
            partition,
            validation: self.opt_validation()?,
        })
    }

    /// `WITH VALIDATION` or `WITHOUT VALIDATION`, which 10.11 has not; the words of later versions.
    fn opt_validation(&mut self) -> Res<Option<bool>> {
        let with = self.at(Kw::WITH);
        if !with && !self.at(Kw::WITHOUT) {
            return Ok(None);
        }
        self.bump();
        if !self.eat_word("VALIDATION") {
            return self.fail();
        }
        Ok(Some(with))
    }

    /// `ADD PARTITION` was taken.
    pub(super) fn add_partition(&mut self) -> Res<PartitionAction> {
        let if_not_exists = self.if_not_exists()?;
        let no_write_to_binlog = self.no_write_to_binlog();
        if self.eat(Kw::PARTITIONS) {
            let count = Some(self.number()?);
            return Ok(PartitionAction::Add {
                if_not_exists,
                no_write_to_binlog,
                partitions: Vec::new(),
                count,
            });
        }
        let partitions = self.paren_list(Self::partition_def)?;
        Ok(PartitionAction::Add {
            if_not_exists,
            no_write_to_binlog,
            partitions,
            count: None,
        })
    }

    /// `DROP PARTITION` was taken.
    pub(super) fn drop_partition(&mut self) -> Res<PartitionAction> {
        let if_exists = self.if_exists()?;
        Ok(PartitionAction::Drop {
            if_exists,
            names: self.list(Self::ident)?,
        })
    }
}
