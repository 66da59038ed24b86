//! SHOW CREATE: a definition as the statement that makes it, in MariaDB 10.11's words. Dump tools write down what stands
//! here, so that every text must be accepted by CREATE TABLE again and mean the same.
//!
//! It must not know sessions: what depends on one comes in [`ShowOptions`].

use std::fmt::Write;

use selkie_types::{SqlMode, SqlType};

use crate::schema::{
    Column, ColumnDefault, Database, FkAction, ForeignKey, Index, IndexKind, Table, TableKind, ViewDef,
};

/// What of a session's state bears on the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShowOptions {
    /// `@@sql_mode`: ANSI_QUOTES, NO_TABLE_OPTIONS, NO_FIELD_OPTIONS, NO_KEY_OPTIONS.
    pub sql_mode: SqlMode,
    /// The next AUTO_INCREMENT value; shown where it is greater than 1.
    pub auto_increment: u64,
    /// Whether names of generated objects and the database name stand in the text (`db`.`view`).
    pub qualify: bool,
}

/// A name in the quotes that the SQL mode asks for.
pub fn quote_ident(name: &str, sql_mode: SqlMode) -> String {
    let quote = if sql_mode.has(SqlMode::ANSI_QUOTES) { '"' } else { '`' };
    let mut out = String::with_capacity(name.len() + 2);
    out.push(quote);
    for c in name.chars() {
        if c == quote {
            out.push(quote);
        }
        out.push(c);
    }
    out.push(quote);
    out
}

