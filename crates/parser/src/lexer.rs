//! From bytes to tokens.
//!
//! `logos` finds where a token of a fixed shape ends; what depends on context (quotes, comments, names
//! behind a dot, `sql_mode`) is decided here. Tokens are spans: their values are made when the grammar
//! asks for them, see [`crate::literal`].

use logos::Logos;

use crate::keywords::{self, Kw};
use crate::options::ParseMode;

/// What `logos` tells apart.
#[derive(Logos, Debug, Clone, Copy, PartialEq)]
#[logos(utf8 = false)]
#[logos(skip r"[ \t\n\r\x0b\x0c]+")]
enum Shape {
    #[regex(r"(?-u:[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)", priority = 3)]
    Word,
    #[regex(r"[0-9]+", priority = 5)]
    Int,
    #[regex(r"[0-9]+\.[0-9]*|\.[0-9]+", priority = 5)]
    Decimal,
    #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][+\-]?[0-9]+", priority = 6)]
    Float,
    /// A name that begins with digits, and `0x…`, `0b…`.
    #[regex(
        r"(?-u:[0-9]+[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)",
        priority = 4
    )]
    DigitWord,
    #[regex(r"[xX]'([0-9A-Fa-f][0-9A-Fa-f])*'", priority = 6)]
    HexString,
    #[regex(r"[bB]'[01]*'", priority = 6)]
    BitString,
    #[token("'")]
    Quote,
    #[token("\"")]
    DoubleQuote,
    #[token("`")]
    Backtick,
    #[token("#")]
    Hash,
    #[token("--")]
    DashDash,
    #[token("/*")]
    CommentOpen,
    #[token("\\N")]
    NullEscape,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("=")]
    Eq,
    #[token("<=>")]
    NullSafeEq,
    #[token("<>")]
    #[token("!=")]
    Ne,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("|")]
    Pipe,
    #[token("||")]
    PipePipe,
    #[token("&")]
    Amp,
    #[token("&&")]
    AmpAmp,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("!")]
    Bang,
    #[token(":")]
    Colon,
    #[token(":=")]
    Assign,
    #[token("?")]
    Question,
    #[token("@")]
    At,
    #[token("@@")]
    AtAt,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A bare word that is no keyword.
    Ident,
    /// In backticks, or in double quotes under `ANSI_QUOTES`.
    QuotedIdent,
    Kw(Kw),
    /// A built-in function's name that its parenthesis follows directly, see [`FUNCTIONS`].
    Func,
    /// `_utf8mb4` and the like.
    Introducer,
    Int,
    Decimal,
    Float,
    /// With its quotes; `'…'` or `"…"`.
    Str,
    /// `N'…'`
    NationalStr,
    /// `x'…'`
    HexStr,
    /// `0x…`
    HexNum,
    /// `b'…'`
    BitStr,
    /// `0b…`
    BitNum,
    /// `@name`, `@'name'`, …
    UserVar,
    /// `\N`
    NullEscape,
    LParen,
    RParen,
    Comma,
    Semicolon,
    Dot,
    DotDot,
    Star,
    Plus,
    Minus,
    Slash,
    Percent,
    Eq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Pipe,
    PipePipe,
    Amp,
    AmpAmp,
    Caret,
    Tilde,
    Bang,
    Colon,
    Assign,
    Question,
    At,
    AtAt,
    LBrace,
    RBrace,
    /// Nothing that the language has; no rule takes it.
    Bad,
    Eof,
}

/// A token and where it stands, in bytes of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Character sets that an introducer may name.
const CHARSETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb2312", "gbk", "geostd8", "greek",
    "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce",
    "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8",
    "utf8mb3", "utf8mb4",
];

/// Built-in functions that the grammar knows. They are words of it only where a parenthesis follows directly
/// (under `IGNORE_SPACE`, after blanks too).
const FUNCTIONS: &[&str] = &[
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "CAST",
    "COUNT",
    "CUME_DIST",
    "CURDATE",
    "CURTIME",
    "DATE_ADD",
    "DATE_FORMAT",
    "DATE_SUB",
    "DENSE_RANK",
    "EXTRACT",
    "FIRST_VALUE",
    "GROUP_CONCAT",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "LAG",
    "LEAD",
    "MAX",
    "MEDIAN",
    "MID",
    "MIN",
    "NOW",
    "NTH_VALUE",
    "NTILE",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PERCENT_RANK",
    "POSITION",
    "RANK",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUBSTR",
    "SUBSTRING",
    "SUM",
    "TRIM",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
];

