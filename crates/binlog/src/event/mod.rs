//! The events of MariaDB's binlog format 4: one file for each kind.
//!
//! An event is a 19-byte [`EventHeader`], a body, and a CRC32 where the file has checksums.
//! [`Event::decode`] reads one, [`Event::encode`] writes it back byte for byte. Bodies share the
//! memory of the bytes they were decoded from.

mod annotate_rows;
mod binlog_checkpoint;
mod compressed;
mod format_description;
mod gtid;
mod gtid_list;
mod header;
mod heartbeat;
mod incident;
mod intvar;
mod load_data;
mod query;
mod query_status;
mod rand;
mod rotate;
mod rows;
mod selkie;
mod start_encryption;
mod table_map;
mod table_metadata;
mod unknown;
mod user_var;
mod xid;

use bytes::Bytes;

pub use annotate_rows::AnnotateRows;
pub use binlog_checkpoint::BinlogCheckpoint;
pub use compressed::{compress, decompress};
pub use format_description::{FormatDescription, POST_HEADER_LENGTHS};
pub use gtid::{GtidEvent, StartAlter, XaId, gtid_extra_flags, gtid_flags};
pub use gtid_list::GtidListEvent;
pub use header::{
    CHECKSUM_LEN, ChecksumAlg, EventHeader, HEADER_LEN, MAGIC, begin_event, check_checksum,
    end_event, end_event_unplaced, event_flags, set_position,
};
pub use heartbeat::Heartbeat;
pub use incident::Incident;
pub use intvar::Intvar;
pub use load_data::{ExecuteLoadQuery, LoadBlock};
pub use query::QueryEvent;
pub use query_status::{QueryFlags2, QueryStatus, StatusVar};
pub use rand::Rand;
pub use rotate::Rotate;
pub use rows::{RowsEvent, RowsKind, rows_flags};
pub use selkie::{FILLER_LEN_MIN, SelkieEvent, SelkieKind, filler_head};
pub use start_encryption::StartEncryption;
pub use table_map::{ColumnMeta, TableMap, column_type, table_map_flags};
pub use table_metadata::{GEOMETRY_POINT, TableMetadata, metadata_type};
pub use unknown::Unknown;
pub use user_var::{UserVar, UserVarValue};
pub use xid::{XaPrepare, Xid};

use crate::DecodeError;

/// The type byte of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventType(pub u8);

#[allow(missing_docs)]
impl EventType {
    pub const QUERY: EventType = EventType(2);
    pub const STOP: EventType = EventType(3);
    pub const ROTATE: EventType = EventType(4);
    pub const INTVAR: EventType = EventType(5);
    pub const APPEND_BLOCK: EventType = EventType(9);
    pub const DELETE_FILE: EventType = EventType(11);
    pub const RAND: EventType = EventType(13);
    pub const USER_VAR: EventType = EventType(14);
    pub const FORMAT_DESCRIPTION: EventType = EventType(15);
    pub const XID: EventType = EventType(16);
    pub const BEGIN_LOAD_QUERY: EventType = EventType(17);
    pub const EXECUTE_LOAD_QUERY: EventType = EventType(18);
    pub const TABLE_MAP: EventType = EventType(19);
    pub const WRITE_ROWS_V1: EventType = EventType(23);
    pub const UPDATE_ROWS_V1: EventType = EventType(24);
    pub const DELETE_ROWS_V1: EventType = EventType(25);
    pub const INCIDENT: EventType = EventType(26);
    pub const HEARTBEAT: EventType = EventType(27);
    /// Selkie's own events: MySQL's "ignorable" type, which readers skip by its flag.
    pub const SELKIE: EventType = EventType(28);
    pub const WRITE_ROWS: EventType = EventType(30);
    pub const UPDATE_ROWS: EventType = EventType(31);
    pub const DELETE_ROWS: EventType = EventType(32);
    pub const XA_PREPARE: EventType = EventType(38);
    pub const ANNOTATE_ROWS: EventType = EventType(160);
    pub const BINLOG_CHECKPOINT: EventType = EventType(161);
    pub const GTID: EventType = EventType(162);
    pub const GTID_LIST: EventType = EventType(163);
    pub const START_ENCRYPTION: EventType = EventType(164);
    pub const QUERY_COMPRESSED: EventType = EventType(165);
    pub const WRITE_ROWS_COMPRESSED_V1: EventType = EventType(166);
    pub const UPDATE_ROWS_COMPRESSED_V1: EventType = EventType(167);
    pub const DELETE_ROWS_COMPRESSED_V1: EventType = EventType(168);
    pub const WRITE_ROWS_COMPRESSED: EventType = EventType(169);
    pub const UPDATE_ROWS_COMPRESSED: EventType = EventType(170);
    pub const DELETE_ROWS_COMPRESSED: EventType = EventType(171);
    /// The last type that a MariaDB 10.11 Format_description lists.
    pub const LAST: EventType = EventType(171);
}

