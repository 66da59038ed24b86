//! Table options: what they mean here, and which are only kept to be shown.

use selkie_parser::ast::{OptionValue, RowFormat, TableOption};
use selkie_types::{Collation, Diagnostics, SqlMode, SqlResult, sql_err};

use crate::host::DdlSettings;
use crate::types;

/// Longest comment of a table in characters.
const COMMENT_CHARS_MAX: usize = 2048;

/// Options that are shown, in the order in which they are.
const ORDER: [&str; 16] = [
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "PAGE_CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "TRANSACTIONAL",
    "KEY_BLOCK_SIZE",
    "CONNECTION",
    "DATA DIRECTORY",
    "INDEX DIRECTORY",
];

/// The options of a statement, put together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// ENGINE
    pub engine: Option<String>,
    /// CHARACTER SET and COLLATE, each `DEFAULT` or a name.
    pub charset: Option<String>,
    /// COLLATE
    pub collation: Option<String>,
    /// AUTO_INCREMENT
    pub auto_increment: Option<u64>,
    /// COMMENT
    pub comment: Option<String>,
    /// Those that are only shown; an empty value takes one away.
    pub shown: Vec<(String, String)>,
}

impl Options {
    /// From what was written; of several of a kind the last counts.
    pub fn of(list: &[TableOption]) -> SqlResult<Options> {
        let mut o = Options::default();
        for option in list {
            o.add(option)?;
        }
        Ok(o)
    }

    fn add(&mut self, option: &TableOption) -> SqlResult<()> {
        use TableOption as T;
        let number = |n: &u64| if *n == 0 { String::new() } else { n.to_string() };
        let switch = |n: &u64| if *n == 0 { String::new() } else { "1".to_string() };
        let maybe = |n: &Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let (name, value) = match option {
            T::Engine(e) => {
                self.engine = Some(e.value.clone());
                return Ok(());
            }
            T::AutoIncrement(n) => {
                self.auto_increment = Some(*n);
                return Ok(());
            }
            T::Charset(c) => {
                self.charset = Some(c.clone());
                return Ok(());
            }
            T::Collate(c) => {
                self.collation = Some(c.clone());
                return Ok(());
            }
            T::Comment(c) => {
                self.comment = Some(c.clone());
                return Ok(());
            }
            T::MinRows(n) => ("MIN_ROWS", number(n)),
            T::MaxRows(n) => ("MAX_ROWS", number(n)),
            T::AvgRowLength(n) => ("AVG_ROW_LENGTH", number(n)),
            T::PackKeys(n) => ("PACK_KEYS", maybe(n)),
            T::StatsPersistent(n) => ("STATS_PERSISTENT", maybe(n)),
            T::StatsAutoRecalc(n) => ("STATS_AUTO_RECALC", maybe(n)),
            T::StatsSamplePages(n) => ("STATS_SAMPLE_PAGES", maybe(n)),
            T::Checksum(n) => ("CHECKSUM", switch(n)),
            T::PageChecksum(n) => ("PAGE_CHECKSUM", switch(n)),
            T::DelayKeyWrite(n) => ("DELAY_KEY_WRITE", switch(n)),
            T::Transactional(n) => ("TRANSACTIONAL", maybe(n)),
            T::KeyBlockSize(n) => ("KEY_BLOCK_SIZE", number(n)),
            T::Connection(c) => ("CONNECTION", c.clone()),
            T::DataDirectory(d) => ("DATA DIRECTORY", d.clone()),
            T::IndexDirectory(d) => ("INDEX DIRECTORY", d.clone()),
            T::RowFormat(f) => {
                let text = match f {
                    RowFormat::Default => "",
                    RowFormat::Fixed => "FIXED",
                    RowFormat::Dynamic => "DYNAMIC",
                    RowFormat::Compressed => "COMPRESSED",
                    RowFormat::Redundant => "REDUNDANT",
                    RowFormat::Compact => "COMPACT",
                    RowFormat::Page => "PAGE",
                };
                ("ROW_FORMAT", text.to_string())
            }
            T::WithSystemVersioning => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "SYSTEM VERSIONING")),
            T::Sequence(n) if *n != 0 => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "SEQUENCE=1")),
            T::Other(o) => {
                let value = match &o.value {
                    OptionValue::Str(s) => quoted(s),
                    OptionValue::Ident(i) => quoted(i.as_str()),
                    // Switches are shown as texts.
                    OptionValue::Number(n) if o.name.is("page_compressed") => quoted(n),
                    OptionValue::Number(n) => n.clone(),
                    OptionValue::Default => String::new(),
                };
                self.put(format!("`{}`", o.name.as_str().replace('`', "``")), value);
                return Ok(());
            }
            T::Password(_)
            | T::Sequence(_)
            | T::Tablespace(_)
            | T::StorageDisk
            | T::StorageMemory
            | T::Union(_)
            | T::InsertMethod(_) => {
                return Ok(());
            }
        };
        self.put(name.to_string(), value);
        Ok(())
    }

    fn put(&mut self, name: String, value: String) {
        self.shown.retain(|(n, _)| !n.eq_ignore_ascii_case(&name));
        self.shown.push((name, value));
    }

    /// The collation of the table; `old` where nothing was written and there is one, `default` for `DEFAULT`.
    pub fn collation(&self, old: Option<Collation>, default: Collation) -> SqlResult<Collation> {
        match (&self.charset, &self.collation) {
            (None, None) => Ok(old.unwrap_or(default)),
            (cs, c) => types::resolve_collation(cs.as_deref(), c.as_deref(), default),
        }
    }

    /// COMMENT, checked.
    pub fn comment(&self, table: &str) -> SqlResult<Option<String>> {
        match &self.comment {
            Some(c) if c.chars().count() > COMMENT_CHARS_MAX => {
                Err(sql_err!(ER_TOO_LONG_TABLE_COMMENT, table, COMMENT_CHARS_MAX))
            }
            c => Ok(c.clone()),
        }
    }

    /// The shown options of a table after this statement.
    pub fn merged(&self, old: &[(String, String)]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> =
            old.iter().filter(|(n, _)| !self.shown.iter().any(|(s, _)| s.eq_ignore_ascii_case(n))).cloned().collect();
        all.extend(self.shown.iter().filter(|(_, v)| !v.is_empty()).cloned());
        all.sort_by_key(|(n, _)| ORDER.iter().position(|o| o == n).unwrap_or(ORDER.len()));
        all
    }
}

