//! EXPLAIN: a plan in the words of MariaDB's table of ten columns, and in a simple JSON form.
//!
//! Rows are read off the physical plan: one for each table in the order in which tables are joined, then those of
//! subqueries and derived tables, numbered as they are met.

use selkie_catalog::{Index, Table};
use selkie_expr::{Expr, ExprKind};
use selkie_types::codec::KeyPart;
use selkie_types::{Charset, IntWidth, SqlType, TextKind};

use crate::plan::{Access, InsertSource, JoinKind, KeyRange, Plan, QueryPlan, Statement, TableScan};

/// One row of EXPLAIN.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExplainRow {
    /// Number of the SELECT; `None` for UNION RESULT.
    pub id: Option<u32>,
    /// SIMPLE, PRIMARY, SUBQUERY, DEPENDENT SUBQUERY, DERIVED, UNION, …
    pub select_type: String,
    /// Alias, `<derived2>`, `<union1,2>`.
    pub table: Option<String>,
    /// Partitions read, for EXPLAIN PARTITIONS.
    pub partitions: Option<String>,
    /// ALL, index, range, ref, eq_ref, const, …
    pub access_type: Option<String>,
    /// Indexes that could be used.
    pub possible_keys: Option<String>,
    /// Index used.
    pub key: Option<String>,
    /// Bytes of the key that are used, as MariaDB counts them.
    pub key_len: Option<String>,
    /// What the key is compared with.
    pub reference: Option<String>,
    /// Estimated rows.
    pub rows: Option<u64>,
    /// Using where; Using index; …
    pub extra: String,
    /// Address of the scan in the plan, by which ANALYZE finds what the executor counted.
    pub scan: Option<usize>,
}

/// The rows of EXPLAIN for a plan.
pub fn explain(s: &Statement) -> Vec<ExplainRow> {
    let mut x = Explainer::default();
    match s {
        Statement::Query(q) => {
            let simple = !has_parts(&q.root);
            let id = x.next_id();
            x.query(q, id, if simple { "SIMPLE" } else { "PRIMARY" }, &[]);
        }
        Statement::Insert(i) => {
            let id = x.next_id();
            x.rows.push(ExplainRow {
                id: Some(id),
                select_type: String::from("INSERT"),
                table: Some(i.target.table.name.clone()),
                access_type: Some(String::from("ALL")),
                ..ExplainRow::default()
            });
            if let InsertSource::Query(q) = &i.source {
                x.rows.clear();
                x.query(q, id, if has_parts(&q.root) { "PRIMARY" } else { "SIMPLE" }, &[]);
            }
        }
        Statement::Update(u) => x.change(&u.input),
        Statement::Delete(d) => {
            if let Plan::Scan(s) = &d.input
                && matches!(s.access, Access::Full)
                && s.filter.is_none()
                && d.returning.is_none()
            {
                x.rows.push(ExplainRow {
                    id: Some(1),
                    select_type: String::from("SIMPLE"),
                    rows: Some(s.rows as u64),
                    extra: String::from("Deleting all rows"),
                    ..ExplainRow::default()
                });
            } else {
                x.change(&d.input);
            }
        }
        Statement::Do(_) => {
            let id = x.next_id();
            x.message(id, "SIMPLE", "No tables used");
        }
    }
    x.finish()
}

/// EXPLAIN FORMAT=JSON: the same facts as nested objects.
pub fn explain_json(s: &Statement) -> String {
    let rows = explain(s);
    let mut out = String::from("{\n  \"query_block\": {\n    \"select_id\": 1");
    for r in &rows {
        out.push_str(",\n    \"table\": {");
        let mut fields: Vec<(&str, String)> = Vec::new();
        let mut text = |name, v: &Option<String>| {
            if let Some(v) = v {
                fields.push((name, json_text(v)));
            }
        };
        text("table_name", &r.table);
        text("access_type", &r.access_type);
        text("possible_keys", &r.possible_keys);
        text("key", &r.key);
        text("key_length", &r.key_len);
        text("ref", &r.reference);
        if let Some(n) = r.rows {
            fields.push(("rows", n.to_string()));
        }
        if !r.extra.is_empty() {
            fields.push(("message", json_text(&r.extra)));
        }
        let list: Vec<String> = fields.iter().map(|(n, v)| format!("\n      \"{n}\": {v}")).collect();
        out.push_str(&list.join(","));
        out.push_str("\n    }");
    }
    out.push_str("\n  }\n}");
    out
}

