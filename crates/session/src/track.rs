//! Session tracking: what OK packets tell clients with CLIENT_SESSION_TRACK of the session's state.
//!
//! Changed variables are found by comparing the session's values with those of the last OK, which costs nothing as long as
//! nobody set any: values are shared until they change.

use selkie_protocol::response::SessionTrack;
use selkie_txn::Isolation;

use crate::session::Session;
use crate::variables::{self, Values};

/// What has been told, and what is to be told.
#[derive(Default)]
pub struct Tracker {
    /// Values at the last OK; `None` until tracking begins.
    seen: Option<Values>,
    wanted: Wanted,
    /// The database was set by a statement since the last OK.
    schema: bool,
    /// `last_gtid` at the last OK.
    gtid: String,
    /// State and characteristics of the transaction at the last OK.
    state: [u8; 8],
    characteristics: String,
    /// What the open transaction has done.
    did: Did,
    changes: SessionTrack,
}

/// What the client wants to know, from the variables `session_track_…`.
#[derive(Default)]
struct Wanted {
    /// Positions of variables.
    variables: Vec<usize>,
    last_gtid: bool,
    schema: bool,
    state_change: bool,
    transaction_state: bool,
    characteristics: bool,
}

impl Wanted {
    fn of(v: &Values) -> Wanted {
        let names = v.get("session_track_system_variables");
        let info = v.get("session_track_transaction_info");
        let all = names.split(',').any(|n| n.trim() == "*");
        let listed = |i: usize| all || names.split(',').any(|n| n.trim().eq_ignore_ascii_case(variables::TABLE[i].name));
        let session = |i: &usize| variables::TABLE[*i].scope != variables::Scope::Global;
        let last_gtid = variables::find("last_gtid");
        Wanted {
            variables: (0..variables::TABLE.len()).filter(session).filter(|i| Some(*i) != last_gtid && listed(*i)).collect(),
            last_gtid: all || names.split(',').any(|n| n.trim().eq_ignore_ascii_case("last_gtid")),
            schema: v.on("session_track_schema"),
            state_change: v.on("session_track_state_change"),
            transaction_state: info == "STATE" || info == "CHARACTERISTICS",
            characteristics: info == "CHARACTERISTICS",
        }
    }
}

/// What a transaction has done.
#[derive(Default, Clone, Copy)]
struct Did {
    read: bool,
    wrote: bool,
    sent_rows: bool,
}

const NO_TRANSACTION: &[u8; 8] = b"________";

impl Tracker {
    /// A statement made a database the current one.
    pub fn schema_changed(&mut self) {
        self.schema = true;
    }

    /// A statement read or wrote in the transaction.
    pub fn statement(&mut self, writes: bool) {
        self.did.read |= !writes;
        self.did.wrote |= writes;
        self.did.sent_rows |= !writes;
    }

    /// The transaction has ended.
    pub fn transaction_ended(&mut self) {
        self.did = Did::default();
    }

    /// The changes found by [`Session::track_changes`].
    pub fn changes(&self) -> &SessionTrack {
        &self.changes
    }
}

impl Session {
    /// Begins tracking: the client knows the state as it is now.
    pub fn track_from_here(&mut self) {
        let t = &mut self.track;
        t.wanted = Wanted::of(&self.host.vars);
        t.seen = Some(self.host.vars.clone());
        t.gtid.clone_from(&self.host.last_gtid);
        t.schema = false;
        t.state = *NO_TRANSACTION;
    }

    /// Collects what changed since the last OK.
    pub(crate) fn track_changes(&mut self) {
        let transaction = self.track.wanted.transaction_state.then(|| (self.transaction_state(), self.characteristics()));
        let t = &mut self.track;
        t.changes.clear();
        let Some(seen) = &t.seen else { return };
        let mut changed = t.schema;
        if !self.host.vars.is_same(seen) {
            // What is wanted may have changed as well: the new list counts.
            t.wanted = Wanted::of(&self.host.vars);
            for i in &t.wanted.variables {
                if self.host.vars.at(*i) != seen.at(*i) {
                    t.changes.system_variable(variables::TABLE[*i].name.as_bytes(), self.host.vars.at(*i).as_bytes());
                }
            }
            t.seen = Some(self.host.vars.clone());
            changed = true;
        }
        if t.wanted.last_gtid && t.gtid != self.host.last_gtid {
            t.gtid.clone_from(&self.host.last_gtid);
            t.changes.system_variable(b"last_gtid", t.gtid.as_bytes());
        }
        if std::mem::take(&mut t.schema) && t.wanted.schema {
            t.changes.schema(self.host.database.as_deref().unwrap_or("").as_bytes());
        }
        if changed && t.wanted.state_change {
            t.changes.state_changed(true);
        }
        if let Some((state, characteristics)) = transaction {
            if t.wanted.characteristics && characteristics != t.characteristics {
                t.changes.transaction_characteristics(characteristics.as_bytes());
                t.characteristics = characteristics;
            }
            if state != t.state {
                t.changes.transaction_state(&state);
                t.state = state;
            }
        }
    }

    /// Eight letters: transaction, reads and writes (of tables without and with transactions), statements that replicate
    /// unsafely, rows sent, locked tables.
    fn transaction_state(&self) -> [u8; 8] {
        let mut s = *NO_TRANSACTION;
        let did = self.track.did;
        let open = self.in_open_transaction() && (self.explicit || did.read || did.wrote);
        if open {
            s[0] = if self.explicit { b'T' } else { b'I' };
            let marks = [(2, b'R', did.read), (4, b'W', did.wrote), (6, b'S', did.sent_rows)];
            for (at, letter, _) in marks.into_iter().filter(|m| m.2) {
                s[at] = letter;
            }
        }
        if self.prepared.pinned() {
            s[7] = b'L';
        }
        s
    }

    /// The statements that would start the transaction again.
    fn characteristics(&self) -> String {
        let mut out = String::new();
        if let Some(level) = self.next_isolation {
            let name = match level {
                Isolation::ReadUncommitted => "READ UNCOMMITTED",
                Isolation::ReadCommitted => "READ COMMITTED",
                Isolation::RepeatableRead => "REPEATABLE READ",
                Isolation::Serializable => "SERIALIZABLE",
            };
            out.push_str("SET TRANSACTION ISOLATION LEVEL ");
            out.push_str(name);
            out.push(';');
        }
        if self.explicit {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(if self.read_only { "START TRANSACTION READ ONLY;" } else { "START TRANSACTION;" });
        }
        out
    }
}
