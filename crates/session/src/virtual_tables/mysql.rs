//! Tables of the `mysql` database, computed from the dictionary: accounts and privileges as drivers and tools read them.

use selkie_types::{SqlResult, SqlType, Value};

use super::context::Context;
use super::definitions;
use super::rows::Rows;
use crate::accounts::{Account, Privileges};

/// A cell for a word of an ENUM or SET column; the word itself elsewhere.
fn word(ty: &SqlType, text: &str) -> Value {
    match ty {
        SqlType::Enum(d) => {
            Value::UInt(d.members.iter().position(|m| m.eq_ignore_ascii_case(text)).map_or(0, |i| i as u64 + 1))
        }
        SqlType::Set(d) => {
            let bit = |w: &str| d.members.iter().position(|m| m.eq_ignore_ascii_case(w)).map_or(0, |i| 1 << i);
            Value::UInt(text.split(',').map(|w| bit(w.trim())).sum())
        }
        _ => Value::text(text),
    }
}

/// The privilege that a `…_priv` column tells of.
fn column_privilege(column: &str) -> Privileges {
    let name = column.trim_end_matches("_priv").replace('_', " ").to_uppercase();
    Privileges::by_name(match name.as_str() {
        "GRANT" => "GRANT OPTION",
        "SHOW DB" => "SHOW DATABASES",
        "CREATE TMP TABLE" => "CREATE TEMPORARY TABLES",
        "REPL SLAVE" => "REPLICATION SLAVE",
        "REPL CLIENT" => "BINLOG MONITOR",
        "DELETE HISTORY" | "DELETE VERSIONING ROWS" => "DELETE HISTORY",
        other => other,
    })
}

/// mysql.user, the view for tools of old.
pub fn user(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let Some(def) = definitions::find("mysql", "user") else { return Ok(()) };
    for a in cx.host.instance.accounts.all().iter() {
        for c in &def.columns {
            let text = match c.name {
                "Host" => a.host.clone(),
                "User" => a.user.clone(),
                "Password" | "authentication_string" if a.plugin.starts_with("mysql_") => a.authentication.clone(),
                "authentication_string" => a.authentication.clone(),
                "plugin" => if a.is_role { String::new() } else { a.plugin.clone() },
                "password_expired" => yes(a.expired).into(),
                "is_role" => yes(a.is_role).into(),
                "default_role" => a.default_role.clone().unwrap_or_default(),
                "max_statement_time" => {
                    out.value(Value::Decimal(selkie_types::Decimal::from_mantissa(0, 6)));
                    continue;
                }
                name if name.starts_with("max_") => {
                    out.value(number(&c.ty));
                    continue;
                }
                name if name.ends_with("_priv") => yes(a.global.has(column_privilege(name))).into(),
                _ => String::new(),
            };
            out.value(word(&c.ty, &text));
        }
    }
    Ok(())
}

fn number(ty: &SqlType) -> Value {
    if ty.is_unsigned() { Value::UInt(0) } else { Value::Int(0) }
}

fn yes(b: bool) -> &'static str {
    if b { "Y" } else { "N" }
}

/// mysql.db
pub fn db(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let Some(def) = definitions::find("mysql", "db") else { return Ok(()) };
    for a in cx.host.instance.accounts.all().iter() {
        for (name, p) in &a.databases {
            for c in &def.columns {
                let text = match c.name {
                    "Host" => &a.host,
                    "Db" => name,
                    "User" => &a.user,
                    column => yes(p.has(column_privilege(column))),
                };
                out.value(word(&c.ty, text));
            }
        }
    }
    Ok(())
}

/// mysql.global_priv
pub fn global_priv(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in cx.host.instance.accounts.all().iter() {
        out.text(&a.host).text(&a.user).text(&json(a));
    }
    Ok(())
}

fn json(a: &Account) -> String {
    let mut s = format!("{{\"access\":{}", a.global.0);
    if a.is_role {
        s.push_str(",\"is_role\":true}");
        return s;
    }
    s.push_str(&format!(",\"version_id\":110800,\"plugin\":{}", quoted(&a.plugin)));
    s.push_str(&format!(",\"authentication_string\":{}", quoted(&a.authentication)));
    if a.locked {
        s.push_str(",\"account_locked\":true");
    }
    s.push_str(&format!(",\"password_last_changed\":{}", a.password_last_changed));
    if let Some(role) = &a.default_role {
        s.push_str(&format!(",\"default_role\":{}", quoted(role)));
    }
    s.push('}');
    s
}

