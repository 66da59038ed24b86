//! Tests of the log on a simulated directory.

use std::sync::Arc;

use bytes::Bytes;

use super::append::IN_USE_AT;
use super::*;
use crate::builder::{EventBuffer, EventContext, GtidChoice, TransactionEvents};
use crate::event::{QueryEvent, gtid_flags};
use crate::fs::{Fault, SimFs};
use crate::{Gtid, LogError};

const NEXT: GtidChoice = GtidChoice::Next {
    domain_id: 0,
    server_id: 1,
};

fn options() -> LogOptions {
    LogOptions {
        now: || 1_700_000_000,
        ..LogOptions::default()
    }
}

fn open(fs: &SimFs) -> Result<(Log, Recovered), LogError> {
    Log::open(Arc::new(fs.clone()), options())
}

/// A transaction of one statement with a recognisable text.
fn transaction(text: &str) -> EventBuffer {
    let mut events = TransactionEvents::new(EventContext {
        timestamp: 1_700_000_000,
        ..EventContext::default()
    });
    events.query(QueryEvent {
        query: Bytes::copy_from_slice(text.as_bytes()),
        ..QueryEvent::default()
    });
    events.xid(7);
    events.finish(NEXT, gtid_flags::TRANSACTIONAL)
}

fn ddl(text: &str, change: &[u8]) -> EventBuffer {
    let mut events = TransactionEvents::new(EventContext::default());
    events.dictionary(Bytes::copy_from_slice(change));
    events.query(QueryEvent {
        query: Bytes::copy_from_slice(text.as_bytes()),
        ..QueryEvent::default()
    });
    events.finish_ddl(NEXT)
}

fn append_synced(log: &mut Log, texts: &[&str]) -> LogPosition {
    let mut group: Vec<EventBuffer> = texts.iter().map(|t| transaction(t)).collect();
    let end = log.append(&mut group).unwrap();
    assert_eq!(log.syncer().sync().unwrap(), end);
    end
}

/// Texts of all transactions from a position on.
fn texts(log: &Log, from: LogPosition) -> Vec<String> {
    log.transactions_from(from)
        .unwrap()
        .map(|t| text_of(&t.unwrap()))
        .collect()
}

fn text_of(t: &LoggedTransaction) -> String {
    use crate::event::EventBody;
    let queries = t.events().filter_map(|e| match e.unwrap().body {
        EventBody::Query(q) => Some(String::from_utf8(q.query.to_vec()).unwrap()),
        _ => None,
    });
    queries.collect::<Vec<_>>().join("|")
}

#[test]
fn append_read_close_reopen() {
    let fs = SimFs::new();
    let (mut log, recovered) = open(&fs).unwrap();
    assert!(recovered.clean && recovered.files.is_empty());
    let begin = log.end();
    let first = append_synced(&mut log, &["a"]);
    let second = append_synced(&mut log, &["b", "c"]);
    assert_eq!(texts(&log, begin), ["a", "b", "c"]);
    assert_eq!(texts(&log, first), ["b", "c"]);
    assert_eq!(texts(&log, second), [""; 0]);
    assert_eq!(log.state().to_string(), "0-1-3");
    log.close().unwrap();

    let (mut log, recovered) = open(&fs).unwrap();
    assert!(recovered.clean);
    assert_eq!(recovered.cut, None);
    assert_eq!(log.file_position().0, "binlog.000002");
    append_synced(&mut log, &["d"]);
    assert_eq!(texts(&log, first), ["b", "c", "d"]);
    assert_eq!(log.state().to_string(), "0-1-4");
    assert_eq!(log.files()[1].first, recovered.end);
}

#[test]
fn positions_and_gtids_of_a_group() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let mut group = [transaction("a"), transaction("b")];
    let begin = log.end();
    let end = log.append(&mut group).unwrap();
    assert_eq!(group[0].begin(), begin);
    assert_eq!(group[0].end(), group[1].begin());
    assert_eq!(group[1].end(), end);
    assert_eq!(group.map(|b| b.gtid().unwrap().seq_no), [1, 2]);
    log.syncer().sync().unwrap();
    let read: Vec<_> = log
        .transactions_from(begin)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read[0].end, read[1].begin);
    assert_eq!(read[1].end, end);
    let ids: Vec<_> = read
        .iter()
        .map(|t| t.gtid.as_ref().unwrap().commit_id)
        .collect();
    assert_eq!(ids[0], ids[1]);
    assert!(ids[0].is_some());
}

