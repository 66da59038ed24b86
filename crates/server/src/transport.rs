//! A client's socket, TCP or unix, as the stream that a session reads and writes.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use selkie_session::client::Transport;
use socket2::{Socket, TcpKeepalive};

/// Where a client comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// TCP.
    Tcp,
    /// The unix socket.
    Local,
}

/// A connected socket.
pub struct SocketTransport {
    socket: Arc<Socket>,
    origin: Origin,
}

impl SocketTransport {
    /// Over an accepted socket. `keepalive` is for TCP.
    pub fn new(socket: Socket, origin: Origin, keepalive: Option<&TcpKeepalive>) -> io::Result<SocketTransport> {
        socket.set_nonblocking(false)?;
        if origin == Origin::Tcp {
            socket.set_tcp_nodelay(true)?;
            socket.set_keepalive(true)?;
            if let Some(keepalive) = keepalive {
                socket.set_tcp_keepalive(keepalive)?;
            }
        }
        Ok(SocketTransport { socket: Arc::new(socket), origin })
    }

    /// Ends a blocked or later read of this socket, from any thread; what is being sent still arrives.
    pub fn waker(&self) -> Box<dyn Fn() + Send> {
        // Weak: the socket closes with its connection.
        let socket = Arc::downgrade(&self.socket);
        Box::new(move || {
            if let Some(socket) = socket.upgrade() {
                // Not connected any more: then no read blocks.
                let _ = socket.shutdown(Shutdown::Read);
            }
        })
    }
}

impl Read for SocketTransport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.socket).read(buffer)
    }
}

impl Write for SocketTransport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.socket).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Transport for SocketTransport {
    fn set_read_timeout(&mut self, seconds: u64) -> io::Result<()> {
        self.socket.set_read_timeout(timeout(seconds))
    }

    fn set_write_timeout(&mut self, seconds: u64) -> io::Result<()> {
        self.socket.set_write_timeout(timeout(seconds))
    }

    fn is_local(&self) -> bool {
        self.origin == Origin::Local
    }
}

fn timeout(seconds: u64) -> Option<Duration> {
    // The kernel counts in clock ticks: a year is as good as any longer time.
    (seconds > 0).then(|| Duration::from_secs(seconds.min(31_536_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waker_ends_a_blocked_read_and_does_not_keep_the_socket() {
        let (ours, theirs) = Socket::pair(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
        let mut transport = SocketTransport::new(ours, Origin::Local, None).unwrap();
        let wake = transport.waker();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 16];
            let first = transport.read(&mut buffer).unwrap();
            let second = transport.read(&mut buffer).unwrap();
            transport.write_all(b"bye").unwrap();
            (first, second)
        });
        (&theirs).write_all(b"hello").unwrap();
        wake();
        let (first, second) = reader.join().unwrap();
        assert!(first == 5 && second == 0 || first == 0, "{first} {second}");
        let mut rest = Vec::new();
        // Ends: the waker does not hold the socket open.
        (&theirs).read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"bye");
        wake();
    }
}
