//! Reading a PARTITION BY clause, in the form that SHOW CREATE TABLE prints, for information_schema.PARTITIONS.
//!
//! It must not know how rows are assigned to partitions.

/// A clause taken apart.
#[derive(Debug, Default, PartialEq)]
pub struct Clause {
    /// `RANGE`, `LIST COLUMNS`, `LINEAR HASH`, …
    pub method: String,
    /// What stands in the method's parentheses.
    pub expression: Option<String>,
    /// SUBPARTITION BY's method.
    pub sub_method: Option<String>,
    /// SUBPARTITION BY's expression.
    pub sub_expression: Option<String>,
    /// SUBPARTITIONS n; 0: none.
    sub_count: usize,
    parts: Vec<Part>,
}

#[derive(Debug, Default, PartialEq)]
struct Part {
    name: String,
    description: Option<String>,
    comment: Option<String>,
    subs: Vec<String>,
}

/// Where the n-th physical partition stands in the clause.
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    /// The partition's name, if the clause lists it.
    pub name: Option<String>,
    /// From 1.
    pub ordinal: u64,
    /// The subpartition's name.
    pub subpartition: Option<String>,
    /// From 1.
    pub sub_ordinal: Option<u64>,
    /// VALUES.
    pub description: Option<String>,
    /// COMMENT.
    pub comment: Option<String>,
}

impl Clause {
    /// The place of the n-th physical partition, from 0.
    pub fn place(&self, n: usize) -> Place {
        let per = self.sub_count.max(self.parts.first().map_or(0, |p| p.subs.len()));
        let (at, sub) = n.checked_div(per).map_or((n, None), |at| (at, Some(n % per)));
        let part = self.parts.get(at);
        let listed = |p: &Part, s: usize| p.subs.get(s).cloned();
        let generated = |s: usize| part.map(|p| format!("{}sp{s}", p.name));
        Place {
            name: part.map(|p| p.name.clone()),
            ordinal: at as u64 + 1,
            subpartition: sub.and_then(|s| part.and_then(|p| listed(p, s)).or_else(|| generated(s))),
            sub_ordinal: sub.map(|s| s as u64 + 1),
            description: part.and_then(|p| p.description.clone()),
            comment: part.and_then(|p| p.comment.clone()),
        }
    }
}

/// Takes a clause apart; what is not understood is left out.
pub fn describe(text: &str) -> Clause {
    let mut s = Scanner { rest: text.trim_start() };
    let mut clause = Clause::default();
    s.word("PARTITION");
    s.word("BY");
    clause.method = s.words_until_paren();
    clause.expression = s.parens().map(|e| e.trim().to_owned()).filter(|e| !e.is_empty());
    if s.word("PARTITIONS") {
        s.any_word();
    }
    if s.word("SUBPARTITION") {
        s.word("BY");
        clause.sub_method = Some(s.words_until_paren());
        clause.sub_expression = s.parens().map(|e| e.trim().to_owned());
        if s.word("SUBPARTITIONS") {
            clause.sub_count = s.any_word().and_then(|n| n.parse().ok()).unwrap_or(0);
        }
    }
    if let Some(list) = s.parens() {
        clause.parts = split(list).into_iter().filter_map(part).collect();
    }
    clause
}

fn part(text: &str) -> Option<Part> {
    let mut s = Scanner { rest: text.trim() };
    if !s.word("PARTITION") {
        return None;
    }
    let mut p = Part { name: s.name()?, ..Part::default() };
    if s.word("VALUES") {
        let listed = s.word("IN") || (s.word("LESS") && s.word("THAN"));
        p.description = match (listed, s.rest.starts_with('(')) {
            (_, true) => s.parens().map(|v| v.trim().to_owned()),
            _ => s.any_word().map(str::to_owned),
        };
    } else if s.word("DEFAULT") {
        p.description = Some("DEFAULT".into());
    } else if s.word("HISTORY") || s.word("CURRENT") {
        p.description = None;
    }
    loop {
        s.rest = s.rest.trim_start();
        if s.rest.is_empty() {
            return Some(p);
        }
        if s.word("COMMENT") {
            s.word("=");
            p.comment = s.string();
        } else if s.rest.starts_with('(') {
            let subs = s.parens().unwrap_or("");
            p.subs = split(subs)
                .into_iter()
                .filter_map(|t| {
                    let mut s = Scanner { rest: t.trim() };
                    s.word("SUBPARTITION").then(|| s.name()).flatten()
                })
                .collect();
        } else if s.rest.starts_with(['\'', '"']) {
            s.string();
        } else {
            s.any_word();
        }
    }
}

struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Takes a word (or a sign) if it comes next.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let Some(head) = rest.get(..word.len()) else { return false };
        let after = rest[word.len()..].chars().next();
        let ends = !word.ends_with(|c: char| c.is_ascii_alphanumeric())
            || after.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
        if head.eq_ignore_ascii_case(word) && ends {
            self.rest = rest[word.len()..].trim_start();
            return true;
        }
        false
    }

    fn any_word(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find([' ', '\n', '\t', '(', ')', ',']).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        self.rest = rest[end..].trim_start();
        (end > 0).then(|| &rest[..end])
    }

    fn words_until_paren(&mut self) -> String {
        let end = self.rest.find('(').unwrap_or(self.rest.len());
        let words: Vec<String> = self.rest[..end].split_whitespace().map(str::to_ascii_uppercase).collect();
        self.rest = &self.rest[end..];
        words.into_iter().filter(|w| !w.starts_with("ALGORITHM") && w != "=" && w.parse::<u32>().is_err()).collect::<Vec<_>>().join(" ")
    }

    fn name(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '`' | '"'));
        let Some(q) = quote else { return self.any_word().map(str::to_owned) };
        let end = skip_quoted(rest, q)?;
        self.rest = rest[end..].trim_start();
        Some(rest[1..end - 1].replace(&format!("{q}{q}"), &q.to_string()))
    }

    fn string(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let q = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let end = skip_quoted(rest, q)?;
        self.rest = rest[end..].trim_start();
        Some(rest[1..end - 1].replace("''", "'"))
    }

    /// The inside of balanced parentheses that come next.
    fn parens(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        if !rest.starts_with('(') {
            return None;
        }
        let end = close(rest)?;
        self.rest = rest[end + 1..].trim_start();
        Some(&rest[1..end])
    }
}

/// End of a quoted text that begins `s`, behind its closing quote.
fn skip_quoted(s: &str, q: char) -> Option<usize> {
    let bytes = s.as_bytes();
    let q = q as u8;
    let mut i = 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if q != b'`' => i += 1,
            b if b == q && bytes.get(i + 1) == Some(&q) => i += 1,
            b if b == q => return Some(i + 1),
            _ => {}
        }
        i += 1;
    }
    None
}

/// Position of the parenthesis that closes the one that `s` begins with.
fn close(s: &str) -> Option<usize> {
    let (mut depth, mut i) = (0usize, 0);
    let bytes = s.as_bytes();
    while i < bytes.len() {
        match bytes[i] {
            b'(' => depth += 1,
            b')' if depth <= 1 => return Some(i),
            b')' => depth -= 1,
            q @ (b'\'' | b'"' | b'`') => {
                i += skip_quoted(&s[i..], q as char)?;
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// The parts between commas outside of parentheses and quotes.
fn split(s: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut i) = (Vec::new(), 0, 0usize, 0);
    let bytes = s.as_bytes();
    while i < bytes.len() {
        match bytes[i] {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&s[from..i]);
                from = i + 1;
            }
            q @ (b'\'' | b'"' | b'`') => match skip_quoted(&s[i..], q as char) {
                Some(n) => {
                    i += n;
                    continue;
                }
                None => break,
            },
            _ => {}
        }
        i += 1;
    }
    parts.push(&s[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists() {
        let c = describe(
            " PARTITION BY RANGE (`id`)\n(PARTITION `p0` VALUES LESS THAN (10) COMMENT = 'it''s, so' ENGINE = InnoDB,\n \
             PARTITION `p1` VALUES LESS THAN MAXVALUE ENGINE = InnoDB)",
        );
        assert_eq!((c.method.as_str(), c.expression.as_deref()), ("RANGE", Some("`id`")));
        assert_eq!(c.place(0).description.as_deref(), Some("10"));
        assert_eq!(c.place(0).comment.as_deref(), Some("it's, so"));
        let last = c.place(1);
        assert_eq!((last.name.as_deref(), last.ordinal, last.description.as_deref()), (Some("p1"), 2, Some("MAXVALUE")));
        let c = describe("PARTITION BY LIST  COLUMNS(`a`,`b`)\n(PARTITION `x` VALUES IN ((1,'a,b'),(2,'c')))");
        assert_eq!(c.method, "LIST COLUMNS");
        assert_eq!(c.place(0).description.as_deref(), Some("(1,'a,b'),(2,'c')"));
    }

    #[test]
    fn hashes_and_subpartitions() {
        let c = describe("PARTITION BY LINEAR HASH (year(`d`))\nPARTITIONS 4");
        assert_eq!((c.method.as_str(), c.expression.as_deref()), ("LINEAR HASH", Some("year(`d`)")));
        assert_eq!(c.place(2).ordinal, 3);
        let c = describe(
            "PARTITION BY RANGE (`a`)\nSUBPARTITION BY HASH (`b`)\nSUBPARTITIONS 2\n(PARTITION `p0` VALUES LESS THAN (1), PARTITION `p1` VALUES LESS THAN (2))",
        );
        let place = c.place(3);
        assert_eq!((place.ordinal, place.sub_ordinal, place.subpartition.as_deref()), (2, Some(2), Some("p1sp1")));
    }

    #[test]
    fn nonsense_is_harmless() {
        for t in ["", "PARTITION BY", "PARTITION BY RANGE (", "(PARTITION `", "PARTITION BY HASH ('é') (PARTITION é VALUES IN ('"] {
            describe(t).place(7);
        }
    }
}
