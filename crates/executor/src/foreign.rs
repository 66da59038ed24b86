//! FOREIGN KEY constraints, checked row by row as InnoDB does.
//!
//! A row that refers to another takes a shared lock on it, so that it stays. Before a row that others refer to goes or
//! changes, they are found through their index and refused (RESTRICT), removed or changed with it (CASCADE), or cut off (SET
//! NULL). Rows that refer come first: the log then has their changes before the change that caused them.
//!
//! What a cascade does goes through the same functions as a statement's own changes, so that it is locked and logged.

use std::sync::Arc;

use selkie_catalog::keys::clustered_of;
use selkie_catalog::{FkAction, ForeignKey, Table, TableId};
use selkie_txn::{Mode, Read, Scan};
use selkie_types::codec::{encode_key_part, prefix_successor};
use selkie_types::{SqlError, SqlResult, Value, convert, sql_err};

use crate::context::ExecCtx;
use crate::row_key::RowKey;
use crate::store::{Written, lock_and_read, remove_row, replace_row};
use crate::txn_api::{ExecError, txn_error};

/// InnoDB's limit of a cascade's depth: so many rows, the statement's own one included.
const DEPTH_MAX: usize = 15;
/// InnoDB's number for passing it.
const DB_FOREIGN_EXCEED_MAX_CASCADE: u32 = 193;
/// Index entries looked at a time.
const ENTRIES: usize = 64;

/// The rows whose change led to the present one, the statement's own row first.
#[derive(Debug, Default)]
pub struct Cascade {
    rows: Vec<Step>,
    /// The constraint through which the present row is changed: its parent gets the new key only afterwards.
    through: Option<String>,
    /// Whether anything was changed already.
    changed: bool,
}

#[derive(Debug)]
struct Step {
    table: TableId,
    clustered: Vec<u8>,
    update: bool,
}

impl Cascade {
    fn enter(&mut self, table: &Table, clustered: &[u8], update: bool) {
        self.rows.push(Step { table: table.id, clustered: clustered.to_vec(), update });
    }

    /// The constraint that led to the row at hand, which need not be checked.
    pub fn through(&mut self) -> Option<String> {
        self.through.take()
    }

    fn has(&self, table: &Table, clustered: &[u8]) -> bool {
        self.rows.iter().any(|s| s.table == table.id && s.clustered == clustered)
    }

    fn updates(&self, table: &Table) -> bool {
        self.rows.iter().any(|s| s.table == table.id && s.update)
    }
}

/// Checks that the rows which `row` refers to exist, but for the constraint `except`; `before` is the row it replaces.
/// Error 1452.
pub fn check_parents(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    before: Option<&[Value]>,
    row: &[Value],
    except: Option<&str>,
) -> SqlResult<()> {
    if table.foreign_keys.is_empty() || !cx.limits.foreign_key_checks {
        return Ok(());
    }
    for fk in &table.foreign_keys {
        if except == Some(fk.name.as_str()) || fk.columns.iter().any(|&c| row[c].is_null()) {
            continue;
        }
        if before.is_some_and(|b| fk.columns.iter().all(|&c| b[c] == row[c])) {
            continue;
        }
        if !parent_exists(cx, table, fk, row)? {
            return Err(sql_err!(ER_NO_REFERENCED_ROW_2, described(table, fk)));
        }
    }
    Ok(())
}

/// Applies ON DELETE before the row at `clustered` goes. Errors: 1451, and those of the changes that it makes.
pub(crate) fn before_delete(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    row: &[Value],
    cascade: &mut Cascade,
) -> SqlResult<()> {
    each_reference(cx, table, clustered, row, None, cascade)
}

/// Applies ON UPDATE before the row at `clustered` changes. Errors: 1451, 1761, and those of the changes that it makes.
pub(crate) fn before_update(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    before: &[Value],
    after: &[Value],
    cascade: &mut Cascade,
) -> SqlResult<()> {
    each_reference(cx, table, clustered, before, Some(after), cascade)
}

