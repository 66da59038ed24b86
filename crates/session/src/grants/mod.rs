//! Statements about accounts: CREATE, ALTER, DROP and RENAME USER, roles, GRANT and REVOKE, SET PASSWORD.
//!
//! A statement works on a [`Draft`] of the accounts that it touches. What changed is committed as dictionary records
//! with the statement as one log record, and the list for logins is read anew.
//!
//! It must not know how an account proves itself at login.

mod checks;
mod privileges;
mod text;
mod users;

use std::collections::BTreeMap;

use selkie_catalog::dictionary::DictionaryChange;
use selkie_parser::ast::{Statement, UserName};
use selkie_types::{SqlError, SqlResult, sql_err};

use crate::accounts::{Account, PUBLIC};
use crate::session::{Done, Session};

/// The accounts as a statement changes them. `None`: dropped.
#[derive(Default)]
struct Draft {
    changed: BTreeMap<String, Option<Account>>,
}

/// An account's or role's full name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FullName {
    user: String,
    /// Empty for roles.
    host: String,
    is_role: bool,
}

impl FullName {
    fn key(&self) -> String {
        Account { user: self.user.clone(), host: self.host.clone(), ..Account::default() }.record_key()
    }
}

impl std::fmt::Display for FullName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_role {
            true => write!(f, "'{}'", self.user),
            false => write!(f, "'{}'@'{}'", self.user, self.host),
        }
    }
}

/// Whether a statement belongs to this module.
pub fn is_account_statement(s: &Statement) -> bool {
    use Statement as S;
    matches!(
        s,
        S::CreateUser(_)
            | S::AlterUser(_)
            | S::DropUsers(_)
            | S::RenameUsers(_)
            | S::CreateRole(_)
            | S::DropRoles(_)
            | S::Grant(_)
            | S::Revoke(_)
    )
}

impl Session {
    /// Runs a statement for which [`is_account_statement`] is true.
    pub fn run_account_statement(&mut self, s: &Statement, text: &[u8]) -> SqlResult<Done> {
        let mut draft = Draft::default();
        let result = match s {
            Statement::CreateUser(c) => self.create_users(c, &mut draft),
            Statement::AlterUser(a) => self.alter_users(a, &mut draft),
            Statement::DropUsers(d) => self.drop_users(d, &mut draft),
            Statement::RenameUsers(r) => self.rename_users(r, &mut draft),
            Statement::CreateRole(c) => self.create_roles(c, &mut draft),
            Statement::DropRoles(d) => self.drop_roles(d, &mut draft),
            Statement::Grant(g) => self.grant(g, &mut draft),
            Statement::Revoke(r) => self.revoke(r, &mut draft),
            _ => Ok(()),
        };
        // As in MariaDB, what can be done is done, and the error tells of the rest.
        self.commit_draft(draft, text)?;
        result.map(|()| Done::default())
    }

    fn commit_draft(&mut self, draft: Draft, text: &[u8]) -> SqlResult<()> {
        if draft.changed.is_empty() {
            return Ok(());
        }
        let instance = self.instance().clone();
        let mut changes = Vec::new();
        let has_records =
            instance.dictionary.schema().records.keys().any(|k| k.starts_with(crate::accounts::RECORD_PREFIX));
        if !has_records {
            // The first record ends the time in which root exists without one.
            for a in instance.accounts.all().iter().filter(|a| !draft.changed.contains_key(&a.record_key())) {
                changes.push(DictionaryChange::PutRecord(a.record_key(), a.encode()));
            }
        }
        for (key, account) in draft.changed {
            changes.push(match account {
                Some(a) => DictionaryChange::PutRecord(key, a.encode()),
                None => DictionaryChange::RemoveRecord(key),
            });
        }
        self.commit_dictionary(&changes, text)?;
        self.refresh_account();
        Ok(())
    }

    /// Takes the session's privileges from the accounts as they are now. Without its account a session keeps nothing
    /// but what it had for the running statement.
    pub fn refresh_account(&mut self) {
        self.account_generation = self.instance.accounts.generation();
        let a = &self.host.account;
        let role = a.active_role.clone();
        if let Some(now) = self.instance().accounts.effective(&a.user, &a.host, role.as_deref()) {
            self.host.account = now;
        }
    }

    /// Makes the session an account's at login: its default role is set.
    pub fn enter_account(&mut self, account: &std::sync::Arc<Account>) {
        let accounts = &self.instance.accounts;
        self.account_generation = accounts.generation();
        let role = account.default_role.as_deref().filter(|d| account.roles.iter().any(|(r, _)| r == d));
        let effective = accounts.effective(&account.user, &account.host, role);
        self.host.account = effective.unwrap_or_else(|| account.clone());
    }

    /// SET PASSWORD.
    pub fn set_password(&mut self, s: &selkie_parser::ast::SetPassword) -> SqlResult<()> {
        let mut draft = Draft::default();
        let (name, hash) = self.change_password(s, &mut draft)?;
        let text = format!("SET PASSWORD FOR {name}='{hash}'");
        self.commit_draft(draft, text.as_bytes())
    }