#[test]
fn one_write_and_one_sync_for_a_group() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let (writes, syncs) = (fs.writes(), fs.data_syncs());
    append_synced(&mut log, &["a", "b", "c", "d"]);
    assert_eq!((fs.writes() - writes, fs.data_syncs() - syncs), (1, 1));
}

#[test]
fn dictionary_records_and_local_groups() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let begin = log.end();
    let mut inner = TransactionEvents::new(EventContext::default());
    inner.annotate(b"insert");
    let mut local = TransactionEvents::new(EventContext::default());
    local.local(inner);
    local.dictionary(Bytes::from_static(b"local change"));
    let mut group = [
        ddl("create table t(a int)", b"change"),
        local.finish_local(),
        transaction("a"),
    ];
    log.append(&mut group).unwrap();
    log.syncer().sync().unwrap();
    let read: Vec<_> = log
        .transactions_from(begin)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read.len(), 3);
    assert_eq!(
        read[0].dictionary_records().unwrap(),
        [Bytes::from_static(b"change")]
    );
    assert_eq!(
        read[1].dictionary_records().unwrap(),
        [Bytes::from_static(b"local change")]
    );
    assert_eq!(
        read.iter().map(LoggedTransaction::id).collect::<Vec<_>>(),
        [Some(Gtid::new(0, 1, 1)), None, Some(Gtid::new(0, 1, 2))]
    );
    let inside: Vec<_> = read[1]
        .replay_events()
        .map(|e| e.unwrap().body.event_type())
        .collect();
    assert_eq!(
        inside,
        [crate::EventType::ANNOTATE_ROWS, crate::EventType::SELKIE]
    );
    let after: Vec<_> = fs_crash_all(&fs)
        .transactions_from(begin)
        .unwrap()
        .map(|t| t.unwrap().end)
        .collect();
    assert_eq!(after, read.iter().map(|t| t.end).collect::<Vec<_>>());
}

fn fs_crash_all(fs: &SimFs) -> Log {
    open(&fs.crash(|_| true)).unwrap().0
}

#[test]
fn rotation_by_size_keeps_positions() {
    let fs = SimFs::new();
    let mut o = options();
    o.max_binlog_size = 4096;
    let (mut log, _) = Log::open(Arc::new(fs.clone()), o).unwrap();
    let begin = log.end();
    let names: Vec<String> = (0..100).map(|i| format!("insert {i}")).collect();
    let mut ends = Vec::new();
    for n in &names {
        ends.push(append_synced(&mut log, &[n]));
    }
    assert!(log.files().len() > 3);
    assert_eq!(texts(&log, begin), names);
    assert_eq!(texts(&log, ends[49]), names[50..]);
    for files in log.files().windows(2) {
        assert_eq!(files[0].end(), files[1].first);
    }
    let (file, offset) = log.watch().locate(ends[70]).unwrap();
    assert_eq!(log.watch().position_of(&file, offset).unwrap(), ends[70]);
    drop(log);
    let log = fs_crash_all(&fs);
    assert_eq!(texts(&log, begin), names);
    assert_eq!(log.state().next_seq_no(0), 101);
}

#[test]
fn purge_stops_at_the_checkpoint() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let begin = log.end();
    let mut ends = Vec::new();
    for i in 0..4 {
        ends.push(append_synced(&mut log, &[&format!("{i}")]));
        log.rotate().unwrap();
    }
    assert!(log.purge_to("binlog.000005", |_| false).unwrap().is_empty());
    log.note_checkpoint(ends[2]).unwrap();
    assert!(log.purge_to("binlog.000009", |_| false).is_err());
    let gone = log
        .purge_to("binlog.000005", |f| &*f.name == "binlog.000002")
        .unwrap();
    assert_eq!(
        gone.iter().map(|f| &*f.name).collect::<Vec<_>>(),
        ["binlog.000001"]
    );
    let gone = log.purge_to("binlog.000005", |_| false).unwrap();
    assert_eq!(gone.len(), 1);
    assert_eq!(fs.contents("binlog.000002"), None);
    assert!(matches!(
        log.transactions_from(begin),
        Err(LogError::NotInLog { .. })
    ));
    assert_eq!(texts(&log, ends[2]), ["3"]);
    let (log, recovered) = open(&fs.crash(|_| true)).unwrap();
    assert_eq!(recovered.files.len(), 3);
    assert_eq!(log.state().to_string(), "0-1-4");
}

