//! Which privileges statements need, and the errors for those who lack them.
//!
//! Queries and data changes are checked by what their plan touches ([`Session::check_accessed`]), everything else by its
//! kind ([`Session::check_statement`]) before it runs. SET and SHOW look after themselves.

use selkie_parser::ast::{self, AlterAction, MaintenanceKind, ObjectName, PartitionAction, SelectInto, Statement};
use selkie_planner::context::{AccessKind, Accessed};
use selkie_types::{SqlError, SqlResult, sql_err};

use crate::accounts::{Account, Privileges};
use crate::session::Session;
use crate::virtual_tables::{is_database, is_open_to_all};

impl Session {
    /// Fails unless the account may use what a plan uses. A view's tables are its definer's matter.
    pub(crate) fn check_accessed(&self, accessed: &[Accessed]) -> SqlResult<()> {
        let account = &self.host.account;
        if account.global.has(Privileges::ALL_GLOBAL) {
            return Ok(());
        }
        for a in accessed {
            if is_open_to_all(&a.db) {
                continue;
            }
            let wanted = privilege_of(a.kind);
            if let Some(definer) = &a.definer {
                self.check_definer(definer, a, wanted)?;
                continue;
            }
            if self.host.temporary_table(&a.db, &a.table).is_some() || has(account, a, wanted) {
                continue;
            }
            if a.kind == AccessKind::Execute {
                let name = format!("{}.{}", a.db, a.table);
                return Err(sql_err!(ER_PROCACCESS_DENIED_ERROR, "execute", account.user, account.host, name));
            }
            let some = account.table_grant(&a.db, &a.table).is_some_and(|t| t.columns.iter().any(|(_, p)| p.has(wanted)));
            return Err(match &a.column {
                Some(column) if some => {
                    let word = wanted.names().next().unwrap_or("SELECT");
                    sql_err!(ER_COLUMNACCESS_DENIED_ERROR, word, account.user, self.host.host, column, a.table)
                }
                _ => {
                    let here = accessed.iter().filter(|b| b.definer.is_none() && b.db == a.db && b.table == a.table);
                    let missing = here.map(|b| (b, privilege_of(b.kind))).filter(|(b, p)| !has(account, b, *p));
                    self.table_denied(&a.db, &a.table, missing.fold(Privileges::NONE, |all, (_, p)| all.with(p)))
                }
            });
        }
        Ok(())
    }

