//! Random expressions by the kind of their value.

use super::draw::Draw;
use super::templates;

/// What an expression's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// An exact number.
    Decimal,
    /// A floating-point number.
    Float,
    /// Text.
    Text,
    /// A date.
    Date,
    /// A date with a time.
    DateTime,
    /// A time of day, or a duration.
    Time,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] =
        &[Kind::Integer, Kind::Decimal, Kind::Float, Kind::Text, Kind::Date, Kind::DateTime, Kind::Time];

    /// Dates and times. What they become where another type is wanted is an area of its own in MariaDB, full of
    /// exceptions (COMPAT.md): conversions to and from them are made by functions that say so.
    pub fn is_temporal(self) -> bool {
        matches!(self, Kind::Date | Kind::DateTime | Kind::Time)
    }

    /// The kind that a letter stands for in a template.
    pub fn of_letter(letter: char) -> Option<Kind> {
        Some(match letter {
            'i' => Kind::Integer,
            'd' => Kind::Decimal,
            'f' => Kind::Float,
            's' => Kind::Text,
            'D' => Kind::Date,
            'T' => Kind::DateTime,
            't' => Kind::Time,
            _ => return None,
        })
    }
}

/// A column as it can be named in an expression.
#[derive(Debug, Clone)]
pub struct Name {
    /// With its table's alias where needed.
    pub text: String,
    /// Its kind.
    pub kind: Kind,
}

/// A subquery of one column that an expression may contain.
#[derive(Debug, Clone)]
pub struct Inner {
    /// Its tables' text behind FROM.
    pub from: String,
    /// Its own columns.
    pub names: Vec<Name>,
}

const WORDS: &[&str] = &[
    "", "a", "A", "ab", "Zoë", "hello", "Hello", "12", "12abc", "-7.5", "1e2", "%", "_", "x y", "ñu", "2024-02-29", "NULL",
    "0", "10:11:12", "a,b", "日本", "😀", " lead", "trail ", "0x1F", "o''k", "back\\\\slash", "b", "abcabc",
];
const PATTERNS: &[&str] = &["'a%'", "'%b%'", "'_'", "'%'", "'h_llo'", "'%\\\\%%'", "''", "'__'", "'A%'", "'%ë'", "'1%'"];
const REGEXPS: &[&str] = &["'^a'", "'[a-c]+'", "'o$'", "'[0-9]+'", "'.'", "'(a|b)c?'", "'l{2}'", "'[[:alpha:]]'", "'^$'", "'\\\\d'", "'h.*o'"];
const UNITS: &[&str] =
    &["DAY", "MONTH", "YEAR", "HOUR", "MINUTE", "WEEK", "QUARTER", "SECOND", "MICROSECOND"];

/// Makes expressions.
pub struct Expressions {
    pub(super) draw: Draw,
    /// Rows that subqueries may read.
    pub(super) inner: Vec<Inner>,
    /// Values of one kind may stand where another is wanted.
    pub(super) mixing: bool,
    /// How deep subqueries are nested now.
    nesting: u32,
}

impl Expressions {
    /// With a source of randomness.
    pub fn new(draw: Draw) -> Expressions {
        Expressions { draw, inner: Vec::new(), mixing: true, nesting: 0 }
    }

    /// A kind.
    pub fn kind(&mut self) -> Kind {
        self.draw.of(Kind::ALL).copied().unwrap_or(Kind::Integer)
    }

    /// A kind that converts to others.
    pub fn plain_kind(&mut self) -> Kind {
        self.draw.of(&[Kind::Integer, Kind::Decimal, Kind::Float, Kind::Text]).copied().unwrap_or(Kind::Integer)
    }

    /// A text literal.
    pub fn word(&mut self) -> String {
        format!("'{}'", self.draw.pick(WORDS))
    }

    fn date(&mut self) -> String {
        match self.draw.below(20) {
            0 => self.draw.pick(&["1000-01-01", "9999-12-31", "1970-01-01", "2024-02-29", "1999-12-31", "2000-01-01"]).into(),
            _ => format!("{}-{:02}-{:02}", self.draw.range(1999, 2030), self.draw.range(1, 13), self.draw.range(1, 29)),
        }
    }

    fn time(&mut self) -> String {
        match self.draw.below(15) {
            0 => self.draw.pick(&["00:00:00", "23:59:59", "838:59:59", "-838:59:59", "-00:00:01", "100:30:00"]).into(),
            1 => format!("{:02}:{:02}:{:02}.{}", self.draw.range(0, 24), self.draw.range(0, 60), self.draw.range(0, 60), self.draw.range(0, 100)),
            _ => format!("{:02}:{:02}:{:02}", self.draw.range(0, 24), self.draw.range(0, 60), self.draw.range(0, 60)),
        }
    }