/// A string literal with the escapes that MariaDB writes.
pub fn quote_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("''"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// The text of SHOW CREATE TABLE for a table.
pub fn table(t: &Table, options: &ShowOptions) -> String {
    let name = |n: &str| quote_ident(n, options.sql_mode);
    let mut out = String::from(if t.temporary { "CREATE TEMPORARY TABLE " } else { "CREATE TABLE " });
    out.push_str(&name(&t.name));
    out.push_str(" (\n");
    let mut lines: Vec<String> = Vec::new();
    for (i, c) in t.columns.iter().enumerate() {
        lines.push(column(t, i, c, options));
    }
    for i in &t.indexes {
        lines.push(index(t, i, options));
    }
    for f in &t.foreign_keys {
        lines.push(foreign_key(t, f, options.sql_mode));
    }
    for c in t.checks.iter().filter(|c| c.column.is_none()) {
        lines.push(format!("CONSTRAINT {} CHECK ({})", name(&c.name), c.expr));
    }
    for (i, line) in lines.iter().enumerate() {
        out.push_str(if i == 0 { "  " } else { ",\n  " });
        out.push_str(line);
    }
    out.push_str("\n)");
    table_options(t, options, &mut out);
    if let Some(p) = &t.partition_by {
        out.push_str("\n ");
        out.push_str(p);
    }
    out
}

fn column(t: &Table, position: usize, c: &Column, options: &ShowOptions) -> String {
    let plain = options.sql_mode.has(SqlMode::NO_FIELD_OPTIONS);
    let mut out = quote_ident(&c.name, options.sql_mode);
    out.push(' ');
    out.push_str(&c.ty.column_type());
    if c.declared.as_deref() == Some("COMPRESSED") {
        out.push_str(" /*M!100301 COMPRESSED*/");
    }
    match c.ty.collation() {
        Some(collation) if collation.is_binary() && (c.ty.is_string() || collation == t.collation) => {}
        Some(collation) if collation.is_binary() => out.push_str(" CHARACTER SET binary"),
        Some(collation) if collation != t.collation => {
            let _ = write!(out, " CHARACTER SET {} COLLATE {}", collation.charset().name(), collation.name());
        }
        _ => {}
    }
    if let Some(g) = &c.generated {
        let _ = write!(out, " GENERATED ALWAYS AS ({}) {}", g.expr, if g.stored { "STORED" } else { "VIRTUAL" });
        if c.invisible {
            out.push_str(" INVISIBLE");
        }
    } else {
        if !c.nullable {
            out.push_str(" NOT NULL");
        } else if matches!(c.ty, SqlType::Timestamp { .. }) {
            out.push_str(" NULL");
        }
        if c.invisible {
            out.push_str(" INVISIBLE");
        }
        if let Some(d) = default_text(c) {
            out.push_str(" DEFAULT ");
            out.push_str(&d);
        }
        if c.on_update_now && !plain {
            out.push_str(" ON UPDATE ");
            out.push_str(&now_text(&c.ty));
        }
        if c.auto_increment && !plain {
            out.push_str(" AUTO_INCREMENT");
        }
    }
    if !c.comment.is_empty() {
        out.push_str(" COMMENT ");
        out.push_str(&quote_text(&c.comment));
    }
    for check in t.checks.iter().filter(|k| k.column == Some(position)) {
        let _ = write!(out, " CHECK ({})", check.expr);
    }
    out
}

/// `current_timestamp()` with the type's fractional digits.
pub fn now_text(ty: &SqlType) -> String {
    match ty {
        SqlType::Timestamp { fsp } | SqlType::DateTime { fsp } if *fsp > 0 => format!("current_timestamp({fsp})"),
        _ => "current_timestamp()".into(),
    }
}

/// A column's default as it stands behind DEFAULT; `None` where there is none.
pub fn default_text(c: &Column) -> Option<String> {
    match &c.default {
        _ if c.generated.is_some() || c.auto_increment => None,
        ColumnDefault::None => None,
        ColumnDefault::Null if c.nullable => Some("NULL".into()),
        ColumnDefault::Null => None,
        ColumnDefault::Literal(text) if c.ty.is_numeric() => Some(text.clone()),
        ColumnDefault::Literal(text) => Some(quote_text(text)),
        ColumnDefault::Expr(text) => Some(text.clone()),
    }
}

fn index(t: &Table, i: &Index, options: &ShowOptions) -> String {
    let mut out = String::new();
    if i.primary {
        out.push_str("PRIMARY KEY");
    } else {
        out.push_str(match (i.kind, i.unique) {
            (IndexKind::FullText, _) => "FULLTEXT KEY ",
            (IndexKind::Spatial, _) => "SPATIAL KEY ",
            (_, true) => "UNIQUE KEY ",
            (_, false) => "KEY ",
        });
        out.push_str(&quote_ident(&i.name, options.sql_mode));
    }
    out.push_str(" (");
    for (n, p) in i.parts.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        out.push_str(&quote_ident(&t.columns[p.column].name, options.sql_mode));
        if let Some(len) = p.prefix
            && i.kind != IndexKind::FullText
        {
            let _ = write!(out, "({len})");
        }
        if p.descending {
            out.push_str(" DESC");
        }
    }
    out.push(')');
    if !options.sql_mode.has(SqlMode::NO_KEY_OPTIONS) {
        if i.using_shown {
            match i.kind {
                IndexKind::BTree => out.push_str(" USING BTREE"),
                IndexKind::Hash => out.push_str(" USING HASH"),
                _ => {}
            }
        }
        if i.key_block_size > 0 {
            let _ = write!(out, " KEY_BLOCK_SIZE={}", i.key_block_size);
        }
        if !i.comment.is_empty() {
            out.push_str(" COMMENT ");
            out.push_str(&quote_text(&i.comment));
        }
        if i.ignored {
            out.push_str(" IGNORED");
        }
    }
    out
}

/// A FOREIGN KEY as SHOW CREATE TABLE and error 1451/1452 name it (`CONSTRAINT … FOREIGN KEY … REFERENCES …`).
pub fn foreign_key(t: &Table, f: &ForeignKey, sql_mode: SqlMode) -> String {
    let name = |n: &str| quote_ident(n, sql_mode);
    let list = |names: &mut dyn Iterator<Item = &str>| names.map(name).collect::<Vec<_>>().join(", ");
    let mut out = format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES ",
        name(&f.name),
        list(&mut f.columns.iter().map(|c| t.columns[*c].name.as_str()))
    );
    if f.ref_db != t.db {
        let _ = write!(out, "{}.", name(&f.ref_db));
    }
    let _ = write!(out, "{} ({})", name(&f.ref_table), list(&mut f.ref_columns.iter().map(String::as_str)));
    for (what, action) in [("DELETE", f.on_delete), ("UPDATE", f.on_update)] {
        let words = match action {
            FkAction::Restrict => continue,
            FkAction::NoAction => "NO ACTION",
            FkAction::Cascade => "CASCADE",
            FkAction::SetNull => "SET NULL",
            FkAction::SetDefault => "SET DEFAULT",
        };
        let _ = write!(out, " ON {what} {words}");
    }
    out
}

