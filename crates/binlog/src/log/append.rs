//! The writer: appends groups, starts new files, closes the log.

use std::borrow::BorrowMut;
use std::io;
use std::sync::Arc;

use smallvec::SmallVec;

use super::index::Index;
use super::recovery::{self, Recovered};
use super::shared::{LogFileInfo, LogSyncer, LogWatch, Shared};
use super::{LogOptions, MAX_BINLOG_SIZE, SharedName, file_name, file_number};
use crate::builder::{EventBuffer, GtidChoice};
use crate::event::{
    BinlogCheckpoint, ChecksumAlg, Event, EventBody, EventHeader, EventType, FILLER_LEN_MIN,
    FormatDescription, GtidListEvent, MAGIC, Rotate, SelkieEvent, SelkieKind, event_flags,
    filler_head,
};
use crate::fs::{LogFile, LogFs};
use crate::gtid::SavedDomain;
use crate::{BinlogState, Gtid, LogError, LogPosition};

/// Offset of the Format_description's flags in every file.
pub(super) const IN_USE_AT: u64 = MAGIC.len() as u64 + 17;
/// Room kept below 4 GiB for what is not a transaction.
const FILE_END_RESERVE: u64 = 64 << 10;
/// After so many bytes of log the next group tells how far the log was synced.
const DURABLE_MARK_EVERY: u64 = 64 << 10;
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The log, open for writing. See the [module](crate::log).
pub struct Log {
    shared: Arc<Shared>,
    options: LogOptions,
    file: Arc<dyn LogFile>,
    name: SharedName,
    /// Position of the active file's first byte.
    first: LogPosition,
    /// Offset behind the last event.
    offset: u64,
    /// Size of the file: events, and the filler behind them if larger.
    allocated: u64,
    /// Offset behind the head, from which transactions begin.
    head_len: u64,
    state: BinlogState,
    /// The file named by the last Binlog_checkpoint event.
    checkpoint: SharedName,
    /// A Binlog_checkpoint event that the next group brings along.
    checkpoint_due: bool,
    durable_mark_at: u64,
    prefix: Vec<u8>,
}

impl Log {
    /// Opens the log in a directory, or makes an empty one: recovers what a crash left, and starts a
    /// new file. [`Recovered`] tells what was found.
    pub fn open(fs: Arc<dyn LogFs>, options: LogOptions) -> Result<(Log, Recovered), LogError> {
        let recovered = recovery::recover(&*fs, &options)?;
        let mut files = recovered.files.clone();
        let checkpoint = recovered.checkpoint.clone();
        let after_gap = recovered.after_gap || options.position_min > recovered.end;
        let first = recovered.end.max(options.position_min);
        let number = files
            .last()
            .and_then(|f| file_number(&options.basename, &f.name))
            .unwrap_or(0)
            + 1;
        let name: SharedName = file_name(&options.basename, number).into();
        let checkpoint = checkpoint.unwrap_or_else(|| Arc::clone(&name));
        let created = (options.now)();
        let head = Head {
            first,
            after_gap,
            created,
            checkpoint: &checkpoint,
            state: &recovered.state,
        };
        let (file, head_len) = create_file(&*fs, &options, &name, &head)?;
        files.push(LogFileInfo {
            name: Arc::clone(&name),
            first,
            size: head_len,
        });
        write_index(&*fs, &options.basename, &files)?;
        let shared = Arc::new(Shared::new(
            fs,
            files,
            Arc::clone(&file),
            first.plus(head_len),
        ));
        let log = Log {
            shared,
            file,
            name,
            first,
            offset: head_len,
            allocated: head_len,
            head_len,
            state: recovered.state.clone(),
            checkpoint,
            checkpoint_due: false,
            durable_mark_at: head_len,
            prefix: Vec::new(),
            options,
        };
        Ok((log, recovered))
    }

