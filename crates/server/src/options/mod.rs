//! Options of `selkie serve`: mariadbd's names and rules, on the command line and in option files.
//!
//! An option is a name with or without value. Names take dashes or underscores, and the prefixes `skip-`, `disable-`,
//! `enable-`, `loose-`. Any global system variable can be set by its name; what else there is stands in
//! [`names`]. The last of several wins; option files come before the command line.

mod file;
mod help;
mod names;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use selkie_binlog::log::LogRecovery;
use selkie_session::variables::{Scope, TABLE, Values, VarDef, find};
use selkie_types::{Charset, Collation};

pub use help::{USAGE, version_line};
use names::Special;

/// Exit status for an option that does not exist; mariadbd's.
pub const EXIT_UNKNOWN_OPTION: u8 = 7;
const EXIT_AMBIGUOUS_ARGUMENT: u8 = 5;
const EXIT_BAD_NUMBER: u8 = 9;
const EXIT_BAD_VALUE: u8 = 13;

/// Which storage engine holds the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineChoice {
    /// On disk.
    #[default]
    WiredTiger,
    /// In memory only: for tests. Recovery replays the whole log.
    Memory,
}

/// What the server is to do.
#[derive(Debug)]
pub struct ServerOptions {
    /// The data directory, absolute.
    pub datadir: PathBuf,
    /// Unix socket, absolute.
    pub socket: PathBuf,
    /// Process id file, absolute.
    pub pid_file: Option<PathBuf>,
    /// Error log instead of stderr, absolute.
    pub log_error: Option<PathBuf>,
    /// Account to run as.
    pub user: Option<String>,
    /// Start values of the global variables.
    pub globals: Values,
    /// What to do about a damaged log.
    pub log_recovery: LogRecovery,
    /// Storage engine.
    pub engine: EngineChoice,
    /// What is to be said in the log once it is open.
    pub notes: Vec<Note>,
}

/// Something to tell about an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// For information.
    Note(String),
    /// To be looked at.
    Warning(String),
}

/// Outcome of [`parse`].
#[derive(Debug)]
pub enum Parsed {
    /// Run the server.
    Serve(Box<ServerOptions>),
    /// Print a text and end (`--help`, `--version`, `--print-defaults`).
    Print(String),
}

/// Why the options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// No such option.
    #[error("unknown option '{0}'")]
    Unknown(String),
    /// A value is missing.
    #[error("option '{0}' requires an argument")]
    NoValue(String),
    /// A value that an option does not take.
    #[error("option '{0}' cannot take an argument")]
    UnwantedValue(String),
    /// A number is none.
    #[error("'{1}' is no number that option '{0}' can take")]
    BadNumber(String, String),
    /// A value is not among those allowed.
    #[error("error while setting value '{1}' to option '{0}'{2}")]
    BadValue(String, String, String),
    /// An argument that is no option.
    #[error("too many arguments (first extra is '{0}')")]
    Argument(String),
    /// An option file.
    #[error("{0}")]
    File(#[from] file::FileError),
    /// The current directory is gone.
    #[error("cannot find out the current directory: {0}")]
    CurrentDirectory(std::io::Error),
}

impl OptionError {
    /// The status that the program ends with; as mariadbd's.
    pub fn exit_status(&self) -> u8 {
        match self {
            OptionError::Unknown(_) => EXIT_UNKNOWN_OPTION,
            OptionError::NoValue(_) | OptionError::UnwantedValue(_) => EXIT_AMBIGUOUS_ARGUMENT,
            OptionError::BadNumber(..) => EXIT_BAD_NUMBER,
            OptionError::BadValue(..) => EXIT_BAD_VALUE,
            OptionError::Argument(_) | OptionError::File(_) | OptionError::CurrentDirectory(_) => 1,
        }
    }
}

/// An option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    name: String,
    value: Option<String>,
}

