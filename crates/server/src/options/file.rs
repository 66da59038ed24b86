//! Option files: `[group]` lines, `name=value` lines, `!include` and `!includedir`, in MariaDB's syntax.

use std::path::{Path, PathBuf};

use super::{Given, OptionError};

/// The groups that the server reads, whatever their order in a file.
const GROUPS: &[&str] = &["mysqld", "server", "mariadb", "mariadbd", "selkie"];
/// How deep files may include each other.
const DEPTH_MAX: usize = 10;

/// An option file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read option file '{0}': {1}")]
    Read(PathBuf, std::io::Error),
    /// A line that is none.
    #[error("wrong line in option file '{0}' at line {1}: {2}")]
    Line(PathBuf, usize, &'static str),
    /// Files include each other without end.
    #[error("option file '{0}' is included too deeply")]
    Depth(PathBuf),
    /// `--defaults-file` without name.
    #[error("option '{0}' requires an argument")]
    NoValue(&'static str),
}

/// Which option files to read.
#[derive(Debug, Default)]
pub struct OptionFiles {
    /// `--defaults-file`: only this one.
    only: Option<PathBuf>,
    /// `--defaults-extra-file`
    extra: Option<PathBuf>,
    /// `--defaults-group-suffix`
    suffix: String,
    /// `--print-defaults`
    pub print_defaults: bool,
}

/// Takes the options about option files off the front of the arguments; elsewhere they are unknown, as in MariaDB.
pub fn split_file_options(arguments: &[String]) -> Result<(OptionFiles, &[String]), OptionError> {
    let mut files = OptionFiles::default();
    let mut rest = arguments;
    while let [first, tail @ ..] = rest {
        let (name, value) = first.split_once('=').map_or((first.as_str(), None), |(n, v)| (n, Some(v)));
        let mut used = 1;
        let mut take = |name: &'static str| match (value, tail) {
            (Some(v), _) => Ok(v.to_owned()),
            (None, [next, ..]) => {
                used = 2;
                Ok(next.clone())
            }
            (None, []) => Err(FileError::NoValue(name)),
        };
        match name.replace('_', "-").as_str() {
            // No file is read unless it is named.
            "--no-defaults" => {}
            "--print-defaults" => files.print_defaults = true,
            "--defaults-file" => files.only = Some(take("--defaults-file")?.into()),
            "--defaults-extra-file" => files.extra = Some(take("--defaults-extra-file")?.into()),
            "--defaults-group-suffix" => files.suffix = take("--defaults-group-suffix")?,
            _ => break,
        }
        rest = &rest[used..];
    }
    Ok((files, rest))
}

impl OptionFiles {
    /// The options in the named files, in order.
    pub(super) fn read(&self, current: &Path) -> Result<Vec<Given>, FileError> {
        let mut groups: Vec<String> = GROUPS.iter().map(|g| (*g).to_owned()).collect();
        if !self.suffix.is_empty() {
            groups.extend(GROUPS.iter().map(|g| format!("{g}{}", self.suffix)));
        }
        let mut given = Vec::new();
        for path in [&self.only, &self.extra].into_iter().flatten() {
            read_file(&current.join(path), &groups, 0, &mut given)?;
        }
        Ok(given)
    }
}

fn read_file(path: &Path, groups: &[String], depth: usize, given: &mut Vec<Given>) -> Result<(), FileError> {
    if depth > DEPTH_MAX {
        return Err(FileError::Depth(path.to_owned()));
    }
    let bytes = std::fs::read(path).map_err(|e| FileError::Read(path.to_owned(), e))?;
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |line: usize, why| FileError::Line(path.to_owned(), line + 1, why);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut ours = false;
    let mut in_group = false;
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(directive) = line.strip_prefix('!') {
            if let Some(name) = directive.strip_prefix("includedir") {
                let mut files = included(&folder.join(name.trim()))?;
                files.sort();
                for file in files {
                    read_file(&file, groups, depth + 1, given)?;
                }
            } else if let Some(name) = directive.strip_prefix("include") {
                read_file(&folder.join(name.trim()), groups, depth + 1, given)?;
            } else {
                return Err(wrong(n, "there is !include and !includedir"));
            }
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            let (group, _) = group.split_once(']').ok_or_else(|| wrong(n, "']' is missing"))?;
            ours = groups.iter().any(|g| g == group.trim());
            in_group = true;
            continue;
        }
        if !in_group {
            return Err(wrong(n, "an option before the first [group]"));
        }
        if ours {
            given.push(option_line(line));
        }
    }
    Ok(())
}

fn included(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let failed = |e| FileError::Read(folder.to_owned(), e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "cnf") && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

fn option_line(line: &str) -> Given {
    match line.split_once('=') {
        None => Given { name: without_comment(line).trim().to_owned(), value: None },
        Some((name, value)) => Given { name: name.trim().to_owned(), value: Some(unquoted(value.trim())) },
    }
}

fn without_comment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before)
}

/// A value without its quotes and comment, escapes replaced.
fn unquoted(text: &str) -> String {
    let inner = match text.chars().next() {
        Some(quote @ ('\'' | '"')) => match text[1..].find(quote) {
            Some(end) => &text[1..=end],
            None => text,
        },
        _ => without_comment(text).trim_end(),
    };
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, Option<String>)>, FileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.cnf");
        std::fs::write(&path, text).unwrap();
        std::fs::create_dir(folder.path().join("d")).unwrap();
        std::fs::write(folder.path().join("d/b.cnf"), "[mysqld]\nb=2\n").unwrap();
        std::fs::write(folder.path().join("d/a.cnf"), "[selkie]\na=1\n").unwrap();
        std::fs::write(folder.path().join("d/c.txt"), "[mysqld]\nc=3\n").unwrap();
        let files = OptionFiles { only: Some(path), ..OptionFiles::default() };
        Ok(files.read(folder.path())?.into_iter().map(|g| (g.name, g.value)).collect())
    }

    fn pair(name: &str, value: &str) -> (String, Option<String>) {
        (name.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn only_the_servers_groups_count() {
        let text =
            "# c\n[client]\nport=1\n[mysqld]\nport = 2 # two\nskip-networking\n[selkie]\nsocket='a b#c'\n; end\n";
        let expected = vec![pair("port", "2"), ("skip-networking".into(), None), pair("socket", "a b#c")];
        assert_eq!(read(text).unwrap(), expected);
    }

    #[test]
    fn folders_are_included_in_order() {
        assert_eq!(read("!includedir d\n").unwrap(), [pair("a", "1"), pair("b", "2")]);
        assert_eq!(read("!include d/b.cnf\n").unwrap(), [pair("b", "2")]);
    }

    #[test]
    fn escapes_are_replaced() {
        assert_eq!(read("[mysqld]\na=x\\sy\\\\z\\q\n").unwrap(), [pair("a", "x y\\z\\q")]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, why) in [
            ("port=1\n", "at line 1: an option before the first [group]"),
            ("[mysqld\n", "at line 1: ']' is missing"),
            ("[mysqld]\n!load x\n", "at line 2: there is !include and !includedir"),
            ("!include my.cnf\n", "is included too deeply"),
            ("!include nowhere.cnf\n", "cannot read option file"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn options_about_files_stand_first() {
        let arguments: Vec<String> =
            ["--defaults-file=a", "--defaults-extra-file", "b", "--port=1", "--no-defaults"].map(String::from).to_vec();
        let (files, rest) = split_file_options(&arguments).unwrap();
        assert_eq!((files.only, files.extra), (Some("a".into()), Some("b".into())));
        assert_eq!(rest, ["--port=1", "--no-defaults"]);
    }
}