    /// Makes what was appended durable; for another thread.
    pub fn syncer(&self) -> LogSyncer {
        LogSyncer {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Watches the log, and finds its files.
    pub fn watch(&self) -> LogWatch {
        LogWatch {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Behind the last event.
    pub fn end(&self) -> LogPosition {
        self.first.plus(self.offset)
    }

    /// Active file and the offset of its end (SHOW MASTER STATUS).
    pub fn file_position(&self) -> (&str, u64) {
        (&self.name, self.offset)
    }

    /// GTIDs written so far.
    pub fn state(&self) -> &BinlogState {
        &self.state
    }

    /// Sets the state of a log without transactions (`SET GLOBAL gtid_binlog_state`); a new file is started with it.
    pub fn set_state(&mut self, state: BinlogState) -> Result<(), LogError> {
        self.state = state;
        self.rotate()
    }

    /// How the log is written.
    pub fn options(&self) -> &LogOptions {
        &self.options
    }

    /// Changes `max_binlog_size`.
    pub fn set_max_binlog_size(&mut self, bytes: u64) {
        self.options.max_binlog_size = bytes;
    }

    /// Changes `server_id`, as far as the log's own events tell it.
    pub fn set_server_id(&mut self, server_id: u32) {
        self.options.server_id = server_id;
    }

    /// Changes `binlog_checksum`: a new file is started with it.
    pub fn set_checksum(&mut self, checksum: ChecksumAlg) -> Result<(), LogError> {
        if self.options.checksum == checksum {
            return Ok(());
        }
        let next = LogOptions {
            checksum,
            ..self.options.clone()
        };
        self.rotate_with(next)
    }

    /// Appends a group of transactions, in order, with one write. Numbers those whose GTID is to be
    /// the next one, and gives each its [`EventBuffer::end`], which is returned of the last one.
    ///
    /// Nothing is durable before [`LogSyncer::sync`]. A new file is started before the group if the active one
    /// is full. On failure nothing of the group counts as written. After [`LogError::TransactionTooLarge`] and
    /// [`LogError::Full`] the log can go on; after any other failure it takes no more writes.
    pub fn append<B: BorrowMut<EventBuffer>>(
        &mut self,
        group: &mut [B],
    ) -> Result<LogPosition, LogError> {
        self.shared.check()?;
        let room = u64::from(u32::MAX) - FILE_END_RESERVE - self.head_len.max(4096);
        if let Some(bytes) = group
            .iter()
            .map(|b| b.borrow().len_max())
            .find(|n| *n > room)
        {
            return Err(LogError::TransactionTooLarge { bytes });
        }
        if self.offset >= self.options.max_binlog_size.min(MAX_BINLOG_SIZE) {
            self.rotate()?;
        }
        let mut rest = group;
        let mut partly = false;
        while !rest.is_empty() {
            let mut at = self.offset;
            let fits = rest.iter().take_while(|b| {
                at += (*b).borrow().len_max();
                at <= u64::from(u32::MAX) - FILE_END_RESERVE
            });
            match fits.count() {
                0 => self.rotate()?,
                n => {
                    let (now, later) = rest.split_at_mut(n);
                    let result = self.append_fitting(now);
                    // What was written of the group cannot be taken back by the caller.
                    result.map_err(|e| if partly { self.shared.poison(e) } else { e })?;
                    partly = true;
                    rest = later;
                }
            }
        }
        Ok(self.end())
    }

    fn append_fitting<B: BorrowMut<EventBuffer>>(
        &mut self,
        group: &mut [B],
    ) -> Result<(), LogError> {
        let (mut at, marked) = self.write_prefix();
        // Transactions of one group have one commit id; any number that no other group has will do.
        let commit_id = (group.len() > 1).then_some(self.first.0 + at);
        let mut undo: SmallVec<[(u32, Option<SavedDomain>); 4]> = SmallVec::new();
        for buffer in group.iter_mut() {
            let buffer = buffer.borrow_mut();
            let gtid = buffer.choice().map(|choice| match choice {
                GtidChoice::Given(gtid) => gtid,
                GtidChoice::Next {
                    domain_id,
                    server_id,
                } => Gtid {
                    domain_id,
                    server_id,
                    seq_no: self.state.next_seq_no(domain_id),
                },
            });
            if let Some(gtid) = gtid {
                if undo.iter().all(|(domain, _)| *domain != gtid.domain_id) {
                    undo.push((gtid.domain_id, self.state.save(gtid.domain_id)));
                }
                self.state.update(gtid);
            }
            at = buffer.place(gtid, commit_id, self.first, at, self.options.checksum);
        }
        let prefix = std::mem::take(&mut self.prefix);
        let mut parts: Vec<&[u8]> = Vec::with_capacity(2 * group.len() + 8);
        parts.push(&prefix);
        for buffer in group.iter() {
            parts.extend((*buffer).borrow().parts());
        }
        let written = self.write_behind(parts, at);
        self.prefix = prefix;
        if let Err(e) = written {
            for (domain, saved) in undo {
                self.state.restore(domain, saved);
            }
            return Err(e);
        }
        if marked {
            self.durable_mark_at = at;
        }
        self.checkpoint_due = false;
        Ok(())
    }

    /// Prepares the events that a group brings along; gives the offset behind them, and whether a
    /// mark of how far the log was synced is among them.
    fn write_prefix(&mut self) -> (u64, bool) {
        self.prefix.clear();
        let mut at = self.offset;
        let marked = at - self.durable_mark_at >= DURABLE_MARK_EVERY;
        if marked {
            let durable = self.shared.state.lock().durable;
            let mark = SelkieEvent::new(SelkieKind::Durable(durable));
            at = push_event(&mut self.prefix, at, &self.options, EventBody::Selkie(mark));
        }
        if self.checkpoint_due {
            let body = EventBody::BinlogCheckpoint(BinlogCheckpoint {
                file: self.checkpoint.to_string(),
            });
            at = push_event(&mut self.prefix, at, &self.options, body);
        }
        (at, marked)
    }

    /// Writes parts at the end of the file, which end at offset `end`, and covers the prepared space
    /// behind them; then lets readers and syncers know.
    fn write_behind(&mut self, parts: Vec<&[u8]>, end: u64) -> Result<(), LogError> {
        let step = u64::from(self.options.preallocate_bytes);
        let head;
        let mut parts: Vec<&[u8]> = parts;
        let mut allocated = self.allocated.max(end);
        if step > 0 || allocated > end {
            let mut zeros = 0;
            if end + FILLER_LEN_MIN > self.allocated {
                let step = step.max(FILLER_LEN_MIN);
                allocated = (end + FILLER_LEN_MIN).next_multiple_of(step);
                zeros = allocated - end;
            }
            head = filler_head(
                end,
                allocated,
                self.options.server_id,
                self.options.checksum,
            );
            parts.push(&head);
            let mut zeros = zeros.saturating_sub(head.len() as u64);
            while zeros > 0 {
                let n = zeros.min(ZEROS.len() as u64);
                parts.push(&ZEROS[..n as usize]);
                zeros -= n;
            }
        }
        if let Err(e) = self.file.write_at(&parts, self.offset) {
            return Err(self.write_failed(e));
        }
        self.offset = end;
        self.allocated = allocated;
        let mut state = self.shared.state.lock();
        state.appended = self.first.plus(end);
        if let Some(file) = state.files.last_mut() {
            file.size = end;
        }
        Ok(())
    }

    /// A full disk is no reason to stop if what was written of the group can be cut off again.
    fn write_failed(&mut self, error: io::Error) -> LogError {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        if full && self.file.truncate(self.offset).is_ok() {
            self.allocated = self.offset;
            return LogError::Full {
                file: self.name.to_string(),
            };
        }
        self.shared.poison(LogError::io("write", &self.name)(error))
    }

    /// Starts a new file (FLUSH BINARY LOGS): ends the active one with a Rotate event and syncs it.
    pub fn rotate(&mut self) -> Result<(), LogError> {
        let options = self.options.clone();
        self.rotate_with(options)
    }

    fn rotate_with(&mut self, next_options: LogOptions) -> Result<(), LogError> {
        self.shared.check()?;
        let number = file_number(&self.options.basename, &self.name).unwrap_or(0) + 1;
        let name: SharedName = file_name(&self.options.basename, number).into();
        self.end_file(EventBody::Rotate(Rotate {
            position: 4,
            file: name.to_string(),
        }))?;
        let shared = Arc::clone(&self.shared);
        self.start_file(name, next_options)
            .map_err(|e| shared.poison(e))
    }

    fn start_file(&mut self, name: SharedName, options: LogOptions) -> Result<(), LogError> {
        let first = self.first.plus(self.offset);
        let head = Head {
            first,
            after_gap: false,
            created: 0,
            checkpoint: &self.checkpoint,
            state: &self.state,
        };
        let (file, head_len) = create_file(&*self.shared.fs, &options, &name, &head)?;
        let mut files = self.shared.state.lock().files.clone();
        files.push(LogFileInfo {
            name: Arc::clone(&name),
            first,
            size: head_len,
        });
        write_index(&*self.shared.fs, &options.basename, &files)?;
        self.enter_file(files, file, name, first, head_len);
        self.options = options;
        Ok(())
    }

    pub(super) fn enter_file(
        &mut self,
        files: Vec<LogFileInfo>,
        file: Arc<dyn LogFile>,
        name: SharedName,
        first: LogPosition,
        head_len: u64,
    ) {
        self.file = Arc::clone(&file);
        self.name = name;
        self.first = first;
        self.offset = head_len;
        self.allocated = head_len;
        self.head_len = head_len;
        self.durable_mark_at = head_len;
        let mut state = self.shared.state.lock();
        state.files = files;
        state.active = file;
        state.appended = first.plus(head_len);
        state.durable = state.appended;
        self.shared.wake(&state);
    }

    /// Writes the last event of the active file, cuts off prepared space, and makes all of it durable;
    /// only then clears the in-use flag.
    fn end_file(&mut self, last: EventBody) -> Result<(), LogError> {
        let shared = Arc::clone(&self.shared);
        let mut bytes = Vec::new();
        let end = push_event(&mut bytes, self.offset, &self.options, last);
        let name = Arc::clone(&self.name);
        let file = Arc::clone(&self.file);
        let finish = |operation: &'static str, result: io::Result<()>| {
            result.map_err(|e| shared.poison(LogError::io(operation, &name)(e)))
        };
        finish("write", file.write_at(&[&bytes], self.offset))?;
        finish("truncate", file.truncate(end))?;
        finish("fsync", file.sync_all())?;
        finish("write", file.write_at(&[&[0, 0]], IN_USE_AT))?;
        finish("fsync", file.sync_all())?;
        self.offset = end;
        self.allocated = end;
        let mut state = self.shared.state.lock();
        state.appended = self.first.plus(end);
        if let Some(file) = state.files.last_mut() {
            file.size = end;
        }
        drop(state);
        self.shared.advance_durable(self.first.plus(end));
        Ok(())
    }

    /// Closes the log cleanly: Stop event, everything synced, in-use flag cleared. Readers that
    /// wait are woken and told.
    pub fn close(&mut self) -> Result<(), LogError> {
        let result = self
            .shared
            .check()
            .and_then(|()| self.end_file(EventBody::Stop));
        let mut state = self.shared.state.lock();
        state.closed = true;
        state.poison.get_or_insert_with(|| "it was closed".to_owned());
        self.shared.wake(&state);
        result
    }

    /// Tells that every engine's last checkpoint lies at or behind a position: the files before it are
    /// no longer needed for recovery. Written with the next group, or the next file.
    pub fn note_checkpoint(&mut self, position: LogPosition) -> Result<(), LogError> {
        let (name, _) = self.watch().locate(position)?;
        if *name != *self.checkpoint {
            self.checkpoint = name;
            self.checkpoint_due = true;
        }
        Ok(())
    }

    /// The oldest file that recovery needs.
    pub fn checkpoint_file(&self) -> &str {
        &self.checkpoint
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn set_checkpoint_file(&mut self, name: SharedName) {
        self.checkpoint = name;
        self.checkpoint_due = false;
    }

    pub(super) fn clear_state(&mut self) {
        self.state = BinlogState::new();
    }
}

/// What stands in the head of a file.
pub(super) struct Head<'a> {
    pub(super) first: LogPosition,
    pub(super) after_gap: bool,
    pub(super) created: u32,
    pub(super) checkpoint: &'a str,
    pub(super) state: &'a BinlogState,
}

/// Creates a file with its head, durable; gives the head's length.
pub(super) fn create_file(
    fs: &dyn LogFs,
    options: &LogOptions,
    name: &str,
    head: &Head<'_>,
) -> Result<(Arc<dyn LogFile>, u64), LogError> {
    let mut bytes = MAGIC.to_vec();
    let format = FormatDescription::new(&options.server_version, head.created, options.checksum);
    push_event(&mut bytes, 4, options, EventBody::FormatDescription(format));
    // The flag is no part of the checksum.
    bytes[IN_USE_AT as usize] |= event_flags::BINLOG_IN_USE as u8;
    let start = SelkieEvent::new(SelkieKind::Start {
        first: head.first,
        after_gap: head.after_gap,
    });
    let bodies = [
        EventBody::Selkie(start),
        EventBody::GtidList(GtidListEvent {
            flags: 0,
            gtids: head.state.gtids(),
        }),
        EventBody::BinlogCheckpoint(BinlogCheckpoint {
            file: head.checkpoint.to_owned(),
        }),
    ];
    for body in bodies {
        let at = bytes.len() as u64;
        push_event(&mut bytes, at, options, body);
    }
    let file = fs.create_new(name).map_err(LogError::io("create", name))?;
    file.write_at(&[&bytes], 0)
        .map_err(LogError::io("write", name))?;
    file.sync_all().map_err(LogError::io("fsync", name))?;
    fs.sync_dir().map_err(LogError::io("fsync", "directory"))?;
    Ok((file, bytes.len() as u64))
}

pub(super) fn write_index(
    fs: &dyn LogFs,
    basename: &str,
    files: &[LogFileInfo],
) -> Result<(), LogError> {
    Index { fs, basename }.write(files.iter().map(|f| &*f.name))
}

/// Appends one of the log's own events, which begins at offset `at`; gives the offset behind it.
fn push_event(out: &mut Vec<u8>, at: u64, options: &LogOptions, body: EventBody) -> u64 {
    let flags = if body.event_type() == EventType::SELKIE {
        event_flags::IGNORABLE
    } else {
        0
    };
    let header = EventHeader::new(body.event_type(), (options.now)(), options.server_id, flags);
    let start = out.len();
    let mut event = Event { header, body };
    event.encode(options.checksum, out);
    let end = at + (out.len() - start) as u64;
    out.truncate(start);
    event.header.end_log_pos = end as u32;
    event.encode(options.checksum, out);
    end
}
