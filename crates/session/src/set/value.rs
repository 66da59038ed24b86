//! Which values variables take: by their kind, and the special rules of some.

use selkie_parser::ast::{Expr, Literal, UnaryOp};
use selkie_types::{Charset, Collation, SqlMode, SqlResult, SqlType, TimeZone, Value, sql_err};

use super::{charset, text_of};
use crate::session::Session;
use crate::variables::{Kind, VarDef};
use crate::virtual_tables::server::ENGINES;

/// The type of a string given to SET.
pub(super) fn text_type() -> SqlType {
    SqlType::varchar(1024, Collation::UTF8MB4_GENERAL_CI)
}

/// The value of a literal whose type is plain, without planning.
pub(super) fn literal(e: &Expr) -> Option<(Value, SqlType)> {
    match e {
        Expr::Literal(Literal::Null) => Some((Value::Null, SqlType::Null)),
        Expr::Literal(Literal::True) => Some((Value::Int(1), SqlType::BOOL)),
        Expr::Literal(Literal::False) => Some((Value::Int(0), SqlType::BOOL)),
        Expr::Literal(Literal::Int(n)) => Some(match i64::try_from(*n) {
            Ok(i) => (Value::Int(i), SqlType::BIGINT),
            Err(_) => (Value::UInt(*n), SqlType::BIGINT_UNSIGNED),
        }),
        Expr::Unary { op: UnaryOp::Neg, expr } => match &**expr {
            Expr::Literal(Literal::Int(n)) => i64::try_from(*n).ok().map(|i| (Value::Int(-i), SqlType::BIGINT)),
            _ => None,
        },
        _ => None,
    }
}

impl Session {
    /// The text to keep for a value given to a variable; a number outside the limits is moved inside with a warning.
    pub(super) fn accept(
        &mut self,
        def: &VarDef,
        index: usize,
        global: bool,
        given: &Value,
        ty: &SqlType,
    ) -> SqlResult<String> {
        let text = if given.is_null() { "NULL".to_owned() } else { text_of(given, ty) };
        let wrong_value = || sql_err!(ER_WRONG_VALUE_FOR_VAR, def.name, text);
        let wrong_type = || sql_err!(ER_WRONG_TYPE_FOR_VAR, def.name);
        let is_text = matches!(given, Value::Bytes(_));
        match def.name {
            n if n.starts_with("character_set_") => return accept_charset(n, given, &text),
            n if n.starts_with("collation_") => {
                let by_number = given_number(given).and_then(|n| u16::try_from(n).ok()).map(Collation);
                let found = by_number.filter(|c| c.is_known()).or_else(|| Collation::by_name(&text));
                return match found {
                    Some(c) => Ok(c.name().to_owned()),
                    None if given.is_null() => Err(wrong_value()),
                    None => Err(sql_err!(ER_UNKNOWN_COLLATION, text)),
                };
            }
            "time_zone" => return accept_time_zone(given, &text),
            "sql_mode" if !given.is_null() => return accept_sql_mode(def, given, &text),
            "lc_messages" | "lc_time_names" => {
                return if is_locale(&text) { Ok(text) } else { Err(sql_err!(ER_UNKNOWN_LOCALE, text)) };
            }
            "default_storage_engine" | "storage_engine" | "default_tmp_storage_engine" | "enforce_storage_engine" => {
                if given.is_null() && def.name != "default_storage_engine" {
                    return Ok(String::new());
                }
                let engine = ENGINES.iter().find(|(n, ..)| n.eq_ignore_ascii_case(&text));
                return engine.map(|e| e.0.to_owned()).ok_or_else(|| sql_err!(ER_UNKNOWN_STORAGE_ENGINE, text));
            }
            "wsrep_on" if text == "1" || text.eq_ignore_ascii_case("on") => {
                return Err(selkie_types::SqlError::with_message(
                    selkie_types::codes::ER_WRONG_ARGUMENTS,
                    "WSREP (galera) can't be enabled if the wsrep_provider is unset or set to 'none'".into(),
                ));
            }
            _ => {}
        }
        let whole;
        let given = match given {
            // Digits past 64 bits are the largest number.
            Value::Decimal(d) if d.scale() == 0 => {
                self.diag.warn(sql_err!(ER_DATA_OVERFLOW, text, "INT"));
                whole = if d.is_negative() { Value::Int(i64::MIN) } else { Value::Int(i64::MAX) };
                &whole
            }
            other => other,
        };
        match def.kind {
            Kind::Int | Kind::UInt if is_text || given.is_null() => Err(wrong_type()),
            Kind::Double if is_text || given.is_null() => Err(wrong_type()),
            Kind::Text if given.is_null() => Ok(String::new()),
            Kind::Text if !is_text => Err(wrong_type()),
            Kind::Bool | Kind::Enum | Kind::Set | Kind::FlagSet if given.is_null() => Err(wrong_value()),
            Kind::FlagSet => {
                let current = match global {
                    true => self.instance().globals.read().at(index).to_owned(),
                    false => self.host.vars.at(index).to_owned(),
                };
                let default = crate::variables::Values::defaults();
                merge_flags(&current, default.at(index), &text).ok_or_else(wrong_value)
            }
            _ => {
                let (accepted, moved) = def.accept(given, &text)?;
                if moved {
                    if self.host.hot.sql_mode.has(SqlMode::STRICT_ALL_TABLES) {
                        return Err(wrong_value());
                    }
                    self.diag.warn(sql_err!(ER_TRUNCATED_WRONG_VALUE, def.name, text));
                }
                Ok(accepted)
            }
        }
    }
}

