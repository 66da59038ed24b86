//! Reading the log: events and whole transactions, from any position up to the durable one.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::SharedName;
use super::append::Log;
use super::group::{GroupStep, GroupTracker};
use super::recovery::source_error;
use super::shared::{LogFileInfo, LogWatch, Shared, locate};
use super::source::EventSource;
use crate::event::{
    Event, EventBody, EventHeader, FormatDescription, GtidEvent, SelkieEvent, SelkieKind,
};
use crate::{BinlogState, DecodeError, Gtid, LogError, LogPosition};

/// An event as it stands in a file.
#[derive(Debug, Clone)]
pub struct RawEvent {
    /// The file.
    pub file: SharedName,
    /// Offset of its first byte.
    pub offset: u64,
    /// Position behind it.
    pub end: LogPosition,
    /// Header, body and checksum.
    pub bytes: Bytes,
}

impl RawEvent {
    /// Its header.
    pub fn header(&self) -> Result<EventHeader, DecodeError> {
        EventHeader::decode(&self.bytes)
    }

    /// Decodes it.
    pub fn decode(&self, format: &FormatDescription) -> Result<Event, LogError> {
        Event::decode(&self.bytes, format).map_err(|source| LogError::Decode {
            file: self.file.to_string(),
            offset: self.offset,
            source,
        })
    }
}

/// Reads event after event, from file to file, up to the durable position.
pub struct EventReader {
    shared: Arc<Shared>,
    info: LogFileInfo,
    source: EventSource,
    /// Whether files may follow that of `info`, which is complete then.
    format: Arc<FormatDescription>,
}

impl EventReader {
    /// Begins at a position, which must be that of an event (or a file's first byte).
    pub fn at(watch: &LogWatch, position: LogPosition) -> Result<EventReader, LogError> {
        let (info, head_limit) = {
            let state = watch.shared.state.lock();
            let info = state.files[locate(&state.files, position)?].clone();
            let limit = visible(&info, state.durable);
            (info, limit)
        };
        let mut reader = EventReader::open(Arc::clone(&watch.shared), info, head_limit)?;
        let offset = position.0 - reader.info.first.0;
        if offset > reader.source.offset() {
            reader.source.seek(offset);
        } else {
            reader.source.seek(4);
        }
        Ok(reader)
    }

    /// Begins at an offset of a file (4 = its head).
    pub fn at_file(watch: &LogWatch, file: &str, offset: u64) -> Result<EventReader, LogError> {
        let (info, limit) = {
            let state = watch.shared.state.lock();
            let info = state.files.iter().find(|f| &*f.name == file).cloned();
            let info = info.ok_or_else(|| LogError::UnknownFile(file.to_owned()))?;
            let limit = visible(&info, state.durable);
            (info, limit)
        };
        if offset > limit {
            let (from, to) = (info.first.0, info.first.0 + limit);
            return Err(LogError::NotInLog {
                position: info.first.0.saturating_add(offset),
                from,
                to,
            });
        }
        let mut reader = EventReader::open(Arc::clone(&watch.shared), info, limit)?;
        reader.source.seek(offset.max(4));
        Ok(reader)
    }

