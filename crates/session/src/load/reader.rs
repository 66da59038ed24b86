//! Cutting a stream of bytes into rows and fields, as LOAD DATA reads them.
//!
//! The rules are those of the manual's page on LOAD DATA: a field that begins with the quote ends at a quote in front of
//! a separator or the row's end, a doubled quote is one, the escape takes the next character as it is (or as a control
//! character), `\N` alone is NULL, and so is an unquoted `NULL` where a quote is declared.
//!
//! It holds one piece of the input and one row; it knows nothing of tables, nor where bytes come from.

use memchr::memmem;
use selkie_types::SqlResult;

use super::format::{Format, char_len};

/// Where the bytes come from.
pub trait Source {
    /// Appends the next piece to `buf`. `false`: that was all (nothing was appended).
    fn read(&mut self, buf: &mut Vec<u8>) -> SqlResult<bool>;
}

/// The fields of one row. Reused from row to row.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    /// Where each field ends in `bytes`, and whether it is NULL.
    ends: Vec<(usize, bool)>,
}

impl Fields {
    /// How many the row had, at most as many as were wanted.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the row had none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A field's bytes in the file's character set; `None` is NULL.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let (end, null) = self.ends[i];
        let start = if i == 0 { 0 } else { self.ends[i - 1].0 };
        (!null).then(|| &self.bytes[start..end])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// How far the row being read has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// At the beginning of a row.
    Start,
    /// Behind a field's separator.
    Inside,
    /// Behind the row's end.
    LineEnd,
    /// Nothing is left.
    FileEnd,
}

/// Reads rows.
pub struct RowReader<S> {
    source: S,
    format: Format,
    buf: Vec<u8>,
    pos: usize,
    exhausted: bool,
    at: At,
    /// Bytes that may mean something outside of quotes, and inside.
    special: [bool; 256],
    special_quoted: [bool; 256],
}

impl<S: Source> RowReader<S> {
    /// A reader at the beginning of the source.
    pub fn new(source: S, mut format: Format) -> RowReader<S> {
        if format.line_end == format.field_end {
            // Rows are as long as there are columns then.
            format.line_end.clear();
        }
        let mut special = [false; 256];
        for lead in 0..=255u8 {
            special[lead as usize] = char_len(format.charset, lead) > 1;
        }
        special.iter_mut().zip(0..=255u8).for_each(|(s, b)| *s |= Some(b) == format.escape);
        let mut special_quoted = special;
        for first in [format.field_end.first(), format.line_end.first()].into_iter().flatten() {
            special[*first as usize] = true;
        }
        if let Some(q) = format.enclosed {
            special_quoted[q as usize] = true;
        }
        RowReader { source, format, buf: Vec::new(), pos: 0, exhausted: false, at: At::Start, special, special_quoted }
    }

    /// The source, to read what is left of it.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Reads up to `wanted` fields of the next row. `false`: there is no further row.
    pub fn next_row(&mut self, wanted: usize, row: &mut Fields) -> SqlResult<bool> {
        row.clear();
        if !self.begin_row()? {
            return Ok(false);
        }
        for _ in 0..wanted {
            if !self.field(row)? {
                break;
            }
        }
        Ok(!row.is_empty())
    }

    /// Reads the next row of fields of these widths, in bytes.
    pub fn next_fixed_row(&mut self, widths: &[usize], row: &mut Fields) -> SqlResult<bool> {
        row.clear();
        if !self.begin_row()? {
            return Ok(false);
        }
        let total: usize = widths.iter().sum();
        while row.bytes.len() < total {
            if !self.format.line_end.is_empty() && self.take_line_end()? {
                self.at = At::LineEnd;
                break;
            }
            let Some(b) = self.byte()? else {
                self.at = At::FileEnd;
                break;
            };
            row.bytes.push(b);
        }
        if row.bytes.is_empty() && self.at == At::FileEnd {
            return Ok(false);
        }
        let mut end = 0;
        for width in widths {
            if end == row.bytes.len() {
                break;
            }
            end = row.bytes.len().min(end + width);
            row.ends.push((end, false));
        }
        Ok(true)
    }

