//! The server's log behind the commit pipeline.

use selkie_binlog::{EventBuffer, Log, LogError, LogSyncer};
use selkie_engine::Timestamp;

use crate::error::TxnError;
use crate::pipeline::{AppendError, CommitLog};

/// The binlog as the pipeline uses it.
pub struct BinlogLog {
    log: Log,
    syncer: LogSyncer,
}

impl BinlogLog {
    /// Over an open log.
    pub fn new(log: Log) -> BinlogLog {
        let syncer = log.syncer();
        BinlogLog { log, syncer }
    }

    /// The log itself, between two groups.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
}

impl CommitLog for BinlogLog {
    type Events = EventBuffer;

    fn append(&mut self, group: &mut [&mut EventBuffer]) -> Result<Vec<Timestamp>, AppendError> {
        match self.log.append(group) {
            Ok(_) => Ok(group.iter().map(|b| b.end().0).collect()),
            Err(e @ LogError::TransactionTooLarge { .. }) => {
                Err(AppendError::Refused(TxnError::Log(e.to_string())))
            }
            Err(e) => Err(AppendError::Broken(e.to_string())),
        }
    }

    fn sync(&mut self) -> Result<(), String> {
        self.syncer.sync().map(|_| ()).map_err(|e| e.to_string())
    }

    fn leave_unsynced(&mut self) -> Result<(), String> {
        self.syncer.publish_unsynced().map(|_| ()).map_err(|e| e.to_string())
    }
}
