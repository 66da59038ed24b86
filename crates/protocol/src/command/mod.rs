//! What the client asks for in the command phase: one packet a command, whose first byte is its
//! number. See <https://mariadb.com/kb/en/2-text-protocol/> and
//! <https://mariadb.com/kb/en/3-binary-protocol-prepared-statements/>.

mod binlog_dump;
mod bulk_execute;
mod code;
mod decode;
mod register_slave;
mod stmt_execute;

pub use binlog_dump::BinlogDump;
pub use bulk_execute::{BulkFlags, BulkParam, BulkRows, StmtBulkExecute};
pub use code::CommandCode;
pub use decode::Command;
pub use register_slave::RegisterSlave;
pub use stmt_execute::{CursorFlags, LAST_PREPARED, ParamValues, StmtExecute};