fn given_number(v: &Value) -> Option<u64> {
    match v {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        _ => None,
    }
}

fn accept_charset(name: &str, given: &Value, text: &str) -> SqlResult<String> {
    if given.is_null() {
        return match name {
            "character_set_results" => Ok(String::new()),
            _ => Err(sql_err!(ER_WRONG_VALUE_FOR_VAR, name, "NULL")),
        };
    }
    let by_number = given_number(given).and_then(|n| u16::try_from(n).ok()).map(Collation);
    let set = match by_number.filter(|c| c.is_known()) {
        Some(c) => Some(c.charset()),
        None => Charset::by_name(text),
    };
    let set = set.ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, text))?;
    if name == "character_set_client" {
        charset::usable_by_clients(set)?;
    }
    Ok(set.name().to_owned())
}

fn accept_time_zone(given: &Value, text: &str) -> SqlResult<String> {
    match given {
        Value::Null => Err(sql_err!(ER_WRONG_VALUE_FOR_VAR, "time_zone", "NULL")),
        Value::Bytes(_) => match TimeZone::parse(text) {
            Some(zone) => Ok(zone.to_string()),
            None => Err(sql_err!(ER_UNKNOWN_TIME_ZONE, text)),
        },
        _ => Err(sql_err!(ER_WRONG_TYPE_FOR_VAR, "time_zone")),
    }
}

/// What the combined modes switch on beside themselves.
const COMBINED_MODES: &[(u64, u64)] = &[
    (
        SqlMode::ANSI,
        SqlMode::REAL_AS_FLOAT | SqlMode::PIPES_AS_CONCAT | SqlMode::ANSI_QUOTES | SqlMode::IGNORE_SPACE,
    ),
    (SqlMode::ORACLE, FOREIGN | SqlMode::NO_AUTO_CREATE_USER | SqlMode::SIMULTANEOUS_ASSIGNMENT),
    (SqlMode::MSSQL, FOREIGN),
    (SqlMode::POSTGRESQL, FOREIGN),
    (SqlMode::DB2, FOREIGN),
    (SqlMode::MAXDB, FOREIGN | SqlMode::NO_AUTO_CREATE_USER),
    (SqlMode::MYSQL40, SqlMode::HIGH_NOT_PRECEDENCE),
    (SqlMode::MYSQL323, SqlMode::HIGH_NOT_PRECEDENCE),
    (
        SqlMode::TRADITIONAL,
        SqlMode::STRICT_TRANS_TABLES
            | SqlMode::STRICT_ALL_TABLES
            | SqlMode::NO_ZERO_IN_DATE
            | SqlMode::NO_ZERO_DATE
            | SqlMode::ERROR_FOR_DIVISION_BY_ZERO
            | SqlMode::NO_AUTO_CREATE_USER
            | SqlMode::NO_ENGINE_SUBSTITUTION,
    ),
];

/// What all modes named after other servers share.
const FOREIGN: u64 = SqlMode::PIPES_AS_CONCAT
    | SqlMode::ANSI_QUOTES
    | SqlMode::IGNORE_SPACE
    | SqlMode::NO_KEY_OPTIONS
    | SqlMode::NO_TABLE_OPTIONS
    | SqlMode::NO_FIELD_OPTIONS;

fn accept_sql_mode(def: &VarDef, given: &Value, text: &str) -> SqlResult<String> {
    let members: Vec<&str> = def.members.split(',').collect();
    let mut bits = match given_number(given) {
        Some(n) if n < 1 << members.len() => n,
        Some(_) => return Err(sql_err!(ER_WRONG_VALUE_FOR_VAR, def.name, text)),
        None => crate::variables::sql_mode(&def.accept(given, text)?.0).0,
    };
    for (mode, more) in COMBINED_MODES {
        if bits & mode != 0 {
            bits |= more;
        }
    }
    let names: Vec<&str> = members.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, m)| *m).collect();
    Ok(names.join(","))
}

