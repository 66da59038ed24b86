//! SHOW COLUMNS and SHOW INDEX.

use std::sync::Arc;

use selkie_catalog::Table;
use selkie_parser::ast::ObjectName;
use selkie_types::{SqlResult, sql_err};

use super::Listing;
use crate::session::Session;
use crate::virtual_tables::columns::{self, KeyWords};
use crate::virtual_tables::definitions::{self, Definition};
use crate::virtual_tables::{indexes, is_database};

/// A table that a SHOW names.
pub(super) enum Named {
    /// Of the dictionary, or temporary.
    Stored(Arc<Table>),
    /// Computed.
    Virtual(&'static Definition),
}

impl Session {
    /// Finds a table for SHOW: temporary ones first. Fails if there is none or the account has no privilege on it.
    /// `command` is the word of the error message.
    pub(super) fn named_table(&self, name: &ObjectName, command: &str) -> SqlResult<Named> {
        let db = self.database_of(name)?;
        let table = &name.name.value;
        if let Some(t) = self.host.temporary_table(&db, table) {
            return Ok(Named::Stored(t));
        }
        let account = &self.host.account;
        if let Some(d) = definitions::find(&db, table) {
            if d.db == "mysql" && !account.sees_table(d.db, d.name) {
                return Err(sql_err!(ER_TABLEACCESS_DENIED_ERROR, command, account.user, self.host.host, db, table));
            }
            return Ok(Named::Virtual(d));
        }
        if is_database(&db) && !self.instance().dictionary.schema().databases.contains_key(&db) {
            return Err(match db.as_str() {
                "mysql" => sql_err!(ER_NO_SUCH_TABLE, db, table),
                _ => sql_err!(ER_UNKNOWN_TABLE, table, db.to_lowercase()),
            });
        }
        if !account.sees_table(&db, table) {
            return Err(sql_err!(ER_TABLEACCESS_DENIED_ERROR, command, account.user, self.host.host, db, table));
        }
        let schema = self.instance().dictionary.schema();
        let found = schema.table(&db, table).cloned();
        found.map(Named::Stored).ok_or_else(|| sql_err!(ER_NO_SUCH_TABLE, db, table))
    }

    pub(super) fn show_columns(&self, full: bool, name: &ObjectName) -> SqlResult<Listing> {
        let mut listing = Listing::of(if full { "full_columns" } else { "columns" });
        let out = &mut listing.rows;
        match self.named_table(name, "SELECT")? {
            Named::Stored(t) => {
                let t = crate::view_columns::current(&self.host, &t);
                let keys = KeyWords::of(&t);
                for (i, c) in t.columns.iter().enumerate() {
                    let privileges = if t.temporary {
                        "select,insert,update,references".to_owned()
                    } else {
                        columns::privilege_words(&self.host.account, &t.db, &t.name, &c.name)
                    };
                    if privileges.is_empty() {
                        continue;
                    }
                    out.text(&c.name).text(&columns::column_type(c));
                    if full {
                        out.text_or_null(c.ty.collation().filter(|c| !c.is_binary()).map(|c| c.name()));
                    }
                    out.yes_no(c.nullable).text(keys.word(i)).text_or_null(columns::default_shown(c));
                    out.text(&columns::extra(c));
                    if full {
                        out.text(&privileges).text(&c.comment);
                    }
                }
            }
            Named::Virtual(d) => {
                for c in &d.columns {
                    out.text(c.name).text(&c.ty.column_type());
                    if full {
                        out.text_or_null(c.ty.collation().filter(|c| !c.is_binary()).map(|c| c.name()));
                    }
                    out.yes_no(c.nullable).text(c.key).text_or_null(columns::virtual_default(c).as_deref()).text("");
                    if full {
                        out.text(columns::virtual_privileges(d)).text("");
                    }
                }
            }
        }
        Ok(listing)
    }

    pub(super) fn show_index(&self, name: &ObjectName) -> SqlResult<Listing> {
        let mut listing = Listing::of("index").like_on(2);
        let Named::Stored(t) = self.named_table(name, "SELECT")? else { return Ok(listing) };
        let rows = (!t.indexes.is_empty()).then(|| self.instance().tables.get(&t).map_or(0, |r| r.rows()));
        let out = &mut listing.rows;
        for index in indexes::shown_order(&t) {
            for (i, part) in index.parts.iter().enumerate() {
                let column = &t.columns[part.column];
                out.text(&t.name).int(!index.unique as i64).text(&index.name).uint(i as u64 + 1).text(&column.name);
                out.text_or_null(indexes::sort_letter(&t, index, part.descending));
                out.int_or_null(indexes::cardinality(index, rows));
                out.int_or_null(indexes::prefix_shown(index, part)).null().text(if column.nullable { "YES" } else { "" });
                out.text(indexes::kind_word(&t, index)).text("").text(&index.comment).yes_no(index.ignored);
            }
        }
        Ok(listing)
    }
}
