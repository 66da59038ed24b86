//! Accounts: who may log in, how that is checked, and what they may do.
//!
//! An account is a dictionary record `user/<name>@<host>`; the list here is a copy for fast login, made anew when the
//! dictionary changes. Without any record there is `root` without password, from the local socket only.

mod account;
mod privilege;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use selkie_catalog::Schema;

pub use account::{Account, RoutineGrant, TableGrant};
pub use privilege::Privileges;

/// Prefix of the dictionary records that are accounts.
pub const RECORD_PREFIX: &str = "user/";

/// The role that everybody has.
pub const PUBLIC: &str = "PUBLIC";

/// All accounts.
pub struct Accounts {
    list: ArcSwap<Vec<Arc<Account>>>,
    generation: AtomicU64,
}

impl Accounts {
    /// From the dictionary's records.
    pub fn load(schema: &Schema) -> Accounts {
        Accounts { list: ArcSwap::from_pointee(read(schema)), generation: AtomicU64::new(1) }
    }

    /// Reads them anew after a change.
    pub fn reload(&self, schema: &Schema) {
        self.list.store(Arc::new(read(schema)));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Grows with each change, so that sessions know when to look again.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// All accounts and roles.
    pub fn all(&self) -> Arc<Vec<Arc<Account>>> {
        self.list.load_full()
    }

    /// The account with exactly this name.
    pub fn exact(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        self.list.load().iter().find(|a| !a.is_role && a.user == user && a.host.eq_ignore_ascii_case(host)).cloned()
    }

    /// The role of that name.
    pub fn role(&self, name: &str) -> Option<Arc<Account>> {
        self.list.load().iter().find(|a| a.is_role && a.user == name).cloned()
    }

    /// The account that a client logs in to: the most specific host pattern first.
    pub fn find(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        let list = self.list.load();
        let host = host.to_lowercase();
        list.iter()
            .filter(|a| !a.is_role && (a.user == user || a.user.is_empty()) && host_matches(&host, &a.host))
            .max_by_key(|a| (!a.host.contains(['%', '_']), a.host.len(), !a.user.is_empty()))
            .cloned()
    }

    /// What a session of this account may do, with a role in use: the account as it is now, the role's and everybody's
    /// privileges added. `None` if the account is gone.
    pub fn effective(&self, user: &str, host: &str, role: Option<&str>) -> Option<Arc<Account>> {
        let account = self.exact(user, host)?;
        let public = self.role(PUBLIC);
        if role.is_none() && public.is_none() {
            return Some(account);
        }
        let mut merged = match role {
            Some(r) => account.with_role(&self.role_closure(r)?),
            None => (*account).clone(),
        };
        if let Some(p) = public {
            merged.absorb(&p);
        }
        Some(Arc::new(merged))
    }

    /// A role with the privileges of the roles that it has itself.
    fn role_closure(&self, name: &str) -> Option<Account> {
        let mut all = (*self.role(name)?).clone();
        let mut seen = vec![name.to_owned()];
        let mut todo: Vec<String> = all.roles.iter().map(|(r, _)| r.clone()).collect();
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            if let Some(role) = self.role(&next) {
                all.absorb(&role);
                todo.extend(role.roles.iter().map(|(r, _)| r.clone()));
            }
            seen.push(next);
        }
        Some(all)
    }
}

fn read(schema: &Schema) -> Vec<Arc<Account>> {
    let mut accounts = Vec::new();
    for (key, record) in schema.records.range(RECORD_PREFIX.to_owned()..) {
        if !key.starts_with(RECORD_PREFIX) {
            break;
        }
        match Account::decode(record) {
            Some(a) => accounts.push(Arc::new(a)),
            None => tracing::error!(key, "an account's record does not decode; nobody can log in to it"),
        }
    }
    if accounts.is_empty() {
        accounts.push(Arc::new(Account::root()));
    }
    accounts
}

/// Checks a native password answer. An account without password accepts only an empty answer.
pub fn check_native(account: &Account, scramble: &[u8], answer: &[u8]) -> bool {
    account.check_native(scramble, answer)
}

/// Whether a client's host fits an account's: a pattern, a name, or `address/netmask`.
fn host_matches(host: &str, pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    if let Some((net, mask)) = pattern.split_once('/')
        && let (Ok(net), Ok(mask), Ok(host)) =
            (net.parse::<std::net::Ipv4Addr>(), mask.parse::<std::net::Ipv4Addr>(), host.parse::<std::net::Ipv4Addr>())
    {
        return u32::from(host) & u32::from(mask) == u32::from(net);
    }
    like(host, &pattern)
}

/// SQL LIKE for names: `%` any run, `_` one character, `\` escapes.
pub fn like(text: &str, pattern: &str) -> bool {
    selkie_types::Collation::UTF8MB4_BIN.like(text.as_bytes(), pattern.as_bytes(), Some('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema_of(accounts: &[Account]) -> Schema {
        let mut schema = Schema::default();
        for a in accounts {
            schema.records.insert(a.record_key(), Arc::new(a.encode()));
        }
        schema
    }

    #[test]
    fn the_most_specific_host_wins() {
        let hosts = [("%", "a"), ("10.0.%", "b"), ("10.0.0.1", "c"), ("172.16.0.0/255.255.0.0", "d")];
        let all: Vec<Account> = hosts
            .iter()
            .map(|(host, plugin)| Account { host: (*host).into(), plugin: (*plugin).into(), ..Account::root() })
            .collect();
        let accounts = Accounts::load(&schema_of(&all));
        let plugin = |host: &str| accounts.find("root", host).unwrap().plugin.clone();
        assert_eq!(plugin("10.0.0.1"), "c");
        assert_eq!(plugin("10.0.0.2"), "b");
        assert_eq!(plugin("192.168.1.1"), "a");
        assert_eq!(plugin("172.16.3.4"), "d");
        assert!(accounts.find("bob", "10.0.0.1").is_none());
    }

    #[test]
    fn a_new_server_has_root_on_the_socket_only() {
        let accounts = Accounts::load(&Schema::default());
        assert!(accounts.find("root", "localhost").is_some());
        assert!(accounts.find("root", "127.0.0.1").is_none());
    }

    #[test]
    fn roles_of_roles_count() {
        let role = |name: &str, p: Privileges, roles: &[&str]| Account {
            user: name.into(),
            is_role: true,
            global: p,
            roles: roles.iter().map(|r| ((*r).into(), false)).collect(),
            ..Account::default()
        };
        let user = Account { user: "u".into(), host: "%".into(), roles: vec![("a".into(), false)], ..Account::default() };
        let accounts = Accounts::load(&schema_of(&[
            role("a", Privileges::SELECT, &["b"]),
            role("b", Privileges::INSERT, &["a"]),
            role(PUBLIC, Privileges::UPDATE, &[]),
            user,
        ]));
        let plain = accounts.effective("u", "%", None).unwrap();
        assert_eq!(plain.global, Privileges::UPDATE);
        let with = accounts.effective("u", "%", Some("a")).unwrap();
        assert!(with.global.has(Privileges::SELECT.with(Privileges::INSERT).with(Privileges::UPDATE)));
        assert!(accounts.find("a", "localhost").is_none());
    }
}
