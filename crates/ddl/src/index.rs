//! From indexes as declared to indexes of the dictionary: names, prefixes, lengths, order.

use selkie_catalog::{Column, Index, IndexKind, IndexPart};
use selkie_parser::ast::{self, IndexAlgorithm};
use selkie_types::{Diagnostics, SqlResult, SqlType, TextKind, sql_err};

use crate::column::DraftColumn;
use crate::names;

/// Longest key in bytes, as InnoDB's.
pub const KEY_BYTES_MAX: u32 = 3072;
/// Most parts of a key.
const PARTS_MAX: usize = 32;
/// Most indexes of a table.
pub const INDEXES_MAX: usize = 64;
/// Longest comment of an index in characters.
const COMMENT_CHARS_MAX: usize = 1024;
/// Characters of each text that a FULLTEXT index keeps while it is an ordinary index.
const FULLTEXT_PREFIX: u32 = 16;

/// A part of an index of a table that is being defined.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftPart {
    /// Column's name.
    pub column: String,
    /// Prefix length as declared.
    pub prefix: Option<u64>,
    /// DESC
    pub descending: bool,
}

/// An index of a table that is being defined.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftIndex {
    /// Name, if it has one yet.
    pub name: Option<String>,
    /// PRIMARY KEY
    pub primary: bool,
    /// UNIQUE
    pub unique: bool,
    /// Kind.
    pub kind: IndexKind,
    /// Parts.
    pub parts: Vec<DraftPart>,
    /// COMMENT
    pub comment: String,
    /// IGNORED
    pub ignored: bool,
    /// USING was written.
    pub using_shown: bool,
    /// Made for a FOREIGN KEY rather than declared: left out where another index serves.
    pub generated: bool,
    /// KEY_BLOCK_SIZE
    pub key_block_size: u32,
    /// Position in the table that it comes from (ALTER TABLE).
    pub origin: Option<usize>,
    /// Whether one of its columns could be NULL in the table that it comes from: ALTER TABLE orders indexes by what they were.
    pub had_null: Option<bool>,
}

impl DraftIndex {
    /// An index on whole columns.
    pub fn on(columns: &[String], name: Option<String>) -> DraftIndex {
        let part = |c: &String| DraftPart { column: c.clone(), prefix: None, descending: false };
        DraftIndex {
            name,
            primary: false,
            unique: false,
            kind: IndexKind::BTree,
            parts: columns.iter().map(part).collect(),
            comment: String::new(),
            ignored: false,
            using_shown: false,
            generated: false,
            key_block_size: 0,
            origin: None,
            had_null: None,
        }
    }

    /// From a declaration.
    pub fn declared(def: &ast::IndexDef) -> SqlResult<DraftIndex> {
        let primary = def.kind == ast::IndexKind::Primary;
        let name = def.name.as_ref().or(def.constraint.as_ref());
        if let (Some(n), false) = (name, primary) {
            names::check_index(n)?;
        }
        let comment = def.options.comment.clone().unwrap_or_default();
        if comment.chars().count() > COMMENT_CHARS_MAX {
            let name = name.map_or("", |n| n.as_str());
            return Err(sql_err!(ER_TOO_LONG_INDEX_COMMENT, name, COMMENT_CHARS_MAX));
        }
        if primary && def.options.ignored == Some(true) {
            return Err(sql_err!(ER_PK_INDEX_CANT_BE_IGNORED));
        }
        if def.parts.iter().any(|p| p.without_overlaps) {
            return Err(sql_err!(ER_NOT_SUPPORTED_YET, "WITHOUT OVERLAPS"));
        }
        if let Some(p) = def.parts.iter().find(|p| p.length == Some(0)) {
            return Err(sql_err!(ER_KEY_PART_0, p.column.as_str()));
        }
        let kind = match (def.kind, def.options.algorithm) {
            (ast::IndexKind::FullText, _) => IndexKind::FullText,
            (ast::IndexKind::Spatial, _) | (_, Some(IndexAlgorithm::RTree)) => IndexKind::Spatial,
            (_, Some(IndexAlgorithm::Hash)) => IndexKind::Hash,
            _ => IndexKind::BTree,
        };
        Ok(DraftIndex {
            name: if primary { Some("PRIMARY".into()) } else { name.map(|n| n.value.clone()) },
            primary,
            unique: primary || def.kind == ast::IndexKind::Unique,
            kind,
            parts: def
                .parts
                .iter()
                .map(|p| DraftPart { column: p.column.value.clone(), prefix: p.length, descending: p.desc })
                .collect(),
            comment,
            ignored: def.options.ignored == Some(true),
            using_shown: def.options.algorithm.is_some(),
            generated: false,
            key_block_size: def.options.key_block_size.unwrap_or(0).min(u32::MAX as u64) as u32,
            origin: None,
            had_null: None,
        })
    }

    /// Whether its first parts are exactly these whole columns, in order.
    pub fn begins_with(&self, columns: &[String]) -> bool {
        self.kind != IndexKind::FullText
            && self.parts.len() >= columns.len()
            && columns.iter().zip(&self.parts).all(|(c, p)| names::same(c, &p.column) && p.prefix.is_none())
    }
}

