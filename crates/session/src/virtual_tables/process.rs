//! Connections and transactions: PROCESSLIST and INNODB_TRX.

use std::sync::Arc;

use selkie_types::{Decimal, SqlResult, Value};

use super::context::Context;
use super::rows::Rows;
use crate::instance::ConnectionState;

/// One connection as the process list shows it.
pub struct Process {
    /// CONNECTION_ID()
    pub id: u64,
    /// User.
    pub user: String,
    /// Host.
    pub host: String,
    /// Current database.
    pub db: Option<String>,
    /// `Query`, `Sleep`, …
    pub command: &'static str,
    /// Microseconds since the command began.
    pub micros: u64,
    /// What it is doing.
    pub state: &'static str,
    /// The statement.
    pub info: Option<Arc<str>>,
}

/// The connections that the account may see: its own, or all with PROCESS.
pub fn processes(cx: &Context<'_>) -> Vec<Process> {
    let all = cx.account().allows("PROCESS", "", "");
    let connections = cx.host.instance.connections();
    let own = |c: &&Arc<ConnectionState>| all || c.peer.lock().0 == cx.host.user;
    connections.iter().filter(own).map(|c| process(cx, c)).collect()
}

fn process(cx: &Context<'_>, c: &Arc<ConnectionState>) -> Process {
    let (user, host) = c.peer.lock().clone();
    let (command, state) = *c.command.lock();
    let statement = c.statement.lock().clone();
    let began = statement.as_ref().map_or_else(|| *c.since.lock(), |(_, at)| *at);
    let running = statement.is_some();
    let command = if running && command == "Sleep" { "Query" } else { command };
    let state = match state {
        "" if c.id == cx.host.connection.id => "starting",
        other => other,
    };
    let host = if user == "unauthenticated user" || !host.is_empty() { host } else { "localhost".into() };
    Process {
        id: c.id,
        user,
        host,
        db: c.database.lock().clone(),
        command,
        micros: began.elapsed().as_micros() as u64,
        state,
        info: statement.map(|(text, _)| text),
    }
}

/// information_schema.PROCESSLIST
pub fn processlist(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    for p in processes(cx) {
        let info = p.info.as_deref();
        out.int(p.id as i64).text(&p.user).text(&p.host).text_or_null(p.db.as_deref()).text(p.command);
        out.int((p.micros / 1_000_000) as i64).text(p.state).text_or_null(info);
        out.value(thousandths(p.micros)).int(0).int(0).value(thousandths(0)).int(0).int(0).int(0).int(p.id as i64);
        out.value(info.map_or(Value::Null, |t| Value::bytes(t.as_bytes()))).int(p.id as i64);
    }
    Ok(())
}

/// A number of thousandths as a DECIMAL with three digits: microseconds become milliseconds.
pub fn thousandths(n: u64) -> Value {
    Value::Decimal(Decimal::from_mantissa(n.into(), 3))
}

/// information_schema.INNODB_TRX: connections that run a statement and hold locks.
pub fn innodb_trx(cx: &Context<'_>, out: &mut Rows) -> SqlResult<()> {
    use std::sync::atomic::Ordering;
    if !cx.account().allows("PROCESS", "", "") {
        return Ok(());
    }
    for c in cx.host.instance.connections() {
        let weight = c.lock_owner.weight.load(Ordering::Relaxed);
        if weight == 0 {
            continue;
        }
        let statement = c.statement.lock().clone();
        let began = statement.as_ref().map_or_else(|| *c.since.lock(), |(_, at)| *at);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        out.uint(c.lock_owner.id).text("RUNNING");
        out.instant(now.saturating_sub(began.elapsed().as_secs()).max(1), &cx.host.hot.time_zone);
        out.nulls(2).uint(weight).uint(c.id).text_or_null(statement.as_ref().map(|(t, _)| &**t)).text("");
        out.uint(0).uint(0).uint(weight).uint(0).uint(weight).uint(0).uint(0);
        out.value(Value::UInt(3)).int(1).int(1).null().int(0).int(0);
    }
    Ok(())
}
