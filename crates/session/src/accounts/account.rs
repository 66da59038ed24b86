//! One account or role, and what it may do.

use selkie_protocol::handshake::NativePasswordHash;
use serde::{Deserialize, Serialize};

use super::privilege::Privileges;
use super::{RECORD_PREFIX, like};

/// An account or a role. A dictionary record, encoded with postcard behind [`FORMAT`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Account {
    /// User name; empty: anybody. A role's name.
    pub user: String,
    /// Host pattern: `%`, `localhost`, `10.0.%`, an address. Empty for roles.
    pub host: String,
    /// `mysql_native_password`, …
    pub plugin: String,
    /// The plugin's authentication string (`*HEX` for native passwords); empty: no password.
    pub authentication: String,
    /// Further ways to log in (`IDENTIFIED VIA a OR b`): plugin and authentication string.
    pub alternatives: Vec<(String, String)>,
    /// Account cannot log in.
    pub locked: bool,
    /// The password has to be changed.
    pub expired: bool,
    /// PASSWORD EXPIRE: `None` by `default_password_lifetime`, 0 never, else days.
    pub lifetime_days: Option<u64>,
    /// Seconds since 1970 when the password was last changed.
    pub password_last_changed: u64,
    /// Whether this is a role.
    pub is_role: bool,
    /// Privileges on `*.*`.
    pub global: Privileges,
    /// Privileges on databases; names are patterns.
    pub databases: Vec<(String, Privileges)>,
    /// Privileges on tables and columns.
    pub tables: Vec<TableGrant>,
    /// Privileges on routines.
    pub routines: Vec<RoutineGrant>,
    /// Roles granted, and whether WITH ADMIN OPTION.
    pub roles: Vec<(String, bool)>,
    /// The role that is set at login.
    pub default_role: Option<String>,
    /// REQUIRE's words as SHOW CREATE USER prints them, without `REQUIRE`.
    pub require: String,
    /// The words of resource limits as SHOW CREATE USER prints them, with their values.
    pub limits: Vec<(String, String)>,
    /// PROXY granted: user, host, WITH GRANT OPTION.
    pub proxies: Vec<(String, String, bool)>,
    /// The role in use (SET ROLE), whose privileges were merged into this copy.
    #[serde(skip)]
    pub active_role: Option<String>,
}

/// Privileges on one table and its columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TableGrant {
    /// Database.
    pub db: String,
    /// Table.
    pub table: String,
    /// On the whole table.
    pub table_privileges: Privileges,
    /// On columns.
    pub columns: Vec<(String, Privileges)>,
}

/// Privileges on one routine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RoutineGrant {
    /// `FUNCTION`, `PROCEDURE`, `PACKAGE` or `PACKAGE BODY`.
    pub kind: String,
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// Privileges.
    pub privileges: Privileges,
}

/// Version byte of the stored form.
const FORMAT: u8 = 1;

impl Account {
    /// The dictionary record's key.
    pub fn record_key(&self) -> String {
        format!("{RECORD_PREFIX}{}@{}", self.user, self.host)
    }

    /// The dictionary record.
    pub fn encode(&self) -> Vec<u8> {
        // Serialising owned data into memory has no way to fail.
        postcard::to_extend(self, vec![FORMAT]).unwrap_or_default()
    }

    /// Reads a dictionary record; `None` if it is damaged or of a later version.
    pub fn decode(record: &[u8]) -> Option<Account> {
        match record.split_first() {
            Some((&FORMAT, rest)) => postcard::from_bytes(rest).ok(),
            _ => None,
        }
    }

    /// `root@localhost` as it is on a new server.
    pub fn root() -> Account {
        Account {
            user: "root".into(),
            host: "localhost".into(),
            plugin: "mysql_native_password".into(),
            global: Privileges::ALL_GLOBAL.with(Privileges::GRANT_OPTION),
            proxies: vec![(String::new(), "%".into(), true)],
            ..Account::default()
        }
    }

    /// Whether a privilege (its name in upper case) is granted for a table; `db` and `table` are empty for global ones.
    pub fn allows(&self, privilege: &str, db: &str, table: &str) -> bool {
        let wanted = Privileges::by_name(privilege);
        self.global.has(wanted) || (!db.is_empty() && self.on_table(db, table).has(wanted))
    }

    /// Privileges on a database, the global ones included.
    pub fn on_database(&self, db: &str) -> Privileges {
        let mut p = self.global;
        for (pattern, more) in &self.databases {
            if db_matches(db, pattern) {
                p = p.with(*more);
            }
        }
        p
    }

    /// Privileges on a table as a whole, those of its database included.
    pub fn on_table(&self, db: &str, table: &str) -> Privileges {
        let p = self.on_database(db);
        self.table_grant(db, table).map_or(p, |t| p.with(t.table_privileges))
    }

    /// Privileges on a column, those of its table included.
    pub fn on_column(&self, db: &str, table: &str, column: &str) -> Privileges {
        let mut p = self.on_table(db, table);
        if let Some(t) = self.table_grant(db, table) {
            for (_, more) in t.columns.iter().filter(|(c, _)| c.eq_ignore_ascii_case(column)) {
                p = p.with(*more);
            }
        }
        p
    }

