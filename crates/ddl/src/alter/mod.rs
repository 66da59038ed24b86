//! ALTER TABLE, CREATE INDEX and DROP INDEX.
//!
//! [`actions`] gives the new definition, [`compare`] says how much of the storage may stay, [`copy`] does the rest. Writers are
//! kept out by the exclusive metadata lock meanwhile.

mod actions;
mod compare;
mod copy;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use selkie_catalog::dictionary::DictionaryChange;
use selkie_catalog::{Partition, Schema, Table, TableKind};
use selkie_engine::IndexId;
use selkie_parser::ast::{AlterAction, AlterAlgorithm, AlterLock, AlterTable, CreateIndex, DropIndex, ObjectName};
use selkie_types::{SqlError, SqlResult, sql_err};

use self::actions::Actions;
use self::compare::Work;
use self::copy::{Copied, CopyJob};
use crate::DdlDone;
use crate::bind;
use crate::draft::{engine_indexes, with_ids};
use crate::drop_table::{renamed, with_name};
use crate::engine_tables::NewEngineTables;
use crate::foreign;
use crate::host::{DdlHost, DdlRecord, DdlSettings};
use crate::names::{self, FullName};

pub use copy::scan;

/// CREATE INDEX.
pub fn create_index(s: &CreateIndex, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let mut actions = Vec::new();
    if s.or_replace
        && let Some(name) = &s.index.name
    {
        actions.push(AlterAction::DropIndex { if_exists: true, name: name.clone() });
    }
    actions.push(AlterAction::AddIndex(Box::new(s.index.clone())));
    actions.extend(s.algorithm.map(AlterAction::Algorithm));
    actions.extend(s.lock.map(AlterAction::Lock));
    let notes = host.diag().clone();
    let done = run(&as_alter(&s.table, s.wait, actions), "INDEX", text, host)?;
    if s.or_replace {
        // Whether there was one to replace is nobody's business.
        let added = host.diag().conditions.split_off(notes.conditions.len());
        let missing = selkie_types::codes::ER_CANT_DROP_FIELD_OR_KEY;
        host.diag().conditions.extend(added.into_iter().filter(|(_, e)| e.code() != missing));
        host.diag().total = host.diag().conditions.len() as u64;
    }
    Ok(done)
}

/// DROP INDEX.
pub fn drop_index(s: &DropIndex, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let mut actions = vec![AlterAction::DropIndex { if_exists: s.if_exists, name: s.name.clone() }];
    actions.extend(s.algorithm.map(AlterAction::Algorithm));
    actions.extend(s.lock.map(AlterAction::Lock));
    run(&as_alter(&s.table, s.wait, actions), "INDEX", text, host)
}

fn as_alter(table: &ObjectName, wait: Option<u64>, actions: Vec<AlterAction>) -> AlterTable {
    AlterTable { online: false, ignore: false, if_exists: false, name: table.clone(), wait, actions }
}

/// ALTER TABLE.
pub fn alter(s: &AlterTable, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    run(s, "ALTER", text, host)
}

fn run(s: &AlterTable, privilege: &str, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = names::resolve(&s.name, host)?;
    host.require(privilege, &name.db, &name.name)?;
    let temporary = host.temporary_table(&name.db, &name.name);
    let to =
        match s.actions.iter().rev().find_map(|a| if let AlterAction::RenameTable(to) = a { Some(to) } else { None }) {
            Some(to) => {
                let to =
                    FullName { db: to.db.as_ref().map_or(&name.db, |d| &d.value).clone(), name: to.name.value.clone() };
                names::check_table(&to.name)?;
                Some(to).filter(|to| *to != name)
            }
            None => None,
        };
    let old = match &temporary {
        Some(t) => t.clone(),
        None => {
            if let Some(to) = &to {
                host.require("DROP", &name.db, &name.name)?;
                host.require("CREATE", &to.db, &to.name)?;
                host.require("INSERT", &to.db, &to.name)?;
            }
            lock(&name, to.as_ref(), s.wait, host)?;
            let schema = host.schema();
            let Some(t) = schema.table(&name.db, &name.name) else {
                let e = sql_err!(ER_NO_SUCH_TABLE, name.db, name.name);
                if s.if_exists {
                    host.diag().push(selkie_types::Level::Error, e);
                    return Ok(DdlDone::default());
                }
                return Err(e);
            };
            t.clone()
        }
    };
    if matches!(old.kind, TableKind::View(_)) {
        return Err(sql_err!(ER_WRONG_OBJECT, name.db, name.name, "BASE TABLE"));
    }
    if let Some(to) = &to {
        check_new_name(to, temporary.is_some(), host)?;
    }
    fail::fail_point!("ddl::alter::locked");
    Alter { s, old, to, host }.run(text)
}

