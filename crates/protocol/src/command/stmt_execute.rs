//! COM_STMT_EXECUTE and its parameters. How many there are, which types were bound before and
//! which values came as long data is known to the session only, so that the packet is read in two
//! steps: the fixed part at once, the parameters by [`StmtExecute::params`].
//! See <https://mariadb.com/kb/en/com_stmt_execute/>.

use crate::binary_value::{ParamType, ParamValue};
use crate::error::DecodeError;
use crate::flags::flag_set;
use crate::framing::{Payload, SendBuffer};

/// The statement id by which MariaDB clients name the statement prepared last, so that preparing
/// and executing can be sent together.
pub const LAST_PREPARED: u32 = u32::MAX;

flag_set! {
    /// The cursor that an execution asks for.
    pub struct CursorFlags: u8 {
        /// Rows come by COM_STMT_FETCH.
        CURSOR_TYPE_READ_ONLY = 1;
        /// Never implemented by any server.
        CURSOR_TYPE_FOR_UPDATE = 1 << 1;
        /// Never implemented by any server.
        CURSOR_TYPE_SCROLLABLE = 1 << 2;
    }
}

/// COM_STMT_EXECUTE, its parameters not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtExecute<'a> {
    /// The statement, or [`LAST_PREPARED`].
    pub statement_id: u32,
    /// Which cursor is to be opened.
    pub cursor: CursorFlags,
    /// Always 1.
    pub iterations: u32,
    /// Bitmap of NULLs, types, values; empty when the statement has no parameters.
    pub params: &'a [u8],
}

impl<'a> StmtExecute<'a> {
    pub(super) fn take(mut fields: Payload<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            statement_id: fields.u32("statement id")?,
            cursor: CursorFlags::from_bits(fields.u8("cursor flags")?),
            iterations: fields.u32("iterations")?,
            params: fields.take_rest(),
        })
    }

    pub(super) fn put(&self, out: &mut SendBuffer) {
        out.put_u32(self.statement_id);
        out.put_u8(self.cursor.bits());
        out.put_u32(self.iterations);
        out.put_bytes(self.params);
    }

    /// Reads the parameters of a statement that has `param_count` of them.
    ///
    /// `types` are those that the statement's last execution left, empty at first; when the client
    /// binds new ones they are replaced. `long_data` says for each parameter whether its value came
    /// by COM_STMT_SEND_LONG_DATA; it may be shorter than the number of parameters.
    ///
    /// # Errors
    /// When the packet is too short, binds an unknown type, or no types at all are known.
    pub fn params<'t>(
        &self,
        param_count: usize,
        types: &'t mut Vec<ParamType>,
        long_data: &'t [bool],
    ) -> Result<ParamValues<'a, 't>, DecodeError> {
        let mut fields = Payload::new(self.params);
        if param_count == 0 {
            return Ok(ParamValues {
                nulls: &[],
                fields,
                types: &[],
                long_data,
                param: 0,
            });
        }
        let nulls = fields.bytes(param_count.div_ceil(8), "bitmap of NULLs")?;
        if fields.u8("new types bound")? != 0 {
            ParamType::take_list(&mut fields, param_count, types)?;
        }
        if types.len() != param_count {
            return Err(DecodeError::TypesNotBound {
                expected: param_count,
                bound: types.len(),
            });
        }
        Ok(ParamValues {
            nulls,
            fields,
            types,
            long_data,
            param: 0,
        })
    }

    /// What [`params`](Self::params) reads, as a client writes it. With `types_bound` the types go
    /// along; they need not when the last execution sent the same ones.
    ///
    /// # Panics
    /// When there are not as many types as values.
    pub fn encode_params(
        types: &[ParamType],
        values: &[ParamValue<'_>],
        types_bound: bool,
    ) -> Vec<u8> {
        assert_eq!(types.len(), values.len(), "not as many types as values");
        let mut out = SendBuffer::new();
        if values.is_empty() {
            return Vec::new();
        }
        let nulls = out.reserve_zeros(values.len().div_ceil(8));
        for (param, _) in values
            .iter()
            .enumerate()
            .filter(|(_, v)| **v == ParamValue::Null)
        {
            out.set_bit(nulls, param);
        }
        out.put_u8(types_bound.into());
        if types_bound {
            types.iter().for_each(|param_type| param_type.put(&mut out));
        }
        for (param_type, value) in types.iter().zip(values) {
            value.put(&mut out, param_type.column_type);
        }
        out.pending().to_vec()
    }
}

/// Reads the values of the parameters in order, without allocating. Ends after the first error.
#[derive(Debug, Clone)]
pub struct ParamValues<'a, 't> {
    nulls: &'a [u8],
    fields: Payload<'a>,
    types: &'t [ParamType],
    long_data: &'t [bool],
    param: usize,
}

impl<'a> Iterator for ParamValues<'a, '_> {
    type Item = Result<ParamValue<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let param = self.param;
        let param_type = *self.types.get(param)?;
        self.param += 1;
        if self.long_data.get(param) == Some(&true) {
            return Some(Ok(ParamValue::LongData));
        }
        if self.nulls[param / 8] & (1 << (param % 8)) != 0 {
            return Some(Ok(ParamValue::Null));
        }
        let value = ParamValue::take(&mut self.fields, param_type);
        if value.is_err() {
            self.param = self.types.len();
        }
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.types.len() - self.param))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_type::ColumnType;

    fn execute(params: &[u8]) -> StmtExecute<'_> {
        StmtExecute {
            statement_id: 1,
            cursor: CursorFlags::EMPTY,
            iterations: 1,
            params,
        }
    }

    #[test]
    fn types_are_remembered() {
        let bound = [
            ParamType::signed(ColumnType::Short),
            ParamType::signed(ColumnType::VarString),
        ];
        let values = [ParamValue::Int(-2), ParamValue::Null];
        let mut types = Vec::new();
        let first = StmtExecute::encode_params(&bound, &values, true);
        let read: Result<Vec<_>, _> = execute(&first)
            .params(2, &mut types, &[])
            .unwrap()
            .collect();
        assert_eq!(read.unwrap(), values);
        assert_eq!(types, bound);
        let values = [ParamValue::Null, ParamValue::Bytes(b"abc")];
        let again = StmtExecute::encode_params(&bound, &values, false);
        let read: Result<Vec<_>, _> = execute(&again)
            .params(2, &mut types, &[])
            .unwrap()
            .collect();
        assert_eq!(read.unwrap(), values);
    }

    #[test]
    fn types_must_be_known() {
        let error = execute(&[0, 0]).params(2, &mut Vec::new(), &[]).err();
        assert_eq!(
            error,
            Some(DecodeError::TypesNotBound {
                expected: 2,
                bound: 0
            })
        );
    }

    #[test]
    fn long_data_has_no_bytes() {
        let types = [
            ParamType::signed(ColumnType::Blob),
            ParamType::signed(ColumnType::Tiny),
        ];
        let values = [ParamValue::LongData, ParamValue::Int(5)];
        let params = StmtExecute::encode_params(&types, &values, true);
        let read: Result<Vec<_>, _> = execute(&params)
            .params(2, &mut Vec::new(), &[true])
            .unwrap()
            .collect();
        assert_eq!(read.unwrap(), values);
    }

    #[test]
    fn ends_after_an_error() {
        let mut types = vec![ParamType::signed(ColumnType::LongLong); 3];
        let read: Vec<_> = execute(&[0, 0, 1, 2])
            .params(3, &mut types, &[])
            .unwrap()
            .collect();
        assert_eq!(
            read,
            [Err(DecodeError::Truncated {
                field: "8-byte integer"
            })]
        );
    }
}
