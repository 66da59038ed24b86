//! wip
use crate::client::Client;
use crate::session::{Answer, Done, Session};
use crate::host::not_supported;
use selkie_parser::ast;
use selkie_types::SqlResult;
impl Session {
    pub fn run_set(&mut self, _s: &ast::Set) -> SqlResult<()> { Ok(()) }
    pub fn run_set_statement(&mut self, _c: &mut Client, _s: &ast::SetStatementFor, _t: &[u8], _a: Answer) -> SqlResult<()> { Err(not_supported("SET STATEMENT")) }
    pub fn run_show(&mut self, _c: &mut Client, _s: &ast::Show, _a: Answer) -> SqlResult<()> { Err(not_supported("SHOW")) }
    pub fn run_describe(&mut self, _c: &mut Client, _s: &ast::DescribeTable, _a: Answer) -> SqlResult<()> { Err(not_supported("SHOW")) }
}
