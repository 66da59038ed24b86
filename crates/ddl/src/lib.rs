//! Statements that change the dictionary: databases, tables, indexes, views.
//!
//! Each is atomic. It goes through these steps:
//!
//! 1. privileges and metadata locks ([`DdlHost::lock_metadata`]);
//! 2. the new definition is put together and checked ([`draft`]);
//! 3. new engine tables are made, and filled by bulk load, off to the side ([`engine_tables`]); nothing refers to them;
//! 4. what was bulk-loaded is made durable ([`DdlHost::make_durable`]);
//! 5. **one log record** holds the dictionary's changes for recovery and the statement for replicas
//!    ([`DdlHost::commit_ddl`]); with it the new dictionary version is published;
//! 6. engine tables that nothing refers to any more are dropped ([`DdlHost::drop_engine_indexes`]).
//!
//! A crash before step 5 leaves engine tables that the dictionary does not name, and one after it such as it does not name any
//! more; startup removes both.
//!
//! It must not know sessions, the wire protocol or what log events look like: it sees them through [`DdlHost`].

mod alter;
pub mod bind;
pub mod bootstrap;
mod build;
pub mod canonical;
mod column;
mod create_table;
mod database;
pub mod draft;
mod drop_table;
pub mod engine_tables;
mod foreign;
mod host;
mod index;
mod maintenance;
mod names;
mod options;
mod partition;
mod sorter;
pub mod types;
mod view;

pub use bootstrap::bootstrap;
pub use column::column_of_type;
pub use host::{AccountName, DdlHost, DdlRecord, DdlSettings, WriteRows};
pub use maintenance::{MaintenanceResult, maintain};

use selkie_parser::ast::Statement;
use selkie_types::{SqlResult, sql_err};

/// What a statement did, for the OK packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DdlDone {
    /// Affected rows.
    pub affected: u64,
    /// `Records: 0  Duplicates: 0  Warnings: 0`, or nothing.
    pub info: String,
}

impl DdlDone {
    /// With a number of affected rows and nothing to tell.
    pub fn affected(affected: u64) -> DdlDone {
        DdlDone { affected, info: String::new() }
    }

    /// The text that statements which copy rows answer with.
    pub fn info_text(records: u64, duplicates: u64, warnings: u64) -> String {
        format!("Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}")
    }
}

/// Executes a statement that changes the dictionary. `text` is the statement as replicas get it.
///
/// # Errors
/// MariaDB's; nothing is changed then.
pub fn execute(statement: &Statement, text: &[u8], host: &mut dyn DdlHost) -> SqlResult<DdlDone> {
    match statement {
        Statement::CreateDatabase(s) => database::create(s, text, host),
        Statement::AlterDatabase(s) => database::alter(s, text, host),
        Statement::DropDatabase(s) => database::drop(s, text, host),
        Statement::CreateTable(s) => create_table::create(s, text, host),
        Statement::DropTables(s) => drop_table::drop_tables(s, text, host),
        Statement::CreateView(s) => view::create(s, text, host),
        Statement::DropViews(s) => drop_table::drop_views(s, text, host),
        Statement::TruncateTable(s) => drop_table::truncate(s, text, host),
        Statement::AlterTable(s) => alter::alter(s, text, host),
        Statement::CreateIndex(s) => alter::create_index(s, text, host),
        Statement::DropIndex(s) => alter::drop_index(s, text, host),
        Statement::RenameTables(s) => drop_table::rename(s, text, host),
        _ => Err(sql_err!(ER_NOT_SUPPORTED_YET, "this statement")),
    }
}
