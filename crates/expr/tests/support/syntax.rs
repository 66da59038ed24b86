//! A small reader of SQL expressions for the fixtures. It binds while it reads; it is no model of the real parser.

use std::collections::HashMap;

use selkie_expr::bind::*;
use selkie_expr::{AggregateCall, CmpOp, Expr, SortKey};
use selkie_types::{Charset, Collation, SqlError, SqlResult, SqlType, sql_err};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Number(String),
    Text(String),
    Hex(Vec<u8>),
    Binary(Vec<u8>),
    Sign(&'static str),
    End,
}

const SIGNS: &[&str] = &[
    "<=>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "+", "-", "*", "/", "%", "(", ")", ",", "=", "<", ">",
    "|", "&", "^", "~", "!",
];

fn unhex(s: &str) -> Vec<u8> {
    let s = if s.len() % 2 == 1 { format!("0{s}") } else { s.to_string() };
    (0..s.len()).step_by(2).map(|i| u8::from_str_radix(&s[i..i + 2], 16).expect("hex digits")).collect()
}

fn unbits(s: &str) -> Vec<u8> {
    let padded = format!("{}{s}", "0".repeat((8 - s.len() % 8) % 8));
    (0..padded.len()).step_by(8).map(|i| u8::from_str_radix(&padded[i..i + 8], 2).expect("bits")).collect()
}

fn tokens(sql: &str) -> Vec<Token> {
    let b: Vec<char> = sql.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    let quoted = |mut i: usize| {
        let mut s = String::new();
        i += 1;
        loop {
            match b[i] {
                '\'' if b.get(i + 1) == Some(&'\'') => {
                    s.push('\'');
                    i += 2;
                }
                '\'' => return (s, i + 1),
                '\\' => {
                    match b[i + 1] {
                        'n' => s.push('\n'),
                        't' => s.push('\t'),
                        'r' => s.push('\r'),
                        'b' => s.push('\u{8}'),
                        '0' => s.push('\0'),
                        'Z' => s.push('\u{1A}'),
                        c @ ('%' | '_') => {
                            s.push('\\');
                            s.push(c);
                        }
                        c => s.push(c),
                    }
                    i += 2;
                }
                c => {
                    s.push(c);
                    i += 1;
                }
            }
        }
    };
    while i < b.len() {
        let c = b[i];
        let next = b.get(i + 1).copied().unwrap_or(' ');
        if c.is_whitespace() {
            i += 1;
        } else if c == '\'' {
            let (s, end) = quoted(i);
            out.push(Token::Text(s));
            i = end;
        } else if matches!(c, 'x' | 'X') && next == '\'' {
            let (s, end) = quoted(i + 1);
            out.push(Token::Binary(unhex(&s)));
            i = end;
        } else if matches!(c, 'b' | 'B') && next == '\'' {
            let (s, end) = quoted(i + 1);
            out.push(Token::Hex(unbits(&s)));
            i = end;
        } else if c == '0' && next == 'x' {
            let start = i + 2;
            i = start;
            while i < b.len() && b[i].is_ascii_hexdigit() {
                i += 1;
            }
            out.push(Token::Hex(unhex(&b[start..i].iter().collect::<String>())));
        } else if c.is_ascii_digit() || (c == '.' && next.is_ascii_digit()) {
            let start = i;
            while i < b.len() && (b[i].is_ascii_digit() || b[i] == '.') {
                i += 1;
            }
            if i < b.len() && matches!(b[i], 'e' | 'E') {
                i += 1;
                if matches!(b.get(i), Some('+' | '-')) {
                    i += 1;
                }
                while i < b.len() && b[i].is_ascii_digit() {
                    i += 1;
                }
            }
            out.push(Token::Number(b[start..i].iter().collect()));
        } else if c.is_alphabetic() || c == '_' {
            let start = i;
            while i < b.len() && (b[i].is_alphanumeric() || b[i] == '_') {
                i += 1;
            }
            out.push(Token::Word(b[start..i].iter().collect::<String>().to_lowercase()));
        } else {
            let rest: String = b[i..(i + 3).min(b.len())].iter().collect();
            let sign = SIGNS.iter().find(|s| rest.starts_with(**s)).unwrap_or_else(|| panic!("sign {rest:?} in {sql}"));
            out.push(Token::Sign(sign));
            i += sign.len();
        }
    }
    out.push(Token::End);
    out
}

/// Reads and binds; columns by name are slots of the row.
pub struct Reader<'a> {
    cx: &'a BindCtx,
    columns: &'a HashMap<&'static str, Expr>,
    tokens: Vec<Token>,
    at: usize,
}

