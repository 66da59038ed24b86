//! CREATE, ALTER and DROP DATABASE.

use selkie_catalog::Database;
use selkie_catalog::dictionary::DictionaryChange;
use selkie_parser::ast::{AlterDatabase, CreateDatabase, DatabaseOptions, DropDatabase};
use selkie_types::{Collation, SqlResult, sql_err};

use crate::DdlDone;
use crate::draft::engine_indexes;
use crate::foreign;
use crate::host::{DdlHost, DdlRecord};
use crate::names;
use crate::types;

/// Longest comment of a database in characters.
const COMMENT_CHARS_MAX: usize = 1024;

fn collation(options: &DatabaseOptions, old: Collation, server: Collation) -> SqlResult<Collation> {
    match (&options.charset, &options.collation) {
        (None, None) => Ok(old),
        (cs, c) => types::resolve_collation(cs.as_deref(), c.as_deref(), server),
    }
}

fn comment(options: &DatabaseOptions, db: &str) -> SqlResult<Option<String>> {
    match &options.comment {
        Some(c) if c.chars().count() > COMMENT_CHARS_MAX => {
            Err(sql_err!(ER_TOO_LONG_DATABASE_COMMENT, db, COMMENT_CHARS_MAX))
        }
        c => Ok(c.clone()),
    }
}

fn refuse_virtual(db: &str, host: &dyn DdlHost) -> SqlResult<()> {
    if names::is_virtual_database(db) {
        let who = host.account();
        return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, who.user, who.host, db.to_lowercase()));
    }
    Ok(())
}

/// CREATE DATABASE.
pub fn create(s: &CreateDatabase, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = s.name.as_str();
    names::check_database(name)?;
    host.require("CREATE", name, "")?;
    if s.or_replace {
        host.require("DROP", name, "")?;
    }
    refuse_virtual(name, host)?;
    host.lock_metadata(name, "", true, None)?;
    let server = host.settings().collation_server;
    let database = Database {
        name: name.to_owned(),
        collation: collation(&s.options, server, server)?,
        comment: comment(&s.options, name)?.unwrap_or_default(),
        tables: Default::default(),
    };
    let mut changes = Vec::new();
    let mut dropped = Dropped::default();
    if host.schema().databases.contains_key(name) {
        if s.or_replace {
            dropped = drop_changes(name, &mut changes, host)?;
        } else if s.if_not_exists {
            host.diag().note(sql_err!(ER_DB_CREATE_EXISTS, name));
            return Ok(DdlDone::affected(1));
        } else {
            return Err(sql_err!(ER_DB_CREATE_EXISTS, name));
        }
    }
    changes.push(DictionaryChange::PutDatabase(database));
    fail::fail_point!("ddl::create_database::before_commit");
    host.commit_ddl(DdlRecord { changes, default_db: name.to_owned(), statement: text.to_vec() }, None)?;
    fail::fail_point!("ddl::create_database::after_commit");
    dropped.forget(host);
    Ok(DdlDone::affected(1))
}

/// ALTER DATABASE.
pub fn alter(s: &AlterDatabase, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = match &s.name {
        Some(n) => n.value.clone(),
        None => host.current_db().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))?.to_owned(),
    };
    names::check_database(&name)?;
    host.require("ALTER", &name, "")?;
    refuse_virtual(&name, host)?;
    host.lock_metadata(&name, "", true, None)?;
    let schema = host.schema();
    let Some(old) = schema.databases.get(&name) else {
        return Err(sql_err!(ER_BAD_DB_ERROR, name));
    };
    let database = Database {
        name: name.clone(),
        collation: collation(&s.options, old.collation, host.settings().collation_server)?,
        comment: comment(&s.options, &name)?.unwrap_or_else(|| old.comment.clone()),
        tables: Default::default(),
    };
    let changes = vec![DictionaryChange::PutDatabase(database)];
    fail::fail_point!("ddl::alter_database::before_commit");
    host.commit_ddl(DdlRecord { changes, default_db: name, statement: text.to_vec() }, None)?;
    Ok(DdlDone::affected(1))
}

/// What is to be forgotten once a database is gone.
#[derive(Default)]
struct Dropped {
    indexes: Vec<selkie_engine::IndexId>,
    tables: Vec<selkie_catalog::TableId>,
    count: u64,
}

impl Dropped {
    fn forget(self, host: &mut dyn DdlHost) {
        for id in self.tables {
            host.tables().forget(id);
        }
        host.drop_engine_indexes(self.indexes);
    }
}

/// The changes that remove a database and its tables, each of which is locked.
fn drop_changes(name: &str, changes: &mut Vec<DictionaryChange>, host: &mut dyn DdlHost) -> SqlResult<Dropped> {
    let schema = host.schema();
    let tables: Vec<String> =
        schema.databases.get(name).map(|d| d.tables.keys().cloned().collect()).unwrap_or_default();
    for t in &tables {
        host.lock_metadata(name, t, true, None)?;
    }
    let schema = host.schema();
    let mut out = Dropped::default();
    let Some(db) = schema.databases.get(name) else { return Ok(out) };
    for t in db.tables.values() {
        if host.settings().foreign_key_checks
            && foreign::referencing(&schema, name, &t.name).any(|(child, _)| child.db != name)
        {
            return Err(crate::drop_table::referenced());
        }
        changes.push(DictionaryChange::RemoveTable(t.id));
        out.indexes.extend(engine_indexes(t));
        out.tables.push(t.id);
        out.count += 1;
    }
    changes.push(DictionaryChange::RemoveDatabase(name.to_owned()));
    Ok(out)
}

/// DROP DATABASE.
pub fn drop(s: &DropDatabase, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    let name = s.name.as_str();
    names::check_database(name)?;
    host.require("DROP", name, "")?;
    refuse_virtual(name, host)?;
    host.lock_metadata(name, "", true, None)?;
    if !host.schema().databases.contains_key(name) {
        if s.if_exists {
            host.diag().note(sql_err!(ER_DB_DROP_EXISTS, name));
            return Ok(DdlDone::affected(0));
        }
        return Err(sql_err!(ER_DB_DROP_EXISTS, name));
    }
    let mut changes = Vec::new();
    let dropped = drop_changes(name, &mut changes, host)?;
    let count = dropped.count;
    fail::fail_point!("ddl::drop_database::before_commit");
    host.commit_ddl(DdlRecord { changes, default_db: name.to_owned(), statement: text.to_vec() }, None)?;
    fail::fail_point!("ddl::drop_database::after_commit");
    dropped.forget(host);
    if host.current_db() == Some(name) {
        host.forget_current_db();
    }
    Ok(DdlDone::affected(count))
}