/// Reads the arguments behind `selkie serve`, and the option files.
pub fn parse(arguments: Vec<OsString>) -> Result<Parsed, OptionError> {
    let arguments: Vec<String> = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let current = std::env::current_dir().map_err(OptionError::CurrentDirectory)?;
    let (files, rest) = file::split_file_options(&arguments)?;
    let mut given = files.read(&current)?;
    given.extend(from_command_line(rest)?);
    if files.print_defaults {
        let list: Vec<String> = given
            .iter()
            .map(|g| g.value.as_ref().map_or_else(|| format!("--{}", g.name), |v| format!("--{}={v}", g.name)))
            .collect();
        return Ok(Parsed::Print(format!(
            "selkie serve would have been started with these options:\n{}",
            list.join(" ")
        )));
    }
    let mut builder = Builder::default();
    for g in &given {
        builder.take(g)?;
    }
    if builder.help {
        return Ok(Parsed::Print(help::serve_help(builder.verbose)));
    }
    if builder.version {
        return Ok(Parsed::Print(version_line()));
    }
    Ok(Parsed::Serve(Box::new(builder.finish(current))))
}

/// Splits arguments into names and values; a value may follow as the next argument where one is required.
fn from_command_line(arguments: &[String]) -> Result<Vec<Given>, OptionError> {
    let mut given = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (name, value) = if let Some(long) = argument.strip_prefix("--") {
            match long.split_once('=') {
                Some((n, v)) => (n.to_owned(), Some(v.to_owned())),
                None => (long.to_owned(), None),
            }
        } else if let Some((name, attached)) = names::short_option(argument) {
            (name.to_owned(), (!attached.is_empty()).then(|| attached.to_owned()))
        } else if argument.starts_with('-') && argument.len() > 1 {
            return Err(OptionError::Unknown(argument.clone()));
        } else {
            return Err(OptionError::Argument(argument.clone()));
        };
        let value = match value {
            None if requires_value(&name) => rest.next().cloned(),
            v => v,
        };
        given.push(Given { name, value });
    }
    Ok(given)
}

fn canonical(name: &str) -> String {
    let name = name.replace('-', "_").to_ascii_lowercase();
    match name.as_str() {
        "default_time_zone" => "time_zone".to_owned(),
        "transaction_isolation" => "tx_isolation".to_owned(),
        "transaction_read_only" => "tx_read_only".to_owned(),
        "storage_engine" => "default_storage_engine".to_owned(),
        "character_set" => "character_set_server".to_owned(),
        _ => name,
    }
}

/// The variable that an option sets.
fn variable(name: &str) -> Option<(usize, &'static VarDef)> {
    let i = find(name)?;
    let def = &TABLE[i];
    (def.scope != Scope::SessionOnly && !names::is_no_option(def.name)).then_some((i, def))
}

fn requires_value(name: &str) -> bool {
    let name = canonical(name);
    match names::special(&name) {
        Some(special) => special.requires_value(),
        None => variable(&name).is_some_and(|(_, def)| value::requires_value(def)),
    }
}

/// Gathers what the options say.
#[derive(Default)]
struct Builder {
    globals: Option<Values>,
    set: Vec<&'static str>,
    user: Option<String>,
    log_recovery: LogRecovery,
    engine: EngineChoice,
    notes: Vec<Note>,
    help: bool,
    verbose: bool,
    version: bool,
}

impl Builder {
    fn globals(&mut self) -> &mut Values {
        self.globals.get_or_insert_with(Values::defaults)
    }

    fn take(&mut self, given: &Given) -> Result<(), OptionError> {
        let full = canonical(&given.name);
        let (loose, name) = match full.strip_prefix("loose_") {
            Some(rest) => (true, canonical(rest)),
            None => (false, full),
        };
        match self.take_named(&name, given) {
            Err(OptionError::Unknown(_)) if loose => {
                self.notes.push(Note::Warning(format!("unknown option '--{}'", given.name)));
                Ok(())
            }
            Err(OptionError::BadValue(..) | OptionError::BadNumber(..)) if loose => {
                self.notes
                    .push(Note::Warning(format!("option '--{}' was ignored: its value does not fit", given.name)));
                Ok(())
            }
            other => other,
        }
    }

