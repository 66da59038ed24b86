//! information_schema's tables about indexes and constraints.

use selkie_catalog::{FkAction, ForeignKey, Index, IndexKind, IndexPart, Table, TableKind};
use selkie_types::SqlResult;

use super::context::Context;
use super::rows::Rows;

/// information_schema.STATISTICS
pub fn statistics(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(1), cx.lookup(2), &mut |t| {
        let rows = (!t.indexes.is_empty()).then(|| cx.host.instance.tables.get(t).map_or(0, |r| r.rows()));
        for index in shown_order(t) {
            for (i, part) in index.parts.iter().enumerate() {
                let column = &t.columns[part.column];
                out.def().text(&t.db).text(&t.name).int(!index.unique as i64).text(&t.db).text(&index.name);
                out.uint(i as u64 + 1).text(&column.name).text_or_null(sort_letter(t, index, part.descending));
                out.int_or_null(cardinality(index, rows));
                out.int_or_null(prefix_shown(index, part)).null().text(if column.nullable { "YES" } else { "" });
                out.text(kind_word(t, index)).text("").text(&index.comment).yes_no(index.ignored);
            }
        }
    });
    Ok(())
}

/// The indexes in the order in which they are listed: the primary key, unique ones, others, full text last.
pub fn shown_order(t: &Table) -> Vec<&Index> {
    let mut order: Vec<&Index> = t.indexes.iter().collect();
    let nullable = |i: &Index| i.parts.iter().any(|p| t.columns[p.column].nullable);
    order.sort_by_key(|i| match (i.primary, i.unique, i.kind) {
        (true, ..) => 0,
        (_, true, _) => 1 + nullable(i) as u8,
        (.., IndexKind::FullText) => 4,
        _ => 3,
    });
    order
}

/// `A` or `D`; full text and hashes have no order.
pub fn sort_letter(t: &Table, index: &Index, descending: bool) -> Option<&'static str> {
    match (index.kind, descending) {
        _ if kind_word(t, index) == "HASH" => None,
        (IndexKind::FullText, _) => None,
        (_, true) => Some("D"),
        _ => Some("A"),
    }
}

/// Distinct values, as far as they are known.
pub fn cardinality(index: &Index, rows: Option<u64>) -> Option<i64> {
    match index.kind {
        IndexKind::FullText => None,
        _ => rows.map(|r| r as i64),
    }
}

/// The length of a prefix; full text indexes hold whole values.
pub fn prefix_shown(index: &Index, part: &IndexPart) -> Option<i64> {
    part.prefix.filter(|_| index.kind != IndexKind::FullText).map(i64::from)
}

/// The kind's word as SHOW INDEX prints it.
pub fn kind_word(t: &Table, index: &Index) -> &'static str {
    match index.kind {
        // What the MEMORY engine makes unless told otherwise.
        IndexKind::BTree if t.engine == "MEMORY" && !index.using_shown => "HASH",
        IndexKind::Hash if t.engine == "MEMORY" => "HASH",
        // A declared HASH is kept in order and shown as what it is.
        IndexKind::BTree | IndexKind::Hash => "BTREE",
        IndexKind::FullText => "FULLTEXT",
        IndexKind::Spatial => "SPATIAL",
    }
}

/// information_schema.KEY_COLUMN_USAGE
pub fn key_column_usage(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    let only = cx.lookup(2).map(|n| n.trim_end_matches(' '));
    let wanted = |name: &str| only.is_none_or(|o| o.eq_ignore_ascii_case(name));
    cx.stored(cx.lookup(4).or(cx.lookup(1)), cx.lookup(5), &mut |t| {
        let unique = shown_order(t).into_iter().filter(|i| i.unique && wanted(&i.name));
        for index in unique {
            for (i, part) in index.parts.iter().enumerate() {
                out.def().text(&t.db).text(&index.name).def().text(&t.db).text(&t.name);
                out.text(&t.columns[part.column].name).int(i as i64 + 1).nulls(4);
            }
        }
        for fk in t.foreign_keys.iter().filter(|f| wanted(&f.name)) {
            for (i, column) in fk.columns.iter().enumerate() {
                out.def().text(&t.db).text(&fk.name).def().text(&t.db).text(&t.name);
                out.text(&t.columns[*column].name).int(i as i64 + 1).int(i as i64 + 1);
                out.text(&fk.ref_db).text(&fk.ref_table).text_or_null(fk.ref_columns.get(i).map(String::as_str));
            }
        }
    });
    Ok(())
}

/// information_schema.TABLE_CONSTRAINTS
pub fn table_constraints(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(3).or(cx.lookup(1)), cx.lookup(4), &mut |t| {
        let mut put = |name: &str, kind: &str| {
            out.def().text(&t.db).text(name).text(&t.db).text(&t.name).text(kind);
        };
        for i in shown_order(t).into_iter().filter(|i| i.unique) {
            put(&i.name, if i.primary { "PRIMARY KEY" } else { "UNIQUE" });
        }
        for check in &t.checks {
            put(&check.name, "CHECK");
        }
        for fk in &t.foreign_keys {
            put(&fk.name, "FOREIGN KEY");
        }
    });
    Ok(())
}

/// information_schema.REFERENTIAL_CONSTRAINTS
pub fn referential_constraints(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(1), cx.lookup(9), &mut |t| {
        for fk in &t.foreign_keys {
            out.def().text(&t.db).text(&fk.name).def().text(&fk.ref_db);
            out.text_or_null(referenced_key(cx, fk).as_deref()).text("NONE");
            out.text(action_word(fk.on_update)).text(action_word(fk.on_delete)).text(&t.name).text(&fk.ref_table);
        }
    });
    Ok(())
}

/// The unique key of the referenced table that a foreign key points to.
fn referenced_key(cx: &Context<'_>, fk: &ForeignKey) -> Option<String> {
    let parent = cx.schema.table(&fk.ref_db, &fk.ref_table)?;
    let begins = |i: &&Index| {
        i.parts.len() >= fk.ref_columns.len()
            && i.parts.iter().zip(&fk.ref_columns).all(|(p, c)| parent.columns[p.column].name.eq_ignore_ascii_case(c))
    };
    parent.indexes.iter().find(begins).map(|i| i.name.clone())
}

/// An action's words.
pub fn action_word(a: FkAction) -> &'static str {
    match a {
        FkAction::Restrict => "RESTRICT",
        FkAction::NoAction => "NO ACTION",
        FkAction::Cascade => "CASCADE",
        FkAction::SetNull => "SET NULL",
        FkAction::SetDefault => "SET DEFAULT",
    }
}

/// information_schema.CHECK_CONSTRAINTS
pub fn check_constraints(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(1), cx.lookup(2), &mut |t| {
        if matches!(t.kind, TableKind::Base) {
            let columns = t.checks.iter().filter(|c| c.column.is_some());
            for check in columns.chain(t.checks.iter().filter(|c| c.column.is_none())) {
                let level = if check.column.is_some() { "Column" } else { "Table" };
                out.def().text(&t.db).text(&t.name).text(&check.name).text(level).text(&check.expr);
            }
        }
    });
    Ok(())
}

/// information_schema.INNODB_SYS_FOREIGN: one row for each foreign key.
pub fn innodb_sys_foreign(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(None, None, &mut |t| {
        for fk in &t.foreign_keys {
            out.text(&format!("{}/{}", t.db, fk.name)).text(&format!("{}/{}", t.db, t.name));
            out.text(&format!("{}/{}", fk.ref_db, fk.ref_table)).uint(fk.columns.len() as u64).uint(0);
        }
    });
    Ok(())
}
