//! Places in the log as dump tools ask for them: BINLOG_GTID_POS() and the position of a consistent snapshot.
//!
//! It only reads the log.

use selkie_binlog::log::EventReader;
use selkie_binlog::{BinlogState, EventBody, LogError, LogPosition};
use selkie_types::Value;

use crate::host::Host;
use crate::instance::Instance;

/// File and offset of the open consistent snapshot; without one, of the end of the log.
pub fn snapshot_position(host: &Host) -> (String, u64) {
    host.instance.txns.pipeline.with_log(|l| {
        let log = l.log();
        let located = host.consistent_snapshot.and_then(|at| log.watch().locate(LogPosition(at)).ok());
        match located {
            Some((file, offset)) => (file.to_string(), offset),
            None => {
                let (file, offset) = log.file_position();
                (file.to_owned(), offset)
            }
        }
    })
}

/// BINLOG_GTID_POS(file, offset): the GTID position there; NULL where there is no such place.
pub fn binlog_gtid_pos(instance: &Instance, args: &[Value]) -> Value {
    let [file, offset] = args else { return Value::Null };
    let (Some(file), Some(offset)) = (text(file), text(offset)) else { return Value::Null };
    let Ok(offset) = offset.parse() else { return Value::Null };
    match position_at(instance, &file, offset) {
        Ok(state) => Value::text(&state.position().to_string()),
        Err(_) => Value::Null,
    }
}

fn text(v: &Value) -> Option<String> {
    match v {
        Value::Int(i) => Some(i.to_string()),
        Value::UInt(u) => Some(u.to_string()),
        Value::Bytes(b) => std::str::from_utf8(b).ok().map(str::to_owned),
        _ => None,
    }
}

fn position_at(instance: &Instance, file: &str, offset: u64) -> Result<BinlogState, LogError> {
    let watch = instance.txns.pipeline.with_log(|l| l.log().watch());
    let mut reader = EventReader::at_file(&watch, file, FIRST_EVENT)?;
    let mut state = BinlogState::new();
    while let Some(raw) = reader.next_event()? {
        if *raw.file != *file || raw.offset >= offset {
            break;
        }
        match raw.decode(reader.format())?.body {
            EventBody::GtidList(list) => state = BinlogState::from_gtids(list.gtids),
            EventBody::Gtid(g) => state.update(g.gtid),
            _ => {}
        }
    }
    Ok(state)
}

/// Where the first event of a file stands.
const FIRST_EVENT: u64 = 4;
