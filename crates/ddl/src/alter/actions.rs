//! The actions of ALTER TABLE, applied to a definition.
//!
//! What an action changes, drops or renames is named as it was before the statement; what it adds, and where, is named as it
//! will be afterwards. So two columns may swap their names in one statement.

use selkie_catalog::{ColumnDefault, Table};
use selkie_parser::ast::{
    AlterAction, AlterAlgorithm, AlterLock, AlterTable, ColumnDef, ColumnPosition, IndexDef, ObjectName, TableElement,
};
use selkie_types::{Collation, SqlResult, SqlType, TextKind, sql_err};

use crate::column::{self, DraftColumn};
use crate::draft::Draft;
use crate::host::DdlHost;
use crate::index::DraftIndex;
use crate::names;
use crate::options::{self, Options};
use crate::types;

/// What the actions amount to beside the new definition.
pub struct Actions {
    /// The definition.
    pub draft: Draft,
    /// RENAME TO
    pub rename: Option<ObjectName>,
    /// FORCE, ENGINE, ORDER BY: rows are written anew whatever else is asked for.
    pub force: bool,
    /// ALGORITHM
    pub algorithm: AlterAlgorithm,
    /// LOCK
    pub lock: AlterLock,
    /// AUTO_INCREMENT= was given.
    pub auto_increment: Option<u64>,
    /// A CHECK was added.
    pub new_check: bool,
    /// Columns that are renamed: old and new name.
    pub renamed: Vec<(String, String)>,
    /// Nothing but the table's name changes.
    pub only_rename: bool,
    /// Where [`ColumnPosition`]s wait until all columns are there.
    positions: Vec<(String, ColumnPosition)>,
}

/// Applies the actions of a statement.
pub fn apply(s: &AlterTable, old: &Table, host: &mut dyn DdlHost) -> SqlResult<Actions> {
    let mut a = Actions {
        draft: Draft::of(old),
        rename: None,
        force: false,
        algorithm: AlterAlgorithm::Default,
        lock: AlterLock::Default,
        auto_increment: None,
        new_check: false,
        renamed: Vec::new(),
        only_rename: !s.actions.is_empty(),
        positions: Vec::new(),
    };
    for action in &s.actions {
        a.only_rename &= matches!(
            action,
            AlterAction::RenameTable(_)
                | AlterAction::Algorithm(_)
                | AlterAction::Lock(_)
                | AlterAction::EnableKeys
                | AlterAction::DisableKeys
        );
        // Character sets first: columns added by the same statement inherit them.
        match action {
            AlterAction::Options(list) => a.options(&Options::of(list)?, old, host)?,
            AlterAction::ConvertCharset { charset, collation } => {
                a.convert(charset.as_deref(), collation.as_deref(), old, host)?;
            }
            _ => {}
        }
    }
    // Names of constraints that go may be used again by ones that come.
    let (drops, others): (Vec<_>, Vec<_>) = s.actions.iter().partition(|x| is_drop(x));
    for action in drops.into_iter().chain(others) {
        a.one(action, old, host)?;
    }
    a.place_columns(old)?;
    a.follow_columns(old)?;
    Ok(a)
}

fn is_drop(a: &AlterAction) -> bool {
    matches!(
        a,
        AlterAction::DropColumn { .. }
            | AlterAction::DropPrimaryKey
            | AlterAction::DropIndex { .. }
            | AlterAction::DropForeignKey { .. }
            | AlterAction::DropConstraint { .. }
    )
}

fn cannot_drop(what: &str, name: &str) -> selkie_types::SqlError {
    sql_err!(ER_CANT_DROP_FIELD_OR_KEY, what, name)
}

