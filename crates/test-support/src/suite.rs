//! Runs the scripts of a folder against servers, and compares or records their answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::client::{Answer, Client, ClientError, Login};
use crate::script::{Action, Block, Command, Script, line_difference, show};
use crate::server::{ANSWER_TIMEOUT, Kind, ServerFailure, TestServer};

/// The database of each script.
const DATABASE: &str = "suite";
/// A statement that has not been answered in this time is taken to block.
const BLOCKED_AFTER: Duration = Duration::from_millis(200);
/// Options of the MariaDB whose answers are recorded: what Selkie always does.
pub const MARIADB_OPTIONS: &[&str] = &[
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
    "--innodb-snapshot-isolation=ON",
    "--log-bin",
    "--binlog-format=ROW",
    "--server-id=1",
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=64M",
];

/// What to run.
pub struct Suites {
    /// The `selkie` program.
    pub selkie: PathBuf,
    /// The folder with a folder of scripts for each subject.
    pub folder: PathBuf,
}

/// Whose answers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The recorded ones must come.
    Compare,
    /// Selkie's are recorded.
    Update,
    /// A real MariaDB's are recorded, except where marked as Selkie's own.
    RecordFromMariaDb,
}

impl Suites {
    /// Runs as a test program: arguments are parts of script names, `--record-from-mariadb`, and what `cargo test`
    /// passes. `UPDATE_EXPECT=1` in the environment records Selkie's answers.
    pub fn main(&self) -> ExitCode {
        let mut filters = Vec::new();
        let update = std::env::var_os("UPDATE_EXPECT").is_some_and(|v| v == "1");
        let mut mode = if update { Mode::Update } else { Mode::Compare };
        let mut list = false;
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--record-from-mariadb" => mode = Mode::RecordFromMariaDb,
                "--list" => list = true,
                option if option.starts_with('-') => {}
                filter => filters.push(filter.to_owned()),
            }
        }
        let scripts = match find(&self.folder) {
            Ok(s) => s,
            Err(e) => {
                eprintln!("{}: {e}", self.folder.display());
                return ExitCode::FAILURE;
            }
        };
        if scripts.is_empty() {
            eprintln!("{}: there are no scripts", self.folder.display());
            return ExitCode::FAILURE;
        }
        let wanted = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
        let chosen: BTreeMap<_, _> = scripts.into_iter().filter(|(name, _)| wanted(name)).collect();
        if list {
            chosen.keys().for_each(|name| println!("{name}: test"));
            return ExitCode::SUCCESS;
        }
        let servers: Vec<(&str, Kind, Vec<&str>)> = match mode {
            Mode::RecordFromMariaDb => vec![("mariadb", Kind::MariaDb, MARIADB_OPTIONS.to_vec())],
            _ => ["wiredtiger", "memory"]
                .into_iter()
                .map(|engine| {
                    let option =
                        if engine == "memory" { "--selkie-engine=memory" } else { "--selkie-engine=wiredtiger" };
                    (engine, Kind::Selkie(self.selkie.clone()), vec![option])
                })
                .collect(),
        };
        println!("\nrunning {} tests", chosen.len() * servers.len());
        let mut failures = Vec::new();
        for (n, (name, kind, options)) in servers.into_iter().enumerate() {
            // The second engine must agree with what the first one gave.
            let mode = if n > 0 { Mode::Compare } else { mode };
            if let Err(e) = run_all(name, kind, &options, &chosen, mode, &mut failures) {
                failures.push((name.to_owned(), e.to_string()));
            }
        }
        report(&failures, chosen.len())
    }
}

fn report(failures: &[(String, String)], scripts: usize) -> ExitCode {
    if failures.is_empty() {
        println!("\ntest result: ok. {scripts} scripts, 0 failed\n");
        return ExitCode::SUCCESS;
    }
    println!("\nfailures:\n");
    for (name, why) in failures {
        println!("---- {name} ----\n{why}\n");
    }
    println!("test result: FAILED. {} failed\n", failures.len());
    ExitCode::FAILURE
}

/// Script files by `subject/name`.
fn find(folder: &Path) -> std::io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    for subject in std::fs::read_dir(folder)? {
        let subject = subject?.path();
        if !subject.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&subject)? {
            let file = file?.path();
            if file.extension().is_some_and(|e| e == "test") {
                let part = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.insert(format!("{}/{}", part(&subject), part(&file)), file);
            }
        }
    }
    Ok(found)
}

/// Runs all scripts on one server, each in a database of its own.
fn run_all(
    server_name: &str,
    kind: Kind,
    options: &[&str],
    scripts: &BTreeMap<String, PathBuf>,
    mode: Mode,
    failures: &mut Vec<(String, String)>,
) -> Result<(), ServerFailure> {
    let mut server = TestServer::start(kind, options)?;
    for (name, path) in scripts {
        let result = run_file(&server, path, mode);
        let full = format!("{server_name}::{name}");
        match result {
            Ok(()) => println!("test {full} ... ok"),
            Err(why) => {
                println!("test {full} ... FAILED");
                failures.push((full, why));
                if server.connect().is_err() {
                    let log = server.log();
                    let end: Vec<&str> = log.lines().rev().take(20).collect();
                    let end: Vec<&str> = end.into_iter().rev().collect();
                    failures.push((
                        server_name.to_owned(),
                        format!("the server is gone; its log ends with:\n{}", end.join("\n")),
                    ));
                    server.restart()?;
                }
            }
        }
    }
    Ok(())
}