impl EventType {
    /// The name that SHOW BINLOG EVENTS gives it.
    pub fn name(self) -> &'static str {
        match self {
            EventType::QUERY => "Query",
            EventType::STOP => "Stop",
            EventType::ROTATE => "Rotate",
            EventType::INTVAR => "Intvar",
            EventType::APPEND_BLOCK => "Append_block",
            EventType::DELETE_FILE => "Delete_file",
            EventType::RAND => "RAND",
            EventType::USER_VAR => "User var",
            EventType::FORMAT_DESCRIPTION => "Format_desc",
            EventType::XID => "Xid",
            EventType::BEGIN_LOAD_QUERY => "Begin_load_query",
            EventType::EXECUTE_LOAD_QUERY => "Execute_load_query",
            EventType::TABLE_MAP => "Table_map",
            EventType::WRITE_ROWS_V1 => "Write_rows_v1",
            EventType::UPDATE_ROWS_V1 => "Update_rows_v1",
            EventType::DELETE_ROWS_V1 => "Delete_rows_v1",
            EventType::INCIDENT => "Incident",
            EventType::HEARTBEAT => "Heartbeat",
            EventType::SELKIE => "Ignorable log event",
            EventType::WRITE_ROWS => "Write_rows",
            EventType::UPDATE_ROWS => "Update_rows",
            EventType::DELETE_ROWS => "Delete_rows",
            EventType::XA_PREPARE => "XA_prepare",
            EventType::ANNOTATE_ROWS => "Annotate_rows",
            EventType::BINLOG_CHECKPOINT => "Binlog_checkpoint",
            EventType::GTID => "Gtid",
            EventType::GTID_LIST => "Gtid_list",
            EventType::START_ENCRYPTION => "Start_encryption",
            EventType::QUERY_COMPRESSED => "Query_compressed",
            EventType::WRITE_ROWS_COMPRESSED_V1 => "Write_rows_compressed_v1",
            EventType::UPDATE_ROWS_COMPRESSED_V1 => "Update_rows_compressed_v1",
            EventType::DELETE_ROWS_COMPRESSED_V1 => "Delete_rows_compressed_v1",
            EventType::WRITE_ROWS_COMPRESSED => "Write_rows_compressed",
            EventType::UPDATE_ROWS_COMPRESSED => "Update_rows_compressed",
            EventType::DELETE_ROWS_COMPRESSED => "Delete_rows_compressed",
            _ => "Unknown",
        }
    }
}