    fn take_named(&mut self, name: &str, given: &Given) -> Result<(), OptionError> {
        if self.take_known(name, given.value.as_deref(), given)? {
            return Ok(());
        }
        for (prefix, negated) in [("skip_", true), ("disable_", true), ("enable_", false)] {
            let Some(rest) = name.strip_prefix(prefix) else { continue };
            if given.value.is_some() {
                return Err(OptionError::UnwantedValue(format!("--{}", given.name)));
            }
            let rest = canonical(rest);
            if names::special(&rest).is_some_and(Special::is_switch)
                || variable(&rest).is_some_and(|(_, def)| value::is_switch(def))
            {
                let value = if negated { "0" } else { "1" };
                return self.take_known(&rest, Some(value), given).map(|_| ());
            }
            if names::is_ignored(&rest) {
                return Ok(());
            }
            // mariadbd only warns about doing without something that it does not know.
            if negated {
                self.notes.push(Note::Warning(format!("unknown option '--{}'", given.name)));
                return Ok(());
            }
        }
        if names::is_ignored(name) {
            self.notes.push(Note::Note(format!("option '--{}' has no meaning here and is ignored", given.name)));
            return Ok(());
        }
        Err(OptionError::Unknown(format!("--{}", given.name)))
    }

    /// Takes an option of exactly this name; false: there is none.
    fn take_known(&mut self, name: &str, value: Option<&str>, given: &Given) -> Result<bool, OptionError> {
        let shown = || format!("--{}", given.name);
        if let Some(special) = names::special(name) {
            if special.requires_value() && value.is_none() {
                return Err(OptionError::NoValue(shown()));
            }
            self.take_special(special, value.unwrap_or_default(), shown)?;
            return Ok(true);
        }
        let Some((i, def)) = variable(name) else { return Ok(false) };
        let text = match value {
            Some(v) => v,
            None => value::without_value(def).ok_or_else(|| OptionError::NoValue(shown()))?,
        };
        let accepted = value::accept(def, &shown(), text)?;
        if accepted.adjusted {
            let limit = format!("option '{}': value {text} adjusted to {}", def.name, accepted.text);
            self.notes.push(Note::Warning(limit));
        }
        check_named(def.name, &accepted.text).map_err(|why| OptionError::BadValue(shown(), text.to_owned(), why))?;
        self.globals().set(i, &accepted.text);
        self.set.push(def.name);
        for twin in names::twins(def.name) {
            self.globals().set_named(twin, &accepted.text);
        }
        if names::is_missed(def.name) && accepted.text != def.default {
            self.notes.push(Note::Warning(format!("option '{}' has no effect here", shown())));
        }
        if names::means_nothing(def.name) {
            self.notes.push(Note::Note(format!("option '{}' is kept, but has no effect here", shown())));
        }
        Ok(true)
    }

    fn take_special(&mut self, special: Special, value: &str, shown: impl Fn() -> String) -> Result<(), OptionError> {
        let bad = |why: &str| Err(OptionError::BadValue(shown(), value.to_owned(), why.to_owned()));
        match special {
            Special::Help => self.help = true,
            Special::Verbose => self.verbose = true,
            Special::Version => self.version = true,
            Special::User => self.user = Some(value.to_owned()),
            Special::LogBin => match value {
                "0" | "OFF" | "off" => self
                    .notes
                    .push(Note::Note("the binary log is the server's only log and cannot be switched off".to_owned())),
                "" | "1" | "ON" | "on" | "binlog" => {}
                other => self.notes.push(Note::Note(format!(
                    "the log's files are always called 'binlog' and stand in the data directory; '{other}' is not used"
                ))),
            },
            Special::LogRecovery => match value {
                "refuse" => self.log_recovery = LogRecovery::Refuse,
                "truncate" => self.log_recovery = LogRecovery::Truncate,
                _ => return bad("; it may be 'refuse' or 'truncate'"),
            },
            Special::Engine => match value {
                "wiredtiger" => self.engine = EngineChoice::WiredTiger,
                "memory" => self.engine = EngineChoice::Memory,
                _ => return bad("; it may be 'wiredtiger' or 'memory'"),
            },
        }
        Ok(())
    }

