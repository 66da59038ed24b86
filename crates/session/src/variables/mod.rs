//! System variables: their definitions, values by scope, and what SET accepts.
//!
//! A value is kept as the text that SHOW VARIABLES prints. A session begins with a shared copy of the global values; what
//! statements need often stands ready in [`Hot`], made anew when a variable changes.
//!
//! It must not know what a variable does; `set_hooks` of the session act on changes.

mod overrides;
mod table;

use std::sync::Arc;

use selkie_expr::VarScope;
use selkie_txn::Isolation;
use selkie_types::{Charset, Collation, SqlMode, SqlResult, SqlType, TimeZone, Value, sql_err};

pub use overrides::overrides;
pub use table::TABLE;

/// Where a variable exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only globally.
    Global,
    /// Globally, and for each session.
    Session,
    /// Only in sessions.
    SessionOnly,
}

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    UInt,
    /// Floating point.
    Double,
    /// Text.
    Text,
    /// One of the members.
    Enum,
    /// Several of the members, comma separated.
    Set,
    /// `flag=on|off` for each member.
    FlagSet,
}

/// The definition of a variable.
#[derive(Debug)]
pub struct VarDef {
    /// Name in lower case.
    pub name: &'static str,
    /// Scope.
    pub scope: Scope,
    /// Kind.
    pub kind: Kind,
    /// Value at the start.
    pub default: &'static str,
    /// Smallest number.
    pub min: Option<&'static str>,
    /// Largest number.
    pub max: Option<&'static str>,
    /// Members of enumerations and sets, comma separated.
    pub members: &'static str,
    /// Whether SET is refused.
    pub read_only: bool,
}

/// Position of a variable in [`TABLE`] by name, any case.
pub fn find(name: &str) -> Option<usize> {
    let lower;
    let name = if name.bytes().any(|b| b.is_ascii_uppercase()) {
        lower = name.to_ascii_lowercase();
        &lower
    } else {
        name
    };
    let name = match name {
        "transaction_isolation" => "tx_isolation",
        "transaction_read_only" => "tx_read_only",
        "default_storage_engine" | "storage_engine" => "default_storage_engine",
        other => other,
    };
    TABLE.binary_search_by_key(&name, |v| v.name).ok()
}

impl VarDef {
    /// The SQL type of `@@name`.
    pub fn sql_type(&self) -> SqlType {
        match self.kind {
            Kind::Bool => SqlType::BIGINT,
            Kind::Int => SqlType::BIGINT,
            Kind::UInt => SqlType::BIGINT_UNSIGNED,
            Kind::Double => SqlType::Double { unsigned: false, zerofill: false, digits: Some((23, 6)) },
            _ => SqlType::varchar(1024, Collation::UTF8MB3_GENERAL_CI),
        }
    }

    /// A value's text as `@@name` gives it.
    pub fn value(&self, text: &str) -> Value {
        match self.kind {
            Kind::Bool => Value::Int((text == "ON" || text == "1") as i64),
            Kind::Int => text.parse().map_or(Value::Null, Value::Int),
            Kind::UInt => text.parse().map_or(Value::Null, Value::UInt),
            Kind::Double => text.parse().map_or(Value::Null, Value::Double),
            // Results as they are: the one set that may be NULL.
            _ if self.name == "character_set_results" && text.is_empty() => Value::Null,
            _ => Value::text(text),
        }
    }

