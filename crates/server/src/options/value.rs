//! Values of options that set system variables: numbers with suffixes, switches, members of enumerations.

use selkie_session::variables::{Kind, VarDef};
use selkie_types::Value;

use super::OptionError;

/// A value that a variable takes.
#[derive(Debug)]
pub struct Accepted {
    /// As SHOW VARIABLES prints it.
    pub text: String,
    /// A number was outside of its limits.
    pub adjusted: bool,
}

/// Whether a value must follow the option's name.
pub fn requires_value(def: &VarDef) -> bool {
    without_value(def).is_none()
}

/// Whether the option is a switch, which `skip-` turns off.
pub fn is_switch(def: &VarDef) -> bool {
    def.kind == Kind::Bool || matches!(def.name, "event_scheduler" | "concurrent_insert" | "delay_key_write")
}

/// What an option means that is given without a value.
pub fn without_value(def: &VarDef) -> Option<&'static str> {
    match def.name {
        "event_scheduler" | "delay_key_write" => return Some("ON"),
        "concurrent_insert" => return Some("AUTO"),
        "log_warnings" => return Some("2"),
        "log_error" => return Some("selkie.err"),
        "lower_case_table_names" | "auto_increment_increment" | "auto_increment_offset" => return Some("1"),
        _ => {}
    }
    (def.kind == Kind::Bool).then_some("1")
}

/// The value that a text means for a variable.
pub fn accept(def: &VarDef, shown: &str, text: &str) -> Result<Accepted, OptionError> {
    let bad_number = || OptionError::BadNumber(shown.to_owned(), text.to_owned());
    let bad_value = || {
        let allowed = if def.members.is_empty() || def.members.len() > 200 {
            String::new()
        } else {
            format!("; it may be {}", def.members.replace(',', ", "))
        };
        OptionError::BadValue(shown.to_owned(), text.to_owned(), allowed)
    };
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let value = match def.kind {
        Kind::Int | Kind::UInt => match number(text).ok_or_else(bad_number)? {
            n if n < 0 => Value::Int(n.max(i64::MIN.into()) as i64),
            n => Value::UInt(u64::try_from(n).unwrap_or(u64::MAX)),
        },
        Kind::Enum | Kind::Set if digits => Value::UInt(text.parse().map_err(|_| bad_value())?),
        Kind::Double if text.trim().parse::<f64>().is_err() => return Err(bad_number()),
        _ => Value::text(text),
    };
    match def.accept(&value, text) {
        Ok((text, adjusted)) => Ok(Accepted { text, adjusted }),
        Err(_) => Err(bad_value()),
    }
}

/// A whole number with one of the suffixes K, M, G, T, P, E (powers of 1024).
fn number(text: &str) -> Option<i128> {
    let text = text.trim();
    let shift = match text.bytes().last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        b'p' => 50,
        b'e' => 60,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    let n: i64 = match digits.parse() {
        Ok(n) => n,
        // Beyond the signed range: the largest unsigned numbers.
        Err(_) => return digits.parse::<u64>().ok().map(|n| i128::from(n) << shift),
    };
    Some(i128::from(n) << shift)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn suffixes_are_powers_of_1024() {
        assert_eq!(number("16"), Some(16));
        assert_eq!(number("16k"), Some(16 << 10));
        assert_eq!(number("2G"), Some(2 << 30));
        assert_eq!(number("-1"), Some(-1));
        assert_eq!(number("18446744073709551615"), Some(u64::MAX.into()));
        for bad in ["", "K", "1x", "0x10", "1 M", "é"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
