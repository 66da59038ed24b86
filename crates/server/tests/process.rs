//! The program as a process: how it starts, refuses to, ends, and what it holds after kill -9.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use selkie_test_support::client::{Client, ClientError, Login};
use selkie_test_support::ledger::Ledger;
use selkie_test_support::server::{ANSWER_TIMEOUT, Kind, TestServer};

fn selkie() -> Kind {
    Kind::Selkie(env!("CARGO_BIN_EXE_selkie").into())
}

fn serve(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selkie")).arg("serve").args(arguments).output().unwrap()
}

/// The one line that says why, and the exit status.
fn refusal(arguments: &[&str]) -> (String, Option<i32>) {
    let out = serve(arguments);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let line = text.lines().find(|l| l.contains("[ERROR]")).or(text.lines().last()).unwrap_or_default();
    (line.to_owned(), out.status.code())
}

#[test]
fn an_unknown_option_is_one_line_and_status_7() {
    let out = serve(&["--no-such-thing=1"]);
    assert_eq!(String::from_utf8_lossy(&out.stderr), "selkie: unknown option '--no-such-thing'\n");
    assert_eq!(out.status.code(), Some(7));
}

#[test]
fn help_and_version_need_no_data_directory() {
    for argument in ["--help", "--version"] {
        let out = serve(&[argument]);
        assert!(out.status.success() && !out.stdout.is_empty() && out.stderr.is_empty(), "{argument}: {out:?}");
    }
}

#[test]
fn what_is_in_use_is_refused() {
    let server = TestServer::start_tcp(selkie(), &[]).unwrap();
    let own = server.datadir();
    let other = tempfile::tempdir().unwrap();
    let datadir = |p: &Path| format!("--datadir={}", p.display());
    let (line, status) = refusal(&[&datadir(&own), "--skip-networking", "--socket=x.sock"]);
    assert!(line.contains("another server uses the data directory"), "{line}");
    assert_eq!(status, Some(1));
    let port = format!("--port={}", server.port().unwrap());
    let (line, status) = refusal(&[&datadir(&other.path().join("d")), &port, "--bind-address=127.0.0.1"]);
    assert!(line.contains("cannot listen on 127.0.0.1") && line.contains("Address already in use"), "{line}");
    assert_eq!(status, Some(1));
    let socket = format!("--socket={}", server.socket().display());
    let (line, status) = refusal(&[&datadir(&other.path().join("e")), "--skip-networking", &socket]);
    assert!(line.contains("another server answers on the unix socket"), "{line}");
    assert_eq!(status, Some(1));
    // The first one noticed nothing.
    assert!(server.connect().unwrap().rows("SELECT 1").is_ok());
}

#[test]
fn an_option_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    std::fs::write(&file, "[client]\nport=1\n[mysqld]\nmax-connections=77\n[selkie]\nno-such-thing\n").unwrap();
    let out = serve(&[&format!("--defaults-file={}", file.display()), "--print-defaults"]);
    // --print-defaults stands behind: it is an option about files too.
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.ends_with("--max-connections=77 --no-such-thing\n"), "{text} {out:?}");
    assert_eq!(serve(&[&format!("--defaults-file={}", file.display())]).status.code(), Some(7));
}

#[test]
fn data_survives_an_end_of_either_kind() {
    let mut server = TestServer::start(selkie(), &["--pid-file=selkie.pid"]).unwrap();
    let pid = std::fs::read_to_string(server.datadir().join("selkie.pid")).unwrap();
    assert_eq!(pid.trim(), server.pid().unwrap().to_string());
    let mut c = server.connect().unwrap();
    c.execute("CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(10), KEY (v))").unwrap();
    c.execute("INSERT INTO test.t VALUES (1, 'one')").unwrap();
    server.restart().unwrap();
    let mut c = server.connect().unwrap();
    c.execute("INSERT INTO test.t VALUES (2, 'two')").unwrap();
    c.execute("BEGIN").unwrap();
    c.execute("INSERT INTO test.t VALUES (3, 'open')").unwrap();
    assert!(server.stop().unwrap().success());
    assert!(!server.datadir().join("selkie.pid").exists() && !server.socket().exists());
    server.restart().unwrap();
    let rows = server.connect().unwrap().rows("SELECT v FROM test.t ORDER BY id").unwrap();
    assert_eq!(rows, [[Some(b"one".to_vec())], [Some(b"two".to_vec())]]);
}

