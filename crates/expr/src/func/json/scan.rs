//! JSON text: checking it, walking it, decoding and encoding strings, laying it out.
//!
//! Values stay what they are in the source: a number keeps its digits, a string its escapes. A node is a
//! range of the text.

use std::ops::Range;

/// How deep values may be nested.
pub const DEPTH_MAX: usize = 32;

/// What is wrong with a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It ends too early.
    End,
    /// A character that does not belong there, by its 0-based byte offset.
    Syntax(usize),
    /// Nested deeper than [`DEPTH_MAX`].
    Depth(usize),
}

/// A value in the text: its bytes without blanks around.
pub type Node = Range<usize>;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

/// A checked JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a> {
    /// The text.
    pub text: &'a [u8],
}

fn skip_blanks(t: &[u8], mut i: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = t.get(i) {
        i += 1;
    }
    i
}

fn string_end(t: &[u8], start: usize) -> Result<usize, Fault> {
    let mut i = start + 1;
    loop {
        match t.get(i) {
            None => return Err(Fault::End),
            Some(b'"') => return Ok(i + 1),
            Some(b'\\') => {
                match t.get(i + 1) {
                    None => return Err(Fault::End),
                    Some(b'u') => {
                        for k in 2..6 {
                            match t.get(i + k) {
                                None => return Err(Fault::End),
                                Some(c) if c.is_ascii_hexdigit() => {}
                                Some(_) => return Err(Fault::Syntax(i + k)),
                            }
                        }
                        i += 6;
                        continue;
                    }
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                    Some(_) => return Err(Fault::Syntax(i + 1)),
                }
                i += 2;
            }
            Some(c) if *c < 0x20 => return Err(Fault::Syntax(i)),
            Some(_) => i += 1,
        }
    }
}

fn digits(t: &[u8], mut i: usize) -> Result<usize, Fault> {
    let start = i;
    while t.get(i).is_some_and(u8::is_ascii_digit) {
        i += 1;
    }
    if i > start {
        Ok(i)
    } else if i == t.len() {
        Err(Fault::End)
    } else {
        Err(Fault::Syntax(i))
    }
}

fn number_end(t: &[u8], start: usize) -> Result<usize, Fault> {
    let mut i = start;
    if t.get(i) == Some(&b'-') {
        i += 1;
    }
    if t.get(i) == Some(&b'0') {
        i += 1;
        if t.get(i).is_some_and(u8::is_ascii_digit) {
            return Err(Fault::Syntax(i));
        }
    } else {
        i = digits(t, i)?;
    }
    if t.get(i) == Some(&b'.') {
        i = digits(t, i + 1)?;
    }
    if let Some(b'e' | b'E') = t.get(i) {
        i += 1;
        if let Some(b'+' | b'-') = t.get(i) {
            i += 1;
        }
        i = digits(t, i)?;
    }
    Ok(i)
}

fn word(t: &[u8], start: usize, word: &[u8]) -> Result<usize, Fault> {
    for (k, c) in word.iter().enumerate() {
        match t.get(start + k) {
            None => return Err(Fault::End),
            Some(x) if x == c => {}
            Some(_) => return Err(Fault::Syntax(start + k)),
        }
    }
    Ok(start + word.len())
}

/// End of the value that starts at `i`.
fn value_end(t: &[u8], i: usize, depth: usize) -> Result<usize, Fault> {
    match t.get(i) {
        None => Err(Fault::End),
        Some(b'"') => string_end(t, i),
        Some(b'-' | b'0'..=b'9') => number_end(t, i),
        Some(b't') => word(t, i, b"true"),
        Some(b'f') => word(t, i, b"false"),
        Some(b'n') => word(t, i, b"null"),
        Some(open @ (b'{' | b'[')) => {
            if depth >= DEPTH_MAX {
                return Err(Fault::Depth(i));
            }
            let close = if *open == b'{' { b'}' } else { b']' };
            let mut i = skip_blanks(t, i + 1);
            if t.get(i) == Some(&close) {
                return Ok(i + 1);
            }
            loop {
                if *open == b'{' {
                    match t.get(i) {
                        None => return Err(Fault::End),
                        Some(b'"') => i = skip_blanks(t, string_end(t, i)?),
                        Some(_) => return Err(Fault::Syntax(i)),
                    }
                    match t.get(i) {
                        None => return Err(Fault::End),
                        Some(b':') => i = skip_blanks(t, i + 1),
                        Some(_) => return Err(Fault::Syntax(i)),
                    }
                }
                i = skip_blanks(t, value_end(t, i, depth + 1)?);
                match t.get(i) {
                    None => return Err(Fault::End),
                    Some(b',') => i = skip_blanks(t, i + 1),
                    Some(c) if *c == close => return Ok(i + 1),
                    Some(_) => return Err(Fault::Syntax(i)),
                }
            }
        }
        Some(_) => Err(Fault::Syntax(i)),
    }
}

