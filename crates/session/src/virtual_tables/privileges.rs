//! information_schema's tables about privileges and roles.

use std::sync::Arc;

use selkie_types::SqlResult;

use super::context::Context;
use super::rows::Rows;
use crate::accounts::{Account, Privileges};

fn grantee(a: &Account) -> String {
    format!("'{}'@'{}'", a.user, a.host)
}

/// The accounts that may be shown: all with access to `mysql`, else the own one.
pub fn visible(cx: &Context<'_>) -> Vec<Arc<Account>> {
    let all = cx.host.instance.accounts.all();
    let sees_all = cx.account().allows("SELECT", "mysql", "");
    let own = |a: &Arc<Account>| a.user == cx.account().user && a.host == cx.account().host;
    all.iter().filter(|a| sees_all || own(a)).cloned().collect()
}

/// One row for each privilege, or USAGE.
fn put(out: &mut Rows, p: Privileges, head: &dyn Fn(&mut Rows)) {
    let grantable = p.has(Privileges::GRANT_OPTION);
    let mut some = false;
    for name in p.names() {
        some = true;
        head(out);
        out.text(name).yes_no(grantable);
    }
    if !some {
        head(out);
        out.text("USAGE").yes_no(grantable);
    }
}

/// information_schema.USER_PRIVILEGES
pub fn user_privileges(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in visible(cx).iter().filter(|a| !a.is_role) {
        put(out, a.global, &|out| {
            out.text(&grantee(a)).def();
        });
    }
    Ok(())
}

/// information_schema.SCHEMA_PRIVILEGES
pub fn schema_privileges(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in &visible(cx) {
        for (db, p) in &a.databases {
            put(out, *p, &|out| {
                out.text(&grantee(a)).def().text(db);
            });
        }
    }
    Ok(())
}

/// information_schema.TABLE_PRIVILEGES
pub fn table_privileges(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in &visible(cx) {
        for t in a.tables.iter().filter(|t| !t.table_privileges.is_empty()) {
            put(out, t.table_privileges, &|out| {
                out.text(&grantee(a)).def().text(&t.db).text(&t.table);
            });
        }
    }
    Ok(())
}

/// information_schema.COLUMN_PRIVILEGES
pub fn column_privileges(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for a in &visible(cx) {
        for t in &a.tables {
            let grantable = t.table_privileges.has(Privileges::GRANT_OPTION);
            for (column, p) in &t.columns {
                for name in p.names() {
                    out.text(&grantee(a)).def().text(&t.db).text(&t.table).text(column).text(name).yes_no(grantable);
                }
            }
        }
    }
    Ok(())
}

/// information_schema.APPLICABLE_ROLES
pub fn applicable_roles(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let a = cx.account();
    let name = if a.host.is_empty() { a.user.clone() } else { format!("{}@{}", a.user, a.host) };
    for (role, admin) in &a.roles {
        out.text(&name).text(role).yes_no(*admin).yes_no(a.default_role.as_deref() == Some(role));
    }
    Ok(())
}

/// information_schema.ENABLED_ROLES
pub fn enabled_roles(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    out.text_or_null(cx.account().active_role.as_deref());
    Ok(())
}
