//! The few file operations that the log is made of, injected so that the log is tested without a
//! disk: [`RealFs`] is a directory, [`SimFs`] a memory that can fail, tear and crash.
//!
//! An implementation knows names and bytes. It must not know what they mean.

mod real;
mod sim;

use std::io;
use std::sync::Arc;

pub use real::RealFs;
pub use sim::{Fault, SimFs};

/// One directory that holds the log's files.
pub trait LogFs: Send + Sync {
    /// Creates a file that must not exist, open for reading and writing.
    fn create_new(&self, name: &str) -> io::Result<Arc<dyn LogFile>>;
    /// Opens a file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn LogFile>>;
    /// Names of all files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Gives a file another name, replacing one that has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Those who have it open keep it.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// An open file. Shared by the writer, the one who syncs, and readers.
#[allow(clippy::len_without_is_empty)]
pub trait LogFile: Send + Sync {
    /// Reads at an offset; fewer bytes than asked for at the file's end, 0 behind it.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all parts one behind the other at an offset, with one call where the system lets it.
    fn write_at(&self, parts: &[&[u8]], offset: u64) -> io::Result<()>;
    /// Makes the contents durable, and of the metadata what reading them needs (`fdatasync`).
    fn sync_data(&self) -> io::Result<()>;
    /// Makes contents and metadata durable (`fsync`).
    fn sync_all(&self) -> io::Result<()>;
    /// The file's size.
    fn len(&self) -> io::Result<u64>;
    /// Cuts the file.
    fn truncate(&self, len: u64) -> io::Result<()>;
}

/// Reads until the buffer is full or the file ends; gives the number of bytes read.
pub(crate) fn read_full_at(file: &dyn LogFile, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Replaces a small file atomically: a crash leaves the old contents or the new ones.
pub(crate) fn replace_file(fs: &dyn LogFs, name: &str, contents: &[u8]) -> io::Result<()> {
    let temporary = format!("{name}.tmp");
    match fs.remove(&temporary) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let file = fs.create_new(&temporary)?;
    file.write_at(&[contents], 0)?;
    file.sync_all()?;
    fs.rename(&temporary, name)?;
    fs.sync_dir()
}

/// Contents of a small file, `None` where there is none.
pub(crate) fn read_file(fs: &dyn LogFs, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match fs.open(name) {
        Ok(f) => f,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let mut contents = vec![0; file.len()? as usize];
    let n = read_full_at(&*file, &mut contents, 0)?;
    contents.truncate(n);
    Ok(Some(contents))
}