fn run_file(server: &TestServer, path: &Path, mode: Mode) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let mut script = Script::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    if script.blocks.is_empty() {
        return Err(format!("{}: there is nothing to run", path.display()));
    }
    let mut run = Run::begin(server).map_err(|e| e.to_string())?;
    let mut wrong = Vec::new();
    for block in &mut script.blocks {
        let actual = run.block(block).map_err(|e| format!("{}:{}: {e}", path.display(), block.line))?;
        match mode {
            Mode::RecordFromMariaDb if block.own.is_some() => {}
            Mode::RecordFromMariaDb | Mode::Update => block.expected = actual,
            Mode::Compare => {
                if block.expected != actual {
                    wrong.push(difference(path, block, &actual));
                }
            }
        }
    }
    if let Some(session) = run.blocked() {
        return Err(format!("{}: connection '{session}' was not waited for", path.display()));
    }
    if mode != Mode::Compare && script.text() != text {
        std::fs::write(path, script.text()).map_err(|e| e.to_string())?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn difference(path: &Path, block: &Block, actual: &[String]) -> String {
    let statements: Vec<&str> = block.text.iter().map(String::as_str).filter(|l| !l.is_empty()).collect();
    let mut out = format!("{}:{}:\n    {}\n", path.display(), block.line, statements.join("\n    "));
    for (mark, line) in line_difference(&block.expected, actual) {
        out.push_str(&format!("  {mark} {line}\n"));
    }
    out
}

/// A script's connections.
struct Run<'a> {
    server: &'a TestServer,
    sessions: BTreeMap<String, Session>,
}

struct Session {
    client: Client,
    /// The statement that it waits for, with how to show its answer.
    pending: Option<(bool, bool)>,
}

impl<'a> Run<'a> {
    fn begin(server: &'a TestServer) -> Result<Run<'a>, ServerFailure> {
        let mut admin = server.connect()?;
        for sql in ["DROP DATABASE IF EXISTS ", "CREATE DATABASE "] {
            admin.execute(&format!("{sql}{DATABASE}"))?;
        }
        Ok(Run { server, sessions: BTreeMap::new() })
    }

    fn blocked(&self) -> Option<&str> {
        self.sessions.iter().find(|(_, s)| s.pending.is_some()).map(|(name, _)| name.as_str())
    }

    fn block(&mut self, block: &Block) -> Result<Vec<String>, ServerFailure> {
        let mut out = Vec::new();
        for command in &block.commands {
            let lines = self.command(command)?;
            if command.session.is_empty() {
                out.extend(lines);
            } else {
                out.extend(lines.into_iter().map(|l| format!("{}: {l}", command.session)));
            }
        }
        // An answer never holds an empty line, so that it ends with one.
        Ok(out
            .into_iter()
            .flat_map(|l| l.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|l| !l.is_empty())
            .collect())
    }

    fn session(&mut self, name: &str) -> Result<&mut Session, ServerFailure> {
        if !self.sessions.contains_key(name) {
            let login = Login { database: Some(DATABASE.to_owned()), ..Login::default() };
            let client = self.server.connect_as(&login)?;
            self.sessions.insert(name.to_owned(), Session { client, pending: None });
        }
        self.sessions.get_mut(name).ok_or_else(|| ServerFailure::Tool("no such connection".to_owned()))
    }

    fn command(&mut self, command: &Command) -> Result<Vec<String>, ServerFailure> {
        let name = &command.session;
        match &command.action {
            Action::Disconnect => {
                self.sessions.remove(name);
                Ok(vec!["disconnected".to_owned()])
            }
            Action::Wait => {
                let session = self.session(name)?;
                let Some((sorted, types)) = session.pending.take() else {
                    return Err(ServerFailure::Tool(format!("connection '{name}' has nothing to wait for")));
                };
                session.client.set_timeout(Some(ANSWER_TIMEOUT))?;
                let received = session.client.receive();
                session.answers(received, None, sorted, types)
            }
            Action::Run { sql, blocks, sorted, types } => {
                let session = self.session(name)?;
                if session.pending.is_some() {
                    return Err(ServerFailure::Tool(format!("connection '{name}' is still blocked: wait for it")));
                }
                if !blocks {
                    let received = session.client.query_all(sql);
                    return session.answers(received, Some(sql), *sorted, *types);
                }
                session.client.set_timeout(Some(BLOCKED_AFTER))?;
                session.client.send(sql)?;
                match session.client.receive() {
                    Err(e) if e.is_timeout() => {
                        session.pending = Some((*sorted, *types));
                        Ok(vec!["(blocked)".to_owned()])
                    }
                    received => {
                        session.client.set_timeout(Some(ANSWER_TIMEOUT))?;
                        let mut lines = vec!["(did not block)".to_owned()];
                        lines.extend(session.answers(received, Some(sql), *sorted, *types)?);
                        Ok(lines)
                    }
                }
            }
        }
    }
}

impl Session {
    /// Shows answers with the warnings that belong to the last one.
    fn answers(
        &mut self,
        received: Result<Vec<Answer>, ClientError>,
        sql: Option<&str>,
        sorted: bool,
        types: bool,
    ) -> Result<Vec<String>, ServerFailure> {
        let answers = received?;
        let mut lines: Vec<String> = answers.iter().flat_map(|a| show(a, sorted, types)).collect();
        let told = sql.is_some_and(|s| s.to_ascii_uppercase().starts_with("SHOW "));
        if answers.last().is_some_and(|a| a.warnings() > 0) && !told {
            for row in self.client.rows("SHOW WARNINGS")? {
                let text = |i: usize| {
                    let value = row.get(i).and_then(Option::as_deref).unwrap_or_default();
                    String::from_utf8_lossy(value).into_owned()
                };
                lines.push(format!("{} {}: {}", text(0), text(1), text(2)));
            }
        }
        Ok(lines)
    }
}
