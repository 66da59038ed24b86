//! Measures append + sync of small groups on a real directory, with and without prepared space.
//!
//! `cargo run --release -p selkie-binlog --example commit_latency -- DIRECTORY`

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use selkie_binlog::builder::{EventContext, GtidChoice};
use selkie_binlog::event::{QueryEvent, gtid_flags};
use selkie_binlog::fs::RealFs;
use selkie_binlog::{Log, LogOptions, TransactionEvents};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args()
        .nth(1)
        .ok_or("usage: commit_latency DIRECTORY")?;
    for preallocate_bytes in [0, 256 << 10, 0, 256 << 10] {
        let place = tempfile::tempdir_in(&directory)?;
        let options = LogOptions {
            preallocate_bytes,
            ..LogOptions::default()
        };
        let (mut log, _) = Log::open(Arc::new(RealFs::new(place.path())), options)?;
        let syncer = log.syncer();
        let mut appends = Vec::new();
        let mut totals = Vec::new();
        for _ in 0..3000 {
            let mut events = TransactionEvents::new(EventContext::default());
            events.query(QueryEvent {
                query: Bytes::from(vec![b'x'; 250]),
                ..QueryEvent::default()
            });
            events.xid(1);
            let next = GtidChoice::Next {
                domain_id: 0,
                server_id: 1,
            };
            let mut group = [events.finish(next, gtid_flags::TRANSACTIONAL)];
            let start = Instant::now();
            log.append(&mut group)?;
            appends.push(start.elapsed());
            syncer.sync()?;
            totals.push(start.elapsed());
        }
        appends.sort();
        totals.sort();
        let at = |v: &[std::time::Duration], percent: usize| v[v.len() * percent / 100];
        println!(
            "prepared {preallocate_bytes:>7}: append median {:?}, append + sync median {:?}, 99 % {:?}, most {:?}",
            at(&appends, 50),
            at(&totals, 50),
            at(&totals, 99),
            totals[totals.len() - 1],
        );
    }
    Ok(())
}
