//! information_schema.COLUMNS, and what SHOW COLUMNS says of a column.

use std::sync::Arc;

use selkie_catalog::{Column, ColumnDefault, Table, TableKind};
use selkie_catalog::show_create::quote_text;
use selkie_types::{SqlResult, SqlType, TextKind};

use super::context::{Context, Relation};
use super::definitions::{ColumnDefinition, Definition};
use super::rows::Rows;
use crate::accounts::{Account, Privileges};

/// information_schema.COLUMNS
pub fn columns(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let only = cx.lookup(3);
    let wanted = |name: &str| only.is_none_or(|o| o.trim_end_matches(' ').eq_ignore_ascii_case(name));
    cx.relations(cx.lookup(1), cx.lookup(2), &mut |r| match r {
        Relation::Stored(t) => {
            let t = &crate::view_columns::current(cx.host, t);
            let keys = KeyWords::of(t);
            for (i, c) in t.columns.iter().enumerate().filter(|(_, c)| wanted(&c.name)) {
                let privileges = privilege_words(cx.account(), &t.db, &t.name, &c.name);
                if privileges.is_empty() {
                    continue;
                }
                out.def().text(&t.db).text(&t.name).text(&c.name).uint(i as u64 + 1);
                out.text_or_null(default_expression(c).as_deref()).yes_no(c.nullable);
                described_type(&c.ty, out);
                out.text(&column_type(c)).text(keys.word(i)).text(&extra(c)).text(&privileges).text(&c.comment);
                match &c.generated {
                    Some(g) => out.text("ALWAYS").text(&g.expr),
                    None => out.text("NEVER").null(),
                };
            }
        }
        Relation::Virtual(d) => {
            for (i, c) in d.columns.iter().enumerate().filter(|(_, c)| wanted(c.name)) {
                out.def().text(d.db).text(d.name).text(c.name).uint(i as u64 + 1);
                out.text_or_null(c.default).yes_no(c.nullable);
                described_type(&c.ty, out);
                out.text(&c.ty.column_type()).text(c.key).text("").text(virtual_privileges(d)).text("");
                out.text("NEVER").null();
            }
        }
    });
    Ok(())
}

/// The type as SHOW COLUMNS prints it.
pub fn column_type(c: &Column) -> String {
    c.ty.column_type()
}

/// DATA_TYPE up to COLLATION_NAME: eight cells.
pub fn described_type(ty: &SqlType, out: &mut Rows) {
    out.text(ty.data_type());
    length_and_precision(ty, out);
    match ty.collation().filter(|c| !c.is_binary()) {
        Some(c) => out.text(c.charset().name()).text(c.name()),
        None => out.nulls(2),
    };
}

/// CHARACTER_MAXIMUM_LENGTH up to DATETIME_PRECISION: five cells.
fn length_and_precision(ty: &SqlType, out: &mut Rows) {
    match ty {
        SqlType::Text { kind, len, collation } => {
            let (chars, bytes) = match kind {
                TextKind::Char | TextKind::VarChar => (*len as u64, *len as u64 * collation.charset().max_len() as u64),
                _ => {
                    let limit = kind.blob_limit().unwrap_or(*len) as u64;
                    (limit / collation.charset().min_len() as u64, limit)
                }
            };
            out.uint(chars).uint(bytes).nulls(3)
        }
        SqlType::Enum(d) | SqlType::Set(d) => {
            let chars = if matches!(ty, SqlType::Enum(_)) { d.longest() } else { d.all_together() } as u64;
            out.uint(chars).uint(chars * d.collation.charset().max_len() as u64).nulls(3)
        }
        SqlType::Int { width, unsigned, .. } => out.nulls(2).uint(width.digits(*unsigned) as u64).uint(0).null(),
        SqlType::Bit(n) => out.nulls(2).uint(*n as u64).nulls(2),
        SqlType::Decimal { precision, scale, .. } => {
            out.nulls(2).uint(*precision as u64).uint(*scale as u64).null()
        }
        SqlType::Float { digits, .. } | SqlType::Double { digits, .. } => {
            let default = if matches!(ty, SqlType::Float { .. }) { 12 } else { 22 };
            out.nulls(2);
            match digits {
                Some((m, d)) => out.uint(*m as u64).uint(*d as u64),
                None => out.uint(default).null(),
            };
            out.null()
        }
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => {
            out.nulls(4).uint(*fsp as u64)
        }
        _ => out.nulls(5),
    };
}

