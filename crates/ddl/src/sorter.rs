//! Sorting index entries by their key before they are bulk-loaded: in memory, and through temporary files when there are more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// One entry in the arena.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    key: u32,
    value: u32,
}

/// Collects entries. Equal keys come out in the order in which they were given.
pub struct EntrySorter {
    memory_max: usize,
    directory: PathBuf,
    arena: Vec<u8>,
    places: Vec<Place>,
    runs: Vec<File>,
}

impl EntrySorter {
    /// Holds at most about `memory_max` bytes; more goes to unnamed files in `directory`.
    pub fn new(memory_max: usize, directory: &Path) -> EntrySorter {
        EntrySorter {
            memory_max,
            directory: directory.to_owned(),
            arena: Vec::new(),
            places: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let held = self.arena.len() + self.places.len() * size_of::<Place>();
        if held + key.len() + value.len() > self.memory_max && !self.places.is_empty() {
            self.spill()?;
        }
        let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        self.places.push(Place {
            start: self.arena.len(),
            key: u32::try_from(key.len()).map_err(too_long)?,
            value: u32::try_from(value.len()).map_err(too_long)?,
        });
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        Ok(())
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        let key = |p: &Place| &arena[p.start..p.start + p.key as usize];
        self.places.sort_by(|a, b| key(a).cmp(key(b)).then(a.start.cmp(&b.start)));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut out = BufWriter::with_capacity(256 << 10, tempfile::tempfile_in(&self.directory)?);
        for p in &self.places {
            out.write_all(&p.key.to_le_bytes())?;
            out.write_all(&p.value.to_le_bytes())?;
            out.write_all(&self.arena[p.start..p.start + p.key as usize + p.value as usize])?;
        }
        let mut file = out.into_inner().map_err(|e| e.into_error())?;
        io::Seek::rewind(&mut file)?;
        self.runs.push(file);
        self.places.clear();
        self.arena.clear();
        Ok(())
    }

    /// Ends the collection.
    pub fn finish(mut self) -> io::Result<SortedEntries> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(SortedEntries(Source::Memory { arena: self.arena, places: self.places.into_iter() }));
        }
        self.spill()?;
        let mut merge = Merge { runs: Vec::with_capacity(self.runs.len()), heap: BinaryHeap::new() };
        for file in self.runs {
            merge.runs.push(BufReader::with_capacity(256 << 10, file));
        }
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(SortedEntries(Source::Merge(merge)))
    }
}

/// Entries in ascending order of their keys.
pub struct SortedEntries(Source);

enum Source {
    Memory { arena: Vec<u8>, places: std::vec::IntoIter<Place> },
    Merge(Merge),
}

/// Key, run, value.
type RunEntry = (Vec<u8>, usize, Vec<u8>);

struct Merge {
    runs: Vec<BufReader<File>>,
    /// The next entry of each run.
    heap: BinaryHeap<Reverse<RunEntry>>,
}

impl Merge {
    fn advance(&mut self, run: usize) -> io::Result<()> {
        let reader = &mut self.runs[run];
        let mut lengths = [0u8; 8];
        match reader.read_exact(&mut lengths) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        }
        let [a, b, c, d, e, f, g, h] = lengths;
        let mut key = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
        let mut value = vec![0; u32::from_le_bytes([e, f, g, h]) as usize];
        reader.read_exact(&mut key)?;
        reader.read_exact(&mut value)?;
        self.heap.push(Reverse((key, run, value)));
        Ok(())
    }
}

impl SortedEntries {
    /// Puts the next entry into `key` and `value`; `false` at the end.
    pub fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> io::Result<bool> {
        key.clear();
        value.clear();
        match &mut self.0 {
            Source::Memory { arena, places } => {
                let Some(p) = places.next() else { return Ok(false) };
                let split = p.start + p.key as usize;
                key.extend_from_slice(&arena[p.start..split]);
                value.extend_from_slice(&arena[split..split + p.value as usize]);
                Ok(true)
            }
            Source::Merge(m) => {
                let Some(Reverse((k, run, v))) = m.heap.pop() else { return Ok(false) };
                *key = k;
                *value = v;
                m.advance(run)?;
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(memory_max: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let dir = tempfile::tempdir().unwrap();
        let mut s = EntrySorter::new(memory_max, dir.path());
        for i in 0..1000u32 {
            let key = (i.wrapping_mul(2_654_435_761) % 97).to_be_bytes();
            s.push(&key, &i.to_be_bytes()).unwrap();
        }
        let mut entries = s.finish().unwrap();
        let (mut k, mut v) = (Vec::new(), Vec::new());
        let mut out = Vec::new();
        while entries.next(&mut k, &mut v).unwrap() {
            out.push((k.clone(), v.clone()));
        }
        out
    }

    #[test]
    fn through_files_and_in_memory_alike() {
        let in_memory = sorted(1 << 20);
        assert_eq!(in_memory.len(), 1000);
        assert!(in_memory.windows(2).all(|w| w[0] < w[1]), "keys ascend, equal ones in order of arrival");
        assert_eq!(in_memory, sorted(2000));
        assert_eq!(in_memory, sorted(1));
    }
}
