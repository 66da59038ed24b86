//! The grammar: recursive descent over a lazily filled list of tokens.
//!
//! This file has the tools (looking ahead, taking words, names and numbers); the families of statements
//! are in the files beside it. A rule fails at the first token that does not fit, as an LALR parser does,
//! so that the error's text is MariaDB's; where a rule has to try and turn back, it does so on words that
//! decide within a few tokens.

mod account;
mod admin;
mod alter;
mod create_table;
mod ddl;
mod dml;
mod event;
mod expr;
mod function;
mod join;
mod maintenance;
mod partition;
mod query;
mod replication;
mod routine;
mod set;
mod show;
mod statement;
mod types;

use crate::ast::{Ident, ObjectName, Statement, StrLit};
use crate::error::{Failure, ParseError, Res, SYNTAX};
use crate::keywords::Kw;
use crate::lexer::{Lexer, Tok, Token};
use crate::literal;
use crate::options::ParseOptions;

/// One statement and where the next begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// How many `?` it has.
    pub param_count: usize,
    /// Behind its `;`, or the end of the text.
    pub end: usize,
}

/// Parses the first statement of a text.
///
/// # Errors
///
/// If it is none, or if something follows its `;` although [`ParseOptions::multi_statements`] is off.
pub fn parse(sql: &[u8], options: &ParseOptions) -> Result<Parsed, ParseError> {
    let mut parser = Parser::new(sql, options)?;
    match parser.parsed() {
        // Nothing but the end's blanks and semicolons is left.
        Ok(parsed) if parsed.end == parser.src.len() => Ok(Parsed {
            end: sql.len(),
            ..parsed
        }),
        Ok(parsed) => Ok(parsed),
        Err(failure) => Err(parser.report(failure)),
    }
}

/// Parses an expression that is the whole text, as a default or a check constraint is kept.
///
/// # Errors
///
/// If it is none.
pub fn parse_expr(sql: &[u8], options: &ParseOptions) -> Result<crate::ast::Expr, ParseError> {
    let mut parser = Parser::new(sql, options)?;
    let expr = parser
        .expr()
        .and_then(|expr| parser.expect_tok(Tok::Eof).map(|()| expr));
    expr.map_err(|failure| parser.report(failure))
}

/// A place to turn back to.
#[derive(Clone, Copy)]
struct Mark {
    pos: usize,
    params: usize,
    depth: u32,
}

struct Parser<'s> {
    src: &'s [u8],
    lexer: Lexer<'s>,
    /// Filled up to at least one token beyond `pos`.
    tokens: Vec<Token>,
    pos: usize,
    options: &'s ParseOptions,
    params: usize,
    /// How deep the rules are nested now.
    depth: u32,
    /// The height of the tallest expression since it was last reset, see `expr`.
    tallest: u32,
    /// Inside a stored program.
    in_program: bool,
    /// `COMPRESSED[=method]` of the type that was read last.
    compressed: Option<Option<Ident>>,
}

impl<'s> Parser<'s> {
    fn new(src: &'s [u8], options: &'s ParseOptions) -> Result<Self, ParseError> {
        if u32::try_from(src.len()).is_err() {
            return Err(ParseError::Other {
                code: 1153,
                message: "Got a packet bigger than 'max_allowed_packet' bytes".into(),
            });
        }
        // What the server cuts off before it looks.
        let kept = src
            .iter()
            .rposition(|b| *b != b';' && !b.is_ascii_whitespace())
            .map_or(0, |last| last + 1);
        let src = &src[..kept];
        let mut lexer = Lexer::new(src, options.mode, options.version);
        let first = lexer.next_token();
        let mut tokens = Vec::with_capacity(32);
        tokens.push(first);
        Ok(Self {
            src,
            lexer,
            tokens,
            pos: 0,
            options,
            params: 0,
            depth: 0,
            tallest: 0,
            in_program: false,
            compressed: None,
        })
    }