/// Resolves the parts of all indexes, names those without a name, and puts them into MariaDB's order. Columns of a primary key
/// become NOT NULL.
pub fn resolve(
    drafts: &mut Vec<DraftIndex>,
    columns: &mut [DraftColumn],
    diag: &mut Diagnostics,
) -> SqlResult<Vec<Index>> {
    if drafts.iter().filter(|d| d.primary).count() > 1 {
        return Err(sql_err!(ER_MULTIPLE_PRI_KEY));
    }
    drop_superfluous(drafts);
    if drafts.len() > INDEXES_MAX {
        return Err(sql_err!(ER_TOO_MANY_KEYS, INDEXES_MAX));
    }
    // The primary key first: what it makes NOT NULL decides the order of the others.
    let mut resolved = Vec::with_capacity(drafts.len());
    let order: Vec<usize> = (0..drafts.len())
        .filter(|i| drafts[*i].primary)
        .chain((0..drafts.len()).filter(|i| !drafts[*i].primary))
        .collect();
    for i in order {
        resolved.push((i, resolve_one(&drafts[i], columns, diag)?));
    }
    resolved.sort_by_key(|(i, _)| *i);
    for n in 0..drafts.len() {
        // A generated name looks at the indexes before it only, as MariaDB's does.
        let name = match &drafts[n].name {
            Some(name) => name.clone(),
            None => generated_name(&drafts[n].parts[0].column, &drafts[..n]),
        };
        if drafts[..n].iter().any(|o| o.name.as_ref().is_some_and(|o| names::same(o, &name))) {
            return Err(sql_err!(ER_DUP_KEYNAME, name));
        }
        resolved[n].1.name.clone_from(&name);
        drafts[n].name = Some(name);
    }
    for n in 0..resolved.len() {
        let (_, index) = &resolved[n];
        if drafts[n].origin.is_some() || index.primary || drafts[n].generated {
            continue;
        }
        // Said of new indexes that equal one that is there or comes before.
        let twin = |o: &Index| !o.primary && o.parts == index.parts && o.kind == index.kind && o.unique == index.unique;
        if resolved[..n].iter().any(|(_, o)| twin(o)) {
            diag.note(sql_err!(ER_DUP_INDEX, index.name));
        }
    }
    let mut order: Vec<usize> = (0..resolved.len()).collect();
    order.sort_by_key(|i| {
        let index = &resolved[*i].1;
        let null_now = index.parts.iter().any(|p| columns[p.column].column.nullable);
        let has_null = drafts[*i].had_null.unwrap_or(null_now);
        let has_prefix = index.parts.iter().any(|p| p.prefix.is_some());
        (
            !index.primary,
            !index.unique,
            index.unique && has_null,
            index.unique && has_prefix,
            index.kind == IndexKind::FullText,
            *i,
        )
    });
    let sorted_drafts = order.iter().map(|i| drafts[*i].clone()).collect();
    let mut by_position: Vec<Option<Index>> = resolved.into_iter().map(|(_, i)| Some(i)).collect();
    let indexes = order.iter().filter_map(|i| by_position[*i].take()).collect();
    *drafts = sorted_drafts;
    Ok(indexes)
}

/// Leaves out indexes made for foreign keys where another one begins with the same columns.
fn drop_superfluous(drafts: &mut Vec<DraftIndex>) {
    let mut i = 0;
    while i < drafts.len() {
        let columns: Vec<String> = drafts[i].parts.iter().map(|p| p.column.clone()).collect();
        let serves = |(j, o): (usize, &DraftIndex)| {
            j != i && o.begins_with(&columns) && (!o.generated || o.parts.len() > columns.len() || j > i)
        };
        if drafts[i].generated && drafts.iter().enumerate().any(serves) {
            drafts.remove(i);
        } else {
            i += 1;
        }
    }
}

fn generated_name(column: &str, drafts: &[DraftIndex]) -> String {
    let taken = |name: &str| {
        names::same(name, "PRIMARY") || drafts.iter().any(|d| d.name.as_ref().is_some_and(|n| names::same(n, name)))
    };
    if !taken(column) {
        return column.to_owned();
    }
    (2..).map(|n| format!("{column}_{n}")).find(|n| !taken(n)).unwrap_or_default()
}

