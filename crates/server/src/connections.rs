//! Accepting clients, and the threads that serve them.
//!
//! One thread accepts for all listeners; each connection has a thread of its own. A client over the limit is told so
//! without a thread. One connection more than `max_connections` is let through for an administrator; the session checks
//! who it is.

use std::io::{ErrorKind, Write};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use polling::{Event, Events, Poller};
use selkie_protocol::response::Err as ErrPacket;
use selkie_protocol::{Capabilities, SendBuffer};
use selkie_session::connection;
use selkie_session::instance::Instance;
use selkie_types::sql_err;
use socket2::{Socket, TcpKeepalive};

use crate::listener::Listener;
use crate::transport::{Origin, SocketTransport};

/// Deep expressions recurse; pages of the stack that are not used take no memory. Code that is not optimised needs more.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 };
/// How long to leave the listeners alone when there are no files or no memory for another connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);
/// How often to say so.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(10);

/// The connections that are being served.
pub struct Connections {
    instance: Arc<Instance>,
    count: Mutex<usize>,
    fewer: Condvar,
    /// Clients that were turned away since the last complaint.
    refused: AtomicU64,
}

impl Connections {
    /// None yet.
    pub fn new(instance: Arc<Instance>) -> Arc<Connections> {
        Arc::new(Connections { instance, count: Mutex::new(0), fewer: Condvar::new(), refused: AtomicU64::new(0) })
    }

    /// Accepts clients until the server shuts down; `poller` is to be notified then.
    pub fn accept(self: &Arc<Self>, listeners: Vec<Listener>, poller: &Poller) -> std::io::Result<()> {
        for (key, listener) in listeners.iter().enumerate() {
            // SAFETY: the listeners live until they are deleted from the poller below.
            unsafe { poller.add(&listener.socket, Event::readable(key))? };
        }
        let result = self.accept_loop(&listeners, poller);
        for listener in &listeners {
            // The poller is not used any more.
            let _ = poller.delete(&listener.socket);
        }
        result
    }

    fn accept_loop(self: &Arc<Self>, listeners: &[Listener], poller: &Poller) -> std::io::Result<()> {
        let mut events = Events::new();
        let mut complained: Option<Instant> = None;
        while !self.instance.is_shutting_down() {
            events.clear();
            poller.wait(&mut events, None)?;
            for event in events.iter() {
                let Some(listener) = listeners.get(event.key) else { continue };
                if let Err(e) = self.accept_all(listener) {
                    if complained.is_none_or(|at| at.elapsed() > COMPLAINT_INTERVAL) {
                        tracing::error!("cannot accept connections on {}: {e}", listener.name);
                        complained = Some(Instant::now());
                    }
                    self.wait_for_fewer(EXHAUSTED_PAUSE);
                }
                poller.modify(&listener.socket, Event::readable(event.key))?;
            }
        }
        Ok(())
    }

