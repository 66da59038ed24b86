//! CREATE, ALTER, DROP and RENAME USER; CREATE and DROP ROLE; passwords.

use selkie_parser::ast::{
    AccountOption, AccountOptions, AlterUser, AuthSpec, CreateRole, CreateUser, DropRoles, DropUsers, PasswordValue,
    PluginAuth, RenameUsers, ResourceLimit, SetPassword, TlsRequirement, UserName, UserSpec,
};
use selkie_protocol::handshake::NativePasswordHash;
use selkie_types::{SqlResult, sql_err};

use super::{Draft, FullName, cannot, no_such_account, now_seconds};
use crate::accounts::Account;
use crate::session::Session;

/// Longest user name in characters.
const USER_CHARACTERS_MAX: usize = 128;
/// Longest host name in characters.
const HOST_CHARACTERS_MAX: usize = 255;

impl Session {
    fn may_change_accounts(&self) -> SqlResult<()> {
        let a = &self.host.account;
        if a.allows("CREATE USER", "", "") || a.allows("INSERT", "mysql", "global_priv") {
            return Ok(());
        }
        Err(sql_err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "CREATE USER"))
    }

    pub(super) fn create_users(&mut self, c: &CreateUser, draft: &mut Draft) -> SqlResult<()> {
        self.may_change_accounts()?;
        let mut failed = Vec::new();
        for spec in &c.users {
            let name = account_name(&self.full_name_of_account(&spec.name)?)?;
            let existing = self.drafted(draft, &name);
            if existing.is_some() && c.if_not_exists {
                self.diag.note(sql_err!(ER_USER_CREATE_EXISTS, name.user, name.host));
                continue;
            }
            if existing.is_some() && !c.or_replace {
                failed.push(name);
                continue;
            }
            let mut account = Account {
                user: name.user.clone(),
                host: name.host.clone(),
                plugin: "mysql_native_password".into(),
                password_last_changed: now_seconds(),
                ..Account::default()
            };
            authenticate_by(&mut account, &spec.auth)?;
            apply_options(&mut account, &c.options);
            draft.put(account);
        }
        cannot("CREATE USER", &failed)
    }

    /// A user's name; without a host it is never a role's.
    fn full_name_of_account(&self, name: &UserName) -> SqlResult<FullName> {
        match name {
            UserName::Named { user, host: None } => {
                Ok(FullName { user: user.clone(), host: "%".into(), is_role: false })
            }
            other => self.full_name(other),
        }
    }

    pub(super) fn alter_users(&mut self, a: &AlterUser, draft: &mut Draft) -> SqlResult<()> {
        let own = self.own_name();
        let mut failed = Vec::new();
        for spec in &a.users {
            let name = self.full_name_of_account(&spec.name)?;
            if name != own || !a.options.limits.is_empty() {
                self.may_change_accounts()?;
            }
            let Some(mut account) = self.drafted(draft, &name) else {
                failed.push(name);
                continue;
            };
            if !spec.auth.is_empty() {
                authenticate_by(&mut account, &spec.auth)?;
                account.password_last_changed = now_seconds();
                account.expired = false;
            }
            apply_options(&mut account, &a.options);
            draft.put(account);
        }
        if a.if_exists {
            for name in &failed {
                self.diag.note(sql_err!(ER_CANNOT_USER, "ALTER USER", name));
            }
            return Ok(());
        }
        cannot("ALTER USER", &failed)
    }

    pub(super) fn drop_users(&mut self, d: &DropUsers, draft: &mut Draft) -> SqlResult<()> {
        self.may_change_accounts()?;
        let mut failed = Vec::new();
        for user in &d.users {
            let name = self.full_name_of_account(user)?;
            if self.drafted(draft, &name).is_some() {
                draft.remove(&name);
            } else if d.if_exists {
                self.diag.note(sql_err!(ER_USER_DROP_EXISTS, name.user, name.host));
            } else {
                failed.push(name);
            }
        }
        cannot("DROP USER", &failed)
    }

    pub(super) fn rename_users(&mut self, r: &RenameUsers, draft: &mut Draft) -> SqlResult<()> {
        self.may_change_accounts()?;
        let mut failed = Vec::new();
        for (from, to) in &r.renames {
            let from = self.full_name_of_account(from)?;
            let to = account_name(&self.full_name_of_account(to)?)?;
            match self.drafted(draft, &from) {
                Some(mut account) if self.drafted(draft, &to).is_none() => {
                    draft.remove(&from);
                    (account.user, account.host) = (to.user, to.host);
                    draft.put(account);
                }
                _ => failed.push(from),
            }
        }
        cannot("RENAME USER", &failed)
    }

    pub(super) fn create_roles(&mut self, c: &CreateRole, draft: &mut Draft) -> SqlResult<()> {
        self.may_change_accounts()?;
        let admin = match &c.admin {
            Some(a) => self.full_name(a)?,
            None => self.own_name(),
        };
        let mut failed = Vec::new();
        for role in &c.roles {
            let UserName::Named { user, .. } = role else { return Err(sql_err!(ER_INVALID_ROLE, "PUBLIC")) };
            if user.is_empty() || user.eq_ignore_ascii_case("none") || user.eq_ignore_ascii_case("public") {
                return Err(sql_err!(ER_INVALID_ROLE, user));
            }
            let name = FullName { user: user.clone(), host: String::new(), is_role: true };
            let exists = self.drafted(draft, &name).is_some();
            if exists && c.if_not_exists {
                self.diag.note(sql_err!(ER_ROLE_CREATE_EXISTS, user));
                continue;
            }
            if exists && !c.or_replace {
                failed.push(name);
                continue;
            }
            draft.put(Account { user: user.clone(), is_role: true, ..Account::default() });
            if let Some(mut a) = self.drafted(draft, &admin) {
                a.roles.retain(|(r, _)| r != user);
                a.roles.push((user.clone(), true));
                draft.put(a);
            }
        }
        cannot("CREATE ROLE", &failed)
    }

    pub(super) fn drop_roles(&mut self, d: &DropRoles, draft: &mut Draft) -> SqlResult<()> {
        self.may_change_accounts()?;
        let mut failed = Vec::new();
        for role in &d.roles {
            let UserName::Named { user, .. } = role else { return Err(sql_err!(ER_INVALID_ROLE, "PUBLIC")) };
            let name = FullName { user: user.clone(), host: String::new(), is_role: true };
            if self.drafted(draft, &name).is_none() {
                match d.if_exists {
                    true => self.diag.note(sql_err!(ER_ROLE_DROP_EXISTS, user)),
                    false => failed.push(name),
                }
                continue;
            }
            for mut a in self.all_drafted(draft) {
                if a.roles.iter().any(|(r, _)| r == user) {
                    a.roles.retain(|(r, _)| r != user);
                    draft.put(a);
                }
            }
            draft.remove(&name);
        }
        cannot("DROP ROLE", &failed)
    }

    /// Changes a password; returns whose, and the new hash.
    pub(super) fn change_password(&mut self, s: &SetPassword, draft: &mut Draft) -> SqlResult<(FullName, String)> {
        let own = self.own_name();
        let name = match &s.user {
            Some(u) => self.full_name_of_account(u)?,
            None => own.clone(),
        };
        if name != own {
            let a = &self.host.account;
            if !a.allows("CREATE USER", "", "") && !a.allows("UPDATE", "mysql", "global_priv") {
                return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, "mysql"));
            }
        }
        let mut account = self.drafted(draft, &name).ok_or_else(no_such_account)?;
        let hash = match &s.password {
            PasswordValue::Text(text) => hash_of(text),
            PasswordValue::Hash(hash) => checked_hash(hash)?,
            PasswordValue::OldText(_) => return Err(crate::host::not_supported("OLD_PASSWORD")),
        };
        const NATIVE: &str = "mysql_native_password";
        match account.alternatives.iter_mut().find(|(plugin, _)| plugin == NATIVE) {
            Some((_, string)) if account.plugin != NATIVE => string.clone_from(&hash),
            _ => {
                if account.plugin != NATIVE {
                    account.plugin = NATIVE.into();
                    account.alternatives.clear();
                }
                account.authentication.clone_from(&hash);
            }
        }
        account.password_last_changed = now_seconds();
        account.expired = false;
        draft.put(account);
        Ok((name, hash))
    }

    /// The account that GRANT names, made if the statement says how it logs in.
    pub(super) fn granted_account(&mut self, draft: &Draft, spec: &UserSpec) -> SqlResult<Account> {
        let name = self.full_name(&spec.name)?;
        let mut account = match self.drafted(draft, &name) {
            Some(a) => a,
            None if name.is_role && name.user == crate::accounts::PUBLIC => {
                Account { user: name.user, is_role: true, ..Account::default() }
            }
            None if spec.auth.is_empty() => return Err(no_such_account()),
            None => {
                self.may_change_accounts()?;
                let name = account_name(&name)?;
                Account {
                    user: name.user,
                    host: name.host,
                    plugin: "mysql_native_password".into(),
                    password_last_changed: now_seconds(),
                    ..Account::default()
                }
            }
        };
        authenticate_by(&mut account, &spec.auth)?;
        Ok(account)
    }
}

