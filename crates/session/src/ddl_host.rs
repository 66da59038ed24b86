//! The session as DDL sees it.

use selkie_parser::ast::{self, Statement};
use selkie_types::SqlResult;

use crate::client::Client;
use crate::host::not_supported;
use crate::session::{Answer, Done, Session};

impl Session {
    /// Runs a statement that changes the dictionary.
    pub fn run_ddl(&mut self, _statement: &Statement, _text: &[u8]) -> SqlResult<Done> {
        Err(not_supported("this statement"))
    }

    /// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
    pub fn run_maintenance(&mut self, _client: &mut Client, _m: &ast::TableMaintenance, _answer: Answer) -> SqlResult<()> {
        Err(not_supported("table maintenance"))
    }
}