    fn parsed(&mut self) -> Res<Parsed> {
        let statement = self.top_statement()?;
        let end = match self.peek() {
            Tok::Semicolon => {
                let end = self.tokens[self.pos].end as usize;
                if !self.options.multi_statements {
                    self.bump();
                    if self.peek() != Tok::Eof {
                        return self.fail();
                    }
                }
                end
            }
            Tok::Eof => self.src.len(),
            _ => return self.fail(),
        };
        Ok(Parsed {
            statement,
            param_count: self.params,
            end,
        })
    }

    /// Turns a failure into the error that the client sees.
    fn report(&mut self, failure: Failure) -> ParseError {
        match failure {
            Failure::TooDeep => ParseError::TooDeep {
                limit: self.options.max_depth,
            },
            Failure::Other(other) => ParseError::Other {
                code: other.0,
                message: other.1,
            },
            Failure::At(index) => self.syntax_error(index, SYNTAX),
            Failure::With(index, message) => self.syntax_error(index, message),
        }
    }

    fn syntax_error(&self, index: u32, message: &'static str) -> ParseError {
        let index = index as usize;
        let token = self.tokens[index];
        // MariaDB takes a comma for read already.
        let offset = if token.tok == Tok::Comma {
            token.end
        } else {
            token.start
        } as usize;
        ParseError::Syntax {
            message,
            near: near(&self.src[offset..]),
            line: self.line_of(index),
            offset,
        }
    }

    /// The line of a token. Newlines in strings do not count, as in MariaDB.
    fn line_of(&self, index: usize) -> usize {
        let mut line = 1;
        let mut from = 0;
        for token in &self.tokens[..=index] {
            line += memchr::memchr_iter(b'\n', &self.src[from..(token.start as usize).max(from)])
                .count();
            from = token.end as usize;
        }
        line
    }

    // Looking and taking.

    fn peek(&self) -> Tok {
        self.tokens[self.pos].tok
    }

    /// The token `n` places ahead; 0 is the next one.
    fn peek_at(&mut self, n: usize) -> Tok {
        while self.tokens.len() <= self.pos + n {
            let token = self.lexer.next_token();
            self.tokens.push(token);
        }
        self.tokens[self.pos + n].tok
    }

    fn bump(&mut self) -> Token {
        let token = self.tokens[self.pos];
        if token.tok != Tok::Eof {
            self.pos += 1;
            if self.pos == self.tokens.len() {
                let next = self.lexer.next_token();
                self.tokens.push(next);
            }
        }
        token
    }

    fn mark(&self) -> Mark {
        Mark {
            pos: self.pos,
            params: self.params,
            depth: self.depth,
        }
    }

    fn reset(&mut self, mark: Mark) {
        self.pos = mark.pos;
        self.params = mark.params;
        self.depth = mark.depth;
    }

    /// The next token does not fit.
    fn fail<T>(&self) -> Res<T> {
        Err(Failure::At(self.pos as u32))
    }

    /// The next token does not fit, for a reason that MariaDB words.
    fn fail_with<T>(&self, message: &'static str) -> Res<T> {
        Err(Failure::With(self.pos as u32, message))
    }

    fn other<T>(&self, code: u16, message: impl Into<String>) -> Res<T> {
        Err(Failure::Other(Box::new((code, message.into()))))
    }

    fn at(&self, kw: Kw) -> bool {
        self.peek() == Tok::Kw(kw)
    }

    fn at_tok(&self, tok: Tok) -> bool {
        self.peek() == tok
    }

    fn at_any(&self, kws: &[Kw]) -> bool {
        matches!(self.peek(), Tok::Kw(kw) if kws.contains(&kw))
    }

    /// Whether these words come next.
    fn at_seq(&mut self, kws: &[Kw]) -> bool {
        kws.iter()
            .enumerate()
            .all(|(n, kw)| self.peek_at(n) == Tok::Kw(*kw))
    }

