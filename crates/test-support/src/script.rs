//! Scripts of statements with the answers that are expected: reading them, writing them, and how answers look.
//!
//! ```text
//! # What this block is about.
//! CREATE TABLE t (id INT PRIMARY KEY)
//! INSERT INTO t VALUES (1), (2)
//! ---
//! ok
//! ok, 2 affected
//!
//! a> BEGIN
//! a> UPDATE t SET id = 3 WHERE id = 1
//! b> & DELETE FROM t
//! a> ROLLBACK
//! b> wait
//! ---
//! a: ok
//! ...
//! ```
//!
//! * A statement is a line, and the indented lines after it. A block of statements ends with `---`; the answers follow,
//!   up to an empty line.
//! * `a> ` runs it on connection `a`, made when first named. Connections begin in the script's own, empty database.
//! * `a> & ` sends it without waiting: it must block. `a> wait` takes its answer. `a> disconnect` ends the connection.
//! * `[sorted] ` before a statement sorts the rows of its answer; `[types] ` tells the columns' types too.
//! * `--- selkie: reason` instead of `---` marks answers that are not MariaDB's on purpose.

use crate::client::{Answer, Column, Row};

/// A script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// Comments after the last block.
    pub tail: Vec<String>,
}

/// Statements and their answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Number of its first line, from 1.
    pub line: usize,
    /// Everything before the marker, as written.
    pub text: Vec<String>,
    /// What to do.
    pub commands: Vec<Command>,
    /// Why the answers are not MariaDB's, if they are not.
    pub own: Option<String>,
    /// The answers.
    pub expected: Vec<String>,
}

/// One command on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The connection's name; empty: the one without name.
    pub session: String,
    /// What to do.
    pub action: Action,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a statement.
    Run {
        /// The statement.
        sql: String,
        /// It must block.
        blocks: bool,
        /// The rows' order is not told.
        sorted: bool,
        /// The columns' types are told.
        types: bool,
    },
    /// Takes the answer of a statement that blocked.
    Wait,
    /// Ends the connection.
    Disconnect,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ScriptError {
    /// Number from 1.
    pub line: usize,
    /// What is wrong.
    pub why: &'static str,
}

const MARKER: &str = "---";
const OWN_MARKER: &str = "--- selkie:";

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let mut script = Script { blocks: Vec::new(), tail: Vec::new() };
        let mut lines = text.lines().enumerate().peekable();
        let mut head = Vec::new();
        let mut statements: Vec<(usize, String)> = Vec::new();
        let mut line_of_block = 1;
        while let Some((n, line)) = lines.next() {
            if head.is_empty() {
                line_of_block = n + 1;
            }
            let own = line.strip_prefix(OWN_MARKER).map(|why| why.trim().to_owned());
            if line == MARKER || own.is_some() {
                let mut expected = Vec::new();
                while let Some((_, line)) = lines.next_if(|(_, l)| !l.is_empty()) {
                    expected.push(line.to_owned());
                }
                lines.next();
                let commands: Result<Vec<_>, _> = statements.drain(..).map(|(n, s)| command(n, &s)).collect();
                let commands = commands?;
                if commands.is_empty() {
                    return Err(ScriptError { line: n + 1, why: "answers without statements before them" });
                }
                script.blocks.push(Block {
                    line: line_of_block,
                    text: std::mem::take(&mut head),
                    commands,
                    own,
                    expected,
                });
                continue;
            }
            head.push(line.to_owned());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with([' ', '\t']) {
                let Some((_, statement)) = statements.last_mut() else {
                    return Err(ScriptError {
                        line: n + 1,
                        why: "an indented line continues a statement: there is none",
                    });
                };
                statement.push('\n');
                statement.push_str(line.trim());
            } else {
                statements.push((n, line.to_owned()));
            }
        }
        match statements.first() {
            Some((n, _)) => Err(ScriptError { line: n + 1, why: "statements without '---' behind them" }),
            None => {
                script.tail = head;
                Ok(script)
            }
        }
    }

    /// The script's text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut push = |line: &str| {
            out.push_str(line);
            out.push('\n');
        };
        for block in &self.blocks {
            block.text.iter().for_each(|l| push(l));
            match &block.own {
                Some(why) => push(&format!("{OWN_MARKER} {why}")),
                None => push(MARKER),
            }
            block.expected.iter().for_each(|l| push(l));
            push("");
        }
        self.tail.iter().for_each(|l| push(l));
        while out.ends_with("\n\n") {
            out.pop();
        }
        out
    }
}

fn command(n: usize, line: &str) -> Result<Command, ScriptError> {
    let (session, rest) = match line.split_once("> ") {
        Some((name, rest)) if name.len() <= 8 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) => {
            (name, rest)
        }
        _ => ("", line),
    };
    let action = match rest {
        "wait" => Action::Wait,
        "disconnect" => Action::Disconnect,
        mut sql => {
            let (mut blocks, mut sorted, mut types) = (false, false, false);
            loop {
                if let Some(rest) = sql.strip_prefix("& ") {
                    (blocks, sql) = (true, rest);
                } else if let Some(rest) = sql.strip_prefix("[sorted] ") {
                    (sorted, sql) = (true, rest);
                } else if let Some(rest) = sql.strip_prefix("[types] ") {
                    (types, sql) = (true, rest);
                } else {
                    break;
                }
            }
            if sql.trim().is_empty() {
                return Err(ScriptError { line: n + 1, why: "there is no statement" });
            }
            Action::Run { sql: sql.to_owned(), blocks, sorted, types }
        }
    };
    Ok(Command { session: session.to_owned(), action })
}