fn account_name(name: &FullName) -> SqlResult<FullName> {
    for (text, max, what) in
        [(&name.user, USER_CHARACTERS_MAX, "user name"), (&name.host, HOST_CHARACTERS_MAX, "host name")]
    {
        if text.chars().count() > max {
            return Err(sql_err!(ER_WRONG_STRING_LENGTH, text, what, max));
        }
    }
    Ok(name.clone())
}

/// The stored form of a password.
pub(super) fn hash_of(password: &str) -> String {
    NativePasswordHash::of_password(password.as_bytes()).map(|h| h.to_string()).unwrap_or_default()
}

/// A stored form given by the client.
fn checked_hash(hash: &str) -> SqlResult<String> {
    if hash.is_empty() {
        return Ok(String::new());
    }
    match NativePasswordHash::parse(hash) {
        Some(h) => Ok(h.to_string()),
        None => Err(sql_err!(ER_PASSWD_LENGTH, 41)),
    }
}

fn authenticate_by(account: &mut Account, specs: &[AuthSpec]) -> SqlResult<()> {
    let mut ways = Vec::new();
    for spec in specs {
        ways.push(match spec {
            AuthSpec::Password(text) => ("mysql_native_password".to_owned(), hash_of(text)),
            AuthSpec::PasswordHash(hash) => ("mysql_native_password".to_owned(), checked_hash(hash)?),
            AuthSpec::Plugin { plugin, auth } => {
                let name = plugin.value.to_ascii_lowercase();
                if !matches!(name.as_str(), "mysql_native_password" | "unix_socket") {
                    return Err(sql_err!(ER_PLUGIN_IS_NOT_LOADED, plugin.value));
                }
                let string = match auth {
                    Some(PluginAuth::Password(text)) => hash_of(text),
                    Some(PluginAuth::String(s)) if name == "mysql_native_password" && s != "invalid" => checked_hash(s)?,
                    Some(PluginAuth::String(s)) => s.clone(),
                    None => String::new(),
                };
                (name, string)
            }
        });
    }
    let mut ways = ways.into_iter();
    if let Some((plugin, string)) = ways.next() {
        account.plugin = plugin;
        account.authentication = string;
        account.alternatives = ways.collect();
    }
    Ok(())
}

