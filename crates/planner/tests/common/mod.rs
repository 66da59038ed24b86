//! A small schema in memory, statistics to go with it, and the runner of golden scripts.
//!
//! A script is a list of cases: lines that begin with `> ` are one statement, what follows up to an empty line is the
//! expected plan, or the error. `UPDATE_PLANS=1` rewrites the expectations.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use selkie_catalog::{
    Check, Column, ColumnDefault, Database, Generated, Index, IndexKind, IndexPart, Schema, Table, TableKind, ViewDef,
};
use selkie_expr::VarScope;
use selkie_parser::{ParseMode, ParseOptions, ast};
use selkie_planner::plan::{self, KeyRange};
use selkie_planner::{PlanContext, Planner, Statistics, Variables, VirtualColumn, VirtualTables};
use selkie_types::{Collation, IntWidth, SqlMode, SqlResult, SqlType, TextKind};

/// Builds tables of one database, `test`.
#[derive(Default)]
pub struct SchemaBuilder {
    tables: BTreeMap<String, Arc<Table>>,
    next_id: u64,
}

fn column_type(word: &str) -> SqlType {
    let text = |kind, len, collation| SqlType::Text { kind, len, collation };
    match word {
        "int" => SqlType::Int { width: IntWidth::Int, unsigned: false, zerofill: false, display: 11 },
        "uint" => SqlType::Int { width: IntWidth::Int, unsigned: true, zerofill: false, display: 10 },
        "bigint" => SqlType::Int { width: IntWidth::Big, unsigned: false, zerofill: false, display: 20 },
        "text" => text(TextKind::VarChar, 40, Collation::UTF8MB4_GENERAL_CI),
        "bin" => text(TextKind::VarChar, 40, Collation::UTF8MB4_BIN),
        "blob" => text(TextKind::Text, 65535, Collation::BINARY),
        "date" => SqlType::Date,
        "datetime" => SqlType::DateTime { fsp: 0 },
        "double" => SqlType::DOUBLE,
        "dec" => SqlType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false },
        other => panic!("no type {other}"),
    }
}

impl SchemaBuilder {
    /// A table from `name type[?][=default]` columns (`?`: nullable) and `name(cols)` indexes, of which `pk` is the primary
    /// key and names that begin with `u` are unique. `col:n` is a prefix, `col-` is descending.
    pub fn table(&mut self, name: &str, columns: &str, indexes: &str) -> &mut Table {
        let mut cols = Vec::new();
        for c in columns.split(',') {
            let (n, ty) = c.trim().split_once(' ').expect("name type");
            let (ty, default) = match ty.split_once('=') {
                Some((t, d)) => (t, ColumnDefault::Literal(d.to_owned())),
                None => (ty, ColumnDefault::None),
            };
            let (ty, nullable) = match ty.strip_suffix('?') {
                Some(t) => (t, true),
                None => (ty, false),
            };
            let default = if nullable && default == ColumnDefault::None { ColumnDefault::Null } else { default };
            cols.push(Column {
                name: n.to_owned(),
                ty: column_type(ty),
                nullable,
                default,
                on_update_now: false,
                auto_increment: false,
                generated: None,
                invisible: false,
                comment: String::new(),
                declared: None,
            });
        }
        let mut list = Vec::new();
        for i in indexes.split(')').map(str::trim).filter(|i| !i.is_empty()) {
            let (n, parts) = i.trim_start_matches(',').trim().split_once('(').expect("name(columns)");
            let parts = parts
                .split(',')
                .map(|p| {
                    let p = p.trim();
                    let (p, descending) = match p.strip_suffix('-') {
                        Some(p) => (p, true),
                        None => (p, false),
                    };
                    let (p, prefix) = match p.split_once(':') {
                        Some((p, n)) => (p, Some(n.parse().expect("length"))),
                        None => (p, None),
                    };
                    let column = cols.iter().position(|c| c.name == p).expect("column");
                    IndexPart { column, prefix, descending }
                })
                .collect();
            let primary = n == "pk";
            list.push(Index {
                name: if primary { "PRIMARY".into() } else { n.to_owned() },
                primary,
                unique: primary || n.starts_with('u'),
                kind: IndexKind::BTree,
                parts,
                comment: String::new(),
                ignored: false,
                using_shown: false,
        generated: false,
        key_block_size: 0,
            });
        }
        self.next_id += 1;
        let table = Table {
            id: self.next_id,
            db: "test".into(),
            name: name.to_owned(),
            kind: TableKind::Base,
            temporary: false,
            engine: "InnoDB".into(),
            collation: Collation::UTF8MB4_GENERAL_CI,
            columns: cols,
            indexes: list,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            comment: String::new(),
            options: Vec::new(),
            auto_increment_start: 1,
            partitions: Vec::new(),
            partition_by: None,
            row_version: 0,
            row_versions: Vec::new(),
            create_time: 0,
            derived: Default::default(),
        };
        self.tables.insert(name.to_owned(), Arc::new(table));
        Arc::get_mut(self.tables.get_mut(name).expect("just added")).expect("not shared yet")
    }

