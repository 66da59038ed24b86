//! What one short statement costs inside the server, from the text to the bytes of the answer, without a socket and over
//! the memory engine. `cargo run --release --example statement_cost -- [statements]`; under
//! `valgrind --tool=callgrind` with few statements for instruction counts.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Conn, connect, make_table, open};

fn measure(name: &str, c: &mut Conn, n: u32, mut run: impl FnMut(&mut Conn, u32)) {
    for i in 0..10 {
        run(c, i);
    }
    let started = Instant::now();
    for i in 0..n {
        run(c, i);
    }
    let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(n.max(1));
    println!("{name:<40} {micros:8.2} µs");
}

fn query(c: &mut Conn, sql: &str) {
    c.client.out.set_sequence(1);
    if c.session.query(&mut c.client, sql.as_bytes()).is_err() || c.sent().is_empty() {
        panic!("no answer to {sql}");
    }
}

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200_000);
    let only = std::env::args().nth(2);
    let wanted = |name: &str| only.as_deref().is_none_or(|o| name == o);
    let Ok(dir) = tempfile::tempdir() else { panic!("no temporary folder") };
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    let rows: Vec<String> = (1..=1000).map(|i| format!("({i}, {i}, 'row {i}')")).collect();
    query(&mut c, &format!("INSERT INTO t VALUES {}", rows.join(", ")));
    let point = |i: u32| format!("SELECT c FROM t WHERE id = {}", i % 1000 + 1);
    let short = |i: u32| format!("SELECT id, k, c FROM t WHERE id BETWEEN {} AND {}", i % 900 + 1, i % 900 + 10);
    if wanted("planned") {
        measure("point select, planned each time", &mut c, n / 4, |c, i| {
            c.session.plans.clear();
            query(c, &point(i));
        });
    }
    if wanted("cached") {
        measure("point select, plan cached", &mut c, n, |c, i| query(c, &point(i)));
    }
    if wanted("range") {
        measure("range of ten rows, plan cached", &mut c, n / 2, |c, i| query(c, &short(i)));
    }
    if wanted("update") {
        c.run("BEGIN");
        measure("update by key in a transaction", &mut c, n / 4, |c, i| {
            query(c, &format!("UPDATE t SET k = k + 1 WHERE id = {}", i % 1000 + 1));
        });
        c.run("ROLLBACK");
    }
}
