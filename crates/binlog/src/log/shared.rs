//! What writer, syncers and readers of the log share.
//!
//! One short mutex guards positions, the list of files and the active file's handle. `fdatasync` is
//! called outside of it.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::SharedName;
use crate::fs::{LogFile, LogFs};
use crate::{LogError, LogPosition};

/// One file of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFileInfo {
    /// Its name, without directory.
    pub name: SharedName,
    /// Position of its first byte.
    pub first: LogPosition,
    /// Bytes of events and head; space prepared behind the end does not count.
    pub size: u64,
}

impl LogFileInfo {
    /// Position behind its last event.
    pub fn end(&self) -> LogPosition {
        self.first.plus(self.size)
    }
}

pub(super) struct State {
    /// In order; the last one is active.
    pub(super) files: Vec<LogFileInfo>,
    pub(super) active: Arc<dyn LogFile>,
    /// All before it was written.
    pub(super) appended: LogPosition,
    /// All before it was synced (or is to be treated so).
    pub(super) durable: LogPosition,
    pub(super) poison: Option<String>,
    pub(super) closed: bool,
    waiting: u32,
}

pub(super) struct Shared {
    pub(super) fs: Arc<dyn LogFs>,
    pub(super) state: Mutex<State>,
    grown: Condvar,
}

impl Shared {
    pub(super) fn new(
        fs: Arc<dyn LogFs>,
        files: Vec<LogFileInfo>,
        active: Arc<dyn LogFile>,
        end: LogPosition,
    ) -> Shared {
        let state = State {
            files,
            active,
            appended: end,
            durable: end,
            poison: None,
            closed: false,
            waiting: 0,
        };
        Shared {
            fs,
            state: Mutex::new(state),
            grown: Condvar::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), LogError> {
        match &self.state.lock().poison {
            Some(reason) => Err(LogError::Poisoned(reason.clone())),
            None => Ok(()),
        }
    }

    /// Notes a failure after which nothing may be written, and gives the error back.
    pub(super) fn poison(&self, error: LogError) -> LogError {
        let mut state = self.state.lock();
        if state.poison.is_none() {
            tracing::error!(%error, "the log takes no more writes");
            state.poison = Some(error.to_string());
        }
        self.wake(&state);
        error
    }

    pub(super) fn wake(&self, state: &State) {
        if state.waiting > 0 {
            self.grown.notify_all();
        }
    }

    pub(super) fn advance_durable(&self, to: LogPosition) {
        let mut state = self.state.lock();
        if to > state.durable {
            state.durable = to;
            self.wake(&state);
        }
    }

    fn sync(&self) -> Result<LogPosition, LogError> {
        let (file, position) = {
            let state = self.state.lock();
            if let Some(reason) = &state.poison {
                return Err(LogError::Poisoned(reason.clone()));
            }
            (Arc::clone(&state.active), state.appended)
        };
        match file.sync_data() {
            Ok(()) => {
                self.advance_durable(position);
                Ok(position)
            }
            Err(e) => {
                let name = self
                    .state
                    .lock()
                    .files
                    .last()
                    .map(|f| f.name.to_string())
                    .unwrap_or_default();
                Err(self.poison(LogError::io("fdatasync", &name)(e)))
            }
        }
    }

    fn wait_past(
        &self,
        position: LogPosition,
        deadline: Option<Instant>,
    ) -> Result<LogPosition, LogError> {
        let mut state = self.state.lock();
        if state.durable > position {
            return Ok(state.durable);
        }
        if state.closed {
            return Err(LogError::Closed);
        }
        if let Some(reason) = &state.poison {
            return Err(LogError::Poisoned(reason.clone()));
        }
        state.waiting += 1;
        match deadline {
            Some(deadline) => {
                self.grown.wait_until(&mut state, deadline);
            }
            None => self.grown.wait(&mut state),
        }
        state.waiting -= 1;
        Ok(state.durable)
    }
}

/// Makes the log durable; used by any thread, also while another appends.
#[derive(Clone)]
pub struct LogSyncer {
    pub(super) shared: Arc<Shared>,
}

impl LogSyncer {
    /// Makes all durable that was appended before the call, with one `fdatasync`; gives the position up
    /// to which the log is durable now, and wakes those who wait for it.
    ///
    /// A failure is final: the log takes no more writes.
    pub fn sync(&self) -> Result<LogPosition, LogError> {
        self.shared.sync()
    }

    /// For `sync_binlog` other than 1: lets readers see all that was appended although it is not synced.
    pub fn publish_unsynced(&self) -> Result<LogPosition, LogError> {
        self.shared.check()?;
        let appended = self.shared.state.lock().appended;
        self.shared.advance_durable(appended);
        Ok(appended)
    }

    /// Up to where the log is durable.
    pub fn durable(&self) -> LogPosition {
        self.shared.state.lock().durable
    }
}

/// Watches the log grow, and knows its files.
#[derive(Clone)]
pub struct LogWatch {
    pub(super) shared: Arc<Shared>,
}

impl LogWatch {
    /// Up to where the log is durable.
    pub fn durable(&self) -> LogPosition {
        self.shared.state.lock().durable
    }

    /// Waits until the log is durable beyond a position. Returns early at the deadline and whenever
    /// [`LogWatch::wake_all`] is called; the result tells how far the log is then.
    ///
    /// Fails where there is nothing to wait for: the log was closed, or takes no more writes.
    pub fn wait_past(
        &self,
        position: LogPosition,
        deadline: Option<Instant>,
    ) -> Result<LogPosition, LogError> {
        self.shared.wait_past(position, deadline)
    }

    /// Wakes everybody who waits, for them to look at something else (a KILL).
    pub fn wake_all(&self) {
        let _state = self.shared.state.lock();
        self.shared.grown.notify_all();
    }

    /// The files, in order; the last one is active.
    pub fn files(&self) -> Vec<LogFileInfo> {
        self.shared.state.lock().files.clone()
    }

    /// File and offset of a position (`binlog.000001`, 4711).
    pub fn locate(&self, position: LogPosition) -> Result<(SharedName, u64), LogError> {
        let state = self.shared.state.lock();
        let file = locate(&state.files, position)?;
        Ok((
            Arc::clone(&state.files[file].name),
            position.0 - state.files[file].first.0,
        ))
    }

    /// Position of an offset in a file.
    pub fn position_of(&self, file: &str, offset: u64) -> Result<LogPosition, LogError> {
        let state = self.shared.state.lock();
        let info = state.files.iter().find(|f| &*f.name == file);
        Ok(info
            .ok_or_else(|| LogError::UnknownFile(file.to_owned()))?
            .first
            .plus(offset))
    }
}

/// The index of the file that holds a position: the last one that begins at or before it.
pub(super) fn locate(files: &[LogFileInfo], position: LogPosition) -> Result<usize, LogError> {
    let to = files.last().map_or(LogPosition::ZERO, LogFileInfo::end);
    let after = files.partition_point(|f| f.first <= position);
    match after.checked_sub(1) {
        Some(file) if position <= to => Ok(file),
        _ => {
            let from = files.first().map_or(0, |f| f.first.0);
            Err(LogError::NotInLog {
                position: position.0,
                from,
                to: to.0,
            })
        }
    }
}