impl<'a> Json<'a> {
    /// Checks a text and finds its value.
    pub fn parse(text: &'a [u8]) -> Result<(Json<'a>, Node), Fault> {
        let start = skip_blanks(text, 0);
        let end = value_end(text, start, 0)?;
        let rest = skip_blanks(text, end);
        if rest < text.len() {
            return Err(Fault::Syntax(rest));
        }
        Ok((Json { text }, start..end))
    }

    /// The node's bytes.
    pub fn bytes(&self, n: &Node) -> &'a [u8] {
        self.text.get(n.clone()).unwrap_or_default()
    }

    /// What the node is.
    pub fn kind(&self, n: &Node) -> Kind {
        match self.text.get(n.start) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Members of an object (with their key's range) or elements of an array.
    pub fn children(&self, n: &Node) -> Vec<(Option<Node>, Node)> {
        let t = self.text;
        let object = match self.kind(n) {
            Kind::Object => true,
            Kind::Array => false,
            _ => return Vec::new(),
        };
        let mut out = Vec::new();
        let mut i = skip_blanks(t, n.start + 1);
        while i < n.end.saturating_sub(1) {
            let mut key = None;
            if object {
                let Ok(end) = string_end(t, i) else { break };
                key = Some(i..end);
                i = skip_blanks(t, skip_blanks(t, end) + 1);
            }
            // The text was checked: the depth counts from here.
            let Ok(end) = value_end(t, i, 0) else { break };
            out.push((key, i..end));
            i = skip_blanks(t, end);
            if t.get(i) == Some(&b',') {
                i = skip_blanks(t, i + 1);
            }
        }
        out
    }

    /// Elements of an array.
    pub fn elements(&self, n: &Node) -> Vec<Node> {
        self.children(n).into_iter().map(|(_, v)| v).collect()
    }

    /// The member of an object by its decoded key.
    pub fn member(&self, n: &Node, key: &[u8]) -> Option<Node> {
        self.children(n).into_iter().find(|(k, _)| k.as_ref().is_some_and(|k| self.key_is(k, key))).map(|(_, v)| v)
    }

    /// Whether a key's text is `key`.
    pub fn key_is(&self, k: &Node, key: &[u8]) -> bool {
        let inner = self.string_body(k);
        if inner.contains(&b'\\') { unescape(inner) == key } else { inner == key }
    }

    /// A string node without its quotes, still escaped.
    pub fn string_body(&self, n: &Node) -> &'a [u8] {
        self.text.get(n.start + 1..n.end.saturating_sub(1)).unwrap_or_default()
    }

    /// A string node's text.
    pub fn string(&self, n: &Node) -> Vec<u8> {
        unescape(self.string_body(n))
    }
}

fn hex4(b: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(b.get(..4)?).ok()?, 16).ok()
}

/// Decodes the escapes of a string's inside.
pub(crate) fn unescape(b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(b.len());
    let mut i = 0;
    while i < b.len() {
        if b[i] != b'\\' {
            out.push(b[i]);
            i += 1;
            continue;
        }
        let c = b.get(i + 1).copied().unwrap_or(b'\\');
        i += 2;
        match c {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let Some(mut code) = hex4(&b[i.min(b.len())..]) else { continue };
                i += 4;
                if (0xD800..0xDC00).contains(&code)
                    && b.get(i..i + 2) == Some(b"\\u")
                    && let Some(low @ 0xDC00..0xE000) = hex4(&b[i + 2..])
                {
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    i += 6;
                }
                let ch = char::from_u32(code).unwrap_or('?');
                out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
            }
            c => out.push(c),
        }
    }
    out
}

/// Appends a text's inside of a JSON string.
pub(crate) fn escape(text: &[u8], out: &mut Vec<u8>) {
    for c in text {
        match c {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            c if *c < 0x20 => out.extend_from_slice(format!("\\u{c:04X}").as_bytes()),
            c => out.push(*c),
        }
    }
}

/// Appends a text as a JSON string.
pub(crate) fn quote(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escape(text, out);
    out.push(b'"');
}

/// Where blanks and line breaks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// None.
    Compact,
    /// One after commas and colons.
    Loose,
    /// Lines, indented by so many blanks.
    Detailed(usize),
}

