//! SET NAMES and SET CHARACTER SET, and keeping character sets and collations in step.

use selkie_types::{Charset, Collation, SqlResult, sql_err};

use super::{Change, change};
use crate::session::Session;

/// SET NAMES
pub(super) fn names(
    session: &mut Session,
    charset: Option<&str>,
    collation: Option<&str>,
    out: &mut Vec<Change>,
) -> SqlResult<()> {
    let set = match charset {
        Some(name) => known(name)?,
        None => default_set(session),
    };
    let collation = match collation {
        Some(name) => {
            let c = Collation::by_name_in(set, name).ok_or_else(|| sql_err!(ER_UNKNOWN_COLLATION, name))?;
            if c.charset() != set {
                return Err(sql_err!(ER_COLLATION_CHARSET_MISMATCH, c.name(), set.name()));
            }
            c
        }
        None => set.default_collation(),
    };
    usable_by_clients(set)?;
    for name in ["character_set_client", "character_set_results", "character_set_connection"] {
        out.push(change(session, name, false, set.name()));
    }
    out.push(change(session, "collation_connection", false, collation.name()));
    Ok(())
}

/// SET CHARACTER SET
pub(super) fn character_set(session: &mut Session, charset: Option<&str>, out: &mut Vec<Change>) -> SqlResult<()> {
    let set = match charset {
        Some(name) => known(name)?,
        None => default_set(session),
    };
    usable_by_clients(set)?;
    out.push(change(session, "character_set_client", false, set.name()));
    out.push(change(session, "character_set_results", false, set.name()));
    let collation = Collation::by_name(session.host.vars.get("collation_database")).unwrap_or(Collation::UTF8MB4_GENERAL_CI);
    out.push(change(session, "character_set_connection", false, collation.charset().name()));
    out.push(change(session, "collation_connection", false, collation.name()));
    Ok(())
}

fn default_set(session: &Session) -> Charset {
    let globals = session.instance().globals.read();
    Charset::by_name(globals.get("character_set_client")).unwrap_or(Charset::Utf8mb4)
}

fn known(name: &str) -> SqlResult<Charset> {
    Charset::by_name(name).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, name))
}

/// Statements cannot come in sets whose characters have two bytes or more.
pub(super) fn usable_by_clients(set: Charset) -> SqlResult<()> {
    if set.min_len() > 1 {
        return Err(sql_err!(ER_WRONG_VALUE_FOR_VAR, "character_set_client", set.name()));
    }
    Ok(())
}

/// The variable that follows a character set or collation, and its value.
pub(super) fn partner(name: &str, text: &str) -> Option<(&'static str, String)> {
    let default = |partner| Some((partner, Charset::by_name(text)?.default_collation().name().to_owned()));
    let set = |partner| Some((partner, Collation::by_name(text)?.charset().name().to_owned()));
    match name {
        "character_set_connection" => default("collation_connection"),
        "character_set_server" => default("collation_server"),
        "character_set_database" => default("collation_database"),
        "collation_connection" => set("character_set_connection"),
        "collation_server" => set("character_set_server"),
        "collation_database" => set("character_set_database"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_follow() {
        assert_eq!(partner("character_set_connection", "latin1"), Some(("collation_connection", "latin1_swedish_ci".into())));
        assert_eq!(partner("collation_server", "utf8mb4_bin"), Some(("character_set_server", "utf8mb4".into())));
        assert_eq!(partner("character_set_client", "latin1"), None);
    }

    #[test]
    fn wide_sets_are_not_for_clients() {
        assert!(usable_by_clients(Charset::Ucs2).is_err() && usable_by_clients(Charset::Latin1).is_ok());
    }
}