fn lock(name: &FullName, to: Option<&FullName>, wait: Option<u64>, host: &mut dyn DdlHost) -> SqlResult<()> {
    let mut all = vec![name.clone()];
    all.extend(to.cloned());
    all.sort();
    for n in &all {
        host.lock_metadata(&n.db, "", false, wait)?;
    }
    for n in &all {
        host.lock_metadata(&n.db, &n.name, true, wait)?;
    }
    Ok(())
}

fn check_new_name(to: &FullName, temporary: bool, host: &dyn DdlHost) -> SqlResult<()> {
    let schema = host.schema();
    let taken = if temporary {
        host.temporary_table(&to.db, &to.name).is_some()
    } else {
        if !schema.databases.contains_key(&to.db) {
            return Err(sql_err!(ER_BAD_DB_ERROR, to.db));
        }
        schema.table(&to.db, &to.name).is_some()
    };
    if taken { Err(sql_err!(ER_TABLE_EXISTS_ERROR, to.name)) } else { Ok(()) }
}

/// One ALTER TABLE of a table that is locked.
struct Alter<'a> {
    s: &'a AlterTable,
    old: Arc<Table>,
    /// RENAME TO another name.
    to: Option<FullName>,
    host: &'a mut dyn DdlHost,
}

/// The new table and what it takes over.
struct Plan {
    table: Arc<Table>,
    origins: Vec<Option<usize>>,
    work: Work,
    /// Engine tables that the new table has and the old one has not.
    new_ids: Vec<IndexId>,
    new_foreign_keys: Vec<usize>,
    renamed: Vec<(String, String)>,
    check: bool,
    /// MariaDB would copy row by row, and tells how many there were.
    tells_rows: bool,
}