fn line(out: &mut Vec<u8>, indent: usize) {
    out.push(b'\n');
    out.resize(out.len() + indent, b' ');
}

/// Appends a node in a layout.
pub(crate) fn write(j: &Json<'_>, n: &Node, layout: Layout, level: usize, out: &mut Vec<u8>) {
    let kind = j.kind(n);
    if !matches!(kind, Kind::Object | Kind::Array) {
        out.extend_from_slice(j.bytes(n));
        return;
    }
    let (open, close) = if kind == Kind::Object { (b'{', b'}') } else { (b'[', b']') };
    let children = j.children(n);
    let step = match layout {
        Layout::Detailed(step) => Some(step),
        _ => None,
    };
    out.push(open);
    // An empty array stays on its line, an empty object does not.
    if children.is_empty() {
        if let (Some(step), Kind::Object) = (step, kind) {
            line(out, level * step);
        }
        out.push(close);
        return;
    }
    for (i, (key, value)) in children.iter().enumerate() {
        if i > 0 {
            out.push(b',');
            if layout == Layout::Loose {
                out.push(b' ');
            }
        }
        if let Some(step) = step {
            line(out, (level + 1) * step);
        }
        if let Some(key) = key {
            out.extend_from_slice(j.bytes(key));
            out.push(b':');
            let nested = matches!(j.kind(value), Kind::Object | Kind::Array);
            match step {
                Some(step) if nested => {
                    out.push(b' ');
                    line(out, (level + 1) * step);
                }
                Some(_) => out.push(b' '),
                None if layout == Layout::Loose => out.push(b' '),
                None => {}
            }
        }
        write(j, value, layout, level + 1, out);
    }
    if let Some(step) = step {
        line(out, level * step);
    }
    out.push(close);
}

/// A checked text in a layout.
pub(crate) fn laid_out(text: &[u8], layout: Layout) -> Result<Vec<u8>, Fault> {
    let (j, root) = Json::parse(text)?;
    let mut out = Vec::with_capacity(text.len() + text.len() / 4);
    write(&j, &root, layout, 0, &mut out);
    Ok(out)
}

/// How deep values are nested: 1 for a scalar or an empty container.
pub(crate) fn depth(j: &Json<'_>, n: &Node) -> usize {
    1 + j.elements(n).iter().map(|c| depth(j, c)).max().unwrap_or(0)
}

/// A number's value.
pub(crate) fn number(j: &Json<'_>, n: &Node) -> f64 {
    std::str::from_utf8(j.bytes(n)).ok().and_then(|s| s.parse().ok()).unwrap_or(0.0)
}

/// Whether two nodes are the same value: members in any order, numbers by value, strings by their text.
pub(crate) fn equal(a: &Json<'_>, x: &Node, b: &Json<'_>, y: &Node) -> bool {
    match (a.kind(x), b.kind(y)) {
        (Kind::Object, Kind::Object) => {
            let (xs, ys) = (a.children(x), b.children(y));
            xs.len() == ys.len()
                && xs.iter().all(|(k, v)| {
                    k.as_ref().is_some_and(|k| b.member(y, &a.string(k)).is_some_and(|w| equal(a, v, b, &w)))
                })
        }
        (Kind::Array, Kind::Array) => {
            let (xs, ys) = (a.elements(x), b.elements(y));
            xs.len() == ys.len() && xs.iter().zip(&ys).all(|(v, w)| equal(a, v, b, w))
        }
        (Kind::String, Kind::String) => a.string(x) == b.string(y),
        (Kind::Number, Kind::Number) => a.bytes(x) == b.bytes(y) || number(a, x) == number(b, y),
        (p, q) => p == q,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        let t = br#"{ "a":[1,{"x":2}] , "b":[]}"#;
        assert_eq!(laid_out(t, Layout::Loose).unwrap(), br#"{"a": [1, {"x": 2}], "b": []}"#);
        assert_eq!(laid_out(t, Layout::Compact).unwrap(), br#"{"a":[1,{"x":2}],"b":[]}"#);
    }

    #[test]
    fn faults_tell_their_place() {
        assert_eq!(Json::parse(b"[1,]").unwrap_err(), Fault::Syntax(3));
        assert_eq!(Json::parse(b"[1,").unwrap_err(), Fault::End);
        assert!(matches!(Json::parse("[".repeat(40).as_bytes()).unwrap_err(), Fault::Depth(_)));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br"a\u00e9\ud83d\ude00\n"), "aé😀\n".as_bytes());
    }
}