#[test]
fn a_shutdown_waits_for_running_statements_and_ends_idle_connections() {
    let mut server = TestServer::start(selkie(), &[]).unwrap();
    let mut idle = server.connect().unwrap();
    let mut busy = server.connect().unwrap();
    busy.send("SELECT SLEEP(1)").unwrap();
    // The statement has begun once the other connection sees it.
    let running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'";
    while idle.rows(running).unwrap() != [[Some(b"1".to_vec())]] {}
    assert!(server.stop().unwrap().success());
    assert!(busy.receive().is_ok(), "the running statement was answered");
    assert!(matches!(idle.rows("SELECT 1"), Err(ClientError::Io(_) | ClientError::Refused(_) | ClientError::Frame(_))));
}

#[test]
fn too_many_connections_are_told() {
    let server = TestServer::start(selkie(), &["--max-connections=10"]).unwrap();
    let mut open = Vec::new();
    while open.len() < 11 {
        let mut stream = UnixStream::connect(server.socket()).unwrap();
        let mut head = [0; 5];
        stream.read_exact(&mut head).unwrap();
        // A greeting: the server counts it. Not so while the connection that waited for the start still does.
        if head[4] == 10 {
            open.push(stream);
        }
    }
    let refused = Client::connect(&server.endpoint(), &Login::default(), ANSWER_TIMEOUT);
    match refused {
        Err(ClientError::Refused(e)) => assert_eq!((e.code, e.message.as_str()), (1040, "Too many connections")),
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("there was room"),
    }
    drop(open);
    // They end by themselves: their place becomes free.
    while Client::connect(&server.endpoint(), &Login::default(), ANSWER_TIMEOUT).is_err() {}
}

#[test]
fn kill_ends_a_connection_that_waits() {
    let server = TestServer::start_tcp(selkie(), &[]).unwrap();
    let mut killer = server.connect().unwrap();
    killer.execute("CREATE USER victim@localhost IDENTIFIED BY 'secret'").unwrap();
    let login = Login { user: "victim".into(), password: "secret".into(), database: None };
    let mut victim = Client::connect(&server.tcp().unwrap(), &login, ANSWER_TIMEOUT).unwrap();
    killer.execute(&format!("KILL {}", victim.connection_id)).unwrap();
    assert!(victim.rows("SELECT 1").is_err());
    assert!(killer.rows("SELECT 1").is_ok());
}

#[test]
fn an_account_without_password_is_for_the_socket_only() {
    let server = TestServer::start_tcp(selkie(), &[]).unwrap();
    match Client::connect(&server.tcp().unwrap(), &Login::default(), ANSWER_TIMEOUT) {
        Err(ClientError::Refused(e)) => assert_eq!(e.code, 1045),
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("root came in over the network without a password"),
    }
    assert!(server.connect().unwrap().rows("SELECT 1").is_ok());
}

#[test]
fn garbage_from_clients_is_survived() {
    use std::io::Write;
    let server = TestServer::start_tcp(selkie(), &[]).unwrap();
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0xFF; 300], &[0, 0, 0, 1], &[5, 0, 0, 1, 1, 2, 3, 4, 5]] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port().unwrap())).unwrap();
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // A reset is as good an end as any.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(server.connect().unwrap().rows("SELECT 1").is_ok());
    assert!(!server.log().contains("internal error"), "{}", server.log());
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let mut server = TestServer::start(selkie(), &[]).unwrap();
    let mut ledger = Ledger::create(&server, 4, 7).unwrap();
    let mut acknowledged = 0;
    for milliseconds in [700, 300, 500] {
        let round = ledger.round(&mut server, Duration::from_millis(milliseconds)).unwrap();
        acknowledged += round.acknowledged;
    }
    assert!(acknowledged > 0, "nothing was committed: nothing was tested");
}
