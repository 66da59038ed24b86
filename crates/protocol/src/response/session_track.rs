//! Session state changes, which OK carries for clients with CLIENT_SESSION_TRACK.
//! See <https://mariadb.com/kb/en/ok_packet/#session-state-info>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// A list of changes in their encoded form, gathered while a statement runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionTrack {
    bytes: Vec<u8>,
}

/// One change, as a client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange<'a> {
    /// A variable named by session_track_system_variables has a new value. `last_gtid` is one.
    SystemVariable {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// The default database.
    Schema(&'a [u8]),
    /// Whether anything of the session changed (session_track_state_change).
    StateChanged(bool),
    /// MySQL: a set of GTIDs. MariaDB tracks the variable `last_gtid` instead.
    Gtids(&'a [u8]),
    /// The statements that would start the open transaction again.
    TransactionCharacteristics(&'a [u8]),
    /// Eight letters or underscores.
    TransactionState(&'a [u8]),
    /// A type unknown here.
    Other {
        /// The type's number.
        kind: u8,
        /// What belongs to it.
        data: &'a [u8],
    },
}

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
const GTIDS: u8 = 3;
const TRANSACTION_CHARACTERISTICS: u8 = 4;
const TRANSACTION_STATE: u8 = 5;

impl SessionTrack {
    /// No change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets all changes. Keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A variable has a new value.
    pub fn system_variable(&mut self, name: &[u8], value: &[u8]) {
        let mut entry = SendBuffer::new();
        entry.put_lenenc_bytes(name);
        entry.put_lenenc_bytes(value);
        self.push(SYSTEM_VARIABLES, &entry);
    }

    /// The default database changed.
    pub fn schema(&mut self, name: &[u8]) {
        self.push_string(SCHEMA, name);
    }

    /// Something of the session changed.
    pub fn state_changed(&mut self, changed: bool) {
        // The one entry whose text has no length of its own.
        let mut entry = SendBuffer::new();
        entry.put_u8(if changed { b'1' } else { b'0' });
        self.push(STATE_CHANGE, &entry);
    }

    /// MySQL's form of GTIDs: an encoding number (0) and text.
    pub fn gtids(&mut self, gtids: &[u8]) {
        let mut entry = SendBuffer::new();
        entry.put_u8(0);
        entry.put_lenenc_bytes(gtids);
        self.push(GTIDS, &entry);
    }

    /// The statements that would start the open transaction again.
    pub fn transaction_characteristics(&mut self, statements: &[u8]) {
        self.push_string(TRANSACTION_CHARACTERISTICS, statements);
    }

    /// The transaction's state: eight letters or underscores.
    pub fn transaction_state(&mut self, state: &[u8]) {
        self.push_string(TRANSACTION_STATE, state);
    }

    /// Appends one change as it was decoded.
    pub fn change(&mut self, change: &StateChange<'_>) {
        match *change {
            StateChange::SystemVariable { name, value } => self.system_variable(name, value),
            StateChange::Schema(name) => self.schema(name),
            StateChange::StateChanged(changed) => self.state_changed(changed),
            StateChange::Gtids(gtids) => self.gtids(gtids),
            StateChange::TransactionCharacteristics(text) => self.transaction_characteristics(text),
            StateChange::TransactionState(state) => self.transaction_state(state),
            StateChange::Other { kind, data } => {
                let mut entry = SendBuffer::new();
                entry.put_bytes(data);
                self.push(kind, &entry);
            }
        }
    }

    /// The changes in the order in which they were made.
    pub fn changes(&self) -> StateChanges<'_> {
        StateChanges::new(&self.bytes)
    }

    /// The encoded list, as OK carries it behind its length.
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.bytes
    }

    fn push_string(&mut self, kind: u8, text: &[u8]) {
        let mut entry = SendBuffer::new();
        entry.put_lenenc_bytes(text);
        self.push(kind, &entry);
    }

    fn push(&mut self, kind: u8, entry: &SendBuffer) {
        let mut out = SendBuffer::new();
        out.put_u8(kind);
        out.put_lenenc_bytes(entry.pending());
        self.bytes.extend_from_slice(out.pending());
    }
}

/// Reads a list of changes. Ends after the first error.
#[derive(Debug, Clone)]
pub struct StateChanges<'a> {
    list: Payload<'a>,
    /// What is left of a SYSTEM_VARIABLES entry, which may hold several variables.
    variables: Payload<'a>,
}

impl<'a> StateChanges<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            list: Payload::new(bytes),
            variables: Payload::new(&[]),
        }
    }

    fn read(&mut self) -> Result<StateChange<'a>, DecodeError> {
        if self.variables.is_empty() {
            let kind = self.list.u8("session state type")?;
            let data = self.list.lenenc_bytes("session state data")?;
            let mut entry = Payload::new(data);
            match kind {
                SYSTEM_VARIABLES => self.variables = entry,
                SCHEMA => return Ok(StateChange::Schema(entry.lenenc_bytes("schema")?)),
                STATE_CHANGE => {
                    let flag = entry.u8("state change")?;
                    return Ok(StateChange::StateChanged(flag == b'1'));
                }
                GTIDS => {
                    entry.u8("encoding of GTIDs")?;
                    return Ok(StateChange::Gtids(entry.lenenc_bytes("GTIDs")?));
                }
                TRANSACTION_CHARACTERISTICS => {
                    let text = entry.lenenc_bytes("transaction characteristics")?;
                    return Ok(StateChange::TransactionCharacteristics(text));
                }
                TRANSACTION_STATE => {
                    let state = entry.lenenc_bytes("transaction state")?;
                    return Ok(StateChange::TransactionState(state));
                }
                _ => return Ok(StateChange::Other { kind, data }),
            }
        }
        let name = self.variables.lenenc_bytes("name of tracked variable")?;
        let value = self.variables.lenenc_bytes("value of tracked variable")?;
        Ok(StateChange::SystemVariable { name, value })
    }
}

impl<'a> Iterator for StateChanges<'a> {
    type Item = Result<StateChange<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.list.is_empty() && self.variables.is_empty() {
            return None;
        }
        let change = self.read();
        if change.is_err() {
            *self = Self::new(&[]);
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_in_order() {
        let long = vec![b'x'; 300];
        let changes = [
            StateChange::SystemVariable {
                name: b"autocommit",
                value: b"ON",
            },
            StateChange::SystemVariable {
                name: b"last_gtid",
                value: &long,
            },
            StateChange::Schema(b"test"),
            StateChange::StateChanged(true),
            StateChange::Gtids(b"3E11FA47-71CA-11E1-9E33-C80AA9429562:23"),
            StateChange::TransactionCharacteristics(b"START TRANSACTION;"),
            StateChange::TransactionState(b"T_______"),
            StateChange::Other {
                kind: 9,
                data: b"?",
            },
        ];
        let mut track = SessionTrack::new();
        for change in &changes {
            track.change(change);
        }
        let read: Vec<_> = track.changes().map(|change| change.unwrap()).collect();
        assert_eq!(read, changes);
    }
}
