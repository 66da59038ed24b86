//! Servers for tests: Selkie, or a real MariaDB, each in a temporary folder, killed and restarted at will.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::{Client, ClientError, Endpoint, Login};

/// How long a server may take to accept connections, or to end.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a server that is starting or ending.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long an answer may take by default.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Why a server does not do what a test wants.
#[derive(Debug, thiserror::Error)]
pub enum ServerFailure {
    /// The operating system.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The process ended.
    #[error("the server ended ({0}); its log ends with:\n{1}")]
    Ended(ExitStatus, String),
    /// It does not accept connections, or does not end.
    #[error("the server {0} in {PATIENCE:?}; its log ends with:\n{1}")]
    Late(&'static str, String),
    /// A connection failed.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// A tool of MariaDB failed.
    #[error("{0}")]
    Tool(String),
}

fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServerFailure {
    let what = what.into();
    move |e| ServerFailure::Io(what, e)
}

/// What to start.
#[derive(Debug, Clone)]
pub enum Kind {
    /// The `selkie` program at this path.
    Selkie(PathBuf),
    /// Debian's `mariadbd`.
    MariaDb,
}

/// A running server. It is killed, and its folder removed, when this is dropped.
pub struct TestServer {
    kind: Kind,
    options: Vec<String>,
    folder: TempDir,
    port: Option<u16>,
    child: Option<Child>,
}

impl TestServer {
    /// Starts a server on a new data directory, reachable by its unix socket only.
    pub fn start(kind: Kind, options: &[&str]) -> Result<TestServer, ServerFailure> {
        Self::start_with(kind, options, None)
    }

    /// Starts a server that listens on a free TCP port too.
    pub fn start_tcp(kind: Kind, options: &[&str]) -> Result<TestServer, ServerFailure> {
        // Free now; it is taken again at once, and nobody else here looks for this one.
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(failed("no free port"))?;
        let port = listener.local_addr().map_err(failed("no free port"))?.port();
        drop(listener);
        Self::start_with(kind, options, Some(port))
    }

    fn start_with(kind: Kind, options: &[&str], port: Option<u16>) -> Result<TestServer, ServerFailure> {
        let folder =
            tempfile::Builder::new().prefix("selkie-test-").tempdir().map_err(failed("no temporary folder"))?;
        let options = options.iter().map(|o| (*o).to_owned()).collect();
        let mut server = TestServer { kind, options, folder, port, child: None };
        if let Kind::MariaDb = server.kind {
            install_mariadb(&server.datadir())?;
        }
        server.launch()?;
        Ok(server)
    }

    /// The data directory.
    pub fn datadir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s.sock")
    }

    /// The TCP port.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The process.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The options that it is started with from the next start on.
    pub fn set_options(&mut self, options: &[&str]) {
        self.options = options.iter().map(|o| (*o).to_owned()).collect();
    }

    /// What the server told.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn launch(&mut self) -> Result<(), ServerFailure> {
        let log = File::options().create(true).append(true).open(self.log_path()).map_err(failed("no log"))?;
        let mut command = match &self.kind {
            Kind::Selkie(program) => {
                let mut c = Command::new(program);
                c.arg("serve").arg("--no-defaults");
                c
            }
            Kind::MariaDb => {
                let mut c = Command::new("mariadbd");
                c.arg("--no-defaults").arg(format!("--user={}", current_user()));
                c
            }
        };
        command.arg(format!("--datadir={}", self.datadir().display()));
        command.arg(format!("--socket={}", self.socket().display()));
        match self.port {
            Some(port) => command.arg(format!("--port={port}")).arg("--bind-address=127.0.0.1"),
            None => command.arg("--skip-networking"),
        };
        command.args(&self.options);
        let err = log.try_clone().map_err(failed("no log"))?;
        command.stdin(Stdio::null()).stdout(log).stderr(err);
        self.child = Some(command.spawn().map_err(failed(format!("cannot start {command:?}")))?);
        self.wait_until_it_accepts()
    }

    fn wait_until_it_accepts(&mut self) -> Result<(), ServerFailure> {
        let started = Instant::now();
        loop {
            if let Some(child) = &mut self.child
                && let Some(status) = child.try_wait().map_err(failed("cannot wait for the server"))?
            {
                self.child = None;
                return Err(ServerFailure::Ended(status, self.log_end()));
            }
            match Client::connect(&self.endpoint(), &Login::default(), PATIENCE) {
                Ok(_) => return Ok(()),
                // Nobody listens yet, or the process is just ending.
                Err(ClientError::Io(_)) => {}
                Err(e) => return Err(e.into()),
            }
            if started.elapsed() > PATIENCE {
                return Err(ServerFailure::Late("does not accept connections", self.log_end()));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Where it listens, by its socket.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.socket())
    }

    /// Where it listens by TCP.
    pub fn tcp(&self) -> Option<Endpoint> {
        self.port.map(Endpoint::Tcp)
    }

    /// Logs in as root.
    pub fn connect(&self) -> Result<Client, ServerFailure> {
        self.connect_as(&Login::default())
    }

    /// Logs in.
    pub fn connect_as(&self, login: &Login) -> Result<Client, ServerFailure> {
        Ok(Client::connect(&self.endpoint(), login, ANSWER_TIMEOUT)?)
    }

    /// `kill -9`.
    pub fn kill(&mut self) -> Result<(), ServerFailure> {
        if let Some(mut child) = self.child.take() {
            child.kill().map_err(failed("cannot kill the server"))?;
            child.wait().map_err(failed("cannot wait for the server"))?;
        }
        Ok(())
    }

    /// SIGTERM, and waits for the end.
    pub fn stop(&mut self) -> Result<ExitStatus, ServerFailure> {
        let Some(child) = &mut self.child else {
            return Err(ServerFailure::Tool("the server does not run".to_owned()));
        };
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).map_err(|e| failed("cannot signal the server")(e.into()))?;
        }
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(failed("cannot wait for the server"))? {
                self.child = None;
                return Ok(status);
            }
            if started.elapsed() > PATIENCE {
                return Err(ServerFailure::Late("does not end", self.log_end()));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Starts it again on the same data directory. Returns how long it took to accept connections.
    pub fn restart(&mut self) -> Result<Duration, ServerFailure> {
        self.kill()?;
        let started = Instant::now();
        self.launch()?;
        Ok(started.elapsed())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Err(e) = self.kill() {
            eprintln!("{e}");
        }
    }
}

fn current_user() -> String {
    if rustix::process::geteuid().is_root() { "root".into() } else { std::env::var("USER").unwrap_or_default() }
}

/// Makes a MariaDB's data directory.
fn install_mariadb(datadir: &Path) -> Result<(), ServerFailure> {
    let mut command = Command::new("mariadb-install-db");
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", datadir.display()))
        .arg(format!("--user={}", current_user()))
        .arg("--auth-root-authentication-method=normal")
        .stdin(Stdio::null());
    let out = command.output().map_err(failed("cannot run mariadb-install-db (scripts/install-deps.sh test)"))?;
    if out.status.success() {
        return Ok(());
    }
    Err(ServerFailure::Tool(format!("mariadb-install-db: {}", String::from_utf8_lossy(&out.stderr))))
}