fn resolve_one(d: &DraftIndex, columns: &mut [DraftColumn], diag: &mut Diagnostics) -> SqlResult<Index> {
    if d.parts.len() > PARTS_MAX {
        return Err(sql_err!(ER_TOO_MANY_KEY_PARTS, PARTS_MAX));
    }
    let mut index = Index {
        name: d.name.clone().unwrap_or_default(),
        primary: d.primary,
        unique: d.unique,
        kind: d.kind,
        parts: Vec::with_capacity(d.parts.len()),
        comment: d.comment.clone(),
        ignored: d.ignored,
        using_shown: d.using_shown,
        generated: d.generated,
        key_block_size: d.key_block_size,
    };
    let mut bytes = 0u32;
    for (i, p) in d.parts.iter().enumerate() {
        let Some(position) = columns.iter().position(|c| names::same(&c.column.name, &p.column)) else {
            return Err(sql_err!(ER_KEY_COLUMN_DOES_NOT_EXIST, p.column));
        };
        if d.parts[..i].iter().any(|o| names::same(&o.column, &p.column)) {
            return Err(sql_err!(ER_DUP_FIELDNAME, p.column));
        }
        let column = &mut columns[position];
        if d.primary {
            not_null(column)?;
        }
        let (prefix, part_bytes) = part_prefix(d, p, &column.column, diag)?;
        bytes = bytes.saturating_add(part_bytes);
        index.parts.push(IndexPart { column: position, prefix, descending: p.descending });
    }
    if bytes > KEY_BYTES_MAX && d.kind != IndexKind::FullText {
        if !d.unique || d.primary {
            return Err(sql_err!(ER_TOO_LONG_KEY, KEY_BYTES_MAX));
        }
        index.kind = IndexKind::Hash;
        index.using_shown = true;
    }
    Ok(index)
}

fn not_null(c: &mut DraftColumn) -> SqlResult<()> {
    if c.column.generated.is_some() {
        return Err(sql_err!(ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN));
    }
    if c.column.nullable {
        c.column.nullable = false;
        if c.column.default == selkie_catalog::ColumnDefault::Null {
            c.column.default = selkie_catalog::ColumnDefault::None;
        }
    }
    Ok(())
}

/// The prefix that a part is kept with, and the bytes that MariaDB counts for it.
fn part_prefix(d: &DraftIndex, p: &DraftPart, c: &Column, diag: &mut Diagnostics) -> SqlResult<(Option<u32>, u32)> {
    if d.kind == IndexKind::Spatial {
        return Err(sql_err!(ER_SPATIAL_MUST_HAVE_GEOM_COL));
    }
    let SqlType::Text { kind, len, collation } = &c.ty else {
        if d.kind == IndexKind::FullText {
            return Err(sql_err!(ER_BAD_FT_COLUMN, c.name));
        }
        if p.prefix.is_some() {
            return Err(sql_err!(ER_WRONG_SUB_KEY));
        }
        return Ok((None, crate::types::row_bytes(&c.ty)));
    };
    let char_bytes = collation.charset().max_len();
    if d.kind == IndexKind::FullText {
        if collation.is_binary() {
            return Err(sql_err!(ER_BAD_FT_COLUMN, c.name));
        }
        return Ok((Some(FULLTEXT_PREFIX), 0));
    }
    let lob = !matches!(kind, TextKind::Char | TextKind::VarChar);
    let chars = match p.prefix {
        None if lob && d.primary => return Err(sql_err!(ER_BLOB_KEY_WITHOUT_LENGTH, c.name)),
        None if lob && d.unique => return Ok((None, KEY_BYTES_MAX + 1)),
        None if lob && d.parts.len() > 1 => return Err(sql_err!(ER_BLOB_KEY_WITHOUT_LENGTH, c.name)),
        None => *len as u64,
        Some(n) if !lob && n > *len as u64 => return Err(sql_err!(ER_WRONG_SUB_KEY)),
        Some(n) => n,
    };
    let bytes = chars.saturating_mul(char_bytes as u64);
    if bytes > KEY_BYTES_MAX as u64 && !d.unique && d.parts.len() == 1 {
        diag.note(sql_err!(ER_TOO_LONG_KEY, KEY_BYTES_MAX));
        let chars = KEY_BYTES_MAX / char_bytes;
        return Ok((Some(chars), chars * char_bytes));
    }
    let prefix = (lob || chars < *len as u64).then_some(chars as u32);
    Ok((prefix.filter(|_| p.prefix.is_some()), bytes.min(u32::MAX as u64) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::column_of_type;

    fn draft(name: &str, ty: SqlType) -> DraftColumn {
        DraftColumn { column: column_of_type(name, &ty, true), origin: None, new_expr: None }
    }

    #[test]
    fn names_come_from_the_first_column() {
        let mut columns = vec![draft("a", SqlType::BIGINT), draft("b", SqlType::BIGINT)];
        let mut drafts = vec![
            DraftIndex::on(&["a".into()], None),
            DraftIndex::on(&["a".into(), "b".into()], None),
            DraftIndex { unique: true, ..DraftIndex::on(&["a".into()], None) },
        ];
        let indexes = resolve(&mut drafts, &mut columns, &mut Diagnostics::default()).unwrap();
        let names: Vec<&str> = indexes.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["a_3", "a", "a_2"]);
    }

    #[test]
    fn an_index_for_a_foreign_key_gives_way() {
        let mut columns = vec![draft("a", SqlType::BIGINT), draft("b", SqlType::BIGINT)];
        let generated = DraftIndex { generated: true, ..DraftIndex::on(&["a".into()], Some("fk".into())) };
        let mut drafts = vec![generated.clone(), generated, DraftIndex::on(&["a".into(), "b".into()], None)];
        let indexes = resolve(&mut drafts, &mut columns, &mut Diagnostics::default()).unwrap();
        assert_eq!(indexes.len(), 1);
        assert_eq!(indexes[0].name, "a");
    }
}
