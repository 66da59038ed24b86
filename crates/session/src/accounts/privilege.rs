//! Sets of privileges: their bits, which are those of `mysql.global_priv`, and their names.
//!
//! It must not know accounts or statements.

use selkie_parser::ast::PrivilegeKind;
use serde::{Deserialize, Serialize};

/// A set of privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Privileges(pub u64);

/// Every privilege in the order in which GRANT lists them: bit, name, whether it can be given on a database, on a table.
const NAMES: &[(u64, &str, bool, bool)] = &[
    (1, "SELECT", true, true),
    (1 << 1, "INSERT", true, true),
    (1 << 2, "UPDATE", true, true),
    (1 << 3, "DELETE", true, true),
    (1 << 4, "CREATE", true, true),
    (1 << 5, "DROP", true, true),
    (1 << 6, "RELOAD", false, false),
    (1 << 7, "SHUTDOWN", false, false),
    (1 << 8, "PROCESS", false, false),
    (1 << 9, "FILE", false, false),
    (1 << 11, "REFERENCES", true, true),
    (1 << 12, "INDEX", true, true),
    (1 << 13, "ALTER", true, true),
    (1 << 14, "SHOW DATABASES", false, false),
    (1 << 15, "SUPER", false, false),
    (1 << 16, "CREATE TEMPORARY TABLES", true, false),
    (1 << 17, "LOCK TABLES", true, false),
    (1 << 18, "EXECUTE", true, false),
    (1 << 19, "REPLICATION SLAVE", false, false),
    (1 << 20, "BINLOG MONITOR", false, false),
    (1 << 21, "CREATE VIEW", true, true),
    (1 << 22, "SHOW VIEW", true, true),
    (1 << 23, "CREATE ROUTINE", true, false),
    (1 << 24, "ALTER ROUTINE", true, false),
    (1 << 25, "CREATE USER", false, false),
    (1 << 26, "EVENT", true, false),
    (1 << 27, "TRIGGER", true, true),
    (1 << 28, "CREATE TABLESPACE", false, false),
    (1 << 29, "DELETE HISTORY", true, true),
    (1 << 30, "SET USER", false, false),
    (1 << 31, "FEDERATED ADMIN", false, false),
    (1 << 32, "CONNECTION ADMIN", false, false),
    (1 << 33, "READ_ONLY ADMIN", false, false),
    (1 << 34, "REPLICATION SLAVE ADMIN", false, false),
    (1 << 35, "REPLICATION MASTER ADMIN", false, false),
    (1 << 36, "BINLOG ADMIN", false, false),
    (1 << 37, "BINLOG REPLAY", false, false),
    (1 << 38, "SLAVE MONITOR", false, false),
];

impl Privileges {
    /// None.
    pub const NONE: Privileges = Privileges(0);
    /// SELECT
    pub const SELECT: Privileges = Privileges(1);
    /// INSERT
    pub const INSERT: Privileges = Privileges(1 << 1);
    /// UPDATE
    pub const UPDATE: Privileges = Privileges(1 << 2);
    /// REFERENCES
    pub const REFERENCES: Privileges = Privileges(1 << 11);
    /// EXECUTE
    pub const EXECUTE: Privileges = Privileges(1 << 18);
    /// ALTER ROUTINE
    pub const ALTER_ROUTINE: Privileges = Privileges(1 << 24);
    /// WITH GRANT OPTION
    pub const GRANT_OPTION: Privileges = Privileges(1 << 10);
    /// Everything that can be given globally, the grant option aside.
    pub const ALL_GLOBAL: Privileges = Privileges(((1 << 39) - 1) & !(1 << 10));
    /// What `ALL` means for a column list.
    pub const ALL_COLUMN: Privileges = Privileges(1 | 1 << 1 | 1 << 2 | 1 << 11);
    /// What `ALL` means for a routine.
    pub const ALL_ROUTINE: Privileges = Privileges(1 << 18 | 1 << 24);

