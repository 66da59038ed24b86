//! The slow query log: statements that took longer than `long_query_time`, in MariaDB's format.

use std::io::Write;
use std::time::Duration;

use crate::host::Host;

/// Writes a statement to the slow query log, if that is on. Failing to write it does not fail the statement.
pub fn note(host: &Host, text: &[u8], elapsed: Duration) {
    if !host.vars.on("slow_query_log") {
        return;
    }
    let name = host.instance.globals.read().get("slow_query_log_file").to_owned();
    let path = host.instance.datadir.join(if name.is_empty() { "slow.log".to_owned() } else { name });
    let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) else { return };
    let mut entry = Vec::new();
    let _ = writeln!(entry, "# User@Host: {}[{}] @ {} []", host.user, host.account.user, host.host);
    let _ = writeln!(entry, "# Thread_id: {}  Schema: {}", host.connection.id, host.database.as_deref().unwrap_or(""));
    let _ = writeln!(entry, "# Query_time: {:.6}", elapsed.as_secs_f64());
    let _ = writeln!(entry, "SET timestamp={};", host.now_micros() / 1_000_000);
    entry.extend_from_slice(text);
    entry.extend_from_slice(b";\n");
    let _ = file.write_all(&entry);
}