/// An answer as lines.
pub fn show(answer: &Answer, sorted: bool, types: bool) -> Vec<String> {
    match answer {
        Answer::Error(e) => vec![e.to_string()],
        Answer::Done { affected, insert_id, info, .. } => {
            let mut line = "ok".to_owned();
            if *affected > 0 {
                line.push_str(&format!(", {affected} affected"));
            }
            if *insert_id > 0 {
                line.push_str(&format!(", id {insert_id}"));
            }
            if !info.is_empty() {
                line.push_str(&format!(", {info}"));
            }
            vec![line]
        }
        Answer::Rows { columns, rows, .. } => {
            let mut lines = Vec::new();
            if types {
                lines.extend(columns.iter().map(show_type));
            } else {
                let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                lines.push(names.join(" | ").replace('\n', " "));
            }
            let mut shown: Vec<String> = rows.iter().map(show_row).collect();
            if sorted {
                shown.sort();
            }
            if shown.is_empty() {
                lines.push("(no rows)".to_owned());
            }
            lines.extend(shown);
            lines
        }
    }
}

fn show_type(c: &Column) -> String {
    let Column { name, column_type, length, flags, decimals, collation } = c;
    format!("{name}: {column_type:?} length {length} decimals {decimals} flags {flags:#x} collation {collation}")
}

fn show_row(row: &Row) -> String {
    let values: Vec<String> = row.iter().map(|v| v.as_deref().map_or_else(|| "NULL".to_owned(), show_value)).collect();
    values.join(" | ")
}

/// A value, in quotes where it could be mistaken, in hexadecimal where it is no text.
pub fn show_value(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return hexadecimal(bytes) };
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return hexadecimal(bytes);
    }
    let plain = !text.is_empty()
        && text != "NULL"
        && text.trim() == text
        && !text.starts_with('\'')
        && !text.starts_with("0x")
        && !text.contains(['\n', '\t', '\r'])
        && !text.contains(" | ");
    if plain {
        return text.to_owned();
    }
    let escaped =
        text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
    format!("'{escaped}'")
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
    format!("0x{digits}")
}

/// The shortest way from one list of lines to another: ' ' stays, '-' goes, '+' comes.
pub fn line_difference<'t>(from: &'t [String], to: &'t [String]) -> Vec<(char, &'t str)> {
    // common[i][j]: lines in common of what follows after i and j.
    let mut common = vec![vec![0usize; to.len() + 1]; from.len() + 1];
    for (i, a) in from.iter().enumerate().rev() {
        for (j, b) in to.iter().enumerate().rev() {
            common[i][j] = if a == b { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < from.len() || j < to.len() {
        if i < from.len() && j < to.len() && from[i] == to[j] {
            out.push((' ', from[i].as_str()));
            (i, j) = (i + 1, j + 1);
        } else if i < from.len() && (j == to.len() || common[i + 1][j] >= common[i][j + 1]) {
            out.push(('-', from[i].as_str()));
            i += 1;
        } else {
            out.push(('+', to[j].as_str()));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A table.\nCREATE TABLE t (\n  a INT)\n[sorted] SELECT 1\n---\nok\n1\n1\n\n\
                        a> & UPDATE t\nb> wait\nb> disconnect\n--- selkie: reads never block\na: ok\n";

    #[test]
    fn comes_back() {
        let script = Script::parse(TEXT).unwrap();
        assert_eq!(script.text(), TEXT);
        assert_eq!(script.blocks.len(), 2);
        let first = &script.blocks[0];
        assert_eq!(first.commands.len(), 2);
        assert_eq!(first.expected, ["ok", "1", "1"]);
        let run = |sql: &str, blocks, sorted| Action::Run { sql: sql.into(), blocks, sorted, types: false };
        assert_eq!(first.commands[0].action, run("CREATE TABLE t (\na INT)", false, false));
        assert_eq!(first.commands[1].action, run("SELECT 1", false, true));
        let second = &script.blocks[1];
        assert_eq!(second.line, 10);
        assert_eq!(second.own.as_deref(), Some("reads never block"));
        assert_eq!(second.commands[0], Command { session: "a".into(), action: run("UPDATE t", true, false) });
        assert_eq!(second.commands[1].action, Action::Wait);
        assert_eq!(second.commands[2].action, Action::Disconnect);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let why = |text| Script::parse(text).unwrap_err().to_string();
        assert_eq!(why("SELECT 1\n"), "line 1: statements without '---' behind them");
        assert_eq!(why("# x\n---\nok\n"), "line 2: answers without statements before them");
        assert_eq!(why("  x\n---\n"), "line 1: an indented line continues a statement: there is none");
        assert_eq!(why("a> & \n---\n"), "line 1: there is no statement");
    }

    #[test]
    fn a_difference_is_short() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (from, to) = (lines("a b c d"), lines("a x c d e"));
        let shown: String = line_difference(&from, &to).iter().map(|(m, l)| format!("{m}{l}")).collect();
        assert_eq!(shown, " a-b+x c d+e");
    }

    #[test]
    fn values_cannot_be_mistaken() {
        for (bytes, shown) in [
            (&b"abc"[..], "abc"),
            (b"", "''"),
            (b"NULL", "'NULL'"),
            (b" a", "' a'"),
            (b"it's\n", "'it\\'s\\n'"),
            (b"a | b", "'a | b'"),
            (b"\xFF\x00", "0xFF00"),
            (b"a\x00", "0x6100"),
        ] {
            assert_eq!(show_value(bytes), shown);
        }
    }
}
