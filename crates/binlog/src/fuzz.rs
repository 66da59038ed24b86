//! The entry point of fuzzing.

use std::sync::Arc;

use bytes::Bytes;

use crate::event::{EventBody, FormatDescription};
use crate::fs::SimFs;
use crate::gtid::GtidList;
use crate::log::GroupTracker;
use crate::{Event, Log, LogOptions};

/// Reads arbitrary bytes in every way this crate can: as an event, as the events of a file, as a log
/// that is opened. Must never panic.
pub fn fuzz_read(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    for checksum in [
        crate::event::ChecksumAlg::Off,
        crate::event::ChecksumAlg::Crc32,
    ] {
        let format = FormatDescription::new("fuzz", 0, checksum);
        let _ = GroupTracker::new().step(&bytes, &format);
        if let Ok(event) = Event::decode(&bytes, &format) {
            let mut again = Vec::new();
            event.encode(checksum, &mut again);
            if let EventBody::TableMap(map) = &event.body {
                let _ = map.metadata();
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = text.parse::<GtidList>();
    }
    let fs = SimFs::new();
    fs.set_contents("binlog.index", b"./binlog.000001\n".to_vec());
    fs.set_contents("binlog.000001", data.to_vec());
    let Ok((log, recovered)) = Log::open(Arc::new(fs), LogOptions::default()) else {
        return;
    };
    let Some(first) = recovered.files.first() else {
        return;
    };
    let Ok(reader) = log.transactions_from(first.first) else {
        return;
    };
    for transaction in reader.map_while(Result::ok) {
        let _ = transaction.replay_events().count();
    }
}
