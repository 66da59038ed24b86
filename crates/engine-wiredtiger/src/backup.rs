//! Hot backup.

use std::path::PathBuf;

use selkie_engine::{Backup, BackupFile, EngineError, Result, Timestamp};

use crate::handle::{RawCursor, RawSession};
use crate::{Shared, sys};

/// A backup in progress: WiredTiger keeps the blocks of the last checkpoint as long as its backup cursor is open.
pub(crate) struct WiredTigerBackup {
    cursor: RawCursor,
    session: RawSession,
    timestamp: Timestamp,
    files: Vec<BackupFile>,
}

// SAFETY: the cursor moves together with its session.
unsafe impl Send for WiredTigerBackup {}

impl WiredTigerBackup {
    pub(crate) fn begin(shared: &Shared) -> Result<Self> {
        let session = shared.connection.open_session(c"")?;
        let cursor = session.open_cursor(c"backup:", None)?.ok_or(EngineError::Closed)?;
        let timestamp = shared.connection.query_timestamp(c"get=backup_checkpoint")?;
        let mut files = Vec::new();
        loop {
            match cursor.next() {
                0 => {
                    let name = PathBuf::from(cursor.text_key()?);
                    files.push(BackupFile { source: shared.directory.join(&name), name });
                }
                sys::WT_NOTFOUND => break,
                code => session.check(code)?,
            }
        }
        Ok(WiredTigerBackup { cursor, session, timestamp, files })
    }
}

impl Drop for WiredTigerBackup {
    fn drop(&mut self) {
        // SAFETY: the session is open, and nobody uses the cursor after this.
        let code = unsafe { self.cursor.close() };
        if let Err(error) = self.session.check(code) {
            tracing::warn!(%error, "ending a backup");
        }
    }
}

impl Backup for WiredTigerBackup {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    fn files(&self) -> &[BackupFile] {
        &self.files
    }
}
