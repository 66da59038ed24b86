//! What the makers of virtual tables look at: the session, one dictionary version, and which rows are asked for.

use std::sync::Arc;

use selkie_catalog::{Schema, Table};
use selkie_types::Value;

use super::definitions::{self, Definition};
use crate::accounts::Account;
use crate::host::Host;

/// One computation of a virtual table.
pub struct Context<'a> {
    /// The session.
    pub host: &'a Host,
    /// The dictionary version that all rows come from.
    pub schema: Arc<Schema>,
    /// `column = value` conditions; rows that do not fit may be left out.
    pub lookups: &'a [(usize, Value)],
}

/// A database: of the dictionary or made of virtual tables only.
#[derive(Clone, Copy)]
pub enum Db<'a> {
    /// In the dictionary.
    Stored(&'a selkie_catalog::Database),
    /// information_schema and its like.
    Virtual(&'static str),
}

/// A table of either kind.
#[derive(Clone, Copy)]
pub enum Relation<'a> {
    /// In the dictionary (or a temporary table).
    Stored(&'a Arc<Table>),
    /// Computed.
    Virtual(&'static Definition),
}

impl Db<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Db::Stored(d) => &d.name,
            Db::Virtual(name) => name,
        }
    }
}

impl Relation<'_> {
    /// Its database.
    pub fn db(&self) -> &str {
        match self {
            Relation::Stored(t) => &t.db,
            Relation::Virtual(d) => d.db,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Relation::Stored(t) => &t.name,
            Relation::Virtual(d) => d.name,
        }
    }
}

impl<'a> Context<'a> {
    /// For a session, with the dictionary as it is now.
    pub fn new(host: &'a Host, lookups: &'a [(usize, Value)]) -> Context<'a> {
        Context { host, schema: host.instance.dictionary.schema(), lookups }
    }

    /// Whose privileges count.
    pub fn account(&self) -> &Account {
        &self.host.account
    }

    /// The text that a column must equal, if one was asked for.
    pub fn lookup(&self, column: usize) -> Option<&str> {
        self.lookups.iter().find(|(c, _)| *c == column).and_then(|(_, v)| match v {
            Value::Bytes(b) => std::str::from_utf8(b).ok(),
            _ => None,
        })
    }

    /// The databases that the account sees, by name; only the named one if there is one.
    pub fn databases(&self, only: Option<&str>) -> Vec<Db<'_>> {
        let account = self.account();
        let wanted = |name: &str| only.is_none_or(|o| o.trim_end_matches(' ') == name);
        let mut all = Vec::new();
        for name in definitions::DATABASES {
            let is_wanted = only.is_none_or(|o| o.trim_end_matches(' ').eq_ignore_ascii_case(name));
            let is_seen = name == "information_schema" || account.sees_database(name);
            if is_wanted && is_seen && !self.schema.databases.contains_key(name) {
                all.push(Db::Virtual(name));
            }
        }
        let stored: Box<dyn Iterator<Item = _>> = match only {
            Some(o) => Box::new(self.schema.databases.get(o.trim_end_matches(' ')).into_iter()),
            None => Box::new(self.schema.databases.values()),
        };
        all.extend(stored.filter(|d| wanted(&d.name) && account.sees_database(&d.name)).map(|d| Db::Stored(d)));
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// Calls `f` for every table that the account sees in some databases, by name; only the named ones if there are names.
    pub fn relations(&self, db: Option<&str>, table: Option<&str>, f: &mut dyn FnMut(Relation<'_>)) {
        for d in self.databases(db) {
            self.relations_of(d, table, f);
        }
    }

    /// As [`Self::relations`] in one database.
    pub fn relations_of(&self, db: Db<'_>, table: Option<&str>, f: &mut dyn FnMut(Relation<'_>)) {
        let table = table.map(|t| t.trim_end_matches(' '));
        let account = self.account();
        for d in definitions::of_database(db.name()) {
            let fits = table.is_none_or(|t| d.name.eq_ignore_ascii_case(t));
            if fits && (d.db != "mysql" || account.sees_table(d.db, d.name)) {
                f(Relation::Virtual(d));
            }
        }
        let Db::Stored(d) = db else { return };
        match table {
            Some(name) => {
                if let Some(t) = d.tables.get(name).filter(|t| account.sees_table(&t.db, &t.name)) {
                    f(Relation::Stored(t));
                }
            }
            None => {
                let all = !account.on_database(&d.name).and(crate::accounts::Privileges::all_table()).is_empty();
                for t in d.tables.values().filter(|t| all || account.sees_table(&t.db, &t.name)) {
                    f(Relation::Stored(t));
                }
            }
        }
    }

    /// Calls `f` for every base table (or sequence, or view) of the dictionary that the account sees.
    pub fn stored(&self, db: Option<&str>, table: Option<&str>, f: &mut dyn FnMut(&Arc<Table>)) {
        self.relations(db, table, &mut |r| {
            if let Relation::Stored(t) = r {
                f(t);
            }
        });
    }
}
