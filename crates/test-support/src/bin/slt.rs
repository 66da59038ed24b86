//! `slt --selkie PROGRAM [--folder FOLDER] [--most N] [--only TEXT]`: the public sqllogictest corpus on Selkie (or, with
//! `--selkie mariadb`, on a real MariaDB); ends with status 1 if a record fails. `--most` limits the records of a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use selkie_test_support::server::{Kind, ServerFailure, TestServer};
use selkie_test_support::slt::{find, run_file};
use selkie_test_support::suite::MARIADB_OPTIONS;

const FAILURES_SHOWN: usize = 5;

struct Settings {
    selkie: String,
    folder: PathBuf,
    most: usize,
    only: String,
}

fn settings() -> Result<Settings, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/compat/slt");
    let mut s = Settings { selkie: "./selkie".into(), folder, most: usize::MAX, only: String::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--selkie" => s.selkie = value,
            "--folder" => s.folder = value.into(),
            "--most" => s.most = value.parse().map_err(|_| format!("{name}: {value} is no number"))?,
            "--only" => s.only = value,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(s)
}

fn main() -> ExitCode {
    match settings().and_then(|s| run(&s).map_err(|e| e.to_string())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("slt: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(s: &Settings) -> Result<bool, ServerFailure> {
    let mut files = find(&s.folder).map_err(|e| ServerFailure::Io(s.folder.display().to_string(), e))?;
    files.retain(|f| f.to_string_lossy().contains(&s.only));
    if files.is_empty() {
        return Err(ServerFailure::Tool(format!("{}: no files", s.folder.display())));
    }
    let mut server = match s.selkie.as_str() {
        "mariadb" => TestServer::start(Kind::MariaDb, MARIADB_OPTIONS)?,
        program => TestServer::start(Kind::Selkie(program.into()), &["--sync-binlog=0"])?,
    };
    let (mut passed, mut failed, mut left) = (0, 0, 0);
    for file in &files {
        let started = Instant::now();
        match run_file(&server, file, s.most) {
            Ok(outcome) => {
                let seconds = started.elapsed().as_secs_f64();
                println!("{}: {} passed, {} failed, {} left, {seconds:.1} s", file.display(), outcome.passed, outcome.failed.len(), outcome.left);
                outcome.failed.iter().take(FAILURES_SHOWN).for_each(|f| println!("{f}"));
                passed += outcome.passed;
                failed += outcome.failed.len();
                left += outcome.left;
            }
            Err(e) => {
                println!("{}: {e}\n{}", file.display(), server.log());
                failed += 1;
                server.restart()?;
            }
        }
    }
    println!("{} files: {passed} records passed, {failed} failed, {left} left out", files.len());
    Ok(failed == 0)
}
