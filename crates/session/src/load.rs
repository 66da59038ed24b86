//! LOAD DATA and SELECT … INTO.

use selkie_parser::ast;
use selkie_types::SqlResult;

use crate::client::Client;
use crate::host::not_supported;
use crate::session::{Answer, Done, Session};

impl Session {
    /// LOAD DATA.
    pub fn load_data(&mut self, _client: &mut Client, _l: &ast::LoadData, _text: &[u8]) -> SqlResult<Done> {
        Err(not_supported("LOAD DATA"))
    }

    /// SELECT … INTO variables or a file.
    pub fn run_select_into(
        &mut self,
        _client: &mut Client,
        _statement: &ast::Statement,
        _into: &ast::SelectInto,
        _text: &[u8],
        _answer: Answer,
    ) -> SqlResult<()> {
        Err(not_supported("SELECT INTO"))
    }
}
