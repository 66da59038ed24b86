//! COM_STMT_BULK_EXECUTE: a prepared statement executed for many rows of parameters.
//! See <https://mariadb.com/kb/en/com_stmt_bulk_execute/>.

use crate::binary_value::{ParamType, ParamValue};
use crate::error::DecodeError;
use crate::flags::flag_set;
use crate::framing::{Payload, SendBuffer};

flag_set! {
    /// Flags of a bulk execution.
    pub struct BulkFlags: u16 {
        /// A result per row is wanted (MARIADB_CLIENT_BULK_UNIT_RESULTS).
        SEND_UNIT_RESULTS = 64;
        /// Types of the parameters come along.
        SEND_TYPES_TO_SERVER = 128;
    }
}

/// COM_STMT_BULK_EXECUTE, its rows not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtBulkExecute<'a> {
    /// The statement, or [`LAST_PREPARED`](super::LAST_PREPARED).
    pub statement_id: u32,
    /// Flags.
    pub flags: BulkFlags,
    /// Types, then rows up to the packet's end.
    pub rows: &'a [u8],
}

/// One parameter of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BulkParam<'a> {
    /// A value; NULL among them.
    Value(ParamValue<'a>),
    /// The column's default value.
    Default,
    /// The column stays as it is (UPDATE); its default value (INSERT).
    Ignore,
    /// The whole row is left out.
    IgnoreRow,
}

const INDICATOR_NONE: u8 = 0;
const INDICATOR_NULL: u8 = 1;
const INDICATOR_DEFAULT: u8 = 2;
const INDICATOR_IGNORE: u8 = 3;
const INDICATOR_IGNORE_ROW: u8 = 4;

impl<'a> StmtBulkExecute<'a> {
    pub(super) fn take(mut fields: Payload<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            statement_id: fields.u32("statement id")?,
            flags: BulkFlags::from_bits(fields.u16("flags")?),
            rows: fields.take_rest(),
        })
    }

    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_u32(self.statement_id);
        out.put_u16(self.flags.bits());
        out.put_bytes(self.rows);
    }

    /// Starts reading the rows of a statement that has `param_count` parameters; `types` as for
    /// [`StmtExecute::params`](super::StmtExecute::params).
    ///
    /// # Errors
    /// When the statement has no parameters, the packet is too short, binds an unknown type, or no
    /// types at all are known.
    pub fn rows<'t>(
        &self,
        param_count: usize,
        types: &'t mut Vec<ParamType>,
    ) -> Result<BulkRows<'a, 't>, DecodeError> {
        if param_count == 0 {
            return Err(DecodeError::Malformed("bulk execution without parameters"));
        }
        let mut fields = Payload::new(self.rows);
        if self.flags.contains(BulkFlags::SEND_TYPES_TO_SERVER) {
            ParamType::take_list(&mut fields, param_count, types)?;
        }
        if types.len() != param_count {
            return Err(DecodeError::TypesNotBound {
                expected: param_count,
                bound: types.len(),
            });
        }
        Ok(BulkRows { fields, types })
    }

    /// What [`rows`](Self::rows) reads, as a client writes it: `params` holds the rows' parameters
    /// one row after the other.
    ///
    /// # Panics
    /// When the last row is not whole.
    pub fn encode_rows(types: &[ParamType], params: &[BulkParam<'_>], send_types: bool) -> Vec<u8> {
        assert!(
            params.is_empty() || params.len().is_multiple_of(types.len()),
            "a row is not whole"
        );
        let mut out = SendBuffer::new();
        if send_types {
            types.iter().for_each(|param_type| param_type.put(&mut out));
        }
        for (param, param_type) in params.iter().zip(types.iter().cycle()) {
            match param {
                BulkParam::Value(ParamValue::Null) => out.put_u8(INDICATOR_NULL),
                BulkParam::Value(value) => {
                    out.put_u8(INDICATOR_NONE);
                    value.put(&mut out, param_type.column_type);
                }
                BulkParam::Default => out.put_u8(INDICATOR_DEFAULT),
                BulkParam::Ignore => out.put_u8(INDICATOR_IGNORE),
                BulkParam::IgnoreRow => out.put_u8(INDICATOR_IGNORE_ROW),
            }
        }
        out.pending().to_vec()
    }
}

/// Reads row by row.
#[derive(Debug, Clone)]
pub struct BulkRows<'a, 't> {
    fields: Payload<'a>,
    types: &'t [ParamType],
}

impl<'a> BulkRows<'a, '_> {
    /// Replaces `row` by the next row's parameters; false when there are no more rows.
    pub fn next_row(&mut self, row: &mut Vec<BulkParam<'a>>) -> Result<bool, DecodeError> {
        row.clear();
        if self.fields.is_empty() {
            return Ok(false);
        }
        for &param_type in self.types {
            row.push(match self.fields.u8("indicator")? {
                INDICATOR_NONE => BulkParam::Value(ParamValue::take(&mut self.fields, param_type)?),
                INDICATOR_NULL => BulkParam::Value(ParamValue::Null),
                INDICATOR_DEFAULT => BulkParam::Default,
                INDICATOR_IGNORE => BulkParam::Ignore,
                INDICATOR_IGNORE_ROW => BulkParam::IgnoreRow,
                _ => {
                    return Err(DecodeError::Malformed(
                        "unknown indicator of a bulk parameter",
                    ));
                }
            });
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_type::ColumnType;

    #[test]
    fn rows_come_back() {
        let bound = [
            ParamType::signed(ColumnType::Long),
            ParamType::signed(ColumnType::String),
        ];
        let params = [
            BulkParam::Value(ParamValue::Int(1)),
            BulkParam::Value(ParamValue::Bytes(b"one")),
            BulkParam::Value(ParamValue::Null),
            BulkParam::Default,
            BulkParam::Ignore,
            BulkParam::Value(ParamValue::Bytes(b"")),
        ];
        let rows = StmtBulkExecute::encode_rows(&bound, &params, true);
        let execute = StmtBulkExecute {
            statement_id: 1,
            flags: BulkFlags::SEND_TYPES_TO_SERVER,
            rows: &rows,
        };
        let mut types = Vec::new();
        let mut reader = execute.rows(2, &mut types).unwrap();
        let (mut row, mut read) = (Vec::new(), Vec::new());
        while reader.next_row(&mut row).unwrap() {
            read.extend_from_slice(&row);
        }
        assert_eq!(read, params);
        assert_eq!(types, bound);
        assert!(execute.rows(0, &mut types).is_err());
    }
}