#[test]
fn reset_keeps_counting() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    append_synced(&mut log, &["a"]);
    log.rotate().unwrap();
    let end = append_synced(&mut log, &["b"]);
    log.reset().unwrap();
    assert_eq!(log.file_position().0, "binlog.000001");
    assert_eq!(log.state().to_string(), "");
    assert!(log.files().len() == 1 && log.files()[0].first >= end);
    let begin = log.end();
    append_synced(&mut log, &["c"]);
    assert_eq!(texts(&log, begin), ["c"]);
    drop(log);
    let log = fs_crash_all(&fs);
    assert_eq!(texts(&log, begin), ["c"]);
    assert_eq!(log.state().to_string(), "0-1-1");
}

#[test]
fn poisoned_after_a_failed_sync_or_write() {
    for fault in [Fault::Error, Fault::ShortWrite(50)] {
        let fs = SimFs::new();
        let (mut log, _) = open(&fs).unwrap();
        append_synced(&mut log, &["a"]);
        fs.fail_at(1, fault);
        assert!(matches!(
            log.append(&mut [transaction("b")]),
            Err(LogError::Io {
                operation: "write",
                ..
            })
        ));
        assert_eq!(log.state().to_string(), "0-1-1");
        assert!(matches!(
            log.append(&mut [transaction("c")]),
            Err(LogError::Poisoned(_))
        ));
        assert!(matches!(log.syncer().sync(), Err(LogError::Poisoned(_))));
    }
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    log.append(&mut [transaction("a")]).unwrap();
    fs.fail_at(1, Fault::Error);
    let syncs = fs.data_syncs();
    assert!(matches!(
        log.syncer().sync(),
        Err(LogError::Io {
            operation: "fdatasync",
            ..
        })
    ));
    assert!(matches!(log.syncer().sync(), Err(LogError::Poisoned(_))));
    assert_eq!(fs.data_syncs(), syncs + 1);
}

#[test]
fn a_full_disk_is_survived() {
    for written in [0, 10, 1000] {
        let fs = SimFs::new();
        let (mut log, _) = open(&fs).unwrap();
        let begin = log.end();
        append_synced(&mut log, &["a"]);
        fs.fail_at(1, Fault::Full(written));
        let mut group = [transaction("b"), transaction("c")];
        assert!(matches!(log.append(&mut group), Err(LogError::Full { .. })));
        assert_eq!(log.state().to_string(), "0-1-1");
        append_synced(&mut log, &["d"]);
        assert_eq!(texts(&log, begin), ["a", "d"]);
        drop(log);
        let log = fs_crash_all(&fs);
        assert_eq!(texts(&log, begin), ["a", "d"]);
        assert_eq!(log.state().to_string(), "0-1-2");
    }
}

/// Freezes at each operation in turn; whatever reached the disk, all that was acknowledged is there,
/// and what is there is a prefix of what was tried.
#[test]
fn crash_at_every_operation() {
    let names: Vec<String> = (0..24).map(|i| format!("statement number {i}")).collect();
    let run = |fs: &SimFs| -> usize {
        let mut o = options();
        o.max_binlog_size = 4096;
        o.preallocate_bytes = 1000;
        let mut acknowledged = 0;
        let Ok((mut log, _)) = Log::open(Arc::new(fs.clone()), o) else {
            return 0;
        };
        for pair in names.chunks(2) {
            let mut group: Vec<_> = pair.iter().map(|t| transaction(t)).collect();
            if log.append(&mut group).is_err() || log.syncer().sync().is_err() {
                return acknowledged;
            }
            acknowledged += 2;
        }
        let _ = log.close();
        acknowledged
    };
    let clean = SimFs::new();
    assert_eq!(run(&clean), names.len());
    for n in 1..=clean.operations() {
        let fs = SimFs::new();
        fs.fail_at(n, Fault::Freeze);
        let acknowledged = run(&fs);
        for seed in 0..6u64 {
            let disk = fs.crash(|sector| match seed {
                0 => false,
                1 => true,
                _ => (sector.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (20 + seed)) & 1 == 1,
            });
            let (log, recovered) =
                open(&disk).unwrap_or_else(|e| panic!("operation {n}, seed {seed}: {e}"));
            let from = recovered
                .files
                .first()
                .map_or(LogPosition::ZERO, |f| f.first);
            let found = texts(&log, from);
            assert!(
                found.len() >= acknowledged,
                "operation {n}, seed {seed}: {} < {acknowledged}",
                found.len()
            );
            assert_eq!(found, names[..found.len()], "operation {n}, seed {seed}");
            assert_eq!(log.state().next_seq_no(0), found.len() as u64 + 1);
        }
    }
}