fn syntax<T>(what: &str) -> SqlResult<T> {
    Err(sql_err!(ER_PARSE_ERROR, "syntax", what, 1))
}

impl<'a> Reader<'a> {
    pub fn new(cx: &'a BindCtx, columns: &'a HashMap<&'static str, Expr>, sql: &str) -> Reader<'a> {
        Reader { cx, columns, tokens: tokens(sql), at: 0 }
    }

    /// A whole expression.
    pub fn expression(mut self) -> SqlResult<Expr> {
        let e = self.or()?;
        if self.peek() != &Token::End {
            return syntax(&format!("rest {:?}", self.peek()));
        }
        Ok(e)
    }

    /// An aggregate call.
    pub fn aggregate(mut self) -> SqlResult<AggregateCall> {
        let name = self.word()?;
        self.expect("(")?;
        let distinct = self.eat_word("distinct");
        let mut args = Vec::new();
        if !self.eat("*") && self.peek() != &Token::Sign(")") {
            args.push(self.or()?);
            while self.eat(",") {
                args.push(self.or()?);
            }
        }
        let mut order_by = Vec::new();
        if self.eat_word("order") {
            self.eat_word("by");
            loop {
                let expr = self.or()?;
                let descending = self.eat_word("desc");
                order_by.push(SortKey { expr, descending });
                if !self.eat(",") {
                    break;
                }
            }
        }
        let mut separator = None;
        if self.eat_word("separator")
            && let Token::Text(s) = self.next()
        {
            separator = Some(s);
        }
        let mut limit = None;
        if self.eat_word("limit")
            && let Token::Number(n) = self.next()
        {
            limit = Some((0, n.parse().expect("a number")));
        }
        self.expect(")")?;
        bind_aggregate(self.cx, &name, distinct, args, order_by, separator.as_deref(), limit)
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let t = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.next();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> SqlResult<()> {
        if self.eat(sign) { Ok(()) } else { syntax(&format!("{sign} instead of {:?}", self.peek())) }
    }

    fn expect_word(&mut self, word: &str) -> SqlResult<()> {
        if self.eat_word(word) { Ok(()) } else { syntax(&format!("{word} instead of {:?}", self.peek())) }
    }

    fn word(&mut self) -> SqlResult<String> {
        match self.next() {
            Token::Word(w) => Ok(w),
            t => syntax(&format!("a word instead of {t:?}")),
        }
    }

    fn or(&mut self) -> SqlResult<Expr> {
        let mut all = vec![self.xor()?];
        while self.eat_word("or") || self.eat("||") {
            all.push(self.xor()?);
        }
        self.joined(LogicalOp::Or, all)
    }

    fn xor(&mut self) -> SqlResult<Expr> {
        let mut all = vec![self.and()?];
        while self.eat_word("xor") {
            all.push(self.and()?);
        }
        self.joined(LogicalOp::Xor, all)
    }

    fn and(&mut self) -> SqlResult<Expr> {
        let mut all = vec![self.not()?];
        while self.eat_word("and") || self.eat("&&") {
            all.push(self.not()?);
        }
        self.joined(LogicalOp::And, all)
    }

    fn joined(&mut self, op: LogicalOp, mut all: Vec<Expr>) -> SqlResult<Expr> {
        if all.len() == 1
            && let Some(e) = all.pop()
        {
            return Ok(e);
        }
        bind_logical(self.cx, op, all)
    }

    fn not(&mut self) -> SqlResult<Expr> {
        if self.eat_word("not") {
            let e = self.not()?;
            return bind_not(self.cx, e);
        }
        self.comparison()
    }

    fn row(&mut self) -> SqlResult<Option<Vec<Expr>>> {
        // `(a, b)` is a row, `(a)` is not.
        if self.peek() != &Token::Sign("(") {
            return Ok(None);
        }
        let start = self.at;
        self.next();
        let mut all = vec![self.or()?];
        while self.eat(",") {
            all.push(self.or()?);
        }
        self.expect(")")?;
        if all.len() == 1 {
            self.at = start;
            return Ok(None);
        }
        Ok(Some(all))
    }

    fn cmp_op(&mut self) -> Option<CmpOp> {
        let op = match self.peek() {
            Token::Sign("=") => CmpOp::Eq,
            Token::Sign("<=>") => CmpOp::NullSafeEq,
            Token::Sign("<>" | "!=") => CmpOp::Ne,
            Token::Sign("<") => CmpOp::Lt,
            Token::Sign("<=") => CmpOp::Le,
            Token::Sign(">") => CmpOp::Gt,
            Token::Sign(">=") => CmpOp::Ge,
            _ => return None,
        };
        self.next();
        Some(op)
    }

    fn comparison(&mut self) -> SqlResult<Expr> {
        if let Some(l) = self.row()? {
            if self.eat_word("in") {
                self.expect("(")?;
                let mut list = Vec::new();
                loop {
                    list.push(self.row()?.ok_or_else(|| sql_err!(ER_OPERAND_COLUMNS, l.len()))?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                return bind_row_in_list(self.cx, l, list, false);
            }
            let Some(op) = self.cmp_op() else { return syntax("a row") };
            let r = self.row()?.ok_or_else(|| sql_err!(ER_OPERAND_COLUMNS, l.len()))?;
            return bind_row_compare(self.cx, op, l, r);
        }
        let mut e = self.bit_or()?;
        loop {
            if let Some(op) = self.cmp_op() {
                let r = self.bit_or()?;
                e = bind_compare(self.cx, op, e, r)?;
                continue;
            }
            if self.eat_word("is") {
                let negated = self.eat_word("not");
                e = match self.word()?.as_str() {
                    "null" | "unknown" => bind_is_null(self.cx, e, negated)?,
                    "true" => bind_is_bool(self.cx, e, true, negated)?,
                    "false" => bind_is_bool(self.cx, e, false, negated)?,
                    w => return syntax(w),
                };
                continue;
            }
            let start = self.at;
            let negated = self.eat_word("not");
            if self.eat_word("between") {
                let low = self.bit_or()?;
                self.expect_word("and")?;
                let high = self.bit_or()?;
                e = bind_between(self.cx, e, low, high, negated)?;
            } else if self.eat_word("in") {
                let list = self.list()?;
                e = bind_in_list(self.cx, e, list, negated)?;
            } else if self.eat_word("like") {
                let p = self.bit_or()?;
                let escape = if self.eat_word("escape") { Some(self.bit_or()?) } else { None };
                e = bind_like(self.cx, e, p, escape, negated)?;
            } else if self.eat_word("regexp") || self.eat_word("rlike") {
                let p = self.bit_or()?;
                e = bind_regexp(self.cx, e, p, negated)?;
            } else {
                self.at = start;
                return Ok(e);
            }
        }
    }

    fn list(&mut self) -> SqlResult<Vec<Expr>> {
        self.expect("(")?;
        let mut all = Vec::new();
        if self.eat(")") {
            return Ok(all);
        }
        loop {
            all.push(self.or()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(all)
    }

    fn bit_or(&mut self) -> SqlResult<Expr> {
        self.binary(0)
    }

    /// Binary operators by level, loosest first.
    fn binary(&mut self, level: usize) -> SqlResult<Expr> {
        const LEVELS: &[&[(&str, BinaryOp)]] = &[
            &[("|", BinaryOp::BitOr)],
            &[("&", BinaryOp::BitAnd)],
            &[("<<", BinaryOp::ShiftLeft), (">>", BinaryOp::ShiftRight)],
            &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
            &[
                ("*", BinaryOp::Mul),
                ("/", BinaryOp::Div),
                ("%", BinaryOp::Mod),
                ("div", BinaryOp::IntDiv),
                ("mod", BinaryOp::Mod),
            ],
            &[("^", BinaryOp::BitXor)],
        ];
        let Some(ops) = LEVELS.get(level) else { return self.unary() };
        let mut e = self.binary(level + 1)?;
        loop {
            let found = ops.iter().find(|(s, _)| match self.peek() {
                Token::Sign(t) => t == s,
                Token::Word(w) => w == s,
                _ => false,
            });
            let Some((_, op)) = found else { return Ok(e) };
            self.next();
            let interval = matches!(op, BinaryOp::Add | BinaryOp::Sub)
                && self.peek() == &Token::Word("interval".into())
                && self.tokens.get(self.at + 1) != Some(&Token::Sign("("));
            if interval {
                self.next();
                let amount = self.or()?;
                let unit = self.unit()?;
                e = bind_interval(self.cx, *op == BinaryOp::Sub, e, amount, unit)?;
                continue;
            }
            let r = self.binary(level + 1)?;
            e = bind_binary(self.cx, *op, e, r)?;
        }
    }

    fn unit(&mut self) -> SqlResult<IntervalUnit> {
        let w = self.word()?;
        IntervalUnit::by_name(&w).ok_or_else(|| sql_err!(ER_PARSE_ERROR, "unit", w, 1))
    }

    fn unary(&mut self) -> SqlResult<Expr> {
        if self.eat("-") {
            let e = self.unary()?;
            return bind_unary(self.cx, UnaryOp::Neg, e);
        }
        if self.eat("+") {
            let e = self.unary()?;
            return bind_unary(self.cx, UnaryOp::Plus, e);
        }
        if self.eat("~") {
            let e = self.unary()?;
            return bind_unary(self.cx, UnaryOp::BitNot, e);
        }
        if self.eat("!") {
            let e = self.unary()?;
            return bind_not(self.cx, e);
        }
        if self.eat_word("binary") {
            let e = self.unary()?;
            return bind_binary_operator(self.cx, e);
        }
        let mut e = self.primary()?;
        while self.eat_word("collate") {
            let name = self.word()?;
            let c = if name == "binary" { Some(Collation::BINARY) } else { Collation::by_name(&name) };
            e = bind_collate(self.cx, e, c.ok_or_else(|| sql_err!(ER_UNKNOWN_COLLATION, name))?)?;
        }
        Ok(e)
    }

    fn primary(&mut self) -> SqlResult<Expr> {
        match self.next() {
            Token::Number(n) => literal_number(&n),
            Token::Text(t) => Ok(literal_text(self.cx, &t, None)),
            Token::Hex(b) => Ok(literal_hex_hybrid(&b)),
            Token::Binary(b) => Ok(literal_binary(&b)),
            Token::Sign("(") => {
                let e = self.or()?;
                self.expect(")")?;
                Ok(e)
            }
            Token::Word(w) => self.named(&w),
            t => syntax(&format!("{t:?}")),
        }
    }

    fn named(&mut self, w: &str) -> SqlResult<Expr> {
        let call = self.peek() == &Token::Sign("(");
        if let Token::Text(t) = self.peek().clone() {
            let ty = match w {
                "date" => Some(SqlType::Date),
                "time" => Some(SqlType::Time { fsp: 0 }),
                "timestamp" => Some(SqlType::DateTime { fsp: 0 }),
                _ => None,
            };
            if let Some(ty) = ty {
                self.next();
                return literal_temporal(self.cx, &ty, &t);
            }
            if let Some(cs) = w.strip_prefix('_').and_then(Charset::by_name) {
                self.next();
                return Ok(if cs == Charset::Binary {
                    literal_binary(t.as_bytes())
                } else {
                    literal_text(self.cx, &t, Some(cs.default_collation()))
                });
            }
        }
        match w {
            "null" => return Ok(literal_null()),
            "true" | "false" => return Ok(literal_bool(w == "true")),
            "case" => return self.case(),
            "current_timestamp" | "current_date" | "current_time" | "localtime" | "utc_date" | "current_user"
                if !call =>
            {
                return bind_function(self.cx, w, Vec::new());
            }
            _ => {}
        }
        if !call {
            return match self.columns.get(w) {
                Some(e) => Ok(e.clone()),
                None => Err(sql_err!(ER_BAD_FIELD_ERROR, w, "SELECT")),
            };
        }
        self.call(w)
    }

    fn case(&mut self) -> SqlResult<Expr> {
        let operand = if self.peek() == &Token::Word("when".into()) { None } else { Some(self.or()?) };
        let mut whens = Vec::new();
        while self.eat_word("when") {
            let c = self.or()?;
            self.expect_word("then")?;
            whens.push((c, self.or()?));
        }
        let otherwise = if self.eat_word("else") { Some(self.or()?) } else { None };
        self.expect_word("end")?;
        bind_case(self.cx, operand, whens, otherwise)
    }

    fn size(&mut self) -> SqlResult<Option<u32>> {
        if !self.eat("(") {
            return Ok(None);
        }
        let n = self.next();
        self.expect(")")?;
        match n {
            Token::Number(n) => Ok(n.parse().ok()),
            t => syntax(&format!("{t:?}")),
        }
    }

    fn charset(&mut self) -> SqlResult<Charset> {
        let w = self.word()?;
        Charset::by_name(&w).ok_or_else(|| sql_err!(ER_UNKNOWN_CHARACTER_SET, w))
    }

    fn target(&mut self) -> SqlResult<CastTarget> {
        Ok(match self.word()?.as_str() {
            "signed" => {
                let _ = self.eat_word("integer");
                CastTarget::Signed
            }
            "unsigned" => {
                let _ = self.eat_word("integer");
                CastTarget::Unsigned
            }
            "integer" | "int" => CastTarget::Signed,
            "char" => {
                let n = self.size()?;
                let mut c = None;
                if self.eat_word("character") {
                    self.expect_word("set")?;
                    c = Some(self.charset()?.default_collation());
                }
                CastTarget::Char(n, c)
            }
            "binary" => CastTarget::Binary(self.size()?),
            "date" => CastTarget::Date,
            "time" => CastTarget::Time(self.size()?.unwrap_or(0) as u8),
            "datetime" => CastTarget::DateTime(self.size()?.unwrap_or(0) as u8),
            "double" => CastTarget::Double(None),
            "float" => CastTarget::Float,
            "decimal" => {
                let (mut p, mut s) = (10, 0);
                if self.eat("(") {
                    let number = |t: Token| match t {
                        Token::Number(n) => n.parse::<u8>().unwrap_or(255),
                        _ => 255,
                    };
                    p = number(self.next());
                    if self.eat(",") {
                        s = number(self.next());
                    }
                    self.expect(")")?;
                }
                CastTarget::Decimal(p, s)
            }
            w => return syntax(w),
        })
    }

    fn call(&mut self, name: &str) -> SqlResult<Expr> {
        let cx = self.cx;
        let start = self.at;
        self.expect("(")?;
        match name {
            "cast" => {
                let e = self.or()?;
                self.expect_word("as")?;
                let t = self.target()?;
                self.expect(")")?;
                return bind_cast(cx, e, t);
            }
            "convert" => {
                let e = self.or()?;
                if self.eat_word("using") {
                    let cs = self.charset()?;
                    self.expect(")")?;
                    return bind_convert_using(cx, e, cs);
                }
                self.expect(",")?;
                let t = self.target()?;
                self.expect(")")?;
                return bind_cast(cx, e, t);
            }
            "extract" => {
                let unit = self.unit()?;
                self.expect_word("from")?;
                let e = self.or()?;
                self.expect(")")?;
                return bind_extract(cx, unit, e);
            }
            "trim" => {
                let side = if self.eat_word("leading") {
                    TrimSide::Leading
                } else if self.eat_word("trailing") {
                    TrimSide::Trailing
                } else {
                    let _ = self.eat_word("both");
                    TrimSide::Both
                };
                if self.eat_word("from") {
                    let e = self.or()?;
                    self.expect(")")?;
                    return bind_trim(cx, side, None, e);
                }
                let first = self.or()?;
                if self.eat_word("from") {
                    let e = self.or()?;
                    self.expect(")")?;
                    return bind_trim(cx, side, Some(first), e);
                }
                self.expect(")")?;
                return bind_function(cx, "trim", vec![first]);
            }
            "position" => {
                let what = self.bit_or()?;
                self.expect_word("in")?;
                let e = self.or()?;
                self.expect(")")?;
                return bind_function(cx, "position", vec![what, e]);
            }
            "substring" | "substr" => {
                let e = self.or()?;
                if self.eat_word("from") {
                    let mut args = vec![e, self.or()?];
                    if self.eat_word("for") {
                        args.push(self.or()?);
                    }
                    self.expect(")")?;
                    return bind_function(cx, name, args);
                }
                self.at = start;
            }
            "date_add" | "date_sub" | "adddate" | "subdate" => {
                let e = self.or()?;
                self.expect(",")?;
                if self.eat_word("interval") {
                    let amount = self.or()?;
                    let unit = self.unit()?;
                    self.expect(")")?;
                    return bind_interval(cx, name.ends_with("sub") || name == "subdate", e, amount, unit);
                }
                self.at = start;
            }
            "timestampadd" | "timestampdiff" => {
                let unit = self.unit()?;
                self.expect(",")?;
                let a = self.or()?;
                self.expect(",")?;
                let b = self.or()?;
                self.expect(")")?;
                return if name == "timestampadd" {
                    bind_interval(cx, false, b, a, unit)
                } else {
                    bind_timestampdiff(cx, unit, a, b)
                };
            }
            "get_format" => {
                let what = self.word()?;
                self.expect(",")?;
                let e = self.or()?;
                self.expect(")")?;
                return bind_function(cx, name, vec![literal_text(cx, &what, None), e]);
            }
            "char" => {
                let mut args = vec![self.or()?];
                while self.eat(",") {
                    args.push(self.or()?);
                }
                let cs = if self.eat_word("using") { Some(self.charset()?) } else { None };
                self.expect(")")?;
                return bind_char(cx, args, cs);
            }
            "weight_string" => {
                let e = self.or()?;
                let mut length = None;
                let mut binary = false;
                if self.eat_word("as") {
                    binary = self.word()? == "binary";
                    length = self.size()?;
                }
                self.expect(")")?;
                return bind_weight_string(cx, e, length, binary);
            }
            _ => self.at = start,
        }
        let args = self.list()?;
        bind_function(cx, name, args)
    }
}

/// The error as the capture script writes it.
pub fn show_error(e: &SqlError) -> String {
    format!("Error {} {}", e.code(), e.message())
}
