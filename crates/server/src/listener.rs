//! The sockets that clients connect to.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use selkie_session::variables::Values;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::transport::Origin;

/// Longest path of a unix socket, in bytes.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The TCP port.
    #[error("cannot listen on {address}: {error}{hint}", address = .0, error = .1, hint = hint(.1))]
    Tcp(String, io::Error),
    /// An address that is none.
    #[error("cannot find the address '{0}' (option --bind-address): {1}")]
    Address(String, io::Error),
    /// The unix socket.
    #[error("cannot make the unix socket {0}: {1}")]
    Unix(PathBuf, io::Error),
    /// Another server's socket.
    #[error("another server answers on the unix socket {0}")]
    Taken(PathBuf),
    /// Something else has the socket's name.
    #[error("{0} exists and is no socket (option --socket)")]
    NoSocket(PathBuf),
    /// Too long a name.
    #[error("the unix socket's path is longer than {SOCKET_PATH_BYTES_MAX} bytes: {0} (option --socket)")]
    TooLong(PathBuf),
}

fn hint(e: &io::Error) -> &'static str {
    match e.kind() {
        ErrorKind::AddrInUse => " (is another server running? see option --port)",
        _ => "",
    }
}

/// A listening socket. A unix socket's file goes with it.
pub struct Listener {
    /// The socket; it does not block.
    pub socket: Socket,
    /// What comes in through it.
    pub origin: Origin,
    /// For people.
    pub name: String,
    file: Option<PathBuf>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Nobody can be told, and the next start removes it.
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Listener {
    /// The TCP port.
    pub fn port(&self) -> Option<u16> {
        self.socket.local_addr().ok()?.as_socket().map(|a| a.port())
    }
}

/// Opens all listeners that the options ask for.
pub fn open(globals: &Values, socket: &Path) -> Result<Vec<Listener>, ListenError> {
    let backlog = i32::try_from(globals.u64("back_log")).unwrap_or(i32::MAX).max(1);
    let mut listeners = Vec::new();
    if !globals.on("skip_networking") {
        let port = u16::try_from(globals.u64("port")).unwrap_or(u16::MAX);
        let addresses = globals.get("bind_address");
        let addresses = if addresses.is_empty() { "*" } else { addresses };
        for address in addresses.split(',').map(str::trim) {
            if address == "*" {
                listen_everywhere(port, backlog, &mut listeners)?;
                continue;
            }
            let unknown = |e| ListenError::Address(address.to_owned(), e);
            for address in (address, port).to_socket_addrs().map_err(unknown)? {
                listeners.push(listen(address, backlog)?);
            }
        }
    }
    listeners.push(listen_unix(socket, backlog)?);
    Ok(listeners)
}

/// IPv4 and, where there is one, IPv6.
fn listen_everywhere(port: u16, backlog: i32, listeners: &mut Vec<Listener>) -> Result<(), ListenError> {
    let v4 = listen((Ipv4Addr::UNSPECIFIED, port).into(), backlog)?;
    // With port 0 the system chose one.
    let port = v4.port().unwrap_or(port);
    listeners.push(v4);
    match listen((Ipv6Addr::UNSPECIFIED, port).into(), backlog) {
        Ok(v6) => listeners.push(v6),
        Err(ListenError::Tcp(_, e)) if no_ipv6(&e) => {}
        Err(e) => return Err(e),
    }
    Ok(())
}

fn no_ipv6(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL))
}

fn listen(address: SocketAddr, backlog: i32) -> Result<Listener, ListenError> {
    let make = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(backlog)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let socket = make().map_err(|e| ListenError::Tcp(address.to_string(), e))?;
    let name = socket.local_addr().ok().and_then(|a| a.as_socket()).unwrap_or(address).to_string();
    Ok(Listener { socket, origin: Origin::Tcp, name, file: None })
}

fn listen_unix(path: &Path, backlog: i32) -> Result<Listener, ListenError> {
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        return Err(ListenError::TooLong(path.to_owned()));
    }
    let failed = |e| ListenError::Unix(path.to_owned(), e);
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
    socket.bind(&SockAddr::unix(path).map_err(failed)?).map_err(failed)?;
    // From here on the file is ours, and goes with the listener.
    let listener =
        Listener { socket, origin: Origin::Local, name: path.display().to_string(), file: Some(path.to_owned()) };
    // Who may log in is decided by accounts, as in MariaDB.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).map_err(failed)?;
    listener.socket.listen(backlog).map_err(failed)?;
    listener.socket.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Removes the socket file of a server that is gone.
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let failed = |e| ListenError::Unix(path.to_owned(), e);
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
        Ok(m) if !m.file_type().is_socket() => return Err(ListenError::NoSocket(path.to_owned())),
        Ok(_) => {}
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
    match probe.connect(&SockAddr::unix(path).map_err(failed)?) {
        Err(e) if e.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path).map_err(failed),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Ok(()) | Err(_) => Err(ListenError::Taken(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globals(settings: &[(&str, &str)]) -> Values {
        let mut v = Values::defaults();
        for (name, value) in settings {
            v.set_named(name, value);
        }
        v
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let only_unix = globals(&[("skip_networking", "ON")]);
        let first = open(&only_unix, &path).unwrap();
        assert!(matches!(open(&only_unix, &path), Err(ListenError::Taken(_))));
        drop(first);
        assert!(!path.exists());
        // A server that was killed leaves its file.
        let killed = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        killed.bind(&SockAddr::unix(&path).unwrap()).unwrap();
        drop(killed);
        assert!(path.exists());
        assert_eq!(open(&only_unix, &path).unwrap().len(), 1);
        std::fs::write(&path, "text").unwrap();
        assert!(matches!(open(&only_unix, &path), Err(ListenError::NoSocket(_))));
        assert!(matches!(open(&only_unix, &folder.path().join("x".repeat(200))), Err(ListenError::TooLong(_))));
    }

    #[test]
    fn a_used_port_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let any = globals(&[("port", "0"), ("bind_address", "127.0.0.1")]);
        let first = open(&any, &folder.path().join("a.sock")).unwrap();
        let port = first[0].port().unwrap().to_string();
        let same = globals(&[("port", &port), ("bind_address", "127.0.0.1")]);
        let Err(e) = open(&same, &folder.path().join("b.sock")) else { panic!("the port is used") };
        let message = e.to_string();
        assert!(message.starts_with(&format!("cannot listen on 127.0.0.1:{port}: ")), "{message}");
        assert!(message.ends_with("(is another server running? see option --port)"), "{message}");
    }
}