/// The constraint as error messages show it.
fn described(table: &Table, fk: &ForeignKey) -> String {
    let quoted = |s: &str| format!("`{}`", s.replace('`', "``"));
    let list = |names: &mut dyn Iterator<Item = &str>| names.map(quoted).collect::<Vec<_>>().join(", ");
    let mut columns = fk.columns.iter().map(|&c| table.columns[c].name.as_str());
    let mut ref_columns = fk.ref_columns.iter().map(String::as_str);
    let db = if fk.ref_db == table.db { String::new() } else { format!("{}.", quoted(&fk.ref_db)) };
    let action = |event: &str, action: FkAction| match action {
        FkAction::Restrict => String::new(),
        FkAction::NoAction => format!(" ON {event} NO ACTION"),
        FkAction::Cascade => format!(" ON {event} CASCADE"),
        FkAction::SetNull => format!(" ON {event} SET NULL"),
        FkAction::SetDefault => format!(" ON {event} SET DEFAULT"),
    };
    format!(
        "{}.{}, CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {db}{} ({}){}{}",
        quoted(&table.db),
        quoted(&table.name),
        quoted(&fk.name),
        list(&mut columns),
        quoted(&fk.ref_table),
        list(&mut ref_columns),
        action("DELETE", fk.on_delete),
        action("UPDATE", fk.on_update),
    )
}

/// The index that begins with these columns, one of them alone if there is one.
fn index_on(table: &Table, columns: &[usize]) -> Option<usize> {
    let fits = |i: &usize| {
        let parts = &table.indexes[*i].parts;
        parts.len() >= columns.len() && parts.iter().zip(columns).all(|(p, &c)| p.column == c && p.prefix.is_none())
    };
    (0..table.indexes.len()).filter(fits).min_by_key(|&i| {
        let index = &table.indexes[i];
        (!(index.unique && index.parts.len() == columns.len()), !index.primary)
    })
}

/// The first parts of an index's key with these values; `None` if a value cannot be in the index.
fn key_of(cx: &ExecCtx<'_>, table: &Table, index: usize, values: &[&Value]) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(16);
    for (v, part) in values.iter().zip(table.key_parts(index)) {
        encode_key_part(v, part, &cx.settings.time_zone, &mut key).ok()?;
    }
    Some(key)
}

/// Positions of the columns that a foreign key refers to.
fn referenced_columns(parent: &Table, fk: &ForeignKey) -> Option<Vec<usize>> {
    fk.ref_columns.iter().map(|name| parent.column_index(name)).collect()
}

