//! JSON paths: `$.a[0]`, `$.*`, `$[last-1]`, `$[1 to 3]`, `$**.x`.

use super::scan::{Json, Kind, Node};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.key`
    Key(Vec<u8>),
    /// `.*`
    AnyKey,
    /// `[n]`
    Index(Position),
    /// `[*]`
    AnyIndex,
    /// `[a to b]`
    Range(Position, Position),
    /// `**`: this node and everything below.
    Descend,
}

/// A place in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// From the start, 0-based.
    First(usize),
    /// From the end; 0 is the last.
    Last(usize),
}

impl Position {
    fn resolve(self, len: usize) -> Option<usize> {
        match self {
            Position::First(n) => (n < len).then_some(n),
            Position::Last(n) => len.checked_sub(n + 1),
        }
    }

    /// As a bound of a range: past the ends it is cut.
    fn bound(self, len: usize) -> i64 {
        match self {
            Position::First(n) => n as i64,
            Position::Last(n) => len as i64 - 1 - n as i64,
        }
    }
}

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// It ends too early.
    End,
    /// A character that does not belong there, by its 0-based byte offset.
    Syntax(usize),
}

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// What follows `$`.
    pub steps: Vec<Step>,
}

struct Parser<'a> {
    t: &'a [u8],
    i: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.t.get(self.i).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.i += 1;
        }
    }

    fn fault<T>(&self) -> Result<T, PathFault> {
        Err(if self.i >= self.t.len() { PathFault::End } else { PathFault::Syntax(self.i) })
    }

    fn number(&mut self) -> Result<usize, PathFault> {
        let start = self.i;
        let mut n: usize = 0;
        while let Some(c @ b'0'..=b'9') = self.peek() {
            n = n.saturating_mul(10).saturating_add((c - b'0') as usize);
            self.i += 1;
        }
        if self.i == start { self.fault() } else { Ok(n) }
    }

    fn word(&mut self, w: &[u8]) -> bool {
        let found = self.t[self.i..].starts_with(w);
        if found {
            self.i += w.len();
        }
        found
    }

    fn position(&mut self) -> Result<Position, PathFault> {
        self.blanks();
        if self.peek() == Some(b'-') {
            self.i += 1;
            let n = self.number()?;
            return Ok(Position::Last(n.saturating_sub(1)));
        }
        if self.word(b"last") {
            self.blanks();
            if self.peek() != Some(b'-') {
                return Ok(Position::Last(0));
            }
            self.i += 1;
            self.blanks();
            return Ok(Position::Last(self.number()?));
        }
        Ok(Position::First(self.number()?))
    }

    fn bracket(&mut self) -> Result<Step, PathFault> {
        self.blanks();
        let step = if self.peek() == Some(b'*') {
            self.i += 1;
            Step::AnyIndex
        } else {
            let a = self.position()?;
            self.blanks();
            if self.word(b"to") { Step::Range(a, self.position()?) } else { Step::Index(a) }
        };
        self.blanks();
        if self.peek() != Some(b']') {
            return self.fault();
        }
        self.i += 1;
        Ok(step)
    }

    fn key(&mut self) -> Result<Step, PathFault> {
        self.blanks();
        match self.peek() {
            None => Err(PathFault::End),
            Some(b'*') => {
                self.i += 1;
                Ok(Step::AnyKey)
            }
            Some(b'"') => {
                let start = self.i + 1;
                self.i = start;
                loop {
                    match self.peek() {
                        None => return Err(PathFault::End),
                        Some(b'"') => break,
                        Some(b'\\') => self.i += 2,
                        Some(_) => self.i += 1,
                    }
                }
                let key = super::scan::unescape(&self.t[start..self.i]);
                self.i += 1;
                Ok(Step::Key(key))
            }
            Some(b'.' | b'[' | b']' | b'$') => self.fault(),
            Some(_) => {
                let start = self.i;
                while self.peek().is_some_and(|c| !matches!(c, b'.' | b'[' | b'*')) {
                    self.i += 1;
                }
                let key = self.t[start..self.i].trim_ascii_end().to_vec();
                Ok(Step::Key(key))
            }
        }
    }
}

impl Path {
    /// Reads a path.
    pub fn parse(text: &[u8]) -> Result<Path, PathFault> {
        let mut p = Parser { t: text, i: 0 };
        p.blanks();
        // `lax` and `strict` are allowed before it.
        if p.word(b"lax") || p.word(b"strict") {
            p.blanks();
        }
        if p.peek() != Some(b'$') {
            return p.fault();
        }
        p.i += 1;
        let mut steps = Vec::new();
        loop {
            p.blanks();
            match p.peek() {
                None => break,
                Some(b'.') => {
                    p.i += 1;
                    steps.push(p.key()?);
                }
                Some(b'[') => {
                    p.i += 1;
                    steps.push(p.bracket()?);
                }
                Some(b'*') if p.t.get(p.i + 1) == Some(&b'*') => {
                    p.i += 2;
                    if !matches!(p.peek(), Some(b'.' | b'[')) {
                        return p.fault();
                    }
                    steps.push(Step::Descend);
                }
                Some(_) => return p.fault(),
            }
        }
        Ok(Path { steps })
    }

    /// Whether more than one value may match.
    pub fn is_wild(&self) -> bool {
        self.steps.iter().any(|s| !matches!(s, Step::Key(_) | Step::Index(_)))
    }

    /// All matches, in the order of the text.
    pub fn find(&self, j: &Json<'_>, root: &Node) -> Vec<Node> {
        let mut out = Vec::new();
        walk(j, root, &self.steps, &mut out);
        out
    }

    /// The first match.
    pub fn first(&self, j: &Json<'_>, root: &Node) -> Option<Node> {
        self.find(j, root).into_iter().next()
    }
}

/// Matches of the steps from a node on.
pub(crate) fn walk(j: &Json<'_>, n: &Node, steps: &[Step], out: &mut Vec<Node>) {
    let Some((step, rest)) = steps.split_first() else {
        if !out.contains(n) {
            out.push(n.clone());
        }
        return;
    };
    match step {
        Step::Key(k) => {
            if j.kind(n) == Kind::Object
                && let Some(m) = j.member(n, k)
            {
                walk(j, &m, rest, out);
            }
        }
        Step::AnyKey => {
            if j.kind(n) == Kind::Object {
                for m in j.elements(n) {
                    walk(j, &m, rest, out);
                }
            }
        }
        Step::Index(p) => {
            if j.kind(n) == Kind::Array {
                let all = j.elements(n);
                if let Some(m) = p.resolve(all.len()).and_then(|i| all.get(i)) {
                    walk(j, m, rest, out);
                }
            } else if p.resolve(1) == Some(0) {
                // What is no array is taken as an array of one.
                walk(j, n, rest, out);
            }
        }
        Step::AnyIndex => {
            if j.kind(n) == Kind::Array {
                for m in j.elements(n) {
                    walk(j, &m, rest, out);
                }
            }
        }
        Step::Range(a, b) => {
            if j.kind(n) == Kind::Array {
                let all = j.elements(n);
                let (a, b) = (a.bound(all.len()), b.bound(all.len()));
                for (i, m) in all.iter().enumerate() {
                    if (a..=b).contains(&(i as i64)) {
                        walk(j, m, rest, out);
                    }
                }
            }
        }
        Step::Descend => {
            walk(j, n, rest, out);
            for m in j.elements(n) {
                walk(j, &m, steps, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str, path: &str) -> Vec<String> {
        let (j, root) = Json::parse(json.as_bytes()).unwrap();
        let found = Path::parse(path.as_bytes()).unwrap().find(&j, &root);
        found.iter().map(|n| String::from_utf8_lossy(j.bytes(n)).into_owned()).collect()
    }

    #[test]
    fn paths() {
        assert_eq!(find("[1,2,3,4]", "$[last-1]"), ["3"]);
        assert_eq!(find("[1,2,3,4]", "$[1 to 2]"), ["2", "3"]);
        assert_eq!(find(r#"{"a":{"b":1},"b":2}"#, "$**.b"), ["2", "1"]);
        assert_eq!(Path::parse(b"$."), Err(PathFault::End));
        assert_eq!(Path::parse(b"a"), Err(PathFault::Syntax(0)));
    }
}