    /// A view works as long as its definer may do what it does.
    fn check_definer(&self, definer: &str, a: &Accessed, wanted: Privileges) -> SqlResult<()> {
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, "%"));
        let account = self.instance().accounts.effective(user, host, None);
        match account {
            Some(account) if has(&account, a, wanted) => Ok(()),
            Some(_) => Err(sql_err!(ER_VIEW_INVALID, a.db, a.table)),
            None => Err(sql_err!(ER_NO_SUCH_USER, user, host)),
        }
    }

    fn table_denied(&self, db: &str, table: &str, missing: Privileges) -> SqlError {
        let a = &self.host.account;
        // A change of rows is told before the reading that it implies.
        let change = missing.and(Privileges::INSERT.with(Privileges::UPDATE).with(Privileges::by_name("DELETE")));
        let words: Vec<&str> = if change.is_empty() { missing.names().collect() } else { change.names().collect() };
        sql_err!(ER_TABLEACCESS_DENIED_ERROR, words.join(", "), a.user, self.host.host, db, table)
    }

    /// Privileges on a whole table.
    fn need_table(&self, name: &ObjectName, words: &[&str]) -> SqlResult<()> {
        let db = self.database_of(name)?;
        let table = &name.name.value;
        if self.host.temporary_table(&db, table).is_some() {
            return Ok(());
        }
        let wanted = words.iter().fold(Privileges::NONE, |p, w| p.with(Privileges::by_name(w)));
        let missing = wanted.without(self.host.account.on_table(&db, table));
        if missing.is_empty() {
            return Ok(());
        }
        let a = &self.host.account;
        let words: Vec<&str> = missing.names().collect();
        Err(sql_err!(ER_TABLEACCESS_DENIED_ERROR, words.join(", "), a.user, self.host.host, db, table))
    }

    /// Privileges on a database.
    fn need_database(&self, db: &str, word: &str) -> SqlResult<()> {
        let a = &self.host.account;
        if a.on_database(db).has(Privileges::by_name(word)) {
            return Ok(());
        }
        Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, db))
    }

    fn need_database_of(&self, name: &ObjectName, word: &str) -> SqlResult<()> {
        self.need_database(&self.database_of(name)?, word)
    }

    fn need_routine(&self, kind: &str, name: &ObjectName, word: &str) -> SqlResult<()> {
        let db = self.database_of(name)?;
        let a = &self.host.account;
        if a.on_routine(kind, &db, &name.name.value).has(Privileges::by_name(word)) {
            return Ok(());
        }
        let full = format!("{db}.{}", name.name.value);
        Err(sql_err!(ER_PROCACCESS_DENIED_ERROR, word.to_lowercase(), a.user, a.host, full))
    }

    /// Fails unless the account may run a statement of this kind on what it names.
    pub(crate) fn check_statement(&self, s: &Statement) -> SqlResult<()> {
        self.refuse_virtual(s)?;
        if self.host.account.global.has(Privileges::ALL_GLOBAL) {
            return Ok(());
        }
        let current = || self.host.database.clone().ok_or_else(|| sql_err!(ER_NO_DB_ERROR));
        match s {
            Statement::Query(q) => match &q.into {
                Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_)) => self.require_one_of(&["FILE"]),
                _ => Ok(()),
            },
            Statement::LoadData(l) => {
                let a = &self.host.account;
                if !l.local && !a.allows("FILE", "", "") {
                    let using = if a.authentication.is_empty() { "NO" } else { "YES" };
                    return Err(sql_err!(ER_ACCESS_DENIED_ERROR, a.user, a.host, using));
                }
                self.need_table(&l.table, &["INSERT"])
            }
            Statement::CreateDatabase(c) => {
                self.need_database(&c.name.value, "CREATE")?;
                if c.or_replace { self.need_database(&c.name.value, "DROP") } else { Ok(()) }
            }
            Statement::AlterDatabase(a) => match &a.name {
                Some(n) => self.need_database(&n.value, "ALTER"),
                None => self.need_database(&current()?, "ALTER"),
            },
            Statement::DropDatabase(d) => self.need_database(&d.name.value, "DROP"),
            Statement::CreateTable(c) => {
                if c.temporary {
                    self.need_database_of(&c.name, "CREATE TEMPORARY TABLES")?;
                } else {
                    self.need_table(&c.name, if c.or_replace { &["CREATE", "DROP"] } else { &["CREATE"] })?;
                }
                match &c.like {
                    Some(like) => self.need_table(like, &["SELECT"]),
                    None => Ok(()),
                }
            }
            Statement::AlterTable(a) => self.check_alter(a),
            Statement::DropTables(d) if d.temporary => Ok(()),
            Statement::DropTables(d) => d.names.iter().try_for_each(|n| self.need_table(n, &["DROP"])),
            Statement::DropViews(d) => d.names.iter().try_for_each(|n| self.need_table(n, &["DROP"])),
            Statement::RenameTables(r) => r.renames.iter().try_for_each(|r| {
                self.need_table(&r.from, &["ALTER", "DROP"])?;
                self.need_table(&r.to, &["CREATE", "INSERT"])
            }),
            Statement::TruncateTable(t) => self.need_table(&t.name, &["DROP"]),
            Statement::CreateIndex(c) => self.need_table(&c.table, &["INDEX"]),
            Statement::DropIndex(d) => self.need_table(&d.table, &["INDEX"]),
            Statement::CreateView(c) => {
                self.need_table(&c.name, if c.or_replace || c.alter { &["CREATE VIEW", "DROP"] } else { &["CREATE VIEW"] })
            }
            Statement::CreateSequence(c) if c.temporary => self.need_database_of(&c.name, "CREATE TEMPORARY TABLES"),
            Statement::CreateSequence(c) => self.need_table(&c.name, &["CREATE"]),
            Statement::AlterSequence(a) => self.need_table(&a.name, &["ALTER"]),
            Statement::DropSequences(d) => d.names.iter().try_for_each(|n| self.need_table(n, &["DROP"])),
            Statement::CreateServer(_) | Statement::DropServer { .. } => {
                self.require_one_of(&["SUPER", "FEDERATED ADMIN"])
            }
            Statement::CreateTrigger(c) => {
                let table = match (&c.table.db, &c.name.db) {
                    (None, Some(db)) => ObjectName { db: Some(db.clone()), name: c.table.name.clone() },
                    _ => c.table.clone(),
                };
                self.need_table(&table, &["TRIGGER"])
            }
            Statement::CreateProcedure(c) | Statement::CreateFunction(c) => {
                self.need_database_of(&c.name, "CREATE ROUTINE")
            }
            Statement::CreateUdf(_) => self.need_database("mysql", "INSERT"),
            Statement::AlterRoutine(a) => {
                self.need_routine(if a.function { "FUNCTION" } else { "PROCEDURE" }, &a.name, "ALTER ROUTINE")
            }
            Statement::DropProcedure { name, .. } => self.need_routine("PROCEDURE", name, "ALTER ROUTINE"),
            Statement::DropFunction { name, .. } => self.need_routine("FUNCTION", name, "ALTER ROUTINE"),
            Statement::Call(c) => self.need_routine("PROCEDURE", &c.name, "EXECUTE"),
            Statement::CreateEvent(c) => self.need_database_of(&c.name, "EVENT"),
            Statement::AlterEvent(a) => self.need_database_of(&a.name, "EVENT"),
            Statement::DropEvent { name, .. } => self.need_database_of(name, "EVENT"),
            Statement::LockTables(l) => l.tables.iter().try_for_each(|t| {
                self.need_database_of(&t.name, "LOCK TABLES")?;
                self.need_table(&t.name, &["SELECT"])
            }),
            Statement::TableMaintenance(m) => {
                let words: &[&str] = match m.kind {
                    MaintenanceKind::Check(_) | MaintenanceKind::Checksum { .. } => &["SELECT"],
                    _ => &["SELECT", "INSERT"],
                };
                m.tables.iter().try_for_each(|t| self.need_table(t, words))
            }
            Statement::Handler(h) => match &**h {
                ast::Handler::Open { table, .. } => self.need_table(table, &["SELECT"]),
                _ => Ok(()),
            },
            Statement::Flush(_) | Statement::Reset(_) | Statement::Backup(_) => self.require_one_of(&["RELOAD"]),
            Statement::PurgeLogs(_) => self.require_one_of(&["SUPER", "BINLOG ADMIN"]),
            Statement::ChangeMaster(_) | Statement::StartSlave(_) | Statement::StopSlave(_) => {
                self.require_one_of(&["SUPER", "REPLICATION SLAVE ADMIN"])
            }
            Statement::Shutdown { .. } => self.require_one_of(&["SHUTDOWN"]),
            Statement::Binlog(_) => self.require_one_of(&["SUPER", "BINLOG REPLAY"]),
            Statement::Install(_) => {
                let plugin = ObjectName { db: Some(ast::Ident::new("mysql")), name: ast::Ident::new("plugin") };
                self.need_table(&plugin, &["INSERT"])
            }
            _ => Ok(()),
        }
    }

    /// A database that the account sees can be made the current one.
    pub(crate) fn check_use(&self, db: &str) -> SqlResult<()> {
        let a = &self.host.account;
        if a.sees_database(db) || is_open_to_all(db) {
            return Ok(());
        }
        Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, db))
    }

    /// Nobody changes tables that are computed, nor makes others beside them.
    fn refuse_virtual(&self, s: &Statement) -> SqlResult<()> {
        let mut names: Vec<(&ObjectName, &str)> = Vec::new();
        match s {
            Statement::CreateDatabase(ast::CreateDatabase { name, .. }) | Statement::DropDatabase(ast::DropDatabase { name, .. }) => {
                return self.refuse_database(&name.value);
            }
            Statement::AlterDatabase(ast::AlterDatabase { name: Some(name), .. }) => {
                return self.refuse_database(&name.value);
            }
            Statement::Insert(i) => names.push((&i.table, "INSERT")),
            Statement::Delete(d) => match &d.target {
                ast::DeleteTarget::Single(t) => names.push((&t.name, "DELETE")),
                _ => return Ok(()),
            },
            Statement::Update(u) => {
                if let [ast::TableRef::Table(t)] = &u.tables[..] {
                    names.push((&t.name, "UPDATE"));
                }
            }
            Statement::LoadData(l) => names.push((&l.table, "INSERT")),
            Statement::CreateTable(c) => names.push((&c.name, "CREATE")),
            Statement::AlterTable(a) => names.push((&a.name, "ALTER")),
            Statement::DropTables(d) => names.extend(d.names.iter().map(|n| (n, "DROP"))),
            Statement::DropViews(d) => names.extend(d.names.iter().map(|n| (n, "DROP"))),
            Statement::RenameTables(r) => names.extend(r.renames.iter().flat_map(|r| [(&r.from, "ALTER"), (&r.to, "CREATE")])),
            Statement::TruncateTable(t) => names.push((&t.name, "DROP")),
            Statement::CreateIndex(c) => names.push((&c.table, "INDEX")),
            Statement::DropIndex(d) => names.push((&d.table, "INDEX")),
            Statement::CreateView(c) => names.push((&c.name, "CREATE VIEW")),
            Statement::CreateSequence(c) => names.push((&c.name, "CREATE")),
            Statement::CreateTrigger(c) => names.push((&c.name, "TRIGGER")),
            Statement::CreateProcedure(c) | Statement::CreateFunction(c) => names.push((&c.name, "CREATE ROUTINE")),
            Statement::CreateEvent(c) => names.push((&c.name, "EVENT")),
            Statement::LockTables(l) => names.extend(l.tables.iter().map(|t| (&t.name, "SELECT"))),
            _ => return Ok(()),
        }
        for (name, word) in names {
            let Some(db) = name.db.as_ref().map(|d| d.as_str()).or(self.host.database.as_deref()) else { continue };
            if !is_database(db) || self.instance.dictionary.schema().databases.contains_key(db) {
                continue;
            }
            self.refuse_open(db)?;
            let exists = crate::virtual_tables::definitions::find(db, &name.name.value).is_some();
            if exists || matches!(word, "CREATE" | "CREATE VIEW") || db.eq_ignore_ascii_case("performance_schema") {
                let a = &self.host.account;
                return Err(sql_err!(ER_TABLEACCESS_DENIED_ERROR, word, a.user, self.host.host, db, name.name.value));
            }
        }
        Ok(())
    }

    /// A virtual database itself stays as it is.
    fn refuse_database(&self, db: &str) -> SqlResult<()> {
        if is_database(db) && !self.instance.dictionary.schema().databases.contains_key(db) {
            let a = &self.host.account;
            return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, db.to_lowercase()));
        }
        Ok(())
    }

    fn refuse_open(&self, db: &str) -> SqlResult<()> {
        if db.eq_ignore_ascii_case("information_schema") { self.refuse_database(db) } else { Ok(()) }
    }

    fn check_alter(&self, a: &ast::AlterTable) -> SqlResult<()> {
        let only_indexes = a.actions.iter().all(|x| {
            matches!(x, AlterAction::EnableKeys | AlterAction::DisableKeys | AlterAction::AlterIndex { .. })
        }) && !a.actions.is_empty();
        let drops = a.actions.iter().any(|x| match x {
            AlterAction::RenameTable(_) => true,
            AlterAction::Partition(p) => matches!(**p, PartitionAction::Drop { .. }),
            _ => false,
        });
        self.need_table(&a.name, if only_indexes { &["INDEX"] } else if drops { &["ALTER", "DROP"] } else { &["ALTER"] })?;
        for action in &a.actions {
            if let AlterAction::RenameTable(to) = action {
                self.need_table(to, &["CREATE", "INSERT"])?;
            }
        }
        Ok(())
    }
}

fn privilege_of(kind: AccessKind) -> Privileges {
    match kind {
        AccessKind::Select => Privileges::SELECT,
        AccessKind::Insert => Privileges::INSERT,
        AccessKind::Update => Privileges::UPDATE,
        AccessKind::Delete => Privileges::by_name("DELETE"),
        AccessKind::Execute => Privileges::EXECUTE,
    }
}

/// Whether an account may use a table, a column or a routine so.
fn has(account: &Account, a: &Accessed, wanted: Privileges) -> bool {
    if a.kind == AccessKind::Execute {
        return account.on_routine("FUNCTION", &a.db, &a.table).has(wanted);
    }
    match &a.column {
        Some(column) => account.on_column(&a.db, &a.table, column).has(wanted),
        // The table as such: any column will do.
        None => {
            account.on_table(&a.db, &a.table).has(wanted)
                || account.table_grant(&a.db, &a.table).is_some_and(|t| t.columns.iter().any(|(_, p)| p.has(wanted)))
        }
    }
}