/// COLUMN_DEFAULT: an expression's text; `NULL` as a word where NULL is what the column gets.
pub fn default_expression(c: &Column) -> Option<String> {
    if c.generated.is_some() {
        return c.nullable.then(|| "NULL".into());
    }
    match &c.default {
        ColumnDefault::None => None,
        ColumnDefault::Null => Some("NULL".into()),
        ColumnDefault::Expr(e) => Some(e.clone()),
        ColumnDefault::Literal(text) if is_unquoted(&c.ty) => Some(text.clone()),
        ColumnDefault::Literal(text) => Some(quote_text(text)),
    }
}

/// The Default column of SHOW COLUMNS.
pub fn default_shown(c: &Column) -> Option<&str> {
    match &c.default {
        _ if c.generated.is_some() => None,
        ColumnDefault::None | ColumnDefault::Null => None,
        ColumnDefault::Expr(text) | ColumnDefault::Literal(text) => Some(text),
    }
}

fn is_unquoted(ty: &SqlType) -> bool {
    ty.is_numeric()
}

/// The Default column of SHOW COLUMNS for a virtual table.
pub fn virtual_default(c: &ColumnDefinition) -> Option<String> {
    match c.default {
        None | Some("NULL") => None,
        Some(d) => match d.strip_prefix('\'').and_then(|d| d.strip_suffix('\'')) {
            Some(text) => Some(text.replace("''", "'")),
            None => Some(d.to_owned()),
        },
    }
}

/// The Extra column of SHOW COLUMNS.
pub fn extra(c: &Column) -> String {
    let mut words: Vec<String> = Vec::new();
    if c.auto_increment {
        words.push("auto_increment".into());
    }
    if c.on_update_now {
        words.push(match &c.ty {
            SqlType::Timestamp { fsp } | SqlType::DateTime { fsp } if *fsp > 0 => {
                format!("on update current_timestamp({fsp})")
            }
            _ => "on update current_timestamp()".into(),
        });
    }
    if let Some(g) = &c.generated {
        words.push(if g.stored { "STORED GENERATED".into() } else { "VIRTUAL GENERATED".into() });
    }
    if c.invisible {
        words.push("INVISIBLE".into());
    }
    words.join(", ")
}

/// The Key words of a table's columns, by position.
pub struct KeyWords(Vec<&'static str>);

impl KeyWords {
    /// Of a table in the dictionary.
    pub fn of(t: &Arc<Table>) -> KeyWords {
        let mut words = vec![""; t.columns.len()];
        if matches!(t.kind, TableKind::View(_)) {
            return KeyWords(words);
        }
        for index in &t.indexes {
            let Some(first) = index.parts.first() else { continue };
            let word = if index.unique && index.parts.len() == 1 { "UNI" } else { "MUL" };
            if words[first.column] != "UNI" {
                words[first.column] = word;
            }
        }
        // Without a primary key, the first unique key that cannot be NULL is shown as one.
        let is_candidate = |i: &&selkie_catalog::Index| {
            i.unique && i.parts.iter().all(|p| !t.columns[p.column].nullable && p.prefix.is_none())
        };
        let primary = t.primary_key().or_else(|| t.indexes.iter().find(is_candidate));
        for p in primary.iter().flat_map(|p| &p.parts) {
            words[p.column] = "PRI";
        }
        KeyWords(words)
    }

    /// `PRI`, `UNI`, `MUL` or nothing.
    pub fn word(&self, column: usize) -> &'static str {
        self.0.get(column).copied().unwrap_or("")
    }
}

/// The Privileges column of SHOW FULL COLUMNS.
pub fn privilege_words(account: &Account, db: &str, table: &str, column: &str) -> String {
    let p = account.on_column(db, table, column).and(Privileges::ALL_COLUMN);
    let words: Vec<String> = p.names().map(str::to_ascii_lowercase).collect();
    words.join(",")
}

/// The Privileges column for a virtual table.
pub fn virtual_privileges(d: &Definition) -> &'static str {
    if d.db == "mysql" { "select,insert,update,references" } else { "select" }
}
