//! Files on the server's machine: where statements may read and write, and errors as clients see them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use selkie_types::{SqlError, SqlResult, sql_err};

use super::reader::Source;
use crate::client::{Client, ReadError};
use crate::host::Host;

/// Bytes read from a file at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// `2 "No such file or directory"`: an error of the operating system in messages.
pub fn os_error(e: &io::Error) -> String {
    let text = e.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    format!("{} \"{text}\"", e.raw_os_error().unwrap_or(0))
}

fn file_error(code: u16, what: &str, path: &Path, after: &str, e: &io::Error) -> SqlError {
    // Numbers below 1000 are those of MariaDB's file layer.
    SqlError::raw(code, "HY000", format!("{what} '{}'{after} (Errcode: {})", path.display(), os_error(e)))
}

/// The file that a statement names: relative names are in the data directory.
fn resolve(host: &Host, name: &str) -> PathBuf {
    host.instance.datadir.join(name)
}

/// Error 1290 unless `secure_file_priv` allows the file. Its folder must exist.
fn check_secure(host: &Host, path: &Path) -> SqlResult<()> {
    let allowed = host.instance.globals.read().get("secure_file_priv").to_owned();
    if allowed.is_empty() || allowed == "NULL" {
        return Ok(());
    }
    let inside = || {
        let allowed = Path::new(&allowed).canonicalize().ok()?;
        let real = match path.canonicalize() {
            Ok(p) => p,
            Err(_) => path.parent()?.canonicalize().ok()?,
        };
        Some(real.starts_with(allowed))
    };
    if inside() == Some(true) {
        return Ok(());
    }
    Err(sql_err!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv"))
}

/// Opens a file for reading. The account's FILE privilege is the caller's to check.
pub fn open(host: &Host, name: &str) -> SqlResult<ServerFile> {
    let path = resolve(host, name);
    check_secure(host, &path)?;
    let about = std::fs::metadata(&path).map_err(|e| file_error(13, "Can't get stat of", &path, "", &e))?;
    if about.is_dir() {
        return Err(sql_err!(ER_TEXTFILE_NOT_READABLE, path.display()));
    }
    let file = File::open(&path).map_err(|e| file_error(29, "File", &path, " not found", &e))?;
    Ok(ServerFile { file, path })
}

/// Creates a file that must not exist yet (error 1086).
pub fn create(host: &Host, name: &str) -> SqlResult<(File, PathBuf)> {
    let path = resolve(host, name);
    check_secure(host, &path)?;
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => Ok((file, path)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(sql_err!(ER_FILE_EXISTS_ERROR, name)),
        Err(e) => Err(file_error(1, "Can't create/write to file", &path, "", &e)),
    }
}

/// The error for a failed write.
pub fn write_error(path: &Path, e: &io::Error) -> SqlError {
    file_error(3, "Error writing file", path, "", e)
}

/// A file of the server's machine as a source of rows.
pub struct ServerFile {
    file: File,
    path: PathBuf,
}

impl Source for ServerFile {
    fn read(&mut self, buf: &mut Vec<u8>) -> SqlResult<bool> {
        let mut piece = io::Read::by_ref(&mut self.file).take(PIECE_BYTES as u64);
        match piece.read_to_end(buf) {
            Ok(n) => Ok(n > 0),
            Err(e) => Err(file_error(2, "Error reading file", &self.path, "", &e)),
        }
    }
}

/// A file that the client sends, packet by packet; an empty packet is its end.
pub struct ClientFile<'c> {
    client: &'c mut Client,
    timeout_seconds: u64,
    ended: bool,
}

impl<'c> ClientFile<'c> {
    /// Asks the client for the file.
    pub fn request(client: &'c mut Client, name: &[u8], timeout_seconds: u64) -> SqlResult<ClientFile<'c>> {
        selkie_protocol::response::LocalInfileRequest { file_name: name }.encode(&mut client.out);
        client.flush().map_err(|_| sql_err!(ER_NET_ERROR_ON_WRITE))?;
        Ok(ClientFile { client, timeout_seconds, ended: false })
    }

    /// Takes what the client still sends, so that it listens to the answer.
    pub fn drain(&mut self) -> SqlResult<()> {
        let mut piece = Vec::new();
        while !self.ended {
            match self.read(&mut piece) {
                // A packet that is too large was skipped.
                Ok(_) => piece.clear(),
                Err(e) if self.ended => return Err(e),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Source for ClientFile<'_> {
    fn read(&mut self, buf: &mut Vec<u8>) -> SqlResult<bool> {
        if self.ended {
            return Ok(false);
        }
        match self.client.read_packet(false, self.timeout_seconds) {
            Ok(payload) => {
                self.ended = payload.is_empty();
                buf.extend_from_slice(&payload);
                self.client.recycle(payload);
                Ok(!self.ended)
            }
            Err(ReadError::TooLarge) => Err(sql_err!(ER_NET_PACKET_TOO_LARGE)),
            Err(ReadError::Io(_)) => {
                self.ended = true;
                Err(sql_err!(ER_NET_READ_ERROR))
            }
            Err(ReadError::Broken(_)) => {
                self.ended = true;
                Err(sql_err!(ER_NET_PACKETS_OUT_OF_ORDER))
            }
        }
    }
}

/// Either kind of file.
pub enum AnyFile<'c> {
    /// On the server's machine.
    Server(ServerFile),
    /// On the client's.
    Client(ClientFile<'c>),
}

impl Source for AnyFile<'_> {
    fn read(&mut self, buf: &mut Vec<u8>) -> SqlResult<bool> {
        match self {
            AnyFile::Server(f) => f.read(buf),
            AnyFile::Client(f) => f.read(buf),
        }
    }
}
