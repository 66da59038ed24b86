//! One connection from greeting to goodbye.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use selkie_protocol::handshake::{Greeting, HandshakeEvent, Scramble, ServerHandshake};
use selkie_protocol::response::{self, Eof, Err as ErrPacket, Ok as OkPacket};
use selkie_protocol::{Capabilities, Command, ServerStatus};
use selkie_types::{SqlError, SqlResult, sql_err};

use crate::accounts::{Account, check_native};
use crate::client::{Client, ReadError, Transport};
use crate::instance::Instance;
use crate::session::{Done, Session};
use crate::status::bump;

const NATIVE: &str = "mysql_native_password";
/// Longest packet before a client has logged in.
const LOGIN_PACKET_BYTES: usize = 64 * 1024;

/// Runs a connection on the calling thread until it ends. `host` is the client's address, or `localhost` for the socket.
pub fn serve(instance: Arc<Instance>, transport: Box<dyn Transport>, host: String, wake: Option<Box<dyn Fn() + Send>>) {
    let id = instance.next_connection_id();
    bump(&instance.status.connections);
    let mut session = Session::new(instance.clone(), id, &host);
    *session.connection.wake.lock() = wake;
    let connections = instance.connection_count() as u64;
    instance.status.max_used_connections.fetch_max(connections, Ordering::Relaxed);
    let mut client = Client::new(transport, LOGIN_PACKET_BYTES);
    let max = instance.globals.read().u64("max_connections");
    if connections > max + 1 {
        refuse(&mut client, &sql_err!(ER_CON_COUNT_ERROR));
        return;
    }
    match login(&mut session, &mut client, &host, connections > max) {
        Ok(true) => {}
        Ok(false) | Err(_) => {
            bump(&instance.status.aborted_connects);
            return;
        }
    }
    client.set_max_allowed_packet(session.host.hot.max_allowed_packet);
    let clean = commands(&mut session, &mut client, &host);
    instance.status.bytes_received.fetch_add(client.received, Ordering::Relaxed);
    instance.status.bytes_sent.fetch_add(client.sent, Ordering::Relaxed);
    if !clean {
        bump(&instance.status.aborted_clients);
    }
}

/// Sends an error to a client that was not greeted, and hangs up.
fn refuse(client: &mut Client, e: &SqlError) {
    client.out.set_sequence(0);
    client.capabilities = Capabilities::CLIENT_PROTOCOL_41;
    client.error(e);
    // Nobody is left to tell if this fails.
    let _ = client.flush();
}

fn capabilities() -> Capabilities {
    Capabilities::SERVER_DEFAULT
}

/// The connection phase. `false`: refused (the client was told).
fn login(session: &mut Session, client: &mut Client, host: &str, only_admin: bool) -> std::io::Result<bool> {
    let timeout = session.instance.globals.read().u64("connect_timeout");
    client.transport().set_write_timeout(60)?;
    let scramble = Scramble::from_random(rand::random());
    let version = session.host.vars.get("version").to_owned();
    let greeting = Greeting {
        server_version: version.as_bytes(),
        version_prefix: false,
        connection_id: session.connection.id as u32,
        auth_data: scramble.as_bytes(),
        capabilities: capabilities(),
        collation: 45,
        status: ServerStatus::SERVER_STATUS_AUTOCOMMIT,
        auth_plugin: NATIVE.as_bytes(),
    };
    let mut handshake = ServerHandshake::greet(&mut client.out, &greeting);
    client.flush()?;
    let mut login = Login::default();
    loop {
        let payload = match client.read_packet(false, timeout) {
            Ok(p) => p,
            Err(ReadError::Io(e)) => return Err(e),
            Err(_) => {
                refuse_handshake(client, handshake, &sql_err!(ER_HANDSHAKE_ERROR))?;
                return Ok(false);
            }
        };
        let packet = selkie_protocol::Packet { sequence: client.out.sequence().wrapping_sub(1), payload: &payload };
        match handshake.on_packet(packet, &mut client.out) {
            Ok(HandshakeEvent::Login(r)) => {
                login.take(&r);
                client.capabilities = r.capabilities;
                let plugin_is_native = r.auth_plugin.is_none_or(|p| p == NATIVE.as_bytes());
                if !plugin_is_native {
                    // Whatever the client's own default is: this server asks for native passwords.
                    handshake.switch_plugin(&mut client.out, NATIVE, &scramble.with_nul());
                    client.flush()?;
                    continue;
                }
                login.answer = r.auth_response.to_vec();
            }
            Ok(HandshakeEvent::AuthData(data)) => login.answer = data.to_vec(),
            Ok(HandshakeEvent::StartTls) | Err(_) => {
                refuse_handshake(client, handshake, &sql_err!(ER_HANDSHAKE_ERROR))?;
                return Ok(false);
            }
        }
        let on_socket = client.transport().is_local();
        let outcome = authenticate(session, &login, scramble.as_bytes(), host, on_socket).and_then(|a| {
            if only_admin && !a.allows("CONNECTION ADMIN", "", "") {
                return Err(sql_err!(ER_CON_COUNT_ERROR));
            }
            enter(session, &a, &login, host)
        });
        return match outcome {
            Ok(()) => {
                let ok = ok_packet(session.status(false), 0);
                client.capabilities = handshake.accept(&mut client.out, &ok);
                client.flush()?;
                session.found_rows = client.capabilities.contains(Capabilities::CLIENT_FOUND_ROWS);
                session.multi_statements = client.capabilities.contains(Capabilities::CLIENT_MULTI_STATEMENTS);
                Ok(true)
            }
            Err(e) => {
                refuse_handshake(client, handshake, &e)?;
                Ok(false)
            }
        };
    }
}

