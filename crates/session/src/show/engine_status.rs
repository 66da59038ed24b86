//! SHOW ENGINE … STATUS: what the store, the lock table and the commit pipeline count, as text.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use selkie_parser::ast::{Ident, ShowEngineWhat};
use selkie_types::{SqlResult, sql_err};

use super::Listing;
use crate::session::Session;
use crate::virtual_tables::rows::local;
use crate::virtual_tables::server::ENGINES;

impl Session {
    pub(super) fn show_engine(&self, engine: Option<&Ident>, what: ShowEngineWhat) -> SqlResult<Listing> {
        self.require_one_of(&["PROCESS"])?;
        let mut listing = Listing::of("engine_status");
        let Some(name) = engine else {
            self.put_status(what, &mut listing);
            return Ok(listing);
        };
        let known = ENGINES.iter().find(|(n, ..)| name.is(n)).ok_or_else(|| sql_err!(ER_UNKNOWN_STORAGE_ENGINE, name.value))?;
        if known.0 == "InnoDB" {
            self.put_status(what, &mut listing);
        }
        Ok(listing)
    }

    fn put_status(&self, what: ShowEngineWhat, listing: &mut Listing) {
        if what == ShowEngineWhat::Status {
            listing.rows.text("InnoDB").text("").text(&self.status_text());
        }
    }

    /// The sections that readers of MariaDB's text look for, with this server's numbers.
    fn status_text(&self) -> String {
        let instance = self.instance();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let clock = selkie_types::Value::DateTime(local(now, &self.host.hot.time_zone));
        let clock = selkie_types::convert::text_of(&clock, &selkie_types::SqlType::DateTime { fsp: 0 }).into_owned();
        let mut s = String::new();
        let rule = "=====================================";
        let mut line = |text: &str| {
            s.push_str(text);
            s.push('\n');
        };
        line("");
        line(rule);
        line(&format!("{} INNODB MONITOR OUTPUT", String::from_utf8_lossy(&clock)));
        line(rule);
        let up = instance.started.elapsed().as_secs();
        line(&format!("Totals of the last {up} seconds"));
        let (deadlocks, waits, timeouts) = instance.txns.locks.counters();
        head(&mut line, "TRANSACTIONS");
        line(&format!("Row lock waits {waits}, deadlocks {deadlocks}, timeouts {timeouts}"));
        line(&format!("Locked resources {}", instance.txns.locks.resources()));
        line("LIST OF TRANSACTIONS FOR EACH SESSION:");
        for c in instance.connections() {
            let weight = c.lock_owner.weight.load(Ordering::Relaxed);
            let state = if weight > 0 { "ACTIVE" } else { "not started" };
            line(&format!("---TRANSACTION {}, {state}", c.lock_owner.id));
            line(&format!("{weight} row(s) written, connection {}", c.id));
        }
        head(&mut line, "LOG");
        let snapshots = &instance.txns.snapshots;
        line(&format!("Log sequence number {}", instance.txns.pipeline.ordered()));
        line(&format!("Log flushed up to   {}", snapshots.durable()));
        let counters = &instance.txns.pipeline.counters;
        let get = |c: &std::sync::atomic::AtomicU64| c.load(Ordering::Relaxed);
        line(&format!(
            "{} commits in {} groups, {} syncs",
            get(&counters.commits),
            get(&counters.groups),
            get(&counters.syncs)
        ));
        head(&mut line, "STORE");
        line(&format!("Engine {}", instance.txns.engine.name()));
        for (name, value) in instance.txns.engine.stats() {
            line(&format!("{name} {value}"));
        }
        head(&mut line, "ROW OPERATIONS");
        let st = &instance.status;
        line(&format!(
            "Statements: {} inserts, {} updates, {} deletes, {} selects",
            get(&st.com_insert),
            get(&st.com_update),
            get(&st.com_delete),
            get(&st.com_select)
        ));
        line("----------------------------");
        line("END OF INNODB MONITOR OUTPUT");
        line("============================");
        s
    }
}

fn head(line: &mut impl FnMut(&str), title: &str) {
    let mut rule = String::new();
    // Writing to a String cannot fail.
    let _ = write!(rule, "{:-<1$}", "", title.len());
    line(&rule);
    line(title);
    line(&rule);
}
