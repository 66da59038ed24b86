//! SHOW GRANTS and SHOW CREATE USER: accounts as the statements that make them.

use std::fmt::Write;

use selkie_parser::ast::UserName;
use selkie_types::{SqlResult, sql_err};

use super::FullName;
use crate::accounts::{Account, PUBLIC, Privileges, TableGrant};
use crate::session::Session;
use crate::show::Listing;

impl Session {
    /// SHOW GRANTS.
    pub fn show_grants(&self, user: Option<&UserName>) -> SqlResult<Listing> {
        let name = self.shown_name(user)?;
        let account = self.shown_account(&name).ok_or_else(|| sql_err!(ER_NONEXISTING_GRANT, name.user, name.host))?;
        let mut listing = Listing::text(&[(&format!("Grants for {}", shown(&name)), 1024)]);
        for line in grants(&account) {
            listing.rows.text(&line);
        }
        // A role's own roles are told with it, and so is the role in use.
        let mut todo: Vec<String> = match (&account.is_role, name == self.own_name()) {
            (true, _) => account.roles.iter().map(|(r, _)| r.clone()).collect(),
            (false, true) => self.host.account.active_role.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let mut told = vec![account.user.clone()];
        while let Some(role) = todo.pop().and_then(|r| self.instance().accounts.role(&r)) {
            if told.contains(&role.user) {
                continue;
            }
            for line in grants(&role) {
                listing.rows.text(&line);
            }
            todo.extend(role.roles.iter().map(|(r, _)| r.clone()));
            told.push(role.user.clone());
        }
        let public = self.instance().accounts.role(PUBLIC).filter(|_| name == self.own_name());
        for line in public.iter().flat_map(|p| grants(p)).filter(|l| !l.starts_with("GRANT USAGE")) {
            listing.rows.text(&line);
        }
        Ok(listing)
    }

    /// SHOW CREATE USER.
    pub fn show_create_user(&self, user: Option<&UserName>) -> SqlResult<Listing> {
        let name = self.shown_name(user)?;
        let account = self.shown_account(&name).ok_or_else(|| sql_err!(ER_PASSWORD_NO_MATCH))?;
        let mut listing = Listing::text(&[(&format!("CREATE USER for {}", shown(&name)), 1024)]);
        listing.rows.text(&create_user(&account));
        Ok(listing)
    }

    /// Whose: one's own, or another's with access to `mysql`.
    fn shown_name(&self, user: Option<&UserName>) -> SqlResult<FullName> {
        let name = match user {
            Some(u) => self.full_name(u)?,
            None => self.own_name(),
        };
        let a = &self.host.account;
        let own = name == self.own_name() || (name.is_role && a.roles.iter().any(|(r, _)| *r == name.user));
        if !own && !a.allows("SELECT", "mysql", "") {
            return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, "mysql"));
        }
        Ok(name)
    }

    fn shown_account(&self, name: &FullName) -> Option<std::sync::Arc<Account>> {
        let accounts = &self.instance().accounts;
        if name.is_role { accounts.role(&name.user) } else { accounts.exact(&name.user, &name.host) }
    }
}

fn shown(name: &FullName) -> String {
    if name.is_role { name.user.clone() } else { format!("{}@{}", name.user, name.host) }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn grantee(a: &Account) -> String {
    match (a.is_role, a.user.as_str()) {
        (true, PUBLIC) => PUBLIC.into(),
        (true, role) => quoted(role),
        (false, user) => format!("{}@{}", quoted(user), quoted(&a.host)),
    }
}

/// The statements that give an account what it has.
pub(super) fn grants(a: &Account) -> Vec<String> {
    let to = grantee(a);
    let option = |p: Privileges| if p.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    let mut lines = Vec::new();
    let mut roles: Vec<_> = a.roles.iter().collect();
    roles.sort();
    for (role, admin) in roles {
        lines.push(format!("GRANT {} TO {to}{}", quoted(role), if *admin { " WITH ADMIN OPTION" } else { "" }));
    }
    let mut global = format!("GRANT {} ON *.* TO {to}", words(a.global, Privileges::ALL_GLOBAL));
    global.push_str(&identified(a));
    push_require(a, &mut global);
    let mut with = option(a.global).trim_start().to_owned();
    for (word, value) in &a.limits {
        if with.is_empty() {
            with.push_str("WITH");
        }
        // Writing to a String cannot fail.
        let _ = write!(with, " {word} {value}");
    }
    if !with.is_empty() {
        global.push(' ');
        global.push_str(&with);
    }
    lines.push(global);
    let (mut databases, mut tables) = (a.databases.clone(), a.tables.iter().collect::<Vec<_>>());
    databases.sort_by(|a, b| a.0.cmp(&b.0));
    tables.sort_by(|a, b| (&a.db, &a.table).cmp(&(&b.db, &b.table)));
    for (db, p) in &databases {
        let all = words(*p, Privileges::all_database());
        lines.push(format!("GRANT {all} ON {}.* TO {to}{}", quoted(db), option(*p)));
    }
    for t in tables {
        let object = format!("{}.{}", quoted(&t.db), quoted(&t.table));
        lines.push(format!("GRANT {} ON {object} TO {to}{}", table_words(t), option(t.table_privileges)));
    }
    for r in &a.routines {
        let all = words(r.privileges, Privileges(u64::MAX));
        let object = format!("{}.{}", quoted(&r.db), quoted(&r.name));
        lines.push(format!("GRANT {all} ON {} {object} TO {to}{}", r.kind, option(r.privileges)));
    }
    for (user, host, grant) in &a.proxies {
        let option = if *grant { " WITH GRANT OPTION" } else { "" };
        lines.push(format!("GRANT PROXY ON {}@{} TO {to}{option}", quoted(user), quoted(host)));
    }
    if let Some(role) = &a.default_role {
        lines.push(format!("SET DEFAULT ROLE {} FOR {to}", quoted(role)));
    }
    lines
}

fn words(p: Privileges, all: Privileges) -> String {
    if p.has(all) {
        return "ALL PRIVILEGES".into();
    }
    let names: Vec<&str> = p.names().collect();
    if names.is_empty() { "USAGE".into() } else { names.join(", ") }
}

fn table_words(t: &TableGrant) -> String {
    if t.table_privileges.has(Privileges::all_table()) {
        return "ALL PRIVILEGES".into();
    }
    let on_columns = t.columns.iter().fold(Privileges::NONE, |p, (_, more)| p.with(*more));
    let mut parts = Vec::new();
    for name in t.table_privileges.with(on_columns).names() {
        let bit = Privileges::by_name(name);
        let mut columns: Vec<String> =
            t.columns.iter().filter(|(_, p)| p.has(bit)).map(|(c, _)| quoted(c)).collect();
        columns.sort();
        if t.table_privileges.has(bit) {
            parts.push(name.to_owned());
        }
        if !columns.is_empty() {
            parts.push(format!("{name} ({})", columns.join(", ")));
        }
    }
    if parts.is_empty() { "USAGE".into() } else { parts.join(", ") }
}

/// ` IDENTIFIED …`, or nothing for an account without password.
fn identified(a: &Account) -> String {
    if a.is_role {
        return String::new();
    }
    let only_native = a.alternatives.is_empty() && a.plugin == "mysql_native_password";
    match (only_native, a.authentication.as_str()) {
        (true, "") => String::new(),
        (true, hash) => format!(" IDENTIFIED BY PASSWORD '{hash}'"),
        _ => {
            let own = std::iter::once((&a.plugin, &a.authentication));
            let all = own.chain(a.alternatives.iter().map(|(p, s)| (p, s)));
            let ways: Vec<String> = all
                .map(|(plugin, string)| match string.as_str() {
                    "" => plugin.clone(),
                    s => format!("{plugin} USING '{}'", s.replace('\'', "''")),
                })
                .collect();
            format!(" IDENTIFIED VIA {}", ways.join(" OR "))
        }
    }
}

fn push_require(a: &Account, out: &mut String) {
    if !a.require.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(out, " REQUIRE {}", a.require);
    }
}

