//! SCHEMATA, TABLES, VIEWS and PARTITIONS.

use selkie_catalog::{Table, TableKind};
use selkie_types::{Collation, SqlResult, Value};

use super::context::{Context, Db, Relation};
use super::definitions::Definition;
use super::rows::Rows;

/// information_schema.SCHEMATA
pub fn schemata(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for db in cx.databases(cx.lookup(1)) {
        let (collation, comment) = match db {
            Db::Stored(d) => (d.collation, d.comment.as_str()),
            Db::Virtual(_) => (Collation::UTF8MB3_GENERAL_CI, ""),
        };
        out.def().text(db.name()).text(collation.charset().name()).text(collation.name()).null().text(comment);
    }
    Ok(())
}

/// information_schema.TABLES
pub fn tables(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.relations(cx.lookup(1), cx.lookup(2), &mut |r| {
        out.def().text(r.db()).text(r.name());
        match r {
            Relation::Stored(t) => stored(cx, t, out),
            Relation::Virtual(d) => virtual_one(d, out),
        }
    });
    Ok(())
}

/// What SHOW FULL TABLES calls the kind of a table.
pub fn table_type(r: Relation<'_>) -> &'static str {
    match r {
        Relation::Virtual(d) if d.db == "information_schema" => "SYSTEM VIEW",
        Relation::Virtual(_) => "BASE TABLE",
        Relation::Stored(t) => match t.kind {
            TableKind::View(_) => "VIEW",
            TableKind::Sequence => "SEQUENCE",
            TableKind::Base => "BASE TABLE",
        },
    }
}

/// Sizes of a table as they are shown.
pub struct Sizes {
    /// About how many rows.
    pub rows: u64,
    /// Bytes of the rows.
    pub data_bytes: u64,
    /// Bytes of the secondary indexes.
    pub index_bytes: u64,
}

impl Sizes {
    /// Asks the engine; what it does not know is 0.
    pub fn of(cx: &Context<'_>, t: &Table) -> Sizes {
        let txns = &cx.host.instance.txns;
        let engine = if t.temporary { &txns.volatile } else { &txns.engine };
        let bytes = |id: selkie_engine::IndexId| engine.estimate_bytes(id).unwrap_or(0);
        let (mut data_bytes, mut index_bytes) = (0, 0);
        for p in &t.partitions {
            data_bytes += bytes(p.rows.into());
            index_bytes += p.indexes.iter().filter(|i| **i != p.rows).map(|i| bytes((*i).into())).sum::<u64>();
        }
        let rows = cx.host.instance.tables.get(t).map_or(0, |r| r.rows());
        Sizes { rows, data_bytes, index_bytes }
    }

    /// Average length of a row.
    pub fn row_bytes(&self) -> u64 {
        self.data_bytes.checked_div(self.rows).unwrap_or(0)
    }
}

fn stored(cx: &Context<'_>, t: &Table, out: &mut Rows) {
    out.text(table_type_of(t));
    if let TableKind::View(_) = t.kind {
        out.nulls(16).text("VIEW").nulls(2);
        return;
    }
    let sizes = Sizes::of(cx, t);
    let zone = &cx.host.hot.time_zone;
    let auto_increment = t
        .auto_increment_column()
        .map(|_| cx.host.instance.tables.get(t).map_or(t.auto_increment_start.max(1), |r| r.auto_increment()));
    out.text(&t.engine)
        .uint(10)
        .text(row_format(t))
        .uint(sizes.rows)
        .uint(sizes.row_bytes())
        .uint(sizes.data_bytes)
        .uint(0)
        .uint(sizes.index_bytes)
        .uint(0)
        .uint_or_null(auto_increment)
        .instant(t.create_time, zone)
        .nulls(2)
        .text(t.collation.name())
        .null()
        .text(&create_options(t))
        .text(&t.comment)
        .uint(0)
        .text(if t.temporary { "Y" } else { "N" });
}

fn table_type_of(t: &Table) -> &'static str {
    match t.kind {
        TableKind::View(_) => "VIEW",
        TableKind::Sequence => "SEQUENCE",
        TableKind::Base if t.temporary => "TEMPORARY",
        TableKind::Base => "BASE TABLE",
    }
}

fn row_format(t: &Table) -> &str {
    if t.kind == TableKind::Sequence {
        return "Fixed";
    }
    let declared = t.options.iter().find(|(k, _)| k.eq_ignore_ascii_case("row_format")).map(|(_, v)| v.as_str());
    match declared.map(str::to_ascii_uppercase).as_deref() {
        Some("COMPACT") => "Compact",
        Some("REDUNDANT") => "Redundant",
        Some("COMPRESSED") => "Compressed",
        Some("FIXED") => "Fixed",
        Some("PAGE") => "Page",
        _ => "Dynamic",
    }
}

