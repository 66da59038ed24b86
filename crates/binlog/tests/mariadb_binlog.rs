//! Files written here, read by the real `mariadb-binlog`. Skipped, loudly, where that is not installed.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use selkie_binlog::builder::{EventContext, GtidChoice};
use selkie_binlog::event::{
    ColumnMeta, QueryEvent, QueryStatus, RowsKind, StatusVar, TableMap, column_type, gtid_flags,
};
use selkie_binlog::fs::RealFs;
use selkie_binlog::{Log, LogOptions, TransactionEvents};

const NEXT: GtidChoice = GtidChoice::Next {
    domain_id: 0,
    server_id: 1,
};

/// Output of `mariadb-binlog --verify-binlog-checksum -vv`; `None` where there is no such program.
fn mariadb_binlog(file: &Path) -> Option<String> {
    let output = Command::new("mariadb-binlog")
        .args([
            "--no-defaults",
            "--verify-binlog-checksum",
            "--base64-output=DECODE-ROWS",
            "-vv",
        ])
        .arg(file)
        .output();
    match output {
        Err(e) => {
            eprintln!(
                "SKIPPED: mariadb-binlog could not be run ({e}); files were not verified by MariaDB's own reader"
            );
            None
        }
        Ok(o) => {
            let (out, err) = (
                String::from_utf8_lossy(&o.stdout).into_owned(),
                String::from_utf8_lossy(&o.stderr),
            );
            assert!(o.status.success() && !err.contains("ERROR"), "{err}\n{out}");
            Some(out)
        }
    }
}

fn context() -> EventContext {
    EventContext {
        timestamp: 1_700_000_000,
        ..EventContext::default()
    }
}

fn status() -> QueryStatus {
    QueryStatus::new()
        .with(StatusVar::Flags2(0))
        .with(StatusVar::SqlMode(0x5420_0000))
        .with(StatusVar::Catalog(Bytes::from_static(b"std")))
        .with(StatusVar::Charset {
            client: 45,
            connection: 45,
            server: 45,
        })
}

#[test]
fn reads_what_we_write() {
    let directory = tempfile::tempdir().unwrap();
    let fs = Arc::new(RealFs::new(directory.path()));
    let (mut log, _) = Log::open(fs, LogOptions::default()).unwrap();

    let mut ddl = TransactionEvents::new(context());
    ddl.dictionary(Bytes::from_static(b"dictionary bytes"));
    ddl.query(QueryEvent {
        database: "d".to_owned(),
        query: Bytes::from_static(b"create table t(a int)"),
        status: status(),
        ..QueryEvent::default()
    });

    let mut rows = TransactionEvents::new(EventContext {
        row_event_max_size: 60,
        ..context()
    });
    rows.annotate(b"insert into t values (1), (2), (3)");
    rows.table_map(&TableMap {
        table_id: 18,
        flags: 1,
        database: "d".to_owned(),
        table: "t".to_owned(),
        columns: vec![ColumnMeta {
            type_number: column_type::LONG,
            meta: 0,
        }],
        nullable: Bytes::from_static(&[1]),
        optional_metadata: Bytes::new(),
    });
    for value in 1..=5u32 {
        let image = |out: &mut Vec<u8>| -> Result<(), ()> {
            out.push(0xfe);
            out.extend(value.to_le_bytes());
            Ok(())
        };
        rows.row(RowsKind::Write, 18, 1, 0, image).unwrap();
    }
    rows.end_statement();
    rows.xid(5);

    let mut inner = TransactionEvents::new(context());
    inner.annotate(b"hidden");
    let mut local = TransactionEvents::new(context());
    local.local(inner);

    let mut group = [
        ddl.finish_ddl(NEXT),
        rows.finish(NEXT, gtid_flags::TRANSACTIONAL),
        local.finish_local(),
    ];
    log.append(&mut group).unwrap();
    log.syncer().sync().unwrap();

    // The active file, with prepared space behind its end.
    let file = directory.path().join("binlog.000001");
    assert!(std::fs::metadata(&file).unwrap().len() > log.file_position().1);
    if let Some(text) = mariadb_binlog(&file) {
        for part in [
            "GTID 0-1-1 cid=361 ddl",
            "GTID 0-1-2 cid=361 trans",
            "create table t(a int)",
            "#Q> insert into t",
            "@1=5",
            "Xid = 5",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(!text.contains("hidden"));
        assert!(text.contains("either in use or was not closed properly"));
    }
    log.rotate().unwrap();
    log.close().unwrap();
    for name in ["binlog.000001", "binlog.000002"] {
        if let Some(text) = mariadb_binlog(&directory.path().join(name)) {
            assert!(!text.contains("either in use"), "{text}");
        }
    }
}