fn table_options(t: &Table, options: &ShowOptions, out: &mut String) {
    if options.sql_mode.has(SqlMode::NO_TABLE_OPTIONS) {
        return;
    }
    let _ = write!(out, " ENGINE={}", t.engine);
    // A column that is numbered within those before it in its index has no one next number.
    let leads = |c: usize| t.indexes.iter().any(|i| i.parts.first().is_some_and(|p| p.column == c));
    if options.auto_increment > 1 && t.auto_increment_column().is_some_and(leads) {
        let _ = write!(out, " AUTO_INCREMENT={}", options.auto_increment);
    }
    let _ = write!(out, " DEFAULT CHARSET={}", t.collation.charset().name());
    if !t.collation.is_binary() {
        let _ = write!(out, " COLLATE={}", t.collation.name());
    }
    let after_comment =
        |name: &str| matches!(name, "CONNECTION" | "DATA DIRECTORY" | "INDEX DIRECTORY") || name.starts_with('`');
    let quoted = |name: &str| matches!(name, "CONNECTION" | "DATA DIRECTORY" | "INDEX DIRECTORY");
    let write = |out: &mut String, (name, value): &(String, String)| {
        let _ = match quoted(name) {
            true => write!(out, " {name}={}", quote_text(value)),
            false => write!(out, " {name}={value}"),
        };
    };
    for o in t.options.iter().filter(|o| !after_comment(&o.0)) {
        write(out, o);
    }
    if !t.comment.is_empty() {
        let _ = write!(out, " COMMENT={}", quote_text(&t.comment));
    }
    for o in t.options.iter().filter(|o| after_comment(&o.0)) {
        write(out, o);
    }
}

/// The text of SHOW CREATE VIEW. `qualify` puts the view's database in front of its name.
pub fn view(t: &Table, view: &ViewDef, options: &ShowOptions) -> String {
    let name = |n: &str| quote_ident(n, options.sql_mode);
    let definer = match view.definer.rsplit_once('@') {
        Some((user, host)) => format!("{}@{}", name(user), name(host)),
        None => name(&view.definer),
    };
    let mut out = format!(
        "CREATE ALGORITHM={} DEFINER={definer} SQL SECURITY {} VIEW ",
        view.algorithm,
        if view.security_definer { "DEFINER" } else { "INVOKER" },
    );
    if options.qualify {
        let _ = write!(out, "{}.", name(&t.db));
    }
    let _ = write!(out, "{} AS {}", name(&t.name), view.query);
    match view.check_option.as_str() {
        "LOCAL" => out.push_str(" WITH LOCAL CHECK OPTION"),
        "CASCADED" => out.push_str(" WITH CASCADED CHECK OPTION"),
        _ => {}
    }
    out
}

/// The text of SHOW CREATE TABLE or SHOW CREATE VIEW, whichever it is.
pub fn any(t: &Table, options: &ShowOptions) -> String {
    match &t.kind {
        TableKind::View(v) => view(t, v, options),
        _ => table(t, options),
    }
}

/// The text of SHOW CREATE DATABASE.
pub fn database(d: &Database, if_not_exists: bool, sql_mode: SqlMode) -> String {
    let mut out = format!(
        "CREATE DATABASE {}{} /*!40100 DEFAULT CHARACTER SET {} COLLATE {} */",
        if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" },
        quote_ident(&d.name, sql_mode),
        d.collation.charset().name(),
        d.collation.name()
    );
    if !d.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quote_text(&d.comment));
    }
    out
}
