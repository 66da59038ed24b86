//! Opening a log that may have been left by a crash.
//!
//! Only the last file can have a torn tail (see the invariants of [`crate::log`]). It is read from its head
//! up to the first bytes that are no event, and cut behind the last whole group. Whether those bytes
//! are a torn tail (never synced, so nobody was told of them) or damage to what was synced is decided by
//! the marks that the writer leaves every 64 KiB: if a mark that can still be read says that the log was durable
//! beyond the damage, the log does not open ([`LogError::Corrupt`]).
//! What is cut off is kept in a file beside the log (`binlog.000007.torn-4711`), for those who want to look.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::append::IN_USE_AT;
use super::group::{GroupStep, GroupTracker};
use super::index::Index;
use super::shared::LogFileInfo;
use super::source::{EventSource, SourceError};
use super::{LogOptions, LogRecovery, SharedName, file_number};
use crate::event::{
    ChecksumAlg, Event, EventBody, EventHeader, EventType, FormatDescription, HEADER_LEN,
    SelkieEvent, SelkieKind, check_checksum, event_flags,
};
use crate::fs::{LogFile, LogFs, read_full_at};
use crate::{BinlogState, DecodeError, LogError, LogPosition};

/// What [`crate::log::Log::open`] found.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
    /// The files, without the new one.
    pub files: Vec<LogFileInfo>,
    /// End of the log's intact prefix.
    pub end: LogPosition,
    /// Whether the log was closed cleanly (true for an empty one).
    pub clean: bool,
    /// What was cut off.
    pub cut: Option<Cut>,
    /// GTIDs in the log.
    pub state: BinlogState,
    pub(super) checkpoint: Option<SharedName>,
    pub(super) after_gap: bool,
}

/// A tail that was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The file.
    pub file: String,
    /// Where it ends now.
    pub offset: u64,
    /// Bytes cut off, without trailing zeros.
    pub bytes: u64,
    /// Where they are kept; `None` if that failed, or if there are none.
    pub saved_as: Option<String>,
    /// Why the file could not be read further.
    pub reason: String,
}

/// What reading a file from head to end found.
struct Scan {
    start: Start,
    /// Behind the last event that is not part of an unfinished group.
    end: u64,
    /// The file's size.
    size: u64,
    /// The file ends in a Rotate or Stop event.
    ended: bool,
    in_use: bool,
    state: BinlogState,
    checkpoint: Option<String>,
    damage: Option<Damage>,
}

