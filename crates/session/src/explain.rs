//! EXPLAIN and ANALYZE of statements.

use selkie_parser::ast;
use selkie_types::SqlResult;

use crate::client::Client;
use crate::host::not_supported;
use crate::session::{Answer, Session};

impl Session {
    /// EXPLAIN.
    pub fn run_explain(&mut self, _client: &mut Client, _e: &ast::Explain, _text: &[u8], _answer: Answer) -> SqlResult<()> {
        Err(not_supported("EXPLAIN"))
    }
}
