//! Collects the events of one transaction or DDL statement.

use bytes::Bytes;

use super::{EventBuffer, GtidChoice};
use crate::event::{
    ChecksumAlg, EventBody, EventHeader, GtidEvent, QueryEvent, QueryStatus, RowsKind, SelkieEvent,
    SelkieKind, TableMap, Xid, begin_event, end_event_unplaced, event_flags, gtid_flags,
    rows_flags,
};
use crate::wire::WirePut;
use crate::{EventType, Gtid};

/// What the events of a transaction have in common.
#[derive(Debug, Clone)]
pub struct EventContext {
    /// `server_id` of the session (of the first server, for a replicated transaction).
    pub server_id: u32,
    /// Time of the statement, seconds since 1970. Later statements set it anew.
    pub timestamp: u32,
    /// Flags for every event's header, see [`event_flags`] (`SKIP_REPLICATION`).
    pub flags: u16,
    /// `binlog_checksum`
    pub checksum: ChecksumAlg,
    /// A rows event is ended when it has reached so many bytes (`binlog_row_event_max_size`, 8192).
    pub row_event_max_size: usize,
}

impl Default for EventContext {
    fn default() -> Self {
        EventContext {
            server_id: 1,
            timestamp: 0,
            flags: 0,
            checksum: ChecksumAlg::Crc32,
            row_event_max_size: 8192,
        }
    }
}

/// A place in the events collected so far, to which a savepoint or a failed statement rolls back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct OpenRows {
    start: usize,
    kind: RowsKind,
    table_id: u64,
}

/// The events of a transaction while it runs.
///
/// The order within a statement is Annotate_rows, Table_map of each table, rows events; then
/// [`TransactionEvents::end_statement`]. A transaction ends with [`TransactionEvents::xid`] or
/// [`TransactionEvents::commit_query`]; a DDL statement is a [`TransactionEvents::dictionary`] record and its query,
/// which ends the group.
#[derive(Debug, Clone)]
pub struct TransactionEvents {
    context: EventContext,
    body: Vec<u8>,
    open: Option<OpenRows>,
    /// Start of the last finished rows event of the statement.
    last_rows: Option<usize>,
    /// Start of the last Selkie event.
    last_selkie: Option<usize>,
}

/// Offset of the flags in a rows event: header, table id.
const ROWS_FLAGS_AT: usize = crate::event::HEADER_LEN + 6;
/// Offset of the flags byte in a Selkie event: header, mark, kind.
const SELKIE_FLAGS_AT: usize = crate::event::HEADER_LEN + 4;

impl TransactionEvents {
    /// Without events.
    pub fn new(context: EventContext) -> TransactionEvents {
        TransactionEvents {
            context,
            body: Vec::new(),
            open: None,
            last_rows: None,
            last_selkie: None,
        }
    }

    /// Sets the time of the statement that follows.
    pub fn set_timestamp(&mut self, timestamp: u32) {
        self.context.timestamp = timestamp;
    }

    /// Bytes of events so far.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Appends any event.
    pub fn event(&mut self, body: &EventBody) {
        self.event_with_flags(body, 0);
    }

    fn event_with_flags(&mut self, body: &EventBody, flags: u16) {
        self.close_rows();
        let ignorable = if body.event_type() == EventType::SELKIE {
            event_flags::IGNORABLE
        } else {
            0
        };
        let flags = self.context.flags | flags | ignorable;
        let start = self.body.len();
        if ignorable != 0 {
            self.last_selkie = Some(start);
        }
        self.begin(body.event_type(), flags);
        body.encode(&mut self.body);
        end_event_unplaced(&mut self.body, start, self.context.checksum);
    }

    fn begin(&mut self, event_type: EventType, flags: u16) -> usize {
        let header = EventHeader::new(
            event_type,
            self.context.timestamp,
            self.context.server_id,
            flags,
        );
        begin_event(&mut self.body, &header)
    }

    /// Text of the statement behind the rows that follow (`binlog_annotate_row_events`).
    pub fn annotate(&mut self, statement: &[u8]) {
        self.close_rows();
        let start = self.begin(EventType::ANNOTATE_ROWS, self.context.flags);
        self.body.put_slice(statement);
        end_event_unplaced(&mut self.body, start, self.context.checksum);
    }

    /// Numbers a table for the rows that follow.
    pub fn table_map(&mut self, map: &TableMap) {
        self.close_rows();
        let start = self.begin(EventType::TABLE_MAP, self.context.flags);
        map.encode(&mut self.body);
        end_event_unplaced(&mut self.body, start, self.context.checksum);
    }

    /// As [`TransactionEvents::table_map`], placed before what the statement has logged since `at` (the end of its first
    /// Table_map): readers want all maps of a statement before its first rows.
    pub fn table_map_at(&mut self, at: Mark, map: &TableMap) {
        self.close_rows();
        let before = self.body.len();
        self.table_map(map);
        let inserted = self.body.len() - before;
        self.body[at.bytes..].rotate_right(inserted);
        for start in [&mut self.last_rows, &mut self.last_selkie].into_iter().flatten() {
            if *start >= at.bytes {
                *start += inserted;
            }
        }
    }

