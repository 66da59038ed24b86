//! The events of a session's transaction while it runs: row changes become Table_map and rows events.

use hashbrown::HashMap;
use selkie_binlog::builder::{EventContext, GtidChoice, Mark};
use selkie_binlog::event::{RowsKind, SelkieEvent, SelkieKind, EventBody, gtid_flags, rows_flags};
use selkie_binlog::{EventBuffer, TransactionEvents};
use selkie_catalog::Table;
use selkie_executor::RowLog;
use selkie_types::{SqlResult, TimeZone, Value};

use crate::row_image::TableImage;

/// Collects a transaction's events.
pub struct TxnLog {
    events: Option<TransactionEvents>,
    context: EventContext,
    /// Text of the running statement, written in front of its first row (`binlog_annotate_row_events`).
    annotation: Option<Vec<u8>>,
    /// Tables mapped in the running statement, and what encoding their rows needs.
    mapped: HashMap<u64, TableImage>,
    /// Hidden row ids of changed rows of tables without primary key, in order: table id, key (8 bytes).
    row_keys: Vec<u8>,
    time_zone: TimeZone,
    /// Checks that the running statement does without; its rows events say so, for replicas.
    row_flags: u16,
    /// Behind the running statement's first Table_map.
    maps_end: Option<Mark>,
    /// Where the running statement began.
    statement: Option<Mark>,
    changed_in_statement: bool,
}

/// A place to roll back to.
#[derive(Debug, Clone, Copy)]
pub struct LogMark(Option<Mark>);

impl TxnLog {
    /// Nothing collected.
    pub fn new(context: EventContext) -> TxnLog {
        TxnLog {
            events: None,
            context,
            annotation: None,
            mapped: HashMap::new(),
            row_keys: Vec::new(),
            time_zone: TimeZone::System,
            row_flags: 0,
            maps_end: None,
            statement: None,
            changed_in_statement: false,
        }
    }

    /// Which checks statements do without, from the next one on.
    ///
    /// Replicas never check foreign keys of rows: they were checked here, and what they changed in other tables is logged
    /// as rows too, which must not happen a second time.
    pub fn set_checks(&mut self, unique: bool, check_constraints: bool) {
        let without = |checked: bool, flag: u16| if checked { 0 } else { flag };
        self.row_flags = rows_flags::NO_FOREIGN_KEY_CHECKS
            | without(unique, rows_flags::RELAXED_UNIQUE_CHECKS)
            | without(check_constraints, rows_flags::NO_CHECK_CONSTRAINT_CHECKS);
    }

    /// Begins a statement at a time (seconds since 1970) with its text for annotation.
    pub fn begin_statement(&mut self, timestamp: u32, time_zone: &TimeZone, annotation: Option<&[u8]>) {
        self.time_zone.clone_from(time_zone);
        self.row_keys.clear();
        self.context.timestamp = timestamp;
        if let Some(e) = &mut self.events {
            e.set_timestamp(timestamp);
            self.statement = Some(e.mark());
        } else {
            self.statement = None;
        }
        self.annotation = annotation.map(<[u8]>::to_vec);
        self.mapped.clear();
        self.changed_in_statement = false;
    }

    /// Ends a statement that succeeded.
    pub fn end_statement(&mut self) {
        if self.changed_in_statement
            && let Some(e) = &mut self.events
        {
            e.end_statement();
            if !self.row_keys.is_empty() {
                let keys = std::mem::take(&mut self.row_keys);
                e.event(&EventBody::Selkie(SelkieEvent::new(SelkieKind::RowKeys(keys.into()))));
            }
        }
        self.annotation = None;
        self.mapped.clear();
    }

    /// Takes back the events of the running statement.
    pub fn rollback_statement(&mut self) {
        match (self.statement, &mut self.events) {
            (Some(mark), Some(e)) => e.rollback_to(mark),
            _ => self.events = None,
        }
        self.mapped.clear();
    }

    /// A savepoint.
    pub fn mark(&mut self) -> LogMark {
        LogMark(self.events.as_mut().map(|e| e.mark()))
    }

    /// Back to a savepoint.
    pub fn rollback_to(&mut self, mark: LogMark) {
        match (mark.0, &mut self.events) {
            (Some(m), Some(e)) => e.rollback_to(m),
            _ => self.events = None,
        }
        self.mapped.clear();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.events = None;
        self.statement = None;
        self.mapped.clear();
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.events.as_ref().is_none_or(TransactionEvents::is_empty)
    }

    /// The finished events of the transaction, or `None` if there are none. `logged` is false under
    /// `sql_log_bin=0`: only recovery sees them then.
    pub fn finish(&mut self, xid: u64, choice: GtidChoice, logged: bool) -> Option<EventBuffer> {
        let mut events = self.events.take()?;
        self.statement = None;
        if events.is_empty() {
            return None;
        }
        if !logged {
            let mut wrapped = TransactionEvents::new(self.context.clone());
            wrapped.local(events);
            return Some(wrapped.finish_local());
        }
        events.xid(xid);
        let flags = gtid_flags::TRANSACTIONAL | gtid_flags::ALLOW_PARALLEL;
        Some(events.finish(choice, flags))
    }

    /// Adds a dictionary change.
    pub fn dictionary(&mut self, change: bytes::Bytes) {
        let context = &self.context;
        self.events.get_or_insert_with(|| TransactionEvents::new(context.clone())).dictionary(change);
    }

    /// Adds a statement as text.
    pub fn query(&mut self, query: selkie_binlog::event::QueryEvent) {
        let context = &self.context;
        self.events.get_or_insert_with(|| TransactionEvents::new(context.clone())).query(query);
    }

    fn change(&mut self, table: &Table, kind: RowsKind, key: &[u8], images: &[&[Value]]) -> SqlResult<()> {
        let context = &self.context;
        let events = self.events.get_or_insert_with(|| TransactionEvents::new(context.clone()));
        if let Some(text) = self.annotation.take() {
            events.annotate(&text);
        }
        let image = match self.mapped.get(&table.id) {
            Some(image) => image,
            None => {
                let image = TableImage::new(table);
                match self.maps_end {
                    Some(at) if !self.mapped.is_empty() => events.table_map_at(at, &image.map),
                    _ => {
                        events.table_map(&image.map);
                        self.maps_end = Some(events.mark());
                    }
                }
                self.mapped.entry(table.id).or_insert(image)
            }
        };
        self.changed_in_statement = true;
        if table.primary_key().is_none() {
            self.row_keys.extend_from_slice(&table.id.to_le_bytes());
            self.row_keys.extend_from_slice(key);
        }
        events.row(kind, table.id, table.columns.len(), self.row_flags, |out| {
            images.iter().try_for_each(|row| image.encode(row, &self.time_zone, out))
        })
    }
}

impl RowLog for TxnLog {
    fn insert(&mut self, table: &Table, row: &[Value], key: &[u8]) -> SqlResult<()> {
        self.change(table, RowsKind::Write, key, &[row])
    }
    fn update(&mut self, table: &Table, before: &[Value], after: &[Value], key: &[u8]) -> SqlResult<()> {
        self.change(table, RowsKind::Update, key, &[before, after])
    }
    fn delete(&mut self, table: &Table, row: &[Value], key: &[u8]) -> SqlResult<()> {
        self.change(table, RowsKind::Delete, key, &[row])
    }
}
