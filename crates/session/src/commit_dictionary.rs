//! Committing dictionary changes: one log record, one engine batch, then the new version is published.

use std::sync::Arc;

use selkie_binlog::builder::{EventContext, GtidChoice};
use selkie_binlog::event::{QueryEvent, QueryStatus};
use selkie_binlog::{EventBuffer, TransactionEvents};
use selkie_catalog::dictionary::{DICTIONARY_INDEX, DictionaryChange, encode_changes, write_of};
use selkie_executor::txn_error;
use selkie_txn::LockOwner;
use selkie_txn::pipeline::Member;
use selkie_types::SqlResult;

use crate::instance::Instance;

/// What the log tells of a DDL statement.
pub struct DdlRecord<'a> {
    /// Settings of the session's events.
    pub context: EventContext,
    /// GTID domain and server.
    pub choice: GtidChoice,
    /// CONNECTION_ID()
    pub thread_id: u32,
    /// Default database when the statement ran.
    pub database: &'a str,
    /// Status variables that a replica needs to run the statement alike.
    pub status: QueryStatus,
    /// The statement.
    pub statement: &'a [u8],
    /// Not for replicas (`sql_log_bin=0`).
    pub local: bool,
}

/// Commits changes with the statement that made them. Returns the events with their GTID.
pub fn commit(instance: &Arc<Instance>, changes: &[DictionaryChange], record: DdlRecord<'_>) -> SqlResult<EventBuffer> {
    let mut events = TransactionEvents::new(record.context);
    events.dictionary(encode_changes(changes).into());
    let buffer = if record.local {
        events.finish_local()
    } else {
        let query = QueryEvent {
            thread_id: record.thread_id,
            database: record.database.to_owned(),
            status: record.status,
            query: record.statement.to_vec().into(),
            ..QueryEvent::default()
        };
        if makes_or_removes(instance, changes, record.database) {
            events.query_without_use(query);
        } else {
            events.query(query);
        }
        events.finish_ddl(record.choice)
    };
    publish(instance, changes, buffer)
}

/// Whether the statement's own database is not there before it or after it, so that no USE may stand before the statement.
fn makes_or_removes(instance: &Instance, changes: &[DictionaryChange], database: &str) -> bool {
    changes.iter().any(|c| match c {
        DictionaryChange::PutDatabase(d) => {
            d.name == database && !instance.dictionary.schema().databases.contains_key(database)
        }
        DictionaryChange::RemoveDatabase(name) => name == database,
        _ => false,
    })
}

/// Commits changes that no replica is told of.
pub fn commit_local(instance: &Arc<Instance>, changes: &[DictionaryChange]) -> SqlResult<()> {
    let mut events = TransactionEvents::new(EventContext::default());
    events.dictionary(encode_changes(changes).into());
    publish(instance, changes, events.finish_local()).map(|_| ())
}

fn publish(instance: &Arc<Instance>, changes: &[DictionaryChange], events: EventBuffer) -> SqlResult<EventBuffer> {
    instance.dictionary.change(changes, || {
        let failed = |e: selkie_engine::EngineError| txn_error(e.into());
        let mut batch = instance.txns.engine.begin_write().map_err(failed)?;
        for c in changes {
            let (key, value) = write_of(c);
            match value {
                Some(v) => batch.put(DICTIONARY_INDEX, &key, &v).map_err(failed)?,
                None => batch.delete(DICTIONARY_INDEX, &key).map_err(failed)?,
            }
        }
        let member = Member { events, batches: vec![batch], late: None, owner: LockOwner::new(0), held: Vec::new() };
        instance.txns.pipeline.commit(member).map(|(_, e)| e).map_err(txn_error)
    })
}
