//! Rows in temporary files, for operators that were given more rows than they may hold.
//!
//! A file is unlinked as soon as it is made, so that it goes with the operator, whatever happens to the server. It is a
//! sequence of records: length of what follows (u32), length of the key (u32), key, and the row's values, each a tag and
//! its bytes. All numbers are little endian; nothing outlives the process, so there is no version.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use selkie_types::{Date, DateTime, Decimal, SqlError, SqlResult, Time, Value, sql_err};

use crate::context::ExecCtx;

/// Bytes written, and read, at a time.
const BUFFER: usize = 64 * 1024;
/// Bytes of the two lengths.
const HEAD: usize = 8;

/// A temporary file that is being written.
pub struct SpillFile {
    file: Arc<File>,
    name: Arc<str>,
    buffer: Vec<u8>,
    written: u64,
}

fn errno(e: &io::Error) -> String {
    match e.raw_os_error() {
        Some(n) => {
            let text = e.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            format!("{n} \"{text}\"")
        }
        None => e.to_string(),
    }
}

fn write_failed(name: &str, e: &io::Error) -> SqlError {
    const ENOSPC: i32 = 28;
    if e.raw_os_error() == Some(ENOSPC) {
        return sql_err!(ER_DISK_FULL, name, errno(e));
    }
    sql_err!(ER_ERROR_ON_WRITE, name, errno(e))
}

impl SpillFile {
    /// A new file in the temporary directory of the execution.
    pub fn create(cx: &ExecCtx<'_>) -> SqlResult<SpillFile> {
        SpillFile::create_in(&cx.session.tmpdir())
    }

    /// A new file in a directory. Error 1004.
    pub fn create_in(dir: &Path) -> SqlResult<SpillFile> {
        let name = dir.join("#sql-spill").display().to_string();
        let file = tempfile::tempfile_in(dir).map_err(|e| sql_err!(ER_CANT_CREATE_FILE, name, errno(&e)))?;
        Ok(SpillFile { file: Arc::new(file), name: name.into(), buffer: Vec::new(), written: 0 })
    }

    /// Appends a record. Errors 1026, 1021.
    pub fn write(&mut self, key: &[u8], row: &[Value]) -> SqlResult<()> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; HEAD]);
        self.buffer.extend_from_slice(key);
        row.iter().for_each(|v| put_value(v, &mut self.buffer));
        let len = self.buffer.len() - start - 4;
        let too_long = |_| sql_err!(ER_OUT_OF_RESOURCES);
        let (len, key_len) = (u32::try_from(len).map_err(too_long)?, u32::try_from(key.len()).map_err(too_long)?);
        self.buffer[start..start + 4].copy_from_slice(&len.to_le_bytes());
        self.buffer[start + 4..start + 8].copy_from_slice(&key_len.to_le_bytes());
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Where the next record begins; everything before can be read.
    pub fn end(&mut self) -> SqlResult<u64> {
        self.flush()?;
        Ok(self.written)
    }

    fn flush(&mut self) -> SqlResult<()> {
        (&*self.file).write_all(&self.buffer).map_err(|e| write_failed(&self.name, &e))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Reads records between two places that [`Self::end`] gave.
    pub fn reader(&self, from: u64, to: u64) -> SpillReader {
        let (file, name) = (self.file.clone(), self.name.clone());
        SpillReader { file, name, next: from, end: to, buffer: Vec::new(), at: 0, key: 0..0 }
    }

    /// Everything written, to be read.
    pub fn into_reader(mut self) -> SqlResult<SpillReader> {
        let end = self.end()?;
        Ok(self.reader(0, end))
    }
}

/// Partitions of one division, as bits of the hash.
const FANOUT_BITS: u32 = 4;
/// Partitions of one division.
const FANOUT: usize = 1 << FANOUT_BITS;
/// How often a partition may be divided again: more than that does not help against keys that are equal.
pub const LEVEL_MAX: u32 = 5;

/// Records divided by the hash of their key; a file is made when something comes to be in it.
pub struct Partitions {
    files: Vec<Option<SpillFile>>,
    level: u32,
}

impl Partitions {
    /// No records. `level` tells how many divisions led here, so that this one goes by other bits of the hash.
    pub fn new(level: u32) -> Partitions {
        Partitions { files: (0..FANOUT).map(|_| None).collect(), level }
    }

    /// Appends a record to its partition.
    pub fn write(&mut self, cx: &ExecCtx<'_>, hash: u64, key: &[u8], row: &[Value]) -> SqlResult<()> {
        let shift = 64 - FANOUT_BITS * (self.level + 1);
        let i = (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize & (FANOUT - 1);
        let file = match &mut self.files[i] {
            Some(f) => f,
            none => none.insert(SpillFile::create(cx)?),
        };
        file.write(key, row)
    }

    /// Readers of all partitions, empty ones as `None`.
    pub fn into_readers(self) -> SqlResult<Vec<Option<SpillReader>>> {
        self.files.into_iter().map(|f| f.map(SpillFile::into_reader).transpose()).collect()
    }
}

/// Reads records of a temporary file.
pub struct SpillReader {
    file: Arc<File>,
    name: Arc<str>,
    /// Place in the file of the next byte to fetch.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    key: std::ops::Range<usize>,
}

impl SpillReader {
    /// Goes back to a place.
    pub fn seek(&mut self, to: u64) {
        self.next = to;
        self.buffer.clear();
        self.at = 0;
    }