    /// A value for a column of a kind; sometimes NULL, at times an edge.
    pub fn literal(&mut self, kind: Kind) -> String {
        if self.draw.chance(8) {
            return "NULL".to_owned();
        }
        match kind {
            Kind::Integer => match self.draw.below(30) {
                0 => self.draw.pick(&["2147483647", "-2147483648", "127", "-128", "255", "32767", "65535", "4294967295"]).into(),
                1 => self.draw.pick(&["0", "1", "-1", "TRUE"]).into(),
                2..20 => self.draw.range(0, 10).to_string(),
                _ => self.draw.range(-1000, 1000).to_string(),
            },
            Kind::Decimal => match self.draw.below(12) {
                0 => self.draw.pick(&["0.0", "-0.5", "0.001", "99999.999", "12345678.123456789", "1.50", ".5", "0.4999999"]).into(),
                1..6 => format!("{}.{:03}", self.draw.range(-500, 500), self.draw.range(0, 1000)),
                _ => format!("{}.5", self.draw.range(-10, 10)),
            },
            Kind::Float => match self.draw.below(12) {
                0 => self.draw.pick(&["0e0", "1e20", "-1e-10", "1.5e3", "1e15", "123456789e-3"]).into(),
                _ => format!("{}e{}", self.draw.range(-99, 99), self.draw.range(-3, 4)),
            },
            Kind::Text => self.word(),
            Kind::Date => format!("'{}'", self.date()),
            Kind::DateTime => format!("'{} {}'", self.date(), self.time_of_day()),
            Kind::Time => format!("'{}'", self.time()),
        }
    }

    fn time_of_day(&mut self) -> String {
        let time = format!("{:02}:{:02}:{:02}", self.draw.range(0, 24), self.draw.range(0, 60), self.draw.range(0, 60));
        if self.draw.chance(20) { format!("{time}.{}", self.draw.range(0, 1000)) } else { time }
    }

    /// A literal whose type is of the kind, also where nothing around says it.
    pub fn typed_literal(&mut self, kind: Kind) -> String {
        let literal = self.literal(kind);
        if literal == "NULL" {
            return literal;
        }
        match kind {
            Kind::Date => format!("DATE{literal}"),
            Kind::DateTime => format!("TIMESTAMP{literal}"),
            Kind::Time => format!("TIME{literal}"),
            _ => literal,
        }
    }

    fn column(&mut self, kind: Kind, scope: &[Name]) -> Option<String> {
        let fitting: Vec<&Name> = scope.iter().filter(|n| n.kind == kind).collect();
        self.draw.of(&fitting).map(|n| n.text.clone())
    }

    /// An expression of a kind, nested up to `depth`.
    pub fn value(&mut self, kind: Kind, scope: &[Name], depth: u32) -> String {
        if self.mixing && !kind.is_temporal() && self.draw.chance(4) {
            // Something else: it is converted.
            let other = self.plain_kind();
            return if other == kind { self.typed_literal(kind) } else { self.value(other, scope, 0) };
        }
        if depth == 0 || self.draw.chance(30) {
            if self.draw.chance(70)
                && let Some(column) = self.column(kind, scope)
            {
                return column;
            }
            return self.typed_literal(kind);
        }
        if self.draw.chance(2)
            && let Some(subquery) = self.scalar_subquery(kind, scope)
        {
            return subquery;
        }
        let shapes = if self.draw.chance(12) {
            templates::ANY
        } else {
            match kind {
                Kind::Integer => templates::INTEGER,
                Kind::Decimal => templates::DECIMAL,
                Kind::Float => templates::FLOAT,
                Kind::Text => templates::TEXT,
                Kind::Date => templates::DATE,
                Kind::DateTime => templates::DATETIME,
                Kind::Time => templates::TIME,
            }
        };
        let shape = self.draw.pick(shapes);
        self.fill(shape, kind, scope, depth - 1)
    }

    /// Fills a template in; `{v}` is of `kind`.
    fn fill(&mut self, shape: &str, kind: Kind, scope: &[Name], depth: u32) -> String {
        let mut out = String::new();
        let mut rest = shape;
        while let Some(at) = rest.find('{') {
            let (before, after) = rest.split_at(at);
            out.push_str(before);
            let mut inside = after.chars().skip(1);
            let (letter, end) = (inside.next().unwrap_or(' '), inside.next());
            if end != Some('}') {
                // A brace of the text itself.
                out.push('{');
                rest = &after[1..];
                continue;
            }
            rest = &after[2 + letter.len_utf8()..];
            let part = match letter {
                'v' => self.value(kind, scope, depth),
                'L' => self.typed_literal(kind),
                'x' => {
                    let any = self.kind();
                    self.value(any, scope, depth)
                }
                'y' => {
                    let plain = if self.mixing { self.plain_kind() } else { Kind::Integer };
                    self.value(plain, scope, depth)
                }
                'w' => self.value(Kind::Text, scope, 0),
                'c' => self.condition(scope, depth),
                'n' => self.draw.range(-6, 12).to_string(),
                'p' => self.draw.range(1, 9).to_string(),
                'k' => self.word(),
                'l' => self.draw.pick(PATTERNS).to_owned(),
                'e' => self.draw.pick(REGEXPS).to_owned(),
                'u' => self.draw.pick(UNITS).to_owned(),
                letter => Kind::of_letter(letter).map_or_else(String::new, |kind| self.value(kind, scope, depth)),
            };
            // A minus sign before a minus sign would begin a comment.
            if out.ends_with('-') && part.starts_with('-') {
                out.push(' ');
            }
            out.push_str(&part);
        }
        out.push_str(rest);
        out
    }