/// Purge and RESET MASTER, frozen at each operation: the log opens, positions never go back, and it
/// holds what it held before or what it is to hold after.
#[test]
fn crash_in_purge_and_reset() {
    let run = |fs: &SimFs, reset: bool, fault: Option<u64>| {
        let (mut log, _) = open(fs).unwrap();
        let mut ends = Vec::new();
        for text in ["a", "b", "c"] {
            ends.push(append_synced(&mut log, &[text]));
            log.rotate().unwrap();
        }
        append_synced(&mut log, &["d"]);
        log.note_checkpoint(ends[2]).unwrap();
        let (end, before) = (log.end(), fs.operations());
        if let Some(n) = fault {
            fs.fail_at(n, Fault::Freeze);
        }
        let result = if reset {
            log.reset()
        } else {
            log.purge_to("binlog.000003", |_| false).map(drop)
        };
        (end, result.is_ok(), fs.operations() - before)
    };
    for reset in [false, true] {
        let operations = run(&SimFs::new(), reset, None).2;
        assert!(operations > 5);
        for n in 1..=operations {
            for keep in [0, u64::MAX, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa] {
                let fs = SimFs::new();
                let (end, done, _) = run(&fs, reset, Some(n));
                let disk = fs.crash(|i| keep >> (i % 64) & 1 == 1);
                let (log, recovered) =
                    open(&disk).unwrap_or_else(|e| panic!("operation {n}, keep {keep:x}: {e}"));
                let found = texts(&log, recovered.files[0].first);
                let after: &[&str] = if reset { &[] } else { &["c", "d"] };
                assert!(
                    found == after || !done && found == ["a", "b", "c", "d"],
                    "{n} {keep:x}: {found:?}"
                );
                assert!(log.end() > end);
                let next = if found.is_empty() { 1 } else { 5 };
                assert_eq!(log.state().next_seq_no(0), next);
                // Nothing is left behind that is not in the index.
                let mut listed: Vec<String> =
                    log.files().iter().map(|f| f.name.to_string()).collect();
                listed.push("binlog.index".to_owned());
                listed.sort();
                let mut there = crate::fs::LogFs::list(&disk).unwrap();
                there.sort();
                assert_eq!(there, listed, "operation {n}, keep {keep:x}");
            }
        }
    }
}

/// A machine that crashes again while it recovers.
#[test]
fn crash_in_recovery() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    append_synced(&mut log, &["a"]);
    log.append(&mut [transaction("b")]).unwrap();
    let torn = |keep: bool| {
        let disk = fs.crash(|sector| keep || sector % 2 == 0);
        let mut contents = disk.contents("binlog.000001").unwrap();
        let at = log.file_position().1 as usize - 20;
        contents[at] ^= 1;
        disk.set_contents("binlog.000001", contents);
        disk
    };
    let disk = torn(true);
    open(&disk).unwrap();
    for n in 1..=disk.operations() {
        let disk = torn(true);
        disk.fail_at(n, Fault::Freeze);
        let _ = open(&disk);
        for keep in [false, true] {
            let (log, recovered) = open(&disk.crash(|_| keep)).unwrap();
            assert_eq!(texts(&log, recovered.files[0].first), ["a"]);
        }
    }
}