    /// SET DEFAULT ROLE.
    pub fn set_default_role(&mut self, role: Option<&str>, user: Option<&UserName>) -> SqlResult<()> {
        let mut draft = Draft::default();
        let name = match user {
            Some(u) => self.full_name(u)?,
            None => self.own_name(),
        };
        if user.is_some() && name != self.own_name() {
            self.require_one_of(&["CREATE USER"])?;
        }
        let mut account = self.drafted(&draft, &name).ok_or_else(|| sql_err!(ER_PASSWORD_NO_MATCH))?;
        if let Some(role) = role {
            if self.instance().accounts.role(role).is_none() {
                return Err(sql_err!(ER_INVALID_ROLE, role));
            }
            if !account.roles.iter().any(|(r, _)| r == role) {
                let text = format!("User `{}`@`{}` has not been granted role `{role}`", name.user, name.host);
                return Err(SqlError::with_message(selkie_types::codes::ER_INVALID_ROLE, text));
            }
        }
        account.default_role = role.map(str::to_owned);
        draft.put(account);
        let text = format!("SET DEFAULT ROLE {} FOR {name}", role.map_or("NONE".into(), |r| format!("`{r}`")));
        self.commit_draft(draft, text.as_bytes())
    }

    /// SET ROLE: the role's privileges are added to the session's.
    pub fn set_role(&mut self, role: Option<&str>) -> SqlResult<()> {
        let a = self.host.account.clone();
        if let Some(role) = role {
            let granted = self.instance().accounts.exact(&a.user, &a.host).is_some_and(|a| a.roles.iter().any(|(r, _)| r == role));
            if !granted {
                return Err(sql_err!(ER_INVALID_ROLE, role));
            }
        }
        let effective = self.instance().accounts.effective(&a.user, &a.host, role);
        self.host.account = effective.ok_or_else(|| sql_err!(ER_INVALID_CURRENT_USER))?;
        Ok(())
    }

    /// Fails unless the account has one of some global privileges.
    pub fn require_one_of(&self, privileges: &[&str]) -> SqlResult<()> {
        if privileges.iter().any(|p| self.host.account.allows(p, "", "")) {
            return Ok(());
        }
        Err(sql_err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, privileges.join(", ")))
    }

    fn own_name(&self) -> FullName {
        FullName { user: self.host.account.user.clone(), host: self.host.account.host.clone(), is_role: false }
    }

    /// What a name stands for: a role if it has no host and there is such a role, else `name@%`.
    fn full_name(&self, name: &UserName) -> SqlResult<FullName> {
        Ok(match name {
            UserName::Named { user, host: Some(host) } => {
                FullName { user: user.clone(), host: host.to_lowercase(), is_role: false }
            }
            UserName::Named { user, host: None } if self.instance().accounts.role(user).is_some() => {
                FullName { user: user.clone(), host: String::new(), is_role: true }
            }
            UserName::Named { user, host: None } => FullName { user: user.clone(), host: "%".into(), is_role: false },
            UserName::CurrentUser => self.own_name(),
            UserName::CurrentRole => match &self.host.account.active_role {
                Some(role) => FullName { user: role.clone(), host: String::new(), is_role: true },
                None => return Err(sql_err!(ER_INVALID_ROLE, "NONE")),
            },
            UserName::Public => FullName { user: PUBLIC.into(), host: String::new(), is_role: true },
        })
    }

    /// An account as the statement has it so far.
    fn drafted(&self, draft: &Draft, name: &FullName) -> Option<Account> {
        if let Some(changed) = draft.changed.get(&name.key()) {
            return changed.clone();
        }
        let accounts = &self.instance().accounts;
        let found = if name.is_role { accounts.role(&name.user) } else { accounts.exact(&name.user, &name.host) };
        found.map(|a| (*a).clone())
    }

    /// Every account and role as the statement has them so far.
    fn all_drafted(&self, draft: &Draft) -> Vec<Account> {
        let all = self.instance().accounts.all();
        all.iter()
            .filter_map(|a| match draft.changed.get(&a.record_key()) {
                Some(changed) => changed.clone(),
                None => Some((**a).clone()),
            })
            .collect()
    }
}

impl Draft {
    fn put(&mut self, a: Account) {
        self.changed.insert(a.record_key(), Some(a));
    }

    fn remove(&mut self, name: &FullName) {
        self.changed.insert(name.key(), None);
    }
}

/// The one error for all names with which an operation failed.
fn cannot(operation: &str, failed: &[FullName]) -> SqlResult<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = failed.iter().map(|n| n.to_string()).collect();
    Err(sql_err!(ER_CANNOT_USER, operation, names.join(",")))
}

fn now_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// No such account, as statements that need one say it.
fn no_such_account() -> SqlError {
    sql_err!(ER_PASSWORD_NO_MATCH)
}
