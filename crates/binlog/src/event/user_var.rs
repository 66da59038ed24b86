//! User_var: a user variable that the statement that follows reads.

use bytes::Bytes;

use crate::DecodeError;
use crate::wire::{WirePut, WireReader, share, utf8};

/// Value of a user variable that is not NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserVarValue {
    /// 0 string, 1 double, 2 integer, 4 decimal.
    pub type_code: u8,
    /// Collation's id.
    pub collation: u32,
    /// String bytes; or 8 bytes of double or integer, little-endian; or precision, scale and binary decimal.
    pub value: Bytes,
    /// Bit 0: the integer is unsigned. Absent in old files.
    pub flags: Option<u8>,
}

/// User_var event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserVar {
    /// Name without `@`.
    pub name: String,
    /// `None` is NULL.
    pub value: Option<UserVarValue>,
}

impl UserVar {
    pub(super) fn decode(body: &Bytes) -> Result<UserVar, DecodeError> {
        let mut r = WireReader::new(body);
        let n = r.u32("variable name length")? as usize;
        let name = utf8(r.take(n, "variable name")?, "variable name")?;
        if r.u8("NULL flag")? != 0 {
            return Ok(UserVar { name, value: None });
        }
        let type_code = r.u8("variable type")?;
        let collation = r.u32("variable collation")?;
        let n = r.u32("variable value length")? as usize;
        let value = share(body, r.take(n, "variable value")?);
        let flags = if r.is_empty() {
            None
        } else {
            Some(r.u8("variable flags")?)
        };
        Ok(UserVar {
            name,
            value: Some(UserVarValue {
                type_code,
                collation,
                value,
                flags,
            }),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.name.len() as u32);
        out.put_slice(self.name.as_bytes());
        let Some(v) = &self.value else {
            out.put_u8(1);
            return;
        };
        out.put_u8(0);
        out.put_u8(v.type_code);
        out.put_u32(v.collation);
        out.put_u32(v.value.len() as u32);
        out.put_slice(&v.value);
        if let Some(flags) = v.flags {
            out.put_u8(flags);
        }
    }
}
