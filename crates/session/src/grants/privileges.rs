//! GRANT and REVOKE.

use selkie_parser::ast::{Grant, Privilege, PrivilegeKind, PrivilegeLevel, Revoke, UserName};
use selkie_types::{SqlError, SqlResult, sql_err};

use super::users::apply_options;
use super::{Draft, no_such_account};
use crate::accounts::{Account, Privileges, RoutineGrant, TableGrant};
use crate::session::Session;

/// What a list of privileges is about, names resolved.
enum Level {
    Global,
    Database(String),
    Table(String, String),
    Routine(&'static str, String, String),
}

/// A list of privileges at one level.
struct Wanted {
    whole: Privileges,
    columns: Vec<(String, Privileges)>,
}

impl Session {
    fn level(&self, level: &PrivilegeLevel) -> SqlResult<Level> {
        Ok(match level {
            PrivilegeLevel::Global => Level::Global,
            PrivilegeLevel::CurrentDatabase => {
                Level::Database(self.host.database.clone().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))?)
            }
            PrivilegeLevel::Database(db) => Level::Database(db.value.clone()),
            PrivilegeLevel::Table(n) => Level::Table(self.database_of(n)?, n.name.value.clone()),
            PrivilegeLevel::Function(n) => Level::Routine("FUNCTION", self.database_of(n)?, n.name.value.clone()),
            PrivilegeLevel::Procedure(n) => Level::Routine("PROCEDURE", self.database_of(n)?, n.name.value.clone()),
            PrivilegeLevel::Package(n) => Level::Routine("PACKAGE", self.database_of(n)?, n.name.value.clone()),
            PrivilegeLevel::PackageBody(n) => Level::Routine("PACKAGE BODY", self.database_of(n)?, n.name.value.clone()),
        })
    }

    pub(super) fn grant(&mut self, g: &Grant, draft: &mut Draft) -> SqlResult<()> {
        match g {
            Grant::Privileges { privileges, level, to, options, with_grant } => {
                let level = self.level(level)?;
                let mut wanted = wanted(privileges, &level)?;
                self.may_grant(&level, &wanted)?;
                self.check_object(&level, &wanted)?;
                if *with_grant {
                    wanted.whole = wanted.whole.with(Privileges::GRANT_OPTION);
                }
                for spec in to {
                    let mut account = self.granted_account(draft, spec)?;
                    add(&mut account, &level, &wanted);
                    apply_options(&mut account, options);
                    draft.put(account);
                }
                Ok(())
            }
            Grant::Roles { roles, to, with_admin } => {
                for role in roles {
                    let role = self.role_to_give(role)?;
                    for spec in to {
                        let name = self.full_name(&spec.name)?;
                        let mut account = self.drafted(draft, &name).ok_or_else(no_such_account)?;
                        if account.is_role && self.reaches(&role, &account.user) {
                            return Err(sql_err!(ER_CANNOT_GRANT_ROLE, role, format!("'{}'", account.user)));
                        }
                        match account.roles.iter_mut().find(|(r, _)| *r == role) {
                            Some(given) => given.1 |= with_admin,
                            None => account.roles.push((role.clone(), *with_admin)),
                        }
                        draft.put(account);
                    }
                }
                Ok(())
            }
            Grant::Proxy { on, to, with_grant } => {
                self.require_one_of(&["CREATE USER"])?;
                let on = self.full_name(on)?;
                for spec in to {
                    let mut account = self.granted_account(draft, spec)?;
                    account.proxies.retain(|(u, h, _)| (u, h) != (&on.user, &on.host));
                    account.proxies.push((on.user.clone(), on.host.clone(), *with_grant));
                    draft.put(account);
                }
                Ok(())
            }
        }
    }

    pub(super) fn revoke(&mut self, r: &Revoke, draft: &mut Draft) -> SqlResult<()> {
        match r {
            Revoke::Privileges { privileges, level, from } => {
                let level = self.level(level)?;
                let wanted = wanted(privileges, &level)?;
                self.may_grant(&level, &wanted)?;
                for user in from {
                    let name = self.full_name(user)?;
                    let missing = || sql_err!(ER_NONEXISTING_GRANT, name.user, name.host);
                    let mut account = self.drafted(draft, &name).ok_or_else(missing)?;
                    take(&mut account, &level, &wanted)?;
                    draft.put(account);
                }
                Ok(())
            }
            Revoke::All { from } => {
                self.require_one_of(&["CREATE USER"])?;
                let mut failed = Vec::new();
                for user in from {
                    let name = self.full_name(user)?;
                    let Some(mut account) = self.drafted(draft, &name) else {
                        failed.push(name);
                        continue;
                    };
                    account.global = Privileges::NONE;
                    account.databases.clear();
                    account.tables.clear();
                    account.routines.clear();
                    account.roles.clear();
                    account.default_role = None;
                    draft.put(account);
                }
                if failed.is_empty() { Ok(()) } else { Err(sql_err!(ER_REVOKE_GRANTS)) }
            }
            Revoke::Roles { admin_option_for, roles, from } => {
                for role in roles {
                    let role = self.role_to_give(role)?;
                    for user in from {
                        let name = self.full_name(user)?;
                        let account = self.drafted(draft, &name);
                        let with_role = account.filter(|a| a.roles.iter().any(|(r, _)| *r == role));
                        let mut account = with_role.ok_or_else(|| sql_err!(ER_CANNOT_REVOKE_ROLE, role, name))?;
                        if *admin_option_for {
                            account.roles.iter_mut().filter(|(r, _)| *r == role).for_each(|r| r.1 = false);
                        } else {
                            account.roles.retain(|(r, _)| *r != role);
                        }
                        draft.put(account);
                    }
                }
                Ok(())
            }
            Revoke::Proxy { on, from } => {
                self.require_one_of(&["CREATE USER"])?;
                let on = self.full_name(on)?;
                for user in from {
                    let name = self.full_name(user)?;
                    let mut account = self.drafted(draft, &name).ok_or_else(no_such_account)?;
                    let before = account.proxies.len();
                    account.proxies.retain(|(u, h, _)| (u, h) != (&on.user, &on.host));
                    if account.proxies.len() == before {
                        return Err(sql_err!(ER_NONEXISTING_GRANT, name.user, name.host));
                    }
                    draft.put(account);
                }
                Ok(())
            }
        }
    }

    /// A role that exists and that the session may give.
    fn role_to_give(&self, role: &UserName) -> SqlResult<String> {
        let name = match role {
            UserName::Named { user, .. } => user.clone(),
            other => self.full_name(other)?.user,
        };
        if self.instance().accounts.role(&name).is_none() {
            return Err(sql_err!(ER_INVALID_ROLE, name));
        }
        let a = &self.host.account;
        let admin = a.roles.iter().any(|(r, admin)| *r == name && *admin);
        if !admin && !a.allows("SUPER", "", "") {
            return Err(sql_err!(ER_ACCESS_DENIED_ERROR, a.user, a.host, if a.authentication.is_empty() { "NO" } else { "YES" }));
        }
        Ok(name)
    }

    /// Whether one role has another, through any number of roles.
    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = vec![from.to_owned()];
        let mut at = 0;
        while at < seen.len() {
            if seen[at] == to {
                return true;
            }
            if let Some(role) = self.instance().accounts.role(&seen[at]) {
                for (r, _) in &role.roles {
                    if !seen.contains(r) {
                        seen.push(r.clone());
                    }
                }
            }
            at += 1;
        }
        false
    }

    /// One may give what one has WITH GRANT OPTION.
    fn may_grant(&self, level: &Level, w: &Wanted) -> SqlResult<()> {
        let a = &self.host.account;
        let own = match level {
            Level::Global => a.global,
            Level::Database(db) => a.on_database(db),
            Level::Table(db, table) => a.on_table(db, table),
            Level::Routine(kind, db, name) => a.on_routine(kind, db, name),
        };
        let columns = w.columns.iter().fold(Privileges::NONE, |p, (_, more)| p.with(*more));
        let needed = w.whole.with(columns).with(Privileges::GRANT_OPTION);
        if own.has(needed) {
            return Ok(());
        }
        let using = if a.authentication.is_empty() { "NO" } else { "YES" };
        Err(match level {
            Level::Global => sql_err!(ER_ACCESS_DENIED_ERROR, a.user, a.host, using),
            Level::Database(db) => sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, db),
            Level::Table(db, table) => {
                let missing = needed.without(own);
                let mut words: Vec<&str> = missing.names().collect();
                if missing.has(Privileges::GRANT_OPTION) {
                    words.push("GRANT");
                }
                sql_err!(ER_TABLEACCESS_DENIED_ERROR, words.join(", "), a.user, self.host.host, db, table)
            }
            Level::Routine(_, db, name) => {
                sql_err!(ER_PROCACCESS_DENIED_ERROR, "grant", a.user, self.host.host, format!("{db}.{name}"))
            }
        })
    }

    /// The table must exist, unless CREATE on it is given; so must columns.
    fn check_object(&self, level: &Level, w: &Wanted) -> SqlResult<()> {
        let Level::Table(db, table) = level else { return Ok(()) };
        let schema = self.instance().dictionary.schema();
        let columns: Vec<String> = match (schema.table(db, table), crate::virtual_tables::columns(db, table)) {
            (Some(t), _) => t.columns.iter().map(|c| c.name.clone()).collect(),
            (None, Some(columns)) => columns.into_iter().map(|c| c.name).collect(),
            (None, None) if w.whole.has(Privileges::by_name("CREATE")) => return Ok(()),
            (None, None) => return Err(sql_err!(ER_NO_SUCH_TABLE, db, table)),
        };
        for (column, _) in &w.columns {
            if !columns.iter().any(|c| c.eq_ignore_ascii_case(column)) {
                return Err(sql_err!(ER_BAD_FIELD_ERROR, column, table));
            }
        }
        Ok(())
    }
}

