//! The error log: what the server tells with `tracing`, in lines like MariaDB's, on stderr or in a file.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// Where lines go. `None`: stderr.
static TARGET: Mutex<Option<Target>> = Mutex::new(None);

struct Target {
    path: PathBuf,
    file: File,
}

fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Starts the log, once for a process. The environment's `SELKIE_LOG` may name what is to be told (`debug`,
/// `selkie_txn=trace`).
pub fn start(path: Option<&Path>) -> io::Result<()> {
    if let Some(path) = path {
        *TARGET.lock() = Some(Target { path: path.to_owned(), file: open_file(path)? });
    }
    let filter = EnvFilter::try_from_env("SELKIE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber =
        tracing_subscriber::fmt().event_format(MariaDbLines).with_writer(LogWriter).with_env_filter(filter).finish();
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            tracing::error!("internal error: {info}");
            default(info);
        }));
    }
    Ok(())
}

/// Opens the file anew, after it was renamed by a log rotation.
pub fn reopen() {
    let mut target = TARGET.lock();
    if let Some(target) = &mut *target {
        match open_file(&target.path) {
            Ok(file) => target.file = file,
            Err(e) => {
                // The old file is still open: say it there.
                let _ = writeln!(target.file, "cannot reopen {}: {e}", target.path.display());
            }
        }
    }
}

struct LogWriter;

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogWriter;

    fn make_writer(&'a self) -> LogWriter {
        LogWriter
    }
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *TARGET.lock() {
            Some(target) => target.file.write(bytes),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `2026-11-20 10:25:36 0 [Note] text`
struct MariaDbLines;

impl<S, N> FormatEvent<S, N> for MariaDbLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let level = match *event.metadata().level() {
            Level::ERROR => "ERROR",
            Level::WARN => "Warning",
            Level::INFO => "Note",
            Level::DEBUG | Level::TRACE => "Debug",
        };
        let now = jiff::Zoned::now();
        write!(out, "{} 0 [{level}] ", now.strftime("%Y-%m-%d %H:%M:%S"))?;
        let mut line = Line { text: String::new(), failed: Ok(()) };
        event.record(&mut line);
        line.failed?;
        writeln!(out, "{}", line.text)
    }
}

/// The message first, then fields as `name=value`.
struct Line {
    text: String,
    failed: fmt::Result,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write;
        let written = if field.name() == "message" {
            write!(self.text, "{value:?}")
        } else {
            let space = if self.text.is_empty() { "" } else { " " };
            write!(self.text, "{space}{}={value:?}", field.name())
        };
        self.failed = self.failed.and(written);
    }
}