fn refuse_handshake(client: &mut Client, handshake: ServerHandshake, e: &SqlError) -> std::io::Result<()> {
    let mut state = *b"HY000";
    state.copy_from_slice(e.sqlstate().as_bytes());
    handshake.reject(&mut client.out, &ErrPacket::new(e.code(), state, e.message().as_bytes()));
    client.flush()
}

/// What a client says of itself.
#[derive(Default)]
struct Login {
    user: String,
    database: Option<String>,
    collation: u16,
    answer: Vec<u8>,
}

impl Login {
    fn take(&mut self, r: &selkie_protocol::handshake::HandshakeResponse<'_>) {
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        self.user = text(r.user);
        self.database = r.database.filter(|d| !d.is_empty()).map(text);
        self.collation = r.collation;
    }
}

fn authenticate(
    session: &Session,
    login: &Login,
    scramble: &[u8],
    host: &str,
    on_socket: bool,
) -> SqlResult<Arc<Account>> {
    let denied = || {
        let using = if login.answer.is_empty() { "NO" } else { "YES" };
        sql_err!(ER_ACCESS_DENIED_ERROR, login.user, host, using)
    };
    let account = session.instance.accounts.find(&login.user, host).ok_or_else(denied)?;
    if account.locked {
        return Err(sql_err!(ER_ACCOUNT_HAS_BEEN_LOCKED));
    }
    // An account without password is for this machine's socket only.
    let from_afar = login.answer.is_empty() && !on_socket;
    if from_afar || !check_native(&account, scramble, &login.answer) {
        return Err(denied());
    }
    Ok(account)
}

/// Makes the session the account's.
fn enter(session: &mut Session, account: &Arc<Account>, login: &Login, host: &str) -> SqlResult<()> {
    session.host.user = login.user.clone();
    session.host.host = host.to_owned();
    session.enter_account(account);
    session.connection.peer.lock().0 = login.user.clone();
    let collation = selkie_types::Collation(login.collation);
    if collation.is_known() && !collation.is_binary() {
        let set = collation.charset().name();
        for v in ["character_set_client", "character_set_results", "character_set_connection"] {
            session.host.vars.set_named(v, set);
        }
        session.host.set_var("collation_connection", collation.name());
    }
    if let Some(db) = &login.database {
        session.use_database(db)?;
    }
    let init = session.instance.globals.read().get("init_connect").to_owned();
    if !init.is_empty() && !account.allows("CONNECTION ADMIN", "", "") {
        tracing::debug!("init_connect is not run for administrators only");
    }
    session.track_from_here();
    Ok(())
}

fn ok_packet(status: ServerStatus, warnings: u16) -> OkPacket<'static> {
    OkPacket { affected_rows: 0, last_insert_id: 0, status, warnings, info: b"", session_state: &[] }
}

/// The command phase. Returns whether the client said goodbye.
fn commands(session: &mut Session, client: &mut Client, host: &str) -> bool {
    loop {
        if session.connection.kill_connection.load(Ordering::SeqCst) || session.instance.is_shutting_down() {
            let e = if session.instance.is_shutting_down() {
                sql_err!(ER_SERVER_SHUTDOWN)
            } else {
                sql_err!(ER_CONNECTION_KILLED)
            };
            client.out.set_sequence(0);
            client.error(&e);
            // The client may be gone already.
            let _ = client.flush();
            return false;
        }
        *session.connection.command.lock() = ("Sleep", "");
        *session.connection.since.lock() = Instant::now();
        let timeout = session.host.hot.wait_timeout_secs;
        let payload = match client.read_packet(true, timeout) {
            Ok(p) => p,
            Err(ReadError::Io(_)) => {
                if session.connection.kill_connection.load(Ordering::SeqCst) || session.instance.is_shutting_down() {
                    continue;
                }
                return false;
            }
            Err(ReadError::TooLarge) => {
                client.error(&sql_err!(ER_NET_PACKET_TOO_LARGE));
                if client.flush().is_err() {
                    return false;
                }
                continue;
            }
            Err(ReadError::Broken(_)) => {
                client.out.set_sequence(0);
                client.error(&sql_err!(ER_NET_PACKETS_OUT_OF_ORDER));
                // The connection is given up whether or not this arrives.
                let _ = client.flush();
                return false;
            }
        };
        *session.connection.since.lock() = Instant::now();
        let go_on = command(session, client, &payload, host);
        client.recycle(payload);
        match go_on {
            Ok(true) if !session.closing => {}
            Ok(_) => {
                let _ = client.flush();
                return true;
            }
            Err(_) => return false,
        }
        if client.flush().is_err() {
            return false;
        }
    }
}

