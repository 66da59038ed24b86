//! Counters behind SHOW STATUS.

use std::sync::atomic::{AtomicU64, Ordering};

/// Server-wide counters. Relaxed: they are read for people.
#[derive(Debug, Default)]
pub struct Status {
    /// Statements from clients.
    pub questions: AtomicU64,
    /// Statements slower than long_query_time.
    pub slow_queries: AtomicU64,
    /// Connection attempts.
    pub connections: AtomicU64,
    /// Connections that failed to log in.
    pub aborted_connects: AtomicU64,
    /// Connections that broke.
    pub aborted_clients: AtomicU64,
    /// Largest number of connections at a time.
    pub max_used_connections: AtomicU64,
    /// Bytes received.
    pub bytes_received: AtomicU64,
    /// Bytes sent.
    pub bytes_sent: AtomicU64,
    /// `Com_*` by kind.
    pub com_select: AtomicU64,
    /// INSERT and REPLACE.
    pub com_insert: AtomicU64,
    /// UPDATE.
    pub com_update: AtomicU64,
    /// DELETE.
    pub com_delete: AtomicU64,
    /// COMMIT.
    pub com_commit: AtomicU64,
    /// ROLLBACK.
    pub com_rollback: AtomicU64,
    /// Plan cache hits.
    pub plan_hits: AtomicU64,
    /// Plan cache misses.
    pub plan_misses: AtomicU64,
}

/// Adds one.
pub fn bump(c: &AtomicU64) {
    c.fetch_add(1, Ordering::Relaxed);
}

/// The line of COM_STATISTICS.
pub fn statistics(instance: &crate::Instance) -> String {
    let uptime = instance.started.elapsed().as_secs().max(1);
    let questions = instance.status.questions.load(Ordering::Relaxed);
    format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: 0  Open tables: 0  Queries per second avg: {:.3}",
        instance.connection_count(),
        instance.status.slow_queries.load(Ordering::Relaxed),
        questions as f64 / uptime as f64,
    )
}