impl Alter<'_> {
    fn run(mut self, text: &[u8]) -> SqlResult<DdlDone> {
        let settings = self.host.settings();
        let mut actions = actions::apply(self.s, &self.old, self.host)?;
        if actions.only_rename {
            return self.rename_only(text);
        }
        let old = self.old.clone();
        let table = actions.draft.finish(self.host)?;
        self.check_references(&table, &actions)?;
        let plan = self.plan(table, &actions)?;
        check_algorithm(&plan, &old, &actions)?;
        self.check_stored_expressions(&plan)?;
        let mut engines = NewEngineTables::new(self.host);
        let copied = self.fill(&plan, &settings, &mut engines)?;
        fail::fail_point!("ddl::alter::built");
        self.host.check_killed()?;
        self.publish(&plan, &actions, text)?;
        engines.keep();
        self.clean_up(&plan);
        let mut done = DdlDone::default();
        let rows = if plan.tells_rows { copied.records } else { 0 };
        done.affected = rows;
        done.info = DdlDone::info_text(rows, copied.duplicates, self.host.diag().total);
        Ok(done)
    }

    fn rename_only(self, text: &[u8]) -> SqlResult<DdlDone> {
        let Some(to) = &self.to else { return Ok(DdlDone::default()) };
        if self.old.temporary {
            self.host.remove_temporary(&self.old.db, &self.old.name);
            self.host.put_temporary(Arc::new(with_name(&self.old, to)));
            return Ok(DdlDone::default());
        }
        let changes = renamed(&self.host.schema(), &BTreeMap::from([(self.old.id, to.clone())]));
        let default_db = self.host.current_db().unwrap_or("").to_owned();
        fail::fail_point!("ddl::alter::before_commit");
        self.host.commit_ddl(DdlRecord { changes, default_db, statement: text.to_vec() }, None)?;
        Ok(DdlDone::default())
    }

    /// Decides what is to be done, and gives the new table its ids.
    fn plan(&self, mut table: Table, actions: &Actions) -> SqlResult<Plan> {
        let old = &*self.old;
        let draft = &actions.draft;
        let origins: Vec<Option<usize>> = draft.columns.iter().map(|c| c.origin).collect();
        let index_origins: Vec<Option<usize>> = draft.indexes.iter().map(|i| i.origin).collect();
        let mut work = compare::work(old, &table, &origins, &index_origins);
        if actions.force || self.s.ignore || actions.algorithm == AlterAlgorithm::Copy {
            work = Work::Rebuild;
        }
        let checks_fk = self.host.settings().foreign_key_checks;
        let is_new = |name: &str| !old.foreign_keys.iter().any(|f| names::same(&f.name, name));
        let new_foreign_keys: Vec<usize> =
            (0..table.foreign_keys.len()).filter(|i| checks_fk && is_new(&table.foreign_keys[*i].name)).collect();
        let type_changes = origins
            .iter()
            .enumerate()
            .any(|(i, o)| o.is_some_and(|o| !compare::same_rows(&old.columns[o].ty, &table.columns[i].ty)));
        // Where MariaDB copies row by row, it tells how many there were.
        let unique_not_null = |t: &Table| {
            t.indexes
                .iter()
                .any(|i| i.unique && i.parts.iter().all(|p| !t.columns[p.column].nullable && p.prefix.is_none()))
        };
        let drops_primary = old.primary_key().is_some() && !unique_not_null(&table);
        let adds_stored = origins
            .iter()
            .enumerate()
            .any(|(i, o)| o.is_none() && table.columns[i].generated.as_ref().is_some_and(|g| g.stored));
        let copies = type_changes
            || drops_primary
            || adds_stored
            || self.s.ignore
            || actions.algorithm == AlterAlgorithm::Copy
            || table.engine != "InnoDB";
        let tells_rows =
            work == Work::Rebuild && copies || actions.new_check || !new_foreign_keys.is_empty() || old.temporary;
        table.create_time = old.create_time;
        table.row_version = old.row_version;
        table.row_versions.clone_from(&old.row_versions);
        let (table, new_ids) = match &work {
            Work::Rebuild => {
                table.row_version = 0;
                table.row_versions.clear();
                let settings = self.host.settings();
                table.create_time = settings.now_utc_micros.div_euclid(1_000_000).max(0) as u64;
                with_ids(table, self.host)
            }
            Work::Instant | Work::Indexes(_) => self.with_old_ids(table, &work, &index_origins),
        };
        Ok(Plan {
            table,
            origins,
            work,
            new_ids,
            new_foreign_keys,
            renamed: actions.renamed.clone(),
            check: actions.new_check,
            tells_rows,
        })
    }

    /// The new table over the old one's rows: indexes that stay keep their engine tables.
    fn with_old_ids(&self, mut table: Table, work: &Work, origins: &[Option<usize>]) -> (Arc<Table>, Vec<IndexId>) {
        let bit = if table.temporary { selkie_txn::VOLATILE } else { 0 };
        let mut new_ids = Vec::new();
        table.id = self.old.id;
        let built = |i: usize| matches!(work, Work::Indexes(list) if list.contains(&i));
        table.partitions = self
            .old
            .partitions
            .iter()
            .map(|p| Partition {
                name: p.name.clone(),
                rows: p.rows,
                indexes: origins
                    .iter()
                    .enumerate()
                    .map(|(i, o)| match o {
                        Some(o) if !built(i) => p.indexes[*o],
                        _ => {
                            let id = selkie_catalog::IndexIdDef(self.host.dictionary().allocate_id() | bit);
                            new_ids.push(id.into());
                            id
                        }
                    })
                    .collect(),
            })
            .collect();
        table.derived = OnceLock::new();
        (Arc::new(table), new_ids)
    }

    /// Foreign keys need their indexes and columns, here and in the tables that refer to this one.
    fn check_references(&self, new: &Table, actions: &Actions) -> SqlResult<()> {
        let old = &*self.old;
        let schema = self.host.schema();
        let enforced = self.host.settings().foreign_key_checks;
        let lost_index = |columns: &[String]| {
            let was = foreign::index_for(old, columns).map_or("", |i| &old.indexes[i].name);
            sql_err!(ER_DROP_INDEX_FK, was)
        };
        for f in &new.foreign_keys {
            let columns: Vec<String> = f.columns.iter().map(|c| new.columns[*c].name.clone()).collect();
            if foreign::index_for(new, &columns).is_none() {
                let before: Vec<String> = f
                    .columns
                    .iter()
                    .filter_map(|c| actions.draft.columns[*c].origin)
                    .map(|o| old.columns[o].name.clone())
                    .collect();
                return Err(lost_index(&before));
            }
        }
        if !enforced {
            return Ok(());
        }
        let changed = |name: &str| -> Option<bool> {
            let was = old.column_index(name)?;
            let now = actions.draft.columns.iter().position(|c| c.origin == Some(was))?;
            let (a, b) = (&old.columns[was].ty, &new.columns[now].ty);
            Some(
                a.data_type() != b.data_type()
                    || a.is_unsigned() != b.is_unsigned()
                    || !compare::same_rows(a, b) && !compare::same_rows(b, a),
            )
        };
        for f in &old.foreign_keys {
            let kept = new.foreign_keys.iter().any(|n| n.name == f.name);
            for c in f.columns.iter().map(|c| &old.columns[*c].name) {
                if kept && changed(c) == Some(true) {
                    return Err(sql_err!(ER_FK_COLUMN_CANNOT_CHANGE, c, f.name));
                }
            }
        }
        for (child, f) in foreign::referencing(&schema, &old.db, &old.name) {
            if child.id == old.id {
                continue;
            }
            for c in &f.ref_columns {
                match changed(c) {
                    None if old.column_index(c).is_some() => {
                        let of = format!("`{}`.`{}`", child.db, child.name);
                        return Err(sql_err!(ER_FK_COLUMN_CANNOT_DROP_CHILD, c, f.name, of));
                    }
                    Some(true) => {
                        let of = format!("{}.{}", child.db, child.name);
                        return Err(sql_err!(ER_FK_COLUMN_CANNOT_CHANGE_CHILD, c, f.name, of));
                    }
                    _ => {}
                }
            }
            let now: Vec<String> = f.ref_columns.iter().map(|c| new_name(c, &actions.renamed)).collect();
            if foreign::index_for(old, &f.ref_columns).is_some() && foreign::index_for(new, &now).is_none() {
                return Err(lost_index(&f.ref_columns));
            }
        }
        Ok(())
    }

    /// Expressions that were there must still be valid: a column that they need may be gone.
    fn check_stored_expressions(&mut self, plan: &Plan) -> SqlResult<()> {
        let t = &plan.table;
        let dropped = (0..self.old.columns.len()).any(|i| !plan.origins.contains(&Some(i)));
        if !dropped {
            return Ok(());
        }
        let mut texts: Vec<(&str, &str)> = Vec::new();
        for c in &t.columns {
            if let Some(g) = &c.generated {
                texts.push(("GENERATED ALWAYS AS", &g.expr));
            }
            if let selkie_catalog::ColumnDefault::Expr(e) = &c.default {
                texts.push(("DEFAULT", e));
            }
        }
        texts.extend(t.checks.iter().map(|c| ("CHECK", c.expr.as_str())));
        for (clause, text) in texts {
            let expr = crate::canonical::parse(text)?;
            bind::column_expr(self.host, &expr, t).map_err(|e| crate::column::in_clause(e, clause))?;
        }
        Ok(())
    }

    /// Builds what is new, off to the side.
    fn fill(&mut self, plan: &Plan, settings: &DdlSettings, engines: &mut NewEngineTables) -> SqlResult<Copied> {
        let old = self.old.clone();
        let schema = self.host.schema();
        let mut copied = Copied::default();
        let checks_rows = plan.check || !plan.new_foreign_keys.is_empty();
        let empty = is_empty(&old, engines)?;
        if empty || (plan.work == Work::Instant && !checks_rows) {
            // What is empty needs no checkpoint: replay makes it again.
            engines.create(&plan.new_ids)?;
            return Ok(copied);
        }
        let auto_increment_from = match plan.table.auto_increment_column().and_then(|c| plan.origins[c]) {
            Some(o) if old.columns[o].auto_increment => self.host.tables().get(&old)?.auto_increment(),
            _ => plan.table.auto_increment_start,
        };
        let target = bind::target(self.host, &plan.table)?;
        let job = CopyJob {
            old: &old,
            new: &target,
            origins: &plan.origins,
            ignore: self.s.ignore,
            settings,
            check: plan.check,
            new_foreign_keys: &plan.new_foreign_keys,
            schema: &schema,
            auto_increment_from,
        };
        self.host.with_exec(&mut |cx| {
            match &plan.work {
                Work::Rebuild => copied = copy::rebuild(&job, cx, engines)?,
                Work::Indexes(list) => copied.records = copy::add_indexes(&job, list, cx, engines)?,
                Work::Instant => copied.records = copy::add_indexes(&job, &[], cx, engines)?,
            }
            copy::check_parents(&job, cx, engines)
        })?;
        if !old.temporary && !plan.new_ids.is_empty() {
            self.host.make_durable()?;
        }
        Ok(copied)
    }

    /// Commits the new definition and everything that follows from it in other tables.
    fn publish(&mut self, plan: &Plan, actions: &Actions, text: &[u8]) -> SqlResult<()> {
        let old = self.old.clone();
        let mut table = (*plan.table).clone();
        self.keep_auto_increment(&mut table, plan, actions)?;
        if let Some(to) = &self.to {
            table = with_name(&table, to);
        }
        if old.temporary {
            self.host.remove_temporary(&old.db, &old.name);
            self.host.put_temporary(Arc::new(table));
            return Ok(());
        }
        let schema = self.host.schema();
        let mut changes = children_follow(&schema, &old, self.to.as_ref(), &plan.renamed);
        if table.id != old.id {
            changes.insert(0, DictionaryChange::RemoveTable(old.id));
        }
        changes.push(DictionaryChange::PutTable(Box::new(table)));
        changes.push(self.host.dictionary().next_id_change());
        let default_db = self.host.current_db().unwrap_or("").to_owned();
        fail::fail_point!("ddl::alter::before_commit");
        self.host.commit_ddl(DdlRecord { changes, default_db, statement: text.to_vec() }, None)?;
        fail::fail_point!("ddl::alter::after_commit");
        Ok(())
    }

    /// A counter that is ahead of the rows stays where it is, unless the statement sets it.
    fn keep_auto_increment(&self, table: &mut Table, plan: &Plan, actions: &Actions) -> SqlResult<()> {
        let Some(column) = table.auto_increment_column() else { return Ok(()) };
        if actions.auto_increment.is_some() {
            return Ok(());
        }
        if plan.origins[column].is_some_and(|o| self.old.columns[o].auto_increment) {
            let next = self.host.tables().get(&self.old)?.auto_increment();
            if next > 1 {
                table.auto_increment_start = next;
            }
        }
        Ok(())
    }

    fn clean_up(&mut self, plan: &Plan) {
        // The counters are read anew: from the definition, the rows and the index of the AUTO_INCREMENT column.
        self.host.tables().forget(self.old.id);
        let kept = engine_indexes(&plan.table);
        let gone = engine_indexes(&self.old).into_iter().filter(|id| !kept.contains(id)).collect();
        self.host.drop_engine_indexes(gone);
    }
}