impl Actions {
    fn one(&mut self, action: &AlterAction, old: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
        match action {
            AlterAction::AddColumn { if_not_exists, column, position } => {
                self.add_column(column, *if_not_exists, position.as_ref(), host)?;
            }
            AlterAction::AddElements { if_not_exists, elements } => {
                for e in elements {
                    match e {
                        TableElement::Column(c) => self.add_column(c, *if_not_exists, None, host)?,
                        TableElement::Index(i) => self.add_index(i, host)?,
                        e => self.draft.add_element(e, host)?,
                    }
                    self.new_check |= matches!(e, TableElement::Check(_));
                }
            }
            AlterAction::AddIndex(i) => self.add_index(i, host)?,
            AlterAction::AddForeignKey(f) => {
                let name = f.constraint.as_ref().or(f.index_name.as_ref());
                let there = |n: &str| {
                    self.draft.foreign_keys.iter().any(|k| k.name.as_deref().is_some_and(|k| names::same(k, n)))
                };
                match name {
                    Some(n) if f.if_not_exists && there(n.as_str()) => {
                        host.diag().note(sql_err!(ER_DUP_CONSTRAINT_NAME, "FOREIGN KEY", n.as_str()));
                    }
                    _ => self.draft.add_foreign_key(f)?,
                }
            }
            AlterAction::AddCheck(c) => {
                let there = c.name.as_ref().is_some_and(|n| self.find_check(n.as_str()).is_some());
                if c.if_not_exists && there {
                    let name = c.name.as_ref().map_or("", |n| n.as_str());
                    host.diag().note(sql_err!(ER_DUP_CONSTRAINT_NAME, "CHECK", name));
                } else {
                    self.draft.add_check(c)?;
                    self.new_check = true;
                }
            }
            AlterAction::ChangeColumn { if_exists, name, column, position } => {
                self.change_column(name.as_str(), column, *if_exists, position.as_ref(), old, host)?;
            }
            AlterAction::ModifyColumn { if_exists, column, position } => {
                self.change_column(column.name.as_str(), column, *if_exists, position.as_ref(), old, host)?;
            }
            AlterAction::RenameColumn { if_exists, from, to } => {
                let Some(i) = self.old_column(from.as_str(), *if_exists, old, host)? else { return Ok(()) };
                names::check_column(to.as_str())?;
                let c = &mut self.draft.columns[i].column;
                self.renamed.push((c.name.clone(), to.value.clone()));
                c.name.clone_from(&to.value);
            }
            AlterAction::AlterColumnDefault { if_exists, name, default } => {
                let Some(i) = self.old_column(name.as_str(), *if_exists, old, host)? else { return Ok(()) };
                let settings = host.settings();
                let c = &mut self.draft.columns[i];
                match default {
                    Some(d) if c.column.auto_increment || c.column.generated.is_some() => {
                        let _ = d;
                        return Err(sql_err!(ER_INVALID_DEFAULT, c.column.name));
                    }
                    Some(d) => {
                        column::set_default(c, &d.expr, &settings, host.diag())?;
                    }
                    None if c.column.nullable => c.column.default = ColumnDefault::Null,
                    None => c.column.default = ColumnDefault::None,
                }
            }
            AlterAction::DropColumn { if_exists, name } => self.drop_column(name.as_str(), *if_exists, host)?,
            AlterAction::DropPrimaryKey => self.drop_index("PRIMARY", false, host)?,
            AlterAction::DropIndex { if_exists, name } => self.drop_index(name.as_str(), *if_exists, host)?,
            AlterAction::DropForeignKey { if_exists, name } => {
                let at = self
                    .draft
                    .foreign_keys
                    .iter()
                    .position(|f| f.name.as_deref().is_some_and(|n| names::same(n, name.as_str())));
                match at {
                    Some(i) => {
                        self.draft.foreign_keys.remove(i);
                    }
                    None if *if_exists => host.diag().note(cannot_drop("FOREIGN KEY", name.as_str())),
                    None => return Err(cannot_drop("FOREIGN KEY", name.as_str())),
                }
            }
            AlterAction::DropConstraint { if_exists, name } => self.drop_constraint(name.as_str(), *if_exists, host)?,
            AlterAction::RenameTable(to) => self.rename = Some(to.clone()),
            AlterAction::RenameIndex { if_exists, from, to } => {
                if from.is("PRIMARY") {
                    return Err(sql_err!(ER_WRONG_NAME_FOR_INDEX, from.as_str()));
                }
                names::check_index(to)?;
                match self.find_index(from.as_str()) {
                    Some(i) => self.draft.indexes[i].name = Some(to.value.clone()),
                    None if *if_exists => host.diag().note(sql_err!(ER_KEY_DOES_NOT_EXISTS, from.as_str(), old.name)),
                    None => return Err(sql_err!(ER_KEY_DOES_NOT_EXISTS, from.as_str(), old.name)),
                }
            }
            AlterAction::AlterIndex { if_exists, name, ignored } => match self.find_index(name.as_str()) {
                Some(i) if self.draft.indexes[i].primary && *ignored => {
                    return Err(sql_err!(ER_PK_INDEX_CANT_BE_IGNORED));
                }
                Some(i) => self.draft.indexes[i].ignored = *ignored,
                None if *if_exists => host.diag().note(sql_err!(ER_KEY_DOES_NOT_EXISTS, name.as_str(), old.name)),
                None => return Err(sql_err!(ER_KEY_DOES_NOT_EXISTS, name.as_str(), old.name)),
            },
            AlterAction::OrderBy(_) => {
                if old.primary_key().is_some() {
                    let text = format!(
                        "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                        old.name
                    );
                    let e = selkie_types::SqlError::with_message(selkie_types::codes::ER_UNKNOWN_ERROR, text);
                    host.diag().warn(e);
                }
                self.force = true;
            }
            AlterAction::EnableKeys | AlterAction::DisableKeys if old.engine != "InnoDB" || self.only_rename => {}
            AlterAction::EnableKeys | AlterAction::DisableKeys => {
                host.diag().note(sql_err!(ER_ILLEGAL_HA, old.engine, old.db, old.name));
            }
            AlterAction::Force => self.force = true,
            AlterAction::Algorithm(x) => self.algorithm = *x,
            AlterAction::Lock(x) => self.lock = *x,
            AlterAction::PartitionBy(p) => {
                if old.temporary {
                    return Err(sql_err!(ER_PARTITION_NO_TEMPORARY));
                }
                self.draft.partition_by = Some(crate::partition::text(p, &self.draft.engine));
            }
            AlterAction::Partition(p) => match &**p {
                _ if old.partition_by.is_none() => return Err(sql_err!(ER_PARTITION_MGMT_ON_NONPARTITIONED)),
                selkie_parser::ast::PartitionAction::Remove => self.draft.partition_by = None,
                _ => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "ALTER TABLE ... PARTITION")),
            },
            AlterAction::DiscardTablespace | AlterAction::ImportTablespace => {
                return Err(sql_err!(ER_NOT_SUPPORTED_YET, "DISCARD and IMPORT TABLESPACE"));
            }
            AlterAction::AddPeriod(_) | AlterAction::DropPeriod { .. } => {
                return Err(sql_err!(ER_NOT_SUPPORTED_YET, "PERIOD"));
            }
            AlterAction::AddSystemVersioning | AlterAction::DropSystemVersioning => {
                return Err(sql_err!(ER_NOT_SUPPORTED_YET, "SYSTEM VERSIONING"));
            }
            // Applied before.
            AlterAction::Options(_) | AlterAction::ConvertCharset { .. } => {}
        }
        Ok(())
    }

    fn options(&mut self, o: &Options, old: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
        let settings = host.settings();
        if let Some(e) = &o.engine {
            self.draft.engine = options::engine(Some(e), old.temporary, &old.name, &settings, host.diag())?;
            self.force = true;
        }
        let schema = host.schema();
        let of_database = schema.databases.get(&old.db).map_or(settings.collation_server, |d| d.collation);
        self.draft.collation = o.collation(Some(self.draft.collation), of_database)?;
        if let Some(c) = o.comment(&old.name)? {
            self.draft.comment = c;
        }
        self.draft.options = o.merged(&self.draft.options);
        if let Some(n) = o.auto_increment {
            self.draft.auto_increment_start = n;
            self.auto_increment = Some(n);
        }
        Ok(())
    }

    /// CONVERT TO CHARACTER SET.
    fn convert(&mut self, cs: Option<&str>, coll: Option<&str>, old: &Table, host: &mut dyn DdlHost) -> SqlResult<()> {
        let settings = host.settings();
        let schema = host.schema();
        let of_database = schema.databases.get(&old.db).map_or(settings.collation_server, |d| d.collation);
        let to = types::resolve_collation(cs, coll, of_database)?;
        self.draft.collation = to;
        for c in &mut self.draft.columns {
            c.column.ty = converted(&c.column.name, &c.column.ty, to, settings.sql_mode.strict())?;
        }
        Ok(())
    }

    fn add_column(
        &mut self,
        def: &ColumnDef,
        if_not_exists: bool,
        position: Option<&ColumnPosition>,
        host: &mut dyn DdlHost,
    ) -> SqlResult<()> {
        if self.draft.column_position(def.name.as_str()).is_some() && if_not_exists {
            host.diag().note(sql_err!(ER_DUP_FIELDNAME, def.name.as_str()));
            return Ok(());
        }
        self.new_check |= def.check.is_some();
        let c = self.draft.declare(def, host)?;
        if let Some(p) = position {
            self.positions.push((c.column.name.clone(), p.clone()));
        }
        self.draft.columns.push(c);
        Ok(())
    }

    fn add_index(&mut self, def: &IndexDef, host: &mut dyn DdlHost) -> SqlResult<()> {
        let index = DraftIndex::declared(def)?;
        if let Some(n) = &index.name
            && def.if_not_exists
            && self.find_index(n).is_some()
        {
            host.diag().note(if index.primary { sql_err!(ER_MULTIPLE_PRI_KEY) } else { sql_err!(ER_DUP_KEYNAME, n) });
            return Ok(());
        }
        self.draft.indexes.push(index);
        Ok(())
    }

    /// Position in the definition of a column of the old table.
    fn old_column(&self, name: &str, if_exists: bool, old: &Table, host: &mut dyn DdlHost) -> SqlResult<Option<usize>> {
        let at = old.columns.iter().position(|c| names::same(&c.name, name));
        let now = at.and_then(|i| self.draft.columns.iter().position(|c| c.origin == Some(i)));
        match now {
            Some(i) => Ok(Some(i)),
            None if if_exists => {
                host.diag().note(sql_err!(ER_BAD_FIELD_ERROR, name, old.name));
                Ok(None)
            }
            None => Err(sql_err!(ER_BAD_FIELD_ERROR, name, old.name)),
        }
    }

    fn change_column(
        &mut self,
        name: &str,
        def: &ColumnDef,
        if_exists: bool,
        position: Option<&ColumnPosition>,
        old: &Table,
        host: &mut dyn DdlHost,
    ) -> SqlResult<()> {
        let Some(i) = self.old_column(name, if_exists, old, host)? else { return Ok(()) };
        let was = &old.columns[self.draft.columns[i].origin.unwrap_or(i)];
        self.draft.checks.retain(|c| !(c.column.as_deref() == Some(&was.name) && c.new_expr.is_none()));
        self.new_check |= def.check.is_some();
        let mut c: DraftColumn = self.draft.declare(def, host)?;
        c.origin = self.draft.columns[i].origin;
        if c.column.name != was.name {
            self.renamed.push((was.name.clone(), c.column.name.clone()));
        }
        if let Some(p) = position {
            self.positions.push((c.column.name.clone(), p.clone()));
        }
        self.draft.columns[i] = c;
        Ok(())
    }

    fn drop_column(&mut self, name: &str, if_exists: bool, host: &mut dyn DdlHost) -> SqlResult<()> {
        match self.draft.column_position(name) {
            Some(i) => {
                let c = self.draft.columns.remove(i);
                self.draft.checks.retain(|k| k.column.as_deref() != Some(&c.column.name));
            }
            None if if_exists => host.diag().note(cannot_drop("COLUMN", name)),
            None => return Err(cannot_drop("COLUMN", name)),
        }
        if self.draft.columns.is_empty() {
            return Err(sql_err!(ER_CANT_REMOVE_ALL_FIELDS));
        }
        Ok(())
    }

    fn find_index(&self, name: &str) -> Option<usize> {
        self.draft.indexes.iter().position(|i| i.name.as_deref().is_some_and(|n| names::same(n, name)))
    }

    fn find_check(&self, name: &str) -> Option<usize> {
        self.draft
            .checks
            .iter()
            .position(|c| c.column.is_none() && c.name.as_deref().is_some_and(|n| names::same(n, name)))
    }

    fn drop_index(&mut self, name: &str, if_exists: bool, host: &mut dyn DdlHost) -> SqlResult<()> {
        match self.find_index(name) {
            Some(i) => {
                self.draft.indexes.remove(i);
            }
            None if if_exists => host.diag().note(cannot_drop("INDEX", name)),
            None => return Err(cannot_drop("INDEX", name)),
        }
        Ok(())
    }

    fn drop_constraint(&mut self, name: &str, if_exists: bool, host: &mut dyn DdlHost) -> SqlResult<()> {
        let key = self.draft.foreign_keys.iter().position(|f| f.name.as_deref().is_some_and(|n| names::same(n, name)));
        let unique = self.find_index(name).filter(|i| self.draft.indexes[*i].unique);
        match (self.find_check(name), unique, key) {
            (Some(i), ..) => {
                self.draft.checks.remove(i);
            }
            (_, Some(i), _) => {
                self.draft.indexes.remove(i);
            }
            (.., Some(i)) => {
                self.draft.foreign_keys.remove(i);
            }
            _ if if_exists => host.diag().note(cannot_drop("CONSTRAINT", name)),
            _ => return Err(cannot_drop("CONSTRAINT", name)),
        }
        Ok(())
    }

    /// Moves columns to where FIRST and AFTER say.
    fn place_columns(&mut self, old: &Table) -> SqlResult<()> {
        for (name, position) in std::mem::take(&mut self.positions) {
            let Some(from) = self.draft.column_position(&name) else { continue };
            let c = self.draft.columns.remove(from);
            let at = match &position {
                ColumnPosition::First => 0,
                ColumnPosition::After(n) => match self.draft.column_position(n.as_str()) {
                    Some(i) => i + 1,
                    None => return Err(sql_err!(ER_BAD_FIELD_ERROR, n.as_str(), old.name)),
                },
            };
            self.draft.columns.insert(at, c);
        }
        Ok(())
    }

    /// Lets indexes, foreign keys, checks and expressions that were there follow renamed and dropped columns.
    fn follow_columns(&mut self, old: &Table) -> SqlResult<()> {
        let now = |name: &str, columns: &[DraftColumn]| -> Option<String> {
            let i = old.columns.iter().position(|c| names::same(&c.name, name))?;
            columns.iter().find(|c| c.origin == Some(i)).map(|c| c.column.name.clone())
        };
        let columns = &self.draft.columns;
        let mut kept = Vec::with_capacity(self.draft.indexes.len());
        for mut index in std::mem::take(&mut self.draft.indexes) {
            if index.origin.is_some() {
                let whole = index.parts.len();
                let mut lost = None;
                index.parts.retain_mut(|p| match now(&p.column, columns) {
                    Some(n) => {
                        p.column = n;
                        true
                    }
                    None => {
                        lost = Some(p.column.clone());
                        false
                    }
                });
                match lost {
                    Some(_) if index.parts.is_empty() => continue,
                    Some(c) if index.unique && whole > 1 => return Err(sql_err!(ER_KEY_COLUMN_DOES_NOT_EXIST, c)),
                    _ => {}
                }
                // A prefix that a shorter column no longer has room for becomes the whole column.
                for p in &mut index.parts {
                    let ty = columns.iter().find(|c| c.column.name == p.column).map(|c| &c.column.ty);
                    if let (Some(n), Some(SqlType::Text { kind: TextKind::Char | TextKind::VarChar, len, .. })) =
                        (p.prefix, ty)
                        && n >= *len as u64
                    {
                        p.prefix = None;
                    }
                    if !matches!(ty, Some(SqlType::Text { .. })) {
                        p.prefix = None;
                    }
                }
            }
            kept.push(index);
        }
        self.draft.indexes = kept;
        for f in self.draft.foreign_keys.iter_mut().filter(|f| f.existing) {
            let own = f.ref_db == old.db && f.ref_table == old.name;
            let single = f.columns.len() == 1;
            for c in &mut f.columns {
                match now(c, columns) {
                    Some(n) => *c = n,
                    None if single => {
                        let was = crate::foreign::index_for(old, std::slice::from_ref(c))
                            .map_or("", |i| &old.indexes[i].name);
                        return Err(sql_err!(ER_DROP_INDEX_FK, was));
                    }
                    None => {
                        let name = f.name.clone().unwrap_or_default();
                        return Err(sql_err!(ER_FK_COLUMN_CANNOT_DROP, c, name));
                    }
                }
            }
            if own {
                for c in &mut f.ref_columns {
                    if let Some(n) = now(c, columns) {
                        *c = n;
                    }
                }
            }
        }
        let renamed = &self.renamed;
        for c in &mut self.draft.checks {
            if c.new_expr.is_none() {
                c.expr = rename_in_text(&c.expr, renamed);
                if let Some(column) = &mut c.column
                    && let Some((_, new)) = renamed.iter().find(|(o, _)| names::same(o, column))
                    && c.name.as_ref() == Some(column)
                {
                    c.name = Some(new.clone());
                    column.clone_from(new);
                }
            }
        }
        for c in &mut self.draft.columns {
            if c.new_expr.is_some() || c.origin.is_none() {
                continue;
            }
            if let Some(g) = &mut c.column.generated {
                g.expr = rename_in_text(&g.expr, renamed);
            }
            if let ColumnDefault::Expr(text) = &mut c.column.default {
                *text = rename_in_text(text, renamed);
            }
        }
        Ok(())
    }
}