/// One event: header and decoded body.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The common header. `event_type` and `event_length` are the body's own when encoded.
    pub header: EventHeader,
    /// What it says.
    pub body: EventBody,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    /// Head of every file.
    FormatDescription(FormatDescription),
    /// Head of a transaction.
    Gtid(GtidEvent),
    /// GTIDs in the files before this one.
    GtidList(GtidListEvent),
    /// The oldest file that crash recovery needs.
    BinlogCheckpoint(BinlogCheckpoint),
    /// Text of the statement behind the rows events that follow.
    AnnotateRows(AnnotateRows),
    /// All that follows is encrypted.
    StartEncryption(StartEncryption),
    /// A statement; compressed ones too (`compressed` says so).
    Query(QueryEvent),
    /// LAST_INSERT_ID or INSERT_ID for the statement that follows.
    Intvar(Intvar),
    /// Seeds of RAND() for the statement that follows.
    Rand(Rand),
    /// A user variable for the statement that follows.
    UserVar(UserVar),
    /// COMMIT of a transactional engine's transaction.
    Xid(Xid),
    /// XA PREPARE or XA COMMIT ... ONE PHASE.
    XaPrepare(XaPrepare),
    /// The next file.
    Rotate(Rotate),
    /// Clean shutdown.
    Stop,
    /// Sent to idle replicas, never in a file.
    Heartbeat(Heartbeat),
    /// Something is missing here.
    Incident(Incident),
    /// Numbers a table for the rows events that follow.
    TableMap(TableMap),
    /// Rows inserted, updated or deleted.
    Rows(RowsEvent),
    /// A block of a file for LOAD DATA in statement format.
    LoadBlock(LoadBlock),
    /// LOAD DATA in statement format.
    ExecuteLoadQuery(ExecuteLoadQuery),
    /// Selkie's own.
    Selkie(SelkieEvent),
    /// A type not known here that says it may be ignored.
    Unknown(Unknown),
}

impl Event {
    /// Decodes one whole event (header, body, checksum). `format` is the file's Format_description,
    /// which says whether there is a checksum; a Format_description event itself is read by its own word.
    ///
    /// Verifies the checksum. Fails on types that are neither known nor ignorable.
    pub fn decode(raw: &Bytes, format: &FormatDescription) -> Result<Event, DecodeError> {
        let header = EventHeader::decode(raw)?;
        if header.event_length as usize != raw.len() {
            return Err(DecodeError::Malformed {
                what: "event length",
            });
        }
        let checksum = if header.event_type == EventType::FORMAT_DESCRIPTION {
            FormatDescription::checksum_of(raw)?
        } else {
            format.checksum
        };
        check_checksum(raw, checksum)?;
        let body = raw.slice(HEADER_LEN..raw.len() - checksum.len());
        Ok(Event {
            header,
            body: EventBody::decode(&header, &body, checksum)?,
        })
    }

    /// Appends the event as it stands in a file: type, length and checksum are computed, the rest
    /// of the header is taken as it is.
    pub fn encode(&self, checksum: ChecksumAlg, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(
            &EventHeader {
                event_type: self.body.event_type(),
                ..self.header
            }
            .encode(),
        );
        self.body.encode(out);
        let checksum = match &self.body {
            // A description has a checksum in files without, too.
            EventBody::FormatDescription(_) => ChecksumAlg::Crc32,
            _ => checksum,
        };
        end_event(out, start, checksum);
    }
}

impl EventBody {
    fn decode(
        header: &EventHeader,
        body: &Bytes,
        checksum: ChecksumAlg,
    ) -> Result<EventBody, DecodeError> {
        use EventType as T;
        Ok(match header.event_type {
            T::FORMAT_DESCRIPTION => {
                EventBody::FormatDescription(FormatDescription::decode(body, checksum)?)
            }
            T::GTID => EventBody::Gtid(GtidEvent::decode(body, header.server_id)?),
            T::GTID_LIST => EventBody::GtidList(GtidListEvent::decode(body)?),
            T::BINLOG_CHECKPOINT => EventBody::BinlogCheckpoint(BinlogCheckpoint::decode(body)?),
            T::ANNOTATE_ROWS => EventBody::AnnotateRows(AnnotateRows { text: body.clone() }),
            T::START_ENCRYPTION => EventBody::StartEncryption(StartEncryption::decode(body)?),
            T::QUERY => EventBody::Query(QueryEvent::decode(body, false)?),
            T::QUERY_COMPRESSED => EventBody::Query(QueryEvent::decode(body, true)?),
            T::INTVAR => EventBody::Intvar(Intvar::decode(body)?),
            T::RAND => EventBody::Rand(Rand::decode(body)?),
            T::USER_VAR => EventBody::UserVar(UserVar::decode(body)?),
            T::XID => EventBody::Xid(Xid::decode(body)?),
            T::XA_PREPARE => EventBody::XaPrepare(XaPrepare::decode(body)?),
            T::ROTATE => EventBody::Rotate(Rotate::decode(body)?),
            T::STOP => EventBody::Stop,
            T::HEARTBEAT => EventBody::Heartbeat(Heartbeat::decode(body)?),
            T::INCIDENT => EventBody::Incident(Incident::decode(body)?),
            T::TABLE_MAP => EventBody::TableMap(TableMap::decode(body)?),
            T::APPEND_BLOCK | T::BEGIN_LOAD_QUERY | T::DELETE_FILE => {
                EventBody::LoadBlock(LoadBlock::decode(header.event_type, body)?)
            }
            T::EXECUTE_LOAD_QUERY => EventBody::ExecuteLoadQuery(ExecuteLoadQuery::decode(body)?),
            T::SELKIE if SelkieEvent::is_own(body) => EventBody::Selkie(SelkieEvent::decode(body)?),
            t if RowsKind::of(t).is_some() => EventBody::Rows(RowsEvent::decode(t, body)?),
            t if header.flags & event_flags::IGNORABLE != 0 => EventBody::Unknown(Unknown {
                event_type: t,
                body: body.clone(),
            }),
            t => return Err(DecodeError::UnknownType(t.0)),
        })
    }