/// `flag=on|off|default, default, …` applied to the present flags.
pub(super) fn merge_flags(current: &str, default: &str, given: &str) -> Option<String> {
    let parse = |s: &str| -> Vec<(String, String)> {
        let pairs = s.split(',').filter_map(|p| p.split_once('='));
        pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    };
    let defaults = parse(default);
    let mut flags = parse(current);
    for part in given.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        if part.eq_ignore_ascii_case("default") {
            flags.clone_from(&defaults);
            continue;
        }
        let (name, value) = part.split_once('=')?;
        let (name, value) = (name.trim(), value.trim().to_ascii_lowercase());
        let at = flags.iter().position(|(k, _)| k.eq_ignore_ascii_case(name))?;
        flags[at].1 = match value.as_str() {
            "on" | "off" => value,
            "default" => defaults.iter().find(|(k, _)| k.eq_ignore_ascii_case(name))?.1.clone(),
            _ => return None,
        };
    }
    let all: Vec<String> = flags.iter().map(|(k, v)| format!("{k}={v}")).collect();
    Some(all.join(","))
}

/// `en_US` and its like.
fn is_locale(name: &str) -> bool {
    const LANGUAGES: &[&str] = &[
        "ar", "be", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fo", "fr", "gl", "gu", "he", "hi",
        "hr", "hu", "id", "is", "it", "ja", "ka", "ko", "lt", "lv", "mk", "mn", "ms", "nb", "nl", "no", "pl", "pt", "rm",
        "ro", "ru", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur", "vi", "zh",
    ];
    match name.split_once('_') {
        Some((language, country)) => {
            LANGUAGES.iter().any(|l| language.eq_ignore_ascii_case(l))
                && country.len() == 2
                && country.bytes().all(|b| b.is_ascii_alphabetic())
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::{TABLE, find};

    #[test]
    fn combined_modes_bring_theirs() {
        let def = &TABLE[find("sql_mode").unwrap()];
        let set = |s: &str| accept_sql_mode(def, &Value::text(s), s);
        assert_eq!(set("ansi").unwrap(), "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI");
        assert_eq!(
            set("traditional").unwrap(),
            "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,\
             NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
        );
        assert_eq!(
            set("mssql,oracle").unwrap(),
            "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ORACLE,MSSQL,NO_KEY_OPTIONS,NO_TABLE_OPTIONS,NO_FIELD_OPTIONS,\
             NO_AUTO_CREATE_USER,SIMULTANEOUS_ASSIGNMENT"
        );
        assert_eq!(set("mysql40").unwrap(), "MYSQL40,HIGH_NOT_PRECEDENCE");
        assert_eq!(set("").unwrap(), "");
        assert_eq!(accept_sql_mode(def, &Value::Int(1), "1").unwrap(), "REAL_AS_FLOAT");
        let e = accept_sql_mode(def, &Value::Int(99_999_999_999_999), "99999999999999").unwrap_err();
        assert_eq!(e.message(), "Variable 'sql_mode' can't be set to the value of '99999999999999'");
        assert_eq!(set("ansi,nosuch").unwrap_err().message(), "Variable 'sql_mode' can't be set to the value of 'nosuch'");
    }

    #[test]
    fn flags_are_merged() {
        assert_eq!(merge_flags("a=on,b=off", "a=on,b=on", "b=default").as_deref(), Some("a=on,b=on"));
        assert_eq!(merge_flags("a=on,b=off", "a=off,b=on", "default,a=on").as_deref(), Some("a=on,b=on"));
        assert_eq!(merge_flags("a=on", "a=on", "a=maybe"), None);
        assert_eq!(merge_flags("a=on", "a=on", "c=on"), None);
        assert_eq!(merge_flags("a=on", "a=on", "a"), None);
    }

    #[test]
    fn character_sets_and_zones() {
        assert_eq!(accept_charset("character_set_results", &Value::Null, "NULL").unwrap(), "");
        assert_eq!(accept_charset("character_set_client", &Value::text("utf8"), "utf8").unwrap(), "utf8mb3");
        let e = accept_charset("character_set_client", &Value::text("utf16"), "utf16").unwrap_err();
        assert_eq!(e.message(), "Variable 'character_set_client' can't be set to the value of 'utf16'");
        assert_eq!(accept_time_zone(&Value::text("+02:00"), "+02:00").unwrap(), "+02:00");
        assert_eq!(accept_time_zone(&Value::text("x"), "nowhere").unwrap_err().code(), 1298);
        assert!(is_locale("de_DE") && !is_locale("xx") && !is_locale("xx_YY"));
    }
}