/// The privileges that a statement lists; fails for those that the level does not have.
fn wanted(list: &[Privilege], level: &Level) -> SqlResult<Wanted> {
    let all = match level {
        Level::Global => Privileges::ALL_GLOBAL,
        Level::Database(_) => Privileges::all_database(),
        Level::Table(..) => Privileges::all_table(),
        Level::Routine(..) => Privileges::ALL_ROUTINE,
    };
    let mut w = Wanted { whole: Privileges::NONE, columns: Vec::new() };
    for p in list {
        let bits = if p.kind == PrivilegeKind::All { all } else { Privileges::of(p.kind) };
        if !all.with(Privileges::GRANT_OPTION).has(bits) {
            return Err(misplaced(level));
        }
        if p.columns.is_empty() {
            w.whole = w.whole.with(bits);
            continue;
        }
        if !matches!(level, Level::Table(..)) || !Privileges::ALL_COLUMN.has(bits) {
            return Err(match level {
                Level::Table(..) => sql_err!(ER_WRONG_USAGE, "COLUMN GRANT", "NON-COLUMN PRIVILEGES"),
                _ => sql_err!(ER_ILLEGAL_GRANT_FOR_TABLE),
            });
        }
        for c in &p.columns {
            match w.columns.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(&c.value)) {
                Some((_, given)) => *given = given.with(bits),
                None => w.columns.push((c.value.clone(), bits)),
            }
        }
    }
    Ok(w)
}

