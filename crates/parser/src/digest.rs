//! A statement's text without its literals: the key of the cache of plans.
//!
//! One pass over the lexer, no tree. Two texts have the same key exactly if they differ in nothing but the
//! values of their literals, blanks and comments; so whoever has a plan for the key needs only the values.
//! [`Digest::text`] is itself a statement, with a `?` for each literal, that the parser takes with
//! [`ParseOptions::params`].
//!
//! Literals whose value decides more than a value stay in the text: in a select list (they name its columns),
//! behind `ORDER BY` and `GROUP BY` (they are positions), behind `DATE`, an introducer, and the like.

use std::hash::{Hash, Hasher};

use crate::ast::{Literal, StrLit};
use crate::keywords::Kw;
use crate::lexer::{Lexer, Tok};
use crate::literal;
use crate::options::{ParseMode, ParseOptions};

/// What type a literal has; it belongs to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LiteralKind {
    /// Digits, that fit 64 bits or not.
    Int = b'i',
    /// With a point.
    Decimal = b'd',
    /// With an exponent.
    Float = b'f',
    /// In quotes.
    Str = b's',
}

/// A literal that was taken out of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteralToken {
    /// Its type.
    pub kind: LiteralKind,
    /// Where it begins in the source, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl LiteralToken {
    /// The literal's value. Never fails: numbers past 64 bits are decimals.
    pub fn value(&self, sql: &[u8], mode: &ParseMode) -> Literal {
        let text = &sql[self.start as usize..self.end as usize];
        match self.kind {
            LiteralKind::Str => Literal::Str(StrLit::new(literal::unquote(
                text,
                !mode.no_backslash_escapes,
            ))),
            LiteralKind::Decimal => Literal::Decimal(literal::text(text)),
            LiteralKind::Float => Literal::Float(literal::text(text)),
            LiteralKind::Int => {
                let text = literal::text(text);
                match text.parse() {
                    Ok(value) => Literal::Int(value),
                    Err(_) => Literal::Decimal(text),
                }
            }
        }
    }
}

/// The key of a text and its literals. Keep one and fill it again and again: it keeps its memory.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    key: Vec<u8>,
    text_len: usize,
    literals: Vec<LiteralToken>,
    hash: u64,
}

impl Digest {
    /// The text with `?` for each literal.
    pub fn text(&self) -> &[u8] {
        &self.key[..self.text_len]
    }

    /// The text and the literals' types: equal keys mean equal plans. Compare it, not only the hash.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// A hash of the key, the same within one process only.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The literals in the order of their `?`.
    pub fn literals(&self) -> &[LiteralToken] {
        &self.literals
    }

    /// Fills in the digest of a text that is one `SELECT`, `INSERT`, `REPLACE`, `UPDATE` or `DELETE`.
    ///
    /// False, and nothing useful, for any other text: several statements, parameters, what does not lex.
    pub fn fill(&mut self, sql: &[u8], options: &ParseOptions) -> bool {
        self.key.clear();
        self.literals.clear();
        if u32::try_from(sql.len()).is_err() {
            return false;
        }
        let mut lexer = Lexer::new(sql, options.mode, options.version);
        let first = lexer.next_token();
        let known = matches!(
            first.tok,
            Tok::Kw(Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE | Kw::WITH)
                | Tok::LParen
        );
        if !known {
            return false;
        }
        self.key.reserve(sql.len());
        let mut walk = Walk::default();
        let mut token = first;
        let mut last_end = first.start;
        loop {
            match token.tok {
                Tok::Eof => break,
                Tok::Semicolon => {
                    if lexer.next_token().tok != Tok::Eof {
                        return false;
                    }
                    break;
                }
                Tok::Bad | Tok::Question => return false,
                _ => {}
            }
            let bytes = &sql[token.start as usize..token.end as usize];
            if walk.in_list() {
                // The text of a select list names its columns, blanks and all.
                self.key
                    .extend_from_slice(&sql[last_end as usize..token.start as usize]);
            } else if token.start > last_end {
                self.key.push(b' ');
            }
            match walk.step(token.tok) {
                Some(kind) => {
                    self.key.push(b'?');
                    self.literals.push(LiteralToken {
                        kind,
                        start: token.start,
                        end: token.end,
                    });
                }
                None => self.key.extend_from_slice(bytes),
            }
            last_end = token.end;
            token = lexer.next_token();
        }
        self.text_len = self.key.len();
        self.key.push(0);
        self.key
            .extend(self.literals.iter().map(|literal| literal.kind as u8));
        let mut hasher = std::hash::DefaultHasher::new();
        self.key.hash(&mut hasher);
        self.hash = hasher.finish();
        true
    }
}

/// Where in a statement the walk over its tokens is.
#[derive(Default)]
struct Walk {
    /// For each open parenthesis: whether a select list was open around it.
    parens: Vec<Region>,
    region: Region,
    previous: Option<Tok>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Region {
    #[default]
    Plain,
    /// In a select list, or in parentheses inside one.
    List,
    /// Behind `ORDER BY` or `GROUP BY`, or in a type's parentheses.
    Verbatim,
}

impl Walk {
    fn in_list(&self) -> bool {
        self.region == Region::List || self.parens.contains(&Region::List)
    }