/// The statement that makes an account.
pub(super) fn create_user(a: &Account) -> String {
    let mut s = format!("CREATE USER {}{}", grantee(a), identified(a));
    push_require(a, &mut s);
    for (i, (word, value)) in a.limits.iter().enumerate() {
        let _ = write!(s, "{} {word} {value}", if i == 0 { " WITH" } else { "" });
    }
    if a.locked {
        s.push_str(" ACCOUNT LOCK");
    }
    if a.expired {
        s.push_str(" PASSWORD EXPIRE");
    } else {
        match a.lifetime_days {
            None => {}
            Some(0) => s.push_str(" PASSWORD EXPIRE NEVER"),
            Some(days) => {
                let _ = write!(s, " PASSWORD EXPIRE INTERVAL {days} DAY");
            }
        }
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_read_as_mariadb_prints_them() {
        let hash = "*D821809F681A40A6E379B50D0463EFAE20BDD122";
        let u1 = Account {
            user: "u1".into(),
            host: "localhost".into(),
            plugin: "mysql_native_password".into(),
            authentication: hash.into(),
            databases: vec![("d1".into(), Privileges(1 | 2).with(Privileges::GRANT_OPTION))],
            ..Account::default()
        };
        assert_eq!(
            grants(&u1),
            [
                format!("GRANT USAGE ON *.* TO `u1`@`localhost` IDENTIFIED BY PASSWORD '{hash}'"),
                "GRANT SELECT, INSERT ON `d1`.* TO `u1`@`localhost` WITH GRANT OPTION".to_owned(),
            ]
        );
        assert_eq!(create_user(&u1), format!("CREATE USER `u1`@`localhost` IDENTIFIED BY PASSWORD '{hash}'"));
        let by = |n| Privileges::by_name(n);
        let u2 = Account {
            user: "u2".into(),
            host: "%".into(),
            plugin: "mysql_native_password".into(),
            global: by("RELOAD").with(by("PROCESS")),
            tables: vec![TableGrant {
                db: "d1".into(),
                table: "t1".into(),
                table_privileges: by("DELETE"),
                columns: vec![("id".into(), by("SELECT")), ("a".into(), by("SELECT").with(by("UPDATE")))],
            }],
            routines: vec![crate::accounts::RoutineGrant {
                kind: "PROCEDURE".into(),
                db: "d1".into(),
                name: "pr1".into(),
                privileges: by("EXECUTE"),
            }],
            roles: vec![("r1".into(), false)],
            ..Account::default()
        };
        assert_eq!(
            grants(&u2),
            [
                "GRANT `r1` TO `u2`@`%`",
                "GRANT RELOAD, PROCESS ON *.* TO `u2`@`%`",
                "GRANT SELECT (`a`, `id`), UPDATE (`a`), DELETE ON `d1`.`t1` TO `u2`@`%`",
                "GRANT EXECUTE ON PROCEDURE `d1`.`pr1` TO `u2`@`%`",
            ]
        );
        let root = grants(&Account::root());
        assert_eq!(root[0], "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION");
        assert_eq!(root[1], "GRANT PROXY ON ``@`%` TO `root`@`localhost` WITH GRANT OPTION");
    }
}