    fn eat(&mut self, kw: Kw) -> bool {
        let found = self.at(kw);
        if found {
            self.bump();
        }
        found
    }

    fn eat_tok(&mut self, tok: Tok) -> bool {
        let found = self.peek() == tok;
        if found {
            self.bump();
        }
        found
    }

    /// Takes these words if all of them come next.
    fn eat_seq(&mut self, kws: &[Kw]) -> bool {
        let found = self.at_seq(kws);
        if found {
            for _ in kws {
                self.bump();
            }
        }
        found
    }

    /// Takes one of these words.
    fn eat_any(&mut self, kws: &[Kw]) -> Option<Kw> {
        match self.peek() {
            Tok::Kw(kw) if kws.contains(&kw) => {
                self.bump();
                Some(kw)
            }
            _ => None,
        }
    }

    fn expect(&mut self, kw: Kw) -> Res<()> {
        if self.eat(kw) { Ok(()) } else { self.fail() }
    }

    fn expect_seq(&mut self, kws: &[Kw]) -> Res<()> {
        kws.iter().try_for_each(|kw| self.expect(*kw))
    }

    fn expect_any(&mut self, kws: &[Kw]) -> Res<Kw> {
        match self.eat_any(kws) {
            Some(kw) => Ok(kw),
            None => self.fail(),
        }
    }

    fn expect_tok(&mut self, tok: Tok) -> Res<()> {
        if self.eat_tok(tok) {
            Ok(())
        } else {
            self.fail()
        }
    }

    /// Whether the next token is a bare word that is no keyword, spelled so.
    fn at_word(&self, word: &str) -> bool {
        self.peek() == Tok::Ident
            && self
                .token_bytes(self.pos)
                .eq_ignore_ascii_case(word.as_bytes())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Runs a rule one level deeper.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.depth >= self.options.max_depth.saturating_mul(RULES_PER_LEVEL) {
            return Err(Failure::TooDeep);
        }
        self.depth += 1;
        let result = stacker::maybe_grow(STACK_RED_ZONE, STACK_SEGMENT, || rule(self));
        self.depth -= 1;
        result
    }