    /// Appends the body without header and checksum.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            EventBody::FormatDescription(e) => e.encode(out),
            EventBody::Gtid(e) => e.encode(out),
            EventBody::GtidList(e) => e.encode(out),
            EventBody::BinlogCheckpoint(e) => e.encode(out),
            EventBody::AnnotateRows(e) => out.extend_from_slice(&e.text),
            EventBody::StartEncryption(e) => e.encode(out),
            EventBody::Query(e) => e.encode(out),
            EventBody::Intvar(e) => e.encode(out),
            EventBody::Rand(e) => e.encode(out),
            EventBody::UserVar(e) => e.encode(out),
            EventBody::Xid(e) => e.encode(out),
            EventBody::XaPrepare(e) => e.encode(out),
            EventBody::Rotate(e) => e.encode(out),
            EventBody::Stop => {}
            EventBody::Heartbeat(e) => out.extend_from_slice(e.file.as_bytes()),
            EventBody::Incident(e) => e.encode(out),
            EventBody::TableMap(e) => e.encode(out),
            EventBody::Rows(e) => e.encode(out),
            EventBody::LoadBlock(e) => e.encode(out),
            EventBody::ExecuteLoadQuery(e) => e.encode(out),
            EventBody::Selkie(e) => e.encode(out),
            EventBody::Unknown(e) => out.extend_from_slice(&e.body),
        }
    }

    /// The type byte it is written under.
    pub fn event_type(&self) -> EventType {
        match self {
            EventBody::FormatDescription(_) => EventType::FORMAT_DESCRIPTION,
            EventBody::Gtid(_) => EventType::GTID,
            EventBody::GtidList(_) => EventType::GTID_LIST,
            EventBody::BinlogCheckpoint(_) => EventType::BINLOG_CHECKPOINT,
            EventBody::AnnotateRows(_) => EventType::ANNOTATE_ROWS,
            EventBody::StartEncryption(_) => EventType::START_ENCRYPTION,
            EventBody::Query(q) if q.compressed => EventType::QUERY_COMPRESSED,
            EventBody::Query(_) => EventType::QUERY,
            EventBody::Intvar(_) => EventType::INTVAR,
            EventBody::Rand(_) => EventType::RAND,
            EventBody::UserVar(_) => EventType::USER_VAR,
            EventBody::Xid(_) => EventType::XID,
            EventBody::XaPrepare(_) => EventType::XA_PREPARE,
            EventBody::Rotate(_) => EventType::ROTATE,
            EventBody::Stop => EventType::STOP,
            EventBody::Heartbeat(_) => EventType::HEARTBEAT,
            EventBody::Incident(_) => EventType::INCIDENT,
            EventBody::TableMap(_) => EventType::TABLE_MAP,
            EventBody::Rows(r) => r.event_type(),
            EventBody::LoadBlock(b) => b.event_type,
            EventBody::ExecuteLoadQuery(_) => EventType::EXECUTE_LOAD_QUERY,
            EventBody::Selkie(_) => EventType::SELKIE,
            EventBody::Unknown(u) => u.event_type,
        }
    }
}