/// Cuts, flips and zeroes the last transaction at every byte: it is gone, the others are there.
#[test]
fn torn_tail_at_every_byte() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    append_synced(&mut log, &["a", "b"]);
    let intact = log.file_position().1 as usize;
    append_synced(&mut log, &["c"]);
    let end = log.file_position().1 as usize;
    let whole = fs.contents("binlog.000001").unwrap();
    let damaged = |contents: Vec<u8>| {
        let disk = fs.crash(|_| true);
        disk.set_contents("binlog.000001", contents);
        let (log, recovered) = open(&disk).unwrap();
        assert_eq!(texts(&log, recovered.files[0].first), ["a", "b"]);
        assert_eq!(recovered.end, recovered.files[0].first.plus(intact as u64));
        assert_eq!(disk.contents("binlog.000001").unwrap().len(), intact);
        (recovered, disk)
    };
    for at in intact..end {
        let (recovered, disk) = damaged(whole[..at].to_vec());
        match recovered.cut {
            None => assert!(whole[intact..at].iter().all(|b| *b == 0)),
            Some(cut) => {
                assert_eq!(cut.offset, intact as u64);
                // Trailing zeros do not count.
                let kept = disk.contents(&cut.saved_as.unwrap()).unwrap();
                assert!(
                    whole[intact..at].starts_with(&kept)
                        && whole[intact + kept.len()..at].iter().all(|b| *b == 0)
                );
            }
        }
        for flip in [0x01, 0x80] {
            let mut bad = whole.clone();
            bad[at] ^= flip;
            damaged(bad);
        }
        let mut zeroed = whole.clone();
        zeroed[at..].fill(0);
        if whole[at..end].iter().any(|b| *b != 0) {
            damaged(zeroed);
        }
    }
}

/// Damage before what is known to be synced is refused; with the option, cut off.
#[test]
fn corrupt_middle_is_refused() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let big = "x".repeat(30_000);
    append_synced(&mut log, &["first"]);
    let at = log.file_position().1 as usize + 1000;
    for _ in 0..6 {
        append_synced(&mut log, &[&big]);
    }
    let end = log.end();
    let disk = fs.crash(|_| true);
    let mut contents = disk.contents("binlog.000001").unwrap();
    contents[at] ^= 4;
    disk.set_contents("binlog.000001", contents);
    match open(&disk) {
        Err(LogError::Corrupt { file, offset, .. }) => {
            assert_eq!(file, "binlog.000001");
            assert!(offset < at as u64);
        }
        other => panic!("{:?}", other.map(|(_, r)| r)),
    }
    let forced = LogOptions {
        recovery: LogRecovery::Truncate,
        ..options()
    };
    let (mut log, recovered) = Log::open(Arc::new(disk.clone()), forced).unwrap();
    assert_eq!(texts(&log, recovered.files[0].first), ["first"]);
    assert!(
        log.files()[1].first >= end,
        "positions are not given out twice"
    );
    append_synced(&mut log, &["later"]);
    assert_eq!(texts(&log, recovered.files[0].first), ["first", "later"]);
    drop(log);
    assert_eq!(
        texts(&fs_crash_all(&disk), recovered.files[0].first),
        ["first", "later"]
    );
}

#[test]
fn corrupt_closed_file_is_refused() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    append_synced(&mut log, &["first"]);
    log.rotate().unwrap();
    append_synced(&mut log, &["second"]);
    log.close().unwrap();
    for name in ["binlog.000001", "binlog.000002"] {
        let disk = fs.crash(|_| true);
        let mut contents = disk.contents(name).unwrap();
        let at = contents.len() - 80;
        contents[at] ^= 4;
        disk.set_contents(name, contents);
        let found = open(&disk).and_then(|(log, r)| {
            log.transactions_from(r.files[0].first)?
                .collect::<Result<Vec<_>, _>>()
        });
        assert!(
            matches!(found, Err(LogError::Corrupt { .. })),
            "{name}: {found:?}"
        );
        let forced = LogOptions {
            recovery: LogRecovery::Truncate,
            ..options()
        };
        let (log, r) = Log::open(Arc::new(disk), forced).unwrap();
        let expected: &[&str] = if name == "binlog.000001" {
            &[]
        } else {
            &["first"]
        };
        assert_eq!(texts(&log, r.files[0].first), expected);
    }
}

