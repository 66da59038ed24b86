//! What the server has: engines, character sets, plugins, words.

use selkie_types::{Charset, Collation, SqlResult, Value};

use super::context::Context;
use super::rows::Rows;

/// Name, comment, whether transactions.
pub const ENGINES: &[(&str, &str, &str, bool)] = &[
    ("CSV", "YES", "Accepted as a name; rows are kept as in InnoDB tables", true),
    ("MRG_MyISAM", "NO", "Not available", false),
    ("MEMORY", "YES", "Accepted as a name; rows are kept as in InnoDB tables", true),
    ("Aria", "YES", "Accepted as a name; rows are kept as in InnoDB tables", true),
    ("MyISAM", "YES", "Accepted as a name; rows are kept as in InnoDB tables", true),
    ("SEQUENCE", "YES", "Generated tables filled with sequential values", true),
    ("InnoDB", "DEFAULT", "Transactions, row locks, foreign keys; the store is Selkie's own", true),
    ("PERFORMANCE_SCHEMA", "YES", "Performance Schema", false),
];

/// information_schema.ENGINES
pub fn engines(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let default = cx.host.vars.get("default_storage_engine");
    for (name, support, comment, transactions) in ENGINES {
        let support = match *support {
            "NO" => "NO",
            _ if name.eq_ignore_ascii_case(default) => "DEFAULT",
            _ => "YES",
        };
        out.text(name).text(support).text(comment).yes_no(*transactions).yes_no(*transactions && *name == "InnoDB");
        out.yes_no(*transactions);
    }
    Ok(())
}

/// information_schema.CHARACTER_SETS
pub fn character_sets(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for c in ordered_charsets() {
        out.text(c.name()).text(c.default_collation().name()).text(c.description()).int(c.max_len() as i64);
    }
    Ok(())
}

/// A collation's name as listed: those of the Unicode 14 family stand once for all their character sets.
fn listed_name(c: Collation) -> (&'static str, bool) {
    match c.name().split_once("_uca1400_") {
        Some((set, _)) => (&c.name()[set.len() + 1..], true),
        None => (c.name(), false),
    }
}

/// information_schema.COLLATIONS
pub fn collations(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let mut seen = hashbrown::HashSet::new();
    for c in ordered_collations() {
        let (name, shared) = listed_name(c);
        if !seen.insert(name) {
            continue;
        }
        out.text(name);
        if shared {
            out.nulls(3);
        } else {
            out.text(c.charset().name()).int(c.0 as i64).text(if c.is_default() { "Yes" } else { "" });
        }
        out.text("Yes").int(c.sortlen() as i64);
    }
    Ok(())
}

/// information_schema.COLLATION_CHARACTER_SET_APPLICABILITY
pub fn collation_applicability(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for c in ordered_collations() {
        out.text(listed_name(c).0).text(c.charset().name()).text(c.name()).int(c.0 as i64);
        out.text(if c.is_default() { "Yes" } else { "" });
    }
    Ok(())
}

/// By the number of the default collation.
pub fn ordered_charsets() -> Vec<Charset> {
    let mut all: Vec<Charset> = Charset::all().collect();
    all.sort_by_key(|c| c.default_collation().0);
    all
}

/// By character set, then by number.
fn ordered_collations() -> Vec<Collation> {
    let mut all = Collation::all().to_vec();
    all.sort_by_key(|c| (c.charset().default_collation().0, c.0));
    all
}

/// Name, type, licence.
pub const PLUGINS: &[(&str, &str)] = &[
    ("binlog", "STORAGE ENGINE"),
    ("mysql_native_password", "AUTHENTICATION"),
    ("CSV", "STORAGE ENGINE"),
    ("MEMORY", "STORAGE ENGINE"),
    ("Aria", "STORAGE ENGINE"),
    ("MyISAM", "STORAGE ENGINE"),
    ("inet4", "DATA TYPE"),
    ("inet6", "DATA TYPE"),
    ("uuid", "DATA TYPE"),
    ("SQL_SEQUENCE", "STORAGE ENGINE"),
    ("InnoDB", "STORAGE ENGINE"),
    ("PERFORMANCE_SCHEMA", "STORAGE ENGINE"),
    ("SEQUENCE", "STORAGE ENGINE"),
    ("unix_socket", "AUTHENTICATION"),
    ("user_variables", "INFORMATION SCHEMA"),
    ("partition", "STORAGE ENGINE"),
];

/// information_schema.PLUGINS and ALL_PLUGINS
pub fn plugins(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for (name, kind) in PLUGINS {
        let version = match *kind {
            "AUTHENTICATION" => "2.2",
            _ => "110800.0",
        };
        out.text(name).text("1.0").text("ACTIVE").text(kind).text(version).nulls(2);
        out.text("Selkie").text("").text("GPL").text("FORCE").text("Stable").text("1.0");
    }
    Ok(())
}

/// information_schema.KEYWORDS
pub fn keywords(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for word in include_str!("../../data/keywords.txt").lines() {
        out.text(word);
    }
    Ok(())
}

/// information_schema.SQL_FUNCTIONS
pub fn sql_functions(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for word in include_str!("../../data/functions.txt").lines() {
        out.text(word);
    }
    Ok(())
}

/// mysql.time_zone_name: the zones that are built in.
pub fn time_zone_names(_cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for (i, name) in jiff::tz::db().available().enumerate() {
        out.text(name.as_str()).uint(i as u64 + 1);
    }
    Ok(())
}

/// information_schema.KEY_CACHES: the default one, which nothing uses.
pub fn key_caches(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    out.text("default").nulls(2).uint(cx.host.vars.u64("key_buffer_size")).uint(1024);
    for _ in 0..7 {
        out.value(Value::UInt(0));
    }
    Ok(())
}