    /// Accepts all that wait at a listener. An error: there are no files, threads or memory left.
    fn accept_all(self: &Arc<Self>, listener: &Listener) -> std::io::Result<()> {
        while !self.instance.is_shutting_down() {
            match listener.socket.accept() {
                Ok((socket, address)) => {
                    let by_address = self.instance.globals.read().on("skip_name_resolve");
                    let host = address.as_socket().map_or("localhost".to_owned(), |a| host_name(a.ip(), by_address));
                    self.start(socket, listener.origin, host)?;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if is_exhausted(&e) => return Err(e),
                // The client has gone already, or the network had a moment: the next one may be there.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, socket: Socket, origin: Origin, host: String) -> std::io::Result<()> {
        let max = self.instance.globals.read().u64("max_connections") as usize;
        {
            let mut count = self.count.lock();
            if *count > max {
                drop(count);
                self.refuse(&socket);
                return Ok(());
            }
            *count += 1;
        }
        // Dropped by the thread, or here if there is none.
        let served = Served(self.clone());
        let transport = match SocketTransport::new(socket, origin, Some(&self.keepalive())) {
            Ok(t) => t,
            // The client has gone already.
            Err(_) => return Ok(()),
        };
        let run = move || {
            let connections = &served.0;
            let wake = transport.waker();
            let serve = || connection::serve(connections.instance.clone(), Box::new(transport), host, Some(wake));
            // The panic itself is in the log already (see `error_log`). The session has been dropped: its
            // transaction is rolled back, and other connections go on.
            if std::panic::catch_unwind(AssertUnwindSafe(serve)).is_err() {
                tracing::error!("a connection was closed because of an internal error");
            }
        };
        std::thread::Builder::new().name("connection".into()).stack_size(STACK_BYTES).spawn(run).map(|_| ())
    }

    /// Tells a client that there are too many, and hangs up.
    fn refuse(&self, socket: &Socket) {
        if self.refused.fetch_add(1, Ordering::Relaxed).is_multiple_of(1000) {
            tracing::warn!("too many connections (max_connections): clients are turned away");
        }
        let error = sql_err!(ER_CON_COUNT_ERROR);
        let mut out = SendBuffer::new();
        // Before the handshake nothing is agreed on: no SQLSTATE.
        ErrPacket::new(error.code(), *b"08004", error.message().as_bytes()).encode(&mut out, Capabilities::EMPTY);
        // A new socket's buffer takes so little at once; if not, the client only sees the end.
        let _ = socket.set_nonblocking(true);
        let _ = (&*socket).write(out.pending());
    }

    fn keepalive(&self) -> TcpKeepalive {
        let globals = self.instance.globals.read();
        let seconds = |name: &str| Some(globals.u64(name)).filter(|s| *s > 0);
        let mut keepalive = TcpKeepalive::new();
        if let Some(s) = seconds("tcp_keepalive_time") {
            keepalive = keepalive.with_time(Duration::from_secs(s));
        }
        if let Some(s) = seconds("tcp_keepalive_interval") {
            keepalive = keepalive.with_interval(Duration::from_secs(s));
        }
        if let Some(n) = seconds("tcp_keepalive_probes") {
            keepalive = keepalive.with_retries(u32::try_from(n).unwrap_or(u32::MAX));
        }
        keepalive
    }

    /// Waits until a connection ends, at most so long.
    fn wait_for_fewer(&self, at_most: Duration) {
        let mut count = self.count.lock();
        self.fewer.wait_for(&mut count, at_most);
    }

    /// Ends all connections: idle ones at once, busy ones after their statement or, when `grace` is over, within it.
    /// Returns how many have not ended nevertheless.
    pub fn end_all(&self, grace: Duration) -> usize {
        for connection in self.instance.connections() {
            if let Some(wake) = &*connection.wake.lock() {
                wake();
            }
        }
        if self.wait_for_none(grace) == 0 {
            return 0;
        }
        for connection in self.instance.connections() {
            let user = connection.peer.lock().0.clone();
            tracing::warn!("forcing close of connection {} of user '{user}'", connection.id);
            connection.kill_connection();
        }
        self.wait_for_none(grace)
    }

    fn wait_for_none(&self, at_most: Duration) -> usize {
        let deadline = Instant::now() + at_most;
        let mut count = self.count.lock();
        while *count > 0 && !self.fewer.wait_until(&mut count, deadline).timed_out() {}
        *count
    }
}

/// Counts a connection until it is dropped.
struct Served(Arc<Connections>);

impl Drop for Served {
    fn drop(&mut self) {
        *self.0.count.lock() -= 1;
        self.0.fewer.notify_all();
    }
}

/// The name under which accounts know a client's address: this machine's is `localhost`, unless names are not resolved
/// (`skip_name_resolve`). No other name is looked up.
fn host_name(address: std::net::IpAddr, by_address: bool) -> String {
    let address = address.to_canonical();
    if address.is_loopback() && !by_address { "localhost".to_owned() } else { address.to_string() }
}

/// Whether another connection can only be taken later.
fn is_exhausted(e: &std::io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}