#[test]
fn followers_wait_for_durable() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let mut reader = log.transactions_from(log.end()).unwrap();
    log.append(&mut [transaction("a")]).unwrap();
    assert!(
        reader.next_transaction().unwrap().is_none(),
        "not durable yet"
    );
    let follower = std::thread::spawn(move || {
        let mut seen = Vec::new();
        loop {
            while let Some(t) = reader.next_transaction().unwrap() {
                seen.push(text_of(&t));
            }
            match reader.wait(None) {
                Ok(_) => {}
                Err(LogError::Closed) => return seen,
                Err(e) => panic!("{e}"),
            }
        }
    });
    log.syncer().sync().unwrap();
    append_synced(&mut log, &["b"]);
    log.rotate().unwrap();
    append_synced(&mut log, &["c"]);
    log.close().unwrap();
    assert_eq!(follower.join().unwrap(), ["a", "b", "c"]);
}

#[test]
fn checksums_can_be_switched() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let begin = log.end();
    append_synced(&mut log, &["a"]);
    let mut early = [transaction("b")];
    log.set_checksum(crate::event::ChecksumAlg::Off).unwrap();
    log.append(&mut early).unwrap();
    append_synced(&mut log, &["c"]);
    assert_eq!(texts(&log, begin), ["a", "b", "c"]);
    drop(log);
    assert_eq!(texts(&fs_crash_all(&fs), begin), ["a", "b", "c"]);
}

#[test]
fn files_tell_the_gtids_before_them() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    append_synced(&mut log, &["a", "b"]);
    log.rotate().unwrap();
    append_synced(&mut log, &["c"]);
    let watch = log.watch();
    let before = |file: &str| state_before(&watch, file).unwrap().to_string();
    assert_eq!(before("binlog.000001"), "");
    assert_eq!(before("binlog.000002"), "0-1-2");
    assert!(matches!(
        state_before(&watch, "binlog.000003"),
        Err(LogError::UnknownFile(_))
    ));
    let mut reader = EventReader::at_file(&watch, "binlog.000001", 4).unwrap();
    let mut types = Vec::new();
    while let Some(raw) = reader.next_event().unwrap() {
        types.push(raw.header().unwrap().event_type.name());
    }
    let head = [
        "Format_desc",
        "Ignorable log event",
        "Gtid_list",
        "Binlog_checkpoint",
    ];
    let transaction = ["Gtid", "Query", "Xid"];
    let expected = [
        &head[..],
        &transaction,
        &transaction,
        &["Rotate"],
        &head,
        &transaction,
    ]
    .concat();
    assert_eq!(types, expected);
}

#[test]
fn encrypted_files_are_refused() {
    use crate::event::{Event, EventBody, EventHeader, StartEncryption};
    let fs = SimFs::new();
    let (log, _) = open(&fs).unwrap();
    let at = log.file_position().1 as usize;
    let mut contents = fs.contents("binlog.000001").unwrap();
    let header = EventHeader::new(crate::EventType::START_ENCRYPTION, 0, 1, 0);
    let body = EventBody::StartEncryption(StartEncryption {
        scheme: 1,
        key_version: 1,
        nonce: [7; 12],
    });
    contents.truncate(at);
    Event { header, body }.encode(crate::event::ChecksumAlg::Crc32, &mut contents);
    contents[IN_USE_AT as usize] = 0;
    fs.set_contents("binlog.000001", contents);
    match open(&fs) {
        Err(LogError::Corrupt { reason, .. }) => assert!(reason.contains("encrypted"), "{reason}"),
        other => panic!("{:?}", other.map(|(_, r)| r)),
    }
}

#[test]
fn engines_ahead_of_the_log() {
    let fs = SimFs::new();
    let (mut log, _) = open(&fs).unwrap();
    let end = append_synced(&mut log, &["a"]);
    drop(log);
    let ahead = LogOptions {
        position_min: end.plus(10_000),
        ..options()
    };
    let (mut log, recovered) = Log::open(Arc::new(fs.clone()), ahead).unwrap();
    assert_eq!(recovered.end, end);
    assert!(append_synced(&mut log, &["b"]) > end.plus(10_000));
    assert_eq!(texts(&log, recovered.files[0].first), ["a", "b"]);
    drop(log);
    assert_eq!(
        texts(&fs_crash_all(&fs), recovered.files[0].first),
        ["a", "b"]
    );
}