struct Damage {
    offset: u64,
    reason: String,
    /// The damaged bytes had been synced, or must have been.
    certain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Start {
    first: LogPosition,
    after_gap: bool,
}

pub(super) fn recover(fs: &dyn LogFs, options: &LogOptions) -> Result<Recovered, LogError> {
    let index = Index {
        fs,
        basename: &options.basename,
    };
    index.remove_temporaries()?;
    index.finish_reset()?;
    index.finish_purge()?;
    let mut names = index.read()?;
    remove_unfinished(&index, &names)?;
    let mut out = Recovered {
        clean: true,
        ..Recovered::default()
    };
    if names.is_empty() {
        return Ok(out);
    }
    let forced = options.recovery == LogRecovery::Truncate;
    let mut written_end = LogPosition::ZERO;
    let mut expected: Option<LogPosition> = None;
    let count = names.len();
    for (i, name) in names.iter().enumerate() {
        let last = i + 1 == count;
        let file = fs.open(name).map_err(LogError::io("open", name))?;
        if !last && !forced {
            let size = file.len().map_err(LogError::io("stat", name))?;
            let start = read_start(&file, name, size)?;
            out.files.push(chain(name, start, size, &mut expected)?);
            continue;
        }
        let mut scan = scan_file(&file, name)?;
        if !last && scan.damage.is_none() && scan.end < scan.size {
            let reason = "the file ends inside a transaction".to_owned();
            scan.damage = Some(Damage {
                offset: scan.end,
                reason,
                certain: true,
            });
        }
        let certain = scan.damage.as_ref().filter(|d| d.certain || !last);
        match certain {
            Some(damage) if !forced => {
                let (file, offset, reason) = (name.clone(), damage.offset, damage.reason.clone());
                return Err(LogError::Corrupt {
                    file,
                    offset,
                    reason,
                });
            }
            Some(damage) => {
                tracing::error!(file = %name, offset = damage.offset, reason = %damage.reason, "cutting the log at damage");
                out.after_gap = true;
            }
            None => {}
        }
        let damaged = certain.is_some();
        if damaged {
            written_end = scan.start.first.plus(scan.size);
        }
        out.clean = scan.ended && !damaged;
        out.cut = cut(fs, &file, name, &scan)?.or(out.cut);
        if scan.in_use {
            clear_in_use(&file, name)?;
        }
        out.files
            .push(chain(name, scan.start, scan.end, &mut expected)?);
        out.state = scan.state;
        out.checkpoint = scan.checkpoint.map(|c| SharedName::from(c.as_str()));
        if damaged {
            written_end = written_end.max(drop_following(&index, &out, &names[i + 1..])?);
            break;
        }
    }
    if out.files.len() < names.len() {
        names.truncate(out.files.len());
        index.write(names.iter().map(String::as_str))?;
    }
    // Positions that were given out before the damage was cut off are not given out again.
    out.end = expected.unwrap_or_default().max(written_end);
    // A checkpoint in a file that is gone: the oldest file there is.
    if out
        .checkpoint
        .as_ref()
        .is_some_and(|c| out.files.iter().all(|f| f.name != *c))
    {
        out.checkpoint = out.files.first().map(|f| Arc::clone(&f.name));
    }
    Ok(out)
}

/// Adds a file to the chain of positions.
fn chain(
    name: &str,
    start: Start,
    size: u64,
    expected: &mut Option<LogPosition>,
) -> Result<LogFileInfo, LogError> {
    if let Some(expected) = *expected {
        let fits = if start.after_gap {
            start.first >= expected
        } else {
            start.first == expected
        };
        if !fits {
            return Err(LogError::Index(format!(
                "file '{name}' begins at log position {}, but the one before it ends at {expected}",
                start.first
            )));
        }
    }
    *expected = Some(start.first.plus(size));
    Ok(LogFileInfo {
        name: name.into(),
        first: start.first,
        size,
    })
}

/// A file that is not in the index was being created when the server went down. It has no transactions,
/// so that it can go; one that has some is not ours to remove.
fn remove_unfinished(index: &Index<'_>, names: &[String]) -> Result<(), LogError> {
    for name in index.list()? {
        if file_number(index.basename, &name).is_none() || names.contains(&name) {
            continue;
        }
        let file = index.fs.open(&name).map_err(LogError::io("open", &name))?;
        if has_transactions(&file, &name)? {
            return Err(LogError::Index(format!(
                "file '{name}' holds transactions but is not in the index"
            )));
        }
        tracing::info!(file = %name, "removing a log file that was not completed");
        index.remove_if_there(&name)?;
    }
    index
        .fs
        .sync_dir()
        .map_err(LogError::io("fsync", "directory"))
}

fn has_transactions(file: &Arc<dyn LogFile>, name: &str) -> Result<bool, LogError> {
    let size = file.len().map_err(LogError::io("stat", name))?;
    let mut source = match EventSource::open(Arc::clone(file), size) {
        Ok(source) => source,
        Err(SourceError::Bad(..)) => return Ok(false),
        Err(SourceError::Io(e)) => return Err(LogError::io("read", name)(e)),
    };
    let mut groups = GroupTracker::new();
    loop {
        let raw = match source.next(size) {
            Ok(Some(raw)) => raw,
            Ok(None) | Err(SourceError::Bad(..)) => return Ok(false),
            Err(SourceError::Io(e)) => return Err(LogError::io("read", name)(e)),
        };
        match groups.step(&raw, source.format()) {
            Ok(GroupStep::Outside) => {}
            _ => return Ok(true),
        }
    }
}

fn read_start(file: &Arc<dyn LogFile>, name: &str, size: u64) -> Result<Start, LogError> {
    let mut source =
        EventSource::open(Arc::clone(file), size).map_err(|e| source_error(e, name))?;
    let offset = source.offset();
    let raw = source.next(size).map_err(|e| source_error(e, name))?;
    raw.as_ref()
        .and_then(|raw| start_of(raw, source.format()))
        .ok_or_else(|| LogError::Corrupt {
            file: name.to_owned(),
            offset,
            reason: "no Start event; the file was not written by Selkie".to_owned(),
        })
}

fn start_of(raw: &Bytes, format: &FormatDescription) -> Option<Start> {
    match Event::decode(raw, format).ok()?.body {
        EventBody::Selkie(SelkieEvent {
            kind: SelkieKind::Start { first, after_gap },
            ..
        }) => Some(Start { first, after_gap }),
        _ => None,
    }
}

pub(super) fn source_error(error: SourceError, name: &str) -> LogError {
    match error {
        SourceError::Io(e) => LogError::io("read", name)(e),
        SourceError::Bad(offset, e) => LogError::Corrupt {
            file: name.to_owned(),
            offset,
            reason: e.to_string(),
        },
    }
}

fn scan_file(file: &Arc<dyn LogFile>, name: &str) -> Result<Scan, LogError> {
    let size = file.len().map_err(LogError::io("stat", name))?;
    let start = read_start(file, name, size)?;
    let mut flags = [0; 2];
    read_full_at(&**file, &mut flags, IN_USE_AT).map_err(LogError::io("read", name))?;
    let in_use = u16::from_le_bytes(flags) & event_flags::BINLOG_IN_USE != 0;
    let mut source =
        EventSource::open(Arc::clone(file), size).map_err(|e| source_error(e, name))?;
    let mut groups = GroupTracker::new();
    let mut scan = Scan {
        start,
        end: source.offset(),
        size,
        ended: false,
        in_use,
        state: BinlogState::new(),
        checkpoint: None,
        damage: None,
    };
    let mut gtid = None;
    loop {
        let offset = source.offset();
        let step = source.next(size).map(|raw| match raw {
            None => Ok(None),
            Some(raw) => check_event(&raw, source.offset(), source.format(), &mut groups)
                .map(|step| Some((raw, step))),
        });
        let (raw, step) = match step {
            Ok(Ok(Some(found))) => found,
            Ok(Ok(None)) => break,
            Err(SourceError::Io(e)) => return Err(LogError::io("read", name)(e)),
            Ok(Err(e)) | Err(SourceError::Bad(_, e)) => {
                scan.damage = Some(judge(
                    file,
                    name,
                    &scan,
                    offset,
                    source.format().checksum,
                    &e,
                )?);
                break;
            }
        };
        match step {
            GroupStep::Outside => {
                let last = note_outside(&raw, source.format(), &mut scan);
                if last == Some(Outside::Filler) {
                    break;
                }
                scan.ended = last == Some(Outside::End);
                scan.end = source.offset();
            }
            GroupStep::Begin(event) => gtid = Some(event.gtid),
            GroupStep::Inside => {}
            GroupStep::End => {
                if let Some(gtid) = gtid.take() {
                    scan.state.update(gtid);
                }
                scan.ended = false;
                scan.end = source.offset();
            }
        }
    }
    Ok(scan)
}

/// Checks what the checksum does not: that the event stands where it was written, and fits the groups.
fn check_event(
    raw: &Bytes,
    end: u64,
    format: &FormatDescription,
    groups: &mut GroupTracker,
) -> Result<GroupStep, DecodeError> {
    let header = EventHeader::decode(raw)?;
    if u64::from(header.end_log_pos) != end {
        return Err(DecodeError::Malformed {
            what: "end_log_pos",
        });
    }
    groups.step(raw, format)
}

#[derive(PartialEq, Eq)]
enum Outside {
    End,
    Filler,
}

fn note_outside(raw: &Bytes, format: &FormatDescription, scan: &mut Scan) -> Option<Outside> {
    match Event::decode(raw, format).ok()?.body {
        EventBody::GtidList(list) => scan.state = BinlogState::from_gtids(list.gtids),
        EventBody::BinlogCheckpoint(c) => scan.checkpoint = Some(c.file),
        EventBody::Rotate(_) | EventBody::Stop => return Some(Outside::End),
        EventBody::Selkie(SelkieEvent {
            kind: SelkieKind::Filler,
            ..
        }) => return Some(Outside::Filler),
        _ => {}
    }
    None
}

/// Decides what bad bytes at `offset` are.
fn judge(
    file: &Arc<dyn LogFile>,
    name: &str,
    scan: &Scan,
    offset: u64,
    checksum: ChecksumAlg,
    error: &DecodeError,
) -> Result<Damage, LogError> {
    let synced = if scan.in_use {
        durable_mark_behind(file, offset, scan, checksum).map_err(LogError::io("read", name))?
    } else {
        true
    };
    Ok(Damage {
        offset,
        reason: error.to_string(),
        certain: synced,
    })
}

/// Whether some mark behind `offset` says that the log was durable beyond it.
fn durable_mark_behind(
    file: &Arc<dyn LogFile>,
    offset: u64,
    scan: &Scan,
    checksum: ChecksumAlg,
) -> io::Result<bool> {
    const CHUNK: usize = 1 << 20;
    let mark_len = HEADER_LEN + 13 + checksum.len();
    let mut at = offset;
    let mut chunk = Vec::new();
    while at < scan.size {
        chunk.resize(CHUNK + mark_len, 0);
        let n = read_full_at(&**file, &mut chunk, at)?;
        chunk.truncate(n);
        let Some(windows) = n.checked_sub(mark_len) else {
            break;
        };
        for i in 0..=windows.min(CHUNK - 1) {
            if chunk[i + HEADER_LEN..].starts_with(b"SLK\x05") {
                let raw = &chunk[i..i + mark_len];
                let end = at + (i + mark_len) as u64;
                if durable_mark(raw, end, checksum)
                    .is_some_and(|p| p > scan.start.first.plus(offset))
                {
                    return Ok(true);
                }
            }
        }
        at += CHUNK as u64;
    }
    Ok(false)
}

fn durable_mark(raw: &[u8], end: u64, checksum: ChecksumAlg) -> Option<LogPosition> {
    let header = EventHeader::decode(raw).ok()?;
    let plausible = header.event_type == EventType::SELKIE
        && header.event_length as usize == raw.len()
        && u64::from(header.end_log_pos) == end;
    if !plausible || check_checksum(raw, checksum).is_err() {
        return None;
    }
    let format = FormatDescription::new("", 0, checksum);
    match Event::decode(&Bytes::copy_from_slice(raw), &format)
        .ok()?
        .body
    {
        EventBody::Selkie(SelkieEvent {
            kind: SelkieKind::Durable(p),
            ..
        }) => Some(p),
        _ => None,
    }
}

/// Cuts a file behind its last whole group, if there is anything behind it.
fn cut(
    fs: &dyn LogFs,
    file: &Arc<dyn LogFile>,
    name: &str,
    scan: &Scan,
) -> Result<Option<Cut>, LogError> {
    if scan.end >= scan.size {
        return Ok(None);
    }
    let torn = tail_len(file, scan).map_err(LogError::io("read", name))?;
    let mut cut = None;
    if torn > 0 {
        let reason = match &scan.damage {
            Some(d) => format!("offset {}: {}", d.offset, d.reason),
            None => "the last transaction is incomplete".to_owned(),
        };
        let saved_as = save_tail(fs, file, name, scan.end, torn);
        tracing::warn!(file = %name, offset = scan.end, bytes = torn, %reason, ?saved_as, "cut off the log's torn tail");
        cut = Some(Cut {
            file: name.to_owned(),
            offset: scan.end,
            bytes: torn,
            saved_as,
            reason,
        });
    }
    file.truncate(scan.end)
        .map_err(LogError::io("truncate", name))?;
    file.sync_all().map_err(LogError::io("fsync", name))?;
    Ok(cut)
}

/// Bytes behind the last whole group, without trailing zeros and without a filler event.
fn tail_len(file: &Arc<dyn LogFile>, scan: &Scan) -> io::Result<u64> {
    const CHUNK: u64 = 1 << 20;
    let mut at = scan.end;
    let mut last = scan.end;
    let mut chunk = vec![0; CHUNK as usize];
    while at < scan.size {
        let want = CHUNK.min(scan.size - at) as usize;
        let n = read_full_at(&**file, &mut chunk[..want], at)?;
        if n == 0 {
            break;
        }
        if at == scan.end && is_filler(&chunk[..n]) {
            let head = HEADER_LEN + 9;
            chunk[..head.min(n)].fill(0);
        }
        if let Some(i) = chunk[..n].iter().rposition(|b| *b != 0) {
            last = at + i as u64 + 1;
        }
        at += n as u64;
    }
    Ok(last - scan.end)
}

fn is_filler(bytes: &[u8]) -> bool {
    bytes.get(4) == Some(&EventType::SELKIE.0)
        && bytes.get(HEADER_LEN..HEADER_LEN + 4) == Some(b"SLK\x04")
}

/// Keeps the tail aside. That this fails does not keep the server from starting.
fn save_tail(
    fs: &dyn LogFs,
    file: &Arc<dyn LogFile>,
    name: &str,
    offset: u64,
    bytes: u64,
) -> Option<String> {
    let saved_as = format!("{name}.torn-{offset}");
    let copy = || -> io::Result<()> {
        match fs.remove(&saved_as) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let target = fs.create_new(&saved_as)?;
        let mut chunk = vec![0; 1 << 20];
        let mut done = 0;
        while done < bytes {
            let want = (bytes - done).min(chunk.len() as u64) as usize;
            let n = read_full_at(&**file, &mut chunk[..want], offset + done)?;
            if n == 0 {
                break;
            }
            target.write_at(&[&chunk[..n]], done)?;
            done += n as u64;
        }
        target.sync_all()
    };
    match copy() {
        Ok(()) => Some(saved_as),
        Err(error) => {
            tracing::warn!(%error, file = %saved_as, "could not keep the log's torn tail");
            None
        }
    }
}

fn clear_in_use(file: &Arc<dyn LogFile>, name: &str) -> Result<(), LogError> {
    file.sync_all().map_err(LogError::io("fsync", name))?;
    file.write_at(&[&[0, 0]], IN_USE_AT)
        .map_err(LogError::io("write", name))?;
    file.sync_all().map_err(LogError::io("fsync", name))
}

/// Takes the files behind a damaged one out of the log (forced recovery only): they keep their bytes
/// under another name. Gives the position behind them as far as they tell it.
fn drop_following(
    index: &Index<'_>,
    out: &Recovered,
    names: &[String],
) -> Result<LogPosition, LogError> {
    let mut end = LogPosition::ZERO;
    index.write(out.files.iter().map(|f| &*f.name))?;
    for name in names {
        let aside = format!("{name}.cut");
        let file = index.fs.open(name).map_err(LogError::io("open", name))?;
        let size = file.len().map_err(LogError::io("stat", name))?;
        if let Ok(start) = read_start(&file, name, size) {
            end = end.max(start.first.plus(size));
        }
        tracing::error!(file = %name, kept_as = %aside, "log file behind the damage is no longer part of the log");
        index
            .fs
            .rename(name, &aside)
            .map_err(LogError::io("rename", name))?;
    }
    index
        .fs
        .sync_dir()
        .map_err(LogError::io("fsync", "directory"))?;
    Ok(end)
}
