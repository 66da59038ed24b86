//! Accounts, roles, privileges.

use super::Parser;
use crate::ast::{
    AccountOption, AccountOptions, AlterUser, AuthSpec, CreateRole, CreateUser, DropRoles,
    DropUsers, Grant, ObjectName, PluginAuth, Privilege, PrivilegeKind, PrivilegeLevel,
    RenameUsers, ResourceLimit, Revoke, Statement, TlsRequirement, UserName, UserSpec,
};
use crate::error::Res;
use crate::keywords::Kw;
use crate::lexer::Tok;

impl Parser<'_> {
    /// `'user'@'host'`, `role`, `CURRENT_USER`, …
    pub(super) fn user_name(&mut self) -> Res<UserName> {
        if let Some(kw) = self.eat_any(&[Kw::CURRENT_USER, Kw::CURRENT_ROLE]) {
            if self.eat_tok(Tok::LParen) {
                self.expect_tok(Tok::RParen)?;
            }
            return Ok(if kw == Kw::CURRENT_USER {
                UserName::CurrentUser
            } else {
                UserName::CurrentRole
            });
        }
        let bare = self.at_tok(Tok::Ident);
        let user = self.ident_or_text()?.value;
        let host = match self.peek() {
            Tok::UserVar => Some(self.user_var()?.value),
            Tok::At => {
                self.bump();
                let named = self.at_ident() || self.at_tok(Tok::Str);
                Some(if named {
                    self.ident_or_text()?.value
                } else {
                    String::new()
                })
            }
            _ => None,
        };
        if host.is_none() && bare && user.eq_ignore_ascii_case("PUBLIC") {
            return Ok(UserName::Public);
        }
        Ok(UserName::Named { user, host })
    }

    /// A role's name, which has no host.
    fn role_name(&mut self) -> Res<UserName> {
        let bare = self.at_tok(Tok::Ident);
        let user = self.ident_or_text()?.value;
        if bare && user.eq_ignore_ascii_case("PUBLIC") {
            return Ok(UserName::Public);
        }
        Ok(UserName::Named { user, host: None })
    }

    /// A role to grant or revoke.
    fn granted_role(&mut self) -> Res<UserName> {
        if self.at(Kw::CURRENT_ROLE) {
            self.user_name()
        } else {
            self.role_name()
        }
    }

    fn user_names(&mut self) -> Res<Vec<UserName>> {
        self.list(Self::user_name)
    }

    fn user_spec(&mut self) -> Res<UserSpec> {
        let name = self.user_name()?;
        let mut auth = Vec::new();
        if self.eat(Kw::IDENTIFIED) {
            if self.eat(Kw::BY) {
                auth.push(if self.eat(Kw::PASSWORD) {
                    AuthSpec::PasswordHash(self.string()?)
                } else {
                    AuthSpec::Password(self.string()?)
                });
            } else {
                self.expect_any(&[Kw::VIA, Kw::WITH])?;
                loop {
                    auth.push(self.plugin_auth()?);
                    if !self.eat(Kw::OR) {
                        break;
                    }
                }
            }
        }
        Ok(UserSpec { name, auth })
    }

    fn plugin_auth(&mut self) -> Res<AuthSpec> {
        let plugin = self.ident_or_text()?;
        if self.eat_any(&[Kw::USING, Kw::AS]).is_none() {
            return Ok(AuthSpec::Plugin { plugin, auth: None });
        }
        let auth = if self.eat(Kw::PASSWORD) {
            PluginAuth::Password(self.parens(Self::string)?)
        } else {
            PluginAuth::String(self.string()?)
        };
        Ok(AuthSpec::Plugin {
            plugin,
            auth: Some(auth),
        })
    }

    /// `REQUIRE …`, `WITH limits`, locking and expiry.
    fn account_options(&mut self) -> Res<AccountOptions> {
        let mut options = AccountOptions {
            tls: self.opt_require()?,
            ..AccountOptions::default()
        };
        if self.eat(Kw::WITH) {
            while self.resource_limit(&mut options)? {}
            if options.limits.is_empty() {
                return self.fail();
            }
        }
        loop {
            let option = if self.eat(Kw::ACCOUNT) {
                match self.expect_any(&[Kw::LOCK, Kw::UNLOCK])? {
                    Kw::LOCK => AccountOption::Lock,
                    _ => AccountOption::Unlock,
                }
            } else if self.eat(Kw::PASSWORD) {
                self.expect(Kw::EXPIRE)?;
                match self.eat_any(&[Kw::NEVER, Kw::DEFAULT, Kw::INTERVAL]) {
                    Some(Kw::NEVER) => AccountOption::PasswordExpireNever,
                    Some(Kw::DEFAULT) => AccountOption::PasswordExpireDefault,
                    Some(_) => {
                        let days = self.number()?;
                        self.expect(Kw::DAY)?;
                        AccountOption::PasswordExpireInterval(days)
                    }
                    None => AccountOption::PasswordExpire,
                }
            } else {
                return Ok(options);
            };
            options.account.push(option);
        }
    }

    fn opt_require(&mut self) -> Res<Option<TlsRequirement>> {
        if !self.eat(Kw::REQUIRE) {
            return Ok(None);
        }
        match self.eat_any(&[Kw::NONE, Kw::SSL, Kw::X509]) {
            Some(Kw::NONE) => return Ok(Some(TlsRequirement::None)),
            Some(Kw::SSL) => return Ok(Some(TlsRequirement::Ssl)),
            Some(_) => return Ok(Some(TlsRequirement::X509)),
            None => {}
        }
        let (mut issuer, mut subject, mut cipher) = (None, None, None);
        loop {
            match self.expect_any(&[Kw::ISSUER, Kw::SUBJECT, Kw::CIPHER])? {
                Kw::ISSUER => issuer = Some(self.string()?),
                Kw::SUBJECT => subject = Some(self.string()?),
                _ => cipher = Some(self.string()?),
            }
            self.eat(Kw::AND);
            if !self.at_any(&[Kw::ISSUER, Kw::SUBJECT, Kw::CIPHER]) {
                return Ok(Some(TlsRequirement::Specified {
                    issuer,
                    subject,
                    cipher,
                }));
            }
        }
    }

    fn resource_limit(&mut self, options: &mut AccountOptions) -> Res<bool> {
        let words = [
            Kw::MAX_QUERIES_PER_HOUR,
            Kw::MAX_UPDATES_PER_HOUR,
            Kw::MAX_CONNECTIONS_PER_HOUR,
            Kw::MAX_USER_CONNECTIONS,
            Kw::MAX_STATEMENT_TIME,
        ];
        let Some(kw) = self.eat_any(&words) else {
            return Ok(false);
        };
        options.limits.push(match kw {
            Kw::MAX_QUERIES_PER_HOUR => ResourceLimit::MaxQueriesPerHour(self.number()?),
            Kw::MAX_UPDATES_PER_HOUR => ResourceLimit::MaxUpdatesPerHour(self.number()?),
            Kw::MAX_CONNECTIONS_PER_HOUR => ResourceLimit::MaxConnectionsPerHour(self.number()?),
            Kw::MAX_USER_CONNECTIONS => {
                let value = self.signed_number()?;
                ResourceLimit::MaxUserConnections(i64::try_from(value).unwrap_or(i64::MAX))
            }
            _ => {
                let text = self.token_text();
                self.real_number()?;
                ResourceLimit::MaxStatementTime(text)
            }
        });
        Ok(true)
    }

    pub(super) fn create_user(&mut self, or_replace: bool) -> Res<Statement> {
        self.expect(Kw::USER)?;
        let if_not_exists = self.if_not_exists()?;
        let users = self.list(Self::user_spec)?;
        Ok(Statement::CreateUser(CreateUser {
            or_replace,
            if_not_exists,
            users,
            options: self.account_options()?,
        }))
    }

    pub(super) fn alter_user(&mut self) -> Res<Statement> {
        self.expect(Kw::USER)?;
        let if_exists = self.if_exists()?;
        let users = self.list(Self::user_spec)?;
        Ok(Statement::AlterUser(AlterUser {
            if_exists,
            users,
            options: self.account_options()?,
        }))
    }

    pub(super) fn drop_users(&mut self) -> Res<Statement> {
        let if_exists = self.if_exists()?;
        Ok(Statement::DropUsers(DropUsers {
            if_exists,
            users: self.user_names()?,
        }))
    }

    pub(super) fn create_role(&mut self, or_replace: bool) -> Res<Statement> {
        self.expect(Kw::ROLE)?;
        let if_not_exists = self.if_not_exists()?;
        let roles = self.list(Self::role_name)?;
        let admin = if self.eat(Kw::WITH) {
            self.expect(Kw::ADMIN)?;
            Some(self.user_name()?)
        } else {
            None
        };
        Ok(Statement::CreateRole(CreateRole {
            or_replace,
            if_not_exists,
            roles,
            admin,
        }))
    }

    pub(super) fn drop_roles(&mut self) -> Res<Statement> {
        let if_exists = self.if_exists()?;
        let roles = self.list(Self::role_name)?;
        Ok(Statement::DropRoles(DropRoles { if_exists, roles }))
    }

    /// `RENAME USER` was taken.
    pub(super) fn rename_users(&mut self) -> Res<Statement> {
        let renames = self.list(|p| {
            let from = p.user_name()?;
            p.expect(Kw::TO)?;
            Ok((from, p.user_name()?))
        })?;
        Ok(Statement::RenameUsers(RenameUsers { renames }))
    }

    /// Whether an `ON` comes before the `TO` or `FROM`: privileges rather than roles.
    fn grants_privileges(&mut self) -> bool {
        let mut n = 0;
        loop {
            match self.peek_at(n) {
                Tok::Kw(Kw::ON) => return true,
                Tok::Kw(Kw::TO | Kw::FROM) | Tok::Eof | Tok::Semicolon => return false,
                _ => n += 1,
            }
        }
    }

    pub(super) fn grant(&mut self) -> Res<Statement> {
        self.expect(Kw::GRANT)?;
        if self.eat_seq(&[Kw::PROXY, Kw::ON]) {
            let on = self.user_name()?;
            self.expect(Kw::TO)?;
            let to = self.list(Self::user_spec)?;
            let with_grant = self.eat_seq(&[Kw::WITH, Kw::GRANT]);
            if with_grant {
                self.expect(Kw::OPTION)?;
            }
            return Ok(Statement::Grant(Box::new(Grant::Proxy {
                on,
                to,
                with_grant,
            })));
        }
        let named = matches!(
            self.peek(),
            Tok::Ident | Tok::QuotedIdent | Tok::Str | Tok::Kw(Kw::CURRENT_ROLE)
        );
        if named || (self.at_ident() && !self.grants_privileges()) {
            let roles = self.list(Self::granted_role)?;
            self.expect(Kw::TO)?;
            let to = self.list(Self::user_spec)?;
            let with_admin = self.eat(Kw::WITH);
            if with_admin {
                self.expect_seq(&[Kw::ADMIN, Kw::OPTION])?;
            }
            return Ok(Statement::Grant(Box::new(Grant::Roles {
                roles,
                to,
                with_admin,
            })));
        }
        let privileges = self.list(Self::privilege)?;
        self.expect(Kw::ON)?;
        let level = self.privilege_level()?;
        self.expect(Kw::TO)?;
        let to = self.list(Self::user_spec)?;
        let mut options = AccountOptions {
            tls: self.opt_require()?,
            ..AccountOptions::default()
        };
        let mut with_grant = false;
        if self.eat(Kw::WITH) {
            let mut any = false;
            loop {
                if self.eat(Kw::GRANT) {
                    self.expect(Kw::OPTION)?;
                    with_grant = true;
                } else if !self.resource_limit(&mut options)? {
                    break;
                }
                any = true;
            }
            if !any {
                return self.fail();
            }
        }
        Ok(Statement::Grant(Box::new(Grant::Privileges {
            privileges,
            level,
            to,
            options,
            with_grant,
        })))
    }

    pub(super) fn revoke(&mut self) -> Res<Statement> {
        self.expect(Kw::REVOKE)?;
        if self.eat_seq(&[Kw::PROXY, Kw::ON]) {
            let on = self.user_name()?;
            self.expect(Kw::FROM)?;
            return Ok(Statement::Revoke(Box::new(Revoke::Proxy {
                on,
                from: self.user_names()?,
            })));
        }
        let admin_option_for = self.eat_seq(&[Kw::ADMIN, Kw::OPTION]);
        if admin_option_for {
            self.expect(Kw::FOR)?;
        }
        let is_role = self.at_ident() || self.at_tok(Tok::Str) || self.at(Kw::CURRENT_ROLE);
        if admin_option_for || (is_role && !self.grants_privileges()) {
            let roles = self.list(Self::granted_role)?;
            self.expect(Kw::FROM)?;
            let from = self.user_names()?;
            return Ok(Statement::Revoke(Box::new(Revoke::Roles {
                admin_option_for,
                roles,
                from,
            })));
        }
        if self.at(Kw::ALL) {
            let mark = self.mark();
            self.bump();
            self.eat(Kw::PRIVILEGES);
            if self.eat_tok(Tok::Comma) {
                self.expect_seq(&[Kw::GRANT, Kw::OPTION, Kw::FROM])?;
                return Ok(Statement::Revoke(Box::new(Revoke::All {
                    from: self.user_names()?,
                })));
            }
            self.reset(mark);
        }
        let privileges = self.list(Self::privilege)?;
        self.expect(Kw::ON)?;
        let level = self.privilege_level()?;
        self.expect(Kw::FROM)?;
        let from = self.user_names()?;
        Ok(Statement::Revoke(Box::new(Revoke::Privileges {
            privileges,
            level,
            from,
        })))
    }

    fn privilege(&mut self) -> Res<Privilege> {
        let kw = match self.peek() {
            Tok::Kw(kw) => kw,
            _ => return self.fail(),
        };
        self.bump();
        let kind = match kw {
            Kw::ALL => {
                self.eat(Kw::PRIVILEGES);
                PrivilegeKind::All
            }
            Kw::SELECT => PrivilegeKind::Select,
            Kw::INSERT => PrivilegeKind::Insert,
            Kw::UPDATE => PrivilegeKind::Update,
            Kw::REFERENCES => PrivilegeKind::References,
            Kw::DELETE => {
                if self.eat(Kw::HISTORY) {
                    PrivilegeKind::DeleteHistory
                } else if self.eat(Kw::VERSIONING) {
                    self.expect(Kw::ROWS)?;
                    PrivilegeKind::DeleteHistory
                } else {
                    PrivilegeKind::Delete
                }
            }
            Kw::USAGE => PrivilegeKind::Usage,
            Kw::INDEX => PrivilegeKind::Index,
            Kw::ALTER if self.eat(Kw::ROUTINE) => PrivilegeKind::AlterRoutine,
            Kw::ALTER => PrivilegeKind::Alter,
            Kw::CREATE => match self.eat_any(&[
                Kw::TEMPORARY,
                Kw::VIEW,
                Kw::ROUTINE,
                Kw::USER,
                Kw::TABLESPACE,
            ]) {
                Some(Kw::TEMPORARY) => {
                    self.expect(Kw::TABLES)?;
                    PrivilegeKind::CreateTemporaryTables
                }
                Some(Kw::VIEW) => PrivilegeKind::CreateView,
                Some(Kw::ROUTINE) => PrivilegeKind::CreateRoutine,
                Some(Kw::USER) => PrivilegeKind::CreateUser,
                Some(_) => PrivilegeKind::CreateTablespace,
                None => PrivilegeKind::Create,
            },
            Kw::DROP => PrivilegeKind::Drop,
            Kw::EXECUTE => PrivilegeKind::Execute,
            Kw::RELOAD => PrivilegeKind::Reload,
            Kw::SHUTDOWN => PrivilegeKind::Shutdown,
            Kw::PROCESS => PrivilegeKind::Process,
            Kw::FILE => PrivilegeKind::File,
            Kw::SUPER => PrivilegeKind::Super,
            Kw::EVENT => PrivilegeKind::Event,
            Kw::TRIGGER => PrivilegeKind::Trigger,
            Kw::GRANT => {
                self.expect(Kw::OPTION)?;
                PrivilegeKind::GrantOption
            }
            Kw::SHOW => match self.expect_any(&[Kw::DATABASES, Kw::VIEW])? {
                Kw::VIEW => PrivilegeKind::ShowView,
                _ => PrivilegeKind::ShowDatabases,
            },
            Kw::LOCK => {
                self.expect(Kw::TABLES)?;
                PrivilegeKind::LockTables
            }
            Kw::REPLICATION => {
                match self.expect_any(&[Kw::SLAVE, Kw::REPLICA, Kw::CLIENT, Kw::MASTER])? {
                    Kw::CLIENT => PrivilegeKind::BinlogMonitor,
                    Kw::MASTER => {
                        self.expect(Kw::ADMIN)?;
                        PrivilegeKind::ReplicationMasterAdmin
                    }
                    _ if self.eat(Kw::ADMIN) => PrivilegeKind::ReplicationSlaveAdmin,
                    _ => PrivilegeKind::ReplicationSlave,
                }
            }
            Kw::BINLOG => match self.expect_any(&[Kw::MONITOR, Kw::ADMIN, Kw::REPLAY])? {
                Kw::MONITOR => PrivilegeKind::BinlogMonitor,
                Kw::ADMIN => PrivilegeKind::BinlogAdmin,
                _ => PrivilegeKind::BinlogReplay,
            },
            Kw::SLAVE | Kw::REPLICA => {
                self.expect(Kw::MONITOR)?;
                PrivilegeKind::SlaveMonitor
            }
            Kw::FEDERATED | Kw::CONNECTION | Kw::READ_ONLY => {
                self.expect(Kw::ADMIN)?;
                match kw {
                    Kw::FEDERATED => PrivilegeKind::FederatedAdmin,
                    Kw::CONNECTION => PrivilegeKind::ConnectionAdmin,
                    _ => PrivilegeKind::ReadOnlyAdmin,
                }
            }
            Kw::READ => {
                self.eat(Kw::ONLY);
                self.expect(Kw::ADMIN)?;
                PrivilegeKind::ReadOnlyAdmin
            }
            Kw::SET => {
                self.expect(Kw::USER)?;
                PrivilegeKind::SetUser
            }
            _ => {
                self.pos -= 1;
                return self.fail();
            }
        };
        let columns = if self.at_tok(Tok::LParen) {
            self.paren_list(Self::ident)?
        } else {
            Vec::new()
        };
        Ok(Privilege { kind, columns })
    }

    fn privilege_level(&mut self) -> Res<PrivilegeLevel> {
        let next_is_name = !matches!(self.peek_at(1), Tok::Dot | Tok::Kw(Kw::TO | Kw::FROM));
        match self.peek() {
            Tok::Kw(Kw::TABLE) => {
                self.bump();
            }
            Tok::Kw(Kw::FUNCTION) if next_is_name => {
                self.bump();
                return Ok(PrivilegeLevel::Function(self.object_name()?));
            }
            Tok::Kw(Kw::PROCEDURE) => {
                self.bump();
                return Ok(PrivilegeLevel::Procedure(self.object_name()?));
            }
            Tok::Kw(Kw::PACKAGE) if next_is_name => {
                self.bump();
                if self.eat(Kw::BODY) {
                    return Ok(PrivilegeLevel::PackageBody(self.object_name()?));
                }
                return Ok(PrivilegeLevel::Package(self.object_name()?));
            }
            _ => {}
        }
        if self.eat_tok(Tok::Star) {
            if self.eat_tok(Tok::Dot) {
                self.expect_tok(Tok::Star)?;
                return Ok(PrivilegeLevel::Global);
            }
            return Ok(PrivilegeLevel::CurrentDatabase);
        }
        let first = self.ident()?;
        if !self.eat_tok(Tok::Dot) {
            return Ok(PrivilegeLevel::Table(ObjectName::bare(first)));
        }
        if self.eat_tok(Tok::Star) {
            return Ok(PrivilegeLevel::Database(first));
        }
        let name = self.ident()?;
        Ok(PrivilegeLevel::Table(ObjectName {
            db: Some(first),
            name,
        }))
    }
}