    /// A view.
    pub fn view(&mut self, name: &str, query: &str, columns: &[&str], check: &str) {
        let t = self.table(name, "x int", "");
        t.kind = TableKind::View(ViewDef {
            query: query.to_owned(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            algorithm: "UNDEFINED".into(),
            definer: "root@localhost".into(),
            security_definer: true,
            check_option: check.into(),
            client_charset: "utf8mb4".into(),
            connection_collation: "utf8mb4_general_ci".into(),
        });
        t.columns.clear();
    }

    /// The finished schema.
    pub fn build(self) -> Arc<Schema> {
        let mut schema = Schema { version: 1, ..Schema::default() };
        let db = Database {
            name: "test".into(),
            collation: Collation::UTF8MB4_GENERAL_CI,
            comment: String::new(),
            tables: self.tables,
        };
        for t in db.tables.values() {
            schema.tables_by_id.insert(t.id, Arc::clone(t));
        }
        schema.databases.insert("test".into(), Arc::new(db));
        Arc::new(schema)
    }
}

/// The schema of the scripts.
pub fn schema() -> Arc<Schema> {
    let mut b = SchemaBuilder::default();
    b.table("t1", "id int, a int?, b int?, c text?, d bin?", "pk(id) ka(a) kab(a, b) kc(c) kd(d)");
    b.table("t2", "id int, t1_id int, x int?, y text?", "pk(id) kt(t1_id) ux(x)");
    b.table("t3", "id int, t2_id int?, z int", "pk(id) kz(z)");
    b.table("comp", "p int, q int, r int?, s int?, u text", "pk(p, q) krs(r, s-) ku(u:3)");
    b.table("small", "id int, v int", "pk(id)");
    b.table("heap", "a int?, b int", "");
    b.table("nums", "n uint, m bigint, e dec, f double?, dt datetime?, da date?", "pk(n) km(m) ke(e) kdt(dt) kda(da)");
    let g = b.table("gen", "id int, a int=3, s int?, t text='x'", "pk(id)");
    g.columns[2].generated = Some(Generated { expr: "`a` + `id`".into(), stored: true });
    g.columns[3].default = ColumnDefault::Expr("concat('a', 'b')".into());
    g.checks.push(Check { name: "c1".into(), expr: "`a` > 0".into(), column: None });
    b.view(
        "v1",
        "select `test`.`t1`.`id` AS `id`,`test`.`t1`.`a` AS `a` from `test`.`t1` where `test`.`t1`.`a` > 3",
        &[],
        "NONE",
    );
    b.view("vc", "select `id`, `a` from `t1` where `a` > 3", &["i", "k"], "CASCADED");
    b.view("vagg", "select `a`, count(*) as `n` from `t1` group by `a`", &[], "NONE");
    b.view("vbad", "select `nope` from `t1`", &[], "NONE");
    b.view("vexpr", "select `id`, `a` + 1 as `a1` from `t1`", &[], "NONE");
    b.build()
}

/// Row counts of the scripts' tables.
pub struct Stats;

impl Statistics for Stats {
    fn rows(&self, table: &Table) -> f64 {
        match table.name.as_str() {
            "t1" => 10_000.0,
            "t2" => 50_000.0,
            "t3" => 1_000.0,
            "small" => 10.0,
            "heap" => 500.0,
            _ => 1_000.0,
        }
    }
    fn rec_per_key(&self, table: &Table, index: usize, parts: usize) -> Option<f64> {
        let name = table.indexes[index].name.as_str();
        match (table.name.as_str(), name, parts) {
            ("t1", "ka" | "kab", 1) => Some(100.0),
            ("t1", "kab", 2) => Some(10.0),
            ("t1", "kc" | "kd", 1) => Some(20.0),
            ("t2", "kt", 1) => Some(5.0),
            _ => None,
        }
    }
    fn range_rows(&self, _table: &Table, _index: usize, _range: &KeyRange) -> Option<f64> {
        None
    }
}

impl Variables for Stats {
    fn user_var_type(&self, name: &str) -> Option<SqlType> {
        (name == "n").then_some(SqlType::BIGINT)
    }
    fn system_var_type(&self, _scope: VarScope, name: &str) -> Option<SqlType> {
        (name == "autocommit").then_some(SqlType::BIGINT)
    }
}

impl VirtualTables for Stats {
    fn columns(&self, db: &str, name: &str) -> Option<Vec<VirtualColumn>> {
        if !db.eq_ignore_ascii_case("information_schema") || !name.eq_ignore_ascii_case("tables") {
            return None;
        }
        let text = SqlType::varchar(64, Collation::UTF8MB3_GENERAL_CI);
        let column = |n: &str| VirtualColumn { name: n.into(), ty: text.clone(), nullable: false };
        Some(vec![column("TABLE_SCHEMA"), column("TABLE_NAME")])
    }
}

/// Parses a statement.
pub fn parse(sql: &str, mode: SqlMode) -> SqlResult<ast::Statement> {
    let options = ParseOptions {
        params: true,
        mode: ParseMode { pipes_as_concat: mode.has(SqlMode::PIPES_AS_CONCAT), ..ParseMode::default() },
        ..ParseOptions::default()
    };
    selkie_parser::parse(sql.as_bytes(), &options)
        .map(|p| p.statement)
        .map_err(|e| selkie_planner::text::syntax_error(&e))
}

/// Plans a statement; settings stand before it as `[strict_group]`, `[no_hash]`, `[no_semijoin]`, `[columns]`, `[access]`,
/// `[explain]`.
pub fn plan_text(schema: &Arc<Schema>, sql: &str) -> String {
    let mut cx = PlanContext::new(schema, Some("test"));
    cx.statistics = &Stats;
    cx.variables = &Stats;
    cx.virtuals = &Stats;
    let mut sql = sql.trim();
    let (mut columns, mut access, mut explain) = (false, false, false);
    while let Some(rest) = sql.strip_prefix('[') {
        let (word, rest) = rest.split_once(']').expect("]");
        match word {
            "strict_group" => cx.bind.sql_mode.0 |= SqlMode::ONLY_FULL_GROUP_BY,
            "no_hash" => cx.switches.hash_join = false,
            "no_semijoin" => cx.switches.semijoin = false,
            "no_db" => cx.current_db = None,
            "columns" => columns = true,
            "access" => access = true,
            "explain" => explain = true,
            other => panic!("no setting {other}"),
        }
        sql = rest.trim();
    }
    let statement = match parse(sql, cx.bind.sql_mode) {
        Ok(s) => s,
        Err(e) => return format!("{e}\n"),
    };
    let planned = match Planner::plan_full(&statement, &cx) {
        Ok(p) => p,
        Err(e) => return format!("{e}\n"),
    };
    let mut out = String::new();
    if columns && let plan::Statement::Query(q) = &planned.statement {
        for c in &q.columns {
            let origin = c.origin.as_ref().map_or_else(String::new, |o| {
                format!(" from {}.{}({}).{} flags={}", o.db, o.table, o.org_table, o.org_name, o.flags)
            });
            out.push_str(&format!("{}{}{origin}\n", c.name, if c.nullable { " null" } else { "" }));
        }
        return out;
    }
    if access {
        for a in &planned.accessed {
            let column = a.column.as_ref().map_or_else(String::new, |c| format!(".{c}"));
            let definer = a.definer.as_ref().map_or_else(String::new, |d| format!(" as {d}"));
            out.push_str(&format!("{:?} {}.{}{column}{definer}\n", a.kind, a.db, a.table));
        }
        return out;
    }
    if explain {
        return explain_text(&planned.statement);
    }
    out.push_str(&plan::display::statement(&planned.statement));
    let types: Vec<String> = planned.param_types.iter().map(|t| format!("{t:?}")).collect();
    if !types.is_empty() {
        out.push_str(&format!("params: {}\n", types.join(", ")));
    }
    out
}

fn explain_text(statement: &plan::Statement) -> String {
    let mut out = String::new();
    for r in selkie_planner::explain::explain(statement) {
        let text = |s: &Option<String>| s.clone().unwrap_or_else(|| "NULL".into());
        let number = |n: Option<u64>| n.map_or_else(|| "NULL".into(), |n| n.to_string());
        out.push_str(&format!(
            "{} | {} | {} | {} | {} | {} | {} | {} | {} | {}\n",
            number(r.id.map(u64::from)),
            r.select_type,
            text(&r.table),
            text(&r.access_type),
            text(&r.possible_keys),
            text(&r.key),
            text(&r.key_len),
            text(&r.reference),
            number(r.rows),
            r.extra
        ));
    }
    out
}

/// Runs a script.
pub fn run_script(path: &Path) {
    let schema = schema();
    let text = std::fs::read_to_string(path).expect("script");
    let mut out = String::new();
    let mut failures = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("> ") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let mut sql = first.to_owned();
        out.push_str(line);
        out.push('\n');
        while let Some(more) = lines.peek().and_then(|l| l.strip_prefix("> ")) {
            sql.push('\n');
            sql.push_str(more);
            out.push_str(lines.next().expect("peeked"));
            out.push('\n');
        }
        let mut expected = String::new();
        while let Some(l) = lines.peek() {
            if l.is_empty() || l.starts_with("> ") {
                break;
            }
            expected.push_str(l);
            expected.push('\n');
            lines.next();
        }
        let got = plan_text(&schema, &sql);
        if got != expected {
            failures.push_str(&format!("> {sql}\n--- expected\n{expected}--- got\n{got}\n"));
        }
        out.push_str(&got);
        if lines.peek().is_some_and(|l| l.starts_with("> ")) {
            out.push('\n');
        }
    }
    if std::env::var_os("UPDATE_PLANS").is_some() {
        std::fs::write(path, out).expect("write");
    } else {
        assert!(failures.is_empty(), "{}:\n{failures}", path.display());
    }
}