fn json_text(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 32 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a plan consists of more than one SELECT.
fn has_parts(p: &Plan) -> bool {
    let mut found = matches!(p, Plan::Derived { .. } | Plan::Union { .. } | Plan::SetOperation { .. })
        || matches!(p, Plan::SharedScan { .. });
    visit_exprs(p, &mut |e| found |= crate::exprs::has_subquery(e));
    for i in inputs(p) {
        found |= has_parts(i);
    }
    found
}

fn inputs(p: &Plan) -> Vec<&Plan> {
    match p {
        Plan::Filter { input, .. }
        | Plan::Project { input, .. }
        | Plan::Aggregate { input, .. }
        | Plan::Window { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Distinct { input, .. } => vec![input],
        Plan::NestedLoop { left, right, .. }
        | Plan::HashJoin { left, right, .. }
        | Plan::SetOperation { left, right, .. } => vec![left, right],
        Plan::Union { inputs } => inputs.iter().collect(),
        _ => Vec::new(),
    }
}

fn visit_exprs(p: &Plan, f: &mut dyn FnMut(&Expr)) {
    match p {
        Plan::Values { rows, .. } => rows.iter().flatten().for_each(f),
        Plan::Scan(s) => {
            s.filter.iter().for_each(&mut *f);
            match &s.access {
                Access::Point { key, .. } => key.iter().for_each(f),
                Access::Ranges { ranges, .. } => {
                    for r in ranges {
                        r.low.iter().chain(&r.high).flat_map(|b| &b.values).for_each(&mut *f);
                    }
                }
                _ => {}
            }
        }
        Plan::Filter { condition, .. } => f(condition),
        Plan::Project { exprs, .. } => exprs.iter().for_each(f),
        Plan::NestedLoop { condition, .. } | Plan::HashJoin { condition, .. } => condition.iter().for_each(f),
        Plan::Aggregate { keys, calls, first_row, .. } => {
            keys.iter().chain(first_row).for_each(&mut *f);
            calls.iter().for_each(|c| crate::exprs::visit_aggregate(c, f));
        }
        Plan::Window { calls, .. } => calls.iter().for_each(|c| crate::exprs::visit_window(c, f)),
        Plan::Sort { keys, .. } => keys.iter().for_each(|k| f(&k.expr)),
        _ => {}
    }
}

/// What operators above a join say about its first table.
#[derive(Default, Clone, Copy)]
struct Above {
    temporary: bool,
    filesort: bool,
    filtered: bool,
    join_buffer: bool,
    first_match: bool,
    not_exists: bool,
}

#[derive(Default)]
struct Explainer {
    rows: Vec<ExplainRow>,
    /// Rows of subqueries and derived tables, behind those of the SELECT that uses them.
    later: Vec<ExplainRow>,
    last_id: u32,
}

impl Explainer {
    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn finish(mut self) -> Vec<ExplainRow> {
        self.rows.append(&mut self.later);
        self.rows
    }

    fn message(&mut self, id: u32, select_type: &str, extra: &str) {
        self.rows.push(ExplainRow {
            id: Some(id),
            select_type: select_type.to_owned(),
            extra: extra.to_owned(),
            ..ExplainRow::default()
        });
    }

    fn change(&mut self, input: &Plan) {
        let id = self.next_id();
        let kind = if has_parts(input) { "PRIMARY" } else { "SIMPLE" };
        self.operator(input, id, kind, Above::default(), &[]);
    }

    fn query(&mut self, q: &QueryPlan, id: u32, select_type: &str, outer: &[String]) {
        if let Some((inputs, distinct)) = union_of(&q.root) {
            self.union(inputs, distinct, id, select_type, outer);
            return;
        }
        self.operator(&q.root, id, select_type, Above::default(), outer);
        for s in &q.shared {
            let id = self.next_id();
            let kind = if s.recursive.is_some() { "RECURSIVE UNION" } else { "DERIVED" };
            self.aside(|x| {
                x.operator(&s.seed, id, "DERIVED", Above::default(), &[]);
                if let Some(r) = &s.recursive {
                    let id = x.next_id();
                    x.operator(r, id, kind, Above::default(), &[]);
                }
            });
        }
    }

    /// Collects rows that stand behind those of the present SELECT.
    fn aside(&mut self, f: impl FnOnce(&mut Self)) {
        let here = std::mem::take(&mut self.rows);
        let later = std::mem::take(&mut self.later);
        f(self);
        let mut made = std::mem::replace(&mut self.rows, here);
        made.append(&mut self.later);
        self.later = later;
        self.later.append(&mut made);
    }

    fn union(&mut self, inputs: Vec<&Plan>, result: bool, id: u32, select_type: &str, outer: &[String]) {
        let mut ids = Vec::new();
        let first = match select_type {
            "SIMPLE" => "PRIMARY",
            other => other,
        };
        for (n, p) in inputs.into_iter().enumerate() {
            let (here, kind) = if n == 0 {
                (id, first)
            } else {
                let kind = if select_type.starts_with("DEPENDENT") { "DEPENDENT UNION" } else { "UNION" };
                (self.next_id(), kind)
            };
            ids.push(here.to_string());
            self.operator(p, here, kind, Above::default(), outer);
            let mut later = std::mem::take(&mut self.later);
            self.rows.append(&mut later);
        }
        if result {
            self.rows.push(ExplainRow {
                id: None,
                select_type: String::from("UNION RESULT"),
                table: Some(format!("<union{}>", ids.join(","))),
                access_type: Some(String::from("ALL")),
                ..ExplainRow::default()
            });
        }
    }

    /// Subqueries in an operator's own expressions.
    fn subqueries(&mut self, p: &Plan) {
        let mut found: Vec<(std::sync::Arc<QueryPlan>, bool)> = Vec::new();
        visit_exprs(p, &mut |e| {
            crate::exprs::walk(e, &mut |x| {
                if let ExprKind::Subquery(s) = &x.kind
                    && let Ok(q) = std::sync::Arc::clone(&s.query.plan).downcast::<QueryPlan>()
                {
                    found.push((q, !s.correlated.is_empty()));
                }
            });
        });
        let mut seen: Vec<*const QueryPlan> = Vec::new();
        for (q, dependent) in found {
            // Both bounds of a range name the same subquery.
            if seen.contains(&std::sync::Arc::as_ptr(&q)) {
                continue;
            }
            seen.push(std::sync::Arc::as_ptr(&q));
            let id = self.next_id();
            let kind = if dependent { "DEPENDENT SUBQUERY" } else { "SUBQUERY" };
            self.aside(|x| x.query(&q, id, kind, &[]));
        }
    }

    fn operator(&mut self, p: &Plan, id: u32, kind: &str, mut above: Above, outer: &[String]) {
        if !matches!(p, Plan::NestedLoop { .. } | Plan::HashJoin { .. }) {
            self.subqueries(p);
        }
        match p {
            Plan::OneRow => self.message(id, kind, "No tables used"),
            Plan::Values { rows, .. } if rows.is_empty() => self.message(id, kind, "Impossible WHERE"),
            Plan::Values { .. } => self.message(id, kind, "No tables used"),
            Plan::Scan(s) => {
                let row = scan_row(s, id, kind, above, outer);
                self.rows.push(row);
            }
            Plan::Virtual { name, lookups, .. } => {
                let mut extra = Vec::new();
                if above.filtered || !lookups.is_empty() {
                    extra.push("Using where");
                }
                self.rows.push(ExplainRow {
                    id: Some(id),
                    select_type: kind.to_owned(),
                    table: Some(name.clone()),
                    access_type: Some(String::from("ALL")),
                    extra: extra.join("; "),
                    ..ExplainRow::default()
                });
            }
            Plan::SharedScan { id: shared, .. } => {
                self.derived_row(id, kind, format!("<derived{}>", shared + 2), above);
            }
            Plan::Derived { plan, .. } => {
                let inner = self.next_id();
                self.derived_row(id, kind, format!("<derived{inner}>"), above);
                self.aside(|x| x.query(plan, inner, "DERIVED", &[]));
            }
            Plan::JsonTable(_) => {
                self.rows.push(ExplainRow {
                    id: Some(id),
                    select_type: kind.to_owned(),
                    table: Some(String::from("json_table")),
                    access_type: Some(String::from("ALL")),
                    rows: Some(40),
                    extra: String::from("Table function: json_table"),
                    ..ExplainRow::default()
                });
            }
            Plan::Filter { input, .. } => {
                above.filtered = true;
                self.operator(input, id, kind, above, outer);
            }
            Plan::Aggregate { input, keys, sorted, .. } => {
                if keys.is_empty() && matches!(&**input, Plan::Limit { .. }) {
                    self.message(id, kind, "Select tables optimized away");
                    return;
                }
                above.temporary |= !keys.is_empty() && !*sorted;
                self.operator(input, id, kind, above, outer);
            }
            Plan::Window { input, .. } => {
                above.temporary = true;
                self.operator(input, id, kind, above, outer);
            }
            Plan::Sort { input, .. } => {
                above.filesort = true;
                above.temporary |= joins(input);
                self.operator(input, id, kind, above, outer);
            }
            Plan::Distinct { input, .. } => {
                above.temporary = true;
                self.operator(input, id, kind, above, outer);
            }
            Plan::Project { input, .. } | Plan::Limit { input, .. } => self.operator(input, id, kind, above, outer),
            Plan::NestedLoop { kind: join, left, right, dependent, condition, .. } => {
                self.operator(left, id, kind, Above { filtered: false, ..above }, outer);
                self.subqueries(p);
                let mut names = outer.to_vec();
                slot_names(left, &mut names);
                let right_above = Above {
                    join_buffer: !*dependent && !is_constant(right),
                    filtered: condition.is_some() || (above.filtered && *join == JoinKind::Left),
                    first_match: *join == JoinKind::Semi,
                    not_exists: *join == JoinKind::Anti,
                    ..Above::default()
                };
                self.operator(right, id, kind, right_above, if *dependent { &names } else { outer });
            }
            Plan::HashJoin { kind: join, left, right, .. } => {
                self.operator(left, id, kind, Above { filtered: false, ..above }, outer);
                self.subqueries(p);
                let right_above = Above {
                    join_buffer: true,
                    filtered: true,
                    first_match: *join == JoinKind::Semi,
                    not_exists: *join == JoinKind::Anti,
                    ..Above::default()
                };
                self.operator(right, id, kind, right_above, outer);
            }
            Plan::Union { .. } | Plan::SetOperation { .. } => {
                if let Some((inputs, result)) = union_of(p) {
                    self.union(inputs, result, id, kind, outer);
                }
            }
        }
    }

    fn derived_row(&mut self, id: u32, kind: &str, table: String, above: Above) {
        self.rows.push(ExplainRow {
            id: Some(id),
            select_type: kind.to_owned(),
            table: Some(table),
            access_type: Some(String::from("ALL")),
            rows: Some(100),
            extra: extra(above, false, &[]),
            ..ExplainRow::default()
        });
    }
}

fn joins(p: &Plan) -> bool {
    match p {
        Plan::NestedLoop { .. } | Plan::HashJoin { .. } => true,
        Plan::Project { input, .. } | Plan::Filter { input, .. } => joins(input),
        _ => false,
    }
}

fn is_constant(p: &Plan) -> bool {
    matches!(p, Plan::Scan(s) if matches!(s.access, Access::Point { .. }))
}

/// The inputs of a union or other set operation, and whether its result is put together in a table of its own.
fn union_of(p: &Plan) -> Option<(Vec<&Plan>, bool)> {
    match p {
        Plan::Union { inputs } => Some((inputs.iter().collect(), false)),
        Plan::SetOperation { left, right, .. } => {
            let mut all = Vec::new();
            for side in [&**left, &**right] {
                match union_of(side) {
                    Some((more, _)) => all.extend(more),
                    None => all.push(side),
                }
            }
            Some((all, true))
        }
        Plan::Distinct { input, .. } | Plan::Sort { input, .. } | Plan::Limit { input, .. } => {
            union_of(input).map(|(i, _)| (i, true))
        }
        Plan::Project { input, .. } | Plan::Filter { input, .. } => union_of(input).map(|(i, _)| (i, true)),
        _ => None,
    }
}

/// Names of an operator's slots, for `ref`.
fn slot_names(p: &Plan, out: &mut Vec<String>) {
    match p {
        Plan::Scan(s) => {
            for c in &s.columns {
                out.push(format!("{}.{}.{}", s.table.db, s.alias, s.table.columns[*c].name));
            }
            if s.with_row_key {
                out.push(String::from("func"));
            }
        }
        Plan::NestedLoop { kind, left, right, .. } | Plan::HashJoin { kind, left, right, .. } => {
            slot_names(left, out);
            if matches!(kind, JoinKind::Inner | JoinKind::Left) {
                slot_names(right, out);
            }
        }
        Plan::Filter { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Distinct { input, .. } => {
            slot_names(input, out);
        }
        Plan::Project { input, exprs } => {
            let mut below = Vec::new();
            slot_names(input, &mut below);
            for e in exprs {
                out.push(match e.kind {
                    ExprKind::Column(i) => below.get(i).cloned().unwrap_or_else(|| String::from("func")),
                    _ => String::from("func"),
                });
            }
        }
        Plan::Derived { plan, .. } => out.extend(plan.columns.iter().map(|c| format!("derived.{}", c.name))),
        Plan::SharedScan { types, .. } | Plan::Values { types, .. } | Plan::Virtual { types, .. } => {
            out.extend(types.iter().map(|_| String::from("func")));
        }
        Plan::Aggregate { keys, calls, first_row, .. } => {
            out.extend((0..keys.len() + calls.len() + first_row.len()).map(|_| String::from("func")));
        }
        _ => {}
    }
}

fn extra(above: Above, covering: bool, more: &[&str]) -> String {
    let mut list: Vec<&str> = Vec::new();
    list.extend(more);
    if covering {
        list.push("Using index");
    }
    if above.not_exists {
        list.push("Not exists");
    }
    if above.temporary {
        list.push("Using temporary");
    }
    if above.filesort {
        list.push("Using filesort");
    }
    if above.first_match {
        list.push("FirstMatch");
    }
    if above.join_buffer {
        list.push("Using join buffer (flat, BNL join)");
    }
    list.join("; ")
}

fn scan_row(s: &TableScan, id: u32, kind: &str, above: Above, outer: &[String]) -> ExplainRow {
    let table = &s.table;
    let mut row = ExplainRow {
        id: Some(id),
        select_type: kind.to_owned(),
        table: Some(s.alias.clone()),
        rows: Some(s.rows.round().max(1.0) as u64),
        scan: Some(std::ptr::from_ref(s) as usize),
        ..ExplainRow::default()
    };
    if let Some(p) = &s.partitions {
        let names: Vec<&str> = p.iter().map(|i| table.partitions[*i].name.as_str()).collect();
        row.partitions = Some(names.join(","));
    }
    if !s.possible_keys.is_empty() {
        let names: Vec<&str> = s.possible_keys.iter().map(|i| table.indexes[*i].name.as_str()).collect();
        row.possible_keys = Some(names.join(","));
    }
    let mut more: Vec<&str> = Vec::new();
    let filtered = s.filter.is_some() || above.filtered;
    let mut use_key = |index: usize, parts: usize| {
        let i = &table.indexes[index];
        row.key = Some(i.name.clone());
        row.key_len = Some(key_len(table, i, parts).to_string());
    };
    match &s.access {
        Access::Full => {
            row.access_type = Some(String::from("ALL"));
            if filtered {
                more.push("Using where");
            }
        }
        Access::IndexScan { index } => {
            use_key(*index, table.indexes[*index].parts.len());
            row.access_type = Some(String::from("index"));
            if filtered {
                more.push("Using where");
            }
        }
        Access::Point { index, key } => {
            use_key(*index, key.len());
            let constant = key.iter().all(|e| !reads_row(e));
            row.access_type = Some(String::from(if constant { "const" } else { "eq_ref" }));
            row.reference = Some(references(key, outer));
            if filtered {
                more.push("Using where");
            }
        }
        Access::Ranges { index, ranges, .. } => {
            let parts =
                ranges.iter().flat_map(|r| r.low.iter().chain(&r.high)).map(|b| b.values.len()).max().unwrap_or(0);
            use_key(*index, parts);
            match ranges.as_slice() {
                [r] if equal_values(r).is_some() => {
                    row.access_type = Some(String::from("ref"));
                    row.reference = equal_values(r).map(|v| references(v, outer));
                    if filtered {
                        more.push("Using where");
                    }
                }
                _ => {
                    row.access_type = Some(String::from("range"));
                    if s.covering || table.indexes[*index].primary {
                        more.push("Using where");
                    } else {
                        more.push("Using index condition");
                        if filtered {
                            more.push("Using where");
                        }
                    }
                }
            }
        }
        Access::Empty => {
            row.rows = None;
            row.table = None;
            more.push("Impossible WHERE noticed after reading const tables");
        }
    }
    row.extra = extra(above, s.covering, &more);
    row
}

/// The values of a range that is one point.
fn equal_values(r: &KeyRange) -> Option<&[Expr]> {
    let (l, h) = (r.low.as_ref()?, r.high.as_ref()?);
    let same = l.inclusive
        && h.inclusive
        && l.values.len() == h.values.len()
        && l.values.iter().zip(&h.values).all(|(a, b)| crate::exprs::same(a, b));
    same.then_some(&l.values)
}

fn reads_row(e: &Expr) -> bool {
    let mut found = false;
    crate::exprs::walk(e, &mut |x| found |= matches!(x.kind, ExprKind::Correlated(_) | ExprKind::Column(_)));
    found
}

fn references(key: &[Expr], outer: &[String]) -> String {
    let list: Vec<String> = key
        .iter()
        .map(|e| match &e.kind {
            ExprKind::Correlated(i) => outer.get(*i).cloned().unwrap_or_else(|| String::from("func")),
            _ if reads_row(e) => String::from("func"),
            _ => String::from("const"),
        })
        .collect();
    list.join(",")
}

/// Bytes of the first key parts as MariaDB counts them: a byte for NULL, two for a length.
fn key_len(table: &Table, index: &Index, parts: usize) -> usize {
    index
        .parts
        .iter()
        .take(parts)
        .map(|p| {
            let c = &table.columns[p.column];
            let part = KeyPart { ty: c.ty.clone(), nullable: c.nullable, descending: p.descending, prefix: p.prefix };
            part_len(&part)
        })
        .sum()
}

fn part_len(p: &KeyPart) -> usize {
    let fraction = |fsp: u8| usize::from(fsp).div_ceil(2);
    let digits = |n: u8| usize::from(n / 9) * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][usize::from(n % 9)];
    let width = match &p.ty {
        SqlType::Null => 0,
        SqlType::Int { width, .. } => match width {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        },
        SqlType::Bit(n) => usize::from(*n).div_ceil(8),
        SqlType::Year(_) => 1,
        SqlType::Float { .. } => 4,
        SqlType::Double { .. } => 8,
        SqlType::Decimal { precision, scale, .. } => digits(precision - scale) + digits(*scale),
        SqlType::Date => 3,
        SqlType::Time { fsp } => 3 + fraction(*fsp),
        SqlType::DateTime { fsp } => 5 + fraction(*fsp),
        SqlType::Timestamp { fsp } => 4 + fraction(*fsp),
        SqlType::Enum(d) => {
            if d.members.len() < 256 {
                1
            } else {
                2
            }
        }
        SqlType::Set(d) => [1, 2, 3, 4, 8, 8, 8, 8][d.members.len().saturating_sub(1).min(63) / 8],
        SqlType::Text { kind, len, collation } => {
            let per = if collation.charset() == Charset::Binary { 1 } else { collation.charset().max_len() as usize };
            let fixed = matches!(kind, TextKind::Char);
            let chars = p.prefix.unwrap_or(*len) as usize;
            chars * per + if fixed { 0 } else { 2 }
        }
    };
    width + usize::from(p.nullable)
}
