//! The index: which files the log consists of, in order, one name a line (`./binlog.000001`).
//!
//! It is replaced atomically. Two more files make removals safe against crashes:
//! `binlog.~rec~` names files that are being purged (they are out of the index already), and
//! `binlog.reset` is the new first file of a RESET MASTER that has not got its name yet.

use std::io;

use super::file_number;
use crate::LogError;
use crate::fs::{LogFs, read_file, replace_file};

pub(super) struct Index<'a> {
    pub(super) fs: &'a dyn LogFs,
    pub(super) basename: &'a str,
}

impl Index<'_> {
    fn name(&self) -> String {
        format!("{}.index", self.basename)
    }

    fn purge_name(&self) -> String {
        format!("{}.~rec~", self.basename)
    }

    /// The file that a RESET MASTER prepares.
    pub(super) fn reset_name(&self) -> String {
        format!("{}.reset", self.basename)
    }

    fn read_names(&self, name: &str) -> Result<Option<Vec<String>>, LogError> {
        let Some(contents) = read_file(self.fs, name).map_err(LogError::io("read", name))? else {
            return Ok(None);
        };
        let text = String::from_utf8(contents)
            .map_err(|_| LogError::Index(format!("'{name}' is not text")))?;
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        Ok(Some(
            lines
                .map(|l| l.rsplit('/').next().unwrap_or(l).to_owned())
                .collect(),
        ))
    }

    /// The files' names; empty where there is no index.
    pub(super) fn read(&self) -> Result<Vec<String>, LogError> {
        let names = self.read_names(&self.name())?.unwrap_or_default();
        let mut last = 0;
        for name in &names {
            match file_number(self.basename, name) {
                Some(n) if n > last => last = n,
                Some(_) => return Err(LogError::Index(format!("'{name}' is out of order"))),
                None => {
                    return Err(LogError::Index(format!(
                        "'{name}' is not a file of log '{}'",
                        self.basename
                    )));
                }
            }
        }
        Ok(names)
    }

    /// Replaces the index.
    pub(super) fn write<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), LogError> {
        let text: String = names.into_iter().map(|n| format!("./{n}\n")).collect();
        let name = self.name();
        replace_file(self.fs, &name, text.as_bytes()).map_err(LogError::io("replace", &name))
    }

    /// Removes files that stand in `names`, and keeps a note of it meanwhile; they leave the index by `write_index`.
    pub(super) fn purge(
        &self,
        names: &[&str],
        write_index: impl FnOnce() -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let note = self.purge_name();
        let text: String = names.iter().map(|n| format!("./{n}\n")).collect();
        replace_file(self.fs, &note, text.as_bytes()).map_err(LogError::io("replace", &note))?;
        write_index()?;
        self.finish_purge()
    }

    /// Removes the files that an unfinished purge has taken out of the index.
    pub(super) fn finish_purge(&self) -> Result<(), LogError> {
        let note = self.purge_name();
        let Some(names) = self.read_names(&note)? else {
            return Ok(());
        };
        let kept = self.read()?;
        for name in names.iter().filter(|n| !kept.contains(n)) {
            if file_number(self.basename, name).is_some() {
                self.remove_if_there(name)?;
            }
        }
        self.sync_dir()?;
        self.remove_if_there(&note)
    }

    /// Completes a RESET MASTER whose index was written; forgets one whose index was not.
    pub(super) fn finish_reset(&self) -> Result<(), LogError> {
        let reset = self.reset_name();
        let all = self.list()?;
        if !all.contains(&reset) {
            return Ok(());
        }
        let first = super::file_name(self.basename, 1);
        if self.read()? != [first.as_str()] {
            return self.remove_if_there(&reset);
        }
        for name in all
            .iter()
            .filter(|n| file_number(self.basename, n).is_some())
        {
            self.remove_if_there(name)?;
        }
        // The rename must not become durable before the removals.
        self.sync_dir()?;
        self.fs
            .rename(&reset, &first)
            .map_err(LogError::io("rename", &reset))?;
        self.sync_dir()
    }

    /// Removes what an unfinished replacement of a small file has left.
    pub(super) fn remove_temporaries(&self) -> Result<(), LogError> {
        for name in [self.name(), self.purge_name(), self.reset_name()] {
            self.remove_if_there(&format!("{name}.tmp"))?;
        }
        Ok(())
    }

    fn sync_dir(&self) -> Result<(), LogError> {
        self.fs
            .sync_dir()
            .map_err(LogError::io("fsync", "directory"))
    }

    pub(super) fn list(&self) -> Result<Vec<String>, LogError> {
        self.fs.list().map_err(LogError::io("list", "directory"))
    }

    pub(super) fn remove_if_there(&self, name: &str) -> Result<(), LogError> {
        match self.fs.remove(name) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(LogError::io("remove", name)(e)),
            _ => Ok(()),
        }
    }
}
