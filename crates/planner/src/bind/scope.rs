//! What names of tables and columns mean in one FROM clause.

use crate::logical::ColId;

/// A column that a FROM item offers.
#[derive(Debug, Clone)]
pub(crate) struct ScopeColumn {
    pub name: String,
    pub id: ColId,
    /// INVISIBLE columns are found by name but not by `*`.
    pub invisible: bool,
}

/// A table, view or derived table in FROM.
#[derive(Debug, Clone)]
pub(crate) struct ScopeTable {
    /// Database of a base table or view.
    pub db: Option<String>,
    /// Alias.
    pub alias: String,
    /// Real name of a base table or view, for privilege checks.
    pub name: Option<String>,
    pub columns: Vec<ScopeColumn>,
}

impl ScopeTable {
    pub fn column(&self, name: &str) -> Option<&ScopeColumn> {
        self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
    }

    fn is_named(&self, db: Option<&str>, table: &str) -> bool {
        self.alias == table && db.is_none_or(|d| self.db.as_deref() == Some(d))
    }
}

/// An entry of `*`: columns in order, those that USING or NATURAL joined standing once.
#[derive(Debug, Clone)]
pub(crate) struct StarColumn {
    pub name: String,
    pub id: ColId,
    pub invisible: bool,
    /// Position of the table it stands for.
    pub table: usize,
}

/// Everything that a FROM clause offers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub tables: Vec<ScopeTable>,
    pub star: Vec<StarColumn>,
}

/// Outcome of looking a name up.
pub(crate) enum Found<'a> {
    None,
    One { table: Option<&'a ScopeTable>, name: &'a str, id: ColId },
    Ambiguous,
}

impl Scope {
    /// The scope of one table.
    pub fn of(table: ScopeTable) -> Scope {
        let star = table
            .columns
            .iter()
            .map(|c| StarColumn { name: c.name.clone(), id: c.id, invisible: c.invisible, table: 0 })
            .collect();
        Scope { tables: vec![table], star }
    }

    /// Both scopes side by side. The name of a table that is in both is the error.
    pub fn concat(mut self, other: Scope) -> Result<Scope, String> {
        for t in &other.tables {
            if self.tables.iter().any(|s| s.alias == t.alias && s.db == t.db) {
                return Err(t.alias.clone());
            }
        }
        let base = self.tables.len();
        self.tables.extend(other.tables);
        self.star.extend(other.star.into_iter().map(|c| StarColumn { table: c.table + base, ..c }));
        Ok(self)
    }

    /// Looks up `[[db.]table.]name`.
    pub fn find(&self, db: Option<&str>, table: Option<&str>, name: &str) -> Found<'_> {
        if let Some(table) = table {
            let mut found = Found::None;
            for t in self.tables.iter().filter(|t| t.is_named(db, table)) {
                if let Some(c) = t.column(name) {
                    if matches!(found, Found::One { .. }) {
                        return Found::Ambiguous;
                    }
                    found = Found::One { table: Some(t), name: &c.name, id: c.id };
                }
            }
            return found;
        }
        let mut found = Found::None;
        for c in self.star.iter().filter(|c| c.name.eq_ignore_ascii_case(name)) {
            match found {
                Found::One { id, .. } if id == c.id => {}
                Found::One { .. } => return Found::Ambiguous,
                _ => found = Found::One { table: self.tables.get(c.table), name: &c.name, id: c.id },
            }
        }
        found
    }

    /// The tables that `[db.]table.*` means.
    pub fn table(&self, db: Option<&str>, table: &str) -> Option<&ScopeTable> {
        self.tables.iter().find(|t| t.is_named(db, table))
    }
}
