//! The server from start to end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use polling::Poller;
use selkie_engine::Engine;
use selkie_engine_memory::MemoryEngine;
use selkie_engine_wiredtiger::{Options as WiredTigerOptions, WiredTigerEngine};
use selkie_session::boot::{self, BootError, BootOptions};
use selkie_session::instance::Instance;

use crate::connections::Connections;
use crate::datadir::{Datadir, DatadirError, PidFile};
use crate::error_log;
use crate::listener::{self, ListenError, Listener};
use crate::maintenance::Maintenance;
use crate::options::{EngineChoice, Note, ServerOptions};
use crate::signals::SignalThread;
use crate::transport::Origin;

/// How long connections may go on with their statements when the server shuts down; and how long killed ones may take.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data directory.
    #[error("{0}")]
    Datadir(#[from] DatadirError),
    /// Listening.
    #[error("{0}")]
    Listen(#[from] ListenError),
    /// Opening or closing the database.
    #[error("{0}")]
    Boot(#[from] BootError),
    /// A file.
    #[error("cannot write {0}: {1}")]
    File(PathBuf, io::Error),
    /// `--user`.
    #[error("cannot run as user '{0}': {1}")]
    User(String, io::Error),
    /// The operating system refused something that it always has.
    #[error("{0}: {1}")]
    System(&'static str, io::Error),
}

/// Runs the server until it is told to stop.
pub fn run(options: ServerOptions) -> Result<(), ServeError> {
    let log_error = options.log_error.as_deref();
    if let Err(e) = error_log::start(log_error) {
        // The file cannot be written: stderr is what there is.
        let path = log_error.unwrap_or(Path::new("stderr")).to_owned();
        let _ = error_log::start(None);
        return Err(ServeError::File(path, e));
    }
    tracing::info!("Starting {} as process {}", crate::options::version_line(), std::process::id());
    for note in &options.notes {
        match note {
            Note::Note(text) => tracing::info!("{text}"),
            Note::Warning(text) => tracing::warn!("{text}"),
        }
    }
    if let Some(user) = &options.user {
        crate::user::become_user(user).map_err(|e| ServeError::User(user.clone(), e))?;
    }
    let _datadir = Datadir::open(&options.datadir)?;
    // Before the database is opened: a second server must not even begin to recover.
    let listeners = listener::open(&options.globals, &options.socket)?;
    let _pid_file = match &options.pid_file {
        Some(path) => Some(PidFile::write(path).map_err(|e| ServeError::File(path.clone(), e))?),
        None => None,
    };
    let instance = open(&options, &listeners)?;
    let served = serve(&options, &instance, listeners);
    tracing::info!("closing the database");
    boot::close(&instance)?;
    tracing::info!("selkie: Shutdown complete");
    served
}

fn open(options: &ServerOptions, listeners: &[Listener]) -> Result<Arc<Instance>, ServeError> {
    let started = Instant::now();
    let mut globals = options.globals.clone();
    if let Some(port) = listeners.iter().find_map(Listener::port) {
        globals.set_named("port", &port.to_string());
    }
    let boot_options = BootOptions { datadir: options.datadir.clone(), globals, log_recovery: options.log_recovery };
    let engine = options.engine;
    let factory = |folder: &Path, cache_bytes: u64| open_engine(engine, folder, cache_bytes);
    let instance = boot::open(boot_options, &factory, Arc::new(MemoryEngine::new()))?;
    tracing::info!("the database is open after {:?}", started.elapsed());
    Ok(instance)
}

fn open_engine(choice: EngineChoice, folder: &Path, cache_bytes: u64) -> Result<Arc<dyn Engine>, String> {
    Ok(match choice {
        EngineChoice::Memory => Arc::new(MemoryEngine::new()),
        EngineChoice::WiredTiger => {
            let options = WiredTigerOptions { cache_bytes, ..WiredTigerOptions::default() };
            Arc::new(WiredTigerEngine::open(folder, &options).map_err(|e| e.to_string())?)
        }
    })
}

/// Serves until shutdown is requested, then ends all connections.
fn serve(options: &ServerOptions, instance: &Arc<Instance>, listeners: Vec<Listener>) -> Result<(), ServeError> {
    let system = |what| move |e| ServeError::System(what, e);
    let poller = Arc::new(Poller::new().map_err(system("cannot make a poller"))?);
    let notified = poller.clone();
    instance.set_shutdown_hook(move || {
        if let Err(e) = notified.notify() {
            tracing::error!("cannot wake the accepting thread: {e}");
        }
    });
    let _signals = SignalThread::start(instance.clone()).map_err(system("cannot listen to signals"))?;
    let keeps_checkpoints = options.engine == EngineChoice::WiredTiger;
    let _maintenance =
        Maintenance::start(instance.clone(), keeps_checkpoints).map_err(system("cannot start a thread"))?;
    tell_how_to_connect(options, instance, &listeners);
    let connections = Connections::new(instance.clone());
    let accepted = connections.accept(listeners, &poller).map_err(system("cannot wait for connections"));
    // After a failure to accept, too.
    if !instance.is_shutting_down() {
        instance.request_shutdown();
    }
    let left = connections.end_all(SHUTDOWN_GRACE);
    if left > 0 {
        tracing::warn!("{left} connections did not end");
    }
    accepted
}

fn tell_how_to_connect(options: &ServerOptions, instance: &Instance, listeners: &[Listener]) {
    let globals = instance.globals.read();
    for listener in listeners {
        match listener.origin {
            Origin::Tcp => tracing::info!("listening on {}", listener.name),
            Origin::Local => tracing::info!("listening on unix socket {}", listener.name),
        }
    }
    tracing::info!("data directory: {}", options.datadir.display());
    let tcp = listeners.iter().find(|l| l.origin == Origin::Tcp).and_then(Listener::port);
    if let Some(port) = tcp {
        tracing::info!("connect with: mariadb -h 127.0.0.1 -P {port} -u USER -p (an account that has a password)");
    }
    tracing::info!("connect with: mariadb -S {} -u root", options.socket.display());
    tracing::info!(
        "selkie: ready for connections. Version: '{}'  socket: '{}'  port: {}",
        globals.get("version"),
        options.socket.display(),
        tcp.unwrap_or(0)
    );
}
