//! `ANALYZE`, `CHECK`, `OPTIMIZE`, `REPAIR`, `CHECKSUM` of tables; key caches.

use super::Parser;
use crate::ast::{
    CacheIndex, CacheIndexTable, CheckOptions, MaintenanceKind, PartitionNames, PersistentStats,
    RepairOptions, Statement, TableMaintenance,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    pub(super) fn table_maintenance(&mut self, kw: Kw) -> Res<Statement> {
        self.bump();
        let no_write_to_binlog = kw != Kw::CHECK && kw != Kw::CHECKSUM && self.no_write_to_binlog();
        let view = matches!(kw, Kw::CHECK | Kw::REPAIR) && self.eat(Kw::VIEW);
        if !view {
            self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        }
        let mut tables = vec![self.object_name()?];
        let mut persistent = self.opt_persistent(kw)?;
        while self.eat_tok(Tok::Comma) {
            tables.push(self.object_name()?);
            if persistent.is_none() {
                persistent = self.opt_persistent(kw)?;
            }
        }
        let wait = if kw == Kw::OPTIMIZE {
            self.ddl_wait()?
        } else {
            None
        };
        let kind = match kw {
            Kw::ANALYZE => MaintenanceKind::Analyze { persistent },
            Kw::CHECK if view && !self.at(Kw::FOR) => {
                MaintenanceKind::Check(CheckOptions::default())
            }
            Kw::CHECK => MaintenanceKind::Check(self.check_options()?),
            Kw::OPTIMIZE => MaintenanceKind::Optimize,
            Kw::REPAIR => {
                let mut options = if view {
                    RepairOptions::default()
                } else {
                    self.repair_options()
                };
                if view && self.eat(Kw::FROM) {
                    self.expect(Kw::MYSQL)?;
                    options.from_mysql = true;
                }
                MaintenanceKind::Repair(options)
            }
            _ => {
                let word = self.eat_any(&[Kw::QUICK, Kw::EXTENDED]);
                MaintenanceKind::Checksum {
                    quick: word.map(|kw| kw == Kw::QUICK),
                }
            }
        };
        Ok(Statement::TableMaintenance(Box::new(TableMaintenance {
            no_write_to_binlog,
            kind,
            view,
            tables,
            wait,
        })))
    }

    /// `PERSISTENT FOR …` of `ANALYZE`
    fn opt_persistent(&mut self, kw: Kw) -> Res<Option<PersistentStats>> {
        if kw != Kw::ANALYZE || !self.eat(Kw::PERSISTENT) {
            return Ok(None);
        }
        self.expect(Kw::FOR)?;
        if self.eat(Kw::ALL) {
            return Ok(Some(PersistentStats::default()));
        }
        self.expect(Kw::COLUMNS)?;
        let columns = self.stats_names()?;
        self.expect(Kw::INDEXES)?;
        let indexes = self.stats_names()?;
        Ok(Some(PersistentStats { columns, indexes }))
    }

    /// `ALL` or a list that may be empty.
    fn stats_names(&mut self) -> Res<Option<Vec<crate::ast::Ident>>> {
        if self.eat(Kw::ALL) {
            return Ok(None);
        }
        self.expect_tok(Tok::LParen)?;
        let names = if self.at_tok(Tok::RParen) {
            Vec::new()
        } else {
            self.list(Self::index_name)?
        };
        self.expect_tok(Tok::RParen)?;
        Ok(Some(names))
    }

    pub(super) fn check_options(&mut self) -> Res<CheckOptions> {
        let mut options = CheckOptions::default();
        loop {
            match self.peek() {
                Tok::Kw(Kw::QUICK) => options.quick = true,
                Tok::Kw(Kw::FAST) => options.fast = true,
                Tok::Kw(Kw::MEDIUM) => options.medium = true,
                Tok::Kw(Kw::EXTENDED) => options.extended = true,
                Tok::Kw(Kw::CHANGED) => options.changed = true,
                Tok::Kw(Kw::FOR) => {
                    self.bump();
                    if !self.at(Kw::UPGRADE) {
                        return self.fail();
                    }
                    options.for_upgrade = true;
                }
                _ => return Ok(options),
            }
            self.bump();
        }
    }

    pub(super) fn repair_options(&mut self) -> RepairOptions {
        let mut options = RepairOptions::default();
        while let Some(kw) = self.eat_any(&[Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM, Kw::FORCE]) {
            match kw {
                Kw::QUICK => options.quick = true,
                Kw::EXTENDED => options.extended = true,
                Kw::USE_FRM => options.use_frm = true,
                _ => options.force = true,
            }
        }
        options
    }

    fn cache_table(&mut self, leaves: bool) -> Res<CacheIndexTable> {
        let table = self.object_name()?;
        let partitions = if self.eat(Kw::PARTITION) {
            Some(self.parens(|p| {
                if p.eat(Kw::ALL) {
                    return Ok(PartitionNames::All);
                }
                Ok(PartitionNames::Names(p.list(Self::ident)?))
            })?)
        } else {
            None
        };
        let mut indexes = Vec::new();
        if self.eat_any(&[Kw::INDEX, Kw::KEY]).is_some() {
            self.expect_tok(Tok::LParen)?;
            if !self.at_tok(Tok::RParen) {
                indexes = self.list(Self::index_name)?;
            }
            self.expect_tok(Tok::RParen)?;
        }
        let ignore_leaves = leaves && self.eat(Kw::IGNORE);
        if ignore_leaves {
            self.expect(Kw::LEAVES)?;
        }
        Ok(CacheIndexTable {
            table,
            partitions,
            indexes,
            ignore_leaves,
        })
    }

    pub(super) fn cache_index(&mut self) -> Res<Statement> {
        self.expect_seq(&[Kw::CACHE, Kw::INDEX])?;
        let tables = self.list(|p| p.cache_table(false))?;
        self.expect(Kw::IN)?;
        let cache = if self.eat(Kw::DEFAULT) {
            None
        } else {
            Some(self.ident()?)
        };
        Ok(Statement::CacheIndex(CacheIndex { tables, cache }))
    }

    /// `LOAD` was taken.
    pub(super) fn load_index(&mut self) -> Res<Statement> {
        self.expect_seq(&[Kw::INDEX, Kw::INTO, Kw::CACHE])?;
        Ok(Statement::LoadIndex(self.list(|p| p.cache_table(true))?))
    }
}