fn new_name(column: &str, renamed: &[(String, String)]) -> String {
    renamed.iter().find(|(o, _)| names::same(o, column)).map_or_else(|| column.to_owned(), |(_, n)| n.clone())
}

/// Foreign keys of other tables follow a table's and its columns' new names.
fn children_follow(
    schema: &Schema,
    old: &Table,
    to: Option<&FullName>,
    columns: &[(String, String)],
) -> Vec<DictionaryChange> {
    if to.is_none() && columns.is_empty() {
        return Vec::new();
    }
    let mut out: BTreeMap<u64, Table> = BTreeMap::new();
    for (child, _) in foreign::referencing(schema, &old.db, &old.name) {
        if child.id == old.id || out.contains_key(&child.id) {
            continue;
        }
        let mut t = (**child).clone();
        for f in t.foreign_keys.iter_mut().filter(|f| f.ref_db == old.db && f.ref_table == old.name) {
            if let Some(to) = to {
                f.ref_db.clone_from(&to.db);
                f.ref_table.clone_from(&to.name);
            }
            for c in &mut f.ref_columns {
                *c = new_name(c, columns);
            }
        }
        out.insert(t.id, t);
    }
    out.into_values().map(|t| DictionaryChange::PutTable(Box::new(t))).collect()
}