fn misplaced(level: &Level) -> SqlError {
    match level {
        Level::Database(_) => sql_err!(ER_WRONG_USAGE, "DB GRANT", "GLOBAL PRIVILEGES"),
        _ => sql_err!(ER_ILLEGAL_GRANT_FOR_TABLE),
    }
}

fn add(a: &mut Account, level: &Level, w: &Wanted) {
    match level {
        Level::Global => a.global = a.global.with(w.whole),
        Level::Database(db) => match a.databases.iter_mut().find(|(d, _)| d == db) {
            Some((_, p)) => *p = p.with(w.whole),
            None if w.whole.is_empty() => {}
            None => a.databases.push((db.clone(), w.whole)),
        },
        Level::Table(db, table) => {
            let at = a.tables.iter().position(|t| t.db == *db && t.table == *table).unwrap_or_else(|| {
                a.tables.push(TableGrant { db: db.clone(), table: table.clone(), ..TableGrant::default() });
                a.tables.len() - 1
            });
            let t = &mut a.tables[at];
            t.table_privileges = t.table_privileges.with(w.whole);
            for (column, bits) in &w.columns {
                match t.columns.iter_mut().find(|(c, _)| c.eq_ignore_ascii_case(column)) {
                    Some((_, p)) => *p = p.with(*bits),
                    None => t.columns.push((column.clone(), *bits)),
                }
            }
        }
        Level::Routine(kind, db, name) => {
            let same = |r: &&mut RoutineGrant| r.kind == *kind && r.db == *db && r.name.eq_ignore_ascii_case(name);
            match a.routines.iter_mut().find(same) {
                Some(r) => r.privileges = r.privileges.with(w.whole),
                None => a.routines.push(RoutineGrant {
                    kind: (*kind).into(),
                    db: db.clone(),
                    name: name.clone(),
                    privileges: w.whole,
                }),
            }
        }
    }
}

