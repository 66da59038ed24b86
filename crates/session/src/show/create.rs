//! SHOW CREATE DATABASE, TABLE, VIEW and SEQUENCE.

use std::fmt::Write;
use std::sync::Arc;

use selkie_catalog::show_create::{self, ShowOptions};
use selkie_catalog::{Table, TableKind};
use selkie_parser::ast::ObjectName;
use selkie_types::{SqlMode, SqlResult, sql_err};

use super::Listing;
use super::columns::Named;
use crate::accounts::Privileges;
use crate::session::Session;
use crate::virtual_tables::definitions::Definition;
use crate::virtual_tables::is_database;

impl Session {
    pub(super) fn show_create_database(&self, if_not_exists: bool, name: &str) -> SqlResult<Listing> {
        let mut listing = Listing::of("create_database");
        let mode = self.host.hot.sql_mode;
        if is_database(name) && !self.instance().dictionary.schema().databases.contains_key(name) {
            let name = name.to_lowercase();
            let exists = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
            let text = format!(
                "CREATE DATABASE {exists}{} /*!40100 DEFAULT CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci */",
                show_create::quote_ident(&name, mode)
            );
            listing.rows.text(&name).text(&text);
            return Ok(listing);
        }
        let schema = self.instance().dictionary.schema();
        let a = &self.host.account;
        if !a.sees_database(name) {
            return Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, name));
        }
        let db = schema.databases.get(name).ok_or_else(|| sql_err!(ER_BAD_DB_ERROR, name))?;
        listing.rows.text(&db.name).text(&show_create::database(db, if_not_exists, mode));
        Ok(listing)
    }

    pub(super) fn show_create_table(&self, name: &ObjectName) -> SqlResult<Listing> {
        let t = match self.named_table(name, "SHOW")? {
            Named::Stored(t) => t,
            Named::Virtual(d) => {
                let mut listing = Listing::of("create_table");
                listing.rows.text(d.name).text(&virtual_text(d, self.host.hot.sql_mode));
                return Ok(listing);
            }
        };
        if let TableKind::View(_) = t.kind {
            return self.create_view_listing(&t);
        }
        let mut listing = Listing::of("create_table");
        listing.rows.text(&t.name).text(&self.create_text(&t));
        Ok(listing)
    }

    fn create_text(&self, t: &Arc<Table>) -> String {
        let next = t.auto_increment_column().and_then(|_| self.instance().tables.get(t).ok());
        let options = ShowOptions {
            sql_mode: self.host.hot.sql_mode,
            auto_increment: next.map_or(0, |r| r.auto_increment()),
            qualify: self.host.database.as_deref() != Some(&t.db),
        };
        show_create::any(t, &options)
    }

    fn create_view_listing(&self, t: &Arc<Table>) -> SqlResult<Listing> {
        let TableKind::View(view) = &t.kind else {
            return Err(sql_err!(ER_WRONG_OBJECT, t.db, t.name, "VIEW"));
        };
        let a = &self.host.account;
        if !a.on_table(&t.db, &t.name).has(Privileges::by_name("SHOW VIEW").with(Privileges::SELECT)) {
            return Err(sql_err!(ER_TABLEACCESS_DENIED_ERROR, "SHOW VIEW", a.user, self.host.host, t.db, t.name));
        }
        let mut listing = Listing::of("create_view");
        listing.rows.text(&t.name).text(&self.create_text(t));
        listing.rows.text(&view.client_charset).text(&view.connection_collation);
        Ok(listing)
    }

    pub(super) fn show_create_view(&self, name: &ObjectName) -> SqlResult<Listing> {
        match self.named_table(name, "SELECT")? {
            Named::Stored(t) => self.create_view_listing(&t),
            Named::Virtual(d) => Err(sql_err!(ER_WRONG_OBJECT, d.db, d.name, "VIEW")),
        }
    }

    pub(super) fn show_create_sequence(&self, name: &ObjectName) -> SqlResult<Listing> {
        match self.named_table(name, "SHOW")? {
            Named::Stored(t) if t.kind == TableKind::Sequence => {
                let mut listing = Listing::of("create_table");
                listing.rows.text(&t.name).text(&self.create_text(&t));
                Ok(listing)
            }
            Named::Stored(t) => Err(sql_err!(ER_NOT_SEQUENCE, t.db, t.name)),
            Named::Virtual(d) => Err(sql_err!(ER_NOT_SEQUENCE, d.db, d.name)),
        }
    }
}

/// A virtual table as the statement that would make one like it.
fn virtual_text(d: &Definition, mode: SqlMode) -> String {
    let temporary = if d.db == "information_schema" { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {temporary}TABLE {} (\n", show_create::quote_ident(d.name, mode));
    for (i, c) in d.columns.iter().enumerate() {
        let comma = if i == 0 { "" } else { ",\n" };
        // Writing to a String cannot fail.
        let _ = write!(out, "{comma}  {} {}", show_create::quote_ident(c.name, mode), c.ty.column_type());
        if !c.nullable {
            out.push_str(" NOT NULL");
        }
        if let Some(default) = c.default {
            let _ = write!(out, " DEFAULT {default}");
        }
    }
    let engine = match d.db {
        "performance_schema" => "PERFORMANCE_SCHEMA",
        "information_schema" if !d.has_blob() => "MEMORY",
        _ => "Aria",
    };
    let _ = write!(out, "\n) ENGINE={engine} DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci");
    out
}