/// Replaces quoted names in canonical text, where every column stands in backticks.
pub fn rename_in_text(text: &str, renamed: &[(String, String)]) -> String {
    if renamed.is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '\'']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let quote = if tail.starts_with('`') { '`' } else { '\'' };
        let mut end = None;
        let mut chars = tail.char_indices().skip(1).peekable();
        while let Some((i, c)) = chars.next() {
            if c == '\\' && quote == '\'' {
                chars.next();
            } else if c == quote {
                if chars.peek().is_some_and(|(_, n)| *n == quote) {
                    chars.next();
                } else {
                    end = Some(i + 1);
                    break;
                }
            }
        }
        let (token, after) = tail.split_at(end.unwrap_or(tail.len()));
        rest = after;
        let inner = token.trim_matches('`').replace("``", "`");
        match renamed.iter().find(|(o, _)| quote == '`' && names::same(o, &inner)) {
            Some((_, new)) => out.push_str(&selkie_parser::display::quoted_ident(new)),
            None => out.push_str(token),
        }
    }
    out.push_str(rest);
    out
}

/// A column's type in another character set. TEXT kinds grow so that the same number of characters fits.
fn converted(name: &str, ty: &SqlType, to: Collation, strict: bool) -> SqlResult<SqlType> {
    Ok(match ty {
        SqlType::Text { collation, .. } if collation.is_binary() => ty.clone(),
        SqlType::Text { kind: TextKind::Char, len, .. } => {
            SqlType::Text { kind: TextKind::Char, len: *len, collation: to }
        }
        SqlType::Text { kind: TextKind::VarChar, len, .. } => {
            let max = 65_532 / to.charset().max_len();
            if *len <= max {
                SqlType::varchar(*len, to)
            } else if strict {
                return Err(sql_err!(ER_TOO_BIG_FIELDLENGTH, name, max));
            } else {
                let kind = TextKind::for_bytes(*len as u64 * to.charset().max_len() as u64);
                SqlType::Text { kind, len: kind.blob_limit().unwrap_or(u32::MAX), collation: to }
            }
        }
        SqlType::Text { kind, collation, .. } => {
            let limit = kind.blob_limit().unwrap_or(u32::MAX) as u64;
            let (was, is) = (collation.charset().max_len() as u64, to.charset().max_len() as u64);
            let kind = if is > was { TextKind::for_bytes((limit / was * is).min(u32::MAX as u64)) } else { *kind };
            SqlType::Text { kind, len: kind.blob_limit().unwrap_or(u32::MAX), collation: to }
        }
        SqlType::Enum(d) => {
            SqlType::Enum(std::sync::Arc::new(selkie_types::EnumDef { members: d.members.clone(), collation: to }))
        }
        SqlType::Set(d) => {
            SqlType::Set(std::sync::Arc::new(selkie_types::EnumDef { members: d.members.clone(), collation: to }))
        }
        ty => ty.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::rename_in_text;

    #[test]
    fn names_in_texts_follow() {
        let map = [("a".to_owned(), "b".to_owned()), ("b".to_owned(), "x`y".to_owned())];
        assert_eq!(rename_in_text("`a` + `b` > 'it''s `a`\\''", &map), "`b` + `x``y` > 'it''s `a`\\''");
        assert_eq!(rename_in_text("`ab` and (`A`)", &map), "`ab` and (`b`)");
    }
}
