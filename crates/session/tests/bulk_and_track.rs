//! Bulk execution, and what OK packets tell of the session's state.

mod common;

use common::{Conn, answer, connect, make_table, open, packets};
use selkie_protocol::response::{Ok as OkPacket, StateChange};
use selkie_protocol::{BulkFlags, BulkParam, ColumnType, ParamType, ParamValue, StmtBulkExecute};

fn bulk(c: &mut Conn, statement: &str, params: &[BulkParam<'_>]) -> String {
    c.client.out.set_sequence(1);
    if let Err(e) = c.session.stmt_prepare(&mut c.client, statement.as_bytes()) {
        return e.message().to_owned();
    }
    c.sent();
    let types = [ColumnType::LongLong, ColumnType::LongLong, ColumnType::VarString].map(ParamType::signed);
    let width = statement.matches('?').count();
    let rows = StmtBulkExecute::encode_rows(&types[..width], params, true);
    let e = StmtBulkExecute {
        statement_id: selkie_protocol::LAST_PREPARED,
        flags: BulkFlags::SEND_TYPES_TO_SERVER,
        rows: &rows,
    };
    c.client.out.set_sequence(1);
    match c.session.stmt_bulk_execute(&mut c.client, &e) {
        Ok(()) => answer(&c.sent()),
        Err(e) => e.message().to_owned(),
    }
}

#[test]
fn many_rows_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    let int = |i| BulkParam::Value(ParamValue::Int(i));
    let text = |t: &'static str| BulkParam::Value(ParamValue::Bytes(t.as_bytes()));
    let null = BulkParam::Value(ParamValue::Null);
    let insert = "INSERT INTO t VALUES (?, ?, ?)";
    let rows = [
        int(1), int(10), text("one"),
        int(2), int(20), null,
        BulkParam::Default, int(30), text("three"),
        int(9), BulkParam::IgnoreRow, text("not there"),
        int(5), int(50), BulkParam::Default,
    ];
    assert_eq!(bulk(&mut c, insert, &rows), "OK 4");
    assert_eq!(c.run("SELECT * FROM t"), "1,10,one | 2,20,NULL | 3,30,three | 5,50,NULL");
    // All or nothing.
    let rows = [int(7), int(70), null, int(1), int(0), null];
    assert_eq!(bulk(&mut c, insert, &rows), "Duplicate entry '1' for key 'PRIMARY'");
    assert_eq!(c.run("SELECT COUNT(*) FROM t"), "4");
    let rows = [int(11), int(1), BulkParam::Ignore, int(2), int(33), int(3)];
    assert_eq!(bulk(&mut c, "UPDATE t SET k = ? WHERE id = ?", &rows), "OK 2");
    assert_eq!(c.run("SELECT id, k FROM t"), "1,11 | 2,20 | 3,33 | 5,50");
    assert_eq!(bulk(&mut c, "DELETE FROM t WHERE id = ?", &[int(1), int(4), int(5)]), "OK 2");
    assert_eq!(
        bulk(&mut c, "DELETE FROM t WHERE id = ?", &[BulkParam::Default]),
        "Default/ignore value is not supported for such parameter usage"
    );
    assert_eq!(
        bulk(&mut c, "SELECT ?", &[int(1)]),
        "This command is not supported in the prepared statement protocol yet"
    );
    assert_eq!(c.run("SELECT id FROM t"), "2 | 3");
}

/// Runs a statement; the changes that its last packet tells.
fn changes(c: &mut Conn, sql: &str) -> Vec<String> {
    let bytes = c.run_raw(sql);
    let last = packets(&bytes).last().unwrap().to_vec();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let ok = OkPacket::decode(&last, c.client.capabilities).unwrap();
    let shown = ok.state_changes().map(|change| match change.unwrap() {
        StateChange::SystemVariable { name, value } => format!("{}={}", text(name), text(value)),
        StateChange::Schema(s) => format!("schema {}", text(s)),
        StateChange::TransactionState(s) => text(s),
        StateChange::TransactionCharacteristics(s) => format!("<{}>", text(s)),
        other => format!("{other:?}"),
    });
    shown.collect()
}

#[test]
fn state_changes() {
    let dir = tempfile::tempdir().unwrap();
    let instance = open(dir.path());
    make_table(&instance, "t", false, true);
    let mut c = connect(&instance);
    c.session.track_from_here();
    assert_eq!(changes(&mut c, "SELECT 1"), [""; 0]);
    assert_eq!(changes(&mut c, "USE mysql"), ["schema mysql"]);
    assert_eq!(changes(&mut c, "USE test"), ["schema test"]);
    c.session.host.set_var("time_zone", "+02:00");
    c.session.host.set_var("max_error_count", "5");
    assert_eq!(changes(&mut c, "DO 1"), ["time_zone=+02:00"]);
    assert_eq!(changes(&mut c, "DO 1"), [""; 0]);
    c.session.host.set_var("session_track_system_variables", "last_gtid");
    c.session.host.set_var("session_track_transaction_info", "CHARACTERISTICS");
    c.session.host.set_var("session_track_schema", "OFF");
    assert_eq!(changes(&mut c, "USE test"), [""; 0]);
    assert_eq!(changes(&mut c, "START TRANSACTION"), ["<START TRANSACTION;>", "T_______"]);
    assert_eq!(changes(&mut c, "INSERT INTO t VALUES (1, 1, 'a')"), ["T___W___"]);
    assert_eq!(changes(&mut c, "SELECT * FROM t"), ["T_R_W_S_"]);
    let at_commit = changes(&mut c, "COMMIT");
    assert!(at_commit[0].starts_with("last_gtid=0-1-"), "{at_commit:?}");
    assert_eq!(at_commit[1..], ["<>", "________"]);
    assert_eq!(changes(&mut c, "SELECT * FROM t"), [""; 0]);
}