    fn open(shared: Arc<Shared>, info: LogFileInfo, limit: u64) -> Result<EventReader, LogError> {
        let file = match shared.fs.open(&info.name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(LogError::UnknownFile(info.name.to_string()));
            }
            other => other.map_err(LogError::io("open", &info.name))?,
        };
        let source = EventSource::open(file, limit).map_err(|e| source_error(e, &info.name))?;
        let format = Arc::new(source.format().clone());
        Ok(EventReader {
            shared,
            info,
            source,
            format,
        })
    }

    /// The Format_description of the current file.
    pub fn format(&self) -> &Arc<FormatDescription> {
        &self.format
    }

    /// The current file.
    pub fn file(&self) -> &SharedName {
        &self.info.name
    }

    /// Offset of the next event in the current file.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Position of the next event.
    pub fn position(&self) -> LogPosition {
        self.info.first.plus(self.source.offset())
    }

    /// The next event, `None` at the durable position. Goes on to the next file where one ends;
    /// the first event from it is its Format_description.
    pub fn next_event(&mut self) -> Result<Option<RawEvent>, LogError> {
        loop {
            let (limit, next) = self.limit_and_next()?;
            let offset = self.source.offset();
            let raw = self
                .source
                .next(limit)
                .map_err(|e| source_error(e, &self.info.name))?;
            if let Some(bytes) = raw {
                let file = Arc::clone(&self.info.name);
                let end = self.info.first.plus(self.source.offset());
                return Ok(Some(RawEvent {
                    file,
                    offset,
                    end,
                    bytes,
                }));
            }
            let Some((next, limit)) = next else {
                return Ok(None);
            };
            *self = EventReader::open(Arc::clone(&self.shared), next, limit)?;
            self.source.seek(4);
        }
    }

    /// How far the current file can be read, and the file behind it if this one is complete.
    #[allow(clippy::type_complexity)]
    fn limit_and_next(&self) -> Result<(u64, Option<(LogFileInfo, u64)>), LogError> {
        let state = self.shared.state.lock();
        let i = state.files.partition_point(|f| f.first < self.info.first);
        match state.files.get(i) {
            Some(f) if f.name == self.info.name && f.first == self.info.first => {
                let next = state
                    .files
                    .get(i + 1)
                    .map(|n| (n.clone(), visible(n, state.durable)));
                Ok((visible(f, state.durable), next))
            }
            // Purged behind our back; the open handle still serves the file's events, but it does not tell its end.
            _ => Err(LogError::UnknownFile(self.info.name.to_string())),
        }
    }

    /// Waits until there is more to read. See [`LogWatch::wait_past`].
    pub fn wait(&self, deadline: Option<Instant>) -> Result<LogPosition, LogError> {
        LogWatch {
            shared: Arc::clone(&self.shared),
        }
        .wait_past(self.position(), deadline)
    }
}

/// The GTIDs in the files before one: its Gtid_list. A dump thread looks for the last file whose
/// list its replica's position covers.
pub fn state_before(watch: &LogWatch, file: &str) -> Result<BinlogState, LogError> {
    let mut reader = EventReader::at_file(watch, file, 4)?;
    while let Some(raw) = reader.next_event()? {
        if *raw.file != *file {
            break;
        }
        if let EventBody::GtidList(list) = raw.decode(reader.format())?.body {
            return Ok(BinlogState::from_gtids(list.gtids));
        }
    }
    let reason = "no Gtid_list event".to_owned();
    Err(LogError::Corrupt {
        file: file.to_owned(),
        offset: 4,
        reason,
    })
}

fn visible(info: &LogFileInfo, durable: LogPosition) -> u64 {
    info.size.min(durable.0.saturating_sub(info.first.0))
}

/// One transaction or DDL statement, as the log holds it.
#[derive(Debug, Clone)]
pub struct LoggedTransaction {
    /// Its Gtid event; `None` for what was written with `sql_log_bin=0`.
    pub gtid: Option<GtidEvent>,
    /// Where it begins.
    pub begin: LogPosition,
    /// Where it ends: its commit timestamp.
    pub end: LogPosition,
    /// Its events, the Gtid event first.
    pub raw: Vec<RawEvent>,
    format: Arc<FormatDescription>,
}

impl LoggedTransaction {
    /// The GTID.
    pub fn id(&self) -> Option<Gtid> {
        self.gtid.as_ref().map(|g| g.gtid)
    }