    /// The text to keep for a value given to SET; also tells whether a number had to be moved into its limits.
    pub fn accept(&self, value: &Value, text: &str) -> SqlResult<(String, bool)> {
        let wrong_value = || sql_err!(ER_WRONG_VALUE_FOR_VAR, self.name, if value.is_null() { "NULL" } else { text });
        let wrong_type = || sql_err!(ER_WRONG_TYPE_FOR_VAR, self.name);
        match self.kind {
            Kind::Bool => match text.to_ascii_uppercase().as_str() {
                "1" | "ON" | "TRUE" => Ok(("ON".into(), false)),
                "0" | "OFF" | "FALSE" => Ok(("OFF".into(), false)),
                _ => Err(wrong_value()),
            },
            Kind::Int | Kind::UInt => {
                let n: i128 = match value {
                    Value::Int(v) => (*v).into(),
                    Value::UInt(v) => (*v).into(),
                    _ => return Err(wrong_type()),
                };
                let bound = |b: Option<&str>| b.and_then(|b| b.parse::<i128>().ok());
                let min = bound(self.min).unwrap_or(if self.kind == Kind::UInt { 0 } else { i64::MIN.into() });
                let max = bound(self.max).unwrap_or(u64::MAX.into());
                let fit = n.clamp(min, max.max(min));
                Ok((fit.to_string(), fit != n))
            }
            Kind::Double => {
                let n: f64 = text.trim().parse().map_err(|_| wrong_type())?;
                let bound = |b: Option<&str>, d: f64| b.and_then(|b| b.parse().ok()).unwrap_or(d);
                let fit = n.clamp(bound(self.min, f64::MIN), bound(self.max, f64::MAX));
                Ok((format!("{fit:.6}"), fit != n))
            }
            Kind::Text => Ok((text.to_owned(), false)),
            Kind::Enum => self.member(value, text).map(|m| (m, false)).ok_or_else(wrong_value),
            Kind::Set => {
                if let Value::Int(_) | Value::UInt(_) = value {
                    let bits: u64 = text.parse().map_err(|_| wrong_value())?;
                    let names: Vec<&str> =
                        self.members.split(',').enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, m)| m).collect();
                    return Ok((names.join(","), false));
                }
                let mut chosen = Vec::new();
                for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
                    let m = self.members.split(',').find(|m| m.eq_ignore_ascii_case(part));
                    chosen.push(m.ok_or_else(|| sql_err!(ER_WRONG_VALUE_FOR_VAR, self.name, part))?);
                }
                let in_order: Vec<&str> = self.members.split(',').filter(|m| chosen.contains(m)).collect();
                Ok((in_order.join(","), false))
            }
            Kind::FlagSet => Ok((text.to_owned(), false)),
        }
    }

    fn member(&self, value: &Value, text: &str) -> Option<String> {
        if self.members.is_empty() {
            return Some(text.to_owned());
        }
        let mut members = self.members.split(',');
        match value {
            Value::Int(_) | Value::UInt(_) => members.nth(text.parse().ok()?).map(str::to_owned),
            _ => members.find(|m| m.eq_ignore_ascii_case(text)).map(str::to_owned),
        }
    }
}

/// The values of all variables in one scope, in the order of [`TABLE`].
#[derive(Debug, Clone)]
pub struct Values(Arc<Vec<Arc<str>>>);

impl Values {
    /// The values at the start, before options.
    pub fn defaults() -> Values {
        let mut values: Vec<Arc<str>> = TABLE.iter().map(|v| Arc::from(v.default)).collect();
        for (name, value) in overrides() {
            if let Some(i) = find(name) {
                values[i] = Arc::from(*value);
            }
        }
        Values(Arc::new(values))
    }

    /// Whether nothing was set since one was made a copy of the other.
    pub fn is_same(&self, other: &Values) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A value by position in [`TABLE`].
    pub fn at(&self, i: usize) -> &str {
        &self.0[i]
    }

    /// A value by name; empty for an unknown one.
    pub fn get(&self, name: &str) -> &str {
        find(name).map_or("", |i| &self.0[i])
    }

    /// A number by name; 0 if it is none.
    pub fn u64(&self, name: &str) -> u64 {
        let text = self.get(name);
        text.parse().unwrap_or_else(|_| text.parse::<f64>().unwrap_or(0.0) as u64)
    }

    /// Whether a variable is ON.
    pub fn on(&self, name: &str) -> bool {
        matches!(self.get(name), "ON" | "1")
    }

