//! The format of a text file of rows: what the FIELDS and LINES clauses say, checked.

use selkie_parser::ast::{FieldsClause, LinesClause};
use selkie_types::{Charset, SqlResult, sql_err};

/// How rows and fields stand in a file. All bytes are in the file's character set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// What stands between fields; may be empty.
    pub field_end: Vec<u8>,
    /// The quote around fields.
    pub enclosed: Option<u8>,
    /// Only text is quoted when writing.
    pub optionally: bool,
    /// The escape character.
    pub escape: Option<u8>,
    /// What stands before each row; all before it in a line is no data.
    pub line_start: Vec<u8>,
    /// What ends a row; may be empty.
    pub line_end: Vec<u8>,
    /// The file's character set.
    pub charset: Charset,
}

impl Default for Format {
    fn default() -> Format {
        Format {
            field_end: b"\t".to_vec(),
            enclosed: None,
            optionally: false,
            escape: Some(b'\\'),
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
            charset: Charset::Utf8mb4,
        }
    }
}

impl Format {
    /// From a statement's clauses. Error 1083 where a quote or an escape is longer than one character.
    pub fn new(fields: &FieldsClause, lines: &LinesClause, charset: Charset) -> SqlResult<Format> {
        let encoded = |text: &Option<Vec<u8>>, default: &[u8]| match text {
            Some(t) if t.is_ascii() => t.clone(),
            Some(t) => charset.encode(t).0.into_owned(),
            None => default.to_vec(),
        };
        let one = |text: Vec<u8>| match text.len() {
            0 => Ok(None),
            1 => Ok(Some(text[0])),
            _ => Err(sql_err!(ER_WRONG_FIELD_TERMINATORS)),
        };
        Ok(Format {
            field_end: encoded(&fields.terminated_by, b"\t"),
            enclosed: one(encoded(&fields.enclosed_by, b""))?,
            optionally: fields.optionally_enclosed,
            escape: one(encoded(&fields.escaped_by, b"\\"))?,
            line_start: encoded(&lines.starting_by, b""),
            line_end: encoded(&lines.terminated_by, b"\n"),
            charset,
        })
    }

    /// Whether fields have fixed widths instead of separators.
    pub fn is_fixed(&self) -> bool {
        self.field_end.is_empty() && self.enclosed.is_none()
    }

    /// Whether any separator has characters beyond ASCII (warning 1638).
    pub fn has_non_ascii(&self) -> bool {
        let texts = [&self.field_end, &self.line_start, &self.line_end];
        let bytes = [self.enclosed, self.escape];
        texts.iter().any(|t| !t.is_ascii()) || bytes.iter().flatten().any(|b| !b.is_ascii())
    }
}

/// How many bytes the character that begins with `lead` has in sets whose later bytes look like ASCII (`\` among them);
/// 1 for all others, whose bytes may be read one by one.
pub fn char_len(charset: Charset, lead: u8) -> usize {
    let double = match charset {
        Charset::Sjis | Charset::Cp932 => matches!(lead, 0x81..=0x9F | 0xE0..=0xFC),
        Charset::Gbk | Charset::Big5 => matches!(lead, 0x81..=0xFE),
        _ => false,
    };
    1 + usize::from(double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_one_character() {
        let mut fields = FieldsClause { enclosed_by: Some(b"''".to_vec()), ..FieldsClause::default() };
        let format = |f: &FieldsClause| Format::new(f, &LinesClause::default(), Charset::Utf8mb4);
        assert_eq!(format(&fields).unwrap_err().code(), 1083);
        fields.enclosed_by = Some(Vec::new());
        assert_eq!(format(&fields).unwrap(), Format::default());
        fields.terminated_by = Some(Vec::new());
        assert!(format(&fields).unwrap().is_fixed());
    }
}
