//! EXPLAIN and ANALYZE of statements: the planner's account of a plan, with what a run of it counted.

use std::fmt::Write;

use selkie_executor::analysis::{Analysis, ScanCounts};
use selkie_parser::ast;
use selkie_planner::explain::{ExplainRow, explain};
use selkie_planner::plan::{self, OutputColumn};
use selkie_types::{Charset, SqlResult, SqlType, TextKind, Value, sql_err};

use crate::client::Client;
use crate::session::{Answer, Session};

impl Session {
    /// EXPLAIN.
    pub fn run_explain(&mut self, client: &mut Client, e: &ast::Explain, text: &[u8], answer: Answer) -> SqlResult<()> {
        let ready = self.plan(&e.statement, &[])?;
        let analysis = if e.analyze {
            Some(self.analyze(&ready, text)?)
        } else {
            self.as_statement(false, text, |s| s.check_privileges(&ready))?;
            None
        };
        let rows = explain(&ready.planned.statement);
        match e.format {
            ast::ExplainFormat::Json => {
                let name = if e.analyze { "ANALYZE" } else { "EXPLAIN" };
                let document = json(&rows, analysis.as_ref());
                self.write_result(client, &[text_column(name, 78, false)], &[Value::text(&document)], answer)
            }
            ast::ExplainFormat::Traditional => {
                let table = Tabular { partitions: e.partitions, extended: e.extended, analysis: analysis.as_ref() };
                let values: Vec<Value> = rows.iter().flat_map(|r| table.row(r)).collect();
                self.write_result(client, &table.columns(), &values, answer)
            }
        }
    }

    /// Runs a statement for what can be counted: a query's rows go nowhere, changes are made.
    fn analyze(&mut self, ready: &crate::dml::Ready, text: &[u8]) -> SqlResult<Analysis> {
        self.check_privileges(ready)?;
        let writes = !matches!(ready.planned.statement, plan::Statement::Query(_) | plan::Statement::Do(_));
        if writes {
            self.check_writable(ready)?;
        }
        self.as_statement(writes, text, |s| {
            let mut cx = s.exec(&[]);
            cx.analysis = Some(Box::default());
            match &ready.planned.statement {
                plan::Statement::Query(q) => {
                    selkie_executor::query::run(&mut cx, q, &mut |_, _| Ok(true))?;
                }
                plan::Statement::Insert(p) => drop(selkie_executor::dml::insert(&mut cx, p)?),
                plan::Statement::Update(p) => drop(selkie_executor::dml::update(&mut cx, p)?),
                plan::Statement::Delete(p) => drop(selkie_executor::dml::delete(&mut cx, p)?),
                plan::Statement::Do(_) => return Err(sql_err!(ER_NOT_SUPPORTED_YET, "ANALYZE DO")),
            }
            Ok(cx.analysis.take().map(|a| *a).unwrap_or_default())
        })
    }
}

fn text_column(name: &str, len: u32, nullable: bool) -> OutputColumn {
    let ty = SqlType::varchar(len, Charset::Utf8mb3.default_collation());
    OutputColumn { name: name.to_owned(), ty, nullable, origin: None }
}

fn percent_column(name: &str) -> OutputColumn {
    let ty = SqlType::Double { unsigned: false, zerofill: false, digits: Some((4, 2)) };
    OutputColumn { name: name.to_owned(), ty, nullable: true, origin: None }
}

/// What ANALYZE counted for a row of EXPLAIN.
fn counts(row: &ExplainRow, analysis: Option<&Analysis>) -> Option<ScanCounts> {
    analysis?.of(row.scan?)
}

/// The table form.
struct Tabular<'a> {
    partitions: bool,
    extended: bool,
    analysis: Option<&'a Analysis>,
}

impl Tabular<'_> {
    fn columns(&self) -> Vec<OutputColumn> {
        let id = SqlType::Int {
            width: selkie_types::IntWidth::Big,
            unsigned: true,
            zerofill: false,
            display: 3,
        };
        let mut c = vec![
            OutputColumn { name: "id".to_owned(), ty: id, nullable: true, origin: None },
            text_column("select_type", 19, false),
            text_column("table", 64, true),
        ];
        if self.partitions {
            let collation = Charset::Utf8mb3.default_collation();
            let ty = SqlType::Text { kind: TextKind::MediumText, len: 6_316_032, collation };
            c.push(OutputColumn { name: "partitions".to_owned(), ty, nullable: true, origin: None });
        }
        c.push(text_column("type", 10, true));
        c.push(text_column("possible_keys", 4096, true));
        c.push(text_column("key", 64, true));
        c.push(text_column("key_len", 4096, true));
        c.push(text_column("ref", 2048, true));
        c.push(text_column("rows", 64, true));
        if self.analysis.is_some() {
            c.push(text_column("r_rows", 64, true));
        }
        if self.extended || self.analysis.is_some() {
            c.push(percent_column("filtered"));
        }
        if self.analysis.is_some() {
            c.push(percent_column("r_filtered"));
        }
        c.push(text_column("Extra", 255, true));
        c
    }

    fn row(&self, r: &ExplainRow) -> Vec<Value> {
        let text = |t: &Option<String>| t.as_ref().map_or(Value::Null, |t| Value::text(t));
        let mut v = vec![
            r.id.map_or(Value::Null, |id| Value::UInt(id.into())),
            Value::text(&r.select_type),
            text(&r.table),
        ];
        if self.partitions {
            v.push(text(&r.partitions));
        }
        for t in [&r.access_type, &r.possible_keys, &r.key, &r.key_len, &r.reference] {
            v.push(text(t));
        }
        v.push(r.rows.map_or(Value::Null, |n| Value::text(&n.to_string())));
        let counted = counts(r, self.analysis);
        if self.analysis.is_some() {
            v.push(counted.map_or(Value::Null, |c| Value::text(&format!("{:.2}", c.rows_each()))));
        }
        if self.extended || self.analysis.is_some() {
            v.push(r.rows.map_or(Value::Null, |_| Value::Double(100.0)));
        }
        if self.analysis.is_some() {
            v.push(counted.map_or(Value::Null, |c| Value::Double(c.filtered())));
        }
        // What INSERT adds to is not read: nothing can be said of that.
        v.push(if r.select_type == "INSERT" { Value::Null } else { Value::text(&r.extra) });
        v
    }
}