    /// Privileges on a routine, those of its database included.
    pub fn on_routine(&self, kind: &str, db: &str, name: &str) -> Privileges {
        let p = self.on_database(db);
        let own = self.routines.iter().find(|r| r.kind == kind && r.db == db && r.name.eq_ignore_ascii_case(name));
        own.map_or(p, |r| p.with(r.privileges))
    }

    /// The table's own grants.
    pub fn table_grant(&self, db: &str, table: &str) -> Option<&TableGrant> {
        self.tables.iter().find(|t| t.db == db && t.table == table)
    }

    /// Whether the table shows up in lists: any privilege on it or on one of its columns.
    pub fn sees_table(&self, db: &str, table: &str) -> bool {
        const SHOWS: u64 = !(1 << 14 | 1 << 10);
        let table_bits = Privileges::all_table();
        !self.on_table(db, table).and(table_bits).and(Privileges(SHOWS)).is_empty()
            || self.table_grant(db, table).is_some_and(|t| !t.columns.is_empty())
    }

    /// Whether the database shows up in SHOW DATABASES: SHOW DATABASES, or any privilege in it.
    pub fn sees_database(&self, db: &str) -> bool {
        let shows = Privileges::all_database().with(Privileges::by_name("SHOW DATABASES"));
        !self.on_database(db).and(shows).is_empty()
            || self.tables.iter().any(|t| t.db == db)
            || self.routines.iter().any(|r| r.db == db)
    }

    /// This account with a role's privileges beside its own.
    pub fn with_role(&self, role: &Account) -> Account {
        let mut merged = self.clone();
        merged.absorb(role);
        merged.active_role = Some(role.user.clone());
        merged
    }

    /// Adds another's privileges to one's own.
    pub fn absorb(&mut self, other: &Account) {
        self.global = self.global.with(other.global);
        self.databases.extend(other.databases.iter().cloned());
        for t in &other.tables {
            match self.tables.iter_mut().find(|own| own.db == t.db && own.table == t.table) {
                Some(own) => {
                    own.table_privileges = own.table_privileges.with(t.table_privileges);
                    own.columns.extend(t.columns.iter().cloned());
                }
                None => self.tables.push(t.clone()),
            }
        }
        self.routines.extend(other.routines.iter().cloned());
    }

    /// Checks a native password answer. Without a password only an empty answer is good.
    pub fn check_native(&self, scramble: &[u8], answer: &[u8]) -> bool {
        let hashes = std::iter::once((&self.plugin, &self.authentication))
            .chain(self.alternatives.iter().map(|(p, a)| (p, a)))
            .filter(|(plugin, _)| *plugin == "mysql_native_password");
        for (_, hash) in hashes {
            let good = if hash.is_empty() {
                answer.is_empty()
            } else {
                NativePasswordHash::parse(hash).is_some_and(|h| h.check(scramble, answer))
            };
            if good {
                return true;
            }
        }
        false
    }

    /// Whether the operating system's user at the other end of the local socket may log in to this account without a
    /// password: unix_socket is among its plugins and the names agree.
    pub fn check_unix_socket(&self, os_user: Option<&str>) -> bool {
        let ways = std::iter::once((&self.plugin, &self.authentication));
        let mut ways = ways.chain(self.alternatives.iter().map(|(p, a)| (p, a)));
        ways.any(|(plugin, string)| {
            let expected = if string.is_empty() { &self.user } else { string };
            plugin == "unix_socket" && os_user == Some(expected.as_str())
        })
    }
}

/// Whether a database name fits a GRANT's pattern (`%`, `_`, `\` as in LIKE).
fn db_matches(db: &str, pattern: &str) -> bool {
    if pattern.contains(['%', '_', '\\']) { like(db, pattern) } else { db == pattern }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account {
            user: "u".into(),
            host: "%".into(),
            databases: vec![("a\\_b".into(), Privileges::SELECT), ("x%".into(), Privileges::INSERT)],
            tables: vec![TableGrant {
                db: "d".into(),
                table: "t".into(),
                table_privileges: Privileges::NONE,
                columns: vec![("c".into(), Privileges::UPDATE)],
            }],
            ..Account::default()
        }
    }

    #[test]
    fn levels_add_up() {
        let a = account();
        assert!(a.allows("SELECT", "a_b", "t"));
        assert!(!a.allows("SELECT", "aXb", "t"));
        assert!(a.allows("INSERT", "xyz", "t"));
        assert!(!a.allows("UPDATE", "d", "t"));
        assert!(a.on_column("d", "t", "C").has(Privileges::UPDATE));
        assert!(a.sees_table("d", "t") && a.sees_database("d"));
        assert!(!a.sees_table("d", "other") && !a.sees_database("e"));
        assert!(!a.allows("SUPER", "", ""));
        assert!(Account::root().allows("SUPER", "", ""));
        assert!(Account::root().allows("ALL PRIVILEGES", "", ""));
    }

    #[test]
    fn records_survive() {
        let a = account();
        assert_eq!(Account::decode(&a.encode()), Some(a));
        assert_eq!(Account::decode(&[9, 1, 2]), None);
        assert_eq!(Account::decode(&[]), None);
    }

    #[test]
    fn a_role_adds_its_privileges() {
        let role = Account { user: "r".into(), is_role: true, global: Privileges::by_name("PROCESS"), ..Account::default() };
        let both = account().with_role(&role);
        assert!(both.allows("PROCESS", "", "") && both.active_role.as_deref() == Some("r"));
    }
}
