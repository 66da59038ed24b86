//! The status variables: MariaDB's names (`data/status.tsv`) with what this server counts; 0 for what it does not have.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::gtid_pos;
use crate::host::Host;
use crate::status::COM_NAMES;

/// Name and the value where nothing is counted, by name regardless of case.
static NAMES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("../../data/status.tsv").lines();
    let mut all: Vec<_> = lines.map(|l| l.split_once('\t').unwrap_or((l, "0"))).collect();
    all.extend(OWN.iter().map(|n| (*n, "0")));
    all.sort_by_key(|(n, _)| n.to_ascii_lowercase());
    all
});

/// Names that MariaDB does not have.
const OWN: &[&str] = &["Selkie_plan_cache_hits", "Selkie_plan_cache_misses"];

/// Every status variable with its value, by name.
pub fn values(host: &Host) -> Vec<(&'static str, String)> {
    NAMES.iter().map(|(name, default)| (*name, value(host, name).unwrap_or_else(|| (*default).to_owned()))).collect()
}

/// The value of a counter that this server has.
fn value(host: &Host, name: &str) -> Option<String> {
    let instance = &host.instance;
    let st = &instance.status;
    let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
    let pipeline = &instance.txns.pipeline;
    if let Some(com) = name.strip_prefix("Com_") {
        return com_value(host, com).map(|n| n.to_string());
    }
    let number = match name {
        "Aborted_clients" => get(&st.aborted_clients),
        "Aborted_connects" => get(&st.aborted_connects),
        "Access_denied_errors" => get(&st.aborted_connects),
        "Acl_users" => instance.accounts.all().iter().filter(|a| !a.is_role).count() as u64,
        "Acl_roles" => instance.accounts.all().iter().filter(|a| a.is_role).count() as u64,
        "Acl_database_grants" => instance.accounts.all().iter().map(|a| a.databases.len() as u64).sum(),
        "Acl_table_grants" => instance.accounts.all().iter().map(|a| a.tables.len() as u64).sum(),
        "Binlog_commits" => get(&pipeline.counters.commits),
        "Binlog_group_commits" => get(&pipeline.counters.groups),
        "Binlog_group_commit_trigger_count" => get(&pipeline.counters.trigger_count),
        "Binlog_group_commit_trigger_timeout" => get(&pipeline.counters.trigger_timeout),
        "Binlog_cache_use" => get(&pipeline.counters.commits),
        "Binlog_bytes_written" => pipeline.with_log(|l| l.log().end().0),
        "Binlog_snapshot_position" => gtid_pos::snapshot_position(host).1,
        "Binlog_snapshot_file" => return Some(gtid_pos::snapshot_position(host).0),
        "Bytes_received" => get(&st.bytes_received),
        "Bytes_sent" => get(&st.bytes_sent),
        "Connections" => get(&st.connections),
        "Handler_commit" | "Innodb_log_writes" => get(&pipeline.counters.commits),
        "Handler_rollback" => get(&st.com_rollback),
        "Innodb_deadlocks" => instance.txns.locks.counters().0,
        "Innodb_row_lock_waits" => instance.txns.locks.counters().1,
        "Innodb_lsn_current" => pipeline.ordered(),
        "Innodb_lsn_flushed" => instance.txns.snapshots.durable(),
        "Innodb_os_log_written" => pipeline.with_log(|l| l.log().end().0),
        "Innodb_data_fsyncs" | "Innodb_log_fsyncs" | "Syncs" => get(&pipeline.counters.syncs),
        "Innodb_page_size" => 16384,
        "Max_used_connections" => get(&st.max_used_connections).max(instance.connection_count() as u64),
        "Questions" | "Queries" => get(&st.questions),
        "Slow_queries" => get(&st.slow_queries),
        "Threads_connected" => instance.connection_count() as u64,
        "Threads_created" => get(&st.connections),
        "Threads_running" => {
            instance.connections().iter().filter(|c| c.statement.lock().is_some()).count().max(1) as u64
        }
        "Uptime" | "Uptime_since_flush_status" => instance.started.elapsed().as_secs(),
        "Open_tables" | "Open_table_definitions" | "Opened_tables" | "Opened_table_definitions" => {
            instance.dictionary.schema().tables_by_id.len() as u64
        }
        "Selkie_plan_cache_hits" => get(&st.plan_hits),
        "Selkie_plan_cache_misses" => get(&st.plan_misses),
        _ => return None,
    };
    Some(number.to_string())
}

fn com_value(host: &Host, com: &str) -> Option<u64> {
    let st = &host.instance.status;
    let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
    Some(match com {
        "select" => get(&st.com_select),
        "insert" => get(&st.com_insert),
        "update" => get(&st.com_update),
        "delete" => get(&st.com_delete),
        "commit" => get(&st.com_commit),
        "rollback" => get(&st.com_rollback),
        other => get(&st.com[COM_NAMES.iter().position(|n| *n == other)?]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_mariadbs_names_are_there() {
        assert!(NAMES.len() > 560);
        assert!(NAMES.iter().any(|(n, v)| *n == "Innodb_deadlocks" && *v == "0"));
        assert!(COM_NAMES.iter().all(|c| NAMES.iter().any(|(n, _)| n.strip_prefix("Com_") == Some(c))));
    }
}