    /// Reads the next record: its values are appended to `row`, its key is [`Self::key`]. `false` at the end. Error 1024.
    pub fn read(&mut self, row: &mut Vec<Value>) -> SqlResult<bool> {
        if !self.fill(HEAD)? {
            return Ok(false);
        }
        let head = &self.buffer[self.at..self.at + HEAD];
        let number = |b: &[u8]| b.iter().rev().fold(0usize, |n, &x| n << 8 | x as usize);
        let (len, key_len) = (number(&head[..4]), number(&head[4..]));
        if len < 4 + key_len || !self.fill(4 + len)? {
            return Err(self.corrupt());
        }
        let start = self.at + HEAD;
        let end = self.at + 4 + len;
        self.key = start..start + key_len;
        let mut rest = &self.buffer[start + key_len..end];
        while !rest.is_empty() {
            match take_value(&mut rest) {
                Some(v) => row.push(v),
                None => return Err(self.corrupt()),
            }
        }
        self.at = end;
        Ok(true)
    }

    /// Key of the record read last.
    pub fn key(&self) -> &[u8] {
        &self.buffer[self.key.clone()]
    }

    fn corrupt(&self) -> SqlError {
        sql_err!(ER_ERROR_ON_READ, self.name, "0 \"Internal error/check (Not system error)\"")
    }

    /// Makes `n` bytes from `at` on available; `false` at the end of the file.
    fn fill(&mut self, n: usize) -> SqlResult<bool> {
        let have = self.buffer.len() - self.at;
        if have >= n {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = (self.end - self.next).min(usize::MAX as u64) as usize;
        let more = (n - have).max(BUFFER).min(left);
        self.buffer.resize(have + more, 0);
        self.file
            .read_exact_at(&mut self.buffer[have..], self.next)
            .map_err(|e| sql_err!(ER_ERROR_ON_READ, self.name, errno(&e)))?;
        self.next += more as u64;
        Ok(self.buffer.len() >= n)
    }
}

fn put_value(v: &Value, out: &mut Vec<u8>) {
    let mut put = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(bytes);
    };
    match v {
        Value::Null => put(0, &[]),
        Value::Int(i) => put(1, &i.to_le_bytes()),
        Value::UInt(u) => put(2, &u.to_le_bytes()),
        Value::Double(d) => put(3, &d.to_bits().to_le_bytes()),
        Value::Date(d) => put(4, &d.0.to_le_bytes()),
        Value::Time(t) => put(5, &t.0.to_le_bytes()),
        Value::DateTime(t) => put(6, &t.0.to_le_bytes()),
        Value::Bytes(b) => {
            put(7, &(b.len() as u64).to_le_bytes());
            out.extend_from_slice(b);
        }
        Value::Decimal(d) => match d.mantissa() {
            Some(m) => {
                put(8, &[d.scale()]);
                out.extend_from_slice(&m.to_le_bytes());
            }
            None => {
                put(9, &[0]);
                let start = out.len();
                d.write_to(out);
                out[start - 1] = (out.len() - start) as u8;
            }
        },
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

fn take_value(bytes: &mut &[u8]) -> Option<Value> {
    let [tag] = take::<1>(bytes)?;
    Some(match tag {
        0 => Value::Null,
        1 => Value::Int(i64::from_le_bytes(take(bytes)?)),
        2 => Value::UInt(u64::from_le_bytes(take(bytes)?)),
        3 => Value::Double(f64::from_bits(u64::from_le_bytes(take(bytes)?))),
        4 => Value::Date(Date(u32::from_le_bytes(take(bytes)?))),
        5 => Value::Time(Time(i64::from_le_bytes(take(bytes)?))),
        6 => Value::DateTime(DateTime(u64::from_le_bytes(take(bytes)?))),
        7 => {
            let len = u64::from_le_bytes(take(bytes)?) as usize;
            let (head, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            Value::bytes(head)
        }
        8 => {
            let [scale] = take(bytes)?;
            Value::Decimal(Decimal::from_mantissa(i128::from_le_bytes(take(bytes)?), scale))
        }
        9 => {
            let [len] = take::<1>(bytes)?;
            let (head, rest) = bytes.split_at_checked(len as usize)?;
            *bytes = rest;
            Value::Decimal(Decimal::parse(std::str::from_utf8(head).ok()?)?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(i: i64) -> Vec<Value> {
        let decimal = |t: &str| Value::Decimal(Decimal::parse_prefix(t.as_bytes()).value);
        vec![
            Value::Null,
            Value::Int(-i),
            Value::UInt(u64::MAX - i as u64),
            Value::Double(i as f64 / 7.0),
            Value::text(&"x".repeat(i as usize % 300)),
            decimal("-1.50"),
            decimal("12345678901234567890123456789012345678901234567890.123"),
            Value::Date(Date::new(2024, 2, 29)),
            Value::Time(Time(-5)),
            Value::DateTime(DateTime(77)),
        ]
    }

    #[test]
    fn what_is_written_is_read_in_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create_in(dir.path()).unwrap();
        let mut places = vec![0];
        for i in 0i64..2000 {
            file.write(&i.to_be_bytes(), &sample(i)).unwrap();
            if i % 500 == 499 {
                places.push(file.end().unwrap());
            }
        }
        let mut i = 0i64;
        for w in places.windows(2) {
            let mut reader = file.reader(w[0], w[1]);
            let mut row = Vec::new();
            while reader.read(&mut row).unwrap() {
                assert_eq!(reader.key(), i.to_be_bytes());
                assert_eq!(row, sample(i));
                row.clear();
                i += 1;
            }
        }
        assert_eq!(i, 2000);
        // Nothing of it is seen in the directory.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_error_1004() {
        let e = SpillFile::create_in(Path::new("/nowhere/at/all")).err().unwrap();
        assert_eq!(e.code(), selkie_types::codes::ER_CANT_CREATE_FILE);
        assert_eq!(
            e.message(),
            "Can't create file '/nowhere/at/all/#sql-spill' (errno: 2 \"No such file or directory\")"
        );
    }
}