    /// Appends one changed row of a table with `width` columns: `image` appends its image (of an
    /// update: both) to the buffer. Rows of one kind and table share an event until it is full.
    /// `flags` are [`rows_flags`] beside `STMT_END`. Where `image` fails, nothing is appended.
    pub fn row<E>(
        &mut self,
        kind: RowsKind,
        table_id: u64,
        width: usize,
        flags: u16,
        image: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let fits = |open: OpenRows, len: usize, max: usize| {
            open.kind == kind && open.table_id == table_id && len - open.start < max
        };
        match self.open {
            Some(open) if fits(open, self.body.len(), self.context.row_event_max_size) => {
                let before = self.body.len();
                image(&mut self.body).inspect_err(|_| self.body.truncate(before))
            }
            _ => {
                self.close_rows();
                let start = self.begin(kind.event_type_v1(), self.context.flags);
                self.body.put_u48(table_id);
                self.body.put_u16(flags & !rows_flags::STMT_END);
                self.body.put_lenenc(width as u64);
                let bitmaps = if kind == RowsKind::Update { 2 } else { 1 };
                for _ in 0..bitmaps {
                    put_all_columns(&mut self.body, width);
                }
                image(&mut self.body).inspect_err(|_| self.body.truncate(start))?;
                self.open = Some(OpenRows {
                    start,
                    kind,
                    table_id,
                });
                Ok(())
            }
        }
    }

    fn close_rows(&mut self) {
        if let Some(open) = self.open.take() {
            end_event_unplaced(&mut self.body, open.start, self.context.checksum);
            self.last_rows = Some(open.start);
        }
    }

    /// Ends a statement: its last rows event gets `STMT_END`.
    pub fn end_statement(&mut self) {
        self.close_rows();
        if let Some(start) = self.last_rows.take() {
            self.body[start + ROWS_FLAGS_AT] |= rows_flags::STMT_END as u8;
        }
    }

    /// A statement as text.
    pub fn query(&mut self, query: QueryEvent) {
        self.event(&EventBody::Query(query));
    }

    /// A statement before which readers must not USE its database: CREATE DATABASE and DROP DATABASE.
    pub fn query_without_use(&mut self, query: QueryEvent) {
        self.event_with_flags(&EventBody::Query(query), event_flags::SUPPRESS_USE);
    }

    /// A dictionary change for recovery. In a DDL group it stands before the query, which ends the group.
    pub fn dictionary(&mut self, change: Bytes) {
        self.event(&EventBody::Selkie(SelkieEvent::new(
            SelkieKind::Dictionary(change),
        )));
    }

    /// The events collected by another [`TransactionEvents`] (without Gtid), wrapped so that only
    /// Selkie's recovery sees them: writes made with `sql_log_bin=0`. Read back with
    /// [`SelkieEvent::local_events`].
    pub fn local(&mut self, mut events: TransactionEvents) {
        events.end_statement();
        let bytes = super::buffer::reframe(events.body, events.context.checksum, ChecksumAlg::Off);
        self.event(&EventBody::Selkie(SelkieEvent::new(SelkieKind::Local(
            bytes.into(),
        ))));
    }

    /// COMMIT of a transaction.
    pub fn xid(&mut self, xid: u64) {
        self.event(&EventBody::Xid(Xid { xid }));
    }

    /// COMMIT of a group that changed only tables without transactions.
    pub fn commit_query(&mut self, thread_id: u32, database: &str, status: QueryStatus) {
        let query = QueryEvent {
            thread_id,
            database: database.to_owned(),
            status,
            query: Bytes::from_static(b"COMMIT"),
            ..QueryEvent::default()
        };
        self.event_with_flags(&EventBody::Query(query), event_flags::SUPPRESS_USE);
    }

    /// The place to roll back to.
    pub fn mark(&mut self) -> Mark {
        self.close_rows();
        Mark {
            bytes: self.body.len(),
        }
    }

    /// Forgets what was collected since the mark.
    pub fn rollback_to(&mut self, mark: Mark) {
        self.open = None;
        self.body.truncate(mark.bytes);
        self.last_rows = self.last_rows.filter(|start| *start < mark.bytes);
        self.last_selkie = self.last_selkie.filter(|start| *start < mark.bytes);
    }

    /// The finished group of a transaction: `flags2` are [`gtid_flags`] (`TRANSACTIONAL`, `ALLOW_PARALLEL`, ...).
    pub fn finish(self, gtid: GtidChoice, flags2: u8) -> EventBuffer {
        let event = GtidEvent::new(Gtid::new(0, 0, 0), flags2);
        self.finish_with(gtid, event)
    }

    /// As [`TransactionEvents::finish`], with a Gtid event made by the caller (XA, flags of a replicated one).
    pub fn finish_with(mut self, gtid: GtidChoice, event: GtidEvent) -> EventBuffer {
        self.end_statement();
        EventBuffer::new(
            Some((gtid, event)),
            self.context.timestamp,
            self.context.checksum,
            self.body,
        )
    }

    /// The finished group of a DDL statement.
    pub fn finish_ddl(self, gtid: GtidChoice) -> EventBuffer {
        self.finish(
            gtid,
            gtid_flags::STANDALONE | gtid_flags::DDL | gtid_flags::ALLOW_PARALLEL,
        )
    }

    /// The finished group of what is not for replicas: [`TransactionEvents::local`] and
    /// [`TransactionEvents::dictionary`] events only, of which there must be at least one.
    pub fn finish_local(mut self) -> EventBuffer {
        self.end_statement();
        if self.last_selkie.is_none() {
            self.event(&EventBody::Selkie(SelkieEvent::new(SelkieKind::Local(
                Bytes::new(),
            ))));
        }
        if let Some(start) = self.last_selkie {
            self.body[start + SELKIE_FLAGS_AT] |= 1;
        }
        EventBuffer::new(
            None,
            self.context.timestamp,
            self.context.checksum,
            self.body,
        )
    }
}

/// A bitmap of `width` set bits; the unused ones of the last byte are clear.
fn put_all_columns(out: &mut Vec<u8>, width: usize) {
    out.resize(out.len() + width / 8, 0xff);
    if !width.is_multiple_of(8) {
        out.push((1 << (width % 8)) - 1);
    }
}