    fn finish(mut self, current: PathBuf) -> ServerOptions {
        self.derive_collation();
        let mut globals = self.globals.take().unwrap_or_else(Values::defaults);
        let text = |globals: &Values, name: &str| Some(globals.get(name).to_owned()).filter(|v| !v.is_empty());
        let set = |name: &str| self.set.contains(&name);
        let datadir = current.join(text(&globals, "datadir").unwrap_or_else(|| "data".to_owned()));
        let within = |path: String| datadir.join(path);
        let socket = within(text(&globals, "socket").unwrap_or_else(|| "selkie.sock".to_owned()));
        let pid_file = set("pid_file").then(|| text(&globals, "pid_file")).flatten().map(within);
        let log_error = set("log_error")
            .then(|| text(&globals, "log_error"))
            .flatten()
            .map(|name| if name.contains('.') { name } else { format!("{name}.err") })
            .map(within);
        if !set("port") {
            globals.set_named("port", "3306");
        }
        let path = |p: &PathBuf| p.to_string_lossy().into_owned();
        globals.set_named("datadir", &format!("{}/", datadir.display()));
        globals.set_named("socket", &path(&socket));
        globals.set_named("pid_file", &pid_file.as_ref().map(path).unwrap_or_default());
        globals.set_named("log_error", &log_error.as_ref().map(path).unwrap_or_default());
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        if !set("slow_query_log_file") && !set("log_slow_query_file") {
            for name in ["slow_query_log_file", "log_slow_query_file"] {
                globals.set_named(name, &format!("{host}-slow.log"));
            }
        }
        globals.set_named("hostname", &host);
        if !set("tmpdir") {
            globals.set_named("tmpdir", &std::env::temp_dir().to_string_lossy());
        }
        ServerOptions {
            datadir,
            socket,
            pid_file,
            log_error,
            user: self.user,
            globals,
            log_recovery: self.log_recovery,
            engine: self.engine,
            notes: self.notes,
        }
    }

    /// The character set decides the collation and the other way round, as far as only one was given.
    fn derive_collation(&mut self) {
        let (charset_set, collation_set) =
            (self.set.contains(&"character_set_server"), self.set.contains(&"collation_server"));
        if !charset_set && !collation_set {
            return;
        }
        let globals = self.globals();
        if !collation_set && let Some(charset) = Charset::by_name(globals.get("character_set_server")) {
            globals.set_named("collation_server", charset.default_collation().name());
        }
        let collation = globals.get("collation_server").to_owned();
        if let Some(collation) = Collation::by_name(&collation) {
            globals.set_named("character_set_server", collation.charset().name());
            globals.set_named("character_set_database", collation.charset().name());
            globals.set_named("collation_database", collation.name());
        }
    }
}

/// Checks values that name something.
fn check_named(name: &str, value: &str) -> Result<(), String> {
    let known = match name {
        "character_set_server" | "character_set_filesystem" => Charset::by_name(value).is_some(),
        "collation_server" => Collation::by_name(value).is_some(),
        "time_zone" => selkie_types::TimeZone::parse(value).is_some(),
        "default_storage_engine" => names::is_engine(value),
        _ => true,
    };
    if known { Ok(()) } else { Err(String::new()) }
}

#[cfg(test)]
mod tests;