/// Bytes of names: letters, digits, `_`, `$`, and all beyond ASCII.
pub(crate) fn is_ident_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Reads one token after the other; at the end it gives [`Tok::Eof`] for ever.
pub(crate) struct Lexer<'s> {
    src: &'s [u8],
    pos: usize,
    mode: ParseMode,
    version: u32,
    /// Inside of an executable comment, whose `*/` is skipped.
    in_executable_comment: bool,
    saw_executable_comment: bool,
    previous: Tok,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(src: &'s [u8], mode: ParseMode, version: u32) -> Self {
        Self {
            src,
            pos: 0,
            mode,
            version,
            in_executable_comment: false,
            saw_executable_comment: false,
            previous: Tok::Eof,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.src.get(at).copied().unwrap_or(0)
    }

    /// Whether the text that was read has an executable comment.
    pub(crate) fn saw_executable_comment(&self) -> bool {
        self.saw_executable_comment
    }

    pub(crate) fn next_token(&mut self) -> Token {
        let (tok, start, end) = self.scan();
        self.pos = end;
        self.previous = tok;
        Token {
            tok,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The next token's kind, start and end.
    fn scan(&mut self) -> (Tok, usize, usize) {
        let next = self.byte(self.pos);
        if self.previous == Tok::Dot && is_ident_byte(next) {
            return (Tok::Ident, self.pos, self.word_end(self.pos));
        }
        if self.previous == Tok::AtAt
            && self.pos < self.src.len()
            && !is_ident_byte(next)
            && next != b'`'
        {
            return (Tok::Bad, self.pos, self.pos + 1);
        }
        if matches!(self.previous, Tok::Ident | Tok::Kw(_))
            && next == b'.'
            && is_ident_byte(self.byte(self.pos + 1))
        {
            return (Tok::Dot, self.pos, self.pos + 1);
        }
        loop {
            let mut lexer = Shape::lexer(&self.src[self.pos..]);
            let Some(shape) = lexer.next() else {
                let tok = if self.in_executable_comment {
                    Tok::Bad
                } else {
                    Tok::Eof
                };
                return (tok, self.src.len(), self.src.len());
            };
            let start = self.pos + lexer.span().start;
            let end = self.pos + lexer.span().end;
            let Ok(shape) = shape else {
                return (Tok::Bad, start, end.max(start + 1).min(self.src.len()));
            };
            match shape {
                Shape::Hash => self.pos = self.line_end(end),
                Shape::DashDash => {
                    if end < self.src.len() && self.src[end] > b' ' && self.src[end] != 0x7f {
                        return (Tok::Minus, start, start + 1);
                    }
                    self.pos = self.line_end(end);
                }
                Shape::CommentOpen => {
                    if !self.comment(end) {
                        return (Tok::Bad, start, self.src.len());
                    }
                }
                Shape::Star if self.in_executable_comment && self.byte(end) == b'/' => {
                    self.in_executable_comment = false;
                    self.pos = end + 1;
                }
                other => return self.token(other, start, end),
            }
        }
    }

    /// Moves past the comment whose `/*` ends at `after`, or into it if it is to be executed; false if it has no end.
    fn comment(&mut self, after: usize) -> bool {
        let mut at = after;
        let mariadb_only = self.byte(at) == b'M' && self.byte(at + 1) == b'!';
        if self.byte(at) != b'!' && !mariadb_only {
            return self.skip_comment(at, false);
        }
        self.saw_executable_comment = true;
        at += if mariadb_only { 2 } else { 1 };
        let digits = self.src[at..]
            .iter()
            .take(6)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if digits < 5 {
            self.in_executable_comment = true;
            self.pos = at;
            return true;
        }
        let version = self.src[at..at + digits]
            .iter()
            .fold(0u32, |v, b| v * 10 + u32::from(b - b'0'));
        // Features that MySQL got in 5.7 and later are not MariaDB's.
        let foreign = !mariadb_only && (50_700..=99_999).contains(&version);
        if version <= self.version && !foreign {
            self.in_executable_comment = true;
            self.pos = at + digits;
            return true;
        }
        self.skip_comment(at, true)
    }

    /// Moves behind the `*/`, over comments inside if they may nest.
    fn skip_comment(&mut self, mut at: usize, nested: bool) -> bool {
        let mut depth = 1;
        while let Some(offset) = memchr::memchr2(b'*', b'/', &self.src[at.min(self.src.len())..]) {
            at += offset;
            match (self.src[at], self.byte(at + 1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        self.pos = at;
                        return true;
                    }
                }
                (b'/', b'*') if nested && depth == 1 => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        false
    }

    fn line_end(&self, from: usize) -> usize {
        memchr::memchr(b'\n', &self.src[from..]).map_or(self.src.len(), |offset| from + offset)
    }

    fn word_end(&self, from: usize) -> usize {
        from + self.src[from..]
            .iter()
            .take_while(|b| is_ident_byte(**b))
            .count()
    }

    /// The end of a quoted token whose opening quote ends at `from`.
    fn quoted_end(&self, mut from: usize, quote: u8, escapes: bool) -> Option<usize> {
        loop {
            let rest = &self.src[from..];
            let found = if escapes {
                memchr::memchr2(quote, b'\\', rest)
            } else {
                memchr::memchr(quote, rest)
            };
            from += found?;
            if self.src[from] != quote {
                from = (from + 2).min(self.src.len());
            } else if self.byte(from + 1) == quote && from + 1 < self.src.len() {
                from += 2;
            } else {
                return Some(from + 1);
            }
        }
    }

    fn quoted(&self, tok: Tok, start: usize, open_end: usize) -> (Tok, usize, usize) {
        let quote = self.src[open_end - 1];
        let is_name = quote == b'`' || tok == Tok::QuotedIdent;
        let escapes = !is_name && !self.mode.no_backslash_escapes;
        match self.quoted_end(open_end, quote, escapes) {
            Some(end) => (tok, start, end),
            None => (Tok::Bad, start, self.src.len()),
        }
    }

    fn token(&self, shape: Shape, start: usize, end: usize) -> (Tok, usize, usize) {
        let simple = match shape {
            Shape::Word => return self.word(start, end),
            Shape::DigitWord => return self.digit_word(start, end),
            Shape::Quote => return self.quoted(Tok::Str, start, end),
            Shape::DoubleQuote => {
                let tok = if self.mode.ansi_quotes {
                    Tok::QuotedIdent
                } else {
                    Tok::Str
                };
                return self.quoted(tok, start, end);
            }
            Shape::Backtick => return self.quoted(Tok::QuotedIdent, start, end),
            Shape::At => return self.user_var(start, end),
            // `1..5` is a range.
            Shape::Decimal if self.src[end - 1] == b'.' && self.byte(end) == b'.' => {
                return (Tok::Int, start, end - 1);
            }
            Shape::HexString => Tok::HexStr,
            Shape::BitString => Tok::BitStr,
            Shape::Int => Tok::Int,
            Shape::Decimal => Tok::Decimal,
            Shape::Float => Tok::Float,
            Shape::NullEscape => Tok::NullEscape,
            Shape::LParen => Tok::LParen,
            Shape::RParen => Tok::RParen,
            Shape::Comma => Tok::Comma,
            Shape::Semicolon => Tok::Semicolon,
            Shape::Dot => Tok::Dot,
            Shape::DotDot => Tok::DotDot,
            Shape::Star => Tok::Star,
            Shape::Plus => Tok::Plus,
            Shape::Minus => Tok::Minus,
            Shape::Slash => Tok::Slash,
            Shape::Percent => Tok::Percent,
            Shape::Eq => Tok::Eq,
            Shape::NullSafeEq => Tok::NullSafeEq,
            Shape::Ne => Tok::Ne,
            Shape::Lt => Tok::Lt,
            Shape::Le => Tok::Le,
            Shape::Gt => Tok::Gt,
            Shape::Ge => Tok::Ge,
            Shape::Shl => Tok::Shl,
            Shape::Shr => Tok::Shr,
            Shape::Pipe => Tok::Pipe,
            Shape::PipePipe => Tok::PipePipe,
            Shape::Amp => Tok::Amp,
            Shape::AmpAmp => Tok::AmpAmp,
            Shape::Caret => Tok::Caret,
            Shape::Tilde => Tok::Tilde,
            Shape::Bang => Tok::Bang,
            Shape::Colon => Tok::Colon,
            Shape::Assign => Tok::Assign,
            Shape::Question => Tok::Question,
            Shape::AtAt => Tok::AtAt,
            Shape::LBrace => Tok::LBrace,
            Shape::RBrace => Tok::RBrace,
            // Dealt with before.
            Shape::Hash | Shape::DashDash | Shape::CommentOpen => Tok::Bad,
        };
        (simple, start, end)
    }

    fn word(&self, start: usize, mut end: usize) -> (Tok, usize, usize) {
        // Names are UTF-8: what is not ends them, and is nothing itself.
        if let Err(error) = std::str::from_utf8(&self.src[start..end]) {
            end = start + error.valid_up_to();
            if end == start {
                return (Tok::Bad, start, start + error.error_len().unwrap_or(1));
            }
        }
        let word = &self.src[start..end];
        if word.len() == 1 && self.byte(end) == b'\'' {
            match word[0] {
                b'n' | b'N' => return self.quoted(Tok::NationalStr, start, end + 1),
                // Not the digits that would make it a literal.
                b'x' | b'X' | b'b' | b'B' => return (Tok::Bad, start, end),
                _ => {}
            }
        }
        let before_dot = self.byte(end) == b'.' && is_ident_byte(self.byte(end + 1));
        if before_dot {
            return (Tok::Ident, start, end);
        }
        if let Some(kw) = keywords::lookup(word) {
            return (Tok::Kw(kw), start, end);
        }
        if word[0] == b'_'
            && CHARSETS
                .iter()
                .any(|c| c.as_bytes().eq_ignore_ascii_case(&word[1..]))
        {
            return (Tok::Introducer, start, end);
        }
        let paren = if self.mode.ignore_space {
            self.src[end..]
                .iter()
                .find(|b| !b.is_ascii_whitespace())
                .copied()
        } else {
            self.src.get(end).copied()
        };
        if paren == Some(b'(')
            && FUNCTIONS
                .iter()
                .any(|f| f.as_bytes().eq_ignore_ascii_case(word))
        {
            return (Tok::Func, start, end);
        }
        (Tok::Ident, start, end)
    }

    fn digit_word(&self, start: usize, end: usize) -> (Tok, usize, usize) {
        let word = &self.src[start..end];
        if let Some(hex) = word.strip_prefix(b"0x")
            && !hex.is_empty()
            && hex.iter().all(u8::is_ascii_hexdigit)
        {
            return (Tok::HexNum, start, end);
        }
        if let Some(bits) = word.strip_prefix(b"0b")
            && !bits.is_empty()
            && bits.iter().all(|b| matches!(b, b'0' | b'1'))
        {
            return (Tok::BitNum, start, end);
        }
        // `1e5a` is a number and a name.
        let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
        if matches!(word[digits], b'e' | b'E') {
            let exponent = word[digits + 1..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
            if exponent > 0 {
                return (Tok::Float, start, start + digits + 1 + exponent);
            }
        }
        (Tok::Ident, start, end)
    }

    fn user_var(&self, start: usize, end: usize) -> (Tok, usize, usize) {
        match self.byte(end) {
            b'\'' | b'"' | b'`' => self.quoted(Tok::UserVar, start, end + 1),
            byte if is_ident_byte(byte) || byte == b'.' => {
                let len = self.src[end..]
                    .iter()
                    .take_while(|b| is_ident_byte(**b) || **b == b'.')
                    .count();
                (Tok::UserVar, start, end + len)
            }
            _ => (Tok::At, start, end),
        }
    }
}