    /// The Format_description of the file it stands in.
    pub fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Its events, decoded.
    pub fn events(&self) -> impl Iterator<Item = Result<Event, LogError>> + '_ {
        self.raw.iter().map(|raw| raw.decode(&self.format))
    }

    /// Its events as recovery needs them: those of writes made with `sql_log_bin=0` are unwrapped.
    pub fn replay_events(&self) -> impl Iterator<Item = Result<Event, LogError>> + '_ {
        self.raw.iter().flat_map(
            |raw| -> Box<dyn Iterator<Item = Result<Event, LogError>> + '_> {
                match raw.decode(&self.format) {
                    Ok(Event {
                        body:
                            EventBody::Selkie(SelkieEvent {
                                kind: SelkieKind::Local(local),
                                ..
                            }),
                        ..
                    }) => {
                        let failed = |source| LogError::Decode {
                            file: raw.file.to_string(),
                            offset: raw.offset,
                            source,
                        };
                        Box::new(SelkieEvent::local_events(&local).map(move |e| e.map_err(failed)))
                    }
                    other => Box::new(std::iter::once(other)),
                }
            },
        )
    }

    /// The dictionary changes in it.
    pub fn dictionary_records(&self) -> Result<Vec<Bytes>, LogError> {
        let mut out = Vec::new();
        for event in self.events() {
            if let EventBody::Selkie(SelkieEvent {
                kind: SelkieKind::Dictionary(bytes),
                ..
            }) = event?.body
            {
                out.push(bytes);
            }
        }
        Ok(out)
    }
}

/// Reads transaction after transaction. An iterator that ends at the durable position, and can go on later.
pub struct TransactionReader {
    events: EventReader,
    groups: GroupTracker,
}

impl TransactionReader {
    /// Begins at a position between transactions.
    pub fn at(watch: &LogWatch, position: LogPosition) -> Result<TransactionReader, LogError> {
        Ok(TransactionReader {
            events: EventReader::at(watch, position)?,
            groups: GroupTracker::new(),
        })
    }

    /// The next transaction, `None` at the durable position (between transactions).
    pub fn next_transaction(&mut self) -> Result<Option<LoggedTransaction>, LogError> {
        let mut raw = Vec::new();
        let mut gtid = None;
        while let Some(event) = self.events.next_event()? {
            let step = self
                .groups
                .step(&event.bytes, self.events.format())
                .map_err(|source| LogError::Decode {
                    file: event.file.to_string(),
                    offset: event.offset,
                    source,
                })?;
            match step {
                GroupStep::Outside => {}
                GroupStep::Begin(g) => {
                    gtid = Some(*g);
                    raw.push(event);
                }
                GroupStep::Inside => raw.push(event),
                GroupStep::End => {
                    let end = event.end;
                    raw.push(event);
                    let first = &raw[0];
                    let begin = LogPosition(first.end.0 - first.bytes.len() as u64);
                    let format = Arc::clone(self.events.format());
                    return Ok(Some(LoggedTransaction {
                        gtid,
                        begin,
                        end,
                        raw,
                        format,
                    }));
                }
            }
        }
        if raw.is_empty() {
            return Ok(None);
        }
        Err(LogError::Corrupt {
            file: self.events.file().to_string(),
            offset: self.events.offset(),
            reason: "the durable part of the log ends inside a transaction".to_owned(),
        })
    }

    /// Waits until there is more to read. See [`LogWatch::wait_past`].
    pub fn wait(&self, deadline: Option<Instant>) -> Result<LogPosition, LogError> {
        self.events.wait(deadline)
    }

    /// Position of what is read next.
    pub fn position(&self) -> LogPosition {
        self.events.position()
    }
}

impl Iterator for TransactionReader {
    type Item = Result<LoggedTransaction, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_transaction().transpose()
    }
}

impl Log {
    /// The transactions that end behind a position (which is between transactions: an engine's
    /// checkpoint), up to the durable one.
    pub fn transactions_from(&self, position: LogPosition) -> Result<TransactionReader, LogError> {
        TransactionReader::at(&self.watch(), position)
    }
}
