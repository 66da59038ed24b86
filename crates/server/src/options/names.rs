//! Names of options beside those of system variables, and what is particular about some variables as options.

/// Options with a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `--help`
    Help,
    /// `--verbose`: with `--help`, all options.
    Verbose,
    /// `--version`
    Version,
    /// `--user`: the account to run as.
    User,
    /// `--log-bin[=base]`
    LogBin,
    /// `--log-recovery=refuse|truncate`
    LogRecovery,
    /// `--selkie-engine=wiredtiger|memory`, for tests.
    Engine,
}

impl Special {
    /// Whether a value must follow.
    pub fn requires_value(self) -> bool {
        matches!(self, Special::User | Special::LogRecovery | Special::Engine)
    }

    /// Whether it can be switched off by `skip-`.
    pub fn is_switch(self) -> bool {
        matches!(self, Special::LogBin | Special::Verbose)
    }
}

/// Finds an option with a meaning of its own by its canonical name.
pub fn special(name: &str) -> Option<Special> {
    Some(match name {
        "help" => Special::Help,
        "verbose" => Special::Verbose,
        "version" => Special::Version,
        "user" => Special::User,
        "log_bin" => Special::LogBin,
        "log_recovery" => Special::LogRecovery,
        "selkie_engine" => Special::Engine,
        _ => return None,
    })
}

/// The long name of a one-letter option, and what is attached to the letter.
pub fn short_option(argument: &str) -> Option<(&'static str, &str)> {
    let rest = argument.strip_prefix('-')?;
    let letter = rest.chars().next()?;
    let name = match letter {
        '?' => "help",
        'v' => "verbose",
        'V' => "version",
        'h' => "datadir",
        'P' => "port",
        't' => "tmpdir",
        'u' => "user",
        'b' => "basedir",
        'C' => "character_set_server",
        'W' => "log_warnings",
        _ => return None,
    };
    Some((name, &rest[letter.len_utf8()..]))
}

/// Variables that exist globally and still cannot be given as options.
pub fn is_no_option(name: &str) -> bool {
    name.starts_with("have_")
        || matches!(
            name,
            "character_set_client"
                | "character_set_connection"
                | "character_set_database"
                | "character_set_results"
                | "character_set_system"
                | "collation_connection"
                | "collation_database"
                | "error_count"
                | "gtid_binlog_pos"
                | "gtid_binlog_state"
                | "gtid_current_pos"
                | "gtid_slave_pos"
                | "hostname"
                | "large_page_size"
                | "license"
                | "locked_in_memory"
                | "log_bin"
                | "log_bin_basename"
                | "protocol_version"
                | "server_uid"
                | "system_time_zone"
                | "version"
                | "version_comment"
                | "version_compile_machine"
                | "version_compile_os"
                | "version_malloc_library"
                | "version_source_revision"
                | "version_ssl_library"
        )
}

/// Variables that hold the same value under another name.
pub fn twins(name: &str) -> &'static [&'static str] {
    match name {
        "long_query_time" => &["log_slow_query_time"],
        "log_slow_query_time" => &["long_query_time"],
        "slow_query_log" => &["log_slow_query"],
        "log_slow_query" => &["slow_query_log"],
        "slow_query_log_file" => &["log_slow_query_file"],
        "log_slow_query_file" => &["slow_query_log_file"],
        "min_examined_row_limit" => &["log_slow_min_examined_row_limit"],
        "log_slow_min_examined_row_limit" => &["min_examined_row_limit"],
        "default_storage_engine" => &["storage_engine"],
        _ => &[],
    }
}

