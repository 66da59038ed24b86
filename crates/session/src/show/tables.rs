//! SHOW DATABASES, TABLES, TABLE STATUS and OPEN TABLES.

use selkie_parser::ast::{Ident, ShowFilter};
use selkie_types::{SqlResult, Value, sql_err};

use super::{Listing, name_like, pattern};
use crate::session::Session;
use crate::virtual_tables::tables as virtual_tables;
use crate::virtual_tables::{Context, Rows, is_database};

impl Session {
    pub(super) fn show_databases(&self, filter: Option<&ShowFilter>) -> Listing {
        let heading = with_pattern("Database".into(), filter);
        let mut listing = Listing::of("databases").rename(0, heading).sensitive();
        let cx = self.view();
        for db in cx.databases(None) {
            listing.rows.text(db.name());
        }
        listing
    }

    /// The database that a SHOW names, or the current one; it must exist and be visible.
    pub(super) fn listed_database(&self, db: Option<&Ident>) -> SqlResult<String> {
        let name = match db {
            Some(db) => db.value.clone(),
            None => self.host.database.clone().ok_or_else(|| sql_err!(ER_NO_DB_ERROR))?,
        };
        let name = if is_database(&name) { name.to_lowercase() } else { name };
        let cx = self.view();
        if !cx.databases(Some(&name)).is_empty() {
            return Ok(name);
        }
        if !cx.schema.databases.contains_key(&name) && !is_database(&name) {
            return Err(sql_err!(ER_BAD_DB_ERROR, name));
        }
        let a = &self.host.account;
        Err(sql_err!(ER_DBACCESS_DENIED_ERROR, a.user, a.host, name))
    }

    pub(super) fn show_tables(&self, full: bool, db: Option<&Ident>, filter: Option<&ShowFilter>) -> SqlResult<Listing> {
        let db = self.listed_database(db)?;
        let heading = with_pattern(format!("Tables_in_{db}"), filter);
        let mut listing = Listing::of(if full { "full_tables" } else { "tables" }).rename(0, heading).sensitive();
        let like = pattern(filter);
        let cx = self.view();
        for d in cx.databases(Some(&db)) {
            cx.relations_of(d, None, &mut |r| {
                if like.is_none_or(|p| name_like(r.name(), p, true)) {
                    let kind = virtual_tables::table_type(r);
                    listing.rows.text(r.name());
                    if full {
                        listing.rows.text(kind);
                    }
                }
            });
        }
        Ok(listing)
    }

    pub(super) fn show_table_status(&self, db: Option<&Ident>, filter: Option<&ShowFilter>) -> SqlResult<Listing> {
        let db = self.listed_database(db)?;
        let mut listing = Listing::of("table_status").sensitive();
        // One table by name, as dump tools ask for it, needs no look at the others.
        let name = pattern(filter).and_then(plain_name);
        let mut lookups = vec![(1, Value::text(&db))];
        if let Some(name) = &name {
            lookups.push((2, Value::text(name)));
        }
        let cx = Context::new(&self.host, &lookups);
        let mut rows = Rows::new();
        virtual_tables::tables(&cx, &mut rows)?;
        // Without catalog, database and type.
        for row in rows.into_values().chunks(23) {
            listing.rows.value(row[2].clone());
            for v in &row[4..] {
                listing.rows.value(v.clone());
            }
        }
        Ok(listing)
    }

    pub(super) fn show_open_tables(&self, db: Option<&Ident>) -> SqlResult<Listing> {
        if let Some(db) = db {
            self.listed_database(Some(db))?;
        }
        Ok(Listing::of("open_tables").like_on(1).sensitive())
    }
}

/// The pattern as a name, if nothing in it stands for other characters.
fn plain_name(pattern: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(pattern).ok()?;
    let mut name = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' | '_' => return None,
            '\\' => name.push(chars.next()?),
            c => name.push(c),
        }
    }
    Some(name)
}

fn with_pattern(name: String, filter: Option<&ShowFilter>) -> String {
    match pattern(filter) {
        Some(p) => format!("{name} ({})", String::from_utf8_lossy(p)),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_names() {
        assert_eq!(plain_name(b"a\\_b").as_deref(), Some("a_b"));
        assert_eq!(plain_name(b"a_b"), None);
        assert_eq!(plain_name(b"a\\"), None);
    }
}
