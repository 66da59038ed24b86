//! What a changed variable does beyond being remembered, and who may change it when.

use selkie_executor::txn_error;
use selkie_txn::TxnError;
use selkie_types::{SqlResult, Value, sql_err};

use crate::session::Session;
use crate::variables::VarDef;

impl Session {
    /// SET GLOBAL and a few session variables need a privilege.
    pub(super) fn check_set_privilege(&self, def: &VarDef, global: bool) -> SqlResult<()> {
        let needed: &[&str] = match (global, def.name) {
            (true, "read_only") => &["READ_ONLY ADMIN"],
            (true, n) if n.starts_with("binlog_") || n.contains("_binlog") || n.starts_with("expire_logs") => {
                &["SUPER", "BINLOG ADMIN"]
            }
            (true, "gtid_binlog_state" | "gtid_domain_id" | "gtid_ignore_duplicates" | "server_id") => {
                &["SUPER", "REPLICATION MASTER ADMIN"]
            }
            (true, n) if n.starts_with("slave_") || n.starts_with("gtid_") || n.starts_with("relay_log") => {
                &["SUPER", "REPLICATION SLAVE ADMIN"]
            }
            (true, n) if n.starts_with("connect_timeout") || n.starts_with("max_connect") || n.starts_with("init_connect") => {
                &["SUPER", "CONNECTION ADMIN"]
            }
            (true, _) => &["SUPER"],
            (false, "sql_log_bin" | "binlog_format" | "binlog_direct_non_transactional_updates" | "binlog_row_image") => {
                &["SUPER", "BINLOG ADMIN"]
            }
            (false, "gtid_seq_no" | "gtid_domain_id" | "server_id" | "skip_replication" | "pseudo_thread_id") => {
                &["SUPER", "BINLOG REPLAY"]
            }
            _ => return Ok(()),
        };
        self.require_one_of(needed)
    }

    /// Some variables do not change inside a transaction.
    pub(super) fn check_state(&self, def: &VarDef, global: bool) -> SqlResult<()> {
        if !global && def.name == "sql_log_bin" && self.host.in_transaction {
            return Err(sql_err!(ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN));
        }
        Ok(())
    }

    /// What happens before a session variable takes its new value.
    pub(super) fn before_session_change(&mut self, name: &str, text: &str, value: &Value) -> SqlResult<()> {
        match name {
            "autocommit" if text == "ON" && !self.host.hot.autocommit => self.commit(),
            "last_insert_id" | "identity" => {
                self.host.last_insert_id = match value {
                    Value::Int(n) => *n as u64,
                    Value::UInt(n) => *n,
                    _ => text.parse().unwrap_or(0),
                };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What happens after a global variable took its new value.
    pub(super) fn global_changed(&mut self, name: &str, text: &str) -> SqlResult<()> {
        let pipeline = &self.host.instance.txns.pipeline;
        let number = || text.parse::<u64>().unwrap_or(0);
        match name {
            "binlog_commit_wait_count" | "binlog_commit_wait_usec" | "sync_binlog" => {
                let mut settings = pipeline.settings();
                match name {
                    "binlog_commit_wait_count" => settings.wait_count = number() as usize,
                    "binlog_commit_wait_usec" => settings.wait_usec = number(),
                    _ => settings.sync_binlog = number(),
                }
                pipeline.configure(settings);
            }
            "max_binlog_size" => pipeline.with_log(|l| l.log().set_max_binlog_size(number())),
            "server_id" => pipeline.with_log(|l| l.log().set_server_id(number() as u32)),
            "binlog_checksum" => {
                use selkie_binlog::event::ChecksumAlg;
                let alg = if text == "NONE" { ChecksumAlg::Off } else { ChecksumAlg::Crc32 };
                let changed = pipeline.with_log(|l| l.log().set_checksum(alg));
                changed.map_err(|e| txn_error(TxnError::Log(e.to_string())))?;
            }
            _ => {}
        }
        Ok(())
    }
}