fn take(a: &mut Account, level: &Level, w: &Wanted) -> SqlResult<()> {
    let none = || sql_err!(ER_NONEXISTING_GRANT, a.user, a.host);
    match level {
        Level::Global => a.global = a.global.without(w.whole),
        Level::Database(db) => {
            let at = a.databases.iter().position(|(d, _)| d == db).ok_or_else(none)?;
            a.databases[at].1 = a.databases[at].1.without(w.whole);
            a.databases.retain(|(_, p)| !p.is_empty());
        }
        Level::Table(db, table) => {
            let missing = || sql_err!(ER_NONEXISTING_TABLE_GRANT, a.user, a.host, table);
            let at = a.tables.iter().position(|t| t.db == *db && t.table == *table).ok_or_else(missing)?;
            let t = &mut a.tables[at];
            t.table_privileges = t.table_privileges.without(w.whole);
            for (_, p) in &mut t.columns {
                *p = p.without(w.whole);
            }
            for (column, bits) in &w.columns {
                for (_, p) in t.columns.iter_mut().filter(|(c, _)| c.eq_ignore_ascii_case(column)) {
                    *p = p.without(*bits);
                }
            }
            t.columns.retain(|(_, p)| !p.is_empty());
            if t.columns.is_empty() && t.table_privileges.is_empty() {
                a.tables.remove(at);
            }
        }
        Level::Routine(kind, db, name) => {
            let same = |r: &RoutineGrant| r.kind == *kind && r.db == *db && r.name.eq_ignore_ascii_case(name);
            let missing = || sql_err!(ER_NONEXISTING_PROC_GRANT, a.user, a.host, name);
            let at = a.routines.iter().position(same).ok_or_else(missing)?;
            a.routines[at].privileges = a.routines[at].privileges.without(w.whole);
            a.routines.retain(|r| !r.privileges.is_empty());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_parser::ast::Ident;

    fn list(kinds: &[PrivilegeKind], columns: &[&str]) -> Vec<Privilege> {
        let columns: Vec<Ident> = columns.iter().map(|c| Ident::new(*c)).collect();
        kinds.iter().map(|k| Privilege { kind: *k, columns: columns.clone() }).collect()
    }

    #[test]
    fn levels_refuse_what_they_do_not_have() {
        let db = Level::Database("d".into());
        let table = Level::Table("d".into(), "t".into());
        assert_eq!(wanted(&list(&[PrivilegeKind::Super], &[]), &db).err().unwrap().code(), 1221);
        assert_eq!(wanted(&list(&[PrivilegeKind::Process], &[]), &table).err().unwrap().code(), 1144);
        assert!(wanted(&list(&[PrivilegeKind::Delete], &["a"]), &table).is_err());
        assert_eq!(wanted(&list(&[PrivilegeKind::All], &[]), &db).ok().unwrap().whole, Privileges::all_database());
    }

    #[test]
    fn what_is_given_can_be_taken() {
        let mut a = Account::default();
        let table = Level::Table("d".into(), "t".into());
        let w = wanted(&list(&[PrivilegeKind::Select, PrivilegeKind::Update], &["a", "A", "b"]), &table).ok().unwrap();
        add(&mut a, &table, &w);
        assert_eq!(a.tables[0].columns.len(), 2);
        take(&mut a, &table, &w).unwrap();
        assert!(a.tables.is_empty());
        assert_eq!(take(&mut a, &table, &w).unwrap_err().code(), 1147);
        let db = Level::Database("d".into());
        assert_eq!(take(&mut a, &db, &w).unwrap_err().code(), 1141);
    }
}
