//! A directory in memory that counts operations, fails or freezes at the nth one, and crashes.
//!
//! Each file has two contents: what was written and what is synced; the directory likewise has the
//! names in use and the synced ones. [`SimFs::crash`] gives the directory as a machine finds it after
//! a power failure: synced bytes stay, of the others any may be lost, sector by sector.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{LogFile, LogFs};

const SECTOR_LEN: usize = 512;

/// What happens to the operation a fault is planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails and does nothing; later ones work.
    Error,
    /// If it is a write, only so many bytes are written before it fails.
    ShortWrite(usize),
    /// If it is a write, only so many bytes are written before the disk is full.
    Full(usize),
    /// It and every later one fails: the machine is going down.
    Freeze,
}

#[derive(Default)]
struct Inode {
    written: Vec<u8>,
    synced: Vec<u8>,
}

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    operations: u64,
    data_syncs: u64,
    writes: u64,
    fault: Option<(u64, Fault)>,
    frozen: bool,
}

/// A simulated directory. Clones share it.
#[derive(Clone, Default)]
pub struct SimFs {
    state: Arc<Mutex<State>>,
}

impl State {
    /// Counts an operation that changes something; gives how much of a write may happen.
    fn step(&mut self) -> io::Result<Option<(usize, io::ErrorKind)>> {
        if self.frozen {
            return Err(io::Error::other("simulated machine is down"));
        }
        self.operations += 1;
        match self.fault {
            Some((n, fault)) if n == self.operations => match fault {
                Fault::Error => Err(io::Error::other("simulated failure")),
                Fault::ShortWrite(n) => Ok(Some((n, io::ErrorKind::Other))),
                Fault::Full(n) => Ok(Some((n, io::ErrorKind::StorageFull))),
                Fault::Freeze => {
                    self.frozen = true;
                    Err(io::Error::other("simulated machine went down"))
                }
            },
            _ => Ok(None),
        }
    }

    fn step_whole(&mut self) -> io::Result<()> {
        match self.step()? {
            None => Ok(()),
            Some(_) => Err(io::Error::other("simulated failure")),
        }
    }

    fn inode(&self, name: &str) -> io::Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl SimFs {
    /// An empty directory.
    pub fn new() -> SimFs {
        SimFs::default()
    }

    /// Plans a fault for the `n`th operation from now on (1 = the next).
    pub fn fail_at(&self, n: u64, fault: Fault) {
        let mut state = self.state.lock();
        state.fault = Some((state.operations + n, fault));
    }

    /// Operations so far that change something (writes, syncs, creations, renames, removals, truncations).
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// `fdatasync` and `fsync` calls on files so far.
    pub fn data_syncs(&self) -> u64 {
        self.state.lock().data_syncs
    }

    /// Write calls so far.
    pub fn writes(&self) -> u64 {
        self.state.lock().writes
    }

    /// The directory after a power failure. `keep(sector)` is asked, for each sector with bytes that were
    /// not synced, whether it reached the disk (called in order of file and offset); likewise for
    /// names that were not synced. `|_| false` loses all that was not synced, `|_| true` nothing.
    pub fn crash(&self, mut keep: impl FnMut(u64) -> bool) -> SimFs {
        let state = self.state.lock();
        let mut asked = 0;
        let mut ask = || {
            asked += 1;
            keep(asked)
        };
        let mut after = State::default();
        let mut names = state.synced_names.clone();
        let changed = state
            .names
            .iter()
            .filter(|(n, i)| state.synced_names.get(*n) != Some(i));
        for (name, inode) in changed {
            if ask() {
                names.retain(|_, i| i != inode);
                names.insert(name.clone(), *inode);
            }
        }
        // A rename is atomic: the old name goes when the new one comes, as was asked above.
        let renamed = |inode: &usize| state.names.values().any(|i| i == inode);
        for (name, inode) in &state.synced_names {
            if !state.names.contains_key(name) && !renamed(inode) && ask() {
                names.remove(name);
            }
        }
        for (name, inode) in names {
            let Inode { written, synced } = &state.inodes[inode];
            let mut contents = synced.clone();
            let longest = written.len().max(synced.len());
            let mut offset = 0;
            while offset < longest {
                let end = (offset + SECTOR_LEN).min(longest);
                let part = |v: &[u8]| v.get(offset..end.min(v.len())).unwrap_or_default().to_vec();
                let (new, old) = (part(written), part(synced));
                if new != old && ask() {
                    if contents.len() < offset + new.len() {
                        contents.resize(offset + new.len(), 0);
                    }
                    contents[offset..offset + new.len()].copy_from_slice(&new);
                    if new.len() < old.len() {
                        contents.truncate(offset + new.len());
                        break;
                    }
                }
                offset = end;
            }
            let id = after.inodes.len();
            after.inodes.push(Inode {
                written: contents.clone(),
                synced: contents,
            });
            after.names.insert(name.clone(), id);
            after.synced_names.insert(name, id);
        }
        SimFs {
            state: Arc::new(Mutex::new(after)),
        }
    }

    /// Contents of a file, for tests.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state.lock();
        state
            .names
            .get(name)
            .map(|i| state.inodes[*i].written.clone())
    }

    /// Replaces a file's contents, synced, for tests.
    pub fn set_contents(&self, name: &str, contents: Vec<u8>) {
        let mut state = self.state.lock();
        let inode = Inode {
            written: contents.clone(),
            synced: contents,
        };
        let id = state.inodes.len();
        state.inodes.push(inode);
        state.names.insert(name.to_owned(), id);
        state.synced_names.insert(name.to_owned(), id);
    }

    fn handle(&self, inode: usize) -> Arc<dyn LogFile> {
        Arc::new(SimFile {
            state: self.state.clone(),
            inode,
        })
    }
}

impl LogFs for SimFs {
    fn create_new(&self, name: &str) -> io::Result<Arc<dyn LogFile>> {
        let mut state = self.state.lock();
        state.step_whole()?;
        if state.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let id = state.inodes.len();
        state.inodes.push(Inode::default());
        state.names.insert(name.to_owned(), id);
        drop(state);
        Ok(self.handle(id))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn LogFile>> {
        let id = self.state.lock().inode(name)?;
        Ok(self.handle(id))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state.lock().names.keys().cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        state.step_whole()?;
        let inode = state.inode(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), inode);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        state.inode(name)?;
        state.step_whole()?;
        state.names.remove(name);
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.step_whole()?;
        state.synced_names = state.names.clone();
        Ok(())
    }
}

struct SimFile {
    state: Arc<Mutex<State>>,
    inode: usize,
}

impl SimFile {
    fn sync(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.data_syncs += 1;
        state.step_whole()?;
        let inode = &mut state.inodes[self.inode];
        inode.synced.clone_from(&inode.written);
        Ok(())
    }
}

impl LogFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock();
        let contents = &state.inodes[self.inode].written;
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|o| contents.get(o..))
            .unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn write_at(&self, parts: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        state.writes += 1;
        let limit = state.step()?;
        let mut all = parts.concat();
        if let Some((n, _)) = limit {
            all.truncate(n);
        }
        let offset = offset as usize;
        let contents = &mut state.inodes[self.inode].written;
        if contents.len() < offset + all.len() {
            contents.resize(offset + all.len(), 0);
        }
        contents[offset..offset + all.len()].copy_from_slice(&all);
        match limit {
            Some((_, kind)) => Err(kind.into()),
            None => Ok(()),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().inodes[self.inode].written.len() as u64)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        state.step_whole()?;
        state.inodes[self.inode].written.resize(len as usize, 0);
        Ok(())
    }
}
