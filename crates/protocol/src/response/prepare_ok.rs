//! The answer to COM_STMT_PREPARE. Behind it come the definitions of the parameters, if any, with
//! their end, then those of the columns, if any, with theirs
//! ([`put_metadata_end`](super::put_metadata_end)).
//! See <https://mariadb.com/kb/en/com_stmt_prepare/>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// COM_STMT_PREPARE_OK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareOk {
    /// The id by which the other COM_STMT_* commands name the statement.
    pub statement_id: u32,
    /// Columns of the result, 0 when there is none.
    pub column_count: u16,
    /// Parameters.
    pub param_count: u16,
    /// How many warnings SHOW WARNINGS has.
    pub warnings: u16,
}

impl PrepareOk {
    /// Writes the packet.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(0);
        out.put_u32(self.statement_id);
        out.put_u16(self.column_count);
        out.put_u16(self.param_count);
        out.put_u8(0);
        out.put_u16(self.warnings);
        out.end_packet();
    }

    /// Reads the packet.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.u8("header")? != 0 {
            return Err(DecodeError::Malformed("not the answer to COM_STMT_PREPARE"));
        }
        let statement_id = fields.u32("statement id")?;
        let column_count = fields.u16("number of columns")?;
        let param_count = fields.u16("number of parameters")?;
        fields.u8("filler")?;
        let warnings = fields.u16("warnings")?;
        Ok(Self {
            statement_id,
            column_count,
            param_count,
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        let ok = PrepareOk {
            statement_id: 7,
            column_count: 2,
            param_count: 1,
            warnings: 0,
        };
        let mut out = SendBuffer::new();
        ok.encode(&mut out);
        assert_eq!(
            out.pending(),
            [12, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0]
        );
        assert_eq!(PrepareOk::decode(&out.pending()[4..]), Ok(ok));
    }
}
