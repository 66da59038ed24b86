//! Removing files: PURGE BINARY LOGS and RESET MASTER.

use std::sync::Arc;

use super::append::{Head, Log, create_file, write_index};
use super::index::Index;
use super::shared::LogFileInfo;
use super::{SharedName, file_name};
use crate::{LogError, LogPosition};

impl Log {
    /// The files, in order; the last one is active.
    pub fn files(&self) -> Vec<LogFileInfo> {
        self.watch().files()
    }

    /// Removes the files before `name` (PURGE BINARY LOGS TO) as far as recovery does not need them
    /// ([`Log::note_checkpoint`]) and `in_use` does not object (dump threads). Files are removed from
    /// the oldest on and only up to the first one that is still needed. Gives those that were removed.
    pub fn purge_to(
        &mut self,
        name: &str,
        in_use: impl Fn(&LogFileInfo) -> bool,
    ) -> Result<Vec<LogFileInfo>, LogError> {
        let files = self.files();
        if !files.iter().any(|f| &*f.name == name) {
            return Err(LogError::UnknownFile(name.to_owned()));
        }
        let checkpoint = self.checkpoint_file();
        let count = files
            .iter()
            .take_while(|f| &*f.name != name && &*f.name != checkpoint && !in_use(f))
            .count();
        let (gone, kept) = files.split_at(count.min(files.len().saturating_sub(1)));
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let shared = Arc::clone(self.shared());
        let basename = self.options().basename.clone();
        let index = Index {
            fs: &*shared.fs,
            basename: &basename,
        };
        let names: Vec<&str> = gone.iter().map(|f| &*f.name).collect();
        index.purge(&names, || {
            write_index(&*shared.fs, &basename, kept)?;
            shared.state.lock().files.drain(..gone.len());
            Ok(())
        })?;
        Ok(gone.to_vec())
    }

    /// RESET MASTER: removes all files and GTIDs and begins with file 1 again. Positions go on.
    ///
    /// The caller has seen to it that all engines have a checkpoint of [`Log::end`], and that nobody reads.
    pub fn reset(&mut self) -> Result<(), LogError> {
        let shared = Arc::clone(self.shared());
        shared.check()?;
        self.reset_files().map_err(|e| shared.poison(e))
    }

    fn reset_files(&mut self) -> Result<(), LogError> {
        let shared = Arc::clone(self.shared());
        let options = self.options().clone();
        let index = Index {
            fs: &*shared.fs,
            basename: &options.basename,
        };
        let first: LogPosition = self.end();
        let name: SharedName = file_name(&options.basename, 1).into();
        self.clear_state();
        let prepared = format!("{}.tmp", index.reset_name());
        index.remove_if_there(&prepared)?;
        let head = Head {
            first,
            after_gap: false,
            created: 0,
            checkpoint: &name,
            state: self.state(),
        };
        let (file, head_len) = create_file(&*shared.fs, &options, &prepared, &head)?;
        let reset = index.reset_name();
        shared
            .fs
            .rename(&prepared, &reset)
            .map_err(LogError::io("rename", &reset))?;
        shared
            .fs
            .sync_dir()
            .map_err(LogError::io("fsync", "directory"))?;
        let files = vec![LogFileInfo {
            name: Arc::clone(&name),
            first,
            size: head_len,
        }];
        write_index(&*shared.fs, &options.basename, &files)?;
        index.finish_reset()?;
        self.set_checkpoint_file(Arc::clone(&name));
        self.enter_file(files, file, name, first, head_len);
        Ok(())
    }
}
