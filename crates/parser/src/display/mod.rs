//! From the tree back to SQL, in the words in which MariaDB shows views, defaults, checks and generated
//! columns: lower-case keywords and function names, quoted names, parentheses only where precedence wants
//! them.
//!
//! It prints the tree that it is given: whoever shows a view puts the resolved names (`t`.`a`) and aliases
//! into the tree first. Some spellings are folded as MariaDB folds them: `NOT a = b` becomes `a <> b`, `LENGTH` becomes
//! `octet_length`, a right join becomes a left one.

mod expr;
mod function;
mod query;
mod types;

use crate::ast::{CastType, DataType, Expr, Ident, Query, StrLit};

/// An expression's text.
pub fn expr(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr);
    printer.out
}

/// A query's text, as the body of a view has it.
pub fn query(query: &Query) -> String {
    let mut printer = Printer::default();
    printer.query(query, true);
    printer.out
}

/// A type's text, as declared.
pub fn data_type(ty: &DataType) -> String {
    let mut printer = Printer::default();
    printer.data_type(ty);
    printer.out
}

/// The text of a type of `CAST`.
pub fn cast_type(ty: &CastType) -> String {
    let mut printer = Printer::default();
    printer.cast_type(ty);
    printer.out
}

/// A name in backticks.
pub fn quoted_ident(name: &str) -> String {
    let mut printer = Printer::default();
    printer.name(name);
    printer.out
}

/// A string in quotes, with the escapes that MariaDB writes.
pub fn quoted_string(text: &[u8]) -> String {
    let mut printer = Printer::default();
    printer.bytes(text);
    printer.out
}

/// Text under construction.
#[derive(Default)]
struct Printer {
    out: String,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn number(&mut self, number: impl std::fmt::Display) {
        use std::fmt::Write;
        // Writing to a string does not fail.
        let _ = write!(self.out, "{number}");
    }

    fn name(&mut self, name: &str) {
        self.out.push('`');
        for c in name.chars() {
            if c == '`' {
                self.out.push('`');
            }
            self.out.push(c);
        }
        self.out.push('`');
    }

    fn ident(&mut self, ident: &Ident) {
        self.name(&ident.value);
    }

    fn list<T>(&mut self, items: &[T], separator: &str, mut print: impl FnMut(&mut Self, &T)) {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.push(separator);
            }
            print(self, item);
        }
    }

    fn idents(&mut self, idents: &[Ident]) {
        self.list(idents, ",", Self::ident);
    }

    /// A string literal: with escapes, or in hexadecimal where it is no text.
    fn bytes(&mut self, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.push("X'");
            self.hex(bytes);
            self.push("'");
            return;
        };
        self.out.push('\'');
        for c in text.chars() {
            match c {
                '\\' => self.push("\\\\"),
                '\0' => self.push("\\0"),
                '\'' => self.push("\\'"),
                '\n' => self.push("\\n"),
                '\r' => self.push("\\r"),
                '\x1a' => self.push("\\Z"),
                c => self.out.push(c),
            }
        }
        self.out.push('\'');
    }

    fn string(&mut self, literal: &StrLit) {
        match &literal.charset {
            Some(charset) => {
                self.push("_");
                self.push(&charset_name(charset));
            }
            None if std::str::from_utf8(&literal.bytes).is_err() => self.push("_binary "),
            None => {}
        }
        self.bytes(&literal.bytes);
    }

    fn hex(&mut self, bytes: &[u8]) {
        for byte in bytes {
            for digit in [byte >> 4, byte & 15] {
                self.out
                    .push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
    }
}

/// A character set's name as the server writes it.
fn charset_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if lower == "utf8" {
        "utf8mb3".into()
    } else {
        lower
    }
}
