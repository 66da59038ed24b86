//! Values, SQL types, character sets and the rules by which one becomes another.
//!
//! This crate is the vocabulary of every other one: what a value is ([`Value`]), what a column or an
//! expression can hold ([`SqlType`]), how text compares ([`Collation`]), how values turn into one
//! another with MariaDB's warnings ([`convert`]), and how they are laid out as ordered keys and as
//! rows ([`codec`]). Errors that users see are made here too ([`SqlError`]), so that numbers,
//! SQLSTATEs and messages stand in one place.
//!
//! It must not know SQL text, tables, engines, sessions or the wire protocol.

pub mod charset;
pub mod codec;
pub mod convert;
pub mod datetime;
pub mod decimal;
pub mod error;
#[rustfmt::skip]
pub mod error_table;
pub mod sql_mode;
pub mod sql_type;
pub mod value;

pub use charset::{Charset, Collation};
pub use datetime::{Date, DateTime, Time, TimeZone};
pub use decimal::Decimal;
pub use error::{Diagnostics, Level, SqlError, SqlResult};
pub use error_table::codes;
pub use sql_mode::SqlMode;
pub use sql_type::{EnumDef, IntWidth, SqlType, TextKind};
pub use value::{Row, Value};