fn quoted(text: &str) -> String {
    selkie_catalog::show_create::quote_text(text)
}

/// Names of storage engines as MariaDB writes them. All are kept and shown as declared; one engine is behind them.
const ENGINES: [(&str, &str); 14] = [
    ("innodb", "InnoDB"),
    ("myisam", "MyISAM"),
    ("aria", "Aria"),
    ("memory", "MEMORY"),
    ("heap", "MEMORY"),
    ("csv", "CSV"),
    ("archive", "ARCHIVE"),
    ("mrg_myisam", "MRG_MyISAM"),
    ("merge", "MRG_MyISAM"),
    ("blackhole", "BLACKHOLE"),
    ("rocksdb", "ROCKSDB"),
    ("tokudb", "TokuDB"),
    ("columnstore", "Columnstore"),
    ("selkie", "Selkie"),
];

/// A storage engine's name as it is shown.
///
/// # Errors
/// 1286 for a name that MariaDB does not know, under NO_ENGINE_SUBSTITUTION; else the default with warnings.
pub fn engine(
    name: Option<&str>,
    temporary: bool,
    table: &str,
    settings: &DdlSettings,
    diag: &mut Diagnostics,
) -> SqlResult<String> {
    let known = |n: &str| ENGINES.iter().find(|(k, _)| k.eq_ignore_ascii_case(n)).map(|(_, shown)| (*shown).to_owned());
    let default = || {
        let own = &settings.default_tmp_storage_engine;
        let name = if temporary && !own.is_empty() { own } else { &settings.default_storage_engine };
        known(name).unwrap_or_else(|| "InnoDB".into())
    };
    let Some(name) = name else { return Ok(default()) };
    if let Some(shown) = known(name) {
        return Ok(shown);
    }
    let unknown = sql_err!(ER_UNKNOWN_STORAGE_ENGINE, name);
    if settings.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
        return Err(unknown);
    }
    diag.warn(unknown);
    let used = default();
    diag.warn(sql_err!(ER_WARN_USING_OTHER_HANDLER, used, table));
    Ok(used)
}
