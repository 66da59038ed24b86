//! The data directory as a folder: made if it is not there, held by one server at a time; and the pid file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Held with flock by the server that has the directory open.
const LOCK_FILE: &str = "selkie.lock";

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatadirError {
    /// It cannot be made.
    #[error("cannot create the data directory {0}: {1}")]
    Create(PathBuf, io::Error),
    /// It cannot be written.
    #[error("cannot write to the data directory {0}: {1}")]
    Write(PathBuf, io::Error),
    /// Another server has it.
    #[error("another server uses the data directory {0}")]
    Locked(PathBuf),
    /// It is a MariaDB's or MySQL's.
    #[error("{0} is the data directory of a MariaDB or MySQL server (it holds '{1}'); choose another with --datadir")]
    Foreign(PathBuf, &'static str),
}

/// A data directory that is this process's as long as this lives.
#[derive(Debug)]
pub struct Datadir {
    _lock: File,
}

impl Datadir {
    /// Makes the directory if there is none, and takes its lock.
    pub fn open(path: &Path) -> Result<Datadir, DatadirError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(path).map_err(|e| DatadirError::Create(path.to_owned(), e))?;
        for file in ["ibdata1", "aria_log_control"] {
            if path.join(file).exists() {
                return Err(DatadirError::Foreign(path.to_owned(), file));
            }
        }
        let write = |e| DatadirError::Write(path.to_owned(), e);
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK_FILE)).map_err(write)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Datadir { _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(DatadirError::Locked(path.to_owned())),
            Err(e) => Err(write(e.into())),
        }
    }
}

/// The file with the server's process id, removed when this is dropped.
#[derive(Debug)]
pub struct PidFile(PathBuf);

impl PidFile {
    /// Writes it.
    pub fn write(path: &Path) -> io::Result<PidFile> {
        let mut file = File::create(path)?;
        writeln!(file, "{}", std::process::id())?;
        Ok(PidFile(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // Nobody can be told, and the next start overwrites it.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let first = Datadir::open(&path).unwrap();
        assert!(matches!(Datadir::open(&path), Err(DatadirError::Locked(_))));
        drop(first);
        Datadir::open(&path).unwrap();
    }

    #[test]
    fn a_mariadbs_directory_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ibdata1"), "").unwrap();
        assert!(matches!(Datadir::open(folder.path()), Err(DatadirError::Foreign(..))));
        assert!(!folder.path().join(LOCK_FILE).exists());
    }

    #[test]
    fn a_file_in_the_way_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Datadir::open(&path), Err(DatadirError::Create(..))));
    }
}