/// REQUIRE, WITH limits, ACCOUNT LOCK and PASSWORD EXPIRE.
pub(super) fn apply_options(account: &mut Account, o: &AccountOptions) {
    if let Some(tls) = &o.tls {
        account.require = require_words(tls);
    }
    for limit in &o.limits {
        let (word, value) = match limit {
            ResourceLimit::MaxQueriesPerHour(n) => ("MAX_QUERIES_PER_HOUR", n.to_string()),
            ResourceLimit::MaxUpdatesPerHour(n) => ("MAX_UPDATES_PER_HOUR", n.to_string()),
            ResourceLimit::MaxConnectionsPerHour(n) => ("MAX_CONNECTIONS_PER_HOUR", n.to_string()),
            ResourceLimit::MaxUserConnections(n) => ("MAX_USER_CONNECTIONS", n.to_string()),
            ResourceLimit::MaxStatementTime(t) => {
                ("MAX_STATEMENT_TIME", format!("{:.6}", t.parse::<f64>().unwrap_or(0.0)))
            }
        };
        account.limits.retain(|(w, _)| w != word);
        if value.parse::<f64>() != Ok(0.0) {
            account.limits.push((word.to_owned(), value));
        }
    }
    for option in &o.account {
        match option {
            AccountOption::Lock => account.locked = true,
            AccountOption::Unlock => account.locked = false,
            AccountOption::PasswordExpire => account.expired = true,
            AccountOption::PasswordExpireNever => account.lifetime_days = Some(0),
            AccountOption::PasswordExpireDefault => account.lifetime_days = None,
            AccountOption::PasswordExpireInterval(days) => account.lifetime_days = Some(*days),
        }
    }
}

fn require_words(tls: &TlsRequirement) -> String {
    match tls {
        TlsRequirement::None => String::new(),
        TlsRequirement::Ssl => "SSL".into(),
        TlsRequirement::X509 => "X509".into(),
        TlsRequirement::Specified { issuer, subject, cipher } => {
            let quoted = |word: &str, v: &Option<String>| v.as_ref().map(|v| format!("{word} '{}'", v.replace('\'', "''")));
            let parts = [quoted("ISSUER", issuer), quoted("SUBJECT", subject), quoted("CIPHER", cipher)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_kept_as_hashes() {
        assert_eq!(hash_of("pw"), "*D821809F681A40A6E379B50D0463EFAE20BDD122");
        assert_eq!(hash_of(""), "");
        assert!(checked_hash("*D821809F681A40A6E379B50D0463EFAE20BDD122").is_ok());
        assert_eq!(checked_hash("plain").unwrap_err().code(), selkie_types::codes::ER_PASSWD_LENGTH);
    }

    #[test]
    fn options_are_kept_as_they_are_shown() {
        let mut a = Account::default();
        let o = AccountOptions {
            tls: Some(TlsRequirement::Specified { issuer: None, subject: Some("s".into()), cipher: Some("c".into()) }),
            limits: vec![ResourceLimit::MaxQueriesPerHour(3), ResourceLimit::MaxStatementTime("1.5".into())],
            account: vec![AccountOption::Lock],
        };
        apply_options(&mut a, &o);
        assert_eq!(a.require, "SUBJECT 's' CIPHER 'c'");
        assert_eq!(a.limits[1], ("MAX_STATEMENT_TIME".to_owned(), "1.500000".to_owned()));
        assert!(a.locked);
        apply_options(&mut a, &AccountOptions { limits: vec![ResourceLimit::MaxQueriesPerHour(0)], ..Default::default() });
        assert_eq!(a.limits.len(), 1);
    }
}
