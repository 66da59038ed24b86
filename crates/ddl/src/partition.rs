//! PARTITION BY as SHOW CREATE TABLE prints it. Rows of a partitioned table are kept in one part for the time being.

use std::fmt::Write;

use selkie_parser::ast::{
    Ident, PartitionBy, PartitionMethod, PartitionOptions, PartitionValue, PartitionValues, SubpartitionBy,
};
use selkie_parser::display;

use crate::canonical;

/// The clause's canonical text.
pub fn text(p: &PartitionBy, engine: &str) -> String {
    let mut out = format!("PARTITION BY {}", method(&p.method));
    if let Some(s) = &p.subpartition_by {
        let SubpartitionBy { method: m, count } = s;
        let _ = write!(out, "\nSUBPARTITION BY {}", method(m));
        if let Some(n) = count {
            let _ = write!(out, "\nSUBPARTITIONS {n}");
        }
    }
    if p.partitions.is_empty() {
        if let Some(n) = p.count {
            let _ = write!(out, "\nPARTITIONS {n}");
        }
        return out;
    }
    for (i, d) in p.partitions.iter().enumerate() {
        out.push_str(if i == 0 { "\n(" } else { ",\n " });
        let _ = write!(out, "PARTITION {}", name(&d.name));
        match &d.values {
            None => {}
            Some(PartitionValues::LessThan(v)) => match &v[..] {
                [PartitionValue::MaxValue] => out.push_str(" VALUES LESS THAN MAXVALUE"),
                v => {
                    let _ = write!(out, " VALUES LESS THAN ({})", values(v));
                }
            },
            Some(PartitionValues::In(rows)) => {
                let list: Vec<String> =
                    rows.iter().map(|r| if r.len() == 1 { values(r) } else { format!("({})", values(r)) }).collect();
                let _ = write!(out, " VALUES IN ({})", list.join(","));
            }
            Some(PartitionValues::Default) => out.push_str(" DEFAULT"),
            Some(PartitionValues::History) => out.push_str(" HISTORY"),
            Some(PartitionValues::Current) => out.push_str(" CURRENT"),
        }
        if d.subpartitions.is_empty() {
            options(&d.options, engine, &mut out);
        } else {
            for (n, s) in d.subpartitions.iter().enumerate() {
                out.push_str(if n == 0 { "\n (" } else { ",\n  " });
                let _ = write!(out, "SUBPARTITION {}", name(&s.name));
                options(&s.options, engine, &mut out);
            }
            out.push(')');
        }
    }
    out.push(')');
    out
}

fn name(i: &Ident) -> String {
    display::quoted_ident(i.as_str())
}

fn names(list: &[Ident]) -> String {
    list.iter().map(name).collect::<Vec<_>>().join(",")
}

fn values(list: &[PartitionValue]) -> String {
    let one = |v: &PartitionValue| match v {
        PartitionValue::Expr(e) => canonical::text(e),
        PartitionValue::MaxValue => "MAXVALUE".into(),
    };
    list.iter().map(one).collect::<Vec<_>>().join(",")
}

fn method(m: &PartitionMethod) -> String {
    let linear = |l: &bool| if *l { "LINEAR " } else { "" };
    match m {
        PartitionMethod::Hash { linear: l, expr } => format!("{}HASH ({})", linear(l), canonical::text(expr)),
        PartitionMethod::Key { linear: l, algorithm, columns } => {
            let algorithm = algorithm.map_or(String::new(), |a| format!("/*!50611 ALGORITHM = {a} */ "));
            format!("{}KEY {algorithm}({})", linear(l), names(columns))
        }
        PartitionMethod::Range(e) => format!("RANGE ({})", canonical::text(e)),
        PartitionMethod::RangeColumns(c) => format!("RANGE  COLUMNS({})", names(c)),
        PartitionMethod::List(e) => format!("LIST ({})", canonical::text(e)),
        PartitionMethod::ListColumns(c) => format!("LIST  COLUMNS({})", names(c)),
        PartitionMethod::SystemTime { limit, .. } => {
            let limit = limit.map_or(String::new(), |n| format!(" LIMIT {n}"));
            format!("SYSTEM_TIME{limit}")
        }
    }
}

fn options(o: &PartitionOptions, engine: &str, out: &mut String) {
    if let Some(n) = o.max_rows {
        let _ = write!(out, " MAX_ROWS = {n}");
    }
    if let Some(n) = o.min_rows {
        let _ = write!(out, " MIN_ROWS = {n}");
    }
    if let Some(d) = &o.data_directory {
        let _ = write!(out, " DATA DIRECTORY = {}", selkie_catalog::show_create::quote_text(d));
    }
    if let Some(d) = &o.index_directory {
        let _ = write!(out, " INDEX DIRECTORY = {}", selkie_catalog::show_create::quote_text(d));
    }
    if let Some(c) = &o.comment {
        let _ = write!(out, " COMMENT = {}", selkie_catalog::show_create::quote_text(c));
    }
    let _ = write!(out, " ENGINE = {engine}");
}
