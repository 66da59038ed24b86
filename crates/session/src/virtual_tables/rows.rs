//! What the makers of virtual tables write into: a flat list of values, filled cell by cell.

use selkie_types::{DateTime, TimeZone, Value};

/// The rows of a virtual table under construction. Cells are put in the order of the columns; each method puts one.
#[derive(Default)]
pub struct Rows {
    values: Vec<Value>,
    catalog: Option<Value>,
}

impl Rows {
    /// None yet.
    pub fn new() -> Rows {
        Rows::default()
    }

    /// All cells, flat.
    pub fn into_values(self) -> Vec<Value> {
        self.values
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.values.len()
    }

    /// Any value.
    pub fn value(&mut self, v: Value) -> &mut Self {
        self.values.push(v);
        self
    }

    /// Text.
    pub fn text(&mut self, s: &str) -> &mut Self {
        self.value(Value::text(s))
    }

    /// Text or NULL.
    pub fn text_or_null(&mut self, s: Option<&str>) -> &mut Self {
        self.value(s.map_or(Value::Null, Value::text))
    }

    /// The catalog's name, `def`.
    pub fn def(&mut self) -> &mut Self {
        let v = self.catalog.get_or_insert_with(|| Value::text("def")).clone();
        self.value(v)
    }

    /// An unsigned number.
    pub fn uint(&mut self, n: u64) -> &mut Self {
        self.value(Value::UInt(n))
    }

    /// An unsigned number or NULL.
    pub fn uint_or_null(&mut self, n: Option<u64>) -> &mut Self {
        self.value(n.map_or(Value::Null, Value::UInt))
    }

    /// A signed number.
    pub fn int(&mut self, n: i64) -> &mut Self {
        self.value(Value::Int(n))
    }

    /// A signed number or NULL.
    pub fn int_or_null(&mut self, n: Option<i64>) -> &mut Self {
        self.value(n.map_or(Value::Null, Value::Int))
    }

    /// NULL.
    pub fn null(&mut self) -> &mut Self {
        self.value(Value::Null)
    }

    /// So many NULLs.
    pub fn nulls(&mut self, n: usize) -> &mut Self {
        self.values.extend(std::iter::repeat_n(Value::Null, n));
        self
    }

    /// `YES` or `NO`.
    pub fn yes_no(&mut self, yes: bool) -> &mut Self {
        self.text(if yes { "YES" } else { "NO" })
    }

    /// An instant in a time zone; NULL for 0.
    pub fn instant(&mut self, seconds: u64, zone: &TimeZone) -> &mut Self {
        self.value(if seconds == 0 { Value::Null } else { Value::DateTime(local(seconds, zone)) })
    }
}

/// Seconds since 1970 as local time.
pub fn local(seconds: u64, zone: &TimeZone) -> DateTime {
    zone.to_local((seconds as i64).saturating_mul(1_000_000))
}