/// Finds and locks the row that a foreign key of `row` refers to.
fn parent_exists(cx: &mut ExecCtx<'_>, table: &Table, fk: &ForeignKey, row: &[Value]) -> SqlResult<bool> {
    let Some(parent) = cx.schema.table(&fk.ref_db, &fk.ref_table).cloned() else { return Ok(false) };
    let Some(columns) = referenced_columns(&parent, fk) else { return Ok(false) };
    let values: Vec<&Value> = fk.columns.iter().map(|&c| &row[c]).collect();
    if parent.id == table.id {
        // The row may refer to itself.
        let key = RowKey::new(columns.iter().map(|&c| &parent.columns[c].ty));
        if columns.iter().zip(&values).enumerate().all(|(i, (&c, v))| key.same(i, &row[c], v)) {
            return Ok(true);
        }
    }
    let Some(index) = index_on(&parent, &columns) else { return Ok(false) };
    let Some(key) = key_of(cx, &parent, index, &values) else { return Ok(false) };
    let rows = parent.rows_index();
    cx.txn.lock(rows, b"", Mode::IntentionShared, None).map_err(txn_error)?;
    let def = &parent.indexes[index];
    if def.unique && def.parts.len() == columns.len() {
        let engine_index = parent.engine_index(index);
        let mut found = Vec::new();
        cx.txn.lock(engine_index, &key, Mode::Shared, None).map_err(txn_error)?;
        let there = cx.txn.get(engine_index, &key, Read::Latest, &mut found).map_err(txn_error)?;
        if there && !def.primary {
            cx.txn.lock(rows, &found, Mode::Shared, None).map_err(txn_error)?;
        }
        return Ok(there);
    }
    let mut place = Entries::new(&parent, index, key);
    while let Some((entry, clustered)) = place.next(cx)? {
        cx.txn.lock(rows, &clustered, Mode::Shared, None).map_err(txn_error)?;
        if place.still_there(cx, &entry)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Walks over the newest entries of an index that begin with a key.
struct Entries<'a> {
    table: &'a Table,
    index: usize,
    scan: Scan,
    found: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'a> Entries<'a> {
    fn new(table: &'a Table, index: usize, low: Vec<u8>) -> Entries<'a> {
        let mut high = low.clone();
        if !prefix_successor(&mut high) {
            high.clear();
        }
        let scan = Scan::new(table.engine_index(index), Read::Latest, low, high, false);
        Entries { table, index, scan, found: Vec::new() }
    }

    /// The next entry's key, and the clustered key of its row.
    fn next(&mut self, cx: &mut ExecCtx<'_>) -> SqlResult<Option<(Vec<u8>, Vec<u8>)>> {
        if self.found.is_empty() && !self.scan.done {
            let def = &self.table.indexes[self.index];
            let found = &mut self.found;
            cx.txn
                .scan::<ExecError>(&mut self.scan, ENTRIES, &mut |key, value| {
                    let clustered = if def.primary { Some(key) } else { clustered_of(def, key, value) };
                    if let Some(c) = clustered {
                        found.push((key.to_vec(), c.to_vec()));
                    }
                    Ok(true)
                })
                .map_err(SqlError::from)?;
            self.found.reverse();
        }
        Ok(self.found.pop())
    }

    /// Whether an entry is still there after its row was locked.
    fn still_there(&self, cx: &mut ExecCtx<'_>, entry: &[u8]) -> SqlResult<bool> {
        let mut scratch = Vec::new();
        cx.txn.get(self.scan.index, entry, Read::Latest, &mut scratch).map_err(txn_error)
    }
}

/// Applies the foreign keys that refer to a row which goes (`after` is `None`) or changes.
fn each_reference(
    cx: &mut ExecCtx<'_>,
    table: &Table,
    clustered: &[u8],
    before: &[Value],
    after: Option<&[Value]>,
    cascade: &mut Cascade,
) -> SqlResult<()> {
    if !cx.limits.foreign_key_checks {
        return Ok(());
    }
    let schema = cx.schema.clone();
    let references = schema.references_to(table.id);
    if references.is_empty() {
        return Ok(());
    }
    cascade.enter(table, clustered, after.is_some());
    for (child, i) in references {
        let fk = &child.foreign_keys[*i];
        let Some(columns) = referenced_columns(table, fk) else { continue };
        if columns.iter().any(|&c| before[c].is_null()) {
            continue;
        }
        if after.is_some_and(|a| columns.iter().all(|&c| a[c] == before[c])) {
            continue;
        }
        reference(cx, child, fk, &columns, before, after, cascade)?;
    }
    cascade.rows.pop();
    Ok(())
}

/// Applies one foreign key of `child`.
fn reference(
    cx: &mut ExecCtx<'_>,
    child: &Arc<Table>,
    fk: &ForeignKey,
    columns: &[usize],
    before: &[Value],
    after: Option<&[Value]>,
    cascade: &mut Cascade,
) -> SqlResult<()> {
    let refused = |changed: bool, ignore: bool| {
        if changed && ignore {
            // The row cannot be left out any more: the whole statement must fail.
            return sql_err!(ER_ROW_IS_REFERENCED);
        }
        sql_err!(ER_ROW_IS_REFERENCED_2, described(child, fk))
    };
    let mut action = if after.is_some() { fk.on_update } else { fk.on_delete };
    if action == FkAction::NoAction || action == FkAction::SetDefault {
        action = FkAction::Restrict;
    }
    let deletes = after.is_none() && action == FkAction::Cascade;
    if !deletes && cascade.updates(child) {
        // A table is not updated twice in a cascade.
        action = FkAction::Restrict;
    }
    let values: Vec<&Value> = columns.iter().map(|&c| &before[c]).collect();
    let index = index_on(child, &fk.columns);
    let (walked, key) = match index {
        Some(i) => match key_of(cx, child, i, &values) {
            Some(key) => (i, key),
            None => return Ok(()),
        },
        // DDL makes an index for each foreign key; without one there is nothing to find rows by.
        None => return Err(sql_err!(ER_INTERNAL_ERROR, format!("no index for foreign key {}", fk.name))),
    };
    let mut entries = Entries::new(child, walked, key);
    while let Some((entry, clustered)) = entries.next(cx)? {
        cx.tick()?;
        if action == FkAction::Restrict {
            cx.txn.lock(child.rows_index(), &clustered, Mode::Shared, None).map_err(txn_error)?;
            if entries.still_there(cx, &entry)? {
                return Err(refused(cascade.changed, cx.settings.ignore));
            }
            continue;
        }
        if cascade.has(child, &clustered) {
            continue;
        }
        if cascade.rows.len() >= DEPTH_MAX {
            return Err(sql_err!(ER_GET_ERRMSG, DB_FOREIGN_EXCEED_MAX_CASCADE, described(child, fk), "InnoDB"));
        }
        cx.txn.lock(child.rows_index(), b"", Mode::IntentionExclusive, None).map_err(txn_error)?;
        let Some(row) = lock_and_read(cx, child, &clustered)? else { continue };
        if !entries.still_there(cx, &entry)? {
            continue;
        }
        if deletes {
            remove_row(cx, child, &clustered, &row, cascade)?;
            cascade.changed = true;
            continue;
        }
        let mut new = row.clone();
        for (&own, &theirs) in fk.columns.iter().zip(columns) {
            new[own] = match (action, after) {
                (FkAction::Cascade, Some(after)) => after[theirs].clone(),
                _ => Value::Null,
            };
        }
        cascade.through = Some(fk.name.clone());
        match replace_row(cx, child, &clustered, &row, &new, cascade)? {
            Written::Done => cascade.changed = true,
            Written::Duplicate { index, .. } => {
                let mut record = Vec::new();
                for (i, (v, &c)) in values.iter().zip(&fk.columns).enumerate() {
                    if i > 0 {
                        record.push(b'-');
                    }
                    convert::write_text(v, &child.columns[c].ty, &mut record);
                }
                let record = String::from_utf8_lossy(&record);
                return Err(sql_err!(
                    ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO,
                    fk.ref_table,
                    record,
                    child.name,
                    child.indexes[index].name
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use selkie_catalog::{FkAction, ForeignKey, keys::primary_key};
    use selkie_types::{SqlResult, TimeZone, Value, codes};

    use crate::context::ExecCtx;
    use crate::store::{delete_row, insert_row, lock_and_read, update_row};
    use crate::testing::{Fixture, schema, table};

    fn fk(name: &str, parent: &str, ref_column: &str, on_delete: FkAction, on_update: FkAction) -> ForeignKey {
        ForeignKey {
            name: name.into(),
            columns: vec![1],
            ref_db: "test".into(),
            ref_table: parent.into(),
            ref_columns: vec![ref_column.into()],
            on_delete,
            on_update,
        }
    }

    fn row(values: &[i64]) -> Vec<Value> {
        values.iter().map(|v| if *v < 0 { Value::Null } else { Value::Int(*v) }).collect()
    }

    fn insert(cx: &mut ExecCtx<'_>, name: &str, values: &[i64]) -> SqlResult<()> {
        let t = cx.schema.table("test", name).unwrap().clone();
        insert_row(cx, &t, &row(values)).map(|_| ())
    }

    fn key(cx: &ExecCtx<'_>, name: &str, id: i64) -> (std::sync::Arc<selkie_catalog::Table>, Vec<u8>) {
        let t = cx.schema.table("test", name).unwrap().clone();
        let mut key = Vec::new();
        primary_key(&t, &[Value::Int(id)], &TimeZone::Offset(0), &mut key).unwrap();
        (t, key)
    }

    fn delete(cx: &mut ExecCtx<'_>, name: &str, id: i64) -> SqlResult<()> {
        let (t, key) = key(cx, name, id);
        let row = lock_and_read(cx, &t, &key)?.expect("a row");
        delete_row(cx, &t, &key, &row)
    }

    fn update(cx: &mut ExecCtx<'_>, name: &str, id: i64, to: &[i64]) -> SqlResult<()> {
        let (t, key) = key(cx, name, id);
        let before = lock_and_read(cx, &t, &key)?.expect("a row");
        update_row(cx, &t, &key, &before, &row(to)).map(|_| ())
    }

    /// What was logged since the last call.
    fn told(f: &mut Fixture) -> Vec<String> {
        std::mem::take(&mut f.told.0)
    }

    #[test]
    fn a_row_must_refer_to_one_that_is_there() {
        let child = table(2, "c", &["id", "pid"], vec![fk("f", "p", "id", FkAction::Cascade, FkAction::NoAction)]);
        let mut f = Fixture::new(schema(vec![table(1, "p", &["id", "k"], vec![]), child]));
        f.run(|cx| {
            insert(cx, "p", &[1, 10]).unwrap();
            insert(cx, "c", &[1, 1]).unwrap();
            insert(cx, "c", &[2, -1]).unwrap();
            let e = insert(cx, "c", &[3, 7]).unwrap_err();
            assert_eq!(e.code(), codes::ER_NO_REFERENCED_ROW_2);
            assert_eq!(
                e.message(),
                "Cannot add or update a child row: a foreign key constraint fails (`test`.`c`, CONSTRAINT `f` FOREIGN KEY \
                 (`pid`) REFERENCES `p` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION)"
            );
            assert_eq!(update(cx, "c", 2, &[2, 9]).unwrap_err().code(), codes::ER_NO_REFERENCED_ROW_2);
            update(cx, "c", 2, &[2, 1]).unwrap();
            cx.limits.foreign_key_checks = false;
            insert(cx, "c", &[3, 7]).unwrap();
            delete(cx, "p", 1).unwrap();
        });
    }

    #[test]
    fn a_key_that_is_not_unique_may_be_referred_to() {
        let child = table(2, "c", &["id", "pk"], vec![fk("f", "p", "k", FkAction::Restrict, FkAction::Restrict)]);
        let mut f = Fixture::new(schema(vec![table(1, "p", &["id", "k"], vec![]), child]));
        f.run(|cx| {
            insert(cx, "p", &[1, 10]).unwrap();
            insert(cx, "p", &[2, 20]).unwrap();
            insert(cx, "c", &[1, 20]).unwrap();
            assert!(insert(cx, "c", &[2, 30]).is_err());
            delete(cx, "p", 1).unwrap();
            let e = delete(cx, "p", 2).unwrap_err();
            assert_eq!(
                e.message(),
                "Cannot delete or update a parent row: a foreign key constraint fails (`test`.`c`, CONSTRAINT `f` FOREIGN \
                 KEY (`pk`) REFERENCES `p` (`k`))"
            );
            assert_eq!(update(cx, "p", 2, &[2, 21]).unwrap_err().code(), codes::ER_ROW_IS_REFERENCED_2);
            update(cx, "p", 2, &[3, 20]).unwrap();
        });
    }

    #[test]
    fn cascades_change_the_rows_that_refer_first() {
        let child = table(2, "c", &["id", "pid"], vec![fk("f1", "p", "id", FkAction::Cascade, FkAction::Cascade)]);
        let grandchild =
            table(3, "g", &["id", "cid"], vec![fk("f2", "c", "id", FkAction::SetNull, FkAction::Restrict)]);
        let mut f = Fixture::new(schema(vec![table(1, "p", &["id", "k"], vec![]), child, grandchild]));
        f.run(|cx| {
            insert(cx, "p", &[1, 10]).unwrap();
            insert(cx, "c", &[5, 1]).unwrap();
            insert(cx, "c", &[6, 1]).unwrap();
            insert(cx, "g", &[8, 5]).unwrap();
            update(cx, "p", 1, &[2, 10]).unwrap();
            delete(cx, "p", 2).unwrap();
        });
        let expected = [
            "insert p 1,10",
            "insert c 5,1",
            "insert c 6,1",
            "insert g 8,5",
            "update c 5,1 -> 5,2",
            "update c 6,1 -> 6,2",
            "update p 1,10 -> 2,10",
            "update g 8,5 -> 8,NULL",
            "delete c 5,2",
            "delete c 6,2",
            "delete p 2,10",
        ];
        assert_eq!(told(&mut f), expected);
    }

    #[test]
    fn rows_that_refer_to_their_own_table() {
        let own = table(1, "s", &["id", "parent"], vec![fk("f", "s", "id", FkAction::Cascade, FkAction::Cascade)]);
        let mut f = Fixture::new(schema(vec![own]));
        f.run(|cx| {
            insert(cx, "s", &[1, 1]).unwrap();
            assert!(insert(cx, "s", &[2, 3]).is_err());
            insert(cx, "s", &[2, 1]).unwrap();
            insert(cx, "s", &[3, 2]).unwrap();
            // A table is not updated twice by a cascade.
            assert_eq!(update(cx, "s", 2, &[9, 1]).unwrap_err().code(), codes::ER_ROW_IS_REFERENCED_2);
            delete(cx, "s", 1).unwrap();
        });
        assert_eq!(told(&mut f)[3..], ["delete s 3,2", "delete s 2,1", "delete s 1,1"]);
    }

    #[test]
    fn a_cascade_of_more_than_15_levels_is_refused() {
        let own = table(1, "s", &["id", "parent"], vec![fk("f", "s", "id", FkAction::Cascade, FkAction::Restrict)]);
        let mut f = Fixture::new(schema(vec![own]));
        f.run(|cx| {
            insert(cx, "s", &[1, -1]).unwrap();
            for i in 2..20 {
                insert(cx, "s", &[i, i - 1]).unwrap();
            }
            let e = delete(cx, "s", 1).unwrap_err();
            assert_eq!(
                e.message(),
                "Got error 193 '`test`.`s`, CONSTRAINT `f` FOREIGN KEY (`parent`) REFERENCES `s` (`id`) ON DELETE CASCADE' \
                 from InnoDB"
            );
            assert!(delete(cx, "s", 4).is_err());
            delete(cx, "s", 5).unwrap();
        });
    }
}
