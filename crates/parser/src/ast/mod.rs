//! The syntax tree: plain owned data, one file for each family of statements.
//!
//! It says what was written, after the syntactic sugar is gone (`BETWEEN` stays, `FIELDS FROM t` and
//! `COLUMNS IN t` are the same). Names are not resolved and nothing is checked beyond the grammar.
//! Fields are named after the words of the grammar, which is why most carry no comment of their own.
#![allow(missing_docs)]
// A tree is built once and walked by reference: boxing the larger variants would only add indirections.
#![allow(clippy::large_enum_variant)]

mod account;
mod admin;
mod ddl;
mod dml;
mod expr;
mod partition;
mod routine;
mod select;
mod show;
mod statement;
mod types;

pub use account::*;
pub use admin::*;
pub use ddl::*;
pub use dml::*;
pub use expr::*;
pub use partition::*;
pub use routine::*;
pub use select::*;
pub use show::*;
pub use statement::*;
pub use types::*;

use std::hash::{Hash, Hasher};

/// A name as written, its quotes and doubled quote characters removed.
///
/// Two names are equal if their texts are: whether one was quoted is kept for the few places where it
/// matters (a quoted word is never a keyword or a built-in function's special syntax).
#[derive(Debug, Clone, Default, Eq)]
pub struct Ident {
    pub value: String,
    pub quoted: bool,
}

impl Ident {
    /// An unquoted name.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            quoted: false,
        }
    }

    /// A name that stood in quotes.
    pub fn quoted(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            quoted: true,
        }
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Equality regardless of ASCII letter case.
    pub fn is(&self, other: &str) -> bool {
        self.value.eq_ignore_ascii_case(other)
    }
}

impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Hash for Ident {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

/// A table, view, routine, … with its database where one was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName {
    pub db: Option<Ident>,
    pub name: Ident,
}

impl ObjectName {
    /// A name without a database.
    pub fn bare(name: Ident) -> Self {
        Self { db: None, name }
    }
}
