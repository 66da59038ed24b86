//! SHOW about the server: variables, status, connections, engines, character sets, plugins, privileges.

use selkie_expr::VarScope;
use selkie_parser::ast;
use selkie_types::SqlResult;

use super::{Listing, status};
use crate::session::Session;
use crate::virtual_tables::{Context, Rows, process, server, variables};

impl Session {
    pub(super) fn show_variables(&self, scope: Option<ast::VarScope>) -> Listing {
        let scope = match scope {
            Some(ast::VarScope::Global) => VarScope::Global,
            _ => VarScope::Session,
        };
        let mut listing = Listing::of("variables");
        for (def, value) in variables::values(&self.view(), scope) {
            listing.rows.text(def.name).text(&value);
        }
        listing
    }

    pub(super) fn show_status(&self) -> Listing {
        let mut listing = Listing::of("variables");
        for (name, value) in status::values(&self.host) {
            listing.rows.text(name).text(&value);
        }
        listing
    }

    pub(super) fn show_processlist(&self, full: bool) -> Listing {
        let mut listing = Listing::of("processlist");
        for p in process::processes(&self.view()) {
            let info = p.info.as_deref().map(|i| if full { i } else { first_characters(i, 100) });
            listing.rows.int(p.id as i64).text(&p.user).text(&p.host).text_or_null(p.db.as_deref()).text(p.command);
            listing.rows.int((p.micros / 1_000_000) as i64).text(p.state).text_or_null(info);
            listing.rows.value(process::thousandths(0));
        }
        listing
    }

    pub(super) fn show_engines(&self) -> SqlResult<Listing> {
        self.whole("engines", server::engines)
    }

    pub(super) fn show_collations(&self) -> SqlResult<Listing> {
        self.whole("collation", server::collations)
    }

    /// A listing that is a whole table of information_schema.
    fn whole(&self, name: &str, make: fn(&Context<'_>, &mut Rows) -> SqlResult<()>) -> SqlResult<Listing> {
        let mut listing = Listing::of(name);
        make(&self.view(), &mut listing.rows)?;
        Ok(listing)
    }

    pub(super) fn show_character_sets(&self) -> SqlResult<Listing> {
        let mut listing = Listing::of("character_set");
        for c in server::ordered_charsets() {
            let default = c.default_collation().name();
            listing.rows.text(c.name()).text(c.description()).text(default).int(c.max_len().into());
        }
        Ok(listing)
    }

    pub(super) fn show_plugins(&self) -> Listing {
        let mut listing = Listing::of("plugins");
        for (name, kind) in server::PLUGINS {
            listing.rows.text(name).text("ACTIVE").text(kind).null().text("GPL");
        }
        listing
    }

    pub(super) fn show_privileges(&self) -> Listing {
        let mut listing = Listing::of("privileges");
        for line in include_str!("../../data/privileges.tsv").lines() {
            let (name, context) = line.split_once('\t').unwrap_or((line, ""));
            listing.rows.text(name).text(context).text("");
        }
        listing
    }
}

/// SHOW CONTRIBUTORS and SHOW AUTHORS.
pub(super) fn people(which: &str) -> Listing {
    let mut listing = Listing::of(which);
    listing.rows.text("The Selkie project").text("").text("A server for MariaDB's clients");
    listing
}

fn first_characters(s: &str, n: usize) -> &str {
    s.char_indices().nth(n).map_or(s, |(at, _)| &s[..at])
}