/// FORMAT=JSON: a query block for each SELECT, with its tables in the order in which they are joined.
fn json(rows: &[ExplainRow], analysis: Option<&Analysis>) -> String {
    let mut out = String::from("{\n");
    let first = rows.first().and_then(|r| r.id);
    let mut ids: Vec<Option<u32>> = Vec::new();
    for r in rows {
        if !ids.contains(&r.id) {
            ids.push(r.id);
        }
    }
    let of = |id: Option<u32>| rows.iter().filter(move |r| r.id == id);
    query_block(&mut out, 2, first, of(first), analysis);
    let others: Vec<_> = ids.into_iter().filter(|id| *id != first).collect();
    if !others.is_empty() {
        // Back into the block that stands open.
        let end = out.trim_end().len() - "\n  }".len();
        out.truncate(end);
        out.push_str(",\n    \"subqueries\": [\n");
        for (i, id) in others.iter().enumerate() {
            out.push_str("      {\n");
            query_block(&mut out, 8, *id, of(*id), analysis);
            out.push_str(if i + 1 < others.len() { "      },\n" } else { "      }\n" });
        }
        out.push_str("    ]\n  }\n");
    }
    out.push('}');
    out
}

fn query_block<'r>(
    out: &mut String,
    indent: usize,
    id: Option<u32>,
    rows: impl Iterator<Item = &'r ExplainRow>,
    analysis: Option<&Analysis>,
) {
    let pad = " ".repeat(indent);
    // Writing to a String cannot fail.
    let _ = write!(out, "{pad}\"query_block\": {{");
    let mut comma = "";
    if let Some(id) = id {
        let _ = write!(out, "\n{pad}  \"select_id\": {id}");
        comma = ",";
    }
    let mut rows = rows.peekable();
    let message_only = rows.peek().is_some_and(|r| r.table.is_none());
    if message_only && let Some(r) = rows.next() {
        let _ = write!(out, "{comma}\n{pad}  \"table\": {{\n{pad}    \"message\": {}\n{pad}  }}", quoted(&r.extra));
        comma = ",";
    }
    if rows.peek().is_some() {
        let _ = write!(out, "{comma}\n{pad}  \"nested_loop\": [");
        let mut between = "";
        for r in rows {
            let fields = table_fields(r, analysis);
            let lines: Vec<String> = fields.iter().map(|(n, v)| format!("\n{pad}        \"{n}\": {v}")).collect();
            let _ = write!(
                out,
                "{between}\n{pad}    {{\n{pad}      \"table\": {{{}\n{pad}      }}\n{pad}    }}",
                lines.join(",")
            );
            between = ",";
        }
        let _ = write!(out, "\n{pad}  ]");
    }
    let _ = writeln!(out, "\n{pad}}}");
}

fn table_fields(r: &ExplainRow, analysis: Option<&Analysis>) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    let mut text = |name, v: &Option<String>| {
        if let Some(v) = v {
            fields.push((name, quoted(v)));
        }
    };
    text("table_name", &r.table);
    text("access_type", &r.access_type);
    text("key", &r.key);
    text("key_length", &r.key_len);
    let list = |v: &str| {
        let all: Vec<String> = v.split(',').map(quoted).collect();
        format!("[{}]", all.join(", "))
    };
    if let Some(keys) = &r.possible_keys {
        fields.push(("possible_keys", list(keys)));
    }
    if let Some(refs) = &r.reference {
        fields.push(("ref", list(refs)));
    }
    let counted = counts(r, analysis);
    if let Some(c) = counted {
        fields.push(("r_loops", c.loops.to_string()));
    }
    if let Some(n) = r.rows {
        fields.push(("rows", n.to_string()));
    }
    if let Some(c) = counted {
        fields.push(("r_rows", number(c.rows_each())));
    }
    if r.rows.is_some() {
        fields.push(("filtered", "100".to_owned()));
    }
    if let Some(c) = counted {
        fields.push(("r_filtered", number(c.filtered())));
    }
    if !r.extra.is_empty() {
        fields.push(("extra", quoted(&r.extra)));
    }
    fields
}

/// A number of at most two decimals, without trailing zeros.
fn number(v: f64) -> String {
    let text = format!("{v:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 32 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