    /// Takes a token in; its type if it is a literal to be taken out.
    fn step(&mut self, tok: Tok) -> Option<LiteralKind> {
        let in_list = self.in_list();
        let previous = self.previous.replace(tok);
        match tok {
            Tok::LParen => {
                self.parens.push(self.region);
                // A type's length is no value.
                let of_type = matches!(
                    previous,
                    Some(Tok::Kw(
                        Kw::CHAR
                            | Kw::BINARY
                            | Kw::DECIMAL
                            | Kw::VARCHAR
                            | Kw::NCHAR
                            | Kw::DATETIME
                            | Kw::TIME
                            | Kw::DOUBLE
                    ))
                );
                self.region = if of_type {
                    Region::Verbatim
                } else {
                    Region::Plain
                };
            }
            Tok::RParen => self.region = self.parens.pop().unwrap_or_default(),
            Tok::Kw(Kw::SELECT | Kw::RETURNING) => self.region = Region::List,
            Tok::Kw(Kw::BY) if self.region == Region::Plain => self.region = Region::Verbatim,
            Tok::Kw(Kw::ASC | Kw::DESC) => {}
            Tok::Kw(
                Kw::FROM
                | Kw::WHERE
                | Kw::HAVING
                | Kw::LIMIT
                | Kw::UNION
                | Kw::EXCEPT
                | Kw::INTERSECT
                | Kw::ON
                | Kw::INTO
                | Kw::FOR
                | Kw::LOCK
                | Kw::WINDOW
                | Kw::OFFSET
                | Kw::FETCH,
            ) => self.region = Region::Plain,
            _ => {}
        }
        let kind = match tok {
            Tok::Int => LiteralKind::Int,
            Tok::Decimal => LiteralKind::Decimal,
            Tok::Float => LiteralKind::Float,
            Tok::Str => LiteralKind::Str,
            _ => return None,
        };
        let bound = matches!(
            previous,
            Some(
                Tok::Introducer
                    | Tok::Str
                    | Tok::NationalStr
                    | Tok::Kw(
                        Kw::DATE | Kw::TIME | Kw::TIMESTAMP | Kw::AS | Kw::SEPARATOR | Kw::INTERVAL
                    )
            )
        );
        (!in_list && !bound && self.region != Region::Verbatim).then_some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;
    use crate::ast::Literal;
    use crate::options::{ParseMode, ParseOptions};
    use crate::parser::parse;

    fn text(sql: &str) -> String {
        let mut digest = Digest::default();
        assert!(
            digest.fill(sql.as_bytes(), &ParseOptions::default()),
            "{sql}"
        );
        String::from_utf8_lossy(digest.text()).into_owned()
    }

    #[test]
    fn literals_are_taken_out() {
        assert_eq!(
            text("SELECT a+1 , 'x' FROM t  WHERE id = 5;"),
            "SELECT a+1 , 'x' FROM t WHERE id = ?"
        );
        assert_eq!(
            text("select * from t where a in (1,'b',2.5) limit 3"),
            "select * from t where a in (?,?,?) limit ?"
        );
        assert_eq!(
            text("insert into t values (1,'a'),(-2,NULL)"),
            "insert into t values (?,?),(-?,NULL)"
        );
        assert_eq!(
            text("update t set a=a+1 where b=/* c */'x'"),
            "update t set a=a+? where b= ?"
        );
        assert_eq!(
            text("select a from t where b=1 order by 2 desc, a limit 1"),
            "select a from t where b=? order by 2 desc, a limit ?"
        );
        assert_eq!(
            text("select (select 1 from t where x=2) from t where y=3"),
            "select (select 1 from t where x=2) from t where y=?"
        );
        assert_eq!(
            text("select a from t where cast(b as char(3)) = 'x'"),
            "select a from t where cast(b as char(3)) = ?"
        );
        assert_eq!(
            text("select a from t where d > date '2020-01-01'"),
            "select a from t where d > date '2020-01-01'"
        );
    }

    #[test]
    fn the_text_is_a_statement_and_the_values_are_there() {
        let sql = b"SELECT a FROM t WHERE b = 'it''s' AND c > 18446744073709551616 AND d < 1e3";
        let mut digest = Digest::default();
        assert!(digest.fill(sql, &ParseOptions::default()));
        let options = ParseOptions {
            params: true,
            ..ParseOptions::default()
        };
        assert_eq!(
            parse(digest.text(), &options).map(|parsed| parsed.param_count),
            Ok(3)
        );
        let values: Vec<_> = digest
            .literals()
            .iter()
            .map(|l| l.value(sql, &ParseMode::default()))
            .collect();
        assert_eq!(
            values,
            [
                Literal::Str(crate::ast::StrLit::new(*b"it's")),
                Literal::Decimal("18446744073709551616".into()),
                Literal::Float("1e3".into()),
            ]
        );
    }

    #[test]
    fn types_belong_to_the_key() {
        let (mut one, mut other) = (Digest::default(), Digest::default());
        assert!(one.fill(b"SELECT a FROM t WHERE b = 1", &ParseOptions::default()));
        assert!(other.fill(b"SELECT a FROM t WHERE b = '1'", &ParseOptions::default()));
        assert_eq!(one.text(), other.text());
        assert_ne!(one.key(), other.key());
        assert!(other.fill(b"SELECT a FROM t WHERE  b = 22", &ParseOptions::default()));
        assert_eq!((one.key(), one.hash()), (other.key(), other.hash()));
    }

    #[test]
    fn other_statements_have_none() {
        let mut digest = Digest::default();
        for sql in [
            "CREATE TABLE t (a INT)",
            "SELECT 1; SELECT 2",
            "SELECT ?",
            "SELECT 'a",
            "",
        ] {
            assert!(
                !digest.fill(sql.as_bytes(), &ParseOptions::default()),
                "{sql}"
            );
        }
    }
}