    /// Goes on to the next row. Returns whether something was left of the present one.
    pub fn finish_row(&mut self) -> SqlResult<bool> {
        let was = std::mem::replace(&mut self.at, At::Start);
        match was {
            At::LineEnd => Ok(false),
            At::FileEnd => {
                self.at = At::FileEnd;
                Ok(false)
            }
            At::Start | At::Inside => self.skip_row(),
        }
    }

    /// Leaves out the rest of a row. Returns whether there was any, unless the file's end came first.
    pub fn skip_row(&mut self) -> SqlResult<bool> {
        if self.format.line_end.is_empty() {
            return Ok(false);
        }
        let mut any = false;
        loop {
            if self.take_line_end()? {
                return Ok(any);
            }
            let Some(b) = self.byte()? else {
                self.at = At::FileEnd;
                return Ok(false);
            };
            any = true;
            if Some(b) == self.format.escape || char_len(self.format.charset, b) > 1 {
                self.byte()?;
            }
        }
    }

    /// Goes to where the row's data begin. `false`: there is no row.
    fn begin_row(&mut self) -> SqlResult<bool> {
        if self.at == At::FileEnd {
            return Ok(false);
        }
        self.at = At::Start;
        if !self.format.line_start.is_empty() {
            loop {
                if let Some(found) = memmem::find(&self.buf[self.pos..], &self.format.line_start) {
                    self.pos += found + self.format.line_start.len();
                    break;
                }
                // The prefix may straddle two pieces.
                let keep = (self.format.line_start.len() - 1).min(self.buf.len() - self.pos);
                self.pos = self.buf.len() - keep;
                if !self.more()? {
                    self.at = At::FileEnd;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Reads a field into `row`. `false`: the row, or the file, had ended before it.
    fn field(&mut self, row: &mut Fields) -> SqlResult<bool> {
        if matches!(self.at, At::LineEnd | At::FileEnd) {
            return Ok(false);
        }
        let Some(first) = self.peek()? else {
            self.at = At::FileEnd;
            return Ok(false);
        };
        let start = row.bytes.len();
        let mut escaped_n = false;
        let quoted = Some(first) == self.format.enclosed;
        let mut closed = false;
        if quoted {
            self.pos += 1;
            (self.at, closed) = self.quoted(&mut row.bytes, &mut escaped_n)?;
            if !closed {
                // The quote was never closed: it is part of the value.
                row.bytes.insert(start, first);
            }
        } else {
            self.at = self.plain(&mut row.bytes, &mut escaped_n)?;
        }
        let value = &row.bytes[start..];
        let null = (escaped_n && value.len() == 1)
            || (!closed && self.format.enclosed.is_some() && value == b"NULL");
        row.ends.push((row.bytes.len(), null));
        Ok(true)
    }

    /// A field without quotes, up to and with what ends it.
    fn plain(&mut self, out: &mut Vec<u8>, escaped_n: &mut bool) -> SqlResult<At> {
        loop {
            let rest = &self.buf[self.pos..];
            let run = rest.iter().position(|b| self.special[*b as usize]).unwrap_or(rest.len());
            out.extend_from_slice(&rest[..run]);
            self.pos += run;
            let Some(b) = self.peek()? else { return Ok(At::FileEnd) };
            if !self.special[b as usize] {
                continue;
            }
            if Some(b) == self.format.escape {
                self.pos += 1;
                match self.peek()? {
                    None => {
                        out.push(b);
                        return Ok(At::FileEnd);
                    }
                    // The quote is its own escape: alone it means itself.
                    Some(next) if self.format.escape == self.format.enclosed && next != b => out.push(b),
                    Some(next) => {
                        self.pos += 1;
                        out.push(unescaped(next));
                        *escaped_n |= next == b'N';
                    }
                }
            } else if self.take_line_end()? {
                return Ok(At::LineEnd);
            } else if self.take_field_end()? {
                return Ok(At::Inside);
            } else {
                self.whole_char(out)?;
            }
        }
    }

    /// A field behind its opening quote, up to and with what ends it. Also whether the closing quote was there.
    fn quoted(&mut self, out: &mut Vec<u8>, escaped_n: &mut bool) -> SqlResult<(At, bool)> {
        loop {
            let rest = &self.buf[self.pos..];
            let run = rest.iter().position(|b| self.special_quoted[*b as usize]).unwrap_or(rest.len());
            out.extend_from_slice(&rest[..run]);
            self.pos += run;
            let Some(b) = self.peek()? else { return Ok((At::FileEnd, false)) };
            if !self.special_quoted[b as usize] {
                continue;
            }
            if Some(b) == self.format.enclosed {
                self.pos += 1;
                let Some(next) = self.peek()? else { return Ok((At::FileEnd, true)) };
                if next == b {
                    self.pos += 1;
                } else if self.take_line_end()? {
                    return Ok((At::LineEnd, true));
                } else if self.take_field_end()? {
                    return Ok((At::Inside, true));
                }
                // Doubled, or in the middle of the value.
                out.push(b);
            } else if Some(b) == self.format.escape {
                self.pos += 1;
                let Some(next) = self.byte()? else {
                    out.push(b);
                    return Ok((At::FileEnd, false));
                };
                out.push(unescaped(next));
                *escaped_n |= next == b'N';
            } else {
                self.whole_char(out)?;
            }
        }
    }

    /// Copies the character at the present position: its later bytes are no separators.
    fn whole_char(&mut self, out: &mut Vec<u8>) -> SqlResult<()> {
        if let Some(lead) = self.byte()? {
            out.push(lead);
            if char_len(self.format.charset, lead) > 1
                && let Some(trail) = self.peek()?
                && trail >= 0x40
            {
                self.pos += 1;
                out.push(trail);
            }
        }
        Ok(())
    }

    fn take_line_end(&mut self) -> SqlResult<bool> {
        let n = self.format.line_end.len();
        if n == 0 || self.peek()? != self.format.line_end.first().copied() || !self.available(n)? {
            return Ok(false);
        }
        let there = self.buf[self.pos..self.pos + n] == self.format.line_end;
        self.pos += if there { n } else { 0 };
        Ok(there)
    }

    fn take_field_end(&mut self) -> SqlResult<bool> {
        let n = self.format.field_end.len();
        if n == 0 || self.peek()? != self.format.field_end.first().copied() || !self.available(n)? {
            return Ok(false);
        }
        let there = self.buf[self.pos..self.pos + n] == self.format.field_end;
        self.pos += if there { n } else { 0 };
        Ok(there)
    }

    fn peek(&mut self) -> SqlResult<Option<u8>> {
        Ok(if self.available(1)? { Some(self.buf[self.pos]) } else { None })
    }

    fn byte(&mut self) -> SqlResult<Option<u8>> {
        let b = self.peek()?;
        self.pos += usize::from(b.is_some());
        Ok(b)
    }

    /// Whether there are `n` more bytes; reads more where needed.
    fn available(&mut self, n: usize) -> SqlResult<bool> {
        while self.buf.len() - self.pos < n {
            if !self.more()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn more(&mut self) -> SqlResult<bool> {
        if self.exhausted {
            return Ok(false);
        }
        self.buf.drain(..self.pos);
        self.pos = 0;
        self.exhausted = !self.source.read(&mut self.buf)?;
        Ok(!self.exhausted)
    }
}

/// What an escaped character stands for.
fn unescaped(b: u8) -> u8 {
    match b {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out a text in pieces of a given size.
    struct Pieces<'a> {
        text: &'a [u8],
        size: usize,
    }

    impl Source for Pieces<'_> {
        fn read(&mut self, buf: &mut Vec<u8>) -> SqlResult<bool> {
            let n = self.size.min(self.text.len());
            buf.extend_from_slice(&self.text[..n]);
            self.text = &self.text[n..];
            Ok(n > 0)
        }
    }

    type Rows = Vec<(Vec<Option<String>>, bool)>;

    /// All rows of a text: their fields, and whether something was left of the row.
    fn rows_in_pieces(text: &[u8], size: usize, format: &Format, wanted: usize, skip: usize) -> Rows {
        let mut r = RowReader::new(Pieces { text, size }, format.clone());
        for _ in 0..skip {
            r.skip_row().unwrap();
        }
        let mut row = Fields::default();
        let mut out = Vec::new();
        while r.next_row(wanted, &mut row).unwrap() {
            let fields = (0..row.len()).map(|i| row.get(i).map(|f| String::from_utf8_lossy(f).into_owned())).collect();
            let extra = r.finish_row().unwrap();
            out.push((fields, extra));
        }
        out
    }

    fn shown(rows: &Rows) -> String {
        let row = |(fields, extra): &(Vec<Option<String>>, bool)| {
            let fields: Vec<_> =
                fields.iter().map(|f| f.as_ref().map_or("NULL".into(), |f| format!("[{}]", f.escape_debug()))).collect();
            format!("{}{}", fields.join(" "), if *extra { " +" } else { "" })
        };
        rows.iter().map(row).collect::<Vec<_>>().join(" / ")
    }

    fn check_skipping(format: &Format, wanted: usize, skip: usize, text: &str, expected: &str) {
        for size in [1, 2, 3, 1000] {
            let rows = rows_in_pieces(text.as_bytes(), size, format, wanted, skip);
            assert_eq!(shown(&rows), expected, "{text:?} in pieces of {size}");
        }
    }

    fn check(format: &Format, wanted: usize, text: &str, expected: &str) {
        check_skipping(format, wanted, 0, text, expected);
    }

    fn csv() -> Format {
        Format { field_end: b",".to_vec(), enclosed: Some(b'"'), ..Format::default() }
    }

    #[test]
    fn tabs_and_newlines() {
        let f = Format::default();
        check(&f, 2, "1\ta\n2\tb\n", "[1] [a] / [2] [b]");
        check(&f, 2, "1\ta\n2\tb", "[1] [a] / [2] [b]");
        check(&f, 2, "", "");
        check(&f, 2, "\n", "[]");
        check(&f, 2, "1\t\\N\n", "[1] NULL");
        check(&f, 2, "1\tNULL\n", "[1] [NULL]");
        check(&f, 2, "a\\tb\\nc\t\\0\\Z\\b\\r\\q\\\\\n", "[a\\tb\\nc] [\\0\\u{1a}\\u{8}\\rq\\\\]");
        check(&f, 2, "a\\\nb\tc\n", "[a\\nb] [c]");
        check(&f, 2, "N\\N\tx\\", "[NN] [x\\\\]");
    }

    #[test]
    fn too_few_and_too_many() {
        let f = csv();
        check(&f, 2, "1,2\n3,4,5\n6\n\n7,", "[1] [2] / [3] [4] + / [6] / [] / [7]");
        check(&f, 2, "1,2,\n", "[1] [2]");
        check(&f, 1, "1,2\\\n3\n4", "[1] + / [4]");
        check_skipping(&f, 2, 2, "1,2\n3,4,5\n6\n\n7,", "[6] / [] / [7]");
        check_skipping(&f, 2, 9, "1,2\n", "");
    }

    #[test]
    fn quotes() {
        let f = csv();
        check(&f, 4, "a,\"b\",\"c\"\"d\",e\\,f\n", "[a] [b] [c\\\"d] [e,f]");
        check(&f, 4, "\"x\"y\",\"\",\\N,NULL\n", "[x\\\"y] [] NULL NULL");
        check(&f, 3, "1,\"NULL\",\"\\N\"\n", "[1] [NULL] NULL");
        check(&f, 2, "\"a,\nb\",c\n", "[a,\\nb] [c]");
        check(&f, 2, "\"unclosed,a\nb,c", "[\\\"unclosed,a\\nb,c]");
        check(&f, 2, "\"a\",\"b\"", "[a] [b]");
        check(&f, 2, "a\"b,c\n", "[a\\\"b] [c]");
        let own_escape = Format { escape: Some(b'"'), ..csv() };
        check(&own_escape, 2, "\"a\"\"b\",\"c\"\n", "[a\\\"b] [c]");
        let none = Format { escape: None, ..csv() };
        check(&none, 2, "a\\,\"b\\\"\n", "[a\\\\] [b\\\\]");
    }

    #[test]
    fn long_separators() {
        let f = Format { field_end: b"||".to_vec(), line_end: b"\r\n".to_vec(), ..Format::default() };
        check(&f, 2, "a|b||c\rd\r\n1||2\r\n", "[a|b] [c\\rd] / [1] [2]");
        check(&f, 2, "a|||b", "[a] [|b]");
    }

    #[test]
    fn prefixes() {
        let f = Format { line_start: b"xxx".to_vec(), ..csv() };
        check(&f, 2, "junk xxx1,2\nnothing\nyyxxx3,4 xxx 5\nxxx\\N,6\n", "[1] [2] / [3] [4 xxx 5] / NULL [6]");
        check(&f, 2, "xx", "");
    }

    #[test]
    fn rows_without_an_end() {
        let f = Format { line_end: b",".to_vec(), ..csv() };
        check(&f, 2, "1,2,3,4,5", "[1] [2] / [3] [4] / [5]");
        let f = Format { line_end: Vec::new(), ..csv() };
        check(&f, 2, "1,2,3,4,5", "[1] [2] / [3] [4] / [5]");
    }

    #[test]
    fn bytes_that_look_like_a_backslash() {
        let f = Format { charset: selkie_types::Charset::Sjis, ..Format::default() };
        let rows = rows_in_pieces(b"\x95\x5Ct\t2\n", 1, &f, 2, 0);
        assert_eq!(rows[0].0.len(), 2);
        assert_eq!(rows[0].0[1].as_deref(), Some("2"));
    }

    #[test]
    fn fixed_widths() {
        let f = Format { field_end: Vec::new(), ..Format::default() };
        for size in [1, 3, 100] {
            let text = b"1   ab        \n22  cdefghijklm\n3\n";
            let mut r = RowReader::new(Pieces { text, size }, f.clone());
            let (mut row, mut out) = (Fields::default(), Vec::new());
            while r.next_fixed_row(&[4, 10], &mut row).unwrap() {
                let fields = (0..row.len()).map(|i| String::from_utf8_lossy(row.get(i).unwrap()).into_owned());
                out.push((fields.collect::<Vec<_>>(), r.finish_row().unwrap()));
            }
            let expected = [
                (vec!["1   ".to_owned(), "ab        ".to_owned()], false),
                (vec!["22  ".to_owned(), "cdefghijkl".to_owned()], true),
                (vec!["3".to_owned()], false),
            ];
            assert_eq!(out, expected, "in pieces of {size}");
        }
    }

    proptest! {
        /// What is written with any separators comes back, however the file is cut.
        #[test]
        fn written_rows_come_back(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of("[abN,|\"\\\\\\t\n\r\0]{0,6}"), 3), 0..6),
            field_end in prop::sample::select(vec!["\t", ",", "||", "ab"]),
            line_end in prop::sample::select(vec!["\n", "\r\n", "|\n"]),
            enclosed in prop::option::of(Just(b'"')),
            optionally in any::<bool>(),
            size in 1..9usize,
        ) {
            let format = Format {
                field_end: field_end.into(),
                line_end: line_end.into(),
                enclosed,
                optionally,
                ..Format::default()
            };
            let mut text = Vec::new();
            let writer = super::super::outfile::RowFormatter::new(&format);
            for row in &rows {
                let fields = row.iter().map(|f| f.as_ref().map(|f| (f.as_bytes(), true)));
                writer.write_row(fields, &mut text);
            }
            let read = rows_in_pieces(&text, size, &format, 3, 0);
            let expected: Rows = rows.into_iter().map(|r| (r, false)).collect();
            prop_assert_eq!(read, expected);
        }

        /// No input breaks the reader.
        #[test]
        fn anything_can_be_read(text in prop::collection::vec(prop::sample::select(b"ab,\"\\N\n|x".to_vec()), 0..60), size in 1..9usize) {
            for format in [csv(), Format { line_start: b"x".to_vec(), ..csv() }, Format { line_end: b"\n|".to_vec(), ..csv() }] {
                let whole = rows_in_pieces(&text, 1000, &format, 2, 0);
                prop_assert_eq!(rows_in_pieces(&text, size, &format, 2, 0), whole);
            }
        }
    }
}