fn is_empty(table: &Table, engines: &NewEngineTables) -> SqlResult<bool> {
    let failed = crate::engine_tables::engine_error;
    let id = table.rows_index();
    let reader = engines.engine(id).read(selkie_engine::ReadAt::Latest).map_err(failed)?;
    let mut cursor = reader.cursor(id).map_err(failed)?;
    Ok(!cursor.first().map_err(failed)?)
}

/// ALGORITHM and LOCK ask for more than the work allows.
fn check_algorithm(plan: &Plan, old: &Table, actions: &Actions) -> SqlResult<()> {
    let refuse = |what: &str, reason: &str, instead: &str| -> SqlError {
        if reason.is_empty() {
            sql_err!(ER_ALTER_OPERATION_NOT_SUPPORTED, what, instead)
        } else {
            sql_err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, what, reason, instead)
        }
    };
    let type_changes = plan
        .origins
        .iter()
        .enumerate()
        .any(|(i, o)| o.is_some_and(|o| !compare::same_rows(&old.columns[o].ty, &plan.table.columns[i].ty)));
    const TYPE: &str = "Cannot change column type";
    const FOREIGN: &str = "Adding foreign keys needs foreign_key_checks=OFF";
    if !plan.new_foreign_keys.is_empty() {
        match actions.algorithm {
            AlterAlgorithm::Instant => return Err(refuse("ALGORITHM=INSTANT", FOREIGN, "ALGORITHM=COPY")),
            AlterAlgorithm::NoCopy => return Err(refuse("ALGORITHM=NOCOPY", FOREIGN, "ALGORITHM=COPY")),
            AlterAlgorithm::Inplace => return Err(refuse("ALGORITHM=INPLACE", FOREIGN, "ALGORITHM=COPY")),
            _ => {}
        }
    }
    match (actions.algorithm, &plan.work) {
        (AlterAlgorithm::Instant | AlterAlgorithm::NoCopy | AlterAlgorithm::Inplace, Work::Rebuild) if type_changes => {
            let what = match actions.algorithm {
                AlterAlgorithm::Instant => "ALGORITHM=INSTANT",
                AlterAlgorithm::NoCopy => "ALGORITHM=NOCOPY",
                _ => "ALGORITHM=INPLACE",
            };
            return Err(refuse(what, TYPE, "ALGORITHM=COPY"));
        }
        (AlterAlgorithm::Instant, Work::Rebuild) => return Err(refuse("ALGORITHM=INSTANT", "", "ALGORITHM=INPLACE")),
        (AlterAlgorithm::NoCopy, Work::Rebuild) => return Err(refuse("ALGORITHM=NOCOPY", "", "ALGORITHM=INPLACE")),
        (AlterAlgorithm::Instant, Work::Indexes(_)) => {
            return Err(refuse("ALGORITHM=INSTANT", "ADD INDEX", "ALGORITHM=NOCOPY"));
        }
        _ => {}
    }
    let copies = actions.algorithm == AlterAlgorithm::Copy || plan.tells_rows;
    if actions.lock == AlterLock::None && copies {
        return Err(refuse("LOCK=NONE", "COPY algorithm requires a lock", "LOCK=SHARED"));
    }
    Ok(())
}