    /// What `ALL` means for a database.
    pub fn all_database() -> Privileges {
        Privileges(NAMES.iter().filter(|n| n.2).fold(0, |bits, n| bits | n.0))
    }

    /// What `ALL` means for a table.
    pub fn all_table() -> Privileges {
        Privileges(NAMES.iter().filter(|n| n.3).fold(0, |bits, n| bits | n.0))
    }

    /// The privilege of a name in upper case; `ALL PRIVILEGES` is all of them. Names of other levels are [`Self::NONE`].
    pub fn by_name(name: &str) -> Privileges {
        match name {
            "ALL PRIVILEGES" => Privileges::ALL_GLOBAL,
            "GRANT OPTION" => Privileges::GRANT_OPTION,
            "REPLICATION CLIENT" => Privileges(1 << 20),
            _ => NAMES.iter().find(|n| n.1 == name).map_or(Privileges::NONE, |n| Privileges(n.0)),
        }
    }

    /// The privilege that a word of GRANT stands for; `ALL` is everything that exists globally.
    pub fn of(kind: PrivilegeKind) -> Privileges {
        use PrivilegeKind as K;
        let name = match kind {
            K::All => "ALL PRIVILEGES",
            K::Usage => return Privileges::NONE,
            K::Select => "SELECT",
            K::Insert => "INSERT",
            K::Update => "UPDATE",
            K::Delete => "DELETE",
            K::DeleteHistory => "DELETE HISTORY",
            K::References => "REFERENCES",
            K::Create => "CREATE",
            K::Alter => "ALTER",
            K::Drop => "DROP",
            K::Index => "INDEX",
            K::CreateView => "CREATE VIEW",
            K::ShowView => "SHOW VIEW",
            K::CreateRoutine => "CREATE ROUTINE",
            K::AlterRoutine => "ALTER ROUTINE",
            K::Execute => "EXECUTE",
            K::Event => "EVENT",
            K::Trigger => "TRIGGER",
            K::LockTables => "LOCK TABLES",
            K::CreateTemporaryTables => "CREATE TEMPORARY TABLES",
            K::CreateTablespace => "CREATE TABLESPACE",
            K::CreateUser => "CREATE USER",
            K::File => "FILE",
            K::Process => "PROCESS",
            K::Reload => "RELOAD",
            K::Shutdown => "SHUTDOWN",
            K::ShowDatabases => "SHOW DATABASES",
            K::Super => "SUPER",
            K::ReplicationSlave => "REPLICATION SLAVE",
            K::BinlogMonitor => "BINLOG MONITOR",
            K::BinlogAdmin => "BINLOG ADMIN",
            K::BinlogReplay => "BINLOG REPLAY",
            K::ConnectionAdmin => "CONNECTION ADMIN",
            K::FederatedAdmin => "FEDERATED ADMIN",
            K::ReadOnlyAdmin => "READ_ONLY ADMIN",
            K::ReplicationMasterAdmin => "REPLICATION MASTER ADMIN",
            K::ReplicationSlaveAdmin => "REPLICATION SLAVE ADMIN",
            K::SlaveMonitor => "SLAVE MONITOR",
            K::SetUser => "SET USER",
            K::GrantOption => "GRANT OPTION",
        };
        Privileges::by_name(name)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in here.
    pub fn has(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    pub fn with(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// Those of `self` that are also in `other`.
    pub fn and(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }

    /// Without those of `other`.
    pub fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// The names of the privileges in it, in GRANT's order, the grant option aside.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |n| self.0 & n.0 != 0).map(|n| n.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_means_what_the_level_has() {
        assert!(!Privileges::all_database().has(Privileges::by_name("SUPER")));
        assert!(!Privileges::all_table().has(Privileges::by_name("LOCK TABLES")));
        assert_eq!(Privileges::ALL_GLOBAL.names().count(), 38);
        let test_db = Privileges::all_database().names().collect::<Vec<_>>().join(", ");
        assert_eq!(
            test_db,
            "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, \
             LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, DELETE HISTORY"
        );
    }
}