fn create_options(t: &Table) -> String {
    let mut words: Vec<String> = t
        .options
        .iter()
        .map(|(k, v)| {
            let plain = k.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if plain { format!("{}={v}", k.to_ascii_lowercase()) } else { format!("`{k}`={v}") }
        })
        .collect();
    if t.partition_by.is_some() {
        words.push("partitioned".into());
    }
    words.join(" ")
}

fn virtual_one(d: &'static Definition, out: &mut Rows) {
    let engine = match d.db {
        "performance_schema" => "PERFORMANCE_SCHEMA",
        "mysql" => "Aria",
        _ if d.has_blob() => "Aria",
        _ => "MEMORY",
    };
    let format = match engine {
        "Aria" => "Page",
        _ => "Fixed",
    };
    let temporary = d.db == "information_schema";
    out.text(table_type(Relation::Virtual(d)));
    out.text(engine).uint(if temporary { 11 } else { 10 }).text(format).null();
    out.uint(0).uint(0).uint(0).uint(0).uint(0).nulls(4);
    out.text("utf8mb3_general_ci").null().text("").text("").uint(0).text(if temporary { "Y" } else { "N" });
}


/// information_schema.VIEWS
pub fn views(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(1), cx.lookup(2), &mut |t| {
        let TableKind::View(v) = &t.kind else { return };
        let may_see = cx.account().on_table(&t.db, &t.name).has(crate::accounts::Privileges::by_name("SHOW VIEW"));
        out.def().text(&t.db).text(&t.name).text(if may_see { &v.query } else { "" });
        out.text(if v.check_option.is_empty() { "NONE" } else { &v.check_option });
        out.yes_no(is_updatable(&v.query, &v.algorithm)).text(&v.definer);
        out.text(if v.security_definer { "DEFINER" } else { "INVOKER" });
        out.text(&v.client_charset).text(&v.connection_collation);
        out.text(if v.algorithm.is_empty() { "UNDEFINED" } else { &v.algorithm });
    });
    Ok(())
}

/// Whether a view's rows stand for rows of a table: no grouping, no set operation, not materialised.
fn is_updatable(query: &str, algorithm: &str) -> bool {
    let q = query.to_ascii_lowercase();
    let folds = [" group by ", " union ", " having ", "select distinct ", " limit ", " except ", " intersect "];
    algorithm != "TEMPTABLE" && q.contains(" from ") && !folds.iter().any(|f| q.contains(f))
}

/// information_schema.PARTITIONS
pub fn partitions(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    cx.stored(cx.lookup(1), cx.lookup(2), &mut |t| {
        if !matches!(t.kind, TableKind::View(_)) {
            partitions_of(cx, t, out);
        }
    });
    Ok(())
}

fn partitions_of(cx: &Context<'_>, t: &Table, out: &mut Rows) {
    let zone = &cx.host.hot.time_zone;
    let parts = t.partition_by.as_deref().map(super::partition_clause::describe);
    let Some(clause) = parts else {
        let sizes = Sizes::of(cx, t);
        out.def().text(&t.db).text(&t.name).nulls(9);
        out.uint(sizes.rows).uint(sizes.row_bytes()).uint(sizes.data_bytes).null().uint(sizes.index_bytes).uint(0);
        out.instant(t.create_time, zone).nulls(3).text("").text("").null();
        return;
    };
    let engine = &cx.host.instance.txns.engine;
    for (i, p) in t.partitions.iter().enumerate() {
        let rows = engine.estimate_rows(p.rows.into()).unwrap_or(0);
        let bytes = engine.estimate_bytes(p.rows.into()).unwrap_or(0);
        let index_bytes: u64 = p
            .indexes
            .iter()
            .filter(|i| **i != p.rows)
            .map(|i| engine.estimate_bytes((*i).into()).unwrap_or(0))
            .sum();
        let at = clause.place(i);
        out.def().text(&t.db).text(&t.name);
        out.text(at.name.as_deref().unwrap_or(&p.name)).text_or_null(at.subpartition.as_deref());
        out.uint(at.ordinal).uint_or_null(at.sub_ordinal);
        out.text(&clause.method).text_or_null(clause.sub_method.as_deref());
        out.text_or_null(clause.expression.as_deref()).text_or_null(clause.sub_expression.as_deref());
        out.text_or_null(at.description.as_deref());
        out.uint(rows).uint(bytes.checked_div(rows).unwrap_or(0)).uint(bytes).null().uint(index_bytes).uint(0);
        out.instant(t.create_time, zone).nulls(3).value(Value::text(at.comment.as_deref().unwrap_or("")));
        out.text("default").null();
    }
}