fn quoted(text: &str) -> String {
    let mut s = String::with_capacity(text.len() + 2);
    s.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => s.extend(['\\', c]),
            c if c.is_control() => s.push_str(&format!("\\u{:04x}", c as u32)),
            c => s.push(c),
        }
    }
    s.push('"');
    s
}

/// The words of a privilege set as the SET columns of mysql.tables_priv have them.
fn set_words(p: Privileges) -> String {
    let mut words: Vec<String> = p
        .names()
        .map(|n| if n == "DELETE HISTORY" { "Delete versioning rows".to_owned() } else { n.to_owned() })
        .collect();
    if p.has(Privileges::GRANT_OPTION) {
        words.push("Grant".into());
    }
    words.join(",")
}

/// mysql.tables_priv
pub fn tables_priv(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let Some(def) = definitions::find("mysql", "tables_priv") else { return Ok(()) };
    for a in cx.host.instance.accounts.all().iter() {
        for t in &a.tables {
            let columns = t.columns.iter().fold(Privileges::NONE, |p, (_, more)| p.with(*more));
            for c in &def.columns {
                let v = match c.name {
                    "Host" => Value::text(&a.host),
                    "Db" => Value::text(&t.db),
                    "User" => Value::text(&a.user),
                    "Table_name" => Value::text(&t.table),
                    "Table_priv" => word(&c.ty, &set_words(t.table_privileges)),
                    "Column_priv" => word(&c.ty, &set_words(columns)),
                    "Timestamp" => Value::DateTime(selkie_types::DateTime::ZERO),
                    _ => Value::text(""),
                };
                out.value(v);
            }
        }
    }
    Ok(())
}

/// mysql.columns_priv
pub fn columns_priv(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let Some(def) = definitions::find("mysql", "columns_priv") else { return Ok(()) };
    for a in cx.host.instance.accounts.all().iter() {
        for t in &a.tables {
            for (column, p) in &t.columns {
                for c in &def.columns {
                    let v = match c.name {
                        "Host" => Value::text(&a.host),
                        "Db" => Value::text(&t.db),
                        "User" => Value::text(&a.user),
                        "Table_name" => Value::text(&t.table),
                        "Column_name" => Value::text(column),
                        "Column_priv" => word(&c.ty, &set_words(*p)),
                        "Timestamp" => Value::DateTime(selkie_types::DateTime::ZERO),
                        _ => Value::text(""),
                    };
                    out.value(v);
                }
            }
        }
    }
    Ok(())
}

/// mysql.procs_priv
pub fn procs_priv(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let Some(def) = definitions::find("mysql", "procs_priv") else { return Ok(()) };
    for a in cx.host.instance.accounts.all().iter() {
        for r in &a.routines {
            for c in &def.columns {
                let v = match c.name {
                    "Host" => Value::text(&a.host),
                    "Db" => Value::text(&r.db),
                    "User" => Value::text(&a.user),
                    "Routine_name" => Value::text(&r.name),
                    "Routine_type" => word(&c.ty, &r.kind),
                    "Proc_priv" => word(&c.ty, &set_words(r.privileges)),
                    "Timestamp" => Value::DateTime(selkie_types::DateTime::ZERO),
                    _ => Value::text(""),
                };
                out.value(v);
            }
        }
    }
    Ok(())
}

/// mysql.roles_mapping
pub fn roles_mapping(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in cx.host.instance.accounts.all().iter() {
        for (role, admin) in &a.roles {
            out.text(&a.host).text(&a.user).text(role).uint(1 + *admin as u64);
        }
    }
    Ok(())
}

/// mysql.proxies_priv
pub fn proxies_priv(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in cx.host.instance.accounts.all().iter() {
        for (user, host, grant) in &a.proxies {
            out.text(&a.host).text(&a.user).text(host).text(user).int(*grant as i64).text("");
            out.value(Value::DateTime(selkie_types::DateTime::ZERO));
        }
    }
    Ok(())
}

/// mysql.innodb_table_stats
pub fn innodb_table_stats(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(0), cx.lookup(1), &mut |t| {
        if matches!(t.kind, selkie_catalog::TableKind::Base) {
            let sizes = super::tables::Sizes::of(cx, t);
            out.text(&t.db).text(&t.name);
            out.value(Value::DateTime(super::rows::local(t.create_time, &cx.host.hot.time_zone)));
            out.uint(sizes.rows).uint(sizes.data_bytes / 16384 + 1).uint(sizes.index_bytes / 16384);
        }
    });
    Ok(())
}
