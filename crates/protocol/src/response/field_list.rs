//! The answer to COM_FIELD_LIST: column definitions that carry the column's default value, then
//! EOF. There is no packet with their number.

use super::column_definition::ColumnDefinition;
use crate::capabilities::Capabilities;
use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// Writes one column; `default` is its default value as text, `None` for NULL.
pub fn put_field_list_column(
    out: &mut SendBuffer,
    capabilities: Capabilities,
    column: &ColumnDefinition<'_>,
    default: Option<&[u8]>,
) {
    out.begin_packet();
    column.put(out, capabilities);
    match default {
        Some(text) => out.put_lenenc_bytes(text),
        None => out.put_null(),
    }
    out.end_packet();
}

/// Reads one column and its default value.
pub fn decode_field_list_column(
    payload: &[u8],
    capabilities: Capabilities,
) -> Result<(ColumnDefinition<'_>, Option<&[u8]>), DecodeError> {
    let mut fields = Payload::new(payload);
    let column = ColumnDefinition::take(&mut fields, capabilities)?;
    let default = fields.lenenc_bytes_or_null("default value")?;
    Ok((column, default))
}
