//! Accounts: who may log in, and how that is checked.
//!
//! An account is a dictionary record `user/<name>@<host>`; the list here is a copy for fast login, made anew when the
//! dictionary changes. Without any record there is `root` without password, from the local socket only.

use std::sync::Arc;

use arc_swap::ArcSwap;
use selkie_catalog::Schema;
use selkie_protocol::handshake::NativePasswordHash;
use serde::{Deserialize, Serialize};

/// Prefix of the dictionary records that are accounts.
pub const RECORD_PREFIX: &str = "user/";

/// An account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// User name; empty: anybody.
    pub user: String,
    /// Host pattern: `%`, `localhost`, `10.0.%`, an address.
    pub host: String,
    /// `mysql_native_password`, …
    pub plugin: String,
    /// The plugin's authentication string (`*HEX` for native passwords); empty: no password.
    pub authentication: String,
    /// Account cannot log in.
    pub locked: bool,
    /// Privileges by level: key `*.*`, `db.*` or `db.table`, with the words of GRANT in upper case.
    pub grants: Vec<(String, Vec<String>)>,
    /// WITH GRANT OPTION levels.
    pub grant_option: Vec<String>,
}

impl Account {
    /// The dictionary record's key.
    pub fn record_key(&self) -> String {
        format!("{RECORD_PREFIX}{}@{}", self.user, self.host)
    }

    /// `root@localhost` as it is on a new server.
    pub fn root() -> Account {
        Account {
            user: "root".into(),
            host: "localhost".into(),
            plugin: "mysql_native_password".into(),
            authentication: String::new(),
            locked: false,
            grants: vec![("*.*".into(), vec!["ALL PRIVILEGES".into()])],
            grant_option: vec!["*.*".into()],
        }
    }

    /// Whether a privilege word is granted for a table (`db` and `table` may be empty for global ones).
    pub fn allows(&self, privilege: &str, db: &str, table: &str) -> bool {
        self.grants.iter().any(|(level, words)| {
            let covers = level == "*.*"
                || level.strip_suffix(".*").is_some_and(|d| like(db, d))
                || *level == format!("{db}.{table}");
            covers && words.iter().any(|w| w == "ALL PRIVILEGES" || w == privilege)
        })
    }
}

/// All accounts.
pub struct Accounts {
    list: ArcSwap<Vec<Arc<Account>>>,
}

impl Accounts {
    /// From the dictionary's records.
    pub fn load(schema: &Schema) -> Accounts {
        Accounts { list: ArcSwap::from_pointee(read(schema)) }
    }

    /// Reads them anew after a change.
    pub fn reload(&self, schema: &Schema) {
        self.list.store(Arc::new(read(schema)));
    }

    /// All accounts.
    pub fn all(&self) -> Arc<Vec<Arc<Account>>> {
        self.list.load_full()
    }

    /// The account with exactly this name.
    pub fn exact(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        self.list.load().iter().find(|a| a.user == user && a.host.eq_ignore_ascii_case(host)).cloned()
    }

    /// The account that a client logs in to: the most specific host pattern first.
    pub fn find(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        let list = self.list.load();
        list.iter()
            .filter(|a| (a.user == user || a.user.is_empty()) && like(&host.to_lowercase(), &a.host.to_lowercase()))
            .max_by_key(|a| (!a.host.contains(['%', '_']), a.host.len(), !a.user.is_empty()))
            .cloned()
    }
}

fn read(schema: &Schema) -> Vec<Arc<Account>> {
    let mut accounts: Vec<Arc<Account>> = schema
        .records
        .iter()
        .filter(|(k, _)| k.starts_with(RECORD_PREFIX))
        .filter_map(|(_, v)| postcard::from_bytes(v).ok().map(Arc::new))
        .collect();
    if accounts.is_empty() {
        accounts.push(Arc::new(Account::root()));
    }
    accounts
}

/// Checks a native password answer. An account without password accepts only an empty answer.
pub fn check_native(account: &Account, scramble: &[u8], answer: &[u8]) -> bool {
    if account.authentication.is_empty() {
        return answer.is_empty();
    }
    NativePasswordHash::parse(&account.authentication).is_some_and(|h| h.check(scramble, answer))
}

/// SQL LIKE for names: `%` any run, `_` one character, `\` escapes.
pub fn like(text: &str, pattern: &str) -> bool {
    selkie_types::Collation::UTF8MB4_BIN.like(text.as_bytes(), pattern.as_bytes(), Some('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_host_wins() {
        let mut schema = Schema::default();
        for (host, plugin) in [("%", "a"), ("10.0.%", "b"), ("10.0.0.1", "c")] {
            let a = Account { host: host.into(), plugin: plugin.into(), ..Account::root() };
            schema.records.insert(a.record_key(), Arc::new(postcard::to_allocvec(&a).unwrap()));
        }
        let accounts = Accounts::load(&schema);
        assert_eq!(accounts.find("root", "10.0.0.1").unwrap().plugin, "c");
        assert_eq!(accounts.find("root", "10.0.0.2").unwrap().plugin, "b");
        assert_eq!(accounts.find("root", "192.168.1.1").unwrap().plugin, "a");
        assert!(accounts.find("bob", "10.0.0.1").is_none());
    }

    #[test]
    fn a_new_server_has_root_on_the_socket_only() {
        let accounts = Accounts::load(&Schema::default());
        assert!(accounts.find("root", "localhost").is_some());
        assert!(accounts.find("root", "127.0.0.1").is_none());
    }
}
