//! Expressions against what a real MariaDB 10.11 says of them: type, value, warnings. `fixtures/capture.py`
//! made the expectations.

mod support;

use std::collections::HashMap;
use std::fmt::Write as _;

use selkie_expr::bind::{BindCtx, fold};
use selkie_expr::{EvalContext, Expr};
use selkie_types::Value;
use support::syntax::{Reader, show_error};
use support::{Context, show_type, show_value};

struct Case<'a> {
    expression: &'a str,
    expected: String,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut out: Vec<Case<'_>> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if line.starts_with("= ") || line.starts_with("> ") || line.starts_with("! ") || line == ">" {
            if let Some(c) = out.last_mut() {
                let _ = writeln!(c.expected, "{}", line.trim_end());
            }
        } else {
            out.push(Case { expression: line, expected: String::new() });
        }
    }
    out
}

fn bind_cx() -> BindCtx {
    BindCtx { database: Some("fx".into()), ..BindCtx::default() }
}

fn warnings(ctx: &Context, out: &mut String) {
    for (level, e) in &ctx.diag.conditions {
        let _ =
            writeln!(out, "! {} {} {}", level.name(), e.code(), e.message().replace('\\', "\\\\").replace('\n', "\\n"));
    }
}

fn actual(expression: &str, columns: &HashMap<&'static str, Expr>, row: &[Value]) -> String {
    let cx = bind_cx();
    let mut ctx = Context::new();
    let mut out = String::new();
    let e = match Reader::new(&cx, columns, expression).expression() {
        Ok(e) => e,
        Err(e) => return format!("! {}\n", show_error(&e)),
    };
    let _ = writeln!(out, "= {}", show_type(&e.ty, e.nullable));
    let ty = e.ty.clone();
    let folded = match fold(e.clone(), &mut ctx) {
        Ok(f) => f,
        Err(e) => return format!("! {}\n", show_error(&e)),
    };
    match folded.eval(row, &mut ctx) {
        Ok(v) => {
            let _ = writeln!(out, "{}", format!("> {}", show_value(&v, &ty)).trim_end());
            warnings(&ctx, &mut out);
            // Evaluation without folding gives the same.
            let mut plain = Context::new();
            match e.eval(row, &mut plain) {
                Ok(w) if show_value(&w, &ty) == show_value(&v, &ty) => {}
                w => {
                    let _ = writeln!(out, "not folded: {w:?}");
                }
            }
        }
        Err(e) => return format!("! {}\n", show_error(&e)),
    }
    out
}

fn aggregate(expression: &str, columns: &HashMap<&'static str, Expr>) -> String {
    let cx = bind_cx();
    let mut ctx = Context::new();
    let mut out = String::new();
    let call = match Reader::new(&cx, columns, expression).aggregate() {
        Ok(c) => c,
        Err(e) => return format!("! {}\n", show_error(&e)),
    };
    let _ = writeln!(out, "= {}", show_type(&call.ty, call.nullable));
    let mut rows = support::group_rows();
    for key in call.order_by.iter().rev() {
        let by = selkie_expr::ValueCompare::new(key.expr.ty.collation());
        rows.sort_by(|a, b| {
            let (x, y) = (key.expr.eval(a, &mut Context::new()), key.expr.eval(b, &mut Context::new()));
            let order = by.order(&x.expect("sort key"), &y.expect("sort key"));
            if key.descending { order.reverse() } else { order }
        });
    }
    let mut state = call.function.accumulator();
    let mut seen: Vec<Vec<Value>> = Vec::new();
    let result = (|| {
        for row in &rows {
            let args = call.args.iter().map(|a| a.eval(row, &mut ctx)).collect::<Result<Vec<_>, _>>()?;
            if call.distinct {
                let equal = |s: &Vec<Value>| {
                    s.iter()
                        .zip(&args)
                        .zip(&call.args)
                        .all(|((a, b), e)| selkie_expr::ValueCompare::new(e.ty.collation()).equal(a, b))
                };
                if seen.iter().any(equal) {
                    continue;
                }
                seen.push(args.clone());
            }
            state.update(&args, &mut ctx)?;
        }
        state.finish(&mut ctx)
    })();
    match result {
        Ok(v) => {
            let _ = writeln!(out, "{}", format!("> {}", show_value(&v, &call.ty)).trim_end());
            warnings(&ctx, &mut out);
        }
        Err(e) => return format!("! {}\n", show_error(&e)),
    }
    out
}

/// Runs a fixture file; lists every case that differs.
fn check(name: &str) {
    let path = format!("{}/tests/fixtures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the fixture");
    let columns = support::columns();
    let row: Vec<Value> = columns.iter().map(|c| c.3.clone()).collect();
    let names: HashMap<&'static str, Expr> = if name.starts_with("group") {
        let g = support::group_columns();
        g.iter().enumerate().map(|(i, (n, t))| (*n, Expr::column(i, t.clone(), true))).collect()
    } else {
        columns.iter().enumerate().map(|(i, c)| (c.0, Expr::column(i, c.1.clone(), c.2))).collect()
    };
    let cases = cases(&text);
    assert!(!cases.is_empty(), "{name} holds no cases");
    let mut wrong = 0;
    for c in &cases {
        let got = if name.starts_with("group") {
            aggregate(c.expression, &names)
        } else {
            actual(c.expression, &names, &row)
        };
        if got != c.expected {
            wrong += 1;
            eprintln!("{}\n--- expected\n{}--- got\n{got}", c.expression, c.expected);
        }
    }
    assert_eq!(wrong, 0, "{wrong} of {} cases of {name} differ", cases.len());
}

macro_rules! fixtures {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

fixtures!(
    operators, compare, control, casts, strings, encodings, math, temporal, interval, json, json_edit, hashes, regexps,
    info, collations, group,
);

#[test]
fn context_is_fixed() {
    assert_eq!(Context::new().settings().now_utc_micros, support::NOW_UTC_MICROS);
}
