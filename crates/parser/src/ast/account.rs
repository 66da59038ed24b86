//! Accounts, roles, privileges.

use super::{Expr, Ident, ObjectName};

/// `'user'@'host'`; without a host it is a role or `user@'%'`, whichever exists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UserName {
    Named {
        user: String,
        host: Option<String>,
    },
    /// `CURRENT_USER`
    CurrentUser,
    /// `CURRENT_ROLE`
    CurrentRole,
    /// `PUBLIC` (as a grantee, 10.11)
    Public,
}

/// `DEFINER = …`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Definer {
    User { user: String, host: Option<String> },
    CurrentUser,
    CurrentRole,
}

/// An account with how it proves itself, as `CREATE USER` and `GRANT` take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSpec {
    pub name: UserName,
    /// Alternatives (`OR`); empty where nothing was said.
    pub auth: Vec<AuthSpec>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthSpec {
    /// `IDENTIFIED BY 'text'`
    Password(String),
    /// `IDENTIFIED BY PASSWORD 'hash'`
    PasswordHash(String),
    /// `IDENTIFIED VIA plugin [USING|AS …]`
    Plugin {
        plugin: Ident,
        auth: Option<PluginAuth>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginAuth {
    /// `USING 'authentication_string'`
    String(String),
    /// `USING PASSWORD('text')`
    Password(String),
}

/// `REQUIRE …`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRequirement {
    None,
    Ssl,
    X509,
    Specified {
        issuer: Option<String>,
        subject: Option<String>,
        cipher: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ResourceLimit {
    MaxQueriesPerHour(u64),
    MaxUpdatesPerHour(u64),
    MaxConnectionsPerHour(u64),
    MaxUserConnections(i64),
    /// In seconds, as written.
    MaxStatementTime(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountOption {
    Lock,
    Unlock,
    PasswordExpire,
    PasswordExpireNever,
    PasswordExpireDefault,
    PasswordExpireInterval(u64),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccountOptions {
    pub tls: Option<TlsRequirement>,
    pub limits: Vec<ResourceLimit>,
    pub account: Vec<AccountOption>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateUser {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub users: Vec<UserSpec>,
    pub options: AccountOptions,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterUser {
    pub if_exists: bool,
    pub users: Vec<UserSpec>,
    pub options: AccountOptions,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropUsers {
    pub if_exists: bool,
    pub users: Vec<UserName>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateRole {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub roles: Vec<UserName>,
    /// `WITH ADMIN …`
    pub admin: Option<UserName>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DropRoles {
    pub if_exists: bool,
    pub roles: Vec<UserName>,
}

/// One privilege of a list, with columns where they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Privilege {
    pub kind: PrivilegeKind,
    pub columns: Vec<Ident>,
}

/// MariaDB's privileges, older spellings folded into the present ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrivilegeKind {
    /// `ALL [PRIVILEGES]`
    All,
    Usage,
    Select,
    Insert,
    Update,
    Delete,
    /// `DELETE HISTORY`/`DELETE VERSIONING ROWS`
    DeleteHistory,
    References,
    Create,
    Alter,
    Drop,
    Index,
    CreateView,
    ShowView,
    CreateRoutine,
    AlterRoutine,
    Execute,
    Event,
    Trigger,
    LockTables,
    CreateTemporaryTables,
    CreateTablespace,
    CreateUser,
    File,
    Process,
    Reload,
    Shutdown,
    ShowDatabases,
    Super,
    ReplicationSlave,
    /// `REPLICATION CLIENT`, `BINLOG MONITOR`
    BinlogMonitor,
    BinlogAdmin,
    BinlogReplay,
    ConnectionAdmin,
    FederatedAdmin,
    ReadOnlyAdmin,
    ReplicationMasterAdmin,
    ReplicationSlaveAdmin,
    /// `SLAVE MONITOR`, `REPLICA MONITOR`
    SlaveMonitor,
    SetUser,
    GrantOption,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`
    Global,
    /// `*`: the current database
    CurrentDatabase,
    /// `db.*`
    Database(Ident),
    Table(ObjectName),
    Function(ObjectName),
    Procedure(ObjectName),
    Package(ObjectName),
    PackageBody(ObjectName),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Grant {
    Privileges {
        privileges: Vec<Privilege>,
        level: PrivilegeLevel,
        to: Vec<UserSpec>,
        options: AccountOptions,
        /// `WITH GRANT OPTION`
        with_grant: bool,
    },
    Roles {
        roles: Vec<UserName>,
        to: Vec<UserSpec>,
        with_admin: bool,
    },
    /// `GRANT PROXY ON a TO b`
    Proxy {
        on: UserName,
        to: Vec<UserSpec>,
        with_grant: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Revoke {
    Privileges {
        privileges: Vec<Privilege>,
        level: PrivilegeLevel,
        from: Vec<UserName>,
    },
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM …`
    All {
        from: Vec<UserName>,
    },
    Roles {
        admin_option_for: bool,
        roles: Vec<UserName>,
        from: Vec<UserName>,
    },
    Proxy {
        on: UserName,
        from: Vec<UserName>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct RenameUsers {
    pub renames: Vec<(UserName, UserName)>,
}

/// `SET PASSWORD [FOR user] = …`
#[derive(Debug, Clone, PartialEq)]
pub struct SetPassword {
    pub user: Option<UserName>,
    pub password: PasswordValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PasswordValue {
    /// `PASSWORD('text')`
    Text(String),
    /// `OLD_PASSWORD('text')`
    OldText(String),
    /// `'hash'`
    Hash(String),
}

/// `SET ROLE`, and the role of `SET DEFAULT ROLE`.
#[derive(Debug, Clone, PartialEq)]
pub enum RoleChoice {
    None,
    Role(String),
    /// An expression, as in `SET ROLE @x`.
    Expr(Expr),
}