    /// Whether the variable at a position is ON.
    pub fn is_on(&self, i: usize) -> bool {
        matches!(self.at(i), "ON" | "1")
    }

    /// Sets a value by position.
    pub fn set(&mut self, i: usize, value: &str) {
        Arc::make_mut(&mut self.0)[i] = Arc::from(value);
    }

    /// Sets a value by name, if there is such a variable.
    pub fn set_named(&mut self, name: &str, value: &str) {
        if let Some(i) = find(name) {
            self.set(i, value);
        }
    }
}

/// What statements need of the session's variables, ready for use.
#[derive(Debug, Clone)]
pub struct Hot {
    /// `sql_mode`
    pub sql_mode: SqlMode,
    /// `autocommit`
    pub autocommit: bool,
    /// `time_zone`
    pub time_zone: TimeZone,
    /// `collation_connection`
    pub collation_connection: Collation,
    /// `character_set_client`
    pub character_set_client: Charset,
    /// `character_set_results`; `None`: as it is.
    pub character_set_results: Option<Charset>,
    /// `tx_isolation`
    pub isolation: Isolation,
    /// `tx_read_only`
    pub read_only: bool,
    /// `max_allowed_packet`
    pub max_allowed_packet: usize,
    /// `sql_log_bin`
    pub sql_log_bin: bool,
    /// `binlog_annotate_row_events`
    pub annotate_rows: bool,
    /// `timestamp` fixed by SET; microseconds.
    pub fixed_timestamp_micros: Option<i64>,
    /// `innodb_lock_wait_timeout`, seconds.
    pub lock_wait_timeout_secs: u64,
    /// `long_query_time`, microseconds.
    pub long_query_micros: u64,
    /// `max_statement_time`, microseconds; 0 = none.
    pub max_statement_micros: u64,
    /// `sql_select_limit`
    pub select_limit: u64,
    /// `max_error_count`
    pub max_error_count: usize,
    /// `div_precision_increment`
    pub div_precision_increment: u8,
    /// `group_concat_max_len`
    pub group_concat_max_len: usize,
    /// `default_week_format`
    pub default_week_format: u8,
    /// `tmp_memory_table_size`, within limits.
    pub spill_bytes: usize,
    /// `max_recursive_iterations`
    pub max_recursive_iterations: u64,
    /// `foreign_key_checks`
    pub foreign_key_checks: bool,
    /// `unique_checks`
    pub unique_checks: bool,
    /// `check_constraint_checks`
    pub check_constraint_checks: bool,
    /// `auto_increment_increment`
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`
    pub auto_increment_offset: u64,
    /// `insert_id`; 0: none.
    pub insert_id: u64,
    /// `gtid_domain_id`
    pub gtid_domain_id: u32,
    /// `server_id`
    pub server_id: u32,
    /// `lock_wait_timeout`, seconds.
    pub metadata_lock_timeout_secs: u64,
    /// `wait_timeout`, seconds.
    pub wait_timeout_secs: u64,
}

impl Hot {
    /// Reads them from a session's values.
    pub fn of(v: &Values) -> Hot {
        let collation = |name| Collation::by_name(v.get(name)).unwrap_or(Collation::UTF8MB4_GENERAL_CI);
        let fixed: f64 = v.get("timestamp").parse().unwrap_or(0.0);
        Hot {
            sql_mode: sql_mode(v.get("sql_mode")),
            autocommit: v.on("autocommit"),
            time_zone: TimeZone::parse(v.get("time_zone")).unwrap_or(TimeZone::System),
            collation_connection: collation("collation_connection"),
            character_set_client: Charset::by_name(v.get("character_set_client")).unwrap_or(Charset::Utf8mb4),
            character_set_results: Charset::by_name(v.get("character_set_results")),
            isolation: isolation(v.get("tx_isolation")),
            read_only: v.on("tx_read_only"),
            max_allowed_packet: v.u64("max_allowed_packet") as usize,
            sql_log_bin: v.on("sql_log_bin"),
            annotate_rows: v.on("binlog_annotate_row_events"),
            fixed_timestamp_micros: (fixed > 0.0).then_some((fixed * 1e6).round() as i64),
            lock_wait_timeout_secs: v.u64("innodb_lock_wait_timeout"),
            long_query_micros: (v.get("long_query_time").parse::<f64>().unwrap_or(10.0) * 1e6) as u64,
            max_statement_micros: (v.get("max_statement_time").parse::<f64>().unwrap_or(0.0) * 1e6) as u64,
            select_limit: v.u64("sql_select_limit"),
            max_error_count: v.u64("max_error_count") as usize,
            div_precision_increment: v.u64("div_precision_increment") as u8,
            group_concat_max_len: v.u64("group_concat_max_len") as usize,
            default_week_format: v.u64("default_week_format") as u8,
            spill_bytes: v.u64("tmp_memory_table_size").clamp(1 << 20, 1 << 30) as usize,
            max_recursive_iterations: v.u64("max_recursive_iterations"),
            foreign_key_checks: v.on("foreign_key_checks"),
            unique_checks: v.on("unique_checks"),
            check_constraint_checks: v.on("check_constraint_checks"),
            auto_increment_increment: v.u64("auto_increment_increment"),
            auto_increment_offset: v.u64("auto_increment_offset"),
            insert_id: v.u64("insert_id"),
            gtid_domain_id: v.u64("gtid_domain_id") as u32,
            server_id: v.u64("server_id") as u32,
            metadata_lock_timeout_secs: v.u64("lock_wait_timeout"),
            wait_timeout_secs: v.u64("wait_timeout"),
        }
    }
}

/// The bits of `sql_mode` from its text. The members stand in the order of the bits.
pub fn sql_mode(text: &str) -> SqlMode {
    let Some(def) = find("sql_mode").map(|i| &TABLE[i]) else { return SqlMode::DEFAULT };
    let mut bits = 0;
    for part in text.split(',') {
        if let Some(i) = def.members.split(',').position(|m| m == part) {
            bits |= 1 << i;
        }
    }
    SqlMode(bits)
}

/// The isolation level from its text.
pub fn isolation(text: &str) -> Isolation {
    match text {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

/// The value of `@@scope.name` where only values decide.
pub fn read(global: &Values, session: &Values, scope: VarScope, name: &str) -> SqlResult<(usize, Value)> {
    let i = find(name).ok_or_else(|| sql_err!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
    let def = &TABLE[i];
    let values = match (scope, def.scope) {
        (VarScope::Global, Scope::SessionOnly) => {
            return Err(sql_err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, def.name, "SESSION"));
        }
        (VarScope::Session, Scope::Global) => {
            return Err(sql_err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, def.name, "GLOBAL"));
        }
        (VarScope::Global, _) | (_, Scope::Global) => global,
        _ => session,
    };
    Ok((i, def.value(values.at(i))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.windows(2).all(|w| w[0].name < w[1].name));
    }

    #[test]
    fn sets_keep_their_members_order() {
        let def = &TABLE[find("sql_mode").unwrap()];
        let (text, _) = def.accept(&Value::text(""), "strict_trans_tables,ANSI_QUOTES").unwrap();
        assert_eq!(text, "ANSI_QUOTES,STRICT_TRANS_TABLES");
        assert_eq!(sql_mode(&text).0, SqlMode::ANSI_QUOTES | SqlMode::STRICT_TRANS_TABLES);
        assert!(def.accept(&Value::text(""), "nonsense").is_err());
    }

    #[test]
    fn numbers_are_moved_into_their_limits() {
        let def = &TABLE[find("max_connections").unwrap()];
        assert_eq!(def.accept(&Value::Int(0), "0").unwrap(), ("10".into(), true));
        assert!(def.accept(&Value::text("x"), "x").is_err());
    }
}