    /// A condition, nested up to `depth`.
    pub fn condition(&mut self, scope: &[Name], depth: u32) -> String {
        if self.draw.chance(6)
            && let Some(predicate) = self.subquery_predicate(scope)
        {
            return predicate;
        }
        if depth > 0 && self.draw.chance(30) {
            let (a, b) = (self.condition(scope, depth - 1), self.condition(scope, depth - 1));
            return match self.draw.below(4) {
                0 | 1 => format!("({a} AND {b})"),
                2 => format!("({a} OR {b})"),
                _ => format!("NOT ({a})"),
            };
        }
        let kind = self.kind();
        let shape = self.draw.pick(templates::CONDITION);
        if depth == 0 && shape.contains("{c}") {
            return format!("{} IS NOT NULL", self.value(kind, scope, 0));
        }
        self.fill(shape, kind, scope, depth.saturating_sub(1))
    }

    /// Enters a subquery: its own rows, under the alias for this depth.
    fn enter(&mut self) -> Option<Inner> {
        if self.nesting >= 2 || self.inner.is_empty() {
            return None;
        }
        let chosen = self.draw.of(&self.inner).cloned()?;
        self.nesting += 1;
        let alias = format!("q{}", self.nesting);
        let names = chosen.names.iter().map(|n| Name { text: format!("{alias}.{}", n.text), kind: n.kind }).collect();
        Some(Inner { from: format!("{} {alias}", chosen.from), names })
    }

    /// A WHERE clause of a subquery: on its own columns, with the outer ones, or none.
    fn inner_where(&mut self, own: &[Name], outer: &[Name]) -> String {
        match self.draw.below(4) {
            0 => String::new(),
            1 => format!(" WHERE {}", self.condition(own, 1)),
            2 => {
                let kind = self.kind();
                let (a, b) = (self.value(kind, own, 0), self.value(kind, outer, 0));
                format!(" WHERE {a} = {b}")
            }
            _ => {
                let mut all = own.to_vec();
                all.extend_from_slice(outer);
                format!(" WHERE {}", self.condition(&all, 1))
            }
        }
    }

    fn scalar_subquery(&mut self, kind: Kind, outer: &[Name]) -> Option<String> {
        let inner = self.enter()?;
        let value = self.value(kind, &inner.names, 0);
        let condition = self.inner_where(&inner.names, outer);
        let from = &inner.from;
        let text = match self.draw.below(4) {
            0 => format!("(SELECT COUNT(*) FROM {from}{condition})"),
            1 if kind != Kind::Text => format!("(SELECT MAX({value}) FROM {from}{condition})"),
            2 if matches!(kind, Kind::Integer | Kind::Decimal) => format!("(SELECT SUM({value}) FROM {from}{condition})"),
            _ => {
                let id = inner.names.first().map_or("1", |n| n.text.as_str());
                format!("(SELECT {value} FROM {from}{condition} ORDER BY {id} LIMIT 1)")
            }
        };
        self.nesting -= 1;
        Some(text)
    }

    fn subquery_predicate(&mut self, outer: &[Name]) -> Option<String> {
        let inner = self.enter()?;
        let kind = self.kind();
        let value = self.value(kind, &inner.names, 0);
        let condition = self.inner_where(&inner.names, outer);
        // No subquery in it: MariaDB refuses them there in rows.
        let left = self.value(kind, outer, 0);
        let from = &inner.from;
        let text = match self.draw.below(8) {
            0 => format!("EXISTS (SELECT 1 FROM {from}{condition})"),
            1 => format!("NOT EXISTS (SELECT * FROM {from}{condition})"),
            2 | 3 => format!("{left} IN (SELECT {value} FROM {from}{condition})"),
            4 => format!("{left} NOT IN (SELECT {value} FROM {from}{condition})"),
            5 => {
                let (operator, how) = (self.draw.pick(&["=", "<", ">", "<=", ">=", "<>"]), self.draw.pick(&["ANY", "ALL", "SOME"]));
                format!("{left} {operator} {how} (SELECT {value} FROM {from}{condition})")
            }
            6 => {
                let (a, b) = (self.value(Kind::Integer, outer, 0), self.value(Kind::Integer, &inner.names, 0));
                format!("({a}, {left}) IN (SELECT {b}, {value} FROM {from}{condition})")
            }
            _ => {
                let scalar = self.value(kind, outer, 0);
                format!("{scalar} >= (SELECT MIN({value}) FROM {from}{condition})")
            }
        };
        self.nesting -= 1;
        Some(text)
    }
}
