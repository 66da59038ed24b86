//! Random expressions by the kind of their value.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::generator::COLUMNS;

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
    /// A date, or date and time.
    Temporal,
}

/// Makes expressions. `scope` holds the prefixes under which the columns can be named; empty: no columns.
pub struct Expressions {
    pub(super) rng: StdRng,
}

const WORDS: &[&str] = &["", "a", "A", "ab", "Zoë", "hello", "12", "12abc", "-7.5", "%", "_", "x y", "éa", "2024-02-29", "NULL"];

impl Expressions {
    /// With a source of randomness.
    pub fn new(rng: StdRng) -> Expressions {
        Expressions { rng }
    }

    fn pick(&mut self, from: &[&str]) -> String {
        from.choose(&mut self.rng).copied().unwrap_or_default().to_owned()
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    /// A literal; sometimes NULL.
    pub fn literal(&mut self, kind: Kind) -> String {
        if self.chance(10) {
            return "NULL".to_owned();
        }
        match kind {
            Kind::Integer => match self.rng.random_range(0..10) {
                0 => self.pick(&["0", "1", "-1", "2147483647", "-2147483648"]),
                1..7 => self.rng.random_range(0..10).to_string(),
                _ => self.rng.random_range(-1000..1000).to_string(),
            },
            Kind::Decimal => {
                let (whole, part) = (self.rng.random_range(-500..500), self.rng.random_range(0..1000));
                if self.chance(50) { format!("{whole}.{part:03}") } else { format!("{}.5", whole / 50) }
            }
            Kind::Float => {
                let (whole, exponent) = (self.rng.random_range(-99..99), self.rng.random_range(-3..4));
                format!("{whole}e{exponent}")
            }
            Kind::Text => {
                let word = WORDS.choose(&mut self.rng).copied().unwrap_or_default();
                format!("'{word}'")
            }
            Kind::Temporal => {
                let (y, m, d) =
                    (self.rng.random_range(1999..2030), self.rng.random_range(1..13), self.rng.random_range(1..29));
                if self.chance(50) {
                    format!("'{y}-{m:02}-{d:02}'")
                } else {
                    let (h, i, s) =
                        (self.rng.random_range(0..24), self.rng.random_range(0..60), self.rng.random_range(0..60));
                    format!("'{y}-{m:02}-{d:02} {h:02}:{i:02}:{s:02}'")
                }
            }
        }
    }

    fn column(&mut self, kind: Kind, scope: &[&str]) -> Option<String> {
        let prefix = scope.choose(&mut self.rng)?;
        let of_kind: Vec<&str> = COLUMNS.iter().filter(|c| c.2 == kind).map(|c| c.0).collect();
        Some(format!("{prefix}{}", of_kind.choose(&mut self.rng)?))
    }

    /// An expression of a kind, nested up to `depth`.
    pub fn value(&mut self, kind: Kind, scope: &[&str], depth: u32) -> String {
        if depth == 0 || self.chance(35) {
            if self.chance(70)
                && let Some(column) = self.column(kind, scope)
            {
                return column;
            }
            return match kind {
                Kind::Temporal => format!("CAST({} AS DATETIME)", self.literal(kind)),
                _ => self.literal(kind),
            };
        }
        let depth = depth - 1;
        if self.chance(12) {
            let (c, a, b) = (
                self.condition(scope, depth),
                self.value(kind, scope, depth),
                self.value(kind, scope, depth),
            );
            return match self.rng.random_range(0..3) {
                0 => format!("IF({c}, {a}, {b})"),
                1 => format!("COALESCE({a}, {b})"),
                _ => format!("CASE WHEN {c} THEN {a} ELSE {b} END"),
            };
        }
        match kind {
            Kind::Integer => self.integer(scope, depth),
            Kind::Decimal => self.decimal(scope, depth),
            Kind::Float => self.float(scope, depth),
            Kind::Text => self.text(scope, depth),
            Kind::Temporal => self.temporal(scope, depth),
        }
    }

    fn integer(&mut self, scope: &[&str], depth: u32) -> String {
        let a = self.value(Kind::Integer, scope, depth);
        let b = self.value(Kind::Integer, scope, depth);
        match self.rng.random_range(0..13) {
            0 => format!("({a} + {b} % 100)"),
            1 => format!("({a} % 1000 * ({b} % 7))"),
            2 => format!("({a} DIV {b})"),
            3 => format!("({a} % {b})"),
            4 => format!("ABS({a} % 5000)"),
            5 => format!("LENGTH({})", self.value(Kind::Text, scope, depth)),
            6 => format!("YEAR({})", self.value(Kind::Temporal, scope, depth)),
            7 => format!("({} & 255)", self.value(Kind::Integer, scope, depth)),
            8 => format!("({})", self.condition(scope, depth)),
            9 => format!("CAST({} AS SIGNED)", self.value(Kind::Decimal, scope, depth)),
            10 => format!("LOCATE('a', {})", self.value(Kind::Text, scope, depth)),
            11 => format!("SIGN({})", self.value(Kind::Decimal, scope, depth)),
            _ => format!("DAYOFYEAR({})", self.value(Kind::Temporal, scope, depth)),
        }
    }

    fn decimal(&mut self, scope: &[&str], depth: u32) -> String {
        let a = self.value(Kind::Decimal, scope, depth);
        let b = self.value(Kind::Decimal, scope, depth);
        match self.rng.random_range(0..7) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * 1.5)"),
            3 => format!("({a} / {b})"),
            4 => format!("ROUND({a}, {})", self.rng.random_range(-1..3)),
            5 => format!("TRUNCATE({a}, 1)"),
            _ => format!("CAST({a} AS DECIMAL(10,1))"),
        }
    }

    fn float(&mut self, scope: &[&str], depth: u32) -> String {
        let a = self.value(Kind::Float, scope, depth);
        match self.rng.random_range(0..4) {
            0 => format!("({a} + 1e0)"),
            1 => format!("({a} / 4e0)"),
            2 => format!("ROUND({a})"),
            _ => format!("FLOOR({a})"),
        }
    }

    fn text(&mut self, scope: &[&str], depth: u32) -> String {
        let a = self.value(Kind::Text, scope, depth);
        match self.rng.random_range(0..10) {
            0 => format!("CONCAT({a}, {})", self.value(Kind::Text, scope, depth)),
            1 => format!("UPPER({a})"),
            2 => format!("SUBSTRING({a}, {}, {})", self.rng.random_range(-3..5), self.rng.random_range(0..5)),
            3 => format!("REPLACE({a}, 'a', 'bb')"),
            4 => format!("CONCAT({a}, {})", self.value(Kind::Integer, scope, depth)),
            5 => format!("TRIM({a})"),
            6 => format!("LPAD({a}, {}, '*')", self.rng.random_range(0..9)),
            7 => format!("REVERSE({a})"),
            8 => format!("HEX({a})"),
            _ => format!("CAST({} AS CHAR)", self.value(Kind::Decimal, scope, depth)),
        }
    }

    fn temporal(&mut self, scope: &[&str], depth: u32) -> String {
        let a = self.value(Kind::Temporal, scope, depth);
        let n = self.rng.random_range(-40..40);
        let unit = self.pick(&["DAY", "MONTH", "YEAR", "HOUR", "MINUTE", "WEEK", "QUARTER", "SECOND"]);
        match self.rng.random_range(0..4) {
            0 => format!("({a} + INTERVAL {n} {unit})"),
            1 => format!("DATE({a})"),
            2 => format!("LAST_DAY({a})"),
            _ => format!("DATE_SUB({a}, INTERVAL {n} {unit})"),
        }
    }

    /// A condition, nested up to `depth`.
    pub fn condition(&mut self, scope: &[&str], depth: u32) -> String {
        if depth > 0 && self.chance(40) {
            let a = self.condition(scope, depth - 1);
            let b = self.condition(scope, depth - 1);
            return match self.rng.random_range(0..4) {
                0 | 1 => format!("({a} AND {b})"),
                2 => format!("({a} OR {b})"),
                _ => format!("NOT ({a})"),
            };
        }
        let depth = depth.saturating_sub(1);
        let kinds = [Kind::Integer, Kind::Decimal, Kind::Float, Kind::Text, Kind::Temporal];
        let kind = kinds.choose(&mut self.rng).copied().unwrap_or(Kind::Integer);
        let a = self.value(kind, scope, depth);
        match self.rng.random_range(0..9) {
            0 => format!("{a} IS NULL"),
            1 => format!("{a} IS NOT NULL"),
            2 => format!("{a} BETWEEN {} AND {}", self.literal(kind), self.literal(kind)),
            3 => format!("{a} IN ({}, {}, {})", self.literal(kind), self.literal(kind), self.literal(kind)),
            4 if kind == Kind::Text => format!("{a} LIKE {}", self.pick(&["'a%'", "'%b%'", "'_'", "'%'", "'h_llo'"])),
            _ => {
                let operator = self.pick(&["=", "<", ">", "<=", ">=", "<>", "<=>"]);
                format!("{a} {operator} {}", self.value(kind, scope, depth))
            }
        }
    }
}