/// Variables of MariaDB's storage engines and thread pools that change nothing here.
pub fn means_nothing(name: &str) -> bool {
    let of_an_engine =
        ["innodb_", "aria_", "myisam_", "performance_schema", "key_cache_", "query_cache_", "thread_pool_"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    of_an_engine
        && !matches!(
            name,
            "innodb_buffer_pool_size"
                | "innodb_flush_log_at_trx_commit"
                | "innodb_lock_wait_timeout"
                | "innodb_snapshot_isolation"
                | "innodb_strict_mode"
        )
}

/// Variables whose users rely on what they do, and that do nothing here: setting one is worth a warning.
pub fn is_missed(name: &str) -> bool {
    matches!(
        name,
        "encrypt_binlog"
            | "event_scheduler"
            | "extra_port"
            | "general_log"
            | "init_file"
            | "log_bin_compress"
            | "lower_case_table_names"
            | "proxy_protocol_networks"
            | "require_secure_transport"
            | "skip_grant_tables"
            | "skip_show_database"
            | "ssl_ca"
            | "ssl_cert"
            | "ssl_key"
    )
}

/// Known options of mariadbd (of old versions too) that are no variables and change nothing here.
pub fn is_ignored(name: &str) -> bool {
    IGNORED.binary_search(&name).is_ok()
        || ["wsrep_", "performance_schema_consumer_", "feedback_", "debug_", "plugin_load", "rocksdb_", "connect_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Sorted.
const IGNORED: &[&str] = &[
    "ansi",
    "archive",
    "binlog_row_event_max_size",
    "blackhole",
    "character_set_client_handshake",
    "console",
    "core_file",
    "csv",
    "des_key_file",
    "external_locking",
    "federated",
    "feedback",
    "flashback",
    "gdb",
    "getopt_prefix_matching",
    "host_cache",
    "init_rpl_role",
    "innodb",
    "innodb_adaptive_max_sleep_delay",
    "innodb_background_scrub_data_check_interval",
    "innodb_buffer_page",
    "innodb_buffer_page_lru",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_stats",
    "innodb_checksums",
    "innodb_cmp",
    "innodb_cmp_per_index",
    "innodb_cmp_per_index_reset",
    "innodb_cmp_reset",
    "innodb_cmpmem",
    "innodb_cmpmem_reset",
    "innodb_commit_concurrency",
    "innodb_concurrency_tickets",
    "innodb_file_format",
    "innodb_force_load_corrupted",
    "innodb_ft_being_deleted",
    "innodb_ft_config",
    "innodb_ft_default_stopword",
    "innodb_ft_deleted",
    "innodb_ft_index_cache",
    "innodb_ft_index_table",
    "innodb_large_prefix",
    "innodb_lock_waits",
    "innodb_locks",
    "innodb_locks_unsafe_for_binlog",
    "innodb_log_checksums",
    "innodb_log_compressed_pages",
    "innodb_log_files_in_group",
    "innodb_log_optimize_ddl",
    "innodb_metrics",
    "innodb_page_cleaners",
    "innodb_replication_delay",
    "innodb_rollback_segments",
    "innodb_scrub_log",
    "innodb_scrub_log_speed",
    "innodb_stats_sample_pages",
    "innodb_status_file",
    "innodb_support_xa",
    "innodb_sync_array_size",
    "innodb_sys_columns",
    "innodb_sys_fields",
    "innodb_sys_foreign",
    "innodb_sys_foreign_cols",
    "innodb_sys_indexes",
    "innodb_sys_tables",
    "innodb_sys_tablespaces",
    "innodb_sys_tablestats",
    "innodb_sys_virtual",
    "innodb_tablespaces_encryption",
    "innodb_thread_concurrency",
    "innodb_thread_sleep_delay",
    "innodb_trx",
    "innodb_undo_logs",
    "innodb_use_fallocate",
    "innodb_use_trim",
    "language",
    "log",
    "log_basename",
    "log_ddl_recovery",
    "log_isam",
    "log_short_format",
    "log_slow_queries",
    "log_tc",
    "master_info_file",
    "master_retry_count",
    "memlock",
    "multi_range_count",
    "old_style_user_limits",
    "partition",
    "performance_schema_instrument",
    "plugin_load",
    "plugin_load_add",
    "port_open_timeout",
    "safe_user_create",
    "sequence",
    "show_slave_auth_info",
    "silent_startup",
    "skip_slave_start",
    "slave_start",
    "sphinx",
    "ssl",
    "stack_trace",
    "symbolic_links",
    "sync_sys",
    "sysdate_is_now",
    "table_cache",
    "tc_heuristic_recover",
    "temp_pool",
    "thread_concurrency",
    "thread_pool_groups",
    "thread_pool_queues",
    "thread_pool_stats",
    "thread_pool_waits",
    "timed_mutexes",
    "unix_socket",
    "user_variables",
];

/// Storage engines whose names a table may carry.
pub fn is_engine(name: &str) -> bool {
    ["InnoDB", "Aria", "MyISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MERGE", "MRG_MyISAM", "BLACKHOLE", "SEQUENCE"]
        .iter()
        .any(|engine| engine.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(IGNORED.is_sorted());
    }
}