/// Runs one command. `false`: the connection ends.
fn command(session: &mut Session, client: &mut Client, payload: &[u8], host: &str) -> std::io::Result<bool> {
    let command = match Command::decode(payload, client.capabilities) {
        Ok(c) => c,
        Err(_) => {
            let e = if payload.is_empty() { sql_err!(ER_UNKNOWN_COM_ERROR) } else { sql_err!(ER_MALFORMED_PACKET) };
            client.error(&e);
            return Ok(true);
        }
    };
    *session.connection.command.lock() = ("Query", "starting");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let answered = match command {
        Command::Quit => return Ok(false),
        Command::Query(sql) => {
            session.query(client, sql)?;
            return Ok(true);
        }
        Command::Ping | Command::Debug => Ok(Some(Done::default())),
        Command::InitDb(db) => session.use_database(&text(db)).map(|()| Some(Done::default())),
        Command::Statistics => {
            let line = crate::status::statistics(&session.instance);
            response::put_statistics(&mut client.out, line.as_bytes());
            Ok(None)
        }
        Command::FieldList { table, wildcard } => session.field_list(client, &text(table), &text(wildcard)).map(|()| None),
        Command::ProcessInfo => {
            session.query(client, b"SHOW PROCESSLIST")?;
            return Ok(true);
        }
        Command::ProcessKill(id) => {
            session.query(client, format!("KILL {id}").as_bytes())?;
            return Ok(true);
        }
        Command::Shutdown(_) => session.require("SHUTDOWN").map(|()| {
            session.instance.request_shutdown();
            Some(Done::default())
        }),
        Command::Refresh(_) => session.require("RELOAD").map(|()| Some(Done::default())),
        Command::SetOption(option) => {
            session.multi_statements = option == 0;
            Eof { warnings: 0, status: session.status(false) }.encode(&mut client.out);
            Ok(None)
        }
        Command::ResetConnection => {
            session.reset();
            Ok(Some(Done::default()))
        }
        Command::ChangeUser(c) => return change_user(session, client, &c, host),
        Command::StmtPrepare(sql) => session.stmt_prepare(client, sql).map(|()| None),
        Command::StmtExecute(e) => session.stmt_execute(client, &e).map(|()| None),
        Command::StmtBulkExecute(e) => session.stmt_bulk_execute(client, &e).map(|()| None),
        Command::StmtSendLongData { statement_id, param, data } => {
            session.stmt_long_data(statement_id, param, data);
            return Ok(true);
        }
        Command::StmtClose(id) => {
            session.prepared.close(id);
            return Ok(true);
        }
        Command::StmtReset(id) => session.stmt_reset(id).map(|()| Some(Done::default())),
        Command::StmtFetch { statement_id, rows } => session.stmt_fetch(client, statement_id, rows).map(|()| None),
        Command::CreateDb(_) | Command::DropDb(_) | Command::BinlogDump(_) | Command::RegisterSlave(_)
        | Command::Unknown { .. } => Err(sql_err!(ER_UNKNOWN_COM_ERROR)),
    };
    match answered {
        Ok(Some(done)) => session.write_ok(client, &done, false),
        Ok(None) => {}
        Err(e) => session.fail(client, e),
    }
    Ok(true)
}

fn change_user(
    session: &mut Session,
    client: &mut Client,
    c: &selkie_protocol::handshake::ChangeUser<'_>,
    host: &str,
) -> std::io::Result<bool> {
    session.reset();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let mut login = Login {
        user: text(c.user),
        database: c.database.filter(|d| !d.is_empty()).map(text),
        collation: c.collation.unwrap_or(45),
        answer: Vec::new(),
    };
    let scramble = Scramble::from_random(rand::random());
    let mut handshake = ServerHandshake::change_user(client.capabilities, false);
    handshake.switch_plugin(&mut client.out, NATIVE, &scramble.with_nul());
    client.flush()?;
    let timeout = session.instance.globals.read().u64("connect_timeout");
    let payload = match client.read_packet(false, timeout) {
        Ok(p) => p,
        Err(_) => return Ok(false),
    };
    let packet = selkie_protocol::Packet { sequence: client.out.sequence().wrapping_sub(1), payload: &payload };
    if let Ok(HandshakeEvent::AuthData(data)) = handshake.on_packet(packet, &mut client.out) {
        login.answer = data.to_vec();
    }
    let on_socket = client.transport().is_local();
    let outcome = authenticate(session, &login, scramble.as_bytes(), host, on_socket);
    match outcome.and_then(|a| enter(session, &a, &login, host)) {
        Ok(()) => {
            handshake.accept(&mut client.out, &ok_packet(session.status(false), 0));
            Ok(true)
        }
        Err(e) => {
            refuse_handshake(client, handshake, &e)?;
            Ok(false)
        }
    }
}
