//! Writing rows as LOAD DATA reads them back: SELECT … INTO OUTFILE.
//!
//! It turns texts into bytes of a file; where texts and the file come from is the caller's matter.

use super::format::Format;

/// Writes rows in a format.
pub struct RowFormatter<'a> {
    format: &'a Format,
    /// Bytes that are escaped in a quoted field, and in one without quotes.
    escaped: [bool; 256],
    escaped_plain: [bool; 256],
}

impl<'a> RowFormatter<'a> {
    /// For a format.
    pub fn new(format: &'a Format) -> RowFormatter<'a> {
        let mut escaped = [false; 256];
        if let Some(e) = format.escape {
            escaped[0] = true;
            escaped[e as usize] = true;
            if let Some(b) = format.line_end.first() {
                escaped[*b as usize] = true;
            }
        }
        let mut escaped_plain = escaped;
        if format.escape.is_some() {
            if let Some(q) = format.enclosed {
                escaped[q as usize] = true;
                // At its beginning it would be taken for a quote.
                escaped_plain[q as usize] = true;
            }
            if let Some(b) = format.field_end.first() {
                escaped_plain[*b as usize] = true;
            }
        }
        RowFormatter { format, escaped, escaped_plain }
    }

    /// Writes a row of fields: their bytes and whether they are text (quoted where only text is); `None` is NULL.
    pub fn write_row<'f>(&self, fields: impl Iterator<Item = Option<(&'f [u8], bool)>>, out: &mut Vec<u8>) {
        let f = self.format;
        out.extend_from_slice(&f.line_start);
        for (i, field) in fields.enumerate() {
            if i > 0 {
                out.extend_from_slice(&f.field_end);
            }
            match (field, f.escape) {
                (None, Some(e)) => out.extend_from_slice(&[e, b'N']),
                (None, None) => out.extend_from_slice(b"NULL"),
                (Some((bytes, is_text)), _) => {
                    let quote = f.enclosed.filter(|_| is_text || !f.optionally);
                    out.extend(quote);
                    self.escape(bytes, quote.is_some(), out);
                    out.extend(quote);
                }
            }
        }
        out.extend_from_slice(&f.line_end);
    }

    /// Writes a row of fields padded to widths.
    pub fn write_fixed<'f>(&self, fields: impl Iterator<Item = (&'f [u8], usize)>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.format.line_start);
        for (bytes, width) in fields {
            let n = bytes.len().min(width);
            out.extend_from_slice(&bytes[..n]);
            out.resize(out.len() + width - n, b' ');
        }
        out.extend_from_slice(&self.format.line_end);
    }

    fn escape(&self, bytes: &[u8], quoted: bool, out: &mut Vec<u8>) {
        let special = if quoted { &self.escaped } else { &self.escaped_plain };
        let Some(escape) = self.format.escape else { return out.extend_from_slice(bytes) };
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| special[*b as usize]) {
            out.extend_from_slice(&rest[..at]);
            out.push(escape);
            out.push(if rest[at] == 0 { b'0' } else { rest[at] });
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
    }
}

/// Whether an escaped first character of the field separator would be read as something else (warning 1475).
pub fn is_ambiguous(format: &Format) -> bool {
    let quoted_always = format.enclosed.is_some() && !format.optionally;
    let first = format.field_end.first();
    format.escape.is_some() && !quoted_always && first.is_some_and(|b| b"ntrb0ZN".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &Format, fields: &[Option<(&str, bool)>], expected: &str) {
        let mut out = Vec::new();
        let fields = fields.iter().map(|f| f.map(|(t, text)| (t.as_bytes(), text)));
        RowFormatter::new(format).write_row(fields, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn rows_as_mariadb_writes_them() {
        let row = [Some(("1", false)), Some(("a", true)), None, Some(("x\ty\n\\z", true)), Some(("q\"q,", true))];
        check(&Format::default(), &row, "1\ta\t\\N\tx\\\ty\\\n\\\\z\tq\"q,\n");
        let csv = Format { field_end: b",".to_vec(), enclosed: Some(b'"'), ..Format::default() };
        let optionally = Format {
            optionally: true,
            line_start: b">".to_vec(),
            line_end: b"EOL".to_vec(),
            ..csv.clone()
        };
        check(&optionally, &row, ">1,\"a\",\\N,\"x\ty\n\\\\z\",\"q\\\"q,\"EOL");
        let plain = Format { escape: None, ..csv };
        check(&plain, &row, "\"1\",\"a\",NULL,\"x\ty\n\\z\",\"q\"q,\"\n");
    }
}
