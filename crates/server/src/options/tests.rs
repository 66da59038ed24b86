//! Command lines and what they mean.

use super::*;

fn options(arguments: &[&str]) -> ServerOptions {
    match parse(arguments.iter().map(OsString::from).collect()) {
        Ok(Parsed::Serve(o)) => *o,
        other => panic!("{arguments:?}: {other:?}"),
    }
}

fn error(arguments: &[&str]) -> OptionError {
    parse(arguments.iter().map(OsString::from).collect()).expect_err("an error")
}

fn value(arguments: &[&str], name: &str) -> String {
    options(arguments).globals.get(name).to_owned()
}

#[test]
fn names_take_dashes_and_underscores() {
    assert_eq!(value(&["--max-connections=20"], "max_connections"), "20");
    assert_eq!(value(&["--max_connections=20"], "max_connections"), "20");
    assert_eq!(value(&["--max-connections", "20"], "max_connections"), "20");
    assert_eq!(value(&["-P", "3307"], "port"), "3307");
    assert_eq!(value(&["-P3307"], "port"), "3307");
    assert_eq!(value(&["--port=1", "--port=2"], "port"), "2");
}

#[test]
fn defaults() {
    let o = options(&["--datadir=/tmp/d"]);
    assert_eq!(o.globals.get("port"), "3306");
    assert_eq!(o.globals.get("datadir"), "/tmp/d/");
    assert_eq!(o.socket, PathBuf::from("/tmp/d/selkie.sock"));
    assert_eq!((o.pid_file, o.log_error), (None, None));
    assert!(o.notes.is_empty());
}

#[test]
fn switches() {
    assert_eq!(value(&["--skip-networking"], "skip_networking"), "ON");
    assert_eq!(value(&["--skip-networking=0"], "skip_networking"), "OFF");
    assert_eq!(value(&["--skip-name-resolve"], "skip_name_resolve"), "ON");
    assert_eq!(value(&["--read-only"], "read_only"), "ON");
    assert_eq!(value(&["--read-only", "--skip-read-only"], "read_only"), "OFF");
    assert_eq!(value(&["--skip-log-slave-updates"], "log_slave_updates"), "OFF");
    assert_eq!(value(&["--slow-query-log", "--long-query-time=0.5"], "long_query_time"), "0.500000");
    assert_eq!(value(&["--long-query-time=0.5"], "log_slow_query_time"), "0.500000");
    assert!(matches!(error(&["--skip-read-only=1"]), OptionError::UnwantedValue(_)));
}

#[test]
fn sizes_and_limits() {
    assert_eq!(value(&["--innodb-buffer-pool-size=2G"], "innodb_buffer_pool_size"), (2u64 << 30).to_string());
    let o = options(&["--max-connections=1"]);
    assert_eq!(o.globals.get("max_connections"), "10");
    assert_eq!(o.notes, [Note::Warning("option 'max_connections': value 1 adjusted to 10".into())]);
}

#[test]
fn errors_have_mariadbds_exit_status() {
    for (arguments, message, status) in [
        (vec!["--foo"], "unknown option '--foo'", 7),
        (vec!["--foo=1"], "unknown option '--foo'", 7),
        (vec!["-x"], "unknown option '-x'", 7),
        (vec!["--timestamp=1"], "unknown option '--timestamp'", 7),
        (vec!["--port"], "option '--port' requires an argument", 5),
        (vec!["--port=abc"], "'abc' is no number that option '--port' can take", 9),
        (vec!["--sql-mode=bad"], "error while setting value 'bad' to option '--sql-mode'", 13),
        (
            vec!["--binlog-format=x"],
            "error while setting value 'x' to option '--binlog-format'; it may be MIXED, STATEMENT, ROW",
            13,
        ),
        (
            vec!["--character-set-server=klingon"],
            "error while setting value 'klingon' to option '--character-set-server'",
            13,
        ),
        (
            vec!["--default-storage-engine=foo"],
            "error while setting value 'foo' to option '--default-storage-engine'",
            13,
        ),
        (
            vec!["--log-recovery=hope"],
            "error while setting value 'hope' to option '--log-recovery'; it may be 'refuse' or 'truncate'",
            13,
        ),
        (vec!["stray"], "too many arguments (first extra is 'stray')", 1),
    ] {
        let e = error(&arguments);
        assert_eq!((e.to_string().as_str(), e.exit_status()), (message, status), "{arguments:?}");
    }
}

#[test]
fn loose_options_may_be_unknown() {
    let o = options(&["--loose-foo=1", "--loose-max-connections=33", "--loose-port=x"]);
    assert_eq!(o.globals.get("max_connections"), "33");
    assert_eq!(o.notes.len(), 2, "{:?}", o.notes);
}

#[test]
fn options_of_absent_engines_are_accepted_and_told() {
    let o = options(&["--innodb-log-files-in-group=2", "--innodb-io-capacity=400", "--skip-innodb", "--wsrep-on=0"]);
    assert_eq!(o.globals.get("innodb_io_capacity"), "400");
    assert_eq!(o.notes.len(), 3, "{:?}", o.notes);
}

#[test]
fn what_is_relied_on_and_missing_is_a_warning() {
    assert!(options(&["--lower-case-table-names=0", "--skip-event-scheduler"]).notes.is_empty());
    let o = options(&["--require-secure-transport", "--lower-case-table-names=1"]);
    assert!(o.notes.len() == 2 && o.notes.iter().all(|n| matches!(n, Note::Warning(_))), "{:?}", o.notes);
}

#[test]
fn other_names_of_variables() {
    assert_eq!(value(&["--transaction-isolation=READ-COMMITTED"], "tx_isolation"), "READ-COMMITTED");
    assert_eq!(value(&["--default-time-zone=+02:00"], "time_zone"), "+02:00");
    assert_eq!(value(&["--event-scheduler"], "event_scheduler"), "ON");
}

#[test]
fn collation_follows_character_set_and_the_other_way_round() {
    let o = options(&["--character-set-server=latin1"]);
    assert_eq!(o.globals.get("collation_server"), "latin1_swedish_ci");
    assert_eq!(o.globals.get("character_set_database"), "latin1");
    let o = options(&["--collation-server=utf8mb4_bin"]);
    assert_eq!(o.globals.get("character_set_server"), "utf8mb4");
    assert_eq!(o.globals.get("collation_database"), "utf8mb4_bin");
}

#[test]
fn the_binary_log_stays() {
    for given in ["--skip-log-bin", "--log-bin=mysql-bin", "--log-bin"] {
        assert_eq!(value(&[given], "log_bin"), "ON");
    }
    assert!(!options(&["--skip-log-bin"]).notes.is_empty());
}
