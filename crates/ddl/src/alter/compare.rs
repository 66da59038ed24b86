//! What of a table's storage a new definition leaves as it is.

use selkie_catalog::{Index, Table};
use selkie_types::{SqlType, TextKind};

/// How much work a new definition needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Only the dictionary changes.
    Instant,
    /// Rows stay; these indexes (positions in the new table) are built.
    Indexes(Vec<usize>),
    /// All rows are written anew.
    Rebuild,
}

/// Compares two definitions. `origins` says for each new column which old one it is, `index_origins` the same for indexes.
pub fn work(old: &Table, new: &Table, origins: &[Option<usize>], index_origins: &[Option<usize>]) -> Work {
    let same_order = origins.len() == old.columns.len() && origins.iter().enumerate().all(|(i, o)| *o == Some(i));
    if !same_order {
        return Work::Rebuild;
    }
    for (o, n) in old.columns.iter().zip(&new.columns) {
        let generated = o.generated.as_ref().map(|g| &g.expr) != n.generated.as_ref().map(|g| &g.expr);
        if o.nullable != n.nullable || generated || (n.auto_increment && !o.auto_increment) || !same_rows(&o.ty, &n.ty)
        {
            return Work::Rebuild;
        }
    }
    let primary = |t: &Table| t.primary_key().cloned();
    match (primary(old), primary(new)) {
        (None, None) => {}
        (Some(o), Some(n)) if same_entries(old, &o, new, &n) => {}
        _ => return Work::Rebuild,
    }
    let mut build = Vec::new();
    for (i, n) in new.indexes.iter().enumerate() {
        let kept = index_origins[i].is_some_and(|o| same_entries(old, &old.indexes[o], new, n));
        if !kept {
            build.push(i);
        }
    }
    if build.is_empty() { Work::Instant } else { Work::Indexes(build) }
}

/// Whether the entries of two indexes are the same bytes. Columns of both tables correspond by position.
fn same_entries(old: &Table, o: &Index, new: &Table, n: &Index) -> bool {
    let kind = |i: &Index| i.kind == selkie_catalog::IndexKind::FullText;
    o.unique == n.unique
        && o.parts.len() == n.parts.len()
        && kind(o) == kind(n)
        && o.parts.iter().zip(&n.parts).all(|(a, b)| {
            a.column == b.column
                && a.descending == b.descending
                && a.prefix == b.prefix
                && same_key(&old.columns[a.column].ty, &new.columns[b.column].ty)
        })
}

/// Whether stored values of one type are values of the other, bytes and all.
pub fn same_rows(a: &SqlType, b: &SqlType) -> bool {
    match (a, b) {
        (SqlType::Int { width: w1, unsigned: u1, .. }, SqlType::Int { width: w2, unsigned: u2, .. }) => {
            w1 == w2 && u1 == u2
        }
        (SqlType::Year(_), SqlType::Year(_)) => true,
        (SqlType::Text { kind: k1, len: l1, collation: c1 }, SqlType::Text { kind: k2, len: l2, collation: c2 }) => {
            let short = |k: &TextKind| matches!(k, TextKind::Char | TextKind::VarChar);
            // Text is kept in UTF-8 whatever the character set says: a wider one takes every text that a narrower one has.
            let charset = c1 == c2
                || c1.charset() == c2.charset()
                || (!c1.is_binary() && c2.charset() == selkie_types::Charset::Utf8mb4);
            let kind = k1 == k2 || (!short(k1) && !short(k2));
            let fixed = *k1 == TextKind::Char && c1.is_binary();
            charset && kind && l2 >= l1 && (!fixed || l1 == l2)
        }
        (SqlType::Enum(d1), SqlType::Enum(d2)) => {
            let width = |n: usize| n > 255;
            d2.members.starts_with(&d1.members) && width(d1.members.len()) == width(d2.members.len())
        }
        (SqlType::Set(d1), SqlType::Set(d2)) => {
            let width = |n: usize| n.div_ceil(8).max(1);
            d2.members.starts_with(&d1.members) && width(d1.members.len()) == width(d2.members.len())
        }
        (a, b) => a == b,
    }
}

/// Whether a value has the same key bytes in both types.
fn same_key(a: &SqlType, b: &SqlType) -> bool {
    same_rows(a, b)
        && match (a, b) {
            (SqlType::Text { collation: c1, .. }, SqlType::Text { collation: c2, .. }) => c1 == c2,
            _ => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_types::{Collation, IntWidth};

    #[test]
    fn what_stays_as_it_is() {
        let vc = |len, c| SqlType::varchar(len, c);
        let (general, latin1) = (Collation::UTF8MB4_GENERAL_CI, Collation::LATIN1_SWEDISH_CI);
        assert!(same_rows(&vc(10, general), &vc(20, general)));
        assert!(!same_rows(&vc(20, general), &vc(10, general)));
        assert!(same_rows(&vc(10, latin1), &vc(10, general)));
        assert!(!same_key(&vc(10, latin1), &vc(10, general)));
        assert!(!same_rows(&vc(10, general), &vc(10, latin1)));
        assert!(!same_rows(&vc(10, Collation::BINARY), &vc(10, general)));
        let int = |width, unsigned| SqlType::int(width, unsigned);
        assert!(!same_rows(&int(IntWidth::Int, false), &int(IntWidth::Big, false)));
        assert!(!same_rows(&int(IntWidth::Int, false), &int(IntWidth::Int, true)));
    }
}
