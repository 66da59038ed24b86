//! What the server sends in the command phase: one packet a file, each with its encoder into a
//! [`SendBuffer`](crate::SendBuffer) and its decoder for the client's side.
//!
//! Encoders write what they are given; whether a value fits its column is the caller's to know.

mod binary_row;
mod column_definition;
mod eof;
mod err;
mod field_list;
mod local_infile;
mod ok;
mod prepare_ok;
mod progress;
mod result_set;
mod session_track;
mod text_row;

pub use binary_row::{BinaryRow, BinaryRowReader};
pub use column_definition::{ColumnDefinition, ExtendedMetadata};
pub use eof::Eof;
pub use err::Err;
pub use field_list::{decode_field_list_column, put_field_list_column};
pub use local_infile::{InfileData, LocalInfileRequest};
pub use ok::Ok;
pub use prepare_ok::PrepareOk;
pub use progress::Progress;
pub use result_set::{
    ColumnCount, put_column_count, put_metadata_end, put_result_end, put_statistics,
};
pub use session_track::{SessionTrack, StateChange, StateChanges};
pub use text_row::{TextRow, TextRowReader};