    /// One or more of a rule, with commas between.
    fn list<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        let mut list = vec![rule(self)?];
        while self.eat_tok(Tok::Comma) {
            list.push(rule(self)?);
        }
        Ok(list)
    }

    /// `(a, b, …)`
    fn paren_list<T>(&mut self, rule: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        self.expect_tok(Tok::LParen)?;
        let list = self.list(rule)?;
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }

    fn parens<T>(&mut self, rule: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.expect_tok(Tok::LParen)?;
        let inner = rule(self)?;
        self.expect_tok(Tok::RParen)?;
        Ok(inner)
    }

    // Source text.

    fn token_bytes(&self, index: usize) -> &'s [u8] {
        let token = self.tokens[index];
        &self.src[token.start as usize..token.end as usize]
    }

    fn next_start(&self) -> usize {
        self.tokens[self.pos].start as usize
    }

    /// Where the last taken token ends.
    fn last_end(&self) -> usize {
        self.pos
            .checked_sub(1)
            .map_or(0, |index| self.tokens[index].end as usize)
    }

    /// The text from `start` to the last taken token.
    fn text_from(&self, start: usize) -> String {
        let text = &self.src[start..self.last_end().max(start)];
        if self.lexer.saw_executable_comment() {
            return literal::text(&literal::without_executable_marks(text));
        }
        literal::text(text)
    }

    // Names.

    /// Whether the next token may be a bare name.
    fn at_ident(&self) -> bool {
        match self.peek() {
            Tok::Ident | Tok::QuotedIdent => true,
            Tok::Kw(kw) => !kw.is_reserved(),
            _ => false,
        }
    }

    fn ident(&mut self) -> Res<Ident> {
        if self.at_ident() {
            Ok(self.take_ident())
        } else {
            self.fail()
        }
    }

    /// The next token as a name, whatever it is.
    fn take_ident(&mut self) -> Ident {
        let quoted = self.peek() == Tok::QuotedIdent;
        let bytes = self.token_bytes(self.pos);
        self.bump();
        if quoted {
            Ident {
                value: literal::text(&literal::unquote(bytes, false)),
                quoted,
            }
        } else {
            Ident {
                value: literal::text(bytes),
                quoted,
            }
        }
    }

    fn opt_ident(&mut self) -> Option<Ident> {
        self.at_ident().then(|| self.take_ident())
    }

    /// A name or a string that serves as one.
    fn ident_or_text(&mut self) -> Res<Ident> {
        if self.at_tok(Tok::Str) {
            let value = self.string()?;
            return Ok(Ident::quoted(value));
        }
        self.ident()
    }

    fn object_name(&mut self) -> Res<ObjectName> {
        // `.t` is a table of the current database.
        if self.at_tok(Tok::Dot) {
            self.bump();
            return Ok(ObjectName::bare(self.ident()?));
        }
        let first = self.ident()?;
        if self.eat_tok(Tok::Dot) {
            let name = self.ident()?;
            return Ok(ObjectName {
                db: Some(first),
                name,
            });
        }
        Ok(ObjectName::bare(first))
    }

    /// The name of a character set or the like: a name, a string or `BINARY`.
    fn charset_name(&mut self) -> Res<String> {
        if self.eat(Kw::BINARY) {
            return Ok("binary".into());
        }
        Ok(self.ident_or_text()?.value)
    }

    /// The name of a collation or character set, or `DEFAULT`, given as that word.
    fn charset_or_default_name(&mut self) -> Res<String> {
        if self.eat(Kw::DEFAULT) {
            Ok("DEFAULT".into())
        } else {
            self.charset_name()
        }
    }

    // Literals.

    /// A string's bytes, adjacent ones joined.
    fn string_bytes(&mut self) -> Res<Vec<u8>> {
        if !self.at_tok(Tok::Str) {
            return self.fail();
        }
        let escapes = !self.options.mode.no_backslash_escapes;
        let mut bytes = literal::unquote(self.token_bytes(self.pos), escapes);
        self.bump();
        while self.at_tok(Tok::Str) {
            bytes.extend(literal::unquote(self.token_bytes(self.pos), escapes));
            self.bump();
        }
        Ok(bytes)
    }

    /// One string token, not joined with what follows, where the grammar has plain text.
    fn text_bytes(&mut self) -> Res<Vec<u8>> {
        if !self.at_tok(Tok::Str) {
            // Hexadecimal and binary strings are texts too.
            return match self.peek() {
                Tok::HexStr | Tok::HexNum | Tok::BitNum | Tok::BitStr => {
                    Ok(self.number_string_bytes())
                }
                _ => self.fail(),
            };
        }
        let bytes = literal::unquote(
            self.token_bytes(self.pos),
            !self.options.mode.no_backslash_escapes,
        );
        self.bump();
        Ok(bytes)
    }

    /// The bytes of a hexadecimal or binary token, which comes next.
    fn number_string_bytes(&mut self) -> Vec<u8> {
        let text = self.token_bytes(self.pos);
        let bytes = match self.peek() {
            Tok::HexStr => literal::unhex(&text[2..text.len() - 1]),
            Tok::HexNum => literal::unhex(&text[2..]),
            Tok::BitStr => literal::unbit(&text[2..text.len() - 1]),
            _ => literal::unbit(&text[2..]),
        };
        self.bump();
        bytes
    }

    /// One string token as text.
    fn string(&mut self) -> Res<String> {
        if !self.at_tok(Tok::Str) {
            return self.fail();
        }
        Ok(literal::text(&self.text_bytes()?))
    }

    fn str_lit(&mut self) -> Res<StrLit> {
        Ok(StrLit::new(if self.at_tok(Tok::Str) {
            self.text_bytes()?
        } else {
            return self.fail();
        }))
    }

    /// An unsigned integer; past 64 bits it is the largest one.
    fn number(&mut self) -> Res<u64> {
        let value = match self.peek() {
            Tok::Int => {
                let text = self.token_bytes(self.pos);
                text.iter().fold(0u64, |v, d| {
                    v.saturating_mul(10).saturating_add(u64::from(d - b'0'))
                })
            }
            Tok::HexNum => {
                let bytes = literal::unhex(&self.token_bytes(self.pos)[2..]);
                bytes
                    .iter()
                    .fold(0u64, |v, b| v.wrapping_shl(8) | u64::from(*b))
            }
            _ => return self.fail(),
        };
        self.bump();
        Ok(value)
    }

    /// As [`Self::number`], with digits behind a point or an exponent allowed and cut off.
    fn real_number(&mut self) -> Res<u64> {
        if !matches!(self.peek(), Tok::Decimal | Tok::Float) {
            return self.number();
        }
        let value = std::str::from_utf8(self.token_bytes(self.pos))
            .ok()
            .and_then(|t| t.parse::<f64>().ok());
        self.bump();
        Ok(value.unwrap_or(0.0) as u64)
    }

    /// An integer with a sign.
    fn signed_number(&mut self) -> Res<i128> {
        let negative = self.eat_tok(Tok::Minus);
        if !negative {
            self.eat_tok(Tok::Plus);
        }
        let value = i128::from(self.number()?);
        Ok(if negative { -value } else { value })
    }

    fn eat_eq(&mut self) -> bool {
        self.eat_tok(Tok::Eq)
    }

    // Clauses that many statements share.

    fn if_exists(&mut self) -> Res<bool> {
        if !self.eat(Kw::IF) {
            return Ok(false);
        }
        self.expect(Kw::EXISTS)?;
        Ok(true)
    }

    fn if_not_exists(&mut self) -> Res<bool> {
        if !self.eat(Kw::IF) {
            return Ok(false);
        }
        self.expect(Kw::NOT)?;
        self.expect(Kw::EXISTS)?;
        Ok(true)
    }

    /// `WAIT n` or `NOWAIT`, in seconds.
    fn ddl_wait(&mut self) -> Res<Option<u64>> {
        if self.eat(Kw::NOWAIT) {
            return Ok(Some(0));
        }
        if self.eat(Kw::WAIT) {
            return Ok(Some(self.number()?));
        }
        Ok(None)
    }

    /// `NO_WRITE_TO_BINLOG` or `LOCAL`
    fn no_write_to_binlog(&mut self) -> bool {
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]).is_some()
    }
}

/// How many rules may nest for each level that the tree may have: `((1))` nests without growing.
const RULES_PER_LEVEL: u32 = 2;

/// So many bytes of stack have to be left for the rules between two calls of `deeper`, unoptimised.
const STACK_RED_ZONE: usize = 128 * 1024;

/// How much more is taken where they are not.
const STACK_SEGMENT: usize = 2 * 1024 * 1024;

/// How much of the text an error shows, in bytes.
const NEAR_BYTES: usize = 80;

/// The rest of the text as an error shows it: cut, and with a `?` for each byte that is not UTF-8.
fn near(rest: &[u8]) -> String {
    let cut = rest.len() > NEAR_BYTES;
    let mut end = rest.len();
    if cut {
        end = NEAR_BYTES - 3;
        while end > 0 && rest[end] & 0xc0 == 0x80 {
            end -= 1;
        }
    }
    let mut near = String::with_capacity(NEAR_BYTES);
    for chunk in rest[..end].utf8_chunks() {
        near.push_str(chunk.valid());
        near.extend(chunk.invalid().iter().map(|_| '?'));
    }
    if cut {
        near.push_str("...");
    }
    near
}
